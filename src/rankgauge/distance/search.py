"""Distances of any measure: over all labels where these are few, else by a search that says so."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.model import Floats, Ints
from rankgauge.data.rankings import Rankings
from rankgauge.distance.lists import Greatest, Lists

MOST_LABELLINGS = 20_000
"""How many labels of the free documents are tried one by one."""

MOST_AT_ONCE = 1 << 16
"""How many labels of documents are scored at once."""

ROUNDS = 60
"""How many times a search takes a better labelling before it stops."""

Score = Callable[[Rankings], Floats]


def enumerable(lists: Lists, first: Ints, second: Ints) -> bool:
    """Whether all labels of the free documents of every pair can be tried."""
    most = np.log(MOST_LABELLINGS) / np.log(max(2, len(lists.grades)))
    return not lists.offlist and all(
        np.count_nonzero(lists.pair(int(a), int(b)).free) <= most
        for a, b in zip(first, second, strict=True)
    )


def searched(score_each: Score, lists: Lists, first: Ints, second: Ints, width: float) -> Greatest:
    """The greatest differences over all labels, or those that a search finds; `width` is that of the
    measure's range."""
    exact = enumerable(lists, first, second)
    found = []
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        pair = lists.pair(a, b)
        free = pair.documents[pair.free]
        batches = _all(lists, free) if exact else None
        if batches is None:
            up, down = (_climbed(score_each, lists, *ends, free) for ends in ((a, b), (b, a)))
            found.append([_better(up, down), _better(down, up)])
            continue
        best = [(-np.inf, lists.labels), (-np.inf, lists.labels)]
        for labels in batches:
            difference = _differences(score_each, lists, a, b, labels)
            for side, sign in enumerate((1, -1)):
                values = _defined(sign * difference)
                if len(values) and values.max() > best[side][0]:
                    best[side] = (float(values.max()), labels[np.argmax(values)])
        found.append(best)
    ahead = np.array([[value for value, _ in both] for both in found]).reshape(len(found), 2)

    def labelling(p: int, side: int) -> tuple[NDArray[np.int32], int]:
        return found[p][side][1], 0

    return Greatest(ahead, labelling, exact, np.inf if exact else width)


def _better(
    own: tuple[float, NDArray[np.int32]], other: tuple[float, NDArray[np.int32]]
) -> tuple[float, NDArray[np.int32]]:
    """What was found with a list ahead, or what the search for the other list found it ahead by."""
    ahead = -other[0] if np.isfinite(other[0]) else -np.inf
    return (ahead, other[1]) if ahead > own[0] else own


def _differences(
    score_each: Score, lists: Lists, a: int, b: int, labels: NDArray[np.int32]
) -> Floats:
    with np.errstate(invalid="ignore"):
        return lists.scores(score_each, a, labels) - lists.scores(score_each, b, labels)


def _defined(values: Floats) -> Floats:
    """The values, and less than any of them where there is none."""
    return np.where(np.isnan(values), -np.inf, values)


def _all(lists: Lists, free: NDArray[np.int32]) -> Iterator[NDArray[np.int32]]:
    """All labels of all documents, some at a time."""
    size = max(1, MOST_AT_ONCE // max(1, len(lists.labels)))
    products = itertools.product(lists.grades.tolist(), repeat=len(free))
    while some := list(itertools.islice(products, size)):
        labels = np.repeat(lists.labels[None, :], len(some), axis=0)
        labels[:, free] = np.array(some, dtype=np.int32).reshape(len(some), len(free))
        yield labels


def _climbed(
    score_each: Score, lists: Lists, a: int, b: int, free: NDArray[np.int32]
) -> tuple[float, NDArray[np.int32]]:
    """A labelling that no change of one label makes better, from that of documents that are better
    placed in the list ahead, and the difference it makes."""
    pair = lists.pair(a, b)
    ahead = (pair.first > 0) & ((pair.second == 0) | (pair.first < pair.second))
    labels = lists.labels.copy()
    labels[pair.documents[pair.free]] = np.where(ahead[pair.free], lists.grades[-1], 0)
    best = float(_defined(_differences(score_each, lists, a, b, labels[None, :]))[0])
    for _ in range(ROUNDS):
        tried = np.repeat(labels[None, :], len(free) * len(lists.grades), axis=0)
        column = np.repeat(free, len(lists.grades))
        tried[np.arange(len(tried)), column] = np.tile(lists.grades, len(free))
        values = _defined(_differences(score_each, lists, a, b, tried))
        if not len(values) or values.max() <= best + 1e-15:
            break
        best, labels = float(values.max()), tried[np.argmax(values)]
    return best, labels
