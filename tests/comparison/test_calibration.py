"""Tests are as often wrong as they say, on real scores, and docs/COMPARISON.md has the numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import binom

from docs_scripts import DOCS, load
from profiles import examples
from rankgauge.comparison.significance import TESTS
from rankgauge.core.resampling import SamplingOptions

PAGE = (DOCS / "COMPARISON.md").read_text(encoding="utf-8")


SCRIPT = load("comparison")


@pytest.fixture(scope="module")
def data(real_data: Callable[[str], Path]) -> Path:
    return real_data("trec-topic-scores").parent


@pytest.mark.parametrize("test", list(SCRIPT.SIZES))
@pytest.mark.parametrize("exhaustive", [True, False])
@examples(15)
@given(st.data())
def test_the_size_of_a_test_is_its_share_of_all_signs(
    test: str, exhaustive: bool, data: st.DataObject
) -> None:
    topics = 10 if exhaustive else 11 if test == "randomization" else 14
    tenths = data.draw(st.lists(st.integers(0, 9), min_size=topics, max_size=topics))
    signs = 1 - 2 * (np.arange(2**topics)[:, None] >> np.arange(topics) & 1)
    found = SCRIPT.Simulated(signs * tenths / 10, np.zeros(signs.shape))
    p = TESTS[test](found.pairs(SamplingOptions(2**topics))).p
    if test == "randomization" and not exhaustive:
        chance = binom.cdf(99, 1999, p).mean()  # of at most 99 of 1,999 samples as far out
    else:
        chance = np.mean(p <= 0.05 + 1e-12)
    assert SCRIPT.attained(found.first(1), test) == pytest.approx(chance, abs=1e-12)


@pytest.mark.parametrize("name", list(SCRIPT.SCORES))
@pytest.mark.parametrize("topics", SCRIPT.TOPICS)
def test_no_difference_but_chance_is_found_as_often_as_it_should(
    name: str, topics: int, data: Path
) -> None:
    found = SCRIPT.swapped(SCRIPT.better(data, name), topics, 4000, seed=11)
    for test in ("paired-t", "randomization", "wilcoxon", "sign"):
        rate = SCRIPT.rate(test, name, found, drawn=300)
        assert abs(rate.distance) < 4, rate  # one of the 36 may well be beyond 3
    for test in ("welch", "student"):
        assert SCRIPT.rate(test, name, found, drawn=300).rate < 0.02


def test_a_rate_that_is_wrong_is_noticed(data: Path) -> None:
    found = SCRIPT.swapped(SCRIPT.better(data, "AP, TREC-8"), 50, 4000, seed=11)
    for test in ("paired-t", "wilcoxon", "sign"):
        assert SCRIPT.rate(test, "AP, TREC-8", found.raised(0.01), drawn=300).distance > 3


def test_corrected_families_have_a_false_alarm_in_at_most_one_of_twenty(data: Path) -> None:
    scores = SCRIPT.better(data, "AP, TREC-8")
    methods = (("paired-t", None), ("paired-t", "holm"), ("tukey-randomized", None))
    family = SCRIPT.Family(scores, (0, len(scores)), methods=methods)
    plain, *corrected = SCRIPT.families(family, 300, None).any(axis=2).mean(axis=0)
    assert plain > 0.3
    assert max(corrected) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 300)


@pytest.mark.parametrize(
    ("test", "name"),
    [("paired-t", "AP, TREC-8"), ("sign", "P@10, TREC-8"), ("welch", "nDCG@20, Web 2013")],
)
def test_the_page_has_the_rates(test: str, name: str, data: Path) -> None:
    scores = SCRIPT.better(data, name)
    rates = [
        SCRIPT.rate(test, name, SCRIPT.swapped(scores, topics, 20_000), drawn=0)
        for topics in SCRIPT.TOPICS
    ]
    ((*cells,),) = SCRIPT.rates_table(rates).rows
    rows = [" ".join(line.split()) for line in PAGE.splitlines()]
    assert " ".join(cells) in rows


@pytest.mark.parametrize("test", ["paired-t", "wilcoxon", "sign", "welch"])
def test_the_page_has_what_is_found_of_a_shift(test: str, data: Path) -> None:
    found = SCRIPT.swapped(SCRIPT.better(data, "AP, TREC-8"), 50, 2500, seed=1)
    power = [SCRIPT.alarms(found.raised(shift), test).mean() for shift in SCRIPT.SHIFTS]
    ((*cells,),) = SCRIPT.power_table({test: power}).rows
    assert " ".join(cells) in [" ".join(line.split()) for line in PAGE.splitlines()]
