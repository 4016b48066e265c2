"""Results: what functions return, in a module of their own."""

import dataclasses
import inspect

import pytest

import calibrant as cb
from calibrant import results


@pytest.mark.parametrize("name", results.__all__)
def test_results_are_in_a_module_of_their_own(name):
    kind = getattr(results, name)
    assert inspect.isclass(kind)
    assert dataclasses.is_dataclass(kind)
    assert kind.__doc__
    assert name not in cb.__all__
    assert not hasattr(cb, name)


def test_results_lists_all_that_it_has():
    found = [name for name, one in vars(results).items() if inspect.isclass(one)]
    assert sorted(found) == sorted(results.__all__)


def test_what_functions_return_is_in_results():
    y_true, y_prob, _ = cb.simulate.overconfident().draw(500, seed=1)
    assert isinstance(cb.worst_interval(y_true, y_prob), results.Interval)
    assert isinstance(cb.certify(y_true, y_prob), results.Certificate)
    found = cb.audit(y_true, y_prob)
    assert isinstance(found.data, results.DataFacts)
    assert isinstance(found.measures, results.Measures)
    assert isinstance(found.provenance, results.Provenance)
