"""Tuning: the best weights of a fusion, found exactly, and what to expect of them on new topics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.arrays import Floats, Ints
from rankgauge.checks import Choice, Number, Whole, checked, one_of
from rankgauge.comparison.systems import Comparison, compare
from rankgauge.data.errors import RankgaugeError, Unsupported
from rankgauge.evaluation.evaluator import Evaluator, Measures
from rankgauge.evaluation.inputs import Qrels, Runs
from rankgauge.fusion.mixing import LabelledPool, Mixture
from rankgauge.fusion.normalizations import NORMALIZATIONS
from rankgauge.fusion.pool import Pool, pool_of
from rankgauge.fusion.runs import Fusion, read_runs
from rankgauge.fusion.searches import (
    RRF_K,
    Ascent,
    FixedWeights,
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
from rankgauge.fusion.tuned import EQUAL, RRF, RRF_TUNED, TUNED, Tuning
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.notes import Note, counted
from rankgauge.policies import (
    DEFAULT_ABSENT,
    DEFAULT_NORMALIZE,
    LEVEL,
    LEVELS,
    SEED,
    Absent,
    SharedTopics,
)
from rankgauge.policies import RRF_K as USUAL_K
from rankgauge.rankings.alignment import rows_of
from rankgauge.records import Record
from rankgauge.resampling import Drawing, Progress
from rankgauge.scores.model import Scores
from rankgauge.space.curves import Curve, Interval
from rankgauge.space.lines import mean_of

if TYPE_CHECKING:
    from concurrent.futures import Executor

ALL = "all"
"""Every normalisation is tried, and the best one taken."""
MARGIN = 0.005
"""How far below the best the plateau goes."""
FOLDS, REPEATS, SAMPLES, RESTARTS = 5, 20, 1_000, 8
SCALED = "what the aggregate averages"
TOO_SMALL = 5e-5
"""Less optimism than that is none, with four decimals."""
MOST_PARTS = 3
"""Of so many intervals with the best value the notes say where they are."""


def tune(
    qrels: Qrels,
    runs: Runs,
    measure: Measures = "nDCG@10",
    *,
    normalize: str = DEFAULT_NORMALIZE,
    absent: Absent = DEFAULT_ABSENT,
    missing: SharedTopics = "zero",
    test_topics: Sequence[str] | None = None,
    margin: float = MARGIN,
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
    For more runs, one weight after the other is searched exactly, from several starts. Documents with
    equal fused scores are ordered by id, the greatest first.

    Parameters
    ----------
    qrels, runs
        As `evaluate` takes them; at least two runs.
    measure
        The measure, or its text. Measures of subtopics cannot be followed along the weights.
    normalize
        How the scores of each list are made comparable: min-max, max, sum, z, rank, borda or none; or
        all, to take the best of them, which is chosen anew in each part of the cross-validation.
    absent
        The score of a document in a list that lacks it: the minimum of that list, zero, or skip.
    missing
        Topics that some run lacks. "zero": the other runs rank them, and a topic that all runs lack
        counts as an empty ranking. "intersection": they are left out.
    test_topics
        Topics that take no part in the choice; `cross_validated` is then the mean over these.
    margin
        How far below the best value the plateau goes.
    folds, repeats
        The cross-validation: in so many parts, so many times. With fewer topics than parts, each topic
        is a part.
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
    >>> tuning = tune(qrels, [bm25, dense], "RR")
    >>> tuning.value, tuning.curve.breaks.tolist(), tuning.curve.values.tolist()
    (0.75, [0.5], [0.75, 0.75])
    """
    checked("normalize", normalize, Choice((ALL, *NORMALIZATIONS)))
    checked("absent", absent, one_of(Absent))
    checked("missing", missing, one_of(SharedTopics))
    checked("level", level, LEVELS)
    margin = checked("margin", margin, Number(0))
    folds, repeats = checked("folds", folds, Whole(2)), checked("repeats", repeats, Whole(1))
    restarts = checked("restarts", restarts, Whole(1))
    drawing = Drawing.checked(samples, seed)
    if normalize != ALL:  # refuses what does not go together
        Fusion.of("wsum", normalize=normalize, absent=absent)
    evaluator = Evaluator(qrels, measure)
    asked = _one_measure(evaluator)
    read = read_runs(runs)
    singles = evaluator.scores(read, failures="raise")
    pool = pool_of(read)
    labelled = LabelledPool.of(pool, evaluator.judgments, evaluator.judged)
    mixtures, refused = _mixtures(pool, labelled, normalize, absent)
    answered = rows_of(pool.queries, evaluator.judgments.queries)
    lengths = np.where((answered >= 0)[:, None], pool.lengths[answered], 0)
    kept = np.flatnonzero((lengths > 0).all(axis=1) | (missing == "zero"))
    design = _Design.of(evaluator.queries, kept, test_topics, folds, repeats, seed)

    def search(mixture: Mixture) -> Search:
        if len(read) == 2:
            return PairSearch(mixture, asked)
        return Ascent(mixture, asked, restarts, seed)

    ways = {name: search(mixture) for name, mixture in mixtures.items()}
    equal = {name: FixedWeights(mixture, asked) for name, mixture in mixtures.items()}
    rrf = {RRF: ReciprocalSearch(pool, labelled, asked)}
    sign = 1.0 if inner(asked).direction == "higher" else -1.0
    chosen = best_weighting(ways, design.topics, sign)
    if np.isnan(chosen.value):
        raise RankgaugeError(
            f"{asked} is undefined on the topics to choose by, so nothing is best; take another measure"
        )
    by_repeat = design.held_out(HeldOut(ways, design.topics, sign), executor, progress)
    single_names = tuple(
        f"{name} (run)" if name in (TUNED, EQUAL, RRF, RRF_TUNED) else name for name in singles.runs
    )
    rows = {
        TUNED: by_repeat.mean(axis=0),
        **{name: singles.values[r, design.judged_on, 0] for r, name in enumerate(single_names)},
        EQUAL: design.held_out(HeldOut(equal, design.topics, sign)).mean(axis=0),
        RRF: rrf[RRF].values((USUAL_K,))[design.judged_on],
        RRF_TUNED: design.held_out(HeldOut(rrf, design.topics, sign)).mean(axis=0),
    }
    mixture = mixtures[chosen.normalize]
    curve = spread = None
    if len(read) == 2:
        curve = mixture.take(design.topics).segment(*np.eye(2)).curve(asked)
        way = ways[chosen.normalize]
        assert isinstance(way, PairSearch)
        spread = weight_spread(way, design.topics, drawing, level)
    # Evaluated anew, not taken from the curve.
    value = mean_of(mixture.values_at(np.array(chosen.weights), inner(asked))[design.topics], asked)
    cross = float(np.mean([mean_of(each, asked) for each in by_repeat]))
    k = int(best_weighting(rrf, design.topics, sign).weights[0])
    lacked = np.count_nonzero(lengths == 0, axis=0).tolist()
    notes = (
        *_about_values(asked, design, value, cross, level, sign),
        *_about_curve(singles.runs[-1], curve, spread, level),
        *_about_search(chosen, _absent(chosen.normalize, absent), refused, len(read), restarts, k),
        *_about_topics(dict(zip(singles.runs, lacked, strict=True)), missing),
    )
    return Tuning(
        runs=singles.runs,
        measure=asked,
        weights=chosen.weights,
        value=value,
        cross_validated=cross,
        normalize=chosen.normalize,
        absent=_absent(chosen.normalize, absent),
        comparison=_compared(rows, asked, level),
        level=level,
        baselines={name: mean_of(each, asked) for name, each in rows.items() if name != TUNED},
        singles=single_names,
        k=k,
        curve=curve,
        spread=spread,
        margin=margin,
        topics=tuple(evaluator.queries[topic] for topic in design.topics),
        test_topics=None
        if design.tested is None
        else tuple(evaluator.queries[topic] for topic in design.tested),
        notes=notes,
        _pool=pool,
    )


