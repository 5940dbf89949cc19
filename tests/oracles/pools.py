"""Pools and depths straight from their definitions, with dicts and loops."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from statistics import fmean

Qrels = Mapping[str, Mapping[str, int]]
Run = Mapping[str, Mapping[str, float]]


def ranked(documents: Mapping[str, float], ties: str = "docno") -> list[str]:
    """The documents of a query, the best first."""
    order = list(documents)
    if ties != "input":
        order.sort(reverse=ties == "docno")
    return sorted(order, key=lambda document: -documents[document])


def pooled(
    qrels: Qrels, runs: Sequence[Run], depth: int | None, ties: str = "docno"
) -> dict[str, set[str]]:
    """For each judged query the documents in the pool."""
    pools: dict[str, set[str]] = {topic: set() for topic in qrels}
    for topic, run in itertools.product(qrels, runs):
        pools[topic].update(ranked(run.get(topic, {}), ties)[:depth])
    return pools


def judged(qrels: Qrels, pools: Mapping[str, set[str]]) -> dict[str, dict[str, int]]:
    """The judgments of the documents in the pool."""
    return {
        topic: {document: grade for document, grade in grades.items() if document in pools[topic]}
        for topic, grades in qrels.items()
    }


def tau(x: Sequence[float], y: Sequence[float]) -> float:
    """Kendall's τ-a of two lists of means; differences of rounding are none."""
    signs = [
        sign(x[a] - x[b]) * sign(y[a] - y[b]) for a, b in itertools.combinations(range(len(x)), 2)
    ]
    return fmean(signs) if signs else float("nan")


def sign(number: float) -> int:
    """−1, 0 or 1."""
    return 0 if abs(number) < 1e-11 else 1 if number > 0 else -1


def significant(a: Sequence[float], b: Sequence[float], level: float) -> bool:
    """Whether the paired t-test says that two runs differ."""
    from scipy.stats import ttest_rel

    differences = [one - other for one, other in zip(a, b, strict=True)]
    if len(differences) < 2 or all(abs(each) < 1e-12 for each in differences):
        return False
    if max(differences) - min(differences) < 1e-12:
        return True
    return bool(ttest_rel(a, b).pvalue <= 1 - level)
