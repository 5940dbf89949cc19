"""rankgauge forecast: predict from shallow judgments how deep judgments would score runs."""

from __future__ import annotations

import click

from rankgauge.cli.groups import LazyGroup

COMMANDS = {
    "depth": "Compare shallower judgment pools with the full one, to see how deep a pool must be.",
    "two-phase": (
        "Estimate means by deep judgments, with intervals, when only a few queries are "
        "judged deeply."
    ),
    "train": "Train a forecaster that predicts a costly measure from cheap ones.",
    "predict": "Forecast a costly measure with a trained forecaster.",
}


def _home(name: str) -> str:
    return f"rankgauge.cli.forecast_{name.replace('-', '_')}"


@click.group("forecast", cls=LazyGroup, lazy=COMMANDS, home=_home)
def command() -> None:
    """Predict from shallow judgments how deep judgments would score your runs."""
