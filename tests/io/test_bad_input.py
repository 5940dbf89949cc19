"""Bad input is refused with its place and what was expected, or, leniently, dropped and counted.

Bad output places leave nothing behind.
"""

from __future__ import annotations

import bz2
import contextlib
import gzip
import io
import itertools
import lzma
import os
import random
import re
import stat
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given, strategies as st

from rankgauge import InputError, Judgments, Run, read_qrels, read_run, write_qrels, write_run
from rankgauge.core.notes import note_texts
from rankgauge.io import files
from rankgauge.io.files import atomic_write

RUN_COLUMNS = "`topic Q0 document rank score tag`"
QRELS_COLUMNS = "`topic iteration document grade`"
BYTE_ORDER_MARK = b"\xef\xbb\xbf"

Reader = Callable[..., Run | Judgments]
Table = dict[bytes, list[tuple[bytes, float]]]

RUN_LINES = [b"q1 Q0 a 1 3.5 t", b"", b"q2 Q0 a 1 3 t\r", b"q1 Q0 b 2 -1 t"]
QRELS_LINES = [b"q1 0 a 1", b"", b"q2 0 a 2\r", b"q1 0 b -1"]
GOOD: dict[Reader, tuple[list[bytes], Table]] = {
    read_run: (RUN_LINES, {b"q1": [(b"a", 3.5), (b"b", -1.0)], b"q2": [(b"a", 3.0)]}),
    read_qrels: (QRELS_LINES, {b"q1": [(b"a", 1), (b"b", -1)], b"q2": [(b"a", 2)]}),
}
each_reader = pytest.mark.parametrize("read", [read_run, read_qrels])
needs_permissions = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind this user"
)


