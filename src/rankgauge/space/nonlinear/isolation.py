"""All crossings of documents whose scores are sums of c / (p + q·t), for certain.

On an interval of t each such term is monotone, and so is its slope. So the values at the two ends of an
interval bound the score and its slope inside, and two documents are told apart by four numbers each. An
interval on which the difference of two documents may bend is halved. Numbers that rounding could falsify
are computed again as fractions, and pairs that stay in doubt are decided by Sturm's theorem.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.records import Record
from rankgauge.native.segments import segment_order, segment_sum
from rankgauge.rankings.lists import offsets_of
from rankgauge.space.nonlinear.crossings import ParameterCrossings, locate_changes
from rankgauge.space.nonlinear.scorers import ParameterScorer
from rankgauge.space.nonlinear.sturm import crossing_roots, numerator

UNIT_ROUNDOFF = 2.0**-53
"""The maximum relative rounding error of an operation."""

LEVELS = 16
"""Number of times an interval is halved before Sturm's theorem decides."""

MOST_PARTS = 32
"""If a pair is undecided on more parts of the interval than this, Sturm's theorem decides."""

MOST_PAIRS = 500_000
"""Number of pairs of documents examined at a time."""

Term = tuple[Fraction, Fraction, Fraction]

DECISIONS = (
    "equal scores everywhere",
    "no flip, by bounds",
    "no flip, monotone difference",
    "one flip, monotone difference",
    "decided on parts of the interval",
    "decided by Sturm's theorem",
    "compared as fractions at an end of an interval",
)


class Terms(Record):
    """The scores of documents as Σ c / (e (1 − t) + f t), for t from 0 to 1: document by document.

    Every e and f is positive. `rise` is f − e; no two terms of a document have rises of opposite signs.
    """

    factor: Floats
    start: Floats
    end: Floats
    rise: Floats
    offsets: Ints
    """The index of each document's first term, followed by the end of the last document's terms."""
    error: float
    """The maximum error of a score or its slope, as a share of the sum of its terms' magnitudes."""

    def bounds(self, rows: Ints, places: Floats) -> Points:
        """Scores and slopes of single documents, each at its own place."""
        sizes = np.diff(self.offsets)[rows]
        bounds = offsets_of(sizes)
        which = np.arange(bounds[-1]) + np.repeat(self.offsets[rows] - bounds[:-1], sizes)
        place, factor = np.repeat(places, sizes), self.factor[which]
        below = self.start[which] * (1 - place) + self.end[which] * place
        term = factor / below
        slope = -term * (self.rise[which] / below)
        above = factor > 0
        parts = (
            np.where(above, term, 0.0),
            np.where(above, 0.0, -term),
            np.where(above, slope, 0.0),
            np.where(above, 0.0, -slope),
        )
        return Points(*(segment_sum(part, bounds) for part in parts))


class Points(NamedTuple):
    """Documents at points: sums of their terms, and the slopes of these sums.

    `positive` is the sum of the positive terms, and `negative` is the sum of the sizes of the negative
    terms. `up` and `down` are the slopes of these two sums.
    """

    positive: Floats
    negative: Floats
    up: Floats
    down: Floats

    @property
    def score(self) -> Floats:
        return self.positive - self.negative

    def take(self, places: Ints) -> Points:
        return Points(*(column[places] for column in self))


class Ranges(Record):
    """Between which bounds scores and slopes lie on an interval, but for rounding."""

    low: Floats
    high: Floats
    slope_low: Floats
    slope_high: Floats
    size: Floats
    steepness: Floats

    @classmethod
    def of(cls, one: Points, other: Points) -> Ranges:
        return cls(
            np.minimum(one.positive, other.positive) - np.maximum(one.negative, other.negative),
            np.maximum(one.positive, other.positive) - np.minimum(one.negative, other.negative),
            np.minimum(one.up, other.up) - np.maximum(one.down, other.down),
            np.maximum(one.up, other.up) - np.minimum(one.down, other.down),
            one.positive + one.negative + other.positive + other.negative,
            np.abs(one.up) + np.abs(one.down) + np.abs(other.up) + np.abs(other.down),
        )


