"""Lower bounds of distances, as the literature has them: a greedy rule and tabu search.

Both make free documents relevant one by one, with the highest grade, and keep the greatest difference
that they meet. Some labels give this difference, so it is a lower bound. The greedy rule is Algorithm 1
of Moffat 2017, Computing maximized effectiveness distance for recall-based metrics. With nDCG and two
grades it is exact; with AP its weights are those of Equation 13, and it is not exact (docs/ERRATA.md).
Tabu search is what Tan and Clarke 2015 use for SSP.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.policies import MedMethod
from rankgauge.distance.algorithms.any_measure import Lead
from rankgauge.distance.algorithms.lists import GreatestDifferences, ListPairs, Lists
from rankgauge.measures.base import Measure
from rankgauge.rankings.lists import JudgedLabels, Rankings

TENURE = 4
"""Number of rounds of tabu search for which a changed label is kept."""

LEAST_ROUNDS = 40
"""Minimum number of rounds of tabu search; with many free documents, two for each."""

ROUNDING = 1e-12
"""The threshold above which an increase counts."""


class TraceStep(NamedTuple):
    """A step of the greedy rule: a document becomes relevant.

    `weight_a` and `weight_b` say what the document adds to the numerators of the two scores, and
    `difference` is the first minus the second. Then there are `relevant` relevant documents, the
    difference of the numerators is `numerator`, and the scores differ by numerator / denominator. The
    first step of a side has no document. `ahead` is the list that the side puts ahead, "a" or "b"; the
    numerator is positive if that list is ahead.
    """

    ahead: str
    document: int | None
    weight_a: float | None
    weight_b: float | None
    difference: float | None
    relevant: int
    numerator: float
    denominator: float
    quotient: float


def lower_bounds(measure: Measure, pairs: ListPairs, method: MedMethod) -> GreatestDifferences:
    """How far each list of each pair was put ahead by a greedy rule or by tabu search."""
    pairs = replace(pairs, lists=pairs.lists.top(measure.depth))
    search = _greedy_leads if method == "greedy" else _tabu_search
    found = [search(measure, pairs.lists.select_pair(a, b)) for a, b in pairs]
    low, high = measure.range if measure.range_is_declared else (-np.inf, np.inf)
    return pairs.differences_from_labels(found, np.zeros(len(pairs), dtype=np.bool_), high - low)


class _Scorer:
    """Scores two lists, the first minus the second, under rows of labels of all their documents.

    Each row is of one of the `variants`: the free documents' labels that count as judged.
    """

    def __init__(self, measure: Measure, two: Lists) -> None:
        self.measure, self.two = measure, two
        self.free = np.flatnonzero(two.free)

    def judged_labels(self, *variants: NDArray[np.int32]) -> JudgedLabels:
        known = self.two.judged
        return JudgedLabels.of(
            *(np.concatenate((known.labels, labels[self.free])) for labels in variants),
            pooled=int(known.pooled[0]),
            max_grade=known.max_grade,
        )

    def scores(
        self, rows: NDArray[np.int32], judged: JudgedLabels, variant: Ints | None = None
    ) -> list[Floats]:
        """The scores of both lists for each row; by default all rows are of the first variant."""
        if variant is None:
            variant = np.zeros(len(rows), dtype=np.int64)
        both = []
        for one in range(2):
            listed = self.two.list(one)
            lists = Rankings(
                np.ascontiguousarray(rows[:, listed]).ravel(),
                np.arange(len(rows) + 1) * len(listed),
                variant,
                judged,
            )
            both.append(np.nan_to_num(self.measure.score_each(lists), nan=0.0))
        return both

    def relabel_each(
        self, labels: NDArray[np.int32], documents: Ints, to: Ints
    ) -> NDArray[np.int32]:
        """A row for each of these documents, in which it has its new label."""
        rows = np.repeat(labels[None, :], len(documents), axis=0)
        rows[np.arange(len(documents)), documents] = to
        return rows


def _greedy_leads(measure: Measure, two: Lists) -> list[Lead]:
    return [ahead for ahead, _ in greedy_search(measure, two)]


def greedy_search(measure: Measure, two: Lists) -> list[tuple[Lead, tuple[TraceStep, ...]]]:
    """Run Algorithm 1 for each of two lists ahead, and return the leads with the steps.

    The algorithm makes relevant, one by one, the free document that adds most to the difference of the
    numerators, as long as one adds anything.
    """
    scorer, top = _Scorer(measure, two), int(two.grades[-1])
    start = np.where(two.free, 0, two.labels).astype(np.int32)
    found = []
    for side, sign in (("a", 1), ("b", -1)):
        labels, left = start.copy(), scorer.free.tolist()
        judged = scorer.judged_labels(labels)
        divisor = float(measure.divisor_each(judged)[0])
        here = [float(score[0]) * divisor for score in scorer.scores(labels[None, :], judged)]
        steps: list[TraceStep] = []
        best, best_labels = -np.inf, labels
        document: int | None = None
        weights: tuple[float | None, float | None, float | None] = (None, None, None)
        while True:
            ahead = sign * (here[0] - here[1]) + 0.0  # no -0.0
            quotient = ahead / divisor if divisor else 0.0
            relevant = int(judged.relevant(measure.relevant_from)[0])
            steps.append(TraceStep(side, document, *weights, relevant, ahead, divisor, quotient))
            if quotient > best:
                best, best_labels = quotient, labels.copy()
            if not left:
                break
            rows = scorer.relabel_each(labels, np.array(left), np.full(len(left), top))
            judged = scorer.judged_labels(rows[0])
            divisor = float(measure.divisor_each(judged)[0])
            a, b = (score * divisor for score in scorer.scores(rows, judged))
            added = sign * ((a - here[0]) - (b - here[1]))
            chosen = int(np.argmax(added))
            if added[chosen] <= ROUNDING:
                break
            document = left.pop(chosen)
            own, other = float(a[chosen] - here[0]), float(b[chosen] - here[1])
            weights, here = (own, other, own - other), [float(a[chosen]), float(b[chosen])]
            labels = rows[chosen]
        found.append(((best, best_labels), tuple(steps)))
    return found


def _tabu_search(measure: Measure, two: Lists) -> list[Lead]:
    """Search by tabu search for the labels that put each of two lists furthest ahead.

    Each round changes the label whose change is best, even where it makes the difference smaller. A
    changed label is left alone for some rounds, unless it leads to a new best difference.
    """
    scorer, top = _Scorer(measure, two), int(two.grades[-1])
    free = scorer.free
    start = np.where(two.free, 0, two.labels).astype(np.int32)
    found = []
    for sign in (1, -1):
        labels = start.copy()
        judged = scorer.judged_labels(labels)
        a, b = scorer.scores(labels[None, :], judged)
        best, best_labels = sign * float(a[0] - b[0]), labels
        until = np.zeros(len(free), dtype=np.int64)
        for now in range(1, max(LEAST_ROUNDS, 2 * len(free)) + 1 if len(free) else 0):
            is_relevant = labels[free] > 0
            rows = scorer.relabel_each(labels, free, np.where(is_relevant, 0, top))
            more, fewer = (rows[np.argmax(is_relevant == kind)] for kind in (False, True))
            judged = scorer.judged_labels(more, fewer)
            a, b = scorer.scores(rows, judged, is_relevant.astype(np.int64))
            values = sign * (a - b)
            values = np.where((until < now) | (values > best + ROUNDING), values, -np.inf)
            chosen = int(np.argmax(values))
            if not np.isfinite(values[chosen]):
                continue  # all labels were changed a moment ago
            labels = rows[chosen]
            until[chosen] = now + TENURE
            if values[chosen] > best:
                best, best_labels = float(values[chosen]), labels
        found.append((best, best_labels))
    return found
