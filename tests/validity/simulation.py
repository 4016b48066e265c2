"""Draw from laws whose true calibration error is known, and count broken guarantees."""

from collections import Counter

from scipy.stats import binom

import calibrant as cb
from calibrant.certificates import bounds
from calibrant.certificates.betting import betting
from calibrant.certificates.evidence import counts_of, every_cell, evidence_of
from calibrant.core.diagram import resolve
from reference.sorted_path import sorted_error

DELTA = 0.05
#: Methods that are proved for any number of rows; each with the error it is about.
PROVED = {
    "certified": (bounds.certified, "population"),
    "certified, both": (bounds.certified, "population"),
    "band, both": (bounds.band, "population"),
    "fixed_design, both": (bounds.fixed_design, "scores"),
    "gao2017, both": (bounds.gao2017, "population"),
}
#: A rate this unlikely if the guarantee held is a failure.
UNLIKELY = 1e-6


def drawn(law, rows, seed):
    """Counts, evidence, and the calibration error under the drawn scores."""
    y_true, y_prob, true_prob = law.draw(rows, seed=seed)
    diagram = resolve(cb.Predictions(y_true, y_prob).source, every_cell)
    return diagram, evidence_of(diagram), (true_prob, y_prob)


def misses(law, rows, times, delta=DELTA, first_seed=0):
    """Count the samples on which each proved method fails to hold the truth."""
    missed = Counter(dict.fromkeys([*PROVED, "betting"], 0))
    for seed in range(first_seed, first_seed + times):
        diagram, evidence, given_scores = drawn(law, rows, seed)
        for name, (method, about) in PROVED.items():
            truth = law.calibration_error
            if about == "scores":
                truth = sorted_error(*given_scores)[0]
            bound = method(evidence, delta, "both" if name.endswith("both") else "upper")
            missed[name] += not bound.lower - 1e-12 <= truth <= bound.upper + 1e-12
        bet = betting(counts_of(diagram, "a bet"), evidence.c_emp, delta)
        missed["betting"] += law.calibration_error > bet.upper + 1e-12
    return missed


def too_many(missed, times, delta=DELTA):
    """Whether so many misses are next to impossible at this level."""
    return binom.sf(missed - 1, times, delta) < UNLIKELY
