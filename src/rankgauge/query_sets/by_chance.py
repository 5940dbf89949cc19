"""Sets of queries chosen by scores and by the expected scores of random rankings.

Ideal and uninformative queries, hard and easy ones, as in Feng and Karmaker, Joint upper & expected
value normalization for evaluation of retrieval systems (2023).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Bools, Floats
from rankgauge.core.checks import Number, check_value, one_of
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import (
    DEFAULT_CHANCE_DIFFERENCE,
    DEFAULT_INFORMATIVE_BY,
    LEVEL,
    SAMPLES,
    SEED,
    SET_SHARE,
    ChanceDifference,
    InformativeBy,
)
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.rounding import merge_close_values
from rankgauge.core.tables import Table
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.inputs import Qrels, judgments_of
from rankgauge.measures.answers import EXACT, QueryReferenceScores
from rankgauge.measures.around import ranking_measure
from rankgauge.measures.base import estimate_notes
from rankgauge.query_sets.model import Exclusion, QuerySet, SelectionSize, list_exclusions
from rankgauge.rankings.alignment import judged_labels
from rankgauge.scores.model import Scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEANINGS = {
    "ideal": "the runs are furthest ahead of a random ranking",
    "uninformative hard": "least ahead of a random ranking, with low scores",
    "uninformative easy": "least ahead of a random ranking, with high scores",
    "other": "in between",
}
"""The types of queries, and what they mean."""
TYPES = tuple(MEANINGS)
DECIMALS = 12
"""Number of decimals shown for differences. `merge_close_values` decides which differences are
equal."""


class ChanceComparison(Record):
    """The scores of the runs on each query, compared with the scores of random rankings.

    `ideal`, `uninformative` and the other sets of queries are chosen by these numbers.

    Attributes
    ----------
    queries : tuple of str
        The queries that count.
    scores : array of float
        The score on each query, averaged over the runs and measures.
    expected : array of float
        The expected score of a random ranking on each query.
    differences : array of float
        How much better the score is than the expected score.
    better : array of float
        The score; if lower is better, with its sign changed.
    greatest : array of float
        The greatest magnitude of the numbers that were averaged for the query. Means that differ
        only by rounding, relative to it, count as equal.
    left_out : tuple of Exclusion
        Why queries were excluded, and how many.
    estimated : tuple of Note
        A note for each measure whose expected scores are estimates.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
    >>> scores = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}, "P@1")
    >>> compare_with_chance(scores, qrels).differences.tolist()
    [0.5, -0.5]
    """

    queries: tuple[str, ...]
    scores: Floats
    expected: Floats
    differences: Floats
    better: Floats
    greatest: Floats
    left_out: tuple[Exclusion, ...]
    estimated: tuple[Note, ...]

    def set_of(self, name: str, chosen: Bools) -> QuerySet:
        rows = np.flatnonzero(chosen).tolist()
        return QuerySet(name, tuple(self.queries[row] for row in rows), self.left_out)

    def ideal(self, choice: SelectionSize, apart_from: Bools | None = None) -> Bools:
        """The ideal queries.

        None of `apart_from` is one of them, even if its difference is equal to the difference of a
        query that is chosen.
        """
        if apart_from is None:
            return choice.highest(self.differences, self.greatest)
        rows = np.flatnonzero(~apart_from)
        size = SelectionSize(number=choice.size(len(self.queries)))
        chosen = np.zeros_like(apart_from)
        chosen[rows[size.highest(self.differences[rows], self.greatest[rows])]] = True
        return chosen

    def uninformative(self, choice: SelectionSize, by: ChanceDifference) -> Bools:
        check_value("by", by, one_of(ChanceDifference))
        values = np.abs(self.differences) if by == "absolute" else self.differences
        return choice.lowest(values, self.greatest)

    def easy(self, uninformative: Bools) -> Bools:
        """Which of the uninformative queries have their median score or a better one.

        Several queries may have exactly the median score. They are all easy if this score is at least
        the median of all queries; otherwise, none of them is.
        """
        if not uninformative.any():
            return uninformative
        better = merge_close_values(self.better, self.greatest)
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
    """Select the queries on which the runs are furthest above a random ranking.

    The difference of a query is score − expected score, averaged over runs and measures. If lower
    is better, it is expected score − score. Differences that differ only by rounding are equal.
    Among queries with equal differences, earlier ones are chosen first.

    Some queries are excluded and counted: queries without relevant documents, queries on which a measure
    is undefined for a run and, with missing="skip", queries that no run answered. With missing="skip",
    only the runs that answered a query count for it.

    Parameters
    ----------
    scores : Scores
        The scores of the runs. There may be several measures, such as one at several cutoffs.
    qrels : judgments
        The judgments that the scores were made with.
    number : int, optional
        How many queries to choose. Give exactly one of `number`, `share` and `threshold`.
    share : float, optional
        Which share of the queries to choose.
    threshold : float, optional
        The smallest difference of a chosen query.

    Returns
    -------
    QuerySet
        The chosen queries.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 0}}
    >>> scores = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}, "P@1")
    >>> ideal(scores, qrels, number=1)
    QuerySet ideal: 1 query (excluded: 1 with nothing relevant)
    >>> scores.select(ideal(scores, qrels, number=1)).mean()
    {'run': {'P@1': 1.0}}
    """
    above = compare_with_chance(scores, qrels)
    return above.set_of("ideal", above.ideal(SelectionSize(number, share, threshold)))


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
    """Select the queries on which the runs are better than a random ranking.

    Parameters
    ----------
    scores : Scores
        The scores of the runs.
    qrels : judgments
        The judgments that the scores were made with.
    threshold : float, default 0.0
        With by="difference", a query is chosen if its difference is greater than this.
    by : {"difference", "significance"}, default "difference"
        "difference" chooses the queries whose difference is above the threshold. `ideal` defines the
        difference, and which queries are excluded. "significance" chooses the queries on which at least
        one run is significantly better than a random ranking; see `significance`.
    level : float, default 0.95
        With by="significance", a query is chosen if the smallest p-value of its runs, times the
        number of runs, is at most 1 − level.
    samples : int, default 10000
        How many random orders are drawn for a p-value.
    seed : int, default 0
        Seed of the random number generator.

    Returns
    -------
    QuerySet
        The chosen queries.

    Raises
    ------
    RankgaugeError
        If a threshold is given with by="significance".

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
    >>> scores = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}, "P@1")
    >>> informative(scores, qrels).queries
    ('q1',)
    """
    if check_value("by", by, one_of(InformativeBy)) == "significance":
        from rankgauge.query_sets.by_significance import significance

        if threshold:
            raise RankgaugeError(
                "threshold works only with by='difference'; by='significance' needs level"
            )
        return significance(scores, qrels, level=level, samples=samples, seed=seed).informative()
    above = compare_with_chance(scores, qrels)
    rest = above.uninformative(SelectionSize(threshold=threshold), "signed")
    return above.set_of("informative", ~rest)


def uninformative(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    by: ChanceDifference = DEFAULT_CHANCE_DIFFERENCE,
) -> QuerySet:
    """Select the queries with the smallest difference between the runs and a random ranking.

    `ideal` defines the difference, and which queries are excluded.

    Parameters
    ----------
    scores : Scores
        The scores of the runs.
    qrels : judgments
        The judgments that the scores were made with.
    number : int, optional
        How many queries to choose. Give exactly one of `number`, `share` and `threshold`.
    share : float, optional
        Which share of the queries to choose.
    threshold : float, optional
        The largest difference of a chosen query.
    by : {"signed", "absolute"}, default "signed"
        "signed" takes the difference as it is: queries on which the runs are worse than random come
        first. "absolute" takes its magnitude: queries on which the runs are nearest to random come
        first.

    Returns
    -------
    QuerySet
        The chosen queries.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1}}
    >>> run = {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}, "q3": {"a": 1}}
    >>> scores = evaluate(qrels, run, "P@1")
    >>> uninformative(scores, qrels, number=1).queries
    ('q2',)
    >>> uninformative(scores, qrels, number=1, by="absolute").queries
    ('q3',)
    """
    above = compare_with_chance(scores, qrels)
    return above.set_of(
        "uninformative", above.uninformative(SelectionSize(number, share, threshold), by)
    )


def hard(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    by: ChanceDifference = DEFAULT_CHANCE_DIFFERENCE,
) -> QuerySet:
    """Select the `uninformative` queries that score below the median of these queries.

    A random ranking scores low on them, and so do the runs. If lower scores are better, the chosen
    queries score above the median. Several queries may have exactly the median score; `easy` says
    whether they count as easy or as hard.

    Parameters
    ----------
    scores : Scores
        The scores of the runs.
    qrels : judgments
        The judgments that the scores were made with.
    number : int, optional
        How many queries are uninformative. Give exactly one of `number`, `share` and `threshold`.
    share : float, optional
        Which share of the queries is uninformative.
    threshold : float, optional
        The largest difference of an uninformative query.
    by : {"signed", "absolute"}, default "signed"
        How uninformative queries are chosen, as in `uninformative`.

    Returns
    -------
    QuerySet
        The chosen queries.

    See Also
    --------
    easy : The other uninformative queries.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1}}
    >>> run = {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}, "q3": {"a": 1}}
    >>> scores = evaluate(qrels, run, "P@1")
    >>> hard(scores, qrels, number=2).queries
    ('q2',)
    """
    above = compare_with_chance(scores, qrels)
    rest = above.uninformative(SelectionSize(number, share, threshold), by)
    return above.set_of("uninformative hard", rest & ~above.easy(rest))


def easy(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: float | None = None,
    by: ChanceDifference = DEFAULT_CHANCE_DIFFERENCE,
) -> QuerySet:
    """Select the `uninformative` queries that score at least the median of these queries.

    A random ranking scores high on them, and the runs hardly score higher. If lower scores are better,
    the chosen queries score at most the median. Several queries may have exactly the median score. They
    are all easy if the median is at least as good as the median of all queries; otherwise they are
    `hard`.

    Parameters
    ----------
    scores : Scores
        The scores of the runs.
    qrels : judgments
        The judgments that the scores were made with.
    number : int, optional
        How many queries are uninformative. Give exactly one of `number`, `share` and `threshold`.
    share : float, optional
        Which share of the queries is uninformative.
    threshold : float, optional
        The largest difference of an uninformative query.
    by : {"signed", "absolute"}, default "signed"
        How uninformative queries are chosen, as in `uninformative`.

    Returns
    -------
    QuerySet
        The chosen queries.

    See Also
    --------
    hard : The other uninformative queries.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1}}
    >>> run = {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}, "q3": {"a": 1}}
    >>> scores = evaluate(qrels, run, "P@1")
    >>> easy(scores, qrels, number=2).queries
    ('q3',)
    """
    above = compare_with_chance(scores, qrels)
    rest = above.uninformative(SelectionSize(number, share, threshold), by)
    return above.set_of("uninformative easy", above.easy(rest))


class QueryTypes(Result, Record):
    """The score, the expected score, the difference and the type of each query.

    Attributes
    ----------
    queries : tuple of str
        The queries that count.
    scores : array of float
        The score on each query, averaged over the runs and measures.
    expected : array of float
        The expected score of a random ranking on each query.
    differences : array of float
        How much better the score is than the expected score.
    types : tuple of str
        The type of each query, one of `TYPES`.
    left_out : tuple of Exclusion
        Why queries were excluded, and how many.
    estimated : tuple of Note
        A note for each measure whose expected scores are estimates.
    both : int
        How many queries qualify as both ideal and uninformative because too many were requested. Their
        type is uninformative.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
    >>> scores = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}, "P@1")
    >>> query_types(scores, qrels, number=1).types
    ('ideal', 'uninformative easy')
    """

    queries: tuple[str, ...]
    scores: Floats
    expected: Floats
    differences: Floats
    types: tuple[str, ...]
    left_out: tuple[Exclusion, ...]
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
        """A row for each query. The notes have the counts of the types and of the queries left out."""
        numbers = (self.scores, self.expected, self.differences)
        columns = [self.queries, *(values.tolist() for values in numbers), self.types]
        names = ("topic", "score", "expected", "difference", "type")
        return Table(names, tuple(zip(*columns, strict=True)), note_texts(self.notes))

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """The count of each type, the queries left out, and which expected scores are estimates.

        A type that occurs is explained.
        """
        return (
            *(
                Note(f"{name}: {count:,}", detail=MEANINGS[name] if count else "")
                for name, count in self.counts().items()
            ),
            *(left.note for left in self.left_out),
            *([Note(OVERLAP_NOTE, count=self.both)] if self.both else []),
            *self.estimated,
        )

    def figure(self, measure: str = "") -> Figure:
        """Plot the map of queries: the expected score of each query against its score.

        The color shows the type. On the diagonal, the runs perform at chance. Below it they are better;
        if lower scores are better, above it. `measure` is the name of the score.

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
        return f"{type(self).__name__}: {count_phrase(len(self.queries), 'query')}"


