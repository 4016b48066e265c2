import json
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant.core.tally import Cells
from reference import brute
from reference.samples import shapes, small


def predictions(case):
    y_true, y_prob, weight = case
    assume(not (all(f in (0, 1) for f in y_prob) and any(0 < y < 1 for y in y_true)))
    return cb.Predictions(y_true, y_prob, sample_weight=weight)


def same(a, b, rel=1e-12):
    assert (a.level, a.totals.labels_binary, a.totals.weights_integer) == (
        b.level,
        b.totals.labels_binary,
        b.totals.weights_integer,
    )
    for name in ("ff", "fy", "yy"):
        assert getattr(a.totals, name) == pytest.approx(getattr(b.totals, name), rel=rel, abs=rel)
    for field in fields(Cells):
        left, right = getattr(a.cells, field.name), getattr(b.cells, field.name)
        np.testing.assert_allclose(left, right, rtol=rel, atol=rel, err_msg=field.name)


@settings(max_examples=500)
@given(small(), st.integers(0, 8))
def test_holds_what_the_contract_says(case, level):
    tally = predictions(case).tally(level)
    y, f, w = case[0], case[1], case[2] or [1] * len(case[1])
    rows = {}
    for one in zip(y, f, w, strict=True):
        if one[2] > 0:
            cell = min(int(np.floor(one[1] * 2**level)), 2**level - 1)
            rows.setdefault(cell, []).append(one)
    cells = tally.cells
    assert cells.cell.tolist() == sorted(rows)
    for i, cell in enumerate(sorted(rows)):
        group = rows[cell]
        assert cells.rows[i] == len(group)
        assert cells.weight[i] == pytest.approx(sum(w for _, _, w in group))
        assert cells.positives[i] == pytest.approx(sum(w * y for y, _, w in group))
        rise = sum(w * max(y - f, 0) for y, f, w in group)
        fall = sum(w * max(f - y, 0) for y, f, w in group)
        assert cells.rise[i] == pytest.approx(rise, abs=1e-14)
        assert cells.fall[i] == pytest.approx(fall, abs=1e-14)
        scores = {f for _, f, _ in group}
        assert cells.single[i] == (len(scores) == 1)
        if len(scores) == 1:
            assert cells.score[i] == scores.pop()
    counted = [one for group in rows.values() for one in group]
    assert tally.totals.ff == pytest.approx(sum(w * f * f for _, f, w in counted))
    assert tally.totals.fy == pytest.approx(sum(w * f * y for y, f, w in counted), abs=1e-14)
    assert tally.totals.yy == pytest.approx(sum(w * y * y for y, _, w in counted))
    assert tally.totals.weights_integer == all(w == int(w) for _, _, w in counted)
    assert tally.totals.labels_binary == all(y in (0, 1) for y, _, _ in counted)


@settings(max_examples=300)
@given(small(soft=False), small(soft=False), st.integers(0, 10))
def test_adding_tallies_is_tallying_all_rows(one, other, level):
    joined = [
        (a or [1] * len(one[1])) + (b or [1] * len(other[1]))
        for a, b in zip(one, other, strict=True)
    ]
    added = predictions(one).tally(level) + predictions(other).tally(level)
    same(added, predictions(joined).tally(level))


def test_adding_real_chunks_is_tallying_all_rows():
    for _, y_true, y_prob in shapes(100_000):
        parts = [cb.Predictions(y_true[i::7], y_prob[i::7]).tally() for i in range(7)]
        same(sum(parts), cb.Predictions(y_true, y_prob).tally(), rel=1e-10)


@settings(max_examples=300)
@given(small(), st.integers(0, 6))
def test_a_tally_bounds_the_error_of_its_rows(case, level):
    found = cb.audit(predictions(case).tally(level))
    truth = float(brute.error(*case))
    assert found.calibration_error <= truth + 1e-12
    assert found.calibration_error_at_most >= truth - 1e-12


def test_bounds_close_as_cells_get_finer():
    rng = np.random.default_rng(0)
    y_prob = rng.random(20_000)
    data = cb.Predictions(rng.random(20_000) < y_prob, y_prob)
    slack = []
    for level in (4, 8, 12, 16, 20):
        found = cb.audit(data.tally(level))
        slack.append(found.calibration_error_at_most - found.calibration_error)
    assert slack == sorted(slack, reverse=True)
    assert slack[-1] < 1e-4


def test_a_tally_of_ties_is_exact():
    tally = cb.Predictions([0, 1, 1, 0], [0.5, 0.5, 0.25, 0.75]).tally()
    assert cb.calibration_error(tally) == cb.calibration_error([0, 1, 1, 0], [0.5, 0.5, 0.25, 0.75])
    assert cb.audit(tally).exact


