"""Options and output that several commands share."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeVar

import click

from rankgauge.cli import printable
from rankgauge.data.errors import InputError
from rankgauge.data.files import SIZE_LIMIT, writing
from rankgauge.measures import load_plugin
from rankgauge.notes import Note, worded
from rankgauge.tables import FORMATS, Table

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


def together(*parameters: Callable[[F], F]) -> Callable[[F], F]:
    """Several options and arguments as one decorator, in the order of the help."""

    def decorate(command: F) -> F:
        for parameter in reversed(parameters):
            command = parameter(command)
        return command

    return decorate


reading_options = together(
    click.option("--lenient", is_flag=True, help="Drop faulty lines and count them."),
    click.option(
        "--size-limit",
        type=click.IntRange(1),
        default=SIZE_LIMIT,
        metavar="BYTES",
        help="How large a file may be once decompressed; by default 8 GiB.",
    ),
)
"""`--lenient` and `--size-limit`, for commands that read runs and judgements."""

output_options = together(
    click.option(
        "--format",
        "form",
        type=click.Choice(FORMATS),
        help="How to print; by default a table on a terminal and tsv in a pipe.",
    ),
    click.option(
        "--digits",
        type=click.IntRange(0, 17),
        help="Decimals; by default 4 in table, md and latex, all of them in the others.",
    ),
    click.option("-o", "--output", metavar="FILE", help="Write to a file, whole or not at all."),
)
"""`--format`, `--digits` and `--output`, for commands that print a table."""

level_option = click.option(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.95,
    show_default=True,
    help="The level of the intervals.",
)
samples_option = click.option(
    "--samples",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="How many samples are drawn, where any are.",
)


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


def show_with_notes(table: Table, form: str | None, digits: int | None, output: str | None) -> None:
    """Print a table; its notes go to standard error where programs read the output."""
    if chosen_format(form, output) in MACHINE_FORMATS:
        tell(table.notes)
        table = replace(table, notes=())
    show(table, form, digits, output)


def print_or_write(text: str, output: str | None) -> None:
    """Text to standard output (also for `-`), or to a file."""
    if output is None or output == "-":
        click.echo(text, nl=False)
    else:
        with writing(output) as stream:
            stream.write(text.encode("utf-8"))


def check_files(figures: dict[str, str | None], others: dict[str, str | None]) -> None:
    """Refuse, before any work, figures that cannot be made and files written twice; both by option."""
    from rankgauge.figures.files import check_figure_path

    options: dict[str, str] = {}
    for option, file in (figures | others).items():
        if file is None:
            continue
        if option in figures:
            check_figure_path(file)
        folder = os.path.dirname(os.path.realpath(file))
        if file != "-" and not os.path.isdir(folder):
            raise InputError(file, None, "cannot be written: No such file or directory")
        other = options.setdefault(os.path.realpath(file), option)
        if other != option:
            raise click.UsageError(f"{other} and {option} are one file, expected two: {file}")


def notify(notes: Iterable[Note]) -> None:
    """Tell the user on standard error what to know about the numbers."""
    tell(worded(notes, gather=True))


def tell(texts: Iterable[str]) -> None:
    """Notes that are text already, on standard error."""
    for text in texts:
        click.echo(f"note: {printable(text)}", err=True)
