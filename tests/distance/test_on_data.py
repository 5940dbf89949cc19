"""Distances of real runs: never less than the difference, and docs/DISTANCE.md has the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from docs_scripts import DOCS, load
from profiles import thorough

PAGE = (DOCS / "DISTANCE.md").read_text(encoding="utf-8")
SENTENCES = " ".join(PAGE.split())


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """docs/scripts/distance.py."""
    return load("distance")


@pytest.fixture(scope="module")
def data(real_data: Callable[[str], Path]) -> Path:
    real_data("qrels/qrels.covid-complete.txt.gz")
    return real_data("trec-covid").parent


@pytest.fixture(scope="module")
def by_ndcg(script: ModuleType, data: Path) -> Any:
    return script.pairs(data, "nDCG@10")


@pytest.mark.parametrize("measure", ["P@10", "AP@20", "ERR@10", "RR@10", "RBP", "Recall@20"])
def test_unjudged_runs_are_never_further_apart_than_their_distance(
    measure: str, script: ModuleType, data: Path
) -> None:
    every, count = (10, 15) if thorough() else (20, 8)
    found = script.pairs(data, measure, every=every)
    assert len(found.far) == count * (count - 1) // 2
    assert (found.far >= found.differences - 1e-12).all()
    assert found.differences.max() > 0.1


def test_the_page_has_the_distances_of_all_pairs(script: ModuleType, by_ndcg: Any) -> None:
    assert (by_ndcg.far >= by_ndcg.differences - 1e-12).all()
    assert f"half of the pairs are {np.median(by_ndcg.far):.3f} apart or more" in SENTENCES
    (row,) = script.pairs_table([by_ndcg]).rows
    assert f"differ by {row[-1]:.2f} in nDCG@10, all pairs by {row[-2]:.2f}" in SENTENCES
    groups = script.groups_table(by_ndcg).rows
    assert len(groups) == 13
    assert (3, "poznan_run1, poznan_run2, poznan_run3") in groups
    assert (2, "crowd1, crowd2") in groups


def test_the_page_has_what_judging_leaves(script: ModuleType, data: Path) -> None:
    """The whole table is for the thorough profile: AP@100 takes three quarters of its time."""
    if not thorough():
        assert_the_page_has_what_judging_leaves_by_ndcg(script, data)
        return
    table = script.judging_table(data)
    lines = table.render("table").splitlines()
    shown = [line for line in lines[:16] if not line.startswith("AP@100") or "mean" in line]
    assert "\n".join(shown) in PAGE
    for note in table.notes:
        assert note.rpartition(", ")[2] in SENTENCES
    assert [note.split("nearer for ")[1][:6] for note in table.notes] == [
        *("3 of 6", "4 of 6", "4 of 6", "6 of 6")
    ]
    worst = [int(note.split("none is relevant for ")[1][0]) for note in table.notes]
    assert f"than the pool for {sum(worst)} of these 24" in SENTENCES


def assert_the_page_has_what_judging_leaves_by_ndcg(script: ModuleType, data: Path) -> None:
    first, later = (script.labels_of(data / name) for name in (script.QRELS, script.LATER))
    settings = [
        script.judging(data, "nDCG@10", None, first),
        script.judging(data, "nDCG@10", data / script.QRELS, later),
    ]
    lines = []
    for one, other in zip(*settings, strict=True):
        numbers = [number for each in (one, other) for number in (each[1], each.advised, each.pool)]
        lines.append(" ".join([one.runs, *(f"{number:.4f}" for number in numbers)]))
    part = PAGE.partition("## Which documents to judge?")[2]
    shown = [line for line in part.splitlines() if line.startswith("nDCG@10  ")]
    assert [" ".join(line.split()[1:]) for line in shown] == lines
    nearer = []
    for *single, mean in settings:
        nearer.append(sum(pair.advised < pair.pool for pair in single))
        assert f"{mean.advised_none:.4f} against {mean.pool_none:.4f}" in SENTENCES
    assert nearer == [3, 4]
    assert f"smaller distance for {nearer[1]} of 6 pairs with nDCG@10" in SENTENCES


def test_all_grades_of_robust_2003_and_web_2012_bound_the_difference(
    real_data: Callable[[str], Path],
) -> None:
    """On these queries a grade between makes more of a difference than the highest."""
    cases = (
        ("trec-robust03", "qrels.txt.gz", "input.InexpC2.gz", "input.MU03rob01.gz"),
        ("trec-web2012", "qrels.adhoc.txt", "ql-catb-filtered.txt.gz", "ql-catb.txt.gz"),
    )
    expected = (("nDCG@10", "346", 0.3585, 0.3679), ("nDCG(gain=exp2)@10", "177", 0.772, 0.830))
    for (folder, qrels, *names), (measure, topic, less, most) in zip(cases, expected, strict=True):
        runs = [real_data(f"{folder}/runs/{name}") for name in names]
        judgments = rg.read_qrels(real_data(f"{folder}/{qrels}"))
        for grades, value in ((None, most), ((0, "max"), less)):
            found = rg.med(*runs, measure, judgments, grades=grades)
            assert found.exact
            assert found.per_query()[topic] == pytest.approx(value, abs=5e-4)


def test_negative_grades_of_web_2012(real_data: Callable[[str], Path]) -> None:
    runs = [real_data(f"trec-web2012/runs/{name}-cata.txt.gz") for name in ("ql", "rm")]
    qrels = rg.read_qrels(real_data("trec-web2012/qrels.adhoc.txt"))
    for negative, value in (("unjudged", 0.2023), ("nonrelevant", 0.1919)):
        found = rg.med(*runs, "nDCG@20", qrels, grades=(0, "max"), negative=negative)
        assert found.mean() == pytest.approx(value, abs=5e-5)
        assert bool(found.notes) == (negative == "unjudged")
