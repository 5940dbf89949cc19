"""What a ranker learns from: for each query, documents with a label and a row of feature values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Ints, Labels, Values, offsets_of, segment_rows
from rankgauge.core.checks import check_value
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import SEED, SEEDS
from rankgauge.core.records import Record
from rankgauge.core.seeds import list_seeds
from rankgauge.data.model import Ids, Judgments, decode, encode, freeze
from rankgauge.errors import DuplicateError, InputError, RankgaugeError
from rankgauge.native import ids as native_ids

W = TypeVar("W", np.int32, np.int64)
SelectedQueries: TypeAlias = str | int | Iterable[str] | Iterable[int] | NDArray[np.integer]
"""Queries by id or by number, counting from 0; or a single query."""


class Features(Record):
    """What a ranker learns from: for each query, documents with a label and a row of feature values.

    `read_letor` reads features from a file. Query q has the rows `bounds[q]:bounds[q + 1]`.

    Parameters
    ----------
    queries : Ids
        The ids of the queries, each once.
    bounds : array of int
        Where the rows of each query begin, and at last the number of rows.
    labels : array of int
        The label of each row, a whole number of at most 32 bits.
    values : array of float
        The feature values, with a row for each document. Feature f is in column f - 1. Values that come
        from a file are in single precision.
    documents : Ids or None, default None
        The name of the document of each row. None where the file does not name them.
    source : str, default "features"
        Where the features come from, for error messages.
    dropped : tuple of Note, default ()
        What lenient reading left out.

    Raises
    ------
    InputError
        If the parts do not fit together, or if two queries have the same id.

    Examples
    --------
    >>> features = Features(
    ...     Ids.of(["q1", "q2"]), np.array([0, 2, 3]), np.array([2, 0, 1], np.int32), np.eye(3)
    ... )
    >>> features
    Features: 2 queries, 3 documents, 3 features
    >>> features.select(["q2"]).labels.tolist()
    [1]
    """

    queries: Ids
    bounds: Ints
    labels: Labels
    values: Values
    documents: Ids | None = None
    source: str = "features"
    dropped: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", self._integer_column("bounds", self.bounds, np.int64))
        object.__setattr__(self, "labels", self._integer_column("labels", self.labels, np.int32))
        object.__setattr__(self, "values", self._matrix())
        freeze(self, "bounds", "labels", "values")
        self._check_ids()
        self._check_bounds()

    def _integer_column(self, name: str, numbers: Any, kind: type[W]) -> NDArray[W]:
        """The whole numbers of a column; InputError where some are none, or too large."""
        array = np.asarray(numbers)
        limits = np.iinfo(kind)
        if array.ndim == 1 and (array.dtype.kind in "iu" or not array.size):
            fits = np.can_cast(array.dtype, kind) or not array.size
            if fits or (limits.min <= array.min() and array.max() <= limits.max):
                return array.astype(kind, copy=False)
        raise self._error(
            f"{name}: {_describe_array(array)}, expected a column of whole numbers of at most "
            f"{limits.bits} bits"
        )

    def _matrix(self) -> Values:
        """The values; InputError where they are no matrix of numbers with a row for each label."""
        values = np.asarray(self.values)
        if values.ndim != 2 or values.dtype.kind not in "fiu":
            raise self._error(
                f"values: {_describe_array(values)}, expected a matrix of numbers: a row for "
                "each document, and "
                "a column for each feature"
            )
        rows, labels = count_phrase(len(values), "row"), count_phrase(len(self.labels), "label")
        if len(values) != len(self.labels):
            raise self._error(
                f"{labels}, but the values have {rows}, expected a label for each row"
            )
        return values if values.dtype.kind == "f" else values.astype(np.float64)

    def _check_ids(self) -> None:
        for name, ids in (("queries", self.queries), ("documents", self.documents)):
            if not isinstance(ids, Ids) and not (ids is None and name == "documents"):
                raise self._error(
                    f"{name}: {type(ids).__name__}, expected Ids, such as Ids.of(['10', '11'])"
                )
        if self.documents is not None and len(self.documents) != len(self.labels):
            names, rows = (
                count_phrase(len(self.documents), "name"),
                count_phrase(len(self.labels), "row"),
            )
            raise self._error(f"documents: {names} for {rows}, expected one name per row")
        numbers, firsts = self.queries.factorize()
        if len(firsts) < len(numbers):
            again = int(np.argmax(numbers != np.arange(len(numbers))))
            raise self._error(
                f"query {decode(self.queries[again])!r} twice, expected each query once"
            )

    def _check_bounds(self) -> None:
        bounds, rows = self.bounds, len(self.labels)
        if len(bounds) != len(self.queries) + 1:
            queries = count_phrase(len(self.queries), "query")
            raise self._error(
                f"bounds: {count_phrase(len(bounds), 'number')} for {queries}, expected one more "
                "than queries"
            )
        if bounds[0] != 0 or bounds[-1] != rows or (np.diff(bounds) < 0).any():
            raise self._error(
                f"bounds: from {bounds[0]:,} to {bounds[-1]:,}, expected non-decreasing numbers, from "
                f"0 to the number of rows, {rows:,}"
            )

    def _error(self, message: str) -> InputError:
        return InputError(self.source, None, message)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}: {count_phrase(len(self.queries), 'query')}, "
            f"{count_phrase(len(self.labels), 'document')}, "
            f"{count_phrase(self.values.shape[1], 'feature')}"
        )

    def select(self, queries: SelectedQueries) -> Features:
        """The documents of these queries, in this order, or of one query.

        Text is the id of a query, and a whole number is the place of a query, from 0. RankgaugeError for
        a query that is not there, or that is named twice.
        """
        numbers = self._numbers(queries)
        places, bounds = segment_rows(self.bounds, numbers)
        rows: slice | Ints = places
        if len(numbers) and (np.diff(numbers) == 1).all():  # as they stand: nothing is copied
            rows = slice(int(self.bounds[numbers[0]]), int(self.bounds[numbers[-1] + 1]))
        return replace(
            self,
            queries=self.queries.take(numbers),
            bounds=bounds,
            labels=self.labels[rows],
            values=self.values[rows],
            documents=None if self.documents is None else self.documents.take(places),
        )

    @classmethod
    def joined(
        cls, parts: Sequence[Features], *, absent: float = 0.0, source: str = ""
    ) -> Features:
        """Several features as one, one after the other. Features that a part lacks are `absent` in it.

        If only some parts name their documents, the others get the names of `named`. InputError where
        two parts have the same query.
        """
        width = max((part.values.shape[1] for part in parts), default=0)
        source = source or ", ".join(part.source for part in parts)
        seen: dict[bytes, str] = {}
        for part in parts:
            for raw in part.queries:
                if raw in seen:
                    message = (
                        f"query {decode(raw)!r} is also in {seen[raw]}, expected disjoint queries"
                    )
                    raise InputError(part.source, None, message)
            seen |= dict.fromkeys(part.queries, part.source)
        if len(parts) == 1:
            return replace(parts[0].widened(width, absent), source=source)
        documents = None
        if any(part.documents is not None for part in parts):
            documents = Ids.joined([part._names(SEED) for part in parts])
        rows = sum(len(part.labels) for part in parts)
        values = np.full((rows, width), absent, dtype=np.float32)
        start = 0
        for part in parts:
            values[start : start + len(part.labels), : part.values.shape[1]] = part.values
            start += len(part.labels)
        sizes = np.concatenate([np.zeros(0, np.int64), *(np.diff(part.bounds) for part in parts)])
        return cls(
            Ids.joined([part.queries for part in parts]),
            offsets_of(sizes),
            np.concatenate([np.zeros(0, np.int32), *(part.labels for part in parts)]),
            values,
            documents,
            source,
            tuple(note for part in parts for note in part.dropped),
        )

    def widened(self, width: int, absent: float = 0.0) -> Features:
        """The same with so many features, at least; those that are added have the value `absent`."""
        more = width - self.values.shape[1]
        if more <= 0:
            return self
        added = np.full((len(self.labels), more), absent, dtype=self.values.dtype)
        return replace(self, values=np.hstack((self.values, added)))

    def named(self, seed: int = SEED) -> Features:
        """The same with a name for every document; documents that have names keep them.

        A document without a name gets one from its query: `03-17` is the 17th document of its query in
        the file, and the third in an order that is drawn by the seed and the id of the query. Names sort
        in the order that was drawn. So where documents with equal scores are ordered by name, here or in
        a file that trec_eval reads, their order does not follow the file. Many files have the relevant
        documents first.
        """
        seed = check_value("seed", seed, SEEDS)
        return self if self.documents is not None else replace(self, documents=self._names(seed))

    def _names(self, seed: int) -> Ids:
        if self.documents is not None:
            return self.documents
        return _draw_names(self.queries, self.bounds, seed)

    def in_tie_order(self) -> Features:
        """The same, with the rows of each query in the order in which an evaluator breaks ties.

        An evaluator ranks documents with equal scores by name, the greatest name first. The result is
        for callers that keep rows as they stand. Documents without a name are named.
        """
        named, order = self.named(), self.tie_order()
        if (np.diff(order) == 1).all():
            return named
        return replace(
            named,
            labels=self.labels[order],
            values=self.values[order],
            documents=named._names(SEED).take(order),
        )

    def tie_order(self) -> Ints:
        """The rows, query by query, in the order in which an evaluator breaks ties.

        It ranks documents with equal scores by name, the greatest name first.
        """
        names = self._names(SEED)
        return native_ids.descending(names.data, names.offsets, self.bounds)

    @cached_property
    def judgments(self) -> Judgments:
        """The labels as judgments. Documents without a name are called as `named` calls them."""
        names = self._names(SEED)
        repeated = names.repeats(self.bounds)
        if (repeated >= 0).any():
            again = decode(names[int(np.argmax(repeated >= 0))])
            raise DuplicateError(
                self.source,
                None,
                f"document {again!r} twice for a query, expected each document once per query",
            )
        return Judgments(self.queries, self.bounds, names, self.labels, self.source)

    def _numbers(self, queries: SelectedQueries) -> Ints:
        """The places of these queries, checked."""
        wanted = [queries] if isinstance(queries, str | int | np.integer) else list(queries)
        if all(isinstance(query, str) for query in wanted):
            place = {raw: number for number, raw in enumerate(self.queries)}
            numbers = [place.get(encode(str(query)), -1) for query in wanted]
        elif all(
            isinstance(query, int | np.integer) and not isinstance(query, bool) for query in wanted
        ):
            numbers = [int(query) for query in wanted]
        else:
            raise RankgaugeError(
                "queries: expected ids, such as '10', or the numbers of queries, from 0"
            )
        for query, number in zip(wanted, numbers, strict=True):
            if not 0 <= number < len(self.queries):
                raise RankgaugeError(
                    f"{self.source}: no query {query!r}; there are "
                    f"{count_phrase(len(self.queries), 'query')}"
                )
        if len(set(numbers)) < len(numbers):
            raise RankgaugeError("queries: a query is listed twice, expected each query once")
        return np.array(numbers, dtype=np.int64)


def _describe_array(array: NDArray[Any]) -> str:
    """What an array is, for messages."""
    return f"an array of {array.dtype} of shape {array.shape}"


def _draw_names(queries: Ids, bounds: Ints, seed: int) -> Ids:
    """A name for each row: its place in an order drawn for its query, and its place in the query."""
    sizes, drawn = np.diff(bounds), np.empty(int(bounds[-1]), dtype=np.int64)
    for number, own in enumerate(list_seeds(seed, queries).tolist()):
        drawn[bounds[number] : bounds[number + 1]] = np.random.default_rng(own).permutation(
            int(sizes[number])
        )
    within = np.arange(len(drawn)) - np.repeat(bounds[:-1], sizes)
    # Every place of a query has as many digits, so that names sort as numbers do.
    places, kept = _digits(drawn + 1, np.repeat(_digit_count(sizes), sizes))
    rows, kept_too = _digits(within + 1, _digit_count(within + 1))
    hyphen = np.full((len(drawn), 1), ord("-"), dtype=np.uint8)
    table = np.hstack((places, hyphen, rows))
    mask = np.hstack((kept, np.ones_like(hyphen, dtype=np.bool_), kept_too))
    return Ids(table[mask], offsets_of(mask.sum(axis=1)))


def _digit_count(numbers: Ints) -> Ints:
    powers = 10 ** np.arange(1, 19, dtype=np.int64)
    return np.searchsorted(powers, numbers, side="right") + 1


def _digits(numbers: Ints, counts: Ints) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """The decimal digits of the numbers as text, one row each, and which of them count.

    The mask has the last digits of each row, as many as `counts` says for the number.
    """
    width = int(counts.max(initial=1))
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    digits = (numbers[:, None] // powers % 10 + ord("0")).astype(np.uint8)
    return digits, np.arange(width) >= width - counts[:, None]
