"""The experiment of the UE study on one data set, in one reading: rankings, scores, sets and tests.

Numbers are kept by version, the measure itself, V1 or V2, and by set of queries. A `Parts` has for each
set and version what `assess` would find: the means of the methods and the tests of all pairs of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import TypeAlias

import numpy as np

from rankgauge import Evaluator, Folds, Judgments, RankgaugeError, Run, Scores
from rankgauge.comparison import AssessmentDesign, MeasureAssessment, swap_rate_of
from rankgauge.comparison.assessed import ALL
from rankgauge.comparison.design import pairs_of
from rankgauge.extending import Floats, Ints, OwnPath, Progress, Record, count_phrase, note_texts
from rankgauge.query_sets import (
    ChanceComparison,
    SelectionSize,
    broad,
    compare_with_chance,
    document_splits,
    focused,
    significance,
)
from rankgauge.query_sets.samples import draw_queries
from rankgauge.rankers import cross_validation
from rankgauge.rankers.crossval import SINGLE
from rankgauge.rankings import judged_labels
from rankgauge.workers import AnyExecutor, results_of
from rankgauge_studies.ue.protocol import CASES, FEWEST, Case, DataSet, Protocol, Reading

UNINFORMATIVE, IDEAL, BROAD, FOCUSED = "uninformative", "ideal", "broad", "focused"
TESTED_SETS = (ALL, UNINFORMATIVE, IDEAL)
"""The sets on which methods are tested; on others only their order counts."""
EQUAL_SETS = {UNINFORMATIVE: "uninformative, equal in size", IDEAL: "ideal, equal in size"}
"""The sets that are compared across data sets, of the same size in both."""
BLOCK_SIZE = 20
FACTORS = (3, 10, 30)
"""Factors by which more queries are drawn to see how many would decide the claims."""
LARGER_DRAWS = 40
MOST_DRAWN = 300_000
"""Samples of more queries than these are not drawn."""

Parts: TypeAlias = Mapping[str, Mapping[str, MeasureAssessment]]


class CaseScores(Record):
    """The scores of one case: by version, cutoff × method × query, and the sets of queries as rows."""

    case: Case
    queries: tuple[str, ...]
    values: Mapping[str, Floats]
    above: ChanceComparison
    sets: Mapping[str, Ints]

    def parts(self, testing: AssessmentDesign, rows: Ints | None = None) -> Parts:
        """What `assess` finds on each set. `rows` draws queries, each as often as it is there."""
        parts: dict[str, dict[str, MeasureAssessment]] = {}
        for name, members in self.sets.items():
            chosen = members
            if rows is not None:
                inside = np.zeros(len(self.queries), dtype=bool)
                inside[members] = True
                chosen = rows[inside[rows]]
            if len(chosen) < FEWEST:
                continue
            own = testing if name in TESTED_SETS else None
            parts[name] = {
                version: assess_version(version, values[:, :, chosen], own)
                for version, values in self.values.items()
            }
        return parts


def assess_version(
    version: str, values: Floats, testing: AssessmentDesign | None
) -> MeasureAssessment:
    """A version of a measure, from cutoff × method × query. Without `testing` only means are had."""
    if testing is not None:
        return testing.assessed(version, list(values))
    means, none = values.mean(axis=(0, 2)), np.empty(0)
    counts = none.astype(np.int64)
    return MeasureAssessment(version, values.shape[2], means, False, none, counts, np.nan, None)


class ResampledParts(Record):
    """What was found on a data set, and on drawn queries of it."""

    parts: Parts
    draws: Sequence[Parts] = ()
    larger: Mapping[int, Sequence[Parts]] = field(default_factory=dict)
    """By factor, the results on that many times as many queries."""


class CaseStudy(Record):
    """The results in one case, and how often random parts of the documents disagree.

    `document_swaps` has for each version a swap rate for each split.
    """

    scores: CaseScores
    drawn: ResampledParts
    document_swaps: Mapping[str, Floats]


class Experiment(Record):
    """One data set in one reading."""

    methods: tuple[str, ...]
    chosen: ChosenQueries
    breadth: tuple[int, int]
    """Number of broad and of focused queries, before the two sets are made equal in size."""
    means: Mapping[str, EmptyQueryMeans]
    """By case, the means over all test queries."""
    cases: Mapping[str, CaseStudy]
    notes: tuple[str, ...] = ()


class ChosenQueries(Record):
    """Which test queries are drawn: what is known before anything is trained."""

    queries: tuple[str, ...]
    total: int
    """Number of test queries."""
    without_relevant: int
    """Number of test queries without relevant documents."""
    drawn_without_relevant: int
    """Number of drawn queries without relevant documents."""
    notes: tuple[str, ...] = ()


def choose_queries(
    judgments: Judgments, data: DataSet, reading: Reading, protocol: Protocol
) -> ChosenQueries:
    """Draw the test queries. RankgaugeError where they are too few for the sets that are asked for."""
    counts = judged_labels(judgments).relevant(1).tolist()
    relevant = dict(zip(judgments.queries.texts(), counts, strict=True))
    leave_out = reading.without_relevant == "leave-out"
    pool = [query for query, count in relevant.items() if count or not leave_out]
    what = "test queries with a relevant document" if leave_out else "test queries"
    if len(pool) < FEWEST:
        raise RankgaugeError(f"{what}: {len(pool)}, expected at least {FEWEST}")
    asked, notes = protocol.queries_of(data), []
    if asked is not None and asked > len(pool):
        notes.append(f"{asked:,} queries requested, but only {len(pool):,} {what}: all are used")
    queries = draw_queries(pool, min(asked or len(pool), len(pool)), protocol.seed)
    if reading.informative_by == "difference":
        size = protocol.size(data).size(len(queries))
        sizes = f"{size:,} uninformative and {size:,} ideal queries"
        if size < FEWEST:
            message = f"{sizes}, expected at least {FEWEST} of each; make the sets larger"
            raise RankgaugeError(message)
        if 2 * size > len(queries):
            raise RankgaugeError(
                f"{sizes} of {count_phrase(len(queries), 'query')}: the sets share "
                "queries; make "
                f"them smaller ({data.name}=FOLDS,set=N with N up to {len(queries) // 2:,}, "
                "--set-share or --set-number), or draw more queries"
            )
    return ChosenQueries(
        queries,
        len(relevant),
        sum(not count for count in relevant.values()),
        sum(not relevant[query] for query in queries),
        tuple(notes),
    )


class EmptyQueryMeans(Record):
    """The mean of a measure over all test queries, method × cutoff.

    `as_zero` is with 0 for queries without relevant documents, and `left_out` is without these
    queries.
    """

    as_zero: Floats
    left_out: Floats


class RankedQueries(Record):
    """The runs of the methods on the test queries of all folds."""

    runs: tuple[Run, ...]
    judgments: Judgments
    notes: tuple[str, ...] = ()


def rank(
    folds: Folds,
    data: DataSet,
    reading: Reading,
    protocol: Protocol,
    output: OwnPath,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> RankedQueries:
    """Train the methods on each fold, and rank its test queries. What `output` has is not done again."""
    trained = cross_validation(
        folds,
        protocol.rankers(reading),
        training_queries=protocol.training_of(data),
        seed=protocol.seed,
        output=output,
        executor=executor,
        progress=progress,
    )
    if trained.failed:
        raise RankgaugeError("\n".join(trained.failed))
    runs = tuple(run for run in trained.runs if run.name != SINGLE)
    learned = [note for note in trained.notes if note.detail]
    return RankedQueries(runs, trained.judgments, note_texts(learned))


class PreparedScores(Record):
    """Scores and sets of queries, before the sets of two data sets are made equal in size."""

    scores: dict[str, CaseScores]
    means: dict[str, EmptyQueryMeans]
    breadth: tuple[int, int]


def prepare(
    ranked: RankedQueries,
    chosen: ChosenQueries,
    data: DataSet,
    reading: Reading,
    protocol: Protocol,
) -> PreparedScores:
    """Score the runs, and choose the sets of queries."""
    measures = [
        text
        for case in CASES
        for texts in case.measures(reading, protocol.cutoffs).values()
        for text in texts
    ]
    everywhere = Evaluator(ranked.judgments, measures).scores(list(ranked.runs))
    scores = everywhere.select(chosen.queries)
    by_breadth, breadth = _breadth_sets(ranked.judgments, scores.queries, protocol)
    cases: dict[str, CaseScores] = {}
    means: dict[str, EmptyQueryMeans] = {}
    start, width = 0, len(protocol.cutoffs)
    for case in CASES:
        above, sets = _sets(case, scores, ranked.judgments, data, reading, protocol)
        original = everywhere.values[:, :, start : start + width]
        means[case.name] = EmptyQueryMeans(
            original.mean(axis=1), original[:, everywhere.relevant > 0].mean(axis=1)
        )
        values = {}
        for version in case.rows:
            own = scores.values[:, :, start : start + width]
            values[version] = np.ascontiguousarray(own.transpose(2, 0, 1))
            start += width
        rows = _rows(scores.queries, {**sets, **by_breadth})
        cases[case.name] = CaseScores(case, scores.queries, values, above, rows)
    return PreparedScores(cases, means, breadth)


def _sets(
    case: Case,
    scores: Scores,
    judgments: Judgments,
    data: DataSet,
    reading: Reading,
    protocol: Protocol,
) -> tuple[ChanceComparison, dict[str, Sequence[str]]]:
    """The queries above chance, and the uninformative and the ideal ones."""
    originals = case.measures(reading, protocol.cutoffs)[case.name]
    own = scores.select(measures=originals)
    as_zero = reading.without_relevant == "zero"
    above = compare_with_chance(own, judgments, reading.reb, with_barren=as_zero)
    sets: dict[str, Sequence[str]] = {ALL: scores.queries}
    if reading.informative_by == "significance":
        better = set(significance(own, judgments, seed=protocol.seed).informative().queries)
        sets[UNINFORMATIVE] = [query for query in above.queries if query not in better]
        sets[IDEAL] = [query for query in above.queries if query in better]
    else:
        size = protocol.size(data)
        uninformative = above.uninformative(size, reading.by)
        sets[UNINFORMATIVE] = above.set_of(UNINFORMATIVE, uninformative).queries
        sets[IDEAL] = above.set_of(IDEAL, above.ideal(size, uninformative)).queries
    return above, sets


def _breadth_sets(
    judgments: Judgments, queries: Sequence[str], protocol: Protocol
) -> tuple[dict[str, Sequence[str]], tuple[int, int]]:
    """The broad and the focused queries, equally many, and how many there were of each."""
    there = set(queries)
    share, label = protocol.broad_share, protocol.broad_label
    both = [
        [query for query in chosen if query in there]
        for chosen in (
            broad(judgments, share=share, label=label),
            focused(judgments, share=share, label=label),
        )
    ]
    size = min(map(len, both))
    sets: dict[str, Sequence[str]] = {
        name: draw_queries(chosen, size, protocol.seed)
        for name, chosen in zip((BROAD, FOCUSED), both, strict=True)
    }
    return sets, (len(both[0]), len(both[1]))


def _rows(queries: Sequence[str], sets: Mapping[str, Sequence[str]]) -> dict[str, Ints]:
    place = {query: row for row, query in enumerate(queries)}
    return {
        name: np.array([place[query] for query in chosen], dtype=np.int64)
        for name, chosen in sets.items()
    }


def equalize_sets(prepared: Sequence[PreparedScores], reading: Reading) -> list[PreparedScores]:
    """The same, with sets that have the same size in both data sets."""
    results = []
    for one in prepared:
        cases = {}
        for name, scores in one.scores.items():
            above = scores.above
            sizes = {
                kind: SelectionSize(
                    number=min(len(each.scores[name].sets[kind]) for each in prepared)
                )
                for kind in EQUAL_SETS
            }
            uninformative = above.uninformative(sizes[UNINFORMATIVE], reading.by)
            ideal = above.ideal(sizes[IDEAL], uninformative)
            equal = {
                EQUAL_SETS[UNINFORMATIVE]: above.set_of(UNINFORMATIVE, uninformative).queries,
                EQUAL_SETS[IDEAL]: above.set_of(IDEAL, ideal).queries,
            }
            sets = {**scores.sets, **_rows(scores.queries, equal)}
            cases[name] = replace(scores, sets=sets)
        results.append(replace(one, scores=cases))
    return results


# Tests, drawn queries, and parts of the documents


def study_cases(
    prepared: PreparedScores,
    ranked: RankedQueries,
    reading: Reading,
    protocol: Protocol,
    place: int,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> dict[str, CaseStudy]:
    """The tests on all sets, the same on drawn queries, and how far parts of the documents agree.

    `place` is the number of the data set: the queries of each are drawn by another seed.
    """
    first, second, _ = pairs_of([run.name for run in ranked.runs], None)
    testing = AssessmentDesign(first, second, reading.test, level=protocol.level)
    drawing = QueryDraws(prepared.scores, testing, (protocol.seed, place))
    count = len(next(iter(prepared.scores.values())).queries)
    factors = [factor for factor in FACTORS if factor * count <= MOST_DRAWN]
    blocks = [*sample_blocks(1, protocol.samples)]
    for factor in factors:
        blocks += sample_blocks(factor, min(LARGER_DRAWS, protocol.samples))
    draws: dict[str, dict[int, list[Parts]]] = {
        name: {factor: [] for factor in (1, *factors)} for name in prepared.scores
    }
    for (factor, _), result in results_of(drawing, blocks, executor):
        for name, parts in result.items():
            draws[name][factor] += parts
        if progress is not None and factor == 1:
            progress("drawn queries")
    splitting = _DocumentSplits(ranked, prepared.scores, reading, protocol)
    swaps: dict[str, dict[str, list[float]]] = {
        name: {version: [] for version in scores.case.rows}
        for name, scores in prepared.scores.items()
    }
    for number, rates in results_of(splitting, range(protocol.replicates), executor):
        for (name, version), rate in rates.items():
            swaps[name][version].append(rate)
        if progress is not None:
            progress(f"split {number + 1}")
    return {
        name: CaseStudy(
            scores,
            ResampledParts(scores.parts(testing), draws[name].pop(1), draws[name]),
            {version: np.array(own) for version, own in swaps[name].items()},
        )
        for name, scores in prepared.scores.items()
    }


def sample_blocks(factor: int, samples: int) -> list[tuple[int, range]]:
    """The draws of so many times as many queries as there are, in pieces of work."""
    size = max(1, BLOCK_SIZE // factor)
    starts = range(0, samples, size)
    return [(factor, range(start, min(start + size, samples))) for start in starts]


class QueryDraws(Record):
    """Draws queries with replacement, and assesses the versions on them."""

    scores: dict[str, CaseScores]
    testing: AssessmentDesign
    seed: tuple[int, ...]

    def __call__(self, block: tuple[int, range]) -> dict[str, list[Parts]]:
        drawn_parts: dict[str, list[Parts]] = {name: [] for name in self.scores}
        count = len(next(iter(self.scores.values())).queries)
        factor, numbers = block
        for number in numbers:
            seed = (*self.seed, number) if factor == 1 else (*self.seed, number, factor)
            rows = np.random.default_rng(seed).integers(count, size=factor * count)
            for name, scores in self.scores.items():
                drawn_parts[name].append(scores.parts(self.testing, rows))
        return drawn_parts


class _DocumentSplits(Record):
    """Splits the documents at random, and says how often two parts put methods in opposite orders."""

    ranked: RankedQueries
    scores: dict[str, CaseScores]
    reading: Reading
    protocol: Protocol

    def __call__(self, number: int) -> dict[tuple[str, str], float]:
        seed, ways = self.protocol.seed + number, self.protocol.ways
        measures = {
            (case.name, version): texts
            for case in CASES
            for version, texts in case.measures(self.reading, self.protocol.cutoffs).items()
        }
        texts = [text for own in measures.values() for text in own]
        means: dict[tuple[str, str], list[Floats]] = {which: [] for which in measures}
        queries = next(iter(self.scores.values())).queries
        for part in document_splits(self.ranked.judgments, ways, seed):
            evaluator = Evaluator(part, texts, unjudged="condensed")
            scores = evaluator.scores(list(self.ranked.runs)).select(queries)
            counted = np.ones(len(queries), dtype=bool)
            if self.reading.without_relevant == "leave-out":
                counted = scores.relevant > 0
            values = scores.values[:, counted].mean(axis=1)
            for place, which in enumerate(measures):
                width = len(self.protocol.cutoffs)
                means[which].append(values[:, place * width : (place + 1) * width].mean(axis=1))
        return {
            which: float(
                np.mean(
                    [swap_rate_of(own[a], own[b]) for a in range(ways) for b in range(a + 1, ways)]
                )
            )
            for which, own in means.items()
        }
