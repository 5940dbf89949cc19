"""config.json of an encoder: its type, its sizes, and what is computed differently."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rankgauge.core.checks import Choice, Integer, Kind, Number
from rankgauge.core.records import Record
from rankgauge.errors import InputError, MeasureError
from rankgauge.io.rows import describe_value
from rankgauge.text.encoders.activations import ACTIVATIONS
from rankgauge.text.encoders.folder import read_json
from rankgauge.text.encoders.model_types import MODEL_TYPES, ModelType

ABSENT = object()

UNSUPPORTED = {
    "is_decoder": (False, None),
    "position_embedding_type": ("absolute", None),
    "quantization_config": (None,),
}
"""Options that change what a network computes, with the values that leave it unchanged."""


class Config(Record):
    """The sizes of an encoder, and how it computes."""

    type: ModelType
    vocabulary: int
    width: int
    layers: int
    heads: int
    inner: int
    activation: str
    epsilon: float
    positions: int
    token_types: int
    padding: int

    @property
    def longest(self) -> int:
        """How many tokens a text may have, with the special tokens.

        In some models the vectors of positions begin after the one of the padding token.
        """
        return self.positions - (self.padding + 1 if self.type.after_padding else 0)


def read_config(file: Path) -> Config:
    """The configuration in a file; InputError for a model that cannot be computed here."""
    values = read_json(file)[1]

    def read(key: str, kind: Kind, default: Any = ABSENT) -> Any:
        value = values.get(key, default)
        if value is ABSENT:
            fault = f"{key} is missing, expected {kind.description}"
            raise InputError(str(file), None, f"{fault}. Download config.json of the model again")
        try:
            return kind.check(value)
        except MeasureError:
            fault = f"{key} is {describe_value(value)}, expected {kind.description}"
            raise InputError(
                str(file), None, f"{fault}. Other encoders are not supported"
            ) from None

    model = MODEL_TYPES[read("model_type", Choice(tuple(MODEL_TYPES)))]
    for key, usual in UNSUPPORTED.items():
        if values.get(key) not in usual:
            fault = f"{key} is {describe_value(values[key])}; such models are not supported"
            raise InputError(str(file), None, f"{fault}. Choose another encoder")
    config = Config(
        type=model,
        vocabulary=read("vocab_size", Integer(3)),
        width=read(model.width, Integer(1)),
        layers=read(model.layers, Integer(1)),
        heads=read(model.heads, Integer(1)),
        inner=read(model.inner, Integer(1)),
        activation=read(model.activation, Choice(tuple(ACTIVATIONS)), "gelu"),
        epsilon=read("layer_norm_eps", Number(1e-30, 1), 1e-12),
        positions=read("max_position_embeddings", Integer(3)),
        token_types=read("type_vocab_size", Integer(1), 2) if model.token_types else 0,
        padding=read("pad_token_id", Integer(0), 1) if model.after_padding else 0,
    )
    if config.width % config.heads:
        fault = (
            f"{model.width} is {config.width} and {model.heads} is {config.heads}; expected "
            "the number of heads to divide the width"
        )
        raise InputError(str(file), None, fault)
    if config.longest < 3:
        fault = (
            f"max_position_embeddings allows texts of {config.longest} tokens, expected 3 or more"
        )
        raise InputError(str(file), None, fault)
    return config
