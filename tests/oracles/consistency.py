"""Swaps between halves of the queries, conflicts of significance and PAD, one pair at a time."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

Matrix = Sequence[Sequence[float]]
Halves = tuple[Sequence[int], Sequence[int]]


class Decision(NamedTuple):
    """What two halves say of a pair of runs: the difference on the first, and whether they disagree."""

    size: float
    swapped: bool


def difference(a: float, b: float, fuzziness: float) -> float:
    """a − b, or 0 where that is no more than so much of the greater one."""
    return 0.0 if abs(a - b) <= fuzziness * max(abs(a), abs(b)) else a - b


def decisions(values: Matrix, halves: Halves, fuzziness: float) -> list[Decision]:
    """The decisions of one split, over all pairs of runs; each half is given by its queries."""
    found = []
    for one, other in itertools.combinations(values, 2):
        apart = []
        for topics in halves:
            a, b = (sum(row[topic] for topic in topics) / len(topics) for row in (one, other))
            apart.append(difference(a, b, fuzziness))
        if apart[0] != 0 and apart[1] != 0:
            found.append(Decision(abs(apart[0]), (apart[0] > 0) != (apart[1] > 0)))
    return found


def tau(values: Matrix, found: Sequence[Decision]) -> float:
    """Kendall's τ, given the decisions of one split."""
    agreed = sum(-1 if decision.swapped else 1 for decision in found)
    return agreed / math.comb(len(values), 2)


def trusted(
    edges: Sequence[float], decided: Sequence[int], swapped: Sequence[int], rate: float, fewest: int
) -> tuple[float, float]:
    """The sizes in groups of enough decisions, from the greatest down; the least edge of the last group
    before one with a greater swap rate."""
    if sum(decided) < fewest:
        return math.nan, math.nan
    groups: list[list[int]] = [[]]
    for place in reversed(range(len(edges))):
        groups[-1].append(place)
        if sum(decided[b] for b in groups[-1]) >= fewest:
            groups.append([])
    rest = groups.pop()
    good: list[int] = []
    for group in groups:
        if sum(swapped[b] for b in group) / sum(decided[b] for b in group) > rate:
            break
        good += group
    else:
        good += rest if sum(decided[b] for b in rest) == 0 else []
    if not good:
        return math.nan, 0.0
    return edges[min(good)], sum(decided[b] for b in good) / sum(decided)


def conflicts(first: Sequence[int], second: Sequence[int]) -> tuple[int, int, int, int, int]:
    """Both the same, both opposite, the first alone, the second alone, neither."""
    counts = [0] * 5
    for a, b in zip(first, second, strict=True):
        if a and b:
            counts[0 if a == b else 1] += 1
        elif a:
            counts[2] += 1
        elif b:
            counts[3] += 1
        else:
            counts[4] += 1
    return counts[0], counts[1], counts[2], counts[3], counts[4]


def absolute_difference(means: Sequence[float], safe: bool) -> float:
    """The mean over pairs of |a − b| / max(a, b) · 100, with magnitudes below where safe."""
    shares = []
    for a, b in itertools.combinations(means, 2):
        most = max(abs(a), abs(b)) if safe else max(a, b)
        if a == b:
            shares.append(0.0)
        else:
            shares.append(abs(a - b) / most if most else math.inf)
    return 100 * sum(shares) / len(shares)
