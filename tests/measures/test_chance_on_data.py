"""Random rankings of real queries get what is expected of them, and docs/CHANCE.md has the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from docs_scripts import DOCS, load
from rankgauge.measures import Measure, entries, parse
from rankgauge.measures.orders import Mean
from rankgauge.rankings.lists import JudgedLabels

PAGE = (DOCS / "CHANCE.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def chance() -> ModuleType:
    """docs/scripts/chance.py."""
    return load("chance")


@pytest.fixture(scope="module")
def data(real_data: Callable[[str], Path]) -> Path:
    return real_data("mq2008").parent


@pytest.fixture(scope="module")
def collections(chance: ModuleType, real_data: Callable[[str], Path], data: Path) -> list[Any]:
    real_data("mslr-5k")
    real_data("mslr-sample")
    return [chance.mq2008(data), chance.mslr(data)]


def test_the_script_takes_every_measure_with_a_direction(chance: ModuleType) -> None:
    measures = [entry for entry in entries().values() if isinstance(entry, Measure)]
    scoring = [measure for measure in measures if measure.answers()["score"] != "no"]
    directed = [measure for measure in scoring if measure.direction != "none"]
    taken = chance.all_measures()
    assert {type(measure) for measure in taken} == {type(measure) for measure in directed}
    uncut = {type(measure) for measure in taken if measure.cutoff is None}
    assert uncut == {type(measure) for measure in directed if measure.cutoffs != "required"}


def test_a_random_ranker_gets_what_is_expected(chance: ModuleType, collections: list[Any]) -> None:
    mq2008 = collections[0].judged
    judged = mq2008.take(chance.with_relevant(mq2008)[:100:10])
    rows = chance.random_ranker(judged, chance.all_measures(), shuffles=2000, seed=5)
    for row in rows:
        assert row.plain.queries == 10, row
        assert abs(row.plain.distance) < 4.5, row
        assert row.linear is None or abs(row.linear.distance) < 4.5, row
    assert {str(row.measure) for row in rows if row.linear is None} == {
        "G",
        "ndcg_levels",
        "ndcg_rel",
    }


@pytest.mark.parametrize("text", ["SP@10", "nDCG@10"])
def test_an_expectation_that_is_wrong_is_noticed(
    chance: ModuleType, collections: list[Any], text: str
) -> None:
    mq2008 = collections[0].judged
    judged = mq2008.take(chance.with_relevant(mq2008)[:100])
    measure = parse(text)
    means = np.concatenate(
        [
            measure.score_each(lists).reshape(-1, 100).mean(axis=1)
            for lists in chance.shuffled(judged, 200, seed=5)
        ]
    )
    wrong = parse(f"expected({text},reb=independent)").score_each(judged.best_first)
    assert abs(chance.agreement(means, Mean.exact(wrong), judged).distance) > 10


def test_the_shuffles_are_orders_of_all_documents_each_as_likely(chance: ModuleType) -> None:
    judged = JudgedLabels.of([2, 1, 0], [1, 0])
    batches = list(chance.shuffled(judged, 6000, seed=1))
    first = np.concatenate([lists.labels.reshape(-1, 5)[:, :3] for lists in batches])
    orders, counts = np.unique(first, axis=0, return_counts=True)
    assert orders.tolist() == [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]]
    assert counts.sum() == 6000
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(1000)
    second = np.concatenate([lists.labels.reshape(-1, 5)[:, 3:] for lists in batches])
    assert (np.sort(second, axis=1) == [0, 1]).all()


@pytest.mark.parametrize("cutoff", [5, 10, 20, 30])
def test_independent_ranks_make_sums_of_precisions_too_low(
    collections: list[Any], cutoff: int
) -> None:
    """By p·N/(n−1)·(H − k/n) where a query has at least k documents, as the page says."""
    harmonic = np.sum(1 / np.arange(1, cutoff + 1))
    for collection in collections:
        judged = collection.judged
        n, relevant = judged.sizes, judged.relevant(1)
        kept = (n >= cutoff) & (relevant > 0) & (relevant < n)
        assert kept.sum() > 100
        exact, independent = (
            parse(f"expected(SP@{cutoff}{reb})").score_each(judged.best_first)[kept]
            for reb in ("", ",reb=independent")
        )
        n, relevant = n[kept], relevant[kept]
        missing = relevant / n * (n - relevant) / (n - 1) * (harmonic - cutoff / n)
        assert (exact > independent).all()
        np.testing.assert_allclose(exact - independent, missing, atol=1e-12)


def test_independent_ranks_may_make_them_too_high_where_documents_are_few() -> None:
    judged = JudgedLabels.of([1, 1, 1, 0])
    exact = parse("expected(SP@10)").score_each(judged.best_first)
    independent = parse("expected(SP@10,reb=independent)").score_each(judged.best_first)
    assert independent > exact


def shown(head: str) -> list[str]:
    """The rows of the table of the page whose header starts so."""
    (block,) = [part for part in PAGE.split("```") if part.startswith(f"\n{head}")]
    return block.strip("\n").splitlines()


def test_the_page_has_the_ratios_and_the_changes_of_sign(
    chance: ModuleType, collections: list[Any]
) -> None:
    table = chance.independence_table(collections)
    rows = shown("queries  measure             of them")
    head, rule, *printed = table.render("table", digits=3).splitlines()
    assert rows == [head, rule, *(line for line in printed if line in rows)]
    hidden = [row for row, line in zip(table.rows, printed, strict=True) if line not in rows]
    assert [row[:2] for row in hidden] == [
        ("MQ2008", "nDCG(gain=exp2)@5"),
        *(("MSLR", f"nDCG(gain=exp2)@{cutoff}") for cutoff in (5, 10, 20)),
    ]
    lowest, highest, changed = 4, 8, -1
    assert all(row[lowest] == row[highest] == 1 and row[changed] == 0 for row in hidden)


def test_the_page_has_the_bounds_of_the_papers(chance: ModuleType, collections: list[Any]) -> None:
    rows = shown("queries  reb")
    printed = chance.paper_table(collections).render("table").splitlines()
    assert len(rows) == 8
    assert [row for row in printed if row in rows] == rows


def test_the_page_has_two_queries_of_one_score(chance: ModuleType, collections: list[Any]) -> None:
    table = chance.kinds_table(collections[0], chance.EXAMPLES)
    assert table.render("table").splitlines() == shown("query ")
    first, second, _ = table.rows
    assert first[3] == pytest.approx(second[3], abs=0.001)
    assert first[6] > 0.5
    assert second[6] < 0


def test_the_page_has_runs_under_each_null(
    chance: ModuleType, real_data: Callable[[str], Path], data: Path
) -> None:
    for name in ("qrels", "trec-dl21", "trec-web2012"):
        real_data(name)
    assert chance.nulls_table(data).render("table").splitlines() == shown("run  ")


def test_the_page_says_how_many_pairs_of_runs_change_places(
    chance: ModuleType, real_data: Callable[[str], Path], data: Path
) -> None:
    for name in ("qrels", "trec-dl21", "trec-covid"):
        real_data(name)
    assert chance.order_table(data).render("table").splitlines() == shown("track ")


def test_the_page_has_the_figures() -> None:
    for name in ("query-map", "expected-histogram"):
        assert f"](figures/{name}.svg)" in PAGE
        assert (DOCS / "figures" / f"{name}.svg").read_text().startswith("<?xml")
