"""The columns of a table, each in a role: ids as bytes in one buffer, numbers in an array.

A fault is an InputError that names the row, counted from 0, or the line of a file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.notes import short_repr
from rankgauge.core.records import Record
from rankgauge.data.model import Ids, encode, whole_grade
from rankgauge.data.roles import GRADE, Role
from rankgauge.errors import InputError
from rankgauge.native import arrow

R = TypeVar("R")

TYPES = {
    b"b": "booleans",
    b"n": "nulls",
    b"e": "half-precision numbers",
    b"f": "single-precision numbers",
    b"g": "double-precision numbers",
    b"d": "decimals",
    b"t": "times",
    b"w": "fixed-width bytes",
    b"+": "nested values",
    **dict.fromkeys([b"u", b"U", b"vu"], "text"),
    **dict.fromkeys([b"z", b"Z", b"vz"], "bytes"),
    **dict.fromkeys([b"c", b"s", b"i", b"l", b"C", b"S", b"I", b"L"], "whole numbers"),
}
"""The kind of values in a column, by Arrow's format string or its first letter."""

LONGEST = 80


class RowLocator(Record):
    """Where rows come from, for messages: a table, or a file in which `line` finds a row."""

    source: str
    line: Callable[[int], int] | None = None

    def of(self, row: int) -> str:
        """A row as messages call it."""
        return f"row {row}" if self.line is None else f"line {self.line(row)}"

    def error(self, row: int, message: str, kind: type[InputError] = InputError) -> InputError:
        """The error about a row."""
        if self.line is None:
            return kind(self.source, None, f"row {row}: {message}")
        return kind(self.source, self.line(row), message)


class Column(Protocol):
    """A column of a table, of which the caller knows whether it holds ids or numbers."""

    # Both in memory of their own, which nobody changes later.
    def ids(self, role: Role, place: RowLocator) -> Ids: ...
    def numbers(self, role: Role, place: RowLocator) -> NDArray[Any]: ...


ColumnsByRole: TypeAlias = Mapping[Role, Column]
"""Columns by role."""


class ArrowColumn(Record):
    """A column of an Arrow table."""

    table: arrow.Table
    index: int

    def ids(self, role: Role, place: RowLocator) -> Ids:
        """The ids, copied without a Python object each."""
        if self.table.formats[self.index] not in arrow.LAYOUTS:
            raise self._type_error(role, place, "text or whole numbers")
        self._refuse_nulls(role, place, "an id")
        return Ids(*self._read(self.table.ids, place))

    def numbers(self, role: Role, place: RowLocator) -> NDArray[Any]:
        """The numbers, in the type they have."""
        encoded, form = self.table.encoded[self.index], self.table.formats[self.index]
        if encoded or form not in (*arrow.NUMBERS, b"n"):
            raise self._type_error(role, place, "numbers")
        self._refuse_nulls(role, place, "a number")
        if form == b"n":  # a column of nulls that has no rows
            return np.zeros(0, dtype=np.int64)
        return self._read(self.table.numbers, place)

    def _read(self, read: Callable[[int], R], place: RowLocator) -> R:
        try:
            return read(self.index)
        except ValueError as error:
            raise arrow_error(place.source, error) from None

    def _type_error(self, role: Role, place: RowLocator, expected: str) -> InputError:
        form = self.table.formats[self.index]
        held = TYPES.get(form) or TYPES.get(form[:1]) or f"Arrow's {form.decode()}"
        if self.table.encoded[self.index]:
            held = f"categories of {held}"
        return type_error(role, place, f"column {self.table.names[self.index]!r}", held, expected)

    def _refuse_nulls(self, role: Role, place: RowLocator, expected: str) -> None:
        row = self._read(self.table.first_null, place)
        if row >= 0:
            raise missing_value_error(role, place, row, expected)


