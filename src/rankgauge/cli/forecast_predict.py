"""rankgauge forecast predict: forecast a costly measure of runs that are judged to a small depth."""

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
@level_option(text="The intervals of single queries hold for this share of the queries.")
@seed_option("random orders of ties")
@takes(reading=TrackOptions)
@PER_QUERY.but("A row for each run and query, with the interval of its forecast.")
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

    MODEL is the folder of the forecaster. QRELS has the shallow judgments. They should be of a pool as
    deep as the --depth of `train`, since deeper judgments are not what the forecaster learned from. RUNS
    is a folder, a file or a pattern; it starts after the last comma. Give the KIND of the collection as
    it was given to `train`. For a KIND that `train` did not see, nothing is guaranteed.

    \b
    rankgauge forecast predict model c=news:shallow.txt,runs3/
    rankgauge forecast predict model c=news:shallow.txt,'runs3/*.gz' -q --level 0.9
    \f
    Each row is a run, the best forecast first. All numbers are means over queries:

    \b
    forecast  the forecast of the costly measure
    at depth  the same measure, cut at the depth of the forecaster
    line      a forecast by a line through `at depth`
    shallow   the costly measure of the whole run by the shallow judgments

    Look at `shallow` first. It needs no training, and it mostly ranks systems better than forecasts do.
    With -q each row is a run and a query, and low and high are the ends of the interval of the forecast.

    The exit code is 0 when all is well, and 2 when nothing could be forecast. It is 3 when some runs
    could not be read: the other runs are forecast. A message on stderr names each unread run, and says
    why.
    """
    forecaster = Forecaster.load(model)
    (read,) = reading.read([track], seed).tracks
    forecasts = forecaster.forecast(read, level)
    if save is not None:
        forecasts.scores().save(save)
    output.show(forecasts.query_table() if per_query else forecasts.table())
    fail_if_incomplete(forecasts)
