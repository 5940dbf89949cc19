"""One run, from its rankings to its scores: piece by piece, then put together."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, T
from rankgauge.core.notes import Note
from rankgauge.core.policies import Policies, Ties
from rankgauge.core.records import Record
from rankgauge.core.seeds import list_seeds
from rankgauge.data.model import Ids, Judgments, Run
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.evaluation.inputs import Source, label, place_of
from rankgauge.io.diagnosis import (
    MAX_EXAMINED,
    few_shared_queries_note,
    no_shared_queries_error,
    nothing_judged_note,
)
from rankgauge.io.scanning import Piece
from rankgauge.io.trec import RunFile
from rankgauge.measures import answers
from rankgauge.measures.base import Measure, estimate_notes
from rankgauge.measures.precision import Judged
from rankgauge.rankings.alignment import (
    Alignment,
    align,
    alignment_notes,
    judged_labels,
    locate_run,
)
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.rankings.tie_policies import append_tail, tied_lists
from rankgauge.rankings.tied_lists import TiedRankings
from rankgauge.workers import AnyExecutor, Shared, share

R = TypeVar("R", covariant=True)

Remarks: TypeAlias = list[list[Note]]
"""For each measure what to know of its scores."""

JUDGED_AT_10 = Judged @ 10


class RunScores(Record):
    """What is kept of one run: query × measure, and what to know about it."""

    name: str
    values: Floats
    present: Bools
    judged_share: Floats
    notes: tuple[Note, ...]
    remarks: Remarks


class PieceScores(Record):
    """The scores of some queries of a run, and what was found on the way.

    Parameters
    ----------
    queries
        The number of each query among all judged queries.
    values, judged_share
        Their scores, query × measure, and the share of the first ten documents that is judged.
    remarks
        For each measure what to know of the scores.
    merged
        How many adjacent documents have scores that differ in double but not in single precision.
    judged
        How many retrieved documents have a judgment.
    strangers
        The queries that are not judged, in the order of the run.
    documents, document_queries
        If no retrieved document has a judgment, some of these documents, and the query of each.
    """

    queries: Ints
    values: Floats
    judged_share: Floats
    remarks: Remarks
    merged: int
    judged: int
    strangers: Ids
    documents: Ids
    document_queries: Ints

    @classmethod
    def joined(cls, pieces: Sequence[PieceScores]) -> PieceScores:
        """The scores of all the queries of several pieces, none of which is in two of them."""
        if len(pieces) == 1:
            return pieces[0]
        judged = sum(piece.judged for piece in pieces)
        without = [] if judged else pieces
        return cls(
            np.concatenate([piece.queries for piece in pieces]),
            np.concatenate([piece.values for piece in pieces]),
            np.concatenate([piece.judged_share for piece in pieces]),
            [_merge_notes(remarks) for remarks in zip(*(p.remarks for p in pieces), strict=True)],
            sum(piece.merged for piece in pieces),
            judged,
            Ids.joined([piece.strangers for piece in pieces]),
            Ids.joined([_NO_IDS, *(piece.documents for piece in without)]),
            np.concatenate([_NO_INTS, *(piece.document_queries for piece in without)]),
        )


class SharedJudgments:
    """Judgments, with the judged labels of each query.

    Another process is sent the judgments, and makes the rest for itself: so the same judgments are the
    same bytes, whatever was asked of them.
    """

    def __init__(self, judgments: Judgments, judged: JudgedLabels) -> None:
        self.judgments, self.judged = judgments, judged

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore_judgments, (self.judgments, self.judged.max_grade)


def _restore_judgments(judgments: Judgments, max_grade: int) -> SharedJudgments:
    return SharedJudgments(judgments, judged_labels(judgments, max_grade))


class Scorer(Record):
    """The judgments, measures and policies to score runs with.

    Work on tasks is a call: `scorer(task)`. A scorer can be sent to another process. If it was made by
    `for_executor`, the judgments, which are large, go apart from the measures and policies, and serve
    other calls too.
    """

    judgments: Judgments
    judged: JudgedLabels
    measures: tuple[Measure, ...]
    policies: Policies
    threads: int = 1
    sent: Shared[SharedJudgments] | None = None

    def __call__(self, task: ScoringTask[R]) -> R:
        """What a task computes with this scorer."""
        return task.scores(self)

    def for_executor(self, executor: AnyExecutor | None, threads: int) -> Scorer:
        """The scorer for the tasks of one call; each task uses this number of threads."""
        sent = share(SharedJudgments(self.judgments, self.judged), executor)
        return replace(self, threads=threads, sent=sent)

    def __reduce__(self) -> tuple[Any, ...]:
        apart = self.sent or SharedJudgments(self.judgments, self.judged)
        return _restore_scorer, (apart, self.measures, self.policies, self.threads)

    def ties_of(self, measure: Measure) -> Ties:
        """How equal scores are treated for a measure: as its definition says, or as asked for."""
        return measure.own_ties or self.policies.ties

    @cached_property
    def measures_to_score(self) -> list[Measure]:
        """The measures that are asked about rankings; the others follow from their scores."""
        return list(
            dict.fromkeys(
                measure if self.ties_of(measure) == "expected" else measure.basis
                for measure in self.measures
            )
        )

    def piece_scores(self, piece: Piece) -> PieceScores:
        """The scores of the judged queries in a piece of a run."""
        usual = self.policies.ties
        lists = self._align(piece, usual)
        rankings = {usual: self._apply_ties(lists, usual)}
        judged_share, _ = score_lists(JUDGED_AT_10, rankings[usual])
        for ties in {self.ties_of(measure) for measure in self.measures_to_score} - {usual}:
            rankings[ties] = self._apply_ties(self._align(piece, ties), ties)
        complete = {ties: self._apply_policies(each, lists) for ties, each in rankings.items()}
        columns, remarks = [], []
        for measure in self.measures_to_score:
            values, notes = score_lists(measure, complete[self.ties_of(measure)])
            columns.append(values)
            remarks.append(notes)
        return PieceScores(
            lists.queries,
            stack_columns(columns, len(lists.queries)),
            judged_share,
            remarks,
            lists.merged,
            len(lists.retrieved),
            *_unjudged_ids(piece, lists),
        )

    def _align(self, piece: Piece, ties: Ties) -> Alignment:
        """The lists of the judged queries in a piece, with equal scores ordered this way."""
        seed, precision = self.policies.seed, self.policies.precision
        return align(self.judgments, piece, self.judged, ties=ties, seed=seed, precision=precision)

    def _apply_ties(self, lists: Alignment, ties: Ties) -> Rankings | TiedRankings:
        """The lists in rank order, or as groups of tied documents."""
        if ties != "expected":
            return lists.rankings
        seeds = list_seeds(self.policies.seed, self.judgments.queries.take(lists.queries))
        return tied_lists(lists.rankings, lists.tied, seeds)

    def _apply_policies(
        self, rankings: Rankings | TiedRankings, lists: Alignment
    ) -> Rankings | TiedRankings:
        """Apply the policies on the rest of the collection and on unjudged documents to the rankings.

        As the policies say, the rest of the collection is added as a tail, and unjudged documents are
        taken out.
        """
        if isinstance(rankings, TiedRankings) and self.policies.documents is not None:
            rankings = append_tail(
                rankings, lists.queries, self.judgments, lists.retrieved, self.policies.documents
            )
        return rankings.condensed() if self.policies.unjudged == "condensed" else rankings

    def run_scores(
        self, name: str, source: str, piece: PieceScores, dropped: tuple[Note, ...] = ()
    ) -> RunScores:
        """The scores of a run from the scores of its queries; other queries are empty rankings.

        Parameters
        ----------
        name, source
            The name of the run, and how messages call the place where it is.
        piece
            The scores of all judged queries that the run has.
        dropped
            Notes on what lenient reading left out.
        """
        strangers = piece.strangers
        if not len(piece.queries):
            raise no_shared_queries_error(source, strangers, self.judgments)
        present = np.zeros(len(self.judged), dtype=np.bool_)
        present[piece.queries] = True
        parts = [piece]
        if not present.all():
            absent = np.flatnonzero(~present)
            topics = self.judgments.queries.take(absent)
            parts.append(self.piece_scores(Piece.of_empty_queries(topics, absent)))
        values = np.empty((len(self.judged), len(self.measures_to_score)))
        judged_share = np.empty(len(self.judged))
        for part in parts:
            values[part.queries] = part.values
            judged_share[part.queries] = part.judged_share
        few = few_shared_queries_note(len(piece.queries), len(strangers), strangers, self.judgments)
        warnings = [] if few is None else [few]
        if not piece.judged:
            warnings.append(nothing_judged_note(piece.documents, self.judgments))
        unknown = 0 if few else len(strangers)
        return RunScores(
            name,
            self._derive_scores(values),
            present,
            judged_share,
            (*warnings, *dropped, *alignment_notes(unknown, piece.merged)),
            [_merge_notes(remarks) for remarks in zip(*(p.remarks for p in parts), strict=True)],
        )

    def _derive_scores(self, scores: Floats) -> Floats:
        """Query × measure, from the scores by the measures that were asked."""
        known = dict(zip(self.measures_to_score, scores.T, strict=True))
        columns = []
        for measure in self.measures:
            with _name_measure_in_errors(measure):
                columns.append(
                    known[measure]
                    if measure in known
                    else measure.from_basis(known[measure.basis], self.judged)
                )
        return stack_columns(columns, len(scores))


def _restore_scorer(
    apart: SharedJudgments | Shared[SharedJudgments],
    measures: tuple[Measure, ...],
    policies: Policies,
    threads: int,
) -> Scorer:
    if isinstance(apart, SharedJudgments):
        return Scorer(apart.judgments, apart.judged, measures, policies, threads)
    received = apart.value
    return Scorer(received.judgments, received.judged, measures, policies, threads, apart)


class ScoringTask(Protocol[R]):
    """What workers do for `Evaluator.scores`.

    A task is small: it names files, or holds a run that the user gave. The judgments are sent apart
    from it.
    """

    @property
    def label(self) -> str:
        """How messages call the task."""

    def scores(self, scorer: Scorer) -> R:
        """What the task computes."""


class RunTask(Record):
    """Scores a run: a file that is read now, piece by piece, or a Run, which is one piece."""

    source: Source

    @property
    def label(self) -> str:
        """How messages call the task."""
        return label(self.source)

    def scores(self, scorer: Scorer) -> RunScores:
        """The scores of the run."""
        source, lookup = self.source, scorer.judgments.lookup
        run: Run | list[PieceScores]
        if isinstance(source, RunFile):
            with source.open() as content:
                run = source.scan(content, scorer.piece_scores, lookup, scorer.threads)
        else:
            run = source()
        if not isinstance(run, Run | list):
            kind = type(run).__name__
            raise RankgaugeError(f"{label(source)}: a function gave {kind}, expected a Run")
        if isinstance(run, Run):
            piece = scorer.piece_scores(locate_run(scorer.judgments, run))
            return scorer.run_scores(run.name, place_of(source), piece, run.dropped)
        return scorer.run_scores(label(source), place_of(source), PieceScores.joined(run))


def _unjudged_ids(piece: Piece, lists: Alignment) -> tuple[Ids, Ids, Ints]:
    """Return the queries of a piece that are not judged.

    If none of the documents of the piece is judged, some of these documents are returned too, with their
    queries.
    """
    strangers = piece.queries.take(np.flatnonzero(piece.numbers < 0))
    if len(lists.retrieved):
        return strangers, _NO_IDS, _NO_INTS
    queries = np.repeat(piece.numbers, np.diff(piece.bounds))
    rows = np.flatnonzero(queries >= 0)[:MAX_EXAMINED]
    return strangers, piece.documents.take(rows), queries[rows]


_NO_IDS = Ids.of([])
_NO_INTS: Ints = np.zeros(0, dtype=np.int64)


def score_lists(measure: Measure, lists: Rankings | TiedRankings) -> tuple[Floats, list[Note]]:
    """The score of each list, and notes on the scores."""
    if not len(lists):  # a measure of a user's own may not know what to do with none
        return np.zeros(0), []
    with _name_measure_in_errors(measure):
        if isinstance(lists, Rankings):
            return answers.cached_scores(lists, measure), measure.list_remarks(lists)
        mean = measure.tied_each(lists)
        remarks = measure.list_remarks(lists.rankings)
        return mean.values, remarks + estimate_notes(mean, "mean over ties estimated")


@contextmanager
def _name_measure_in_errors(measure: Measure) -> Iterator[None]:
    """Any error that a measure makes, one of a user's own perhaps, names it."""
    try:
        yield
    except RankgaugeError:
        raise
    except Exception as error:
        raise MeasureError(f"{measure} fails: {type(error).__name__}: {error}") from error


def _merge_notes(parts: Sequence[Sequence[Note]]) -> list[Note]:
    """The remarks on all lists, from those on some of them."""
    whole: dict[str, Note] = {}
    for note in itertools.chain.from_iterable(parts):
        before = whole.get(note.kind)
        if before is not None and note.count is not None:
            error = None if note.error is None else max(note.error, before.error or 0.0)
            note = replace(note, count=note.count + (before.count or 0), error=error)
        whole[note.kind] = note
    return list(whole.values())


def stack_columns(columns: Sequence[Floats], rows: int) -> Floats:
    """Columns side by side."""
    return stack_arrays(columns, (rows,)).T


def stack_arrays(arrays: Sequence[NDArray[T]], shape: tuple[int, ...]) -> NDArray[T]:
    """One array from arrays of this shape, also where there are none."""
    return np.array(arrays).reshape(len(arrays), *shape)
