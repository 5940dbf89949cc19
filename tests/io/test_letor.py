"""What LETOR files say is what is read, and what is wrong with them is said."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import plain
import pytest
from hypothesis import given, strategies as st
from properties import letor, letor_table

import rankgauge
from letor_lines import letor_lines, numbers, short
from rankgauge import Features, InputError, read_letor
from rankgauge.core.notes import note_texts
from rankgauge.data.model import Ids
from rankgauge.errors import DuplicateError

EXAMPLE = b"""\
2 qid:q1 1:0.5 2:0.25 # docid = d1 inc = 1 prob = 0.2
0 qid:q1 2:-3e1 # docid = d2
1 qid:q2 3:7 1:.5 #docid=d1
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for a file that each example writes anew."""
    return tmp_path_factory.mktemp("letor") / "file"


def features_in(file: Path, data: bytes, *, lenient: bool = False) -> Features:
    file.write_bytes(data)
    return read_letor(file, lenient=lenient)


def documents_in(features: Features) -> list[str] | None:
    return None if features.documents is None else features.documents.texts()


def test_grades_queries_features_and_documents_are_read(file: Path) -> None:
    features = features_in(file, EXAMPLE)
    assert features.queries.texts() == ["q1", "q2"]
    assert features.bounds.tolist() == [0, 2, 3]
    assert features.labels.tolist() == [2, 0, 1]
    assert features.values.tolist() == [[0.5, 0.25, 0], [0, -30, 0], [0.5, 0, 7]]
    assert documents_in(features) == ["d1", "d2", "d1"]
    assert (features.source, features.dropped) == (str(file), ())
    assert repr(features) == "Features: 2 queries, 3 documents, 3 features"
    assert (features.labels.dtype, features.values.dtype) == (np.int32, np.float32)


FORMS: dict[str, Callable[[bytes], bytes]] = {
    "tabs": lambda text: text.replace(b" ", b"\t"),
    "CRLF": lambda text: text.replace(b"\n", b" \r\n"),
    "a byte-order mark": lambda text: b"\xef\xbb\xbf" + text,
    "no last newline": lambda text: text[:-1],
    "blank lines and comments": lambda text: (
        b"# 3 features\n\n" + text.replace(b"\n", b"\n \t\n#\n")
    ),
    "no blank before the comment": lambda text: text.replace(b" #", b"#"),
    "compressed": gzip.compress,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_features_are_the_same_in_every_form(form: Callable[[bytes], bytes], file: Path) -> None:
    expected = letor_table(features_in(file, EXAMPLE))
    assert letor_table(features_in(file, form(EXAMPLE))) == expected


def test_rows_of_interleaved_queries_come_together_in_the_order_of_the_file(file: Path) -> None:
    features = features_in(file, b"0 qid:b 1:1\n1 qid:a 1:2\n2 qid:b 1:3\n")
    assert features.queries.texts() == ["b", "a"]
    assert features.bounds.tolist() == [0, 2, 3]
    assert features.labels.tolist() == [0, 2, 1]
    assert features.values.tolist() == [[1], [3], [2]]


@pytest.mark.parametrize("comment", [b"", b"# inc = 1", b"# docid", b"# docid = ", b"# docids = 3"])
def test_documents_are_none_where_the_file_names_none(comment: bytes, file: Path) -> None:
    assert features_in(file, b"0 qid:1 1:1 %b\n1 qid:1 1:2\n" % comment).documents is None


def test_what_is_read_cannot_be_changed(file: Path) -> None:
    features = features_in(file, EXAMPLE)
    for column in (features.values, features.labels, features.bounds):
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 0


FAULTS = [
    (b"x qid:1 1:1", "'x' is not a number", "not a number"),
    (
        b"1.5 qid:1 1:1",
        "grade '1.5', expected a whole number",
        "a grade that is not a whole number",
    ),
    (b"2147483648 qid:1 1:1", "at most 32 bits", "a grade beyond 32 bits"),
    (b"0 qid:1 1:\0", "binary data", "binary data"),
    (b"0 qid:1 # \0", "binary data", "binary data"),
    (b"0", "nothing in the place of the query", "no query"),
    (b"0 1:0.5", "'1:0.5' in the place of the query", "no query"),
    (b"0 qid: 1:0.5", "'qid:' in the place of the query", "no query"),
    (b"0 qid:1 0.5", "'0.5' is not a feature and its value", "not a feature and its value"),
    (b"0 qid:1 :5", "':5' is not a feature and its value", "not a feature and its value"),
    (b"0 qid:1 0:5", "feature number in '0:5', expected 1 to 100,000", "out of range"),
    (b"0 qid:1 100001:5", "expected 1 to 100,000", "a feature number out of range"),
    (b"0 qid:1 18446744073709551617:5", "expected 1 to 100,000", "out of range"),
    (b"0 qid:1 1:5 2:6 1:5", "'1:5': the feature again", "a feature twice"),
    (b"0 qid:1 1:NULLS", "'1:NULLS' is not a number", "a value that is not a number"),
    (b"0 qid:1 1:", "the value in '1:' is not a number", "a value that is not a number"),
    (b"0 qid:1 1:nan", "the value in '1:nan' is not finite", "a value that is not finite"),
    (b"0 qid:1 1:-inf", "the value in '1:-inf' is not finite", "a value that is not finite"),
    (b"0 qid:1 1:3.5e38", "not finite in single precision, expected at most 3.4e38", "not finite"),
    (b"\xef\xbb\xbf0 qid:1 1:1", "the line begins with a byte order mark", "a byte order mark"),
    (b"0 qid:1 1:1e400", "the value in '1:1e400' is not finite", "a value that is not finite"),
]


@pytest.mark.parametrize(("line", "message", "dropped"), FAULTS, ids=lambda x: repr(x)[:30])
def test_a_faulty_line_is_named_or_dropped(
    line: bytes, message: str, dropped: str, file: Path
) -> None:
    data = b"1 qid:9 1:1\n\n%b\n2 qid:9 1:2\n" % line
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        features_in(file, data)
    assert str(caught.value).startswith(f"{file}:3: ")
    features = features_in(file, data, lenient=True)
    assert features.values.tolist() == [[1], [2]]
    assert len(features.dropped) == 1
    assert re.fullmatch(
        rf"1 line dropped: .*{dropped} \(first at line 3\)", note_texts(features.dropped)[0]
    )


def test_a_document_again_for_a_query_is_refused_or_dropped(file: Path) -> None:
    data = b"1 qid:1 1:1 #docid = a\n1 qid:2 1:2 #docid = a\n0 qid:1 1:3 #docid = a\n"
    with pytest.raises(
        DuplicateError, match=r":3: document 'a' repeated for query '1' .*at line 1"
    ):
        features_in(file, data)
    features = features_in(file, data, lenient=True)
    assert features.values.tolist() == [[1], [2]]
    assert features.bounds.tolist() == [0, 1, 2]
    assert note_texts(features.dropped) == (
        "1 line dropped: a document repeated for the same query (first at line 3)",
    )


def test_documents_on_some_lines_only_are_refused_or_not_kept(file: Path) -> None:
    data = b"1 qid:1 1:1 #docid = a\n1 qid:2 1:2\n0 qid:1 1:3 #docid = a\n"
    with pytest.raises(InputError, match=r":2: no document id, although other lines have one"):
        features_in(file, data)
    features = features_in(file, data, lenient=True)
    assert features.documents is None
    assert len(features.labels) == 3
    assert note_texts(features.dropped) == (
        "document ids dropped: 1 line without one (first at line 2)",
    )


@pytest.mark.parametrize("data", [b"", b"\n \r\n", b"# only a comment\n"])
def test_a_file_without_lines_is_refused_or_empty(data: bytes, file: Path) -> None:
    with pytest.raises(InputError, match="no lines, expected `grade qid:query"):
        features_in(file, data)
    features = features_in(file, data, lenient=True)
    assert (features.values.shape, features.bounds.tolist()) == ((0, 0), [0])


def test_a_few_bytes_cannot_ask_for_all_memory(file: Path) -> None:
    file.write_bytes(b"0 qid:1 100000:1\n" * 1000)
    with pytest.raises(
        InputError, match="1,000 lines of 100,000 features need more than 399,999,999"
    ):
        read_letor(file, size_limit=399_999_999)
    file.write_bytes(b"0 qid:1 1:1\n" * 1000)
    with pytest.raises(InputError, match="holds more than 11,999 bytes"):
        read_letor(file, size_limit=11_999)


def test_the_reader_and_its_type_are_public() -> None:
    assert {"Features", "read_letor"} <= set(rankgauge.__all__)


# Against plain Python


@given(st.lists(st.one_of(numbers, short), min_size=1, max_size=30))
def test_every_value_is_the_nearest_of_single_precision(file: Path, texts: list[str]) -> None:
    line = "0 qid:1 " + " ".join(f"{i}:{text}" for i, text in enumerate(texts, 1))
    values = features_in(file, line.encode()).values
    expected = [plain.single(float(text)) for text in texts]
    assert [value.hex() for value in values[0].tolist()] == [value.hex() for value in expected]


@given(st.lists(letor_lines(), max_size=8))
def test_a_file_is_read_as_plain_python_would(file: Path, lines: list[str]) -> None:
    letor("".join(lines).encode("latin-1"), file.parent)


def test_features_are_read_only_and_leave_the_arrays_they_are_made_of_alone() -> None:
    bounds, labels, values = np.array([0, 1]), np.array([1], dtype=np.int32), np.ones((1, 2))
    features = Features(Ids.of(["q"]), bounds, labels, values)
    for array, kept in ((bounds, features.bounds), (labels, features.labels)):
        assert array.flags.writeable
        assert not kept.flags.writeable
    assert values.flags.writeable
    assert not features.values.flags.writeable


REAL = [
    ("mq2008/S1.txt.gz", 157, 2933, 46),
    ("ohsumed/Data/Fold1/testset.txt.gz", 22, 3383, 25),
    ("ohsumed-letor3/Fold1.test.txt.gz", 22, 3383, 45),
    ("mslr-sample/mslr_fold1_test_sample.txt.gz", 18, 1900, 136),
    ("mslr-5k/msn1.fold1.train.5k.txt.gz", 43, 5000, 136),
]


@pytest.mark.parametrize(("name", "queries", "rows", "width"), REAL)
def test_real_sets_are_read_as_plain_python_would(
    real_data: Callable[[str], Path], name: str, queries: int, rows: int, width: int
) -> None:
    path = real_data(name)
    features = read_letor(path)
    assert (len(features.queries), *features.values.shape) == (queries, rows, width)
    expected, _ = plain.letor_table(gzip.decompress(path.read_bytes()), False, 1 << 40)
    assert letor_table(features) == expected


def test_the_parts_of_mq2008_are_all_there(real_data: Callable[[str], Path]) -> None:
    parts = [read_letor(real_data(f"mq2008/S{i}.txt.gz")) for i in range(1, 6)]
    assert sum(len(part.queries) for part in parts) == 784
    labels = np.concatenate([part.labels for part in parts])
    assert np.bincount(labels).tolist() == [12279, 2001, 931]
    assert all(part.documents is not None for part in parts)
