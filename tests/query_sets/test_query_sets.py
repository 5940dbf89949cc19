"""Query sets: each against its definition in plain Python, and on real queries."""

from __future__ import annotations

import math
import pickle
import statistics
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, strategies as st

import rankgauge as rg
from rankgauge import query_sets
from rankgauge.query_sets import Exclusion, QuerySet, query_types

Grades = dict[str, dict[str, int]]
Ranked = dict[str, dict[str, float]]

queries = st.sampled_from([f"q{i}" for i in range(8)])
documents = st.sampled_from("abcdef")
qrels_of = st.dictionaries(
    queries, st.dictionaries(documents, st.integers(-1, 3), max_size=6), min_size=1
)
run_of = st.dictionaries(queries, st.dictionaries(documents, st.integers(0, 3), min_size=1))
runs_of = st.dictionaries(st.sampled_from(["x", "y", "z"]), run_of, min_size=1, max_size=3)
CUTOFFS = (1, 3)


def plain_differences(
    qrels: Grades, runs: dict[str, Ranked], skip: bool
) -> tuple[dict[str, tuple[Fraction, Fraction, Fraction]], dict[str, int]]:
    """Score, expected score and difference of P@1 and P@3 for each query, and what is left out."""
    found, left_out = {}, {"nothing relevant": 0, "no run": 0}
    for query, grades in qrels.items():
        judged = [grade for grade in grades.values() if grade >= 0]
        relevant = sum(grade >= 1 for grade in judged)
        answers = [run.get(query, {}) for run in runs.values() if query in run or not skip]
        if not relevant:
            left_out["nothing relevant"] += 1
            continue
        if not answers:
            left_out["no run"] += 1
            continue
        cells = []
        for answer in answers:
            ranked = sorted(answer, key=lambda d: (answer[d], d), reverse=True)
            cells += [Fraction(sum(grades.get(d, 0) >= 1 for d in ranked[:k]), k) for k in CUTOFFS]
        chance = [Fraction(min(k, len(judged)) * relevant, k * len(judged)) for k in CUTOFFS]
        score, expected = statistics.mean(cells), statistics.mean(chance)
        found[query] = score, expected, score - expected
    return found, {reason: count for reason, count in left_out.items() if count}


def plain_hard(uninformative: list[str], score: dict[str, Fraction]) -> list[str]:
    """Those below their median; several that have just the median, where that is below the median
    of all queries."""
    if not uninformative:
        return []
    middle = statistics.median(score[q] for q in uninformative)
    at_middle = [q for q in uninformative if score[q] == middle]
    below = [q for q in uninformative if score[q] < middle]
    all_hard = len(at_middle) > 1 and middle < statistics.median(score.values())
    return below + at_middle if all_hard else below


SEVERAL_AT_THE_MEDIAN = (
    {"q3": {"a": 0, "b": 1, "c": 1}, "q1": {"a": 1, "b": 0}, "q0": {"b": 1, "a": 0}}
    | {"q2": {"d": 1, "a": 0}},
    {
        "x": {"q1": {"a": 0}, "q0": {"a": 0, "b": 0}},
        "y": {"q0": {"a": 0}, "q3": {"b": 0, "c": 0}, "q1": {"a": 0}}
        | {"q2": {"a": 0, "b": 0, "d": 0}},
    },
)


@given(qrels_of, runs_of, st.booleans(), st.floats(0, 1), st.booleans())
@example(*SEVERAL_AT_THE_MEDIAN, False, 0.5, True)
def test_sets_are_what_their_definitions_say(
    qrels: Grades, runs: dict[str, Ranked], skip: bool, share: float, absolute: bool
) -> None:
    assume(all(set(qrels) & set(run) for run in runs.values()))
    missing = "skip" if skip else "zero"
    scores = rg.evaluate(qrels, runs, ["P@1", "P@3"], missing=missing)
    found, left_out = plain_differences(qrels, runs, skip)
    size = math.floor(share * len(found) + 0.5)
    difference = {query: row[2] for query, row in found.items()}
    best = sorted(found, key=lambda q: -difference[q])[:size]
    key = (lambda q: abs(difference[q])) if absolute else difference.__getitem__
    least = sorted(found, key=key)[:size]
    low = plain_hard(least, {query: row[0] for query, row in found.items()})
    by = "absolute" if absolute else "signed"

    for choice in ({"share": share}, {"number": size}):
        chosen = query_sets.ideal(scores, qrels, **choice)
        assert list(chosen) == [q for q in qrels if q in best]
        assert dict(chosen.left_out) == left_out
        rest = query_sets.uninformative(scores, qrels, by=by, **choice)
        assert list(rest) == [q for q in qrels if q in least]
        hard = query_sets.hard(scores, qrels, by=by, **choice)
        assert list(hard) == [q for q in qrels if q in low]
        easy = query_sets.easy(scores, qrels, by=by, **choice)
        assert list(easy) == [q for q in rest if q not in low]

    types = query_types(scores, qrels, share=share, by=by)
    assert types.queries == tuple(found)
    for place, shown in enumerate((types.scores, types.expected, types.differences)):
        assert shown == pytest.approx([float(row[place]) for row in found.values()])
    assert types.types == tuple(
        "uninformative hard"
        if q in low
        else "uninformative easy"
        if q in least
        else "ideal"
        if q in best
        else "other"
        for q in found
    )
    assert sum(types.counts().values()) == len(found)
    assert scores.select(types.sets()["other"]).queries == types.sets()["other"].queries


