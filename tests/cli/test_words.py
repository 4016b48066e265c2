"""Python users read arguments, the command line reads options."""

import ast
import re
from pathlib import Path

import pandas as pd
import pytest

import calibrant
import calibrant as cb
from calibrant import _writing as writing
from calibrant import errors
from calibrant._text import MOST_OF_MESSAGE
from calibrant.auditing import groups, limit, verdict
from calibrant.calibrators import applying
from calibrant.certificates import certify, clusters, plan
from calibrant.cli import output, words
from calibrant.cli.words import in_options
from calibrant.data import refusals
from calibrant.data.engine import addresses, statements
from calibrant.data.files import duckdb_tables, reading
from calibrant.decisions.costs import costs_of
from calibrant.experiments import datasets
from reference.commands import calibrant as command

PACKAGE = Path(calibrant.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "cli" not in path.parts)


def refused(call, *arguments):
    with pytest.raises(errors.InputError) as caught:
        call(*arguments)
    return caught.value


#: message: (words of Python, words of the command line)
MESSAGES = {
    refusals.missing("column 'y'", 2, 1): (
        "Remove or fill these rows.",
        "Remove or fill these rows; --drop-missing removes them.",
    ),
    refusals.not_numeric("column 'p'", 0, "0,5"): (
        "DuckDB reads such a file by read_csv(",
        "DuckDB, and so a query in --sql, reads such a file by read_csv(",
    ),
    refusals.labels_need_pos_label("column 'y'", ["no", "oh yes"]): (
        "are: pos_label='no' or pos_label='oh yes'. What takes no pos_label takes labels == the "
        "event. Without it",
        "are: --pos-label no or --pos-label 'oh yes'. Without it",
    ),
    refusals.labels_lack_pos_label("column 'y'", "Yes", ["no", "yes"]): (
        "pos_label='Yes' is not among the labels of column 'y': 'no', 'yes'. Did you mean 'yes'?",
        "--pos-label Yes is not among the labels of column 'y': 'no', 'yes'. Did you mean 'yes'?",
    ),
    refusals.labels_not_binary("column 'y'", [0, 1, 2]): (
        "one class against the rest, such as y_true == 'the class'.",
        "one class against the rest.",
    ),
    refusals.scores_without_odds("column 'p'", 1, 0, 1.0): (
        "Pass clip=, such as clip=0.001, to move scores into [0.001, 0.999] for slope and "
        "intercept alone; or use observed_expected_ratio, which",
        "Pass --clip, such as --clip 0.001, to move scores into [0.001, 0.999] for slope and "
        "intercept alone; or use the observed/expected ratio, which",
    ),
    refusals.outside_unit("column 'p'", 1, 0, -3.0, -3.0): (
        "margins of decision_function by cb.CalibratedClassifier(",
        "margins of decision_function in Python by cb.CalibratedClassifier(",
    ),
    refusals.too_few_models("probs", "probs=['model_a', 'model_b']"): (
        "probs must name two models or more, each once, such as probs=['model_a', 'model_b'].",
        "--prob must name two models or more, each once, such as --prob model_a --prob model_b.",
    ),
    refused(errors.clip_or_none, 0.7): (
        "clip must be a number strictly between 0 and 0.5 (1e-16 or more), or None for scores as "
        "they are, but it is 0.7. With clip=0.001 a score",
        "--clip must be a number strictly between 0 and 0.5 (1e-16 or more), or be left out for "
        "scores as they are, but it is 0.7. With --clip 0.001 a score",
    ),
    refused(costs_of, 0.0, 0.0): (
        "false_positive and false_negative are both 0, so every decision",
        "--false-positive and --false-negative are both 0, so every decision",
    ),
    refused(cb.PlattCalibrator().fit, [0.2, 0.3], [1, 1]): (
        "but y_true holds one class only",
        "but --label holds one class only",
    ),
    refused(cb.Calibrator.from_json, "{"): (
        "Write it with to_json().",
        "Write it with calibrant calibrate -o.",
    ),
    refused(costs_of, -1.0, 1.0): (
        "false_positive must not be negative, but it is -1.0. A gain from the right action goes "
        "into matrix=[[c00, c01], [c10, c11]] as a negative cost.",
        "--false-positive must not be negative, but it is -1.0.",
    ),
    errors.not_for_clusters("by=", "audit for each group, with clusters="): (
        "by= does not carry over to rows that come in clusters, which are not independent. Use "
        "audit for each group, with clusters=.",
        "--by does not carry over to rows that come in clusters, which are not independent. Use "
        "audit for each group, with --clusters.",
    ),
    limit._two_limits(["max_error", "max_cost"]): (
        "max_error= and max_cost= state a limit each: give one of max_error=, max_relative_error= "
        "and max_cost=.",
        "--max-error and --max-cost state a limit each: give one of --max-error, "
        "--max-relative-error and --max-cost.",
    ),
    verdict._relative_with_clusters(): (
        "max_relative_error= needs an interval for the base rate, which takes independent rows, "
        "and there are clusters. State the limit as max_error=.",
        "--max-relative-error needs an interval for the base rate, which takes independent rows, "
        "and there are clusters. State the limit as --max-error.",
    ),
    groups._groups_unnamed(["a", "a"]): (
        "such as by=['sex', 'region'], but it is ['a', 'a']. With arrays pass them: "
        "by={'sex': sex}.",
        "such as --by sex --by region, but it is ['a', 'a'].",
    ),
    certify._clusters_missing(): (
        "estimand= and max_cluster_size= say how clusters count, but there are none. Say by "
        "clusters= which",
        "--estimand and --max-cluster-size say how clusters count, but there are none. Say by "
        "--clusters which",
    ),
    clusters._cluster_size_missing(): (
        'With clusters, estimand="row" needs max_cluster_size=, the most',
        "With clusters, --estimand row needs --max-cluster-size, the most",
    ),
    clusters._cluster_too_large(12_000, 1000): (
        "has 12,000 rows, but max_cluster_size=1000. It must be a limit that was known before the "
        'data; leave rows out beyond it by a rule of your own, or use estimand="cluster", which',
        "has 12,000 rows, but --max-cluster-size 1000. It must be a limit that was known before "
        "the data; leave rows out beyond it by a rule of your own, or use --estimand cluster, "
        "which",
    ),
    plan._size_uncounted(1e-15, 2e-8): (
        "epsilon=1e-15 takes more than 2**53 rows, past which doubles no longer count one by one. "
        "Plan for epsilon=2e-08 or more.",
        "--epsilon 1e-15 takes more than 2**53 rows, past which doubles no longer count one by "
        "one. Plan for --epsilon 2e-08 or more.",
    ),
    applying._column_exists("P", "p"): (
        'Give it another name: name="calibrated_2".',
        "Give it another name: --name calibrated_2.",
    ),
    addresses._variable_unset("SCORES"): (
        'url="env:SCORES" asks for the environment variable SCORES, which',
        "--url env:SCORES asks for the environment variable SCORES, which",
    ),
    statements._query_not_parsed("SQLite", "why"): (
        "name that instead: table=.",
        "name that instead: --table.",
    ),
    statements._query_in_two_ways("a comment"): (
        "name that instead: table=.",
        "name that instead: --table.",
    ),
    duckdb_tables._file_or_sql(): (
        "Name a file, or give sql=, a SELECT: one of the two. For a database: url=.",
        "Name a file, or give --sql, a SELECT: one of the two. For a database: --url.",
    ),
    reading._labels_soft("column 'y'", 1, 0.5): ("so with soft=True.", "so with --soft."),
    reading._file_all_missing("'a.csv'", 3): (
        "Check the columns that label= and prob= name.",
        "Check the columns that --label and --prob name.",
    ),
    reading._table_without_url(): (
        "table= is a table of a database: say which one by url=.",
        "--table is a table of a database: say which one by --url.",
    ),
    reading._one_of_database(): (
        "url= names a database: say what to read there by either table= or sql=, and no file.",
        "--url names a database: say what to read there by either --table or --sql, and no file.",
    ),
    reading._file_is_url(): (
        "Give it as url=, and what to read there by table= or sql=.",
        "Give it as --url, and what to read there by --table or --sql.",
    ),
    writing._file_exists("a.csv"): (
        "Add overwrite=True to replace it.",
        "Add --overwrite to replace it.",
    ),
    datasets._data_unreachable("adult", "https://example.org", "no route"): (
        "name that folder by data_dir= or CALIBRANT_DATA.",
        "name that folder by --data-dir or CALIBRANT_DATA.",
    ),
}


