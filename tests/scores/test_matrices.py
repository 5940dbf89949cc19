"""Scores without runs: from arrays and CSV files, joined, selected and standardized."""

from __future__ import annotations

import gzip
import math
import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import rankgauge as rg
from profiles import examples
from rankgauge import AP, Scores, nDCG
from rankgauge.core.checks import QuotedText
from rankgauge.core.notes import count_phrase, note_texts
from rankgauge.io import files
from rankgauge.measures import gm

NAN = math.nan
QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RUNS = {"x": {"q1": {"b": 3.0, "a": 1.0}}, "y": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}}

cells = st.floats(-1e100, 1e100) | st.just(NAN)
small = st.integers(-8, 8).map(lambda eighths: eighths / 8) | st.just(NAN)


def tables(
    values: st.SearchStrategy[float], most: int = 5, least: int = 1
) -> st.SearchStrategy[list[list[float]]]:
    """Runs × queries."""
    widths = st.integers(1, most)
    return widths.flatmap(
        lambda width: st.lists(
            st.lists(values, min_size=width, max_size=width), min_size=least, max_size=most
        )
    )


def named(table: list[list[float]], measure: str = "AP") -> Scores:
    return Scores.from_matrix(table, runs=[f"r{i}" for i in range(len(table))], measure=measure)


def same(a: Scores, b: Scores) -> bool:
    return (a.runs, a.queries, a.measures, a.policies, note_texts(a.notes)) == (
        b.runs,
        b.queries,
        b.measures,
        b.policies,
        note_texts(b.notes),
    ) and all(
        np.array_equal(getattr(a, name), getattr(b, name), equal_nan=name != "present")
        for name in ("values", "present", "judged_at_10", "relevant", "nothing_relevant")
    )


# Matrices


@given(tables(cells))
def test_a_matrix_is_the_scores_and_nan_is_a_topic_that_a_run_lacks(
    table: list[list[float]],
) -> None:
    scores = named(table)
    assert np.array_equal(np.asarray(scores)[:, :, 0], table, equal_nan=True)
    assert scores.queries == tuple(str(q) for q in range(1, len(table[0]) + 1))
    lacking = [[math.isnan(value) for value in row] for row in table]
    assert scores.present.tolist() == [[not lacks for lacks in row] for row in lacking]
    assert scores.policies.missing == ("skip" if np.any(lacking) else "zero")


@given(tables(small))
def test_means_are_over_the_topics_that_a_run_has(table: list[list[float]]) -> None:
    means = named(table).mean()
    for r, row in enumerate(table):
        there = [value for value in row if not math.isnan(value)]
        mean = means[f"r{r}"]["AP"]
        if there:
            assert mean == pytest.approx(math.fsum(there) / len(there), abs=1e-12)
        else:
            assert math.isnan(mean)


def test_a_matrix_may_have_several_measures() -> None:
    values = np.arange(12.0).reshape(2, 3, 2)
    values[0, 1] = NAN
    values[1, 2, 0] = NAN
    scores = Scores.from_matrix(
        values, runs=["a", "b"], queries=[301, "302", 303], measure=[AP, "gm(human)"]
    )
    assert scores.queries == ("301", "302", "303")
    assert [str(measure) for measure in scores.measures] == ["AP", 'given("gm(human)")']
    assert scores.present.tolist() == [[True, False, True], [True, True, True]]
    assert np.array_equal(scores.values, values, equal_nan=True)
    assert scores.mean()["b"]["AP"] == 7.0
    assert scores.table().notes == ("AP: 1 query undefined, excluded from the mean",)


def test_the_callers_array_is_copied_and_masks_are_missing() -> None:
    values = np.ma.masked_greater(np.array([[0.5, 9.0]]), 1.0)
    assert Scores.from_matrix(values, runs=["a"], measure=AP).present.tolist() == [[True, False]]
    plain = np.zeros((1, 2))
    Scores.from_matrix(plain, runs=["a"], measure=AP)
    plain[0, 0] = 1.0


@pytest.mark.parametrize(
    ("measure", "meant"),
    [
        ("map", AP),
        (nDCG @ 20, nDCG @ 20),
        ("gm(AP)", gm(AP)),
        ("human rating", rg.measures.given("human rating")),
        ('given("errors", better=lower)', rg.measures.given("errors", better="lower")),
        ("gm(given('x'))", gm(rg.measures.given("x"))),
        ("nDCG@@20", rg.measures.given("nDCG@@20")),
    ],
)
def test_a_measure_is_what_the_language_says_or_any_text(measure: object, meant: object) -> None:
    scores = Scores.from_matrix([[1.0]], runs=["a"], measure=measure)  # type: ignore[arg-type]
    assert scores.measures == (meant,)


