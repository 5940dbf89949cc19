"""From judgments and runs to scores: align the two, then ask each measure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
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
from rankgauge.measures.base import Aggregate, Measure
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
        measures=wanted,
        unjudged=unjudged,
        ties=ties,
        seed=seed,
        documents=documents,
        precision=precision,
        threads=1 if executor is not None else max(1, processors() // max(1, len(sources))),
    )
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
    estimated: bool
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Task:
    """What is done to each run; it can be sent to another process."""

    judgments: Judgments
    judged: JudgedLabels
    measures: Sequence[Measure | Aggregate]
    unjudged: Unjudged
    ties: Ties
    seed: int
    documents: int | None
    precision: Precision | None
    threads: int

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
        values, estimates = self.score(rankings)
        notes = (*run.dropped, *alignment_notes(lists.unknown, lists.merged), *estimates)
        return _RunScores(
            run.name,
            values,
            lists.present,
            judged_share,
            precision,
            bool(estimates),
            tuple(f"{run.name}: {note}" for note in notes),
        )

    def score(self, rankings: Rankings | TiedRankings) -> tuple[Floats, list[str]]:
        """List × measure, and which of the numbers are estimates."""
        if self.unjudged == "condensed":
            rankings = rankings.condensed()
        values = np.empty((len(rankings), len(self.measures)))
        estimates = []
        for column, measure in enumerate(self.measures):
            values[:, column], note = _scored(measure, rankings)
            estimates += [] if note is None else [f"{measure}: {note}"]
        return values, estimates

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
        values, _ = self.score(lists.rankings)
        return _PieceScores(lists.queries, values, judged_share, lists.unknown, lists.merged)

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
        rest = _PieceScores(absent, self.score(nothing)[0], _scored(JUDGED_AT_10, nothing)[0], 0, 0)
        values = np.empty((len(self.judged), len(self.measures)))
        judged_share = np.empty(len(self.judged))
        for piece in (*pieces, rest):
            values[piece.queries] = piece.values
            judged_share[piece.queries] = piece.judged_share
        unknown, merged = (sum(getattr(p, what) for p in pieces) for what in ("unknown", "merged"))
        notes = tuple(f"{name}: {note}" for note in alignment_notes(unknown, merged))
        precision = self.precision or "single"
        return _RunScores(name, values, present, judged_share, precision, False, notes)


@dataclass(frozen=True)
class _PieceScores:
    """The scores of some queries of a run, and what was found on the way."""

    queries: Ints
    values: Floats
    judged_share: Floats
    unknown: int
    merged: int


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


def _measures(measures: Measures) -> tuple[Measure | Aggregate, ...]:
    several = [measures] if isinstance(measures, Measure | Aggregate | str) else list(measures)
    parsed = [parse(measure) for measure in several]
    for measure in parsed:
        _inner(measure).complete()
    if not parsed:
        raise MeasureError("no measure is given; name one, for example nDCG@10")
    return tuple(dict.fromkeys(parsed))
