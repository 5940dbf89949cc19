"""Distances of AP, ERR and Q: a walk over all staircases in the plane of places in the two lists.

MED for AP was left open in the literature. It takes polynomial time because of one fact: relevance may
always move to a document that is higher in the list ahead and lower in the other (native/distance.pyx).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.distance.algorithms.lists import Greatest, Lists
from rankgauge.errors import RankgaugeError
from rankgauge.native import distance as native

MOST_KEPT = 1 << 24
"""How many squares of places are kept laid out: 16 bytes each, so a quarter of a gigabyte."""

MOST_PLACES = 10_000
"""How long lists may be: the walk takes 16 bytes for each pair of places."""

MOST_TRACED = 1 << 33
"""How many states may be traced for a witness: a bit each, so a gigabyte."""


class Rewards(Record):
    """What the documents of a list add: `known` says which are judged relevant, `table[i, n]` what a
    relevant document at place i, from 1, adds with n relevant free ones down to it, itself included."""

    known: NDArray[np.uint8]
    table: Floats


Rewarding = Callable[[NDArray[np.int32], int], Rewards]
"""The rewards of a list of documents, given the number of free documents. Only places of the list are
asked for."""


class _Laid(NamedTuple):
    """A list by places from 1, as the walk takes it."""

    free: NDArray[np.uint8]
    known: NDArray[np.uint8]
    table: Floats


class Board:
    """Lists laid out by places, each once however many pairs it is in."""

    def __init__(self, lists: Lists) -> None:
        self.lists = lists
        self.places = int(np.diff(lists.offsets).max(initial=0))
        if self.places > MOST_PLACES:
            raise RankgaugeError(
                f"lists of {self.places} documents, expected at most {MOST_PLACES}: give a cut-off"
            )
        self._place = np.full((len(lists), len(lists.labels)), self.places + 1, dtype=np.int64)
        for i in range(len(lists)):
            listed = lists.list(i)
            self._place[i, listed] = np.arange(1, len(listed) + 1)
        self._by: Rewarding | None = None
        self._laid: dict[int, _Laid] = {}

    def ranks(self, one: int, other: int) -> Ints:
        """The place in the other list of each document of a list, from 1; one beyond the last if it
        lacks it."""
        listed = self.lists.list(one)
        rank = np.full(self.places + 1, self.places + 1, dtype=np.int64)
        rank[1 : len(listed) + 1] = self._place[other, listed]
        return rank

    def laid(self, one: int, rewarding: Rewarding) -> _Laid:
        """A list with its rewards."""
        if rewarding is not self._by or len(self._laid) * self.places**2 > MOST_KEPT:
            self._by, self._laid = rewarding, {}
        if one not in self._laid:
            listed, places = self.lists.list(one), self.places
            rewards = rewarding(listed, 2 * places)
            laid = _Laid(
                np.zeros(places + 1, dtype=np.uint8),
                np.zeros(places + 1, dtype=np.uint8),
                np.zeros((places + 1, 2 * places + 2)),
            )
            inside = slice(1, len(listed) + 1)
            laid.free[inside] = self.lists.free[listed]
            laid.known[inside] = rewards.known
            laid.table[inside] = rewards.table
            self._laid[one] = laid
        return self._laid[one]


class Walk(Record):
    """The best differences of two lists, the first ahead, by the number of relevant free documents."""

    board: Board
    ahead: int
    behind: int

    @property
    def free(self) -> int:
        """How many free documents the two lists have."""
        lists = self.board.lists
        own, other = lists.list(self.ahead), lists.list(self.behind)
        alone = other[
            self.board.ranks(self.behind, self.ahead)[1 : len(other) + 1] > self.board.places
        ]
        return int(np.count_nonzero(lists.free[own])) + int(np.count_nonzero(lists.free[alone]))

    def best(self, rewarding: Rewarding) -> Floats:
        """For r = 0, 1, … relevant free documents, the greatest difference of rewards."""
        return self._run(rewarding, trace=False)[0]

    def relevant(self, rewarding: Rewarding, count: int) -> NDArray[np.int32]:
        """So many free documents whose relevance attains the greatest difference."""
        places, free = self.board.places, self.free
        if (places + 2) ** 2 * (free + 2) > MOST_TRACED:
            size = (places + 2) ** 2 * (free + 2) / (8 << 30)
            raise RankgaugeError(
                f"finding the labels that give this distance needs {size:.1f} GB of memory, expected at "
                "most 1 GB; use a smaller cut-off"
            )
        _, bits, width = self._run(rewarding, trace=True)
        own, other = self.board.laid(self.ahead, rewarding), self.board.laid(self.behind, rewarding)
        rank = self.board.ranks(self.ahead, self.behind)
        back = self.board.ranks(self.behind, self.ahead)
        alone = (own.free > 0) & (rank == places + 1)
        x = y = places + 1
        s, height = count, np.zeros(places + 2, dtype=np.int64)
        while x > 0 or y > 0:
            state = (x * (places + 2) + y) * width + s
            if y > 0 and bits[state >> 3] >> (state & 7) & 1:
                if y == places + 1:
                    s -= int(np.count_nonzero(alone[: x + 1]))
                elif other.free[y] and back[y] <= x:
                    s -= 1
                y -= 1
            else:
                height[x] = y
                x -= 1
        chosen = (own.free > 0) & (rank > height[: places + 1])
        beyond = (other.free > 0) & (back == places + 1) & (np.arange(places + 1) > height[-1])
        lists = self.board.lists
        return np.concatenate(
            (
                lists.list(self.ahead)[np.flatnonzero(chosen) - 1],
                lists.list(self.behind)[np.flatnonzero(beyond) - 1],
            )
        )

    def _run(self, rewarding: Rewarding, *, trace: bool) -> tuple[Floats, NDArray[np.uint8], int]:
        y, z = self.board.laid(self.ahead, rewarding), self.board.laid(self.behind, rewarding)
        return native.staircase(
            self.board.ranks(self.ahead, self.behind),
            self.board.ranks(self.behind, self.ahead),
            y.free,
            z.free,
            y.known,
            z.known,
            y.table,
            z.table,
            trace,
        )


def over_pairs(
    lists: Lists,
    first: Ints,
    second: Ints,
    best_of: Callable[[Walk], tuple[float, int, Rewarding, int]],
    top: int,
    *,
    exact: bool = True,
    limit: float = np.inf,
) -> Greatest:
    """The greatest differences of each pair of lists, in both directions.

    Parameters
    ----------
    lists
        The lists of one query.
    first, second
        The places of the two lists of each pair.
    best_of
        Gives for a walk the greatest difference, how many free documents are relevant in it, the rewards
        that it uses, and how many documents in neither list are relevant too.
    top
        The label that relevant documents get.
    exact
        Whether the differences are exact.
    limit
        The greatest difference there can be.
    """
    board = Board(lists)
    walks = [
        [Walk(board, a, b), Walk(board, b, a)]
        for a, b in zip(first.tolist(), second.tolist(), strict=True)
    ]
    found = [[best_of(walk) for walk in both] for both in walks]
    ahead = np.array([[value for value, *_ in both] for both in found]).reshape(len(walks), 2)

    def labelling(p: int, side: int) -> tuple[NDArray[np.int32], int]:
        _, count, rewarding, off = found[p][side]
        labels = np.where(lists.free, 0, lists.labels).astype(np.int32)
        labels[walks[p][side].relevant(rewarding, count)] = top
        return labels, off

    return Greatest(ahead, labelling, np.full(len(walks), exact), limit, top=top)
