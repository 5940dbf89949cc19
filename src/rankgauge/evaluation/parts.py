"""Many runs, whole or in parts, to their scores: parts are scored one by one, and then joined.

A topic may be in several parts. A task scores the topics inside its part as if no other part had them,
and sends back the rows of the first and the last topic. If a run was sorted by topic and then cut, only
these are in several parts; they are joined and scored as the parts come in. Any other topic of several
parts is found when all parts are there, and the parts that have it are read again.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.arrays import Bools, Ints, Labels
from rankgauge.core.records import Record
from rankgauge.data.model import Ids
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.evaluation.inputs import Source, place_of
from rankgauge.evaluation.runs import PieceScores, RunScores, Scorer
from rankgauge.evaluation.tasks import (
    JoinedTopics,
    OnePart,
    PartScores,
    ScoringTask,
    TaskResult,
    TopicsOfParts,
    WholeRun,
    Worker,
    task_label,
)
from rankgauge.io.diagnosis import no_shared_topics
from rankgauge.io.parts import DroppedRows, Outline, RunParts, all_empty, check_neighbours, summed
from rankgauge.io.scanning import Piece
from rankgauge.io.trec import RunFile
from rankgauge.native import ids as native
from rankgauge.workers import outcomes, processors

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor

MOST_ROWS = 10_000_000
"""How many rows a task holds that joins topics of several parts; it may hold one topic more."""

MOST_EDGES, MOST_EDGE_ROWS = 64, 1 << 17
"""How many topics at the edges of parts are held before they are scored, and how many of their rows."""


def scored_runs(
    scorer: Scorer,
    sources: Sequence[Source],
    executor: AnyExecutor | None,
    progress: Callable[[str], None] | None = None,
) -> Generator[RunScores | RankgaugeError]:
    """The scores of each run, or the error for it, in order.

    Each run is a task, and each part of a run in parts is a task. The executor gets all of them at once,
    so a single run of many parts keeps all workers busy. `progress` is called with the name of each task
    that is done.
    """
    tasks = [_tasks_of(source) for source in sources]
    flat = [task for own in tasks if not isinstance(own, InputError) for task in own]
    threads = 1 if executor is not None else max(1, processors() // max(1, len(flat)))
    worker = Worker.of(replace(scorer, threads=threads), executor)
    with _done(worker, flat, executor, progress) as results:
        for source, own in zip(sources, tasks, strict=True):
            if isinstance(own, InputError):
                yield own
            elif isinstance(source, RunParts):
                parts = itertools.islice(results, len(own))
                files = [task.file for task in own if isinstance(task, OnePart)]
                run = _Joining(source, files, worker.scorer)
                yield _joined(run, parts, worker, executor)
            else:
                result = next(results)
                assert isinstance(result, RunScores | RankgaugeError)
                yield result


def steps_of(sources: Iterable[object]) -> int:
    """How many tasks these runs are, as far as is known: how often `progress` is called."""
    return sum(len(_listed(source)) if isinstance(source, RunParts) else 1 for source in sources)


def _listed(source: RunParts) -> Sequence[RunFile]:
    try:
        return source.files()
    except InputError:
        return ()


@contextmanager
def _done(
    worker: Worker,
    tasks: Sequence[ScoringTask],
    executor: AnyExecutor | None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Iterator[TaskResult | RankgaugeError]]:
    """The results of tasks, in order. At the end all threads have ended, also if results are left."""
    results = outcomes(worker, tasks, executor, task_label)
    assert isinstance(results, Generator)
    with closing(results):
        yield _told(results, progress)


def _told(
    results: Iterator[tuple[ScoringTask, TaskResult | RankgaugeError]],
    progress: Callable[[str], None] | None,
) -> Iterator[TaskResult | RankgaugeError]:
    for task, result in results:
        if progress is not None:
            progress(task_label(task))
        yield result


def _tasks_of(source: Source) -> Sequence[ScoringTask] | InputError:
    """The tasks for a run; the error if its parts cannot be listed."""
    if not isinstance(source, RunParts):
        return [WholeRun(source)]
    try:
        return [OnePart(number, file) for number, file in enumerate(source.files())]
    except InputError as error:
        return error


def _joined(
    run: _Joining,
    results: Iterator[TaskResult | RankgaugeError],
    worker: Worker,
    executor: AnyExecutor | None,
) -> RunScores | RankgaugeError:
    """The scores of a run in parts, or the first error; all results are taken."""
    failed: RankgaugeError | None = None
    for result in results:
        if failed is None and isinstance(result, RankgaugeError):
            failed = result
        elif failed is None:
            assert isinstance(result, PartScores)
            try:
                run.add(result)
            except InputError as error:
                failed = error
    if failed is not None:
        return failed
    try:
        return run.scores(worker, executor)
    except InputError as error:
        return error


class _Unit(Record):
    """Topics that were scored together: the topics inside a part, or topics at the edges of parts.

    Parameters
    ----------
    scores
        Their scores.
    sizes
        How many rows each topic has, the judged topics before the others.
    places
        Where each topic begins: three times the number of a part, and 0, 1 or 2 for the first topic of
        the part, the topics inside it and the last one. One place stands for all topics.
    ends
        The number of the last part that has the rows of each topic. One number stands for all topics.
    inside
        Whether these are the topics inside a part.
    again
        Whether a document is there twice for one of the topics.
    """

    scores: PieceScores
    sizes: Labels
    places: Ints
    ends: Ints
    inside: bool = False
    again: bool = False


class _EdgeTopic:
    """A topic at the edge of parts: its rows in each of these parts."""

    def __init__(self, place: int, rows: Piece) -> None:
        self.place, self.end, self.rows, self.size = place, place // 3, [rows], len(rows.scores)

    def extend(self, place: int, rows: Piece) -> None:
        """Add its rows in a later part."""
        self.end = place // 3
        self.rows.append(rows)
        self.size += len(rows.scores)


class _Joining:
    """A run in parts, which are added in their order. Only the rows of some topics are held."""

    def __init__(self, source: RunParts, files: Sequence[RunFile], scorer: Scorer) -> None:
        self.source, self.files, self.scorer = source, files, scorer
        self.count = 0
        self.units: list[_Unit] = []
        self.dropped: list[DroppedRows] = []
        self.outline: Outline | None = None
        self.edges: dict[bytes, _EdgeTopic] = {}
        """Topics at edges that are not scored yet; the next parts may have more of their rows."""

    def add(self, part: PartScores) -> None:
        """Add the next part; InputError if it does not go with the part before."""
        number, self.count = self.count, self.count + 1
        if part.empty:
            return
        if self.outline is not None:
            check_neighbours(self.outline, part.outline)
        self.outline = part.outline
        self.dropped += part.dropped
        if part.first is not None:
            self._add_edge(3 * number, part.first)
        if part.middle is not None:
            place, end = np.array([3 * number + 1]), np.array([number])
            self.units.append(_Unit(part.middle, part.sizes, place, end, inside=True))
        if part.last is not None:
            self._add_edge(3 * number + 2, part.last)

    def _add_edge(self, place: int, rows: Piece) -> None:
        topic = rows.queries.ids()[0]
        if topic in self.edges:
            self.edges[topic].extend(place, rows)
            return
        held = sum(edge.size for edge in self.edges.values())
        if len(self.edges) >= MOST_EDGES or held >= MOST_EDGE_ROWS:
            self._score_edges()
        self.edges[topic] = _EdgeTopic(place, rows)

    def _score_edges(self) -> None:
        """Score the topics at edges, whose rows are then no longer held."""
        if not self.edges:
            return
        edges, self.edges = list(self.edges.values()), {}
        piece = Piece.joined([edge.rows for edge in edges])
        documents = piece.documents.ids()
        repeated = native.repeats(documents.data, documents.offsets, piece.bounds)
        order = np.argsort(piece.numbers < 0, kind="stable")  # the judged topics first
        self.units.append(
            _Unit(
                self.scorer.piece_scores(piece),
                np.diff(piece.bounds)[order].astype(np.int32),
                np.array([edge.place for edge in edges])[order],
                np.array([edge.end for edge in edges])[order],
                again=bool((repeated >= 0).any()),
            )
        )

    def scores(self, worker: Worker, executor: AnyExecutor | None) -> RunScores:
        """The scores of the run, of which all parts were added."""
        self._score_edges()
        if self.outline is None:
            raise all_empty(self.source.path, self.count)
        if not self.units:
            raise no_shared_topics(place_of(self.source), Ids.of([]), self.scorer.judgments)
        topics = _Topics(self.units, self.scorer.judgments.queries)
        pieces = [
            unit.scores
            for unit, own in zip(self.units, topics.of_unit, strict=True)
            if not topics.spread[own].any()
        ]
        tasks, self.units = self._tasks(topics), []
        with _done(worker, tasks, executor) as results:
            for result in results:
                if isinstance(result, RankgaugeError):
                    raise result
                if isinstance(result, PartScores) and result.middle is not None:
                    pieces.append(result.middle)
                elif isinstance(result, JoinedTopics):
                    pieces.append(result.scores)
                    self.dropped += result.dropped
        return self.scorer.run_scores(
            self.source.label,
            place_of(self.source),
            topics.ordered(PieceScores.joined(pieces)),
            summed(self.dropped),
        )

    def _tasks(self, topics: _Topics) -> list[ScoringTask]:
        """The tasks for topics that are spread over the parts; none if there are no such topics.

        Some tasks join these topics. The others score again the parts that have such topics inside,
        without them: the notes on these parts count them too.
        """
        tasks: list[ScoringTask] = []
        for unit, own in zip(self.units, topics.of_unit, strict=True):
            spread = topics.spread[own]
            if unit.inside and spread.any() and not spread.all():
                number = int(unit.ends[0])
                tasks.append(OnePart(number, self.files[number], topics.ids(own[spread])))
        for group in topics.groups(MOST_ROWS):
            files = tuple((part, self.files[part]) for part in topics.parts_of(group))
            tasks.append(TopicsOfParts(files, topics.ids(group)))
        return tasks


class _Topics:
    """The topics of all units, each as a number: the judged topics first, as in the judgments, then the
    others. A topic that is in several units has several entries; entries are in the order of the run.

    `spread` says which topics must be read again: those in several units, and those at edges that were
    scored together with one of them, or with a topic that has a document twice.
    """

    def __init__(self, units: Sequence[_Unit], judged: Ids) -> None:
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
        """The topics of each unit."""
        places = np.concatenate([_for_all(unit.places, unit.sizes) for unit in units])
        order = np.argsort(places, kind="stable")
        self.entries: Ints = np.concatenate(self.of_unit)[order]
        self.sizes = np.concatenate([unit.sizes for unit in units])[order]
        self.starts = places[order] // 3
        self.ends = np.concatenate([_for_all(unit.ends, unit.sizes) for unit in units])[order]
        self.spread: Bools = np.bincount(self.entries) > 1
        for unit, own in zip(units, self.of_unit, strict=True):
            if not unit.inside and (unit.again or self.spread[own].any()):
                self.spread[own] = True

    def ids(self, topics: Ints) -> Ids:
        """The ids of these topics."""
        strange = topics >= len(self.judged)
        ours, others = topics[~strange], topics[strange] - len(self.judged)
        return Ids.joined([self.judged.take(ours), self.strangers.take(others)])

    def by_appearance(self) -> Ints:
        """All topics, in the order of the run."""
        topics, firsts = np.unique(self.entries, return_index=True)
        return np.asarray(topics[np.argsort(firsts)])

    def groups(self, most: int) -> list[Ints]:
        """The topics that are spread, in groups that have so many rows, and perhaps one topic more."""
        topics = self.by_appearance()
        topics = topics[self.spread[topics]]
        sizes = np.bincount(self.entries, self.sizes)[topics]
        group = (np.cumsum(sizes) - sizes) // most
        cuts = np.flatnonzero(group[1:] != group[:-1]) + 1
        return np.split(topics, cuts) if len(topics) else []

    def parts_of(self, topics: Ints) -> list[int]:
        """The numbers of the parts that have any of these topics."""
        wanted = np.zeros(len(self.spread), dtype=np.bool_)
        wanted[topics] = True
        entries = wanted[self.entries]
        ranges = set(zip(self.starts[entries].tolist(), self.ends[entries].tolist(), strict=True))
        return sorted({part for start, end in ranges for part in range(start, end + 1)})

    def ordered(self, piece: PieceScores) -> PieceScores:
        """The scores of all topics, with unjudged topics and documents in the order of the run."""
        topics = self.by_appearance()
        place = np.empty(len(self.spread), dtype=np.int64)
        place[topics] = np.arange(len(topics))
        order = np.argsort(place[piece.document_queries], kind="stable")
        return replace(
            piece,
            strangers=self.strangers.take(topics[topics >= len(self.judged)] - len(self.judged)),
            documents=piece.documents.take(order),
            document_queries=piece.document_queries[order],
        )


def _for_all(values: Ints, sizes: Labels) -> Ints:
    """The value of each topic, from its own or from one value for all."""
    return np.broadcast_to(values, len(sizes))
