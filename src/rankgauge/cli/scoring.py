"""The work of commands that score runs against judgments, or read scores from files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar, get_args

import click

from rankgauge.cli.groups import OptionGroup, ParameterDeclaration, argument, is_given, option
from rankgauge.cli.numbers import WholeNumber
from rankgauge.cli.options import (
    CONDENSED,
    NEGATIVE,
    PRECISION,
    UNJUDGED,
    RunFileOptions,
    max_grade_option,
    measure_option,
    missing_option,
    seed_option,
    ties_option,
)
from rankgauge.cli.output import notify, progress
from rankgauge.cli.workers import WorkerOptions, workers
from rankgauge.core.notes import Note
from rankgauge.core.policies import (
    DEFAULT_MISSING,
    DEFAULT_STANDARDIZATION,
    DEFAULT_TIES,
    Missing,
    Negative,
    Policies,
    ScorePrecision,
    Standardization,
    Tail,
    Ties,
    Unjudged,
)
from rankgauge.core.records import Record
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import InputError, MisplacedFile, RankgaugeError
from rankgauge.evaluation.evaluator import count_tasks, evaluate
from rankgauge.io import diagnosis
from rankgauge.io.files import STANDARD_INPUT, open_content
from rankgauge.io.parts import StoredRun, stored_runs
from rankgauge.io.trec import RunFile
from rankgauge.measures import Aggregate, Measure
from rankgauge.measures.around import innermost, ranking_measure
from rankgauge.measures.grammar import parse_all, split_cutoffs
from rankgauge.scores.model import Scores

ONE_FILE_HINT = (
    "a single file must have both the retrieved and the relevant documents on each line, "
    'such as {"query": "q1", "retrieved": ["d3", "d1"], "relevant": ["d1"]}; '
    "otherwise, give QRELS and RUN..."
)


def check_output(output: str | None, inputs: Iterable[Any]) -> None:
    """UsageError if the file to write is one of those to read."""
    for path in inputs:
        if output is not None and same_file(path, output):
            raise click.UsageError(f"-o {output} is one of the input runs, expected another file")


@contextmanager
def usage_errors() -> Iterator[None]:
    """Files in each other's place are a mistake in the command line, whose usage is then shown."""
    try:
        yield
    except MisplacedFile as error:
        raise click.UsageError(str(error)) from None


read_judgments = usage_errors()(diagnosis.read_judgments)
check_order = usage_errors()(diagnosis.check_order)


class ScoringOptions(OptionGroup, heading="Policies", common=False):
    """How runs are scored, apart from the queries that they lack."""

    unjudged: Unjudged = UNJUDGED
    condensed = CONDENSED
    ties: Ties = ties_option(
        get_args(Ties),
        DEFAULT_TIES,
        "pessimistic: the worst order. optimistic: the best order. random: a random order. "
        "expected: the mean score over all orders. ESL always uses the mean.",
    )
    seed: int = seed_option("random orders of ties and random samples")
    tail: Tail | None = option(
        "--tail",
        type=click.Choice(get_args(Tail)),
        help="Only with `--ties expected`: append the documents that the run did not retrieve "
        "to the ranking, all tied with each other.",
    )
    documents: int | None = option(
        "--documents",
        type=WholeNumber(1, 2**31 - 1),
        metavar="N",
        help="With --tail: the number of documents in the collection.",
    )
    precision: ScorePrecision = PRECISION
    max_grade: int | None = max_grade_option("in QRELS")
    negative: Negative = NEGATIVE
    subtopics: bool = option(
        "--subtopics",
        is_flag=True,
        help=(
            "Read subtopics from the second column of QRELS. alpha_nDCG, ERR_IA, NRBP and "
            "strec need them."
        ),
    )


