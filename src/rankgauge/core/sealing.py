"""Seals: a digest of what a saved file holds, by which its reader notices that the content was damaged.

A seal covers the content, not the bytes of the file: names, order, types, shapes, the bits of every
number and all metadata. So a file that another program rewrote still opens if all values are equal. A
seal finds damage, not forgery: whoever changes a file on purpose can compute its seal again.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.notes import Note
from rankgauge.errors import InputError
from rankgauge.io.files import SIZE_LIMIT, atomic_write, display_name, pieces_of, read_bytes

SEAL = "seal"
"""The entry of a document that has the digest of all the others."""
DIGEST_SIZE = 16
BLOCK = 1 << 16
"""How many numbers are looked at together: few enough for the processor's cache."""
Arrays = Mapping[str, NDArray[Any]]


def file_digest(path: str | os.PathLike[str]) -> str:
    """The digest of the bytes of a file; InputError where it cannot be read."""
    made = Digest()
    for piece in pieces_of(path):
        made.update(piece)
    return made.digest().hex()


class Digest:
    """The digest of bytes that come in pieces."""

    def __init__(self) -> None:
        import hashlib

        self._hash = hashlib.sha256()  # processors have instructions for it

    def update(self, piece: Any) -> None:
        """Add bytes, or an array in one piece of memory."""
        self._hash.update(piece)

    def digest(self) -> bytes:
        """The digest of all pieces."""
        return self._hash.digest()[:DIGEST_SIZE]


def content_digest(document: Any, arrays: Arrays | None = None) -> str:
    """The digest of a document that JSON can hold, and of arrays by name, in their order.

    The order of the keys of an object does not matter, nor does the way in which a number is written: 1
    and 1.0 are equal, 0.0 and -0.0 are not. All NaN are equal.
    """
    arrays = arrays or {}
    head = [
        [name, np.dtype(array.dtype).newbyteorder("<").str, list(array.shape)]
        for name, array in arrays.items()
    ]
    text = json.dumps([_canonical_value(document), head], sort_keys=True, separators=(",", ":"))
    made = Digest()
    made.update(text.encode())
    for array in arrays.values():
        _add_array(array, made)
    return made.digest().hex()


