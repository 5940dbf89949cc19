"""rankgauge forecast: what deep judgements would say, from shallow ones."""

from __future__ import annotations

import importlib

import click

COMMANDS = {
    "depth": "How deep must the pool be? What shallower pools would have said.",
    "two-phase": "Shallow judgements for all topics, deep ones for a few: deep means, with intervals.",
    "train": "Learn to forecast a costly measure from cheap ones.",
    "predict": "Forecast a costly measure with what `train` learnt.",
}
"""The commands, each with what it does; each lives in a module of its own, such as forecast_depth."""


class Forecasts(click.Group):
    """A group that imports the command that is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module = importlib.import_module(f"rankgauge.cli.forecast_{name.replace('-', '_')}")
        command: click.Command = module.command
        command.short_help = COMMANDS[name]
        return command


@click.group("forecast", cls=Forecasts)
def command() -> None:
    """How deep must one judge? What deep judgements would say, from shallow ones."""