def test_what_is_given_has_a_direction_and_no_score_of_its_own() -> None:
    assert (rg.measures.given("x").direction, rg.measures.given("x", better="lower").direction) == (
        "higher",
        "lower",
    )
    with pytest.raises(rg.Unsupported, match="only a name for scores"):
        rg.evaluate(QRELS, RUNS, 'given("human rating")')
    with pytest.raises(rg.Unsupported, match="only a name for scores"):
        rg.evaluate(QRELS, RUNS, rg.measures.lower(rg.measures.given("human rating")))
    for title in ("", " ", "x" * (QuotedText.longest + 1), "'\"", 3):
        with pytest.raises(rg.MeasureError, match="expected a text"):
            rg.measures.given(title)


def test_tables_claim_nothing_that_nobody_said() -> None:
    scores = named([[0.5, NAN], [0.25, 0.75]])
    assert scores.table().columns == ("run", "over", "topics", "missing", "AP")
    assert scores.table().rows == (
        ("r0", "answered", 1, 1, 0.5),
        ("r1", "answered", 2, 0, 0.5),
    )
    assert [row[:3] for row in scores.query_table().rows] == [
        ("r0", "1", 0),
        ("r0", "answered", 0),
        ("r1", "1", 0),
        ("r1", "2", 0),
        ("r1", "answered", 0),
    ]
    assert scores.table().notes == ()
    assert scores.signatures()["AP"] == (
        f"AP(rel=1,norm=R)|source=matrix|missing=skip|rankgauge={rg.__version__}"
    )
    with pytest.raises(rg.RankgaugeError, match="queries are missing from a run, and missing="):
        scores.mean("zero")
    assert named([[0.5, 0.0]]).mean("zero") == {"r0": {"AP": 0.25}}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"values": [1.0, 2.0]}, "1 dimension, expected runs × queries"),
        ({"values": [[[1.0]]]}, "3 dimensions, expected runs × queries"),
        ({"measure": ["AP"]}, "2 dimensions, expected runs × queries × measures"),
        ({"values": [[1.0, 2.0], [3.0]]}, "not a table of numbers"),
        ({"values": [["1", "2"]]}, "not a table of numbers"),
        ({"values": [[1j, 2.0]]}, "not a table of numbers"),
        ({"values": [[10**400, 2.0]]}, "not a table of numbers"),
        ({"values": [[1.0, math.inf]]}, r"at \(0, 1\) is infinite"),
        (
            {"values": [[1.0, -1.1e100]]},
            r"at \(0, 1\), -1.1e\+100, is too large, expected .* 1e\+100",
        ),
        ({"values": [[10**101, 2.0]]}, r"at \(0, 0\), 1e\+101, is too large"),
        ({"values": np.zeros((0, 2))}, "at least one run"),
        ({"values": np.zeros((1, 0))}, "at least one run"),
        ({"runs": ["a", "b"]}, "2 runs named, expected 1"),
        ({"runs": "a"}, "a single string"),
        ({"runs": [None]}, "None is neither text nor"),
        ({"runs": [True]}, "True is neither text nor"),
        ({"queries": ["1", 1]}, "the query '1' appears twice"),
        ({"queries": [1]}, "1 query named, expected 2"),
        ({"measure": "given"}, "no title"),
        ({"measure": "P"}, "needs a cutoff"),
        ({"measure": "'\""}, "expected a text"),
        (
            {"values": [[[1.0, 2.0]]] * 1, "measure": ["AP", "map"], "queries": [1]},
            "'AP' appears twice",
        ),
    ],
)
def test_what_is_no_table_of_scores_is_refused(arguments: dict, message: str) -> None:  # type: ignore[type-arg]
    sound = {"values": [[1.0, 2.0]], "runs": ["a"], "measure": "AP"}
    with pytest.raises(rg.RankgaugeError, match=message):
        Scores.from_matrix(**(sound | arguments))


