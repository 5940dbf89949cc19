"""The distances of two runs by several measures, as tables, beside the difference of their scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.tables import Cell, Table
from rankgauge.data.model import Run
from rankgauge.distance.maximized import TRACE_COLUMNS, grades_text
from rankgauge.distance.runs import Distances
from rankgauge.measures.around import innermost
from rankgauge.measures.base import Measure
from rankgauge.scores.model import Scores

SLOW_MEASURES = ("AP", "bpref", "infAP", "GAP", "Q")
"""Measures whose distances take more than quadratic time in the length of the lists."""

LONG_LIST = 500
"""Number of documents per query from which such a measure is slow without a cutoff."""


def time_notes(measures: Sequence[Measure], runs: Sequence[Run]) -> list[Note]:
    """A note for each measure that will take long, for before the work starts."""
    longest = max(int(np.diff(run.bounds).max(initial=0)) for run in runs)
    if longest < LONG_LIST:
        return []
    kind = (
        f"this will take a long time: up to {longest:,} documents per query and no cutoff; a "
        "cutoff helps"
    )
    return [
        Note(kind, measure=str(measure), detail=f"such as {innermost(measure).name}@100")
        for measure in measures
        if measure.depth is None and innermost(measure).name in SLOW_MEASURES
    ]


class RunPairDistances(Record):
    """The distances of two runs by each measure, and their scores by the same measures.

    Without judgments there are no scores.
    """

    measured: tuple[Distances, ...]
    scores: Scores | None = None

    def table(self) -> Table:
        """A row for each measure."""
        rows: list[tuple[Cell, ...]] = []
        for number, distances in enumerate(self.measured):
            first: tuple[Cell, ...] = (str(distances.measure), len(distances.queries))
            rows.append((*first, distances.mean(), *self._mean_columns(number)))
        return self._table(("measure", "topics", "distance"), rows)

    def query_table(self, top: int | None = None) -> Table:
        """Return a table with a row for each measure and query, and the means.

        With `top`, it has only the `top` queries with the greatest distance, and no means.
        """
        rows: list[tuple[Cell, ...]] = []
        for number, distances in enumerate(self.measured):
            name = str(distances.measure)
            for topic in _select_queries(distances, top):
                query = distances.queries[topic]
                distance = distances.distance(query)
                free = sum(listed.label is None for listed in distances.documents(query))
                row: list[Cell] = [name, query, free, distance.ahead, distance.value]
                row += [_yes_or_no(distance.exact), grades_text(distance.grades)]
                row += [] if self._exact else [distance.upper]
                if self.scores is not None:
                    a, b = self.scores.values[:, topic, number].tolist()
                    row.append(a - b)
                rows.append(tuple(row))
            if top is None:
                mean = (name, "all", None, None, distances.mean())
                rows.append((*mean, *self._mean_columns(number)))
        return self._table(("measure", "topic", "free", "ahead", "distance"), rows)

    def witness_table(self, top: int | None = None) -> Table:
        """A row for each measure, query and unjudged document, with a label that gives the distance."""
        rows: list[tuple[Cell, ...]] = []
        notes = list(self._names)
        for distances in self.measured:
            name = str(distances.measure)
            for topic in _select_queries(distances, top):
                query = distances.queries[topic]
                labels, others, _ = distances.distance(query).witness()
                for document, a, b, known in distances.documents(query):
                    if known is None:
                        rows.append((name, query, document, labels[document], a, b))
                if others:
                    count = count_phrase(others, "document")
                    notes.append(
                        f"{name}, query {query}: {count} that neither run retrieved "
                        f"{'counts' if others == 1 else 'count'} as relevant too"
                    )
        columns = ("measure", "topic", "document", "label", "rank a", "rank b")
        return Table(columns, tuple(rows), tuple(notes))

    def trace_table(self, top: int | None = None) -> Table:
        """A row for each measure, query and step of Algorithm 1."""
        rows: list[tuple[Cell, ...]] = []
        notes: dict[str, None] = dict.fromkeys(self._names)
        for distances in self.measured:
            for topic in _select_queries(distances, top, free=True):
                query = distances.queries[topic]
                trace = distances.distance(query, trace=True).trace
                assert trace is not None
                rows += [(str(distances.measure), query, *row) for row in trace.table().rows]
                notes |= dict.fromkeys(note_texts(about for about in trace.notes if about.column))
        return Table(("measure", "topic", *TRACE_COLUMNS), tuple(rows), tuple(notes))

    @property
    def _exact(self) -> bool:
        return all(distances.exact for distances in self.measured)

    @property
    def _names(self) -> tuple[str, ...]:
        a, b = self.measured[0].runs
        return (f"a is {a}, b is {b}",)

    def _mean_columns(self, number: int) -> tuple[Cell, ...]:
        """What a row of means has behind the distance."""
        distances = self.measured[number]
        row: list[Cell] = [_yes_or_no(distances.exact), grades_text(distances.grades)]
        if not self._exact:
            row.append(float(distances.upper.mean()) if distances.upper.size else float("nan"))
        if self.scores is not None:
            name = str(self.scores.measures[number])
            a, b = self.scores.mean().values()
            row.append(a[name] - b[name])
        return tuple(row)

    def _table(self, columns: Sequence[str], rows: Sequence[tuple[Cell, ...]]) -> Table:
        at_most = () if self._exact else ("at most",)
        difference = () if self.scores is None else ("difference",)
        every = (*columns, "exact", "grades", *at_most, *difference)
        return Table(every, tuple(rows), self._names)


def _select_queries(distances: Distances, top: int | None, *, free: bool = False) -> list[int]:
    """The queries by number: all in order, or those with the greatest distance.

    With `free`, only queries with unjudged documents.
    """
    topics = list(range(len(distances.queries)))
    if free:
        topics = [
            topic
            for topic in topics
            if any(one.label is None for one in distances.documents(distances.queries[topic]))
        ]
    if top is None:
        return topics
    return sorted(topics, key=lambda topic: -distances.values[0, topic])[:top]


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
