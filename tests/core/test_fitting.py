"""Tables fit a terminal, and what is shortened is said."""

from __future__ import annotations

from hypothesis import given, strategies as st

from rankgauge.core.fitting import SHORTEST, display_width, shorten_middle
from rankgauge.core.tables import FORMATS, Table

words = st.text("abcdé語", min_size=1, max_size=20)
numbers = st.one_of(st.floats(-1e6, 1e6), st.none())


@st.composite
def tables(draw: st.DrawFn) -> Table:
    texts, values = draw(st.integers(1, 3)), draw(st.integers(0, 14))
    titles = draw(st.lists(words, min_size=texts + values, max_size=texts + values, unique=True))
    row = st.tuples(*[words] * texts, *[numbers] * values)
    return Table(
        tuple(titles), tuple(draw(st.lists(row, max_size=5))), (" ".join(["a note"] * 30),)
    )


@given(tables(), st.integers(90, 130))
def test_no_line_is_wider_than_the_terminal(table: Table, width: int) -> None:
    for line in table.render("table", width=width).splitlines():
        assert display_width(line) <= width


@given(tables(), st.integers(90, 130))
def test_every_number_is_still_there(table: Table, width: int) -> None:
    text = table.render("table", width=width)
    shown = [word for line in text.splitlines() for word in line.split()]
    for row in table.rows:
        for cell in row:
            if isinstance(cell, float):
                assert f"{cell:.4f}" in shown


@given(tables())
def test_where_there_is_room_nothing_changes(table: Table) -> None:
    whole = table.render("table").splitlines()
    wide = max(map(display_width, whole))
    assert table.render("table", width=wide).splitlines() == whole
    for form in FORMATS[1:]:
        assert table.render(form, width=20) == table.render(form)


@given(words, words, st.integers(4, 20))
def test_a_shortened_name_keeps_its_ends(start: str, end: str, width: int) -> None:
    name = start + "x" * 50 + end
    short = shorten_middle(name, width)
    assert display_width(short) <= width
    first, last = short.split("…")
    assert name.startswith(first)
    assert name.endswith(last)


def test_a_table_is_closer_before_anything_is_shortened() -> None:
    table = Table(("run", *"abcdefgh"), (("r" * 20, *[0.5] * 8),))
    widest = display_width(table.render("table").splitlines()[0])
    closer = table.render("table", width=widest - 3)
    assert "…" not in closer
    assert closer.splitlines()[2] == "r" * 20 + " 0.5000" * 8


def test_long_names_are_shortened_in_the_middle_and_it_is_said() -> None:
    names = [f"a-long-name-of-a-run-with-setting-{number}" for number in (1, 2)]
    table = Table(("run", "AP"), tuple((name, 0.5) for name in names))
    lines = table.render("table", width=30).splitlines()
    assert lines[2:4] == ["a-long-n…tting-1 0.5000", "a-long-n…tting-2 0.5000"]
    assert lines[-1].endswith("--format tsv shows them in full") or "tsv" in " ".join(lines[5:])
    assert display_width("a-long-n…tting-1") == SHORTEST


def test_different_names_stay_different() -> None:
    names = [f"{'a' * 30}{letter}{'b' * 30}" for letter in "xyz"]
    table = Table(("run", "AP"), tuple((name, 0.5) for name in names))
    rows = table.render("table", width=30).splitlines()[2:5]
    assert len(set(rows)) == 3


def test_what_does_not_fit_beside_goes_below_with_the_names_again() -> None:
    table = Table(("run", *(f"measure {c}" for c in "abcd")), (("bm25", 0.1, 0.2, 0.3, 0.4),))
    assert table.render("table", width=30).splitlines() == [
        "run   measure a  measure b",
        "──────────────────────────",
        "bm25     0.1000     0.2000",
        "",
        "run   measure c  measure d",
        "──────────────────────────",
        "bm25     0.3000     0.4000",
        "",
        "the table is too wide for the",
        "  terminal and is split into 2",
        "  parts",
    ]


def test_the_columns_of_an_interval_keep_their_last_word() -> None:
    measure = "AP(rel=2,norm=min)@100"
    titles = ("run", measure, f"{measure} low", f"{measure} high")
    table = Table(titles, (("bm25", 0.5, 0.4, 0.6),))
    header = table.render("table", width=70).splitlines()[0]
    short = "AP(rel=2…in)@100"
    assert header.split(" ", 1)[1].strip() == f"{short} {short} low {short} high"
