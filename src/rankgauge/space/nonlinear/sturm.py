"""Real roots of polynomials with whole coefficients, for certain: Sturm's theorem, without rounding.

A polynomial is a list of its coefficients, the constant first, without leading zeros.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

Polynomial = list[int]

MOST_HALVINGS = 80
"""A root is bisected until it is known to this many binary digits, or two doubles enclose it."""


def product(one: Polynomial, other: Polynomial) -> Polynomial:
    """The product of two polynomials."""
    result = [0] * (len(one) + len(other) - 1) if one and other else []
    for place, factor in enumerate(one):
        for more, number in enumerate(other):
            result[place + more] += factor * number
    return result


def numerator(terms: Sequence[tuple[Fraction, Fraction, Fraction]]) -> Polynomial:
    """A polynomial with the sign of Σ c / (e (1 − t) + f t) on [0, 1]; each (c, e, f) has e, f > 0."""
    merged: dict[tuple[Fraction, Fraction], Fraction] = {}
    for factor, start, end in terms:
        merged[start, end] = merged.get((start, end), Fraction(0)) + factor
    factors = {ends: factor for ends, factor in merged.items() if factor}
    below = []
    for start, end in factors:
        scale = math.lcm(start.denominator, end.denominator)
        below.append([int(start * scale), int((end - start) * scale)])
        factors[start, end] *= scale
    scale = math.lcm(*(factor.denominator for factor in factors.values()))
    # From the left, the product of all denominators so far, and the numerator over it.
    total: Polynomial = []
    common: Polynomial = [1]
    for denominator, factor in zip(below, factors.values(), strict=True):
        more = [int(factor * scale) * number for number in common]
        total = _sum(product(total, denominator), more)
        common = product(common, denominator)
    return primitive(total)


def _sum(one: Polynomial, other: Polynomial) -> Polynomial:
    longer, shorter = (one, other) if len(one) >= len(other) else (other, one)
    return [
        number + (shorter[place] if place < len(shorter) else 0)
        for place, number in enumerate(longer)
    ]


def primitive(polynomial: Polynomial) -> Polynomial:
    """The polynomial without leading zeros and without the common divisor of its coefficients."""
    result = list(polynomial)
    while result and not result[-1]:
        result.pop()
    divisor = math.gcd(*result)
    return [number // divisor for number in result]


def remainder(one: Polynomial, other: Polynomial) -> Polynomial:
    """The remainder of a division, but for a positive factor."""
    rest, lead = list(one), other[-1]
    while len(rest) >= len(other):
        factor = rest[-1] if lead > 0 else -rest[-1]
        shift = len(rest) - len(other)
        rest = [number * abs(lead) for number in rest]
        for place, number in enumerate(other):
            rest[place + shift] -= factor * number
        rest = primitive(rest)
    return rest


def quotient(one: Polynomial, other: Polynomial) -> Polynomial:
    """The quotient of a division without remainder, but for a factor of either sign."""
    rest = [Fraction(number) for number in one]
    result = [Fraction(0)] * (len(one) - len(other) + 1)
    for place in range(len(result) - 1, -1, -1):
        result[place] = rest[place + len(other) - 1] / other[-1]
        for more, number in enumerate(other):
            rest[place + more] -= result[place] * number
    scale = math.lcm(*(number.denominator for number in result))
    return primitive([int(number * scale) for number in result])


def derivative(polynomial: Polynomial) -> Polynomial:
    """The derivative of a polynomial, but for a positive factor."""
    return primitive([place * number for place, number in enumerate(polynomial)][1:])


def sign_at(polynomial: Polynomial, value: Fraction) -> int:
    """The sign of a polynomial at a value: 1, 0 or −1."""
    total, power = 0, 1
    for number in reversed(polynomial):
        total = total * value.numerator + number * power
        power *= value.denominator
    return (total > 0) - (total < 0)


def square_free(polynomial: Polynomial) -> Polynomial:
    """A polynomial with the same roots, each of them once."""
    one, other = polynomial, derivative(polynomial)
    while other:
        one, other = other, remainder(one, other)
    return quotient(polynomial, one) if len(one) > 1 else polynomial


class Sturm:
    """Counts the roots of a polynomial whose roots are all single."""

    def __init__(self, polynomial: Polynomial) -> None:
        self.chain = [polynomial]
        following = derivative(polynomial)
        while following:
            self.chain.append(following)
            following = [-number for number in remainder(self.chain[-2], self.chain[-1])]

    def changes(self, value: Fraction) -> int:
        """How often the sign changes along the chain."""
        signs = [sign for each in self.chain if (sign := sign_at(each, value))]
        return sum(one != other for one, other in itertools.pairwise(signs))

    def count(self, low: Fraction, high: Fraction) -> int:
        """How many roots lie above `low`, up to and including `high`."""
        return self.changes(low) - self.changes(high)


def crossing_roots(polynomial: Polynomial) -> tuple[list[tuple[float, int]], int]:
    """The points between 0 and 1 where the sign changes, each with the sign before it.

    The second number is how often the polynomial is 0 there without a change of sign.

    >>> crossing_roots([-1, 5, -8, 4])  # (t − 1)(2 t − 1)²
    ([], 1)
    >>> crossing_roots([-1, 4])
    ([(0.25, -1)], 0)
    """
    inner = list(polynomial)  # without the roots at 0 and 1; the sign between them stays
    while inner and not inner[0]:
        inner = inner[1:]
    while len(inner) > 1 and not sum(inner):
        inner = _divide_out_one(inner)
    if len(inner) < 2:
        return [], 0
    single = square_free(inner)
    sturm = Sturm(single)
    crossing, touching = [], 0
    waiting = [(Fraction(0), Fraction(1))]
    while waiting:
        low, high = waiting.pop()
        count = sturm.count(low, high)
        if count == 1:
            before, after = sign_at(inner, low), sign_at(inner, high)
            if before == after:
                touching += 1
            else:
                crossing.append((_refine_root(single, low, high), before))
        elif count:
            middle = _split(single, low, high)
            waiting += [(middle, high), (low, middle)]
    return sorted(crossing), touching


def _divide_out_one(polynomial: Polynomial) -> Polynomial:
    """The polynomial divided by 1 − t, of which 1 is a root."""
    result, total = [], 0
    for number in polynomial[:-1]:
        total += number
        result.append(total)
    return result


def _split(polynomial: Polynomial, low: Fraction, high: Fraction) -> Fraction:
    """A point near the middle that is no root."""
    step = (high - low) / 2
    point = low + step
    while not sign_at(polynomial, point):
        step /= 4
        point += step
    return point


def _refine_root(polynomial: Polynomial, low: Fraction, high: Fraction) -> float:
    """The one root between two points of different sign, rounded."""
    before = sign_at(polynomial, low)
    for _ in range(MOST_HALVINGS):
        middle = (low + high) / 2
        sign = sign_at(polynomial, middle)
        if not sign:
            return float(middle)
        low, high = (middle, high) if sign == before else (low, middle)
        if float(low) == float(high):
            break
    return float((low + high) / 2)