@given(tables(cells), st.text(max_size=20).filter(str.strip))
@examples(50)
def test_the_file_form_brings_matrices_back(
    tmp_path_factory: pytest.TempPathFactory, table: list[list[float]], title: str
) -> None:
    if "'" in title and '"' in title:
        title = "'"
    path = tmp_path_factory.mktemp("saved") / "scores.json"
    measure = rg.measures.given(title, better="lower")
    scores = Scores.from_matrix(table, runs=range(len(table)), measure=measure)
    scores.save(path)
    with mock.patch.object(sys, "executable", None):  # no process for each of the many files
        assert same(Scores.load(path), scores)


# CSV


def test_a_score_outside_the_range_in_the_long_form_is_refused_with_its_line(
    tmp_path: Path,
) -> None:
    rows = "run,query,measure,value,present\na,1,AP,0.5,true\na,1,DCG@5,7,true\na,2,AP,{},true\n"
    for value in ("1.5", "-0.1", "1e30"):
        message = (
            rf"human.csv:4: {float(value):.12g} in the column 'value', expected AP from 0 to 1"
        )
        with pytest.raises(rg.InputError, match=message.replace("+", r"\+")):
            Scores.from_csv(write(tmp_path, rows.format(value)))
    assert Scores.from_csv(write(tmp_path, rows.format("1.0000000001"))).values[0, 1, 0] > 1


def test_saved_scores_are_not_csv(tmp_path: Path) -> None:
    named([[0.5]]).save(tmp_path / "scores")
    with pytest.raises(rg.InputError, match=r"expected CSV \(Scores.load reads"):
        Scores.from_csv(tmp_path / "scores")


def write(folder: Path, text: str | bytes, name: str = "human.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_column_a_system_and_a_row_a_topic(tmp_path: Path) -> None:
    scores = Scores.from_csv(write(tmp_path, "a,b\n0.5,1\n,-2e-1\nNA,nan\n"))
    assert (scores.runs, scores.queries) == (("a", "b"), ("1", "2", "3"))
    assert scores.measures == (rg.measures.given("human"),)
    expected = [[0.5, NAN, NAN], [1.0, -0.2, NAN]]
    assert np.array_equal(scores.values[:, :, 0], expected, equal_nan=True)
    assert scores.present.tolist() == [[True, False, False], [True, True, False]]


TOPICS = ["topic", "Topics", "topicid", "topic-id", "topic id", " Topic_ID ", "topic_num"]
NUMBERS = ["topic_no", "TOPIC_NUMBER", "query_num", "qnum", "id", "num", "Number", "no"]
QUERIES = ["Query", "query_id", "queryid", "QID", "q_id", "request"]


@pytest.mark.parametrize("head", ["", *TOPICS, *NUMBERS, *QUERIES])
def test_topics_are_named_in_a_column_of_theirs(tmp_path: Path, head: str) -> None:
    text = f'\ufeff{head},"a, b", c\r\n301,1,.2\r\n\r\n302,.3,.4\r\n'
    scores = Scores.from_csv(write(tmp_path, text), "AP")
    assert (scores.runs, scores.queries) == (("a, b", "c"), ("301", "302"))
    assert scores.values[:, :, 0].tolist() == [[1.0, 0.3], [0.2, 0.4]]
    assert scores.measures == (AP,)


@pytest.mark.parametrize("head", ["query-expansion", "topical", "nope", "idf", "topic_model", "q"])
def test_systems_with_names_like_those_of_topics_are_systems(tmp_path: Path, head: str) -> None:
    scores = Scores.from_csv(write(tmp_path, f"{head},b\n.1,.2\n.3,.4\n"), "AP")
    assert (scores.runs, scores.queries) == ((head, "b"), ("1", "2"))


@pytest.mark.parametrize(
    ("text", "measure", "line", "message"),
    [
        ("q,a\n\n.1,.5\n301,.5\n", "AP", 4, "301 in the column 'q', expected AP from 0 to 1; if"),
        ("q,a\n-1,1\n", "gm(AP)", 2, "if this column contains queries, name it query$"),
        (
            "a,b\n1,1.00000001\n",
            "nDCG@5",
            2,
            "^.*: 1.00000001 in the column 'b', expected nDCG@5 from 0 to 1$",
        ),
        ("query,a\n9,7\n", "RR", 2, "7 in the column 'a', expected RR from 0 to 1$"),
        ("a,b\n1,-.1\n", "SearchLength", 2, "expected SearchLength from 0 to inf$"),
    ],
)
def test_what_a_measure_never_gives_is_refused(
    tmp_path: Path, text: str, measure: str, line: int, message: str
) -> None:
    with pytest.raises(rg.InputError, match=message) as refusal:
        Scores.from_csv(write(tmp_path, text), measure)
    assert refusal.value.line == line


def test_scores_at_the_ends_of_the_range_may_be_rounded(tmp_path: Path) -> None:
    scores = Scores.from_csv(write(tmp_path, "a,b\n1.0000000005,NA\n-5e-10,1\n"), "AP")
    assert scores.values[0, :, 0].tolist() == [1.0000000005, -5e-10]
    scores = Scores.from_csv(write(tmp_path, "a\n-1e100\n700\n"), "rating")
    assert scores.values[0, :, 0].tolist() == [-1e100, 700.0]


NOTE = (
    "column 'x' contains only integers, all of them distinct: if these are queries, name the "
    "column query"
)


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("x,a\n301,.5\n302,.5\n303,1\n", True),
        ("x,a,b\n3,1,.5\n2,1,1\n1,2,1.5\n", True),
        ("x,a\n3,NA\n2,3\n1,4\n", True),
        ("x,a\n301,.5\n302,.5\n", False),  # no more than two
        ("x,a\n301,.5\n302,.5\n301,1\n", False),  # not different
        ("x,a\n301,.5\n302.5,.5\n303,1\n", False),
        ("x,a\n301,.5\nNA,.5\n303,1\n", False),
        ("x,a\n3,6\n2,5\n1,4\n", False),  # so is another
        ("a,x\n.5,3\n.5,2\n1,1\n", False),
        ("x\n3\n2\n1\n", False),  # then there would be no system
        ("query,x,a\n1,3,.5\n2,2,.5\n3,1,.5\n", False),
    ],
)
def test_a_system_that_looks_like_topics_is_noted(tmp_path: Path, text: str, noted: bool) -> None:
    scores = Scores.from_csv(write(tmp_path, text))
    assert note_texts(scores.notes) == ((NOTE,) if noted else ())
    assert "x" in scores.runs


