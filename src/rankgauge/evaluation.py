"""From judgments and runs to scores: align the two, then ask each measure."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from rankgauge.alignment import align, align_piece, alignment_notes, judged_labels
from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.model import Floats, Ints, Judgments, Precision, Run, T, counted
from rankgauge.data.rankings import JudgedLabels, Rankings
from rankgauge.data.scanning import Piece
from rankgauge.data.trec import RunFile
from rankgauge.inputs import Qrels, Runs, Source, judgments_of, label, sources_of
from rankgauge.measures import answers
from rankgauge.measures.base import Aggregate, Measure, Remark, estimates, inner
from rankgauge.measures.chance import OverOrders
from rankgauge.measures.grammar import parse
from rankgauge.measures.parameters import Whole
from rankgauge.measures.precision import Judged
from rankgauge.measures.ties import TiedRankings
from rankgauge.scores import Missing, Policies, Scores
from rankgauge.tie_policies import Tail, Ties, list_seeds, tied_lists, with_tail
from rankgauge.workers import outcomes, processors

if TYPE_CHECKING:
    from concurrent.futures import Executor

Unjudged: TypeAlias = Literal["nonrelevant", "condensed"]
Failures: TypeAlias = Literal["raise", "skip"]
Remarks: TypeAlias = list[list[Remark]]
"""For each measure what to know of its scores."""
Measures: TypeAlias = Sequence[Measure | Aggregate | str] | Measure | Aggregate | str


def evaluate(
    qrels: Qrels,
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
    failures: Failures = "raise",
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
) -> Scores:
    """The score of every run on every judged query by every measure.

    `qrels`: Judgments, `{query: {document: grade}}`, a data frame or a qrels file. `runs`: a Run,
    several, a dict of runs by name; in place of any Run a plain dict `{query: {document: score}}`, a
    data frame, a run file, or a function that gives a Run; in place of several also a folder or a
    pattern such as "runs/*.gz". Files are read by as many threads as there are processors, and their
    ids not kept. Every judged query counts: one that a run lacks is scored as an empty ranking, or left
    out of its means with missing="skip". failures="skip" leaves out the runs that cannot be read, and
    says so in `.failed`.

    `ties` says what is made of equal scores. "docno", "docno-ascending" and "input" order them;
    "pessimistic" puts the lowest label first, with unjudged documents between labels 0 and 1, so that
    no other order scores worse by a measure that never prefers the worse of two neighbours first, and
    "optimistic" is its reverse; "random" draws an order by `seed` and the ids of query and documents;
    "expected" gives the mean score over all orders, by the measure's own formula or, as a note then
    says, estimated. tail="tied", for ties="expected" alone, completes each list by what it lacks of a
    collection of so many `documents`, all of them one more tie. `executor` does the work, run by run;
    by default threads. Processes are sent the judgments with every run. `progress` is called with the
    name of each run done.

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
        ("failures", failures, Failures),
    ):
        if value is not None and value not in get_args(choices):
            expected = ", ".join(get_args(choices))
            raise RankgaugeError(f"{what}={value!r}, expected one of {expected}")
    Whole(0).check(seed)
    _check_tail(tail, documents, ties)
    judgments = judgments_of(qrels)
    wanted = _measures(measures)
    judged = judged_labels(judgments, max_grade)
    sources = sources_of(runs)
    task = _Task(
        judgments=judgments,
        judged=judged,
        measures=[inner(measure) for measure in wanted],
        unjudged=unjudged,
        ties=ties,
        seed=seed,
        documents=documents,
        precision=precision,
        threads=1 if executor is not None else max(1, processors() // max(1, len(sources))),
    )
    about_queries = [measure.query_remarks(judged) for measure in task.measures]
    results, failed = [], []
    for source, result in outcomes(task, sources, executor, label):
        if isinstance(result, _RunScores):
            results.append(result)
        elif failures == "raise":
            raise result
        else:
            failed.append(str(result))
        if progress is not None:
            progress(label(source))
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
            [inner(measure).nothing_relevant_each(judged) for measure in wanted], (len(judged),)
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
        notes=tuple(_notes(results, task, about_queries)),
        failed=tuple(failed),
    )


