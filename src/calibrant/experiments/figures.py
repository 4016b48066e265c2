"""The numbers behind the figures: Figure 1 from documents, all others read off trials."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from calibrant.certificates.bands import confidence_band
from calibrant.certificates.certify import certify
from calibrant.experiments.run import Mean, Study
from calibrant.experiments.trials import CALIBRATORS, GRID
from calibrant.simulate import TopicModel

Trials = list[dict[str, Any]]
#: Points along w(X) at which Figure 1 is kept.
_POINTS = 80


def figure1(study: Study) -> dict[str, Any]:
    """Compare the sigmoid with the observed frequency along w(X), for fixed word weights w."""
    [found] = study.each("Figure 1", [(study.key(figure=1), partial(_sigmoid, study))])
    return dict(found)


def _sigmoid(study: Study) -> dict[str, Any]:
    """Learn w on some documents, a and b on others; hold the curve against a third part."""
    from sklearn.linear_model import LogisticRegression

    model, documents = TopicModel(seed=1000 * study.seed), 20_000
    if study.quick:
        model, documents = replace(model, topics=5, words=100, length=50.0), 2_000
    train, fit, fresh = (model.draw(documents, seed=seed)[:3] for seed in (0, 1, 2))
    labels = [part[1][:, 0] for part in (train, fit, fresh)]
    weights = LogisticRegression(max_iter=5000).fit(train[0], labels[0]).coef_[0]
    along = [part[0] @ weights for part in (fit, fresh)]
    line = LogisticRegression(C=np.inf).fit(along[0][:, None], labels[1])
    a, b = float(line.coef_[0, 0]), float(line.intercept_[0])
    scores = 1 / (1 + np.exp(-(a * along[1] + b)))
    band = confidence_band(labels[2], scores, curve="reliability")
    kept = np.unique(np.linspace(0, len(band.score) - 1, _POINTS).astype(int))
    inside = (band.lower <= band.score) & (band.score <= band.upper)
    bound = certify(labels[2], scores, sided="both")
    score = band.score[kept].clip(1e-12, 1 - 1e-12)
    return {
        "documents": documents,
        "a": a,
        "b": b,
        "weight": ((np.log(score) - np.log1p(-score) - b) / a).tolist(),
        "sigmoid": band.score[kept].tolist(),
        "observed": band.value[kept].tolist(),
        "lower": band.lower[kept].tolist(),
        "upper": band.upper[kept].tolist(),
        "inside": float(inside.mean()),
        "c_emp": bound.c_emp,
        "c_lower": bound.lower,
        "c_upper": bound.upper,
    }


def figure2(trials: Trials) -> list[dict[str, Any]]:
    """Return the calibration error of every classifier, with its certificates."""
    return [
        {
            "data": data,
            "classifier": classifier,
            "c_emp": _mean(some, [one["c_emp"] for one in some]),
            "lower": float(np.mean([one["lower"] for one in some])),
            "upper": float(np.mean([one["upper"] for one in some])),
            "splits": [[one["c_emp"], one["lower"], one["upper"]] for one in some],
            "rows": some[0]["rows"],
        }
        for (data, classifier), some in by_pair(trials).items()
    ]


def figure3(trials: Trials) -> dict[str, Any]:
    """Return the loss ratio over p before and after isotonic regression, with intervals."""
    curves = []
    for (data, classifier), some in by_pair(trials).items():
        ratios = np.array([_ratios(one, "Isotonic") for one in some])
        points = [_mean(some, column) for column in ratios.T.tolist()]
        saved = _mean(some, (1 - ratios.mean(axis=1)).tolist())
        curves.append({"data": data, "classifier": classifier, "ratio": points, "saved": saved})
    return {"p": GRID.tolist(), "curves": curves}


def conjecture(trials: Trials) -> dict[str, Any]:
    """Hold what calibration saves against the calibration error before it.

    At every p the saving is at most c_emp on the rows of the test themselves, because a
    nondecreasing calibrator only moves the threshold: the rows between the old one and the new one
    form an interval of scores.
    """
    points = []
    for (data, classifier), some in by_pair(trials).items():
        saved = [np.subtract(one["before"]["cost"], _cost(one, "Isotonic")) for one in some]
        shares = [_share_saved(one, "Isotonic") for one in some]
        points.append(
            {
                "data": data,
                "classifier": classifier,
                "c_emp": _mean(some, [one["c_emp"] for one in some]),
                "most_saved": _mean(some, [float(one.max()) for one in saved]),
                "mean_saved": _mean(some, [float(one.mean()) for one in saved]),
                "share_saved": _mean(some, shares),
                "above_bound": sum(
                    float(one.max()) > trial["c_emp"] + 1e-12
                    for one, trial in zip(saved, some, strict=True)
                ),
                "trials": len(some),
            }
        )
    errors = [point["c_emp"]["mean"] for point in points]
    ranks = {
        name: _rank_correlation(errors, [point[name]["mean"] for point in points])
        for name in ("most_saved", "mean_saved", "share_saved")
    }
    return {"points": points, "rank_correlation": ranks}


def _rank_correlation(one: list[float], other: list[float]) -> float | None:
    """Return Spearman's correlation, or None where all ranks are the same."""
    from scipy.stats import spearmanr

    if len(set(one)) < 2 or len(set(other)) < 2:
        return None
    return float(spearmanr(one, other).statistic)


def beyond(trials: Trials) -> list[dict[str, Any]]:
    """Return what every calibrator makes of every classifier."""
    rows = []
    for (data, classifier), some in by_pair(trials).items():
        after = {
            name: {
                "c_emp": float(np.mean([one["after"][name]["c_emp"] for one in some])),
                "brier": float(np.mean([one["after"][name]["brier"] for one in some])),
                "share_saved": float(np.mean([_share_saved(one, name) for one in some])),
            }
            for name in CALIBRATORS
        }
        before = {
            name: float(np.mean([one["before"][name] for one in some]))
            for name in ("c_emp", "brier")
        }
        rows.append({"data": data, "classifier": classifier, "before": before, "after": after})
    return rows


def by_pair(trials: Trials) -> dict[tuple[str, str], Trials]:
    """Put the splits of each data set and classifier together."""
    pairs: dict[tuple[str, str], Trials] = {}
    for one in trials:
        pairs.setdefault((one["data"], one["classifier"]), []).append(one)
    return pairs


def _mean(some: Trials, values: list[float]) -> dict[str, Any]:
    """Summarise a value of each split."""
    train, _, test = some[0]["rows"]
    return Mean.of(values, overlap=test / train).to_dict()


def _share_saved(trial: dict[str, Any], calibrator: str) -> float:
    """Return the share of the whole cost that a calibrator saves; 0 if there is none to save."""
    before = sum(trial["before"]["cost"])
    return 1 - sum(_cost(trial, calibrator)) / before if before > 0 else 0.0


def _cost(trial: dict[str, Any], calibrator: str) -> list[float]:
    cost: list[float] = trial["after"][calibrator]["cost"]
    return cost


def _ratios(trial: dict[str, Any], calibrator: str) -> list[float]:
    """Return the loss after over the loss before at each p.

    Where decisions before cost nothing there is no ratio: it counts as 1 if they still cost
    nothing, else as 2.
    """
    return [
        after / before if before > 0 else 1.0 + float(after > 0)
        for after, before in zip(_cost(trial, calibrator), trial["before"]["cost"], strict=True)
    ]
