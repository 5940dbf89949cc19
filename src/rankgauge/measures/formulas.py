"""Parts of formulas that several measures share: harmonic sums, chances in random orders."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.measures.labeling import MOST_CELLS
from rankgauge.native import segments as native
from rankgauge.rankings.lists import offsets_of

MOST_SUMMED_PLACES = 10_000
"""Up to how many places a sum over places is done one by one."""

NEGLIGIBLE = 1e-18

TOLERANCE = 1e-15
"""By how much a ratio must rise in a step of Dinkelbach's method, else it is the highest."""

MOST_SUMMED_RANKS = 1000
"""How many ranks are added up one by one before the rest is integrated."""

SERIES_FROM = 30
"""From which number on harmonic sums are had from a series."""


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


FIRST_SQUARES = np.concatenate(([0.0], np.cumsum(1 / np.arange(1.0, 31.0) ** 2)))
"""The sums of the first inverse squares: 0, 1, 1 + 1/4, …"""


def inverse_square_sums(count: Ints) -> Floats:
    """1 + 1/2² + … + 1/count².

    >>> inverse_square_sums(np.array([2, 10**6])).round(12).tolist()
    [1.25, 1.644933066849]
    """
    least = len(FIRST_SQUARES) - 1

    def beyond(x: Floats) -> Floats:
        """Σ 1/i² over i > x − ½, the trigamma function ψ₁(x + ½), by its asymptotic series."""
        y: Floats = 1 / (x * x)
        series: Floats = 1 - y * (1 / 12 - y * (7 / 240 - y * (31 / 1344 - y * (127 / 3840))))
        return series / x

    start, end = np.full(len(count), least + 0.5), np.maximum(count, least) + 0.5
    total: Floats = FIRST_SQUARES[np.minimum(count, least)] + beyond(start) - beyond(end)
    return total


def sum_over_ranks(
    weight: Callable[[Floats], Floats], first: int, last: int, kept: float = 1.0
) -> float:
    """The sum of kept^(i−1) · weight(i) over the ranks i from `first` to `last`.

    The time does not depend on the number of ranks. The weight is smooth and changes on the scale of
    its rank, as 1/i and 1/log(i) do. The first ranks are added up; the others come from the
    Euler–Maclaurin formula, accurate to 1e-12 of the sum.

    >>> round(sum_over_ranks(lambda rank: 1 / rank, 1, 10**9), 9)  # ln(10**9) + 0.577215665
    21.300481502
    """
    if kept < 1:  # beyond that, nothing is noticed
        last = min(last, first + int(45 / -math.log(kept)) + 1 if kept > 0 else first)

    def term(rank: Floats) -> Floats:
        return np.asarray(weight(rank) * kept ** (rank - 1))

    begin = min(last, first + MOST_SUMMED_RANKS - 1)
    total = float(term(np.arange(first, begin + 1, dtype=np.float64)).sum())
    if begin == last:
        return total
    panels = math.ceil(math.log2(last / begin))
    edges = np.geomspace(begin, last, panels + 1)
    middle, half = (edges[1:] + edges[:-1]) / 2, (edges[1:] - edges[:-1]) / 2
    nodes, shares = _gauss_legendre()
    integral = float(half @ (term(middle[:, None] + half[:, None] * nodes) @ shares))
    before, at, after = (term(np.array([begin, last]) + step) for step in (-1.0, 0.0, 1.0))
    ends = at / 2 + (after - before) / 24
    return total + integral + float(ends[1] - ends[0])


@cache
def _gauss_legendre() -> tuple[Floats, Floats]:
    nodes, shares = np.polynomial.legendre.leggauss(32)
    return nodes, shares


