"""The columns of a table, each in a role: ids as bytes in one buffer, numbers in an array.

A fault is an InputError that names the row, counted from 0, or the line of a file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.errors import InputError
from rankgauge.data.model import Ids, encode, whole_grade
from rankgauge.native import arrow

TYPES = {
    b"b": "booleans",
    b"n": "nulls",
    b"e": "half-precision numbers",
    b"f": "single-precision numbers",
    b"g": "double-precision numbers",
    b"d": "decimals",
    b"t": "times",
    b"w": "bytes of a fixed width",
    b"+": "nested values",
    **dict.fromkeys([b"u", b"U", b"vu"], "text"),
    **dict.fromkeys([b"z", b"Z", b"vz"], "bytes"),
    **dict.fromkeys([b"c", b"s", b"i", b"l", b"C", b"S", b"I", b"L"], "whole numbers"),
}
"""What a column holds, by Arrow's format or its first letter."""


@dataclass(frozen=True)
class Role:
    """What a column is for: how to ask for it, and the names it is known by.

    The second names count only where there is none of the first: beside `qid`, a column `query`
    holds the text of the query.
    """

    option: str
    names: tuple[str, ...]
    second_names: tuple[str, ...] = ()

    def find(self, columns: Sequence[object], chosen: object, source: str) -> int:
        """The place of the column in this role; InputError where there is none, or more than one."""
        there = ", ".join(map(str, columns)) or "none"
        for names in (self.names, self.second_names) if chosen is None else ((chosen,),):
            places = [place for place, column in enumerate(columns) if column in names]
            if len(places) > 1:
                found = " and ".join(str(columns[place]) for place in places)
                message = f"the {self.option} could be {found}, expected one such column: say "
                message += f"which by {self.option}=... (columns: {there})"
                raise InputError(source, None, message)
            if places:
                return places[0]
        wanted = " or ".join(self.names + self.second_names) if chosen is None else f"{chosen!r}"
        message = f"no column for the {self.option}, expected {wanted} (columns: {there})"
        if chosen is None:
            message += f"; say which by {self.option}=..."
        raise InputError(source, None, message)


QUERY = Role("query", ("query_id", "qid", "q_id"), ("query", "topic"))
DOCUMENT = Role("document", ("doc_id", "docno", "docid"), ("document", "doc"))
SCORE = Role("score", ("score",))
GRADE = Role("grade", ("relevance", "grade", "rel", "label"))
SUBTOPIC = Role("subtopic", ("subtopic",))

Wanted = Sequence[tuple[Role, str | None]]
"""The columns to find: each role, and the name that the caller gave for it."""


@dataclass(frozen=True)
class Place:
    """Where rows come from, for messages: a table, or a file with this text."""

    source: str
    text: bytes | None = None

    @cached_property
    def _lines(self) -> list[int]:
        return [number for number, _ in lines_of(self.text or b"")]

    def of(self, row: int) -> str:
        """A row as messages call it."""
        return f"row {row}" if self.text is None else f"line {self._lines[row]}"

    def error(self, row: int, message: str, kind: type[InputError] = InputError) -> InputError:
        """The error about a row."""
        if self.text is None:
            return kind(self.source, None, f"row {row}: {message}")
        return kind(self.source, self._lines[row], message)


