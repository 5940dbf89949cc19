"""What docs/ASSESSMENT.md says of measures on TREC's runs is what its script finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import rankgauge as rg
from docs_scripts import DOCS, load

PAGE = (DOCS / "ASSESSMENT.md").read_text(encoding="utf-8")
ROWS = [line.split() for line in PAGE.splitlines()]


SCRIPT = load("assessment")


@pytest.fixture(scope="module")
def data(real_data: Callable[[str], Path]) -> Path:
    return real_data("trec-topic-scores").parent


@pytest.fixture(scope="module")
def covid(real_data: Callable[[str], Path]) -> rg.Scores:
    folder = real_data("trec-covid/round1")
    measures = ["nDCG@10", "v1(nDCG@10)", "v2(nDCG@10)", "AP", "v2(AP)", "RR"]
    return rg.evaluate(
        folder / "qrels" / "qrels-rnd1.txt", sorted((folder / "runs").iterdir()), measures
    )


def words(row: Iterable[object]) -> list[str]:
    return " ".join(map(str, row)).split()


def test_the_share_of_topics_is_that_of_a_two_way_table() -> None:
    runs, topics = np.array([[0.0], [1.0], [5.0]]), np.array([[0.0, 2.0, 4.0, 6.0]])
    assert SCRIPT._topics_share(runs + topics) == pytest.approx(1.0)
    turned = np.array([[1.0, -1.0, 1.0, -1.0], [-1.0, 1.0, -1.0, 1.0]])
    assert SCRIPT._topics_share(turned) == pytest.approx(0.0)
    # Of the sum of squares 2 · 20 are between queries, and 8 are neither runs' nor queries'.
    assert SCRIPT._topics_share(turned + topics) == pytest.approx(40 / 48)


def test_teams_that_are_drawn_twice_weigh_their_pairs() -> None:
    """The runs of a team are alike, and those of one team are better: four of six pairs differ. Where
    one team alone is drawn, none does."""
    noise = 0.01 * np.random.default_rng(3).normal(size=(4, 20))
    values = np.array([[0.0], [0.0], [1.0], [1.0]]) + noise
    values[1], values[3] = values[0], values[2]
    scores = rg.Scores.from_matrix(values, runs=["a", "b", "c", "d"], measure="AP")
    with ThreadPoolExecutor(1) as executor:
        teams = ("one", "one", "two", "two")
        samples = SCRIPT.resampled(scores, teams, "paired-t", 4, executor)
    assert samples.queries.ravel() == pytest.approx(np.full(4, 2 / 3))
    drawn, counts = np.unique(samples.teams.round(6), return_counts=True)
    assert drawn.tolist() == [0.0, 0.666667]
    assert 400 < counts[0] < 600


def test_v2_loses_by_a_paired_test_and_gains_by_an_unpaired_one(covid: rg.Scores) -> None:
    gains = []
    for test in ("paired-t", "student"):
        found = rg.assess(covid, test=test, splits=0)
        gains.append(SCRIPT.power(found, "v2(nDCG@10)") - SCRIPT.power(found, "nDCG@10"))
    assert gains[0] < 0 < gains[1]
    (row,) = [row for row in ROWS if row[:1] == ["v2(nDCG@10)"] and row[1].startswith("-0.0")]
    assert [row[1], row[7]] == [f"{gain:+.3f}" for gain in gains]


def test_the_page_has_the_powers_and_halves_of_the_runs(covid: rg.Scores) -> None:
    for row in SCRIPT.halves_table(rg.assess(covid)).rows:
        assert words((*row[:2], *(f"{value:.4f}" for value in row[2:]))) in ROWS


def test_the_page_has_what_is_found_of_matrices(data: Path) -> None:
    with ThreadPoolExecutor(2) as executor:
        halves, powers, pairs = SCRIPT.matrix_tables(data, 99, executor)
    for row in halves.rows:
        assert words((*row[:3], *(f"{value:.4f}" for value in row[3:]))) in ROWS
    exact = [_without_drawn(row) for row in ROWS if len(row) > 8]
    for row in powers.rows:
        assert _without_drawn(words(row)) in exact
    for row in pairs.rows:
        assert words(row) in ROWS


def _without_drawn(row: list[str]) -> list[str]:
    """Without randomization, bootstrap and tukey-randomized: they have other samples here."""
    return [*row[:-6], *row[-4:-2], row[-1]]


def test_a_constant_changes_pad_and_no_test(covid: rg.Scores) -> None:
    rows = SCRIPT.pad_table(SCRIPT.Collection(Path("qrels"), covid, ("team",) * 143)).rows
    assert all(words(row) in ROWS for row in rows)
    first, *shifted = rows[:3]
    assert all(row[5] == first[5] and float(row[3]) < float(first[3]) for row in shifted)
