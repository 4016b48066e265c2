"""Several models on the same rows."""

import pytest

import calibrant as cb
from calibrant.errors import InputError
from reference.tables import LABEL, PROB


def test_models_of_one_name_are_refused():
    with pytest.raises(InputError, match="two models or more, each once"):
        cb.compare(LABEL, {1: PROB, "1": PROB})
