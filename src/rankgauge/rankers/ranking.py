"""Runs made of the scores of rankers."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.data.features import Features
from rankgauge.data.model import Run
from rankgauge.rankings.single_precision import separate_scores


def run_of(
    features: Features, scores: Floats, name: str, *, ties_in_file_order: bool = False
) -> Run:
    """The documents of each query in the order of their scores, as a run.

    Scores that differ also differ in single precision, in which trec_eval up to 9.0.7 compares them.
    Documents without a name are called as `features.named()` calls them. Documents with equal scores
    stand in the order in which an evaluator ranks them, or as in the file.

    >>> from rankgauge.data.model import Ids
    >>> features = Features(Ids.of(["q"]), np.array([0, 2]), np.zeros(2, np.int32), np.eye(2))
    >>> run = run_of(features, np.array([0.5, 0.75]), "best")
    >>> [text[-1] for text in run.documents.texts()], run.scores.tolist()
    (['2', '1'], [0.75, 0.5])
    """
    named = features.named()
    assert named.documents is not None
    query = np.repeat(np.arange(len(features.queries)), np.diff(features.bounds))
    first = np.arange(len(query)) if ties_in_file_order else features.tie_order()
    order = first[np.lexsort((-scores[first], query))]
    apart = separate_scores(scores[order], features.bounds)
    return Run(
        name, features.queries, features.bounds, named.documents.take(order), apart, tag=name
    )
