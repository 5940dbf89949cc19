"""What TREC files say is what is read, and what is written reads back the same."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import lzma
import math
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given, strategies as st

from rankgauge import InputError, Judgments, Run, read_qrels, read_run, write_qrels, write_run
from rankgauge.data.model import decode, encode
from rankgauge.io.trec import run_name

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
}

Table = dict[bytes, list[tuple[bytes, float]]]

RUN = b"""\
q1 Q0 d1 1 2.5 bm25
q1 Q0 d2 2 1.5 bm25
q2 Q0 d1 1 0.5 bm25
"""
RUN_TABLE: Table = {b"q1": [(b"d1", 2.5), (b"d2", 1.5)], b"q2": [(b"d1", 0.5)]}
QRELS = b"""\
q1 0 d1 1
q1 0 d2 0
q2 0 d1 2
"""
QRELS_TABLE: Table = {b"q1": [(b"d1", 1), (b"d2", 0)], b"q2": [(b"d1", 2)]}


def table_of(data: Run | Judgments) -> Table:
    """Queries in their order, each with its rows in theirs."""
    values = data.scores if isinstance(data, Run) else data.grades
    rows = list(zip(data.documents, values.tolist(), strict=True))
    bounds = itertools.pairwise(data.bounds.tolist())
    return {topic: rows[a:b] for topic, (a, b) in zip(data.queries, bounds, strict=True)}


def bits(table: Table) -> dict[bytes, list[tuple[bytes, str]]]:
    """The same table with scores that are equal only when every bit is: 0.0 is not -0.0."""
    return {
        topic: [(document, float(value).hex()) for document, value in rows]
        for topic, rows in table.items()
    }


def by_oracle(data: bytes, column: int) -> Table:
    """The table in a file by plain Python: split lines, split columns, float()."""
    table: Table = {}
    for line in data.removeprefix(BYTE_ORDER_MARK).split(b"\n"):
        if cells := line.split():
            table.setdefault(cells[0], []).append((cells[2], float(cells[column])))
    return table


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for a file that each example writes anew."""
    return tmp_path_factory.mktemp("trec") / "file"


def run_in(file: Path, data: bytes) -> Table:
    file.write_bytes(data)
    return table_of(read_run(file))


def qrels_in(file: Path, data: bytes) -> Table:
    file.write_bytes(data)
    return table_of(read_qrels(file))


# The forms a file may have

FORMS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda text: text,
    "tabs": lambda text: text.replace(b" ", b"\t"),
    "runs of blanks": lambda text: text.replace(b" ", b" \t  "),
    "form feeds and vertical tabs": lambda text: text.replace(b" ", b"\f\v"),
    "blanks around lines": lambda text: b"".join(b"  \t%b \n" % x for x in text.splitlines()),
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "a byte-order mark": lambda text: BYTE_ORDER_MARK + text,
    "no last newline": lambda text: text[:-1],
    "CRLF and no last newline": lambda text: text.replace(b"\n", b"\r\n")[:-2],
    "blank lines": lambda text: b"\n\r\n" + text.replace(b"\n", b"\n \t\n\n") + b"\n\n",
}
each_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


@each_form
def test_a_run_is_the_same_in_every_form(form: Callable[[bytes], bytes], file: Path) -> None:
    assert run_in(file, form(RUN)) == RUN_TABLE


@each_form
def test_qrels_are_the_same_in_every_form(form: Callable[[bytes], bytes], file: Path) -> None:
    assert qrels_in(file, form(QRELS)) == QRELS_TABLE


def test_rows_of_interleaved_topics_come_together_in_the_order_of_the_file(file: Path) -> None:
    data = b"b Q0 x 1 1 t\na Q0 x 1 2 t\nb Q0 y 2 3 t\nc Q0 x 1 4 t\na Q0 y 2 5 t\nb Q0 a 3 6 t\n"
    table = run_in(file, data)
    assert list(table.items()) == [
        (b"b", [(b"x", 1.0), (b"y", 3.0), (b"a", 6.0)]),
        (b"a", [(b"x", 2.0), (b"y", 5.0)]),
        (b"c", [(b"x", 4.0)]),
    ]
    judged = qrels_in(file, b"b 0 x 1\na 0 x 2\nb 0 y 3\n")
    assert list(judged.items()) == [(b"b", [(b"x", 1), (b"y", 3)]), (b"a", [(b"x", 2)])]


