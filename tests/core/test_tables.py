"""What a table promises in each of its text forms."""

import csv
import dataclasses
import io
import json
import math
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from rankgauge.core.tables import FORMATS, LazyRows, MarkedValue, PValue, Table

NAN = math.nan
DASH = "\N{EN DASH}"
READABLE = ("table", "md", "latex")
EXACT = ("tsv", "csv", "jsonl")

# Any text, lone surrogates included, with a taste for what breaks a format.
nasty = st.sampled_from("\x1b\x00\n\r\t\\|`<>&\"',#[*_{}%$^~\x85\u2028\u202e\udc80\udcff\ud800日é")
any_text = st.text(st.one_of(nasty, st.characters(exclude_categories=())), max_size=8)
encodable = any_text.map(lambda text: re.sub("[\ud800-\udfff]", "", text))
# What decoding bytes with surrogateescape gives: the only surrogates are U+DC80 to U+DCFF.
ids = st.one_of(
    encodable, st.binary(max_size=8).map(lambda data: data.decode("utf-8", "surrogateescape"))
)


@st.composite
def tables(draw: st.DrawFn, text: st.SearchStrategy[str], notes: bool = True) -> Table:
    columns = draw(st.lists(text, min_size=1, max_size=3, unique=True))
    cell = st.one_of(st.none(), st.integers(), st.floats(), text)
    rows = draw(st.lists(st.tuples(*[cell] * len(columns)), max_size=3))
    said = draw(st.lists(text, max_size=2)) if notes else []
    return Table(tuple(columns), tuple(rows), tuple(said))


def one(cell: str | float | None, format: str, digits: int | None = None) -> str:
    """The text of `cell` in the last row of a table of two columns, the first of them constant."""
    line = Table(("id", "x"), (("q", cell),)).render(format, digits=digits).split("\n")
    if format == "jsonl":
        return line[-2].removeprefix('{"id": "q", "x": ').removesuffix("}")
    if format == "latex":
        return line[-4].removeprefix("q & ").removesuffix(r" \\")
    if format == "md":
        return line[-2].removeprefix("| q | ").removesuffix(" |")
    return re.sub("^q *[\t,]? *", "", line[-2])


def as_text(cell: str | float | None) -> str:
    """What a program reading tsv or csv sees for `cell`."""
    missing = cell is None or (isinstance(cell, float) and math.isnan(cell))
    return "" if missing else str(cell)


# The table itself


def test_a_table_cannot_be_changed():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Table(("a",), ()).columns = ("b",)


def test_equal_tables_are_equal_and_hash_alike():
    assert Table(("a",), ((1,),)) == Table(("a",), ((1,),))
    assert hash(Table(("a",), ((1,),))) == hash(Table(("a",), ((1,),)))


@pytest.mark.parametrize("row", [(), (1,), (1, 2, 3)])
def test_a_row_of_another_length_than_the_columns_is_refused(row):
    with pytest.raises(ValueError, match=f"row 2 has {len(row)} cells for 2 columns"):
        Table(("a", "b"), ((1, 2), row))


def test_the_formats_are_these():
    assert FORMATS == ("table", "tsv", "csv", "jsonl", "md", "latex")


def test_an_unknown_format_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'xml'.*table, tsv, csv, jsonl, md, latex"):
        Table(("a",), ()).render("xml")


# Numbers


@pytest.mark.parametrize("format", READABLE)
def test_readable_formats_have_four_decimals_unless_told(format):
    assert one(1 / 3, format) == "0.3333"
    assert one(1 / 3, format, digits=2) == "0.33"
    assert one(2.5, format, digits=0) == "2"


@pytest.mark.parametrize("format", EXACT)
def test_exact_formats_have_the_shortest_digits_that_read_back_unless_told(format):
    assert one(1 / 3, format) == "0.3333333333333333"
    assert one(1 / 3, format, digits=2) == "0.33"


@pytest.mark.parametrize("format", FORMATS)
def test_integers_stay_as_they_are(format):
    assert one(7, format, digits=2) == "7"
    assert one(10**400, format) == "1" + "0" * 400


