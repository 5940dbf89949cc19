"""The systems and texts that both scores and people's ratings have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from rankgauge.core.arrays import Bools, Floats
from rankgauge.core.notes import Note
from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError
from rankgauge.measures.aggregates import ArithmeticMean
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import Scores
from rankgauge.text.human.ratings import Ratings, title_of

AnyRatings: TypeAlias = Ratings | Scores
"""Ratings, or their means as scores."""


class SharedOutputs(Record):
    """Scores and ratings of the same outputs; higher is better in both.

    `scores` is metric × system × text, `ratings` is dimension × system × text; NaN where there is no
    number.
    """

    metrics: tuple[Scored | Aggregate, ...]
    dimensions: tuple[str, ...]
    systems: tuple[str, ...]
    texts: tuple[str, ...]
    scores: Floats
    ratings: Floats
    notes: list[Note]

    def is_scored(self) -> Bools:
        """System × text: whether each metric has a score.

        A metric without any score does not matter.
        """
        known = np.isfinite(self.scores)
        return np.asarray(known[known.any(axis=(1, 2))].all(axis=0))


def shared_outputs(scores: Scores, ratings: AnyRatings) -> SharedOutputs:
    """Return the systems and texts that are in both, in the order of the scores.

    Raise RankgaugeError if there are none.
    """
    rated = ratings.scores if isinstance(ratings, Ratings) else ratings
    for measure in (*scores.measures, *rated.measures):
        if isinstance(measure, Aggregate) and not isinstance(measure, ArithmeticMean):
            raise RankgaugeError(
                f"{measure} is not an arithmetic mean over texts; use a metric such as "
                f"{measure.measure}"
            )
    notes = [*(ratings.notes if isinstance(ratings, Ratings) else ())]
    systems = _common_names("system", scores.runs, rated.runs, notes)
    texts = _common_names("text", scores.queries, rated.queries, notes)
    ours, theirs = (each.select(texts, runs=systems) for each in (scores, rated))
    for metric in scores.measures:
        if inner(metric).direction == "none":
            text = (
                "the metric declares neither higher nor lower as better; higher is taken "
                "as better here"
            )
            notes.append(Note(text, measure=str(metric)))
    return SharedOutputs(
        scores.measures,
        tuple(title_of(measure) for measure in rated.measures),
        tuple(systems),
        tuple(texts),
        orient_scores(ours),
        orient_scores(theirs),
        notes,
    )


def _common_names(
    thing: str, ours: Sequence[str], theirs: Sequence[str], notes: list[Note]
) -> list[str]:
    known, scored = set(theirs), set(ours)
    common = [name for name in ours if name in known]
    if not common:
        raise RankgaugeError(
            f"no {thing} is in both the scores and the ratings (the scores have {ours[0]!r}, "
            f"the ratings {theirs[0]!r}); use the same names in both"
        )
    unrated, unscored = len(ours) - len(common), len(known - scored)
    if unrated:
        notes.append(Note(f"{thing}s without ratings, skipped: {{count}}", count=unrated))
    if unscored:
        notes.append(Note(f"rated {thing}s without scores, skipped: {{count}}", count=unscored))
    return common


def orient_scores(scores: Scores) -> Floats:
    """Measure × run × query, with the sign turned where lower is better."""
    lower = [inner(measure).direction == "lower" for measure in scores.measures]
    values = np.moveaxis(np.asarray(scores), 2, 0)
    return np.asarray(values * np.where(lower, -1.0, 1.0)[:, None, None])
