"""A real PostgreSQL: what it is asked, what leaves it, and what nobody is told."""

import json
import os
import subprocess
import sys
import traceback
import uuid

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

import calibrant as cb
from calibrant.data.engine.database import Database
from calibrant.errors import InputError
from reference import servers
from reference.engines import postgres as loaded
from reference.engines import same, started

pytestmark = pytest.mark.engines
PASSWORD = "s3cr3t@/pw"
ESCAPED = "s3cr3t%40%2Fpw"


def sample(rows=20_000, seed=0):
    rng = np.random.default_rng(seed)
    prob = rng.beta(0.5, 1.5, rows)
    label = (rng.random(rows) < prob**1.2).astype(int)
    return pd.DataFrame({"y": label, "p": prob, "g": rng.choice(["a", "A", "b"], rows)})


TABLE = sample()


@pytest.fixture(scope="module")
def server():
    return started(servers.postgres)


@pytest.fixture(scope="module")
def engine(server):
    made = sa.create_engine(server.url, poolclass=sa.NullPool)
    loaded(TABLE, None)  # the server runs
    with made.begin() as connection:
        connection.execute(sa.text("CREATE SCHEMA risk"))
        connection.execute(sa.text("CREATE TABLE risk.scores (y bigint, p float8, g text)"))
        rows = TABLE.to_dict("records")
        connection.execute(sa.text("INSERT INTO risk.scores VALUES (:y, :p, :g)"), rows)
        connection.execute(sa.text("CREATE VIEW risk.seen AS SELECT y, p FROM risk.scores"))
        connection.execute(sa.text(f"CREATE ROLE clerk LOGIN PASSWORD '{PASSWORD}'"))
        connection.execute(sa.text("GRANT USAGE ON SCHEMA risk TO clerk"))
    return made


EXPECTED = cb.audit(TABLE["y"], TABLE["p"]).to_dict()


def audited(table):
    return cb.audit(table, label="y", prob="p").to_dict()


def test_a_table_a_view_and_a_query(engine):
    for name in ("risk.scores", "risk.seen"):
        same(audited(cb.sql_table(engine, name)), EXPECTED)
    queries = [
        "SELECT * FROM risk.scores",
        "SELECT * FROM risk.scores; -- all of them",
        "WITH all_rows AS (SELECT * FROM risk.scores) SELECT y, p FROM all_rows -- once",
        "SELECT y::int AS y, p FROM risk.scores WHERE g <> ':x' AND g NOT LIKE '%;'",
        "(SELECT y, p FROM risk.scores)",
    ]
    for query in queries:
        same(audited(cb.sql_table(engine, query=query)), EXPECTED)


def test_an_engine_a_connection_and_a_url(engine, server):
    same(audited(cb.sql_table(server.url, "risk.scores")), EXPECTED)
    same(audited(cb.sql_table(sa.make_url(server.url), "risk.scores")), EXPECTED)
    with engine.connect() as connection:
        same(audited(cb.sql_table(connection, "risk.scores")), EXPECTED)
        assert not connection.closed


@pytest.mark.parametrize(
    "query",
    [
        "DELETE FROM risk.scores",
        "SELECT 1; DROP TABLE risk.scores",
        "UPDATE risk.scores SET p = 0",
        "",
        "risk.scores",
    ],
)
def test_only_a_select_runs(engine, query):
    with pytest.raises(InputError, match="must be one SELECT"):
        cb.sql_table(engine, query=query)


