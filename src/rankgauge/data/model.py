"""Judgments and runs: immutable, columnar, grouped by query.

Rows of one query stand together: query q owns the rows bounds[q]:bounds[q + 1]. Ids are bytes in one
flat buffer, never a Python object each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.arrays import Floats, Ints, Labels, T
from rankgauge.data.errors import InputError
from rankgauge.native import ids as native
from rankgauge.native.scan import Lookup
from rankgauge.notes import Note, counted
from rankgauge.policies import ScorePrecision
from rankgauge.records import Record

LARGEST_GRADE = 2**31 - 1

UNJUDGED = -1
POOLED = -2


def decode(raw: bytes) -> str:
    """An id as text; bytes that are not UTF-8 survive the way back."""
    return raw.decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """An id as bytes, the inverse of `decode`; InputError for what is no text."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except (AttributeError, UnicodeEncodeError):
        raise InputError("ids", None, f"{text!r} is not an id, expected text") from None


class Ids:
    """An immutable column of ids: bytes in one buffer, id i from offsets[i] to offsets[i + 1].

    >>> Ids.of(["q1", "q2"]).texts()
    ['q1', 'q2']
    """

    __slots__ = ("data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: Ints) -> None:
        self.data, self.offsets = data, offsets
        freeze(self, "data", "offsets", contiguous=True)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Ids:
        """The column of these texts."""
        raw = [encode(text) for text in texts]
        offsets = np.zeros(len(raw) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in raw], out=offsets[1:])
        return cls(np.frombuffer(b"".join(raw), dtype=np.uint8), offsets)

    @classmethod
    def joined(cls, columns: Sequence[Ids]) -> Ids:
        """One column of several, one after the other."""
        if len(columns) == 1:
            return columns[0]
        sizes = [np.diff(column.offsets) for column in columns]
        return cls(
            np.concatenate([column.data for column in columns]), _bounds(np.concatenate(sizes))
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> bytes:
        return self.data[self.offsets[row] : self.offsets[row + 1]].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        data, offsets = self.data.tobytes(), self.offsets.tolist()
        return (data[a:b] for a, b in itertools.pairwise(offsets))

    def texts(self) -> list[str]:
        """All ids as text."""
        return [decode(raw) for raw in self]

    def take(self, rows: NDArray[np.integer]) -> Ids:
        """The column of these rows, in their order."""
        starts = np.ascontiguousarray(self.offsets[rows])
        return Ids(*native.gather(self.data, starts, self.offsets[np.asarray(rows) + 1] - starts))


class Subtopics(Record):
    """The subtopics that each judged document was judged for, each with a grade of its own.

    The judgment in row r has numbers[offsets[r]:offsets[r + 1]], ascending, and as many grades. A
    number is a place in `names`, where query q has names[bounds[q]:bounds[q + 1]], the shorter ids
    first. `order` has the rows of grade 1 and above, query by query, the last document id first: the
    order in which ndeval prefers documents that are equally good.
    """

    names: Ids
    bounds: Ints
    offsets: Ints
    numbers: Ints
    grades: Labels
    order: Ints

    def __post_init__(self) -> None:
        freeze(self, "bounds", "offsets", "numbers", "grades", "order", contiguous=True)

    def take(self, queries: Ints) -> Subtopics:
        """The subtopics of these queries, each given once, in their order; rows keep their numbers."""
        sizes = np.diff(self.bounds)
        place = np.full(len(sizes), -1, dtype=np.int64)
        place[queries] = np.arange(len(queries))
        owner = np.repeat(np.arange(len(sizes)), sizes)
        names = np.flatnonzero(place[owner] >= 0)
        names = names[np.argsort(place[owner[names]], kind="stable")]
        number = np.full(len(owner), -1, dtype=np.int64)
        number[names] = np.arange(len(names))
        kept = number[self.numbers] >= 0
        row = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        query = place[owner[self.numbers[self.offsets[self.order]]]]
        order = self.order[query >= 0][np.argsort(query[query >= 0], kind="stable")]
        return Subtopics(
            self.names.take(names),
            _bounds(sizes[queries]),
            _bounds(np.bincount(row[kept], minlength=len(self.offsets) - 1)),
            number[self.numbers[kept]],
            self.grades[kept],
            order,
        )


class Judgments(Record):
    """What the assessors said: for each query, documents with grades (a qrels file).

    A negative grade means pooled but not judged. Where documents were judged for subtopics,
    `subtopics` has those grades, and the grade of a document is the highest of them.

    >>> Judgments.from_dict({"q1": {"d1": 1, "d2": 0}})
    Judgments: 1 query, 2 judgements
    """

    queries: Ids
    bounds: Ints
    documents: Ids
    grades: Labels
    source: str = "judgments"
    dropped: tuple[Note, ...] = ()
    subtopics: Subtopics | None = None

    @classmethod
    def from_dict(
        cls, judgments: Mapping[str, Mapping[str, int]], *, source: str = "judgments"
    ) -> Judgments:
        """Judgments from `{query: {document: grade}}`."""
        queries, bounds, documents = _columns(judgments)
        grades = [
            _grade(source, query, document, grade)
            for query, row in judgments.items()
            for document, grade in row.items()
        ]
        return cls(queries, bounds, documents, np.array(grades, dtype=np.int32), source)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        query: str | None = None,
        document: str | None = None,
        grade: str | None = None,
        subtopic: str | None = None,
        source: str = "judgments",
    ) -> Judgments:
        """Judgments from a table with a row for each: a data frame of polars or pandas, or anything
        with `__arrow_c_stream__`, such as an Arrow table.

        Columns are found by their usual names (query_id, doc_id, relevance and the like), or by
        those given; only a `subtopic` must be given. Grades are whole numbers. Nothing is shared
        with the table: it may change afterwards.

        >>> import polars
        >>> frame = polars.DataFrame({"qid": [1, 1], "docno": ["d1", "d2"], "label": [1, 0]})
        >>> Judgments.from_frame(frame)
        Judgments: 1 query, 2 judgements
        """
        from rankgauge.data import columns, tables

        wanted = tables.judgment_columns(query, document, grade, subtopic)
        return tables.judgments_of(tables.columns_of(frame, wanted, source), columns.Place(source))

    @classmethod
    def from_arrays(
        cls,
        queries: Sequence[object] | NDArray[Any],
        documents: Sequence[object] | NDArray[Any],
        grades: Sequence[int] | NDArray[Any],
        subtopics: Sequence[object] | NDArray[Any] | None = None,
        *,
        source: str = "judgments",
    ) -> Judgments:
        """Judgments from arrays or lists with a value for each: ids as text, bytes or whole numbers.
        All of it is copied.

        >>> Judgments.from_arrays(np.array([1, 1]), np.array([b"d1", b"d2"]), np.array([1, 0]))
        Judgments: 1 query, 2 judgements
        """
        from rankgauge.data import columns, tables

        given = (queries, documents, grades, *(() if subtopics is None else (subtopics,)))
        return tables.judgments_of([columns.ArrayColumn(c) for c in given], columns.Place(source))

    @classmethod
    def from_subtopics(
        cls,
        judgments: Mapping[str, Mapping[str, Mapping[str, int]]],
        *,
        source: str = "judgments",
    ) -> Judgments:
        """Judgments from `{query: {subtopic: {document: grade}}}`.

        >>> Judgments.from_subtopics({"q1": {"1": {"d1": 1, "d2": 0}, "2": {"d2": 3}}})
        Judgments: 1 query, 2 subtopics, 2 judgements
        """
        sizes: list[int] = []
        documents: list[str] = []
        subtopics: list[str] = []
        grades: list[int] = []
        for query, by_name in judgments.items():
            start = len(grades)
            for name, row in _rows_of_query(source, query, by_name):
                subtopics += [name] * len(row)
                documents += row
                grades += [_grade(source, query, d, grade) for d, grade in row.items()]
            sizes.append(len(grades) - start)
        return cls.from_rows(
            Ids.of(judgments),
            _bounds(sizes),
            Ids.of(documents),
            Ids.of(subtopics),
            np.array(grades, dtype=np.int32),
            source,
        )

    @classmethod
    def from_rows(
        cls,
        queries: Ids,
        bounds: Ints,
        documents: Ids,
        subtopics: Ids,
        grades: Labels,
        source: str = "judgments",
        dropped: tuple[Note, ...] = (),
    ) -> Judgments:
        """Judgments from rows of a document, a subtopic and a grade, each pair once a query."""
        query = np.repeat(np.arange(len(queries)), np.diff(bounds))
        first = first_rows(documents, bounds)
        kept = np.flatnonzero(first == np.arange(len(first)))
        row = np.searchsorted(kept, first)
        highest = np.full(len(kept), -LARGEST_GRADE, dtype=np.int32)
        np.maximum.at(highest, row, grades)
        documents = documents.take(kept)
        name = first_rows(subtopics, bounds)
        named = np.flatnonzero(name == np.arange(len(name)))
        names, owner = list(subtopics.take(named)), query[named].tolist()
        place = sorted(range(len(names)), key=lambda i: (owner[i], len(names[i]), names[i]))
        number = np.empty(len(names), dtype=np.int64)
        number[place] = np.arange(len(names))
        number = number[np.searchsorted(named, name)]
        entry = np.lexsort((number, row))
        relevant = np.flatnonzero(highest >= 1)
        ids = list(documents.take(relevant))
        order = sorted(range(len(ids)), key=ids.__getitem__, reverse=True)
        order.sort(key=query[kept[relevant]].tolist().__getitem__)
        return cls(
            queries,
            _bounds(np.bincount(query[kept], minlength=len(queries))),
            documents,
            highest,
            source,
            dropped,
            Subtopics(
                subtopics.take(named[place]),
                _bounds(np.bincount(query[named], minlength=len(queries))),
                _bounds(np.bincount(row, minlength=len(kept))),
                number[entry],
                grades[entry],
                relevant[order],
            ),
        )

    def __post_init__(self) -> None:
        freeze(self, "bounds", "grades", contiguous=True)

    @cached_property
    def labels(self) -> Labels:
        """The label of each judgement in a ranking; the last, so at -1, that of what is not judged."""
        return np.append(np.where(self.grades < 0, POOLED, self.grades), UNJUDGED).astype(np.int32)

    @cached_property
    def lookup(self) -> Lookup:
        """Where each document is, by query and hash: for scanning runs."""
        return Lookup(
            self.queries.data,
            self.queries.offsets,
            self.bounds,
            self.documents.data,
            self.documents.offsets,
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}: {counted(len(self.queries), 'query', 'queries')}, "
            + (f"{counted(len(self.subtopics.names), 'subtopic')}, " if self.subtopics else "")
            + f"{counted(len(self.grades), 'judgement')}"
        )


