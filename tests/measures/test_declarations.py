"""What a class does not declare is not assumed: its answers come from its score alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from laws.strategies import MEASURES
from rankgauge import (
    AP,
    RR,
    Binary,
    Measure,
    P,
    Unsupported,
    Wrapper,
    evaluate,
    nDCG,
    prefix_mean,
    v1,
    v2,
)
from rankgauge.core.arrays import Floats
from rankgauge.distance.maximized import med_of_lists
from rankgauge.errors import MeasureError
from rankgauge.rankings.lists import JudgedLabels, Rankings


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


class Turned:
    """A mixin that turns a score round."""

    def _score(self, lists: Rankings) -> Floats:
        return 1 - super()._score(lists)  # type: ignore[misc,no-any-return]


class TurnedAP(Turned, type(AP)):  # type: ignore[misc]
    name = "TurnedAP"
    examples = ("TurnedAP",)


class TurnedWhole(type(AP)):  # type: ignore[misc]
    """It changes the score at the other of the two places where there is one."""

    name = "TurnedWhole"
    examples = ("TurnedWhole",)

    def score_each(self, rankings: Rankings) -> Floats:
        return 1 - super().score_each(rankings)


class Renamed(TurnedAP):
    """A class that adds nothing to one that changes the score."""

    name = "Renamed"


NOTHING_DECLARED = [SecondBest(), Squared(), TurnedAP(), TurnedWhole(), Renamed()]


@pytest.mark.parametrize(
    "measure", [*NOTHING_DECLARED, SecondBest() @ 2, Squared() @ 3, TurnedAP() @ 2], ids=str
)
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
    for measure in NOTHING_DECLARED:
        known = {question for question, how in measure.answers().items() if how == "exact"}
        assert known == {"score"}
        with pytest.raises(Unsupported, match="too many to enumerate"):
            measure.ideal([1, 0] * 9)
        with pytest.raises(Unsupported, match="too many to enumerate"):
            measure.bounds([-1] * 40)


def test_a_share_of_the_best_is_only_of_a_measure_that_nothing_takes_beyond_it() -> None:
    with pytest.raises(MeasureError, match="cannot stand inside v1"):
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


class Halved(type(P)):  # type: ignore[misc]
    """A class that changes the score and says again what is true of it."""

    name = "Halved"
    examples = ("Halved@2",)
    swap_monotone = True

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists) / (1 + lists.judged.relevant(self.rel)[lists.query])


def test_a_binary_measure_that_says_again_what_it_is_has_exact_bounds() -> None:
    measure = Halved() @ 3
    assert measure.answers()["bounds"] == "exact"
    ranking = [-1, 1, -1]
    labelled = [measure.score([a, 1, b]) for a in (0, 1) for b in (0, 1)]
    assert measure.bounds(ranking) == (min(labelled), max(labelled))
    assert measure.bounds([-1] * 300) == (0.0, 0.25)


def test_what_is_declared_beside_a_new_score_is_of_that_score() -> None:
    class Declared(TurnedAP):
        direction = "lower"
        swap_monotone = True

    assert Declared().swap_monotone
    assert Declared().ideal([1] * 20 + [0] * 20) == 0.0


def test_a_formula_of_another_score_answers_no_question() -> None:
    class Formula(SecondBest):
        def expected_each(self, judged: JudgedLabels) -> Floats:
            return np.full(len(judged), 0.125)

    class Other(Formula):
        def _score(self, lists: Rankings) -> Floats:
            return np.full(len(lists), 0.75)

    judged = JudgedLabels.of([1, 0])
    assert Formula().expected_each(judged).tolist() == [0.125]
    assert Other().expected_each(judged).tolist() == [0.75]
    assert Other().random_each(judged).values.tolist() == [0.75]


def test_a_wrapper_with_a_new_score_is_not_scored_as_the_old_one() -> None:
    class Other(v2):  # type: ignore[misc]
        name = "other"

        def score_each(self, rankings: Rankings) -> Floats:
            return np.full(len(rankings), 0.25)

    found = evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0}}, [Other(P @ 1), v2(P @ 1)])
    assert found.values.ravel().tolist() == [0.25, 1.0]


def test_a_formula_for_the_mean_may_ask_for_the_mean_without_it() -> None:
    class Doubled(SecondBest):
        def expected_each(self, judged: JudgedLabels) -> Floats:
            return 2 * super().expected_each(judged)

    class Same(type(AP)):  # type: ignore[misc]
        def expected_each(self, judged: JudgedLabels) -> Floats:
            mean: Floats = super().expected_each(judged)
            return mean

    labels = [1, 0, 0, 1]
    assert Doubled().expected(labels) == 2 * SecondBest().expected(labels)
    assert Same().expected(labels) == AP.expected(labels)
    assert Same().expected_each(JudgedLabels.of(labels)) == AP.expected(labels)


class Gathering(Binary):
    """A score that grows with the number of relevant documents, up to 50 and more."""

    name = "Gathering"
    examples = ("Gathering",)

    def _score(self, lists: Rankings) -> Floats:
        return lists.sum(np.where(lists.relevant(self.rel), 1 + 1 / lists.ranks, 0.0))


class SaidToBeSmall(Gathering):
    """A score that leaves the range that is declared of it."""

    name = "SaidToBeSmall"
    range = (0.0, 1.0)

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists)


class Large(Gathering):
    name = "Large"
    range = (0.0, 200.0)

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists)


class OtherScore(Large):
    """A score of which the range of another one was said."""

    name = "OtherScore"

    def _score(self, lists: Rankings) -> Floats:
        return 1000 * super()._score(lists)


class Around(Wrapper):
    """A wrapper that goes beyond the range of the measure inside."""

    name = "around"
    examples = ("around(AP)",)

    def score_each(self, rankings: Rankings) -> Floats:
        return 1000 * self.measure.score_each(rankings)


@pytest.mark.parametrize(
    ("measure", "upper"),
    [
        (Gathering(), np.inf),
        (SaidToBeSmall(), np.inf),
        (OtherScore(), np.inf),
        (Large(), 200.0),
        (prefix_mean(Large() @ 10), 200.0),
        (prefix_mean(Gathering() @ 10), np.inf),
        (Around(Large()), np.inf),
    ],
    ids=str,
)
def test_a_distance_is_no_more_than_a_range_that_is_declared(measure: Any, upper: float) -> None:
    a, b = [f"a{i}" for i in range(25)], [f"b{i}" for i in range(25)]
    found = med_of_lists(measure, a, b)
    assert not found.exact
    assert found.upper == upper
    assert found.value > 1


def test_every_registered_measure_declares_its_range() -> None:
    for measure in MEASURES.values():
        assert measure.range_is_declared or np.isinf(measure.range[1]), measure
