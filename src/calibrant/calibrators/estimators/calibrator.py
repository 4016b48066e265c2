"""What all calibrators share: fitting, predicting, and what is written and read."""

from __future__ import annotations

import json
import operator
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from calibrant._text import shown
from calibrant._types import FloatArray
from calibrant._version import __version__
from calibrant._writing import written
from calibrant.calibrators.blocks import Blocks
from calibrant.calibrators.document import (
    SCHEMA,
    SCHEMA_VERSION,
    Function,
    check_blocks,
    document_in,
    scores_in,
    text_of,
)
from calibrant.calibrators.export_onnx import Dtype, onnx_of
from calibrant.calibrators.export_sql import SqlDialect, sql_of
from calibrant.calibrators.fingerprint import fingerprint_of
from calibrant.calibrators.reading import calibrator_unreadable, exactly, number_in
from calibrant.calibrators.registry import KINDS, calibrator_class
from calibrant.core.diagram import Diagram
from calibrant.data import refusals
from calibrant.data.memory.columns import Column
from calibrant.data.predictions import Predictions, predictions_of
from calibrant.data.rules import one_column, scores_of
from calibrant.errors import InputError


class Calibrator(BaseEstimator, ABC):  # type: ignore[misc]
    """What all calibrators share; `Calibrator.from_json` reads any of them.

    Attributes
    ----------
    function_ : Blocks or Link or Pairs
        What turns a score into a probability.
    rows_, events_ : float
        Total weight of the rows it was fitted on, and of the events among them.
    fitted_scores_ : str or None
        A hash of how many rows had each score, or fell into each of 16,384 cells, so that the same
        rows are known again. No row can be read from it, unless all others are known. None with
        fewer than 50 rows, and for calibrators that version 0.1.0 wrote.

    Examples
    --------
    >>> import calibrant as cb
    >>> fitted = cb.PlattCalibrator().fit([0.1, 0.4, 0.6, 0.9], [0, 1, 0, 1])
    >>> same = cb.Calibrator.from_json(fitted.to_json())
    >>> type(same).__name__, bool((same.predict([0.5]) == fitted.predict([0.5])).all())
    ('PlattCalibrator', True)
    """

    #: What the registry calls it.
    method: ClassVar[str] = ""
    #: Whether it never turns the order of scores round.
    monotone: ClassVar[bool] = True
    #: Whether it is a function of log-odds.
    on_log_odds: ClassVar[bool] = False
    #: Whether it takes two rows and both classes to fit one.
    needs_both_classes: ClassVar[bool] = True
    function_: Function
    fitted_scores_: str | None

    def fit(self, y_prob: Any, y_true: Any = None, sample_weight: Any = None) -> Self:
        """Fit on scores and outcomes that the model was not trained on.

        Parameters
        ----------
        y_prob : array_like of shape (n,) or (n, 1), or Predictions
            Scores, in [0, 1]; a Predictions stands for all of them.
        y_true : array_like
            Outcomes, as for `calibration_error`.
        sample_weight : array_like, optional
            Weight of each row.
        """
        self._check()
        data = _data(y_prob, y_true, sample_weight)
        start = Diagram(*data.source.start())
        events = min(float(start.cells.positives.sum()), start.weight)
        if self.needs_both_classes:
            if int(start.cells.rows.sum()) < 2:
                raise _too_few_to_fit(int(start.cells.rows.sum()))
            if events <= 0 or events >= start.weight:
                raise one_class()
        self.function_ = self._function(data)
        self.rows_, self.events_ = start.weight, events
        self.fitted_scores_ = fingerprint_of(data)
        self.n_features_in_ = 1
        return self

    def predict(self, y_prob: Any) -> FloatArray:
        """Return the calibrated probability of each score, of shape (n,)."""
        check_is_fitted(self, "function_")
        function = self.function_
        column = Column(one_column(y_prob), "y_prob").array
        if column is not None and isinstance(function, Blocks):
            found = function.of_column(column)
            if found is not None:
                return found
        return function(scores_of(y_prob))

    def _check(self) -> None:
        """Refuse parameters that are out of range."""

    @abstractmethod
    def _function(self, data: Predictions) -> Function:
        """Fit what turns a score into a probability."""

    def to_json(self, path: str | Path | None = None) -> str:
        """Return the fitted calibrator as JSON text; `from_json` gives it back to the bit.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it as well, whole or not at all; `load` reads it.
        """
        check_is_fitted(self, "function_")
        check_blocks(self.function_)
        document = {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "method": self.method,
            "options": self.get_params(deep=False),
            "parameters": self.function_.to_dict(),
            "fitted_on": {
                "rows": self.rows_,
                "events": self.events_,
                "scores": self.fitted_scores_,
            },
            "calibrant": __version__,
        }
        return written(json.dumps(document, allow_nan=False, default=operator.index), path)

    def to_sql(self, column: str, dialect: SqlDialect = "duckdb") -> str:
        """Return the fitted calibrator as one SQL expression, for a view or a query.

        Parameters
        ----------
        column : str
            The column of scores, of any numeric type. It is quoted, so that every name will do;
            dots in it separate nothing.
        dialect : {"duckdb", "postgres", "spark"}
            The engine.

        Returns
        -------
        str
            It equals `predict` to 1e-12; the slopes of a link would have to be over 1,000 for the
            last bits of an engine's logarithm to show. NULL, NaN and scores outside [0, 1], which
            `predict` refuses, become NULL.

        Notes
        -----
        Blocks become nested CASEs, each of which halves them: as many conditions are tried for a
        row as the number of blocks has binary digits.

        Examples
        --------
        >>> import calibrant as cb
        >>> fitted = cb.IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
        >>> print(fitted.to_sql("p", "spark"))
        CASE WHEN `p` >= 0D AND `p` <= 1D THEN CASE WHEN `p` < 0.2D THEN 0D
        ELSE CASE WHEN `p` < 0.4D THEN 0.5D ELSE 1D END END END
        """
        check_is_fitted(self, "function_")
        return sql_of(self.function_, column, dialect)

    def to_onnx(self, path: str | Path | None = None, *, dtype: Dtype = "double") -> bytes:
        """Return the fitted calibrator as an ONNX model, for ONNX Runtime in any language.

        It takes `pip install 'calibrant[onnx]'`.

        Parameters
        ----------
        path : str or Path, optional
            Where to write it as well, whole or not at all.
        dtype : {"double", "float"}
            The type of the model's input "score" and its output "probability", both of shape
            (n,).

        Returns
        -------
        bytes
            What an .onnx file holds. The model equals `predict` to 1e-12; the slopes of a link
            would have to be over 1,000 for the last bits of a logarithm to show. With "float" it
            gives the single that is nearest to `predict` of the same score. NaN and scores outside
            [0, 1], which `predict` refuses, become NaN.

        Examples
        --------
        >>> import calibrant as cb
        >>> import numpy as np
        >>> import onnxruntime
        >>> fitted = cb.IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
        >>> session = onnxruntime.InferenceSession(fitted.to_onnx())
        >>> session.run(None, {"score": np.array([0.1, 0.25, 0.9])})[0].tolist()
        [0.0, 0.5, 1.0]
        """
        check_is_fitted(self, "function_")
        return written(onnx_of(self.function_, self.method, dtype), path)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a calibrator that `to_json` wrote; text that breaks the schema is refused.

        Nothing in the text is run: it holds numbers and names.
        """
        document = document_in(text)
        known = {name: calibrator_class(name) for name in KINDS}
        known = {name: kind for name, kind in known.items() if issubclass(kind, cls)}
        if document["method"] not in list(known):
            raise calibrator_unreadable(
                f"its method is {shown(document['method'])}, and {cls.__name__} knows "
                f"{', '.join(known)}"
            )
        kind: type[Self] = known[document["method"]]
        exactly(document["options"], kind._get_param_names(), "its options")
        found = kind(**document["options"])
        found._check()
        found.function_ = kind._read(document["parameters"])
        check_blocks(found.function_)
        found._check_function()
        for name in ("rows", "events"):
            setattr(found, f"{name}_", number_in(document["fitted_on"], name))
        found.fitted_scores_ = scores_in(document["fitted_on"])
        one_class = found.events_ in {0.0, found.rows_} and found.rows_ > 0
        if not (0 < found.events_ < found.rows_ or (one_class and not kind.needs_both_classes)):
            raise calibrator_unreadable("events are not between 0 and rows")
        found.n_features_in_ = 1
        return found

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a calibrator from a file that holds what `to_json` wrote.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        return cls.from_json(text_of(path))

    @abstractmethod
    def _check_function(self) -> None:
        """Refuse a function that was read but that this calibrator could not have fitted."""

    @classmethod
    @abstractmethod
    def _read(cls, parameters: dict[str, Any]) -> Function:
        """Read the function out of a JSON object, checked."""


def _data(y_prob: Any, y_true: Any, sample_weight: Any) -> Predictions:
    if not isinstance(y_prob, Predictions):
        if y_true is None:
            raise refusals.argument_missing("y_true")
        return predictions_of(y_true, one_column(y_prob), sample_weight=sample_weight, fine=True)
    more = {"y_true": y_true, "sample_weight": sample_weight}
    given = [name for name, values in more.items() if values is not None]
    if given:
        raise refusals.argument_superfluous(given, "Predictions")
    return y_prob


def one_class() -> InputError:
    """Refuse rows of one class."""
    return InputError(
        "A calibrator needs rows with and without the event, but y_true holds one class only. "
        "Add rows of the other class."
    )


def _too_few_to_fit(rows: int) -> InputError:
    return InputError(f"A calibrator needs two rows at least, but there is {rows}. Add rows.")
