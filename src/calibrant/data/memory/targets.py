"""Targets: the labels and weights that classifiers are fitted to, checked by scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_sample_weight

from calibrant import errors
from calibrant._types import AnyArray, FloatArray
from calibrant.data.rules import plain_labels
from calibrant.errors import InputError


def target_kind(y: AnyArray) -> str:
    """Say what kind of labels there are, in the words of scikit-learn."""
    plain_labels("y", y)
    with errors.within_doubles("y"):
        kind: str = type_of_target(y, input_name="y", raise_unknown=True)
    return kind


def weights_of(sample_weight: Any, X: Any) -> FloatArray:  # noqa: N803 (as scikit-learn calls it)
    """Return a weight for each row, all finite and none negative."""
    if not isinstance(sample_weight, np.ndarray) and errors.is_single(sample_weight):
        sample_weight = (
            None if sample_weight is None else errors.finite_number("sample_weight", sample_weight)
        )
    with errors.within_doubles("sample_weight"):
        weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not np.isfinite(weight).all():
        raise _weight_infinite("sample_weight")
    return np.asarray(weight)


def _weight_infinite(name: str) -> InputError:
    return InputError(f"{name} must hold finite numbers, but some are not. Fix these rows.")
