"""Learning-to-rank files, in LETOR's form of SVMlight: `grade qid:query 1:value 2:value … # docid = d`.

Columns are separated by any run of blanks; CRLF and a UTF-8 byte-order mark are taken as they come.
What follows # is a comment, which may name the document. Features are numbered from 1, in any order.
A feature that a line does not have, or whose value is NULL, is absent. Files without queries may have
the number of documents of each query in a file beside them. A fault is an InputError that names the
line, or, when reading leniently, the line is dropped and counted.

A file is read piece by piece, so that its text is never in memory as a whole.
"""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Ints, Labels, offsets_of
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import Note, count_phrase, shorten
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.data.model import Ids, decode
from rankgauge.errors import DuplicateError, InputError
from rankgauge.io import cache, trec
from rankgauge.io.files import (
    CHUNK,
    MISPLACED_MARK_MESSAGE,
    SIZE_LIMIT,
    STANDARD_INPUT,
    UTF8_MARK,
    display_name,
    pieces_of,
    read_bytes,
)
from rankgauge.io.trec import (
    COMPRESSED_ENDINGS,
    Path,
    dropped_lines_note,
    line_number,
    number_queries,
    text_of,
)
from rankgauge.native import letor as native

AbsentFeature: TypeAlias = Literal["zero", "nan"]
"""The value of a feature missing from a line: 0 or NaN."""

LINE = "grade qid:query 1:value 2:value … # docid = document"
WORD = re.compile(rb"[^\s#]{0,41}")
FIRST_LINE = re.compile(rb"^[ \t\r\v\f]*[^\s#][^\n#]*", re.MULTILINE)
VALUE_BYTES, PAIR_BYTES = 4, 8
SIZE_ENDINGS = (".query", ".group")
SIZE = re.compile(rb"\+?0*[1-9][0-9]{0,9}")
SIZES_LIMIT = 1 << 28
"""Maximum size in bytes of a file of query sizes."""

FAULTS = trec.FAULTS | {
    16: "no query",
    17: "not a feature and its value",
    18: "a feature number out of range",
    19: "a feature twice",
    20: "a value that is not a number",
    21: "a value that is not finite",
}
"""The kinds of fault found by the tokenizer, numbered as in its enums."""


def read_letor(
    path: Path,
    *,
    absent: AbsentFeature = "zero",
    lenient: bool = False,
    size_limit: int = SIZE_LIMIT,
) -> Features:
    """Read the labels and features in a LETOR file, in single precision.

    There is a column for each number up to the highest feature in the file. A file without queries, as
    LightGBM reads it, needs a file beside it: rank.train needs rank.train.query or rank.train.group.
    That file has the number of documents of each query, one per line. The queries are called 1, 2, and
    so on.

    The result for a large file is kept in the user's cache folder, or in the folder that the environment
    variable RANKGAUGE_CACHE names; with RANKGAUGE_CACHE=off nothing is kept.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be compressed.
    absent : {"zero", "nan"}, default "zero"
        The value of a feature that a line lacks, or for which it has NULL.
    lenient : bool, default False
        Drop faulty lines, and list them in `.dropped`, instead of raising InputError. In a file without
        queries a faulty line is always refused, because the queries are known by counting lines.
    size_limit : int, default 8 GiB
        The largest size in bytes, of the file once decompressed and of the values in memory.

    Returns
    -------
    Features
        The queries, documents, labels and values.

    Raises
    ------
    InputError
        If the file cannot be read, is too large, or has a faulty line.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "train.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write("2 qid:1 1:0.5 2:3\\n0 qid:1 2:1\\n")
    ...     features = read_letor(path)
    >>> features.labels.tolist(), features.values.tolist()
    ([2, 0], [[0.5, 3.0], [0.0, 1.0]])
    """
    check_value("absent", absent, one_of(AbsentFeature))
    source = display_name(path)
    sizes_file = _find_sizes_file(path)
    place = cache.CacheEntry.of(path, sizes_file, {"absent": absent})
    if place is not None and (cached := place.load(path, size_limit)):
        return cached
    reading = _LetorReader(source, lenient, np.nan if absent == "nan" else 0.0)
    content = 0
    for text in _whole_lines(pieces_of(path, limit=size_limit)):
        reading.add(text, sizes_file is not None)
        content += len(text)
    sizes = None
    if sizes_file is not None and not reading.queries:
        sizes = _read_sizes(sizes_file, reading.rows, source)
    features = reading.features(size_limit, sizes)
    if place is not None and not features.dropped:
        place.store(features, content)
    return features


