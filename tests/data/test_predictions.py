"""Predictions: columns by name, each once."""

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.errors import InputError
from reference.tables import LABEL, PROB


def test_columns_of_one_name_and_names_that_are_no_words():
    twice = pd.DataFrame(np.c_[LABEL, PROB, PROB], columns=["y", "p", "p"])
    with pytest.raises(InputError, match="Columns must have different names"):
        cb.Predictions(twice, label="y", prob="p")
    numbered = pd.DataFrame({0: LABEL, 1: PROB})
    with pytest.raises(InputError, match="There is no column '0'"):
        cb.Predictions(numbered, label="0", prob="1")
