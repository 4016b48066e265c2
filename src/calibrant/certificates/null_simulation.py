"""Samples under calibration: what c_emp would be if every score were right.

Given the scores, draw outcomes Y* ~ Bernoulli(f) again and again, and measure each time.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice

import numpy as np

from calibrant._types import FloatArray, IntArray
from calibrant.certificates.evidence import Counts

#: Outcomes drawn in one go, so that the temporaries stay near the processor.
_BATCH = 1 << 18
#: Samples in the first batch: as many as a large p-value takes. Then twice as many each time.
_FIRST = 512
#: Looking a surprise up costs as much as this many plain draws (measured).
_LOOK_UP = 30


def walk_range(steps: FloatArray) -> FloatArray:
    """Return the range of each row's walk, its start at 0 included."""
    walk = np.cumsum(steps, axis=1)
    span: FloatArray = np.maximum(walk.max(axis=1), 0) - np.minimum(walk.min(axis=1), 0)
    return span


def null_ranges(counts: Counts, draws: int, seed: int) -> Generator[FloatArray]:
    """Draw n c_emp as it would be if the scores were right, `draws` times, in batches.

    They are drawn as they are asked for, so that whoever stops early has little to wait for. The
    values depend on counts and seed alone: each batch has a size and a seed of its own, however
    many of them run side by side.
    """
    surprises = _Surprises(counts)
    few = surprises.expected * _LOOK_UP < len(counts.score)
    draw = surprises.ranges if few else _plain(counts)
    each = surprises.expected if few else len(counts.score)
    # the number of a sample times n must fit 64 bits
    most = max(1, min(int(_BATCH / max(each, 1.0)), 2**62 // counts.n))
    yield from _side_by_side(draw, _batches(draws, most, seed))


def _batches(draws: int, most: int, seed: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Give the generator and the size of each batch, small ones first."""
    left, size = draws, min(_FIRST, most)
    for number in count():
        if left <= 0:
            return
        # what SeedSequence(seed).spawn would give as this child
        own = np.random.SeedSequence(seed, spawn_key=(number,))
        yield np.random.default_rng(own), min(size, left)
        left, size = left - size, min(2 * size, most)


def _side_by_side(
    draw: Callable[[np.random.Generator, int], FloatArray],
    batches: Iterator[tuple[np.random.Generator, int]],
) -> Iterator[FloatArray]:
    """Draw the first batch alone, because it is often enough, and the others in threads."""
    yield draw(*next(batches))
    workers = os.cpu_count() or 1
    pool = ThreadPoolExecutor(workers)
    try:
        waiting = deque(pool.submit(draw, *batch) for batch in islice(batches, 2 * workers))
        while waiting:
            part = waiting.popleft().result()
            waiting.extend(pool.submit(draw, *batch) for batch in islice(batches, 1))
            yield part
    finally:  # when no more are wanted, what has not begun never does
        pool.shutdown(cancel_futures=True)


def _plain(counts: Counts) -> Callable[[np.random.Generator, int], FloatArray]:
    """Draw every outcome, binomials where scores are tied."""
    tied = counts.rows > 1
    alone = ~tied
    expected = counts.rows * counts.score

    def ranges(rng: np.random.Generator, times: int) -> FloatArray:
        steps = np.empty((times, len(counts.score)))
        if tied.any():
            rows, score = counts.rows[tied], counts.score[tied]
            steps[:, tied] = rng.binomial(rows, score, (times, len(rows)))
            steps[:, alone] = rng.random((times, int(alone.sum()))) < counts.score[alone]
        else:
            np.less(rng.random(steps.shape), counts.score, out=steps, casting="unsafe")
        steps -= expected
        return walk_range(steps)

    return ranges


class _Surprises:
    """Draw only the surprises: events with f < 1/2, and the absence of events with f >= 1/2.

    Rare events make few of them. A row is surprised if a Poisson variable of mean -ln(1 - q), q
    its chance, is not 0; the points of all rows together are a Poisson number of uniform places.
    Without surprises the walk falls while f < 1/2 and then rises, so that its extremes lie right
    before or after a surprise, at the turn, or at an end.
    """

    def __init__(self, counts: Counts) -> None:
        low = counts.score < 0.5
        rate = -np.log1p(-np.where(low, counts.score, 1 - counts.score))
        self._rate, self._rows = rate, counts.rows
        self._edges = np.append(0.0, np.cumsum(rate * counts.rows))
        self._first_row = np.append(0, np.cumsum(counts.rows))
        steps = counts.rows * (np.where(low, 0.0, 1.0) - counts.score)
        self._calm = np.append(0.0, np.cumsum(steps))
        self._turn = int(low.sum())
        self.expected = float(self._edges[-1])

    def ranges(self, rng: np.random.Generator, times: int) -> FloatArray:
        """Draw n c_emp `times` times."""
        sample, score = self._drawn(rng, times)
        jump = np.where(score < self._turn, 1.0, -1.0)
        # the sum of the jumps of the same sample, up to and including this one
        total = np.cumsum(jump)
        begins = np.searchsorted(sample, np.arange(times + 1))
        before_sample = np.append(0.0, total)[begins]
        after = total - before_sample[sample]
        turns = np.bincount(sample[score < self._turn], minlength=times)
        walks = [
            np.zeros(times),
            self._calm[self._turn] + turns,
            self._calm[-1] + np.diff(before_sample),
        ]
        high, low = np.maximum.reduce(walks), np.minimum.reduce(walks)
        # of tied surprises the first has the value before them, the last the value after them
        same = (sample[1:] == sample[:-1]) & (score[1:] == score[:-1])
        first = np.append(True, ~same)[: len(sample)]
        last = np.append(~same, True)[: len(sample)]
        for edge, value, which in ((score, after - jump, first), (score + 1, after, last)):
            at = (self._calm[edge] + value)[which]
            np.maximum.at(high, sample[which], at)
            np.minimum.at(low, sample[which], at)
        span: FloatArray = high - low
        return span

    def _drawn(self, rng: np.random.Generator, times: int) -> tuple[IntArray, IntArray]:
        """Return sample and score of each surprise, sorted, every row surprised at most once."""
        number = rng.poisson(self.expected, times)
        place = rng.random(int(number.sum())) * self.expected
        score = np.searchsorted(self._edges, place, side="right") - 1
        score = np.minimum(score, len(self._rows) - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            row = ((place - self._edges[score]) / self._rate[score]).astype(np.int64)
        row = self._first_row[score] + np.minimum(row, self._rows[score] - 1)
        sample = np.repeat(np.arange(times), number)
        # one number for each pair, so that one sort finds both order and repetitions
        pair = np.unique(sample * self._first_row[-1] + row)
        sample, row = np.divmod(pair, self._first_row[-1])
        return sample, np.searchsorted(self._first_row, row, side="right") - 1
