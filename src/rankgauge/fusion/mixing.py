"""Mixtures: the documents of several runs with their labels, on the way to any weights of the runs."""

from __future__ import annotations

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.policies import Absent, Missing
from rankgauge.core.records import Record
from rankgauge.data.model import UNJUDGED, Judgments
from rankgauge.fusion.normalizations import fill_absent, normalize_scores
from rankgauge.fusion.pool import Pool
from rankgauge.measures.base import Measure
from rankgauge.native import ids as native
from rankgauge.rankings.alignment import rows_of
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of
from rankgauge.space.lines import Segment


class LabeledPool(Record):
    """The documents of a pool for each judged query, as lists of labels; `rows` are their rows there.

    The documents of a list stand in the order that they have where their scores are equal.
    """

    documents: Rankings
    rows: Ints
    lengths: Ints
    """Queries × runs: the number of documents in each run."""

    @classmethod
    def of(cls, pool: Pool, judgments: Judgments, judged: JudgedLabels) -> LabeledPool:
        """The documents of the pool, labeled; a judged query that the pool lacks has an empty list."""
        topic = rows_of(pool.queries, judgments.queries)
        sizes = np.where(topic >= 0, np.diff(pool.bounds)[topic], 0)
        offsets = offsets_of(sizes)
        first = np.where(topic >= 0, pool.bounds[topic], 0)
        rows = np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], sizes)
        documents = pool.documents.take(rows)
        row = native.match(
            documents.data,
            documents.offsets,
            offsets,
            judgments.documents.data,
            judgments.documents.offsets,
            judgments.bounds,
            np.arange(len(judgments.queries)),
        )
        labels = np.full(len(rows), UNJUDGED, dtype=np.int32)
        labels[row >= 0] = judgments.grades[row[row >= 0]]
        lists = np.arange(len(judgments.queries))
        known = None if judged.aspects is None else row
        lengths = np.where((topic >= 0)[:, None], pool.lengths[topic], 0)
        return cls(Rankings(np.maximum(labels, -2), offsets, lists, judged, known), rows, lengths)

    def queries_to_keep(self, missing: Missing) -> Bools:
        """Which queries take part, if some runs lack documents for some of them."""
        return np.asarray((self.lengths > 0).all(axis=1) | (missing == "zero"))


class Mixture(Record):
    """Documents with a score from each run, normalized: any weights of the runs rank them."""

    documents: Rankings
    scores: Floats

    @classmethod
    def of(cls, pool: Pool, labeled: LabeledPool, normalize: str, absent: Absent) -> Mixture:
        """The scores of the runs, normalized. A list that takes no part adds nothing."""
        values = fill_absent(normalize_scores(pool, normalize), pool.bounds, absent)
        return cls(labeled.documents, np.nan_to_num(values[labeled.rows]))

    def segment(self, start: Floats, end: Floats) -> Segment:
        """The documents on their way from some weights to others."""
        return Segment(self.documents, self.scores @ start, self.scores @ end)

    def lists_at(self, weights: Floats) -> Rankings:
        """The lists as these weights rank them."""
        return self.segment(weights, weights).at(0)

    def values_at(self, weights: Floats, measure: Measure) -> Floats:
        """The score of each list."""
        return measure.score_each(self.lists_at(weights))

    def take(self, lists: Ints) -> Mixture:
        """The same for some of the lists."""
        from_, sizes = self.documents.offsets[:-1][lists], self.documents.lengths[lists]
        offsets = offsets_of(sizes)
        rows = np.arange(offsets[-1]) + np.repeat(from_ - offsets[:-1], sizes)
        part = Rankings(
            self.documents.labels[rows],
            offsets,
            self.documents.query[lists],
            self.documents.judged,
            None if self.documents.rows is None else self.documents.rows[rows],
        )
        return Mixture(part, self.scores[rows])
