"""Runs and judgments from tables: data frames, Arrow streams and NumPy arrays.

All of them become the same columns, with one value for each row: ids as bytes in one buffer, numbers in
an array. Rows of a query may stand apart; they are grouped, in the order in which queries first appear.
A fault is an InputError that names the row, counted from 0, or the line of a file.
"""

from __future__ import annotations

import sys
from collections.abc import Sized
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints, Labels, offsets_of
from rankgauge.core.records import Record
from rankgauge.data.columns import (
    ArrayColumn,
    ArrowColumn,
    Column,
    ColumnsByRole,
    RowLocator,
    arrow_error,
    error_summary,
    grade_error,
    missing_value_error,
)
from rankgauge.data.model import LARGEST_GRADE, Ids, Judgments, Run, decode, repeated_pairs
from rankgauge.data.roles import (
    DOCUMENT,
    GRADE,
    QUERY,
    RANK,
    SCORE,
    SUBTOPIC,
    WantedColumns,
    places_of,
)
from rankgauge.errors import DuplicateError, InputError
from rankgauge.native import arrow


class Grouping(Record):
    """Rows grouped by query.

    `queries` has the queries in the order of their first row, and `bounds` has the bounds of each.
    `order` is the order that groups the rows; None if they were grouped already.
    """

    queries: Ids
    bounds: Ints
    order: NDArray[np.intp] | None

    def row(self, place: int) -> int:
        """The row of the table that came to this place."""
        return place if self.order is None else int(self.order[place])


def group_rows(queries: Ids) -> Grouping:
    """How rows with these queries are brought together.

    >>> group_rows(Ids.of(["b", "a", "b"])).order.tolist()
    [0, 2, 1]
    """
    starts = arrow.changes(queries.data, queries.offsets)
    return group_blocks(queries.take(starts), np.append(starts, len(queries)))


def group_blocks(blocks: Ids, bounds: Ints) -> Grouping:
    """How blocks of rows are brought together by query.

    Block b has one query and the rows bounds[b]:bounds[b + 1].
    """
    numbers, firsts = blocks.factorize()
    if len(firsts) == len(blocks):
        return Grouping(blocks, bounds, None)
    sizes = np.diff(bounds)
    # Of small types NumPy sorts by counting, ten times as fast.
    small = numbers.astype(np.min_scalar_type(len(firsts)))
    order = np.argsort(np.repeat(small, sizes), kind="stable")
    totals = np.zeros(len(firsts), dtype=np.int64)
    np.add.at(totals, numbers, sizes)
    return Grouping(blocks.take(firsts), offsets_of(totals), order)


def run_from_columns(columns: ColumnsByRole, place: RowLocator, name: str, source: str = "") -> Run:
    """The run in columns of queries, documents, and scores or ranks."""
    queries = columns[QUERY].ids(QUERY, place)
    documents = columns[DOCUMENT].ids(DOCUMENT, place)
    scores = _scores(columns, place)
    _check_same_length(place.source, queries, documents, scores)
    groups = group_rows(queries)
    if groups.order is not None:
        documents, scores = documents.take(groups.order), scores[groups.order]
    _refuse_repeated_documents(groups, documents, place)
    return Run(name, groups.queries, groups.bounds, documents, scores, tag=name, source=source)


def run_by_query(
    groups: Grouping, documents: Ids, scores: Column, place: RowLocator, name: str
) -> Run:
    """The run of documents that are grouped by query already."""
    values = _scores({SCORE: scores}, place)
    _refuse_repeated_documents(groups, documents, place)
    source = place.source
    return Run(name, groups.queries, groups.bounds, documents, values, tag=name, source=source)


def judgments_by_query(
    groups: Grouping, documents: Ids, grades: Column, place: RowLocator
) -> Judgments:
    """The judgments of documents that are grouped by query already."""
    values = _grades(grades, place)
    _refuse_repeated_documents(groups, documents, place)
    return Judgments(groups.queries, groups.bounds, documents, values, place.source)


def judgments_from_columns(columns: ColumnsByRole, place: RowLocator) -> Judgments:
    """The judgments in columns of queries, documents and grades, and of subtopics if there are some."""
    queries = columns[QUERY].ids(QUERY, place)
    documents = columns[DOCUMENT].ids(DOCUMENT, place)
    grades = _grades(columns[GRADE], place)
    subtopics = columns[SUBTOPIC].ids(SUBTOPIC, place) if SUBTOPIC in columns else None
    more = () if subtopics is None else (subtopics,)
    _check_same_length(place.source, queries, documents, grades, *more)
    groups = group_rows(queries)
    if groups.order is not None:
        documents, grades = documents.take(groups.order), grades[groups.order]
        subtopics = None if subtopics is None else subtopics.take(groups.order)
    if subtopics is None:
        _refuse_repeated_documents(groups, documents, place)
        return Judgments(groups.queries, groups.bounds, documents, grades, place.source)
    repeated = repeated_pairs(documents, subtopics, groups.bounds)
    _refuse_repeats(repeated, groups, documents, place, "query and subtopic")
    return Judgments.from_rows(
        groups.queries, groups.bounds, documents, subtopics, grades, place.source
    )


