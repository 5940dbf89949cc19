"""rankgauge forecast train: learn to forecast a costly measure from cheap ones."""

from __future__ import annotations

from typing import get_args

import click

from rankgauge.cli.options import method_option, output_option, seed_option
from rankgauge.cli.output import notify
from rankgauge.cli.output_files import OUTPUT_FOLDER
from rankgauge.forecast.forecaster import Forecaster, ForecastMethod, Learner, SubsetBy
from rankgauge.forecast.tracks import FEATURES, FeatureJudgments, Track
from rankgauge.notes import Note, counted


@click.command("train")
@click.argument("tracks", nargs=-1, required=True, metavar="KIND=QRELS,RUNS...")
@output_option("DIR", "The folder to write the forecaster to.", required=True, type=OUTPUT_FOLDER)
@method_option(
    "boosting: a gradient-boosting model for each track, averaged. regression: a line for each track by "
    "the best features, averaged. gupta: one line on the means of systems. pooled: one model of all "
    "tracks.",
    type=click.Choice(get_args(ForecastMethod)),
    default="pooled",
    show_default=True,
)
@click.option(
    "--target", default="nDCG@1000", show_default=True, help="The costly measure to forecast."
)
@click.option(
    "--judged-to",
    type=click.IntRange(1),
    default=30,
    show_default=True,
    metavar="D",
    help="The depth to which is judged. The cheap measures are of runs cut there.",
)
@click.option(
    "--feature",
    "features",
    multiple=True,
    default=FEATURES,
    show_default=True,
    metavar="MEASURE",
    help="A cheap measure, at the depth unless it is written with another cut-off; may be repeated.",
)
@click.option(
    "--feature-judgments",
    type=click.Choice(get_args(FeatureJudgments)),
    default="pool",
    show_default=True,
    help="What the cheap measures see. pool: the judgements of a pool of the depth. full: all "
    "judgements; that is not cheap.",
)
@click.option(
    "--subset",
    type=click.Choice(get_args(SubsetBy)),
    default="topics",
    show_default=True,
    help="For regression: the best features are those with the least error on topics that were left "
    "out (topics), or on the training data (training).",
)
@click.option(
    "--learner",
    type=click.Choice(get_args(Learner)),
    default="least-squares",
    show_default=True,
    help="For gupta: how the line is fitted.",
)
@seed_option("everything that is drawn at random")
def command(
    tracks: tuple[str, ...],
    output: str,
    method: ForecastMethod,
    target: str,
    judged_to: int,
    features: tuple[str, ...],
    feature_judgments: FeatureJudgments,
    subset: SubsetBy,
    learner: Learner,
    seed: int,
) -> None:
    """Learn to forecast a costly measure, such as nDCG@1000, from measures of shallow judgements.

    A track is KIND=QRELS,RUNS: the kind of its collection, a file of deep judgements, and a folder or a
    pattern of runs. Topics with the same id in two tracks of one kind are one topic.

    \b
    rankgauge forecast train news=q1.txt,runs1/ web=q2.txt,runs2/ -o model
    rankgauge forecast predict model news=shallow.txt,runs3/
    """
    forecaster = Forecaster(
        method, target, judged_to, features, feature_judgments, subset, learner, seed
    )
    read = [Track.read(text) for text in tracks]
    forecaster.fit(read).save(output)
    rows = sum(len(track.runs) * len(track.judgments.queries) for track in read)
    notify([Note(f"learnt from {counted(len(read), 'track')}, {counted(rows, 'row')}")])