def miss_chance(size: Ints, hits: Ints, drawn: Ints) -> Floats:
    """The chance that the first `drawn` of `size` documents in random order hold none of the hits.

    It is C(size − hits, drawn)/C(size, drawn).
    """
    factors, fixed = np.minimum(hits, drawn), np.maximum(hits, drawn)
    offsets = offsets_of(factors + 1)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], factors + 1)
    total, taken = np.repeat(size, factors + 1), np.repeat(fixed, factors + 1)
    left = np.maximum(total - taken - place, 0) / np.maximum(total - place, 1)
    return native.segment_cumprod(left, offsets)[offsets[1:] - 1]


def chances_of_hits(size: Ints, hits: Ints, drawn: Ints) -> tuple[Floats, Ints]:
    """The chances of each number of hits among the first documents in random order, and these numbers.

    A row has the chances of 0, 1, … hits among the first `drawn` of `size` documents, as far as they
    are possible.

    >>> chance, number = chances_of_hits(np.array([4]), np.array([2]), np.array([2]))
    >>> chance.round(4).tolist(), number.tolist()
    ([[0.1667, 0.6667, 0.1667]], [[0, 1, 2]])
    """
    least, most = np.maximum(0, drawn - (size - hits)), np.minimum(hits, drawn)
    number = least[:, None] + np.arange(int((most - least).max(initial=0)) + 1)
    there = number <= most[:, None]
    number = np.minimum(number, most[:, None])
    before = number[:, :-1]
    of, all_, places = hits[:, None], size[:, None], drawn[:, None]
    steps = (of - before) * (places - before) / ((before + 1) * (all_ - of - places + before + 1.0))
    logs = np.zeros(number.shape)
    with np.errstate(divide="ignore"):  # beyond the most there is no next number
        np.cumsum(np.log(steps), axis=1, out=logs[:, 1:])
    weights = np.where(
        there, np.exp(logs - np.where(there, logs, -np.inf).max(axis=1)[:, None]), 0.0
    )
    return weights / weights.sum(axis=1)[:, None], number


def mean_reciprocal_rank(size: Ints, hits: Ints, above: Ints, depth: int | None) -> Floats:
    """The mean of 1/rank of the first hit, 0 beyond `depth`.

    There are `size` documents in random order, `hits` of them hits and at least one, and `above`
    documents above them all. The first hit is at place t of them with probability
    C(size − t, hits − 1)/C(size, hits).
    """
    places = size - hits + 1
    likely = np.ceil(size / hits * -math.log(NEGLIGIBLE)).astype(np.int64)
    whole = np.full(len(size), depth is None) if depth is None else above + places <= depth
    short = (np.minimum(places, likely) <= MOST_SUMMED_PLACES) | (hits * above > size) | ~whole
    places = np.minimum(places, likely)
    if depth is not None:
        places = np.clip(depth - above, 0, places)
    result = np.empty(len(size))
    result[~short] = _mean_by_recursion(size[~short], hits[~short], above[~short])
    for part in _blocks(np.flatnonzero(short), places):
        result[part] = _mean_by_places(size[part], hits[part], above[part], places[part])
    return result


def _blocks(index: NDArray[np.intp], places: Ints) -> list[NDArray[np.intp]]:
    """These rows, so many together that their places are about MOST_CELLS."""
    block = np.cumsum(places[index]) // MOST_CELLS
    return np.split(index, np.flatnonzero(np.diff(block)) + 1)


def _mean_by_places(size: Ints, hits: Ints, above: Ints, places: Ints) -> Floats:
    offsets = offsets_of(places)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], places)
    total, wanted = np.repeat(size, places) - place, np.repeat(hits, places)
    missed = native.segment_cumprod((total - wanted) / total, offsets)
    return native.segment_sum(
        missed * wanted / total / (np.repeat(above, places) + place + 1), offsets
    )


