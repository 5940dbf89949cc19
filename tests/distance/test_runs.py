"""Distances of whole runs: query by query, whoever does the work."""

from __future__ import annotations

import random
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge.core.notes import note_texts
from rankgauge.errors import RankgaugeError

ROUND = "trec-covid/round1"
A = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"d": 2.0, "e": 1.0}}
B = {"1": {"b": 3.0, "x": 2.0, "a": 1.0}, "3": {"f": 1.0}}
C = {"1": {"c": 3.0, "a": 2.0}, "2": {"e": 2.0, "d": 1.0}, "3": {"g": 1.0}}
RUNS = {"first": A, "second": B, "third": C}
QRELS = {"1": {"a": 1, "b": 0, "z": 2}, "2": {"d": 0}, "4": {"q": 1}}

Run = dict[str, dict[str, float]]


def ranked(run: Run, query: str) -> list[str]:
    scores = run.get(query, {})
    return sorted(sorted(scores, reverse=True), key=lambda d: -scores[d])


def by_lists(measure: str, a: Run, b: Run, query: str, judged: bool) -> float:
    """The distance of the two lists alone; grades and the highest are those of all judgments."""
    labels = QRELS.get(query, {}) if judged else {}
    options = {"grades": (0, 2), "max_grade": 2} if judged else {}
    return rg.med(ranked(a, query), ranked(b, query), measure, labels, **options).value


@pytest.mark.parametrize("measure", ["nDCG@2", "AP@2", "ERR", "RBP", "Rprec", "Q@3", "bpref", "RR"])
@pytest.mark.parametrize("judged", [False, True])
def test_each_query_is_a_pair_of_lists(measure: str, judged: bool) -> None:
    """Of the judged queries, or without judgments of all that a run has; what a run lacks is an empty
    list."""
    found = rg.med(A, B, measure, QRELS if judged else None)
    assert found.runs == ("a", "b")
    assert found.pairs == [(0, 1)]
    assert found.queries == (("1", "2", "4") if judged else ("1", "2", "3"))
    expected = [by_lists(measure, A, B, query, judged) for query in found.queries]
    assert np.asarray(found).tolist() == [pytest.approx(expected)]
    assert found.per_query() == pytest.approx(dict(zip(found.queries, expected, strict=True)))
    assert found.mean() == pytest.approx(sum(expected) / 3)


@pytest.mark.parametrize("measure", ["nDCG@2", "AP@2", "RBP", "Q@3"])
def test_all_pairs(measure: str) -> None:
    seen: list[str] = []
    found = rg.med_matrix(QRELS, RUNS, measure, progress=seen.append)
    assert found.runs == ("first", "second", "third")
    assert seen == list(found.queries) == ["1", "2", "4"]
    square = found.matrix()
    assert (square == square.T).all()
    assert not np.diag(square).any()
    for p, (a, b) in enumerate(found.pairs):
        one, other = (list(RUNS.values())[i] for i in (a, b))
        expected = [by_lists(measure, one, other, query, True) for query in found.queries]
        assert found.values[p].tolist() == pytest.approx(expected)
        assert square[a, b] == pytest.approx(sum(expected) / 3)
        for query, value in zip(found.queries, expected, strict=True):
            for ends in ((a, b), (found.runs[a], found.runs[b])):
                single = found.distance(query, *ends)
                assert single.value == pytest.approx(value)
                free = {*one.get(query, {}), *other.get(query, {})} - {*QRELS[query]}
                assert single.witness().labels.keys() <= free
    assert sorted(found.order()) == [0, 1, 2]


def test_one_worker_or_more_make_no_difference() -> None:
    for measure in ("AP@2", "nDCG@3", "bpref"):
        alone = rg.med_matrix(QRELS, RUNS, measure)
        for kind in (ThreadPoolExecutor, ProcessPoolExecutor):
            for workers in (1, 2):
                with kind(workers) as executor:
                    found = rg.med_matrix(QRELS, RUNS, measure, executor=executor)
                assert found.values.tolist() == alone.values.tolist()
                assert found.queries == alone.queries
                assert found.distance("1", 0, 2) == alone.distance("1", 0, 2)
        with ThreadPoolExecutor(2) as executor:
            pair = rg.med(A, B, measure, QRELS, executor=executor)
        assert pair.values[0].tolist() == alone.values[0].tolist()


def test_ties_are_broken_as_asked() -> None:
    tied = {"1": {"a": 1.0, "b": 1.0}}
    plain = {"1": {"b": 2.0, "a": 1.0}}
    assert rg.med_matrix(None, {"x": tied, "y": plain}, "RR").mean() == 0  # by id, the last first
    assert rg.med_matrix(None, {"x": tied, "y": plain}, "RR", ties="input").mean() == 0.5


def test_forms_of_runs(tmp_path: Path) -> None:
    files = []
    for name, run in RUNS.items():
        files.append(tmp_path / f"{name}.run")
        rg.write_run(rg.Run.from_dict(run), files[-1])
    from_files = rg.med_matrix(QRELS, files, "AP@2")
    assert from_files.values.tolist() == rg.med_matrix(QRELS, RUNS, "AP@2").values.tolist()
    two = rg.med(files[0], files[1], "AP@2", QRELS)
    assert two.values.tolist() == from_files.values[:1].tolist()


