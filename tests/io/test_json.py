"""JSON by query: whatever the shape, the run is the one that a dict gives."""

from __future__ import annotations

import gzip
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from data_in_text import assert_same, qrels_of, run_of
from profiles import examples
from rankgauge.data.model import Judgments, Run
from rankgauge.data.roles import RECORD_QUERY, RELEVANT, RETRIEVED
from rankgauge.errors import DuplicateError, InputError
from rankgauge.io import json_lists

SCORED = {"q1": {"d1": 2.5, "d2": 1.0}, "q2": {"d1": -3.0}}
LISTED = {"q1": ["d2", "d1"], "q2": ["d1"]}
ORDERED = Run.from_dict({"q1": {"d2": -1.0, "d1": -2.0}, "q2": {"d1": -1.0}})
GRADES = {"q1": {"d1": 2, "d2": 0}, "q2": {"d3": 1}}


def lines(records: list[Any], end: str = "\n") -> bytes:
    return "".join(json.dumps(record) + end for record in records).encode()


def records(by_query: dict[str, Any], key: str, query: str = "query") -> list[dict[str, Any]]:
    return [{query: name, "text": ["any"], key: value} for name, value in by_query.items()]


def in_every_shape(by_query: dict[str, Any], key: str) -> list[bytes]:
    """The same documents by query, in all shapes of a file."""
    made = records(by_query, key)
    return [
        json.dumps(by_query).encode(),
        json.dumps(by_query, indent=2).encode(),
        b"\xef\xbb\xbf\n" + json.dumps(by_query).encode() + b"\n\n",
        lines([{query: value} for query, value in by_query.items()]),
        lines(made),
        lines(made, "\r\n\n"),
        b"\n" + lines(made).rstrip(),
        json.dumps(made).encode(),
        json.dumps(made, indent=1).encode(),
    ]


def test_a_run_by_query() -> None:
    for text in in_every_shape(SCORED, "retrieved"):
        assert_same(run_of(text), Run.from_dict(SCORED))
    for text in in_every_shape(LISTED, "retrieved"):
        assert_same(run_of(text), ORDERED)


def test_judgments_by_query() -> None:
    for text in in_every_shape(GRADES, "relevant"):
        assert_same(qrels_of(text), Judgments.from_dict(GRADES))
    expected = Judgments.from_dict({"q1": {"d2": 1, "d1": 1}, "q2": {"d1": 1}})
    for text in in_every_shape(LISTED, "relevant"):
        assert_same(qrels_of(text), expected)


def as_objects(by_query: dict[str, dict[str, Any]], document: str, value: str) -> dict[str, Any]:
    return {
        query: [{value: held, "title": "t", document: name} for name, held in row.items()]
        for query, row in by_query.items()
    }


@pytest.mark.parametrize("document", ["id", "doc_id", "chunkId", "document"])
def test_documents_may_be_objects(document: str) -> None:
    for score in ("score", "Similarity", "relevance_score"):
        for text in in_every_shape(as_objects(SCORED, document, score), "retrieved"):
            assert_same(run_of(text), Run.from_dict(SCORED))
    for grade in ("grade", "relevance", "score"):
        for text in in_every_shape(as_objects(GRADES, document, grade), "relevant"):
            assert_same(qrels_of(text), Judgments.from_dict(GRADES))


