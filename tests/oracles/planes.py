"""The cells of a two-parameter space by definition: every pattern of sides that some point has."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction


def point_of(sides: Sequence[tuple[Fraction, Fraction, Fraction]]) -> tuple | None:
    """A point with a·x + b·y + c > 0 for all of these, by eliminating y and then x; None without one."""
    below = [s for s in sides if s[1] > 0]  # y > −(a·x + c) / b
    above = [s for s in sides if s[1] < 0]
    rest = [(a, c) for a, b, c in sides if b == 0]
    for a, b, c in below:
        for d, e, f in above:  # −(a·x + c) / b < −(d·x + f) / e
            rest.append((a / b - d / e, c / b - f / e))
    low, high = None, None
    for a, c in rest:  # a·x + c > 0
        if a == 0:
            if c <= 0:
                return None
        elif a > 0:
            low = -c / a if low is None else max(low, -c / a)
        else:
            high = -c / a if high is None else min(high, -c / a)
    if low is not None and high is not None and low >= high:
        return None
    x = between(low, high)
    ends = [[-(a * x + c) / b for a, b, c in part] for part in (below, above)]
    y = between(max(ends[0], default=None), min(ends[1], default=None))
    return x, y


def between(low: Fraction | None, high: Fraction | None) -> Fraction:
    """A number strictly between two numbers, or on one side of one."""
    if low is None or high is None:
        return (
            Fraction(0) if low is None and high is None else (high - 1 if low is None else low + 1)
        )
    return (low + high) / 2


def cells(lines: Sequence[tuple[int, int, int]]) -> Iterator[tuple[tuple[bool, ...], tuple]]:
    """Every pattern of sides of the lines that some point has, with such a point."""
    for pattern in itertools.product((False, True), repeat=len(lines)):
        sides = [
            tuple(Fraction(part if positive else -part) for part in line)
            for line, positive in zip(lines, pattern, strict=True)
        ]
        point = point_of(sides)
        if point is not None:
            yield pattern, point


def ranking(documents: Sequence[Sequence[Fraction]], point: tuple) -> list[int]:
    """Documents (c, u, v) in the order of c + x·u + y·v, equal ones as they stand."""
    x, y = point
    scores = [c + x * u + y * v for c, u, v in documents]
    return sorted(range(len(documents)), key=lambda place: -scores[place])


def optima(values: dict[tuple[bool, ...], float], touching: set[frozenset]) -> set[frozenset]:
    """The regions of equal value, joined where one line separates two cells, next to which nothing is
    better; cells are next to each other if one line separates them, or if they are `touching`."""

    def neighbors(cell: tuple[bool, ...]) -> list[tuple[bool, ...]]:
        flipped = (
            tuple(side != (place == line) for place, side in enumerate(cell))
            for line in range(len(cell))
        )
        return [other for other in flipped if other in values]

    found, seen = set(), set()
    for cell in values:
        if cell in seen:
            continue
        region, front = {cell}, [cell]
        while front:
            here = front.pop()
            for other in neighbors(here):
                if other not in region and abs(values[other] - values[cell]) < 1e-12:
                    region.add(other)
                    front.append(other)
        seen |= region
        beside = {other for each in region for other in neighbors(each)}
        beside |= {other for group in touching if group & region for other in group}
        if all(values[other] <= values[cell] + 1e-12 for other in beside):
            found.add(frozenset(region))
    return found
