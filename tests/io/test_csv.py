"""CSV files: whatever the writer, the separator and the quotes, the run is the one that a dict gives."""

from __future__ import annotations

import csv
import gzip
import io
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from data_in_text import assert_same, qrels_of, run_of
from profiles import examples
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import DuplicateError
from rankgauge.io import csv_files

EXPECTED = Run.from_dict({"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d1": -3.0}})


def nested(rows: Any) -> dict[str, dict[str, float]]:
    """What rows of a query, a document and a score mean."""
    by_query: dict[str, dict[str, float]] = {}
    for query, document, score in rows:
        by_query.setdefault(query, {})[document] = float(score)
    return by_query


def table(separator: str = ",", end: str = "\n", header: str = "query_id doc_id score") -> bytes:
    rows = [header.split(), ["q1", "d1", "2.5"], ["q1", "d2", "1"], ["q2", "d1", "-3e0"]]
    return "".join(separator.join(row) + end for row in rows).encode()


@pytest.mark.parametrize("separator", [",", "\t", ";", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n\n", " \n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_run_in_a_csv_file(separator: str, end: str, mark: bytes, tmp_path: Path) -> None:
    path = tmp_path / "bm25.csv.gz"
    path.write_bytes(gzip.compress(mark + table(separator, end)))
    for read in (rg.read_run, rg.read_run_table):
        run = read(path)
        assert_same(run, EXPECTED)
        assert (run.name, run.source) == ("bm25", str(path))
    path.write_bytes(mark + table(separator, end).rstrip())
    assert_same(rg.read_run(path), EXPECTED)


@pytest.mark.parametrize(
    "header",
    [
        *("query-id corpus-id score", "Query_ID DocNo SCORE", "user_id item_id rating"),
        *("userId movieId prediction", "question_id chunk_id similarity", "qid passage_id Score"),
        *('"query_id" "doc_id" "score"', "query document score", "user item score"),
    ],
)
def test_columns_are_known_by_the_names_that_people_give_them(header: str) -> None:
    assert_same(run_of(table(header=header)), EXPECTED)


def test_blanks_and_hyphens_in_names_do_not_count() -> None:
    text = table().replace(b"query_id,doc_id", b"Query ID, Doc-Id ")
    assert_same(run_of(text), EXPECTED)


def test_beir_calls_the_grade_score() -> None:
    text = b"query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t0\n"
    assert_same(qrels_of(text), Judgments.from_dict({"1": {"d1": 2, "d2": 0}}))


def test_a_better_name_for_the_grade_goes_before_score_and_rating() -> None:
    text = b"qid,docno,score,rating,rel\nq,a,0.5,9,1\n"
    assert qrels_of(text).grades.tolist() == [1]
    with pytest.raises(rg.InputError, match="the grade could be score and rating, expected one"):
        qrels_of(text.replace(b"rel", b"x"))
    assert qrels_of(text, grade="rating").grades.tolist() == [9]


def test_a_rank_in_place_of_a_score_is_the_order() -> None:
    text = b"qid,docno,Rank\nq,b,2\nq,a,1\np,c,10\n"
    assert_same(run_of(text), Run.from_dict({"q": {"b": -2.0, "a": -1.0}, "p": {"c": -10.0}}))
    frame = pl.DataFrame({"qid": ["q", "q"], "docno": ["b", "a"], "position": [2, 1]})
    assert_same(Run.from_frame(frame), Run.from_dict({"q": {"b": -2.0, "a": -1.0}}))
    assert_same(Run.from_frame(frame.to_pandas()), Run.from_frame(frame))
    with pytest.raises(rg.InputError, match=r"x:2: the rank is 'first', expected a number"):
        run_of(b"qid,docno,rank\nq,b,first\n")


def test_names_that_are_given_go_before_the_usual_ones() -> None:
    text = b"who,what,query_id,doc_id,score\nw,x,q,d,1\n"
    run = run_of(text, query="who", document="what")
    assert_same(run, Run.from_dict({"w": {"x": 1.0}}))
    swapped = run_of(text, query="doc_id", document="query_id")
    assert_same(swapped, Run.from_dict({"d": {"q": 1.0}}))
    same = run_of(text, query="who", document="who")
    assert_same(same, Run.from_dict({"w": {"w": 1.0}}))
    several = run_of(text, query=("nobody", "who"))
    assert several.queries.texts() == ["w"]
    with pytest.raises(rg.InputError, match="no column for the query, expected 'nobody' or 'no'"):
        run_of(text, query=("nobody", "no"))


ids = st.text(
    st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12
).filter(lambda text: text.strip(" \t\v\f\r") == text)
tricky = st.sampled_from(
    ['"', '""', 'a"b', ",", "a,b", "\n", "a\r\nb", "é", "q;w", "7", "x\ty", "'"]
)
numbers = st.floats(allow_nan=False) | st.integers(-(10**20), 10**20)
rows = st.lists(
    st.tuples(tricky | ids, tricky | ids, numbers),
    min_size=1,
    max_size=8,
    unique_by=lambda r: r[:2],
)


@given(
    rows,
    st.sampled_from([",", "\t", ";", "|"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]),
    st.sampled_from(["\n", "\r\n"]),
)
@examples(150)
def test_what_any_writer_of_csv_wrote_is_read_as_it_was(
    rows: Any, separator: str, quoting: Any, end: str
) -> None:
    """Python's csv is the oracle of quotes: other writers make less of them."""
    made = io.StringIO(newline="")
    writer = csv.writer(made, delimiter=separator, quoting=quoting, lineterminator=end)
    writer.writerow(["query_id", "text", "doc_id", "score"])
    writer.writerows([(q, 'any "text",\n', d, score) for q, d, score in rows])
    assert_same(run_of(made.getvalue().encode()), Run.from_dict(nested(rows)))


@given(st.binary(max_size=60), st.integers(1, 30))
def test_the_pieces_of_a_file_make_no_difference(noise: bytes, size: int) -> None:
    text = (
        b"qid,docno,score\n" + b"".join(b"q%d,d%d,%d\n" % (i % 3, i, i) for i in range(20)) + noise
    )
    outcomes = []
    for piece in (size, 1 << 22):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csv_files, "PIECE", piece)
            try:
                run = run_of(text)
                outcomes.append((list(run.queries), list(run.documents), run.scores.tolist()))
            except rg.InputError as error:
                outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@given(rows)
def test_what_polars_and_pandas_write_is_read_as_it_was(rows: Any) -> None:
    columns = zip(*rows, strict=True)
    frame = pl.DataFrame(
        {
            "query_id": next(columns),
            "doc_id": next(columns),
            "score": np.array(list(next(columns)), dtype=np.float64),
        }
    )
    expected = Run.from_frame(frame)
    assert_same(run_of(frame.write_csv().encode()), expected)
    assert_same(run_of(frame.to_pandas().to_csv(index=False).encode()), expected)


def test_bytes_that_are_not_utf8_survive() -> None:
    run = run_of(b"qid,docno,score\nq\xff,d\xe9,1\n")
    assert (list(run.queries), list(run.documents)) == ([b"q\xff"], [b"d\xe9"])


HEADER = b"qid,docno,score\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER, "x: no rows below the header, expected at least one"),
        (HEADER + b"q,a\n", "x:2: 2 cells, expected 3 as in the header"),
        (
            HEADER + b"q,a,1\n\nq,b,1,2\n",
            "x:4: more than 3 cells, expected 3 as in the header (put",
        ),
        (HEADER + b"q,a,1,\n", "x:2: more than 3 cells, expected 3 as in the header"),
        (HEADER + b"q,,1\n", "x:2: no document, expected one in each row"),
        (HEADER + b'q,a,1\n"",a,1\n', "x:3: no query, expected one in each row"),
        (HEADER + b"q,a,\n", "x:2: no score, expected one in each row"),
        (HEADER + b"q,a,", "x:2: no score, expected one in each row"),
        (HEADER + b"q,a,x\n", "x:2: the score is 'x', expected a number"),
        (HEADER + b"q,a,nan\n", "x:2: the score is 'nan', expected a number"),
        (
            HEADER + b'q,a,"0,5"\n',
            "x:2: the score is '0,5', expected a number with a decimal point",
        ),
        (HEADER + b"q,a,%b\n" % (b"9x" * 99), f"x:2: the score is '{'9x' * 20}…', expected"),
        (HEADER + b'q,"a"b,1\n', "x:2: text after a closing quote, expected a separator"),
        (HEADER + b'q,"a\nb"c,1\n', "x:3: text after a closing quote, expected a separator"),
        (
            HEADER + b'q,a,1\nq,"b,1\nq,c,1\n',
            "x:3: a cell begins with a quote that is never closed",
        ),
        (HEADER + b"q,\0,1\n", "x:2: binary data, expected text"),
        (
            HEADER + b'q,a,1\n"q","a",2\n',
            "x:3: document 'a' repeated for query 'q' (first at line 2), expected each document once",
        ),
        (b'qid,docno,"score\n', "x:1: a cell begins with a quote that is never closed"),
        (b"qid,docno\nq,d\n", "x: no column for the score, expected score or rating"),
        (b"qid,docno,docid,score\n", "x: the document could be docno and docid, expected one"),
    ],
)
def test_faults_in_csv_are_located(text: bytes, message: str) -> None:
    with pytest.raises(rg.InputError) as caught:
        run_of(text)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, DuplicateError) == ("repeated" in message)


