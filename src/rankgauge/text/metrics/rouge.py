"""ROUGE: how many words, pairs of words, or words in the same order a text shares with its references.

ROUGE-1, -2, -L and -Lsum have the numbers of Google's rouge-score. ROUGE-W and -S follow Lin's paper.
"""

from __future__ import annotations

import dataclasses
from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Flag, Integer, Kind, Number
from rankgauge.core.notes import WARNING, Note
from rankgauge.core.parameters import parameter
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.base import ratio
from rankgauge.text.base import Metric
from rankgauge.text.data.texts import Candidates, DrawnTexts, Texts
from rankgauge.text.metrics import rouge_library
from rankgauge.text.metrics.references import (
    FIRST,
    MAX,
    MEAN,
    POOLED,
    PRECISION,
    RECALL,
    F,
    ReferenceGrid,
    first_lengths,
)
from rankgauge.text.metrics.rouge_words import (
    MOST_PAIRS,
    Sequences,
    Words,
    all_reference_counts,
    count_pairs,
    count_shared_grams,
)
from rankgauge.text.registry import register
from rankgauge.text.tokens import candidate_counts, reference_counts, source_words, words_of

SLOW_NOTE = (
    "rouge-score-rs is not installed, so rouge-score computed ROUGE: the scores are the same, "
    "but it takes about 60 times as long"
)
SLOWDOWN = 100
"""The factor by which a step takes longer in rouge-score."""
FOREIGN_NOTE = (
    "{texts} with a reference mostly in another script: only the letters a to z and digits "
    "count as words, so the scores mean little"
)
WORDLESS_NOTE = (
    "{things} without a word: {{count}}. ROUGE recognizes only the letters a to z and digits, "
    "so {they} gets 0"
)


