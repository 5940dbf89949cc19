"""rankgauge study text: BERTScore and ROUGE normalized by chance, on any rated summaries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace

import click
from click.formatting import wrap_text

from rankgauge.core.policies import CORRELATION_SAMPLES
from rankgauge.extending import (
    OUTPUT_FOLDER,
    HeadedCommand,
    Incomplete,
    Note,
    OwnPath,
    Table,
    WholeNumber,
    check_pages,
    check_plotting,
    encoder_option,
    level_option,
    line_width,
    make_folder,
    notify,
    option,
    output_option,
    preferences_option,
    progress,
    read_bytes,
    remove_unfinished,
    samples_option,
    seed_option,
    workers,
    workers_options,
    write_page,
)
from rankgauge.text import use_encoder
from rankgauge_studies.index import INDEX, index_table
from rankgauge_studies.output import is_available, missing_library_notes, write_figures, write_text
from rankgauge_studies.text.counterparts import FIGURES, TABLES, list_counterparts
from rankgauge_studies.text.experiment import count_steps
from rankgauge_studies.text.page import study_page
from rankgauge_studies.text.protocol import LAYERS, RatedSummaries, TextProtocol
from rankgauge_studies.text.study import (
    WITHOUT_ENCODER,
    TextStudy,
    available_encoder,
    run_study,
)

PAGE = "study.html"


@click.command("text", cls=HeadedCommand)
@click.argument("data", nargs=-1, required=True, metavar="NAME=TEXTS[,RATINGS]...")
@output_option("DIR", "The output folder.", required=True, type=OUTPUT_FOLDER)
@preferences_option(
    "NAME=FILE",
    "Human preferences between two outputs, as for rankgauge text; NAME is a data set. Can be "
    "repeated. By default, preferences are derived from the ratings.",
    multiple=True,
).but(heading="Study")
@option(
    "--pair",
    "pairs",
    heading="Study",
    multiple=True,
    metavar="A,B",
    help="Two systems whose outputs are compared for Tables 8.4 and 9.2; can be repeated. By "
    "default, all pairs that people judged.",
)
@encoder_option
@option(
    "--layer",
    "layers",
    heading="Study",
    multiple=True,
    type=WholeNumber(0),
    default=LAYERS,
    metavar="N",
    help="A layer of the encoder; can be repeated. The first one is the main layer of the report.",
)
@level_option()
@samples_option(
    CORRELATION_SAMPLES,
    text=("The number of bootstrap samples of the documents, for the intervals."),
)
@workers_options
@seed_option("all random draws")
def command(
    data: tuple[str, ...],
    output: str,
    preferences: tuple[str, ...],
    pairs: tuple[str, ...],
    encoder: str | None,
    layers: tuple[int, ...],
    level: float,
    samples: int,
    seed: int,
) -> None:
    """Replicate Feng's dissertation on BERTScore and ROUGE (chapters 8, 9 and 11).

    \b
    rankgauge study text summeval=summeval.json.gz realsumm=realsumm.json.gz -o out
    rankgauge study text mine=texts.jsonl,ratings.csv -o out --encoder roberta-large --layer 17
    rankgauge study text mine=texts.jsonl --preferences mine=votes.csv --pair a,b --pair b,c -o out
    \f
    V1 and V2 relate a text metric to the score of random text. The study tests whether they agree
    better with human ratings than the metric does, for each way of drawing random text. TEXTS
    contains sources, references and the outputs of systems, as for rankgauge text. RATINGS contains
    the human ratings of the outputs; by default they are in TEXTS, as in SummEval and REALSumm.

    It prints which claims hold. It writes to DIR the full report study.html, the counterparts of
    Tables 4.3, 8.1 to 8.4, 9.1 and 9.2 as CSV, and Figures 8.1 to 8.3; index.csv lists the file of
    each table. For a data set called summeval, the printed numbers, which come from another
    encoder, are shown next to ours. SummEval and REALSumm take about ten minutes. If the work is
    interrupted, run the same command again to resume.

    Without an encoder for BERTScore, it covers only chapter 9, on ROUGE, and exits with 3. Run the
    same command again to add chapter 8 once there is an encoder.
    """
    if encoder is not None:
        use_encoder(encoder)
    asked = TextProtocol(layers, level, samples, seed).check()
    read = _add_pairs(_read(data, preferences), pairs)
    folder = OwnPath(output)
    folder.check_folders(TABLES, FIGURES)
    bert = available_encoder() is not None
    lacking = missing_library_notes() + ([] if bert else [f"no BERTScore: {WITHOUT_ENCODER}"])
    notify([Note(each) for each in lacking])
    try:
        with progress(len(read) * count_steps(asked, bert), "working") as advance:
            study = run_study(read, asked, folder, executor=workers(), progress=advance)
    except KeyboardInterrupt:
        notify([Note(f"run the same command again to resume from the finished parts in {output}")])
        raise
    write_study(study, folder)
    claims = Table(
        ("claim", "here"), tuple((each.claim, each.verdict) for each in study.verdicts())
    )
    click.echo(claims.render("table", width=line_width()))
    for each in (*study.short_text(), *study.chance_text(), study.task_text()):
        click.echo(wrap_text(each, line_width() or 100))
    if lacking:
        more = (
            ""
            if bert
            else ("; run the same command again to add BERTScore once there is an encoder")
        )
        raise Incomplete(
            f"some parts are missing; {folder / INDEX}.csv lists those that exist{more}"
        )
    click.echo(f"Full report: {folder / PAGE}")


def _read(data: tuple[str, ...], preferences: tuple[str, ...]) -> list[RatedSummaries]:
    """The data sets, each with its preferences."""
    votes: dict[str, str] = {}
    for argument in preferences:
        name, mark, file = argument.partition("=")
        if not (name and mark and file):
            raise click.UsageError(f"--preferences {argument!r}, expected NAME=FILE")
        if name in votes:
            raise click.UsageError(f"--preferences {name} twice, expected one file per data set")
        votes[name] = file
    names = [argument.partition("=")[0] for argument in data]
    for name in votes:
        if name not in names:
            raise click.UsageError(
                f"--preferences is about {name!r}, expected one of the data sets {', '.join(names)}"
            )
    return [_parse_data_set(argument, votes) for argument in data]


def _add_pairs(read: list[RatedSummaries], pairs: tuple[str, ...]) -> list[RatedSummaries]:
    """The data sets with the pairs of systems that they have. A name may have commas."""
    chosen: dict[str, list[tuple[str, str]]] = {each.name: [] for each in read}
    for argument in pairs:
        parts = argument.split(",")
        splits = [(",".join(parts[:at]), ",".join(parts[at:])) for at in range(1, len(parts))]
        seen = False
        for each in read:
            systems = set(each.texts.systems)
            for a, b in splits:
                if {a, b} <= systems and a != b:
                    seen = True
                    if not {(a, b), (b, a)} & set(chosen[each.name]):
                        chosen[each.name].append((a, b))
        if not seen:
            known = ", ".join(dict.fromkeys(name for each in read for name in each.texts.systems))
            raise click.UsageError(f"--pair {argument!r}, expected A,B with two systems of {known}")
    return [replace(each, pairs=tuple(chosen[each.name])) for each in read]


def _parse_data_set(argument: str, votes: Mapping[str, str]) -> RatedSummaries:
    name, mark, files = argument.partition("=")
    texts, _, ratings = (files, "", "") if os.path.exists(files) else files.partition(",")
    if not (name and mark and texts):
        raise click.UsageError(
            f"{argument!r} does not name a data set, expected NAME=TEXTS, such as "
            "summeval=summeval.json.gz"
        )
    return RatedSummaries.read(name, texts, ratings or None, votes.get(name))


def write_study(study: TextStudy, folder: OwnPath) -> None:
    """Write tables, figures and the page, as far as the libraries for them are installed."""
    remove_unfinished(folder)
    tables, pictures = make_folder(folder / TABLES), make_folder(folder / FIGURES)
    for name, table in study.tables().items():
        write_text(tables / f"{name}.csv", table.render("csv"))
    drawn = {}
    for name, (figure, caption) in (
        study.figures() if is_available(check_plotting) else {}
    ).items():
        write_figures({name: figure}, pictures)
        drawn[name] = (read_bytes(pictures / f"{name}.svg"), caption)
    index = index_table(list_counterparts(study, drawn))
    write_text(folder / f"{INDEX}.csv", index.render("csv"))
    if is_available(check_pages):
        write_page(study_page(study, drawn, index), folder / PAGE)
