"""The search length, from its definition."""

from __future__ import annotations

import math
from collections.abc import Callable

from oracles.labels import Labels, count_nonrelevant, count_relevant, forbidden, is_relevant


def search_length(
    ranking: Labels,
    judged: Labels,
    max_grade: int,
    k: int | None,
    rel: int = 1,
    j: int = 1,
) -> float:
    """Non-relevant documents, unjudged included, before the j-th relevant one.

    nan when R < j. When fewer than j relevant documents are ranked, every
    non-relevant document comes first: N + unjudged documents in the ranking.
    """
    forbidden(k)
    if count_relevant(judged, rel) < j:
        return math.nan
    found = 0
    passed = 0
    for label in ranking:
        if is_relevant(label, rel):
            found += 1
            if found == j:
                return float(passed)
        else:
            passed += 1
    unjudged = sum(1 for label in ranking if label < 0)
    return float(count_nonrelevant(judged, rel) + unjudged)


SCORES: dict[str, Callable[..., float]] = {
    "SearchLength": search_length,
    "ESL": search_length,
}
