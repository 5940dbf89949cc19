"""The options and the work of commands that score runs against judgements."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, Any, get_args

import click

from rankgauge.cli import printable
from rankgauge.cli.options import F, notify, reading_options, together
from rankgauge.comparison.significance import CORRECTIONS, TESTS
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.files import STANDARD_INPUT, open_content
from rankgauge.data.model import Judgments
from rankgauge.data.trec import RunFile, read_qrels, run_files
from rankgauge.evaluation.evaluator import evaluate
from rankgauge.measures import Aggregate, Measure, parse
from rankgauge.measures.around import innermost
from rankgauge.measures.diversity import Diversity
from rankgauge.notes import Note, counted
from rankgauge.policies import Missing, Precision, SharedTopics, Standardization, Tail, Ties
from rankgauge.scores.matrices import measure_of
from rankgauge.scores.model import Scores

DEFAULT_MEASURE = "nDCG@10"

_POLICIES = together(
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
        help="What random orders of ties, and samples, are drawn by.",
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
        help="How scores are compared: by default single for TREC files, as trec_eval 9 does, and "
        "double for all others.",
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
    reading_options,
)

scoring_options = together(
    click.argument("qrels"),
    click.argument("runs", nargs=-1, required=True, metavar="RUN..."),
    click.option(
        "--missing",
        type=click.Choice(get_args(Missing)),
        default="zero",
        show_default=True,
        help="Judged topics that a run lacks: count as an empty ranking, or leave out of its means.",
    ),
    _POLICIES,
)
"""QRELS, RUN... and how they are read and scored: the fields of `Scoring`."""


def scores_options(*default: str) -> Callable[[F], F]:
    """Scores of runs, by default by these measures, or those in files: the fields of `Wanted`."""
    return together(
        click.argument("inputs", nargs=-1, metavar="[QRELS RUN...]"),
        click.option(
            "-m",
            "--measure",
            "measures",
            multiple=True,
            help="A measure such as nDCG@10 or 'AP(rel=2)'; may be repeated. By default "
            f"{', '.join(default)}, and with --scores all that the files have.",
        ),
        click.option(
            "--scores",
            "score_files",
            multiple=True,
            metavar="[MEASURE=]FILE",
            help="Scores in place of QRELS and runs: a file of `rankgauge evaluate --save`, or CSV with "
            "a column a system and a row a topic, which MEASURE names; may be repeated, for more "
            "measures of the same systems.",
        ),
        click.option(
            "--standardize",
            is_flag=False,
            flag_value="normal",
            type=click.Choice(get_args(Standardization)),
            help="Set scores against those of all runs on the topic, so that topics weigh alike: as a "
            "z-score taken to (0, 1) by the normal distribution (the meaning of --standardize alone), "
            "the z-score itself, or the share of runs that are no better.",
        ),
        _POLICIES,
    )


def testing_options(correction: str | None) -> Callable[[F], F]:
    """What tests of pairs of runs are, with this correction by default."""
    return together(
        click.option(
            "--test",
            type=click.Choice(list(TESTS)),
            default="paired-t",
            show_default=True,
            help="Paired by topic, but for welch and student.",
        ),
        click.option(
            "--correction",
            type=click.Choice([*CORRECTIONS, NO_CORRECTION]),
            default=correction or NO_CORRECTION,
            show_default=True,
            callback=lambda _, __, name: None if name == NO_CORRECTION else name,
            help="How p-values are corrected for the number of pairs; the two Tukey tests need none.",
        ),
        click.option(
            "--level",
            type=click.FloatRange(0, 1, min_open=True, max_open=True),
            default=0.95,
            show_default=True,
            help="The level of intervals; significant is a corrected p of 1 - level or less.",
        ),
        click.option(
            "--missing",
            type=click.Choice(get_args(SharedTopics)),
            help="Topics that some run lacks: count as empty rankings, or leave out for all runs. By "
            "default zero, and with --scores as those were made.",
        ),
    )


NO_CORRECTION = "none"


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
    precision: Precision | None
    max_grade: int | None
    subtopics: bool
    lenient: bool
    size_limit: int

    def sources(self) -> list[RunFile]:
        """The runs, at least one, without the judgements where they lie among them."""
        if self.qrels in self.runs:
            raise click.UsageError(f"{self.qrels} is given as judgements and as a run")
        found = run_files(self.runs, lenient=self.lenient, size_limit=self.size_limit)
        sources = [run for run in found if not same_file(run.path, self.qrels)]
        if not sources:
            raise click.UsageError(f"{', '.join(self.runs)}: no runs beside the judgements")
        return sources

    def scores(self, measures: Sequence[str]) -> tuple[Judgments, Scores]:
        """The judgments, and the scores of every run that could be read, at least one."""
        wanted = [parse(measure) for measure in measures]
        sources = self.sources()
        judgments = read_qrels(
            self.qrels,
            subtopics=self.subtopics,
            lenient=self.lenient,
            size_limit=self.size_limit,
        )
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
        notify([*about_judgments(judgments), *scores.notes])
        if not self.subtopics and any(about_subtopics(measure) for measure in scores.measures):
            text = "read without --subtopics, so each topic has a single one"
            notify([Note(text, part=judgments.source)])


def about_judgments(judgments: Judgments) -> list[Note]:
    """What lenient reading left out of the judgements, which it names."""
    return [replace(note, part=judgments.source) for note in judgments.dropped]


class Wanted:
    """The scores that a command is about: of runs against judgements, or those in files.

    `judged` has the judgments and the scores by them as they were before they were standardized, once
    there are any.
    """

    def __init__(
        self,
        inputs: tuple[str, ...],
        measures: tuple[str, ...],
        score_files: tuple[str, ...],
        standardize: Standardization | None,
        **scoring: Any,
    ) -> None:
        self.measures, self.score_files, self.standardize = measures, score_files, standardize
        self.scoring = None
        self.judged: tuple[Judgments, Scores] | None = None
        if score_files:
            _refuse_beside_scores(inputs, scoring)
        elif len(inputs) < 2:
            raise click.UsageError(
                f"{' '.join(inputs) or 'nothing given'}, expected QRELS and runs, or --scores FILE"
            )
        else:
            self.scoring = Scoring(inputs[0], inputs[1:], missing="zero", **scoring)

    def scores(self, *default: str) -> Scores:
        """The scores, of runs by these measures where none is named; what to know of the input goes to
        standard error."""
        if self.scoring is None:
            first, *others = (file_of_scores(*named(text)) for text in self.score_files)
            scores = _chosen(first.joined(*others) if others else first, self.measures)
            notify(scores.notes)
        else:
            judgments, scores = self.judged = self.scoring.scores(self.measures or default)
            self.scoring.tell(judgments, scores)
        if self.standardize is None:
            return scores
        before, scores = scores, scores.standardized(kind=self.standardize)
        notify(scores.notes[len(before.notes) :])
        return scores

    def run(self, text: str) -> str:
        """The name that tables have for a run, which may be given by its file."""
        files = [] if self.scoring is None else self.scoring.sources()
        if text in (file.label for file in files):
            return text
        return next((file.label for file in files if same_file(file.path, text)), text)


def _refuse_beside_scores(inputs: Sequence[str], scoring: Iterable[str]) -> None:
    """What is about runs has no effect on scores that are there; nobody should think it had."""
    if inputs:
        raise click.UsageError(f"{' '.join(inputs)} beside --scores, expected one or the other")
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE
        if given and name in scoring and name != "seed":
            option = parameter.opts[-1]
            raise click.UsageError(f"{option} is about runs, expected no such option with --scores")


def file_of_scores(measure: str | None, file: str) -> Scores:
    """The scores in a file of `rankgauge evaluate --save`, or in CSV by this measure."""
    if file == STANDARD_INPUT or not _is_saved(file):
        return Scores.from_csv(file, measure)
    if measure is not None:
        raise click.UsageError(f"{file} names its measures, expected --scores {file}")
    return Scores.load(file)


def named(text: str) -> tuple[str | None, str]:
    """The name and the file in `[NAME=]FILE`; both may have = in them."""
    if os.path.exists(text) or "=" not in text:
        return None, text
    ways = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]
    there = (way for way in ways if way[1] == STANDARD_INPUT or os.path.exists(way[1]))
    return next(there, ways[-1])


def _is_saved(file: str) -> bool:
    with open_content(file) as content:
        return content.head().lstrip().startswith(b"{")


def _chosen(scores: Scores, measures: Sequence[str]) -> Scores:
    """The scores by these measures, by all of them where none is named."""
    asked = [measure_of(text) for text in measures]
    for measure in asked:
        if measure not in scores.measures:
            there = ", ".join(str(known) for known in scores.measures)
            raise RankgaugeError(f"no scores by {measure} in the files, expected one of: {there}")
    return scores.select(measures=asked) if asked else scores


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
    return isinstance(innermost(measure), Diversity)


@contextmanager
def progress(total: int, doing: str = "evaluating") -> Iterator[Callable[[str], None] | None]:
    """A progress bar on standard error, when it is a terminal and there is something to wait for."""
    if total < 2 or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda _: bar.advance(task)
