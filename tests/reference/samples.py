"""Samples: small ones that hypothesis makes up, and large ones of the shapes people have."""

import warnings

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

_EDGES = [0.0, 1.0, 0.5, 0.25, 0.75, 0.1, 0.9, 1 / 3, 1 / 16, 15 / 16, -0.0]
_CORNERS = [5e-324, 2.2e-308, 1e-300, 2.0**-62, 2.0**-63, float(np.nextafter(0.5, 0))]
_CORNERS += [float(np.nextafter(0.5, 1)), float(np.nextafter(1, 0)), float(np.nextafter(0.1, 1))]
SCORES = st.one_of(st.sampled_from(_EDGES), st.sampled_from(_CORNERS), st.floats(0, 1))
WEIGHTS = st.one_of(st.integers(0, 3), st.floats(1e-3, 10))


@st.composite
def small(draw, soft=None, weighted=None, rows=12):
    """Draw (y_true, y_prob, weight): ties, corners, soft labels, and some weights."""
    soft = draw(st.booleans()) if soft is None else soft
    weighted = draw(st.booleans()) if weighted is None else weighted
    y_prob = draw(st.lists(SCORES, min_size=1, max_size=rows))
    label = SCORES if soft else st.integers(0, 1)
    size = {"min_size": len(y_prob), "max_size": len(y_prob)}
    y_true = draw(st.lists(label, **size))
    weight = draw(st.lists(WEIGHTS, **size).filter(any)) if weighted else None
    return y_true, y_prob, weight


def shapes(rows, seed=0):
    """The six shapes of the benchmark: name, labels, scores."""
    rng = np.random.default_rng(seed)

    def drawn(score, truth=None):
        return (rng.random(rows) < (score if truth is None else truth)).astype(int), score

    score = rng.beta(0.5, 1.5, rows)
    yield "miscalibrated", *drawn(score, score**1.1)
    yield "calibrated", *drawn(rng.beta(0.5, 1.5, rows))
    yield "rare events", *drawn(rng.beta(0.02, 5, rows))
    yield "crowded near zero", *drawn(np.exp(rng.normal(-7, 1, rows)).clip(0, 1))
    yield "100 tied values", *drawn(rng.integers(0, 100, rows) / 99)
    yield "float32", *drawn(rng.random(rows, dtype=np.float32))


def quietly(function, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*args, **kwargs)


def sample(rows=3000, seed=0, ties=False):
    rng = np.random.default_rng(seed)
    y_prob = rng.beta(0.7, 1.5, rows)
    y_prob = y_prob.round(2) if ties else y_prob
    return rng.random(rows) < y_prob**1.2, y_prob, rng.integers(1, 5, rows)


def acceptable(case):
    y_true, y_prob, weight = case
    assume(not (all(f in (0, 1) for f in y_prob) and any(0 < y < 1 for y in y_true)))
    return y_true, y_prob, weight
