"""Tables in and out: whatever the frame, array or file, the run is the one that a dict gives."""

from __future__ import annotations

import csv
import doctest
import gzip
import io
import json
import math
import os
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, strategies as st

import rankgauge as rg
from command_line import one_process
from data_in_text import assert_same, run_of
from profiles import examples, some, thorough
from rankgauge import AP, nDCG
from rankgauge.data import columns, roles
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import DuplicateError
from rankgauge.io import json_files, parquet_files
from rankgauge.measures import SearchLength
from rankgauge.separate import launch

Rows = list[tuple[Any, Any, Any]]

KINDS = [
    "polars",
    "lazy",
    "arrow",
    "batch",
    "pandas",
    "pandas-objects",
    "duckdb",
    "arrays",
    "lists",
]
ID_TYPES = ["text", "bytes", "categories", "whole numbers"]
SCORE_TYPES = [pl.Float64, pl.Float32, pl.Int8, pl.UInt16, pl.Int64, pl.UInt64]
GRADE_TYPES = [pl.Int8, pl.Int16, pl.Int32, pl.Int64]

names = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=15)


def nested(rows: Rows) -> dict[str, dict[str, Any]]:
    """What the rows mean, for `from_dict`."""
    by_query: dict[str, dict[str, Any]] = {}
    for query, document, value in rows:
        by_query.setdefault(str(query), {})[str(document)] = value
    return by_query


@st.composite
def frames(draw: Any, value_types: Any, column: str) -> tuple[pl.DataFrame, Rows]:
    """A frame of random types in random pieces, and its rows."""
    types = [draw(st.sampled_from(ID_TYPES)) for _ in range(2)]
    value_type = draw(st.sampled_from(value_types))
    texts = names | st.sampled_from(["a", "b", "a longer name than a view"])
    numbers = st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)
    ids = [numbers if kind == "whole numbers" else texts for kind in types]
    if value_type.is_float():
        values = st.floats(allow_nan=False, width=64 if value_type == pl.Float64 else 32)
    else:
        low = -3 if value_type.is_signed_integer() else 0
        values = st.integers(low, 3)
    rows = draw(st.lists(st.tuples(*ids, values), max_size=12, unique_by=lambda row: row[:2]))
    if rows and column == "score" and draw(st.booleans()):  # ties
        rows = [(q, d, rows[0][2]) for q, d, _ in rows]
    schema = {
        "qid": _type(types[0]),
        "docno": _type(types[1]),
        column: value_type,
    }
    cut = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=3)))
    pieces = [rows[a:b] for a, b in zip([0, *cut], [*cut, len(rows)], strict=True)]
    made = [
        pl.DataFrame(
            [(_id(q, types[0]), _id(d, types[1]), value) for q, d, value in piece],
            schema=schema,
            orient="row",
        )
        for piece in pieces
    ]
    frame = pl.concat(made, rechunk=draw(st.booleans()))
    # A row before and after, cut off again, so that the columns are slices.
    padded = pl.concat([frame.head(1), frame, frame.head(1)])
    return padded.slice(min(1, frame.height), frame.height), rows


def _type(kind: str) -> Any:
    return {
        "text": pl.String,
        "bytes": pl.Binary,
        "categories": pl.Categorical,
        "whole numbers": pl.Int64,
    }[kind]


def _id(value: Any, kind: str) -> Any:
    return value.encode() if kind == "bytes" else value


def given_as(kind: str, frame: pl.DataFrame) -> Any:
    """The same table as another kind of object."""
    if kind == "lazy":
        return frame.lazy()
    if kind in ("arrow", "batch", "duckdb"):
        arrow = pytest.importorskip("pyarrow")
        made = frame.to_arrow()
        made = arrow.concat_tables([made[:1], made[1:1], made[1:3], made[3:]])
        if kind == "batch":
            return made.combine_chunks().to_batches()[0] if frame.height else made
        if kind == "duckdb":
            return pytest.importorskip("duckdb").sql("select * from made")
        return made
    if kind.startswith("pandas"):
        pandas = pytest.importorskip("pandas")
        data = {name: frame[name].to_list() for name in frame.columns}
        as_objects = {name: pandas.Series(values, dtype=object) for name, values in data.items()}
        if kind == "pandas-objects":
            return pandas.DataFrame(as_objects)
        pytest.importorskip("pyarrow")
        return frame.to_pandas()
    return frame


def read(kind: str, frame: pl.DataFrame, what: type[Run] | type[Judgments]) -> Any:
    if kind == "lists":
        return what.from_arrays(*(frame[name].to_list() for name in frame.columns))
    if kind == "arrays":
        arrays = []
        for name in frame.columns:
            column = frame[name]
            if column.dtype == pl.Categorical:
                column = column.cast(pl.String)
            text = {pl.String: "U", pl.Binary: "S"}.get(type(column.dtype))
            arrays.append(np.array(column.to_list(), text) if text else column.to_numpy())
        return what.from_arrays(*arrays)
    return what.from_frame(given_as(kind, frame))


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_from_a_table_is_the_run_from_a_dict(kind: str) -> None:
    @given(frames(SCORE_TYPES, "score"), st.data())
    @examples(40)
    def check(case: tuple[pl.DataFrame, Rows], data: Any) -> None:
        frame, rows = case
        assume(kind != "pandas" or frame.height)  # pandas makes of no values what it likes
        run, plain = read(kind, frame, Run), Run.from_dict(nested(rows))
        assert_same(run, plain)
        if not rows:
            return
        qrels = {
            query: data.draw(st.dictionaries(st.sampled_from(sorted(row)), st.integers(-1, 3)))
            for query, row in nested(rows).items()
        }
        measures = ["nDCG@10", "AP", "RBP", "bpref"]
        ties = data.draw(st.sampled_from(["docno", "input"]))
        one, other = (np.asarray(rg.evaluate(qrels, r, measures, ties=ties)) for r in (run, plain))
        assert one.tobytes() == other.tobytes()

    check()


