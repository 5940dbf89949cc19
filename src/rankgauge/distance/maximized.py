"""The greatest difference that the scores of two lists can have, over all labels of unjudged
documents."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from rankgauge.arrays import Labels
from rankgauge.checks import Whole, checked, one_of
from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.model import LARGEST_GRADE
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.measures.distances.lists import Lists
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.measures.judged_only import Condensed
from rankgauge.policies import DEFAULT_OFFLIST, Offlist
from rankgauge.rankings.lists import JudgedLabels, offsets_of


class Witness(NamedTuple):
    """Labels that give a distance.

    `labels` has the labels of the unjudged documents of the two lists. `others` says how many documents
    in neither list are relevant too, and `others_label` is their label.
    """

    labels: dict[Hashable, int]
    others: int = 0
    others_label: int = 0


@dataclass(frozen=True)
class Distance:
    """The distance of two rankings: the greatest difference that their scores can have, over all labels
    of the unjudged documents.

    If `exact` is True, `value` is this difference. Else the difference is between `lower`, which is
    `value`, and `upper`. `ahead` says which ranking then has the higher score: "a", "b", or "neither" if
    no labels make a difference. `residual` is a part of the value: what documents after the end of the
    list ahead may add (only RBP without a cut-off). `witness()` gives labels that lead to the value,
    without the residual.
    """

    value: float
    exact: bool
    lower: float
    upper: float
    ahead: Literal["a", "b", "neither"]
    residual: float = 0.0
    _witness: Any = field(default=None, repr=False, compare=False)

    def __float__(self) -> float:
        return self.value

    def witness(self) -> Witness:
        """Labels of the unjudged documents of the two lists that give the distance."""
        witness: Witness = self._witness()
        return witness


def med_of_lists(
    measure: Measure | str,
    a: Sequence[Hashable],
    b: Sequence[Hashable],
    labels: Mapping[Any, int] | None = None,
    *,
    grades: Iterable[int] | None = None,
    offlist: Offlist = DEFAULT_OFFLIST,
    max_grade: int | None = None,
) -> Distance:
    """The distance of two lists of document ids, best first.

    Parameters
    ----------
    measure: the measure, such as "AP@10".
    a: the ids of the first list.
    b: the ids of the second list.
    labels: the known labels, by document.
    grades: the labels that unjudged documents may get; as in `med`.
    offlist: whether documents in neither list may be relevant too; as in `med`.
    max_grade: the highest label that is possible; as in `med`.
    """
    asked = asked_measure(measure)
    known = checked_labels(labels or {})
    numbers: dict[Hashable, int] = {}
    for name, ranking in (("a", a), ("b", b)):
        if isinstance(ranking, str | bytes) or not isinstance(ranking, Sequence):
            raise RankgaugeError(
                f"{name} is {type(ranking).__name__}, expected a list of documents"
            )
        seen = set()
        for document in ranking:
            try:
                hash(document)
            except TypeError:
                raise RankgaugeError(
                    f"{name} has {document!r}, expected ids of documents"
                ) from None
            if document in seen:
                raise RankgaugeError(f"{name} has {document!r} twice, expected each document once")
            seen.add(document)
            numbers.setdefault(document, len(numbers))
    allowed = checked_grades(grades, known.values())
    highest = max(int(allowed[-1]), *known.values(), 0) if known else int(allowed[-1])
    if max_grade is not None and Whole(1).check(max_grade) < highest:
        raise MeasureError(f"max_grade={max_grade}, but there is a label {highest}")
    lists = Lists(
        np.array([numbers[document] for ranking in (a, b) for document in ranking], dtype=np.int32),
        offsets_of([len(a), len(b)]),
        np.array([known.get(document, -1) for document in numbers], dtype=np.int32),
        JudgedLabels.of(list(known.values()), max_grade=max(1, max_grade or highest)),
        allowed,
        checked_offlist(offlist),
    )
    return distance_of(asked, lists, 0, 1, list(numbers))


def distance_of(
    measure: Measure, lists: Lists, a: int, b: int, names: Sequence[Hashable]
) -> Distance:
    """The distance of two of the lists.

    Parameters
    ----------
    measure: the measure; its cut-off cuts the lists.
    lists: the lists.
    a: the number of the first list.
    b: the number of the second list.
    names: the names of the documents.
    """
    lists = lists.top(measure.depth)
    bounds = measure.distance_each(lists, np.array([a]), np.array([b]))
    side = int(np.argmax(bounds.ahead[0]))
    value = max(0.0, float(bounds.ahead[0, side]))
    ahead: Any = "neither" if value <= 0 else "ab"[side]

    def witness() -> Witness:
        labels, others = bounds.labelling(0, side)
        pair = lists.pair(a, b)
        free = pair.documents[pair.free].tolist()
        return Witness(
            {names[d]: int(labels[d]) for d in free}, others, bounds.top if others else 0
        )

    exact = bool(bounds.exact[0]) or value >= bounds.limit
    return Distance(
        value,
        exact,
        lower=value,
        upper=value if exact else bounds.limit,
        ahead=ahead,
        residual=0.0 if bounds.residual is None else float(bounds.residual[0, side]),
        _witness=witness,
    )


def asked_measure(measure: AnyMeasure) -> Measure:
    """The measure with all its parameters; MeasureError if it has no distance."""
    asked = parse(measure)
    if isinstance(asked, Condensed):  # once every document has a label, nothing is taken out
        return asked_measure(asked.measure)
    if isinstance(asked, Aggregate) or not isinstance(asked, Measure):
        raise MeasureError(
            f"no distance can be computed by {measure}; use a measure with a score for each topic, such "
            "as nDCG@10"
        )
    if asked.direction == "none":
        raise MeasureError(f"{asked} has no distance, since neither higher nor lower is better")
    return asked.complete()


def checked_labels(labels: Mapping[Any, int]) -> dict[Hashable, int]:
    """The known labels, checked. Negative labels are left out: they mean pooled and not judged."""
    if not isinstance(labels, Mapping):
        raise MeasureError(f"labels are {type(labels).__name__}, expected a dict of documents")
    known = {}
    for document, label in labels.items():
        if isinstance(label, bool) or not isinstance(label, int | np.integer):
            raise MeasureError(f"the label of {document!r} is {label!r}, expected a whole number")
        if label > LARGEST_GRADE:
            raise MeasureError(
                f"the label of {document!r} is {label}, expected at most {LARGEST_GRADE}"
            )
        if label >= 0:
            known[document] = int(label)
    return known


def checked_grades(grades: Iterable[int] | None, known: Iterable[int]) -> Labels:
    """The labels that an unjudged document may get, ascending. By default 0 and the highest known label,
    or 0 and 1 if no known label is above 0."""
    if grades is None:
        grades = (0, max(1, *known, 1))
    if not isinstance(grades, Iterable):
        raise MeasureError(f"grades={grades!r}, expected several labels, such as (0, 1)")
    allowed = sorted({Whole(0).check(grade) for grade in grades})
    if not allowed or allowed[0] != 0:
        raise MeasureError(
            f"grades={tuple(allowed)} must include 0, since every document can be not relevant"
        )
    if allowed[-1] > LARGEST_GRADE:
        raise MeasureError(f"grades={tuple(allowed)}, expected at most {LARGEST_GRADE}")
    return np.array(allowed, dtype=np.int32)


def checked_offlist(offlist: Offlist) -> bool:
    """Whether documents in neither list may be relevant."""
    return bool(checked("offlist", offlist, one_of(Offlist)) == "allowed")
