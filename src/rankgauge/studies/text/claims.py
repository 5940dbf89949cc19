"""What Feng's dissertation claims about BERTScore and ROUGE, and whether it holds on these data.

Each statement is a number with an interval over documents; `studies.verdicts` says when it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from rankgauge.arrays import Floats
from rankgauge.studies.text.experiment import READINGS, Examined, of_kind
from rankgauge.studies.text.protocol import (
    CONTEXT,
    MOST_SIMILAR,
    ROUGE,
    VERSIONS,
    WORDS,
    MetricLabel,
    TextProtocol,
    layer_name,
)
from rankgauge.studies.text.tables import change_of, compared_systems
from rankgauge.studies.verdicts import Amount, Verdict
from rankgauge.tables import Cell, Table
from rankgauge.text.documents import HETEROGENEOUS, HOMOGENEOUS
from rankgauge.text.human_results import percentiles

UNCHANGED = 0.1
"""A correlation that changes by less is nearly the same."""
LARGE = 0.8
"""A difference of two means is large from so many standard deviations on (Cohen 1988)."""

FEWEST_CASES = 20
"""A share of wins among fewer wins and losses says nothing."""

OfTwoSets: TypeAlias = Callable[[Floats, Floats], Floats]
"""A number of two sets of documents."""

CLAIMS = {
    "bertscore": "V1 and V2 of BERTScore agree better with people than BERTScore does. (Table 8.1)",
    "heterogeneous": "V1 and V2 of BERTScore help more on heterogeneous documents than on homogeneous "
    "ones. (Tables 8.2 and 8.3)",
    "homogeneous": "On homogeneous documents V1 and V2 of BERTScore agree less with people than "
    "BERTScore does. (Table 8.3)",
    "spread": "In heterogeneous documents the similarity of tokens to the document varies more. "
    "(Section 8.1)",
    "preferred bertscore": "Where BERTScore and its V1 or V2 disagree, people agree with V1 or V2. "
    "(Table 8.4)",
    "attention": "Attention does not differ much between the two kinds of documents. (Section 8.6)",
    "attention higher": "Attention has a higher mean and varies more in heterogeneous documents. "
    "(Figure 8.3)",
    "rouge": "V1 and V2 of ROUGE agree with people as ROUGE does. (Table 9.1)",
    "preferred rouge": "Where ROUGE and its V1 or V2 disagree, people agree with V1 or V2. (Table 9.2)",
    "rouge wins more": "V1 and V2 of ROUGE win more of the disagreements than V1 and V2 of BERTScore "
    "do. (Section 9.3)",
}
"""The claims in our words, by key."""


class TextStatement(NamedTuple):
    """One number that a claim says is above 0."""

    claim: str
    data: str
    what: str
    amount: Amount
    digits: int = 3

    @property
    def verdict(self) -> Verdict:
        """Whether the statement holds, does not hold, or is not decided by these documents."""
        return self.amount.verdict

    @property
    def sentence(self) -> str:
        """The statement in words, with its interval and its verdict."""
        return f"{self.data}: {self.what}: {self.amount.words(self.digits)}: {self.verdict}."


def statements(examined: Sequence[Examined], asked: TextProtocol) -> list[TextStatement]:
    """All statements that there is a number for, claim by claim."""
    made = [
        each for data in examined for each in _about(data, asked) if np.isfinite(each.amount.value)
    ]
    order = list(CLAIMS)
    return sorted(made, key=lambda each: order.index(each.claim))


def _about(data: Examined, asked: TextProtocol) -> Iterator[TextStatement]:
    layers = [layer_name(layer) for layer in asked.layers]
    for chance in (MOST_SIMILAR.name, CONTEXT.name):
        for metric in layers:
            yield from _changes(data, asked, "bertscore", metric, chance)
    for metric in layers:
        yield from _by_kind(data, asked, metric)
    for each in ROUGE:
        yield from _unchanged(data, asked, each.name)
    yield from _documents(data, asked)
    yield from _preferred(data, asked)


# Agreement with people


def _amount(value: float, drawn: Floats, level: float) -> Amount:
    """A number and its percentile interval, which has the number in it."""
    low, high = percentiles(drawn, level)
    return Amount(value, float(np.fmin(low, value)), float(np.fmax(high, value)))


def _changes(
    data: Examined, asked: TextProtocol, claim: str, metric: str, chance: str
) -> Iterator[TextStatement]:
    found = data.correlation(data.data.correlated()[0])
    for form in VERSIONS:
        change = found and change_of(data, found, MetricLabel(metric, chance, form))
        if change:
            drawn = change.drawn.mean(axis=1)
            amount = _amount(float(change.difference.mean()), drawn, asked.level)
            what = f"τ-b of {form.upper()} minus τ-b of {metric}, chance: {chance}"
            yield TextStatement(claim, data.name, what, amount)


def _by_kind(data: Examined, asked: TextProtocol, metric: str) -> Iterator[TextStatement]:
    systems = data.data.correlated()[0]
    kinds = (HETEROGENEOUS, HOMOGENEOUS)
    found = [data.correlation(systems, kind, "difference") for kind in kinds]
    for form in VERSIONS:
        label = MetricLabel(metric, MOST_SIMILAR.name, form)
        both = [each and change_of(data, each, label) for each in found]
        if not both[0] or not both[1]:
            continue
        one, other = both[0], both[1]
        means = [float(each.difference.mean()) for each in (one, other)]
        drawn = [each.drawn.mean(axis=1) for each in (one, other)]
        told = f"{form.upper()} of {metric}, chance: {label.chance}"
        yield TextStatement(
            "heterogeneous",
            data.name,
            f"change of τ-b by {told}, on heterogeneous minus on homogeneous documents",
            _amount(means[0] - means[1], drawn[0] - drawn[1], asked.level),
        )
        yield TextStatement(
            "homogeneous",
            data.name,
            f"τ-b of {metric} minus τ-b of {told}, on homogeneous documents",
            _amount(-means[1], -drawn[1], asked.level),
        )


def _unchanged(data: Examined, asked: TextProtocol, metric: str) -> Iterator[TextStatement]:
    found = data.correlation(data.data.correlated()[0])
    for form in VERSIONS:
        change = found and change_of(data, found, MetricLabel(metric, WORDS.name, form))
        if change:
            # The wider of the two sides decides, so the interval of the change itself is looked at.
            value, low, high = _amount(
                float(change.difference.mean()), change.drawn.mean(axis=1), asked.level
            )
            widest = max(abs(low), abs(high))
            narrowest = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
            amount = Amount(UNCHANGED - abs(value), UNCHANGED - widest, UNCHANGED - narrowest)
            what = f"{UNCHANGED} minus the change of τ-b by {form.upper()} of {metric}"
            yield TextStatement("rouge", data.name, what, amount)


# Documents


def _documents(data: Examined, asked: TextProtocol) -> Iterator[TextStatement]:
    kinds = data.kinds
    if kinds is None:
        return
    place = {name: number for number, name in enumerate(kinds.ids)}
    for layer in kinds.layers:
        one, other = (
            kinds.spread[[place[name] for name in of_kind(kinds, kind, layer)]]
            for kind in (HETEROGENEOUS, HOMOGENEOUS)
        )
        what = (
            "standard deviation of the similarity, heterogeneous minus homogeneous documents by layer "
            f"{layer}"
        )
        amount = _drawn(_mean_difference, one, other, asked)
        yield TextStatement("spread", data.name, what, amount, 4)
    if data.attention:
        ours, theirs = data.attention[HETEROGENEOUS], data.attention[HOMOGENEOUS]
        for name, one, other in (
            ("mean", ours.mean, theirs.mean),
            ("standard deviation", ours.spread, theirs.spread),
        ):
            what = f"{LARGE} minus the difference of the {name}, in standard deviations"
            amount = _drawn(_not_large(one, other), one, other, asked)
            yield TextStatement("attention", data.name, what, amount, 2)
            what = f"{name} of heterogeneous minus homogeneous documents"
            amount = _drawn(_mean_difference, one, other, asked)
            yield TextStatement("attention higher", data.name, what, amount, 4)


def _mean_difference(one: Floats, other: Floats) -> Floats:
    return np.asarray(one.mean(axis=-1) - other.mean(axis=-1))


def _not_large(one: Floats, other: Floats) -> OfTwoSets:
    """`LARGE` minus Cohen's d, whatever its sign, by the spread of these documents."""
    spread = float(np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)) or np.nan
    return lambda a, b: np.asarray(LARGE - np.abs(_mean_difference(a, b)) / spread)


