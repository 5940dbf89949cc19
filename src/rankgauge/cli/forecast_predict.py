"""rankgauge forecast predict: forecast a costly measure of runs that are judged to a small depth."""

from __future__ import annotations

import click

from rankgauge.cli.options import level_option, output_options, per_topic_option
from rankgauge.cli.output import show_with_notes
from rankgauge.forecast.forecaster import Forecaster
from rankgauge.forecast.tracks import Track


@click.command("predict")
@click.argument("model")
@click.argument("track", metavar="KIND=QRELS,RUNS")
@per_topic_option("A row for each run and topic, with the interval of its forecast.")
@level_option()
@output_options
def command(
    model: str,
    track: str,
    per_topic: bool,
    level: float,
    form: str | None,
    digits: int | None,
    output: str | None,
) -> None:
    """Forecast a costly measure with a forecaster that `rankgauge forecast train` wrote.

    QRELS has the shallow judgements. Beside each forecast stand what needs no learning: the measure at
    the depth, a line through it, and the shallow score, the measure of the whole run by the shallow
    judgements. Look at the shallow score first: it mostly ranks systems better than forecasts do.
    """
    found = Forecaster.load(model).forecast(Track.read(track), level)
    table = found.topic_table() if per_topic else found.table()
    show_with_notes(table, form, digits, output)
