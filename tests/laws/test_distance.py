"""The laws of distances: over all labels, attained, symmetric, and no smaller than any difference."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from scipy.special import zeta

from laws.strategies import MEASURES, versions
from laws.test_measures import by_oracle
from profiles import examples
from rankgauge.distance.algorithms.lists import Lists
from rankgauge.distance.maximized import Distance, med_of_lists
from rankgauge.measures import Measure, parse
from rankgauge.measures.weighted import Weighted
from rankgauge.rankings.lists import JudgedLabels, offsets_of

HIGHEST = 3
DIRECTED = sorted(n for n, m in MEASURES.items() if m.direction != "none")
SLOW = {"INSQ"}
"""Measures whose oracle takes too long for many cases."""
EXACT = [n for n in DIRECTED if MEASURES[n].knows("_distance") and n not in SLOW]
"""The measures that have an algorithm; the others are asked over all labels, as they are here."""
OTHERS = [n for n in DIRECTED if n not in EXACT]
OFFLIST = ["Rprec", "Q"]
"""The measures to which relevant documents in neither list matter otherwise than by a larger divisor."""
GRADES = [(0, 1), (0, 3), (0, 1, 3), (0, 1, 2, 3), (0, 2)]

Case = tuple[list[int], list[int], dict[int, int]]


@cache
@st.composite
def cases(draw: st.DrawFn, most: int = 5, free: int = 5, judged: bool = True) -> Case:
    """Two lists of documents, some of them judged, some judged documents in neither."""
    documents = draw(st.integers(1, most + 3))
    a = draw(st.permutations(range(documents)))[: draw(st.integers(0, most))]
    b = draw(st.permutations(range(documents)))[: draw(st.integers(0, most))]
    grades = draw(st.sampled_from([(0, 1), (0, 1, 2, 3), (0, 3)]))
    known = {}
    if judged:
        known = draw(st.dictionaries(st.integers(0, documents + 2), st.sampled_from(grades)))
    listed = sorted({*a, *b} - {*known})
    for document in listed[free:]:
        known[document] = draw(st.sampled_from(grades))
    return list(a), list(b), known


def score(measure: Measure, ranking: list[int], labels: dict[Any, int]) -> float:
    return by_oracle(measure, [labels[d] for d in ranking], list(labels.values()))


def differences(
    measure: Measure, case: Case, grades: Sequence[int], off: int = 0
) -> list[tuple[float, float]]:
    """How far each list is ahead of the other, for all labels of the documents that have none, and with
    up to so many relevant documents in neither."""
    several = [[grades[-1]] * others for others in range(off + 1)]
    return list(itertools.chain(*(with_others(measure, case, grades, more) for more in several)))


def with_others(
    measure: Measure, case: Case, grades: Sequence[int], others: Sequence[int]
) -> list[tuple[float, float]]:
    """The same, with documents of these labels in neither list."""
    a, b, judged = case
    a, b = a[: measure.depth], b[: measure.depth]
    free = sorted({*a, *b} - {*judged})
    more = {f"off {i}": label for i, label in enumerate(others)}
    found = []
    for chosen in itertools.product(grades, repeat=len(free)):
        labels = {**judged, **dict(zip(free, chosen, strict=True)), **more}
        ahead = score(measure, a, labels) - score(measure, b, labels)
        found.append((ahead, -ahead))
    return found


def brute_force(measure: Measure, case: Case, grades: Sequence[int], off: int = 0) -> float:
    """The greatest difference over all labels of the documents that have none; 0 where none has one."""
    found = itertools.chain(*differences(measure, case, grades, off))
    return max((ahead for ahead in found if not math.isnan(ahead)), default=0.0)


def attained(measure: Measure, case: Case, found: Distance, top: int) -> float:
    """How far the labels of the witness put the list ahead that is said to be."""
    a, b, judged = case
    labels, others, _ = found.witness()
    assert not labels.keys() & judged.keys()
    known = {**labels, **judged, **{f"off {i}": top for i in range(others)}}
    ahead = score(measure, a[: measure.depth], known) - score(measure, b[: measure.depth], known)
    return abs(ahead) if found.ahead == "neither" else ahead if found.ahead == "a" else -ahead


def close(value: float, other: float) -> bool:
    return math.isclose(value, other, rel_tol=1e-9, abs_tol=1e-12)


def check(measure: Measure, case: Case, grades: tuple[int, ...], off: int = 0) -> None:
    """All that holds of one distance: greatest, attained, symmetric, and none from itself."""
    a, b, judged = case

    def asked(first: list[int], second: list[int]) -> Distance:
        offlist = "allowed" if off else "none"
        return med_of_lists(
            measure, first, second, judged, grades=grades, max_grade=HIGHEST, offlist=offlist
        )

    found = asked(a, b)
    assume(math.isfinite(found.value))
    if off:  # by Q not where a judged document gains more than a free one can
        assume(found.exact)
    assert found.exact or is_searched_to_the_end(measure)
    assert found.lower == found.value <= found.upper
    assert not found.exact or found.upper == found.value
    value = found.value - found.residual
    if found.residual:
        check_residual(measure, case, grades, found)
    else:
        assert close(value, brute_force(measure, case, grades, off))
    reached = attained(measure, case, found, grades[-1])
    assert close(reached, value) or (math.isnan(reached) and not value)
    back = asked(b, a)
    assert close(back.value, found.value)
    same = asked(a, a)
    assert abs(same.value - same.residual) < 1e-12


def check_residual(measure: Measure, case: Case, grades: tuple[int, ...], found: Distance) -> None:
    """Each side is at most what its documents can make, and all the ranks beyond its end."""
    each = differences(measure, case, grades)
    gain = max(by_oracle(measure, [grade], [grade]) for grade in grades) / (1 - beyond(measure, 1))
    sides = [
        max(side) + beyond(measure, len(ranking)) * gain
        for side, ranking in zip(zip(*each, strict=True), case[:2], strict=True)
    ]
    assert close(found.value, max(0.0, *sides))
    if found.ahead != "neither":
        side = "ab".index(found.ahead)
        assert close(found.value, sides[side])
        assert close(found.residual, beyond(measure, len(case[side])) * gain)


def beyond(measure: Measure, rank: int) -> float:
    """The share of the weight that is beyond a rank, where there is no last one."""
    if measure.name == "RBP":
        return float(measure.p**rank)
    assert measure.name == "INSQ"
    start = 2 * measure.T
    return float(zeta(2, start + rank) / zeta(2, start))


def is_searched_to_the_end(measure: Measure) -> bool:
    """Whether all labels are tried, and no more can be said: documents beyond the ends count too."""
    return measure.open_ended and not measure.knows("_distance")


@pytest.mark.parametrize("name", OTHERS)
@given(data=st.data())
@examples(15)
def test_distance_is_the_greatest_difference(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    check(measure, data.draw(cases(most=4, free=4)), data.draw(st.sampled_from(GRADES)))


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
@examples(60)
def test_distance_over_free_documents_of_the_highest_grade_or_none(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    case = data.draw(cases(most=6, free=6, judged=data.draw(st.booleans())))
    check(measure, case, (0, data.draw(st.integers(1, HIGHEST))))


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
@examples(50)
def test_distance_over_free_documents_of_any_grade(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    case = data.draw(cases(most=4, free=4, judged=data.draw(st.booleans())))
    check(measure, case, data.draw(st.sampled_from([(0, 1, 3), (0, 1, 2), (0, 1, 2, 3)])))


def lists_of(case: Case, grades: Sequence[int]) -> Lists:
    """The two lists, and a third that holds all documents, as measures are asked about them."""
    a, b, judged = case
    documents = sorted({*a, *b, *judged})
    number = {document: place for place, document in enumerate(documents)}
    rankings = [[number[document] for document in ranking] for ranking in (a, b, documents)]
    return Lists(
        np.array(list(itertools.chain(*rankings)), dtype=np.int32),
        offsets_of([len(ranking) for ranking in rankings]),
        np.array([judged.get(document, -1) for document in documents], dtype=np.int32),
        JudgedLabels.of(list(judged.values()), max_grade=HIGHEST),
        np.array(grades, dtype=np.int32),
    )


def check_sides(measure: Measure, case: Case, grades: Sequence[int]) -> None:
    """How far each list can be ahead is the greatest such difference, sign and all; its labels attain
    it."""
    lists = lists_of(case, grades)
    found = measure.distance_each(lists, np.array([0]), np.array([1]))
    each = differences(measure, case, grades)
    assume(all(math.isfinite(ahead) for ahead, _ in each))
    assert found.exact[0] or is_searched_to_the_end(measure)
    residual = np.zeros((1, 2)) if found.residual is None else found.residual
    for side in range(2):
        value = found.ahead[0, side] - residual[0, side]
        assert close(value, max(both[side] for both in each))
        labels, off = found.labeling(0, side)
        assert off == 0
        known = labels[lists.labels >= 0].tolist()
        assert known == lists.labels[lists.labels >= 0].tolist()
        cut = lists.top(measure.depth)
        listed = np.zeros(len(labels), dtype=np.bool_)
        listed[np.concatenate((cut.list(0), cut.list(1)))] = True
        whole = np.where(lists.free & ~listed, -1, labels)[None, :]
        one, two = (cut.scores(measure.score_each, i, whole)[0] for i in range(2))
        assert close(one - two if side == 0 else two - one, value)


@pytest.mark.parametrize("name", DIRECTED)
@given(data=st.data())
@examples(20)
def test_how_far_a_list_is_ahead_may_be_negative(name: str, data: st.DataObject) -> None:
    measure = data.draw(versions(name))
    case = data.draw(cases(most=4, free=data.draw(st.integers(0, 3))))
    check_sides(measure, case, data.draw(st.sampled_from(GRADES)))


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
@examples(50)
def test_a_list_that_is_behind_by_any_labels_is_behind_by_the_least(
    name: str, data: st.DataObject
) -> None:
    """The judged documents are at the top of one list and at the end of the other, or not in it."""
    measure = data.draw(versions(name))
    judged = {0: 3, 1: data.draw(st.sampled_from([1, 2, 3]))}
    free = [2, 3, 4, 5]
    a = data.draw(st.permutations(free))[: data.draw(st.integers(0, 4))]
    if data.draw(st.booleans()):
        a = [*a, 0]
    b = [0, 1, *data.draw(st.permutations(free))[: data.draw(st.integers(0, 3))]]
    check_sides(measure, (a, b, judged), data.draw(st.sampled_from(GRADES)))


def test_with_all_documents_judged_one_list_is_ahead_by_what_the_other_is_behind() -> None:
    case = ([1, 2, 0], [0, 1, 2], {0: 2, 1: 1, 2: 0})
    for name in DIRECTED:
        measure = parse(MEASURES[name].examples[0])
        found = measure.distance_each(lists_of(case, (0, 1, 2)), np.array([0]), np.array([1]))
        a, b = (
            measure.score([case[2][d] for d in ranking], list(case[2].values()), max_grade=HIGHEST)
            for ranking in case[:2]
        )
        residual = np.zeros((1, 2)) if found.residual is None else found.residual
        assert (found.ahead - residual)[0].tolist() == pytest.approx([a - b, b - a]), name


@pytest.mark.parametrize("name", OFFLIST)
@given(data=st.data())
@examples(200)
def test_distance_with_relevant_documents_off_the_lists(name: str, data: st.DataObject) -> None:
    """As many documents of the highest grade as a list has places leave nothing to change but the
    divisor: with three places, three off the lists say all there is to say."""
    measure = data.draw(versions(name))
    assume(getattr(measure, "times", 1) >= 1)
    grades = (0, data.draw(st.integers(1, HIGHEST)))
    check(measure, data.draw(cases(most=3, free=3)), grades, off=3)


@pytest.mark.parametrize("name", DIRECTED)
@given(data=st.data())
@examples(15)
def test_distance_is_no_less_than_the_difference_by_any_labels(
    name: str, data: st.DataObject
) -> None:
    measure = data.draw(versions(name))
    if isinstance(measure.cutoff, int) and data.draw(st.booleans()):
        measure = measure @ data.draw(st.integers(5, 30))
    a, b, judged = data.draw(cases(most=30, free=60))
    grades = data.draw(st.sampled_from(GRADES))
    found = med_of_lists(measure, a, b, judged, grades=grades, offlist="none", max_grade=HIGHEST)
    a, b = a[: measure.depth], b[: measure.depth]
    free = sorted({*a, *b} - {*judged})
    drawn = data.draw(st.lists(st.sampled_from(grades), min_size=len(free), max_size=len(free)))
    labels = {**judged, **dict(zip(free, drawn, strict=True))}
    difference = abs(score(measure, a, labels) - score(measure, b, labels))
    assert found.lower == found.value <= found.upper
    reached, value = (
        attained(measure, (a, b, judged), found, grades[-1]),
        found.value - found.residual,
    )
    assert math.isnan(reached) or close(reached, value)
    assert math.isnan(difference) or difference <= found.upper * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("name", DIRECTED)
@given(data=st.data())
@examples(12)
def test_no_labels_at_all_exceed_the_default(name: str, data: st.DataObject) -> None:
    """Over all grades, and with documents of any grade in neither list: the default is a bound, and it
    is attained where it says exact. Only measures for which other documents do more than divide, or
    ranks beyond the ends count, are not exact."""
    measure = data.draw(versions(name))
    case = data.draw(cases(most=4, free=data.draw(st.integers(0, 4))))
    found = med_of_lists(measure, *case, max_grade=HIGHEST)
    assume(math.isfinite(found.value))
    assert found.grades == (0, 1, 2, 3)
    grades = range(HIGHEST + 1)
    listed = [ahead for pair in with_others(measure, case, grades, ()) for ahead in pair]
    others = data.draw(st.lists(st.sampled_from(grades), max_size=3))
    every = [ahead for pair in with_others(measure, case, grades, others) for ahead in pair]
    most = max((ahead for ahead in (*listed, *every) if not math.isnan(ahead)), default=0.0)
    assert most <= found.upper * (1 + 1e-9) + 1e-12
    plain = measure.monotone or measure.off_list != "counts"
    if plain and not measure.open_ended:
        assert found.exact
        greatest = max((ahead for ahead in listed if not math.isnan(ahead)), default=0.0)
        assert close(found.value, greatest)
    else:
        assert found.exact or found.value <= found.upper


@pytest.mark.parametrize("name", DIRECTED)
@given(data=st.data())
@examples(25)
def test_what_a_measure_says_of_documents_that_a_ranking_lacks(
    name: str, data: st.DataObject
) -> None:
    """They do nothing, or they divide the scores of all rankings of the query by the same number."""
    measure = data.draw(versions(name))
    if measure.off_list == "counts" and not measure.monotone:
        return
    a, b, judged = data.draw(cases(most=4, free=0))
    more = data.draw(st.lists(st.integers(0, HIGHEST), min_size=1, max_size=3))
    wider = {**judged, **{f"off {i}": label for i, label in enumerate(more)}}
    before, after = (
        [score(measure, ranking[: measure.depth], labels) for ranking in (a, b)]
        for labels in (judged, wider)
    )
    if measure.monotone or measure.off_list == "ignored":
        assert after == pytest.approx(before, nan_ok=True)
        return
    for one, other in zip(before, after, strict=True):
        assert -1e-12 <= other <= one * (1 + 1e-12)
    assert close(before[0] * after[1], before[1] * after[0])


@pytest.mark.parametrize("name", DIRECTED)
@given(data=st.data())
@examples(5)
def test_nothing_judged_and_nothing_shared_gives_the_whole_weight(
    name: str, data: st.DataObject
) -> None:
    """Of a measure whose weights go on without end and add up to a number: no end of the list, and no
    length of it, leaves out what comes after."""
    measure = data.draw(versions(name))
    if not (isinstance(measure, Weighted) and measure.monotone) or measure.cutoff is not None:
        return
    best = [HIGHEST] * 20_000
    some, all_of_it = (
        measure.score(best[:count], best, max_grade=HIGHEST) for count in (10_000, 20_000)
    )
    if not math.isclose(some, all_of_it, abs_tol=1e-2):
        return  # no sum
    length = data.draw(st.integers(0, 4))
    found = med_of_lists(
        measure, list(range(length)), list(range(10, 10 + length)), max_grade=HIGHEST
    )
    assert found.exact
    assert found.value == pytest.approx(all_of_it, abs=1e-2)


@pytest.mark.parametrize("name", EXACT)
@given(data=st.data())
@examples(20)
def test_distance_obeys_the_triangle_inequality(name: str, data: st.DataObject) -> None:
    """Each labeling makes a pseudometric of differences, so the greatest does too, if all lists are
    asked about the same labelings. A pair leaves the documents of a third list not relevant: by
    whatever only divides by more for them this is no loss; to Rprec and Q it can be one, so those are
    asked with documents off the lists."""
    measure = data.draw(versions(name))
    assume(getattr(measure, "times", 1) >= 0.1)
    a, b, judged = data.draw(cases(most=8, free=16, judged=data.draw(st.booleans())))
    c = data.draw(st.permutations(range(10)))[: data.draw(st.integers(0, 8))]
    grades = (0, data.draw(st.integers(1, HIGHEST)))
    if name not in OFFLIST:
        grades = data.draw(st.sampled_from(GRADES))
    offlist = "allowed" if name in OFFLIST else "none"

    def distance(first: list[int], second: list[int]) -> float:
        found = med_of_lists(
            measure, first, second, judged, grades=grades, max_grade=HIGHEST, offlist=offlist
        )
        assert found.exact or name == "Q"
        assume(found.exact)  # not where a judged document gains more than a free one can
        return found.value

    direct = distance(a, b)
    assert direct <= (distance(a, c) + distance(c, b)) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize(
    ("measure", "lists", "judged"),
    [
        ("Rprec", ([5, 4, 0], [4, 3], [2]), {0: 0, 1: 0, 3: 1, 4: 0}),
        ("Q@3", ([4, 2, 1], [2, 1, 4], [2, 1, 5]), {2: 0, 4: 0, 6: 1}),
    ],
)
def test_without_documents_off_the_lists_there_is_a_shortcut(
    measure: str, lists: tuple[list[int], ...], judged: dict[int, int]
) -> None:
    """By way of a list that leaves a document of the others not relevant."""
    a, between, b = lists
    for offlist, shorter in (("none", True), ("allowed", False)):

        def distance(x: list[int], y: list[int], offlist: Any = offlist) -> float:
            return med_of_lists(measure, x, y, judged, offlist=offlist).value

        detour = distance(a, between) + distance(between, b)
        assert (detour < distance(a, b) - 1e-9) == shorter