def test_compressed_files_are_read_and_named_without_their_endings(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress(b"a\n1\n"), "adhoc8_ap.csv.gz")
    assert Scores.from_csv(path).measures == (rg.measures.given("adhoc8_ap"),)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", None, "is empty"),
        ("\n\n", None, "is empty"),
        ("query\n1\n", 1, "no systems"),
        ("a,b\n", 1, "no queries"),
        ("a,b\n1\n", 2, "1 cell, expected 2"),
        ("a,b\n1,2\n\n1,2,3\n", 4, "3 cells, expected 2"),
        ("a,\n1,2\n", 1, "column 2 has no name"),
        ("a,b, a\n1,2,3\n", 1, "the system 'a' has two columns"),
        ("query,a,b,b\n1,2,3,4\n", 1, "the system 'b' has two columns"),
        ("query,query\n1,2\n1,3\n", 3, "the query '1' has two rows, the first on line 2"),
        ("query,a\n ,2\n", 2, "a query without an id"),
        ("a\n1\nx\n", 3, "'x' is not a score"),
        ("a\n1_0\n", 2, "'1_0' is not a score"),
        ("a\n١\n", 2, "is not a score"),
        ("a\n0x1\n", 2, "is not a score"),
        ("a\ninf\n", 2, "'inf' is not a score"),
        ("a\n1e999\n", 2, "'1e999' is too large"),
        ("a\n1\n-1e101\n", 3, r"'-1e101' is too large, expected a magnitude of at most 1e\+100"),
        ("query;a;b\n1;2;3\n", 1, "one cell that contains ';', expected cells separated by commas"),
        ("query\ta\n1\t2\n", 1, r"one cell that contains '\\t', expected cells separated by"),
        ("a\n" + "9" * 100_000 + "x\n", 2, "…' is not a score"),
        ("a\n" + "9" * 200_000 + "\n", 2, "not CSV"),
        ("a\n1\n\0\n", 3, "a NUL byte"),
        (b"a\n1\n\xff\n", 3, "not UTF-8"),
        ("a\n1\n".encode("utf-16"), 1, "a NUL byte"),
        ('a\n"1\n', 2, "not CSV"),
        ('a\n"1"2\n', 2, "not CSV"),
        ("run,query,measure,value,present\n", 1, "no scores"),
        ("run,query,measure,value,present\na,1,AP,1\n", 2, "4 cells, expected 5"),
        ("run,query,measure,value,present\na,1,AP,1,maybe\n", 2, "expected true or false"),
        ("run,query,measure,value,present\na,1,AP,x,true\n", 2, "is not a score"),
        (
            "run,query,measure,value,present\n" + "a,1,AP,1,true\n" * 2,
            3,
            "duplicate row for this query",
        ),
        (
            "run,query,measure,value,present\na,1,AP,1,true\na,1,RR,1,false\n",
            3,
            "present is both true and false",
        ),
        (
            "run,query,measure,value,present\na,1,AP,1,true\na,1,map,1,true\n",
            3,
            "one measure has two names",
        ),
        ("run,query,measure,value,present\na,1,P,1,true\n", 2, "needs a cutoff"),
        (
            "run,query,measure,value,present\n"
            + "".join(f"{i},{i},m{i},1,true\n" for i in range(300)),
            301,
            "300 × 300 × 300 runs",
        ),
    ],
)
def test_faults_are_named_with_their_line(
    tmp_path: Path, text: str | bytes, line: int | None, message: str
) -> None:
    with pytest.raises(rg.InputError, match=message) as refusal:
        Scores.from_csv(write(tmp_path, text))
    assert (refusal.value.source, refusal.value.line) == (str(tmp_path / "human.csv"), line)
    assert len(str(refusal.value)) < 300


