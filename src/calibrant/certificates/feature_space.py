"""Feature space: in how many features a fitted model is linear, or splits.

Only steps that are known well enough count: those that do the same to a row whatever the others
are, and those whose learning makes no difference to the class of models after them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

#: Transformers that stretch each feature by itself, and those that mix features linearly: what
#: they learn from the rows does not matter for linear models, of the first kind for trees neither.
_SCALERS = {"StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"}
_ROTATIONS = {"PCA", "TruncatedSVD"}


class Space(NamedTuple):
    """How many features there are, and whether they were learned from the rows."""

    features: int
    learned: bool = False


def kind_of(model: Any) -> str:
    """Return the name of a class of scikit-learn, and nothing for other classes or heirs of it."""
    own = type(model).__module__.split(".", maxsplit=1)[0] == "sklearn"
    return type(model).__name__ if own else ""


def steps_of(model: Any) -> list[Any]:
    """Take a model apart: pipelines, and calibrators around it.

    A monotone calibrator turns intervals of scores into intervals of scores, so that it adds
    nothing to the class; histogram binning is not monotone, and stays as it is.
    """
    if kind_of(model) == "Pipeline":
        kept = [step for _, step in model.steps if step not in (None, "passthrough")]
        return [part for step in kept for part in steps_of(step)]
    inside = getattr(model, "_monotone_around", None)
    if inside is not None:
        return steps_of(inside)
    folds = getattr(model, "calibrated_classifiers_", [])
    if kind_of(model) == "CalibratedClassifierCV" and len(folds) == 1:  # not a mean of several
        return steps_of(folds[0].estimator)
    return steps_of(model.estimator) if kind_of(model) == "FrozenEstimator" else [model]


def features_after(steps: list[Any], space: Space, *, linear: bool) -> Space | str:
    """Return the features after some steps, or the name of one that cannot be counted."""
    for step in steps:
        found = _after(step, space, linear=linear)
        if isinstance(found, str):
            return found
        space = found
    return space


def _after(step: Any, space: Space, *, linear: bool) -> Space | str:
    kind = kind_of(step)
    if kind == "ColumnTransformer":
        return _after_columns(step, space, linear=linear)
    if kind in _SCALERS | (_ROTATIONS if linear else set()):
        found = _stretched(step, space, linear=linear)
    elif space.learned:
        found = _multiplied(step, space, linear=linear)
    else:
        found = _mapped(step, space)
    return type(step).__name__ if found is None else found


def _stretched(step: Any, space: Space, *, linear: bool) -> Space | None:
    """Count features as before: what is linear after such a step is linear before it."""
    clips = bool(getattr(step, "clip", False))  # which is no stretching, though trees do not mind
    return None if clips and linear else Space(space.features, learned=True)


def _multiplied(step: Any, space: Space, *, linear: bool) -> Space | None:
    """Count products: those of linear combinations of features are sums of products of features."""
    if kind_of(step) == "FunctionTransformer" and step.func is None:
        return space
    full = kind_of(step) == "PolynomialFeatures" and not step.interaction_only
    if not (full and linear and isinstance(step.degree, int)):
        return None
    return Space(math.comb(space.features + step.degree, step.degree) - 1, learned=True)


def _mapped(step: Any, space: Space) -> Space | None:
    """Count what a step makes of features that nothing was learned about, if it is fixed itself."""
    kind = kind_of(step)
    if kind == "PolynomialFeatures":
        return Space(int(step.n_output_features_))
    if kind == "OneHotEncoder" and _given_in_advance(step):
        return Space(sum(len(one) for one in step.categories_))
    nothing = kind == "FunctionTransformer" and step.func is None
    return space if kind == "Normalizer" or nothing else None


def _given_in_advance(encoder: Any) -> bool:
    """Say whether categories were given, none of them to be merged by how often they occur."""
    merges = (encoder.max_categories, encoder.min_frequency)
    return not isinstance(encoder.categories, str) and merges == (None, None)


def _after_columns(step: Any, space: Space, *, linear: bool) -> Space | str:
    parts = []
    for _, part, columns in step.transformers_:
        if isinstance(part, str) and part == "drop":
            continue
        count = _count(columns, space.features)
        if count is None:
            return type(step).__name__
        steps = [] if isinstance(part, str) else steps_of(part)
        found = features_after(steps, Space(count, space.learned), linear=linear)
        if isinstance(found, str):
            return found
        parts.append(found)
    return Space(sum(part.features for part in parts), any(part.learned for part in parts))


def _count(columns: Any, features: int) -> int | None:
    """Return how many columns a ColumnTransformer hands to a part, or None if it is not plain."""
    if isinstance(columns, slice):
        ends = (columns.start, columns.stop, columns.step)
        whole = all(end is None or isinstance(end, int) for end in ends)
        return len(range(*columns.indices(features))) if whole else None
    chosen = np.atleast_1d(np.asarray(columns))
    return int(chosen.sum()) if chosen.dtype == bool else len(chosen)
