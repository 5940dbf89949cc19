"""The largest difference between the scores of two lists, over all labels of unjudged documents."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from rankgauge.core.arrays import Labels
from rankgauge.core.checks import Integer, check_value, one_of
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import (
    DEFAULT_MED_METHOD,
    DEFAULT_NEGATIVE,
    DEFAULT_OFFLIST,
    MedMethod,
    Negative,
    Offlist,
)
from rankgauge.core.records import Value
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.data.model import LARGEST_GRADE
from rankgauge.distance.algorithms.lists import GreatestDifferences, ListPairs, Lists
from rankgauge.distance.heuristics import TraceStep, greedy_search, lower_bounds
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.around import Aggregate
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure, parse
from rankgauge.measures.judged_only import CondensedMeasure
from rankgauge.rankings.lists import JudgedLabels, offsets_of


class Witness(NamedTuple):
    """Labels that give a distance.

    `labels` has the labels of the unjudged documents of the two lists. `others` says how many documents
    in neither list are relevant too, and `others_label` is their label.
    """

    labels: dict[Hashable, int]
    others: int = 0
    others_label: int = 0


class Trace(Result, Value):
    """The steps of Moffat's Algorithm 1 on two lists, as his Table 2 has them.

    Free documents become relevant one by one. It is always the document that adds most to the difference
    of the numerators of the two scores. For AP the weights are those of his Equation 13. `names` has the
    names of the documents, by their number in a step.
    """

    measure: Measure
    steps: tuple[TraceStep, ...]
    names: tuple[Hashable, ...]
    distance: float
    exact: bool

    @property
    def greatest(self) -> float:
        """The greatest difference of the scores at any step."""
        return max(step.quotient for step in self.steps)

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What the columns are, and the greatest quotient beside the distance."""
        about = "the distance" if self.exact else "the distance found so far"
        return (
            Note(
                "what the document adds to the numerator of each score",
                column="weight a, weight b",
            ),
            Note("the number of relevant documents", column="R"),
            Note(f"the largest quotient is {self.greatest:.4f}; {about} is {self.distance:.4f}"),
        )

    def table(self) -> Table:
        """A row for each step; the first row of each side has no document."""
        rows = tuple(
            (
                step.ahead,
                None if step.document is None else str(self.names[step.document]),
                *step[2:],
            )
            for step in self.steps
        )
        return Table((*TRACE_COLUMNS,), rows, note_texts(self.notes))

    def _title(self) -> str:
        return f"Trace of Algorithm 1 by {self.measure}: {count_phrase(len(self.steps), 'step')}"


TRACE_COLUMNS = (
    *("ahead", "document", "weight a", "weight b", "difference"),
    *("R", "numerator", "denominator", "quotient"),
)