def test_long_rows_have_their_measures_and_size_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path, "run,query,measure,value,present\na,1,AP,1,true\n")
    with pytest.raises(rg.InputError, match="omit measure="):
        Scores.from_csv(path, "AP")
    with pytest.raises(rg.InputError, match="cannot be read"):
        Scores.from_csv(tmp_path / "nothing.csv")
    monkeypatch.setattr(files.open_content, "__kwdefaults__", {"limit": 10})
    monkeypatch.setattr(files.read_bytes, "__kwdefaults__", {"limit": 10})
    with pytest.raises(rg.InputError, match="more than 10 bytes"):
        Scores.from_csv(path)


@given(st.binary(max_size=60) | st.text('ab,\n\r" 1.eE+-NAtopic\0', max_size=60).map(str.encode))
@example(b"query,a,b\n1,.5,1\n")
def test_no_bytes_crash_the_reader(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "any.csv"
    path.write_bytes(content)
    try:
        scores = Scores.from_csv(path)
    except rg.InputError:
        return
    assert scores.values.shape == (len(scores.runs), len(scores.queries), 1)


texts = st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=6)
names = st.lists(texts, min_size=3, max_size=3, unique=True)


@given(tables(cells, most=3), names, names, st.booleans())
@examples(60)
def test_what_write_csv_wrote_is_read_back(
    tmp_path_factory: pytest.TempPathFactory,
    table: list[list[float]],
    runs: list[str],
    queries: list[str],
    zero: bool,
) -> None:
    """Whatever the names; queries that the first runs lack come later, and lone runs not at all."""
    values = np.array(table)
    if zero:
        values = np.nan_to_num(values)
    scores = Scores.from_matrix(
        np.stack([values, values / 2], axis=2),
        runs=runs[: len(table)],
        queries=queries[: len(table[0])],
        measure=["human", 'say "x", y'],
    )
    path = tmp_path_factory.mktemp("long") / "scores.csv.gz"
    scores.write_csv(path)
    if not scores.present.any():
        with pytest.raises(rg.InputError, match="no scores"):
            Scores.from_csv(path)
        return
    back = Scores.from_csv(path)
    kept = scores.select(back.queries, runs=back.runs)
    assert scores.present[[run not in back.runs for run in scores.runs]].sum() == 0
    assert np.array_equal(np.asarray(back), np.asarray(kept), equal_nan=True)
    assert np.array_equal(back.present, kept.present)
    assert back.measures == kept.measures
    assert back.policies.missing == ("zero" if kept.present.all() else "skip")
    if scores.present.all():
        assert same(back, scores)


def test_topics_scored_as_empty_rankings_are_read_back_as_such(tmp_path: Path) -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "nDCG@10"])
    scores.write_csv(tmp_path / "scores.csv")
    back = Scores.from_csv(tmp_path / "scores.csv")
    assert np.array_equal(back.values, scores.values)
    assert back.present.tolist() == scores.present.tolist() == [[True, False], [True, True]]
    assert back.mean() == scores.mean()
    assert back.mean("skip") == scores.mean("skip")


