"""Learning-to-rank files, in LETOR's form of SVMlight: `grade qid:query 1:value 2:value … # docid = d`.

Columns are separated by any run of blanks; CRLF and a UTF-8 byte-order mark are taken as they come.
What follows # is a comment, which may name the document. Features are numbered from 1, in any order;
those a line does not have are 0. A fault is an InputError that names the line, or, when reading
leniently, the line is dropped and counted.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from rankgauge.arrays import Ints
from rankgauge.data.errors import DuplicateError, InputError
from rankgauge.data.features import Features
from rankgauge.data.files import SIZE_LIMIT, display_name, read_bytes
from rankgauge.data.model import Ids, decode
from rankgauge.data.trec import Path, dropped_lines, line_number, number_topics, text_of
from rankgauge.native import ids as native_ids
from rankgauge.native import letor as native
from rankgauge.notes import Note, counted

LINE = "grade qid:query 1:value 2:value … # docid = document"
WORD = re.compile(rb"[^\s#]{0,41}")

VALUE_BYTES = 4

FAULTS = {
    3: "not a number",
    5: "a grade that is not a whole number",
    6: "a grade beyond 32 bits",
    7: "binary data",
    16: "no query",
    17: "not a feature and its value",
    18: "a feature number out of range",
    19: "a feature twice",
    20: "a value that is not a number",
    21: "a value that is not finite",
}
"""The kinds of fault the tokeniser finds, as its enums number them."""


def read_letor(path: Path, *, lenient: bool = False, size_limit: int = SIZE_LIMIT) -> Features:
    """The labels and features in a LETOR file.

    There is a column for each number up to the highest feature in the file. `lenient` drops faulty
    lines and says so in `.dropped` instead of raising InputError. `size_limit` is how many bytes the
    file may hold once decompressed, and the values in memory.
    """
    source = display_name(path)
    text = text_of(read_bytes(path, limit=size_limit), source)
    places, labels, offsets, columns, values, faults = native.tokenize(text, lenient)
    if faults and not lenient:
        ((kind, (_, position)),) = faults.items()
        raise _fault(text, source, kind, position)
    if labels.size == 0 and not lenient:
        raise InputError(source, None, f"no lines, expected `{LINE}`")
    dropped = [
        dropped_lines(FAULTS[kind], count, line_number(text, position))
        for kind, (count, position) in faults.items()
    ]
    numbers, queries = number_topics(text, places[0], places[1])
    order = np.argsort(numbers, kind="stable")
    documents, notes = _documents(text, source, places[:, order], lenient)
    dropped += notes
    if documents is not None:
        repeated = native_ids.repeats(documents.data, documents.offsets, _bounds(numbers[order]))
        again = np.flatnonzero(repeated >= 0)
        if again.size:
            starts = places[2, order]
            first = again[np.argmin(starts[again])]
            line = line_number(text, starts[first])
            if not lenient:
                message = (
                    f"document {decode(documents[first])!r} again for query "
                    f"{decode(queries[numbers[order[first]]])!r} (first at line "
                    f"{line_number(text, starts[repeated[first]])}), expected each document once "
                    "per query"
                )
                raise DuplicateError(source, line, message)
            dropped.append(dropped_lines("a document again for the same query", again.size, line))
            kept = np.flatnonzero(repeated < 0)
            order, documents = order[kept], documents.take(kept)
    width = int(columns.max(initial=-1)) + 1
    if order.size * width * VALUE_BYTES > size_limit:
        message = (
            f"{counted(order.size, 'line')} of {counted(width, 'feature')} need more than "
            f"{size_limit:,} bytes, expected less (raise the size limit)"
        )
        raise InputError(source, None, message)
    return Features(
        queries,
        _bounds(numbers[order]),
        labels[order],
        native.dense(offsets, columns, values, order, width).astype(np.float32),
        documents,
        source,
        tuple(dropped),
    )


def _bounds(numbers: Ints) -> Ints:
    """Where the rows of each query begin and end, from the query of each row, ascending."""
    queries = int(numbers[-1]) + 1 if numbers.size else 0
    return np.searchsorted(numbers, np.arange(queries + 1)).astype(np.int64)


def _documents(
    text: NDArray[np.uint8], source: str, places: Ints, lenient: bool
) -> tuple[Ids | None, list[Note]]:
    """The documents of the rows, None where they have none, and what to say about those left out."""
    starts, lengths = np.ascontiguousarray(places[2]), np.ascontiguousarray(places[3])
    nameless = np.flatnonzero(lengths == 0)
    if nameless.size == 0:
        return Ids(*native_ids.gather(text, starts, lengths)), []
    if nameless.size == lengths.size:
        return None, []
    line = line_number(text, places[0, nameless].min())
    if not lenient:
        message = "no document, where other lines have one, expected `# docid = document`"
        raise InputError(source, line, message)
    kind, detail = "document ids dropped: {lines} without one", f"first at line {line}"
    return None, [Note(kind, count=nameless.size, detail=detail)]


def _fault(text: NDArray[np.uint8], source: str, kind: int, position: int) -> InputError:
    """The error for a faulty line, whose faulty word is at this position."""
    found = WORD.match(text[position : position + 41].tobytes())
    word = decode(found[0]) if found else ""
    if len(word) > 40:
        word = word[:40] + "…"
    last = f"1 to {native.LARGEST_FEATURE:,}"
    message = {
        3: f"{word!r} is not a number, expected `{LINE}`",
        5: f"grade {word!r}, expected a whole number",
        6: f"grade {word!r}, expected a whole number of at most 32 bits",
        7: f"binary data, expected text: `{LINE}`",
        16: f"{repr(word) if word else 'nothing'} in the place of the query, expected `{LINE}`",
        17: f"{word!r} is not a feature and its value, expected `{LINE}`",
        18: f"feature number in {word!r}, expected {last}",
        19: f"{word!r}: the feature again, expected each feature once per line",
        20: f"the value in {word!r} is not a number, expected `{LINE}`",
        21: f"the value in {word!r} is not finite in single precision, expected at most 3.4e38",
    }[kind]
    return InputError(source, line_number(text, position), message)