def test_refused() -> None:
    with pytest.raises(RankgaugeError, match="at least two"):
        rg.med_matrix(None, {"only": A}, "AP@2")
    found = rg.med(A, B, "AP@2")
    with pytest.raises(RankgaugeError, match="no distance for query '9'"):
        found.distance("9")
    for run in ("none", 2, -1):
        with pytest.raises(RankgaugeError, match="no run"):
            found.distance("1", run, 0)


runs = st.dictionaries(
    st.sampled_from(["1", "2", "3"]),
    st.dictionaries(st.sampled_from("abcdefg"), st.sampled_from([1.0, 2.0, 3.0]), min_size=1),
    min_size=1,
)


@given(st.lists(runs, min_size=2, max_size=4), st.sampled_from(["AP@3", "nDCG@3", "ERR@3", "P@3"]))
@examples(50)
def test_random_runs(some: list[Run], measure: str) -> None:
    found = rg.med_matrix(QRELS, {f"run {i}": run for i, run in enumerate(some)}, measure)
    for p, (a, b) in enumerate(found.pairs):
        expected = [by_lists(measure, some[a], some[b], query, True) for query in found.queries]
        assert found.values[p].tolist() == pytest.approx(expected)


@pytest.mark.parametrize("measure", ["nDCG@10", "AP@10"])
def test_no_judgments_tell_runs_further_apart(
    measure: str, any_data: Callable[[str], Path]
) -> None:
    """On every query of every pair: difference ≤ distance given the judgments ≤ distance without them.

    The judgments have documents that neither run has, which make the divisor of AP@10 and nDCG@10
    larger and a distance smaller."""
    drawn = random.Random(10)
    files = sorted(any_data(f"{ROUND}/runs").glob("*.gz"))
    some = {path.stem: path for path in drawn.sample(files, 12)}
    qrels = any_data(f"{ROUND}/qrels/qrels-rnd1.txt")
    options = {"grades": (0, 1, 2), "max_grade": 2}
    without = rg.med_matrix(None, some, measure, **options)
    given = rg.med_matrix(qrels, some, measure, **options)
    scores = rg.evaluate(qrels, some, [measure])
    assert len(without.queries) == len(given.queries) == 30
    order = [without.queries.index(query) for query in given.queries]
    true = np.asarray(scores)[:, :, 0]
    assert scores.runs == given.runs
    assert list(scores.queries) == list(given.queries)
    compared = 0
    for p, (a, b) in enumerate(given.pairs):
        difference = np.abs(true[a] - true[b])
        assert (difference <= given.values[p] + 1e-12).all()
        assert (given.values[p] <= without.values[p, order] + 1e-12).all()
        compared += len(difference)
    assert compared == 66 * 30


def test_topics_that_a_run_lacks_are_counted() -> None:
    qrels = {"q1": {"x": 1}, "q2": {"x": 1}}
    runs = {
        "one": {"q1": {"x": 1.0}, "q9": {"x": 1.0}},
        "two": {"q1": {"y": 1.0}, "q2": {"x": 1.0}},
    }
    assert note_texts(rg.med_matrix(qrels, runs, "nDCG@2").notes) == (
        "one: 1 query missing, treated as empty lists",
        "one: queries without judgments, excluded: 1",
    )


def test_a_pair_is_exact_whatever_other_pairs_are() -> None:
    runs = {
        "a": {"q": {f"d{i}": -float(i) for i in range(3)}},
        "b": {"q": {f"d{2 - i}": -float(i) for i in range(3)}},
        "c": {"q": {f"e{i}": -float(i) for i in range(40)}},
    }
    found = rg.med_matrix(None, runs, "bpref")
    assert not found.exact
    assert found.distance("q", "a", "b").exact
    assert found.distance("q", "a", "b").value == found.values[0, 0] == found.upper[0, 0]


def test_the_highest_grade_of_a_collection_counts_for_a_pool_without_it() -> None:
    """Nobody retrieved the document of grade 3, so it is in no pool. ERR and the labels that unjudged
    documents may get still go up to 3."""
    qrels = {"q": {"a": 1, "b": 2, "z": 3}}
    runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["y", "b"]}}
    pooled = rg.pool(qrels, runs, 2)
    assert pooled.grades.max() == 2
    for measure in ("ERR@2", "DCG(gain=scaled)@2", "DCG@2"):
        whole, part = (rg.med_matrix(each, runs, measure) for each in (qrels, pooled))
        assert part.values.tolist() == whole.values.tolist(), measure
        alone = rg.med_matrix({"q": {"a": 1, "b": 2}}, runs, measure)
        assert alone.values.tolist() != whole.values.tolist(), measure
    given = rg.med_matrix(pooled, runs, "ERR@2", max_grade=2)
    assert (
        given.values.tolist()
        == rg.med_matrix({"q": {"a": 1, "b": 2}}, runs, "ERR@2").values.tolist()
    )
