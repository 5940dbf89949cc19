"""What `human_correlation` gives: correlations with people's ratings, and how metrics differ in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import WARNING, Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.measures import normalization as of_rankings
from rankgauge.measures.around import Aggregate
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import ByMeasure, find_positions
from rankgauge.text import normalization
from rankgauge.text.human.coefficients import COEFFICIENTS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Over: TypeAlias = Literal["systems", "texts", "rows"]
"""systems: over the system means; texts: over the systems on each text, then averaged; rows: over all
outputs."""

OVER_DESCRIPTIONS = {
    "systems": "correlation between system means",
    "texts": "correlation between systems on each text, averaged over texts",
    "rows": "correlation over all outputs",
}
NEAR_ZERO = 0.05
"""PAI is meaningless for a correlation closer to 0 than this."""


CHANGES = ("change", "change_low", "change_high", "pai")
"""The columns of the table that compare a normalized form with its metric."""


class HumanCorrelation(Result, Record):
    """Correlations between metrics and human ratings: the result of `human_correlation`.

    Attributes
    ----------
    over : {"systems", "texts", "rows"}
        The units of the correlations.
    metrics : tuple of Scored
        The metrics.
    dimensions : tuple of str
        The names of what people rated.
    systems, texts : int
        The numbers of systems and texts that have both scores and ratings.
    values, low, high : ndarray
        Coefficient × metric × dimension: the correlations and the ends of their intervals. The
        coefficients are τ-b, ρ and r. NaN where a correlation is undefined.
    samples : ndarray
        Sample × coefficient × metric × dimension: the correlations in bootstrap samples of the texts.
    level : float
        The level of the intervals.
    notes : tuple of Note
        Notes on the numbers.

    Examples
    --------
    >>> from rankgauge import Scores
    >>> from rankgauge.text import human_correlation
    >>> runs = ["a", "b", "c"]
    >>> scores = Scores.from_matrix([[0.1, 0.2], [0.3, 0.3], [0.6, 0.4]], runs=runs, measure="metric")
    >>> people = Scores.from_matrix([[1, 2], [2, 2], [3, 5]], runs=runs, measure="coherence")
    >>> result = human_correlation(scores, people)
    >>> result.rho.tolist(), result.systems, result.texts
    ([[1.0]], 3, 2)
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
        """One row per metric and dimension: τ-b, ρ and r with their intervals.

        For a normalized form, the row also shows how much higher its τ-b is than that of its
        metric, with the interval, and as PAI.
        """
        columns = [f"{name}{end}" for name in COEFFICIENTS for end in ("", "_low", "_high")]
        changes = self.normalized()
        place = {form: p for p, (_, form) in enumerate(changes.pairs)}
        change = (changes.difference, changes.low, changes.high, changes.pai)
        rows: list[tuple[Cell, ...]] = []
        for m, metric in enumerate(self.metrics):
            p = place.get(metric)
            for d, dimension in enumerate(self.dimensions):
                ends = np.stack([part[:, m, d] for part in (self.values, self.low, self.high)])
                own = [None] * 4 if p is None else [float(each[0, p, d]) for each in change]
                rows.append((str(metric), dimension, *ends.T.ravel().tolist(), *own))
        if place:
            columns += CHANGES
        else:
            rows = [row[: -len(CHANGES)] for row in rows]
        about = [*self.notes]
        if place:
            about.append(Note("tau_b minus the tau_b of the inner metric", column="change"))
            about += [note for note in changes.notes if note.column == "pai"]
        return Table(("metric", "dimension", *columns), tuple(rows), note_texts(about))

    def difference(self, first: Scored | str, second: Scored | str) -> CorrelationDifference:
        """Return how much higher the correlations of `second` are than the correlations of `first`.

        The correlations of both metrics are from the same samples.
        """
        names = [str(metric) for metric in self.metrics]
        asked = [ByMeasure.name(each) for each in (first, second)]
        m = find_positions("measure", names, asked).tolist()
        return self._differences([(m[0], m[1])])

    def normalized(self) -> CorrelationDifference:
        """Return how much higher each normalized form correlates than its metric does.

        For example, v2(rouge1) is compared with rouge1.
        """
        place = {metric: m for m, metric in enumerate(self.metrics)}
        pairs = [
            (place[metric.measure], m)
            for m, metric in enumerate(self.metrics)
            if isinstance(metric, normalization.NormalizedMetric | of_rankings.NormalizedMeasure)
            and metric.measure in place
        ]
        return self._differences(pairs)

    def _differences(self, pairs: Sequence[tuple[int, int]]) -> CorrelationDifference:
        first, second = ([pair[side] for pair in pairs] for side in (0, 1))
        base, value = self.values[:, first], self.values[:, second]
        low, high = percentiles(self.samples[:, :, second] - self.samples[:, :, first], self.level)
        undefined = np.isnan(value - base) | (self.texts < 2)
        pai = percentage_increase(value, base)
        near = int(np.count_nonzero((np.abs(base) < NEAR_ZERO) & ~np.isnan(pai)))
        notes = [interval_note(self.level, len(self.samples), "difference")]
        if near:
            kind = (
                f"correlations of the metric within {NEAR_ZERO:g} of 0: {{count}}. PAI "
                "explodes near 0; use the difference instead"
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
        """Plot τ-b of each metric with its interval, in one panel per dimension."""
        from rankgauge.figures.intervals import correlation_intervals

        return correlation_intervals(
            [str(metric) for metric in self.metrics],
            self.dimensions,
            (self.tau_b, self.low[0], self.high[0]),
            label=f"Kendall's τ-b, {100 * self.level:.10g}% interval",
            about=f"{OVER_DESCRIPTIONS[self.over]}, {self._format_size()}",
        )

    def _format_size(self) -> str:
        return f"{count_phrase(self.systems, 'system')}, {count_phrase(self.texts, 'text')}"

    def _title(self) -> str:
        return f"HumanCorrelation: {OVER_DESCRIPTIONS[self.over]}, {self._format_size()}"


class CorrelationDifference(Result, Record):
    """The difference between the correlations of two metrics with human ratings.

    `HumanCorrelation.difference` and `HumanCorrelation.normalized` return it.

    Attributes
    ----------
    pairs : tuple of tuple of Scored
        The first and the second metric of each pair.
    dimensions : tuple of str
        The names of what people rated.
    first, second : ndarray
        Coefficient × pair × dimension: the correlations of the two metrics.
    low, high : ndarray
        The ends of the interval of `difference`.
    pai : ndarray
        The percentage absolute increase, see `percentage_increase`.
    notes : tuple of Note
        Notes on the numbers.

    Examples
    --------
    >>> from rankgauge import Scores
    >>> from rankgauge.text import human_correlation
    >>> runs = ["a", "b", "c"]
    >>> values = [[[0.1, 0.6]], [[0.3, 0.2]], [[0.6, 0.4]]]
    >>> scores = Scores.from_matrix(values, runs=runs, measure=["one", "other"])
    >>> people = Scores.from_matrix([[1], [2], [3]], runs=runs, measure="coherence")
    >>> result = human_correlation(scores, people).difference('given("one")', 'given("other")')
    >>> result.first[0].tolist(), result.second[0].round(2).tolist()
    ([[1.0]], [[-0.33]])
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
        """One row per pair, coefficient and dimension."""
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
        return Table(
            (*names, "difference", "low", "high", "pai"), tuple(rows), note_texts(self.notes)
        )

    def _title(self) -> str:
        pairs = count_phrase(len(self.pairs), "pair")
        return f"CorrelationDifference: {pairs} of metrics, the other minus the metric"


def percentage_increase(value: Floats, base: Floats) -> Floats:
    """The percentage absolute increase (PAI) of a correlation over a base.

    Parameters
    ----------
    value, base : ndarray
        The correlations, in the same shape.

    Returns
    -------
    ndarray
        `(value - base) / |base| * 100`, and `(value - base) * 100` if the base is 0.

    Notes
    -----
    This is Equation 8.1 of Feng's dissertation. If the base is near 0, PAI explodes; read the
    difference instead.

    Examples
    --------
    >>> import numpy as np
    >>> from rankgauge.text.human import percentage_increase
    >>> percentage_increase(np.array([0.3, 0.03]), np.array([-0.2, 0.0])).round(6).tolist()
    [250.0, 3.0]
    """
    size = np.abs(base)
    return np.asarray((value - base) / np.where(size == 0, 1.0, size) * 100.0)


def interval_note(level: float, samples: int, what: str, seed: int | None = None) -> Note:
    """The note on how intervals were computed."""
    drawn = f"{samples:,} samples" + ("" if seed is None else f", seed {seed}")
    text = f"{100 * level:.10g}% interval of the {what}, percentile bootstrap over texts, {drawn}"
    return Note(text, column="low, high")


def percentiles(samples: Floats, level: float) -> tuple[Floats, Floats]:
    """The ends of percentile bootstrap intervals.

    Parameters
    ----------
    samples : ndarray
        The samples along the first axis. NaN values are ignored.
    level : float
        The level of the intervals, such as 0.95.

    Returns
    -------
    tuple of ndarray
        The lower and the upper ends, in the shape of one sample; NaN where all samples are NaN.

    Examples
    --------
    >>> import numpy as np
    >>> from rankgauge.text.human import percentiles
    >>> low, high = percentiles(np.arange(101.0), 0.9)
    >>> low.round(6).tolist(), high.round(6).tolist()
    (5.0, 95.0)
    """
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
