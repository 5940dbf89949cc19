"""The weights of an encoder, read from a safetensors file by the package safetensors.

The package checks the header before anything is allocated, so no more memory is taken than the file has
numbers.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.notes import count_phrase
from rankgauge.errors import InputError, missing_package

Floats32: TypeAlias = NDArray[np.float32]

READABLE_TYPES = ("F32", "F16", "BF16")
"""The supported types of weights."""

COPY_REMEDY = "copy the file again, or convert the model again"


class TensorFile:
    """The tensors of a safetensors file, each read when it is asked for."""

    def __init__(self, file: Path) -> None:
        try:
            from safetensors import SafetensorError, safe_open
        except ImportError:
            error = missing_package("safetensors", "text")
            raise InputError(str(file), None, str(error)) from None
        self.file = file
        try:
            self._tensors: Any = safe_open(str(file), framework="numpy")
        except (SafetensorError, OSError) as error:
            reason = " ".join(str(error).split())[:200]
            raise self._input_error(
                f"cannot be read ({reason}), expected a safetensors file; {COPY_REMEDY}"
            ) from None
        self._names = frozenset(self._tensors.keys())
        self._prefix = ""

    def find_prefix(self, name: str) -> None:
        """Let the name of this tensor be how its full name ends.

        What precedes it, such as `bert.`, precedes all names.
        """
        before = [full[: -len(name)] for full in self._names if f".{full}".endswith(f".{name}")]
        if len(before) != 1:
            there = "no tensor" if not before else count_phrase(len(before), "tensor")
            raise self._input_error(
                f"{there} named {name}, expected one; is this another kind of model?"
            )
        self._prefix = before[0]

    def read(self, name: str, shape: tuple[int, ...]) -> Floats32:
        """The tensor of this name as float32; InputError unless it has this shape and only numbers."""
        full = self._full_name(name)
        tensor = self._tensors.get_slice(full)
        has, kind = tuple(tensor.get_shape()), tensor.get_dtype()
        if has != shape:
            raise self._input_error(
                f"the tensor {full} has the shape {_format_shape(has)}, but config.json says "
                f"{_format_shape(shape)}; use config.json and the weights from the same model"
            )
        if kind not in READABLE_TYPES:
            raise self._input_error(
                f"the tensor {full} has numbers of type {kind}, expected one of "
                f"{', '.join(READABLE_TYPES)}; "
                "save the model with one of these types"
            )
        values = self._bfloat16_tensors[full] if kind == "BF16" else self._tensors.get_tensor(full)
        if not np.isfinite(values).all():
            raise self._input_error(
                f"the tensor {full} has values that are not finite; {COPY_REMEDY}"
            )
        return np.asarray(values, dtype=np.float32)

    def _full_name(self, name: str) -> str:
        older = name.replace("LayerNorm.weight", "LayerNorm.gamma")  # in models saved long ago
        older = older.replace("LayerNorm.bias", "LayerNorm.beta")
        for spelling in (name, older):
            if self._prefix + spelling in self._names:
                return self._prefix + spelling
        raise self._input_error(
            f"there is no tensor {self._prefix}{name}, which config.json calls for; take config.json "
            "and the weights from the same model"
        )

    @cached_property
    def _bfloat16_tensors(self) -> dict[str, Floats32]:
        """Return the tensors of bfloat16 numbers, converted to float32.

        NumPy does not know bfloat16. Each number is the upper half of a float32.
        """
        from safetensors import deserialize

        return {
            name: (np.frombuffer(tensor["data"], "<u2").astype(np.uint32) << 16)
            .view(np.float32)
            .reshape(tensor["shape"])
            for name, tensor in deserialize(self.file.read_bytes())
            if tensor["dtype"] == "BF16"
        }

    def _input_error(self, fault: str) -> InputError:
        return InputError(str(self.file), None, fault)


def _format_shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "of a single number"
