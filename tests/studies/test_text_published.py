"""What the printed correlations of Feng's dissertation are over, by the steps that they can have."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rankgauge.text.evaluation import evaluate
from rankgauge.text.human.correlation import human_correlation
from rankgauge_studies.text import published
from rankgauge_studies.text.protocol import ABSTRACTIVE, RatedSummaries

SYSTEMS = 12
PAIRS = SYSTEMS * (SYSTEMS - 1) // 2
MOST_TIED = 5
"""So many pairs of systems, at most, may have the same mean rating."""


def truncated_to(value: float, printed: float) -> bool:
    """Whether a number has these digits. What is printed ends before its zeros."""
    digits = len(repr(abs(printed)).partition(".")[2]) if printed else 3
    return math.isclose(math.trunc(value * 10**digits + 1e-9) / 10**digits, abs(printed))


def steps(untied: int) -> list[float]:
    """What τ-b over 12 systems can be, but for its sign, if the metric ties no pair and people leave so
    many pairs untied: the pairs in the same order less the others are as odd or even as all of them."""
    return [n / math.sqrt(PAIRS * untied) for n in range(untied % 2, untied + 1, 2)]


def untied_pairs(column: list[float]) -> list[int]:
    """The numbers of untied pairs with which all numbers of a dimension are steps over 12 systems."""
    return [
        untied
        for untied in range(PAIRS - MOST_TIED, PAIRS + 1)
        if all(any(truncated_to(step, value) for step in steps(untied)) for value in column)
    ]


@pytest.mark.parametrize("number", ["8.1", "8.2", "8.3"])
def test_tables_8_1_to_8_3_are_on_the_steps_of_twelve_systems(number: str) -> None:
    _, rows, _ = published.CORRELATIONS[number]
    columns = zip(rows["score"], rows["v1"], rows["v2"], strict=True)
    fits = [untied_pairs(list(column)) for column in columns]
    assert all(fits)
    expected = {
        "8.1": {
            1: 65,
            2: 65,
        },  # one tie by people in consistency and in fluency, none in the others
        "8.2": {0: 65, 2: 65},
        "8.3": {2: 61},
    }[number]
    for d, own in enumerate(fits):
        assert expected.get(d, PAIRS) in own
    assert published.PRINTED_LEVELS[number][0] == "systems"


def test_numbers_beside_the_steps_of_twelve_systems_are_noticed() -> None:
    """The check can fail: three digits that are drawn at random hardly ever fit."""
    random = np.random.default_rng(0)
    drawn = [random.uniform(-0.5, 0.5, 3).round(3).tolist() for _ in range(300)]
    assert sum(bool(untied_pairs(column)) for column in drawn) <= 6


def test_table_9_1_is_not_on_the_steps_of_twelve_systems() -> None:
    """Its increases are smaller than what one pair of systems changes, whatever digits were cut off."""
    _, rows, _ = published.CORRELATIONS["9.1"]
    step = 1 / PAIRS
    for d, base in enumerate(rows["score"]):
        least = 100 * step / (base + 0.01)
        for form in ("PAI v1", "PAI v2"):
            assert 0 < abs(rows[form][d]) < least
    assert published.PRINTED_LEVELS["9.1"][0] == "rows"


def test_over_all_outputs_rouge_2_has_the_size_of_table_9_1(
    real_data: Callable[[str], Path],
) -> None:
    """τ-b of the 1,200 summaries by 12 systems that write, with the first reference."""
    pytest.importorskip("rouge_score_rs")
    data = RatedSummaries.read("summeval", str(real_data("summeval/summeval.json.gz")))
    texts = data.texts.select(data.groups[ABSTRACTIVE])
    scores = evaluate(texts, "rouge2(references=first)")
    found = {
        over: human_correlation(scores, data.ratings, over, samples=1).tau_b[0].round(3).tolist()
        for over in ("systems", "texts", "rows")
    }
    assert found["rows"] == [0.094, 0.13, 0.07, 0.182]
    assert found["texts"] == [0.074, 0.17, 0.104, 0.144]
    assert found["systems"] == [0.303, 0.364, 0.515, 0.545]
    printed = published.CORRELATIONS["9.1"][1]["score"]
    assert np.argsort(found["rows"]).tolist() == np.argsort(printed).tolist()
    assert np.argsort(found["texts"]).tolist() != np.argsort(printed).tolist()
