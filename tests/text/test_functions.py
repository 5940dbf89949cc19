"""A metric made of a function."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest

from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.text import Null, Texts, check_metric, metric, parse_metric, registry

TEXTS = Texts(
    {"a": "the cat sat on the mat", "b": "it rained all day"},
    {"a": ["the cat sat"], "b": ["rain"]},
    {"one": {"a": "the cat", "b": "it rained"}, "two": {"a": "the cat sat", "b": "rain"}},
)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:
    before = dict(registry.METRICS.entries)
    yield
    registry.METRICS.entries.clear()
    registry.METRICS.entries.update(before)


def share(candidate: str, references: tuple[str, ...], source: str) -> float:
    """The share of different words of the first reference that a candidate has."""
    own, theirs = set(candidate.split()), set(references[0].split())
    return len(own & theirs) / max(1, len(theirs))


def log_likelihood(candidate: str, references: tuple[str, ...], source: str) -> float:
    """0 for a text of the words of the reference; no lowest score."""
    own, theirs = candidate.split(), set(references[0].split())
    return -2.5 * sum(word not in theirs for word in own) - len(theirs - set(own))


def test_it_is_known_by_its_name_and_scores() -> None:
    made = metric(share, name="share")
    assert parse_metric("share") == made
    assert str(made) == repr(made) == made.specification() == "share"
    assert made.score_each(TEXTS.candidates()).tolist() == [2 / 3, 0, 1, 1]
    assert parse_metric("v2(share,length=candidate)").score_each(TEXTS.candidates())[2] == 1


def test_it_obeys_the_laws_of_metrics() -> None:
    def with_source(candidate: str, references: tuple[str, ...], source: str) -> float:
        assert source
        return float(candidate == references[0])

    check_metric(metric(lambda a, b, c: float(a in b), name="same"))
    check_metric(metric(with_source, name="copied", source_needed=True))


def test_its_chance_is_estimated_to_the_error_asked_for() -> None:
    mean = metric(share, name="share").expected_each(TEXTS.candidates(), Null(error=0.005))
    assert (mean.errors <= 0.0055).all()
    assert mean.values[1] == 0  # "rain" is none of the words of the source
    # Three draws of six words, two of them "the": the mean share of the three words of the reference.
    right = (1 - (4 / 6) ** 3 + 2 * (1 - (5 / 6) ** 3)) / 3
    assert mean.values[0] == pytest.approx(right, abs=4 * 0.005)


def test_without_a_lowest_score_there_are_linear_and_z() -> None:
    made = metric(
        log_likelihood, name="bart", ideal=0.0, range=(-math.inf, 0.0), source_needed=True
    )
    for name in ("v1", "v2"):
        with pytest.raises(
            MeasureError, match=r"bart has no lowest score.*linear\(bart\) or z\(bart\)"
        ):
            parse_metric(f"{name}(bart)")
    linear = parse_metric("linear(bart,draws=200)").score_each(TEXTS.candidates())
    assert linear[2] == 1
    z = parse_metric("z(bart,draws=50)").score_each(TEXTS.candidates())
    assert np.isfinite(z).tolist() == [
        True,
        False,
        True,
        False,
    ]  # all draws of the second are alike
    with pytest.raises(RankgaugeError, match="bart needs the source of text '1', which has none"):
        made.score_each(Texts(None, ["a"], {"s": ["a"]}).candidates())


def test_lower_may_be_better() -> None:
    metric(lambda a, b, c: 1 - share(a, b, c), name="miss", ideal=0.0, direction="lower")
    v2 = parse_metric("v2(miss)").score_each(TEXTS.candidates())
    assert v2[2] == v2[3] == 1
    assert v2[1] <= 0


def broken(candidate: str, references: tuple[str, ...], source: str) -> float:
    if "sat" in candidate:
        raise ZeroDivisionError("no good")
    return 0.5


@pytest.mark.parametrize("value", [None, math.nan, -math.inf, "high", [1, 2], 1.5, -0.1])
def test_no_number_is_an_error_that_names_the_text_and_the_system(value: object) -> None:
    made = metric(lambda a, b, c: value if a == "rain" else 0.5, name="odd")
    with pytest.raises(RankgaugeError, match=r"odd: .* expected .*the output of two for text 'b'"):
        made.score_each(TEXTS.candidates())


def test_a_function_that_raises_is_an_error_that_names_the_text_and_the_system() -> None:
    made = metric(broken, name="broken")
    message = "its function raised ZeroDivisionError: no good, for the output of two for text 'a'"
    with pytest.raises(RankgaugeError, match=message):
        made.score_each(TEXTS.candidates())
    with pytest.raises(RankgaugeError, match="for a random text for text 'a'"):
        made.expected_each(TEXTS.candidates(), Null())


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"name": "two words"}, "cannot be named 'two words'"),
        ({"name": "rouge1"}, "is taken by"),
        ({"name": "x", "range": (1, 0)}, "the lowest score first"),
        ({"name": "x", "range": (0, 1), "ideal": 2}, "expected 0 to 1"),
        ({"name": "x", "direction": "up"}, "higher"),
        ({"name": "x", "range": (math.nan, 1)}, "the lowest score first"),
    ],
)
def test_wrong_declarations_are_refused(arguments: dict, expected: str) -> None:
    with pytest.raises(RankgaugeError, match=expected):
        metric(share, **arguments)
    with pytest.raises(MeasureError, match="is not a function"):
        metric(3, name="three")  # type: ignore[arg-type]


def test_a_name_can_be_defined_again_in_the_same_module() -> None:
    metric(share, name="again")
    second = metric(log_likelihood, name="again", ideal=0.0, range=(-math.inf, 0.0))
    assert parse_metric("again") == second
