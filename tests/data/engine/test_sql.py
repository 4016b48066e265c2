"""Databases without a server: SQLite, and what every database has in common."""

import numpy as np

import calibrant as cb
from reference.engines import same, sqlite
from reference.sqlite import TABLE


def test_groups_of_doubles_that_differ_in_the_last_digit(tmp_path):
    frame = TABLE.assign(g=np.repeat([0.3, 0.1 + 0.2], 1000))
    found = cb.audit(sqlite(frame, tmp_path), label="y", prob="p", by=["g"])
    same(found.to_dict(), cb.audit(frame, label="y", prob="p", by=["g"]).to_dict())
    assert len(found.groups) == 2
