"""rankgauge text: score what systems wrote, beside what chance gets."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import click

from rankgauge.cli.numbers import WholeNumber
from rankgauge.cli.options import (
    encoder_option,
    level_option,
    measure_option,
    metric_plugin_option,
    missing_option,
    output_options,
    per_topic_option,
    plot_option,
    preferences_option,
    samples_option,
    save_option,
    seed_option,
    signature_option,
)
from rankgauge.cli.output import MACHINE_FORMATS, chosen_format, progress, show, show_with_notes
from rankgauge.cli.workers import workers, workers_options
from rankgauge.core.policies import CORRELATION_SAMPLES, DEFAULT_MISSING, SEED, Missing
from rankgauge.figures.files import save_figure
from rankgauge.measures.scored import Around
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


@click.command("text")
@click.argument("file")
@measure_option(
    *METRICS,
    text="A metric such as rouge1, 'rouge2(stem=true)', bertscore or 'v2(rougeL,null=sentences)'; may "
    "be repeated. `rankgauge measures rouge1` explains it.",
)
@per_topic_option("A row for each system and text.")
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME",
    help="Score the outputs of this system; may be repeated. By default all systems are scored.",
)
@click.option(
    "--human",
    metavar="FILE",
    help="Ratings by people, as CSV with the columns id, system, and one for each question that was "
    "asked. Prints also how well each metric agrees with them. With -o, or in a format for programs, "
    "this alone is printed.",
)
@preferences_option(
    "FILE",
    "Which of two outputs people prefer, as CSV with the columns id, a, b, winner and annotator. a "
    "and b are systems; winner is one of them, or tie. Prints also how often each metric prefers the "
    "same output, and whom people side with where a metric and its form disagree. Not with --human.",
)
@click.option(
    "--over",
    type=click.Choice(get_args(Over)),
    default="systems",
    show_default=True,
    help="With --human: what is correlated. systems: the means of systems. texts: the systems on each "
    "text, then the mean over texts. rows: all outputs together.",
)
@click.option(
    "--null",
    default=WORDS,
    show_default=True,
    metavar="NAME",
    help="What chance writes. words: words of the source, drawn at random. sentences: whole sentences "
    "of the source, a stronger opponent. For bertscore also tokens: tokens drawn at random and put "
    "together; similar, dissimilar: the tokens that are most or least similar to the source.",
)
@encoder_option
@click.option(
    "--length",
    default=REFERENCE,
    show_default=True,
    metavar="NAME|N",
    help=f"How many words chance writes. {REFERENCE}: as many as the reference. {CANDIDATE}: as many as "
    "the output; this punishes length. Or a number.",
)
@click.option(
    "--draws",
    type=WholeNumber(1),
    metavar="N",
    help="Draw N texts instead of the exact value. Feng's dissertation draws 1.",
)
@click.option(
    "--per",
    type=click.Choice([TEXT, CANDIDATE]),
    default=TEXT,
    show_default=True,
    help=f"With --draws: draw once for each {TEXT}, or anew for each output ({CANDIDATE}).",
)
@missing_option(
    ("zero", "skip"),
    DEFAULT_MISSING,
    "Texts for which a system wrote nothing. zero: they are scored as empty texts. skip: the means of "
    "the system leave them out.",
)
@level_option()
@samples_option(
    CORRELATION_SAMPLES,
    text="With --human or --preferences: how many samples of the texts are drawn for the intervals.",
)
@seed_option("what is drawn at random")
@workers_options
@signature_option
@save_option
@plot_option("With --human: draw the correlations to FILE.")
@output_options
@metric_plugin_option
def command(
    file: str,
    measures: tuple[str, ...],
    per_topic: bool,
    systems: tuple[str, ...],
    human: str | None,
    preferences: str | None,
    over: Over,
    null: str,
    encoder: str | None,
    length: str,
    draws: int | None,
    per: str,
    missing: Missing,
    level: float,
    samples: int,
    seed: int,
    signature: bool,
    save: str | None,
    plot: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
) -> None:
    """Score what systems wrote: summaries, answers, translations; beside what thoughtless words get.

    FILE is JSON Lines, one text per line:

    \b
    {"id": "7", "source": "the article …", "references": ["what a person wrote …"],
     "outputs": {"bart": "…", "t5": "…"}}

    or CSV with the columns id, system, output, source and reference.

    \b
    rankgauge text answers.jsonl
    rankgauge text answers.jsonl -m rouge1 -m rouge2 --human ratings.csv
    rankgauge text answers.jsonl -m rouge1 --length candidate --preferences votes.csv
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
    if plot is not None and human is None:
        raise click.UsageError("--plot draws the correlations with --human; give both")
    if human is not None and preferences is not None:
        raise click.UsageError("--human and --preferences print a table each; give one of them")
    words = int(length) if length.isascii() and length.isdigit() else length
    chance = Null(null=null, length=words, draws=draws, per=per, seed=seed)
    for metric in asked:
        if isinstance(metric, Around) and replace(chance, seed=SEED) != Null():
            raise click.UsageError(
                f"--null, --length, --draws and --per are for metrics such as {metric.measure}; for "
                f"{metric} write them inside, as in {metric.name}({metric.measure},length=candidate)"
            )
    texts = read_texts(file)
    if systems:
        texts = texts.select(systems)
    ratings = None if human is None else read_ratings(human)
    votes = None if preferences is None else read_preferences(preferences, texts)
    with progress(len(asked), "scoring") as advance:
        found = overview(
            texts,
            asked,
            null=chance,
            missing=missing,
            level=level,
            executor=workers(),
            progress=advance,
        )
    if save is not None:
        found.without_chance().save(save)
    table = found.scores.query_table() if per_topic else found.table()
    if signature:
        signatures = tuple(found.scores.signatures().values())
        table = replace(table, notes=(*table.notes, *signatures))
    if ratings is None and votes is None:
        (show if signature else show_with_notes)(table, form, digits, output)
        return
    scores = found.without_chance()
    if output is None and chosen_format(form, output) not in MACHINE_FORMATS:
        show_with_notes(table, form, digits, output)
        click.echo()
    if votes is not None:
        agreement = pair_agreement(scores, votes, level=level, samples=samples, seed=seed)
        show_with_notes(agreement.table(), form, digits, output)
        return
    assert ratings is not None
    correlation = human_correlation(
        scores, ratings, over=over, level=level, samples=samples, seed=seed
    )
    show_with_notes(correlation.table(), form, digits, output)
    if plot is not None:
        save_figure(correlation.figure(), plot)
