"""What Feng's dissertation claims about BERTScore and ROUGE, and whether it holds on these data.

Each statement is a number with an interval over documents; `studies.verdicts` says when it holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from rankgauge.extending import Cell, Floats, Record, Table
from rankgauge.text import HETEROGENEOUS, HOMOGENEOUS
from rankgauge.text.human import Over, percentiles, win_share
from rankgauge_studies.text.experiment import DataSetResult, documents_of_kind, known_mean
from rankgauge_studies.text.preference_tables import comparison_text, form_comparisons
from rankgauge_studies.text.protocol import (
    CONTEXT,
    MOST_SIMILAR,
    ROUGE,
    VERSIONS,
    WORDS,
    TextProtocol,
    layer_name,
)
from rankgauge_studies.text.tables import LEVEL_NAMES
from rankgauge_studies.verdicts import IntervalEstimate, Verdict

CHANGE_LIMIT = 0.1
"""A correlation that changes by less than this is considered nearly the same."""
LARGE_DIFFERENCE = 0.8
"""A difference of two means is large from this number of standard deviations (Cohen 1988)."""

FEWEST_CASES = 20
"""With fewer disagreements than this, the share of wins is meaningless."""

TwoSetStatistic: TypeAlias = Callable[[Floats, Floats], Floats]
"""A number for each of two sets of documents."""

CLAIMS = {
    "bertscore": (
        "V1 and V2 of BERTScore agree better with human ratings than BERTScore does. (Table 8.1)"
    ),
    "heterogeneous": "V1 and V2 of BERTScore help more on heterogeneous documents than on homogeneous "
    "ones. (Tables 8.2 and 8.3)",
    "homogeneous": "On homogeneous documents, V1 and V2 of BERTScore agree less with human "
    "ratings than BERTScore does. (Table 8.3)",
    "spread": "In heterogeneous documents, the similarity between tokens and document varies "
    "more. (Section 8.1)",
    "preferred bertscore": "Where BERTScore and its V1 or V2 disagree, people agree with V1 or V2. "
    "(Table 8.4)",
    "attention": "Attention does not differ much between the two kinds of documents. (Section 8.6)",
    "attention higher": "Attention has a higher mean and varies more in heterogeneous "
    "documents. (Figure 8.3)",
    "rouge": "V1 and V2 of ROUGE agree with human ratings as well as ROUGE does. (Table 9.1)",
    "preferred rouge": "Where ROUGE and its V1 or V2 disagree, people agree with V1 or V2. (Table 9.2)",
    "rouge wins more": "V1 and V2 of ROUGE win more often than V1 and V2 of BERTScore do. (Section 9.3)",
}
"""The claims in our own words, by key."""


class TextStatement(Record):
    """One number that a claim says is above 0.

    `shown` is the number that is reported in its place, such as a share of wins in place of its
    excess over one half; `what` then names the limit.
    """

    claim: str
    data: str
    what: str
    amount: IntervalEstimate
    digits: int = 3
    shown: IntervalEstimate | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the statement holds, does not hold, or is not decided by these documents."""
        return self.amount.verdict

    @property
    def sentence(self) -> str:
        """The statement in words, with its interval and its verdict."""
        told = (self.shown or self.amount).words(self.digits)
        return f"{self.data}: {self.what}: {told}: {self.verdict}."


def statements(examined: Sequence[DataSetResult], asked: TextProtocol) -> list[TextStatement]:
    """All statements that there is a number for, claim by claim."""
    made = [
        each
        for data in examined
        for each in _statements_about(data, asked)
        if np.isfinite(each.amount.value)
    ]
    order = list(CLAIMS)
    return sorted(made, key=lambda each: order.index(each.claim))


def _statements_about(data: DataSetResult, asked: TextProtocol) -> Iterator[TextStatement]:
    if data.correlated:
        layers = [layer_name(layer) for layer in asked.layers]
        for chance in (MOST_SIMILAR.name, CONTEXT.name):
            for metric in layers:
                yield from _change_statements(data, asked, metric, chance)
        for metric in layers:
            yield from _kind_statements(data, asked, metric)
        for each in ROUGE:
            yield from _rouge_statements(data, asked, each.name)
    yield from _document_statements(data, asked)
    yield from _preference_statements(data, asked)


