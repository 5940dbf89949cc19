"""The expected scores of random rankings, for each judged query."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.data.model import Judgments
from rankgauge.measures.around import ranking_measure
from rankgauge.rankings.alignment import judged_labels
from rankgauge.scores.model import Scores


def expected_scores(
    judgments: Judgments, scores: Scores
) -> tuple[dict[str, Floats], dict[str, dict[str, int]]]:
    """By measure: the expected score of each judged query, and how many queries have nothing relevant.

    Queries with nothing relevant have no expected score. `figures.expected_histogram` takes both.
    """
    judged = judged_labels(judgments, scores.policies.max_grade)
    values, left_out = {}, {}
    for measure, barren in zip(scores.measures, scores.nothing_relevant, strict=True):
        name = str(measure)
        nothing = barren | (scores.relevant == 0)
        values[name] = ranking_measure(measure).expected_each(judged.take(np.flatnonzero(~nothing)))
        left_out[name] = {"nothing relevant": int(np.count_nonzero(nothing))}
    return values, left_out
