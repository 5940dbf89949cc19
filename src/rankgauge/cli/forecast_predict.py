"""rankgauge forecast predict: forecast a costly measure of runs that are judged to a small depth."""

from __future__ import annotations

from typing import Any

import click

from rankgauge.cli.options import (
    level_option,
    output_options,
    per_topic_option,
    plugin_option,
    save_option,
    seed_option,
)
from rankgauge.cli.output import fail_if_incomplete, show_with_notes
from rankgauge.cli.tracks import read_tracks, track_options
from rankgauge.forecast.forecaster import Forecaster
from rankgauge.forecast.tracks import TRACK


@click.command("predict")
@click.argument("model")
@click.argument("track", metavar=TRACK)
@per_topic_option("A row for each run and topic, with the interval of its forecast.")
@level_option(text="The intervals of single topics hold for this share of the topics.")
@save_option
@seed_option("random orders of ties")
@track_options
@output_options
@plugin_option
def command(
    model: str,
    track: str,
    per_topic: bool,
    level: float,
    save: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    **reading: Any,
) -> None:
    """Forecast a costly measure with a forecaster that `rankgauge forecast train` wrote.

    MODEL is the folder of the forecaster. QRELS has the shallow judgements. They should be of a pool as
    deep as the --depth of `train`, since deeper judgements are not what the forecaster learnt from. RUNS
    is a folder, a file or a pattern; it starts after the last comma. Give the KIND of the collection as
    it was given to `train`. For a KIND that `train` did not see, nothing is guaranteed.

    Each row is a run, the best forecast first. All numbers are means over topics:

    \b
    forecast  the forecast of the costly measure
    at depth  the same measure, cut at the depth of the forecaster
    line      a forecast by a line through `at depth`
    shallow   the costly measure of the whole run by the shallow judgements

    Look at `shallow` first. It needs no training, and it mostly ranks systems better than forecasts do.
    With -q each row is a run and a topic, and low and high are the ends of the interval of the forecast.

    \b
    rankgauge forecast predict model c=news:shallow.txt,runs3/
    rankgauge forecast predict model c=news:shallow.txt,'runs3/*.gz' -q --level 0.9

    The exit code is 0 when all is well, and 2 when nothing could be forecast. It is 3 when some runs
    could not be read: the other runs are forecast. A message on stderr names each unread run, and says
    why.
    """
    forecaster = Forecaster.load(model)
    (read,) = read_tracks([track], **reading).tracks
    found = forecaster.forecast(read, level)
    if save is not None:
        found.scores().save(save)
    table = found.topic_table() if per_topic else found.table()
    show_with_notes(table, form, digits, output)
    fail_if_incomplete(found)
