"""A small encoder for tests: random vectors of words, mixed with the vectors of their neighbors."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

WORD = re.compile(r"\w+|[^\w\s]")
FIRST, LAST, VOCABULARY = 0, 1, 5_000


class StandIn:
    """Words are tokens. A vector is one of the word, plus a little of the word before and of the layer.

    All vectors share a direction, so that no cosine is below 0, as with real encoders.
    """

    def __init__(self, layers: int = 6, longest: int = 64, shared: float = 2.0) -> None:
        self.layers = layers
        self.longest = longest
        self.digest = f"5ta4d1{layers:02}{longest:04}"
        self.encoded = 0
        self.words: dict[int, str] = {}
        generator = np.random.default_rng(7)
        table = generator.normal(size=(layers + 1, VOCABULARY, 16)).astype(np.float32)
        self.table = table + np.float32(shared)

    def tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
        words = [WORD.findall(text) for text in texts]
        self.words.update((number(word), word) for each in words for word in each)
        return [np.array([FIRST, *map(number, each), LAST]) for each in words]

    def decode(self, token: int) -> str:
        """The text of a token that was read before."""
        return self.words[token]

    def encode(self, tokens, layers, *, truncate: bool = False):
        self.encoded += len(tokens)
        return [
            tuple(self.vectors(ids[: self.longest] if truncate else ids, layer) for layer in layers)
            for ids in tokens
        ]

    def attention(self, ids: np.ndarray) -> np.ndarray:
        """More to tokens with a greater id; each row adds up to 1."""
        row = (1.0 + ids) / (1.0 + ids).sum()
        return np.tile(row.astype(np.float32), (len(ids), 1))

    def vectors(self, ids: np.ndarray, layer: int) -> np.ndarray:
        own = self.table[layer, ids]
        return own + np.float32(0.2) * np.roll(own, 1, axis=0)


def number(word: str) -> int:
    return 2 + zlib.crc32(word.lower().encode("utf-8", "replace")) % (VOCABULARY - 2)
