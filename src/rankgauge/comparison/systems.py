"""Pairwise comparison of systems: difference, interval, effect size, p-values, wins and losses."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.comparison.design import add_query_count, pairs_of, shared_queries
from rankgauge.comparison.inputs import scores_of, takes_scores
from rankgauge.comparison.significance import Pairs, check_correction, correct_p_values, find_test
from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.charts import Chart
from rankgauge.core.checks import check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import (
    DEFAULT_CORRECTION,
    DEFAULT_TEST,
    LEVEL,
    LEVELS,
    MISSING,
    MOST_SAMPLES,
    SAMPLES,
    SEED,
    Missing,
    Progress,
)
from rankgauge.core.records import Record
from rankgauge.core.resampling import SamplingOptions
from rankgauge.core.results import Result
from rankgauge.core.rounding import at_most
from rankgauge.core.tables import Cell, LazyRows, MarkedValue, MarkLegend, PValue, Table
from rankgauge.evaluation.calls import checked_call
from rankgauge.evaluation.evaluator import Measures
from rankgauge.evaluation.inputs import Qrels, Runs
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import Scores

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor


class Comparison(Result, Record):
    """The result of `compare`: each pair of runs on each measure.

    `table()` has a row for each measure and pair, and `marked_table()` has a row for each run, marked
    with letters, as in papers. Arrays are measure × pair unless stated otherwise.

    Attributes
    ----------
    runs : tuple of str
        The names of the runs.
    measures : tuple of measures
        The measures.
    first, second : array of int
        For each pair, the two runs, as positions in `runs`.
    means : array of float
        The mean score of each run, measure × run.
    difference : array of float
        The mean of the first run minus the mean of the second run.
    low, high : array of float
        The ends of the interval of the difference.
    effect : array of float
        The effect size. A note gives its definition.
    p, p_corrected : array of float
        The p-value of the test, before and after correction for multiple comparisons.
    wins, ties, losses : array of int
        The number of queries on which the first run is better than, equal to and worse than the second.
        If neither higher nor lower is better, a win is a higher score.
    baselines : tuple of str
        The runs that each other run is compared with; empty if all pairs are compared.
    test : str
        The name of the significance test.
    correction : str or None
        The name of the correction. None if the p-values are not corrected or already account for all
        pairs.
    level : float
        The level of the intervals. A difference is significant if `p_corrected` is at most 1 − level.
    seed : int or None
        The seed of the samples; None if the test draws none.
    notes : tuple of Note
        How the numbers were computed, and caveats.

    Examples
    --------
    >>> scores = Scores.from_matrix(
    ...     [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6]], runs=["new", "old"], measure="AP"
    ... )
    >>> comparison = compare(scores)
    >>> comparison.significant.tolist(), comparison.wins.tolist()
    ([[True]], [[4]])
    """

    runs: tuple[str, ...]
    measures: tuple[Scored | Aggregate, ...]
    first: Ints
    second: Ints
    means: Floats
    difference: Floats
    low: Floats
    high: Floats
    effect: Floats
    p: Floats
    p_corrected: Floats
    wins: Ints
    ties: Ints
    losses: Ints
    baselines: tuple[str, ...]
    test: str
    correction: str | None
    level: float
    seed: int | None
    notes: tuple[Note, ...]

    @property
    def significant(self) -> Bools:
        """Measure × pair: whether the difference is significant after the correction."""
        return at_most(self.p_corrected, 1 - self.level)

    @property
    def better(self) -> Ints:
        """Measure × pair: 1 if the first run is better, −1 if the second run is better, else 0.

        A difference counts whether it is significant or not. The entry is 0 if the means are equal, or
        if neither higher nor lower is better for the measure.
        """
        signs = {"higher": 1, "lower": -1, "none": 0}
        direction = np.array([signs[inner(measure).direction] for measure in self.measures])
        return np.asarray(np.sign(self.difference).astype(np.int64) * direction[:, None])

    def table(self) -> Table:
        """A row for each measure and pair; the difference is the mean of a minus the mean of b."""
        rows = LazyRows(self.difference.size, self._rows)
        # On one scale, differences of several measures would not compare.
        chart = CHART if len(self.measures) == 1 else None
        shown: tuple[str, ...] = COLUMNS
        if not _shows_corrected(self.correction, len(self.first)):
            shown = tuple(name for name in COLUMNS if name != "p_corrected")
        return Table(COLUMNS, rows, note_texts(self.notes), shown, chart)

    def marked_table(self) -> Table:
        """A row for each run, with its means marked with letters, as in papers.

        Each run has a letter. The letters next to a mean name the runs that it significantly
        outperforms. With baselines, a second mark names the baselines that it is significantly worse
        than.
        """
        letters = self._letters()
        rows: list[tuple[Cell, ...]] = []
        for r, run in enumerate(self.runs):
            means = (self._mark_mean(m, r, letters) for m in range(len(self.measures)))
            rows.append((letters.get(r, ""), run, *means))
        columns = ("", "run", *(str(measure) for measure in self.measures))
        hidden = (INTERVAL, EFFECT, "p_corrected")
        notes = [note for note in self.notes if note.column not in hidden]
        return Table(columns, tuple(rows), (*self._legend(rows), *note_texts(notes)))

    def _legend(self, rows: Sequence[Sequence[Cell]]) -> Iterator[str]:
        """The marks that occur in these rows, and when a difference is significant."""
        pairs, measures = len(self.first), len(self.measures)
        limit = f"p ≤ {1 - self.level:.4g}"
        if self.correction is not None and _shows_corrected(self.correction, pairs):
            limit += f" after {_describe_correction(self.correction, pairs, measures)}"
        marked = [cell for row in rows for cell in row if isinstance(cell, MarkedValue)]
        if any(cell.above for cell in marked):
            yield MarkLegend("▲", f"significantly better than these runs, {limit}")
        if any(cell.below for cell in marked):
            yield MarkLegend("▼", f"significantly worse than these runs, {limit}")
        if not self.significant.any():
            yield f"no difference is significant: none has {limit}"

    def _title(self) -> str:
        pairs, measures = (
            count_phrase(len(self.first), "pair"),
            count_phrase(len(self.measures), "measure"),
        )
        return f"Comparison: {pairs}, {measures}"

    def _rows(self, start: int, end: int) -> Iterator[tuple[Cell, ...]]:
        """These rows of the table: all pairs by the first measure, then all by the next."""
        pairs = len(self.first)
        while start < end:
            m, pair = divmod(start, pairs)
            some = slice(pair, min(pair + end - start, pairs))
            columns = (getattr(self, name)[m, some].tolist() for name in COLUMNS[3:])
            runs = (
                [self.runs[r] for r in side[some].tolist()] for side in (self.first, self.second)
            )
            for a, b, *cells in zip(*runs, *columns, strict=True):
                cells[P], cells[P_CORRECTED] = PValue(cells[P]), PValue(cells[P_CORRECTED])
                yield str(self.measures[m]), a, b, *cells
            start += some.stop - pair

    def _letters(self) -> dict[int, str]:
        """The letters of the runs, or of the baselines if there are any.

        If there are more than 26, they are numbers.
        """
        shown = [
            r for r, run in enumerate(self.runs) if not self.baselines or run in self.baselines
        ]
        if len(shown) > 26:
            return {run: str(number) for number, run in enumerate(shown, 1)}
        return {run: chr(ord("a") + place) for place, run in enumerate(shown)}

    def _mark_mean(self, m: int, run: int, letters: dict[int, str]) -> MarkedValue:
        better: list[str] = []
        worse: list[str] = []
        sides = np.where(self.first == run, 1, np.where(self.second == run, -1, 0))
        for pair in np.flatnonzero(self.significant[m] & (sides != 0)):
            other = int(self.second[pair] if sides[pair] > 0 else self.first[pair])
            ahead = self.better[m, pair] * sides[pair]
            if other in letters and ahead:
                (better if ahead > 0 else worse).append(letters[other])
        between = "," if len(letters) > 26 else ""
        above, below = (
            between.join(sorted(some, key=lambda letter: (len(letter), letter)))
            for some in (better, worse)
        )
        return MarkedValue(float(self.means[m, run]), above, below if self.baselines else "")


COLUMNS = (
    "measure", "a", "b", "difference", "low", "high", "effect", "p", "p_corrected",
    "wins", "ties", "losses",
)  # fmt: skip
"""The columns of the table of a comparison."""
CHART = Chart("difference", -math.inf, math.inf, "low", "high", mark=0.0)
"""The differences with their intervals, and whether these contain 0."""
P, P_CORRECTED = (COLUMNS.index(name) - 3 for name in ("p", "p_corrected"))
INTERVAL, EFFECT = "low, high", "effect"
"""Columns that notes explain."""
FAMILYWISE_CORRECTIONS = ("holm", "bonferroni")
"""Corrections that multiply the smallest p-value by the number of pairs."""

CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "the correction of Benjamini and Hochberg",
}
"""The built-in corrections, as notes call them."""


FORM = "compare(qrels, [run, other], [nDCG @ 10]), or compare(scores)"
"""How `compare` is called."""


@takes_scores
@checked_call(FORM)
def compare(
    qrels: Qrels | Scores,
    runs: Runs | None = None,
    measures: Measures = "nDCG@10",
    *,
    baseline: str | Sequence[str] | None = None,
    test: str = DEFAULT_TEST,
    correction: str | None = DEFAULT_CORRECTION,
    level: float = LEVEL,
    missing: Missing | None = None,
    samples: int | None = None,
    seed: int = SEED,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Test whether the differences between runs are statistically significant.

    Runs are compared in pairs, by the means of each measure over the queries. Queries on which a measure
    is undefined for some run are excluded for all runs.

    Call it with scores, `compare(scores)`, or with what `evaluate` takes,
    `compare(qrels, runs, measures)`.

    Parameters
    ----------
    qrels : Scores, or judgments
        The scores of at least two runs, as `evaluate` returns them. Or judgments, in any form that
        `evaluate` takes.
    runs : runs, optional
        The runs, in any form that `evaluate` takes. Required with judgments, not allowed with scores.
    measures : Measure, str, or sequence of these, default "nDCG@10"
        The measures, in any form that `evaluate` takes. Not allowed with scores.
    baseline : str or sequence of str, optional
        A run, or several, to compare each other run with. By default, all pairs are compared.
    test : str, default "paired-t"
        The significance test: "paired-t", "welch" or "student" (both unpaired), "wilcoxon", "sign",
        "randomization", "bootstrap" (Studentized), "tukey" (two-way, by run and query) or
        "tukey-randomized".
    correction : str or None, default "holm"
        The correction of the p-values for multiple comparisons, over all pairs of a measure: "holm",
        "bonferroni", "bh" or None. The Tukey tests already correct for all pairs, so `correction` has no
        effect on them.
    level : float, default 0.95
        Confidence level of the intervals. A difference is significant if its corrected p-value is at
        most 1 − level.
    missing : {"zero", "skip"}, optional
        How to treat queries that some run lacks. "zero": the run gets the score of an empty ranking, or
        0 if that score is unknown. "skip": the query is left out for all runs. By default, the setting
        used in `evaluate`.
    samples : int, optional
        Number of samples, for tests that draw samples. By default 10,000; "randomization" draws more if
        10,000 are too few for any difference to be significant after the correction.
    seed : int, default 0
        Seed of the random number generator.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads. The result is the same.
    progress : callable, optional
        Called with the name of each step, for tests that draw samples.

    Returns
    -------
    Comparison
        For each pair of runs and each measure: the difference of the means, its interval, the effect
        size, the p-values, and the number of queries on which each run is better.

    Raises
    ------
    RankgaugeError
        If there is only one run, if runs or measures are given with scores, or if judgments are given
        without runs. Also if the test, the correction or a baseline is unknown, if the level is not
        between 0 and 1, if a measure is not an arithmetic mean over queries, or if no query has a score
        for every run.
    MeasureError
        If a measure cannot be parsed.
    InputError
        If the judgments or a run cannot be read.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    >>> new = {"q1": ["a", "b"], "q2": ["a", "b"], "q3": ["c", "a"]}
    >>> old = {"q1": ["b", "a"], "q2": ["a", "c", "b"], "q3": ["a", "c"]}
    >>> compare(qrels, {"new": new, "old": old}, "RR").difference.round(3).tolist()
    [[0.389]]

    With scores that are already computed:

    >>> scores = Scores.from_matrix(
    ...     [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6]], runs=["new", "old"], measure="AP"
    ... )
    >>> comparison = compare(scores)
    >>> comparison.difference.round(3).tolist(), comparison.p.round(4).tolist()
    ([[0.15]], [[0.0138]])
    """
    method = find_test(test)
    check_correction(correction)
    check_value("level", level, LEVELS)
    missing = check_value("missing", missing, MISSING, optional=True)
    scores = scores_of(qrels, runs, measures, executor, FORM)
    first, second, baselines = pairs_of(scores.runs, baseline)
    number = default_samples(test, correction, len(first), level) if samples is None else samples
    drawing = SamplingOptions.check(number, seed, executor, progress)
    results: list[dict[str, Any]] = []
    notes: list[Note] = []
    draws = False
    for m, measure in enumerate(scores.measures):
        values, remarks = shared_queries(scores, m, missing)
        notes += add_query_count(measure, values, remarks)
        pairs = Pairs(values, first, second, level, drawing)
        outcome = method(pairs)
        draws = draws or method.draws(pairs.queries, drawing)
        direction = inner(measure).direction
        if direction == "none":
            text = "neither higher nor lower is better; a win only means a higher value"
            notes.append(Note(text, measure=str(measure)))
        wins, ties, losses = pairs.signs[:: -1 if direction == "lower" else 1]
        own = {"means": pairs.means, "difference": pairs.difference, **outcome._asdict()}
        own["p_corrected"] = correct_p_values(outcome.p, method, correction)
        results.append(own | {"wins": wins, "ties": ties, "losses": losses})
        same = int(np.count_nonzero((pairs.spread == 0) & (pairs.difference != 0)))
        if same:
            kind = "{pairs} with the same difference on every query"
            notes.append(Note(kind, measure=str(measure), count=same))
    return Comparison(
        runs=scores.runs,
        measures=scores.measures,
        first=first,
        second=second,
        baselines=baselines,
        test=test,
        correction=None if method.family else correction,
        level=level,
        seed=drawing.seed if draws else None,
        notes=(
            *(note for note in scores.notes if note.severity is not None),
            *_method_notes(test, correction, level, len(first), scores, drawing if draws else None),
            *notes,
        ),
        **{name: np.array([each[name] for each in results]) for name in ("means", *COLUMNS[3:])},
    )


