"""Texts of tokens of the source that are put together and encoded anew, as what chance writes.

Algorithm 1 of Feng's dissertation takes the tokens that are most similar to the source. As it is
printed, it takes those that are least similar ("increasing"). Both leave nothing to chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.text.chance import SIMILAR, TOKENS
from rankgauge.text.embedding import Embedded, tokens_of, unit
from rankgauge.text.matching import drawn_from


def document_similarity(store: Embedded, text: int) -> Floats:
    """The cosine of the vector of each token of a source with the mean vector of the source, in the last
    layer. The special tokens have a part in the mean, but no number of their own."""
    key = "similarity", text
    if key not in store.known:
        last = store.encoder.layers
        layers = sorted({*store.layers, last})
        vectors = store.source(text, layers)[last]
        mean = unit(vectors.mean(axis=0, dtype=np.float64)[None])
        store.known[key] = (unit(vectors[drawn_from(store, text)]) @ mean.T)[:, 0]
    similarity: Floats = store.known[key]
    return similarity


def ranked_tokens(store: Embedded, text: int) -> Ints:
    """The different tokens of a source, the most similar to the source first. A token that occurs
    several times has the similarity of its last occurrence, as in Algorithm 1."""
    ids = store.sources[text][drawn_from(store, text)]
    similarity = dict(zip(ids.tolist(), document_similarity(store, text).tolist(), strict=True))
    order = sorted(similarity, key=lambda token: -similarity[token])
    return np.array(order, dtype=np.int64)


def summaries(
    store: Embedded,
    null: str,
    text: Ints,
    length: Ints,
    count: Ints,
    generators: Sequence[np.random.Generator],
) -> list[Ints]:
    """The tokens of texts that a null writes, between the special tokens.

    Parameters
    ----------
    store
        The sources, and the encoder.
    null
        tokens: drawn at random, each anew; similar, dissimilar: the most, or the least, similar ones.
    text, length, count
        For each task the number of a text, how many tokens its texts have, and how many there are.
    generators
        For each task what it draws by.
    """
    first, last = tokens_of(store.encoder, [""])[0]
    most = store.encoder.longest - 2

    def inside() -> Iterator[Ints]:
        tasks = zip(text.tolist(), length.tolist(), count.tolist(), generators, strict=True)
        for of, size, number, generator in tasks:
            size = min(size, most)
            if null == TOKENS:
                ids = store.sources[of][drawn_from(store, of)]
                for _ in range(number):
                    yield ids[generator.integers(0, len(ids), size)]
            else:
                ranked = ranked_tokens(store, of)
                chosen = ranked if null == SIMILAR else ranked[::-1]
                yield from [chosen[:size]] * number

    return [np.concatenate([[first], ids, [last]]) for ids in inside()]