def test_scores_need_not_be_sorted_and_ranks_are_not_believed(file: Path) -> None:
    table = run_in(file, b"q Q0 a 7 1 t\nq Q0 b 7 9 t\nq any c none 5 t\n")
    assert table == {b"q": [(b"a", 1.0), (b"b", 9.0), (b"c", 5.0)]}


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("0", 0),
        ("-1", -1),
        ("-2", -2),
        ("+3", 3),
        ("-0", 0),
        ("007", 7),
        ("2147483647", 2**31 - 1),
        ("-2147483647", 1 - 2**31),
    ],
)
def test_grades_are_whole_numbers_also_negative_ones(text: str, grade: int, file: Path) -> None:
    assert qrels_in(file, f"q 0 d {text}\n".encode()) == {b"q": [(b"d", grade)]}


def test_ids_that_are_not_utf8_survive(file: Path) -> None:
    topic, document, tag = b"\xff\xe9", b"caf\xe9\x80\xc3", b"r\xfcn"
    data = b"%b Q0 %b 1 1 %b\n" % (topic, document, tag)
    assert run_in(file, data) == {topic: [(document, 1.0)]}
    run = read_run(file)
    assert encode(run.tag) == tag
    assert [encode(text) for text in run.documents.texts()] == [document]
    assert qrels_in(file, b"%b 0 %b 1\n" % (topic, document)) == {topic: [(document, 1)]}


def test_ids_in_any_script_are_text(file: Path) -> None:
    file.write_bytes("тема Q0 文書 1 1 é\n".encode())
    run = read_run(file)
    assert (run.queries.texts(), run.documents.texts(), run.tag) == (["тема"], ["文書"], "é")


@pytest.mark.parametrize("size", [1, 10_000])
def test_ids_may_be_short_or_long(size: int, file: Path) -> None:
    topic, first, second = b"q" * size, b"d" * size, b"d" * (size - 1) + b"e"
    lines = b"%b Q0 %b 1 2 t\n%b Q0 %b 2 1 t\n" % (topic, first, topic, second)
    assert run_in(file, lines) == {topic: [(first, 2.0), (second, 1.0)]}
    lines = b"%b 0 %b 1\n%b 0 %b 0\n" % (topic, first, topic, second)
    assert qrels_in(file, lines) == {topic: [(first, 1), (second, 0)]}


def test_ids_differ_when_only_their_beginnings_agree(file: Path) -> None:
    table = run_in(file, b"q Q0 d 1 1 t\nq Q0 d1 2 2 t\nq1 Q0 d 1 3 t\nq Q0 D 3 4 t\n")
    assert table == {b"q": [(b"d", 1.0), (b"d1", 2.0), (b"D", 4.0)], b"q1": [(b"d", 3.0)]}


def test_the_same_document_may_answer_many_topics(file: Path) -> None:
    data = b"".join(b"q%d Q0 d 1 %d t\n" % (topic, topic) for topic in range(300))
    assert run_in(file, data) == {b"q%d" % topic: [(b"d", float(topic))] for topic in range(300)}


def test_a_run_knows_its_name_tag_and_source(tmp_path: Path) -> None:
    path = tmp_path / "best.run"
    path.write_bytes(RUN)
    run = read_run(path)
    assert (run.name, run.tag, run.source, run.dropped) == ("best", "bm25", str(path), ())
    assert read_run(str(path), name="mine").name == "mine"
    assert read_qrels(path.with_name("best.run"), lenient=True).source == str(path)


def test_scores_of_a_file_are_kept_in_double_precision(file: Path) -> None:
    file.write_bytes(b"q Q0 d 1 0.1 t\n")
    assert read_run(file).scores.tolist() == [0.1]