@pytest.mark.parametrize(
    ("collection", "systems"), [("adhoc5", 61), ("adhoc6", 74), ("adhoc7", 103), ("adhoc8", 129)]
)
@pytest.mark.parametrize("measure", ["ap", "p10", "rr"])
def test_published_tables_of_topics_and_systems(
    real_data: Callable[[str], Path], collection: str, systems: int, measure: str
) -> None:
    path = real_data("trec-topic-scores") / f"{collection}_{measure}.csv"
    scores = Scores.from_csv(path)
    assert scores.values.shape == (systems, 50, 1)
    assert scores.present.all()
    assert scores.runs[-1] == f"run{systems}"
    assert ((scores.values >= 0) & (scores.values <= 1)).all()
    last = [float(cell) for cell in path.read_text().splitlines()[-1].split(",")]
    assert scores.values[:, -1, 0].tolist() == last


# Selecting and joining


def test_runs_and_measures_are_selected_by_name() -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "nDCG@10", "P@5"])
    chosen = scores.select(["q2"], runs=["y", "x"], measures=["ndcg_cut_10", AP])
    assert (chosen.runs, chosen.queries) == (("y", "x"), ("q2",))
    assert chosen.measures == (nDCG @ 10, AP)
    for run, of_run in chosen.per_query().items():
        for query, scored in of_run.items():
            assert scored == {
                name: scores.per_query()[run][query][name] for name in ("nDCG@10", "AP")
            }
    assert scores.select(runs="x", measures="AP").values.shape == (1, 2, 1)
    assert same(scores.select(), scores)
    with pytest.raises(rg.RankgaugeError, match=r"no scores for run 'z'; `.runs` lists them"):
        scores.select(runs=["z"])
    with pytest.raises(rg.RankgaugeError, match=r"measure 'nDCG@11'; did you mean 'nDCG@10'\?"):
        scores.select(measures=["nDCG@11"])
    with pytest.raises(rg.RankgaugeError, match="the same run is requested twice"):
        scores.select(runs=["x", "x"])


def test_scores_by_other_measures_are_joined_by_name() -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "P@5"])
    ratings = Scores.from_matrix(
        [[1.0, 2.0], [3.0, 4.0]], runs=["y", "x"], queries=["q2", "q1"], measure="rating"
    )
    both = scores.joined(ratings)
    assert (both.runs, both.queries) == (scores.runs, scores.queries)
    assert [str(measure) for measure in both.measures] == ["AP", "P@5", 'given("rating")']
    assert both.values[:, :, 2].tolist() == [[4.0, 3.0], [2.0, 1.0]]
    assert np.array_equal(both.values[:, :, :2], scores.values)
    assert both.table().columns[4:6] == ("no relevant", "judged@10")
    assert both.signatures()["AP"].startswith("AP(rel=1,norm=R)|source=joined|missing=zero|")
    assert note_texts(both.notes) == (*scores.signatures().values(), *ratings.signatures().values())
    assert both.policies.max_grade == 2
    assert same(scores.joined(), scores)


def test_what_is_left_out_of_a_mean_stays_left_out_when_ratings_are_joined() -> None:
    scores = rg.evaluate(QRELS, RUNS, "AP", missing="skip")
    ratings = Scores.from_matrix(
        [[1.0, 2.0], [3.0, 4.0]], runs=["x", "y"], queries=["q1", "q2"], measure="rating"
    )
    both = scores.joined(ratings)
    assert both.mean()["x"] == {"AP": 0.5, 'given("rating")': 1.5}
    assert both.table(notes=False).notes == ("AP: 1 query undefined, excluded from the mean",)


def test_parts_that_were_scored_alike_join_to_the_whole() -> None:
    whole = rg.evaluate(QRELS, RUNS, ["AP", "P@5", "nDCG@10"])
    parts = [whole.select(measures=[measure]) for measure in whole.measures]
    shuffled = [part.select(["q2", "q1"], runs=["y", "x"]) for part in parts[1:]]
    assert same(parts[0].joined(*shuffled), whole)
    others = rg.evaluate({"q1": {"a": 1}, "q2": {"c": 0}}, RUNS, "P@1")
    assert not parts[0].joined(others).judgments_known