def test_objects_without_a_score_are_in_the_order_of_their_rank_or_of_the_list() -> None:
    ranked = {
        "q1": [{"id": "d1", "rank": 2}, {"id": "d2", "rank": 1}],
        "q2": [{"id": "d1", "rank": 1}],
    }
    expected = Run.from_dict({"q1": {"d1": -2.0, "d2": -1.0}, "q2": {"d1": -1.0}})
    for text in in_every_shape(ranked, "retrieved"):
        assert_same(run_of(text), expected)
    bare = {query: [{"id": name} for name in row] for query, row in LISTED.items()}
    for text in in_every_shape(bare, "retrieved"):
        assert_same(run_of(text), ORDERED)
    for text in in_every_shape(bare, "relevant"):
        assert qrels_of(text).grades.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("key", "read", "role"), [("retrieved", run_of, "score"), ("relevant", qrels_of, "grade")]
)
def test_objects_with_an_unknown_number_are_refused(key: str, read: Any, role: str) -> None:
    text = lines([{"query_id": "q1", key: [{"_id": "d2", "sc": 1.5}, {"_id": "d1", "sc": 2.5}]}])
    with pytest.raises(InputError, match=f"no column for the {role}.*remove sc: without it"):
        read(text)
    named = lines([{"query_id": "q1", key: [{"_id": "d2", "sc": 1}, {"_id": "d1", "sc": 2}]}])
    assert len(read(named, **{role: "sc"}).documents) == 2


def test_a_query_without_a_known_list_is_told_its_keys() -> None:
    text = lines([{"query_id": "q1", "foo": ["d1"]}])
    with pytest.raises(InputError, match=r"no key retrieved or .* \(keys: query_id, foo\)"):
        run_of(text)
    with pytest.raises(InputError, match=r"no key relevant or .* \(keys: query_id, foo\)"):
        qrels_of(text)


def test_the_documented_keys_are_known() -> None:
    for query in RECORD_QUERY.names:
        for key in RETRIEVED.names:
            assert_same(run_of(lines(records(LISTED, key, query))), ORDERED)
        for key in RELEVANT.names:
            assert len(qrels_of(lines(records(LISTED, key, query))).queries) == 2


def test_the_id_of_a_question_goes_before_its_text() -> None:
    record = {"question": "why?", "id": 7, "retrieved": ["a"]}
    assert run_of(lines([record])).queries.texts() == ["7"]
    assert run_of(lines([record]), query="question").queries.texts() == ["why?"]


def test_keys_may_be_named() -> None:
    record = {"frage": "q", "id": "x", "retrieved": [{"id": "a", "stelle": "b", "wert": 1.5}]}
    run = run_of(lines([record]), query="frage", document="stelle", score="wert")
    assert_same(run, Run.from_dict({"q": {"b": 1.5}}))


def test_ids_may_be_whole_numbers() -> None:
    run = run_of(b'{"query": 1, "retrieved": [30, 10]}\n{"query": 2, "retrieved": ["x", 10]}\n')
    assert (run.queries.texts(), run.documents.texts()) == (["1", "2"], ["30", "10", "x", "10"])


def test_run_and_judgments_in_one_file(tmp_path: Path) -> None:
    path = tmp_path / "rag.jsonl.gz"
    both = [
        {"query": "q1", "retrieved": ["d2", "d1"], "relevant": {"d1": 2}},
        {"query": "q2", "retrieved": ["d1"], "relevant": ["d3"]},
    ]
    path.write_bytes(gzip.compress(lines(both)))
    run = rg.read_run(path)
    assert_same(run, ORDERED)
    assert (run.name, run.source) == ("rag", str(path))
    assert_same(rg.read_qrels(path), Judgments.from_dict({"q1": {"d1": 2}, "q2": {"d3": 1}}))
    assert rg.evaluate(path, path, "RR").mean() == {"rag": {"RR": 0.25}}


def test_nothing_relevant_and_nothing_retrieved_are_no_faults() -> None:
    assert np.diff(qrels_of(b'{"query": "q", "relevant": []}').bounds).tolist() == [0]
    run = run_of(b'{"q-1": [], "q-2": {}, "q-3": ["a"]}')
    assert np.diff(run.bounds).tolist() == [0, 0, 1]


