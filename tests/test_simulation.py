"""The simulated collection is reproducible and has every irregularity it promises."""

import re
from statistics import mean

import numpy as np
import pytest

from rankgauge.simulation import Collection, simulate

NOT_POOLED = {"rerank-mono", "bm25-rm3", "dense-d"}


@pytest.fixture(scope="module", params=[2026, 1, 7])
def collection(request: pytest.FixtureRequest) -> Collection:
    return simulate(seed=request.param)


def count_judged_relevant(grades: dict[str, int]) -> int:
    return sum(grade > 0 for grade in grades.values())


def count_relevant_retrieved(grades: dict[str, int], ranking: dict[str, float]) -> int:
    return sum(grades.get(docno, 0) > 0 for docno in ranking)


def mean_precision_at_10(collection: Collection, name: str) -> float:
    run = collection.runs[name]
    return mean(
        sum(grades.get(docno, 0) > 0 for docno in list(run.get(topic, {}))[:10]) / 10
        for topic, grades in collection.qrels.items()
    )


def mean_unjudged_at_10(collection: Collection, name: str) -> float:
    return mean(
        sum(collection.qrels[topic].get(docno, -1) < 0 for docno in list(ranking)[:10])
        for topic, ranking in collection.runs[name].items()
    )


def mean_overlap(collection: Collection, first: str, second: str) -> float:
    runs = collection.runs
    shared_topics = runs[first].keys() & runs[second].keys()
    return mean(len(runs[first][topic].keys() & runs[second][topic]) for topic in shared_topics)


def test_default_shape(collection: Collection) -> None:
    assert list(collection.qrels) == [str(topic) for topic in range(301, 351)]
    assert len(collection.runs) == 12
    assert {"bm25", "bm25-rm3", "ql-dirichlet", "dense-a"} <= collection.runs.keys()
    for run in collection.runs.values():
        assert run.keys() <= collection.qrels.keys()
        assert all(1 <= len(ranking) <= 100 for ranking in run.values())


def test_documents_are_in_rank_order(collection: Collection) -> None:
    for run in collection.runs.values():
        for ranking in run.values():
            scores = list(ranking.values())
            assert scores == sorted(scores, reverse=True)


def test_values_are_plain_python_numbers(collection: Collection) -> None:
    assert all(type(grade) is int for grade in collection.qrels["301"].values())
    assert all(type(score) is float for score in collection.runs["bm25"]["301"].values())


def test_docnos_look_like_newswire_and_are_distinct() -> None:
    collection = simulate(queries=1, documents=900, depth=900)
    docnos = collection.runs["bm25"]["301"]
    assert len(docnos) == 900
    pattern = re.compile(r"FT9\d\d-\d+|LA\d{6}-\d{4}|FBIS[34]-\d+")
    assert all(pattern.fullmatch(docno) for docno in docnos)
    assert {docno[:2] for docno in docnos} == {"FT", "LA", "FB"}


@pytest.mark.parametrize("systems", [1, 3, 8, 25])
def test_other_numbers_of_systems_are_numbered(systems: int) -> None:
    collection = simulate(queries=2, systems=systems, documents=200, depth=20, pool_depth=5)
    assert len(collection.runs) == systems
    assert all(re.fullmatch(r"(lexical|dense|rerank)-\d+", name) for name in collection.runs)


def test_smallest_collection() -> None:
    collection = simulate(queries=1, systems=1, documents=1, depth=1, pool_depth=1)
    assert list(collection.runs) == ["lexical-1"]
    assert collection.runs["lexical-1"]["301"].keys() == collection.qrels["301"].keys()


def test_same_seed_same_collection() -> None:
    first, second = simulate(seed=5, queries=6), simulate(seed=5, queries=6)
    assert first == second
    for name, run in first.runs.items():
        for topic, ranking in run.items():
            assert list(ranking) == list(second.runs[name][topic])


def test_other_seed_other_collection() -> None:
    first, second = simulate(seed=5, queries=6), simulate(seed=6, queries=6)
    assert first.qrels != second.qrels
    assert first.runs != second.runs


def test_grades_run_from_unjudged_to_three_and_high_ones_are_rare(collection: Collection) -> None:
    grades = [grade for judged in collection.qrels.values() for grade in judged.values()]
    assert set(grades) == {-1, 0, 1, 2, 3}
    assert grades.count(0) > grades.count(1) > grades.count(2) > grades.count(3)


def test_about_15_percent_of_the_pool_is_unjudged(collection: Collection) -> None:
    grades = [grade for judged in collection.qrels.values() for grade in judged.values()]
    assert 0.12 < grades.count(-1) / len(grades) < 0.18


