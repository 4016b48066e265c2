"""Statistics: their sums in one pass, and a reason in place of a value that there is not."""

import numpy as np
import pytest

import calibrant as cb
from calibrant.core.arrays import Sums
from calibrant.core.diagram import Diagram, everything, resolve
from calibrant.core.expressions import LABEL, SCORE
from calibrant.core.statistic import Statistic, values_of
from calibrant.data.predictions import data_of
from calibrant.errors import InputError, TallyHidesError

Y_TRUE, Y_PROB = np.array([0, 1, 1, 0, 1]), np.array([0.1, 0.6, 0.9, 0.3, 0.3])


class Counting:
    """A source that counts how often its rows are passed over for sums."""

    def __init__(self, source):
        self.source, self.passes = source, 0

    def __getattr__(self, name):
        return getattr(self.source, name)

    def total(self, sums, **numbers):
        self.passes += 1
        return self.source.total(sums, **numbers)


def known(_diagram, sums):
    return sums.known.tolist()


def summed(name, *each):
    return Statistic(name, known, sums=lambda _: Sums(*each))


WEIGHT = Statistic("the weight", lambda diagram, _: diagram.weight)
ONE = summed("one", SCORE)
TWO = summed("two", SCORE * LABEL, SCORE.squared())
HIDDEN = Statistic("the hidden one", lambda *_: 1.0, needs=everything)
BOUNDED = Statistic("the bounded one", lambda *_: 2.0, needs=everything, bounded=True)


def refusing(diagram, sums):
    raise InputError("not of such data")


REFUSING = Statistic("the refusing one", refusing)


def rows():
    source = Counting(cb.Predictions(Y_TRUE, Y_PROB).source)
    return source, Diagram(*source.start())


def test_each_statistic_gets_its_own_sums_of_one_pass():
    source, diagram = rows()
    found = values_of(source, diagram, TWO, WEIGHT, ONE)
    assert source.passes == 1
    two = [(Y_PROB * Y_TRUE).sum(), (Y_PROB**2).sum()]
    assert found == [pytest.approx(two), 5.0, [pytest.approx(Y_PROB.sum())]]


def test_without_sums_there_is_no_pass():
    source, diagram = rows()
    assert values_of(source, diagram, WEIGHT, BOUNDED) == [5.0, 2.0]
    assert source.passes == 0


def test_sums_may_depend_on_the_kind_of_labels():
    kinds = []
    asking = Statistic(
        "one", known, sums=lambda totals: kinds.append(totals.labels_binary) or Sums()
    )
    for labels in ([0, 1], [0.5, 1]):
        source = cb.Predictions(labels, [0.2, 0.4]).source
        values_of(source, Diagram(*source.start()), asking)
    assert kinds == [True, False]


def test_a_refusal_is_a_value_and_the_others_have_theirs():
    source, diagram = rows()
    refused, weight = values_of(source, diagram, REFUSING, WEIGHT)
    assert isinstance(refused, InputError)
    assert str(refused) == "not of such data"
    assert weight == 5.0


def test_other_errors_are_not_swallowed():
    source, diagram = rows()
    with pytest.raises(ZeroDivisionError):
        values_of(source, diagram, Statistic("a bug", lambda *_: 1 / 0))


def test_a_tally_gives_what_it_holds_and_names_what_it_hides():
    data = data_of(cb.Predictions(Y_TRUE, Y_PROB).tally(0))
    diagram = resolve(data.source, everything)
    hidden, bounded, weight, one = values_of(data.source, diagram, HIDDEN, BOUNDED, WEIGHT, ONE)
    assert (bounded, weight) == (2.0, 5.0)
    for found, name in ((hidden, "the hidden one"), (one, "one")):
        assert isinstance(found, TallyHidesError)
        assert found.what == name
        assert f"does not give {name} exactly" in str(found)


def test_sums_can_be_asked_for_step_by_step():
    def doubled(_diagram, sums):
        from calibrant.core.arrays import Sums

        return float(sums.source.total(Sums(SCORE * LABEL))[0] * 2)

    source, diagram = rows()
    [found] = values_of(source, diagram, Statistic("steps", doubled))
    assert found == pytest.approx(2 * (Y_PROB * Y_TRUE).sum())
    assert source.passes == 1
