"""Expressions by definition: one node after another, with whole arrays and nothing shared."""

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit, logit

from calibrant.core.expressions import LABEL, SCORE, Expression, when

_MEANING = {
    "+": lambda one, other: one + other,
    "-": lambda one, other: one - other,
    "*": lambda one, other: one * other,
    "/": lambda one, other: one / other,
    "==": lambda one, other: one == other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
    "and": lambda one, other: one & other,
    "or": lambda one, other: one | other,
    "not": lambda one: ~one,
    "when": np.where,
    "squared": lambda one: one**2,
    "log": lambda one: np.log(one, out=np.zeros_like(one), where=one > 0),
    "ln": np.log,
    "exp": np.exp,
    "odds": logit,
    "sigmoid": expit,
}


def evaluated(one, columns):
    """Return what an expression is worth on every row."""
    if not isinstance(one, Expression):
        return one
    if one.what == "column":
        return columns[one.parts[0]]
    if one.what == "value":
        return one.parts[0]
    return _MEANING[one.what](*(evaluated(part, columns) for part in one.parts))


@st.composite
def expressions(draw):
    """Draw expressions of the score and the label that share parts with one another."""
    numbers = [SCORE, LABEL]
    for _ in range(draw(st.integers(1, 6))):
        one, other = (draw(st.sampled_from(numbers)) for _ in range(2))
        made = {
            "+": lambda a, b: a + b,
            "-": lambda a, b: a - b,
            "1 -": lambda a, _: 1 - a,
            "*": lambda a, b: a * b,
            "1 /": lambda a, _: 1 / (a.squared() + 1),
            "squared": lambda a, _: a.squared(),
            "log": lambda a, _: a.log(),
            "sigmoid": lambda a, _: a.sigmoid(),
            "within": lambda a, _: a.within(-0.5, 0.75),
            "when": lambda a, b: when((a < b) | ~(a <= 0.5), a, 0.25),
            "if both": lambda a, b: when((a > 0.25) & (b >= 0.25), b, a),
        }[
            draw(
                st.sampled_from(
                    [
                        "+",
                        "-",
                        "1 -",
                        "*",
                        "1 /",
                        "squared",
                        "log",
                        "sigmoid",
                        "within",
                        "when",
                        "if both",
                    ]
                )
            )
        ](one, other)
        numbers.append(made)
    return draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=4))


def rows_of(seed, rows=40):
    """Draw columns of scores, 0 and 1 among them, and labels."""
    rng = np.random.default_rng(seed)
    score = rng.random(rows)
    score[:2] = 0.0, 1.0
    return {"f": score, "y": rng.integers(0, 2, rows).astype(float)}
