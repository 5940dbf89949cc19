"""The laws that every registered measure obeys, checked against slow oracles.

The measures are taken from the registry and varied in all their parameters, so a measure that is
added later is checked here without anyone remembering; one without an oracle fails.
"""

from __future__ import annotations

import itertools
import math
from functools import cache
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st

import oracles
from laws.strategies import HIGHEST, MEASURES, REGISTERED, WRAPPERS, labels, rankings, versions
from profiles import examples, thorough
from rankgauge.errors import Unsupported
from rankgauge.measures import Measure, Wrapper
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings

ALL = {**MEASURES, **WRAPPERS}
DIRECTED = [name for name, m in ALL.items() if m.direction != "none"]
ORDERED = [name for name in DIRECTED if ALL[name].swap_monotone]
"""The measures by which a good flip never hurts. Of a wrapper that depends on the measure inside."""
IDEAL = [name for name in ORDERED if name in MEASURES and MEASURES[name].ideal_is_best]
TAILLESS = [name for name, m in MEASURES.items() if not m.tail_matters]

SEVERAL = st.lists(rankings(), min_size=1, max_size=5)

each_measure = pytest.mark.parametrize("name", sorted(MEASURES))
each_directed = pytest.mark.parametrize("name", sorted(DIRECTED))
each = pytest.mark.parametrize("name", sorted(ALL))


def by_oracle(measure: Measure, ranking: list[int], judged: list[int]) -> float:
    """The score straight from the definition."""
    if isinstance(measure, Wrapper):

        def inner(labeled: list[int], known: list[int] = judged) -> float:
            return by_oracle(measure.measure, labeled, known)

        if measure.name == "condensed":
            return inner([label for label in ranking if label >= 0])
        if measure.name == "prefix_mean":
            last = measure.measure.cutoff
            cut = [by_oracle(measure.measure @ i, ranking, judged) for i in range(1, last + 1)]
            return math.fsum(cut) / last
        if measure.name in ("lower", "upper"):
            low, high = oracles.bounds(inner, ranking, judged, range(HIGHEST + 1))
            return low if measure.name == "lower" else high
        shuffled = {
            "judged": judged,
            "run": ranking,
            "pool": judged,
            "collection": judged + [-1] * ((measure.documents or 0) - len(judged)),
        }[measure.null]
        orders = over_orders(measure.measure, tuple(sorted(shuffled)), tuple(judged))
        if measure.name in oracles.NORMALIZED:
            known = JudgedLabels.of(judged, max_grade=HIGHEST)
            if measure.measure.nothing_relevant_each(known)[0]:
                return 0.0 if measure.empty == "zero" else math.nan
            score = inner(ranking)
            return oracles.normalized(measure.name, score, *orders, *scale(measure.measure))
        low, high, mean, _ = orders
        best_is_high = measure.measure.direction == "higher"
        return {
            "ideal": high if best_is_high else low,
            "worst": low if best_is_high else high,
            "expected": mean,
        }[measure.name]
    return oracles.score(measure.name, ranking, judged, HIGHEST, **arguments(measure))


@cache
def arguments(measure: Measure) -> dict[str, Any]:
    """The cut-off and the parameters of a measure, for its oracle."""
    parameters = {key: getattr(measure, key) for key in measure.parameters()}
    if isinstance(parameters.get("gain"), tuple):
        parameters["gain"] = dict(parameters["gain"])
    return {"k": measure.cutoff, **parameters}


@cache
def over_orders(
    measure: Measure, shuffled: tuple[int, ...], judged: tuple[int, ...]
) -> tuple[float, float, float, float]:
    """The lowest, highest and mean score over the orders of some documents, and its variance."""

    def score(ranking: list[int]) -> float:
        return by_oracle(measure, list(ranking), list(judged))

    return oracles.over_permutations(score, shuffled)


def scale(measure: Measure) -> tuple[bool, float]:
    """Whether higher is better, and the lowest score there is."""
    return measure.direction == "higher", measure.range[0]


def same(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))


def answers_at_any_size(measure: Measure) -> bool:
    """Whether its best, worst and expected value are had without enumeration."""
    enumerable = getattr(measure, "null", "judged") != "collection"
    return measure.swap_monotone and measure.expectation == "exact" and enumerable


def fits(measure: Measure, judged: list[int]) -> bool:
    """Whether the collection that a measure is told of holds the judged documents."""
    return getattr(measure, "null", "judged") != "collection" or len(judged) <= measure.documents


