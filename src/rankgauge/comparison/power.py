"""How many queries a test needs to detect a difference, and how small a difference it can detect.

Both use the standard deviation of the differences between systems on the present queries. The power of a
test is the probability that it detects a difference of a given size.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from rankgauge.comparison.design import add_query_count, pairs_of, shared_queries
from rankgauge.comparison.significance import Pairs, critical_range
from rankgauge.comparison.studentized_range import LogEstimate
from rankgauge.core.checks import Integer, Number, check_value, one_of
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import LEVEL, LEVELS, MISSING, POWER, SAMPLES, SEED, Missing, Progress
from rankgauge.core.records import Record, Value
from rankgauge.core.renamed import renamed_parameters
from rankgauge.core.resampling import SamplingOptions, draw_mean_ranges
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.errors import RankgaugeError
from rankgauge.scores.model import Scores

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor


PowerTest: TypeAlias = Literal["paired-t", "tukey-randomized"]
MOST_QUERIES = 10**9


class PairedT(Value):
    """The paired t test at a level."""

    level: float = LEVEL

    def power(self, difference: float, sd: float, queries: int) -> float:
        """The probability that the test detects this difference of the means on this number of queries.

        `sd` is the standard deviation of the differences on queries. The power is a tail of the
        noncentral t distribution; it is exact if the differences are normal.

        >>> round(PairedT().power(0.05, 0.1, queries=34), 2)
        0.81
        """
        from scipy.special import ndtr, stdtrit

        if sd == 0:
            return float(difference != 0)
        shift = abs(difference) / sd * np.sqrt(queries)
        critical = stdtrit(queries - 1, 0.5 + self.level / 2)
        return LogEstimate(queries - 1).expectation(
            lambda estimate: ndtr(shift - critical * estimate) + ndtr(-shift - critical * estimate)
        )

    def smallest(self, sd: float, queries: int, power: float) -> float:
        """The smallest difference that is detected with this power."""
        return sd * _smallest_effect(self, queries, power)


@lru_cache
def _smallest_effect(test: PairedT, queries: int, power: float) -> float:
    """The smallest difference in standard deviations."""
    high = 1.0
    while test.power(high, 1.0, queries) < power:
        high *= 2
    return _root(lambda effect: test.power(effect, 1.0, queries) - power, 0.0, high)


class TukeyRandomized(Value):
    """The randomized Tukey test for one pair among all pairs of some systems.

    On `known` queries a difference is significant if it is at least `critical`. On n queries it must be
    at least critical · √(known / n), since a range of means shrinks with √n. The observed difference of
    a pair is taken as normally distributed around the true difference.
    """

    critical: float
    known: int

    def power(self, difference: float, sd: float, queries: int) -> float:
        """The probability that the test detects this difference between the means on these queries."""
        from scipy.special import ndtr

        bound, error = self._bound(queries), sd / np.sqrt(queries)
        if error == 0:
            return float(abs(difference) >= bound)
        apart = abs(difference)
        return float(ndtr((apart - bound) / error) + ndtr((-apart - bound) / error))

    def smallest(self, sd: float, queries: int, power: float) -> float:
        """The smallest difference that is detected with this power."""
        bound = self._bound(queries)
        if sd == 0 or self.power(0.0, sd, queries) >= power:
            return bound if sd == 0 else 0.0
        high = bound + 40 * sd / np.sqrt(queries)
        return _root(lambda difference: self.power(difference, sd, queries) - power, 0.0, high)

    def _bound(self, queries: int) -> float:
        return self.critical * float(np.sqrt(self.known / queries))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    from scipy.optimize import brentq

    return float(brentq(function, low, high, xtol=1e-14))


Power: TypeAlias = PairedT | TukeyRandomized


def queries_needed(
    difference: float,
    sd: float,
    power: float = POWER,
    *,
    level: float = LEVEL,
    test: Power | None = None,
) -> float:
    """Compute how many queries a test needs to detect a difference between the means with this power.

    Parameters
    ----------
    difference : float
        The difference between the means.
    sd : float
        The standard deviation of the differences on queries.
    power : float, default 0.8
        The probability that the test detects the difference, above 1 − level and below 1.
    level : float, default 0.95
        A difference is significant if its p-value is at most 1 − level.
    test : PairedT or TukeyRandomized, optional
        The significance test. By default, the paired t-test at `level`.

    Returns
    -------
    int or float
        The number of queries, at least 2. Infinite if the difference is 0, or if more than about 500
        million queries are needed.

    Raises
    ------
    RankgaugeError
        If `power`, `level` or `sd` is out of range.

    Examples
    --------
    >>> queries_needed(0.02, sd=0.1)
    199
    """
    _check(power, level)
    check_value("sd", sd, Number(0))
    check_value("difference", difference, Number(-math.inf))
    if difference == 0:
        return float("inf")
    method = test or PairedT(level)
    return _fewest_queries(lambda topics: method.power(difference, sd, topics) >= power)


@renamed_parameters(topics="queries")
def detectable_difference(
    sd: float,
    queries: int,
    power: float = POWER,
    *,
    level: float = LEVEL,
    test: Power | None = None,
) -> float:
    """Compute the smallest difference between the means that a test detects with this power.

    Parameters
    ----------
    sd : float
        The standard deviation of the differences on queries.
    queries : int
        The number of queries, at least 2.
    power : float, default 0.8
        The probability that the test detects the difference, above 1 − level and below 1.
    level : float, default 0.95
        A difference is significant if its p-value is at most 1 − level.
    test : PairedT or TukeyRandomized, optional
        The significance test. By default, the paired t-test at `level`.

    Returns
    -------
    float
        The difference, in the unit of `sd`.

    Raises
    ------
    RankgaugeError
        If `power`, `level`, `sd` or `queries` is out of range.

    Examples
    --------
    >>> round(detectable_difference(sd=0.1, queries=50), 4)
    0.0404
    """
    _check(power, level)
    check_value("queries", queries, Integer(2))
    check_value("sd", sd, Number(0))
    return (test or PairedT(level)).smallest(sd, queries, power)


class Detectable(Result, Record):
    """The result of `detectable`: the detectable difference of each pair of runs by each measure.

    `table()` has a row for each measure and pair of runs.

    Attributes
    ----------
    rows : tuple of tuple
        The rows of the table.
    notes : tuple of Note
        Remarks on the numbers, such as on the test and its power.

    Examples
    --------
    >>> values = [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6]]
    >>> scores = Scores.from_matrix(values, runs=["new", "old"], measure="AP")
    >>> detectable(scores).rows[0][:3]
    ('AP', 'new', 'old')
    """

    rows: tuple[tuple[Any, ...], ...]
    notes: tuple[Note, ...]

    def table(self) -> Table:
        """A row for each measure and pair of runs a and b.

        difference: the observed difference between the means. sd: the standard deviation of the
        differences. queries: the number of queries. detectable: the smallest difference that the test
        detects on them. needed: how many queries the test needs; None if no number of queries is enough.
        """
        return Table(COLUMNS, self.rows, note_texts(self.notes))

    def _title(self) -> str:
        return f"Detectable: {count_phrase(len(self.rows), 'pair')} of runs"


COLUMNS = ("measure", "a", "b", "difference", "sd", "topics", "detectable", "needed")


def detectable(
    scores: Scores,
    *,
    baseline: str | Sequence[str] | None = None,
    difference: float | None = None,
    test: PowerTest = "paired-t",
    power: float = POWER,
    level: float = LEVEL,
    missing: Missing | None = None,
    samples: int = SAMPLES,
    seed: int = SEED,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Detectable:
    """Compute the smallest difference that a test detects on these queries, for each pair of runs.

    Also compute how many queries the test needs to detect a given difference. Both use the standard
    deviation of the observed differences between two runs.

    Parameters
    ----------
    scores : Scores
        The scores of at least two runs.
    baseline : str or sequence of str, optional
        A run, or several, to compare each other run with. By default, all pairs of runs are compared.
    difference : float, optional
        The difference that the test should detect. By default, the observed difference of each pair.
    test : {"paired-t", "tukey-randomized"}, default "paired-t"
        The significance test. "paired-t" is for a single comparison, "tukey-randomized" for all pairs of
        the runs together.
    power : float, default 0.8
        The probability that the test detects the difference, above 1 − level and below 1.
    level : float, default 0.95
        A difference is significant if its p-value is at most 1 − level.
    missing : {"zero", "skip"}, optional
        How to treat queries that some run lacks, as in `compare`. By default, the setting used in
        `evaluate`.
    samples : int, default 10000
        Number of samples, for "tukey-randomized".
    seed : int, default 0
        Seed of the random number generator.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the name of each step, for tests that draw samples.

    Returns
    -------
    Detectable
        A table with a row for each measure and pair of runs.

    Raises
    ------
    RankgaugeError
        If there is only one run, or if a measure has scores for fewer than two queries. Also if a
        baseline is unknown, or if an option has an invalid value.

    Examples
    --------
    >>> values = [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6], [0.4, 0.6, 0.7, 0.6]]
    >>> scores = Scores.from_matrix(values, runs=["new", "old", "other"], measure="AP")
    >>> detectable(scores, baseline="old").to_polars()["needed"].to_list()
    [4, 15]
    """
    check_value("test", test, one_of(PowerTest))
    _check(power, level)
    missing = check_value("missing", missing, MISSING, optional=True)
    if difference is not None:
        check_value("difference", difference, Number(-math.inf))
    drawing = SamplingOptions.check(samples, seed, executor, progress)
    first, second, _ = pairs_of(scores.runs, baseline)
    rows: list[tuple[Any, ...]] = []
    measured: list[Note] = []
    notes = list(_method_notes(test, power, level, difference, len(scores.runs), drawing))
    for m, measure in enumerate(scores.measures):
        values, remarks = shared_queries(scores, m, missing)
        measured += add_query_count(measure, values, remarks)
        topics = values.shape[1]
        if topics < 2:
            raise RankgaugeError(
                f"{measure}: 1 query, expected at least two to estimate the variance"
            )
        pairs = Pairs(values, first, second, level)
        method: Power = PairedT(level)
        if test == "tukey-randomized":
            ranges = np.sort(draw_mean_ranges(values, drawing))
            method = TukeyRandomized(critical_range(ranges, level), topics)
        for i, j, apart, sd in zip(first, second, pairs.difference, pairs.spread, strict=True):
            target = float(apart) if difference is None else difference
            smallest = detectable_difference(float(sd), topics, power, test=method)
            needed = queries_needed(target, float(sd), power, test=method)
            names = str(measure), scores.runs[i], scores.runs[j]
            fewest = None if needed == float("inf") else needed
            rows.append((*names, float(apart), float(sd), topics, smallest, fewest))
    return Detectable(tuple(rows), (*notes, *measured))


def _method_notes(
    test: str,
    power: float,
    level: float,
    difference: float | None,
    runs: int,
    drawing: SamplingOptions,
) -> Iterator[Note]:
    whose = "the observed difference" if difference is None else f"a difference of {difference:g}"
    text = f"the smallest difference that the test detects with power {power:g} on these queries"
    yield Note(text, column="detectable")
    text = (
        f"the number of queries like these that the test needs to detect {whose} with power "
        f"{power:g}"
    )
    yield Note(text, column="needed")
    if test == "paired-t":
        yield Note(f"test: paired t, two-sided, level {level:g}, for a single comparison")
    else:
        drawn = f"{drawing.samples:,} samples, seed {drawing.seed}"
        runs_tested = f"all pairs of the {runs} runs"
        yield Note(f"test: randomized Tukey over {runs_tested}, level {level:g}, {drawn}")
    if difference is None:
        yield Note(
            "`needed` is too low for a pair that you picked because of its large "
            "difference: the true difference is usually smaller. Specify the difference "
            "that matters to you with --difference (in Python difference=)"
        )


def _fewest_queries(enough: Callable[[int], bool]) -> float:
    """The fewest queries, from two on, that are enough."""
    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_QUERIES:
            return float("inf")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return max(high, 2)


def _check(power: float, level: float) -> None:
    check_value("level", level, LEVELS)
    if not 1 - level < check_value("power", power, Number(-math.inf)) < 1:
        raise RankgaugeError(
            f"power={power!r}, expected a number between {1 - level:g} and 1, such as 0.8"
        )
