"""What tuning finds: the best weights, what to expect of them, and what to do."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.comparison.systems import Comparison
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.model import Run
from rankgauge.fusion.pool import Pool
from rankgauge.fusion.runs import Fusion
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import Absent
from rankgauge.results import Result
from rankgauge.space.curves import Curve, Interval
from rankgauge.tables import Cell, PValue, Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TUNED, EQUAL, RRF, RRF_TUNED = "tuned", "equal weights", "rrf", "rrf, k tuned"


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Result):
    """The best weights of several runs: what `tune` found.

    `weights` are those of the runs, which add up to 1, and `value` is the mean of the measure with them,
    on `topics`, the topics they were chosen on. `cross_validated` is what to expect of weights that are
    chosen this way on topics that took no part in the choice: by cross-validation, or on the test topics
    if there are any. For two runs, `curve` has the mean for every weight of the second run, `best` the
    parts of it with the best value, `plateau` the part around the weight that is within `margin` of the
    best, and `spread` an interval of the best weight over samples of the topics.
    """

    runs: tuple[str, ...]
    measure: Measure | Aggregate
    weights: tuple[float, ...]
    value: float
    cross_validated: float
    normalize: str
    absent: Absent
    comparison: Comparison | None
    """Tuned against each other way, topic by topic; None where there is one topic alone."""
    level: float
    baselines: dict[str, float]
    """The mean of each way that needs no tuning, and of rrf with k tuned."""
    singles: tuple[str, ...]
    """What the runs are called in `baselines`."""
    k: int
    """The k that is best for rrf."""
    curve: Curve | None
    spread: Interval | None
    margin: float
    topics: tuple[str, ...]
    test_topics: tuple[str, ...] | None
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
        """By how much the value on the topics of the choice is too good.

        It is NaN with test topics: these can be easier or harder than the topics of the choice.
        """
        if self.test_topics is not None:
            return float("nan")
        return self._sign * (self.value - self.cross_validated)

    @property
    def _sign(self) -> float:
        return 1.0 if inner(self.measure).direction == "higher" else -1.0

    def run(self, name: str = "fused") -> Run:
        """The runs fused with the best weights."""
        fusion = Fusion.of(
            "wsum", normalize=self.normalize, weights=self.weights, absent=self.absent
        )
        return fusion.fused(self._pool, name)

    def table(self) -> Table:
        """A row for the tuned weights, on topics that took no part in their choice, and one for each
        other way."""
        columns = ("way", "mean", "difference", "low", "high", "p")
        rows: list[tuple[Cell, ...]] = [(TUNED, self.cross_validated, None, None, None, None)]
        rows += [(name, self.baselines[name], *self.against(name)) for name in self.baselines]
        return Table(columns, tuple(rows), (self.advice, *worded(self.notes)))

    def against(self, name: str) -> tuple[float, float, float, PValue]:
        """The difference of the tuned weights to another way, its interval and p.

        Of an aggregate, such as a geometric mean, there is no interval, and p is of what it averages.
        """
        difference, nothing = self.cross_validated - self.baselines[name], float("nan")
        if self.comparison is None:
            return difference, nothing, nothing, PValue(nothing)
        pair = [self.comparison.runs[other] for other in self.comparison.second].index(name)
        low, high, p = (
            float(getattr(self.comparison, end)[0, pair]) for end in ("low", "high", "p")
        )
        if isinstance(self.measure, Aggregate):
            low = high = nothing
        return difference, low, high, PValue(p)

    def topic_table(self) -> Table:
        """A row for each topic of the choice: the weights of the second run that are best for it alone,
        their value, and the value with the weights that are best for all topics."""
        curve = self._of_two("a best weight of each topic")
        rows: list[tuple[Cell, ...]] = []
        tuned = curve.steps.at(self.weights[1]).tolist()
        for number, (topic, value) in enumerate(zip(self.topics, tuned, strict=True)):
            own = Curve(
                inner(self.measure), *curve.list_steps(number), curve.steps, lambda _: np.nan
            )
            part = own.best[0] if value == value else Interval(np.nan, np.nan)
            rows.append((topic, *part, own.value if value == value else np.nan, value))
        notes = (
            f"low, high: the weights of {self.runs[1]} that are best for the topic alone, the widest "
            "interval of them; such a weight cannot be known for a new topic",
            "best: the value there",
            f"tuned: the value with weight {self.weights[1]:.12g}, which is best for all topics",
        )
        return Table(("topic", "low", "high", "best", "tuned"), tuple(rows), notes)

    def figure(self) -> Figure:
        """The mean for every weight of the second run, for two runs."""
        from rankgauge.figures.tuning import weight_curve

        curve = self._of_two("a figure")
        return weight_curve(
            curve.breaks,
            curve.values,
            (self.weights[1], self.value),
            self.plateau,
            self.baselines,
            measure=str(self.measure),
            margin=self.margin,
            first=self.runs[0],
            second=self.runs[1],
        )

    def _of_two(self, what: str) -> Curve:
        if self.curve is None:
            raise RankgaugeError(f"{counted(len(self.runs), 'run')}: {what} is for two runs")
        return self.curve

    @property
    def advice(self) -> str:
        """What to do, in a sentence or two."""
        better = max if self._sign > 0 else min
        best = better(self.singles, key=lambda name: self.baselines[name])
        gain, low, high, p = self.against(best)
        take = "take " + ", ".join(
            f"{weight:.12g} for {name}"
            for weight, name in zip(self.weights, self.runs, strict=True)
        )
        if self.plateau is not None:
            take += (
                f"; anything from {self.plateau.low:.2f} to {self.plateau.high:.2f} for {self.runs[1]} "
                f"is as good, within {self.margin:g}"
            )
        if np.isnan(gain):
            return f"{take}; one topic alone does not tell what to expect of new topics"
        between = "" if np.isnan(low) else f" [{signed(low)}, {signed(high)}]"
        lower = "" if self._sign > 0 else " (lower is better)"
        expect = f"on new topics expect {signed(gain)}{between} over {best} alone{lower}"
        if self._sign * gain > 0 and p <= 1 - self.level:
            text = f"{take}; {expect}"
        else:
            text = f"these topics do not show that fusing helps: {expect}; if you fuse, {take}"
        if self._sign * (self.baselines[RRF] - self.cross_validated) > 0:
            text += (
                f". rrf, which needs no tuning, gets {self.baselines[RRF]:.3f} on the same topics, the "
                f"tuned weights {self.cross_validated:.3f}: try rrf first"
            )
        return text

    def _title(self) -> str:
        return f"Tuning of {counted(len(self.runs), 'run')} by {self.measure}"


def signed(number: float) -> str:
    """A difference with its sign and three decimals; 0.000 has no sign.

    >>> signed(0.0421), signed(-0.00001)
    ('+0.042', '0.000')
    """
    text = f"{number:+.3f}"
    return text[1:] if float(text) == 0 else text
