"""What a class does not declare is not assumed: its answers come from its score alone."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankgauge import AP, RR, Binary, Measure, Unsupported, Wrapper, nDCG, v1
from rankgauge.arrays import Floats
from rankgauge.data.errors import MeasureError
from rankgauge.rankings.lists import Rankings


class SecondBest(Binary):
    """The best place is the second."""

    name = "SecondBest"
    examples = ("SecondBest",)

    def _score(self, lists: Rankings) -> Floats:
        weight = np.where(lists.ranks == 2, 1.0, 0.25 / lists.ranks)
        return lists.sum(np.where(lists.relevant(self.rel), weight, 0.0)) / 2


class Squared(type(AP)):  # type: ignore[misc]
    """A class that changes the score of one with many declarations."""

    name = "Squared"
    examples = ("Squared",)

    def _score(self, lists: Rankings) -> Floats:
        return (1 - super()._score(lists)) ** 2


@pytest.mark.parametrize("measure", [SecondBest(), SecondBest() @ 2, Squared(), Squared() @ 3])
def test_a_measure_that_declares_nothing_answers_as_its_score_says(measure: Measure) -> None:
    labels = [1, 0, 0, 1, 0]
    scores = [measure.score(order) for order in set(itertools.permutations(labels))]
    assert measure.ideal(labels) == max(scores)
    assert measure.worst(labels) == min(scores)
    assert measure.expected(labels) == pytest.approx(np.mean(scores), abs=1e-12)
    assert measure.variance(labels) == pytest.approx(np.var(scores), abs=1e-12)
    ranking = [1, -1, 0, -1]
    labelled = [[1, a, 0, b] for a in (0, 1) for b in (0, 1)]
    scores = [measure.score(ranked) for ranked in labelled]
    assert measure.bounds(ranking) == (min(scores), max(scores))


def test_a_measure_that_declares_nothing_calls_nothing_exact_but_its_score() -> None:
    for measure in (SecondBest(), Squared()):
        known = {question for question, how in measure.answers().items() if how == "exact"}
        assert known == {"score"}
        with pytest.raises(Unsupported, match="too many to enumerate"):
            measure.ideal([1, 0] * 9)
        with pytest.raises(Unsupported, match="too many to enumerate"):
            measure.bounds([-1] * 40)


def test_a_share_of_the_best_is_only_of_a_measure_that_nothing_takes_beyond_it() -> None:
    with pytest.raises(MeasureError, match="does not suit v1"):
        v1(SecondBest())


def test_a_wrapper_of_ones_own_is_not_what_the_measure_inside_is() -> None:
    class Turned(Wrapper):
        name = "turned"
        examples = ("turned(AP)",)

        def score_each(self, rankings: Rankings) -> Floats:
            return 1 - self.measure.score_each(rankings)

    turned = Turned(AP)
    assert turned.ideal([1, 0, 0]) == 1 - AP.worst([1, 0, 0])
    assert turned.answers()["ideal"] == turned.answers()["expected"] == "enumerated"


def test_a_class_that_only_adds_a_name_keeps_what_is_declared() -> None:
    class Renamed(type(RR)):  # type: ignore[misc]
        name = "Renamed"

    assert Renamed().answers() == RR.answers()
    assert Renamed().swap_monotone


def test_registered_measures_say_what_they_are() -> None:
    for measure in (AP, RR, nDCG):
        assert measure.swap_monotone
        assert measure.ideal_is_best
        assert measure.answers()["bounds"] == "exact"
