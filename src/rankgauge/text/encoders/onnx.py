"""The network of an encoder from an ONNX model, computed by the package onnxruntime.

An ONNX model is a graph of operations, which may do anything with numbers. So the model is not trusted:
it has to bring all its weights, each text has a limited time, and what comes out is checked.

One thread computes. So the vectors do not depend on the number of processors, and no thread waits for
another one if several processes work.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.core.notes import counted
from rankgauge.core.records import Record
from rankgauge.errors import InputError
from rankgauge.text.encoders.config import Config
from rankgauge.text.encoders.weights import Floats32

SECONDS = 30.0
"""How long a text may take, or a window of a long text."""
MOST_BYTES = 2**31 - 1
"""How many bytes a model may have: onnxruntime reads no more from one file."""

VALUES = {"input_ids": None, "attention_mask": 1, "token_type_ids": 0}
"""What a model may ask for, and its value for each token; None stands for the ids."""
INTEGERS = {"tensor(int64)": "int64", "tensor(int32)": "int32"}
"""The types of numbers that a model may ask for."""
FLOATS = ("tensor(float)", "tensor(float16)")
LISTS = tuple(f"seq({kind})" for kind in FLOATS)
"""The types of numbers that a model may give, for one layer and for a list of layers."""

LAST, ALL = "last_hidden_state", "hidden_states"
"""The outputs with the last layer, and with a list of all layers."""
ONE = re.compile(r"hidden_states[._]([0-9]{1,4})")
"""An output with a single layer."""

ELSEWHERE = (b"\x08location", b"\x00location")
"""How a model says that a tensor is in another file, with the last byte of the length before the word. A
length may be followed by bytes that add 0 to it."""

FATAL = 4
"""Errors are raised; onnxruntime is not to print them as well."""

EXPORT = "export the model again, or take a folder with model.safetensors"


class Slot(Record):
    """An input or an output of a model. A size that is not fixed is a name or None."""

    name: str
    type: str
    shape: list[int | str | None]


class OnnxNetwork:
    """The network: the states of those layers that the model gives."""

    def __init__(self, config: Config, file: Path) -> None:
        self.file = file
        self._config = config
        self._library = self._imported()
        self._session, inputs, outputs = self._loaded()
        self._inputs = {each.name: self._type(each) for each in inputs}
        if "input_ids" not in self._inputs:
            raise self._refusal(f"the model does not ask for input_ids, expected it; {EXPORT}")
        self._outputs, self._listed = self._layers(outputs)
        self._check_steady()

    def states(self, ids: Ints, layers: Sequence[int]) -> tuple[Floats32, ...]:
        """The states, token × width, of each of these layers. Layer 0 is what the first layer gets."""
        names = {layer: self._output(layer) for layer in layers}
        asked = list(dict.fromkeys(names.values()))
        given = dict(zip(asked, self._run(asked, ids), strict=True)) if asked else {}
        return tuple(
            self._state(layer, names[layer], given[names[layer]], len(ids)) for layer in layers
        )

    def _output(self, layer: int) -> str:
        """The output that gives a layer: one of its own, or the list of all layers."""
        if layer in self._outputs:
            return self._outputs[layer]
        if self._listed:
            return ALL
        there = ", ".join(map(str, sorted(self._outputs)))[:80]
        raise self._refusal(
            f"the model does not give layer {layer}, expected one of these layers: {there}. Ask for one "
            f"of them, such as bertscore(layer={max(self._outputs)}), or export the model with "
            "output_hidden_states=True"
        )

    def _imported(self) -> Any:
        try:
            import onnxruntime
        except ImportError:
            raise self._refusal(
                "an ONNX model needs the package onnxruntime, which is not installed; run "
                "pip install 'rankgauge[onnx]', or put model.safetensors into the folder"
            ) from None
        return onnxruntime

    def _loaded(self) -> tuple[Any, list[Slot], list[Slot]]:
        """The model as onnxruntime has it, its inputs and its outputs."""
        content = self._content()
        options = self._library.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        # Memory is taken when it is needed, and given back after each text.
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
        options.log_severity_level = FATAL
        options.add_session_config_entry("session.load_model_format", "ONNX")
        try:
            session = self._library.InferenceSession(
                content,
                options,
                providers=["CPUExecutionProvider"],
                enable_fallback=0,
                # It would compute parts of the graph here, where no time limit holds.
                disabled_optimizers=["ConstantFolding"],
            )
            return session, _slots(session.get_inputs()), _slots(session.get_outputs())
        except Exception as error:
            raise self._refusal(
                f"the model cannot be read ({_reason(error)}), expected an ONNX model; {EXPORT}"
            ) from None

    def _content(self) -> bytes:
        try:
            with self.file.open("rb") as stream:
                size = os.fstat(stream.fileno()).st_size
                content = stream.read(size) if size <= MOST_BYTES else b""
        except OSError as error:
            raise self._refusal(f"cannot be read ({error.strerror}); copy it again") from None
        if size > MOST_BYTES:
            raise self._refusal(f"the file has more than {counted(MOST_BYTES, 'byte')}; {EXPORT}")
        if any(mark in content for mark in ELSEWHERE):
            raise self._refusal(
                "the model has weights in another file, which is not read, expected all weights in one "
                f"file; {EXPORT}"
            )
        return content

    def _type(self, asked: Slot) -> str:
        """The type of the numbers of an input; InputError unless it can be given for any text."""
        if asked.name not in VALUES:
            known = ", ".join(VALUES)
            raise self._refusal(
                f"the model asks for {asked.name[:80]!r}, expected only {known}; {EXPORT}"
            )
        if asked.type not in INTEGERS:
            raise self._refusal(
                f"the model asks for {asked.name} of type {asked.type}, expected one of "
                f"{', '.join(INTEGERS)}; {EXPORT}"
            )
        fixed = [size for size in asked.shape if isinstance(size, int)]
        if len(asked.shape) != 2 or isinstance(asked.shape[1], int) or fixed not in ([], [1]):
            raise self._refusal(
                f"the model asks for {asked.name} of the shape {str(asked.shape)[:80]}, expected text × "
                "token, for any number of tokens; export the model with dynamic axes"
            )
        return INTEGERS[asked.type]

    def _layers(self, outputs: Sequence[Slot]) -> tuple[dict[int, str], bool]:
        """The outputs that give one layer, by layer, and whether there is a list of all layers."""
        layers = self._config.layers
        types = {each.name: each.type for each in outputs}
        single = {layers: LAST} if LAST in types else {}
        single |= {int(match[1]): match[0] for match in map(ONE.fullmatch, types) if match}
        listed = ALL in types
        if not single and not listed:
            there = ", ".join(name[:80] for name in list(types)[:8])
            raise self._refusal(
                f"the model gives {there}, expected {LAST}, or {ALL}.0, {ALL}.1 and so on; {EXPORT}"
            )
        if single and max(single) > layers:
            raise self._refusal(
                f"the model gives {single[max(single)]}, but config.json says that it has "
                f"{counted(layers, 'layer')}; take both files from the same model"
            )
        for name in [*single.values(), *([ALL] if listed else [])]:
            known = LISTS if name == ALL else FLOATS
            if types[name] not in known:
                raise self._refusal(
                    f"the model gives {name} of type {types[name]}, expected one of {', '.join(known)}; "
                    f"{EXPORT}"
                )
        return single, listed

    def _check_steady(self) -> None:
        """InputError for a model that draws random numbers."""
        layer = self._config.layers if self._listed else max(self._outputs)
        first, second = (self.states(np.arange(3), [layer])[0] for _ in range(2))
        if not np.allclose(first, second, rtol=0, atol=1e-4, equal_nan=True):
            raise self._refusal(
                "the model gives a text other vectors each time, expected the same; export the model "
                "for inference, or take a folder with model.safetensors"
            )

    def _run(self, names: list[str], ids: Ints) -> list[Any]:
        given = {}
        for name, kind in self._inputs.items():
            value = VALUES[name]
            numbers = ids if value is None else np.full(len(ids), value)
            given[name] = numbers.astype(kind)[None]
        options = self._library.RunOptions()
        options.log_severity_level = FATAL
        timer = threading.Timer(SECONDS, setattr, (options, "terminate", True))
        timer.daemon = True
        timer.start()
        try:
            outputs: list[Any] = self._session.run(names, given, options)
        except Exception as error:
            fault = f"the model cannot be computed ({_reason(error)})"
            if options.terminate:
                fault = f"a text of {len(ids)} tokens takes more than {SECONDS:g} seconds, expected less"
            raise self._refusal(f"{fault}; {EXPORT}") from None
        finally:
            timer.cancel()
        return outputs

    def _state(self, layer: int, name: str, output: Any, tokens: int) -> Floats32:
        """The states of a layer from the output of this name."""
        if name == ALL:
            number = self._config.layers + 1
            if len(output) != number:
                raise self._refusal(
                    f"{name} has {counted(len(output), 'item')}, expected {number}: layer 0, and each "
                    "layer that config.json says; take both files from the same model"
                )
            output = output[layer]
        has, expected = output.shape, (1, tokens, self._config.width)
        if has != expected:
            raise self._refusal(
                f"{name} has the shape {has} for {counted(tokens, 'token')}, expected {expected}; "
                "take config.json and the model from the same place"
            )
        state: Floats32 = output[0].astype(np.float32, copy=False)
        return state

    def _refusal(self, fault: str) -> InputError:
        return InputError(str(self.file), None, fault)


def _slots(described: Sequence[Any]) -> list[Slot]:
    return [Slot(each.name, each.type, list(each.shape)) for each in described]


def _reason(error: Exception) -> str:
    """What onnxruntime says, in one short line."""
    said = re.sub(r"^\[ONNXRuntimeError\] : \d+ : \w+ : ", "", str(error))
    return " ".join(said.split())[:200]