def test_an_inexact_tally_gives_no_bare_number():
    rng = np.random.default_rng(0)
    y_prob = rng.random(1000)
    tally = cb.Predictions(rng.random(1000) < y_prob, y_prob).tally(3)
    with pytest.raises(ValueError, match=r"lies between .* and .*audit\(tally\) reports both"):
        cb.calibration_error(tally)
    found = cb.audit(tally)
    assert not found.exact
    assert "or up to" in found.headline


@given(small(), st.integers(0, 14))
def test_json_gives_it_back_to_the_bit(case, level):
    tally = predictions(case).tally(level)
    text = tally.to_json()
    back = cb.Tally.from_json(text)
    same(tally, back, rel=0)
    assert back.to_json() == text
    assert json.loads(text)["schema_version"] == 1


def broken(change):
    document = json.loads(cb.Predictions([0, 1, 1], [0.1, 0.1, 0.9]).tally(4).to_json())
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda d: d.update(schema="other"), "schema is not"),
        (lambda d: d.update(schema_version=9), "schema_version is 9"),
        (lambda d: d.pop("cells"), "missing or of the wrong type"),
        (lambda d: d.update(level="many"), "missing or of the wrong type"),
        (lambda d: d.update(level=99), "level is 99"),
        (lambda d: d["cells"].pop("rise"), "missing or of the wrong type"),
        (lambda d: d["cells"].update(cell=[14, 1]), "increasing order"),
        (lambda d: d["cells"].update(cell=[1, 16]), "increasing order"),
        (lambda d: d["cells"].update(rows=[2]), "differ in length"),
        (lambda d: d["cells"].update(rows=[0, 1]), "no row"),
        (lambda d: d["cells"].update(positives=[5.0, 1.0]), "contradict"),
        (lambda d: d["cells"].update(rise=[-1.0, 0.1]), "negative"),
        (lambda d: d["cells"].update(fall=[0.9, 0.0]), "contradict"),
        (lambda d: d["cells"].update(score=[0.5, 0.9]), "outside its cell"),
        (lambda d: d["totals"].update(ff=-1), "negative"),
        (lambda d: d["totals"].update(ff=1e9), "contradict"),
        (lambda d: d["totals"].update(labels_binary="false"), "wrong type"),
        (lambda d: d["cells"].update(rise=[1e6, 0.1], fall=[1e6, 0.0]), "contradict"),
        (lambda d: d["cells"].update(rows=[2.5, 1]), "wrong type"),
        (lambda d: d["cells"].update(rows=[True, 1]), "wrong type"),
        (lambda d: d["cells"].update(rows=[2**62, 2**62]), "too many"),
        (lambda d: d["cells"].update(rows=[10**30, 1]), "wrong type"),
        (lambda d: d["cells"].update(rows=2), "wrong type"),
        (lambda d: d["cells"].update(weight=["2", "1"]), "wrong type"),
        (lambda d: d["cells"].update(weight=[0, 0]), "no weight"),
        (lambda d: d["cells"].update(weight=[1e308, 1e308]), "too much"),
        (lambda d: d.update(level=3.5), "wrong type"),
        (lambda d: d.update(cells=7), "wrong type"),
    ],
)
def test_json_that_breaks_the_schema_is_refused(change, why):
    with pytest.raises(ValueError, match=f"not a tally that calibrant can read: .*{why}"):
        cb.Tally.from_json(broken(change))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", "[" * 100_000, "null", '{"schema": "calibrant.tally"}', "NaN"]
)
def test_text_that_is_no_tally_is_refused(text):
    with pytest.raises(ValueError, match="not a tally that calibrant can read"):
        cb.Tally.from_json(text)


def test_only_tallies_of_one_level_add():
    data = cb.Predictions([0, 1], [0.1, 0.9])
    with pytest.raises(ValueError, match="of level 3 and 4"):
        data.tally(3) + data.tally(4)
    with pytest.raises(TypeError):
        data.tally(3) + 1
    for level in (21, -1, True, 2.0, "3"):
        with pytest.raises(ValueError, match=r"level must be a whole number, between 0 and 20"):
            data.tally(level)
    assert cb.Tally.from_json(data.tally(np.int64(5)).to_json()).level == 5


def test_a_tally_stands_alone():
    data = cb.Predictions([0, 1], [0.1, 0.9])
    with pytest.raises(ValueError, match="y_prob cannot be given with a Tally"):
        cb.calibration_error(data.tally(), [0.1, 0.9])
    with pytest.raises(ValueError, match="sample_weight, pos_label cannot be given with a Pred"):
        cb.calibration_error(data, sample_weight=[1, 1], pos_label=1)
    with pytest.raises(ValueError, match="y_prob is missing"):
        cb.calibration_error([0, 1])
