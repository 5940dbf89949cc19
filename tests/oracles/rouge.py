"""ROUGE straight from its definitions, and its mean over all texts of words of a source."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

Words = Sequence[str]
Counts = tuple[float | Fraction, float | Fraction, float | Fraction]
"""Hits, units of the output, units of the reference."""


def words(text: str) -> list[str]:
    """Runs of letters a to z and digits, in lower case."""
    kept = "".join(c if c in "abcdefghijklmnopqrstuvwxyz0123456789" else " " for c in text.lower())
    return kept.split()


def common(own: Iterable[object], theirs: Iterable[object]) -> Counts:
    a, b = Counter(own), Counter(theirs)
    hits = sum(min(a[gram], b[gram]) for gram in b)
    return Fraction(hits), Fraction(sum(a.values())), Fraction(sum(b.values()))


def ngrams(own: Words, theirs: Words, n: int) -> Counts:
    def grams(text: Words) -> list[tuple[str, ...]]:
        return [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]

    return common(grams(own), grams(theirs))


def subsequence(own: Words, theirs: Words) -> Counts:
    """The longest common subsequence, by trying all subsequences of the shorter text."""
    short, long = sorted((list(own), list(theirs)), key=len)
    for size in range(len(short), -1, -1):
        for chosen in itertools.combinations(short, size):
            rest = iter(long)
            if all(word in rest for word in chosen):
                return Fraction(size), Fraction(len(own)), Fraction(len(theirs))
    raise AssertionError


def weighted_subsequence(own: Words, theirs: Words, weight: float) -> Counts:
    """The algorithm of Lin 2004, section 4, with the whole tables c and w."""
    m, n = len(theirs), len(own)
    c = [[0.0] * (n + 1) for _ in range(m + 1)]
    w = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            if theirs[i - 1] == own[j - 1]:
                k = w[i - 1][j - 1]
                c[i][j] = c[i - 1][j - 1] + (k + 1) ** weight - k**weight
                w[i][j] = k + 1
            elif c[i - 1][j] > c[i][j - 1]:
                c[i][j] = c[i - 1][j]
            else:
                c[i][j] = c[i][j - 1]
    return c[m][n], n**weight, m**weight


def skip_bigrams(own: Words, theirs: Words, skip: int | None, unigram: bool = False) -> Counts:
    """Pairs of words in order, at most so many words between them."""

    def grams(text: Words) -> list[tuple[str, ...]]:
        pairs = [
            (text[i], text[j])
            for i, j in itertools.combinations(range(len(text)), 2)
            if skip is None or j - i - 1 <= skip
        ]
        return pairs + [(word,) for word in text if unigram]

    return common(grams(own), grams(theirs))


def part(counts: Counts, name: str, power: float = 1) -> float | Fraction:
    """Precision, recall or F. ROUGE-W takes a root of the shares: `power` is 1 / weight."""
    hits, own, theirs = counts
    precision = (hits / own if own else Fraction(0)) ** power
    recall = (hits / theirs if theirs else Fraction(0)) ** power
    if name == "f":
        both = precision + recall
        return 2 * precision * recall / both if both else Fraction(0)
    return precision if name == "precision" else recall


def combined(
    every: Sequence[Counts], name: str, references: str, power: float = 1
) -> float | Fraction:
    """One score from the counts with each reference."""
    if references == "first":
        return part(every[0], name, power)
    if references == "pooled":
        hits, own, theirs = (sum(column) for column in zip(*every, strict=True))
        return part((hits, own, theirs), name, power)
    scores = [part(counts, name, power) for counts in every]
    return max(scores) if references == "max" else sum(scores) / len(scores)


def expected(source: Words, length: int, score: Callable[[Words], float | Fraction]) -> Fraction:
    """The mean score of all texts of so many words of the source."""
    total = sum(
        (Fraction(score(text)) for text in itertools.product(source, repeat=length)), Fraction(0)
    )
    return total / len(source) ** length
