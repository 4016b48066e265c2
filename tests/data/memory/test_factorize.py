"""Distinct values of columns, and which each row holds."""

import numpy as np
import pyarrow as pa
import pytest

import calibrant as cb
from calibrant.data.memory.columns import Column
from calibrant.data.memory.factorize import codes_of
from reference.tables import LABEL, PROB, ROWS


def test_dictionary_columns_of_arrow(tmp_path):
    words = np.where(LABEL, "yes", "no")
    table = pa.table({"y": pa.array(words).dictionary_encode(), "p": PROB, "g": words})
    table = table.set_column(2, "g", pa.array(words).dictionary_encode())
    found = cb.audit(table, label="y", prob="p", pos_label="yes", by="g").groups
    assert sorted(one.rows for one in found) == sorted([LABEL.sum(), ROWS - LABEL.sum()])


@pytest.mark.parametrize(
    ("codes", "dictionary"),
    [([None, 1], [None, "b"]), ([2, 1], ["a", "b", "a"]), ([None, None], [None])],
    ids=["gap", "twice", "gaps alone"],
)
def test_a_dictionary_may_hold_a_value_twice(codes, dictionary):
    kind = pa.string() if set(dictionary) != {None} else pa.null()
    column = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(dictionary, kind))
    found, numbers = codes_of(Column(pa.chunked_array([column]), "g"))
    expected = [None if code is None else dictionary[code] for code in codes]
    assert [found[number] for number in numbers] == expected
