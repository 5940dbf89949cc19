"""A measure is a value: equal to what is written the same, usable as a key, never changed."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from functools import cached_property

import pytest

import rankgauge as rg
from rankgauge.core.checks import Integer, Number
from rankgauge.measures.registry import Entry

EVERY = list(rg.measures.entries().items())


def value(entry: Entry) -> object:
    """A measure, or one made of AP where the entry wants one inside."""
    return entry(rg.AP) if isinstance(entry, type) else entry


@pytest.mark.parametrize(("name", "entry"), EVERY)
def test_every_measure_survives_pickling_and_copying(name: str, entry: Entry) -> None:
    measure = value(entry)
    for again in (pickle.loads(pickle.dumps(measure)), copy.deepcopy(measure)):
        assert again == measure
        assert hash(again) == hash(measure)
        assert repr(again) == repr(measure)


@pytest.mark.parametrize(("name", "entry"), EVERY)
def test_no_measure_can_be_changed(name: str, entry: Entry) -> None:
    measure = value(entry)
    before = repr(measure)
    for attribute in (*(f.name for f in dataclasses.fields(measure)), "another"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(measure, attribute, 1)
        with pytest.raises(dataclasses.FrozenInstanceError):
            delattr(measure, attribute)
    assert repr(measure) == before


def test_measures_are_equal_by_class_and_parameters() -> None:
    assert rg.nDCG @ 10 == rg.nDCG() @ 10 != rg.nDCG @ 5
    assert rg.AP(rel=2) == rg.parse("AP(rel=2)") != rg.AP
    assert rg.nDCG != rg.DCG
    assert rg.measures.gm(rg.AP) == rg.measures.gm(rg.AP) != rg.measures.gm(rg.AP @ 10)
    assert rg.AP != "AP"
    assert len({rg.P @ 5, rg.P @ 5, rg.P @ 10, rg.Recall @ 5}) == 3


def test_what_a_measure_remembers_for_itself_is_no_part_of_its_value() -> None:
    class Remembering(rg.Measure):
        name = "Remembering"

        @cached_property
        def remembered(self) -> int:
            return 1

    first, second = Remembering(), Remembering()
    assert first.remembered == 1
    assert first == second
    assert hash(first) == hash(second)


def test_a_class_takes_its_fields_as_arguments_and_shows_them() -> None:
    assert (
        str(inspect.signature(rg.measures.gm)) == "(measure: 'Measure', *, least: 'float' = 1e-05)"
    )
    assert list(inspect.signature(type(rg.AP)).parameters) == ["cutoff", "rel", "norm"]
    assert list(inspect.signature(rg.AP).parameters) == ["values", "parameters"]
    assert type(rg.AP)(rel=2, cutoff=10) == rg.AP(rel=2) @ 10
    assert rg.measures.gm(measure=rg.AP, least=0.1) == rg.measures.gm(rg.AP, least=0.1)
    for refused in (
        lambda: rg.measures.gm(),
        lambda: rg.measures.gm(rg.AP, 0.1),
        lambda: rg.measures.gm(rg.AP, measure=rg.AP),
        lambda: rg.measures.gm(rg.AP, most=1),
        lambda: type(rg.AP)(2),
    ):
        with pytest.raises(TypeError):
            refused()


def test_a_subclass_adds_parameters_and_changes_defaults() -> None:
    class Base(rg.measures.Binary):
        name = "Base"
        p: float = rg.measures.parameter(Number(0, 1), "a chance", default=0.5)

    class Other(Base):
        name = "Other"
        p: float = rg.measures.parameter(Number(0, 1), "a chance", default=0.25)
        n: int = rg.measures.parameter(Integer(1), "a count", default=3)

    assert list(Other.parameters()) == ["rel", "p", "n"]
    assert str(Other(n=4)) == "Other(n=4)"
    assert (Base().p, Other().p) == (0.5, 0.25)
    assert Other(p=0.5) != Base()
    with pytest.raises(rg.MeasureError, match="Other: p: 2 does not fit"):
        Other(p=2)


def test_a_parameter_without_a_type_is_refused() -> None:
    with pytest.raises(TypeError, match="'p' is a field but has no type annotation"):

        class Untyped(rg.Measure):
            p = rg.measures.parameter(Number(0, 1), "a chance", default=0.5)
