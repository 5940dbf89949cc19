"""ROUGE: how many words, pairs of words, or words in the same order a text shares with its references.

ROUGE-1, -2, -L and -Lsum have the numbers of Google's rouge-score. ROUGE-W and -S follow Lin's paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Flag, Kind, Number, Whole
from rankgauge.core.parameters import parameter
from rankgauge.errors import MeasureError
from rankgauge.measures.base import ratio
from rankgauge.text.base import Metric
from rankgauge.text.data.texts import DrawnTexts, Texts
from rankgauge.text.registry import register
from rankgauge.text.rouge_family import MAX, ByLibrary, ByOurselves, Grams
from rankgauge.text.rouge_words import MOST_PAIRS, Words
from rankgauge.text.tokens import source_words


class WithFormula(Grams, ByLibrary):
    """A metric with a formula for what words drawn at random get. The maximum over several references
    has none."""

    def _expected(self, texts: Texts, text: Ints, length: Ints) -> Floats:
        from rankgauge.text.rouge_chance import expected_hits

        grid = self._grid(texts, text)
        hits = expected_hits(texts, self.stem, grid, text, length, pairs=self._reach() == 1)
        # Every part is linear in the hits: F is 2·hits / (units of the text + units of the reference).
        values = self._combined(texts, hits, length, grid)
        known = np.array([bool(source_words(texts, each)) for each in text.tolist()], dtype=bool)
        if self.references == MAX:
            known &= np.bincount(grid.row, minlength=len(text)) == 1
        return np.where(known, values, np.nan)


class Rouge1(WithFormula):
    """Words in common."""

    name = "rouge1"
    summary = "ROUGE-1: the words that a text has in common with its reference."
    formula = (
        "hits = Σ over words of min(count in the output, count in the reference); units = words"
    )
    examples = ("rouge1", "rouge1(stem=true)", "rouge1(part=recall)")

    def _reach(self) -> int:
        return 0

    def _single(self) -> bool:
        return True


class Rouge2(WithFormula):
    """Pairs of neighbours in common."""

    name = "rouge2"
    summary = (
        "ROUGE-2: the pairs of neighbouring words that a text has in common with its reference."
    )
    formula = (
        "hits = Σ over pairs of min(count in the output, count in the reference); units = words − 1"
    )
    examples = ("rouge2", "rouge2(stem=true)", "rouge2(references=max)")

    def _reach(self) -> int:
        return 1


class RougeL(ByLibrary):
    """Words in the same order."""

    name = "rougeL"
    summary = (
        "ROUGE-L: the most words of the reference that a text has in the same order, with any words "
        "between them."
    )
    formula = "hits = length of the longest common subsequence of words; units = words"
    examples = ("rougeL", "rougeL(references=max)", "rougeL(part=recall,stem=true)")
    most_steps = 1e10

    def _steps(self, own: Ints, theirs: Ints) -> Floats:
        return own.astype(np.float64) * theirs

    def _count(self, words: Words, offsets: Ints, reference: Words, vocabulary: int) -> Ints:
        from rankgauge.native.subsequences import lcs_lengths

        return lcs_lengths(words, offsets, reference, vocabulary)


class RougeLsum(ByLibrary):
    """Words in the same order, sentence by sentence."""

    name = "rougeLsum"
    summary = (
        "ROUGE-Lsum: ROUGE-L for each sentence of the reference with all sentences of a text. Each line "
        "is a sentence: put newlines between sentences."
    )
    formula = (
        "hits = Σ over lines of the reference of the words in a longest common subsequence with any "
        "line of the output, no word more often than both texts have it; units = words"
    )
    examples = ("rougeLsum", "rougeLsum(stem=true)")
    most_steps = 1e8

    def _steps(self, own: Ints, theirs: Ints) -> Floats:
        return own.astype(np.float64) * theirs

    def _score_drawn(self, drawn: DrawnTexts) -> Floats:
        return Metric._score_drawn(self, drawn)

    def _remedy(self) -> str:
        return "Cut these texts, or use rougeL"


class RougeW(ByOurselves):
    """Words in the same order; neighbours count more."""

    name = "rougeW"
    summary = "ROUGE-W: as ROUGE-L, but words that follow each other in both texts count more."
    formula = (
        "hits = weighted longest common subsequence, in which k words in a row count k^weight; units = "
        "words^weight; precision and recall = (hits/units)^(1/weight)"
    )
    examples = ("rougeW", "rougeW(weight=2)")
    most_steps = 1e9

    weight: float = parameter(
        Number(1, 10, example=1.2), "k words in a row count k to the power of this", default=1.2
    )

    def _units(self, words: Ints) -> Floats:
        return words.astype(np.float64) ** self.weight

    def _share(self, hits: Floats, units: Floats) -> Floats:
        return np.minimum(ratio(hits, units), 1.0) ** (1 / self.weight)

    def _steps(self, own: Ints, theirs: Ints) -> Floats:
        return own.astype(np.float64) * theirs

    def _count(self, words: Words, offsets: Ints, reference: Words, vocabulary: int) -> Floats:
        from rankgauge.native.subsequences import weighted_lcs

        gains = np.diff(np.arange(len(reference) + 1, dtype=np.float64) ** self.weight)
        return weighted_lcs(words, offsets, reference, vocabulary, gains)

    def _remedy(self) -> str:
        return "Cut these texts, or use rougeL"


UNLIMITED = "unlimited"


class Skip(Kind):
    """How many words may stand between two words, or any number."""

    description = f"a whole number from 0, or {UNLIMITED}"

    def check(self, value: Any) -> str | int:
        if value == UNLIMITED:
            return UNLIMITED
        try:
            return Whole(0).check(value)
        except MeasureError:
            raise self.refusal(value) from None


class RougeS(Grams, ByOurselves):
    """Pairs of words in the same order."""

    name = "rougeS"
    summary = (
        "ROUGE-S: the pairs of words, with up to `skip` words between them, that a text has in common "
        "with its reference."
    )
    formula = (
        "hits = Σ over pairs of min(count in the output, count in the reference); units = pairs"
    )
    examples = ("rougeS", "rougeS(skip=unlimited)", "rougeS(unigram=true)")
    most_steps = MOST_PAIRS

    skip: str | int = parameter(
        Skip(), f"how many words stand between two words at most, or {UNLIMITED}", default=4
    )
    unigram: bool = parameter(
        Flag(), "whether single words count too, which makes it ROUGE-SU", default=False
    )

    def _reach(self) -> int | None:
        return None if isinstance(self.skip, str) else self.skip + 1

    def _single(self) -> bool:
        return self.unigram

    def _steps(self, own: Ints, theirs: Ints) -> Floats:
        return np.maximum(self._units(own), self._units(theirs))

    def _remedy(self) -> str:
        return "Cut these texts, or lower skip"


rouge1 = register(Rouge1())
rouge2 = register(Rouge2())
rougeL = register(RougeL())
rougeLsum = register(RougeLsum())
rougeW = register(RougeW())
rougeS = register(RougeS())