@pytest.mark.parametrize("missing", [None, NAN])
@pytest.mark.parametrize(
    ("format", "text"),
    [("table", DASH), ("md", DASH), ("latex", "--"), ("tsv", ""), ("csv", ""), ("jsonl", "null")],
)
def test_none_and_nan_are_both_missing(format, text, missing):
    assert one(missing, format) == text


@pytest.mark.parametrize("format", FORMATS)
def test_infinity_is_named_not_missing(format):
    quote = '"' if format == "jsonl" else ""
    assert one(math.inf, format) == f"{quote}inf{quote}"
    assert one(-math.inf, format, digits=2) == f"{quote}-inf{quote}"


def test_a_float_of_another_class_prints_as_a_float():
    class Float64(float):  # as numpy's, whose repr names the class and whose str does not
        def __repr__(self):
            return f"np.float64({float(self)})"

        def __str__(self):
            return str(float(self))

    for format in EXACT:
        assert one(Float64(0.1), format) == "0.1"


def test_a_column_is_numeric_when_all_that_is_there_is_a_number():
    rows = ((1, None, "a", NAN), (None, 0.5, 2, 3))
    table = Table(("a", "b", "c", "d"), rows)
    assert table.render("md").split("\n")[1] == "| ---: | ---: | :--- | ---: |"
    assert table.render("latex").startswith(r"\begin{tabular}{rrlr}")
    sides = re.findall("<th style='text-align: ([a-z]+)'>", table.render_html())
    assert sides == ["right", "right", "left", "right"]


# One format after the other


def test_table_aligns_text_left_and_numbers_right():
    rows = (("bm25", 0.25, 3), ("a longer name", -1.5, None), ("x", NAN, 1000))
    table = Table(("run", "AP", "topics"), rows, notes=("first", "second\nline"))
    assert table.render("table").split("\n") == [
        "run                 AP  queries",
        "─" * 31,
        "bm25            0.2500        3",
        f"a longer name  -1.5000        {DASH}",
        f"x                    {DASH}     1000",
        "",
        "first",
        "second line",
        "",
    ]


def test_people_get_the_columns_shown_by_new_names_and_programs_get_all_by_the_old_ones():
    table = Table(("run", "topics", "AP"), (("bm25", 3, 0.25),), shown=("AP", "topics"))
    assert table.render("md").splitlines()[::2] == ["| AP | queries |", "| 0.2500 | 3 |"]
    assert table.render("latex").splitlines()[2] == r"AP & queries \\"
    assert table.render("table").splitlines()[2] == "0.2500        3"
    assert "run" not in table.render_html()
    for form, separator in (("tsv", "\t"), ("csv", ",")):
        assert table.render(form) == "run,topics,AP\nbm25,3,0.25\n".replace(",", separator)
    assert json.loads(table.render("jsonl")) == {"run": "bm25", "topics": 3, "AP": 0.25}


def test_the_repr_of_a_long_table_has_the_columns_shown():
    table = Table(("run", "over"), (("bm25", "answered"),) * 2000, shown=("run",))
    assert "answered" not in repr(table)


def test_table_has_no_spaces_at_the_end_of_a_line():
    text = Table(("a", "b"), (("x", "long"), ("y", "z"), ("", ""))).render("table")
    assert not re.search(" $", text, re.MULTILINE)


def test_table_counts_wide_characters_as_two_and_combining_ones_as_none():
    rows = (("日本", 1), ("cafe\u0301", 2), ("ab", 3), ("\uff46", 4), ("กี่", 5))
    lines = Table(("id", "n"), rows).render("table").split("\n")
    assert lines[1] == "─" * 7
    assert lines[2:] == [
        "日本  1",
        "cafe\u0301  2",
        "ab    3",
        "\uff46    4",
        "กี่     5",
        "",
    ]