def table_of(data: Run | Judgments) -> Table:
    """Queries in their order, each with its rows in theirs."""
    values = data.scores if isinstance(data, Run) else data.grades
    rows = list(zip(data.documents, values.tolist(), strict=True))
    bounds = itertools.pairwise(data.bounds.tolist())
    return {topic: rows[a:b] for topic, (a, b) in zip(data.queries, bounds, strict=True)}


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for a file that each example writes anew."""
    return tmp_path_factory.mktemp("bad") / "file"


def refusal(read: Reader, path: Path | str, **options: object) -> InputError:
    """The error that reading this raises, after checking that its text is `source:line: message`."""
    with pytest.raises(InputError) as caught:
        read(path, **options)
    error = caught.value
    place = error.source if error.line is None else f"{error.source}:{error.line}"
    assert str(error) == f"{place}: {error.message}"
    assert error.source == ("standard input" if path == "-" else str(path))
    return error


# Faulty lines: what is wrong, the message, and how lenient reading counts it

TOO_FEW, TOO_MANY = "too few columns", "too many columns"
NOT_A_NUMBER, NAN = "not a number", "a NaN score"
NOT_WHOLE, TOO_LARGE = "a grade that is not a whole number", "a grade beyond 32 bits"
BINARY = "binary data"

Fault = tuple[Reader, bytes, str, str]


def wrong_columns(read: Reader, count: int) -> Fault:
    wanted, columns = (6, RUN_COLUMNS) if read is read_run else (4, QRELS_COLUMNS)
    noun = "column" if count == 1 else "columns"
    kind = {4: "qrels", 6: "run"}.get(count)
    hint = f" (this looks like a {kind} file)" if kind else ""
    message = f"{count} {noun}, expected {wanted}: {columns}{hint}"
    return read, b" ".join([b"1"] * count), message, TOO_FEW if count < wanted else TOO_MANY


def not_a_score(text: bytes, shown: str | None = None) -> Fault:
    shown = repr(text.decode()) if shown is None else shown
    line = b"q1 Q0 x 3 %b t" % text
    return read_run, line, f"{shown} is not a number, expected {RUN_COLUMNS}", NOT_A_NUMBER


def not_a_grade(text: bytes, message: str, kind: str) -> Fault:
    return read_qrels, b"q1 0 x " + text, message, kind


FAULTS: dict[str, Fault] = {
    **{f"run of {n} columns": wrong_columns(read_run, n) for n in (1, 2, 3, 4, 5, 7, 8)},
    **{f"qrels of {n} columns": wrong_columns(read_qrels, n) for n in (1, 2, 3, 5, 6)},
    **{
        f"score {text.decode()}": not_a_score(text)
        for text in (b"abc", b"+", b"-", b".", b"-.e1", b"1e", b"1e+", b"e5", b"1,5", b"1.2.3")
    },
    **{
        f"score {text.decode()}": not_a_score(text)
        for text in (b"1_000", b"0x10", b"1d5", b"--1", b"infinit", b"nan(1)", b"1.5f")
    },
    "score of Arabic digits": not_a_score("١".encode()),
    "score that is not UTF-8": not_a_score(b"\xff", r"'\udcff'"),
    "score with an escape sequence": not_a_score(b"\x1b[31m", r"'\x1b[31m'"),
    "score of many letters": not_a_score(b"x" * 5000, f"'{'x' * 40}…'"),
    **{
        f"score {text}": (
            read_run,
            f"q1 Q0 x 3 {text} t".encode(),
            "the score is NaN, expected a number",
            NAN,
        )
        for text in ("nan", "NaN", "-nan", "+NAN")
    },
    **{
        f"grade {text}": not_a_grade(
            text.encode(), f"grade '{text}', expected a whole number", NOT_WHOLE
        )
        for text in ("1.7", "1.0", "-0.5", "1e2", "2.", "inf")
    },
    **{
        f"grade {text}": not_a_grade(
            text.encode(), f"'{text}' is not a number, expected {QRELS_COLUMNS}", NOT_A_NUMBER
        )
        for text in ("relevant", "+", "-", "nan", "1_0", "0x1")
    },
    **{
        f"grade {text}": not_a_grade(
            text.encode(),
            f"grade '{text}', expected a whole number of at most 32 bits",
            TOO_LARGE,
        )
        for text in ("2147483648", "-2147483649", "4294967296", "18446744073709551617")
    },
    "grade of many digits": not_a_grade(
        b"9" * 5000, f"grade '{'9' * 40}…', expected a whole number of at most 32 bits", TOO_LARGE
    ),
    "run with a NUL": (
        read_run,
        b"q1 Q0 x\0y 3 1 t",
        f"binary data, expected text: {RUN_COLUMNS}",
        BINARY,
    ),
    "qrels with a NUL": (
        read_qrels,
        b"q1 0 \0 1",
        f"binary data, expected text: {QRELS_COLUMNS}",
        BINARY,
    ),
}
each_fault = pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)


@each_fault
@pytest.mark.parametrize("place", [0, 2, 4], ids=["first", "in the middle", "last"])
def test_a_faulty_line_is_named_or_dropped(fault: Fault, place: int, file: Path) -> None:
    read, line, message, kind = fault
    lines, table = GOOD[read]
    file.write_bytes(b"\n".join([*lines[:place], line, *lines[place:]]))
    error = refusal(read, file)
    assert (error.line, error.message) == (place + 1, message)
    lenient = read(file, lenient=True)
    assert note_texts(lenient.dropped) == (f"1 line dropped: {kind} (first at line {place + 1})",)
    assert table_of(lenient) == table


@each_reader
def test_lines_count_as_an_editor_counts_them(read: Reader, file: Path) -> None:
    lines, _ = GOOD[read]
    data = BYTE_ORDER_MARK + b"\r\n".join([b"", *lines, b" \t", b"bad", *lines])
    for packed in (data, gzip.compress(data), zstandard.compress(data)):
        file.write_bytes(packed)
        assert refusal(read, file).line == 7


@each_reader
def test_the_first_of_several_faulty_lines_is_named(read: Reader, file: Path) -> None:
    lines, _ = GOOD[read]
    file.write_bytes(b"\n".join([*lines, b"\0", b"bad", *[b"1"] * 9]))
    assert (refusal(read, file).line, refusal(read, file).message[:11]) == (5, "binary data")


def test_a_fault_beyond_a_megabyte_of_its_line_is_shown(file: Path) -> None:
    file.write_bytes(b"q Q0 " + b"d" * 2_000_000 + b" 1 abc t\n")
    message = f"'abc' is not a number, expected {RUN_COLUMNS}"
    assert refusal(read_run, file).message == message


def test_lenient_reading_counts_each_kind_of_fault(file: Path) -> None:
    lines, table = GOOD[read_run]
    bad = [
        b"q1 Q0 x 1 nan t",
        b"short",
        b"q1 Q0 a 9 9 t",
        b"also short",
        b"q1 Q0 x 1 abc t",
        b"q2 Q0 a 9 9 t",
        b"one two three",
    ]
    file.write_bytes(b"\n".join([*lines, *bad]))
    run = read_run(file, lenient=True)
    assert table_of(run) == table
    assert sorted(note_texts(run.dropped)) == [
        "1 line dropped: a NaN score (first at line 5)",
        "1 line dropped: not a number (first at line 9)",
        "2 lines dropped: a document repeated for the same query (first at line 7)",
        "3 lines dropped: too few columns (first at line 6)",
    ]


def test_lenient_reading_of_qrels_counts_each_kind_of_fault(file: Path) -> None:
    lines, table = GOOD[read_qrels]
    bad = [b"q1 0 x 1.5", b"q1 0 y 99999999999", b"q3 0 z 1.0", b"q1 0 a 7", b"\0\0\0\0"]
    file.write_bytes(b"\n".join([*bad[:3], *lines, *bad[3:]]))
    judgments = read_qrels(file, lenient=True)
    assert table_of(judgments) == table
    assert sorted(note_texts(judgments.dropped)) == [
        "1 line dropped: a document repeated for the same query (first at line 8)",
        "1 line dropped: a grade beyond 32 bits (first at line 2)",
        "1 line dropped: binary data (first at line 9)",
        "2 lines dropped: a grade that is not a whole number (first at line 1)",
    ]


def test_thousands_of_dropped_lines_are_counted_readably(file: Path) -> None:
    file.write_bytes(RUN_LINES[0] + b"\nbad" * 12_345)
    assert note_texts(read_run(file, lenient=True).dropped) == (
        "12,345 lines dropped: too few columns (first at line 2)",
    )


def test_a_good_file_read_leniently_drops_nothing(file: Path) -> None:
    for read, (lines, table) in GOOD.items():
        file.write_bytes(b"\n".join(lines))
        data = read(file, lenient=True)
        assert (table_of(data), data.dropped) == (table, ())


# The same document twice


@each_reader
def test_a_document_twice_for_a_topic_is_refused_or_the_first_counts(
    read: Reader, file: Path
) -> None:
    lines, table = GOOD[read]
    again = b"q1 Q0 a 1 9 t" if read is read_run else b"q1 0 a 9"
    file.write_bytes(b"\n".join([*lines, b"", again, again]))
    error = refusal(read, file)
    assert (error.line, error.message) == (
        6,
        "document 'a' repeated for query 'q1' (first at line 1), expected each document once per query",
    )
    lenient = read(file, lenient=True)
    assert note_texts(lenient.dropped) == (
        "2 lines dropped: a document repeated for the same query (first at line 6)",
    )
    assert table_of(lenient) == table


def test_the_first_repetition_in_the_file_is_named_when_topics_interleave(file: Path) -> None:
    topics = [b"b", b"a", b"b", b"a", b"b", b"a"]
    documents = [b"x", b"x", b"y", b"x", b"x", b"y"]
    pairs = zip(topics, documents, strict=True)
    file.write_bytes(b"".join(b"%b Q0 %b 1 1 t\n" % pair for pair in pairs))
    error = refusal(read_run, file)
    assert (error.line, error.message) == (
        4,
        "document 'x' repeated for query 'a' (first at line 2), expected each document once per query",
    )
    run = read_run(file, lenient=True)
    assert note_texts(run.dropped) == (
        "2 lines dropped: a document repeated for the same query (first at line 4)",
    )
    assert table_of(run) == {b"b": [(b"x", 1.0), (b"y", 1.0)], b"a": [(b"x", 1.0), (b"y", 1.0)]}


def test_a_repeated_document_is_found_among_very_many(file: Path) -> None:
    lines = [b"q%d Q0 d%d 1 1 t\n" % (i % 7, i) for i in range(20_000)]
    file.write_bytes(b"".join([*lines, lines[12_345]]))
    error = refusal(read_run, file)
    assert error.line == 20_001
    assert "'d12345' repeated for query 'q4' (first at line 12346)" in error.message


def test_ids_in_messages_are_escaped(file: Path) -> None:
    file.write_bytes(b"q\x1b[1m Q0 d\xff\x1b[2m 1 1 t\n" * 2)
    message = refusal(read_run, file).message
    assert r"'d\udcff\x1b[2m' repeated for query 'q\x1b[1m'" in message
    assert message.isprintable()


# Files without a single line


@each_reader
@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n",
        b" \t\r\n\n\r\n ",
        BYTE_ORDER_MARK,
        BYTE_ORDER_MARK + b"\n",
        gzip.compress(b"", mtime=0),
    ],
)
def test_a_file_without_lines_is_refused(read: Reader, content: bytes, file: Path) -> None:
    file.write_bytes(content)
    error = refusal(read, file)
    columns = RUN_COLUMNS if read is read_run else QRELS_COLUMNS
    assert (error.line, error.message) == (None, f"no lines, expected {columns}")


@each_reader
def test_a_file_of_faulty_lines_alone_reads_leniently_as_nothing(read: Reader, file: Path) -> None:
    file.write_bytes(b"bad\n" * 3)
    data = read(file, lenient=True)
    assert note_texts(data.dropped) == ("3 lines dropped: too few columns (first at line 1)",)
    assert table_of(data) == {}


# Other encodings, and anything at all


@each_reader
@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("order", ["le", "be"])
def test_utf16_is_named_as_such(read: Reader, order: str, lenient: bool, file: Path) -> None:
    text = b"\n".join(GOOD[read][0]).decode()
    file.write_bytes(f"\ufeff{text}".encode(f"utf-16-{order}"))
    error = refusal(read, file, lenient=lenient)
    assert (error.line, error.message) == (1, "UTF-16 text, expected UTF-8 (convert the file)")


@each_reader
def test_utf16_without_a_mark_is_binary(read: Reader, file: Path) -> None:
    file.write_bytes(b"\n".join(GOOD[read][0]).decode().encode("utf-16-le"))
    error = refusal(read, file)
    assert (error.line, error.message[:11]) == (1, "binary data")


A_SCORE = re.compile(rb"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity)", re.IGNORECASE)
A_GRADE = re.compile(rb"[+-]?\d+")
OTHER_FILES = (
    *(b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"),
    *(b"PAR1", b"{", b"["),
)


def usable(read: Reader, cells: list[bytes]) -> float | None:
    """The number on a line by plain Python, None where the line is faulty."""
    if len(cells) != (6 if read is read_run else 4) or b"\0" in b"".join(cells):
        return None
    if read is read_run:
        return float(cells[4]) if A_SCORE.fullmatch(cells[4]) else None
    whole = A_GRADE.fullmatch(cells[3]) and abs(int(cells[3])) < 2**31
    return float(cells[3]) if whole else None


def kept_by_oracle(read: Reader, data: bytes) -> tuple[Table, int]:
    """What lenient reading keeps, and how many lines it drops."""
    kept: dict[bytes, dict[bytes, float]] = {}
    dropped = 0
    for line in data.removeprefix(BYTE_ORDER_MARK).split(b"\n"):
        if cells := line.split():
            number = usable(read, cells)
            if number is None or cells[2] in kept.get(cells[0], {}):
                dropped += 1
            else:
                kept.setdefault(cells[0], {})[cells[2]] = number
    return {topic: list(rows.items()) for topic, rows in kept.items()}, dropped


BLANKS = [b" ", b" ", b"\t", b"\r", b"\n"]
WORDS = [b"q", b"Q0", b"d", b"1", b"-2", b".5", b"1e9", b"nan", b"inf", b"1.0", b"-", b"e"]
ODDITIES = [b"\0", b"\xff", b"9999999999", BYTE_ORDER_MARK, *OTHER_FILES]
WHOLE_RUN_LINES = [b"q Q0 d 1 1 t\n", b"q Q0 e 2 2 t\r\n", b"r Q0 d 1 nan t\n"]
WHOLE_QRELS_LINES = [b"q 0 d 1\n", b"q 0 e 0\r\n", b"r 0 d 1.5\n"]
pieces = st.sampled_from(
    [*BLANKS, *WORDS, *ODDITIES, *WHOLE_RUN_LINES, *WHOLE_QRELS_LINES],
)
junk = st.one_of(st.binary(max_size=60), st.lists(pieces, max_size=30).map(b"".join))


@each_reader
@given(data=junk)
@example(data=b"a b c d")
@example(data=b"a b c d e")
@example(data=b"q 0 d -")
def test_any_bytes_are_read_or_refused_and_leniently_every_line_is_accounted_for(
    read: Reader, file: Path, data: bytes
) -> None:
    file.write_bytes(data)
    if data.startswith(OTHER_FILES) or data.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(
        (b"{", b"[")
    ):
        for lenient in (False, True):
            with contextlib.suppress(InputError):
                read(file, lenient=lenient)
        return
    kept = read(file, lenient=True)
    table, dropped = kept_by_oracle(read, data)
    assert table_of(kept) == table
    found = [
        re.fullmatch(r"([\d,]+) lines? dropped: .+ \(first at line (\d+)\)", text)
        for text in note_texts(kept.dropped)
    ]
    assert sum(int(match[1].replace(",", "")) for match in found) == dropped
    if table and not dropped:
        assert table_of(read(file)) == table
    else:
        line = refusal(read, file).line
        assert line in {int(match[2]) for match in found} or (line is None and not found)


# Files that cannot be read


@each_reader
@pytest.mark.parametrize("lenient", [False, True])
def test_a_missing_file_is_refused(read: Reader, lenient: bool, tmp_path: Path) -> None:
    error = refusal(read, tmp_path / "none", lenient=lenient)
    assert (error.line, error.message) == (None, "cannot be read: No such file or directory")


@each_reader
def test_a_folder_is_refused(read: Reader, tmp_path: Path) -> None:
    error = refusal(read, tmp_path)
    assert (error.line, error.message) == (None, "cannot be read: Is a directory")


@needs_permissions
@each_reader
def test_an_unreadable_file_is_refused(read: Reader, tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"\n".join(GOOD[read][0]))
    path.chmod(0)
    error = refusal(read, path)
    assert (error.line, error.message) == (None, "cannot be read: Permission denied")


@each_reader
def test_a_path_that_no_file_can_have_is_refused(read: Reader) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read("a\0b")


@each_reader
def test_faults_in_standard_input_are_located(
    read: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = b"\n".join([*GOOD[read][0], b"bad"])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    error = refusal(read, "-")
    assert str(error).startswith("standard input:5: 1 column, expected ")


# Damaged and oversized compressed files


def zstandard_with_checksum(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": partial(gzip.compress, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard_with_checksum,
}
each_compression = pytest.mark.parametrize("name", COMPRESSIONS)
SURELY_RECOGNIZED = 12


@each_compression
@each_reader
def test_no_beginning_of_a_compressed_file_is_taken_for_the_whole(
    read: Reader, name: str, file: Path
) -> None:
    whole = COMPRESSIONS[name](b"\n".join(GOOD[read][0]))
    for size in range(len(whole)):
        file.write_bytes(whole[:size])
        error = refusal(read, file)
        if size >= SURELY_RECOGNIZED:
            assert error.line is None
            assert error.message.startswith(f"damaged or truncated {name} data (")
            assert error.message.endswith("), expected a whole file")


@each_compression
@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_large_compressed_file_cut_short_is_refused_also_leniently(
    name: str, share: float, file: Path
) -> None:
    rng = random.Random(3)
    data = "".join(f"q Q0 d{i} {i} {rng.random()!r} t\n" for i in range(20_000)).encode()
    whole = COMPRESSIONS[name](data)
    file.write_bytes(whole[: int(share * len(whole))])
    error = refusal(read_run, file, lenient=True)
    assert error.line is None
    assert error.message.startswith(f"damaged or truncated {name} data (")


def test_a_stream_without_size_or_checksum_cut_short_is_refused(file: Path) -> None:
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    lines = b"q Q0 a 1 1 t\n"
    first = packer.compress(lines) + packer.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    assert packer.compress(b"q Q0 b 2 0 t\n") + packer.flush()
    file.write_bytes(first)
    assert refusal(read_run, file).message.startswith("damaged or truncated zstandard data (")


@each_compression
def test_one_flipped_bit_never_changes_what_is_read(name: str, file: Path) -> None:
    lines, table = GOOD[read_run]
    whole = COMPRESSIONS[name](b"\n".join(lines))
    refused = 0
    for place, bit in itertools.product(range(len(whole)), range(8)):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
        try:
            assert table_of(read_run(file)) == table
        except InputError:
            refused += 1
    assert refused > 4 * len(whole)


def test_without_the_zstandard_package_the_message_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    file.write_bytes(zstandard.compress(b"\n".join(RUN_LINES)))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    error = refusal(read_run, file)
    assert error.message == (
        "is compressed with zstandard, but zstandard is not installed; "
        "run pip install zstandard (extra: zstd)"
    )


@each_reader
@pytest.mark.parametrize("compress", [bytes, *COMPRESSIONS.values()], ids=["", *COMPRESSIONS])
@pytest.mark.parametrize("lenient", [False, True])
def test_a_file_beyond_the_size_limit_is_refused(
    read: Reader, compress: Callable[[bytes], bytes], lenient: bool, file: Path
) -> None:
    lines, _ = GOOD[read]
    data = lines[0] + b" \n" * 10_000
    file.write_bytes(compress(data))
    for limit in (1000, len(data) - 1):
        error = refusal(read, file, size_limit=limit, lenient=lenient)
        assert error.line is None
        assert error.message == (
            f"holds more than {limit:,} bytes, expected less (raise the size limit)"
        )
    assert len(read(file, size_limit=len(data), lenient=lenient).queries) == 1


@each_compression
def test_a_decompression_bomb_is_not_unpacked(name: str, file: Path) -> None:
    file.write_bytes(COMPRESSIONS[name](bytes(64 << 20)))
    assert file.stat().st_size < 1 << 18
    tracemalloc.start()
    try:
        refusal(read_run, file, size_limit=1 << 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 32 << 20


@each_compression
def test_every_stream_of_a_compressed_file_is_read(name: str, file: Path) -> None:
    lines, table = GOOD[read_run]
    compress = COMPRESSIONS[name]
    streams = [compress(line + b"\n") for line in lines]
    for whole in (b"".join(streams), b"".join([*streams, compress(b""), bytes(512)])):
        file.write_bytes(whole)
        assert table_of(read_run(file)) == table


@each_compression
def test_damage_after_the_first_stream_is_refused(name: str, file: Path) -> None:
    compress = COMPRESSIONS[name]
    first, second = (compress(RUN_LINES[at] + b"\n") for at in (0, 3))
    damaged = second[:-6] + bytes([second[-6] ^ 255]) + second[-5:]
    for rest in (b"x", b"rest of a mail\n", second[:-1], second[1:], damaged, bytes(9) + b"x"):
        file.write_bytes(first + rest)
        for lenient in (False, True):
            error = refusal(read_run, file, lenient=lenient)
            assert error.message.startswith(f"damaged or truncated {name} data (")


def test_a_frame_of_zstandard_to_skip_is_skipped(file: Path) -> None:
    lines, table = GOOD[read_run]
    skip = b"\x50\x2a\x4d\x18" + (5).to_bytes(4, "little") + b"hello"
    file.write_bytes(skip + zstandard.compress(b"\n".join(lines)) + skip)
    assert table_of(read_run(file)) == table


@pytest.mark.parametrize("name", ["bzip2", "xz", "zstandard"])  # gzip does not compress that far
def test_by_default_a_small_file_may_not_hold_much(name: str, file: Path) -> None:
    file.write_bytes(COMPRESSIONS[name](bytes(80 << 20)))
    assert refusal(read_run, file).message.startswith("holds more than 67,108,864 bytes")


def test_lack_of_memory_is_not_called_damage(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"\n".join(RUN_LINES)
    window, block = bytes([(30 - 10) << 3]), (1 | len(data) << 3).to_bytes(3, "little")
    file.write_bytes(b"\x28\xb5\x2f\xfd\x00" + window + block + data)
    error = refusal(read_run, file)
    assert error.message == (
        "its zstandard data needs more memory than the size limit of 67,108,864 bytes allows "
        "(raise the size limit)"
    )
    assert len(read_run(file, size_limit=1 << 30).queries)
    for name, compress in COMPRESSIONS.items():
        file.write_bytes(compress(b"\n".join(RUN_LINES)))

        def no_memory(*_: object) -> None:
            raise MemoryError

        monkeypatch.setattr(files, "decompress", no_memory)
        error = refusal(read_run, file)
        assert error.message == (
            f"not enough memory for its content, expected less {name} data or more memory"
        )


def test_many_short_streams_take_little_time(file: Path) -> None:
    lines = b"".join(b"q Q0 d%d 1 %d t\n" % (number, number) for number in range(3000))
    empty = gzip.compress(b"", mtime=0)
    file.write_bytes(
        b"".join(gzip.compress(line) for line in lines.splitlines(True)) + empty * 20_000
    )
    start = time.perf_counter()
    assert len(read_run(file).documents) == 3000
    assert time.perf_counter() - start < 5


# Places that cannot be written

A_RUN = Run.from_dict({"q1": {"a": 1.0, "b": 2.0}})
SOME_QRELS = Judgments.from_dict({"q1": {"a": 1, "b": 2}})
each_writer = pytest.mark.parametrize(
    "write",
    [lambda path: write_run(A_RUN, path), lambda path: write_qrels(SOME_QRELS, path)],
    ids=["write_run", "write_qrels"],
)
Writer = Callable[[Path], None]


def everything_in(folder: Path) -> dict[str, bytes | None]:
    """Every file of a folder with its content, and every folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def assert_not_written(write: Writer, path: Path, reason: str, folder: Path) -> None:
    before = everything_in(folder)
    with pytest.raises(InputError) as caught:
        write(path)
    assert str(caught.value) == f"{path}: cannot be written: {reason}"
    assert (caught.value.source, caught.value.line) == (str(path), None)
    assert everything_in(folder) == before


