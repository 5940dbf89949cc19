"""rankgauge evaluate: score runs against judgements."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from rankgauge.cli.options import (
    MACHINE_FORMATS,
    chosen_format,
    notify,
    output_options,
    plugin_option,
    show,
)
from rankgauge.cli.scoring import Scoring, fail_if_incomplete, scoring_options

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10")


@click.command("evaluate")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    default=DEFAULT_MEASURES,
    show_default=True,
    help="A measure such as nDCG@10, 'AP(rel=2)' or 'gm(AP)'; may be repeated.",
)
@click.option("-q", "--per-topic", is_flag=True, help="A row for each topic, then the means.")
@scoring_options
@click.option(
    "--signature",
    is_flag=True,
    help="Print how each number was computed (in tsv and csv: lines with #).",
)
@click.option("--save", metavar="FILE", help="Also keep all scores in a file (Scores.load).")
@output_options
@plugin_option
def command(
    measures: tuple[str, ...],
    per_topic: bool,
    signature: bool,
    save: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **scoring: Any,
) -> None:
    """Score runs against judgements.

    QRELS and each RUN are TREC files, JSON Lines or Parquet, told apart by how they begin, plain or
    compressed (gz, bz2, xz, zst); - is standard input. A folder stands for all files in it, and a
    pattern such as 'runs/*.gz' for those that match.
    Printed for each run: the topics its means are over, judged topics it lacks, topics with nothing
    relevant, the judged share of its first ten documents, and the mean of each measure. Where topics
    are missing, both means are given: over all judged topics and over those the run answered.

    The exit code is 0 when all is well, 2 when nothing could be evaluated, and 3 when some runs could
    not be read: then the others are printed, and standard error says which and why.
    """
    wanted = Scoring(**scoring)
    judgments, scores = wanted.scores(measures)
    table = (scores.query_table if per_topic else scores.table)(signature=signature)
    wanted.tell(judgments, scores)
    if not signature and chosen_format(form, output) in MACHINE_FORMATS:
        notify(table.notes)
        table = replace(table, notes=())
    if save is not None:
        scores.save(save)
    show(table, form, digits, output)
    fail_if_incomplete(scores)
