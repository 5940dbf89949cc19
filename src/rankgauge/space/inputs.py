"""What a line is made from: labels as users write them, features, and a score for each document."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats, Ints, Values
from rankgauge.core.notes import counted
from rankgauge.data.features import Features
from rankgauge.errors import RankgaugeError
from rankgauge.measures.one_list import checked_labels
from rankgauge.rankings.lists import Rankings

Documents = Rankings | Features | Sequence[int] | Sequence[Sequence[int]]
"""Lists of labels: one list, several, or those of the queries that features have."""


def lists_of(documents: Documents) -> Rankings:
    """The documents as lists of labels; those of a query of features as they stand.

    Without judgements beside them, what is judged of a query is what its list has.
    """
    if isinstance(documents, Rankings):
        return documents
    if isinstance(documents, Features):
        bounds = itertools.pairwise(documents.bounds.tolist())
        return Rankings.of(*(documents.labels[start:end] for start, end in bounds))
    if not isinstance(documents, Sequence | np.ndarray) or isinstance(documents, str | bytes):
        kind = type(documents).__name__
        raise RankgaugeError(f"documents: {kind}, expected labels, lists of labels, or features")
    lists = documents if _nested(documents) else [documents]
    return Rankings.of(*(checked_labels(own, -2, "labels in a ranking") for own in lists))


def scores_of(name: str, scores: ArrayLike, lengths: Ints) -> Floats:
    """A score for each document, list after list, from one list of numbers or a list for each list.

    RankgaugeError, which says `name`, where there is not one number for each document.
    """
    parts: Any = scores if _nested(scores) else None
    if parts is not None and len(parts) != len(lengths):
        raise RankgaugeError(
            f"{name}: scores of {counted(len(parts), 'list')}, the documents are "
            f"{counted(len(lengths), 'list')}; give as many"
        )
    if parts is None:
        flat = _numbers(name, scores)
        _check_count(name, len(flat), int(lengths.sum()))
        return flat
    each = [_numbers(f"{name}, list {place}", part) for place, part in enumerate(parts, 1)]
    for place, (part, length) in enumerate(zip(each, lengths.tolist(), strict=True), 1):
        _check_count(f"{name}, list {place}", len(part), length)
    return np.concatenate([np.zeros(0), *each])


def weights_of(name: str, weights: ArrayLike, features: int) -> Floats:
    """A weight for each feature, all of them finite."""
    numbers = _numbers(name, weights)
    if len(numbers) != features:
        raise RankgaugeError(
            f"{name}: {counted(len(numbers), 'number')} for {counted(features, 'feature')}, expected "
            "one a feature"
        )
    if not np.isfinite(numbers).all():
        raise RankgaugeError(f"{name}: a number is not finite, expected finite numbers")
    return numbers


def weighted_sums(values: Values, weights: Floats) -> Floats:
    """The score of each document: the weighted sum of its values, from the first feature to the last,
    in double precision.

    Documents with the same values have the same score, to the last bit. A product of matrices does not
    promise that: it adds in an order that depends on the row.
    """
    scores = np.zeros(len(values))
    for column in np.flatnonzero(weights).tolist():
        scores += values[:, column].astype(np.float64, copy=False) * weights[column]
    return scores


def _nested(values: Any) -> bool:
    """Whether these are lists, and not numbers; no value at all is one empty list."""
    if isinstance(values, np.ndarray) and values.dtype != np.object_:
        return values.ndim > 1
    try:
        return len(values) > 0 and all(np.ndim(value) == 1 for value in values)
    except (TypeError, ValueError):
        return False


def _numbers(name: str, values: ArrayLike) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise RankgaugeError(f"{name}: not a list of numbers, expected numbers") from None
    if numbers.ndim != 1:
        raise RankgaugeError(f"{name}: not a list of numbers, expected a number for each document")
    return numbers


def _check_count(name: str, scores: int, documents: int) -> None:
    if scores != documents:
        raise RankgaugeError(
            f"{name}: {counted(scores, 'score')} for {counted(documents, 'document')}, expected one a "
            "document"
        )
