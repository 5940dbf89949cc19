"""What users give, checked: labels, feature values with or without jitter, scores and weights."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats, Ints, Values
from rankgauge.core.checks import Number, check_value
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import SEED, SEEDS
from rankgauge.core.seeds import list_seeds
from rankgauge.data.features import Features
from rankgauge.data.model import Ids
from rankgauge.errors import RankgaugeError
from rankgauge.measures.one_list import check_labels
from rankgauge.rankings.lists import Rankings

Documents = Rankings | Features | Sequence[int] | Sequence[Sequence[int]]
"""Lists of labels: one list, several, or the lists of all queries in features."""
FeatureRows: TypeAlias = Features | tuple[ArrayLike, ArrayLike, ArrayLike]
"""Features, or their parts: the values, one row per document; the labels; and the query bounds."""

JITTERS = Number(0.0, closed=False, example=1e-6)


def lists_of(documents: Documents) -> Rankings:
    """The documents as lists of labels; those of a query of features as they stand.

    Without judgments beside them, what is judged of a query is what its list has.
    """
    if isinstance(documents, Rankings):
        return documents
    if isinstance(documents, Features):
        bounds = itertools.pairwise(documents.bounds.tolist())
        return Rankings.of(*(documents.labels[start:end] for start, end in bounds))
    if not isinstance(documents, Sequence | np.ndarray) or isinstance(documents, str | bytes):
        kind = type(documents).__name__
        raise RankgaugeError(f"documents: {kind}, expected labels, lists of labels, or features")
    lists = documents if _is_nested(documents) else [documents]
    return Rankings.of(*(check_labels(own, -2, "labels in a ranking") for own in lists))


def scores_of(name: str, scores: ArrayLike, lengths: Ints) -> Floats:
    """A score for each document, list after list, from one list of numbers or a list for each list.

    RankgaugeError, which says `name`, where there is not one number for each document.
    """
    parts: Any = scores if _is_nested(scores) else None
    if parts is not None and len(parts) != len(lengths):
        raise RankgaugeError(
            f"{name}: scores of {count_phrase(len(parts), 'list')} for documents of "
            f"{count_phrase(len(lengths), 'list')}; give as many"
        )
    if parts is None:
        flat = _number_array(name, scores)
        _check_count(name, len(flat), int(lengths.sum()))
        return flat
    each = [_number_array(f"{name}, list {place}", part) for place, part in enumerate(parts, 1)]
    for place, (part, length) in enumerate(zip(each, lengths.tolist(), strict=True), 1):
        _check_count(f"{name}, list {place}", len(part), length)
    return np.concatenate([np.zeros(0), *each])


def weights_of(name: str, weights: ArrayLike, features: int) -> Floats:
    """A weight for each feature, all of them finite."""
    numbers = _number_array(name, weights)
    if len(numbers) != features:
        raise RankgaugeError(
            f"{name}: {count_phrase(len(numbers), 'number')} for "
            f"{count_phrase(features, 'feature')}, expected one per feature"
        )
    if not np.isfinite(numbers).all():
        raise RankgaugeError(f"{name}: a number is not finite, expected finite numbers")
    return numbers


def weighted_sums(values: Values, weights: Floats) -> Floats:
    """The score of each document: the weighted sum of its values, in double precision.

    Values are added from the first feature to the last. Documents with the same values have the same
    score, to the last bit. A product of matrices does not promise that: it adds in an order that depends
    on the row.
    """
    scores = np.zeros(len(values))
    for column in np.flatnonzero(weights).tolist():
        scores += values[:, column].astype(np.float64, copy=False) * weights[column]
    return scores


def _is_nested(values: Any) -> bool:
    """Whether these are lists, and not numbers; no value at all is one empty list."""
    if isinstance(values, np.ndarray) and values.dtype != np.object_:
        return values.ndim > 1
    try:
        return len(values) > 0 and all(np.ndim(value) == 1 for value in values)
    except (TypeError, ValueError):
        return False


def _number_array(name: str, values: ArrayLike) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise RankgaugeError(f"{name}: not a list of numbers, expected numbers") from None
    if numbers.ndim != 1:
        raise RankgaugeError(f"{name}: not a list of numbers, expected one number per document")
    return numbers


def _check_count(name: str, scores: int, documents: int) -> None:
    if scores != documents:
        raise RankgaugeError(
            f"{name}: {count_phrase(scores, 'score')} for "
            f"{count_phrase(documents, 'document')}, expected one per document"
        )


def features_of(documents: FeatureRows) -> Features:
    """The documents as features. Parts are checked, and their queries are called 1, 2, and so on.

    >>> features_of(([[1, 0], [0, 1], [1, 1]], [0, 1, 0], [0, 2, 3]))
    Features: 2 queries, 3 documents, 2 features
    """
    if isinstance(documents, Features):
        return documents
    if not isinstance(documents, tuple) or len(documents) != 3:
        raise RankgaugeError("documents: expected Features, or a tuple (values, labels, bounds)")
    values = array_of("values", documents[0], np.float64)
    labels, bounds = (
        array_of("labels", documents[1], np.int64),
        array_of("bounds", documents[2], np.int64),
    )
    if values.ndim != 2 or labels.shape != values.shape[:1]:
        raise RankgaugeError(
            f"values of shape {values.shape} with labels of shape {labels.shape}, expected one "
            "row of values and one label per document"
        )
    if not np.isfinite(values).all():
        raise RankgaugeError("values: a value is not finite, expected finite numbers")
    ends = bounds.tolist() if bounds.ndim == 1 else []
    if not ends or ends[0] != 0 or ends[-1] != len(labels) or (np.diff(bounds) < 0).any():
        raise RankgaugeError(
            f"bounds {ends[:8]}: expected the first row of each query, starting at 0, and the number of "
            f"documents, {len(labels)}, at the end"
        )
    if np.abs(labels).max(initial=0) > 2**31 - 1:
        raise RankgaugeError("labels: a label exceeds 32 bits, expected grades")
    queries = Ids.of(str(number) for number in range(1, len(bounds)))
    return Features(queries, bounds, np.maximum(labels, -2).astype(np.int32), values)


def array_of(name: str, numbers: ArrayLike, kind: type[np.generic]) -> Any:
    """The numbers as an array of this kind; RankgaugeError where they are no such numbers."""
    try:
        given = np.asarray(numbers)
        array = given.astype(kind)
    except (TypeError, ValueError, OverflowError):
        raise RankgaugeError(f"{name}: expected an array of numbers") from None
    if given.size and kind is np.int64 and not np.array_equal(given, array):
        raise RankgaugeError(f"{name}: a number is not whole, expected whole numbers")
    return array


def add_jitter(documents: FeatureRows, size: float, seed: int = SEED) -> Features:
    """Add a feature of random numbers from 0 to `size`, so that no two flips coincide.

    The new feature is the last one, and its weight is 1.

    Parameters
    ----------
    documents : Features or tuple
        The documents: `Features`, or a tuple (values, labels, bounds).
    size : float
        The largest random number.
    seed : int, default 0
        Seed of the random number generator.

    Returns
    -------
    Features
        The documents with one more feature.

    Notes
    -----
    Flips that would coincide happen at different points, with probability 1 (Robertson and
    Zaragoza 2007, A.6). The random numbers do not depend on the weights. The numbers for a query
    depend only on the seed and the id of the query, not on the other queries.

    Examples
    --------
    >>> add_jitter(([[1, 0], [1, 0]], [0, 1], [0, 2]), 1e-6).values.shape
    (2, 3)
    """
    features = features_of(documents)
    added = draw_jitter(features.queries, features.bounds, size, seed)
    return replace(features, values=np.column_stack((features.values, added)))


def draw_jitter(queries: Ids, bounds: Ints, size: float, seed: int) -> Floats:
    """A random number from 0 to `size` for each document of each query."""
    size, seed = check_value("jitter", size, JITTERS), check_value("seed", seed, SEEDS)
    added = np.empty(int(bounds[-1]))
    for number, own in enumerate(list_seeds(seed, queries).tolist()):
        part = slice(int(bounds[number]), int(bounds[number + 1]))
        added[part] = np.random.default_rng(own).random(part.stop - part.start) * size
    return added