class _Part(Record):
    """The rows of one piece of the file. The values are a matrix where that is smaller than pairs."""

    queries: Ids
    query: Ints
    documents: Ids
    lines: Ints
    labels: Labels
    width: int
    matrix: NDArray[np.float32] | None
    pairs: tuple[Ints, NDArray[np.int32], NDArray[np.float32]] | None

    def put(self, whole: NDArray[np.float32], rows: Ints) -> None:
        """Put row i into row rows[i] of the whole matrix, and leave it out where that is below 0."""
        if self.pairs is not None:
            native.fill(whole, rows, *self.pairs)
        elif self.matrix is not None and len(rows):
            kept = rows >= 0
            first = int(rows[0])
            if (rows == np.arange(first, first + len(rows))).all():
                whole[first : first + len(rows), : self.width] = self.matrix
            else:
                whole[rows[kept], : self.width] = self.matrix[kept]


class _LetorReader:
    """A file as far as it was read."""

    def __init__(self, source: str, lenient: bool, absent: float) -> None:
        self.source, self.lenient, self.absent = source, lenient, absent
        self.parts: list[_Part] = []
        self.faults: dict[int, tuple[int, int]] = {}
        """For each kind of fault, the number of occurrences and the line of the first."""
        self.lines = self.rows = 0
        self.started, self.queries = False, True

    def add(self, raw: bytes, sizes: bool) -> None:
        """Read some more lines; `sizes` says whether there is a file with the sizes of queries."""
        text = text_of(raw, self.source) if self.lines == 0 else np.frombuffer(raw, dtype=np.uint8)
        if sizes and not self.started and (first := FIRST_LINE.search(text.tobytes())):
            words = first[0].split(maxsplit=2)
            self.started = True
            self.queries = len(words) > 1 and words[1].startswith(b"qid:")
            self.lenient = self.lenient and self.queries
        places, lines, labels, offsets, columns, values, faults = native.tokenize(
            text, self.lenient, self.queries
        )
        for kind, (count, position) in faults.items():
            if not self.lenient:
                raise _fault(text, self.source, kind, position, self.lines)
            before, line = self.faults.get(kind, (0, self.lines + line_number(text, position)))
            self.faults[kind] = (before + count, line)
        query, queries = number_queries(text, places[0], places[1])
        width = int(columns.max(initial=-1)) + 1
        matrix, pairs = None, None
        if len(labels) * width * VALUE_BYTES <= values.size * PAIR_BYTES:
            matrix = _allocate_matrix(len(labels), width)
            matrix[:] = self.absent
            native.fill(matrix, np.arange(len(labels)), offsets, columns, values)
        else:
            pairs = (offsets.copy(), columns.copy(), values.copy())
        self.parts.append(
            _Part(
                queries,
                query,
                Ids.from_text(text, places[2], places[3]),
                lines + self.lines,
                labels.copy(),
                width,
                matrix,
                pairs,
            )
        )
        self.rows += len(labels)
        self.lines += native.newlines(text)

    def features(self, size_limit: int, sizes: Ints | None = None) -> Features:
        """All that was read, query by query."""
        if self.rows == 0 and not self.lenient:
            raise InputError(self.source, None, f"no lines, expected `{LINE}`")
        dropped = [dropped_lines_note(FAULTS[kind], *place) for kind, place in self.faults.items()]
        numbers, queries = self._queries(sizes)
        order = np.argsort(numbers, kind="stable")
        bounds = offsets_of(np.bincount(numbers, minlength=len(queries)))
        documents, notes = self._documents(order)
        dropped += notes
        if documents is not None:
            repeated = documents.repeats(bounds)
            again = np.flatnonzero(repeated >= 0)
            if again.size:
                lines = self._line_of(order)
                first = again[np.argmin(lines[again])]
                if not self.lenient:
                    message = (
                        f"document {decode(documents[first])!r} repeated for query "
                        f"{decode(queries[numbers[order[first]]])!r} (first at line "
                        f"{lines[repeated[first]]}), expected each document once per query"
                    )
                    raise DuplicateError(self.source, int(lines[first]), message)
                kind = "a document repeated for the same query"
                dropped.append(dropped_lines_note(kind, again.size, int(lines[first])))
                kept = np.flatnonzero(repeated < 0)
                order, documents = order[kept], documents.take(kept)
                bounds = offsets_of(np.bincount(numbers[order], minlength=len(queries)))
        labels = np.concatenate([np.zeros(0, np.int32), *(part.labels for part in self.parts)])
        return Features(
            queries,
            bounds,
            labels[order],
            self._matrix(order, size_limit),
            documents,
            self.source,
            tuple(dropped),
        )

    def _matrix(self, order: Ints, size_limit: int) -> NDArray[np.float32]:
        """The values of these rows. The parts are given up on the way, to save memory."""
        width = max((part.width for part in self.parts), default=0)
        if order.size * width * VALUE_BYTES > size_limit:
            message = (
                f"{count_phrase(order.size, 'line')} of {count_phrase(width, 'feature')} need more than "
                f"{size_limit:,} bytes, expected less (raise the size limit)"
            )
            raise InputError(self.source, None, message)
        if len(self.parts) == 1 and self.parts[0].matrix is not None:
            alone = self.parts[0].matrix
            if (order == np.arange(len(alone))[: len(order)]).all() and len(order) == len(alone):
                return alone
        whole = np.empty((order.size, width), dtype=np.float32)
        place = np.full(self.rows, -1, dtype=np.int64)
        place[order] = np.arange(order.size)
        start = 0
        self.parts.reverse()
        while self.parts:
            part = self.parts.pop()
            rows = place[start : start + len(part.labels)]
            if part.matrix is None or part.width < width:
                whole[rows[rows >= 0]] = self.absent
            part.put(whole, rows)
            start += len(part.labels)
        return whole

    def _queries(self, sizes: Ints | None) -> tuple[Ints, Ids]:
        """The query of each row, by number in the order of the file, and the queries."""
        if sizes is not None:
            queries = Ids.of(str(number) for number in range(1, len(sizes) + 1))
            return np.repeat(np.arange(len(sizes)), sizes), queries
        each = Ids.joined([part.queries for part in self.parts])
        numbers, firsts = each.factorize()
        own, start = [], 0
        for part in self.parts:
            own.append(numbers[start : start + len(part.queries)][part.query])
            start += len(part.queries)
        return _concatenate(own), each.take(firsts)

    def _documents(self, order: Ints) -> tuple[Ids | None, list[Note]]:
        """The documents of these rows, None where they have none, and notes on those left out."""
        lengths = [np.diff(part.documents.offsets) for part in self.parts]
        nameless = np.flatnonzero(_concatenate(lengths) == 0)
        if nameless.size == 0:
            return Ids.joined([part.documents for part in self.parts]).take(order), []
        if nameless.size == self.rows:
            return None, []
        line = int(self._line_of(nameless).min())
        if not self.lenient:
            message = "no document id, although other lines have one, expected `# docid = document`"
            raise InputError(self.source, line, message)
        kind, detail = "document ids dropped: {lines} without one", f"first at line {line}"
        return None, [Note(kind, count=nameless.size, detail=detail)]

    def _line_of(self, rows: Ints) -> Ints:
        """The line of each of these rows, from 1."""
        return _concatenate([part.lines for part in self.parts])[rows] + 1