@given(qrels_of, runs_of, st.sampled_from([-2, "-1/4", 0, "1/12", "1/3", "1/2", 2]).map(Fraction))
def test_a_threshold_is_part_of_both_sets(
    qrels: Grades, runs: dict[str, Ranked], limit: Fraction
) -> None:
    assume(all(set(qrels) & set(run) for run in runs.values()))
    scores = rg.evaluate(qrels, runs, ["P@1", "P@3"])
    found, _ = plain_differences(qrels, runs, skip=False)
    threshold = float(limit)
    assert list(query_sets.ideal(scores, qrels, threshold=threshold)) == [
        q for q, row in found.items() if row[2] >= limit
    ]
    assert list(query_sets.uninformative(scores, qrels, threshold=threshold)) == [
        q for q, row in found.items() if row[2] <= limit
    ]
    assert list(query_sets.informative(scores, qrels, threshold=threshold)) == [
        q for q, row in found.items() if row[2] > limit
    ]
    close = query_sets.uninformative(scores, qrels, threshold=threshold, by="absolute")
    assert list(close) == [q for q, row in found.items() if abs(row[2]) <= limit]


QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1, "b": 1}, "q4": {"a": 0}}
RUN = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}, "q3": {"a": 1.0}, "q4": {"a": 1.0}}


def test_of_equal_differences_the_earlier_queries_are_taken() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in (3, 1, 2)}
    scores = rg.evaluate(qrels, {q: {"a": 1.0} for q in qrels}, "P@1")
    assert query_sets.ideal(scores, qrels, number=2).queries == ("q3", "q1")
    assert query_sets.uninformative(scores, qrels, number=2).queries == ("q3", "q1")
    chosen = scores.select(["q2", "q1"])
    assert query_sets.ideal(chosen, qrels, number=1).queries == ("q2",)


EDGE = 0.2500000000005
"""Of numbers just around it, some are 0.25 to twelve decimals and some are not."""


def test_numbers_that_only_rounding_tells_apart_are_equal_at_any_edge() -> None:
    qrels = {q: {"a": 1, "b": 0} for q in ("q1", "q2", "q3", "q4", "q5", "q6")}
    scores = rg.evaluate(qrels, {q: {"a": 1.0} for q in qrels}, "P@1")
    values = np.array([EDGE + 1e-15, EDGE - 1e-15, EDGE + 2e-15, 0.9, 0.1, EDGE]).reshape(1, 6, 1)
    near = rg.Scores(**{**vars(scores), "values": values})
    equal = ("q1", "q2", "q3", "q6")
    assert query_sets.ideal(near, qrels, number=3).queries == ("q1", "q2", "q4")
    assert query_sets.uninformative(near, qrels, number=3).queries == ("q1", "q2", "q5")
    nearest = query_sets.uninformative(near, qrels, number=2, by="absolute")
    assert nearest.queries == ("q1", "q2")
    limit = EDGE - 0.5
    assert query_sets.ideal(near, qrels, threshold=limit).queries == ("q1", "q2", "q3", "q4", "q6")
    assert query_sets.informative(near, qrels, threshold=limit).queries == ("q4",)
    assert query_sets.uninformative(near, qrels, threshold=limit).queries == (
        *equal[:3],
        "q5",
        "q6",
    )
    assert query_sets.easy(near, qrels, number=5).queries == equal
    assert query_sets.hard(near, qrels, number=5).queries == ("q5",)


