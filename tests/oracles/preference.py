"""Measures that compare judged documents, straight from their definitions."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.labels import Labels, count_nonrelevant, count_relevant, is_relevant, top


def bpref(ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1) -> float:
    """bpref = (1/R) sum_{retrieved relevant} [1 - min(n_above, R) / min(N, R)].

    n_above counts the judged non-relevant documents ranked above; the term is 1
    where it is 0. 0 when R = 0.
    """
    r = count_relevant(judged, rel)
    n = count_nonrelevant(judged, rel)
    if r == 0:
        return 0.0
    seen = top(ranking, k)
    terms = []
    for i, label in enumerate(seen):
        if is_relevant(label, rel):
            above = count_nonrelevant(seen[:i], rel)
            terms.append(1.0 if above == 0 else 1.0 - min(above, r) / min(n, r))
    return math.fsum(terms) / r


def inferred_average_precision(
    ranking: Labels, judged: Labels, max_grade: int, k: int | None, rel: int = 1
) -> float:
    """Relevant at place j from 0: 1 if j = 0, else the chance of relevance above is inferred.

    1/(j+1) + j/(j+1) * (share of the j that is pooled) * (share of the judged that is relevant),
    the latter smoothed by 1e-5. Over R; 0 when R = 0.
    """
    r = count_relevant(judged, rel)
    if r == 0:
        return 0.0
    epsilon = 1e-5
    terms = []
    for j, label in enumerate(top(ranking, k)):
        if not is_relevant(label, rel):
            continue
        if j == 0:
            terms.append(1.0)
            continue
        above = ranking[:j]
        pooled = sum(1 for other in above if other != -1) / j
        good = count_relevant(above, rel)
        bad = count_nonrelevant(above, rel)
        inferred = (good + epsilon) / (good + bad + 2 * epsilon)
        terms.append(1 / (j + 1) + j / (j + 1) * pooled * inferred)
    return math.fsum(terms) / r


def correct_pairs(ranking: Labels, judged: Labels, max_grade: int, k: int | None) -> float:
    """The share of pairs of different labels, the higher one first.

    Documents outside the top k share one place below it; a pair there counts half. nan without a pair.
    """
    seen = [label for label in top(ranking, k) if label >= 0]
    unseen = list(judged)
    for label in seen:
        unseen.remove(label)
    places = [(label, place) for place, label in enumerate(seen)]
    places += [(label, len(seen)) for label in unseen]
    right = 0.0
    pairs = 0
    for better, high in places:
        for worse, low in places:
            if better > worse:
                pairs += 1
                right += 1.0 if high < low else 0.5 if high == low else 0.0
    return right / pairs if pairs else math.nan


SCORES: dict[str, Callable[..., float]] = {
    "bpref": bpref,
    "infAP": inferred_average_precision,
    "CorrectPairs": correct_pairs,
}