def _drawn(number: OfTwoSets, one: Floats, other: Floats, asked: TextProtocol) -> Amount:
    """A number of two sets of documents, and its interval if the documents of both are drawn again."""
    random = np.random.default_rng(asked.seed)
    drawn = [
        each[random.integers(0, len(each), (asked.samples, len(each)))] for each in (one, other)
    ]
    return _amount(float(number(one, other)), number(*drawn), asked.level)


# Preferences


def _preferred(data: Examined, asked: TextProtocol) -> Iterator[TextStatement]:
    """The share of wins minus a half, in percentage points, as a mean over dimensions."""
    systems = compared_systems(data)
    shares: dict[tuple[str, str], list[tuple[float, Floats]]] = {}
    for group, label, result in data.preferred:
        if group != systems or not READINGS[label.chance].by_output:
            continue
        if int((result.win + result.lose).sum()) < FEWEST_CASES:
            continue
        family = "bertscore" if label.metric.startswith("bertscore") else "rouge"
        value = 100 * (float(_known_mean(result.win_share)) - 0.5)
        drawn = 100 * (_known_mean(result.samples) - 0.5)
        told = f"{label.form.upper()} of {label.metric}, chance: {label.chance}"
        what = f"share of disagreements won by {told}, minus 50, in percentage points, {systems} systems"
        amount = _amount(value, drawn, asked.level)
        yield TextStatement(f"preferred {family}", data.name, what, amount, 1)
        shares.setdefault((label.form, family), []).append((value, drawn))
    for form in VERSIONS:
        one, other = (shares.get((form, family), []) for family in ("rouge", "bertscore"))
        if one and other:
            values, drawn_means = (
                [
                    _known_mean(np.stack([each[part] for each in side], axis=-1))
                    for side in (one, other)
                ]
                for part in (0, 1)
            )
            what = (
                f"share of disagreements won by {form.upper()} of ROUGE minus that of BERTScore, in "
                f"percentage points, the mean over metrics and readings, {systems} systems"
            )
            value = float(values[0] - values[1])
            amount = _amount(value, drawn_means[0] - drawn_means[1], asked.level)
            yield TextStatement("rouge wins more", data.name, what, amount, 1)


def _known_mean(values: Floats) -> Floats:
    """The mean over the last axis of the numbers that are known; NaN where none is."""
    known = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=-1) / known.sum(axis=-1))


def claim_table(made: Sequence[TextStatement]) -> Table:
    """A row for each statement, with its interval and its verdict."""
    rows: list[tuple[Cell, ...]] = [
        (each.claim, each.data, each.what, *each.amount, each.verdict) for each in made
    ]
    return Table(("claim", "data", "what", "value", "low", "high", "verdict"), tuple(rows))