OVERLAP_NOTE = (
    "{queries} would be both ideal and uninformative, because more queries were requested "
    "than there are; they count as uninformative"
)


def query_types(
    scores: Scores,
    qrels: Qrels,
    *,
    number: int | None = None,
    share: float | None = None,
    threshold: tuple[float, float] | None = None,
    by: ChanceDifference = DEFAULT_CHANCE_DIFFERENCE,
) -> QueryTypes:
    """Classify each query as ideal, uninformative hard, uninformative easy, or other.

    `ideal`, `uninformative`, `hard` and `easy` define the types. If so many queries are requested that a
    query is both ideal and uninformative, it counts as uninformative.

    Parameters
    ----------
    scores : Scores
        The scores of the runs.
    qrels : judgments
        The judgments that the scores were made with.
    number : int, optional
        How many queries are ideal, and how many are uninformative. Give at most one of `number`,
        `share` and `threshold`.
    share : float, optional
        Which share of the queries is ideal, and which share is uninformative; by default 0.25.
    threshold : tuple of two floats, optional
        The largest difference of uninformative queries, and the smallest difference of ideal
        queries.
    by : {"signed", "absolute"}, default "signed"
        How uninformative queries are chosen, as in `uninformative`.

    Returns
    -------
    QueryTypes
        The type of each query, with its score and its expected score.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}, "q3": {"a": 1, "b": 1}, "q4": {"a": 0}}
    >>> run = {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}, "q3": {"a": 2, "b": 1}}
    >>> print(query_types(evaluate(qrels, run, "P@1"), qrels, threshold=(0, 0.5)).table().render("tsv"))
    topic score expected difference type
    q1 1.0 0.5 0.5 ideal
    q2 0.0 0.5 -0.5 uninformative hard
    q3 1.0 1.0 0.0 uninformative easy
    # ideal: 1 (the runs are furthest ahead of a random ranking)
    # uninformative hard: 1 (least ahead of a random ranking, with low scores)
    # uninformative easy: 1 (least ahead of a random ranking, with high scores)
    # other: 0
    # excluded: 1 with nothing relevant
    """
    if number is None and share is None and threshold is None:
        share = SET_SHARE
    low, high = (None, None) if threshold is None else _check_thresholds(threshold)
    few, many = SelectionSize(number, share, low), SelectionSize(number, share, high)
    above = compare_with_chance(scores, qrels)
    is_ideal = above.ideal(many)
    is_uninformative = above.uninformative(few, by)
    is_easy = above.easy(is_uninformative)
    names = ("uninformative easy", "uninformative hard", "ideal")
    types = np.select([is_easy, is_uninformative, is_ideal], names, default="other")
    return QueryTypes(
        above.queries,
        above.scores,
        above.expected,
        np.round(above.differences, DECIMALS),
        tuple(types.tolist()),
        above.left_out,
        above.estimated,
        both=int(np.count_nonzero(is_ideal & is_uninformative)),
    )