class Rouge(Metric):
    """A member of the ROUGE family: hits, divided by the units of the output and of the reference.

    Precision is hits / units of the output, recall is hits / units of the reference, and F is their
    harmonic mean. With `references=pooled`, hits and units are first added up over the references; the
    units of the output count once for each reference. For recall that is Equation 3.5 of Feng's
    dissertation.
    """

    split = staticmethod(words_of)
    source = "Lin 2004, ROUGE: a package for automatic evaluation of summaries"
    by_library: ClassVar[bool] = False
    """Whether another package computes the scores of system outputs."""
    most_steps: ClassVar[float] = np.inf
    """Maximum number of steps allowed to compare an output with a reference."""
    remedy: ClassVar[str] = "Shorten these texts, or use rouge1 or rouge2"
    """What to do then."""

    part: str = parameter(
        Choice((F, PRECISION, RECALL)),
        "f: the harmonic mean of precision and recall; precision: over the words of the "
        "output; recall: over the words of the reference",
        default=F,
    )
    stem: bool = parameter(
        Flag(), "whether words are reduced to their stems with Porter's algorithm", default=False
    )
    references: str = parameter(
        Choice((MEAN, MAX, POOLED, FIRST)),
        "with several references: the mean score, the highest score, one score from all "
        "counts added up, or the score for the first reference",
        default=MEAN,
    )

    def lengths(self, texts: Texts) -> Ints:
        return first_lengths(texts) if self._first_only else super().lengths(texts)

    def _units(self, words: Ints) -> Floats:
        """How many units a text of so many words has: the most hits that it can get."""
        return words.astype(np.float64)

    def _share(self, hits: Floats, units: Floats) -> Floats:
        """The precision or recall of so many hits; 0 where there are no units."""
        return ratio(hits, units)

    def _steps(self, own: Ints, theirs: Ints) -> Floats:
        """How many steps it takes to compare texts of so many words."""
        return own.astype(np.float64) * theirs

    def _hits(self, candidates: Candidates, grid: ReferenceGrid) -> Floats:
        """The hits of each candidate with each of its references."""
        # One after another for each text, so that each reference is prepared once.
        order = np.argsort(candidates.of, kind="stable")
        words = tuple(candidates.outputs[place] for place in order.tolist())
        sorted_by_text = Candidates(candidates.texts, words, candidates.of[order])
        sequences = Sequences.from_candidates(sorted_by_text, self.stem)
        sorted_grid = self._grid(candidates.texts, sorted_by_text.of)
        sorted_hits = sequences.count_common(candidates.texts, self.stem, sorted_grid, self._count)
        hits = np.empty(len(sorted_hits))
        row = order[sorted_grid.row]
        number = np.arange(len(sorted_hits)) - sorted_grid.edges[sorted_grid.row]
        hits[grid.edges[row] + number] = sorted_hits
        return hits

    def _count(self, words: Words, offsets: Ints, reference: Words, vocabulary: int) -> Any:
        """The hits of each of some texts with a reference; their words are numbers."""
        raise NotImplementedError

    def _score(self, candidates: Candidates) -> Floats:
        grid = self._grid(candidates.texts, candidates.of)
        words = candidate_counts(candidates)
        self._check_steps(candidates, words, grid)
        # The parts, and all ways to combine several references, have the same hits.
        key = dataclasses.replace(self, part=F, references=FIRST if self._first_only else MEAN)
        hits = candidates.once((key, "hits"), lambda: self._hits(candidates, grid))
        return self._combine(candidates.texts, hits, words, grid)

    def _score_drawn(self, drawn: DrawnTexts) -> Floats:
        grid = self._grid(drawn.texts, drawn.of)
        words = np.diff(drawn.offsets)
        self._check_steps(drawn, words, grid)
        sequences = Sequences.from_drawn(drawn, self.stem)
        hits = sequences.count_common(drawn.texts, self.stem, grid, self._count)
        return self._combine(drawn.texts, hits, words, grid)

    @property
    def _first_only(self) -> bool:
        return self.references == FIRST

    def _grid(self, texts: Texts, of: Ints) -> ReferenceGrid:
        return ReferenceGrid.of(texts, of, self._first_only)

    def _combine(self, texts: Texts, hits: Floats, words: Ints, grid: ReferenceGrid) -> Floats:
        """The score of each text from its hits with each of its references."""
        if not len(words):
            return np.zeros(0)
        own = self._units(words)[grid.row]
        theirs = self._units(texts.once(all_reference_counts))[grid.reference]
        if self.references == POOLED:
            starts = grid.edges[:-1]
            return self._part(*(np.add.reduceat(each, starts) for each in (hits, own, theirs)))
        return grid.combine(self._part(hits, own, theirs), self.references)

    def _part(self, hits: Floats, own: Floats, theirs: Floats) -> Floats:
        precision, recall = self._share(hits, own), self._share(hits, theirs)
        if self.part == F:
            return ratio(2 * precision * recall, precision + recall)
        return precision if self.part == PRECISION else recall

    def _check_steps(
        self, texts: Candidates | DrawnTexts, words: Ints, grid: ReferenceGrid
    ) -> None:
        """RankgaugeError if an output and a reference are too long to be compared."""
        slow = self.by_library and rouge_library.package() == rouge_library.SLOW
        most = self.most_steps / (SLOWDOWN if slow else 1)
        if most == np.inf or not len(words):
            return
        theirs = texts.texts.once(all_reference_counts)[grid.reference]
        steps = self._steps(words[grid.row], theirs)
        worst = int(np.argmax(steps))
        if steps[worst] > most:
            row = int(grid.row[worst])
            raise RankgaugeError(
                f"{self}: {texts.describe(row)} has {words[row]:,} words, and a reference has "
                f"{theirs[worst]:,}; comparing them takes {steps[worst]:,.0f} steps, expected "
                f"at most {most:,.0f}. {self.remedy}"
            )

    def remarks(self, candidates: Candidates) -> list[Note]:
        notes = []
        if (self.by_library or self.stem) and rouge_library.package() == rouge_library.SLOW:
            notes.append(Note(SLOW_NOTE))
        without_words = np.flatnonzero(candidate_counts(candidates) == 0)
        if outputs := sum(bool(candidates.outputs[row].strip()) for row in without_words.tolist()):
            kind = WORDLESS_NOTE.format(things="outputs", they="such an output")
            notes.append(Note(kind, count=outputs))
        chosen = slice(0, 1) if self._first_only else slice(None)
        counts = [each[chosen] for each in reference_counts(candidates.texts)]
        if references := sum(int(np.count_nonzero(each == 0)) for each in counts):
            they = "every output, compared with such a reference,"
            notes.append(
                Note(WORDLESS_NOTE.format(things="references", they=they), count=references)
            )
        texts = [each[chosen] for each in candidates.texts.references]
        if foreign := sum(any(map(_is_foreign_script, each)) for each in texts):
            notes.append(Note(FOREIGN_NOTE, count=foreign, severity=WARNING))
        return notes


