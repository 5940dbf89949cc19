"""Scores in CSV files.

Each column is a system and each row a query, or the file has the rows of `Scores.write_csv`.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import Missing
from rankgauge.errors import InputError, MeasureError
from rankgauge.io.files import MISPLACED_MARK_MESSAGE, UTF8_MARK, display_name, read_bytes
from rankgauge.io.rows import csv_records
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.elsewhere import given
from rankgauge.measures.scored import Scored
from rankgauge.scores.matrices import LARGEST, from_matrix, measure_of, scores_of
from rankgauge.scores.model import Scores
from rankgauge.scores.parsing import AnyScored
from rankgauge.scores.tables import LONG_COLUMNS
from rankgauge.scores.validation import SLACK, shorten

SAVED_SCORES_START = re.compile(rb'PAR1|(\xef\xbb\xbf)?\s*\{\s*"')
"""The first bytes of files written by `Scores.save`: Parquet, or the JSON of earlier versions."""

NO_CSV = "not CSV ({}), expected cells separated by commas"

ID_WORDS = "(id|num|number|no)"
QUERY_COLUMN_NAMES = re.compile(
    rf"|(topics?|query|queries|request)([ _-]?{ID_WORDS})?|(q[ _-]?)?{ID_WORDS}", re.IGNORECASE
)
"""The names of a column of queries."""

NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
MISSING_VALUES = ("", "na", "nan")
BOOLEANS = {"true": True, "false": False}

STANDARDIZED_HINT = '; for standardized scores, name the measure given("…")'

MOST_CELLS = 1_000_000
MOST_CELLS_PER_ROW = 100
"""A table is refused if it has more than MOST_CELLS cells and more than MOST_CELLS_PER_ROW cells
per row of the file."""


def read_scores(path: str | os.PathLike[str], measure: AnyScored | None) -> Scores:
    """What `Scores.from_csv` gives."""
    source = display_name(path)
    lines = _CsvReader(source, read_bytes(path))
    line, header = next(lines, (1, []))
    if not header:
        raise InputError(source, None, "is empty, expected a header with one column per system")
    if header == LONG_COLUMNS:
        if measure is not None:
            message = "the file already has a column for the measure; omit measure="
            raise InputError(source, line, message)
        return _read_long(lines)
    return _read_wide(lines, line, header, _measure_from_path(path) if measure is None else measure)


class _CsvReader:
    """The records of a file and the lines that they end on; InputError where there is a fault."""

    def __init__(self, source: str, raw: bytes) -> None:
        self.source = source
        self.line = 1
        if SAVED_SCORES_START.match(raw):
            self.refuse("Parquet or JSON, expected CSV (Scores.load reads what Scores.save wrote)")
        raw = raw.removeprefix(UTF8_MARK)
        if (at := raw.find(b"\0")) >= 0:
            self.line += raw.count(b"\n", 0, at)
            self.refuse("a NUL byte, expected text")
        try:
            text = raw.decode()
        except UnicodeDecodeError as error:
            self.line += raw.count(b"\n", 0, error.start)
            self.refuse("not UTF-8, expected text in UTF-8")
        self.records = csv_records(io.StringIO(text, newline=""), source, NO_CSV)

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        return self

    def __next__(self) -> tuple[int, list[str]]:
        self.line, cells = next(self.records)
        if cells[0].startswith(UTF8_MARK.decode()):
            self.refuse(MISPLACED_MARK_MESSAGE)
        return self.line, cells

    def row(self, cells: list[str], width: int) -> list[str]:
        """The cells of a row, as many as the header has."""
        if len(cells) != width:
            self.refuse(f"{count_phrase(len(cells), 'cell')}, expected {width}, as in the header")
        return cells

    def number(self, text: str) -> float:
        """The score that a cell holds, NaN for none."""
        stripped = text.strip()
        if stripped.lower() in MISSING_VALUES:
            return math.nan
        if NUMBER.fullmatch(stripped) is None:
            self.refuse(
                f"{shorten(text)} is not a score, expected a number, or NA if there is none"
            )
        if abs(number := float(stripped)) > LARGEST:
            self.refuse(f"{shorten(text)} is too large, expected a magnitude of at most {LARGEST}")
        return number

    def refuse(self, message: str) -> NoReturn:
        """The fault of the line that was read last."""
        raise InputError(self.source, self.line, message) from None


def _read_wide(lines: _CsvReader, line: int, header: list[str], measure: AnyScored) -> Scores:
    """A column for each system and a row for each query. Query ids may be in the first column."""
    names = [name.strip() for name in header]
    if len(names) == 1 and (mark := next((mark for mark in ";\t" if mark in header[0]), None)):
        lines.refuse(f"one cell that contains {mark!r}, expected cells separated by commas")
    named = QUERY_COLUMN_NAMES.fullmatch(names[0]) is not None
    runs = names[1:] if named else names
    if not runs:
        lines.refuse("no systems, expected one column per system")
    seen: set[str] = set()
    for column, run in enumerate(runs, len(names) - len(runs) + 1):
        if not run:
            lines.refuse(f"column {column} has no name, expected the name of a system")
        if run in seen:
            lines.refuse(f"the system {shorten(run)} has two columns, expected one")
        seen.add(run)
    meant = measure_of(measure)
    topics: dict[str, int] = {}
    table: list[list[float]] = []
    for line, cells in lines:
        row = lines.row(cells, len(names))
        topic = row[0].strip() if named else str(len(topics) + 1)
        if not topic:
            lines.refuse("a query without an id, expected one")
        if topic in topics:
            first = topics[topic]
            lines.refuse(
                f"the query {shorten(topic)} has two rows, the first on line {first}, expected one"
            )
        topics[topic] = line
        table.append([lines.number(cell) for cell in row[named:]])
        for column, value in enumerate(table[-1], len(names) - len(table[-1])):
            advice = "" if column else "; if this column contains queries, name it query"
            _check_score(lines, value, meant, names[column], advice)
    if not table:
        lines.refuse("no queries, expected one row per query")
    values = np.array(table).T
    scores = from_matrix(values, runs, list(topics), meant)
    if not named and _first_column_has_ids(values):
        note = f"column {shorten(runs[0])} contains only integers, all of them distinct"
        text = f"{note}: if these are queries, name the column query"
        scores = replace(scores, notes=(Note(text),))
    return scores


def _first_column_has_ids(columns: Floats) -> bool:
    """Whether the first column, and no other, contains only integers, all of them distinct."""
    first, *others = (
        bool(np.all(column == np.rint(column))) and len(np.unique(column)) == len(column)
        for column in columns
    )
    return columns.shape[1] > 2 and first and bool(others) and not any(others)


def _check_score(
    lines: _CsvReader, value: float, measure: Scored | Aggregate, column: str, advice: str
) -> None:
    """Refuse a score that the measure never gives, such as the number of a query."""
    low, high = inner(measure).range
    if value < low - SLACK or value > high + SLACK:
        known = f"{value:.12g} in the column {shorten(column)}, expected {measure}"
        lines.refuse(f"{known} from {low:g} to {high:g}{advice}")


def _read_long(lines: _CsvReader) -> Scores:
    """A row for each run, query and measure, in any order."""
    runs: dict[str, int] = {}
    queries: dict[str, int] = {}
    measures: dict[str, int] = {}
    meant: list[Scored | Aggregate] = []
    values: dict[tuple[int, int, int], float] = {}
    answered: dict[tuple[int, int], bool] = {}
    for _, cells in lines:
        run, query, measure, value, present = lines.row(cells, len(LONG_COLUMNS))
        r = runs.setdefault(run, len(runs))
        q = queries.setdefault(query, len(queries))
        m = measures.setdefault(measure, len(measures))
        if m == len(meant):
            try:
                meant.append(measure_of(measure))
            except MeasureError as error:
                lines.refuse(f"the measure {shorten(measure)}: {error}")
        if (r, q, m) in values:
            lines.refuse(
                f"duplicate row for this query and measure of the run {shorten(run)}, "
                "expected one row"
            )
        values[r, q, m] = lines.number(value)
        _check_score(lines, values[r, q, m], meant[m], "value", STANDARDIZED_HINT)
        there = BOOLEANS.get(present.strip().lower())
        if there is None:
            lines.refuse(f"{shorten(present)} in the column present, expected true or false")
        if answered.setdefault((r, q), there) != there:
            lines.refuse(
                f"present is both true and false for a query of the run {shorten(run)}, expected one"
            )
    if not values:
        lines.refuse("no scores, expected one row per run, query and measure")
    shape = (len(runs), len(queries), len(measures))
    if math.prod(shape) > max(MOST_CELLS, MOST_CELLS_PER_ROW * len(values)):
        named = " × ".join(f"{count:,}" for count in shape)
        lines.refuse(
            f"only {len(values):,} rows for {named} runs, queries and measures, expected a row for most "
            "combinations of a run, a query and a measure"
        )
    table, present_at = np.full(shape, np.nan), np.zeros(shape[:2], dtype=np.bool_)
    table[tuple(np.array(list(values)).T)] = list(values.values())
    present_at[tuple(np.array(list(answered)).T)] = list(answered.values())
    if len(set(meant)) < len(meant):
        lines.refuse("one measure has two names, expected one name")
    missing: Missing = "zero" if len(answered) == shape[0] * shape[1] else "skip"
    return scores_of(tuple(runs), tuple(queries), tuple(meant), table, present_at, missing)


def _measure_from_path(path: str | os.PathLike[str]) -> Scored:
    """The measure with the name of the file."""
    name = os.path.basename(display_name(path))
    title, ending = os.path.splitext(name)
    if ending in (".gz", ".bz2", ".xz", ".zst"):
        title = os.path.splitext(title)[0]
    return given(title)
