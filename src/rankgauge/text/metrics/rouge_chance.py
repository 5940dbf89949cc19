"""What words drawn from the source get by ROUGE-1 and ROUGE-2, exactly.

m words are drawn independently; a word has the probability of its share of the source. A gram that the
reference has c times adds min(count, c) to the hits, and the mean of that is P(count ≥ 1) + … +
P(count ≥ c). The count of a word is binomial. The count of a pair of neighbors is followed from word to
word: what matters is how often the pair was there so far, and whether the last word can begin it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.text.data.texts import Texts
from rankgauge.text.metrics.references import ReferenceGrid, iter_groups
from rankgauge.text.metrics.rouge_words import WordIds, word_ids

MOST_STATES = 200_000
"""Number of pair states tracked at once."""
MOST_WORK = 1e9
"""The pairs of a text are not tracked if that takes more steps than this."""


def expected_hits(
    texts: Texts, stem: bool, grid: ReferenceGrid, text: Ints, length: Ints, *, pairs: bool
) -> Floats:
    """The expected hits of words drawn at random with each reference, in the order of the grid.

    Parameters
    ----------
    texts, stem
        The texts, and whether stems are compared.
    grid
        What is asked for: each row beside each of its references.
    text, length
        For each row the number of a text, and how many words are drawn from its source.
    pairs
        Whether pairs of neighbors are counted, as in ROUGE-2, or words.

    NaN where the formula would take too long.
    """
    known = word_ids(texts, stem)
    hits = np.zeros(len(grid.row))
    queries = []
    for of, start, stop in iter_groups(text):
        part = hits[grid.edges[start] : grid.edges[stop]].reshape(stop - start, -1)
        lengths = length[start:stop]
        own = [
            _HitsTask(grams, lengths, part) for grams in _grams_of(known[of], part.shape[1], pairs)
        ]
        if pairs and sum(one.states for one in own) * float(lengths.max()) > MOST_WORK:
            part[:] = np.nan
        else:
            queries += own
    if pairs:
        for some in _batches(queries):
            _follow_pairs(some)
    else:
        for one in queries:
            one.hits[:] += _expected_word_hits(one)
    return hits


class _Grams(Record):
    """Grams that the source can make, by kind.

    For each kind, `first` and `second` are the probabilities of the first and of the second word,
    and `same` is whether both are the same word. `weights` is how many grams of each kind each
    reference has at least j times, j from 1 on: references × (kinds × most).
    """

    first: Floats
    second: Floats
    same: Floats
    most: int
    weights: Floats


class _HitsTask(Record):
    """The grams of a text, the lengths that are asked for, and where the hits go: length × reference."""

    grams: _Grams
    length: Ints
    hits: Floats

    @property
    def states(self) -> int:
        return len(self.grams.first) * (self.grams.most + 1) * 2


def _grams_of(known: WordIds, references: int, pairs: bool) -> Iterator[_Grams]:
    """Yield the grams of the first references of a text, rare and frequent ones apart.

    Grams with the same probabilities are one kind.
    """
    counts, size = known.source_counts, len(known.vocabulary)
    kinds, ranks, owners = [], [], []
    for number, words in enumerate(known.references[:references]):
        wide = words.astype(np.int64)
        grams, times = np.unique(wide[:-1] * size + wide[1:] if pairs else wide, return_counts=True)
        first, second = np.divmod(grams, max(size, 1)) if pairs else (grams, grams)
        kept = (counts[first] > 0) & (counts[second] > 0)
        first, second, times = first[kept], second[kept], times[kept]
        same = first == second
        kind = np.repeat(np.column_stack([counts[first], counts[second], same]), times, axis=0)
        kinds.append(kind)
        ranks.append(np.arange(len(kind)) - np.repeat(np.cumsum(times) - times, times))
        owners.append(np.full(len(kind), number))
    kind, place = np.unique(np.concatenate(kinds), axis=0, return_inverse=True)
    rank, owner = np.concatenate(ranks), np.concatenate(owners)
    place = place.reshape(-1)
    most = np.zeros(len(kind), dtype=np.int64)
    np.maximum.at(most, place, rank + 1)
    # Kinds that occur up to 1, 3, 15, 63, … times: a table of kinds × most has few cells to spare.
    size_class = (np.frexp(most)[1] + 1) // 2
    for each in np.unique(size_class).tolist():
        chosen = np.flatnonzero(size_class == each)
        entries = np.flatnonzero(size_class[place] == each)
        highest = int(most[chosen].max())
        row = np.searchsorted(chosen, place[entries])
        cell = (owner[entries] * len(chosen) + row) * highest + rank[entries]
        weights = np.bincount(cell, minlength=references * len(chosen) * highest)
        share = kind[chosen, :2] / max(len(known.source), 1)
        yield _Grams(
            share[:, 0],
            share[:, 1],
            kind[chosen, 2].astype(np.float64),
            highest,
            weights.reshape(references, -1).astype(np.float64),
        )


def _expected_word_hits(query: _HitsTask) -> Floats:
    """The expected hits of words: the tails of binomials."""
    from scipy.special import bdtrc

    grams = query.grams
    least = np.tile(np.arange(grams.most, dtype=np.float64), len(grams.first))
    share = np.repeat(grams.first, grams.most)
    used = np.flatnonzero(grams.weights.any(axis=0))
    least, share = least[used], share[used]
    drawn = query.length[:, None]
    # More than `drawn` of `drawn` words has probability 0; bdtrc gives NaN for more than that.
    tails = np.where(least < drawn, bdtrc(np.minimum(least, drawn), drawn, share), 0.0)
    return tails @ grams.weights[:, used].T


def _batches(queries: Sequence[_HitsTask]) -> Iterator[list[_HitsTask]]:
    """Texts whose pairs are followed together: of similar counts, and not too many at a time."""
    some: list[_HitsTask] = []
    states = 0
    for each in sorted(queries, key=lambda one: -one.grams.most):
        most = some[0].grams.most if some else each.grams.most
        size = len(each.grams.first) * (most + 1)
        if some and (states + size > MOST_STATES or each.grams.most < most // 2):
            yield some
            some, states = [], 0
            size = each.states // 2
        some.append(each)
        states += size
    if some:
        yield some


def _follow_pairs(queries: list[_HitsTask]) -> None:
    """Write the expected hits of pairs, following all pairs of some texts from word to word."""
    queries = sorted(queries, key=lambda one: -int(one.length.max()))
    most = max(one.grams.most for one in queries)
    ends = np.cumsum([len(one.grams.first) for one in queries])
    longest = np.array([int(one.length.max()) for one in queries])
    first, second, same = (
        np.concatenate([getattr(one.grams, name) for one in queries])
        for name in ("first", "second", "same")
    )
    ending = np.where(same > 0, first, second)
    beginning = np.where(same > 0, 0.0, first)
    neither = np.maximum(1 - ending - beginning, 0.0)
    # The probability of each count so far, the last standing for more. `begun`: the last word is the
    # first word of the pair; `apart`: it is another word, or there is none yet.
    apart, begun = np.zeros((2, most + 1, len(first)))
    apart[0] = 1.0
    wanted: dict[int, list[tuple[int, int]]] = {}
    for number, one in enumerate(queries):
        for row, length in enumerate(one.length.tolist()):
            wanted.setdefault(length, []).append((number, row))
    for length in range(1, int(longest[0]) + 1):
        now = slice(0, int(ends[np.searchsorted(-longest, -length, side="right") - 1]))
        before, last = apart[:, now], begun[:, now]
        ended = last * ending[now]
        ended[-1] += ended[-2]
        ended[1:-1] = ended[:-2].copy()
        ended[0] = 0.0
        pair_again = ended * same[now]
        following = before * first[now] + last * beginning[now] + pair_again
        apart[:, now] = before * (1 - first[now]) + last * neither[now] + (ended - pair_again)
        begun[:, now] = following
        for number, row in wanted.get(length, ()):
            one = queries[number]
            own = slice(int(ends[number]) - len(one.grams.first), int(ends[number]))
            counts = apart[:, own] + begun[:, own]
            tails = np.cumsum(counts[:0:-1], axis=0)[::-1][: one.grams.most]
            one.hits[row] += one.grams.weights @ tails.T.ravel()
