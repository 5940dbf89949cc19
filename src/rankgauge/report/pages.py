"""A page of sections as one self-contained HTML file.

A page has no script and asks for nothing from outside; its Content-Security-Policy forbids both. All
texts are plain: the templates escape them, and show characters that hide or turn text as escapes. So
ids from any file can stand anywhere in a page.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from rankgauge.core.checks import Choice, Integer, check_value
from rankgauge.core.notes import WARNING_PREFIX
from rankgauge.core.records import Record
from rankgauge.core.tables import Table, cell_text, visible_line
from rankgauge.errors import RankgaugeError
from rankgauge.io.files import atomic_write

if TYPE_CHECKING:
    from jinja2 import Environment

SYMBOLS = {"yes": "✓", "no": "✗", "open": "?"}
"""What stands before the verdict of a finding, by its kind."""

MOST_OPEN_SENTENCES = 4
"""More sentences than these are folded away until a reader opens them."""

TEMPLATES = os.path.join(os.path.dirname(__file__), "templates")
_MOST_MARKS = 12
"""For so many letters of marks page.css has room beside numbers that stay aligned."""


class Text(Record):
    """A paragraph."""

    text: str


class Listing(Record):
    """A list of sentences."""

    items: tuple[str, ...]


class ShownTable(Record):
    """A table with its caption. `about` says more about it; floats have `digits` decimals."""

    table: Table
    caption: str
    about: str = ""
    digits: int = 3

    def __post_init__(self) -> None:
        check_value("digits", self.digits, Integer(0))


class Picture(Record):
    """An SVG file as a picture; `alt` says what it shows to those who cannot see it."""

    svg: bytes
    caption: str
    alt: str

    def __post_init__(self) -> None:
        if b"<svg" not in self.svg:
            raise RankgaugeError(
                "a picture of a page without <svg>, expected the bytes of an SVG file"
            )


class Finding(Record):
    """A claim and its verdict: `verdict` has the words, `kind` chooses their symbol and color. The
    sentences give the evidence."""

    verdict: str
    kind: Literal["yes", "no", "open"]
    claim: str
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        check_value("kind", self.kind, Choice(tuple(SYMBOLS)))


class Facts(Record):
    """Names and their values, such as how something was computed."""

    pairs: tuple[tuple[str, str], ...]


class SideBySide(Record):
    """Items side by side if there is room, else one below the other."""

    items: tuple[Item, ...]


Item = Text | Listing | ShownTable | Picture | Finding | Facts | SideBySide


class Section(Record):
    """A heading, what stands below it, and sections within the section."""

    title: str
    items: tuple[Item, ...]
    sections: tuple[Section, ...] = ()


class Page(Record):
    """A title, what the page is about in one sentence or two (`lead`), and sections."""

    title: str
    lead: str
    sections: tuple[Section, ...]

    def render(self) -> str:
        """The whole HTML file; the same page gives the same text.

        Raises RankgaugeError if Jinja2 is not installed.
        """
        style = read_files(TEMPLATES, ("page.css",))
        template = environment().get_template("page.html")
        return template.render(page=self, style=style, digest=policy_digest(style))


def write_page(page: Page, path: str | os.PathLike[str]) -> None:
    """Write a page as an HTML file. After an error no partial file is left.

    Raises InputError if the file cannot be written, and RankgaugeError if Jinja2 is not installed.
    """
    content = page.render().encode()
    with atomic_write(path) as stream:
        stream.write(content)


def read_files(folder: str, names: Sequence[str]) -> str:
    """The texts of the files of these names, one after the other."""
    texts = []
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            texts.append(file.read())
    return "".join(texts)


def policy_digest(text: str) -> str:
    """The digest by which a Content-Security-Policy allows a style or a script."""
    from hashlib import sha256

    return b64encode(sha256(text.encode()).digest()).decode()


def check_pages() -> None:
    """Check, before any work, that pages can be made: RankgaugeError if Jinja2 is not installed."""
    environment()


def _layout(shown: ShownTable) -> dict[str, Any]:
    """What the template of tables needs: columns with the classes of their cells in page.css, rows of
    shown cells, and for each note whether it is a warning."""
    table, cells = shown.table, list(shown.table.rows)
    rows = [[cell_text(cell, shown.digits) for cell in row] for row in cells]
    columns = []
    for number, name in enumerate(table.columns):
        marks = max((len(mark) for row in rows for mark in row[number][1:]), default=0)
        words = any(isinstance(row[number], str) for row in cells)
        kind = "text" if words else "number"
        room = f" room-{min(marks, _MOST_MARKS)}" if marks else ""
        columns.append({"name": name, "kind": f"{kind}{room}"})
    notes = [(note, note.startswith(WARNING_PREFIX)) for note in table.notes]
    return {"columns": columns, "rows": rows, "notes": notes}


def _data_uri(svg: bytes) -> str:
    return f"data:image/svg+xml;base64,{b64encode(svg).decode()}"


def environment() -> Environment:
    """Jinja2 with our templates: every text is escaped, and nothing in it is hidden."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        message = "pages need Jinja2; install it: pip install jinja2"
        raise RankgaugeError(message) from None

    def shown(value: Any) -> Any:
        plain = isinstance(value, str) and not isinstance(value, Markup)
        return visible_line(value) if plain else value

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        layout=_layout, data_address=_data_uri, kind=lambda item: type(item).__name__.lower()
    )
    environment.globals.update(symbols=SYMBOLS, folded=MOST_OPEN_SENTENCES)
    return environment
