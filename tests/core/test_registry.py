"""Things that can be added: one registry finds them by name, whatever they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import rankgauge as rg
from rankgauge.comparison.significance import CORRECTIONS, TESTS, Outcome, Pairs, Test
from rankgauge.core.arrays import Floats
from rankgauge.core.registry import Registry
from rankgauge.fusion import methods, normalizations
from rankgauge.fusion.methods import Entries, row_sum
from rankgauge.fusion.pool import Pool

REGISTRIES: list[Registry[object]] = [
    TESTS, CORRECTIONS, methods.METHODS, normalizations.NORMALIZATIONS,
]  # type: ignore[list-item]  # fmt: skip


@pytest.fixture(autouse=True)
def clean_registries() -> Iterator[None]:
    before = [dict(registry.entries) for registry in REGISTRIES]
    yield
    for registry, entries in zip(REGISTRIES, before, strict=True):
        registry.entries = entries


def bold(text: str) -> str:
    return f"*{text}*"


def test_a_registry_is_a_mapping_in_the_order_of_registering() -> None:
    styles: Registry[Callable[[str], str]] = Registry("style", {"plain": str})
    styles.register(bold, "bold")
    assert list(styles) == ["plain", "bold"]
    assert len(styles) == 2
    assert "bold" in styles
    assert "Bold" not in styles  # as it is written
    assert styles.find("BOLD") is styles["Bold"] is bold
    assert styles.get("italic") is None
    assert ["a", "list"] not in styles


def test_an_unknown_name_gets_the_nearest_names_or_all() -> None:
    styles = Registry("style", {"plain": str, "bold": bold})
    with pytest.raises(rg.RankgaugeError, match=r"^there is no style 'bald'; did you mean bold\?$"):
        styles.find("bald")
    with pytest.raises(rg.RankgaugeError, match=r"^there is no style 'x'; there are plain, bold$"):
        styles.find("x")


def test_a_name_is_taken_once_but_the_same_function_may_come_again() -> None:
    styles = Registry("style", {"bold": bold})
    styles.register(bold, "bold")
    with pytest.raises(rg.RankgaugeError, match=r"the name Bold is taken by .*test_registry\.bold"):
        styles.register(str.upper, "Bold")


def test_a_fusion_method_and_a_normalization_are_registered_by_a_decorator() -> None:
    @normalizations.register("halved", "x / 2", "Half of each score.")
    def halved(pool: Pool) -> Floats:
        return pool.scores / 2

    @methods.register("twice", "scores", "2 Σ s", "Twice the sum.", "this test")
    def twice(lists: Entries) -> Floats:
        return 2 * row_sum(lists.values)

    run = rg.fuse([{"q": {"a": 3.0}}, {"q": {"a": 5.0}}], method="twice", normalize="halved")
    assert run.scores.tolist() == [8.0]
    with pytest.raises(rg.RankgaugeError, match=r"the name rrf is taken by .*methods\._rrf"):
        methods.register("rrf", "ranks", "", "", "")(twice)


def test_a_significance_test_and_a_correction_are_registered_by_name() -> None:
    def certain(pairs: Pairs) -> Outcome:
        zero = np.zeros(len(pairs.first))
        return Outcome(zero + 0.01, zero, zero, zero)

    TESTS.register(Test(certain, "always sure", "none", "none"), "certain")
    CORRECTIONS.register(lambda p: p * 3, "thrice")
    scores = rg.Scores.from_matrix(
        np.random.default_rng(1).random((2, 5)), runs=["a", "b"], measure="AP"
    )
    table = rg.compare(scores, test="certain", correction="thrice").table()
    (pair,) = (dict(zip(table.columns, row, strict=True)) for row in table.rows)
    assert (pair["p"], pair["p_corrected"]) == (0.01, 0.03)
    with pytest.raises(rg.RankgaugeError, match="the name sign is taken by"):
        TESTS.register(Test(certain, "", "", ""), "sign")
