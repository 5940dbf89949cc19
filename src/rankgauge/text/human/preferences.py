"""Win, lose and tie: whom people agree with where a metric and its normalized form disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Number, check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import CORRELATION_SAMPLES, LEVEL, LEVELS, SEED
from rankgauge.core.records import Record
from rankgauge.core.resampling import SamplingOptions, draw_bootstrap_counts
from rankgauge.core.results import Result
from rankgauge.core.rounding import ROUNDING
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import ByMeasure, Scores, find_positions
from rankgauge.text.human.pairwise import PairwisePreferences, majority
from rankgauge.text.human.ratings import NOBODY, Ratings
from rankgauge.text.human.results import interval_note, percentiles
from rankgauge.text.human.shared import AnyRatings, SharedOutputs, orient_scores, shared_outputs
from rankgauge.text.normalization import CONSTANT, ChanceMetric

COUNTS = (
    "pairs",
    "disagreements",
    "win",
    "lose",
    "tie",
    "unrated",
    "metric_tied",
    "normalized_tied",
)

PREFERENCE = "preference"
"""The one dimension of preferences."""
BY_VOTES = "the majority vote decides which output people prefer; without a majority it is a tie"


class Preferences(Result, Record):
    """Whom people side with where a metric and its normalized form disagree.

    This is the result of `win_lose_tie`.

    Attributes
    ----------
    metric, normalized : Scored
        The metric and its normalized form.
    dimensions : tuple of str
        The names of what people rated.
    pairs : int
        The number of pairs of systems on a text that both score.
    disagreements : int
        The number of these pairs that the two put in opposite orders. `win`, `lose`, `tie` and
        `unrated` count only these pairs.
    win, lose, tie : ndarray of int
        For each dimension, the number of pairs where people side with the normalized form, with
        the metric, or with neither.
    unrated : ndarray of int
        For each dimension, the number of pairs where people did not rate both outputs.
    metric_tied, normalized_tied : int
        Pairs that only the metric ties, and pairs that only the normalized form ties. They are not
        disagreements.
    drawn : ndarray
        Sample × 2 × dimension: the numbers of wins and losses in bootstrap samples of the texts.
    level : float
        The level of the interval of `win_share`.
    notes : tuple of Note
        Notes on the numbers.

    Examples
    --------
    >>> from rankgauge import Scores
    >>> from rankgauge.text import win_lose_tie
    >>> scores = Scores.from_matrix(
    ...     [[[0.4, 0.1]], [[0.3, 0.2]]], runs=["a", "b"], measure=["metric", "form"]
    ... )
    >>> people = Scores.from_matrix([[2], [4]], runs=["a", "b"], measure="coherence")
    >>> result = win_lose_tie(scores, people, 'given("metric")', 'given("form")')
    >>> result.disagreements, result.win_share.tolist()
    (1, [1.0])
    """

    metric: Scored | Aggregate
    normalized: Scored | Aggregate
    dimensions: tuple[str, ...]
    pairs: int
    disagreements: int
    win: Ints
    lose: Ints
    tie: Ints
    unrated: Ints
    metric_tied: int
    normalized_tied: int
    drawn: Floats
    level: float
    notes: tuple[Note, ...] = ()

    @property
    def interval(self) -> tuple[Floats, Floats]:
        """For each dimension, the ends of the interval of `win_share`, over texts."""
        known = ~np.isnan(self.win_share)
        low, high = (
            np.where(known, end, np.nan) for end in win_share_interval(self.drawn, self.level)
        )
        return low, high

    @property
    def win_share(self) -> Floats:
        """For each dimension, the share of wins among wins and losses; NaN if there are none."""
        return win_share(self.win, self.lose)

    def table(self) -> Table:
        """One row per dimension, with all counts and the share of wins among wins and losses."""
        rows: list[tuple[Cell, ...]] = []
        low, high = self.interval
        for d, dimension in enumerate(self.dimensions):
            counts = [np.broadcast_to(getattr(self, name), len(self.win))[d] for name in COUNTS]
            names = (str(self.metric), str(self.normalized), dimension)
            shares = (float(each[d]) for each in (self.win_share, low, high))
            rows.append((*names, *map(int, counts), *shares))
        columns = ("metric", "normalized", "dimension", *COUNTS, "win_share", "low", "high")
        return Table(columns, tuple(rows), note_texts(self.notes))

    def _title(self) -> str:
        about = f"{self.normalized} against {self.metric}"
        return f"Preferences: {about}, {count_phrase(self.disagreements, 'disagreement')}"


def win_lose_tie(
    scores: Scores,
    ratings: AnyRatings | PairwisePreferences,
    metric: Scored | str,
    normalized: Scored | str,
    *,
    dimension: str | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    tie: float = 0.0,
    level: float = LEVEL,
    samples: int = CORRELATION_SAMPLES,
    seed: int = SEED,
) -> Preferences:
    """Count whom people side with where a metric and its normalized form disagree.

    The two disagree on a pair of systems if they put their outputs for a text in opposite orders.
    It is a win if people side with the normalized form, and a loss if they side with the metric.

    Parameters
    ----------
    scores : Scores
        The scores, for both the metric and the normalized form.
    ratings : Ratings, Scores or PairwisePreferences
        Judgments of the same outputs: ratings (`read_ratings`), mean ratings as scores, or
        preferences (`read_preferences`). With preferences, only the pairs that people judged
        count.
    metric, normalized : Scored or str
        Two metrics of the scores, such as "rouge1" and "v2(rouge1,length=candidate)".
    dimension : str, optional
        One of the dimensions that people rated. By default, each dimension has a row of its own.
        Preferences have only the dimension "preference".
    pairs : sequence of tuple of str, optional
        The pairs of systems to consider. By default, all of them.
    tie : float, default 0.0
        Ratings that differ by at most this much count as equal.
    level : float, default 0.95
        Confidence level of the interval of the share of wins.
    samples : int, default 1000
        The number of bootstrap samples of the texts for the interval.
    seed : int, default 0
        Seed of the random number generator.

    Returns
    -------
    Preferences
        The counts, and the share of wins with its interval.

    Raises
    ------
    RankgaugeError
        If a metric, a dimension or a system of `pairs` is unknown, or nothing is both scored and
        judged.

    Notes
    -----
    Each annotator who rated both outputs has one vote: for one system, for the other, or for
    neither. The choice with the most votes counts; without a single such choice, the pair is a
    tie. If no annotator rated both outputs, the mean ratings decide.

    Examples
    --------
    >>> from rankgauge import Scores
    >>> from rankgauge.text import win_lose_tie
    >>> scores = Scores.from_matrix(
    ...     [[[0.4, 0.1]], [[0.3, 0.2]]], runs=["a", "b"], measure=["metric", "form"]
    ... )
    >>> people = Scores.from_matrix([[2], [4]], runs=["a", "b"], measure="coherence")
    >>> win_lose_tie(scores, people, 'given("metric")', 'given("form")').win.tolist()
    [1]
    """
    check_value("tie", tie, Number(0, example=0.5))
    check_value("level", level, LEVELS)
    drawing = SamplingOptions.check(samples, seed)
    m = find_positions(
        "measure",
        [str(each) for each in scores.measures],
        [ByMeasure.name(each) for each in (metric, normalized)],
    )
    compared: JudgedPairs | RatedPairs = (
        judged_pairs(scores, ratings, pairs)
        if isinstance(ratings, PairwisePreferences)
        else _rated_pairs(scores, ratings, pairs)
    )
    chosen = _select_dimensions(compared.dimensions, dimension)
    orders = [compared.orders(each) for each in m.tolist()]
    known = ~np.isnan(orders[0]) & ~np.isnan(orders[1])
    first, second = (np.where(known, each, 0.0) for each in orders)
    opposite = first * second < 0
    a, b, text = (np.broadcast_to(each, opposite.shape)[opposite] for each in compared.cases)
    if isinstance(compared, JudgedPairs):
        preferred = [compared.preferred[opposite]]
    else:
        people = ratings if isinstance(ratings, Ratings) else None
        preferred = [
            _preferences_from_ratings((a, b, text), compared.both, d, people, tie) for d in chosen
        ]
    normal = compared.metrics[int(m[1])]
    agreed = np.array([each * second[opposite] for each in preferred]).reshape(len(chosen), -1)
    return Preferences(
        compared.metrics[int(m[0])],
        normal,
        tuple(compared.dimensions[d] for d in chosen),
        int(np.count_nonzero(known)),
        len(text),
        win=np.count_nonzero(agreed > 0, axis=1),
        lose=np.count_nonzero(agreed < 0, axis=1),
        tie=np.count_nonzero(agreed == 0, axis=1),
        unrated=np.count_nonzero(np.isnan(agreed), axis=1),
        metric_tied=int(np.count_nonzero(known & (first == 0) & (second != 0))),
        normalized_tied=int(np.count_nonzero(known & (first != 0) & (second == 0))),
        drawn=draw_win_loss_counts(agreed, text, compared.texts, drawing),
        level=level,
        notes=(
            *compared.notes,
            *_notes(normal, len(text), ratings, tie),
            *([interval_note(level, samples, "share of wins")] if len(text) else []),
        ),
    )


def win_share(win: Floats | Ints, lose: Floats | Ints) -> Floats:
    """The share of wins among wins and losses.

    Parameters
    ----------
    win, lose : ndarray
        The numbers of wins and losses, in the same shape.

    Returns
    -------
    ndarray
        `win / (win + lose)`; NaN if there are neither wins nor losses.

    Examples
    --------
    >>> import numpy as np
    >>> from rankgauge.text.human import win_share
    >>> win_share(np.array([3, 0]), np.array([1, 0])).tolist()
    [0.75, nan]
    """
    decided = win + lose
    return np.asarray(np.where(decided > 0, win / np.maximum(decided, 1), np.nan))


def win_share_interval(drawn: Floats, level: float) -> tuple[Floats, Floats]:
    """The ends of the interval of `win_share`, from the wins and losses in samples."""
    return percentiles(win_share(drawn[:, 0], drawn[:, 1]), level)


def draw_win_loss_counts(
    agreed: Floats, text: Ints, texts: int, drawing: SamplingOptions
) -> Floats:
    """Sample × 2 × dimension: the numbers of wins and of losses in samples of texts."""
    counts = np.stack(
        [
            np.stack([np.bincount(text[row], minlength=texts) for row in rows])
            for rows in (agreed > 0, agreed < 0)
        ]
    ).astype(np.float64)
    return np.concatenate(
        [
            np.einsum("st,kdt->skd", sample, counts)
            for sample in draw_bootstrap_counts(texts, drawing)
        ]
    )


Cases: TypeAlias = tuple[Ints, Ints, Ints]
"""Pairs of outputs for the same text: the numbers of the two systems and of the text."""


class ComparedPairs(Record):
    """Pairs of outputs for the same text, with the scores of both.

    The arrays of `cases` have a common shape once they are broadcast.
    """

    metrics: tuple[Scored | Aggregate, ...]
    scores: Floats
    texts: int
    dimensions: tuple[str, ...]
    cases: Cases
    notes: list[Note]

    def orders(self, metric: int) -> Floats:
        """Return which output of each pair the metric scores higher.

        The value is 1 if the first output scores higher, −1 if the second does, 0 if the scores
        are equal up to rounding, and NaN if one of the outputs has no score.
        """
        values = np.where(np.isfinite(self.scores[metric]), self.scores[metric], np.nan)
        greatest = float(np.nanmax(np.abs(values), initial=0.0))
        a, b, text = self.cases
        return _signs(values[a, text] - values[b, text], ROUNDING * greatest)


class RatedPairs(ComparedPairs):
    """Pairs of outputs that people rated one by one."""

    both: SharedOutputs


class JudgedPairs(ComparedPairs):
    """Pairs of outputs that people compared, and which output of each pair they prefer."""

    preferred: Floats


def _rated_pairs(
    scores: Scores, ratings: AnyRatings, pairs: Sequence[tuple[str, str]] | None
) -> RatedPairs:
    """These pairs of systems, or all of them, on every text."""
    both = shared_outputs(scores, ratings)
    a, b = np.triu_indices(len(both.systems), 1)
    if pairs is not None:
        a, b = _numbers(both.systems, pairs)
    cases = (a[:, None], b[:, None], np.arange(len(both.texts))[None])
    texts = len(both.texts)
    return RatedPairs(both.metrics, both.scores, texts, both.dimensions, cases, both.notes, both)


def judged_pairs(
    scores: Scores,
    preferences: PairwisePreferences,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> JudgedPairs:
    """The pairs that people judged, of these systems or of all. RankgaugeError where none has scores."""
    notes = list(preferences.notes)
    system = _find_positions(preferences.systems, scores.runs)
    text = _find_positions(preferences.texts, scores.queries)[preferences.text]
    a, b = system[preferences.a], system[preferences.b]
    there = (a >= 0) & (b >= 0) & (text >= 0)
    if lost := int(np.count_nonzero(~there)):
        notes.append(Note("judged pairs skipped because they have no scores: {count}", count=lost))
    if pairs is not None:
        one, other = _numbers(scores.runs, pairs)
        size = len(scores.runs)
        wanted = np.minimum(one, other) * size + np.maximum(one, other)
        there &= np.isin(np.minimum(a, b) * size + np.maximum(a, b), wanted)
    if not there.any():
        raise RankgaugeError(
            "none of the pairs judged by people has scores; use the same ids and system "
            f"names as in the texts, such as {scores.queries[0]!r} and {scores.runs[0]!r}"
        )
    return JudgedPairs(
        scores.measures,
        orient_scores(scores),
        len(scores.queries),
        (PREFERENCE,),
        (a[there], b[there], text[there]),
        notes,
        preferences.preferred[there],
    )


def _select_dimensions(dimensions: Sequence[str], dimension: str | None) -> list[int]:
    if dimension is None:
        return list(range(len(dimensions)))
    if dimension not in dimensions:
        raise RankgaugeError(
            f"there are no ratings for {dimension!r}, expected one of: {', '.join(dimensions)}"
        )
    return [dimensions.index(dimension)]


def _numbers(systems: Sequence[str], pairs: Sequence[tuple[str, str]]) -> tuple[Ints, Ints]:
    """The numbers of the systems of each pair."""
    number = {name: place for place, name in enumerate(systems)}
    numbers: dict[frozenset[int], tuple[int, int]] = {}
    for pair in pairs:
        if isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]:
            raise RankgaugeError(f"{pair!r} in pairs, expected the names of two systems")
        for name in pair:
            if name not in number:
                raise RankgaugeError(
                    f"the system {name!r} has no scores or no ratings, expected one of: "
                    f"{', '.join(systems)}"
                )
        one, other = number[pair[0]], number[pair[1]]
        if frozenset((one, other)) in numbers:
            raise RankgaugeError(f"the pair {pair!r} twice, expected it once")
        numbers[frozenset((one, other))] = (one, other)
    if not numbers:
        raise RankgaugeError("no pairs, expected at least one, or None for all")
    table = np.array(list(numbers.values()), dtype=np.int64)
    return table[:, 0], table[:, 1]


def _signs(differences: Floats, tie: float) -> Floats:
    return np.asarray(np.where(np.abs(differences) <= tie, 0.0, np.sign(differences)))


def _preferences_from_ratings(
    cases: Cases, both: SharedOutputs, dimension: int, people: Ratings | None, tie: float
) -> Floats:
    """Return which system people prefer in each case, by their ratings.

    The value is 1 for the first system, −1 for the second, 0 for neither, and NaN where people did
    not rate both.
    """
    ratings = both.ratings[dimension]
    greatest = float(np.nanmax(np.abs(ratings), initial=0.0))
    slack = tie + ROUNDING * greatest
    a, b, text = cases
    by_mean = _signs(ratings[a, text] - ratings[b, text], slack)
    if people is None or not len(text) or (people.annotator == NOBODY).all():
        return by_mean
    votes = _votes(cases, both, dimension, people, slack)
    return np.where(votes.max(axis=0) > 0, majority(votes), by_mean)


def _votes(
    cases: Cases, both: SharedOutputs, dimension: int, people: Ratings, slack: float
) -> Ints:
    """Preference × case: how many annotators prefer the second system, neither, and the first."""
    first, second, text = cases
    votes = np.zeros((3, len(text)), dtype=np.int64)
    lower = inner(people.scores.measures[dimension]).direction == "lower"
    values = people.values[:, dimension] * (-1.0 if lower else 1.0)
    row_system = _find_positions(people.scores.runs, both.systems)[people.system]
    row_text = _find_positions(people.scores.queries, both.texts)[people.text]
    there = (people.annotator != NOBODY) & ~np.isnan(values) & (row_system >= 0) & (row_text >= 0)
    keys = np.lexsort((people.annotator, row_text, ~there))[: int(there.sum())]
    cases_of = np.argsort(text, kind="stable")
    every = np.arange(1, len(both.texts))
    chosen_of = np.split(cases_of, np.searchsorted(text[cases_of], every))
    rows_of = np.split(keys, np.searchsorted(row_text[keys], every))
    for chosen, rows in zip(chosen_of, rows_of, strict=True):
        if not len(chosen) or not len(rows):
            continue
        a, b = first[chosen], second[chosen]
        changes = np.flatnonzero(np.diff(people.annotator[rows])) + 1
        for own in np.split(rows, changes):
            rated = np.full(len(both.systems), np.nan)
            rated[row_system[own]] = values[own]
            sign = _signs(rated[a] - rated[b], slack)
            for place in (-1, 0, 1):
                votes[place + 1, chosen] += sign == place
    return votes


def _find_positions(names: Sequence[str], ours: Sequence[str]) -> Ints:
    """The place of each name in ours, −1 for one that is not there."""
    place = {name: number for number, name in enumerate(ours)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int64)


def _notes(
    normalized: Scored | Aggregate,
    cases: int,
    people: AnyRatings | PairwisePreferences,
    tie: float,
) -> list[Note]:
    if not cases:
        constant = isinstance(normalized, ChanceMetric) and normalized.of.constant
        why = f"{CONSTANT}; use length=candidate, or draws=1 with per=candidate" if constant else ""
        text = "the two never rank a pair of systems in opposite orders on any text"
        return [Note(text, detail=why)]
    if isinstance(people, PairwisePreferences):
        return [Note(BY_VOTES, column="win, lose, tie")]
    by_votes = isinstance(people, Ratings) and (people.annotator != NOBODY).any()
    text = (
        "the majority of the annotators who rated both systems decides which one people prefer"
        if by_votes
        else "the mean ratings decide which output people prefer, since no annotators are named"
    )
    if tie:
        text += f"; ratings that differ by at most {tie:g} count as equal"
    return [Note(text, column="win, lose, tie")]