@given(tables(small, most=3), st.data())
def test_a_topic_is_there_where_any_of_the_joined_has_it(
    table: list[list[float]], data: st.DataObject
) -> None:
    cell = st.lists(small, min_size=len(table[0]), max_size=len(table[0]))
    other = data.draw(st.lists(cell, min_size=len(table), max_size=len(table)))
    one, two = named(table, "AP"), named(other, "rating")
    both = one.joined(two)
    assert np.array_equal(np.asarray(both)[:, :, 0], table, equal_nan=True)
    assert np.array_equal(np.asarray(both)[:, :, 1], other, equal_nan=True)
    assert np.array_equal(both.present, one.present | two.present)
    for run, means in both.mean().items():
        assert repr(means["AP"]) == repr(one.mean()[run]["AP"])
        assert repr(means["given('rating')"]) == repr(two.mean()[run]["given('rating')"])


def test_what_does_not_belong_together_is_not_joined() -> None:
    scores = named([[1.0, 2.0]])
    for other, message in [
        (
            Scores.from_matrix([[1.0, 2.0]], runs=["z"], measure="RR"),
            "^the run 'r0' is not in all of the scores, expected the same runs and queries in each$",
        ),
        (
            Scores.from_matrix([[1.0]], runs=["r0"], measure="RR"),
            "^the query '2' is not in all of the scores, expected the same runs and queries in each$",
        ),
        (scores, "measure 'AP' appears twice"),
    ]:
        with pytest.raises(rg.RankgaugeError, match=message):
            scores.joined(other)
    skipped = named([[1.0, NAN]], "RR")
    empty = Scores.from_matrix([[1.0, 0.0]], runs=["r0"], measure="nDCG")
    empty = replace(empty, present=np.array([[True, False]]))
    with pytest.raises(rg.RankgaugeError, match="0 in some of the scores and are excluded"):
        skipped.joined(empty)


# Standardization


def by_definition(kind: str, value: float, known: list[float]) -> float:
    if math.isnan(value):
        return NAN
    there = [x for x in known if not math.isnan(x)]
    if kind == "empirical":
        return sum(x <= value for x in there) / len(there)
    alike = len(set(there)) == 1
    z = 0.0 if alike else (value - statistics.fmean(there)) / statistics.stdev(there)
    return z if kind == "z" else statistics.NormalDist().cdf(z)


@pytest.mark.parametrize("kind", ["normal", "z", "empirical"])
@given(table=tables(small, least=2))
def test_scores_are_standardized_by_topic(kind: str, table: list[list[float]]) -> None:
    scores = named(table)
    found = scores.standardized(kind=kind)  # type: ignore[arg-type]
    for q, column in enumerate(zip(*table, strict=True)):
        expected = [by_definition(kind, value, list(column)) for value in column]
        np.testing.assert_allclose(found.values[:, q, 0], expected, rtol=0, atol=1e-12)
    assert np.array_equal(found.present, scores.present)
    assert found.policies.standardized == f"{kind}({len(table)} runs)"
    flat = sum(len({x for x in column if x == x}) < 2 for column in zip(*table, strict=True))
    assert len(found.notes) == (flat > 0)
    assert (
        not flat or f"score the same on {count_phrase(flat, 'query')}" in note_texts(found.notes)[0]
    )


@pytest.mark.parametrize("kind", ["normal", "z", "empirical"])
@given(table=tables(small, most=3), data=st.data())
def test_scores_are_set_against_the_runs_of_a_reference(
    kind: str, table: list[list[float]], data: st.DataObject
) -> None:
    row = st.lists(small, min_size=len(table[0]), max_size=len(table[0]))
    known = [*data.draw(st.lists(row, min_size=1, max_size=4)), [0.0] * len(table[0])]
    other = Scores.from_matrix(
        np.array(known)[:, ::-1],
        runs=range(len(known)),
        queries=range(len(table[0]), 0, -1),
        measure="AP",
    )
    found = named(table).standardized(other, kind=kind)  # type: ignore[arg-type]
    for q, column in enumerate(zip(*table, strict=True)):
        against = [line[q] for line in known]
        expected = [by_definition(kind, value, against) for value in column]
        np.testing.assert_allclose(found.values[:, q, 0], expected, rtol=0, atol=1e-12)


