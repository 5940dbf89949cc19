"""Whom people side with where a metric and a normalized form of it disagree: Tables 8.4 and 9.2."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rankgauge.extending import Cell, Note, Table, count_phrase, note_texts
from rankgauge.text import Preferences
from rankgauge_studies.text import published
from rankgauge_studies.text.experiment import READINGS, DataSetResult
from rankgauge_studies.text.protocol import EVERY, EXTRACTIVE, MetricLabel

PRINTED_PAIRS = "5 chosen pairs, as printed"


def preference_table(examined: Sequence[DataSetResult]) -> Table:
    """Return the counterpart of Tables 8.4 and 9.2.

    The table has a row for each data set, group of systems, metric, reading of chance that depends
    on the output, form and dimension.
    """
    rows: list[tuple[Cell, ...]] = []
    for each in examined:
        for systems, label, result in each.preferred:
            if not READINGS[label.chance].depends_on_output:
                continue
            low, high = result.interval
            for d, dimension in enumerate(result.dimensions):
                counts = (result.pairs, result.disagreements, result.win[d], result.lose[d])
                ends = (float(part[d]) for part in (result.win_share, low, high))
                rest = (int(result.tie[d]), int(result.unrated[d]))
                where = (each.name, systems, *label, dimension)
                rows.append((*where, *map(int, counts), *rest, *ends))
    columns = (
        *("data", "systems", "metric", "chance", "form", "dimension", "pairs", "disagreements"),
        *("win", "lose", "tie", "unrated", "win_share", "low", "high"),
    )
    notes = [
        Note(
            "pairs of systems on a document that the metric and the form put in opposite orders",
            column="disagreements",
        ),
        Note(
            "of these, people agree with the form, with the metric, prefer neither, or did "
            "not rate both",
            column="win, lose, tie, unrated",
        ),
        Note(
            "if chance is one number per document, there is no disagreement, so those "
            "readings have no row"
        ),
    ]
    return Table(columns, tuple(rows), note_texts(notes))


def win_table(examined: Sequence[DataSetResult], number: str) -> Table:
    """Return Table 8.4 or 9.2: whether people side with V1 or V2, or with the metric.

    The numbers are in percent: how often people side with V1 or V2, how often with the metric, and
    all other pairs. The printed rows come first. The dimensions that people rated are taken
    together.
    """
    family, forms = published.PREFERENCES[number]
    rows: list[tuple[Cell, ...]] = [
        (None, PRINTED_PAIRS, family.lower(), None, _row_name(form, family), *counts, None, None)
        for form, counts in forms.items()
    ]
    for each in examined:
        for label, result in form_comparisons(each):
            every = result.pairs * len(result.dimensions)
            if not every or not label.metric.startswith(family.lower()):
                continue
            win, lose = int(result.win.sum()), int(result.lose.sum())
            percent = [100 * count / every for count in (win, lose, every - win - lose)]
            share = win / (win + lose) if win + lose else None
            where = (each.name, comparison_text(each), label.metric, label.chance)
            row = (_row_name(label.form, family), *percent, result.disagreements, share)
            rows.append((*where, *row))
    columns = ("data", "pairs", "metric", "chance", "comparison", "win", "lost", "tie")
    notes = [
        Note(
            "percent of all pairs of outputs that were compared. A tie is a pair where both "
            "agree, or where people prefer neither output or were not asked. If each pair of "
            "systems has the same number of texts, this is the average over pairs of systems",
            column="win, lost, tie",
        ),
        Note("the share of wins among wins and losses", column="win_share"),
        Note(
            "if chance is one number per document, there is no disagreement, so those "
            "readings have no row"
        ),
        Note(
            "as printed: the outputs, the votes and the chance behind these rows are not published"
        ),
    ]
    return Table((*columns, "disagreements", "win_share"), tuple(rows), note_texts(notes))


def _row_name(form: str, family: str) -> str:
    return f"{form.upper()} vs {family}"


def comparison_group(examined: DataSetResult) -> str:
    """Return the group of systems whose outputs people compare.

    These are the systems of the chosen or judged pairs, or else the systems that extract, where
    they are known.
    """
    groups = examined.data.preference_groups()
    if EVERY not in groups:
        return next(iter(groups))
    return EXTRACTIVE if EXTRACTIVE in groups else EVERY


def form_comparisons(examined: DataSetResult) -> Iterator[tuple[MetricLabel, Preferences]]:
    """Yield whom people agree with where a metric and a form of it disagree.

    The comparisons are over the systems that people compare, by the readings of chance that depend
    on the output.
    """
    group = comparison_group(examined)
    for systems, label, result in examined.preferred:
        if systems == group and READINGS[label.chance].depends_on_output:
            yield label, result


def comparison_text(examined: DataSetResult) -> str:
    """The same in words, with the number of pairs if they were chosen."""
    group, pairs = comparison_group(examined), examined.data.pairs
    if pairs:
        return f"{len(pairs)} chosen {'pair' if len(pairs) == 1 else 'pairs'}"
    return group if examined.data.preferences is not None else f"{group} systems"


def preferences_text(examined: DataSetResult) -> str:
    """What people compared, and how, in words."""
    votes = examined.data.preferences
    if votes is None:
        return (
            "People rated each output; of two outputs, they prefer the one with the higher rating."
        )
    who = (
        f" by {count_phrase(len(votes.annotators), 'person', 'people')}" if votes.annotators else ""
    )
    return (
        f"People compared {count_phrase(len(votes.text), 'pair')} of outputs{who}. The output "
        "with the most votes is preferred; without a majority, it is a tie."
    )


def count_constant_disagreements(examined: DataSetResult) -> int:
    """Count how often a form by a constant chance orders two systems unlike the metric does.

    A constant chance is one number for each document. The two systems are compared on a document.
    """
    return sum(
        result.disagreements
        for _, label, result in examined.preferred
        if not READINGS[label.chance].depends_on_output
    )
