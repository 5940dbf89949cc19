"""Distances of measures of a few documents: Recall, Success, RR and R-precision."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankgauge.distance.algorithms.lists import GreatestDifferences, GreatestLead, ListPairs, Pair

if TYPE_CHECKING:
    from rankgauge.measures.base import Binary
    from rankgauge.measures.precision import RecallAt, ReciprocalRank, RPrecision, SuccessAt

PairLead = tuple[float, NDArray[np.bool_], int]
"""The greatest difference, with the relevant documents of the pair and the number off the lists."""


def recall(measure: RecallAt, pairs: ListPairs) -> GreatestDifferences:
    """Compute the greatest differences of pairs of lists by Recall."""
    judged = int(pairs.lists.judged.relevant(measure.rel)[0])
    return _differences_of_pairs(measure, pairs, lambda pair: _recall(pair, judged))


def success(measure: SuccessAt, pairs: ListPairs) -> GreatestDifferences:
    """Compute the greatest differences of pairs of lists by Success."""
    return _differences_of_pairs(measure, pairs, _success)


def reciprocal_rank(measure: ReciprocalRank, pairs: ListPairs) -> GreatestDifferences:
    """Compute the greatest differences of pairs of lists by RR."""
    return _differences_of_pairs(measure, pairs, _reciprocal_rank)


def r_precision(measure: RPrecision, pairs: ListPairs) -> GreatestDifferences:
    """Compute the greatest differences of pairs of lists by R-precision."""
    lists = pairs.lists
    judged = int(lists.judged.relevant(measure.rel)[0])
    offlist = lists.offlist and int(lists.grades[-1]) >= measure.rel

    def best_of(pair: Pair) -> PairLead:
        return _r_precision(pair, judged, offlist, lambda r: int(measure.times * r + 0.9))

    return _differences_of_pairs(measure, pairs, best_of)


def _differences_of_pairs(
    measure: Binary, pairs: ListPairs, best_of: Callable[[Pair], PairLead]
) -> GreatestDifferences:
    """The greatest differences, where `best_of` says how far the first list of a pair can be ahead.

    The labels of the pair are 1 for relevant, 0 for other and -1 for free documents.
    """
    lists, top = pairs.lists, int(pairs.lists.grades[-1])
    if top < measure.rel:
        lists = lists.with_free_as_zero()

    known: dict[tuple[int, int], Pair] = {}

    def most_ahead(first: int, second: int) -> GreatestLead:
        turned = known.pop((second, first), None)
        if turned is None:
            pair = lists.pair(first, second)
            pair = pair._replace(labels=np.where(pair.free, -1, pair.labels >= measure.rel))
            known[first, second] = pair
        else:
            pair = turned._replace(first=turned.second, second=turned.first)
        value, relevant, off = best_of(pair)
        return GreatestLead(value, lambda: pair.documents[relevant & pair.free], off)

    return replace(pairs, lists=lists).differences_from_relevant(most_ahead, top)


def _recall(pair: Pair, judged: int) -> PairLead:
    """(d + m)/(R + m) for m of the free documents that only the first list has: all of them, or none.

    Where that is negative, a larger R brings it nearer to 0, so the free documents that both lists
    have are relevant too.
    """
    known, only = pair.labels == 1, pair.free & (pair.first > 0) & (pair.second == 0)
    base = int(np.count_nonzero(known & (pair.first > 0)))
    base -= int(np.count_nonzero(known & (pair.second > 0)))
    best = (base / judged if judged else 0.0, np.zeros_like(only), 0)
    more = int(np.count_nonzero(only))
    if more and (base + more) / (judged + more) > best[0]:
        best = ((base + more) / (judged + more), only, 0)
    if best[0] < 0:
        wanted = pair.free & (pair.first > 0)
        both = int(np.count_nonzero(wanted)) - more
        best = ((base + more) / (judged + more + both), wanted, 0)
    return best


def _success(pair: Pair) -> PairLead:
    """1 where the first list can have a relevant document and the second none."""
    known, nothing = pair.labels == 1, np.zeros(len(pair.labels), dtype=np.bool_)
    sure, other_sure = (bool((known & (rank > 0)).any()) for rank in (pair.first, pair.second))
    if sure:
        return 1.0 - other_sure, nothing, 0
    for only in (True, False):
        places = pair.free & (pair.first > 0) & ((pair.second == 0) | (not only))
        if places.any() and (only or other_sure):
            one = nothing.copy()
            one[np.argmax(places)] = True
            return 1.0 - other_sure, one, 0
    return 0.0 - other_sure, nothing, 0


def _reciprocal_rank(pair: Pair) -> PairLead:
    """With one free document of the first list relevant, or none."""
    known = pair.labels == 1
    own = min(pair.first[known & (pair.first > 0)], default=np.inf)
    other = min(pair.second[known & (pair.second > 0)], default=np.inf)
    nothing = np.zeros(len(known), dtype=np.bool_)
    candidates = np.flatnonzero(pair.free & (pair.first > 0))
    there = np.where(pair.second > 0, pair.second, np.inf)[candidates]
    gained = 1 / np.minimum(own, pair.first[candidates]) - 1 / np.minimum(other, there)
    base = float(1 / own - 1 / other)
    if len(candidates) and gained.max() > base:
        one = nothing.copy()
        one[candidates[np.argmax(gained)]] = True
        return float(gained.max()), one, 0
    return base, nothing, 0


def _r_precision(
    pair: Pair, judged: int, offlist: bool, depth_of: Callable[[int], int]
) -> PairLead:
    """Return how far the first list can be ahead by R-precision, the best of all possible R.

    For each R, so many free documents are relevant: R − R_J, where R_J is the number of judged relevant
    documents. The first of these are documents that only the first list has among the first that count.
    Then come documents that change nothing, off the lists or not. The last are documents that only the
    second list has among the first that count.
    """
    free, known = pair.free, pair.labels == 1
    longest = int(max(pair.first.max(initial=0), pair.second.max(initial=0)))
    count = int(np.count_nonzero(free))
    totals = [*range(max(judged, 1), judged + count + 1)]
    if offlist:
        totals += _last_totals(longest, judged + count, depth_of)
    best: PairLead = (-np.inf if judged else 0.0, free & False, 0)
    for total in totals:
        depth = depth_of(total)
        inside = (pair.first > 0) & (pair.first <= depth)
        other = (pair.second > 0) & (pair.second <= depth)
        good, bad = free & inside & ~other, free & other & ~inside
        base = int(np.count_nonzero(known & inside)) - int(np.count_nonzero(known & other))
        wanted = total - judged
        gained = min(wanted, int(np.count_nonzero(good)))
        neutral = np.flatnonzero(free & ~good & ~bad)
        rest = wanted - gained
        listed = min(rest, len(neutral))
        off = rest - listed if offlist else 0
        lost = rest - listed - off
        if lost > np.count_nonzero(bad):
            continue
        value = (base + gained - lost) / depth if depth else 0.0
        if value > best[0]:
            chosen = free & False
            for group, number in ((np.flatnonzero(good), gained), (neutral, listed)):
                chosen[group[:number]] = True
            chosen[np.flatnonzero(bad)[:lost]] = True
            best = (value, chosen, off)
    return best


def _last_totals(longest: int, least: int, depth_of: Callable[[int], int]) -> list[int]:
    """Return the largest number of relevant documents that has a depth, for each depth up to `longest`.

    The numbers start from `least`. The largest number is the best one, because documents off the lists
    may be among the relevant documents.
    """
    totals, depth = [], depth_of(least)
    while depth <= longest:
        low, high = least, max(1, 2 * least)
        while depth_of(high) <= depth:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if depth_of(middle) <= depth else (low, middle)
        totals.append(low)
        depth = depth_of(high)
        least = high
    return [total for total in totals if total > 0]