@pytest.mark.parametrize("driver", ["psycopg", "psycopg2"])
def test_no_text_closes_the_query_around_it(engine, server, driver):
    """psycopg2 sends whatever it is given as many statements."""
    url = server.url.replace("+psycopg:", f"+{driver}:")
    after = ") AS t; COMMIT; DELETE FROM risk.scores; SELECT * FROM (SELECT 1 AS "
    for query in (
        rf"SELECT y, p, E'\'' AS a FROM risk.scores{after}b --'",
        rf"SELECT y, p, 'a\'' AS a FROM risk.scores{after}b --'",
        f"SELECT y, p, 1 AS a$$ FROM risk.scores{after}b$$",
        f"SELECT y, p FROM risk.scores{after}b",
        "WITH gone AS (DELETE FROM risk.scores RETURNING *) SELECT * FROM gone",
        "SELECT * FROM risk.scores FOR UPDATE",
    ):
        with pytest.raises(InputError, match="must be one SELECT"):
            cb.sql_table(url, query=query)
    same(audited(cb.sql_table(url, "risk.scores")), EXPECTED)
    odd = cb.sql_table(url, query='SELECT y, 0 AS p, p AS "p:1" FROM risk.scores -- p:1')
    found = cb.audit(odd, label="y", prob="p:1").to_dict()
    assert found["calibration_error"] == pytest.approx(EXPECTED["calibration_error"], abs=1e-12)


def test_a_query_that_writes_is_refused_by_the_server(engine):
    query = "SELECT y, p, setval('counter', 7) FROM risk.scores"
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE SEQUENCE counter"))
    with pytest.raises(InputError, match=r"PostgreSQL says: .*read-only transaction"):
        audited(cb.sql_table(engine, query=query))


def test_all_passes_see_the_same_rows(engine):
    table = loaded(TABLE, None)
    name = str(table._source.name)
    data = cb.Predictions(table, label="y", prob="p")
    with engine.begin() as connection:
        connection.execute(sa.text(f"INSERT INTO {name} SELECT 0, 1.0, 'new' FROM {name}"))
    found = cb.audit(data, by=["g"]).to_dict()
    expected = cb.audit(TABLE, label="y", prob="p", by=["g"]).to_dict()
    for part in ("data", "calibration_error", "worst_intervals", "groups"):
        same(found[part], expected[part])
    assert len(cb.Predictions(table, label="y", prob="p")) == 2 * len(TABLE)  # asked anew


def connections(engine):
    with engine.connect() as connection:
        query = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
        return connection.execute(sa.text(query)).scalar()


def test_the_connection_ends_with_the_table(engine, server):
    table = cb.sql_table(server.url, "risk.scores")
    table.head(1).fetch()
    assert connections(engine) >= 1
    before = connections(engine)
    del table
    assert connections(engine) == before - 1


def test_few_rows_leave_the_database(engine, monkeypatch):
    fetched, ask = [], Database.fetch

    def watched(self, query):
        names, columns = ask(self, query)
        packed = [
            column[0] for column in columns if column[:1].tolist() and type(column[0]) is bytes
        ]
        fetched.append(len(packed[0]) // 8 if packed else len(columns[0]))
        return names, columns

    monkeypatch.setattr(Database, "fetch", watched)
    large = loaded(sample(400_000), None)
    cb.calibration_error(cb.Predictions(large, label="y", prob="p"))
    *_, tally, opened = fetched
    assert tally <= 2 << 14  # two for each cell, however many rows there are
    assert opened < 0.02 * 400_000


@pytest.mark.parametrize("weight", [None, "w"])
def test_scores_whose_squares_are_no_doubles(weight):
    rng = np.random.default_rng(1)
    prob = np.append(10.0 ** rng.uniform(-320, -1, 500), [0.0, 5e-324, 1.0])
    frame = pd.DataFrame({"y": (rng.random(503) < 0.3).astype(int), "p": prob, "w": 0.25})
    found = cb.audit(loaded(frame, None), label="y", prob="p", weight=weight).to_dict()
    same(found, cb.audit(frame, label="y", prob="p", weight=weight).to_dict())


def test_a_server_that_writes_doubles_short(engine, server):
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE ROLE brief LOGIN PASSWORD 'brief1234' IN ROLE auditor"))
        connection.execute(sa.text("ALTER ROLE brief SET extra_float_digits = 0"))
        connection.execute(sa.text("ALTER ROLE brief SET datestyle = 'German'"))
    table = cb.sql_table(server.url_of("brief", "brief1234"), "risk.scores")
    same(audited(table), EXPECTED)
    assert len(cb.Predictions(table, label="y", prob="p").source.rows().score) == len(TABLE)
    fetched = np.sort(cb.Predictions(table, label="y", prob="p").source.rows().score)
    assert (fetched == np.sort(TABLE["p"])).all()


def test_texts_that_a_collation_takes_for_the_same(engine):
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', "
                "deterministic = false)"
            )
        )
        connection.execute(sa.text('CREATE TABLE loose (y int, p float8, g text COLLATE "nocase")'))
        connection.execute(sa.text("INSERT INTO loose SELECT * FROM risk.scores"))
    found = cb.audit(cb.sql_table(engine, "loose"), label="y", prob="p", by=["g"])
    expected = cb.audit(TABLE, label="y", prob="p", by=["g"])
    same(found.to_dict(), expected.to_dict())
    assert {finding.group["g"] for finding in found.groups} == {"a", "A", "b"}


