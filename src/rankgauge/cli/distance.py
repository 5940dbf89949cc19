"""rankgauge distance: how much unjudged documents could change the difference between runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, option, takes
from rankgauge.cli.numbers import WholeNumber, parse_integer
from rankgauge.cli.options import (
    DEFAULT_MEASURE,
    NEGATIVE,
    PAIRS,
    PER_QUERY,
    QRELS,
    SETTLED,
    Output,
    RunFileOptions,
    max_grade_option,
    measure_option,
    method_option,
    offlist_option,
    plugin_option,
    ties_option,
)
from rankgauge.cli.output import Incomplete, notify, progress
from rankgauge.cli.scoring import judgment_notes, read_judgments, same_file
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import (
    DEFAULT_MED_METHOD,
    DEFAULT_ORDERED,
    MedMethod,
    Negative,
    Offlist,
    Ordered,
)
from rankgauge.core.tables import Table
from rankgauge.data.model import Judgments, Run
from rankgauge.distance.advice import advise
from rankgauge.distance.maximized import parse_distance_measure
from rankgauge.distance.readable import UsableRuns, usable_runs
from rankgauge.distance.runs import med_matrix
from rankgauge.distance.settling import settled as settle
from rankgauge.distance.two_runs import RunPairDistances, time_notes
from rankgauge.errors import MeasureError
from rankgauge.evaluation.evaluator import evaluate
from rankgauge.io.diagnosis import are_judgments_and_runs
from rankgauge.io.parts import stored_runs
from rankgauge.measures.grammar import parse_all


class DistanceTables(OptionGroup, heading="Output"):
    """What is printed in place of the means."""

    per_query: bool = PER_QUERY
    top: int | None = option(
        "--top",
        type=WholeNumber(1),
        metavar="N",
        help="Print only the N queries with the largest distance, in descending order.",
    )
    witness: bool = option(
        "--witness",
        common=False,
        is_flag=True,
        help="Print labels that produce the largest difference, with one row per unjudged "
        "document of the two runs.",
    )
    judge: int | None = option(
        "--judge",
        type=WholeNumber(1),
        metavar="N",
        help="Print the N documents to judge first, and the distance that remains once they are "
        "judged. Only for two runs and one measure.",
    )
    settled: bool = SETTLED.but(
        "Print which runs are certain to stay ahead of which others, however the unjudged "
        "documents are judged. Only for one measure. Without --qrels, the first file is "
        "QRELS.",
        heading="Output",
    )
    pairs: bool = PAIRS.but("With --settled: print one row per pair of runs.", common=False)
    trace: bool = option(
        "--trace",
        common=False,
        is_flag=True,
        help="Print the steps of Moffat's Algorithm 1 for each query, as in Table 2 of his "
        "paper. Only for two runs. Best used with --top N.",
    )

    def check(self, method: MedMethod, measures: int) -> None:
        """UsageError for options that cannot be used together."""
        special = self.witness or self.trace
        if self.judge is not None and (self.per_query or special or self.top is not None):
            raise click.UsageError(
                "--judge prints a table of its own; leave out -q, --top, --trace and --witness"
            )
        if self.trace and (self.per_query or self.witness):
            raise click.UsageError("--trace prints a table of its own; leave out -q and --witness")
        if self.trace and method != DEFAULT_MED_METHOD:
            raise click.UsageError(f"--trace shows Algorithm 1; leave out --method {method}")
        if method != DEFAULT_MED_METHOD and (self.judge is not None or self.settled):
            asked = "--settled" if self.settled else "--judge"
            raise click.UsageError(f"{asked} needs exact distances; leave out --method {method}")
        if self.judge is not None and measures > 1:
            raise click.UsageError(f"--judge with {measures} measures, expected one")
        if self.pairs and not self.settled:
            raise click.UsageError("--pairs works only with --settled; add --settled")
        others = self.per_query or special or self.top is not None or self.judge is not None
        if self.settled and others:
            raise click.UsageError(
                "--settled prints a table of its own; leave out -q, --top, --trace, --witness and "
                "--judge"
            )
        if self.settled and measures > 1:
            raise click.UsageError(f"--settled with {measures} measures, expected one")

    def check_runs(self, runs: int, measures: int) -> None:
        """UsageError for tables of two runs and one measure, where there are more."""
        refused = {
            "--judge": self.judge is not None,
            "--witness": self.witness,
            "--trace": self.trace,
            "several measures": measures > 1,
        }
        for asked, is_given in refused.items():
            if is_given and runs > 2:
                raise click.UsageError(f"{asked} with {runs} runs, expected two")


def _grades(text: str | None) -> list[int | Literal["max"]] | None:
    if text is None:
        return None
    try:
        return [
            "max" if grade.strip() == "max" else parse_integer(grade) for grade in text.split(",")
        ]
    except ValueError:
        raise MeasureError(
            f"--grades {text}, expected whole numbers with commas, such as 0,1,2 or 0,max"
        ) from None


class DistancePolicies(OptionGroup, heading="Policies", common=False):
    """How distances are found, and over which labels."""

    method: MedMethod = method_option(
        "How to compute the distance. exact: the distance itself, if the measure has an "
        "algorithm or there are few unjudged documents. greedy and tabu are heuristics from "
        "the literature that give lower bounds. greedy: Algorithm 1 of Moffat (2017), with "
        "his Equation 13 for AP. tabu: tabu search, as in Tan and Clarke (2015).",
        type=click.Choice(get_args(MedMethod)),
        default=DEFAULT_MED_METHOD,
        show_default=True,
    )
    grades: str | None = option(
        "--grades",
        metavar="G,G,...",
        help="The labels that unjudged documents may get. By default, all whole numbers from 0 "
        "to the highest label in QRELS. `0,max` allows only 0 and the highest label.",
    )
    offlist: Offlist = offlist_option("Whether")
    max_grade: int | None = max_grade_option("label")
    negative: Negative = NEGATIVE
    ties: Ordered = ties_option(get_args(Ordered), DEFAULT_ORDERED)


@click.command("distance", cls=HeadedCommand)
@click.argument("runs", nargs=-1, required=True, metavar="[QRELS] RUN...")
@QRELS.but(
    "The judgments, unless they are the first file. Without judgments, no document is judged."
)
@measure_option(DEFAULT_MEASURE, example="'AP(norm=min)@100'")
@plugin_option
@takes(policies=DistancePolicies, reading=RunFileOptions)
@workers_options
@takes(shown=DistanceTables, output=Output)
def command(
    runs: tuple[str, ...],
    qrels: str | None,
    measures: tuple[str, ...],
    policies: DistancePolicies,
    reading: RunFileOptions,
    shown: DistanceTables,
    output: Output,
) -> None:
    """Compute how much the unjudged documents could change the difference between runs.

    The distance between two runs on a query is the largest difference that their scores can have, over
    all possible labels of the unjudged documents.

    Each RUN is a file, a folder or a pattern as in `rankgauge evaluate`. The queries come from QRELS or,
    without QRELS, from the runs. A run that lacks a query has an empty ranking for it.

    \b
    rankgauge distance qrels.txt a.run b.run -m nDCG@10 -m AP
    rankgauge distance qrels.txt a.run b.run --judge 20
    rankgauge distance --settled qrels.txt runs/ -m P@10
    \f
    For two runs a and b, each row is a measure:

    \b
    distance    the mean distance over queries
    exact       yes, or no if the distance is only a lower bound
    grades      the labels that unjudged documents may get
    at most     an upper bound on the distance, if some row is not exact
    difference  with QRELS: the difference between the means, a - b;
                unjudged documents count as not relevant

    For more than two runs, the command prints a matrix of mean distances, with similar runs next to each
    other.

    With --judge, each row is a document to judge:

    \b
    before  the distance on its query before it is judged
    after   the distance on its query once it is judged not relevant
    left    the mean distance over queries once this document and
            all documents above it are judged not relevant

    With --settled, each row is a run, sorted by mean score, best first. The order of two runs is settled
    if it stays the same however their unjudged documents are judged.

    \b
    beaten by  number of runs that are certain to be better than this run
    beats      number of runs that are certain to be worse
    open       number of runs that could be better or worse

    In tsv, csv and jsonl, the first two columns are called above and below.

    With --pairs as well, each row is a pair of runs: the difference between the means, its possible
    minimum and maximum, and whether the order is settled.

    The exit code is 0 on success and 2 if nothing could be computed. It is 3 if some runs could not be
    read; the others are still printed. A message on stderr names each unread run and gives the reason.
    """
    asked = [parse_distance_measure(measure) for measure in parse_all(measures)]
    shown.check(policies.method, len(asked))
    grades = _grades(policies.grades)
    if qrels is None and (
        shown.settled or are_judgments_and_runs(runs[0], runs[1:], **reading.how)
    ):
        qrels, runs = runs[0], runs[1:]
    known, own = (None, None) if qrels is None else read_judgments(qrels, runs, **reading.how)
    known = known if known is None else known.with_negative(policies.negative)
    files = stored_runs(runs, parts=reading.parts, **reading.how)
    if qrels is not None and own is None:
        files = [run for run in files if not same_file(run.path, qrels)]
    if len(files) < 2:
        raise click.UsageError(
            f"{count_phrase(len(files), 'run')}, expected at least two to compare"
        )
    with progress(len(files)) as advance:
        read = usable_runs(files, known, advance, **reading.how)
    about_known = [] if known is None else judgment_notes(known)
    how: dict[str, Any] = {
        "grades": grades,
        "offlist": policies.offlist,
        "max_grade": policies.max_grade,
        "ties": policies.ties,
        "executor": workers(),
    }
    if shown.settled:
        assert known is not None
        with progress(len(known.queries)) as advance:
            orders = settle(known, read.runs, asked[0], progress=advance, **how)
        notify([*read.notes, *about_known])
        output.show(orders.pair_table() if shown.pairs else orders.table())
        _fail_if_unread(read)
        return
    shown.check_runs(len(read.runs), len(asked))
    notify(time_notes(asked, read.runs))
    measured = []
    for measure in asked:
        with progress(_count_queries(read.runs, known)) as advance:
            one = med_matrix(
                known, read.runs, measure, method=policies.method, progress=advance, **how
            )
        measured.append(one)
    by_topic = shown.per_query or shown.top is not None
    if shown.judge is not None:
        table = advise(measured[0], shown.judge).table()
    elif len(read.runs) > 2:
        table = measured[0].query_table(shown.top) if by_topic else measured[0].table()
        table = _rename_first_column(table)
    elif shown.witness:
        table = RunPairDistances(tuple(measured)).witness_table(shown.top)
    elif shown.trace:
        table = RunPairDistances(tuple(measured)).trace_table(shown.top)
    else:
        scores = None
        if known is not None:
            given = policies.max_grade or 1
            highest = max(measured[0].grades[-1], int(known.grades.max(initial=0)), given)
            scores = evaluate(known, read.runs, asked, ties=policies.ties, max_grade=highest)
        both = RunPairDistances(tuple(measured), scores)
        table = both.query_table(shown.top) if by_topic else both.table()
    notify([*read.notes, *about_known, *(measured[0].notes if measured else ())])
    output.show(table)
    _fail_if_unread(read)


def _fail_if_unread(read: UsableRuns) -> None:
    """End the command with exit code 3 when some of the runs could not be read."""
    if read.failed:
        total = len(read.runs) + len(read.failed)
        count = f"{count_phrase(len(read.failed), 'run')} of {total} not read"
        raise Incomplete("\n".join((*read.failed, count)))


def _count_queries(runs: Sequence[Run], known: Judgments | None) -> int:
    """On how many queries the runs are compared."""
    if known is not None:
        return len(known.queries)
    return len({query for run in runs for query in run.queries})


def _rename_first_column(table: Table) -> Table:
    """The matrix, its first column renamed if a run has the same name."""
    first, *others = table.columns
    while first in others:
        first += " "
    return replace(table, columns=(first, *others))
