"""What a cut-off far beyond the documents costs, and what it gives.

The cost is counted, not timed: Python calls, and bytes at the peak. A budget of calls ends an answer
that would never end.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

from laws.strategies import HIGHEST, MEASURES, WRAPPERS
from laws.test_measures import by_oracle
from profiles import some, thorough
from rankgauge import parse
from rankgauge.core.checks import Integer
from rankgauge.distance.algorithms.lists import Lists
from rankgauge.errors import MeasureError, Unsupported
from rankgauge.measures import Measure
from rankgauge.measures.gains import divisors, sum_of_discounts
from rankgauge.measures.wrappers import MOST_CUTOFFS
from rankgauge.rankings.lists import JudgedLabels, Rankings
from rankgauge.testing import variants

RANKING, JUDGED = [1, -1, 0], [3, 2, 1, 0, 0]
LARGEST = 2**31 - 1
MOST_CALLS = 100_000
ROOM = 64 << 10
"""Bytes that any number of ranks may take: a thousand of them are added up one by one."""
DEEP = 200 if thorough() else 40
"""Far beyond the five documents of a mean over cut-offs."""
CUTOFFS = (10, 10**4, 10**6, LARGEST) if thorough() else (10, 10**4, LARGEST)
INSIDE = ("nDCG", "SDCG", "alpha_DCG", "P", "AP(norm=k)", "RBP", "INST", "compat", "BPM", "ERR")


class Endless(BaseException):
    """More calls than an answer about three documents needs."""


def cuttable() -> Iterator[Measure]:
    for _, measure in sorted(MEASURES.items()):
        (field,) = (f for f in dataclasses.fields(measure) if f.name == "cutoff")
        if measure.cutoffs != "none" and isinstance(field.metadata["kind"], Integer):
            yield measure


CUT = list(cuttable())
CUT += map(parse, ["AP(norm=k)", "compat(p=0.999999)", "alpha_DCG(alpha=0)"])
CUT += map(parse, ["SDCG(discount=log_2)", "SDCG(discount=log_2000000000)"])
CASES = [(measure, lambda inside: inside) for measure in CUT]
CASES += [
    (parse(name), wrapper) for _, wrapper in sorted(WRAPPERS.items()) for name in some(INSIDE, 5)
]


def answers(measure: Measure) -> dict[str, Callable[[], Any]]:
    """Everything that a measure answers about a short list."""
    judged = JudgedLabels.of(JUDGED, max_grade=HIGHEST)
    one = Rankings.of(RANKING, judged=judged)
    return {
        "score": lambda: measure.score_each(one),
        "ideal": lambda: measure.ideal_each(judged),
        "worst": lambda: measure.worst_each(judged),
        "expected": lambda: measure.expected_each(judged),
        "variance": lambda: measure.variance_each(judged),
        "bounds": lambda: measure.bounds_each(one),
        "flips": lambda: measure.flip_each(one),
        "distance": lambda: measure.distance_each(pair(), np.array([0]), np.array([1])),
    }


def pair() -> Lists:
    return Lists(
        documents=np.array([0, 1, 2, 3, 1], dtype=np.int32),
        offsets=np.array([0, 3, 5]),
        labels=np.array([1, -1, 0, -1], dtype=np.int32),
        judged=JudgedLabels.of(JUDGED, max_grade=HIGHEST),
        grades=np.arange(HIGHEST + 1, dtype=np.int32),
        offlist=False,
    )


def cost(answer: Callable[[], Any]) -> tuple[int, int]:
    """How many calls an answer takes, and how many bytes at its peak."""
    calls = 0

    def count(_: FrameType, event: str, __: Any) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")
        if calls > MOST_CALLS:
            raise Endless

    tracemalloc.start()
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        answer()
    except (Unsupported, MeasureError):
        pass
    finally:
        sys.setprofile(before)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return calls, peak


@pytest.mark.parametrize(
    ("measure", "wrapper"), CASES, ids=lambda x: getattr(x, "name", "") if x else ""
)
def test_the_cost_of_an_answer_does_not_grow_with_the_cutoff(
    measure: Measure, wrapper: Callable[[Measure], Measure]
) -> None:
    for question in answers(measure):
        costs = []
        for cutoff in CUTOFFS:
            try:
                cut = wrapper(measure @ cutoff).complete()
            except MeasureError:
                continue
            if not costs:
                with contextlib.suppress(Unsupported, MeasureError):
                    answers(cut)[question]()  # what is imported at the first call is not counted
            costs.append(cost(answers(cut)[question]))
            calls, peak = costs[-1]
            assert calls <= 2 * costs[0][0] + 200, (str(cut), question, costs)
            assert peak <= costs[0][1] + ROOM, (str(cut), question, costs)


@pytest.mark.parametrize("measure", CUT, ids=str)
def test_a_mean_over_cutoffs_beyond_the_documents_is_the_mean_by_definition(
    measure: Measure,
) -> None:
    generator = np.random.default_rng(len(str(measure)))
    for variant in {v @ DEEP for v in variants(measure)}:
        whole = WRAPPERS["prefix_mean"](variant)
        ranking = generator.integers(-1, HIGHEST + 1, 3).tolist()
        judged = [label for label in ranking if label >= 0] + generator.integers(0, 4, 2).tolist()
        score = whole.score(ranking, judged, max_grade=HIGHEST)
        assert score == pytest.approx(by_oracle(whole, ranking, judged), rel=1e-11, abs=1e-13)
        each = [variant @ cutoff for cutoff in range(1, DEEP + 1)]
        if variant.direction != "none" and whole.answers()["expected"] == "exact":
            means = [m.expected(judged, max_grade=HIGHEST) for m in each]
            mean = math.fsum(means) / DEEP
            assert whole.expected(judged, max_grade=HIGHEST) == pytest.approx(mean, rel=1e-11)
        if variant.monotone:
            ends = np.mean([m.bounds(ranking, judged, max_grade=HIGHEST) for m in each], axis=0)
            bounds = whole.bounds(ranking, judged, max_grade=HIGHEST)
            assert tuple(bounds) == pytest.approx(tuple(ends), rel=1e-11)


@pytest.mark.parametrize("name", ["nDCG", "RBP", "P", "INSQ", "AP", "SDCG"])
def test_independent_ranks_beyond_the_documents_are_few_or_refused(name: str) -> None:
    """The formula of reb=independent counts k ranks, whether documents fill them or not."""
    measure = parse(f"v1({name}@{LARGEST},reb=independent)")
    assert cost(lambda: measure.score(RANKING, JUDGED, max_grade=HIGHEST))[1] < 1 << 20


def test_a_mean_over_a_thousand_million_cutoffs_is_known_or_refused() -> None:
    assert parse("prefix_mean(nDCG@2000000000)").score([1, 0]) == pytest.approx(1.0)
    precision = parse("prefix_mean(P@2000000000)").score([1])
    assert precision == pytest.approx((math.log(2e9) + np.euler_gamma) / 2e9)
    assert parse(f"prefix_mean(INST@{MOST_CUTOFFS})").score([1]) > 0
    with pytest.raises(MeasureError, match=r"expected a cutoff of at most 1,000"):
        parse("prefix_mean(INST@2000000000)").score([1])


@pytest.mark.parametrize("discount", ["log2", "zipf", "log_2", "log_50", "log_5000"])
@pytest.mark.parametrize("count", [1, 999, 1001, 5001, 200_000])
@pytest.mark.parametrize("kept", [1.0, 0.99999, 0.999, 0.5, 0.0])
def test_the_sum_of_discounts_is_that_of_all_ranks(discount: str, count: int, kept: float) -> None:
    right = math.fsum(kept ** np.arange(count) / divisors(discount, count))
    assert sum_of_discounts(discount, count, kept) == pytest.approx(right, rel=1e-12)
