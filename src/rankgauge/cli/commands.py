"""The commands as click knows them: ours, and those of installed packages.

A command of ours is imported when it is called. Entry points are read only for a name that is not ours,
and for the list of commands.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType

import click

from rankgauge.cli import COMMANDS, TASKS, printable
from rankgauge.cli.groups import SuggestingGroup
from rankgauge.cli.signals import clean_up_on_signals
from rankgauge.core.registry import Registry
from rankgauge.version import __version__

OTHER = "Other"
"""The task of a command that names none."""


class CommandRegistry(Registry[click.Command]):
    """The commands by name. Those of others have the task under which they are listed."""

    def __init__(self) -> None:
        super().__init__(
            "command",
            package="rankgauge.cli",
            groups=("rankgauge.commands",),
            homes={name: name for name in COMMANDS},
            maker=lambda command: command.callback or type(command),
        )
        self.tasks: dict[str, str] = {}

    def normalize_name(self, name: str) -> str:
        return name

    def entry_in_module(self, module: ModuleType, name: str) -> click.Command:
        command: click.Command = module.command
        return command

    def commands_by_task(self) -> dict[str, dict[str, str]]:
        """For each task its commands, with the text that says when to use them."""
        self.discover()
        listed = {task: dict(ours) for task, ours in TASKS.items()}
        for name, task in self.tasks.items():
            text = self[name].get_short_help_str(limit=sys.maxsize)
            listed.setdefault(task, {})[name] = text
        return listed


commands = CommandRegistry()


def register_command(task: str = OTHER) -> Callable[[click.Command], click.Command]:
    """Register a click command of a package, so that `rankgauge` has it as a subcommand.

    Parameters
    ----------
    task : str, default "Other"
        The heading under which `rankgauge --help` lists the command, such as "Score" or "Learn".

    Returns
    -------
    callable
        A decorator of click commands.

    Raises
    ------
    RankgaugeError
        From the decorator, if another command has the name.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import HeadedCommand, register_command
    >>> @register_command("Score")  # doctest: +SKIP
    ... @click.command("lengths", cls=HeadedCommand)
    ... def lengths():
    ...     "Count the documents of runs."
    """

    def register(command: click.Command) -> click.Command:
        commands.register(command)
        commands.tasks[commands.name_of(command)] = task
        return command

    return register


class Commands(SuggestingGroup):
    """A group that knows its commands by name and imports the one that is called."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(commands)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        command = commands.get(name)
        if command is None:
            _report_load_errors()
        else:
            clean_up_on_signals()
        return command

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        tasks = commands.commands_by_task()
        width = max(len(name) for listed in tasks.values() for name in listed)
        for task, listed in tasks.items():
            with formatter.section(task):
                # Names of one width, so that the texts of all sections start at one column.
                formatter.write_dl([(name.ljust(width), text) for name, text in listed.items()])
        _report_load_errors()


def _report_load_errors() -> None:
    """Name the packages whose commands cannot be loaded; the other commands work."""
    for text in commands.broken:
        click.echo(f"note: {printable(text)}", err=True)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="rankgauge")
def group() -> None:
    """Measure how good a ranking is, and how far to trust the number."""
