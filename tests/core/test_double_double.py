"""Double-double numbers against fractions, and the library without any wider float."""

import operator
import os
import re
import subprocess
import sys
from fractions import Fraction
from itertools import accumulate
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibrant
from calibrant.core import double_double as _double_double
from calibrant.core.diagram import Diagram
from calibrant.core.double_double import DoubleDouble, running_sum, two_product, two_sum
from calibrant.core.extremes import reaching_extremes
from calibrant.core.tally import Cells, Totals

#: Relative error of one operation, and of one double.
WIDE, UNIT = Fraction(1, 2**102), Fraction(1, 2**53)
OPERATIONS = [operator.add, operator.sub, operator.mul, operator.truediv]


def exactly(numbers):
    """The fractions that double-double numbers stand for."""
    pairs = zip(numbers.high.tolist(), numbers.low.tolist(), strict=True)
    return [Fraction(high) + Fraction(low) for high, low in pairs]


def assert_normal(numbers):
    """`high` is the nearest double: adding `low` to it changes nothing."""
    assert (numbers.high + numbers.low).tolist() == numbers.high.tolist()


def sums_of(values):
    return list(accumulate(map(Fraction, values.tolist()), initial=Fraction(0)))


def hostile(rng, length):
    """Values whose sums go wrong in doubles: name, values."""
    wild = rng.choice([-1.0, 1.0], length) * 2.0 ** rng.integers(-60, 60, length)
    wild *= 1 + rng.random(length)
    there = rng.normal(size=length) * 10.0 ** rng.integers(-8, 8, length)
    back = rng.permutation(there)
    yield "all alike", np.full(length, 0.1)
    yield "ties", rng.choice([-0.1, 0.1, 0.3, -0.3], length)
    yield "a huge range", wild
    yield "cancels", np.concatenate([there, -back])
    yield "cancels step by step", np.stack([wild, -wild], axis=1).ravel()
    yield "a drop next to the sea", np.append(1e16, rng.random(length))
    yield "the heaviest", np.append([1e300, 1.0, -1e300], rng.random(length))
    yield "the lightest", 5e-324 * rng.integers(-9, 9, length).astype(float)
    yield "only zeros", np.zeros(length)


LENGTHS = [0, 1, 2, 3, 100, 3000]
HOSTILE = [case for length in LENGTHS for case in hostile(np.random.default_rng(length), length)]


@pytest.mark.parametrize(
    "values", [pytest.param(values, id=f"{name}, {len(values)}") for name, values in HOSTILE]
)
def test_running_sums_are_as_if_added_up_in_twice_the_digits(values):
    found, expected = running_sum(values), sums_of(values)
    assert len(found.high) == len(values) + 1
    assert_normal(found)
    sizes = list(accumulate(map(abs, map(Fraction, values.tolist())), initial=Fraction(0)))
    for count, (one, truth) in enumerate(zip(exactly(found), expected, strict=True)):
        off = abs(one - truth)
        assert off <= UNIT**2 * (count**2 * sizes[count] + abs(truth)), count


def test_a_million_steps_are_right_to_the_last_digit():
    steps = np.random.default_rng(0).normal(size=1_000_000)
    found = running_sum(steps).high
    whole = accumulate((int(np.ldexp(step, 120)) for step in steps.tolist()), initial=0)
    expected = np.array([np.ldexp(float(total), -120) for total in whole])
    assert found.tolist() == expected.tolist()
    assert np.abs(np.cumsum(steps) - expected[1:]).max() > 1e-12  # doubles are not enough


@pytest.mark.parametrize("chunk", [1, 2, 7, 4096])
def test_the_length_of_parts_changes_no_bit(monkeypatch, chunk):
    for _, values in HOSTILE:
        whole = running_sum(values)
        with monkeypatch.context() as patch:
            patch.setattr(_double_double, "_CHUNK", chunk)
            parts = running_sum(values)
        assert parts.high.tobytes() == whole.high.tobytes()
        assert parts.low.tobytes() == whole.low.tobytes()


@pytest.mark.parametrize("kind", ["far apart", "of one size", "almost opposite"])
def test_errors_of_sums_and_products_are_doubles(kind):
    rng = np.random.default_rng(1)
    a = rng.normal(size=2000) * 2.0 ** rng.integers(-40, 40, 2000)
    b = rng.normal(size=2000) * 2.0 ** rng.integers(-40, 40, 2000)
    if kind == "of one size":
        b = rng.permutation(a)
    if kind == "almost opposite":
        b = -np.nextafter(a, rng.choice([-np.inf, np.inf], 2000))
    for made, operation in ((two_sum, operator.add), (two_product, operator.mul)):
        expected = list(map(operation, map(Fraction, a.tolist()), map(Fraction, b.tolist())))
        assert exactly(DoubleDouble(*made(a, b))) == expected