def _check_thresholds(threshold: Any) -> tuple[float, float]:
    if not isinstance(threshold, Sequence) or isinstance(threshold, str) or len(threshold) != 2:
        raise RankgaugeError(
            f"threshold={threshold!r}, expected two numbers: the largest difference of "
            "uninformative queries and the smallest of ideal ones"
        )
    low, high = (
        check_value(f"threshold={threshold!r}: the limit", limit, Number(-math.inf))
        for limit in threshold
    )
    if low > high:
        raise RankgaugeError(f"threshold={threshold!r}, expected two numbers, the lower one first")
    return low, high


def compare_with_chance(
    scores: Scores, qrels: Qrels, reb: str = EXACT, *, with_barren: bool = False
) -> ChanceComparison:
    """Compute how far the runs are above a random ranking on each query.

    `ideal` defines which queries are excluded.

    Parameters
    ----------
    scores : Scores
        The scores of the runs.
    qrels : judgments
        The judgments that the scores were made with.
    reb : {"exact", "independent", "capped"}, default "exact"
        How the expected score of a random ranking is computed, as in `v2`.
    with_barren : bool, default False
        Keep queries with nothing relevant. All rankings of such a query score the same, so its
        expected score is the score of the runs.

    Returns
    -------
    ChanceComparison
        The scores, the expected scores and their differences.

    Raises
    ------
    RankgaugeError
        If there are no scores, if the scores were made with other judgments, or if higher is better
        for some measures and lower for others.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 0}}
    >>> scores = evaluate(qrels, {"q1": {"a": 2, "b": 1}, "q2": {"b": 2, "a": 1}}, "P@1")
    >>> comparison = compare_with_chance(scores, qrels)
    >>> comparison.expected.tolist(), comparison.differences.tolist()
    ([0.5, 0.5], [0.5, -0.5])
    """
    measures = [ranking_measure(measure) for measure in scores.measures]
    if not measures or not scores.runs:
        raise RankgaugeError("no scores, expected at least one run and one measure")
    directions = {measure.direction for measure in measures}
    if len(directions) > 1 or directions == {"none"}:
        names = ", ".join(f"{measure} ({measure.direction})" for measure in measures)
        raise RankgaugeError(
            f"higher must be better for all measures, or lower for all of them; got: {names}"
        )
    judgments = judgments_of(qrels)
    position = {query: row for row, query in enumerate(judgments.queries.texts())}
    judged = judged_labels(judgments, scores.policies.max_grade)
    rows = np.array([position.get(query, -1) for query in scores.queries], dtype=np.int64)
    if (rows < 0).any() or (judged.take(rows).relevant(1) != scores.relevant).any():
        raise RankgaugeError(
            "different judgments, expected the judgments used to compute the scores"
        )
    judged = judged.take(rows)
    counts = scores.present | (scores.policies.missing != "skip")
    values = np.where(counts[:, :, None], scores.values, 0.0)
    barren = judged.relevant(1) == 0
    for measure in measures:
        barren |= measure.nothing_relevant_each(judged)
    unanswered = ~counts.any(axis=0)
    undefined: Bools = ~np.asarray(np.isfinite(values).all(axis=(0, 2)))
    left = np.zeros_like(barren) if with_barren else barren
    kept = np.flatnonzero(~(left | unanswered | undefined))
    chances = QueryReferenceScores(judged.take(kept))
    means = [chances.mean(measure, reb) for measure in measures]
    score = values[:, kept].sum(axis=(0, 2)) / (counts[:, kept].sum(axis=0) * len(measures))
    expected = np.where(barren[kept], score, np.mean([mean.values for mean in means], axis=0))
    estimated = [
        replace(remark, measure=str(measure))
        for measure, mean in zip(measures, means, strict=True)
        for remark in estimate_notes(mean, "expected score estimated")
    ]
    known = np.isfinite(expected)
    undefined[kept[~known]] = True
    kept, score, expected = kept[known], score[known], expected[known]
    greatest = np.abs(values[:, kept]).max(axis=(0, 2))
    for mean in means:
        greatest = np.fmax(greatest, np.abs(mean.values[known]))
    sign = -1 if directions == {"lower"} else 1
    reasons = {
        "nothing relevant": left,
        "no run": unanswered & ~left,
        "an undefined score": undefined & ~left & ~unanswered,
    }
    return ChanceComparison(
        queries=tuple(scores.queries[row] for row in kept.tolist()),
        scores=score,
        expected=expected,
        differences=sign * (score - expected),
        better=sign * score,
        greatest=greatest,
        left_out=list_exclusions(reasons),
        estimated=tuple(estimated),
    )
