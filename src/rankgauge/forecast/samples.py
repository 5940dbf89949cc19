"""Shallow and deep scores of the same runs, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from rankgauge.comparison.design import counted_topics
from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import Note, counted
from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError
from rankgauge.scores.model import Scores

MOST_NAMED = 5
"""How many names an error lists."""


class Sample(Record):
    """Shallow scores of all topics that count, run × topic, and deep scores of some of them.

    `chosen` has the number of each deep topic among `topics`, ascending.
    """

    runs: tuple[str, ...]
    topics: tuple[str, ...]
    shallow: Floats
    deep: Floats
    chosen: Ints
    notes: tuple[Note, ...]

    @classmethod
    def of(cls, shallow: Scores, deep: Scores, topics: Iterable[str] | None) -> Sample:
        """The scores side by side; RankgaugeError if they do not fit together."""
        for name, scores in (("shallow", shallow), ("deep", deep)):
            _check_alone(name, scores)
        _check_runs(shallow.runs, deep.runs)
        deep = deep.select(_deep_topics(shallow, deep, topics), runs=shallow.runs)
        values, counts, notes = counted_topics(shallow, 0)
        deep_values, deep_counts, deep_notes = counted_topics(deep, 0)
        place = {query: number for number, query in enumerate(shallow.queries)}
        where = np.array([place[query] for query in deep.queries], dtype=np.int64)
        counts = counts.copy()
        counts[where[~deep_counts]] = False
        kept = counts[where]
        if not kept.any():
            raise RankgaugeError(
                f"{deep.measures[0]}: no deep topic has a shallow and a deep score for every run, "
                "expected at least one"
            )
        where, deep_values = where[kept], deep_values[:, kept]
        order = np.argsort(where)
        new_place = np.cumsum(counts) - 1
        return cls(
            shallow.runs,
            tuple(shallow.queries[number] for number in np.flatnonzero(counts).tolist()),
            values[:, counts],
            deep_values[:, order],
            new_place[where[order]],
            (*_of_part("shallow", notes), *_of_part("deep", deep_notes)),
        )


def _check_alone(name: str, scores: Scores) -> None:
    """RankgaugeError unless the scores have runs and topics, and one measure, not standardised."""
    if len(scores.measures) != 1:
        measures = ", ".join(map(str, scores.measures[:MOST_NAMED]))
        raise RankgaugeError(
            f"{name}: {counted(len(scores.measures), 'measure')} ({measures}), expected one; choose it: "
            f"{name}.select(measures=['nDCG@100'])"
        )
    if not scores.runs or not scores.queries:
        raise RankgaugeError(f"{name}: no scores, expected at least one run and one topic")
    if scores.policies.standardized is not None:
        raise RankgaugeError(
            f"{name}: standardised scores, expected plain scores; the ratio of deep to shallow scores "
            "means nothing for standardised scores"
        )


def _check_runs(shallow: Sequence[str], deep: Sequence[str]) -> None:
    for name, runs, others in (("shallow", shallow, deep), ("deep", deep, shallow)):
        known = set(others)
        alone = [run for run in runs if run not in known]
        if alone:
            raise RankgaugeError(
                f"only the {name} scores have {_named('run', alone)}, expected the same runs in both"
            )


def _deep_topics(shallow: Scores, deep: Scores, topics: Iterable[str] | None) -> list[str]:
    """The topics whose deep scores are used."""
    if isinstance(topics, str):
        raise RankgaugeError(f"topics={topics!r} is one text, expected a list of topics")
    chosen = list(deep.queries if topics is None else dict.fromkeys(topics))
    if not chosen:
        raise RankgaugeError("topics is empty, expected at least one deep topic")
    for name, scores in (("deep", deep), ("shallow", shallow)):
        known = set(scores.queries)
        unknown = [str(topic) for topic in chosen if topic not in known]
        if unknown:
            raise RankgaugeError(
                f"no {name} scores for {_named('topic', unknown)}; every deep topic needs a shallow and "
                "a deep score"
            )
    return chosen


def _named(thing: str, names: Sequence[str]) -> str:
    """Some names, with their number if there are many: `topic 'q1'`, `8 topics: 'q1', 'q2', …`."""
    texts = ", ".join(repr(name) for name in names[:MOST_NAMED])
    if len(names) == 1:
        return f"{thing} {texts}"
    return f"{counted(len(names), thing)}: {texts}{', …' if len(names) > MOST_NAMED else ''}"


def _of_part(part: str, notes: Iterable[Note]) -> Iterator[Note]:
    return (replace(note, part=part) for note in notes)
