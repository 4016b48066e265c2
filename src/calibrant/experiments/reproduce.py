"""Reproduce: run experiments of the paper, judge what it claims, and write it all down."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from calibrant._progress import busy
from calibrant._writing import write_whole
from calibrant.experiments import figures, trials
from calibrant.experiments.claims import claims_of
from calibrant.experiments.classifiers import CLASSIFIERS
from calibrant.experiments.page import PICTURES, html_of, tables_of
from calibrant.experiments.pictures import pictures_of, rendered
from calibrant.experiments.run import PARTS, Part, Study, versions
from calibrant.experiments.table1 import table1


def reproduce(study: Study, part: Part, command: str) -> dict[str, Any]:
    """Run one experiment or all, and return their numbers and verdicts.

    Parameters
    ----------
    study : Study
        Settings, and where intermediate results are kept.
    part : str
        "table1", "figure1", "figure2", "figure3" or "all".
    command : str
        How the run was started, for the record.
    """
    results: dict[str, Any] = {
        "schema": "calibrant.reproduction",
        "schema_version": 1,
        "settings": {
            "part": part,
            "seed": study.seed,
            "runs": study.runs,
            "quick": study.quick,
            "command": command,
        },
        "versions": {"Python": platform.python_version(), **versions()},
    }
    wanted: Sequence[str] = PARTS[:-1] if part == "all" else (part,)
    if "table1" in wanted:
        results["table1"] = table1(study)
    if "figure1" in wanted:
        results["figure1"] = figures.figure1(study)
    if "figure2" in wanted or "figure3" in wanted:
        results |= _from_trials(study, wanted, everything=part == "all")
    results["claims"] = [claim.to_dict() for claim in claims_of(results)]
    return results


def _names() -> set[str]:
    """Return every name that a run may write."""
    tables = {"table1", "table1-grid", "figure1", "figure2", "figure3", "figure3-curves"}
    csvs = {f"{name}.csv" for name in (*tables, "conjecture", "beyond")}
    return csvs | {f"{name}.{kind}" for name in PICTURES for kind in ("png", "svg")}


def _from_trials(study: Study, wanted: Sequence[str], *, everything: bool) -> dict[str, Any]:
    """Run the trials that figures 2 and 3 need, or those of all classifiers and data sets."""
    with busy("Reading the data sets"):
        data = trials.paper_data(study)
    tried = trials.trials(study, data, paper_only=not everything, what="Trials")
    paper = [one for one in tried if one["paper"]]
    draw: dict[str, Callable[[figures.Trials], Any]] = {
        "figure2": figures.figure2,
        "figure3": figures.figure3,
    }
    found: dict[str, Any] = {name: make(paper) for name, make in draw.items() if name in wanted}
    if everything:
        others = trials.other_data(study)
        tried += trials.trials(study, others, paper_only=False, what="Trials on more data sets")
        found["conjecture"] = figures.conjecture(tried)
        found["beyond"] = figures.beyond(tried)
        found["not_installed"] = [one.name for one in CLASSIFIERS if not one.installed]
    return found


def write_results(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write numbers, pictures and the page to a folder, in place of an earlier run's."""
    drawn = pictures_of(results)
    pngs = {name: rendered(figure, "png") for name, figure in drawn.items()}
    contents: dict[str, str | bytes] = {
        "reproduction.json": json.dumps(results, indent=1, allow_nan=False) + "\n",
        **{f"{one.name}.csv": one.csv() for one in tables_of(results)},
        **{f"{name}.png": png for name, png in pngs.items()},
        **{f"{name}.svg": rendered(figure, "svg") for name, figure in drawn.items()},
        "reproduction.html": html_of(results, pngs),
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    for name in _names() - contents.keys():  # or files of two runs would stand side by side
        left = folder / name
        if left.is_file() and not left.is_symlink():  # anything else no run has written
            left.unlink()
    return [folder / name for name in contents]
