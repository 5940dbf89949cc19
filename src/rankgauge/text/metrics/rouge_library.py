"""The package that computes ROUGE-1, -2, -L and -Lsum, and stems words.

The package is rouge-score-rs, or else Google's rouge-score. Both give the same numbers.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.errors import RankgaugeError, missing_package
from rankgauge.text.tokens import SplitWords, words_of

FAST, SLOW = "rouge_score_rs", "rouge_score"
BATCH_PAIRS = 20_000
"""Number of text pairs passed to the package at a time."""


@cache
def package() -> str:
    """The name of the package that is used; RankgaugeError where neither is installed."""
    for name in (FAST, SLOW):
        try:
            importlib.import_module(f"{name}.rouge_scorer")
        except ImportError:
            continue
        return name
    raise RankgaugeError(
        f"{missing_package('rouge-score-rs', 'text')}. If rouge-score-rs cannot be installed, run pip "
        "install rouge-score, which is slower"
    )


def _module(name: str) -> Any:
    return importlib.import_module(f"{package()}.{name}")


def tokenizer(stem: bool) -> SplitWords:
    """Return a function that splits a text into words, or into their stems by Porter's algorithm.

    There are as many stems as words.
    """
    if not stem:
        return words_of
    tokenize: SplitWords = _module("tokenizers").DefaultTokenizer(use_stemmer=True).tokenize
    return tokenize


def recalls(name: str, stem: bool, references: Sequence[str], outputs: Sequence[str]) -> Floats:
    """The recall of each output by its reference, for the metric of this name."""
    scorer = _module("rouge_scorer").RougeScorer([name], use_stemmer=stem)
    values = np.empty(len(outputs))
    for start in range(0, len(outputs), BATCH_PAIRS):
        part = slice(start, start + BATCH_PAIRS)
        if package() == FAST:
            scores = scorer.score_batch(references[part], outputs[part])
        else:
            pairs = zip(references[part], outputs[part], strict=True)
            scores = [scorer.score(reference, output) for reference, output in pairs]
        values[part] = [score[name].recall for score in scores]
    return values
