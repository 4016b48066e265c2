"""Rademacher complexity: how far c(f) and c_emp can be apart for every f of a class at once.

Theorem 2 of Gao, Parameswaran and Peng (2017) is about H = {1{p1 < f(x) <= p2}}, all intervals of
the scores of all classifiers f in a class F, and

    R_D(H) = (1/n) E sup over h in H of sum_i sigma_i h(x_i),    sigma_i = +-1 by a fair coin.

Here it is found for models whose scores are given; `calibrant.certificates.classes` bounds it for
all classifiers of a kind.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from calibrant import errors
from calibrant._text import shown
from calibrant._types import FloatArray
from calibrant.certificates.bounds import VARIANCE_SHARE
from calibrant.certificates.evidence import counted
from calibrant.certificates.maximal_rise import Order, expected_maximal_rise, simulated_maximal_rise
from calibrant.certificates.tails import mean_at_most
from calibrant.data import refusals
from calibrant.data.memory.columns import Column
from calibrant.data.predictions import predictions_of
from calibrant.errors import InputError

Reading: TypeAlias = Literal["sharp", "proved", "printed"]

#: No class has more: h is 0 or 1, so the sum is at most the number of signs that are +1, and half
#: of them are on average.
MOST = 0.5
#: The most rows for which the complexity of one model is computed and not bounded.
_EXACT_ROWS = 2000


@dataclass(frozen=True, slots=True)
class Complexity:
    """The Rademacher complexity of the intervals of a class of classifiers.

    Attributes
    ----------
    value : float
        R_D(H), or an upper bound on it; at most 1/2.
    exact : bool
        Whether it is R_D(H) itself.
    rows : int
        How many rows it is for.
    about : str
        Which class, in words.
    theorem : str
        Where it comes from.
    varies : bool
        Whether it was computed from the scores of the rows, so that other rows give another value.
        Otherwise it holds for any rows.
    ceiling : float
        A bound that holds for any rows.
    error : float
        The chance, over the random signs of a simulation, that `value` is too small.
    """

    value: float
    exact: bool
    rows: int
    about: str
    theorem: str
    varies: bool = False
    ceiling: float = MOST
    error: float = 0.0

    def width(self, confidence: float = 0.95, reading: Reading = "sharp") -> float:
        """Say how far c(f) and c_emp can be apart, for all classifiers of the class at once.

        Parameters
        ----------
        confidence : float, default 0.95
            How often none of them is farther apart, over samples of independent rows.
        reading : str, default "sharp"
            "sharp" is 3 R + sqrt(2 ln(2 / delta) / n), delta = 1 - confidence; "proved" is what
            the proof of Theorem 2 supports, 4 R + 2 sqrt(2 ln(8 / delta) / n); "printed" is its
            statement, 2 R + 2 sqrt(2 ln(8 / delta) / n), which its proof does not show.

        Returns
        -------
        float
            At most 1, which says nothing.

        Notes
        -----
        The theorem is about the mean of R_D over samples. If `varies`, a twentieth of delta is
        spent on bounding it by the value of this sample, and `error` is taken off delta too.

        References
        ----------
        Gao, Parameswaran and Peng (2017), Theorem 2.

        Examples
        --------
        >>> from calibrant.certificates import classes
        >>> linear = classes.of_linear(100_000, 10)
        >>> round(linear.width(), 3)
        0.081
        """
        errors.one_of("reading", reading, get_args(Reading))
        total = 1 - errors.inner_share("confidence", confidence)
        on_mean = total * VARIANCE_SHARE if self.varies else 0.0
        delta = total - on_mean - self.error
        if delta <= 0:
            raise _surer_than_simulated(1 - self.error / (1 - VARIANCE_SHARE), confidence)
        mean = self._mean(on_mean)
        if reading == "sharp":
            # G = {1{f in I} (Y - f)} has R(G) <= 1.5 R(H), because |Y - f| is
            # 1/2 - (2Y - 1) (f - 1/2) and signs absorb 2Y - 1; symmetrisation doubles it, and
            # McDiarmid's inequality with differences of 2/n gives the second term, either side
            return min(1.0, 3 * mean + math.sqrt(2 * math.log(2 / delta) / self.rows))
        times = 4 if reading == "proved" else 2
        return min(1.0, times * mean + 2 * math.sqrt(2 * math.log(8 / delta) / self.rows))

    def _mean(self, delta: float) -> float:
        """Bound the mean of R_D over samples, wrong with a chance of at most delta.

        2 n R_D is self-bounding: to leave row i out takes off between 0 and
        2 E sigma_i h*(x_i) <= 1, where h* attains the sup, and these add up to 2 n R_D. So its
        lower tail is exp(-t^2 / 2E) (Boucheron, Lugosi and Massart, 2000), which is the tail that
        `mean_at_most` inverts, with terms up to 1/2.
        """
        if not self.varies:
            return self.value
        return min(self.ceiling, mean_at_most(self.value, self.rows, MOST, delta))


def of_scores(y_prob: Any) -> Complexity:
    """Return the complexity of one model, fixed before its rows were looked at.

    Parameters
    ----------
    y_prob : array_like
        Its scores. Labels play no part.

    Returns
    -------
    Complexity
        Exact up to 2000 rows; sqrt(pi / 2n) above, whatever the ties.

    Examples
    --------
    >>> from calibrant.certificates import complexity
    >>> complexity.of_scores([0.1, 0.7]).value
    0.5
    >>> complexity.of_scores([0.7, 0.7]).value  # an interval has both rows or none
    0.25
    """
    scores = _checked(y_prob, "y_prob")
    n = len(scores)
    if n > _EXACT_ROWS:
        return Complexity(
            _distinct(n),
            False,
            n,
            "one model",
            "expected maximum of |Brownian motion|, by Levy's identity",
        )
    atoms = Order(scores).atoms
    value = min(MOST, expected_maximal_rise(atoms) / n)
    return Complexity(
        value=value,
        exact=True,
        rows=n,
        about="one model",
        theorem="dynamic programming on the reflected walk of signs, in the order of the scores",
        varies=True,
        # ties only take intervals away, so that no rows have more than distinct scores
        ceiling=value if len(atoms) == n else _distinct(n),
    )


def _distinct(n: int) -> float:
    """Bound the complexity of one model by that of n distinct scores.

    Ties only take intervals away. By Levy's identity the reflected walk is |S + 1/2| - 1/2 for a
    walk S, whose maximum tends to that of |Brownian motion|, with mean sqrt(pi n / 2); the walk
    stays below it by 0.75 for n = 1, by 1 for large n, and by something between for others.
    """
    return min(MOST, math.sqrt(math.pi / (2 * n)))


def of_models(scores: Any, *, draws: int = 400, error: float = 1e-3, seed: int = 0) -> Complexity:
    """Bound the complexity of several models, each fixed before these rows were looked at.

    The rows may then choose among them: `width` holds for all at once.

    Parameters
    ----------
    scores : mapping of name to array_like, or two-dimensional array
        Scores on the same rows, one column for each model.
    draws : int, default 400
        Draws of random signs. For each one the sup over models and intervals is found exactly.
    error : float, default 0.001
        The chance, over these draws, that the result is too small.
    seed : int, default 0
        Seed of the draws; never derive it from the data.

    Returns
    -------
    Complexity
        The mean over draws plus sqrt(2 ln(1 / error) / (n draws)), or a bound that counts models
        and distinct scores, if that is smaller.

    Examples
    --------
    >>> import numpy as np
    >>> from calibrant.certificates import complexity
    >>> scores = np.random.default_rng(0).random((1000, 5))
    >>> found = complexity.of_models(scores)
    >>> found.value < found.ceiling
    True
    """
    models = [Order(column) for column in _columns(scores)]
    draws = errors.whole_number("draws", draws, least=1)
    error = errors.inner_share("error", error)
    seed = errors.whole_number("seed", seed, least=0)
    n = sum(models[0].atoms.tolist())
    mean = simulated_maximal_rise(models, n, draws, seed) / n
    # one sign more or less moves the mean over draws by 2 / (n draws): McDiarmid's inequality
    simulated = mean + math.sqrt(2 * math.log(1 / error) / (n * draws))
    labelings = 1 + sum(len(model.atoms) * (len(model.atoms) + 1) // 2 for model in models)
    ceiling = _many(n, len(models))
    counting = min(ceiling, massart(math.log(labelings), n))
    by_count = counting <= simulated
    return Complexity(
        value=min(counting, simulated),
        exact=False,
        rows=n,
        about=counted(len(models), "model") + " fixed before these rows",
        theorem="Massart's lemma for the labelings" if by_count else "simulation and McDiarmid",
        varies=True,
        ceiling=ceiling,
        error=error,
    )


def _many(n: int, models: int) -> float:
    """Bound the complexity of K models on any n rows, in two ways.

    Either one model's, and the most that the best of K rises adds, each of which has the moment
    generating function of McDiarmid's inequality; or Massart's lemma for all labelings.
    """
    added = _distinct(n) + math.sqrt(2 * math.log(models) / n)
    return min(added, massart(math.log(1 + models * n * (n + 1) / 2), n))


def massart(log_labelings: float, n: int) -> float:
    """Bound R_D(H) by sqrt(ln N / 2n), N the number of labelings of the n rows by H.

    The mean of sum_i sigma_i / 2 is 0, so that h may be replaced by h - 1/2, whose norm on the rows
    is sqrt(n) / 2; then Massart's lemma gives half of what it gives for h.
    """
    return min(MOST, math.sqrt(log_labelings / (2 * n)))


def _columns(scores: Any) -> list[FloatArray]:
    """Return the scores of each model, checked, of one length."""
    if isinstance(scores, Mapping):
        named = {f"scores[{shown(name)}]": column for name, column in scores.items()}
    else:
        table = np.asarray(scores)
        if table.ndim != 2:
            raise _not_a_column_each("scores", table.shape)
        named = {f"scores[:, {at}]": table[:, at] for at in range(table.shape[1])}
    if not named:
        raise nothing_to_certify("scores")
    columns = {name: _checked(column, name) for name, column in named.items()}
    lengths = [(name, len(column)) for name, column in columns.items()]
    if len({length for _, length in lengths}) > 1:
        raise refusals.lengths_differ(lengths)
    return list(columns.values())


def _checked(scores: Any, name: str) -> FloatArray:
    """Return scores as an array, or refuse them in the same words as everywhere."""
    nothing = np.broadcast_to(False, len(Column(scores, name)))
    data = predictions_of(nothing, scores, names=errors.Names(prob=name))
    return data.source.rows().score


def nothing_to_certify(name: str) -> InputError:
    """Refuse an empty mapping of models."""
    return InputError(f"{name} names no model. Pass at least one, as {{name: scores}}.")


def _not_a_column_each(name: str, shape: tuple[int, ...]) -> InputError:
    return InputError(
        f"{name} must be two-dimensional, one column for each model, but its shape is {shape}. "
        "Pass such an array, or {name: scores}; for one model use of_scores."
    )


def _surer_than_simulated(most: float, value: float) -> InputError:
    return InputError(
        f"confidence must be below {most:.6g}, because the complexity was simulated and may be too "
        f"small in the rest of cases, but it is {shown(value)}. Simulate it with a smaller error=."
    )
