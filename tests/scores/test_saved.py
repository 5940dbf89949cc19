"""Scores in files: what was saved is loaded, and nothing else."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from command_line import one_process
from profiles import examples, some, thorough
from rankgauge import Scores
from rankgauge.core.notes import Note
from rankgauge.core.policies import AppliedPolicies, current_words
from rankgauge.core.sealing import seal
from rankgauge.scores.validation import POLICIES

EARLIER = Path(__file__).parent / "saved_1"
"""Files of version 1, all JSON, as rankgauge wrote them then."""

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}, "<q3>": {"e": 0}}
RUNS = {
    "one": {"q1": {"b": 3.0, "x": 2.0, "a": 1.0}, "q2": {"c": 1.0}, "<q3>": {"e": 1.0}},
    "<two>": {"q2": {"x": 1.0}},
}
MEASURES = ["nDCG@10", "AP", "gm(AP)", "SearchLength", "lower(RBP(p=0.5))", "v2(AP@30)"]
ARRAYS = ("values", "present", "judged_at_10", "relevant", "nothing_relevant")


@pytest.fixture
def scores() -> Scores:
    return rg.evaluate(QRELS, RUNS, MEASURES)


def assert_identical(back: Scores, scores: Scores) -> None:
    """Every field is the same, the numbers to the last bit."""
    for field in fields(Scores):
        ours, theirs = getattr(scores, field.name), getattr(back, field.name)
        if field.name in ARRAYS:
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
            assert np.ascontiguousarray(ours).tobytes() == np.ascontiguousarray(theirs).tobytes()
        else:
            assert repr(ours) == repr(theirs)
            assert ours == theirs or field.name == "notes"  # an error that is NaN
    assert back.values.flags.c_contiguous
    assert not back.values.flags.writeable


# There and back


@pytest.mark.parametrize("name", ["scores", "scores.json", "scores.parquet", "s.gz", "s.zst"])
def test_saving_and_loading_brings_everything_back(
    scores: Scores, tmp_path: Path, name: str
) -> None:
    scores.save(tmp_path / name)
    with nullcontext() if thorough() or name == "scores" else one_process():
        back = Scores.load(tmp_path / name)
    assert_identical(back, scores)
    assert repr(back) == repr(scores)


def test_the_same_scores_give_the_same_bytes(scores: Scores, tmp_path: Path) -> None:
    many = Scores.from_matrix(
        np.arange(600_000.0).reshape(600, -1), runs=range(600), measure="human"
    )
    for each in (scores, many):
        each.save(tmp_path / "first")
        each.save(tmp_path / "second")
        assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_other_programs_see_a_column_a_measure(scores: Scores, tmp_path: Path) -> None:
    scores.save(tmp_path / "scores")
    frame = pl.read_parquet(tmp_path / "scores")
    names = [f"{m} {measure}" for m, measure in enumerate(MEASURES)]
    assert frame.columns == ["present", "judged_at_10", *names]
    assert frame["0 nDCG@10"].to_list() == scores.values[:, :, 0].ravel().tolist()
    document = json.loads(pl.read_parquet_metadata(tmp_path / "scores")["rankgauge-scores"])
    assert (document["format"], document["version"]) == ("rankgauge-scores", 3)
    assert document["runs"] == list(RUNS)


RANGES = {
    "nDCG@10": (0.0, 1.0),
    "AP": (0.0, 1.0),
    "gm(AP)": (0.0, 1.0),
    "v2(AP@30)": (-1.0, 1.0),
    "DCG@5": (0.0, None),
    "RNDCG@5": (None, 1.0),
    "z(P@5)": (None, None),
    'given("Güte \N{SNOWMAN} \udcff",better=lower)': (None, None),
    'gm(given("it\'s"))': (None, None),
}
"""Measures, with the ends of what they give where there are any."""

names = st.text(max_size=5) | st.binary(max_size=5).map(
    lambda raw: raw.decode(errors="surrogateescape")
)
nan = st.integers(1, 2**51).map(
    lambda payload: float(np.array([0x7FF8 << 48 | payload], dtype=np.uint64).view(np.float64)[0])
)
notes = st.builds(
    Note,
    st.text(max_size=9),
    run=st.none() | st.just("one"),
    count=st.none() | st.integers(0, 2**70),
    error=st.none() | st.floats(),
    detail=st.text(max_size=3),
)


def share_or_none() -> st.SearchStrategy[float]:
    return st.floats(0, 1) | st.just(np.nan)


@st.composite
def any_scores(draw: st.DrawFn) -> Scores:
    """Scores of any kind that rankgauge makes."""
    runs = draw(st.lists(names, unique=True, max_size=3))
    queries = draw(st.lists(names, unique=True, max_size=3))
    measures = draw(st.lists(st.sampled_from(list(RANGES)), unique=True, max_size=4))
    shape = (len(runs), len(queries))
    kind = draw(st.sampled_from([None, "normal", "z", "empirical"]))
    values = np.zeros((*shape, len(measures)))
    for m, measure in enumerate(measures):
        low, high = RANGES[measure] if kind is None else (None, None) if kind == "z" else (0.0, 1.0)
        infinite = kind is None and None in (low, high)
        number = st.floats(low, high, allow_infinity=infinite, allow_nan=False)
        for place in np.ndindex(*shape):
            values[(*place, m)] = draw(number | nan)
    joined = draw(st.booleans())
    policies = AppliedPolicies(
        source=draw(st.sampled_from([None, "matrix"])) if not joined else "joined",
        ties=draw(st.sampled_from(["docno", "input", "random", "expected"])),
        seed=draw(st.none() | st.integers(0, 2**31 - 1)),
        tail=draw(st.sampled_from([None, "tied(1000)"])),
        judgments=draw(st.sampled_from([None, "subtopics"])),
        precision=draw(st.sampled_from(["single", "double", "single+double", ""])),
        unjudged=draw(st.sampled_from(["nonrelevant", "condensed"])),
        missing=draw(st.sampled_from(["zero", "skip"])),
        max_grade=draw(st.integers(1, 9)),
        standardized=None if kind is None else f"{kind}(1,204 runs)",
    )
    return Scores(
        runs=tuple(runs),
        queries=tuple(queries),
        measures=tuple(map(rg.parse, measures)),
        values=values,
        present=np.array([draw(st.booleans()) for _ in np.ndindex(*shape)], dtype=np.bool_).reshape(
            shape
        ),
        judged_at_10=np.array([draw(share_or_none()) for _ in np.ndindex(*shape)]).reshape(shape),
        relevant=np.array([draw(st.integers(-1, 9)) for _ in queries], dtype=np.int64),
        nothing_relevant=np.array(
            [draw(st.booleans()) for _ in measures for _ in queries], dtype=np.bool_
        ).reshape(len(measures), len(queries)),
        policies=policies,
        notes=tuple(draw(st.lists(notes, max_size=3))),
        failed=tuple(draw(st.lists(names, max_size=2))),
        only_relevant=draw(st.booleans()),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for cases that each write the same files anew."""
    return tmp_path_factory.mktemp("saved")


