"""A calibrator applied to a file, and what is in files and folders."""

import csv
from pathlib import Path

import duckdb

import calibrant as cb
from calibrant.calibrators.applying import apply_calibrator
from calibrant.simulate import overconfident

Y_TRUE, Y_PROB, _ = overconfident().draw(3000)
FITTED = cb.IsotonicCalibrator("linear").fit(Y_PROB, Y_TRUE)


def applied(file, output, fitted=FITTED, prob="p", **options):
    return apply_calibrator(fitted, file, Path(output), prob=prob, **options)


def cells(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def run(query):
    """Run a query on a connection of its own, which leaves nothing behind."""
    with duckdb.connect() as connection:
        return connection.execute(query).fetchall()


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())
