"""Distances of whole runs: query by query, for two or many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankgauge.arrays import Floats, Labels
from rankgauge.checks import Whole, checked, one_of
from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.model import Judgments, decode
from rankgauge.distance.maximized import (
    Distance,
    asked_measure,
    checked_grades,
    checked_offlist,
    distance_of,
    med_of_lists,
)
from rankgauge.evaluation.inputs import Qrels, Runs, Source, judgments_of, label, sources_of
from rankgauge.measures.base import Measure
from rankgauge.measures.distances.lists import Lists
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import DEFAULT_OFFLIST, DEFAULT_ORDERED, Offlist, Ordered
from rankgauge.rankings.alignment import rank_order
from rankgauge.rankings.lists import JudgedLabels, offsets_of
from rankgauge.results import Result
from rankgauge.tables import Table
from rankgauge.workers import outcomes

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from matplotlib.figure import Figure


def med(
    measure: Measure | str,
    a: Any,
    b: Any,
    labels: Any = None,
    *,
    grades: Iterable[int] | None = None,
    offlist: Offlist = DEFAULT_OFFLIST,
    max_grade: int | None = None,
    executor: Executor | None = None,
) -> Distance | Distances:
    """How far apart a measure can put two rankings, whatever the judgements of unjudged documents are.

    Two lists of document ids, best first, and a dict of the labels that are known give a `Distance`.
    Two runs (a Run, a dict, a data frame, a file), with judgments as `evaluate` takes them or without,
    give `Distances`: one for each query. `grades` are the labels that unjudged documents may take, by
    default 0 and the highest known one, at least 1. offlist="allowed" lets documents in neither list
    be relevant too; of the measures with a way of their own that matters for Rprec and Q alone. A
    cut-off cuts both lists; without one they are taken to end where they end, only that RBP adds what
    the ranks beyond may hold.

    >>> distance = med("AP@10", ["a", "b", "c"], ["c", "a", "d"], {"a": 1, "b": 0})
    >>> distance.value, distance.exact, distance.ahead
    (0.5, True, 'a')
    >>> distance.witness().labels
    {'c': 0, 'd': 0}
    """
    a, b = (one.tolist() if isinstance(one, np.ndarray) else one for one in (a, b))
    if _is_list(a) and _is_list(b):
        return med_of_lists(
            measure, a, b, labels, grades=grades, offlist=offlist, max_grade=max_grade
        )
    if _is_list(a) or _is_list(b):
        raise RankgaugeError("a list and a run, expected two lists of documents or two runs")
    runs = [*_sources(a, "a"), *_sources(b, "b")]
    if len(runs) != 2:
        raise RankgaugeError(f"{len(runs)} runs, expected two; `med_matrix` takes many")
    return med_matrix(
        measure,
        runs,
        labels,
        grades=grades,
        offlist=offlist,
        max_grade=max_grade,
        executor=executor,
    )


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and not any(
        isinstance(document, Mapping) or callable(document) for document in value
    )


def _sources(run: Any, name: str) -> list[Source]:
    """The run; a dict of queries gets a name, all else has one."""
    return sources_of({name: run} if isinstance(run, Mapping) and run else [run])


class Listed(NamedTuple):
    """A document of two runs: its rank in each, None where a run lacks it down to the cut-off, and its
    label, None where it is not judged."""

    document: str
    rank_a: int | None
    rank_b: int | None
    label: int | None


@dataclass(frozen=True, eq=False, repr=False)
class Distances(Result):
    """How far apart runs can be: pair × query, the pairs in the order of `pairs`.

    `numpy.asarray` gives the values. Where the values are not `exact` they are lower bounds, and
    `upper` says how large they can be.
    """

    measure: Measure
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    exact: bool
    upper: Floats
    notes: tuple[Note, ...]
    _topics: tuple[Topic, ...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype, copy=copy)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The runs of each pair, by number."""
        first, second = np.triu_indices(len(self.runs), 1)
        return list(zip(first.tolist(), second.tolist(), strict=True))

    def mean(self) -> float:
        """The mean over queries, and pairs where there are several."""
        return float(self.values.mean()) if self.values.size else float("nan")

    def matrix(self) -> Floats:
        """Run × run: the mean over queries."""
        square = np.zeros((len(self.runs), len(self.runs)))
        mean = self.values.mean(axis=1) if self.queries else np.full(len(self.pairs), np.nan)
        for (a, b), value in zip(self.pairs, mean.tolist(), strict=True):
            square[a, b] = square[b, a] = value
        return square

    def order(self) -> list[int]:
        """The runs in an order that puts near ones together: the leaves of an average-link tree."""
        from rankgauge.figures.drawing import near_together

        return near_together(np.nan_to_num(self.matrix()))

    def per_query(self) -> dict[str, float]:
        """For each query the distance, its mean over pairs where there are several."""
        return dict(zip(self.queries, self.values.mean(axis=0).tolist(), strict=True))

    def distance(self, query: str, a: int | str = 0, b: int | str = 1) -> Distance:
        """The distance of two runs, by number or name, on one query, with its witness."""
        topic = self._topic(query)
        return distance_of(self.measure, topic.lists, self._number(a), self._number(b), topic.names)

    def documents(self, query: str, a: int | str = 0, b: int | str = 1) -> list[Listed]:
        """The documents of two runs on one query, those of the first in order, then the others."""
        topic = self._topic(query)
        pair = topic.lists.pair(self._number(a), self._number(b))
        listed = [
            Listed(
                topic.names[document],
                first or None,
                second or None,
                None if known < 0 else known,
            )
            for document, first, second, known in zip(
                *(column.tolist() for column in pair), strict=True
            )
        ]
        return sorted(listed, key=lambda d: (d.rank_a is None, d.rank_a or d.rank_b or 0))

    def _topic(self, query: str) -> Topic:
        if query not in self.queries:
            raise RankgaugeError(f"no distance for query {query!r}; `.queries` lists them")
        return self._topics[self.queries.index(query)]

    def _number(self, run: int | str) -> int:
        if isinstance(run, int) and 0 <= run < len(self.runs):
            return run
        if run not in self.runs:
            raise RankgaugeError(f"no run {run!r}; `.runs` lists them")
        return self.runs.index(str(run))

    def table(self) -> Table:
        """A row a pair, or for many runs the matrix of means, near runs together."""
        notes = [] if self.exact else [Note("lower bounds, not all exact")]
        name = str(self.measure)
        if len(self.runs) == 2:
            mean = self.values.mean(axis=1).tolist()
            rows = [
                (self.runs[a], self.runs[b], len(self.queries), value)
                for (a, b), value in zip(self.pairs, mean, strict=True)
            ]
            return Table(("a", "b", "topics", name), tuple(rows), worded(notes))
        order, square = self.order(), self.matrix()
        names = tuple(self.runs[i] for i in order)
        return Table(
            ("run", *names),
            tuple((self.runs[i], *square[i, order].tolist()) for i in order),
            worded([Note(f"mean distance by {name} over {len(self.queries)} topics"), *notes]),
        )

    def to_polars(self) -> Any:
        """A polars data frame, a row for each pair of runs and query: a, b, query, distance, upper."""
        import polars

        pairs, queries = len(self.pairs), len(self.queries)
        first, second = (
            [self.runs[pair[side]] for pair in self.pairs for _ in range(queries)]
            for side in (0, 1)
        )
        columns = {"a": first, "b": second, "query": list(self.queries) * pairs}
        values = {"distance": self.values.ravel(), "upper": self.upper.ravel()}
        return polars.DataFrame({**columns, **values})

    def query_table(self, top: int | None = None) -> Table:
        """A row a query, of many runs their mean; the `top` ones with the greatest distance."""
        values = list(self.per_query().items())
        if top is not None:
            values = sorted(values, key=lambda item: -item[1])[:top]
        return Table(("topic", str(self.measure)), tuple(values))

    def figure(self, order: Sequence[int] | None = None) -> Figure:
        """The mean distances of all pairs of runs as a square of colours; the darker, the nearer.

        `order` has the runs by number, by default as `order()` puts them; up to 40 of them are named.

        >>> runs = {"a": {"q": {"x": 1.0}}, "b": {"q": {"x": 1.0}}, "c": {"q": {"y": 1.0}}}
        >>> figure = med_matrix("P@1", runs).figure([0, 1, 2])
        >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
        ['a', 'b', 'c']
        """
        from rankgauge.figures.distances import distance_map

        places = list(self.order() if order is None else order)
        topics = counted(len(self.queries), "topic")
        return distance_map(
            self.matrix()[np.ix_(places, places)],
            [self.runs[place] for place in places],
            about=f"{self.measure}, {len(places)} runs, {topics}",
            exact=self.exact,
        )

    def _title(self) -> str:
        kind = "exact" if self.exact else "lower bound"
        return (
            f"Distances {self.measure}: {len(self.runs)} runs, {counted(len(self.queries), 'topic')}, "
            f"mean {self.mean():.4f} ({kind})"
        )

    def __repr__(self) -> str:
        return self._title()


