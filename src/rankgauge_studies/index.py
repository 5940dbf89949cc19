"""Where the counterpart of each printed table and figure is among the files of a study."""

from __future__ import annotations

from collections.abc import Iterable

from rankgauge.extending import Record, Table

INDEX = "index"
"""The name of the file, without its extension, and of the section of the page."""


class Counterpart(Record):
    """A table or figure as it is numbered in print, and the files of the study that repeat it."""

    printed: str
    """Its number, such as "Table 7"; "Table 6.5 (dissertation)" where only the dissertation has it."""
    shows: str
    files: tuple[str, ...]
    """Paths from the folder of the study. Empty if there is no counterpart; `remark` says why."""
    remark: str = ""


def index_table(counterparts: Iterable[Counterpart], *, joined: bool = False) -> Table:
    """Return a table of the printed tables and figures and the files that repeat them.

    Each printed table or figure has a row for each file; or, if `joined`, one row with all its
    files.
    """
    rows = [
        (each.printed, each.shows, file, each.remark)
        for each in counterparts
        for file in ([", ".join(each.files)] if joined else each.files or ("",))
    ]
    return Table(("printed", "what it shows", "file", "remark"), tuple(rows))
