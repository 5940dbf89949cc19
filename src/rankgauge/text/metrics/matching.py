"""Greedy matching of tokens: precision and recall of texts, from the vectors of their tokens.

Each token is matched with the most similar token of the other text. The special tokens first and last
can be matched, but do not count themselves, as in bert-score. All weightings are computed at once: every
token the same, and by inverse document frequency.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.text.metrics.embedding import EmbeddingStore, encode_batches, unit_vectors
from rankgauge.text.metrics.references import ReferenceGrid

PRECISION, RECALL = 0, 1
PLAIN, IDF = 0, 1
LayerPairs: TypeAlias = dict[int, Floats]
"""By layer, precision and recall (2) by both weightings (2) of each pair of a text and a reference, in
the order of the grid."""


class References(Record):
    """The tokens of the references of a text, one reference after another.

    `starts` is where each reference begins, `weights` has the weights of the tokens (2 × token),
    and `filled` is whether each reference has a token that counts.
    """

    starts: Ints
    weights: Floats
    filled: Floats

    @classmethod
    def of(cls, store: EmbeddingStore, text: int, first: bool) -> References:
        each = store.references[text][: 1 if first else None]
        size = np.array([len(ids) for ids in each])
        weights = store.weights(first)
        shares = [normalize_weights(weights.both(ids)) for ids in each]
        filled = np.array([store.is_counted(ids).any() for ids in each], dtype=np.float64)
        return cls(np.cumsum(size) - size, np.concatenate(shares, axis=1), filled)


def normalize_weights(weights: Floats) -> Floats:
    """Scale the weights (2 × token) so that their sum is 1.

    If all weights by frequency are 0, every token counts the same. Without a token that counts, all
    weights are 0.
    """
    total = weights.sum(axis=1, keepdims=True)
    if total[IDF] == 0:
        weights = np.stack([weights[PLAIN]] * 2)
        total = weights.sum(axis=1, keepdims=True)
    return weights / np.where(total > 0, total, 1.0)


def reference_vectors(
    store: EmbeddingStore, text: int, first: bool, layers: Sequence[int]
) -> dict[int, Floats]:
    """The vectors of all tokens of the references of a text, by layer, with length 1."""
    number = 1 if first else len(store.references[text])
    each = [store.reference(text, place, layers) for place in range(number)]
    return {
        layer: np.concatenate([unit_vectors(vectors[layer]) for vectors in each])
        for layer in layers
    }


def match_tokens(similarity: Floats, weights: Floats, references: References) -> Floats:
    """Precision and recall by both weightings with each reference: 2 × 2 × reference.

    Parameters
    ----------
    similarity
        Of each token of a text to each token of the references.
    weights
        The weights of the tokens of the text: 2 × token.
    references
        The references.
    """
    starts = references.starts
    share = normalize_weights(weights)
    if not len(similarity) or not share[PLAIN].any():
        return np.zeros((2, 2, len(starts)))
    precision = share @ np.maximum.reduceat(similarity, starts, axis=1)
    best = similarity.max(axis=0) * references.weights
    recall = np.add.reduceat(best, starts, axis=1)
    both: Floats = np.stack([precision, recall]) * references.filled
    return both


def score_tokens(
    store: EmbeddingStore, of: Ints, tokens: Sequence[Ints], first: bool, layers: Sequence[int]
) -> LayerPairs:
    """Precision and recall of texts with each of their references.

    Parameters
    ----------
    store
        The references, and the encoder.
    of
        The number of the text that each of the texts belongs to.
    tokens
        The tokens of each of the texts.
    first
        Whether only the first reference counts.
    layers
        The layers.
    """
    grid = ReferenceGrid.of(store.texts, of, first)
    scores = {layer: np.zeros((2, 2, len(grid.row))) for layer in layers}
    order = np.argsort(of, kind="stable")
    cuts = np.flatnonzero(np.diff(of[order])) + 1
    for rows in np.split(order, cuts) if len(order) else []:
        text = int(of[rows[0]])
        references = References.of(store, text, first)
        theirs = reference_vectors(store, text, first, layers)
        # What several systems wrote is encoded once.
        places: dict[bytes, list[int]] = {}
        for row in rows.tolist():
            places.setdefault(tokens[row].tobytes(), []).append(row)
        different = [tokens[each[0]] for each in places.values()]
        weights = store.weights(first)
        vectors = encode_batches(store.encoder, different, layers)
        for ids, own, same in zip(different, vectors, places.values(), strict=True):
            both = weights.both(ids)
            for layer in layers:
                pairs = match_tokens(unit_vectors(own[layer]) @ theirs[layer].T, both, references)
                for row in same:
                    scores[layer][:, :, grid.edges[row] : grid.edges[row + 1]] = pairs
    return scores


def drawable_places(store: EmbeddingStore, text: int) -> Ints:
    """The places of the tokens in the source of a text that can be drawn: all but the special ones."""
    key = "drawn from", text
    if key not in store.known:
        store.known[key] = np.flatnonzero(store.is_counted(store.sources[text]))
    places: Ints = store.known[key]
    return places
