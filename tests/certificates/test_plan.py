"""How many labels: the table of sample sizes, and what they guarantee."""

import math

import numpy as np
import pytest
from scipy.special import ndtri

import calibrant as cb
from calibrant.certificates import bounds
from calibrant.certificates.specification import METHODS
from calibrant.certificates.tails import worst_tail
from calibrant.simulate import calibrated, rare

EPSILONS = (0.05, 0.02, 0.01, 0.005)


def least(enough):
    high = 1
    while not enough(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


#: n for a width of epsilon, delta = 0.05, V = 1/4; the last two of a row rounded as printed.
TABLE = {
    "paper, printed": ((31_500, 197_000, 788_000, 3_150_000), 3),
    "band": ((1174, 6973, 27_400, 109_000), 3),
    "certified": ((488, 2125, 7583, 28_700), 3),
    "asymptotic": ((271, 1691, 6765, 27_100), 3),
}


def needed(name, epsilon):
    return least(
        {
            "paper, printed": lambda n: bounds.gao2017_width(n, 0.05, printed=True) <= epsilon,
            "band": lambda n: bounds.known_band_width(n, 0.25, 0.05) <= epsilon,
            "certified": lambda n: worst_tail(n, epsilon, 1, 0.25) <= 0.05,
            "asymptotic": lambda n: ndtri(0.95) * 0.5 / math.sqrt(n) <= epsilon,
        }[name]
    )


def agrees(found, printed):
    """Within 1, or, where the table rounds to three digits, within half of the last one."""
    digits = 10 ** (int(math.log10(printed)) - 2)
    rounded = printed >= 10_000 and printed % digits == 0
    return abs(found - printed) <= (0.5 * digits + 1 if rounded else 1)


@pytest.mark.parametrize("name", TABLE)
def test_rows_for_a_width(name):
    for epsilon, printed in zip(EPSILONS, TABLE[name][0], strict=True):
        assert agrees(needed(name, epsilon), printed), epsilon


def test_rows_for_a_certificate():
    found = [cb.sample_size(epsilon) for epsilon in EPSILONS]
    for size, printed in zip(found, (1375, 7375, 28_000, 109_400), strict=True):
        tolerance = 50 if printed in {28_000, 109_400} else 1
        assert abs(size - printed) <= tolerance
    assert found == [1375, 7374, 28_043, 109_368]


@pytest.mark.parametrize("method", [m for m in METHODS if m != "betting"])
def test_is_the_first_n_that_is_enough(method):
    size = cb.sample_size(0.03, method=method)
    surer = cb.sample_size(0.03, method=method, confidence=0.99)
    smaller = cb.sample_size(0.02, method=method)
    assert size < surer
    assert size < smaller
    sharp = cb.sample_size(0.03, method=method, scores=rare().draw(1000)[1])
    if method in {"isotonic"}:
        assert sharp == size
    else:
        assert sharp < size


def test_the_promise_is_kept_on_average():
    law, epsilon = calibrated(), 0.03
    scores = law.draw(5000, seed=9).y_prob
    size = cb.sample_size(epsilon, scores=scores)
    assert size < cb.sample_size(epsilon)
    uppers = [
        cb.certify(*law.draw(size, seed=seed)[:2], method="certified").upper for seed in range(200)
    ]
    assert np.mean(uppers) == pytest.approx(epsilon, rel=0.04)


@pytest.mark.parametrize("assurance", [0.5, 0.9])
def test_so_many_samples_of_that_size_do(assurance):
    law, epsilon, times = calibrated(), 0.05, 300
    size = cb.sample_size(epsilon, scores=law.draw(5000, seed=9).y_prob, assurance=assurance)
    enough = sum(
        cb.certify(*law.draw(size, seed=seed)[:2], method="certified").upper <= epsilon
        for seed in range(times)
    )
    # the range of a walk is a little smaller than its limit, so that a few more will do
    deviation = (assurance * (1 - assurance) / times) ** 0.5
    assert assurance - 3.5 * deviation <= enough / times <= assurance + 0.06 + 3.5 * deviation


def test_the_mean_bound_is_about_the_median():
    half, mean = cb.sample_size(0.02, assurance=0.5), cb.sample_size(0.02)
    assert half < mean < 1.1 * half
    assert cb.sample_size(0.02, assurance=0.9) > 1.2 * mean
    assert cb.sample_size(0.02, assurance=0.9, method="isotonic") == cb.sample_size(
        0.02, method="isotonic"
    )
    assert "about half of\n    the samples of that size will do" in cb.sample_size.__doc__


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"epsilon": 0.1, "assurance": 1}, "assurance must be a number strictly between 0 and 1"),
        ({"epsilon": 0}, "epsilon must be a number strictly between 0 and 1"),
        ({"epsilon": 1}, "epsilon must be a number strictly between 0 and 1"),
        ({"epsilon": 2}, "For 2% write 0.02"),
        ({"epsilon": 0.1, "confidence": 0}, "confidence must be"),
        ({"epsilon": 0.1, "method": "betting"}, 'Plan with method="certified"'),
        ({"epsilon": 0.1, "method": "best"}, "method must be one of"),
        ({"epsilon": 0.1, "scores": [0.1, 1.2]}, "scores must lie between 0 and 1"),
    ],
)
def test_bad_arguments(options, words):
    with pytest.raises(ValueError, match=words):
        cb.sample_size(**options)
