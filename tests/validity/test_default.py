"""The default certificate by exact sums: nothing is drawn, and no seed can make it pass.

On one atom of score f the outcomes are a binomial number k. A rate f + c is missed by the samples
whose bound is under c, and the chance of that is largest for a c right above the bound of some k,
where k events and fewer miss it. With a few atoms the sample is a multinomial, whose every outcome
is looked at.
"""

from itertools import product

import numpy as np
import pytest
from scipy.optimize.elementwise import find_root
from scipy.stats import binom, multinomial

from calibrant.certificates import bounds
from calibrant.certificates.betting import betting, game_of, mixture
from calibrant.certificates.evidence import Counts, Evidence
from calibrant.certificates.specification import BETTING_BELOW

SCORES = (0.0, 1e-4, 0.01, 0.5)
LEVELS = (0.9, 0.95, 0.99, 0.999)
#: What rounding may add to a level.
ROUNDING = 1e-9
NEXT_TO_ONE = 1 - 1e-12


def log_capital(m, k, n, score, sign, delta):
    """The log of the mixture on one atom: the interval is all rows or none."""
    share, weight = (part[:, None] for part in mixture(n, delta))
    stake = share / (1 - m)
    none = n * np.log1p(stake * m)
    rows = k * np.log1p(stake * (m - sign * (1 - score)))
    rows += (n - k) * np.log1p(stake * (m + sign * score))
    return np.logaddexp.reduce(np.log(weight) + np.minimum(none, rows), axis=0)


def betting_uppers(n, score, delta):
    """The bound for every number of events, all at once."""
    k = np.arange(n + 1.0)
    c_emp = np.abs(k / n - score)
    upper = c_emp.copy()
    for sign in (1, -1):

        def over(m, k, sign=sign):
            return log_capital(m, k, n, score, sign, delta) + np.log(delta)

        alive = np.flatnonzero(over(np.minimum(c_emp, NEXT_TO_ONE), k) < 0)
        never = over(np.full(alive.size, NEXT_TO_ONE), k[alive]) < 0
        upper[alive[never]], alive = 1.0, alive[~never]
        if alive.size:
            near = np.minimum(c_emp[alive] + 3 * np.sqrt(np.log(1 / delta) / n), NEXT_TO_ONE)
            start = c_emp[alive], np.where(over(near, k[alive]) >= 0, near, NEXT_TO_ONE)
            found = find_root(over, start, args=(k[alive],), tolerances={"xatol": 1e-11})
            assert found.success.all()
            upper[alive] = np.maximum(upper[alive], found.x)
    return upper


def worst_miss(k, uppers, n, score):
    """The largest chance, over rates, that the bound falls short of the true error."""
    high, low = score + uppers, score - uppers
    above = binom.cdf(k, n, np.minimum(high, 1.0))[high < 1].max(initial=0)
    below = binom.sf(k - 1, n, np.maximum(low, 0.0))[low > 0].max(initial=0)
    return max(above, below)


def check_betting(n, score, confidence):
    delta = 1 - confidence
    uppers = betting_uppers(n, score, delta)
    assert worst_miss(np.arange(n + 1), uppers, n, score) <= delta + ROUNDING, (n, score, delta)


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(23)


def test_the_sums_are_about_the_bound_itself(rng):
    for _ in range(40):
        n, score = int(rng.integers(1, BETTING_BELOW)), float(rng.choice(SCORES))
        delta = 1 - float(rng.choice(LEVELS))
        events = np.minimum(n, rng.geometric(0.1, 3) - 1 + round(n * score))
        uppers = betting_uppers(n, score, delta)
        for k in events.tolist():
            counts = Counts(np.array([score]), np.array([n]), np.array([k]))
            found = betting(counts, abs(k / n - score), delta).upper
            assert found == pytest.approx(uppers[k], abs=1e-10)


def test_no_miss_above_the_level_on_one_atom(rng):
    for _ in range(300):
        n = int(rng.integers(1, BETTING_BELOW))
        check_betting(n, float(rng.choice(SCORES)), float(rng.choice(LEVELS)))


@pytest.mark.validity
@pytest.mark.parametrize("part", range(16))
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("confidence", LEVELS)
def test_no_miss_at_any_number_of_rows_that_bets(score, confidence, part):
    for n in range(1 + part, BETTING_BELOW, 16):
        check_betting(n, score, confidence)


