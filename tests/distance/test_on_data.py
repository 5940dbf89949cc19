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

PAGE = (DOCS / "DISTANCE.md").read_text(encoding="utf-8")
SENTENCES = " ".join(PAGE.split())


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """docs/distance.py."""
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
    found = script.pairs(data, measure, every=10)
    assert len(found.far) == 15 * 14 // 2
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
    assert f"it leaves less for {sum(worst)} of these 24" in SENTENCES


def test_all_grades_of_robust_2003_and_web_2012_bound_the_difference(
    real_data: Callable[[str], Path],
) -> None:
    """On these topics a grade between makes more of a difference than the highest."""
    cases = (
        ("trec-robust03", "qrels.txt.gz", "input.InexpC2.gz", "input.MU03rob01.gz"),
        ("trec-web2012", "qrels.adhoc.txt", "ql-catb-filtered.txt.gz", "ql-catb.txt.gz"),
    )
    expected = (("nDCG@10", "346", 0.3585, 0.3679), ("nDCG(gain=exp2)@10", "177", 0.772, 0.830))
    for (folder, qrels, *names), (measure, topic, less, most) in zip(cases, expected, strict=True):
        runs = [real_data(f"{folder}/runs/{name}") for name in names]
        judgments = rg.read_qrels(real_data(f"{folder}/{qrels}"))
        for grades, value in ((None, most), ((0, "max"), less)):
            found = rg.med(measure, *runs, judgments, grades=grades)
            assert found.exact
            assert found.per_query()[topic] == pytest.approx(value, abs=5e-4)


def test_negative_grades_of_web_2012(real_data: Callable[[str], Path]) -> None:
    runs = [real_data(f"trec-web2012/runs/{name}-cata.txt.gz") for name in ("ql", "rm")]
    qrels = rg.read_qrels(real_data("trec-web2012/qrels.adhoc.txt"))
    for negative, value in (("unjudged", 0.2023), ("nonrelevant", 0.1919)):
        found = rg.med("nDCG@20", *runs, qrels, grades=(0, "max"), negative=negative)
        assert found.mean() == pytest.approx(value, abs=5e-5)
        assert bool(found.notes) == (negative == "unjudged")
