"""Texts beside each of their references: what ROUGE and BERTScore have in common."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.records import Record
from rankgauge.text.data.texts import Texts
from rankgauge.text.tokens import reference_counts

MEAN, MAX, POOLED, FIRST = "mean", "max", "pooled", "first"
F, PRECISION, RECALL = "f", "precision", "recall"


class ReferenceGrid(Record):
    """Pairs of a text and a reference: each of some texts beside each of its references.

    `row` is the number of the text, and `reference` is the number of the reference among all
    references. `edges` is where the pairs of each text begin, with the end of the last.
    """

    row: Ints
    reference: Ints
    edges: Ints

    @classmethod
    def of(cls, texts: Texts, of: Ints, first: bool) -> ReferenceGrid:
        """The grid of texts that belong to these numbers, with all references or the first alone."""
        number = np.array([len(each) for each in texts.references], dtype=np.int64)
        begin = np.cumsum(number) - number
        size = np.ones(len(of), dtype=np.int64) if first else number[of]
        edges = np.append(0, np.cumsum(size))
        row = np.repeat(np.arange(len(of)), size)
        return cls(row, begin[of][row] + np.arange(len(row)) - edges[row], edges)

    @property
    def sizes(self) -> Ints:
        """How many references each text has."""
        return np.diff(self.edges)

    def combine(self, scores: Floats, references: str) -> Floats:
        """The score of each text from its scores by each reference: the highest one, or the mean."""
        if len(self.edges) == 1:
            return np.zeros(0)
        if references == MAX:
            return np.asarray(np.maximum.reduceat(scores, self.edges[:-1]))
        return np.asarray(np.add.reduceat(scores, self.edges[:-1]) / self.sizes)


def iter_groups(of: Ints) -> Iterator[tuple[int, int, int]]:
    """Where the same number is repeated: the number, the first place and the place after the last."""
    cuts = np.flatnonzero(np.diff(of)) + 1
    edges = [0, *cuts.tolist(), len(of)] if len(of) else [0]
    for start, stop in itertools.pairwise(edges):
        yield int(of[start]), start, stop


def first_lengths(texts: Texts) -> Ints:
    """How many words the first reference of each text has, and at least one."""
    return np.array([max(1, int(each[0])) for each in reference_counts(texts)], dtype=np.int64)
