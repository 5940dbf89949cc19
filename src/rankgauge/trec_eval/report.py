"""The lines that trec_eval prints for a run: its topics, its sums over them, its z-scores.

Version 9.0.8 of 2023 is followed; `compat` names another version to follow where they differ.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from rankgauge.core.arrays import Labels
from rankgauge.data.model import UNJUDGED, Judgments, Run, decode
from rankgauge.native import segments as native
from rankgauge.rankings.alignment import align, judged_labels
from rankgauge.rankings.lists import Rankings, offsets_of
from rankgauge.trec_eval.columns import LEAST, ReportColumn, ReportTopics
from rankgauge.trec_eval.inputs import Inputs, ZScores
from rankgauge.trec_eval.settings import NoCommonTopics, Settings

MISSING_Z = -1_000_000.0
ALL = "all"


def report(inputs: Inputs, settings: Settings) -> Iterator[str]:
    """The lines that trec_eval prints for a run."""
    wanted, reference = inputs.columns, inputs.z_scores
    topics = _topics(inputs.judgments, inputs.run, settings)
    if not topics.ids:
        raise NoCommonTopics("no topic has both results and judgments")
    with np.errstate(all="ignore"):
        table = [list(column.values(topics)) for column in wanted]
    if reference is not None:
        for column, values in zip(wanted, table, strict=True):
            if column.form != "text":
                values[:] = [
                    _z_score(reference, topic, column.name, value)
                    for topic, value in zip(topics.ids, values, strict=True)
                ]
    if settings.per_query:
        for i, topic in enumerate(topics.ids):
            for column, values in zip(wanted, table, strict=True):
                if column.single:
                    yield _line(column, topic, values[i], z=reference is not None)
    if settings.summary:
        for column, values in zip(wanted, table, strict=True):
            total = _total(column, values, topics)
            if total is not None:
                yield _line(column, ALL, total, z=reference is not None)


def _topics(judgments: Judgments, run: Run, settings: Settings) -> ReportTopics:
    """The judged topics in the order of their ids.

    They are the topics of the run. With -c in version 10 they are all judged topics, where a missing
    topic has a list of one unjudged document.
    """
    judged = judged_labels(judgments)
    aligned = align(judgments, run, judged, precision=settings.precision)
    rankings = aligned.rankings.top(settings.most_retrieved)
    if settings.judged_only:
        rankings = rankings.condensed()
    lists = dict(zip(aligned.queries.tolist(), _lists(rankings), strict=True))
    fill = settings.complete and settings.version == 10
    ids = list(judgments.queries)
    chosen = sorted(range(len(ids)) if fill else lists, key=ids.__getitem__)
    bogus = 0 if settings.judged_only or settings.most_retrieved == 0 else 1
    nothing = np.full(bogus, UNJUDGED, dtype=np.int32)
    shown = [lists.get(q, nothing) for q in chosen]
    flat = np.concatenate([np.zeros(0, dtype=np.int32), *shown])
    return ReportTopics(
        settings,
        run,
        [decode(ids[q]) for q in chosen],
        Rankings(
            flat, offsets_of([len(x) for x in shown]), np.array(chosen, dtype=np.int64), judged
        ),
        np.array([q not in lists for q in chosen], dtype=np.bool_),
        judged,
    )


def _lists(rankings: Rankings) -> list[Labels]:
    """The labels of each list."""
    bounds = itertools.pairwise(rankings.offsets.tolist())
    return [rankings.labels[start:end] for start, end in bounds]


def _total(
    column: ReportColumn, values: Sequence[float] | Sequence[str], topics: ReportTopics
) -> float | str | None:
    """The summary of a column, None where it has none."""
    if column.summary == "own":
        return None if column.total is None else column.total(topics)
    numbers = np.array(values, dtype=np.float64)
    total = float(native.segment_sum(numbers, np.array([0, len(numbers)]))[0])
    count = len(topics.all_judged) if topics.settings.complete else len(topics.ids)
    if column.summary == "sum":
        return total
    if column.summary == "mean":
        return total / count
    return float(np.exp((total + (count - len(numbers)) * np.log(LEAST)) / count))


def _line(column: ReportColumn, topic: str, value: float | str, z: bool) -> str:
    if column.form == "text":
        return f"{column.name:<22}\t{topic}\t{value}"
    prefix = "Z" if z else ""
    shown = f"{int(value)}" if column.form == "count" and not z else f"{value:6.4f}"
    return f"{prefix}{column.name:<22}\t{topic}\t{shown}"


def _z_score(reference: ZScores, topic: str, name: str, value: float) -> float:
    mean, deviation = reference.get((topic, name), (np.nan, 0.0))
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING_Z
