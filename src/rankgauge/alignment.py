"""Runs laid over judgments: lists of labels in rank order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.errors import MeasureError
from rankgauge.data.model import Ids, Ints, Judgments, Labels, Precision, Run
from rankgauge.data.rankings import JudgedLabels, Rankings, offsets_of
from rankgauge.data.scanning import Piece
from rankgauge.native import ids as native
from rankgauge.tie_policies import Ties, broken


@dataclass(frozen=True, eq=False)
class Alignment:
    """One run laid over the judgments: a list for each judged query, in the judgments' order.

    `present` says which queries the run holds; those it lacks have an empty list. `unknown` counts
    the run's queries that are not judged, `merged` the neighbours whose scores differ in double but
    not in single precision. `tied` says of each row whether its score is that of the row above it,
    `retrieved` of each judgement whether the run has the document.
    """

    rankings: Rankings
    present: NDArray[np.bool_]
    unknown: int
    merged: int
    tied: NDArray[np.bool_]
    retrieved: NDArray[np.bool_]


def alignment_notes(unknown: int, merged: int) -> list[str]:
    """What the user should know about how the lists came about."""
    notes = []
    if unknown:
        notes.append(f"topics without judgements, not scored: {unknown}")
    if merged:
        notes.append(
            f"neighbours tied in single precision only: {merged} "
            "(double precision would order them by score)"
        )
    return notes


def judged_labels(judgments: Judgments, max_grade: int | None = None) -> JudgedLabels:
    """The labels of each query's judged documents, and the collection's highest grade.

    >>> judged_labels(Judgments.from_dict({"q": {"a": 0, "b": 2, "c": -1}})).labels.tolist()
    [2, 0]
    """
    highest = max(1, int(judgments.grades.max(initial=1)))
    if max_grade is None:
        max_grade = highest
    elif max_grade < highest:
        raise MeasureError(f"max_grade={max_grade}, but the judgments have a grade {highest}")
    count = len(judgments.queries)
    query = np.repeat(np.arange(count), np.diff(judgments.bounds))
    rows = np.flatnonzero(judgments.grades >= 0)
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


def align(
    judgments: Judgments,
    run: Run,
    *,
    judged: JudgedLabels | None = None,
    ties: Ties = "docno",
    seed: int = 0,
    precision: Precision | None = None,
    documents: dict[bytes, int] | None = None,
) -> Alignment:
    """A run's lists in rank order, with a label for each document.

    Under ties="expected" documents of equal score are in the order of "docno", with `tied` to say so.
    `documents` asks for document numbers: the dict, which may be shared by several runs, gets a
    number for every id it does not have yet.
    """
    judged = judged_labels(judgments) if judged is None else judged
    in_judgments = rows_of(judgments.queries, run.queries)
    row = native.match(
        run.documents.data,
        run.documents.offsets,
        run.bounds,
        judgments.documents.data,
        judgments.documents.offsets,
        judgments.bounds,
        in_judgments,
    )
    label = judgments.labels[row]
    order, tied, merged = rank_order(run, label, ties, seed, precision or run.precision)
    # The lists of the judged queries, in the judgments' order.
    in_run = np.full(len(judgments.queries), -1, dtype=np.int64)
    known = np.flatnonzero(in_judgments >= 0)
    in_run[in_judgments[known]] = known
    present = in_run >= 0
    lengths = np.where(present, np.diff(run.bounds)[in_run] if len(known) else 0, 0)
    offsets = offsets_of(lengths)
    starts = np.where(present, run.bounds[in_run], 0)
    places = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    rows = order[places]
    numbers = None
    if documents is not None:
        ids = run.documents.take(rows)
        numbers = np.array(
            [documents.setdefault(raw, len(documents)) for raw in ids], dtype=np.int32
        )
    rankings = Rankings(label[rows], offsets, np.arange(len(in_run)), judged, numbers)
    if judgments.subtopics is not None:
        rankings = replace(rankings, rows=np.where(label < 0, -1, row)[rows])
    retrieved = np.zeros(len(judgments.grades), dtype=np.bool_)
    retrieved[row[row >= 0]] = True
    unknown = len(run.queries) - len(known)
    return Alignment(rankings, present, unknown, merged, tied[places], retrieved)


@dataclass(frozen=True, eq=False)
class PieceLists:
    """A piece of a run laid over the judgments: a list for each of its judged queries.

    `queries` are the numbers of these queries among all that are judged; `rankings` knows of them
    alone. `unknown` and `merged` count as in Alignment.
    """

    queries: Ints
    rankings: Rankings
    unknown: int
    merged: int


def align_piece(
    judgments: Judgments,
    piece: Piece,
    judged: JudgedLabels,
    *,
    ties: Ties,
    seed: int,
    precision: Precision,
) -> PieceLists:
    """A piece's lists in rank order, with a label for each document."""
    labels = judgments.labels[piece.rows]
    merged = 0
    lengths = np.diff(piece.bounds)
    if not piece.descending.all():
        part = piece.part(np.flatnonzero(~piece.descending))
        places = np.flatnonzero(np.repeat(~piece.descending, lengths))
        order, _, merged = rank_order(part, labels[places], ties, seed, precision)
        labels[places] = labels[places[order]]
    known = piece.numbers >= 0
    queries = piece.numbers[known]
    if len(queries) < len(known):
        labels = labels[np.repeat(known, lengths)]
    rankings = Rankings(
        labels, offsets_of(lengths[known]), np.arange(len(queries)), judged.take(queries)
    )
    return PieceLists(queries, rankings, len(known) - len(queries), merged)


def rank_order(
    run: Run | Piece, labels: Labels, ties: Ties, seed: int, precision: Precision
) -> tuple[NDArray[np.intp], NDArray[np.bool_], int]:
    """The rows of a run, query by query, best first; for each place whether its score is that of the
    one above; and how many neighbours only single precision ties."""
    scores = run.scores
    if precision == "single":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    query = np.repeat(np.arange(len(run.bounds) - 1), np.diff(run.bounds))
    neighbours = query[1:] == query[:-1]
    if (neighbours & (scores[1:] > scores[:-1])).any():
        order = np.lexsort((-scores, query))
    else:
        order = np.arange(len(scores))
    tied = neighbours & (scores[order[1:]] == scores[order[:-1]])
    merged = int(np.count_nonzero(tied & (run.scores[order[1:]] != run.scores[order[:-1]])))
    above = np.append(False, tied)[: len(order)]
    places = np.flatnonzero(above | np.append(tied, False)[: len(order)])
    if places.size:
        rows = order[places]
        group = np.cumsum(~above)[places].tolist()
        index = broken(run, rows, labels, ties, seed)
        index.sort(key=group.__getitem__)
        order[places] = rows[index]
    return order, above, merged


def rows_of(table: Ids, wanted: Ids) -> Ints:
    """The row in `table` of each wanted id, -1 where it has none."""
    whole = np.array([0, len(wanted)])
    return native.match(
        wanted.data,
        wanted.offsets,
        whole,
        table.data,
        table.offsets,
        np.array([0, len(table)]),
        np.zeros(1, dtype=np.int64),
    )
