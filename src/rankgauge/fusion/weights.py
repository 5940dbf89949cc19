"""Runs as a space of weights: the features of a document are its normalized scores in the runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rankgauge.core.checks import Integer, check_value
from rankgauge.core.notes import Note
from rankgauge.core.policies import (
    DEFAULT_ABSENT,
    DEFAULT_NORMALIZE,
    MISSING,
    SEED,
    Absent,
    Missing,
)
from rankgauge.core.renamed import renamed_parameters
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.inputs import Qrels, Runs, judgments_of
from rankgauge.fusion.mixing import LabeledPool, Mixture
from rankgauge.fusion.pool import pool_of
from rankgauge.fusion.runs import Fusion, read_runs
from rankgauge.rankings.alignment import judged_labels
from rankgauge.rankings.lists import Rankings
from rankgauge.space.scorers import LinearScorer
from rankgauge.space.weights import WeightSpace


@renamed_parameters(topics="queries")
def run_space(
    qrels: Qrels,
    runs: Runs,
    *,
    normalize: str = DEFAULT_NORMALIZE,
    absent: Absent = DEFAULT_ABSENT,
    missing: Missing = "zero",
    queries: Sequence[str] | None = None,
    depth: int | None = None,
    jitter: float | None = None,
    seed: int = SEED,
) -> WeightSpace:
    """Return the space of the weights of runs in a weighted sum of their scores, as `tune` takes them.

    It has all that can be asked of a space of weights: flips, curves, planes, grids and optima.

    Parameters
    ----------
    qrels : judgments
        The judgments, in any form that `evaluate` takes.
    runs : runs
        At least two runs, in any form that `evaluate` takes.
    normalize : str, default "min-max"
        How the scores of each list are made comparable, as in `fuse`.
    absent : {"minimum", "zero", "skip"}, default "minimum"
        The score of a document missing from a list, as in `fuse`.
    missing : {"zero", "skip"}, default "zero"
        How to treat queries that some run lacks, as in `tune`.
    queries : sequence of str, optional
        The judged queries to take. By default, all.
    depth : int, optional
        Keep only documents that some run has among its first `depth`. Scores are normalized before. By
        default, all documents.
    jitter : float, optional
        Add a random number from 0 to this size to the score of each document (see `space.add_jitter`).
    seed : int, default 0
        Seed of the random number generator, for the jitter.

    >>> qrels = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> bm25 = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"d": 2.0, "c": 1.0}}
    >>> dense = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"c": 0.7, "d": 0.1}}
    >>> run_space(qrels, [bm25, dense]).curves("RR").curves[0][0].breaks.tolist()
    [0.5]
    """
    Fusion.of("wsum", normalize=normalize, absent=absent)  # refuses what does not go together
    missing = check_value("missing", missing, MISSING)
    judgments, read = judgments_of(qrels), read_runs(runs)
    pool = pool_of(read)
    labeled = LabeledPool.of(pool, judgments, judged_labels(judgments))
    mixture = Mixture.of(pool, labeled, normalize, absent)
    if not labeled.lengths.any():
        raise RankgaugeError(
            "no run answers a judged query; do the runs and judgments use the same query ids?"
        )
    kept = labeled.queries_to_keep(missing)
    names = judgments.queries.texts()
    if queries is not None:
        place = {name: number for number, name in enumerate(names)}
        for topic in queries:
            if topic not in place:
                raise RankgaugeError(f"query {topic!r} is not judged, expected a judged query")
        chosen = np.zeros(len(names), dtype=np.bool_)
        chosen[[place[topic] for topic in queries]] = True
        kept &= chosen
    if not kept.any():
        raise RankgaugeError("no query is answered by every run; use missing='zero'")
    lists = labeled.documents
    inside = lists.each_row(kept)
    if depth is not None:
        ranks = pool.ranks[labeled.rows]
        near = (ranks > 0) & (ranks <= check_value("depth", depth, Integer(1)))
        inside &= near.any(axis=1)
    rows, numbers = np.flatnonzero(inside), np.flatnonzero(kept)
    offsets = np.append(0, np.cumsum(lists.count(inside)[numbers]))
    documents = Rankings(lists.labels[rows], offsets, lists.query[numbers], lists.judged)
    features = Features(
        judgments.queries.take(numbers),
        offsets,
        documents.labels,
        mixture.scores[rows],
        pool.documents.take(labeled.rows[rows]),
    )
    parameters = tuple(f"weight of {run.name}" for run in read)
    whole = LinearScorer(features, documents, np.asfortranarray(features.values), names=parameters)
    dropped = [replace(note, run=run.name) for run in read for note in run.dropped]
    how = Note(f"the scores of each run are normalized by {normalize}; absent={absent}")
    return WeightSpace.of(LinearScorer.of(whole, jitter, seed), parameters, False, (how, *dropped))
