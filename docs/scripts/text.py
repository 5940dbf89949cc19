"""Prints the tables of docs/TEXT.md on SummEval, in a few seconds: `python docs/scripts/text.py`.

It reads the data from the folder RANKGAUGE_DATA, or from beside the project.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import numpy as np

import rankgauge as rg
from rankgauge import text
from rankgauge.core.arrays import Floats
from rankgauge.core.tables import Cell, Table

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
EXTRACTIVE = ("M0", "M1", "M2", "M5")
"""Systems of SummEval that copy sentences; the others write."""
FIRST = "(references=first)"
METRICS = tuple(f"rouge{kind}{FIRST}" for kind in "12L")
READINGS = {
    "as long as the reference": "",
    "as long as the output": ",length=candidate",
    "one random summary per article": ",draws=1",
    "one random summary per output": ",draws=1,per=candidate",
}


def load() -> tuple[text.Texts, text.Ratings]:
    """The texts and ratings of SummEval, of the systems that write."""
    path = Path(os.environ.get("RANKGAUGE_DATA", BESIDE), "summeval", "summeval.json.gz")
    texts = text.read_texts(path)
    return texts.select(set(texts.systems) - set(EXTRACTIVE)), text.read_ratings(path)


def reordered(scores: rg.Scores, metric: str, form: str) -> int:
    """On how many pairs of systems on a text a metric and its form disagree."""
    names = [str(each) for each in scores.measures]
    one, other = (scores.values[:, :, names.index(name)] for name in (metric, form))
    return sum(
        int(np.count_nonzero(_sign(one[a] - one[b]) * _sign(other[a] - other[b]) < 0))
        for a, b in combinations(range(len(scores.runs)), 2)
    )


def _sign(differences: Floats) -> Floats:
    """−1, 0 or 1; 0 also where the difference is nothing but rounding."""
    return np.sign(np.where(np.abs(differences) < 1e-12, 0.0, differences))


def agreement(scores: rg.Scores, ratings: text.Ratings) -> Table:
    """Kendall's τ-b of system means with ratings, of each metric and its forms."""
    human = text.human_correlation(scores, ratings, samples=10)
    rows = [
        (_short(str(metric)), *(f"{value:.2f}" for value in row))
        for metric, row in zip(human.metrics, human.tau_b, strict=True)
    ]
    return Table(("τ-b", *human.dimensions), tuple(rows))


def _short(name: str) -> str:
    return name.replace(FIRST, "")


def nothing_shared(scores: rg.Scores) -> Table:
    """How many outputs score 0 by a metric, and what its forms give them at worst."""
    values = {str(metric): scores.values[:, :, m] for m, metric in enumerate(scores.measures)}
    rows: list[tuple[Cell, ...]] = []
    for name in METRICS:
        nothing = values[name] == 0
        worst = [values[f"{form}({name})"][nothing] for form in ("v2", "linear")]
        shown = [f"{each.min():.3f}" if each.size else "" for each in worst]
        rows.append((_short(name), int(np.count_nonzero(nothing)), *shown))
    return Table(("metric", "scores of 0", "lowest v2", "lowest linear"), tuple(rows))


def orders(texts: text.Texts) -> Table:
    """How many pairs of systems on an article v2 puts in another order, for each reading of chance."""
    rows = []
    for reading, parameters in READINGS.items():
        counts = []
        for name in METRICS:
            form = f"v2({name}{parameters})"
            counts.append(reordered(text.evaluate(texts, [name, form]), name, form))
        rows.append((reading, *counts))
    return Table(("chance", *map(_short, METRICS)), tuple(rows))


def pages() -> Iterator[Table]:
    """The tables of the page."""
    texts, ratings = load()
    scores = text.overview(texts, METRICS).without_chance()
    yield agreement(scores, ratings)
    yield nothing_shared(scores)
    yield orders(texts)


if __name__ == "__main__":
    for table in pages():
        print(table.render("md"))
