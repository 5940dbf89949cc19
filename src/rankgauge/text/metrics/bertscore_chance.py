"""What tokens drawn from the source get by greedy matching, in their context or encoded anew.

In their context, m tokens are drawn independently, each with its vector in the source. So one encoding
of the source serves all lengths and all draws, and the similarities are enough.

Other nulls put tokens of the source together and encode them anew. Algorithm 1 of Feng's dissertation
takes the tokens that are most similar to the source. As it is printed, it takes those that are least
similar ("increasing"). Both leave nothing to chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.text.chance import SIMILAR, TOKENS
from rankgauge.text.data.texts import DrawnTexts, Draws
from rankgauge.text.metrics.embedding import EmbeddingStore, tokens_of, unit_vectors
from rankgauge.text.metrics.matching import (
    IDF,
    PLAIN,
    PRECISION,
    RECALL,
    LayerPairs,
    References,
    drawable_places,
    reference_vectors,
)
from rankgauge.text.metrics.references import ReferenceGrid, iter_groups

STEP = 0.25
"""The step of the integration, in the logarithm of its variable."""
ROUNDING = 1e-13
"""The maximum contribution of the omitted tails of the integral."""
CELLS = 1_000_000
"""Number of similarities held in memory at a time."""
NEGLIGIBLE_EXPONENT = 45.0
"""exp(-45) is negligible next to 1 in double precision."""


def expected_precision(best: Floats, weights: Floats, length: Ints) -> Floats:
    """The expected precision of so many drawn tokens, exactly: length × reference.

    Parameters
    ----------
    best
        The greatest similarity of each token to each reference: token × reference.
    weights
        The weight of each token. The precision of a draw is the weighted mean of `best`; if all weights
        of a draw are 0, it is the plain mean.
    length
        How many tokens are drawn.

    The expected weighted mean is m ∫ A(t) B(t)^(m−1) dt over t > 0, where A is the mean of w · best ·
    exp(−w t) and B the mean of exp(−w t) over all tokens, since 1/x is the integral of exp(−x t).
    """
    different, kind = np.unique(weights, return_inverse=True)
    share = np.bincount(kind) / len(weights)
    summed = np.zeros((len(different), best.shape[1]))
    np.add.at(summed, kind, best)
    summed /= len(weights)
    positive = different > 0
    if len(different) == 1:
        return np.tile(summed[0], (len(length), 1))
    rates = different[positive]
    low = np.log(ROUNDING / (float(length.max()) * rates[-1]))
    high = np.log(NEGLIGIBLE_EXPONENT / rates[0])
    t = np.exp(np.arange(low, high + STEP, STEP))
    decay = np.exp(-np.outer(t, rates))
    inside = (decay * rates) @ summed[positive]
    nothing = float(share[~positive].sum())
    rest = decay @ share[positive] + nothing
    drawn = length.astype(np.float64)[:, None]
    factor = STEP * t * drawn * np.exp((drawn - 1) * np.log(rest))
    mean: Floats = factor @ inside
    if nothing:
        mean += nothing**drawn * (summed[~positive].sum(axis=0) / nothing)
    return mean


def expected_recall(similarity: Floats, references: References, length: Ints) -> Floats:
    """The expected recall of so many drawn tokens, exactly, by both weightings: 2 × length × reference.

    A token of a reference is matched with the greatest of m draws from its column. The i-th smallest of
    n values is the greatest with probability (i/n)^m − ((i − 1)/n)^m.
    """
    ascending = np.sort(similarity, axis=0)
    below = np.arange(len(ascending) + 1) / len(ascending)
    with np.errstate(under="ignore"):
        probability = np.diff(below ** length.astype(np.float64)[:, None], axis=1)
    greatest = probability @ ascending
    weighted = greatest * references.weights[:, None, :]
    return np.add.reduceat(weighted, references.starts, axis=2)


def expected_pairs(
    store: EmbeddingStore, text: Ints, length: Ints, first: bool, layers: Sequence[int]
) -> LayerPairs:
    """Return the expected precision and recall of tokens drawn from the source of a text.

    Both are NaN where a source has no tokens.

    Parameters
    ----------
    store
        The sources, the references, and the encoder.
    text, length
        For each task the number of a text, those of a text together, and how many tokens are drawn.
    first
        Whether only the first reference counts.
    layers
        The layers.
    """
    grid = ReferenceGrid.of(store.texts, text, first)
    scores = {layer: np.full((2, 2, len(grid.row)), np.nan) for layer in layers}
    for of, start, stop in iter_groups(text):
        places = drawable_places(store, of)
        if not len(places):
            continue
        part = slice(grid.edges[start], grid.edges[stop])
        references = References.of(store, of, first)
        theirs = reference_vectors(store, of, first, layers)
        vectors = store.source(of, layers)
        weights = store.weights(first).both(store.sources[of][places])
        for layer in layers:
            similarity = unit_vectors(vectors[layer][places]) @ theirs[layer].T
            best = np.maximum.reduceat(similarity, references.starts, axis=1)
            lengths = length[start:stop]
            precision = [expected_precision(best, weights[w], lengths) for w in (PLAIN, IDF)]
            recall = expected_recall(similarity, references, lengths)
            both = np.stack([np.stack(precision), recall]) * references.filled
            both[:, :, lengths == 0] = 0.0
            scores[layer][:, :, part] = both.reshape(2, 2, -1)
    return scores


def score_drawn_tokens(store: EmbeddingStore, drawn: DrawnTexts, first: bool, layer: int) -> Floats:
    """Return the precision and recall of drawn tokens, each with its vector in the source.

    The result is 2 × 2 × pair, in the order of the grid.
    """
    grid = ReferenceGrid.of(store.texts, drawn.of, first)
    scores = np.zeros((2, 2, len(grid.row)))
    layers = store.request_layer(layer)
    for of, start, stop in iter_groups(drawn.of):
        places = drawable_places(store, of)
        references = References.of(store, of, first)
        theirs = reference_vectors(store, of, first, layers)[layer]
        similarity = unit_vectors(store.source(of, layers)[layer][places]) @ theirs.T
        weights = store.weights(first).both(store.sources[of][places])
        best = np.maximum.reduceat(similarity, references.starts, axis=1)
        for some in _row_blocks(drawn.offsets[start : stop + 1], similarity.shape[1]):
            rows = slice(start + some.start, start + some.stop)
            both = _score_drawn_rows(drawn, rows, similarity, best, weights, references)
            pairs = slice(grid.edges[rows.start], grid.edges[rows.stop])
            scores[:, :, pairs] = both.reshape(2, 2, -1)
    return scores


def _row_blocks(offsets: Ints, width: int) -> Iterator[slice]:
    """Rows whose tokens have at most `CELLS` similarities together, or a single row."""
    start, rows = 0, len(offsets) - 1
    while start < rows:
        most = offsets[start] + CELLS // max(1, width)
        stop = max(start + 1, int(np.searchsorted(offsets, most, side="right")) - 1)
        yield slice(start, stop)
        start = stop


def _score_drawn_rows(
    drawn: DrawnTexts,
    rows: slice,
    similarity: Floats,
    best: Floats,
    weights: Floats,
    references: References,
) -> Floats:
    """Precision and recall of some drawn texts of one source: 2 × 2 × text × reference.

    Parameters
    ----------
    drawn
        The drawn texts, as places of the source.
    rows
        Which of them.
    similarity
        The similarity of each token of the source to each token of the references.
    best
        The greatest similarity of each token of the source to each reference.
    weights
        The weights of the tokens of the source: 2 × token.
    references
        The references.
    """
    offsets = drawn.offsets[rows.start : rows.stop + 1]
    filled = np.flatnonzero(np.diff(offsets))
    both = np.zeros((2, 2, len(offsets) - 1, len(references.starts)))
    if not len(filled):
        return both
    starts = offsets[filled] - offsets[0]
    chosen = drawn.places[offsets[0] : offsets[-1]]
    share = _shares_by_row(weights[:, chosen], starts)
    both[PRECISION][:, filled] = np.add.reduceat(share[:, :, None] * best[chosen], starts, axis=1)
    greatest = np.maximum.reduceat(similarity[chosen], starts, axis=0)
    weighted = greatest * references.weights[:, None, :]
    counted = np.logical_or.reduceat(share[PLAIN] > 0, starts)
    recall = np.add.reduceat(weighted, references.starts, axis=2)
    both[RECALL][:, filled] = recall * counted[:, None]
    both *= references.filled
    return both


def _shares_by_row(weights: Floats, starts: Ints) -> Floats:
    """As `shared_out`, for the tokens of many texts; each text begins at one of the starts."""
    sizes = np.diff(np.append(starts, weights.shape[1]))
    total = np.add.reduceat(weights, starts, axis=1)
    same = total[IDF] == 0
    total[IDF, same] = total[PLAIN, same]
    weights[IDF] = np.where(np.repeat(same, sizes), weights[PLAIN], weights[IDF])
    shares: Floats = weights / np.repeat(np.where(total > 0, total, 1.0), sizes, axis=1)
    return shares


# Tokens encoded anew


def document_similarity(store: EmbeddingStore, text: int) -> Floats:
    """Return the cosine of each token of a source with the mean vector of the source.

    The vectors are from the last layer. The special tokens have a part in the mean, but no cosine
    of their own.
    """
    key = "similarity", text
    if key not in store.known:
        last = store.encoder.layers
        layers = sorted({*store.layers, last})
        vectors = store.source(text, layers)[last]
        mean = unit_vectors(vectors.mean(axis=0, dtype=np.float64)[None])
        store.known[key] = (unit_vectors(vectors[drawable_places(store, text)]) @ mean.T)[:, 0]
    similarity: Floats = store.known[key]
    return similarity


def ranked_tokens(store: EmbeddingStore, text: int) -> Ints:
    """Return the different tokens of a source, the most similar to the source first.

    A token that occurs several times has the similarity of its last occurrence, as in Algorithm 1.
    """
    ids = store.sources[text][drawable_places(store, text)]
    similarity = dict(zip(ids.tolist(), document_similarity(store, text).tolist(), strict=True))
    order = sorted(similarity, key=lambda token: -similarity[token])
    return np.array(order, dtype=np.int64)


def draw_tokens(store: EmbeddingStore, null: str, draws: Draws) -> list[Ints]:
    """The tokens of texts that a null draws, between the special tokens.

    Parameters
    ----------
    store
        The sources, and the encoder.
    null
        tokens: drawn at random, each anew; similar, dissimilar: the most, or the least, similar ones.
    draws
        What is drawn.
    """
    first, last = tokens_of(store.encoder, [""])[0]
    inside: list[Ints] = []
    for of, size, count, generator in draws.tasks():
        size = min(size, store.encoder.longest - 2)
        if null == TOKENS:
            ids = store.sources[of][drawable_places(store, of)]
            inside += [ids[generator.integers(0, len(ids), size)] for _ in range(count)]
        else:
            ranked = ranked_tokens(store, of)
            inside += [(ranked if null == SIMILAR else ranked[::-1])[:size]] * count
    return [np.concatenate([[first], ids, [last]]) for ids in inside]
