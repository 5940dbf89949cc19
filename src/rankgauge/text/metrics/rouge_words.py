"""The words of texts as numbers, and what they have in common with references.

The words of the references of a text are numbered from 0. A word that no reference has is -1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.text.data.texts import Candidates, DrawnTexts, Texts
from rankgauge.text.metrics.references import ReferenceGrid, iter_groups
from rankgauge.text.metrics.rouge_library import tokenizer
from rankgauge.text.tokens import reference_counts

Words: TypeAlias = NDArray[np.int32]

CountHits: TypeAlias = Callable[[Words, Ints, Words, int], Ints | Floats]
"""Computes the overlap of several texts with a reference from the words of all texts, their offsets,
the words of the reference and the number of different words."""

MOST_PAIRS = 20_000_000
"""Maximum number of word pairs for which a text is compared by pairs."""


class WordIds(Record):
    """The words of one text's references and of its source as numbers."""

    vocabulary: dict[str, int]
    references: tuple[Words, ...]
    source: Words

    @cached_property
    def source_counts(self) -> Ints:
        """How often the source has each word of the references."""
        return np.bincount(self.source[self.source >= 0], minlength=len(self.vocabulary))

    def numbers(self, words: list[str]) -> Words:
        """The numbers of some words."""
        return np.array([self.vocabulary.get(word, -1) for word in words], dtype=np.int32)


def word_ids(texts: Texts, stem: bool) -> list[WordIds]:
    """The words of each text's references and source, or their stems, as numbers."""
    return texts.once(_compute_word_ids, stem)


def _compute_word_ids(texts: Texts, stem: bool) -> list[WordIds]:
    split = tokenizer(stem)
    every = []
    for references, source in zip(texts.references, texts.sources, strict=True):
        vocabulary: dict[str, int] = {}
        known = tuple(
            np.array(
                [vocabulary.setdefault(word, len(vocabulary)) for word in split(reference)],
                dtype=np.int32,
            )
            for reference in references
        )
        words = [vocabulary.get(word, -1) for word in split(source)]
        every.append(WordIds(vocabulary, known, np.array(words, dtype=np.int32)))
    return every


class Sequences(Record):
    """Texts as numbers of words, one after another, and the number of the text each belongs to."""

    words: Words
    offsets: Ints
    of: Ints

    @classmethod
    def from_candidates(cls, candidates: Candidates, stem: bool) -> Sequences:
        """The words of candidates."""
        known, split = word_ids(candidates.texts, stem), tokenizer(stem)
        each = [
            known[of].numbers(split(words))
            for words, of in zip(candidates.outputs, candidates.of.tolist(), strict=True)
        ]
        offsets = np.cumsum([0, *map(len, each)])
        return cls(np.concatenate([np.zeros(0, np.int32), *each]), offsets, candidates.of)

    @classmethod
    def from_drawn(cls, drawn: DrawnTexts, stem: bool) -> Sequences:
        """The words of texts that were drawn from sources."""
        known = word_ids(drawn.texts, stem)
        words = np.empty(len(drawn.places), dtype=np.int32)
        for of, start, stop in iter_groups(drawn.of):
            part = slice(drawn.offsets[start], drawn.offsets[stop])
            words[part] = known[of].source[drawn.places[part]]
        return cls(words, drawn.offsets, drawn.of)

    def count_common(
        self, texts: Texts, stem: bool, grid: ReferenceGrid, count: CountHits
    ) -> Floats:
        """What each text has in common with each of its references, in the order of the grid."""
        known = word_ids(texts, stem)
        hits = np.empty(len(grid.row))
        for of, start, stop in iter_groups(self.of):
            offsets = self.offsets[start : stop + 1]
            words = self.words[offsets[0] : offsets[-1]]
            part = hits[grid.edges[start] : grid.edges[stop]].reshape(stop - start, -1)
            size = len(known[of].vocabulary)
            for number in range(part.shape[1]):
                reference = known[of].references[number]
                part[:, number] = count(words, offsets - offsets[0], reference, size)
        return hits


def all_reference_counts(texts: Texts) -> Ints:
    """How many words each reference has, those of all texts one after another."""
    return np.concatenate([np.zeros(0, np.int64), *reference_counts(texts)])


def count_pairs(words: Ints, reach: int | None) -> Ints:
    """How many pairs of words a text of so many words has, at most `reach` places apart."""
    far = np.maximum(words - 1, 0) if reach is None else np.clip(words - 1, 0, reach)
    pairs: Ints = far * words - far * (far + 1) // 2
    return pairs


def count_shared_grams(
    words: Words,
    offsets: Ints,
    reference: Words,
    vocabulary: int,
    reach: int | None,
    single: bool,
) -> Ints:
    """How many grams each text has in common with the reference, each as often as both have it.

    Parameters
    ----------
    words, offsets
        The words of the texts as numbers, one text after another, and where each begins and ends.
    reference, vocabulary
        The words of the reference, and how many different words there are.
    reach
        Pairs of words at most so many places apart are grams: 0 none, 1 neighbors, None all pairs.
    single
        Whether single words are grams.
    """
    from rankgauge.native.grams import shared_counts

    farthest = len(words) + len(reference) if reach is None else reach
    wide = reference.astype(np.int64)
    pairs = [
        wide[:-gap] * vocabulary + wide[gap:]
        for gap in range(1, min(farthest, len(reference) - 1) + 1)
    ]
    pair, most = np.unique(np.concatenate([np.zeros(0, np.int64), *pairs]), return_counts=True)
    first, second = np.divmod(pair, max(vocabulary, 1))
    starts = np.searchsorted(first, np.arange(vocabulary + 1))
    alone = np.bincount(reference, minlength=vocabulary) * single
    return shared_counts(
        words,
        offsets,
        starts,
        second.astype(np.int32),
        most.astype(np.int32),
        alone.astype(np.int32),
        farthest,
    )