GOOD = b'{"query": "q1", "retrieved": ["a"], "relevant": ["a"]}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD + b'\n{"query": "q2"}\n',
            "x:3: no 'retrieved', expected one in each object, as in the",
        ),
        (GOOD + b'{"retrieved": []}\n', "x:2: no 'query', expected one in each object, as in the"),
        (GOOD + GOOD, "x:2: query 'q1' again (first at line 1), expected each query once"),
        (GOOD + b'{"query": 1.5, "retrieved": []}\n', "x:2: the query is 1.5, expected text or a"),
        (GOOD + b'{"query": null, "retrieved": []}\n', "x:2: no query, expected an id"),
        (
            GOOD + b'{"query": "q2", "retrieved": ["b", "c", "b"]}\n',
            "x:2: document 'b' repeated for query 'q2' (first at place 1 of its list), expected each",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": {"b": 1, "b": 2}}\n',
            "x:2: document 'b' more than once, expected each document once per query",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": "b"}\n',
            'x:2: "b" for the retrieved documents, expected a list of ids such as ["d1"], or an obj',
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": null}\n',
            "x:2: null for the retrieved documents, exp",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": [["b", 1]]}\n',
            "x:2: the document is ['b', 1], expe",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": ["b", {}]}\n',
            "x:2: the document is {}, expected te",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": [{"id": "b"}, "c"]}\n',
            'x:2: place 2 of the retrieved documents: "c", expected an object, like the first document '
            "of the list",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": [{"id": "b", "score": 1}, {"id": "c"}]}\n',
            "x:2: place 2 of the retrieved documents: no 'score', expected one in each object",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": [{"id": "b", "id": "c"}]}\n',
            "x:2: place 1 of the retrieved documents: 'id' more than once, expected each key once",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": [{"title": "b"}]}\n',
            "x: no column for the document, expected doc_id or",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": {"b": "1"}}\n',
            "x:2: the score is '1', expected a n",
        ),
        (GOOD + b'{"query": "q2", "retrieved": {"b": NaN}}\n', "x:2: no score, expected a number"),
        (
            GOOD + b'{"query": "q2", "retrieved": {"b": true}}\n',
            "x:2: the score is True, expected a",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": {"b": 1%b}}\n' % (b"0" * 400),
            "x:2: the score is beyond double precision, expected a smaller number",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": {"b": 1%b}}\n' % (b"0" * 5000),
            "x:2: not JSON (Exceeds the limit",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": ["\\ud800"]}\n',
            "x:2: the document '\\ud800' cannot be written as UTF-8",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": ["\xff"]}\n',
            "x:2: not JSON (bytes that are not UTF-8)",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": [], "retrieved": []}\n',
            "x:2: 'retrieved' more than once, expected each key once",
        ),
        (
            GOOD + b'{"query": "q2", "retri',
            "x:2: not JSON (Unterminated string starting at: column 17)",
        ),
        (GOOD + b"[1]\n", "x:2: a JSON list, expected an object"),
        (GOOD + b"[" * 100_000, "x:2: not JSON (nested too deeply)"),
        (b"{" + b'"a":{' * 100_000, "x:1: not JSON (nested too deeply)"),
        (b'{\n "q1": {\n  "a": 1,,\n }\n}', "x:3: not JSON (Expecting property name"),
        (b"{}", "x: an empty object, expected one of four shapes: "),
        (b"[]", "x: an empty list, expected an object for each query or row"),
        (b"[{}, 1]", "x: an empty object"),
        (b'[{"query": "q", "retrieved": []}, 1]', "x: row 1: 1, expected an object"),
        (b'[{"q1": {"a": 1}}]', "x: a list of objects with the keys q1, expected one of four"),
        (b'{"q1": {"a": "x"}}', "x: query \"q1\": the score is 'x', expected a number"),
        (
            b'{"q1": {"a": 1}, "q2": 3}',
            'x: query "q2": 3 for the retrieved documents, expected a list',
        ),
        (b'{"q1": ["a"], "q1": ["b"]}', "x: query 'q1' more than once, expected each query once"),
        (
            b'{"query": "q1", "relevant": ["a"]}',
            "x: no run: the objects have no key retrieved or results or ranking",
        ),
        (b'{"a": 1, "b": 2}', "x: no column for the query"),
    ],
)
def test_faults_in_json_are_located(text: bytes, message: str) -> None:
    with pytest.raises(rg.InputError) as caught:
        run_of(text)
    assert str(caught.value).startswith(message)
    assert isinstance(caught.value, DuplicateError) == ("document 'b' repeated" in message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            GOOD + b'{"query": "q2", "relevant": {"b": 0.5}}\n',
            "x:2: grade 0.5, expected a whole numb",
        ),
        (
            GOOD + b'{"query": "q2", "relevant": {"b": 3000000000}}\n',
            "x:2: grade 3000000000, expect",
        ),
        (
            GOOD + b'{"query": "q2", "retrieved": []}\n',
            "x:2: no 'relevant', expected one in each object, as in the first (write [] where nothing",
        ),
        (
            b'{"query": "q1", "retrieved": ["a"]}',
            "x: no judgments: the objects have no key relevant or gold or qrels (keys: query, "
            "retrieved), expected such a key with the relevant documents, or a separate file with the "
            "judgments",
        ),
    ],
)
def test_faults_in_judgments_by_query_are_located(text: bytes, message: str) -> None:
    with pytest.raises(rg.InputError) as caught:
        qrels_of(text)
    assert str(caught.value).startswith(message)


