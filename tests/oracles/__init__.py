"""Slow oracles: every measure written straight from its definition.

This file shares no code with the library, so that the two can be compared.

A ranking is a list of labels in rank order. A label >= 0 is a judged grade; -1 is
a document that is not in the qrels; -2 is a document with a negative grade (pooled
but unjudged). Labels below 0 are never relevant and their gain is 0. `judged` holds
all judged labels of the query, those in the ranking included, in any order.
`max_grade` is G, the highest grade of the collection. A judged document is relevant
when its label >= `rel`. R is the number of relevant and N the number of
non-relevant documents in `judged`. Ranks i start at 1. The cut-off k is None for
the whole ranking.
"""

from __future__ import annotations

import itertools
import math
import struct
from collections.abc import Callable, Iterator, Sequence

from oracles import (
    accuracy,
    average_precision,
    cascade,
    counts,
    cumulative_gain,
    diversity,
    overlap,
    precision,
    preference,
    q_measure,
    recall_levels,
    search_length,
    sets,
    trec_experiments,
    user_models,
)
from oracles.labels import Labels

FAMILIES = (
    accuracy,
    average_precision,
    cascade,
    counts,
    cumulative_gain,
    diversity,
    overlap,
    precision,
    preference,
    q_measure,
    recall_levels,
    search_length,
    sets,
    trec_experiments,
    user_models,
)
SCORES: dict[str, Callable[..., float]] = {
    name: function for family in FAMILIES for name, function in family.SCORES.items()
}


def score(
    name: str,
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None = None,
    **params: object,
) -> float:
    """The measure `name` of one ranking."""
    return SCORES[name](ranking, judged, max_grade, k, **params)


# All rankings of the judged documents


def distinct_permutations(labels: Labels) -> Iterator[list[int]]:
    """Every different ordering of the labels, once.

    Each stands for the same number of orderings of the documents, so equal
    weights give the uniform distribution over document permutations.
    """
    if len(labels) == 0:
        yield []
        return
    for first in sorted(set(labels)):
        rest = list(labels)
        rest.remove(first)
        for tail in distinct_permutations(rest):
            yield [first, *tail]


def over_permutations(
    f: Callable[[list[int]], float], judged: Labels
) -> tuple[float, float, float, float]:
    """The lowest and highest f(ranking) over all rankings of all the judged documents, and its mean
    and variance where they are equally likely."""
    values = [f(ranking) for ranking in distinct_permutations(judged)]
    mean = math.fsum(values) / len(values)
    variance = math.fsum((value - mean) ** 2 for value in values) / len(values)
    return min(values), max(values), mean, variance


def mean_over_permutations(f: Callable[[list[int]], float], judged: Labels) -> float:
    """E[f] under a uniformly random ranking of the judged documents."""
    return over_permutations(f, judged)[2]


def variance_over_permutations(f: Callable[[list[int]], float], judged: Labels) -> float:
    """E[(f - E[f])^2] under a uniformly random ranking of the judged documents."""
    return over_permutations(f, judged)[3]


NORMALIZED = ("v1", "v2", "linear", "z", "minmax")


def normalized(
    name: str,
    score: float,
    low: float,
    high: float,
    chance: float,
    variance: float,
    higher: bool,
    lowest: float,
) -> float:
    """A score, normalized by the extremes, mean and variance over the orders of the judged documents."""
    best, worst = (high, low) if higher else (low, high)
    sign = 1 if higher else -1

    def divided(a: float, b: float) -> float:
        return a / b if abs(b) > 1e-12 else (0.0 if not math.isnan(a) else math.nan)

    if name == "v1":
        return divided(score, best) * divided(score, score + chance)
    if name == "minmax":
        return divided(sign * (score - worst), sign * (best - worst))
    gained = sign * (score - chance)
    if name == "z":
        return divided(gained, math.sqrt(variance))
    if name == "linear" or gained >= -1e-12:
        value = divided(gained, sign * (best - chance))
    else:
        value = divided(gained, chance - lowest if higher else worst - chance)
    return value if name == "linear" or math.isnan(value) else max(-1.0, min(1.0, value))


# All labels of the unjudged documents


def bounds(
    f: Callable[[list[int], list[int]], float],
    ranking: Labels,
    judged: Labels,
    grades: Sequence[int],
) -> tuple[float, float]:
    """(min, max) of f(ranking, judged) over all labels of the unjudged documents.

    Each unjudged document of the ranking takes each of the grades in turn, and its
    label joins the judged ones. Undefined (nan) values are left out; (nan, nan)
    when nothing else remains.
    """
    places = [i for i, label in enumerate(ranking) if label < 0]
    values = []
    for labels in itertools.product(grades, repeat=len(places)):
        labeled = list(ranking)
        for i, label in zip(places, labels, strict=False):
            labeled[i] = label
        value = f(labeled, [*judged, *labels])
        if not math.isnan(value):
            values.append(value)
    if not values:
        return math.nan, math.nan
    return min(values), max(values)


# Orders


def flips(ranking: Labels) -> Iterator[tuple[int, list[int], str]]:
    """(i, swapped ranking, kind) for each adjacent pair at list places i and i + 1.

    i starts at 0. "good": the swap puts the higher label first; "bad": it puts
    the lower one first; "neutral": the labels are equal. Unjudged counts as 0.
    """
    for i in range(len(ranking) - 1):
        upper = max(ranking[i], 0)
        lower = max(ranking[i + 1], 0)
        swapped = list(ranking)
        swapped[i], swapped[i + 1] = ranking[i + 1], ranking[i]
        if lower > upper:
            kind = "good"
        elif lower < upper:
            kind = "bad"
        else:
            kind = "neutral"
        yield i, swapped, kind


def to_single(value: float) -> float:
    """The nearest single-precision number; infinite beyond its range."""
    try:
        rounded: float = struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def tie_broken_order(documents: list[tuple[bytes, float]], single: bool) -> list[bytes]:
    """Docnos by score descending, rounded to single precision if asked, then docno descending."""
    keys = [(to_single(value) if single else value, docno) for docno, value in documents]
    return [docno for _, docno in sorted(keys, reverse=True)]
