"""How well metrics agree with people: correlations with ratings, with intervals and differences."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from rankgauge.arrays import Floats, Ints
from rankgauge.checks import checked, one_of
from rankgauge.measures import normalization as of_rankings
from rankgauge.measures.around import Aggregate
from rankgauge.measures.scored import Scored
from rankgauge.notes import WARNING, Note, counted, worded
from rankgauge.policies import CORRELATION_SAMPLES, LEVEL, LEVELS, SEED
from rankgauge.records import Record
from rankgauge.resampling import CELLS, Drawing, topic_counts
from rankgauge.results import Result
from rankgauge.scores.model import ByMeasure, Scores, places
from rankgauge.tables import Cell, Table
from rankgauge.text import normalization
from rankgauge.text.correlations import (
    COEFFICIENTS,
    MOST_ROWS,
    Rated,
    of_each_text,
    over_rows,
    over_systems,
    over_texts,
)
from rankgauge.text.shared import AnyRatings, Shared, shared

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Over: TypeAlias = Literal["systems", "texts", "rows"]
"""systems: of the means of the systems; texts: over the systems on each text, then the mean; rows: over
all outputs."""

KERNELS: dict[str, Callable[[Rated, Floats], Floats]] = {
    "systems": over_systems,
    "texts": over_texts,
    "rows": over_rows,
}
WORDS = {
    "systems": "correlation of the means of the systems",
    "texts": "mean over texts of the correlation over systems on each text",
    "rows": "correlation over all outputs",
}
NEAR_ZERO = 0.05
"""PAI of a correlation nearer to 0 says nothing."""
HELD = 8 * CELLS
"""How many numbers of samples are held at a time."""


class HumanCorrelation(Result, Record):
    """The correlations of metrics with people's ratings.

    Parameters
    ----------
    over
        What the correlations are over: "systems", "texts" or "rows".
    metrics, dimensions
        The metrics, and the names of what people rated.
    systems, texts
        How many systems and texts have both scores and ratings.
    values, low, high
        Coefficient × metric × dimension: the correlation, and the ends of its interval. The coefficients
        are τ-b, ρ and r. NaN where a correlation is undefined.
    samples
        Sample × coefficient × metric × dimension: the correlations in samples of texts.
    level
        The level of the intervals.
    notes
        What to know about the numbers.
    """

    over: Over
    metrics: tuple[Scored | Aggregate, ...]
    dimensions: tuple[str, ...]
    systems: int
    texts: int
    values: Floats
    low: Floats
    high: Floats
    samples: Floats
    level: float
    notes: tuple[Note, ...] = ()

    @property
    def tau_b(self) -> Floats:
        """Metric × dimension: Kendall's τ-b."""
        return np.asarray(self.values[0])

    @property
    def rho(self) -> Floats:
        """Metric × dimension: Spearman's ρ."""
        return np.asarray(self.values[1])

    @property
    def r(self) -> Floats:
        """Metric × dimension: Pearson's r."""
        return np.asarray(self.values[2])

    def table(self) -> Table:
        """A row for each metric and dimension: τ-b, ρ and r with their intervals."""
        columns = [f"{name}{end}" for name in COEFFICIENTS for end in ("", "_low", "_high")]
        rows: list[tuple[Cell, ...]] = []
        for m, metric in enumerate(self.metrics):
            for d, dimension in enumerate(self.dimensions):
                ends = np.stack([part[:, m, d] for part in (self.values, self.low, self.high)])
                rows.append((str(metric), dimension, *ends.T.ravel().tolist()))
        return Table(("metric", "dimension", *columns), tuple(rows), worded(self.notes))

    def difference(self, first: Scored | str, second: Scored | str) -> CorrelationDifference:
        """How much higher the correlations of the second metric are than those of the first, from the
        same samples."""
        names = [str(metric) for metric in self.metrics]
        asked = [ByMeasure.name(each) for each in (first, second)]
        m = places("measure", names, asked).tolist()
        return self._differences([(m[0], m[1])])

    def normalized(self) -> CorrelationDifference:
        """How much higher the correlations of each normalised form are than those of its metric, such
        as v2(rouge1) and rouge1."""
        place = {metric: m for m, metric in enumerate(self.metrics)}
        pairs = [
            (place[metric.measure], m)
            for m, metric in enumerate(self.metrics)
            if isinstance(metric, normalization.Normalized | of_rankings.Normalized)
            and metric.measure in place
        ]
        return self._differences(pairs)

    def _differences(self, pairs: Sequence[tuple[int, int]]) -> CorrelationDifference:
        first, second = ([pair[side] for pair in pairs] for side in (0, 1))
        base, value = self.values[:, first], self.values[:, second]
        low, high = _ends(self.samples[:, :, second] - self.samples[:, :, first], self.level)
        undefined = np.isnan(value - base) | (self.texts < 2)
        pai = percentage_increase(value, base)
        near = int(np.count_nonzero((np.abs(base) < NEAR_ZERO) & ~np.isnan(pai)))
        notes = [_interval_note(self.level, len(self.samples), "difference")]
        if near:
            kind = (
                f"{{count}} correlations of the first metric are within {NEAR_ZERO:g} of 0; PAI "
                "explodes near 0; read the difference"
            )
            notes.append(Note(kind, column="pai", count=near, severity=WARNING))
        return CorrelationDifference(
            tuple((self.metrics[a], self.metrics[b]) for a, b in pairs),
            self.dimensions,
            base,
            value,
            np.where(undefined, np.nan, low),
            np.where(undefined, np.nan, high),
            pai,
            tuple(notes),
        )

    def figure(self) -> Figure:
        """τ-b and its interval of each metric: a panel for each dimension."""
        from rankgauge.figures.correlations import correlation_intervals

        return correlation_intervals(
            [str(metric) for metric in self.metrics],
            self.dimensions,
            (self.tau_b, self.low[0], self.high[0]),
            label=f"Kendall's τ-b, {100 * self.level:.10g}% interval",
            about=f"{WORDS[self.over]}, {self._size()}",
        )

    def _size(self) -> str:
        return f"{counted(self.systems, 'system')}, {counted(self.texts, 'text')}"

    def _title(self) -> str:
        return f"HumanCorrelation: {WORDS[self.over]}, {self._size()}"


