"""What a class does not declare is not assumed: its answers come from its score alone."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from laws.strategies import MEASURES
from rankgauge import AP, ERR, RR, Measure, P, Q, Unsupported, evaluate, nDCG
from rankgauge.core.arrays import Floats
from rankgauge.distance.maximized import med_of_lists
from rankgauge.errors import MeasureError
from rankgauge.measures import Binary, Wrapper, prefix_mean, v1, v2
from rankgauge.rankings.flips import Places
from rankgauge.rankings.lists import JudgedLabels, Rankings


class SecondBest(Binary):
    """The best place is the second."""

    name = "SecondBest"
    examples = ("SecondBest",)

    def _score(self, lists: Rankings) -> Floats:
        weight = np.where(lists.ranks == 2, 1.0, 0.25 / lists.ranks)
        return lists.sum(np.where(lists.relevant(self.rel), weight, 0.0)) / 2


class Squared(Binary):
    """A score made of the score of a measure with many declarations."""

    name = "Squared"
    examples = ("Squared",)

    def _score(self, lists: Rankings) -> Floats:
        return (1 - (AP(rel=self.rel) @ self.cutoff).score_each(lists)) ** 2


class Turned:
    """A mixin that turns a score round."""

    def _score(self, lists: Rankings) -> Floats:
        return 1 - super()._score(lists)  # type: ignore[misc,no-any-return]


class TurnedSecondBest(Turned, SecondBest):
    """A base that declares nothing about its score leaves nothing to define."""

    name = "TurnedSecondBest"
    examples = ("TurnedSecondBest",)


class TurnedWhole(SecondBest):
    """It changes the score at the other of the two places where there is one."""

    name = "TurnedWhole"
    examples = ("TurnedWhole",)

    def score_each(self, rankings: Rankings) -> Floats:
        return 1 - super().score_each(rankings)


class Renamed(TurnedSecondBest):
    """A class that adds nothing to one that changes the score."""

    name = "Renamed"


NOTHING_DECLARED = [SecondBest(), Squared(), TurnedSecondBest(), TurnedWhole(), Renamed()]


@pytest.mark.parametrize(
    "measure",
    [*NOTHING_DECLARED, SecondBest() @ 2, Squared() @ 3, TurnedSecondBest() @ 2],
    ids=str,
)
def test_a_measure_that_declares_nothing_answers_as_its_score_says(measure: Measure) -> None:
    labels = [1, 0, 0, 1, 0]
    scores = [measure.score(order) for order in set(itertools.permutations(labels))]
    assert measure.ideal(labels) == max(scores)
    assert measure.worst(labels) == min(scores)
    assert measure.expected(labels) == pytest.approx(np.mean(scores), abs=1e-12)
    assert measure.variance(labels) == pytest.approx(np.var(scores), abs=1e-12)
    ranking = [1, -1, 0, -1]
    labeled = [[1, a, 0, b] for a in (0, 1) for b in (0, 1)]
    scores = [measure.score(ranked) for ranked in labeled]
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


class Retrieved(Binary):
    """A class with declarations, for others to derive from."""

    name = "Retrieved"
    examples = ("Retrieved@2",)
    swap_monotone = True
    monotone = True

    def _score(self, lists: Rankings) -> Floats:
        return lists.count(lists.relevant(self.rel)) / 100


class Halved(Retrieved):
    """A class that changes the score and says again what is true of it."""

    name = "Halved"
    examples = ("Halved@2",)
    swap_monotone = True
    monotone = False

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.judged.relevant(self.rel)[lists.query]
        return 100 * super()._score(lists) / (self.cutoff or 1) / (1 + relevant)


def test_a_binary_measure_that_says_again_what_it_is_has_exact_bounds() -> None:
    measure = Halved() @ 3
    assert measure.answers()["bounds"] == "exact"
    ranking = [-1, 1, -1]
    labeled = [measure.score([a, 1, b]) for a in (0, 1) for b in (0, 1)]
    assert measure.bounds(ranking) == (min(labeled), max(labeled))
    assert measure.bounds([-1] * 300) == (0.0, 0.25)


def test_what_is_declared_beside_a_new_score_is_of_that_score() -> None:
    class Declared(Turned, Retrieved):
        name = "Declared"
        direction = "lower"
        swap_monotone = True
        monotone = False

    class OnlyNamed(Declared):
        name = "OnlyNamed"

    for measure in (Declared(), OnlyNamed()):
        assert measure.swap_monotone
        assert measure.ideal([1] * 20 + [0] * 20) == 0.8


REFUSED = {
    "Squared": (
        (type(AP),),
        "_score",
        "Squared changes the score of PrecisionSumMeasure, so what PrecisionSumMeasure says about its "
        "score may be wrong for it. Define in Squared: ",
        ". Or derive Squared from Binary and call the other measure's score_each",
    ),
    "Whole": ((type(RR),), "score_each", "Whole changes the score of ReciprocalRank", "score_each"),
    "Mixed": ((Turned, type(AP)), None, "Mixed changes the score of", "score_each"),
    "Gained": (
        (type(nDCG),),
        "_score",
        "Gained changes the score of Weighted",
        "from GainMeasure and call",
    ),
    "Other": (
        (v2,),
        "score_each",
        "Other changes the score of Normalized",
        "from OrderBasedWrapper and call",
    ),
    "Plain": (
        (Retrieved,),
        "_score",
        "Define in Plain: monotone, swap_monotone.",
        "from Binary and",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_class_that_inherits_what_is_said_of_another_score_is_refused(name: str) -> None:
    bases, method, *parts = REFUSED[name]
    with pytest.raises(MeasureError) as caught:
        type(name, bases, {} if method is None else {method: lambda self, lists: lists.lengths})
    for part in parts:
        assert part in str(caught.value)


def test_a_refusal_names_declarations_and_formulas_but_no_texts_and_parameters() -> None:
    with pytest.raises(MeasureError) as caught:
        type("Squared", (type(AP),), {"_score": None, "range": (0.0, 1.0)})
    missing = str(caught.value).split("Define in Squared: ")[1].split(".")[0].split(", ")
    assert {"swap_monotone", "monotone", "expectation", "_tied", "bounds_each"} <= set(missing)
    assert not {"range", "name", "formula", "rel", "norm", "cutoff", "_score", "_sum"} & set(
        missing
    )


def test_a_formula_of_another_score_has_to_be_defined_again() -> None:
    class Formula(SecondBest):
        def expected_each(self, judged: JudgedLabels) -> Floats:
            return np.full(len(judged), 0.125)

    with pytest.raises(MeasureError, match=r"Define in Other: expected_each\."):
        type("Other", (Formula,), {"_score": lambda self, lists: np.full(len(lists), 0.75)})

    class Other(Formula):
        expected_each = Measure.expected_each

        def _score(self, lists: Rankings) -> Floats:
            return np.full(len(lists), 0.75)

    judged = JudgedLabels.of([1, 0])
    assert Formula().expected_each(judged).tolist() == [0.125]
    assert Other().expected_each(judged).tolist() == [0.75]
    assert Other().random_each(judged).values.tolist() == [0.75]


def test_a_wrapper_of_ones_own_is_not_scored_as_another_one() -> None:
    class Other(Wrapper):
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


def test_the_old_name_of_a_contribution_is_still_read() -> None:
    def adds(self: Measure, places: Places) -> Floats:
        return np.where(places.label > 0, 1 / places.rank, 0.0)

    with pytest.warns(DeprecationWarning, match="Old: _adds is called _contribution now") as caught:
        old = type("Old", (SecondBest,), {"_adds": adds})
    assert caught[0].filename == __file__
    assert old().knows_flips
    assert old().flips([0, 1]) == [0.5]


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


@pytest.mark.parametrize("measure", [Q, ERR], ids=str)
def test_another_score_of_a_measure_of_its_own_kind_is_refused_with_the_remedy(
    measure: Any,
) -> None:
    """These measures derive from `Measure` itself, which declares nothing about its scores."""
    kind: Any = type(measure)
    with pytest.raises(MeasureError, match=r"Define in Other: .*derive Other from Measure"):

        class Other(kind):
            name = "Other"

            def _score(self, lists: Rankings) -> Floats:
                return np.zeros(len(lists))


def test_a_distance_that_is_no_name_is_refused() -> None:
    with pytest.raises(MeasureError, match="expected the name of an algorithm"):

        class Other(Measure):
            name = "Other"

            def _distance(self, *_: object) -> None: ...