def test_what_is_read_cannot_be_changed(file: Path) -> None:
    file.write_bytes(RUN)
    run = read_run(file)
    file.write_bytes(QRELS)
    judgments = read_qrels(file)
    for column in (run.scores, run.bounds, run.documents.data, run.queries.offsets):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0
    for column in (judgments.grades, judgments.bounds, judgments.documents.data):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("bm25", "bm25"),
        ("runs/bm25.run", "bm25"),
        ("bm25.txt", "bm25"),
        ("bm25.run.gz", "bm25"),
        ("bm25.res.zst", "bm25"),
        ("bm25.bz2", "bm25"),
        ("input.bm25-k1=0.9", "input.bm25-k1=0.9"),
        (".run", ".run"),
        (".gz", ".gz"),
        ("-", "stdin"),
    ],
)
def test_a_run_is_named_after_its_file(path: str, name: str) -> None:
    assert run_name(path) == name


# Scores

HARD_NUMBERS = [
    "1e-3",
    "-.5",
    "+7",
    "7.",
    "-0",
    "0.1234567890123456789",
    "5e-324",
    "2e-324",
    "3e-324",
    "1e-400",
    "9007199254740993",
    "9007199254740992.5",
    "9007199254740993e-5",
    "1e22",
    "1e23",
    "9007199254740992e22",
    "1.7976931348623157e308",
    "2.2250738585072011e-308",
    "2.2250738585072014E-308",
    "0.500000000000000166533453693773481063544750213623046875",
    "9999999999999999999",
    "18446744073709551615",
    "18446744073709551616",
    "123456789012345678901234567890",
    "0.3000000000000000166533453693773481063544750213623046875",
    "00000000000000000000000000000012.5",
    "0.00000000000000000000000000000125",
    "0." + "0" * 330 + "1",
    "0." + "0" * 300 + "123456789012345678901",
    "1" + "0" * 400 + "e-400",
    "1." + "0" * 800 + "1",
    "1e+0000000005",
    "0." + "0" * 1_000_000 + "1e1000001",
    "1e-99999999999999999999",
    "0e99999999999999999999",
]


@pytest.mark.parametrize("text", HARD_NUMBERS, ids=lambda text: text[:24])
def test_a_hard_score_is_the_float_that_python_reads(text: str, file: Path) -> None:
    table = run_in(file, f"q Q0 d 1 {text} t\n".encode())
    assert bits(table) == {b"q": [(b"d", float(text).hex())]}


BEYOND_DOUBLE_PRECISION = [
    "1e400",
    "-1e400",
    "1e999",
    "1.7976931348623159e308",
    "1" + "0" * 400,
    "0." + "0" * 100_000 + "1e1000001",
    "1e99999999999999999999",
]


@pytest.mark.parametrize("text", BEYOND_DOUBLE_PRECISION, ids=lambda text: text[:24])
def test_a_score_beyond_double_precision_is_refused(text: str, file: Path) -> None:
    with pytest.raises(InputError, match=r"file:2: the score '.* is beyond double precision"):
        run_in(file, f"q Q0 c 1 1 t\nq Q0 d 1 {text} t\n".encode())


@pytest.mark.parametrize("text", ["inf", "+inf", "INF", "Infinity", "iNfInItY"])
def test_infinity_is_a_score(text: str, file: Path) -> None:
    assert run_in(file, f"q Q0 d 1 {text} t\n".encode()) == {b"q": [(b"d", math.inf)]}
    minus = "-" + text.removeprefix("+")
    assert run_in(file, f"q Q0 d 1 {minus} t\n".encode()) == {b"q": [(b"d", -math.inf)]}


decimals = st.from_regex(
    re.compile(r"[+-]?([0-9]{1,30}\.?[0-9]{0,30}|\.[0-9]{1,30})([eE][+-]?[0-9]{1,3})?"),
    fullmatch=True,
)
floats = st.floats(allow_nan=False)
numbers = st.one_of(
    floats.map(repr),
    floats.map("{:.17g}".format),
    decimals.filter(lambda text: not math.isinf(float(text))),
)