def wide(rng, size):
    """Numbers of all sizes, some with no low part, some with the largest it can be."""
    high = rng.normal(size=size) * 2.0 ** rng.integers(-30, 30, size)
    share = rng.choice([0.0, 0.5, -0.5, 1e-9], size) + rng.choice([0.0, 0.3], size) * rng.random()
    return DoubleDouble(*two_sum(high, np.spacing(high) * share.clip(-0.5, 0.5)))


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("close", [False, True])
def test_operations_are_right_to_twice_the_digits(operation, close):
    rng = np.random.default_rng(2)
    a, b = wide(rng, 3000), wide(rng, 3000)
    if close:
        b = DoubleDouble(*two_sum(-a.high, np.spacing(a.high) * rng.integers(-2, 3, 3000)))
    found = operation(a, b)
    assert_normal(found)
    expected = map(operation, exactly(a), exactly(b))
    for one, truth in zip(exactly(found), expected, strict=True):
        assert abs(one - truth) <= WIDE * abs(truth)


def test_a_difference_as_a_double_is_off_in_its_own_last_digit():
    steps = np.append(1e12, np.random.default_rng(3).random(2000))
    sums, truth = running_sum(steps), sums_of(steps)
    found = sums[1:].minus(sums[:-1])
    for one, step in zip(found.tolist(), map(Fraction, steps.tolist()), strict=True):
        assert abs(Fraction(one) - step) <= 3 * UNIT * step
    apart = sums[1001:].minus(sums[:-1001])
    for one, after, before in zip(apart.tolist(), truth[1001:], truth, strict=False):
        assert abs(Fraction(one) - (after - before)) <= 3 * UNIT * (after - before)


NUMBERS = st.integers(-3, 3).map(float)


@settings(max_examples=300)
@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=20))
def test_comparison_is_that_of_the_numbers(rows):
    columns = np.array(rows).T
    a = DoubleDouble(*two_sum(columns[0], columns[1] * 2.0**-60))
    b = DoubleDouble(*two_sum(columns[2], columns[3] * 2.0**-60))
    assert (a < b).tolist() == list(map(operator.lt, exactly(a), exactly(b)))
    assert not (a < a).any()


def test_indexing_repeating_and_turning_the_sign():
    numbers = wide(np.random.default_rng(4), 5)
    plain = exactly(numbers)
    assert exactly(numbers[::-1]) == plain[::-1]
    assert exactly(numbers[np.array([3, 3, 0])]) == [plain[3], plain[3], plain[0]]
    assert exactly(numbers.repeat(np.array([0, 2, 0, 1, 0]))) == [plain[1], plain[1], plain[3]]
    assert exactly(-numbers) == [-one for one in plain]
    values = np.array([0.1, -2.0])
    assert exactly(DoubleDouble.of(values)) == [Fraction(0.1), Fraction(-2)]
    assert exactly(numbers[:2] + DoubleDouble.of(0.0)) == plain[:2]


def test_the_walk_ends_where_its_exact_sum_does():
    """A plateau of a hundred thousand tiny steps: the walk is right at each of them."""
    rng = np.random.default_rng(5)
    steps = np.concatenate([rng.normal(size=1000), 1e-9 * rng.normal(size=100_000)])
    score = np.linspace(0, 1, len(steps))
    rise, fall = steps.clip(min=0), (-steps).clip(min=0)
    ones = np.ones(len(steps))
    level, rows = np.full(len(steps), -1), np.ones(len(steps), dtype=int)
    cells = Cells(level, 0 * rows, rows, ones, ones / 2, rise, fall, score)
    diagram = Diagram(cells, Totals(1.0, 1.0, 1.0, True, True))
    truth = [float(total) for total in sums_of(steps)]
    assert diagram.walk.tolist() == truth
    assert not reaching_extremes(diagram).any()  # single scores: nothing to open


#: What is read off the walk and off sums of weights, in parts that can run side by side.
SUITES = {
    "measures": ["measures"],
    "calibrators": [
        "core/test_minorant.py",
        "calibrators/test_blocks.py",
        "calibrators/test_isotonic.py",
        "calibrators/test_venn_abers.py",
        "calibrators/estimators/test_steps.py",
        "calibrators/estimators/test_venn_abers.py",
    ],
    "groups": [
        "core/test_diagram.py",
        "core/test_extremes.py",
        "core/test_tally.py",
        "auditing/test_groups.py",
        "data/test_grouped_cells.py",
        "data/engine/test_scan.py",
    ],
}
#: Searches through a dozen rows, and simulations: they take long, and need no further digits.
LEFT_OUT = ["over_all_intervals", "permuting_rows", "greedy", "independent_draws", "hold_at_once"]


@pytest.mark.validity  # each runs hundreds of tests once more
@pytest.mark.parametrize("suites", SUITES.values(), ids=SUITES)
def test_the_suites_pass_where_a_long_double_is_a_double(suites):
    tests = Path(__file__).parents[1]
    paths = [str(tests), *filter(None, [os.environ.get("PYTHONPATH")])]
    options = ["-p", "reference.no_long_double", "-p", "no:xdist", "-p", "no:cacheprovider"]
    chosen = ["-m", "not validity and not engines", "-k", f"not ({' or '.join(LEFT_OUT)})"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *chosen, *(str(tests / one) for one in suites)],
        cwd=tests.parent,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]


def test_no_module_asks_for_a_wider_float():
    wider = re.compile("longdouble|longfloat|float128|float96|complex256|complex192")
    modules = Path(calibrant.__file__).parent.rglob("*.py")
    assert not [path for path in modules if wider.search(path.read_text(encoding="utf-8"))]