def at_least(a: float, b: float) -> bool:
    return a >= b - 1e-12 or (math.isnan(a) and math.isnan(b))


@each_measure
def test_every_measure_has_an_oracle(name: str) -> None:
    assert name in oracles.SCORES


@each_measure
@given(data=st.data())
@examples(50)
def test_score_is_the_definition(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    for ranking, judged in data.draw(SEVERAL):
        score = measure.score(ranking, judged, max_grade=HIGHEST)
        assert same(score, by_oracle(measure, ranking, judged))


@pytest.mark.parametrize("name", sorted(WRAPPERS))
@given(data=st.data())
@examples(60)
def test_wrappers_are_their_definition(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    ranking, judged = data.draw(rankings(most=4, unjudged=3))
    assume(len(judged) <= 5)
    score = measure.score(ranking, judged, max_grade=HIGHEST)
    assert same(score, by_oracle(measure, ranking, judged))


@each_directed
@given(data=st.data())
@examples(30)
def test_ideal_worst_expected_and_variance_are_those_over_all_orders(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    judged = data.draw(labels())
    low, high, mean, variance = over_orders(measure, tuple(sorted(judged)), tuple(judged))
    ideal, worst = (high, low) if measure.direction == "higher" else (low, high)
    assert same(measure.ideal(judged, max_grade=HIGHEST), ideal)
    assert same(measure.worst(judged, max_grade=HIGHEST), worst)
    assert same(measure.expected(judged, max_grade=HIGHEST), mean)
    found = measure.variance(judged, max_grade=HIGHEST)
    assert same(found, variance) or abs(found - variance) <= 1e-12 * (1 + abs(variance)) ** 2


@pytest.mark.parametrize("name", sorted(set(DIRECTED) & set(MEASURES)))
@given(data=st.data())
@examples(30)
def test_best_and_worst_order_of_a_list_with_unjudged_documents(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    ranking, judged = data.draw(rankings(most=5, unjudged=2))
    tied = TiedRankings.of([ranking], judged=JudgedLabels.of(judged, max_grade=HIGHEST))
    low, high, _, _ = over_orders(measure, tuple(sorted(ranking)), tuple(judged))
    best, worst = (high, low) if measure.direction == "higher" else (low, high)
    assert same(measure.extreme_each(tied, best=True)[0], best)
    assert same(measure.extreme_each(tied, best=False)[0], worst)


@each_measure
@given(data=st.data())
@examples(30)
def test_bounds_are_the_extremes_over_all_labels(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    ranking, judged = data.draw(rankings(most=7, unjudged=4))
    if measure.bounding == "no":
        with pytest.raises(Unsupported):
            measure.bounds(ranking, judged, max_grade=HIGHEST)
        return
    low, high = oracles.bounds(
        lambda labeled, known: by_oracle(measure, labeled, known),
        ranking,
        judged,
        range(HIGHEST + 1),
    )
    bounds = measure.bounds(ranking, judged, max_grade=HIGHEST)
    assert same(bounds.low, low)
    assert same(bounds.high, high)


SHORT = [
    (list(ranking), [*(label for label in ranking if label >= 0), *unretrieved])
    for length in range(4)
    for ranking in itertools.product((-1, 0, 1, HIGHEST), repeat=length)
    for unretrieved in ([], [1])
]
"""All lists of up to three documents, with and without a relevant document that is not retrieved."""


@pytest.mark.parametrize(
    "name", [name for name in sorted(MEASURES) if MEASURES[name].bounding != "no"]
)
def test_bounds_of_all_short_lists(name: str) -> None:
    entry = MEASURES[name]
    for measure in [entry, entry @ 1, entry @ 2] if entry.cutoffs == "optional" else [entry]:
        if entry.cutoffs == "required":
            measure = entry @ (0.5 if name == "IPrec" else 2)
        # By default every third of them: half of these have a relevant document not retrieved.
        for ranking, judged in SHORT[:: 1 if thorough() else 3]:
            expected = oracles.bounds(
                lambda labeled, known, measure=measure: by_oracle(measure, labeled, known),
                ranking,
                judged,
                range(HIGHEST + 1),
            )
            found = measure.bounds(ranking, judged, max_grade=HIGHEST)
            assert all(map(same, found, expected)), (str(measure), ranking, judged)


@each_directed
@given(data=st.data())
@examples(25)
def test_no_order_beats_the_ideal_or_falls_below_the_worst(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    judged = data.draw(labels(12 if answers_at_any_size(measure) else 6))
    ranking = data.draw(st.permutations(judged))
    score = measure.score(ranking, judged, max_grade=HIGHEST)
    sign = 1 if measure.direction == "higher" else -1
    assert at_least(sign * measure.ideal(judged, max_grade=HIGHEST), sign * score)
    assert at_least(sign * score, sign * measure.worst(judged, max_grade=HIGHEST))


@pytest.mark.parametrize("name", sorted(IDEAL))
@given(data=st.data())
@examples(30)
def test_no_ranking_at_all_beats_the_ideal(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    ranking, judged = data.draw(rankings())
    score = measure.score(ranking, judged, max_grade=HIGHEST)
    sign = 1 if measure.direction == "higher" else -1
    assert at_least(sign * measure.ideal(judged, max_grade=HIGHEST), sign * score)


@each
@given(data=st.data())
@examples(40)
def test_scores_stay_in_the_declared_range(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    ranking, judged = data.draw(rankings(most=5, unjudged=3))
    assume(fits(measure, judged))
    low, high = measure.range
    score = measure.score(ranking, judged, max_grade=HIGHEST)
    assert math.isnan(score) or (at_least(score, low) and at_least(high, score))


@pytest.mark.parametrize("name", sorted(ORDERED))
@given(data=st.data())
@examples(25)
def test_a_good_flip_never_hurts_and_a_neutral_one_changes_nothing(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    assume(measure.swap_monotone)
    assume(not isinstance(getattr(measure, "gain", None), tuple))  # a map may prefer lower labels
    assume(not isinstance(getattr(getattr(measure, "measure", None), "gain", None), tuple))
    judged = data.draw(labels(10 if answers_at_any_size(measure) else 6, least=2))
    ranking = data.draw(st.permutations(judged))
    before = measure.score(ranking, judged, max_grade=HIGHEST)
    sign = 1 if measure.direction == "higher" else -1
    for _, flipped, kind in oracles.flips(ranking):
        after = measure.score(flipped, judged, max_grade=HIGHEST)
        if kind == "good":
            assert at_least(sign * after, sign * before)
        elif kind == "bad":
            assert at_least(sign * before, sign * after)
        else:
            assert same(after, before)


@each
@given(data=st.data())
@examples(25)
def test_many_lists_at_once_score_as_each_alone(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    cases = data.draw(st.lists(rankings(most=5, unjudged=2), min_size=1, max_size=4))
    assume(all(fits(measure, known) for _, known in cases))
    judged = JudgedLabels.of(*(known for _, known in cases), max_grade=HIGHEST)
    alone = [measure.score(ranking, known, max_grade=HIGHEST) for ranking, known in cases]
    single = Rankings.of(*(ranking for ranking, _ in cases))
    together = Rankings(single.labels, single.offsets, single.query, judged)
    for a, b in zip(alone, measure.score_each(together), strict=True):
        # What chance gives may be added up in another order, for other lists beside it.
        assert same(a, b) if name in WRAPPERS else a == b or (math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize("name", sorted(TAILLESS))
@given(data=st.data())
@examples(60)
def test_documents_without_gain_at_the_end_change_nothing_unless_said(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    ranking, judged = data.draw(rankings())
    more = data.draw(st.lists(st.sampled_from([-1, -2]), max_size=4))
    rest = [0] * data.draw(st.integers(0, 3))
    before = measure.score(ranking, judged + rest, max_grade=HIGHEST)
    after = measure.score(ranking + more + rest, judged + rest, max_grade=HIGHEST)
    assert same(after, before)


@each
def test_an_empty_ranking_has_a_score(name: str) -> None:
    entry = ALL[name]
    measure = entry(MEASURES["AP"] @ 3) if isinstance(entry, type) else entry
    measure = measure @ 1 if measure.cutoffs == "required" else measure
    score = measure.score([], [1, 0, 0], max_grade=1)
    assert not math.isnan(score)


@pytest.mark.parametrize("name", sorted(REGISTERED.keys() - MEASURES.keys()))
@given(data=st.data())
def test_a_measure_that_scores_no_ranking_answers_nothing(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    assert set(measure.answers().values()) == {"no"}
    for ask in (
        measure.complete,
        lambda: measure.score([1, 0]),
        lambda: measure.bounds([1, -1]),
        lambda: measure.ideal([1, 0]),
        lambda: measure.worst([1, 0]),
        lambda: measure.expected([1, 0]),
        lambda: measure.variance([1, 0]),
    ):
        with pytest.raises(Unsupported, match="only a name for scores made elsewhere"):
            ask()
