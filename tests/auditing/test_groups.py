"""Every group of a table, against the same functions on the rows of that group alone."""

import json
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.auditing.groups import groups_of
from calibrant.certificates.specification import CertificateSpec
from calibrant.data import groups
from calibrant.errors import InputError
from reference.engines import ENGINES, same

RNG = np.random.default_rng(5)
ROWS = 6000


def table(rows=ROWS, small=True):
    sex = RNG.choice(["f", "m"], rows)
    region = RNG.choice([1, 2, 3, 4, 5, 6], rows, p=[0.4, 0.3, 0.26, 0.02, 0.01, 0.01])
    prob = RNG.beta(0.6, 1.2, rows)
    prob[:300] = RNG.choice([0.0, 0.25, 1.0], 300)
    truth = np.where(region == 2, prob**2, prob)
    return pd.DataFrame(
        {
            "y": (RNG.random(rows) < truth).astype(int),
            "p": prob,
            "w": RNG.integers(0, 3, rows),
            "sex": sex,
            "region": region if small else region % 3,
        }
    )


TABLE = table()


def expected_groups(frame, columns, weight=None):
    """Groups by hand: rows that count, small values pooled, small pairs pooled."""
    counted = frame if weight is None else frame[frame[weight] > 0]
    coded = counted.copy()
    coded["size"] = 1 if weight is None else counted[weight]
    for column in columns:
        sizes = coded["size"].groupby(counted[column], dropna=False)
        if (sizes.sum() < 100).sum() > 1:  # a lone one keeps its name
            coded[column] = (
                counted[column].astype(object).where(sizes.transform("sum") >= 100, "POOLED")
            )
    found = {}
    for count in (1, 2):
        for names in map(list, combinations(columns, count)):
            if count == 2 and any(coded[name].nunique(dropna=False) == 1 for name in names):
                continue
            parts = coded.groupby(names, dropna=False)
            pooled = count == 2 and (parts["size"].sum() < 100).sum() > 1
            for key, part in parts:
                small = pooled and part["size"].sum() < 100
                name = (tuple(names), ("SMALL",) if small else key)
                found.setdefault(name, []).append(part)
    return {name: pd.concat(parts) for name, parts in found.items()}


def key_of(one):
    if one.pooled and len(one.columns) == 2:
        return (one.columns, ("SMALL",))
    return (one.columns, tuple(one.group.get(column, "POOLED") for column in one.columns))


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_every_group_is_what_its_rows_alone_give(wrap, weight, tmp_path):
    found = cb.audit(
        wrap(TABLE, tmp_path), label="y", prob="p", weight=weight, by=["sex", "region"]
    )
    expected = expected_groups(TABLE, ["sex", "region"], weight)
    assert {key_of(one) for one in found.groups} == set(expected)
    for one in found.groups:
        part = expected[key_of(one)]
        data = cb.Predictions(part["y"], part["p"], sample_weight=part[weight] if weight else None)
        assert one.rows == part["size"].sum()
        assert one.calibration_error == pytest.approx(cb.calibration_error(data), abs=1e-12)
        same(one.worst_interval.to_dict(), cb.worst_interval(data).to_dict())
        delta = 0.05 / len(found.groups)
        alone = cb.certify(data, confidence=1 - delta, sided="both")
        assert (one.certificate.lower, one.certificate.upper) == pytest.approx(
            (alone.lower, alone.upper), abs=1e-9
        )
        assert one.certain == (alone.lower > 0)
    assert sum(one.rows for one in found.groups if one.columns == ("region",)) == found.data.weight


@pytest.mark.parametrize("lone", [4, None])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_lone_small_value_keeps_its_name(engine, lone, tmp_path):
    few = TABLE[TABLE["region"] < 5].head(4000)
    few = few.assign(region=few["region"].map({1: "a", 2: "b", 3: "c", 4: lone and "d"}))
    found = cb.audit(ENGINES[engine](few, tmp_path), label="y", prob="p", by="region").groups
    rows = {one.group["region"]: one.rows for one in found}
    counts = few["region"].value_counts(dropna=False)
    assert rows == {None if name != name else name: size for name, size in counts.items()}
    assert min(rows.values()) < 100
    assert not any(one.pooled for one in found)


