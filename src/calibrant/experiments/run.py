"""Study: what a run of the experiments was asked for, and how its parts are done."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from calibrant._progress import progress_bar
from calibrant.experiments.cache import Cache

Part = Literal["table1", "figure1", "figure2", "figure3", "all"]
PARTS: tuple[Part, ...] = get_args(Part)
#: Entries of the cache made by other versions of the experiments are not used.
VERSION = 1


@dataclass(frozen=True, slots=True)
class Study:
    """The settings of a run.

    Attributes
    ----------
    seed : int
        Seed of everything that is drawn.
    runs : int
        How often each experiment is repeated.
    quick : bool
        Small and simulated data only, for a look within seconds.
    data_dir : Path or None
        Where the UCI files are.
    cache : Cache
        What is known already.
    jobs : int
        Processes at work at once.
    """

    seed: int = 0
    runs: int = 5
    quick: bool = False
    data_dir: Path | None = None
    cache: Cache = field(default_factory=lambda: Cache(None))
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)

    def key(self, **what: Any) -> dict[str, Any]:
        """Name a part of the study for the cache."""
        made_by = {"experiments": VERSION, **versions()}
        return {"made_by": made_by, "seed": self.seed, "quick": self.quick, **what}

    def each(
        self, what: str, parts: Iterable[tuple[dict[str, Any], Callable[[], Any]]]
    ) -> list[Any]:
        """Do all parts, those not known yet in parallel, and return their results in order."""
        from sklearn.utils.parallel import Parallel, delayed

        wanted = list(parts)
        todo = [part for part in wanted if not self.cache.has(part[0])]
        made: dict[str, Any] = {}
        with progress_bar(what, max(len(wanted), 1)) as progress:
            progress(len(wanted) - len(todo))
            work = Parallel(n_jobs=self.jobs, return_as="generator_unordered")(
                delayed(_done)(self.cache, key, make) for key, make in todo
            )
            for count, (key, result) in enumerate(work, start=len(wanted) - len(todo) + 1):
                made[str(key)] = result
                progress(count)
        return [
            made[str(key)] if str(key) in made else self.cache.get(key, make)
            for key, make in wanted
        ]


def _done(cache: Cache, key: dict[str, Any], make: Callable[[], Any]) -> tuple[dict[str, Any], Any]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # parts share the cores already
        return key, cache.get(key, make)


@cache
def versions() -> dict[str, str]:
    """Return the versions that numbers may depend on."""
    names = ("calibrant", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost")
    known = {name: _version(name) for name in names}
    return {name: text for name, text in known.items() if text is not None}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over runs and how much they differ.

    Attributes
    ----------
    mean, sd : float
        Of the values.
    n : int
        How many there are.
    overlap : float
        Test rows over training rows, if the runs are splits of one data set; 0 if they are
        independent.
    """

    mean: float
    sd: float
    n: int
    overlap: float = 0.0

    @classmethod
    def of(cls, values: Sequence[float], overlap: float = 0.0) -> Mean:
        """Summarise values; one value alone has no deviation, which counts as 0."""
        spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
        return cls(float(np.mean(values)), spread, len(values), overlap)

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return Student's interval for the mean; the whole line for a single run.

        Splits of one data set share rows, so that they differ less than new data would: the
        variance is enlarged as Nadeau and Bengio (2003) do.
        """
        if self.n < 2:
            return -np.inf, np.inf
        from scipy.stats import t

        error = self.sd * (1 / self.n + self.overlap) ** 0.5
        half = float(t.ppf((1 + confidence) / 2, self.n - 1)) * error
        return self.mean - half, self.mean + half

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers, with the interval."""
        low, high = self.interval()
        ends = [low, high] if self.n > 1 else None
        return {"mean": self.mean, "sd": self.sd, "n": self.n, "interval": ends}
