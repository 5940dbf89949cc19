r"""A small immutable table and its text forms.

``table``, ``md``, ``latex`` and HTML are for reading: floats are rounded, uninformative columns are
omitted, and unprintable characters are escaped. ``tsv``, ``csv`` and ``jsonl`` are for programs: they
have every column, and floats are exact. All can be encoded as UTF-8, although ids may hold lone
surrogates: each is a byte that was not UTF-8, decoded with ``surrogateescape``, and is shown as that
byte, such as ``\xff``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple, overload

from rankgauge.core.charts import LEAST, MOST, Chart
from rankgauge.core.fitting import GAP, FittedTable, column_widths, display_width, fit_table
from rankgauge.core.notes import WARNING_PREFIX
from rankgauge.core.records import Value


class PValue(float):
    """A probability, which is never shown as 0 when it is only small."""


class MarkedValue(NamedTuple):
    """A number with marks, letters or digits, above and below it, as papers mark significance."""

    value: float
    above: str = ""
    below: str = ""


class ColumnNote(str):
    """A note on some columns of a table. Formats for reading that show none of them omit it.

    Parameters
    ----------
    text : str
        The note.
    columns : iterable of str
        The names of the columns.

    Examples
    --------
    >>> note = ColumnNote("AP: the mean over queries", ["AP"])
    >>> note, note.columns
    ('AP: the mean over queries', ('AP',))
    """

    columns: tuple[str, ...]

    def __new__(cls, text: str, columns: Iterable[str]) -> ColumnNote:
        note = super().__new__(cls, text)
        note.columns = tuple(columns)
        return note


class MarkLegend(str):
    """A note that explains a mark of `MarkedValue`, "▲" or "▼", which some formats draw otherwise.

    >>> print(MarkLegend("▲", "better"))
    ▲: better
    """

    meaning: str

    def __new__(cls, mark: str, meaning: str) -> MarkLegend:
        note = super().__new__(cls, f"{mark}: {meaning}")
        note.meaning = meaning
        return note

    def in_script(self) -> str:
        """The note for formats that have superscripts and subscripts."""
        return f"{'Superscript' if self.startswith('▲') else 'Subscript'}: {self.meaning}"


Cell = str | int | float | MarkedValue | None
Row = tuple[Cell, ...]
_Escape = Callable[[str], str]
_Marks = Callable[[str, str], str]

MAX_REPR_ROWS = 1000
"""How many rows of a table are shown by its repr."""

LEGEND_WIDTH = 60
"""How many letters a line of the legend has in a LaTeX table: columns would stretch to a longer one."""

HEADINGS = {"topic": "query", "topics": "queries", "above": "beaten by", "below": "beats"}
"""What formats for reading call a column, if formats for programs keep an older name for it."""


class LazyRows(Sequence[Row]):
    """Rows that are made when they are asked for, some at a time: millions of them need no memory.

    `make(start, end)` gives the rows from `start` up to `end`.
    """

    BLOCK = 10_000

    def __init__(self, number: int, make: Callable[[int, int], Iterable[Row]]) -> None:
        self._number, self._make = number, make

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | Sequence[Row]:
        if isinstance(place, slice):
            start, end, step = place.indices(self._number)
            return tuple(self._make(start, max(start, end))) if step == 1 else tuple(self)[place]
        number = range(self._number)[place]
        (row,) = self._make(number, number + 1)
        return row

    def __iter__(self) -> Iterator[Row]:
        for start in range(0, self._number, self.BLOCK):
            yield from self._make(start, min(start + self.BLOCK, self._number))


class Table(Value):
    """An immutable table with named columns and notes, which can be written in several formats.

    Parameters
    ----------
    columns : tuple of str
        The names of the columns.
    rows : sequence of tuple
        The rows. A cell is a str, an int, a float, a `MarkedValue` or None; None and NaN are missing
        values.
    notes : tuple of str, optional
        Notes that are printed below the table. A `ColumnNote` is printed with its columns.
    shown : tuple of str, optional
        The columns that formats for reading show, in this order. By default all. Formats for programs
        always have all columns, in the order of `columns`.
    chart : Chart, optional
        What is drawn beside the rows on a terminal, if there is room.

    Raises
    ------
    ValueError
        If a row has another number of cells than there are columns.

    Examples
    --------
    >>> from rankgauge.extending import Table
    >>> table = Table(("run", "AP"), (("bm25", 0.25), ("dense", 0.5)))
    >>> table
    run        AP
    ─────────────
    bm25   0.2500
    dense  0.5000
    >>> print(table.render("csv", digits=2), end="")
    run,AP
    bm25,0.25
    dense,0.50
    """

    columns: tuple[str, ...]
    rows: Sequence[Row]
    notes: tuple[str, ...] = ()
    shown: tuple[str, ...] | None = None
    chart: Chart | None = None

    def __post_init__(self) -> None:
        if isinstance(self.rows, LazyRows):
            return
        for number, row in enumerate(self.rows, start=1):
            if len(row) != (width := len(self.columns)):
                raise ValueError(f"row {number} has {len(row)} cells for {width} columns")

    def __repr__(self) -> str:
        return self._preview().render("table").rstrip("\n")

    def _repr_html_(self) -> str:
        return self._preview().render_html()

    def _preview(self) -> Table:
        """The table, without the rows that nobody reads."""
        if len(self.rows) <= MAX_REPR_ROWS:
            return self
        note = (
            f"the first {MAX_REPR_ROWS:,} of {len(self.rows):,} rows; `render` writes all of them"
        )
        return replace(self, rows=self.rows[:MAX_REPR_ROWS], notes=(note, *self.notes))

    def for_reading(self) -> Table:
        """The table as formats for reading show it, with the columns in `shown` and their headings."""
        names = self.columns if self.shown is None else self.shown
        places = [self.columns.index(name) for name in names]
        rows = self.rows
        if places != list(range(len(self.columns))):
            rows = tuple(tuple(row[place] for place in places) for row in rows)
        headings = tuple(HEADINGS.get(name, name) for name in names)
        notes = tuple(
            note if isinstance(note, MarkLegend) else str(note)
            for note in self.notes
            if not isinstance(note, ColumnNote) or {*note.columns} & {*names}
        )
        return replace(self, columns=headings, rows=rows, notes=notes, shown=None)

    def render(self, format: str, *, digits: int | None = None, width: int | None = None) -> str:
        r"""Render the table as text.

        Parameters
        ----------
        format : {"table", "tsv", "csv", "jsonl", "md", "latex"}
            The format. "latex" needs the package booktabs, and amsmath for marks. "jsonl" is empty if
            there are neither rows nor notes.
        digits : int, optional
            How many decimals floats have. By default 4 in table, md and latex; the other formats
            write as many as it takes to read the same float back.
        width : int, optional
            How many columns a line of "table" may have. Long names are then shortened, and columns
            that do not fit go below the others. If there is room, the chart of the table is drawn. The
            other formats are never shortened.

        Returns
        -------
        str
            The text. Every line ends with a newline.

        Raises
        ------
        ValueError
            If the format is unknown, or two columns of "jsonl" have the same name.

        Examples
        --------
        >>> from rankgauge.extending import Table
        >>> Table(("run", "AP"), (("bm25", 0.125), ("dense", None))).render("csv", digits=2)
        'run,AP\nbm25,0.12\ndense,\n'
        """
        return "".join(self.lines(format, digits=digits, width=width))

    def lines(
        self, format: str, *, digits: int | None = None, width: int | None = None
    ) -> Iterator[str]:
        """Return the lines of `render`, one by one.

        ``tsv``, ``csv`` and ``jsonl`` of any length need little memory. The other formats know how wide
        a column is only when they have seen all rows.
        """
        if format not in _RENDERERS:
            raise ValueError(f"unknown format {format!r}, expected one of: {', '.join(FORMATS)}")
        table = self
        if format in READING_FORMATS:
            table, digits = self.for_reading(), 4 if digits is None else digits
        fits = format == "table"
        lines = _table_lines(table, digits, width) if fits else _RENDERERS[format](table, digits)
        return (f"{line}\n" for line in lines)

    def render_html(self, *, digits: int | None = None) -> str:
        """Render the table as an HTML element, for notebooks.

        Parameters
        ----------
        digits : int, default 4
            How many decimals floats have.

        Returns
        -------
        str
            A `<table>` element with inline styles.

        Examples
        --------
        >>> from rankgauge.extending import Table
        >>> html = Table(("AP",), ((0.25,),)).render_html()
        >>> "<td style='text-align: right'>0.2500</td>" in html
        True
        """
        lines = _html_lines(self.for_reading(), 4 if digits is None else digits)
        return "".join(f"{line}\n" for line in lines)


_DASH = "\N{EN DASH}"
# Patterns are compiled when they are first used: most commands need none of them.
_SURROGATE = "[\ud800-\udfff]"
# Controls, invisible or direction-changing characters, line separators and surrogates; not the
# joiners U+200C and U+200D, which are part of the spelling of Persian, Hindi and emoji.
_HIDDEN = (
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff]"
)
_TSV_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
# An underscore inside a word is no markup, so recip_rank stays as it is.
_MARKDOWN = r"[\\`*~|\[\]]|(?<![^\W_])_|_(?![^\W_])"
_LATEX_ESCAPES = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
)


def _escape_code(match: re.Match[str]) -> str:
    code = ord(match.group())
    if 0xDC80 <= code <= 0xDCFF:  # a byte decoded with surrogateescape
        code -= 0xDC00
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"


def _escape_surrogates(text: str) -> str:
    return re.sub(_SURROGATE, _escape_code, text)


def _escape_hidden(text: str) -> str:
    return re.sub(_HIDDEN, _escape_code, text)


def visible_line(text: str) -> str:
    r"""The text on one line, for people to read.

    Characters that hide or turn text are shown as escapes, and so are bytes that are not UTF-8.

    >>> print(visible_line("a\u202eb"))
    a\u202eb
    """
    return _escape_hidden(" ".join(text.splitlines()))


def _nan_as_none(cell: Cell) -> Cell:
    return None if isinstance(cell, float) and math.isnan(cell) else cell


def _plain_marks(above: str, below: str) -> str:
    return f" ▲{above}" * bool(above) + f" ▼{below}" * bool(below)


def _markdown_marks(above: str, below: str) -> str:
    return f"<sup>{above}</sup>" * bool(above) + f"<sub>{below}</sub>" * bool(below)


def _latex_marks(above: str, below: str) -> str:
    both = rf"^{{\text{{{above}}}}}" * bool(above) + rf"_{{\text{{{below}}}}}" * bool(below)
    return f"${both}$" if both else ""


def _grid(
    table: Table,
    escape: _Escape,
    missing: str,
    digits: int | None,
    marks: _Marks = _plain_marks,
) -> Iterator[list[str]]:
    """The texts of the cells, row by row, the column names as the first row."""
    for row in chain((table.columns,), table.rows):
        yield [_text(cell, escape, missing, digits) + marks(*_marks_of(cell)) for cell in row]


def _marks_of(cell: Cell) -> tuple[str, str]:
    return (cell.above, cell.below) if isinstance(cell, MarkedValue) else ("", "")


def _text(cell: Cell, escape: _Escape, missing: str, digits: int | None) -> str:
    """The text of a cell, without its marks."""
    cell = _nan_as_none(cell.value if isinstance(cell, MarkedValue) else cell)
    if isinstance(cell, str):
        return escape(cell)
    if isinstance(cell, float) and digits is not None:
        least = 10.0**-digits
        if isinstance(cell, PValue) and 0 < cell < least / 2:
            return escape(f"<{least:.{digits}f}")
        return f"{cell:.{digits}f}"
    return missing if cell is None else str(cell)


class CellText(NamedTuple):
    """The texts of a cell for people to read: not escaped for any format, the marks apart."""

    text: str
    above: str = ""
    below: str = ""


def cell_text(cell: Cell, digits: int) -> CellText:
    """A cell for people to read: floats have `digits` decimals, and nothing in it is hidden.

    >>> cell_text(MarkedValue(0.25, "ab"), 3)
    CellText(text='0.250', above='ab', below='')
    >>> cell_text(PValue(1e-9), 3).text, cell_text(None, 3).text
    ('<0.001', '–')
    """
    above, below = map(visible_line, _marks_of(cell))
    return CellText(_text(cell, visible_line, _DASH, digits), above, below)


def _alignments(
    table: Table, left: str, right: str, texts: tuple[type, ...] = (str, MarkedValue)
) -> list[str]:
    """For each column `left` when it holds one of these types, else `right`."""
    columns = range(len(table.columns))
    return [
        left if any(isinstance(row[i], texts) for row in table.rows) else right for i in columns
    ]


def _text_columns(table: Table) -> list[bool]:
    """For each column whether it holds nothing but text."""
    columns = range(len(table.columns))
    return [all(isinstance(row[i], str | None) for row in table.rows) for i in columns]


def _table_lines(table: Table, digits: int | None, width: int | None = None) -> Iterator[str]:
    fit = fit_table(list(_grid(table, _escape_hidden, _DASH, digits)), _text_columns(table), width)
    sides = _alignments(table, "left", "right")
    if table.chart is not None and width is not None:
        fit, sides = _add_chart(fit, table, table.chart, width), [*sides, "left"]
    widths = column_widths(fit.grid)

    def pad(cell: str, width: int, side: str) -> str:
        space = " " * (width - display_width(cell))
        return cell + space if side == "left" else space + cell

    gap = " " * fit.gap
    for number, part in enumerate(fit.parts):
        header, *rows = (
            gap.join(pad(cells[c], widths[c], sides[c]) for c in part).rstrip(" ")
            for cells in fit.grid
        )
        rule = "─" * (sum(widths[c] for c in part) + fit.gap * (len(part) - 1))
        yield from (*([""] if number else []), header, rule, *rows)
    notes = [*map(visible_line, table.notes), *fit.notes]
    if notes:
        yield ""
    for note in notes:
        yield from [note] if width is None else wrap_note(note, width)


def _add_chart(fit: FittedTable, table: Table, chart: Chart, width: int) -> FittedTable:
    """The table with a column for the chart, if there is room for it."""
    widths = column_widths(fit.grid)
    room = width - sum(widths) - GAP * len(widths)
    if len(fit.parts) > 1 or fit.gap < GAP or room < LEAST:
        return fit
    drawn = chart.draw(table.columns, table.rows, min(room, MOST))
    if drawn is None:
        return fit
    grid = [[*cells, drawing] for cells, drawing in zip(fit.grid, drawn, strict=True)]
    notes = [*fit.notes] if chart.legend is None else [visible_line(chart.legend), *fit.notes]
    return FittedTable(grid, [[*fit.parts[0], len(widths)]], fit.gap, notes)


def wrap_note(note: str, width: int) -> list[str]:
    """The lines of a note; those after the first are indented."""
    import textwrap

    return textwrap.wrap(
        note,
        max(width, 20),
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def _tsv_text(text: str) -> str:
    return _escape_surrogates(text.translate(_TSV_ESCAPES))


def _tsv_lines(table: Table, digits: int | None) -> Iterator[str]:
    yield from map("\t".join, _grid(table, _tsv_text, "", digits))
    yield from (f"# {_tsv_text(note)}" for note in table.notes)


def _csv_lines(table: Table, digits: int | None) -> Iterator[str]:
    import csv
    import io

    for cells in _grid(table, _escape_surrogates, "", digits):
        # Written with \r\n because Python 3.11 quotes \r only when it is part of the line end.
        line = io.StringIO()
        csv.writer(line, dialect="excel", lineterminator="\r\n").writerow(cells)
        yield line.getvalue().removesuffix("\r\n")
    yield from (f"# {visible_line(note)}" for note in table.notes)


def _json_line(record: dict[str, Cell] | dict[str, list[str]]) -> str:
    import json

    line = json.dumps(record, ensure_ascii=False)
    return json.dumps(record) if re.search(_SURROGATE, line) else line


def _jsonl_lines(table: Table, digits: int | None) -> Iterator[str]:
    def value(cell: Cell) -> Cell:
        if isinstance(cell, MarkedValue):
            return f"{value(cell.value)}{_plain_marks(cell.above, cell.below)}"
        if isinstance(cell, float) and math.isinf(cell):
            return str(cell)  # JSON has no number for it, and null would mean missing
        return cell if digits is None or not isinstance(cell, float) else round(cell, digits)

    if len(set(table.columns)) < len(table.columns):
        raise ValueError(f"jsonl needs distinct column names, got {table.columns}")
    for row in table.rows:
        values = (value(_nan_as_none(cell)) for cell in row)
        yield _json_line(dict(zip(table.columns, values, strict=True)))
    if table.notes:
        yield _json_line({"notes": list(table.notes)})


def _markdown_text(text: str) -> str:
    escaped = re.sub(_MARKDOWN, r"\\\g<0>", visible_line(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;")


def _markdown_lines(table: Table, digits: int | None) -> Iterator[str]:
    header, *rows = _grid(table, _markdown_text, _DASH, digits, _markdown_marks)
    rule = _alignments(table, ":---", "---:")
    yield from (f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))
    if table.notes:
        notes = (note.in_script() if isinstance(note, MarkLegend) else note for note in table.notes)
        yield from ("", *(f"- {_markdown_text(note)}" for note in notes))


def _latex_text(text: str) -> str:
    escaped = visible_line(text).translate(_LATEX_ESCAPES)
    # At the start of a row, [ and * would be read as arguments of the row end before it.
    return f"{{}}{escaped}" if escaped.lstrip().startswith(("[", "*")) else escaped


def _latex_lines(table: Table, digits: int | None) -> Iterator[str]:
    grid = _grid(table, _latex_text, "--", digits, _latex_marks)
    header, *rows = (rf"{' & '.join(cells)} \\" for cells in grid)
    legends = [note for note in table.notes if isinstance(note, MarkLegend)]
    yield rf"\begin{{tabular}}{{{''.join(_alignments(table, 'l', 'r', (str,)))}}}"
    yield from (r"\toprule", header, r"\midrule", *rows, r"\bottomrule")
    for line in chain.from_iterable(wrap_note(each.in_script(), LEGEND_WIDTH) for each in legends):
        text = _latex_text(line).replace("≤", r"$\leq$")
        yield rf"\multicolumn{{{len(table.columns)}}}{{l}}{{\footnotesize {text}}} \\"
    yield r"\end{tabular}"
    yield from (f"% {visible_line(note)}" for note in table.notes if note not in legends)


def _html_note(note: str) -> str:
    from html import escape

    text = escape(visible_line(note))
    return (
        f"<strong style='color: #b00020'>{text}</strong>"
        if note.startswith(WARNING_PREFIX)
        else text
    )


def _html_lines(table: Table, digits: int | None) -> Iterator[str]:
    from html import escape

    sides = _alignments(table, "left", "right")

    def line(tag: str, cells: list[str]) -> str:
        texts = zip(sides, map(escape, cells), strict=True)
        styled = (f"<{tag} style='text-align: {side}'>{text}</{tag}>" for side, text in texts)
        return f"<tr>{''.join(styled)}</tr>"

    header, *rows = _grid(table, visible_line, _DASH, digits)
    # As in the pages of reports: a line below the names of the columns, and digits of equal width.
    yield "<table style='border-collapse: collapse; font-variant-numeric: tabular-nums'>"
    if table.notes:
        notes = "<br>".join(map(_html_note, table.notes))
        yield f"<caption style='caption-side: bottom; text-align: left'>{notes}</caption>"
    yield from ("<thead style='border-bottom: 1px solid'>", line("th", header), "</thead>")
    yield from ("<tbody>", *(line("td", row) for row in rows), "</tbody>", "</table>")


_RENDERERS: dict[str, Callable[[Table, int | None], Iterator[str]]] = {
    "table": _table_lines,
    "tsv": _tsv_lines,
    "csv": _csv_lines,
    "jsonl": _jsonl_lines,
    "md": _markdown_lines,
    "latex": _latex_lines,
}
FORMATS = tuple(_RENDERERS)
READING_FORMATS = ("table", "md", "latex")
"""The formats for people; the others are for programs."""
