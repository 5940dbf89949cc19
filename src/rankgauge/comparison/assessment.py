"""Compare measures on the same runs and queries.

For each measure: the share of pairs of systems with a significant difference (discriminative power), the
size of the differences (PAD), and whether other queries would give the same result (swap rate, split
halves). For two measures: the similarity of their rankings of the systems, and the number of significant
differences that only one of them finds, or that point in opposite directions. For two sets of queries,
or two collections: the share of pairs of systems on which they disagree.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from operator import itemgetter

import numpy as np

from rankgauge.comparison.assessed import ALL, Assessment, MeasureAssessment, definitions_of
from rankgauge.comparison.consistency import split_halves
from rankgauge.comparison.design import pairs_of, shared_queries
from rankgauge.comparison.inputs import scores_of, takes_scores
from rankgauge.comparison.significance import Pairs, check_correction, correct_p_values, find_test
from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Integer, Number, check_value
from rankgauge.core.notes import Note
from rankgauge.core.policies import (
    DEFAULT_TEST,
    FUZZINESS,
    LEVEL,
    LEVELS,
    MISSING,
    MOST_SAMPLES,
    PERSISTENCE,
    PERSISTENCES,
    SAMPLES,
    SEED,
    SPLITS,
    Missing,
    Progress,
)
from rankgauge.core.records import Value
from rankgauge.core.resampling import SamplingOptions
from rankgauge.core.rounding import ROUNDING, greatest_magnitude
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.evaluation.calls import checked_call
from rankgauge.evaluation.evaluator import Measures
from rankgauge.evaluation.inputs import Qrels, Runs
from rankgauge.measures.around import Aggregate, inner, innermost
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import Scores
from rankgauge.workers import AnyExecutor, Shared, results_of, share

ASSESSED_MEASURES = ("nDCG@10", "v2(nDCG@10)", "AP", "RR")
"""The measures that are assessed by default."""


FORM = "assess(qrels, [run, other], [nDCG @ 10, AP]), or assess(scores)"
"""How `assess` is called."""


@takes_scores
@checked_call(FORM)
def assess(
    qrels: Qrels | Scores,
    runs: Runs | None = None,
    measures: Measures = ASSESSED_MEASURES,
    *,
    sets: Mapping[str, Iterable[str]] | None = None,
    others: Mapping[str, Scores] | None = None,
    pool_cutoffs: bool = False,
    test: str = DEFAULT_TEST,
    correction: str | None = None,
    level: float = LEVEL,
    missing: Missing | None = None,
    splits: int = SPLITS,
    fuzziness: float = FUZZINESS,
    persistence: float = PERSISTENCE,
    samples: int = SAMPLES,
    seed: int = SEED,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """Assess how well each measure discriminates between runs, and how far the measures agree.

    For each measure, the result has the discriminative power (the share of pairs of runs with a
    significant difference), the size of the differences (PAD), and the swap rate (the share of pairs of
    runs that two halves of the queries put in opposite orders). For each pair of measures, it has the
    similarity of their rankings of the runs, and the number of their tests that conflict.

    Call it with scores, `assess(scores)`, or with what `evaluate` takes,
    `assess(qrels, runs, measures)`.

    Parameters
    ----------
    qrels : Scores, or judgments
        The scores of at least two runs, as `evaluate` returns them. Or judgments, in any form that
        `evaluate` takes.
    runs : runs, optional
        The runs, in any form that `evaluate` takes. Required with judgments, not allowed with scores.
    measures : Measure, str, or sequence of these, optional
        The measures, in any form that `evaluate` takes. Not allowed with scores. By default, "nDCG@10",
        "v2(nDCG@10)", "AP" and "RR".
    sets : dict of str to iterable of str, optional
        Sets of query ids, by name. Each set is assessed too, and compared with the others. By default,
        only all queries together are assessed.
    others : dict of str to Scores, optional
        The scores of the same runs and measures on other collections, by name. Each collection is
        assessed too, and compared with the others.
    pool_cutoffs : bool, default False
        Whether to treat a measure at several cutoffs as one measure, as Feng and Karmaker (2023) do. The
        tests at all its cutoffs are counted together, and the means are averaged over the cutoffs. All
        measures must have the same cutoffs.
    test : str, default "paired-t"
        The significance test, as in `compare`.
    correction : str or None, default None
        The correction for multiple comparisons, as in `compare`. For discriminative power, the p-values
        are usually not corrected.
    level : float, default 0.95
        A difference is significant if its p-value is at most 1 − level.
    missing : {"zero", "skip"}, optional
        How to treat queries that some run lacks, as in `compare`. By default, the setting used in
        `evaluate`.
    splits : int, default 1000
        Number of random splits of the queries into halves, for the swap rates. With 0, there are no swap
        rates.
    fuzziness : float, default 0.0
        Two runs count as tied if their means differ by at most `fuzziness` times the larger mean. This
        affects only the swap rates.
    persistence : float, default 0.9
        The persistence of the rank-biased overlap of two rankings of the runs; see `rbo`.
    samples : int, default 10000
        Number of samples, for tests that draw samples.
    seed : int, default 0
        Seed of the random number generator.
    executor : Executor, Client or Workers, optional
        Where to run the work: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads. The result is the same.
    progress : callable, optional
        Called with the name of each measure, once it is assessed.

    Returns
    -------
    Assessment
        The assessments of the measures, with tables and figures.

    Raises
    ------
    RankgaugeError
        If there is only one run, if runs or measures are given with scores, or if judgments are given
        without runs. Also if `sets` has an unknown query, if `others` lacks a run or a measure, or if a
        test or another option has an invalid value.
    MeasureError
        If a measure cannot be parsed, or if neither higher nor lower is better for it.
    InputError
        If the judgments or a run cannot be read.

    Examples
    --------
    >>> values = [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6], [0.1, 0.3, 0.2, 0.5]]
    >>> scores = Scores.from_matrix(values, runs=["a", "b", "c"], measure="AP")
    >>> assessment = assess(scores).parts["all"]["AP"]
    >>> assessment.power, assessment.splits.swap_rate
    (1.0, 0.0)
    """
    find_test(test)
    check_correction(correction)
    check_value("level", level, LEVELS)
    missing = check_value("missing", missing, MISSING, optional=True)
    scores = scores_of(qrels, runs, measures, executor, FORM)
    check_value("fuzziness", fuzziness, Number(0))
    drawing = SamplingOptions.check(samples, seed)
    splits = check_value("splits", splits, Integer(0, MOST_SAMPLES))
    halving = SamplingOptions.check(splits, seed) if splits else None
    check_value("persistence", persistence, PERSISTENCES)
    parts = _parts(scores, sets or {}, others or {})
    first, second, _ = pairs_of(scores.runs, None)
    testing = AssessmentDesign(first, second, test, correction, level, drawing, halving, fuzziness)
    task = _AssessmentTask(testing, missing)
    work = [
        (part, name, shared, columns)
        for part, shared in ((part, share(chosen, executor)) for part, chosen in parts.items())
        for name, columns in _columns(shared.value, pool_cutoffs).items()
    ]
    assessed: dict[str, dict[str, MeasureAssessment]] = {part: {} for part in parts}
    notes: dict[str, list[Note]] = {part: [] for part in parts}
    results = results_of(task, work, executor, itemgetter(1), progress=progress)
    for (part, name, *_), result in results:
        assessed[part][name], remarks = result
        where = None if part == ALL else part
        notes[part] += (replace(note, part=where, measure=name) for note in remarks)
    general = []
    if any((each.means <= 0).any() for measures in assessed.values() for each in measures.values()):
        general.append(Note("meaningless if a mean is 0 or below; use safe_pad", column="pad"))
    zeros = {(inside.direction, inside.range[0] == 0) for inside in map(inner, scores.measures)}
    options = {
        "test": test,
        "correction": correction,
        "level": level,
        "missing": missing,
        "pool_cutoffs": pool_cutoffs,
        "splits": splits,
        "fuzziness": fuzziness,
        "persistence": persistence,
        "samples": drawing.samples,
        "seed": drawing.seed,
    }
    return Assessment(
        runs=scores.runs,
        parts=assessed,
        queries={part: chosen.queries for part, chosen in parts.items()},
        options=options,
        definitions=definitions_of(options),
        notes=(*general, *chain.from_iterable(notes.values())),
        same_zero=len(zeros) < 2,
    )


class AssessmentDesign(Value):
    """A plan for testing which runs a measure discriminates between: the pairs of runs and the test.

    Parameters
    ----------
    first, second : array of int
        The two runs of each pair, as row numbers of the scores.
    test : str, default "paired-t"
        The significance test, as in `compare`.
    correction : str or None, default None
        The correction for multiple comparisons, as in `compare`.
    level : float, default 0.95
        A difference is significant if its p-value is at most 1 − level.
    drawing : SamplingOptions, optional
        The number of samples and their seed, for tests that draw samples. By default, 10,000 samples
        with seed 0.
    halving : SamplingOptions or None, default None
        The number of random splits of the queries into halves, and their seed. None: the queries are
        not split.
    fuzziness : float, default 0.0
        In the split halves, two runs count as tied if their means differ by at most `fuzziness` times
        the larger mean.

    Examples
    --------
    >>> design = AssessmentDesign(first=np.array([0]), second=np.array([1]))
    >>> values = np.array([[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6]])
    >>> design.assessed("AP", [values]).power
    1.0
    """

    __test__ = False  # not one of ours, for pytest

    first: Ints
    second: Ints
    test: str = DEFAULT_TEST
    correction: str | None = None
    level: float = LEVEL
    drawing: SamplingOptions = field(default_factory=SamplingOptions)
    halving: SamplingOptions | None = None
    fuzziness: float = FUZZINESS

    def assessed(
        self, name: str, values: Sequence[Floats], lower: bool = False
    ) -> MeasureAssessment:
        """A measure by the scores of the runs: run × query, once for each of its cutoffs."""
        method = find_test(self.test)
        p, better = [], []
        for each in values:
            pairs = Pairs(each, self.first, self.second, self.level, self.drawing)
            p.append(correct_p_values(method(pairs).p, method, self.correction))
            better.append(np.sign(pairs.difference).astype(np.int64) * (-1 if lower else 1))
        together = values[0] if len(values) == 1 else np.mean(values, axis=0)
        halves = None
        if self.halving is not None:
            halves = split_halves(together, self.first, self.second, self.halving, self.fuzziness)
        return MeasureAssessment(
            name=name,
            queries=together.shape[1],
            means=together.mean(axis=1),
            lower=lower,
            p=np.concatenate(p),
            better=np.concatenate(better),
            alpha=1 - self.level,
            splits=halves,
        )


class _AssessmentTask(Value):
    """The work on each measure."""

    testing: AssessmentDesign
    missing: Missing | None

    def __call__(
        self, item: tuple[str, str, Shared[Scores], Sequence[int]]
    ) -> tuple[MeasureAssessment, list[Note]]:
        part, name, shared, columns = item
        try:
            return self._assess_measure(name, shared.value, columns)
        except RankgaugeError as error:
            if part == ALL:
                raise
            raise RankgaugeError(f"{part}: {error}") from None

    def _assess_measure(
        self, name: str, scores: Scores, columns: Sequence[int]
    ) -> tuple[MeasureAssessment, list[Note]]:
        if len(columns) > 1:  # on the queries for which all these measures are defined
            undefined = np.isnan(scores.values[:, :, columns]).any(axis=2) & scores.present
            kept = ~undefined.any(axis=0)
            if not kept.all():
                scores = scores.select(np.array(scores.queries)[kept].tolist())
        lower = inner(scores.measures[columns[0]]).direction == "lower"
        notes: list[Note] = []
        values = []
        for m in columns:
            scored, remarks = shared_queries(scores, m, self.missing)
            notes += remarks
            values.append(scored)
        assessed = self.testing.assessed(name, values, lower)
        together = values[0] if len(values) == 1 else np.mean(values, axis=0)
        if np.ptp(assessed.means) <= ROUNDING * greatest_magnitude(together):
            notes.append(Note("the same mean for all runs"))
        return assessed, notes


def _parts(
    scores: Scores, sets: Mapping[str, Iterable[str]], others: Mapping[str, Scores]
) -> dict[str, Scores]:
    """The scores on each set of queries and collection, by name."""
    for what, argument in (("sets", sets), ("others", others)):
        if not isinstance(argument, Mapping):
            raise RankgaugeError(f"{what}={argument!r}, expected a dict with names as keys")
    parts = {ALL: scores}
    for name, queries in sets.items():
        _check_new_name(name, parts)
        if isinstance(queries, str | bytes):
            raise RankgaugeError(f"the set {name!r} is a string, expected a list of query ids")
        chosen = list(dict.fromkeys(queries))
        if not chosen:
            raise RankgaugeError(f"the set {name!r} has no queries, expected at least one")
        parts[name] = scores.select(chosen)
    for name, other in others.items():
        _check_new_name(name, parts)
        parts[name] = other.select(runs=scores.runs, measures=scores.measures)
    return parts


def _check_new_name(name: str, parts: Mapping[str, Scores]) -> None:
    if name in parts:
        raise RankgaugeError(f"two sets have the name {name!r}, expected different names")


def _columns(scores: Scores, pool_cutoffs: bool) -> dict[str, list[int]]:
    """The names of what is assessed, each with the numbers of its measures."""
    families: dict[Hashable, list[int]] = {}
    for m, measure in enumerate(scores.measures):
        if inner(measure).direction == "none":
            raise MeasureError(f"{measure} cannot rank systems: neither higher nor lower is better")
        families.setdefault(measure.family if pool_cutoffs else measure, []).append(m)
    named: dict[str, list[int]] = {}
    cutoffs: dict[str, list[float]] = {}
    for members in families.values():
        members.sort(key=lambda m: _cutoff(scores.measures[m]))
        at = [_cutoff(scores.measures[m]) for m in members]
        name = scores.measures[members[0]].at_cutoffs([place for place in at if place < math.inf])
        named[name], cutoffs[name] = members, at
    if len(named) < len(scores.measures):  # tests are counted pair by pair and cutoff by cutoff
        one, *others = cutoffs
        for other in others:
            if cutoffs[other] != cutoffs[one]:
                message = f"{one} and {other} have different cutoffs"
                raise RankgaugeError(f"{message}; to pool cutoffs, all measures need the same ones")
    return named


def _cutoff(measure: Scored | Aggregate) -> float:
    """The cutoff of a measure, or of the measure inside it; infinite if it has none."""
    cutoff: float | None = getattr(innermost(measure), "cutoff", None)
    return math.inf if cutoff is None else cutoff
