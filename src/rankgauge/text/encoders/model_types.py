"""What each type of model calls its sizes in config.json, and its tensors."""

from __future__ import annotations

from dataclasses import replace

from rankgauge.core.records import Record

WORDS = "embeddings.word_embeddings.weight"
POSITIONS = "embeddings.position_embeddings.weight"
TOKEN_TYPES = "embeddings.token_type_embeddings.weight"
EMBEDDING_NORM = "embeddings.LayerNorm"


class ModelType(Record):
    """A type of model, and how its files differ from other types.

    The fields are the keys of config.json, the names of the tensors of a layer, and what is
    particular about the type.
    """

    width: str = "hidden_size"
    layers: str = "num_hidden_layers"
    heads: str = "num_attention_heads"
    inner: str = "intermediate_size"
    activation: str = "hidden_act"

    layer: str = "encoder.layer.{}."
    query: str = "attention.self.query"
    key: str = "attention.self.key"
    value: str = "attention.self.value"
    attended: str = "attention.output.dense"
    attention_norm: str = "attention.output.LayerNorm"
    inner_dense: str = "intermediate.dense"
    output_dense: str = "output.dense"
    output_norm: str = "output.LayerNorm"

    token_types: bool = True
    """Whether the vector that marks the first of two texts is added to every token."""
    after_padding: bool = False
    """Whether positions are counted from the id of the padding token."""
    leading_space: bool = False
    """Whether a text is prefixed with a space to treat its first word like any other."""


BERT = ModelType()
XLM_ROBERTA = replace(BERT, after_padding=True)
ROBERTA = replace(XLM_ROBERTA, leading_space=True)
DISTILBERT = ModelType(
    width="dim",
    layers="n_layers",
    heads="n_heads",
    inner="hidden_dim",
    activation="activation",
    layer="transformer.layer.{}.",
    query="attention.q_lin",
    key="attention.k_lin",
    value="attention.v_lin",
    attended="attention.out_lin",
    attention_norm="sa_layer_norm",
    inner_dense="ffn.lin1",
    output_dense="ffn.lin2",
    output_norm="output_layer_norm",
    token_types=False,
)

MODEL_TYPES = {
    "bert": BERT,
    "roberta": ROBERTA,
    "xlm-roberta": XLM_ROBERTA,
    "distilbert": DISTILBERT,
}
"""The types that can be read, by `model_type` in config.json."""
