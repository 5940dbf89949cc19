"""What runs retrieved for the judged queries, in rank order: the documents as rows of the judgments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from rankgauge.core.arrays import Bools, Ints, Labels
from rankgauge.core.notes import Note
from rankgauge.core.policies import (
    DEFAULT_FAILURES,
    DEFAULT_PRECISION,
    Failures,
    PoolTies,
    Progress,
    ScorePrecision,
)
from rankgauge.core.records import Record
from rankgauge.data.model import Ids, Judgments, Run, first_rows, freeze
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.inputs import Runs, Source, label, place_of, sources_of
from rankgauge.io.diagnosis import MAX_EXAMINED, few_shared_queries_note, no_shared_queries_error
from rankgauge.io.scanning import Piece
from rankgauge.io.trec import RunFile
from rankgauge.rankings.alignment import alignment_notes, find_moves, locate_run
from rankgauge.rankings.lists import offsets_of
from rankgauge.workers import AnyExecutor, outcomes, processors

R = TypeVar("R")


class RunRankings(Record):
    """The rankings of several runs for all judged queries, as rows of the judgments.

    The list of run r for query t is number r × queries + t. It has rows[offsets[i]:offsets[i + 1]], the
    best document first; row -1 is a document that is not in the judgments.

    Every document that a run has among its first `depth` has a number: its row in the judgments, or a
    number from there on if the judgments lack it. `topic` has the query of each number. `head_document`,
    `head_run` and `head_rank` (from 0) have an entry for each run and each of its first documents.
    """

    judgments: Judgments
    names: tuple[str, ...]
    rows: Labels
    offsets: Ints
    topic: Ints
    head_document: Ints
    head_run: Ints
    head_rank: Ints
    notes: tuple[Note, ...] = ()
    failed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        arrays = ("rows", "offsets", "topic", "head_document", "head_run", "head_rank")
        freeze(self, *arrays, contiguous=True)

    def pooled(self, depth: int | None, runs: Bools | None = None) -> Bools:
        """For each numbered document, whether one of the runs has it among its first `depth`.

        By default it is about all runs, and all documents that have a number.
        """
        chosen = np.ones(len(self.head_rank), dtype=np.bool_)
        if depth is not None:
            chosen = self.head_rank < depth
        if runs is not None:
            chosen = chosen & runs[self.head_run]
        inside = np.zeros(len(self.topic), dtype=np.bool_)
        inside[self.head_document[chosen]] = True
        return inside


def read_rankings(
    judgments: Judgments,
    runs: Runs,
    depth: int | None,
    *,
    longest: int | None,
    ties: PoolTies,
    seed: int,
    precision: ScorePrecision = DEFAULT_PRECISION,
    failures: Failures = DEFAULT_FAILURES,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> RunRankings:
    """What the runs retrieved for the judged queries. RankgaugeError where there is no run.

    Parameters
    ----------
    judgments
        The judgments, which say what the queries are.
    runs
        Runs, as `evaluate` takes them.
    depth
        How many first documents of each list may go into a pool; None for all.
    longest
        How many documents of each list are kept; None for all.
    ties, seed, precision
        How documents are ordered, as in `Evaluator`.
    failures
        "skip" leaves out runs that cannot be read, or that share no query with the judgments.
    executor
        Where to read the runs. By default, threads.
    progress
        Called with the name of each run, once it is read.
    """
    sources = sources_of(runs, elsewhere=executor is not None)
    threads = 1 if executor is not None else max(1, processors() // max(1, len(sources)))
    reader = _Reader(judgments, depth, longest, ties, seed, precision, threads)
    done, failed = read_runs(reader, sources, failures, executor, progress)
    name, count = Counter(run.name for run in done).most_common(1)[0]
    if count > 1:
        raise RankgaugeError(f"two runs are called {name!r}; give them different names")
    return _merge_runs(judgments, done, depth, failed)


def read_runs(
    reader: Callable[[Source], R],
    sources: Sequence[Source],
    failures: Failures,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> tuple[list[R], tuple[str, ...]]:
    """What a reader makes of the runs, and why runs were left out. RankgaugeError if no run is left."""
    done: list[R] = []
    failed: list[str] = []
    for source, result in outcomes(reader, sources, executor, label):
        if not isinstance(result, RankgaugeError):
            done.append(result)
        elif failures == "raise":
            raise result
        else:
            failed.append(str(result))
        if progress is not None:
            progress(label(source))
    if not done:
        raise RankgaugeError("\n".join(failed))
    return done, tuple(failed)


def run_of(source: Source) -> Run:
    """The run that a source gives."""
    run = source()
    if not isinstance(run, Run):
        kind = type(run).__name__
        raise RankgaugeError(f"{label(source)}: a function returned {kind}, expected a Run")
    return run


class _RunPart(Record):
    """Some queries of a run: their numbers, how many documents each has, and the rows of these.

    `unjudged` are the documents among the first that are not in the judgments, with query and rank.
    """

    queries: Ints
    lengths: Ints
    rows: Labels
    unjudged: Ids
    unjudged_topic: Ints
    unjudged_rank: Ints
    unknown: int
    merged: int
    strangers: Ids


class _RankedRun(Record):
    """A run: how many documents it has for each judged query, and their rows, query by query."""

    name: str
    lengths: Ints
    rows: Labels
    unjudged: Ids
    unjudged_topic: Ints
    unjudged_rank: Ints
    notes: tuple[Note, ...]


class _Reader(Record):
    """Reads one run and brings it into rank order. It can be sent to another process."""

    judgments: Judgments
    depth: int | None
    longest: int | None
    ties: PoolTies
    seed: int
    precision: ScorePrecision
    threads: int

    def __call__(self, source: Source) -> _RankedRun:
        where = place_of(source)
        if isinstance(source, RunFile):
            with source.open() as content:
                run = source.scan(content, self._rank_piece, self.judgments.lookup, self.threads)
            if isinstance(run, list):
                return self._join_parts(label(source), where, run, ())
        else:
            run = run_of(source)
        part = self._rank_piece(locate_run(self.judgments, run))
        return self._join_parts(run.name, where, [part], run.dropped)

    def _rank_piece(self, piece: Piece) -> _RunPart:
        """The judged queries of a piece, in rank order."""
        lengths, known = np.diff(piece.bounds), piece.numbers >= 0
        labels = self.judgments.labels[piece.rows]
        moved = find_moves(piece, labels, self.ties, self.seed, self.precision, self.longest)
        order = np.arange(len(piece.rows))
        order[moved.places] = moved.rows
        rank = np.arange(len(order)) - np.repeat(piece.bounds[:-1], lengths)
        kept = np.repeat(known, lengths)
        unjudged = kept & (piece.rows[order] < 0)
        if self.depth is not None:
            unjudged &= rank < self.depth
        if self.longest is not None:
            kept &= rank < self.longest
            lengths = np.minimum(lengths, self.longest)
        topic = np.repeat(piece.numbers, np.diff(piece.bounds))
        return _RunPart(
            piece.numbers[known],
            lengths[known],
            piece.rows[order[kept]].astype(np.int32),
            piece.documents.take(order[unjudged]),
            topic[unjudged],
            rank[unjudged],
            int(np.count_nonzero(~known)),
            moved.merged,
            piece.queries.take(np.flatnonzero(~known)[:MAX_EXAMINED]),
        )

    def _join_parts(
        self, name: str, source: str, parts: Sequence[_RunPart], dropped: tuple[Note, ...]
    ) -> _RankedRun:
        strangers = Ids.joined([part.strangers for part in parts])
        topics = np.concatenate([part.queries for part in parts])
        if not len(topics):
            raise no_shared_queries_error(source, strangers, self.judgments)
        lengths = np.zeros(len(self.judgments.queries), dtype=np.int64)
        given = np.concatenate([part.lengths for part in parts])
        lengths[topics] = given
        rows = np.concatenate([part.rows for part in parts])
        place = np.repeat(offsets_of(lengths)[topics] - offsets_of(given)[:-1], given)
        ordered = np.empty_like(rows)
        ordered[place + np.arange(len(rows))] = rows
        unknown, merged = (sum(getattr(p, what) for p in parts) for what in ("unknown", "merged"))
        few = few_shared_queries_note(len(topics), unknown, strangers, self.judgments)
        warnings = () if few is None else (few,)
        return _RankedRun(
            name,
            lengths,
            ordered,
            Ids.joined([part.unjudged for part in parts]),
            np.concatenate([part.unjudged_topic for part in parts]),
            np.concatenate([part.unjudged_rank for part in parts]),
            (*warnings, *dropped, *alignment_notes(0 if few else unknown, merged)),
        )


def _merge_runs(
    judgments: Judgments, runs: Sequence[_RankedRun], depth: int | None, failed: tuple[str, ...]
) -> RunRankings:
    """The runs as one; documents that the judgments lack get numbers after those of the judgments."""
    topics, judged = len(judgments.queries), len(judgments.documents)
    lengths = np.concatenate([run.lengths for run in runs])
    offsets = offsets_of(lengths)
    rows = np.concatenate([run.rows for run in runs])
    rank = np.arange(len(rows)) - np.repeat(offsets[:-1], lengths)
    first = rows >= 0 if depth is None else (rows >= 0) & (rank < depth)
    run_of_row = np.repeat(np.arange(len(runs)), [len(run.rows) for run in runs])
    number, topic = _number_documents(
        Ids.joined([run.unjudged for run in runs]),
        np.concatenate([run.unjudged_topic for run in runs]),
        topics,
    )
    sizes = [len(run.unjudged_rank) for run in runs]
    return RunRankings(
        judgments,
        tuple(run.name for run in runs),
        rows,
        offsets,
        np.concatenate((np.repeat(np.arange(topics), np.diff(judgments.bounds)), topic)),
        np.concatenate((rows[first].astype(np.int64), judged + number)),
        np.concatenate((run_of_row[first], np.repeat(np.arange(len(runs)), sizes))),
        np.concatenate((rank[first], *(run.unjudged_rank for run in runs))),
        tuple(replace(note, run=run.name) for run in runs for note in run.notes),
        failed,
    )


def _number_documents(documents: Ids, topic: Ints, topics: int) -> tuple[Ints, Ints]:
    """A number for each row, the same for the same document of a query; and the query of each number."""
    order = np.argsort(topic, kind="stable")
    bounds = offsets_of(np.bincount(topic, minlength=topics))
    first = first_rows(documents.take(order), bounds)
    distinct = np.flatnonzero(first == np.arange(len(first)))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.searchsorted(distinct, first)
    return number, topic[order[distinct]]
