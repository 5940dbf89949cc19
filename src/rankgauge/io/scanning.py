"""Well-formed TREC files read fast: in pieces of whole queries, several at once.

Ids are left where they are. What is not plain (queries not together, a fault, a duplicate, odd
characters) is not decided here: then `scan_pieces` gives None, and `io/trec.py` reads the file with
care. Files are read, not mapped into memory: a file that is cut short meanwhile is then a short read,
not a crash.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints, Labels, offsets_of, segment_rows
from rankgauge.core.records import Record
from rankgauge.data.model import Ids
from rankgauge.io.files import UTF8_MARK, Content
from rankgauge.native import scan as native

R = TypeVar("R")
S = TypeVar("S")
Bytes = NDArray[np.uint8]

PIECE = 1 << 23
"""Number of bytes scanned at a time: enough to outweigh the cost of a call, few enough for the cache."""

SAMPLE = 1 << 16
"""Number of bytes of a large file searched first to see whether the lines of a query are contiguous."""

WINDOW = 1 << 17
"""Number of bytes searched first for the end of a query."""


class Spans:
    """A column of ids that are left in a text, and copied only when asked for."""

    def __init__(self, text: Bytes, starts: Labels | Ints, lengths: Labels | Ints) -> None:
        self.text, self.starts, self.lengths = text, starts, lengths

    @classmethod
    def of(cls, ids: Ids) -> Spans:
        """The ids of a column, left where they are."""
        return cls(ids.data, ids.offsets[:-1], np.diff(ids.offsets))

    def part(self, rows: NDArray[np.integer]) -> Spans:
        """The ids of these rows, in their order."""
        return Spans(self.text, self.starts[rows], self.lengths[rows])

    def ids(self) -> Ids:
        """The ids, copied out."""
        return Ids.from_text(self.text, self.starts, self.lengths)

    def between(self, start: int, end: int) -> Spans:
        """The ids of these neighboring rows. No place is copied."""
        return Spans(self.text, self.starts[start:end], self.lengths[start:end])

    def take(self, rows: NDArray[np.integer]) -> Ids:
        """The ids of these rows, copied out."""
        return self.part(rows).ids()


class Piece(Record):
    """Some queries of a run or qrels file, or a whole run: query t has the rows bounds[t]:bounds[t + 1].

    Each query has its number among the judged queries, or -1, and says whether its scores fall from row
    to row, in single precision too. Each row has its score or grade, and its row in the judgments, or
    -1. `tag` is the tag of the run's last line. `starts` and
    `ends` say whether the file or run starts and ends with this piece.
    """

    queries: Spans
    numbers: Ints
    descending: NDArray[np.bool_]
    bounds: Ints
    documents: Spans
    scores: Floats
    rows: Labels | Ints
    tag: bytes = b""
    starts: bool = True
    ends: bool = True

    def between(self, start: int, end: int) -> Piece:
        """The queries from `start` up to `end`. Nothing is copied."""
        rows = slice(self.bounds[start], self.bounds[end])
        return replace(
            self,
            queries=self.queries.between(start, end),
            numbers=self.numbers[start:end],
            descending=self.descending[start:end],
            bounds=self.bounds[start : end + 1] - self.bounds[start],
            documents=self.documents.between(rows.start, rows.stop),
            scores=self.scores[rows],
            rows=self.rows[rows],
        )

    @classmethod
    def of_empty_queries(cls, queries: Ids, numbers: Ints) -> Piece:
        """Queries for which nothing was retrieved."""
        nothing = np.zeros(0, dtype=np.int64)
        return cls(
            Spans.of(queries),
            numbers,
            np.ones(len(numbers), dtype=np.bool_),
            np.zeros(len(numbers) + 1, dtype=np.int64),
            Spans.of(Ids.of([])),
            nothing.astype(np.float64),
            nothing,
        )

    def copy(self) -> Piece:
        """The same, copied out of the text and of larger pieces."""
        return replace(
            self,
            queries=Spans.of(self.queries.ids()),
            numbers=self.numbers.copy(),
            descending=self.descending.copy(),
            documents=Spans.of(self.documents.ids()),
            scores=self.scores.copy(),
            rows=self.rows.copy(),
        )

    @classmethod
    def joined(cls, topics: Sequence[Sequence[Piece]]) -> Piece:
        """A piece of these queries. Each is given in pieces of its own, which have no other query."""
        pieces = list(itertools.chain.from_iterable(topics))
        firsts = [own[0] for own in topics]
        sizes = [sum(len(piece.scores) for piece in own) for own in topics]
        whole = [len(own) == 1 and bool(own[0].descending[0]) for own in topics]
        return cls(
            Spans.of(Ids.joined([piece.queries.ids() for piece in firsts])),
            np.concatenate([piece.numbers for piece in firsts]),
            np.array(whole),
            offsets_of(sizes),
            Spans.of(Ids.joined([piece.documents.ids() for piece in pieces])),
            np.concatenate([piece.scores for piece in pieces]),
            np.concatenate([piece.rows for piece in pieces]),
        )

    def part(self, topics: Ints) -> Piece:
        """These queries of it, in their order."""
        rows, bounds = segment_rows(self.bounds, topics)
        return replace(
            self,
            queries=self.queries.part(topics),
            numbers=self.numbers[topics],
            descending=self.descending[topics],
            bounds=bounds,
            documents=self.documents.part(rows),
            scores=self.scores[rows],
            rows=self.rows[rows],
        )


def scan_pieces(
    content: Content,
    columns: int,
    each: Callable[[Piece], R],
    *,
    judged: native.Lookup | None = None,
    threads: int = 1,
) -> list[R] | None:
    """The results of `each` for the pieces of a file, in their order; None where the file is not plain.

    Lines have so many columns. A piece is in memory only during the call of `each`. Its documents are
    looked up in `judged`. InputError where the file changes meanwhile.
    """

    def work(place: tuple[int, int]) -> tuple[Ints, R] | None:
        text = _read(content, *place)
        scan = None if text is None else _scan_text(text, columns, judged)
        if scan is None:
            return None
        hashes, piece = scan
        if _has_repeats(hashes):  # a query in two places
            return None
        piece = replace(piece, starts=place is places[0], ends=place is places[-1])
        return hashes, each(piece)

    if _is_mixed(content, columns):
        return None
    done, places = [], _piece_bounds(content)
    for result in map_threads(work, places, threads):
        if result is None:
            return None
        done.append(result)
    content.check_unchanged()
    hashes = np.concatenate([np.zeros(0, dtype=np.int64), *(own for own, _ in done)])
    if not hashes.size or _has_repeats(hashes):
        return None
    return [result for _, result in done]


def _is_mixed(content: Content, columns: int) -> bool:
    """Test whether the first lines of a large file show that it is not plain, as when queries are mixed.

    Then no more of the file is scanned, which takes long where each line has another query than the line
    before.
    """
    if content.size < 4 * SAMPLE:
        return False
    lines = content.head(SAMPLE).removeprefix(UTF8_MARK).rpartition(b"\n")[0]
    if not lines:
        return False
    scan = _scan_text(np.frombuffer(lines, np.uint8), columns, None)
    return scan is None or _has_repeats(scan[0])


def _has_repeats(hashes: Ints) -> bool:
    """Whether a hash is there twice; `np.unique` would import `numpy.ma`, which takes long."""
    ordered = np.sort(hashes)
    return bool((ordered[1:] == ordered[:-1]).any())


def map_threads(work: Callable[[S], R], items: list[S], threads: int) -> Iterator[R]:
    """The results of some work on each item, in order; several threads work at once."""
    threads = min(threads, len(items))
    return map(work, items) if threads < 2 else _map_in_pool(work, items, threads)


def _map_in_pool(work: Callable[[S], R], items: list[S], threads: int) -> Iterator[R]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(threads) as pool:
        try:
            results = pool.map(work, items)
        except RuntimeError:  # no thread could be started
            results = map(work, items)
        yield from results


def _scan_text(
    text: Bytes, columns: int, judged: native.Lookup | None
) -> tuple[Ints, Piece] | None:
    """The hashes of the queries' ids, and the queries."""
    parts = native.scan(text, columns, judged)
    if parts is None:
        return None
    topics, starts, lengths, values, rows, tag = parts
    first, number, at, length, hashes, descending = np.ascontiguousarray(topics.T)
    return hashes, Piece(
        Spans(text, at.astype(np.int32), length.astype(np.int32)),
        number,
        descending.astype(np.bool_),
        np.append(first, len(values)),
        Spans(text, starts, lengths),
        values,
        rows,
        tag=tag,
    )