class Run(Record):
    """What a system retrieved: for each query, documents with scores.

    `precision` is how scores are compared: single when read from a TREC file, as trec_eval 9 does,
    double otherwise. `dropped` says what lenient reading left out.

    >>> Run.from_dict({"q1": {"d1": 2.5, "d2": 1.0}}, name="bm25")
    Run bm25: 1 query, 2 documents
    """

    name: str
    queries: Ids
    bounds: Ints
    documents: Ids
    scores: Floats
    precision: ScorePrecision = "double"
    tag: str = ""
    source: str = ""
    dropped: tuple[Note, ...] = ()

    @classmethod
    def from_dict(cls, run: Mapping[str, Mapping[str, float]], *, name: str = "run") -> Run:
        """A run from `{query: {document: score}}`."""
        queries, bounds, documents = _columns(run)
        scores = [
            _score(name, query, document, score)
            for query, row in run.items()
            for document, score in row.items()
        ]
        return cls(name, queries, bounds, documents, np.array(scores, dtype=np.float64), tag=name)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        query: str | None = None,
        document: str | None = None,
        score: str | None = None,
        name: str = "run",
    ) -> Run:
        """A run from a table with a row for each document: a data frame of polars or pandas, or
        anything with `__arrow_c_stream__`, such as an Arrow table.

        Columns are found by their usual names (query_id, doc_id, score and the like), or by those
        given. Ids may be text, bytes, categories or whole numbers, in any order of rows. Nothing
        is shared with the table: it may change afterwards.

        >>> import polars
        >>> frame = polars.DataFrame({"qid": [1, 1], "docno": ["d1", "d2"], "score": [2.5, 1.0]})
        >>> Run.from_frame(frame, name="bm25")
        Run bm25: 1 query, 2 documents
        """
        from rankgauge.data import columns, tables

        wanted = ((columns.QUERY, query), (columns.DOCUMENT, document), (columns.SCORE, score))
        return tables.run_of(tables.columns_of(frame, wanted, name), columns.Place(name), name)

    @classmethod
    def from_arrays(
        cls,
        queries: Sequence[object] | NDArray[Any],
        documents: Sequence[object] | NDArray[Any],
        scores: Sequence[float] | NDArray[Any],
        *,
        name: str = "run",
    ) -> Run:
        """A run from arrays or lists with a value for each document: ids as text, bytes or whole
        numbers. All of it is copied.

        >>> Run.from_arrays(np.array([1, 1]), np.array(["d1", "d2"]), np.array([2.5, 1.0]))
        Run run: 1 query, 2 documents
        """
        from rankgauge.data import columns, tables

        given = [columns.ArrayColumn(values) for values in (queries, documents, scores)]
        return tables.run_of(given, columns.Place(name), name)

    def __post_init__(self) -> None:
        freeze(self, "bounds", "scores", contiguous=True)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} {self.name}: "
            f"{counted(len(self.queries), 'query', 'queries')}, "
            f"{counted(len(self.scores), 'document')}"
        )


