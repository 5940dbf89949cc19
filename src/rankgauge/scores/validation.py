"""What holds for all saved scores, checked before they are written and before a file is used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.policies import (
    HIGHEST_SEED,
    Missing,
    Negative,
    ScorePrecision,
    Standardization,
    Ties,
    Unjudged,
)
from rankgauge.errors import InputError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.matrices import JOINED, SOURCE, TEXTS
from rankgauge.scores.model import UNKNOWN, Scores

SLACK = 1e-9
"""How far a score may lie outside the range of its measure, since files contain rounded numbers."""

LARGEST = float(np.finfo(np.float64).max)

BLOCK = 1 << 16
"""Number of scores compared with their ranges at a time, few enough for the processor's cache."""

TAIL = re.compile(r"tied\([1-9][0-9]{0,9}\)")
STANDARDIZED = re.compile(
    rf"({'|'.join(get_args(Standardization))})\([1-9][0-9]*(,[0-9]{{3}})* runs\)"
)


def check(scores: Scores, source: str) -> None:
    """Raise InputError unless these are scores that rankgauge could have made."""
    faults = chain(
        _wrong_names(scores),
        _wrong_shapes(scores),
        wrong_policies(asdict(scores.policies)),
        _wrong_judgments(scores),
        _wrong_values(scores),
    )
    refuse_first(faults, source)


def refuse_first(faults: Iterable[str], source: str) -> None:
    """Raise InputError for the first fault, if there is one."""
    for fault in faults:
        raise InputError(source, None, fault)


def _wrong_names(scores: Scores) -> Iterator[str]:
    texts = [str(measure) for measure in scores.measures]
    axes: list[tuple[str, Sequence[Any]]] = [("run", scores.runs), ("query", scores.queries)]
    for axis, names in (*axes, ("measure", texts)):
        for name in names:
            if not isinstance(name, str):
                yield f"the name of a {axis} is {shorten(name)}, expected text"
        name, often = next(iter(Counter(names).most_common(1)), ("", 0))
        if often > 1:
            yield f"the {axis} {shorten(name)} occurs {often} times, expected unique names"


def _wrong_shapes(scores: Scores) -> Iterator[str]:
    runs, queries, measures = len(scores.runs), len(scores.queries), len(scores.measures)
    expected: dict[str, tuple[tuple[int, ...], type]] = {
        "values": ((runs, queries, measures), np.float64),
        "present": ((runs, queries), np.bool_),
        "judged_at_10": ((runs, queries), np.float64),
        "relevant": ((queries,), np.int64),
        "nothing_relevant": ((measures, queries), np.bool_),
    }
    for name, (shape, kind) in expected.items():
        array: NDArray[Any] = getattr(scores, name)
        if array.shape != shape or array.dtype != kind:
            yield (
                f"`{name}` has shape {array.shape} and type {array.dtype}, expected {shape} and "
                f"{np.dtype(kind)}"
            )


# Policies


def _one_of(*values: Any) -> tuple[Callable[[Any], bool], str]:
    text = " or ".join(repr(value) for value in values)
    return lambda value: any(type(value) is type(v) and value == v for v in values), text


def _whole_number(least: int, most: int) -> tuple[Callable[[Any], bool], str]:
    text = f"a whole number from {least} to {most}"
    return lambda value: type(value) is int and least <= value <= most, text


def _match_pattern(pattern: re.Pattern[str], example: str) -> tuple[Callable[[Any], bool], str]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None, example


POLICIES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "source": _one_of(SOURCE, JOINED, TEXTS),
    "ties": _one_of(*get_args(Ties)),
    "seed": _whole_number(0, HIGHEST_SEED),
    "tail": _match_pattern(TAIL, "text such as tied(1000)"),
    "judgments": _one_of("subtopics"),
    "precision": _one_of(*get_args(ScorePrecision), "single+double", ""),
    "unjudged": _one_of(*get_args(Unjudged)),
    "negative": _one_of(*get_args(Negative)),
    "missing": _one_of(*get_args(Missing)),
    "max_grade": _whole_number(1, 2**31 - 1),
    "standardized": _match_pattern(STANDARDIZED, "text such as normal(12 runs)"),
    "encoder": _match_pattern(
        re.compile(r"[^\s|]{1,200}"), "the digest of an encoder, without a space or |"
    ),
    "rankgauge": _match_pattern(re.compile(r".{1,100}"), "the version of rankgauge"),
}
"""The allowed values of each policy, with a description."""