@pytest.mark.parametrize("error", MESSAGES, ids=lambda error: str(error)[:40])
def test_a_message_speaks_python_to_some_and_options_to_others(error):
    python, options = MESSAGES[error]
    assert python in str(error)
    assert not re.search(r"(?<![\w-])--[a-z]", str(error))
    assert options in in_options(str(error))
    names = set(re.findall(r"\b([a-z_]+)=(?!=)", in_options(str(error))))
    assert not names & set(words._options())


def test_names_and_values_of_users_stay_as_they_are():
    for text in (
        "There is no column 'label=1' in 'clip=0.1.csv'. Its columns are: y_true, y_prob.",
        "column 'sql=\\'a\\'' must hold numbers",
        'No value of "it\'s by=x" has 20 rows, so it makes no groups.',
        "No such option: --clip=x",
        "Pass the rows' weights, x.label=1 and relabel=2.",
        "label == the event, level=4",
        "'a.csv' could not be read. DuckDB says: LINE 1: WHERE label=1",
    ):
        assert in_options(text) == text
    assert in_options("pos_label=True, soft=True: x=1, seed=-1.") == (
        "--pos-label True, --soft: x=1, --seed -1."
    )


def test_a_note_is_bounded_before_it_is_translated(monkeypatch):
    """A name without an end is looked at from each of its quotes on."""
    seen = []
    monkeypatch.setattr(output, "in_options", lambda text: seen.append(text) or in_options(text))
    monkeypatch.setattr(output, "say", seen.append)
    output.note(UserWarning("pass clip=: " + "'\\" * 10**5))
    assert all(len(text) < MOST_OF_MESSAGE + 20 for text in seen)
    assert seen[1].startswith("Note: pass --clip: ")


