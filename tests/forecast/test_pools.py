"""Pools: which judgments are made, as defined; laws of pools; the ways in; counts and grades."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import rankgauge as rg
from oracles import pools as oracle
from profiles import examples

TOPICS = ("q1", "q2", "q3")
DOCUMENTS = tuple("abcdefgh")
MEASURES = [
    "nDCG",
    "AP",
    "ERR@3",
    "bpref",
    "infAP",
    "P@2",
    "nDCG(gain=scaled)@4",
    "v2(nDCG@3,null=pool)",
]

grades = st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(-2, 3), max_size=8)
qrels_dicts = st.fixed_dictionaries(dict.fromkeys(TOPICS, grades))
scores = st.sampled_from([0.5, 1.0, 1.5, 2.0])
one_run = st.dictionaries(
    st.sampled_from((*TOPICS, "q9")),
    st.dictionaries(st.sampled_from(DOCUMENTS), scores, max_size=8),
    max_size=4,
).filter(lambda run: any(topic in run for topic in TOPICS))
several = st.lists(one_run, min_size=1, max_size=4)
depths = st.integers(1, 9) | st.none()


def named(runs: list[Any]) -> dict[str, Any]:
    return {f"run {number}": run for number, run in enumerate(runs)}


def as_dict(judgments: rg.Judgments) -> dict[str, dict[str, int]]:
    documents, bounds = judgments.documents.texts(), judgments.bounds.tolist()
    return {
        query: dict(zip(documents[a:b], judgments.grades[a:b].tolist(), strict=True))
        for query, a, b in zip(judgments.queries.texts(), bounds, bounds[1:], strict=False)
    }


@given(qrels_dicts, several, depths, st.sampled_from(["docno", "docno-ascending", "input"]))
def test_a_pool_is_as_defined(
    qrels: dict[str, dict[str, int]], runs: list[Any], depth: int | None, ties: Any
) -> None:
    pools = oracle.pooled(qrels, runs, depth, ties)
    expected = oracle.judged(qrels, pools)
    found = rg.pool(qrels, named(runs), depth, ties=ties)
    assert as_dict(found) == expected
    counts = found.counts
    assert counts.pooled.tolist() == [len(pools[topic]) for topic in qrels]
    for what, least in (("judged", 0), ("relevant", 1)):
        kept = [sum(grade >= least for grade in expected[topic].values()) for topic in qrels]
        assert getattr(counts, what).tolist() == kept
        assert counts.total[what] == sum(kept)
    assert counts.total["never_judged"] == counts.total["pooled"] - counts.total["judged"]


# Laws


@given(qrels_dicts, several, st.sampled_from(["docno", "docno-ascending", "input", "random"]))
def test_pools_nest_as_depth_grows(
    qrels: dict[str, dict[str, int]], runs: list[Any], ties: Any
) -> None:
    pools = [rg.pool(qrels, named(runs), depth, ties=ties) for depth in (1, 2, 3, 5, 8, None)]
    for smaller, larger in itertools.pairwise(pools):
        assert (smaller.counts.pooled <= larger.counts.pooled).all()
        inside = as_dict(larger)
        for topic, judged in as_dict(smaller).items():
            assert judged.items() <= inside[topic].items()
    assert as_dict(pools[-1]) == as_dict(pools[-2])  # no run has more than eight documents


@given(qrels_dicts, several, depths, st.randoms(use_true_random=False))
def test_the_order_of_runs_does_not_matter(
    qrels: dict[str, dict[str, int]], runs: list[Any], depth: int | None, random: Any
) -> None:
    mixed = list(runs)
    random.shuffle(mixed)
    first, second = (rg.pool(qrels, named(some), depth) for some in (runs, mixed))
    assert as_dict(first) == as_dict(second)
    assert (first.counts.pooled == second.counts.pooled).all()
    assert first.queries.texts() == list(qrels)


@given(qrels_dicts, several, st.integers(1, 8), st.sampled_from(["docno", "input", "random"]))
def test_a_run_in_the_pool_has_its_first_documents_judged(
    qrels: dict[str, dict[str, int]], runs: list[Any], depth: int, ties: Any
) -> None:
    """So whoever looks at the first `depth` documents alone sees what all judgments say; the order is
    the order in which the runs are scored."""
    measures = [f"P(rel={rel})@{depth}" for rel in (1, 2)] + [f"DCG@{depth}", f"Judged@{depth}"]
    small = rg.evaluate(
        rg.pool(qrels, named(runs), depth, ties=ties), named(runs), measures, ties=ties
    )
    large = rg.evaluate(qrels, named(runs), measures, ties=ties)
    assert np.asarray(small).tolist() == np.asarray(large).tolist()


@given(qrels_dicts, several)
@examples(50)
def test_at_full_depth_scores_are_those_of_all_judgments_if_all_judged_documents_are_retrieved(
    qrels: dict[str, dict[str, int]], runs: list[Any]
) -> None:
    everything = {topic: dict.fromkeys(DOCUMENTS, 0.25) for topic in TOPICS}
    runs = [*runs, everything]
    found = rg.pool(qrels, named(runs), None)
    assert as_dict(found) == qrels
    expected = rg.evaluate(qrels, named(runs), MEASURES)
    again = rg.evaluate(found, named(runs), MEASURES)
    assert np.array_equal(np.asarray(again), np.asarray(expected), equal_nan=True)
    assert again.signatures() == expected.signatures()


@given(qrels_dicts, several, depths)
@examples(50)
def test_the_highest_grade_stays_that_of_all_judgments(
    qrels: dict[str, dict[str, int]], runs: list[Any], depth: int | None
) -> None:
    highest = max([1, *(grade for judged in qrels.values() for grade in judged.values())])
    found = rg.pool(qrels, named(runs), depth)
    assert found.max_grade == highest
    given = rg.evaluate(
        as_dict(found), named(runs), ["ERR", "nDCG(gain=scaled)"], max_grade=highest
    )
    own = rg.evaluate(found, named(runs), ["ERR", "nDCG(gain=scaled)"])
    assert np.asarray(own).tolist() == np.asarray(given).tolist()
    assert own.signatures() == given.signatures()
    again = rg.pool(found, named(runs), 1)  # a pool of a pool
    assert again.max_grade == highest


@given(qrels_dicts, several)
def test_a_pool_of_a_pool_is_the_smaller_pool(
    qrels: dict[str, dict[str, int]], runs: list[Any]
) -> None:
    larger = rg.pool(qrels, named(runs), 4)
    assert as_dict(rg.pool(larger, named(runs), 2)) == as_dict(rg.pool(qrels, named(runs), 2))


# Edges


def test_a_run_may_be_short_lack_topics_and_answer_others() -> None:
    qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {"d": 0}}
    found = rg.pool(qrels, {"q1": {"b": 1.0, "x": 0.5}, "q3": {}, "q9": {"c": 1.0}}, 5)
    assert as_dict(found) == {"q1": {"b": 0}, "q2": {}, "q3": {}}
    assert found.counts.pooled.tolist() == [2, 0, 0]
    assert repr(found.counts) == "PoolCounts: pooled 2, judged 1, relevant 0, never judged 1"
    assert repr(found) == "PooledJudgments: 3 queries, 1 judgment"
    assert found.depth == 5


@pytest.mark.parametrize("grade", [-1, -2])
def test_a_document_pooled_without_a_judgment_stays_so(grade: int) -> None:
    found = rg.pool({"q": {"a": grade, "b": 2}}, {"q": ["a", "x", "b"]}, 2)
    assert as_dict(found) == {"q": {"a": grade}}
    assert found.counts.total == {"pooled": 2, "judged": 0, "relevant": 0, "never_judged": 2}


def test_subtopics_go_with_their_documents() -> None:
    whole = rg.Judgments.from_subtopics(
        {"q1": {"1": {"a": 1, "b": 0}, "2": {"b": 3, "c": 1}}, "q2": {"1": {"a": 2}}}
    )
    run = {"q1": ["c", "b", "a"], "q2": ["z", "a"]}
    found = rg.pool(whole, run, 2)
    expected = rg.Judgments.from_subtopics(
        {"q1": {"1": {"b": 0}, "2": {"b": 3, "c": 1}}, "q2": {"1": {"a": 2}}}
    )
    assert found.subtopics is not None
    measures = ["alpha_nDCG@2", "ERR_IA@2", "strec@2"]
    one, two = (rg.evaluate(each, run, measures) for each in (found, expected))
    assert np.asarray(one).tolist() == np.asarray(two).tolist()
    everything = rg.pool(whole, run, None)
    one, two = (rg.evaluate(each, run, measures) for each in (everything, whole))
    assert np.asarray(one).tolist() == np.asarray(two).tolist()


def test_nothing_judged_at_all() -> None:
    found = rg.pool({"q": {}}, {"q": ["a"]}, 3)
    assert as_dict(found) == {"q": {}}
    assert found.counts.total["never_judged"] == 1


def test_bad_input_is_refused() -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    for depth in (0, -1, 1.5, "ten", True):
        with pytest.raises(rg.RankgaugeError, match=r"depth=.*expected a whole number from 1"):
            rg.pool(qrels, run, depth)
    for ties in ("expected", "pessimistic", "optimistic", None):
        with pytest.raises(
            rg.RankgaugeError, match="expected one of docno, docno-ascending, input"
        ):
            rg.pool(qrels, run, 1, ties=ties)
    with pytest.raises(rg.InputError, match="none of its queries are judged"):
        rg.pool(qrels, {"q9": ["a"]}, 1)
    with pytest.raises(rg.RankgaugeError, match="two runs are called 'x'"):
        rg.pool(qrels, [rg.Run.from_dict(run, name="x")] * 2, 1)
    with pytest.raises(rg.RankgaugeError, match="no runs, expected at least one"):
        rg.pool(qrels, [], 1)
    with pytest.raises(rg.RankgaugeError, match="expected a Run"):
        rg.pool(qrels, lambda: 3, 1)


# The ways in


@given(qrels_dicts, several, depths)
@examples(30)
def test_files_and_dicts_make_the_same_pool(
    tmp_path_factory: pytest.TempPathFactory,
    qrels: dict[str, dict[str, int]],
    runs: list[Any],
    depth: int | None,
) -> None:
    assume(all(any(run.get(topic) for topic in TOPICS) for run in runs))
    folder = tmp_path_factory.mktemp("runs")
    for name, run in named(runs).items():
        rg.write_run({topic: rows for topic, rows in run.items() if rows}, folder / f"{name}.run")
    expected = rg.pool(qrels, named(runs), depth)
    for files in (folder, sorted(folder.iterdir()), f"{folder}/*.run"):
        found = rg.pool(qrels, files, depth)
        assert as_dict(found) == as_dict(expected)
        assert found.counts.pooled.tolist() == expected.counts.pooled.tolist()


def test_scores_are_compared_in_the_precision_of_the_evaluation(tmp_path: Path) -> None:
    """1 + 1e-9 is 1 in single precision, so the document with the greater id comes first."""
    qrels = {"q": {"a": 1, "b": 0}}
    file = tmp_path / "a.run"
    file.write_text("q Q0 a 1 1.000000001 t\nq Q0 b 2 1.0 t\n")
    assert as_dict(rg.pool(qrels, file, 1)) == {"q": {"a": 1}}
    assert as_dict(rg.pool(qrels, file, 1, precision="single")) == {"q": {"b": 0}}
    run = {"q": {"a": 1.000000001, "b": 1.0}}
    assert as_dict(rg.pool(qrels, run, 1)) == {"q": {"a": 1}}
    assert as_dict(rg.pool(qrels, run, 1, precision="single")) == {"q": {"b": 0}}


def test_random_ties_depend_on_the_seed_alone() -> None:
    qrels = {"q": dict.fromkeys(DOCUMENTS, 1)}
    run = {"q": dict.fromkeys(DOCUMENTS, 1.0)}
    pools = {
        seed: tuple(as_dict(rg.pool(qrels, run, 2, ties="random", seed=seed))["q"])
        for seed in (1, 2, 3, 4)
    }
    assert len(set(pools.values())) > 1
    for seed, documents in pools.items():
        again = rg.pool(qrels, run, 2, ties="random", seed=seed)
        assert tuple(as_dict(again)["q"]) == documents


def test_other_processes_do_the_same_work() -> None:
    qrels = {"q": {"a": 1, "b": 0, "c": 2}}
    runs = {"one": {"q": ["a", "x"]}, "two": {"q": ["c", "b"]}}
    with ProcessPoolExecutor(1) as executor:
        found = rg.pool(qrels, runs, 1, executor=executor)
    assert as_dict(found) == as_dict(rg.pool(qrels, runs, 1)) == {"q": {"a": 1, "c": 2}}


def test_a_pool_can_be_written_and_read(tmp_path: Path) -> None:
    found = rg.pool({"q": {"a": 3, "b": 0}}, {"q": ["b"]}, 1)
    rg.write_qrels(found, tmp_path / "qrels.txt")
    assert as_dict(rg.read_qrels(tmp_path / "qrels.txt")) == {"q": {"b": 0}}


# Real runs


def test_the_pools_of_robust_2003(real_data: Callable[[str], Path]) -> None:
    qrels = rg.read_qrels(real_data("trec-robust03/qrels.txt.gz"))
    runs = real_data("trec-robust03/runs")
    judged = {10: 5_864, 20: 10_587, 30: 15_027}
    for depth, count in judged.items():
        assert rg.pool(qrels, runs, depth).counts.total["judged"] == count


def test_the_pools_of_web_2012_lack_relevant_documents(real_data: Callable[[str], Path]) -> None:
    qrels = rg.read_qrels(real_data("trec-web2012/qrels.adhoc.txt"))
    found = rg.pool(qrels, real_data("trec-web2012/runs"), 10)
    assert np.count_nonzero(found.counts.relevant == 0) == 10
