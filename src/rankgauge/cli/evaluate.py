"""rankgauge evaluate: score runs against judgments."""

from __future__ import annotations

from typing import Literal

import click

from rankgauge.cli.groups import OptionGroup, option, takes
from rankgauge.cli.options import (
    PER_QUERY,
    SAVE,
    SETTLED,
    SIGNATURE,
    CommandWithFiles,
    Output,
    level_option,
    measure_option,
    offlist_option,
    plugin_option,
    samples_option,
)
from rankgauge.cli.output import fail_if_incomplete
from rankgauge.cli.scoring import Scoring
from rankgauge.core.policies import Offlist

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10")


SORT = option(
    "--sort",
    heading="Output",
    common=False,
    type=click.Choice(["measure", "none"]),
    help="measure: sort by the first measure, best run first. none: keep the order of the "
    "files. By default measure in the format table, and none in other formats.",
)


class MeanIntervalOptions(OptionGroup, heading="Statistics"):
    """The intervals of means."""

    interval: Literal["t", "bootstrap"] | None = option(
        "--interval",
        is_flag=False,
        flag_value="t",
        type=click.Choice(["t", "bootstrap"]),
        help="Print a confidence interval next to each mean. t: Student's t. bootstrap: BCa "
        "bootstrap over queries. Without a value: t.",
    )
    level: float = level_option()
    samples: int = samples_option()


@click.command("evaluate", cls=CommandWithFiles)
@measure_option(*DEFAULT_MEASURES, example="'gm(AP(rel=2))'")
@plugin_option
@takes(intervals=MeanIntervalOptions)
@SETTLED.but(
    "Add a column that tells whether each run is certain to stay above the next by the "
    "first measure, however the unjudged documents of the two runs are judged."
)
@takes(scoring=Scoring)
@offlist_option("With --settled: whether")
@PER_QUERY
@SORT
@SIGNATURE
@SAVE
@takes(output=Output)
def command(
    measures: tuple[str, ...],
    intervals: MeanIntervalOptions,
    settled: bool,
    scoring: Scoring,
    offlist: Offlist,
    per_query: bool,
    sort: str | None,
    signature: bool,
    save: str | None,
    output: Output,
) -> None:
    """Score runs against judgments.

    QRELS and each RUN are TREC files, CSV or TSV with a header, JSON, JSON Lines or Parquet. The format
    is detected from the content. Files may be compressed (gz, bz2, xz, zst). - is standard input. A
    folder stands for all files in it.

    \b
    rankgauge evaluate qrels.txt bm25.run dense.csv
    rankgauge evaluate qrels.txt 'runs/*.gz' -m nDCG@20 -m AP --interval
    rankgauge evaluate rag.jsonl
    rankgauge evaluate ratings.csv top10.csv --document-column movie
    \f
    A pattern such as 'runs/*.gz' stands for all matching files. With --parts, a folder or a pattern is a
    single run.

    A JSON Lines file may contain both a run and its judgments, one query per line. Further files, if
    any, are runs that are scored with the judgments of the first file.

    For each run, the table shows the mean of each measure, and:

    \b
    over         all: the means cover all judged queries
                 answered: the means cover the queries that the run answered
    queries      the number of queries that the means cover
    missing      the number of judged queries that the run lacks
    no relevant  the number of queries without a relevant document
    judged@10    the share of the top ten documents that are judged

    A run that lacks queries has two rows, one for `all` and one for `answered`.

    tsv, csv and jsonl have all of these columns; there, queries is named topics. Other formats omit
    uninformative columns: over and missing if no run lacks a query, no relevant if every query has a
    relevant document, and judged@10 if only relevant documents are judged. If the terminal is wide
    enough, a chart of the first measure is drawn next to the table.

    The exit code is 0 on success and 2 if nothing could be evaluated. It is 3 if some runs could not be
    read or share no query with QRELS; the others are still printed. A message on stderr names each
    skipped run and gives the reason.
    """
    if per_query and intervals.interval is not None:
        raise click.UsageError("--interval applies to the means; omit -q")
    if per_query and settled:
        raise click.UsageError("--settled applies to the means; omit -q")
    if settled:
        from rankgauge.cli.settling import check_policies

        check_policies(scoring)
    judgments, scores = scoring.scores(measures)
    by_measure = output.chosen_form == "table" if sort is None else sort == "measure"
    shown = scores.sorted() if by_measure else scores
    if per_query:
        table = shown.query_table(signature=signature)
    else:
        table = shown.table(
            signature=signature,
            interval=intervals.interval,
            level=intervals.level,
            samples=intervals.samples,
            seed=scoring.seed,
            notes=False,  # they go to standard error
        )
    if settled:
        from rankgauge.cli.settling import add_settled_column

        table = add_settled_column(table, scoring, judgments, scores, offlist)
    scoring.print_notes(judgments, scores)
    if save is not None:
        scores.save(save)
    (output.show_whole if signature else output.show)(table)
    fail_if_incomplete(scores)
