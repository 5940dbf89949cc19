"""The text form of every measure, and of random compositions, is read back as the same measure."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, strategies as st

from laws.strategies import AGGREGATES, REGISTERED, WRAPPERS, values, versions
from rankgauge import measures
from rankgauge.measures import entries, parse

NAMES = {name: getattr(measures, name) for name in entries()}


@st.composite
def compositions(draw: st.DrawFn) -> Any:
    """A measure, wrapped some times, and perhaps aggregated."""
    measure: Any = draw(st.sampled_from(sorted(REGISTERED)).flatmap(versions))
    for wrapper in draw(st.lists(st.sampled_from(sorted(WRAPPERS)), max_size=3)):
        if WRAPPERS[wrapper].takes(measure):
            measure = WRAPPERS[wrapper](measure)
    if draw(st.booleans()):
        aggregate = AGGREGATES[draw(st.sampled_from(sorted(AGGREGATES)))]
        parameters = {
            key: draw(kind)
            for key, field in aggregate.parameters().items()
            if (kind := values(field.metadata["kind"])) is not None and draw(st.booleans())
        }
        measure = aggregate(measure, **parameters)
    return measure


@given(compositions())
def test_text_form_and_measure_are_inverse(measure: Any) -> None:
    assert parse(str(measure)) == measure
    assert str(parse(str(measure))) == str(measure)
    assert hash(parse(str(measure))) == hash(measure)


@given(compositions())
def test_repr_is_python_that_makes_the_measure(measure: Any) -> None:
    assert eval(repr(measure), dict(NAMES)) == measure


@given(compositions())
def test_the_specification_with_every_parameter_means_the_same(measure: Any) -> None:
    assert parse(measure.specification()) == measure


@pytest.mark.parametrize("name", sorted(entries()))
def test_every_example_of_every_measure_is_read_and_written(name: str) -> None:
    examples = entries()[name].examples
    assert examples
    for example in examples:
        assert str(parse(str(parse(example)))) == str(parse(example))


@pytest.mark.parametrize("name", sorted(entries()))
def test_every_measure_says_what_it_is(name: str) -> None:
    entry = entries()[name]
    assert entry.summary.endswith(".")
    assert entry.formula
    for field in entry.parameters().values():
        assert field.metadata["meaning"]
