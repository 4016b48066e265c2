"""Addresses: what is shown of them, and of any text that may hold one."""

import pytest

from calibrant.data import refusals
from calibrant.data.engine.addresses import (
    password_in,
    shown_url,
    url_from,
    without_secrets,
    words_without_secrets,
)
from calibrant.errors import InputError

SECRETS = {
    "postgresql+psycopg://u:S3cr3t@h/d": "postgresql+psycopg://h/d",
    "postgresql+psycopg://u:S3c@S3cr3t@h/d": "***",
    "postgresql://u:p%40S3cr3t@h:5432/d?sslpassword=S3cr3t": "postgresql://h:5432/d",
    "mssql+pyodbc:///?odbc_connect=PWD%3DS3cr3t": "mssql+pyodbc:///",
    "postgresql://u:S3cr3t my pass'wo\"rd@h/d": "postgresql://h/d",
    "postgresql://u:S3c?r@S3cr3t@h/d": "***",
    "env:SCORES": "env:SCORES",
    "env:postgresql://u:S3cr3t@h/d": "***",
    "S3cr3t": "***",
    "sqlite:///scores.db": "sqlite:///scores.db",
}


@pytest.mark.parametrize("url", SECRETS)
def test_addresses_are_shown_without_secrets(url):
    assert shown_url(url) == SECRETS[url]


@pytest.mark.parametrize(
    "text",
    [
        "no file 'postgresql+psycopg:/u:S3cr3t@h/d'",
        "--url postgresql://u:S3cr3t@h/d",
        "https://u:S3cr3t@h/scores.csv",
        "host=h password=S3cr3t user=u",
        "duckdb:///md:?motherduck_token=S3cr3t",
        "jdbc:postgresql://h/d?password=S3cr3t&user=u",
        "postgresql://u:my S3cr3t pass'wo\"rd@h/d is not there",
        "postgresql://my user:a S3cr3t@h/d",
        "two: https://u:S3cr3t@h/x and https://u:b S3cr3t@h/y",
        "host=h password='a S3cr3t b' user=u",
        'host=h password="a S3cr3t b" user=u',
        "password = 'it''s S3cr3t'",
        r"password='it\'s S3cr3t'",
        "ATTACH 'host=h password=''a S3cr3t b'' user=u' AS pg",
        "password='a S3cr3t that nothing closes",
        "password=a'b\"S3cr3t user=u",
        "DRIVER=x;PWD={a;}} S3cr3t};SERVER=h",
        "mssql+pyodbc:///?odbc_connect=DRIVER%3Dx%3BPWD%3DS3cr3t",
        "postgresql://h/d?sslpassword=my S3cr3t",
        "aws_secret_access_key=S3cr3t",
        "LINE 1: postgres_scan('host=h password=''my S3cr3t pw9...",
        'LINE 1: "password=""my S3cr3t pw9...',
        "host=h password='it's S3cr3t' user=u",
        "host=h password='my\nS3cr3t' user=u",
        "postgresql://u:my\nS3cr3t@h/d",
        "postgresql://h/d?password=my\nS3cr3t&user=u",
        "{'password': 'a S3cr3t'}",
    ],
)
def test_texts_are_shown_without_secrets(text):
    assert "S3cr3t" not in without_secrets(text)
    assert "***" in without_secrets(text)


def test_texts_without_secrets_stay_as_they_are():
    for text in (
        "preds/*.parquet",
        "SELECT a::int, b FROM 'x.csv' WHERE t = '1:2@3'",
        "SELECT * FROM 's3://b/x.parquet' WHERE t::date > '2020' AND mail LIKE '%@x'",
        "postgresql://user@h:5432/d",
        "a@b.c",
    ):
        assert without_secrets(text) == text


def test_nothing_of_a_query_with_a_password_is_quoted():
    said = "Parser Error: syntax error\n\nLINE 1: ...S3cr3t, b > > c\n   ^"
    assert words_without_secrets(said, "SELECT b > > c") == said
    found = words_without_secrets(said, "SELECT 'password=''a S3cr3t''', b > > c")
    assert found == "Parser Error: syntax error\n\n"


def test_only_the_secret_is_left_out():
    text = "FROM postgres_scan('host=h password=''a b'' user=u', 'public', 't')\nWHERE x = 1"
    assert without_secrets(text) == text.replace("''a b''", "***")
    assert without_secrets("x postgresql://u:a b@h/d y") == "x postgresql://***@h/d y"


#: What a pattern that goes back would read many times over.
PARTS = (":/", "@", ":", "/", "?", "&", "'", '"', "''", "\\'", " ", "\n", "password=", "token", "{")


@pytest.mark.parametrize("last", ["", "@", "'"])
@pytest.mark.parametrize("part", PARTS)
def test_any_text_is_read_once(part, last):
    """What is a million characters long would take days otherwise."""
    for other in ("", *PARTS):
        text = (part + other) * (1_000_000 // len(part + other) // len(PARTS)) + last
        assert len(without_secrets(text)) <= 2 * len(text) + 10


def test_passwords_are_found_where_marks_are_not_escaped():
    assert password_in("postgresql://u:p@/s s'w@h/d") == "p@/s s'w"
    assert password_in("postgresql://u:@h/d") == ""
    for url in ("postgresql://u@h/d", "sqlite:///x.db", "x", "postgresql://h:1/d", "a/b:c@d"):
        assert password_in(url) is None


def test_addresses_from_the_environment(monkeypatch):
    monkeypatch.setenv("SCORES", "sqlite://")
    assert url_from("env:SCORES") == "sqlite://"
    with pytest.raises(InputError, match="environment variable NOTHING, which is not set"):
        url_from("env:NOTHING")
    with pytest.raises(InputError) as caught:
        url_from("env:postgresql://u:S3cr3t@h/d")
    assert "S3cr3t" not in str(caught.value)


def test_the_refusal_of_an_address_survives_its_own_masking():
    words = str(refusals.url_unreadable())
    assert without_secrets(words) == words