def _mean_by_recursion(size: Ints, hits: Ints, above: Ints) -> Floats:
    """The mean of 1/rank of the first hit, from the mean for one hit up to the mean for r hits.

    The mean for one hit is (H_{above+size} − H_above)/size. The recursion is
    E_r = r/((r−1)(size−r+1)) · [(size + above − r + 2)·E_{r−1} − 1].

    It follows from C(m, r−1) = C(m, r−2)·(m−r+2)/(r−1). Errors grow like r·(1 + above/size)^r, so it
    is for hits · above ≤ size.
    """
    mean = harmonic_between(above, above + size) / size
    for r in range(2, int(hits.max(initial=0)) + 1):
        step = r / ((r - 1) * (size - r + 1.0)) * ((size + above - r + 2) * mean - 1)
        mean = np.where(hits >= r, step, mean)
    return mean


def variance_of_reciprocal_rank(size: Ints, hits: Ints, depth: int | None) -> Floats:
    """The variance of 1/rank of the first of the hits in a random order.

    1/rank counts as 0 beyond `depth`. There is at least one hit. The variance is added up place by
    place, or computed by recursion where the way to the first hit is long.
    """
    places = size - hits + 1
    likely = np.ceil(size / hits * -np.log(NEGLIGIBLE)).astype(np.int64)
    if depth is not None:
        places = np.minimum(places, depth)
    short = (np.minimum(places, likely) <= MOST_SUMMED_PLACES) | (places < size - hits + 1)
    places = np.minimum(places, likely)
    result = np.empty(len(size))
    result[~short] = _variance_by_recursion(size[~short], hits[~short])
    for part in _blocks(np.flatnonzero(short), places):
        result[part] = _variance_by_places(size[part], hits[part], places[part])
    return result


def _variance_by_places(size: Ints, hits: Ints, places: Ints) -> Floats:
    """The first hit is at place t with probability C(size − t, hits − 1)/C(size, hits)."""
    offsets = offsets_of(places)
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], places)
    total, wanted = np.repeat(size, places) - place, np.repeat(hits, places)
    reached = native.segment_cumprod((total - wanted) / total, offsets)
    chance = reached * wanted / total
    mean = native.segment_sum(chance / (place + 1), offsets)
    spread = chance * (1 / (place + 1) - np.repeat(mean, places)) ** 2
    missed = (reached * (total - wanted) / total)[offsets[1:] - 1]
    variance: Floats = native.segment_sum(spread, offsets) + missed * mean**2
    return variance


def _variance_by_recursion(size: Ints, hits: Ints) -> Floats:
    """The variance of 1/t of the first hit, from the means of 1/t and 1/t² for one hit up to r hits.

    The mean of 1/t follows by E_r = r/((r−1)(size−r+1)) · [(size − r + 2)·E_{r−1} − 1], and S, the
    mean of 1/t², by S_r = r/((r−1)(size−r+1)) · [(size − r + 2)·S_{r−1} − E_{r−1}].

    Both follow from C(m, r−1) = C(m, r−2)·(m−r+2)/(r−1).
    """
    mean = harmonic_between(np.zeros_like(size), size) / size
    square = inverse_square_sums(size) / size
    for r in range(2, int(hits.max(initial=0)) + 1):
        step = r / ((r - 1) * (size - r + 1.0))
        more = hits >= r
        square = np.where(more, step * ((size - r + 2) * square - mean), square)
        mean = np.where(more, step * ((size - r + 2) * mean - 1), mean)
    variance: Floats = np.maximum(square - mean**2, 0.0)
    return variance


def highest_ratio(
    thickness: Floats, gained: Floats, possible: Floats | Ints, base: float = 0.0
) -> float:
    """The highest ratio of two sums over layers, by Dinkelbach's method.

    The ratio is (base + Σ_l t_l · gained[l, s_l]) / Σ_l t_l · possible[l, s_l], for layers l of
    thickness t_l. The highest is over all choices of an s for each layer. It is 0 where nothing is
    possible.
    """
    layers, high = np.arange(len(thickness)), 0.0
    while True:
        chosen = np.argmax(gained - high * possible, axis=1)
        whole = float(thickness @ possible[layers, chosen])
        part = base + float(thickness @ gained[layers, chosen])
        reached = part / whole if whole > 0 else 0.0
        if reached <= high + TOLERANCE:
            return max(high, reached)
        high = reached
