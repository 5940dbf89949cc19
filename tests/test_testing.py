"""The public laws: every registered measure obeys them, and a measure that breaks one is caught."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from laws.strategies import MEASURES, WRAPPERS
from profiles import thorough
from rankgauge import Measure, testing
from rankgauge.core.arrays import Floats
from rankgauge.core.checks import Number
from rankgauge.measures import Binary, Wrapper, parameter
from rankgauge.measures.base import ratio
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings
from rankgauge.testing import LAWS, LawBroken, check_measure, variants, wrapper_variants

DIRECTED = sorted(name for name, measure in MEASURES.items() if measure.direction != "none")


@pytest.mark.parametrize("name", [*DIRECTED, *sorted(WRAPPERS)])
def test_every_registered_measure_obeys_the_laws(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not thorough():  # the laws in tests/laws vary all parameters, against oracles
        monkeypatch.setattr(testing, "variants", lambda m: itertools.islice(variants(m), 2))
        monkeypatch.setattr(
            testing, "wrapper_variants", lambda w: itertools.islice(wrapper_variants(w), 3)
        )
    check_measure((MEASURES | WRAPPERS)[name])


class Found(Binary):
    """A sound measure: the relevant documents retrieved, as a share of all."""

    name = "Found"
    examples = ("Found",)

    def _score(self, lists: Rankings) -> Floats:
        found = lists.count(lists.relevant(self.rel))
        return ratio(found, lists.judged.relevant(self.rel)[lists.query])


class TooHigh(Found):
    """It counts, but says that it is a share."""

    def _score(self, lists: Rankings) -> Floats:
        return lists.count(lists.relevant(self.rel)).astype(float)


class LaterIsBetter(Found):
    """It declares that the better of two documents belongs first, and rewards the opposite."""

    swap_monotone = True

    def _score(self, lists: Rankings) -> Floats:
        last = lists.relevant(self.rel) & (lists.ranks == lists.each_row(lists.lengths))
        return lists.count(last).astype(float)


class AgainstOthers(Found):
    """It divides by the most that any list has."""

    def _score(self, lists: Rankings) -> Floats:
        found = lists.count(lists.relevant(self.rel))
        return ratio(found, np.full(len(lists), found.max(initial=0)))


class NotOfNothing(Found):
    """It cannot score zero lists."""

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists) / max(1, lists.lengths.max() - lists.lengths.max() + 1)


class WrongBest(Found):
    """Its formula for the best score forgets the cut-off."""

    def _best_score(self, judged: JudgedLabels) -> Floats:
        return (judged.relevant(self.rel) > 0).astype(float)


class WrongMean(Found):
    """Its formula for the mean over ties forgets how many documents are tied."""

    expectation = "exact"

    def _tied(self, tied: TiedRankings) -> Floats | None:
        return self._score(tied.rankings)


class WrongVariance(Found):
    def _variance(self, tied: TiedRankings) -> Floats:
        return np.zeros(len(tied))


class NoFormula(Found):
    """It says that its expected score is exact, and has no formula."""

    expectation = "exact"


class SeesGrades(Found):
    """A measure that is not binary, but derives from Binary."""

    def _score(self, lists: Rankings) -> Floats:
        return lists.sum(lists.labels.clip(0).astype(float)) / 100


class CostlyTail(Found):
    """It says that documents without gain at the end change nothing."""

    tail_matters = False

    def _score(self, lists: Rankings) -> Floats:
        return ratio(lists.count(lists.relevant(self.rel)), lists.lengths)


class ShorterIsBetter(CostlyTail):
    """It says that nothing beats the best order of all judged documents."""

    tail_matters = True
    ideal_is_best = True

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists)


class NotMonotone(Found):
    """It says that raising a label never lowers the score, which is divided by R."""

    monotone = True

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists)


class SaysDepthIsNothing(Found):
    """It says that a deep cut-off changes nothing; it divides by the cut-off."""

    deeper = "same"

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists) / (self.cutoff or 1)


class SaysNobodyCounts(Found):
    """It says that documents elsewhere do nothing; they raise R, which it divides by."""

    off_list = "ignored"

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists)


class WrongBounds(Found):
    """Its own bounds leave nothing open."""

    def bounds_each(self, rankings: Rankings) -> tuple[Floats, Floats]:
        return self.score_each(rankings), self.score_each(rankings)


class NothingOfNothing(Found):
    """It divides by the length of the list."""

    def _score(self, lists: Rankings) -> Floats:
        with np.errstate(invalid="ignore"):
            return lists.count(lists.relevant(self.rel)) / lists.lengths


class Endless(Found):
    def _score(self, lists: Rankings) -> Floats:
        return np.where(lists.lengths > 2, np.inf, 0.0)


class TwoNumbers(Found):
    def _score(self, lists: Rankings) -> Floats:
        return np.ones((len(lists), 2))


class JudgesTheRest(Found):
    """It labels the unjudged documents 0, for all who come after it."""

    def _score(self, lists: Rankings) -> Floats:
        labels = lists.labels
        labels[labels < 0] = 0
        return super()._score(lists)


class CountsOneMore(Found):
    """It changes a number that is kept for all measures."""

    def _score(self, lists: Rankings) -> Floats:
        relevant = lists.judged.relevant(self.rel)
        relevant += 1
        return ratio(lists.count(lists.relevant(self.rel)), relevant[lists.query])


class ForcesItsWay(Found):
    """It makes an array writeable again."""

    def _score(self, lists: Rankings) -> Floats:
        labels = lists.labels
        labels.setflags(write=True)
        labels[labels < 0] = 0
        return super()._score(lists)


class MoreOfMany(Found):
    """It leaves its range where a list is long."""

    def _score(self, lists: Rankings) -> Floats:
        return super()._score(lists) * np.maximum(1, lists.lengths / 10)


class WithoutRanks(type(rg.AP)):  # type: ignore[misc]
    """It changes a part of the score, so what is said of average precision is taken to be true of it."""

    name = "Found"
    examples = ("Found",)

    def _sum(self, lists: Rankings) -> Floats:
        return lists.count(lists.relevant(self.rel)).astype(float)


BROKEN = {
    JudgesTheRest: "leaves the lists as they were",
    CountsOneMore: "leaves the lists as they were",
    ForcesItsWay: "leaves the lists as they were",
    MoreOfMany: "range",
    WithoutRanks: "expected",
    TooHigh: "range",
    LaterIsBetter: "swap_monotone",
    AgainstOthers: "each list alone",
    NotOfNothing: "zero lists",
    WrongBest: "ideal",
    WrongMean: "expected",
    WrongVariance: "variance",
    NoFormula: "exact",
    SeesGrades: "only rel",
    CostlyTail: "tail_matters",
    ShorterIsBetter: "ideal_is_best",
    NotMonotone: "monotone",
    SaysNobodyCounts: "off_list",
    SaysDepthIsNothing: "deeper",
    WrongBounds: "bounds",
    NothingOfNothing: "an empty list",
    Endless: "one number a list",
    TwoNumbers: "one number a list",
}


def test_a_sound_measure_obeys_the_laws() -> None:
    check_measure(Found())


@pytest.mark.parametrize("kind", BROKEN)
def test_a_measure_that_breaks_a_law_is_told_which(kind: type[Measure]) -> None:
    with pytest.raises(LawBroken, match=f"Found.* fails the check '{BROKEN[kind]}'") as caught:
        check_measure(kind())
    assert caught.value.law == BROKEN[kind]
    assert isinstance(caught.value, AssertionError)


def test_the_counterexample_and_what_is_expected_are_told() -> None:
    with pytest.raises(LawBroken) as caught:
        check_measure(TooHigh())
    assert str(caught.value) == (
        "Found fails the check 'range': for ranking [1, 1] with judged [1, 1] it scores 2.0, "
        "expected 0.0 to 1.0"
    )


@pytest.mark.parametrize("what", ["AP", Found, rg.measures.gm, rg.measures.v2(rg.P @ 3)])
def test_what_is_no_measure_is_refused_with_a_sentence(what: Any) -> None:
    with pytest.raises(rg.MeasureError, match=r"expected a measure|for a wrapper give its class"):
        check_measure(what)


def test_parameters_are_varied() -> None:
    class Scaled(Found):
        """Fine by default, beyond its range for any other value."""

        factor: float = parameter(Number(0, 9), "what the share is multiplied by", default=1.0)

        def _score(self, lists: Rankings) -> Floats:
            return self.factor * super()._score(lists)

    with pytest.raises(LawBroken, match=r"Found\(factor=2\.25\) fails the check 'range'"):
        check_measure(Scaled())


def test_a_wrapper_is_tried_around_measures() -> None:
    class Doubled(Wrapper):
        name = "doubled"
        examples = ("doubled(AP)",)

        def score_each(self, rankings: Rankings) -> Floats:
            return 2 * self.measure.score_each(rankings)

    with pytest.raises(LawBroken, match=r"doubled.* fails the check 'range'"):
        check_measure(Doubled)


def test_every_law_is_one_that_some_measure_breaks_or_is_about_text() -> None:
    assert set(LAWS) - set(BROKEN.values()) == {"worst", "ties", "text form"}
