"""condensed: unjudged documents are taken out for one measure, as judged_only=True says elsewhere."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import oracles
import rankgauge as rg
from laws.strategies import HIGHEST, INSIDE, labels, rankings, versions
from laws.test_measures import by_oracle, over_orders, same
from profiles import examples
from rankgauge.distance.maximized import med_of_lists
from rankgauge.measures.judged_only import CondensedMeasure
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tied_lists import TiedRankings


def without_unjudged(ranking: list[int]) -> list[int]:
    return [label for label in ranking if label >= 0]


@pytest.mark.parametrize(
    "measure",
    [
        rg.nDCG(judged_only=True) @ 10,
        (rg.nDCG @ 10)(judged_only=True),
        rg.measures.condensed(rg.nDCG) @ 10,
        rg.parse("nDCG(judged_only=True)@10"),
        rg.parse("ndcg(judged_only=true)@10"),
        rg.parse("condensed(nDCG)@10"),
        rg.measures.condensed(rg.nDCG @ 5) @ 10,
    ],
)
def test_all_forms_are_one_measure(measure: rg.Measure) -> None:
    assert measure == rg.measures.condensed(rg.nDCG @ 10)
    assert str(measure) == "condensed(nDCG@10)"
    assert repr(measure) == "condensed(nDCG @ 10)"


def test_parameters_go_to_the_measure_inside() -> None:
    assert rg.P(judged_only=True)(rel=2) @ 5 == rg.P(rel=2, judged_only=True) @ 5
    assert rg.P(judged_only=False) == rg.P
    assert rg.P(judged_only=True)(judged_only=False) == rg.P
    with pytest.raises(rg.MeasureError, match="needs a cutoff"):
        rg.P(judged_only=True).score([1])
    with pytest.raises(rg.MeasureError, match="has no parameter"):
        rg.P(judged_only=True, gain=2)
    with pytest.raises(rg.MeasureError, match="True or False"):
        rg.P(judged_only=1)


def test_text_forms_of_other_measures_are_as_they_were() -> None:
    assert rg.nDCG.specification() == "nDCG(gain=linear,discount=log2)"
    assert (rg.AP @ 10).specification() == "AP(rel=1,norm=R)@10"
    inside = "nDCG(gain=linear,discount=log2)@10"
    assert rg.measures.condensed(rg.nDCG @ 10).specification() == f"condensed({inside})"


@given(data=st.data())
@examples(300)
def test_score_is_that_without_unjudged_documents(data: st.DataObject) -> None:
    measure = data.draw(versions(data.draw(INSIDE)))
    ranking, judged = data.draw(rankings())
    expected = by_oracle(measure, without_unjudged(ranking), judged)
    found = CondensedMeasure(measure).score(ranking, judged, max_grade=HIGHEST)
    assert same(found, expected)


@given(data=st.data())
@examples(200)
def test_orders_of_judged_documents_get_what_they_get_by_the_measure_inside(
    data: st.DataObject,
) -> None:
    measure = data.draw(versions(data.draw(INSIDE)))
    judged = data.draw(labels())
    low, high, mean, variance = over_orders(measure, tuple(sorted(judged)), tuple(judged))
    best, worst = (high, low) if measure.direction == "higher" else (low, high)
    asked = CondensedMeasure(measure)
    assert same(asked.ideal(judged, max_grade=HIGHEST), best)
    assert same(asked.worst(judged, max_grade=HIGHEST), worst)
    assert same(asked.expected(judged, max_grade=HIGHEST), mean)
    found = asked.variance(judged, max_grade=HIGHEST)
    assert same(found, variance) or abs(found - variance) <= 1e-12 * (1 + abs(variance)) ** 2


@given(data=st.data())
@examples(200)
def test_orders_of_a_list_with_unjudged_documents(data: st.DataObject) -> None:
    """The mean, the variance, the best and the worst, over all orders of all documents."""
    measure = data.draw(versions(data.draw(INSIDE)))
    ranking, judged = data.draw(rankings(most=5, unjudged=2))
    low, high, mean, variance = over_orders(
        CondensedMeasure(measure), tuple(sorted(ranking)), tuple(judged)
    )
    tied = TiedRankings.of([ranking], judged=JudgedLabels.of(judged, max_grade=HIGHEST))
    asked = CondensedMeasure(measure)
    assert same(asked.tied_each(tied).values[0], mean)
    found = asked.tied_variance_each(tied)[0]
    assert same(found, variance) or abs(found - variance) <= 1e-12 * (1 + abs(variance)) ** 2
    best, worst = (high, low) if measure.direction == "higher" else (low, high)
    assert same(asked.extreme_each(tied, best=True)[0], best)
    assert same(asked.extreme_each(tied, best=False)[0], worst)


@given(data=st.data())
@examples(100)
def test_ties_of_several_groups_with_unjudged_documents(data: st.DataObject) -> None:
    measure = data.draw(versions(data.draw(INSIDE)))
    ranking, judged = data.draw(rankings(most=6, unjudged=3))
    cut = data.draw(st.integers(0, len(ranking)))
    groups = [ranking[:cut], ranking[cut:]]
    assume(max(map(len, groups)) <= 4)
    scores = [
        by_oracle(CondensedMeasure(measure), [*first, *last], judged)
        for first in itertools.permutations(groups[0])
        for last in itertools.permutations(groups[1])
    ]
    tied = TiedRankings.of(groups, judged=JudgedLabels.of(judged, max_grade=HIGHEST))
    found = CondensedMeasure(measure).tied_each(tied).values[0]
    assert math.isclose(found, np.mean(scores), rel_tol=1e-9, abs_tol=1e-9) or (
        math.isnan(found) and math.isnan(np.mean(scores))
    )


@given(data=st.data())
@examples(200)
def test_bounds_are_over_all_labels_which_leave_nothing_unjudged(data: st.DataObject) -> None:
    measure = CondensedMeasure(data.draw(versions(data.draw(INSIDE))))
    ranking, judged = data.draw(rankings(most=6, unjudged=3))
    assume(measure.bounding != "no")
    low, high = oracles.bounds(
        lambda labeled, known: by_oracle(measure, labeled, known),
        ranking,
        judged,
        range(HIGHEST + 1),
    )
    bounds = measure.bounds(ranking, judged, max_grade=HIGHEST)
    assert same(bounds.low, low)
    assert same(bounds.high, high)


@pytest.mark.parametrize("inside", ["nDCG@2", "AP", "RR@2", "Rprec", "bpref", "SearchLength"])
def test_distance_is_that_of_the_measure_inside(inside: str) -> None:
    a, b, judged = ["a", "b", "c"], ["c", "d", "a"], {"a": 1, "e": 2}
    condensed = rg.measures.condensed(rg.parse(inside))
    assert med_of_lists(condensed, a, b, judged).value == med_of_lists(inside, a, b, judged).value
    labels = med_of_lists(condensed, a, b, judged).witness().labels
    known = {**labels, **judged}
    scores = [
        condensed.score([known.get(d, -1) for d in ranking], list(known.values()))
        for ranking in (a, b)
    ]
    assert abs(scores[0] - scores[1]) == pytest.approx(med_of_lists(inside, a, b, judged).value)


@pytest.mark.parametrize("measure", ["nDCG@2", "AP", "P@2", "bpref", "ERR@3", "v2(AP)", "RBP"])
@pytest.mark.parametrize("ties", ["docno", "expected"])
def test_one_condensed_measure_is_the_policy_for_it_alone(measure: str, ties: str) -> None:
    qrels = {"q1": {"a": 2, "b": 0, "p": -1}, "q2": {"c": 1, "d": 0}, "q3": {"e": 1}}
    run = {
        "q1": {"x": 9.0, "p": 9.0, "b": 8.0, "a": 8.0, "y": 8.0},
        "q2": {"z": 3.0, "d": 2.0, "w": 2.0, "c": 1.0},
    }
    policy = rg.evaluate(qrels, run, measure, unjudged="condensed", ties=ties)  # type: ignore[arg-type]
    alone = rg.evaluate(qrels, run, [measure, f"condensed({measure})"], ties=ties)  # type: ignore[arg-type]
    assert np.asarray(alone)[:, :, 1].tolist() == np.asarray(policy)[:, :, 0].tolist()
    plain = rg.evaluate(qrels, run, measure, ties=ties)  # type: ignore[arg-type]
    assert np.asarray(alone)[:, :, 0].tolist() == np.asarray(plain)[:, :, 0].tolist()


def test_subtopics_stay_with_the_documents() -> None:
    judged = rg.Judgments.from_subtopics({"q": {"1": {"a": 1}, "2": {"b": 1}}})
    run = {"q": {"x": 3.0, "a": 2.0, "y": 1.5, "b": 1.0}}
    scores = rg.evaluate(judged, run, ["strec@2", "condensed(strec@2)", "condensed(P_IA@2)"])
    assert list(scores.mean()["run"].values()) == [0.5, 1.0, 0.5]


def test_condensed_lists_are_made_once() -> None:
    lists = Rankings.of([1, -1, 0], [-2, 2])
    for measure in (rg.measures.condensed(rg.AP), rg.measures.condensed(rg.nDCG @ 2)):
        measure.score_each(lists)
    assert len([key for key in lists.memo._known if key[0].__name__ == "_condense"]) == 1  # type: ignore[index]
