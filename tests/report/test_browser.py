"""Pages in headless Chromium: legible at any width and in both color schemes, and cut off."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser import DESKTOP, PHONE, LookedAt
from page_texts import HOSTILE, page_of
from rankgauge.core.tables import Table, visible_line
from rankgauge.report.section_pages import (
    Facts,
    Page,
    Picture,
    Section,
    ShownTable,
    SideBySide,
    Text,
    write_page,
)

pytest.importorskip("jinja2")

EVERYWHERE = pytest.mark.parametrize(
    ("width", "dark"), [(PHONE, False), (PHONE, True), (DESKTOP, False), (DESKTOP, True)]
)


@pytest.fixture(scope="module")
def figure() -> bytes:
    """A figure as studies draw them, with a style element of its own."""
    pytest.importorskip("matplotlib")
    import io

    from rankgauge.figures.drawing import plotting
    from rankgauge.figures.queries import expected_histogram

    content = io.BytesIO()
    drawn = expected_histogram({"AP": [0.1, 0.2, 0.5], "<b>nDCG": [0.3, 0.3, 0.9]})
    with plotting():
        drawn.savefig(content, format="svg")
    return content.getvalue()


def wide_page(figure: bytes) -> Page:
    """A page with a table that is wider than any window, a figure, and tables side by side."""
    wide = Table(
        ("method", *(f"nDCG@{k}" for k in range(1, 41))),
        tuple((name, *([0.5] * 40)) for name in ("LambdaMART", "CoordinateAscent")),
    )
    narrow = Table(("k", "tau"), ((5, 0.5), (10, 0.25)))
    beside = SideBySide((ShownTable(narrow, "All"), ShownTable(narrow, "Some", "of them")))
    items = (ShownTable(wide, "Scores"), beside, Picture(figure, "How often", "A histogram"))
    return Page("Wide", "A table that is wider than the window.", (Section("All", items),))


@EVERYWHERE
def test_a_page_shows_everything_and_asks_for_nothing(
    looked_at: LookedAt, figure: bytes, tmp_path: Path, width: int, dark: bool
) -> None:
    write_page(wide_page(figure), tmp_path / "page.html")
    look = looked_at(tmp_path / "page.html", width, dark)
    assert look.faults() == []
    assert (look.tables, look.pictures) == (3, 1)
    for text in ("Scores", "LambdaMART", "nDCG@40", "How often", "of them"):
        assert text in look.text


@EVERYWHERE
def test_hostile_texts_are_texts(
    looked_at: LookedAt, tmp_path: Path, width: int, dark: bool
) -> None:
    path = tmp_path / "page.html"
    write_page(page_of("plain"), path)
    elements = looked_at(path, width, dark).elements
    pages = [page_of(text) for text in HOSTILE]
    sections = tuple(section for page in pages for section in page.sections)
    write_page(Page(" ".join(HOSTILE), " ".join(HOSTILE), sections), path)
    look = looked_at(path, width, dark)
    assert look.faults() == []
    assert set(look.elements) == set(elements)
    assert look.elements["img"] == len(HOSTILE) * elements["img"]
    for text in HOSTILE:
        assert " ".join(visible_line(text).split()) in look.text


def test_a_picture_is_drawn_on_white_in_the_dark(
    looked_at: LookedAt, figure: bytes, tmp_path: Path
) -> None:
    image = pytest.importorskip("PIL.Image")
    write_page(
        Page("t", "l", (Section("s", (Picture(figure, "c", "a"),)),)), tmp_path / "page.html"
    )
    shot = tmp_path / "page.png"
    looked_at(tmp_path / "page.html", PHONE, True, shot)
    with image.open(shot) as drawn:
        colors = {color for _, color in drawn.convert("RGB").getcolors(1 << 24)}
        assert drawn.convert("RGB").getpixel((2, 2)) != (255, 255, 255)
    assert (255, 255, 255) in colors


def test_a_screenshot_has_the_whole_page(looked_at: LookedAt, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    section = Section("s", tuple(Text(f"paragraph {n}") for n in range(100)))
    write_page(Page("t", "l", (section,)), tmp_path / "page.html")
    looked_at(tmp_path / "page.html", PHONE, False, tmp_path / "page.png")
    with image.open(tmp_path / "page.png") as drawn:
        assert drawn.width == PHONE
        assert drawn.height > 100 * 16


BAD = {
    "<script>console.log('hello')</script>": ["the page says: log: hello", "could act: script"],
    "<script>throw Error('bad')</script>": ["the page says: error: bad", "could act: script"],
    "<script>alert('look')</script>": ["the page says: dialog: look", "could act: script"],
    "<img alt='far' src='https://example.org/a.png'>": [
        "the page says: error: Failed to load resource: net::ERR_FAILED",
        "the page asks for: https://example.org/a.png",
        "not visible: img far: not decoded",
        "not visible: img far: no width",
    ],
    "<img alt='near' src='beside.svg'>": [
        "the page says: error: Failed to load resource: net::ERR_FAILED",
        "the page asks for: {folder}/beside.svg",
        "not visible: img near: not decoded",
        "not visible: img near: no width",
    ],
    "<p onclick='x()'>text</p>": ["could act: p onclick"],
    "<a id='a' href='javascript:x()'>text</a>": [
        "could act: a href=javascript:x()",
        "out of order: link javascript:x()",
    ],
    "<p class='small'>little</p>": ["too small: 12px: little"],
    "<p class='faint'>pale</p>": ["faint: 1.61: pale"],
    "<p class='wide'>broad</p>": ["the page is 610 pixels wider than the window of 390"],
    "<table class='gone'><caption>lost</caption><tr><td>1</td></tr></table>": [
        "not visible: table lost"
    ],
    "<h3>deep</h3>": ["out of order: h1, then h3: deep"],
    "<p id='a'>1</p><p id='a'>2</p>": ["out of order: two elements a"],
    "<a href='#nowhere'>text</a>": ["out of order: link #nowhere"],
}


@pytest.mark.parametrize("body", list(BAD))
def test_every_fault_is_seen(looked_at: LookedAt, tmp_path: Path, body: str) -> None:
    style = ".small{font-size:12px} .faint{color:#ccc} .wide{width:1000px} .gone{display:none}"
    (tmp_path / "beside.svg").write_text("<svg/>", encoding="utf-8")
    (tmp_path / "bad.html").write_text(
        "<!DOCTYPE html><html lang='en'><meta charset='utf-8'><title>t</title>"
        f"<style>body{{margin:0}} {style}</style><h1>Title</h1>{body}",
        encoding="utf-8",
    )
    expected = [fault.format(folder=tmp_path.as_uri()) for fault in BAD[body]]
    assert looked_at(tmp_path / "bad.html", PHONE).faults() == expected


def test_the_policy_of_a_page_stops_what_the_templates_would_let_through(
    looked_at: LookedAt, tmp_path: Path
) -> None:
    html = Page("t", "l", (Section("s", (Text("PLACE"), Facts((("a", "b"),)))),)).render()
    bad = "<script>console.log('run')</script><img alt='' src='https://example.org/a.png'>"
    (tmp_path / "page.html").write_text(html.replace("PLACE", bad), encoding="utf-8")
    script, picture = looked_at(tmp_path / "page.html").messages
    assert "Executing inline script violates" in script
    assert "Loading the image 'https://example.org/a.png' violates" in picture
