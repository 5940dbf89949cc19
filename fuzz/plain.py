"""What the readers should find in a text, in plain Python: split lines, matched words, float().

A kind of fault is a number; FAULTS in io/trec.py and io/letor.py have its words.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

MARK = b"\xef\xbb\xbf"
WORD = re.compile(rb"[^ \t\r\v\f]+")
DECIMAL = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
NULL = re.compile(rb"null", re.IGNORECASE)
NAN = re.compile(rb"[+-]?nan", re.IGNORECASE)
WHOLE = re.compile(rb"[+-]?\d+")
PAIR = re.compile(rb"(\d+):(.*)", re.DOTALL)
DOCUMENT = re.compile(rb"#[ \t\r\v\f]*docid[ \t\r\v\f]*=[ \t\r\v\f]*([^ \t\r\v\f]+)")

LARGEST_FEATURE = 100_000

Span = tuple[int, int]
"""Where a word starts and how long it is."""

Table = list[tuple[bytes, list[tuple[Any, ...]]]]
"""Topics in their order, each with its rows in theirs."""


class Fault(Exception):
    """A wrong line: the kind of fault, and its position."""

    def __init__(self, kind: int, position: int) -> None:
        self.kind = kind
        self.position = position


def too_large(word: bytes) -> bool:
    """Whether a number only rounds to infinity, and does not say that it is infinite."""
    return math.isinf(float(word)) and b"i" not in word.lower()


def score(word: bytes) -> float:
    """The number that a word stands for; Fault if it is not a number."""
    if DECIMAL.fullmatch(word):
        if too_large(word):
            raise Fault(8, 0)
        return float(word)
    raise Fault(4 if NAN.fullmatch(word) else 3, 0)


def grade(word: bytes) -> float:
    """The whole number that a word stands for; Fault if it is not a whole number."""
    if not WHOLE.fullmatch(word):
        raise Fault(5 if DECIMAL.fullmatch(word) else 3, 0)
    digits = word.lstrip(b"+-0")
    value = int(digits or b"0") if len(digits) < 11 else 10**11
    if value >= 2**31:
        raise Fault(6, 0)
    return -float(value) if word.startswith(b"-") else float(value)


def lines(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines, each with its position."""
    at = 0
    for line in text.split(b"\n"):
        yield at, line
        at += len(line) + 1


@dataclass
class Tokens:
    """The rows of a text, and for each kind of fault how many there are and where the first one is."""

    rows: list[tuple[list[Span], float]] = field(default_factory=list)
    faults: dict[int, tuple[int, int]] = field(default_factory=dict)

    def wrong(self, fault: Fault) -> None:
        count, first = self.faults.get(fault.kind, (0, fault.position))
        self.faults[fault.kind] = (count + 1, first)


def trec_tokens(text: bytes, columns: int, whole: bool, lenient: bool, more: bool) -> Tokens:
    """Topic, second column, document and last column of each line, and its number."""
    tokens = Tokens()
    for at, line in lines(text):
        words = [found.span() for found in WORD.finditer(line)]
        if not words:
            continue
        try:
            if line.startswith(MARK, words[0][0]):
                raise Fault(9, at)
            if b"\0" in line:
                raise Fault(7, at)
            if len(words) < columns or (len(words) > columns and not more):
                raise Fault(1 if len(words) < columns else 2, at)
            number = line[slice(*words[4 if columns == 6 else 3])]
            value = grade(number) if whole else score(number)
        except Fault as fault:
            tokens.wrong(Fault(fault.kind, at))
            if not lenient:
                break
            continue
        kept = [words[i] for i in (0, 1, 2, columns - 1)]
        tokens.rows.append(([(at + a, b - a) for a, b in kept], value))
    return tokens


@dataclass
class Vector:
    """A line of a LETOR file. If the document has length 0, the line names no document."""

    grade: int
    query: Span
    document: Span
    features: dict[int, float]


@dataclass
class Vectors:
    """The lines of a LETOR file, and its faults as in `Tokens`."""

    rows: list[Vector] = field(default_factory=list)
    faults: dict[int, tuple[int, int]] = field(default_factory=dict)

    wrong = Tokens.wrong


def letor_tokens(text: bytes, lenient: bool, queries: bool = True) -> Vectors:
    """The content of each line of a LETOR file."""
    vectors = Vectors()
    for at, line in lines(text):
        try:
            vector = _vector(at, line, queries)
        except Fault as fault:
            vectors.wrong(fault)
            if not lenient:
                break
            continue
        if vector is not None:
            vectors.rows.append(vector)
    return vectors


