"""What is asked of a certificate: checked when it is asked, and shared among statements."""

import numpy as np
import pytest

from calibrant.certificates.evidence import Evidence
from calibrant.certificates.specification import METHODS, CertificateSpec, chosen, formula
from calibrant.errors import InputError

EVIDENCE = Evidence(5000, 0.01, 0.01, 0.2, 0.2)


def test_statements_share_what_may_go_wrong():
    one, ten = CertificateSpec(confidence=0.9), CertificateSpec(confidence=0.9, statements=10)
    assert one.delta == pytest.approx(0.1)
    assert ten.delta == pytest.approx(0.01)


def test_a_confidence_of_single_precision_keeps_its_digits():
    assert type(CertificateSpec(confidence=np.float32(0.9)).confidence) is float


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"confidence": 1}, "confidence must be"),
        ({"method": "luck"}, "method must be one of auto"),
        ({"sided": "left"}, "sided must be one of"),
        ({"estimand": "patient"}, "estimand must be one of row, cluster"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_what_cannot_be_asked_is_refused_at_once(wrong, words):
    with pytest.raises(InputError, match=words):
        CertificateSpec(**wrong)


def test_the_choice_is_by_rows_and_whether_they_are_there():
    assert chosen("auto", 2999, rows_known=True) == "betting"
    assert chosen("auto", 3000, rows_known=True) == "certified"
    assert chosen("auto", 10, rows_known=False) == "certified"
    for method in set(METHODS) - {"auto"}:
        assert chosen(method, 10, rows_known=True) == method


@pytest.mark.parametrize("method", [one for one in METHODS if one not in {"auto", "betting"}])
def test_every_formula_bounds_what_was_measured(method):
    low, high = (formula(method)(EVIDENCE, delta, "upper") for delta in (0.5, 0.01))
    assert EVIDENCE.c_emp <= low.upper <= high.upper <= 1


def test_the_bound_as_printed_is_not_the_one_that_is_proved():
    proved, printed = (
        formula(one)(EVIDENCE, 0.05, "upper") for one in ("gao2017", "gao2017_printed")
    )
    assert printed.upper < proved.upper
