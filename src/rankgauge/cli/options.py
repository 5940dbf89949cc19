"""Options and output that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from rankgauge.cli import printable
from rankgauge.data.files import writing
from rankgauge.measures import load_plugin
from rankgauge.report.tables import FORMATS, Table

F = TypeVar("F", bound=Callable[..., Any])

MACHINE_FORMATS = ("tsv", "csv", "jsonl")


def _load_plugins(context: click.Context, option: click.Parameter, files: tuple[str, ...]) -> None:
    for file in files:
        load_plugin(file)


def plugin_option(command: F) -> F:
    """`--plugin FILE`, loaded before measures are read."""
    return click.option(
        "--plugin",
        multiple=True,
        metavar="FILE",
        is_eager=True,
        expose_value=False,
        callback=_load_plugins,
        help="A Python file that registers measures of your own; may be repeated.",
    )(command)


def output_options(command: F) -> F:
    """`--format`, `--digits` and `--output`, for commands that print a table."""
    for option in (
        click.option(
            "-o", "--output", metavar="FILE", help="Write to a file, whole or not at all."
        ),
        click.option(
            "--digits",
            type=click.IntRange(0, 17),
            help="Decimals; by default 4 in table, md and latex, all of them in the others.",
        ),
        click.option(
            "--format",
            "form",
            type=click.Choice(FORMATS),
            help="How to print; by default a table on a terminal and tsv in a pipe.",
        ),
    ):
        command = option(command)
    return command


def chosen_format(form: str | None, output: str | None) -> str:
    """The format asked for: by default a table on a terminal, tsv in a pipe or file."""
    if form is not None:
        return form
    on_terminal = output in (None, "-") and sys.stdout is not None and sys.stdout.isatty()
    return "table" if on_terminal else "tsv"


def show(table: Table, form: str | None, digits: int | None, output: str | None) -> None:
    """Print a table, or write it to a file."""
    form = chosen_format(form, output)
    text = table.render(form, digits=digits)
    print_or_write(text, output)


def print_or_write(text: str, output: str | None) -> None:
    """Text to standard output (also for `-`), or to a file."""
    if output is None or output == "-":
        click.echo(text, nl=False)
    else:
        with writing(output) as stream:
            stream.write(text.encode("utf-8"))


def notify(notes: Iterable[str]) -> None:
    """Tell the user on standard error what to know about the numbers."""
    for note in notes:
        click.echo(f"note: {printable(note)}", err=True)