def first_rows(ids: Ids, bounds: Ints) -> Ints:
    """For each row, the first row of its segment that holds the same id: its own where it is new."""
    earlier = native.repeats(ids.data, ids.offsets, bounds)
    return np.where(earlier < 0, np.arange(len(ids)), earlier)


def _bounds(sizes: ArrayLike) -> Ints:
    return np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))


def _rows_of_query(
    source: str, query: str, subtopics: object
) -> Iterable[tuple[str, Mapping[str, int]]]:
    """Each subtopic of a query with its documents; InputError where these are no mappings."""
    if isinstance(subtopics, Mapping) and all(
        isinstance(row, Mapping) for row in subtopics.values()
    ):
        return subtopics.items()
    message = f"query {query!r}: expected {{subtopic: {{document: grade}}}}"
    raise InputError(source, None, message)


def _columns(nested: Mapping[str, Mapping[str, float]]) -> tuple[Ids, Ints, Ids]:
    bounds = np.zeros(len(nested) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in nested.values()], out=bounds[1:])
    documents = Ids.of(document for row in nested.values() for document in row)
    return Ids.of(nested), bounds, documents


def _grade(source: str, query: str, document: str, grade: object) -> int:
    if isinstance(grade, Integral) and -LARGEST_GRADE <= int(grade) <= LARGEST_GRADE:
        return int(grade)
    message = f"query {query!r}, document {document!r}: grade {grade!r}, expected a whole number"
    raise InputError(source, None, message)


def _score(source: str, query: str, document: str, score: object) -> float:
    if isinstance(score, Real) and not math.isnan(score):
        return float(score)
    message = f"query {query!r}, document {document!r}: score {score!r}, expected a number"
    raise InputError(source, None, message)


def freeze(owner: object, *names: str, contiguous: bool = False) -> None:
    """Put read-only views in place of the arrays that are these attributes of an immutable object."""
    for name in names:
        array = getattr(owner, name)
        view = read_only(np.ascontiguousarray(array) if contiguous else array)
        object.__setattr__(owner, name, view)


def read_only(array: NDArray[T]) -> NDArray[T]:
    """A read-only view, which leaves the array as writeable as its maker wants it."""
    view = array.view()
    view.setflags(write=False)
    return view
