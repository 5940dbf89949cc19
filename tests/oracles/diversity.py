"""Novelty and diversity, straight from the definitions, with any number of subtopics.

Here a document is the set of the subtopics that it serves, and a ranking a list of these. All are
equal in weight; those that no judged document serves do not count. With plain labels there is one
subtopic, which every relevant document serves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from oracles.labels import Labels, is_relevant, required, top

Served = frozenset[str]
Weight = Callable[[int], float]

NOTHING: Served = frozenset()
ONE: Served = frozenset({"one"})


def gain_vector(ranking: Sequence[Served], alpha: float) -> list[float]:
    """For each document, the sum over its subtopics of (1 - alpha)^(documents above serving it)."""
    gains = []
    for i, served in enumerate(ranking):
        above = [sum(1 for other in ranking[:i] if s in other) for s in served]
        gains.append(math.fsum((1 - alpha) ** times for times in above))
    return gains


def weighed(ranking: Sequence[Served], alpha: float, weight: Weight) -> float:
    """The gains times the weights of their ranks, added up."""
    return math.fsum(weight(i) * g for i, g in enumerate(gain_vector(ranking, alpha), 1))


def subtopics(judged: Iterable[Served]) -> Served:
    """All that some document serves."""
    return frozenset[str]().union(*judged)


def greedy(judged: dict[str, Served], alpha: float) -> list[Served]:
    """The documents by what they gain after those before them, of equals the last id first."""
    return list(greedy_of(tuple(judged.items()), alpha))


@cache
def greedy_of(judged: tuple[tuple[str, Served], ...], alpha: float) -> tuple[Served, ...]:
    """The greedy ranking, kept: all orders of the same documents are compared with it."""
    left = dict(judged)
    ranking: list[Served] = []
    while left:
        best = max(left, key=lambda d: (gain_vector([*ranking, left[d]], alpha)[-1], d))
        ranking.append(left.pop(best))
    return tuple(ranking)


def by_log(i: int) -> float:
    return 1 / math.log2(i + 1)


def by_rank(i: int) -> float:
    return 1 / i


def collection_independent(
    ranking: Sequence[Served], count: int, k: int, alpha: float, weight: Weight
) -> float:
    """Over a list of k documents that each serve every subtopic; 0 when there is none."""
    everything = [frozenset(map(str, range(count)))] * k
    best = weighed(everything, alpha, weight)
    return weighed(ranking[:k], alpha, weight) / best if best > 0 else 0.0


def by_ideal(
    ranking: Sequence[Served],
    judged: dict[str, Served],
    k: int | None,
    alpha: float,
    weight: Weight,
) -> float:
    """Over the greedy ranking of the judged documents; 0 when nothing is relevant."""
    best = weighed(greedy(judged, alpha)[:k], alpha, weight)
    return weighed(ranking[:k], alpha, weight) / best if best > 0 else 0.0


# With any number of subtopics: a measure of a ranking and the judged documents by id


def alpha_dcg(
    ranking: Sequence[Served], judged: dict[str, Served], k: int | None, alpha: float = 0.5
) -> float:
    count = len(subtopics(judged.values()))
    return collection_independent(ranking, count, required(k), alpha, by_log)


def alpha_ndcg(
    ranking: Sequence[Served], judged: dict[str, Served], k: int | None, alpha: float = 0.5
) -> float:
    return by_ideal(ranking, judged, required(k), alpha, by_log)


def err_ia(
    ranking: Sequence[Served], judged: dict[str, Served], k: int | None, alpha: float = 0.5
) -> float:
    count = len(subtopics(judged.values()))
    return collection_independent(ranking, count, required(k), alpha, by_rank)


def nerr_ia(
    ranking: Sequence[Served], judged: dict[str, Served], k: int | None, alpha: float = 0.5
) -> float:
    return by_ideal(ranking, judged, required(k), alpha, by_rank)


def nrbp(
    ranking: Sequence[Served],
    judged: dict[str, Served],
    k: int | None,
    alpha: float = 0.5,
    beta: float = 0.5,
) -> float:
    count = len(subtopics(judged.values()))
    total = weighed(ranking[:k], alpha, lambda i: beta ** (i - 1))
    return (1 - (1 - alpha) * beta) / count * total if count else 0.0


def nnrbp(
    ranking: Sequence[Served],
    judged: dict[str, Served],
    k: int | None,
    alpha: float = 0.5,
    beta: float = 0.5,
) -> float:
    return by_ideal(ranking, judged, k, alpha, lambda i: beta ** (i - 1))


def subtopic_recall(ranking: Sequence[Served], judged: dict[str, Served], k: int | None) -> float:
    count = len(subtopics(judged.values()))
    return len(subtopics(ranking[:k])) / count if count else 0.0


def precision_ia(ranking: Sequence[Served], judged: dict[str, Served], k: int | None) -> float:
    """The mean over subtopics of the share of the first k places that serve it."""
    places = required(k)
    each = [
        sum(1 for served in ranking[:k] if s in served) / places for s in subtopics(judged.values())
    ]
    return math.fsum(each) / len(each) if each else 0.0


def average_precision_ia(
    ranking: Sequence[Served], judged: dict[str, Served], k: int | None
) -> float:
    """The mean over subtopics of average precision, taking what serves it as relevant."""
    each = []
    for s in subtopics(judged.values()):
        total = 0.0
        for i, served in enumerate(ranking[:k], 1):
            if s in served:
                total += sum(1 for other in ranking[:i] if s in other) / i
        each.append(total / sum(1 for served in judged.values() if s in served))
    return math.fsum(each) / len(each) if each else 0.0


SUBTOPIC_SCORES: dict[str, Callable[..., float]] = {
    "alpha_DCG": alpha_dcg,
    "alpha_nDCG": alpha_ndcg,
    "ERR_IA": err_ia,
    "nERR_IA": nerr_ia,
    "NRBP": nrbp,
    "nNRBP": nnrbp,
    "strec": subtopic_recall,
    "P_IA": precision_ia,
    "AP_IA": average_precision_ia,
}


# With plain labels


def with_one_subtopic(measure: Callable[..., float]) -> Callable[..., float]:
    """The measure of lists of labels, where every relevant document serves one subtopic."""

    def score(
        ranking: Labels,
        judged: Labels,
        max_grade: int,
        k: int | None,
        rel: int = 1,
        **parameters: float,
    ) -> float:
        ranked = [ONE if is_relevant(label, rel) else NOTHING for label in top(ranking, k)]
        known = {
            str(i): ONE if is_relevant(label, rel) else NOTHING for i, label in enumerate(judged)
        }
        return measure(ranked, known, k, **parameters)

    return score


SCORES: dict[str, Callable[..., float]] = {
    name: with_one_subtopic(measure) for name, measure in SUBTOPIC_SCORES.items()
}