@given(scores=any_scores())
@examples(200)
def test_loading_what_was_saved_is_the_identity(folder: Path, scores: Scores) -> None:
    path = folder / "scores"
    path.unlink(missing_ok=True)
    scores.save(path)
    with one_process():
        assert_identical(Scores.load(path), scores)


def test_scores_of_more_rows_than_a_piece_come_back(tmp_path: Path) -> None:
    values = np.random.default_rng(0).random((300, 2_000, 2))
    scores = Scores.from_matrix(values, runs=range(300), measure=["AP", "RR"])
    scores.save(tmp_path / "scores")
    assert_identical(Scores.load(tmp_path / "scores"), scores)


def test_joined_and_standardized_scores_come_back(scores: Scores, tmp_path: Path) -> None:
    part = scores.select(measures=["nDCG@10"])
    human = Scores.from_matrix(
        np.arange(6.0).reshape(2, 3), runs=scores.runs, queries=scores.queries, measure="human"
    )
    for each in (
        scores.joined(human),
        part.standardized(kind="z"),
        part.standardized(kind="z").joined(human),
        scores.select(runs=[]),
        scores.select([]),
        scores.select(measures=[]),
    ):
        each.save(tmp_path / "scores")
        with one_process():
            assert_identical(Scores.load(tmp_path / "scores"), each)


