"""Tuning: find the best fusion weights exactly, and estimate their performance on new queries."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.comparison.systems import Comparison, compare
from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Choice, Integer, Kind, Number, check_value, one_of
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import (
    DEFAULT_ABSENT,
    DEFAULT_NORMALIZE,
    LEVEL,
    LEVELS,
    MISSING,
    RRF_K as USUAL_K,
    SEED,
    Absent,
    Missing,
    Progress,
)
from rankgauge.core.records import Record
from rankgauge.core.renamed import renamed_parameters
from rankgauge.core.resampling import SamplingOptions, map_parallel
from rankgauge.errors import RankgaugeError, Unsupported
from rankgauge.evaluation.calls import checked_call
from rankgauge.evaluation.evaluator import Evaluator
from rankgauge.evaluation.inputs import Qrels, Runs
from rankgauge.fusion.mixing import LabeledPool, Mixture
from rankgauge.fusion.normalizations import NORMALIZATIONS
from rankgauge.fusion.pool import Pool, pool_of
from rankgauge.fusion.runs import Fusion, read_runs
from rankgauge.fusion.searches import (
    RRF_K,
    AscentSearch,
    FixedWeights,
    PairSearch,
    ReciprocalSearch,
    Searches,
    Weighting,
    weight_spread,
)
from rankgauge.fusion.tuned import EQUAL, RRF, RRF_TUNED, TUNED, Tuning
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure
from rankgauge.measures.grammar import AnyMeasure
from rankgauge.scores.model import Scores
from rankgauge.space.curves import MARGIN, Curve, Interval, sign_of
from rankgauge.space.lines import mean_of

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor


ALL = "all"
"""All normalizations are tried, and the best one is used."""
FOLDS, REPEATS, SAMPLES, RESTARTS = 5, 20, 1_000, 8
AGGREGATED_NAME = "what the aggregate averages"
TOO_SMALL = 5e-5
"""Optimism below this is treated as none, since it vanishes in four decimals."""
MOST_PARTS = 3
"""Maximum number of intervals with the best value that a note lists."""


@renamed_parameters(test_topics="test_queries")
@checked_call('tune(qrels, [bm25, dense], "nDCG@10")')
def tune(
    qrels: Qrels,
    runs: Runs,
    measure: AnyMeasure = "nDCG@10",
    *,
    normalize: str = DEFAULT_NORMALIZE,
    absent: Absent = DEFAULT_ABSENT,
    missing: Missing = "zero",
    test_queries: Sequence[str] | None = None,
    margin: float = MARGIN,
    folds: int = FOLDS,
    repeats: int = REPEATS,
    samples: int = SAMPLES,
    restarts: int = RESTARTS,
    level: float = LEVEL,
    seed: int = SEED,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Find the best weights for a weighted sum of the scores of several runs.

    For two runs the search is exact: no other weight gives a better mean. For more runs, one weight
    after the other is searched exactly, from several starts. Documents with equal fused scores are
    ordered by id, the greatest first.

    Parameters
    ----------
    qrels : judgments
        The judgments, in any form that `evaluate` takes.
    runs : runs
        At least two runs, in any form that `evaluate` takes.
    measure : Measure or str, default "nDCG@10"
        The measure to tune by, as an object or a name. Measures of subtopics are not supported.
    normalize : str, default "min-max"
        How the scores of each list are made comparable: "min-max", "max", "sum", "z", "rank", "borda"
        or "none" (docs/FUSION.md has the formulas). Or "all", to try every one and keep the best; the
        choice is repeated in each fold.
    absent : {"minimum", "zero", "skip"}, default "minimum"
        The score of a document missing from a list. "minimum": the list's lowest normalized score.
        "zero": 0. "skip": the list is ignored for that document. normalize="borda" accepts only the
        default.
    missing : {"zero", "skip"}, default "zero"
        How to treat queries that some run lacks. "zero": the other runs rank them, and a query that all
        runs lack counts as an empty ranking. "skip": they are left out.
    test_queries : sequence of str, optional
        Held-out queries to test the weights on; `Tuning.cross_validated` is then the mean over them. By
        default, the weights are cross-validated.
    margin : float, default 0.005
        `Tuning.plateau` is the interval of weights whose value is within this margin of the best (two
        runs only).
    folds : int, default 5
        Number of folds of the cross-validation. With fewer queries than folds, each query is a fold.
    repeats : int, default 20
        Number of times the cross-validation is repeated.
    samples : int, default 1000
        Number of samples of the queries for the interval of the best weight (two runs only).
    restarts : int, default 8
        Number of weights from which the search starts (three or more runs only).
    level : float, default 0.95
        Confidence level of the intervals.
    seed : int, default 0
        Seed of the random number generator.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads. The result is the same.
    progress : callable, optional
        Called with the number of each repeat of the cross-validation, once it is done.

    Returns
    -------
    Tuning
        The best weights, their value, and their expected performance on other queries.

    Raises
    ------
    RankgaugeError
        If there are fewer than two runs or several measures, if neither higher nor lower is better for
        the measure, or if it is undefined on the queries to choose by. Also if a test query is not
        judged, or if an option has an invalid value.
    MeasureError
        If `measure` is not a measure.
    Unsupported
        If the measure looks at subtopics.
    InputError
        If the judgments or a run cannot be read, or if a run has a score that is NaN.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1}, "q2": {"c": 1}}
    >>> bm25 = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"d": 2.0, "c": 1.0}}
    >>> dense = {"q1": {"b": 0.9, "a": 0.8}, "q2": {"c": 0.7, "d": 0.1}}
    >>> tuning = tune(qrels, [bm25, dense], "RR")
    >>> tuning.value, tuning.curve.breaks.tolist(), tuning.curve.values.tolist()
    (0.75, [0.5], [0.75, 0.75])
    """
    drawing = SamplingOptions(samples, seed, executor, progress)
    settings = _Settings(
        normalize, absent, missing, test_queries, margin, folds, repeats, restarts, level, drawing
    )
    evaluator = Evaluator(qrels, measure)
    tuned_by = _one_measure(evaluator)
    read = read_runs(runs)
    singles = evaluator.scores(read, failures="raise")
    pool = pool_of(read)
    labeled = LabeledPool.of(pool, evaluator.judgments, evaluator.judged)
    mixtures, refused = _mixtures(pool, labeled, settings)
    design = _Design.of(
        evaluator.queries, np.flatnonzero(labeled.queries_to_keep(missing)), settings
    )
    search: Callable[[Mixture, Measure | Aggregate], PairSearch | AscentSearch] = PairSearch
    if len(read) > 2:
        search = partial(AscentSearch, restarts=settings.restarts, seed=drawing.seed)
    ways = {name: search(each, tuned_by) for name, each in mixtures.items()}
    equal = {name: FixedWeights(each, tuned_by) for name, each in mixtures.items()}
    rrf = ReciprocalSearch(pool, labeled, tuned_by)
    searches = Searches(ways, tuned_by)
    fits = searches.weightings(design.queries)
    chosen = fits[0]
    if np.isnan(chosen.value):
        raise RankgaugeError(
            f"{tuned_by} is undefined on the queries used to choose weights; use another measure"
        )
    by_repeat = design.held_out_scores(searches, drawing)
    single_names = tuple(
        f"{name} (run)" if name in (TUNED, EQUAL, RRF, RRF_TUNED) else name for name in singles.runs
    )
    rrf_searches = Searches({RRF: rrf}, tuned_by)
    everywhere = {
        **{name: singles.values[r, :, 0] for r, name in enumerate(single_names)},
        EQUAL: equal[chosen.normalize].values(()),
        RRF: rrf.values((USUAL_K,)),
    }
    rows = {
        TUNED: by_repeat.mean(axis=0),
        **{name: values[design.evaluation_queries] for name, values in everywhere.items()},
        RRF_TUNED: design.held_out_scores(rrf_searches).mean(axis=0),
    }
    if len(equal) > 1:  # which normalization is part of the choice
        rows[EQUAL] = design.held_out_scores(Searches(equal, tuned_by)).mean(axis=0)
    mixture = mixtures[chosen.normalize]
    curve = spread = None
    way = ways[chosen.normalize]
    if isinstance(way, PairSearch):
        curve = mixture.take(design.queries).segment(*np.eye(2)).curve(tuned_by)
        if len(design.queries) > 1:
            spread = weight_spread(way, design.queries, drawing, level)
    # Evaluated anew, not taken from the curve.
    scores = mixture.values_at(np.array(chosen.weights), inner(tuned_by))
    value = mean_of(scores[design.queries], tuned_by)
    cross = float(np.mean([mean_of(each, tuned_by) for each in by_repeat]))
    k = int(rrf_searches.weightings(design.queries)[0].weights[0])
    comparison = _compare_methods(rows, tuned_by, level)
    notes = (
        *_value_notes(tuned_by, design, value, cross),
        *_difference_notes(tuned_by, comparison, level),
        *_curve_notes(singles.runs[-1], curve, spread, level),
        *_search_notes(fits, refused, len(read), settings, k),
        *_coverage_notes(singles.runs, labeled.lengths, missing),
        *(replace(note, run=run.name) for run in read for note in run.dropped),
    )
    return Tuning(
        runs=singles.runs,
        measure=tuned_by,
        weights=chosen.weights,
        value=value,
        cross_validated=cross,
        normalize=chosen.normalize,
        choices=len(mixtures),
        absent=settings.absent_for(chosen.normalize),
        comparison=comparison,
        level=level,
        baselines={name: mean_of(each, tuned_by) for name, each in rows.items() if name != TUNED},
        fitted={name: mean_of(each[design.queries], tuned_by) for name, each in everywhere.items()},
        singles=single_names,
        k=k,
        curve=curve,
        spread=spread,
        margin=settings.margin,
        queries=tuple(evaluator.queries[topic] for topic in design.queries),
        test_queries=None
        if design.tested is None
        else tuple(evaluator.queries[topic] for topic in design.tested),
        notes=notes,
        _pool=pool,
    )


