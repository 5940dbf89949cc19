"""A drop-in for trec_eval: its flags, its names, its output to the byte.

What it computes comes from the measures; here is only what belongs to that program: the list of its
measures with their parameters, the order and form of its lines, and how it sums up over topics.
Version 9.0.8 is followed; `compat=10` follows version 10.0 where they differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.files import read_bytes
from rankgauge.data.model import Floats, Judgments, Run, decode
from rankgauge.data.rankings import POOLED, UNJUDGED, JudgedLabels, Rankings, offsets_of
from rankgauge.evaluation import align, judged_labels
from rankgauge.measures import Measure, parse
from rankgauge.measures.parameters import number_text
from rankgauge.native import segments as native

Form: TypeAlias = Literal["float", "count", "text"]
Summary: TypeAlias = Literal["mean", "sum", "geometric", "own"]
Compat: TypeAlias = Literal[9, 10]

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
RECALL_LEVELS = tuple(f"{i / 10}" for i in range(11))
LEAST = 1e-5
MISSING_Z = -1_000_000.0
ALL = "all"


class UsageError(RankgaugeError):
    """A command that cannot be understood; the program ends with 1, as trec_eval does."""


class NoCommonTopics(RankgaugeError):
    """No topic has both results and judgements; the program ends with 7, as trec_eval does."""


@dataclass(frozen=True)
class Settings:
    """The options of one call."""

    measures: Sequence[str] = ()
    per_query: bool = False
    summary: bool = True
    complete: bool = False
    judged_only: bool = False
    rel: int = 1
    most_retrieved: int | None = None
    collection: int = 0
    z_scores: str | None = None
    compat: Compat = 9


@dataclass(frozen=True)
class Column:
    """One line of output for each topic and one for all of them."""

    name: str
    values: Callable[[Topics], Sequence[float] | Sequence[str] | Floats]
    form: Form = "float"
    summary: Summary = "mean"
    single: bool = True
    total: Callable[[Topics], float | str] | None = None


@dataclass(frozen=True)
class Topics:
    """The topics that are evaluated, in the order of their ids, and all the judged ones."""

    settings: Settings
    run: Run
    ids: list[str]
    rankings: Rankings
    bogus: NDArray[np.bool_]
    all_judged: JudgedLabels


# What can be asked for: a name, the parameters it has by default, and the columns they make.

Make: TypeAlias = Callable[[Settings, Sequence[str]], Iterable[Column]]


@dataclass(frozen=True)
class Listing:
    """One of trec_eval's measures. `named` tells how parameters show in the name of a column."""

    name: str
    make: Callable[[Settings, str, Sequence[str]], Iterable[Column]]
    defaults: tuple[str, ...] = ()
    named: Literal["cutoff", "level", "values", "nothing"] = "nothing"
    since: Compat = 9