def med_matrix(
    measure: Measure | str,
    runs: Runs,
    qrels: Qrels | None = None,
    *,
    grades: Iterable[int] | None = None,
    offlist: Offlist = DEFAULT_OFFLIST,
    max_grade: int | None = None,
    ties: Ordered = DEFAULT_ORDERED,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
) -> Distances:
    """The distances of all pairs of runs, on every judged query, or without judgments on every query
    that a run has. What a run lacks is an empty list.

    `executor` does the work, query by query; by default threads. `progress` is called with each query
    done.
    """
    asked = asked_measure(measure)
    topics = topics_of(
        asked,
        runs,
        qrels,
        grades=grades,
        offlist=offlist,
        max_grade=max_grade,
        ties=ties,
        executor=executor,
    )
    found, upper, exact = [], [], True
    work = _Work(asked)
    for topic, result in outcomes(work, topics.topics, executor, attrgetter("query")):
        if isinstance(result, RankgaugeError):
            raise result
        values, limit, is_exact = result
        found.append(values)
        upper.append(limit)
        exact = exact and is_exact
        if progress is not None:
            progress(topic.query)
    count = len(topics.runs) * (len(topics.runs) - 1) // 2
    return Distances(
        asked,
        topics.runs,
        tuple(topic.query for topic in topics.topics),
        np.array(found).reshape(len(found), count).T,
        exact,
        np.array(upper).reshape(len(found), count).T,
        topics.notes(),
        topics.topics,
    )