class _Settings(Record):
    """What `tune` is asked, checked."""

    normalize: str
    absent: Absent
    missing: Missing
    test_queries: Sequence[str] | None
    margin: float
    folds: int
    repeats: int
    restarts: int
    level: float
    drawing: SamplingOptions

    def __post_init__(self) -> None:
        kinds: dict[str, Kind] = {
            "normalize": Choice((ALL, *NORMALIZATIONS)),
            "absent": one_of(Absent),
            "missing": MISSING,
            "level": LEVELS,
            "margin": Number(0),
            "folds": Integer(2),
            "repeats": Integer(1),
            "restarts": Integer(1),
        }
        for name, kind in kinds.items():
            vars(self)[name] = check_value(name, getattr(self, name), kind)
        drawing = self.drawing
        vars(self)["drawing"] = SamplingOptions.check(
            drawing.samples, drawing.seed, drawing.executor, drawing.progress
        )
        if self.normalize != ALL:  # refuses what does not go together
            Fusion.of("wsum", normalize=self.normalize, absent=self.absent)

    def absent_for(self, normalize: str) -> Absent:
        """What documents get that a list lacks; some normalizations give them a score themselves."""
        return DEFAULT_ABSENT if NORMALIZATIONS[normalize].fills else self.absent


def _one_measure(evaluator: Evaluator) -> Measure | Aggregate:
    if len(evaluator.measures) != 1:
        several = ", ".join(map(str, evaluator.measures)) or "no measure"
        raise RankgaugeError(f"{several}: expected a single measure to optimize")
    (tuned_by,) = evaluator.measures
    if inner(tuned_by).direction == "none":
        raise RankgaugeError(
            f"{tuned_by}: neither higher nor lower is better, so it cannot be optimized"
        )
    if inner(tuned_by).by_subtopic:
        raise Unsupported(
            f"{tuned_by} cannot be used for tuning because it uses subtopics; use a measure "
            "of labels only, such as nDCG@10"
        )
    return tuned_by