def test_subtopics_need_an_object_for_each_judgment() -> None:
    with pytest.raises(rg.InputError, match="expected one object for each judgment"):
        qrels_of(GOOD, subtopic="subtopic")


def test_rows_in_an_array() -> None:
    rows = [{"qid": 1, "docno": "a", "score": 2}, {"qid": 1, "docno": "b", "score": 1.5}]
    expected = Run.from_dict({"1": {"a": 2.0, "b": 1.5}})
    assert_same(run_of(json.dumps(rows).encode()), expected)
    assert_same(run_of(json.dumps(rows, indent=1).encode()), expected)
    with pytest.raises(
        rg.InputError, match="x: row 1: no 'score', expected one as in the first row"
    ):
        run_of(json.dumps([rows[0], {"qid": 1, "docno": "c"}]).encode())
    with pytest.raises(rg.InputError, match="x: row 1: null, expected an object"):
        run_of(json.dumps([rows[0], None]).encode())


ids = st.text(max_size=8) | st.sampled_from(["\0", "a\nb", "", '"', "\\", "é", "😀"])
listings = st.dictionaries(
    ids, st.floats(allow_nan=False) | st.integers(-(2**60), 2**60), max_size=5
)


@given(st.dictionaries(ids.map("q-".__add__), listings, min_size=1, max_size=4), st.booleans())
@examples(150)
def test_any_run_survives_every_shape(
    by_query: dict[str, dict[str, Any]], ascii_only: bool
) -> None:
    expected = Run.from_dict(
        {query: {d: float(s) for d, s in row.items()} for query, row in by_query.items()}
    )
    made = records(by_query, "results")
    objects = [
        {"query": query, "results": [{"id": d, "score": s} for d, s in row.items()]}
        for query, row in by_query.items()
    ]
    for value in (by_query, made, objects):
        text = json.dumps(value, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
        assert_same(run_of(text), expected)
    assert_same(run_of(lines(made)), expected)
    assert_same(run_of(lines(objects)), expected)


def test_documents_become_columns_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    by_query = {f"q-{i}": {f"d{j}": float(j) for j in range(i % 4)} for i in range(20)}
    expected = Run.from_dict(by_query)
    twice = lines([*records(by_query, "retrieved"), {"query": "x", "retrieved": ["a", "b", "a"]}])
    odd = lines([*records(by_query, "retrieved"), {"query": "x", "retrieved": ["a", None]}])
    for most in (1, 3, 1 << 16):
        monkeypatch.setattr(json_lists, "MOST_OBJECTS", most)
        for text in in_every_shape(by_query, "retrieved"):
            assert_same(run_of(text), expected)
        with pytest.raises(
            rg.InputError, match=r"x:21: .*'a' repeated .*first at place 1 of its list"
        ):
            run_of(twice)
        with pytest.raises(rg.InputError, match=r"x:21: no document, expected an id"):
            run_of(odd)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: b'{"query": "q", "retrieved": [' + b'"a",' * n,
        lambda n: GOOD + b"{\n" * n,
        lambda n: b"{\n" * n,
        lambda n: GOOD + b"\n" * n + b"x",
        lambda n: b'{"q-1": {' + b'"a": 1,' * n + b'"b": 1}}',
        lambda n: b'{"query": "q", "retrieved": [' + b'{"id": 1, "id": 2},' * n + b"1]}",
    ],
    ids=["cut short", "open braces", "only braces", "blank lines", "repeated keys", "repeated ids"],
)
def test_hostile_json_takes_no_more_than_linear_time(make: Any) -> None:
    start = time.process_time()
    with pytest.raises(rg.InputError):
        run_of(make(200_000))
    assert time.process_time() - start < 5