class RationalScorer(ParameterScorer):
    """A scorer that finds all flips for certain.

    Its scores are sums of c / (p + q·t) with p + q·t > 0, times a positive factor that all documents
    share.
    """

    @abstractmethod
    def terms(self, low: float, high: float) -> Terms:
        """The terms of all documents, in the place of the parameter between two values: 0 to 1."""

    @abstractmethod
    def exact_terms(self, row: int, low: float, high: float) -> list[Term]:
        """Terms (c, e, f) whose sum is the score of a document, without rounding.

        All documents may have them multiplied by the same positive function of the parameter.
        """

    @abstractmethod
    def kinds(self) -> Ints:
        """A number for each document; two documents share it only if their scores are always equal."""

    @abstractmethod
    def room(self, values: Floats) -> Floats:
        """By how much the score of each document, for its own value, can be wrong by rounding."""

    def exact_score(self, row: int, value: float) -> Fraction:
        """The sum of the exact terms of a document for a value of the parameter."""
        terms = self.exact_terms(row, value, value)
        return sum((factor / below for factor, below, _ in terms), Fraction(0))

    def ranked(self, values: Floats, offsets: Ints) -> tuple[Ints, Bools]:
        """The documents in rank order, and ties; fractions decide what rounding leaves open."""
        scores, room = self.at(values, np.arange(self.rows)), self.room(values)
        order = segment_order(np.ascontiguousarray(scores), offsets)
        close = scores[order][:-1] - scores[order][1:] <= room[order][:-1] + room[order][1:]
        close = np.append(close, False)[: self.rows]
        close[offsets[1:][np.diff(offsets) > 0] - 1] = False
        tied = np.zeros(self.rows, dtype=np.bool_)
        change = np.diff(close.astype(np.int8), prepend=0)
        for start, end in zip(
            np.flatnonzero(change == 1), np.flatnonzero(change == -1), strict=True
        ):
            own = order[start : end + 1].tolist()
            exact = {row: self.exact_score(row, float(values[row])) for row in own}
            own.sort(key=lambda row: (-exact[row], row))
            order[start : end + 1] = own
            tied[start:end] = [exact[one] == exact[other] for one, other in pairwise(own)]
        return order, tied

    def crossings(self, offsets: Ints, low: float, high: float) -> ParameterCrossings:
        terms = self.terms(low, high)
        exact = _ExactScores(self, low, high)
        kinds = self.kinds()
        none = np.zeros(0, np.int64)
        parts = [(np.zeros(0), none, none)]
        for upper, lower in _pairs(offsets):
            parts.append(_Isolation(terms, exact, kinds, upper, lower).crossings())
        place, upper, lower = (np.concatenate(each) for each in zip(*parts, strict=True))
        value = low + place * (high - low)
        ways = {name: exact.ways[name] for name in ("pairs", *DECISIONS)}
        return ParameterCrossings.from_unsorted(
            value, upper, lower, offsets, certified=True, touching=exact.touching, ways=ways
        )