@pytest.mark.parametrize("kind", KINDS)
def test_judgments_from_a_table_are_those_from_a_dict(kind: str) -> None:
    @given(frames(GRADE_TYPES, "relevance"))
    @examples(50)
    def check(case: tuple[pl.DataFrame, Rows]) -> None:
        frame, rows = case
        assume(kind != "pandas" or frame.height)
        assert_same(read(kind, frame, Judgments), Judgments.from_dict(nested(rows)))

    check()


SUBTOPICS = pl.DataFrame(
    {
        "topic": [2, 1, 2, 2, 1],
        "subtopic": ["b", "a", "a", "b", "a"],
        "docno": ["x", "x", "x", "y", "y"],
        "rel": [1, 0, 2, 1, 1],
    }
)


def test_judgments_for_subtopics() -> None:
    expected = Judgments.from_subtopics(
        {"2": {"b": {"x": 1, "y": 1}, "a": {"x": 2}}, "1": {"a": {"x": 0, "y": 1}}}
    )
    arrays = (SUBTOPICS[name].to_numpy() for name in ("topic", "docno", "rel", "subtopic"))
    for read_as in (
        Judgments.from_frame(SUBTOPICS, subtopic="subtopic"),
        Judgments.from_arrays(*arrays),
    ):
        run = {"1": {"y": 2.0, "x": 1.0}, "2": {"x": 2.0, "y": 1.0}}
        measures = ["alpha_nDCG@5", "ERR_IA@5", "strec@1"]
        by_query = [rg.evaluate(j, run, measures).per_query() for j in (read_as, expected)]
        assert by_query[0] == by_query[1]
    twice = pl.concat([SUBTOPICS, SUBTOPICS[2:3]])
    with pytest.raises(
        DuplicateError, match=r"row 5: document 'x' repeated for query '2' \(first at row 2\)"
    ):
        Judgments.from_frame(twice, subtopic="subtopic")


# Columns

PLAIN = {"qid": ["q", "q", "p"], "docno": ["a", "b", "a"], "score": [3.0, 2.0, 1.0]}


@pytest.mark.parametrize("query", ["query_id", "qid", "q_id", "query", "topic"])
@pytest.mark.parametrize("document", ["doc_id", "docno", "docid", "document", "doc"])
def test_usual_names_are_recognized(query: str, document: str) -> None:
    frame = pl.DataFrame({"score": [1.0], document: ["d"], "rank": [1], query: ["q"]})
    run = Run.from_frame(frame)
    assert (list(run.queries), list(run.documents)) == ([b"q"], [b"d"])
    for grade in ("relevance", "grade", "rel", "label"):
        judged = Judgments.from_frame(frame.with_columns(pl.lit(1).alias(grade)))
        assert judged.grades.tolist() == [1]


def test_beside_an_id_the_text_of_the_query_is_left_alone() -> None:
    frame = pl.DataFrame({"query": ["how?", "how?"], **{k: v[:2] for k, v in PLAIN.items()}})
    assert list(Run.from_frame(frame).queries) == [b"q"]
    assert list(Run.from_frame(frame, query="query").queries) == [b"how?"]


@pytest.mark.parametrize("kind", ["polars", "lazy", "arrow", "pandas", "duckdb"])
def test_an_absent_or_ambiguous_column_is_named_with_those_there_are(kind: str) -> None:
    frame = pl.DataFrame({**PLAIN, "doc_id": [1, 2, 3], "text": ["t", "t", "t"]})
    table = given_as(kind, frame)
    message = r"the document could be docno and doc_id, expected one such column; name it: "
    message += r'--document-column NAME, in Python columns={"document": NAME} of read_run and '
    message += r"read_qrels, document=NAME of from_frame \(columns: "
    with pytest.raises(rg.InputError, match=message + "qid, docno, score, doc_id, text"):
        Run.from_frame(table)
    assert list(Run.from_frame(table, document="docno").documents) == [b"a", b"b", b"a"]
    message = r"no column for the grade, expected relevance or grade .* \(columns: qid, docno.*"
    message += (
        r'name it: --grade-column NAME, in Python columns={"grade": NAME} of read_qrels, grade='
    )
    with pytest.raises(rg.InputError, match=message):
        Judgments.from_frame(given_as(kind, frame.drop("score")), document="docno")
    with pytest.raises(rg.InputError, match="no column for the score, expected 'nope'"):
        Run.from_frame(table, document="docno", score="nope")


def test_a_name_that_two_columns_have_is_ambiguous() -> None:
    arrow = pytest.importorskip("pyarrow")
    table = arrow.table([["q"], ["q"], ["d"], [1.0]], ["qid", "qid", "docno", "score"])
    with pytest.raises(rg.InputError, match="qid and qid"):
        Run.from_frame(table)
    with pytest.raises(rg.InputError, match="qid and qid"):
        Run.from_frame(table, query="qid")


# Faults

BAD_RUNS: list[tuple[dict[str, Any], str]] = [
    ({"qid": ["q", None, "p"]}, "row 1: no query, expected an id"),
    ({"docno": ["a", "b", None]}, "row 2: no document, expected an id"),
    ({"score": [None, 1.0, 1.0]}, "row 0: no score, expected a number"),
    ({"score": [None, None, None]}, "row 0: no score, expected a number"),
    ({"docno": ["a", "a", "a"]}, "row 1: document 'a' repeated for query 'q' (first at row 0)"),
    ({"qid": ["q", "p", "q"]}, "row 2: document 'a' repeated for query 'q' (first at row 0)"),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("change", "message"), BAD_RUNS)