def _is_foreign_script(text: str) -> bool:
    """Whether most letters of a text are others than a to z."""
    letters = [each for each in text if each.isalpha()]
    return 2 * sum(not each.isascii() for each in letters) > len(letters)


class LibraryRouge(Rouge):
    """A metric that rouge-score-rs computes.

    Drawn texts, which are many and have only words of the source, are compared by the numbers of
    their words instead.
    """

    by_library = True

    def _hits(self, candidates: Candidates, grid: ReferenceGrid) -> Floats:
        every = [text for references in candidates.texts.references for text in references]
        recall = rouge_library.recalls(
            self.name,
            self.stem,
            [every[number] for number in grid.reference.tolist()],
            [candidates.outputs[row] for row in grid.row.tolist()],
        )
        theirs = self._units(candidates.texts.once(all_reference_counts))[grid.reference]
        return np.rint(recall * theirs)


class GramRouge(Rouge):
    """A metric of single words, or of pairs of words that are not too far apart."""

    reach: ClassVar[int | None]
    """Maximum distance between the words of a pair; 0 allows no pairs, None all."""
    single: ClassVar[bool] = False
    """Whether single words count."""

    def _units(self, words: Ints) -> Floats:
        units = count_pairs(words, self.reach)
        return (units + words if self.single else units).astype(np.float64)

    def _count(self, words: Words, offsets: Ints, reference: Words, vocabulary: int) -> Ints:
        return count_shared_grams(words, offsets, reference, vocabulary, self.reach, self.single)


class RougeN(GramRouge, LibraryRouge):
    """A metric with a formula for the expected score of words drawn at random.

    There is no formula for the maximum over several references.
    """

    def _expected(self, texts: Texts, text: Ints, length: Ints) -> Floats:
        from rankgauge.text.metrics.rouge_chance import expected_hits

        grid = self._grid(texts, text)
        hits = expected_hits(texts, self.stem, grid, text, length, pairs=self.reach == 1)
        # Every part is linear in the hits: F is 2·hits / (units of the text + units of the reference).
        values = self._combine(texts, hits, length, grid)
        known = np.array([bool(source_words(texts, each)) for each in text.tolist()], dtype=bool)
        if self.references == MAX:
            known &= grid.sizes == 1
        return np.where(known, values, np.nan)


class Rouge1(RougeN):
    """Words in common."""

    name = "rouge1"
    summary = "ROUGE-1: the words that an output shares with its reference."
    formula = (
        "hits = Σ over words of min(count in the output, count in the reference); units = words"
    )
    examples = ("rouge1", "rouge1(stem=true)", "rouge1(part=recall)")
    reach = 0
    single = True


class Rouge2(RougeN):
    """Pairs of neighbors in common."""

    name = "rouge2"
    summary = "ROUGE-2: the pairs of adjacent words that an output shares with its reference."
    formula = (
        "hits = Σ over pairs of min(count in the output, count in the reference); units = words − 1"
    )
    examples = ("rouge2", "rouge2(stem=true)", "rouge2(references=max)")
    reach = 1


class RougeL(LibraryRouge):
    """Words in the same order."""

    name = "rougeL"
    summary = (
        "ROUGE-L: the longest sequence of words that an output and its reference have in the "
        "same order, possibly with other words in between."
    )
    formula = "hits = length of the longest common subsequence of words; units = words"
    examples = ("rougeL", "rougeL(references=max)", "rougeL(part=recall,stem=true)")
    most_steps = 1e10

    def _count(self, words: Words, offsets: Ints, reference: Words, vocabulary: int) -> Ints:
        from rankgauge.native.subsequences import lcs_lengths

        return lcs_lengths(words, offsets, reference, vocabulary)


