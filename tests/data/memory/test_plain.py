"""Whole answers with the compiled kernel: those of numpy, and the same bits on any threads."""

import threading
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import calibrant as cb
from calibrant.core import compiled as module
from calibrant.core import threads
from calibrant.core.compiled import BLOCK
from calibrant.data.memory import plain, source
from calibrant.data.memory.columns import Column
from calibrant.data.memory.source import ArraySource
from reference import brute
from reference.kernels import KERNEL, both, needs_library, using
from reference.samples import quietly, small

pytestmark = needs_library
ROWS = 300_000


def drawn(kind, rows=ROWS, seed=0):
    """Labels that are calibrated, so that many cells must be opened, and scores."""
    rng = np.random.default_rng(seed)
    score = {
        "uniform": lambda: rng.random(rows),
        "uniform in float32": lambda: rng.random(rows, dtype=np.float32),
        "rare": lambda: rng.beta(0.02, 5, rows),
        "crowded": lambda: np.exp(rng.normal(-7, 1, rows)).clip(0, 1),
        "down to the smallest": lambda: np.exp2(-1080 * rng.random(rows) ** 3),
        "tied": lambda: rng.integers(0, 100, rows) / 99,
        "at the ends": lambda: rng.choice([0.0, -0.0, 1.0, 5e-324, 1 - 2.0**-53, 0.5], rows),
    }[kind]()
    return (rng.random(rows) < score).astype(int), score


@pytest.fixture
def compiled():
    """Use the compiled kernel, whatever the setting."""
    with using(KERNEL):
        yield


KINDS = ["uniform", "uniform in float32", "rare", "crowded", "down to the smallest", "tied"]
KINDS += ["at the ends"]


def fitted(y_true, y_prob, interpolation="step", **kwargs):
    found = cb.IsotonicCalibrator(interpolation=interpolation).fit(y_prob, y_true, **kwargs)
    return found.predict(y_prob)


def numbers_of(found):
    """Return the numbers of a result."""
    if isinstance(found, float | np.ndarray):
        return np.atleast_1d(found)
    values = [getattr(found, field.name) for field in fields(found)]
    return np.array([one for one in values if isinstance(one, bool | int | float)], dtype=float)


def agree(outcomes):
    """Both kernels give the same number to 1e-12, or the same error, and the same warnings."""
    (found, warned), (expected, expected_warned) = outcomes
    assert warned == expected_warned
    assert type(found) is type(expected), (found, expected)
    if isinstance(found, tuple) and isinstance(found[0], str):
        assert found == expected
        return
    found, expected = numbers_of(found), numbers_of(expected)
    assert found.size
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    same = (np.abs(found - expected) <= 1e-12) | (found == expected)
    assert (same | (np.isnan(found) & np.isnan(expected))).all()


MEASURES = {
    "calibration_error": cb.calibration_error,
    "brier_parts": cb.brier_parts,
    "expected_calibration_error": cb.expected_calibration_error,
    "roc_auc": cb.roc_auc,
    "log_loss_parts": cb.log_loss_parts,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MEASURES)
@pytest.mark.parametrize("rows", [5000, 100_000])
def test_measures_are_those_of_numpy(kind, name, rows):
    y_true, y_prob = drawn(kind, rows)
    if name == "log_loss_parts":  # a score of 0 or 1 has no odds
        y_prob = y_prob.clip(1e-9, 1 - 1e-6)
    agree(both(MEASURES[name], y_true, y_prob))


@pytest.mark.parametrize("kind", KINDS)
def test_the_witness_is_that_of_numpy(kind):
    y_true, y_prob = drawn(kind)
    (found, _), (expected, _) = both(cb.worst_interval, y_true, y_prob, k=3)
    for one, other in zip(found, expected, strict=True):
        assert (one.p1, one.p2, one.rows) == (other.p1, other.p2, other.rows)
        agree([(one, []), (other, [])])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("interpolation", ["step", "linear", "strict"])
def test_isotonic_calibrators_are_those_of_numpy(kind, interpolation):
    agree(both(fitted, *drawn(kind, 60_000), interpolation))


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1, 1e100, 1e200])
@pytest.mark.parametrize("rows", [50, 20_000])
def test_weights_of_any_size_are_those_of_numpy(scale, rows):
    y_true, y_prob = drawn("uniform", rows)
    weight = np.random.default_rng(1).integers(1, 4, rows) * scale
    for function in (cb.calibration_error, cb.brier_parts, cb.roc_auc, fitted):
        agree(both(function, y_true, y_prob, sample_weight=weight))


# cells are opened