def test_faults_of_a_run_are_located(kind: str, change: Any, message: str) -> None:
    frame = pl.DataFrame({**PLAIN, **change})
    if kind == "arrays":
        arrays = [np.array(frame[name].to_list(), object) for name in frame.columns]
        with pytest.raises(rg.InputError) as caught:
            Run.from_arrays(*arrays)
    else:
        with pytest.raises(rg.InputError) as caught:
            read(kind, frame, Run)
    assert str(caught.value).startswith(f"run: {message}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_nan_score_is_refused(kind: str) -> None:
    frame = pl.DataFrame({**PLAIN, "score": [1.0, math.nan, 2.0]})
    with pytest.raises(rg.InputError, match=r"^run: row 1: (the score is NaN|no score), expected"):
        read(kind, frame, Run)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("docno", [1.5, 2.5, 3.5], "expected text or"),
        ("docno", [True, False, True], "expected text or"),
        ("docno", [["a"], ["b"], ["c"]], "expected (text or|one dimension)"),
        ("score", [True, False, True], "expected (a )?number"),
        ("score", ["3", "2", "1"], "expected (a )?number"),
    ],
)
def test_columns_of_another_type_are_refused(
    kind: str, column: str, values: Any, message: str
) -> None:
    with pytest.raises(rg.InputError, match=message):
        read(kind, pl.DataFrame({**PLAIN, column: values}), Run)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("type", [pl.Float64, pl.Float32])
def test_grades_such_as_1_0_are_whole(kind: str, type: Any) -> None:
    frame = pl.DataFrame({**PLAIN, "label": pl.Series([1.0, -0.0, 2.0], dtype=type)}).drop("score")
    assert read(kind, frame, Judgments).grades.tolist() == [1, 0, 2]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("grades", "message"),
    [
        ([1.0, 0.5, 2.0], "row 1: grade 0.5, expected a whole number"),
        ([1.0, math.inf, 2.0], "row 1: grade inf, expected a whole number"),
        ([1.0, 0.0, math.nan], "row 2: no grade"),
        ([2.0**31, 0.0, 1.0], "row 0: grade 2147483648.0, expected a whole number"),
        ([1, 2**31, 0], "row 1: grade 2147483648, expected a whole number of at most 32 bits"),
        ([1, 0, -(2**31)], "row 2: grade -2147483648, expected a whole number"),
        ([True, False, True], "expected (a )?number"),
        ([1, None, 0], "row 1: no grade|whole number"),
    ],
)
def test_grades_are_whole_numbers_of_32_bits(kind: str, grades: Any, message: str) -> None:
    frame = pl.DataFrame({**PLAIN, "label": grades}).drop("score")
    if kind == "arrays" and None in grades:
        pytest.skip("polars gives NumPy floats")
    with pytest.raises(rg.InputError, match=message):
        read(kind, frame, Judgments)


def test_categories_of_numbers_are_ids_but_no_scores() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({**PLAIN, "docno": [3, 1, 2]}).astype({"docno": "category"})
    assert list(Run.from_frame(frame).documents) == [b"3", b"1", b"2"]
    pytest.importorskip("pyarrow")
    with pytest.raises(rg.InputError, match="holds categories of double-precision numbers"):
        Run.from_frame(frame.astype({"score": "category"}))


def test_an_empty_frame_is_an_empty_run() -> None:
    for frame in (pl.DataFrame({name: [] for name in PLAIN}), pl.DataFrame(PLAIN).head(0)):
        assert repr(Run.from_frame(frame)) == "Run run: 0 queries, 0 documents"


@pytest.mark.parametrize("thing", [5, None, [1, 2], {"q": {"d": 1.0}}, pl.Series([1, 2])])
def test_what_is_no_table_is_refused(thing: object) -> None:
    with pytest.raises(rg.InputError, match="expected a"):
        Run.from_frame(thing)


def test_a_stream_that_cannot_be_made_is_an_input_error() -> None:
    class Broken:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise OSError("gone\nTraceback (most recent call last)")

    with pytest.raises(rg.InputError, match="cannot be read as Arrow data \\(gone\\)"):
        Run.from_frame(Broken())


def test_a_lazy_frame_that_fails_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(rg.InputError, match="polars cannot compute the frame"):
        Run.from_frame(pl.scan_csv(tmp_path / "gone.csv"))


def test_pandas_without_pyarrow(monkeypatch: pytest.MonkeyPatch) -> None:
    pandas = pytest.importorskip("pandas")

    def none(self: object, requested_schema: object = None) -> object:
        raise ImportError("pyarrow")

    monkeypatch.setattr(pandas.DataFrame, "__arrow_c_stream__", none)
    frame = pandas.DataFrame(PLAIN)
    expected = Run.from_dict(nested(list(zip(*PLAIN.values(), strict=True))))
    for kind in (frame, frame.astype({"docno": "category"}), frame.astype({"docno": object})):
        assert_same(Run.from_frame(kind), expected)
    with pytest.raises(rg.InputError, match="row 1: no document"):
        Run.from_frame(pandas.DataFrame({**PLAIN, "docno": ["a", None, "b"]}))


# Memory


def assert_plain(run: Run) -> None:
    assert_same(run, Run.from_dict(EXPECTED))


@pytest.mark.parametrize("kind", ["polars", "arrow", "pandas", "arrays"])
def test_what_happens_to_a_table_later_does_not_reach_the_run(kind: str) -> None:
    """A frame over arrays may share their memory; the run must not."""
    queries, documents = np.array(PLAIN["qid"]), np.array(PLAIN["docno"])
    scores, numbers = np.array(PLAIN["score"]), np.array([5, 6, 7])
    run_columns = {"qid": queries, "docno": documents, "score": scores}
    if kind == "arrays":
        run = Run.from_arrays(*run_columns.values())
        judged = Judgments.from_arrays(numbers, documents, numbers)
    else:
        made = {"polars": "polars", "arrow": "pyarrow", "pandas": "pandas"}[kind]
        package = pytest.importorskip(made)
        make = package.table if kind == "arrow" else package.DataFrame
        if kind == "arrow":
            run_columns |= {"qid": PLAIN["qid"], "docno": PLAIN["docno"]}
        run = Run.from_frame(make(run_columns))
        judged = Judgments.from_frame(make({"qid": numbers, "docno": numbers, "rel": numbers}))
    assert all(array.flags.writeable for array in (queries, documents, scores, numbers))
    queries[:], documents[:], scores[:], numbers[:] = "x", "y", math.nan, 1
    assert_plain(run)
    assert list(judged.queries) == [b"5", b"6", b"7"]
    assert judged.grades.tolist() == [5, 6, 7]


