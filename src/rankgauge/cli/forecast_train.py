"""rankgauge forecast train: train a forecaster that predicts a costly measure from cheap ones."""

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
        "The kind of model. boosting: a gradient-boosting model per track, averaged. "
        "regression: a linear model per track on the best features, averaged. gupta: one "
        "linear model on the means of systems. pooled: one model for all tracks.",
        type=click.Choice(get_args(ForecastMethod)),
        default="pooled",
        show_default=True,
    )
    target: str = target_option("nDCG@1000", "The costly measure to forecast.")
    depth: int = depth_option(
        30,
        (
            "The number of documents judged from the top of each run. The cheap measures use "
            "runs cut at this depth."
        ),
        multiple=False,
    )
    features: tuple[str, ...] = feature_option
    feature_judgments: FeatureJudgments = option(
        "--feature-judgments",
        common=False,
        type=click.Choice(get_args(FeatureJudgments)),
        default="pool",
        help="The judgments available to the cheap measures. pool: those of a pool of this "
        "depth. full: all judgments, which is not cheap.",
    )
    subset: SubsetBy | None = option(
        "--subset",
        common=False,
        type=RenamedChoice(get_args(SubsetBy), topics="queries"),
        help="How to select features. With --method regression: those with the smallest error "
        "on held-out queries (queries, the default) or on the training data (training). "
        "With --method gupta: training selects those that rank the training systems best "
        "by Kendall's τ; by default, all features are used.",
    )
    learner: Learner | None = learner_option(
        get_args(Learner),
        "Only for --method gupta: how to fit the linear model. Defaults to least-squares.",
    ).but(common=False)
    seed: int = seed_option("everything that is drawn at random")

    def forecaster(self) -> Forecaster:
        """The forecaster to train. UsageError for settings that its method does not have."""
        for name, value in (("subset", self.subset), ("learner", self.learner)):
            methods = OWN_SETTINGS[name]
            if value is not None and self.method not in methods:
                own = " or ".join(methods)
                raise click.UsageError(
                    f"--{name} works only with --method {own}, not {self.method}; omit it"
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
    """Train a forecaster that predicts a costly measure, such as nDCG@1000, from shallow judgments.

    A track is NAME=KIND:QRELS,RUNS. NAME identifies it in messages, and KIND is the kind of collection,
    such as news. QRELS is a file of deep judgments. RUNS is a folder, a file or a pattern; it starts
    after the last comma. KIND=QRELS,RUNS is a track without a name. Queries with the same id in two
    tracks of the same KIND are treated as one query. Files are as in `rankgauge evaluate`.

    \b
    rankgauge forecast train a=news:q1.txt,runs1/ b=web:q2.txt,runs2/ -o model
    rankgauge forecast train a=news:q1.txt,runs1/ -o model --feature rich --depth 20
    rankgauge forecast predict model c=news:shallow.txt,runs3/
    \f
    Train on tracks of the same KIND as those you want to forecast. The runs must be as long as the
    cutoff of the costly measure: 1,000 documents for nDCG@1000.

    The exit code is 0 on success and 2 if nothing could be learned. It is 3 if some runs could not be
    read; the forecaster then learns from the others. A message on stderr names each unread run and gives
    the reason.
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
    notify([Note(f"trained on {', '.join(learned)}")])
    fail_if_incomplete(read)