# Earlier versions


@pytest.mark.parametrize("path", sorted(EARLIER.iterdir()), ids=lambda path: path.stem)
def test_files_of_earlier_versions_are_loaded(path: Path, tmp_path: Path) -> None:
    scores = Scores.load(path)
    document = json.loads(path.read_text())
    numbers = {None: np.nan, "inf": np.inf, "-inf": -np.inf}
    flat = [
        numbers.get(value, value)
        for by_query in document["values"]
        for by_measure in by_query
        for value in by_measure
    ]
    np.testing.assert_array_equal(scores.values.ravel(), np.array(flat, dtype=float))
    assert list(scores.runs) == document["runs"]
    assert [str(measure) for measure in scores.measures] == document["measures"]
    assert scores.policies.nonempty_fields() == current_words(document["policies"])
    *notes, unsealed = scores.notes
    assert len(notes) == len(document["notes"])
    assert "has no seal" in str(unsealed)
    scores.save(tmp_path / "again")
    with one_process():
        assert_identical(Scores.load(tmp_path / "again"), scores)


def test_policies_that_are_null_are_none(tmp_path: Path) -> None:
    document = earlier() | {"policies": earlier()["policies"] | {"seed": None, "tail": None}}
    assert (
        load_json(document, tmp_path).policies == Scores.load(EARLIER / "evaluated.json").policies
    )


# What is refused: the JSON of earlier versions


def earlier(name: str = "evaluated") -> Any:
    return json.loads((EARLIER / f"{name}.json").read_text())


def load_json(document: Any, folder: Path) -> Scores:
    path = folder / "scores.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return Scores.load(path)


