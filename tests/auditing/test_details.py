"""What an audit finds later: from its rows, from a copy, and where its rows are gone."""

import copy
import pickle

import numpy as np
import pytest

import calibrant as cb


def rows(n=100_000):
    y_true, y_prob, _ = cb.simulate.overconfident().draw(n, seed=1)
    return y_true.copy(), y_prob.copy()


def test_a_copy_finds_what_the_audit_finds():
    found = cb.audit(*rows())
    for other in (copy.copy(found), copy.deepcopy(found)):
        assert other == found
        assert other.advice == found.advice
        assert other.to_json() == found.to_json()


def test_a_pickled_audit_is_the_same_result():
    found = cb.audit(*rows())
    other = pickle.loads(pickle.dumps(found))
    assert other == found
    assert other.summary == found.summary
    assert other.to_metrics() == found.to_metrics()
    assert other.question == found.question


@pytest.mark.parametrize("ask", [lambda a: a.curves, lambda a: a.advice, lambda a: a.to_html()])
def test_a_pickled_audit_says_that_its_rows_are_gone(ask):
    other = pickle.loads(pickle.dumps(cb.audit(*rows())))
    with pytest.raises(cb.InputError, match="pickled without its rows"):
        ask(other)


def test_what_was_asked_for_before_is_pickled_too():
    found = cb.audit(*rows())
    expected = found.to_json()
    assert pickle.loads(pickle.dumps(found)).to_json() == expected


def test_a_pickled_audit_holds_no_rows():
    assert b"ArraySource" not in pickle.dumps(cb.audit(*rows()))


def test_few_rows_are_all_in_the_diagram_and_need_no_source():
    found = cb.audit([0, 1, 0, 1], [0.1, 0.7, 0.2, 0.9])
    other = pickle.loads(pickle.dumps(found))
    assert other.to_json() == found.to_json()


def test_rows_that_were_changed_are_refused():
    y_true, y_prob = rows()
    found = cb.audit(y_true, y_prob)
    y_prob[:] = np.where(y_prob < 0.5, 0.9, y_prob)
    with pytest.raises(cb.InputError, match="have changed since"):
        _ = found.curves
