"""Calibrators as scikit-learn estimators: fit(y_prob, y_true), predict(y_prob)."""

from __future__ import annotations

import json
import operator
import warnings
from abc import ABC, abstractmethod
from functools import partial
from pathlib import Path
from re import fullmatch
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from calibrant import errors
from calibrant._text import shown
from calibrant._types import BoolArray, FloatArray
from calibrant._version import __version__
from calibrant.calibrators.blocks import INTERPOLATIONS, MOST_BLOCKS, Blocks, Interpolation
from calibrant.calibrators.export_onnx import Dtype, onnx_of
from calibrant.calibrators.export_sql import Dialect, sql_of
from calibrant.calibrators.fingerprint import LENGTH, fingerprint_of
from calibrant.calibrators.fitting import OBJECTIVES, Objective, fit_link
from calibrant.calibrators.isotonic import (
    histogram_need,
    histogram_of,
    isotonic_need,
    isotonic_of,
)
from calibrant.calibrators.links import Link
from calibrant.calibrators.reading import calibrator_unreadable, exactly, number_in
from calibrant.calibrators.venn_abers import Pairs, pairs_need, pairs_of
from calibrant.core.diagram import Diagram, resolve
from calibrant.data import refusals
from calibrant.data.predictions import Predictions
from calibrant.data.rules import one_column, scores_of
from calibrant.errors import InputError

