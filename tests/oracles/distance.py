"""Lower bounds of distances by average precision, as the literature has them: greedy and tabu search.

They label free documents somehow, so what they find is a difference that can be, and never more than the
greatest one. Neither is part of the library, which has that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction

Ranking = Sequence[Hashable]
Labels = Mapping[Hashable, int]
Norm = Callable[[int], float]


def norm_of(name: str, k: int) -> Norm:
    """What a sum of precisions is divided by, of the number of relevant documents."""
    return {"R": float, "min": lambda r: float(min(k, r)), "k": lambda r: float(k)}[name]


def sum_of_precisions(ranking: Ranking, labels: Labels) -> float:
    found, total = 0, 0.0
    for rank, document in enumerate(ranking, 1):
        if labels.get(document, 0) > 0:
            found += 1
            total += found / rank
    return total


def gains(ranking: Ranking, labels: Labels) -> dict[Hashable, float]:
    """For each document that is not relevant, how much the sum of precisions grows if it is: Eq. 13 of
    Moffat's Computing maximized effectiveness distance for recall-based metrics."""
    relevant = [labels.get(document, 0) > 0 for document in ranking]
    below = [0.0] * (len(ranking) + 1)
    for i in range(len(ranking) - 1, -1, -1):
        below[i] = below[i + 1] + (1 / (i + 1) if relevant[i] else 0.0)
    found, grown = 0, {}
    for i, document in enumerate(ranking):
        if relevant[i]:
            found += 1
        else:
            grown[document] = (1 + found) / (i + 1) + below[i + 1]
    return grown


def greedy(y: Ranking, z: Ranking, labels: Labels, k: int, norm: str = "R") -> float:
    """The greatest difference on the way of making relevant, one at a time, the free document that adds
    most to it."""
    return max(
        _greedy(y[:k], z[:k], labels, norm_of(norm, k)),
        _greedy(z[:k], y[:k], labels, norm_of(norm, k)),
    )


def _greedy(y: Ranking, z: Ranking, labels: Labels, norm: Norm) -> float:
    known = dict(labels)
    free = dict.fromkeys(document for document in (*y, *z) if document not in labels)
    relevant = sum(label > 0 for label in labels.values())
    ahead = sum_of_precisions(y, known) - sum_of_precisions(z, known)
    best = ahead / norm(relevant) if relevant else 0.0
    while free:
        of_y, of_z = gains(y, known), gains(z, known)
        document = max(free, key=lambda d: of_y.get(d, 0.0) - of_z.get(d, 0.0))
        more = of_y.get(document, 0.0) - of_z.get(document, 0.0)
        if more <= 0:
            break
        known[document] = 1
        del free[document]
        relevant += 1
        ahead += more
        best = max(best, ahead / norm(relevant))
    return best


def tabu(
    y: Ranking,
    z: Ranking,
    labels: Labels,
    k: int,
    norm: str = "R",
    rounds: int = 40,
    tenure: int = 4,
) -> float:
    """The greatest difference that is met by flipping, again and again, the label whose flip is best,
    and leaving that label alone for some rounds."""
    y, z, divisor = y[:k], z[:k], norm_of(norm, k)
    free = list(dict.fromkeys(document for document in (*y, *z) if document not in labels))
    known = {**dict.fromkeys(free, 0), **labels}

    def difference() -> float:
        relevant = sum(label > 0 for label in known.values())
        ahead = sum_of_precisions(y, known) - sum_of_precisions(z, known)
        return abs(ahead) / divisor(relevant) if relevant else 0.0

    best = difference()
    until = dict.fromkeys(free, 0)
    for now in range(1, rounds + 1):
        tried = {}
        for document in free:
            if until[document] < now:
                known[document] = 1 - known[document]
                tried[document] = difference()
                known[document] = 1 - known[document]
        if not tried:
            break
        document = max(tried, key=lambda d: tried[d])
        known[document] = 1 - known[document]
        until[document] = now + tenure
        best = max(best, tried[document])
    return best


def exact_sum_of_precisions(ranking: Ranking, labels: Labels) -> Fraction:
    """As `sum_of_precisions`, without rounding."""
    found, total = 0, Fraction(0)
    for rank, document in enumerate(ranking, 1):
        if labels.get(document, 0) > 0:
            found += 1
            total += Fraction(found, rank)
    return total


def _exact_norm(name: str, k: int, relevant: int) -> int:
    return {"R": relevant, "min": min(k, relevant), "k": k}[name]


def free_of(y: Ranking, z: Ranking, labels: Labels) -> list[Hashable]:
    """The documents of the two lists that have no label."""
    return list(dict.fromkeys(document for document in (*y, *z) if document not in labels))


def exhaustive(y: Ranking, z: Ranking, labels: Labels, norm: str = "R") -> Fraction:
    """The distance by average precision of two lists of one length, by all labels of free documents."""
    free = free_of(y, z, labels)
    best = Fraction(0)
    for chosen in itertools.product((0, 1), repeat=len(free)):
        known = {**labels, **dict(zip(free, chosen, strict=True))}
        relevant = sum(label > 0 for label in known.values())
        if relevant:
            ahead = exact_sum_of_precisions(y, known) - exact_sum_of_precisions(z, known)
            best = max(best, abs(ahead) / _exact_norm(norm, len(y), relevant))
    return best


def greedy_with_ties(
    y: Ranking, z: Ranking, labels: Labels, norm: str = "R", *, stops: bool = True
) -> Fraction:
    """As `greedy`, without rounding: the best that can come out, whichever of tied documents is taken.

    Without `stops` the documents go on being made relevant where none of them adds to the difference.
    """
    return max(_with_ties(y, z, labels, norm, stops), _with_ties(z, y, labels, norm, stops))


def _with_ties(y: Ranking, z: Ranking, labels: Labels, norm: str, stops: bool) -> Fraction:
    free = free_of(y, z, labels)
    judged = sum(label > 0 for label in labels.values())

    def ahead(made: frozenset[Hashable]) -> Fraction:
        known = {**labels, **dict.fromkeys(made, 1)}
        return exact_sum_of_precisions(y, known) - exact_sum_of_precisions(z, known)

    best, level = Fraction(0), {frozenset[Hashable]()}
    while level:
        following: set[frozenset[Hashable]] = set()
        for made in level:
            here, relevant = ahead(made), judged + len(made)
            if relevant:
                best = max(best, here / _exact_norm(norm, len(y), relevant))
            added = {d: ahead(made | {d}) - here for d in free if d not in made}
            most = max(added.values(), default=Fraction(0))
            if added and (most > 0 or not stops):
                following |= {made | {d} for d, more in added.items() if more == most}
        level = following
    return best
