"""The laws, over all metrics of texts that are registered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from rankgauge.errors import MeasureError
from rankgauge.testing import LawBroken
from rankgauge.text import Metric, Texts, check_metric, entries, parse_metric, use_encoder
from rankgauge.text.checking import LAWS
from rankgauge.text.data.texts import Candidates
from rankgauge.text.normalization import ChanceMetric
from rankgauge.text.tokens import source_words
from stand_in_encoder import StandIn

PLAIN = [name for name, entry in entries().items() if isinstance(entry, Metric)]
WRAPPERS = [name for name, entry in entries().items() if not isinstance(entry, Metric)]


@pytest.fixture(autouse=True, scope="module")
def encoder() -> Iterator[None]:
    use_encoder(StandIn())
    yield
    use_encoder(None)


@pytest.mark.parametrize("name", PLAIN)
def test_metrics_obey_the_laws(name: str) -> None:
    check_metric(parse_metric(name))


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize("name", PLAIN)
def test_forms_obey_the_laws(wrapper: str, name: str) -> None:
    check_metric(parse_metric(f"{wrapper}({name},draws=20)"))


@pytest.mark.parametrize("wrapper", WRAPPERS)
@pytest.mark.parametrize(
    "chance", ["length=candidate", "length=9", "null=sentences,draws=5", "per=candidate,draws=1"]
)
def test_forms_obey_the_laws_whatever_chance_is(wrapper: str, chance: str) -> None:
    check_metric(parse_metric(f"{wrapper}(rouge1,{chance})"))


@pytest.mark.parametrize("name", PLAIN)
def test_a_copy_of_the_reference_gets_1_by_v2_and_linear(name: str) -> None:
    reference = "the cat sat on the mat"
    texts = Texts([reference + " and the dog ran"], [reference], {"copy": [reference]})
    for form in ("v2", "linear"):
        value = parse_metric(f"{form}({name})").score_each(texts.candidates())
        assert value.tolist() == pytest.approx([1.0])


@pytest.mark.parametrize("name", PLAIN)
def test_metrics_say_what_they_are(name: str) -> None:
    metric = parse_metric(name)
    assert metric.summary.endswith(".")
    assert metric.formula
    assert metric.source
    assert name in metric.examples
    assert all(field.metadata["meaning"] for field in metric.parameters().values())


# Metrics that break a law, each another one.


class Broken(Metric):
    """The base of metrics that break a law."""

    name = "broken"

    def _score(self, candidates: Candidates) -> Any:
        return np.array(
            [
                float(words in candidates.texts.references[of])
                for words, of in zip(candidates.outputs, candidates.of.tolist(), strict=True)
            ]
        )


class OutOfRange(Broken):
    def _score(self, candidates: Candidates) -> Any:
        return 2 * super()._score(candidates)


class NotIdeal(Broken):
    def _score(self, candidates: Candidates) -> Any:
        return super()._score(candidates) / 2


class Together(Broken):
    def _score(self, candidates: Candidates) -> Any:
        scores = super()._score(candidates)
        return scores * (scores.mean() if len(scores) > 5 else 1)


class WrongShape(Broken):
    def _score(self, candidates: Candidates) -> Any:
        return super()._score(candidates)[:1]


class WrongDraws(Broken):
    def _score_drawn(self, drawn: Any) -> Any:
        return np.full(len(drawn), 0.25)


class WrongFormula(Broken):
    def _expected(self, texts: Any, text: Any, length: Any) -> Any:
        return np.where([bool(source_words(texts, of)) for of in text.tolist()], 0.5, np.nan)


class Raises(Broken):
    def _score(self, candidates: Candidates) -> Any:
        return np.array([1 / len(words) for words in candidates.outputs])


@pytest.mark.parametrize(
    ("kind", "law"),
    [
        (OutOfRange, "range"),
        (NotIdeal, "ideal"),
        (Together, "ideal|each text alone"),
        (WrongShape, "range"),
        (WrongDraws, "drawn words"),
        (WrongFormula, "expected"),
        (Raises, "range"),
    ],
)
def test_a_metric_that_breaks_a_law_is_told_which(kind: type[Metric], law: str) -> None:
    with pytest.raises(LawBroken) as told:
        check_metric(kind())
    assert told.value.law in law.split("|")
    assert "broken fails the check" in str(told.value)


def test_a_metric_that_breaks_none_passes() -> None:
    check_metric(Broken())
    assert not isinstance(Broken(), ChanceMetric)
    assert "expected" in LAWS
    with pytest.raises(MeasureError, match="is not a text metric"):
        check_metric("rouge1")  # type: ignore[arg-type]
