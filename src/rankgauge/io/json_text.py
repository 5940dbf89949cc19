"""JSON as Python objects: nothing but what the text says, and a fault with its line."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator

from rankgauge.data.columns import first_line
from rankgauge.errors import InputError
from rankgauge.io.files import MARK_INSIDE, UTF8_MARK

JsonObject = dict[str, object]
MARK = UTF8_MARK.decode()


class Repeating(JsonObject):
    """An object that has some keys more than once: `repeated`."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        once: set[str] = set()
        self.repeated: set[str] = set()
        for key, _ in pairs:
            (self.repeated if key in once else once).add(key)


def repeated_keys(record: JsonObject) -> set[str]:
    """The keys that an object has more than once."""
    return record.repeated if isinstance(record, Repeating) else set()


def _object(pairs: list[tuple[str, object]]) -> JsonObject:
    record = dict(pairs)
    return record if len(record) == len(pairs) else Repeating(pairs)


class _TooLarge(ValueError):
    """A number, as it is written, that double precision has as infinity."""


def _float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _TooLarge(text)
    return number


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float)
_QUICK = json.JSONDecoder(parse_float=_float)


def parsed(text: bytes, source: str, line: int) -> object:
    """The value of a text that starts at this line; InputError, with the line, where it is no JSON."""
    try:
        return _DECODER.decode(text.decode())
    except _TooLarge as error:
        number = str(error)
        found = re.search(rb"[\s:,[]" + re.escape(number.encode()) + rb"[\s,\]}]", text)
        line += text.count(b"\n", 0, found.start() + 1) if found else 0
        shown = number if len(number) <= 40 else number[:40] + "…"
        message = f"the number {shown} is beyond double precision, expected a smaller number"
        raise InputError(source, line, message) from None
    except json.JSONDecodeError as error:
        if text.decode().startswith(MARK, error.pos):
            raise InputError(source, line + error.lineno - 1, MARK_INSIDE) from None
        where, line = f"{error.msg}: column {error.colno}", line + error.lineno - 1
    except UnicodeDecodeError as error:
        where, line = "bytes that are not UTF-8", line + text.count(b"\n", 0, error.start)
    except RecursionError:
        where = "nested too deeply"
    except ValueError as error:  # a number of too many digits
        where = first_line(error)
    raise InputError(source, line, f"not JSON ({where}), expected complete JSON") from None


def quick_object(line: bytes) -> JsonObject | None:
    """The object in a line, None unless it is sure that no key stands in it twice.

    There are as many colons as keys, or more. Where there are as many as members, each key is one.
    """
    try:
        record = _QUICK.decode(line.decode())
    except (ValueError, RecursionError):
        return None
    if type(record) is not dict:
        return None
    members = len(record)
    for value in record.values():
        if type(value) is dict:
            members += len(value)
        elif type(value) is list and set(map(type, value)) == {dict}:
            members += sum(map(len, value))
    return record if line.count(b":") == members else None


def parsed_object(line: bytes, source: str, number: int) -> JsonObject:
    """The object in a line of JSON Lines; InputError for any other value."""
    record = parsed(line, source, number)
    if not isinstance(record, dict):
        raise InputError(source, number, f"{described(record)}, expected an object")
    return record


def lines_of(text: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    at, number = 0, 1
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        if line.strip():
            yield number, line
        at, number = end + 1, number + 1


def described(value: object) -> str:
    """A value of JSON, as messages call it."""
    if value is None or isinstance(value, bool | int | float | str):
        text = json.dumps(value)
        return text if len(text) <= 40 else text[:40] + "…"
    return "a JSON object" if isinstance(value, dict) else "a JSON list"
