"""The union of runs: for each query its documents once, with their score and rank in each run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.data.model import Ids, Run, decode, first_rows, freeze
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.native import ids as native, segments
from rankgauge.rankings.lists import offsets_of


class Pool(Record):
    """The documents of several runs: query t owns the rows bounds[t]:bounds[t + 1], a document each.

    Queries stand in the order in which the runs name them; each has at least one document. The
    documents of a query stand in the order in which trec_eval puts equal scores: the greatest id
    first, as bytes compare.

    `scores` (rows × runs) has NaN where a run lacks the document. `ranks` (rows × runs) has the place
    of the document in the run, from 1, and 0 where the run lacks it. A run ranks by score, and equal
    scores by id, the greatest first.

    >>> a = Run.from_dict({"q": {"d1": 3.0, "d2": 1.0}}, name="a")
    >>> b = Run.from_dict({"q": {"d2": 7.0}}, name="b")
    >>> both = pool_of([a, b])
    >>> both.documents.texts(), both.scores.tolist(), both.ranks.tolist()
    (['d2', 'd1'], [[1.0, 7.0], [3.0, nan]], [[2, 1], [1, 0]])
    """

    names: tuple[str, ...]
    queries: Ids
    bounds: Ints
    documents: Ids
    scores: Floats
    ranks: Ints

    def __post_init__(self) -> None:
        freeze(self, "bounds", "scores", "ranks", contiguous=True)

    def __len__(self) -> int:
        return len(self.documents)

    @cached_property
    def topic(self) -> Ints:
        """The number of the query that each row belongs to."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.bounds))

    @cached_property
    def lengths(self) -> Ints:
        """How many documents each run has for each query (queries × runs)."""
        return np.add.reduceat(self.ranks > 0, self.bounds[:-1], axis=0, dtype=np.int64)


def pool_of(runs: Sequence[Run]) -> Pool:
    """The union of one or more runs.

    A run may lack queries: its column is then empty there. The same run may be given twice.
    RankgaugeError where there is no run or no document at all, InputError for a NaN score.
    """
    if not runs:
        raise RankgaugeError("no runs, expected at least one")
    for run in runs:
        _check_scores(run)
    queries, topic, bounds, documents = _union(runs)
    if not len(documents):
        names = ", ".join(run.name for run in runs)
        raise RankgaugeError(
            f"no run contains a document ({names}); expected runs that answer queries"
        )
    scores = np.full((len(documents), len(runs)), np.nan)
    ranks = np.zeros((len(documents), len(runs)), dtype=np.int64)
    for column, (run, topics) in enumerate(zip(runs, topic, strict=True)):
        partner = np.full(len(queries), -1, dtype=np.int64)
        kept = np.flatnonzero(topics >= 0)
        partner[topics[kept]] = kept
        row = native.match(
            documents.data,
            documents.offsets,
            bounds,
            run.documents.data,
            run.documents.offsets,
            run.bounds,
            partner,
        )
        held = np.flatnonzero(row >= 0)
        scores[held, column] = run.scores[row[held]]
        ranks[held, column] = _ranks(scores[held, column], np.searchsorted(held, bounds))
    return Pool(tuple(run.name for run in runs), queries, bounds, documents, scores, ranks)


def _check_scores(run: Run) -> None:
    bad = np.flatnonzero(np.isnan(run.scores))
    if bad.size:
        topic = int(np.searchsorted(run.bounds, bad[0], side="right")) - 1
        raise InputError(
            run.source or run.name,
            None,
            f"the score of document {decode(run.documents[int(bad[0])])!r} of query "
            f"{decode(run.queries[topic])!r} is NaN, expected a number (drop such documents)",
        )


def _union(runs: Sequence[Run]) -> tuple[Ids, list[Ints], Ints, Ids]:
    """Return the queries that have documents, and the documents of each query.

    Between them is, for each run, the number of each of its queries, -1 where no run has a document for
    it. The documents are given by the bounds of the queries and the ids.
    """
    every = Ids.joined([run.queries for run in runs])
    number, first = native.number(every.data, every.offsets)
    counts = np.cumsum([len(run.queries) for run in runs])
    sizes = np.concatenate([np.diff(run.bounds) for run in runs])
    answered = np.bincount(number, weights=sizes, minlength=len(first)) > 0
    number = np.where(answered, np.cumsum(answered) - 1, -1)[number]
    first = first[answered]
    topics = np.split(number, counts[:-1])
    owner = np.repeat(number, sizes)
    order = np.argsort(owner, kind="stable")
    documents = Ids.joined([run.documents for run in runs]).take(order)
    bounds = offsets_of(np.bincount(owner, minlength=len(first)))
    once = np.flatnonzero(first_rows(documents, bounds) == np.arange(len(documents)))
    documents, bounds = documents.take(once), np.searchsorted(once, bounds).astype(np.int64)
    order = native.descending(documents.data, documents.offsets, bounds)
    return every.take(first), topics, bounds, documents.take(order)


def _ranks(scores: Floats, bounds: Ints) -> Ints:
    """The place of each row in its segment, from 1: highest score first, equal scores as they stand."""
    order = segments.segment_order(scores, bounds)
    ranks = np.empty(len(scores), dtype=np.int64)
    ranks[order] = np.arange(1, len(scores) + 1) - np.repeat(bounds[:-1], np.diff(bounds))
    return ranks