def test_table_shows_control_characters_and_foreign_bytes_as_escapes():
    assert one("\x1b[31mred", "table") == r"\x1b[31mred"
    assert one("a\nb\tc\x9bd\x7f", "table") == r"a\x0ab\x09c\x9bd\x7f"
    assert one("a\udcff", "table") == r"a\xff"
    assert one("a\ud800", "table") == r"a\ud800"
    assert one("abc\u202edef\u2028", "table") == r"abc\u202edef\u2028"


def test_table_keeps_the_joiners_that_words_and_emoji_need():
    assert one("می\u200cشود", "table") == "می\u200cشود"


def test_tsv_escapes_what_would_split_a_cell():
    table = Table(("a\tb", "c"), (("d\ne\r", "f\\t"),), notes=("one\ntwo",))
    assert table.render("tsv") == "a\\tb\tc\nd\\ne\\r\tf\\\\t\n# one\\ntwo\n"


def test_tsv_tells_a_foreign_byte_from_the_text_of_its_escape():
    assert one("\udcff", "tsv") == r"\xff"
    assert one(r"\xff", "tsv") == r"\\xff"


def test_csv_quotes_as_a_spreadsheet_does_and_ends_lines_with_a_newline():
    table = Table(("a,b", 'c"d'), (("e\nf", "g\rh"), ("i", "")), notes=("one\ntwo",))
    assert table.render("csv") == '"a,b","c""d"\n"e\nf","g\rh"\ni,\n# one two\n'


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@x"])
def test_csv_does_not_mangle_text_that_looks_like_a_formula(text):
    assert Table((text,), ((text,),)).render("csv") == f"{text}\n{text}\n"


def test_jsonl_is_an_object_a_row_and_one_for_the_notes():
    table = Table(("run", "AP"), (("日本", 0.5), ("b", None)), notes=("n1", "n2"))
    assert table.render("jsonl").split("\n") == [
        '{"run": "日本", "AP": 0.5}',
        '{"run": "b", "AP": null}',
        '{"notes": ["n1", "n2"]}',
        "",
    ]


def test_jsonl_without_rows_and_notes_is_empty():
    assert Table(("a",), ()).render("jsonl") == ""


def test_jsonl_refuses_two_columns_of_one_name():
    with pytest.raises(ValueError, match="distinct column names"):
        Table(("a", "a"), ((1, 2),)).render("jsonl")


def test_jsonl_escapes_a_foreign_byte_so_that_it_reads_back():
    assert one("日\udcff", "jsonl") == r'"\u65e5\udcff"'


def test_md_is_a_github_table_with_notes_as_a_list():
    table = Table(("run", "AP"), (("bm25", 0.25),), notes=("one\ntwo", "three"))
    assert table.render("md").split("\n") == [
        "| run | AP |",
        "| :--- | ---: |",
        "| bm25 | 0.2500 |",
        "",
        "- one two",
        "- three",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a|b", r"a\|b"),
        ("a\\|b", r"a\\\|b"),
        ("`a`", r"\`a\`"),
        ("<b>&amp;", "&lt;b>&amp;amp;"),
        ("[a](b)", r"\[a\](b)"),
        ("**a**~~b~~", r"\*\*a\*\*\~\~b\~\~"),
        ("__a__", r"\_\_a\_\_"),
        ("recip_rank", "recip_rank"),
        ("a\nb\r\nc", "a b c"),
        ("\x1b\udcff", r"\\x1b\\xff"),
    ],
)
def test_md_text_cannot_be_markup(text, shown):
    assert one(text, "md") == shown


def test_latex_is_a_booktabs_tabular_with_notes_as_comments():
    table = Table(("run", "AP"), (("bm25", 0.25),), notes=("one\ntwo", "100%"))
    assert table.render("latex").split("\n") == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"run & AP \\",
        r"\midrule",
        r"bm25 & 0.2500 \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% one two",
        "% 100%",
        "",
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("&%$#_{}", r"\&\%\$\#\_\{\}"),
        ("~^", r"\textasciitilde{}\textasciicircum{}"),
        ("\\<>|", r"\textbackslash{}\textless{}\textgreater{}\textbar{}"),
        ("\x1b", r"\textbackslash{}x1b"),
        ("a\nb", "a b"),
    ],
)
def test_latex_escapes_special_characters(text, shown):
    assert one(text, "latex") == shown