# Agreement with people


def _percentile_estimate(value: float, drawn: Floats, level: float) -> IntervalEstimate:
    """A number and its percentile interval, which is widened to have the number in it.

    What is left of a rounding error is 0.
    """
    low, high = percentiles(drawn, level)
    ends = (value, float(np.fmin(low, value)), float(np.fmax(high, value)))
    return IntervalEstimate(*(round(each, 12) + 0.0 for each in ends))


def _change_statements(
    data: DataSetResult, asked: TextProtocol, metric: str, chance: str
) -> Iterator[TextStatement]:
    systems = data.data.correlation_groups()[0]
    for form, change in data.changes(metric, chance, systems).items():
        amount = _percentile_estimate(change.mean, change.sample_means, asked.level)
        what = f"τ-b of {form.upper()} minus τ-b of {metric}, chance: {chance}"
        yield TextStatement("bertscore", data.name, what, amount)


def _kind_statements(
    data: DataSetResult, asked: TextProtocol, metric: str
) -> Iterator[TextStatement]:
    systems, chance = data.data.correlation_groups()[0], MOST_SIMILAR.name
    one, other = (
        data.changes(metric, chance, systems, kind, "difference")
        for kind in (HETEROGENEOUS, HOMOGENEOUS)
    )
    for form in VERSIONS if one and other else ():
        ours, theirs = one[form], other[form]
        told = f"{form.upper()} of {metric}, chance: {chance}"
        yield TextStatement(
            "heterogeneous",
            data.name,
            f"change of τ-b by {told}, on heterogeneous minus on homogeneous documents",
            _percentile_estimate(
                ours.mean - theirs.mean, ours.sample_means - theirs.sample_means, asked.level
            ),
        )
        yield TextStatement(
            "homogeneous",
            data.name,
            f"τ-b of {metric} minus τ-b of {told}, on homogeneous documents",
            _percentile_estimate(-theirs.mean, -theirs.sample_means, asked.level),
        )


def _rouge_statements(
    data: DataSetResult, asked: TextProtocol, metric: str
) -> Iterator[TextStatement]:
    systems = data.data.correlation_groups()[0]
    levels: tuple[Over, ...] = ("rows", "systems")  # Table 9.1 fits rows
    for over in levels:
        for form, change in data.changes(metric, WORDS.name, systems, over=over).items():
            if np.isfinite(change.drawn).any():
                value = float(known_mean(np.abs(change.difference)))
                shown = _percentile_estimate(value, known_mean(np.abs(change.drawn)), asked.level)
                what = (
                    f"change of τ-b over {LEVEL_NAMES[over]} from {metric} to {form.upper()}, "
                    f"in absolute terms (limit {CHANGE_LIMIT})"
                )
                yield TextStatement(
                    "rouge", data.name, what, _distance_below(CHANGE_LIMIT, shown), shown=shown
                )


def _distance_below(limit: float, amount: IntervalEstimate) -> IntervalEstimate:
    """By how much a number is below a limit."""
    return IntervalEstimate(limit - amount.value, limit - amount.high, limit - amount.low)


# Documents


def _document_statements(data: DataSetResult, asked: TextProtocol) -> Iterator[TextStatement]:
    kinds = data.kinds
    if kinds is None:
        return
    place = {name: number for number, name in enumerate(kinds.ids)}
    for layer in kinds.layers:
        one, other = (
            kinds.spread[[place[name] for name in documents_of_kind(kinds, kind, layer)]]
            for kind in (HETEROGENEOUS, HOMOGENEOUS)
        )
        what = (
            "standard deviation of the similarity, heterogeneous minus homogeneous documents by layer "
            f"{layer}"
        )
        amount = _bootstrap_estimate(_mean_difference, one, other, asked)
        yield TextStatement("spread", data.name, what, amount, 4)
    if data.attention:
        ours, theirs = data.attention[HETEROGENEOUS], data.attention[HOMOGENEOUS]
        for name, one, other in (
            ("mean", ours.mean, theirs.mean),
            ("standard deviation", ours.spread, theirs.spread),
        ):
            what = (
                f"difference between the two kinds in the {name} of attention, in standard "
                f"deviations (limit {LARGE_DIFFERENCE})"
            )
            shown = _bootstrap_estimate(_cohens_d(one, other), one, other, asked)
            amount = _distance_below(LARGE_DIFFERENCE, shown)
            yield TextStatement("attention", data.name, what, amount, 2, shown)
            what = f"{name} of attention in heterogeneous minus homogeneous documents"
            amount = _bootstrap_estimate(_mean_difference, one, other, asked)
            yield TextStatement("attention higher", data.name, what, amount, 4)