def test_a_cell_of_pandas_changed_later_does_not_reach_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pandas = pytest.importorskip("pandas")

    def none(self: object, requested_schema: object = None) -> object:
        raise ImportError("pyarrow")

    for way in ("as it is", "without pyarrow"):
        if way == "without pyarrow":
            monkeypatch.setattr(pandas.DataFrame, "__arrow_c_stream__", none)
        frame = pandas.DataFrame(PLAIN)
        run = Run.from_frame(frame)
        frame.loc[0, "score"], frame.loc[0, "docno"] = -1.0, "z"
        assert_plain(run)


def test_text_in_a_buffer_that_changes_later_does_not_reach_the_run() -> None:
    arrow = pytest.importorskip("pyarrow")
    data, offsets = np.frombuffer(b"aba", np.uint8).copy(), np.arange(4, dtype=np.int32)
    buffers = [None, arrow.py_buffer(offsets), arrow.py_buffer(data)]
    documents = arrow.Array.from_buffers(arrow.string(), 3, buffers)
    run = Run.from_frame(arrow.table({**PLAIN, "docno": documents}))
    data[:], offsets[:] = 0, 0
    assert_plain(run)


def test_the_base_of_a_view_changed_later_does_not_reach_the_run() -> None:
    base = np.array([3.0, 0.0, 2.0, 0.0, 1.0, 0.0])
    for view in (base[::2], base[::2].copy()[:]):
        run = Run.from_arrays(PLAIN["qid"], PLAIN["docno"], view)
        view[:] = math.nan
        assert_plain(run)
        assert not run.scores.flags.writeable
        base[::2] = [3.0, 2.0, 1.0]


# Arrays


def test_objects_may_be_text_bytes_and_whole_numbers() -> None:
    documents = np.array(["é", b"\xff", np.int32(7), 10**30], dtype=object)
    run = Run.from_arrays([1] * 4, documents, range(4))
    assert list(run.documents) == ["é".encode(), b"\xff", b"7", b"1" + b"0" * 30]


def test_arrays_of_any_layout() -> None:
    expected = ["ab", "é", ""]
    wide = np.array(expected)
    for documents in (
        wide,
        wide.astype(wide.dtype.newbyteorder()),
        np.repeat(wide, 2)[::2],
        np.array(expected, dtype=object),
        wide.astype(np.dtypes.StringDType()),
    ):
        assert Run.from_arrays(["q"] * 3, documents, np.ones(3)).documents.texts() == expected
    assert len(Run.from_arrays(np.zeros(3, "S0"), wide, np.ones(3)).queries) == 1


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(rg.InputError, match="the columns have 2, 3, 2 values"):
        Run.from_arrays(["q"] * 2, ["a", "b", "c"], [1, 2])
    with pytest.raises(rg.InputError, match="2 dimensions, expected one"):
        Run.from_arrays(np.array([["q"]]), ["a"], [1])
    with pytest.raises(rg.InputError, match="row 1: no score"):
        Run.from_arrays(["q"] * 2, ["a", "b"], np.ma.array([1.0, 2.0], mask=[False, True]))
    with pytest.raises(rg.InputError, match="row 0: the score is beyond double precision"):
        Run.from_arrays(["q"], ["a"], [10**400])
    with pytest.raises(rg.InputError, match="a str for the query, expected an array or a list"):
        Run.from_arrays("q", "a", 1.0)
    for scores in (1.0, {0: 1.0}, b"1"):
        with pytest.raises(rg.InputError, match=r"for the score, expected an array or a list"):
            Run.from_arrays(["q"], ["a"], scores)
    for documents in (np.array(["\ud800"]), ["\ud800"]):
        with pytest.raises(
            rg.InputError, match=r"row 0: the document .* cannot be written as UTF-8"
        ):
            Run.from_arrays(["q"], documents, [1])


# Files