def test_beside_an_id_the_text_of_a_document_or_query_is_not_taken_for_one(tmp_path: Path) -> None:
    file = tmp_path / "rag.jsonl"
    line = {"id": 1, "query": "same", "retrieved": [{"id": "c1", "chunk": "text", "score": 0.9}]}
    lines = [line | {"relevant": ["c1"]}, line | {"id": 2, "relevant": {"c1": 1}}]
    file.write_text("\n".join(map(json.dumps, lines)))
    assert rg.evaluate(file, file, "Recall@5").mean() == {"rag": {"Recall@5": 1.0}}


@pytest.mark.parametrize(
    ("retrieved", "relevant"),
    [
        (["a", "b"], [{"id": "c"}, {"id": "a", "grade": 0}]),
        ([{"id": "a"}, {"id": "b", "score": 9}], ["b"]),
    ],
)
def test_values_are_there_for_all_documents_or_for_none(
    tmp_path: Path, retrieved: object, relevant: object
) -> None:
    file = tmp_path / "rag.jsonl"
    file.write_text(json.dumps({"query": "q", "retrieved": retrieved, "relevant": relevant}))
    with pytest.raises(
        rg.InputError, match=r"document 2 of the list has '(score|grade)', but the first"
    ):
        rg.evaluate(file, file, "RR")


def test_blank_lines_before_json_change_nothing(tmp_path: Path) -> None:
    file = tmp_path / "run.jsonl"
    file.write_text("\n" * 10_000 + '{"query": "q", "retrieved": ["a"]}\n')
    assert len(rg.read_run(file).scores) == 1


NUMBERS_TOO_LARGE = {
    "documents by query": b'{"1":\n{"a": %b, "b": 1}}',
    "rows": b'{"query_id": "1", "doc_id": "a", "score": 1}\n'
    b'{"query_id": "1", "doc_id": "b", "score": %b}\n',
    "a list of rows": b'[{"query_id": "1", "doc_id": "a",\n"score": %b}]',
    "lists": b'{"query_id": "0", "retrieved": [{"id": "a", "score": 1}]}\n'
    b'{"query_id": "1", "retrieved": [{"id": "a", "score": %b}]}\n',
}


@pytest.mark.parametrize("shape", NUMBERS_TOO_LARGE)
@pytest.mark.parametrize("number", [b"1e999", b"-1e1000", b"1.8e308"])
def test_a_number_beyond_double_precision_is_named_by_its_line(
    shape: str, number: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(NUMBERS_TOO_LARGE[shape] % number)
    with pytest.raises(rg.InputError, match=f":2: the number {number.decode()} is beyond double"):
        rg.read_run(path)


@pytest.mark.parametrize("end", [b"\n", b""])
def test_a_byte_order_mark_inside_a_file_is_named_by_its_line(end: bytes, tmp_path: Path) -> None:
    path, mark = tmp_path / "run.jsonl", b"\xef\xbb\xbf"
    row = mark + b'{"query_id": "1", "doc_id": "%b", "score": 1}'
    path.write_bytes(row % b"a" + b"\n" + row % b"b" + end)
    with pytest.raises(rg.InputError, match=r":2: the line begins with a byte order mark"):
        rg.read_run(path)