def transposed(values: list[list[Any]]) -> list[list[Any]]:
    return [list(row) for row in zip(*values, strict=True)]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"format": "other"}, "format is not rankgauge-scores"),
    ({"version": 99}, r"version is 99\), expected 1 \(update rankgauge\)"),
    ({"version": 2}, "version is 2"),
    ({"version": True}, "version is True"),
    ({"version": 1.0}, "version is 1.0"),
    ({"version": "1"}, "version is '1'"),
    ({"extra": 1}, "'extra' is there"),
    ({"runs": ["one", "one"]}, "the run 'one' occurs 2 times"),
    ({"queries": ["q1", "q2", "q1"]}, "the query 'q1' occurs 2 times"),
    ({"measures": ["AP", "map", *MEASURES[2:]]}, "the measure 'AP' occurs 2 times"),
    ({"measures": ["nope", *MEASURES[1:]]}, "nope.*load its plug-in first"),
    ({"measures": ["P", *MEASURES[1:]]}, "P needs a cutoff"),
    ({"measures": ["given", *MEASURES[1:]]}, "given has no title"),
    ({"measures": ["v2(given('x'))", *MEASURES[1:]]}, "given"),
    ({"runs": [1, 2]}, r"runs\[0\] is 1\), expected text"),
    ({"runs": "one"}, r"runs is 'one'\), expected a list"),
    ({"runs": {"a": 1, "b": 2}}, r"runs is an object\), expected a list"),
    ({"values": [1, 2]}, r"values\[0\] is 1\), expected a list"),
    ({"values": [0.5] * 36}, r"values is a list of 36\), expected 2"),
    ({"values": transposed(earlier()["values"])}, r"values is a list of 3\), expected 2"),
    ({"present": "x"}, "present is 'x'"),
    ({"present": [[1, 0, 1], [0, 1, 0]]}, r"present\[0\]\[0\] is 1\), expected true or false"),
    ({"present": transposed(earlier()["present"])}, "present is a list of 3"),
    ({"judged_at_10": [[0.5, 1.5, 0.5]] * 2}, "judged_at_10 is 1.5 for run 'one', query 'q2'"),
    ({"judged_at_10": [[0.5, True, 0.5]] * 2}, r"judged_at_10\[0\]\[1\] is True"),
    ({"relevant": [1, 1.0, 1]}, r"relevant\[1\] is 1.0\), expected a whole number"),
    ({"relevant": [1, True, 1]}, r"relevant\[1\] is True"),
    ({"relevant": [1, -2, 1]}, r"relevant\[1\] is -2"),
    ({"relevant": [1, 10**30, 1]}, r"relevant\[1\] is 10"),
    ({"nothing_relevant": [[False] * 6] * 3}, "nothing_relevant is a list of 3"),
    ({"policies": {"x": 1}}, "the policy 'x' is not known, expected one of source, ties"),
    ({"policies": []}, r"policies is a list\), expected an object"),
    ({"policies": {"ties": "docno-asc"}}, "the policy ties is 'docno-asc', expected 'docno' or"),
    ({"policies": {"ties": None}}, "the policy ties is None"),
    ({"policies": {"seed": True}}, "the policy seed is True"),
    ({"policies": {"seed": 1.0}}, "the policy seed is 1.0"),
    ({"policies": {"seed": -1}}, "the policy seed is -1"),
    ({"policies": {"missing": ["zero"]}}, "the policy missing is a list"),
    ({"policies": {"max_grade": "2"}}, "the policy max_grade is '2'"),
    ({"policies": {"max_grade": 0}}, "the policy max_grade is 0"),
    ({"policies": {"standardized": "z"}}, "the policy standardized is 'z'"),
    ({"policies": {"tail": "tied"}}, "the policy tail is 'tied', expected text such as tied"),
    ({"policies": {"source": "elsewhere"}}, "the policy source is 'elsewhere'"),
    ({"policies": {"rankgauge": 1}}, "the policy rankgauge is 1"),
    ({"notes": [1]}, r"notes\[0\] is 1\), expected a note"),
    ({"notes": [{"kind": "x", "count": 1.5}]}, r"notes\[0\]\['count'\] is 1.5"),
    ({"notes": [{"kind": "x", "more": "y"}]}, r"notes\[0\]\['more'\]"),
    ({"notes": [{"run": "x"}]}, r"notes\[0\] is an object"),
    ({"failed": [None]}, r"failed\[0\] is None"),
    ({"failed": None}, "failed is None"),
    ({"only_relevant": 1}, r"only_relevant is 1\), expected true or false"),
]


@pytest.mark.parametrize(("change", "message"), WRONG)
def test_what_is_wrong_in_a_document_is_named(
    tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    with pytest.raises(rg.InputError, match=message) as caught:
        load_json(earlier() | change, tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'scores.json'}: ")
    assert ", expected " in str(caught.value) or "plug-in" in str(caught.value)


def with_value(value: str) -> str:
    return json.dumps(earlier()).replace("0.3333333333333333", value, 1)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1e400", "the number 1e400 is too large"),
        ("-1e400", "the number -1e400 is too large"),
        ("NaN", "NaN is not a JSON number"),
        ("Infinity", "Infinity is not a JSON number"),
        ("1" * 400, r"values\[0\]\[0\]\[1\] is 1111"),
        ("1" * 5000, "digits"),
        ("true", r"values\[0\]\[0\]\[1\] is True\), expected a number, or null"),
        ('"0.5"', r"values\[0\]\[0\]\[1\] is '0.5'"),
        ('"nan"', r"values\[0\]\[0\]\[1\] is 'nan'"),
        ("[0.5]", r"values\[0\]\[0\]\[1\] is a list"),
        ("1e30", r"the score 1e\+30 of run 'one', query 'q1', AP, expected 0 to 1 \(call"),
        ('"inf"', "the score inf of run 'one', query 'q1', AP, expected 0 to 1"),
        ("-0.1", "the score -0.1 of run 'one', query 'q1', AP"),
        ("0.5, 0.5", r"values\[0\]\[0\] is a list of 7\), expected 6"),
        ('{"a": 1, "a": 2}', "'a' is twice in one object"),
        ("[" * 100_000, "not a file of scores"),
    ],
)
def test_what_is_no_score_is_named(tmp_path: Path, value: str, message: str) -> None:
    with pytest.raises(rg.InputError, match=message):
        load_json(with_value(value), tmp_path)


