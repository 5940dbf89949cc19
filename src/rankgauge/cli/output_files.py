"""Options that name a file to write: each is checked before any work, and no two are one file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from rankgauge.data.errors import InputError
from rankgauge.data.files import STANDARD_INPUT, check_writable

if TYPE_CHECKING:
    from pathlib import Path

_WRITTEN = "rankgauge.cli.written"
SPREADSHEET = "rankgauge.cli.spreadsheet"
"""Under this name the context of a command knows whether `--spreadsheet` was given."""


class OutputFile(click.ParamType):  # type: ignore[type-arg]
    """A file that a command writes; `-` is standard output, or a file of that name. A folder is left
    to `make_folder`."""

    name = "file"

    def __init__(self, *, folder: bool = False) -> None:
        self.folder = folder

    def convert(
        self, value: Any, option: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """The path as it is; InputError where it cannot be written, UsageError where another option
        names the same file."""
        if self.folder:
            return value
        if value != STANDARD_INPUT:
            check_writable(value)
        if option is not None and context is not None:
            options: dict[str, str] = context.meta.setdefault(_WRITTEN, {})
            other = options.setdefault(os.path.realpath(value), option.opts[-1])
            if other != option.opts[-1]:
                message = f"{other} and {option.opts[-1]} are one file, expected two: {value}"
                raise click.UsageError(message)
        return value


class FigureFile(OutputFile):
    """A figure that a command writes, as SVG or PNG."""

    def convert(
        self, value: Any, option: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """As for any file; InputError for another ending, RankgaugeError without matplotlib."""
        from rankgauge.figures.files import check_figure_path

        check_figure_path(value)
        return super().convert(value, option, context)


OUTPUT_FILE = OutputFile()
OUTPUT_FOLDER = OutputFile(folder=True)
FIGURE_FILE = FigureFile()


def make_folder(path: str) -> Path:
    """The folder to write files to, made if it is not there; InputError where it cannot be."""
    from pathlib import Path

    try:
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a name that no folder can have
        reason = getattr(error, "strerror", None) or error
        raise InputError(path, None, f"cannot be made: {reason}") from None
    check_writable(folder / "file")
    return folder