_buffers = threading.local()
"""The buffer into which each thread reads pieces. It is kept for the next file, since
allocating memory is slow."""


def _read(content: Content, start: int, end: int) -> Bytes | None:
    """These bytes, in a buffer of this thread's own; None if they are no longer there."""
    if content.stream is None:
        return np.frombuffer(content.raw, np.uint8)[start:end]
    size, usual = end - start, 3 * PIECE // 2 + WINDOW
    buffer: Bytes | None = getattr(_buffers, "buffer", None)
    if size > usual:
        buffer = np.empty(size, dtype=np.uint8)
    elif buffer is None or len(buffer) < size:
        buffer = _buffers.buffer = np.empty(usual, dtype=np.uint8)
    buffer = buffer[:size]
    return buffer if content.read_into(buffer, start) else None


def _piece_bounds(content: Content) -> list[tuple[int, int]]:
    """Where the pieces start and end: no query's lines are in two of them, if they are together.

    The last piece may be larger by half, since a small piece costs more than it is worth.
    """
    cuts = [len(UTF8_MARK) if content.head().startswith(UTF8_MARK) else 0]
    while content.size - cuts[-1] > 3 * PIECE // 2 and (
        (cut := _find_cut(content, cuts[-1] + PIECE)) < content.size
    ):
        cuts.append(cut)
    cuts.append(content.size)
    return list(itertools.pairwise(cuts))


def _find_cut(content: Content, start: int) -> int:
    """The place after `start` where a query's lines begin; the end, if there is none."""
    window = WINDOW
    while start < content.size:
        text = np.empty(min(window, content.size - start), dtype=np.uint8)
        if content.read_into(text, start) and (cut := native.next_topic(text)) >= 0:
            return start + cut
        if start + window >= content.size:
            break
        window *= 4
    return content.size
