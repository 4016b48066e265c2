"""Groups: which values are named, whatever the table."""

import json

import numpy as np
import pandas as pd
import pytest

import calibrant as cb
from calibrant.data import groups
from reference.engines import ENGINES, same
from reference.tables import LABEL, PROB, RNG, ROWS, TABLE, groups_of, in_every_engine


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
def test_whole_weights_equal_repetition_in_groups(tmp_path):
    group = RNG.choice(["a", "b"], ROWS).astype(object)
    group[:60], group[60:70] = "c", "d"
    weight = np.ones(ROWS, dtype=int)
    weight[:60], weight[60:70] = 3, 0
    frame = TABLE.assign(g=group, w=weight)
    repeated = frame.loc[frame.index.repeat(frame["w"])]
    expected = cb.audit(repeated, label="y", prob="p", by="g").to_dict()["groups"]
    for table in in_every_engine(frame, tmp_path).values():
        found = cb.audit(table, label="y", prob="p", weight="w", by="g").to_dict()["groups"]
        for one, other in zip(found, expected, strict=True):
            for part in (one, other):
                part["worst_interval"].pop("rows", None)
                part.pop("certificate", None)
            same(one, other)
    assert {one["group"]["g"] for one in expected} == {"a", "b", "c"}


def test_what_is_not_there_is_no_group():
    frame = TABLE.assign(g="x", h=RNG.choice(["u", "v"], ROWS))
    sorts = pd.CategoricalDtype(["x", "unused", "other"])
    plain = cb.audit(frame, label="y", prob="p", by=["g", "h"])
    sorted_ = cb.audit(frame.astype({"g": sorts}), label="y", prob="p", by=["g", "h"])
    assert len(plain.groups) == 3
    same(sorted_.to_dict()["groups"], plain.to_dict()["groups"])


def test_the_cap_names_the_same_values_everywhere(tmp_path):
    frame = pd.DataFrame({"g": np.repeat(np.arange(1050), 100)})
    frame["p"] = RNG.random(len(frame))
    frame["y"] = (RNG.random(len(frame)) < frame["p"]).astype(int)
    for table in in_every_engine(
        frame, tmp_path, ["pandas", "polars lazy", "duckdb table"]
    ).values():
        found = cb.audit(table, label="y", prob="p", by="g").groups
        named = {one.group["g"] for one in found if not one.pooled}
        assert named == set(range(1000))


@pytest.mark.parametrize("large", [1 << 17, 100])
def test_a_claim_is_made_for_all_groups_or_none(large, monkeypatch, tmp_path):
    monkeypatch.setattr(groups, "_LARGE", large)
    monkeypatch.setattr(groups, "_TABLE_BITS", 20 if large > 100 else 4)
    soft = np.where(np.arange(ROWS) % 2, LABEL, PROB)
    frame = TABLE.assign(y=soft, g=np.arange(ROWS) % 2)
    for table in in_every_engine(frame, tmp_path).values():
        assert [one.certificate for one in groups_of(table).values()] == [None, None]


@pytest.mark.filterwarnings("ignore:.*not counted:UserWarning")
def test_a_value_whose_rows_have_no_weight():
    group = np.where(np.arange(ROWS) < 500, "z", "a")
    weight = np.where(np.arange(ROWS) < 500, 0, 1)
    found = cb.audit(LABEL, PROB, by={"g": group}, sample_weight=weight).groups
    assert [one.name for one in found] == ["g = a"]


def test_many_columns_of_many_values(tmp_path):
    rng = np.random.default_rng(1)
    columns = {f"g{k}": rng.integers(0, 300, ROWS) for k in range(8)}
    frame = TABLE.assign(**columns, h=np.arange(ROWS) % 2)
    for name in ("pandas", "polars lazy"):
        found = cb.audit(ENGINES[name](frame, tmp_path), label="y", prob="p", by=[*columns, "h"])
        assert len(found.groups) == 8 + 2


def test_infinite_and_huge_group_values_are_text_in_json(tmp_path):
    group = np.where(LABEL, np.inf, -np.inf)
    json.dumps(cb.audit(LABEL, PROB, by={"g": group}).to_dict(), allow_nan=False)
    huge = np.where(LABEL, 2**64 - 1, 2**64 - 2).astype(np.uint64)
    found = cb.audit(LABEL, PROB, by={"g": huge}).groups
    assert {one.group["g"] for one in found} == {2**64 - 1, 2**64 - 2}


def test_names_that_would_move_the_cursor_are_shown_by_code():
    group = np.where(LABEL, "a\x1b[31mX\nY", "b")
    names = {one.name for one in cb.audit(LABEL, PROB, by={"g": group}).groups}
    assert names == {r"g = a\x1b[31mX\nY", "g = b"}


def test_what_is_left_of_two_columns_has_a_name_of_its_own():
    frame = TABLE.assign(g=0, h=0)
    frame.loc[:499, "g"] = np.arange(500) // 50 + 1
    frame.loc[:499, "h"] = np.arange(500) // 50 + 1
    found = groups_of(frame, by=["g", "h"])
    assert {name: one.rows for name, one in found.items()} == {
        "g = 0": 3500,
        "10 small groups of g": 500,
        "h = 0": 3500,
        "10 small groups of h": 500,
        "g = 0, h = 0": 3500,
        "g = other, h = other": 500,
    }
