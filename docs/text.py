"""Prints the tables of docs/TEXT.md on SummEval, in a few seconds: `python docs/text.py`.

It reads the data from the folder RANKGAUGE_DATA.
"""

from __future__ import annotations

import os
from itertools import combinations
from pathlib import Path

import numpy as np

import rankgauge as rg
from rankgauge import text

EXTRACTIVE = ("M0", "M1", "M2", "M5")
"""Systems of SummEval that copy sentences; the others write."""
METRICS = tuple(f"rouge{kind}(references=first)" for kind in "12L")
READINGS = {
    "the length of the reference": "",
    "the length of the output": ",length=candidate",
    "one drawn summary for each article": ",draws=1",
    "one drawn summary for each output": ",draws=1,per=candidate",
}


def load() -> tuple[text.Texts, text.Ratings]:
    """The texts and ratings of SummEval, of the systems that write."""
    path = Path(os.environ["RANKGAUGE_DATA"], "summeval", "summeval.json.gz")
    texts = text.read_texts(path)
    return texts.select(set(texts.systems) - set(EXTRACTIVE)), text.read_ratings(path)


def reordered(scores: rg.Scores, metric: str, form: str) -> int:
    """On how many pairs of systems on a text a metric and its form disagree."""
    names = [str(each) for each in scores.measures]
    one, other = (scores.values[:, :, names.index(name)] for name in (metric, form))
    return sum(
        int(np.count_nonzero(np.sign(one[a] - one[b]) * np.sign(other[a] - other[b]) < 0))
        for a, b in combinations(range(len(scores.runs)), 2)
    )


def main() -> None:
    """Print the tables."""
    texts, ratings = load()
    found = text.overview(texts, METRICS)
    scores = found.without_chance()
    human = text.human_correlation(scores, ratings)
    print("Kendall's τ-b of system means with ratings:", ", ".join(human.dimensions))
    for metric, row in zip(human.metrics, human.tau_b, strict=True):
        print(f"  {metric!s:35}", *(f"{value:6.2f}" for value in row))
    for name in METRICS:
        values = {
            str(metric): scores.values[:, :, m] for m, metric in enumerate(scores.measures)
        }
        nothing = values[name] == 0
        forms = {form: values[f"{form}({name})"][nothing] for form in ("v2", "linear")}
        ends = {form: (each.min(), each.max()) if each.size else None for form, each in forms.items()}
        print(f"{name}: {np.count_nonzero(nothing)} outputs score 0; least and most they get:", ends)
    pairs = len(texts) * len(texts.systems) * (len(texts.systems) - 1) // 2
    print(f"pairs of systems on an article that v2 puts in another order, of {pairs:,}:")
    for reading, parameters in READINGS.items():
        counts = []
        for name in METRICS:
            form = f"v2({name}{parameters})"
            counts.append(reordered(text.evaluate(texts, [name, form]), name, form))
        print(f"  {reading:36}", *(f"{count:6,}" for count in counts))


if __name__ == "__main__":
    main()