@dataclass(frozen=True)
class _RunScores:
    """What is kept of one run: query × measure, and what to know about it."""

    name: str
    values: Floats
    present: NDArray[np.bool_]
    judged_share: Floats
    precision: Precision
    notes: tuple[str, ...]
    remarks: Remarks
    estimated: bool = False


@dataclass(frozen=True)
class _Task:
    """What is done to each run; it can be sent to another process."""

    judgments: Judgments
    judged: JudgedLabels
    measures: Sequence[Measure]
    unjudged: Unjudged
    ties: Ties
    seed: int
    documents: int | None
    precision: Precision | None
    threads: int

    @property
    def asked(self) -> list[Measure]:
        """The measures that are asked about rankings; the others follow from their scores."""
        if self.ties == "expected":
            return list(self.measures)
        return list(dict.fromkeys(measure.basis for measure in self.measures))

    def finished(self, scores: Floats) -> Floats:
        """Query × measure, from the scores by the measures that were asked."""
        known = dict(zip(self.asked, scores.T, strict=True))
        values = np.empty((len(scores), len(self.measures)))
        for i, measure in enumerate(self.measures):
            with _blaming(measure):
                values[:, i] = (
                    known[measure]
                    if measure in known
                    else measure.from_basis(known[measure.basis], self.judged)
                )
        return values

    def __call__(self, source: Source) -> _RunScores:
        """Read or take one run, align it and ask each measure."""
        if not isinstance(source, RunFile) or self.ties == "expected" or self.judged.aspects:
            return self.whole(source())
        found = source.scanned(self.piece, self.judgments.lookup, self.threads)
        return self.whole(found) if isinstance(found, Run) else self.joined(label(source), found)

    def whole(self, run: Run) -> _RunScores:
        """The scores of a run that is in memory."""
        precision = self.precision or run.precision
        lists = align(
            self.judgments,
            run,
            judged=self.judged,
            ties=self.ties,
            seed=self.seed,
            precision=precision,
        )
        rankings: Rankings | TiedRankings = lists.rankings
        if self.ties == "expected":
            seeds = list_seeds(self.seed, self.judgments.queries)
            rankings = tied_lists(lists.rankings, lists.tied, seeds)
        judged_share = _scored(JUDGED_AT_10, rankings)[0]
        if isinstance(rankings, TiedRankings) and self.documents is not None:
            rankings = with_tail(rankings, self.judgments, lists.retrieved, self.documents)
        scores, remarks = self.score(rankings)
        return _RunScores(
            run.name,
            self.finished(scores),
            lists.present,
            judged_share,
            precision,
            (*run.dropped, *alignment_notes(lists.unknown, lists.merged)),
            remarks,
            estimated=self.ties == "expected"
            and any(remark.error is not None for found in remarks for remark in found),
        )

    def score(self, rankings: Rankings | TiedRankings) -> tuple[Floats, Remarks]:
        """List × measure asked, and for each of these measures what to know of its numbers."""
        if self.unjudged == "condensed":
            rankings = rankings.condensed()
        asked = self.asked
        values = np.empty((len(rankings), len(asked)))
        remarks = []
        for column, measure in enumerate(asked):
            values[:, column], found = _scored(measure, rankings)
            remarks.append(found)
        return values, remarks

    def piece(self, piece: Piece) -> _PieceScores:
        """The scores of the judged queries in a piece of a file."""
        lists = align_piece(
            self.judgments,
            piece,
            self.judged,
            ties=self.ties,
            seed=self.seed,
            precision=self.precision or "single",
        )
        judged_share, _ = _scored(JUDGED_AT_10, lists.rankings)
        values, remarks = self.score(lists.rankings)
        return _PieceScores(
            lists.queries, values, judged_share, remarks, lists.unknown, lists.merged
        )

    def joined(self, name: str, pieces: Sequence[_PieceScores]) -> _RunScores:
        """The scores of a run from those of its pieces; what none of them has is an empty ranking."""
        present = np.zeros(len(self.judged), dtype=np.bool_)
        for piece in pieces:
            present[piece.queries] = True
        absent = np.flatnonzero(~present)
        nothing = Rankings(
            np.zeros(0, dtype=np.int32),
            np.zeros(len(absent) + 1, dtype=np.int64),
            np.arange(len(absent)),
            self.judged.take(absent),
        )
        scores, remarks = self.score(nothing)
        rest = _PieceScores(absent, scores, _scored(JUDGED_AT_10, nothing)[0], remarks)
        whole = np.empty((len(self.judged), len(self.asked)))
        judged_share = np.empty(len(self.judged))
        for piece in (*pieces, rest):
            whole[piece.queries] = piece.values
            judged_share[piece.queries] = piece.judged_share
        unknown, merged = (sum(getattr(p, what) for p in pieces) for what in ("unknown", "merged"))
        return _RunScores(
            name,
            self.finished(whole),
            present,
            judged_share,
            self.precision or "single",
            tuple(alignment_notes(unknown, merged)),
            [_joined(parts) for parts in zip(*(p.remarks for p in (*pieces, rest)), strict=True)],
        )


