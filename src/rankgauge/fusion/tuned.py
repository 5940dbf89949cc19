"""The result of tuning: the best weights, their expected performance, and advice."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from rankgauge.comparison.systems import Comparison
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import Absent
from rankgauge.core.records import Record
from rankgauge.core.renamed import renamed_names
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, PValue, Table
from rankgauge.data.model import Run
from rankgauge.errors import RankgaugeError
from rankgauge.fusion.pool import Pool
from rankgauge.fusion.runs import Fusion
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.space.curves import NEAR, Curve, Interval, sign_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
else:
    __getattr__ = renamed_names(__name__)

TUNED, EQUAL, RRF, RRF_TUNED = "tuned", "equal weights", "rrf", "rrf, k tuned"


class Tuning(Result, Record):
    """The best weights of several runs, and their expected performance on new queries.

    `tune` returns it. `run()` fuses the runs with the best weights. For two runs, `best` has the parts
    of the curve with the best value, and `plateau` the part around the weight that is within `margin` of
    the best.

    Attributes
    ----------
    runs : tuple of str
        The names of the runs.
    measure : Measure or Aggregate
        The measure that the weights were tuned by.
    weights : tuple of float
        The weights of the runs, which add up to 1.
    value : float
        The mean of the measure with these weights, on `queries`.
    cross_validated : float
        The estimated mean of weights chosen this way on held-out queries: by cross-validation, or on the
        test queries if there are any.
    normalize : str
        The normalization of the scores of each list.
    choices : int
        How many normalizations were tried.
    absent : {"minimum", "zero", "skip"}
        The score of a document in a list that lacks it.
    comparison : Comparison, optional
        All ways in pairs, query by query; None where there is one query alone.
    level : float
        The level of the intervals.
    baselines : dict
        The means of the alternatives without weights, and of rrf with k tuned, on the same queries as
        `cross_validated`.
    fitted : dict
        The means of the alternatives without tuning, on the tuning queries.
    singles : tuple of str
        The names of the runs in `baselines`.
    k : int
        The k that is best for rrf.
    curve : Curve, optional
        For two runs, the mean for every weight of the second run.
    spread : Interval, optional
        For two runs, an interval of the best weight over samples of the queries; None where there is one
        query alone.
    margin : float
        How far below the best value the plateau goes.
    queries : tuple of str
        The queries that the weights were chosen on.
    test_queries : tuple of str, optional
        The queries that were kept for the test.
    notes : tuple of Note
        Remarks on the weights.

    Examples
    --------
    >>> from rankgauge import tune
    >>> qrels = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> bm25 = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"d": 2.0, "c": 1.0}}
    >>> dense = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"c": 0.7, "d": 0.1}}
    >>> tuning = tune(qrels, {"bm25": bm25, "dense": dense}, "RR")
    >>> tuning.runs, sum(tuning.weights), tuning.value
    (('bm25', 'dense'), 1.0, 0.75)
    """

    _renamed: ClassVar[dict[str, str]] = {
        "topics": "queries",
        "test_topics": "test_queries",
        "topic_table": "query_table",
    }

    runs: tuple[str, ...]
    measure: Measure | Aggregate
    weights: tuple[float, ...]
    value: float
    cross_validated: float
    normalize: str
    choices: int
    """How many normalizations were tried."""
    absent: Absent
    comparison: Comparison | None
    """All ways in pairs, query by query; None where there is one query alone."""
    level: float
    baselines: dict[str, float]
    """The mean of each way that needs no weights, and of rrf with k tuned, on the same queries."""
    fitted: dict[str, float]
    """The means of the alternatives without tuning, on the tuning queries."""
    singles: tuple[str, ...]
    """What the runs are called in `baselines`."""
    k: int
    """The k that is best for rrf."""
    curve: Curve | None
    spread: Interval | None
    margin: float
    queries: tuple[str, ...]
    test_queries: tuple[str, ...] | None
    notes: tuple[Note, ...]
    _pool: Pool = field(repr=False)

    @property
    def best(self) -> list[Interval]:
        """Two runs: the weights of the second run with the best value, the widest interval first."""
        return [] if self.curve is None else self.curve.best

    @property
    def plateau(self) -> Interval | None:
        """Two runs: the weights around the best one that are within the margin of it."""
        parts = [] if self.curve is None else self.curve.within(self.margin)
        return next((part for part in parts if part.low <= self.weights[1] <= part.high), None)

    @property
    def optimism(self) -> float:
        """How much better the value is on the tuning queries than on held-out ones.

        It is NaN with test queries: these can be easier or harder than the tuning queries.
        """
        if self.test_queries is not None:
            return float("nan")
        return self._sign * (self.value - self.cross_validated)

    @property
    def _sign(self) -> float:
        return sign_of(self.measure)

    def run(self, name: str = "fused") -> Run:
        """The runs fused with the best weights."""
        fusion = Fusion.of(
            "wsum", normalize=self.normalize, weights=self.weights, absent=self.absent
        )
        return fusion.fuse_pool(self._pool, name)

    def table(self) -> Table:
        """Return a table with a row for the tuned weights, and one for each other way.

        The row for the tuned weights refers to held-out queries.
        """
        columns = ("way", "mean", "difference", "low", "high", "p")
        rows: list[tuple[Cell, ...]] = [(TUNED, self.cross_validated, None, None, None, None)]
        rows += [(name, self.baselines[name], *self.against(name)) for name in self.baselines]
        return Table(columns, tuple(rows), (self.advice, *note_texts(self.notes)))

    def against(self, name: str, way: str = TUNED) -> tuple[float, float, float, PValue]:
        """The difference of a way, by default the tuned weights, to another one, its interval and p.

        Of an aggregate, such as a geometric mean, there is no interval, and p is of what it averages.
        """
        means, nothing = {TUNED: self.cross_validated, **self.baselines}, float("nan")
        difference = means[way] - means[name]
        if self.comparison is None:
            return difference, nothing, nothing, PValue(nothing)
        runs = self.comparison.runs
        pairs = np.stack((self.comparison.first, self.comparison.second), axis=1).tolist()
        wanted = [runs.index(way), runs.index(name)]
        pair = pairs.index(wanted if wanted in pairs else wanted[::-1])
        low, high, p = (
            float(getattr(self.comparison, end)[0, pair]) for end in ("low", "high", "p")
        )
        if wanted not in pairs:
            low, high = -high, -low
        if isinstance(self.measure, Aggregate):
            low = high = nothing
        return difference, low, high, PValue(p)

    def query_table(self) -> Table:
        """Return a table with a row for each tuning query.

        A row has the weights of the second run that are best for this query alone, their value, and the
        value with the weights that are best for all queries.
        """
        curve = self._require_curve("a best weight of each query")
        rows: list[tuple[Cell, ...]] = []
        tuned = curve.steps.at(self.weights[1]).tolist()
        for number, (topic, value) in enumerate(zip(self.queries, tuned, strict=True)):
            own = Curve(
                inner(self.measure), *curve.list_steps(number), curve.steps, lambda _: np.nan
            )
            undefined = (np.nan, np.nan, np.nan)
            rows.append(
                (topic, *((*own.best[0], own.value) if value == value else undefined), value)
            )
        notes: tuple[str, ...] = (
            f"low, high: the widest interval of weights of {self.runs[1]} that are best for "
            "this query alone; such weights cannot be known for new queries",
            "best: the value with these weights",
            f"tuned: the value with weight {self.weights[1]:.12g}, which has the best mean "
            f"over the {count_phrase(len(self.queries), 'query')} used for tuning",
        )
        if self.test_queries is not None:
            notes += ("the test queries are excluded",)
        return Table(("topic", "low", "high", "best", "tuned"), tuple(rows), notes)

    def figure(self) -> Figure:
        """The mean for every weight of the second run, for two runs."""
        from rankgauge.figures.parameters import weight_curve

        curve = self._require_curve("a figure")
        lines = dict(self.fitted)
        if self.test_queries is None:
            lines["tuned, cross-validated"] = self.cross_validated
        return weight_curve(
            curve.breaks,
            curve.values,
            (self.weights[1], self.value),
            self.plateau,
            [curve.mean_at(tenth / 10) for tenth in range(1, 10)],
            lines,
            measure=str(self.measure),
            margin=self.margin,
            first=self.runs[0],
            second=self.runs[1],
            queries=len(self.queries),
        )

    def _require_curve(self, what: str) -> Curve:
        if self.curve is None:
            raise RankgaugeError(f"{count_phrase(len(self.runs), 'run')}: {what} is for two runs")
        return self.curve

    @property
    def advice(self) -> str:
        """What to do, in a sentence or two."""
        if self.curve is not None and np.ptp(self.curve.values) == 0:
            return (
                f"every weight gets the same {self.measure} on these queries, so there is "
                "nothing to choose"
            )
        better = max if self._sign > 0 else min
        best = better(self.singles, key=lambda name: self.baselines[name])
        if self.comparison is None:
            return (
                f"{self._weights_text()}; a single query does not show what to expect on new "
                "queries"
            )
        tuned, rrf = self._helps(TUNED, best), self._helps(RRF, best)
        ahead = self._sign * (self.baselines[RRF] - self.cross_validated) > 0
        if rrf and not tuned:
            return (
                f"take rrf, which needs no tuning; {self._expectation_text(RRF, best)}; these "
                "queries do not show "
                f"that tuned weights help: with them expect {self._gain_text(TUNED, best)}"
            )
        if not tuned:
            return (
                "there is no evidence on these queries that fusion helps: "
                f"{self._expectation_text(TUNED, best)}; if you fuse, {self._weights_text()}"
            )
        text = f"{self._weights_text()}; {self._expectation_text(TUNED, best)}"
        if ahead:
            text += (
                f". rrf, which needs no tuning, gets {self.baselines[RRF]:.3f} on the same queries, the "
                f"tuned weights {self.cross_validated:.3f}: try rrf first"
            )
        return text

    def _helps(self, way: str, single: str) -> bool:
        """Whether a way is significantly better than a run alone."""
        gain, _, _, p = self.against(single, way)
        return self._sign * gain > 0 and float(p) <= 1 - self.level

    def _gain_text(self, way: str, single: str) -> str:
        gain, low, high, _ = self.against(single, way)
        between = "" if np.isnan(low) else f" [{format_difference(low)}, {format_difference(high)}]"
        return f"{format_difference(gain)}{between}" + (
            "" if self._sign > 0 else " (lower is better)"
        )

    def _expectation_text(self, way: str, single: str) -> str:
        return f"on new queries expect {self._gain_text(way, single)} over {single} alone"

    def _weights_text(self) -> str:
        """Which weights to take, and which others are as good."""
        chosen = f" with normalize={self.normalize}" if self.choices > 1 else ""
        text = f"take{chosen} " + ", ".join(
            f"{weight:.12g} for {name}"
            for weight, name in zip(self.weights, self.runs, strict=True)
        )
        if self.plateau is not None and self.curve is not None:
            ends = (
                self.plateau.low == 0 and abs(self.curve.start - self.value) <= self.margin,
                self.plateau.high == 1 and abs(self.curve.end - self.value) <= self.margin,
            )
            low, high = round_inward(*self.plateau, self.weights[1], *ends)
            text += f"; anything from {low} to {high} for {self.runs[1]} is as good"
            text += f", within {self.margin:g}" if self.margin else ""
        return text

    def _title(self) -> str:
        return f"Tuning of {count_phrase(len(self.runs), 'run')} by {self.measure}"


def format_difference(number: float) -> str:
    """A difference with its sign and three decimals; 0.000 has no sign.

    >>> format_difference(0.0421), format_difference(-0.00001)
    ('+0.042', '0.000')
    """
    text = f"{number:+.3f}"
    return text[1:] if float(text) == 0 else text


def round_inward(
    low: float, high: float, inside: float, with_low: bool = False, with_high: bool = False
) -> tuple[str, str]:
    """Round the ends of an interval to few decimals, both within it, on either side of a number inside.

    The ends themselves are returned only where `with_low` or `with_high` allows it.

    >>> round_inward(0.5034, 0.5265, 0.52)
    ('0.51', '0.52')
    >>> round_inward(0.0, 0.0408, 0.03, with_low=True)
    ('0.00', '0.04')
    """
    for digits in range(2, 16):
        unit = 10.0**-digits
        least, most = np.ceil(low / unit) * unit, np.floor(high / unit) * unit
        least += unit if least <= low + NEAR and not with_low else 0
        most -= unit if most >= high - NEAR and not with_high else 0
        if least <= inside + unit / 1e6 and most >= inside - unit / 1e6:
            return f"{least:.{digits}f}", f"{most:.{digits}f}"
    return f"{low:.17g}", f"{high:.17g}"
