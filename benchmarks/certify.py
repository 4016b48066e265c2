"""What does a certificate cost, compared with the calibration error it is made from?

``make bench`` prints the table and writes it to benchmarks/certify.md.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import calibrant as cb
from calibrant.certificates import bounds
from calibrant.certificates.betting import betting
from calibrant.certificates.brownian import range_tail
from calibrant.certificates.evidence import counts_of, every_cell, evidence_of
from calibrant.certificates.testing import DRAWS, asymptotic_test
from calibrant.core.diagram import resolve
from calibrant.core.extremes import extremes_need
from measure import seconds, show


def once_measured(rows: int) -> Iterator[str]:
    """Cost of each method once the diagram is there: it must not grow with the rows."""
    y_true, y_prob, _ = cb.simulate.overconfident().draw(rows, seed=1)
    data = cb.Predictions(y_true, y_prob)
    diagram = resolve(data.source, extremes_need)
    measure = min(seconds(cb.calibration_error, (data,)) for _ in range(3))
    evidence = evidence_of(diagram)
    range_tail(2.0)  # imports scipy
    methods = {
        "certified": lambda: bounds.certified(evidence_of(diagram), 0.05),
        "certified, both": lambda: bounds.certified(evidence_of(diagram), 0.05, "both"),
        "band": lambda: bounds.band(evidence_of(diagram), 0.05),
        "asymptotic": lambda: bounds.asymptotic(evidence_of(diagram), 0.05, "both", p_value=0.0),
        "asymptotic test": lambda: asymptotic_test(diagram, evidence),
    }
    for name, method in methods.items():
        method()
        took = min(seconds(method, ()) for _ in range(5))
        yield f"| {rows:,} | {name} | {1e3 * took:.2f} | {1e3 * measure:.1f} |"


def table() -> Iterator[str]:
    yield "# What certificates cost"
    yield ""
    yield "Made by `make bench`. Methods that read sums cost the same whatever the rows; the last"
    yield "column is `calibration_error` on the same Predictions, whose first pass is done."
    yield ""
    yield "| rows | method | ms | calibration_error, ms |"
    yield "| --: | :-- | --: | --: |"
    for rows in (10**4, 10**6, 10**7):
        yield from once_measured(rows)
    yield ""
    yield "Those that look at each row:"
    yield ""
    yield "| rows | method | ms |"
    yield "| --: | :-- | --: |"
    for rows in (500, 4999, 10**5):
        y_true, y_prob, _ = cb.simulate.overconfident().draw(rows, seed=1)
        diagram = resolve(cb.Predictions(y_true, y_prob).source, every_cell)
        counts, evidence = counts_of(diagram, "a bet"), evidence_of(diagram)
        took = min(seconds(betting, (counts, evidence.c_emp, 0.05)) for _ in range(5))
        yield f"| {rows:,} | betting | {1e3 * took:.1f} |"
    # a small p-value takes all draws, and a large one stops early
    for law, rows in (
        (cb.simulate.overconfident(), 1999),
        (cb.simulate.calibrated(), 1999),
        (cb.simulate.calibrated(), 10**6),
        (cb.simulate.rare(1e-5), 10**6),
    ):
        data = cb.Predictions(*law.draw(rows, seed=1)[:2])
        draws = cb.calibration_test(data, method="exact").draws
        took = seconds(lambda data=data: cb.calibration_test(data, method="exact"), ())
        how = f"{law.name}, {draws:,} of {DRAWS:,} draws"
        yield f"| {rows:,} | exact test, {how} | {1e3 * took:,.0f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--save", type=Path, help="write the table to this file as well")
    options = parser.parse_args()
    np.seterr(all="raise", under="ignore")
    show(table(), options.save)


if __name__ == "__main__":
    main()
