"""Example 1 of the paper: logistic regression on documents whose true probabilities are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from calibrant._types import BoolArray, FloatArray
from calibrant.auditing.result import Audit
from calibrant.auditing.run import audit
from calibrant.simulate import TopicModel


@dataclass(frozen=True, eq=False, slots=True)
class DocumentsResult:
    """What logistic regression makes of simulated documents it has not seen.

    Attributes
    ----------
    y_true, y_prob, true_prob : array
        Outcome, score and true probability of each fresh document.
    audit : Audit
        The audit of these scores.
    l1_error : float
        Mean distance between score and true probability.
    trivial_l1 : float
        The same for saying the base rate to everybody.
    """

    y_true: BoolArray
    y_prob: FloatArray
    true_prob: FloatArray
    audit: Audit
    l1_error: float
    trivial_l1: float

    @property
    def story(self) -> str:
        """What the paper found, in the numbers of this run."""
        error, slope = self.audit.calibration_error, self.audit.measures.slope
        sure = ""
        if slope is not None and slope.upper < 1:
            sure = (
                f" On documents it has not seen, as here, the model is a little too sure of itself "
                f"(calibration slope {slope.value:.2f}), which recalibration would fix."
            )
        return (
            "Here the true probabilities are known, so we can look behind the scores. On average "
            f"a score is off by {self.l1_error:.3f}; saying the base rate to everybody is off by "
            f"{self.trivial_l1:.3f}. So single probabilities are far off, and no test could "
            f"have told. Yet the calibration error is only {error:.3f}, "
            f"{self.l1_error / error:.0f} times smaller: over whole ranges of scores the label is "
            "nearly as frequent as they say, and that is what decisions by threshold rest on. "
            "Gao, Parameswaran and Peng (2017, Example 1) report 0.127, 0.202, and 0.008, numbers "
            f"of documents that a model was trained on.{sure}"
        )


def documents_example(
    model: TopicModel | None = None,
    *,
    documents: int = 20_000,
    seed: int = 0,
    progress: Callable[[int], object] | None = None,
) -> DocumentsResult:
    """Train on some documents, and audit the scores of as many fresh ones.

    Parameters
    ----------
    model : TopicModel, optional
        The paper's setting unless given.
    documents : int
        Documents for training, and again for the audit.
    seed : int
        Seed of the documents.
    progress : callable, optional
        Told how many documents there are so far.
    """
    from sklearn.linear_model import LogisticRegression

    model = TopicModel() if model is None else model

    def told(before: int) -> Callable[[int], object] | None:
        return None if progress is None else lambda count: progress(before + count)

    train = model.draw(documents, seed=2 * seed, progress=told(0))
    fresh = model.draw(documents, seed=2 * seed + 1, progress=told(documents))
    fitted = LogisticRegression(max_iter=1000).fit(train.counts, train.labels[:, 0])
    y_true, true_prob = fresh.labels[:, 0], fresh.true_prob[:, 0]
    y_prob = fitted.predict_proba(fresh.counts)[:, 1]
    return DocumentsResult(
        y_true=y_true,
        y_prob=y_prob,
        true_prob=true_prob,
        audit=audit(y_true, y_prob),
        l1_error=float(np.abs(y_prob - true_prob).mean()),
        trivial_l1=float(np.abs(model.label_frequency - true_prob).mean()),
    )
