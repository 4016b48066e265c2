"""Newton's method on a concave function of a few parameters, known by its gradient alone."""

from __future__ import annotations

import numpy as np

from calibrant._types import FloatArray


class Newton:
    """A point that climbs, half as far whenever a step leads past the top.

    Attributes
    ----------
    point : float array
        Where to look next.
    rise : float
        What the last step gains, as far as the slope where it began tells.
    shortened : bool
        Whether the last step is shorter than it was asked to be.
    """

    def __init__(self, point: FloatArray, longest: float) -> None:
        self.point = point
        self._longest = longest
        self.restart()

    def restart(self) -> None:
        """Forget how it came here, to go on with another function."""
        self._step: FloatArray | None = None
        self.rise, self.shortened = 0.0, False
        #: How far a step may lead: shorter after one that led too far, so that none comes round
        #: again, and then twice as far with each that did not.
        self._reach = self._longest

    def turned_back(self, gradient: FloatArray) -> bool:
        """Take back half of the last step if the function falls where it led."""
        if self._step is None or float(gradient @ self._step) >= -self.rise / 2:
            return False
        self.turn_back()
        return True

    def turn_back(self) -> None:
        """Take back half of the last step."""
        assert self._step is not None  # noqa: S101 -- there is a step to take back
        self._step = self._step / 2
        self.point = self.point - self._step
        self._reach = float(np.abs(self._step).max()) / 2

    def go(self, step: FloatArray, gradient: FloatArray) -> None:
        """Go a step, shortened if it is long."""
        share = min(1.0, self._reach / max(float(np.abs(step).max()), 1e-300))
        self._step, self.shortened = share * step, share < 1
        self._reach = min(2 * self._reach, self._longest)
        self.rise = float(gradient @ self._step)
        self.point = self.point + self._step
