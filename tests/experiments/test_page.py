"""The page of the reproduction, from results that are kept: every number, and nothing run."""

import copy
import csv
import io
import json
from pathlib import Path

import pytest

from calibrant.experiments.page import headline, html_of, made, markdown_of, reading, tables_of

RESULTS = json.loads(
    (Path(__file__).parents[2] / "docs" / "reproduction.json").read_text(encoding="utf-8")
)
NAMES = {one.name: one for one in tables_of(RESULTS)}


def test_a_part_that_was_not_run_has_no_table():
    few = {name: RESULTS[name] for name in ("figure2", "claims", "settings", "versions")}
    assert len(tables_of(few)) == 1
    assert len(NAMES) > 5
    assert reading(few) == ""


@pytest.mark.parametrize("name", NAMES)
def test_tables_are_csv_that_gives_their_numbers_back(name):
    table = NAMES[name]
    columns, *rows = csv.reader(io.StringIO(table.csv()))
    assert columns == table.columns
    assert rows == [[str(cell) for cell in row] for row in table.rows]
    assert {len(row) for row in rows} == {len(columns)}


def test_the_bars_are_those_of_the_results():
    errors = [row[NAMES["figure2"].columns.index("c_emp")] for row in NAMES["figure2"].rows]
    assert errors == [one["c_emp"]["mean"] for one in RESULTS["figure2"]]


def test_the_headline_counts_the_verdicts():
    verdicts = [one["verdict"] for one in RESULTS["claims"] if not one["ours"]]
    said = headline(RESULTS)
    assert f"{verdicts.count('agrees')} of {len(verdicts)} statements hold up" in said
    quick = copy.deepcopy(RESULTS)
    quick["settings"]["quick"] = True
    assert "quick" in headline(quick)


def test_the_reading_is_the_one_that_the_numbers_support():
    assert f"-{RESULTS['table1']['supported']['exponent']:g}: within" in reading(RESULTS)


def test_page_and_markdown_show_every_claim_and_table():
    page, text = html_of(RESULTS, {}), markdown_of(RESULTS, {"figure2": "two.svg"})
    for one in RESULTS["claims"]:
        assert one["verdict"] in page
        assert one["verdict"] in text
    for table in NAMES.values():
        assert table.title in text
    assert "(two.svg)" in text
    for shown in (page, text):
        assert f"seed {RESULTS['settings']['seed']}" in shown
    assert RESULTS["settings"]["command"] in made(RESULTS)


def test_pictures_are_in_the_page_itself():
    page = html_of(RESULTS, {"figure1": b"\x89PNG"})
    assert page.count("data:image/png;base64,iVBORw==") == 1
