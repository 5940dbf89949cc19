"""Distances of measures that weigh ranks and add gains, divided by a constant or by the ideal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats
from rankgauge.distance.algorithms.lists import GreatestDifferences, ListPairs, Lists
from rankgauge.native import distance as native

if TYPE_CHECKING:
    from rankgauge.measures.cumulative_gain import NormalizedDCG
    from rankgauge.measures.weighted import Weighted


def fixed_weights(measure: Weighted, pairs: ListPairs) -> GreatestDifferences:
    """Every free document gains the most it can where its weight is larger in the list ahead.

    Tan and Clarke 2015, A family of rank similarity measures based on maximized effectiveness
    difference.
    """
    lists, first, second = pairs.lists, pairs.first, pairs.second
    lengths, grade = np.diff(lists.offsets), lists.judged.max_grade
    weights = measure._weights(int(lengths.max(initial=0)))
    allowed = measure._gains(lists.grades, grade)
    divisor = float(measure._divisor(lists.judged)[0])
    unseen = measure._unseen_weight(lengths)
    ahead = native.weighted(
        lists.documents,
        lists.offsets,
        first,
        second,
        weights,
        lists.free.astype(np.uint8),
        measure._gains(lists.labels, grade),
        float(allowed.max()),
    )
    residual = np.column_stack((unseen[first], unseen[second])) * allowed.max()
    top = lists.grades[np.argmax(allowed)]

    def labeling(p: int, side: int) -> tuple[NDArray[np.int32], int]:
        difference = _weight_differences(lists, int(first[p]), int(second[p]), side, weights)
        return _fill_labels(lists, np.where(difference > 0, top, 0)), 0

    scale = 1 / divisor if divisor else 0.0
    exact = np.ones(len(first), dtype=np.bool_)
    return GreatestDifferences(ahead * scale + residual, labeling, exact, residual=residual)


def ideal_weights(measure: NormalizedDCG, pairs: ListPairs) -> GreatestDifferences:
    """The same for scores that are divided by the best order of all gains.

    Free documents raise that too.

    Moffat 2017, Computing maximized effectiveness distance for recall-based metrics, where a free
    document has the highest grade or none. With grades between, gains are cut into layers at the allowed
    gains. How many free documents reach into a layer is chosen for each layer alone: a higher layer has
    fewer judged documents and costs more, so it never wants more free documents than a lower one. If no
    labels put a list ahead, it is behind by the least where the ideal is large; then free documents of
    both lists matter.
    """
    lists, first, second = pairs.lists, pairs.first, pairs.second
    longest, grade = int(np.diff(lists.offsets).max(initial=0)), lists.judged.max_grade
    known = measure._gains(lists.judged.labels, grade)
    weights = measure._weights(2 * longest + len(known))  # all that the ideal can reach
    if measure.cutoff is not None:
        weights[measure.cutoff :] = 0.0
    allowed = measure._gains(lists.grades, grade)
    levels, grade_of = np.unique(allowed, return_index=True)
    kept = _candidate_levels(levels, known)
    levels, grade_of = levels[kept], grade_of[kept]
    reach = np.concatenate(([0.0], np.cumsum(weights)))
    taken = np.arange(2 * longest + 1)
    cuts = np.unique(np.concatenate((levels, known[known > 0])))
    count = np.array([np.count_nonzero(known >= cut) for cut in cuts[1:]], dtype=np.int64)
    thin = np.diff(cuts)
    ideal = thin[:, None] * reach[np.minimum(count[:, None] + taken[None, :], len(weights))]
    layer = np.searchsorted(levels, cuts[1:]) - 1
    costs = np.zeros((len(levels) - 1, len(taken)))
    inside = cuts[1:] <= levels[-1]
    np.add.at(costs, layer[inside], ideal[inside])
    fixed = float(ideal[~inside, 0].sum())
    ahead, reached = native.normalized(
        lists.documents,
        lists.offsets,
        first,
        second,
        np.ascontiguousarray(weights[:longest]),
        lists.free.astype(np.uint8),
        measure._gains(lists.labels, grade),
        np.diff(levels),
        costs,
        fixed,
    )
    labels = lists.grades[grade_of]

    def labeling(p: int, side: int) -> tuple[NDArray[np.int32], int]:
        one, two = int(first[p]), int(second[p])
        difference = _weight_differences(lists, one, two, side, weights)
        listed = np.zeros(len(difference), dtype=np.bool_)
        listed[lists.list(one)] = listed[lists.list(two)] = True
        order = np.argsort(-np.where(lists.free & listed, difference, -np.inf), kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        level = (place[:, None] < reached[p, side][None, :]).sum(axis=1)
        return _fill_labels(lists, labels[level]), 0

    return GreatestDifferences(ahead, labeling, np.ones(len(first), dtype=np.bool_))


def _candidate_levels(levels: Floats, known: Floats) -> NDArray[np.bool_]:
    """Return which levels of gain can be best.

    These are the lowest, the highest, and those next to which the number of judged documents above
    changes. Two neighboring layers with the same judged documents cost the same, so what is right for
    one is right for the other.
    """
    below = np.searchsorted(np.sort(known), levels)  # judged documents below each level
    through = np.searchsorted(np.sort(known), levels, side="right")
    kept = np.ones(len(levels), dtype=np.bool_)
    last = 0
    for level in range(1, len(levels) - 1):
        kept[level] = through[last] < below[level + 1]
        last = level if kept[level] else last
    return kept


def _weight_differences(
    lists: Lists, first: int, second: int, side: int, weights: Floats
) -> Floats:
    """For each document the weight in the list that is ahead less that in the other."""
    difference = np.zeros(len(lists.labels))
    for one, sign in ((first, 1), (second, -1)):
        listed = lists.list(one)
        difference[listed] += sign * weights[: len(listed)]
    return difference if side == 0 else -difference


def _fill_labels(lists: Lists, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """What is known of each document, and these labels for the free ones."""
    return np.where(lists.free, labels, lists.labels).astype(np.int32)
