"""Is a run better than chance on this query? P-values from random orders of the judged documents."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Labels
from rankgauge.core.checks import check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import LEVEL, LEVELS, SAMPLE_NUMBERS, SAMPLES, SEED, SEEDS
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.rounding import ROUNDING, at_most
from rankgauge.core.seeds import list_seeds
from rankgauge.core.tables import PValue, Table
from rankgauge.data.model import encode
from rankgauge.errors import MeasureError
from rankgauge.evaluation.inputs import Qrels, judgments_of
from rankgauge.measures.around import innermost, ranking_measure
from rankgauge.measures.base import Measure
from rankgauge.measures.labeling import MOST_CELLS
from rankgauge.measures.orders import arrangements
from rankgauge.query_sets.by_chance import compare_with_chance
from rankgauge.query_sets.model import Exclusion, QuerySet
from rankgauge.rankings.alignment import judged_labels
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.scores.model import Scores


class Significance(Result, Record):
    """The p-values of the runs on each query, against random orders of the judged documents.

    Attributes
    ----------
    runs : tuple of str
        The names of the runs.
    queries : tuple of str
        The queries that count.
    scores : array of float, run × query
        The scores of the runs, averaged over the measures.
    expected : array of float
        The expected score of a random order on each query.
    p : array of float, run × query
        The probability that a random order scores at least as well as the run; NaN if the run does not
        count on the query.
    exact : array of bool
        Whether all orders were tried for the query. For other queries, `samples` random orders were
        tried.
    level : float
        A query is informative if the smallest p-value of its runs, times the number of runs, is at
        most 1 − level.
    samples : int
        The number of random orders tried for a query with too many orders to try them all.
    left_out : tuple of Exclusion
        Why queries were excluded, and how many.
    estimated : tuple of Note
        A note for each measure whose expected scores are estimates.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0, "c": 0, "d": 0}, "q2": {"a": 1, "b": 1, "c": 0}}
    >>> run = {"q1": {"a": 2, "b": 1}, "q2": {"c": 2, "b": 1}}
    >>> found = significance(evaluate(qrels, run, "RR"), qrels, level=0.7)
    >>> found.exact.tolist(), found.informative().queries
    ([True, True], ('q1',))
    """

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    scores: Floats
    expected: Floats
    p: Floats
    exact: Bools
    level: float
    samples: int
    left_out: tuple[Exclusion, ...] = ()
    estimated: tuple[Note, ...] = ()

    def query_p(self) -> Floats:
        """For each query the p-value of all runs together (Bonferroni).

        It is the smallest p-value, times the number of runs. It is small if at least one run is better
        than chance.
        """
        counts = np.count_nonzero(~np.isnan(self.p), axis=0)
        least = np.where(np.isnan(self.p), 1.0, self.p).min(axis=0, initial=1.0)
        together: Floats = np.minimum(1.0, least * counts)
        return together

    def informative(self) -> QuerySet:
        """The queries on which at least one run is significantly better than chance."""
        small = np.flatnonzero(at_most(self.query_p(), 1 - self.level))
        chosen = tuple(self.queries[row] for row in small.tolist())
        return QuerySet("informative", chosen, self.left_out)

    def table(self) -> Table:
        """A row for each query and run, with the p-value.

        The row also has the score, and the expected score of a random order.
        """
        rows = [
            (query, run, float(self.scores[r, q]), float(self.expected[q]), PValue(self.p[r, q]))
            for q, query in enumerate(self.queries)
            for r, run in enumerate(self.runs)
            if not math.isnan(self.p[r, q])
        ]
        return Table(
            ("topic", "run", "score", "expected", "p"), tuple(rows), note_texts(self.notes)
        )

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """How many queries are informative, how p-values were computed, and what was excluded."""
        count, all_of = len(self.informative()), count_phrase(len(self.queries), "query")
        share = f"{1 - self.level:.4g}"
        drawn = int(np.count_nonzero(~self.exact))
        notes = [
            Note(
                f"{count:,} of {all_of} {'is' if count == 1 else 'are'} informative: for at least one "
                f"run, p times the number of runs is at most {share}"
            ),
            Note(
                "p: the share of random orders of the judged documents that score at least as well"
            ),
        ]
        if drawn:
            orders = count_phrase(self.samples, "random order")
            text = f"for {{queries}}, p is based on {orders}; for the others, on all orders"
            notes.append(Note(text, count=drawn))
        if drawn and len(self.runs) / (self.samples + 1) > 1 - self.level:
            least = math.ceil(len(self.runs) / (1 - self.level))
            text = f"too few random orders: with {len(self.runs)} runs, no p can be significant"
            notes.append(Note(f"{text}; use {least:,} samples or more"))
        return (*notes, *(left.note for left in self.left_out), *self.estimated)

    def _title(self) -> str:
        runs, queries = (
            count_phrase(len(self.runs), "run"),
            count_phrase(len(self.queries), "query"),
        )
        return f"Significance: {runs}, {queries}"


def significance(
    scores: Scores,
    qrels: Qrels,
    *,
    level: float = LEVEL,
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Significance:
    """Test on each query whether a run is better than a random order of the judged documents.

    The p-value is the share of the orders that score at least as well as the run. If there are at most
    `samples` distinct orders down to the cutoff, all of them are tried. Otherwise, `samples` random
    orders are tried, and the p-value is (k + 1) / (samples + 1) if k of them score at least as well. If
    there are several measures, the score is their mean.

    Parameters
    ----------
    scores : Scores
        The scores of the runs. Higher must be better for all measures, or lower for all measures.
    qrels : judgments
        The judgments that the scores were made with.
    level : float, default 0.95
        A query is informative if the smallest p-value of its runs, times the number of runs, is at
        most 1 − level.
    samples : int, default 10000
        How many random orders are tried for a query.
    seed : int, default 0
        Seed of the random number generator. The orders of a query do not depend on other queries.

    Returns
    -------
    Significance
        The p-value of each run on each query.

    Raises
    ------
    MeasureError
        If the judgments have subtopics and a measure uses them.

    Examples
    --------
    >>> from rankgauge import evaluate
    >>> qrels = {"q1": {"a": 1, "b": 0, "c": 0, "d": 0}, "q2": {"a": 1, "b": 1, "c": 0}}
    >>> run = {"q1": {"a": 2, "b": 1}, "q2": {"c": 2, "b": 1}}
    >>> significance(evaluate(qrels, run, "RR"), qrels).p.tolist()
    [[0.25, 1.0]]
    """
    level = check_value("level", level, LEVELS)
    samples, seed = (
        check_value("samples", samples, SAMPLE_NUMBERS),
        check_value("seed", seed, SEEDS),
    )
    above = compare_with_chance(scores, qrels)
    measures = [ranking_measure(measure) for measure in scores.measures]
    judgments = judgments_of(qrels)
    if judgments.subtopics is not None and any(innermost(m).by_subtopic for m in measures):
        raise MeasureError(
            "p-values cannot be computed for measures with subtopics; use another measure"
        )
    position = {query: row for row, query in enumerate(judgments.queries.texts())}
    judged = judged_labels(judgments, scores.policies.max_grade)
    columns = {query: column for column, query in enumerate(scores.queries)}
    at = np.array([columns[query] for query in above.queries], dtype=np.int64)
    own = scores.values[:, at].mean(axis=2)
    if scores.policies.missing == "skip":
        own = np.where(scores.present[:, at], own, np.nan)
    sign = -1 if measures[0].direction == "lower" else 1
    p, exact = np.full(own.shape, np.nan), np.zeros(len(at), dtype=np.bool_)
    seeds = list_seeds(seed, map(encode, above.queries))
    for q, query in enumerate(above.queries):
        one = judged.take(np.array([position[query]]))
        orders, weights = _score_orders(measures, one, samples, int(seeds[q]))
        p[:, q] = _p_values(orders, weights, sign, own[:, q])
        exact[q] = weights is not None
    return Significance(
        scores.runs,
        above.queries,
        own,
        above.expected,
        p,
        exact,
        level,
        samples,
        above.left_out,
        above.estimated,
    )


def _p_values(orders: Floats, weights: Floats | None, sign: int, values: Floats) -> Floats:
    """For each value the p-value: how likely an order, of these scores, scores at least as well."""
    # An order without a score counts as better: nobody knows that it is not.
    scores = np.where(np.isnan(orders), np.inf, sign * orders)
    ascending = np.argsort(scores)
    finite = np.abs(np.concatenate((orders, values)))
    slack = ROUNDING * float(finite[np.isfinite(finite)].max(initial=0.0))
    place = np.searchsorted(scores[ascending], sign * values - slack, side="left")
    if weights is None:
        p = (len(scores) - place + 1) / (len(scores) + 1)
    else:
        above = np.concatenate((np.cumsum(weights[ascending][::-1])[::-1], [0.0]))
        p = np.minimum(above[place], 1.0)
    return np.where(np.isnan(values), np.nan, p).astype(np.float64)


def _score_orders(
    measures: Sequence[Measure], judged: JudgedLabels, samples: int, seed: int
) -> tuple[Floats, Floats | None]:
    """The scores of orders of one query's judged documents, and the probability of each order.

    The probability is None for random orders.
    """
    labels, depths = judged.labels, [measure.depth for measure in measures]
    places = max((len(labels) if d is None else min(d, len(labels)) for d in depths), default=0)
    kinds, counts = np.unique(labels, return_counts=True)
    prefixes = _prefixes(counts.tolist(), places, samples)
    if prefixes is not None:
        rows, weights = prefixes
        return _mean_scores(measures, judged, kinds[rows]), weights
    generator = np.random.default_rng(seed)
    size = max(1, MOST_CELLS // max(1, len(labels)))
    parts = []
    for start in range(0, samples, size):
        block = np.repeat(labels[None, :], min(size, samples - start), axis=0)
        parts.append(_mean_scores(measures, judged, generator.permuted(block, axis=1)[:, :places]))
    return np.concatenate(parts), None


def _mean_scores(measures: Sequence[Measure], judged: JudgedLabels, orders: Labels) -> Floats:
    """The mean score of each row of labels over the measures."""
    count, places = orders.shape
    lists = Rankings(
        orders.astype(np.int32).ravel(),
        np.arange(count + 1) * places,
        np.zeros(count, dtype=np.int64),
        judged,
    )
    scores: Floats = np.mean([measure.score_each(lists) for measure in measures], axis=0)
    return scores


def _prefixes(counts: Sequence[int], places: int, most: int) -> tuple[Labels, Floats] | None:
    """All different beginnings of orders of some things, with the probability of each beginning.

    There are counts[k] things of each kind k. None if there could be more than `most` beginnings.

    >>> rows, chances = _prefixes([3, 1], 1, 10)
    >>> rows.tolist(), chances.tolist()
    ([[0], [1]], [0.75, 0.25])
    """
    size = sum(counts)
    if places * math.log(max(1, len(counts))) <= math.log(most) + 1e-9:
        every = list(itertools.product(range(len(counts)), repeat=places))
        rows = np.array(every, dtype=np.int32).reshape(len(every), places)
        taken = np.stack([(rows == kind).sum(axis=1) for kind in range(len(counts))], axis=1)
        possible = (taken <= np.array(counts)).all(axis=1)
        rows, taken = rows[possible], taken[possible]
        ways = [
            [math.perm(n, c) for n, c in zip(counts, row, strict=True)] for row in taken.tolist()
        ]
        whole = math.perm(size, places)
        return rows, np.array([math.prod(row) / whole for row in ways])
    orders, left = 1, size
    for count in sorted(counts)[:-1]:
        # C(n, k) is at least (n/k)^k.
        if count * math.log(left / count) > math.log(most) + 1:
            return None
        orders *= math.comb(left, count)
        left -= count
        if orders > most:
            return None
    rows = arrangements(list(counts))[:, :places].astype(np.int32)
    return rows, np.full(len(rows), 1 / len(rows))
