"""Isotonic regression: scikit-learn's fit, the linear programme, and the paper's claims."""

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.optimize import linprog
from sklearn.isotonic import IsotonicRegression

import calibrant as cb
from calibrant.simulate import overconfident, wavy
from reference.published import PAV
from reference.samples import shapes, small
from reference.sorted_path import sorted_error


def fitted(y_true, y_prob, weight=None, interpolation="step"):
    return cb.IsotonicCalibrator(interpolation).fit(y_prob, y_true, sample_weight=weight)


def two_classes(y_true, weight=None):
    weight = np.ones(len(y_true)) if weight is None else np.asarray(weight, dtype=float)
    share = np.dot(weight, y_true) / weight.sum() if weight.sum() > 0 else 0.0
    return (weight > 0).sum() >= 2 and 0 < share < 1


def fittable(y_true, y_prob, weight=None):
    """Two classes, and not scores of 0 and 1 with fractions as labels: those look swapped."""
    swapped = set(y_prob) <= {0.0, 1.0} and not set(y_true) <= {0.0, 1.0}
    return two_classes(y_true, weight) and not swapped


@settings(max_examples=300)
@given(small(rows=15))
def test_equals_scikit_learn(sample):
    y_true, y_prob, weight = sample
    if not fittable(y_true, y_prob, weight):
        return
    peer = IsotonicRegression(out_of_bounds="clip", y_min=0, y_max=1)
    # scikit-learn pools scores that differ in the last digits only
    if np.diff(np.unique(y_prob)).min(initial=1) < 1e-7:
        return
    peer.fit(y_prob, y_true, sample_weight=weight)
    counted = np.ones(len(y_prob), dtype=bool) if weight is None else np.array(weight) > 0
    scores = np.array(y_prob)[counted]
    for interpolation in ("step", "linear"):
        found = fitted(y_true, y_prob, weight, interpolation).predict(scores)
        assert found == pytest.approx(peer.predict(scores), abs=1e-9)
    between = np.random.default_rng(0).random(20)
    linear = fitted(y_true, y_prob, weight, "linear").predict(between)
    assert linear == pytest.approx(peer.predict(between), abs=1e-7)


@pytest.mark.parametrize(("name", "y_true", "y_prob"), list(shapes(30_000)))
def test_equals_scikit_learn_on_every_shape(name, y_true, y_prob):
    peer = IsotonicRegression(out_of_bounds="clip").fit(y_prob.astype(float), y_true)
    expected = peer.predict(y_prob.astype(float))
    assert fitted(y_true, y_prob).predict(y_prob) == pytest.approx(expected, abs=1e-9)
    weight = np.random.default_rng(1).integers(0, 4, len(y_true))
    with_weight = IsotonicRegression(out_of_bounds="clip")
    with_weight.fit(y_prob.astype(float), y_true, sample_weight=weight)
    found = fitted(y_true, y_prob, weight, "linear").predict(y_prob)
    assert found == pytest.approx(with_weight.predict(y_prob.astype(float)), abs=1e-9)


@pytest.mark.parametrize(("source", "y", "weight", "fit"), PAV)
def test_published_fits(source, y, weight, fit):
    top = max(y)
    scores = np.linspace(0.1, 0.9, len(y))
    found = fitted(np.array(y) / top, scores, weight).predict(scores)
    assert found * top == pytest.approx(fit, abs=1e-9)


def test_blocks_hold_the_rows_between_their_scores(tiny_steps):
    y_true, y_prob, _ = overconfident().draw(700, seed=2)
    y_prob = y_prob.round(3)
    blocks = fitted(y_true, y_prob).function_
    assert (np.diff(blocks.value) > 0).all()
    assert blocks.weight.sum() == 700
    assert blocks.positives.sum() == y_true.sum()
    for low, high, weight, positives, value in zip(
        blocks.low, blocks.high, blocks.weight, blocks.positives, blocks.value, strict=True
    ):
        inside = (y_prob >= low) & (y_prob <= high)
        assert low in y_prob
        assert high in y_prob
        assert (inside.sum(), y_true[inside].sum()) == (weight, positives)
        assert value == positives / weight


@settings(max_examples=150)
@given(small(rows=15))
def test_no_calibration_error_is_left_on_the_fitting_rows(sample):
    """Claim 5, part 1."""
    y_true, y_prob, weight = sample
    if not fittable(y_true, y_prob, weight):
        return
    after = fitted(y_true, y_prob, weight).predict(y_prob)
    assert sorted_error(y_true, after, weight)[0] <= 1e-12


@settings(max_examples=150)
@given(small(rows=15))
def test_a_continuous_function_leaves_no_calibration_error_either(sample):
    """Algorithm 1, step 5: straight lines between blocks keep the values on the fitting rows."""
    y_true, y_prob, weight = sample
    if not fittable(y_true, y_prob, weight):
        return
    linear = fitted(y_true, y_prob, weight, "linear")
    counted = np.ones(len(y_prob), dtype=bool) if weight is None else np.array(weight) > 0
    after = linear.predict(np.array(y_prob)[counted])
    assert (after == fitted(y_true, y_prob, weight).predict(np.array(y_prob)[counted])).all()
    kept = None if weight is None else np.array(weight)[counted]
    assert sorted_error(np.array(y_true)[counted], after, kept)[0] <= 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_no_jump_of_the_continuous_function(seed):
    y_true, y_prob, _ = overconfident().draw(200, seed=seed)
    linear = fitted(y_true, y_prob, interpolation="linear")
    knots, values = linear.function_.knots()
    steepest = (np.diff(values) / np.diff(knots)).max()
    grid = np.linspace(0, 1, 10_001)
    assert np.diff(linear.predict(grid)).max() <= steepest * 1e-4 + 1e-12


