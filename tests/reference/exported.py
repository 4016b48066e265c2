"""Calibrators that are hard to export, and the scores at which a mistake would show."""

import json

import numpy as np

import calibrant as cb
from calibrant.calibrators.blocks import Blocks
from calibrant.calibrators.venn_abers import Pairs
from calibrant.simulate import overconfident

TINY = [0.0, 5e-324, 1e-323, 1e-310, 2.3e-308, 1e-300, 1e-250, 1e-201, 1e-199, 1e-181, 1e-179]
SMALL = [1e-150, 1e-60, 1e-45, 1e-20, 2.0**-54, 2.0**-53, 1e-16, 1.1e-16, 1e-9]
#: Scores with nothing between them, in doubles, or in singles.
TIGHT = [0.3, np.nextafter(0.3, 1), 0.4, 0.4 + 1e-9, 0.4 + 2e-9, 0.5, np.nextafter(1, 0), 1.0]
#: Two values whose difference, added to the first, misses the second by the last bit.
NOT_ADDED_UP = next(
    (low, high)
    for low, high in (np.random.default_rng(0).random((1000, 2)) ** 2).tolist()
    if low < high and low + (high - low) < high
)


def each_its_own(scores, interpolation):
    """Fit so that every score is a block of its own, with a value of many digits."""
    scores = np.unique(scores)
    values = np.sort(np.random.default_rng(2).random(len(scores)))
    values[0] = 0
    return cb.IsotonicCalibrator(interpolation).fit(scores, values)


def with_parameters(calibrator, **parameters):
    """Return a calibrator that has these parameters, not fitted ones."""
    document = json.loads(calibrator.fit([0.1, 0.2, 0.4, 0.9], [0, 1, 0, 1]).to_json())
    document["parameters"] |= parameters
    return cb.Calibrator.from_json(json.dumps(document))


def sample(rows=20_000):
    y_true, y_prob, _ = overconfident().draw(rows, seed=1)
    return y_prob, y_true


def calibrators():
    rng = np.random.default_rng(0)
    found = {}
    for how in ("step", "linear", "strict"):
        found[how] = cb.IsotonicCalibrator(how).fit(*sample())
        found[f"{how}, one block"] = cb.IsotonicCalibrator(how).fit([0.5, 0.5], [0, 1])
        found[f"{how}, falling"] = cb.IsotonicCalibrator(how).fit([0.2, 0.8], [1, 0])
        found[f"{how}, two blocks"] = cb.IsotonicCalibrator(how).fit([0.2, 0.7], [0, 1])
        found[f"{how}, from 0 to 1"] = cb.IsotonicCalibrator(how).fit([0.0, 1.0], [0, 1])
        found[f"{how}, tiny"] = each_its_own(TINY + SMALL + TIGHT, how)
        found[f"{how}, many"] = each_its_own(np.append(TINY, rng.random(700)), how)
        found[f"{how}, not added up"] = cb.IsotonicCalibrator(how).fit([0.3, 1.0], NOT_ADDED_UP)
        tiny_values = [0, 1e-300, 1e-200, 1e-60, 1e-10, 1]
        found[f"{how}, tiny values"] = cb.IsotonicCalibrator(how).fit(
            [0.0, 0.1, 0.2, 0.3, 0.4, 0.5], tiny_values
        )
    found["histogram"] = cb.HistogramCalibrator(n_bins=37).fit(*sample())
    found["one bin"] = cb.HistogramCalibrator(n_bins=1).fit(*sample())
    for kind in (cb.PlattCalibrator, cb.BetaCalibrator, cb.TemperatureCalibrator):
        found[kind.method] = kind().fit(*sample(2000))
    found["venn_abers"] = cb.VennAbersCalibrator().fit(*sample())
    found["venn_abers, one row"] = cb.VennAbersCalibrator().fit([0.5], [1])
    scores = np.unique(TINY + SMALL + TIGHT)
    found["venn_abers, tiny"] = cb.VennAbersCalibrator().fit(scores, rng.random(len(scores)) < 0.5)
    wide = {"low": 1e-320, "high": 1 - 2.0**-53}
    beta, platt = cb.BetaCalibrator(), cb.PlattCalibrator()
    found["beta, gentle and wide"] = with_parameters(beta, a=0.01, b=0.02, c=0.1, **wide)
    found["beta, all below"] = with_parameters(beta, a=1.0, b=0.5, c=-900.0, **wide)
    found["beta, all above"] = with_parameters(beta, a=0.5, b=1.0, c=900.0, **wide)
    found["beta, flat"] = with_parameters(beta, a=0.0, b=0.0, c=-0.3, **wide)
    found["beta, next to flat"] = with_parameters(beta, a=5e-324, b=1e-310, c=0.0, **wide)
    # only log1p gets these right: a change of 1e-6 in a score takes it from 0 to 1
    found["beta, steep"] = with_parameters(beta, a=0.0, b=1e6, c=-3.0, **wide)
    found["platt, steep"] = with_parameters(platt, a=500.0, b=500.0, c=20.0, **wide)
    return found


CALIBRATORS = calibrators()


def thresholds(function):
    if isinstance(function, Blocks):
        return np.unique([function.low, function.high])
    if isinstance(function, Pairs):
        return np.union1d(function.p0_from, function.p1_up_to)
    return np.array([function.low, function.high])


def hard_scores(function, rows=10**5):
    """Return scores in [0, 1]: every threshold, its neighbours, the ends, tiny ones, and random."""
    rng = np.random.default_rng(1)
    edges = np.concatenate([thresholds(function), TINY, SMALL, TIGHT])
    near = [edges, np.nextafter(edges, 2), np.nextafter(edges, -1)]
    # thresholds are often plain numbers; lines must hold right in between, too
    between = (edges[1:] + edges[:-1]) / 2
    tiny = 10.0 ** rng.uniform(-323, 0, 10_000)
    found = np.concatenate([*near, between, tiny, 1 - tiny, rng.random(rows)])
    found = found[(found >= 0) & (found <= 1)]
    assert len(found) >= rows
    return found
