"""Fusion as its definitions say it, slowly: a query at a time, a document at a time, in dicts."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from itertools import combinations

List = dict[str, float]
"""The documents of a list with their scores."""


def ranks(scores: List) -> dict[str, int]:
    """The rank of each document: by score, equal scores by id, the greatest first."""
    documents = sorted(scores, key=str.encode, reverse=True)
    return {d: rank for rank, d in enumerate(sorted(documents, key=lambda d: -scores[d]), 1)}


def normalized(lists: Sequence[List], normalize: str) -> list[List]:
    """Each list with normalized scores; under borda each has all documents."""
    candidates = {d for each in lists for d in each}
    return [_normalized(each, normalize, candidates) for each in lists]


def _normalized(scores: List, normalize: str, candidates: set[str]) -> List:
    if normalize == "borda":
        place, size = ranks(scores), len(candidates)
        rest = 0.5 - (len(scores) - 1) / (2 * size)
        return {d: 1 - (place[d] - 1) / size if d in scores else rest for d in candidates}
    if not scores:
        return {}
    low, high = min(scores.values()), max(scores.values())
    if normalize == "none":
        return scores
    if normalize == "rank":
        return {d: 1 - (rank - 1) / len(scores) for d, rank in ranks(scores).items()}
    if normalize == "max":
        return {d: x / high if high else 0.0 for d, x in scores.items()}
    if low == high:
        return dict.fromkeys(scores, 0.0)
    if normalize == "min-max":
        return {d: (x - low) / (high - low) for d, x in scores.items()}
    if normalize == "sum":
        total = math.fsum(x - low for x in scores.values())
        return {d: (x - low) / total for d, x in scores.items()}
    assert normalize == "z"
    mean, deviation = statistics.fmean(scores.values()), statistics.pstdev(scores.values())
    return {d: (x - mean) / deviation for d, x in scores.items()}


def fused(
    lists: Sequence[List],
    method: str,
    *,
    normalize: str,
    absent: str,
    weights: Sequence[float] | None = None,
    k: float = 60,
    gamma: float = 1,
    sigma: float = 0.01,
    persistence: float = 0.9,
) -> List:
    """The fused score of each document of a query."""
    weights = weights or [1.0] * len(lists)
    candidates = {d for each in lists for d in each}
    if method == "condorcet":
        return _condorcet(lists, weights, candidates)
    places = [ranks(each) for each in lists]
    by_score = normalized(lists, normalize)
    result = {}
    for d in candidates:
        held = [i for i, place in enumerate(places) if d in place]
        if method in _BY_RANK:
            where = [(weights[i], places[i][d]) for i in held]
            points = [
                (weight, len(candidates) - place[d] + 1)
                if d in place
                else (weight, (len(candidates) - len(place) + 1) / 2)
                for weight, place in zip(weights, places, strict=True)
            ]
            squares = math.fsum(1 / r**2 for _, r in where)
            result[d] = {
                "rrf": math.fsum(w / (k + r) for w, r in where),
                "isr": len(held) * squares,
                "log_isr": math.log(len(held)) * squares,
                "logn_isr": math.log(len(held) + sigma) * squares,
                "rbc": math.fsum((1 - persistence) * persistence ** (r - 1) for _, r in where),
                "borda": math.fsum(w * p for w, p in points),
            }[method]
            continue
        held = [i for i, each in enumerate(by_score) if d in each]
        parts = []
        for i, each in enumerate(by_score):
            if d in each:
                parts.append((weights[i], each[d]))
            elif absent == "zero":
                parts.append((weights[i], 0.0))
            elif absent == "minimum" and each:
                parts.append((weights[i], min(each.values())))
        values = [s for _, s in parts]
        result[d] = _BY_SCORE[method](values, parts, len(held), [weights[i] for i in held], gamma)
    return result


_BY_RANK = ("rrf", "isr", "log_isr", "logn_isr", "rbc", "borda")

_BY_SCORE: dict[str, Callable[..., float]] = {
    "min": lambda values, parts, h, held, gamma: min(values),
    "max": lambda values, parts, h, held, gamma: max(values),
    "med": lambda values, parts, h, held, gamma: statistics.median(values),
    "sum": lambda values, parts, h, held, gamma: math.fsum(values),
    "anz": lambda values, parts, h, held, gamma: math.fsum(values) / h,
    "mnz": lambda values, parts, h, held, gamma: math.fsum(values) * h,
    "gmnz": lambda values, parts, h, held, gamma: math.fsum(values) * h**gamma,
    "wsum": lambda values, parts, h, held, gamma: math.fsum(w * s for w, s in parts),
    "wmnz": lambda values, parts, h, held, gamma: math.fsum(values) * math.fsum(held),
    "mixed": lambda values, parts, h, held, gamma: (
        math.fsum(w * s for w, s in parts) * math.sqrt(h)
    ),
}


def _condorcet(lists: Sequence[List], weights: Sequence[float], candidates: set[str]) -> List:
    """1, and 1 more for each document that is beaten, a half for each that ties."""
    places = [ranks(each) for each in lists]
    score = dict.fromkeys(candidates, 1.0)
    for a, b in combinations(sorted(candidates), 2):
        votes = {a: 0.0, b: 0.0}
        for weight, place in zip(weights, places, strict=True):
            above, below = place.get(a, math.inf), place.get(b, math.inf)
            if above != below:
                votes[a if above < below else b] += weight
        if math.isclose(votes[a], votes[b]):
            score[a] += 0.5
            score[b] += 0.5
        else:
            score[max(votes, key=votes.__getitem__)] += 1
    return score
