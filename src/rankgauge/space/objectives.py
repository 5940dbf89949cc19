"""Objectives on scores, which learning methods optimize in place of a rank measure.

Robertson and Zaragoza (2007, section 4) ask for an objective that is continuous and convex in the
weights. The price is that it sees the scores: if a strictly increasing function maps them, the ranking
stays, but the best weights by such an objective move. The best weights by a rank measure do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.checks import Integer, check_value
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import inner
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.native import segments
from rankgauge.rankings.lists import Rankings
from rankgauge.space.inputs import Documents, lists_of, scores_of
from rankgauge.space.lines import Segment, mean_of

MOST_PAIRS = 10_000_000
"""Maximum number of pairs of documents with different labels."""

Objective: TypeAlias = Callable[[Rankings, Floats], float]
"""Computes a number from lists of labels and the score of each of their documents."""


def pairwise_loss(documents: Documents, scores: ArrayLike) -> float:
    """Compute the logistic loss of pairs of documents, the cost function of RankNet.

    Each pair of documents of one query with different labels has the loss

        log(1 + exp(−(score of the better − score of the other)))

    The loss is averaged over the pairs of a query, and then over the queries that have such pairs.
    Lower is better.

    Parameters
    ----------
    documents : Rankings, Features or lists of labels
        The labels of the documents of one query or of several. Unjudged documents have label 0.
    scores : array-like
        The score of each document: one list of numbers, or one for each query.

    Returns
    -------
    float
        The loss; NaN if no two documents of a query have different labels.

    Notes
    -----
    This is the cost of RankNet (Burges et al. 2005) with certain preferences. It is convex in the
    weights of a linear scorer. Adding a constant to all scores of a query does not change it.

    Examples
    --------
    >>> round(pairwise_loss([1, 0], [0.0, 0.0]), 4)
    0.6931
    >>> round(pairwise_loss([[1, 0], [0, 2]], [[3.0, 1.0], [0.5, 0.5]]), 4)
    0.41
    """
    lists = lists_of(documents)
    values = _scores(lists, scores)
    better, worse, share = lists.once(_pairs)
    if not len(better):
        return float("nan")
    losses = np.logaddexp(0.0, values[worse] - values[better])
    return float((losses * share).sum())


def swets(
    documents: Documents, scores: ArrayLike, *, rel: int = 1, by_query: bool = False
) -> float:
    """Compute Swets' E, which measures how well scores separate relevant documents from others.

    E is the difference of the mean scores, divided by the mean of the standard deviations:

        E = (μ₁ − μ₀) / ((σ₁ + σ₀) / 2)

    Here 1 stands for the documents with a label of at least `rel`, and 0 for all others. The standard
    deviations divide by n. Higher is better.

    Parameters
    ----------
    documents : Rankings, Features or lists of labels
        The labels of the documents of one query or of several.
    scores : array-like
        The score of each document: one list of numbers, or one for each query.
    rel : int, default 1
        The lowest label of a relevant document.
    by_query : bool, default False
        Whether to take the mean of E over the queries that have one. By default the documents of all
        queries are pooled, so adding a constant to the scores of one query changes E.

    Returns
    -------
    float
        E; NaN if there are no relevant or no other documents, or if both standard deviations are 0.

    Notes
    -----
    Swets (Information Retrieval Systems, Science 141, 1963) reads E off a line through normal
    deviates. This is equivalent to the formula above (van Rijsbergen, Information Retrieval, 1979,
    chapter 7).

    Examples
    --------
    >>> swets([1, 0, 1, 0], [3.0, 1.0, 5.0, 3.0])
    2.0
    """
    lists = lists_of(documents)
    values, low = _scores(lists, scores), check_value("rel", rel, Integer(0))
    relevant = lists.labels >= low
    offsets = lists.offsets if by_query else np.array([0, len(values)])
    means, deviations = zip(
        *(_moments(values, kind, offsets) for kind in (relevant, ~relevant)), strict=True
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        separation = (means[0] - means[1]) / ((deviations[0] + deviations[1]) / 2)
    defined = separation[np.isfinite(separation)]
    return float(np.mean(defined)) if len(defined) else float("nan")


def rank_objective(measure: AnyMeasure) -> Objective:
    """Turn a rank measure into an objective, for comparison with objectives on scores.

    Parameters
    ----------
    measure : Measure or str
        The measure.

    Returns
    -------
    callable
        A function of lists and scores that ranks the lists by the scores and returns the mean of the
        measure.

    Examples
    --------
    >>> segment = Segment.of([1, 0], [0.0, 1.0], [1.0, 0.0])
    >>> objective_curve(segment, rank_objective("RR"), [0.0, 1.0]).tolist()
    [0.5, 1.0]
    """
    parsed = parse(measure)

    def objective(lists: Rankings, scores: Floats) -> float:
        ranked = Segment(lists, scores, scores).at(0)
        return mean_of(inner(parsed).score_each(ranked), parsed)

    return objective


def objective_curve(
    segment: Segment,
    objective: Objective,
    positions: ArrayLike,
    transform: Callable[[Floats], Floats] | None = None,
) -> Floats:
    """Evaluate an objective at points of a line.

    Parameters
    ----------
    segment : Segment
        The documents along the line.
    objective : callable
        `pairwise_loss`, `swets`, `rank_objective(measure)`, or any function of lists and scores.
    positions : array-like
        The points of the line, from 0 to 1.
    transform : callable, optional
        A function that is applied to the scores first, such as `numpy.exp`.

    Returns
    -------
    array of float
        The value of the objective at each point.

    Raises
    ------
    RankgaugeError
        If `positions` is not a list of numbers from 0 to 1.

    Examples
    --------
    >>> segment = Segment.of([1, 0], [0.0, 1.0], [1.0, 0.0])
    >>> objective_curve(segment, pairwise_loss, [0.0, 1.0]).round(4).tolist()
    [1.3133, 0.3133]
    """
    points: Floats = np.asarray(positions, dtype=np.float64)
    if points.ndim != 1 or not ((points >= 0) & (points <= 1)).all():
        raise RankgaugeError("positions: expected a list of numbers from 0 to 1")
    values = np.empty(len(points))
    for number, point in enumerate(points.tolist()):
        scores = (1 - point) * segment.start + point * segment.end
        values[number] = objective(
            segment.documents, scores if transform is None else transform(scores)
        )
    return values


def _scores(lists: Rankings, scores: ArrayLike) -> Floats:
    """The scores as an array; RankgaugeError unless there is a finite one for each document."""
    values = scores_of("scores", scores, lists.lengths)
    if not np.isfinite(values).all():
        raise RankgaugeError("a score is not finite, expected finite numbers")
    return values


def _pairs(lists: Rankings) -> tuple[Ints, Ints, Floats]:
    """The pairs of documents of different labels, with the share of each pair in the mean.

    The three arrays have the better document, the other one, and the share.
    """
    labels = np.maximum(lists.labels, 0)
    better, worse, share = [], [], []
    total = 0
    for first, last in zip(lists.offsets[:-1].tolist(), lists.offsets[1:].tolist(), strict=True):
        own = labels[first:last]
        counts = np.unique(own, return_counts=True)[1]
        number = (int(counts.sum()) ** 2 - int((counts**2).sum())) // 2
        total += number
        if total > MOST_PAIRS:
            raise RankgaugeError(
                f"more than {MOST_PAIRS:,} pairs of documents with different labels; use "
                "fewer queries or fewer documents"
            )
        if number:
            for label in np.unique(own)[1:]:
                over, under = (np.flatnonzero(side) + first for side in (own == label, own < label))
                better.append(np.repeat(over, len(under)))
                worse.append(np.tile(under, len(over)))
            share.append(np.full(number, 1 / number))
    none = np.zeros(0, dtype=np.int64)
    shares = np.concatenate([np.zeros(0), *share]) / max(len(share), 1)
    return np.concatenate([none, *better]), np.concatenate([none, *worse]), shares


def _moments(values: Floats, chosen: Bools, offsets: Ints) -> tuple[Floats, Floats]:
    """The mean and the standard deviation of the chosen values of each part; NaN if there are none."""
    sizes = segments.segment_sum(chosen.astype(np.float64), offsets)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = segments.segment_sum(np.where(chosen, values, 0.0), offsets) / sizes
        apart = np.where(chosen, values - np.repeat(mean, np.diff(offsets)), 0.0)
        return mean, np.sqrt(segments.segment_sum(apart**2, offsets) / sizes)
