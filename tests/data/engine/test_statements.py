"""Statements: one SELECT, and nothing that a server could take for more."""

import logging

import pytest

from calibrant.data.engine.statements import one_select
from calibrant.errors import InputError

SELECTS = {
    "SELECT 1;": "SELECT 1",
    "SELECT 1; -- that is all": "SELECT 1",
    "(SELECT 1)": None,
    "SELECT 1 UNION ALL (SELECT 2)": None,
    "WITH a AS (SELECT 1) SELECT * FROM a": None,
    "VALUES (1, 2)": None,
    "SELECT y::int AS y FROM risk.scores WHERE g <> ':x' AND g NOT LIKE '%;'": None,
    "SELECT 'é', größe FROM x -- é;\n WHERE a = 'ü'": "SELECT 'é', größe FROM x\nWHERE a = 'ü'",
    "SELECT a->>'b', count(*) FILTER (WHERE c) FROM x WHERE a @> d": None,
    "SELECT '-- no comment', '/* nor this */', \"p:1\" FROM x": None,
    "SELECT 1 /* a /* b */ c */ + 1": "SELECT 1\n+ 1",
    "SELECT E'a\\n', U&'\\0041', 'c:\\x' FROM x": None,
    "SELECT substring(a from 1 for 2), extract(epoch FROM t) FROM x": None,
}


@pytest.mark.parametrize("query", SELECTS)
def test_a_select_is_sent_without_its_comments(query):
    assert one_select(query, "postgresql", "PostgreSQL") == (SELECTS[query] or query)


REFUSED = {
    "DELETE FROM x": "a DELETE",
    "SELECT 1; SELECT 2": "several statements",
    "SELECT 1; -- x\n;; DELETE FROM x": "several statements",
    "": "It is empty",
    "-- nothing": "It is empty",
    "scores": "one SELECT",
    "WITH a AS (DELETE FROM x RETURNING *) SELECT * FROM a": "a DELETE",
    "WITH a AS (UPDATE x SET a = 1 RETURNING *) SELECT * FROM a": "an UPDATE",
    "WITH a AS (INSERT INTO x VALUES (1) RETURNING *) SELECT * FROM a": "INTO",
    "SELECT * FROM (WITH a AS (DELETE FROM x RETURNING *) SELECT * FROM a) AS b": "a DELETE",
    "SELECT * INTO t FROM x": "INTO",
    "SELECT * FROM x FOR UPDATE": "a lock",
    "SELECT * FROM x FOR NO KEY UPDATE SKIP LOCKED": "one SELECT",
    "SELECT * FROM (SELECT * FROM x FOR SHARE) AS t": "a lock",
    "COPY x TO PROGRAM 'ls'": "a COPY",
    "CALL f()": "one SELECT",
    "SET x = 1": "one SELECT",
    "PRAGMA x": "one SELECT",
    "EXPLAIN ANALYZE SELECT 1": "one SELECT",
    "DO 'x'": "one SELECT",
    "VACUUM": "one SELECT",
    "CREATE TABLE a AS SELECT 1": "one SELECT",
    "SELECT 1) AS t; DELETE FROM x; SELECT * FROM (SELECT 1": "line 1, column 9",
    "SELECT 'a": "a quote or a bracket may be missing",
    "SELECT " + "(" * 5000 + "1" + ")" * 5000: "cannot be parsed",
    r"SELECT E'\'' AS a) AS t; DELETE FROM x; SELECT * FROM (SELECT 1 --'": "a backslash",
    r"SELECT 'a\') AS t; DELETE FROM x; --'": "a backslash",
    "SELECT 1 AS a$$) AS t; DELETE FROM x; SELECT * FROM (SELECT 1 AS b$$": "dollar signs",
    "SELECT $é$ ' $é$": "dollar signs",
    "SELECT 1 \0": "a NUL character",
    "SELECT 1 /*! INTO OUTFILE 'x' */": "that MySQL runs",
}


@pytest.mark.parametrize("query", REFUSED)
def test_anything_else_is_refused(query, caplog):
    with pytest.raises(InputError, match="must be one SELECT") as caught:
        one_select(query, "postgresql", "PostgreSQL")
    assert REFUSED[query] in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert not caplog.records


@pytest.mark.parametrize(
    ("kind", "query"),
    [
        ("mysql", "SELECT 5--3"),
        ("mysql", "SELECT 1 INTO OUTFILE 'x'"),
        ("mysql", "SELECT * FROM x LOCK IN SHARE MODE"),
        ("mysql", "SELECT /*+ SET_VAR(sql_mode='*/; DELETE FROM x; /*') */ 1"),
        ("mariadb", "SELECT 1 # x\n; DELETE FROM x"),
        ("mariadb", "SELECT 1 /*M! INTO OUTFILE 'x' */"),
        ("mssql", "SELECT * FROM x WITH (UPDLOCK)"),
        ("mssql", "SELECT * FROM x WITH (NOLOCK), z a WITH (SERIALIZABLE)"),
        ("mssql", "SELECT * FROM x (repeatableread)"),
        ("mssql", "SELECT * FROM x WITH (READCOMMITTEDLOCK)"),
        ("mssql", "SELECT * FROM x OPTION (TABLE HINT (x, UPDLOCK))"),
        ("mssql", "SELECT NEXT VALUE FOR x"),
        ("oracle", "SELECT q'[it's]' FROM dual"),
        ("bigquery", r"SELECT r'\'' FROM x"),
        ("duckdb", r"SELECT E'\'' FROM x"),
        ("firebird", "SELECT 1 # '\n; DELETE FROM x #'"),
        ("sqlite", "ATTACH 'x' AS y"),
    ],
)
def test_what_other_databases_would_read(kind, query):
    with pytest.raises(InputError, match="must be one SELECT"):
        one_select(query, kind, kind)


def test_marks_that_a_database_reads_in_one_way_only():
    for kind, query in {
        "sqlite": r"SELECT * FROM x WHERE a LIKE '%\%' ESCAPE '\'",
        "mssql": "SELECT [XLOCK], 'XLOCK' AS a FROM [my table] WITH (NOLOCK)",
        "mysql": "SELECT `a b` FROM x",
        "firebird": "SELECT a FROM x",
    }.items():
        assert one_select(query, kind, kind) == query


def test_semicolons_at_the_end_are_read_once():
    """What is copied for each of them would take minutes."""
    assert one_select("SELECT 1" + ";" * 10**5, "sqlite", "SQLite") == "SELECT 1"


def test_the_parser_speaks_again_afterwards(caplog):
    with pytest.raises(InputError):
        one_select("VACUUM x", "postgresql", "PostgreSQL")
    logging.getLogger("sqlglot").warning("heard")
    assert [record.message for record in caplog.records] == ["heard"]


@pytest.mark.parametrize("query", ["SELECT ? AS p", "SELECT :x AS p", "SELECT @x AS p"])
def test_parameters_are_refused_in_words(query):
    with pytest.raises(InputError, match="It holds a parameter"):
        one_select(query, "sqlite", "SQLite")
