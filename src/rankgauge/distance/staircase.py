"""Distances of AP, ERR and Q: a walk over all staircases in the plane of places in the two lists.

MED for AP was left open in the literature; that relevance moved to a document that is better placed in
the list ahead and worse placed in the other never hurts makes it polynomial (native/distance.pyx).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.errors import RankgaugeError
from rankgauge.data.model import Floats, Ints
from rankgauge.distance.lists import Greatest, Lists
from rankgauge.native import distance as native

MOST_TRACED = 1 << 33
"""How many states may be traced for a witness: a bit each, so a gigabyte."""


@dataclass(frozen=True, eq=False)
class Rewards:
    """What the documents of a list add: `known` says which are judged relevant, `table[i, n]` what a
    relevant document at place i, from 1, adds with n relevant free ones down to it, itself included."""

    known: NDArray[np.uint8]
    table: Floats


Rewarding = Callable[[NDArray[np.int32], int], Rewards]
"""Rewards of a list of documents, for so many free documents; places beyond its end are not asked."""


@dataclass(frozen=True, eq=False)
class Walk:
    """The best differences of two lists, the first ahead, by the number of relevant free documents."""

    lists: Lists
    ahead: int
    behind: int

    @cached_property
    def free(self) -> int:
        """How many free documents the two lists have."""
        both = np.union1d(self.lists.list(self.ahead), self.lists.list(self.behind))
        return int(np.count_nonzero(self.lists.free[both]))

    def best(self, rewarding: Rewarding) -> Floats:
        """For r = 0, 1, … relevant free documents, the greatest difference of rewards."""
        return self._run(rewarding, trace=False)[0]

    def relevant(self, rewarding: Rewarding, count: int) -> NDArray[np.int32]:
        """So many free documents whose relevance attains the greatest difference."""
        _, bits, width = self._run(rewarding, trace=True)
        places = self._places
        rank = self._ranks(self.ahead, self.behind)
        is_free = self.lists.free[self.lists.list(self.ahead)]
        behind = self.lists.list(self.behind)
        behind_free, behind_rank = self.lists.free[behind], self._ranks(self.behind, self.ahead)
        x = y = places + 1
        s, height = count, np.zeros(places + 2, dtype=np.int64)
        while x > 0 or y > 0:
            state = (x * (places + 2) + y) * width + s
            if y > 0 and bits[state >> 3] >> (state & 7) & 1:
                if y == places + 1:
                    s -= int(np.count_nonzero(is_free[:x] & (rank[:x] == places + 1)))
                elif y <= len(behind) and behind_free[y - 1] and behind_rank[y - 1] <= x:
                    s -= 1
                y -= 1
            else:
                height[x] = y
                x -= 1
        listed = self.lists.list(self.ahead)
        chosen = is_free & (rank > height[1 : len(listed) + 1])
        alone = behind_free & (behind_rank == places + 1)
        beyond = alone & (np.arange(1, len(behind) + 1) > height[places + 1])
        return np.concatenate((listed[chosen], behind[beyond]))

    @property
    def _places(self) -> int:
        return max(len(self.lists.list(self.ahead)), len(self.lists.list(self.behind)))

    def _ranks(self, one: int, other: int) -> Ints:
        """The place in the other list of each document of a list, one beyond the last if it lacks it."""
        place = np.full(len(self.lists.labels), self._places + 1, dtype=np.int64)
        listed = self.lists.list(other)
        place[listed] = np.arange(1, len(listed) + 1)
        return place[self.lists.list(one)]

    def _run(self, rewarding: Rewarding, *, trace: bool) -> tuple[Floats, NDArray[np.uint8], int]:
        places, free = self._places, self.free
        if trace and (places + 2) ** 2 * (free + 2) > MOST_TRACED:
            size = (places + 2) ** 2 * (free + 2) >> 33
            raise RankgaugeError(
                f"the labels that attain the distance need {size} GB to find, expected at most 1; "
                "a smaller cut-off would help"
            )
        y, z = self._laid_out(self.ahead, rewarding), self._laid_out(self.behind, rewarding)
        return native.staircase(
            y.rank, z.rank, y.free, z.free, y.known, z.known, y.table, z.table, trace
        )

    def _laid_out(self, one: int, rewarding: Rewarding) -> _Laid:
        """A list by places from 1, as long as the longer of the two."""
        listed = self.lists.list(one)
        rewards = rewarding(listed, self.free)
        places, inside = self._places, slice(1, len(listed) + 1)
        laid = _Laid(
            np.full(places + 1, places + 1, dtype=np.int64),
            np.zeros(places + 1, dtype=np.uint8),
            np.zeros(places + 1, dtype=np.uint8),
            np.zeros((places + 1, self.free + 2)),
        )
        laid.rank[inside] = self._ranks(one, self.behind if one == self.ahead else self.ahead)
        laid.free[inside] = self.lists.free[listed]
        laid.known[inside] = rewards.known
        laid.table[inside] = rewards.table
        return laid


class _Laid(NamedTuple):
    """A list as the walk takes it."""

    rank: Ints
    free: NDArray[np.uint8]
    known: NDArray[np.uint8]
    table: Floats


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
    """Both directions of each pair. `best_of` gives for a walk the greatest difference, the number of
    relevant free documents in it, the rewards it is by, and how many documents off the lists are
    relevant too; `top` is the label of what is relevant."""
    walks = [
        [Walk(lists, int(a), int(b)), Walk(lists, int(b), int(a))]
        for a, b in zip(first, second, strict=True)
    ]
    found = [[best_of(walk) for walk in both] for both in walks]
    ahead = np.array([[value for value, *_ in both] for both in found]).reshape(len(walks), 2)

    def labelling(p: int, side: int) -> tuple[NDArray[np.int32], int]:
        _, count, rewarding, off = found[p][side]
        labels = np.where(lists.free, 0, lists.labels).astype(np.int32)
        labels[walks[p][side].relevant(rewarding, count)] = top
        return labels, off

    return Greatest(ahead, labelling, exact, limit)