def _mean_difference(one: Floats, other: Floats) -> Floats:
    return np.asarray(one.mean(axis=-1) - other.mean(axis=-1))


def _cohens_d(one: Floats, other: Floats) -> TwoSetStatistic:
    """Cohen's d, whatever its sign, by the spread of these documents."""
    spread = float(np.sqrt((one.var(ddof=1) + other.var(ddof=1)) / 2)) or np.nan
    return lambda a, b: np.asarray(np.abs(_mean_difference(a, b)) / spread)


def _bootstrap_estimate(
    number: TwoSetStatistic, one: Floats, other: Floats, asked: TextProtocol
) -> IntervalEstimate:
    """A number of two sets of documents, and its interval if the documents of both are drawn again."""
    random = np.random.default_rng(asked.seed)
    drawn = [
        each[random.integers(0, len(each), (asked.samples, len(each)))] for each in (one, other)
    ]
    return _percentile_estimate(float(number(one, other)), number(*drawn), asked.level)


# Preferences


def _preference_statements(data: DataSetResult, asked: TextProtocol) -> Iterator[TextStatement]:
    """The share of wins, and how often ROUGE wins minus how often BERTScore does, in percent.

    The dimensions are taken together.
    """
    wins: dict[tuple[str, str], list[tuple[float, Floats]]] = {}
    enough = dict.fromkeys(VERSIONS, False)
    for label, result in form_comparisons(data):
        if not result.pairs:
            continue
        family = "bertscore" if label.metric.startswith("bertscore") else "rouge"
        pairs = result.pairs * len(result.dimensions)
        drawn = result.drawn.sum(axis=2)
        share = 100 * result.win.sum() / pairs
        wins.setdefault((label.form, family), []).append((share, 100 * drawn[:, 0] / pairs))
        if result.disagreements < FEWEST_CASES:
            continue
        enough[label.form] = True
        value = float(win_share(result.win.sum(), result.lose.sum()))
        shown = _percentile_estimate(
            100 * value, 100 * win_share(drawn[:, 0], drawn[:, 1]), asked.level
        )
        what = (
            f"percent won by {label.form.upper()} of {label.metric} (chance: {label.chance}), of the "
            f"disagreements that people decide, {comparison_text(data)} (limit 50)"
        )
        amount = IntervalEstimate(*(each - 50 for each in shown))
        yield TextStatement(f"preferred {family}", data.name, what, amount, 1, shown)
    for form in VERSIONS:
        one, other = (wins.get((form, family), []) for family in ("rouge", "bertscore"))
        if one and other and enough[form]:
            shares = [float(np.mean([each[0] for each in side])) for side in (one, other)]
            sampled = [np.mean([each[1] for each in side], axis=0) for side in (one, other)]
            what = (
                f"percent of all pairs won by {form.upper()} of ROUGE minus percent won by "
                f"{form.upper()} of BERTScore, averaged over metrics and readings, "
                f"{comparison_text(data)}"
            )
            amount = _percentile_estimate(
                shares[0] - shares[1], sampled[0] - sampled[1], asked.level
            )
            yield TextStatement("rouge wins more", data.name, what, amount, 1)


def count_left_out(data: DataSetResult) -> int:
    """How many statements on disagreements are left out, as there are too few."""
    return sum(result.disagreements < FEWEST_CASES for _, result in form_comparisons(data))


def claim_table(made: Sequence[TextStatement]) -> Table:
    """A row for each statement, with its interval and its verdict."""
    rows: list[tuple[Cell, ...]] = [
        (each.claim, each.data, each.what, *each.amount, each.verdict) for each in made
    ]
    return Table(("claim", "data", "what", "value", "low", "high", "verdict"), tuple(rows))
