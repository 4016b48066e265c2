"""Verdicts follow from numbers: each flips when the numbers do."""

import copy

import numpy as np
import pytest
from scipy import stats

from calibrant.experiments.claims import claims_of, same_mean
from calibrant.experiments.run import Mean


def mean(value, sd=0.001, n=5):
    return Mean(value, sd, n).to_dict()


def reading(documents, topics, c_emp, l1=0.127):
    return {
        "exponent": 1.0,
        "documents": documents,
        "topics": topics,
        "l1": mean(l1, 0.0008),
        "c_emp": mean(c_emp, 0.0003),
        "trivial_l1": mean(0.2022, 0.0001),
        "label_frequency": mean(0.3448, 0.0001),
    }


def bar(data, classifier, low, c_emp, high):
    return {
        "data": data,
        "classifier": classifier,
        "c_emp": mean(c_emp),
        "lower": low,
        "upper": high,
    }


ERRORS = {
    "Logistic regression": 0.01,
    "Random forest": 0.02,
    "SVM": 0.1,
    "Boosted trees": 0.2,
}
SAVED = {
    "Logistic regression": 0.0,
    "Random forest": 0.04,
    "SVM": 0.2,
    "Boosted trees": 0.12,
    "Naive Bayes": 0.04,
}


def as_published():
    """Return results that say just what the paper says."""
    bars = [
        bar(data, name, max(0, c - 0.01), c, c + 0.01)
        for data in ("A", "B")
        for name, c in ERRORS.items()
    ]
    bars += [bar("A", "Naive Bayes", 0.02, 0.03, 0.04), bar("B", "Naive Bayes", 0.06, 0.07, 0.08)]
    points = [
        {
            "data": "A",
            "classifier": name,
            "c_emp": mean(0.01),
            "most_saved": mean(0.005),
            "mean_saved": mean(0.004),
            "share_saved": mean(0.01),
            "above_bound": 0,
            "trials": 5,
        }
        for name in (*SAVED, "Neural network")
    ]
    return {
        "table1": {
            "supported": {"documents": "training", "exponent": 1.0, "distance": 0.0},
            "readings": [
                reading("training", "all", 0.0083),
                reading("training", "one", 0.0083),
                reading("fresh", "all", 0.02),
                reading("fresh", "one", 0.02),
            ],
        },
        "figure1": {"inside": 1.0, "c_lower": 0.0, "c_upper": 0.02},
        "figure2": bars,
        "figure3": {
            "curves": [
                {"data": data, "classifier": name, "saved": mean(saved, 0.002)}
                for data in ("A", "B")
                for name, saved in SAVED.items()
            ]
        },
        "conjecture": {
            "points": points,
            "rank_correlation": {"mean_saved": 0.9, "share_saved": 0.9, "most_saved": 0.9},
        },
    }


def verdicts(results):
    return {f"{claim.where}: {claim.paper}": claim.verdict for claim in claims_of(results)}


def test_the_published_numbers_agree_with_themselves():
    found = verdicts(as_published())
    assert set(found.values()) == {"agrees"}
    assert len(found) == 20


def change_l1(results):
    results["table1"]["readings"][0]["l1"] = mean(0.140, 0.0008)


def widen_l1(results):
    results["table1"]["readings"][0]["l1"] = mean(0.140, 0.02)


def run_once(results):
    results["table1"]["readings"][0]["l1"] = mean(0.140, 0.0, 1)


def save_once(results):
    for one in results["figure3"]["curves"]:
        one["saved"] = mean(0.5, 0.0, 1)


def save_as_much(results):
    for one in results["figure3"]["curves"]:
        if one["classifier"] == "Naive Bayes":
            one["saved"] = mean(0.12, 0.002)


def find_few(results):
    results["conjecture"]["points"] = results["conjecture"]["points"][:4]


def save_perhaps(results):
    results["conjecture"]["points"][0]["most_saved"] = mean(0.015, 0.02)


def lower_l1(results):
    results["table1"]["readings"][2]["l1"] = mean(0.05, 0.0008)


