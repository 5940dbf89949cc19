"""Pools of judgments, and the scores of runs by these judgments.

A pool has the judgments that are made if the first documents of each run are judged, and no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints, Labels
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.policies import (
    DEFAULT_POOL_TIES,
    DEFAULT_PRECISION,
    DEFAULT_UNJUDGED,
    SEED,
    SEEDS,
    PoolTies,
    ScorePrecision,
    Unjudged,
)
from rankgauge.core.records import Record
from rankgauge.data.model import Judgments, freeze
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.evaluation.inputs import Qrels, Runs, judgments_of
from rankgauge.forecast.retrieval import RunRankings, read_rankings
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor


DEPTHS = Integer(1)
"""Maximum depth of a pool."""


class PoolCounts(Record):
    """How many documents of each query are in a pool, and what is known about them.

    `pooled` counts all documents of the pool. `judged` counts the documents with a grade of 0 or more,
    `relevant` the documents with a grade of 1 or more. `never_judged` counts the other documents: the
    qrels lack them, or have them with a negative grade, which means "pooled, not judged". Each is an
    array with a number for each query; `total` has the sums.
    """

    pooled: Ints
    judged: Ints
    relevant: Ints

    def __post_init__(self) -> None:
        freeze(self, "pooled", "judged", "relevant")

    @property
    def never_judged(self) -> Ints:
        """How many documents of each query nobody judged."""
        return np.asarray(self.pooled - self.judged)

    @cached_property
    def total(self) -> dict[str, int]:
        """The sums over all queries, by name."""
        names = ("pooled", "judged", "relevant", "never_judged")
        return {name: int(getattr(self, name).sum()) for name in names}

    def __repr__(self) -> str:
        said = (f"{name.replace('_', ' ')} {count:,}" for name, count in self.total.items())
        return f"{type(self).__name__}: {', '.join(said)}"


class PooledJudgments(Judgments):
    """The judgments of a pool, with counts of its documents: the result of `pool`.

    They are used like any other judgments. Their highest grade is the highest grade of the
    original judgments. Therefore, ERR and scaled gains do not change, even if no document of the
    pool has that grade.

    Attributes
    ----------
    queries : Ids
        The ids of the queries.
    bounds : array of int
        The position where the documents of each query begin, and at the end the number of
        documents.
    documents : Ids
        The ids of the documents.
    grades : array of int
        The grade of each document.
    source : str
        The name of the judgments in messages.
    dropped : tuple of Note
        Notes on the lines that lenient reading skipped.
    subtopics : Subtopics or None
        The grades by subtopic, if there are any.
    max_grade : int or None
        The highest grade of the collection.
    negative : str
        How documents with a negative grade count, as in `Judgments.with_negative`.
    counts : PoolCounts
        For each query, how many documents are in the pool, and how many of them are judged and
        relevant.
    depth : int or None
        The depth of the pool; None for all documents.

    Examples
    --------
    >>> pooled = pool({"q1": {"a": 2, "b": 0, "c": 1}}, {"one": {"q1": ["b", "c", "x"]}}, 3)
    >>> pooled
    PooledJudgments: 1 query, 2 judgments
    >>> pooled.counts.never_judged.tolist()
    [1]
    """

    counts: PoolCounts = field(kw_only=True)
    depth: int | None = field(kw_only=True)

    @classmethod
    def of(
        cls, lists: RunRankings, depth: int | None, runs: Bools | None = None
    ) -> PooledJudgments:
        """Return the judgments of the pool of these runs, by default of all runs."""
        judgments = lists.judgments
        inside = lists.pooled(depth, runs)
        count, rows = len(judgments.queries), len(judgments.documents)
        kept = np.flatnonzero(inside[:rows])

        def by_topic(numbers: Ints) -> Ints:
            return np.bincount(lists.topic[numbers], minlength=count)

        counts = PoolCounts(
            by_topic(np.flatnonzero(inside)),
            by_topic(kept[judgments.judged[kept]]),
            by_topic(kept[judgments.grades[kept] >= 1]),
        )
        name = "all documents" if depth is None else f"depth {depth}"
        part = judgments.part(kept, f"{judgments.source}, pool of {name}")
        return cls(**vars(part), counts=counts, depth=depth)


def pool(
    qrels: Qrels,
    runs: Runs,
    depth: int | None,
    *,
    ties: PoolTies = DEFAULT_POOL_TIES,
    seed: int = SEED,
    precision: ScorePrecision = DEFAULT_PRECISION,
    executor: AnyExecutor | None = None,
) -> PooledJudgments:
    """Build the judgments that would exist if only a pool of the runs had been judged.

    The pool of a query consists of the first `depth` documents of each run. The result has the
    judgments of exactly these documents.

    Parameters
    ----------
    qrels : judgments
        All judgments, in any form that `evaluate` takes.
    runs : runs
        The runs that contribute to the pool, in any form that `evaluate` takes.
    depth : int or None
        Number of documents at the top of each run that are in the pool. None: all documents.
    ties : {"docno", "docno-ascending", "input", "random"}, default "docno"
        How to order documents with equal scores, as in `evaluate`. Other orders are not possible,
        because the pool is built without judgments.
    seed : int, default 0
        Seed of the random number generator, for ties="random".
    precision : {"double", "single"}, default "double"
        Floating-point precision in which the scores of documents are compared, as in `evaluate`.
    executor : Executor, Client or Workers, optional
        Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.

    Returns
    -------
    PooledJudgments
        The judgments of the pool.

    Raises
    ------
    RankgaugeError
        If `depth` or another option has an invalid value.
    InputError
        If the judgments or a run cannot be read, or if a run shares no query with the judgments.

    Notes
    -----
    Every query stays, even if nothing in its pool was judged. A document of the pool that is not
    in the qrels is counted in `.counts`, but is not in the judgments: its grade is unknown, and
    measures treat it like any other unjudged document. A document with a negative grade in the
    qrels keeps this grade, and is counted as never judged.

    Examples
    --------
    >>> qrels = {"q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 1}}
    >>> runs = {"one": {"q1": ["b", "c"]}, "two": {"q1": ["x", "a"]}}
    >>> pool(qrels, runs, 1)
    PooledJudgments: 2 queries, 1 judgment
    >>> pool(qrels, runs, 2).counts
    PoolCounts: pooled 4, judged 3, relevant 2, never judged 1
    """
    depth = check_value("depth", depth, DEPTHS, optional=True)
    check_value("ties", ties, one_of(PoolTies))
    check_value("precision", precision, one_of(ScorePrecision))
    lists = read_rankings(
        judgments_of(qrels),
        runs,
        depth,
        longest=depth,
        ties=ties,
        seed=check_value("seed", seed, SEEDS),
        precision=precision,
        executor=executor,
    )
    return PooledJudgments.of(lists, depth)


class PoolScorer(Record):
    """Scores all runs by measures; each result is run × query × measure.

    Documents are not looked up again: a pool only changes which rows of the judgments have a label. The
    highest grade is `max_grade`, or else the highest grade of all judgments, also for a pool. A scorer
    can be sent to another process.
    """

    lists: RunRankings
    measures: Sequence[Measure | Aggregate | str]
    unjudged: Unjudged = DEFAULT_UNJUDGED
    max_grade: int | None = None

    def score_by_all_judgments(self) -> Floats:
        """The scores by all judgments."""
        judgments = self.lists.judgments
        return self._scores(judgments, judgments.labels)

    def score_by_pool(self, depth: int, runs: Bools | None = None) -> Floats:
        """The scores by the judgments of the first `depth` documents of these runs.

        By default, all runs give documents to the pool.
        """
        judgments = self.lists.judgments
        inside = self.lists.pooled(depth, runs)[: len(judgments.documents)]
        labels = judgments.labels.copy()
        labels[:-1][~inside] = labels[-1]
        return self._scores(judgments.part(np.flatnonzero(inside), judgments.source), labels)

    def _scores(self, judgments: Judgments, labels: Labels) -> Floats:
        """The scores by some of the judgments; `labels` has a label for each row of all of them."""
        evaluator = Evaluator(
            judgments, list(self.measures), unjudged=self.unjudged, max_grade=self.max_grade
        )
        runs, topics = len(self.lists.names), len(judgments.queries)
        values = evaluator.score_labels(
            labels[self.lists.rows], self.lists.offsets, np.tile(np.arange(topics), runs)
        )
        return values.reshape(runs, topics, len(self.measures))