def _one_measure(evaluator: Evaluator) -> Measure | Aggregate:
    """The measure to tune by."""
    if len(evaluator.measures) != 1:
        several = ", ".join(map(str, evaluator.measures)) or "no measure"
        raise RankgaugeError(f"{several}: expected one measure to tune by")
    (asked,) = evaluator.measures
    if inner(asked).direction == "none":
        raise RankgaugeError(f"{asked}: neither higher nor lower is better, so nothing is best")
    if inner(asked).by_subtopic:
        raise Unsupported(
            f"{asked} cannot be tuned by: it looks at the subtopics of documents, and the weights are "
            "followed by labels alone; take a measure of labels, such as nDCG@10"
        )
    return asked


def _mixtures(
    pool: Pool, labelled: LabelledPool, normalize: str, absent: Absent
) -> tuple[dict[str, Mixture], dict[str, RankgaugeError]]:
    """The scores of the runs under each normalisation to try; of all of them, those that these scores
    allow, and why the others do not go."""
    names = list(NORMALIZATIONS) if normalize == ALL else [normalize]
    mixtures, refused = {}, {}
    for name in names:
        try:
            mixtures[name] = Mixture.of(pool, labelled, name, _absent(name, absent))
        except RankgaugeError as error:
            refused[name] = error
    if not mixtures:
        raise refused[names[0]]
    return mixtures, refused