def _scores(columns: ColumnsByRole, place: RowLocator) -> Floats:
    """The scores; in place of scores there may be ranks: the lower the rank, the higher the score."""
    if RANK in columns:
        scores = -columns[RANK].numbers(RANK, place).astype(np.float64)
    else:
        scores = columns[SCORE].numbers(SCORE, place).astype(np.float64, copy=False)
    bad = np.flatnonzero(np.isnan(scores))
    if bad.size:
        raise place.error(int(bad[0]), "the score is NaN, expected a number (leave out such rows)")
    return scores


def _grades(column: Column, place: RowLocator) -> Labels:
    """The grades: whole numbers, of whatever type."""
    grades = column.numbers(GRADE, place)
    nothing = np.flatnonzero(np.isnan(grades))
    if nothing.size:
        raise missing_value_error(GRADE, place, int(nothing[0]), "a whole number")
    if grades.dtype.kind == "f":
        grades = grades.astype(np.float64)  # in which the largest grade is exact
    good = (grades <= LARGEST_GRADE) & (grades >= -LARGEST_GRADE) & (np.floor(grades) == grades)
    bad = np.flatnonzero(~good)
    if bad.size:
        raise grade_error(place, int(bad[0]), grades[bad[0]])
    return grades.astype(np.int32)


def _check_same_length(source: str, *columns: Sized) -> None:
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        counts = ", ".join(map(str, lengths))
        message = f"the columns have {counts} values, expected the same number of values in each"
        raise InputError(source, None, message)


def _refuse_repeated_documents(groups: Grouping, documents: Ids, place: RowLocator) -> None:
    repeated = documents.repeats(groups.bounds)
    _refuse_repeats(repeated, groups, documents, place, "query")


def _refuse_repeats(
    repeated: Ints, groups: Grouping, documents: Ids, place: RowLocator, same: str
) -> None:
    again = np.flatnonzero(repeated >= 0)
    if not again.size:
        return
    at = min(again.tolist(), key=groups.row)
    query = int(np.searchsorted(groups.bounds, at, side="right")) - 1
    message = (
        f"document {decode(documents[at])!r} repeated for query {decode(groups.queries[query])!r} "
        f"(first at {place.of(groups.row(int(repeated[at])))}), expected each document once per {same}"
    )
    raise place.error(groups.row(at), message, DuplicateError)


# Frames


def columns_of(frame: Any, wanted: WantedColumns, source: str) -> ColumnsByRole:
    """The wanted columns of a data frame or an Arrow table; InputError for anything else."""
    polars, pandas = sys.modules.get("polars"), sys.modules.get("pandas")
    if pandas is not None and isinstance(frame, pandas.DataFrame):
        return _pandas_columns(frame, wanted, source)
    if polars is not None and isinstance(frame, polars.LazyFrame | polars.DataFrame):
        frame = _collect_frame(frame, wanted, source)
    elif not hasattr(frame, "__arrow_c_stream__"):
        raise InputError(
            source,
            None,
            f"a {type(frame).__name__}, expected a data frame of polars or pandas, or anything with "
            "__arrow_c_stream__, such as an Arrow table",
        )
    return arrow_columns(frame, wanted, source)


def _collect_frame(frame: Any, wanted: WantedColumns, source: str) -> Any:
    """A polars frame of the wanted columns alone."""
    import polars as pl

    try:
        names = frame.collect_schema().names()
        # A column may be wanted twice, but a frame has each name once.
        chosen = dict.fromkeys(names[place] for _, place in places_of(wanted, names, source))
        return frame.select(list(chosen)).lazy().collect()
    except (pl.exceptions.PolarsError, OSError) as error:
        message = (
            f"polars cannot compute the frame ({error_summary(error)}), expected a frame that "
        )
        message += "`collect()` can compute"
        raise InputError(source, None, message) from None


def _pandas_columns(frame: Any, wanted: WantedColumns, source: str) -> ColumnsByRole:
    """By way of Arrow where pyarrow is there and can convert the columns, else value by value."""
    places = places_of(wanted, list(frame.columns), source)
    chosen = list(dict.fromkeys(place for _, place in places))
    try:
        table = arrow.Table(frame.iloc[:, chosen].__arrow_c_stream__(None))
        table.load()
    except Exception:  # no pyarrow, a pandas too old, objects of several types
        return {role: ArrayColumn(frame.iloc[:, place].to_numpy()) for role, place in places}
    return {role: ArrowColumn(table, chosen.index(place)) for role, place in places}


def arrow_columns(frame: Any, wanted: WantedColumns, source: str) -> ColumnsByRole:
    """The wanted columns of anything that gives an Arrow stream, all rows fetched."""
    try:
        table = arrow.Table(frame.__arrow_c_stream__(None))
    except Exception as error:  # whatever the maker of the frame raises
        raise arrow_error(source, error) from None
    places = places_of(wanted, table.names, source)
    try:
        table.load()
    except ValueError as error:
        raise arrow_error(source, error) from None
    return {role: ArrowColumn(table, place) for role, place in places}
