"""Calibrators as ONNX models: what ONNX Runtime makes of them is what Python does."""

import sys

import numpy as np
import onnx
import onnxruntime
import pytest
from sklearn.exceptions import NotFittedError

import calibrant as cb
from reference.exported import CALIBRATORS, each_its_own, hard_scores, thresholds

each = pytest.mark.parametrize("fitted", CALIBRATORS.values(), ids=CALIBRATORS)
WRONG = [np.nan, -5e-324, -1.0, np.nextafter(1, 2), 2.0, np.inf, -np.inf]


def run(model, scores):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    [found] = session.run(["probability"], {"score": scores})
    return found


@each
def test_the_model_is_predict(fitted):
    scores = hard_scores(fitted.function_)
    found = run(fitted.to_onnx(), scores)
    expected = fitted.predict(scores)
    assert (found.shape, found.dtype) == (expected.shape, expected.dtype)
    if fitted.method in {"isotonic", "histogram", "venn_abers"}:
        assert found.tolist() == expected.tolist()
    assert np.abs(found - expected).max() <= 1e-12


def singles_around(function):
    """Return scores in single precision: those next to every threshold, on both sides."""
    edges = np.append(thresholds(function), hard_scores(function, rows=20_000)).astype(np.float32)
    two, minus = np.float32(2), np.float32(-1)
    near = [edges, np.nextafter(edges, two), np.nextafter(edges, minus)]
    scores = np.concatenate(near)
    return scores[(scores >= 0) & (scores <= 1)]


@each
def test_singles_are_predicted_as_python_predicts_them(fitted):
    scores = singles_around(fitted.function_)
    found = run(fitted.to_onnx(dtype="float"), scores)
    expected = fitted.predict(scores.astype(np.float64))
    assert found.dtype == np.float32
    if fitted.method in {"isotonic", "histogram", "venn_abers"}:
        assert found.tolist() == expected.astype(np.float32).tolist()
    # half of the last bit of a single, and what links may differ by
    assert (np.abs(found - expected) <= np.spacing(found) / 2 + 1e-12).all()


def test_singles_would_fall_to_the_wrong_side_of_a_rounded_threshold():
    edges = np.array([0.1, 0.2, 0.3, 0.7])
    assert (edges.astype(np.float32) < edges).any()  # these must be rounded up
    fitted = each_its_own(edges, "step")
    scores = singles_around(fitted.function_)
    found = run(fitted.to_onnx(dtype="float"), scores)
    assert found.tolist() == fitted.predict(scores.astype(float)).astype(np.float32).tolist()
    nearest = fitted.function_.value[np.searchsorted(edges.astype(np.float32), scores, "right") - 1]
    assert found.tolist() != nearest.astype(np.float32).tolist()


@pytest.mark.parametrize("name", ["step", "step, many", "histogram"])
def test_steps_in_single_precision_hold_no_double(name):
    model = onnx.load_from_string(CALIBRATORS[name].to_onnx(dtype="float"))
    kinds = {constant.data_type for constant in model.graph.initializer}
    assert kinds == {onnx.TensorProto.FLOAT, onnx.TensorProto.INT64}


@each
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_what_python_refuses_is_nan_and_harms_no_other_row(fitted, dtype):
    kind = np.float64 if dtype == "double" else np.float32
    wrong = np.array(WRONG)
    if dtype == "float":
        wrong[1], wrong[3] = -1e-45, np.nextafter(np.float32(1), np.float32(2))
    found = run(fitted.to_onnx(dtype=dtype), np.append(wrong, [0.25, 1]).astype(kind))
    assert np.isnan(found[:-2]).all()
    assert found[-2:] == pytest.approx(fitted.predict([0.25, 1.0]), abs=1e-7)


@each
@pytest.mark.parametrize("dtype", ["double", "float"])
def test_the_model_is_a_sound_one_and_says_what_it_is(fitted, dtype):
    content = fitted.to_onnx(dtype=dtype)
    assert content == fitted.to_onnx(dtype=dtype)
    model = onnx.load_from_string(content)
    onnx.checker.check_model(model, full_check=True)
    assert model.graph.name == f"calibrant_{fitted.method}"
    assert fitted.method in model.doc_string
    assert (model.producer_name, model.producer_version) == ("calibrant", cb.__version__)
    about = {prop.key: prop.value for prop in model.metadata_props}
    assert about == {"calibrant_version": cb.__version__, "calibrant_method": fitted.method}
    assert [opset.version for opset in model.opset_import] == [17]
    # runtimes warn of what nobody uses
    used = {name for node in model.graph.node for name in node.input}
    assert {constant.name for constant in model.graph.initializer} <= used
    for end in (*model.graph.input, *model.graph.output):
        tensor = end.type.tensor_type
        assert [part.dim_param for part in tensor.shape.dim] == ["N"]
        assert tensor.elem_type == getattr(onnx.TensorProto, dtype.upper())


def test_no_rows_and_one_row():
    for name in ("step", "linear", "platt"):
        model = CALIBRATORS[name].to_onnx()
        assert run(model, np.zeros(0)).shape == (0,)
        assert run(model, np.zeros(1)) == pytest.approx(CALIBRATORS[name].predict([0.0]))


def test_steps_grow_with_the_digits_of_the_number_of_blocks():
    def size(blocks):
        fitted = each_its_own(np.linspace(0, 1, blocks), "step")
        return len(onnx.load_from_string(fitted.to_onnx()).graph.node)

    few, many = size(8), size(8 * 1024)
    assert many - few == 10 * 5  # for each halving of the blocks


def test_bad_input():
    fitted = CALIBRATORS["step"]
    with pytest.raises(ValueError, match="dtype must be one of double, float, but it is 'half'"):
        fitted.to_onnx(dtype="half")
    with pytest.raises(NotFittedError):
        cb.PlattCalibrator().to_onnx()


def test_without_onnx_the_pip_line_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    line = r"onnx is needed for ONNX models\. Install it with: pip install 'calibrant\[onnx\]'"
    with pytest.raises(ImportError, match=line):
        CALIBRATORS["step"].to_onnx()
    assert CALIBRATORS["step"].to_sql("p")  # which needs none of it