def lines_of(text: bytes) -> list[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    return [(i, line) for i, line in enumerate(text.split(b"\n"), 1) if line.strip()]


class Column(Protocol):
    """A column of a table, of which the caller knows whether it holds ids or numbers."""

    # Both in memory of their own, which nobody changes later.
    def ids(self, role: Role, place: Place) -> Ids: ...
    def numbers(self, role: Role, place: Place) -> NDArray[Any]: ...


@dataclass(frozen=True)
class ArrowColumn:
    """A column of an Arrow table."""

    table: arrow.Table
    index: int

    def ids(self, role: Role, place: Place) -> Ids:
        """The ids, copied without a Python object each."""
        if self.table.formats[self.index] not in arrow.LAYOUTS:
            raise self._type_error(role, place, "text or whole numbers")
        self._refuse_nulls(role, place, "an id")
        try:
            return Ids(*self.table.ids(self.index))
        except ValueError as error:
            raise not_arrow(place.source, error) from None

    def numbers(self, role: Role, place: Place) -> NDArray[Any]:
        """The numbers, in the type they have."""
        encoded, form = self.table.encoded[self.index], self.table.formats[self.index]
        if encoded or form not in (*arrow.NUMBERS, b"n"):
            raise self._type_error(role, place, "numbers")
        self._refuse_nulls(role, place, "a number")
        if form == b"n":  # a column of nulls that has no rows
            return np.zeros(0, dtype=np.int64)
        try:
            return self.table.numbers(self.index)
        except ValueError as error:
            raise not_arrow(place.source, error) from None

    def _type_error(self, role: Role, place: Place, expected: str) -> InputError:
        form = self.table.formats[self.index]
        held = TYPES.get(form) or TYPES.get(form[:1]) or f"Arrow's {form.decode()}"
        if self.table.encoded[self.index]:
            held = f"categories of {held}"
        return type_error(role, place, f"column {self.table.names[self.index]!r}", held, expected)

    def _refuse_nulls(self, role: Role, place: Place, expected: str) -> None:
        try:
            row = self.table.first_null(self.index)
        except ValueError as error:
            raise not_arrow(place.source, error) from None
        if row >= 0:
            raise _missing(role, place, row, expected)


@dataclass(frozen=True)
class ArrayColumn:
    """A column given as a NumPy array or any sequence of values."""

    values: Any

    def ids(self, role: Role, place: Place) -> Ids:
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
            raise place.error(
                bad, f"the {role.option} {str(array[bad])!r} is no text, expected UTF-8"
            )
        return Ids(data, offsets)

    def numbers(self, role: Role, place: Place) -> NDArray[Any]:
        """The numbers, in the type they have; Python objects as double where one is no integer."""
        array = self._array(role, place, "a number")
        if array is None or array.dtype.kind == "O":
            return _object_numbers(self.values, role, place)
        if array.dtype.kind not in "iuf":
            raise type_error(role, place, "array", str(array.dtype), "numbers")
        return array.copy()

    def _array(self, role: Role, place: Place, expected: str) -> NDArray[Any] | None:
        """The values if they are an array, of one dimension and with nothing masked."""
        if not isinstance(self.values, np.ndarray):
            if not _is_column(self.values):
                message = (
                    f"a {type(self.values).__name__} for the {role.option}, expected an array "
                )
                raise InputError(place.source, None, message + "or a list with a value a row")
            return None
        if self.values.ndim != 1:
            held = f"{self.values.ndim} dimensions"
            raise type_error(role, place, "array", held, "one dimension")
        masked = np.flatnonzero(np.ma.getmaskarray(self.values))
        if masked.size:
            raise _missing(role, place, int(masked[0]), expected)
        return np.asarray(self.values)


def _is_column(values: object) -> bool:
    """Whether these can be taken one by one; text can, but is a single value."""
    try:
        iter(values)  # type: ignore[call-overload]
    except TypeError:
        return False
    return not isinstance(values, str | bytes | Mapping)


def _object_ids(values: Iterable[object], role: Role, place: Place) -> Ids:
    raw = []
    for row, value in enumerate(values):
        if isinstance(value, str):
            try:
                raw.append(encode(value))
            except InputError:
                message = f"the {role.option} {value!r} is no text, expected UTF-8"
                raise place.error(row, message) from None
        elif isinstance(value, bytes):
            raw.append(value)
        elif isinstance(value, Integral) and not isinstance(value, bool):
            raw.append(b"%d" % int(value))
        elif _is_missing(value):
            raise _missing(role, place, row, "an id")
        else:
            message = f"the {role.option} is {value!r}, expected text or a whole number"
            raise place.error(row, message)
    return Ids.of_bytes(raw)


def _object_numbers(values: Iterable[object], role: Role, place: Place) -> NDArray[Any]:
    kept: list[Any] = []
    whole = True
    for row, value in enumerate(values):
        if _is_missing(value):
            raise _missing(role, place, row, "a number")
        if not isinstance(value, Real) or isinstance(value, bool):
            raise place.error(row, f"the {role.option} is {value!r}, expected a number")
        if role is GRADE:
            grade = whole_grade(value)
            if grade is None:
                raise bad_grade(place, row, value)
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


def _is_missing(value: object) -> bool:
    """Whether a Python object stands for no value: None, NaN, pandas' NA and NaT."""
    return value is None or value != value or type(value).__name__ in ("NAType", "NaTType")


def _missing(role: Role, place: Place, row: int, expected: str) -> InputError:
    message = f"no {role.option}, expected {expected} (leave out rows without one)"
    return place.error(row, message)


def bad_grade(place: Place, row: int, grade: object) -> InputError:
    return place.error(row, f"grade {grade!s}, expected a whole number of at most 32 bits")


def type_error(role: Role, place: Place, what: str, held: str, expected: str) -> InputError:
    message = f"{what} for the {role.option} holds {held}, expected {expected} (cast it first)"
    return InputError(place.source, None, message)


def not_arrow(source: str, error: Exception) -> InputError:
    message = f"cannot be read as Arrow data ({first_line(error)}), expected a table"
    return InputError(source, None, message)


def first_line(error: BaseException) -> str:
    """What an exception says, as part of a message."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
