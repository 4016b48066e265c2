"""Links: calibrating functions of one to three parameters.

All of them are sigmoid(a ln p - b ln(1 - p) + c) with a, b >= 0, so that none reverses the ranking:

- beta: a, b and c are free (Kull, Silva Filho and Flach, AISTATS 2017);
- Platt: a = b (Platt, 1999), on log-odds;
- temperature: a = b and c = 0 (Guo et al., ICML 2017).

Log-odds of 0 and 1 are infinite, so a score counts as at least some low one, and at most some high
one. A forest's 0 means few trees: half of the smallest score above 0 is fair. Naive Bayes' 1 means
that a double has no room for more: 2**-52 from the end is, or, as no model knows that much, 2**-40
or 2**-30 (about 1e-9). At an end where scores as extreme as 2**-52 were seen in fitting, the one
with the smallest log loss is taken.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import product
from typing import Any, ClassVar, NamedTuple

import numpy as np

from calibrant._types import FloatArray
from calibrant.calibrators.reading import calibrator_unreadable, exactly, number_in

#: Where there is nothing but 0 and 1, they count as this and 1 minus this.
_NO_OTHER = 1e-3
#: How far from the end a score of 0 or 1 may be taken to be.
_CLOSEST = (2.0**-52, 2.0**-40, 2.0**-30)
#: Up to this slope, ln(1 - p) does for log1p(-p), which SQL and ONNX do not have: they differ by
#: 1e-16. A score below NO_SHARE is its own -log1p(-p), and 1 - p may be 1.
PLAIN_SLOPE, NO_SHARE = 100.0, 1e-16
#: Parameters past this are no fit's, and their products with log-odds may be past a double.
_MOST = 1e300


class LinkFamily(NamedTuple):
    """What the links of one kind share.

    basis : how (a, b, c) depends on the free parameters; slopes come first.
    slopes : how many of these are slopes, which must not be negative.
    platts_targets : whether log loss is fitted to Platt's targets.
    """

    basis: FloatArray
    slopes: int
    platts_targets: bool = False

    @property
    def has_shift(self) -> bool:
        """Whether a free parameter is a shift, so that the link can be 1/2 anywhere."""
        return len(self.basis.T) > self.slopes


def inner_ranges(score: FloatArray) -> list[tuple[float, float]]:
    """Return the least and the most that a score may count as: one choice or more."""
    inner = score[(score > 0) & (score < 1)]
    if inner.size == 0:
        return [(_NO_OTHER, 1 - _NO_OTHER)]
    lows = [max(float(inner.min()) / 2, 1e-320)]
    highs = [min(1 - (1 - float(inner.max())) / 2, 1 - 2.0**-53)]
    if score.min() < _CLOSEST[0]:
        lows += _CLOSEST
    if score.max() > 1 - _CLOSEST[0]:
        highs += [1 - end for end in _CLOSEST]
    return list(product(lows, highs))


def features(score: FloatArray, low: float, high: float) -> FloatArray:
    """Return ln p, -ln(1 - p) and 1 for each score, one row each."""
    inner = np.clip(score, low, high)
    return np.stack([np.log(inner), -np.log1p(-inner), np.ones_like(inner)])


@dataclass(frozen=True, slots=True)
class Link:
    """sigmoid(a ln p - b ln(1 - p) + c).

    Attributes
    ----------
    a, b, c : float
        a and b are not negative.
    low, high : float
        The least and the most that a score counts as.
    """

    kind: ClassVar[str] = "link"
    a: float
    b: float
    c: float
    low: float
    high: float

    def __call__(self, score: FloatArray) -> FloatArray:
        """Return the calibrated probability of each score."""
        from scipy.special import expit

        log_p, log_q, _ = features(score, self.low, self.high)
        found: FloatArray = expit(self.a * log_p + self.b * log_q + self.c)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters."""
        return asdict(self)

    @classmethod
    def from_dict(cls, parameters: dict[str, Any]) -> Link:
        """Read what `to_dict` wrote, and hold it to what a link can be."""
        names = ["a", "b", "c", "low", "high"]
        exactly(parameters, names, "the parameters of a link")
        link = cls(**{name: number_in(parameters, name) for name in names})
        if not 0 < link.low <= link.high < 1:
            raise calibrator_unreadable("low and high are not in order within (0, 1)")
        if link.a < 0 or link.b < 0:
            raise calibrator_unreadable("a slope is negative, which reverses the ranking")
        if max(link.a, link.b, abs(link.c)) > _MOST:
            raise calibrator_unreadable(f"a parameter is past {_MOST:g}")
        return link
