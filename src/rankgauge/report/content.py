"""The numbers of a report, as the script in its page reads them.

Each function makes one part of the data. A part that cannot be computed is None, and `OmissionLog` has a
sentence that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from rankgauge.comparison.systems import Comparison, compare
from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import DEFAULT_CORRECTION, DEFAULT_TEST
from rankgauge.core.tables import visible_line
from rankgauge.data.model import Judgments
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.scored import Scored
from rankgauge.query_sets import query_types
from rankgauge.rankings.alignment import judged_labels
from rankgauge.report.page_data import (
    PageMeans,
    PageNames,
    PageNumbers,
    PagePairs,
    to_exact_lists,
    to_short_lists,
)
from rankgauge.scores.model import Scores, combine_scores, find_positions, mean_of

MOST_EXACT = 40_000
"""P-values have all digits if there are no more pairs than these, over all measures."""
DIRECTIONS = {"higher": 1, "lower": -1, "none": 0}


class OmissionLog:
    """What a report leaves out, a sentence each, in the order in which it was noticed."""

    def __init__(self) -> None:
        self.sentences: list[str] = []

    def add(self, sentence: str) -> None:
        """Something is left out; the sentence says what and why."""
        if sentence not in self.sentences:
            self.sentences.append(sentence)


def names(scores: Scores, baseline: str | None) -> PageNames:
    """The names of runs, queries and measures, whether higher is better, and the baseline."""
    return {
        "runs": [visible_line(run) for run in scores.runs],
        "queries": [visible_line(query) for query in scores.queries],
        "measures": [str(measure) for measure in scores.measures],
        "directions": [DIRECTIONS[inner(measure).direction] for measure in scores.measures],
        "baseline": None
        if baseline is None
        else int(find_positions("run", scores.runs, [baseline])[0]),
    }


def mean_scores(scores: Scores) -> Floats:
    """The means, measure × run."""
    return _by_measure(scores, scores.mean())


def _by_measure(scores: Scores, table: Any) -> Floats:
    texts = [str(measure) for measure in scores.measures]
    return np.array([[table[run][text] for run in scores.runs] for text in texts])


def leaderboard(scores: Scores, means: Floats, level: float) -> PageMeans:
    """The scores, their means with intervals, and the judged share of the first ten documents."""
    ends = _by_measure(scores, scores.interval(level=level)).reshape(*means.shape, 2)
    return {
        "values": to_short_lists(np.moveaxis(np.asarray(scores), 2, 0)),
        "means": to_exact_lists(means),
        "low": to_exact_lists(ends[:, :, 0]),
        "high": to_exact_lists(ends[:, :, 1]),
        "level": level,
        "judged": judged_shares(scores),
    }


MOST_NAMED = 5
"""So many runs that lack queries are named; the others are counted."""


def alerts(scores: Scores) -> list[str]:
    """What a reader must know before looking at the means: runs that lack queries or scores."""
    sentences = []
    lacking = {
        run: int((~scores.present[r]).sum())
        for r, run in enumerate(scores.runs)
        if not scores.present[r].all()
    }
    how = (
        "count as empty rankings"
        if scores.policies.missing == "zero"
        else "are excluded from its mean"
    )
    for run, count in sorted(lacking.items(), key=lambda each: -each[1])[:MOST_NAMED]:
        sentences.append(
            f"{visible_line(run)} lacks {count} of {len(scores.queries)} queries; they {how}."
        )
    if len(lacking) > MOST_NAMED:
        sentences.append(
            f"Queries are also missing from {count_phrase(len(lacking) - MOST_NAMED, 'more run')}."
        )
    unknown = np.isnan(np.asarray(scores)).any() or (scores.policies.missing == "skip" and lacking)
    if unknown:
        sentences.append(
            "Some runs have no score on some queries. Each mean is over the queries of its "
            "run; differences and tests use the queries that all runs have in common."
        )
    return sentences


def judged_shares(scores: Scores) -> PageNumbers | None:
    """For each run, which share of its first ten documents is judged; None if it is not known."""
    if not scores.judgments_known:
        return None
    shares = [
        mean_of(scores.judged_at_10[r, queries_in_mean(scores, r) & scores.present[r]])
        for r in range(len(scores.runs))
    ]
    numbers: PageNumbers = to_exact_lists(np.array(shares))
    return numbers


def queries_in_mean(scores: Scores, r: int) -> Bools:
    """Which queries the means of a run are over."""
    return scores.counts(r, scores.policies.missing)


def means_of(scores: Scores, measure: Scored | Aggregate, values: Floats) -> Floats:
    """For each run, the mean of a row of `values` (run × query), over the queries of its means."""
    return np.array(
        [combine_scores(measure, row[queries_in_mean(scores, r)]) for r, row in enumerate(values)]
    )


def order_of(means: Floats, direction: int) -> list[int]:
    """Return the numbers of the runs, the best mean first.

    Of equal means the earlier run is first, and runs without a mean are last.
    """
    worse = means if direction < 0 else -means
    order: Ints = np.argsort(np.where(np.isnan(means), np.inf, worse), kind="stable")
    return [int(run) for run in order]


def compare_pairs(scores: Scores, level: float, left: OmissionLog) -> tuple[PagePairs, list[Note]]:
    """Compare every pair of runs by every measure, and return notes on the tests too.

    A comparison has the difference over the queries that all runs have scores for, p-values, wins, ties
    and losses.
    """
    count = len(scores.runs) * (len(scores.runs) - 1) // 2
    number = to_exact_lists if count * len(scores.measures) <= MOST_EXACT else to_short_lists
    if number is to_short_lists:
        left.add("P-values are rounded to six digits to keep the page small.")
    compared = [
        _compare_runs(scores, measure, level, left) if count else None
        for measure in scores.measures
    ]

    def column(part: Callable[[Comparison], Any]) -> list[Any]:
        return [[None] * count if each is None else part(each) for each in compared]

    known = {note for note in scores.notes if note.severity is not None}
    notes = dict.fromkeys(
        note
        for each in compared
        for note in (each.notes if each is not None else ())
        if (note.column is None or note.column.startswith("p")) and note not in known
    )
    return {
        "test": DEFAULT_TEST,
        "correction": DEFAULT_CORRECTION.capitalize(),
        "difference": column(lambda each: number(each.difference[0])),
        "p": column(lambda each: number(each.p[0])),
        "corrected": column(lambda each: number(each.p_corrected[0])),
        "wins": column(lambda each: each.wins[0].tolist()),
        "ties": column(lambda each: each.ties[0].tolist()),
        "losses": column(lambda each: each.losses[0].tolist()),
    }, list(notes)


def _compare_runs(
    scores: Scores, measure: Scored | Aggregate, level: float, left: OmissionLog
) -> Comparison | None:
    """All pairs by one measure.

    Each measure is compared alone, so that one that no test can take leaves the others as they are.
    """
    try:
        return compare(scores.select(measures=[measure]), level=level)
    except RankgaugeError as error:
        left.add(f"{measure} is not tested for significance: {error}.")
        return None


NOTHING_RELEVANT = "nothing relevant"
Part = TypeVar("Part")


def expected_scores(scores: Scores, judgments: Judgments, rows: Ints) -> list[Floats | None]:
    """For each measure, the expected score of a random order of the judged documents, by query.

    None for a measure without a formula. `rows` has the number of each query in the judgments.
    """
    policies = scores.policies
    if policies.source is not None or policies.standardized is not None:
        return [None] * len(scores.measures)  # they are on other scales
    judged = judged_labels(judgments, policies.max_grade).take(rows)
    chances: list[Floats | None] = []
    for measure in map(inner, scores.measures):
        values = None
        if isinstance(measure, Measure) and measure.expectation == "exact":
            with suppress(RankgaugeError):
                values = measure.expected_each(judged)
        chances.append(values)
    return chances


def chance_scores(
    scores: Scores, expected: list[Floats | None], left: OmissionLog
) -> tuple[list[PageNumbers | None] | None, list[PageNumbers | None] | None]:
    """What chance gets: for each run the mean over its queries, and for each query."""
    means: list[PageNumbers | None] = []
    topics: list[PageNumbers | None] = []
    for measure, values in zip(scores.measures, expected, strict=True):
        if values is None:
            left.add(f"The random baseline for {measure} is omitted: there is no formula for it.")
        combines = isinstance(measure, Aggregate)
        rows = None if values is None else np.tile(values, (len(scores.runs), 1))
        means.append(
            None if rows is None or combines else to_exact_lists(means_of(scores, measure, rows))
        )
        topics.append(None if values is None else to_short_lists(values))
    return none_if_all_none(means), none_if_all_none(topics)


def types_of(
    scores: Scores, judgments: Judgments, expected: list[Floats | None]
) -> list[list[str | None] | None] | None:
    """For each measure and query its type, as `query_types` has it; None if it is not known."""
    types: list[list[str | None] | None] = []
    for m, (measure, values) in enumerate(zip(scores.measures, expected, strict=True)):
        if values is None:
            types.append(None)
            continue
        try:
            result = query_types(scores.select(measures=[measure]), judgments)
        except RankgaugeError:  # neither higher nor lower is better
            types.append(None)
            continue
        known = dict(zip(result.queries, result.types, strict=True))
        barren = scores.nothing_relevant[m] | (scores.relevant == 0)
        types.append(
            [
                NOTHING_RELEVANT if nothing else known.get(query)
                for query, nothing in zip(scores.queries, barren.tolist(), strict=True)
            ]
        )
    return none_if_all_none(types)


def none_if_all_none(parts: list[Part | None]) -> list[Part | None] | None:
    """The parts, or None if all of them are None."""
    return None if all(part is None for part in parts) else parts