def test_rounding_is_measured_by_the_size_of_the_numbers() -> None:
    qrels = {q: {"a": 1, "b": 0} for q in ("q1", "q2", "q3")}
    scores = rg.evaluate(qrels, {q: {"a": 1.0} for q in qrels}, "SearchLength")
    values = np.array([1e9 + 1e-6, 1e9, 1e9 + 1]).reshape(1, 3, 1)
    long = rg.Scores(**{**vars(scores), "values": values})
    assert query_sets.ideal(long, qrels, number=1).queries == ("q1",)
    assert query_sets.uninformative(long, qrels, number=1).queries == ("q3",)


def test_ties_among_many_queries_go_to_the_earlier_ones_too() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0} for i in range(500)}
    run = {f"q{i}": {"a": 1.0} if i % 3 else {"b": 1.0} for i in range(500)}
    scores = rg.evaluate(qrels, run, "P@1")
    found = [f"q{i}" for i in range(500) if i % 3]
    assert list(query_sets.ideal(scores, qrels, number=50)) == found[:50]
    assert list(query_sets.ideal(scores, qrels, threshold=0.5)) == found


def test_where_lower_is_better_a_shorter_search_is_ideal() -> None:
    qrels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 1, "b": 0, "c": 0}}
    run = {"q1": {"c": 3.0, "b": 2.0, "a": 1.0}, "q2": {"a": 3.0, "b": 2.0, "c": 1.0}}
    scores = rg.evaluate(qrels, run, "SearchLength")
    types = query_types(scores, qrels, number=1)
    assert types.differences.tolist() == [-1.0, 1.0]
    assert types.types == ("uninformative easy", "ideal")
    assert query_sets.hard(scores, qrels, number=2).queries == ("q1",)


def test_a_query_without_anything_relevant_to_a_measure_is_left_out() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2, "b": 0}, "q3": {"a": 0}}
    scores = rg.evaluate(qrels, {q: {"a": 1.0} for q in qrels}, ["P@1", "P(rel=2)@1"])
    chosen = query_sets.ideal(scores, qrels, share=1)
    assert chosen.queries == ("q2",)
    assert chosen.left_out == (Exclusion("nothing relevant", 2),)


def test_an_undefined_score_leaves_the_query_out() -> None:
    scores = rg.evaluate(QRELS, {"x": RUN, "y": RUN}, "P@1")
    values = scores.values.copy()
    values[1, 0, 0] = np.nan
    holes = rg.Scores(**{**vars(scores), "values": values})
    chosen = query_sets.uninformative(holes, QRELS, share=1)
    assert chosen.queries == ("q2", "q3")
    assert chosen.left_out == (Exclusion("nothing relevant", 1), Exclusion("an undefined score", 1))


class Unexpected(rg.Measure):
    """A measure whose expected value is not defined where there are three judged documents."""

    name = "Unexpected"

    def _score(self, lists):
        return np.ones(len(lists))

    def expected_each(self, judged):
        return np.where(judged.sizes == 3, np.nan, 0.5)


def test_an_undefined_expected_score_leaves_the_query_out() -> None:
    qrels = {"q1": {"a": 1, "b": 0, "c": 0}, "q2": {"a": 1}, "q3": {"a": 0, "b": 0, "c": 0}}
    chosen = query_sets.ideal(rg.evaluate(qrels, {"q2": {"a": 1}}, Unexpected()), qrels, share=1)
    assert chosen.queries == ("q2",)
    assert chosen.left_out == (Exclusion("nothing relevant", 1), Exclusion("an undefined score", 1))


def test_where_all_queries_are_barren_the_sets_are_empty() -> None:
    qrels = {"q1": {"a": 0}, "q2": {"a": -1}, "q3": {}}
    scores = rg.evaluate(qrels, {"q1": {"a": 1.0}}, ["nDCG@10", "AP"])
    for choose in (query_sets.ideal, query_sets.uninformative, query_sets.hard, query_sets.easy):
        chosen = choose(scores, qrels, share=0.5)
        assert (len(chosen), chosen.left_out) == (0, (Exclusion("nothing relevant", 3),))
    types = query_types(scores, qrels)
    assert set(types.counts().values()) == {0}
    assert types.table().notes[-1] == "excluded: 3 with nothing relevant"
    assert scores.select(chosen).queries == ()


def test_one_query_is_a_set_of_its_own() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    scores = rg.evaluate(qrels, {"q": {"a": 1.0}}, "P@1")
    assert query_sets.ideal(scores, qrels, number=1).queries == ("q",)
    assert query_sets.easy(scores, qrels, number=1).queries == ("q",)
    assert query_sets.hard(scores, qrels, number=1).queries == ()
    assert query_types(scores, qrels).types == ("other",)


