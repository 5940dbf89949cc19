"""The report in headless Chromium: what a reader sees, clicks and types."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import DESKTOP, PHONE, Look, Opened, Opening, look_of
from page_texts import HOSTILE
from rankgauge.comparison.significance import holm
from rankgauge.tables import visible_line
from report_data import Data, page_text, report_data

EVERYWHERE = pytest.mark.parametrize(
    ("width", "dark"), [(PHONE, False), (PHONE, True), (DESKTOP, False), (DESKTOP, True)]
)
OWN_SCRIPTS = ["could act: script"] * 2
"""The data and the script of the page."""


@pytest.fixture(scope="module")
def data() -> Data:
    return report_data()


@pytest.fixture(scope="module")
def path(data: Data, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(data, tmp_path_factory.mktemp("report"))


@pytest.fixture
def opened(opening: Opening, path: Path) -> Iterator[Opened]:
    """The page of twenty runs; after the test it has written no message and asked for nothing."""
    with opening(path) as opened:
        yield opened
        assert (opened.messages, opened.requests) == ([], [])


def written(data: Data, folder: Path) -> Path:
    (folder / "report.html").write_text(page_text(data), encoding="utf-8")
    return folder / "report.html"


def faults(look: Look) -> list[str]:
    lines = look.faults()
    for own in OWN_SCRIPTS:
        lines.remove(own)
    return lines


def column(page: Any, number: int) -> list[str]:
    """The texts of a column of the leaderboard that can be seen."""
    cells = page.locator(f"#leaderboard tbody tr > :nth-child({number})")
    return [text.split("\n")[0].strip() for text in cells.all_inner_texts()]


def best_first(data: Data, measure: int) -> list[int]:
    return sorted(range(len(data["runs"])), key=lambda run: -data["means"][measure][run])


def run_names(data: Data, order: list[int]) -> list[str]:
    return [data["runs"][run] for run in order]


def status(page: Any) -> str:
    return str(page.locator("[role=status]").inner_text())


@EVERYWHERE
def test_the_page_is_legible_and_asks_for_nothing(
    opening: Opening, path: Path, width: int, dark: bool
) -> None:
    with opening(path, width, dark) as opened:
        assert faults(look_of(opened)) == []


def test_the_leaderboard_starts_with_the_best_run(opened: Opened, data: Data) -> None:
    order = best_first(data, 0)
    assert column(opened.page, 1) == run_names(data, order)
    assert [text[:6] for text in column(opened.page, 2)] == [
        f"{data['means'][0][run]:.4f}" for run in order
    ]


def test_a_column_sorts_both_ways_and_says_so(opened: Opened, data: Data) -> None:
    button = opened.page.get_by_role("button", name="AP mean", exact=True)
    head = opened.page.locator("#leaderboard th[aria-sort]")
    order = best_first(data, 1)
    button.click()
    assert column(opened.page, 1) == run_names(data, order)
    assert head.get_attribute("aria-sort") == "descending"
    assert status(opened.page) == "Sorted by AP mean, descending."
    opened.page.keyboard.press("Enter")
    assert column(opened.page, 1)[0] == data["runs"][order[-1]]
    assert head.get_attribute("aria-sort") == "ascending"
    opened.page.get_by_role("button", name="run", exact=True).click()
    assert column(opened.page, 1) == sorted(data["runs"])


@pytest.mark.parametrize("baseline", [0, 7, 19])
def test_p_values_against_the_baseline_are_those_of_holm(
    opened: Opened, data: Data, baseline: int
) -> None:
    opened.page.get_by_label("Baseline").select_option(str(baseline))
    assert status(opened.page) in ("", f"Baseline: {data['runs'][baseline]}.")
    others = [run for run in range(20) if run != baseline]
    firsts, seconds = np.triu_indices(20, 1)
    at = {
        frozenset(pair): number
        for number, pair in enumerate(zip(firsts.tolist(), seconds.tolist(), strict=True))
    }
    raw = [data["pairs"]["p"][0][at[frozenset((run, baseline))]] for run in others]
    corrected = dict(zip(others, holm(np.array(raw)).tolist(), strict=True))
    shown = dict(zip(column(opened.page, 1), column(opened.page, 4), strict=True))
    means = dict(zip(column(opened.page, 1), column(opened.page, 2), strict=True))
    assert shown.pop(data["runs"][baseline]) == "baseline"
    for run, p in corrected.items():
        name = data["runs"][run]
        assert shown[name] == ("< 0.0001" if p < 0.0001 else f"{p:.4f}")
        better = data["means"][0][run] > data["means"][0][baseline]
        assert means[name][6:].strip()[:1] == (("▲" if better else "▼") if p <= 0.05 else "")


def test_without_a_baseline_there_are_no_p_values(opened: Opened) -> None:
    assert opened.page.get_by_role("button", name="AP p", exact=True).count() == 1
    opened.page.get_by_label("Baseline").select_option("none")
    assert opened.page.get_by_role("button", name="AP p", exact=True).count() == 0
    assert not any("▲" in text for text in column(opened.page, 2))


def test_a_line_stands_below_runs_that_are_settled_above_the_next(
    opened: Opened, data: Data
) -> None:
    def lines(number: int) -> list[bool]:
        cells = opened.page.locator(f"#leaderboard tbody tr > :nth-child({number})")
        return ["settled" in cell.get_attribute("class") for cell in cells.all()]

    assert lines(2) == [*data["settled"][0], False]
    opened.page.get_by_role("button", name="nDCG@10 mean", exact=True).click()
    assert lines(2) == [*data["settled"][0][::-1], False]
    assert not any(lines(5))


def test_chance_and_bounds_are_shown_as_numbers_on_demand(opened: Opened, data: Data) -> None:
    opened.page.get_by_label("Show chance and bounds as numbers").check()
    best = best_first(data, 0)[0]
    row = opened.page.locator("#leaderboard tbody tr").first.inner_text()
    for number in (data["chance"][0][best], *data["bounds"][0][best]):
        assert f"{number:.4f}" in row


def test_the_colours_can_be_switched(opened: Opened) -> None:
    def paper() -> str:
        return str(
            opened.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        )

    light = paper()
    opened.page.get_by_role("button", name="Dark colours").click()
    assert paper() != light
    assert faults(look_of(opened)) == []
    opened.page.get_by_role("button", name="Light colours").click()
    assert paper() == light


def test_print_has_no_controls_and_is_light(opening: Opening, path: Path) -> None:
    with opening(path, DESKTOP, True) as opened:
        opened.page.emulate_media(media="print")
        assert opened.page.locator("select:visible, input:visible, .theme:visible").count() == 0
        assert (
            opened.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
            == "rgb(255, 255, 255)"
        )


@EVERYWHERE
def test_hostile_names_are_texts(opening: Opening, tmp_path: Path, width: int, dark: bool) -> None:
    names = [visible_line(text) for text in HOSTILE]
    data = report_data(names=names)
    plain = written(report_data(), tmp_path)
    with opening(plain, width, dark) as opened:
        elements = set(look_of(opened).elements)
    data["topics"][: len(names)] = names
    data["topicTexts"][: len(names)] = names
    data["rankings"]["documents"][: len(names)] = names
    data["measures"][0] = data["agreement"]["measures"][0] = names[0]
    with opening(written(data, tmp_path), width, dark) as opened:
        look = look_of(opened)
        assert faults(look) == []
        assert set(look.elements) == elements
        for name in names:
            assert " ".join(name.split()) in look.text


def bare(data: Data) -> None:
    """What a report from scores alone lacks."""
    for key in ("baseline", "judged", "chance", "bounds", "settled", "expected", "types"):
        data[key] = None
    for key in ("topicTexts", "rankings", "agreement", "power", "swaps"):
        data[key] = None


def unknown_scores(data: Data) -> None:
    """A run that lacks topics, and a measure that could not be computed."""
    data["values"][0][3] = [None] * len(data["topics"])
    data["means"][0][3] = data["low"][0][3] = data["high"][0][3] = None
    for key in ("p", "corrected", "wins", "losses"):
        data["pairs"][key][1] = [None] * len(data["pairs"][key][1])


def lower_is_better(data: Data) -> None:
    data["directions"] = [-1, 0, 1]


@pytest.mark.parametrize("change", [bare, unknown_scores, lower_is_better])
@pytest.mark.parametrize(("runs", "topics"), [(4, 5), (5, 1)])
def test_a_page_with_less_is_still_a_page(
    opening: Opening, tmp_path: Path, change: Callable[[Data], None], runs: int, topics: int
) -> None:
    data = report_data(runs, topics)
    change(data)
    with opening(written(data, tmp_path), PHONE) as opened:
        assert faults(look_of(opened)) == []
        assert opened.page.locator("#leaderboard tbody tr").count() == runs


def test_axe_finds_no_serious_fault(opening: Opening, path: Path, axe: str) -> None:
    for dark in (False, True):
        with opening(path, DESKTOP, dark) as opened:
            opened.page.evaluate(axe)
            found = opened.page.evaluate("axe.run()")
            serious = [
                (each["id"], each["nodes"][0]["html"][:200])
                for each in found["violations"]
                if each["impact"] in ("serious", "critical")
            ]
            assert serious == []


@pytest.fixture(scope="module")
def axe() -> str:
    """The script of axe-core, from AXE_CORE or a folder node_modules."""
    here = Path(__file__).parents[2] / "node_modules" / "axe-core" / "axe.min.js"
    script = Path(os.environ.get("AXE_CORE", here))
    if not script.is_file():
        pytest.skip("no axe-core: set AXE_CORE to the path of axe.min.js (npm pack axe-core)")
    return script.read_text(encoding="utf-8")