SCHEMA = "calibrant.calibrator"
#: Version 2 adds the fingerprint of the scores; version 1 is read as well.
SCHEMA_VERSION = 2
Function: TypeAlias = Blocks | Link | Pairs
#: Columns of numbers that a calibrator has at most, and what is next to them: a calibrator has some
#: twenty names and six lists and objects. Other text is refused before Python makes objects of it,
#: which take up to twenty times its memory.
_COLUMNS, _OTHER_PARTS = 5, 100
#: Letters of a calibrator: a double takes at most 26 with its comma, and as much is for blanks.
_MOST_LETTERS = 2 * 26 * _COLUMNS * MOST_BLOCKS
#: Next to more weight than the first a new row of weight 1 is lost; with fitting rows lighter than
#: the second on average it counts for a lot.
_HEAVIEST, _LIGHT = 1e15, 0.1


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

    method: ClassVar[str] = ""
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
        return self.function_(scores_of(y_prob))

    def _check(self) -> None:
        """Refuse parameters that are out of range."""

    @abstractmethod
    def _function(self, data: Predictions) -> Function:
        """Fit what turns a score into a probability."""

    def to_json(self) -> str:
        """Return the fitted calibrator as JSON text; `from_json` gives it back to the bit."""
        check_is_fitted(self, "function_")
        _check_blocks(self.function_)
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
        return json.dumps(document, allow_nan=False, default=operator.index)

    def to_sql(self, column: str, dialect: Dialect = "duckdb") -> str:
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

    def to_onnx(self, *, dtype: Dtype = "double") -> bytes:
        """Return the fitted calibrator as an ONNX model, for ONNX Runtime in any language.

        It takes `pip install 'calibrant[onnx]'`.

        Parameters
        ----------
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
        >>> import onnxruntime
        >>> fitted = cb.IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
        >>> session = onnxruntime.InferenceSession(fitted.to_onnx())
        >>> session.run(None, {"score": np.array([0.1, 0.25, 0.9])})[0].tolist()
        [0.0, 0.5, 1.0]
        """
        check_is_fitted(self, "function_")
        return onnx_of(self.function_, self.method, dtype)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read a calibrator that `to_json` wrote; text that breaks the schema is refused.

        Nothing in the text is run: it holds numbers and names.
        """
        document = _document(text)
        kind = next((one for one in METHODS if one.method == document["method"]), None)
        if kind is None or not issubclass(kind, cls):
            known = [one.method for one in METHODS if issubclass(one, cls)]
            raise calibrator_unreadable(
                f"its method is {shown(document['method'])}, and {cls.__name__} knows "
                f"{', '.join(known)}"
            )
        found = kind(**_options(kind, document["options"]))
        found._check()
        found.function_ = kind._read(document["parameters"])
        _check_blocks(found.function_)
        found._check_function()
        for name in ("rows", "events"):
            setattr(found, f"{name}_", number_in(document["fitted_on"], name))
        found.fitted_scores_ = _scores_in(document["fitted_on"])
        one_class = found.events_ in {0.0, found.rows_} and found.rows_ > 0
        if not (0 < found.events_ < found.rows_ or (one_class and not kind.needs_both_classes)):
            raise calibrator_unreadable("events are not between 0 and rows")
        found.n_features_in_ = 1
        return found

    @abstractmethod
    def _check_function(self) -> None:
        """Refuse a function that was read but that this calibrator could not have fitted."""

    @classmethod
    @abstractmethod
    def _read(cls, parameters: dict[str, Any]) -> Function:
        """Read the function out of a JSON object, checked."""


def read_calibrator(path: Path) -> Calibrator:
    """Read a calibrator from a file that holds what `to_json` wrote."""
    if not path.exists():
        raise refusals.file_missing(str(path))
    if not path.is_file():
        raise calibrator_unreadable(f"{shown(str(path))} is a folder, or a device")
    if path.stat().st_size > _MOST_LETTERS:
        raise _calibrator_too_large(path.stat().st_size, _MOST_LETTERS)
    try:
        return Calibrator.from_json(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError:
        raise calibrator_unreadable(f"{shown(str(path))} is not text") from None


def _data(y_prob: Any, y_true: Any, sample_weight: Any) -> Predictions:
    if not isinstance(y_prob, Predictions):
        if y_true is None:
            raise refusals.argument_missing("y_true")
        return Predictions(y_true, one_column(y_prob), sample_weight=sample_weight, _fine=True)
    more = {"y_true": y_true, "sample_weight": sample_weight}
    given = [name for name, values in more.items() if values is not None]
    if given:
        raise refusals.argument_superfluous(given, "Predictions")
    return y_prob


def _check_blocks(function: Function) -> None:
    if not isinstance(function, Link) and len(function) > MOST_BLOCKS:
        raise _too_many_blocks(MOST_BLOCKS)


def _check_size(text: str) -> None:
    """Refuse text that would take much memory, before it is read."""
    if len(text) > _MOST_LETTERS:
        raise _calibrator_too_large(len(text), _MOST_LETTERS)
    if text.count("[") + text.count("{") > _OTHER_PARTS:
        raise calibrator_unreadable("it has more lists and objects than a calibrator has")
    if text.count(",") > _COLUMNS * MOST_BLOCKS + _OTHER_PARTS:
        raise _too_many_blocks(MOST_BLOCKS)


def _document(text: str) -> dict[str, Any]:
    if not isinstance(text, str):
        raise calibrator_unreadable(f"it is not text but {type(text).__name__}")
    _check_size(text)
    try:
        document = json.loads(text, object_pairs_hook=_once)
    except (ValueError, TypeError, RecursionError) as error:
        why = "a number has too many digits" if "digits" in str(error) else str(error)
        raise calibrator_unreadable(f"it is not JSON ({why})") from None
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise calibrator_unreadable(f"its schema is not {SCHEMA!r}")
    version = document.get("schema_version")
    if type(version) is not int or not 1 <= version <= SCHEMA_VERSION:
        raise calibrator_unreadable(
            f"its schema_version is {shown(document.get('schema_version'))}, and this version of "
            f"calibrant reads 1 to {SCHEMA_VERSION}; a newer calibrant may read it"
        )
    names = ["schema", "schema_version", "method", "options", "parameters", "fitted_on"]
    exactly(document, [*names, "calibrant"], "its parts")
    for name in ("options", "parameters", "fitted_on"):
        if not isinstance(document[name], dict):
            raise calibrator_unreadable(f"{name} is not an object")
    known = ["rows", "events"] + ["scores"] * (version > 1)
    exactly(document["fitted_on"], known, "fitted_on")
    return document


def _scores_in(fitted_on: dict[str, Any]) -> str | None:
    """Read the fingerprint; version 1 has none, and neither have calibrators of few rows."""
    scores = fitted_on.get("scores")
    if scores is None:
        return None
    if not isinstance(scores, str) or not fullmatch(f"[0-9a-f]{{{LENGTH}}}", scores):
        raise calibrator_unreadable(
            f"fitted_on.scores is not a hash of {LENGTH} hexadecimal digits"
        )
    return scores


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is given twice, because one of the two would be ignored."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _options(kind: type[Calibrator], options: dict[str, Any]) -> dict[str, Any]:
    exactly(options, kind._get_param_names(), "its options")
    return options


class IsotonicCalibrator(Calibrator):
    """Isotonic regression: the best nondecreasing function of the score (PAV).

    On the rows it was fitted on its calibration error is 0, and for no cost ratio do decisions
    cost more than before. With few rows it overfits; a link of two parameters is then better.

    Parameters
    ----------
    interpolation : {"step", "linear", "strict"}
        "step": PAV's values, so that the fitting rows have no calibration error. "linear": a
        continuous function through them, as scikit-learn's. "strict": strictly increasing, so
        that scores which differ by 1e-9 or more keep their ranking; it moves no probability by
        more than 1e-6, but where nothing is tied any more the fitting rows have a calibration
        error again.

    References
    ----------
    Gao, Parameswaran and Peng (2017), Algorithm 1 and Claims 3, 5 and 6.

    Examples
    --------
    >>> import calibrant as cb
    >>> fitted = cb.IsotonicCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted.predict([0.1, 0.25, 0.9]).tolist()
    [0.0, 0.5, 1.0]
    """

    method = "isotonic"
    function_: Blocks
    _read = Blocks.from_dict

    def __init__(self, interpolation: Interpolation = "step") -> None:
        self.interpolation = interpolation

    def _check(self) -> None:
        errors.one_of("interpolation", self.interpolation, INTERPOLATIONS)

    def _function(self, data: Predictions) -> Blocks:
        return isotonic_of(resolve(data.source, isotonic_need), self.interpolation)

    def _check_function(self) -> None:
        if (np.diff(self.function_.value) < 0).any():
            raise calibrator_unreadable("its values decrease")
        if self.function_.interpolation != self.interpolation:
            raise calibrator_unreadable("options and parameters differ in interpolation")


class HistogramCalibrator(Calibrator):
    """Histogram binning: the observed rate in bins of about equal weight.

    Parameters
    ----------
    n_bins : int, default 10
        Bins at most; equal scores are never split.

    References
    ----------
    Zadrozny and Elkan, ICML 2001.

    Examples
    --------
    >>> import calibrant as cb
    >>> fitted = cb.HistogramCalibrator(n_bins=2).fit([0.1, 0.2, 0.3, 0.4], [0, 1, 1, 1])
    >>> fitted.predict([0.0, 0.4]).tolist()
    [0.5, 1.0]
    """

    method = "histogram"
    function_: Blocks
    _read = Blocks.from_dict

    def __init__(self, n_bins: int = 10) -> None:
        self.n_bins = n_bins

    def _check(self) -> None:
        errors.whole_number("n_bins", self.n_bins, 1, errors.MOST_ENTRIES)

    def _function(self, data: Predictions) -> Blocks:
        # more bins than rows would all be empty
        n_bins = min(self.n_bins, len(data))
        need = partial(histogram_need, n_bins=n_bins)
        return histogram_of(resolve(data.source, need), n_bins)

    def _check_function(self) -> None:
        if self.function_.interpolation != "step":
            raise calibrator_unreadable("bins have steps between them")


class _LinkCalibrator(Calibrator):
    """What the links share: they are fitted to pooled scores, by one of three objectives."""

    function_: Link
    _read = Link.from_dict

    def __init__(self, objective: Objective = "log_loss") -> None:
        self.objective = objective

    def _check(self) -> None:
        errors.one_of("objective", self.objective, OBJECTIVES)

    def _check_function(self) -> None:
        a, b, c = self.function_.a, self.function_.b, self.function_.c
        if (self.method != "beta" and a != b) or (self.method == "temperature" and c != 0):
            raise calibrator_unreadable(f"its parameters are not those of {self.method}")

    def _function(self, data: Predictions) -> Link:
        diagram = resolve(data.source, every_score)
        cells = diagram.cells
        # Platt's targets count rows: weights that do not are scaled to one a row on average
        scale = diagram.count / diagram.weight
        weight, positives = scale * cells.weight, scale * cells.positives
        return fit_link(self.method, cells.score, weight, positives, self.objective)


def every_score(diagram: Diagram) -> BoolArray:
    """Mark every cell."""
    return np.ones(len(diagram.cells), dtype=bool)


class PlattCalibrator(_LinkCalibrator):
    """Platt scaling: sigmoid(a logit(p) + b), a >= 0, two parameters.

    Parameters
    ----------
    objective : {"log_loss", "squared", "calibration_error"}
        What is minimised on the fitting rows: log loss with Platt's targets, which keep the
        parameters finite; squared loss; or the calibration error, among links that keep 95% of
        the gain in log loss over a constant.

    Notes
    -----
    Log-odds of 0 and 1 are infinite, so a score counts as at least `function_.low`, which is half
    of the smallest one above 0 that was seen in fitting, and as at most `function_.high`; or, at an
    end where scores within 2^-52 of it were seen, as 2^-52, 2^-40 or 2^-30 from it if that has a
    smaller log loss.

    References
    ----------
    Platt, "Probabilistic outputs for support vector machines", 1999; for the calibration error
    as objective Gao, Parameswaran and Peng (2017), Section 3.2.3.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident(2.0).draw(50_000, seed=1)
    >>> round(cb.PlattCalibrator().fit(y_prob, y_true).function_.a, 1)
    0.5
    """

    method = "platt"


class BetaCalibrator(_LinkCalibrator):
    """Beta calibration: sigmoid(a ln p - b ln(1 - p) + c), a, b >= 0, three parameters.

    Parameters
    ----------
    objective : {"log_loss", "squared", "calibration_error"}
        As for `PlattCalibrator`, without Platt's targets.

    References
    ----------
    Kull, Silva Filho and Flach, "Beta calibration", AISTATS 2017.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.calibrated().draw(50_000, seed=1)
    >>> link = cb.BetaCalibrator().fit(y_prob, y_true).function_
    >>> round(link.a, 1), round(link.b, 1)
    (1.0, 1.0)
    """

    method = "beta"


class TemperatureCalibrator(_LinkCalibrator):
    """Temperature scaling: sigmoid(logit(p) / T), one parameter; 1 / T is `function_.a`.

    Parameters
    ----------
    objective : {"log_loss", "squared", "calibration_error"}
        As for `PlattCalibrator`, without Platt's targets.

    References
    ----------
    Guo, Pleiss, Sun and Weinberger, "On calibration of modern neural networks", ICML 2017.

    Examples
    --------
    >>> import calibrant as cb
    >>> y_true, y_prob, _ = cb.simulate.overconfident(2.0).draw(50_000, seed=1)
    >>> round(1 / cb.TemperatureCalibrator().fit(y_prob, y_true).function_.a, 1)
    2.0
    """

    method = "temperature"


class VennAbersCalibrator(Calibrator):
    """Venn-Abers prediction: two probabilities for each score, one for either outcome.

    Isotonic regression with the new row in it, fitted twice: p0 is its value there if the new
    outcome is 0, and p1 if it is 1. `predict_pair` gives both; `predict` one number in between,
    p1 / (1 - p0 + p1), which risks the same extra log loss whichever of the two is right.

    A fit takes one row or more, of one class or both. Each new score then takes a binary search,
    not a fit.

    Notes
    -----
    What the pair promises: let p be p1 if the event happens, and p0 if it does not. Draw fitting
    rows and one new row, again and again: among the draws in which p has some value, the event
    happens in that share of cases, however few rows there are to fit, and whatever model made the
    scores. All it takes is that the fitting rows and the new one are exchangeable, as independent
    draws from one population are.

    What it does not: it is about the fitting rows together with a new one, not about one fitted
    calibrator and the many rows that it will see, nor about groups of them. Which of the two is
    the right one is known only with the outcome, so neither p0 nor p1 nor the number in between is
    promised to be calibrated by itself. And p1 - p0, which says how much one more row can move the
    fit, is not a confidence interval for the true probability.

    The new row has weight 1, and the promise is for fitting rows of weight 1. With `sample_weight`
    a fitting row counts as so many new ones, so weights should be of that size. Values are right
    to 1e-12; weights that add up to more than 1e15 are refused.

    References
    ----------
    Vovk, Petej and Fedorova, "Large-scale probabilistic predictors with and without guarantees of
    validity", NIPS 2015.

    Examples
    --------
    >>> import calibrant as cb
    >>> fitted = cb.VennAbersCalibrator().fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    >>> fitted.predict_pair([0.1, 0.25, 0.9]).round(3).tolist()
    [[0.0, 0.5], [0.333, 0.667], [0.5, 1.0]]
    >>> fitted.predict([0.1, 0.25, 0.9]).round(3).tolist()
    [0.333, 0.5, 0.667]
    """

    method = "venn_abers"
    # without rows of one class there is still a pair, and to refuse them would void its promise
    needs_both_classes = False
    function_: Pairs
    _read = Pairs.from_dict

    def predict_pair(self, y_prob: Any) -> FloatArray:
        """Return p0 and p1 of each score, of shape (n, 2).

        p0 <= p1. Which of them the promise is about, the outcome decides: p1 if the event happens,
        p0 if it does not.
        """
        check_is_fitted(self, "function_")
        return np.stack(self.function_.both(scores_of(y_prob)), axis=1)

    def _function(self, data: Predictions) -> Pairs:
        start = Diagram(*data.source.start())
        if start.weight > _HEAVIEST:
            raise _weights_too_heavy(start.weight, _HEAVIEST)
        if start.weight < _LIGHT * start.cells.rows.sum():
            mean = start.weight / int(start.cells.rows.sum())
            warnings.warn(_weights_light(mean), stacklevel=3)
        return pairs_of(resolve(data.source, pairs_need))

    def _check_function(self) -> None:
        """Accept what was read: `Pairs` has no options to differ from."""


METHODS: tuple[type[Calibrator], ...] = (
    IsotonicCalibrator,
    PlattCalibrator,
    BetaCalibrator,
    TemperatureCalibrator,
    HistogramCalibrator,
    VennAbersCalibrator,
)


def _too_many_blocks(most: int) -> InputError:
    return InputError(
        f"This calibrator has more than {most:,} blocks, and calibrant keeps and reads at most "
        "that many. Fit one of fewer blocks, such as HistogramCalibrator with fewer bins, or "
        "PlattCalibrator or BetaCalibrator, which have two or three numbers."
    )


def _calibrator_too_large(size: int, most: int) -> InputError:
    return InputError(
        f"This is not a calibrator that calibrant can read: it takes {size:,} bytes or more, and "
        f"calibrant reads at most {most:,}, twice what the most blocks take. Write it with "
        "to_json()."
    )


def one_class() -> InputError:
    """Refuse rows of one class."""
    return InputError(
        "A calibrator needs rows with and without the event, but y_true holds one class only. "
        "Add rows of the other class."
    )


def _weights_too_heavy(total: float, most: float) -> InputError:
    return InputError(
        f"sample_weight adds up to {total:.3g}, next to which a new row of weight 1 is nothing "
        f"(the limit is {most:g}). Divide the weights by their mean."
    )


def _weights_light(mean: float) -> str:
    return (
        f"Weights are {mean:.3g} on average, and a new row has weight 1, so that it counts as "
        f"{1 / mean:.3g} fitting rows. Divide the weights by their mean, unless this is meant."
    )


def _too_few_to_fit(rows: int) -> InputError:
    return InputError(f"A calibrator needs two rows at least, but there is {rows}. Add rows.")
