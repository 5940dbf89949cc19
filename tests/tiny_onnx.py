"""ONNX models of the small random encoders, and of single operations. It needs the package onnx."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tiny_encoders
from tiny_encoders import HEADS, LAYERS, WIDTH

pytest.importorskip("onnx", reason="onnx, which makes models for tests, is not installed")

from onnx import ModelProto, TensorProto, ValueInfoProto, helper, numpy_helper

TEXT = ["text", "token"]
OPSET = 17


class Graph:
    """A graph that grows by one operation at a time; a value is known by its name."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[TensorProto] = []

    def constant(self, values: Any) -> str:
        name = f"constant{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, operation: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        output = name or f"value{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    def model(
        self,
        outputs: Sequence[str | ValueInfoProto],
        inputs: Sequence[str | ValueInfoProto] = ("input_ids", "attention_mask"),
    ) -> ModelProto:
        asked = [integers(each) if isinstance(each, str) else each for each in inputs]
        given = [floats(each) if isinstance(each, str) else each for each in outputs]
        graph = helper.make_graph(self.nodes, "graph", asked, given, self.constants)
        versions = [helper.make_opsetid("", OPSET), helper.make_opsetid("elsewhere", 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=8)


def integers(name: str, shape: Sequence[Any] = TEXT, kind: int = TensorProto.INT64) -> Any:
    return helper.make_tensor_value_info(name, kind, shape)


def floats(name: str, kind: int = TensorProto.FLOAT) -> Any:
    return helper.make_tensor_value_info(name, kind, None)


def bert(graph: Graph, model_type: str = "bert", seed: int = 1) -> list[str]:
    """The states of each layer of a small encoder, layer 0 first, as operations of a graph."""
    weights = tiny_encoders.tensors(model_type, seed)

    def dense(x: str, name: str) -> str:
        matrix = graph.constant(weights[f"{name}.weight"].T.copy())
        return graph.add(
            "Add", graph.add("MatMul", x, matrix), graph.constant(weights[f"{name}.bias"])
        )

    def norm(x: str, name: str) -> str:
        scale, shift = (graph.constant(weights[f"{name}.{part}"]) for part in ("weight", "bias"))
        return graph.add("LayerNormalization", x, scale, shift, epsilon=1e-5)

    def heads(x: str, order: Sequence[int]) -> str:
        shape = graph.constant([0, 0, HEADS, WIDTH // HEADS])
        return graph.add("Transpose", graph.add("Reshape", x, shape), perm=order)

    def gelu(x: str) -> str:
        erf = graph.add("Erf", graph.add("Mul", x, graph.constant(np.float32(np.sqrt(0.5)))))
        share = graph.add("Add", erf, graph.constant(np.float32(1)))
        return graph.add("Mul", graph.add("Mul", x, share), graph.constant(np.float32(0.5)))

    def vectors(kind: str, ids: str) -> str:
        return graph.add("Gather", graph.constant(weights[f"embeddings.{kind}.weight"]), ids)

    places = graph.add("CumSum", "attention_mask", graph.constant(1))
    # BERT counts positions from 0, RoBERTa from the padding token, which is 1, onwards.
    first = graph.constant(-1 if model_type == "bert" else 1)
    x = graph.add(
        "Add",
        vectors("word_embeddings", "input_ids"),
        vectors("position_embeddings", graph.add("Add", places, first)),
    )
    types = graph.constant(weights["embeddings.token_type_embeddings.weight"][0])
    states = [norm(graph.add("Add", x, types), "embeddings.LayerNorm")]
    for number in range(LAYERS):
        x, layer = states[-1], f"encoder.layer.{number}"
        own = f"{layer}.attention.self"
        query, value = (
            heads(dense(x, f"{own}.{name}"), [0, 2, 1, 3]) for name in ("query", "value")
        )
        key = heads(dense(x, f"{own}.key"), [0, 2, 3, 1])
        scale = graph.constant(np.float32(np.sqrt(WIDTH // HEADS)))
        scores = graph.add("Div", graph.add("MatMul", query, key), scale)
        attended = graph.add("MatMul", graph.add("Softmax", scores, axis=-1), value)
        attended = graph.add("Transpose", attended, perm=[0, 2, 1, 3])
        attended = graph.add("Reshape", attended, graph.constant([0, 0, WIDTH]))
        y = graph.add("Add", dense(attended, f"{layer}.attention.output.dense"), x)
        y = norm(y, f"{layer}.attention.output.LayerNorm")
        z = dense(gelu(dense(y, f"{layer}.intermediate.dense")), f"{layer}.output.dense")
        states.append(norm(graph.add("Add", z, y), f"{layer}.output.LayerNorm"))
    return states


def encoder(
    names: Sequence[str | None] = (None, None, "last_hidden_state"),
    model_type: str = "bert",
    seed: int = 1,
    kind: int = TensorProto.FLOAT,
) -> ModelProto:
    """The model of a small encoder that gives its layers by these names; those without are not given."""
    graph = Graph()
    states = bert(graph, model_type, seed)
    for state, name in zip(states, names, strict=True):
        if name is not None:
            graph.add("Cast", state, name=name, to=kind)
    return graph.model([floats(name, kind) for name in names if name is not None])


def write(
    folder: Path,
    model: ModelProto | bytes,
    model_type: str = "bert",
    file: str = "model.onnx",
    **changes: Any,
) -> Path:
    """The folder of an encoder with this model; `changes` are for its config.json."""
    tiny_encoders.write(folder, model_type, **changes)
    (folder / "model.safetensors").unlink()
    (folder / file).parent.mkdir(exist_ok=True)
    content = model if isinstance(model, bytes) else model.SerializeToString(deterministic=True)
    (folder / file).write_bytes(content)
    return folder
