"""The results of `assess`: for each measure, for each pair of measures, and as tables."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from rankgauge.comparison.consistency import LEAST_DECISIONS, Splits, absolute_difference
from rankgauge.comparison.correlation import Concordance, concordance_of
from rankgauge.comparison.significance import find_test
from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.rounding import at_most
from rankgauge.core.tables import Cell, ColumnNote, Row, Table
from rankgauge.errors import RankgaugeError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankgauge.figures.assessment import SwapCurve

ALL = "all"
"""The name of the set of all queries."""
AssessmentFigure: TypeAlias = Literal["asl", "swaps", "tau", "tau_b", "rbo"]
"""The figures of an assessment. The last three show how similarly the measures rank the runs."""
_SIMILARITY_NAMES = {"tau": "Kendall's τ", "tau_b": "Kendall's τ-b", "rbo": "Rank-biased overlap"}


class Conflicts(NamedTuple):
    """How well two measures agree on which differences between runs are significant.

    Each field counts tests. both: both measures find the same run significantly better. opposite: the
    two measures find different runs significantly better. first: only the first measure finds a
    significant difference. second: only the second measure finds one. neither: no measure finds one.
    """

    both: int
    opposite: int
    first: int
    second: int
    neither: int

    @property
    def conflicts(self) -> int:
        """The tests in which only one of the two measures finds a significant difference."""
        return self.first + self.second


def conflicts_of(first: Ints, second: Ints) -> Conflicts:
    """Count the tests in which two measures agree, and those in which they conflict.

    For each test, a measure has 1 if it finds the first run significantly better, −1 if it finds
    the second run significantly better, and 0 if it finds neither.

    Parameters
    ----------
    first, second : array of int
        The finding of each measure, with an entry for each test.

    Returns
    -------
    Conflicts
        The number of tests of each kind. Its property `conflicts` is the number of tests in which
        only one measure finds a significant difference.

    Examples
    --------
    >>> conflicts_of(np.array([1, 1, 0, -1]), np.array([1, 0, 1, 1]))
    Conflicts(both=1, opposite=1, first=1, second=1, neither=0)
    """
    counts = (
        (first != 0) & (first == second),
        (first != 0) & (first == -second),
        (first != 0) & (second == 0),
        (first == 0) & (second != 0),
        (first == 0) & (second == 0),
    )
    return Conflicts(*(int(np.count_nonzero(which)) for which in counts))


class MeasureAssessment(Record):
    """The assessment of one measure on one set of queries.

    The measure may also be one measure at several cutoffs, pooled. A test compares a pair of runs at one
    cutoff.

    Attributes
    ----------
    name : str
        The name of the measure.
    queries : int
        The number of queries.
    means : array of float
        The mean score of each run.
    lower : bool
        Whether lower means are better.
    p : array of float
        The p-value of each test.
    better : array of int
        For each test, 1 if the first run is better, −1 if the second run is better, and 0 if neither is.
    alpha : float
        The significance level: differences with a p-value of at most this are significant.
    splits : Splits or None
        How well two halves of the queries agree, over many splits. None if the queries were not split.

    Examples
    --------
    >>> from rankgauge import Scores, assess
    >>> values = [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6], [0.1, 0.3, 0.2, 0.5]]
    >>> scores = Scores.from_matrix(values, runs=["a", "b", "c"], measure="AP")
    >>> assessment = assess(scores).parts["all"]["AP"]
    >>> assessment.better.tolist(), assessment.power
    ([1, 1, 1], 1.0)
    """

    _renamed: ClassVar[dict[str, str]] = {"topics": "queries"}

    name: str
    queries: int
    means: Floats
    lower: bool
    p: Floats
    better: Ints
    alpha: float
    splits: Splits | None

    @property
    def merits(self) -> Floats:
        """The means, negated if lower is better."""
        return -self.means if self.lower else self.means

    @property
    def significant(self) -> Ints:
        """For each test 1 if the first run is significantly better, −1 if the second run is, else 0."""
        return np.where(at_most(self.p, self.alpha), self.better, 0)

    @property
    def power(self) -> float:
        """Discriminative power: the share of the tests that find a significant difference."""
        return float(np.count_nonzero(self.significant) / len(self.p))

    @property
    def asl(self) -> Floats:
        """The achieved significance levels in descending order, as plotted in ASL curves."""
        return np.sort(self.p)[::-1]

    @property
    def pad(self) -> float:
        """The percentage absolute difference as the UE paper prints it; see `absolute_difference`."""
        return absolute_difference(self.means)

    @property
    def safe_pad(self) -> float:
        """As `pad`, but divided by the greater magnitude, so that it stays between 0 and 200."""
        return absolute_difference(self.means, safe=True)


class Assessment(Result, Record):
    """The result of `assess`: each measure on each set of queries or collection.

    `table()` has a row for each set and measure, `pair_table()` for each pair of measures, and
    `swap_table()` for each pair of sets. `figure()` draws them.

    Attributes
    ----------
    runs : tuple of str
        The names of the runs.
    parts : dict of str to dict of str to MeasureAssessment
        The assessments by set and measure: `{set: {measure: MeasureAssessment}}`. The set "all" has all
        queries. Other collections count as sets, too.
    queries : dict of str to tuple of str
        The ids of the queries of each set.
    options : dict of str to object
        The arguments of `assess`, by name.
    definitions : dict of str to tuple of str
        What the columns of each table mean. The keys are "measures", "pairs" and "swaps".
    notes : tuple of Note
        Remarks on the numbers, such as on excluded queries.
    same_zero : bool, default True
        Whether 0 means the same for all measures, by their ranges and directions. Otherwise PAD does
        not compare them.

    Examples
    --------
    >>> from rankgauge import Scores, assess
    >>> values = [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6], [0.1, 0.3, 0.2, 0.5]]
    >>> scores = Scores.from_matrix(values, runs=["a", "b", "c"], measure="AP")
    >>> assessment = assess(scores)
    >>> assessment.measures, assessment.parts["all"]["AP"].power
    (('AP',), 1.0)
    """

    runs: tuple[str, ...]
    parts: Mapping[str, Mapping[str, MeasureAssessment]]
    queries: Mapping[str, tuple[str, ...]]
    options: Mapping[str, Any]
    definitions: Mapping[str, tuple[str, ...]]
    notes: tuple[Note, ...]
    same_zero: bool = True

    @property
    def test(self) -> str:
        """The name of the significance test."""
        return str(self.options["test"])

    @property
    def level(self) -> float:
        """A difference is significant if its p-value is at most 1 − level."""
        return float(self.options["level"])

    @property
    def persistence(self) -> float:
        """The parameter p of rank-biased overlap, which compares two rankings of the runs."""
        return float(self.options["persistence"])

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of the measures that were assessed."""
        return tuple(next(iter(self.parts.values())))

    @cached_property
    def agreement(self) -> dict[str, dict[tuple[str, str], tuple[Concordance, Conflicts]]]:
        """For each set and pair of measures, how similarly they rank the runs, and their conflicts."""
        return {
            part: {
                (a.name, b.name): (
                    concordance_of(a.merits, b.merits, self.persistence),
                    conflicts_of(a.significant, b.significant),
                )
                for a, b in itertools.combinations(measures.values(), 2)
            }
            for part, measures in self.parts.items()
        }

    @cached_property
    def swaps(self) -> dict[tuple[str, str], dict[str, Concordance]]:
        """For each pair of sets or collections and each measure, how similarly the two rank the runs.

        The `swap_rate` is the share of the pairs of runs that the two put in opposite orders.
        """
        return {
            (one, other): {
                name: concordance_of(
                    self.parts[one][name].merits, self.parts[other][name].merits, self.persistence
                )
                for name in self.measures
            }
            for one, other in itertools.combinations(self.parts, 2)
        }

    def table(self) -> Table:
        """A row for each set and measure, with how well the measure discriminates between runs.

        It has the share of pairs with a significant difference, and how well two halves of the queries
        agree. What is printed has the columns that decide; `.columns`, `.rows` and `to_polars()` have
        all.
        """
        rows: list[tuple[Cell, ...]] = []
        for part, each in self._iterate_measures():
            tests = int(np.count_nonzero(each.significant)), len(each.p)
            shares = each.power, each.pad, each.safe_pad
            rows.append(
                (part, each.name, each.queries, *tests, *shares, *_split_cells(each.splits))
            )
        return self._table("measures", COLUMNS, rows)

    def _table(self, name: str, columns: tuple[str, ...], rows: Sequence[Row]) -> Table:
        """One of the tables, with the notes on its columns. People get the columns that decide."""
        about = [ColumnNote(str(note), [note.column]) for note in self.notes if note.column]
        notes = (
            *self.definitions[name],
            *about,
            *note_texts(n for n in self.notes if not n.column),
        )
        idle = self.idle_columns(name) | ({"topics"} if len(self.parts) == 1 else set())
        shown = tuple(column for column in SHORT_COLUMNS[name] if column not in idle)
        return Table(columns, tuple(rows), notes, shown)

    def idle_columns(self, table: str) -> set[str]:
        """The columns of a table that say nothing here: of sets if there is one, of halves if none."""
        idle = {"set"} if len(self.parts) == 1 else set()
        if table == "measures" and not any(each.splits for _, each in self._iterate_measures()):
            idle.update(HALF_COLUMNS)
        return idle

    @cached_property
    def misleading_columns(self) -> dict[str, str]:
        """The columns that should not be read here, each with the reason."""
        if not self.same_zero and len(self.measures) > 1:
            return dict.fromkeys(("pad", "safe_pad"), "0 has different meanings for these measures")
        if any((each.means <= 0).any() for _, each in self._iterate_measures()):
            return {"pad": "a mean is 0 or below"}
        return {}

    def _iterate_measures(self) -> Iterator[tuple[str, MeasureAssessment]]:
        """Each measure on each set, with the name of the set."""
        return ((part, each) for part, names in self.parts.items() for each in names.values())

    def pair_table(self) -> Table:
        """A row for each set of queries and pair of measures, with how well the two agree.

        The row says how similarly the two measures rank the runs, and counts their conflicts.
        """
        rows: list[tuple[Cell, ...]] = []
        for part, pairs in self.agreement.items():
            for (first, second), (alike, conflicts) in pairs.items():
                correlations = (alike.tau, alike.tau_b, alike.tau_ap, alike.rbo.ext)
                rows.append((part, first, second, *correlations, *conflicts, conflicts.conflicts))
        return self._table("pairs", PAIR_COLUMNS, rows)

    def swap_table(self) -> Table:
        """A row for each pair of sets or collections and each measure, with the swap rate.

        The row has the share of pairs of runs that the two sets put in opposite orders.
        """
        rows: list[tuple[Cell, ...]] = []
        for (one, other), measures in self.swaps.items():
            for name, alike in measures.items():
                pairs = alike.concordant + alike.discordant + alike.tied
                counts = (alike.discordant, alike.tied, pairs)
                rows.append((one, other, name, *counts, alike.swap_rate, alike.tau))
        return self._table("swaps", SWAP_COLUMNS, rows)

    def figure(
        self,
        kind: AssessmentFigure = "asl",
        measures: Sequence[str] | None = None,
        part: str = ALL,
    ) -> Figure:
        """One of the figures of an assessment.

        kind="asl" draws the p-values of all tests, with a line for each measure. kind="swaps" draws how
        often two halves of the queries disagree which of two runs is better, against the size of their
        difference; only sizes with at least 100 decisions are drawn. kind="tau", "tau_b" and "rbo" draw
        how similarly the measures rank the runs, as a square of colors. `measures` are the measures to
        draw, by default all. `part` is the set of queries.

        >>> from rankgauge import Scores
        >>> from rankgauge.comparison.assessment import assess
        >>> values = [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6], [0.1, 0.3, 0.2, 0.5]]
        >>> scores = Scores.from_matrix(values, runs=["a", "b", "c"], measure="AP")
        >>> figure = assess(scores).figure("asl")
        >>> [text.get_text() for text in figure.legends[0].get_texts()]
        ['AP 100.0%']
        """
        from rankgauge.figures.assessment import AslCurve, asl_curves, swap_curves, tau_map

        check_value("kind", kind, one_of(AssessmentFigure))
        chosen = self._select_measures(measures, part)
        about = self._description(chosen, part)
        if kind == "asl":
            levels = {name: AslCurve(each.p, each.power) for name, each in chosen.items()}
            return asl_curves(levels, alpha=1 - self.level, about=f"{about}, {self.test}")
        if kind == "swaps":
            return swap_curves({n: _swap_curve(e.splits) for n, e in chosen.items()}, about=about)
        square = self._similarity_matrix(kind, tuple(chosen), part)
        return tau_map(square, tuple(chosen), about=about, label=_SIMILARITY_NAMES[kind])

    def _select_measures(
        self, measures: Sequence[str] | None, part: str
    ) -> dict[str, MeasureAssessment]:
        """The measures of these names on a set of queries."""
        if part not in self.parts:
            raise RankgaugeError(
                f"there is no set of queries {part!r}, expected one of {', '.join(self.parts)}"
            )
        there = self.parts[part]
        names = list(there) if measures is None else list(measures)
        for name in names:
            if name not in there:
                raise RankgaugeError(f"{name} was not assessed, expected one of {', '.join(there)}")
        if not names:
            raise RankgaugeError("no measures, expected at least one")
        return {name: there[name] for name in names}

    def _description(self, chosen: Mapping[str, MeasureAssessment], part: str) -> str:
        """What the measures were assessed on."""
        runs = count_phrase(len(self.runs), "run")
        counts = {each.queries for each in chosen.values()}
        least, most = min(counts), max(counts)
        topics = count_phrase(least, "query") if least == most else f"{least}–{most} queries"
        return f"{runs}, {topics}" if part == ALL else f"{part}: {runs}, {topics}"

    def _similarity_matrix(self, kind: str, measures: Sequence[str], part: str) -> Floats:
        """Measure × measure: how similarly two measures rank the runs, 1 on the diagonal."""
        place = {name: number for number, name in enumerate(measures)}
        square = np.eye(len(place))
        for (first, second), (alike, _) in self.agreement[part].items():
            if first in place and second in place:
                value = alike.rbo.ext if kind == "rbo" else getattr(alike, kind)
                square[place[first], place[second]] = square[place[second], place[first]] = value
        return square

    def to_dict(self) -> dict[str, Any]:
        """All results, as lists and dicts that JSON can hold."""
        return {
            "options": dict(self.options),
            "runs": list(self.runs),
            "pairs_of_runs": np.stack(np.triu_indices(len(self.runs), 1), axis=1).tolist(),
            "topics": {part: list(queries) for part, queries in self.queries.items()},
            "definitions": {name: list(texts) for name, texts in self.definitions.items()},
            "notes": list(note_texts(self.notes)),
            "measures": _records(self.table()),
            "pairs": _records(self.pair_table()),
            "swaps": _records(self.swap_table()),
            "details": [
                {
                    "set": part,
                    "measure": each.name,
                    "lower_is_better": each.lower,
                    "means": each.means.tolist(),
                    "p": each.p.tolist(),
                    "better": each.better.tolist(),
                    **({} if each.splits is None else each.splits.to_dict()),
                }
                for part, each in self._iterate_measures()
            ],
        }

    def _title(self) -> str:
        return (
            f"Assessment: {count_phrase(len(self.measures), 'measure')}, "
            f"{count_phrase(len(self.runs), 'run')}, {count_phrase(len(self.parts), 'set')} of queries"
        )


