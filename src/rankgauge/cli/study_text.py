"""rankgauge study text: BERTScore and ROUGE normalised by chance, on any rated summaries."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.formatting import wrap_text

from rankgauge.cli.options import (
    encoder_option,
    level_option,
    output_option,
    samples_option,
    seed_option,
)
from rankgauge.cli.output import Incomplete, line_width, notify, progress
from rankgauge.cli.output_files import OUTPUT_FOLDER, make_folder
from rankgauge.cli.study import can, lacking_libraries
from rankgauge.cli.workers import workers, workers_options
from rankgauge.data.files import TEMPORARY, writing
from rankgauge.figures.drawing import check_plotting
from rankgauge.figures.files import save_figure
from rankgauge.notes import Note
from rankgauge.policies import CORRELATION_SAMPLES
from rankgauge.report.html import check_pages, write_page
from rankgauge.studies.text.experiment import steps
from rankgauge.studies.text.page import study_page
from rankgauge.studies.text.protocol import LAYERS, RatedSummaries, TextProtocol
from rankgauge.studies.text.study import TextStudy, run_study
from rankgauge.tables import Table
from rankgauge.text.embedding import use_encoder

PAGE, TABLES, FIGURES = "study.html", "tables", "figures"


@click.command("text")
@click.argument("data", nargs=-1, required=True, metavar="NAME=TEXTS[,RATINGS]...")
@output_option("DIR", "The folder to write to.", required=True, type=OUTPUT_FOLDER)
@encoder_option
@click.option(
    "--layer",
    "layers",
    multiple=True,
    type=click.IntRange(0),
    default=LAYERS,
    show_default=True,
    metavar="N",
    help="A layer of the encoder; may be repeated. The first one is looked at most closely.",
)
@level_option()
@samples_option(
    CORRELATION_SAMPLES, text="How often the documents are drawn again, for the intervals."
)
@workers_options
@seed_option("what is drawn at random")
def text(
    data: tuple[str, ...],
    output: str,
    encoder: str | None,
    layers: tuple[int, ...],
    level: float,
    samples: int,
    seed: int,
) -> None:
    """Feng's dissertation on BERTScore and ROUGE (chapters 8, 9 and 11), done again.

    V1 and V2 put a metric of texts beside what chance gets. The study asks whether they agree better
    with people than the metric does, for each reading of what chance is. TEXTS has sources, references
    and the outputs of systems, as for rankgauge text. RATINGS has what people think of the outputs; by
    default it is in TEXTS, as in SummEval and REALSumm.

    It prints which claims hold. It writes to DIR: study.html with all of it, the counterparts of Tables
    8.1 to 8.4, 9.1 and 9.2 as CSV, and Figures 8.2 and 8.3. A data set called summeval has the printed
    numbers, which are by another encoder, beside ours. SummEval and REALSumm take about nine minutes.
    If the work is interrupted, the same command goes on from what is finished.

    \b
    rankgauge study text summeval=summeval.json.gz realsumm=realsumm.json.gz -o out
    rankgauge study text mine=texts.jsonl,ratings.csv -o out --encoder roberta-large --layer 17
    """
    if encoder is not None:
        use_encoder(encoder)
    asked = TextProtocol(layers, level, samples, seed).checked()
    read = [_data(each) for each in data]
    folder = Path(output)
    lacking = lacking_libraries()
    notify([Note(each) for each in lacking])
    try:
        with progress(len(read) * steps(asked), "working") as advance:
            study = run_study(read, asked, folder, executor=workers(), progress=advance)
    except KeyboardInterrupt:
        notify([Note(f"the same command goes on from what is finished in {output}")])
        raise
    write_study(study, folder)
    claims = Table(("claim", "here"), tuple((each.claim, each.verdict) for each in study.judged()))
    click.echo(claims.render("table", width=line_width()))
    for each in (*study.short_text(), *study.chance_text(), study.task_text()):
        click.echo(wrap_text(each, line_width() or 100))
    if lacking:
        raise Incomplete(f"not all was made; the tables are in {folder / TABLES}")
    click.echo(f"All of it: {folder / PAGE}")


def _data(argument: str) -> RatedSummaries:
    name, mark, files = argument.partition("=")
    texts, _, ratings = (files, "", "") if os.path.exists(files) else files.partition(",")
    if not (name and mark and texts):
        raise click.UsageError(
            f"{argument!r} names no data set, expected NAME=TEXTS, such as summeval=summeval.json.gz"
        )
    return RatedSummaries.read(name, texts, ratings or None)


def write_study(study: TextStudy, folder: Path) -> None:
    """Write tables, figures and the page, as far as the libraries for them are installed."""
    for left in folder.rglob(f"{TEMPORARY}*"):  # by a process that was killed
        left.unlink(missing_ok=True)
    tables, pictures = make_folder(str(folder / TABLES)), make_folder(str(folder / FIGURES))
    for name, table in study.tables().items():
        with writing(Path(tables, f"{name}.csv")) as stream:
            stream.write(table.render("csv").encode("utf-8"))
    drawn = {}
    for name, (figure, caption) in (study.figures() if can(check_plotting) else {}).items():
        for ending in ("svg", "png"):
            save_figure(figure, Path(pictures, f"{name}.{ending}"))
        drawn[name] = (Path(pictures, f"{name}.svg").read_bytes(), caption)
    if can(check_pages):
        write_page(study_page(study, drawn), folder / PAGE)
