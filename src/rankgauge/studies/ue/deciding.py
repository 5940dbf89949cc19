"""Tables of the statements, and how many queries would decide those that are undecided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from rankgauge.studies.ue.claims import CLAIMS, PrintedClaim, Statement
from rankgauge.studies.ue.experiment import FACTORS
from rankgauge.studies.verdicts import POWER
from rankgauge.tables import Cell, Table


def claim_table(made: Mapping[str, Sequence[Statement]]) -> Table:
    """A row for each reading and statement, with its interval and its verdict."""
    columns = (
        *("reading", "claim", "tables", "data", "measure", "version", "set", "what"),
        *("value", "low", "high", "percent", "limit", "verdict", "queries to decide"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *(reading, each.claim, CLAIMS[each.claim].tables, each.data, each.measure),
            *(each.version, each.where, each.what, *each.amount, each.percent, each.limit),
            each.verdict,
            shown_count(each.needed),
        )
        for reading, own in made.items()
        for each in own
    ]
    return Table(columns, tuple(rows))


MORE = f"over {max(FACTORS)} times as many queries"


def shown_count(needed: float | None) -> Cell:
    if needed is None:
        return None
    return rough(needed) if np.isfinite(needed) else MORE


def rough(number: float) -> int:
    """A number of queries with two digits: more would pretend to know."""
    return int(float(f"{number:.2g}"))


class Undecided(NamedTuple):
    """The undecided statements of a claim in one reading, and what would decide half of them."""

    claim: PrintedClaim
    reading: str
    statements: int
    undecided: int
    growth: float | None
    """How many times as many queries; infinite for more than were tried, None if not known."""
    queries: float | None
    data: str
    """The data set that these queries are of."""


def undecided(made: Mapping[str, Sequence[Statement]]) -> list[Undecided]:
    """For each claim and reading, the undecided statements, and how many queries would decide them."""
    results = []
    for key, claim in CLAIMS.items():
        for reading, own in made.items():
            stated = [each for each in own if each.claim == key]
            left = [each for each in stated if each.verdict == "undecided"]
            known = sorted(
                (each.growth, each.needed, each.data)
                for each in left
                if each.growth is not None and each.needed is not None
            )
            half = known[(len(known) - 1) // 2] if known else (None, None, "")
            results.append(Undecided(claim, reading, len(stated), len(left), *half))
    return [each for each in results if each.statements]


def undecided_words(made: Mapping[str, Sequence[Statement]]) -> str:
    """How many queries would decide half of the undecided statements, claim by claim, in words."""
    found: dict[str, list[Undecided]] = {}
    for each in undecided(made):
        if each.undecided and each.queries is not None:
            found.setdefault(each.claim.short, []).append(each)
    listed, more = [], []
    for claim, own in found.items():
        texts = {each.reading: _needed_words(each) for each in own}
        if set(texts.values()) == {MORE}:
            more.append(claim)
        elif len(set(texts.values())) == 1 and len(own) == len(made):
            listed.append(f"{claim}, {texts[own[0].reading]}")
        else:
            each_reading = (f"{text} in the reading {name}" for name, text in texts.items())
            listed.append(f"{claim}, {' and '.join(each_reading)}")
    sentences = []
    if listed:
        sentences.append(
            "If these queries were like all others, half of the undecided statements of a claim would "
            f"be decided, with a probability of {POWER:.0%}, by: {'; '.join(listed)}."
        )
    if more:
        sentences.append(f"These claims would need {MORE}: {'; '.join(more)}.")
    return " ".join(sentences)


def _needed_words(each: Undecided) -> str:
    if each.queries is None or each.growth is None or not np.isfinite(each.growth):
        return MORE
    return f"{each.growth:g} times as many queries (about {rough(each.queries):,} of {each.data})"


def needed_table(made: Mapping[str, Sequence[Statement]]) -> Table:
    """For each claim and reading, how many queries would decide the statements that are undecided."""
    columns = (
        *("claim", "reading", "statements", "undecided", "times as many queries"),
        *("queries to decide half of them", "data"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *(each.claim.short, each.reading, each.statements, each.undecided),
            int(each.growth) if each.growth and np.isfinite(each.growth) else None,
            shown_count(each.queries),
            each.data,
        )
        for each in undecided(made)
    ]
    return Table(columns, tuple(rows))
