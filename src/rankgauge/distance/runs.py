"""Distances of whole runs, query by query, for two runs or many."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from functools import cached_property
from numbers import Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np

from rankgauge.core.arrays import Floats, Labels
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import (
    DEFAULT_MED_METHOD,
    DEFAULT_NEGATIVE,
    DEFAULT_OFFLIST,
    DEFAULT_ORDERED,
    DEFAULT_PRECISION,
    MedMethod,
    Negative,
    Offlist,
    Ordered,
    Progress,
)
from rankgauge.core.records import Record, Value
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.data.model import Judgments, decode
from rankgauge.distance.algorithms.lists import ListPairs, Lists
from rankgauge.distance.maximized import (
    Distance,
    Grades,
    check_grades,
    check_offlist,
    distance_of,
    grades_to_try,
    greatest_differences,
    med_of_lists,
    number_documents,
    parse_distance_measure,
)
from rankgauge.distance.old_order import accepts_old_order
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.evaluation.calls import checked_call, describe, right_form
from rankgauge.evaluation.inputs import (
    Qrels,
    Runs,
    Source,
    judgments_of,
    label,
    sources_of,
)
from rankgauge.measures.base import Measure
from rankgauge.measures.labeling import negative_grade_notes
from rankgauge.rankings.alignment import rank_order
from rankgauge.workers import AnyExecutor, results_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

R = TypeVar("R")

MED = 'med(["d1", "d2"], ["d2", "d3"], "AP@10"), or med(run, other, "AP@10", qrels)'
"""How `med` is called."""


@accepts_old_order("measure", "a", "b", "labels")
@checked_call(MED)
def med(
    a: Any,
    b: Any,
    measure: Measure | str,
    labels: Any = None,
    *,
    grades: Grades | None = None,
    offlist: Offlist = DEFAULT_OFFLIST,
    max_grade: int | None = None,
    negative: Negative = DEFAULT_NEGATIVE,
    method: MedMethod = DEFAULT_MED_METHOD,
    trace: bool = False,
    executor: AnyExecutor | None = None,
) -> Distance | Distances:
    """Compute the maximized effectiveness distance (MED) of two rankings.

    The distance is the largest difference that the scores of the two rankings can have, over all labels
    of the unjudged documents. Two lists of document ids give a `Distance`, and two runs give
    `Distances`, one per query.

    If the measure has a cutoff, both lists are truncated there. Without a cutoff, nothing is assumed
    beyond the end of a list, except for RBP and INSQ, which add the most that the remaining ranks could
    contribute. If the result's `exact` is True, no judgments with these grades can make the difference
    larger.

    Parameters
    ----------
    a : list of document ids, or a run
        A list, with the best document first. Or a run: a Run, a dict, a data frame or a file.
    b : list of document ids, or a run
        The other ranking, of the same kind as `a`.
    measure : Measure or str
        The measure, as an object or a name, such as "AP@10".
    labels : dict or judgments, optional
        The known labels. For lists, a dict of the labels of documents. For runs, judgments in any form
        that `evaluate` takes. By default, no document is judged.
    grades : iterable of int or "max", optional
        The labels that unjudged documents may get. `(0, "max")` restricts unjudged documents to two
        labels, 0 or the highest. By default, every whole number from 0 to `max_grade`; if `max_grade` is
        above 100, only 0 and the known labels.
    offlist : {"allowed", "none"}, default "allowed"
        Whether documents in neither ranking may be relevant. "allowed": any number of them may be.
        "none": documents in neither ranking are not relevant. The choice affects only Rprec, Q, and
        measures without a distance algorithm of their own; of these, only Rprec and Q are exact with
        "allowed".
    max_grade : int, optional
        The highest possible label. By default, the highest label in `grades` or `labels`, or the highest
        grade of the collection if the judgments record it, as those of `pool` do.
    negative : {"unjudged", "nonrelevant"}, default "unjudged"
        How to treat documents with a negative label. "unjudged": they may get any label. "nonrelevant":
        they are judged and not relevant, like the junk (-2) of TREC's Web tracks.
    method : {"exact", "greedy", "tabu"}, default "exact"
        How to search for the largest difference. "greedy" and "tabu" are heuristics from the literature
        that give lower bounds. "greedy" is Algorithm 1 of Moffat (2017), with the weights of Equation 13
        for AP. "tabu" is tabu search, as in Tan and Clarke (2015).
    trace : bool, default False
        For lists, whether `.trace` of the result has the steps of Algorithm 1.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads. For runs only.

    Returns
    -------
    Distance or Distances
        A `Distance` for two lists, `Distances` for two runs.

    Raises
    ------
    RankgaugeError
        If a list is given with a run, if a list has a document twice, if there are not exactly two runs,
        if `trace` is set for runs, or if another option has an invalid value.
    MeasureError
        If the measure does not exist or has no distance, or if labels or grades are not valid.
    InputError
        If the judgments or a run cannot be read.

    Examples
    --------
    >>> distance = med(["a", "b", "c"], ["c", "a", "d"], "AP@10", {"a": 1, "b": 0})
    >>> distance.value, distance.exact, distance.ahead
    (0.5, True, 'a')
    >>> distance.witness().labels
    {'c': 0, 'd': 0}

    Two runs, with judgments:

    >>> bm25 = {"q1": ["a", "b"], "q2": ["c", "d"]}
    >>> dense = {"q1": ["a", "x"], "q2": ["y", "z"]}
    >>> distances = med(bm25, dense, "P@2", {"q1": {"a": 1, "b": 0}, "q2": {"c": 0, "d": 1}})
    >>> distances.per_query(), distances.mean()
    ({'q1': 0.5, 'q2': 0.5}, 0.5)
    """
    a, b = (one.tolist() if isinstance(one, np.ndarray) else one for one in (a, b))
    with right_form(MED):
        _check_ranking("a", a)
        _check_ranking("b", b)
        if _is_list(a) != _is_list(b):
            raise RankgaugeError(
                "got a list and a run, expected two lists of documents or two runs"
            )
    options: dict[str, Any] = {
        "grades": grades,
        "offlist": offlist,
        "max_grade": max_grade,
        "negative": negative,
        "method": method,
    }
    if _is_list(a):
        return med_of_lists(measure, a, b, labels, trace=trace, **options)
    if trace:
        raise RankgaugeError(
            "trace=True works only for two lists of documents; for runs, use "
            ".distance(query, trace=True)"
        )
    runs: list[Source] = []
    for name, run in (("a", a), ("b", b)):  # a dict of queries has no name of its own
        runs += sources_of({name: run} if isinstance(run, Mapping) and run else [run])
    if len(runs) != 2:
        raise RankgaugeError(f"got {len(runs)} runs, expected two; `med_matrix` accepts more")
    return med_matrix(labels, runs, measure, executor=executor, **options)


def _check_ranking(name: str, value: Any) -> None:
    """Refuse what is neither a list of documents nor one run."""
    fault = ""
    if isinstance(value, Set):
        fault = ", which has no order"
    elif isinstance(value, list | tuple) and not _is_list(value):
        fault = " of runs"
    elif isinstance(value, Mapping) and any(isinstance(row, Real) for row in value.values()):
        fault = " of scores of documents, without queries"
    if fault:
        expected = "a list of documents, best first, or one run"
        raise RankgaugeError(f"{name}: {describe(value)}{fault}, expected {expected}")


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) and not any(
        isinstance(document, Mapping) or callable(document) for document in value
    )


class DocumentRanks(NamedTuple):
    """A document of two runs: its rank in each run, and its label.

    A rank is None if the run does not have the document down to the cutoff. The label is None if the
    document is not judged.
    """

    document: str
    rank_a: int | None
    rank_b: int | None
    label: int | None


class Distances(Result, Record):
    """The distances between all pairs of runs on each query.

    `numpy.asarray` gives the values. If `exact` is False, some values are only lower bounds, and `upper`
    has upper bounds.

    Attributes
    ----------
    measure : Measure
        The measure.
    runs, queries : tuple of str
        The names of the runs and the queries.
    values : array
        Pair × query: the distances, with the pairs in the order of `pairs`.
    exact : bool
        Whether all values are exact over the labels in `grades`.
    upper : array
        Pair × query: upper bounds of the distances. They are the values where these are exact.
    grades : tuple of int
        The labels that an unjudged document may get.
    notes : tuple of Note
        Remarks on the distances.
    method : {"exact", "greedy", "tabu"}
        The method that computed the distances.

    Examples
    --------
    >>> qrels = {"q1": {"x": 1}, "q2": {"y": 1}}
    >>> runs = {"a": {"q1": ["x"], "q2": ["z"]}, "b": {"q1": ["z"], "q2": ["z"]}}
    >>> distances = med_matrix(qrels, runs, "P@1")
    >>> distances.per_query(), distances.mean()
    ({'q1': 1.0, 'q2': 0.0}, 0.5)
    """

    measure: Measure
    runs: tuple[str, ...]
    queries: tuple[str, ...]
    values: Floats
    exact: bool
    upper: Floats
    grades: tuple[int, ...]
    notes: tuple[Note, ...]
    method: MedMethod
    _topics: tuple[QueryLists, ...]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self.values, dtype=dtype, copy=copy)

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """The numbers of the two runs of each pair."""
        first, second = np.triu_indices(len(self.runs), 1)
        return list(zip(first.tolist(), second.tolist(), strict=True))

    def mean(self) -> float:
        """The mean over queries, and over pairs if there are several."""
        return float(self.values.mean()) if self.values.size else float("nan")

    def matrix(self) -> Floats:
        """Run × run: the mean distance over queries."""
        square = np.zeros((len(self.runs), len(self.runs)))
        mean = self.values.mean(axis=1) if self.queries else np.full(len(self.pairs), np.nan)
        for (a, b), value in zip(self.pairs, mean.tolist(), strict=True):
            square[a, b] = square[b, a] = value
        return square

    def order(self) -> list[int]:
        """The numbers of the runs, in an order that places similar runs next to each other.

        The order is that of the leaves of an average-link tree.
        """
        from rankgauge.figures.drawing import cluster_order

        return cluster_order(np.nan_to_num(self.matrix()))

    def per_query(self) -> dict[str, float]:
        """For each query the distance; if there are several pairs, their mean distance."""
        return dict(zip(self.queries, self.values.mean(axis=0).tolist(), strict=True))

    def distance(
        self, query: str, a: int | str = 0, b: int | str = 1, *, trace: bool = False
    ) -> Distance:
        """Return the distance of two runs on one query, with its witness.

        With `trace`, the distance also has the steps of Algorithm 1. Runs are given by number or name.
        """
        topic = self._lists_of_query(query)
        one, two = self._number(a), self._number(b)
        return distance_of(self.measure, topic.lists, one, two, topic.names, self.method, trace)

    def documents(self, query: str, a: int | str = 0, b: int | str = 1) -> list[DocumentRanks]:
        """The documents of two runs on one query: those of the first by rank, followed by the others."""
        topic = self._lists_of_query(query)
        pair = topic.lists.pair(self._number(a), self._number(b))
        columns = zip(*(column.tolist() for column in pair), strict=True)
        listed = [
            DocumentRanks(
                topic.names[document], one or None, two or None, None if known < 0 else known
            )
            for document, one, two, known in columns
        ]
        return sorted(listed, key=lambda d: (d.rank_a is None, d.rank_a or d.rank_b or 0))

    def _lists_of_query(self, query: str) -> QueryLists:
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
        """For two runs, a row with their mean distance.

        For more runs, the matrix of mean distances, with similar runs next to each other.
        """
        notes = [] if self.exact else [Note("some distances are only lower bounds")]
        name = str(self.measure)
        if len(self.runs) == 2:
            mean = self.values.mean(axis=1).tolist()
            rows = [
                (self.runs[a], self.runs[b], len(self.queries), value)
                for (a, b), value in zip(self.pairs, mean, strict=True)
            ]
            return Table(("a", "b", "topics", name), tuple(rows), note_texts(notes))
        order, square = self.order(), self.matrix()
        names = tuple(self.runs[i] for i in order)
        return Table(
            ("run", *names),
            tuple((self.runs[i], *square[i, order].tolist()) for i in order),
            note_texts([Note(f"mean distance in {name} over {len(self.queries)} queries"), *notes]),
        )

    def to_polars(self) -> Any:
        """Return a polars data frame with a row for each pair of runs and query.

        The columns are a, b, query, distance and upper.
        """
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
        """Return a table with a row for each query, with the mean over pairs.

        With `top`, it has only the `top` queries with the greatest distance.
        """
        values = list(self.per_query().items())
        if top is not None:
            values = sorted(values, key=lambda item: -item[1])[:top]
        return Table(("topic", str(self.measure)), tuple(values))

    def figure(self, order: Sequence[int] | None = None) -> Figure:
        """The mean distances of all pairs of runs as a square of colors: the darker, the nearer.

        `order` has the numbers of the runs, by default in the order of `order()`. Up to 40 runs are
        named.

        >>> runs = {"a": {"q": {"x": 1.0}}, "b": {"q": {"x": 1.0}}, "c": {"q": {"y": 1.0}}}
        >>> figure = med_matrix(None, runs, "P@1").figure([0, 1, 2])
        >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
        ['a', 'b', 'c']
        """
        from rankgauge.figures.distances import distance_map

        places = list(self.order() if order is None else order)
        topics = count_phrase(len(self.queries), "query")
        return distance_map(
            self.matrix()[np.ix_(places, places)],
            [self.runs[place] for place in places],
            about=f"{self.measure}, {len(places)} runs, {topics}",
            exact=self.exact,
        )

    def _title(self) -> str:
        kind = "exact" if self.exact else "lower bound"
        return (
            f"Distances {self.measure}: {len(self.runs)} runs, "
            f"{count_phrase(len(self.queries), 'query')}, "
            f"mean {self.mean():.4f} ({kind})"
        )

    def __repr__(self) -> str:
        return self._title()


@accepts_old_order("measure", "runs", "qrels")
@checked_call('med_matrix(qrels, runs, "AP@10"), where qrels may be None')
def med_matrix(
    qrels: Qrels | None,
    runs: Runs,
    measure: Measure | str,
    *,
    grades: Grades | None = None,
    offlist: Offlist = DEFAULT_OFFLIST,
    max_grade: int | None = None,
    negative: Negative = DEFAULT_NEGATIVE,
    method: MedMethod = DEFAULT_MED_METHOD,
    ties: Ordered = DEFAULT_ORDERED,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Distances:
    """Compute the maximized effectiveness distances between all pairs of runs, query by query.

    The queries are the judged queries or, without judgments, all queries of the runs. If a run lacks a
    query, its list for the query is empty.

    Parameters
    ----------
    qrels : judgments or None
        The judgments, in any form that `evaluate` takes. With None, no document is judged.
    runs : runs
        At least two runs, in any form that `evaluate` takes.
    measure : Measure or str
        The measure, as an object or a name, such as "AP@10".
    grades : iterable of int or "max", optional
        The labels that unjudged documents may get, as in `med`. By default, every whole number from 0 to
        `max_grade`.
    offlist : {"allowed", "none"}, default "allowed"
        Whether documents that no run retrieved may be relevant, as in `med`.
    max_grade : int, optional
        The highest possible label, as in `med`. By default, the highest label in `grades` or `qrels`.
    negative : {"unjudged", "nonrelevant"}, default "unjudged"
        How to treat documents with a negative label, as in `med`.
    method : {"exact", "greedy", "tabu"}, default "exact"
        How to search for the greatest difference, as in `med`.
    ties : {"docno", "docno-ascending", "input"}, default "docno"
        How to order documents with equal scores, as in `evaluate`.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the id of each query, once it is done.

    Returns
    -------
    Distances
        The distances, pair × query.

    Raises
    ------
    RankgaugeError
        If there are fewer than two runs, or if an option has an invalid value.
    MeasureError
        If the measure does not exist or has no distance, or if grades are not valid.
    InputError
        If the judgments or a run cannot be read.

    Examples
    --------
    >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["x", "z"]}, "c": {"q": ["y", "z"]}}
    >>> med_matrix(None, runs, "P@2").matrix().tolist()
    [[0.0, 0.5, 0.5], [0.5, 0.0, 0.5], [0.5, 0.5, 0.0]]
    """
    asked = parse_distance_measure(measure)
    check_value("method", method, one_of(MedMethod))
    topics = lists_by_query(
        asked, runs, qrels, AllowedLabels(grades, offlist, max_grade, negative), ties, executor
    )
    results = list(results_by_query(_DistanceTask(asked, method), topics, executor, progress))
    count = len(topics.runs) * (len(topics.runs) - 1) // 2
    values, upper = (
        np.array([result[column] for result in results]).reshape(len(results), count).T
        for column in (0, 1)
    )
    text = (
        f"{method} gives lower bounds, because it tries only 0 and the highest grade, not all "
        "labels"
    )
    return Distances(
        asked,
        topics.runs,
        tuple(topic.query for topic in topics.queries),
        values,
        all(exact for _, _, exact in results),
        upper,
        grades_to_try(topics.grades, method),
        (*([] if method == "exact" else [Note(text)]), *topics.notes()),
        method,
        topics.queries,
    )


def results_by_query(
    work: Callable[[QueryLists], R],
    topics: ListsByQuery,
    executor: AnyExecutor | None,
    progress: Progress | None,
) -> Iterator[R]:
    """The results of some work on each query."""
    name = attrgetter("query")
    for _, result in results_of(work, topics.queries, executor, name, progress=progress):
        yield result


class AllowedLabels(Record):
    """The labels that unjudged documents may get, as `med` takes them."""

    grades: Grades | None
    offlist: Offlist
    max_grade: int | None
    negative: Negative


def lists_by_query(
    measure: Measure,
    runs: Runs,
    qrels: Qrels | None,
    labels: AllowedLabels,
    ties: Ordered,
    executor: AnyExecutor | None,
) -> ListsByQuery:
    """The lists of at least two runs, query by query.

    Parameters
    ----------
    measure: the measure; its cutoff cuts the lists.
    runs: the runs, as `evaluate` takes them.
    qrels: the judgments, as `evaluate` takes them; without them, the queries are those of the runs.
    labels: the labels that unjudged documents may get.
    ties: the order of documents with equal scores.
    executor: where to read the runs; by default, threads.
    """
    check_value("ties", ties, one_of(Ordered))
    if isinstance(qrels, Mapping) and not all(isinstance(q, Mapping) for q in qrels.values()):
        raise RankgaugeError(
            "got labels of documents, expected {query: {document: grade}} for runs"
        )
    judgments = Judgments.from_dict({}) if qrels is None else judgments_of(qrels, labels.negative)
    sources = sources_of(runs, elsewhere=executor is not None)
    max_grade = labels.max_grade
    highest = int(judgments.grades.max(initial=0))
    if max_grade is not None and Integer(1).check(max_grade) < highest:
        raise MeasureError(f"max_grade={max_grade}, but the judgments have a grade of {highest}")
    if max_grade is None and judgments.max_grade is not None:  # as an Evaluator takes it
        max_grade = max(judgments.max_grade, highest)
    known_grades = np.unique(judgments.grades).tolist()
    grades = check_grades(labels.grades, [*known_grades, max_grade or 1])
    if labels.max_grade is not None and labels.max_grade < grades[-1]:
        raise MeasureError(f"max_grade={labels.max_grade}, but there is a label of {grades[-1]}")
    offlist = check_offlist(labels.offlist)
    names, tops = [], []
    for _, (name, top) in results_of(
        _TopDocumentsReader(measure.depth, ties), sources, executor, label
    ):
        names.append(name)
        tops.append(top)
    if len(names) < 2:
        raise RankgaugeError(f"{count_phrase(len(names), 'run')}, expected at least two to compare")
    queries = list(judgments.queries)
    if qrels is None:
        queries = list(dict.fromkeys(query for one in tops for query in one))
    highest = max(int(grades[-1]), highest, max_grade or 0, 1)
    position = {query: row for row, query in enumerate(judgments.queries)}
    topics = []
    for query in queries:
        known: dict[bytes, int] = {}
        if query in position:
            rows = slice(*judgments.bounds[position[query] : position[query] + 2].tolist())
            judged = judgments.documents.take(np.arange(rows.start, rows.stop))
            known = dict(zip(judged, judgments.grades[rows].tolist(), strict=True))
        lists, documents = number_documents(
            [one.get(query, []) for one in tops], known, highest, grades, offlist
        )
        topics.append(
            QueryLists(decode(query), lists, [decode(document) for document in documents])
        )
    known_queries = set(queries)
    unknown = tuple(len(one.keys() - known_queries) for one in tops)
    negative = int(np.count_nonzero(judgments.grades < 0))
    return ListsByQuery(tuple(names), tuple(topics), unknown, grades, negative)


class _DistanceTask(Value):
    """Computes the distances of all pairs of lists of a query; it can be sent to another process."""

    measure: Measure
    method: MedMethod

    def __call__(self, topic: QueryLists) -> tuple[Floats, Floats, bool]:
        first, second = (runs.astype(np.int64) for runs in np.triu_indices(len(topic.lists), 1))
        bounds = greatest_differences(
            self.measure, ListPairs(topic.lists, first, second), self.method
        )
        values = np.maximum(bounds.ahead.max(axis=1, initial=0.0), 0.0)
        upper = np.where(bounds.exact, values, np.maximum(values, bounds.limit))
        return values, upper, bool(bounds.exact.all())


class QueryLists(NamedTuple):
    """A query, the lists of all runs for it, and the names of their documents."""

    query: str
    lists: Lists
    names: list[str]


class ListsByQuery(Record):
    """The lists of all runs, query by query, and the labels that unjudged documents may get.

    `unknown` counts for each run its queries without judgments; `negative` counts the documents whose
    grade is negative and that are unjudged for it.
    """

    runs: tuple[str, ...]
    queries: tuple[QueryLists, ...]
    unknown: tuple[int, ...]
    grades: Labels
    negative: int

    def notes(self) -> tuple[Note, ...]:
        """Notes on negative grades, and on runs that lack queries or have queries without judgments."""
        notes = negative_grade_notes(self.negative)
        for i, (run, unknown) in enumerate(zip(self.runs, self.unknown, strict=True)):
            lacking = sum(len(topic.lists.list(i)) == 0 for topic in self.queries)
            if lacking:
                kind = "{queries} missing, treated as empty lists"
                notes.append(Note(kind, run=run, count=lacking))
            if unknown:
                kind = "queries without judgments, excluded: {count}"
                notes.append(Note(kind, run=run, count=unknown))
        return tuple(notes)


class _TopDocumentsReader(Value):
    """Reads a run, and keeps the first documents of each query."""

    depth: int | None
    ties: Ordered

    def __call__(self, source: Source) -> tuple[str, dict[bytes, list[bytes]]]:
        run = source()
        nothing = np.full(len(run.scores), -1, dtype=np.int32)
        order, _, _ = rank_order(run, nothing, self.ties, 0, DEFAULT_PRECISION)
        tops = {}
        bounds = itertools.pairwise(run.bounds.tolist())
        for query, (start, end) in zip(run.queries, bounds, strict=True):
            last = end if self.depth is None else min(end, start + self.depth)
            tops[query] = list(run.documents.take(order[start:last]))
        return run.name, tops
