"""Judgments and runs: immutable, columnar, grouped by query.

Rows of one query stand together: query q owns the rows bounds[q]:bounds[q + 1]. Ids are bytes in one
flat buffer, never a Python object each.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from numbers import Real
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, Labels, T, offsets_of, segment_rows
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import DEFAULT_NEGATIVE, Negative
from rankgauge.core.records import Record
from rankgauge.core.renamed import RenamedMembers
from rankgauge.errors import InputError, RankgaugeError, warn_old_form
from rankgauge.native import ids as native
from rankgauge.native.scan import Lookup

LARGEST_GRADE = 2**31 - 1

RunDict: TypeAlias = Mapping[Any, Mapping[Any, float] | Sequence[Any]]
"""The documents of each query, with scores or in rank order."""
JudgedDict: TypeAlias = Mapping[Any, Mapping[Any, float] | Sequence[Any] | Set[Any]]
"""The judged documents of each query with their grades, or only the relevant documents."""

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


def whole_grade(value: object) -> int | None:
    """A number of any type as a grade; None for what is no number, not whole or beyond 32 bits."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return None
    try:
        whole: int = math.floor(value)  # type: ignore[assignment]
    except (OverflowError, ValueError):  # infinity and NaN
        return None
    return whole if whole == value and abs(whole) <= LARGEST_GRADE else None


class Ids(RenamedMembers):
    """An immutable column of ids: bytes in one buffer, id i from offsets[i] to offsets[i + 1].

    >>> Ids.of(["q1", "q2"]).texts()
    ['q1', 'q2']
    """

    _renamed: ClassVar[dict[str, str]] = {"numbered": "factorize"}

    __slots__ = ("data", "offsets")

    def __init__(self, data: NDArray[np.uint8], offsets: Ints) -> None:
        self.data, self.offsets = data, offsets
        freeze(self, "data", "offsets", contiguous=True)

    @classmethod
    def of(cls, texts: Iterable[str]) -> Ids:
        """The column of these texts; RankgaugeError for one text in place of several."""
        if isinstance(texts, str | bytes):
            raise RankgaugeError(f"{texts!r} in place of several ids, expected [{texts!r}]")
        return cls.of_bytes([encode(text) for text in texts])

    @classmethod
    def of_bytes(cls, raw: Sequence[bytes]) -> Ids:
        """The column of these ids."""
        offsets = np.zeros(len(raw) + 1, dtype=np.int64)
        np.cumsum([len(item) for item in raw], out=offsets[1:])
        return cls(np.frombuffer(b"".join(raw), dtype=np.uint8), offsets)

    @classmethod
    def joined(cls, columns: Sequence[Ids]) -> Ids:
        """One column of several, one after the other."""
        if len(columns) < 2:
            return columns[0] if columns else cls.of([])
        sizes = [np.diff(column.offsets) for column in columns]
        data = np.concatenate([column.data for column in columns])
        return cls(data, offsets_of(np.concatenate(sizes)))

    @classmethod
    def from_text(
        cls, text: NDArray[np.uint8], starts: NDArray[np.integer], lengths: NDArray[np.integer]
    ) -> Ids:
        """The column of ids that stand at these places in a text, copied out."""
        return cls(
            *native.gather(text, np.ascontiguousarray(starts), np.ascontiguousarray(lengths))
        )

    @classmethod
    def in_text(
        cls, text: NDArray[np.uint8], starts: NDArray[np.integer], lengths: NDArray[np.integer]
    ) -> Ids:
        """`from_text` by its name of the last release."""
        warn_old_form("Ids.in_text", "Ids.from_text")
        return cls.from_text(text, starts, lengths)

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

    def factorize(self) -> tuple[Ints, Ints]:
        """For each row the number of its id, by first appearance; and the row where each id is first."""
        return native.number(self.data, self.offsets)

    def repeats(self, bounds: Ints | None = None) -> Ints:
        """For each row the first row above it that holds the same id, -1 where there is none.

        With bounds, only rows of the same segment count.
        """
        if bounds is None:
            bounds = np.array([0, len(self)], dtype=np.int64)
        return native.repeats(self.data, self.offsets, bounds)

    def rows_in(self, table: Ids, bounds: Ints, table_bounds: Ints, segments: Ints) -> Ints:
        """For each row the row of the table that holds the same id, or -1.

        Segment s of these ids is looked up in segment segments[s] of the table.
        """
        return native.match(
            self.data, self.offsets, bounds, table.data, table.offsets, table_bounds, segments
        )


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
            offsets_of(sizes[queries]),
            offsets_of(np.bincount(row[kept], minlength=len(self.offsets) - 1)),
            number[self.numbers[kept]],
            self.grades[kept],
            order,
        )


