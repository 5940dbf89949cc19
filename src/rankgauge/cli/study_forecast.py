"""rankgauge study forecast: forecasts of costly measures, on any tracks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankgauge.cli.options import depth_option, output_option, seed_option
from rankgauge.cli.output import Incomplete, fail_if_incomplete, line_width, notify, progress
from rankgauge.cli.output_files import OUTPUT_FOLDER, make_folder
from rankgauge.cli.tracks import TRACK, read_tracks, track_options
from rankgauge.cli.workers import workers, workers_options
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.files import writing
from rankgauge.figures.drawing import check_plotting
from rankgauge.figures.files import save_figure
from rankgauge.notes import Note
from rankgauge.studies.forecast.claims import claim_table
from rankgauge.studies.forecast.published import published_table
from rankgauge.studies.forecast.study import DEPTHS, JUDGMENTS, TARGETS, Asked, run_study
from rankgauge.tables import Table


@click.command("forecast")
@click.argument("tracks", nargs=-1, required=True, metavar=f"{TRACK}...")
@output_option("DIR", "The folder to write to.", required=True, type=OUTPUT_FOLDER)
@depth_option(DEPTHS, "A depth of judging; may be repeated.")
@workers_options
@seed_option("everything that is drawn at random")
@track_options
def forecast(
    tracks: tuple[str, ...], output: str, depths: tuple[int, ...], seed: int, **reading: Any
) -> None:
    """Muwanei et al., Prediction of the high-cost normalised discounted cumulative gain, done again.

    A track is KIND=QRELS,RUNS: the kind of its collection, a file of judgements, and a folder or a
    pattern of runs. Topics with the same id in two tracks of one kind are one topic. nDCG@100 and
    nDCG@1000 are forecast from measures at several depths, by all methods, in the paper's protocol (the
    last two tracks are its targets) and in four splits: by rows, by topics, by topics and runs, and by
    kinds of collection.

    It prints how good each method is at the greatest depth, and which claims hold. It writes to DIR, as
    CSV: both tables, all numbers as means over tracks and by track, and the paper's Tables 1 and 2,
    which are of other data. Figures are written as SVG and PNG. Five tracks take three minutes.

    \b
    rankgauge study forecast news=q1.txt,runs1/ web=q2.txt,runs2/ -o out
    """
    read = read_tracks(tracks, seed=seed, **reading)
    folder = make_folder(output)
    lacking = ""
    try:
        check_plotting()
    except RankgaugeError as error:
        lacking = f"no figures: {error}"
        notify([Note(lacking)])
    asked = Asked(depths=tuple(sorted(set(depths))), seed=seed)
    with progress(len(asked.depths) * len(TARGETS) * len(JUDGMENTS), "forecasting") as advance:
        study = run_study(read.tracks, asked, executor=workers(), progress=advance)
    claims = claim_table(study)
    tables = {
        "overview": study.overview(),
        "claims": claims,
        "means": study.table(),
        "tracks": study.track_table(),
        "published": published_table(),
    }
    for name, table in tables.items():
        with writing(Path(folder, f"{name}.csv")) as stream:
            stream.write(table.render("csv").encode("utf-8"))
    shown = Table(
        ("claim", "holds", "of", "verdict"),
        tuple((row[0], row[4], row[5], row[6]) for row in claims.rows),
        tuple(note for note in claims.notes if not note.startswith("one, other")),
    )
    for table in (tables["overview"], shown):
        click.echo(table.render("table", width=line_width()))
    notify([note for note in study.notes if note.column is None])
    if lacking:
        raise Incomplete("not all was made: see the note at the start")
    for name, figure in study.figures().items():
        for ending in ("svg", "png"):
            save_figure(figure, Path(folder, f"{name}.{ending}"))
    fail_if_incomplete(read)
