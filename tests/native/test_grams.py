"""Words and pairs that many texts have in common with one reference, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from oracles import rouge as oracle
from profiles import examples
from rankgauge.native.grams import shared_counts
from rankgauge.text.metrics.rouge_words import count_shared_grams

TEXT = st.lists(st.integers(-1, 4), max_size=12)


@examples(150)
@given(
    st.lists(TEXT, max_size=4),
    st.lists(st.integers(0, 4), max_size=12),
    st.sampled_from([0, 1, 2, 5, None]),
    st.booleans(),
)
def test_counts_are_those_of_the_definition(
    texts: list[list[int]], reference: list[int], reach: int | None, single: bool
) -> None:
    words = np.array([word for text in texts for word in text], dtype=np.int32)
    offsets = np.cumsum([0, *map(len, texts)])
    found = count_shared_grams(
        words, offsets, np.array(reference, dtype=np.int32), 5, reach, single
    )
    skip = None if reach is None else reach - 1
    right = [oracle.skip_bigrams(text, reference, skip, single)[0] for text in texts]
    assert found.tolist() == right


GOOD = {
    "words": [0, 1],
    "offsets": [0, 2],
    "starts": [0, 1, 1],
    "seconds": [1],
    "most": [1],
    "singles": [1, 1],
}
TYPES = {"offsets": np.int64, "starts": np.int64}


@pytest.mark.parametrize(
    "change",
    [
        {"words": [0, 2]},
        {"words": [0, -2]},
        {"offsets": [0, 3]},
        {"offsets": [1, 2]},
        {"offsets": []},
        {"offsets": [0, 2, 1, 2]},
        {"starts": [0, 1, 2]},
        {"starts": [1, 1, 1]},
        {"starts": []},
        {"starts": [0, 2, 1]},
        {"most": []},
        {"singles": [1]},
    ],
    ids=str,
)
def test_numbers_outside_are_refused(change: dict[str, list[int]]) -> None:
    def counts(values: dict[str, list[int]]) -> np.ndarray:
        arrays = [np.array(v, dtype=TYPES.get(k, np.int32)) for k, v in values.items()]
        return shared_counts(*arrays, 3)

    assert counts(GOOD).tolist() == [3]
    with pytest.raises(ValueError, match=r"offsets|starts|expected|outside"):
        counts(GOOD | change)
