"""Where sums of fractions change their sign, by their derivatives: no chain of remainders is needed.

Between two neighboring roots of its derivative a polynomial rises or falls, so it has one root at most.
Everything is a fraction; roots are enclosed by halving, far beyond double precision.
"""

from __future__ import annotations

from fractions import Fraction

FINE = 130
TINY = Fraction(1, 2**100)
"""A value this small, at a root of the derivative that is known to 2⁻¹³⁰, is 0."""


def numerator(terms: list[tuple[Fraction, Fraction, Fraction]]) -> list[Fraction]:
    """The numerator of Σ c / (p + q·t), as coefficients, the constant first; terms are (c, p, q)."""
    merged: dict[tuple[Fraction, Fraction], Fraction] = {}
    for c, p, q in terms:
        merged[p, q] = merged.get((p, q), Fraction(0)) + c
    terms = [(c, p, q) for (p, q), c in merged.items() if c]
    total = [Fraction(0)] * max(len(terms), 1)
    for number, (c, _, _) in enumerate(terms):
        part = [c]
        for other, (_, p, q) in enumerate(terms):
            if other != number:
                part = [
                    (part[i] if i < len(part) else 0) * p + (part[i - 1] if i else 0) * q
                    for i in range(len(part) + 1)
                ]
        total = [one + more for one, more in zip(total, part, strict=True)]
    while total and not total[-1]:
        total.pop()
    return total


def value(polynomial: list[Fraction], t: Fraction) -> Fraction:
    total = Fraction(0)
    for number in reversed(polynomial):
        total = total * t + number
    return total


def sign(number: Fraction, size: Fraction) -> int:
    return 0 if abs(number) <= TINY * size else 1 if number > 0 else -1


def sign_changes(
    polynomial: list[Fraction], low: Fraction, high: Fraction
) -> tuple[list[tuple[Fraction, int]], int]:
    """Where the sign changes strictly inside, with the sign before, and how often 0 is only touched."""
    if len(polynomial) < 2:
        return [], 0
    slope = [place * number for place, number in enumerate(polynomial)][1:]
    turns = [root for root, _ in sign_changes(slope, low, high)[0]]
    points = [low, *turns, high]
    size = max(map(abs, polynomial))
    values = [value(polynomial, point) for point in points]
    signs = [sign(each, size) for each in values]
    changes, touching, left = [], 0, 0
    for number in range(len(points) - 1):
        rising = 1 if values[number + 1] > values[number] else -1
        first = signs[number] or rising
        last = signs[number + 1] or -rising
        if number and not signs[number]:
            if left != first:
                changes.append((points[number], left))
            else:
                touching += 1
        if first != last:
            changes.append((_halved(polynomial, points[number], points[number + 1], first), first))
        left = last
    return changes, touching


def _halved(polynomial: list[Fraction], low: Fraction, high: Fraction, before: int) -> Fraction:
    for _ in range(FINE):
        middle = (low + high) / 2
        here = value(polynomial, middle)
        if not here:
            return middle
        if (here > 0) == (before > 0):
            low = middle
        else:
            high = middle
    return (low + high) / 2