def test_equal_scores_do_not_differ_however_they_are_rounded() -> None:
    scores = named([[0.1, 0.1], [0.1, 0.1], [0.1, 0.2]])
    found = scores.standardized(kind="z")
    assert found.values[:, 0, 0].tolist() == [0.0, 0.0, 0.0]
    assert note_texts(found.notes) == (
        "AP: all runs score the same on 1 query, so the standard deviation is 0 there",
    )
    assert named([[1e-300], [2e-300]]).standardized(kind="z").values[1, 0, 0] == pytest.approx(
        math.sqrt(0.5)
    )
    with pytest.raises(rg.RankgaugeError, match="vary too much"):
        named([[1e100]]).standardized(named([[1e-300], [2e-300]]))


def test_scores_that_differ_by_rounding_alone_are_equal() -> None:
    third = 0.1 + 0.2
    assert third != 0.3
    scores = named([[0.3, 0.1], [third, 0.2], [0.3, 0.5]])
    for kind, alike in [("z", 0.0), ("normal", 0.5), ("empirical", 1.0)]:
        found = scores.standardized(kind=kind)  # type: ignore[arg-type]
        assert found.values[:, 0, 0].tolist() == [alike] * 3
        assert len(set(found.values[:, 1, 0])) == 3
        assert note_texts(found.notes) == (
            "AP: all runs score the same on 1 query, so the standard deviation is 0 there",
        )
    lower = named([[0.3], [third], [0.1], [0.8]]).standardized(kind="empirical")
    assert lower.values[:, 0, 0].tolist() == [0.75, 0.75, 0.25, 1.0]
    apart = named([[0.3], [0.3 + 1e-11], [0.3]]).standardized(kind="empirical")
    assert apart.values[:, 0, 0].tolist() == [2 / 3, 1.0, 2 / 3]
    tiny = named([[3e-200], [third * 1e-199], [1e-200]]).standardized(kind="empirical")
    assert tiny.values[:, 0, 0].tolist() == [1.0, 1.0, 1 / 3]


def test_standardized_scores_say_so(tmp_path: Path) -> None:
    scores = rg.evaluate(QRELS, RUNS, ["AP", "gm(P@1)"], missing="skip").standardized()
    assert scores.table().notes[-1] == "scores standardized by query: normal(2 runs)"
    assert "|missing=skip|max_grade=2|standardized=normal(2 runs)|" in scores.signatures()["AP"]
    assert [row[:2] for row in scores.table().rows] == [("x", "answered"), ("y", "answered")]
    scores.save(tmp_path / "scores.json")
    assert same(Scores.load(tmp_path / "scores.json"), scores)


def test_what_cannot_be_standardized_is_refused() -> None:
    scores = named([[1.0, 2.0], [3.0, NAN]])
    for wrong, message in [
        (lambda: scores.standardized(kind="uniform"), "expected one of normal, z, empirical"),  # type: ignore[arg-type]
        (lambda: scores.select(runs="r0").standardized(), "at least two"),
        (lambda: scores.standardized().standardized(), "already standardized"),
        (lambda: scores.standardized(scores.standardized()), "already standardized"),
        (
            lambda: scores.standardized(scores.select(["1"])),
            "reference= does not have all .* query '2'",
        ),
        (
            lambda: scores.standardized(named([[1.0, 2.0]] * 2, "RR")),
            "does not have all .* measure 'AP'",
        ),
        (
            lambda: scores.standardized(named([[1.0, NAN]] * 2)),
            "no run of the reference has a score on query '2' by AP",
        ),
        (
            lambda: named([[1.0], [2.0]], "gm(AP)").standardized(kind="z"),
            "scores of 0 or more",
        ),
    ]:
        with pytest.raises(rg.RankgaugeError, match=message):
            wrong()


def test_standardized_tables_of_many_systems(real_data: Callable[[str], Path]) -> None:
    scores = Scores.from_csv(real_data("trec-topic-scores") / "adhoc8_ap.csv", "AP")
    z = scores.standardized(kind="z").values[:, :, 0]
    np.testing.assert_allclose(z.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(z.std(axis=0, ddof=1), 1.0, atol=1e-12)
    normal = scores.standardized()
    assert normal.policies.standardized == "normal(129 runs)"
    assert ((normal.values > 0) & (normal.values <= 1)).all()  # 8.4 sd rounds to 1
    order = np.argsort(scores.values, axis=0, kind="stable")
    assert (np.diff(np.take_along_axis(normal.values, order, axis=0), axis=0) >= 0).all()
