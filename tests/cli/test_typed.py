"""The command as it was typed: no secret in it is ever shown."""

import json
import sys

import pytest

from calibrant.cli import main

URL = "postgresql+psycopg://u:S3cr3t@127.0.0.1:1/d"
SPACED = "postgresql+psycopg://u:my S3cr3t'wo\"rd@127.0.0.1:1/d"


@pytest.mark.parametrize(
    "words",
    [
        ("audit", URL),
        ("audit", "a.csv", URL),
        ("audit", "--sql", URL),
        ("audit", f"--url {URL}"),
        ("audit", "a.csv", "--method", URL),
        ("audit", "a.csv", "--by", URL),
        ("audit", "--url", URL),
        ("audit", f"--url={URL}", "--table", "t"),
        ("audit", "--url", "env:" + URL, "--table", "t"),
        ("plan", "--epsilon", "0.1", "--scores", URL),
        ("audit", "--url", "S3cr3t", "--table", "t"),
        ("audit", SPACED),
        ("audit", "a.csv", "--by", SPACED),
        ("audit", "--url", SPACED, "--table", "t"),
        ("audit", f"--url={SPACED}", "--table", "t"),
        ("audit", "--url", *SPACED.split(), "--table", "t"),
        ("audit", *f"--url={SPACED}".split(), "--table", "t"),
        ("audit", "--sql", "ATTACH 'password=''a S3cr3t'' host=h' AS x (TYPE postgres)"),
        ("audit", "--sql", "SELECT * FROM nothing('password=''a S3cr3t'' host=h')"),
    ],
)
def test_no_command_shows_a_password(words, tmp_path, monkeypatch, capsys):
    columns = () if words[0] == "plan" else ("--label", "y", "--prob", "p")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["calibrant", *words, *columns])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    output, error = capsys.readouterr()
    assert error.strip()
    assert "S3cr3t" not in output + error


def test_a_password_in_sql_is_not_reported(file, monkeypatch, capsys):
    query = "SELECT y, p, 'host=h password=''my S3cr3t'' user=u' AS c FROM scores"
    place = ["--url", f"sqlite:///{file}", f"--sql={query}"]
    asked = ["calibrant", "audit", *place, "--label", "y", "--prob", "p", "--json"]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 0
    shown = capsys.readouterr().out
    assert "S3cr3t" not in shown
    assert "password=*** user=u" in json.loads(shown)["provenance"]["command"]
