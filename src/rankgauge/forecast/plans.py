"""How many deep queries a wished width needs, from a pilot."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import numpy as np

from rankgauge.core.checks import Number, check_value
from rankgauge.core.notes import WARNING, Note, count_phrase, note_texts
from rankgauge.core.policies import LEVEL
from rankgauge.core.records import Record
from rankgauge.core.renamed import renamed_parameters
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.errors import RankgaugeError
from rankgauge.forecast.estimates import two_phase
from rankgauge.forecast.ratio_estimator import half_width
from rankgauge.measures.around import Aggregate
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import Scores

VARIANCE_FACTOR = 1.75
"""The variance of a pilot is multiplied by this, since the variance of a small pilot is often too low by
chance. It is the smallest factor, in steps of .25, with which three quarters of the pilots
reach the width, whether 8, 12 or 18 queries would do: 92%, 85% and 79% over five tracks. With 1.5 it is
91%, 81% and 72% (benchmarks/two_phase.py)."""
WIDTHS = Number(0, closed=False, example=0.05)
MOST_ROWS = 12
"""Approximate number of rows, each for a number of queries, in the table of a plan."""


class Plan(Result, Record):
    """How many queries to judge deeply: the result of `plan`.

    Attributes
    ----------
    measure : Measure
        The measure of the deep scores.
    width : float
        The largest width of the intervals.
    level : float
        The confidence level of the intervals.
    queries : int
        The total number of queries.
    pilot : int
        The number of queries that are already judged deeply.
    variance : float
        The mean variance of the residuals of the runs in the pilot.
    needed : int
        The number of queries that must be judged deeply, including the pilot.
    notes : tuple of Note
        Notes on the numbers.

    Examples
    --------
    >>> from rankgauge import Scores
    >>> shallow = Scores.from_matrix([[0.5, 0.7, 0.6, 0.4, 0.5]], runs=["a"], measure="AP")
    >>> deep = Scores.from_matrix([[0.4, 0.6]], runs=["a"], measure="AP", queries=["1", "2"])
    >>> result = plan(shallow, deep, width=0.1)
    >>> result.needed, result.more
    (3, 1)
    """

    _renamed: ClassVar[dict[str, str]] = {"topics": "queries"}

    measure: Scored | Aggregate
    width: float
    level: float
    queries: int
    pilot: int
    variance: float
    needed: int
    notes: tuple[Note, ...]

    @property
    def more(self) -> int:
        """The number of queries to judge deeply in addition to the pilot."""
        return self.needed - self.pilot

    @renamed_parameters(deep_topics="deep_queries")
    def widths(self, deep_queries: int) -> tuple[float, float]:
        """The expected width with this number of deep queries, and the width the plan uses."""
        over = deep_queries, self.queries, self.level
        return _width(self.variance, *over), _width(VARIANCE_FACTOR * self.variance, *over)

    def table(self) -> Table:
        """Return the expected widths for several numbers of deep queries, up to all of them."""
        steps = np.linspace(self.pilot, self.queries, MOST_ROWS).round().astype(int).tolist()
        numbers = sorted({*steps, self.needed, self.pilot, self.queries})
        name = str(self.measure)
        rows = tuple(
            (name, n, n - self.pilot, *self.widths(n), "yes" if n >= self.needed else "no")
            for n in numbers
        )
        columns = ("measure", "deep_topics", "more", "expected_width", "careful_width", "enough")
        return Table(columns, rows, note_texts(self.notes))

    def _title(self) -> str:
        return (
            f"Plan: {self.needed} of {count_phrase(self.queries, 'query')} for a width of "
            f"{self.width:g}, "
            f"{self.more} more than the pilot, {self.measure}"
        )


@renamed_parameters(topics="queries")
def plan(
    shallow: Scores,
    deep: Scores,
    width: float,
    level: float = LEVEL,
    queries: Iterable[str] | None = None,
) -> Plan:
    """Compute how many queries must be judged deeply for intervals of a given width.

    The variance comes from a pilot: some queries, drawn at random, that are already judged deeply.
    It is multiplied by 1.75, because a pilot often underestimates the variance.

    Parameters
    ----------
    shallow : Scores
        The scores of all queries with shallow judgments, for one measure.
    deep : Scores
        The scores of the same runs with deep judgments, on the queries of the pilot.
    width : float
        The largest width of the intervals, from low to high.
    level : float, default 0.95
        Confidence level of the intervals.
    queries : iterable of str, optional
        The queries of the pilot. By default, all queries of `deep`.

    Returns
    -------
    Plan
        The number of queries to judge deeply, and the expected widths.

    Raises
    ------
    RankgaugeError
        If the pilot has fewer than two queries, if `width` or `level` is out of range, or if the scores
        do not fit together, as in `two_phase`.

    Examples
    --------
    >>> from rankgauge import Scores
    >>> shallow = Scores.from_matrix([[0.5, 0.7, 0.6, 0.4, 0.5]], runs=["a"], measure="AP")
    >>> deep = Scores.from_matrix([[0.4, 0.6]], runs=["a"], measure="AP", queries=["1", "2"])
    >>> plan(shallow, deep, width=0.1).needed
    3
    """
    width = check_value("width", width, WIDTHS)
    pilot = two_phase(shallow, deep, queries, level)
    judged, everything = len(pilot.deep_queries), len(pilot.queries)
    if judged < 2:
        raise RankgaugeError(
            "1 deep query, expected a pilot of at least 2; judge 5 queries deeply for a first plan"
        )
    variance = pilot.pooled_variance
    needed = fewest_queries(variance, width, judged, everything, pilot.level)
    name = str(pilot.measure)
    expected = (
        f"the width of the {100 * pilot.level:.10g}% interval of a typical run, with the "
        f"variance {variance:.4g} from a pilot of {judged} queries"
    )
    careful = (
        f"the width with {VARIANCE_FACTOR:g} times this variance, because a pilot often "
        "underestimates it; the plan uses this width"
    )
    unlike = "a run that behaves differently from the others has a wider interval"
    notes = [
        Note(_plan_text(needed, judged, everything, width), measure=name),
        Note(expected, measure=name, column="expected_width"),
        Note(careful, measure=name, column="careful_width"),
        Note(unlike, measure=name, column="expected_width, careful_width"),
    ]
    if not variance:
        text = "the pilot has no variance, so the plan is meaningless; judge more queries deeply"
        notes.append(Note(text, measure=name, severity=WARNING))
    severe = (note for note in pilot.notes if note.severity is not None)
    return Plan(
        pilot.measure, width, pilot.level, everything, judged, variance, needed, (*severe, *notes)
    )


def _width(variance: float, deep_queries: int, topics: int, level: float) -> float:
    return 2 * float(half_width(np.array(variance), deep_queries, topics, level))


def _plan_text(needed: int, pilot: int, topics: int, width: float) -> str:
    """The plan in a sentence."""
    if needed == pilot:
        return f"the {pilot} deep queries that you have are enough for a width of {width:g}"
    every = "all " if needed == topics else ""
    return (
        f"judge {every}{count_phrase(needed, 'query')} deeply for a width of {width:g}, "
        f"{needed - pilot} more than the {pilot} that you have"
    )


def fewest_queries(
    variance: float, width: float, pilot: int, queries: int, level: float = LEVEL
) -> int:
    """The smallest number m of deep queries with 2 t(m − 1) √(1.75 s² (1/m − 1/M)) ≤ width.

    It is at least the number of queries of the pilot, and at most all queries M, whose width is 0.

    >>> fewest_queries(0.002, 0.05, pilot=5, queries=50)
    17
    """
    # The width falls as m grows, so the smallest m is found by halving.
    low, high = pilot, queries
    while low < high:
        middle = (low + high) // 2
        if _width(VARIANCE_FACTOR * variance, middle, queries, level) <= width:
            high = middle
        else:
            low = middle + 1
    return low