OPTIONAL = ("source", "seed", "tail", "judgments", "negative", "standardized", "encoder")
"""The policies that can be None."""


def wrong_policies(policies: dict[str, Any]) -> Iterator[str]:
    """What is wrong with policies that are not known, or have a value that no policy has."""
    for name, value in policies.items():
        if name not in POLICIES:
            yield (
                f"the policy {shorten(name)} is not known, expected one of {', '.join(POLICIES)} "
                "(a later rankgauge may know it)"
            )
        fits, expected = POLICIES[name]
        if not fits(value) and not (value is None and name in OPTIONAL):
            yield f"the policy {name} is {shorten(value)}, expected {expected}"


# Numbers


def _wrong_judgments(scores: Scores) -> Iterator[str]:
    low = scores.relevant < UNKNOWN
    if low.any():
        q = int(np.argmax(low))
        where = format_place(scores, (None, q, None))
        yield (
            f"{scores.relevant[q]} relevant documents for {where}, expected 0 or more, or -1 if not "
            "known"
        )
    share = scores.judged_at_10
    wrong = (share < 0) | (share > 1)
    if wrong.any():
        r, q = (int(place[0]) for place in np.nonzero(wrong))
        where = format_place(scores, (r, q, None))
        yield f"judged_at_10 is {share[r, q]:g} for {where}, expected a share from 0 to 1, or none"


def _wrong_values(scores: Scores) -> Iterator[str]:
    limits = [limits_of(scores, measure) for measure in scores.measures]
    if not scores.values.size:
        return
    lowest = np.array([low - SLACK for low, _ in limits])
    highest = np.array([high + SLACK for _, high in limits])
    table = scores.values.reshape(-1, len(limits))
    for start in range(0, len(table), BLOCK):
        block = table[start : start + BLOCK]
        wrong = (block < lowest) | (block > highest)
        if wrong.any():
            row, m = (int(place[0]) for place in np.nonzero(wrong))
            r, q = divmod(start + row, len(scores.queries))
            low, high = limits[m]
            expected = "a finite number" if LARGEST in (-low, high) else f"{low:g} to {high:g}"
            yield (
                f"the score {block[row, m]:.12g} of {format_place(scores, (r, q, m))}, expected "
                f"{expected} "
                '(call the measure given("…") if its scores are on another scale)'
            )


def limits_of(scores: Scores, measure: Scored | Aggregate) -> tuple[float, float]:
    """The least and the greatest score by a measure, as these scores were made.

    Standardized scores have limits of their own. Some of joined scores may be standardized, which the
    policies do not tell, so that any number is within the limits. Infinity is so only where the
    measure has no limit.
    """
    method = scores.policies.standardized
    if method is not None:
        return (-LARGEST, LARGEST) if method.startswith("z(") else (0.0, 1.0)
    low, high = inner(measure).range
    if scores.policies.source == JOINED:
        return (low if low == -np.inf else -LARGEST), (high if high == np.inf else LARGEST)
    return low, high


def format_place(scores: Scores, place: tuple[int | None, int | None, int | None]) -> str:
    """What is at a place of the scores: run, query and measure, those that are not None."""
    run, query, measure = place
    parts = [
        None if run is None else f"run {shorten(scores.runs[run])}",
        None if query is None else f"query {shorten(scores.queries[query])}",
        None if measure is None else f"{scores.measures[measure]}",
    ]
    return ", ".join(part for part in parts if part is not None)


def shorten(value: object) -> str:
    """A value as messages show it, not too long."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:40] + "…")
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
