"""Significance tests of the differences between systems, for all pairs of systems at once.

Each test takes the scores of runs on queries, and pairs of runs. It gives an `Outcome`: for each pair
the p-value (two-sided), an interval for the difference of the means, and the effect size. `TESTS`
lists the tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankgauge.comparison.studentized_range import critical_value, upper_tail
from rankgauge.core.arrays import Floats, Ints, T
from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Record, Value
from rankgauge.core.registry import Registry
from rankgauge.core.resampling import (
    CELLS,
    SamplingOptions,
    draw_mean_ranges,
    sign_flip_p_values,
    studentized_bootstrap,
    tries_all_signs,
)
from rankgauge.core.rounding import ROUNDING, round_values
from rankgauge.errors import RankgaugeError
from rankgauge.measures.base import ratio
from rankgauge.native.differences import moments

BLOCK_DIFFERENCES = 100_000_000
"""Number of differences computed between checks for an interrupt."""


class Pairs(Record):
    """The scores of runs on queries (run × query, all defined), and the pairs of runs to test."""

    _renamed: ClassVar[dict[str, str]] = {"topics": "queries"}

    values: Floats
    first: Ints
    second: Ints
    level: float = 0.95
    drawing: SamplingOptions = field(default_factory=SamplingOptions)

    @property
    def queries(self) -> int:
        """The number of queries."""
        return int(self.values.shape[1])

    @cached_property
    def means(self) -> Floats:
        """The mean of each run."""
        return np.asarray(self.values.mean(axis=1))

    @cached_property
    def variances(self) -> Floats:
        """The variance of each run over queries; 0 if it is only rounding."""
        variances = np.asarray(self.values.var(axis=1, ddof=1))
        greatest = np.abs(self.values).max(axis=1, initial=0.0)
        variances[np.ptp(self.values, axis=1) <= ROUNDING * greatest] = 0.0
        return variances

    def each(self, function: Callable[[Floats], NDArray[T]], exactly: bool = False) -> NDArray[T]:
        """The results of a function of the differences, pair × query; it gets some pairs at a time.

        exactly=True removes rounding errors first. Then .3 − .2 and .2 − .1 are the same difference, and
        a difference of 1e-17 is 0.
        """
        results = []
        step = max(1, CELLS // self.queries)
        for start in range(0, len(self.first), step):
            some = slice(start, start + step)
            differences = self.values[self.first[some]] - self.values[self.second[some]]
            if exactly:
                differences = round_values(differences, self.greatest[some, None])
            results.append(function(differences))
        return np.concatenate(results)

    @cached_property
    def greatest(self) -> Floats:
        """For each pair, the greatest magnitude of a score of either run."""
        by_run = np.abs(self.values).max(axis=1, initial=0.0)
        return np.asarray(np.maximum(by_run[self.first], by_run[self.second]))

    @cached_property
    def signs(self) -> tuple[Ints, Ints, Ints]:
        """For each pair, on how many queries the first run scores higher, the same, and lower."""
        counts = self.each(
            lambda apart: np.stack(
                [np.count_nonzero(np.sign(apart) == sign, axis=1) for sign in (1, 0, -1)], axis=1
            ),
            exactly=True,
        )
        above, same, below = counts.T
        return above, same, below

    @cached_property
    def difference(self) -> Floats:
        """The difference of the means of each pair; 0 if it is only rounding."""
        differences = self._moments[0].copy()
        differences[np.abs(differences) <= ROUNDING * self.greatest] = 0.0
        return differences

    @cached_property
    def spread(self) -> Floats:
        """The standard deviation of the differences of each pair."""
        deviations = self._moments[1].copy()
        # Differences that are the same but for rounding deviate by less than this.
        few = np.flatnonzero(deviations <= 10 * ROUNDING * self.greatest)
        if self.queries > 1 and len(few):
            pairs = replace(self, first=self.first[few], second=self.second[few])
            same = pairs.each(lambda apart: np.ptp(apart, axis=1), exactly=True) == 0
            deviations[few[same]] = 0.0
        return deviations

    @cached_property
    def _moments(self) -> tuple[Floats, Floats]:
        """The mean and the standard deviation of the differences of each pair, as they are."""
        values = np.ascontiguousarray(self.values, dtype=np.float64)
        step = max(1, BLOCK_DIFFERENCES // self.queries)
        means, deviations = np.empty(len(self.first)), np.empty(len(self.first))
        for start in range(0, len(self.first), step):
            some = slice(start, start + step)
            sides = (np.ascontiguousarray(each[some]) for each in (self.first, self.second))
            means[some], deviations[some] = moments(values, *sides)
        return means, deviations


class Outcome(NamedTuple):
    """The result of a test for each pair."""

    p: Floats
    low: Floats
    high: Floats
    effect: Floats


class Test(Value):
    """A significance test: the function that computes it, and the texts that describe it."""

    _renamed: ClassVar[dict[str, str]] = {"least_topics": "least_queries"}

    __test__ = False  # not one of ours, for pytest

    run: Callable[[Pairs], Outcome]
    summary: str
    interval: str
    effect: str
    least_queries: int = 1
    family: bool = False
    """Whether its p-values already account for all pairs of runs."""
    drawn: bool = False
    """Whether its p-values depend on random samples."""
    whole: Callable[[int, SamplingOptions], bool] | None = None
    """Whether all possible samples are enumerated instead of drawn because there are few queries."""

    def draws(self, topics: int, drawing: SamplingOptions) -> bool:
        """Whether its p-values on this number of queries depend on random samples."""
        return self.drawn and not (self.whole and self.whole(topics, drawing))

    def __call__(self, pairs: Pairs) -> Outcome:
        """The outcome for each pair."""
        if pairs.queries < self.least_queries:
            few = count_phrase(pairs.queries, "query")
            raise RankgaugeError(
                f"{few}, expected at least {self.least_queries} for this test; a single "
                "query does not allow estimating the variance of the differences"
            )
        outcome = self.run(pairs)
        if not isinstance(outcome, Outcome):
            kind = type(outcome).__name__
            raise RankgaugeError(f"{self._name} gave {kind}, expected an Outcome")
        for part, values in zip(Outcome._fields, outcome, strict=True):
            if (shape := np.shape(values)) != pairs.first.shape:
                raise RankgaugeError(
                    f"{self._name}: {part} has shape {shape}, expected one number per pair"
                )
        return outcome

    @property
    def _name(self) -> str:
        return getattr(self.run, "__name__", repr(self.run))


def _paired_t(pairs: Pairs) -> Outcome:
    n = pairs.queries
    t = _divide(pairs.difference, pairs.spread / np.sqrt(n))
    return Outcome(_two_sided_p(t, n - 1), *_paired_interval(pairs), _paired_effect(pairs))


def _student(pairs: Pairs) -> Outcome:
    n = pairs.queries
    pooled = _pooled_variance(pairs)
    return _unpaired_t(pairs, np.sqrt(pooled * 2 / n), np.full(len(pooled), 2.0 * n - 2))


def _welch(pairs: Pairs) -> Outcome:
    n = pairs.queries
    a, b = pairs.variances[pairs.first], pairs.variances[pairs.second]
    df = ratio((a + b) ** 2, (a**2 + b**2) / (n - 1))
    return _unpaired_t(pairs, np.sqrt((a + b) / n), np.maximum(df, 1.0))


def _unpaired_t(pairs: Pairs, error: Floats, df: Floats) -> Outcome:
    from scipy.special import stdtrit

    half = stdtrit(df, 0.5 + pairs.level / 2) * error
    effect = _divide(pairs.difference, np.sqrt(_pooled_variance(pairs)))
    p = _two_sided_p(_divide(pairs.difference, error), df)
    return Outcome(p, pairs.difference - half, pairs.difference + half, effect)


def _wilcoxon(pairs: Pairs) -> Outcome:
    p = pairs.each(_signed_ranks, exactly=True)
    return Outcome(p, *_paired_interval(pairs), _paired_effect(pairs))


def _signed_ranks(rows: Floats) -> Floats:
    """Wilcoxon's p-value for each row, as scipy computes it row by row; zeros are left out.

    It is exact for at most 13 queries. It is exact for at most 50 queries if a row has neither ties nor
    zeros. Else it is by the normal distribution.
    """
    from scipy.stats import rankdata, wilcoxon

    p = np.ones(len(rows))
    topics = rows.shape[1]
    zeros = rows == 0
    different = ~zeros.all(axis=1)
    apart = (np.diff(np.sort(np.abs(rows), axis=1), axis=1) > 0).all(axis=1)
    exact = different & ~zeros.any(axis=1) & apart & (topics <= 50)
    tried = different & ~exact & (topics <= 13)
    normal = different & ~exact & ~tried
    if exact.any():
        p[exact] = wilcoxon(rows[exact], axis=1, method="exact").pvalue
    if normal.any():
        p[normal] = wilcoxon(rows[normal], axis=1, method="asymptotic").pvalue
    if tried.any():
        ranks = rankdata(np.abs(rows), axis=1) - zeros.sum(axis=1, keepdims=True)
        signed = np.where(zeros, 0.0, np.sign(rows) * ranks)[tried]
        nothing = np.zeros((1, topics))
        at = np.arange(len(signed))
        p[tried] = sign_flip_p_values(
            np.concatenate([signed, nothing]),
            at,
            np.full(len(at), len(at)),
            np.abs(signed.sum(axis=1)),
            SamplingOptions(samples=2**topics),
        )
    return p


def _sign(pairs: Pairs) -> Outcome:
    from scipy.special import bdtr

    above, _, below = pairs.signs
    p = np.minimum(1.0, 2 * bdtr(np.minimum(above, below).astype(float), above + below, 0.5))
    return Outcome(p, *_paired_interval(pairs), _paired_effect(pairs))


def _randomization(pairs: Pairs) -> Outcome:
    least = (np.abs(pairs.difference) - ROUNDING * pairs.greatest) * pairs.queries
    p = sign_flip_p_values(pairs.values, pairs.first, pairs.second, least, pairs.drawing)
    return Outcome(p, *_paired_interval(pairs), _paired_effect(pairs))


def _bootstrap(pairs: Pairs) -> Outcome:
    outside = (1 - pairs.level) / 2
    error = pairs.spread / np.sqrt(pairs.queries)
    t = _divide(pairs.difference, error)
    ends = (outside, 1 - outside)
    p, cuts = studentized_bootstrap(pairs.values, pairs.first, pairs.second, t, pairs.drawing, ends)
    cuts[error == 0] = 0.0
    low, high = pairs.difference - cuts[:, 1] * error, pairs.difference - cuts[:, 0] * error
    return Outcome(p, low, high, _paired_effect(pairs))


def _tukey(pairs: Pairs) -> Outcome:
    runs, n = pairs.values.shape
    df = (runs - 1) * (n - 1)
    error = np.sqrt(_residual_variance(pairs.values) / n)
    p = np.where(pairs.difference == 0, 1.0, 0.0)
    half = 0.0
    if error:
        p = upper_tail(np.abs(pairs.difference) / error, runs, df)
        half = critical_value(1 - pairs.level, runs, df) * error
    return Outcome(p, *_interval_around(pairs, half), _residual_effect(pairs))


def _tukey_randomized(pairs: Pairs) -> Outcome:
    samples = pairs.drawing.samples
    ranges = np.sort(draw_mean_ranges(pairs.values, pairs.drawing))
    least = np.abs(pairs.difference) - ROUNDING * pairs.greatest
    p = (samples - np.searchsorted(ranges, least) + 1) / (samples + 1)
    half = critical_range(ranges, pairs.level)
    return Outcome(p, *_interval_around(pairs, half), _residual_effect(pairs))


def critical_range(ranges: Floats, level: float) -> float:
    """The difference beyond which a pair is significant. `ranges` has the ranges of the samples, sorted.

    The p-value of a difference is (k + 1) / (samples + 1), if k ranges are at least as large.
    """
    beyond = int(np.floor((1 - level) * (len(ranges) + 1) * (1 + ROUNDING))) - 1
    if beyond < 0:
        least = int(np.ceil(1 / (1 - level))) - 1
        raise RankgaugeError(
            f"{len(ranges)} samples, expected at least {least} for a level of {level:.10g}"
        )
    return float(ranges[len(ranges) - 1 - beyond])


def _interval_around(pairs: Pairs, half: float) -> tuple[Floats, Floats]:
    """The differences minus and plus `half`; an end is 0 if only rounding makes it differ from 0."""
    low, high = pairs.difference - half, pairs.difference + half
    for end in (low, high):
        end[np.abs(end) <= ROUNDING * pairs.greatest] = 0.0
    return low, high


def _residual_variance(values: Floats) -> float:
    """The variance that neither run nor query explains; 0 if it is only rounding.

    This is the mean square error of a two-way analysis of variance.
    """
    runs, topics = values.shape
    residuals = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    greatest = np.abs(values).max(initial=0.0)
    if np.abs(residuals).max(initial=0.0) <= ROUNDING * greatest:
        return 0.0
    return float((residuals**2).sum() / ((runs - 1) * (topics - 1)))


def _residual_effect(pairs: Pairs) -> Floats:
    if pairs.queries < 2:
        return np.full(len(pairs.first), np.nan)
    error = np.sqrt(_residual_variance(pairs.values))
    return _divide(pairs.difference, np.full(len(pairs.first), error))


def _pooled_variance(pairs: Pairs) -> Floats:
    """The mean of the two variances of each pair."""
    return (pairs.variances[pairs.first] + pairs.variances[pairs.second]) / 2


def _paired_effect(pairs: Pairs) -> Floats:
    return _divide(pairs.difference, pairs.spread)


def _paired_interval(pairs: Pairs) -> tuple[Floats, Floats]:
    from scipy.special import stdtrit

    if pairs.queries < 2:
        unknown = np.full(len(pairs.first), np.nan)
        return unknown, unknown
    half = stdtrit(pairs.queries - 1, 0.5 + pairs.level / 2) * pairs.spread / np.sqrt(pairs.queries)
    return pairs.difference - half, pairs.difference + half


def _divide(difference: Floats, error: Floats) -> Floats:
    """Difference / error; 0 if the difference is 0, and infinite if only the error is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = difference / error
    quotient[difference == 0] = 0.0
    return quotient


