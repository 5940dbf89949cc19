"""From judgments and runs to scores: align the two, then ask each measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.model import Floats, Ids, Ints, Judgments, Precision, Run, T
from rankgauge.data.rankings import POOLED, UNJUDGED, JudgedLabels, Rankings, offsets_of
from rankgauge.measures.base import Aggregate, Measure
from rankgauge.measures.grammar import parse
from rankgauge.native import ids as native
from rankgauge.scores import Missing, Policies, Scores

Ties: TypeAlias = Literal["docno", "docno-ascending", "input"]
Unjudged: TypeAlias = Literal["nonrelevant", "condensed"]
Measures: TypeAlias = Sequence[Measure | Aggregate | str] | Measure | Aggregate | str


@dataclass(frozen=True, eq=False)
class Alignment:
    """One run laid over the judgments: a list for each judged query, in the judgments' order.

    `present` says which queries the run holds; those it lacks have an empty list. `unknown` counts
    the run's queries that are not judged, `merged` the neighbours whose scores differ in double but
    not in single precision.
    """

    rankings: Rankings
    present: NDArray[np.bool_]
    unknown: int
    merged: int


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
    query = np.repeat(np.arange(len(judgments.queries)), np.diff(judgments.bounds))
    order = np.lexsort((-judgments.grades, query))
    order = order[judgments.grades[order] >= 0]
    count = len(judgments.queries)
    sizes = np.bincount(query[order], minlength=count)
    pooled = np.bincount(query[judgments.grades < 0], minlength=count)
    return JudgedLabels(judgments.grades[order], offsets_of(sizes), pooled, max_grade)


def align(
    judgments: Judgments,
    run: Run,
    *,
    judged: JudgedLabels | None = None,
    ties: Ties = "docno",
    precision: Precision | None = None,
    documents: dict[bytes, int] | None = None,
) -> Alignment:
    """A run's lists in rank order, with a label for each document.

    `documents` asks for document numbers: the dict, which may be shared by several runs, gets a
    number for every id it does not have yet.
    """
    _check_choice("ties", ties, Ties)
    judged = judged_labels(judgments) if judged is None else judged
    order, merged = rank_order(run, ties, precision or run.precision)
    in_judgments = _rows_of(judgments.queries, run.queries)
    row = native.match(
        run.documents.data,
        run.documents.offsets,
        run.bounds,
        judgments.documents.data,
        judgments.documents.offsets,
        judgments.bounds,
        in_judgments,
    )
    grade = judgments.grades[np.maximum(row, 0)] if judgments.grades.size else np.zeros_like(row)
    label = np.where(row < 0, UNJUDGED, np.where(grade < 0, POOLED, grade)).astype(np.int32)
    # The lists of the judged queries, in the judgments' order.
    in_run = np.full(len(judgments.queries), -1, dtype=np.int64)
    known = np.flatnonzero(in_judgments >= 0)
    in_run[in_judgments[known]] = known
    present = in_run >= 0
    lengths = np.where(present, np.diff(run.bounds)[in_run] if len(known) else 0, 0)
    offsets = offsets_of(lengths)
    starts = np.where(present, run.bounds[in_run], 0)
    rows = order[np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)]
    numbers = None
    if documents is not None:
        ids = run.documents.take(rows)
        numbers = np.array(
            [documents.setdefault(raw, len(documents)) for raw in ids], dtype=np.int32
        )
    rankings = Rankings(label[rows], offsets, np.arange(len(in_run)), judged, numbers)
    return Alignment(rankings, present, len(run.queries) - len(known), merged)


def rank_order(run: Run, ties: Ties, precision: Precision) -> tuple[NDArray[np.intp], int]:
    """The rows of a run, query by query, best first, and how many neighbours only single
    precision ties."""
    scores = run.scores
    if precision == "single":
        with np.errstate(over="ignore"):
            scores = scores.astype(np.float32).astype(np.float64)
    query = np.repeat(np.arange(len(run.queries)), np.diff(run.bounds))
    neighbours = query[1:] == query[:-1]
    if (neighbours & (scores[1:] > scores[:-1])).any():
        order = np.lexsort((-scores, query))
    else:
        order = np.arange(len(scores))
    tied = neighbours & (scores[order[1:]] == scores[order[:-1]])
    merged = int(np.count_nonzero(tied & (run.scores[order[1:]] != run.scores[order[:-1]])))
    places = np.flatnonzero(np.append(False, tied) | np.append(tied, False))
    if places.size and ties != "input":
        rows = order[places]
        group = np.cumsum(~np.append(False, tied))[places].tolist()
        docnos = list(run.documents.take(rows))
        index = sorted(range(len(rows)), key=docnos.__getitem__, reverse=ties == "docno")
        index.sort(key=group.__getitem__)
        order[places] = rows[index]
    return order, merged


def _rows_of(table: Ids, wanted: Ids) -> Ints:
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


def evaluate(
    qrels: Judgments | Mapping[str, Mapping[str, int]],
    runs: Any,
    measures: Measures,
    *,
    missing: Missing = "zero",
    unjudged: Unjudged = "nonrelevant",
    ties: Ties = "docno",
    precision: Precision | None = None,
    max_grade: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
) -> Scores:
    """The score of every run on every judged query by every measure.

    `qrels`: Judgments or `{query: {document: grade}}`. `runs`: a Run, several, a dict of runs by name,
    or plain dicts `{query: {document: score}}` in place of any Run; also functions that give a Run, so
    that reading is part of the parallel work. Every judged query counts: one that a run lacks is
    scored as an empty ranking, or left out of its means with missing="skip".

    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    >>> evaluate(qrels, {"q1": {"b": 9.0, "a": 8.0}}, "RR").mean()
    {'run': {'RR': 0.25}}
    """
    _check_choice("missing", missing, Missing)
    _check_choice("unjudged", unjudged, Unjudged)
    _check_choice("ties", ties, Ties)
    judgments = qrels if isinstance(qrels, Judgments) else Judgments.from_dict(qrels)
    wanted = _measures(measures)
    judged = judged_labels(judgments, max_grade)

    def one(source: Callable[[], Run]) -> _RunScores:
        run = source()
        lists = align(judgments, run, judged=judged, ties=ties, precision=precision)
        rankings = lists.rankings if unjudged == "nonrelevant" else lists.rankings.condensed()
        values = np.empty((len(judgments.queries), len(wanted)))
        for column, measure in enumerate(wanted):
            values[:, column] = _inner(measure).score_each(rankings)
        judged_share = Judged_at_10.score_each(lists.rankings)
        if progress is not None:
            progress(run.name)
        used = precision or run.precision
        return _RunScores(run.name, values, judged_share, lists, used, run.dropped)

    sources = _sources(runs)
    if executor is None:
        with ThreadPoolExecutor() as pool:
            results = list(pool.map(one, sources))
    else:
        results = list(executor.map(one, sources))
    names = [result.name for result in results]
    name, count = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:
        raise RankgaugeError(f"two runs are called {name!r}; give them different names")
    return Scores(
        runs=tuple(names),
        queries=tuple(judgments.queries.texts()),
        measures=wanted,
        values=stacked([result.values for result in results], (len(judged), len(wanted))),
        present=stacked([result.lists.present for result in results], (len(judged),)),
        judged_at_10=stacked([result.judged_share for result in results], (len(judged),)),
        relevant=judged.relevant(1),
        nothing_relevant=np.array([_nothing_relevant(m, judged) for m in wanted]),
        policies=Policies(
            ties=f"{ties}-desc" if ties == "docno" else ties,
            scores="+".join(sorted({PRECISIONS[result.precision] for result in results})),
            unjudged=unjudged,
            missing=missing,
            max_grade=judged.max_grade,
        ),
        notes=tuple(note for result in results for note in result.notes()),
    )


@dataclass(frozen=True)
class _RunScores:
    name: str
    values: Floats
    judged_share: Floats
    lists: Alignment
    precision: Precision
    dropped: tuple[str, ...]

    def notes(self) -> list[str]:
        """What the user should know about how these numbers came about."""
        notes = [f"{self.name}: {text}" for text in self.dropped]
        if self.lists.unknown:
            notes.append(
                f"{self.name}: topics without judgements, not scored: {self.lists.unknown}"
            )
        if self.lists.merged:
            notes.append(
                f"{self.name}: neighbours tied in single precision only: {self.lists.merged} "
                "(double precision would order them by score)"
            )
        return notes


def stacked(arrays: Sequence[NDArray[T]], shape: tuple[int, ...]) -> NDArray[T]:
    """One array from arrays of this shape, also where there are none."""
    return np.array(arrays).reshape(len(arrays), *shape)


PRECISIONS: dict[Precision, str] = {"single": "f32", "double": "f64"}
Judged_at_10 = cast(Measure, parse("Judged@10"))


def _inner(measure: Measure | Aggregate) -> Measure:
    return measure.measure if isinstance(measure, Aggregate) else measure


def _nothing_relevant(measure: Measure | Aggregate, judged: JudgedLabels) -> NDArray[np.bool_]:
    """Which queries have nothing that the measure could reward."""
    inner = _inner(measure)
    if inner.direction == "none":
        return np.zeros(len(judged), dtype=np.bool_)
    ideal = inner.ideal_each(judged)
    return np.isnan(ideal) | (ideal == 0 if inner.direction == "higher" else False)


def _measures(measures: Measures) -> tuple[Measure | Aggregate, ...]:
    several = [measures] if isinstance(measures, Measure | Aggregate | str) else list(measures)
    parsed = [parse(m) if isinstance(m, str) else m for m in several]
    for measure in parsed:
        if not isinstance(measure, Measure | Aggregate):
            raise MeasureError(f"{measure!r} is not a measure; write, for example, nDCG @ 10")
        _inner(measure).complete()
    if not parsed:
        raise MeasureError("no measure is given; name one, for example nDCG@10")
    return tuple(dict.fromkeys(parsed))


def _sources(runs: Any) -> list[Callable[[], Run]]:
    """One function a run, whatever form the runs came in."""
    if isinstance(runs, Run) or callable(runs):
        return [_source(runs, "run")]
    if isinstance(runs, Mapping):
        first: Any = next(iter(runs.values()), {})
        depth_of_a_run = isinstance(first, Mapping) and not any(
            isinstance(inner, Mapping) for inner in first.values()
        )
        if depth_of_a_run:
            return [_source(runs, "run")]
        return [_source(run, name) for name, run in runs.items()]
    if isinstance(runs, Iterable) and not isinstance(runs, str | bytes):
        return [_source(run, f"run{number}") for number, run in enumerate(runs, 1)]
    raise RankgaugeError(f"{runs!r} is not a run; read one with read_run, or give a dict")


def _source(run: Any, name: str) -> Callable[[], Run]:
    if isinstance(run, Run):
        return lambda: run
    if isinstance(run, Mapping):
        return lambda: Run.from_dict(run, name=name)
    if callable(run):
        return cast(Callable[[], Run], run)
    raise RankgaugeError(f"{run!r} is not a run; read one with read_run, or give a dict")


def _check_choice(what: str, value: str, choices: Any) -> None:
    if value not in get_args(choices):
        raise RankgaugeError(f"{what}={value!r}, expected one of {', '.join(get_args(choices))}")
