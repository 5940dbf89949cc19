"""BM25 on term statistics, as an example of a ranking function whose parameters are not weights.

The score of a document d for a query (Robertson and Zaragoza 2009, The probabilistic relevance
framework: BM25 and beyond, section 3.4)::

    score(d) = Σ over terms w of  idf(w) · tf · (k1 + 1) / (tf + k1 · (1 − b + b · length / mean length))

where tf says how often w is in d. As a function of b, and but for the factor k1 + 1 as a function of k1,
a term is c / (p + q·t). So all flips over b, and over k1, can be found for certain; `BM25.map` puts the
curves over one at values of the other together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Literal, TypeAlias, TypeVar

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Number, check_value
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import Progress
from rankgauge.core.records import Value
from rankgauge.errors import RankgaugeError
from rankgauge.measures.grammar import AnyMeasure
from rankgauge.native.segments import segment_sum
from rankgauge.rankings.lists import offsets_of
from rankgauge.space.nonlinear.crossings import ParameterCrossings
from rankgauge.space.nonlinear.isolation import UNIT_ROUNDOFF, RationalScorer, Term, Terms
from rankgauge.space.nonlinear.maps import ROWS, PairScorer, ParameterMap, parameter_map
from rankgauge.space.nonlinear.roots import ParameterCurve, curve, limits
from rankgauge.space.nonlinear.term_statistics import TermStatistics

__all__ = ["BM25", "BM25Scorer", "TermStatistics"]

Idf: TypeAlias = Literal["lucene", "robertson"]
Parameter: TypeAlias = Literal["b", "k1"]

T = TypeVar("T")

DEFAULT_INTERVALS = {"b": (0.0, 1.0), "k1": (0.0, 3.0)}
"""The interval of values examined for a parameter."""


class BM25(Value):
    """BM25 with its parameters.

    `k1`: how soon more occurrences of a term stop to matter; 0 ignores how many there are. `b`: how much
    the length of a document matters; 0 ignores it. `idf`: the weight of a term that is in df of the N
    documents:

    - `lucene`: log(1 + (N − df + 0.5) / (df + 0.5)), which is never negative;
    - `robertson`: log((N − df + 0.5) / (df + 0.5)), which is negative if more than half of the documents
      have the term. Then a document with the term is worse than one without.

    >>> statistics = TermStatistics.of_texts(
    ...     {"q": "red fox"}, {"d1": "a red fox", "d2": "a red barn and a red door", "d3": "a hen"}
    ... )
    >>> statistics.docnos, BM25().scores(statistics).round(3).tolist()
    (('d2', 'd1'), [0.534, 1.616])
    >>> BM25().flips(statistics, "b")
    0 flips of 1 pair, certified
    """

    k1: float = 1.2
    b: float = 0.75
    idf: Idf = "lucene"

    def __post_init__(self) -> None:
        check_value("k1", self.k1, Number(0))
        check_value("b", self.b, Number(0, 1))
        check_value("idf", self.idf, Choice(("lucene", "robertson")))

    def weights(self, statistics: TermStatistics) -> Floats:
        """The idf of each term of each query, as often as the query has the term: queries × terms."""
        frequency, count = statistics.frequency, statistics.documents
        odds = (count - frequency + 0.5) / (frequency + 0.5)
        idf = np.log1p(odds) if self.idf == "lucene" else np.log(odds)
        return np.asarray(idf * statistics.repeated)

    def scores(self, statistics: TermStatistics) -> Floats:
        """The score of each row."""
        (scores,) = self.over("b", statistics).each(np.array([float(self.b)]))
        return np.asarray(scores)

    def over(self, parameter: Parameter, statistics: TermStatistics) -> BM25Scorer:
        """The scores as a function of `b` or `k1`; the other one stays as it is."""
        return BM25Scorer(self, statistics, parameter)

    def flips(
        self,
        statistics: TermStatistics,
        parameter: Parameter = "b",
        interval: Sequence[float] | None = None,
    ) -> ParameterCrossings:
        """All flips over a parameter, for certain; by default b from 0 to 1, k1 from 0 to 3."""
        scorer = self.over(parameter, statistics)
        low, high = scorer.checked_interval(interval)
        return scorer.crossings(statistics.offsets, low, high)

    def curve(
        self,
        statistics: TermStatistics,
        judgments: Mapping[str, Mapping[str, int]],
        measure: AnyMeasure,
        *,
        parameter: Parameter = "b",
        interval: Sequence[float] | None = None,
    ) -> ParameterCurve:
        """The certified curve of a measure over `b` or `k1`.

        Parameters
        ----------
        statistics
            The queries and documents.
        judgments
            For each query the grades of its documents.
        measure
            The measure.
        parameter
            `b` or `k1`; the other one stays as it is.
        interval
            The lowest and the highest value; by default 0 to 1 for b, and 0 to 3 for k1.
        """
        scorer = self.over(parameter, statistics)
        ends = scorer.checked_interval(interval)
        _check_queries(statistics, judgments)
        return curve(scorer, ends, statistics.rankings(judgments), measure)

    def map(
        self,
        statistics: TermStatistics,
        judgments: Mapping[str, Mapping[str, int]],
        measure: AnyMeasure,
        *,
        parameter: Parameter = "b",
        intervals: Mapping[Parameter, Sequence[float]] | None = None,
        at: int | Sequence[float] = ROWS,
        progress: Progress | None = None,
    ) -> ParameterMap:
        """A measure over b and k1 together: certified curves over one at values of the other.

        Parameters
        ----------
        statistics
            The queries and documents.
        judgments
            For each query the grades of its documents.
        measure
            The measure.
        parameter
            The parameter along the curves, `b` or `k1`.
        intervals
            The lowest and the highest value of b and of k1; by default 0 to 1 for b, and 0 to 3 for k1.
        at
            The values of the other parameter, or how many of them at equal distances.
        progress
            Is called after each curve.
        """
        pair = BM25Pair(self, statistics, parameter)
        ends = [
            pair.along(own, 0.5).checked_interval((intervals or {}).get(name))
            for own, name in enumerate(pair.parameters)
        ]
        _check_queries(statistics, judgments)
        lists = statistics.rankings(judgments)
        return parameter_map(pair, ends, lists, measure, at=at, progress=progress)


class BM25Pair(PairScorer):
    """BM25 as a function of b and k1; `parameter` is the first of them."""

    parameters: tuple[Parameter, Parameter]

    def __init__(self, model: BM25, statistics: TermStatistics, parameter: Parameter) -> None:
        check_value("parameter", parameter, Choice(("b", "k1")))
        self.parameters = ("b", "k1") if parameter == "b" else ("k1", "b")
        self._model, self._statistics = model, statistics

    def along(self, parameter: int, other: float) -> BM25Scorer:
        own, rest = self.parameters[parameter], self.parameters[1 - parameter]
        model = replace(self._model, b=other) if rest == "b" else replace(self._model, k1=other)
        return model.over(own, self._statistics)


class BM25Scorer(RationalScorer):
    """BM25 as a function of b or of k1."""

    def __init__(self, model: BM25, statistics: TermStatistics, parameter: Parameter) -> None:
        self.parameter = check_value("parameter", parameter, Choice(("b", "k1")))
        self.rows, self._model = len(statistics.lengths), model
        self._lengths = statistics.lengths
        self._mean = statistics.mean_length or Fraction(1)  # without a word no length matters
        self._row, column = np.nonzero(statistics.counts)
        self._bounds = np.searchsorted(self._row, np.arange(self.rows + 1))
        self._count = statistics.counts[self._row, column]
        self._weight = statistics.each_row(model.weights(statistics))[self._row, column]
        order = np.argsort(column, kind="stable")
        ends = np.searchsorted(column[order], np.arange(1, max(statistics.counts.shape[1], 1)))
        self._columns = np.split(order, ends)  # the places of the terms in each column
        distinct, which = np.unique(statistics.lengths, return_inverse=True)
        self._ratio = _nearest_doubles(self._length_ratio(length) for length in distinct.tolist())[
            which
        ]

    def _length_ratio(self, length: int) -> Fraction:
        """The length of a document over the mean length."""
        return Fraction(length) / self._mean

    def checked_interval(self, interval: Sequence[float] | None) -> tuple[float, float]:
        """The lowest and the highest value; RankgaugeError for values that the parameter cannot have."""
        low, high = limits(DEFAULT_INTERVALS[self.parameter] if interval is None else interval)
        kind = Number(0, 1.0 if self.parameter == "b" else math.inf)
        for end in (low, high):
            check_value(f"interval of {self.parameter}", end, kind)
        return low, high

    def _b_and_k1(self, value: T) -> tuple[T | float, T | float]:
        """B and k1, if the parameter has this value."""
        return (value, self._model.k1) if self.parameter == "b" else (self._model.b, value)

    def each(self, values: Floats) -> Floats:
        b, k1 = self._b_and_k1(values[:, None])
        norm = np.broadcast_to(k1 * ((1 - b) + b * self._ratio), (len(values), self.rows))
        scores = np.zeros(norm.shape)
        for own in self._columns:
            rows, count = self._row[own], self._count[own]
            scores[:, rows] += self._weight[own] * count / (count + norm[:, rows])
        return np.asarray(scores * (k1 + 1))

    def at(self, values: Floats, rows: Ints) -> Floats:
        flat = rows.ravel()
        b, k1 = self._b_and_k1(np.repeat(values, rows.size // max(len(rows), 1)))
        sizes = np.diff(self._bounds)[flat]
        bounds = offsets_of(sizes)
        which = np.arange(bounds[-1]) + np.repeat(self._bounds[flat] - bounds[:-1], sizes)
        norm = np.repeat(k1 * ((1 - b) + b * self._ratio[flat]), sizes)
        count = self._count[which]
        scores = segment_sum(self._weight[which] * count / (count + norm), bounds) * (k1 + 1)
        return np.asarray(scores).reshape(rows.shape)

    def room(self, values: Floats) -> Floats:
        _, k1 = self._b_and_k1(values)
        size = segment_sum(np.abs(self._weight), self._bounds) * (k1 + 1)
        return np.asarray(self._error * size)

    @property
    def _error(self) -> float:
        """By what share of the sum of its terms' sizes a score is wrong at most."""
        return (4 * int(np.diff(self._bounds).max(initial=0)) + 40) * UNIT_ROUNDOFF

    def kinds(self) -> Ints:
        order = np.lexsort((self._weight, self._count, self._row))
        counts, weights = self._count[order], self._weight[order]
        numbers: dict[object, int] = {}
        ends = itertools.pairwise(self._bounds.tolist())
        kinds = []
        for (start, end), length in zip(ends, self._lengths.tolist(), strict=True):
            own = counts[start:end].tobytes(), weights[start:end].tobytes()
            kinds.append(numbers.setdefault((*own, end > start and length), len(numbers)))
        return np.array(kinds, dtype=np.int64)

    def terms(self, low: float, high: float) -> Terms:
        """The terms of all rows between two values; those of one row with equal counts are added up.

        Over b they are without the factor k1 + 1. Over k1 a term is, with g = 1 − b + b · length / mean,
        c (k1 + 1) / (tf + g k1) = c / g + c (1 − tf / g) / (tf + g k1).
        """
        row, count, factor = self._merge_terms()
        start, end = (
            count + k1 * ((1 - b) + b * self._ratio[row])
            for b, k1 in map(self._b_and_k1, (low, high))
        )
        pairs = np.column_stack((self._lengths[row], count))
        distinct, which = np.unique(pairs, axis=0, return_inverse=True)
        which, span = which.ravel(), Fraction(high) - Fraction(low)
        ratios = [self._length_ratio(length) for length, _ in distinct.tolist()]
        if self.parameter == "b":
            span *= Fraction(self._model.k1)
            rise = _nearest_doubles(span * (ratio - 1) for ratio in ratios)[which]
            return Terms(factor, start, end, rise, self._offsets(row), self._error)
        norms = [1 + Fraction(self._model.b) * (ratio - 1) for ratio in ratios]
        rise = _nearest_doubles(span * norm for norm in norms)[which]
        share = (1 - tf / norm for norm, (_, tf) in zip(norms, distinct.tolist(), strict=True))
        constant = factor / _nearest_doubles(norms)[which]
        factor = factor * _nearest_doubles(share)[which]
        ones, zeros, twice = np.ones(len(row)), np.zeros(len(row)), np.append(row, row)
        order = np.argsort(twice, kind="stable")
        pairs_of_terms = (factor, constant), (start, ones), (end, ones), (rise, zeros)
        factor, start, end, rise = (np.append(*both)[order] for both in pairs_of_terms)
        return Terms(factor, start, end, rise, self._offsets(twice[order]), self._error)

    def _offsets(self, row: Ints) -> Ints:
        return np.searchsorted(row, np.arange(self.rows + 1))

    def _merge_terms(self) -> tuple[Ints, Ints, Floats]:
        """Terms of a row with the same count, and weights of the same sign, as one.

        The result has the row, the count, and the sum of weight times count.
        """
        negative = self._weight < 0
        order = np.lexsort((negative, self._count, self._row))
        row, count, sign = self._row[order], self._count[order], negative[order]
        new = np.ones(len(order), dtype=np.bool_)
        new[1:] = (np.diff(row) != 0) | (np.diff(count) != 0) | (sign[1:] != sign[:-1])
        bounds = np.append(np.flatnonzero(new), len(order))
        total = segment_sum(self._weight[order], bounds)
        return row[new], count[new], total * count[new]

    def exact_terms(self, row: int, low: float, high: float) -> list[Term]:
        """The terms of a row between two values, as fractions, without the factor k1 + 1.

        The counts, the lengths, their mean, and the doubles k1, b and idf are taken as they are.
        """
        ratio = self._length_ratio(int(self._lengths[row]))
        own = slice(*self._bounds[row : row + 2].tolist())
        ends = (map(Fraction, self._b_and_k1(value)) for value in (low, high))
        first, last = (k1 * (1 - b + b * ratio) for b, k1 in ends)
        counts, weights = self._count[own].tolist(), self._weight[own].tolist()
        return [
            (Fraction(weight) * count, count + first, count + last)
            for count, weight in zip(counts, weights, strict=True)
            if weight
        ]


def _check_queries(statistics: TermStatistics, judgments: Mapping[str, Mapping[str, int]]) -> None:
    """RankgaugeError if no query has judgments."""
    if not set(judgments) & set(statistics.queries):
        raise RankgaugeError(
            f"none of the {count_phrase(len(statistics.queries), 'query')} has judgments, "
            "expected judgments with the same ids"
        )


def _nearest_doubles(numbers: Iterable[Fraction]) -> Floats:
    """Fractions, each as the nearest double."""
    return np.array([float(number) for number in numbers], dtype=np.float64)
