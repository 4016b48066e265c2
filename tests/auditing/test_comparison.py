"""The result of a comparison: in words, printed, pickled, and in a notebook."""

import pickle
from html import escape

import numpy as np
import pytest

import calibrant as cb
from calibrant.errors import InputError

Y_TRUE, Y_PROB, TRUTH = cb.simulate.overconfident().draw(2000, seed=1)
MODELS = {"scores": Y_PROB, "truth": TRUTH, "squared": Y_PROB**2}


def test_a_name_decides_nothing():
    y_true, y_prob, truth = cb.simulate.overconfident().draw(50_000, seed=1)
    found = cb.compare(y_true, {"not certain": y_prob, "truth": truth})
    assert found.differences[0].better == "truth"
    assert "truth is better calibrated than not certain" in found.summary[1]
    turned = cb.compare(y_true, {"truth": truth, "not certain": y_prob}).differences[0]
    assert (turned.better, turned.verdict) == (
        "truth",
        "truth is better calibrated than not certain (proved)",
    )
    equal = cb.compare(y_true, {"a": truth, "b": truth}).differences[0]
    assert equal.better is None


def test_the_words_tell_what_is_proved_from_what_is_significant():
    """An error of 0.023 on 20,000 rows: on this sample it takes the asymptotic intervals."""
    law = cb.simulate.overconfident(1.265)
    assert law.calibration_error == pytest.approx(0.023, abs=1e-4)
    y_true, y_prob, truth = law.draw(20_000, seed=3)
    shifted = np.clip(truth + 0.06, 0, 1)
    found = cb.compare(y_true, {"scores": y_prob, "truth": truth, "shifted": shifted})
    first, second, third = found.differences
    assert [one.evidence for one in found.differences] == ["significant", "proved", "proved"]
    assert (first.better, first.significantly_better) == (None, "truth")
    assert first.verdict == "truth is better calibrated than scores (significant)"
    assert second.better == second.significantly_better == "scores"
    assert found.summary[1:3] == (
        "Proved at the 95% level (simultaneous over 3 models), if rows are independent: "
        f"{second._order}; {third._order}.",
        "Significant at 5% (simultaneous) by asymptotic intervals, not proved: "
        "truth is better calibrated than scores.",
    )
    plain = found.to_dict()["differences"][0]
    assert plain["evidence"] == "significant"
    assert plain["calibration_error_asymptotic"]["lower"] > 0 > plain["calibration_error"]["lower"]
    same = cb.compare(y_true, {"a": y_prob, "b": truth, "c": truth})
    assert "No difference in calibration is shown for the other pair." in same.summary


def test_printed_it_is_sentences_and_a_table():
    models = {"a [red]": Y_PROB, "\x1b[31m": TRUTH}
    found = cb.compare(Y_TRUE, models)
    prose, table = str(found).split("\n\n")
    assert tuple(prose.splitlines()) == found.summary
    head, columns, first, second = table.splitlines()
    assert "95% simultaneous" in head
    assert columns.split()[:4] == ["model", "error", "proved", "asymptotic"]
    assert first.startswith("a [red]  ")
    assert second.startswith(r"\x1b[31m  ")
    assert f"{found.models[0].calibration_error:.4f}" in first
    assert "\n" not in repr(found)


def many():
    y_true, y_prob, truth = cb.simulate.overconfident().draw(100_000, seed=1)
    return y_true, {"scores": y_prob, "truth": truth}


def test_a_comparison_is_pickled_without_its_rows():
    found = cb.compare(*many())
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert repr(again) == repr(found)
    with pytest.raises(InputError, match="without its rows"):
        again.to_html()
    page = found.to_html()
    assert pickle.loads(pickle.dumps(found)).to_html() == page


def test_a_notebook_shows_the_report():
    found = cb.compare(Y_TRUE, MODELS)
    frame = found._repr_html_()
    assert frame.startswith('<iframe title="Comparison of models"')
    assert escape(found.to_html()) in frame
