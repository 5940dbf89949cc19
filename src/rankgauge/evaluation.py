"""From judgments and runs to scores: align the two, then ask each measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.model import Floats, Ids, Ints, Judgments, Labels, Precision, Run, T, counted
from rankgauge.data.rankings import POOLED, UNJUDGED, JudgedLabels, Rankings, offsets_of
from rankgauge.measures.base import Aggregate, Measure
from rankgauge.measures.grammar import parse
from rankgauge.measures.parameters import Whole
from rankgauge.measures.precision import Judged
from rankgauge.measures.ties import TiedRankings
from rankgauge.native import ids as native
from rankgauge.scores import Missing, Policies, Scores
from rankgauge.tie_policies import Tail, Ties, broken, list_seeds, tied_lists, with_tail

Unjudged: TypeAlias = Literal["nonrelevant", "condensed"]
Source: TypeAlias = Callable[[], Run]
AnyRun: TypeAlias = Run | Mapping[str, Mapping[str, float]] | Source
Runs: TypeAlias = AnyRun | Iterable[AnyRun] | Mapping[str, AnyRun]
Measures: TypeAlias = Sequence[Measure | Aggregate | str] | Measure | Aggregate | str


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

    def notes(self) -> list[str]:
        """What the user should know about how the lists came about."""
        notes = []
        if self.unknown:
            notes.append(f"topics without judgements, not scored: {self.unknown}")
        if self.merged:
            notes.append(
                f"neighbours tied in single precision only: {self.merged} "
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
    query = np.repeat(np.arange(len(judgments.queries)), np.diff(judgments.bounds))
    order = np.lexsort((-judgments.grades, query))
    order = order[judgments.grades[order] >= 0]
    count = len(judgments.queries)
    sizes = np.bincount(query[order], minlength=count)
    pooled = np.bincount(query[judgments.grades < 0], minlength=count)
    labels = JudgedLabels(judgments.grades[order], offsets_of(sizes), pooled, max_grade)
    if judgments.subtopics is None:
        return labels
    return replace(labels, rows=order, aspects=judgments.subtopics)


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


def rank_order(
    run: Run, labels: Labels, ties: Ties, seed: int, precision: Precision
) -> tuple[NDArray[np.intp], NDArray[np.bool_], int]:
    """The rows of a run, query by query, best first; for each place whether its score is that of the
    one above; and how many neighbours only single precision ties."""
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
    above = np.append(False, tied)[: len(order)]
    places = np.flatnonzero(above | np.append(tied, False)[: len(order)])
    if places.size:
        rows = order[places]
        group = np.cumsum(~above)[places].tolist()
        index = broken(run, rows, labels, ties, seed)
        index.sort(key=group.__getitem__)
        order[places] = rows[index]
    return order, above, merged


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
    runs: Runs,
    measures: Measures,
    *,
    missing: Missing = "zero",
    unjudged: Unjudged = "nonrelevant",
    ties: Ties = "docno",
    seed: int = 0,
    tail: Tail | None = None,
    documents: int | None = None,
    precision: Precision | None = None,
    max_grade: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
) -> Scores:
    """The score of every run on every judged query by every measure.

    `qrels`: Judgments or `{query: {document: grade}}`. `runs`: a Run, several, a dict of runs by
    name, or plain dicts `{query: {document: score}}` in place of any Run; also functions that give a
    Run, so that reading is part of the parallel work. Every judged query counts: one that a run lacks
    is scored as an empty ranking, or left out of its means with missing="skip".

    `ties` says what is made of equal scores. "docno", "docno-ascending" and "input" order them;
    "pessimistic" puts the lowest label first, with unjudged documents between labels 0 and 1, so that
    no other order scores worse by a measure that never prefers the worse of two neighbours first, and
    "optimistic" is its reverse; "random" draws an order by `seed` and the ids of query and documents;
    "expected" gives the mean score over all orders, by the measure's own formula or, as a note then
    says, estimated. tail="tied", for ties="expected" alone, completes each list by what it lacks of a
    collection of so many `documents`, all of them one more tie. `executor` does the
    work, run by run; by default threads. `progress` is called with the name of each run done.

    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    >>> evaluate(qrels, {"q1": {"b": 9.0, "a": 8.0}}, "RR").mean()
    {'run': {'RR': 0.25}}
    """
    for what, value, choices in (
        ("missing", missing, Missing),
        ("unjudged", unjudged, Unjudged),
        ("ties", ties, Ties),
        ("tail", tail, Tail),
        ("precision", precision, Precision),
    ):
        if value is not None and value not in get_args(choices):
            expected = ", ".join(get_args(choices))
            raise RankgaugeError(f"{what}={value!r}, expected one of {expected}")
    Whole(0).check(seed)
    _check_tail(tail, documents, ties)
    judgments = _judgments(qrels)
    wanted = _measures(measures)
    judged = judged_labels(judgments, max_grade)
    work = partial(
        _evaluate_run,
        judgments=judgments,
        judged=judged,
        measures=wanted,
        unjudged=unjudged,
        ties=ties,
        seed=seed,
        documents=documents,
        precision=precision,
    )
    results = []
    with nullcontext(executor) if executor is not None else ThreadPoolExecutor() as pool:
        for result in pool.map(work, _sources(runs)):
            results.append(result)
            if progress is not None:
                progress(result.name)
    names = [result.name for result in results]
    name, count = Counter(names).most_common(1)[0] if names else ("", 0)
    if count > 1:
        raise RankgaugeError(f"two runs are called {name!r}; give them different names")
    return Scores(
        runs=tuple(names),
        queries=tuple(judgments.queries.texts()),
        measures=wanted,
        values=stacked([result.values for result in results], (len(judged), len(wanted))),
        present=stacked([result.present for result in results], (len(judged),)),
        judged_at_10=stacked([result.judged_share for result in results], (len(judged),)),
        relevant=judged.relevant(1),
        nothing_relevant=stacked(
            [_inner(measure).nothing_relevant_each(judged) for measure in wanted], (len(judged),)
        ),
        policies=Policies(
            ties=f"{ties}-desc" if ties == "docno" else ties,
            seed=seed if ties == "random" or any(r.estimated for r in results) else None,
            tail=None if tail is None else f"{tail}({documents})",
            scores="+".join(sorted({PRECISIONS[result.precision] for result in results})),
            judgments=None if judged.aspects is None else "subtopics",
            unjudged=unjudged,
            missing=missing,
            max_grade=judged.max_grade,
        ),
        notes=tuple(note for result in results for note in result.notes),
    )


@dataclass(frozen=True)
class _RunScores:
    """What is kept of one run: query × measure, and what to know about it."""

    name: str
    values: Floats
    present: NDArray[np.bool_]
    judged_share: Floats
    precision: Precision
    estimated: bool
    notes: tuple[str, ...]


def _evaluate_run(
    source: Source,
    *,
    judgments: Judgments,
    judged: JudgedLabels,
    measures: Sequence[Measure | Aggregate],
    unjudged: Unjudged,
    ties: Ties,
    seed: int,
    documents: int | None,
    precision: Precision | None,
) -> _RunScores:
    """Read or take one run, align it and ask each measure."""
    run = source()
    used = precision or run.precision
    lists = align(judgments, run, judged=judged, ties=ties, seed=seed, precision=used)
    rankings: Rankings | TiedRankings = lists.rankings
    if ties == "expected":
        rankings = tied_lists(lists.rankings, lists.tied, list_seeds(seed, judgments.queries))
    judged_share = _scored(JUDGED_AT_10, rankings)[0]
    if isinstance(rankings, TiedRankings) and documents is not None:
        rankings = with_tail(rankings, judgments, lists.retrieved, documents)
    if unjudged == "condensed":
        rankings = rankings.condensed()
    values = np.empty((len(judged), len(measures)))
    estimates = []
    for column, measure in enumerate(measures):
        values[:, column], note = _scored(measure, rankings)
        estimates += [] if note is None else [f"{measure}: {note}"]
    notes = (*run.dropped, *lists.notes(), *estimates)
    return _RunScores(
        run.name,
        values,
        lists.present,
        judged_share,
        used,
        bool(estimates),
        tuple(f"{run.name}: {note}" for note in notes),
    )


def _scored(
    measure: Measure | Aggregate, lists: Rankings | TiedRankings
) -> tuple[Floats, str | None]:
    """The score of each list, and where it is an estimate of a mean over ties, how good a one."""
    try:
        if isinstance(lists, Rankings):
            return _inner(measure).score_each(lists), None
        mean = _inner(measure).tied_each(lists)
    except RankgaugeError:
        raise
    except Exception as error:
        raise MeasureError(f"{measure} fails: {type(error).__name__}: {error}") from error
    drawn = mean.samples > 0
    if not drawn.any():
        return mean.values, None
    return mean.values, (
        f"estimated from {mean.samples.max():,} random orders of the ties on "
        f"{counted(int(np.count_nonzero(drawn)), 'topic')}, standard error at most "
        f"{np.nanmax(mean.errors[drawn], initial=0.0):.2g}"
    )


def _check_tail(tail: Tail | None, documents: int | None, ties: Ties) -> None:
    if tail is None:
        if documents is not None:
            raise RankgaugeError(f"documents={documents!r} is for tail='tied' alone; add it")
        return
    if ties != "expected":
        raise RankgaugeError(
            f"tail={tail!r} with ties={ties!r}: only ties='expected' ranks what is not retrieved"
        )
    if documents is None:
        raise RankgaugeError(
            f"tail={tail!r} needs documents=, the number of documents in the collection"
        )
    Whole(1).check(documents)


def stacked(arrays: Sequence[NDArray[T]], shape: tuple[int, ...]) -> NDArray[T]:
    """One array from arrays of this shape, also where there are none."""
    return np.array(arrays).reshape(len(arrays), *shape)


PRECISIONS: dict[Precision, str] = {"single": "f32", "double": "f64"}
JUDGED_AT_10 = Judged @ 10


def _inner(measure: Measure | Aggregate) -> Measure:
    return measure.measure if isinstance(measure, Aggregate) else measure


def _judgments(qrels: Judgments | Mapping[str, Mapping[str, int]]) -> Judgments:
    if isinstance(qrels, Judgments):
        return qrels
    if isinstance(qrels, Mapping):
        return Judgments.from_dict(qrels)
    raise RankgaugeError(f"{qrels!r} is no judgments; read them with read_qrels, or give a dict")


def _measures(measures: Measures) -> tuple[Measure | Aggregate, ...]:
    several = [measures] if isinstance(measures, Measure | Aggregate | str) else list(measures)
    parsed = [parse(measure) for measure in several]
    for measure in parsed:
        _inner(measure).complete()
    if not parsed:
        raise MeasureError("no measure is given; name one, for example nDCG@10")
    return tuple(dict.fromkeys(parsed))


def _sources(runs: Runs) -> list[Source]:
    """One function a run, whatever form the runs came in."""
    if isinstance(runs, Mapping):
        if not any(_is_run(run) for run in runs.values()):
            return [_source(runs, "run")]
        return [partial(_renamed, _source(run, name), name) for name, run in runs.items()]
    if isinstance(runs, Iterable) and not isinstance(runs, str | bytes):
        return [_source(run, f"run{number}") for number, run in enumerate(runs, 1)]
    return [_source(runs, "run")]


def _is_run(value: Any) -> bool:
    """Whether this is a whole run, not one query of a run."""
    if isinstance(value, Mapping):
        return any(isinstance(documents, Mapping) for documents in value.values())
    return isinstance(value, Run) or callable(value)


def _source(run: Any, name: str) -> Source:
    if isinstance(run, Run):
        return partial(_itself, run)
    if isinstance(run, Mapping):
        return partial(Run.from_dict, run, name=name)
    if callable(run):
        return cast(Source, run)
    raise RankgaugeError(f"{run!r} is not a run; read one with read_run, or give a dict")


def _itself(run: Run) -> Run:
    return run


def _renamed(source: Source, name: str) -> Run:
    return replace(source(), name=name)
