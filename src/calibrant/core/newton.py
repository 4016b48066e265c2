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
    """

    def __init__(self, point: FloatArray, longest: float) -> None:
        self.point = point
        self._longest = longest
        self.restart()

    def restart(self) -> None:
        """Forget how it came here, to go on with another function."""
        self._step: FloatArray | None = None
        self._rise = 0.0

    def turned_back(self, gradient: FloatArray) -> bool:
        """Take back half of the last step if the function falls where it led."""
        if self._step is None or float(gradient @ self._step) >= -self._rise / 2:
            return False
        self.turn_back()
        return True

    def turn_back(self) -> None:
        """Take back half of the last step."""
        assert self._step is not None  # noqa: S101 -- there is a step to take back
        self._step = self._step / 2
        self.point = self.point - self._step

    def go(self, step: FloatArray, gradient: FloatArray) -> float:
        """Go a step, shortened if it is long; return how long it would have been."""
        longest = float(np.abs(step).max())
        self._step = step * min(1.0, self._longest / max(longest, 1e-300))
        self._rise = float(gradient @ self._step)
        self.point = self.point + self._step
        return longest
