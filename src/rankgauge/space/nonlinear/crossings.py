"""ParameterCrossings: the values of a parameter at which two documents change places, by sampling.

Between two samples, exactly those pairs of documents change places (once, or an odd number of times)
whose order differs. A sort that swaps neighbors meets each of these pairs once. Each crossing is then
enclosed until no number lies between its bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import NamedTuple

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Record
from rankgauge.native import segments
from rankgauge.space.nonlinear.scorers import MOST_SCORES, ParameterScorer

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""Scores are equal, but for rounding, if they differ by less than this share of the largest score that
each of the documents gets."""

GOLDEN = (5**0.5 - 1) / 2
MOST_STEPS = 200
"""Halving alone needs fewer than 64 steps between numbers of the same size, and some 1,100 toward 0."""


class ParameterCrossings(Record):
    """Where documents change places: list by list, from the lowest value of the parameter on.

    At `position[i]`, in list `lists[i]`, the document `upper[i]` falls below the document `lower[i]`.
    Documents are numbered over all lists. `ways` says how many pairs of documents were decided how.
    """

    position: Floats
    lists: Ints
    upper: Ints
    lower: Ints
    certified: bool = False
    """Whether no crossing can be missing."""
    touching: int = 0
    """Number of times that two documents meet without swapping places."""
    ways: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.position)

    @classmethod
    def from_unsorted(
        cls,
        position: Floats,
        upper: Ints,
        lower: Ints,
        offsets: Ints,
        *,
        certified: bool = False,
        touching: int,
        ways: dict[str, int],
    ) -> ParameterCrossings:
        """Crossings that are given in any order."""
        lists = np.searchsorted(offsets, upper, side="right") - 1
        order = np.lexsort((lower, upper, position, lists))
        position, lists, upper, lower = position[order], lists[order], upper[order], lower[order]
        return cls(position, lists, upper, lower, certified, touching, ways)

    def __repr__(self) -> str:
        how = "certified" if self.certified else "not certified"
        pairs = f" of {count_phrase(self.ways['pairs'], 'pair')}" if "pairs" in self.ways else ""
        return f"{count_phrase(len(self), 'flip')}{pairs}, {how}"


