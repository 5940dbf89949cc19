"""Distances of any measure: over all labels where these are few, else by a search that says so."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.distance.algorithms.lists import GreatestDifferences, ListPairs, Lists
from rankgauge.measures.labeling import extremes
from rankgauge.rankings.lists import Rankings

MOST_LABELINGS = 20_000
"""Maximum number of labelings of the free documents that are tried exhaustively."""

BLOCK_LABELS = 1 << 16
"""Number of document labels scored at once."""

ROUNDS = 60
"""Maximum number of times a search moves to a better labeling."""

MOST_CHANGED_DOCUMENTS = 200
"""Maximum number of free documents that a search may change."""

MOST_SCORED_LABELS = 40_000_000
"""Maximum number of labels that a search scores."""

SLACK = 1e-9
"""How far rounding may push a score outside its range."""

Score = Callable[[Rankings], Floats]


def can_enumerate(pairs: ListPairs) -> NDArray[np.bool_]:
    """Of which pairs all labels that matter can be tried: none, if the two lists are the same."""
    lists = pairs.lists
    most = np.log(MOST_LABELINGS) / np.log(max(2, len(lists.grades)))
    few = [
        np.count_nonzero(lists.pair(a, b).free) <= most
        and (not lists.offlist or np.array_equal(lists.list(a), lists.list(b)))
        for a, b in pairs
    ]
    return np.array(few, dtype=np.bool_)


class _ScoreMonitor:
    """Scores rankings, and keeps track of scores that are undefined or out of range.

    `inside` says whether no score was outside the declared range so far. `undefined` counts the scores
    that were not defined.
    """

    def __init__(self, score_each: Score, within: tuple[float, float]) -> None:
        self.score_each = score_each
        self.low, self.high = within
        self.inside = True
        self.undefined = 0

    def __call__(self, rankings: Rankings) -> Floats:
        scores = self.score_each(rankings)
        self.undefined += int(np.count_nonzero(np.isnan(scores)))
        lowest, highest = extremes(scores)
        if lowest < self.low - SLACK or highest > self.high + SLACK:
            self.inside = False
        return scores

    @property
    def widest_difference(self) -> float:
        """How far apart two scores can be; infinite where the range is not true."""
        return self.high - self.low if self.inside else np.inf


def search_differences(
    score_each: Score, pairs: ListPairs, within: tuple[float, float] = (-np.inf, np.inf)
) -> GreatestDifferences:
    """The greatest differences over all labels, or if these are too many, those that a search finds.

    `within` is the declared range of the scores. It limits how much a search may have missed.
    """
    watched = _ScoreMonitor(score_each, within)
    exact = can_enumerate(pairs)
    best, defined = [], exact.copy()
    for p, ((a, b), few) in enumerate(zip(pairs, exact.tolist(), strict=True)):
        before = watched.undefined
        best.append(
            (_try_all_labelings if few else _hill_climb_both)(
                watched, pairs.lists.select_pair(a, b)
            )
        )
        defined[p] &= watched.undefined == before
    return pairs.differences_from_labels(best, exact, watched.widest_difference, defined)


def refine_differences(
    found: GreatestDifferences, score_each: Score, pairs: ListPairs
) -> GreatestDifferences:
    """The same, made exact for the pairs whose labels are few enough to try."""
    few = np.flatnonzero(~found.exact & can_enumerate(pairs))
    if not len(few):
        return found
    better = search_differences(
        score_each, ListPairs(pairs.lists, pairs.first[few], pairs.second[few])
    )
    ahead, exact = found.ahead.copy(), found.exact.copy()
    ahead[few], exact[few] = better.ahead, True
    defined = np.ones_like(exact) if found.defined is None else found.defined.copy()
    if better.defined is not None:
        defined[few] = better.defined
    place = {p: i for i, p in enumerate(few.tolist())}

    def labeling(p: int, side: int) -> tuple[NDArray[np.int32], int]:
        return better.labeling(place[p], side) if p in place else found.labeling(p, side)

    return replace(found, ahead=ahead, exact=exact, labeling=labeling, defined=defined)


Lead = tuple[float, NDArray[np.int32]]
"""The lead of a list and the document labels that produce it."""


def _try_all_labelings(score_each: Score, two: Lists) -> list[Lead]:
    """All labels of the free documents, each list ahead in turn."""
    best: list[Lead] = [(-np.inf, two.labels), (-np.inf, two.labels)]
    for labels in _all_labelings(two, np.flatnonzero(two.free)):
        difference = _differences(score_each, two, labels)
        for side, sign in enumerate((1, -1)):
            values = _replace_undefined(sign * difference)
            if values.max(initial=-np.inf) > best[side][0]:
                best[side] = (float(values.max()), labels[np.argmax(values)])
    return best


def _hill_climb_both(score_each: Score, two: Lists) -> list[Lead]:
    """Return, for each list, the labels that put it furthest ahead.

    They are the labels of its own search, or those of the search for the other list, which may pass
    better labels on its way.
    """
    both = [_hill_climb(score_each, two, sign) for sign in (1, -1)]
    best = []
    for own, (behind, labels) in zip(both, both[::-1], strict=True):
        ahead = -behind if np.isfinite(behind) else -np.inf
        best.append((ahead, labels) if ahead > own[0] else own)
    return best


def _differences(score_each: Score, two: Lists, labels: NDArray[np.int32]) -> Floats:
    """The score of the first list less that of the second, for each row of labels."""
    size = max(1, BLOCK_LABELS // max(1, len(two.labels) + len(two.judged.labels)))
    parts = [labels[start : start + size] for start in range(0, len(labels), size)]
    with np.errstate(invalid="ignore"):
        found = [two.scores(score_each, 0, p) - two.scores(score_each, 1, p) for p in parts]
    return np.concatenate([np.zeros(0), *found])


def _replace_undefined(values: Floats) -> Floats:
    """The values, and less than any of them where there is none."""
    return np.where(np.isnan(values), -np.inf, values)


def _all_labelings(two: Lists, free: NDArray[np.intp]) -> Iterator[NDArray[np.int32]]:
    """All labels of all documents, some at a time."""
    size = max(1, BLOCK_LABELS // max(1, len(two.labels)))
    products = itertools.product(two.grades.tolist(), repeat=len(free))
    while some := list(itertools.islice(products, size)):
        labels = np.repeat(two.labels[None, :], len(some), axis=0)
        labels[:, free] = np.array(some, dtype=np.int32).reshape(len(some), len(free))
        yield labels


def _hill_climb(score_each: Score, two: Lists, sign: int) -> Lead:
    """Search for a labeling that no change of one label makes better.

    The list ahead is the first with sign 1, and the second with -1. The search starts from the labeling
    in which the free documents that are placed better in the list ahead have the highest label. Of many
    free documents it tries only those ranked highest, and it ends when it has scored as many labels as
    it may.
    """
    pair = two.pair(0, 1)
    ranks = [np.where(rank > 0, rank, np.inf) for rank in (pair.first, pair.second)]
    own, other = ranks[::sign]
    labels = np.where(two.free, np.where(own < other, two.grades[-1], 0), two.labels)
    labels = labels.astype(np.int32)
    free = np.flatnonzero(two.free)
    free = free[np.argsort(np.minimum(own, other)[free], kind="stable")][:MOST_CHANGED_DOCUMENTS]
    best = float(_replace_undefined(sign * _differences(score_each, two, labels[None, :]))[0])
    cells = len(free) * len(two.grades) * (len(two.labels) + len(two.judged.labels))
    for _ in range(min(ROUNDS, MOST_SCORED_LABELS // max(1, cells))):
        tried = np.repeat(labels[None, :], len(free) * len(two.grades), axis=0)
        column = np.repeat(free, len(two.grades))
        tried[np.arange(len(tried)), column] = np.tile(two.grades, len(free))
        values = _replace_undefined(sign * _differences(score_each, two, tried))
        if not len(values) or values.max() <= best + 1e-15:
            break
        best, labels = float(values.max()), tried[np.argmax(values)]
    return best, labels