def _mixtures(
    pool: Pool, labeled: LabeledPool, settings: _Settings
) -> tuple[dict[str, Mixture], dict[str, RankgaugeError]]:
    """Return the scores of the runs under each normalization to try, and why others do not go.

    If all normalizations are to be tried, only those that these scores allow are returned.
    """
    names = list(NORMALIZATIONS) if settings.normalize == ALL else [settings.normalize]
    mixtures, refused = {}, {}
    for name in names:
        try:
            mixtures[name] = Mixture.of(pool, labeled, name, settings.absent_for(name))
        except RankgaugeError as error:
            refused[name] = error
    if not mixtures:
        raise refused[names[0]]
    return mixtures, refused


class _Design(Record):
    """The queries to choose the weights by, and how the choice is tried on other queries.

    It is tried on `tested`, or each time on the `parts` of the queries in turn.
    """

    queries: Ints
    tested: Ints | None
    parts: list[list[Ints]]

    @classmethod
    def of(cls, queries: Sequence[str], kept: Ints, settings: _Settings) -> _Design:
        """The design over the queries that are kept."""
        if not len(kept):
            raise RankgaugeError("no query is answered by every run; use missing='zero'")
        test_queries = settings.test_queries
        if test_queries is None:
            folds, repeats = settings.folds, settings.repeats
            if folds >= len(kept):  # each query is a part, every time
                folds, repeats = len(kept), 1
            orders = (
                np.random.default_rng((settings.drawing.seed, number)).permutation(kept)
                for number in range(repeats)
            )
            parts = [np.array_split(order, folds) for order in orders]
            return cls(kept, None, parts if folds > 1 else [])
        if isinstance(test_queries, str):
            raise RankgaugeError(f"test_queries={test_queries!r}, expected a list of queries")
        place = {queries[topic]: topic for topic in kept.tolist()}
        for topic in test_queries:
            if topic not in place:
                why = "some run lacks it" if topic in queries else "it is not judged"
                raise RankgaugeError(f"test query {topic!r}: {why}; remove it")
        tested = np.unique(np.array([place[topic] for topic in test_queries], dtype=np.int64))
        topics = np.setdiff1d(kept, tested)
        if not len(topics) or not len(tested):
            raise RankgaugeError(
                "all queries are on one side, expected some for tuning and some for testing"
            )
        return cls(topics, tested, [])

    @property
    def evaluation_queries(self) -> Ints:
        """The queries that a choice is tried on."""
        return self.queries if self.tested is None else self.tested

    def held_out_scores(self, searches: Searches, drawing: SamplingOptions | None = None) -> Floats:
        """Return the scores with a choice that the query took no part in, time × query.

        A score is NaN if there is one query alone.
        """
        if self.tested is not None:
            return searches.fit_and_score(self.queries)[None, self.tested]
        if not self.parts:
            return np.full((1, len(self.queries)), np.nan)
        work = partial(self._cross_validate, searches)
        return np.array(
            list(map_parallel(work, range(len(self.parts)), drawing or SamplingOptions()))
        )

    def _cross_validate(self, searches: Searches, repeat: int) -> Floats:
        """The score of each query by weights that were chosen without its part of the queries."""
        scores = np.full(int(self.queries.max()) + 1, np.nan)
        for part in self.parts[repeat]:
            scores[part] = searches.fit_and_score(np.setdiff1d(self.queries, part))[part]
        return scores[self.queries]


