"""Several models on the same rows, in every engine, against the same by hand."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

import calibrant as cb
from calibrant.errors import InputError
from reference.comparing import EQUALLY_WRONG, false_claims, too_many
from reference.engines import ENGINES, same

RNG = np.random.default_rng(9)
ROWS = 4000


def table(rows=ROWS):
    truth = RNG.beta(0.8, 1.2, rows)
    truth[:100] = 0.5
    return pd.DataFrame(
        {
            "y": (RNG.random(rows) < truth).astype(int),
            "a b": np.clip(truth, 0.001, 0.999),
            "*": np.clip(truth**2, 0.001, 0.999),
            'c"': RNG.choice([0.2, 0.4, 0.6], rows),
            "w": RNG.integers(0, 3, rows),
        }
    )


TABLE = table()
MODELS = ["a b", "*", 'c"']


def by_hand(frame, confidence=0.95):
    """Repeat rows as often as they weigh, and compute everything from its definition."""
    y = frame["y"].to_numpy()
    found = {}
    for name in MODELS:
        p = frame[name].to_numpy()
        level = 1 - (1 - confidence) / len(MODELS)
        ends = {
            method: cb.certify(y, p, confidence=level, method=method, sided="both")
            for method in ("certified", "asymptotic")
        }
        log = -np.log(np.where(y == 1, p, 1 - p))
        found[name] = (cb.calibration_error(y, p), ends, (y - p) ** 2, log)
    return found


def expected_squares(frame, one, other):
    """What the models expect of the squares: of Brier and of log loss differences, row by row."""
    a, b = frame[one].to_numpy(), frame[other].to_numpy()
    spread = np.maximum(a * (1 - a), b * (1 - b))
    jump = (-2 * (a - b), np.log(b / a) - np.log((1 - b) / (1 - a)))
    return [one**2 * spread for one in jump]


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_every_engine_gives_what_the_definition_says(wrap, weight, tmp_path):
    found = cb.compare(wrap(TABLE, tmp_path), label="y", probs=MODELS, weight=weight)
    rows = TABLE if weight is None else TABLE.loc[TABLE.index.repeat(TABLE["w"])]
    expected = by_hand(rows)
    assert found.rows == len(rows)
    for one in found.models:
        error, ends, squared, log = expected[one.name]
        assert one.calibration_error == pytest.approx(error, abs=1e-12)
        for stated, by_itself in (
            (one.certificate, ends["certified"]),
            (one.asymptotic, ends["asymptotic"]),
        ):
            assert stated.method == by_itself.method
            assert stated.upper == pytest.approx(by_itself.upper, abs=1e-9)
            assert stated.lower == pytest.approx(by_itself.lower, abs=1e-9)
        assert one.brier == pytest.approx(squared.mean(), abs=1e-12)
        assert one.log_loss == pytest.approx(log.mean(), abs=1e-12)
        weights = None if weight is None else TABLE["w"]
        alone = cb.Predictions(TABLE["y"], TABLE[one.name], sample_weight=weights)
        same(one.worst_interval.to_dict(), cb.worst_interval(alone).to_dict())
    assert [(d.first, d.second) for d in found.differences] == [
        ("a b", "*"),
        ("a b", 'c"'),
        ("*", 'c"'),
    ]
    z = norm.ppf(1 - 0.05 / 3 / 2)
    for one in found.differences:
        first, second = expected[one.first], expected[one.second]
        assert one.calibration_error.value == pytest.approx(first[0] - second[0], abs=1e-12)
        for estimate, method in (
            (one.calibration_error, "certified"),
            (one.calibration_error_asymptotic, "asymptotic"),
        ):
            one_by, other_by = first[1][method], second[1][method]
            assert estimate.lower == pytest.approx(one_by.lower - other_by.upper)
            assert estimate.upper == pytest.approx(one_by.upper - other_by.lower)
        for estimate, k in ((one.brier, 2), (one.log_loss, 3)):
            gap = first[k] - second[k]
            floor = np.mean(expected_squares(rows, one.first, one.second)[k - 2])
            width = z * np.sqrt(max(gap.var(ddof=1), floor) / len(gap))
            assert estimate.value == pytest.approx(gap.mean(), abs=1e-12)
            assert (estimate.lower, estimate.upper) == pytest.approx(
                (gap.mean() - width, gap.mean() + width), abs=1e-10
            )


def test_arrays_and_words():
    found = cb.compare(TABLE["y"], {name: TABLE[name] for name in MODELS})
    same(found.to_dict(), cb.compare(TABLE, label="y", probs=MODELS).to_dict())
    assert "better calibrated than *" in repr(found)
    json.dumps(found.to_dict(), allow_nan=False)
    twice = cb.compare(TABLE["y"], {"a": TABLE["a b"], "b": TABLE["a b"]})
    assert twice.differences[0].brier.value == 0
    assert (
        twice.summary[1]
        == "No difference in calibration is shown at the 95% level (simultaneous over 2 models)."
    )


@pytest.mark.parametrize("wrap", [ENGINES[e] for e in ("pandas", "polars lazy", "duckdb table")])
def test_a_model_that_was_certain_and_wrong(wrap, tmp_path):
    frame = TABLE.assign(sure=np.where(TABLE["y"] == 1, 0.0, 0.5))
    found = cb.compare(wrap(frame, tmp_path), label="y", probs=["sure", "a b"])
    assert found.models[0].log_loss == np.inf
    assert found.differences[0].log_loss is None
    assert found.to_dict()["models"][0]["log_loss"] == "inf"
    assert np.isfinite(found.differences[0].brier.value)


def test_the_interval_of_a_difference_covers_the_truth():
    """One model off by 0.1, one right: the difference of their true errors is 0.1."""
    missed, runs = 0, 150
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        prob = rng.random(400) * 0.8
        y = rng.random(400) < prob + 0.1
        off = cb.compare(y, {"off": prob, "right": prob + 0.1}).differences[0].calibration_error
        missed += not off.lower <= 0.1 <= off.upper
    # binomial with p = 0.05: more than 16 of 150 has a chance of 0.001
    assert missed <= 16


def lower_losses(n, k, one, other):
    """The pairs (loss, model) that a comparison of two constants says are lower, k events in n."""
    data = {"y_true": [1, 0], "sample_weight": [k, n - k]}
    if k == 0:
        data = {"y_true": [0], "sample_weight": [n]}
    size = len(data["y_true"])
    found = cb.compare(**data, y_prob={"one": [one] * size, "other": [other] * size})
    said = found.differences[0]
    ends = {"brier": said.brier, "log": said.log_loss}
    return {
        (name, "one" if at.upper < 0 else "other")
        for name, at in ends.items()
        if at.lower * at.upper > 0
    }


@pytest.mark.filterwarnings("ignore:.*single")
@pytest.mark.parametrize(("one", "other"), [(0.001, 0.01), (1e-5, 0.02), (0.01, 0.03)])
@pytest.mark.parametrize("n", [50, 100, 200, 260, 400, 600, 1000])
def test_samples_without_events_prove_nothing(one, other, n):
    """At rates where the second model is barely better: exact binomial sums over the events."""
    said = [lower_losses(n, k, one, other) for k in range(40)]
    equal = {"brier": (one + other) / 2}
    apart = np.log((1 - one) / (1 - other)), np.log(other / one)
    equal["log"] = apart[0] / sum(apart)
    for loss, rate in equal.items():
        wrong = sum(binom.pmf(k, n, rate) for k in range(40) if (loss, "one") in said[k])
        assert wrong <= 0.03, (loss, rate)  # half of what is left of 95%, and some skewness
        either = sum(binom.pmf(k, n, rate) for k in range(40) if any(loss == x for x, _ in said[k]))
        assert either <= 0.05


@pytest.mark.filterwarnings("ignore:.*single")
@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_few_surprises_widen_the_interval_in_every_engine(wrap, tmp_path):
    rng = np.random.default_rng(4)
    few = pd.DataFrame({"a": rng.uniform(0.001, 0.02, 400), "b": rng.uniform(0.002, 0.05, 400)})
    few["y"] = 0
    few.loc[:1, "y"] = 1
    found = cb.compare(wrap(few, tmp_path), label="y", probs=["a", "b"]).differences[0]
    a, b = few["a"].to_numpy(), few["b"].to_numpy()
    losses = {"brier": (a**2 - b**2, (1 - a) ** 2 - (1 - b) ** 2)}
    losses["log_loss"] = (np.log((1 - b) / (1 - a)), np.log(b / a))
    floors = expected_squares(few, "a", "b")
    for (name, (without, event)), floor in zip(losses.items(), floors, strict=True):
        gap = np.where(few["y"] == 1, event, without)
        width = norm.ppf(0.975) * np.sqrt(floor.mean() / 400)
        assert floor.mean() > gap.var(ddof=1)
        ends = getattr(found, name)
        assert (ends.lower, ends.upper) == pytest.approx(
            (gap.mean() - width, gap.mean() + width), abs=1e-12
        )


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
@pytest.mark.parametrize("wrap", [ENGINES[e] for e in ("pandas", "polars lazy", "duckdb table")])
def test_a_model_that_is_certain_where_the_other_is_not(wrap, tmp_path):
    score = TABLE["a b"].to_numpy().copy()
    score[np.flatnonzero(TABLE["y"] == 0)[0]] = 0.0
    frame = wrap(TABLE.assign(sure=score, same=score), tmp_path)
    found = cb.compare(frame, label="y", probs=["sure", "a b"])
    assert np.isfinite(found.models[0].log_loss)
    assert found.differences[0].log_loss is None
    assert "score of 0 or 1, which costs infinitely much if it is ever wrong" in found.warnings[-1]
    # a row that does not count is not certain of anything
    (tmp_path / "w").mkdir()
    silent = TABLE.assign(sure=score, w=(score > 0).astype(int))
    quiet = cb.compare(wrap(silent, tmp_path / "w"), label="y", probs=["sure", "a b"], weight="w")
    assert quiet.differences[0].log_loss is not None
    both = cb.compare(frame, label="y", probs=["sure", "same"])
    assert both.differences[0].log_loss.value == 0
    assert both.warnings == ()


@pytest.mark.parametrize(
    ("one", "other", "truth", "rows"),
    [
        ([0.5, 1e-4], [0.5, 1e-5], [0.5, 8e-5], [400, 20_000]),
        ([0.5, 1e-9], [0.3, 0.02], [0.5, 0.022], [200, 50]),
        ([0.4, 0.001], [0.4, 0.02], [0.4, 0.0125], [1000, 300]),
    ],
)
def test_rare_events_among_common_ones(one, other, truth, rows):
    """The models agree on most rows, or differ where an event would cost a lot: few are wrong."""
    score_a, score_b, chance = (np.repeat(part, rows) for part in (one, other, truth))
    apart = {
        "brier": ((score_a - chance) ** 2 - (score_b - chance) ** 2).mean(),
        "log_loss": (
            chance * np.log(score_b / score_a)
            + (1 - chance) * np.log((1 - score_b) / (1 - score_a))
        ).mean(),
    }
    missed, runs = dict.fromkeys(apart, 0), 200
    for seed in range(runs):
        y = np.random.default_rng(seed).random(len(chance)) < chance
        found = cb.compare(y, {"a": score_a, "b": score_b}).differences[0]
        for name, difference in apart.items():
            ends = getattr(found, name)
            missed[name] += not ends.lower <= difference <= ends.upper
    # binomial with p = 0.05: more than 21 of 200 has a chance of 0.0004
    assert max(missed.values()) <= 21


def test_scores_are_told_from_true_probabilities_on_most_samples():
    law, runs = cb.simulate.overconfident(1.265), 40
    shown = 0
    for seed in range(runs):
        y_true, y_prob, truth = law.draw(20_000, seed=seed)
        pair = cb.compare(y_true, {"scores": y_prob, "truth": truth}).differences[0]
        assert pair.significantly_better != "scores"
        shown += pair.evidence != "none"
    assert shown >= 30  # about 9 in 10 are; fewer than 30 of 40 has a chance of 0.002


@pytest.mark.parametrize("rows", [60, 4000])
@pytest.mark.parametrize("law", EQUALLY_WRONG)
def test_models_with_equal_errors_are_seldom_told_apart(law, rows):
    assert not too_many(false_claims(law, rows, 60)["significant"], 60)


def test_pictures_are_those_of_the_rows_and_come_when_asked_for():
    models = {name: TABLE[name] for name in MODELS}
    found = cb.compare(TABLE["y"], models)
    assert "curves" not in vars(found)
    for curves, (name, scores) in zip(found.curves, models.items(), strict=True):
        alone = cb.audit(TABLE["y"], scores).curves
        for one, other in (
            (curves.difference.difference, alone.difference.difference),
            (curves.reliability.observed, alone.reliability.observed),
        ):
            np.testing.assert_allclose(one, other, rtol=0, atol=1e-12, err_msg=name)
        assert curves.reliability.consistent_lower is None
    assert found == cb.compare(TABLE["y"], models)


@pytest.mark.parametrize("wrap", [ENGINES[e] for e in ("pandas", "polars lazy", "duckdb table")])
def test_every_engine_has_the_pictures(wrap, tmp_path):
    found = cb.compare(wrap(TABLE, tmp_path), label="y", probs=MODELS, weight="w")
    alone = cb.compare(TABLE["y"], {name: TABLE[name] for name in MODELS}, sample_weight=TABLE["w"])
    for one, other in zip(found.curves, alone.curves, strict=True):
        same(one.to_dict(), other.to_dict())


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(InputError, match="y_prob must name two models or more"):
        cb.compare(TABLE["y"], TABLE["a b"])
    with pytest.raises(InputError, match="probs must name two models or more"):
        cb.compare(TABLE, label="y", probs=["a b"])
    with pytest.raises(InputError, match="probs must name two models or more, each once"):
        cb.compare(TABLE, label="y", probs=["a b", "a b"])
    with pytest.raises(InputError, match="label must name a column"):
        cb.compare(TABLE, probs=["a b", "*"])
    with pytest.raises(InputError, match="cannot be given with a table"):
        cb.compare(TABLE, TABLE["*"], label="y", probs=["a b", "*"])
    with pytest.raises(InputError, match="There is no column 'd' in the table"):
        cb.compare(TABLE, label="y", probs=["a b", "d"])
    with pytest.raises(InputError, match="Weights must be whole numbers"):
        cb.compare(TABLE.assign(w=0.5), label="y", probs=["a b", "*"], weight="w")
    with pytest.raises(InputError, match="Labels must be 0/1 for a comparison"):
        cb.compare(TABLE.assign(y=0.5), label="y", probs=["a b", "*"])


def test_a_model_without_any_error_is_asked_about():
    fitted = cb.IsotonicCalibrator().fit(TABLE["*"], TABLE["y"]).predict(TABLE["*"])
    found = cb.compare(TABLE["y"], {"raw": TABLE["*"], "fitted": fitted})
    assert found.warnings[-1].startswith("fitted has no calibration error at all here: were these")
