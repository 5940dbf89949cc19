"""ROUGE: how many words, pairs of words, or words in the same order a text shares with its references.

ROUGE-1, -2, -L and -Lsum have the numbers of Google's rouge-score.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from rankgauge.arrays import Floats, Ints
from rankgauge.checks import Choice, Flag
from rankgauge.parameters import parameter
from rankgauge.text.base import Metric
from rankgauge.text.registry import register
from rankgauge.text.texts import Candidates, Texts

References: TypeAlias = Literal["mean", "max", "pooled", "first"]


class Rouge(Metric):
    """A member of the ROUGE family."""

    source = "Lin 2004, ROUGE: a package for automatic evaluation of summaries"

    part: str = parameter(
        Choice(("f", "precision", "recall")),
        "f: the harmonic mean of precision and recall; precision: by the words of the output; recall: "
        "by those of the reference",
        default="f",
    )
    stem: bool = parameter(
        Flag(), "whether words are reduced to their stems, by Porter's algorithm", default=False
    )
    references: str = parameter(
        Choice(("mean", "max", "pooled", "first")),
        "of several references: the mean score, the maximum, all counts added up, or the first alone",
        default="mean",
    )

    def _score(self, candidates: Candidates) -> Floats:
        from rouge_score_rs.rouge_scorer import RougeScorer

        scorer = RougeScorer([self.name], use_stemmer=self.stem)
        values = np.empty(len(candidates))
        for place, (words, of) in enumerate(
            zip(candidates.words, candidates.of.tolist(), strict=True)
        ):
            each = [
                scorer.score(reference, words)[self.name].fmeasure
                for reference in candidates.texts.references[of]
            ]
            values[place] = float(np.mean(each))
        return values

    def _expected(self, texts: Texts, text: Ints, length: Ints) -> Floats | None:
        return None


class Rouge1(Rouge):
    """Words in common."""

    name = "rouge1"
    summary = "ROUGE-1: the words that a text has in common with its reference."
    examples = ("rouge1", "rouge1(stem=true)", "rouge1(part=recall)")


rouge1 = register(Rouge1())
