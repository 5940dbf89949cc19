"""What the commands of several studies share: the data, tables and figures in a folder."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import click

from rankgauge import RankgaugeError
from rankgauge.extending import (
    OUTPUT_FOLDER,
    OwnPath,
    Table,
    atomic_write,
    check_plotting,
    combine_options,
    line_width,
    option,
    output_option,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATA_VARIABLE = "RANKGAUGE_DATA"
DEFAULT_DATA_FOLDER = "../shared/data"

study_options = combine_options(
    output_option("DIR", "The output folder.", required=True, type=OUTPUT_FOLDER),
    option(
        "--data",
        heading="Data",
        metavar="DIR",
        help="The folder with the data. By default, the folder in the environment variable "
        f"{DATA_VARIABLE}, or else {DEFAULT_DATA_FOLDER}.",
    ),
)
"""`-o` and `--data`, for studies with a default data set."""


def data_folder(data: str | None) -> str:
    """The folder with the data, from `--data` or the environment."""
    return data or os.environ.get(DATA_VARIABLE) or DEFAULT_DATA_FOLDER


def write_text(path: OwnPath, text: str) -> None:
    """Write a text into a file, whose folder is made."""
    path.parent.make()
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))


def write_table(name: str, table: Table, output: str, shown: bool = True) -> None:
    """Write a table as CSV, and print it."""
    write_text(OwnPath(output, f"{name}.csv"), table.render("csv"))
    if shown:
        title = name.replace("-", " ").capitalize()
        click.echo(f"{title}\n\n{table.render('table', width=line_width())}")


def write_figures(figures: Mapping[str, Figure], output: str | OwnPath) -> None:
    """Write figures as SVG and PNG into a folder."""
    from rankgauge.extending import save_figure

    for name, figure in figures.items():
        for ending in ("svg", "png"):
            save_figure(figure, OwnPath(output, f"{name}.{ending}"))


def missing_library_notes() -> list[str]:
    """What a study with a page cannot make, because a library is not installed."""
    from rankgauge.extending import check_pages

    texts = []
    for what, check in (("figures", check_plotting), ("study.html", check_pages)):
        try:
            check()
        except RankgaugeError as error:
            texts.append(f"no {what}: {error}")
    return texts


def is_available(check: Callable[[], object]) -> bool:
    """Whether a library is there, by the check for it."""
    try:
        check()
    except RankgaugeError:
        return False
    return True