def test_an_aggregate_counts_as_its_measure() -> None:
    scores = rg.evaluate(QRELS, RUN, "gm(P@1)")
    assert query_types(scores, QRELS).differences.tolist() == [0.5, -0.5, 0.0]


def test_a_set_is_immutable_and_says_what_it_is() -> None:
    scores = rg.evaluate(QRELS, RUN, "P@1")
    chosen = query_sets.ideal(scores, QRELS, number=2)
    assert repr(chosen) == "QuerySet ideal: 2 queries (excluded: 1 with nothing relevant)"
    assert "q1" in chosen
    assert "q2" not in chosen
    assert pickle.loads(pickle.dumps(chosen)) == chosen
    assert hash(chosen) == hash(QuerySet("ideal", ("q1", "q3"), chosen.left_out))
    with pytest.raises(AttributeError):
        chosen.queries = ()  # type: ignore[misc]


def test_types_show_as_a_table() -> None:
    types = query_types(rg.evaluate(QRELS, RUN, "P@1"), QRELS, threshold=(0, 0.5))
    table = types.table()
    assert table.columns == ("topic", "score", "expected", "difference", "type")
    assert table.rows[2] == ("q3", 1.0, 1.0, 0.0, "uninformative easy")
    assert "uninformative hard" in repr(types)
    assert "<td" in types._repr_html_()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "expected exactly one of number, share, threshold"),
        ({"number": 1, "share": 0.5}, "number and share given, expected exactly one"),
        ({"number": 4}, "number=4, but only 3 queries can be chosen"),
        ({"number": -1}, "number=-1, expected a whole number from 0"),
        ({"number": 1.5}, "number=1.5, expected a whole number"),
        ({"share": 1.5}, "share=1.5, expected a number from 0 to 1"),
        ({"threshold": math.nan}, "threshold=nan, expected a number"),
        ({"threshold": "high"}, "threshold='high', expected a number"),
        ({"number": 1, "by": "size"}, "by='size', expected one of signed, absolute"),
    ],
)
def test_a_choice_that_makes_no_sense_is_refused(options: dict, message: str) -> None:
    scores = rg.evaluate(QRELS, RUN, "P@1")
    with pytest.raises(rg.RankgaugeError, match=message):
        query_sets.uninformative(scores, QRELS, **options)


@pytest.mark.parametrize("threshold", [0.5, (0.5,), "ab", (0.5, 0.1), (0.1, None)])
def test_types_need_two_thresholds_in_order(threshold: object) -> None:
    scores = rg.evaluate(QRELS, RUN, "P@1")
    with pytest.raises(rg.RankgaugeError, match="expected"):
        query_types(scores, QRELS, threshold=threshold)  # type: ignore[arg-type]


def test_scores_that_say_nothing_are_refused() -> None:
    with pytest.raises(rg.RankgaugeError, match="expected at least one run and one measure"):
        query_sets.ideal(rg.evaluate(QRELS, RUN, "P@1").select(runs=[]), QRELS, number=1)
    with pytest.raises(rg.RankgaugeError, match="higher must be better for all"):
        query_sets.ideal(rg.evaluate(QRELS, RUN, ["P@1", "SearchLength"]), QRELS, number=1)
    with pytest.raises(rg.RankgaugeError, match="got: NumRet"):
        query_sets.ideal(rg.evaluate(QRELS, RUN, "NumRet"), QRELS, number=1)


def test_other_judgments_than_those_of_the_scores_are_refused() -> None:
    scores = rg.evaluate(QRELS, RUN, "P@1")
    for other in ({"q1": {"a": 1}}, {**QRELS, "q1": {"a": 0}}):
        with pytest.raises(rg.RankgaugeError, match="expected the judgments used to compute"):
            query_sets.ideal(scores, other, number=1)


