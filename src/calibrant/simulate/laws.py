"""Laws of scores and outcomes, whose calibration error is known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from calibrant import errors
from calibrant._figures import figure
from calibrant._types import BoolArray, FloatArray


class Sample(NamedTuple):
    """Rows drawn from a law: outcomes, scores, and the true probability of each event.

    Attributes
    ----------
    y_true : bool array
        Whether the event happened in each row.
    y_prob : float array
        The score of each row.
    true_prob : float array
        The probability that the event had.
    """

    y_true: BoolArray
    y_prob: FloatArray
    true_prob: FloatArray


@dataclass(frozen=True, slots=True)
class Law:
    """A population of scores and outcomes that is known completely.

    Attributes
    ----------
    name : str
        What it is, in words.
    calibration_error : float
        c(f) of the population.
    draw_scores : callable
        Draws scores and true probabilities, from a random generator and a number of rows.

    Examples
    --------
    >>> from calibrant import simulate
    >>> law = simulate.shifted()
    >>> round(law.calibration_error, 4)
    0.05
    >>> law.draw(3, seed=1).y_prob.round(3)
    array([0.486, 0.903, 0.137])
    """

    name: str
    calibration_error: float
    draw_scores: Callable[[np.random.Generator, int], tuple[FloatArray, FloatArray]]

    def draw(self, rows: int, *, seed: int = 0) -> Sample:
        """Draw independent rows; the same seed gives the same rows.

        Parameters
        ----------
        rows : int
            How many.
        seed : int, default 0
            Seed of the draw.

        Returns
        -------
        Sample
            Outcomes, scores and true probabilities, which unpack in that order.
        """
        rng = np.random.default_rng(errors.whole_number("seed", seed, least=0))
        rows = errors.whole_number("rows", rows, 1, errors.MOST_DRAWS)
        score, truth = self.draw_scores(rng, rows)
        return Sample(rng.random(len(score)) < truth, score, truth)

    def __repr__(self) -> str:
        return f"<Law: {self.name}, calibration error {figure(self.calibration_error, 6)}>"


def calibrated(a: float = 1.0, b: float = 1.0) -> Law:
    """Scores from Beta(a, b) that are right.

    Parameters
    ----------
    a : float, default 1
        First parameter of the Beta law; 1 and 1 give uniform scores.
    b : float, default 1
        Its second parameter.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.calibrated()
    <Law: calibrated, calibration error 0>
    >>> y_true, y_prob, true_prob = simulate.calibrated().draw(1000, seed=1)
    """
    a, b = errors.number_between("a", a, 1e-3, 1e6), errors.number_between("b", b, 1e-3, 1e6)

    def draw(rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
        score = rng.beta(a, b, rows)
        return score, score

    return Law("calibrated", 0.0, draw)


def overconfident(factor: float = 1.6) -> Law:
    """Log-odds stated `factor` times too large, as boosted trees and deep networks do.

    The log-odds of the event are normal with mean -0.5 and deviation 1.5.

    Parameters
    ----------
    factor : float, default 1.6
        By how much; 1 would be right.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.overconfident()
    <Law: overconfident, calibration error 0.0446223>
    """
    return _misstated("overconfident", factor)


def underconfident(factor: float = 0.6) -> Law:
    """Log-odds stated at `factor` times their size, as bagged trees do.

    Parameters
    ----------
    factor : float, default 0.6
        The share of their size; 1 would be right.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.underconfident()
    <Law: underconfident, calibration error 0.0493081>
    """
    return _misstated("underconfident", factor)


def _misstated(name: str, factor: float) -> Law:
    mean, deviation = -0.5, 1.5
    factor = errors.number_between("factor", factor, 0.01, 100)

    def draw(rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
        log_odds = rng.normal(mean, deviation, rows)
        return expit(factor * log_odds), expit(log_odds)

    def gap(log_odds: float) -> float:
        density = np.exp(-(((log_odds - mean) / deviation) ** 2) / 2)
        density /= deviation * np.sqrt(2 * np.pi)
        return float((expit(log_odds) - expit(factor * log_odds)) * density)

    from scipy.integrate import quad

    # G rises on one side of log-odds 0 and falls on the other: its range is the larger change
    sides = [quad(gap, *ends, epsabs=1e-13)[0] for ends in ((-np.inf, 0), (0, np.inf))]
    return Law(name, max(map(abs, sides)), draw)


def shifted(by: float = 0.05) -> Law:
    """Scores uniform on [0, 1 - by], every one too low by the same amount.

    Parameters
    ----------
    by : float, default 0.05
        How much too low, which is also the calibration error.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.shifted(0.02)
    <Law: shifted, calibration error 0.02>
    """
    by = errors.number_between("by", by, 0, 1)

    def draw(rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
        score = (1 - by) * rng.random(rows)
        return score, score + by

    return Law("shifted", by, draw)


def wavy(size: float = 0.1, waves: int = 3) -> Law:
    """Scores uniform on [0.2, 0.8], too low and too high by turns.

    Parameters
    ----------
    size : float, default 0.1
        How far the truth lies from a score at most, up to 0.2.
    waves : int, default 3
        How often it goes up and down.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.wavy(waves=10)
    <Law: wavy, calibration error 0.0031831>
    """
    size = errors.number_between("size", size, 0, 0.2)
    waves = errors.whole_number("waves", waves, 1, errors.MOST_ENTRIES)

    def draw(rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
        place = rng.random(rows)
        score = 0.2 + 0.6 * place
        return score, score + size * np.sin(2 * np.pi * waves * place)

    # half a wave: the integral of size sin(2 pi waves u) over u from 0 to 1 / (2 waves)
    return Law("wavy", size / (np.pi * waves), draw)


def rare(base_rate: float = 0.001, factor: float = 1.0) -> Law:
    """Rare events: true probabilities from Beta(1, 1 / base_rate - 1), stated `factor` times.

    Parameters
    ----------
    base_rate : float, default 0.001
        Share of events.
    factor : float, default 1
        What the true probability is multiplied by; scores stop at 1.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.rare(factor=2)
    <Law: rare events, calibration error 0.001>
    """
    base_rate = errors.number_between("base_rate", base_rate, 1e-9, 0.5)
    factor = errors.number_between("factor", factor, 1e-6, 1e6)

    def draw(rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
        truth = rng.beta(1, 1 / base_rate - 1, rows)
        return np.minimum(factor * truth, 1.0), truth

    # all scores err on one side, so c = |E f - E t|; E min(k t, 1) is the integral of k P(t > s)
    # over s up to 1/k, and P(t > s) = (1 - s)^(1 / base_rate - 1)
    mean = factor * base_rate
    if factor > 1:
        mean *= 1 - (1 - 1 / factor) ** (1 / base_rate)
    return Law("rare events", abs(mean - base_rate), draw)


def atoms(count: int = 5, size: float = 0.05) -> Law:
    """Scores at a few atoms of equal mass, too low and too high by turns.

    Parameters
    ----------
    count : int, default 5
        How many different scores.
    size : float, default 0.05
        How far each is off.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.atoms(1)
    <Law: 1 atom, calibration error 0.05>
    """
    count = errors.whole_number("count", count, 1, errors.MOST_ENTRIES)
    size = errors.number_between("size", size, 0, 1)
    score = (np.arange(count) + 0.5) / count
    truth = np.clip(score + size * (-1.0) ** np.arange(count), 0, 1)

    def draw(rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
        which = rng.integers(0, count, rows)
        return score[which], truth[which]

    walk = np.concatenate([[0.0], np.cumsum(truth - score)]) / count
    return Law("1 atom" if count == 1 else f"{count} atoms", float(np.ptp(walk)), draw)


def constant(score: float = 0.0, rate: float = 0.3) -> Law:
    """One score for everybody, 0 or 1 or in between, whatever the rate of the event.

    Parameters
    ----------
    score : float, default 0
        The score.
    rate : float, default 0.3
        How often the event happens.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.constant(1.0)
    <Law: constant 1, calibration error 0.7>
    """
    score, rate = (
        errors.number_between("score", score, 0, 1),
        errors.number_between("rate", rate, 0, 1),
    )

    def draw(rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
        del rng
        return np.full(rows, score), np.full(rows, rate)

    return Law(f"constant {score:g}", abs(rate - score), draw)


def below_threshold(threshold: float = 0.5, mass: float = 0.2) -> Law:
    """Calibrated uniform scores, and an atom just below a threshold where the event is certain.

    It shows that the price of miscalibration can be as large as c(f) for that threshold.

    Parameters
    ----------
    threshold : float, default 0.5
        The atom is the largest double below it.
    mass : float, default 0.2
        Share of the rows at the atom.

    Examples
    --------
    >>> from calibrant import simulate
    >>> simulate.below_threshold()
    <Law: atom below 0.5, calibration error 0.1>
    """
    mass = errors.number_between("mass", mass, 0, 1)
    atom = float(np.nextafter(errors.number_between("threshold", threshold, 1e-6, 1), 0))

    def draw(rng: np.random.Generator, rows: int) -> tuple[FloatArray, FloatArray]:
        at_atom = rng.random(rows) < mass
        score = np.where(at_atom, atom, rng.random(rows))
        return score, np.where(at_atom, 1.0, score)

    return Law(f"atom below {threshold:g}", mass * (1 - atom), draw)


def laws() -> tuple[Law, ...]:
    """Return one law of every kind, for tests and studies.

    Examples
    --------
    >>> from calibrant import simulate
    >>> len(simulate.laws())
    15
    """
    return (
        calibrated(),
        calibrated(0.3, 0.3),
        overconfident(),
        underconfident(),
        shifted(),
        wavy(),
        rare(),
        rare(factor=3),
        atoms(1),
        atoms(5),
        atoms(100),
        constant(0.0),
        constant(1.0),
        constant(0.3),
        below_threshold(),
    )
