"""rankgauge forecast train: learn to forecast a costly measure from cheap ones."""

from __future__ import annotations

from typing import get_args

import click

from rankgauge.cli.groups import HeadedCommand, OptionGroup, option, takes
from rankgauge.cli.options import (
    COLOR,
    RenamedChoice,
    depth_option,
    method_option,
    output_option,
    plugin_option,
    seed_option,
)
from rankgauge.cli.output import fail_if_incomplete, notify
from rankgauge.cli.output_files import OUTPUT_FOLDER
from rankgauge.cli.tracks import TrackOptions, feature_option, learner_option, target_option
from rankgauge.core.notes import Note, count_phrase
from rankgauge.forecast.forecaster import (
    OWN_SETTINGS,
    Forecaster,
    ForecastMethod,
    Learner,
    SubsetBy,
)
from rankgauge.forecast.tracks import TRACK_FORMAT, FeatureJudgments


class ForecasterOptions(OptionGroup, heading="Forecaster"):
    """What is learned, and from what."""

    method: ForecastMethod = method_option(
        "The kind of model. boosting: a gradient-boosting model for each track, averaged. regression: a "
        "line for each track by the best features, averaged. gupta: one line on the means of systems. "
        "pooled: one model of all tracks.",
        type=click.Choice(get_args(ForecastMethod)),
        default="pooled",
        show_default=True,
    )
    target: str = target_option("nDCG@1000", "The costly measure to forecast.")
    depth: int = depth_option(
        30,
        "How many first documents of each run are judged. The cheap measures are of runs cut there.",
        multiple=False,
    )
    features: tuple[str, ...] = feature_option
    feature_judgments: FeatureJudgments = option(
        "--feature-judgments",
        common=False,
        type=click.Choice(get_args(FeatureJudgments)),
        default="pool",
        help="What the cheap measures see. pool: the judgments of a pool of the depth. full: all "
        "judgments; that is not cheap.",
    )
    subset: SubsetBy | None = option(
        "--subset",
        common=False,
        type=RenamedChoice(get_args(SubsetBy), topics="queries"),
        help="How the best features are chosen. For --method regression: those with the least error on "
        "queries that were left out (queries, the default), or on the training data (training). For "
        "--method gupta: training, those that rank the training systems best by Kendall's τ; by default "
        "it takes all features.",
    )
    learner: Learner | None = learner_option(
        get_args(Learner),
        "Only for --method gupta: how the line is fitted. By default least-squares.",
    ).but(common=False)
    seed: int = seed_option("everything that is drawn at random")

    def forecaster(self) -> Forecaster:
        """The forecaster to train. UsageError for settings that its method does not have."""
        for name, value in (("subset", self.subset), ("learner", self.learner)):
            methods = OWN_SETTINGS[name]
            if value is not None and self.method not in methods:
                own = " or ".join(methods)
                raise click.UsageError(
                    f"--{name} is only for --method {own}, and the method is {self.method}; leave it out"
                )
        return Forecaster(
            self.method,
            self.target,
            self.depth,
            self.features,
            self.feature_judgments,
            self.subset,
            self.learner,
            self.seed,
        )


@click.command("train", cls=HeadedCommand)
@click.argument("tracks", nargs=-1, required=True, metavar=f"{TRACK_FORMAT}...")
@takes(options=ForecasterOptions, reading=TrackOptions)
@output_option("DIR", "The folder to write the forecaster to.", required=True, type=OUTPUT_FOLDER)
@COLOR
@plugin_option
def command(
    tracks: tuple[str, ...], options: ForecasterOptions, reading: TrackOptions, output: str
) -> None:
    """Learn to forecast a costly measure, such as nDCG@1000, from measures of shallow judgments.

    A track is NAME=KIND:QRELS,RUNS. NAME is what messages call it. KIND is a name for the kind of its
    collection, such as news. QRELS is a file of deep judgments. RUNS is a folder, a file or a pattern
    of runs; it starts after the last comma. KIND=QRELS,RUNS is a track without a name. Queries with the
    same id in two tracks of one KIND are one query. Files are as in `rankgauge evaluate`.

    \b
    rankgauge forecast train a=news:q1.txt,runs1/ b=web:q2.txt,runs2/ -o model
    rankgauge forecast train a=news:q1.txt,runs1/ -o model --feature rich --depth 20
    rankgauge forecast predict model c=news:shallow.txt,runs3/
    \f
    Learn from tracks of the same KIND as those you want to forecast. The runs must be as long as the
    costly measure looks: 1,000 documents for nDCG@1000.

    The exit code is 0 when all is well, and 2 when nothing could be learned. It is 3 when some runs
    could not be read: the forecaster learned from the other runs. A message on stderr names each
    unread run, and says why.
    """
    forecaster = options.forecaster()
    read = reading.read(tracks, options.seed)
    forecaster.fit(read.tracks).save(output)
    notify(forecaster.notes_)
    rows = sum(len(track.runs) * len(track.judgments.queries) for track in read.tracks)
    learned = (
        count_phrase(len(read.tracks), "track"),
        count_phrase(forecaster.queries_, "query"),
        count_phrase(rows, "row"),
    )
    notify([Note(f"learnt from {', '.join(learned)}")])
    fail_if_incomplete(read)
