"""Rankings, which measures score: labels in rank order, and all judged labels of each query.

Label >= 0: the document's grade. Label -1: it is not in the qrels. Label -2: it is in the qrels with a
negative grade, that is pooled but unjudged. Everything is one flat array with offsets, never padded,
so a measure is a few array operations over all lists at once. All measures share these arrays and what
is kept beside them, so nobody can write into them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import field
from functools import cached_property
from typing import Any, TypeVar, TypeVarTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankgauge.core.arrays import Floats, Ints, Labels, T, offsets_of as offsets_of, segment_rows
from rankgauge.core.records import Record
from rankgauge.data.model import Subtopics, read_only_view
from rankgauge.native import segments as native

A = TypeVar("A")
Arguments = TypeVarTuple("Arguments")


def make_read_only(value: A) -> A:
    """The same value; an array, and each array in a tuple, becomes a read-only view."""
    shared: Any = value
    if isinstance(value, np.ndarray):
        shared = read_only_view(value) if value.flags.writeable else value
    elif isinstance(value, tuple):
        parts = map(make_read_only, value)
        shared = value._make(parts) if hasattr(value, "_make") else tuple(parts)
    result: A = shared
    return result


class SharedArrays(Record):
    """A record whose arrays are read-only views, also in another process."""

    def __post_init__(self) -> None:
        state = vars(self)
        for name, value in state.items():
            if isinstance(value, np.ndarray) and value.flags.writeable:
                state[name] = read_only_view(value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.__post_init__()


class Memo:
    """Keeps results by key, and never None. A copy in another process has them too.

    Arrays in it are read-only, because every caller gets the same ones.
    """

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}
        self.lock = threading.RLock()

    def get(self, key: Hashable) -> Any:
        """The result that is kept, or None."""
        return self._known.get(key)

    def keep(self, key: Hashable, result: A) -> A:
        """Keep a result, and return it with read-only arrays."""
        kept = self._known[key] = make_read_only(result)
        return kept

    def __getstate__(self) -> dict[str, Any]:
        return {"_known": dict(self._known)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._known = {key: make_read_only(known) for key, known in state["_known"].items()}
        self.lock = threading.RLock()


class JudgedLabels(SharedArrays):
    """The labels of the judged documents of each query, highest first.

    Parameters
    ----------
    labels : array of int
        The labels of all queries in one array. Query q has `labels[offsets[q]:offsets[q + 1]]`.
    offsets : array of int
        Where each query begins and ends in `labels`.
    pooled : array of int
        For each query, how many documents were pooled but not judged.
    max_grade : int
        The highest grade of the collection. ERR, scaled gains and bounds use it.
    rows : array of int, optional
        The row of the judgments that each label comes from. Kept only if documents were judged for
        subtopics.
    aspects : Subtopics, optional
        The subtopics, if documents were judged for subtopics.

    Examples
    --------
    >>> JudgedLabels.of([0, 2, 1, 0]).labels.tolist()
    [2, 1, 0, 0]
    """

    labels: Labels
    offsets: Ints
    pooled: Ints
    max_grade: int
    rows: Ints | None = None
    aspects: Subtopics | None = None
    _taken: tuple[JudgedLabels, Ints] | None = field(default=None, init=False, repr=False)
    """The judged labels that these were taken from, and which of their queries."""
    memo: Memo = field(default_factory=Memo, init=False, repr=False)

    @classmethod
    def of(cls, *queries: ArrayLike, pooled: int = 0, max_grade: int | None = None) -> JudgedLabels:
        """The judged labels of one or more queries, each a sequence in any order."""
        arrays = [np.sort(np.asarray(labels, dtype=np.int32))[::-1] for labels in queries]
        flat = np.concatenate([np.zeros(0, dtype=np.int32), *arrays])
        if max_grade is None:
            max_grade = max(1, int(flat.max(initial=1)))
        return cls(
            flat, offsets_of([len(a) for a in arrays]), np.full(len(arrays), pooled), max_grade
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def sizes(self) -> Ints:
        """n, the number of judged documents of each query."""
        return read_only_view(np.diff(self.offsets))

    def take(self, queries: Ints) -> JudgedLabels:
        """The judged labels of these queries, in the order given."""
        if len(queries) == len(self) and (queries == np.arange(len(self))).all():
            return self
        place, offsets = segment_rows(self.offsets, queries)
        part = JudgedLabels(
            self.labels[place],
            offsets,
            self.pooled[queries],
            self.max_grade,
            None if self.rows is None else self.rows[place],
            None if self.aspects is None else self.aspects.take(queries),
        )
        object.__setattr__(part, "_taken", (self, queries))
        return part

    def once(
        self, question: Callable[[JudgedLabels, *Arguments], NDArray[T]], *arguments: *Arguments
    ) -> NDArray[T]:
        """The answer to a question about these judged labels, one value for each query.

        It is computed once.

        If these queries were taken from others, all of the others are asked. So parts of a run, and one
        run after the other, share the answers. Threads that ask at the same time wait for the first.
        """
        if self._taken is not None:
            whole, queries = self._taken
            return whole.once(question, *arguments)[queries]
        key = (question, *arguments)
        known: NDArray[T] | None = self.memo.get(key)
        if known is None:
            with self.memo.lock:
                known = self.memo.get(key)
                if known is None:
                    known = self.memo.keep(key, question(self, *arguments))
        return known

    def relevant(self, rel: int) -> Ints:
        """R, the number of documents of each query whose label is at least `rel`."""
        return self.once(_count_relevant, rel)

    @cached_property
    def best_first(self) -> Rankings:
        """One ranking for each query: all judged documents, the highest label first."""
        return Rankings(self.labels, self.offsets, np.arange(len(self)), self, self.rows)


class Rankings(SharedArrays):
    """Ranked lists of labels, the best document of each list first.

    A label of 0 or more is the document's grade. −1 stands for a document that is not in the
    judgments, and −2 for one that was pooled but not judged.

    Parameters
    ----------
    labels : array of int
        The labels of all lists in one array. List i has `labels[offsets[i]:offsets[i + 1]]`.
    offsets : array of int
        Where each list begins and ends in `labels`.
    query : array of int
        The query of each list, as a position in `judged`.
    judged : JudgedLabels
        The judged labels of the queries.
    rows : array of int, optional
        The row of the judgments of each document, −1 if it is not judged. Kept only if the
        judgments have subtopics.

    Examples
    --------
    >>> lists = Rankings.of([1, 0, 2], [0])
    >>> lists.ranks.tolist(), lists.count(lists.labels >= 1).tolist()
    ([1, 2, 3, 1], [2, 0])
    """

    labels: Labels
    offsets: Ints
    query: Ints
    judged: JudgedLabels
    rows: Ints | None = None
    memo: Memo = field(default_factory=Memo, init=False, repr=False)

    @classmethod
    def of(cls, *lists: ArrayLike, judged: JudgedLabels | None = None) -> Rankings:
        """These lists, all of one query where `judged` is given, else each of its own query.

        Without `judged`, the judged labels of a list are its own labels of 0 or more.
        """
        arrays = [np.asarray(labels, dtype=np.int32) for labels in lists]
        flat = np.concatenate([np.zeros(0, dtype=np.int32), *arrays])
        query = np.zeros(len(arrays), dtype=np.int64)
        if judged is None:
            judged = JudgedLabels.of(*(labels[labels >= 0] for labels in arrays))
            query = np.arange(len(arrays))
        return cls(flat, offsets_of([len(a) for a in arrays]), query, judged)

    def __len__(self) -> int:
        return len(self.query)

    @cached_property
    def lengths(self) -> Ints:
        """The number of documents in each list."""
        return read_only_view(np.diff(self.offsets))

    @cached_property
    def ranks(self) -> Ints:
        """The rank of each row, from 1."""
        first = np.repeat(self.offsets[:-1], self.lengths)
        return read_only_view(np.arange(1, len(self.labels) + 1) - first)

    def top(self, cutoff: int | None) -> Rankings:
        """The same lists cut to their first `cutoff` documents; None cuts nothing."""
        if cutoff is None or len(self) == 0 or self.lengths.max() <= cutoff:
            return self
        return self.once(_cut_lists, cutoff)

    def once(self, question: Callable[[Rankings, *Arguments], A], *arguments: *Arguments) -> A:
        """The answer to a question about these lists.

        Several measures ask it, and it is computed once, unless threads ask at the same time.
        """
        key = (question, *arguments)
        known: A | None = self.memo.get(key)
        return self.memo.keep(key, question(self, *arguments)) if known is None else known

    def condensed(self) -> Rankings:
        """The same lists without the documents that are not judged."""
        judged = self.labels >= 0
        return self._keep(np.flatnonzero(judged), self.count(judged))

    def _keep(self, rows: NDArray[np.intp], lengths: Ints) -> Rankings:
        return Rankings(
            self.labels[rows],
            offsets_of(lengths),
            self.query,
            self.judged,
            None if self.rows is None else self.rows[rows],
        )

    def relevant(self, rel: int) -> NDArray[np.bool_]:
        """Whether each row's label is at least `rel`."""
        return self.labels >= rel

    def count(self, rows: NDArray[np.bool_]) -> Ints:
        """How many of these rows each list has."""
        return segment_count(rows, self.offsets)

    def running_count(self, rows: NDArray[np.bool_]) -> Ints:
        """For each row, how many of these rows its list has down to and including it."""
        total: Ints = np.cumsum(rows, dtype=np.int64)
        before = np.concatenate(([0], total))[self.offsets[:-1]]
        count: Ints = total - np.repeat(before, self.lengths)
        return count

    def sum(self, values: Floats) -> Floats:
        """For each list, the sum of its rows' values, in rank order."""
        return native.segment_sum(values, self.offsets)

    def each_row(self, per_list: NDArray[T]) -> NDArray[T]:
        """The value of each list, repeated for each of its rows."""
        return np.repeat(per_list, self.lengths)


def _count_relevant(judged: JudgedLabels, rel: int) -> Ints:
    return segment_count(judged.labels >= rel, judged.offsets)


def _cut_lists(lists: Rankings, cutoff: int) -> Rankings:
    rows = np.flatnonzero(lists.ranks <= cutoff)
    return lists._keep(rows, np.minimum(lists.lengths, cutoff))


def segment_count(rows: NDArray[np.bool_], offsets: Ints) -> Ints:
    """The number of true rows in each segment."""
    return np.diff(offsets_of(rows)[offsets])