@pytest.mark.parametrize("seed", range(10))
def test_strict_reads_the_objective_of_claim_3(seed):
    """Nothing is tied any more, so intervals end inside blocks: max over a < b, over n."""
    y_true, y_prob, _ = overconfident().draw(300, seed=seed)
    order = np.argsort(y_prob)
    y_true, y_prob = y_true[order], y_prob[order]
    after = fitted(y_true, y_prob).predict(y_prob)
    objective = np.ptp(np.append(0, np.cumsum(y_true - after))) / 300
    strict = fitted(y_true, y_prob, interpolation="strict").predict(y_prob)
    assert np.abs(strict - after).max() <= 1e-6
    assert sorted_error(y_true, strict)[0] == pytest.approx(objective, abs=1e-6)
    assert objective > 0.005


def test_lines_through_the_middle_of_blocks_leave_an_error():
    y_true, y_prob, _ = overconfident().draw(300, seed=1)
    blocks = fitted(y_true, y_prob).function_
    after = np.interp(y_prob, (blocks.low + blocks.high) / 2, blocks.value)
    assert sorted_error(y_true, after)[0] > 0.005


#: Whether a score of p itself acts.
RULES = (np.greater_equal, np.greater)


def costs(y_true, score, p, rule=np.greater_equal):
    """The cost of acting when the score reaches p: p a false positive, 1 - p a false negative."""
    act = rule(score, p)
    return np.where(act, p * (1 - y_true), (1 - p) * y_true).sum()


@pytest.mark.parametrize("seed", range(4))
def test_decisions_never_cost_more_on_the_fitting_rows(seed):
    """Claim 5, part 2, for every cost ratio, over thousands of random samples."""
    rng = np.random.default_rng(seed)
    for _ in range(750):
        rows = rng.integers(2, 12)
        y_true, y_prob = rng.integers(0, 2, rows), rng.integers(0, 6, rows) / 5
        if not two_classes(y_true):
            continue
        after = fitted(y_true, y_prob).predict(y_prob)
        for p in np.unique(np.concatenate([y_prob, after, rng.random(4)])):
            before = [costs(y_true, y_prob, p, rule) for rule in RULES]
            then = [costs(y_true, after, p, rule) for rule in RULES]
            assert then[0] == pytest.approx(then[1], abs=1e-9)  # to act at p or not is the same
            assert max(then) <= min(before) + 1e-9


@pytest.mark.parametrize("seed", range(4))
def test_accuracy_never_falls_on_the_fitting_rows(seed):
    """Claim 5, in particular: p = 1/2, with many scores and values of 1/2 among them."""
    rng = np.random.default_rng(seed)
    for _ in range(500):
        rows = rng.integers(2, 16)
        y_true, y_prob = rng.integers(0, 2, rows), rng.integers(0, 5, rows) / 4
        if not two_classes(y_true):
            continue
        after = fitted(y_true, y_prob).predict(y_prob)
        right = [[(rule(s, 0.5) == y_true).sum() for rule in RULES] for s in (y_prob, after)]
        assert min(right[1]) >= max(right[0])


def test_to_act_at_the_threshold_or_not_can_be_everything_before_calibration():
    y_true, y_prob = np.ones(4, dtype=int), np.full(4, 0.5)
    assert [costs(y_true, y_prob, 0.5, rule) for rule in RULES] == [0, 2]


@pytest.mark.parametrize("seed", range(25))
def test_minimises_the_calibration_error_among_nondecreasing_functions(seed):
    """Claim 3: the linear programme over nondecreasing values cannot do better."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(2, 9)
    y_true, scores = rng.integers(0, 2, rows), np.sort(rng.random(rows))
    if not two_classes(y_true):
        return
    # variables: z_1 <= ... <= z_n in [0, 1], then the bound t; all sums over a < i <= b within t
    constraints, limits = [], []
    for a in range(rows):
        for b in range(a + 1, rows + 1):
            inside = np.zeros(rows)
            inside[a:b] = 1
            total = y_true[a:b].sum()
            constraints += [np.append(-inside, -1), np.append(inside, -1)]
            limits += [-total, total]
    for i in range(rows - 1):
        row = np.zeros(rows + 1)
        row[i], row[i + 1] = 1, -1
        constraints.append(row)
        limits.append(0)
    goal = np.append(np.zeros(rows), 1)
    best = linprog(goal, constraints, limits, bounds=[(0, 1)] * rows + [(0, None)], method="highs")
    found = fitted(y_true, scores).predict(scores)
    walk = np.append(0, np.cumsum(y_true - found))
    assert np.ptp(walk) == pytest.approx(best.fun, abs=1e-9)
    squares = np.square(y_true - found).sum()
    for _ in range(50):  # and no random nondecreasing function has a smaller squared loss
        other = np.sort(rng.random(rows))
        assert squares <= np.square(y_true - other).sum() + 1e-12


@pytest.mark.parametrize("law", [overconfident(), wavy()], ids=str)
def test_converges_to_a_calibrated_function(law):
    """Claim 6: the true calibration error falls about as 1 / sqrt(n)."""
    population = law.draw(200_000, seed=77)
    errors = {}
    for rows in (200, 3200, 51_200):
        found = []
        for seed in range(6):
            y_true, y_prob, _ = law.draw(rows, seed=seed)
            after = fitted(y_true, y_prob).predict(population.y_prob)
            found.append(sorted_error(population.true_prob, after)[0])
        errors[rows] = np.mean(found)
    assert errors[200] > 2 * errors[3200] > 4 * errors[51_200] > 0
    assert errors[51_200] < 0.006
