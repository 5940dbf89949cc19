"""rankgauge study forecast: forecasts of costly measures, on any tracks."""

from __future__ import annotations

from typing import get_args

import click

from rankgauge import RankgaugeError
from rankgauge.extending import (
    OUTPUT_FOLDER,
    HeadedCommand,
    Incomplete,
    Note,
    OptionGroup,
    TrackOptions,
    check_plotting,
    depth_option,
    fail_if_incomplete,
    feature_option,
    learner_option,
    line_width,
    make_folder,
    notify,
    option,
    output_option,
    plugin_option,
    progress,
    read_tracks,
    repeats_option,
    seed_option,
    takes,
    target_option,
    workers,
    workers_options,
)
from rankgauge.forecast import ScoreTrack, Track
from rankgauge.forecast.tracks import TRACK_FORMAT
from rankgauge_studies.forecast.claims import claim_table, short_claims
from rankgauge_studies.forecast.methods import LEARNERS, StudyLearner
from rankgauge_studies.forecast.study import (
    DEPTHS,
    REPEATS,
    STANDARD_ERROR_LIMIT,
    TARGETS,
    ForecastProtocol,
    block_count,
    run_study,
)
from rankgauge_studies.forecast.tables import overview, paper_tables, percentage_table, track_table
from rankgauge_studies.output import write_figures, write_text


class StudyOptions(OptionGroup, heading="Study"):
    """What is forecast, and how."""

    target_tracks: tuple[str, ...] = option(
        "--target-track",
        multiple=True,
        metavar="NAME",
        help="A track tested in the paper's protocol; can be repeated. The paper has two. By "
        "default, all tracks are tested.",
    )
    targets: tuple[str, ...] = target_option(
        TARGETS, "A costly measure to forecast; can be repeated.", multiple=True
    )
    gain: str = option(
        "--gain",
        type=click.Choice(["linear", "exp2"]),
        default="linear",
        help="The gain of nDCG, in targets and features. linear: the grade, as in trec_eval. exp2: 2 to "
        "the power of the grade, minus 1.",
    )
    depths: tuple[int, ...] = depth_option(DEPTHS, "A judging depth; can be repeated.")
    features: tuple[str, ...] = feature_option
    learners: tuple[StudyLearner, ...] = learner_option(
        get_args(StudyLearner),
        "A learner; can be repeated. Of each there is a model for each track, averaged, and "
        "one model of all tracks with the same settings. svr, a support vector machine, is "
        "slow.",
        default=LEARNERS,
        multiple=True,
    )
    repeats: int = repeats_option(
        REPEATS,
        "Draw each random split at most N times. It is not drawn again once the standard "
        f"error of every mean over tracks is at most {STANDARD_ERROR_LIMIT:g}.",
    )
    seed: int = seed_option("all random draws")

    def protocol(self) -> ForecastProtocol:
        """What the study computes; what is given twice counts once."""
        return ForecastProtocol(
            **self.values()
            | {
                "targets": tuple(dict.fromkeys(self.targets)),
                "depths": tuple(sorted(set(self.depths))),
                "learners": tuple(dict.fromkeys(self.learners)),
                "target_tracks": tuple(dict.fromkeys(self.target_tracks)),
            }
        ).with_explicit_gain


@click.command("forecast", cls=HeadedCommand)
@click.argument("tracks", nargs=-1, required=True, metavar=f"{TRACK_FORMAT}...")
@takes(options=StudyOptions, reading=TrackOptions)
@workers_options
@output_option("DIR", "The output folder.", required=True, type=OUTPUT_FOLDER)
@plugin_option
def command(
    tracks: tuple[str, ...], options: StudyOptions, reading: TrackOptions, output: str
) -> None:
    """Replicate Muwanei et al., Prediction of the high-cost normalized discounted cumulative gain.

    \b
    rankgauge study forecast a=news:q1.txt,runs1/ b=web:q2.txt,runs2/ -o out
    rankgauge study forecast a=news:q1.txt,runs1/ b=web:q2.txt,runs2/ c=web:q3.txt,runs3/ -o out \\
        --target-track b --target-track c --repeats 5
    \f
    A track is NAME=KIND:QRELS,RUNS: its name, the kind of its collection, a file of judgments, and
    a folder or a pattern of runs. NAME=KIND:SCORES takes a table of scores per query, as written by
    `rankgauge evaluate --save`, instead of judgments and runs. It must contain every feature at
    every depth, and is used where features are computed from all judgments. Queries with the same
    id in two tracks of one kind are the same query. Results depend neither on names nor on the
    order of the tracks.

    The study forecasts the costly measures from cheap ones at several depths with all methods, in
    the paper's protocol and with five other splits: by rows, by queries, by queries and runs, by
    tracks and by kinds of collection. Random splits are repeated, and every number has a 95%
    interval.

    It prints the quality of each method at the greatest depth, and which claims hold. It writes
    these CSV files to DIR: overview, claims, means (over tracks) and tracks; table-1, table-2 and
    percentages, which show the paper's numbers next to ours. Figures 1 and 2 of the paper, and a
    figure of systems, are written as SVG and PNG. Five tracks take about ten minutes on two cores.
    """
    asked = options.protocol()
    read = read_tracks(tracks, tables=True, seed=asked.seed, **reading.values())
    folder = make_folder(output)
    lacking = ""
    try:
        check_plotting()
    except RankgaugeError as error:
        lacking = f"no figures: {error}"
        notify([Note(lacking)])
    with progress(block_count(asked), "forecasting") as advance:
        both: list[Track | ScoreTrack] = [*read.tracks, *read.tables]
        study = run_study(both, asked, executor=workers(), progress=advance)
    tables = {
        "overview": overview(study),
        "claims": claim_table(study),
        "means": study.table(),
        "tracks": track_table(study),
        "percentages": percentage_table(study),
        **paper_tables(study),
    }
    for name, table in tables.items():
        write_text(folder / f"{name}.csv", table.render("csv"))
    for table in (overview(study, short=True), short_claims(study)):
        click.echo(table.render("table", width=line_width()))
    notify([note for note in study.notes if note.column is None])
    if lacking:
        raise Incomplete("some parts are missing: see the note at the start")
    write_figures(study.figures(), folder)
    fail_if_incomplete(read)
