"""Calibrators of one to three parameters: Platt and temperature scaling, and beta calibration."""

from __future__ import annotations

import numpy as np

from calibrant import errors
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.fitting import OBJECTIVES, Objective, fit_link
from calibrant.calibrators.links import Link
from calibrant.calibrators.pool import chunks_of, pool_of
from calibrant.calibrators.reading import calibrator_unreadable
from calibrant.calibrators.registry import family_of
from calibrant.calibrators.streamed import Chunks, SourceRows, fit_chunks, fit_streamed
from calibrant.core.diagram import Diagram, everything, resolve
from calibrant.data.predictions import Predictions

#: Up to so many scores are looked at all at once: for log loss, and for objectives that are
#: searched for, whose minimum is only found to the tolerance of the search.
_FEW_SCORES, _FEW_SEARCHED = 1 << 17, 1 << 20


class LinkCalibrator(Calibrator):
    """What the links share: they are fitted by one of three objectives."""

    function_: Link
    _read = Link.from_dict

    def __init__(self, objective: Objective = "log_loss") -> None:
        self.objective = objective

    def _check(self) -> None:
        errors.one_of("objective", self.objective, OBJECTIVES)

    def _check_function(self) -> None:
        found = np.array([self.function_.a, self.function_.b, self.function_.c])
        basis = family_of(self.method).basis
        free = found[basis.argmax(axis=0)]  # each is the first of the numbers that it sets
        if not np.array_equal(basis @ free, found):
            raise calibrator_unreadable(f"its parameters are not those of {self.method}")

    def _function(self, data: Predictions) -> Link:
        start = Diagram(*data.source.start())
        if not start.open and int(start.cells.rows.sum()) > self._most_at_once:
            if self.objective == "log_loss":
                return fit_streamed(family_of(self.method), SourceRows(data.source))
            if start.totals.are_counts:
                return self._of_chunks(chunks_of(pool_of(data)))
        return self._of_all(resolve(data.source, everything))

    @property
    def _most_at_once(self) -> int:
        """How many scores are looked at all at once; more come in chunks."""
        return _FEW_SCORES if self.objective == "log_loss" else _FEW_SEARCHED

    def _of_chunks(self, chunks: Chunks) -> Link:
        """Fit to pooled scores in order that come in chunks."""
        return fit_chunks(family_of(self.method), chunks, self.objective)

    def _of_all(self, diagram: Diagram) -> Link:
        cells = diagram.cells
        # Platt's targets count rows: weights that do not are scaled to one a row on average
        scale = diagram.count / diagram.weight
        weight, positives = scale * cells.weight, scale * cells.positives
        return fit_link(family_of(self.method), cells.score, weight, positives, self.objective)


class PlattCalibrator(LinkCalibrator):
    """Platt scaling: sigmoid(a logit(p) + b), a >= 0, two parameters.

    Parameters
    ----------
    objective : {"log_loss", "squared", "calibration_error"}
        What is minimised on the fitting rows: log loss with Platt's targets, which keep the
        parameters finite; squared loss; or the calibration error, among links that keep 95% of
        the gain in log loss over a constant.

    Notes
    -----
    Log-odds of 0 and 1 are infinite, so a score counts as at least `function_.low`, which is half
    of the smallest one above 0 that was seen in fitting, and as at most `function_.high`; or, at an
    end where scores within 2^-52 of it were seen, as 2^-52, 2^-40 or 2^-30 from it if that has a
    smaller log loss.

    References
    ----------
    Platt, "Probabilistic outputs for support vector machines", 1999; for the calibration error
    as objective Gao, Parameswaran and Peng (2017), Section 3.2.3.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident(2.0).draw(50_000, seed=1)
    >>> round(cb.PlattCalibrator().fit(y_prob, y_true).function_.a, 1)
    0.5
    """

    method = "platt"
    on_log_odds = True


class BetaCalibrator(LinkCalibrator):
    """Beta calibration: sigmoid(a ln p - b ln(1 - p) + c), a, b >= 0, three parameters.

    Parameters
    ----------
    objective : {"log_loss", "squared", "calibration_error"}
        As for `PlattCalibrator`, without Platt's targets.

    References
    ----------
    Kull, Silva Filho and Flach, "Beta calibration", AISTATS 2017.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(50_000, seed=1)
    >>> link = cb.BetaCalibrator().fit(y_prob, y_true).function_
    >>> round(link.a, 1), round(link.b, 1)
    (1.0, 1.0)
    """

    method = "beta"


class TemperatureCalibrator(LinkCalibrator):
    """Temperature scaling: sigmoid(logit(p) / T), one parameter; 1 / T is `function_.a`.

    Parameters
    ----------
    objective : {"log_loss", "squared", "calibration_error"}
        As for `PlattCalibrator`, without Platt's targets.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident(2.0).draw(50_000, seed=1)
    >>> round(1 / cb.TemperatureCalibrator().fit(y_prob, y_true).function_.a, 1)
    2.0
    """

    method = "temperature"
    on_log_odds = True
