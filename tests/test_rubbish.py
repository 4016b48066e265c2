"""Rubbish in every argument of everything public: a result, or a refusal in words."""

from __future__ import annotations

import functools
import inspect
import types
import unicodedata
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import calibrant as cb
from calibrant.certificates.complexity import of_scores
from calibrant.cli import main
from calibrant.errors import InputError
from reference.rubbish import RUBBISH

#: Values in messages are cut short, and control characters in them are escaped.
BOUNDED = True

ROWS = 40
SCORES = np.linspace(0.05, 0.95, ROWS)
LABELS = (np.arange(ROWS) * 7 % 10 < SCORES * 10).astype(int)
FEATURES = np.column_stack([SCORES, np.cos(np.arange(ROWS))])
GROUPS = ["a", "b"] * (ROWS // 2)
TABLE = pd.DataFrame({"y": LABELS, "p": SCORES, "q": SCORES**2, "w": 1.0, "g": GROUPS})


@functools.cache
def _model():
    return LogisticRegression().fit(FEATURES, LABELS)


@functools.cache
def _tree():
    return DecisionTreeClassifier(max_leaf_nodes=3, random_state=0).fit(FEATURES, LABELS)


@functools.cache
def _audit():
    return cb.audit(TABLE, label="y", prob="p", by=["g"])


@functools.cache
def _database():
    engine = sa.create_engine("sqlite://", poolclass=sa.StaticPool)
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE t (y INTEGER, p REAL)"))
        connection.execute(sa.text("INSERT INTO t VALUES (0, 0.2), (1, 0.7)"))
    return engine


#: What each required argument may be; a function makes what takes time.
VALID = {
    "X": FEATURES,
    "X_train": FEATURES,
    "after": SCORES**2,
    "audit": _audit,
    "before": SCORES,
    "by": {"g": GROUPS},
    "column": "p",
    "connection": _database,
    "epsilon": 0.1,
    "estimator": _model,
    "max_error": 0.5,
    "model": _tree,
    "names": ["g"],
    "p": [0.2, 0.5],
    "path": "new.json",
    "rows": 10,
    "text": "{}",
    "train_rate": 0.5,
    "true_rate": 0.1,
    "y": LABELS,
    "y_prob": SCORES,
    "y_train": LABELS,
    "y_true": LABELS,
}
_COSTS = {"false_positive": 1.0, "false_negative": 2.0}
_OF_TABLE = {"y_true": TABLE, "y_prob": None, "label": "y", "prob": "p"}
_OF_TWO = {"y_true": TABLE, "y_prob": None, "label": "y", "probs": ["p", "q"]}
_CLUSTERS = {"clusters": GROUPS, "max_cluster_size": ROWS}
_NO_COSTS = {"false_positive": None, "false_negative": None}
#: What some need besides, by their name, or for one argument of theirs, by both.
MORE = {
    "CalibratedLinearClassifier": {"max_iter": 5},
    "IsotronClassifier": {"max_iter": 5},
    "Audit.to_html": {"model": "gbm"},
    "Audit.to_markdown": {"model": "gbm"},
    "calibration_test": {"draws": 99},
    "loss_ratio": {"draws": 20},
    "compare": {"y_prob": {"a": SCORES, "b": SCORES**2}},
    "simulate.TopicModel": {"topics": 2, "words": 5, "length": 3, "label_draws": 2},
    "simulate.TopicModel.draw": {"documents": 5},
    "sql_table": {"table": "t"},
    "sql_table query": {"table": None},
    **dict.fromkeys(
        ("bayes_threshold", "best_threshold", "decide", "expected_cost", "price_of_miscalibration"),
        _COSTS,
    ),
    **{
        f"{name} matrix": _NO_COSTS
        for name in (
            "bayes_threshold",
            "best_threshold",
            "decide",
            "expected_cost",
            "price_of_miscalibration",
        )
    },
    **{
        f"{name} {role}": _OF_TABLE
        for name in ("audit", "Predictions")
        for role in ("label", "prob", "weight")
    },
    "audit by": _OF_TABLE,
    **{f"compare {role}": _OF_TWO for role in ("label", "probs", "weight")},
    **{
        f"{name} {option}": _CLUSTERS
        for name in ("audit", "certify")
        for option in ("clusters", "estimand", "max_cluster_size")
    },
    "certify_many": {"groups": GROUPS},
}

#: What the library makes and hands out: its fields are read, and its methods are called.
RESULTS = {
    "Audit",
    "Tally",
    "simulate.Documents",
    "simulate.Law",
    "simulate.Sample",
    *(f"results.{name}" for name in cb.results.__all__),
}
#: One of each class with methods.
MADE = {
    "Audit": _audit,
    "results.Comparison": lambda: cb.compare(LABELS, {"a": SCORES, "b": SCORES**2}),
    "results.Certificate": lambda: cb.certify(LABELS, SCORES),
    "results.Complexity": lambda: of_scores(SCORES),
    "Tally": lambda: cb.Predictions(LABELS, SCORES).tally(),
    "Predictions": lambda: cb.Predictions(TABLE, label="y", prob="p"),
    "simulate.Law": cb.simulate.calibrated,
    "simulate.TopicModel": lambda: cb.simulate.TopicModel(2, 5, 3.0),
}


def _public():
    """Yield name and value of what is public."""
    for name in cb.__all__:
        value = getattr(cb, name)
        if not isinstance(value, types.ModuleType):
            yield name, value
            continue
        yield from ((f"{name}.{inner}", getattr(value, inner)) for inner in value.__all__)


def _parameters(call):
    kinds = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    given = inspect.signature(call).parameters.values()
    return {p.name: p for p in given if p.kind in kinds and not p.name.startswith("_")}


def _estimator(kind, **options):
    made = kind(**options)
    first = SCORES if issubclass(kind, cb.Calibrator) else FEATURES
    return made.fit(first, LABELS)


@functools.cache
def _instance(name):
    if name in MADE:
        return MADE[name]()
    kind = dict(_public())[name]
    if issubclass(kind, BaseEstimator):
        options = {"estimator": _model()} if "estimator" in _parameters(kind) else {}
        return _estimator(kind, **options, **MORE.get(name, {}))
    return kind(_audit())


def _methods(name, kind):
    """Yield name and function of the methods that are calibrant's own."""
    for method in dir(kind):
        found = getattr(kind, method)
        ours = getattr(found, "__module__", None) or ""
        if method.startswith("_") or not callable(found) or not ours.startswith("calibrant"):
            continue
        bound = inspect.ismethod(found)  # a class method
        parameters = _parameters(found)
        if not bound:
            parameters.pop("self")
        if parameters and (bound or not inspect.isabstract(kind)):
            yield f"{name}.{method}", method, found, parameters, bound


def _targets():
    """Return the function behind each public name, with its parameters."""
    found = {}
    for name, value in _public():
        if isinstance(value, str):
            continue
        if not isinstance(value, type):
            found[name] = value, _parameters(value)
            continue
        if issubclass(value, BaseEstimator) and not inspect.isabstract(value):
            found[name] = functools.partial(_estimator, value), _parameters(value)
        elif name not in RESULTS and not inspect.isabstract(value):
            found[name] = value, _parameters(value)
        for whole, method, function, parameters, bound in _methods(name, value):
            call = function if bound else functools.partial(_called, name, method)
            found[whole] = call, parameters
    return found


def _called(name, method, /, **arguments):
    return getattr(_instance(name), method)(**arguments)


TARGETS = _targets()

#: Words that stand for an argument where a message does not have its name.
ABOUT = {
    "audit": ("groups",),
    "by": ("column",),
    "clusters": ("cluster",),
    "connection": ("database",),
    "label": ("column",),
    "names": ("column",),
    "path": ("file",),
    "prob": ("column",),
    "probs": ("column",),
    "sample_weight": ("eights",),
    "text": ("not JSON",),
    "weight": ("column",),
    "y_prob": ("scores", "groups"),
    "y_true": ("abels",),
}
#: What is handed to scikit-learn, which has words of its own.
HANDED_ON = {"X", "X_train", "y", "y_true", "sample_weight", "estimator", "model", "cv"}
HANDED_ON |= {"random_state", "partition"}
#: What raises none of ours: the assertion is what was asked for.
ASSERTS = "assert_calibrated"
SCORER = "calibration_error_scorer"
#: Functions that the library calls for the user, and whose errors are the user's.
CALLED = {"partition", "progress"}


def _in_words(error, name, whose):
    """Say what is wrong with a refusal, or nothing."""
    text = str(error)
    frames = []
    trace = error.__traceback__
    while trace is not None:
        frames.append(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    theirs = name in HANDED_ON and any(frame.startswith("sklearn") for frame in frames)
    if type(error) is AssertionError and whose == ASSERTS:
        return None
    if theirs and (whose == SCORER or (name in {"X", "X_train"} and _has_model(whose))):
        return None  # read by scikit-learn before calibrant sees it
    if type(error) is not InputError and not theirs:
        return f"{type(error).__name__}: {text:.200}"
    if not isinstance(error, ValueError | TypeError) or isinstance(error, UnicodeError):
        return f"{type(error).__name__}: {text:.200}"
    if not text or "ambiguous" in text:
        return f"no words: {text:.200}"
    if not theirs and not any(word in text for word in (name, *ABOUT.get(name, ()))):
        return f"not about it: {text:.200}"
    if BOUNDED and type(error) is InputError:
        odd = [letter for letter in text if unicodedata.category(letter) in {"Cc", "Cs"}]
        if len(text) >= 2000 or odd:
            return f"{len(text)} letters, control characters {odd[:5]}"
    return None


def _has_model(whose):
    return {"estimator", "model"} & TARGETS[whose][1].keys() or whose.startswith(
        ("CalibratedClassifier", "CostSensitiveClassifier")
    )


def _arguments(whose, parameters, name):
    needed = {
        one: value() if callable(value) else value
        for one, value in VALID.items()
        if one in parameters and (one != "by" or parameters[one].default is inspect.Parameter.empty)
    }
    return {**needed, **MORE.get(whose, {}), **MORE.get(f"{whose} {name}", {})}


def _faults(whose):
    """Put every kind of rubbish in every argument of one function."""
    call, parameters = TARGETS[whose]
    for name in parameters:
        arguments = _arguments(whose, parameters, name)
        for kind, make in RUBBISH.items():
            if name in CALLED and callable(make()):
                continue
            try:
                call(**{**arguments, name: make()})
            except Exception as error:
                fault = _in_words(error, name, whose)
                if fault:
                    yield f"{whose}({name}={kind}) {fault}"


@pytest.fixture(autouse=True)
def _aside(monkeypatch, tmp_path):
    """Write files elsewhere, and leave no figure open."""
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


@pytest.mark.parametrize("whose", TARGETS)
def test_rubbish_gives_a_result_or_a_refusal_in_words(whose):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.filterwarnings("ignore", "More than 20 figures", RuntimeWarning)
        assert list(_faults(whose)) == []


@pytest.mark.parametrize("whose", TARGETS)
def test_what_is_valid_is_accepted(whose):
    call, parameters = TARGETS[whose]
    needed = {n for n, one in parameters.items() if one.default is inspect.Parameter.empty}
    arguments = _arguments(whose, parameters, "")
    assert needed <= arguments.keys(), "say in VALID what the new argument may be"
    if whose.endswith(("from_json", ".load")):
        return  # what these read is tested next to them
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        call(**arguments)


def test_every_public_name_is_walked():
    walked = {whose.split(".")[0] for whose in TARGETS} | {name.split(".")[0] for name in RESULTS}
    assert set(cb.__all__) - walked == {"__version__"}
    assert {name for name, _ in _public()} >= RESULTS
    assert len(RUBBISH) > 50


def test_the_refusal_of_a_size_names_one_that_can_be_counted():
    for method in ("certified", "gao2017", "isotonic", "asymptotic", "fixed_design"):
        with pytest.raises(InputError, match=r"more than 2\*\*53 rows.*Plan for") as refused:
            cb.sample_size(1e-300, method=method)
        least = float(str(refused.value).split("epsilon=")[-1].split()[0])
        assert 0 < cb.sample_size(least, method=method) <= 2**53


_READ = ["t.csv", "--label", "y", "--prob", "p"]
#: Every command with numbers among its options, and these.
COMMANDS = {
    ("audit", *_READ): (
        *("--confidence", "--max-error", "--clip", "--max-cluster-size"),
        *("--false-positive", "--false-negative"),
    ),
    ("compare", *_READ, "--prob", "q"): ("--confidence",),
    ("decide", *_READ, "--false-negative", "2"): ("--false-positive",),
    ("decide", *_READ, "--false-positive", "1"): ("--false-negative",),
    ("decide", *_READ, "--false-positive", "1", "--false-negative", "2"): (
        *("--volume", "--confidence"),
    ),
    ("plan",): ("--epsilon",),
    ("plan", "--epsilon", "0.1"): ("--confidence", "--assurance"),
    ("reproduce", "nothing"): ("--seed", "--runs"),
}
EDGES = ("nan", "inf", "-inf", "-1", "0", "-0.0", "1e-300", "1e-15", "1e308", str(10**400), "")


@pytest.mark.parametrize(("command", "options"), COMMANDS.items())
def test_numbers_at_the_edge_on_the_command_line(command, options, capsys, monkeypatch):
    TABLE.to_csv("t.csv", index=False)
    for option in options:
        for edge in EDGES:
            monkeypatch.setattr("sys.argv", ["calibrant", *command, f"{option}={edge}"])
            with pytest.raises(SystemExit) as ended:
                main()
            said = capsys.readouterr()
            assert (ended.value.code or 0) in {0, 1, 2}, (option, edge)
            assert "Traceback" not in said.err, (option, edge)
            assert said.err.strip() or ended.value.code != 2, (option, edge)


def test_what_does_not_fit_into_memory_is_refused_in_words():
    with pytest.raises(ValueError, match="y_true could not be read as an array"):
        cb.calibration_error(range(10**15), [0.5])