def _absent(normalize: str, absent: Absent) -> Absent:
    """What documents get that a list lacks; some normalisations give them a score themselves."""
    return DEFAULT_ABSENT if NORMALIZATIONS[normalize].fills else absent


class _Design(Record):
    """The topics to choose the weights by, and how the choice is tried on other topics: on `tested`, or
    each time on the `parts` of the topics in turn."""

    topics: Ints
    tested: Ints | None
    parts: list[list[Ints]]

    @classmethod
    def of(
        cls,
        queries: Sequence[str],
        kept: Ints,
        test_topics: Sequence[str] | None,
        folds: int,
        repeats: int,
        seed: int,
    ) -> _Design:
        """The design over the topics that are kept."""
        if not len(kept):
            raise RankgaugeError("no topic is answered by every run; take missing='zero'")
        if test_topics is None:
            parts = folds_of(kept, min(folds, len(kept)), repeats, seed) if len(kept) > 1 else []
            return cls(kept, None, parts)
        if isinstance(test_topics, str):
            raise RankgaugeError(f"test_topics={test_topics!r}, expected a list of topics")
        place = {queries[topic]: topic for topic in kept.tolist()}
        for topic in test_topics:
            if topic not in place:
                why = "some run lacks it" if topic in queries else "it is not judged"
                raise RankgaugeError(f"test topic {topic!r}: {why}; leave it out")
        tested = np.unique(np.array([place[topic] for topic in test_topics], dtype=np.int64))
        topics = np.setdiff1d(kept, tested)
        if not len(topics) or not len(tested):
            raise RankgaugeError(
                "all topics on one side, expected some to choose by and some to test on"
            )
        return cls(topics, tested, [])

    @property
    def judged_on(self) -> Ints:
        """The topics that a choice is tried on."""
        return self.topics if self.tested is None else self.tested

    def held_out(
        self, work: HeldOut, executor: Executor | None = None, progress: Progress | None = None
    ) -> Floats:
        """Time × topic: the scores with a choice that the topic took no part in; NaN for one topic
        alone."""
        if self.tested is not None:
            return work.fitted_on(self.topics)[None, self.tested]
        if not self.parts:
            return np.full((1, len(self.topics)), np.nan)
        return cross_validated(work, self.parts, executor, progress)


def _compared(
    rows: dict[str, Floats], measure: Measure | Aggregate, level: float
) -> Comparison | None:
    """The tuned weights against each other way; None if there is one topic alone."""
    values = np.array(list(rows.values()))
    if np.count_nonzero(~np.isnan(values).any(axis=0)) < 2:
        return None
    aggregated = isinstance(measure, Aggregate)
    return compare(
        Scores.from_matrix(
            measure.forward(values) if isinstance(measure, Aggregate) else values,
            runs=list(rows),
            measure=SCALED if aggregated else str(inner(measure)),
        ),
        baseline=[name for name in rows if name != TUNED],
        correction=None,
        level=level,
    )