class Scoring(ScoringOptions, RunFileOptions, WorkerOptions):
    """What to score, and how."""

    qrels: str = argument("qrels")
    runs: tuple[str, ...] = argument("runs", nargs=-1, metavar="RUN...")
    ties: Ties = ScoringOptions.options["ties"].but(common=True)
    missing: Missing = missing_option(
        DEFAULT_MISSING,
        "How to treat judged queries that a run lacks. zero: they count as empty rankings. "
        "skip: the run gets no score for them, and its means exclude them.",
    )

    def files(self) -> list[StoredRun]:
        """The run files, without the file of the judgments if it is among them."""
        files = stored_runs(self.runs, parts=self.parts, **self.how)
        return [run for run in files if not same_file(run.path, self.qrels)]

    def run(self, text: str) -> str:
        """The name of a run in tables; the text is this name, or the file of the run."""
        files = [*self.files(), RunFile(self.qrels)]
        if text in (file.label for file in files):
            return text
        return next((file.label for file in files if same_file(file.path, text)), text)

    @property
    def policies(self) -> Policies:
        """How the runs are scored."""
        return Policies(
            missing=self.missing,
            unjudged=self.unjudged,
            negative=self.negative,
            ties=self.ties,
            seed=self.seed,
            tail=self.tail,
            documents=self.documents,
            precision=self.precision,
            max_grade=self.max_grade,
        )

    def inputs(self) -> tuple[Judgments, list[Run | StoredRun]]:
        """The judgments and the runs, at least one. A run in the file of judgments comes first."""
        files = self.files()
        try:
            judgments, own = read_judgments(
                self.qrels, self.runs, subtopics=self.subtopics, **self.how
            )
        except InputError as error:
            if self.runs:
                raise
            raise InputError(
                error.source, error.line, f"{error.message}; {ONE_FILE_HINT}"
            ) from None
        judgments = judgments.with_negative(self.negative)
        if own is None and not self.runs:
            raise InputError(judgments.source, None, f"judgments without a run; {ONE_FILE_HINT}")
        if own is None and not files:
            raise click.UsageError(f"{', '.join(self.runs)}: no runs, only the judgments")
        if own is None:
            return judgments, [*files]
        if own.name in (file.label for file in files):
            own = replace(own, name=self.qrels)
        return judgments, [own, *files]

    def scores(self, measures: Sequence[str]) -> tuple[Judgments, Scores]:
        """The judgments, and the scores of every run that could be read, at least one."""
        parsed = parse_all(measures)
        judgments, sources = self.inputs()
        return judgments, self.evaluate_runs(judgments, sources, parsed)

    def evaluate_runs(
        self,
        judgments: Judgments,
        sources: Sequence[Run | StoredRun],
        measures: Sequence[Measure | Aggregate],
    ) -> Scores:
        """The scores of every run that could be read, at least one."""
        with progress(count_tasks(sources)) as advance:
            scores = evaluate(
                judgments,
                sources,
                measures,
                policies=self.policies,
                failures="skip",
                executor=workers(),
                progress=advance,
            )
        if not scores.runs:
            check_order(self.qrels, self.runs, columns=self.columns, size_limit=self.size_limit)
            raise RankgaugeError("\n".join(scores.failed))
        return scores

    def print_notes(self, judgments: Judgments, scores: Scores) -> None:
        """Notes on standard error: what to know about the input."""
        notify([*judgment_notes(judgments), *scores.notes])
        if not self.subtopics and any(
            needs_subtopics(ranking_measure(measure)) for measure in scores.measures
        ):
            text = "QRELS was read without --subtopics, so each query has only one subtopic"
            notify([Note(text, part=judgments.source)])


def judgment_notes(judgments: Judgments) -> list[Note]:
    """Notes on what lenient reading left out of the judgments; each names their file."""
    return [replace(note, part=judgments.source) for note in judgments.dropped]


