"""The texts of documents and queries, read from a file; only texts that a page shows are kept."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeAlias

from rankgauge.core.records import Record
from rankgauge.core.tables import visible_line
from rankgauge.data.model import decode, encode
from rankgauge.data.roles import DOCUMENT, QUERY
from rankgauge.errors import InputError
from rankgauge.io.files import display_name
from rankgauge.io.rows import parse_object_loosely, read_lines

TextsById: TypeAlias = str | os.PathLike[str] | Mapping[str, str]
"""A file of texts, or the texts by id."""

LONGEST = 500
"""How many characters of a text a page has."""
LONGEST_LINE = 64 << 20
"""How many bytes a line of a file of texts may have."""

_IDS = ("id", "_id")
_TEXTS = ("text", "contents", "content", "body", "passage")


class Keys(Record):
    """The keys of JSON objects that hold an id, a title and a text; the first that is there counts."""

    thing: str
    ids: tuple[str, ...]
    titles: tuple[str, ...]
    texts: tuple[str, ...]


DOCUMENT_KEYS = Keys("document", (*DOCUMENT.tiers[0], *_IDS), ("title",), _TEXTS)
QUERY_KEYS = Keys(
    "topic",
    (*QUERY.tiers[0], *QUERY.tiers[1], *_IDS, "number"),
    ("title",),
    ("query", "question", "text", "description"),
)


def read_texts(texts: TextsById, wanted: Collection[str], keys: Keys) -> dict[str, str]:
    """Return the unchanged texts of the requested ids; the first line with an id counts.

    The file has one text per line: JSON with an id and a text, or id, tab and text. It may be
    compressed. Anything else raises InputError with the line.
    """
    if isinstance(texts, Mapping):
        return {key: _check_text(texts[key], key) for key in wanted if key in texts}
    source = display_name(texts)
    searched = {encode(key) for key in wanted}
    kept: dict[str, str] = {}
    as_json: bool | None = None
    for number, line in read_lines(texts, LONGEST_LINE):
        if not line.strip():
            continue
        if as_json is None:
            as_json = line.lstrip().startswith(b"{")
        entry = _parse_json_line if as_json else _parse_tab_line
        key, text = entry(line, keys, searched, source, number)
        if text is not None:
            kept.setdefault(decode(key), text)
    return kept


def _check_text(text: Any, key: str) -> str:
    if not isinstance(text, str):
        kind = type(text).__name__
        raise InputError("texts", None, f"the text of {key!r} is {kind}, expected a string")
    return text


def _parse_tab_line(
    line: bytes, keys: Keys, wanted: Collection[bytes], source: str, number: int
) -> tuple[bytes, str | None]:
    key, tab, text = line.partition(b"\t")
    if not tab:
        message = f"no tab, expected the id of a {keys.thing}, a tab and its text"
        raise InputError(source, number, message)
    return key, decode(text) if key in wanted else None


def _parse_json_line(
    line: bytes, keys: Keys, wanted: Collection[bytes], source: str, number: int
) -> tuple[bytes, str | None]:
    record = parse_object_loosely(
        line, source, number, f"with the id and the text of a {keys.thing}"
    )
    name = next((name for name in keys.ids if name in record), None)
    if name is None or not isinstance(record[name], str | int):
        message = f"no {keys.thing} id, expected one in {', '.join(keys.ids)}"
        raise InputError(source, number, message)
    key = encode(str(record[name]))
    if key not in wanted:
        return key, None
    parts = [
        record[found]
        for names in (keys.titles, keys.texts)
        if (found := next((name for name in names if isinstance(record.get(name), str)), None))
    ]
    if not parts:
        expected = ", ".join((*keys.titles, *keys.texts))
        raise InputError(source, number, f"no {keys.thing} text, expected one in {expected}")
    return key, ": ".join(part for part in parts if part)


class CutTexts(Record):
    """TextsById as a page shows them, by id; how many were cut, and how many had no room."""

    texts: dict[str, str]
    cut: int
    without_room: int


def cut_texts(texts: Mapping[str, str], ids: Sequence[str], room: int) -> CutTexts:
    """The texts of these ids, the most important first, each cut, until `room` bytes are used."""
    shown: dict[str, str] = {}
    cut = without_room = 0
    for key in ids:
        if key not in texts:
            continue
        whole = texts[key]
        text = visible_line(" ".join(whole[:LONGEST].split()))
        size = len(text.encode()) + text.count('"') + text.count("\\") + 5 * _count_markup(text) + 3
        if size > room:
            without_room += 1
            continue
        room -= size
        if len(whole) > LONGEST:
            cut += 1
            text = f"{text}…"
        shown[key] = text
    return CutTexts(shown, cut, without_room)


def _count_markup(text: str) -> int:
    return sum(text.count(character) for character in "<>&")