@given(st.lists(numbers, min_size=1, max_size=30))
def test_every_score_is_the_float_that_python_reads(file: Path, texts: list[str]) -> None:
    data = "".join(f"q Q0 d{i} {i} {text} t\n" for i, text in enumerate(texts))
    read = [value.hex() for _, value in run_in(file, data.encode())[b"q"]]
    assert read == [float(text).hex() for text in texts]


@pytest.mark.parametrize("pieces", [1, 40_000], ids=["small", "in pieces"])
@pytest.mark.parametrize("topic", ["q", "r"], ids=["the same query", "another query"])
def test_a_byte_order_mark_inside_a_file_is_named_by_its_line(
    topic: str, pieces: int, file: Path
) -> None:
    mark = BYTE_ORDER_MARK.decode()
    run = "".join(f"q{i} Q0 d 1 2 t\n" for i in range(pieces))
    for read, data in (
        (run_in, f"{mark}{run}{mark}{topic} Q0 e 2 1 t\n"),
        (qrels_in, f"{mark}{run.replace(' 2 t', '')}{mark}{topic} 0 e 1\n"),
    ):
        with pytest.raises(InputError, match=f"file:{pieces + 1}: the line begins with a byte"):
            read(file, data.encode())


def test_no_topic_with_a_byte_order_mark_is_written(file: Path) -> None:
    with pytest.raises(InputError, match="begins with a byte order mark"):
        write_run(Run.from_dict({"a": {"d": 1.0}, "\ufeffb": {"d": 1.0}}), file)


# Whole files, against plain Python

NOT_BLANK = [chr(code) for code in range(1, 256) if bytes([code]).split()]
ids = st.text(st.sampled_from(NOT_BLANK), min_size=1, max_size=5).map(
    lambda text: text.encode("latin-1")
)
# Queries start with a letter, so that no first line looks like the start of a compressed file.
topics = st.builds(b"q%b".__mod__, ids)
blanks = st.sampled_from([b" ", b"\t", b"  ", b" \t ", b"\r", b"\v\f"])
line_ends = st.sampled_from([b"\n", b"\r\n", b" \n", b"\n\n", b"\n \t\r\n"])


@st.composite
def trec_files(
    draw: st.DrawFn, rest: Callable[[bytes, bytes], st.SearchStrategy[tuple[bytes, ...]]]
) -> bytes:
    """A file whose lines hold a query, a document and the rest, in any layout."""
    some = draw(st.lists(topics, min_size=1, max_size=3, unique=True))
    pairs = draw(
        st.lists(st.tuples(st.sampled_from(some), ids), min_size=1, max_size=10, unique=True)
    )
    separator = draw(blanks)
    end = draw(line_ends)
    lines = [separator.join(draw(rest(topic, document))) + end for topic, document in pairs]
    before = draw(st.sampled_from([b"", BYTE_ORDER_MARK, b"\n", b" ", b"\r\n\t"]))
    data = before + b"".join(lines)
    return data.rstrip() if draw(st.booleans()) else data


run_files = trec_files(
    lambda topic, document: st.tuples(
        st.just(topic), ids, st.just(document), ids, numbers.map(str.encode), ids
    )
)
grades = st.integers(-3, 4) | st.integers(1 - 2**31, 2**31 - 1)
qrels_files = trec_files(
    lambda topic, document: st.tuples(
        st.just(topic), ids, st.just(document), grades.map(lambda grade: b"%d" % grade)
    )
)


@given(run_files)
@example(BYTE_ORDER_MARK + b"\r\nq\tQ0  d 1 1e3 t \r\n\n r Q0 d 1 2 t\r\nq Q0 e 2 0 t")
def test_a_run_is_read_as_plain_python_would(file: Path, data: bytes) -> None:
    expected = by_oracle(data, column=4)
    table = run_in(file, data)
    assert bits(table) == bits(expected)
    assert list(table) == list(expected)
    assert encode(read_run(file).tag) == data.split()[-1]


@given(qrels_files)
def test_qrels_are_read_as_plain_python_would(file: Path, data: bytes) -> None:
    expected = by_oracle(data, column=3)
    table = qrels_in(file, data)
    assert table == expected
    assert list(table) == list(expected)