def sample_crossings(
    scorer: ParameterScorer, offsets: Ints, low: float, high: float, samples: int
) -> ParameterCrossings:
    """The crossings that so many samples, and a closer look between them, find.

    Two crossings of the same pair between two samples are found if the samples show the documents close
    to each other, with their distance smallest there.
    """
    points = np.linspace(low, high, samples)
    step = max(1, MOST_SCORES // max(scorer.rows, 1) - 2)
    brackets, dips = [_Brackets.none()], [_Brackets.none()]
    rounding = np.zeros(scorer.rows)
    for first in range(0, samples - 1, step):
        part = points[first : first + step + 2]
        scores = scorer.each(part)
        rounding = np.maximum(rounding, ROUNDING * np.abs(scores).max(axis=0))
        order = _orders(scores, offsets)
        intervals = min(step, len(part) - 1)
        which, upper, lower = inversions(order[: intervals + 1])
        brackets.append(_Brackets(upper, lower, part[which], part[which + 1]))
        dips.append(_find_dips(part, scores, order, offsets))
    crossing, touching = _search_dips(scorer, _Brackets.concatenate(dips), rounding)
    every = _Brackets.concatenate([*brackets, *crossing])

    def difference(values: Floats, active: Bools) -> tuple[Floats, Bools]:
        upper, lower = every.upper[active], every.lower[active]
        scores = scorer.at(values, np.column_stack((upper, lower)))
        apart = scores[:, 0] - scores[:, 1]
        return apart, (apart > 0) | ((apart == 0) & (upper < lower))

    position = locate_changes(difference, every.low, every.high)
    stays, cancelled = _drop_touching(scorer, position, every, rounding)
    return ParameterCrossings.from_unsorted(
        position[stays],
        every.upper[stays],
        every.lower[stays],
        offsets,
        touching=touching + cancelled,
        ways={"intervals between samples": samples - 1},
    )


class _Brackets(NamedTuple):
    """Pairs of documents that change places between two values: `upper` is above `lower` at `low`."""

    upper: Ints
    lower: Ints
    low: Floats
    high: Floats

    @classmethod
    def none(cls) -> _Brackets:
        pairs, values = np.zeros(0, np.int64), np.zeros(0)
        return cls(pairs, pairs, values, values)

    @classmethod
    def concatenate(cls, parts: list[_Brackets]) -> _Brackets:
        return cls(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def _orders(scores: Floats, offsets: Ints) -> Ints:
    """The documents in rank order for each sample, list by list."""
    count, rows = scores.shape
    starts = (np.arange(count)[:, None] * rows + offsets[:-1]).ravel()
    bounds = np.append(starts, count * rows)
    order = segments.segment_order(np.ascontiguousarray(scores).ravel(), bounds)
    ranked: Ints = order.reshape(count, rows) - np.arange(count)[:, None] * rows
    return ranked


def inversions(orders: Ints) -> tuple[Ints, Ints, Ints]:
    """The pairs whose order differs between consecutive orders of the same things.

    The result has the number of the first order of the two, the one that stands above the other in it,
    and the other. Neighbors in the wrong order are swapped until there are none; each swap is a pair.

    >>> [each.tolist() for each in inversions(np.array([[0, 1, 2], [2, 0, 1]]))]
    [[0, 0], [1, 0], [2, 2]]
    """
    count, rows = max(len(orders) - 1, 0), orders.shape[1]
    later = np.empty_like(orders[1:])
    np.put_along_axis(later, orders[1:], np.arange(rows)[None, :], axis=1)
    places = np.take_along_axis(later, orders[:-1], axis=1)
    goal = (places + np.arange(count)[:, None] * rows).ravel()
    things = orders[:-1].ravel().copy()
    which, upper, lower = ([np.zeros(0, np.int64)] for _ in range(3))
    wrong = np.flatnonzero(goal[:-1] > goal[1:])
    while len(wrong):
        parity = wrong % 2 == wrong[0] % 2
        place, rest = wrong[parity], wrong[~parity]
        which.append(place // rows)
        upper.append(things[place])
        lower.append(things[place + 1])
        for column in (goal, things):
            column[place], column[place + 1] = column[place + 1], column[place]
        near = np.concatenate((rest, place - 1, place + 1))
        near = np.unique(near[(near >= 0) & (near < len(goal) - 1)])
        wrong = near[goal[near] > goal[near + 1]]
    return np.concatenate(which), np.concatenate(upper), np.concatenate(lower)


def _find_dips(points: Floats, scores: Floats, order: Ints, offsets: Ints) -> _Brackets:
    """Neighbors in a ranking that may meet twice between the sample before and the sample after.

    Their distance is smaller than at both, and a parabola through the three distances comes near 0.
    """
    if len(points) < 3 or order.shape[1] < 2:
        return _Brackets.none()
    inside = np.ones(order.shape[1] - 1, dtype=np.bool_)
    inside[offsets[(offsets > 0) & (offsets < order.shape[1])] - 1] = False
    upper, lower = order[1:-1, :-1][:, inside], order[1:-1, 1:][:, inside]
    before, now, after = (
        np.take_along_axis(part, upper, axis=1) - np.take_along_axis(part, lower, axis=1)
        for part in (scores[:-2], scores[1:-1], scores[2:])
    )
    bend = before + after - 2 * now
    dip = (before > 0) & (after > 0) & (now < before) & (now <= after) & (bend > 0)
    lowest = np.full(now.shape, np.inf)
    lowest[dip] = now[dip] - (after - before)[dip] ** 2 / (8 * bend[dip])
    place, pair = np.nonzero(dip & (lowest <= bend))
    return _Brackets(upper[place, pair], lower[place, pair], points[place], points[place + 2])


def _search_dips(
    scorer: ParameterScorer, dips: _Brackets, rounding: Floats
) -> tuple[list[_Brackets], int]:
    """Search for the point where the distance of each pair is smallest.

    Return brackets of the pairs that change places, and how many pairs touch there.
    """
    low, high = dips.low.copy(), dips.high.copy()
    pairs = np.column_stack((dips.upper, dips.lower))

    room = rounding[dips.upper] + rounding[dips.lower]

    def apart(values: Floats) -> Floats:
        scores = scorer.at(values, pairs)
        return np.asarray(scores[:, 0] - scores[:, 1])

    least, lowest = np.full(len(low), np.inf), (low + high) / 2
    for _ in range(60 if len(low) else 0):
        first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
        left, right = apart(first), apart(second)
        for value, place in ((left, first), (right, second)):
            lowest = np.where(value < least, place, lowest)
            least = np.minimum(value, least)
        if (least < -room).all():
            break
        to_left = left <= right
        high, low = np.where(to_left, second, high), np.where(to_left, low, first)
    below = least < -room
    touching = int((np.abs(least) <= room).sum())
    upper, lower = dips.upper[below], dips.lower[below]
    return [
        _Brackets(upper, lower, dips.low[below], lowest[below]),
        _Brackets(lower, upper, lowest[below], dips.high[below]),
    ], touching


def locate_changes(
    difference: Callable[[Floats, Bools], tuple[Floats, Bools]], low: Floats, high: Floats
) -> Floats:
    """Where an order changes between `low` and `high`, to full double precision.

    `difference(values, active)` has the difference of the scores of the active pairs, and whether the
    order is the one at `low`. The bounds always enclose a change. The steps are Chandrupatla's (1997):
    inverse quadratic interpolation where it is safe, else halving.
    """
    every = np.ones(len(low), dtype=np.bool_)
    one, other = high.copy(), low.copy()  # the newest bound, and the bound on the other side
    at_one, at_other = difference(one, every)[0], difference(other, every)[0]
    third, at_third = other.copy(), at_other.copy()
    one_is_low = np.zeros(len(low), dtype=np.bool_)
    share = np.full(len(low), 0.5)
    active = one != other
    for step in range(MOST_STEPS + 1_000):
        if step >= MOST_STEPS:
            share[:] = 0.5
        if not active.any():
            break
        value = one + share * (other - one)
        inside = (np.minimum(one, other) < value) & (value < np.maximum(one, other))
        middle = one + 0.5 * (other - one)
        value = np.where(inside, value, middle)
        active &= (np.minimum(one, other) < value) & (value < np.maximum(one, other))
        if not active.any():
            break
        value = value[active]
        at_value, is_low = difference(value, active)
        same = is_low == one_is_low[active]
        for bounds, new in (((one, other, third), value), ((at_one, at_other, at_third), at_value)):
            newest, opposite = bounds[0][active], bounds[1][active]
            bounds[2][active] = np.where(same, newest, opposite)
            bounds[1][active] = np.where(same, opposite, newest)
            bounds[0][active] = new
        one_is_low[active] = is_low
        share[active] = _next_share(
            *(each[active] for each in (one, other, third, at_one, at_other, at_third))
        )
    return np.where(np.abs(at_one) <= np.abs(at_other), one, other)


def _next_share(
    one: Floats, other: Floats, third: Floats, at_one: Floats, at_other: Floats, at_third: Floats
) -> Floats:
    """How far from the newest bound to the other one the next value lies."""
    with np.errstate(all="ignore"):
        across = (one - other) / (third - other)
        height = (at_one - at_other) / (at_third - at_other)
        safe = (height**2 < across) & ((1 - height) ** 2 < 1 - across)
        share = at_one / (at_other - at_one) * at_third / (at_other - at_third)
        share += (
            (third - one) / (other - one) * at_one / (at_third - at_one)
            * at_other / (at_third - at_other)
        )  # fmt: skip
        least = np.spacing(np.abs(one)) / np.abs(other - one)
        share = np.where(safe & np.isfinite(share), share, 0.5)
        return np.clip(share, np.minimum(least, 0.5), np.maximum(1 - least, 0.5))


def _drop_touching(
    scorer: ParameterScorer, position: Floats, pairs: _Brackets, rounding: Floats
) -> tuple[Bools, int]:
    """Which crossings stay, and how often a pair only touches.

    A pair that crosses, and crosses back before its scores differ by more than rounding, touches.
    """
    first, second = np.minimum(pairs.upper, pairs.lower), np.maximum(pairs.upper, pairs.lower)
    order = np.lexsort((position, second, first))
    stays = np.ones(len(position), dtype=np.bool_)
    again = (first[order][1:] == first[order][:-1]) & (second[order][1:] == second[order][:-1])
    ahead, behind = order[:-1][again], order[1:][again]
    if not len(ahead):
        return stays, 0
    middle = (position[ahead] + position[behind]) / 2
    scores = scorer.at(middle, np.column_stack((pairs.upper[ahead], pairs.lower[ahead])))
    room = rounding[first[ahead]] + rounding[second[ahead]]
    equal = np.abs(scores[:, 0] - scores[:, 1]) <= room
    touching = 0
    for before, after in zip(ahead[equal].tolist(), behind[equal].tolist(), strict=True):
        if stays[before] and stays[after]:
            stays[before] = stays[after] = False
            touching += 1
    return stays, touching
