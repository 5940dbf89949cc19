"""What all members of the ROUGE family share: hits, units, parts and several references."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Flag
from rankgauge.core.notes import WARNING, Note
from rankgauge.core.parameters import parameter
from rankgauge.errors import RankgaugeError
from rankgauge.measures.base import ratio
from rankgauge.text import rouge_library
from rankgauge.text.base import Metric
from rankgauge.text.data.texts import Candidates, DrawnTexts, Texts
from rankgauge.text.rouge_words import (
    ReferenceGrid,
    Sequences,
    Words,
    all_reference_counts,
    pairs_within,
    shared_grams,
)
from rankgauge.text.tokens import reference_counts, word_counts, words_of

MEAN, MAX, POOLED, FIRST = "mean", "max", "pooled", "first"
F, PRECISION, RECALL = "f", "precision", "recall"
SLOW = (
    "rouge-score-rs is not installed, so rouge-score computed ROUGE: the numbers are the same, but it "
    "takes about 60 times as long"
)
SLOWER = 100
"""How many times longer a step takes in rouge-score."""
FOREIGN = (
    "{texts} with a reference mostly in another script: only the letters a to z and digits count as "
    "words, so the scores mean little"
)
WORDLESS = (
    "{things} without a word: {{count}}. ROUGE knows the letters a to z and digits only, so {they} "
    "gets 0"
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
    most_steps: ClassVar[float] = np.inf
    """An output and a reference are not compared if that takes more steps."""

    part: str = parameter(
        Choice((F, PRECISION, RECALL)),
        "f: the harmonic mean of precision and recall; precision: by the words of the output; recall: "
        "by the words of the reference",
        default=F,
    )
    stem: bool = parameter(
        Flag(), "whether words are reduced to their stems, by Porter's algorithm", default=False
    )
    references: str = parameter(
        Choice((MEAN, MAX, POOLED, FIRST)),
        "of several references: the mean score, the highest score, one score of all counts added up, or "
        "the score by the first reference",
        default=MEAN,
    )

    def lengths(self, texts: Texts) -> Ints:
        if self.references != FIRST:
            return super().lengths(texts)
        return np.array([max(1, int(each[0])) for each in reference_counts(texts)], dtype=np.int64)

    def _units(self, words: Ints) -> Floats:
        """How many units a text of so many words has: the most hits that it can get."""
        return words.astype(np.float64)

    def _share(self, hits: Floats, units: Floats) -> Floats:
        """The precision or recall of so many hits; 0 where there are no units."""
        return ratio(hits, units)

    def _steps(self, own: Ints, theirs: Ints) -> Floats:
        """How many steps it takes to compare texts of so many words."""
        return np.zeros(len(own))

    def _hits(self, candidates: Candidates, grid: ReferenceGrid) -> Floats:
        """The hits of each candidate with each of its references."""
        raise NotImplementedError

    def _count(self, words: Words, offsets: Ints, reference: Words, vocabulary: int) -> Any:
        """The hits of each of some texts with a reference; their words are numbers."""
        raise NotImplementedError

    def _score(self, candidates: Candidates) -> Floats:
        grid = self._grid(candidates.texts, candidates.of)
        words = candidates.once(word_counts, lambda: word_counts(candidates.words))
        self._check_steps(candidates, words, grid)
        # The parts, and all ways to combine several references, have the same hits.
        key = dataclasses.replace(self, part=F, references=FIRST if self._first else MEAN)
        hits = candidates.once((key, "hits"), lambda: self._hits(candidates, grid))
        return self._combined(candidates.texts, hits, words, grid)

    def _score_drawn(self, drawn: DrawnTexts) -> Floats:
        grid = self._grid(drawn.texts, drawn.of)
        words = np.diff(drawn.offsets)
        self._check_steps(drawn, words, grid)
        sequences = Sequences.drawn(drawn, self.stem)
        hits = sequences.in_common(drawn.texts, self.stem, grid, self._count)
        return self._combined(drawn.texts, hits, words, grid)

    @property
    def _first(self) -> bool:
        return self.references == FIRST

    def _grid(self, texts: Texts, of: Ints) -> ReferenceGrid:
        return ReferenceGrid.of(texts, of, self._first)

    def _combined(self, texts: Texts, hits: Floats, words: Ints, grid: ReferenceGrid) -> Floats:
        """The score of each text from its hits with each of its references."""
        if not len(words):
            return np.zeros(0)
        own = self._units(words)[grid.row]
        theirs = self._units(texts.once(all_reference_counts))[grid.reference]
        if self.references == POOLED:
            return self._part(*(np.add.reduceat(each, grid.starts) for each in (hits, own, theirs)))
        each = self._part(hits, own, theirs)
        if self.references == MAX:
            highest: Floats = np.maximum.reduceat(each, grid.starts)
            return highest
        total: Floats = np.add.reduceat(each, grid.starts)
        return total / np.bincount(grid.row, minlength=len(words))

    def _part(self, hits: Floats, own: Floats, theirs: Floats) -> Floats:
        precision, recall = self._share(hits, own), self._share(hits, theirs)
        if self.part == F:
            return ratio(2 * precision * recall, precision + recall)
        return precision if self.part == PRECISION else recall

    def _check_steps(
        self, texts: Candidates | DrawnTexts, words: Ints, grid: ReferenceGrid
    ) -> None:
        """RankgaugeError if an output and a reference are too long to be compared."""
        most = self._most_steps()
        if most == np.inf or not len(words):
            return
        theirs = texts.texts.once(all_reference_counts)[grid.reference]
        steps = self._steps(words[grid.row], theirs)
        worst = int(np.argmax(steps))
        if steps[worst] > most:
            row = int(grid.row[worst])
            raise RankgaugeError(
                f"{self}: {texts.described(row)} has {words[row]:,} words, and a reference has "
                f"{theirs[worst]:,}; to compare them takes {steps[worst]:,.0f} steps, expected at most "
                f"{most:,.0f}. {self._remedy()}"
            )

    def _most_steps(self) -> float:
        return self.most_steps

    def _remedy(self) -> str:
        return "Cut these texts, or use rouge1 or rouge2"

    def remarks(self, candidates: Candidates) -> list[Note]:
        notes = []
        if self._uses_library() and rouge_library.package() == rouge_library.SLOW:
            notes.append(Note(SLOW))
        words = candidates.once(word_counts, lambda: word_counts(candidates.words))
        empty = [count == 0 for count in words.tolist()]
        outputs = _wordless(candidates.words, empty)
        if outputs:
            notes.append(
                Note(WORDLESS.format(things="outputs", they="such an output"), count=outputs)
            )
        chosen = slice(0, 1) if self._first else slice(None)
        references = sum(
            int(np.count_nonzero(counts[chosen] == 0))
            for counts in reference_counts(candidates.texts)
        )
        if references:
            they = "every output, compared with such a reference,"
            notes.append(Note(WORDLESS.format(things="references", they=they), count=references))
        foreign = sum(
            any(_elsewhere(reference) for reference in each[chosen])
            for each in candidates.texts.references
        )
        if foreign:
            notes.append(Note(FOREIGN, count=foreign, severity=WARNING))
        return notes

    def _uses_library(self) -> bool:
        """Whether another package computes the score, or the stems."""
        return self.stem


def _wordless(texts: Sequence[str], empty: Sequence[bool]) -> int:
    """How many texts have no words, though they are not blank."""
    return sum(nothing and bool(text.strip()) for text, nothing in zip(texts, empty, strict=True))


def _elsewhere(text: str) -> bool:
    """Whether most letters of a text are others than a to z."""
    letters = [each for each in text if each.isalpha()]
    return 2 * sum(not each.isascii() for each in letters) > len(letters)


class ByLibrary(Rouge):
    """A metric that rouge-score-rs computes. Drawn texts, which are many and have only words of the
    source, are compared as numbers of words."""

    def _hits(self, candidates: Candidates, grid: ReferenceGrid) -> Floats:
        every = [text for references in candidates.texts.references for text in references]
        recall = rouge_library.recalls(
            self.name,
            self.stem,
            [every[number] for number in grid.reference.tolist()],
            [candidates.words[row] for row in grid.row.tolist()],
        )
        theirs = self._units(candidates.texts.once(all_reference_counts))[grid.reference]
        return np.rint(recall * theirs)

    def _uses_library(self) -> bool:
        return True

    def _most_steps(self) -> float:
        slow = rouge_library.package() == rouge_library.SLOW
        return self.most_steps / (SLOWER if slow else 1)


class ByOurselves(Rouge):
    """A metric that is computed here, from numbers of words."""

    def _hits(self, candidates: Candidates, grid: ReferenceGrid) -> Floats:
        # One after another for each text, so that each reference is prepared once.
        order = np.argsort(candidates.of, kind="stable")
        words = tuple(candidates.words[place] for place in order.tolist())
        sorted_by_text = Candidates(candidates.texts, words, candidates.of[order])
        sequences = Sequences.written(sorted_by_text, self.stem)
        sorted_grid = self._grid(candidates.texts, sorted_by_text.of)
        found = sequences.in_common(candidates.texts, self.stem, sorted_grid, self._count)
        hits = np.empty(len(found))
        row = order[sorted_grid.row]
        number = np.arange(len(found)) - sorted_grid.starts[sorted_grid.row]
        hits[grid.starts[row] + number] = found
        return hits


class Grams(Rouge):
    """A metric of single words, or of pairs of words that are not too far apart."""

    def _reach(self) -> int | None:
        """How many places apart the words of a pair are at most: 0 no pairs at all, None any pair."""
        raise NotImplementedError

    def _single(self) -> bool:
        """Whether single words count."""
        return False

    def _units(self, words: Ints) -> Floats:
        units = pairs_within(words, self._reach())
        return (units + words if self._single() else units).astype(np.float64)

    def _count(self, words: Words, offsets: Ints, reference: Words, vocabulary: int) -> Ints:
        return shared_grams(words, offsets, reference, vocabulary, self._reach(), self._single())
