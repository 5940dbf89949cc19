"""ERR: the mean reciprocal rank of a user who stops at a document that satisfies."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.measures.base import Answer, Measure
from rankgauge.measures.formulas import NEGLIGIBLE, mean_reciprocal_rank
from rankgauge.measures.gains import gains
from rankgauge.measures.labeling import MOST_CELLS
from rankgauge.measures.registry import register
from rankgauge.native import segments as native
from rankgauge.rankings.flips import Flips, Places
from rankgauge.rankings.lists import Rankings, offsets_of
from rankgauge.rankings.tied_lists import TiedRankings

MOST_STEPS = 10_000_000
"""How many steps, documents times places, ERR takes in one tie before it goes another way."""

MOST_JOINT_PLACES = 50
"""Number of ranks for which pairwise joint distributions are computed; the cost is quadratic in it."""


class ExpectedReciprocalRank(Measure):
    """The mean of 1/rank of the document where a user stops.

    The better a document, the more likely the user stops there.
    """

    name = "ERR"
    summary = (
        "Expected reciprocal rank: the expected value of 1/rank for the document at which a user "
        "stops. The better a document, the more likely the user is to stop there."
    )
    formula = "ERR@k = Σ_{i≤k} (ρ_i / i) · Π_{j<i} (1 − ρ_j), ρ = (2^label − 1)/2^max_grade"
    source = (
        "Chapelle, Metzler, Zhang and Grinspan 2009, Expected reciprocal rank for graded relevance"
    )
    range = (0.0, 1.0)
    monotone = True
    tail_matters = False
    expectation = "exact"
    swap_monotone = True
    ideal_is_best = True
    examples = ("ERR@20", "ERR")
    deeper = "same"
    _distance = "expected_reciprocal_rank"

    def _stop_chances(self, labels: Labels, max_grade: int) -> Floats:
        """The chance that a document satisfies."""
        return gains("scaled", labels, max_grade)

    def _score(self, lists: Rankings) -> Floats:
        stop = self._stop_chances(lists.labels, lists.judged.max_grade)
        reached = native.segment_cumprod(1 - stop, lists.offsets)
        return lists.sum(reached * stop / lists.ranks)

    def _merged_labels(self, labels: Labels, max_grade: int) -> Labels:
        return np.maximum(labels, np.int32(0))

    def _noncontributing_labels(self, labels: Labels, max_grade: int) -> Bools:
        return np.asarray(self._stop_chances(labels, max_grade) == 0)

    def _contribution(self, places: Places) -> Floats:
        grade = places.judged.max_grade
        reached = np.exp(places.sum_above(np.log1p(-self._stop_chances(places.kinds, grade))))
        return reached * self._stop_chances(places.label, grade) / places.rank

    def _flip_changes(self, flips: Flips) -> Floats:
        """Multiply the chance of reaching the upper rank by two differences.

        One is the difference of the chances that the documents satisfy, the other the difference of
        the reciprocal ranks. What the two documents add together at the lower rank does not change.
        """
        stop = self._stop_chances(flips.kinds, flips.judged.max_grade)
        reached = np.exp(flips.places(flips.upper).sum_above(np.log1p(-stop)))
        below = 1 / (flips.rank + 1)
        if self.depth is not None:
            below = np.where(flips.rank < self.depth, below, 0.0)
            reached = np.where(flips.rank <= self.depth, reached, 0.0)
        return reached * (stop[flips.lower] - stop[flips.upper]) * (1 / flips.rank - below)

    def _tied(self, tied: TiedRankings) -> Floats | None:
        """Each group's mean reciprocal rank of stopping, times the chance to come as far as it."""
        stop = self._stop_chances(tied.rankings.labels, tied.rankings.judged.max_grade)
        satisfying = stop > 0
        counts = tied.count(satisfying)
        # Groups whose documents cannot satisfy change nothing.
        places = np.where(counts > 0, tied.within(self.depth), 0)
        small = counts * places <= MOST_STEPS
        total = native.segment_stops(
            stop[satisfying],
            offsets_of(counts),
            tied.sizes - counts,
            tied.above,
            np.where(small, places, 0),
        )
        if not small.all():
            large = np.flatnonzero(~small)
            total[large] = self._means_of_large_groups(tied, stop[satisfying], counts, large)
        if len(counts) > len(tied):
            passed = np.exp(tied.sum(np.log1p(-stop)))
            total = total * native.segment_cumprod(passed, tied.offsets)
        return tied.sum_over_groups(total)

    def _means_of_large_groups(
        self, tied: TiedRankings, stops: Floats, counts: Ints, groups: NDArray[np.intp]
    ) -> Floats:
        """The same for these groups in time that does not grow with their places.

        Were it known beforehand which documents would satisfy, the user would stop at the first of
        them: the mean reciprocal rank of the first of a, over the chances that a of a group would.
        """
        total = np.zeros(len(groups))
        starts = offsets_of(counts)[groups]
        for chosen, chance in chances_of_counts(stops, starts, counts[groups]):
            group = groups[chosen]
            row, hits = np.nonzero(chance[:, 1:] > NEGLIGIBLE)
            mean = mean_reciprocal_rank(
                tied.sizes[group][row], hits + 1, tied.above[group][row], self.depth
            )
            total[chosen] = np.bincount(
                row, weights=chance[row, hits + 1] * mean, minlength=len(group)
            )
        return total

    def answers(self) -> dict[str, Answer]:
        short = self.cutoff is not None and self.cutoff <= MOST_JOINT_PLACES
        return {**super().answers(), "variance": "exact" if short else "enumerated"}

    def _variance(self, tied: TiedRankings) -> Floats:
        """By `_variance_of_short_lists`, for lists of which many documents count from orders."""
        places, variance = tied.within(self.depth), np.zeros(len(tied))
        long = places > MOST_JOINT_PLACES
        if long.any():
            variance[long] = self._variance_of_orders(tied.pick(long))
        stop = self._stop_chances(tied.rankings.labels, tied.rankings.judged.max_grade)
        satisfying = stop > 0
        counts = tied.count(satisfying)
        starts = offsets_of(counts)[:-1]
        # Lists of about as many satisfying documents come together, those of the most first.
        short = np.flatnonzero(~long & (counts > 0))
        short = short[np.argsort(-counts[short], kind="stable")]
        width = int(places[short].max(initial=0)) + 1
        for part in np.array_split(short, len(short) * width**2 // MOST_CELLS + 1):
            variance[part] = _variance_of_short_lists(
                stop[satisfying], starts[part], counts[part], tied.sizes[part], places[part]
            )
        return variance


def _variance_of_short_lists(
    stops: Floats, starts: Ints, counts: Ints, sizes: Ints, places: Ints
) -> Floats:
    """The variance of ERR of random orders of `sizes` documents, of which so many places count.

    List l has the chances to stop stops[starts[l]:starts[l] + counts[l]], and documents without one;
    lists with more chances come first. With Q_i = Π_{j≤i} (1 − ρ_j) the score is Σ_i v_i·Q_i over i from
    0 to m, v_0 = 1, v_i = −1/(i(i+1)) and v_m = −1/m. The mean of Q_a·Q_{a+c} follows from putting one
    document after the other into the order: of t of them the last one put is among the first a with
    chance a/t, and among the next c with chance c/t.
    """
    most = int(places.max(initial=0))
    a, c = np.arange(most + 1)[:, None], np.arange(most + 1)[None, :]
    joint = np.ones((len(sizes), most + 1, most + 1))
    joint[:, a + c > most] = 0.0
    total = sizes - counts
    for step in range(int(counts.max(initial=0))):
        total = total + 1
        some = slice(0, np.count_nonzero(counts > step))
        passes = (1 - stops[starts[some] + step])[:, None, None]
        size = total[some, None, None]
        share, before = 1 / size, joint[some]
        after = before * (np.maximum(size - a - c, 0) * share)
        after[:, 1:] += before[:, :-1] * (a[1:] * share * passes**2)
        after[:, :, 1:] += before[:, :, :-1] * (c[:, 1:] * share * passes)
        joint[some] = after
    rank = np.arange(most + 1)[None, :]
    last = places[:, None]
    weight = np.where(rank < last, -1 / np.maximum(rank * (rank + 1), 1), 0.0)
    weight = np.where(rank == last, -1 / np.maximum(last, 1), weight)
    weight[:, 0] = 1.0
    variance = np.zeros(len(sizes))
    for i in range(most + 1):
        covariance = joint[:, i, : most + 1 - i] - joint[:, 0, i, None] * joint[:, 0, i:]
        both = np.where(np.arange(most + 1 - i) > 0, 2.0, 1.0) * weight[:, i:]
        variance += weight[:, i] * (covariance * both).sum(axis=1)
    return np.maximum(variance, 0.0)


def chances_of_counts(
    chances: Floats, starts: Ints, counts: Ints
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Segments of independent events, and for each the chance that 0, 1, … of its events happen.

    Segment s has the events starts[s] to starts[s] + counts[s]; it comes in one of several tables,
    with others of about its size.
    """
    scale = np.frexp(counts)[1]
    for size in np.unique(scale):
        chosen = np.flatnonzero(scale == size)
        table = np.zeros((len(chosen), int(counts[chosen].max()) + 1))
        table[:, 0] = 1.0
        for event in range(table.shape[1] - 1):
            place = np.minimum(event, counts[chosen] - 1)
            chance = np.where(event < counts[chosen], chances[starts[chosen] + place], 0.0)
            happened = table[:, :-1] * chance[:, None]
            table *= 1 - chance[:, None]
            table[:, 1:] += happened
        yield chosen, table


ERR = register(ExpectedReciprocalRank())
