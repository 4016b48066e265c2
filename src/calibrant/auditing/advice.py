"""Advice: whether scores should be recalibrated, and how."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from calibrant._figures import figure, percentage, rounded_up
from calibrant._types import BoolArray, FloatArray, IntArray
from calibrant.auditing.groups import GroupFinding
from calibrant.calibrators.fitting import fit_link
from calibrant.calibrators.folds import FOLDS, dealt
from calibrant.calibrators.isotonic import isotonic_of
from calibrant.calibrators.registry import KINDS, family_of
from calibrant.certificates.certificate import Certificate, percent
from calibrant.certificates.testing import CalibrationTest, chance
from calibrant.core.diagram import Diagram
from calibrant.core.quantiles import quantile_points, quantiles_need
from calibrant.core.tally import Cells, Totals
from calibrant.decisions.curve import points_below, thresholds_need
from calibrant.measures.decomposition import brier_of
from calibrant.measures.interval import Interval
from calibrant.measures.ranking import auc_of

#: Calibrators that are tried, the simplest first, and how many numbers each of them has.
TRIED = ("temperature", "platt", "beta", "isotonic")
#: So that trying takes no time, scores are grouped and stand at their mean: groups of equal weight,
#: cut at even scores, and at ever closer ones towards 0 and 1, where few rows can matter much.
_SHARES = np.linspace(0, 1, 513)
_NEAR = 2.0 ** -np.arange(9, 40)
_EDGES = np.unique(np.concatenate([np.linspace(0, 1, 257), _NEAR, 1 - _NEAR]))
#: Fewer events, or fewer rows without one, are not enough for folds.
_LEAST = 10
#: A gain of so many standard errors is no noise; one below this is rounding, on every processor.
_CLEAR = 2.0
_ROUNDING = 1e-12
#: Standard deviations that the range of a Brownian motion passes in 10% of cases. A doubt is
#: enough, because it costs little to pass a calibrator over.
_SEEN = 2.2412


@dataclass(frozen=True, slots=True)
class Trial:
    """What a calibrator does to rows that it was not fitted on.

    Attributes
    ----------
    name : str
        The calibrator.
    brier : float
        The Brier score after it.
    calibration_error : float
        The calibration error after it, of groups of rows.
    saved : float
        What it takes off the Brier score; negative if it adds to it.
    saved_error : float
        Standard error of that: of the sample, and at least what it would be if the scores before
        and after were equally right, because in a sample without surprises gains hardly vary.
    behind, behind_error : float
        How much less it takes off than the best of those tried, and the standard error of that
        difference: rows are the same for both, so that it is known better than either gain.
    rejected : bool
        Whether the asymptotic test, at the 90% level, rejects held-out rows after it: it leaves a
        calibration error that can be seen.
    """

    name: str
    brier: float
    calibration_error: float
    saved: float
    saved_error: float
    behind: float
    behind_error: float
    rejected: bool


@dataclass(frozen=True, slots=True)
class Advice:
    """Whether to recalibrate, and how; `advise` makes one, and every audit has one.

    Attributes
    ----------
    recommended : str or None
        The calibrator to use; None if the scores are best left as they are, if no test shows that
        they are miscalibrated, or if something else comes first: scores that are class labels, or
        an event that may be the other label. An estimate from folds chooses it; no guarantee rests
        on them.
    miscalibrated : bool or None
        Whether a test says, at the confidence asked for, that the scores are not right; None if
        there was no test.
    p_value : float or None
        Of that test; None if there was none.
    most_saved : float or None
        Certified: no nondecreasing recalibration can save more than this share of the two costs
        together, for each decision and whatever the costs. None without a certificate.
    brier : float
        The Brier score as it is.
    trials : tuple of Trial
        What calibrators did on held-out folds, the simplest first; empty if there were too few
        events to try.
    summary : tuple of str
        The advice in sentences.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident().draw(20_000, seed=1)
    >>> advice = cb.advise(y_true, y_prob)
    >>> advice.recommended, advice.miscalibrated
    ('temperature', True)
    >>> print(advice.summary[0])
    Scores above 0.0005979 up to 0.5162 are too low by 6.9 percentage points on average.
    Recalibrate by temperature scaling, which fixes most of it: on held-out rows the
    calibration error goes from 0.0442 to 0.00328, and the Brier score from 0.1764 to 0.1712
    (a gain of 12 standard errors).
    """

    recommended: str | None
    miscalibrated: bool | None
    p_value: float | None
    most_saved: float | None
    brier: float
    trials: tuple[Trial, ...]
    summary: tuple[str, ...]

    def __repr__(self) -> str:
        return " ".join(self.summary)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        plain = asdict(self)
        return {**plain, "trials": list(plain["trials"]), "summary": list(self.summary)}


def advice_need(diagram: Diagram) -> BoolArray:
    """Mark the cells that hold the end of a group."""
    return quantiles_need(diagram, _SHARES) | thresholds_need(diagram, _EDGES)


def backwards(diagram: Diagram) -> float | None:
    """Return the ROC AUC if it is clearly under 1/2, so that the event may be the other label.

    Three standard errors at most: the variance of a ROC AUC is at most 1 / (4 * fewer).
    """
    fewer = min(diagram.positives, diagram.weight - diagram.positives)
    area, unknown = auc_of(diagram)
    certain = fewer >= 1 and area + unknown < 0.5 - 1.5 / math.sqrt(fewer)
    return area if certain else None


def only_labels(diagram: Diagram) -> bool:
    """Whether all scores are 0 or 1: class labels, not probabilities."""
    return bool(np.isin(diagram.cells.score, (0.0, 1.0)).all())


def advice_of(
    diagram: Diagram,
    certificate: Certificate | None,
    test: CalibrationTest | None,
    confidence: float,
    seed: int,
    *,
    worst: Interval,
    failing: Sequence[GroupFinding] = (),
) -> Advice | None:
    """Read the advice off a diagram; None where weights are not integers or labels are soft.

    `worst` is where the scores are off most. `failing` groups are known to be miscalibrated,
    whatever is true of all rows together.
    """
    if not diagram.totals.are_counts:
        return None
    if diagram.weight > 2**53:
        return None
    score, counts = _grouped(diagram)
    trials: tuple[Trial, ...] = ()
    brier = brier_of(diagram)
    if counts.sum(axis=1).min() >= _LEAST:
        trials = _trials(score, counts, brier, seed)
    miscalibrated = None if test is None else test.p_value <= 1 - confidence
    helps = _recommended(trials)
    first = _before_all_else(diagram)
    found = helps if miscalibrated and not first else None
    return Advice(
        recommended=found,
        miscalibrated=miscalibrated,
        p_value=None if test is None else test.p_value,
        most_saved=None if certificate is None else certificate.upper,
        brier=brier,
        trials=trials,
        summary=tuple(
            sentence
            for sentence in (
                first
                or (
                    _where(worst, helps, miscalibrated)
                    + _what_to_do(helps, trials, brier, miscalibrated, worst)
                    + _groups_too(failing, found)
                ),
                _how_sure(test, confidence),
                _at_stake(certificate),
            )
            if sentence
        ),
    )


def no_advice(diagram: Diagram) -> Advice:
    """Say nothing about rows that a calibrator may have been fitted to."""
    words = "Nothing to advise: audit rows that no calibrator was fitted to."
    return Advice(None, None, None, None, brier_of(diagram), (), (words,))


def _grouped(diagram: Diagram) -> tuple[FloatArray, IntArray]:
    """Return scores of groups in order, and their rows without and with the event."""
    ends = np.union1d(quantile_points(diagram, _SHARES), points_below(diagram, _EDGES))
    first = ends[ends < len(diagram.cells)]
    cells = diagram.cells
    weight = np.add.reduceat(cells.weight, first)
    positives = np.add.reduceat(cells.positives, first)
    mass = np.add.reduceat(cells.mass, first)
    counts = np.rint([weight - positives, positives]).astype(np.int64)
    return np.clip(mass / weight, 0, 1), counts


def _losses(score: FloatArray) -> FloatArray:
    """Return the squared loss of each score without and with the event."""
    return np.stack([score**2, (1 - score) ** 2])


def _trials(score: FloatArray, counts: IntArray, brier: float, seed: int) -> tuple[Trial, ...]:
    """Cross-fit every calibrator on the same folds."""
    rng = np.random.default_rng(seed)
    folds = np.stack([dealt(one, FOLDS, rng) for one in counts], axis=1)  # fold, label, score
    after = np.stack(  # fold, calibrator, score
        [[_fitted(name, score, counts - held_out) for name in TRIED] for held_out in folds]
    )
    n = float(counts.sum())
    gains = _losses(score)[:, None, None] - _losses(after)  # label, fold, calibrator, score
    mean = np.einsum("lfks,fls->k", gains, folds) / n
    mean[np.abs(mean) <= _ROUNDING] = 0.0
    best = int(mean.argmax())

    def errors(gain: FloatArray) -> FloatArray:
        """Return standard errors of mean gains, label, fold, calibrator and score.

        They are at least what they would be if the scores before and after were equally right: in
        a sample without surprises gains hardly vary, which is no evidence. A gain is g0 without and
        g1 with the event, of opposite signs. It is 0 on average for a chance of g0 / (g0 - g1), and
        its square is then -g0 g1 on average.
        """
        center = np.einsum("lfks,fls->k", gain, folds) / n
        seen = np.einsum("lfks,fls->k", np.square(gain), folds) / n - np.square(center)
        fair = -np.einsum("fks,fks,fs->k", gain[0], gain[1], folds.sum(axis=1)) / n
        found: FloatArray = np.sqrt(np.maximum.reduce([seen, fair, np.zeros(len(TRIED))]) / n)
        return found

    saved_error, behind_error = errors(gains), errors(gains - gains[:, :, best : best + 1])
    left = [_left_after(after[:, k], folds) for k in range(len(TRIED))]
    return tuple(
        Trial(
            name=name,
            brier=max(0.0, brier - float(mean[k])),
            calibration_error=left[k][0],
            saved=float(mean[k]),
            saved_error=float(saved_error[k]),
            behind=float(mean[best] - mean[k]),
            behind_error=float(behind_error[k]),
            rejected=left[k][1],
        )
        for k, name in enumerate(TRIED)
    )


def _left_after(score: FloatArray, folds: FloatArray) -> tuple[float, bool]:
    """Return the calibration error of held-out rows, fold by score, once they are recalibrated.

    And whether it is more than chance: the range of a Brownian motion, in standard deviations.
    """
    values, place = np.unique(score, return_inverse=True)
    rows, events = folds.sum(axis=1), folds[:, 1]
    steps = np.bincount(place.ravel(), (events - rows * score).ravel(), len(values))
    walk = np.append(0.0, np.cumsum(steps))
    size = float(np.ptp(walk))
    deviation = math.sqrt(float((rows * score * (1 - score)).sum()))
    return size / float(rows.sum()), size > _SEEN * deviation


def _fitted(name: str, score: FloatArray, counts: FloatArray | IntArray) -> FloatArray:
    """Return what a calibrator, fitted on counts, makes of every score."""
    weight, positives = counts.sum(axis=0).astype(float), counts[1].astype(float)
    seen = weight > 0
    if name != "isotonic":
        link = fit_link(family_of(name), score[seen], weight[seen], positives[seen])
        return link(score)
    rows = weight[seen].astype(np.int64)
    points = Cells.points(score[seen], rows, weight[seen], positives[seen])
    blocks = isotonic_of(Diagram(points, Totals(0.0, 0.0, 0.0, True, True)), "step")
    return blocks(score)


def _recommended(trials: tuple[Trial, ...]) -> str | None:
    """Choose the simplest calibrator that does its work, if any helps.

    It is not clearly behind the best. Brier scores alone would miss a calibration error that stays,
    because it enters them as a square; so one that leaves an error that can be seen is passed over,
    unless all of them do.
    """
    if not trials:
        return None
    best = max(trials, key=lambda one: one.saved)
    if best.saved <= _CLEAR * best.saved_error:
        return None
    near = [one for one in trials if one.behind <= _CLEAR * one.behind_error]
    return next((one.name for one in near if not one.rejected), near[0].name)


def _where(worst: Interval, helps: str | None, miscalibrated: bool | None) -> str:
    """Say which scores are off, and by how much, where that is to be fixed."""
    if not (helps and miscalibrated):
        return ""
    points = 100 * abs(worst.mean_prediction - worst.observed_rate)
    return (
        f"{worst.where[0].upper()}{worst.where[1:]} are {worst.verdict} by "
        f"{figure(points, 2)} percentage points on average. "
    )


def _before_all_else(diagram: Diagram) -> str:
    """Say what has to be put right before a calibrator is any use; "" if nothing."""
    if only_labels(diagram):
        return (
            "Audit probabilities instead: all of these scores are 0 or 1, as class labels are. A "
            "model that has predict gives probabilities by predict_proba."
        )
    area = backwards(diagram)
    if area is None:
        return ""
    return (
        "The event may be the other label: it is rarer where scores are higher (ROC AUC "
        f"{area:.2f}). Check whose probability the scores are before you recalibrate."
    )


def _what_to_do(
    helps: str | None,
    trials: tuple[Trial, ...],
    brier: float,
    miscalibrated: bool | None,
    worst: Interval,
) -> str:
    if not trials:
        return "There are too few events, or too few rows without one, to try calibrators on."
    if helps is None and miscalibrated:
        return (
            "These scores are off, but on held-out rows no calibrator lowers the Brier score "
            f"({figure(brier)}) beyond noise yet: collect more labelled rows before you "
            "recalibrate."
        )
    if helps is None:
        return (
            "Leave the scores as they are for now: on held-out rows no calibrator lowers the Brier "
            f"score ({figure(brier)}) beyond noise, which is no proof that they are right."
        )
    trial = next(one for one in trials if one.name == helps)
    change = f"from {figure(brier)} to {figure(trial.brier)}{_errors(trial)}"
    words = KINDS[helps].words
    if miscalibrated:
        error = abs(worst.excess)
        most = ", which fixes most of it" if trial.calibration_error <= error / 2 else ""
        return (
            f"Recalibrate by {words}{most}: on held-out rows the calibration error goes from "
            f"{figure(error, 3)} to {figure(trial.calibration_error, 3)}, and the Brier score "
            f"{change}."
        )
    why = "the test does not reject them" if miscalibrated is False else "there is no test of them"
    return (
        f"Leave the scores as they are: {why}, although on held-out rows {words} takes the "
        f"Brier score {change}."
    )


def _groups_too(failing: Sequence[GroupFinding], found: str | None) -> str:
    """Say that groups fail, which one calibrator for all rows need not fix."""
    if not failing:
        return ""
    first = failing[0]
    some = f"{first.name} {first.verb}" if len(failing) == 1 else f"{len(failing):,} groups are"
    clearest = "" if len(failing) == 1 else f", {first.name} most clearly"
    worst = first.worst_interval
    then = ": fit one on the rows of such a group, or collect more of them"
    if found is not None:
        then = ": audit the groups again when it is applied"
    return (
        f" But {some} proved to be miscalibrated{clearest} (its {worst.where}: "
        f"{percentage(worst.mean_prediction, 1)} predicted, "
        f"{percentage(worst.observed_rate, 1)} observed), which one calibrator for all rows may "
        f"not fix{then}."
    )


def _errors(trial: Trial) -> str:
    """Say how many standard errors a gain has."""
    gain = trial.saved / trial.saved_error
    return f" (a gain of {gain:.{0 if gain >= 10 else 1}f} standard errors)"


def _how_sure(test: CalibrationTest | None, confidence: float) -> str:
    if test is None:
        return ""
    if test.p_value <= 1 - confidence:
        return (
            "The test rejects these scores: if they were right, an error this large would have "
            f"probability {chance(test)}."
        )
    return (
        "These rows do not show that the scores are miscalibrated: if they were right, an error "
        f"this large would have probability {chance(test)}."
    )


def _at_stake(certificate: Certificate | None) -> str:
    if certificate is None:
        return ""
    return (
        f"With {percent(certificate.confidence)} confidence no nondecreasing recalibration can "
        f"save more than {rounded_up(certificate.upper)} per decision, if the cost of a false "
        "positive and that of a false negative add up to 1."
    )
