"""Rankers in folders: JSON, arrays and texts. Reading them runs no code, and checks everything.

`model.json` names the other files, whose names have the digest of their content. It is written last, in
one step, so a folder has the old ranker or the new one at every moment.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import math
import os
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.records import Record
from rankgauge.core.sealing import check_seal, damage_error, read_object, seal
from rankgauge.core.seeds import digest
from rankgauge.data.scaling import Scaling
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.io.files import SIZE_LIMIT, atomic_write, display_name, read_bytes
from rankgauge.io.own_paths import OwnPath
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.rankers.base import REMARKS, Ranker
from rankgauge.rankers.registry import find_method
from rankgauge.scores.validation import shorten
from rankgauge.version import __version__

FORMAT, VERSION = "rankgauge-ranker", 2
DIGEST_VERSION = 1
"""The version of earlier files, which contain a digest of the text instead of a seal."""
MANIFEST = "model.json"
ARRAYS = "arrays"
HISTORY = "history_"
ENTRIES = {
    "format": str,
    "version": int,
    "rankgauge": str,
    "method": str,
    "parameters": dict,
    "scaling": dict,
    "learnt": dict,
    "arrays": dict,
    "files": dict,
}
"""The entries of `model.json` besides its seal, with the type of each."""

TYPES = {str: "a text", int: "a whole number", dict: "an object"}
"""The names of entry types in messages."""

FILE_NAME = re.compile(r"[a-z0-9_]{1,60}-[0-9a-f]{16}\.(npz|txt)")
ATTRIBUTE = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,58}_")
KINDS = ("float64", "float32", "int64", "int32", "bool")
"""The types of numbers in arrays."""

MADE_BY = "expected one made by Ranker.save"
REMEDY = "restore the folder from a backup, or train and save the ranker again"


# Writing


def save(ranker: Ranker, folder: str | os.PathLike[str]) -> None:
    """Implementation of `Ranker.save`."""
    learned, arrays, texts = {}, {}, {}
    for name, value in sorted(ranker.learnt().items()):
        if isinstance(value, np.ndarray):
            arrays[name] = _array(ranker, name, value)
        elif isinstance(value, str):
            texts[name] = value.encode()
        elif name == HISTORY:
            learned[name] = _encode_history(ranker)
        elif name != "scaling_":
            learned[name] = value
    contents = {name: (text, "txt") for name, text in texts.items()}
    if arrays:
        contents[ARRAYS] = _npz(arrays), "npz"
    files = {
        name: {"file": _file_name(name, content, ending), "bytes": len(content)}
        for name, (content, ending) in contents.items()
    }
    document = {
        "format": FORMAT,
        "version": VERSION,
        "rankgauge": __version__,
        "method": type(ranker).__name__,
        "parameters": {key: _to_json_value(value) for key, value in ranker.get_params().items()},
        "scaling": ranker.scaling_.to_dict(),
        "learnt": learned,
        "arrays": {
            name: {"type": str(value.dtype), "shape": list(value.shape)}
            for name, value in arrays.items()
        },
        "files": files,
    }
    try:
        manifest = _json(seal(document))
    except (TypeError, ValueError) as error:
        message = f"{type(ranker).__name__} cannot be saved: {error}"
        raise RankgaugeError(message) from None
    own = _prepare(folder)
    for name, (content, _) in contents.items():
        with atomic_write(own / str(files[name]["file"])) as stream:
            stream.write(content)
    with atomic_write(own / MANIFEST) as stream:
        stream.write(manifest)
    _remove_others(folder, {str(file["file"]) for file in files.values()})


def _array(ranker: Ranker, name: str, value: NDArray[Any]) -> NDArray[Any]:
    if str(value.dtype) not in KINDS or not np.isfinite(value).all():
        raise RankgaugeError(
            f"{type(ranker).__name__} cannot be saved: {name} has numbers that are not finite "
            f"or have type {value.dtype}; expected finite numbers of type {', '.join(KINDS)}"
        )
    return np.ascontiguousarray(value)


def _encode_history(ranker: Ranker) -> dict[str, list[float | None]]:
    """The history as JSON has it: null for NaN, which a measure is where it is undefined."""
    try:
        columns = {name: _to_json_value(values) for name, values in ranker.history_.items()}
        check_history(columns)
    except (RankgaugeError, AttributeError) as error:
        raise RankgaugeError(f"{type(ranker).__name__} cannot be saved: {error}") from None
    return {
        name: [None if math.isnan(value) else value for value in values]
        for name, values in columns.items()
    }


def _decode_history(history: Any) -> Any:
    """The history with NaN for null. What is not a history stays as it is, for `check_history`."""
    if not isinstance(history, dict):
        return history
    return {
        name: [math.nan if value is None else value for value in values]
        if isinstance(values, list)
        else values
        for name, values in history.items()
    }


def _npz(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """The file that np.savez writes; its allow_pickle is an array of this name for NumPy 2.0."""
    import zipfile

    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w") as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
    return stream.getvalue()


def _to_json_value(value: Any) -> Any:
    """The value of a setting as JSON has it: a measure as text, a map as pairs."""
    if isinstance(value, Measure | Aggregate):
        return str(value)
    if isinstance(value, Mapping):
        return [[_to_json_value(key), _to_json_value(worth)] for key, worth in value.items()]
    if isinstance(value, list | tuple):
        return [_to_json_value(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _json(document: Mapping[str, Any], *, sort_keys: bool = False) -> bytes:
    import json

    return (json.dumps(document, allow_nan=False, sort_keys=sort_keys, indent=1) + "\n").encode()


def _file_name(name: str, content: bytes, ending: str) -> str:
    return f"{name.strip('_').lower()}-{digest(content, size=8).hex()}.{ending}"


def _prepare(folder: str | os.PathLike[str]) -> OwnPath:
    """The folder, made. InputError where it cannot be made, or where model.json is something else."""
    own = OwnPath(folder).make()
    path = own / MANIFEST
    if path.exists():
        try:
            entries = read_object(path, "a ranker", "Ranker.save")
        except InputError:
            entries = None
        if entries is None or entries.get("format") != FORMAT:
            message = (
                "the folder contains another kind of file; choose another folder for the ranker"
            )
            raise InputError(display_name(path), None, message)
    return own


def _remove_others(folder: str | os.PathLike[str], kept: set[str]) -> None:
    """Remove the files of a ranker that was here before."""
    for name in os.listdir(folder):
        if FILE_NAME.fullmatch(name) and name not in kept:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(folder, name))


# Reading


def load(folder: str | os.PathLike[str], *, size_limit: int = SIZE_LIMIT) -> Ranker:
    """Read a ranker from a folder written by `Ranker.save`.

    No code in the folder is run. A method that is not part of rankgauge must be registered before
    its ranker is loaded.

    Parameters
    ----------
    folder : str or path-like
        The folder.
    size_limit : int, default 8 GiB
        The largest allowed size of a file, in bytes.

    Returns
    -------
    Ranker
        The fitted ranker.

    Raises
    ------
    InputError
        If the folder has no ranker, or if a file in it is damaged or does not fit the others.

    Examples
    --------
    >>> import tempfile
    >>> from rankgauge.rankers import LogisticRegression
    >>> from rankgauge.rankers.checks import make_features
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     LogisticRegression(C=0.5).fit(make_features(40)).save(folder)
    ...     load(folder)
    LogisticRegression(C=0.5)
    """
    path = OwnPath(folder) / MANIFEST
    source = display_name(path)
    document = _check_entries(
        read_object(path, "a ranker", "Ranker.save", limit=size_limit), source
    )
    saved = _SavedFiles(OwnPath(folder), source, document["files"], size_limit)
    try:
        method = find_method(document["method"])
        ranker = method(**document["parameters"])
        ranker.settings()
    except (RankgaugeError, TypeError) as error:
        raise InputError(source, None, f"{error}") from None
    state = {**document["learnt"], **saved.texts(), **saved.arrays(document["arrays"])}
    for name, value in state.items():
        if not ATTRIBUTE.fullmatch(name) or _is_defined(method, name):
            raise InputError(
                source, None, f"{shorten(name)} is not an attribute of a ranker, {MADE_BY}"
            )
        setattr(ranker, name, value)
    try:
        ranker.scaling_ = Scaling.from_dict(document["scaling"])
        ranker.history_ = _decode_history(ranker.history_)
        _check_common(ranker)
        ranker.check_learnt()
    except (RankgaugeError, AttributeError, KeyError, TypeError, ValueError) as error:
        message = error.message if isinstance(error, InputError) else str(error)
        raise InputError(source, None, f"not a complete ranker ({message}), {MADE_BY}") from None
    return ranker


def _is_defined(method: type[Ranker], name: str) -> bool:
    """Whether the class has a method or a property of this name, which an attribute would hide."""
    defined = inspect.getattr_static(method, name, None)
    return callable(defined) or hasattr(type(defined), "__get__")


def _check_entries(entries: dict[str, Any], source: str) -> dict[str, Any]:
    """The entries of model.json, after a check of their types, the version and the seal."""
    if entries.get("format") != FORMAT:
        raise InputError(source, None, f"not a ranker (its format is not {FORMAT}), {MADE_BY}")
    version = entries.get("version")
    if version not in (DIGEST_VERSION, VERSION):
        message = f"version {shorten(version)}, expected {VERSION} (update rankgauge)"
        raise InputError(source, None, message)
    if version == VERSION:
        entries = check_seal(entries, source, REMEDY)
    else:
        stated = entries.pop("digest", None)
        if stated != digest(_json(entries, sort_keys=True), size=16).hex():
            raise damage_error(source, REMEDY)
    if entries.keys() != ENTRIES.keys():
        wrong = ", ".join(sorted(map(shorten, entries.keys() ^ ENTRIES.keys()))[:5])
        raise InputError(source, None, f"entries are missing or unknown: {wrong}, {MADE_BY}")
    for name, kind in ENTRIES.items():
        if type(entries[name]) is not kind:
            wrong = f"{name} is {shorten(entries[name])}, not {TYPES[kind]}"
            message = f"not a complete ranker ({wrong}), {MADE_BY}"
            raise InputError(source, None, message)
    return entries


class _SavedFiles(Record):
    """The files of a saved ranker that model.json (`source`) names, each of at most `limit` bytes."""

    folder: OwnPath
    source: str
    files: dict[str, Any]
    limit: int

    def content(self, name: str) -> bytes:
        """The content of the file that is named for this part of the ranker."""
        entry = self.files[name]
        file = entry.get("file") if isinstance(entry, dict) else None
        if not isinstance(file, str) or not FILE_NAME.fullmatch(file):
            message = f"{shorten(file)} is not a file of a ranker, {MADE_BY}"
            raise InputError(self.source, None, message)
        path = self.folder / file
        content = read_bytes(path, limit=self.limit)
        if len(content) != entry.get("bytes") or _file_name(name, content, file[-3:]) != file:
            raise damage_error(display_name(path), REMEDY)
        return content

    def texts(self) -> dict[str, str]:
        """The texts by name."""
        texts = {}
        for name in self.files:
            if name != ARRAYS:
                try:
                    texts[name] = self.content(name).decode()
                except UnicodeDecodeError:
                    message = f"{shorten(name)} is not text, {MADE_BY}"
                    raise InputError(self.source, None, message) from None
        return texts

    def arrays(self, declared: dict[str, Any]) -> dict[str, NDArray[Any]]:
        """The arrays: as many, of such types and shapes, as are declared, and all numbers finite."""
        if not declared and ARRAYS not in self.files:
            return {}
        import zipfile

        if ARRAYS not in self.files:
            raise InputError(self.source, None, f"not a file of arrays, {MADE_BY}")
        content = self.content(ARRAYS)
        arrays = {}
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                if sorted(archive.namelist()) != sorted(f"{name}.npy" for name in declared):
                    raise ValueError("the arrays differ from those that model.json names")
                for name, entry in declared.items():
                    kind, shape = _parse_array_entry(entry)
                    size = kind.itemsize * int(np.prod(shape, dtype=object))
                    if size > self.limit:
                        raise ValueError(f"{name} has more than {self.limit:,} bytes")
                    with archive.open(f"{name}.npy") as stream:
                        raw = stream.read(size + 4096)
                    arrays[name] = _npy(raw, kind, shape)
        except (
            ValueError,
            zipfile.BadZipFile,
            NotImplementedError,
            RuntimeError,
            EOFError,
        ) as error:
            reason = str(error).partition("\n")[0]
            message = f"the arrays cannot be read ({reason}), {MADE_BY}"
            raise InputError(self.source, None, message) from None
        return arrays


def _parse_array_entry(entry: Any) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The type and shape of an array, as model.json says."""
    kind, shape = (entry.get("type"), entry.get("shape")) if isinstance(entry, dict) else (0, 0)
    if kind not in KINDS or not isinstance(shape, list) or len(shape) > 3:
        raise ValueError("an array has an unknown type or shape")
    if not all(type(length) is int and 0 <= length < 2**40 for length in shape):
        raise ValueError("an array has an unknown shape")
    return np.dtype(str(kind)), tuple(shape)


