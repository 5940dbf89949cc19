"""What a file is, by its content: the name of a file proves nothing."""

from __future__ import annotations

import re
from typing import Literal

from rankgauge.core.records import Record
from rankgauge.data.roles import DOCUMENT, QUERY, USUAL_NAMES, ColumnNames, format_columns, is_known
from rankgauge.io.compression import detect_compression
from rankgauge.io.files import HEAD, UTF8_MARK, Content

TableForm = Literal["parquet", "json", "csv"]

READABLE_KINDS = "a TREC file, CSV or TSV with a header, JSON, JSON Lines or Parquet"
"""The kinds of file from which runs and judgments can be read."""

SEPARATORS = "\t,;|"
LONGEST_HEADER = 1 << 22
PARQUET = b"PAR1"
JSON = re.compile(rb"\s*(\{\s*([\"}]|\Z)|\[\s*([{\]]|\Z))")
NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?|nan", re.IGNORECASE)


class TableKind(Record):
    """The kind of a table file; `separator` parts the cells of CSV."""

    form: TableForm
    separator: str = ""


def kind_of(content: Content, names: ColumnNames = USUAL_NAMES) -> TableKind | None:
    """The kind of table in a file, None where it is no table.

    CSV is known by its first line: it names the columns, by the usual names or by those given.
    """
    head = content.head()
    if head.startswith(PARQUET):
        return TableKind("parquet")
    text = head.removeprefix(UTF8_MARK)
    if JSON.match(text) or (not text.strip() and JSON.match(first_line(content))):
        return TableKind("json")
    separator = header_separator(first_line(content), names)
    return None if separator is None else TableKind("csv", separator)


def first_line(content: Content) -> bytes:
    """The first line of a file that is not blank, as far as a header may be long."""
    head = content.head()
    if b"\n" not in head.removeprefix(UTF8_MARK).lstrip() and len(head) == HEAD:
        head = content.head(LONGEST_HEADER)
    return head.removeprefix(UTF8_MARK).lstrip(b"\r\n ").partition(b"\n")[0].rstrip(b"\r")


def header_separator(line: bytes, names: ColumnNames = USUAL_NAMES) -> str | None:
    """What parts the cells of a first line that names columns; None for any other line.

    >>> header_separator(b"query-id\\tcorpus-id\\tscore")
    '\\t'
    >>> header_separator(b"301\\tQ0\\tdoc,1\\t1\\t2.5\\tbm25")
    """
    if is_trec_line(line):
        return None
    given = names.all_names()
    for separator in SEPARATORS:
        cells = header_cells(line, separator)
        if len(cells) < 2:
            continue
        known = is_known(cells, QUERY, names.query) and is_known(cells, DOCUMENT, names.document)
        if known or not given.isdisjoint(cells):
            return separator
    return None


def is_trec_line(line: bytes) -> bool:
    """Whether a line is one of a TREC run or qrels file."""
    words = line.split(None, 6)
    place = {4: 3, 6: 4}.get(len(words))
    return place is not None and NUMBER.fullmatch(words[place]) is not None


def header_cells(line: bytes, separator: str) -> list[str]:
    """The cells of a header, roughly: a separator in quotes parts them too."""
    text = line.decode("utf-8", "surrogateescape")
    return [cell.strip(' \t\r"') for cell in text.split(separator)]


OTHER_FORMATS: list[tuple[str, bytes]] = [
    (
        "an Excel workbook",
        rb"(?s)PK\x03\x04.{26}(\[Content_Types\]|xl/|_rels/|docProps/)",
    ),
    ("a NumPy archive", rb"(?s)PK\x03\x04.{26}[^\0/]*\.npy"),
    ("a ZIP archive", rb"PK[\x03\x05]"),
    ("an old Excel workbook", rb"\xd0\xcf\x11\xe0"),
    ("a PDF document", rb"%PDF-"),
    ("a SQLite database", rb"SQLite format 3\0"),
    ("a NumPy array", rb"\x93NUMPY"),
    ("a Python pickle (never opened, because it can run code)", rb"\x80[\x02-\x05]"),
    ("an HTML page", rb"(?i)\s*<(!doctype html|html|head|body)\b"),
    ("XML", rb"\s*<\?xml\b"),
    ("an Arrow or Feather file", rb"ARROW1|FEA1"),
    ("an Avro file", rb"Obj\x01"),
    ("an ORC file", rb"ORC\b"),
    ("an HDF5 file", rb"\x89HDF\r\n"),
    ("a picture", rb"\x89PNG|\xff\xd8\xff|GIF8"),
    ("a tar archive", rb"(?s).{257}ustar"),
]
"""Other kinds of file, by a pattern that matches how they begin."""


def describe_unknown(content: Content, names: ColumnNames = USUAL_NAMES) -> str | None:
    """What a file looks like that is no TREC file and no known table, and what to do about it."""
    head = content.head()
    packed = detect_compression(head)
    if packed is not None:
        return f"is {packed} data inside compressed data, expected one compression (unpack it once)"
    for what, start in OTHER_FORMATS:
        if re.match(start, head):
            return f"is {what}, expected {READABLE_KINDS}"
    line = first_line(content)
    counts = [(line.count(separator.encode()), separator) for separator in SEPARATORS]
    number, separator = max(counts, key=lambda each: each[0])
    if not number:
        return None
    cells = header_cells(line, separator)
    if any(NUMBER.fullmatch(cell.encode("utf-8", "surrogateescape")) for cell in cells):
        example = separator.join(("query_id", "doc_id", "score"))
        message = f"looks like {_separator_format(separator)} without a header "
        message += f"({format_columns(cells)}), expected a "
        return f"{message}first line that names the columns, such as {example!r}"
    missing = [
        role
        for role, chosen in ((QUERY, names.query), (DOCUMENT, names.document))
        if not is_known(cells, role, chosen)
    ] or [QUERY, DOCUMENT]
    options = " ".join(f"--{role.option}-column NAME" for role in missing)
    columns = ", ".join(f'"{role.option}": NAME' for role in missing)
    return (
        f"looks like {_separator_format(separator)} with the columns {format_columns(cells)}, "
        f"expected a column for the {' and one for the '.join(role.option for role in missing)}, "
        f"such as {' and '.join(role.names[0] for role in missing)}; name "
        f"{'it' if len(missing) == 1 else 'them'}: {options}, in Python columns={{{columns}}} of "
        "read_run and read_qrels"
    )


def _separator_format(separator: str) -> str:
    return {"\t": "TSV", ",": "CSV"}.get(separator, f"CSV with {separator!r}")
