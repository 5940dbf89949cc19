"""The forecasts of a track, and their tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import ClassVar

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.forecast.left_out import PartLeftOut
from rankgauge.forecast.tracks import Rows, target_at
from rankgauge.measures.around import inner
from rankgauge.measures.grammar import parse
from rankgauge.scores.model import Scores

_LIMITS: Mapping[PartLeftOut | None, str] = {
    "tracks": " of {kind}",
    "queries": " of {kind}. On another track, the share may be lower",
    None: " of any kind in the training data. This does not extend to {kind}",
}
"""The scope of the held-out error."""


class Forecast(Result, Record):
    """Forecasts for a track, with intervals and simpler predictions for comparison.

    Returned by `Forecaster.forecast`. Arrays are run × query.

    Attributes
    ----------
    target : str
        The measure that is forecast.
    depth : int
        The depth of judging.
    rows : Rows
        The runs, the queries and their cheap scores.
    values : array of shape (runs, queries)
        The forecasts.
    line : array of shape (runs, queries)
        Predictions from a line fitted to the target measure cut at the depth.
    half_width : float
        Half the width of the intervals; infinite if there are none.
    level : float
        The confidence level of the intervals.
    left_out : {"tracks", "queries"} or None
        The units that were held out to estimate the errors; None if the forecaster was not trained
        on this kind of collection.
    notes : tuple of Note
        Notes on the forecasts.

    Examples
    --------
    >>> from rankgauge.forecast import Forecaster, Track
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"a": 1, "b": 1}}
    >>> runs = {"x": {"q1": ["a", "b"], "q2": ["b"]}, "y": {"q1": ["b", "a"], "q2": ["a"]}}
    >>> track = Track.of(qrels, runs, kind="news")
    >>> forecaster = Forecaster(method="gupta", target="AP", depth=1, features=["P"]).fit([track])
    >>> forecaster.forecast(track).values.round(2).tolist()
    [[0.75, 0.75], [0.25, 0.75]]
    """

    _renamed: ClassVar[dict[str, str]] = {"topic_table": "query_table"}

    target: str
    depth: int
    rows: Rows
    values: Floats
    line: Floats
    half_width: float
    level: float
    left_out: PartLeftOut | None
    notes: tuple[Note, ...]

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return self.rows.runs

    @property
    def failed(self) -> tuple[str, ...]:
        """The runs that were skipped, with the reasons."""
        return self.rows.failed

    def scores(self) -> Scores:
        """Return the forecasts as scores like any others, with the same notes."""
        scores = Scores.from_matrix(
            self.values,
            runs=self.rows.runs,
            measure=f"forecast of {self.target}",
            queries=list(self.rows.queries),
        )
        return replace(scores, notes=self.notes, failed=self.failed)

    def bounds(self) -> tuple[Floats, Floats]:
        """Return the ends of the intervals of each run and query, within the range of the measure.

        They are NaN where there are no intervals.
        """
        if not math.isfinite(self.half_width):
            none = np.full(self.values.shape, np.nan)
            return none, none
        low, high = inner(parse(self.target)).range
        ends = self.values - self.half_width, self.values + self.half_width
        return np.clip(ends[0], low, high), np.clip(ends[1], low, high)

    def table(self) -> Table:
        """Return a table with one row per run and its mean forecast, the best forecast first.

        Next to the forecast are the measure at the depth, a line fitted to it, and the shallow
        score, which needs no training.
        """
        columns = ("run", "forecast", "at depth", "line", "shallow")
        numbers = (self.values, self.rows.plain, self.line, self.rows.shallow)
        rows: list[tuple[Cell, ...]] = [
            (self.rows.runs[place], *(float(each[place].mean()) for each in numbers))
            for place in self._best_first()
        ]
        return Table(
            columns, tuple(rows), note_texts((*self._column_notes(), *self.notes), gather=True)
        )

    def query_table(self) -> Table:
        """Return one row per run and query: the forecast, its interval, simpler predictions.

        Runs are in the order of `table`.
        """
        numbers = (self.values, *self.bounds(), self.rows.plain, self.line, self.rows.shallow)
        rows: list[tuple[Cell, ...]] = [
            (self.rows.runs[r], topic, *(float(each[r, t]) for each in numbers))
            for r in self._best_first()
            for t, topic in enumerate(self.rows.queries)
        ]
        columns = ("run", "topic", "forecast", "low", "high", "at depth", "line", "shallow")
        return Table(columns, tuple(rows), self.table().notes)

    def _best_first(self) -> list[int]:
        """The numbers of the runs, the best mean forecast first."""
        means = self.values.mean(axis=1)
        lower_is_better = inner(parse(self.target)).direction == "lower"
        order = np.argsort(means if lower_is_better else -means, kind="stable")
        return [int(place) for place in order]

    def _column_notes(self) -> Iterator[Note]:
        """What the columns are."""
        yield Note(str(target_at(self.target, self.depth)), column="at depth")
        yield Note("a line fitted to it, on the same tracks", column="line")
        yield Note(
            f"{self.target} of the whole run with the same judgments; it needs no training, "
            "and usually ranks systems better than forecasts do",
            column="shallow",
        )
        if not math.isfinite(self.half_width):
            return
        yield Note(
            "the mean over queries. There is no interval for the mean. For one run on one "
            f"query: when {self.left_out or 'queries'} were held out, {self.target} was within "
            f"{self.half_width:.3f} of its forecast for {100 * self.level:g}% of the "
            f"queries{_LIMITS[self.left_out].format(kind=self.rows.kind)}",
            column="forecast",
        )

    def _title(self) -> str:
        return f"Forecast of {self.target}: {count_phrase(len(self.rows.runs), 'run')}"