# what nobody is told


def said(url, secret=PASSWORD, **options):
    """Return the refusal, and check that no form of a password is in it or behind it."""
    asked = {"table": "risk.scores", "label": "y", **options}
    with pytest.raises(InputError) as caught:
        cb.audit(cb.sql_table(url, asked["table"]), label=asked["label"], prob="p")
    shown = "".join(traceback.format_exception(caught.value))
    assert str(caught.value) in shown
    for form in (secret, ESCAPED, "s3cr3t", "%2Fpw"):
        assert form not in shown
    return str(caught.value)


def test_errors_keep_the_engines_words_and_no_password(engine, server):
    right = server.url_of("clerk", ESCAPED)
    assert "PostgreSQL says: permission denied for table scores" in said(right)
    assert 'relation "risk.nothing" does not exist' in said(right, table="risk.nothing")
    wrong = server.url_of("clerk", "wrong-s3cr3t")
    assert 'password authentication failed for user "clerk"' in said(wrong, "wrong-s3cr3t")
    elsewhere = right.replace(f":{server.port}/", ":1/")
    assert "The table could not be read. PostgreSQL says: connection" in said(elsewhere)
    nowhere = right.replace("127.0.0.1", "no-such-host.invalid")
    assert "PostgreSQL says: " in said(nowhere)
    assert 'database "gone" does not exist' in said(server.url_of("clerk", ESCAPED, "gone"))
    with engine.begin() as connection:
        connection.execute(sa.text("GRANT SELECT ON risk.scores TO clerk"))
    assert "There is no column 'Y'" in said(right, label="Y")
    with engine.begin() as connection:
        connection.execute(sa.text("REVOKE SELECT ON risk.scores FROM clerk"))


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql+psycopg://clerk:{PASSWORD}@127.0.0.1:1/postgres",  # marks not escaped
        f"postgresql+psycopg://clerk@127.0.0.1:1/postgres?password={ESCAPED}",
        f"postgresql+psycopg://clerk:{ESCAPED}@127.0.0.1:port/postgres",
        f"postgresql+psycopg//clerk:{ESCAPED}@127.0.0.1/postgres",
        f"postgresql+psycopg://clerk:{ESCAPED}@127.0.0.1:1/postgres?sslmode={ESCAPED}",
        f"postgresql+nothing://clerk:{ESCAPED}@127.0.0.1/postgres",
        f"nothing://clerk:{ESCAPED}@127.0.0.1/postgres",
        f"mysql+nodriver://clerk:{ESCAPED}@127.0.0.1/postgres",
        f"mysql+pymysql://clerk:{ESCAPED}@127.0.0.1/postgres",
    ],
)
def test_urls_that_cannot_work_show_no_password(url):
    said(url)


def test_a_connection_that_is_lost(engine, server):
    table = cb.sql_table(server.url_of(server.user, server.password), "risk.scores")
    with engine.begin() as connection:
        query = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE state LIKE 'idle in transaction%' AND pid <> pg_backend_pid()"
        )
        connection.execute(sa.text(query))
    with pytest.raises(InputError, match="PostgreSQL says: terminating connection"):
        audited(table)


