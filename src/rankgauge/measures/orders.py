"""The mean score over all orders of tied documents, for any measure.

If there are few different orders, all of them are scored; otherwise orders drawn at random. A measure
with a formula for the mean does not need this (`_tied` in `measures/base.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.measures.formulas import miss_chance
from rankgauge.measures.labeling import MOST_CELLS
from rankgauge.rankings.lists import Rankings, segment_count
from rankgauge.rankings.tied_lists import TiedRankings, arrange_rows

SAMPLES = 1000
"""How many orders are drawn for an estimate; no more than this are enumerated."""

MOST_PLACES = 100_000
"""How many documents of a list may count where its orders are enumerated or drawn."""


class Mean(NamedTuple):
    """The mean score of each list, its standard error, and how many orders were drawn.

    The error and the number of orders are 0 if the mean is exact.
    """

    values: Floats
    errors: Floats
    samples: Ints

    @classmethod
    def exact(cls, values: Floats) -> Mean:
        """These means, known exactly."""
        return cls(values, np.zeros(len(values)), np.zeros(len(values), dtype=np.int64))


def mean_over_orders(
    score_each: Callable[[Rankings], Floats], tied: TiedRankings, depth: int | None
) -> Mean:
    """The mean score of each list over all orders of its ties. The first `depth` documents count."""
    means = Mean.exact(np.zeros(len(tied)))
    with np.errstate(invalid="ignore"):
        for i, scores in enumerate(scores_of_orders(score_each, tied, depth)):
            means.values[i] = scores.mean()
            means.errors[i] = scores.error()
            means.samples[i] = scores.samples
    return means


def variance_over_orders(
    score_each: Callable[[Rankings], Floats], tied: TiedRankings, depth: int | None
) -> Floats:
    """The variance of each list's score over all orders of its ties, or over those drawn."""
    with np.errstate(invalid="ignore"):
        variances = [one.variance() for one in scores_of_orders(score_each, tied, depth)]
    return np.array(variances).reshape(len(tied))


class OrderScores(NamedTuple):
    """The scores of orders of a list, all equally likely: all orders, or `samples` drawn ones.

    If documents with a row seldom come among the first, only orders with such a document are drawn. All
    other orders have the score `rest`, and `share` is their probability.
    """

    scores: Floats
    samples: int = 0
    rest: float = 0.0
    share: float = 0.0

    def mean(self) -> float:
        """The mean score, or its estimate."""
        return float((1 - self.share) * np.mean(self.scores) + self.share * self.rest)

    def error(self) -> float:
        """The standard error of the mean, 0 where it is exact."""
        if not self.samples:
            return 0.0
        return float((1 - self.share) * np.std(self.scores, ddof=1) / np.sqrt(len(self.scores)))

    def variance(self) -> float:
        """The variance of the score, or its estimate."""
        within = np.var(self.scores, ddof=1 if self.samples else 0)
        between = self.share * (np.mean(self.scores) - self.rest) ** 2
        return float((1 - self.share) * (within + between))


def scores_of_orders(
    score_each: Callable[[Rankings], Floats], tied: TiedRankings, depth: int | None
) -> list[OrderScores]:
    """For each list the scores of orders of its ties.

    If a list has at most SAMPLES different orders, all of them are scored; otherwise SAMPLES orders are
    drawn. Orders are made one list at a time, because each list has its own number of orders and its own
    generator. They are scored many lists at once.
    """
    samples, shares = [0] * len(tied), [0.0] * len(tied)

    def some_orders(size: int, template: Ints, groups: list[_MixedTie], i: int) -> Iterator[Ints]:
        if math.prod(group.orders for group in groups) <= SAMPLES:
            return _all_orders(template, groups, size)
        shares[i] = groups[0].skip_chance if len(groups) == 1 else 0.0
        samples[i] = SAMPLES
        return _draw_orders(template, groups, size, int(tied.seeds[i]), shares[i] > 0)

    scores = _scores_by_list(score_each, tied, depth, some_orders)
    return [
        OrderScores(one[1:], n, float(one[0]), share) if share else OrderScores(one, n)
        for one, n, share in zip(scores, samples, shares, strict=True)
    ]


def scores_of_all_orders(
    score_each: Callable[[Rankings], Floats], tied: TiedRankings, depth: int | None
) -> list[Floats]:
    """For each list the scores of all different orders of its ties, however many these are."""

    def all_orders(size: int, template: Ints, groups: list[_MixedTie], i: int) -> Iterator[Ints]:
        return _all_orders(template, groups, size)

    return _scores_by_list(score_each, tied, depth, all_orders)


