"""Tables of the statements, and how many queries would decide those that are undecided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from rankgauge.extending import Cell, Record, Table
from rankgauge_studies.ue.claims import CLAIMS, PrintedClaim, Statement


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
            count_cell(each.queries_to_decide, each.tried),
        )
        for reading, own in made.items()
        for each in own
    ]
    return Table(columns, tuple(rows))


def format_more_than(tried: int) -> str:
    """That more queries are needed than were tried, in words."""
    return f"over {tried} times as many queries" if tried else "an unknown number of queries"


def count_cell(needed: float | None, tried: int) -> Cell:
    """A number of queries in a table."""
    if needed is None:
        return None
    return round_count(needed) if np.isfinite(needed) else format_more_than(tried)


def round_count(number: float) -> int:
    """A number of queries with two digits: more would pretend to know."""
    return int(float(f"{number:.2g}"))


class UndecidedClaim(Record):
    """The undecided statements of a claim in one reading, and what would decide half of them."""

    claim: PrintedClaim
    reading: str
    statements: int
    undecided: int
    growth: float | None
    """The factor for the number of queries; infinite if above the largest one tried, None if unknown."""
    queries: float | None
    tried: int
    """The largest factor for the number of queries that was tried."""
    data: str
    """The data set that these queries are of."""


def undecided_claims(made: Mapping[str, Sequence[Statement]]) -> list[UndecidedClaim]:
    """For each claim and reading, the undecided statements, and how many queries would decide them."""
    results = []
    for key, claim in CLAIMS.items():
        for reading, own in made.items():
            stated = [each for each in own if each.claim == key]
            left = [
                each
                for each in stated
                if each.verdict == "undecided" and np.isfinite(each.amount.value)
            ]
            known = sorted(
                (each.growth, each.queries_to_decide, each.tried, each.data)
                for each in left
                if each.growth is not None and each.queries_to_decide is not None
            )
            half = known[(len(known) - 1) // 2] if known else (None, None, 0, "")
            results.append(UndecidedClaim(claim, reading, len(stated), len(left), *half))
    return [each for each in results if each.statements]


def undecided_sentences(made: Mapping[str, Sequence[Statement]]) -> str:
    """How many queries would decide half of the undecided statements, claim by claim, in words."""
    found: dict[str, list[UndecidedClaim]] = {}
    for each in undecided_claims(made):
        if each.undecided and each.queries is not None:
            found.setdefault(each.claim.short, []).append(each)
    listed = []
    more: dict[str, list[str]] = {}
    for claim, own in found.items():
        texts = {each.reading: _growth_text(each) for each in own}
        (first, *others) = set(texts.values())
        if not others and not any(np.isfinite(each.growth or 0) for each in own):
            more.setdefault(first, []).append(claim)
        elif not others and len(own) == len(made):
            listed.append(f"{claim}, {first}")
        else:
            each_reading = (f"{text} in the reading {name}" for name, text in texts.items())
            listed.append(f"{claim}, {' and '.join(each_reading)}")
    sentences = []
    if listed:
        sentences.append(
            "If these queries were typical, at least this many would be needed to decide half "
            f"of the undecided statements of a claim: {'; '.join(listed)}."
        )
    for text, claims in more.items():
        sentences.append(f"These claims would need {text}: {'; '.join(claims)}.")
    return " ".join(sentences)


def _growth_text(each: UndecidedClaim) -> str:
    if each.queries is None or each.growth is None or not np.isfinite(each.growth):
        return format_more_than(each.tried)
    return f"{each.growth:g} times as many queries (about {round_count(each.queries):,} of {each.data})"


def query_count_table(made: Mapping[str, Sequence[Statement]]) -> Table:
    """For each claim and reading, how many queries would decide the statements that are undecided."""
    columns = (
        *("claim", "reading", "statements", "undecided", "times as many queries"),
        *("queries to decide half of them", "data"),
    )
    rows: list[tuple[Cell, ...]] = [
        (
            *(each.claim.short, each.reading, each.statements, each.undecided),
            int(each.growth) if each.growth and np.isfinite(each.growth) else None,
            count_cell(each.queries, each.tried),
            each.data,
        )
        for each in undecided_claims(made)
    ]
    return Table(columns, tuple(rows))