WAYS = {"kept": (0, ROWS), "never kept": (0, 0), "pooled late": (300, ROWS), "pooled": (ROWS, 0)}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    """Cells split into few, and their rows are pooled late; the name says what is kept."""
    started = ArraySource.__init__

    def start(self, *args, **kwargs):
        started(self, *args, **kwargs)
        self._few, self._keep = WAYS[request.param]

    monkeypatch.setattr(ArraySource, "__init__", start)
    for name, value in (("_FINER_BITS", 5), ("_SORTED", 0), ("_SORTED_FINE", 0)):
        monkeypatch.setattr(source, name, value)
    monkeypatch.setattr(plain, "_STEP", 1 << 10)
    return request.param


@pytest.mark.parametrize("kind", KINDS)
def test_cells_are_opened_again_and_again_as_numpy_opens_them(way, kind):
    y_true, y_prob = drawn(kind, 9000)
    for function in (cb.calibration_error, cb.brier_parts, cb.roc_auc, fitted):
        agree(both(function, y_true, y_prob))


@pytest.mark.parametrize("kind", ["uniform", "crowded"])
def test_the_path_through_the_rows_leads_there_in_every_way(way, kind, monkeypatch):
    expected = {
        "kept": {"_split", "_sorted_keys"},
        "never kept": {"_split_unsorted"},
        "pooled late": {"_split", "_sorted_keys", "among"},
        "pooled": {"_sorted_keys", "_points"},
    }[way]
    taken = set()
    for owner, name in [(plain.PlainRows, one) for one in expected - {"among"}] + [
        (plain.Wanted, "among")
    ]:
        whole = getattr(owner, name)

        def noted(self, *args, _whole=whole, _name=name):
            taken.add(_name)
            return _whole(self, *args)

        monkeypatch.setattr(owner, name, noted)
    with using(KERNEL):
        cb.roc_auc(*drawn(kind, 9000))
    assert taken >= expected


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(small(soft=False, weighted=False, rows=40))
def test_small_samples_have_the_error_of_the_definition(way, case):
    y_true, y_prob, _ = case
    label, score = np.array(y_true), np.array(y_prob)
    with using(KERNEL):
        found = quietly(cb.calibration_error, label, score)
        witness = quietly(cb.worst_interval, label, score)
    assert found == pytest.approx(float(brute.error(y_true, y_prob)), abs=1e-12)
    with using(None):
        expected = quietly(cb.worst_interval, label, score)
    assert (witness.p1, witness.p2) == (expected.p1, expected.p2)


@pytest.mark.parametrize("kind", ["uniform", "crowded", "tied"])
def test_threads_change_no_bit(kind, monkeypatch, compiled):
    y_true, y_prob = drawn(kind, threads.MANY_ROWS + 4321)
    found = []
    for count in ("1", "2", "3", "7"):
        monkeypatch.setenv(threads.SETTING, count)
        error, parts = cb.calibration_error(y_true, y_prob), cb.brier_parts(y_true, y_prob)
        calibrated = fitted(y_true, y_prob, "strict").tobytes()
        found.append((error, repr(parts), calibrated))
        columns = Column(y_true, "y_true"), Column(y_prob, "y_prob")
        cells, totals = ArraySource.of_columns(*columns, fine=False).start()
        found[-1] += (cells.rise.tobytes(), cells.fall.tobytes(), totals)
    assert all(one == found[0] for one in found[1:])


def test_rows_that_do_not_fit_one_table_fill_several_on_one_thread(monkeypatch, compiled):
    y_true, y_prob = drawn("uniform", 20 * BLOCK + 5)
    expected = cb.calibration_error(y_true, y_prob)
    counted, starting = [], set()
    count_rows = KERNEL.count_rows

    def noted(score, *rest):
        counted.append(len(score))
        starting.add(threading.get_ident())
        return count_rows(score, *rest)

    monkeypatch.setattr(KERNEL, "count_rows", noted)
    for each in (module, plain):
        monkeypatch.setattr(each, "MOST_ROWS", 3 * BLOCK)
    assert cb.calibration_error(y_true, y_prob) == expected
    assert max(counted) <= 3 * BLOCK
    assert sum(counted) == len(y_prob)
    assert starting == {threading.get_ident()}  # so few rows have one thread


@pytest.mark.parametrize("what", ["scores", "a score", "labels"])
@pytest.mark.parametrize("kind", ["uniform", "crowded"])
def test_rows_that_change_between_two_looks_are_refused(what, kind, monkeypatch, compiled):
    y_true, y_prob = drawn(kind)
    monkeypatch.setattr("calibrant.data.memory.source._FINER_BITS", 5)
    data = cb.Predictions(y_true, y_prob)
    cells = data.source.start()[0]
    opened = cells.take(np.flatnonzero(np.isnan(cells.score))[::2])
    if what == "scores":
        y_prob[:] = np.random.default_rng(3).random(len(y_prob)) ** 2
    elif what == "a score":
        y_prob[0] = np.nan
    else:
        y_true[:] = 7
    with pytest.raises((cb.InputError, RuntimeError), match="chang"):
        data.source.zoom(opened)


# hostile arrays


class Subclass(np.ndarray):
    """An array that calls itself something else."""


