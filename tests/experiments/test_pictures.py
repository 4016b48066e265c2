"""Pictures of the reproduction, from results that are kept."""

import json
from pathlib import Path

import matplotlib as mpl
import pytest

from calibrant.experiments.pictures import pictures_of, rendered

RESULTS = json.loads(
    (Path(__file__).parents[2] / "docs" / "reproduction.json").read_text(encoding="utf-8")
)


def test_each_part_has_its_picture_and_no_other():
    assert set(pictures_of(RESULTS)) == {"figure1", "figure2", "figure3", "conjecture"}
    assert set(pictures_of({"figure2": RESULTS["figure2"]})) == {"figure2"}


def test_the_bars_are_as_long_as_the_errors():
    [figure] = pictures_of({"figure2": RESULTS["figure2"]}).values()
    lengths = [bar.get_width() for ax in figure.axes for bar in ax.patches]
    errors = [one["c_emp"]["mean"] for one in RESULTS["figure2"]]
    assert sorted(lengths) == pytest.approx(sorted(errors))


@pytest.mark.parametrize(("kind", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml")])
def test_a_picture_is_the_same_file_every_time_and_leaves_settings_alone(kind, start):
    before = dict(mpl.rcParams)
    one, other = (
        rendered(pictures_of({"figure1": RESULTS["figure1"]})["figure1"], kind) for _ in range(2)
    )
    assert one == other
    assert one.startswith(start)
    assert dict(mpl.rcParams) == before