def test_a_table_answers_again_after_an_error(server):
    table = cb.sql_table(server.url, query="SELECT y, p, 1 / (y - y) AS q FROM risk.scores")
    with pytest.raises(InputError, match="PostgreSQL says: division by zero"):
        cb.audit(table, label="y", prob="q")
    same(audited(table), EXPECTED)


def test_a_query_that_takes_too_long(engine):
    with engine.connect() as connection:
        connection.execute(sa.text("SET statement_timeout = 50"))
        query = "SELECT y, p FROM risk.scores, pg_sleep(1)"
        with pytest.raises(InputError, match="PostgreSQL says: canceling statement due to"):
            audited(cb.sql_table(connection, query=query))


def calibrant(*arguments, cwd, **environment):
    return subprocess.run(
        [sys.executable, "-m", "calibrant", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, **environment},
        check=False,
    )


@pytest.fixture(scope="module")
def clerk(engine, server):
    """A user who may read, and whose password nobody may see."""
    name = f"reader_{uuid.uuid4().hex[:6]}"
    with engine.begin() as connection:
        connection.execute(sa.text(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'"))
        connection.execute(sa.text(f"GRANT USAGE ON SCHEMA risk TO {name}"))
        connection.execute(sa.text(f"GRANT SELECT ON risk.scores TO {name}"))
    return server.url_of(name, ESCAPED)


COLUMNS = ("--label", "y", "--prob", "p")


def check_silent(folder, *texts):
    for text in (*texts, *(file.read_text() for file in folder.iterdir())):
        assert "s3cr3t" not in text
        assert "reader_" not in text


def test_the_command_line_asks_the_database(clerk, tmp_path):
    reports = ("--html", "report.html", "--markdown", "report.md")
    asked = ("--url", clerk, "--table", "risk.scores", *COLUMNS)
    done = calibrant("audit", *asked, "--by", "g", *reports, "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["calibration_error"] == pytest.approx(EXPECTED["calibration_error"], abs=1e-12)
    assert "risk.scores" in found["provenance"]["command"]
    check_silent(tmp_path, done.stdout, done.stderr)
    done = calibrant("calibrate", *asked, "-o", "c.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    check_silent(tmp_path, done.stdout, done.stderr)


def test_the_address_may_be_in_the_environment(clerk, tmp_path):
    query = "SELECT y, p, p * p AS q FROM risk.scores"
    asked = ("compare", "--url", "env:SCORES", "--sql", query, "--label", "y")
    done = calibrant(*asked, "--prob", "p", "--prob", "q", "--json", cwd=tmp_path, SCORES=clerk)
    assert done.returncode == 0, done.stderr
    expected = cb.compare(TABLE.assign(q=TABLE["p"] ** 2), label="y", probs=["p", "q"])
    same(json.loads(done.stdout), json.loads(json.dumps(expected.to_dict())))
    done = calibrant(*asked, "--prob", "p", "--prob", "q", cwd=tmp_path)
    assert done.returncode == 2
    assert "environment variable SCORES, which is not set" in done.stderr


def test_refusals_of_the_command_line(clerk, server, tmp_path):
    wrong = clerk.replace("reader_", "nobody_")
    for url, table in ((wrong, "risk.scores"), (clerk, "risk.nothing"), (clerk[:-3], "x")):
        done = calibrant("audit", "--url", url, "--table", table, *COLUMNS, cwd=tmp_path)
        assert done.returncode == 2
        assert "PostgreSQL says: " in done.stderr
        assert "Traceback" not in done.stderr
        assert "s3cr3t" not in done.stdout + done.stderr
    done = calibrant("audit", clerk, *COLUMNS, cwd=tmp_path)
    assert done.returncode == 2
    assert "Give it as --url" in done.stderr
    check_silent(tmp_path, done.stdout, done.stderr)
    done = calibrant("audit", "--url", clerk, *COLUMNS, cwd=tmp_path)
    assert "either --table or --sql" in done.stderr
    done = calibrant("audit", "--table", "risk.scores", *COLUMNS, cwd=tmp_path)
    assert "say which one by --url" in done.stderr


def test_missing_values_and_named_events(engine, server, tmp_path):
    frame = pd.DataFrame(
        {"y": ["no", "yes", None, "yes"] * 50, "p": [0.1, 0.8, 0.5, None] * 50, "w": 1.0}
    )
    table = loaded(frame, None)
    name = str(table._source.name)
    asked = ("audit", "--url", server.url, "--table", name, *COLUMNS, "--json")
    done = calibrant(*asked, "--pos-label", "yes", cwd=tmp_path)
    assert done.returncode == 2
    assert "--drop-missing" in done.stderr
    done = calibrant(*asked, "--pos-label", "yes", "--drop-missing", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["data"]["dropped"] == 100
    assert found["data"]["rows"] == 100


# a user's own connection is left as it was


def test_a_transaction_of_ones_own(engine):
    with engine.connect() as connection:
        same(audited(cb.sql_table(connection, "risk.scores")), EXPECTED)
        assert not connection.in_transaction()
        with connection.begin():
            connection.execute(sa.text("CREATE TEMP TABLE mine (y int)"))
            with pytest.raises(InputError, match="does not exist"):
                cb.sql_table(connection, "nothing")
            connection.execute(sa.text("INSERT INTO mine VALUES (1)"))
            same(audited(cb.sql_table(connection, "risk.scores")), EXPECTED)
        assert connection.execute(sa.text("SELECT count(*) FROM mine")).scalar() == 1


@pytest.mark.parametrize("setting", ["extra_float_digits = 0", "datestyle = 'German'"])
def test_a_connection_that_loses_digits_is_refused(engine, setting):
    with engine.connect() as connection:
        connection.execute(sa.text(f"SET {setting}"))
        with pytest.raises(InputError, match="values lose something on their way"):
            cb.sql_table(connection, "risk.scores")


def test_an_audit_keeps_no_connection(engine, server, tmp_path):
    before = connections(engine)
    found = cb.audit(cb.sql_table(server.url, "risk.scores"), label="y", prob="p")
    assert connections(engine) == before
    found.to_html(tmp_path / "report.html")  # asks again
    assert connections(engine) == before
    with pytest.raises(InputError):
        cb.sql_table(server.url, "nothing")
    assert connections(engine) == before


def test_rows_that_change_in_between(engine):
    with engine.begin() as connection:
        connection.execute(sa.text("CREATE TABLE moving AS SELECT * FROM risk.scores"))
    with engine.connect() as connection:
        data = cb.Predictions(cb.sql_table(connection, "moving"), label="y", prob="p")
        with engine.begin() as other:
            other.execute(sa.text("UPDATE moving SET y = 1 - y"))
        with pytest.raises(InputError, match="changes while it is read"):
            cb.calibration_error(data)


def test_texts_with_colons_stay_as_they_are(engine):
    for text in (":new:", r"x\:yy", "a::b", ":x", "12:30:00", "%s", "%(x)s"):
        query = f"SELECT y, p FROM risk.scores WHERE g <> '{text}' AND '{text}' = '{text}'"
        assert len(cb.Predictions(cb.sql_table(engine, query=query), label="y", prob="p")) == 20_000
        query = f"SELECT '{text}' AS g, y, p FROM risk.scores LIMIT 1"
        assert cb.sql_table(engine, query=query).fetch()["g"].tolist() == [text]


def test_models_with_tiny_scores(engine):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"y": (rng.random(400) < 0.3).astype(int)})
    frame["p"], frame["q"] = 10.0 ** rng.uniform(-319, 0, (2, 400))
    found = cb.compare(loaded(frame, None), label="y", probs=["p", "q"])
    same(found.to_dict(), cb.compare(frame, label="y", probs=["p", "q"]).to_dict())
    soft = frame.assign(y=frame["q"])
    found = cb.audit(loaded(soft, None), label="y", prob="p").to_dict()
    same(found, cb.audit(soft["y"], soft["p"]).to_dict())
