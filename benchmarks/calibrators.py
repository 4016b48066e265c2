"""How good are the calibrators? Five models on two data sets, ours and peers' on the same rows.

``make bench-quality`` prints the table and writes it to benchmarks/calibrators.md. It finds Adult
and Covertype in the folder that CALIBRANT_DATA names, or downloads them.
"""

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from betacal import BetaCalibration
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import calibrant as cb
from calibrant.experiments.datasets import Dataset, load_adult, load_covertype
from measure import show

TRAINED, FITTED, TESTED = 15_000, 5_000, 25_000
MODELS = {
    "naive Bayes": GaussianNB(),
    "boosted trees": HistGradientBoostingClassifier(random_state=0),
    "SVM": make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "random forest": RandomForestClassifier(200, random_state=0, n_jobs=2),
}
OURS = {
    "isotonic": cb.IsotonicCalibrator(),
    "isotonic, linear": cb.IsotonicCalibrator("linear"),
    "platt": cb.PlattCalibrator(),
    "platt, squared": cb.PlattCalibrator("squared"),
    "platt, calibration error": cb.PlattCalibrator("calibration_error"),
    "beta": cb.BetaCalibrator(),
    "temperature": cb.TemperatureCalibrator(),
    "histogram": cb.HistogramCalibrator(),
}
COLUMNS = (
    "data",
    "model",
    "calibrator",
    "log loss",
    "Brier score",
    "calibration error",
    "peer",
    "log loss, against it",
    "Brier score, against it",
)
SMALL = 1e-4
#: Ours, and the peer that has the same method.
SAME = {
    "isotonic, linear": "scikit-learn isotonic",
    "platt": "scikit-learn sigmoid",
    "beta": "betacal",
    "temperature": "scikit-learn temperature",
}


class Betacal:
    """Beta calibration of the betacal package, on the scores that ours gets."""

    def __init__(self, model: cb.CalibratedClassifier) -> None:
        self._model = model

    def fit(self, features: np.ndarray, labels: np.ndarray) -> "Betacal":
        self._fitted = BetaCalibration("abm").fit(self._score(features), labels)
        return self

    def predict_proba(self, features: np.ndarray) -> np.ndarray:
        found = self._fitted.predict(self._score(features))
        return np.stack([1 - found, found], axis=1)

    def _score(self, features: np.ndarray) -> np.ndarray:
        return self._model._scores(self._model._raw(features))[:, 0]


def peers(model: object, ours: cb.CalibratedClassifier) -> dict[str, object]:
    frozen = FrozenEstimator(model)
    by_sklearn = {
        f"scikit-learn {method}": CalibratedClassifierCV(frozen, method=method)
        for method in ("isotonic", "sigmoid", "temperature")
    }
    return {**by_sklearn, "betacal": Betacal(ours)}


def losses(labels: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log loss and squared loss of each row; a probability of 0 counts as 1e-6."""
    hit = np.where(labels, score, 1 - score)
    return -np.log(np.clip(hit, 1e-6, 1)), (1 - hit) ** 2


Row = tuple[str, str, np.ndarray, np.ndarray, float]


def study(data: Dataset) -> Iterator[Row]:
    """Yield model, calibrator, both losses of each test row, and c_emp."""
    rows = train_test_split(
        np.arange(len(data.labels)),
        train_size=TRAINED + FITTED + min(TESTED, len(data.labels) - TRAINED - FITTED - 1),
        random_state=0,
    )[0]
    train, fit, test = np.split(rows, [TRAINED, TRAINED + FITTED])
    x, y = data.features, data.labels
    for name, model in MODELS.items():
        trained = model.fit(x[train], y[train])
        frozen = FrozenEstimator(trained)
        fitted = {
            one: cb.CalibratedClassifier(frozen, calibrator).fit(x[fit], y[fit])
            for one, calibrator in OURS.items()
        }
        others = peers(trained, fitted["beta"])
        fitted |= {one: peer.fit(x[fit], y[fit]) for one, peer in others.items()}
        if hasattr(trained, "predict_proba"):
            fitted = {"uncalibrated": trained, **fitted}
        for one, calibrated in fitted.items():
            score = np.clip(calibrated.predict_proba(x[test])[:, 1], 0, 1)
            error = cb.calibration_error(y[test], score)
            yield name, one, *losses(y[test], score), error


def against(mine: np.ndarray, other: np.ndarray) -> str:
    """The paired difference and its standard error; bold if ours is worse beyond noise."""
    difference = mine - other
    mean, error = difference.mean(), difference.std() / np.sqrt(len(difference))
    text = f"{mean:+.5f} ({error:.5f})"
    return f"**{text}**" if mean > max(2 * error, SMALL) else text


def table(data_dir: Path | None) -> Iterator[str]:
    yield "# Calibrators, measured"
    yield ""
    yield "Made by `make bench-quality`. Each model is trained on 15,000 rows, calibrated on 5,000"
    yield "and tested on up to 25,000 others. Log loss counts a probability of 0 as 1e-6. The last"
    yield "columns compare with the peer that has the same method: our log loss, and Brier score,"
    yield "minus its own, and the standard error of that paired difference. Bold: worse by more"
    yield "than two of them and by more than 0.0001, which fitting on other rows would change too."
    yield ""
    yield "| " + " | ".join(COLUMNS) + " |"
    yield "| :-- | :-- | :-- | --: | --: | --: | :-- | --: | --: |"
    for load in (load_adult, load_covertype):
        data = load(data_dir)
        found: dict[str, dict[str, Row]] = {}
        for row in study(data):
            found.setdefault(row[0], {})[row[1]] = row
        for model, rows in found.items():
            for name, (_, _, log_loss, squared, error) in rows.items():
                compared = " | | "
                if name in SAME:
                    peer = rows[SAME[name]]
                    both = against(log_loss, peer[2]), against(squared, peer[3])
                    compared = " | ".join([SAME[name], *both])
                yield (
                    f"| {data.name} | {model} | {name} | {log_loss.mean():.4f} | "
                    f"{squared.mean():.4f} | {error:.4f} | {compared} |"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data-dir", type=Path, help="folder that holds the UCI files")
    parser.add_argument("--save", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    show(table(options.data_dir), options.save)


if __name__ == "__main__":
    main()