@pytest.mark.validity
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("confidence", LEVELS)
def test_no_miss_above_the_switch(score, confidence):
    """Forty numbers of rows from the switch on, and the rates that so many events could miss."""
    delta = 1 - confidence
    steps = np.unique(np.append(0, np.geomspace(1, 400, 14)).round()).astype(int)
    for n in np.geomspace(BETTING_BELOW, 10**6, 40).round().astype(int).tolist():
        center = round(n * score)
        k = np.unique(np.clip(np.concatenate([center - steps, center + steps]), 0, n))
        uppers = []
        for events in k:
            c_emp = abs(events / n - score)
            brier = (events * (1 - score) ** 2 + (n - events) * score**2) / n
            evidence = Evidence(n, c_emp, c_emp, score * (1 - score), brier)
            uppers.append(bounds.certified(evidence, delta).upper)
        assert worst_miss(k, np.array(uppers), n, score) <= delta + ROUNDING, n


@pytest.mark.parametrize(
    ("n", "rate", "confidence"),
    [(2059, 0.0032951, 0.95), (2059, 0.0032951, 0.99), (1449, 0.00316, 0.95)],
)
def test_rates_that_an_order_drawn_with_a_fixed_seed_missed(n, rate, confidence):
    """There 19%, 5% and 17% of samples had a bound under the true rate, at scores of 0."""
    delta = 1 - confidence
    missed = betting_uppers(n, 0.0, delta) < rate
    assert binom.pmf(np.arange(n + 1), n, rate)[missed].sum() <= delta


def test_a_narrower_bound_would_fall_short():
    """The sum can fail: six tenths of the width are not enough."""
    n, delta = 200, 0.05
    k = np.arange(n + 1)
    for score in SCORES:
        c_emp = np.abs(k / n - score)
        narrow = c_emp + 0.6 * (betting_uppers(n, score, delta) - c_emp)
        assert worst_miss(k, narrow, n, score) > 1.2 * delta


ATOMS = {
    "two, opposed": ([0.2, 0.8], [0.5, 0.5], [0.7, 0.3]),
    "two, rare": ([0.0, 0.05], [0.5, 0.5], [0.05, 0.15]),
    "two, certain": ([0.0, 1.0], [0.3, 0.7], [0.1, 0.8]),
    "two, near ends": ([0.01, 0.99], [0.5, 0.5], [0.06, 0.9]),
    "three, one way": ([0.1, 0.5, 0.9], [0.2, 0.5, 0.3], [0.3, 0.6, 0.95]),
    "three, crossing": ([0.1, 0.5, 0.9], [0.3, 0.3, 0.4], [0.4, 0.2, 0.7]),
    "three, right": ([0.2, 0.5, 0.8], [0.4, 0.2, 0.4], [0.2, 0.5, 0.8]),
    "three, zeros": ([0.0, 0.02, 0.5], [0.6, 0.3, 0.1], [0.1, 0.0, 1.0]),
}


def compositions(n, parts):
    """Every way to share n rows out, a row each."""
    grid = np.array(list(product(range(n + 1), repeat=parts - 1)), dtype=np.int64)
    grid = grid[grid.sum(axis=1) <= n]
    return np.column_stack([grid, n - grid.sum(axis=1)])


def chance_of_a_miss(n, law, delta):
    score, mass, rate = (np.array(part) for part in law)
    gap = np.append(0, np.cumsum(mass * (rate - score)))
    c = np.ptp(gap)
    chances = np.column_stack([mass * (1 - rate), mass * rate]).ravel()
    samples = compositions(n, len(chances))
    weight = multinomial.pmf(samples, n, chances)
    missed = 0.0
    for sample, likely in zip(samples[weight > 1e-9], weight[weight > 1e-9], strict=True):
        pairs = sample.reshape(-1, 2)
        rows, positives = pairs.sum(axis=1), pairs[:, 1]
        steps = np.append(0, np.cumsum(positives - rows * score))
        if np.ptp(steps) / n >= c:
            continue
        seen = rows > 0
        game = game_of(Counts(score[seen], rows[seen], positives[seen]), delta)
        if min(game.log_capital(c, sign) for sign in (1, -1)) >= np.log(1 / delta):
            missed += likely
    return missed + weight[weight <= 1e-9].sum()


@pytest.mark.parametrize("law", ATOMS)
@pytest.mark.parametrize("n", [1, 2, 4, pytest.param(9, marks=pytest.mark.validity)])
def test_no_miss_above_the_level_on_a_few_atoms(law, n):
    for delta in (0.05, 0.2):
        assert chance_of_a_miss(n, ATOMS[law], delta) <= delta + ROUNDING


@pytest.mark.validity
@pytest.mark.parametrize("law", ATOMS)
def test_no_miss_above_the_level_on_fourteen_rows(law):
    assert chance_of_a_miss(14, ATOMS[law], 0.05) <= 0.05 + ROUNDING
