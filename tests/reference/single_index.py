"""Classifiers u(w . x), and a law that they can recover."""

import numpy as np

import calibrant as cb
from calibrant.learners.losses import LOSSES

MODELS = [
    cb.IsotronClassifier(),
    cb.IsotronClassifier("lipschitz", max_iter=1000),  # by short steps
    *(cb.CalibratedLinearClassifier(loss) for loss in LOSSES),
]
CALIBRATED = [model for model in MODELS if getattr(model, "link", "") != "lipschitz"]
NAMES = ["isotron", "lipschitz", *LOSSES]
TRUTH = np.array([1.0, -1.0, 0.5, 2.0, 0.0])


def law(index):
    """A link that is not logistic: it is never sure."""
    return 0.1 + 0.8 / (1 + np.exp(-2 * index))


def draw(rows, seed):
    """Rows whose features are not elliptical, so that least squares finds another direction."""
    rng = np.random.default_rng(seed)
    X = np.exp(0.8 * rng.normal(size=(rows, 5)))
    index = X @ TRUTH - 2.5 * np.exp(0.32)
    return X, rng.random(rows) < law(index), index


def angle(model):
    w = model.coef_[0]
    return np.degrees(np.arccos(w @ TRUTH / np.linalg.norm(w) / np.linalg.norm(TRUTH)))