def test_number_of_relevant_documents_varies_strongly(collection: Collection) -> None:
    counts = sorted(map(count_judged_relevant, collection.qrels.values()))
    assert counts[45] > 5 * counts[5]


def test_a_topic_has_nothing_judged_relevant(collection: Collection) -> None:
    barren = [grades for grades in collection.qrels.values() if not count_judged_relevant(grades)]
    assert barren
    assert all(0 in grades.values() for grades in barren)


def test_pool_is_the_top_20_of_the_contributing_systems(collection: Collection) -> None:
    for topic, grades in collection.qrels.items():
        pool = {
            docno
            for name, run in collection.runs.items()
            if name not in NOT_POOLED
            for docno in list(run.get(topic, {}))[:20]
        }
        assert grades.keys() == pool


def test_systems_outside_the_pool_have_more_unjudged_documents(collection: Collection) -> None:
    inside = [mean_unjudged_at_10(collection, name) for name in collection.runs.keys() - NOT_POOLED]
    outside = [mean_unjudged_at_10(collection, name) for name in NOT_POOLED]
    assert min(outside) > max(inside) + 0.5


@pytest.mark.parametrize("name", ["tf-idf", "dense-a"])
def test_rounded_scores_tie(collection: Collection, name: str) -> None:
    rankings = collection.runs[name].values()
    tied = [ranking for ranking in rankings if len(set(ranking.values())) < len(ranking)]
    assert len(tied) > len(rankings) / 2


def test_scores_of_one_system_merge_in_single_precision(collection: Collection) -> None:
    for ranking in collection.runs["dense-b"].values():
        scores = np.array(list(ranking.values()))
        assert len(np.unique(scores)) == len(scores)
        assert len(np.unique(scores.astype(np.float32))) < len(scores) / 2


def test_two_systems_miss_a_few_topics(collection: Collection) -> None:
    missing = {name: 50 - len(run) for name, run in collection.runs.items() if len(run) < 50}
    assert missing == {"rerank-duo": 3, "ql-dirichlet": 3}


def test_one_system_returns_short_lists(collection: Collection) -> None:
    short = {
        name: sum(len(ranking) < 100 for ranking in run.values())
        for name, run in collection.runs.items()
    }
    assert {name for name, count in short.items() if count} == {"tf-idf"}
    assert short["tf-idf"] == 10


def test_one_system_finds_nothing_relevant_where_others_do(collection: Collection) -> None:
    failed = [
        topic
        for topic, ranking in collection.runs["dense-c"].items()
        if not count_relevant_retrieved(collection.qrels[topic], ranking)
        and count_judged_relevant(collection.qrels[topic]) >= 3
    ]
    assert failed


def test_score_scales_of_the_families(collection: Collection) -> None:
    def scores(prefixes: tuple[str, ...]) -> list[float]:
        runs = [run for name, run in collection.runs.items() if name.startswith(prefixes)]
        return [score for run in runs for ranking in run.values() for score in ranking.values()]

    lexical = scores(("bm25", "tf-idf", "ql-dirichlet"))
    dense = scores(("dense",))
    rerank = scores(("rerank",))
    assert 5 <= min(lexical) < max(lexical) <= 30
    assert 0 <= min(dense) < max(dense) <= 1
    assert min(rerank) < 0 < max(rerank)


def test_systems_of_one_family_retrieve_similar_documents(collection: Collection) -> None:
    within = mean_overlap(collection, "bm25", "ql-dirichlet")
    across = mean_overlap(collection, "bm25", "dense-a")
    assert within > 1.5 * across


def test_strongest_system_is_clearly_better_than_the_weakest(collection: Collection) -> None:
    strongest = mean_precision_at_10(collection, "rerank-large")
    weakest = mean_precision_at_10(collection, "tf-idf")
    assert strongest > weakest + 0.2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": 0}, "queries must be at least 1, got 0"),
        ({"systems": -1}, "systems must be at least 1, got -1"),
        ({"documents": 0}, "documents must be at least 1, got 0"),
        ({"depth": 0}, "depth must be at least 1, got 0"),
        ({"pool_depth": 0}, "pool_depth must be at least 1, got 0"),
        ({"seed": -1}, "seed must not be negative, got -1"),
        (
            {"documents": 50},
            "depth (100) must not exceed the number of documents (50)",
        ),
        ({"depth": 10}, "pool_depth (20) must not exceed depth (10)"),
    ],
)
def test_bad_arguments_are_explained(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        simulate(**arguments)