class SourceOptions(ScoringOptions, RunFileOptions, WorkerOptions, heading="Measures", common=True):
    """Where scores come from: runs that are scored against judgments, or files of scores."""

    default: ClassVar[tuple[str, ...]]
    """The measures for runs, if the user named none."""
    inputs: tuple[str, ...] = argument("inputs", nargs=-1, metavar="[QRELS RUN...]")
    measures: tuple[str, ...] = ()
    """Each command declares its own copy, using `source_measure_option`."""
    score_files: tuple[str, ...] = option(
        "--scores",
        multiple=True,
        metavar="[MEASURE=]FILE",
        help="A file of scores instead of QRELS and runs; may be repeated to add measures of "
        "the same systems. It comes from `rankgauge evaluate --save`, or is CSV with one "
        "column per system and one row per query. For CSV, MEASURE is the measure of the "
        "scores.",
    )
    standardize: Standardization | None = option(
        "--standardize",
        common=False,
        is_flag=False,
        flag_value=DEFAULT_STANDARDIZATION,
        type=click.Choice(get_args(Standardization)),
        help="Standardize the scores of each query over all runs, so that easy and hard queries "
        "carry equal weight. z: the z-score. normal: the z-score, mapped to 0..1 by the "
        "normal distribution. empirical: the share of runs whose score is not higher. "
        "Without a value: normal.",
    )

    @cached_property
    def scoring(self) -> Scoring | None:
        """The runs and how they are scored; None with --scores. UsageError for what does not fit."""
        if self.score_files:
            _refuse_beside_scores(self.inputs)
            return None
        if not self.inputs:
            raise click.UsageError("no input, expected QRELS and runs, or --scores FILE")
        qrels, *runs = self.inputs
        return self.part(Scoring, qrels=qrels, runs=tuple(runs), missing="zero")

    def read(self) -> SourceScores:
        """The scores. Notes on the input go to standard error."""
        if self.scoring is None:
            first, *others = (
                read_scores_file(*split_named_file(text)) for text in self.score_files
            )
            before = _select_measures(first.joined(*others) if others else first, self.measures)
            judgments = None
            notify(before.notes)
        else:
            judgments, before = self.scoring.scores(self.measures or self.default)
            self.scoring.print_notes(judgments, before)
        if self.standardize is None:
            return SourceScores(before, before, judgments)
        try:
            scores = before.standardized(kind=self.standardize)
        except RankgaugeError as error:
            raise RankgaugeError("\n".join((*before.failed, str(error)))) from None
        notify(scores.notes[len(before.notes) :])
        return SourceScores(scores, before, judgments)

    def run(self, text: str) -> str:
        """The name of a run in tables; the text is this name, or the file of the run."""
        return text if self.scoring is None else self.scoring.run(text)


class SourceScores(Record):
    """The scores that a command works on."""

    scores: Scores
    before: Scores
    """The scores before they were standardized."""
    judgments: Judgments | None
    """None for scores from files."""


def source_measure_option(*default: str, about: str = "") -> ParameterDeclaration:
    """`-m` of commands with `--scores`; `about` is a sentence on the measures that are the default."""
    return measure_option(
        more=f"By default {', '.join(default)}. {about and f'{about} '}With --scores, defaults "
        "to all measures in the files."
    )


def _refuse_beside_scores(inputs: Sequence[str]) -> None:
    """Refuse options for runs: with scores from files they would have no effect."""
    if inputs:
        raise click.UsageError(
            f"{' '.join(inputs)} and --scores cannot be used together; choose one"
        )
    for_runs = {*ScoringOptions.options, *RunFileOptions.options} - {"seed"}
    for parameter in click.get_current_context().command.params:
        if parameter.name in for_runs and is_given(parameter.name):
            raise click.UsageError(
                f"{parameter.opts[-1]} applies to runs and has no effect with --scores; omit it"
            )


def read_scores_file(measure: str | None, file: str) -> Scores:
    """The scores in a file of `rankgauge evaluate --save`, or the scores of this measure in CSV."""
    if file == STANDARD_INPUT or not _is_saved(file):
        return Scores.from_csv(file, measure)
    if measure is not None:
        raise click.UsageError(
            f"{file} already names its measures; use --scores {file} without {measure}="
        )
    return Scores.load(file)


def split_named_file(text: str) -> tuple[str | None, str]:
    """The name and the file in `[NAME=]FILE`; both may contain =."""
    if os.path.exists(text) or "=" not in text:
        return None, text
    ways = [(text[:at], text[at + 1 :]) for at, letter in enumerate(text) if letter == "="]
    there = (way for way in ways if way[1] == STANDARD_INPUT or os.path.exists(way[1]))
    return next(there, ways[-1])


def _is_saved(file: str) -> bool:
    from rankgauge.scores.csv_files import SAVED_SCORES_START

    with open_content(file) as content:
        return SAVED_SCORES_START.match(content.head()) is not None


def _select_measures(scores: Scores, measures: Sequence[str]) -> Scores:
    """The scores by these measures; if none is named, by all of them."""
    from rankgauge.scores.matrices import measure_of

    asked = [measure_of(one) for text in measures for one in split_cutoffs(text)]
    for measure in asked:
        if measure not in scores.measures:
            there = ", ".join(str(known) for known in scores.measures)
            raise RankgaugeError(f"no scores for {measure} in the files, expected one of: {there}")
    return scores.select(measures=asked) if asked else scores


def same_file(a: str | os.PathLike[str], b: str) -> bool:
    """Whether both paths name the same file: a folder of runs may hold the judgments too."""
    return os.path.realpath(a) == os.path.realpath(b)


def needs_subtopics(measure: Measure | Aggregate) -> bool:
    """Whether a measure, or the measure inside it, needs subtopics."""
    return innermost(measure).by_subtopic
