"""Tables of text made narrow enough for a terminal: closer, with shorter names, or in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.core.records import Record

GAP = 2
"""How many blanks are between columns where there is room."""

SHORTEST = 16
"""Names are not made shorter than this."""

CellTexts = list[list[str]]
"""The texts of all cells, the column names as the first row."""


class FittedTable(Record):
    """A table that fits: its columns in parts, one below the other, and notes for the reader."""

    grid: CellTexts
    parts: list[list[int]]
    gap: int
    notes: list[str]


def display_width(text: str) -> int:
    """The number of terminal columns that `text` takes."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    spacing = [c for c in text if category(c) not in ("Mn", "Me", "Cf")]
    return len(spacing) + sum(east_asian_width(c) in "WF" for c in spacing)


def column_widths(grid: CellTexts) -> list[int]:
    """The width of each column."""
    return [max(map(display_width, column)) for column in zip(*grid, strict=True)]


def fit_table(grid: CellTexts, names: Sequence[bool], width: int | None) -> FittedTable:
    """The table in at most `width` columns of a terminal, as far as possible; None is no limit.

    `names` says which columns hold names. Names and column titles may be shortened in the middle; two
    different names stay different. Columns that still do not fit go below the others, and the first
    columns, which hold names, are repeated beside them.
    """
    everything = list(range(len(grid[0])))
    widths = column_widths(grid)
    if width is None or _total(widths, GAP) <= width:
        return FittedTable(grid, [everything], GAP, [])
    if _total(widths, 1) <= width:
        return FittedTable(grid, [everything], 1, [])
    grid = _shorten_names(grid, names)
    short = column_widths(grid)
    notes = (
        []
        if short == widths
        else ["long names are shortened with …; --format tsv shows them in full"]
    )
    if _total(short, 1) <= width:
        return FittedTable(grid, [everything], 1, notes)
    parts = _parts(short, names, width)
    if len(parts) > 1:
        notes.append(f"the table is too wide for the terminal and is split into {len(parts)} parts")
    return FittedTable(grid, parts, GAP, notes)


def _total(widths: Sequence[int], gap: int) -> int:
    return sum(widths) + gap * (len(widths) - 1)


def _parts(widths: Sequence[int], names: Sequence[bool], width: int) -> list[list[int]]:
    """Which columns are beside each other; the first columns, as far as they are names, in each part."""
    fixed = next((c for c, named in enumerate(names) if not named), len(names))
    while fixed > 1 and _total(widths[:fixed], GAP) > width // 2:
        fixed -= 1
    repeated = list(range(fixed))
    parts, part = [], list(repeated)
    for c in range(fixed, len(widths)):
        if len(part) > fixed and _total([widths[i] for i in (*part, c)], GAP) > width:
            parts.append(part)
            part = list(repeated)
        part.append(c)
    return [*parts, part]


def _shorten_names(grid: CellTexts, names: Sequence[bool]) -> CellTexts:
    header, *rows = grid
    titles = _shorten_titles(header)
    if not rows:
        return [titles]
    columns = [
        _shorten_distinct(column) if named else list(column)
        for column, named in zip(zip(*rows, strict=True), names, strict=True)
    ]
    return [titles, *map(list, zip(*columns, strict=True))]


def _shorten_titles(titles: Sequence[str]) -> list[str]:
    """The column titles, shortened; the columns of an interval keep their last word.

    >>> _shorten_titles(["AP(rel=2,norm=min)@100", "AP(rel=2,norm=min)@100 low"])
    ['AP(rel=2…in)@100', 'AP(rel=2…in)@100 low']
    """
    split = [title.rpartition(" ") for title in titles]
    ends = [f" {end}" if start and end in ("low", "high") else "" for start, _, end in split]
    stems = [title.removesuffix(end) for title, end in zip(titles, ends, strict=True)]
    return [f"{stem}{end}" for stem, end in zip(_shorten_distinct(stems), ends, strict=True)]


def _shorten_distinct(names: Sequence[str]) -> list[str]:
    """The names, each with its middle left out if it is long; different ones stay different."""
    distinct = set(names)
    longest = max(map(display_width, distinct), default=0)
    for limit in _width_limits(longest):
        short = {name: shorten_middle(name, limit) for name in distinct}
        if len(set(short.values())) == len(distinct):
            return [short[name] for name in names]
    return list(names)


def _width_limits(longest: int) -> Iterator[int]:
    """Ever greater widths, in steps that are few however long names are."""
    limit = SHORTEST
    while limit < longest:
        yield limit
        limit += max(4, limit // 4)


def shorten_middle(text: str, width: int) -> str:
    """The text, with … in place of its middle where it takes more columns than this.

    >>> shorten_middle("a-very-long-name-of-a-run", 10)
    'a-ver…-run'
    """
    if display_width(text) <= width:
        return text
    kept = width - 1
    while kept > 1:
        start, end = (kept + 1) // 2, kept // 2
        short = f"{text[:start]}…{text[-end:]}"
        if display_width(short) <= width:
            return short
        kept -= 1
    return "…"
