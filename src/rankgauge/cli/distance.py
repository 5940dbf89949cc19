"""rankgauge distance: how much unjudged documents could change the difference of runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import click
import numpy as np

from rankgauge.cli.numbers import WholeNumber, whole
from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    max_grade_option,
    measure_option,
    method_option,
    negative_option,
    offlist_option,
    output_options,
    pairs_option,
    parts_option,
    per_topic_option,
    plugin_option,
    qrels_option,
    reading_options,
    settled_option,
    ties_option,
)
from rankgauge.cli.output import Incomplete, notify, progress, show_with_notes
from rankgauge.cli.scoring import (
    about_judgments,
    column_names,
    read_judgments,
    same_file,
)
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.arrays import Floats
from rankgauge.core.notes import Note, counted, worded
from rankgauge.core.policies import (
    DEFAULT_MED_METHOD,
    DEFAULT_ORDERED,
    MedMethod,
    Negative,
    Offlist,
    Ordered,
)
from rankgauge.core.tables import Cell, Table
from rankgauge.data.model import Judgments, Run
from rankgauge.distance.advice import advise
from rankgauge.distance.maximized import TRACE_COLUMNS, asked_measure, grades_text
from rankgauge.distance.runs import Distances, med_matrix
from rankgauge.distance.settling import settled as settle
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.evaluation.evaluator import evaluate
from rankgauge.evaluation.inputs import label
from rankgauge.io.diagnosis import can_be_read, no_shared_topics
from rankgauge.io.files import display_name
from rankgauge.io.parts import StoredRun, stored_runs
from rankgauge.io.trec import read_qrels
from rankgauge.measures.around import innermost
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import parse_all
from rankgauge.rankings.alignment import rows_of
from rankgauge.scores.model import Scores
from rankgauge.workers import outcomes


@click.command("distance")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@qrels_option("The judgements. By default no document is judged.")
@measure_option(DEFAULT_MEASURE, example="'AP(norm=min)@100'")
@per_topic_option()
@click.option(
    "--top",
    type=WholeNumber(1),
    metavar="N",
    help="Print only the N topics with the greatest distance, the greatest first.",
)
@click.option(
    "--witness",
    is_flag=True,
    help="Print labels that give the greatest difference: a row for each unjudged document of the two "
    "runs.",
)
@click.option(
    "--judge",
    type=WholeNumber(1),
    metavar="N",
    help="Print the N documents to judge first, and the distance that remains after they are judged. "
    "Only for two runs and one measure.",
)
@settled_option(
    "Print which runs are certain to stay above which other runs, however the unjudged documents are "
    "judged. Only for one measure. Without --qrels, the first file is QRELS."
)
@pairs_option("With --settled: print a row for each pair of runs.")
@method_option(
    "How to find the distance. exact: the distance itself, wherever the measure has an algorithm or "
    "there are few unjudged documents. greedy and tabu are heuristics from the literature, and give "
    "lower bounds. greedy: Algorithm 1 of Moffat (2017), for AP with his Equation 13. tabu: tabu "
    "search, as Tan and Clarke (2015) use it.",
    type=click.Choice(get_args(MedMethod)),
    default=DEFAULT_MED_METHOD,
    show_default=True,
)
@click.option(
    "--trace",
    is_flag=True,
    help="Print the steps of Moffat's Algorithm 1 for each topic, as Table 2 of his paper does. Only "
    "for two runs. Use it with --top N.",
)
@click.option(
    "--grades",
    metavar="G,G,...",
    help="The labels that unjudged documents may get. By default all whole numbers from 0 to the "
    "highest label in QRELS. `0,max` asks for less: a document is not relevant, or has the highest "
    "label.",
)
@offlist_option("Whether")
@max_grade_option("label")
@negative_option
@ties_option(get_args(Ordered), DEFAULT_ORDERED)
@reading_options
@parts_option
@workers_options
@output_options
@plugin_option
def command(
    runs: tuple[str, ...],
    qrels: str | None,
    measures: tuple[str, ...],
    per_topic: bool,
    top: int | None,
    witness: bool,
    judge: int | None,
    settled: bool,
    pairs: bool,
    method: MedMethod,
    trace: bool,
    grades: str | None,
    offlist: Offlist,
    max_grade: int | None,
    negative: Negative,
    ties: Ordered,
    lenient: bool,
    size_limit: int,
    query_column: tuple[str, ...],
    document_column: tuple[str, ...],
    score_column: tuple[str, ...],
    grade_column: tuple[str, ...],
    parts: bool,
    form: str | None,
    digits: int | None,
    output: str | None,
) -> None:
    """Say how much the unjudged documents could change the difference of runs.

    Suppose that the unjudged documents may get any labels. The distance of two runs on a topic is the
    greatest difference that their scores can then have.

    For two runs a and b, each row is a measure:

    \b
    distance    the mean distance over the topics
    exact       yes, or no if the distance is only a lower bound
    grades      the labels that unjudged documents may get
    at most     an upper bound of the distance, if some row is not exact
    difference  with --qrels: the difference of the means, a - b;
                unjudged documents count as not relevant

    For more than two runs it prints a matrix of the mean distances. Runs with a small distance stand
    next to each other.

    With --judge, each row is a document to judge:

    \b
    before  the distance on its topic before it is judged
    after   the distance on its topic if it is judged not relevant
    left    the mean distance over topics after this document and
            all documents above it are judged not relevant

    With --settled, each row is a run, the best mean first. The order of two runs is settled if it stays
    the same however their unjudged documents are judged.

    \b
    above  how many runs are certain to be better than this run
    below  how many runs are certain to be worse
    open   how many runs could be better or worse

    With --pairs as well, each row is a pair of runs: the difference of the means, the least and the most
    that it can become, and whether the order is settled.

    \b
    rankgauge distance --settled qrels.txt runs/ -m P@10

    Each RUN is a file, a folder or a pattern as in `rankgauge evaluate`. The topics are those of QRELS,
    or without QRELS those of the runs. If a run lacks a topic, its ranking for the topic is empty.

    The exit code is 0 when all is well, and 2 when nothing could be computed. It is 3 when some runs
    could not be read: the other runs are printed. A message on stderr names each unread run, and says
    why.
    """
    asked = [asked_measure(measure) for measure in parse_all(measures)]
    if judge is not None and (per_topic or witness or trace or top is not None):
        raise click.UsageError(
            "--judge prints a table of its own; leave out -q, --top, --trace and --witness"
        )
    if trace and (per_topic or witness):
        raise click.UsageError("--trace prints a table of its own; leave out -q and --witness")
    if trace and method != DEFAULT_MED_METHOD:
        raise click.UsageError(f"--trace shows Algorithm 1; leave out --method {method}")
    if method != DEFAULT_MED_METHOD and (judge is not None or settled):
        option = "--settled" if settled else "--judge"
        raise click.UsageError(f"{option} needs exact distances; leave out --method {method}")
    if judge is not None and len(asked) > 1:
        raise click.UsageError(f"--judge with {len(asked)} measures, expected one")
    if pairs and not settled:
        raise click.UsageError("--pairs works only with --settled; add --settled")
    if settled and (per_topic or witness or trace or top is not None or judge is not None):
        raise click.UsageError(
            "--settled prints a table of its own; leave out -q, --top, --trace, --witness and --judge"
        )
    if settled and len(asked) > 1:
        raise click.UsageError(f"--settled with {len(asked)} measures, expected one")
    if settled and qrels is None:
        qrels, runs = runs[0], runs[1:]
    allowed = None if grades is None else _grades(grades)
    columns = column_names(query_column, document_column, score_column, grade_column)
    reading: Any = {"lenient": lenient, "size_limit": size_limit, "columns": columns}
    known, own = (None, None) if qrels is None else read_judgments(qrels, runs, **reading)
    known = known if known is None else known.with_negative(negative)
    files = stored_runs(runs, parts=parts, **reading)
    read = _read(files, qrels if own is None else None, known, reading)
    about_known = [] if known is None else about_judgments(known)
    if settled:
        assert known is not None
        with progress(len(known.queries)) as advance:
            orders = settle(
                known,
                read.runs,
                asked[0],
                grades=allowed,
                offlist=offlist,
                max_grade=max_grade,
                ties=ties,
                executor=workers(),
                progress=advance,
            )
        notify([*read.notes, *about_known])
        show_with_notes(orders.pair_table() if pairs else orders.table(), form, digits, output)
        _fail_if_unread(read)
        return
    if len(read.runs) > 2:
        refused = {
            "--judge": judge is not None,
            "--witness": witness,
            "--trace": trace,
            "several measures": len(asked) > 1,
        }
        for option, is_given in refused.items():
            if is_given:
                raise click.UsageError(f"{option} with {len(read.runs)} runs, expected two")
    measured = []
    notify(_about_time(asked, read.runs))
    for measure in asked:
        topics = _topics(read.runs, known)
        with progress(topics) as advance:
            measured.append(
                med_matrix(
                    measure,
                    read.runs,
                    known,
                    grades=allowed,
                    offlist=offlist,
                    max_grade=max_grade,
                    method=method,
                    ties=ties,
                    executor=workers(),
                    progress=advance,
                )
            )
    judged = None
    if known is not None and len(read.runs) == 2 and not (witness or trace or judge is not None):
        highest = max(measured[0].grades[-1], int(known.grades.max(initial=0)), max_grade or 1)
        judged = _Judged.of(evaluate(known, read.runs, asked, ties=ties, max_grade=highest))
    if judge is not None:
        table = advise(measured[0], judge).table()
    elif witness:
        table = _witness_table(measured, top)
    elif trace:
        table = _trace_table(measured, top)
    elif len(read.runs) > 2:
        shown = measured[0]
        table = shown.query_table(top) if per_topic or top is not None else shown.table()
        table = _apart(table)
    else:
        by_topic = per_topic or top is not None
        table = _topic_table(measured, judged, top) if by_topic else _table(measured, judged)
    notify([*read.notes, *about_known, *(measured[0].notes if measured else ())])
    show_with_notes(table, form, digits, output)
    _fail_if_unread(read)


class _Read(NamedTuple):
    """The runs, what lenient reading left out, and what could not be read."""

    runs: list[Run]
    notes: list[Note]
    failed: list[str]


def _read(
    files: Sequence[StoredRun], qrels: str | None, known: Judgments | None, reading: Any
) -> _Read:
    """The runs that can be used: a run must share a topic with the judgments."""
    sources = [run for run in files if qrels is None or not same_file(run.path, qrels)]
    if len(sources) < 2:
        raise click.UsageError(f"{counted(len(sources), 'run')}, expected at least two to compare")
    read = _Read([], [], [])
    with progress(len(sources)) as advance:
        for source, result in outcomes(lambda source: source(), sources, None, label):
            if isinstance(result, RankgaugeError):
                judged = can_be_read(read_qrels, str(source.path), **(reading | {"lenient": False}))
                remedy = "; the file has judgements: give it with --qrels" if judged else ""
                read.failed.append(f"{result}{remedy}")
            elif known is not None and not (rows_of(known.queries, result.queries) >= 0).any():
                where = display_name(source.path)
                read.failed.append(str(no_shared_topics(where, result.queries, known)))
            else:
                read.runs.append(result)
                read.notes.extend(replace(note, run=result.name) for note in result.dropped)
            if advance is not None:
                advance(source.label)
    if len(read.runs) < 2:
        raise RankgaugeError("\n".join(read.failed))
    return read


def _fail_if_unread(read: _Read) -> None:
    """End the command with exit code 3 when some of the runs could not be read."""
    if read.failed:
        count = (
            f"{counted(len(read.failed), 'run')} of {len(read.runs) + len(read.failed)} not read"
        )
        raise Incomplete("\n".join((*read.failed, count)))


SLOW = ("AP", "bpref", "infAP", "GAP", "Q")
"""Measures whose distances take time that grows faster than the square of the length of the lists."""

LONG = 500
"""With so many documents a topic or more, such a measure without a cut-off takes long."""


def _about_time(measures: Sequence[Measure], runs: Sequence[Run]) -> list[Note]:
    """A note for each measure that will take long, for before the work starts."""
    longest = max(int(np.diff(run.bounds).max(initial=0)) for run in runs)
    if longest < LONG:
        return []
    kind = (
        f"this will take long: up to {longest:,} documents a topic and no cut-off; a cut-off helps"
    )
    return [
        Note(kind, measure=str(measure), detail=f"such as {innermost(measure).name}@100")
        for measure in measures
        if measure.depth is None and innermost(measure).name in SLOW
    ]


def _topics(runs: Sequence[Run], known: Judgments | None) -> int:
    """On how many topics the runs are compared."""
    if known is not None:
        return len(known.queries)
    return len({query for run in runs for query in run.queries})


def _grades(text: str) -> list[int | Literal["max"]]:
    try:
        return ["max" if grade.strip() == "max" else whole(grade) for grade in text.split(",")]
    except ValueError:
        raise MeasureError(
            f"--grades {text}, expected whole numbers with commas, such as 0,1,2 or 0,max"
        ) from None


def _apart(table: Table) -> Table:
    """The matrix, its first column renamed if a run has the same name."""
    first, *others = table.columns
    while first in others:
        first += " "
    return replace(table, columns=(first, *others))


class _Judged(NamedTuple):
    """The scores of the first run minus the scores of the second run, by the judgements."""

    means: list[float]
    topics: Floats

    @classmethod
    def of(cls, scores: Scores) -> _Judged:
        a, b = scores.mean().values()
        names = [str(measure) for measure in scores.measures]
        return cls([a[name] - b[name] for name in names], scores.values[0] - scores.values[1])


def _table(measured: Sequence[Distances], judged: _Judged | None) -> Table:
    """A row for each measure."""
    exact = all(distances.exact for distances in measured)
    rows: list[tuple[Cell, ...]] = []
    for m, distances in enumerate(measured):
        row: list[Cell] = [str(distances.measure), len(distances.queries), distances.mean()]
        row += [_yes(distances.exact), grades_text(distances.grades)]
        row += [] if exact else [_most(distances)]
        rows.append((*row, *(() if judged is None else (judged.means[m],))))
    return Table(
        ("measure", "topics", "distance", *_columns(exact, judged)),
        tuple(rows),
        _names(measured[0]),
    )


def _topic_table(measured: Sequence[Distances], judged: _Judged | None, top: int | None) -> Table:
    """A row for each measure and topic, and the means; or only the topics with the greatest distance."""
    exact = all(distances.exact for distances in measured)
    rows: list[tuple[Cell, ...]] = []
    for m, distances in enumerate(measured):
        name = str(distances.measure)
        for topic in _chosen(distances, top):
            query = distances.queries[topic]
            distance = distances.distance(query)
            free = sum(listed.label is None for listed in distances.documents(query))
            row: list[Cell] = [name, query, free]
            row += [
                distance.ahead,
                distance.value,
                _yes(distance.exact),
                grades_text(distance.grades),
            ]
            row += [] if exact else [distance.upper]
            rows.append((*row, *(() if judged is None else (float(judged.topics[topic, m]),))))
        if top is None:
            row = [name, "all", None, None, distances.mean(), _yes(distances.exact)]
            row += [grades_text(distances.grades)]
            row += [] if exact else [_most(distances)]
            rows.append((*row, *(() if judged is None else (judged.means[m],))))
    columns = ("measure", "topic", "free", "ahead", "distance", *_columns(exact, judged))
    return Table(columns, tuple(rows), _names(measured[0]))


def _witness_table(measured: Sequence[Distances], top: int | None) -> Table:
    """A row for each measure, topic and unjudged document."""
    rows: list[tuple[Cell, ...]] = []
    notes = list(_names(measured[0]))
    for distances in measured:
        name = str(distances.measure)
        for topic in _chosen(distances, top):
            query = distances.queries[topic]
            labels, others, _ = distances.distance(query).witness()
            for document, a, b, known in distances.documents(query):
                if known is None:
                    rows.append((name, query, document, labels[document], a, b))
            if others:
                notes.append(
                    f"{name}, topic {query}: {counted(others, 'document')} that neither run retrieved "
                    f"{'counts' if others == 1 else 'count'} as relevant too"
                )
    columns = ("measure", "topic", "document", "label", "rank a", "rank b")
    return Table(columns, tuple(rows), tuple(notes))


def _trace_table(measured: Sequence[Distances], top: int | None) -> Table:
    """A row for each measure, topic and step of Algorithm 1."""
    rows: list[tuple[Cell, ...]] = []
    notes: dict[str, None] = dict.fromkeys(_names(measured[0]))
    for distances in measured:
        for topic in _chosen(distances, top, free=True):
            query = distances.queries[topic]
            trace = distances.distance(query, trace=True).trace
            assert trace is not None
            rows += [(str(distances.measure), query, *row) for row in trace.table().rows]
            notes |= dict.fromkeys(worded(about for about in trace.notes if about.column))
    return Table(("measure", "topic", *TRACE_COLUMNS), tuple(rows), tuple(notes))


def _chosen(distances: Distances, top: int | None, *, free: bool = False) -> list[int]:
    """The topics by number: all in order, or those with the greatest distance. With `free`, only topics
    with unjudged documents."""
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


def _columns(exact: bool, judged: _Judged | None) -> tuple[str, ...]:
    more = (*(() if exact else ("at most",)), *(() if judged is None else ("difference",)))
    return ("exact", "grades", *more)


def _names(distances: Distances) -> tuple[str, ...]:
    a, b = distances.runs
    return (f"a is {a}, b is {b}",)


def _most(distances: Distances) -> float:
    return float(distances.upper.mean()) if distances.upper.size else float("nan")


def _yes(value: bool) -> str:
    return "yes" if value else "no"