def _two_sided_p(t: Floats, df: Floats | int) -> Floats:
    from scipy.special import stdtr

    return np.asarray(2 * stdtr(df, -np.abs(t)))


_T_INTERVAL = "paired t"
_PAIRED = "mean difference / standard deviation of the differences"
_UNPAIRED = "difference of the means / pooled standard deviation"
_TWO_WAY = "difference of the means / residual standard deviation of runs × queries"


def _run_of(test: Test) -> Callable[[Pairs], Outcome]:
    if not isinstance(test, Test):
        name = getattr(test, "__name__", repr(test))
        raise RankgaugeError(
            f"{name} is not a significance test, expected a Test, as in Test({name}, ...)"
        )
    return test.run


TESTS: Registry[Test] = Registry("significance test", {
    "paired-t": Test(_paired_t, "paired t test over queries", _T_INTERVAL, _PAIRED, 2),
    "welch": Test(_welch, "Welch's t test, unpaired", "Welch's t", _UNPAIRED, 2),
    "student": Test(_student, "Student's t test, unpaired", "Student's t", _UNPAIRED, 2),
    "wilcoxon": Test(_wilcoxon, "Wilcoxon's signed-rank test over queries", _T_INTERVAL, _PAIRED),
    "sign": Test(_sign, "sign test over queries", _T_INTERVAL, _PAIRED),
    "randomization": Test(
        _randomization, "Fisher's paired randomization test over queries", _T_INTERVAL, _PAIRED,
        drawn=True, whole=tries_all_signs,
    ),
    "bootstrap": Test(
        _bootstrap, "Studentized bootstrap test over queries (Sakai 2006)", "bootstrap t", _PAIRED, 2,
        drawn=True,
    ),
    "tukey": Test(
        _tukey, "Tukey's HSD, runs × queries without replication", "Tukey's, for all pairs together",
        _TWO_WAY, 2, family=True,
    ),
    "tukey-randomized": Test(
        _tukey_randomized, "randomized Tukey HSD, the scores of a query permuted among the runs",
        "randomized Tukey's, for all pairs together", _TWO_WAY, family=True, drawn=True,
    ),
}, groups=("rankgauge.tests",), maker=_run_of)  # fmt: skip


