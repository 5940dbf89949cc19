"""Which documents to judge first to decide which of two runs is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record, Value
from rankgauge.core.renamed import renamed_names
from rankgauge.core.results import Result
from rankgauge.core.tables import Table
from rankgauge.distance.algorithms.lists import Lists
from rankgauge.distance.maximized import distance_of
from rankgauge.distance.runs import Distances
from rankgauge.errors import RankgaugeError
from rankgauge.measures.base import Measure
from rankgauge.rankings.lists import JudgedLabels

if not TYPE_CHECKING:
    __getattr__ = renamed_names(__name__)


class AdvisedDocument(NamedTuple):
    """A document to judge.

    `rank_a` and `rank_b` are its ranks in the two runs; None if a run does not have it down to the
    cutoff. `label` is its label in the labeling that gives the greatest difference. `before` is the
    distance on the query before the document is judged. `after` is the distance on the query if it is
    judged not relevant. `left` is then the mean distance over all queries.
    """

    topic: str
    document: str
    rank_a: int | None
    rank_b: int | None
    label: int
    before: float
    after: float
    left: float


class Advice(Result, Value):
    """Documents to judge, most decisive first, and the distance between the runs before and after.

    `mean` is the mean distance over queries now. `left` is the mean distance if all these documents are
    judged not relevant. `left_relevant` is the mean distance if all of them are judged relevant, each
    with its label in the labeling that gives the greatest difference. `exhausted` tells whether there
    are fewer documents than were asked for.
    """

    measure: Measure
    runs: tuple[str, str]
    documents: tuple[AdvisedDocument, ...]
    mean: float
    left: float
    left_relevant: float
    exhausted: bool = False

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Which runs a and b are, and their distance after the documents are judged."""
        documents = count_phrase(len(self.documents), "document")
        names = Note(f"a is {self.runs[0]}, b is {self.runs[1]}")
        if self.exhausted and not self.documents:
            return names, Note("all documents that count are judged; nothing to judge")
        return (
            names,
            Note(
                f"the mean distance is {self.mean:.4f}; after judging {documents}, it is "
                f"{self.left:.4f} if none are relevant and {self.left_relevant:.4f} if all "
                "are"
            ),
        )

    def _title(self) -> str:
        return (
            f"Advice: {count_phrase(len(self.documents), 'document')} to judge, for {self.measure}"
        )

    def table(self) -> Table:
        """Return a table with a row for each document.

        A row has the ranks of the document, the distance on its query before and after it is judged not
        relevant, and the distance that is then left, as the mean over queries.
        """
        return Table(
            ("topic", "document", "rank a", "rank b", "before", "after", "left"),
            tuple((*d[:4], *d[5:]) for d in self.documents),
            note_texts(self.notes),
        )


def advise(distances: Distances, number: int) -> Advice:
    """The documents whose judgment would reduce the distance between two runs most, at most `number`.

    Documents are chosen one by one. On each query, some labeling gives the largest difference. For each
    document that is relevant in this labeling, the method computes how much the difference falls if the
    document is not relevant. The document with the largest fall is chosen and counts as judged not
    relevant, and the distance on its query is recomputed. Documents that are not relevant in such a
    labeling are never chosen, so there may be fewer than `number`. Ties are broken in favor of the first
    document.
    """
    if len(distances.runs) != 2:
        raise RankgaugeError(f"{len(distances.runs)} runs, expected two to choose documents for")
    if number < 0:
        raise RankgaugeError(f"number={number}, expected 0 or more documents")
    measure = distances.measure
    states = [_QueryState.of(measure, topic.lists) for topic in distances._topics]
    values = [state.value for state in states]
    chosen: list[AdvisedDocument] = []
    labels: list[dict[int, int]] = [{} for _ in states]
    for _ in range(number):
        place = int(np.argmax([state.drop for state in states])) if states else -1
        if place < 0 or states[place].drop <= 0:
            break
        state, topic = states[place], distances._topics[place]
        states[place] = _QueryState.of(measure, assign_labels(state.lists, {state.document: 0}))
        labels[place][state.document] = state.label
        pair = state.lists.pair(0, 1)
        at = int(np.searchsorted(pair.documents, state.document))
        before, values[place] = state.value, states[place].value
        chosen.append(
            AdvisedDocument(
                topic.query,
                topic.names[state.document],
                int(pair.first[at]) or None,
                int(pair.second[at]) or None,
                state.label,
                before,
                values[place],
                float(np.mean(values)),
            )
        )
    relevant = [
        distance_of(measure, assign_labels(topic.lists, chosen_labels), 0, 1, topic.names).value
        for topic, chosen_labels in zip(distances._topics, labels, strict=True)
    ]
    mean = distances.mean()
    return Advice(
        measure,
        (distances.runs[0], distances.runs[1]),
        tuple(chosen),
        mean,
        chosen[-1].left if chosen else mean,
        float(np.mean(relevant)) if relevant else mean,
        exhausted=len(chosen) < number,
    )


def assign_labels(lists: Lists, labels: Mapping[int, int]) -> Lists:
    """The same lists, with these labels for unjudged documents, by their numbers."""
    if not labels:
        return lists
    known = lists.labels.copy()
    known[list(labels)] = list(labels.values())
    return replace(
        lists, labels=known, judged=_add_judged_labels(lists.judged, list(labels.values()))
    )


def _add_judged_labels(known: JudgedLabels, labels: list[int]) -> JudgedLabels:
    """The judged labels of a query, and these labels as well."""
    return JudgedLabels.of(
        [*known.labels.tolist(), *labels], pooled=int(known.pooled[0]), max_grade=known.max_grade
    )


class _QueryState(Record):
    """A query: its distance, and its most decisive document.

    `label` is the label of the document in the labeling that gives the distance. `drop` says by how
    much the difference falls if the document is not relevant.
    """

    lists: Lists
    value: float
    document: int
    label: int
    drop: float

    @classmethod
    def of(cls, measure: Measure, lists: Lists) -> _QueryState:
        distance = distance_of(measure, lists, 0, 1, range(len(lists.labels)))
        nothing = cls(lists, distance.value, -1, 0, 0.0)
        if distance.ahead == "neither":
            return nothing
        witness = distance.witness()
        label_of = np.where(lists.free, 0, lists.labels).astype(np.int32)
        for document, label in witness.labels.items():
            label_of[document] = label  # type: ignore[call-overload]
        pair = lists.pair(0, 1)
        relevant = pair.documents[pair.free & (label_of[pair.documents] > 0)]
        if not len(relevant):
            return nothing
        tried = np.repeat(label_of[None, :], len(relevant) + 1, axis=0)
        tried[np.arange(1, len(tried)), relevant] = 0
        whole = replace(
            lists, judged=_add_judged_labels(lists.judged, [witness.others_label] * witness.others)
        )
        ahead, behind = (0, 1) if distance.ahead == "a" else (1, 0)
        difference = whole.scores(measure.score_each, ahead, tried)
        difference -= whole.scores(measure.score_each, behind, tried)
        drop = np.nan_to_num(difference[0] - np.maximum(difference[1:], 0.0), nan=0.0)
        best = int(np.argmax(drop))
        document = int(relevant[best])
        return cls(lists, distance.value, document, int(label_of[document]), float(drop[best]))
