"""The experiments on the paper's open question, in small, and the page made from them."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

from calibrant.experiments.directions import LAWS
from calibrant.experiments.learning import _documents, open_question
from calibrant.experiments.run import Study
from calibrant.learners.losses import LOSSES

DOCS = Path(__file__).parent.parent.parent / "docs"


@pytest.fixture(scope="module")
def found():
    return open_question(Study(runs=1, quick=True, jobs=1))


def test_all_is_plain_and_complete(found):
    assert json.loads(json.dumps(found)) == found
    assert [one["loss"] for one in found["alternation"]] == list(LOSSES)
    assert {one["law"] for one in found["recovery"]} == set(LAWS)
    data = {one["data"] for one in found["data"]}
    assert data == {"Simulated, additive", "Simulated, interactions", "Documents"}
    assert len(found["data"]) == len(data) * 13


def test_own_rows_are_calibrated_but_for_the_lipschitz_link_and_logistic_regression(found):
    for one in found["data"]:
        exact = "Lipschitz" not in one["learner"] and one["learner"] != "Logistic regression"
        assert (one["own"]["mean"] < 1e-12) == exact, one["learner"]


def test_cost_over_all_p_is_about_half_the_brier_score(found):
    """Its mean over every p from 0 to 1 is exactly that (the grid leaves out the ends)."""
    for one in found["data"]:
        assert one["mean_cost"]["mean"] == pytest.approx(one["brier"]["mean"] / 2, rel=0.15)


def test_projection_never_raises_a_proper_loss_and_does_raise_the_hinge(found):
    rises = {one["loss"]: max(one["rise"]) for one in found["alternation"]}
    assert rises["squared"] <= 1e-12
    assert rises["logistic"] <= 1e-12
    assert rises["hinge"] > 0


def test_documents_are_as_many_as_asked_for():
    split = _documents(0, quick=True)
    assert [table.shape[0] for table in split.tables] == [1000, 500, 2000]
    table, label = split.learned_from
    assert table.shape == (1500, 100)
    assert len(label) == 1500


def page_maker():
    spec = importlib.util.spec_from_file_location("learning_page", DOCS / "learning.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


RESULTS = json.loads((DOCS / "learning.json").read_text(encoding="utf-8"))


def angles(law, learner):
    found = [one for one in RESULTS["recovery"] if (one["law"], one["learner"]) == (law, learner)]
    return [one["angle"]["mean"] for one in found]


def on_data(data, learner):
    [found] = [o for o in RESULTS["data"] if (o["data"], o["learner"]) == (data, learner)]
    return found


def test_the_page_says_what_the_results_say():
    last = {one["loss"]: one for one in RESULTS["alternation"]}
    assert max(last["squared"]["angle"][-1], last["logistic"]["angle"][-1]) < 1
    assert 3.5 < last["hinge"]["angle"][-1] < 4.5
    assert np.mean(np.array(last["hinge"]["rise"]) > 0) > 0.5
    for loss in ("squared", "logistic"):
        assert max(last[loss]["rise"]) <= 0
        assert angles("skewed", f"Calibrated, {loss}")[-1] < 0.6
    assert angles("skewed", "Isotron")[-1] < 0.75
    assert 3 < angles("skewed", "Calibrated, hinge")[-1] < 4.5
    assert 2.5 < angles("skewed", "Logistic regression")[-1] < 3.5
    plain, hinge = (
        np.array(on_data("Adult", name)["cost"])
        for name in ("Logistic regression", "Calibrated, hinge")
    )
    assert 1.045 < (hinge / plain).min() < (hinge / plain).max() < 1.09
    kept = on_data("Documents", "Isotron, early stopping")
    assert kept["c_emp"]["mean"] < 0.012
    for other in ("Logistic regression", "Linear SVM + isotonic", "Boosted trees + isotonic"):
        assert kept["brier"]["mean"] < on_data("Documents", other)["brier"]["mean"]
    costs = {
        name: on_data("Covertype", name)["mean_cost"]["mean"]
        for name in ("Logistic regression", "Calibrated, squared", "Boosted trees + isotonic")
    }
    base = costs["Logistic regression"]
    assert 0.02 < 1 - costs["Calibrated, squared"] / base < 0.03
    assert 0.29 < 1 - costs["Boosted trees + isotonic"] / base < 0.31
    squared = on_data("Covertype", "Calibrated, squared")
    assert (
        squared["c_emp"]["mean"]
        < 0.5 * on_data("Covertype", "Logistic regression")["c_emp"]["mean"]
    )


def test_a_quick_run_fills_the_page_and_the_pictures_as_well(found):
    module = page_maker()
    assert len(module.recovery_table(found, "skewed")) == 9
    assert len(module.data_table(found, "Documents")) == 15
    for draw_picture in module.PICTURES.values():
        assert draw_picture(found).axes
