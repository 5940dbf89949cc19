"""Words and sentences of texts, as Google's rouge-score has them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.text.data.texts import Candidates, Texts

SplitWords: TypeAlias = Callable[[str], list[str]]
"""A way to split a text into words."""
WORD = re.compile(r"[a-z0-9]+")
_SPACE_TABLE = bytes(byte if WORD.match(chr(byte)) else ord(" ") for byte in range(256))
"""Maps each byte that is not part of a word to a space."""
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
"""A sentence ends at a period, exclamation point or question mark before a space, or at a line end."""


def words_of(text: str) -> list[str]:
    """Split a text into words: runs of the letters a to z and digits, in lower case.

    Google's rouge-score splits texts in the same way.

    Parameters
    ----------
    text : str
        The text.

    Returns
    -------
    list of str
        The words, in order.

    Examples
    --------
    >>> from rankgauge.text import words_of
    >>> words_of("It's 3.5 percent!")
    ['it', 's', '3', '5', 'percent']
    """
    return text.lower().encode("ascii", "replace").translate(_SPACE_TABLE).decode("ascii").split()


def first_words(text: str, count: int) -> str:
    """The beginning of a text, up to the end of so many words.

    >>> first_words("One, two, three.", 2)
    'One, two'
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few letters become two: then only the lower case is cut
        text = lower
    ends = (match.end() for match in WORD.finditer(lower))
    return text[: next(itertools.islice(ends, count - 1, None), len(text))]


def word_counts(texts: Iterable[str], split: SplitWords = words_of) -> Ints:
    """How many words each text has."""
    return np.array([len(split(text)) for text in texts], dtype=np.int64)


def candidate_counts(candidates: Candidates, split: SplitWords = words_of) -> Ints:
    """How many words each candidate has."""
    return candidates.once(
        (candidate_counts, split), lambda: word_counts(candidates.outputs, split)
    )


def reference_counts(texts: Texts) -> list[Ints]:
    """How many words each reference of each text has."""
    return texts.once(_reference_counts)


def _reference_counts(texts: Texts) -> list[Ints]:
    return [word_counts(references) for references in texts.references]


def source_words(texts: Texts, text: int, split: SplitWords = words_of) -> list[str]:
    """The words of the source of a text."""
    return texts.once(_source_words, split)[text]


def _source_words(texts: Texts, split: SplitWords) -> list[list[str]]:
    # One object for each different word: a million words of sources are then a million pointers.
    known: dict[str, str] = {}
    return [[known.setdefault(word, word) for word in split(each)] for each in texts.sources]


def source_sentences(texts: Texts, text: int) -> list[tuple[str, int]]:
    """The sentences of the source of a text, each with its number of words, which is at least one."""
    return texts.once(_source_sentences)[text]


def _source_sentences(texts: Texts) -> list[list[tuple[str, int]]]:
    sentences = []
    for source in texts.sources:
        each = [sentence for sentence in SENTENCE_END.split(source) if sentence.strip()]
        counts = word_counts(each).tolist()
        sentences.append([pair for pair in zip(each, counts, strict=True) if pair[1]])
    return sentences
