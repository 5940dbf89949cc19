"""Linear scorers: documents ranked by a weighted sum of their feature values."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats
from rankgauge.core.policies import SEED
from rankgauge.core.records import Record
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse, parse_all
from rankgauge.rankings.lists import Rankings, offsets_of
from rankgauge.space.inputs import (
    FeatureRows,
    add_jitter,
    features_of,
    lists_of,
    weighted_sums,
    weights_of,
)
from rankgauge.space.lines import Segment, mean_of

DOCUMENTS_AT_A_TIME = 1 << 15
"""Maximum number of documents ranked together, unless one array of scores has more: they stay in the
cache of a processor."""


class LinearScorer(Record):
    """Documents, their labels and feature values; any weights rank them.

    `values` has a column a weight. With `jitter` it has one more, the last, whose weight is 1. `names`
    are those of the weights, for tables and figures.
    """

    _renamed: ClassVar[dict[str, str]] = {
        "varying": "varying_features",
        "mean_by": "mean_of_scores",
        "means_by": "means_of_scores",
    }

    features: Features
    documents: Rankings
    values: Floats
    jitter: bool = False
    names: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        documents: FeatureRows | LinearScorer,
        jitter: float | None = None,
        seed: int = SEED,
    ) -> LinearScorer:
        """The documents as a scorer; `jitter` is the greatest random number that is added to a score."""
        if isinstance(documents, LinearScorer):
            if jitter is None:
                return documents
            features, lists, names = documents.features, documents.documents, documents.names
        else:
            features, names = features_of(documents), ()
            lists = lists_of(features)
        values = features.values if jitter is None else add_jitter(features, jitter, seed).values
        if not len(features.queries):
            raise RankgaugeError("no queries, expected documents of at least one query")
        columns = np.asfortranarray(values, dtype=np.float64)
        return cls(features, lists, columns, jitter is not None, names)

    def name(self, column: int) -> str:
        """The name of a weight, from 0."""
        return self.names[column] if self.names else f"weight {column + 1}"

    @property
    def width(self) -> int:
        """How many weights there are."""
        return int(self.values.shape[1]) - self.jitter

    @cached_property
    def varying_features(self) -> list[int]:
        """The features that can change a ranking: their values differ within some query."""
        first = self.documents.offsets[:-1][self.documents.lengths > 0]
        columns = self.values[:, : self.width].T
        return [
            number
            for number, column in enumerate(columns)
            if (np.maximum.reduceat(column, first) > np.minimum.reduceat(column, first)).any()
        ]

    def weights(self, name: str, weights: ArrayLike) -> Floats:
        """The weights as an array, checked."""
        return weights_of(name, weights, self.width)

    def scores(self, weights: Floats, constant: float = 1.0) -> Floats:
        """The score of each document. The jitter is multiplied by `constant`: 0 for a direction."""
        each = np.append(weights, constant) if self.jitter else weights
        with np.errstate(over="ignore", invalid="ignore"):  # a segment refuses what is not finite
            return weighted_sums(self.values, each)

    def segment(self, start: Floats, end: Floats) -> Segment:
        """The documents on their way from some weights to others."""
        return Segment(self.documents, self.scores(start), self.scores(end))

    def lists_at(self, weights: Floats) -> Rankings:
        """The lists as these weights rank them."""
        return self.segment(weights, weights).at(0)

    def mean_at(self, weights: Floats, measure: Measure | Aggregate) -> float:
        """The mean of a measure with these weights, evaluated there."""
        return self.mean_of_scores(self.scores(weights), measure)

    def mean_of_scores(self, scores: Floats, measure: Measure | Aggregate) -> float:
        """The mean of a measure where each document has this score."""
        return Segment(self.documents, scores, scores).mean_at(0, measure)

    def means_of_scores(
        self, scores: Iterable[Floats], measure: Measure | Aggregate
    ) -> Iterator[float]:
        """The means of a measure for several arrays of scores, which are ranked together.

        For few documents this is faster than `mean_of_scores` for each array.
        """
        lists, remaining = self.documents, iter(scores)
        size = max(1, DOCUMENTS_AT_A_TIME // max(1, len(lists.labels)))
        while together := list(itertools.islice(remaining, size)):
            count = len(together)
            repeated = Rankings(
                np.tile(lists.labels, count),
                offsets_of(np.tile(lists.lengths, count)),
                np.tile(lists.query, count),
                lists.judged,
                None if lists.rows is None else np.tile(lists.rows, count),
            )
            flat = np.concatenate(together)
            values = inner(measure).score_each(Segment(repeated, flat, flat).at(0))
            for own in values.reshape(count, len(lists)):
                yield mean_of(own, measure)


def number_of(measure: AnyMeasure, measures: tuple[Measure | Aggregate, ...]) -> int:
    """The place of a measure among those that were asked for."""
    parsed = parse(measure)
    if parsed not in measures:
        names = ", ".join(map(str, measures))
        raise RankgaugeError(f"{parsed} was not requested, expected one of {names}")
    return measures.index(parsed)


def measures_of(measures: AnyMeasure | Iterable[AnyMeasure]) -> tuple[Measure | Aggregate, ...]:
    """One measure or several, each once; RankgaugeError where there is none."""
    parsed = tuple(dict.fromkeys(parse_all(measures)))
    if not parsed:
        raise RankgaugeError("no measure, expected at least one, such as nDCG@10")
    for measure in parsed:
        inner(measure).complete()
    return parsed
