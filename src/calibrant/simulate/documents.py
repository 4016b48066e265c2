"""Documents of a topic model, whose labels have known probabilities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from calibrant import errors
from calibrant._types import AnyArray, BoolArray, FloatArray


class Documents(NamedTuple):
    """Documents of a topic model.

    Attributes
    ----------
    counts : sparse matrix, documents by words
        How often each word occurs.
    labels : bool array, documents by topics
        Whether the document carries the label of each topic.
    true_prob : float array, documents by topics
        The probability of that, given the document's mixture of topics.
    """

    counts: Any
    labels: BoolArray
    true_prob: FloatArray


@dataclass(frozen=True, slots=True)
class TopicModel:
    """Documents from Latent Dirichlet Allocation, as in Example 1 and the appendix of the paper.

    Attributes
    ----------
    topics, words : int
        Numbers of topics and of words in the dictionary.
    length : float
        Mean number of words in a document (Poisson).
    fixed_length : bool
        Every document has that many words.
    prior : float
        Parameter of the symmetric Dirichlet law over topics.
    exponent : float
        Word frequencies in a topic fall as rank^-exponent, in a random order of words.
    label_draws : int
        A document carries the labels of this many topics drawn from its mixture, with
        replacement, so P(label k) = 1 - (1 - theta_k)^label_draws.
    seed : int
        Seed of the word distributions.

    Examples
    --------
    >>> from calibrant.simulate import TopicModel
    >>> documents = TopicModel(topics=3, words=50).draw(10, seed=1)
    >>> documents.counts.shape, documents.labels.shape
    ((10, 50), (10, 3))
    """

    topics: int = 20
    words: int = 1000
    length: float = 200.0
    fixed_length: bool = False
    prior: float = 1.0
    exponent: float = 1.0
    label_draws: int = 10
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("topics", 2), ("words", 2), ("label_draws", 1)):
            errors.whole_number(name, getattr(self, name), least, errors.MOST_ENTRIES)
        errors.whole_number("seed", self.seed, least=0)
        errors.switch("fixed_length", self.fixed_length)
        errors.number_between("length", self.length, 0, 1e6)
        errors.number_between("prior", self.prior, 1e-3, 1e3)
        errors.number_between("exponent", self.exponent, 0, 100)

    @property
    def label_frequency(self) -> float:
        """How often a document carries a given label: 10/29 in the paper's setting."""
        # E (1 - theta)^m = product over j < m of (b + j) / (a + b + j), theta ~ Beta(a, b)
        draws = np.arange(self.label_draws)
        rest = self.prior * (self.topics - 1)
        return 1 - float(np.prod((rest + draws) / (self.prior + rest + draws)))

    def word_law(self) -> FloatArray:
        """Return the word frequencies of each topic, topics by words."""
        rng = np.random.default_rng([1, self.seed])  # [seed] and [seed, 0] are the same stream
        falling = np.arange(1, self.words + 1) ** -float(self.exponent)
        law = np.stack([rng.permutation(falling) for _ in range(self.topics)])
        frequencies: FloatArray = law / law.sum(axis=1, keepdims=True)
        return frequencies

    def draw(
        self,
        documents: int = 20_000,
        *,
        seed: int = 0,
        progress: Callable[[int], object] | None = None,
    ) -> Documents:
        """Draw documents; the same seed gives the same ones.

        Parameters
        ----------
        documents : int, default 20000
            How many.
        seed : int, default 0
            Seed of the draw; the word distributions have their own.
        progress : callable, optional
            Is told now and then how many there are so far.

        Returns
        -------
        Documents
            Their word counts, labels and true probabilities.
        """
        from scipy import sparse

        documents = errors.whole_number("documents", documents, 1, errors.MOST_DRAWS)
        seed = errors.whole_number("seed", seed, least=0)
        if progress is not None and not callable(progress):
            raise errors.out_of_range("progress", "a function or None", progress)
        rng = np.random.default_rng([2, self.seed, seed])
        word_law = self.word_law()
        mixture = rng.dirichlet(np.full(self.topics, self.prior), documents)
        drawn = rng.multinomial(self.label_draws, mixture) > 0
        parts: list[AnyArray] = []
        for start in range(0, documents, 500):  # so that the dense counts stay small
            some = mixture[start : start + 500] @ word_law
            lengths = np.full(len(some), round(self.length))
            if not self.fixed_length:
                lengths = rng.poisson(self.length, len(some))
            parts.append(sparse.csr_array(rng.multinomial(lengths, some)))
            if progress is not None:
                progress(min(start + 500, documents))
        truth = 1 - (1 - mixture) ** self.label_draws
        return Documents(sparse.vstack(parts, format="csr"), drawn, truth)