def _vector(at: int, line: bytes, queries: bool) -> Vector | None:
    if b"\0" in line:
        raise Fault(7, at + line.index(b"\0"))
    data, _, _ = line.partition(b"#")
    words = [(found[0], at + found.start()) for found in WORD.finditer(data)]
    if not words:
        return None
    if words[0][0].startswith(MARK):
        raise Fault(9, words[0][1])
    try:
        label = grade(words[0][0])
    except Fault as fault:
        raise Fault(fault.kind, words[0][1]) from None
    query, query_at = b"qid:", words[0][1] - 4
    if queries:
        if len(words) < 2:
            raise Fault(16, at + len(data))
        query, query_at = words.pop(1)
        if not query.startswith(b"qid:") or query == b"qid:":
            raise Fault(16, query_at)
    features: dict[int, float] = {}
    for word, place in words[1:]:
        feature, value = _feature(word, place)
        if feature in features:
            raise Fault(19, place)
        try:
            features[feature] = math.nan if NULL.fullmatch(value) else score(value)
        except Fault as fault:
            raise Fault(21 if fault.kind in (4, 8) else 20, place) from None
        if math.isinf(single(features[feature])):
            raise Fault(21, place)
    named = DOCUMENT.match(line, len(data))
    document = (at + named.start(1), len(named[1])) if named else (at + len(line), 0)
    return Vector(int(label), (query_at + 4, len(query) - 4), document, features)


def _feature(word: bytes, place: int) -> tuple[int, bytes]:
    pair = PAIR.fullmatch(word)
    if pair is None:
        raise Fault(17, place)
    if len(pair[1]) > 18 or not 1 <= int(pair[1]) <= LARGEST_FEATURE:
        raise Fault(18, place)
    return int(pair[1]), pair[2]


def json_numbers(text: bytes, entry: str) -> list[float]:
    """The numbers that an entry of a JSON object holds, in lists at any depth."""
    meant = {None: math.nan, "inf": math.inf, "-inf": -math.inf}
    flat: list[float] = []

    def add(value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                add(item)
        else:
            flat.append(meant[value] if value in meant else float(value))

    add(json.loads(text)[entry])
    return flat


# Whole files


class Refused(Exception):
    """The reader must raise an InputError at this line."""

    def __init__(self, line: int | None) -> None:
        self.line = line


def single(value: float) -> float:
    """The nearest number of single precision; infinity beyond them."""
    try:
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)
    return rounded


def bits(values: Iterable[float]) -> bytes:
    """The bytes of doubles, which are equal only if every bit is equal."""
    values = list(values)
    return struct.pack(f"{len(values)}d", *values)


def trec_table(
    text: bytes, columns: int, lenient: bool, more: bool = False, subtopics: bool = False
) -> tuple[Table, int]:
    """The rows of a run (six columns) or qrels file (four), and how many lines were dropped."""
    tokens = trec_tokens(text, columns, columns == 4, lenient, more)
    if not lenient:
        _refuse(text, tokens.faults, not tokens.rows)
    rows = []
    for (topic, second, document, _), value in tokens.rows:
        name = _word(text, second) if subtopics else b""
        rows.append(((_word(text, topic), name, _word(text, document)), document[0], value))
    kept = _without_repeats(text, [(key, place) for key, place, _ in rows], lenient)
    table: dict[bytes, list[tuple[Any, ...]]] = {}
    for i in kept:
        (topic, second, document), _, value = rows[i]
        number = int(value) if columns == 4 else bits([value])
        row = (document, second, number) if subtopics else (document, number)
        table.setdefault(topic, []).append(row)
    return list(table.items()), _count(tokens.faults) + len(rows) - len(kept)


def letor_table(
    text: bytes, lenient: bool, size_limit: int, absent: float = 0.0
) -> tuple[Table, int]:
    """The rows of a LETOR file, and how many lines were dropped."""
    vectors = letor_tokens(text, lenient)
    rows = vectors.rows
    if not lenient:
        _refuse(text, vectors.faults, not rows)
    nameless = [row for row in rows if row.document[1] == 0]
    if nameless and len(nameless) < len(rows) and not lenient:
        raise Refused(_line(text, nameless[0].query[0]))
    kept = list(range(len(rows)))
    if not nameless:
        keys = [((_word(text, r.query), _word(text, r.document)), r.document[0]) for r in rows]
        kept = _without_repeats(text, keys, lenient)
    width = max((feature for row in rows for feature in row.features), default=0)
    if len(kept) * width * 4 > size_limit:
        raise Refused(None)
    table: dict[bytes, list[tuple[Any, ...]]] = {}
    for row in (rows[i] for i in kept):
        values = [single(row.features.get(feature, absent)) for feature in range(1, width + 1)]
        values = [absent if math.isnan(value) else value for value in values]
        document = None if nameless else _word(text, row.document)
        table.setdefault(_word(text, row.query), []).append((document, row.grade, bits(values)))
    return list(table.items()), _count(vectors.faults) + len(rows) - len(kept)


def _word(text: bytes, span: Span) -> bytes:
    return text[span[0] : span[0] + span[1]]


def _line(text: bytes, position: int) -> int:
    return text.count(b"\n", 0, position) + 1


def _count(faults: dict[int, tuple[int, int]]) -> int:
    return sum(count for count, _ in faults.values())


def _refuse(text: bytes, faults: dict[int, tuple[int, int]], empty: bool) -> None:
    for _, position in faults.values():
        raise Refused(_line(text, position))
    if empty:
        raise Refused(None)


def _without_repeats(text: bytes, keys: list[tuple[Any, int]], lenient: bool) -> list[int]:
    """The rows whose key is new. At the first repeated key: Refused, unless reading is lenient."""
    seen = set()
    kept = []
    for row, (key, place) in enumerate(keys):
        if key not in seen:
            kept.append(row)
        elif not lenient:
            raise Refused(_line(text, place))
        seen.add(key)
    return kept