HALF_COLUMNS = (
    "decisions", "swap_rate", "tie_rate", "trusted", "trusted_share",
    "half_tau", "half_low", "half_high",
)  # fmt: skip
COLUMNS = (
    "set", "measure", "topics", "significant", "tests", "power", "pad", "safe_pad", *HALF_COLUMNS,
)  # fmt: skip
CONFLICT_COLUMNS = ("both", "opposite", "only_first", "only_second", "neither", "conflicts")
PAIR_COLUMNS = ("set", "first", "second", "tau", "tau_b", "tau_ap", "rbo", *CONFLICT_COLUMNS)
SWAP_COLUMNS = ("set", "other", "measure", "discordant", "tied", "pairs", "swap_rate", "tau")
SHORT_COLUMNS = {
    "measures": (
        *("set", "measure", "topics", "power", "significant", "tests"),
        *("swap_rate", "half_tau"),
    ),
    "pairs": ("set", "first", "second", "tau", "conflicts", "opposite"),
    "swaps": ("set", "other", "measure", "swap_rate", "tau"),
}
"""The decisive columns of each table."""


def _split_cells(splits: Splits | None) -> tuple[float | None, ...]:
    if splits is None:
        return (None,) * 8
    low, high = np.quantile(splits.tau, (0.025, 0.975))
    halves = (float(splits.tau.mean()), float(low), float(high))
    rates = (splits.swap_rate, splits.tie_rate, *splits.trust_threshold())
    return int(splits.decided.sum()), *rates, *halves


