"""Many runs, whole or in parts, to their scores: parts are scored one by one, and then joined.

A topic may be in several parts. A task scores each topic of its part as if no other part had it, and
sends the rows of the first and the last topic along. If a run was sorted by topic and then cut, only
these can be in two parts; they are joined as the parts come in. Any other topic of several parts is
found when all parts are there, and the parts that have it are read again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.arrays import Bools, Ints, Labels
from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.model import Ids
from rankgauge.data.parts import DroppedRows, Outline, RunParts, all_empty, check_neighbours, summed
from rankgauge.data.trec import RunFile
from rankgauge.evaluation.inputs import Source, place_of
from rankgauge.evaluation.mismatch import no_shared_topics
from rankgauge.evaluation.runs import PieceScores, RunScores, Scorer
from rankgauge.evaluation.tasks import (
    Edge,
    OnePart,
    PartScores,
    Result,
    Task,
    TopicScores,
    TopicsOfParts,
    WholeRun,
    Worker,
    task_label,
)
from rankgauge.native import ids as native
from rankgauge.rankings.alignment import located
from rankgauge.records import Record
from rankgauge.workers import outcomes, processors

if TYPE_CHECKING:
    from concurrent.futures import Executor

MOST_ROWS = 10_000_000
"""How many rows a task holds that joins topics of several parts; it may hold one topic more."""


def scored_runs(
    scorer: Scorer, sources: Sequence[Source], executor: Executor | None
) -> Iterator[tuple[Source, RunScores | RankgaugeError]]:
    """Each run with its scores, or with the error for it, in order.

    Each run is a task, and each part of a run in parts is a task. The executor gets all of them at once,
    so a single run of many parts keeps all workers busy.
    """
    tasks = [_tasks_of(source) for source in sources]
    flat = [task for own in tasks if not isinstance(own, InputError) for task in own]
    threads = 1 if executor is not None else max(1, processors() // max(1, len(flat)))
    worker = Worker(replace(scorer, threads=threads))
    results = (result for _, result in outcomes(worker, flat, executor, task_label))
    for source, own in zip(sources, tasks, strict=True):
        if isinstance(own, InputError):
            yield source, own
        elif isinstance(source, RunParts):
            parts = itertools.islice(results, len(own))
            files = [task.file for task in own if isinstance(task, OnePart)]
            run = _Joining(source, files, worker.scorer)
            yield source, _joined(run, parts, worker, executor)
        else:
            result = next(results)
            assert isinstance(result, RunScores | RankgaugeError)
            yield source, result


def _tasks_of(source: Source) -> Sequence[Task] | InputError:
    """The tasks for a run; the error if its parts cannot be listed."""
    if not isinstance(source, RunParts):
        return [WholeRun(source)]
    try:
        return [OnePart(number, file) for number, file in enumerate(source.files())]
    except InputError as error:
        return error


def _joined(
    run: _Joining,
    results: Iterator[Result | RankgaugeError],
    worker: Worker,
    executor: Executor | None,
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
    """Topics that were scored together: the topics inside a part, or one topic at the edge of parts.

    Parameters
    ----------
    scores
        Their scores.
    parts
        The numbers of the parts they are in.
    sizes
        How many rows each topic has, the judged topics before the others.
    inside
        Whether these are the topics inside a part.
    again
        Whether a document is there twice for a topic.
    """

    scores: PieceScores
    parts: range
    sizes: Labels
    inside: bool = False
    again: bool = False


class _Joining:
    """A run in parts, which are added in their order. Only the rows of one topic are held."""

    def __init__(self, source: RunParts, files: Sequence[RunFile], scorer: Scorer) -> None:
        self.source, self.files, self.scorer = source, files, scorer
        self.count = 0
        self.units: list[_Unit] = []
        self.dropped: list[DroppedRows] = []
        self.outline: Outline | None = None
        self.edges: list[tuple[int, Edge]] = []
        """The last topic so far: its rows in the last parts, each with the number of the part."""

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
            if self.edges and self.edges[-1][1].topic != part.first.topic:
                self._settle()
            self.edges.append((number, part.first))
        if part.middle is not None:
            self._settle()
            parts = range(number, number + 1)
            self.units.append(_Unit(part.middle, parts, part.sizes, inside=True))
        if part.last is not None:
            self._settle()
            self.edges.append((number, part.last))

    def _settle(self) -> None:
        """Score the last topic, whose rows are then no longer held."""
        if not self.edges:
            return
        parts = range(self.edges[0][0], self.edges[-1][0] + 1)
        edges = [edge for _, edge in self.edges]
        self.edges = []
        scores, again = edges[0].scores, False
        size = sum(len(edge.rows.scores) for edge in edges)
        if len(edges) > 1:
            rows = replace(
                edges[0].rows,
                bounds=np.array([0, size]),
                documents=Ids.joined([edge.rows.documents for edge in edges]),
                scores=np.concatenate([edge.rows.scores for edge in edges]),
            )
            repeated = native.repeats(rows.documents.data, rows.documents.offsets, rows.bounds)
            again = bool((repeated >= 0).any())
            if not again:
                scores = self.scorer.piece_scores(located(self.scorer.judgments, rows))
        self.units.append(_Unit(scores, parts, np.array([size], dtype=np.int32), again=again))

    def scores(self, worker: Worker, executor: Executor | None) -> RunScores:
        """The scores of the run, of which all parts were added."""
        self._settle()
        if self.outline is None:
            raise all_empty(self.source.path, self.count)
        if not self.units:
            raise no_shared_topics(place_of(self.source), Ids.of([]), self.scorer.judgments)
        topics = _Topics(self.units, self.scorer.judgments.queries)
        if not topics.spread.any():
            return self._run_scores(PieceScores.joined([unit.scores for unit in self.units]))
        pieces = [
            unit.scores
            for unit, own in zip(self.units, topics.each(), strict=True)
            if not topics.spread[own].any()
        ]
        tasks, self.units = self._tasks(topics), []
        for _, result in outcomes(worker, tasks, executor, task_label):
            if isinstance(result, RankgaugeError):
                raise result
            if isinstance(result, PartScores) and result.middle is not None:
                pieces.append(result.middle)
            elif isinstance(result, TopicScores):
                pieces.append(result.scores)
                self.dropped += result.dropped
        return self._run_scores(topics.ordered(PieceScores.joined(pieces)))

    def _run_scores(self, piece: PieceScores) -> RunScores:
        where = place_of(self.source)
        return self.scorer.run_scores(self.source.label, where, piece, summed(self.dropped))

    def _tasks(self, topics: _Topics) -> list[Task]:
        """The tasks for what is spread over the parts.

        Some join the topics that are spread. The others score again the parts that have such topics
        inside, without them: the notes on these parts count them too.
        """
        tasks: list[Task] = [
            OnePart(unit.parts.start, self.files[unit.parts.start], topics.ids(own[spread]))
            for unit, own in zip(self.units, topics.each(), strict=True)
            if unit.inside and (spread := topics.spread[own]).any()
        ]
        for group in topics.groups(MOST_ROWS):
            has = topics.units_with(group)
            parts = sorted({part for number in has for part in self.units[number].parts})
            files = tuple((part, self.files[part]) for part in parts)
            tasks.append(TopicsOfParts(files, topics.ids(group)))
        return tasks


class _Topics:
    """The topics of all units, each as a number: the judged ones first, as the judgments have them, then
    the others by their first appearance. `spread` says which are in several units, or have a document
    twice; these must be read again."""

    def __init__(self, units: Sequence[_Unit], judged: Ids) -> None:
        self.judged = judged
        strangers = Ids.joined([unit.scores.strangers for unit in units])
        numbers, firsts = native.number(strangers.data, strangers.offsets)
        self.strangers = strangers if len(firsts) == len(strangers) else strangers.take(firsts)
        ends = np.cumsum([len(unit.scores.strangers) for unit in units])
        strange = np.split(len(judged) + numbers, ends[:-1])
        each = [
            np.concatenate((unit.scores.queries, own))
            for unit, own in zip(units, strange, strict=True)
        ]
        self.numbers = np.concatenate(each)
        self.unit = np.repeat(np.arange(len(units)), [len(own) for own in each])
        self.sizes = np.concatenate([unit.sizes for unit in units])
        self.spread: Bools = np.bincount(self.numbers) > 1
        for unit, own in zip(units, each, strict=True):
            if unit.again:
                self.spread[own] = True

    def each(self) -> list[Ints]:
        """The topics of each unit."""
        count = int(self.unit[-1]) + 1
        return np.split(self.numbers, np.searchsorted(self.unit, np.arange(1, count)))

    def ids(self, numbers: Ints) -> Ids:
        """The ids of these topics."""
        strange = numbers >= len(self.judged)
        return Ids.joined(
            [
                self.judged.take(numbers[~strange]),
                self.strangers.take(numbers[strange] - len(self.judged)),
            ]
        )

    def by_appearance(self) -> Ints:
        """All topics, in the order of the run."""
        numbers, firsts = np.unique(self.numbers, return_index=True)
        return np.asarray(numbers[np.argsort(firsts)])

    def groups(self, most: int) -> list[Ints]:
        """The topics that are spread, in groups that have so many rows, and perhaps one topic more."""
        topics = self.by_appearance()
        topics = topics[self.spread[topics]]
        sizes = np.bincount(self.numbers, self.sizes)[topics]
        group = (np.cumsum(sizes) - sizes) // most
        return np.split(topics, np.flatnonzero(group[1:] != group[:-1]) + 1)

    def units_with(self, topics: Ints) -> list[int]:
        """The units that have any of these topics."""
        wanted = np.zeros(len(self.spread), dtype=np.bool_)
        wanted[topics] = True
        return sorted(set(self.unit[wanted[self.numbers]].tolist()))

    def ordered(self, piece: PieceScores) -> PieceScores:
        """The scores of all topics, with unjudged topics and documents in the order of the run."""
        place = np.empty(len(self.spread), dtype=np.int64)
        place[self.by_appearance()] = np.arange(np.count_nonzero(np.bincount(self.numbers)))
        order = np.argsort(place[piece.document_queries], kind="stable")
        return replace(
            piece,
            strangers=self.strangers,
            documents=piece.documents.take(order),
            document_queries=piece.document_queries[order],
        )