def unaligned(values):
    raw = bytearray(values.nbytes + 1)
    found = np.frombuffer(raw, dtype=values.dtype, offset=1, count=len(values))
    found[:] = values
    return found


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def in_a_record(values):
    found = np.zeros(len(values), dtype=[("flag", "u1"), ("value", values.dtype)])
    found["value"] = values
    return found["value"]


def one_masked(values):
    return np.ma.masked_array(values, np.arange(len(values)) == len(values) // 2)


FORMS = {
    "with gaps": lambda values: np.repeat(values, 3)[::3],
    "backwards": lambda values: values[::-1],
    "swapped bytes": lambda values: values.astype(values.dtype.newbyteorder()),
    "read only": read_only,
    "unaligned": unaligned,
    "in a record": in_a_record,
    "masked, nothing hidden": np.ma.masked_array,
    "masked": one_masked,
    "a subclass": lambda values: values.view(Subclass),
    "objects": lambda values: values.astype(object),
    "a list": lambda values: values.tolist(),
    "a column of a table": lambda values: np.stack([values, values], axis=1)[:, 0],
    "one value for all": lambda values: np.broadcast_to(values[:1], values.shape),
    "a table": lambda values: values[:, None],
    "a row too many": lambda values: np.append(values, values[:1]),
    "nothing": lambda values: values[:0],
    "a single row": lambda values: values[:1],
    "None": lambda values: None,
}


def hostile(y_true, y_prob):
    """Both kernels do the same with rows, in fitting, and in predicting."""
    agree(both(cb.calibration_error, y_true, y_prob))
    agree(both(fitted, y_true, y_prob, "linear"))
    agree(both(TRAINED.predict, y_prob))


TRAINED = cb.IsotonicCalibrator().fit(np.linspace(0, 1, 99), np.arange(99) % 7 < 3)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("rows", [300, 5000])
def test_arrays_of_any_form_mean_the_same_with_either_kernel(form, rows):
    y_true, y_prob = drawn("uniform", rows)
    hostile(form(y_true), y_prob)
    hostile(y_true, form(y_prob))
    hostile(form(y_true), form(y_prob))


@pytest.mark.parametrize("name", ["y_true", "y_prob"])
def test_arrays_in_a_file_are_read_in_place(tmp_path, name):
    columns = dict(zip(("y_true", "y_prob"), drawn("uniform", 5000), strict=True))
    given = columns[name]
    mapped = np.memmap(tmp_path / name, given.dtype, "w+", shape=given.shape)
    mapped[:] = given
    mapped.flush()
    columns[name] = np.memmap(tmp_path / name, given.dtype, "r", shape=given.shape)
    hostile(**columns)


LABELS = ["b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "g", "O", "S1"]
LABELS += ["U1", "c16", "M8[s]", "m8[s]"]


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("rows", [300, 5000])
def test_labels_and_scores_of_any_kind_mean_the_same_with_either_kernel(kind, rows):
    y_true, y_prob = drawn("uniform", rows)
    hostile(y_true.astype(kind), y_prob)
    if kind != "c16":  # a complex number loses a part in tests of numpy itself
        hostile(y_true, np.rint(8 * y_prob).astype(kind))
    if kind[0] in "fg":
        hostile(y_true, y_prob.astype(kind))


@pytest.mark.parametrize(
    "values", [(-1, 1), (0, 2), (1, 2), (0, 255), (0, 1, 2), (7,), (-1,), (1,)]
)
@pytest.mark.parametrize("kind", ["i1", "i2", "i4", "i8", "u1", "u4", "u8", "f2", "f4", "f8"])
def test_other_labels_mean_the_same_with_either_kernel(values, kind):
    y_prob = drawn("uniform", 5000)[1]
    labels = np.array(values).astype(kind)
    hostile(labels[np.arange(5000) % len(values)], y_prob)


@pytest.mark.parametrize("bad", [0.5, -0.0, np.nan, np.inf, -np.inf, 5e-324, 1 - 2.0**-53, -1.0])
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", "g"])
@pytest.mark.parametrize("row", [0, 2500, 4999])
def test_one_hostile_number_means_the_same_with_either_kernel(bad, kind, row):
    y_true, y_prob = drawn("uniform", 5000)
    labels, scores = y_true.astype(kind), y_prob.astype(kind)
    labels[row] = scores[row] = bad
    hostile(labels, y_prob)
    hostile(y_true, scores)


def test_booleans_of_other_bytes_mean_the_same_with_either_kernel():
    y_true, y_prob = drawn("uniform", 5000)
    hostile((y_true * 2).astype("u1").view(bool), y_prob)


def test_labels_and_scores_in_each_others_place_are_refused_alike():
    y_true, y_prob = drawn("uniform", 5000)
    for labels in (y_true, y_true.astype(float), y_true == 1):
        hostile(y_prob, labels)
        hostile(labels, labels.astype(float))
