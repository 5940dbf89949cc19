"""What all results can do: print themselves as a table, with notes, and give a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from rankgauge.core.notes import Note
from rankgauge.core.tables import Table
from rankgauge.errors import RankgaugeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Result(ABC):
    """Base class of results: a table, notes on it, and a figure if there is one.

    A subclass implements `table` and `_title`, and has `notes`. It overrides `figure` if it can be
    drawn. The base class prints it, as text and in notebooks, and converts it to a data frame.

    Examples
    --------
    >>> from rankgauge.extending import Record, Result, Table
    >>> class Lengths(Result, Record):
    ...     lengths: dict
    ...     notes: tuple = ()
    ...
    ...     def table(self):
    ...         return Table(("run", "documents"), tuple(self.lengths.items()))
    ...
    ...     def _title(self):
    ...         return f"Lengths: {len(self.lengths)} runs"
    >>> Lengths({"bm25": 1000, "dense": 100})
    Lengths: 2 runs
    run    documents
    ────────────────
    bm25        1000
    dense        100
    """

    notes: tuple[Note, ...]

    @abstractmethod
    def table(self) -> Table:
        """The result as a table, with the notes below it."""

    def to_polars(self) -> Any:
        """The rows of `table()` as a polars data frame, with every digit."""
        import polars

        table = self.table()
        if len(set(table.columns)) < len(table.columns):
            raise RankgaugeError(
                f"two columns have the same name, expected different ones: {table.columns}"
            )
        columns = zip(*table.rows, strict=True) if table.rows else ((),) * len(table.columns)
        return polars.DataFrame(dict(zip(table.columns, map(list, columns), strict=True)))

    def figure(self) -> Figure:
        """The result as a figure of matplotlib; RankgaugeError where there is none."""
        raise RankgaugeError(f"{type(self).__name__} cannot be drawn; use `table()`")

    @abstractmethod
    def _title(self) -> str:
        """What it is, in one line."""

    def __repr__(self) -> str:
        return f"{self._title()}\n{self.table().render('table')}".rstrip("\n")

    def _repr_html_(self) -> str:
        return self.table().render_html()
