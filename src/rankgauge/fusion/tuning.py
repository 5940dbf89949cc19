"""Tuning: the best weights of a fusion, found exactly, and what to expect of them on new topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.arrays import Floats, Ints
from rankgauge.checks import Choice, Whole, checked, one_of
from rankgauge.comparison.systems import Comparison, compare
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.model import Run
from rankgauge.evaluation.evaluator import Evaluator, Measures
from rankgauge.evaluation.inputs import Qrels, Runs
from rankgauge.fusion.mixing import LabelledPool, Mixture
from rankgauge.fusion.normalizations import NORMALIZATIONS
from rankgauge.fusion.pool import Pool, pool_of
from rankgauge.fusion.runs import Fusion, read_runs
from rankgauge.fusion.searches import (
    Ascent,
    HeldOut,
    PairSearch,
    ReciprocalSearch,
    Search,
    Weighting,
    best_weighting,
    cross_validated,
    folds_of,
    weight_spread,
)
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.notes import Note, counted, worded
from rankgauge.policies import (
    DEFAULT_ABSENT,
    DEFAULT_NORMALIZE,
    LEVEL,
    LEVELS,
    SEED,
    Absent,
)
from rankgauge.resampling import Drawing, Progress
from rankgauge.results import Result
from rankgauge.scores.model import Scores
from rankgauge.space.curves import Curve, Interval
from rankgauge.space.lines import mean_of
from rankgauge.tables import Cell, PValue, Table

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from matplotlib.figure import Figure

ALL = "all"
"""Every normalisation is tried, and the best one taken."""
MARGIN = 0.005
"""How far below the best the plateau goes."""
FOLDS, REPEATS, SAMPLES = 5, 20, 1_000
TUNED, EQUAL, RRF, RRF_TUNED = "tuned", "equal weights", "rrf", "rrf, k tuned"
SCALED = "what the aggregate averages"
RESTARTS = 8


@dataclass(frozen=True, eq=False, repr=False)
class Tuning(Result):
    """The best weights of several runs: what `tune` found.

    `weights` are those of the runs, which add up to 1, and `value` is the mean of the measure with them,
    on the topics they were chosen on. `cross_validated` is what to expect of weights that are chosen
    this way on topics that were not used to choose them. `optimism` is `value` minus that. For two
    runs, `curve` has the mean for every weight of the second run, `best` the parts of it with the best
    value, `plateau` the part around the weight that is within a margin of the best, and `spread` an
    interval of the best weight over samples of topics.
    """

    runs: tuple[str, ...]
    measure: Measure | Aggregate
    weights: tuple[float, ...]
    value: float
    cross_validated: float
    normalize: str
    absent: Absent
    comparison: Comparison
    baselines: dict[str, float]
    """The mean of each way that needs no tuning, and of rrf with k tuned."""
    singles: tuple[str, ...]
    """What the runs are called in `baselines`."""
    curve: Curve | None
    best: tuple[Interval, ...]
    plateau: Interval | None
    spread: Interval | None
    topics: tuple[str, ...]
    own_weights: Floats
    notes: tuple[Note, ...]
    _pool: Pool = field(repr=False)

    @property
    def optimism(self) -> float:
        """By how much the value on the topics of the choice is too good."""
        return self.value - self.cross_validated

    def run(self, name: str = "fused") -> Run:
        """The runs fused with the best weights."""
        fusion = Fusion.of(
            "wsum", normalize=self.normalize, weights=self.weights, absent=self.absent
        )
        return fusion.fused(self._pool, name)

    def table(self) -> Table:
        """A row for the tuned weights, as cross-validated, and one for each alternative to them."""
        columns = ("way", "mean", "difference", "low", "high", "p")
        rows: list[tuple[Cell, ...]] = [(TUNED, self.cross_validated, None, None, None, None)]
        rows += [(name, self.baselines[name], *self._against(name)) for name in self.baselines]
        return Table(columns, tuple(rows), (self.advice, *worded(self.notes)))

    def _against(self, name: str) -> tuple[float, float, float, PValue]:
        """The difference of the tuned weights to another way, its interval and p.

        Of an aggregate, such as a geometric mean, there is no interval, and p is of what it averages.
        """
        pair = [self.comparison.runs[other] for other in self.comparison.second].index(name)
        low, high, p = (
            float(getattr(self.comparison, end)[0, pair]) for end in ("low", "high", "p")
        )
        if isinstance(self.measure, Aggregate):
            low = high = float("nan")
        return self.cross_validated - self.baselines[name], low, high, PValue(p)

    def topic_table(self) -> Table:
        """A row for each topic: its own best weight of the second run."""
        self._check_two("a best weight of each topic")
        rows = zip(self.topics, self.own_weights.tolist(), strict=True)
        note = "the best weight of a topic alone, which cannot be known for a new topic"
        return Table(("topic", "weight"), tuple(rows), (note,))

    def figure(self) -> Figure:
        """The mean for every weight of the second run, for two runs."""
        from rankgauge.figures.tuning import weight_curve

        self._check_two("a figure")
        assert self.curve is not None
        return weight_curve(
            self.curve.breaks,
            self.curve.values,
            (self.weights[1], self.value),
            self.plateau,
            self.baselines,
            measure=str(self.measure),
            first=self.runs[0],
            second=self.runs[1],
        )

    def _check_two(self, what: str) -> None:
        if self.curve is None:
            raise RankgaugeError(f"{counted(len(self.runs), 'run')}: {what} is for two runs")

    @property
    def advice(self) -> str:
        """What to do, in a sentence."""
        higher = inner(self.measure).direction == "higher"
        best = (max if higher else min)(self.singles, key=lambda name: self.baselines[name])
        gain, low, high, _ = self._against(best)
        take = ", ".join(
            f"{w:.12g} for {name}" for w, name in zip(self.weights, self.runs, strict=True)
        )
        text = f"take {take}"
        if self.plateau is not None:
            text += f"; anything from {self.plateau.low:.2f} to {self.plateau.high:.2f} for "
            text += f"{self.runs[1]} is as good, within {MARGIN}"
        between = "" if np.isnan(low) else f" [{low:+.3f}, {high:+.3f}]"
        text += f"; on new topics expect {gain:+.3f}{between} over {best} alone"
        if not higher:
            text += " (lower is better)"
        return text

    def _title(self) -> str:
        return f"Tuning of {counted(len(self.runs), 'run')} by {self.measure}"


def tune(
    qrels: Qrels,
    runs: Runs,
    measure: Measures = "nDCG@10",
    *,
    normalize: str = DEFAULT_NORMALIZE,
    absent: Absent = DEFAULT_ABSENT,
    test_topics: Sequence[str] | None = None,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    samples: int = SAMPLES,
    restarts: int = RESTARTS,
    level: float = LEVEL,
    seed: int = SEED,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """The weights of runs in a weighted sum of their scores that are best by a measure.

    For two runs the mean of the measure is known for every weight, exactly, so nothing better exists.
    For more runs, one weight after the other is searched exactly, from several starts.

    Parameters
    ----------
    qrels, runs
        As `evaluate` takes them; at least two runs.
    measure
        The measure, or its text.
    normalize
        How the scores of each list are made comparable: min-max, max, sum, z, rank, borda or none; or
        all, to take the best of them, which is chosen anew in each part of the cross-validation.
    absent
        The score of a document in a list that lacks it: the minimum of that list, zero, or skip.
    test_topics
        Topics that take no part in the choice; `cross_validated` is then the mean over these.
    folds, repeats
        The cross-validation: in so many parts, so many times.
    samples
        How many samples of the topics the interval of the best weight is from; for two runs.
    restarts
        From how many weights the search starts; for three or more runs.
    level
        The level of the intervals.
    seed
        The seed of all that is drawn.
    executor
        Does the work of the cross-validation; by default threads. The result is the same.
    progress
        Is called after each repeat of the cross-validation.

    >>> qrels = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> bm25 = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"d": 2.0, "c": 1.0}}
    >>> dense = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"c": 0.7, "d": 0.1}}
    >>> tuning = tune(qrels, [bm25, dense], "RR", folds=2)
    >>> tuning.value, tuning.curve.breaks.tolist(), tuning.curve.values.tolist()
    (0.75, [0.5], [0.75, 0.75])
    """
    checked("normalize", normalize, Choice((ALL, *NORMALIZATIONS)))
    checked("absent", absent, one_of(Absent))
    checked("level", level, LEVELS)
    folds, repeats = checked("folds", folds, Whole(2)), checked("repeats", repeats, Whole(1))
    restarts = checked("restarts", restarts, Whole(1))
    drawing = Drawing.checked(samples, seed)
    evaluator = Evaluator(qrels, measure)
    if len(evaluator.measures) != 1:
        several = ", ".join(map(str, evaluator.measures)) or "no measure"
        raise RankgaugeError(f"{several}: expected one measure to tune by")
    (asked,) = evaluator.measures
    if inner(asked).direction == "none":
        raise RankgaugeError(f"{asked}: neither higher nor lower is better, so nothing is best")
    sign = 1.0 if inner(asked).direction == "higher" else -1.0
    read = read_runs(runs)
    singles = evaluator.scores(read, failures="raise")
    union = pool_of(read)
    labelled = LabelledPool.of(union, evaluator.judgments, evaluator.judged)
    names = list(NORMALIZATIONS) if normalize == ALL else [normalize]
    mixtures = {name: Mixture.of(union, labelled, name, _absent(name, absent)) for name in names}
    ways: dict[str, Search] = {
        name: PairSearch(mixture, asked)
        if len(read) == 2
        else Ascent(mixture, asked, restarts, seed)
        for name, mixture in mixtures.items()
    }
    topics, tested = _split(evaluator.queries, test_topics, folds)
    chosen = best_weighting(ways, topics, sign)
    way, mixture = ways[chosen.normalize], mixtures[chosen.normalize]
    # Evaluated anew, not taken from the curve.
    own_values = mixture.values_at(np.array(chosen.weights), inner(asked))
    rrf: dict[str, Search] = {RRF: ReciprocalSearch(union, labelled, asked)}
    equal = mixture.values_at(np.full(len(read), 1 / len(read)), inner(asked))
    if tested is None:
        parts = folds_of(topics, folds, repeats, seed)
        by_repeat = cross_validated(HeldOut(ways, topics, sign), parts, executor, progress)
        rrf_by_repeat = cross_validated(HeldOut(rrf, topics, sign), parts)
        judged_on = topics
    else:
        by_repeat = own_values[None, tested]
        best_k = best_weighting(rrf, topics, sign)
        rrf_by_repeat = rrf[RRF].values(best_k.weights)[None, tested]
        judged_on = tested
    ways_named = (TUNED, EQUAL, RRF, RRF_TUNED)
    single_names = tuple(f"{name} (run)" if name in ways_named else name for name in singles.runs)
    rows = {
        TUNED: by_repeat.mean(axis=0),
        **{name: singles.values[r, judged_on, 0] for r, name in enumerate(single_names)},
        EQUAL: equal[judged_on],
        RRF: rrf[RRF].values((60,))[judged_on],
        RRF_TUNED: rrf_by_repeat.mean(axis=0),
    }
    comparison = compare(
        Scores.from_matrix(
            [
                asked.forward(each) if isinstance(asked, Aggregate) else each
                for each in rows.values()
            ],
            runs=list(rows),
            measure=SCALED if isinstance(asked, Aggregate) else str(inner(asked)),
        ),
        baseline=[name for name in rows if name != TUNED],
        correction=None,
        level=level,
    )
    cross = float(np.mean([mean_of(each, asked) for each in by_repeat]))
    baselines = {name: mean_of(each, asked) for name, each in rows.items() if name != TUNED}
    value = mean_of(own_values[topics], asked)
    curve = best = plateau = spread = None
    own = np.zeros(0)
    if isinstance(way, PairSearch):
        curve = mixture.take(topics).segment(*np.eye(2)).curve(asked)
        best = tuple(curve.best)
        plateau = next(
            (part for part in curve.within(MARGIN) if part.low <= chosen.weights[1] <= part.high),
            None,
        )
        spread = weight_spread(way, topics, drawing, level)
        own = np.array(
            [way.fitted(np.array([topic]))[0][1] for topic in range(len(evaluator.queries))]
        )
    notes = tuple(
        _about(asked, value, cross, folds, repeats, tested, level, best, spread, curve, chosen)
    )
    return Tuning(
        runs=singles.runs,
        measure=asked,
        weights=chosen.weights,
        value=value,
        cross_validated=cross,
        normalize=chosen.normalize,
        absent=_absent(chosen.normalize, absent),
        comparison=comparison,
        baselines=baselines,
        singles=single_names,
        curve=curve,
        best=best or (),
        plateau=plateau,
        spread=spread,
        topics=evaluator.queries,
        own_weights=own,
        notes=notes,
        _pool=union,
    )


def _absent(normalize: str, absent: Absent) -> Absent:
    """What documents get that a list lacks; some normalisations give them a score themselves."""
    return DEFAULT_ABSENT if NORMALIZATIONS[normalize].fills else absent


def _about(
    measure: Measure | Aggregate,
    value: float,
    cross: float,
    folds: int,
    repeats: int,
    tested: Ints | None,
    level: float,
    best: tuple[Interval, ...] | None,
    spread: Interval | None,
    curve: Curve | None,
    chosen: Weighting,
) -> Iterator[Note]:
    """How the numbers came about, and what not to conclude."""
    how = f"{folds} parts, {repeats} times" if tested is None else "on the test topics"
    yield Note(f"{measure} by weights that were chosen without the topic: {how}", column="tuned")
    yield Note(
        f"the best weights score {value:.4f} on the topics they were chosen on; {value - cross:+.4f} of "
        "it is optimism"
    )
    yield Note(
        f"the mean of tuned minus the mean of the row; {100 * level:.10g}% interval and p of a paired t "
        "test over topics, not corrected",
        column="difference",
    )
    if best and spread is not None and curve is not None:
        parts = ", ".join(f"{part.low:.6g} to {part.high:.6g}" for part in best[:3])
        yield Note(
            f"the best weight of the second run: {parts}; on {100 * level:.10g}% of samples of the "
            f"topics it is from {spread.low:.3g} to {spread.high:.3g}"
        )
        yield Note(
            f"with weight 0 and 1 exactly: {curve.start:.4f} and {curve.end:.4f}; documents that a run "
            "lacks are tied there"
        )
    yield Note(f"scores are normalised by {chosen.normalize}")


def _split(
    queries: Sequence[str], test_topics: Sequence[str] | None, folds: int
) -> tuple[Ints, Ints | None]:
    """The topics to choose by, and those to test on."""
    every = np.arange(len(queries))
    if test_topics is None:
        if len(queries) < folds:
            raise RankgaugeError(
                f"{counted(len(queries), 'topic')} in {folds} parts, expected at least a topic a part"
            )
        return every, None
    place = {query: number for number, query in enumerate(queries)}
    unknown = [topic for topic in test_topics if topic not in place]
    if unknown:
        raise RankgaugeError(f"test topic {unknown[0]!r} is not judged; leave it out")
    tested = np.unique([place[topic] for topic in test_topics])
    topics = np.setdiff1d(every, tested)
    if not len(topics) or not len(tested):
        raise RankgaugeError(
            "all topics on one side, expected some to choose by and some to test on"
        )
    return topics, tested
