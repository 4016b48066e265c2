"""Inputs and answers that others have published."""

#: (source, scores, labels, weights, c_emp)
C_EMP = [
    ("MCGrad tests", [0.6, 0.8, 0.2, 0.4], [0, 1, 0, 1], None, 0.15),
    ("MCGrad tests", [0.6, 0.8, 0.2, 0.4], [1, 1, 1, 1], None, 0.5),
    ("MCGrad tests", [0.6, 0.8, 0.2, 0.4], [0, 1, 0, 0], None, 0.3),
    ("MCGrad tests, weights", [0.6, 0.8, 0.2, 0.4], [0, 1, 0, 0], [0.4, 0.3, 0.2, 0.1], 0.32),
    ("MCGrad tests, p1 below 0", [0, 0, 0, 0], [0, 1, 0, 0], None, 0.25),
    ("MCGrad tests", [1, 1, 1, 1], [0, 1, 0, 0], None, 0.75),
    ("ties pooled", [0.5] * 100, [0] * 50 + [1] * 50, None, 0.0),
    ("MAPIE's docstring, start included", [0.1, 0.9, 0.21, 0.9, 0.5], [0, 1, 0, 1, 0], None, 0.162),
]
