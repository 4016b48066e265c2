"""The parts of a score: how much of a loss is miscalibration, and how much could be known.

CORP (Dimitriadis, Gneiting and Jordan, PNAS 2021): recalibrate by isotonic regression, which is
the minorant of the diagram, and compare three forecasts by one loss.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

import numpy as np

from calibrant._figures import figure
from calibrant._types import FloatArray
from calibrant.core.arrays import Sums
from calibrant.core.diagram import Diagram
from calibrant.core.expressions import LABEL, SCORE, log_gain, when
from calibrant.core.minorant import Minorant, minorant, minorant_need
from calibrant.core.statistic import RowSums, Statistic
from calibrant.core.tally import Totals
from calibrant.measures.measured import measured


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """A mean loss and its parts: score = miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    score : float
        The mean loss of the predictions.
    miscalibration : float
        What isotonic recalibration on these rows would take off it. 0 is best.
    discrimination : float
        What the recalibrated predictions gain over saying the base rate to everybody.
    uncertainty : float
        The loss of the base rate.

    Examples
    --------
    >>> import calibrant as cb
    >>> parts = cb.brier_parts([0, 1, 1], [0.2, 0.4, 0.9])
    >>> round(parts.score, 4)
    0.1367
    >>> round(parts.miscalibration - parts.discrimination + parts.uncertainty, 4)
    0.1367
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float

    def to_dict(self) -> dict[str, float]:
        """Return the parts as plain values."""
        return asdict(self)

    def __repr__(self) -> str:
        return (
            f"{figure(self.score, 6)} = {figure(self.miscalibration, 6)} miscalibration "
            f"- {figure(self.discrimination, 6)} discrimination "
            f"+ {figure(self.uncertainty, 6)} uncertainty"
        )


def brier_of(diagram: Diagram) -> float:
    """Read the Brier score off the totals: the mean of y - 2 y f + f^2.

    For 0/1 labels that is (y - f)^2; for soft labels its expectation over the event.
    """
    totals = diagram.totals
    loss = diagram.positives - 2 * totals.fy + totals.ff
    return max(0.0, loss / diagram.weight)


def brier_parts_of(diagram: Diagram, blocks: Minorant) -> ScoreParts:
    """Read the parts of the Brier score off a diagram and its minorant."""
    rate = diagram.rate
    # isotonic values average to the labels in every block, so their score is rate - mean square
    square = float((blocks.positives * blocks.value).sum()) / diagram.weight
    score = brier_of(diagram)
    return ScoreParts(
        score=score,
        miscalibration=max(0.0, score - (rate - square)),
        discrimination=max(0.0, square - rate**2),
        uncertainty=rate * (1 - rate),
    )


def log_loss_parts_of(diagram: Diagram, blocks: Minorant, score: float) -> ScoreParts:
    """Read the parts of the log loss off a diagram, its minorant and the mean loss of its rows."""
    recalibrated = float(_entropy(blocks).sum()) / diagram.weight
    uncertainty = float(_surprise(np.array([diagram.rate]))[0])
    return ScoreParts(
        score=score,
        miscalibration=max(0.0, score - recalibrated),
        discrimination=max(0.0, uncertainty - recalibrated),
        uncertainty=uncertainty,
    )


def _surprise(rate: FloatArray) -> FloatArray:
    """Return the log loss of predicting a rate that is right: its entropy."""
    from scipy.special import entr

    entropy: FloatArray = entr(rate) + entr(1 - rate)
    return entropy


def _entropy(blocks: Minorant) -> FloatArray:
    return blocks.weight * _surprise(blocks.value)


@cache
def _gains(binary: bool) -> Sums:
    gain, impossible = log_gain(SCORE, LABEL, binary=binary)
    return Sums(gain, when(impossible, 1.0, 0.0))


def _log_loss_sums(totals: Totals) -> Sums:
    return _gains(totals.labels_binary)


def _log_loss_of(diagram: Diagram, sums: RowSums) -> float:
    gain, impossible = sums.known.tolist()
    return math.inf if impossible else -gain / diagram.weight


BRIER_PARTS: Statistic[ScoreParts] = Statistic(
    "the parts of the Brier score",
    lambda diagram, _sums: brier_parts_of(diagram, minorant(diagram)),
    minorant_need,
)
BRIER: Statistic[float] = Statistic("the Brier score", lambda diagram, _sums: brier_of(diagram))
LOG_LOSS: Statistic[float] = Statistic("the log loss", _log_loss_of, sums=_log_loss_sums)
LOG_LOSS_PARTS: Statistic[ScoreParts] = Statistic(
    "the log loss",
    lambda diagram, sums: log_loss_parts_of(
        diagram, minorant(diagram), _log_loss_of(diagram, sums)
    ),
    minorant_need,
    _log_loss_sums,
)


def brier_parts(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: object = None
) -> ScoreParts:
    """Split the Brier score into miscalibration, discrimination and uncertainty.

    Parameters
    ----------
    y_true : array_like or Predictions or Tally
        Outcomes, as for `calibration_error`. A Tally is refused where it does not give the answer
        exactly.
    y_prob : array_like
        Predicted probabilities.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    ScoreParts
        Exact. For soft labels the expectation over the event is meant.

    References
    ----------
    Dimitriadis, Gneiting and Jordan, "Stable reliability diagrams for probabilistic
    classifiers", PNAS 2021.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.brier_parts([0, 0, 0, 1, 1, 1], [0.4, 0.3, 0.2, 0.1, 0.5, 0.9])
    0.226667 = 0.101667 miscalibration - 0.125 discrimination + 0.25 uncertainty
    """
    return measured(BRIER_PARTS, y_true, y_prob, sample_weight, pos_label, fine=True)


def log_loss_parts(
    y_true: Any, y_prob: Any = None, *, sample_weight: Any = None, pos_label: object = None
) -> ScoreParts:
    """Split the log loss into miscalibration, discrimination and uncertainty.

    A score of 0 where the event happened, or of 1 where it did not, costs infinitely much. That
    is reported as inf, not clipped.

    Parameters
    ----------
    y_true : array_like or Predictions
        Outcomes, as for `calibration_error`.
    y_prob : array_like
        Predicted probabilities.
    sample_weight : array_like, optional
        Weight of each row.
    pos_label : optional
        The label that is the event.

    Returns
    -------
    ScoreParts
        Exact, natural logarithm.

    Examples
    --------
    >>> import calibrant as cb
    >>> cb.log_loss_parts([0, 0, 0, 1, 1, 1], [0.4, 0.3, 0.2, 0.1, 0.5, 0.9])
    0.698623 = 0.323733 miscalibration - 0.318257 discrimination + 0.693147 uncertainty
    """
    return measured(LOG_LOSS_PARTS, y_true, y_prob, sample_weight, pos_label, fine=True)
