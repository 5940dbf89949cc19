"""What a file is, is told by its content; a file that is none of the kinds says what it looks like."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import pickle
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankgauge as rg
from rankgauge.data.roles import ColumnNames
from rankgauge.io.files import Content
from rankgauge.io.kinds import header_separator, kind_of


def kind(text: bytes, **names: Any) -> str | None:
    found = kind_of(Content("x", 1 << 30, text), ColumnNames(**names))
    return None if found is None else found.form + found.separator


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"301 Q0 d,1 1 2.5 a,b;c\n", None),
        (b"301\tQ0\td1\t1\t2.5\ttag\n", None),
        (b"301\t0\td1\t1\n", None),
        (b"query_id\tQ0\tdoc_id\t1\t2.5\tscore\n", None),
        (b"qid\t0\tdocno\t1\n", None),
        (b"qid,a 0 docno,b 1\n", None),
        (b"", None),
        (b"q,d,0.5\n", None),
        (b"qid\n", None),
        (b"qid,docno,score\n", "csv,"),
        (b"\n\r\n  qid;docno;score", "csv;"),
        (b"text, with commas\tqid\tdocno\n", "csv\t"),
        (b'\xef\xbb\xbf"qid"|"docno"|"x"\r\n', "csv|"),
        (b"x," * 5000 + b"qid,docno\n1", "csv,"),
        (b"PAR1", "parquet"),
        (b'\xef\xbb\xbf {"q": 1}', "json"),
        (b'[{"q": 1}]', "json"),
        (b"{", "json"),
        (b"[1, 2]", None),
        (b"{q Q0 d 1 1 t\n", None),
    ],
)
def test_the_kind_is_told_by_the_content(text: bytes, expected: str | None) -> None:
    assert kind(text) == expected


def test_names_that_are_given_make_a_header() -> None:
    assert kind(b"who,what,how\n") is None
    assert kind(b"who,what,how\n", query="who") == "csv,"
    assert kind(b"who,what,how\n", score=("x", "how")) == "csv,"
    assert kind(b"who,what,how\n", score="x") is None
    assert kind(b"who 0 what 1\n", query="who") is None


@pytest.mark.parametrize("separator", ["\t", ",", ";", "|"])
def test_the_separator_is_the_one_that_parts_known_names(separator: str) -> None:
    assert header_separator(separator.join(["a b", "qid", "docno"]).encode()) == separator


def workbook() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return made.getvalue()


def saved(write: Any) -> bytes:
    made = io.BytesIO()
    write(made)
    return made.getvalue()


def archive() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        zipped.writestr("run.txt", "q Q0 d 1 1 t")
    return made.getvalue()


class Explosive:
    """Unpickling it fails the test."""

    def __reduce__(self) -> Any:
        return pytest.fail, ("a pickle was opened",)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (workbook(), "is an Excel workbook, expected a TREC file, CSV or TSV with a header, JSON"),
        (archive(), "is a ZIP archive, expected a TREC file"),
        (saved(lambda out: np.savez(out, a=np.ones(3))), "is a NumPy archive, expected"),
        (saved(lambda out: np.save(out, np.ones(3))), "is a NumPy array, expected"),
        (
            pickle.dumps(Explosive()),
            "is a Python pickle (never opened, because it can run code), expect",
        ),
        (b"%PDF-1.7\n", "is a PDF document, expected"),
        (b"<!DOCTYPE html>\n<p>", "is an HTML page, expected"),
        (b"<?xml version='1.0'?>\n", "is XML, expected"),
        (saved(pl.DataFrame({"a": [1]}).write_ipc), "is an Arrow or Feather file, expected"),
        (
            gzip.compress(b"q Q0 d 1 1 t", mtime=0),
            "is gzip data inside compressed data, expected one comp",
        ),
        (bz2.compress(b"q Q0 d 1 1 t"), "is bzip2 data inside compressed data, expected one comp"),
        (
            b"q1,d1,0.5\n",
            "looks like CSV without a header (q1, d1, 0.5), expected a first line that",
        ),
        (
            b"q1;d1;0.5\n",
            "looks like CSV with ';' without a header (q1, d1, 0.5), expected a first",
        ),
        (
            b"who,what,how\n1,2,3\n",
            "looks like CSV with the columns who, what, how, expected a column for the query and "
            "one for the document, such as query_id and doc_id; name them: --query-column NAME "
            '--document-column NAME, in Python columns={"query": NAME, "document": NAME} of read_run ',
        ),
        (
            b"query_id,url,score\n1,2,3\n",
            "expected a column for the document, such as doc_id; name it: --document-column NAME, in "
            'Python columns={"document": NAME} of read_run',
        ),
    ],
)
def test_other_files_say_what_they_look_like(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(content))
    for read in (rg.read_run, rg.read_qrels, rg.read_run_table, rg.read_qrels_table):
        with pytest.raises(rg.InputError) as caught:
            read(path)
        assert message in str(caught.value)


def test_a_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as database:
        database.execute("create table t (a)")
    with pytest.raises(rg.InputError, match="is a SQLite database, expected a TREC file"):
        rg.read_run(path)


def test_plain_text_of_other_columns_says_how_many_and_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"q1 d1 0.5\nq1 d2 0.4\n")
    message = "x:1: 3 columns, expected 6: `topic Q0 document rank score tag`; supported: a TREC"
    with pytest.raises(rg.InputError) as caught:
        rg.read_run(path)
    assert message in str(caught.value)
    path.write_bytes(b"q1\td1\t0.5\n")
    with pytest.raises(
        rg.InputError, match=r"3 columns, expected 6.*; the file looks like TSV witho"
    ):
        rg.read_run(path)


def test_the_same_collection_in_every_kind_of_file_scores_the_same(
    any_data: Any, tmp_path: Path
) -> None:
    run = rg.read_run(any_data("trec_eval/v9.0.8/results.test"))
    qrels = rg.read_qrels(any_data("trec_eval/v9.0.8/qrels.test"))
    measures = ["nDCG@10", "AP", "RR", "P@5", "Recall@100", "bpref"]
    expected = rg.evaluate(qrels, run, measures, precision="double")

    def frame(data: Any, value: str, values: Any) -> pl.DataFrame:
        queries = np.repeat(data.queries.texts(), np.diff(data.bounds))
        return pl.DataFrame(
            {"query-id": queries, "corpus-id": data.documents.texts(), value: values}
        )

    tables = {
        "run": frame(run, "score", run.scores),
        "qrels": frame(qrels, "score", qrels.grades),
    }
    for name, table in tables.items():
        table.write_parquet(tmp_path / f"{name}.parquet")
        table.write_csv(tmp_path / f"{name}.csv")
        table.write_csv(tmp_path / f"{name}.tsv", separator="\t")
        table.write_ndjson(tmp_path / f"{name}.ndjson")
        (tmp_path / f"{name}.array").write_text(table.write_json())
        nested: dict[str, dict[str, Any]] = {}
        for query, document, value in table.rows():
            nested.setdefault(query, {})[document] = value
        (tmp_path / f"{name}.json").write_text(json.dumps(nested, indent=1))
        key = "retrieved" if name == "run" else "relevant"
        lines = [json.dumps({"query": query, key: row}) for query, row in nested.items()]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines))
    for ending in ("parquet", "csv", "tsv", "ndjson", "array", "json", "jsonl"):
        scores = rg.evaluate(tmp_path / f"qrels.{ending}", tmp_path / f"run.{ending}", measures)
        assert np.asarray(scores).tobytes() == np.asarray(expected).tobytes(), ending
        assert scores.queries == expected.queries


def test_columns_have_the_names_of_a_dict(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query_id,doc_id,cosine\nq1,a,0.5\n")
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,stars\nq1,a,3\n")
    columns = {"score": "cosine", "grade": "stars"}
    assert rg.read_qrels(tmp_path / "qrels.csv", columns=columns).grades.tolist() == [3]
    assert rg.read_run(tmp_path / "run.csv", columns=columns).scores.tolist() == [0.5]
    assert rg.RunParts(tmp_path / "run.csv", columns=columns)().scores.tolist() == [0.5]
    text = f"news:{tmp_path / 'qrels.csv'},{tmp_path / 'run.csv'}"
    assert rg.forecast.Track.read(text, columns=columns).runs[0].scores.tolist() == [0.5]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"scores": "x"},
            "unknown role 'scores', expected query, document, score, grade or subtopic",
        ),
        ({"score": 1}, "score=1, expected the name of a column"),
        ("cosine", 'expected a dict of names by role: .* for example {"score": "similarity"}'),
    ],
)
def test_a_wrong_dict_of_columns_is_refused(columns: Any, message: str) -> None:
    for call in (rg.read_run, rg.read_qrels, rg.RunParts):
        with pytest.raises(rg.RankgaugeError, match=message):
            call("no such file", columns=columns)


def test_a_rank_column_is_renamed_as_no_option_names_it(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query_id,doc_id,rank,Rank\nq1,a,1,1\n")
    with pytest.raises(rg.InputError, match=r"could be rank and Rank, .*; rename the others"):
        rg.read_run(tmp_path / "run.csv")