def _pairs(offsets: Ints) -> Iterator[tuple[Ints, Ints]]:
    """All pairs of documents of each list, many at a time."""
    waiting: list[tuple[Ints, Ints]] = []
    count = 0
    for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        step = max(1, MOST_PAIRS // max(end - start, 1))
        for first in range(start, end - 1, step):
            upper = np.arange(first, min(first + step, end - 1))
            below = end - 1 - upper
            repeated = np.repeat(upper, below)
            begins = np.cumsum(below) - below
            lower = np.arange(len(repeated)) - np.repeat(begins, below) + repeated + 1
            waiting.append((repeated, lower))
            count += len(lower)
            if count >= MOST_PAIRS:
                yield _join_pairs(waiting)
                waiting, count = [], 0
    if waiting:
        yield _join_pairs(waiting)


def _join_pairs(parts: list[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    upper, lower = zip(*parts, strict=True)
    return np.concatenate(upper), np.concatenate(lower)


class _ExactScores:
    """Documents without rounding, each looked at when it is asked for."""

    def __init__(self, scorer: RationalScorer, low: float, high: float) -> None:
        self._scorer, self._ends = scorer, (low, high)
        self._terms: dict[int, list[Term]] = {}
        self._values: dict[tuple[int, float], Fraction] = {}
        self.ways = dict.fromkeys(("pairs", *DECISIONS), 0)
        self.touching = 0

    def terms(self, row: int) -> list[Term]:
        if row not in self._terms:
            self._terms[row] = self._scorer.exact_terms(row, *self._ends)
        return self._terms[row]

    def value(self, row: int, place: float) -> Fraction:
        if (row, place) not in self._values:
            at = Fraction(place)
            self._values[row, place] = sum(
                (factor / (start * (1 - at) + end * at) for factor, start, end in self.terms(row)),
                Fraction(0),
            )
        return self._values[row, place]

    def sign(self, upper: int, lower: int, place: float) -> int:
        """The sign of the difference of two documents at a place."""
        self.ways[DECISIONS[6]] += 1
        one, other = self.value(upper, place), self.value(lower, place)
        return (one > other) - (one < other)

    def roots(self, upper: int, lower: int) -> list[tuple[float, int]]:
        """Where the difference of two documents changes its sign, and the sign before."""
        negative = [(-factor, start, end) for factor, start, end in self.terms(lower)]
        crossing, touching = crossing_roots(numerator([*self.terms(upper), *negative]))
        self.touching += touching
        return crossing


class _Isolation:
    """The search for the flips of many pairs at once, level by level."""

    def __init__(
        self, terms: Terms, exact: _ExactScores, kinds: Ints, upper: Ints, lower: Ints
    ) -> None:
        self.terms, self.exact = terms, exact
        exact.ways["pairs"] += len(upper)
        same = kinds[upper] == kinds[lower]
        exact.ways[DECISIONS[0]] += int(same.sum())
        self.upper, self.lower = upper[~same], lower[~same]
        self.doubtful = np.zeros(len(self.upper), dtype=np.bool_)
        """The pairs that Sturm's theorem decides."""
        none = np.zeros(0, np.int64)
        self.brackets: list[tuple[Ints, Floats, Floats, Ints]] = [
            (none, np.zeros(0), np.zeros(0), none)
        ]
        """Pairs with one flip between two places, and the sign before it."""

    def crossings(self) -> tuple[Floats, Ints, Ints]:
        """The place of each flip, the document that falls and the one that rises."""
        pairs = np.arange(len(self.upper))
        left = np.zeros(len(pairs), dtype=np.int64)
        ways = self.exact.ways
        for level in range(LEVELS + 1):
            if not len(pairs):
                break
            bounded, undecided = self._decide_level(pairs, left, 2.0**-level)
            if level == 0:
                found, doubtful = len(self.brackets[-1][0]), int(self.doubtful.sum())
                halved = int(undecided.sum())
                ways[DECISIONS[1]] += bounded
                ways[DECISIONS[2]] += len(pairs) - bounded - found - halved - doubtful
                ways[DECISIONS[3]] += found
                ways[DECISIONS[4]] += halved
            pairs, left = np.repeat(pairs[undecided], 2), np.repeat(2 * left[undecided], 2)
            left[1::2] += 1
            self.doubtful |= np.bincount(pairs, minlength=len(self.upper)) > MOST_PARTS
            stays = ~self.doubtful[pairs]
            pairs, left = pairs[stays], left[stays]
        self.doubtful[pairs] = True
        return self._refine_flips()

    def _decide_level(self, pairs: Ints, left: Ints, width: float) -> tuple[int, Bools]:
        """Decide what can be decided on intervals of this width.

        Return how many pairs bounds tell apart there, and which intervals are left.
        """
        upper, lower = self.upper[pairs], self.lower[pairs]
        nodes = round(1 / width) + 1
        rows = np.concatenate((upper, upper, lower, lower))
        places = np.concatenate((left, left + 1, left, left + 1))
        distinct, which = np.unique(rows * nodes + places, return_inverse=True)
        places_of = np.asarray((distinct % nodes) * width, dtype=np.float64)
        points = self.terms.bounds(distinct // nodes, places_of)
        one, one_end, other, other_end = (points.take(part) for part in np.split(which, 4))
        first, second = Ranges.of(one, one_end), Ranges.of(other, other_end)
        error = self.terms.error
        room = error * (first.size + second.size)
        slope_room = error * (first.steepness + second.steepness)
        apart = (first.low - second.high > room) | (second.low - first.high > room)
        slope_low = first.slope_low - second.slope_high - slope_room
        slope_high = first.slope_high - second.slope_low + slope_room
        ends = one.score - other.score, one_end.score - other_end.score
        apart |= _cannot_cross(ends, slope_low, slope_high, width, room)
        rises = slope_low > 0
        monotone = ~apart & (rises | (slope_high < 0))
        self._find_monotone_flips(
            pairs[monotone],
            left[monotone],
            width,
            np.where(rises, 1, -1)[monotone],
            (ends[0][monotone], ends[1][monotone]),
            room[monotone],
        )
        return int(apart.sum()), ~apart & ~monotone & ~self.doubtful[pairs]

    def _find_monotone_flips(
        self,
        pairs: Ints,
        left: Ints,
        width: float,
        slope: Ints,
        ends: tuple[Floats, Floats],
        room: Floats,
    ) -> None:
        """Find the flips on intervals where the difference rises or falls throughout.

        A difference of 0 at the very start or end of the line is no flip: the sign inside counts. A
        difference of 0 at any other place is left to Sturm's theorem.
        """
        signs = []
        for shift, end in enumerate(ends):
            sign = np.sign(end).astype(np.int64)
            for number in np.flatnonzero(np.abs(end) <= room).tolist():
                pair = pairs[number]
                place = float((left[number] + shift) * width)
                sign[number] = self.exact.sign(int(self.upper[pair]), int(self.lower[pair]), place)
                if not sign[number] and place in (0.0, 1.0):
                    sign[number] = slope[number] * (-1 if shift else 1)
                elif not sign[number]:
                    self.doubtful[pair] = True
            signs.append(sign)
        flip = signs[0] * signs[1] < 0
        start: Floats = np.asarray(left[flip] * width, dtype=np.float64)
        self.brackets.append((pairs[flip], start, start + width, -slope[flip]))

    def _refine_flips(self) -> tuple[Floats, Ints, Ints]:
        """All flips, each as exact as a double can be."""
        columns = [np.concatenate(each) for each in zip(*self.brackets, strict=True)]
        stays = ~self.doubtful[columns[0]]
        pairs, low, high, before = (column[stays] for column in columns)
        upper = np.where(before > 0, self.upper[pairs], self.lower[pairs])
        lower = np.where(before > 0, self.lower[pairs], self.upper[pairs])

        def difference(places: Floats, active: Bools) -> tuple[Floats, Bools]:
            one, other = (self.terms.bounds(rows[active], places) for rows in (upper, lower))
            apart = one.score - other.score
            return apart, apart > 0

        place = locate_changes(difference, low, high)
        roots: list[float] = []
        falls: list[int] = []
        rises: list[int] = []
        for pair in np.flatnonzero(self.doubtful).tolist():
            one, other = int(self.upper[pair]), int(self.lower[pair])
            for root, sign in self.exact.roots(one, other):
                roots.append(root)
                falls.append(one if sign > 0 else other)
                rises.append(other if sign > 0 else one)
        self.exact.ways[DECISIONS[5]] += int(self.doubtful.sum())
        return (
            np.concatenate((place, np.array(roots, dtype=np.float64))),
            np.concatenate((upper, np.array(falls, dtype=np.int64))),
            np.concatenate((lower, np.array(rises, dtype=np.int64))),
        )


def _cannot_cross(
    ends: tuple[Floats, Floats], slope_low: Floats, slope_high: Floats, width: float, room: Floats
) -> Bools:
    """Whether the slope is too small to lead from the differences at both ends to 0 between them."""
    apart = np.zeros(len(room), dtype=np.bool_)
    for sign in (1, -1):
        start, end = sign * ends[0] - room, sign * ends[1] - room
        low, high = (slope_low, slope_high) if sign > 0 else (-slope_high, -slope_low)
        bends = (start > 0) & (end > 0) & (low < 0) & (high > 0)
        # The lines with the steepest slopes through both ends meet at the lowest possible point.
        with np.errstate(all="ignore"):
            lowest = (high * start - low * end + low * high * width) / (high - low)
            slack = (
                16 * UNIT_ROUNDOFF * (high * start - low * end - low * high * width) / (high - low)
            )
        apart |= bends & (lowest > slack)
    return apart
