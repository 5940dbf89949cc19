"""Runs laid over judgments: lists of labels in rank order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Ints, Labels
from rankgauge.core.notes import Note
from rankgauge.core.policies import DEFAULT_PRECISION, DEFAULT_TIES, SEED, ScorePrecision, Ties
from rankgauge.core.records import Record
from rankgauge.data.model import Ids, Judgments, Run
from rankgauge.errors import MeasureError
from rankgauge.io.scanning import Piece, Spans
from rankgauge.native import segments
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of, segment_count
from rankgauge.rankings.tie_policies import tie_order


class Alignment(Record):
    """A run, or a piece of one, with its judgments: a list of labels for each of its judged queries.

    Parameters
    ----------
    queries
        The number of each query among all judged queries.
    rankings
        The lists of these queries.
    tied
        For each row, whether its score equals the score of the row above it.
    retrieved
        The rows of the judgments of the documents, in any order.
    unknown
        How many queries are not judged.
    merged
        How many adjacent documents have scores that differ in double but not in single precision.
    """

    queries: Ints
    rankings: Rankings
    tied: NDArray[np.bool_]
    retrieved: Labels | Ints
    unknown: int = 0
    merged: int = 0

    @classmethod
    def empty(cls, queries: Ints, judged: JudgedLabels) -> Alignment:
        """Empty lists for these queries of the judged ones: what is made of those a run lacks."""
        nothing = np.zeros(0, dtype=np.int64)
        part = judged.take(queries)
        rankings = Rankings(
            nothing.astype(np.int32),
            np.zeros(len(queries) + 1, dtype=np.int64),
            np.arange(len(queries)),
            part,
            rows=None if part.rows is None else nothing,
        )
        return cls(queries, rankings, nothing.astype(np.bool_), nothing)


NOT_JUDGED = "queries without judgments, not scored: {count}"
"""The note on queries of a run that have no judgments."""


def alignment_notes(unknown: int, merged: int) -> list[Note]:
    """Notes about how the lists were made."""
    notes = []
    if unknown:
        notes.append(Note(NOT_JUDGED, count=unknown))
    if merged:
        kind = (
            "{pairs} of adjacent documents with equal scores in single precision but not in double"
        )
        detail = "double precision would order them by score"
        notes.append(Note(kind, count=merged, detail=detail))
    return notes


def judged_labels(judgments: Judgments, max_grade: int | None = None) -> JudgedLabels:
    """Collect the labels of each query's judged documents, and the highest grade.

    Parameters
    ----------
    judgments : Judgments
        The judgments.
    max_grade : int, optional
        The highest grade of the collection. By default it is what the judgments say it is, or else
        the highest grade in them.

    Returns
    -------
    JudgedLabels
        The labels, query by query.

    Raises
    ------
    MeasureError
        If the judgments have a grade above `max_grade`.

    Examples
    --------
    >>> judged_labels(Judgments.from_dict({"q": {"a": 0, "b": 2, "c": -1}})).labels.tolist()
    [2, 0]
    """
    highest = max(1, int(judgments.grades.max(initial=1)))
    if max_grade is None:
        max_grade = max(highest, judgments.max_grade or highest)
    elif max_grade < highest:
        raise MeasureError(f"max_grade={max_grade}, but the judgments have a grade of {highest}")
    count = len(judgments.queries)
    query = np.repeat(np.arange(count), np.diff(judgments.bounds))
    rows = np.flatnonzero(judgments.judged)
    sizes = np.bincount(query[rows], minlength=count)
    pooled = np.diff(judgments.bounds) - sizes
    # By query, then from the highest label down, in one key.
    key = query[rows] * (highest + 1) + (highest - judgments.grades[rows])
    if count * (highest + 1) < 2**31:
        key = key.astype(np.int32)  # quicker to sort
    if judgments.subtopics is not None:
        rows = rows[np.argsort(key, kind="stable")]
        labels = judgments.grades[rows]
        aspects = judgments.subtopics
        return JudgedLabels(labels, offsets_of(sizes), pooled, max_grade, rows, aspects)
    key.sort()
    labels = (highest - key % (highest + 1)).astype(np.int32)
    return JudgedLabels(labels, offsets_of(sizes), pooled, max_grade)


def locate_run(judgments: Judgments, run: Run) -> Piece:
    """A whole run as one piece: its queries and documents found in the judgments."""
    same = run.queries is judgments.queries and run.documents is judgments.documents
    if same and np.array_equal(run.bounds, judgments.bounds):
        # The run ranks the very documents that are judged, as with features: nothing to look up.
        numbers, rows = np.arange(len(run.queries)), np.arange(len(run.documents))
    else:
        numbers = rows_of(judgments.queries, run.queries)
        rows = run.documents.rows_in(judgments.documents, run.bounds, judgments.bounds, numbers)
    with np.errstate(over="ignore"):
        single = run.scores.astype(np.float32)
    falls = np.append(False, single[1:] < single[:-1])[: len(single)]
    falls[run.bounds[:-1][np.diff(run.bounds) > 0]] = True  # the first row of a query
    return Piece(
        Spans.of(run.queries),
        numbers,
        segment_count(~falls, run.bounds) == 0,
        run.bounds,
        Spans.of(run.documents),
        run.scores,
        rows,
    )


def align(
    judgments: Judgments,
    run: Run | Piece,
    judged: JudgedLabels | None = None,
    *,
    ties: Ties = DEFAULT_TIES,
    seed: int = SEED,
    precision: ScorePrecision = DEFAULT_PRECISION,
) -> Alignment:
    """The lists of a run, or of a piece of one, in rank order, with a label for each document.

    `judged` has the judged labels, by default those of the judgments. If `ties` is "expected", documents
    of equal score are ordered as with "docno", and `.tied` says which have equal scores.
    """
    judged = judged_labels(judgments) if judged is None else judged
    piece = locate_run(judgments, run) if isinstance(run, Run) else run
    rows, lengths = piece.rows, np.diff(piece.bounds)
    labels, tied = judgments.labels[rows], np.zeros(len(rows), dtype=np.bool_)
    moved = find_moves(piece, labels, ties, seed, precision)
    tied[moved.places] = moved.tied
    labels[moved.places] = labels[moved.rows]
    if judgments.subtopics is not None:
        rows = rows.copy()
        rows[moved.places] = rows[moved.rows]
    known = piece.numbers >= 0
    queries = piece.numbers[known]
    if len(queries) < len(known):
        kept = np.repeat(known, lengths)
        labels, tied, rows = labels[kept], tied[kept], rows[kept]
    rankings = Rankings(
        labels,
        offsets_of(lengths[known]),
        np.arange(len(queries)),
        judged.take(queries),
        rows=None if judgments.subtopics is None else np.where(labels < 0, -1, rows),
    )
    return Alignment(
        queries, rankings, tied, rows[rows >= 0], len(known) - len(queries), moved.merged
    )


class Moves(Record):
    """Rows of a piece that may not be in rank order: at `places[i]` belongs the row `rows[i]`.

    `tied` says of each place whether its score equals the score above. `merged` is how many adjacent
    documents have scores that differ in double but not in single precision.
    """

    places: Ints
    rows: Ints
    tied: NDArray[np.bool_]
    merged: int


def find_moves(
    piece: Piece,
    labels: Labels,
    ties: Ties,
    seed: int,
    precision: ScorePrecision,
    longest: int | None = None,
) -> Moves:
    """What brings the rows of a piece into rank order; queries whose scores fall stay as they are.

    `labels` has the label of each row. Only the `longest` first documents of each query are needed; ties
    below them stay as they are.
    """
    if piece.descending.all():
        none = np.zeros(0, dtype=np.int64)
        return Moves(none, none, none.astype(np.bool_), 0)
    part, places = piece, np.arange(len(piece.rows))
    if piece.descending.any():
        part = piece.part(np.flatnonzero(~piece.descending))
        places = np.flatnonzero(np.repeat(~piece.descending, np.diff(piece.bounds)))
    order, tied, merged = rank_order(part, labels[places], ties, seed, precision, longest)
    return Moves(places, places[order], tied, merged)


def rank_order(
    run: Run | Piece,
    labels: Labels,
    ties: Ties,
    seed: int,
    precision: ScorePrecision,
    longest: int | None = None,
) -> tuple[Ints, NDArray[np.bool_], int]:
    """The rows of a run in rank order, and which scores are tied.

    The first array has the rows, query by query, the best first. The second says for each place
    whether its score equals the score above. The number says how many adjacent documents have equal
    scores in single precision only.

    As with `find_moves`, ties below the `longest` first documents stay as they are.
    """
    scores = run.scores
    if precision == "single":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    query = np.repeat(np.arange(len(run.bounds) - 1), np.diff(run.bounds))
    neighbors = query[1:] == query[:-1]
    order = segments.segment_order(scores, run.bounds)
    tied = neighbors & (scores[order[1:]] == scores[order[:-1]])
    merged = int(np.count_nonzero(tied & (run.scores[order[1:]] != run.scores[order[:-1]])))
    above = np.append(False, tied)[: len(order)]
    places = np.flatnonzero(above | np.append(tied, False)[: len(order)])
    if longest is not None:
        start = np.flatnonzero(~above)[np.cumsum(~above)[places] - 1]  # of the tie
        places = places[start - run.bounds[query[places]] < longest]
    if places.size:
        rows = order[places]
        group = np.cumsum(~above)[places].tolist()
        index = tie_order(run, rows, labels, ties, seed)
        index.sort(key=group.__getitem__)
        order[places] = rows[index]
    return order, above, merged


def rows_of(table: Ids, wanted: Ids) -> Ints:
    """The row in `table` of each wanted id, -1 where it has none."""
    whole, of_table = np.array([0, len(wanted)]), np.array([0, len(table)])
    return wanted.rows_in(table, whole, of_table, np.zeros(1, dtype=np.int64))