@pytest.mark.parametrize("grade", [b"1.5", b"inf", b"3e9", b"-2147483648", b"yes"])
def test_grades_in_csv_are_whole_numbers(grade: bytes) -> None:
    assert qrels_of(b"qid,docno,rel\nq,a,2.0\nq,b,-1e0\n").grades.tolist() == [2, -1]
    with pytest.raises(rg.InputError, match=r"x:2: .*expected a (whole )?number"):
        qrels_of(b"qid,docno,rel\nq,a,%b\n" % grade)


def test_judgments_for_subtopics_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_bytes(b"query,subtopic,docno,rel\n1,a,x,1\n1,b,x,0\n")
    judged = rg.read_qrels(path, subtopics=True)
    assert repr(judged) == "Judgments: 1 query, 2 subtopics, 1 judgment"


def seconds(text: bytes) -> float:
    start = time.process_time()
    with pytest.raises(rg.InputError):
        run_of(text)
    return time.process_time() - start


@pytest.mark.parametrize(
    "make",
    [
        lambda n: b"qid,docno," + b"c," * n + b"x\n",
        lambda n: b"qid,docno,score\n" + b'"' * (2 * n + 1),
        lambda n: b"qid,docno,score\n" + b'q,a,"1\n' * n,
        lambda n: b"qid,docno,score\n" + b"\n" * n,
        lambda n: b"x" * n + b",qid,docno",
    ],
    ids=["columns", "quotes", "open quotes", "blank lines", "a long name"],
)
def test_hostile_files_take_no_more_than_linear_time(make: Any) -> None:
    assert seconds(make(200_000)) < 5


def test_many_columns_are_listed_in_short() -> None:
    text = b",".join(b"column%d" % i for i in range(40_000)) + b",qid,docno\n"
    with pytest.raises(rg.InputError) as caught:
        run_of(text)
    assert len(str(caught.value)) < 1000
    assert "column19, … 40,002 in all" in str(caught.value)


def test_a_score_may_be_infinite() -> None:
    run = run_of(HEADER + b"q,a,inf\nq,b,-Infinity\n")
    assert run.scores.tolist() == [math.inf, -math.inf]


def test_a_score_beyond_double_precision_is_refused() -> None:
    with pytest.raises(rg.InputError, match=r":3: the score '1e999' is beyond double precision"):
        run_of(HEADER + b"q,a,inf\nq,c,1e999\n")


@pytest.mark.parametrize("row", [b"q,b,1", HEADER.strip()], ids=["a row", "a header"])
def test_a_byte_order_mark_inside_a_file_is_named_by_its_line(row: bytes) -> None:
    mark = b"\xef\xbb\xbf"
    with pytest.raises(rg.InputError, match=r":3: the line begins with a byte order mark"):
        run_of(mark + HEADER + b"q,a,1\n" + mark + row + b"\n")
