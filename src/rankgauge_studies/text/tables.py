"""The tables of the study of texts, from what was computed for each data set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge import kendall_tau_b
from rankgauge.extending import Cell, Note, Table, note_texts
from rankgauge.text import HETEROGENEOUS, HOMOGENEOUS, DocumentKinds
from rankgauge.text.human import Over, percentiles
from rankgauge_studies.text import published
from rankgauge_studies.text.experiment import (
    CORRELATION_LEVELS,
    EVERY_DOCUMENT,
    KIND_CRITERIA,
    KINDS,
    READINGS,
    Change,
    DataSetResult,
    known_mean,
)
from rankgauge_studies.text.protocol import (
    CHANCE,
    CONTEXT,
    EVERY,
    MOST_SIMILAR,
    RANDOM_TOKENS,
    ROUGE,
    SCORE,
    TASK,
    VERSIONS,
    WORDS,
    MetricLabel,
    TextProtocol,
    layer_name,
)
from rankgauge_studies.verdicts import IntervalEstimate, format_number

AVERAGE = "average PAI"
LEVEL_NAMES: Mapping[str, str] = {"systems": "systems", "texts": "texts", "rows": "all outputs"}
"""Descriptions of the levels of correlations."""


def average_increase(changes: Iterable[Change]) -> float:
    """The average of PAI over some changes and the dimensions."""
    return float(known_mean(np.concatenate([change.pai for change in changes])))


def metric_readings(examined: DataSetResult) -> list[tuple[str, str]]:
    """The metrics with each reading of chance, in the order of the study."""
    every = [(label.metric, label.chance) for label in examined.labels.values() if label.chance]
    return list(dict.fromkeys(every))


# The tables of the dissertation


def dissertation_rows(changes: Mapping[str, Change]) -> list[tuple[Cell, ...]]:
    """Return the rows of a table such as 8.1.

    The rows are τ-b of the metric, of V1 and of V2 with each dimension; their PAI; and its average.
    """
    base = changes["v1"].base
    rows: list[tuple[Cell, ...]] = [(SCORE, *base.tolist())]
    rows += [(form, *change.value.tolist()) for form, change in changes.items()]
    rows += [(f"PAI {form}", *change.pai.tolist()) for form, change in changes.items()]
    return [*rows, (AVERAGE, average_increase(changes.values()), *(None for _ in base[1:]))]


class Panel(NamedTuple):
    """What a counterpart of Table 8.1, 8.2, 8.3 or 9.1 is of."""

    systems: str
    over: Over
    metric: str
    chance: str


TABLES = {
    "8.1": (EVERY_DOCUMENT, ""),
    "8.2": (HETEROGENEOUS, "difference"),
    "8.3": (HOMOGENEOUS, "difference"),
    "9.1": (EVERY_DOCUMENT, ""),
}
"""The tables of correlations in the dissertation, and the documents that they are of."""


def panels(
    examined: DataSetResult, asked: TextProtocol, number: str
) -> dict[Panel, list[tuple[Cell, ...]]]:
    """Return the counterparts of a table, over each group of systems and each level.

    The level that the printed table fits comes first. Tables 8.1 to 8.3 have a counterpart for each
    layer, by Algorithm 1 and by tokens in context. Table 9.1 has one for each ROUGE.
    """
    documents, by = TABLES[number]
    if number == "9.1":
        wanted = [(each.name, WORDS.name) for each in ROUGE]
    else:
        layers = map(layer_name, asked.layers)
        wanted = [(layer, each.name) for layer in layers for each in (MOST_SIMILAR, CONTEXT)]
    made = {}
    for systems in examined.data.correlation_groups():
        for over in dict.fromkeys((published.PRINTED_LEVELS[number][0], *CORRELATION_LEVELS)):
            for metric, chance in wanted:
                if changes := examined.changes(metric, chance, systems, documents, by, over):
                    made[Panel(systems, over, metric, chance)] = dissertation_rows(changes)
    return made


def has_printed_numbers(examined: DataSetResult) -> bool:
    """Whether the dissertation has printed numbers of these data."""
    return examined.data.is_summeval and examined.dimensions == published.DIMENSIONS


def short_sentences(examined: DataSetResult, asked: TextProtocol) -> list[str]:
    """By how much V1 and V2 change the agreement with people, in words, with the printed PAI.

    Without ratings there is nothing to say.
    """
    if not examined.correlated:
        return []
    systems = examined.data.correlation_groups()[0]
    count = len(examined.data.groups[systems])
    swap = f"; one swap of two neighbors is {format_number(4 / (count * (count - 1)), 3)}"
    sentences = []
    for name, metrics, chance, number in (
        ("BERTScore", list(map(layer_name, asked.layers)), MOST_SIMILAR.name, "8.1"),
        ("ROUGE", [each.name for each in ROUGE], WORDS.name, "9.1"),
    ):
        if number == "8.1" and not examined.bert:
            continue
        over = published.PRINTED_LEVELS[number][0]
        known = [
            change
            for metric in metrics
            for change in examined.changes(metric, chance, systems, over=over).values()
            if np.isfinite(change.mean)
        ]
        if not known:
            sentences.append(
                f"{examined.name}: {name}: no correlation with human ratings is known."
            )
            continue
        better = sum(percentiles(change.sample_means, asked.level)[0] > 0 for change in known)
        means = [change.mean for change in known]
        own = panels(examined, asked, number)
        averages = [own[Panel(systems, over, metric, chance)][-1][1] for metric in metrics]
        increases = [float(each) for each in averages if isinstance(each, float)]
        how = "are not seen to agree better" if not better else "agree better"
        where = "" if better in (0, len(known)) else f" in {better} of {len(known)} cases"
        printed = f"; printed: {format_number(published.CORRELATIONS[number][2], 2)}"
        sentences.append(
            f"{examined.name}, {count} systems ({systems}): V1 and V2 of {name} {how} with people than "
            f"{name} does{where}. τ-b over {LEVEL_NAMES[over]} changes by "
            f"{format_number(min(means), 3)} to "
            f"{format_number(max(means), 3)}{swap if over == 'systems' else ''}. Average PAI: "
            f"{format_number(min(increases))} to {format_number(max(increases))}"
            f"{printed if has_printed_numbers(examined) else ''}."
        )
    return sentences


def panel_table(examined: DataSetResult, asked: TextProtocol, number: str, encoder: str) -> Table:
    """Return all counterparts of a table, one below the other.

    The printed table comes first where it is of these data.
    """
    rows: list[tuple[Cell, ...]] = []
    bert = number != "9.1"
    every = panels(examined, asked, number)
    if every and has_printed_numbers(examined):
        about = "bertscore" if bert else "ROUGE"
        over = published.PRINTED_LEVELS[number][0]
        where = (
            published.ENCODER if bert else None,
            "12 abstractive, as printed",
            over,
            about,
            None,
        )
        rows += [(*where, *row) for row in published.printed_rows(number)]
    for panel, own in every.items():
        rows += [(encoder if bert else None, *panel, *row) for row in own]
    columns = ("encoder", "systems", "over", "metric", "chance", "row", *examined.dimensions)
    return Table(columns, tuple(rows), (published.PRINTED_LEVELS[number][1],))


def correlation_table(examined: Sequence[DataSetResult]) -> Table:
    """Return a table of τ-b, and of its change by each form of a metric.

    The table has a row for each data set, group of systems, set of documents, metric, reading of
    chance, form and dimension: τ-b with its interval, and the change by the form with its interval,
    and as PAI.
    """
    rows: list[tuple[Cell, ...]] = []
    for each in examined:
        for (systems, documents, kinds_by, over), result in each.correlated.items():
            where = (each.name, systems, " by ".join(filter(None, (documents, kinds_by))), over)
            changes = result.normalized()
            place = {str(form): p for p, (_, form) in enumerate(changes.pairs)}
            parts = (changes.difference, changes.low, changes.high, changes.pai)
            for m, metric in enumerate(result.metrics):
                label = each.labels[str(metric)]
                p = place.get(str(metric))
                for d, dimension in enumerate(result.dimensions):
                    own = [None] * 4 if p is None else [float(part[0, p, d]) for part in parts]
                    ends = [
                        float(part[0, m, d]) for part in (result.values, result.low, result.high)
                    ]
                    rows.append((*where, *label, dimension, *ends, *own))
    columns = (
        *("data", "systems", "documents", "over", "metric", "chance", "form", "dimension"),
        *("tau_b", "low", "high", "change", "change_low", "change_high", "pai"),
    )
    return Table(columns, tuple(rows))


def overview_table(examined: Sequence[DataSetResult]) -> Table:
    """Return a table of how much better V1 and V2 agree with people.

    The table has a row for each data set, metric and reading of chance, over the first group of
    systems: the change by V1 and by V2, as a mean over dimensions, on all documents and on each
    kind, and the average PAI of V1 and V2.
    """
    rows: list[tuple[Cell, ...]] = []
    for each in examined:
        if not each.correlated:
            continue
        systems = each.data.correlation_groups()[0]
        sets = [(EVERY_DOCUMENT, ""), *((kind, "difference") for kind in KINDS)]
        for metric, chance in metric_readings(each):
            cells: list[Cell] = []
            for documents, by in sets:
                cells += _mean_changes(each.changes(metric, chance, systems, documents, by))
            rows.append((each.name, systems, metric, chance, *cells))
    columns = ["data", "systems", "metric", "chance"]
    for text in ("", "het_", "hom_"):
        columns += [f"{text}v1", f"{text}v2", f"{text}PAI"]
    notes = [
        Note(
            (
                "τ-b with human ratings over systems, minus that of the metric; averaged over "
                "dimensions"
            ),
            column="v1, v2",
        ),
        Note("the average of PAI over V1, V2 and the dimensions, in percent", column="PAI"),
        Note("on the most heterogeneous and the most homogeneous documents", column="het_, hom_"),
    ]
    return Table(tuple(columns), tuple(rows), note_texts(notes))


def _mean_changes(changes: Mapping[str, Change]) -> list[Cell]:
    """The mean change by V1 and by V2, and the average PAI of both."""
    if not changes:
        return [None] * 3
    return [*(each.mean for each in changes.values()), average_increase(changes.values())]


def interval_table(examined: DataSetResult, asked: TextProtocol) -> Table:
    """Return a table of τ-b with its interval, over systems, texts and all outputs.

    The rows are the first layer of BERTScore and each ROUGE, and V1 and V2 of these by Algorithm 1
    and by words.
    """
    rows: list[tuple[Cell, ...]] = []
    systems = examined.data.correlation_groups()[0]
    chosen = [(layer_name(asked.layers[0]), MOST_SIMILAR.name)] if examined.bert else []
    chosen += [(each.name, WORDS.name) for each in ROUGE]
    for over in CORRELATION_LEVELS:
        result = examined.correlation(systems, over=over)
        assert result is not None
        place = {examined.labels[str(metric)]: m for m, metric in enumerate(result.metrics)}
        for metric, chance in chosen:
            for form in (SCORE, *VERSIONS):
                m = place[MetricLabel(metric, "" if form == SCORE else chance, form)]
                cells = [
                    IntervalEstimate(
                        *(float(part[0, m, d]) for part in (result.values, result.low, result.high))
                    )
                    for d in range(len(result.dimensions))
                ]
                rows.append((over, metric, form, *(cell.words(2) for cell in cells)))
    return Table(("over", "metric", "form", *examined.dimensions), tuple(rows))


def kinds_table(examined: DataSetResult, asked: TextProtocol) -> Table:
    """Return a table of how much better V1 and V2 agree with people on each kind of document.

    V1 and V2 are of BERTScore by Algorithm 1. The rows cover both readings of what the kinds are.
    """
    systems = examined.data.correlation_groups()[0]
    rows: list[tuple[Cell, ...]] = []
    for by in KIND_CRITERIA:
        for kind in KINDS:
            if examined.correlation(systems, kind, by) is None:
                continue
            for layer in asked.layers:
                name = layer_name(layer)
                changes = examined.changes(name, MOST_SIMILAR.name, systems, kind, by)
                rows.append((by, kind, layer, *_mean_changes(changes)))
    notes = [
        Note(
            "difference: the gap between the scores of the most and the least similar tokens "
            "(Algorithm 2). similarity: how similar the tokens are to the document (section "
            "8.1)",
            column="kinds by",
        ),
        Note("the change of τ-b, averaged over dimensions", column="v1, v2"),
    ]
    return Table(("kinds by", "kind", "layer", "v1", "v2", "PAI"), tuple(rows), note_texts(notes))


# Chance


def chance_table(examined: Sequence[DataSetResult]) -> Table:
    """A row for each data set, metric and reading of chance: the mean score and what chance gets."""
    rows: list[tuple[Cell, ...]] = []
    for each in examined:
        for metric, chance in metric_readings(each):
            numbers = _chance_statistics(each, metric, chance)
            rows.append((each.name, metric, chance, *numbers, READINGS[chance].about))
    notes = [Note("the share of outputs that score below chance", column="below")]
    columns = ("data", "metric", "chance", "score", "expected", "below", "about")
    return Table(columns, tuple(rows), note_texts(notes))


def _chance_statistics(
    examined: DataSetResult, metric: str, chance: str
) -> tuple[float, float, float]:
    """Return the mean score, what chance gets, and the share that scores less than chance.

    All three are of the outputs for which chance is known.
    """
    score = examined.column(MetricLabel(metric, "", SCORE))
    level = examined.column(MetricLabel(metric, chance, CHANCE))
    known = ~np.isnan(level)
    below = float((score < level)[known].mean())
    return float(score[known].mean()), float(level[known].mean()), below


def count_below_random(examined: DataSetResult, metric: str, chance: str) -> tuple[int, int]:
    """On how many documents a reading of chance is below random tokens, and on how many it is known."""
    one, other = (
        examined.column(MetricLabel(metric, name, CHANCE))[0]
        for name in (chance, RANDOM_TOKENS.name)
    )
    known = ~np.isnan(one) & ~np.isnan(other)
    return int((one < other)[known].sum()), int(known.sum())


class TaskRow(NamedTuple):
    """A metric with its own chance, and with one chance for all metrics of the task."""

    data: str
    metric: str
    own_chance: float
    task_chance: float
    own_below: float
    task_below: float
    own_change: float
    task_change: float
    agreement: float


def task_rows(examined: Sequence[DataSetResult], asked: TextProtocol) -> Iterator[TaskRow]:
    """Chapter 11: chance by metric beside chance by task, for each metric."""
    for each in examined:
        systems = next(iter(each.data.correlation_groups()), EVERY)
        bert = layer_name(asked.layers[0])
        chosen = [
            (metric, CONTEXT.name if metric == bert else WORDS.name)
            for metric, chance in metric_readings(each)
            if chance == TASK.name
        ]
        rows = [each.data.texts.systems.index(name) for name in each.data.groups[systems]]
        for metric, own in chosen:
            numbers, changes, means = [], [], []
            for chance in (own, TASK.name):
                numbers.append(_chance_statistics(each, metric, chance))
                known = each.changes(metric, chance, systems)
                changes.append(known["v2"].mean if known else float("nan"))
                values = each.column(MetricLabel(metric, chance, "v2"))
                means.append(np.nanmean(values, axis=1)[rows])
            yield TaskRow(
                data=each.name,
                metric=metric,
                own_chance=numbers[0][1],
                task_chance=numbers[1][1],
                own_below=numbers[0][2],
                task_below=numbers[1][2],
                own_change=changes[0],
                task_change=changes[1],
                agreement=float(kendall_tau_b(*means)),
            )


def task_table(examined: Sequence[DataSetResult], asked: TextProtocol) -> Table:
    """The rows of `task_rows` as a table."""
    notes = [
        Note(
            "own: words of the source for ROUGE, tokens in context for BERTScore. task: "
            "sentences of the source, the same random texts for all metrics"
        ),
        Note("the share of outputs that score below chance", column="below"),
        Note("τ-b of V2 with human ratings minus that of the metric", column="change"),
        Note("τ-b of the two V2 over systems", column="agreement"),
    ]
    return Table(TaskRow._fields, tuple(task_rows(examined, asked)), note_texts(notes))


# Kinds of documents


def document_table(kinds: DocumentKinds) -> Table:
    """Return a table with a row for each document.

    Each row has what the most and the least similar tokens of the document get by each layer, and
    how similar its tokens are to it.
    """
    columns = ["document"]
    for layer in kinds.layers:
        columns += [f"best_to_worst_{layer}", f"worst_to_best_{layer}"]
    both = np.stack([kinds.best_to_worst, kinds.worst_to_best], axis=1).reshape(
        2 * len(kinds.layers), -1
    )
    rows = tuple(
        (name, *both[:, n].tolist(), float(kinds.similarity[n]), float(kinds.spread[n]))
        for n, name in enumerate(kinds.ids)
    )
    return Table((*columns, "similarity", "spread"), rows)