class RougeLsum(LibraryRouge):
    """Words in the same order, sentence by sentence."""

    name = "rougeLsum"
    summary = (
        "ROUGE-Lsum: ROUGE-L of each reference sentence against all sentences of the output. "
        "Each line is a sentence: put newlines between sentences."
    )
    formula = (
        "hits = Σ over lines of the reference of the words in a longest common subsequence "
        "with any line of the output, each word at most as often as it occurs in both texts; units "
        "= words"
    )
    examples = ("rougeLsum", "rougeLsum(stem=true)")
    most_steps = 1e8
    remedy = "Shorten these texts, or use rougeL"

    def _score_drawn(self, drawn: DrawnTexts) -> Floats:
        return Metric._score_drawn(self, drawn)


class RougeW(Rouge):
    """Words in the same order; neighbors count more."""

    name = "rougeW"
    summary = "ROUGE-W: like ROUGE-L, but words that are consecutive in both texts count more."
    formula = (
        "hits = weighted longest common subsequence, in which k words in a row count "
        "k^weight; units = words^weight; precision and recall = (hits/units)^(1/weight)"
    )
    examples = ("rougeW", "rougeW(weight=2)")
    most_steps = 1e9
    remedy = "Shorten these texts, or use rougeL"

    weight: float = parameter(
        Number(1, 10, example=1.2),
        "the exponent: k words in a row count k to this power",
        default=1.2,
    )

    def _units(self, words: Ints) -> Floats:
        return words.astype(np.float64) ** self.weight

    def _share(self, hits: Floats, units: Floats) -> Floats:
        return np.minimum(ratio(hits, units), 1.0) ** (1 / self.weight)

    def _count(self, words: Words, offsets: Ints, reference: Words, vocabulary: int) -> Floats:
        from rankgauge.native.subsequences import weighted_lcs

        gains = np.diff(np.arange(len(reference) + 1, dtype=np.float64) ** self.weight)
        return weighted_lcs(words, offsets, reference, vocabulary, gains)


UNLIMITED = "unlimited"


class SkipDistance(Kind):
    """How many words may stand between two words, or any number."""

    description = f"a whole number from 0, or {UNLIMITED}"

    def check(self, value: Any) -> str | int:
        if value == UNLIMITED:
            return UNLIMITED
        try:
            return Integer(0).check(value)
        except MeasureError:
            raise self.refusal(value) from None


class RougeS(GramRouge):
    """Pairs of words in the same order."""

    name = "rougeS"
    summary = (
        "ROUGE-S: the pairs of words, with at most `skip` words between them, that an output "
        "shares with its reference."
    )
    formula = (
        "hits = Σ over pairs of min(count in the output, count in the reference); units = pairs"
    )
    examples = ("rougeS", "rougeS(skip=unlimited)", "rougeS(unigram=true)")
    most_steps = MOST_PAIRS
    remedy = "Shorten these texts, or lower skip"

    skip: str | int = parameter(
        SkipDistance(),
        (f"the maximum number of words between the two words of a pair, or {UNLIMITED}"),
        default=4,
    )
    unigram: bool = parameter(
        Flag(),
        "whether single words count too, which turns the metric into ROUGE-SU",
        default=False,
    )

    @property
    def reach(self) -> int | None:  # type: ignore[override]
        return None if isinstance(self.skip, str) else self.skip + 1

    @property
    def single(self) -> bool:  # type: ignore[override]
        return self.unigram

    def _steps(self, own: Ints, theirs: Ints) -> Floats:
        return np.maximum(self._units(own), self._units(theirs))


rouge1 = register(Rouge1())
rouge2 = register(Rouge2())
rougeL = register(RougeL())
rougeLsum = register(RougeLsum())
rougeW = register(RougeW())
rougeS = register(RougeS())
