"""Options that name a file to write. Files are checked before any work; two options need two files."""

from __future__ import annotations

import os
from typing import Any

import click

from rankgauge.io.files import STANDARD_INPUT, TEMPORARY_PREFIX, check_writable
from rankgauge.io.own_paths import OwnPath

_WRITTEN = "rankgauge.cli.written"


class OutputFile(click.ParamType):  # type: ignore[type-arg]
    """A file that a command writes; `-` is standard output for -o, and a file of that name for others.

    With folder=True it is a folder, which `make_folder` checks.
    """

    name = "file"

    def __init__(self, *, folder: bool = False) -> None:
        self.folder = folder

    def convert(
        self, value: Any, option: click.Parameter | None, context: click.Context | None
    ) -> Any:
        """Return the path unchanged, after checking it.

        Raise InputError if the file cannot be written, and UsageError if another option names the
        same file.
        """
        if self.folder:
            return value
        if value != STANDARD_INPUT:
            check_writable(value)
        if option is not None and context is not None:
            options: dict[str, str] = context.meta.setdefault(_WRITTEN, {})
            other = options.setdefault(os.path.realpath(value), option.opts[-1])
            if other != option.opts[-1]:
                message = f"{other} and {option.opts[-1]} name the same file, expected two: {value}"
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


def make_folder(path: str | os.PathLike[str]) -> OwnPath:
    """Make a folder for output files, unless it exists.

    Parameters
    ----------
    path : str or os.PathLike
        The folder.

    Returns
    -------
    OwnPath
        The folder. Paths below it follow no links.

    Raises
    ------
    InputError
        If the folder cannot be made, or is not writable.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import make_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = make_folder(os.path.join(folder, "results"))
    ...     print(results.name, os.path.isdir(results))
    results True
    """
    folder = OwnPath(path).make()
    check_writable(folder / TEMPORARY_PREFIX)
    return folder
