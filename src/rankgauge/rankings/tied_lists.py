"""Rankings with ties: lists of groups of documents, whose order within a group is not known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.arrays import Floats, Ints, Labels, T
from rankgauge.data.model import UNJUDGED, read_only_view
from rankgauge.native import segments as native
from rankgauge.rankings.lists import (
    JudgedLabels,
    Rankings,
    SharedArrays,
    offsets_of,
    segment_count,
)


class TiedRankings(SharedArrays):
    """Lists of groups of documents. The order of the groups is known, the order within a group is not.

    Group g has the rows bounds[g]:bounds[g + 1] of `rankings`, and `unlisted[g]` more documents that are
    unjudged and have no row. List i has the groups offsets[i]:offsets[i + 1]. `seeds` has a number for
    each list; it fixes which orders are drawn where not all can be tried.

    >>> tied = TiedRankings.of([[1, 0], [2]])
    >>> tied.sizes.tolist(), tied.above.tolist()
    ([2, 1], [0, 2])
    """

    _renamed: ClassVar[dict[str, str]] = {"over_groups": "sum_over_groups", "in_order": "sort_ties"}

    rankings: Rankings
    bounds: Ints
    offsets: Ints
    unlisted: Ints
    seeds: NDArray[np.uint64]

    @classmethod
    def of(
        cls, *lists: Sequence[ArrayLike], judged: JudgedLabels | None = None, unlisted: int = 0
    ) -> TiedRankings:
        """These lists of groups of labels, `unlisted` documents more in the last group of each.

        As in Rankings.of, all are of one query where `judged` is given, else each of its own.
        """
        empty = np.zeros(0, dtype=np.int32)
        flat = [np.concatenate([empty, *map(np.asarray, groups)]) for groups in lists]
        sizes = [len(np.asarray(group)) for groups in lists for group in groups]
        offsets = offsets_of([len(groups) for groups in lists])
        more = np.zeros(len(sizes), dtype=np.int64)
        more[offsets[1:] - 1] = unlisted
        return cls(
            Rankings.of(*flat, judged=judged),
            offsets_of(sizes),
            offsets,
            more,
            np.arange(len(lists), dtype=np.uint64),
        )

    @classmethod
    def one_tie(cls, rankings: Rankings, unlisted: Ints | None = None) -> TiedRankings:
        """The same lists with all documents of a list tied, and `unlisted` more that have no row."""
        count = len(rankings)
        return cls(
            rankings,
            rankings.offsets,
            np.arange(count + 1),
            np.zeros(count, dtype=np.int64) if unlisted is None else unlisted,
            np.zeros(count, dtype=np.uint64),
        )

    @classmethod
    def all_tied(cls, judged: JudgedLabels) -> TiedRankings:
        """For each query one list, in which all its judged documents are tied."""
        return cls.one_tie(judged.best_first)

    def __len__(self) -> int:
        return len(self.rankings)

    @cached_property
    def sizes(self) -> Ints:
        """The number of documents in each group."""
        return read_only_view(np.diff(self.bounds) + self.unlisted)

    @cached_property
    def owner(self) -> Ints:
        """The list of each group."""
        return read_only_view(np.repeat(np.arange(len(self)), np.diff(self.offsets)))

    @cached_property
    def above(self) -> Ints:
        """The number of documents ranked above each group."""
        return read_only_view(self.before(self.sizes))

    @cached_property
    def lengths(self) -> Ints:
        """The number of documents in each list."""
        return read_only_view(np.diff(offsets_of(self.sizes)[self.offsets]))

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """Which lists have a tie, or documents without a row."""
        open_groups = (self.sizes > 1) | (self.unlisted > 0)
        return read_only_view(segment_count(open_groups, self.offsets) > 0)

    def before(self, values: Ints) -> Ints:
        """For each group, the sum of a value a group over the groups above it in its list."""
        total = offsets_of(values)
        return total[:-1] - np.repeat(total[self.offsets[:-1]], np.diff(self.offsets))

    def count(self, rows: NDArray[np.bool_]) -> Ints:
        """How many of these rows each group has."""
        return segment_count(rows, self.bounds)

    def sum(self, values: Floats) -> Floats:
        """The sum of a value a row over each group."""
        return native.segment_sum(values, self.bounds)

    def sum_over_groups(self, values: NDArray[np.generic]) -> Floats:
        """The sum of a value a group over each list."""
        return native.segment_sum(np.ascontiguousarray(values, dtype=np.float64), self.offsets)

    def each_group(self, per_list: NDArray[T]) -> NDArray[T]:
        """A value a list, repeated for its groups."""
        return per_list[self.owner]

    def within(self, depth: int | Ints | None) -> Ints:
        """How many places of each group are among the first `depth` of its list; None for all.

        `depth` is one for all lists, or one a group.
        """
        if depth is None:
            return self.sizes
        return np.clip(depth - self.above, 0, self.sizes)

    def pick(self, lists: NDArray[np.bool_]) -> TiedRankings:
        """These lists alone."""
        if lists.all():
            return self
        groups = lists[self.owner]
        rows = np.flatnonzero(self.rankings.each_row(lists))
        return TiedRankings(
            arrange_rows(
                self.rankings, rows, self.rankings.lengths[lists], self.rankings.query[lists]
            ),
            offsets_of(np.diff(self.bounds)[groups]),
            offsets_of(np.diff(self.offsets)[lists]),
            self.unlisted[groups],
            self.seeds[lists],
        )

    def sort_ties(
        self, merit: Callable[[Labels], Floats], depth: int | None, *, best: bool
    ) -> Rankings:
        """The lists with each tie in the order of merit, a number a label, the highest first or last.

        Of documents without a row no more are laid out than can be among the first `depth`.
        """
        listed = np.diff(self.bounds)
        group = np.repeat(np.arange(len(listed)), listed)
        rows, labels, lengths = np.arange(len(group)), self.rankings.labels, self.rankings.lengths
        if self.unlisted.any():
            more = self.unlisted if depth is None else np.minimum(self.unlisted, depth)
            group = np.concatenate((group, np.repeat(np.arange(len(more)), more)))
            rows = np.concatenate((rows, np.full(int(more.sum()), -1)))
            labels = np.concatenate((labels, np.full(int(more.sum()), UNJUDGED, dtype=np.int32)))
            lengths = lengths + self.sum_over_groups(more).astype(np.int64)
        value = merit(labels)
        worth = value if best else -value
        rises = (worth[1:] > worth[:-1]) & (group[1:] == group[:-1])
        if not rises.any() and len(rows) == len(self.rankings.labels):
            return self.rankings
        if len(rows) == len(self.rankings.labels) and not best:
            # Most often the labels are in the best order, and turning them round is quicker.
            turned = (self.bounds[group] + self.bounds[group + 1] - 1) - rows
            back = worth[turned]
            if not ((back[1:] > back[:-1]) & (group[1:] == group[:-1])).any():
                return arrange_rows(self.rankings, turned, lengths, self.rankings.query)
        order = np.lexsort((-worth, group))
        return arrange_rows(self.rankings, rows[order], lengths, self.rankings.query)

    def condensed(self) -> TiedRankings:
        """The same lists without the documents that are not judged."""
        judged = self.rankings.labels >= 0
        return replace(
            self,
            rankings=self.rankings.condensed(),
            bounds=offsets_of(self.count(judged)),
            unlisted=np.zeros_like(self.unlisted),
        )


def arrange_rows(rankings: Rankings, rows: Ints, lengths: Ints, query: Ints) -> Rankings:
    """Lists of these lengths for these queries, of rows of `rankings`; row -1 is unjudged."""

    def take(values: NDArray[T]) -> NDArray[T]:
        return np.append(values, np.array([UNJUDGED], dtype=values.dtype))[rows]

    return replace(
        rankings,
        labels=take(rankings.labels),
        offsets=offsets_of(lengths),
        query=query,
        rows=None if rankings.rows is None else take(rankings.rows),
    )
