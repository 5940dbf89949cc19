"""Distances of AP, ERR and Q: a walk over all staircases in the plane of places in the two lists.

MED for AP was left open in the literature. It takes polynomial time because of one fact: relevance may
always move to a document that is higher in the list ahead and lower in the other (native/distance.pyx).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.distance.algorithms.lists import GreatestDifferences, GreatestLead, ListPairs, Lists
from rankgauge.errors import RankgaugeError
from rankgauge.native import distance as native

if TYPE_CHECKING:
    from rankgauge.measures.average_precision import SumOfPrecisions
    from rankgauge.measures.cascade import ExpectedReciprocalRank
    from rankgauge.measures.q_measure import QMeasure

MOST_CACHED_REWARDS = 1 << 24
"""Maximum number of rank rewards kept: 16 bytes each, a quarter of a gigabyte."""

MOST_PLACES = 10_000
"""Maximum length of lists: the walk takes 16 bytes for each pair of ranks."""

MOST_TRACED_STATES = 1 << 33
"""Maximum number of states traced for a witness: one bit each, a gigabyte."""


class Rewards(NamedTuple):
    """The rewards that the documents of a list add to its score.

    `known` says which documents are judged relevant. `table[i, n]` says what a relevant document at
    place i, from 1, adds with n relevant free documents down to it, itself included.
    """

    known: NDArray[np.uint8]
    table: Floats


RewardFunction = Callable[[NDArray[np.int32], int], Rewards]
"""The rewards of a list of documents, given the number of free documents. Only ranks within the list
are requested."""


class ListPositions:
    """The places of documents in each list, and the rewards of the lists.

    Each is computed once, however many pairs a list is in.
    """

    def __init__(self, lists: Lists) -> None:
        self.lists = lists
        self.places = int(np.diff(lists.offsets).max(initial=0))
        if self.places > MOST_PLACES:
            raise RankgaugeError(
                f"lists of {self.places} documents, expected at most {MOST_PLACES}: use a cutoff"
            )
        self._place = np.full((len(lists), len(lists.labels)), self.places + 1, dtype=np.int64)
        self._free = np.zeros((len(lists), self.places + 1), dtype=np.uint8)
        is_free = lists.free
        for i in range(len(lists)):
            listed = lists.list(i)
            self._place[i, listed] = np.arange(1, len(listed) + 1)
            self._free[i, 1 : len(listed) + 1] = is_free[listed]
        self._by: RewardFunction | None = None
        self._rewards: dict[int, Rewards] = {}

    def ranks(self, one: int, other: int) -> Ints:
        """Return the place in the other list of each document of a list, from 1.

        The place is one beyond the last if the other list lacks the document.
        """
        listed = self.lists.list(one)
        rank = np.full(self.places + 1, self.places + 1, dtype=np.int64)
        rank[1 : len(listed) + 1] = self._place[other, listed]
        return rank

    def free(self, one: int) -> NDArray[np.uint8]:
        """Which places of a list, from 1, have a free document."""
        free: NDArray[np.uint8] = self._free[one]
        return free

    def rewards(self, one: int, rewarding: RewardFunction) -> Rewards:
        """The rewards of a list by places from 1."""
        if rewarding is not self._by or len(self._rewards) * self.places**2 > MOST_CACHED_REWARDS:
            self._by, self._rewards = rewarding, {}
        if one not in self._rewards:
            listed, places = self.lists.list(one), self.places
            inside = slice(1, len(listed) + 1)
            rewards = rewarding(listed, 2 * places)
            known = np.zeros(places + 1, dtype=np.uint8)
            table = np.zeros((places + 1, 2 * places + 2))
            known[inside], table[inside] = rewards
            self._rewards[one] = Rewards(known, table)
        return self._rewards[one]


class OrderedPair(Record):
    """Two lists, one ahead of the other."""

    placed: ListPositions
    ahead: int
    behind: int

    @property
    def free(self) -> int:
        """How many free documents the two lists have."""
        lists, placed = self.placed.lists, self.placed
        own, other = lists.list(self.ahead), lists.list(self.behind)
        alone = other[placed.ranks(self.behind, self.ahead)[1 : len(other) + 1] > placed.places]
        return int(np.count_nonzero(lists.free[own])) + int(np.count_nonzero(lists.free[alone]))

    def best(self, rewarding: RewardFunction) -> Floats:
        """For r = 0, 1, … relevant free documents, the greatest difference of rewards."""
        return self._walk(rewarding, trace=False)[0]

    def relevant(self, rewarding: RewardFunction, count: int) -> NDArray[np.int32]:
        """So many free documents whose relevance attains the greatest difference."""
        places, free = self.placed.places, self.free
        if (places + 2) ** 2 * (free + 2) > MOST_TRACED_STATES:
            size = (places + 2) ** 2 * (free + 2) / (8 << 30)
            raise RankgaugeError(
                f"finding the labels that give this distance needs {size:.1f} GB of memory, expected at "
                "most 1 GB; use a smaller cutoff"
            )
        _, bits, width = self._walk(rewarding, trace=True)
        own_free, other_free = self.placed.free(self.ahead), self.placed.free(self.behind)
        rank = self.placed.ranks(self.ahead, self.behind)
        back = self.placed.ranks(self.behind, self.ahead)
        alone = (own_free > 0) & (rank == places + 1)
        x = y = places + 1
        s, height = count, np.zeros(places + 2, dtype=np.int64)
        while x > 0 or y > 0:
            state = (x * (places + 2) + y) * width + s
            if y > 0 and bits[state >> 3] >> (state & 7) & 1:
                if y == places + 1:
                    s -= int(np.count_nonzero(alone[: x + 1]))
                elif other_free[y] and back[y] <= x:
                    s -= 1
                y -= 1
            else:
                height[x] = y
                x -= 1
        chosen = (own_free > 0) & (rank > height[: places + 1])
        beyond = (other_free > 0) & (back == places + 1) & (np.arange(places + 1) > height[-1])
        lists = self.placed.lists
        return np.concatenate(
            (
                lists.list(self.ahead)[np.flatnonzero(chosen) - 1],
                lists.list(self.behind)[np.flatnonzero(beyond) - 1],
            )
        )

    def _walk(
        self, rewarding: RewardFunction, *, trace: bool
    ) -> tuple[Floats, NDArray[np.uint8], int]:
        placed, ahead, behind = self.placed, self.ahead, self.behind
        own, other = placed.rewards(ahead, rewarding), placed.rewards(behind, rewarding)
        return native.staircase(
            placed.ranks(ahead, behind),
            placed.ranks(behind, ahead),
            placed.free(ahead),
            placed.free(behind),
            own.known,
            other.known,
            own.table,
            other.table,
            trace,
        )


class BestDifference(NamedTuple):
    """The greatest difference, and the relevant documents and rewards that give it.

    `relevant` says how many free documents are relevant in it. `rewarding` gives the rewards that it
    uses. `off_lists` says how many documents in neither list are relevant too.
    """

    value: float
    relevant: int
    rewarding: RewardFunction
    off_lists: int = 0


def _differences_of_pairs(
    pairs: ListPairs,
    best_of: Callable[[OrderedPair], BestDifference],
    top: int,
    *,
    exact: bool = True,
    limit: float = np.inf,
) -> GreatestDifferences:
    """The greatest differences of each pair of lists; `top` is the label of relevant documents."""
    placed = ListPositions(pairs.lists)

    def most_ahead(first: int, second: int) -> GreatestLead:
        pair = OrderedPair(placed, first, second)
        best = best_of(pair)
        return GreatestLead(
            best.value, lambda: pair.relevant(best.rewarding, best.relevant), best.off_lists
        )

    return pairs.differences_from_relevant(most_ahead, top, exact=exact, limit=limit)


def sum_of_precisions(measure: SumOfPrecisions, pairs: ListPairs) -> GreatestDifferences:
    """Compute the greatest differences of pairs of lists by AP and other sums of precisions."""
    lists, top = pairs.lists, int(pairs.lists.grades[-1])
    if top < measure.rel:
        lists = lists.with_free_as_zero()
    judged = int(lists.judged.relevant(measure.rel)[0])
    relevant = lists.labels >= measure.rel

    def rewarding(listed: NDArray[np.int32], free: int) -> Rewards:
        """(c + n)/i, c the judged relevant documents down to place i."""
        known = relevant[listed]
        rank = np.arange(1, len(listed) + 1)[:, None]
        table = (np.cumsum(known)[:, None] + np.arange(free + 2)[None, :]) / rank
        return Rewards(known.astype(np.uint8), table)

    def best_of(pair: OrderedPair) -> BestDifference:
        sums = pair.best(rewarding)
        values = measure._score_from_sum(sums, judged + np.arange(float(len(sums))))
        return BestDifference(float(values.max()), int(np.argmax(values)), rewarding)

    return _differences_of_pairs(replace(pairs, lists=lists), best_of, top)


def expected_reciprocal_rank(
    measure: ExpectedReciprocalRank, pairs: ListPairs
) -> GreatestDifferences:
    """Compute the greatest differences of pairs of lists by ERR.

    Each document's chance to satisfy is in the score to the first power, so grades between the lowest
    and the best never help.
    """
    lists, grade = pairs.lists, pairs.lists.judged.max_grade
    allowed = measure._stop_chances(lists.grades, grade)
    top, most = int(lists.grades[np.argmax(allowed)]), float(allowed.max())
    if most == 0:
        lists = lists.with_free_as_zero()
    stops = measure._stop_chances(lists.labels, grade)

    def rewarding(listed: NDArray[np.int32], free: int) -> Rewards:
        """Return the chance to pass all above and stop here, over the rank.

        (1 − ρ)^n is for n free documents passed, the document itself not among them.
        """
        is_free, stop = lists.free[listed], stops[listed]
        passed = np.concatenate(([1.0], np.cumprod(1 - stop)))[:-1]
        here = passed * np.where(is_free, most, stop) / np.arange(1, len(listed) + 1)
        others = np.arange(free + 2)[None, :] - is_free[:, None]
        powers = (1 - most) ** np.arange(free + 2.0)
        table = here[:, None] * powers[np.maximum(others, 0)]
        return Rewards((stop > 0).astype(np.uint8), table)

    def best_of(pair: OrderedPair) -> BestDifference:
        values = pair.best(rewarding)
        return BestDifference(float(values.max()), int(np.argmax(values)), rewarding)

    return _differences_of_pairs(replace(pairs, lists=lists), best_of, top)


def q_measure(measure: QMeasure, pairs: ListPairs) -> GreatestDifferences:
    """Compute the greatest differences of pairs of lists by Q.

    The walk is repeated for each number of relevant documents, which sets the ideal gains. It is exact
    where free documents have the highest gain of all or none.
    """
    lists, grade = pairs.lists, pairs.lists.judged.max_grade
    allowed = measure._gains(lists.grades, grade)
    top, most = int(lists.grades[np.argmax(allowed)]), float(allowed.max())
    if most == 0:
        lists = lists.with_free_as_zero()
    known = np.sort(measure._gains(lists.judged.labels, grade))[::-1]
    judged, own = int(np.count_nonzero(known)), measure._gains(lists.labels, grade)
    places = int(np.diff(lists.offsets).max(initial=0))

    def divisors(more: int) -> Floats:
        """I + β·cg*_i with so many documents of the highest gain more."""
        best = np.zeros(places)
        ordered = np.sort(np.concatenate((known, np.full(more, most))))[::-1][:places]
        best[: len(ordered)] = ordered
        divisor: Floats = np.arange(1, places + 1) + measure.beta * np.cumsum(best)
        return divisor

    def rewarding_by(divisor: Floats) -> RewardFunction:
        def rewarding(listed: NDArray[np.int32], free: int) -> Rewards:
            gain = own[listed]
            base = np.cumsum(gain > 0) + measure.beta * np.cumsum(gain)
            table = base[:, None] + (1 + measure.beta * most) * np.arange(free + 2)[None, :]
            return Rewards((gain > 0).astype(np.uint8), table / divisor[: len(listed), None])

        return rewarding

    def best_of(pair: OrderedPair) -> BestDifference:
        best = BestDifference(-np.inf, 0, rewarding_by(divisors(0)))
        best_known = int(np.count_nonzero(known >= most))
        spare = max(0, places - best_known) if lists.offlist and most > 0 else 0
        before, sums = None, np.zeros(0)
        for more in range(pair.free + spare + 1):
            divisor = divisors(more)
            if before is None or (divisor != before).any():
                before, sums = divisor, pair.best(rewarding_by(divisor))
            norm = float(measure._norm(np.array([float(judged + more)]))[0])
            least = max(0, more - spare)
            some = sums[least : more + 1]
            if not len(some):
                continue
            value = float(some.max()) / norm if judged + more else 0.0
            if value > best.value:
                count = least + int(np.argmax(some))
                best = BestDifference(value, count, rewarding_by(divisor), more - count)
        return best

    # Moved up past a document of a higher gain, relevance loses what that one adds to it.
    exact = len(np.unique(allowed)) <= 2 and float(own.max(initial=0.0)) <= most
    pairs = replace(pairs, lists=lists)
    return _differences_of_pairs(pairs, best_of, top, exact=exact, limit=measure.range[1])