@given(qrels_of, st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), st.integers(0, 3))
def test_broad_queries_have_their_share_of_high_labels(
    qrels: Grades, share: float, label: int
) -> None:
    judged = {q: [g for g in row.values() if g >= 0] for q, row in qrels.items()}
    wide = {
        q: sum(g >= label for g in grades) / len(grades) >= share
        for q, grades in judged.items()
        if grades
    }
    broad = query_sets.broad(qrels, share=share, label=label)
    focused = query_sets.focused(qrels, share=share, label=label)
    assert list(broad) == [q for q, is_wide in wide.items() if is_wide]
    assert list(focused) == [q for q, is_wide in wide.items() if not is_wide]
    without = len(qrels) - len(wide)
    assert dict(broad.left_out) == ({"nothing judged": without} if without else {})

    backwards = dict(reversed(qrels.items()))
    for choose, whole in ((query_sets.broad, broad), (query_sets.focused, focused)):
        even = choose(qrels, share=share, label=label, balanced=True, seed=3)
        assert len(even) == min(len(broad), len(focused))
        assert list(even) == [q for q in whole if q in even]
        assert sum(dict(even.left_out).values()) == without + len(whole) - len(even)
        again = choose(backwards, share=share, label=label, balanced=True, seed=3)
        assert set(again) == set(even)


def test_a_share_is_taken_as_it_is_written() -> None:
    qrels = {"q": {f"d{i}": 2 if i < 7 else 0 for i in range(100)}}
    assert len(query_sets.broad(qrels, share=0.07)) == 1  # 0.07 * 100 > 7 in floating point


@given(qrels_of, st.integers(2, 4), st.integers(0, 5))
def test_a_split_puts_each_document_in_one_part(qrels: Grades, ways: int, seed: int) -> None:
    parts = query_sets.document_splits(qrels, ways, seed)
    tables = [as_dict(part) for part in parts]
    assert len(tables) == ways
    for table in tables:
        assert list(table) == list(qrels)
    for query, row in qrels.items():
        joined = [item for table in tables for item in table[query].items()]
        assert len(joined) == len(row)
        assert dict(joined) == row
        for kind in (lambda grade: grade >= 0, lambda grade: True):
            sizes = [sum(map(kind, table[query].values())) for table in tables]
            assert max(sizes) - min(sizes) <= 1
    backwards = {q: dict(reversed(row.items())) for q, row in reversed(qrels.items())}
    assert [as_dict(part) for part in query_sets.document_splits(backwards, ways, seed)] == tables


def as_dict(judgments: rg.Judgments) -> Grades:
    documents, bounds = judgments.documents.texts(), judgments.bounds.tolist()
    grades = judgments.grades.tolist()
    return {
        query: dict(zip(documents[a:b], grades[a:b], strict=True))
        for query, a, b in zip(judgments.queries.texts(), bounds, bounds[1:], strict=False)
    }


def test_a_split_is_fair_and_its_seed_counts() -> None:
    qrels = {f"q{i}": {"a": 1, "b": 0, "c": 2} for i in range(2000)}
    left, right = (len(part.grades) for part in query_sets.document_splits(qrels))
    assert left + right == 6000
    assert abs(left - 3000) < 5 * math.sqrt(2000) / 2  # who gets the odd document is drawn
    one, two = (as_dict(query_sets.document_splits(qrels, seed=seed)[0]) for seed in (0, 1))
    assert one != two
    with_a = sum("a" in row for row in one.values())
    assert abs(with_a - 1000) < 5 * math.sqrt(2000) / 2


def test_the_parts_are_judgments_with_their_own_ideal() -> None:
    qrels = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"a": 1}}
    run = {"q1": {"b": 4.0, "a": 3.0, "c": 2.0}, "q2": {"a": 1.0}}
    for part in query_sets.document_splits(qrels):
        kept = as_dict(part)
        alone = {q: {d: s for d, s in run[q].items() if d in kept[q]} for q in run}
        scores = rg.evaluate(part, run, ["nDCG@10", "AP"], unjudged="condensed")
        assert scores.queries == ("q1", "q2")
        assert np.array_equal(scores.values, rg.evaluate(kept, alone, ["nDCG@10", "AP"]).values)


def test_a_split_keeps_subtopics() -> None:
    qrels = rg.Judgments.from_subtopics(
        {"q1": {"1": {"a": 1, "b": 0, "c": 2}, "2": {"b": 3, "d": 1}}, "q2": {"1": {"a": 1}}}
    )
    parts = query_sets.document_splits(qrels, seed=1)
    entries = []
    for part in parts:
        aspects = part.subtopics
        assert aspects is not None
        names, documents = aspects.names.texts(), part.documents.texts()
        row = np.repeat(np.arange(len(documents)), np.diff(aspects.offsets))
        query = np.repeat(np.arange(2), np.diff(part.bounds))
        entries += [
            (int(query[r]), names[n], documents[r], int(g))
            for r, n, g in zip(row, aspects.numbers, aspects.grades, strict=True)
        ]
    assert sorted(entries) == [
        (0, "1", "a", 1),
        (0, "1", "b", 0),
        (0, "1", "c", 2),
        (0, "2", "b", 3),
        (0, "2", "d", 1),
        (1, "1", "a", 1),
    ]
    assert sorted(d for part in parts for d in as_dict(part)["q1"]) == ["a", "b", "c", "d"]


