"""Encoders from local folders: networks such as BERT that map each token to a vector.

The folder has the layout of Hugging Face: config.json, tokenizer.json and model.safetensors. NumPy
computes the vectors; no code of the folder is run, and neither torch nor transformers is needed.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