class CorrelationDifference(Result, Record):
    """How much the correlations of two metrics with people's ratings differ.

    Parameters
    ----------
    pairs
        The first and the second metric of each pair.
    dimensions
        The names of what people rated.
    first, second
        Coefficient × pair × dimension: the correlations of the two metrics.
    low, high
        The ends of the interval of `difference`.
    pai
        The percentage absolute increase, see `percentage_increase`.
    notes
        What to know about the numbers.
    """

    pairs: tuple[tuple[Scored | Aggregate, Scored | Aggregate], ...]
    dimensions: tuple[str, ...]
    first: Floats
    second: Floats
    low: Floats
    high: Floats
    pai: Floats
    notes: tuple[Note, ...] = ()

    @property
    def difference(self) -> Floats:
        """Coefficient × pair × dimension: the second correlation minus the first."""
        return self.second - self.first

    def table(self) -> Table:
        """A row for each pair, coefficient and dimension."""
        columns = ("first", "second", "low", "high", "pai")
        rows: list[tuple[Cell, ...]] = []
        for p, (one, other) in enumerate(self.pairs):
            for c, coefficient in enumerate(COEFFICIENTS):
                for d, dimension in enumerate(self.dimensions):
                    first, second, low, high, pai = (
                        float(getattr(self, name)[c, p, d]) for name in columns
                    )
                    numbers = (first, second, second - first, low, high, pai)
                    rows.append((str(one), str(other), dimension, coefficient, *numbers))
        names = ("metric", "other", "dimension", "coefficient", "of_metric", "of_other")
        return Table((*names, "difference", "low", "high", "pai"), tuple(rows), worded(self.notes))

    def _title(self) -> str:
        pairs = counted(len(self.pairs), "pair")
        return f"CorrelationDifference: {pairs} of metrics, the other minus the metric"