def break_sigmoid(results):
    results["figure1"] |= {"c_upper": 0.07, "c_lower": 0.06, "inside": 0.7}


def blur_sigmoid(results):
    results["figure1"] |= {"c_upper": 0.07}


def bars_of(results, name):
    return [one for one in results["figure2"] if one["classifier"] == name]


def spoil_forest(results):
    bars_of(results, "Random forest")[0] |= {"lower": 0.06, "upper": 0.1}


def blur_forest(results):
    bars_of(results, "Random forest")[0] |= {"lower": 0.03, "upper": 0.1}


def calibrate_svm(results):
    bars_of(results, "SVM")[1] |= {"lower": 0.0, "upper": 0.04}


def level_bayes(results):
    bars_of(results, "Naive Bayes")[1] |= {"lower": 0.03, "upper": 0.05}


def save_more(results):
    for one in results["figure3"]["curves"]:
        if one["classifier"] == "Boosted trees":
            one["saved"] = mean(0.3, 0.002)


def save_unsurely(results):
    for one in results["figure3"]["curves"]:
        if one["classifier"] == "SVM":
            one["saved"] = mean(0.15, 0.1)


def save_by_bayes(results):
    for one in results["figure3"]["curves"]:
        if one["classifier"] == "Naive Bayes":
            one["saved"] = mean(0.25, 0.002)


def cross_bound(results):
    results["conjecture"]["points"][0]["above_bound"] = 1


def save_much(results):
    results["conjecture"]["points"][0]["most_saved"] = mean(0.03)


def save_share(results):
    results["conjecture"]["points"][0]["share_saved"] = mean(0.2)


@pytest.mark.parametrize(
    ("change", "statement", "verdict"),
    [
        (change_l1, "mean l1 error", "disagrees"),
        (widen_l1, "mean l1 error", "undecided"),
        (run_once, "mean l1 error", "undecided"),
        (save_once, "for SVM", "undecided"),
        (save_once, "benefit most", "undecided"),
        (save_as_much, "benefit most", "undecided"),
        (find_few, "in cost", "undecided"),
        (save_perhaps, "in cost", "undecided"),
        (lower_l1, "almost calibrated", "undecided"),
        (break_sigmoid, "best sigmoid", "disagrees"),
        (blur_sigmoid, "best sigmoid", "undecided"),
        (spoil_forest, "Random forest is calibrated", "disagrees"),
        (blur_forest, "Random forest is calibrated", "undecided"),
        (calibrate_svm, "SVM, a large margin", "disagrees"),
        (level_bayes, "depends on the data set", "undecided"),
        (save_more, "for boosted trees", "disagrees"),
        (save_unsurely, "for SVM", "undecided"),
        (save_by_bayes, "benefit most", "disagrees"),
        (cross_bound, "At no p", "disagrees"),
        (save_much, "in cost", "disagrees"),
        (save_share, "as a share", "disagrees"),
    ],
)
def test_a_verdict_follows_its_numbers(change, statement, verdict):
    results = copy.deepcopy(as_published())
    change(results)
    [found] = [said for text, said in verdicts(results).items() if statement in text]
    assert found == verdict


def test_welch_is_scipys_beyond_rounding():
    rng = np.random.default_rng(0)
    for _ in range(20):
        one, other = rng.normal(0.1, 0.01, 5), rng.normal(0.11, 0.002, 7)
        expected = stats.ttest_ind(one, other, equal_var=False).pvalue
        found = same_mean(Mean.of(one.tolist()), Mean.of(other.tolist()), digits=16)
        assert found == pytest.approx(expected, rel=1e-6)
    assert same_mean(Mean(0.12704, 0.0, 5), Mean(0.1270, 0.0, 5)) == 1
    assert same_mean(Mean(0.1271, 0.0, 5), Mean(0.1270, 0.0, 5)) == 0
    assert same_mean(Mean(0.1271, 0.0, 1), Mean(0.1270, 0.001, 5)) is None