class ArrayColumn(Record):
    """A column given as a NumPy array or any sequence of values."""

    values: Any

    def ids(self, role: Role, place: RowLocator) -> Ids:
        """The ids; from arrays of bytes, text or whole numbers without a Python object each."""
        array = self._array(role, place, "an id")
        if array is None or array.dtype.kind in "OT":
            return _object_ids(self.values, role, place)
        kind, size = array.dtype.kind, array.dtype.itemsize
        if kind in "iu":
            return Ids(*arrow.decimals(array))
        if kind not in "SU":
            raise type_error(role, place, "array", str(array.dtype), "text or whole numbers")
        if size == 0 or array.size == 0:
            return Ids(np.zeros(0, np.uint8), np.zeros(len(array) + 1, np.int64))
        array = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
        if kind == "S":
            return Ids(*arrow.fixed_bytes(array.view(np.uint8).reshape(len(array), size)))
        data, offsets, bad = arrow.fixed_text(array.view(np.uint32).reshape(len(array), size // 4))
        if bad >= 0:
            raise _encoding_error(role, place, bad, repr(str(array[bad])))
        return Ids(data, offsets)

    def numbers(self, role: Role, place: RowLocator) -> NDArray[Any]:
        """The numbers, in the type they have; Python objects as double where one is no integer."""
        array = self._array(role, place, "a number")
        if array is None or array.dtype.kind == "O":
            return _object_numbers(self.values, role, place)
        if array.dtype.kind not in "iuf":
            raise type_error(role, place, "array", str(array.dtype), "numbers")
        return array.copy()

    def _array(self, role: Role, place: RowLocator, expected: str) -> NDArray[Any] | None:
        """The values if they are an array, of one dimension and with nothing masked."""
        if not isinstance(self.values, np.ndarray):
            if not _is_column(self.values):
                raise InputError(
                    place.source,
                    None,
                    f"a {type(self.values).__name__} for the {role.option}, expected an array or a list "
                    "with one value per row",
                )
            return None
        if self.values.ndim != 1:
            held = f"{self.values.ndim} dimensions"
            raise type_error(role, place, "array", held, "one dimension")
        masked = np.flatnonzero(np.ma.getmaskarray(self.values))
        if masked.size:
            raise missing_value_error(role, place, int(masked[0]), expected)
        return np.asarray(self.values)


def _is_column(values: object) -> bool:
    """Whether these can be taken one by one; text can, but is a single value."""
    try:
        iter(values)  # type: ignore[call-overload]
    except TypeError:
        return False
    return not isinstance(values, str | bytes | Mapping)


def _object_ids(values: Iterable[object], role: Role, place: RowLocator) -> Ids:
    values = values if isinstance(values, list) else list(values)
    joined = _encode_texts(values)
    if joined is not None:
        return joined
    raw = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            try:
                raw.append(encode(value))
            except InputError:
                raise _encoding_error(role, place, row, short_repr(value, LONGEST)) from None
        elif isinstance(value, bytes):
            raw.append(value)
        elif isinstance(value, Integral) and not isinstance(value, bool):
            try:
                raw.append(b"%d" % int(value))
            except ValueError:  # more digits than Python writes
                message = f"the {role.option} is too long, expected fewer digits"
                raise place.error(row, message) from None
        elif _is_missing(value):
            raise missing_value_error(role, place, row, "an id")
        else:
            held = short_repr(value, LONGEST)
            message = f"the {role.option} is {held}, expected text or a whole number"
            raise place.error(row, message)
    return Ids.of_bytes(raw)


def _encode_texts(values: list[Any]) -> Ids | None:
    """The ids of texts, encoded all at once; None where one is no text, or has a zero in it."""
    if set(map(type, values)) != {str}:
        return None
    try:
        raw = np.frombuffer("\0".join(values).encode("utf-8", "surrogateescape"), dtype=np.uint8)
    except UnicodeEncodeError:
        return None
    ends = np.flatnonzero(raw == 0)
    if len(ends) != len(values) - 1:
        return None
    inner = ends - np.arange(len(ends))  # each id starts after the zeros before it, which go
    return Ids(raw[raw != 0], np.concatenate(([0], inner, [len(raw) - len(ends)])))


def _object_numbers(values: Iterable[object], role: Role, place: RowLocator) -> NDArray[Any]:
    values = values if isinstance(values, list) else list(values)
    numbers = _plain_numbers(values, role)
    if numbers is not None:
        return numbers
    kept: list[Any] = []
    whole = True
    for row, value in enumerate(values):
        if _is_missing(value):
            raise missing_value_error(role, place, row, "a number")
        if not isinstance(value, Real) or isinstance(value, bool):
            raise place.error(
                row, f"the {role.option} is {short_repr(value, LONGEST)}, expected a number"
            )
        if role is GRADE:
            grade = whole_grade(value)
            if grade is None:
                raise grade_error(place, row, value)
            value = grade
        elif not isinstance(value, float):
            try:
                value = float(value)
            except OverflowError:
                message = f"the {role.option} is beyond double precision, expected a smaller number"
                raise place.error(row, message) from None
        whole = whole and isinstance(value, Integral)
        kept.append(value)
    return np.array(kept, dtype=np.int64 if whole else np.float64)


def _plain_numbers(values: list[Any], role: Role) -> NDArray[Any] | None:
    """The numbers all at once, None where one is unusual: then each is looked at."""
    types = set(map(type, values))
    if not types <= ({int} if role is GRADE else {int, float}):
        return None
    try:
        numbers = np.array(values, dtype=np.int64 if role is GRADE else np.float64)
    except OverflowError:
        return None
    return None if np.isnan(numbers).any() else numbers


def _is_missing(value: object) -> bool:
    """Whether a Python object stands for no value: None, NaN, pandas' NA and NaT."""
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _encoding_error(role: Role, place: RowLocator, row: int, value: str) -> InputError:
    message = f"the {role.option} {value} cannot be written as UTF-8, expected valid text"
    return place.error(row, message)


def missing_value_error(role: Role, place: RowLocator, row: int, expected: str) -> InputError:
    """The error for a row without a value for a role."""
    message = f"no {role.option}, expected {expected} (leave out rows without one)"
    return place.error(row, message)


def grade_error(place: RowLocator, row: int, grade: object) -> InputError:
    """The error for a grade that is not a whole number of at most 32 bits."""
    plain = grade.item() if isinstance(grade, np.generic) else grade
    return place.error(
        row, f"grade {short_repr(plain, LONGEST)}, expected a whole number of at most 32 bits"
    )


def type_error(role: Role, place: RowLocator, what: str, held: str, expected: str) -> InputError:
    """The error for a column whose values do not fit its role."""
    message = f"{what} for the {role.option} holds {held}, expected {expected} (cast it first)"
    return InputError(place.source, None, message)


def arrow_error(source: str, error: Exception) -> InputError:
    """The error for data that cannot be read as Arrow data."""
    message = f"cannot be read as Arrow data ({error_summary(error)}), expected a table"
    return InputError(source, None, message)


def error_summary(error: BaseException) -> str:
    """What an exception says, as part of a message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
