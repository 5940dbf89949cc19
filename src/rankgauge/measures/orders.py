"""Rankings with ties, and the mean score over all orders of the tied documents.

A measure with a formula for that mean uses the counts that `TiedRankings` gives; any other gets it by
enumeration where there are few different orders, and by drawing orders at random beyond.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.data.model import UNJUDGED, Floats, Ints, Labels, T
from rankgauge.measures.labelling import MOST_CELLS
from rankgauge.native import segments as native
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of, segment_count

SAMPLES = 1000
"""How many orders are drawn for an estimate; no more than this are enumerated."""

MOST_PLACES = 100_000
"""How many documents of a list may count where its orders are enumerated or drawn."""

SHORT = 10_000
"""Up to how many places a sum over places is done one by one."""

NEGLIGIBLE = 1e-18

SERIES_FROM = 30
"""From which number on harmonic sums are had from a series."""


class Mean(NamedTuple):
    """A mean score a list; where orders were drawn, how many, and the standard error, else 0."""

    values: Floats
    errors: Floats
    samples: Ints

    @classmethod
    def exact(cls, values: Floats) -> Mean:
        """These means, known exactly."""
        return cls(values, np.zeros(len(values)), np.zeros(len(values), dtype=np.int64))


@dataclass(frozen=True, eq=False)
class TiedRankings:
    """Lists of groups of documents: the order of the groups is known, that within a group is not.

    Group g has the rows bounds[g]:bounds[g + 1] of `rankings`, and `unlisted[g]` unjudged documents
    more that have no row; list i has the groups offsets[i]:offsets[i + 1]. `seeds`, a number a list, fix
    which orders are drawn where not all can be tried.

    >>> tied = TiedRankings.of([[1, 0], [2]])
    >>> tied.sizes.tolist(), tied.above.tolist()
    ([2, 1], [0, 2])
    """

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
        """The same lists, all documents of each tied, with so many more that have no row."""
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
        return np.diff(self.bounds) + self.unlisted

    @cached_property
    def owner(self) -> Ints:
        """The list of each group."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @cached_property
    def above(self) -> Ints:
        """The number of documents ranked above each group."""
        return self.before(self.sizes)

    @cached_property
    def lengths(self) -> Ints:
        """The number of documents in each list."""
        return np.diff(offsets_of(self.sizes)[self.offsets])

    @cached_property
    def undecided(self) -> NDArray[np.bool_]:
        """Which lists have a tie, or documents without a row."""
        return segment_count((self.sizes > 1) | (self.unlisted > 0), self.offsets) > 0

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

    def over_groups(self, values: NDArray[np.generic]) -> Floats:
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
            arranged(self.rankings, rows, self.rankings.lengths[lists], self.rankings.query[lists]),
            offsets_of(np.diff(self.bounds)[groups]),
            offsets_of(np.diff(self.offsets)[lists]),
            self.unlisted[groups],
            self.seeds[lists],
        )

    def in_order(
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
            lengths = lengths + self.over_groups(more).astype(np.int64)
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
                return arranged(self.rankings, turned, lengths, self.rankings.query)
        order = np.lexsort((-worth, group))
        return arranged(self.rankings, rows[order], lengths, self.rankings.query)

    def condensed(self) -> TiedRankings:
        """The same lists without the documents that are not judged."""
        judged = self.rankings.labels >= 0
        return replace(
            self,
            rankings=self.rankings.condensed(),
            bounds=offsets_of(self.count(judged)),
            unlisted=np.zeros_like(self.unlisted),
        )


def arranged(rankings: Rankings, rows: Ints, lengths: Ints, query: Ints) -> Rankings:
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


# Any measure: enumeration, or orders drawn at random


def mean_over_orders(
    score_each: Callable[[Rankings], Floats], tied: TiedRankings, depth: int | None
) -> Mean:
    """The mean score of each list over all orders of its ties; `depth` documents of it count."""
    means = Mean.exact(np.zeros(len(tied)))
    with np.errstate(invalid="ignore"):
        for i, found in enumerate(scores_of_orders(score_each, tied, depth)):
            means.values[i] = found.mean()
            means.errors[i] = found.error()
            means.samples[i] = found.samples
    return means


def variance_over_orders(
    score_each: Callable[[Rankings], Floats], tied: TiedRankings, depth: int | None
) -> Floats:
    """The variance of each list's score over all orders of its ties, or over those drawn."""
    with np.errstate(invalid="ignore"):
        found = [one.variance() for one in scores_of_orders(score_each, tied, depth)]
    return np.array(found).reshape(len(tied))


class OrderScores(NamedTuple):
    """The scores of orders of a list, each as likely as any other; of all orders, or of `samples` drawn.

    Where listed documents seldom come among the first, only orders that have one are drawn; `rest` is
    the score of all the others, and `share` the chance of those.
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

    Where a list has no more than SAMPLES different orders, all of them are scored; beyond, SAMPLES
    orders are drawn. Orders are made one list at a time, because each has its own number of them and a
    generator of its own, and scored many lists at once.
    """
    scores: list[list[Floats]] = [[] for _ in range(len(tied))]
    batch: list[tuple[int, Ints]] = []

    def score_batch() -> None:
        lists = np.array([i for i, _ in batch])
        counts = np.array([len(orders) for _, orders in batch])
        lengths = np.repeat([orders.shape[1] for _, orders in batch], counts)
        rows = np.concatenate([orders.ravel() for _, orders in batch])
        query = tied.rankings.query[np.repeat(lists, counts)]
        found = score_each(arranged(tied.rankings, rows, lengths, query))
        for i, part in zip(lists, np.split(found, np.cumsum(counts)[:-1]), strict=True):
            scores[i].append(part)
        batch.clear()

    cells = 0
    samples, shares = [0] * len(tied), [0.0] * len(tied)
    for i, (template, groups) in enumerate(_lists(tied, depth)):
        size = max(1, MOST_CELLS // max(1, len(template)))
        if math.prod(group.orders for group in groups) <= SAMPLES:
            blocks = _all_orders(template, groups, size)
        else:
            shares[i] = groups[0].passed_over if len(groups) == 1 else 0.0
            blocks = _drawn_orders(template, groups, size, int(tied.seeds[i]), shares[i] > 0)
            samples[i] = SAMPLES
        for orders in blocks:
            batch.append((i, orders))
            cells += orders.size
            if cells >= MOST_CELLS:
                score_batch()
                cells = 0
    if batch:
        score_batch()
    found = [np.concatenate(parts) for parts in scores]
    return [
        OrderScores(one[1:], n, float(one[0]), share) if share else OrderScores(one, n)
        for one, n, share in zip(found, samples, shares, strict=True)
    ]


class _Mixed(NamedTuple):
    """A tie of documents that are not all alike: where it starts, how many places of it count, its
    rows by kind, documents of one kind being as good as the same, and how many have no row."""

    start: int
    places: int
    kinds: list[Ints]
    unlisted: int

    @property
    def counts(self) -> list[int]:
        """The number of documents of each kind, those without a row the last."""
        return [*map(len, self.kinds), *([self.unlisted] if self.unlisted else [])]

    @property
    def passed_over(self) -> float:
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


def _lists(tied: TiedRankings, depth: int | None) -> Iterator[tuple[Ints, list[_Mixed]]]:
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
            groups.append(_Mixed(int(tied.above[g]), int(places[g]), parts, int(tied.unlisted[g])))
        yield template, groups


def _all_orders(template: Ints, groups: Sequence[_Mixed], most: int) -> Iterator[Ints]:
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


def _drawn_orders(
    template: Ints, groups: Sequence[_Mixed], most: int, seed: int, rare: bool
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
            orders[:, places] = _drawn_group(group, len(orders), generator, rare)
        yield orders


def _drawn_group(group: _Mixed, count: int, generator: np.random.Generator, rare: bool) -> Ints:
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


# Parts of formulas


def harmonic_between(low: NDArray[Any], high: NDArray[Any]) -> Floats:
    """1/(low+1) + … + 1/high, to full precision also where both are large.

    The two need not be whole, only their difference. The first terms are added up, the others had
    from the asymptotic series of the digamma function.

    >>> harmonic_between(np.array([10**6]), np.array([10**6 + 1])).tolist()
    [9.99999000001e-07]
    """
    total = np.zeros(len(low))
    begin, end = low.astype(np.float64), high.astype(np.float64)
    for _ in range(SERIES_FROM):
        few = np.flatnonzero((begin < SERIES_FROM) & (begin < end - 0.5))
        if not len(few):
            break
        begin[few] += 1
        total[few] += 1 / begin[few]

    def correction(x: Floats) -> Floats:
        """ψ(x + ½) − ln x."""
        y: Floats = 1 / (x * x)
        series: Floats = y * (1 / 24 - y * (7 / 960 - y * (31 / 8064 - y * (127 / 30720))))
        return series

    begin, end = begin + 0.5, end + 0.5
    rest: Floats = np.log1p((end - begin) / begin) + correction(end) - correction(begin)
    return total + np.where(begin >= end, 0.0, rest)


def miss_chance(size: Ints, hits: Ints, drawn: Ints) -> Floats:
    """The chance that the first `drawn` of `size` documents in random order hold none of the hits:
    C(size − hits, drawn)/C(size, drawn)."""
    factors, fixed = np.minimum(hits, drawn), np.maximum(hits, drawn)
    offsets = offsets_of(factors + 1)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], factors + 1)
    total, taken = np.repeat(size, factors + 1), np.repeat(fixed, factors + 1)
    left = np.maximum(total - taken - place, 0) / np.maximum(total - place, 1)
    return native.segment_cumprod(left, offsets)[offsets[1:] - 1]


def mean_reciprocal_rank(size: Ints, hits: Ints, above: Ints, depth: int | None) -> Floats:
    """The mean of 1/rank of the first hit, 0 beyond `depth`.

    There are `size` documents in random order, `hits` of them hits and at least one, and `above`
    documents above them all. The first hit is at place t of them with probability
    C(size − t, hits − 1)/C(size, hits).
    """
    places = size - hits + 1
    likely = np.ceil(size / hits * -math.log(NEGLIGIBLE)).astype(np.int64)
    whole = np.full(len(size), depth is None) if depth is None else above + places <= depth
    short = (np.minimum(places, likely) <= SHORT) | (hits * above > size) | ~whole
    places = np.minimum(places, likely)
    if depth is not None:
        places = np.clip(depth - above, 0, places)
    result = np.empty(len(size))
    result[~short] = _mean_by_recursion(size[~short], hits[~short], above[~short])
    index = np.flatnonzero(short)
    block = np.cumsum(places[index]) // MOST_CELLS
    for part in np.split(index, np.flatnonzero(np.diff(block)) + 1):
        result[part] = _mean_by_places(size[part], hits[part], above[part], places[part])
    return result


def _mean_by_places(size: Ints, hits: Ints, above: Ints, places: Ints) -> Floats:
    offsets = offsets_of(places)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], places)
    total, wanted = np.repeat(size, places) - place, np.repeat(hits, places)
    missed = native.segment_cumprod((total - wanted) / total, offsets)
    return native.segment_sum(
        missed * wanted / total / (np.repeat(above, places) + place + 1), offsets
    )


def _mean_by_recursion(size: Ints, hits: Ints, above: Ints) -> Floats:
    """From the mean for one hit, (H_{above+size} − H_above)/size, to that for r hits by
    E_r = r/((r−1)(size−r+1)) · [(size + above − r + 2)·E_{r−1} − 1].

    It follows from C(m, r−1) = C(m, r−2)·(m−r+2)/(r−1). Errors grow like r·(1 + above/size)^r, so it
    is for hits · above ≤ size.
    """
    mean = harmonic_between(above, above + size) / size
    for r in range(2, int(hits.max(initial=0)) + 1):
        step = r / ((r - 1) * (size - r + 1.0)) * ((size + above - r + 2) * mean - 1)
        mean = np.where(hits >= r, step, mean)
    return mean
