"""Distances of real runs: never less than the difference, and docs/DISTANCE.md has the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

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