def _scores_by_list(
    score_each: Callable[[Rankings], Floats],
    tied: TiedRankings,
    depth: int | None,
    orders_of: Callable[[int, Ints, list[_MixedTie], int], Iterator[Ints]],
) -> list[Floats]:
    """For each list, the scores of the orders that `orders_of` makes of it.

    `orders_of` gets the number of orders to make at a time, the first `depth` places of the list, its
    mixed ties, and the number of the list.
    """
    scores: list[list[Floats]] = [[] for _ in range(len(tied))]
    batch: list[tuple[int, Ints]] = []

    def score_batch() -> None:
        lists = np.array([i for i, _ in batch])
        counts = np.array([len(orders) for _, orders in batch])
        lengths = np.repeat([orders.shape[1] for _, orders in batch], counts)
        rows = np.concatenate([orders.ravel() for _, orders in batch])
        query = tied.rankings.query[np.repeat(lists, counts)]
        found = score_each(arrange_rows(tied.rankings, rows, lengths, query))
        for i, part in zip(lists, np.split(found, np.cumsum(counts)[:-1]), strict=True):
            scores[i].append(part)
        batch.clear()

    cells = 0
    for i, (template, groups) in enumerate(_list_templates(tied, depth)):
        size = max(1, MOST_CELLS // max(1, len(template)))
        for orders in orders_of(size, template, groups, i):
            batch.append((i, orders))
            cells += orders.size
            if cells >= MOST_CELLS:
                score_batch()
                cells = 0
    if batch:
        score_batch()
    return [np.concatenate(parts) for parts in scores]


class _MixedTie(NamedTuple):
    """A tie of documents that are not all alike.

    `start` is where the tie starts, and `places` is how many of its places count. `kinds` has the rows
    of each kind; documents of one kind are interchangeable. `unlisted` is how many documents have no
    row.
    """

    start: int
    places: int
    kinds: list[Ints]
    unlisted: int

    @property
    def counts(self) -> list[int]:
        """The number of documents of each kind, those without a row the last."""
        return [*map(len, self.kinds), *([self.unlisted] if self.unlisted else [])]

    @property
    def skip_chance(self) -> float:
        """The chance that the first places hold no document with a row, where that is likely; else 0."""
        if self.unlisted < self.places:
            return 0.0
        rows = sum(map(len, self.kinds))
        one = [np.array([n]) for n in (rows + self.unlisted, rows, self.places)]
        chance = float(miss_chance(*one)[0])
        return chance if chance > 0.5 else 0.0

    @property
    def orders(self) -> int:
        """The number of different orders, or SAMPLES + 1 where there are more."""
        orders, size = 1, 0
        for count in sorted(self.counts, reverse=True):
            size += count
            # C(size, count) is at least (size/count)^count.
            if count * math.log2(size / count) > 64:
                return SAMPLES + 1
            orders = min(orders * math.comb(size, count), SAMPLES + 1)
        return orders


def _list_templates(
    tied: TiedRankings, depth: int | None
) -> Iterator[tuple[Ints, list[_MixedTie]]]:
    """For each list its first `depth` places, as rows in one of the orders, and its mixed ties."""
    rankings, listed = tied.rankings, np.diff(tied.bounds)
    kind = rankings.labels.astype(np.int64)
    if rankings.rows is not None:
        kind = np.where(rankings.rows < 0, kind, len(kind) + rankings.rows)
    group = np.repeat(np.arange(len(listed)), listed)
    by_kind = np.lexsort((kind, group))
    changes = np.append(False, np.diff(kind[by_kind]) != 0) & np.append(False, np.diff(group) == 0)
    kinds = segment_count(changes, tied.bounds) + (listed > 0) + (tied.unlisted > 0)
    places = tied.within(depth)
    mixed = np.flatnonzero((kinds > 1) & (places > 0))
    place = tied.above[group] + np.arange(len(group)) - tied.bounds[group]
    lengths = tied.lengths if depth is None else np.minimum(tied.lengths, depth)
    spans = np.searchsorted(mixed, tied.offsets)
    for i in range(len(tied)):
        template = np.full(lengths[i], -1, dtype=np.int64)
        rows = np.arange(rankings.offsets[i], rankings.offsets[i + 1])
        rows = rows[place[rows] < lengths[i]]
        template[place[rows]] = rows
        groups = []
        for g in mixed[spans[i] : spans[i + 1]].tolist():
            first, last = tied.bounds[g], tied.bounds[g + 1]
            cuts = np.flatnonzero(changes[first:last])
            parts = np.split(by_kind[first:last], cuts) if last > first else []
            groups.append(
                _MixedTie(int(tied.above[g]), int(places[g]), parts, int(tied.unlisted[g]))
            )
        yield template, groups


def _all_orders(template: Ints, groups: Sequence[_MixedTie], most: int) -> Iterator[Ints]:
    """Every different order of a list, one a row, at most so many at a time."""
    orders = template[None, :]
    for group in groups:
        first = np.array([*(rows[0] for rows in group.kinds), -1], dtype=np.int64)
        each = first[arrangements(group.counts)][:, : group.places]
        every = np.tile(each, (len(orders), 1))
        orders = np.repeat(orders, len(each), axis=0)
        orders[:, group.start : group.start + group.places] = every
    for start in range(0, len(orders), most):
        yield orders[start : start + most]


def arrangements(counts: Sequence[int]) -> Ints:
    """Every different order of counts[k] things of each kind k, one a row.

    >>> arrangements([1, 2]).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    size = sum(counts)
    rare_first = sorted(range(len(counts)), key=counts.__getitem__)
    orders = np.full((1, size), rare_first[-1] if counts else 0, dtype=np.int64)
    free = np.arange(size)[None, :]
    for kind in rare_first[:-1]:
        count, places = counts[kind], free.shape[1]
        chosen = np.array(list(itertools.combinations(range(places), count)), dtype=np.int64)
        chosen = chosen.reshape(math.comb(places, count), count)
        left = np.ones((len(chosen), places), dtype=np.bool_)
        left[np.arange(len(chosen))[:, None], chosen] = False
        rest = np.nonzero(left)[1].reshape(len(chosen), places - count)
        orders = np.repeat(orders, len(chosen), axis=0)
        taken = free[:, chosen].reshape(len(orders), count)
        orders[np.arange(len(orders))[:, None], taken] = kind
        free = free[:, rest].reshape(len(orders), places - count)
    return orders


def _draw_orders(
    template: Ints, groups: Sequence[_MixedTie], most: int, seed: int, rare: bool
) -> Iterator[Ints]:
    """SAMPLES orders of a list drawn at random, at most so many at a time.

    Where `rare`, there is one tie: the first order has no document with a row among its first places,
    and all the others have one. The numbers of documents of each kind are part of the seed, so that
    unlike lists do not share their errors.
    """
    generator = np.random.default_rng([seed, *(n for group in groups for n in group.counts)])
    if rare:
        nothing = template.copy()
        nothing[groups[0].start : groups[0].start + groups[0].places] = -1
        yield nothing[None, :]
    for start in range(0, SAMPLES, most):
        orders = np.repeat(template[None, :], min(most, SAMPLES - start), axis=0)
        for group in groups:
            places = slice(group.start, group.start + group.places)
            orders[:, places] = _draw_group(group, len(orders), generator, rare)
        yield orders


def _draw_group(group: _MixedTie, count: int, generator: np.random.Generator, rare: bool) -> Ints:
    """The first places of `count` random orders of a group, where `rare` with a row among them.

    How many rows the first places hold is drawn first, so that documents without a row that come
    later are never laid out.
    """
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *group.kinds])
    orders = generator.permuted(np.repeat(rows[None, :], count, axis=0), axis=1)
    if group.unlisted == 0:
        return orders[:, : group.places]
    width = min(len(rows), group.places)
    # Of j rows among them the chance is C(rows, j)·C(unlisted, places − j) over all.
    held = np.arange(width, dtype=np.float64)
    others = group.unlisted - group.places + held + 1
    with np.errstate(divide="ignore"):
        steps = np.log(len(rows) - held) + np.log(group.places - held) - np.log(held + 1)
        steps = np.where(others > 0, steps - np.log(np.maximum(others, 1)), np.inf)
    least = max(int(rare), group.places - group.unlisted)
    steps[:least] = 0.0
    logs = np.concatenate(([0.0], np.cumsum(steps)))
    logs[:least] = -np.inf
    chances = np.exp(logs - logs.max())
    inside = generator.choice(width + 1, size=count, p=chances / chances.sum())
    laid = np.full((count, group.places), -1, dtype=np.int64)
    kept = np.arange(width)[None, :] < inside[:, None]
    laid[:, :width][kept] = orders[:, :width][kept]
    return generator.permuted(laid, axis=1)