class Judgments(Record):
    """The judgments of assessors: for each query, documents with grades (a qrels file).

    Use `from_dict`, `from_frame`, `from_arrays` or `read_qrels` to make judgments. They are immutable,
    and the arrays are read-only. A negative grade means pooled but not judged; `judged` has this rule,
    and `with_negative` changes it.

    Attributes
    ----------
    queries : Ids
        The ids of the queries.
    bounds : array of int
        Query q has the rows bounds[q]:bounds[q + 1].
    documents : Ids
        The id of the document in each row.
    grades : array of int
        The grade in each row. If documents were judged for subtopics, it is the highest of their grades.
    source : str, default "judgments"
        How messages name the judgments, such as the name of a file.
    dropped : tuple of Note, default ()
        Notes on lines that lenient reading left out.
    subtopics : Subtopics, optional
        The grades for each subtopic, if documents were judged for subtopics.
    max_grade : int, optional
        The highest grade of the collection, for judgments that may lack it, such as a part of larger
        judgments. By default it is the highest grade of these judgments.
    negative : {"unjudged", "nonrelevant"}, default "unjudged"
        What `with_negative` did with negative grades: "unjudged" if it left them as they are,
        "nonrelevant" if it made them 0.

    Examples
    --------
    >>> Judgments.from_dict({"q1": {"d1": 1, "d2": 0}})
    Judgments: 1 query, 2 judgments
    """

    queries: Ids
    bounds: Ints
    documents: Ids
    grades: Labels
    source: str = "judgments"
    dropped: tuple[Note, ...] = ()
    subtopics: Subtopics | None = None
    max_grade: int | None = None
    negative: Negative = DEFAULT_NEGATIVE

    @classmethod
    def from_dict(cls, judgments: JudgedDict, *, source: str = "judgments") -> Judgments:
        """Judgments from `{query: {document: grade}}`.

        A list or a set in place of `{document: grade}` has the relevant documents, and their grade is
        1. Ids are text or whole numbers.

        >>> Judgments.from_dict({"q1": {"d1": 2, "d2": 0}, "q2": {"d1", "d3"}})
        Judgments: 2 queries, 4 judgments
        """
        from rankgauge.data.dicts import Columns

        columns = Columns.of(judgments, graded=True, source=source)
        grades = columns.values.astype(np.int32)
        return cls(columns.queries, columns.bounds, columns.documents, grades, source)

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
        """Judgments from a table with a row for each judgment.

        Columns are found by their usual names, such as query_id, doc_id and relevance. The table is
        copied and may change afterwards.

        Parameters
        ----------
        frame
            A data frame of polars or pandas, or anything with `__arrow_c_stream__`, such as an Arrow
            table.
        query, document, grade
            The names of the columns, where they are not the usual ones. Grades are whole numbers.
        subtopic
            The column of subtopics, if documents were judged for subtopics.
        source
            How messages call the table.

        >>> import polars
        >>> frame = polars.DataFrame({"qid": [1, 1], "docno": ["d1", "d2"], "label": [1, 0]})
        >>> Judgments.from_frame(frame)
        Judgments: 1 query, 2 judgments
        """
        from rankgauge.data import columns, frames, roles

        names = roles.ColumnNames(query, document, grade=grade, subtopic=subtopic)
        wanted = roles.judgment_columns(names)
        return frames.judgments_from_columns(
            frames.columns_of(frame, wanted, source), columns.RowLocator(source)
        )

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
        """Judgments from arrays or lists that have one value for each judgment. All is copied.

        Parameters
        ----------
        queries, documents
            Ids as text, bytes or whole numbers.
        grades
            Whole numbers.
        subtopics
            Ids of subtopics, if documents were judged for subtopics.
        source
            How messages call the judgments.

        >>> Judgments.from_arrays(np.array([1, 1]), np.array([b"d1", b"d2"]), np.array([1, 0]))
        Judgments: 1 query, 2 judgments
        """
        from rankgauge.data import columns, frames, roles

        given = {roles.QUERY: queries, roles.DOCUMENT: documents, roles.GRADE: grades}
        if subtopics is not None:
            given[roles.SUBTOPIC] = subtopics
        by_role = {role: columns.ArrayColumn(values) for role, values in given.items()}
        return frames.judgments_from_columns(by_role, columns.RowLocator(source))

    @classmethod
    def from_subtopics(
        cls,
        judgments: Mapping[Any, JudgedDict],
        *,
        source: str = "judgments",
    ) -> Judgments:
        """Judgments from `{query: {subtopic: {document: grade}}}`.

        >>> Judgments.from_subtopics({"q1": {"1": {"d1": 1, "d2": 0}, "2": {"d2": 3}}})
        Judgments: 1 query, 2 subtopics, 2 judgments
        """
        from rankgauge.data.dicts import Columns

        columns, subtopics = Columns.of_subtopics(judgments, source=source)
        return cls.from_rows(
            columns.queries,
            columns.bounds,
            columns.documents,
            subtopics,
            columns.values.astype(np.int32),
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
        """Judgments from rows that have a document, a subtopic and a grade.

        Parameters
        ----------
        queries
            The queries.
        bounds
            Query q has the rows bounds[q]:bounds[q + 1].
        documents, subtopics, grades
            One for each row. A query has each pair of document and subtopic once.
        source
            How messages call the judgments.
        dropped
            Notes on lines that were left out.
        """
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
            offsets_of(np.bincount(query[kept], minlength=len(queries))),
            documents,
            highest,
            source,
            dropped,
            Subtopics(
                subtopics.take(named[place]),
                offsets_of(np.bincount(query[named], minlength=len(queries))),
                offsets_of(np.bincount(row, minlength=len(kept))),
                number[entry],
                grades[entry],
                relevant[order],
            ),
        )

    def __post_init__(self) -> None:
        freeze(self, "bounds", "grades", contiguous=True)

    def part(self, rows: Ints, source: str) -> Judgments:
        """The judgments in these rows, ascending, with all queries.

        The highest grade of the collection stays what it was. Subtopics without a row in the part are
        left out.
        """
        count = len(self.queries)
        query = np.repeat(np.arange(count), np.diff(self.bounds))
        highest = max(int(self.grades.max(initial=1)), self.max_grade or 1)
        aspects = self.subtopics
        if aspects is None:
            bounds = offsets_of(np.bincount(query[rows], minlength=count))
            documents, grades = self.documents.take(rows), self.grades[rows]
            part = Judgments(self.queries, bounds, documents, grades, source, self.dropped)
            return replace(part, max_grade=highest, negative=self.negative)
        kept = np.zeros(len(query), dtype=np.bool_)
        kept[rows] = True
        owner = np.repeat(np.arange(len(query)), np.diff(aspects.offsets))
        entries = np.flatnonzero(kept[owner])
        part = Judgments.from_rows(
            self.queries,
            offsets_of(np.bincount(query[owner[entries]], minlength=count)),
            self.documents.take(owner[entries]),
            aspects.names.take(aspects.numbers[entries]),
            aspects.grades[entries],
            source,
            self.dropped,
        )
        return replace(part, max_grade=highest, negative=self.negative)

    def with_negative(self, negative: Negative) -> Judgments:
        """The same judgments, with documents of a negative grade treated as `negative` says.

        "nonrelevant" makes their grade 0, and "unjudged" leaves the judgments as they are.

        >>> read = Judgments.from_dict({"q1": {"d1": -2, "d2": 1}})
        >>> read.with_negative("nonrelevant").grades.tolist()
        [0, 1]
        """
        if negative in ("unjudged", self.negative):
            return self
        aspects = self.subtopics
        if aspects is not None:
            aspects = replace(aspects, grades=np.maximum(aspects.grades, 0))
        grades = np.maximum(self.grades, 0)
        return replace(self, grades=grades, subtopics=aspects, negative=negative)

    @property
    def judged(self) -> Bools:
        """For each document, whether it was judged.

        A document with a negative grade, whichever, was pooled but not judged, as in trec_eval.
        """
        return self.grades >= 0

    @cached_property
    def labels(self) -> Labels:
        """The label of each judgment in a ranking; the last, so at -1, that of what is not judged."""
        return np.append(np.where(self.judged, self.grades, POOLED), UNJUDGED).astype(np.int32)

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
            f"{type(self).__name__}: {count_phrase(len(self.queries), 'query')}, "
            + (f"{count_phrase(len(self.subtopics.names), 'subtopic')}, " if self.subtopics else "")
            + f"{count_phrase(len(self.grades), 'judgment')}"
        )


