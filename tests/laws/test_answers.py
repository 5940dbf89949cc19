"""What a measure says of its answers is true: what it calls exact is neither enumerated nor drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
import pytest

from laws.strategies import MEASURES, WRAPPERS
from rankgauge import AP, parse
from rankgauge.errors import MeasureError, Unsupported
from rankgauge.measures import Measure, compat, linear, minmax, orders, prefix_mean, z
from rankgauge.measures.orders import SAMPLES, OrderScores

A = TypeVar("A")

MANY = [3] * 9 + [2] * 11 + [1] * 13 + [0] * 27
"""More documents than are put into every order, and more than any formula for few documents takes."""
UNJUDGED = [-1, 1, -1, 0, 3, *[-1] * 30, 2]
INSIDE = ("AP@3", "compat", "compat@5", "INST@5", "BPM@4", "binG@5", "yaap@5", "SearchLength", "G")


def registered() -> Iterator[Measure]:
    """Every measure that says which scores are better, without and with a cut-off."""
    for _, entry in sorted(MEASURES.items()):
        for cutoff in (None, 1, 5) if entry.cutoffs != "none" else (None,):
            try:
                measure = (entry if cutoff is None else entry @ cutoff).complete()
            except MeasureError:
                continue
            if measure.direction != "none":
                yield measure


def wrapped() -> Iterator[Measure]:
    """Every wrapper around measures that answer in all the different ways."""
    for _, wrapper in sorted(WRAPPERS.items()):
        for inside in map(parse, INSIDE):
            try:
                yield wrapper(inside).complete()
            except MeasureError:
                continue


EVERY = [*registered(), *wrapped()]
EXACT_SCORES = [measure for measure in EVERY if measure.answers()["score"] == "exact"]

each = pytest.mark.parametrize("measure", EVERY, ids=str)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many lists had their orders enumerated or drawn, call by call."""
    calls: list[int] = []
    original = orders.scores_of_orders

    def counting(*arguments: object) -> list[OrderScores]:
        found = original(*arguments)  # type: ignore[arg-type]
        calls.append(len(found))
        return found

    monkeypatch.setattr(orders, "scores_of_orders", counting)
    return calls


def where_feasible(ask: Callable[[list[int]], A]) -> A | None:
    """The answer for many documents; None where they are too many to enumerate."""
    try:
        return ask(MANY)
    except Unsupported:
        return None


@each
def test_an_exact_expectation_is_not_drawn_and_any_other_says_its_error(
    measure: Measure, drawn: list[int]
) -> None:
    if measure.answers()["expected"] == "exact":
        measure.score(MANY)
        for_score = len(drawn)
        expected = measure.expected(MANY)
        assert (expected.samples, expected.error) == (0, 0.0)
        assert len(drawn) <= 2 * for_score
        return
    found = where_feasible(measure.expected)
    assert found is None or found.samples == SAMPLES
    assert found is None or found.error > 0 or measure.variance(MANY) == 0


@each
def test_an_exact_variance_is_not_drawn_and_any_other_is(
    measure: Measure, drawn: list[int]
) -> None:
    if measure.answers()["variance"] == "exact":
        measure.variance(MANY)
        assert not drawn
        return
    assert where_feasible(measure.variance) is None or drawn


@each
@pytest.mark.parametrize("question", ["ideal", "worst"])
def test_an_exact_extreme_is_known_of_many_documents_and_no_other(
    measure: Measure, question: str, drawn: list[int]
) -> None:
    ask = getattr(measure, question)
    if measure.answers()[question] == "exact":
        assert np.isfinite(ask(MANY))
        assert not drawn
        return
    assert where_feasible(ask) is None or drawn


@pytest.mark.parametrize("measure", EXACT_SCORES, ids=str)
def test_an_exact_score_rests_on_nothing_that_is_drawn(measure: Measure, drawn: list[int]) -> None:
    assert np.isfinite(measure.score(MANY))
    assert not drawn


@each
def test_exact_bounds_are_known_of_many_unjudged_documents_and_no_others(measure: Measure) -> None:
    if measure.answers()["bounds"] == "exact":
        low, high = measure.bounds(UNJUDGED, MANY)
        assert low <= high
    else:
        with pytest.raises(Unsupported):
            measure.bounds(UNJUDGED, MANY)


@pytest.mark.parametrize("inside", ["INST@5", "yaap@5", "BPM@5", "binG@5"])
def test_the_mean_over_cutoffs_is_estimated_where_the_measure_is(inside: str) -> None:
    measure = prefix_mean(parse(inside))
    expected = measure.expected(MANY)
    mean = np.mean([(measure.measure @ k).expected(MANY) for k in range(1, 6)])
    assert expected == pytest.approx(mean, abs=1e-12)  # the same orders are drawn at all cut-offs
    spread = np.sqrt(measure.variance(MANY))
    assert expected.error == pytest.approx(spread / np.sqrt(SAMPLES), rel=1e-9)


def test_an_affine_wrapper_answers_as_the_measure_inside() -> None:
    for wrapper in (linear, z, minmax):
        assert wrapper(compat).answers()["variance"] == "enumerated"
        assert wrapper(AP).answers()["variance"] == "exact"
