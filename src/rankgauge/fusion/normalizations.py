"""Scores of several runs made comparable: each list, so each run and query, is normalized for itself.

A normalized pool is an array of rows × runs, with NaN where a list lacks the document. `fill_absent`
says what such a document gets instead. The definitions are those of ranx (Bassani and Romelli 2022,
ranx.fuse: A Python Library for Metasearch), except where a docstring says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Bools, Floats, Ints, T
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.policies import DEFAULT_ABSENT, DEFAULT_NORMALIZE, Absent
from rankgauge.core.records import Record
from rankgauge.core.registry import Registry
from rankgauge.data.model import decode
from rankgauge.errors import RankgaugeError
from rankgauge.fusion.pool import Pool

Apply = Callable[[Pool], Floats]
"""Returns the normalized scores of a pool."""


class ScoreNormalization(Record):
    """A way to normalize the scores of each list: `formula` for x, a score of a list of n documents."""

    name: str
    formula: str
    summary: str
    apply: Apply
    fills: bool = False
    """Whether it scores documents missing from a list, in which case `absent` has no effect."""


NORMALIZATIONS: Registry[ScoreNormalization] = Registry(
    "normalization",
    groups=("rankgauge.normalizations",),
    reserved=("all",),
    maker=lambda normalization: normalization.apply,
)
"""Every normalization by name."""


def register(
    name: str, formula: str, summary: str, *, fills: bool = False
) -> Callable[[Apply], Apply]:
    """A decorator that registers a function: `apply` of a `ScoreNormalization` with these fields."""

    def decorate(apply: Apply) -> Apply:
        NORMALIZATIONS.register(ScoreNormalization(name, formula, summary, apply, fills))
        return apply

    return decorate


def normalize_scores(pool: Pool, normalize: str = DEFAULT_NORMALIZE) -> Floats:
    """The normalized scores (rows × runs) of a pool, NaN where a list lacks the document.

    RankgaugeError where a list cannot be normalized, such as a list with an infinite score.
    """
    method = NORMALIZATIONS.check_argument("normalize", normalize)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        values = method.apply(pool)
    if (shape := np.shape(values)) != pool.scores.shape:
        raise RankgaugeError(
            f"normalize={normalize!r} gave shape {shape}, expected {pool.scores.shape}: a score for "
            "each document and run"
        )
    bad = ~np.isfinite(values) & ((pool.ranks > 0) | method.fills)
    if bad.any():
        raise _too_large_error(pool, bad, normalize)
    return values


def fill_absent(values: Floats, bounds: Ints, absent: Absent = DEFAULT_ABSENT) -> Floats:
    """Normalized scores, including scores for documents missing from a list (see `Absent`).

    NaN stays where a list takes no part: everywhere under "skip", and under "minimum" where the list
    is empty, because the run does not answer the query.

    >>> values = np.array([[0.5, 1.0], [0.25, np.nan]])
    >>> fill_absent(values, np.array([0, 2]), "minimum").tolist()
    [[0.5, 1.0], [0.25, 1.0]]
    """
    check_value("absent", absent, one_of(Absent))
    if absent == "skip":
        return values
    if absent == "zero":
        return np.where(np.isnan(values), 0.0, values)
    return np.where(np.isnan(values), _each_row(_list_minima(values, bounds), bounds), values)


@register(
    "min-max",
    "(x − min) / (max − min)",
    "Maps the scores of a list to the range from 0 to 1, or all to 0 if they are equal. The usual "
    "choice.",
)
def _min_max(pool: Pool) -> Floats:
    """(x − min) / (max − min). All scores of a list alike are 0, as in ranx; one document alone too.

    ranx divides by 1e-9 where max − min is less. We divide by max − min, however small it is.
    """
    low, high = _list_minima(pool.scores, pool.bounds), _list_maxima(pool.scores, pool.bounds)
    return _shift_and_scale(pool, low, high - low)


@register(
    "max",
    "x / max",
    "The best score becomes 1. For nonnegative scores; a list of negative scores is an error.",
)
def _max(pool: Pool) -> Floats:
    """X / max. A list of zeros stays as it is.

    ranx divides by 1e-9 where max is less, so that a list of negative scores gets values of some
    −1e9. Such a list is refused here: no division makes its best score 1.
    """
    high = _list_maxima(pool.scores, pool.bounds)
    bad = (high <= 0) & (_list_minima(pool.scores, pool.bounds) < 0)
    if bad.any():
        topic, column = (int(place) for place in np.argwhere(bad)[0])
        raise RankgaugeError(
            f"normalize='max': run {pool.names[column]} has no score above 0 for query "
            f"{decode(pool.queries[topic])!r}; {_remedy('min-max')}"
        )
    values: Floats = pool.scores / _each_row(np.where(high == 0, 1.0, high), pool.bounds)
    return values


@register(
    "sum",
    "(x − min) / Σ (x − min)",
    "Scores start at 0 and add up to 1 in each list. Long lists get small scores.",
)
def _sum(pool: Pool) -> Floats:
    """(x − min) / Σ (x − min). All scores of a list alike are 0, as in ranx.

    ranx divides by 1e-9 where the sum is less. We divide by the sum, however small it is.
    """
    low = _list_minima(pool.scores, pool.bounds)
    return _shift_and_scale(
        pool, low, _list_sums(pool.scores - _each_row(low, pool.bounds), pool.bounds)
    )


@register(
    "z",
    "(x − mean) / sd",
    "Mean 0 and standard deviation 1. Less sensitive than min-max to one very high score.",
)
def _z(pool: Pool) -> Floats:
    """(x − mean) / sd, with the sd of the n scores themselves (÷ n). All scores of a list alike are 0.

    ranx divides by 1e-9 where sd is less. We divide by sd, however small it is; and a mean that is
    rounded is no reason for us to give equal scores a value other than 0.
    """
    lengths = np.where(pool.lengths > 0, pool.lengths, 1)
    mean = _list_sums(pool.scores, pool.bounds) / lengths
    span = _list_maxima(pool.scores, pool.bounds) - _list_minima(pool.scores, pool.bounds)
    alike = span == 0
    # In units of the span, so that no square is too small or too large for a number.
    units = _shift_and_scale(pool, mean, span)
    deviation = np.sqrt(_list_sums(units**2, pool.bounds) / lengths)
    values = units / _each_row(np.where(alike, 1.0, deviation), pool.bounds)
    return np.where(_each_row(alike, pool.bounds) & (pool.ranks > 0), 0.0, values)


@register(
    "rank",
    "1 − (rank − 1) / n",
    "Uses ranks alone: from 1 for the first document down to 1 / n.",
)
def _rank(pool: Pool) -> Floats:
    """1 − (rank − 1) / n: the first document gets 1, the last 1 / n."""
    lengths = _each_row(pool.lengths, pool.bounds)
    held = pool.ranks > 0
    return np.where(held, 1 - (pool.ranks - 1) / np.where(held, lengths, 1), np.nan)


@register(
    "borda",
    "1 − (rank − 1) / N; absent: 1/2 − (n − 1) / 2N",
    "Uses ranks alone, among the N documents retrieved for the query by all runs together. A "
    "document missing from a list gets the mean of the remaining places.",
    fills=True,
)
def _borda(pool: Pool) -> Floats:
    """1 − (rank − 1) / N for N documents in all lists of the query together.

    A document that the list lacks gets the mean of the places that are left: 1/2 − (n − 1) / 2N.
    """
    size = np.repeat(np.diff(pool.bounds), np.diff(pool.bounds))[:, np.newaxis]
    lengths = _each_row(pool.lengths, pool.bounds)
    held: Floats = 1 - (pool.ranks - 1) / size
    return np.where(pool.ranks > 0, held, 0.5 - (lengths - 1) / (2 * size))


@register("none", "x", "Leaves the scores unchanged.")
def _none(pool: Pool) -> Floats:
    """The scores as they are."""
    return pool.scores


def _shift_and_scale(pool: Pool, low: Floats, scale: Floats) -> Floats:
    """(x − low) / scale in each list; 0 where the scale is 0."""
    distance = pool.scores - _each_row(low, pool.bounds)
    values: Floats = distance / _each_row(np.where(scale == 0, 1.0, scale), pool.bounds)
    return values


def _list_minima(values: Floats, bounds: Ints) -> Floats:
    """The least value of each list (queries × runs), NaN for an empty one."""
    return np.fmin.reduceat(values, bounds[:-1], axis=0)


def _list_maxima(values: Floats, bounds: Ints) -> Floats:
    """The greatest value of each list (queries × runs), NaN for an empty one."""
    return np.fmax.reduceat(values, bounds[:-1], axis=0)


def _list_sums(values: Floats, bounds: Ints) -> Floats:
    """The sum of each list (queries × runs), 0 for an empty one."""
    return np.add.reduceat(np.where(np.isnan(values), 0.0, values), bounds[:-1], axis=0)


def _each_row(per_query: NDArray[T], bounds: Ints) -> NDArray[T]:
    """A value for each query and run, repeated for the rows of the query."""
    return np.repeat(per_query, np.diff(bounds), axis=0)


def _too_large_error(pool: Pool, bad: Bools, normalize: str) -> RankgaugeError:
    """The error for the first list with a bad row. It names the document with the largest score."""
    row, column = (int(place) for place in np.argwhere(bad)[0])
    topic = int(pool.topic[row])
    first, last = pool.bounds[topic : topic + 2].tolist()
    scores = pool.scores[first:last, column]
    largest = int(np.nanargmax(np.abs(scores)))
    score = float(scores[largest])
    document = decode(pool.documents[first + largest])
    what = "is too large to be normalized" if np.isfinite(score) else "cannot be normalized"
    return RankgaugeError(
        f"normalize={normalize!r}: the score {score:g} of document {document!r} in run "
        f"{pool.names[column]}, query {decode(pool.queries[topic])!r}, {what}; {_remedy('rank')}"
    )


def _remedy(normalize: str) -> str:
    """What to do where a list cannot be normalized."""
    return f"use normalize={normalize!r}, or a method that uses only ranks, such as rrf"