class Run(Record):
    """The documents that a system retrieved: for each query, documents with scores.

    Use `from_dict`, `from_frame`, `from_arrays` or `read_run` to make a run. Runs are immutable, and
    the arrays are read-only. The documents of a query may be in any order, since an evaluation ranks
    them by score.

    Attributes
    ----------
    name : str
        The name of the run.
    queries : Ids
        The ids of the queries.
    bounds : array of int
        Query q has the rows bounds[q]:bounds[q + 1].
    documents : Ids
        The id of the document in each row.
    scores : array of float
        The score of the document in each row; higher is better.
    tag : str, default ""
        The name that the run has inside its TREC file.
    source : str, default ""
        The file or table that the run was read from.
    dropped : tuple of Note, default ()
        Notes on lines that lenient reading left out.

    Examples
    --------
    >>> Run.from_dict({"q1": {"d1": 2.5, "d2": 1.0}}, name="bm25")
    Run bm25: 1 query, 2 documents
    """

    name: str
    queries: Ids
    bounds: Ints
    documents: Ids
    scores: Floats
    tag: str = ""
    source: str = ""
    dropped: tuple[Note, ...] = ()

    @classmethod
    def from_dict(cls, run: RunDict, *, name: str = "run") -> Run:
        """A run from `{query: {document: score}}`.

        In place of `{document: score}` there may be a list of documents in rank order, the best first.
        Ids are text or whole numbers.

        >>> Run.from_dict({"q1": {"d1": 2.5, "d2": 1.0}, "q2": ["d3", "d1"]})
        Run run: 2 queries, 4 documents
        """
        from rankgauge.data.dicts import Columns

        columns = Columns.of(run, graded=False, source=name)
        return cls(
            name, columns.queries, columns.bounds, columns.documents, columns.values, tag=name
        )

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
        """A run from a table with a row for each retrieved document.

        Columns are found by their usual names, such as query_id, doc_id and score. Rows may be in any
        order. The table is copied and may change afterwards.

        Parameters
        ----------
        frame
            A data frame of polars or pandas, or anything with `__arrow_c_stream__`, such as an Arrow
            table.
        query, document, score
            The names of the columns, where they are not the usual ones. Ids may be text, bytes,
            categories or whole numbers.
        name
            The name of the run.

        >>> import polars
        >>> frame = polars.DataFrame({"qid": [1, 1], "docno": ["d1", "d2"], "score": [2.5, 1.0]})
        >>> Run.from_frame(frame, name="bm25")
        Run bm25: 1 query, 2 documents
        """
        from rankgauge.data import columns, frames, roles

        wanted = roles.run_columns(roles.ColumnNames(query, document, score))
        return frames.run_from_columns(
            frames.columns_of(frame, wanted, name), columns.RowLocator(name), name
        )

    @classmethod
    def from_arrays(
        cls,
        queries: Sequence[object] | NDArray[Any],
        documents: Sequence[object] | NDArray[Any],
        scores: Sequence[float] | NDArray[Any],
        *,
        name: str = "run",
    ) -> Run:
        """A run from arrays or lists that have one value for each document.

        Ids are text, bytes or whole numbers. All is copied.

        >>> Run.from_arrays(np.array([1, 1]), np.array(["d1", "d2"]), np.array([2.5, 1.0]))
        Run run: 1 query, 2 documents
        """
        from rankgauge.data import columns, frames, roles

        given = {roles.QUERY: queries, roles.DOCUMENT: documents, roles.SCORE: scores}
        by_role = {role: columns.ArrayColumn(values) for role, values in given.items()}
        return frames.run_from_columns(by_role, columns.RowLocator(name), name)

    def __post_init__(self) -> None:
        freeze(self, "bounds", "scores", contiguous=True)

    def part(self, queries: Ints) -> Run:
        """These queries of it, given by number, in their order."""
        rows, bounds = segment_rows(self.bounds, queries)
        return replace(
            self,
            queries=self.queries.take(queries),
            bounds=bounds,
            documents=self.documents.take(rows),
            scores=self.scores[rows],
        )

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__} {self.name}: "
            f"{count_phrase(len(self.queries), 'query')}, "
            f"{count_phrase(len(self.scores), 'document')}"
        )


def first_rows(ids: Ids, bounds: Ints) -> Ints:
    """For each row, the first row of its segment that holds the same id: its own where it is new."""
    earlier = ids.repeats(bounds)
    return np.where(earlier < 0, np.arange(len(ids)), earlier)


def repeated_pairs(documents: Ids, subtopics: Ids, bounds: Ints) -> Ints:
    """For each row the first earlier one of its query with the same document and subtopic, or -1."""
    pair = first_rows(documents, bounds) * len(documents) + first_rows(subtopics, bounds)
    _, first, number = np.unique(pair, return_index=True, return_inverse=True)
    earlier = first[number]
    return np.where(earlier < np.arange(len(documents)), earlier, -1)


def freeze(owner: object, *names: str, contiguous: bool = False) -> None:
    """Put read-only views in place of the arrays that are these attributes of an immutable object."""
    for name in names:
        array = getattr(owner, name)
        view = read_only_view(np.ascontiguousarray(array) if contiguous else array)
        object.__setattr__(owner, name, view)


def read_only_view(array: NDArray[T]) -> NDArray[T]:
    """A read-only view, which leaves the array as writeable as its maker wants it."""
    view = array.view()
    view.setflags(write=False)
    return view
