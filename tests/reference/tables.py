"""A table of labels and scores in many engines, and the groups of its audit."""

import numpy as np
import pandas as pd

import calibrant as cb
from reference.engines import ENGINES

RNG = np.random.default_rng(0)
ROWS = 4000
PROB = RNG.random(ROWS)
LABEL = (RNG.random(ROWS) < PROB**1.3).astype(int)
TABLE = pd.DataFrame({"y": LABEL, "p": PROB})
IN_TURN = ["pandas", "polars", "pyarrow", "polars lazy", "duckdb table"]


def groups_of(table, by="g", **options):
    found = cb.audit(table, label="y", prob="p", by=by, **options)
    return {one.name: one for one in found.groups}


def in_every_engine(frame, folder, names=IN_TURN):
    return {name: ENGINES[name](frame, folder) for name in names}
