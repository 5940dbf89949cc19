"""ROUGE and BERTScore, and what chance gets by them, against rouge-score, bert-score and torch.

    python benchmarks/text.py [--repeat 3]

The 1,600 summaries of SummEval (in the folder RANKGAUGE_DATA), each with the first reference of its
article: ROUGE-1, -2 and -L. Then the expected score of words drawn at random, for all articles: by the
formula for ROUGE-1 and -2, from drawn texts for ROUGE-L, against the time in which rouge-score scores
the summaries. rouge-score runs once; the other times are the best of the repetitions. All times start
from texts, so they include splitting texts into words.

BERTScore follows, in processes of their own: benchmarks/bertscore.py says what is timed there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
from rouge_score.rouge_scorer import RougeScorer

from rankgauge.core.arrays import Floats
from rankgauge.core.tables import Table
from rankgauge.text import Null, Texts, parse_metric

DATA = Path(os.environ.get("RANKGAUGE_DATA", "../shared/data"))
NAMES = ("rouge1", "rouge2", "rougeL")
R = TypeVar("R")


def timed(work: Callable[[], R], repeat: int) -> tuple[float, R]:
    """The best time, and the result."""
    best = float("inf")
    for _ in range(repeat):
        started = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - started)
    return best, result


def read() -> Texts:
    """The articles of SummEval with the newspaper's summary and those of 16 systems."""
    with gzip.open(DATA / "summeval/summeval.json.gz", "rt", encoding="utf-8") as file:
        articles = json.load(file)
    systems = list(next(iter(articles.values()))["sys_summs"])
    return Texts(
        {name: article["src"] for name, article in articles.items()},
        {name: article["ref_summ"] for name, article in articles.items()},
        {
            system: {name: each["sys_summs"][system]["sys_summ"] for name, each in articles.items()}
            for system in systems
        },
    )


def afresh(texts: Texts) -> Texts:
    """The same texts, of which nothing is known yet."""
    outputs = {system: list(outputs) for system, outputs in texts.outputs.items()}
    return Texts(list(texts.sources), list(texts.references), outputs, texts.ids)


def by_rouge_score(texts: Texts, names: tuple[str, ...], stem: bool) -> Floats:
    candidates = texts.candidates()
    scorer = RougeScorer(names, use_stemmer=stem)
    pairs = zip(candidates.outputs, candidates.of.tolist(), strict=True)
    scores = [scorer.score(texts.references[of][0], words) for words, of in pairs]
    return np.array([[score[name].fmeasure for score in scores] for name in names])


def by_us(texts: Texts, names: tuple[str, ...], stem: bool) -> Floats:
    candidates = afresh(texts).candidates()
    return np.array([parse_metric(name)(stem=stem).score_each(candidates) for name in names])


def chance(texts: Texts, name: str, stem: bool, null: Null) -> Floats:
    metric = parse_metric(name)(stem=stem)
    return metric.expected_each(afresh(texts).candidates(), null).values


def main() -> None:
    """Print the times and their ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    texts = read()
    parse_metric("rouge1")  # imports
    chance(texts, "rouge1", False, Null())
    rows: list[tuple[str, float, float, float]] = []
    for stem in (False, True):
        note = ", stems" if stem else ""
        peer: dict[tuple[str, ...], float] = {}
        for names in (NAMES, *((name,) for name in NAMES)):
            seconds, right = timed(lambda n=names, s=stem: by_rouge_score(texts, n, s), 1)  # type: ignore[misc]
            ours, scores = timed(lambda n=names, s=stem: by_us(texts, n, s), asked.repeat)  # type: ignore[misc]
            np.testing.assert_allclose(scores, right, rtol=0, atol=1e-12)
            peer[names] = seconds
            rows.append((f"score {' '.join(names)}{note}", ours, seconds, seconds / ours))
        for name in NAMES:
            for length in ("reference", "candidate"):
                null = Null(length=length)
                ours, _ = timed(
                    lambda n=name, s=stem, by=null: chance(texts, n, s, by),  # type: ignore[misc]
                    asked.repeat,
                )
                seconds = peer[(name,)]
                label = f"chance {name}, length={length}{note}"
                rows.append((label, ours, seconds, seconds / ours))
    columns = ("1,600 summaries", "rankgauge s", "rouge-score scores them s", "ratio")
    print(Table(columns, tuple(rows)).render("table", digits=3), flush=True)
    beside = Path(__file__).with_name("bertscore.py")
    subprocess.run([sys.executable, beside, "--repeat", str(asked.repeat)], check=True)


if __name__ == "__main__":
    main()