def test_a_whole_number_is_a_score_and_rounding_is_no_fault(tmp_path: Path) -> None:
    assert load_json(with_value("1"), tmp_path).values[0, 0, 1] == 1.0
    assert load_json(with_value("1.0000000001"), tmp_path).values[0, 0, 1] == 1.0000000001


@pytest.mark.parametrize("entry", [*earlier()])
def test_an_entry_that_is_not_there_is_named(tmp_path: Path, entry: str) -> None:
    document = earlier()
    del document[entry]
    if entry == "failed":
        assert load_json(document, tmp_path).failed == ()
        return
    with pytest.raises(rg.InputError, match=f"{entry} is"):
        load_json(document, tmp_path)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[1]", b"\x00\xff", b"[" * 100_000, b"1", b"null", b'{"a":1,"a":2}']
)
def test_junk_is_not_scores(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "junk"
    path.write_bytes(content)
    with pytest.raises(rg.InputError, match="not a file of scores"):
        Scores.load(path)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inside: st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=3), inside),
    max_leaves=5,
)


@given(path=st.sampled_from(sorted(EARLIER.iterdir())), data=st.data())
@examples(200)
def test_a_document_with_anything_anywhere_is_refused_or_sound(
    folder: Path, path: Path, data: st.DataObject
) -> None:
    document = at = json.loads(path.read_text())
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], list | dict) or not at[key] or data.draw(st.booleans()):
            break
        at = at[key]
    at[key] = data.draw(ANY)
    try:
        scores = load_json(document, folder)
    except rg.InputError:
        return
    scores.save(folder / "again")  # nothing is loaded that could not be saved
    scores.table()


# What is refused: Parquet


def change_file(
    scores: Scores,
    path: Path,
    frame: Callable[[Any], Any] = lambda frame: frame,
    document: Callable[[Any], Any] = lambda document: document,
) -> None:
    """Save scores with something changed in the table or in the document of the file, and with the right
    seal: whoever changes a file on purpose can seal it again."""
    scores.save(path)
    raw = path.read_bytes()
    text = pl.read_parquet_metadata(io.BytesIO(raw))["rankgauge-scores"]
    changed = document(json.loads(text))
    table = frame(pl.read_parquet(io.BytesIO(raw)))
    del changed["seal"]
    sealed = seal(changed, numbers_of(table, scores))
    table.write_parquet(path, metadata={"rankgauge-scores": json.dumps(sealed)})


def numbers_of(table: Any, scores: Scores) -> dict[str, Any] | None:
    """The numbers that a seal covers; None where the table has other rows or columns."""
    shape = (len(scores.runs), len(scores.queries))
    if table.height != shape[0] * shape[1] or table.width != 2 + len(scores.measures):
        return None
    present, judged, *values = (series.to_numpy().reshape(shape) for series in table)
    return {"values": np.stack(values, axis=-1), "present": present, "judged_at_10": judged}


def cell(column: str, row: int, value: Any) -> Callable[[Any], Any]:
    def change(frame: Any) -> Any:
        values = frame[column].to_list()
        values[row] = value
        return frame.with_columns(pl.Series(column, values, dtype=frame[column].dtype))

    return change


