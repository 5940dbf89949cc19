"""The weights of an encoder, from a safetensors file: 8 bytes with the length of the header, the header
in JSON with the type, shape and place of each tensor, then the numbers.

The header is checked before anything is allocated, so no more memory is taken than the file has numbers.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.notes import counted
from rankgauge.core.records import Record
from rankgauge.errors import InputError

Floats32: TypeAlias = NDArray[np.float32]

MOST_HEADER = 8_000_000
"""How many bytes a header may have. The header of a model with 48 layers has 100,000."""
MOST_DIMENSIONS = 8

BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2"), 1),
    **dict.fromkeys(("I16", "U16", "F16", "BF16"), 2),
    **dict.fromkeys(("I32", "U32", "F32"), 4),
    **dict.fromkeys(("I64", "U64", "F64"), 8),
}
"""How many bytes a number of each type has."""

READ = {"F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""The types that weights may have, as they are read."""

COPY = "copy the file again, or convert the model again"


class Tensor(Record):
    """Where a tensor is: its type, its shape, and where its bytes begin and end after the header."""

    kind: str
    shape: tuple[int, ...]
    begin: int
    end: int


class TensorFile:
    """The tensors of a safetensors file, each read when it is asked for."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._tensors, self._start = _read_header(file)
        self._prefix = ""

    def start_names_at(self, name: str) -> None:
        """Let the name of this tensor be how its full name ends. What precedes it, such as `bert.`,
        precedes all names."""
        before = [full[: -len(name)] for full in self._tensors if f".{full}".endswith(f".{name}")]
        if len(before) != 1:
            there = "no tensor" if not before else counted(len(before), "tensor")
            raise self._refusal(
                f"{there} named {name}, expected one; is this another kind of model?"
            )
        self._prefix = before[0]

    def read(self, name: str, shape: tuple[int, ...]) -> Floats32:
        """The tensor of this name as float32; InputError unless it has this shape and only numbers."""
        tensor = self._tensor(name)
        full = self._prefix + name
        if tensor.shape != shape:
            has, wanted = _written(tensor.shape), _written(shape)
            raise self._refusal(
                f"the tensor {full} has the shape {has}, but config.json says {wanted}; take "
                "config.json and the weights from the same model"
            )
        if tensor.kind not in READ:
            raise self._refusal(
                f"the tensor {full} has numbers of type {tensor.kind}, expected one of "
                f"{', '.join(READ)}; save the model with one of these types"
            )
        values = self._values(tensor, full)
        if not np.isfinite(values).all():
            raise self._refusal(f"the tensor {full} has values that are no finite numbers; {COPY}")
        return values

    def _tensor(self, name: str) -> Tensor:
        for spelling in (name, _older(name)):
            if self._prefix + spelling in self._tensors:
                return self._tensors[self._prefix + spelling]
        raise self._refusal(
            f"there is no tensor {self._prefix}{name}, which config.json calls for; take config.json "
            "and the weights from the same model"
        )

    def _values(self, tensor: Tensor, name: str) -> Floats32:
        kind = np.dtype(READ[tensor.kind])
        count = math.prod(tensor.shape)
        try:
            with self.file.open("rb") as stream:
                stream.seek(self._start + tensor.begin)
                numbers = np.fromfile(stream, kind, count)
        except OSError as error:
            raise self._refusal(f"cannot be read ({error.strerror}); {COPY}") from None
        if len(numbers) < count:
            raise self._refusal(f"the file ends within the tensor {name}; {COPY}")
        if tensor.kind == "BF16":  # the upper half of a float32
            numbers = (numbers.astype(np.uint32) << 16).view(np.float32)
        return numbers.astype(np.float32, copy=False).reshape(tensor.shape)

    def _refusal(self, fault: str) -> InputError:
        return InputError(str(self.file), None, fault)


def _older(name: str) -> str:
    """The name of a tensor in models saved long ago."""
    return name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
        "LayerNorm.bias", "LayerNorm.beta"
    )


def _written(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "of a single number"


def _read_header(file: Path) -> tuple[dict[str, Tensor], int]:
    """The tensors by name, and where their numbers start."""
    from rankgauge.io.json_text import parsed_object

    def refusal(fault: str) -> InputError:
        return InputError(str(file), None, fault)

    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            length = int.from_bytes(stream.read(8), "little")
            if size < 8 or length > size - 8:
                raise refusal(
                    f"the header should have {counted(length, 'byte')}, but the file has "
                    f"{counted(size, 'byte')}; it is no safetensors file, or it is cut off; {COPY}"
                )
            if length > MOST_HEADER:
                raise refusal(
                    f"the header has {counted(length, 'byte')}, expected at most {MOST_HEADER:,}"
                )
            header = stream.read(length)
    except OSError as error:
        raise refusal(f"cannot be read ({error.strerror}), expected a safetensors file") from None
    try:
        described = parsed_object(header, str(file), 1)
    except InputError as error:
        raise refusal(f"the header is {error.message}; it is no safetensors file") from None
    described.pop("__metadata__", None)
    tensors = {}
    for name, entry in described.items():
        tensor = _tensor(entry)
        if isinstance(tensor, str):
            raise refusal(f"the tensor {name[:80]!r}: {tensor}; {COPY}")
        tensors[name] = tensor
    if fault := _misplaced(tensors, size - 8 - length):
        raise refusal(f"{fault}; {COPY}")
    return tensors, 8 + length


def _tensor(entry: object) -> Tensor | str:
    """A tensor as the header describes it, or what is wrong with it."""
    if not isinstance(entry, dict):
        return "no description, expected an object with dtype, shape and data_offsets"
    kind = entry.get("dtype")
    shape, place = (_sizes(entry.get(key)) for key in ("shape", "data_offsets"))
    if not isinstance(kind, str):
        return "dtype is no text, expected a type such as F32"
    if shape is None or len(shape) > MOST_DIMENSIONS:
        return f"shape is no list of at most {MOST_DIMENSIONS} whole numbers"
    if place is None or len(place) != 2 or place[0] > place[1]:
        return "data_offsets is no pair of whole numbers, the smaller one first"
    taken, needed = place[1] - place[0], math.prod(shape) * BYTES.get(kind, 0)
    if kind in BYTES and taken != needed:
        return f"it has {counted(taken, 'byte')}, but its shape and type need {needed:,}"
    return Tensor(kind, shape, place[0], place[1])


def _sizes(value: object) -> tuple[int, ...] | None:
    """The numbers of a list, None unless all are whole numbers that a file could have."""
    if not isinstance(value, list):
        return None
    sizes = tuple(each for each in value if type(each) is int and 0 <= each < 2**48)
    return sizes if len(sizes) == len(value) else None


def _misplaced(tensors: dict[str, Tensor], size: int) -> str | None:
    """What is wrong with the places of tensors in a file that has so many bytes for them."""
    end = 0
    for name, tensor in sorted(tensors.items(), key=lambda each: (each[1].begin, each[1].end)):
        if tensor.begin < end:
            return f"the tensor {name[:80]!r} overlaps another one"
        if tensor.end > size:
            return f"the tensor {name[:80]!r} ends after the end of the file, which is cut off"
        end = tensor.end
    return None