def jsonl(records: list[Any]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


RECORDS = [dict(zip(PLAIN, row, strict=True)) for row in zip(*PLAIN.values(), strict=True)]
EXPECTED = nested([tuple(record.values()) for record in RECORDS])  # type: ignore[misc]


def test_a_run_in_a_parquet_file(tmp_path: Path) -> None:
    path = tmp_path / "bm25.parquet"
    pl.DataFrame({**PLAIN, "text": ["long"] * 3}).write_parquet(path)
    run = rg.read_run_table(path)
    assert_same(run, Run.from_dict(EXPECTED))
    assert (run.name, run.source) == ("bm25", str(path))
    with (
        one_process(),
        pytest.raises(
            rg.InputError, match=r"bm25.parquet: no column for the grade, expected 'rel'"
        ),
    ):
        rg.read_qrels_table(path, grade="rel")
    with one_process(), pytest.raises(rg.InputError, match="holds more than 100 bytes"):
        rg.read_run_table(path, size_limit=100)


def test_judgments_in_files(tmp_path: Path) -> None:
    expected = Judgments.from_dict({"q": {"a": 3, "b": 0}})
    frame = pl.DataFrame({"query_id": ["q", "q"], "doc_id": ["a", "b"], "relevance": [3, 0]})
    frame.write_parquet(tmp_path / "qrels.parquet")
    frame.write_ndjson(tmp_path / "qrels.jsonl")
    for path in (tmp_path / "qrels.parquet", tmp_path / "qrels.jsonl"):
        assert_same(rg.read_qrels_table(path), expected)
    SUBTOPICS.write_ndjson(tmp_path / "diversity.jsonl")
    judged = rg.read_qrels_table(tmp_path / "diversity.jsonl", subtopic="subtopic")
    assert repr(judged) == "Judgments: 2 queries, 3 subtopics, 4 judgments"


def test_more_rows_than_the_limit_could_hold_are_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.parquet"
    count = 200_000
    pl.DataFrame(
        {"qid": ["q"] * count, "docno": ["d"] * count, "score": [1.0] * count}
    ).write_parquet(path)
    assert path.stat().st_size < 100_000
    with pytest.raises(rg.InputError, match="contains 200,000 rows, more than 1,000,000 bytes"):
        rg.read_run_table(path, size_limit=1_000_000)


@pytest.mark.parametrize("kind", [pl.String, pl.Binary, pl.Categorical])
def test_a_word_that_many_rows_share_counts_in_each(tmp_path: Path, kind: Any) -> None:
    path = tmp_path / "bomb.parquet"
    word = pl.Series(["x" * 10_000]).cast(kind)
    frame = pl.DataFrame({"qid": word}).join(
        pl.DataFrame({"docno": range(400), "score": [1.0] * 400}), how="cross"
    )
    frame.write_parquet(path)
    assert path.stat().st_size < 100_000
    with nullcontext() if thorough() else one_process():
        with pytest.raises(
            rg.InputError, match="contains 400 rows, more than 100,000 bytes, expected"
        ):
            rg.read_run_table(path, size_limit=100_000)
        assert len(rg.read_run_table(path, size_limit=4_100_000).scores) == 400


def test_lists_in_a_parquet_file_are_refused(tmp_path: Path) -> None:
    pl.DataFrame({**PLAIN, "docno": [["a"], ["b"], ["c"]]}).write_parquet(tmp_path / "x.parquet")
    with (
        one_process(),
        pytest.raises(rg.InputError, match="'docno' for the document holds nested values, expect"),
    ):
        rg.read_run_table(tmp_path / "x.parquet")


def test_a_decoder_that_takes_too_much_memory_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("resource")
    (tmp_path / "x.parquet").write_bytes(parquet_bytes())
    greedy = "from rankgauge.separate import inside; inside._is_separate = True; "
    greedy += "inside.limit_memory(1 << 30); bytes(1 << 40)"
    monkeypatch.setattr(launch, "PROGRAM", greedy)
    with pytest.raises(
        rg.InputError, match="needs more memory than the size limit of 1,000,000 bytes"
    ):
        rg.read_run_table(tmp_path / "x.parquet", size_limit=10**6)


@pytest.mark.parametrize("executable", [None, ""])
def test_without_a_python_to_start_this_one_decodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executable: Any
) -> None:
    (tmp_path / "x.parquet").write_bytes(parquet_bytes())
    monkeypatch.setattr(sys, "executable", executable)
    assert_plain(rg.read_run(tmp_path / "x.parquet"))


def test_a_frozen_program_does_not_start_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.parquet").write_bytes(parquet_bytes())
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(launch, "PROGRAM", "raise SystemExit(9)")
    assert_plain(rg.read_run(tmp_path / "x.parquet"))


@pytest.mark.parametrize(
    "program",
    ["import no_such_package", "raise KeyError('x')", "raise SystemExit(9)", "print('no table')"],
)
def test_a_decoder_that_fails_does_not_blame_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    (tmp_path / "x.parquet").write_bytes(parquet_bytes())
    monkeypatch.setattr(launch, "PROGRAM", program)
    with pytest.raises(
        rg.InputError,
        match=r"x.parquet: the process that decodes Parquet could not start \(.*good\)",
    ):
        rg.read_run(tmp_path / "x.parquet")


def test_an_interpreter_that_does_not_start_does_not_blame_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.parquet").write_bytes(parquet_bytes())
    for executable in (tmp_path / "gone", tmp_path):
        monkeypatch.setattr(sys, "executable", str(executable))
        with pytest.raises(
            rg.InputError,
            match=r"x.parquet: the process that decodes Parquet could not start \(.*good\)",
        ):
            rg.read_run(tmp_path / "x.parquet")


