"""Longest common subsequences of many texts with one reference, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracles import rouge as oracle
from profiles import examples
from rankgauge.native.subsequences import lcs_lengths, weighted_lcs


def longest(a: list[int], b: list[int]) -> int:
    """By the table of all beginnings."""
    row = [0] * (len(b) + 1)
    for x in a:
        last = 0
        for j, y in enumerate(b, 1):
            last, row[j] = row[j], last + 1 if x == y else max(row[j], row[j - 1])
    return row[-1]


def flat(texts: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    words = np.array([word for text in texts for word in text], dtype=np.int32)
    return words, np.cumsum([0, *map(len, texts)])


SIZES = st.sampled_from([0, 1, 5, 63, 64, 65, 130, 200])


@examples(80)
@given(st.data(), st.integers(1, 6), SIZES)
def test_lengths_are_those_of_the_table(data: st.DataObject, vocabulary: int, size: int) -> None:
    seed = data.draw(st.integers(0, 2**32))
    generator = np.random.default_rng(seed)
    reference = generator.integers(0, vocabulary, size)
    texts = [
        generator.integers(-1, vocabulary, data.draw(SIZES)).tolist()
        for _ in range(data.draw(st.integers(0, 4)))
    ]
    found = lcs_lengths(*flat(texts), reference.astype(np.int32), vocabulary)
    assert found.tolist() == [longest(text, reference.tolist()) for text in texts]


WORDS = st.lists(st.integers(0, 3), max_size=9)


@examples(100)
@given(st.lists(st.lists(st.integers(-1, 3), max_size=9), max_size=4), WORDS, st.floats(1, 4))
def test_weights_are_those_of_lins_table(
    texts: list[list[int]], reference: list[int], weight: float
) -> None:
    gains = np.diff(np.arange(len(reference) + 1.0) ** weight)
    found = weighted_lcs(*flat(texts), np.array(reference, dtype=np.int32), 4, gains)
    right = [oracle.weighted_subsequence(text, reference, weight)[0] for text in texts]
    np.testing.assert_allclose(found, right, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("words", "offsets", "reference", "vocabulary"),
    [
        ([0, 5], [0, 2], [0], 2),
        ([0, -2], [0, 2], [0], 2),
        ([0], [0, 2], [0], 2),
        ([0], [1, 1], [0], 2),
        ([0, 1], [0, 2, 1, 2], [0], 2),
        ([0], [], [0], 2),
        ([0], [0, 1], [2], 2),
        ([0], [0, 1], [-1], 2),
        ([0], [0, 1], [0], -1),
    ],
)
def test_numbers_outside_are_refused(
    words: list[int], offsets: list[int], reference: list[int], vocabulary: int
) -> None:
    arrays = (
        np.array(words, dtype=np.int32),
        np.array(offsets, dtype=np.int64),
        np.array(reference, dtype=np.int32),
    )
    with pytest.raises(ValueError, match=r"expected|offsets|outside"):
        lcs_lengths(*arrays, vocabulary)
    with pytest.raises(ValueError, match=r"expected|offsets|outside"):
        weighted_lcs(*arrays, vocabulary, np.ones(5))


def test_a_gain_for_each_word_is_needed() -> None:
    with pytest.raises(ValueError, match="gain"):
        weighted_lcs(*flat([[0]]), np.zeros(3, dtype=np.int32), 1, np.ones(2))
