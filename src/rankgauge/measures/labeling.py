"""Labels for the unjudged documents of a ranking: what bounds are sought over."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import Note, count_phrase
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of

MOST_LABELINGS = 100_000
"""How many labelings of the unjudged documents are enumerated for bounds, at the most."""

MOST_PERMUTED = 7
"""How many documents are put into every order, at the most."""

MOST_CELLS = 4_000_000
"""How many labels the variants of one list may have at a time, when its bounds are sought."""


def extremes(values: Floats) -> tuple[float, float]:
    """The lowest and highest of the values that are defined; NaN where none is."""
    defined = values[~np.isnan(values)]
    if defined.size == 0:
        return np.nan, np.nan
    return float(defined.min()), float(defined.max())


def bounds_by_list(
    rankings: Rankings, bounds_of_one: Callable[[Rankings], tuple[float, float]]
) -> tuple[Floats, Floats]:
    """The bounds of each list, one list at a time."""
    result = np.empty((len(rankings), 2))
    judged = rankings.judged
    for i, query in enumerate(rankings.query.tolist()):
        labels = rankings.labels[rankings.offsets[i] : rankings.offsets[i + 1]]
        known = judged.labels[judged.offsets[query] : judged.offsets[query + 1]]
        pooled = judged.pooled[query : query + 1]
        one = JudgedLabels(known, np.array([0, len(known)]), pooled, judged.max_grade)
        alone = Rankings(labels, np.array([0, len(labels)]), np.zeros(1, dtype=np.int64), one)
        result[i] = bounds_of_one(alone)
    return result[:, 0], result[:, 1]


def label_unjudged(rankings: Rankings, grade: int) -> Rankings:
    """The same lists with every unjudged document at this grade, and R and N as they were.

    Only for measures whose score does not depend on the documents outside the list.
    """
    return replace(rankings, labels=np.where(rankings.labels < 0, grade, rankings.labels))


def flip_changes(score_each: Callable[[Rankings], Floats], rankings: Rankings) -> Floats:
    """What the score of each list changes by for each pair of neighbors that change places."""
    changes = [np.zeros(0)]
    for i, before in enumerate(score_each(rankings)):
        start, end = rankings.offsets[i], rankings.offsets[i + 1]
        upper = np.arange(start, end - 1)
        step = max(1, MOST_CELLS // int(end - start + 1))
        for first in range(0, len(upper), step):
            some = upper[first : first + step]
            rows = np.repeat(np.arange(start, end)[None, :], len(some), axis=0)
            each = np.arange(len(some))
            rows[each, some - start], rows[each, some - start + 1] = some + 1, some
            lists = Rankings(
                rankings.labels[rows].ravel(),
                offsets_of(np.full(len(some), end - start)),
                np.full(len(some), rankings.query[i]),
                rankings.judged,
                None if rankings.rows is None else rankings.rows[rows].ravel(),
            )
            changes.append(score_each(lists) - before)
    return np.concatenate(changes)


def enumerate_labelings(grades: Sequence[int], free: int) -> NDArray[np.int32]:
    """All labels that so many documents can have together, one row each."""
    choices = list(itertools.product(grades, repeat=free))
    return np.array(choices, dtype=np.int32).reshape(len(grades) ** free, free)


def labeled_variants(one: Rankings, choices: NDArray[np.integer]) -> Rankings:
    """A list for each row of `choices`, which labels the unjudged documents of the one list.

    These documents then count as judged.
    """
    variants, _free = choices.shape
    lists = np.repeat(one.labels[None, :], variants, axis=0)
    lists[:, one.labels < 0] = choices
    known = np.repeat(one.judged.labels[None, :], variants, axis=0)
    known = -np.sort(-np.concatenate((known, choices.astype(np.int32)), axis=1), axis=1)
    judged = JudgedLabels(
        known.ravel(),
        offsets_of(np.full(variants, known.shape[1])),
        np.zeros(variants, dtype=np.int64),
        one.judged.max_grade,
    )
    lengths = np.full(variants, lists.shape[1])
    return Rankings(lists.ravel(), offsets_of(lengths), np.arange(variants), judged)


def negative_grade_notes(count: int) -> list[Note]:
    """A note that so many documents have a negative grade and may get any label; none if there are 0."""
    if not count:
        return []
    documents = count_phrase(count, "document")
    return [
        Note(
            f"{documents} with a negative grade {'counts' if count == 1 else 'count'} as unjudged. If a "
            "person judged them not relevant, use --negative nonrelevant (in Python "
            'negative="nonrelevant")'
        )
    ]
