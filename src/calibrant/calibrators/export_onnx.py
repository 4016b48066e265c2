"""Export to ONNX: a calibrator as a graph, which ONNX Runtime runs in any language.

Blocks are found by binary search, one comparison for each halving, so memory does not grow with the
number of blocks. A graph cannot refuse a score: NaN and scores outside [0, 1] become NaN.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from calibrant import errors
from calibrant._extras import require
from calibrant._types import AnyArray, FloatArray
from calibrant._version import __version__
from calibrant.calibrators.blocks import STRICT_SHARE, Blocks
from calibrant.calibrators.links import NO_SHARE, PLAIN_SLOPE, Link
from calibrant.calibrators.venn_abers import Pairs

Dtype: TypeAlias = Literal["double", "float"]
DTYPES = ("double", "float")
#: Of 2022: every runtime of the last years reads them.
_OPSET, _IR_VERSION = 17, 8
#: Doubles below this have fewer digits.
_NORMAL = float(np.finfo(np.float64).tiny)


def onnx_of(function: Blocks | Link | Pairs, method: str, dtype: Dtype) -> bytes:
    """Return a model, as the bytes of a file, that turns scores into probabilities."""
    errors.one_of("dtype", dtype, DTYPES)
    onnx: Any = require("onnx", "onnx")
    graph = _Graph(onnx, np.dtype(np.float64 if dtype == "double" else np.float32))
    graph.guard(function)
    model = graph.model(f"calibrant_{method}")
    model.doc_string = (
        f"The calibrated probability of each score ({method}). "
        "Scores that are NaN or outside [0, 1] give NaN."
    )
    about = {"calibrant_version": __version__, "calibrant_method": method}
    onnx.helper.set_model_props(model, about)
    onnx.checker.check_model(model)
    content: bytes = model.SerializeToString()
    return content


class _Graph:
    """A graph in the making; what its methods take and return are names of values."""

    def __init__(self, onnx: Any, dtype: np.dtype[Any]) -> None:
        self.onnx, self.dtype = onnx, dtype
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def op(self, kind: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Apply an operator."""
        name = name or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def constant(self, value: AnyArray | float, dtype: Any = np.float64) -> str:
        """Add a constant, a double if nothing else is said."""
        name = f"constant_{len(self.constants)}"
        array = np.asarray(value, dtype=dtype)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def cast(self, value: str, dtype: Any) -> str:
        """Convert to another type."""
        to = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.op("Cast", value, to=to)

    def guard(self, function: Blocks | Link | Pairs) -> None:
        """Compute the function where the score is in [0, 1], and NaN elsewhere."""
        zero, one, nan = (self.constant(value, self.dtype) for value in (0, 1, np.nan))
        at_least = self.op("GreaterOrEqual", "score", zero)
        inside = self.op("And", at_least, self.op("LessOrEqual", "score", one))
        score = self.op("Where", inside, "score", zero)
        if isinstance(function, Link):
            found = self.link(function, self.cast(score, np.float64))
        else:
            found = self.blocks(function, score)
        self.op("Where", inside, self.cast(found, self.dtype), nan, name="probability")

    def blocks(self, blocks: Blocks | Pairs, score: str) -> str:
        """Look up a value, in the type of the score; draw lines in double."""
        if isinstance(blocks, Pairs) or blocks.interpolation == "step":
            begin, value = blocks.steps()
            table = self.constant(value, self.dtype)
            return self.op("Gather", table, self.count(begin[1:], score))
        knots, values = blocks.knots()
        place = self.count(knots[1:-1], score)
        score = self.cast(score, np.float64)
        line = self.line(place, score, knots, values)
        if blocks.interpolation == "strict":
            share = self.constant(STRICT_SHARE)
            line = self.op("Add", line, self.op("Mul", share, self.op("Sub", score, line)))
        return line

    def count(self, thresholds: FloatArray, score: str) -> str:
        """Count the thresholds that the score has reached, by binary search.

        Of the scores in single precision, exactly those reach a threshold that reach the next
        single above it.
        """
        zeros = self.onnx.numpy_helper.from_array(np.zeros(1, np.int64))
        found = self.op("ConstantOfShape", self.op("Shape", score), value=zeros)
        halvings = len(thresholds).bit_length()
        if halvings == 0:
            return found
        padded = np.full(2**halvings, np.inf)
        padded[: len(thresholds)] = thresholds
        table = self.constant(_rounded_up(padded, self.dtype), self.dtype)
        for step in (2**halving for halving in reversed(range(halvings))):
            more, last = (self.constant(value, np.int64) for value in (step, step - 1))
            threshold = self.op("Gather", table, self.op("Add", found, last))
            reached = self.op("GreaterOrEqual", score, threshold)
            found = self.op("Where", reached, self.op("Add", found, more), found)
        return found

    def line(self, place: str, score: str, knots: FloatArray, values: FloatArray) -> str:
        """Interpolate; operations are those of Python, in its order."""
        if len(knots) == 1:
            return self.op("Gather", self.constant(values), place)
        columns = (knots[:-1], np.diff(knots), values[:-1], values[1:], np.diff(values))
        left, gap, start, end, rise = (
            self.op("Gather", self.constant(column), place) for column in columns
        )
        share = self.op("Div", self.op("Sub", score, left), gap)
        share = self.op("Clip", share, self.constant(0), self.constant(1))
        line = self.op("Min", self.op("Add", start, self.op("Mul", share, rise)), end)
        return self.op("Where", self.op("GreaterOrEqual", share, self.constant(1)), end, line)

    def link(self, link: Link, score: str) -> str:
        """Compute 1 / (1 + exp(-(a ln p - b ln(1 - p) + c)))."""
        inner = self.op("Clip", score, self.constant(link.low), self.constant(link.high))
        terms = [
            self.op("Mul", self.constant(-link.a), self.log(inner, link.low)),
            self.op("Mul", self.constant(link.b), self.log_rest(inner, link.b)),
        ]
        exponent = self.op("Add", self.op("Add", *terms), self.constant(-link.c))
        one = self.constant(1)
        return self.op("Div", one, self.op("Add", one, self.op("Exp", exponent)))

    def log(self, score: str, low: float) -> str:
        """Compute ln p; of denormals by a detour, because older runtimes round these up."""
        plain = self.op("Log", score)
        if low >= _NORMAL:
            return plain
        scaled = self.op("Log", self.op("Mul", score, self.constant(2.0**100)))
        detour = self.op("Sub", scaled, self.constant(100 * np.log(2)))
        small = self.op("Less", score, self.constant(_NORMAL))
        return self.op("Where", small, detour, plain)

    def log_rest(self, score: str, slope: float) -> str:
        """Compute ln(1 - p); a steep slope shows how 1 - p was rounded, so that is divided out."""
        one = self.constant(1)
        rest = self.op("Sub", one, score)
        plain = self.op("Log", rest)
        if slope <= PLAIN_SLOPE:
            return plain
        recalibrated = self.op("Div", self.op("Mul", plain, score), self.op("Sub", one, rest))
        tiny = self.op("Less", score, self.constant(NO_SHARE))
        return self.op("Where", tiny, self.op("Neg", score), recalibrated)

    def model(self, name: str) -> Any:
        """Close the graph: one tensor in, one of the same shape out."""
        helper = self.onnx.helper
        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        ends = [helper.make_tensor_value_info(end, kind, ["N"]) for end in ("score", "probability")]
        graph = helper.make_graph(self.nodes, name, ends[:1], ends[1:], self.constants)
        return helper.make_model(
            graph,
            producer_name="calibrant",
            producer_version=__version__,
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR_VERSION,
        )


def _rounded_up(values: FloatArray, dtype: np.dtype[Any]) -> AnyArray:
    """Return the least number of a type that is not below each value."""
    found = values.astype(dtype)
    up: AnyArray = np.where(found < values, np.nextafter(found, dtype.type(np.inf)), found)
    return up
