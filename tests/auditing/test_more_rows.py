"""How many rows could tell: the bounds of a verdict, at the error that so many rows would show."""

import math

import numpy as np
import pytest

from calibrant.auditing.limit import limit_of
from calibrant.auditing.more_rows import Outlook, beyond_chance, rows_for_error, rows_for_saving
from calibrant.certificates.bounds import band_width, certified
from calibrant.certificates.evidence import Evidence
from calibrant.certificates.plan import sample_size
from calibrant.decisions.excess import ChanceExcess, Excess, Side


def outlook(true, rate=0.3, method="certified"):
    return Outlook(Evidence(100, 0.1, 0.1, 0.2, 0.2), rate, true, method, 0.05)


@pytest.mark.parametrize(
    ("true", "stated"),
    [
        (0.005, {"max_error": 0.01}),
        (0.03, {"max_error": 0.02}),
        (0.0, {"max_error": 0.001}),
        (0.01, {"max_relative_error": 0.1}),
        (0.05, {"max_relative_error": 0.1}),
    ],
)
def test_so_many_rows_as_it_says_can_tell_and_far_fewer_cannot(true, stated):
    limit = limit_of(**stated)

    def told(n):
        error = math.hypot(true, 1.596 * math.sqrt(0.2 / n))
        there, delta = Evidence(n, error, error, 0.2, 0.2), limit.error_delta(0.05)
        low, high = limit.ends(0.3 * n, n, 0.05)
        if true <= limit.value(0.3):
            return certified(there, delta).upper <= low
        return error - band_width(there, delta) > high

    needed, words = rows_for_error(outlook(true), limit)
    assert told(1.001 * needed)
    assert not told(int(0.9 * needed))
    assert words.endswith("if the scores are right." if true == 0 else f"is about {true:.3g}.")


def test_scores_that_are_right_take_what_a_plan_says():
    plan = sample_size(0.02, scores=np.full(10, 0.5 - math.sqrt(0.05)))
    assert rows_for_error(outlook(0.0), limit_of(max_error=0.02))[0] == pytest.approx(plan, 0.03)


def test_no_number_of_rows_tells_where_the_error_is_the_limit():
    needed, words = rows_for_error(outlook(0.02), limit_of(max_error=0.02))
    assert needed is None
    assert "too close to the limit" in words
    assert "show that it is 0" in rows_for_error(outlook(0.0), limit_of(max_error=0.0))[1]
    needed, words = rows_for_error(outlook(0.03, method="isotonic"), limit_of(max_error=0.02))
    assert needed is None
    assert 'method="isotonic"' in words


def test_what_is_left_of_an_error_beyond_chance():
    assert beyond_chance(0.05, 0.03) == pytest.approx(0.04)
    assert beyond_chance(0.02, 0.03) == 0


def saving(measured, true_error, limit):
    sides = Side(measured, 0.1, 0.5), Side(0.0, 0.1, 0.5)
    luck = ChanceExcess(((np.array([-0.01]), np.array([0.1])), (np.zeros(0), np.zeros(0))))
    return rows_for_saving(
        outlook(true_error), Excess(500, 0.5, *sides), luck, limit_of(max_cost=limit)
    )


def test_rows_that_show_a_saving_on_either_side_of_a_limit():
    needed, words = saving(0.05, 0.1, 0.05)
    assert needed > 1000
    assert words == f"About {needed:,} rows could tell, if a recalibration saves about 0.0974."
    fewer, _ = saving(0.05, 0.1, 0.01)
    assert fewer < needed
    assert "if the scores are right" in saving(0.05, 0.0, 0.05)[1]
    assert "if a recalibration saves nothing" in saving(0.0, 0.1, 0.02)[1]
    assert saving(0.05, 0.1, 0.0)[0] is not None
    assert saving(0.05, 0.0, 0.0)[0] is None
