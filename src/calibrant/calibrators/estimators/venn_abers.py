"""The Venn-Abers calibrator: two probabilities for each score."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from calibrant._types import FloatArray
from calibrant.calibrators.estimators.calibrator import Calibrator
from calibrant.calibrators.venn_abers import Pairs, pairs_need, pairs_of
from calibrant.core.diagram import Diagram, resolve
from calibrant.data.predictions import Predictions
from calibrant.data.rules import scores_of
from calibrant.errors import InputError

#: Next to more weight than the first a new row of weight 1 is lost; with fitting rows lighter than
#: the second on average it counts for a lot.
_HEAVIEST, _LIGHT = 1e15, 0.1


class VennAbersCalibrator(Calibrator):
    """Venn-Abers prediction: two probabilities for each score, one for either outcome.

    Isotonic regression with the new row in it, fitted twice: p0 is its value there if the new
    outcome is 0, and p1 if it is 1. `predict_pair` gives both; `predict` one number in between,
    p1 / (1 - p0 + p1), which risks the same extra log loss whichever of the two is right.

    A fit takes one row or more, of one class or both. Each new score then takes a binary search,
    not a fit.

    Notes
    -----
    What the pair guarantees: let p be p1 if the event happens, and p0 if it does not. Draw fitting
    rows and one new row, again and again: among the draws in which p has some value, the event
    happens in that share of cases, however few rows there are to fit, and whatever model made the
    scores. All it takes is that the fitting rows and the new one are exchangeable, as independent
    draws from one population are.

    What it does not: it is about the fitting rows together with a new one, not about one fitted
    calibrator and the many rows that it will see, nor about groups of them. Which of the two is
    the right one is known only with the outcome, so neither p0 nor p1 nor the number in between is
    guaranteed to be calibrated. And p1 - p0, which says how much one more row can move the fit,
    is not a confidence interval for the true probability.

    The new row has weight 1, and the guarantee is for fitting rows of weight 1. With
    `sample_weight` a fitting row counts as so many new ones, so weights should be of that size.
    Values are right to 1e-12; weights that add up to more than 1e15 are refused.

    References
    ----------
    Vovk, Petej and Fedorova, "Large-scale probabilistic predictors with and without guarantees of
    validity", NIPS 2015.

    Examples
    --------
    >>> import calibrant as cb
    >>> fitted = cb.VennAbersCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted.predict_pair([0.1, 0.25, 0.9]).round(3).tolist()
    [[0.0, 0.5], [0.333, 0.667], [0.5, 1.0]]
    >>> fitted.predict([0.1, 0.25, 0.9]).round(3).tolist()
    [0.333, 0.5, 0.667]
    """

    method = "venn_abers"
    # without rows of one class there is still a pair, and to refuse them would void its guarantee
    needs_both_classes = False
    function_: Pairs
    _read = Pairs.from_dict

    def predict_pair(self, y_prob: Any) -> FloatArray:
        """Return p0 and p1 of each score, of shape (n, 2).

        p0 <= p1. Which of them the guarantee is about, the outcome decides: p1 if the event
        happens, p0 if it does not.
        """
        check_is_fitted(self, "function_")
        return np.stack(self.function_.both(scores_of(y_prob)), axis=1)

    def _function(self, data: Predictions) -> Pairs:
        start = Diagram(*data.source.start())
        if start.weight > _HEAVIEST:
            raise _weights_too_heavy(start.weight, _HEAVIEST)
        if start.weight < _LIGHT * start.cells.rows.sum():
            mean = start.weight / int(start.cells.rows.sum())
            warnings.warn(_weights_light(mean), stacklevel=3)
        return pairs_of(resolve(data.source, pairs_need))

    def _check_function(self) -> None:
        """Accept what was read: `Pairs` has no options to differ from."""


def _weights_too_heavy(total: float, most: float) -> InputError:
    return InputError(
        f"sample_weight adds up to {total:.3g}, and beside that a new row of weight 1 is nothing "
        f"(the limit is {most:g}). Divide the weights by their mean."
    )


def _weights_light(mean: float) -> str:
    return (
        f"Weights are {mean:.3g} on average, and a new row has weight 1, so that it counts as "
        f"{1 / mean:.3g} fitting rows. Divide the weights by their mean, unless this is meant."
    )
