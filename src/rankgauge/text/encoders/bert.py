"""The network of BERT, RoBERTa and DistilBERT, in NumPy and float32.

One text is computed at a time. Several at once would not be quicker, and so the vectors of a text do not
depend on the other texts, not even in the last bit. The number of threads of the linear algebra library
may change them by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.core.records import Record
from rankgauge.text.encoders.activations import ACTIVATIONS
from rankgauge.text.encoders.config import Config
from rankgauge.text.encoders.model_types import EMBEDDING_NORM, POSITIONS, TOKEN_TYPES, WORDS
from rankgauge.text.encoders.weights import Floats32, TensorFile


class Dense(Record):
    """A linear map with a constant."""

    matrix: Floats32
    bias: Floats32

    def __call__(self, x: Floats32) -> Floats32:
        y: Floats32 = x @ self.matrix
        y += self.bias
        return y


class Norm(Record):
    """Brings each row to mean 0 and variance 1, then scales and shifts it."""

    scale: Floats32
    shift: Floats32
    epsilon: np.float32

    def __call__(self, x: Floats32) -> Floats32:
        """The normalized rows; x is overwritten."""
        x -= x.mean(axis=1, keepdims=True)
        variance = np.einsum("ij,ij->i", x, x) / np.float32(x.shape[1])
        x *= (1 / np.sqrt(variance + self.epsilon))[:, None]
        x *= self.scale
        x += self.shift
        return x


class Layer(Record):
    """The weights of a layer."""

    projection: Dense
    """Query, key and value, concatenated."""
    attended: Dense
    attention_norm: Norm
    inner: Dense
    output: Dense
    output_norm: Norm


class BertNetwork:
    """The network: the states of each layer for the tokens of a text."""

    def __init__(self, config: Config, weights: TensorFile) -> None:
        self.config = config
        weights.find_prefix(WORDS)
        self._words = weights.read(WORDS, (config.vocabulary, config.width))
        self._positions = weights.read(POSITIONS, (config.positions, config.width))
        if config.token_types:
            types = weights.read(TOKEN_TYPES, (config.token_types, config.width))
            self._positions += types[0]
        self._norm = _read_norm(config, weights, EMBEDDING_NORM)
        self._layers = [_read_layer(config, weights, number) for number in range(config.layers)]
        self._activate = ACTIVATIONS[config.activation]

    def states(self, ids: Ints, layers: Sequence[int]) -> tuple[Floats32, ...]:
        """The states, token × width, of each of these layers. Layer 0 is what the first layer gets."""
        x = self._embed(ids)
        kept = {0: x}
        for number, layer in enumerate(self._layers[: max(layers, default=0)], start=1):
            x, _ = self._apply_layer(layer, x)
            if number in layers:
                kept[number] = x
        return tuple(kept[layer] for layer in layers)

    def attention(self, ids: Ints) -> Floats32:
        """How much each token attends to each token in the last layer, averaged over the heads."""
        x = self._embed(ids)
        for layer in self._layers:
            x, weights = self._apply_layer(layer, x)
        mean: Floats32 = weights.mean(axis=0)
        return mean

    def _embed(self, ids: Ints) -> Floats32:
        if self.config.type.after_padding:
            # A padding token in the text itself takes the position of padding, and does not count.
            counted = ids != self.config.padding
            places = np.cumsum(counted) * counted + self.config.padding
        else:
            places = np.arange(len(ids))
        return self._norm(self._words[ids] + self._positions[places])

    def _apply_layer(self, layer: Layer, x: Floats32) -> tuple[Floats32, Floats32]:
        """The states after a layer, and the attention in it: head × token × token."""
        length, width = x.shape
        parts = layer.projection(x).reshape(length, 3, self.config.heads, -1)
        query, key, value = parts.transpose(1, 2, 0, 3)
        weights: Floats32 = query @ key.transpose(0, 2, 1)
        weights -= weights.max(axis=2, keepdims=True)
        np.exp(weights, out=weights)
        weights /= weights.sum(axis=2, keepdims=True)
        y = layer.attended((weights @ value).transpose(1, 0, 2).reshape(length, width))
        y += x
        y = layer.attention_norm(y)
        z = layer.output(self._activate(layer.inner(y)))
        z += y
        return layer.output_norm(z), weights


def _read_norm(config: Config, weights: TensorFile, name: str) -> Norm:
    scale, shift = (weights.read(f"{name}.{part}", (config.width,)) for part in ("weight", "bias"))
    return Norm(scale, shift, np.float32(config.epsilon))


def _read_layer(config: Config, weights: TensorFile, number: int) -> Layer:
    names, width, inner = config.type, config.width, config.inner
    start = names.layer.format(number)

    def dense(name: str, inputs: int, outputs: int) -> Dense:
        matrix = weights.read(f"{start}{name}.weight", (outputs, inputs))
        return Dense(
            np.ascontiguousarray(matrix.T), weights.read(f"{start}{name}.bias", (outputs,))
        )

    query, key, value = (
        dense(name, width, width) for name in (names.query, names.key, names.value)
    )
    # Scores are divided by the root of a head's width: the queries are, beforehand.
    scale = np.float32(1 / np.sqrt(width // config.heads))
    query = Dense(query.matrix * scale, query.bias * scale)
    return Layer(
        projection=Dense(
            np.concatenate([query.matrix, key.matrix, value.matrix], axis=1),
            np.concatenate([query.bias, key.bias, value.bias]),
        ),
        attended=dense(names.attended, width, width),
        attention_norm=_read_norm(config, weights, f"{start}{names.attention_norm}"),
        inner=dense(names.inner_dense, width, inner),
        output=dense(names.output_dense, inner, width),
        output_norm=_read_norm(config, weights, f"{start}{names.output_norm}"),
    )