def topics_of(
    measure: Measure,
    runs: Runs,
    qrels: Qrels | None,
    *,
    grades: Iterable[int] | None,
    offlist: Offlist,
    max_grade: int | None,
    ties: Ordered,
    executor: Executor | None,
) -> Topics:
    """The lists of at least two runs, query by query, as the measure asks for them.

    measure: its cut-off cuts the lists.
    runs, qrels: as `evaluate` takes them; without judgments, the queries are those of the runs.
    grades: the labels that unjudged documents may take; by default 0 and the highest known one.
    offlist: whether documents in none of the lists may be relevant too.
    max_grade: the highest label there can be; by default the highest known one.
    ties: the order of documents with equal scores.
    executor: reads the runs; by default threads.
    """
    checked("ties", ties, one_of(Ordered))
    if isinstance(qrels, Mapping) and not all(isinstance(q, Mapping) for q in qrels.values()):
        raise RankgaugeError("labels of documents, expected {query: {document: grade}} for runs")
    judgments = Judgments.from_dict({}) if qrels is None else judgments_of(qrels)
    sources = sources_of(runs)
    highest = int(judgments.grades.max(initial=0))
    if max_grade is not None and Whole(1).check(max_grade) < highest:
        raise MeasureError(f"max_grade={max_grade}, but the judgments have a grade {highest}")
    topics = _topics(
        judgments,
        sources,
        measure.depth,
        checked_grades(grades, judgments.grades.tolist()),
        checked_offlist(offlist),
        max_grade,
        ties,
        every=qrels is None,
        executor=executor,
    )
    if len(topics.runs) < 2:
        raise RankgaugeError(
            f"{counted(len(topics.runs), 'run')}, expected at least two to hold against each other"
        )
    return topics


@dataclass(frozen=True)
class _Work:
    """The distances of all pairs of lists of a query; it can be sent to another process."""

    measure: Measure

    def __call__(self, topic: Topic) -> tuple[Floats, Floats, bool]:
        first, second = np.triu_indices(len(topic.lists), 1)
        found = self.measure.distance_each(
            topic.lists, first.astype(np.int64), second.astype(np.int64)
        )
        values = np.maximum(found.ahead.max(axis=1, initial=0.0), 0.0)
        upper = np.where(found.exact, values, np.maximum(values, found.limit))
        return values, upper, bool(found.exact.all())