TABLES: list[tuple[Callable[[Any], Any], str]] = [
    (lambda f: f.drop("2 gm(AP)"), "the column '3 SearchLength' of type Float64, expected '2 gm"),
    (lambda f: f.drop("5 v2(AP@30)"), "7 columns and 6 rows for 2 runs, 3 queries and 6 measures"),
    (lambda f: f.drop("present"), "the column 'judged_at_10'"),
    (lambda f: f.with_columns(x=1.0), "9 columns and 6 rows"),
    (lambda f: f.select(sorted(f.columns)), "expected 'present' of type Boolean in its place"),
    (lambda f: f.head(5), "8 columns and 5 rows"),
    (lambda f: pl.concat([f, f]), "8 columns and 12 rows"),
    (lambda f: f.cast({"1 AP": pl.Float32}), "'1 AP' of type Float32, expected '1 AP' of type F"),
    (lambda f: f.cast({"1 AP": pl.String}), "'1 AP' of type String"),
    (lambda f: f.cast({"1 AP": pl.Int64}), "'1 AP' of type Int64"),
    (lambda f: f.cast({"present": pl.Int8}), "'present' of type Int8"),
    (lambda f: f.with_columns(pl.concat_list("1 AP").alias("1 AP")), r"'1 AP' of type List"),
    (cell("1 AP", 4, None), "nothing in row 5 of the column '1 AP', expected a value"),
    (cell("present", 0, None), "nothing in row 1 of the column 'present'"),
    (
        cell("0 nDCG@10", 4, 1e30),
        r"the score 1e\+30 of run '<two>', query 'q2', nDCG@10, expected 0",
    ),
    (cell("0 nDCG@10", 4, np.inf), "the score inf of run '<two>', query 'q2', nDCG@10"),
    (cell("5 v2(AP@30)", 0, -1.1), "the score -1.1 of run 'one', query 'q1'"),
    (cell("judged_at_10", 5, -0.5), "judged_at_10 is -0.5 for run '<two>', query '<q3>'"),
]


@pytest.mark.parametrize(("change", "message"), TABLES)
def test_a_table_that_does_not_fit_is_refused(
    scores: Scores, tmp_path: Path, change: Callable[[Any], Any], message: str
) -> None:
    change_file(scores, tmp_path / "scores", frame=change)
    with one_process(), pytest.raises(rg.InputError, match=message) as caught:
        Scores.load(tmp_path / "scores")
    assert ", expected " in str(caught.value)


def test_a_fault_is_told_by_the_other_process_too(scores: Scores, tmp_path: Path) -> None:
    for change, message in TABLES[::6]:
        change_file(scores, tmp_path / "scores", frame=change)
        with pytest.raises(rg.InputError, match=message):
            Scores.load(tmp_path / "scores")


IN_BOTH = [
    (change, message)
    for change, message in WRONG
    if not {"values", "present", "judged_at_10"} & change.keys()
    and change != {"version": 2}
    and message != "the measure 'AP' occurs 2 times"  # the columns tell first
]


