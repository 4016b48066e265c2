"""One query checks and tallies; whatever is odd in a table must not pass it."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import calibrant as cb
from calibrant.data.engine.checks import facts_of
from calibrant.data.engine.scan import scan
from calibrant.data.engine.source import FrameSource, open_table
from calibrant.data.memory.source import ArraySource
from calibrant.data.rules import Roles
from calibrant.errors import InputError
from reference.engines import CONNECTION

ROLES = Roles("y", "p", None)


def scanned(table):
    return scan(open_table(table).columns(ROLES.columns()), ROLES, None, fine=False)


def lazy(label, prob):
    return pl.LazyFrame({"y": label, "p": prob})


ODD_LABELS = (2, -1, None, 3, 255, -128, 2**62, -(2**62))
ODD_SCORES = (None, np.nan, np.inf, -np.inf, -1e-300, np.nextafter(1, 2), 100.0, -5.0)


@pytest.mark.parametrize("odd", ODD_LABELS)
@pytest.mark.parametrize("score", [0.0, 2**-14, 0.3, 0.5, 1 - 2**-14, np.nextafter(1, 0), 1.0])
def test_an_odd_label_is_seen_whatever_its_score(odd, score):
    rng = np.random.default_rng(0)
    prob = np.append(rng.random(500), score)
    label = [*rng.integers(0, 2, 500).tolist(), odd]
    assert scanned(lazy(label[:-1], prob[:-1])) is not None
    assert scanned(lazy(label, prob)) is None


@pytest.mark.parametrize("odd", ODD_SCORES)
def test_an_odd_score_is_seen(odd):
    rng = np.random.default_rng(1)
    prob, label = rng.random(500).tolist(), rng.integers(0, 2, 501)
    assert scanned(lazy(label, [*prob, odd])) is None


def test_all_labels_odd_in_the_same_way():
    prob = np.random.default_rng(2).random(300)
    for label in (2, -1, 7):
        assert scanned(lazy(np.full(300, label), prob)) is None


def test_no_rows_are_left_to_the_long_look():
    table = pl.LazyFrame({"y": [], "p": []}, schema={"y": pl.Int64, "p": pl.Float64})
    assert scanned(table) is None


@given(
    st.lists(
        st.tuples(
            st.sampled_from([0, 1, 0, 1, 2, -1]),
            st.one_of(
                st.floats(0, 1),
                st.sampled_from([0.0, -0.0, 0.5, 1.0]),
                st.floats(-0.1, 1.1),
            ),
        ),
        min_size=1,
        max_size=30,
    )
)
@settings(max_examples=60, deadline=None)
def test_what_passes_is_what_the_rules_allow(rows):
    label, prob = zip(*rows, strict=True)
    allowed = set(label) <= {0, 1} and all(0 <= p <= 1 for p in prob)
    found = scanned(lazy(label, prob))
    if not allowed:
        assert found is None
    elif found is None:
        table = open_table(lazy(label, prob)).columns(ROLES.columns())
        assert facts_of(table, ROLES, None).crowd > 0
    else:
        source: ArraySource = cb.Predictions(list(label), list(prob)).source
        cells, totals = source.start()
        assert found.facts.rows == len(rows)
        assert found.cells.rows.sum() == cells.rows.sum()
        assert np.isclose(totals.ff, found.totals.ff, rtol=1e-12)
        assert np.isclose(totals.fy, found.totals.fy, rtol=1e-12)


def test_a_scan_gives_the_cells_of_a_look_and_a_tally():
    rng = np.random.default_rng(3)
    prob = np.round(rng.random(5000), 3)
    label = (rng.random(5000) < prob).astype(int)
    table = open_table(lazy(label, prob))
    quick, slow = (FrameSource(table, ROLES, tallied=tallied) for tallied in (True, False))
    for name in ("level", "cell", "rows", "weight", "positives", "rise", "fall", "score"):
        one, other = (getattr(source.start()[0], name) for source in (quick, slow))
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12, err_msg=name)


def test_rows_that_are_others_each_time_are_refused():
    rows = "SELECT random() AS p, random() < 0.5 AS y FROM range(5000)"
    drawn = CONNECTION.sql(f"SELECT * FROM ({rows}) WHERE random() < 0.5")
    with pytest.raises(InputError, match="The table changes while it is read"):
        cb.audit(drawn, label="y", prob="p")
