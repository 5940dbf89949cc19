"""The report in headless Chromium: what a reader sees, clicks and types."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import DESKTOP, PHONE, Look, Opened, Opening, look_of
from page_texts import HOSTILE
from rankgauge.comparison.significance import holm
from rankgauge.core.tables import visible_line
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
        classes = cells.evaluate_all("every => every.map(each => each.getAttribute('class'))")
        return ["settled" in each for each in classes]

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


def cell(page: Any, first: int, second: int) -> Any:
    """The cell of the matrix for two runs: the first minus the second."""
    return page.locator(f".matrix [data-first='{first}'][data-second='{second}']")


def pair_number(data: Data, first: int, second: int) -> int:
    pairs = list(itertools.combinations(range(len(data["runs"])), 2))
    return pairs.index((min(first, second), max(first, second)))


def sorted_differences(
    data: Data, measure: int, first: int, second: int
) -> list[tuple[float, str]]:
    """The differences and queries of two runs, the greatest first."""
    values = data["values"][measure]
    found = [
        (one - two, query)
        for one, two, query in zip(values[first], values[second], data["queries"], strict=True)
    ]
    return sorted(found, key=lambda each: -each[0])


def signed(value: float) -> str:
    return (
        f"{value:+.4f}".replace("-", "−").replace("+0.0000", "0.0000").replace("−0.0000", "0.0000")
    )


def test_the_matrix_has_every_difference_with_its_corrected_p(opened: Opened, data: Data) -> None:
    cells = opened.page.locator(".matrix [data-item]:not(.same)").evaluate_all(
        """every => every.map(each => [
            Number(each.dataset.first), Number(each.dataset.second),
            each.getAttribute("aria-label"), each.textContent.trim()
        ])"""
    )
    labels = {(first, second): (label, sign) for first, second, label, sign in cells}
    assert len(labels) == 20 * 19
    for (first, second), (label, sign) in labels.items():
        number = pair_number(data, first, second)
        difference = data["means"][0][first] - data["means"][0][second]
        p = data["pairs"]["corrected"][0][number]
        wins, losses = (data["pairs"][key][0][number] for key in ("wins", "losses"))
        if first > second:
            wins, losses = losses, wins
        shown = "< 0.0001" if p < 0.0001 else f"{p:.4f}"
        assert label.split("\n") == [
            f"{data['runs'][first]} − {data['runs'][second]}: {signed(difference)}",
            f"corrected p {shown}",
            f"better on {wins}, worse on {losses} of 50 queries",
        ]
        assert sign == (("▲" if difference > 0 else "▼") if p <= 0.05 else "")


def test_a_click_opens_a_pair_and_escape_closes_it(opened: Opened, data: Data) -> None:
    page, panel = opened.page, opened.page.locator(".panel")
    assert not panel.is_visible()
    cell(page, 5, 3).click()
    number = pair_number(data, 5, 3)
    wins, losses = data["pairs"]["losses"][0][number], data["pairs"]["wins"][0][number]
    text = panel.inner_text()
    assert "run-05 against run-03 by nDCG@10" in text
    assert signed(data["means"][0][5] - data["means"][0][3]) in text
    assert f"{wins}, {50 - wins - losses}, {losses}" in text
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")  # wherever the focus is
    page.keyboard.press("Escape")
    assert not panel.is_visible()
    assert cell(page, 5, 3).evaluate("each => each === document.activeElement")
    assert faults(look_of(opened)) == []


def test_bars_are_sorted_and_a_query_shows_both_rankings(opened: Opened, data: Data) -> None:
    page, query = opened.page, opened.page.locator(".query")
    cell(page, 5, 3).click()
    bars = page.locator(".bars [data-item]")
    expected = sorted_differences(data, 0, 5, 3)
    labels = bars.evaluate_all("all => all.map((each) => each.getAttribute('aria-label'))")
    assert [label.split("\n")[1].split(" = ")[0] for label in labels] == [
        signed(difference) for difference, _ in expected
    ]
    bars.last.click()
    worst = data["queries"].index(expected[-1][1])
    assert query.get_by_role("heading", level=4).inner_text() == f"Query {expected[-1][1]}"
    assert data["queryTexts"][worst] in query.inner_text()
    rankings = data["rankings"]
    lists = [rankings["lists"][run][worst] for run in (5, 3)]
    for own, other, words, shown in zip(
        lists,
        lists[::-1],
        (("to", "only here"), ("from", "only here")),
        query.locator("ol").all(),
        strict=True,
    ):
        for rank, (document, item) in enumerate(zip(own, shown.locator("li").all(), strict=True)):
            place = other.index(document) if document in other else None
            label = rankings["labels"][worst].get(str(document))
            parts = [item.locator(f".{name}").inner_text() for name in ("rank", "name", "move")]
            moved = "same" if place == rank else f"{words[0]} {(place or 0) + 1}"
            assert parts == [
                str(rank + 1),
                rankings["documents"][document],
                words[1] if place is None else moved,
            ]
            grade = item.locator(".label").inner_text().removeprefix("label").strip()
            assert grade == ("unjudged" if label is None else str(label))
            text = rankings["texts"][document]
            assert item.locator(".text").all_inner_texts() == ([] if text is None else [text])
    assert query.locator(".links line").count() == len(set(lists[0]) & set(lists[1]))
    page.mouse.move(0, 0)
    page.locator(".panel summary").click()
    assert page.locator("details tbody tr").count() == 50
    assert faults(look_of(opened)) == []
    page.keyboard.press("Escape")
    assert query.inner_text() == ""
    assert page.locator(".panel").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator(".panel").is_visible()


def test_pairs_and_queries_open_by_keyboard_alone(opened: Opened) -> None:
    page = opened.page
    page.locator(".matrix [tabindex='0']").focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "End", "Home"):
        page.keyboard.press(key)
    focused = page.locator(".matrix :focus")
    assert page.locator(".tip").inner_text() == focused.get_attribute("aria-label")
    page.keyboard.press("Enter")
    assert page.locator(".panel h3").evaluate("each => each === document.activeElement")
    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Close"
    page.keyboard.press("Tab")
    if page.locator(":focus").get_attribute("data-item") is None:  # the box that scrolls
        page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    page.keyboard.press(" ")
    assert page.locator(".query h4").evaluate("each => each === document.activeElement")


def test_a_phone_shows_a_pair_and_a_query(opening: Opening, path: Path) -> None:
    with opening(path, PHONE) as opened:
        cell(opened.page, 5, 3).click()
        opened.page.locator(".bars [data-item]").first.click()
        lists = [each.bounding_box() for each in opened.page.locator(".query ol").all()]
        assert lists[1]["y"] >= lists[0]["y"] + lists[0]["height"]
        opened.page.locator(".panel summary").click()
        visible = [line for line in faults(look_of(opened)) if line != "not visible: svg "]
        assert visible == []


def test_a_matrix_of_many_runs_has_the_best_and_a_filter(opening: Opening, tmp_path: Path) -> None:
    data = report_data(143, 6)
    with opening(written(data, tmp_path)) as opened:
        rows = opened.page.locator("#differences .matrix tbody th .cut")
        assert rows.all_inner_texts() == run_names(data, best_first(data, 0)[:40])
        note = "The matrix shows the best 40 of 143 runs. Filter to see others."
        assert opened.page.get_by_text(note).is_visible()
        opened.page.get_by_label("Runs with").fill("RUN-11")
        matching = [run for run in best_first(data, 0) if "run-11" in data["runs"][run]]
        assert rows.all_inner_texts() == run_names(data, matching)
        assert status(opened.page) == f"{len(matching)} of 143 runs."
        opened.page.get_by_label("Runs with").fill("nothing has this")
        assert status(opened.page) == "0 of 143 runs."
        assert (opened.messages, opened.requests) == ([], [])


def heat_rows(page: Any) -> list[str]:
    """The queries in the heat map, from above."""
    return list(page.locator(".heat tbody th .cut").all_inner_texts())


def test_the_heat_map_has_every_score(opened: Opened, data: Data) -> None:
    labels = opened.page.evaluate(
        "[...document.querySelectorAll('.heat [data-item]')].map((each) => each.ariaLabel)"
    )
    assert sorted(labels) == sorted(
        f"{run}, query {query}: {data['values'][0][i][j]:.4f}"
        for i, run in enumerate(data["runs"])
        for j, query in enumerate(data["queries"])
    )
    heads = opened.page.locator(".heat .turned").all_inner_texts()
    assert heads == run_names(data, best_first(data, 0))


def test_queries_sort_by_their_mean(opened: Opened, data: Data) -> None:
    opened.page.locator("#queries").get_by_role("button", name="mean", exact=True).click()
    means = np.mean(data["values"][0], axis=0)
    order = np.argsort(means, kind="stable")
    assert heat_rows(opened.page) == [data["queries"][query] for query in order]
    shown = opened.page.locator(".heat tbody tr").first.inner_text()
    assert f"{means[order[0]]:.4f}" in shown
    assert status(opened.page) == "Sorted by mean, ascending."


def test_queries_are_filtered_by_type_and_searched_by_id_and_text(
    opened: Opened, data: Data
) -> None:
    page = opened.page
    ideal = [query for query, kind in enumerate(data["types"][0]) if kind == "ideal"]
    page.get_by_label("Type").select_option("ideal")
    assert heat_rows(page) == [data["queries"][query] for query in ideal]
    assert page.locator(".map [data-item]").count() == len(ideal)
    assert status(page) == f"{len(ideal)} queries of 50."
    page.get_by_label("Type").select_option("all")
    page.get_by_label("Queries whose id or text contains").fill("Question 7 about")
    assert heat_rows(page) == ["408"]
    page.get_by_label("Queries whose id or text contains").fill("45")
    assert "450" in heat_rows(page)
    page.get_by_label("Queries whose id or text contains").fill("no such query")
    assert heat_rows(page) == []
    assert status(page) == "0 queries of 50."


def test_the_map_has_the_scores_against_chance(opened: Opened, data: Data) -> None:
    def points() -> set[str]:
        labels = opened.page.locator(".map [data-item]").evaluate_all(
            "all => all.map((each) => each.ariaLabel)"
        )
        return set(labels)

    def expected(scores: list[float]) -> set[str]:
        return {
            f"Query {query}, {kind}\nscore {score:.4f}, chance {chance:.4f}"
            for query, kind, score, chance in zip(
                data["queries"], data["types"][0], scores, data["expected"][0], strict=True
            )
        }

    assert points() == expected(np.mean(data["values"][0], axis=0).tolist())
    opened.page.get_by_label("Score of").select_option("run-04")
    assert points() == expected(data["values"][0][4])


def test_a_cell_of_the_heat_map_opens_the_query_against_the_baseline(opened: Opened) -> None:
    opened.page.get_by_label("Baseline").select_option("run-07")
    opened.page.locator(".heat [data-run='4'][data-query='6']").click()
    assert "run-04 against run-07" in opened.page.locator(".panel h3").inner_text()
    assert opened.page.locator(".query h4").inner_text() == "Query 407"


def test_the_measures_show_agreement_power_and_swaps(opened: Opened, data: Data) -> None:
    rows = opened.page.locator(".numbers tbody tr")
    for row, taus in zip(rows.all(), data["agreement"]["tau"], strict=True):
        assert row.locator("td").all_inner_texts() == [f"{tau:.4f}" for tau in taus]
    text = opened.page.locator("#measures").inner_text()
    for power, swap in zip(data["power"], data["swaps"], strict=True):
        assert f"{power['significant']} of {power['pairs']}" in text
        assert f"{100 * swap['rate']:.1f} %" in text
    widths = [
        float(bar.get_attribute("width"))
        for bar in opened.page.locator("#measures .bar .fill").all()
    ]
    shares = [power["share"] for power in data["power"]]
    assert np.allclose(np.array(widths[:3]) / widths[0], np.array(shares) / shares[0])


def test_the_colors_can_be_switched(opened: Opened) -> None:
    def paper() -> str:
        return str(
            opened.page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
        )

    light = paper()
    opened.page.get_by_role("button", name="Dark colors").click()
    assert paper() != light
    assert faults(look_of(opened)) == []
    opened.page.get_by_role("button", name="Light colors").click()
    assert paper() == light


def test_print_is_light_and_opened_without_controls(opening: Opening, path: Path) -> None:
    with opening(path, 794, True) as opened:
        page = opened.page
        cell(page, 5, 3).click()
        page.locator(".bars [data-item]").first.click()
        assert page.locator(".heat").evaluate("each => each.parentElement.scrollHeight > 900")
        page.emulate_media(media="print")
        controls = "select:visible, input:visible, .theme:visible, .hint:visible, nav:visible"
        assert page.locator(controls).count() == 0
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == (
            "rgb(255, 255, 255)"
        )
        assert page.locator("details tbody tr").first.is_visible()
        box = page.locator(".heat").evaluate(
            "each => each.parentElement.scrollHeight - each.parentElement.clientHeight"
        )
        assert box <= 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 794


def open_everything(page: Any) -> None:
    """Open a pair of runs, its first query and its table."""
    cell(page, 2, 5).click()
    page.locator(".panel summary").click()
    page.locator("details tbody button").first.click()
    page.mouse.move(0, 0)


@EVERYWHERE
def test_hostile_names_are_texts(opening: Opening, tmp_path: Path, width: int, dark: bool) -> None:
    names = [visible_line(text) for text in HOSTILE]
    size = len(names) + 2
    data = report_data(size, size, names=names)
    plain = written(report_data(size, size), tmp_path)
    with opening(plain, width, dark) as opened:
        open_everything(opened.page)
        elements = set(look_of(opened).elements)
    data["queries"][: len(names)] = names
    data["queryTexts"][: len(names)] = names
    data["rankings"]["documents"][: len(names)] = names
    data["measures"][0] = data["agreement"]["measures"][0] = names[0]
    with opening(written(data, tmp_path), width, dark) as opened:
        open_everything(opened.page)
        look = look_of(opened)
        unseen = "not visible: svg "  # the lines between two rankings, on a phone
        assert [line for line in faults(look) if (line, width) != (unseen, PHONE)] == []
        assert set(look.elements) == elements
        for name in names:
            assert " ".join(name.split()) in look.text


def bare(data: Data) -> None:
    """What a report from scores alone lacks."""
    for key in ("baseline", "judged", "chance", "bounds", "settled", "expected", "types"):
        data[key] = None
    for key in ("queryTexts", "rankings", "agreement", "power", "swaps"):
        data[key] = None


def unknown_scores(data: Data) -> None:
    """A run that lacks queries, and a measure that could not be computed."""
    data["values"][0][3] = [None] * len(data["queries"])
    data["means"][0][3] = data["low"][0][3] = data["high"][0][3] = None
    for key in ("p", "corrected", "wins", "losses"):
        data["pairs"][key][1] = [None] * len(data["pairs"][key][1])


def lower_is_better(data: Data) -> None:
    data["directions"] = [-1, 0, 1]


@pytest.mark.parametrize("change", [bare, unknown_scores, lower_is_better])
@pytest.mark.parametrize(("runs", "queries"), [(4, 5), (5, 1)])
def test_a_page_with_less_is_still_a_page(
    opening: Opening, tmp_path: Path, change: Callable[[Data], None], runs: int, queries: int
) -> None:
    data = report_data(runs, queries)
    change(data)
    with opening(written(data, tmp_path), PHONE) as opened:
        assert faults(look_of(opened)) == []
        assert opened.page.locator("#leaderboard tbody tr").count() == runs


def test_one_run_has_no_differences(opening: Opening, tmp_path: Path) -> None:
    data = report_data(1, 3)
    with opening(written(data, tmp_path), PHONE) as opened:
        assert faults(look_of(opened)) == []
        assert "only one run" in opened.page.locator("#differences").inner_text()
        assert len(heat_rows(opened.page)) == 3
        opened.page.locator(".heat [data-item]").first.click()
        assert opened.messages == []


def test_the_pairs_that_two_measures_order_differently_are_listed(
    opened: Opened, data: Data
) -> None:
    means = data["means"]
    expected = {
        (a, b)
        for a in range(20)
        for b in range(20)
        if means[0][a] > means[0][b] and means[1][a] < means[1][b]
    }
    part = opened.page.locator("#measures details").first
    assert part.locator("summary").inner_text() == f"nDCG@10 and AP: {len(expected)} of 190 pairs"
    part.locator("summary").click()
    names = data["runs"]
    assert set(part.locator("li").all_inner_texts()) == {
        f"{names[a]} is above {names[b]} by nDCG@10, and below by AP" for a, b in expected
    }


def test_axe_finds_no_serious_fault(opening: Opening, tmp_path: Path, axe: str) -> None:
    path = written(report_data(runs=7, queries=12), tmp_path)
    for dark in (False, True):
        with opening(path, DESKTOP, dark) as opened:
            cell(opened.page, 5, 3).click()
            opened.page.locator(".bars [data-item]").first.click()
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
