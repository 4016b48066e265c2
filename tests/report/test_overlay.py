"""Several models on one picture: each has a name and a look of its own."""

from itertools import pairwise

import numpy as np
import pytest

from calibrant.report.overlay import (
    Model,
    best_of,
    columns_of,
    lines_of,
    look_of,
    names_of,
)

MODELS = [Model("old", 0.04), Model("new", 0.004)]


def contrast(colour):
    """The contrast of a colour with white paper, as the WCAG define it."""
    parts = np.array([int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return 1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05)


def test_looks_differ_and_are_seen_on_white():
    looks = [look_of(model) for model in range(28)]
    assert len(set(looks)) == 28
    neighbours = pairwise(looks)
    assert all(a.colour != b.colour and a.dashes != b.dashes for a, b in neighbours)
    assert min(contrast(look.colour) for look in looks) > 2
    assert look_of(28) == look_of(0)


def test_every_model_has_a_name_of_its_own():
    assert names_of([None, None]) == ["model 1", "model 2"]
    assert names_of(["a", "a", "\x1b"]) == ["a", "a (2)", "\\x1b"]


def test_the_title_names_the_best():
    assert best_of(MODELS) == "new has the smallest calibration error of 2 models"


def test_each_line_says_which_model_it_is():
    curve = np.array([0.0, 1.0]), np.array([0.1, 0.2])
    lines = lines_of(MODELS, [curve, curve], "score", "observed")
    assert [line.model for line in lines] == [0, 1]
    assert [line.label for line in lines] == ["old, error 0.0400", "new, error 0.0040"]
    assert lines[1].says(0.5, 0.25) == "new, score 0.5000: observed 0.2500"


@pytest.mark.parametrize("sizes", [(1, 3), (2, 2)])
def test_the_numbers_of_all_models_are_one_table(sizes):
    found = columns_of(MODELS, [{"x": np.arange(float(size))} for size in sizes])
    assert found["model"] == ["old"] * sizes[0] + ["new"] * sizes[1]
    assert found["x"] == [*range(sizes[0]), *range(sizes[1])]