@dataclass(frozen=True)
class _PieceScores:
    """The scores of some queries of a run, and what was found on the way."""

    queries: Ints
    values: Floats
    judged_share: Floats
    remarks: Remarks
    unknown: int = 0
    merged: int = 0


def _scored(measure: Measure, lists: Rankings | TiedRankings) -> tuple[Floats, list[Remark]]:
    """The score of each list, and what to know of the scores."""
    with _blaming(measure):
        if isinstance(lists, Rankings):
            return answers.scores(lists, measure), measure.list_remarks(lists)
        mean = measure.tied_each(lists)
        remarks = measure.list_remarks(lists.rankings)
        return mean.values, remarks + estimates(mean, "mean over ties estimated")


@contextmanager
def _blaming(measure: Measure) -> Iterator[None]:
    """Any error that a measure makes, one of a user's own perhaps, names it."""
    try:
        yield
    except RankgaugeError:
        raise
    except Exception as error:
        raise MeasureError(f"{measure} fails: {type(error).__name__}: {error}") from error


def _joined(parts: Sequence[Sequence[Remark]]) -> list[Remark]:
    """The remarks on all lists, from those on some of them."""
    found: dict[str, Remark] = {}
    for what, lists, error in itertools.chain.from_iterable(parts):
        before = found.get(what, Remark(what, 0, error))
        most = None if error is None else max(error, before.error or 0.0)
        found[what] = Remark(what, before.lists + lists, most)
    return list(found.values())


def _notes(results: Sequence[_RunScores], task: _Task, about_queries: Remarks) -> list[str]:
    """What to know about the queries, and about each run."""
    notes = _by_remark(task.measures, about_queries)
    over_orders = any(isinstance(measure, OverOrders) for measure in task.measures)
    for result in results:
        own = [*result.notes, *_by_remark(task.asked, result.remarks)]
        unjudged = np.count_nonzero(result.judged_share[result.present] < 1)
        if unjudged and over_orders and task.unjudged == "nonrelevant":
            topics = counted(int(unjudged), "topic")
            own.append(f"unjudged documents among the first ten on {topics}")
        notes += [f"{result.name}: {note}" for note in own]
    return notes


def _by_remark(measures: Sequence[Measure], remarks: Remarks) -> list[str]:
    """The remarks on each measure, those of which the same is said together."""
    said: dict[str, list[str]] = {}
    for measure, found in zip(measures, remarks, strict=True):
        if found:
            said.setdefault("; ".join(map(str, found)), []).append(str(measure))
    return [f"{', '.join(names)}: {text}" for text, names in said.items()]


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


def _measures(measures: Measures) -> tuple[Measure | Aggregate, ...]:
    several = [measures] if isinstance(measures, Measure | Aggregate | str) else list(measures)
    parsed = [parse(measure) for measure in several]
    for measure in parsed:
        inner(measure).complete()
    if not parsed:
        raise MeasureError("no measure is given; name one, for example nDCG@10")
    return tuple(dict.fromkeys(parsed))
