"""Confidence intervals for means over queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import check_value, one_of
from rankgauge.core.notes import Note, note_texts
from rankgauge.core.policies import (
    DEFAULT_INTERVAL,
    LEVEL,
    LEVELS,
    SAMPLES,
    SEED,
    IntervalKind,
    Missing,
)
from rankgauge.core.records import Record
from rankgauge.core.resampling import CELLS, SamplingOptions, draw_bootstrap_counts
from rankgauge.core.rounding import ROUNDING
from rankgauge.core.tables import Table
from rankgauge.errors import RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.scores.model import Scores


class IntervalOptions(Record):
    """How intervals are computed, as in `mean_interval`."""

    kind: IntervalKind
    level: float
    samples: int
    seed: int


class Intervals(NamedTuple):
    """Run × measure: the ends of the intervals of the means, and notes on them."""

    low: Floats
    high: Floats
    notes: tuple[Note, ...]


def mean_interval(
    values: ArrayLike,
    level: float = LEVEL,
    kind: IntervalKind = DEFAULT_INTERVAL,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> tuple[Floats, Floats]:
    """The lower and the upper ends of confidence intervals for the mean of each row.

    If all scores of a row are equal, both ends are their mean. If it has fewer than two queries, both
    are NaN.

    Parameters
    ----------
    values
        Run × query: the scores. NaN is a query that the mean of a run leaves out.
    level
        The confidence level.
    kind
        "t": mean ± t(n − 1) · sd / √n. "bootstrap": from the means of samples of queries, drawn with
        replacement, corrected for bias and skewness (BCa; Efron 1987, Better bootstrap confidence
        intervals).
    samples, seed
        How many samples are drawn, and by which seed.

    >>> low, high = mean_interval([[0.2, 0.4, 0.6, 0.8]])
    >>> low.round(4).tolist(), high.round(4).tolist()
    ([0.0891], [0.9109])
    """
    check_value("kind", kind, one_of(IntervalKind))
    check_value("level", level, LEVELS)
    drawing = SamplingOptions.check(samples, seed)
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim != 2:
        raise RankgaugeError(f"values of {rows.ndim} dimensions, expected two: runs × queries")
    low, high = np.full((2, len(rows)), np.nan)
    patterns, group = np.unique(~np.isnan(rows), axis=0, return_inverse=True)
    for number, topics in enumerate(patterns):
        if np.count_nonzero(topics) > 1:
            which = np.flatnonzero(group.ravel() == number)
            step = len(which) if kind == "t" else max(1, CELLS // drawing.samples)
            for start in range(0, len(which), step):
                some = which[start : start + step]
                part = rows[some][:, topics]
                low[some], high[some] = (
                    _t_interval(part, level)
                    if kind == "t"
                    else _bootstrap_interval(part, level, drawing)
                )
    return low, high


def _t_interval(values: Floats, level: float) -> tuple[Floats, Floats]:
    from scipy.special import stdtrit

    topics = values.shape[1]
    spread = np.where(np.ptp(values, axis=1) == 0, 0.0, values.std(axis=1, ddof=1))
    half = stdtrit(topics - 1, 0.5 + level / 2) * spread / np.sqrt(topics)
    mean = values.mean(axis=1)
    return mean - half, mean + half


def _bootstrap_interval(
    values: Floats, level: float, drawing: SamplingOptions
) -> tuple[Floats, Floats]:
    """BCa: where Φ(z0 + z / (1 − a z)), z = z0 ± z(level), is in the distribution of sampled means.

    z0 is Φ⁻¹ of the share of them below the mean, and a is a sixth of the skewness that the mean
    would have, Σ d³ / (6 (Σ d²)^1.5) of the deviations d.
    """
    from scipy.special import ndtr, ndtri

    topics = values.shape[1]
    mean = values.mean(axis=1, keepdims=True)
    apart = values - mean
    same = np.ptp(values, axis=1) == 0
    sampled = np.concatenate(
        [apart @ counts.T for counts in draw_bootstrap_counts(topics, drawing)], axis=1
    )
    sampled /= topics
    sampled.sort(axis=1)
    greatest = np.abs(apart).max(axis=1, keepdims=True)
    sampled[np.abs(sampled) <= ROUNDING * greatest] = 0.0
    below = np.count_nonzero(sampled < 0, axis=1) + np.count_nonzero(sampled == 0, axis=1) / 2
    bias = ndtri(np.clip(below / drawing.samples, 0.5 / drawing.samples, 1 - 0.5 / drawing.samples))
    unit = apart / np.where(greatest > 0, greatest, 1.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        acceleration = (unit**3).sum(axis=1) / (6 * (unit**2).sum(axis=1) ** 1.5)
    ends = []
    for side in (-1, 1):
        z = bias + side * ndtri(0.5 + level / 2)
        room = 1 - acceleration * z
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(room > 0, ndtr(bias + z / room), (1 + np.sign(z)) / 2)
        ends.append(np.where(same, 0.0, _quantiles(sampled, share)) + mean[:, 0])
    return ends[0], ends[1]


def _quantiles(ordered: Floats, shares: Floats) -> Floats:
    """For each row, which is sorted, the quantile at its share, linear between two numbers."""
    place = np.nan_to_num(shares) * (ordered.shape[1] - 1)
    before = np.floor(place).astype(np.int64)
    after = np.minimum(before + 1, ordered.shape[1] - 1)
    row = np.arange(len(ordered))
    weight = place - before
    return np.asarray((1 - weight) * ordered[row, before] + weight * ordered[row, after])


def score_intervals(scores: Scores, missing: Missing, options: IntervalOptions) -> Intervals:
    """The interval of each mean, over the queries that the mean is over.

    `missing` says how queries that a run lacks are treated.
    """
    level, kind, samples, seed = options.level, options.kind, options.samples, options.seed
    how = "Student's t" if kind == "t" else f"bootstrap (BCa), {samples:,} samples, seed {seed}"
    about = f"{100 * level:g}% interval of the mean over queries, {how}"
    notes = [Note(about, column="low, high")]
    skip = ~scores.present & (missing == "skip")
    low, high = np.full((2, len(scores.runs), len(scores.measures)), np.nan)
    for m, measure in enumerate(scores.measures):
        values = np.where(skip, np.nan, scores.values[:, :, m])
        if not inner(measure).averages_defined:
            undefined = np.isnan(values) & ~skip
            values[undefined.any(axis=1)] = np.nan
        if isinstance(measure, Aggregate):
            if not measure.is_mean:
                text = "no interval, because it is not a mean over queries"
                notes.append(Note(text, measure=str(measure)))
                continue
            values = measure.forward(values)
        ends = mean_interval(values, level, kind, samples, seed)
        if isinstance(measure, Aggregate):
            ends = measure.back(ends[0]), measure.back(ends[1])
        low[:, m], high[:, m] = ends
        if (np.count_nonzero(~np.isnan(values), axis=1) == 1).any():
            text = "no interval for a mean over a single query"
            notes.append(Note(text, measure=str(measure)))
    return Intervals(low, high, tuple(notes))


def add_intervals(
    table: Table, scores: Scores, shown: Sequence[tuple[int, Missing]], options: IntervalOptions
) -> Table:
    """A table of means with two more columns after each mean: the ends of its interval.

    The last columns of the table are the measures. `shown` has for each row the run, and how queries
    that it lacks are treated.
    """
    intervals = {
        missing: score_intervals(scores, missing, options)
        for missing in dict.fromkeys(missing for _, missing in shown)
    }
    first = len(table.columns) - len(scores.measures)
    columns = ((name, f"{name} low", f"{name} high") for name in table.columns[first:])
    rows = []
    for row, (run, missing) in zip(table.rows, shown, strict=True):
        low, high, _ = intervals[missing]
        cells = zip(row[first:], low[run].tolist(), high[run].tolist(), strict=True)
        rows.append((*row[:first], *chain.from_iterable(cells)))
    notes = dict.fromkeys(note for each in intervals.values() for note in each.notes)
    chart = table.chart
    if chart is not None:
        chart = replace(chart, low=f"{chart.value} low", high=f"{chart.value} high")
    return replace(
        table,
        columns=(*table.columns[:first], *chain.from_iterable(columns)),
        rows=tuple(rows),
        notes=(*note_texts(notes), *table.notes),
        chart=chart,
    )
