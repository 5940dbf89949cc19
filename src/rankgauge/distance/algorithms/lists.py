"""The rankings of one query that are held against each other, and what is known of their documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints, Labels
from rankgauge.core.records import Record
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of


class Lists(Record):
    """Lists of documents of one query: list i is documents[offsets[i]:offsets[i + 1]], best first.

    Documents are numbers, each in a list at most once. `labels` has what is known of each, -1 for what
    is not: such a document is free to have any of the `grades`, which ascend from 0. `judged` has all
    that is known of the query, of documents in none of the lists too. `offlist` says whether documents
    that nobody listed or judged may be relevant as well.
    """

    documents: NDArray[np.int32]
    offsets: Ints
    labels: Labels
    judged: JudgedLabels
    grades: Labels
    offlist: bool = False

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def top(self, depth: int | None) -> Lists:
        """The same lists cut to their first `depth` documents; None cuts nothing."""
        lengths = np.diff(self.offsets)
        if depth is None or lengths.max(initial=0) <= depth:
            return self
        ranks = np.arange(len(self.documents)) - np.repeat(self.offsets[:-1], lengths)
        return replace(
            self,
            documents=self.documents[ranks < depth],
            offsets=offsets_of(np.minimum(lengths, depth)),
        )

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which documents may have any grade."""
        return self.labels < 0

    def with_free_as_zero(self) -> Lists:
        """The same lists with every free document labeled 0: for measures that no grade matters to."""
        return replace(self, labels=np.where(self.free, 0, self.labels).astype(np.int32))

    def list(self, i: int) -> NDArray[np.int32]:
        """The documents of one list."""
        return self.documents[self.offsets[i] : self.offsets[i + 1]]

    def pair(self, first: int, second: int) -> Pair:
        """The documents of two lists, with their ranks in both."""
        a, b = self.list(first), self.list(second)
        documents = np.unique(np.concatenate((a, b)))

        def ranks(one: NDArray[np.int32]) -> Ints:
            rank = np.zeros(len(documents), dtype=np.int64)
            rank[np.searchsorted(documents, one)] = np.arange(1, len(one) + 1)
            return rank

        return Pair(documents, ranks(a), ranks(b), self.labels[documents])

    def select_pair(self, first: int, second: int) -> Lists:
        """Two of the lists, their documents numbered as in their pair."""
        documents = self.pair(first, second).documents
        a, b = self.list(first), self.list(second)
        return replace(
            self,
            documents=np.searchsorted(documents, np.concatenate((a, b))).astype(np.int32),
            offsets=offsets_of([len(a), len(b)]),
            labels=self.labels[documents],
        )

    def scores(
        self, score_each: Callable[[Rankings], Floats], one: int, assigned: NDArray[np.int32]
    ) -> Floats:
        """Return the score of one list for each row of labels.

        A row has a label for each document, -1 for a free document that stays unjudged. A document that
        is assigned a label counts as judged from then on.
        """
        count = len(assigned)
        listed = self.list(one)
        given = self.free & (assigned >= 0)
        size = len(self.judged.labels)
        added = np.count_nonzero(given, axis=1)
        known = np.broadcast_to(self.judged.labels, (count, size))
        whole = np.concatenate((known, np.where(given, assigned, -1)), axis=1)
        whole = -np.sort(-whole, axis=1)  # highest first, what is not assigned last
        kept = np.arange(whole.shape[1])[None, :] < (size + added)[:, None]
        judged = JudgedLabels(
            whole[kept].astype(np.int32),
            offsets_of(size + added),
            np.repeat(self.judged.pooled, count),
            self.judged.max_grade,
        )
        labels = assigned[:, listed].ravel().astype(np.int32)
        lists = Rankings(labels, np.arange(count + 1) * len(listed), np.arange(count), judged)
        return score_each(lists)


class Pair(NamedTuple):
    """The documents of two lists, by their numbers, with their ranks and labels.

    `first` and `second` have the rank of each document in the two lists, 0 if the list lacks it.
    `labels` has what is known of each document, -1 for nothing.
    """

    documents: NDArray[np.int32]
    first: Ints
    second: Ints
    labels: Labels

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which of them may have any grade."""
        return self.labels < 0


Labeling: TypeAlias = Callable[[int, int], tuple[NDArray[np.int32], int]]
"""For pair p and side (0: the first list ahead; 1: the second), labels of all documents that attain the
greatest difference, and how many more documents, in no list, are relevant then."""


class GreatestDifferences(Record):
    """The greatest differences of pairs of lists over all labels of their free documents.

    `ahead` is pair × 2: how far the first list can be ahead of the second, and the second of the
    first; it is negative where a list is behind by any labels. Where a pair is not `exact` it is no
    less than that and no more than `limit`. `residual` is the part of it that documents beyond the end
    of a list may add; `top` the label of documents off the lists that are relevant. `defined` says of
    which pairs both scores are known to be defined by any labels; None says it of all.
    """

    ahead: Floats
    labeling: Labeling
    exact: NDArray[np.bool_]
    limit: float = np.inf
    residual: Floats | None = None
    top: int = 0
    defined: NDArray[np.bool_] | None = None


class ListPairs(Record):
    """Pairs of lists of one query: pair p has the lists first[p] and second[p]."""

    lists: Lists
    first: Ints
    second: Ints

    def __len__(self) -> int:
        return len(self.first)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.first.tolist(), self.second.tolist(), strict=True)

    def differences_from_relevant(
        self,
        best_of: Callable[[int, int], GreatestLead],
        top: int,
        *,
        exact: bool = True,
        limit: float = np.inf,
    ) -> GreatestDifferences:
        """The greatest differences, where `best_of` says how far one list can be ahead of another.

        Free documents that are relevant get the label `top`.
        """
        found = [(best_of(a, b), best_of(b, a)) for a, b in self]
        lists = self.lists

        def labeling(p: int, side: int) -> tuple[NDArray[np.int32], int]:
            best = found[p][side]
            labels = np.where(lists.free, 0, lists.labels).astype(np.int32)
            labels[best.relevant()] = top
            return labels, best.off_lists

        ahead = np.array([[side.value for side in both] for both in found]).reshape(len(self), 2)
        return GreatestDifferences(ahead, labeling, np.full(len(self), exact), limit, top=top)

    def differences_from_labels(
        self,
        found: Sequence[Sequence[tuple[float, NDArray[np.int32]]]],
        exact: NDArray[np.bool_],
        limit: float,
        defined: NDArray[np.bool_] | None = None,
    ) -> GreatestDifferences:
        """Return the greatest differences, given the labels that attain them.

        For each pair and side, `found` has how far the list is ahead, and the labels of the pair's
        documents then.
        """
        pairs = list(self)

        def labeling(p: int, side: int) -> tuple[NDArray[np.int32], int]:
            labels = self.lists.labels.copy()
            labels[self.lists.pair(*pairs[p]).documents] = found[p][side][1]
            return labels, 0

        ahead = np.array([[value for value, _ in both] for both in found]).reshape(len(pairs), 2)
        return GreatestDifferences(ahead, labeling, exact, limit, defined=defined)


class GreatestLead(NamedTuple):
    """How far a list can be ahead of another list at most, and what is relevant then.

    `relevant` gives the free documents that are relevant then. `off_lists` says how many documents off
    the lists are relevant too.
    """

    value: float
    relevant: Callable[[], NDArray[np.int32]]
    off_lists: int = 0