@pytest.mark.parametrize("text", ["[1ex]", " [1ex]", "*"])
def test_latex_row_is_not_read_as_an_argument_of_the_row_before(text):
    assert Table((text, "b"), ()).render("latex").split("\n")[2] == rf"{{}}{text} & b \\"


def test_html_is_one_table_with_numbers_right_and_notes_in_the_caption():
    table = Table(("run", "AP"), (("<b>", 0.25), ("'\"&", NAN)), notes=("1 < 2", "b"))
    assert table.render_html(digits=2).split("\n") == [
        "<table style='border-collapse: collapse; font-variant-numeric: tabular-nums'>",
        "<caption style='caption-side: bottom; text-align: left'>1 &lt; 2<br>b</caption>",
        "<thead style='border-bottom: 1px solid'>",
        "<tr><th style='text-align: left'>run</th><th style='text-align: right'>AP</th></tr>",
        "</thead>",
        "<tbody>",
        "<tr><td style='text-align: left'>&lt;b&gt;</td>"
        "<td style='text-align: right'>0.25</td></tr>",
        "<tr><td style='text-align: left'>&#x27;&quot;&amp;</td>"
        f"<td style='text-align: right'>{DASH}</td></tr>",
        "</tbody>",
        "</table>",
        "",
    ]


# Whatever the ids are


@pytest.mark.parametrize("format", FORMATS)
@given(table=tables(any_text))
def test_every_format_is_utf8_and_ends_with_a_newline(format, table):
    text = table.render(format)
    text.encode("utf-8")
    assert text.endswith("\n") or text == ""


@pytest.mark.parametrize("format", ["table", "md", "latex"])
@given(table=tables(any_text))
def test_readable_formats_have_one_line_a_row_and_no_raw_control(format, table):
    lines = table.render(format).split("\n")
    frame = {"table": 2, "md": 2, "latex": 6}[format]
    blank = 1 if table.notes and format != "latex" else 0
    assert len(lines) == frame + len(table.rows) + blank + len(table.notes) + 1
    assert not re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e]", "".join(lines))


@given(table=tables(any_text))
def test_md_cells_stay_in_their_columns(table):
    lines = table.render("md").split("\n")[: len(table.rows) + 2]
    bars = [re.sub(r"\\.", "", line).count("|") for line in lines]
    assert set(bars) == {len(table.columns) + 1}


def unescaped(text: str) -> str:
    """The text of a tsv cell, its escapes undone as a program would."""
    named = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

    def character(match: re.Match[str]) -> str:
        return named.get(match[1]) or chr(0xDC00 + int(match[1][1:], 16))

    return re.sub(r"\\(x[0-9a-f]{2}|.)", character, text)


@given(table=tables(ids, notes=False))
def test_tsv_reads_back_the_same_cells(table):
    lines = table.render("tsv").removesuffix("\n").split("\n")
    back = [[unescaped(cell) for cell in line.split("\t")] for line in lines]
    assert back == [[as_text(cell) for cell in row] for row in (table.columns, *table.rows)]


@given(table=tables(encodable, notes=False))
def test_csv_reads_back_the_same_cells(table):
    back = list(csv.reader(io.StringIO(table.render("csv"), newline="")))
    assert back == [[as_text(cell) for cell in row] for row in (table.columns, *table.rows)]


@given(table=tables(ids))
def test_jsonl_reads_back_the_same_cells_with_their_types(table):
    def value(cell):
        if isinstance(cell, float) and not math.isfinite(cell):
            return None if math.isnan(cell) else str(cell)
        return cell

    back = [json.loads(line) for line in table.render("jsonl").split("\n")[:-1]]
    if table.notes:
        assert back.pop() == {"notes": list(table.notes)}
    assert [list(record) for record in back] == [list(table.columns)] * len(table.rows)
    cells = [[(type(cell), cell) for cell in record.values()] for record in back]
    assert cells == [[(type(value(c)), value(c)) for c in row] for row in table.rows]


