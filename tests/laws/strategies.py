"""Random queries, rankings and measures; measures come from the registry, whatever is in it.

Strategies are made once and kept: to make one again for every case takes longer than to draw from it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from typing import Any

from hypothesis import assume, strategies as st

from rankgauge.core.checks import Choice, Integer, Kind, Number, QuotedText
from rankgauge.errors import MeasureError
from rankgauge.measures import Aggregate, Measure, entries
from rankgauge.measures.gains import GAINS, Discount, Gain, UnitGain

REGISTERED = {name: entry for name, entry in entries().items() if isinstance(entry, Measure)}
MEASURES = {name: entry for name, entry in REGISTERED.items() if entry.answers()["score"] != "no"}
"""Those that score rankings, which most laws are about."""
WRAPPERS = {
    name: entry
    for name, entry in entries().items()
    if isinstance(entry, type) and issubclass(entry, Measure)
}
AGGREGATES = {
    name: entry
    for name, entry in entries().items()
    if isinstance(entry, type) and issubclass(entry, Aggregate)
}
BOOLEANS = st.booleans()
HIGHEST = 3
COLLECTION = 6
"""How many documents a collection has: as many as can be enumerated."""


@cache
def values(kind: Kind) -> st.SearchStrategy[Any] | None:
    """Values of a kind, small enough for enumeration to matter; None for a kind not known here."""
    match kind:
        case Integer(least):
            return st.integers(least, least + 2)
        case Number(low, high, closed):
            least = max(low, -3.0)
            most = min(high, least + 6)
            margin = 0 if closed else 0.001
            return st.floats(least + margin, most - margin).map(lambda x: max(low, round(x, 3)))
        case Choice(names):
            return st.sampled_from(names)
        case QuotedText():
            texts = st.text(max_size=QuotedText.longest).filter(str.strip)
            return texts.filter(lambda text: "'" not in text or '"' not in text)
        case UnitGain():
            share = st.integers(0, 4).map(lambda quarters: quarters / 4)
            maps = st.fixed_dictionaries(dict.fromkeys(range(1, HIGHEST + 1), share))
            return st.sampled_from(["fraction", "scaled"]) | maps
        case Gain():
            maps = st.dictionaries(
                st.integers(1, HIGHEST), st.integers(0, 5).map(float), min_size=1
            )
            return st.sampled_from(sorted(GAINS)) | maps
        case Discount():
            return st.sampled_from(["log2", "zipf", "log_2", "log_3"])
    return None


@cache
def cutoffs(measure: Measure) -> st.SearchStrategy[Any]:
    """Cut-offs of the kind that a measure takes, some beyond the end of a ranking."""
    (field,) = (f for f in dataclasses.fields(measure) if f.name == "cutoff")
    other = values(field.metadata["kind"])
    whole = isinstance(field.metadata["kind"], Integer)
    return st.integers(1, 7) if whole or other is None else other


def around(wrapper: Callable[[Measure], Measure], measure: Measure) -> Measure:
    """A measure made of another, which is given a cut-off where that takes one."""
    try:
        return wrapper(measure).complete()
    except MeasureError:
        assume(measure.cutoff is None and measure.cutoffs == "optional")
        return wrapper(measure @ 3).complete()


INSIDE = st.sampled_from([name for name, m in MEASURES.items() if m.direction != "none"])


@cache
def parameters_of(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the parameters of a measure or wrapper, with random values."""
    fields = (REGISTERED | WRAPPERS)[name].parameters()
    kinds = {key: values(field.metadata["kind"]) for key, field in fields.items()}
    return st.fixed_dictionaries(
        {}, optional={k: kind for k, kind in kinds.items() if kind is not None}
    )


@cache
@st.composite
def versions(draw: st.DrawFn, name: str) -> Measure:
    """A registered measure with random parameters and cut-off; a wrapper around a random measure."""
    entry = (REGISTERED | WRAPPERS)[name]
    parameters = draw(parameters_of(name))
    if isinstance(entry, type):
        # reb and iub have tests of their own: they refuse some measures, and some queries.
        parameters = {key: value for key, value in parameters.items() if key not in ("reb", "iub")}
        if "null" in entry.parameters():
            parameters["documents"] = COLLECTION if parameters.get("null") == "collection" else None
        measure = draw(versions(draw(INSIDE)))
        assume(entry.takes(measure))
        return around(lambda m: entry(m, **parameters), measure)
    measure = entry(**parameters)
    if name not in MEASURES:
        return measure
    if measure.cutoffs == "required" or (measure.cutoffs == "optional" and draw(BOOLEANS)):
        measure = measure @ draw(cutoffs(entry))
    try:
        return measure.complete()
    except MeasureError:
        return measure @ 3


@cache
def labels(most: int = 6, least: int = 0) -> st.SearchStrategy[list[int]]:
    """The judged labels of a query."""
    return st.lists(st.integers(0, HIGHEST), min_size=least, max_size=most)


@cache
def listed(most: int) -> st.SearchStrategy[list[int]]:
    """Labels in rank order, unjudged documents among them."""
    return st.lists(st.integers(-2, HIGHEST), max_size=most)


@cache
@st.composite
def rankings(draw: st.DrawFn, most: int = 8, unjudged: int = 8) -> tuple[list[int], list[int]]:
    """A list of labels in rank order, unjudged documents in it, and all judged labels."""
    ranked = draw(listed(most))
    while sum(label < 0 for label in ranked) > unjudged:
        ranked.remove(min(ranked))
    unretrieved = draw(labels(4 if most > 5 else 2))
    return ranked, [label for label in ranked if label >= 0] + unretrieved