def scored(template: str) -> Callable[[Settings, str, Sequence[str]], Iterable[Column]]:
    """One column a parameter (or just one), each a measure of ours written as a template."""

    def make(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
        for parameter in parameters or ("",):
            shown, value = parameter, parameter
            if "%ld" in label:
                shown = value = str(_whole(parameter))
            elif "%3.2f" in label:
                shown, value = f"{_number(parameter):3.2f}", number_text(_number(parameter))
            name = label.replace("%ld", shown).replace("%3.2f", shown)
            yield Column(name, measured(template.format(rel=settings.rel, x=value)))

    return make


def measured(text: str) -> Callable[[Topics], Floats]:
    """The scores of the measure that a text describes."""
    measure = parse(text)
    assert isinstance(measure, Measure)
    return lambda topics: measure.score_each(topics.rankings)


def counted(template: str) -> Callable[[Settings, str, Sequence[str]], Iterable[Column]]:
    """A column of counts, summed over topics."""

    def make(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
        scores = _zero_where_bogus(measured(template.format(rel=settings.rel)))
        yield Column(label, scores, "count", "sum")

    return make


def geometric(template: str) -> Callable[[Settings, str, Sequence[str]], Iterable[Column]]:
    """A column that only the summary has: the geometric mean of a measure."""

    def make(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
        scores = measured(template.format(rel=settings.rel))

        def logarithms(topics: Topics) -> Floats:
            return np.log(np.maximum(scores(topics), LEAST))

        yield Column(label, logarithms, summary="geometric", single=False)

    return make


def with_gains(template: str) -> Callable[[Settings, str, Sequence[str]], Iterable[Column]]:
    """A column of a measure whose parameters are gains, `1=3,2=9`."""

    def make(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
        gains = {}
        for pair in parameters:
            level, equals, gain = pair.partition("=")
            if not equals:
                raise UsageError(f"{label}: {pair!r} is no gain, expected level=gain, such as 1=3")
            gains[_whole(level)] = _number(gain)
        text = ",".join(f"{level}:{number_text(gain)}" for level, gain in sorted(gains.items()))
        yield Column(label, measured(template.format(gain=f"{{{text}}}" if gains else "linear")))

    return make


def gain_levels(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    """Rndcg, 0 where no document is relevant at the level of -l, though its gains ignore that."""
    for column in with_gains("ndcg_levels(gain={gain})")(settings, label, parameters):

        def scores(topics: Topics, column: Column = column) -> Floats:
            lists = topics.rankings
            relevant = lists.judged.relevant(settings.rel)[lists.query]
            return np.where(relevant > 0, np.asarray(column.values(topics), dtype=np.float64), 0.0)

        yield replace(column, values=scores)


def run_id(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    yield Column(
        label, lambda t: [t.run.tag] * len(t.ids), "text", "own", False, lambda t: t.run.tag
    )


def number_of_queries(
    settings: Settings, label: str, parameters: Sequence[str]
) -> Iterable[Column]:
    def total(topics: Topics) -> float:
        return len(topics.all_judged) if settings.complete else len(topics.ids)

    yield Column(label, lambda t: np.ones(len(t.ids)), "count", "own", False, total)


def number_relevant(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    """With -c, all judged topics count, and in the sum every grade from 1 on, whatever -l says."""

    def total(topics: Topics) -> float:
        return float(topics.all_judged.relevant(1).sum())

    values = measured(f"NumRel(rel={settings.rel})")
    own = total if settings.complete else None
    yield Column(label, values, "count", "own" if own else "sum", total=own)


def relevance_string(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    """The labels of the first documents as text: digits, > above 9, - unpooled, . unjudged."""
    length = max(int(_number(parameters[0])), 0)

    def strings(topics: Topics) -> list[str]:
        lists = topics.rankings
        shown = []
        for i, bogus in enumerate(topics.bogus):
            labels = lists.labels[lists.offsets[i] : lists.offsets[i + 1]][:length].tolist()
            signs = "" if bogus else "".join(map(_sign, labels))
            shown.append(f"'{signs}'")
        return shown

    yield Column(label, strings, "text", "own")


def _sign(label: int) -> str:
    if label in (UNJUDGED, POOLED):
        return "-" if label == UNJUDGED else "."
    return str(label) if label <= 9 else ">"


def utility(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    if len(parameters) != 4:
        raise UsageError(
            f"{label}: {len(parameters)} weights, expected 4, such as utility.1,-1,0,0"
        )
    names = ("found", "noise", "missed", "rejected")
    weights = ",".join(
        f"{name}={number_text(_number(weight))}"
        for name, weight in zip(names, parameters, strict=True)
    )
    scores = measured(f"Utility({weights},documents={settings.collection},rel={settings.rel})")
    yield Column(label, _zero_where_bogus(scores))


def _zero_where_bogus(scores: Callable[[Topics], Floats]) -> Callable[[Topics], Floats]:
    return lambda topics: np.where(topics.bogus, 0.0, scores(topics))


def set_f(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    beta = repr(float(np.sqrt(_number(parameters[0]))))
    yield Column(label, measured(f"SetF(beta={beta},rel={settings.rel})"))


def interpolated(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    """One column a recall level, or their mean in one column where the name is fixed."""
    rounding = "ninetenths" if settings.compat == 9 else "nearest"
    levels = sorted(_number(parameter) for parameter in parameters)
    columns = [
        Column(
            label.replace("%3.2f", f"{level:3.2f}"),
            measured(f"IPrec(rel={settings.rel},rounding={rounding})@{number_text(level)}"),
        )
        for level in levels
    ]
    if "%3.2f" in label:
        return columns

    def mean(topics: Topics) -> Floats:
        """Highest level first, as trec_eval adds them."""
        total = np.zeros(len(topics.ids))
        for column in reversed(columns):
            total = total + np.asarray(column.values(topics), dtype=np.float64)
        return total / len(columns)

    return [Column(label, mean)]


def rank_biased(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    """RBP with each topic's gains brought to [0, 1], and its residual."""
    pairs = dict(pair.partition("=")[::2] for pair in parameters)
    persistence = _number(pairs.pop("p", "0.9"))
    gains = {_whole(level): _number(gain) for level, gain in pairs.items()}

    def scores(topics: Topics) -> Floats:
        lists = topics.rankings
        gain = np.maximum(lists.labels, 0).astype(np.float64)
        best = np.array([_highest(lists.judged, q, gains) for q in range(len(lists.judged))])
        for level, value in gains.items():
            gain[lists.labels == level] = value
        weights = (1 - persistence) * persistence ** (lists.ranks - 1)
        return lists.sum(weights * gain / lists.each_row(np.maximum(best, 1.0)[lists.query]))

    def residual(topics: Topics) -> Floats:
        lists = topics.rankings
        unjudged = lists.labels < 0
        weights = np.where(unjudged, persistence ** (lists.ranks - 1), 0.0)
        rest = persistence**lists.lengths + (1 - persistence) * lists.sum(weights)
        return np.where((lists.count(unjudged) > 0) & ~topics.bogus, rest, 0.0)

    yield Column(label, residual if label.startswith("rbp_resid") else scores)


def _highest(judged: JudgedLabels, query: int, gains: Mapping[int, float]) -> float:
    labels = judged.labels[judged.offsets[query] : judged.offsets[query + 1]]
    highest = int(labels.max(initial=0))
    return max(
        (gains.get(level, float(level)) for level in range(min(highest, 1000) + 1)), default=1
    )


def unjudged_share(settings: Settings, label: str, parameters: Sequence[str]) -> Iterable[Column]:
    for column in scored("Unjudged@{x}")(settings, label, parameters):
        yield replace(column, values=_zero_where_bogus(column.values))  # type: ignore[arg-type]


LISTINGS = (
    Listing("runid", run_id),
    Listing("num_q", number_of_queries),
    Listing("num_ret", counted("NumRet")),
    Listing("num_rel", number_relevant),
    Listing("num_rel_ret", counted("NumRelRet(rel={rel})")),
    Listing("map", scored("AP(rel={rel})")),
    Listing("gm_map", geometric("AP(rel={rel})")),
    Listing("Rprec", scored("Rprec(rel={rel})")),
    Listing("bpref", scored("bpref(rel={rel})")),
    Listing("recip_rank", scored("RR(rel={rel})")),
    Listing("iprec_at_recall", interpolated, RECALL_LEVELS, "level"),
    Listing("P", scored("P(rel={rel})@{x}"), CUTOFFS, "cutoff"),
    Listing("relstring", relevance_string, ("10",), "values"),
    Listing("recall", scored("Recall(rel={rel})@{x}"), CUTOFFS, "cutoff"),
    Listing("infAP", scored("infAP(rel={rel})")),
    Listing("gm_bpref", geometric("bpref(rel={rel})")),
    Listing(
        "Rprec_mult",
        scored("Rprec(rel={rel},times={x})"),
        tuple(f"{i / 5}" for i in range(1, 11)),
        "level",
    ),
    Listing("utility", utility, ("1", "-1", "0", "0"), "values"),
    Listing("11pt_avg", interpolated, RECALL_LEVELS, "values"),
    Listing("binG", scored("binG(rel={rel})")),
    Listing("G", with_gains("G(gain={gain})"), (), "values"),
    Listing("ndcg", with_gains("nDCG(gain={gain})"), (), "values"),
    Listing("ndcg_rel", with_gains("ndcg_rel(gain={gain})"), (), "values"),
    Listing("Rndcg", gain_levels, (), "values"),
    Listing("ndcg_cut", scored("nDCG@{x}"), CUTOFFS, "cutoff"),
    Listing("map_cut", scored("AP(rel={rel})@{x}"), CUTOFFS, "cutoff"),
    Listing("relative_P", scored("RelP(rel={rel})@{x}"), CUTOFFS, "cutoff"),
    Listing("success", scored("Success(rel={rel})@{x}"), ("1", "5", "10"), "cutoff"),
    Listing("set_P", scored("SetP(rel={rel})")),
    Listing("set_relative_P", scored("SetRelP(rel={rel})")),
    Listing("set_recall", scored("Recall(rel={rel})")),
    Listing("set_map", scored("SetAP(rel={rel})")),
    Listing("set_F", set_f, ("1.0",), "values"),
    Listing("num_nonrel_judged_ret", counted("NumNonRelRet(rel={rel})")),
    Listing("rbp", rank_biased, (), "values", since=10),
    Listing("rbp_resid", rank_biased, (), "values", since=10),
    Listing("unj", unjudged_share, ("5", "10", "20"), "cutoff", since=10),
    Listing("yaap", scored("yaap(rel={rel})")),
)
"""trec_eval's measures, in the order in which it prints them."""

OFFICIAL = (
    "runid num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P"
)
SET = (
    "runid num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P set_map set_F"
)
NICKNAMES: dict[str, list[str]] = {
    "official": OFFICIAL.split(),
    "set": SET.split(),
    "all_trec": [listing.name for listing in LISTINGS if listing.name != "yaap"],
}
UNSUPPORTED = ("prefs", "all_prefs", "qrels_jg")


def columns(settings: Settings) -> list[Column]:
    """The columns that the asked-for measures make, in trec_eval's order."""
    known = {listing.name: listing for listing in LISTINGS if listing.since <= settings.compat}
    asked: dict[str, str | None] = {}
    for text in settings.measures or ("official",):
        name, dot, parameters = text.partition(".")
        if dot and not parameters:
            raise UsageError(f"measure {text!r}: expected parameters after the dot, such as P.5,10")
        if name in UNSUPPORTED or name.startswith("prefs_") or name.endswith("_avgjg"):
            raise UsageError(
                f"measure {name!r}: preferences and judgement groups are not supported"
            )
        for single in NICKNAMES.get(name, [name]):
            if single in known:
                asked.setdefault(single, None)
                if dot and asked[single] is None:
                    asked[single] = parameters
            elif name not in NICKNAMES:
                raise UsageError(f"there is no measure {name!r}; -m all_trec computes all of them")
    made: list[Column] = []
    for listing in LISTINGS:
        if listing.name in asked:
            made += _columns_of(listing, asked[listing.name], settings)
    return made


def _columns_of(listing: Listing, given: str | None, settings: Settings) -> Iterable[Column]:
    parameters = list(listing.defaults) if given is None else given.split(",")
    label = listing.name
    if listing.named in ("cutoff", "level"):
        key: Callable[[str], float] = _whole if listing.named == "cutoff" else _number
        parameters.sort(key=key)
        values = [key(parameter) for parameter in parameters]
        if len(set(values)) < len(values):
            raise UsageError(f"{listing.name}: a parameter is given twice")
        if listing.named == "cutoff" and values[0] <= 0:
            raise UsageError(f"{listing.name}: cut-offs are whole numbers from 1")
        label += "_%ld" if listing.named == "cutoff" else "_%3.2f"
    elif listing.named == "values" and given is not None:
        label += f"_{given}"
    return listing.make(settings, label, parameters)


def _whole(text: str) -> int:
    """The whole number a text starts with, as C's atol reads it."""
    found = re.match(r"\s*[+-]?\d+", text)
    return int(found.group()) if found else 0


def _number(text: str) -> float:
    """The number a text starts with, as C's atof reads it."""
    found = re.match(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text)
    return float(found.group()) if found else 0.0


# From files to lines.


def report(judgments: Judgments, run: Run, settings: Settings) -> Iterator[str]:
    """The lines that trec_eval prints for a run."""
    wanted = columns(settings)
    topics = _topics(judgments, run, settings)
    if not topics.ids:
        raise NoCommonTopics("no topic has both results and judgements")
    reference = None if settings.z_scores is None else read_z_scores(settings.z_scores)
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


def _topics(judgments: Judgments, run: Run, settings: Settings) -> Topics:
    """The judged topics in the order of their ids: those of the run, and with version 10's -c all of
    them, the missing ones as a list of one unjudged document."""
    judged = judged_labels(judgments)
    precision: Literal["single", "double"] = "single" if settings.compat == 9 else "double"
    aligned = align(judgments, run, judged=judged, precision=precision)
    rankings = aligned.rankings.top(settings.most_retrieved)
    if settings.judged_only:
        rankings = rankings.condensed()
    fill = settings.complete and settings.compat == 10
    ids = list(judgments.queries)
    chosen = sorted((q for q in range(len(ids)) if fill or aligned.present[q]), key=ids.__getitem__)
    lists = []
    for q in chosen:
        labels = rankings.labels[rankings.offsets[q] : rankings.offsets[q + 1]]
        lists.append(labels if aligned.present[q] else np.array([UNJUDGED], dtype=np.int32))
    flat = np.concatenate([np.zeros(0, dtype=np.int32), *lists])
    return Topics(
        settings,
        run,
        [decode(ids[q]) for q in chosen],
        Rankings(
            flat, offsets_of([len(x) for x in lists]), np.array(chosen, dtype=np.int64), judged
        ),
        ~aligned.present[chosen],
        judged,
    )


def _total(
    column: Column, values: Sequence[float] | Sequence[str], topics: Topics
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


def _line(column: Column, topic: str, value: float | str, z: bool) -> str:
    if column.form == "text":
        return f"{column.name:<22}\t{topic}\t{value}"
    prefix = "Z" if z else ""
    shown = f"{int(value)}" if column.form == "count" and not z else f"{value:6.4f}"
    return f"{prefix}{column.name:<22}\t{topic}\t{shown}"


def read_z_scores(path: str) -> dict[tuple[str, str], tuple[float, float]]:
    """Mean and standard deviation of a reference set of runs, by topic and measure."""
    reference = {}
    for number, line in enumerate(read_bytes(path).splitlines(), 1):
        words = decode(line).split()
        if not words:
            continue
        try:
            topic, measure, mean, deviation = words
            reference[topic, measure] = float(mean), float(deviation)
        except ValueError:
            message = "expected `topic measure mean standard-deviation`"
            raise InputError(path, number, message) from None
    return reference


def _z_score(
    reference: Mapping[tuple[str, str], tuple[float, float]], topic: str, name: str, value: float
) -> float:
    mean, deviation = reference.get((topic, name), (np.nan, 0.0))
    if deviation:
        return (value - mean) / deviation
    return 0.0 if value == mean else MISSING_Z