@each_writer
def test_nothing_is_written_to_a_missing_folder(write: Writer, tmp_path: Path) -> None:
    path = tmp_path / "none" / "out"
    assert_not_written(write, path, "No such file or directory", tmp_path)


@each_writer
def test_nothing_is_written_below_a_file(write: Writer, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"kept")
    assert_not_written(write, tmp_path / "file" / "out", "Not a directory", tmp_path)


@each_writer
def test_a_folder_is_not_replaced_by_a_file(write: Writer, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"kept")
    assert_not_written(write, tmp_path / "folder", "Is a directory", tmp_path)


@needs_permissions
@each_writer
def test_nothing_is_written_to_a_read_only_folder(write: Writer, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "out").write_bytes(b"kept")
    folder.chmod(0o555)
    try:
        assert_not_written(write, folder / "out", "Permission denied", tmp_path)
    finally:
        folder.chmod(0o755)


@contextlib.contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """No file may grow beyond this size, as on a disk that is nearly full."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("ending", ["", ".gz", ".bz2", ".xz"])
@pytest.mark.parametrize("existing", [None, b"kept"], ids=["new", "existing"])
def test_a_full_disk_leaves_no_part_of_a_file(
    ending: str, existing: bytes | None, tmp_path: Path
) -> None:
    rng = random.Random(5)
    run = Run.from_dict({"q": {f"d{i}": rng.random() for i in range(5000)}})
    path = tmp_path / f"out{ending}"
    if existing is not None:
        path.write_bytes(existing)

    def write(path: Path) -> None:
        with files_of_at_most(8192):
            write_run(run, path)

    assert_not_written(write, path, "File too large", tmp_path)


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("existing", [None, b"kept"], ids=["new", "existing"])
def test_a_failure_half_way_leaves_no_part_of_a_file(
    failure: type[BaseException], existing: bytes | None, tmp_path: Path
) -> None:
    path = tmp_path / "out.gz"
    if existing is not None:
        path.write_bytes(existing)
    before = everything_in(tmp_path)

    def write_half() -> None:
        with atomic_write(path) as stream:
            stream.write(b"half" * 100_000)
            raise failure

    with pytest.raises(failure):
        write_half()
    assert everything_in(tmp_path) == before


def test_the_reason_of_a_failure_is_told_also_without_a_number(tmp_path: Path) -> None:
    def write(path: Path) -> None:
        with atomic_write(path):
            raise OSError("quota exceeded")

    assert_not_written(write, tmp_path / "out", "quota exceeded", tmp_path)


@pytest.mark.parametrize("bad", ["", "a b", "a\tb", "a\n", "\r", "a\0b", " "])
def test_an_id_that_would_break_the_columns_is_refused_before_anything_is_written(
    bad: str, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"kept")
    as_topic, as_document = {"q": {"d": 1}, bad: {"d": 1}}, {"q": {"d": 1, bad: 1}}
    for data in (as_topic, as_document):
        for write, source in ((write_run, Run), (write_qrels, Judgments)):
            with pytest.raises(InputError) as caught:
                write(source.from_dict(data), path)  # type: ignore[operator]
            message = f"cannot contain the id {bad!r}, expected one without blanks"
            assert str(caught.value) == f"{path}: {message}"
            assert everything_in(tmp_path) == {"out": b"kept"}


def test_a_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_qrels(SOME_QRELS, path)
        assert stat.S_ISFIFO(path.stat().st_mode)
        assert os.read(reader, 1000) == b"q1 0 a 1\nq1 0 b 2\n"
    finally:
        os.close(reader)


def test_a_long_file_name_that_is_allowed_is_written(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_qrels(SOME_QRELS, path)
    assert path.read_bytes() == b"q1 0 a 1\nq1 0 b 2\n"


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="no /dev/zero here")
def test_a_device_without_an_end_is_read_as_far_as_memory_goes(monkeypatch) -> None:
    monkeypatch.setattr(files, "_memory", lambda: 3 << 20)
    with pytest.raises(InputError, match="holds more than 1,048,576 bytes, expected less"):
        files.open_content("/dev/zero")