def percentage_increase(value: Floats, base: Floats) -> Floats:
    """PAI, the percentage absolute increase of a correlation: (value − base) / |base| · 100.

    At base 0 it is (value − base) · 100, as in Feng's dissertation (Equation 8.1). Near 0 it explodes.

    >>> percentage_increase(np.array([0.3, 0.03]), np.array([-0.2, 0.0])).round(6).tolist()
    [250.0, 3.0]
    """
    size = np.abs(base)
    return np.asarray((value - base) / np.where(size == 0, 1.0, size) * 100.0)


def human_correlation(
    scores: Scores,
    ratings: AnyRatings,
    over: Over = "systems",
    *,
    level: float = LEVEL,
    samples: int = CORRELATION_SAMPLES,
    seed: int = SEED,
) -> HumanCorrelation:
    """How well each metric of the scores agrees with people's ratings in each dimension.

    Gives Kendall's τ-b, Spearman's ρ and Pearson's r, with percentile bootstrap intervals over texts. If
    lower is better for a metric, its sign is turned first. Only systems and texts that have both scores
    and ratings count. An output counts if every metric has a score for it, so that metrics are compared
    on the same outputs.

    Parameters
    ----------
    scores
        The scores, with a metric or several.
    ratings
        What people think of the same outputs: `read_ratings`, or their means as scores.
    over
        "systems": the correlation of the means of the systems. "texts": the correlation over the systems
        on each text, then the mean over texts, without texts where it is undefined. "rows": the
        correlation over all outputs.
    level
        The level of the intervals.
    samples
        How many samples of texts are drawn.
    seed
        Fixes the samples.

    >>> scores = Scores.from_matrix([[0.1, 0.2], [0.3, 0.3], [0.6, 0.4]], runs="abc", measure="metric")
    >>> people = Scores.from_matrix([[1, 2], [2, 2], [3, 5]], runs="abc", measure="coherence")
    >>> human_correlation(scores, people).tau_b.tolist()
    [[1.0]]
    """
    checked("over", over, one_of(Over))
    checked("level", level, LEVELS)
    drawing = Drawing.checked(samples, seed)
    both = shared(scores, ratings)
    shape = (len(COEFFICIENTS), len(both.metrics), len(both.dimensions))
    drawn = np.full((1 + drawing.samples, *shape), np.nan)
    notes = list(both.notes)
    usable = np.flatnonzero(np.isfinite(both.scores).any(axis=(1, 2)))
    for metric in sorted({*range(len(both.metrics))} - {*usable.tolist()}):
        text = "no output has a score, so there is no correlation"
        notes.append(Note(text, measure=str(both.metrics[metric]), severity=WARNING))
    for group, rated in _groups(both, usable, notes):
        start = 0
        for some in _samples(len(both.texts), drawing):
            found = KERNELS[over](rated, some)
            end = start + len(some)
            drawn[start:end, :, usable[:, None], group] = found
            start = end
        notes += _remarks(both, over, usable, group, rated, drawn[0, 0])
    values = drawn[0]
    low, high = _ends(drawn[1:], level)
    undefined = np.isnan(values) | (len(both.texts) < 2)
    lost = int(np.isnan(drawn[1:]).sum(axis=0)[~np.isnan(values) & ~np.isnan(low)].max(initial=0))
    if lost:
        text = "up to {count} samples left out of an interval, since the correlation is undefined there"
        notes.append(Note(text, count=lost))
    return HumanCorrelation(
        over,
        both.metrics,
        both.dimensions,
        len(both.systems),
        len(both.texts),
        values,
        np.where(undefined, np.nan, low),
        np.where(undefined, np.nan, high),
        drawn[1:],
        level,
        (
            Note(f"tau_b, rho, r: {WORDS[over]} with people's ratings"),
            _interval_note(level, drawing.samples, "correlation", drawing.seed),
            *notes,
        ),
    )


def _interval_note(level: float, samples: int, what: str, seed: int | None = None) -> Note:
    drawn = f"{samples:,} samples" + ("" if seed is None else f", seed {seed}")
    text = f"{100 * level:.10g}% interval of the {what}, percentile bootstrap over texts, {drawn}"
    return Note(text, column="low, high")


