"""rankgauge text: score what systems wrote, beside what chance gets."""

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
        "Texts for which a system wrote nothing. zero: they are scored as empty texts. skip: the means "
        "of the system leave them out.",
    ).but(heading="Texts", common=False)


class ChanceOptions(OptionGroup, heading="Chance", common=False):
    """What chance writes."""

    null: str = option(
        "--null",
        common=True,
        default=WORDS,
        metavar="NAME",
        help="What chance writes: words, sentences, tokens, similar or dissimilar. words: words of the "
        "source, drawn at random. sentences: whole sentences of the source, a stronger opponent. For "
        "bertscore also tokens: tokens drawn at random and put together; similar, dissimilar: the "
        "tokens that are most or least similar to the source.",
    )
    length: str = option(
        "--length",
        default=REFERENCE,
        metavar="NAME|N",
        help=f"How many words chance writes. {REFERENCE}: as many as the reference. {CANDIDATE}: as "
        "many as the output; this punishes length. Or a number.",
    )
    draws: int | None = option(
        "--draws",
        type=WholeNumber(1),
        metavar="N",
        help="Draw N texts instead of the exact value. Feng's dissertation draws 1.",
    )
    per: str = option(
        "--per",
        type=click.Choice([TEXT, CANDIDATE]),
        default=TEXT,
        help=f"With --draws: draw once for each {TEXT}, or anew for each output ({CANDIDATE}).",
    )
    seed: int = seed_option("what is drawn at random")


class PeopleOptions(OptionGroup, heading="What people say"):
    """Ratings or preferences of people, and how metrics agree with them."""

    human: str | None = option(
        "--human",
        metavar="FILE",
        help="Print how well each metric agrees with ratings by people. FILE is CSV with the columns "
        "id, system, and one for each question that was asked. With -o, or in a format for programs, "
        "this alone is printed.",
    )
    preferences: str | None = preferences_option(
        "FILE",
        "Which of two outputs people prefer, as CSV with the columns id, a, b, winner and annotator. "
        "a and b are systems; winner is one of them, or tie. Prints also how often each metric prefers "
        "the same output, and whom people side with where a metric and its form disagree. Not with "
        "--human.",
    )
    over: Over = option(
        "--over",
        common=False,
        type=click.Choice(get_args(Over)),
        default="systems",
        help="With --human: what is correlated. systems: the means of systems. texts: the systems on "
        "each text, then the mean over texts. rows: all outputs together.",
    )
    samples: int = samples_option(
        CORRELATION_SAMPLES,
        text="With --human or --preferences: how many samples of the texts are drawn for the intervals.",
    )
    level: float = level_option()


class TextOutput(Output):
    """What is printed, and the files that are written."""

    per_query: bool = PER_QUERY.but("A row for each system and text.", common=True)
    signature: bool = SIGNATURE
    save: str | None = SAVE.but(common=True)
    plot: str | None = PLOT.but("With --human: draw the correlations to FILE.", common=False)


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
    """Score what systems wrote: summaries, answers or translations. Compare with a random-text baseline.

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

    For each metric and system it prints:

    \b
    score       the mean over texts
    low, high   its confidence interval
    chance      what words drawn at random from the source get
    v1          score² / (score + chance), from Feng's dissertation
    v2          0 for chance, 1 for the best score, −1 for the lowest, from the same
    linear      the share of the way from chance (0) to the best score (1)
    words       the mean number of words of an output
    empty       how many outputs are empty or lacking
    """
    asked = parse_metrics(measures)
    if encoder is not None:
        if not any(metric.by_encoder for metric in asked):
            raise click.UsageError("--encoder is for bertscore; add -m bertscore, or leave it out")
        use_encoder(encoder)
    if output.plot is not None and people.human is None:
        raise click.UsageError("--plot draws the correlations with --human; give both")
    if people.human is not None and people.preferences is not None:
        raise click.UsageError("--human and --preferences print a table each; give one of them")
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
                f"--null, --length, --draws and --per are for metrics such as {metric.measure}; for "
                f"{metric} write them inside, as in {metric.name}({metric.measure},length=candidate)"
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
