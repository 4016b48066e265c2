"""Calibrators as SQL, in the engines that they are for."""

import numpy as np
import pandas as pd
import pytest
import sqlalchemy as sa

from reference import servers
from reference.engines import started
from reference.exported import CALIBRATORS, hard_scores

pytestmark = pytest.mark.engines
each = pytest.mark.parametrize("fitted", CALIBRATORS.values(), ids=CALIBRATORS)


@each
@pytest.mark.xdist_group("postgresql")
def test_in_postgres(fitted):
    scores = hard_scores(fitted.function_)
    engine = sa.create_engine(started(servers.postgres).url, poolclass=sa.NullPool)
    with engine.connect() as connection:
        connection.execute(sa.text("CREATE TEMP TABLE scores (row int, p float8)"))
        rows = [{"row": row, "p": score} for row, score in enumerate(scores.tolist())]
        connection.execute(sa.text("INSERT INTO scores VALUES (:row, :p)"), rows)
        connection.execute(sa.text("SET jit = off"))  # else long ones take minutes to compile
        query = f"SELECT row, {fitted.to_sql('p', 'postgres')} FROM scores"
        answer = connection.exec_driver_sql(query.replace("%", "%%")).fetchall()
    found = np.array([value for _, value in sorted(answer)])
    assert np.abs(found - fitted.predict(scores)).max() <= 1e-12


@each
@pytest.mark.xdist_group("spark")
def test_in_spark(fitted, tmp_path):
    scores = hard_scores(fitted.function_)
    session, file = started(servers.spark), tmp_path / "scores.parquet"
    pd.DataFrame({"row": np.arange(len(scores)), "p": scores}).to_parquet(file, index=False)
    answer = session.read.parquet(str(file)).selectExpr(
        "row", fitted.to_sql("p", "spark") + " AS q"
    )
    table = answer.toArrow().to_pandas().sort_values("row")
    assert np.abs(table["q"].to_numpy() - fitted.predict(scores)).max() <= 1e-12
