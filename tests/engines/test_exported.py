"""Calibrators as SQL, in the engines that they are for."""

import numpy as np
import pandas as pd
import pytest

from reference import servers
from reference.engines import started
from reference.exported import CALIBRATORS, hard_scores

pytestmark = pytest.mark.engines
psycopg = pytest.importorskip("psycopg")
each = pytest.mark.parametrize("fitted", CALIBRATORS.values(), ids=CALIBRATORS)


@each
@pytest.mark.postgresql
def test_in_postgres(fitted):
    scores = hard_scores(fitted.function_)
    address = started(servers.postgres).url.replace("+psycopg", "")
    with psycopg.connect(address) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE scores (row int, p float8)")
        with cursor.copy("COPY scores FROM STDIN") as copy:
            for row in enumerate(scores.tolist()):
                copy.write_row(row)
        cursor.execute("SET jit = off")  # else long ones take minutes to compile
        cursor.execute(f"SELECT row, {fitted.to_sql('p', 'postgres')} FROM scores")
        answer = cursor.fetchall()
    found = np.array([value for _, value in sorted(answer)])
    assert np.abs(found - fitted.predict(scores)).max() <= 1e-12


#: Spark takes a second for each.
SOME = ("step", "step, many", "linear", "linear, tiny", "strict", "strict, two blocks", "histogram")
SOME += ("platt", "beta", "temperature", "venn_abers", "beta, steep", "platt, steep")


@pytest.mark.parametrize("fitted", [CALIBRATORS[name] for name in SOME], ids=SOME)
@pytest.mark.spark
def test_in_spark(fitted, tmp_path):
    scores = hard_scores(fitted.function_)
    session, file = started(servers.spark), tmp_path / "scores.parquet"
    pd.DataFrame({"row": np.arange(len(scores)), "p": scores}).to_parquet(file, index=False)
    answer = session.read.parquet(str(file)).selectExpr(
        "row", fitted.to_sql("p", "spark") + " AS q"
    )
    table = answer.toArrow().to_pandas().sort_values("row")
    assert np.abs(table["q"].to_numpy() - fitted.predict(scores)).max() <= 1e-12
