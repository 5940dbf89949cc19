"""Heterogeneous and homogeneous sources."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.text import Null, Texts, document_kinds, parse_metric, use_encoder
from stand_in_encoder import StandIn


@pytest.fixture(autouse=True)
def encoder() -> Iterator[StandIn]:
    made = StandIn()
    use_encoder(made)
    yield made
    use_encoder(None)


def some_texts(count: int = 7) -> Texts:
    generator = np.random.default_rng(5)
    sources = [" ".join(f"w{n}" for n in generator.integers(0, 60, 40)) for _ in range(count)]
    return Texts([*sources, ""], [*(" ".join(s.split()[3:15]) for s in sources), "none"], {})


def test_sources_are_sorted_by_how_far_both_scores_are_apart() -> None:
    texts = some_texts()
    kinds = document_kinds(texts, layers=(2, 5), count=2)
    for row, layer in enumerate((2, 5)):
        metric = parse_metric(f"bertscore(layer={layer})")
        outputs = Texts(texts.sources, texts.references, {"x": [""] * len(texts)})
        most, least = (
            metric.expected_each(outputs.candidates(), Null(null=null)).values[:-1]
            for null in ("similar", "dissimilar")
        )
        right = np.argsort(np.abs(most - least), kind="stable") + 1
        assert kinds.order(layer) == [str(n) for n in right]
        assert kinds.heterogeneous(layer) == [str(n) for n in right[:2]]
        assert kinds.homogeneous(layer) == [str(n) for n in right[::-1][:2]]
        assert kinds.differences[row] == pytest.approx(np.abs(most - least))
    assert "no source for 1 text, skipped" in str(kinds)


def test_the_table_says_how_stable_the_kinds_are() -> None:
    kinds = document_kinds(some_texts(), layers=(2, 5), count=3)
    common = len(set(kinds.heterogeneous(2)) & set(kinds.heterogeneous(5)))
    rows = kinds.table().rows
    assert [row[:2] for row in rows[:2]] == [("heterogeneous", 2), ("heterogeneous", 5)]
    assert rows[0][5:] == (common, common)
    chosen = [kinds.ids.index(name) for name in kinds.homogeneous(5)]
    assert rows[3][3] == pytest.approx(float(kinds.similarity[chosen].mean()))


def test_by_similarity_the_least_similar_sources_are_heterogeneous() -> None:
    kinds = document_kinds(some_texts(), layers=(2, 5), count=2, by="similarity")
    lowest = np.argsort(kinds.similarity)[:2]
    assert kinds.heterogeneous(2) == kinds.heterogeneous(5) == [kinds.ids[n] for n in lowest]


def test_what_cannot_be_sorted() -> None:
    with pytest.raises(MeasureError, match="expected bertscore"):
        document_kinds(some_texts(), metric="rouge1")
    with pytest.raises(RankgaugeError, match="7 texts with a source, expected at least 40"):
        document_kinds(some_texts())
    with pytest.raises(RankgaugeError, match="no layers"):
        document_kinds(some_texts(), layers=(), count=2)
    with pytest.raises(RankgaugeError, match="no layer 4 here"):
        document_kinds(some_texts(), layers=(2,), count=2).order(4)
