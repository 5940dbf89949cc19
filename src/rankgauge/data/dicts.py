"""Runs and judgments from Python's own dicts, lists and sets.

Plain ones are read by `native/dicts.pyx`. Anything else is taken value by value, which is slower and
finds the fault: an InputError that names the query and the document.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats, Ints, offsets_of
from rankgauge.core.notes import short_repr
from rankgauge.core.records import Record
from rankgauge.data.model import Ids, decode, encode, whole_grade
from rankgauge.errors import DuplicateError, InputError
from rankgauge.native import dicts as native

RUN_ROW = "{document: score} or a list of documents, the best first"
JUDGED_ROW = "{document: grade}, or a list or a set of relevant documents"


class Columns(Record):
    """Queries, where the rows of each lie, and a document and a value for each row."""

    queries: Ids
    bounds: Ints
    documents: Ids
    values: Floats

    @classmethod
    def of(cls, nested: object, *, graded: bool, source: str, key: str = "query") -> Columns:
        """The columns of a dict of queries; `graded` where its values are grades, not scores.

        `key` is what messages call a key of the dict.
        """
        queries, rows = _items(nested, graded, source, key)
        plain = cls._read_plain(queries, rows, graded)
        return (
            plain if plain is not None else cls._read_carefully(queries, rows, graded, source, key)
        )

    @classmethod
    def of_subtopics(cls, nested: object, *, source: str) -> tuple[Columns, Ids]:
        """The columns of a dict of queries and subtopics, and the subtopic of each row."""
        queries, by_query = _items(nested, True, source, "query")
        parts = [
            cls.of(by_name, graded=True, source=source, key=f"query {query!r}, subtopic")
            for query, by_name in zip(queries, by_query, strict=True)
        ]
        names = [
            part.queries.take(np.repeat(np.arange(len(part.queries)), np.diff(part.bounds)))
            for part in parts
        ]
        sizes = np.array([len(part.values) for part in parts], dtype=np.int64)
        whole = cls(
            cls.of(dict.fromkeys(queries, ()), graded=True, source=source).queries,
            offsets_of(sizes),
            Ids.joined([part.documents for part in parts]),
            np.concatenate([np.zeros(0), *(part.values for part in parts)]),
        )
        return whole, Ids.joined(names)

    @classmethod
    def _read_plain(cls, queries: list[Any], rows: list[Any], graded: bool) -> Columns | None:
        """The columns, None where anything is unusual."""
        columns = native.columns(queries, rows, graded)
        if columns is None:
            return None
        names, sizes, documents, values, unsure = columns
        made = cls(Ids(*names), offsets_of(sizes), Ids(*documents), values)
        if unsure and (
            (made.queries.repeats() >= 0).any() or (made.documents.repeats(made.bounds) >= 0).any()
        ):
            return None
        return made

    @classmethod
    def _read_carefully(
        cls, queries: list[Any], rows: list[Any], graded: bool, source: str, key: str
    ) -> Columns:
        """The columns, with every value looked at; InputError for the first that cannot be used."""
        names, sizes, documents, values = {}, [], [], []
        for query, row in zip(queries, rows, strict=True):
            name = _id(query, source, f"the {key}")
            if name in names:
                message = f"{key} {decode(name)!r} twice, as a number and as text, expected it once"
                raise DuplicateError(source, None, message)
            where = f"{key} {query!r}"
            seen: set[bytes] = set()
            for document, value in _entries(row, graded, source, where):
                raw = _id(document, source, f"{where}: the document")
                if raw in seen:
                    message = f"{where}: document {document!r} twice, expected each document once"
                    raise DuplicateError(source, None, message)
                seen.add(raw)
                documents.append(raw)
                about = f"{where}, document {document!r}"
                values.append(
                    _grade(value, source, about) if graded else _score(value, source, about)
                )
            names[name] = True
            sizes.append(len(seen))
        return cls(
            Ids.of_bytes(list(names)),
            offsets_of(np.array(sizes, dtype=np.int64)),
            Ids.of_bytes(documents),
            np.array(values, dtype=np.float64),
        )


def _items(nested: object, graded: bool, source: str, key: str) -> tuple[list[Any], list[Any]]:
    """The keys and the values of a dict; InputError where it is none."""
    if isinstance(nested, Mapping):
        return list(nested), list(nested.values())
    row = JUDGED_ROW if graded else RUN_ROW
    message = f"a {type(nested).__name__} ({short_repr(nested)}), expected {{{key}: …}} with {row}"
    raise InputError(source, None, message)


def _id(value: object, source: str, what: str) -> bytes:
    """An id as bytes: text as it is, a whole number by its digits; InputError for anything else."""
    if isinstance(value, str):
        try:
            return encode(value)
        except InputError:
            message = f"{what} {value!r} cannot be written as UTF-8, expected valid text"
            raise InputError(source, None, message) from None
    if isinstance(value, Integral) and not isinstance(value, bool):
        try:
            return b"%d" % int(value)
        except ValueError:  # more digits than Python writes
            raise InputError(source, None, f"{what} is too long, expected fewer digits") from None
    message = f"{what} is {short_repr(value)}, expected an id: text or a whole number"
    raise InputError(source, None, message)


def _grade(grade: object, source: str, where: str) -> int:
    """A grade, which is a whole number of any type; InputError for anything else."""
    whole = whole_grade(grade)
    if whole is not None:
        return whole
    message = f"{where}: grade {short_repr(grade)}, expected a whole number of at most 32 bits"
    raise InputError(source, None, message)


def _score(score: object, source: str, where: str) -> float:
    # NaN does not equal itself.
    if isinstance(score, Real) and not isinstance(score, bool) and score == score:
        try:
            return float(score)
        except OverflowError:
            message = f"{where}: the score is beyond double precision, expected a smaller number"
            raise InputError(source, None, message) from None
    raise InputError(source, None, f"{where}: score {short_repr(score)}, expected a number")


def _entries(row: object, graded: bool, source: str, where: str) -> Iterator[tuple[object, object]]:
    """The documents of a query, each with its value: of a list, a falling score or grade 1."""
    if isinstance(row, Mapping):
        return iter(row.items())
    if isinstance(row, np.ndarray) and row.ndim == 1:
        row = row.tolist()
    if isinstance(row, Sequence) and not isinstance(row, str | bytes | bytearray):
        return ((document, 1 if graded else len(row) - i) for i, document in enumerate(row))
    if isinstance(row, Set) and graded:
        return ((document, 1) for document in row)
    if isinstance(row, Set):
        message = f"{where}: a set has no order, expected {RUN_ROW}"
    else:
        message = f"{where}: {short_repr(row)}, expected {JUDGED_ROW if graded else RUN_ROW}"
    raise InputError(source, None, message)
