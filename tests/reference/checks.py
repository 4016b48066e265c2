"""Checks of scikit-learn that older releases of it get wrong."""

import sklearn

OLD = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 7)
MISTAKEN = "makes two classes by the first row, after it has shuffled one of two tables"


def mistaken(_estimator):
    """Return the checks that fail for every classifier of two classes, and why."""
    names = [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")]
    return dict.fromkeys(names, MISTAKEN) if OLD else {}
