"""Pages as HTML: every text is shown as it is and does nothing, and the same page is the same bytes."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from page_texts import HOSTILE, page_of
from profiles import examples
from rankgauge.core.tables import MarkedValue, PValue, Table, visible_line
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.report.section_pages import (
    SYMBOLS,
    Finding,
    Page,
    Picture,
    Section,
    ShownTable,
    Text,
    write_page,
)

pytest.importorskip("jinja2")

EMPTY = {"meta", "img"}


class Read(HTMLParser):
    """The elements of a page with their attributes, and the texts between the tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        assert len(dict(attributes)) == len(attributes), tag
        self.elements.append((tag, dict(attributes)))
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] != "style" and data.strip():
            self.texts.append(data.strip())

    def of(self, *names: str) -> list[dict[str, str | None]]:
        """The attributes of the elements of these names."""
        return [attributes for name, attributes in self.elements if name in names]


def shape(read: Read) -> list[tuple[str, list[str]]]:
    """The elements and the names of their attributes."""
    return [(tag, sorted(attributes)) for tag, attributes in read.elements]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_text_makes_no_element_and_no_attribute_and_is_shown_as_it_is(text: str) -> None:
    read = Read(page_of(text).render())
    plain = Read(page_of("plain").render())
    assert read.open == []
    assert shape(read) == shape(plain)
    seen = visible_line(text).strip()
    assert [each.replace(seen, "plain") for each in read.texts] == plain.texts
    assert [image["alt"] for image in read.of("img")] == [visible_line(text)] * 2


@examples(40)
@given(text=st.text(st.characters(exclude_categories=()), min_size=1).map(lambda text: f"x{text}x"))
def test_any_text_leaves_the_elements_as_they_are(text: str) -> None:
    html = page_of(text).render()
    assert html.encode().decode() == html
    read = Read(html)
    assert shape(read) == shape(Read(page_of("plain").render()))
    assert read.texts.count(visible_line(text)) > 10


def test_no_hidden_character_reaches_a_page() -> None:
    html = page_of("a\u202eb\u2066\x00\x1b\udcff\ufeff").render()
    assert not re.search("[\x00-\x09\x0b-\x1f\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]", html)
    assert r"a\u202eb\u2066\x00\x1b\xff\ufeff" in html


def test_ids_and_addresses_never_come_from_texts() -> None:
    read = Read(page_of("section-1").render())
    ids = [str(attributes["id"]) for _, attributes in read.elements if "id" in attributes]
    assert ids == ["text", "section-1", "section-1-1", "section-1-1-1", "section-2"]
    links = [str(link["href"]) for link in read.of("a")]
    assert links == ["#text", "#section-1", "#section-1-1", "#section-2"]
    assert all(
        str(image["src"]).startswith("data:image/svg+xml;base64,") for image in read.of("img")
    )


def test_the_policy_allows_the_one_style_element_and_pictures_in_the_page_alone() -> None:
    html = page_of("text").render()
    (style,) = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    (policy,) = (m["content"] for m in Read(html).of("meta") if "http-equiv" in m)
    assert policy == (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )
    assert html.index("Content-Security-Policy") < html.index("<style>")
    assert "url(" not in style
    assert "@import" not in style
    assert not any("style" in attributes for _, attributes in Read(html).elements)
    assert not Read(html).of("script", "link", "base", "iframe", "object", "form")


def test_the_charset_stands_in_the_first_bytes_and_the_language_is_said() -> None:
    html = page_of("text").render()
    assert html.startswith("<!DOCTYPE html>\n")
    assert html.index('<meta charset="utf-8">') < 1000
    assert Read(html).of("html") == [{"lang": "en"}]


def test_the_same_page_is_the_same_bytes_in_another_process(tmp_path: Path) -> None:
    write_page(page_of("text"), tmp_path / "page.html")
    written = (tmp_path / "page.html").read_bytes()
    assert written == page_of("text").render().encode()
    code = (
        f"import sys; sys.path[:0] = {sys.path!r}\n"
        "from page_texts import page_of\n"
        "sys.stdout.buffer.write(page_of('text').render().encode())"
    )
    again = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert again.stdout == written


def test_a_table_has_a_caption_and_a_header_for_each_column_and_row() -> None:
    table = Table(("run", "AP"), (("bm25", 0.25), ("dense", 0.5)))
    read = Read(Page("t", "l", (Section("s", (ShownTable(table, "Means", "of two"),)),)).render())
    assert [each["scope"] for each in read.of("th")] == ["col", "col", "row", "row"]
    assert read.texts[read.texts.index("Means") :] == [
        "Means", "of two", "run", "AP", "bm25", "0.250", "dense", "0.500"
    ]  # fmt: skip
    (box,) = (each for each in read.of("div") if each["class"] == "table")
    assert box["tabindex"] == "0"
    assert box["aria-label"] == "Means"