def test_a_large_interleaved_run_is_read_as_plain_python_would(file: Path) -> None:
    rng = random.Random(7)
    pairs = [(topic, document) for topic in range(50) for document in range(200)]
    rng.shuffle(pairs)
    data = "".join(f"{t} Q0 doc-{d} 1 {rng.gauss(0, 1)!r} r\n" for t, d in pairs).encode()
    assert bits(run_in(file, data)) == bits(by_oracle(data, column=4))


# Compression

each_compression = pytest.mark.parametrize("ending", COMPRESSIONS)


@each_compression
@pytest.mark.parametrize("name", ["run", "run.txt", "run.gz", "run.bz2", "run.xz", "run.zst"])
def test_compression_is_recognized_by_content_not_by_name(
    ending: str, name: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(COMPRESSIONS[ending](RUN))
    assert table_of(read_run(path)) == RUN_TABLE
    path.write_bytes(COMPRESSIONS[ending](QRELS))
    assert table_of(read_qrels(path)) == QRELS_TABLE


@each_compression
def test_a_plain_file_is_read_whatever_its_name_says(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"run.{ending}"
    path.write_bytes(RUN)
    assert table_of(read_run(path)) == RUN_TABLE


@each_compression
def test_compressed_pieces_one_after_the_other_are_one_file(ending: str, file: Path) -> None:
    first, second = RUN[:30], RUN[30:]
    compress = COMPRESSIONS[ending]
    assert run_in(file, compress(first) + compress(second)) == RUN_TABLE


@each_compression
def test_a_large_compressed_file_is_read_whole(ending: str, file: Path) -> None:
    rng = random.Random(11)
    data = "".join(f"q Q0 d{i} {i} {rng.random()!r} t\n" for i in range(20_000)).encode()
    table = run_in(file, COMPRESSIONS[ending](data))
    assert table == by_oracle(data, column=4)


def test_a_stream_compressed_without_its_size_is_read(file: Path) -> None:
    packer = zstandard.ZstdCompressor(write_content_size=False).compressobj()
    assert run_in(file, packer.compress(RUN) + packer.flush()) == RUN_TABLE


@pytest.mark.parametrize("topic", ["BZh", "BZh1", "BZhang"])
def test_a_topic_that_starts_like_bzip2_is_a_topic(topic: str, file: Path) -> None:
    assert run_in(file, f"{topic} Q0 d 1 1 t\n".encode()) == {topic.encode(): [(b"d", 1.0)]}


# Standard input


@pytest.mark.parametrize("compress", [bytes, *COMPRESSIONS.values()], ids=["", *COMPRESSIONS])
def test_a_dash_is_standard_input(
    compress: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(compress(RUN))))
    run = read_run("-")
    assert table_of(run) == RUN_TABLE
    assert (run.name, run.source) == ("stdin", "standard input")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(compress(QRELS))))
    judgments = read_qrels("-")
    assert table_of(judgments) == QRELS_TABLE
    assert judgments.source == "standard input"


# Writing


