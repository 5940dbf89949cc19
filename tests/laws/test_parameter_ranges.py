"""Parameters have ranges, and at the ends of its ranges every measure is finite and silent."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from laws.strategies import MEASURES, WRAPPERS
from rankgauge import parse
from rankgauge.core.checks import Choice, Integer, Kind, Number
from rankgauge.errors import MeasureError, Unsupported
from rankgauge.measures import Measure
from rankgauge.measures.gains import GAINS, MOST_GAIN, Discount, Gain, UnitGain
from rankgauge.rankings.lists import JudgedLabels, Rankings

GRADE = 4
LARGEST = 2**31 - 1


def ends(kind: Kind) -> list[Any]:
    """The values at the ends of a range; of an open one, those next to the ends."""
    match kind:
        case Integer(least, most):
            return [least, LARGEST if most is None else most]
        case Number(low, high, closed):
            assert math.isfinite(high - low), "the range has no end"
            return [low, high] if closed else [np.nextafter(low, high), np.nextafter(high, low)]
        case Choice(names):
            return list(names)
        case UnitGain():
            return ["fraction", "scaled", {1: 1.0, 2: 0.0, 3: 5e-324, 4: 1.0}]
        case Gain():
            return [*sorted(GAINS), {1: MOST_GAIN, 2: 0.0, 3: 5e-324}]
        case Discount():
            return ["log2", "zipf", "log_2", f"log_{LARGEST}"]
    return []


def beyond(kind: Kind) -> list[Any]:
    """Values just beyond the ends of a range."""
    match kind:
        case Integer(least, most):
            return [least - 1, 2**31 if most is None else most + 1]
        case Number(low, high, closed):
            if not closed:
                return [low, high]
            return [float(np.nextafter(low, -np.inf)), float(np.nextafter(high, np.inf))]
        case Gain():
            return [
                {1: float(np.nextafter(1.0 if isinstance(kind, UnitGain) else MOST_GAIN, 1e99))}
            ]
    return []


def kinds(entry: Any) -> dict[str, Kind]:
    return {key: field.metadata["kind"] for key, field in entry.parameters().items()}


def extreme(name: str) -> Iterator[Measure]:
    """A measure with its parameters at the ends of their ranges, two at a time."""
    entry = MEASURES[name]
    every = {key: ends(kind) for key, kind in kinds(entry).items()}
    pairs = itertools.combinations([*every, None], 2) if every else [(None, None)]
    seen = set()
    for pair in pairs:
        keys = [key for key in pair if key is not None]
        for values in itertools.product(*(every[key] for key in keys)):
            measure = entry(**dict(zip(keys, values, strict=True)))
            for cutoff in (None, 2) if entry.cutoffs != "none" else (None,):
                if name == "IPrec":
                    cutoff = 0.5
                try:
                    cut = (measure if cutoff is None else measure @ cutoff).complete()
                except MeasureError:
                    continue
                if cut not in seen:
                    seen.add(cut)
                    yield cut


def data() -> list[Rankings]:
    generator = np.random.default_rng(7)
    lists = []
    for size, least in ((3, 0), (5, -2), (60, -1), (60, 0)):
        ranking = generator.integers(least, GRADE + 1, size)
        judged = [int(label) for label in ranking if label >= 0] + [GRADE, 0]
        known = JudgedLabels.of(judged, max_grade=GRADE)
        lists.append(Rankings.of(ranking.tolist(), judged=known))
    return lists


DATA = data()
UNDEFINED = ("ESL", "SearchLength")
"""Not defined for queries with fewer relevant documents than the user wants."""
QUESTIONS = ("score", "ideal", "worst", "expected", "variance", "bounds", "flip")


def check_finite(measure: Measure) -> None:
    for lists in DATA:
        for question in QUESTIONS:
            about = lists if question in ("score", "bounds", "flip") else lists.judged
            with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
                warnings.simplefilter("error")
                try:
                    answer = getattr(measure, f"{question}_each")(about)
                except Unsupported:
                    continue
            fit = ~np.isinf(answer) if measure.name in UNDEFINED else np.isfinite(answer)
            assert fit.all(), (str(measure), question, answer)


@pytest.mark.parametrize("name", sorted(MEASURES))
def test_at_the_ends_of_its_ranges_a_measure_is_finite_and_silent(name: str) -> None:
    for measure in extreme(name):
        check_finite(measure)


@pytest.mark.parametrize("name", sorted(MEASURES.keys() | WRAPPERS.keys()))
def test_a_value_just_beyond_a_range_is_refused_with_the_range(name: str) -> None:
    entry = MEASURES.get(name)
    for key, kind in kinds(entry if entry is not None else WRAPPERS[name]).items():
        for value in beyond(kind):
            with pytest.raises(MeasureError) as caught:
                entry(**{key: value}) if entry is not None else WRAPPERS[name](
                    parse("AP@3"), **{key: value}
                )
            assert f"{key}: " in str(caught.value)
            assert "expected" in str(caught.value)


@pytest.mark.parametrize("grade", [99, 1000, 2000, LARGEST])
@pytest.mark.parametrize("gain", sorted(GAINS))
def test_the_gain_of_a_high_grade_is_finite_or_refused(grade: int, gain: str) -> None:
    for name in ("DCG", "nDCG", "Q", "CG", "RBP"):
        measure = MEASURES[name](gain=gain)
        with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
            warnings.simplefilter("error")
            if gain == "exp2" and grade > 99:
                with pytest.raises(MeasureError, match="use gain=linear"):
                    measure.score([grade, 1])
                continue
            assert np.isfinite(measure.score([grade, 1, 0]))
            assert np.isfinite(measure.variance([grade, 1, 0]))
