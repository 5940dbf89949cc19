"""Sets of queries that follow from scores and from what a random ranking would get.

Ideal and uninformative queries, hard and easy ones, as in Feng and Karmaker, Joint upper & expected
value normalization for evaluation of retrieval systems (2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.arrays import Bools, Floats
from rankgauge.checks import Number, checked, one_of
from rankgauge.data.errors import RankgaugeError
from rankgauge.evaluation.inputs import Qrels, judgments_of
from rankgauge.measures.around import inner
from rankgauge.measures.base import estimates
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import (
    DEFAULT_BY,
    DEFAULT_INFORMATIVE_BY,
    LEVEL,
    SAMPLES,
    SEED,
    SET_SHARE,
    By,
    InformativeBy,
)
from rankgauge.query_sets.model import HowMany, LeftOut, QuerySet, left_out, left_out_text
from rankgauge.rankings.alignment import judged_labels
from rankgauge.results import Result
from rankgauge.rounding import merged
from rankgauge.scores.model import Scores
from rankgauge.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TYPES = ("ideal", "uninformative hard", "uninformative easy", "other")
DECIMALS = 12
"""Differences are shown to so many decimals; which of them are equal, `merged` says."""


@dataclass(frozen=True, eq=False)
class AboveChance:
    """What sets are chosen by: for each query that counts its mean score and expected score, and how
    much better than the expected one the score is; `better` is the score, higher for better.
    `greatest` is the greatest magnitude of the numbers these means are made of: means that `merged`
    makes equal differ only by rounding, and count as equal."""

    queries: tuple[str, ...]
    scores: Floats
    expected: Floats
    differences: Floats
    better: Floats
    greatest: Floats
    left_out: tuple[LeftOut, ...]
    estimated: tuple[Note, ...]

    def set_of(self, name: str, chosen: Bools) -> QuerySet:
        rows = np.flatnonzero(chosen).tolist()
        return QuerySet(name, tuple(self.queries[row] for row in rows), self.left_out)

    def ideal(self, choice: HowMany) -> Bools:
        return choice.highest(self.differences, self.greatest)

    def uninformative(self, choice: HowMany, by: By) -> Bools:
        checked("by", by, one_of(By))
        values = np.abs(self.differences) if by == "absolute" else self.differences
        return choice.lowest(values, self.greatest)

    def easy(self, uninformative: Bools) -> Bools:
        """Which of them have a score from their median on; of several that have just the median, all
        are easy or none, as it is at least the median of all queries or below."""
        if not uninformative.any():
            return uninformative
        better = merged(self.better, self.greatest)
        middle = np.median(better[uninformative])
        at_middle = uninformative & (better == middle)
        easy = uninformative & (better > middle)
        if np.count_nonzero(at_middle) == 1 or middle >= np.median(better):
            easy = easy | at_middle
        return easy


def ideal(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
) -> QuerySet:
    """The queries on which the runs are furthest above a random ranking.

    The difference is the mean over runs and measures of score - expected score (expected - score
    where lower is better), and the measures are those of `scores`, such as one at several cut-offs.
    Exactly one of three says how many queries: their `number`, their `share` of those that can be
    chosen, or a `threshold` from which on a difference is taken. Of equal differences the earlier
    queries are taken; differences that only rounding tells apart are equal. `qrels` are the judgments
    behind the scores.

    Left out, and counted, are queries with nothing relevant, those that no run answered (with
    missing="skip", where only the runs that have a query count) and those on which a measure is not
    defined for a run.

    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0}}
    >>> scores = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}, "P@1")
    >>> ideal(scores, qrels, number=1)
    QuerySet ideal: 1 query (left out: 1 with nothing relevant)
    >>> scores.select(ideal(scores, qrels, number=1)).mean()
    {'run': {'P@1': 1.0}}
    """
    found = above_chance(scores, qrels)
    return found.set_of("ideal", found.ideal(HowMany(number, share, threshold)))


def informative(
    scores: Scores,
    qrels: Qrels,
    *,
    threshold: float = 0.0,
    by: InformativeBy = DEFAULT_INFORMATIVE_BY,
    level: float = LEVEL,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> QuerySet:
    """The queries on which the runs do better than a random ranking.

    by="difference" takes the queries whose difference is above a threshold: all those that
    `uninformative` does not take by the same threshold. `ideal` says what the difference is and which
    queries are left out; it gives the most informative ones.

    by="significance" takes the queries on which at least one run is significantly better than random;
    `significance` says how.

    scores: those of the runs.
    qrels: the judgments behind the scores.
    threshold: the difference that is not enough.
    by: "difference" or "significance".
    level: 1 − level is the greatest p-value, times the number of runs, that counts as significant.
    samples: how many orders are drawn for a p-value.
    seed: fixes the orders that are drawn.
    """
    if checked("by", by, one_of(InformativeBy)) == "significance":
        from rankgauge.query_sets.by_significance import significance

        if threshold:
            raise RankgaugeError("threshold is about by='difference', expected level")
        return significance(scores, qrels, level=level, samples=samples, seed=seed).informative()
    found = above_chance(scores, qrels)
    rest = found.uninformative(HowMany(threshold=threshold), "signed")
    return found.set_of("informative", ~rest)


def uninformative(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    by: By = DEFAULT_BY,
) -> QuerySet:
    """The queries with the smallest difference between the runs and a random ranking.

    by="absolute" takes those nearest to random, from above or below; else, queries on which the runs
    are worse than random come first. A `threshold` is the largest difference that is taken. The rest
    is as `ideal` says.

    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1}}
    >>> run = {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}, "q3": {"a": 1}}
    >>> scores = evaluate(qrels, run, "P@1")
    >>> uninformative(scores, qrels, number=1).queries
    ('q2',)
    >>> uninformative(scores, qrels, number=1, by="absolute").queries
    ('q3',)
    """
    found = above_chance(scores, qrels)
    return found.set_of("uninformative", found.uninformative(HowMany(number, share, threshold), by))


def hard(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    by: By = DEFAULT_BY,
) -> QuerySet:
    """Of the `uninformative` queries, those with a score worse than their median: chance gets little,
    and so do the runs. Where several queries have just the median, `easy` says which of the two
    sets gets them."""
    found = above_chance(scores, qrels)
    rest = found.uninformative(HowMany(number, share, threshold), by)
    return found.set_of("uninformative hard", rest & ~found.easy(rest))


def easy(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    by: By = DEFAULT_BY,
) -> QuerySet:
    """Of the `uninformative` queries, those with their median score or better: chance gets much, and
    the runs little more. Where several queries have just that score, they are easy if it is at least
    the median score of all queries; else they are `hard`."""
    found = above_chance(scores, qrels)
    rest = found.uninformative(HowMany(number, share, threshold), by)
    return found.set_of("uninformative easy", found.easy(rest))


@dataclass(frozen=True, eq=False, repr=False)
class QueryTypes(Result):
    """For each query its mean score, expected score, difference and type, one of `TYPES`; `estimated`
    says of which measures expected scores are estimates. `both` queries are among as many ideal and as
    many uninformative ones as were asked for; their type is uninformative."""

    queries: tuple[str, ...]
    scores: Floats
    expected: Floats
    differences: Floats
    types: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    estimated: tuple[Note, ...] = ()
    both: int = 0

    def sets(self) -> dict[str, QuerySet]:
        """The queries of each type."""
        pairs = list(zip(self.queries, self.types, strict=True))
        return {
            name: QuerySet(name, tuple(q for q, kind in pairs if kind == name), self.left_out)
            for name in TYPES
        }

    def counts(self) -> dict[str, int]:
        """How many queries each type has."""
        return {name: len(queries) for name, queries in self.sets().items()}

    def table(self) -> Table:
        """A row a query; the notes have the count of each type and of what was left out."""
        numbers = (self.scores, self.expected, self.differences)
        columns = [self.queries, *(values.tolist() for values in numbers), self.types]
        return Table(
            ("topic", "score", "expected", "difference", "type"),
            tuple(zip(*columns, strict=True)),
            worded(self.notes),
        )

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """The count of each type, what was left out, and which expected scores are estimates."""
        return (
            *(Note(f"{name}: {count:,}") for name, count in self.counts().items()),
            *(Note(f"left out: {left_out_text(left)}") for left in self.left_out),
            *([Note(BOTH, count=self.both)] if self.both else []),
            *self.estimated,
        )

    def figure(self, measure: str = "") -> Figure:
        """The map of queries: their score by what a random ranking is expected to get, coloured by type.

        A point is a query. On the diagonal the runs are as good as chance; above it they are better, or
        below it where lower scores are better. `measure` says what the score is.

        >>> from rankgauge import evaluate
        >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
        >>> scores = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}, "P@1")
        >>> figure = query_types(scores, qrels, number=1).figure("P@1")
        >>> figure.legends[0].get_title().get_text()
        'P@1\\n2 queries'
        """
        from rankgauge.figures.queries import query_map

        types = np.array(self.types, dtype=object)
        groups = {
            name: (self.scores[types == name], self.expected[types == name]) for name in TYPES
        }
        # Differences are positive where the runs are better than chance.
        lower = float(np.sum(self.differences * (self.scores - self.expected))) < 0
        return query_map(groups, dict(self.left_out), measure=measure, lower=lower)

    def _title(self) -> str:
        return f"{type(self).__name__}: {counted(len(self.queries), 'topic')}"


BOTH = (
    "{topics} would be ideal and uninformative at once, and count as uninformative: more are asked for "
    "than there are"
)


def query_types(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: tuple[float, float] | None = None,
    by: By = DEFAULT_BY,
) -> QueryTypes:
    """The type of each query: ideal, uninformative and hard, uninformative and easy, or other.

    `number` or `share` (by default a quarter) is that of the ideal queries and of the uninformative
    ones; a `threshold` is a pair, the largest difference of the uninformative and the smallest of the
    ideal ones. What is both, because so many are asked for, is uninformative. `ideal`,
    `uninformative`, `hard` and `easy` say the rest.

    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1, "b": 1}, "q4": {"a": 0}}
    >>> run = {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}, "q3": {"a": 2, "b": 1}}
    >>> print(query_types(evaluate(qrels, run, "P@1"), qrels, threshold=(0, 0.5)).table().render("tsv"))
    topic score expected difference type
    q1 1.0 0.5 0.5 ideal
    q2 0.0 0.5 -0.5 uninformative hard
    q3 1.0 1.0 0.0 uninformative easy
    # ideal: 1
    # uninformative hard: 1
    # uninformative easy: 1
    # other: 0
    # left out: 1 with nothing relevant
    """
    if number is None and share is None and threshold is None:
        share = SET_SHARE
    low, high = (None, None) if threshold is None else _pair(threshold)
    few, many = HowMany(number, share, low), HowMany(number, share, high)
    found = above_chance(scores, qrels)
    is_ideal = found.ideal(many)
    is_uninformative = found.uninformative(few, by)
    is_easy = found.easy(is_uninformative)
    names = np.select(
        [is_easy, is_uninformative, is_ideal],
        ["uninformative easy", "uninformative hard", "ideal"],
        default="other",
    )
    return QueryTypes(
        found.queries,
        found.scores,
        found.expected,
        np.round(found.differences, DECIMALS),
        tuple(names.tolist()),
        found.left_out,
        found.estimated,
        int(np.count_nonzero(is_ideal & is_uninformative)),
    )


def _pair(threshold: Any) -> tuple[float, float]:
    if not isinstance(threshold, Sequence) or isinstance(threshold, str) or len(threshold) != 2:
        raise RankgaugeError(
            f"threshold={threshold!r}, expected two numbers: the largest difference of "
            "uninformative queries and the smallest of ideal ones"
        )
    low, high = (
        checked(f"threshold={threshold!r}: the limit", limit, Number(-math.inf))
        for limit in threshold
    )
    if low > high:
        raise RankgaugeError(f"threshold={threshold!r}, expected two numbers, the lower one first")
    return low, high


def above_chance(scores: Scores, qrels: Qrels) -> AboveChance:
    """How far the runs are above chance on each query that counts."""
    measures = [inner(measure) for measure in scores.measures]
    if not measures or not scores.runs:
        raise RankgaugeError("no scores to choose queries by, expected those of a run by a measure")
    directions = {measure.direction for measure in measures}
    if len(directions) > 1 or directions == {"none"}:
        names = ", ".join(f"{measure} ({measure.direction})" for measure in measures)
        raise RankgaugeError(
            f"what is better differs or is not said: {names}; "
            "expected measures that are all better when higher, or all when lower"
        )
    judgments = judgments_of(qrels)
    position = {query: row for row, query in enumerate(judgments.queries.texts())}
    judged = judged_labels(judgments, scores.policies.max_grade)
    rows = np.array([position.get(query, -1) for query in scores.queries], dtype=np.int64)
    if (rows < 0).any() or (judged.take(rows).relevant(1) != scores.relevant).any():
        raise RankgaugeError("other judgments, expected those that the scores were made with")
    judged = judged.take(rows)
    counts = scores.present if scores.policies.missing == "skip" else np.ones_like(scores.present)
    values = np.where(counts[:, :, None], scores.values, 0.0)
    barren = judged.relevant(1) == 0
    for measure in measures:
        barren |= measure.nothing_relevant_each(judged)
    unanswered = ~counts.any(axis=0)
    undefined: Bools = ~np.asarray(np.isfinite(values).all(axis=(0, 2)))
    kept = np.flatnonzero(~(barren | unanswered | undefined))
    means = [measure.random_each(judged.take(kept)) for measure in measures]
    expected = np.mean([mean.values for mean in means], axis=0)
    estimated = [
        replace(remark, measure=str(measure))
        for measure, mean in zip(measures, means, strict=True)
        for remark in estimates(mean, "expected score estimated")
    ]
    known = np.isfinite(expected)
    undefined[kept[~known]] = True
    kept, expected = kept[known], expected[known]
    score = values[:, kept].sum(axis=(0, 2)) / (counts[:, kept].sum(axis=0) * len(measures))
    greatest = np.abs(values[:, kept]).max(axis=(0, 2))
    for mean in means:
        greatest = np.maximum(greatest, np.abs(mean.values[known]))
    sign = -1 if directions == {"lower"} else 1
    return AboveChance(
        tuple(scores.queries[row] for row in kept.tolist()),
        score,
        expected,
        sign * (score - expected),
        sign * score,
        greatest,
        left_out(
            {
                "nothing relevant": barren,
                "no run": unanswered & ~barren,
                "an undefined score": undefined & ~barren & ~unanswered,
            }
        ),
        tuple(estimated),
    )
