"""Data whose true probabilities are known: laws of scores and outcomes, and documents.

A law draws a score f and an outcome Y with P(Y = 1 | f) = truth(f), and knows the calibration
error c(f) of its population: the range of G(t) = E 1{f <= t} (truth(f) - f).

Examples
--------
>>> from calibrant import simulate
>>> law = simulate.overconfident()
>>> y_true, y_prob, true_prob = law.draw(1000, seed=1)
>>> law
<Law: overconfident, calibration error 0.0446223>
"""

from calibrant.simulate.documents import Documents, TopicModel
from calibrant.simulate.laws import (
    Law,
    Sample,
    atoms,
    below_threshold,
    calibrated,
    constant,
    laws,
    overconfident,
    rare,
    shifted,
    underconfident,
    wavy,
)

__all__ = [
    "Documents",
    "Law",
    "Sample",
    "TopicModel",
    "atoms",
    "below_threshold",
    "calibrated",
    "constant",
    "laws",
    "overconfident",
    "rare",
    "shifted",
    "underconfident",
    "wavy",
]