@given(number=st.floats(allow_nan=False, allow_infinity=False))
def test_exact_formats_give_the_same_float_back(number):
    assert [float(one(number, format)) for format in EXACT] == [number] * 3


class Reader(HTMLParser):
    """Collects the tags and the text of each cell."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag in ("th", "td"):
            self.cells.append("")

    def handle_data(self, data: str) -> None:
        if self.cells and data != "\n":
            self.cells[-1] += data


@given(table=tables(any_text))
def test_html_has_no_markup_from_cells_or_notes(table):
    text = table.render_html()
    text.encode("utf-8")
    own = r"</?(table|thead|tbody|tr|caption|br|th|td)( style='[a-z0-9:; -]+')?>"
    assert not re.search("[<>]", re.sub(own, "", text))


@given(cell=encodable)
def test_html_shows_the_cell(cell):
    shown = "".join(character for character in cell if character.isprintable())
    reader = Reader()
    reader.feed(Table(("x",), ((shown,),)).render_html())
    assert reader.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert reader.cells == ["x", shown]


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("table", "0.5000 ▲ab ▼c"),
        ("md", "0.5000<sup>ab</sup><sub>c</sub>"),
        ("latex", r"0.5000$^{\text{ab}}_{\text{c}}$"),
        ("tsv", "0.5 ▲ab ▼c"),
        ("csv", "0.5 ▲ab ▼c"),
        ("jsonl", '"0.5 ▲ab ▼c"'),
    ],
)
def test_marks_in_every_form(form, expected):
    assert expected in Table(("AP",), ((MarkedValue(0.5, "ab", "c"),),)).render(form)
    assert "▲" not in Table(("AP",), ((MarkedValue(0.5),),)).render(form)


def test_marks_in_html_and_of_a_missing_value():
    assert "0.5000 ▲ab</td>" in Table(("AP",), ((MarkedValue(0.5, "ab"),),)).render_html()
    assert f"{DASH}\n" in Table(("AP",), ((MarkedValue(NAN),),)).render("table")


@pytest.mark.parametrize(
    ("form", "expected"),
    [("table", "<0.0001"), ("md", "&lt;0.0001"), ("latex", r"\textless{}0.0001"), ("csv", "2e-05")],
)
def test_a_small_p_value_is_not_0(form, expected):
    assert expected in Table(("p",), ((PValue(0.00002),),)).render(form)
    assert "0.0001" in Table(("p",), ((PValue(0.00006),),)).render("table")
    assert "<" not in Table(("p",), ((PValue(0.0),),)).render("table")


@pytest.mark.parametrize("place", [0, 7, -1, slice(2, 5), slice(5, 2), slice(None), slice(0, 9, 2)])
def test_rows_that_are_made_are_taken_as_those_of_a_tuple(place):
    rows = tuple((number, str(number)) for number in range(9))
    made = LazyRows(9, lambda start, end: rows[start:end])
    assert made[place] == rows[place]
    assert tuple(made) == rows
    assert Table(("a", "b"), made).render("csv") == Table(("a", "b"), rows).render("csv")


def test_rows_are_made_block_by_block(monkeypatch):
    monkeypatch.setattr(LazyRows, "BLOCK", 4)
    asked = []

    def make(start, end):
        asked.append((start, end))
        return [(number,) for number in range(start, end)]

    assert list(LazyRows(9, make)) == [(number,) for number in range(9)]
    assert asked == [(0, 4), (4, 8), (8, 9)]


def test_a_table_shows_itself_as_a_table():
    table = Table(("run", "AP"), (("bm25", 0.25),), ("made up",))
    assert repr(table) == str(table) == table.render("table").rstrip("\n")
    assert table._repr_html_() == table.render_html()


def test_the_repr_of_a_long_table_is_cut():
    rows = LazyRows(10**9, lambda start, end: ((number,) for number in range(start, end)))
    lines = repr(Table(("number",), rows, ("a note",))).splitlines()
    assert len(lines) == 2 + 1000 + 1 + 2
    assert "the first 1,000 of 1,000,000,000 rows" in lines[-2]
