"""rankgauge forecast predict: forecast a costly measure for runs with shallow judgments."""

from __future__ import annotations

import click

from rankgauge.cli.groups import HeadedCommand, takes
from rankgauge.cli.options import (
    PER_QUERY,
    SAVE,
    Output,
    level_option,
    plugin_option,
    seed_option,
)
from rankgauge.cli.output import fail_if_incomplete
from rankgauge.cli.tracks import TrackOptions
from rankgauge.forecast.forecaster import Forecaster
from rankgauge.forecast.tracks import TRACK_FORMAT


@click.command("predict", cls=HeadedCommand)
@click.argument("model")
@click.argument("track", metavar=TRACK_FORMAT)
@level_option(
    text=(
        "The coverage of the intervals of single queries: the share of queries for which they hold."
    )
)
@seed_option("random orders of ties")
@takes(reading=TrackOptions)
@PER_QUERY.but("Print one row per run and query, with the interval of the forecast.")
@SAVE
@takes(output=Output)
@plugin_option
def command(
    model: str,
    track: str,
    level: float,
    seed: int,
    reading: TrackOptions,
    per_query: bool,
    save: str | None,
    output: Output,
) -> None:
    """Forecast a costly measure with a forecaster that `rankgauge forecast train` wrote.

    MODEL is the folder of the forecaster. QRELS has the shallow judgments; their pool should be as deep
    as the --depth of `train`, because the forecaster has not learned from deeper judgments. RUNS is a
    folder, a file or a pattern; it starts after the last comma. Use the same KIND of collection as for
    `train`. For a KIND that `train` did not see, nothing is guaranteed.

    \b
    rankgauge forecast predict model c=news:shallow.txt,runs3/
    rankgauge forecast predict model c=news:shallow.txt,'runs3/*.gz' -q --level 0.9
    \f
    Each row is a run, sorted by forecast, best first. All numbers are means over queries:

    \b
    forecast  the forecast of the costly measure
    at depth  the same measure, with the depth of the forecaster as cutoff
    line      a linear forecast from `at depth`
    shallow   the costly measure of the whole run with the shallow judgments

    Look at `shallow` first: it needs no training, and it usually ranks systems better than the forecasts
    do. With -q, each row is a run and a query, and low and high are the ends of the forecast's interval.

    The exit code is 0 on success and 2 if nothing could be forecast. It is 3 if some runs could not be
    read; the others are still forecast. A message on stderr names each unread run and gives the reason.
    """
    forecaster = Forecaster.load(model)
    (read,) = reading.read([track], seed).tracks
    forecasts = forecaster.forecast(read, level)
    if save is not None:
        forecasts.scores().save(save)
    output.show(forecasts.query_table() if per_query else forecasts.table())
    fail_if_incomplete(forecasts)
