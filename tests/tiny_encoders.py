"""Small random encoders, written into folders. It needs NumPy alone, so that scripts which make expected
values can use it where rankgauge is not installed."""

from __future__ import annotations

import json
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

WIDTH, INNER, LAYERS, HEADS, POSITIONS = 32, 64, 2, 4, 40

Tensors = dict[str, np.ndarray]

BERT_NAMES = {
    **{f"attention.self.{name}": (WIDTH, WIDTH) for name in ("query", "key", "value")},
    "attention.output.dense": (WIDTH, WIDTH),
    "attention.output.LayerNorm": (WIDTH,),
    "intermediate.dense": (INNER, WIDTH),
    "output.dense": (WIDTH, INNER),
    "output.LayerNorm": (WIDTH,),
}
DISTILBERT_NAMES = {
    **{f"attention.{name}_lin": (WIDTH, WIDTH) for name in ("q", "k", "v", "out")},
    "sa_layer_norm": (WIDTH,),
    "ffn.lin1": (INNER, WIDTH),
    "ffn.lin2": (WIDTH, INNER),
    "output_layer_norm": (WIDTH,),
}

BERT_SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ROBERTA_SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
VOCABULARY = 60


def config(model_type: str, **changes: Any) -> dict[str, Any]:
    """config.json of a small encoder of this type."""
    if model_type == "distilbert":
        sizes = {"dim": WIDTH, "n_layers": LAYERS, "n_heads": HEADS, "hidden_dim": INNER}
        sizes |= {"activation": "gelu", "dropout": 0.0, "attention_dropout": 0.0}
    else:
        sizes = {"hidden_size": WIDTH, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS}
        sizes |= {"intermediate_size": INNER, "hidden_act": "gelu", "layer_norm_eps": 1e-5}
        sizes |= {"type_vocab_size": 1 if "roberta" in model_type else 2}
    padding = 1 if "roberta" in model_type else 0
    return {
        "model_type": model_type,
        "vocab_size": VOCABULARY,
        "max_position_embeddings": POSITIONS,
        "pad_token_id": padding,
        **sizes,
        **changes,
    }


def tensors(model_type: str, seed: int = 1, prefix: str = "") -> Tensors:
    """Random weights of an encoder of this type, large enough for tokens to attend to each other."""
    random = np.random.RandomState(seed)  # its numbers are the same in all versions of NumPy

    def weights(*shape: int) -> np.ndarray:
        return (0.3 * random.standard_normal(shape)).astype(np.float32)

    types = {"bert": 2, "roberta": 1, "xlm-roberta": 1, "distilbert": 0}[model_type]
    made = {"embeddings.word_embeddings.weight": weights(VOCABULARY, WIDTH)}
    made["embeddings.position_embeddings.weight"] = weights(POSITIONS, WIDTH)
    if types:
        made["embeddings.token_type_embeddings.weight"] = weights(types, WIDTH)
    names, start = BERT_NAMES, "encoder"
    if model_type == "distilbert":
        names, start = DISTILBERT_NAMES, "transformer"
    shapes = {"embeddings.LayerNorm": (WIDTH,)}
    for layer in range(LAYERS):
        shapes |= {f"{start}.layer.{layer}.{name}": shape for name, shape in names.items()}
    for name, shape in shapes.items():
        norm = len(shape) == 1
        made[f"{name}.weight"] = weights(*shape) + np.float32(norm)
        made[f"{name}.bias"] = weights(shape[0])
    return {prefix + name: values for name, values in made.items()}


def tokenizer(model_type: str) -> dict[str, Any]:
    """tokenizer.json of an encoder of this type: words of pieces of a letter."""
    byte_level = "roberta" in model_type
    special = ROBERTA_SPECIAL if byte_level else BERT_SPECIAL
    first, last = ("<s>", "</s>") if byte_level else ("[CLS]", "[SEP]")
    letters = list(string.ascii_lowercase)
    if byte_level:
        pieces = [*letters, "Ġ", *(f"Ġ{letter}" for letter in letters)]
        model = {
            "type": "BPE",
            "unk_token": "<unk>",
            "merges": [f"Ġ {letter}" for letter in letters],
        }
        before: dict[str, Any] = {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": True,
            "use_regex": True,
        }
        normalizer = None
        decoder = dict(before)
    else:
        pieces = ["the", "cat", "sat", *letters, *(f"##{letter}" for letter in letters)]
        model = {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
        }
        before = {"type": "BertPreTokenizer"}
        normalizer = {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": True,
            "strip_accents": None,
            "lowercase": True,
        }
        decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    vocabulary = {piece: number for number, piece in enumerate([*special, *pieces])}
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": vocabulary[token], "content": token, **flags, "special": True}
            for token in special
        ],
        "normalizer": normalizer,
        "pre_tokenizer": before,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                {"SpecialToken": {"id": first, "type_id": 0}},
                {"Sequence": {"id": "A", "type_id": 0}},
                {"SpecialToken": {"id": last, "type_id": 0}},
            ],
            "pair": [
                {"Sequence": {"id": "A", "type_id": 0}},
                {"Sequence": {"id": "B", "type_id": 1}},
            ],
            "special_tokens": {
                token: {"id": token, "ids": [vocabulary[token]], "tokens": [token]}
                for token in (first, last)
            },
        },
        "decoder": decoder,
        "model": {**model, "vocab": vocabulary},
    }


KINDS = {"<f4": "F32", "<f2": "F16", "<u2": "BF16", "<i8": "I64", "<f8": "F64"}


def header(values: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The header of a safetensors file of these tensors."""
    made: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, each in values.items():
        begin, end = end, end + each.nbytes
        kind = KINDS[each.dtype.newbyteorder("<").str]
        made[name] = {"dtype": kind, "shape": list(each.shape), "data_offsets": [begin, end]}
    return made


def safetensors(values: Mapping[str, np.ndarray], described: Any = None) -> bytes:
    """A safetensors file of these tensors, with another header if one is given."""
    text = json.dumps(header(values) if described is None else described).encode()
    return len(text).to_bytes(8, "little") + text + b"".join(v.tobytes() for v in values.values())


def bfloat16(values: np.ndarray) -> np.ndarray:
    """The numbers, cut to the upper half of their bits."""
    return (values.view(np.uint32) >> 16).astype("<u2")


def write(folder: Path, model_type: str = "bert", seed: int = 1, **changes: Any) -> Path:
    """The folder of a small random encoder; `changes` are for its config.json."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config(model_type, **changes)))
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer(model_type)))
    (folder / "model.safetensors").write_bytes(safetensors(tensors(model_type, seed)))
    return folder
