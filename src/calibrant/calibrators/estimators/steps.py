"""Calibrators of steps and lines: isotonic regression, histogram binning, and the identity."""

from __future__ import annotations

from functools import partial

import numpy as np

from calibrant import errors
from calibrant.calibrators.blocks import INTERPOLATIONS, Blocks, Interpolation
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.isotonic import (
    histogram_need,
    histogram_of,
    isotonic_need,
    isotonic_of,
)
from calibrant.calibrators.reading import calibrator_unreadable
from calibrant.core.diagram import resolve
from calibrant.data.predictions import Predictions


class IsotonicCalibrator(Calibrator):
    """Isotonic regression: the best nondecreasing function of the score (PAV).

    On the rows it was fitted on its calibration error is 0, and for no cost ratio do decisions
    cost more than before. With few rows it overfits; a link of two parameters is then better.

    Parameters
    ----------
    interpolation : {"step", "linear", "strict"}
        "step": PAV's values, so that the fitting rows have no calibration error. "linear": a
        continuous function through them, as scikit-learn's. "strict": strictly increasing, so
        that scores which differ by 1e-9 or more keep their ranking; it moves no probability by
        more than 1e-6, but where nothing is tied any more the fitting rows have a calibration
        error again.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Algorithm 1 and Claims 3, 5 and 6.

    Examples
    --------
    >>> import calibrant as cb
    >>> fitted = cb.IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted.predict([0.1, 0.25, 0.9]).tolist()
    [0.0, 0.5, 1.0]
    """

    method = "isotonic"
    function_: Blocks
    _read = Blocks.from_dict

    def __init__(self, interpolation: Interpolation = "step") -> None:
        self.interpolation = interpolation

    def _check(self) -> None:
        errors.one_of("interpolation", self.interpolation, INTERPOLATIONS)

    def _function(self, data: Predictions) -> Blocks:
        return isotonic_of(resolve(data.source, isotonic_need), self.interpolation)

    def _check_function(self) -> None:
        if (np.diff(self.function_.value) < 0).any():
            raise calibrator_unreadable("its values decrease")
        if self.function_.interpolation != self.interpolation:
            raise calibrator_unreadable("options and parameters differ in interpolation")


class HistogramCalibrator(Calibrator):
    """Histogram binning: the observed rate in bins of about equal weight.

    Parameters
    ----------
    n_bins : int, default 10
        Bins at most; equal scores are never split.

    References
    ----------
    Zadrozny and Elkan, ICML 2001.

    Examples
    --------
    >>> import calibrant as cb
    >>> fitted = cb.HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.3, 0.4], [0, 1, 1, 1])
    >>> fitted.predict([0.0, 0.4]).tolist()
    [0.5, 1.0]
    """

    method = "histogram"
    monotone = False
    function_: Blocks
    _read = Blocks.from_dict

    def __init__(self, n_bins: int = 10) -> None:
        self.n_bins = n_bins

    def _check(self) -> None:
        errors.whole_number("n_bins", self.n_bins, 1, errors.MOST_ENTRIES)

    def _function(self, data: Predictions) -> Blocks:
        # more bins than rows would all be empty
        n_bins = min(self.n_bins, len(data))
        need = partial(histogram_need, n_bins=n_bins)
        return histogram_of(resolve(data.source, need), n_bins)

    def _check_function(self) -> None:
        if self.function_.interpolation != "step":
            raise calibrator_unreadable("bins have steps between them")


class IdentityCalibrator(Calibrator):
    """The calibrator for scores that are best left as they are: it gives back every score.

    It is kept where nothing is advised, so that what applies calibrators goes on as before.

    Examples
    --------
    >>> import calibrant as cb
    >>> fitted = cb.IdentityCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted.predict([0.1, 0.25, 0.9]).tolist()
    [0.1, 0.25, 0.9]
    """

    method = "identity"
    function_: Blocks
    _read = Blocks.from_dict

    def _function(self, data: Predictions) -> Blocks:  # noqa: ARG002 (as all calibrators)
        # the arithmetic of this line gives back every score to the bit
        ends = np.array([0.0, 1.0])
        return Blocks(ends, ends, np.ones(2), ends, ends, "linear")

    def _check_function(self) -> None:
        if not self.function_.is_identity:
            raise calibrator_unreadable("it is not the identity")
