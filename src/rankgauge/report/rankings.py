"""The first documents of each run, as the evaluation ordered them, and the bounds of its scores.

Each run is read once. Only its first documents are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, cast, get_args

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import DEFAULT_PRECISION, SEED, AppliedPolicies, ScorePrecision, Ties
from rankgauge.core.records import Record
from rankgauge.core.tables import visible_line
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import RankgaugeError, Unsupported
from rankgauge.evaluation.inputs import Source, label
from rankgauge.measures.around import inner
from rankgauge.measures.average_precision import SumOfPrecisions
from rankgauge.measures.base import Measure
from rankgauge.measures.cumulative_gain import NormalizedDCG
from rankgauge.measures.sets import CountBasedMeasure
from rankgauge.rankings.alignment import Alignment, align, find_moves, judged_labels, locate_run
from rankgauge.rankings.lists import JudgedLabels, offsets_of
from rankgauge.report.content import OmissionLog, means_of, none_if_all_none
from rankgauge.report.page_data import PageNumbers, PageRankings, to_exact_lists
from rankgauge.scores.model import Scores
from rankgauge.workers import outcomes

DEPTH = 10
"""How many first documents of a ranking a report has, unless the caller says otherwise."""

MOST_BOUNDED = 13_000
"""For how many lists bounds are sought one list at a time: about five seconds."""
FAST_MEASURES = (SumOfPrecisions, NormalizedDCG, CountBasedMeasure)
"""Measures whose bounds need one pass over a list. Others try one labeling after the other."""
SLOWDOWN = 100
"""How much longer that takes."""


class Head(Record):
    """What is kept of one run.

    Parameters
    ----------
    run: the first documents of each judged query, in rank order.
    numbers: for each query of `run`, its number in the judgments.
    labels: the label of each document.
    retrieved: how many documents the run has for each of these queries.
    bounds: measure × judged query × 2: the lowest and the highest possible score; NaN if not known.
    """

    run: Run
    numbers: Ints
    labels: Ints
    retrieved: Ints
    bounds: Floats


class Order(TypedDict):
    """How documents are ordered."""

    ties: Ties
    seed: int
    precision: ScorePrecision


class Reader(Record):
    """Reads the head of a run; documents are ordered as in the evaluation.

    `bounded` has the measures whose bounds are computed, and None in place of any other measure.
    """

    judgments: Judgments
    judged: JudgedLabels
    bounded: tuple[Measure | None, ...]
    order: Order
    condensed: bool
    depth: int

    def __call__(self, source: Source) -> Head:
        run = source()
        piece = locate_run(self.judgments, run)
        labels = self.judgments.labels[piece.rows]
        rows = np.arange(len(labels))
        moved = find_moves(piece, labels, **self.order)
        rows[moved.places] = moved.rows
        kept = np.repeat(piece.numbers, np.diff(piece.bounds)) >= 0
        if self.condensed:
            kept &= labels[rows] >= 0
        place = np.repeat(np.arange(len(piece.numbers)), np.diff(piece.bounds))[kept]
        lengths = np.bincount(place, minlength=len(piece.numbers))
        rows = rows[kept]
        rows = rows[np.arange(len(rows)) - offsets_of(lengths)[place] < self.depth]
        known = np.flatnonzero(piece.numbers >= 0)
        lengths = lengths[known]
        ends = offsets_of(np.minimum(lengths, self.depth))
        head = Run(
            run.name,
            run.queries.take(known),
            ends,
            run.documents.take(rows),
            -(np.arange(len(rows)) - np.repeat(ends[:-1], np.diff(ends))).astype(np.float64),
        )
        numbers = piece.numbers[known]
        return Head(head, numbers, labels[rows].astype(np.int64), lengths, self._bounds(piece))

    def _bounds(self, piece: Any) -> Floats:
        """Measure × judged query × 2."""
        bounds = np.full((len(self.bounded), len(self.judged), 2), np.nan)
        if all(measure is None for measure in self.bounded):
            return bounds
        lists = align(self.judgments, piece, self.judged, **self.order)
        lacking = np.setdiff1d(np.arange(len(self.judged)), lists.queries)
        for part in (lists, Alignment.empty(lacking, self.judged)):
            for m, measure in enumerate(self.bounded):
                if measure is None or not len(part.queries):
                    continue
                try:
                    low, high = measure.bounds_each(part.rankings)
                except Unsupported:
                    continue
                bounds[m, part.queries] = np.column_stack((low, high))
        return bounds


def ties_of(policies: AppliedPolicies) -> Ties:
    """How the scores were made where documents have equal scores."""
    if policies.ties not in get_args(Ties):
        raise RankgaugeError(f"ties={policies.ties!r}, expected one of {', '.join(get_args(Ties))}")
    return cast(Ties, policies.ties)


def _measures_to_bound(scores: Scores, left: OmissionLog) -> tuple[Measure | None, ...]:
    """The measures whose bounds are computed: those with a formula, as long as it does not take long."""
    bounded: list[Measure | None] = []
    effort = 0
    for measure in map(inner, scores.measures):
        without = f"The bounds of {measure} for unjudged documents are omitted:"
        if (
            not isinstance(measure, Measure)
            or measure.bounding != "exact"
            or measure.own_ties is not None
        ):
            left.add(f"{without} there is no formula for them.")
            bounded.append(None)
            continue
        lists = 0 if measure.monotone else len(scores.runs) * len(scores.queries)
        own = lists * (1 if isinstance(measure, FAST_MEASURES) else SLOWDOWN)
        if effort + own > MOST_BOUNDED:
            left.add(
                f"{without} they take long to compute; `rankgauge evaluate -m "
                f"'lower({measure})' -m 'upper({measure})'` computes them."
            )
            bounded.append(None)
        else:
            effort += own
            bounded.append(measure)
    return tuple(bounded)


def read_heads(
    scores: Scores, judgments: Judgments, sources: Sequence[Source], depth: int, left: OmissionLog
) -> list[Head]:
    """The first documents of each run of the scores, in the order of the scores.

    RankgaugeError if a run of the scores is not among the sources.

    Parameters
    ----------
    scores: the scores of the runs, whose policies are followed.
    judgments: the judgments that the scores were made with.
    sources: the runs.
    depth: how many first documents are kept.
    left: takes a sentence for each thing that is left out.
    """
    policies = scores.policies
    condensed, ties = policies.unjudged == "condensed", ties_of(policies)
    order: Order = {
        "ties": ties,
        "seed": SEED if policies.seed is None else policies.seed,
        "precision": "single" if policies.precision == "single" else DEFAULT_PRECISION,
    }
    bounded: tuple[Measure | None, ...] = (None,) * len(scores.measures)
    if not condensed and ties != "expected" and policies.standardized is None:
        bounded = _measures_to_bound(scores, left)
    judged = judged_labels(judgments, policies.max_grade)
    reader = Reader(judgments, judged, bounded, order, condensed, depth)
    heads: dict[str, Head] = {}
    failed: dict[str, Exception] = {}
    for source, result in outcomes(reader, sources, None, label):
        if isinstance(result, Head):
            heads[result.run.name] = result
        else:
            failed[label(source)] = result
    for name in scores.runs:
        if name not in heads:
            raise failed.get(name) or RankgaugeError(
                f"the scores have a run {name!r}, which is not among the given runs"
            )
    return [heads[name] for name in scores.runs]


def query_rows(scores: Scores, judgments: Judgments) -> Ints:
    """For each query of the scores, its number in the judgments; RankgaugeError if it has none."""
    number = {query: row for row, query in enumerate(judgments.queries.texts())}
    for query in scores.queries:
        if query not in number:
            raise RankgaugeError(
                f"the scores have a query {query!r}, which the judgments lack; pass the "
                "judgments that the scores come from"
            )
    return np.array([number[query] for query in scores.queries], dtype=np.int64)


def bounds_of(
    scores: Scores, heads: Sequence[Head], rows: Ints
) -> list[list[PageNumbers] | None] | None:
    """Measure × run × 2: the mean, were each unjudged document labeled for the worst, and for the best.

    None for a measure without a formula, and None in place of everything if no measure has one.
    """
    every = np.array([head.bounds for head in heads])[:, :, rows]  # run × measure × query × 2
    parts: list[list[PageNumbers] | None] = []
    for m, measure in enumerate(scores.measures):
        if np.isnan(every[:, m]).all():
            parts.append(None)
            continue
        ends = [means_of(scores, measure, every[:, m, :, side]) for side in (0, 1)]
        parts.append(to_exact_lists(np.column_stack(ends)))
    return none_if_all_none(parts)


class ShownLists(Record):
    """The first documents of all runs as a page has them: documents are named once, by number."""

    depth: int
    documents: list[str]
    ranks: list[int]
    lists: list[list[list[int]]]
    labels: list[dict[str, int]]
    beyond: int

    def data(self, texts: Mapping[str, str] | None, left_texts: int) -> PageRankings:
        """The rankings of the data of a page."""
        return {
            "depth": self.depth,
            "documents": [visible_line(document) for document in self.documents],
            "texts": None if texts is None else [texts.get(each) for each in self.documents],
            "lists": self.lists,
            "labels": self.labels,
            "left": {"documents": self.beyond, "texts": left_texts},
        }


def lists_of(scores: Scores, heads: Sequence[Head], rows: Ints, depth: int) -> ShownLists:
    """The first `depth` documents of each run on each query; `ranks` has the best rank of each."""
    topic_of = {row: topic for topic, row in enumerate(rows.tolist())}
    numbers: dict[str, int] = {}
    ranks: list[int] = []
    labels: list[dict[str, int]] = [{} for _ in scores.queries]
    lists: list[list[list[int]]] = []
    beyond = 0
    for head in heads:
        texts, ends = head.run.documents.texts(), head.run.bounds.tolist()
        own: list[list[int]] = [[] for _ in scores.queries]
        for place, row in enumerate(head.numbers.tolist()):
            if row not in topic_of:
                continue
            topic = topic_of[row]
            start, end = ends[place], min(ends[place + 1], ends[place] + depth)
            beyond += int(head.retrieved[place]) - (end - start)
            for rank, at in enumerate(range(start, end)):
                number = numbers.setdefault(texts[at], len(numbers))
                if number == len(ranks):
                    ranks.append(rank)
                ranks[number] = min(ranks[number], rank)
                own[topic].append(number)
                if head.labels[at] >= 0:
                    labels[topic][str(number)] = int(head.labels[at])
        lists.append(own)
    return ShownLists(depth, list(numbers), ranks, lists, labels, beyond)


def fitting_lists(
    scores: Scores,
    heads: Sequence[Head],
    rows: Ints,
    depth: int | None,
    room: int,
    left: OmissionLog,
) -> ShownLists | None:
    """The lists.

    If no depth was asked for, they are cut to as many documents as fit into `room` bytes; None if not
    even the first documents fit.

    Parameters
    ----------
    scores: the scores of the runs.
    heads: the first documents of each run.
    rows: for each query of the scores, its number in the judgments.
    depth: how many documents to show; None for the usual number, or fewer.
    room: how many bytes there are for the lists.
    left: takes the sentence that says what was left out.
    """
    if depth is not None:
        return lists_of(scores, heads, rows, depth)
    for shown in range(DEPTH, 0, -1):
        lists = lists_of(scores, heads, rows, shown)
        if _size(lists) <= room:
            if shown < DEPTH:
                left.add(
                    f"The rankings are cut to their first {count_phrase(shown, 'document')} "
                    f"instead of {DEPTH} to keep the page small; --depth (in Python, depth=) "
                    "shows more."
                )
            return lists
    left.add(
        "The rankings are omitted to keep the page small; --depth (in Python, depth=) shows them."
    )
    return None


def _size(lists: ShownLists) -> int:
    """About how many bytes the lists take in a page."""
    names = sum(len(document.encode("utf-8", "replace")) + 3 for document in lists.documents)
    width = len(str(len(lists.documents))) + 1
    numbers = sum(len(each) * width + 3 for run in lists.lists for each in run)
    return names + numbers + sum(len(each) * (width + 5) + 3 for each in lists.labels)