def _samples(texts: int, drawing: Drawing) -> Iterator[Floats]:
    """Sample × text: first each text once, then how often each text is in each sample."""
    held, size = [np.ones((1, texts))], texts
    for some in topic_counts(texts, drawing):
        if size + some.size > HELD:
            yield np.concatenate(held)
            held, size = [], 0
        held.append(some)
        size += some.size
    if held:
        yield np.concatenate(held)


def _groups(both: Shared, usable: Ints, notes: list[Note]) -> Iterator[tuple[list[int], Rated]]:
    """The dimensions in groups for which the same outputs count, with their numbers."""
    scored = both.scored()
    groups: dict[bytes, list[int]] = {}
    for d, ratings in enumerate(both.ratings):
        known = np.isfinite(ratings)
        unscored, unrated = (
            int(np.count_nonzero(part)) for part in (known & ~scored, scored & ~known)
        )
        for text, count in (
            ("{count} rated outputs left out, since some metric has no score for them", unscored),
            ("{count} outputs have no rating, left out", unrated),
        ):
            if count:
                notes.append(Note(text, part=both.dimensions[d], count=count))
        groups.setdefault((known & scored).tobytes(), []).append(d)
    for group in groups.values():
        counts = scored & np.isfinite(both.ratings[group[0]])
        yield (
            group,
            Rated(
                np.where(counts, both.scores[usable], 0.0),
                np.where(counts, both.ratings[group], 0.0),
                counts,
            ),
        )


def _remarks(
    both: Shared, over: Over, usable: Ints, group: list[int], rated: Rated, tau_b: Floats
) -> Iterator[Note]:
    """Why correlations of a group of dimensions are undefined, and what is left out.

    Parameters
    ----------
    both, over
        All scores and ratings, and what the correlations are over.
    usable, group
        The numbers of the metrics that have scores, and of the dimensions of the group.
    rated
        The numbers of these metrics and dimensions.
    tau_b
        Metric × dimension: the correlations, of all metrics and dimensions.
    """
    metrics = [str(both.metrics[m]) for m in usable.tolist()]
    dimensions = [both.dimensions[d] for d in group]
    systems = int(np.count_nonzero(rated.counts.any(axis=1)))
    size = int(np.count_nonzero(rated.counts))
    if (size if over == "rows" else systems) < 2:
        things = counted(size, "output") if over == "rows" else counted(systems, "system")
        for dimension in dimensions:
            text = f"{things} with scores and ratings, so there is no correlation"
            yield Note(text, part=dimension, severity=WARNING)
        return
    if size > MOST_ROWS and over == "rows":
        text = (
            f"no interval of τ-b: {size:,} outputs are more than {MOST_ROWS:,}; use over='texts' for an "
            "interval"
        )
        yield Note(text, column="tau_b_low, tau_b_high")
    if over != "texts":
        undefined = np.isnan(tau_b[usable][:, group])
        for d, dimension in enumerate(dimensions):
            for m in np.flatnonzero(undefined[:, d]).tolist():
                text = "all have the same score or the same rating, so there is no correlation"
                yield Note(text, part=dimension, measure=metrics[m], severity=WARNING)
        return
    lost = np.isnan(of_each_text(rated)[:, 0]).sum(axis=0)
    for d, dimension in enumerate(dimensions):
        for m, metric in enumerate(metrics):
            if count := int(lost[m, d]):
                text = (
                    "{count} texts left out, where all systems have the same score or the same rating, "
                    "or only one system is rated"
                )
                yield Note(text, part=dimension, measure=metric, count=count)


def _ends(samples: Floats, level: float) -> tuple[Floats, Floats]:
    """The ends of percentile intervals over the first axis; samples that are NaN are left out."""
    ordered = np.sort(samples, axis=0)  # NaN last
    number = np.count_nonzero(~np.isnan(samples), axis=0)
    ends = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        place = share * np.maximum(number - 1, 0)
        below = np.floor(place).astype(np.int64)
        above = np.minimum(below + 1, np.maximum(number - 1, 0))
        one, other = (np.take_along_axis(ordered, at[None], axis=0)[0] for at in (below, above))
        ends.append(np.where(number > 0, one + (place - below) * (other - one), np.nan))
    return ends[0], ends[1]
