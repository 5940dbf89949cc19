"""How LETOR files are read: in pieces, with absent features, with queries in a file beside them."""

from __future__ import annotations

import gzip
import re
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import numpy as np
import plain
import pytest
from hypothesis import given, strategies as st
from properties import letor_table

from letor_lines import letor_lines
from profiles import some
from rankgauge import InputError, RankgaugeError, read_letor
from rankgauge.core.notes import note_texts
from rankgauge.io import files, letor as reader


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place for a file that each example writes anew."""
    return tmp_path_factory.mktemp("letor") / "file"


@given(
    st.lists(letor_lines(), max_size=12),
    st.integers(1, 200),
    st.sampled_from(["zero", "nan"]),
    st.booleans(),
    st.booleans(),
)
def test_the_size_of_the_pieces_changes_nothing(
    file: Path, lines: list[str], size: int, absent: str, lenient: bool, compressed: bool
) -> None:
    data = "".join(lines).encode("latin-1").removeprefix(files.UTF8_MARK)
    if data.startswith((*files.UTF16_MARKS, b"BZh", b"\x1f\x8b")):
        return
    file.write_bytes(gzip.compress(data) if compressed else data)
    value = np.nan if absent == "nan" else 0.0
    expected: object
    try:
        expected = plain.letor_table(data, lenient, 1 << 40, value)[0]
    except plain.Refused as refused:
        expected = refused.line
    with (
        mock.patch.object(files, "CHUNK", size),
        mock.patch.object(reader, "CHUNK", size),
        mock.patch("rankgauge.io.compression.PIECE", size),
    ):
        try:
            actual: object = letor_table(read_letor(file, absent=absent, lenient=lenient))  # type: ignore[arg-type]
        except InputError as error:
            actual = error.line
    assert actual == expected


def test_a_feature_that_a_line_lacks_is_zero_or_nan(file: Path) -> None:
    file.write_bytes(b"0 qid:1 1:1 3:NULL\n1 qid:1 2:null 1:2\n")
    assert read_letor(file).values.tolist() == [[1, 0, 0], [2, 0, 0]]
    values = read_letor(file, absent="nan").values
    assert np.isnan(values).tolist() == [[False, True, True], [False, True, True]]
    with pytest.raises(RankgaugeError, match="absent"):
        read_letor(file, absent="none")  # type: ignore[arg-type]


def test_a_sparse_file_is_read_in_little_memory(file: Path) -> None:
    """One feature of 100,000 on each of 50,000 lines would be 20 GB in a matrix; it is refused."""
    file.write_bytes(
        b"".join(b"0 qid:%d %d:1\n" % (i // 10, i % 100_000 + 1) for i in range(50_000))
    )
    tracemalloc.start()
    with pytest.raises(InputError, match="50,000 lines of 50,000 features need more than"):
        read_letor(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6


@pytest.mark.parametrize("compressed", [False, True])
def test_reading_takes_little_more_memory_than_the_values(file: Path, compressed: bool) -> None:
    row = b" ".join(b"%d:0.%06d" % (i, i * 7919) for i in range(1, 101))
    data = b"".join(b"1 qid:%d %b\n" % (i // 50, row) for i in range(30_000))
    file.write_bytes(gzip.compress(data, 1) if compressed else data)
    tracemalloc.start()
    features = read_letor(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert features.values.shape == (30_000, 100)
    assert peak < 2.5 * features.values.nbytes + 3 * files.CHUNK


# Queries in a file beside the data

UNGROUPED = b"# data\n2 1:0.5\n0 2:1 # docid = a\n1\n"


@pytest.mark.parametrize("ending", [".query", ".group", ".query.gz"])
@pytest.mark.parametrize("data", ["data.txt", "data.txt.gz"])
def test_sizes_of_queries_come_from_the_file_beside(tmp_path: Path, ending: str, data: str) -> None:
    content = UNGROUPED.replace(b" # docid = a", b"")
    (tmp_path / data).write_bytes(gzip.compress(content) if data.endswith("gz") else content)
    sizes = b"\xef\xbb\xbf2\r\n\n1\n"
    beside = tmp_path / f"data.txt{ending}"
    beside.write_bytes(gzip.compress(sizes) if ending.endswith("gz") else sizes)
    features = read_letor(tmp_path / data)
    assert features.queries.texts() == ["1", "2"]
    assert features.bounds.tolist() == [0, 2, 3]
    assert features.labels.tolist() == [2, 0, 1]
    assert features.values.tolist() == [[0.5, 0], [0, 1], [0, 0]]
    assert features.documents is None


def test_a_file_with_queries_needs_no_file_beside(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"\n0 qid:9 1:1\n")
    (tmp_path / "data.query").write_bytes(b"nonsense")
    assert read_letor(tmp_path / "data").queries.texts() == ["9"]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (b"2\nx\n", r"\.query:2: 'x', expected the number of documents of a query, from 1"),
        (b"0\n3\n", r"\.query:1: '0', expected"),
        (b"-1\n", r":1: '-1'"),
        (b"99999999999999999999999\n", r":1: '999"),
        (b"2\n2\n", "2 queries with 4 documents, but .*data has 3 lines of data"),
        (b"", "0 queries with 0 documents"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(tmp_path: Path, sizes: bytes, message: str) -> None:
    (tmp_path / "data").write_bytes(b"0 1:1\n1 1:2\n0 1:3\n")
    (tmp_path / "data.query").write_bytes(sizes)
    with pytest.raises(InputError, match=message):
        read_letor(tmp_path / "data")


def test_where_lines_are_counted_a_faulty_line_is_refused_also_leniently(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"0 1:1\n1 1:x\n0 1:3\n")
    (tmp_path / "data.query").write_bytes(b"3\n")
    with pytest.raises(InputError, match=r"data:2: the value in '1:x' is not a number"):
        read_letor(tmp_path / "data", lenient=True)


def test_without_queries_and_without_sizes_the_remedy_is_named(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"0 1:1\n")
    with pytest.raises(
        InputError, match=re.escape("data:1: '1:1' in the place of the query")
    ) as error:
        read_letor(tmp_path / "data")
    assert "or a file data.query with the number of documents of each query" in str(error.value)
    assert note_texts(read_letor(tmp_path / "data", lenient=True).dropped)


def test_the_sets_of_lightgbm_are_read(real_data: Callable[[str], Path]) -> None:
    train = read_letor(real_data("lightgbm-lambdarank/rank.train.gz"))
    test = read_letor(real_data("lightgbm-lambdarank/rank.test.gz"))
    assert (len(train.labels), len(train.queries)) == (3005, 201)
    assert (len(test.labels), len(test.queries)) == (768, 50)
    assert np.diff(train.bounds)[:4].tolist() == [1, 13, 5, 8]


# Against scikit-learn

LETOR_SETS = (
    "mq2008/S?.txt.gz",
    "ohsumed/Data/Fold?/*.gz",
    "ohsumed-letor3/*.gz",
    "mslr-5k/*.gz",
    "mslr-sample/*.gz",
    "clueweb09-letor/*.gz",
    "lightgbm-lambdarank/*.gz",
)


@pytest.mark.parametrize("pattern", LETOR_SETS)
def test_values_are_those_of_scikit_learn_to_the_last_bit(
    any_data: Callable[[str], Path], pattern: str
) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    folder = any_data(pattern.split("/")[0])
    paths = sorted(folder.parent.glob(pattern))
    assert paths
    for path in some(paths, 3):
        features = read_letor(path)
        matrix, labels, queries = datasets.load_svmlight_file(
            str(path), query_id=True, zero_based=False, n_features=features.values.shape[1]
        )
        order = np.arange(len(labels))
        if "lightgbm" not in pattern:  # rows of a query stand together with us
            _, first, number = np.unique(queries, return_index=True, return_inverse=True)
            order = np.argsort(np.argsort(np.argsort(first))[number], kind="stable")
        expected = matrix.toarray().astype(np.float32)[order]
        assert features.labels.tolist() == labels[order].tolist()
        assert np.array_equal(features.values.view(np.uint32), expected.view(np.uint32)), path
