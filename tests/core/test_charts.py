"""Numbers drawn beside a table: on one scale, to size, and only where there is room."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, strategies as st

from rankgauge.core.charts import DRAWN, LINE, MARK, PLAIN, POINT, Chart
from rankgauge.core.fitting import display_width
from rankgauge.core.tables import Table

COLUMNS = ("run", "AP", "low", "high", "chance")
INTERVAL = Chart("AP", 0, 1, "low", "high", "chance")


def drawn(chart: Chart, *rows: tuple[float | None, ...], width: int = 21) -> list[str]:
    """The drawings of rows of AP, low, high and chance."""
    padded = [("run", *row, *[None] * (4 - len(row))) for row in rows]
    lines = chart.draw(COLUMNS, padded, width)
    assert lines is not None
    return lines


def test_the_scale_is_written_above_the_drawing() -> None:
    assert drawn(Chart("AP"), (0.5,))[0] == "0        AP         1"
    assert drawn(Chart("AP", -1, 1), (0.5,))[0].split() == ["-1", "AP", "1"]
    assert drawn(Chart("AP"), (0.5,), width=4)[0] == "0  1"


@given(st.floats(0, 1), st.integers(4, 60))
def test_a_bar_is_as_long_as_the_number_says(value: float, width: int) -> None:
    bar = drawn(Chart("AP"), (value,), width=width)[1]
    assert len(bar) == width
    length = sum(" ╸━".index(character) for character in bar) / 2
    assert abs(length - value * width) <= 1 / 4 + 1e-9


def test_an_interval_reaches_from_its_low_end_to_its_high_end() -> None:
    assert drawn(INTERVAL, (0.5, 0.25, 1.0, 0.1))[1] == "  ┊  ─────●──────────"


def test_a_fixed_number_can_be_marked_and_is_in_the_legend() -> None:
    chart = Chart("AP", -math.inf, math.inf, "low", "high", mark=0.0)
    lines = drawn(chart, (0.5, 0.25, 1.0), (-0.5, -1.0, 0.25))
    assert lines[0].split() == ["-1", "AP", "1"]
    assert lines[1:] == ["          ┊ ───●─────", "─────●────┊──        "]
    assert chart.legend == "● AP, ─ from low to high, ┊ 0"


def test_the_number_covers_what_chance_gets_and_chance_covers_the_interval() -> None:
    assert drawn(INTERVAL, (0.5, 0.25, 1.0, 0.5))[1] == "     ─────●──────────"
    assert drawn(INTERVAL, (0.5, 0.25, 1.0, 0.3))[1] == "     ─┊───●──────────"


def test_missing_numbers_are_not_drawn() -> None:
    assert drawn(INTERVAL, (None, 0.25, 1.0), (0.5, None, 1.0), (math.nan,), (0,))[1:] == [
        "     ────────────────",
        "          ●          ",
        "                     ",
        "●                    ",
    ]


def test_the_scale_of_an_unbounded_measure_ends_at_the_numbers_and_has_points() -> None:
    lines = drawn(Chart("AP", -math.inf, 1), (-0.5,), (0.25,), width=16)
    assert lines == ["-0.5    AP     1", "●               ", "        ●       "]
    lines = drawn(Chart("AP", 0, math.inf), (2.0,), (8.0,), width=8)
    assert lines == ["0  AP  8", "━━      ", "━━━━━━━━"]


def test_numbers_outside_the_scale_stay_within_the_drawing() -> None:
    assert drawn(INTERVAL, (0.5, -0.25, 1.25))[1] == "──────────●──────────"


@pytest.mark.parametrize("rows", [[], [(None,)], [(0.5,), (0.5,)]])
def test_numbers_without_spread_have_no_drawing(rows: list[tuple[float | None]]) -> None:
    assert Chart("AP", -math.inf, math.inf).draw(("AP",), rows, 20) is None


def test_every_character_of_a_drawing_has_one_in_ascii() -> None:
    assert DRAWN.translate(PLAIN).isascii()
    assert len({POINT.translate(PLAIN), LINE.translate(PLAIN), MARK.translate(PLAIN)}) == 3


# Beside a table

numbers = st.floats(-0.5, 1.5) | st.none() | st.just(math.nan)
names = st.text("abcdé語", min_size=1, max_size=20)


@given(st.lists(st.tuples(names, *[numbers] * 4), max_size=5), st.integers(20, 150))
def test_a_drawing_leaves_the_table_as_it_is_and_fits_the_terminal(
    rows: list[tuple[str, float | None]], width: int
) -> None:
    table = Table(COLUMNS, tuple(rows), ("a note",))
    plain = table.render("table", width=width).splitlines()
    lines = Table(COLUMNS, tuple(rows), ("a note",), chart=INTERVAL).render("table", width=width)
    for before, after in zip(plain, lines.splitlines(), strict=False):
        assert after.startswith(before)
        assert display_width(after) <= max(width, display_width(before))


def test_a_drawing_is_only_for_a_terminal_with_room() -> None:
    table = Table(("run", "AP"), (("bm25", 0.5),), chart=Chart("AP"))
    for text in (table.render("table"), table.render("table", width=20), table.render("md")):
        assert "━" not in text
    assert table.render("table", width=30) == (
        "run       AP  0      AP      1\n──────────────────────────────\nbm25  0.5000  ━━━━━━━━\n"
    )


def test_an_interval_beyond_the_scale_is_clipped() -> None:
    assert drawn(INTERVAL, (0.9, 0.8, 1.0024)) == drawn(INTERVAL, (0.9, 0.8, 1.0))
