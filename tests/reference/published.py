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

#: R's reliabilitydiag: labels, scores, and (score, miscalibration, discrimination, uncertainty).
CORP = (
    [0, 0, 0, 1, 1, 1],
    [0.4, 0.3, 0.2, 0.1, 0.5, 0.9],
    {
        "brier": (0.2266667, 0.1016667, 0.125, 0.25),
        "log_loss": (0.6986228, 0.3237327, 0.3182571, 0.6931472),
    },
)

#: (source, labels in order of score, weights, fit)
PAV = [
    ("scikit-learn tests", [3, 7, 5, 9, 8, 7, 10], None, [3, 6, 6, 8, 8, 8, 10]),
    ("scikit-learn tests", [10, 0, 2], None, [4, 4, 4]),
    (
        "scikit-learn tests",
        [1, 41, 51, 1, 2, 5, 24],
        [1, 2, 3, 4, 5, 6, 7],
        [1, 13.95, 13.95, 13.95, 13.95, 13.95, 24],
    ),
]

#: The range of Brownian motion on [0, 1]: (r, P(range <= r)), and (r, P(range > r)) far out.
RANGE_CDF = [(1, 0.063365), (2, 0.818506), (3, 0.989201)]
RANGE_TAIL = [(6.78, 4.8e-11), (5.186, 8.6e-07)]
