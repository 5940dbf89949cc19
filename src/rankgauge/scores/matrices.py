"""Scores from tables of numbers and from other scores, without runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import AppliedPolicies, Missing
from rankgauge.errors import InputError, MeasureError, RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.elsewhere import GivenScores, given
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import UNKNOWN, Scores
from rankgauge.scores.parsing import AnyScored, parse_scored

SOURCE = "matrix"
JOINED = "joined"
TEXTS = "texts"

LARGEST = 1e100
"""The largest magnitude of a score for which sums of squares stay finite."""


def from_matrix(
    values: ArrayLike,
    runs: Iterable[Any],
    queries: Iterable[Any] | None,
    measure: AnyScored | Sequence[AnyScored],
) -> Scores:
    """What `Scores.from_matrix` gives."""
    table = _numbers(values)
    one = isinstance(measure, str | Scored | Aggregate)
    measures: Iterable[Any] = [measure] if one else measure  # type: ignore[assignment]
    if table.ndim != (2 if one else 3):
        shape = count_phrase(table.ndim, "dimension")
        expected = "runs × queries" if one else "runs × queries × measures"
        raise _input_error(f"a table of {shape}, expected {expected}")
    if not table.size:
        raise _input_error(
            f"a table of shape {table.shape}, expected at least one run and one query"
        )
    table = table.reshape(*table.shape[:2], -1)
    present = ~np.all(np.isnan(table), axis=2)
    topics = range(1, table.shape[1] + 1) if queries is None else queries
    return scores_of(
        _check_names("run", runs, table.shape[0]),
        _check_names("query", topics, table.shape[1]),
        _check_distinct("measure", [measure_of(text) for text in measures], table.shape[2]),
        table,
        present,
        "zero" if present.all() else "skip",
    )


def scores_of(
    runs: tuple[str, ...],
    queries: tuple[str, ...],
    measures: tuple[Scored | Aggregate, ...],
    values: Floats,
    present: Bools,
    missing: Missing,
    source: str = SOURCE,
) -> Scores:
    """Scores that are not of rankings and judgments, or of which only the numbers are known.

    Parameters
    ----------
    runs, queries, measures
        Their names.
    values
        Run × query × measure: the scores.
    present
        Run × query: whether the run has the query.
    missing
        How queries that a run lacks are treated.
    source
        Where they come from.
    """
    return Scores(
        runs=runs,
        queries=queries,
        measures=measures,
        values=values,
        present=present,
        judged_at_10=np.full(present.shape, np.nan),
        relevant=np.full(len(queries), UNKNOWN),
        nothing_relevant=np.zeros((len(measures), len(queries)), dtype=np.bool_),
        policies=AppliedPolicies(source=source, missing=missing),
    )


def measure_of(text: AnyScored) -> Scored | Aggregate:
    """The measure that a text means. If rankgauge knows none, a name for scores made elsewhere."""
    try:
        measure = parse_scored(text)
    except MeasureError:
        return given(text)
    if not isinstance(inner(measure), GivenScores):
        inner(measure).complete()
    elif inner(measure) == given:
        raise _input_error(
            f"the measure {measure} has no title, expected one as in {GivenScores.examples[0]}"
        )
    return measure


def _numbers(values: ArrayLike) -> Floats:
    """The numbers of a table, copied; NaN for what is masked."""
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        array = np.asarray(values)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"they are of type {array.dtype}")
        with np.errstate(over="ignore"):
            table = np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise _input_error(
            f"the values are not a table of numbers ({error}), expected one"
        ) from None
    if np.isinf(table).any():
        where = tuple(int(place[0]) for place in np.nonzero(np.isinf(table)))
        raise _input_error(f"the value at {where} is infinite, expected a number, or NaN for none")
    if (large := np.abs(table) > LARGEST).any():
        where = tuple(int(place[0]) for place in np.nonzero(large))
        expected = f"expected a magnitude of at most {LARGEST}"
        raise _input_error(f"the value at {where}, {table[where]:g}, is too large, {expected}")
    return table


def _check_names(what: str, names: Iterable[Any], count: int) -> tuple[str, ...]:
    if isinstance(names, str | bytes):
        raise _input_error(
            f"the {what} names are a single string, {names!r}, expected a list of names"
        )
    texts = []
    for name in names:
        whole = isinstance(name, int | np.integer) and not isinstance(name, bool)
        if not isinstance(name, str) and not whole:
            raise _input_error(
                f"the {what} name {name!r} is neither text nor a whole number, expected one of them"
            )
        texts.append(str(name))
    return _check_distinct(what, texts, count)


def _check_distinct(what: str, names: list[Any], count: int) -> tuple[Any, ...]:
    if len(names) != count:
        raise _input_error(
            f"{count_phrase(len(names), what)} named, expected {count}, as in the table"
        )
    (name, often), *_ = Counter(names).most_common(1)
    if often > 1:
        raise _input_error(f"the {what} {str(name)!r} appears twice, expected different names")
    return tuple(names)


def _input_error(message: str) -> InputError:
    return InputError("scores", None, message)


def join_scores(parts: Sequence[Scores]) -> Scores:
    """What `Scores.joined` gives."""
    first = parts[0]
    for other in parts[1:]:
        for what, ours, theirs in (
            ("run", first.runs, other.runs),
            ("query", first.queries, other.queries),
        ):
            if lone := [name for name in (*ours, *theirs) if (name in ours) != (name in theirs)]:
                message = f"the {what} {lone[0]!r} is not in all of the scores"
                raise RankgaugeError(f"{message}, expected the same runs and queries in each")
    parts = [part.select(first.queries, runs=first.runs) for part in parts]
    measures = [measure for part in parts for measure in part.measures]
    policies = _common_policies(parts)
    relevant, judged_at_10, only_relevant = _common_judgments(parts)
    notes = [note for part in parts for note in part.notes]
    if policies.source == JOINED:
        notes += [Note(line) for part in parts for line in part.signatures().values()]
    return replace(
        first,
        measures=_check_distinct("measure", measures, len(measures)),
        values=np.concatenate([np.asarray(part) for part in parts], axis=2),
        present=np.logical_or.reduce([part.present for part in parts]),
        judged_at_10=judged_at_10,
        relevant=relevant,
        nothing_relevant=np.concatenate([part.nothing_relevant for part in parts]),
        policies=policies,
        notes=tuple(dict.fromkeys(notes)),
        failed=tuple(dict.fromkeys(text for part in parts for text in part.failed)),
        only_relevant=only_relevant,
    )


def _common_policies(parts: Sequence[Scores]) -> AppliedPolicies:
    """The policies if all scores have the same; otherwise only how missing queries are treated."""
    ways: set[Missing] = {part.policies.missing for part in parts if not part.present.all()}
    if len(ways) > 1:
        message = "missing queries score 0 in some of the scores and are excluded from others"
        raise RankgaugeError(
            f"{message}, expected the same treatment in all; evaluate them with the same missing="
        )
    missing = ways.pop() if ways else parts[0].policies.missing
    # An encoder matters for some measures alone; their signatures say it.
    encoders = {part.policies.encoder for part in parts if part.policies.encoder is not None}
    encoder = None if len(encoders) > 1 else next(iter(encoders), None)
    policies = {replace(part.policies, missing=missing, encoder=encoder) for part in parts}
    if len(policies) == 1 and len(encoders) < 2:
        return policies.pop()
    known = next((part.policies for part in parts if part.judgments_known), parts[0].policies)
    return replace(known, source=JOINED, missing=missing, standardized=None, encoder=encoder)


def _common_judgments(parts: Sequence[Scores]) -> tuple[Ints, Floats, bool]:
    """How many documents are relevant, the shares judged, and whether all judged ones are relevant.

    Unknown where the scores disagree.
    """
    known = [part for part in parts if part.judgments_known]
    if known and all(
        np.array_equal(part.relevant, known[0].relevant)
        and np.array_equal(part.judged_at_10, known[0].judged_at_10, equal_nan=True)
        for part in known
    ):
        only_relevant = all(part.only_relevant for part in known)
        return known[0].relevant, known[0].judged_at_10, only_relevant
    unknown = np.full_like(parts[0].relevant, UNKNOWN)
    return unknown, np.full_like(parts[0].judged_at_10, np.nan), False