@given(st.lists(st.text(max_size=3), unique=True), st.floats(0, 1), st.integers(0, 9))
def test_a_sample_is_drawn_by_ids_and_seed(ids: list[str], share: float, seed: int) -> None:
    size = math.floor(share * len(ids) + 0.5)
    try:
        sample = query_sets.query_sample(ids, share=share, seed=seed)
    except rg.InputError:
        assert any(not c.isprintable() for text in ids for c in text)  # a lone surrogate
        return
    assert sample == query_sets.query_sample(iter(ids), number=size, seed=seed)
    assert list(sample) == [query for query in ids if query in sample]
    assert len(sample) == size
    assert set(query_sets.query_sample(ids[::-1], share=share, seed=seed)) == set(sample)
    for more in range(size, len(ids) + 1):
        assert set(sample) <= set(query_sets.query_sample(ids, number=more, seed=seed))


def test_every_query_is_as_likely_to_be_drawn() -> None:
    ids = [f"q{i}" for i in range(10)]
    drawn = np.zeros(10)
    for seed in range(2000):
        for query in query_sets.query_sample(ids, number=3, seed=seed):
            drawn[ids.index(query)] += 1
    assert (abs(drawn - 600) < 5 * math.sqrt(2000 * 0.3 * 0.7)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: query_sets.query_sample("q1", number=1),
            "'q1' is a single string, expected several",
        ),
        (lambda: query_sets.query_sample(["q1"]), "give exactly one of number and share"),
        (
            lambda: query_sets.query_sample(["q1"], number=2),
            "number=2, but only 1 query can be chosen",
        ),
        (lambda: query_sets.query_sample(["q1"], number=1, seed=-1), "seed=-1, expected"),
        (lambda: query_sets.document_splits(QRELS, 1), "ways=1, expected a whole number from 2"),
        (lambda: query_sets.document_splits(QRELS, seed="x"), "seed='x', expected"),
        (lambda: query_sets.broad(QRELS, share=2), "share=2, expected a number from 0 to 1"),
        (lambda: query_sets.focused(QRELS, label=-1), "label=-1, expected a whole number"),
    ],
)
def test_what_cannot_be_drawn_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(rg.RankgaugeError, match=message):
        call()


def mq2008(real_data: Callable[[str], Path]) -> tuple[rg.Judgments, rg.Run]:
    """The judgments of all five parts, and a run of one feature, BM25 of the whole document."""
    qrels: Grades = {}
    run: Ranked = {}
    for number in range(1, 6):
        part = rg.read_letor(real_data(f"mq2008/S{number}.txt.gz"))
        assert part.documents is not None
        documents, bounds = part.documents.texts(), part.bounds.tolist()
        for query, a, b in zip(part.queries.texts(), bounds, bounds[1:], strict=False):
            qrels[query] = dict(zip(documents[a:b], part.labels[a:b].tolist(), strict=True))
            run[query] = dict(zip(documents[a:b], part.values[a:b, 24].tolist(), strict=True))
    return rg.Judgments.from_dict(qrels), rg.Run.from_dict(run)


def test_the_queries_of_mq2008(real_data: Callable[[str], Path]) -> None:
    judgments, run = mq2008(real_data)
    broad, focused = query_sets.broad(judgments), query_sets.focused(judgments)
    assert (len(broad), len(focused)) == (14, 770)
    assert len(query_sets.focused(judgments, balanced=True)) == 14
    scores = rg.evaluate(judgments, run, ["nDCG@5", "nDCG@10", "nDCG@20"])
    types = query_types(scores, judgments, number=100)
    assert types.left_out == (Exclusion("nothing relevant", 220),)
    assert sum(types.counts().values()) == 564
    assert types.counts()["ideal"] == 100
    means = {
        name: np.mean([scores.select(chosen).mean()["run"][m] for m in scores.measures])
        for name, chosen in types.sets().items()
    }
    assert means["ideal"] > means["other"] > means["uninformative hard"]
    assert means["uninformative easy"] > means["uninformative hard"]
    parts = query_sets.document_splits(judgments)
    assert sum(len(part.grades) for part in parts) == 15211
    assert all(len(part.queries) == 784 for part in parts)
