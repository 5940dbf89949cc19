"""The record of policies, and the functions that take it whole or as keywords."""

from __future__ import annotations

import inspect
from dataclasses import fields

import pytest

import rankgauge as rg
from rankgauge.core.policies import POLICY_KINDS, Policies, PolicyOptions

NAMES = [field.name for field in fields(Policies)]
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUN = {"q1": {"b": 9.0, "a": 8.0}}


def test_the_keywords_are_the_fields_of_the_record() -> None:
    assert list(PolicyOptions.__annotations__) == NAMES
    assert sorted(POLICY_KINDS) == sorted(NAMES)


@pytest.mark.parametrize("target", [rg.evaluate, rg.Evaluator])
def test_help_shows_and_explains_every_policy(target: object) -> None:
    shown = inspect.signature(target).parameters  # type: ignore[arg-type]
    own = inspect.signature(Policies).parameters
    assert {name: shown[name].default for name in NAMES} == {
        name: own[name].default for name in NAMES
    }
    text = inspect.getdoc(target) or ""
    assert set(NAMES) <= {line.partition(" : ")[0] for line in text.splitlines()}
    values = [value for kind in POLICY_KINDS.values() for value in getattr(kind, "names", ())]
    assert [value for value in values if f'"{value}"' not in text] == []
    assert "{policies}" not in text


def test_keywords_replace_what_the_record_says() -> None:
    asked = Policies(missing="skip", ties="pessimistic")
    assert rg.Evaluator(QRELS, "RR", policies=asked).policies == asked
    both = rg.Evaluator(QRELS, "RR", policies=asked, ties="docno").policies
    assert both == Policies(missing="skip")
    scores = rg.evaluate(QRELS, RUN, "RR", policies=asked)
    assert scores.mean() == {"run": {"RR": 0.5}}


def test_a_record_is_checked_when_it_is_made() -> None:
    assert Policies(seed=3.0).seed == 3  # type: ignore[arg-type]
    with pytest.raises(rg.RankgaugeError, match="missing='none', expected one of zero, skip"):
        Policies(missing="none")  # type: ignore[arg-type]
    with pytest.raises(rg.RankgaugeError, match="needs ties='expected'"):
        Policies(tail="tied", documents=10)
    with pytest.raises(TypeError, match="not tie"):
        rg.evaluate(QRELS, RUN, "RR", tie="docno")  # type: ignore[call-arg]