def _about_values(
    measure: Measure | Aggregate,
    design: _Design,
    value: float,
    cross: float,
    level: float,
    sign: float,
) -> Iterator[Note]:
    """What the values are of, and how far they are too good."""
    chosen_on = counted(len(design.topics), "topic")
    fitted = f"on the {chosen_on} of the choice the best weights score {value:.4f}"
    if design.tested is not None:
        yield Note(
            f"mean {measure} on the {counted(len(design.tested), 'test topic')}; the weights were "
            f"chosen on the other {chosen_on}",
            column="tuned",
        )
        yield Note(f"{fitted}; the test topics can be easier or harder")
    elif not design.parts:
        yield Note("no value: one topic alone cannot be cross-validated", column="tuned")
        yield Note(fitted)
    else:
        folds, repeats = len(design.parts[0]), counted(len(design.parts), "time")
        yield Note(
            f"mean {measure} on topics that took no part in the choice: cross-validation in "
            f"{folds} parts, {repeats}",
            column="tuned",
        )
        yield Note(f"{fitted}, {_beside(sign * (value - cross))}")
    yield Note(
        f"the mean of tuned minus the mean of the row; {100 * level:.10g}% interval and p of a paired t "
        "test over topics, not corrected",
        column="difference",
    )


def _beside(optimism: float) -> str:
    """How the value on the topics of the choice compares with the cross-validated one."""
    if abs(optimism) < TOO_SMALL:
        return "the same as the row tuned"
    if optimism < 0:
        return f"{-optimism:.4f} worse than the row tuned"
    return f"{optimism:.4f} better than the row tuned; this difference is optimism"


def _about_curve(
    second: str, curve: Curve | None, spread: Interval | None, level: float
) -> Iterator[Note]:
    """Where on the curve the best weights are, and what is at its ends."""
    if curve is None or spread is None:
        return
    parts = curve.best
    where = ", ".join(f"{part.low:.6g} to {part.high:.6g}" for part in parts[:MOST_PARTS])
    more = len(parts) - MOST_PARTS
    where += f" and {counted(more, 'more interval')}" if more > 0 else ""
    yield Note(
        f"the best weights of {second}: {where}; on {100 * level:.10g}% of samples of the topics they "
        f"are from {spread.low:.3g} to {spread.high:.3g}"
    )
    yield Note(
        f"with weight 0 of {second} the mean is {curve.start:.4f}, with weight 1 {curve.end:.4f}; "
        "right beside it can differ, because documents that a run lacks are tied only at 0 and 1"
    )


def _about_search(
    chosen: Weighting,
    absent: Absent,
    refused: dict[str, RankgaugeError],
    runs: int,
    restarts: int,
    k: int,
) -> Iterator[Note]:
    """How the runs were mixed, and how the weights were searched."""
    if runs > 2:
        yield Note(
            f"the weights were searched from {counted(restarts, 'start')}, one run after the other; "
            "more starts (restarts) can find better weights"
        )
    text = f"scores are normalised by {chosen.normalize}"
    if not NORMALIZATIONS[chosen.normalize].fills:
        text += f"; absent={absent} for documents that a run lacks"
    yield Note(f"{text}; documents with equal fused scores are ordered by id, descending")
    for name, error in refused.items():
        yield Note(f"{name} was not tried: {error}")
    yield Note(
        f"k = {k} is best on the topics of the choice, of {len(RRF_K)} tried", column=RRF_TUNED
    )


def _about_topics(lacked: dict[str, int], missing: SharedTopics) -> Iterator[Note]:
    """Which runs lack judged topics."""
    what = "the other runs rank them" if missing == "zero" else "they are left out"
    for name, count in lacked.items():
        if count:
            yield Note(
                f"has no documents for {{topics}} that are judged; {what}", run=name, count=count
            )