def test_sentences_that_are_replaced_are_said():
    source = "".join(_literals(path) for path in MODULES)
    for sentence in words._SENTENCES:
        said = sentence.replace("{'sex': sex}", "{{'sex': sex}}")
        assert sentence in source or said in source, sentence


def _literals(path):
    """Return the texts of a module that are no docstrings, those of one expression as one."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    bodies = [node.body for node in ast.walk(tree) if hasattr(node, "body")]
    documented = {
        body[0].value
        for body in bodies
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr)
    }
    return "\n".join(
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if node not in documented
    )


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_no_room_below_knows_an_option(path):
    known = set(words._options().values())
    text = path.read_text(encoding="utf-8")
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", text):
        assert option not in known
    assert not re.search(r"`calibrant \w+", text), "a command"


def test_notes_and_reports_of_a_command_speak_of_options(tmp_path):
    columns = [f"g{k}" for k in range(11)]
    rows = pd.DataFrame({"y": [0, 1] * 200, "p": [0.0, 1.0] * 200})
    for name in columns:
        rows[name] = ["a", "b"] * 200
    rows.to_csv(tmp_path / "perfect.csv", index=False)
    by = [word for name in columns for word in ("--by", name)]
    asked = ("audit", "perfect.csv", "--label", "y", "--prob", "p", *by)
    done = command(*asked, "--html", "r.html", "--markdown", "r.md", cwd=tmp_path)
    document = command(*asked, "--json", cwd=tmp_path).stdout
    pages = [(tmp_path / name).read_text(encoding="utf-8") for name in ("r.html", "r.md")]
    for text in (" ".join(shown.split()) for shown in (done.stdout, document, *pages)):
        assert "--crossed all audits all 55." in text
        assert "--method isotonic" in text
        assert not re.search(r"\b(clip|method|crossed)=", text)


def test_the_verdict_of_a_command_speaks_of_options(tmp_path):
    y_true, y_prob, _ = cb.simulate.overconfident().draw(3000, seed=1)
    rows = pd.DataFrame({"y": y_true.astype(int), "p": y_prob})
    rows.to_csv(tmp_path / "off.csv", index=False)
    asked = ("audit", "off.csv", "--label", "y", "--prob", "p", "--method", "fixed_design")
    asked += ("--max-error", 0.005)
    done = command(*asked, "--html", "r.html", "--markdown", "r.md", cwd=tmp_path)
    document = command(*asked, "--json", cwd=tmp_path).stdout
    pages = [(tmp_path / name).read_text(encoding="utf-8") for name in ("r.html", "r.md")]
    for text in (" ".join(shown.split()) for shown in (done.stdout, document, *pages)):
        assert re.search(r"no number of rows can prove with --method fixed(_|\\_)design", text)
        assert "method=" not in text
