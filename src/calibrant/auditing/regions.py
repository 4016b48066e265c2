"""Regions: a fitted tree or forest, audited leaf by leaf on fresh rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import errors
from calibrant.auditing.groups import GroupFinding, groups_of
from calibrant.certificates.specification import CertificateSpec
from calibrant.certificates.training import label_unknown, outcome_of
from calibrant.data.memory.labels import check_event
from calibrant.data.predictions import Predictions


def audit_regions(
    model: Any,
    X: Any,  # noqa: N803
    y_true: Any,
    *,
    confidence: float = 0.95,
    pos_label: object = None,
) -> tuple[GroupFinding, ...]:
    """Audit a fitted tree, forest or `PartitionClassifier` region by region.

    Parameters
    ----------
    model : fitted classifier
        With `predict_proba` and `apply`: a tree, a forest (each leaf of each tree is a region), or
        a `PartitionClassifier`.
    X : array_like
        Features of rows that it was not fitted on.
    y_true : array_like
        Their outcomes.
    confidence : float, default 0.95
        With which all certificates hold at once.
    pos_label : optional
        The label that is the event; the second of the model's classes unless given.

    Returns
    -------
    tuple of GroupFinding
        A finding for each region of at least 100 rows, smaller ones together; those that are
        certainly off first.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Section 2.3.

    Examples
    --------
    >>> import calibrant as cb
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = make_classification(4000, flip_y=0.3, random_state=0)
    >>> tree = DecisionTreeClassifier(max_leaf_nodes=8, random_state=0)
    >>> tree = tree.fit(X[:2000], y[:2000])
    >>> findings = cb.audit_regions(tree, X[2000:], y[2000:])
    >>> sum(finding.rows for finding in findings)
    2000
    """
    for method in ("apply", "predict_proba"):
        if isinstance(model, type) or not hasattr(model, method):
            raise errors.model_lacks("model", type(model).__name__, method)
    if not hasattr(model, "classes_"):
        raise errors.model_lacks("model", type(model).__name__, "classes_: fit it first")
    confidence = errors.inner_share("confidence", confidence)
    outcome = outcome_of(model, y_true, "y_true")
    classes = np.asarray(model.classes_)
    if pos_label is not None:
        check_event(pos_label)
    if pos_label is not None and pos_label not in classes.tolist():
        raise label_unknown(pos_label, None, classes.tolist(), name="pos_label")
    leaves = np.asarray(model.apply(X))
    leaves = leaves[:, None] if leaves.ndim == 1 else leaves.reshape(len(leaves), -1)
    first = pos_label is not None and pos_label == classes[0]
    scores = model.predict_proba(X)[:, 0 if first else 1]
    data = Predictions(~outcome if first else outcome, scores)
    trees = leaves.shape[1]
    found: list[GroupFinding] = []
    for tree in range(trees):
        name = "region" if trees == 1 else f"leaf of tree {tree + 1}"
        spec = CertificateSpec(confidence=1 - (1 - confidence) / trees)  # all trees at once
        found += groups_of(data, {name: leaves[:, tree]}, spec)[0]
    found.sort(key=lambda one: (not one.certain, -one.evidence, -one.rows))
    return tuple(found)