def test_cells_are_as_tables_show_them() -> None:
    rows = ((0.123456, PValue(1e-9), None, 12345), (float("nan"), PValue(0.5), "x", 1))
    table = Table(("a", "b", "c", "d"), rows)
    html = Page("t", "l", (Section("s", (ShownTable(table, "c", digits=2),)),)).render()
    cells = re.findall(r"<t[hd](?: scope=\"row\")? class=\"(?:number|text)\">(.*?)</t[hd]>", html)
    assert cells == ["0.12", "&lt;0.01", "–", "12345", "–", "0.50", "x", "1"]


def test_numbers_are_aligned_also_beside_marks() -> None:
    rows = (("a", MarkedValue(0.5, "bcd", "e")), ("b", MarkedValue(0.25)), ("c", None))
    html = Page("t", "l", (Section("s", (ShownTable(Table(("x", "y"), rows), "c"),)),)).render()
    assert '<th scope="col" class="number room-3">y</th>' in html
    assert (
        '<td class="number room-3">0.500<span class="marks"><sup>bcd</sup><sub>e</sub></span></td>'
        in html
    )
    assert '<td class="number room-3">0.250</td>' in html


def test_every_width_of_marks_has_its_room() -> None:
    rows = tuple(("a", MarkedValue(0.5, "m" * length)) for length in (40,))
    html = Page("t", "l", (Section("s", (ShownTable(Table(("x", "y"), rows), "c"),)),)).render()
    (style,) = re.findall("<style>(.*?)</style>", html, re.DOTALL)
    (widest,) = {int(number) for number in re.findall(r'"number room-(\d+)"', html)}
    assert {int(n) for n in re.findall(r"\.room-(\d+) ", style)} == set(range(1, widest + 1))


def test_a_column_with_words_is_no_column_of_numbers() -> None:
    table = Table(("k", "value"), ((5, 0.5), (10, "none")))
    html = Page("t", "l", (Section("s", (ShownTable(table, "c"),)),)).render()
    assert '<th scope="row" class="number">5</th>' in html
    assert '<td class="text">0.500</td>' in html


def test_warnings_are_loud() -> None:
    table = Table(("a",), ((1,),), ("a remark", "WARNING: take care"))
    html = Page("t", "l", (Section("s", (ShownTable(table, "c"),)),)).render()
    assert "<li>a remark</li>" in html
    assert '<li class="loud">WARNING: take care</li>' in html


@pytest.mark.parametrize("kind", ["yes", "no", "open"])
def test_a_verdict_is_a_symbol_and_words(kind: str) -> None:
    finding = Finding("so it is", kind, "claim", ("why",))  # type: ignore[arg-type]
    read = Read(Page("t", "l", (Section("s", (finding,)),)).render())
    at = read.texts.index(SYMBOLS[kind])
    assert read.texts[at:] == [SYMBOLS[kind], "so it is", "claim", "why"]


def test_headings_go_down_by_one_level_and_end_at_the_sixth() -> None:
    section = Section("deepest", (Text("x"),))
    for _ in range(6):
        section = Section("above", (), (section,))
    read = Read(Page("t", "l", (section,)).render())
    levels = [tag for tag, _ in read.elements if re.fullmatch(r"h\d", tag)]
    assert levels == ["h1", "h2", "h3", "h4", "h5", "h6", "h6", "h6"]


def test_what_makes_no_item_is_refused() -> None:
    with pytest.raises(RankgaugeError, match="kind='maybe', expected"):
        Finding("v", "maybe", "c", ())  # type: ignore[arg-type]
    with pytest.raises(RankgaugeError, match="expected the bytes of an SVG file"):
        Picture(b"\x89PNG", "c", "a")
    with pytest.raises(RankgaugeError, match="digits=-1"):
        ShownTable(Table((), ()), "c", digits=-1)


def test_a_page_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_page(page_of("text"), tmp_path / "none" / "page.html")
    assert list(tmp_path.iterdir()) == []


def test_without_jinja2_the_remedy_is_said() -> None:
    code = (
        "import sys; sys.modules['jinja2'] = None\n"
        "from rankgauge.errors import RankgaugeError\n"
        "from rankgauge.report.section_pages import Page, check_pages\n"
        "for call in (Page('t', 'l', ()).render, check_pages):\n"
        "    try:\n        call()\n    except RankgaugeError as error:\n        print(error)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    message = "jinja2 is not installed; run pip install jinja2"
    assert result.stdout.splitlines() == [message, message]


def test_jinja2_is_imported_when_a_page_is_made() -> None:
    code = "import sys, rankgauge.report.section_pages\nassert 'jinja2' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
