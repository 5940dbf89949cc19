"""The commands as click knows them, each imported only when it is called."""

from __future__ import annotations

import importlib

import click

from rankgauge.cli import COMMANDS, TASKS
from rankgauge.cli.signals import clean_up_on_signals
from rankgauge.version import __version__


class Commands(click.Group):
    """A group that knows its commands by name and imports the one that is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(f"rankgauge.cli.{name}").command
        clean_up_on_signals()
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, COMMANDS))
        for task, commands in TASKS.items():
            with formatter.section(task):
                # Names of one width, so that the texts of all sections start at one column.
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rankgauge")
def group() -> None:
    """How good is a ranking, and how far can the number be trusted."""
