"""Documents by query in JSON: lists of ids, lists of objects, and objects of values.

A run without scores is in the order of its list. A document that is listed as relevant has grade 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Ints, offsets_of
from rankgauge.data.columns import ArrayColumn, RowLocator
from rankgauge.data.frames import Grouping
from rankgauge.data.model import Ids, decode
from rankgauge.data.roles import (
    GRADE,
    ITEM,
    RANK,
    RECORD_QUERY,
    RELEVANT,
    RETRIEVED,
    SCORE,
    ColumnNames,
    Role,
    format_columns,
    normalize_name,
)
from rankgauge.errors import InputError
from rankgauge.io.rows import JsonObject, describe_value, repeated_keys

MOST_OBJECTS = 1 << 16
"""How many documents are Python objects before they become columns."""


class QueryEntry(NamedTuple):
    """The documents of a query, as JSON has them, and the line where that is known."""

    query: object
    documents: object
    line: int | None


def entries_of_object(
    objects: Iterable[tuple[int | None, JsonObject]], source: str
) -> Iterator[QueryEntry]:
    """The entries of objects with a key for each query."""
    for line, record in objects:
        again = sorted(repeated_keys(record))
        if again:
            message = f"query {again[0]!r} more than once, expected each query once"
            raise InputError(source, line, message)
        for query, documents in record.items():
            yield QueryEntry(query, documents, line)


def entries_of_records(
    first: JsonObject,
    objects: Iterable[tuple[int | None, JsonObject]],
    role: Role,
    names: ColumnNames,
    source: str,
) -> Iterator[QueryEntry]:
    """The entries of objects that have a query and a list of documents in this role.

    The keys of the first object are the keys of all.
    """
    keys = list(first)
    query = keys[RECORD_QUERY.find(keys, names.query, source)]
    place = role.place(keys, None, source)
    if place is None:
        what = "run" if role is RETRIEVED else "judgments"
        raise InputError(
            source,
            None,
            f"no {what}: the objects have no key {' or '.join(role.names)} (keys: "
            f"{format_columns(keys)}), "
            f"expected such a key with the {role.option} documents, or a separate file with the {what}",
        )
    documents = keys[place]
    for number, (line, record) in enumerate(objects):
        for key in (query, documents):
            if key not in record:
                message = f"no {key!r}, expected one in each object, as in the first"
                if key == documents and role is RELEVANT:
                    message += " (write [] where nothing is relevant)"
                raise _error(source, line, number, message)
            if key in repeated_keys(record):
                message = f"{key!r} more than once, expected each key once"
                raise _error(source, line, number, message)
        yield QueryEntry(record[query], record[documents], line)


def _error(source: str, line: int | None, number: int, message: str) -> InputError:
    place = RowLocator(source, None if line is None else lambda _: line)
    return place.error(number, message)


class ListLocator(RowLocator):
    """Where documents come from that are listed by query."""

    bounds: Ints = field(kw_only=True)
    entries: Sequence[QueryEntry] = field(kw_only=True)

    def of(self, row: int) -> str:
        """A document as messages call it."""
        return f"place {row - int(self.bounds[self._query(row)]) + 1} of its list"

    def error(self, row: int, message: str, kind: type[InputError] = InputError) -> InputError:
        """The error about a document."""
        return entry_error(self.source, self.entries[self._query(row)], message, kind)

    def _query(self, row: int) -> int:
        return int(np.searchsorted(self.bounds, row, side="right")) - 1


def entry_error(
    source: str, entry: QueryEntry, message: str, kind: type[InputError] = InputError
) -> InputError:
    """The error about a query and its documents: by its line, or by its name."""
    if entry.line is None:
        message = f"query {describe_value(entry.query)}: {message}"
    return kind(source, entry.line, message)


def documents_by_query(
    entries: Iterable[QueryEntry], role: Role, names: ColumnNames, source: str
) -> tuple[Grouping, Ids, ArrayColumn, ListLocator]:
    """Return the queries of these entries, their documents with numbers, and where the documents are.

    The documents are retrieved documents with scores, or relevant documents with grades.
    """
    reader = _Reader(role, names, source)
    for entry in entries:
        reader.add(entry)
    reader.flush()
    kept = reader.entries
    if not kept:
        raise InputError(source, None, "no queries, expected some")
    each = ListLocator(source, bounds=np.arange(len(kept) + 1), entries=kept)
    queries = ArrayColumn([entry.query for entry in kept]).ids(RECORD_QUERY, each)
    repeated = queries.repeats()
    again = np.flatnonzero(repeated >= 0)
    if again.size:
        at = int(again[0])
        earlier = kept[int(repeated[at])].line
        where = "" if earlier is None else f" (first at line {earlier})"
        message = f"query {decode(queries[at])!r} again{where}, expected each query once"
        raise InputError(source, kept[at].line, message)
    bounds = offsets_of(reader.sizes)
    return (
        Grouping(queries, bounds, None),
        Ids.joined(reader.ids),
        ArrayColumn(np.concatenate(reader.numbers)),
        ListLocator(source, bounds=bounds, entries=kept),
    )


class _Reader:
    """Takes the documents of one query after the other, whatever their shape.

    Python objects are made into columns from time to time, so that there are never many of them.
    """

    def __init__(self, role: Role, names: ColumnNames, source: str) -> None:
        self.role, self.names, self.source = role, names, source
        self.entries: list[QueryEntry] = []
        self.sizes: list[int] = []
        self.ids: list[Ids] = []
        self.numbers: list[NDArray[Any]] = []
        self.done = 0  # how many entries are in columns already
        self.documents: list[object] = []
        self.values: list[object] = []
        self.keys: tuple[str, str | None, Role | None] | None = None
        self.without_value: set[str] = set()

    def flush(self) -> None:
        """Make columns of the documents that were taken since the last time."""
        bounds = offsets_of(self.sizes[self.done :])
        place = ListLocator(self.source, bounds=bounds, entries=self.entries[self.done :])
        self.ids.append(ArrayColumn(self.documents).ids(ITEM, place))
        value = GRADE if self.role is RELEVANT else SCORE
        self.numbers.append(ArrayColumn(self.values).numbers(value, place))
        self.done = len(self.entries)
        self.documents, self.values = [], []

    def add(self, entry: QueryEntry) -> None:
        """Take the documents of an entry."""
        listing = entry.documents
        before = len(self.documents)
        if isinstance(listing, dict):
            again = sorted(repeated_keys(listing))
            if again:
                message = (
                    f"document {again[0]!r} more than once, expected each document once per query"
                )
                raise entry_error(self.source, entry, message)
            self.documents += listing
            self.values += listing.values()
        elif not isinstance(listing, list):
            message = (
                f"{describe_value(listing)} for the {self.role.option} documents, expected a list of "
                'ids such as ["d1"], or an object such as {"d1": 1}'
            )
            raise entry_error(self.source, entry, message)
        elif listing and isinstance(listing[0], dict):
            self._add_objects(entry, listing)
        else:
            self.documents += listing
            self._add_rank_values(len(listing))
        self.sizes.append(len(self.documents) - before)
        self.entries.append(entry._replace(documents=None))
        if len(self.documents) >= MOST_OBJECTS:
            self.flush()

    def _add_rank_values(self, count: int) -> None:
        """Values of documents that have none: by their place in a run, 1 where they are relevant."""
        self.values += [1] * count if self.role is RELEVANT else range(-1, -count - 1, -1)

    def _add_objects(self, entry: QueryEntry, listing: list[Any]) -> None:
        """Documents that are objects with an id and, as a rule, a value."""
        if self.keys is None:
            self.keys = self._keys_of(list(listing[0]))
            if self.keys[1] is None:
                self._refuse_unknown_number(listing[0])
            self.without_value = {*listing[0]}
        document, value, role = self.keys
        wanted = [document] if value is None else [document, value]
        if value is None:
            self._refuse_values(entry, listing)
        if set(map(type, listing)) != {dict}:  # one is no object, or has a key twice
            self._check(entry, listing, wanted)
        try:
            self.documents += [item[document] for item in listing]
            values = [] if value is None else [item[value] for item in listing]
        except KeyError:
            self._check(entry, listing, wanted)
            raise
        if value is None:
            self._add_rank_values(len(listing))
        else:
            self.values += map(_negate_rank, values) if role is RANK else values

    def _refuse_unknown_number(self, item: JsonObject) -> None:
        """Refuse a document without a value that has another number: it may be the value."""
        known = {normalize_name(name) for role in (ITEM, RECORD_QUERY, RANK) for name in role.names}
        numbers = [
            key
            for key, value in item.items()
            if isinstance(value, int | float) and not isinstance(value, bool)
            if key != self.names.document and normalize_name(key) not in known
        ]
        if numbers:
            role, chosen = GRADE, self.names.grade
            without = "every document in the list has grade 1"
            if self.role is RETRIEVED:
                role, chosen, without = SCORE, self.names.score, "the order of the list counts"
            error = role.absent(list(item), chosen, self.source)
            message = f"{error.message}; or remove {format_columns(numbers)}: without it, {without}"
            raise InputError(self.source, None, message)

    def _refuse_values(self, entry: QueryEntry, listing: list[Any]) -> None:
        """Refuse a value where the first document of the file has none."""
        for number, item in enumerate(listing, 1):
            if isinstance(item, dict) and not item.keys() <= self.without_value:
                key = self._keys_of(list(item))[1]
                if key is not None:
                    message = (
                        f"document {number} of the list has {key!r}, but the first document of the "
                        "file has none; expected the key in all documents, or in none"
                    )
                    raise entry_error(self.source, entry, message)

    def _keys_of(self, keys: list[str]) -> tuple[str, str | None, Role | None]:
        """The keys of a document's id and of its value, and what the value is."""
        document = keys[ITEM.find(keys, self.names.document, self.source)]
        roles = [(GRADE, self.names.grade)]
        if self.role is RETRIEVED:
            roles = [(SCORE, self.names.score), (RANK, None)]
        for role, chosen in roles:
            place = role.place(keys, chosen, self.source)
            if place is not None:
                return document, keys[place], role
        return document, None, None

    def _check(self, entry: QueryEntry, listing: list[Any], wanted: list[str]) -> None:
        """InputError where an item of a list is no object with each wanted key once."""
        for number, item in enumerate(listing, 1):
            message = ""
            if not isinstance(item, dict):
                message = f"{describe_value(item)}, expected an object, "
                message += "like the first document of the list"
            else:
                for key in wanted:
                    if key not in item:
                        message = f"no {key!r}, expected one in each object"
                    elif key in repeated_keys(item):
                        message = f"{key!r} more than once, expected each key once"
            if message:
                where = f"place {number} of the {self.role.option} documents: "
                raise entry_error(self.source, entry, where + message)


def _negate_rank(rank: Any) -> Any:
    """The score of a rank; what is no number stays as it is, for it to be refused."""
    return -rank if isinstance(rank, int | float) and not isinstance(rank, bool) else rank