def _npy(raw: bytes, kind: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    """The array in the content of an .npy file, which must have this type and shape."""
    stream = io.BytesIO(raw)
    if np.lib.format.read_magic(stream) != (1, 0):
        raise ValueError("an array of a different version")
    stored, by_column, dtype = np.lib.format.read_array_header_1_0(stream, max_header_size=2048)
    if (stored, dtype) != (shape, kind) or (by_column and len(shape) > 1):
        raise ValueError("the type or shape of an array differs from model.json")
    body = raw[stream.tell() :]
    if len(body) != kind.itemsize * int(np.prod(shape, dtype=object)):
        raise ValueError("the size of an array does not match its shape")
    array = np.frombuffer(body, dtype=kind).reshape(shape).copy()
    if not np.isfinite(array).all():
        raise ValueError("an array contains numbers that are not finite")
    return array


def _check_common(ranker: Ranker) -> None:
    """What every ranker has learned."""
    width, importances = ranker.n_features_in_, ranker.feature_importances_
    if type(width) is not int or width < 1:
        raise RankgaugeError("n_features_in_ is not a number of features")
    check_array(ranker, "feature_importances_", (width,))
    if (importances < 0).any():
        raise RankgaugeError("an importance of a feature is below 0")
    scaling = ranker.scaling_
    if scaling.learns and (scaling.center is None or len(scaling.center) != width):
        raise RankgaugeError("the normalization has no number for some feature")
    check_history(ranker.history_)
    remarks = vars(ranker).setdefault("remarks_", [])  # earlier versions have none
    if not isinstance(remarks, list) or not all(remark in REMARKS for remark in remarks):
        raise RankgaugeError("remarks_ is not a list of remarks")


def check_history(history: Any) -> None:
    """RankgaugeError where a history is not a column of numbers by name, all of one length."""
    if not isinstance(history, dict) or not all(
        isinstance(name, str)
        and isinstance(values, list)
        and all(type(value) in (int, float) for value in values)
        for name, values in history.items()
    ):
        raise RankgaugeError("history_ is not a list of numbers by name")
    if len({len(values) for values in history.values()}) > 1:
        raise RankgaugeError("the lists of history_ differ in length")


def check_array(ranker: Ranker, name: str, shape: tuple[int, ...]) -> None:
    """RankgaugeError where an attribute is not an array of doubles of this shape."""
    value = getattr(ranker, name, None)
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or value.shape != shape:
        raise RankgaugeError(f"{name} is not an array of {'×'.join(map(str, shape))} numbers")
