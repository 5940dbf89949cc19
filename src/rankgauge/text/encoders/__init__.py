"""Encoders: networks such as BERT that give each token of a text a vector, from a local folder.

The folder has the layout of Hugging Face: config.json, tokenizer.json and model.safetensors. NumPy
computes the vectors; no code of the folder is run, and neither torch nor transformers is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.text.encoders.encoder import Encoder
    from rankgauge.text.encoders.folder import NoEncoderError, find_encoder
    from rankgauge.text.metrics.embedding import AnyEncoder, current_encoder

__all__ = [
    "AnyEncoder",
    "Encoder",
    "NoEncoderError",
    "current_encoder",
    "find_encoder",
]

_HOMES = {
    "AnyEncoder": "rankgauge.text.metrics.embedding",
    "Encoder": "rankgauge.text.encoders.encoder",
    "NoEncoderError": "rankgauge.text.encoders.folder",
    "current_encoder": "rankgauge.text.metrics.embedding",
    "find_encoder": "rankgauge.text.encoders.folder",
}

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