def _compare_methods(
    rows: dict[str, Floats], measure: Measure | Aggregate, level: float
) -> Comparison | None:
    """All ways in pairs; None if there is one query alone."""
    values = np.array(list(rows.values()))
    if np.count_nonzero(~np.isnan(values).any(axis=0)) < 2:
        return None
    aggregated = isinstance(measure, Aggregate)
    return compare(
        Scores.from_matrix(
            measure.forward(values) if isinstance(measure, Aggregate) else values,
            runs=list(rows),
            measure=AGGREGATED_NAME if aggregated else str(inner(measure)),
        ),
        correction=None,
        level=level,
    )


def _value_notes(
    measure: Measure | Aggregate, design: _Design, value: float, cross: float
) -> Iterator[Note]:
    """What the values are of, and how far they are too good."""
    mean = str(measure) if isinstance(measure, Aggregate) else f"mean {measure}"
    chosen_on = count_phrase(len(design.queries), "query")
    fitted = f"on the {chosen_on} used for tuning, the best weights score {value:.4f}"
    if design.tested is not None:
        yield Note(
            f"{mean} on the {count_phrase(len(design.tested), 'test query')}; the weights were "
            "chosen on the "
            f"other {chosen_on}",
            column="tuned",
        )
        yield Note(f"{fitted}; test queries may be easier or harder")
    elif not design.parts:
        yield Note("no value: a single query cannot be cross-validated", column="tuned")
        yield Note(fitted)
    else:
        folds, repeats = len(design.parts[0]), count_phrase(len(design.parts), "time")
        yield Note(
            f"{mean} on held-out queries: {folds}-fold cross-validation, {repeats}",
            column="tuned",
        )
        yield Note(f"{fitted}, {_optimism_text(sign_of(measure) * (value - cross))}")


