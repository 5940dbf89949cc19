"""Flips: two neighbors of a list change places. What a measure must know to say what that changes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.rankings.lists import JudgedLabels, Rankings, SharedArrays

MOST_LABEL_SPAN = 1_000_000
"""Up to which span labels are numbered by counting, not by sorting."""
COUNTS_MISSING = "what stands above was not counted: `looks_above` is expected"


def factorize_labels(labels: Labels) -> tuple[Labels, Ints]:
    """The different labels, from the lowest on, and for each label its number among them.

    >>> kinds, number = factorize_labels(np.array([2, -1, 2], dtype=np.int32))
    >>> kinds.tolist(), number.tolist()
    ([-1, 2], [1, 0, 1])
    """
    least, most = int(labels.min(initial=0)), int(labels.max(initial=0))
    if most - least > MOST_LABEL_SPAN:
        kinds, number = np.unique(labels, return_inverse=True)
        return kinds, number
    present = np.zeros(most - least + 1, dtype=np.bool_)
    present[labels - least] = True
    kinds = (np.flatnonzero(present) + least).astype(np.int32)
    return kinds, (np.cumsum(present) - 1)[labels - least]


class Places(SharedArrays):
    """Documents at their ranks: label, rank and query of each, and what stands above it.

    `above` has how many documents of each of `kinds`, which are labels, stand above the document; to
    them comes one document more of the label with the number `extra`, where that is not None.
    """

    label: Labels
    rank: Ints
    query: Ints
    judged: JudgedLabels
    kinds: Labels
    above: NDArray[np.signedinteger[Any]] | None
    extra: Ints | None = None

    def count_above(self, kinds: Bools) -> Ints:
        """How many documents of these kinds stand above."""
        return np.rint(self.sum_above(kinds.astype(np.float64))).astype(np.int64)

    def sum_above(self, values: Floats) -> Floats:
        """The sum over the documents above of a value that each kind has."""
        if self.above is None:
            raise ValueError(COUNTS_MISSING)
        total = self.above @ values
        return np.asarray(total if self.extra is None else total + values[self.extra])

    def of(self, kinds: Bools) -> Places:
        """The same documents in lists of these kinds alone."""
        if self.above is None:
            raise ValueError(COUNTS_MISSING)
        above = (
            self.above
            if self.extra is None
            else self.above + np.eye(len(kinds), dtype=np.int64)[self.extra]
        )
        above = np.where(kinds, above, 0)
        return replace(self, rank=above.sum(axis=1) + 1, above=above, extra=None)


class Flips(SharedArrays):
    """Pairs of neighbors in lists, and what happens to them when they change places.

    A pair is the document at `rank` and the document below it, in a list of `query`. `Flips.of`
    finds all pairs of neighbors in some lists.

    Attributes
    ----------
    query : array of int
        The query of each pair.
    rank : array of int
        The rank of the upper document.
    upper, lower : array of int
        The labels of the two documents before the flip, as positions in `kinds`.
    kinds : array of int
        The different labels.
    above : array of int, pair × kind, or None
        How many documents of each kind are above both documents; None if they were not counted.
    judged : JudgedLabels
        The judged labels of the queries.

    Examples
    --------
    >>> flips = Flips.of(Rankings.of([0, 1, 2]))
    >>> flips.rank.tolist(), flips.upper_label.tolist(), flips.lower_label.tolist()
    ([1, 2], [0, 1], [1, 2])
    """

    query: Ints
    rank: Ints
    upper: Ints
    lower: Ints
    kinds: Labels
    above: NDArray[np.signedinteger[Any]] | None
    judged: JudgedLabels

    @classmethod
    def of(cls, rankings: Rankings) -> Flips:
        """Every pair of neighbors of these lists."""
        kinds, kind = factorize_labels(rankings.labels)
        upper = np.flatnonzero(rankings.ranks < rankings.each_row(rankings.lengths))
        counts = [rankings.running_count(kind == k) - (kind == k) for k in range(len(kinds))]
        above = np.stack(counts, axis=1) if counts else np.zeros((0, 0), dtype=np.int64)
        return cls(
            rankings.each_row(rankings.query)[upper],
            rankings.ranks[upper],
            kind[upper],
            kind[upper + 1],
            kinds,
            above[upper],
            rankings.judged,
        )

    def __len__(self) -> int:
        return len(self.rank)

    @property
    def upper_label(self) -> Labels:
        """The label above before the flip, and below after it."""
        return self.kinds[self.upper]

    @property
    def lower_label(self) -> Labels:
        """The label below before the flip, and above after it."""
        return self.kinds[self.lower]

    def places(self, document: Ints, below: Ints | None = None) -> Places:
        """The places of documents of these kinds.

        They are at the upper rank; with `below`, they are at the lower rank, below documents of those
        kinds.
        """
        rank = self.rank if below is None else self.rank + 1
        return Places(
            self.kinds[document], rank, self.query, self.judged, self.kinds, self.above, below
        )
