"""rankgauge forecast: what deep judgments would say, from shallow ones."""

from __future__ import annotations

import click

from rankgauge.cli.groups import LazyGroup

COMMANDS = {
    "depth": "How deep must the pool be? What shallower pools would have said.",
    "two-phase": "Shallow judgments for all queries, deep ones for a few: deep means, with intervals.",
    "train": "Learn to forecast a costly measure from cheap ones.",
    "predict": "Forecast a costly measure with what `train` learned.",
}


def _home(name: str) -> str:
    return f"rankgauge.cli.forecast_{name.replace('-', '_')}"


@click.group("forecast", cls=LazyGroup, lazy=COMMANDS, home=_home)
def command() -> None:
    """How deep must one judge? What deep judgments would say, from shallow ones."""
