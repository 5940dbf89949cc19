"""Runs in parts: the parts are scored one by one, and then joined.

A query may be in several parts. A task scores the queries inside its part as if no other part had them,
and sends back the rows of the first and the last query. If a run was sorted by query and then cut, only
these are in several parts; they are joined and scored as the parts come in. Any other query of several
parts is found when all parts are there, and the parts that have it are read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.arrays import Bools, Ints, Labels
from rankgauge.core.records import Record
from rankgauge.data.model import Ids, Run
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.evaluation.inputs import place_of
from rankgauge.evaluation.scorer import PieceScores, RunScores, Scorer, ScoringTask
from rankgauge.io.diagnosis import no_shared_queries_error
from rankgauge.io.files import Content, display_name
from rankgauge.io.parts import (
    DroppedRows,
    Outline,
    PartRun,
    RunParts,
    check_neighbors,
    empty_parts_error,
    join_parts,
    locate_dropped_rows,
    read_part,
    sum_dropped_rows,
)
from rankgauge.io.scanning import Piece
from rankgauge.io.trec import RunFile
from rankgauge.native import ids as native
from rankgauge.rankings.alignment import locate_run, rows_of
from rankgauge.workers import results_of

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor

MOST_ROWS = 10_000_000
"""How many rows a task holds that joins queries of several parts; it may hold one query more."""

MOST_EDGE_QUERIES, MOST_EDGE_ROWS = 64, 1 << 17
"""How many queries at the edges of parts are held before they are scored, and how many of their rows."""


class PartScores(Record):
    """What is found in a part.

    Parameters
    ----------
    outline
        The kind of the part, and how it begins and ends.
    first, last
        The rows of its first and its last query, which are not scored. If it has only one query, this is
        the first one.
    middle, sizes
        The scores of the queries between these two, and how many rows each query has, the judged queries
        before the others; None if there is no query between them.
    dropped
        What lenient reading left out.
    empty
        Whether the part has no rows at all.
    """

    outline: Outline
    first: Piece | None
    middle: PieceScores | None
    sizes: Labels
    last: Piece | None
    dropped: tuple[DroppedRows, ...]
    empty: bool


class PartTask(Record):
    """Scores the queries inside a part as if no other part had them; all but those that are left out."""

    number: int
    file: RunFile
    left_out: Ids | None = None

    @property
    def label(self) -> str:
        """How messages call the task."""
        return display_name(self.file.path)

    def scores(self, scorer: Scorer) -> PartScores:
        """The scores of the queries of the part."""
        work = _PieceScorer(scorer, self.left_out)

        def read(content: Content) -> list[_ScoredPiece] | Run:
            lookup = scorer.judgments.lookup
            return self.file.scan(content, work, lookup, scorer.threads)

        result, outline = read_part(self.file, read)
        dropped: list[DroppedRows] = []
        pieces = result if isinstance(result, list) else []
        if isinstance(result, Run):
            dropped = locate_dropped_rows(self.number, self.file, result.dropped)
            pieces = [work(locate_run(scorer.judgments, result))]
        middles = [piece.middle for piece in pieces if piece.middle is not None]
        return PartScores(
            outline,
            pieces[0].first if pieces else None,
            PieceScores.joined(middles) if middles else None,
            np.concatenate([_NO_SIZES, *(p.judged for p in pieces), *(p.strange for p in pieces)]),
            pieces[-1].last if pieces else None,
            tuple(dropped),
            result is None,
        )


_NO_SIZES = np.zeros(0, dtype=np.int32)


class _ScoredPiece(Record):
    """A piece of a part.

    `first` and `last` have the rows of the first and the last query of the part, if they are here.
    `middle` has the scores of the other queries; `judged` and `strange` say how many rows they have.
    """

    first: Piece | None
    middle: PieceScores | None
    judged: Labels
    strange: Labels
    last: Piece | None


class _PieceScorer(Record):
    """Scores a piece of a part."""

    scorer: Scorer
    left_out: Ids | None

    def __call__(self, piece: Piece) -> _ScoredPiece:
        count = len(piece.numbers)
        start = int(piece.starts and count > 0)
        end = count - int(piece.ends and count > start)
        middle = piece.between(start, end)
        if self.left_out is not None:
            middle = middle.part(np.flatnonzero(rows_of(self.left_out, middle.queries.ids()) < 0))
        sizes = np.diff(middle.bounds).astype(np.int32)
        return _ScoredPiece(
            piece.between(0, start).copy() if start > 0 else None,
            self.scorer.piece_scores(middle) if len(sizes) else None,
            sizes[middle.numbers >= 0],
            sizes[middle.numbers < 0],
            piece.between(end, count).copy() if end < count else None,
        )


class JoinedQueries(Record):
    """The scores of queries that are in several parts, and what lenient reading left out."""

    scores: PieceScores
    dropped: tuple[DroppedRows, ...]


class SplitQueriesTask(Record):
    """Reads parts and scores some of their queries; the rows of a query are in all the parts together.

    `parts` are the files, each with its number among the parts of the run.
    """

    parts: tuple[tuple[int, RunFile], ...]
    queries: Ids

    @property
    def label(self) -> str:
        """How messages call the task."""
        return f"queries of {display_name(self.parts[0][1].path)} and other parts"

    def scores(self, scorer: Scorer) -> JoinedQueries:
        """The scores of the queries; DuplicateError if a document is in two parts for one of them."""
        rows = []
        for number, file in self.parts:
            run, _ = read_part(file, file.run_from_content)
            if run is not None:
                wanted = np.flatnonzero(rows_of(self.queries, run.queries) >= 0)
                rows.append(PartRun(number, file, run.part(wanted)))
        run, dropped = join_parts(rows)
        if len(run.queries) != len(self.queries):
            message = (
                "the parts changed while they were being read, expected files that "
                "nothing is writing to"
            )
            raise InputError(self.label, None, message)
        return JoinedQueries(scorer.piece_scores(locate_run(scorer.judgments, run)), tuple(dropped))


class _ScoringBatch(Record):
    """Queries that were scored together: the queries inside a part, or queries at the edges of parts.

    Parameters
    ----------
    scores
        Their scores.
    sizes
        How many rows each query has, the judged queries before the others.
    places
        Where each query begins: three times the number of a part, and 0, 1 or 2 for the first query of
        the part, the queries inside it and the last one. One place stands for all queries.
    ends
        The number of the last part that has the rows of each query. One number stands for all queries.
    inside
        Whether these are the queries inside a part.
    again
        Whether a document is there twice for one of the queries.
    """

    scores: PieceScores
    sizes: Labels
    places: Ints
    ends: Ints
    inside: bool = False
    again: bool = False


class _EdgeQuery:
    """A query at the edge of parts: its rows in each of these parts."""

    def __init__(self, place: int, rows: Piece) -> None:
        self.place, self.end, self.rows, self.size = place, place // 3, [rows], len(rows.scores)

    def extend(self, place: int, rows: Piece) -> None:
        """Add its rows in a later part."""
        self.end = place // 3
        self.rows.append(rows)
        self.size += len(rows.scores)


class SplitRun:
    """A run in parts, which are added in their order. Only the rows of some queries are held."""

    def __init__(self, source: RunParts, files: Sequence[RunFile], scorer: Scorer) -> None:
        self.source, self.files, self.scorer = source, files, scorer
        self.count = 0
        self.failed: RankgaugeError | None = None
        """The first error of a part."""
        self.units: list[_ScoringBatch] = []
        self.dropped: list[DroppedRows] = []
        self.outline: Outline | None = None
        self.edges: dict[bytes, _EdgeQuery] = {}
        """Queries at edges that are not scored yet; the next parts may have more of their rows."""

    def add(self, part: PartScores | RankgaugeError) -> None:
        """Add the next part, or the error for it."""
        if self.failed is not None:
            return
        if isinstance(part, RankgaugeError):
            self.failed = part
            return
        try:
            self._add(part)
        except InputError as error:
            self.failed = error

    def _add(self, part: PartScores) -> None:
        """Add the next part; InputError if it does not go with the part before."""
        number, self.count = self.count, self.count + 1
        if part.empty:
            return
        if self.outline is not None:
            check_neighbors(self.outline, part.outline)
        self.outline = part.outline
        self.dropped += part.dropped
        if part.first is not None:
            self._add_edge(3 * number, part.first)
        if part.middle is not None:
            place, end = np.array([3 * number + 1]), np.array([number])
            self.units.append(_ScoringBatch(part.middle, part.sizes, place, end, inside=True))
        if part.last is not None:
            self._add_edge(3 * number + 2, part.last)

    def _add_edge(self, place: int, rows: Piece) -> None:
        topic = rows.queries.ids()[0]
        if topic in self.edges:
            self.edges[topic].extend(place, rows)
            return
        held = sum(edge.size for edge in self.edges.values())
        if len(self.edges) >= MOST_EDGE_QUERIES or held >= MOST_EDGE_ROWS:
            self._score_edges()
        self.edges[topic] = _EdgeQuery(place, rows)

    def _score_edges(self) -> None:
        """Score the queries at edges, whose rows are then no longer held."""
        if not self.edges:
            return
        edges, self.edges = list(self.edges.values()), {}
        piece = Piece.joined([edge.rows for edge in edges])
        documents = piece.documents.ids()
        repeated = native.repeats(documents.data, documents.offsets, piece.bounds)
        order = np.argsort(piece.numbers < 0, kind="stable")  # the judged queries first
        self.units.append(
            _ScoringBatch(
                self.scorer.piece_scores(piece),
                np.diff(piece.bounds)[order].astype(np.int32),
                np.array([edge.place for edge in edges])[order],
                np.array([edge.end for edge in edges])[order],
                again=bool((repeated >= 0).any()),
            )
        )

    def outcome(self, executor: AnyExecutor | None) -> RunScores | RankgaugeError:
        """The scores of the run, or the first error."""
        if self.failed is not None:
            return self.failed
        try:
            return self.scores(executor)
        except InputError as error:
            return error

    def scores(self, executor: AnyExecutor | None) -> RunScores:
        """The scores of the run, of which all parts were added.

        The executor scores queries that are spread over the parts.
        """
        self._score_edges()
        if self.outline is None:
            raise empty_parts_error(self.source.path, self.count)
        if not self.units:
            raise no_shared_queries_error(place_of(self.source), Ids.of([]), self.scorer.judgments)
        topics = _QueryIndex(self.units, self.scorer.judgments.queries)
        pieces = [
            unit.scores
            for unit, own in zip(self.units, topics.of_unit, strict=True)
            if not topics.spread[own].any()
        ]
        tasks, self.units = self._tasks(topics), []
        for _, result in results_of(self.scorer, tasks, executor, attrgetter("label")):
            if isinstance(result, JoinedQueries):
                pieces.append(result.scores)
                self.dropped += result.dropped
            elif result.middle is not None:
                pieces.append(result.middle)
        return self.scorer.run_scores(
            self.source.label,
            place_of(self.source),
            topics.ordered(PieceScores.joined(pieces)),
            sum_dropped_rows(self.dropped),
        )

    def _tasks(self, topics: _QueryIndex) -> list[ScoringTask[PartScores | JoinedQueries]]:
        """The tasks for queries that are spread over the parts; none if there are no such queries.

        Some tasks join these queries. The others score again the parts that have such queries inside,
        without them: the notes on these parts count them too.
        """
        tasks: list[ScoringTask[PartScores | JoinedQueries]] = []
        for unit, own in zip(self.units, topics.of_unit, strict=True):
            spread = topics.spread[own]
            if unit.inside and spread.any() and not spread.all():
                number = int(unit.ends[0])
                tasks.append(PartTask(number, self.files[number], topics.ids(own[spread])))
        for group in topics.groups(MOST_ROWS):
            files = tuple((part, self.files[part]) for part in topics.parts_of(group))
            tasks.append(SplitQueriesTask(files, topics.ids(group)))
        return tasks


class _QueryIndex:
    """The queries of all units, each as a number.

    The judged queries come first, as in the judgments, then the others. A query that is in several units
    has several entries; entries are in the order of the run.

    `spread` says which queries must be read again: those in several units, and those at edges that were
    scored together with one of them, or with a query that has a document twice.
    """

    def __init__(self, units: Sequence[_ScoringBatch], judged: Ids) -> None:
        self.judged = judged
        strangers = Ids.joined([unit.scores.strangers for unit in units])
        numbers, firsts = native.number(strangers.data, strangers.offsets)
        self.strangers = strangers.take(firsts)
        ends = np.cumsum([len(unit.scores.strangers) for unit in units])
        strange = np.split(len(judged) + numbers, ends[:-1])
        self.of_unit = [
            np.concatenate((unit.scores.queries, own))
            for unit, own in zip(units, strange, strict=True)
        ]
        """The queries of each unit."""
        places = np.concatenate([_broadcast_to_queries(unit.places, unit.sizes) for unit in units])
        order = np.argsort(places, kind="stable")
        self.entries: Ints = np.concatenate(self.of_unit)[order]
        self.sizes = np.concatenate([unit.sizes for unit in units])[order]
        self.starts = places[order] // 3
        self.ends = np.concatenate(
            [_broadcast_to_queries(unit.ends, unit.sizes) for unit in units]
        )[order]
        self.spread: Bools = np.bincount(self.entries) > 1
        for unit, own in zip(units, self.of_unit, strict=True):
            if not unit.inside and (unit.again or self.spread[own].any()):
                self.spread[own] = True

    def ids(self, topics: Ints) -> Ids:
        """The ids of these queries."""
        strange = topics >= len(self.judged)
        ours, others = topics[~strange], topics[strange] - len(self.judged)
        return Ids.joined([self.judged.take(ours), self.strangers.take(others)])

    def queries_in_run_order(self) -> Ints:
        """All queries, in the order of the run."""
        topics, firsts = np.unique(self.entries, return_index=True)
        return np.asarray(topics[np.argsort(firsts)])

    def groups(self, most: int) -> list[Ints]:
        """The queries that are spread, in groups that have so many rows, and perhaps one query more."""
        topics = self.queries_in_run_order()
        topics = topics[self.spread[topics]]
        sizes = np.bincount(self.entries, self.sizes)[topics]
        group = (np.cumsum(sizes) - sizes) // most
        cuts = np.flatnonzero(group[1:] != group[:-1]) + 1
        return np.split(topics, cuts) if len(topics) else []

    def parts_of(self, topics: Ints) -> list[int]:
        """The numbers of the parts that have any of these queries."""
        wanted = np.zeros(len(self.spread), dtype=np.bool_)
        wanted[topics] = True
        entries = wanted[self.entries]
        ranges = set(zip(self.starts[entries].tolist(), self.ends[entries].tolist(), strict=True))
        return sorted({part for start, end in ranges for part in range(start, end + 1)})

    def ordered(self, piece: PieceScores) -> PieceScores:
        """The scores of all queries, with unjudged queries and documents in the order of the run."""
        topics = self.queries_in_run_order()
        place = np.empty(len(self.spread), dtype=np.int64)
        place[topics] = np.arange(len(topics))
        order = np.argsort(place[piece.document_queries], kind="stable")
        return replace(
            piece,
            strangers=self.strangers.take(topics[topics >= len(self.judged)] - len(self.judged)),
            documents=piece.documents.take(order),
            document_queries=piece.document_queries[order],
        )


def _broadcast_to_queries(values: Ints, sizes: Labels) -> Ints:
    """The value of each query, from its own or from one value for all."""
    return np.broadcast_to(values, len(sizes))