class Distance(Value):
    """The distance between two rankings: the largest difference of their scores over all labels.

    The labels are those that unjudged documents may get. If `exact` is True, `value` is the largest
    difference. Otherwise, the largest difference is between `lower`, which is `value`, and `upper`.
    `witness()` returns labels that produce the value, without the residual.

    Attributes
    ----------
    value : float
        The distance, or a lower bound on it; also available as `float(distance)`.
    exact : bool
        Whether the value is exact over the labels in `grades`.
    lower, upper : float
        The bounds on the distance. Both equal the value if it is exact.
    ahead : {"a", "b", "neither"}
        The ranking with the higher score; "neither" if no labels make a difference.
    residual : float
        The part of the value that documents beyond the end of the leading list may add. Only RBP and
        INSQ without a cutoff have one.
    grades : tuple of int
        The labels that an unjudged document may get.
    trace : Trace, optional
        The steps of Moffat's Algorithm 1, if requested.

    Examples
    --------
    >>> from rankgauge import med
    >>> distance = med(["a", "b"], ["c", "d"], "P@2", {"a": 1})
    >>> float(distance), distance.ahead, distance.exact
    (1.0, 'a', True)
    >>> distance.witness().labels
    {'b': 1, 'c': 0, 'd': 0}
    """

    value: float
    exact: bool
    lower: float
    upper: float
    ahead: Literal["a", "b", "neither"]
    residual: float = 0.0
    grades: tuple[int, ...] = (0, 1)
    trace: Trace | None = field(default=None, repr=False, compare=False)
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
    grades: Grades | None = None,
    offlist: Offlist = DEFAULT_OFFLIST,
    max_grade: int | None = None,
    negative: Negative = DEFAULT_NEGATIVE,
    method: MedMethod = DEFAULT_MED_METHOD,
    trace: bool = False,
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
    negative: what a negative label means; as in `med`.
    method: how the distance is found; as in `med`.
    trace: whether the steps of Algorithm 1 are kept; as in `med`.
    """
    check_value("method", method, one_of(MedMethod))
    asked = parse_distance_measure(measure)
    known = check_labels(labels or {}, negative)
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
    if max_grade is not None:
        Integer(1).check(max_grade)
    allowed = check_grades(grades, [*known.values(), max_grade or 1])
    highest = max(int(allowed[-1]), *known.values(), 1)
    if max_grade is not None and max_grade < highest:
        raise MeasureError(f"max_grade={max_grade}, but there is a label of {highest}")
    lists, documents = number_documents(
        [a, b], known, max_grade or highest, allowed, check_offlist(offlist)
    )
    return distance_of(asked, lists, 0, 1, documents, method, trace)


D = TypeVar("D", bound=Hashable)


def number_documents(
    rankings: Sequence[Sequence[D]],
    known: Mapping[D, int],
    max_grade: int,
    grades: Labels,
    offlist: bool,
) -> tuple[Lists, list[D]]:
    """The rankings of one query, with documents numbered as they come, and the documents.

    Parameters
    ----------
    rankings: the documents of each ranking, best first.
    known: the known labels; a negative label is none.
    max_grade: the highest label that is possible.
    grades: the labels that unjudged documents may get.
    offlist: whether documents in none of the rankings may be relevant too.
    """
    numbers: dict[D, int] = {}
    documents = [
        numbers.setdefault(document, len(numbers)) for ranking in rankings for document in ranking
    ]
    lists = Lists(
        np.array(documents, dtype=np.int32),
        offsets_of([len(ranking) for ranking in rankings]),
        np.array([max(known.get(document, -1), -1) for document in numbers], dtype=np.int32),
        JudgedLabels.of([grade for grade in known.values() if grade >= 0], max_grade=max_grade),
        grades,
        offlist,
    )
    return lists, list(numbers)


def greatest_differences(
    measure: Measure, pairs: ListPairs, method: MedMethod
) -> GreatestDifferences:
    """The greatest differences of pairs of lists, found by this method."""
    if method == "exact":
        return measure.distance_each(pairs.lists, pairs.first, pairs.second)
    return lower_bounds(measure, pairs, method)


def grades_to_try(grades: Labels, method: MedMethod) -> tuple[int, ...]:
    """The labels that a method gives to unjudged documents: a heuristic only the lowest and highest."""
    return tuple((grades if method == "exact" else np.unique(grades[[0, -1]])).tolist())


def distance_of(
    measure: Measure,
    lists: Lists,
    a: int,
    b: int,
    names: Sequence[Hashable],
    method: MedMethod = DEFAULT_MED_METHOD,
    trace: bool = False,
) -> Distance:
    """The distance of two of the lists.

    Parameters
    ----------
    measure: the measure; its cutoff cuts the lists.
    lists: the lists.
    a: the number of the first list.
    b: the number of the second list.
    names: the names of the documents.
    method: how the distance is found.
    trace: whether the steps of Algorithm 1 are kept.
    """
    lists = lists.top(measure.depth)
    bounds = greatest_differences(measure, ListPairs(lists, np.array([a]), np.array([b])), method)
    side = int(np.argmax(bounds.ahead[0]))
    value = max(0.0, float(bounds.ahead[0, side]))
    ahead: Any = "neither" if value <= 0 else "ab"[side]

    def witness() -> Witness:
        labels, others = bounds.labeling(0, side)
        pair = lists.pair(a, b)
        free = pair.documents[pair.free].tolist()
        return Witness(
            {names[d]: int(labels[d]) for d in free}, others, bounds.top if others else 0
        )

    exact = bool(bounds.exact[0]) or value >= bounds.limit
    traced = None
    if trace:
        documents = lists.pair(a, b).documents.tolist()
        steps = tuple(
            step for _, side in greedy_search(measure, lists.select_pair(a, b)) for step in side
        )
        traced = Trace(measure, steps, tuple(names[d] for d in documents), value, exact)
    return Distance(
        value,
        exact,
        lower=value,
        upper=value if exact else bounds.limit,
        ahead=ahead,
        residual=0.0 if bounds.residual is None else float(bounds.residual[0, side]),
        grades=grades_to_try(lists.grades, method),
        trace=traced,
        _witness=witness,
    )


def parse_distance_measure(measure: AnyMeasure) -> Measure:
    """The measure with all its parameters; MeasureError if it has no distance."""
    asked = parse(measure)
    if isinstance(asked, CondensedMeasure):  # once every document has a label, nothing is taken out
        return parse_distance_measure(asked.measure)
    if isinstance(asked, Aggregate) or not isinstance(asked, Measure):
        raise MeasureError(
            f"no distance can be computed for {measure}; use a measure with a score for each "
            "query, such as nDCG@10"
        )
    if asked.direction == "none":
        raise MeasureError(f"{asked} has no distance, since neither higher nor lower is better")
    return asked.complete()


def check_labels(
    labels: Mapping[Any, int], negative: Negative = DEFAULT_NEGATIVE
) -> dict[Hashable, int]:
    """The known labels, checked. Negative labels are left out, or are 0 if they mean not relevant."""
    check_value("negative", negative, one_of(Negative))
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
        if label >= 0 or negative == "nonrelevant":
            known[document] = max(int(label), 0)
    return known


Grades: TypeAlias = Iterable[int | Literal["max"]]
"""Labels; "max" is the highest label of the collection."""

HIGHEST_FULL_RANGE = 100
"""If the highest label is at most this, an unjudged document may have any integer label up to it."""


def check_grades(grades: Grades | None, known: Iterable[int]) -> Labels:
    """The labels that an unjudged document may get, ascending.

    By default every whole number from 0 to the highest known label, which is 1 or more. If the highest
    known label is above 100, only 0 and the known labels.
    """
    seen = {label for label in known if label >= 0}
    highest = max(1, *seen, 1)
    if grades is None:
        grades = range(highest + 1) if highest <= HIGHEST_FULL_RANGE else {0, *seen}
    if isinstance(grades, str) or not isinstance(grades, Iterable):
        raise MeasureError(f"grades={grades!r}, expected several labels, such as (0, 1)")
    allowed = sorted({highest if grade == "max" else Integer(0).check(grade) for grade in grades})
    if not allowed or allowed[0] != 0:
        raise MeasureError(
            f"grades={tuple(allowed)} must include 0, since any document may be nonrelevant"
        )
    if allowed[-1] > LARGEST_GRADE:
        raise MeasureError(f"grades={tuple(allowed)}, expected at most {LARGEST_GRADE}")
    return np.array(allowed, dtype=np.int32)


def grades_text(grades: Sequence[int]) -> str:
    """Labels in short: 0-3 for 0, 1, 2 and 3.

    >>> grades_text([0, 1, 2, 3]), grades_text([0, 3]), grades_text(range(0, 900, 9))
    ('0-3', '0,3', '0,9,...,891')
    """
    first, last = grades[0], grades[-1]
    if len(grades) == last - first + 1 > 2:
        return f"{first}-{last}"
    shown = [str(grade) for grade in grades]
    return ",".join(shown if len(shown) <= 8 else [*shown[:2], "...", shown[-1]])


def check_offlist(offlist: Offlist) -> bool:
    """Whether documents in neither list may be relevant."""
    return bool(check_value("offlist", offlist, one_of(Offlist)) == "allowed")
