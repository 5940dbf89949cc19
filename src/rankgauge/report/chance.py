"""What a random order of the judged documents gets, and the types of topics by it."""

from __future__ import annotations

from contextlib import suppress
from typing import TypeVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.data.model import Judgments
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.query_sets import query_types
from rankgauge.rankings.alignment import judged_labels
from rankgauge.report.content import Left, means_of
from rankgauge.report.page_data import PageNumbers, exact, short
from rankgauge.scores.model import Scores

NOTHING_RELEVANT = "nothing relevant"
Part = TypeVar("Part")


def expected_scores(scores: Scores, judgments: Judgments, rows: Ints) -> list[Floats | None]:
    """For each measure, the expected score of a random order of the judged documents, by topic.

    None for a measure without a formula. `rows` has the number of each topic in the judgments.
    """
    policies = scores.policies
    if policies.source is not None or policies.standardized is not None:
        return [None] * len(scores.measures)  # they are on other scales
    judged = judged_labels(judgments, policies.max_grade).take(rows)
    chances: list[Floats | None] = []
    for measure in map(inner, scores.measures):
        values = None
        if isinstance(measure, Measure) and measure.expectation == "exact":
            with suppress(RankgaugeError):
                values = measure.expected_each(judged)
        chances.append(values)
    return chances


def chance(
    scores: Scores, expected: list[Floats | None], left: Left
) -> tuple[list[PageNumbers | None] | None, list[PageNumbers | None] | None]:
    """What chance gets: for each run the mean over its topics, and for each topic."""
    means: list[PageNumbers | None] = []
    topics: list[PageNumbers | None] = []
    for measure, values in zip(scores.measures, expected, strict=True):
        if values is None:
            left.out(f"What chance gets by {measure} is left out: there is no formula for it.")
        combines = isinstance(measure, Aggregate)
        rows = None if values is None else np.tile(values, (len(scores.runs), 1))
        means.append(None if rows is None or combines else exact(means_of(scores, measure, rows)))
        topics.append(None if values is None else short(values))
    return _any(means), _any(topics)


def types_of(
    scores: Scores, judgments: Judgments, expected: list[Floats | None]
) -> list[list[str | None] | None] | None:
    """For each measure and topic its type, as `query_types` has it; None if it is not known."""
    types: list[list[str | None] | None] = []
    for m, (measure, values) in enumerate(zip(scores.measures, expected, strict=True)):
        if values is None:
            types.append(None)
            continue
        try:
            result = query_types(scores.select(measures=[measure]), judgments)
        except RankgaugeError:  # neither higher nor lower is better
            types.append(None)
            continue
        known = dict(zip(result.queries, result.types, strict=True))
        barren = scores.nothing_relevant[m] | (scores.relevant == 0)
        types.append(
            [
                NOTHING_RELEVANT if nothing else known.get(query)
                for query, nothing in zip(scores.queries, barren.tolist(), strict=True)
            ]
        )
    return _any(types)


def _any(parts: list[Part | None]) -> list[Part | None] | None:
    """The parts, or None if there is none."""
    return None if all(part is None for part in parts) else parts