def test_the_decoder_finds_packages_where_this_process_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interpreter that knows of no package by itself."""
    path = tmp_path / "x.parquet"
    path.write_bytes(parquet_bytes())
    start = subprocess.Popen

    def bare(command: list[str], **options: Any) -> Any:
        return start([command[0], "-S", "-E", *command[1:]], **options)

    monkeypatch.setattr(subprocess, "Popen", bare)
    assert_plain(rg.read_run(path))


WANTED = roles.run_columns()


def parquet_bytes() -> bytes:
    content = io.BytesIO()
    pl.DataFrame(PLAIN).write_parquet(content)
    return content.getvalue()


def test_a_damaged_parquet_footer_is_an_input_error_or_a_frame() -> None:
    """The footer damaged at every place, and the file cut short."""
    raw = parquet_bytes()
    footer = int.from_bytes(raw[-8:-4], "little")
    damaged = [raw[:size] for size in range(4, len(raw), 40)]
    for place in range(len(raw) - 8 - footer, len(raw)):
        damaged.append(raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :])
    accounted = 0
    for case in damaged:
        try:
            frame = parquet_files.parquet_frame(case, WANTED, "x", 10**6)
        except rg.InputError as error:
            accounted += str(error).startswith("x: ")
        else:
            accounted += isinstance(frame, pl.DataFrame)
    assert accounted == len(damaged)


@pytest.mark.parametrize("place", some([8, 21, 30, 77, 150, 220], 3))
def test_a_damaged_parquet_page_is_an_input_error_or_a_run(tmp_path: Path, place: int) -> None:
    """Polars ends its process over some of these; ours goes on."""
    raw = bytearray(parquet_bytes())
    raw[place] ^= 0xFF
    (tmp_path / "x.parquet").write_bytes(raw)
    message = ""
    try:
        rg.read_run(tmp_path / "x.parquet")
    except rg.InputError as error:
        message = str(error)
    assert message == "" or "x.parquet: " in message


def test_a_decoder_that_dies_is_an_input_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.parquet").write_bytes(parquet_bytes())
    monkeypatch.setattr(launch, "PROGRAM", "import os; os.abort()")
    with pytest.raises(
        rg.InputError, match=r"x.parquet: damaged Parquet data \(its decoder crashed"
    ):
        rg.read_run(tmp_path / "x.parquet")


def test_frames_are_evaluated_as_they_are() -> None:
    qrels = pl.DataFrame({"qid": ["q", "q"], "docno": ["a", "b"], "rel": [0, 1]})
    frame = pl.DataFrame(PLAIN)
    expected = rg.evaluate({"q": {"a": 0, "b": 1}}, rg.Run.from_dict(EXPECTED), "RR")
    for run in (frame, frame.lazy(), frame.to_pandas(), frame.to_arrow()):
        for runs in (run, [run], {"run1": run}):
            scores = rg.evaluate(qrels, runs, "RR")
            assert scores.values.tolist() == expected.values.tolist()
            assert scores.policies == expected.policies


def test_runs_and_judgments_in_tables_are_evaluated_like_any_other(tmp_path: Path) -> None:
    qrels = {"qid": ["q", "q"], "docno": ["a", "b"], "rel": [0, 1]}
    pl.DataFrame(qrels).write_parquet(tmp_path / "qrels.parquet")
    (tmp_path / "runs").mkdir()
    pl.DataFrame(PLAIN).write_parquet(tmp_path / "runs" / "a.parquet")
    pl.DataFrame(PLAIN).write_ndjson(tmp_path / "runs" / "b.jsonl")
    with one_process():
        scores = rg.evaluate(tmp_path / "qrels.parquet", tmp_path / "runs", "RR")
    expected = rg.evaluate(
        {"q": {"a": 0, "b": 1}}, {name: rg.Run.from_dict(EXPECTED) for name in "ab"}, "RR"
    )
    assert scores.mean() == expected.mean()
    assert scores.policies == expected.policies


@pytest.mark.parametrize("name", ["bm25.jsonl", "bm25.jsonl.gz", "bm25.ndjson", "bm25"])
def test_a_run_in_json_lines(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    raw = jsonl(RECORDS)
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    run = rg.read_run_table(path)
    assert_same(run, Run.from_dict(EXPECTED))
    assert (run.name, run.source) == ("bm25", str(path))
    renamed = rg.read_run_table(path, name="other", query="docno", document="qid")
    assert renamed.name == "other"
    assert list(renamed.queries) == [b"a", b"b"]


def slow(text: bytes, monkeypatch: pytest.MonkeyPatch) -> Run:
    with monkeypatch.context() as patch:
        patch.setattr(json_files, "_polars_json", lambda *_: None)
        return run_of(text)


json_ids = st.one_of(
    st.text(max_size=20),
    st.integers(-(2**70), 2**70),
    st.sampled_from(["true", "1.5", "[", "{}", "\udcff", "-0", 0, True, 1.5, None, [1]]),
)
json_scores = st.one_of(
    st.floats(), st.integers(-(2**70), 2**70), st.sampled_from([True, None, "3"])
)


@given(
    st.lists(
        st.fixed_dictionaries({"qid": json_ids, "docno": json_ids, "score": json_scores}),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.sampled_from([b"", b"\n", b" \r\n"]), min_size=6, max_size=6),
)
def test_the_fast_way_through_json_lines_says_what_the_slow_one_says(
    records: list[dict[str, Any]], blanks: list[bytes]
) -> None:
    text = b"".join(blank + jsonl([record]) for record, blank in zip(records, blanks, strict=False))
    with pytest.MonkeyPatch.context() as patch:
        try:
            expected = slow(text, patch)
        except rg.InputError as error:
            with pytest.raises(type(error)) as caught:
                run_of(text)
            assert str(caught.value) == str(error)  # noqa: PT017
        else:
            assert_same(run_of(text), expected)


tokens = st.sampled_from(
    [
        *(b'"a"', b'"b\\n"', b'"1e5"', b'"docno"', b'"say \\"docno\\": x"'),
        *(b"1", b"-0", b"1e5", b"1E2", b"1.0", b"1e300", b"1e400", b"100000000000000000000000"),
        *(b"null", b"[1]", b'{"docno":"a"}'),
    ]
)
keys = st.sampled_from(
    [b'"qid"', b'"docno"', b'"score"', b'"\\u0064ocno"', b'"text"', b'"doc\\u006eo"']
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([b'"q"', b"7"]),
            tokens,
            st.sampled_from([b"1", b"2.5", b"1e400"]),
            st.lists(st.tuples(keys, tokens), max_size=1),
        ),
        min_size=1,
        max_size=3,
    ),
    st.sampled_from([b":", b": ", b"\t: "]),
)
def test_the_two_ways_read_the_same_of_any_json(lines: Any, colon: bytes) -> None:
    text = b""
    for query, document, score, more in lines:
        pairs = [(b'"qid"', query), (b'"docno"', document), (b'"score"', score), *more]
        text += b"{" + b",".join(key + colon + value for key, value in pairs) + b"}\n"
    with pytest.MonkeyPatch.context() as patch:
        outcomes = []
        for read_as in (lambda: slow(text, patch), lambda: run_of(text)):
            try:
                run = read_as()
                outcomes.append((list(run.queries), list(run.documents), run.scores.tolist()))
            except rg.InputError as error:
                outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"qid":"q","docno":"a","score":1,"docno":"b"}', "x:2: 'docno' more than once, expected"),
        (b'{"qid":"q","docno":"a","score":1,"\\u0064ocno":"b"}', "x:2: 'docno' more than once"),
        (b'{"qid":"q","docno":1e5,"score":1}', "x:2: the document is 100000.0, expected text"),
        (b'{"qid":"q","docno":1e300,"score":1}', "x:2: the document is 1e+300, expected text"),
    ],
)
@pytest.mark.parametrize("first", ['"d"', "7"])
def test_unusual_json_is_refused_whatever_the_way(line: bytes, message: str, first: str) -> None:
    text = b'{"qid":"q","docno":%b,"score":2}\n%b\n' % (first.encode(), line)
    with pytest.raises(rg.InputError) as caught:
        run_of(text)
    assert str(caught.value).startswith(message)


def test_a_grade_is_a_whole_number_in_json_too(tmp_path: Path) -> None:
    line = b'{"qid":"q","docno":"%b","rel":%b}\n'
    for grade in (b"1.5", b"1e-1", b"1e400", b'"1"'):
        (tmp_path / "x.jsonl").write_bytes(line % (b"a", b"1") + line % (b"b", grade))
        with pytest.raises(
            rg.InputError, match=r"x.jsonl:2: .*expected a (whole |smaller )?number"
        ):
            rg.read_qrels_table(tmp_path / "x.jsonl")
    (tmp_path / "x.jsonl").write_bytes(line % (b"a", b"1") + line % (b"b", b"2.0"))
    assert rg.read_qrels_table(tmp_path / "x.jsonl").grades.tolist() == [1, 2]


def test_keys_that_nobody_asked_for_may_repeat() -> None:
    text = b'{"qid":"q","docno":"a","score":1,"t":1,"t":2}\n'
    assert_same(run_of(text), Run.from_dict({"q": {"a": 1.0}}))


@pytest.mark.skipif(not json_files.polars_is_strict(), reason="an old polars")
def test_the_fast_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "_object_ids", None)
    assert_same(run_of(jsonl(RECORDS)), Run.from_dict(EXPECTED))
    by_number = [{**record, "qid": 7, "extra": {"x": [1]}} for record in RECORDS[:2]]
    assert_same(run_of(b"\n" + jsonl(by_number)), Run.from_dict({"7": EXPECTED["q"]}))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "x: no rows, expected some"),
        (b"\n \n", "x: no rows, expected some"),
        (b"q Q0 d 1 1.0 tag\n", "x:1: no table, expected a TREC file, CSV"),
        (b"\xff\xfe{\0", "x:1: UTF-16 text"),
        (b"\n{", "x:2: not JSON"),
        (jsonl(RECORDS) + b"{bad\n", "x:4: not JSON"),
        (jsonl(RECORDS) + b"\n[1]\n", "x:5: a JSON list, expected an object"),
        (jsonl(RECORDS) + b'{"qid": "\xff"}\n', "x:4: not JSON"),
        (jsonl(RECORDS) + b"[" * 100_000, "x:4: not JSON"),
        (jsonl(RECORDS) + b'{"qid": "q", "score": 1}\n', "x:4: no 'docno', expected one as in"),
        (jsonl([{"qid": "q", "docno": "d"}]), "x: no column for the score"),
        (jsonl([*RECORDS, {**RECORDS[0], "score": None}]), "x:4: no score, expected a number"),
        (jsonl([*RECORDS, {**RECORDS[0], "score": "3"}]), "x:4: the score is '3', expected a nu"),
        (jsonl([{**RECORDS[0], "score": math.nan}]), "x:1: no score, expected a number"),
        (jsonl([*RECORDS, {**RECORDS[0], "docno": 1.5}]), "x:4: the document is 1.5, expected te"),
        (
            b"\n" + jsonl([*RECORDS, RECORDS[1]]),
            "x:5: document 'b' repeated for query 'q' (first at line 3), expected each document once",
        ),
        (jsonl([{**RECORDS[0], "doc_id": 1}]), "x: the document could be docno and doc_id"),
    ],
)
def test_faults_in_json_lines_are_located(text: bytes, message: str) -> None:
    with pytest.raises(rg.InputError) as caught:
        run_of(text)
    assert str(caught.value).startswith(message)


def test_a_mark_at_the_start_of_json_lines_is_passed_over() -> None:
    assert_same(run_of(b"\xef\xbb\xbf" + jsonl(RECORDS)), Run.from_dict(EXPECTED))


def test_real_runs_survive_the_way_through_tables(any_data: Any, tmp_path: Path) -> None:
    run = rg.read_run(any_data("trec_eval/v9.0.8/results.test"))
    frame = pl.DataFrame(
        {
            "qid": np.repeat(run.queries.texts(), np.diff(run.bounds)),
            "docno": run.documents.texts(),
            "score": run.scores,
        }
    )
    frame.write_parquet(tmp_path / "run.parquet")
    frame.write_ndjson(tmp_path / "run.jsonl")
    for name in ("run.parquet", "run.jsonl"):
        with one_process():
            assert_same(rg.read_run_table(tmp_path / name), run)


# Scores out

QRELS = {"q1": {"a": 1, "b": 0}, "q,2\n": {"c": 2}, "é": {"e": 0}}
RUNS = {
    "one": {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q,2\n": {"c": 1.0}, "é": {"e": 1.0}},
    "two": {"q,2\n": {"x": 1.0}},
}


@pytest.fixture(params=["zero", "skip"])
def scores(request: Any) -> rg.Scores:
    return rg.evaluate(QRELS, RUNS, [nDCG @ 10, AP, SearchLength], missing=request.param)


def long_form(scores: rg.Scores) -> list[tuple[Any, ...]]:
    return [
        (run, query, str(measure), value, bool(scores.present[r, q]))
        for r, (run, by_query) in enumerate(scores.per_query().items())
        for q, query in enumerate(scores.queries)
        if query in by_query
        for measure, value in by_query[query].items()
    ]


def same_rows(rows: Any, expected: list[tuple[Any, ...]]) -> bool:
    """Equal, a NaN being equal to itself, and every value of the same type and bits."""
    return [tuple(map(repr, row)) for row in rows] == [tuple(map(repr, row)) for row in expected]


def test_scores_become_a_polars_frame(scores: rg.Scores) -> None:
    frame = scores.to_polars()
    assert frame.columns == ["run", "query", "measure", "value", "present"]
    assert frame.dtypes == [pl.String, pl.String, pl.String, pl.Float64, pl.Boolean]
    assert same_rows(frame.rows(), long_form(scores))
    assert frame.height == (18 if scores.policies.missing == "zero" else 12)
    assert frame["value"].is_nan().any()


def test_scores_become_pandas_and_arrow(scores: rg.Scores) -> None:
    pandas = pytest.importorskip("pandas")
    frame = scores.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert same_rows(zip(*(frame[c].tolist() for c in frame), strict=True), long_form(scores))
    arrow = pytest.importorskip("pyarrow")
    for table in (scores.to_arrow(), arrow.table(scores)):
        by_name = table.to_pydict()
        assert list(by_name) == ["run", "query", "measure", "value", "present"]
        assert same_rows(zip(*by_name.values(), strict=True), long_form(scores))
    assert same_rows(pl.DataFrame(scores).rows(), long_form(scores))


def test_scores_without_runs_or_queries_are_empty_frames(scores: rg.Scores) -> None:
    assert scores.select([]).to_polars().schema == scores.to_polars().schema
    assert scores.select([]).to_polars().height == 0


@pytest.mark.parametrize("name", ["scores.csv", "scores.csv.gz"])
def test_scores_in_a_csv_file_keep_every_digit(
    scores: rg.Scores, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    scores.write_csv(path)
    raw = path.read_bytes()
    text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode()
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    assert header == ["run", "query", "measure", "value", "present"]
    read_back = [(*row[:3], float(row[3]), row[4] == "true") for row in rows]
    assert same_rows(read_back, long_form(scores))


@given(st.lists(st.floats(), min_size=1, max_size=5))
def test_any_value_survives_csv_and_parquet(values: list[float]) -> None:
    import tempfile
    from dataclasses import replace

    plain = rg.evaluate({"q": {"d": 1}}, {"q": {"d": 1.0}}, [AP])
    count = len(values)
    scores = replace(
        plain,
        queries=tuple(map(str, range(count))),
        values=np.array(values).reshape(1, count, 1),
        present=np.ones((1, count), dtype=np.bool_),
    )
    with tempfile.TemporaryDirectory() as folder:
        scores.write_csv(Path(folder, "scores.csv"))
        scores.write_parquet(Path(folder, "scores.parquet"))
        with open(Path(folder, "scores.csv"), newline="") as stream:
            read_back = [float(row["value"]) for row in csv.DictReader(stream)]
        table = pl.read_parquet(Path(folder, "scores.parquet"))
    assert list(map(repr, read_back)) == list(map(repr, values))
    assert list(map(repr, table["value"].to_list())) == list(map(repr, values))


def test_scores_in_a_parquet_file(scores: rg.Scores, tmp_path: Path) -> None:
    scores.write_parquet(tmp_path / "scores.parquet")
    assert same_rows(pl.read_parquet(tmp_path / "scores.parquet").rows(), long_form(scores))


@pytest.mark.parametrize("write", ["write_csv", "write_parquet"])
def test_what_cannot_be_written_is_an_input_error(
    scores: rg.Scores, tmp_path: Path, write: str
) -> None:
    with pytest.raises(rg.InputError, match="cannot be written"):
        getattr(scores, write)(tmp_path / "no folder" / "scores")
    if os.path.exists("/dev/full"):
        with pytest.raises(rg.InputError, match="cannot be written: No space left"):
            getattr(scores, write)("/dev/full")


def test_names_that_are_no_text_are_refused_by_frames() -> None:
    scores = rg.evaluate({"\udcff": {"d": 1}}, {"\udcff": {"d": 1.0}}, [AP])
    with pytest.raises(rg.InputError, match="is not UTF-8"):
        scores.to_polars()


def test_a_package_that_is_not_there_is_named(
    scores: rg.Scores, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pandas", "pyarrow"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(rg.RankgaugeError, match="pip install pandas"):
        scores.to_pandas()
    with pytest.raises(rg.RankgaugeError, match="pip install pyarrow"):
        scores.to_arrow()
    assert len(scores.to_polars())


def test_whole_numbers_may_be_written_as_floats() -> None:
    for grades in ([2.0, 0.0, -1.0], np.array([2, 0, -1], np.float32)):
        frame = pl.DataFrame({**PLAIN, "label": grades}).drop("score")
        assert Judgments.from_frame(frame).grades.tolist() == [2, 0, -1]
        assert read("pandas-objects", frame, Judgments).grades.tolist() == [2, 0, -1]


def test_the_page_of_inputs_shows_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = Path(__file__).resolve().parents[2] / "docs" / "INPUTS.md"
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(page), module_relative=False)
    assert result.attempted > 15
    assert result.failed == 0


@pytest.mark.parametrize("column", [0, 1, 2])
def test_a_number_of_very_many_digits_is_refused(column: int) -> None:
    rows: list[Any] = [[1], ["a"], [1]]
    rows[column] = [10**5000]
    with pytest.raises(
        rg.InputError, match=r"row 0: (the (query|document) is too long|grade a very)"
    ):
        Judgments.from_arrays(*rows)