def _allocate_matrix(rows: int, width: int) -> NDArray[np.float32]:
    """A matrix in memory of its own, which goes back to the system as soon as the matrix is given up."""
    if not rows * width:
        return np.zeros((rows, width), dtype=np.float32)
    memory = mmap.mmap(-1, rows * width * VALUE_BYTES)
    return np.frombuffer(memory, dtype=np.float32).reshape(rows, width)


def _concatenate(arrays: list[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *arrays])


def _whole_lines(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The text in pieces that end where a line ends, but for the last; a long line costs no more."""
    kept: list[bytes] = []
    size = 0
    for piece in pieces:
        cut = piece.rfind(b"\n") + 1
        if cut and size + cut >= CHUNK // 2:
            yield b"".join((*kept, memoryview(piece)[:cut]))
            kept, size = [piece[cut:]], len(piece) - cut
        else:
            kept.append(piece)
            size += len(piece)
    if size:
        yield b"".join(kept)


def _fault(
    text: NDArray[np.uint8], source: str, kind: int, position: int, lines: int
) -> InputError:
    """The error for a faulty line, whose faulty word is at this position, so many lines further down."""
    match = WORD.match(text[position : position + 41].tobytes())
    word = shorten(decode(match[0])) if match else ""
    last = f"1 to {native.LARGEST_FEATURE:,}"
    beside = f"{os.path.basename(source)}.query"
    message = {
        3: f"{word!r} is not a number, expected `{LINE}`",
        5: f"grade {word!r}, expected a whole number",
        6: f"grade {word!r}, expected a whole number of at most 32 bits",
        7: f"binary data, expected text: `{LINE}`",
        9: MISPLACED_MARK_MESSAGE,
        16: f"{repr(word) if word else 'nothing'} in the place of the query, expected `{LINE}`, or a "
        f"file {beside} with the number of documents of each query",
        17: f"{word!r} is not a feature and its value, expected `{LINE}`",
        18: f"feature number in {word!r}, expected {last}",
        19: f"{word!r}: the feature again, expected each feature once per line",
        20: f"the value in {word!r} is not a number, expected `{LINE}`",
        21: f"the value in {word!r} is not finite in single precision, expected at most 3.4e38",
    }[kind]
    return InputError(source, lines + line_number(text, position), message)


# Sizes of queries, as LightGBM has them


def _find_sizes_file(path: Path) -> str | None:
    """Return the file with the sizes of the queries of a data file, or None where there is none.

    rank.train.gz has rank.train.query, or rank.train.gz.query, each of them compressed or not.
    """
    name = os.fspath(path)
    if name == STANDARD_INPUT:
        return None
    stem, ending = os.path.splitext(name)
    stems = (name, stem) if ending.lower() in COMPRESSED_ENDINGS else (name,)
    for base in stems:
        for kind in SIZE_ENDINGS:
            for compressed in ("", *COMPRESSED_ENDINGS):
                if os.path.isfile(base + kind + compressed):
                    return base + kind + compressed
    return None


def _read_sizes(path: Path, rows: int, data: str) -> Ints:
    """The sizes of the queries, which together must be so many rows of the data."""
    source = display_name(path)
    sizes = []
    for number, line in enumerate(
        read_bytes(path, limit=SIZES_LIMIT).removeprefix(UTF8_MARK).split(b"\n"), 1
    ):
        word = line.strip()
        if not word:
            continue
        if not SIZE.fullmatch(word):
            shown = word[:40].decode("utf-8", "backslashreplace")
            message = f"{shown!r}, expected the number of documents of a query, from 1"
            raise InputError(source, number, message)
        sizes.append(int(word))
    total = sum(sizes)
    if total != rows:
        raise InputError(
            source,
            None,
            f"{count_phrase(len(sizes), 'query')} with "
            f"{count_phrase(total, 'document')}, but {data} "
            f"has {count_phrase(rows, 'line')} of data; expected as many documents as lines",
        )
    return np.array(sizes, dtype=np.int64)