def _optimism_text(optimism: float) -> str:
    """How the value on the tuning queries compares with the cross-validated one."""
    if abs(optimism) < TOO_SMALL:
        return "the same as in the row tuned"
    if optimism < 0:
        return f"{-optimism:.4f} worse than in the row tuned"
    return (
        f"{optimism:.4f} better than in the row tuned; the difference is overfitting: it will not "
        "carry over to new queries"
    )


def _difference_notes(
    measure: Measure | Aggregate, comparison: Comparison | None, level: float
) -> Iterator[Note]:
    """What the difference is, and how sure it is."""
    text = "tuned minus this row"
    if isinstance(measure, Aggregate) and comparison is not None:
        text += "; p of a paired t test of what is averaged, not corrected; there is no interval"
    elif comparison is not None:
        text += (
            f"; {100 * level:.10g}% interval and p of a paired t test over queries, not corrected"
        )
    yield Note(text, column="difference")


def _curve_notes(
    second: str, curve: Curve | None, spread: Interval | None, level: float
) -> Iterator[Note]:
    """Where on the curve the best weights are, and what is at its ends."""
    if curve is None:
        return
    parts = curve.best
    where = ", ".join(f"{part.low:.6g} to {part.high:.6g}" for part in parts[:MOST_PARTS])
    more = len(parts) - MOST_PARTS
    where += f" and {count_phrase(more, 'more interval')}" if more > 0 else ""
    if spread is not None:
        where += f"; in {100 * level:.10g}% of samples of the queries they range from "
        where += f"{spread.low:.3g} to {spread.high:.3g}"
    yield Note(f"the best weights of {second}: {where}")
    first, last = curve.values[[0, -1]].tolist()
    start, after, before, end = (f"{v:.4f}" for v in (curve.start, first, last, curve.end))
    if (start, end) == (after, before):
        yield Note(f"on the tuning queries, weight 0 of {second} gets {start}, and weight 1 {end}")
        return
    yield Note(
        f"on the tuning queries, weight 0 of {second} gets {start} and the next weights get {after}; "
        f"weight 1 gets {end} and the weights before it {before}; at 0 and 1 documents that only one "
        "run has are tied"
    )


def _search_notes(
    fits: Sequence[Weighting],
    refused: dict[str, RankgaugeError],
    runs: int,
    settings: _Settings,
    k: int,
) -> Iterator[Note]:
    """How the runs were mixed, and how the weights were searched."""
    if runs > 2:
        yield Note(
            f"the weights were searched from {count_phrase(settings.restarts, 'start')}, one "
            "run at a time; more starts (restarts) may find better weights"
        )
    name = fits[0].normalize
    text = "scores are not normalized" if name == "none" else f"scores are normalized by {name}"
    if len(fits) > 1:
        values = ", ".join(f"{fit.normalize} {fit.value:.4f}" for fit in fits)
        text += f", the best on the tuning queries: {values}"
    if not NORMALIZATIONS[name].fills:
        text += f"; absent={settings.absent_for(name)} for documents missing from a run"
    yield Note(f"{text}; documents with equal fused scores are ordered by id, descending")
    for other, error in refused.items():
        yield Note(f"{other} was not tried: {error}")
    yield Note(
        f"on the tuning queries, k = {k} is the best of {len(RRF_K)} values", column=RRF_TUNED
    )


def _coverage_notes(runs: Sequence[str], lengths: Ints, missing: Missing) -> Iterator[Note]:
    """Which runs lack judged queries; `lengths` has how many documents they have for each."""
    lacks, nobody = lengths == 0, (lengths == 0).all(axis=1)
    if missing == "skip":
        kind = "{queries} excluded because some run has no documents for them"
        count = int(np.count_nonzero(lacks.any(axis=1)))
        if count:
            yield Note(kind, count=count)
        return
    for name, count in zip(runs, np.count_nonzero(lacks[~nobody], axis=0).tolist(), strict=True):
        if count:
            kind = "no documents for {queries} with judgments; the other runs rank them"
            yield Note(kind, run=name, count=count)
    if nobody.any():
        kind = "no run has documents for {queries} with judgments: they count as empty rankings"
        yield Note(kind, count=int(np.count_nonzero(nobody)))
