"""What holds for all saved scores, checked before they are written and before a file is used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, NoReturn, get_args

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.policies import HIGHEST_SEED, Missing, Negative, Standardization, Ties, Unjudged
from rankgauge.errors import InputError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.scored import Scored
from rankgauge.scores.matrices import JOINED, SOURCE, TEXTS
from rankgauge.scores.model import UNKNOWN, Scores

SLACK = 1e-9
"""What a score may be outside the range of its measure, since files hold rounded numbers."""

LARGEST = float(np.finfo(np.float64).max)

BLOCK = 1 << 16
"""How many scores are compared with their ranges at a time: few enough for the processor's cache."""

TAIL = re.compile(r"tied\([1-9][0-9]{0,9}\)")
STANDARDIZED = re.compile(
    rf"({'|'.join(get_args(Standardization))})\([1-9][0-9]*(,[0-9]{{3}})* runs\)"
)

TIES = tuple(f"{ties}-desc" if ties == "docno" else ties for ties in get_args(Ties))


def check(scores: Scores, source: str) -> None:
    """Raise InputError unless these are scores that rankgauge could have made."""
    _check_names(scores, source)
    _check_shapes(scores, source)
    check_policies(asdict(scores.policies), source)
    _check_judgments(scores, source)
    _check_values(scores, source)


def _check_names(scores: Scores, source: str) -> None:
    texts = [str(measure) for measure in scores.measures]
    axes: list[tuple[str, Sequence[Any]]] = [("run", scores.runs), ("query", scores.queries)]
    for axis, names in (*axes, ("measure", texts)):
        for name in names:
            if not isinstance(name, str):
                message = f"the name of a {axis} is {short(name)}, expected text"
                raise InputError(source, None, message)
        name, often = next(iter(Counter(names).most_common(1)), ("", 0))
        if often > 1:
            message = f"the {axis} {short(name)} is named {often} times, expected different names"
            raise InputError(source, None, message)


def _check_shapes(scores: Scores, source: str) -> None:
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
            text = f"`{name}` has shape {array.shape} and type {array.dtype}"
            wanted = f"{shape} and {np.dtype(kind)}"
            raise InputError(source, None, f"{text}, expected {wanted}")


# Policies


def _one_of(*values: Any) -> tuple[Callable[[Any], bool], str]:
    text = " or ".join(repr(value) for value in values)
    return lambda value: any(type(value) is type(v) and value == v for v in values), text


def _whole(least: int, most: int) -> tuple[Callable[[Any], bool], str]:
    text = f"a whole number from {least} to {most}"
    return lambda value: type(value) is int and least <= value <= most, text


def _like(pattern: re.Pattern[str], example: str) -> tuple[Callable[[Any], bool], str]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None, example


POLICIES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "source": _one_of(SOURCE, JOINED, TEXTS),
    "ties": _one_of(*TIES),
    "seed": _whole(0, HIGHEST_SEED),
    "tail": _like(TAIL, "a text such as tied(1000)"),
    "judgments": _one_of("subtopics"),
    "scores": _one_of("f32", "f64", "f32+f64", ""),
    "unjudged": _one_of(*get_args(Unjudged)),
    "negative": _one_of(*get_args(Negative)),
    "missing": _one_of(*get_args(Missing)),
    "max_grade": _whole(1, 2**31 - 1),
    "standardized": _like(STANDARDIZED, "a text such as normal(12 runs)"),
    "encoder": _like(
        re.compile(r"[^\s|]{1,200}"), "the digest of an encoder, without a space or |"
    ),
    "rankgauge": _like(re.compile(r".{1,100}"), "the version of rankgauge"),
}
"""Of each policy what it can be, and that in words."""

OPTIONAL = ("source", "seed", "tail", "judgments", "negative", "standardized", "encoder")
"""The policies that can be None."""


def check_policies(policies: dict[str, Any], source: str) -> None:
    """Raise InputError for a policy that is not known, or has a value that no policy has."""
    for name, value in policies.items():
        if name not in POLICIES:
            message = (
                f"the policy {short(name)} is not known, expected one of {', '.join(POLICIES)}"
            )
            raise InputError(source, None, f"{message} (a later rankgauge may know it)")
        fits, expected = POLICIES[name]
        if not fits(value) and not (value is None and name in OPTIONAL):
            message = f"the policy {name} is {short(value)}, expected {expected}"
            raise InputError(source, None, message)


# Numbers


def _check_judgments(scores: Scores, source: str) -> None:
    low = scores.relevant < UNKNOWN
    if low.any():
        q = int(np.argmax(low))
        message = f"{scores.relevant[q]} relevant documents for {named(scores, (None, q, None))}"
        raise InputError(source, None, f"{message}, expected 0 or more, or -1 if not known")
    share = scores.judged_at_10
    wrong = (share < 0) | (share > 1)
    if wrong.any():
        r, q = (int(place[0]) for place in np.nonzero(wrong))
        message = f"judged_at_10 is {share[r, q]:g} for {named(scores, (r, q, None))}"
        raise InputError(source, None, f"{message}, expected a share from 0 to 1, or none")


def _check_values(scores: Scores, source: str) -> None:
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
            _refuse(scores, (r, q, m), source)


def limits_of(scores: Scores, measure: Scored | Aggregate) -> tuple[float, float]:
    """The least and the greatest score by a measure, as these scores were made.

    Standardised scores have limits of their own. Some of joined scores may be standardised, which the
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


def _refuse(scores: Scores, place: tuple[int, int, int], source: str) -> NoReturn:
    """Raise the error for a score that its measure never gives."""
    low, high = limits_of(scores, scores.measures[place[2]])
    expected = "a finite number" if LARGEST in (-low, high) else f"{low:g} to {high:g}"
    message = (
        f"the score {scores.values[place]:.12g} of {named(scores, place)}, expected {expected}"
    )
    remedy = 'call the measure given("…") if its scores are on another scale'
    raise InputError(source, None, f"{message} ({remedy})")


def named(scores: Scores, place: tuple[int | None, int | None, int | None]) -> str:
    """What is at a place of the scores: run, query and measure, those that are not None."""
    run, query, measure = place
    parts = [
        None if run is None else f"run {short(scores.runs[run])}",
        None if query is None else f"query {short(scores.queries[query])}",
        None if measure is None else f"{scores.measures[measure]}",
    ]
    return ", ".join(part for part in parts if part is not None)


def short(value: object) -> str:
    """A value as messages show it, not too long."""
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "an object"
    if isinstance(value, str):
        return repr(value if len(value) <= 40 else value[:40] + "…")
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "…"
