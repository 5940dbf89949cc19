"""The columns of trec_eval's output, each made of our measures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import count
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Labels
from rankgauge.core.checks import number_text
from rankgauge.core.records import Record, Value
from rankgauge.data.model import POOLED, UNJUDGED, Run
from rankgauge.measures import Measure, parse
from rankgauge.measures.precision import MULTIPLES_OF_R
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.trec_eval.settings import (
    ParameterError,
    Settings,
    UsageError,
    WeightsError,
    parse_integer,
    parse_number,
)

Form: TypeAlias = Literal["float", "count", "text"]
Summary: TypeAlias = Literal["mean", "sum", "geometric", "own"]

LEAST = 1e-5
LARGEST = 2**31 - 1
"""The largest cutoff that is computed; a larger one, which no list reaches, prints the same."""


class ReportColumn(Value):
    """One line of output for each topic and one for all of them."""

    name: str
    values: Callable[[ReportTopics], Sequence[float] | Sequence[str] | Floats]
    form: Form = "float"
    summary: Summary = "mean"
    single: bool = True
    total: Callable[[ReportTopics], float | str] | None = None


class ReportTopics(Value):
    """The topics that are evaluated, in the order of their ids, and all the judged ones."""

    settings: Settings
    run: Run
    ids: list[str]
    rankings: Rankings
    bogus: NDArray[np.bool_]
    all_judged: JudgedLabels

    @cached_property
    def binary(self) -> Rankings:
        """The rankings with label 1 for every grade from -l on and 0 for the grades below.

        So -l 0, with which every judged document is relevant, is a level like any other.
        """
        lists = self.rankings
        judged = replace(lists.judged, labels=self._relevant(lists.judged.labels), max_grade=1)
        return replace(lists, labels=self._relevant(lists.labels), judged=judged)

    def _relevant(self, labels: Labels) -> Labels:
        return np.where(labels >= self.settings.rel, 1, np.minimum(labels, 0)).astype(labels.dtype)


class Request(Record):
    """A measure to compute: its name in the output, its parameters, and the options of the call."""

    label: str
    parameters: Sequence[str]
    settings: Settings


ColumnMaker: TypeAlias = Callable[[Request], Iterable[ReportColumn]]
TopicScores: TypeAlias = Callable[[ReportTopics], Floats]


# Scores of our measures.


def binary_scores(text: str) -> TopicScores:
    """The scores of the measure that a text describes, with -l as the lowest relevant grade."""
    measure = _measure(text)
    return lambda topics: measure.score_each(topics.binary)


def graded_scores(text: str) -> TopicScores:
    """The scores of the measure that a text describes, on the grades as they are."""
    measure = _measure(text)
    return lambda topics: measure.score_each(topics.rankings)


@lru_cache(maxsize=1000)
def _measure(text: str) -> Measure:
    measure = parse(text)
    assert isinstance(measure, Measure)
    return measure


def zero_bogus_topics(scores: TopicScores) -> TopicScores:
    """The same scores, 0 for the topics that only -c of version 10 adds.

    Version 10 clears num_ret, unj, and utility, relstring and rbp_resid without parameters. All else is
    the score of a list of one unjudged document.
    """
    return lambda topics: np.where(topics.bogus, 0.0, scores(topics))


# Kinds of columns.


def measure_column(text: str) -> ColumnMaker:
    """One column: one of our measures, with -l as the lowest relevant grade."""
    return lambda request: [ReportColumn(request.label, binary_scores(text))]


def cutoff_columns(
    template: str, scores_of: Callable[[str], TopicScores] = binary_scores
) -> ColumnMaker:
    """One column for each cutoff: one of our measures at that cutoff."""

    def make(request: Request) -> Iterable[ReportColumn]:
        for cutoff in sorted(map(parse_integer, request.parameters)):
            text = template.format(min(cutoff, LARGEST))
            yield ReportColumn(f"{request.label}_{cutoff}", scores_of(text))

    return make


def count_column(text: str) -> ColumnMaker:
    """A column of counts, summed over topics."""

    def make(request: Request) -> Iterable[ReportColumn]:
        yield ReportColumn(request.label, zero_bogus_topics(binary_scores(text)), "count", "sum")

    return make


def geometric_mean_column(text: str) -> ColumnMaker:
    """A column that only the summary has: the geometric mean of a measure."""

    def make(request: Request) -> Iterable[ReportColumn]:
        scores = binary_scores(text)

        def logarithms(topics: ReportTopics) -> Floats:
            return np.log(np.maximum(scores(topics), LEAST))

        yield ReportColumn(request.label, logarithms, summary="geometric", single=False)

    return make


def gain_column(template: str) -> ColumnMaker:
    """A column of a measure whose parameters are gains, `1=3,2=9`."""

    def make(request: Request) -> Iterable[ReportColumn]:
        gains = _gains(request.parameters)
        zero = gains.pop(0, 0.0)
        if zero == 0:
            yield ReportColumn(request.label, graded_scores(_format_gains(template, gains)))
            return

        def scores(topics: ReportTopics) -> Floats:
            """Our gains start at label 1, so the documents of grade 0 get a label nobody has."""
            lists = topics.rankings
            used = {*gains, *np.unique(lists.judged.labels).tolist()}
            spare = next(level for level in count(1) if level not in used)
            measure = _measure(_format_gains(template, {**gains, spare: zero}))
            return measure.score_each(_relabel(lists, 0, spare))

        yield ReportColumn(request.label, scores)

    return make


def _gains(pairs: Sequence[str]) -> dict[int, float]:
    """The gain of each level; of a level given twice, the first."""
    gains: dict[int, float] = {}
    for level, gain in map(_pair, pairs):
        gains.setdefault(parse_integer(level), parse_number(gain))
    for least, shown in (
        (min(gains, default=0), "levels"),
        (min(gains.values(), default=0), "gains"),
    ):
        if least < 0:
            raise UsageError(f"{shown} below 0 are not supported")
    return gains


def _pair(text: str) -> tuple[str, str]:
    if text.count("=") != 1:
        raise ParameterError(f"{text!r} is no gain, expected level=gain, such as 1=3")
    level, gain = text.split("=")
    return level, gain


def _format_gains(template: str, gains: Mapping[int, float]) -> str:
    text = ",".join(f"{level}:{number_text(gain)}" for level, gain in sorted(gains.items()))
    return template.format(gain=f"{{{text}}}" if gains else "linear")


def _relabel(lists: Rankings, old: int, new: int) -> Rankings:
    """The same lists with another label for all documents of one label."""
    known = np.where(lists.judged.labels == old, new, lists.judged.labels).astype(np.int32)
    query = np.repeat(np.arange(len(lists.judged)), lists.judged.sizes)
    judged = replace(lists.judged, labels=known[np.lexsort((-known, query))])
    labels = np.where(lists.labels == old, new, lists.labels).astype(np.int32)
    return replace(lists, labels=labels, judged=judged)


def gain_levels(request: Request) -> Iterable[ReportColumn]:
    """Rndcg. It is 0 if no document is relevant at the level of -l, though its gains ignore -l."""
    for column in gain_column("ndcg_levels(gain={gain})")(request):

        def scores(topics: ReportTopics, column: ReportColumn = column) -> Floats:
            lists = topics.binary
            relevant = lists.judged.relevant(1)[lists.query]
            return np.where(relevant > 0, np.asarray(column.values(topics), dtype=np.float64), 0.0)

        yield replace(column, values=scores)


def run_id(request: Request) -> Iterable[ReportColumn]:
    """The run tag, which is the same for each topic."""
    yield ReportColumn(
        request.label, lambda t: [t.run.tag] * len(t.ids), "text", "own", False, lambda t: t.run.tag
    )


def number_of_queries(request: Request) -> Iterable[ReportColumn]:
    """The number of topics: 1 for each topic; with -c, the total counts all judged topics."""

    def total(topics: ReportTopics) -> float:
        return len(topics.all_judged) if request.settings.complete else len(topics.ids)

    yield ReportColumn(request.label, lambda t: np.ones(len(t.ids)), "count", "own", False, total)


def number_relevant(request: Request) -> Iterable[ReportColumn]:
    """With -c, all judged topics count; then the sum counts every grade from 1 on, whatever -l says."""

    def total(topics: ReportTopics) -> float:
        return float(topics.all_judged.relevant(1).sum())

    own = total if request.settings.complete else None
    yield ReportColumn(
        request.label, binary_scores("NumRel"), "count", "own" if own else "sum", total=own
    )


def relevance_string(request: Request) -> Iterable[ReportColumn]:
    """The labels of the first documents as text: digits, > above 9, - unpooled, . unjudged."""
    length = max(int(parse_number(request.parameters[0])), 0)

    def strings(topics: ReportTopics) -> list[str]:
        lists = topics.rankings
        shown = []
        for i, bogus in enumerate(topics.bogus):
            labels = lists.labels[lists.offsets[i] : lists.offsets[i + 1]][:length].tolist()
            signs = "" if bogus and request.label == "relstring" else "".join(map(_sign, labels))
            shown.append(f"'{signs}'")
        return shown

    yield ReportColumn(request.label, strings, "text", "own")


def _sign(label: int) -> str:
    if label in (UNJUDGED, POOLED):
        return "-" if label == UNJUDGED else "."
    return str(label) if label <= 9 else ">"


def utility(request: Request) -> Iterable[ReportColumn]:
    """Four weights times four counts; -N, the size of the collection, may be any number."""
    weights = [parse_number(parameter) for parameter in request.parameters]
    counts = [binary_scores(text) for text in ("NumRelRet", "NumRet", "NumRel")]

    def scores(topics: ReportTopics) -> Floats:
        if len(weights) != 4:
            raise WeightsError(
                f"{request.label}: {len(weights)} weights, expected 4, such as utility.1,-1,0,0"
            )
        found, noise, missed, rejected = weights
        hits, retrieved, relevant = (counted(topics) for counted in counts)
        others = request.settings.collection + hits - retrieved - relevant
        worth = found * hits + noise * (retrieved - hits) + missed * (relevant - hits)
        return worth + rejected * others

    yield ReportColumn(
        request.label, zero_bogus_topics(scores) if request.label == "utility" else scores
    )


def set_f(request: Request) -> Iterable[ReportColumn]:
    """(x + 1)·P·R / (x·P + R), for any x: where that is 0/0, 0."""
    x = parse_number(request.parameters[0])
    precision, recall = binary_scores("SetP"), binary_scores("Recall")

    def scores(topics: ReportTopics) -> Floats:
        p, r = precision(topics), recall(topics)
        value = (x + 1.0) * p * r / (x * p + r)
        return np.where((p == 0) | np.isnan(value), 0.0, value)

    yield ReportColumn(request.label, scores)


def multiples_of_r(request: Request) -> Iterable[ReportColumn]:
    """Precision at multiples of R.

    It is 0 at multiples of 0 or less, and at those that no list reaches.
    """
    least, greatest = MULTIPLES_OF_R
    for times in sorted(map(parse_number, request.parameters)):
        text = f"Rprec(times={number_text(min(max(times, least), greatest))})"
        scores = binary_scores(text) if times > 0 else lambda topics: np.zeros(len(topics.ids))
        yield ReportColumn(f"{request.label}_{level_text(times)}", scores)


def level_text(level: float) -> str:
    """A level as names show it: two decimals, and only the first eight characters of a long number."""
    return f"{level:3.2f}"[:8]


def recall_levels(request: Request) -> Iterable[ReportColumn]:
    """Interpolated precision, one column a level of recall."""
    for level in sorted(map(parse_number, request.parameters)):
        yield ReportColumn(
            f"{request.label}_{level_text(level)}", _recall_level_scores(level, request.settings)
        )


def mean_over_levels(request: Request) -> Iterable[ReportColumn]:
    """Interpolated precision averaged over levels of recall, the highest added first."""
    levels = [
        _recall_level_scores(level, request.settings)
        for level in sorted(map(parse_number, request.parameters))
    ]

    def mean(topics: ReportTopics) -> Floats:
        total = np.zeros(len(topics.ids))
        for scores in reversed(levels):
            total = total + scores(topics)
        return total / len(levels)

    yield ReportColumn(request.label, mean)


def _recall_level_scores(level: float, settings: Settings) -> TopicScores:
    """Interpolated precision at any level: those below 0 are 0, those above 1 mostly out of reach.

    Where nothing is retrieved trec_eval divides 0 by 0 for level 0 and prints -nan, this prints 0.
    """
    rounding, more = ("ninetenths", 0.9) if settings.version == 9 else ("nearest", 0.5)
    inside = min(max(level, 0.0), 1.0)
    scores = binary_scores(f"IPrec(rounding={rounding})@{number_text(inside)}")
    if level <= 1:
        return scores

    def beyond(topics: ReportTopics) -> Floats:
        """A level just above 1 asks for all relevant documents, where these are few."""
        relevant = topics.binary.judged.relevant(1)[topics.binary.query]
        return np.where(np.floor(level * relevant + more) <= relevant, scores(topics), 0.0)

    return beyond


def rank_biased(request: Request) -> Iterable[ReportColumn]:
    """RBP with each topic's gains brought to [0, 1], and its residual."""
    pairs = dict(map(_pair, request.parameters))
    persistence = parse_number(pairs.pop("p", "0.9"))
    if not 0 <= persistence <= 1:
        raise ParameterError("p is a chance, expected a number from 0 to 1")
    gains = {parse_integer(level): parse_number(gain) for level, gain in pairs.items()}

    def powers(lists: Rankings) -> Floats:
        """The powers of p, multiplied one by one, so that sums agree with trec_eval to the last bit."""
        longest = int(lists.lengths.max(initial=0))
        return np.cumprod(np.append(1.0, np.full(longest, persistence)), dtype=np.float64)

    def scores(topics: ReportTopics) -> Floats:
        lists = topics.rankings
        gain = np.maximum(lists.labels, 0).astype(np.float64)
        best = np.array([_highest_gain(lists.judged, q, gains) for q in range(len(lists.judged))])
        for level, value in gains.items():
            gain[lists.labels == level] = value
        gain /= lists.each_row(np.maximum(best, 1.0)[lists.query])
        return (1 - persistence) * lists.sum(gain * powers(lists)[lists.ranks - 1])

    def residual(topics: ReportTopics) -> Floats:
        lists = topics.rankings
        unjudged = lists.labels < 0
        weights = np.where(unjudged, powers(lists)[lists.ranks - 1], 0.0)
        rest = powers(lists)[lists.lengths] + (1 - persistence) * lists.sum(weights)
        return np.where(lists.count(unjudged) > 0, rest, 0.0)

    if request.label == "rbp_resid":
        yield ReportColumn(request.label, zero_bogus_topics(residual))
    else:
        yield ReportColumn(
            request.label, residual if request.label.startswith("rbp_resid") else scores
        )


def _highest_gain(judged: JudgedLabels, query: int, gains: Mapping[int, float]) -> float:
    """The highest gain of a topic's grades, and of all grades that were given a gain."""
    labels = judged.labels[judged.offsets[query] : judged.offsets[query + 1]]
    levels = range(int(labels.max(initial=0)), -1, -1)
    highest = next((level for level in levels if level not in gains), 0)
    return max([float(highest), *gains.values()])


def unjudged_share(text: str) -> TopicScores:
    """The share of unjudged documents, 0 for the topics that only -c of version 10 adds."""
    return zero_bogus_topics(graded_scores(text))