def find_test(name: str) -> Test:
    """The test of this name; RankgaugeError with all names if there is no such test."""
    return TESTS.check_argument("test", name)


# Corrections for many comparisons


def bonferroni(p: Floats) -> Floats:
    """Bonferroni's correction: each p-value times the number of p-values.

    The chance of any false alarm is then at most the level.
    """
    return np.asarray(np.minimum(1.0, p * len(p)))


def holm(p: Floats) -> Floats:
    """Holm's step-down correction: the same guarantee as Bonferroni's, and never less powerful.

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, stepped)
    return corrected


def benjamini_hochberg(p: Floats) -> Floats:
    """Benjamini and Hochberg's step-up correction, which bounds the false discovery rate.

    The rate is the expected share of false alarms among all alarms.

    >>> benjamini_hochberg(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.04, 0.04]
    """
    order = np.argsort(p, kind="stable")[::-1]
    stepped = np.minimum.accumulate(p[order] * len(p) / np.arange(len(p), 0, -1))
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(1.0, stepped)
    return corrected


CORRECTIONS: Registry[Callable[[Floats], Floats]] = Registry(
    "correction",
    {"holm": holm, "bonferroni": bonferroni, "bh": benjamini_hochberg},
    groups=("rankgauge.corrections",),
    reserved=("none",),
)


def check_correction(correction: str | None) -> None:
    """RankgaugeError with the known names, if there is no such correction."""
    if correction is not None:
        CORRECTIONS.check_argument("correction", correction, "None")


def correct_p_values(p: Floats, test: Test, correction: str | None) -> Floats:
    """The p-values of a test after a correction. P-values that already cover all pairs do not change."""
    if test.family or correction is None:
        return p
    corrected = CORRECTIONS[correction](p)
    if (shape := np.shape(corrected)) != p.shape:
        raise RankgaugeError(
            f"correction={correction!r} gave shape {shape}, expected {p.shape}: one for each p-value"
        )
    return corrected
