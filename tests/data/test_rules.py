"""Rules of columns: the first row that breaks one is named, wherever it is."""

import numpy as np
import pytest

import calibrant as cb


def test_the_row_is_found_in_a_later_chunk():
    prob = np.full(100_000, 0.5)
    prob[77_777:77_780] = -0.5
    with pytest.raises(ValueError, match=r"but 3 rows do not, first at row 77777 .* with -0\.5"):
        cb.calibration_error(np.arange(100_000) % 2, prob)
    label = np.zeros(100_000)
    label[99_999] = 7
    with pytest.raises(ValueError, match=r"labels 0\.0, 7\.0; say which one"):
        cb.calibration_error(label, np.full(100_000, 0.5))


def test_rows_without_weight_are_not_counted_and_said_so():
    found = cb.audit([0, 1, 1], [0.5, 0.25, 0.75], sample_weight=[1, 0, 1])
    assert found.warnings[0] == "1 row has zero sample_weight and is not counted."
    assert found.data.rows == 2
    assert found.provenance.rows == 3