class Topic(NamedTuple):
    """A query, the lists of all runs for it, and the names of their documents."""

    query: str
    lists: Lists
    names: list[str]


class Topics(NamedTuple):
    """The lists of all runs, query by query, and how many queries each run has that are not judged."""

    runs: tuple[str, ...]
    topics: tuple[Topic, ...]
    unknown: tuple[int, ...]

    def notes(self) -> tuple[Note, ...]:
        """Which runs lack topics, or have others than those that are judged."""
        notes = []
        for i, (run, unknown) in enumerate(zip(self.runs, self.unknown, strict=True)):
            lacking = sum(len(topic.lists.list(i)) == 0 for topic in self.topics)
            if lacking:
                kind = "{topics} missing, taken as empty lists"
                notes.append(Note(kind, run=run, count=lacking))
            if unknown:
                kind = "topics without judgements, left out: {count}"
                notes.append(Note(kind, run=run, count=unknown))
        return tuple(notes)


@dataclass(frozen=True)
class _Tops:
    """Reads a run, and keeps the first documents of each query."""

    depth: int | None
    ties: Ordered

    def __call__(self, source: Source) -> tuple[str, dict[bytes, list[bytes]]]:
        run = source()
        nothing = np.full(len(run.scores), -1, dtype=np.int32)
        order, _, _ = rank_order(run, nothing, self.ties, 0, run.precision)
        tops = {}
        for query, (start, end) in zip(
            run.queries,
            zip(run.bounds[:-1].tolist(), run.bounds[1:].tolist(), strict=True),
            strict=True,
        ):
            last = end if self.depth is None else min(end, start + self.depth)
            tops[query] = list(run.documents.take(order[start:last]))
        return run.name, tops


def _topics(
    judgments: Judgments,
    sources: Sequence[Source],
    depth: int | None,
    grades: Labels,
    offlist: bool,
    max_grade: int | None,
    ties: Ordered,
    *,
    every: bool,
    executor: Executor | None,
) -> Topics:
    """The lists of all runs, query by query."""
    names, tops = [], []
    for _, result in outcomes(_Tops(depth, ties), sources, executor, label):
        if isinstance(result, RankgaugeError):
            raise result
        names.append(result[0])
        tops.append(result[1])
    queries = list(judgments.queries)
    if every:
        queries = list(dict.fromkeys(query for one in tops for query in one))
    highest = max(int(grades[-1]), int(judgments.grades.max(initial=0)), max_grade or 0, 1)
    position = {query: row for row, query in enumerate(judgments.queries)}
    topics = []
    for query in queries:
        known: dict[bytes, int] = {}
        if query in position:
            rows = slice(*judgments.bounds[position[query] : position[query] + 2].tolist())
            judged = judgments.documents.take(np.arange(rows.start, rows.stop))
            known = dict(zip(judged, judgments.grades[rows].tolist(), strict=True))
        topics.append(
            _topic(query, [one.get(query, []) for one in tops], known, grades, offlist, highest)
        )
    wanted = set(queries)
    unknown = tuple(len(one.keys() - wanted) for one in tops)
    return Topics(tuple(names), tuple(topics), unknown)


def _topic(
    query: bytes,
    rankings: Sequence[Sequence[bytes]],
    known: Mapping[bytes, int],
    grades: Labels,
    offlist: bool,
    highest: int,
) -> Topic:
    numbers: dict[bytes, int] = {}
    documents = [
        numbers.setdefault(document, len(numbers)) for ranking in rankings for document in ranking
    ]
    lists = Lists(
        np.array(documents, dtype=np.int32),
        offsets_of([len(ranking) for ranking in rankings]),
        np.array([max(known.get(document, -1), -1) for document in numbers], dtype=np.int32),
        JudgedLabels.of([grade for grade in known.values() if grade >= 0], max_grade=highest),
        grades,
        offlist,
    )
    return Topic(decode(query), lists, [decode(document) for document in numbers])