def default_samples(test: str, correction: str | None, pairs: int, level: float) -> int:
    """How many samples are drawn by default.

    For "randomization" with a strict correction it is at least twice as many as the smallest p-value
    needs to be significant after the correction. The bootstrap keeps the usual number: from a few
    queries it cannot know such extreme tails.
    """
    if correction not in FAMILYWISE_CORRECTIONS or test != "randomization":
        return SAMPLES
    return min(MOST_SAMPLES, max(SAMPLES, int(np.ceil(2 * pairs / (1 - level)))))


def _method_notes(
    test: str,
    correction: str | None,
    level: float,
    pairs: int,
    scores: Scores,
    drawing: SamplingOptions | None,
) -> Iterator[Note]:
    """Notes on how the numbers were computed; `drawing` is None if nothing was drawn."""
    method = find_test(test)
    drawn = ", all signs tried" if method.drawn else ""
    if drawing is not None:
        drawn = f", {drawing.samples:,} samples, seed {drawing.seed}"
    yield Note(f"{method.summary}, two-sided{drawn}", column="p")
    if _shows_corrected(None if method.family else correction, pairs):
        if method.family:
            text = (
                f"equal to p, which already accounts for all pairs of the {len(scores.runs)} runs"
            )
        elif correction is None:
            text = f"equal to p: not corrected for {count_phrase(pairs, 'comparison')}"
        else:
            text = _describe_correction(correction, pairs, len(scores.measures))
        yield Note(text, column="p_corrected")
    stern = not method.family and correction in FAMILYWISE_CORRECTIONS
    if stern and drawing is not None and pairs / (drawing.samples + 1) > 1 - level:
        yield Note(
            f"too few samples: with the correction for {pairs:,} comparisons, no difference "
            f"can be significant; use at least {int(np.ceil(pairs / (1 - level))):,} "
            "samples, or the test tukey-randomized"
        )
    each = "the" if pairs == 1 else "each"
    text = f"{100 * level:.10g}% interval of {each} difference ({method.interval})"
    if pairs > 1 and not method.family:
        text += ", not corrected for multiple comparisons"
    yield Note(text, column=INTERVAL)
    yield Note(method.effect, column=EFFECT)
    if scores.policies.standardized is not None:
        yield Note(f"scores standardized by query: {scores.policies.standardized}")


def _shows_corrected(correction: str | None, pairs: int) -> bool:
    """Whether corrected p-values say more than p; built-in corrections leave a single p as it is."""
    return pairs > 1 or (correction is not None and correction not in CORRECTION_NAMES)


def _describe_correction(correction: str, pairs: int, measures: int) -> str:
    """How the p-values of these pairs are corrected."""
    name = CORRECTION_NAMES.get(correction, f"the correction {correction}")
    separately = ", separately for each measure" if measures > 1 else ""
    return f"{name} over {count_phrase(pairs, 'comparison')}{separately}"
