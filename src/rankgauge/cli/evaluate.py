"""rankgauge evaluate: score runs against judgements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, Any, get_args

import click

from rankgauge.cli import printable
from rankgauge.cli.options import (
    MACHINE_FORMATS,
    chosen_format,
    notify,
    output_options,
    plugin_option,
    show,
)
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.files import SIZE_LIMIT
from rankgauge.data.model import Precision, counted
from rankgauge.data.trec import read_qrels, run_files
from rankgauge.evaluation import evaluate
from rankgauge.measures import Aggregate, Measure, parse
from rankgauge.measures.base import Around
from rankgauge.measures.diversity import Diversity
from rankgauge.scores import Missing
from rankgauge.tie_policies import Tail, Ties

DEFAULT_MEASURES = ("nDCG@10", "AP", "RR", "P@10")


@click.command("evaluate")
@click.argument("qrels")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
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
@click.option(
    "--missing",
    type=click.Choice(get_args(Missing)),
    default="zero",
    show_default=True,
    help="Judged topics that a run lacks: count as an empty ranking, or leave out of its means.",
)
@click.option(
    "-J", "--condensed", is_flag=True, help="Remove unjudged documents from the rankings first."
)
@click.option(
    "--ties",
    type=click.Choice(get_args(Ties)),
    default="docno",
    show_default=True,
    help="Order of equal scores: docno descending as trec_eval does, ascending, as in the file, the "
    "worst order, the best, a random one; or the expected score over all orders.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    default=0,
    show_default=True,
    help="What random orders of ties are drawn by.",
)
@click.option(
    "--tail",
    type=click.Choice(get_args(Tail)),
    help="With --ties expected: take all documents that were not retrieved as one more tie.",
)
@click.option(
    "--documents",
    type=click.IntRange(1, 2**31 - 1),
    metavar="N",
    help="How many documents the collection has, for --tail.",
)
@click.option(
    "--precision",
    type=click.Choice(get_args(Precision)),
    default="single",
    show_default=True,
    help="Compare scores in single precision as trec_eval 9 does, or in double.",
)
@click.option(
    "--max-grade",
    type=click.IntRange(1),
    help="The highest grade of the collection, if higher than any in QRELS (ERR, scaled gains).",
)
@click.option(
    "--subtopics",
    is_flag=True,
    help="QRELS has subtopics in its second column, for alpha_nDCG, ERR_IA, NRBP and strec.",
)
@click.option("--lenient", is_flag=True, help="Drop faulty lines and count them.")
@click.option(
    "--size-limit",
    type=click.IntRange(1),
    default=SIZE_LIMIT,
    metavar="BYTES",
    help="How large a file may be once decompressed; by default 8 GiB.",
)
@click.option(
    "--signature",
    is_flag=True,
    help="Print how each number was computed (in tsv and csv: lines with #).",
)
@click.option("--save", metavar="FILE", help="Also keep all scores in a file (Scores.load).")
@output_options
@plugin_option
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_topic: bool,
    missing: Missing,
    condensed: bool,
    ties: Ties,
    seed: int,
    tail: Tail | None,
    documents: int | None,
    precision: Precision,
    max_grade: int | None,
    subtopics: bool,
    lenient: bool,
    size_limit: int,
    signature: bool,
    save: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
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
    wanted = [parse(measure) for measure in measures]
    reading: Any = {"lenient": lenient, "size_limit": size_limit}
    if qrels in runs:
        raise click.UsageError(f"{qrels} is given as judgements and as a run")
    sources = [run for run in run_files(runs, **reading) if not _same_file(run.path, qrels)]
    if not sources:
        raise click.UsageError(f"{', '.join(runs)}: no runs beside the judgements")
    judgments = read_qrels(qrels, subtopics=subtopics, **reading)
    with progress(len(sources)) as advance:
        scores = evaluate(
            judgments,
            sources,
            wanted,
            missing=missing,
            unjudged="condensed" if condensed else "nonrelevant",
            ties=ties,
            seed=seed,
            tail=tail,
            documents=documents,
            precision=precision,
            max_grade=max_grade,
            failures="skip",
            progress=advance,
        )
    if not scores.runs:
        raise RankgaugeError("\n".join(scores.failed))
    table = (scores.query_table if per_topic else scores.table)(signature=signature)
    notify([*(f"{judgments.source}: {text}" for text in judgments.dropped), *scores.notes])
    if not subtopics and any(about_subtopics(measure) for measure in wanted):
        notify([f"{judgments.source}: read without --subtopics, so each topic has a single one"])
    if not signature and chosen_format(form, output) in MACHINE_FORMATS:
        notify(table.notes)
        table = replace(table, notes=())
    if save is not None:
        scores.save(save)
    show(table, form, digits, output)
    if scores.failed:
        count = f"{counted(len(scores.failed), 'run')} of {len(sources)} not evaluated"
        raise Incomplete("\n".join((*scores.failed, count)))


def _same_file(a: str | os.PathLike[str], b: str) -> bool:
    """Whether both name one file: a folder of runs may hold the judgements too."""
    return os.path.realpath(a) == os.path.realpath(b)


class Incomplete(click.ClickException):
    """Some runs could not be evaluated."""

    exit_code = 3

    def show(self, file: IO[Any] | None = None) -> None:
        """A line a run, on standard error."""
        click.echo(printable(self.message), err=True)


def about_subtopics(measure: Measure | Aggregate) -> bool:
    """Whether a measure, or the one inside it, asks for subtopics."""
    while isinstance(measure, Around):
        measure = measure.measure
    return isinstance(measure, Diversity)


@contextmanager
def progress(total: int) -> Iterator[Callable[[str], None] | None]:
    """A progress bar on standard error, when it is a terminal and there is something to wait for."""
    if total < 2 or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("evaluating", total=total)
        yield lambda _: bar.advance(task)
