"""rankgauge forecast two-phase: deep means from deep judgments of a few queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, argument, option, takes
from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.cli.options import (
    PAIRS,
    PLOT,
    Output,
    RunFileOptions,
    level_option,
    measure_option,
    plugin_option,
)
from rankgauge.cli.output import fail_if_incomplete, notify, print_or_write
from rankgauge.cli.scoring import Scoring, ScoringOptions, judgment_notes
from rankgauge.cli.topic_sets import read_set
from rankgauge.cli.workers import WorkerOptions
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.tables import Table
from rankgauge.errors import RankgaugeError
from rankgauge.forecast.estimates import two_phase
from rankgauge.forecast.phases import check_shallow_included, highest_grade, select_common_runs
from rankgauge.forecast.plans import plan
from rankgauge.forecast.topic_choice import choose_queries
from rankgauge.io.files import is_stream
from rankgauge.io.trec import read_qrels
from rankgauge.measures.grammar import parse_all
from rankgauge.rankings.alignment import NOT_JUDGED
from rankgauge.scores.model import Scores

TARGET = "nDCG@100"


class TwoPhaseRuns(ScoringOptions, RunFileOptions, WorkerOptions, heading="Judgments", common=True):
    """The runs, and the judgments of both phases."""

    runs: tuple[str, ...] = argument("runs", nargs=-1, metavar="RUN...")
    shallow: str = option(
        "--shallow",
        required=True,
        metavar="QRELS",
        help="The shallow judgments of all queries, such as the judgments of a pool of depth 10.",
    )
    deep: str | None = option(
        "--deep",
        metavar="QRELS",
        help="The deep judgments. The queries in this file are the deep queries; for each of "
        "them, QRELS must have all judgments, including the shallow ones.",
    )
    deep_queries: str | None = option(
        "--deep-queries",
        old="--deep-topics",
        metavar="FILE",
        help="The deep queries, one id per line. Needed if the file of --deep also has queries "
        "that are not judged deeply. With --choose: queries that are already judged deeply "
        "and are not drawn again.",
    )


class PhaseTables(OptionGroup, heading="Output"):
    """What is printed in place of the estimates, and drawn."""

    width: float | None = option(
        "--plan",
        type=Decimal(0, min_open=True),
        metavar="WIDTH",
        help="Print how many deep queries are needed for intervals that are at most WIDTH wide. "
        "The deep queries that you already have, about 5, serve as the pilot.",
    )
    choose: int | None = option(
        "--choose",
        type=WholeNumber(1),
        metavar="M",
        help="Draw M queries to judge deeply, and print their ids. Needs only --shallow. The "
        "sample is stratified by the number of relevant documents. --seed fixes the draw.",
    )
    pairs: bool = PAIRS.but(
        "Print one row per pair of runs: the difference, and whether the runs are separable."
    )
    plot: str | None = PLOT.but(
        "Draw the interval of each run, as .svg or .png. Only for one measure."
    )

    def check(self, judged: TwoPhaseRuns, measures: Sequence[str]) -> None:
        """UsageError for options that cannot be used together."""
        if self.choose is not None:
            beside = {
                "--deep": judged.deep,
                "RUN": judged.runs,
                "--plan": self.width,
                "--pairs": self.pairs,
                "--plot": self.plot,
            }
            for name, value in beside.items():
                if value:
                    raise click.UsageError(f"--choose needs only --shallow; leave out {name}")
            return
        if judged.deep is None or not judged.runs:
            missing = "--deep QRELS" if judged.deep is None else "RUN..."
            raise click.UsageError(f"{missing} is missing; only --choose works without it")
        if self.width is not None and (self.pairs or self.plot is not None):
            raise click.UsageError("--plan prints a plan; leave out --pairs and --plot")
        if self.plot is not None and len(parse_all(measures)) > 1:
            raise click.UsageError("--plot with several measures, expected one")


@click.command("two-phase", cls=HeadedCommand)
@takes(judged=TwoPhaseRuns)
@measure_option(TARGET)
@level_option()
@takes(tables=PhaseTables, output=Output)
@plugin_option
def command(
    judged: TwoPhaseRuns,
    measures: tuple[str, ...],
    level: float,
    tables: PhaseTables,
    output: Output,
) -> None:
    """Estimate the means that deep judgments of all queries would give, from deep judgments of a few.

    The command needs shallow judgments of all queries, and deep judgments of some queries drawn at
    random. Files are as in `rankgauge evaluate`.

    \b
    rankgauge forecast two-phase --shallow q10.txt --choose 5 -o pilot.txt
    rankgauge forecast two-phase --shallow q10.txt --deep deep.txt runs/ --plan 0.05
    rankgauge forecast two-phase --shallow q10.txt --choose 9 --deep-queries pilot.txt
    rankgauge forecast two-phase --shallow q10.txt --deep deep.txt runs/ -m nDCG@100
    \f
    Each row is a run, sorted by estimate, best first:

    \b
    rank                      the rank by the estimate
    best_rank, worst_rank     the ranks that the run may have; runs that are not
                              separable may change places
    mean                      the estimate of its deep mean over all queries
    low, high                 the confidence interval of the estimate
    deep, deep_low, deep_high the same from the deep queries alone
    shallow                   its shallow mean over all queries

    The intervals apply to the queries of --shallow, not to new queries. If all queries are judged
    deeply, the means are exact and the intervals have width 0.

    Queries that a run lacks count as empty rankings. The exit code is 0 on success and 2 if nothing
    could be estimated. It is 3 if some runs could not be read; the others are still estimated. A message
    on stderr names each unread run and gives the reason.
    """
    scoring = judged.part(Scoring, qrels=judged.shallow, missing="zero")
    tables.check(judged, measures)
    if tables.choose is not None:
        if output.form is not None or output.digits is not None:
            raise click.UsageError("--choose prints ids; omit --format and --digits")
        chosen = _choose_queries(scoring, tables.choose, judged.deep_queries)
        print_or_write((f"{topic}\n" for topic in chosen), output.file)
        return
    assert judged.deep is not None  # checked
    twice = judged.shallow == judged.deep and is_stream(judged.shallow)
    if twice or any(map(is_stream, judged.runs)):
        raise click.UsageError(
            "standard input or a pipe can be read only once, but is needed twice; give a file"
        )
    shallow_scores, deep_scores = _both_scores(scoring, judged.deep, measures)
    topics = None
    if judged.deep_queries is not None:
        topics = read_set(judged.deep_queries, deep_scores.queries, "deep judgments")
    printed: list[Table] = []
    notes: list[Note] = []
    for measure in deep_scores.measures:
        both = [scores.select(measures=[measure]) for scores in (shallow_scores, deep_scores)]
        if tables.width is not None:
            planned = plan(both[0], both[1], tables.width, level, topics)
            printed.append(planned.table())
            notes += planned.notes
            continue
        estimate = two_phase(both[0], both[1], topics, level)
        printed.append(estimate.pair_table() if tables.pairs else estimate.table())
        notes += estimate.notes
        if tables.plot is not None:
            from rankgauge.figures.files import save_figure

            save_figure(estimate.figure(), tables.plot)
    rows = tuple(row for table in printed for row in table.rows)
    output.show(Table(printed[0].columns, rows, note_texts(notes)))
    fail_if_incomplete(shallow_scores)


def _choose_queries(scoring: Scoring, number: int, deep_queries: str | None) -> tuple[str, ...]:
    """The queries of --choose, without those in the file of --deep-queries."""
    judgments = read_qrels(scoring.qrels, subtopics=scoring.subtopics, **scoring.how)
    notify(judgment_notes(judgments))
    queries = judgments.queries.texts()
    without = [] if deep_queries is None else read_set(deep_queries, queries, "shallow judgments")
    topics = len(queries) - len(without)
    if number > topics:
        beside = f" without the {len(without)} in {deep_queries}" if without else ""
        remedy = f"choose at most {topics}" if topics else "there is nothing left to choose"
        raise RankgaugeError(
            f"--choose {number}: {judgments.source} has only {count_phrase(topics, 'query')}{beside}; "
            f"{remedy}"
        )
    return choose_queries(judgments, number, scoring.seed, without)


def _both_scores(scoring: Scoring, deep: str, measures: Sequence[str]) -> tuple[Scores, Scores]:
    """The shallow and the deep scores of the runs that have both, with one highest grade for both.

    `failed` of the shallow scores has all runs that are left out. Notes go to standard error.
    """
    parsed = parse_all(measures)
    deep_scoring = replace(scoring, qrels=deep)
    shallow_judgments, sources = scoring.inputs()
    deep_judgments, deep_sources = deep_scoring.inputs()
    check_shallow_included(shallow_judgments, deep_judgments)
    highest = scoring.max_grade or highest_grade(shallow_judgments, deep_judgments)
    scoring, deep_scoring = (replace(each, max_grade=highest) for each in (scoring, deep_scoring))
    shallow_scores = scoring.evaluate_runs(shallow_judgments, sources, parsed)
    deep_scores = deep_scoring.evaluate_runs(deep_judgments, deep_sources, parsed)
    scoring.print_notes(shallow_judgments, shallow_scores)
    told = {*shallow_scores.notes}
    others = [note for note in deep_scores.notes if note not in told and note.kind != NOT_JUDGED]
    notify([*judgment_notes(deep_judgments), *others])
    return select_common_runs(shallow_scores, deep_scores)