def _canonical_value(value: Any) -> Any:
    """A JSON value in which equal numbers are the same: a float without a fraction is an int."""
    if type(value) is float:
        whole = value.is_integer() and (value or math.copysign(1, value) > 0)
        return int(value) if whole else value
    if isinstance(value, dict):
        return {key: _canonical_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [
            _canonical_value(item) if isinstance(item, float | dict | list | tuple) else item
            for item in value
        ]
    return value


def _add_array(array: NDArray[Any], made: Digest) -> None:
    flat = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
    for start in range(0, len(flat), BLOCK):
        block = flat[start : start + BLOCK]
        if block.dtype.kind == "f":
            missing = np.isnan(block)
            if missing.any():
                block = block.copy()
                block[missing] = np.nan
        made.update(block.data)


def seal(document: Mapping[str, Any], arrays: Arrays | None = None) -> dict[str, Any]:
    """The document with the seal of itself, and of arrays that are kept beside it."""
    return {**document, SEAL: content_digest(document, arrays)}


def check_seal(
    document: Mapping[str, Any], source: str, remedy: str, arrays: Arrays | None = None
) -> dict[str, Any]:
    """Check the seal of a document, and return the document without it.

    The seal is a digest of the content. It reveals damage, not forgery.

    Parameters
    ----------
    document : dict
        The document, with its seal as the entry "seal".
    source : str
        The name of the file, for the error.
    remedy : str
        What the user can do, for the error, such as "save the scores again".
    arrays : dict of ndarray, optional
        The arrays that were sealed with the document.

    Returns
    -------
    dict
        The document without the seal.

    Raises
    ------
    InputError
        If the seal is missing, or the content has changed.

    Examples
    --------
    >>> from rankgauge.extending import check_seal
    >>> check_seal({"mean": 0.25}, "scores.json", "save the scores again")
    Traceback (most recent call last):
    rankgauge.errors.InputError: scores.json: has no seal, expected one (save the scores again)
    """
    content = {name: value for name, value in document.items() if name != SEAL}
    if SEAL not in document:
        raise InputError(source, None, f"has no seal, expected one ({remedy})")
    try:
        whole = document[SEAL] == content_digest(content, arrays)
    except (RecursionError, ValueError):  # lists in lists in lists
        whole = False
    if not whole:
        raise damage_error(source, remedy)
    return content


def damage_error(source: str, remedy: str) -> InputError:
    """The error for a file whose content is not the one that was sealed."""
    message = (
        f"its seal is broken: the content was damaged or modified after it was written ({remedy})"
    )
    return InputError(source, None, message)


def missing_seal_note(source: str) -> Note:
    """The note on a file that was written before files had seals.

    Parameters
    ----------
    source : str
        The name of the file.

    Returns
    -------
    Note
        The note.

    Examples
    --------
    >>> from rankgauge.extending import missing_seal_note
    >>> print(missing_seal_note("scores.json"))
    the file comes from an earlier version and has no seal, so damage to it would go unnoticed
    (scores.json)
    """
    text = (
        "the file comes from an earlier version and has no seal, so damage to it would go unnoticed"
    )
    return Note(text, detail=source)


# JSON files


def json_bytes(content: Any) -> bytes:
    """The bytes of a JSON file; equal content gives equal bytes.

    Parameters
    ----------
    content : object
        Anything that `json.dumps` accepts.

    Returns
    -------
    bytes
        Indented JSON with sorted keys, and a newline at the end.

    Examples
    --------
    >>> from rankgauge.extending import json_bytes
    >>> print(json_bytes({"run": "bm25", "mean": 0.25}).decode(), end="")
    {
     "mean": 0.25,
     "run": "bm25"
    }
    """
    return (json.dumps(content, indent=1, sort_keys=True) + "\n").encode()


def write_sealed(path: str | os.PathLike[str], document: Mapping[str, Any]) -> None:
    """Write a JSON file with a seal, which `read_sealed` checks.

    The file appears only when it is complete.

    Parameters
    ----------
    path : str or os.PathLike
        The file.
    document : dict
        The document; JSON must be able to hold it.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import read_sealed, write_sealed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "scores.json")
    ...     write_sealed(path, {"mean": 0.25})
    ...     read_sealed(path, "a file of scores", "my command", "run it again")
    {'mean': 0.25}
    """
    with atomic_write(path) as stream:
        stream.write(json_bytes(seal(document)))


def read_object(
    path: str | os.PathLike[str], kind: str, maker: str, *, limit: int = SIZE_LIMIT
) -> dict[str, Any]:
    """Read the JSON object in a file, with its seal if it has one.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be compressed; "-" is standard input.
    kind : str
        What kind of file is expected, for the error, such as "a model".
    maker : str
        What makes such files, for the error, such as "rankgauge ltr train".
    limit : int, default 8 GiB
        The largest size of the file in bytes, once decompressed.

    Returns
    -------
    dict
        The object.

    Raises
    ------
    InputError
        If the file cannot be read, or does not contain a JSON object.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import read_object
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "scores.json")
    ...     with open(path, "w") as file:
    ...         _ = file.write('{"mean": 0.25}')
    ...     read_object(path, "a file of scores", "my command")
    {'mean': 0.25}
    """
    source = display_name(path)
    document = read_json(read_bytes(path, limit=limit), source, kind, maker)
    if not isinstance(document, dict):
        message = f"not {kind} (no JSON object), expected one made by {maker}"
        raise InputError(source, None, message)
    return document


def read_sealed(path: str | os.PathLike[str], kind: str, maker: str, remedy: str) -> dict[str, Any]:
    """Read the document that `write_sealed` wrote, and check its seal.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be compressed; "-" is standard input.
    kind : str
        What kind of file is expected, for the error, such as "a model".
    maker : str
        What makes such files, for the error, such as "rankgauge ltr train".
    remedy : str
        What the user can do, for the error, such as "train it again".

    Returns
    -------
    dict
        The document without its seal.

    Raises
    ------
    InputError
        If the file cannot be read, is not such a file, or its seal is missing or broken.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import read_sealed, write_sealed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "scores.json")
    ...     write_sealed(path, {"mean": 0.25})
    ...     read_sealed(path, "a file of scores", "my command", "run it again")
    {'mean': 0.25}
    """
    document = read_object(path, kind, f"{maker} ({remedy})")
    return check_seal(document, display_name(path), remedy)


def read_json(text: bytes | str, source: str, kind: str, maker: str) -> Any:
    """Parse strict JSON: no NaN, no infinite numbers, no key twice in an object.

    Parameters
    ----------
    text : bytes or str
        The JSON.
    source : str
        The name of the file, for the error.
    kind : str
        What kind of file is expected, for the error, such as "a model".
    maker : str
        What makes such files, for the error, such as "rankgauge ltr train".

    Returns
    -------
    object
        The document.

    Raises
    ------
    InputError
        If the text is not strict JSON.

    Examples
    --------
    >>> from rankgauge.extending import read_json
    >>> read_json('{"mean": 0.25}', "scores.json", "a file of scores", "my command")
    {'mean': 0.25}
    """
    try:
        return json.loads(
            text,
            object_pairs_hook=_object_from_pairs,
            parse_float=_parse_float,
            parse_constant=_refuse_constant,
        )
    except (ValueError, RecursionError) as error:
        reason = str(error).partition("\n")[0]
        message = f"not {kind} ({reason}), expected one made by {maker}"
        raise InputError(source, None, message) from None


def _object_from_pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"{twice[:40]!r} is twice in one object")
    return members


def _parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {text[:40]} is too large")
    return number


def _refuse_constant(text: str) -> Any:
    raise ValueError(f"{text} is not a JSON number")