def _swap_curve(splits: Splits | None) -> SwapCurve:
    """The swap rate for each size of difference that has enough decisions."""
    from rankgauge.figures.assessment import SwapCurve

    if splits is None:
        raise RankgaugeError(
            "the queries were not split, so there are no swap rates; call assess with "
            "splits=1 or more"
        )
    counts = splits.decided >= LEAST_DECISIONS
    sizes = (np.arange(len(counts)) + 0.5) / len(counts)
    return SwapCurve(sizes[counts], splits.swap_rates[counts], splits.trust_threshold()[1])


def _records(table: Table) -> list[dict[str, Cell]]:
    """The rows as JSON can hold them: None for what is undefined, and text for what is infinite."""
    return [dict(zip(table.columns, map(_json_value, row), strict=True)) for row in table.rows]


def _json_value(cell: Cell) -> Cell:
    if not isinstance(cell, float) or math.isfinite(cell):
        return cell
    return None if math.isnan(cell) else str(cell)


def definitions_of(options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each table, what its columns mean."""
    method, correction, seed = find_test(options["test"]), options["correction"], options["seed"]
    drawn = f", {options['samples']:,} samples, seed {seed}" if method.drawn else ""
    corrected = "not corrected" if correction is None else f"corrected with {correction}"
    if method.family:
        corrected = "already for all pairs of runs together, so not corrected further"
    significant = f"p ≤ {1 - options['level']:.4g}; {method.summary}, {corrected}{drawn}"
    fuzzy = options["fuzziness"]
    ties = f" (differences of at most {fuzzy:g} of the larger mean count as ties)" if fuzzy else ""
    halves = (
        ColumnNote(
            f"the queries are split into random halves {options['splits']:,} times, seed "
            f"{seed}; a case is a pair of runs and a split",
            HALF_COLUMNS,
        ),
        _define("decisions", f"the number of cases without a tie in either half{ties}"),
        _define(
            "swap_rate",
            "the share of cases without a tie in which the two halves disagree on which run is better",
        ),
        _define("tie_rate", "the share of all cases with a tie in at least one half"),
        _define(
            "trusted",
            (
                "at this difference or a larger one, the two halves disagree in at most 5% "
                "of decisions"
            ),
        ),
        _define("trusted_share", "the share of decisions with at least this difference"),
        _define(
            "half_tau",
            (
                "Kendall's τ between the rankings of the runs by the two halves, averaged "
                "over splits"
            ),
        ),
        _define("half_low, half_high", "95% of the splits have a τ in this range"),
    )
    return {
        "measures": (
            _define("power", "the share of tests with a significant difference"),
            _define("significant", significant),
            _define("pad", "the mean of |a − b| / max(a, b) over pairs of runs, in percent"),
            _define("safe_pad", "like pad, with max(|a|, |b|)"),
            _define(
                "pad, safe_pad",
                "these change when a constant is added to all scores; do not use them to "
                "compare measures whose zero points differ, such as AP and v2(AP)",
            ),
            *(halves if options["splits"] else ()),
        ),
        "pairs": (
            _define("tau", "how similarly the two measures rank the runs, by Kendall's τ"),
            _define(
                "tau_b, tau_ap, rbo",
                "the same by τ-b, by τ_AP (with the second measure as the reference) and by "
                "rank-biased overlap",
            ),
            _define("both", "tests in which both measures find the same run significantly better"),
            _define(
                "opposite",
                "tests in which the two measures find different runs significantly better",
            ),
            _define(
                "conflicts",
                "tests in which only one of the two measures finds a significant "
                "difference, not counting opposite tests",
            ),
            _define(
                "only_first, only_second",
                (
                    "conflicts in which only the first, or only the second, measure finds a "
                    "difference"
                ),
            ),
            ColumnNote(f"significant: {significant}", CONFLICT_COLUMNS),
        ),
        "swaps": (
            _define("discordant", "pairs of runs that the two sets put in opposite orders"),
            _define("tied", "pairs of runs that are tied in at least one of the two sets"),
            _define("swap_rate", "the share of all pairs that the two sets put in opposite orders"),
        ),
    }


def _define(columns: str, text: str) -> ColumnNote:
    """What columns mean, their names before it."""
    return ColumnNote(f"{columns}: {text}", columns.split(", "))
