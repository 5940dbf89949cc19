"""Measures whose definition says how equal scores are treated, such as the expected search length."""

from __future__ import annotations

import math
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from oracles import distinct_permutations
from oracles.search_length import search_length
from profiles import examples
from rankgauge import AP
from rankgauge.core.notes import note_texts
from rankgauge.core.policies import Ties
from rankgauge.measures import ESL, SearchLength
from rankgauge.measures.search_length import SearchLengthMeasure

TIED = {"q": {f"d{number}": 1.0 for number in range(1, 6)}}
FOUR_OF_FIVE = {"q": {"d1": 0, "d2": 1, "d3": 0, "d4": 0, "d5": 0}}
"""Five documents with one score, one of them relevant: Cooper's 4 · 1 / (1 + 1) = 2."""


def test_the_expected_search_length_averages_over_ties_unasked() -> None:
    scores = rg.evaluate(FOUR_OF_FIVE, TIED, ["ESL", "SearchLength", "AP"])
    assert scores.mean()["run"] == {"ESL": 2.0, "SearchLength": 3.0, "AP": 0.25}
    ties = {name: text.split("|")[1] for name, text in scores.signatures().items()}
    assert ties == {
        "ESL": "ties=expected",
        "SearchLength": "ties=docno",
        "AP": "ties=docno",
    }
    assert scores.notes == ()


@pytest.mark.parametrize("ties", get_args(Ties))
def test_a_definition_comes_before_the_policy_and_a_note_says_so(ties: Any) -> None:
    scores = rg.evaluate(FOUR_OF_FIVE, TIED, ["ESL", "SearchLength"], ties=ties)
    assert scores.mean()["run"]["ESL"] == 2.0
    assert "|ties=expected|" in scores.signatures()["ESL"]
    told = (f"ESL: ties=expected by its definition, not {ties}",)
    assert note_texts(scores.notes) == (() if ties in ("docno", "expected") else told)


def test_measures_made_of_it_average_too() -> None:
    names = ["gm(ESL)", "condensed(ESL)", "linear(ESL)", "upper(ESL)", "prefix_mean(AP@2)"]
    scores = rg.evaluate(FOUR_OF_FIVE, TIED, names)
    values = scores.mean()["run"]
    assert values["condensed(ESL)"] == values["upper(ESL)"] == 2.0
    assert values["gm(ESL)"] == pytest.approx(2.0)
    assert values["linear(ESL)"] == 0.0  # a run of one tie is a random ranking
    ties = [text.split("|ties=")[1].split("|")[0] for text in scores.signatures().values()]
    assert ties == ["expected"] * 4 + ["docno"]


def test_plain_lists_have_no_ties() -> None:
    labels = [0, 0, 1, 0, 1]
    assert ESL.score(labels) == SearchLength.score(labels) == 2.0
    assert rg.parse("expected_search_length") == rg.parse("ESL") == ESL
    assert rg.parse("SL") == SearchLength


@given(
    groups=st.lists(st.lists(st.integers(0, 1), min_size=1, max_size=4), min_size=1, max_size=3),
    j=st.integers(1, 2),
)
@examples(60)
def test_it_is_the_mean_of_search_lengths_over_all_orders(groups: list[list[int]], j: int) -> None:
    labels = {f"d{g}{i}": label for g, own in enumerate(groups) for i, label in enumerate(own)}
    run = {"q": {name: -float(name[1]) for name in labels}}
    lengths = []
    orders: list[list[int]] = [[]]
    for own in groups:
        orders = [[*head, *tail] for head in orders for tail in distinct_permutations(own)]
    for order in orders:
        lengths.append(search_length(order, list(labels.values()), 1, None, j=j))
    scores = rg.evaluate({"q": labels}, run, [ESL(j=j), AP, SearchLength(j=j)])
    mean = math.fsum(lengths) / len(lengths)
    assert scores.values[0, 0, 0] == pytest.approx(mean, nan_ok=True)
    alone = rg.evaluate({"q": labels}, run, [AP, SearchLength(j=j)])
    np.testing.assert_array_equal(scores.values[:, :, 1:], alone.values)


class Worst(SearchLengthMeasure):
    """A search length that takes the worst of ties."""

    name = "WorstSearchLength"
    own_ties = "pessimistic"


def test_a_measure_of_your_own_can_take_any_policy() -> None:
    qrels, run = {**FOUR_OF_FIVE, "r": {"d1": 1}}, {**TIED, "r": {"d2": 1.0, "d1": 1.0}}
    own = rg.evaluate(qrels, run, [Worst(), AP])
    asked = rg.evaluate(qrels, run, SearchLength, ties="pessimistic")
    assert own.values[0, :, 0].tolist() == asked.values[0, :, 0].tolist() == [4.0, 1.0]
    assert own.values[0, :, 1].tolist() == rg.evaluate(qrels, run, AP).values[0, :, 0].tolist()
    assert "|ties=pessimistic|" in own.signatures()["WorstSearchLength"]


def test_topics_that_a_run_lacks_and_files_in_pieces(tmp_path: Any) -> None:
    """An absent query is an empty ranking for both; a file is scored as a dict is."""
    qrels = {**FOUR_OF_FIVE, "r": {"d1": 1, "d2": 0}}
    path = tmp_path / "run"
    path.write_text("".join(f"q Q0 {name} 1 1.0 t\n" for name in TIED["q"]))
    for run in (TIED, path):
        scores = rg.evaluate(qrels, run, [ESL, SearchLength])
        assert scores.values[0].tolist() == [[2.0, 3.0], [1.0, 1.0]]
