"""The options and the work of commands that score runs against judgements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, TypeVar, get_args

import click

from rankgauge.cli import printable
from rankgauge.cli.options import notify
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.files import SIZE_LIMIT
from rankgauge.data.model import Judgments, Precision, counted
from rankgauge.data.trec import read_qrels, run_files
from rankgauge.evaluation import evaluate
from rankgauge.measures import Aggregate, Measure, parse
from rankgauge.measures.base import Around
from rankgauge.measures.diversity import Diversity
from rankgauge.scores import Missing, Scores
from rankgauge.tie_policies import Tail, Ties

F = TypeVar("F", bound=Callable[..., Any])

_PARAMETERS = (
    click.argument("qrels"),
    click.argument("runs", nargs=-1, required=True, metavar="RUN..."),
    click.option(
        "--missing",
        type=click.Choice(get_args(Missing)),
        default="zero",
        show_default=True,
        help="Judged topics that a run lacks: count as an empty ranking, or leave out of its means.",
    ),
    click.option(
        "-J", "--condensed", is_flag=True, help="Remove unjudged documents from the rankings first."
    ),
    click.option(
        "--ties",
        type=click.Choice(get_args(Ties)),
        default="docno",
        show_default=True,
        help="Order of equal scores: docno descending as trec_eval does, ascending, as in the file, "
        "the worst order, the best, a random one; or the expected score over all orders.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**31 - 1),
        default=0,
        show_default=True,
        help="What random orders of ties are drawn by.",
    ),
    click.option(
        "--tail",
        type=click.Choice(get_args(Tail)),
        help="With --ties expected: take all documents that were not retrieved as one more tie.",
    ),
    click.option(
        "--documents",
        type=click.IntRange(1, 2**31 - 1),
        metavar="N",
        help="How many documents the collection has, for --tail.",
    ),
    click.option(
        "--precision",
        type=click.Choice(get_args(Precision)),
        default="single",
        show_default=True,
        help="Compare scores in single precision as trec_eval 9 does, or in double.",
    ),
    click.option(
        "--max-grade",
        type=click.IntRange(1),
        help="The highest grade of the collection, if higher than any in QRELS (ERR, scaled gains).",
    ),
    click.option(
        "--subtopics",
        is_flag=True,
        help="QRELS has subtopics in its second column, for alpha_nDCG, ERR_IA, NRBP and strec.",
    ),
    click.option("--lenient", is_flag=True, help="Drop faulty lines and count them."),
    click.option(
        "--size-limit",
        type=click.IntRange(1),
        default=SIZE_LIMIT,
        metavar="BYTES",
        help="How large a file may be once decompressed; by default 8 GiB.",
    ),
)


def scoring_options(command: F) -> F:
    """QRELS, RUN... and how they are read and scored: the fields of `Scoring`."""
    for parameter in reversed(_PARAMETERS):
        command = parameter(command)
    return command


@dataclass(frozen=True)
class Scoring:
    """What is to be scored, and how."""

    qrels: str
    runs: tuple[str, ...]
    missing: Missing
    condensed: bool
    ties: Ties
    seed: int
    tail: Tail | None
    documents: int | None
    precision: Precision
    max_grade: int | None
    subtopics: bool
    lenient: bool
    size_limit: int

    def scores(self, measures: Sequence[str]) -> tuple[Judgments, Scores]:
        """The judgments, and the scores of every run that could be read, at least one."""
        wanted = [parse(measure) for measure in measures]
        reading: Any = {"lenient": self.lenient, "size_limit": self.size_limit}
        if self.qrels in self.runs:
            raise click.UsageError(f"{self.qrels} is given as judgements and as a run")
        found = run_files(self.runs, **reading)
        sources = [run for run in found if not same_file(run.path, self.qrels)]
        if not sources:
            raise click.UsageError(f"{', '.join(self.runs)}: no runs beside the judgements")
        judgments = read_qrels(self.qrels, subtopics=self.subtopics, **reading)
        with progress(len(sources)) as advance:
            scores = evaluate(
                judgments,
                sources,
                wanted,
                missing=self.missing,
                unjudged="condensed" if self.condensed else "nonrelevant",
                ties=self.ties,
                seed=self.seed,
                tail=self.tail,
                documents=self.documents,
                precision=self.precision,
                max_grade=self.max_grade,
                failures="skip",
                progress=advance,
            )
        if not scores.runs:
            raise RankgaugeError("\n".join(scores.failed))
        return judgments, scores

    def tell(self, judgments: Judgments, scores: Scores) -> None:
        """Notes on standard error: what to know about the input."""
        notify([*(f"{judgments.source}: {text}" for text in judgments.dropped), *scores.notes])
        if not self.subtopics and any(about_subtopics(measure) for measure in scores.measures):
            notify(
                [f"{judgments.source}: read without --subtopics, so each topic has a single one"]
            )


def fail_if_incomplete(scores: Scores) -> None:
    """End the command with exit code 3 when some of the runs could not be evaluated."""
    if scores.failed:
        of = len(scores.runs) + len(scores.failed)
        count = f"{counted(len(scores.failed), 'run')} of {of} not evaluated"
        raise Incomplete("\n".join((*scores.failed, count)))


def same_file(a: str | os.PathLike[str], b: str) -> bool:
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