@pytest.mark.parametrize(("change", "message"), IN_BOTH)
def test_what_is_wrong_in_the_metadata_is_named(
    scores: Scores, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    change_file(scores, tmp_path / "scores", document=lambda document: document | change)
    with (
        one_process(),
        pytest.raises(rg.InputError, match=message.replace("expected 1 ", "e.* 3 ")),
    ):
        Scores.load(tmp_path / "scores")


def test_other_tables_say_what_they_are(scores: Scores, tmp_path: Path) -> None:
    scores.write_parquet(tmp_path / "long")
    with pytest.raises(
        rg.InputError, match=r"made by Scores.write_parquet.*made by Scores.save, or"
    ):
        Scores.load(tmp_path / "long")
    pl.DataFrame({"qid": ["1"], "docno": ["a"]}).write_parquet(tmp_path / "run")
    with (
        one_process(),
        pytest.raises(rg.InputError, match=r"not a file of scores .*'qid, docno'"),
    ):
        Scores.load(tmp_path / "run")


def test_scores_beyond_the_limit_are_refused(tmp_path: Path) -> None:
    """A file of few bytes that holds many numbers, all alike."""
    table = np.zeros((100, 5_000))
    Scores.from_matrix(table, runs=range(100), measure="AP").save(tmp_path / "scores")
    assert (tmp_path / "scores").stat().st_size < 200_000
    message = "contains 500,000 rows, more than 8,000,000 bytes, expected less"
    with pytest.raises(rg.InputError, match=message):
        Scores.load(tmp_path / "scores", size_limit=8_000_000)
    with one_process():
        assert Scores.load(tmp_path / "scores", size_limit=9_000_000).values.sum() == 0


def test_more_rows_than_the_names_say_are_not_decoded(scores: Scores, tmp_path: Path) -> None:
    bomb = pl.DataFrame({"x": np.zeros(3_000_000)}).select(
        present=pl.col("x") == 0, judged_at_10=pl.col("x"), **{"0 AP": pl.col("x")}
    )
    change_file(scores.select(measures="AP"), tmp_path / "scores", frame=lambda _: bomb)
    assert (tmp_path / "scores").stat().st_size < 40_000
    with (
        one_process(),
        pytest.raises(rg.InputError, match="3 columns and 3,000,000 rows for 2 runs"),
    ):
        Scores.load(tmp_path / "scores")


@pytest.mark.parametrize("share", some([0.01, 0.03, 0.1, 0.2, 0.5, 0.9, 0.99], 4))
def test_a_damaged_file_is_refused_or_sound(scores: Scores, tmp_path: Path, share: float) -> None:
    """A byte is changed, or the file is cut; polars ends its process over some of these."""
    path = tmp_path / "scores"
    scores.save(path)
    raw = path.read_bytes()
    place = int(share * len(raw))
    flipped = raw[:place] + bytes([raw[place] ^ 0xFF]) + raw[place + 1 :]
    for damaged in (flipped, raw[:place]):
        path.write_bytes(damaged)
        try:
            # A file without its end is refused before a page is decoded, so a process is not needed.
            with nullcontext() if damaged is flipped else one_process():
                back = Scores.load(path)
        except rg.InputError as error:
            told = error.source
        else:
            told = str(path) if damaged is flipped else "a file cut short is taken"
            back.table()
        assert told == str(path)


def test_loading_leaves_the_memory_of_this_process_unbounded(
    scores: Scores, tmp_path: Path
) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_DATA)
    scores.save(tmp_path / "scores")
    with one_process():
        Scores.load(tmp_path / "scores")
    Scores.load(tmp_path / "scores")
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


# What is not saved


def test_what_could_not_be_loaded_is_not_saved(scores: Scores, tmp_path: Path) -> None:
    path = tmp_path / "scores"
    for wrong, message in [
        (scores.select(["q1", "q1"]), "the query 'q1' occurs 2 times"),
        (replace(scores, values=scores.values + 1), "the score 1.5 of run 'one', query 'q1', nDCG"),
        (replace(scores, values=scores.values[0]), r"`values` has shape \(3, 6\)"),
        (replace(scores, present=scores.present.astype(int)), "`present` has shape .* int64"),
        (replace(scores, runs=("one", 2)), "the name of a run is 2, expected text"),
        (replace(scores, relevant=scores.relevant - 9), "-8 relevant documents for query 'q1'"),
        (replace(scores, policies=AppliedPolicies(ties="any")), "the policy ties is 'any'"),
    ]:
        with pytest.raises(rg.InputError, match=message):
            wrong.save(path)
        assert not path.exists()


def test_every_policy_has_a_check() -> None:
    assert set(POLICIES) == {field.name for field in fields(AppliedPolicies)}


def test_scores_are_saved_to_a_pipe(scores: Scores, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("no pipes with names here")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        scores.save(pipe)
    (tmp_path / "scores").write_bytes(read.result())
    with one_process():
        assert_identical(Scores.load(tmp_path / "scores"), scores)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_a_full_device_is_named(scores: Scores) -> None:
    with pytest.raises(rg.InputError, match="/dev/full: cannot be written: No space left"):
        scores.save("/dev/full")


def test_saving_fails_whole_or_not_at_all(scores: Scores, tmp_path: Path) -> None:
    with pytest.raises(rg.InputError, match="cannot be written"):
        scores.save(tmp_path / "no" / "scores")
    (tmp_path / "scores").write_text("kept")
    with (
        mock.patch.object(pl.DataFrame, "write_parquet", side_effect=OSError("disk full")),
        pytest.raises(rg.InputError, match="cannot be written: disk full"),
    ):
        scores.save(tmp_path / "scores")
    assert (tmp_path / "scores").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["scores"]