def test_the_order_is_by_evidence_and_the_certain_come_first():
    found = cb.audit(TABLE, label="y", prob="p", by="region").groups
    certain = [one.certain for one in found]
    assert certain == sorted(certain, reverse=True)
    assert found[0].group == {"region": 2}
    assert found[0].certain
    evidence = [one.evidence for one in found if not one.certain]
    assert evidence == sorted(evidence, reverse=True)
    words = cb.audit(TABLE, label="y", prob="p", by="region").summary[-1]
    assert "1 of 5 groups is proved to be miscalibrated at the 95% level (simultaneous)" in words
    assert "the clearest being region = 2" in words
    assert found[0].to_dict()["certain"] is True
    assert "small group" in " ".join(one.name for one in found)


@pytest.mark.parametrize(
    "wrap", [ENGINES["pandas"], ENGINES["polars lazy"], ENGINES["duckdb table"]]
)
def test_large_groups_are_read_on_their_own(wrap, monkeypatch, tmp_path):
    before = whole().to_dict()["groups"]
    monkeypatch.setattr(groups, "_LARGE", 500)
    monkeypatch.setattr(groups, "_TABLE_BITS", 7)
    after = cb.audit(wrap(TABLE, tmp_path), label="y", prob="p", by=["sex", "region"])
    same(after.to_dict()["groups"], before)


MISSING = TABLE.assign(
    region=TABLE["region"].where(TABLE["region"] != 3).astype("Int64"),
    sex=TABLE["sex"].where(TABLE["sex"] != "m", None),
)


@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_missing_values_are_a_group(wrap, tmp_path):
    found = cb.audit(wrap(MISSING, tmp_path), label="y", prob="p", by=["sex", "region"]).groups
    names = {one.name: one.rows for one in found}
    assert names["region is missing"] == (TABLE["region"] == 3).sum()
    assert names["sex is missing"] == (TABLE["sex"] == "m").sum()
    assert names["sex = f, region = 1"] == ((TABLE["sex"] == "f") & (TABLE["region"] == 1)).sum()


@cache
def whole():
    return cb.audit(TABLE, label="y", prob="p", by=["sex", "region"])


