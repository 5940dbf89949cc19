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
from rankgauge.errors import RankgaugeError, missing_package
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
    """A paragraph of a page.

    Parameters
    ----------
    text : str
        The paragraph as plain text.

    Examples
    --------
    >>> from rankgauge.extending import Section, Text
    >>> Section("Scores", (Text("bm25 leads."),))
    Section(title='Scores', items=(Text(text='bm25 leads.'),), sections=())
    """

    text: str


class Listing(Record):
    """A bulleted list on a page.

    Parameters
    ----------
    items : tuple of str
        The sentences of the list, as plain text.

    Examples
    --------
    >>> from rankgauge.extending import Listing
    >>> Listing(("bm25 leads.", "dense follows."))
    Listing(items=('bm25 leads.', 'dense follows.'))
    """

    items: tuple[str, ...]


class ShownTable(Record):
    """A table on a page, with its caption.

    Parameters
    ----------
    table : Table
        The table.
    caption : str
        The caption.
    about : str, optional
        More about the table.
    digits : int, default 3
        The number of decimals of floats.

    Raises
    ------
    RankgaugeError
        If `digits` is negative.

    Examples
    --------
    >>> from rankgauge.extending import ShownTable, Table
    >>> shown = ShownTable(Table(("run", "AP"), (("bm25", 0.25),)), "Mean scores", digits=2)
    >>> shown.caption
    'Mean scores'
    """

    table: Table
    caption: str
    about: str = ""
    digits: int = 3

    def __post_init__(self) -> None:
        check_value("digits", self.digits, Integer(0))


class Picture(Record):
    """A picture on a page: an SVG file.

    Parameters
    ----------
    svg : bytes
        The content of the SVG file.
    caption : str
        The caption.
    alt : str
        A description of the picture for people who cannot see it.

    Raises
    ------
    RankgaugeError
        If the bytes are not SVG.

    Examples
    --------
    >>> from rankgauge.extending import Picture
    >>> square = b'<svg xmlns="http://www.w3.org/2000/svg"><rect width="9" height="9"/></svg>'
    >>> Picture(square, "A square", "a black square").caption
    'A square'
    """

    svg: bytes
    caption: str
    alt: str

    def __post_init__(self) -> None:
        if b"<svg" not in self.svg:
            raise RankgaugeError(
                "a picture of a page without <svg>, expected the bytes of an SVG file"
            )


class Finding(Record):
    """A claim on a page, with its verdict and the evidence.

    Parameters
    ----------
    verdict : str
        The verdict in words, such as "Confirmed".
    kind : {"yes", "no", "open"}
        The kind of verdict, which determines its symbol and color.
    claim : str
        The claim.
    sentences : tuple of str
        The evidence.

    Raises
    ------
    RankgaugeError
        If `kind` is none of the three.

    Examples
    --------
    >>> from rankgauge.extending import Finding
    >>> Finding("Confirmed", "yes", "bm25 beats dense.", ("AP is 0.25 and 0.20.",)).kind
    'yes'
    """

    verdict: str
    kind: Literal["yes", "no", "open"]
    claim: str
    sentences: tuple[str, ...]

    def __post_init__(self) -> None:
        check_value("kind", self.kind, Choice(tuple(SYMBOLS)))


class Facts(Record):
    """Names with their values on a page, such as the settings of a computation.

    Parameters
    ----------
    pairs : tuple of tuple of str
        The names, each with its value.

    Examples
    --------
    >>> from rankgauge.extending import Facts
    >>> Facts((("Samples", "10,000"), ("Seed", "0")))
    Facts(pairs=(('Samples', '10,000'), ('Seed', '0')))
    """

    pairs: tuple[tuple[str, str], ...]


class SideBySide(Record):
    """Items of a page side by side, or one below the other on a narrow screen.

    Parameters
    ----------
    items : tuple of Item
        The items, such as two pictures.

    Examples
    --------
    >>> from rankgauge.extending import SideBySide, Text
    >>> SideBySide((Text("left"), Text("right")))
    SideBySide(items=(Text(text='left'), Text(text='right')))
    """

    items: tuple[Item, ...]


Item = Text | Listing | ShownTable | Picture | Finding | Facts | SideBySide


class Section(Record):
    """A section of a page: a heading, items below it, and subsections.

    Parameters
    ----------
    title : str
        The heading.
    items : tuple of Item
        The items: `Text`, `Listing`, `ShownTable`, `Picture`, `Finding`, `Facts` and `SideBySide`.
    sections : tuple of Section, optional
        The subsections.

    Examples
    --------
    >>> from rankgauge.extending import Section, Text
    >>> Section("Scores", (Text("bm25 leads."),))
    Section(title='Scores', items=(Text(text='bm25 leads.'),), sections=())
    """

    title: str
    items: tuple[Item, ...]
    sections: tuple[Section, ...] = ()


class Page(Record):
    """A page of sections, which becomes one self-contained HTML file.

    All texts are plain; they are escaped. The file has no scripts, and loads nothing from
    elsewhere.

    Parameters
    ----------
    title : str
        The title.
    lead : str
        The subject of the page, in one or two sentences.
    sections : tuple of Section
        The sections.

    Examples
    --------
    >>> from rankgauge.extending import Page, Section, Text
    >>> page = Page("Results", "Which run is best?", (Section("Scores", (Text("bm25 leads."),)),))
    >>> "<h1>Results</h1>" in page.render()
    True
    """

    title: str
    lead: str
    sections: tuple[Section, ...]

    def render(self) -> str:
        """Return the whole HTML file; the same page always gives the same text.

        Raises RankgaugeError if Jinja2 is not installed.
        """
        style = read_files(TEMPLATES, ("page.css",))
        template = environment().get_template("page.html")
        return template.render(page=self, style=style, digest=policy_digest(style))


def write_page(page: Page, path: str | os.PathLike[str]) -> None:
    """Write a page as an HTML file.

    The file appears only when it is complete.

    Parameters
    ----------
    page : Page
        The page.
    path : str or os.PathLike
        The file.

    Raises
    ------
    InputError
        If the file cannot be written.
    RankgaugeError
        If Jinja2 is not installed.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from rankgauge.extending import Page, Section, Text, write_page
    >>> page = Page("Results", "Which run is best?", (Section("Scores", (Text("bm25 leads."),)),))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(page, os.path.join(folder, "results.html"))
    ...     os.listdir(folder)
    ['results.html']
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
    """Check that pages can be written, before any work is done.

    Raises
    ------
    RankgaugeError
        If Jinja2 is not installed.

    Examples
    --------
    >>> from rankgauge.extending import check_pages
    >>> check_pages()
    """
    environment()


def _layout(shown: ShownTable) -> dict[str, Any]:
    """Return what the template of tables needs.

    It has columns with the classes of their cells in page.css, rows of shown cells, and for each note
    whether it is a warning.
    """
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
        raise missing_package("jinja2") from None

    def make_visible(value: Any) -> Any:
        plain = isinstance(value, str) and not isinstance(value, Markup)
        return visible_line(value) if plain else value

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=make_visible,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        layout=_layout, data_address=_data_uri, kind=lambda item: type(item).__name__.lower()
    )
    environment.globals.update(symbols=SYMBOLS, folded=MOST_OPEN_SENTENCES)
    return environment
