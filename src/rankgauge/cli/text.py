"""rankgauge text: score generated texts, and compare them with a random-text baseline."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, option, takes
from rankgauge.cli.numbers import WholeNumber
from rankgauge.cli.options import (
    PER_QUERY,
    PLOT,
    SAVE,
    SIGNATURE,
    Output,
    encoder_option,
    level_option,
    measure_option,
    metric_plugin_option,
    missing_option,
    preferences_option,
    samples_option,
    seed_option,
)
from rankgauge.cli.output import progress
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.policies import CORRELATION_SAMPLES, DEFAULT_MISSING, SEED, Missing
from rankgauge.figures.files import save_figure
from rankgauge.measures.scored import Composite
from rankgauge.text.chance import CANDIDATE, REFERENCE, TEXT, WORDS, Null
from rankgauge.text.data.files import read_texts
from rankgauge.text.evaluation import overview
from rankgauge.text.grammar import parse_metrics
from rankgauge.text.human.agreement import pair_agreement
from rankgauge.text.human.correlation import human_correlation
from rankgauge.text.human.pairwise import read_preferences
from rankgauge.text.human.ratings import read_ratings
from rankgauge.text.human.results import Over
from rankgauge.text.metrics.embedding import use_encoder

METRICS = ("rouge1", "rouge2", "rougeL")


class TextOptions(OptionGroup, heading="Texts"):
    """Which texts are scored."""

    systems: tuple[str, ...] = option(
        "--system",
        multiple=True,
        metavar="NAME",
        help="Score the outputs of this system; may be repeated. By default all systems are scored.",
    )
    missing: Missing = missing_option(
        DEFAULT_MISSING,
        "How to treat texts for which a system has no output. zero: they are scored as "
        "empty texts. skip: they are excluded from the means of the system.",
    ).but(heading="Texts", common=False)


class ChanceOptions(OptionGroup, heading="Chance", common=False):
    """What chance writes."""

    null: str = option(
        "--null",
        common=True,
        default=WORDS,
        metavar="NAME",
        help="The random-text baseline: words, sentences, tokens, similar or dissimilar. words: "
        "words of the source, drawn at random. sentences: whole sentences of the source, a "
        "stronger baseline. For bertscore also tokens: tokens drawn at random and joined; "
        "similar, dissimilar: the tokens that are most or least similar to the source.",
    )
    length: str = option(
        "--length",
        default=REFERENCE,
        metavar="NAME|N",
        help=f"The number of words in a random text. {REFERENCE}: as many as the reference. "
        f"{CANDIDATE}: as many as the output, which penalizes length. Or a number.",
    )
    draws: int | None = option(
        "--draws",
        type=WholeNumber(1),
        metavar="N",
        help=(
            "Draw N random texts instead of computing the exact expectation. Feng's "
            "dissertation draws 1."
        ),
    )
    per: str = option(
        "--per",
        type=click.Choice([TEXT, CANDIDATE]),
        default=TEXT,
        help=f"With --draws: draw once per {TEXT}, or separately for each output ({CANDIDATE}).",
    )
    seed: int = seed_option("everything that is drawn at random")


class PeopleOptions(OptionGroup, heading="Human judgments"):
    """Ratings or preferences of people, and how metrics agree with them."""

    human: str | None = option(
        "--human",
        metavar="FILE",
        help="Print how well each metric agrees with human ratings. FILE is CSV with the "
        "columns id, system, and one for each question that was asked. With -o, or in tsv, "
        "csv or jsonl, only this table is printed.",
    )
    preferences: str | None = preferences_option(
        "FILE",
        "Human preferences between pairs of outputs, as CSV with the columns id, a, b, "
        "winner and annotator. a and b are systems; winner is one of them, or tie. Also "
        "print how often each metric prefers the same output, and which side people take "
        "where a metric and its normalized form disagree. Not with --human.",
    )
    over: Over = option(
        "--over",
        common=False,
        type=click.Choice(get_args(Over)),
        default="systems",
        help="With --human: the level of the correlation. systems: over the means of systems. "
        "texts: over systems for each text, averaged over texts. rows: over all outputs "
        "together.",
    )
    samples: int = samples_option(
        CORRELATION_SAMPLES,
        text=(
            "With --human or --preferences: the number of samples of the texts for the intervals."
        ),
    )
    level: float = level_option()


class TextOutput(Output):
    """What is printed, and the files that are written."""

    per_query: bool = PER_QUERY.but("Print one row per system and text.", common=True)
    signature: bool = SIGNATURE
    save: str | None = SAVE.but(common=True)
    plot: str | None = PLOT.but("With --human: plot the correlations to FILE.", common=False)


@click.command("text", cls=HeadedCommand)
@click.argument("file")
@measure_option(
    *METRICS,
    text="A metric such as rouge1, 'rouge2(stem=true)', bertscore or 'v2(rougeL,null=sentences)'; may "
    "be repeated. `rankgauge measures rouge1` explains it.",
)
@encoder_option.but(common=False)
@metric_plugin_option
@takes(chosen=TextOptions, chance=ChanceOptions, people=PeopleOptions)
@workers_options
@takes(output=TextOutput)
def command(
    file: str,
    measures: tuple[str, ...],
    encoder: str | None,
    chosen: TextOptions,
    chance: ChanceOptions,
    people: PeopleOptions,
    output: TextOutput,
) -> None:
    """Score summaries, answers or translations, with a random-text baseline.

    FILE is JSON Lines, one text per line:

    \b
    {"id": "7", "source": "the article …", "references": ["what a person wrote …"],
     "outputs": {"bart": "…", "t5": "…"}}

    or CSV with the columns id, system, output, source and reference.

    \b
    rankgauge text answers.jsonl
    rankgauge text answers.jsonl -m rouge1 -m rouge2 --human ratings.csv
    rankgauge text answers.jsonl -m rouge1 --length candidate --preferences votes.csv
    \f
    \b
    rankgauge text answers.jsonl -m bertscore --encoder FOLDER
    rankgauge text answers.jsonl --save text.scores
    rankgauge compare --scores text.scores -m rougeL

    The table shows for each metric and system:

    \b
    score       the mean over texts
    low, high   its confidence interval
    chance      the score of words drawn at random from the source
    v1          score² / (score + chance), from Feng's dissertation
    v2          0 for chance, 1 for the best score, −1 for the lowest, from the same
    linear      the share of the way from chance (0) to the best score (1)
    words       the mean number of words of an output
    empty       the number of empty or missing outputs
    """
    asked = parse_metrics(measures)
    if encoder is not None:
        if not any(metric.by_encoder for metric in asked):
            raise click.UsageError("--encoder is for bertscore; add -m bertscore or omit --encoder")
        use_encoder(encoder)
    if output.plot is not None and people.human is None:
        raise click.UsageError("--plot draws the correlations of --human; use both options")
    if people.human is not None and people.preferences is not None:
        raise click.UsageError("--human and --preferences cannot be used together; choose one")
    length = chance.length
    null = Null(
        null=chance.null,
        length=int(length) if length.isascii() and length.isdigit() else length,
        draws=chance.draws,
        per=chance.per,
        seed=chance.seed,
    )
    for metric in asked:
        if isinstance(metric, Composite) and replace(null, seed=SEED) != Null():
            raise click.UsageError(
                "--null, --length, --draws and --per apply to metrics such as "
                f"{metric.measure}; for {metric}, give them as parameters, as in "
                f"{metric.name}({metric.measure},length=candidate)"
            )
    texts = read_texts(file)
    if chosen.systems:
        texts = texts.select(chosen.systems)
    ratings = None if people.human is None else read_ratings(people.human)
    votes = None if people.preferences is None else read_preferences(people.preferences, texts)
    with progress(len(asked), "scoring") as advance:
        scored = overview(
            texts,
            asked,
            null=null,
            missing=chosen.missing,
            level=people.level,
            executor=workers(),
            progress=advance,
        )
    scores = scored.without_chance()
    if output.save is not None:
        scores.save(output.save)
    table = scored.scores.query_table() if output.per_query else scored.table()
    if output.signature:
        signatures = tuple(scored.scores.signatures().values())
        table = replace(table, notes=(*table.notes, *signatures))
    if ratings is None and votes is None:
        (output.show_whole if output.signature else output.show)(table)
        return
    if output.output is None and not output.for_programs:
        output.show(table)
        click.echo()
    drawn: dict[str, Any] = {
        "level": people.level,
        "samples": people.samples,
        "seed": chance.seed,
    }
    if votes is not None:
        output.show(pair_agreement(scores, votes, **drawn).table())
        return
    assert ratings is not None
    correlation = human_correlation(scores, ratings, over=people.over, **drawn)
    output.show(correlation.table())
    if output.plot is not None:
        save_figure(correlation.figure(), output.plot)