KINDS = {
    "categories": lambda t: t.assign(g=pd.Categorical(t["sex"], categories=["m", "x", "f"])),
    "truth values": lambda t: t.assign(g=t["sex"] == "f"),
    "doubles": lambda t: t.assign(g=np.where(t["sex"] == "f", 0.5, 1.5)),
    "large integers": lambda t: t.assign(g=np.where(t["sex"] == "f", 10**15, -(10**15))),
    "strange words": lambda t: t.assign(g=np.where(t["sex"] == "f", "a\x1f'\"; --", "<script>")),
    "dates": lambda t: t.assign(
        g=pd.to_datetime(np.where(t["sex"] == "f", "2020-01-01", "2021-02-03"))
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrap", ENGINES.values(), ids=ENGINES)
def test_columns_of_every_kind_make_groups(wrap, kind, tmp_path):
    table = wrap(KINDS[kind](TABLE), tmp_path)
    found, notes = groups_of(cb.Predictions(table, label="y", prob="p"), ["g"], CertificateSpec())
    expected = [one for one in whole().groups if one.columns == ("sex",)]
    assert notes == ()
    assert [one.rows for one in found] == [one.rows for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.columns == ("g",)
        assert one.calibration_error == pytest.approx(other.calibration_error, abs=1e-12)
    json.dumps([one.to_dict() for one in found], allow_nan=False)


def test_arrays_make_groups_too():
    by = {"sex": TABLE["sex"].to_numpy(), "region": TABLE["region"].tolist()}
    found = cb.audit(TABLE["y"], TABLE["p"], by=by)
    expected = whole()
    same(found.to_dict()["groups"], expected.to_dict()["groups"])


@pytest.mark.parametrize("wrap", [ENGINES["pandas"], ENGINES["duckdb table"]])
def test_a_column_of_names_makes_no_groups_of_its_own(wrap, tmp_path):
    frame = TABLE.assign(id=np.arange(ROWS))
    found = cb.audit(wrap(frame, tmp_path), label="y", prob="p", by=["id", "sex"])
    assert "No value of 'id' has 100 rows, so it makes no groups." in found.warnings
    assert [one.name for one in found.groups if one.columns == ("id",)] == [
        "6,000 small groups of id"
    ]
    assert len(found.groups) == 3


def test_at_most_a_thousand_values_are_named():
    many = np.repeat(np.arange(1100), 100)
    rng = np.random.default_rng(0)
    prob = rng.random(len(many))
    found = cb.audit(rng.random(len(many)) < prob, prob, by={"g": many})
    assert len(found.groups) == 1001
    assert next(one for one in found.groups if one.pooled).pooled == 100


def test_soft_labels_and_fractional_weights_have_no_certificate():
    rng = np.random.default_rng(0)
    for label, weight in ((rng.random(500), None), (rng.random(500) < 0.5, rng.random(500))):
        prob = rng.random(500)
        found = cb.audit(label, prob, sample_weight=weight, by={"g": np.arange(500) % 2})
        assert [one.certificate for one in found.groups] == [None, None]
        assert not any(one.certain for one in found.groups)
        for one in found.groups:
            inside = np.arange(500) % 2 == one.group["g"]
            part = None if weight is None else weight[inside]
            error = cb.calibration_error(label[inside], prob[inside], sample_weight=part)
            assert one.calibration_error == pytest.approx(error, abs=1e-12)


@pytest.mark.parametrize("by", [[], ["sex", "sex"], 3, {}, [1]])
def test_groups_that_are_no_columns_are_refused(by):
    with pytest.raises(InputError, match="by must name columns of the table"):
        cb.audit(TABLE, label="y", prob="p", by=by)


def test_more_that_is_refused():
    with pytest.raises(InputError, match="There is no column 'Sex' in the table"):
        cb.audit(TABLE, label="y", prob="p", by="Sex")
    with pytest.raises(InputError, match="by must name columns of the table"):
        cb.audit(TABLE["y"], TABLE["p"], by="sex")
    with pytest.raises(InputError, match="which group a row is in"):
        cb.audit(cb.Predictions(TABLE["y"], TABLE["p"]).tally(), by="sex")
    options = {"clusters": "region", "estimand": "cluster"}
    with pytest.raises(InputError, match="does not carry over to rows that come in clusters"):
        cb.audit(TABLE, label="y", prob="p", by="sex", **options)
    with pytest.raises(InputError, match="must have the same number of rows"):
        cb.audit(TABLE["y"], TABLE["p"], by={"sex": ["f"]})


def test_all_certificates_hold_at_once():
    """Over 200 samples the chance that any of 12 groups is missed is at most 5%."""
    misses, runs, rows = 0, 200, 1500
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 12, rows)
        prob = np.where(group < 6, 0.3, 0.02)
        truth = np.where(group == 3, 0.5, prob)  # one group is off by 0.2
        data = cb.Predictions((rng.random(rows) < truth).astype(int), prob)
        found, _ = groups_of(data, {"g": group}, CertificateSpec(0.95))
        true = {g: 0.2 if g == 3 else 0.0 for g in range(12)}
        misses += any(
            not one.certificate.lower <= true[one.group["g"]] <= one.certificate.upper
            for one in found
            if not one.pooled
        )
    # binomial with p = 0.05: more than 20 of 200 has a chance of 0.0009
    assert misses <= 20


def many_columns(count, rows=2000):
    """Return a table of outcomes, scores and columns of two values each."""
    rng = np.random.default_rng(3)
    score = rng.random(rows)
    columns = {f"c{k}": rng.integers(0, 2, rows) for k in range(count)}
    return pd.DataFrame({"y": (rng.random(rows) < score) * 1, "p": score, **columns})


def test_pairs_are_those_of_the_first_ten_columns_unless_all_are_asked_for():
    table = many_columns(12)
    names = [f"c{k}" for k in range(12)]
    options = {"label": "y", "prob": "p", "by": names}
    some, every = cb.audit(table, **options), cb.audit(table, **options, crossed="all")
    assert {one.columns for one in some.groups} == {
        *((name,) for name in names),
        *combinations(names[:10], 2),
    }
    assert len({one.columns for one in every.groups}) == 12 + 66
    note = 'Pairs were audited for the first 10 of 12 columns; crossed="all" audits all 66.'
    assert note in some.warnings
    assert note in some.to_markdown()
    assert note in json.loads(some.to_json())["warnings"]
    assert not any("Pairs" in text for text in every.warnings)
    # fewer statements share the confidence
    first = {one.name: one for one in every.groups}
    for one in some.groups:
        assert one.calibration_error == first[one.name].calibration_error
        assert one.certificate.upper < first[one.name].certificate.upper


def test_ten_columns_are_paired_without_a_word():
    table = many_columns(11).assign(c10=1)  # a column of one value has no pairs
    names = [f"c{k}" for k in range(11)]
    found = cb.audit(table, label="y", prob="p", by=names)
    assert len({one.columns for one in found.groups}) == 11 + 45
    assert not any("Pairs" in text for text in found.warnings)
    with pytest.raises(InputError, match="crossed must be one of"):
        cb.audit(table, label="y", prob="p", by=names, crossed="none")