def test_a_run_is_written_best_first_with_ranks_and_full_scores(tmp_path: Path) -> None:
    run = Run.from_dict({"q2": {"a": -1.0, "b": 1 / 3}, "q1": {"c": math.inf}}, name="my run")
    write_run(run, tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == (
        b"q2 Q0 b 1 0.3333333333333333 my_run\nq2 Q0 a 2 -1.0 my_run\nq1 Q0 c 1 inf my_run\n"
    )


def test_equal_scores_are_written_in_the_order_they_came_in(tmp_path: Path) -> None:
    write_run(Run.from_dict({"q": {"b": 1.0, "c": 2.0, "a": 1.0}}), tmp_path / "out")
    assert by_oracle((tmp_path / "out").read_bytes(), column=4) == {
        b"q": [(b"c", 2.0), (b"b", 1.0), (b"a", 1.0)]
    }


def test_qrels_are_written_in_their_order(tmp_path: Path) -> None:
    write_qrels(Judgments.from_dict({"q2": {"b": 2, "a": -1}, "q1": {"c": 0}}), tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"q2 0 b 2\nq2 0 a -1\nq1 0 c 0\n"


def test_a_run_without_a_name_gets_a_tag_all_the_same(tmp_path: Path) -> None:
    write_run(Run.from_dict({"q": {"d": 1.0}}, name=" "), tmp_path / "out")
    assert read_run(tmp_path / "out").tag == "run"


def test_the_tag_of_a_file_is_kept_when_it_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "in.run").write_bytes(RUN)
    write_run(read_run(tmp_path / "in.run", name="other"), tmp_path / "out.run")
    assert (tmp_path / "out.run").read_bytes() == RUN


@pytest.mark.parametrize(
    ("ending", "unpack"),
    [(".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress), ("", bytes)],
)
def test_the_ending_of_an_output_file_compresses_it(
    ending: str, unpack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    (tmp_path / "in").write_bytes(RUN)
    path = tmp_path / f"out{ending}"
    write_run(read_run(tmp_path / "in"), path)
    assert unpack(path.read_bytes()) == RUN
    assert table_of(read_run(path)) == RUN_TABLE
    (tmp_path / "in").write_bytes(QRELS)
    write_qrels(read_qrels(tmp_path / "in"), path)
    assert unpack(path.read_bytes()) == QRELS


def test_writing_again_replaces_the_file_and_leaves_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"old\n" * 1000)
    write_qrels(Judgments.from_dict({"q": {"d": 1}}), path)
    assert path.read_bytes() == b"q 0 d 1\n"
    assert list(tmp_path.iterdir()) == [path]


def nested(values: st.SearchStrategy[float]) -> st.SearchStrategy[dict[str, dict[str, float]]]:
    """`{topic: {document: value}}` with ids of any bytes, each query with a document."""
    rows = st.dictionaries(ids.map(decode), values, min_size=1, max_size=5)
    return st.dictionaries(topics.map(decode), rows, min_size=1, max_size=4)


@given(nested(st.floats(allow_nan=False)), ids.map(decode))
def test_a_run_reads_back_as_it_was_written(
    file: Path, data: dict[str, dict[str, float]], tag: str
) -> None:
    run = Run.from_dict(data, name=tag)
    write_run(run, file)
    back = read_run(file)
    assert {t: dict(rows) for t, rows in bits(table_of(back)).items()} == {
        t: dict(rows) for t, rows in bits(table_of(run)).items()
    }
    assert list(back.queries) == list(run.queries)
    assert back.tag == tag


@given(nested(st.integers(1 - 2**31, 2**31 - 1)))
def test_qrels_read_back_as_they_were_written(file: Path, data: dict[str, dict[str, int]]) -> None:
    judgments = Judgments.from_dict(data)
    write_qrels(judgments, file)
    assert list(table_of(read_qrels(file)).items()) == list(table_of(judgments).items())


@pytest.mark.parametrize(
    "start",
    [BYTE_ORDER_MARK, b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"],
    ids=["byte-order mark", "UTF-16", "UTF-16 big-endian", "gzip", "zstandard"],
)
def test_a_topic_that_starts_like_another_kind_of_file_is_refused(start: bytes, file: Path) -> None:
    run = Run.from_dict({decode(start + b"1"): {"d": 1.0}})
    with pytest.raises(
        InputError, match=r"looks like another format|begins with a byte order mark"
    ):
        write_run(run, file)


def test_a_topic_that_only_looks_like_bzip2_reads_back(file: Path) -> None:
    write_run(Run.from_dict({"BZh91": {"d": 1.0}}), file)
    assert table_of(read_run(file)) == {b"BZh91": [(b"d", 1.0)]}


def test_a_tag_that_would_make_the_file_unreadable_is_mended(file: Path) -> None:
    write_run(Run.from_dict({"q": {"d": 1.0}}, name="a\0b"), file)
    assert table_of(read_run(file)) == {b"q": [(b"d", 1.0)]}
    assert file.read_bytes() == b"q Q0 d 1 1.0 a_b\n"
