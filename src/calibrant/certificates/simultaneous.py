"""Many certificates at once: several models, or every group, in one joint statement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant.certificates.bounds import Sided
from calibrant.certificates.certificate import Certificate
from calibrant.certificates.certify import certificate_for
from calibrant.certificates.complexity import nothing_to_certify
from calibrant.certificates.specification import CertificateSpec, Method
from calibrant.data import refusals
from calibrant.data.memory.columns import Column
from calibrant.data.predictions import Predictions, data_of, predictions_of
from calibrant.data.rules import coded
from calibrant.errors import InputError


def certify_many(
    y_true: Any,
    y_prob: Any = None,
    *,
    groups: Any = None,
    confidence: float = 0.95,
    method: Method = "auto",
    sided: Sided = "upper",
    sample_weight: Any = None,
    pos_label: object = None,
    seed: int = 0,
) -> dict[Any, Certificate]:
    """Certify several models or groups, all guarantees holding at once.

    With K of them each one is made at (1 - confidence) / K, so that the chance that any is wrong
    is at most 1 - confidence, however they depend on each other.

    Parameters
    ----------
    y_true : array_like or Predictions
        Outcomes. A Predictions stands for outcomes, scores and weights of one model.
    y_prob : mapping of name to array_like, or array_like
        The scores of several models on the same rows; or of one model, with `groups`.
    groups : array_like, optional
        The group of each row.
    confidence : float, default 0.95
        Confidence level, simultaneous over all of them.
    method : str, default "auto"
        As for `certify`.
    sided : {"upper", "both"}
        Upper bounds, or intervals.
    sample_weight : array_like, optional
        How often each row counts, a whole number.
    pos_label : optional
        The label that is the event.
    seed : int, default 0
        As for `certify`.

    Returns
    -------
    dict of Certificate
        By model or group, in order.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, truth = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> both = cb.certify_many(y_true, {"model": y_prob, "truth": truth})
    >>> both["truth"].upper < 0.02 < both["model"].upper
    True
    """
    parts = list(_parts(y_true, y_prob, groups, sample_weight, pos_label))
    spec = CertificateSpec(confidence, method, sided, seed, statements=len(parts))
    return {name: certificate_for(data, spec) for name, data in parts}


def _parts(
    y_true: Any, y_prob: Any, groups: Any, sample_weight: Any, pos_label: object
) -> Iterator[tuple[Any, Predictions]]:
    """Yield what each statement is about, and its rows."""
    if isinstance(y_prob, Mapping):
        if groups is not None:
            raise refusals.argument_superfluous(["groups"], "mapping of models")
        if not y_prob:
            raise nothing_to_certify("y_prob")
        for name, scores in y_prob.items():
            names = errors.Names(prob=f"y_prob[{shown(name)}]")
            more = {"sample_weight": sample_weight, "pos_label": pos_label}
            yield name, predictions_of(y_true, scores, **more, names=names)
        return
    if groups is None:
        raise _groups_missing()
    data = data_of(y_true, y_prob, sample_weight, pos_label)
    if not isinstance(data, Predictions):
        raise errors.tally_hides("which group a row is in")
    if data.clusters is not None:
        raise errors.not_for_clusters("certify_many", "certify for each group")
    yield from _grouped(data, Column(groups, "groups"))


def _grouped(data: Predictions, column: Column) -> Iterator[tuple[Any, Predictions]]:
    """Yield each group that has weight, in order."""
    if len(data) != len(column):
        raise refusals.lengths_differ([("y_true", len(data)), ("groups", len(column))])
    values, which = coded(column)
    rows = data.source.rows()
    order = np.argsort(which, kind="stable")
    ends = np.searchsorted(which[order], np.arange(1, len(values)))
    for value, index in zip(values, np.split(order, ends), strict=True):
        group = rows.take(index)
        if group.weight is None or group.weight.any():
            yield value, Predictions(group.label, group.score, sample_weight=group.weight)


def _groups_missing() -> InputError:
    return InputError(
        "Say what the statements are about: y_prob as {name: scores} for several models, or "
        "groups=, one value for each row. For one statement use certify."
    )
