"""Texts and ratings in files: every form that people have, and files that are wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.errors import InputError
from rankgauge.text.data.files import read_texts
from rankgauge.text.data.texts import Texts
from rankgauge.text.human.ratings import read_ratings

LINES = [
    {"id": "t1", "source": "a b c", "references": ["a b", "b"], "outputs": {"x": "a", "y": ""}},
    {"id": 2, "source": "d e", "reference": "d", "outputs": {"x": None, "z": "d, e"}},
]
CSV = """id,system,output,source,reference,reference_2
t1,x,a,a b c,a b,b
t1,y,,,,
2,z,"d, e",d e,d,
"""
BY_ID = {
    "t1": {
        "src": "a b c",
        "ref_summs": ["b", "a b"],
        "ref_summ": "a b",
        "sys_summs": {
            "x": {"sys_summ": "a", "scores": {"coherence": 1.5}},
            "y": {"sys_summ": "", "scores": {"coherence": 4}},
        },
    },
    "2": {
        "src": "d e",
        "ref_summ": "d",
        "sys_summs": {"z": {"sys_summ": "d, e", "scores": {"coherence": 2, "fluency": None}}},
    },
}


def jsonl(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def file(tmp_path: Path) -> Callable[[str | bytes], Path]:
    """Writes a file with this content."""

    def write(content: str | bytes) -> Path:
        path = tmp_path / "texts"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def everything(texts: Texts) -> tuple[object, ...]:
    return texts.ids, texts.sources, texts.references, dict(texts.outputs)


WANTED = (
    ("t1", "2"),
    ("a b c", "d e"),
    (("a b", "b"), ("d",)),
    {"x": ("a", None), "y": ("", None), "z": (None, "d, e")},
)

FORMS = {
    "lines": jsonl(*LINES),
    "blank lines": "\n\n" + "\n \n".join(jsonl(*LINES).splitlines()),
    "list": json.dumps(LINES, indent=2),
    "csv": CSV,
    "tsv": CSV.replace('"d, e"', "d; e").replace(",", "\t").replace("; ", ", "),
    "semicolons": CSV.replace('"d, e"', "d# e").replace(",", ";").replace("#", ","),
    "names in capitals": CSV.replace("id,system", "ID,System"),
    "reference2": CSV.replace("reference_2", "reference2"),
    "source on a later row": CSV.replace("t1,x,a,a b c,", "t1,x,a,,").replace(
        "t1,y,,,", "t1,y,,a b c,"
    ),
    "by id": json.dumps(BY_ID),
    "by id, indented": json.dumps(BY_ID, indent=1),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("how", ["plain", "bom", "crlf", "gzip"])
def test_each_form_holds_the_same_texts(
    form: str, how: str, file: Callable[[str | bytes], Path]
) -> None:
    raw = FORMS[form].encode()
    if how == "crlf":
        raw = raw.replace(b"\n", b"\r\n")
    raw = {"bom": b"\xef\xbb\xbf" + raw, "gzip": gzip.compress(raw)}.get(how, raw)
    assert everything(read_texts(file(raw))) == WANTED


def test_texts_may_lack_a_source(file: Callable[[str | bytes], Path]) -> None:
    line = {"id": "1", "references": "a", "outputs": {"x": "b"}}
    assert read_texts(file(jsonl(line))).sources == ("",)
    assert read_texts(file("id,system,output,reference\n1,x,b,a\n")).sources == ("",)


WORDS = st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0"), max_size=12)
NAMES = st.sampled_from(["x", "y", "system 3", "é", "a,b", '"q"'])


@st.composite
def written_texts(draw: st.DrawFn) -> Texts:
    """Texts of which each has a source, a reference and an output that are not blank."""
    solid = WORDS.filter(lambda text: bool(text.strip()))
    ids = draw(st.lists(solid.map(str.strip), min_size=1, max_size=4, unique=True))
    systems = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    return Texts(
        [draw(solid) for _ in ids],
        [draw(st.lists(solid, min_size=1, max_size=3)) for _ in ids],
        {system: [draw(WORDS) for _ in ids] for system in systems},
        ids,
    )


@examples(100)
@given(written_texts())
def test_texts_survive_the_way_through_a_file(
    tmp_path_factory: pytest.TempPathFactory, texts: Texts
) -> None:
    path = tmp_path_factory.getbasetemp() / "written"
    lines = [
        {
            "id": name,
            "source": texts.sources[t],
            "references": texts.references[t],
            "outputs": {system: texts.outputs[system][t] for system in texts.systems},
        }
        for t, name in enumerate(texts.ids)
    ]
    path.write_text(jsonl(*lines), encoding="utf-8")
    assert everything(read_texts(path)) == everything(texts)
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, quoting=csv.QUOTE_ALL)
    most = max(map(len, texts.references))
    writer.writerow(
        ["id", "system", "output", "source", *(f"reference_{n}" for n in range(1, most + 1))]
    )
    for t, name in enumerate(texts.ids):
        references = [*texts.references[t], *[""] * (most - len(texts.references[t]))]
        for system in texts.systems:
            output = texts.outputs[system][t]
            writer.writerow([name, system, output, texts.sources[t], *references])
    path.write_bytes(stream.getvalue().encode())
    assert everything(read_texts(path)) == everything(texts)


GOOD = {"id": "1", "source": "s", "references": ["r"], "outputs": {"x": "o"}}


def changed(**values: Any) -> str:
    return jsonl({**GOOD, "id": "0"}, {**GOOD, **values})


def without(*keys: str) -> str:
    kept = {key: value for key, value in GOOD.items() if key not in keys}
    return jsonl({**GOOD, "id": "0"}, kept)


HEADER = "id,system,output,reference\n"
WRONG: dict[str, tuple[str | bytes, str]] = {
    "empty": ("", "is empty, expected JSON Lines"),
    "blank": (" \n\n ", "is empty"),
    "utf-16": (jsonl(GOOD).encode("utf-16"), "UTF-16 text, expected UTF-8"),
    "no id": (without("id"), "texts:2: no id .the keys are source"),
    "no references": (without("references"), "texts:2: no references .the keys are id, source"),
    "no outputs": (without("outputs"), "texts:2: no outputs, expected"),
    "both": (changed(reference="r"), "references and reference"),
    "empty list": (changed(references=[]), "an empty list of references"),
    "id twice": (changed(id="0"), r"texts:2: the id '0' again \(first on line 1\)"),
    "number and text": (changed(id=0), "the id '0' again"),
    "id a list": (changed(id=["1"]), "the id is a JSON list, expected text"),
    "id true": (changed(id=True), "the id is true"),
    "id NaN": (changed(id=float("nan")), "the id is NaN"),
    "id blank": (changed(id=" "), "the id is empty"),
    "source a number": (changed(source=1.5), "texts:2: the source is 1.5, expected text"),
    "reference a number": (changed(references=["r", 3]), "the reference is 3"),
    "output a list": (changed(outputs={"x": ["o"]}), "the output of 'x' is a JSON list"),
    "output NaN": (changed(outputs={"x": float("nan")}), "the output of 'x' is NaN"),
    "outputs a list": (changed(outputs=["o"]), "no outputs, expected"),
    "system blank": (changed(outputs={" ": "o"}), "the name of a system is empty"),
    "no system": (jsonl({**GOOD, "outputs": {}}), "no outputs, expected those of at least one"),
    "half a character": (changed(source="\ud83d"), r"half a character, \\ud83d"),
    "half in an id": (changed(id="\udc00"), "the id contains half a character"),
    "half in a system": (changed(outputs={"\udc00": "o"}), "half a character"),
    "key twice": (
        '{"id": "1", "id": "2", "references": "r", "outputs": {"x": "o"}}',
        "texts:1: the key 'id' twice",
    ),
    "system twice": (
        '{"id": "1", "references": "r", "outputs": {"x": "o", "x": "p"}}',
        "the system 'x' twice",
    ),
    "not an object": (jsonl(GOOD, [1]), "texts:2: a JSON list, expected an object"),
    "item not an object": ("[1]", "item 1 of the list: 1, expected an object"),
    "empty array": ("[]", "no texts, expected"),
    "broken": (jsonl(GOOD) + '{"id": "2", "source"', "texts:2: not JSON"),
    "not utf-8": (
        jsonl(GOOD).encode() + b'{"id": "\xff"}',
        "texts:2: not JSON .bytes that are not",
    ),
    "deep": ('{"id": ' + "[" * 200_000, "nested too deeply|not JSON"),
    "deep later": (jsonl(GOOD) + '{"id": ' + "[" * 200_000, "texts:2: not JSON"),
    "truncated gzip": (gzip.compress(jsonl(GOOD).encode() * 50)[:-20], "damaged or truncated gzip"),
    "text": ("hello world", "a first line with hello world, expected JSON Lines"),
    "other columns": ("query,run,text\n1,x,o\n", "a first line with query, run, text, expected"),
    "no output column": ("id,system,reference\n1,x,r\n", "no column output .there are id, system"),
    "no reference column": ("id,system,output\n1,x,o\n", "no column reference"),
    "header alone": (HEADER, "no texts"),
    "column twice": ("id,system,output,output,reference\n", "two columns are called 'output'"),
    "column without name": ("id,system,output,,reference\n", "column 4 has no name"),
    "too few cells": (HEADER + "1,x,o,r\n\n1,y\n", "texts:4: 2 cells, expected 4"),
    "too many cells": (HEADER + "1,x,o, and more,r\n", "texts:2: more than 4 cells"),
    "open quote": (HEADER + '1,x,"o,r\n', "texts:2: .*never closed"),
    "after a quote": (HEADER + '1,x,"o"o,r\n', "texts:2: text after a closing quote"),
    "nul": (HEADER + "1,x,o\0,r\n", "texts:2: binary data"),
    "latin-1": (
        HEADER.encode() + b"1,x,\xe9,r\n",
        "texts:2: the output contains bytes that are not",
    ),
    "output twice": (
        HEADER + "1,x,o,r\n\n1,x,p,r\n",
        r"texts:4: a second output of 'x' for the same id \(first on line 2\)",
    ),
    "another reference": (
        HEADER + "1,x,o,r\n1,y,p,q\n",
        r"texts:3: not the same reference as .* \(first on line 2\)",
    ),
    "reference empty": (HEADER + "1,x,o,\n", "texts:2: the text '1' has no reference"),
    "system empty": (HEADER + "1,,o,r\n", "the system is empty"),
    "summaries a list": (
        json.dumps({"1": {"ref_summ": "r", "sys_summs": []}}),
        "text '1': no sys_summs, expected",
    ),
    "summary a text": (
        json.dumps({"1": {"ref_summ": "r", "sys_summs": {"x": "o"}}}),
        "text '1': the system 'x' has no object",
    ),
    "no ref_summ": (
        json.dumps({"1": {"sys_summs": {"x": {"sys_summ": "o"}}}}),
        "text '1': no references, expected ref_summ",
    ),
    "later text a number": (
        json.dumps({"1": {"ref_summ": "r", "sys_summs": {}}, "2": 7}),
        "text '2': 7, expected an object",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_refused_with_the_place_and_the_fault(
    name: str, file: Callable[[str | bytes], Path]
) -> None:
    content, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        read_texts(file(content))


def test_a_missing_file_and_a_small_limit_are_refused(
    tmp_path: Path, file: Callable[[str | bytes], Path]
) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_texts(tmp_path / "none")
    with pytest.raises(InputError, match="more than 10 bytes"):
        read_texts(file(jsonl(GOOD)), size_limit=10)


@pytest.mark.parametrize("read", [read_texts, read_ratings])
@examples(300)
@given(
    form=st.sampled_from(sorted(FORMS)),
    cuts=st.lists(
        st.tuples(st.integers(0, 400), st.integers(0, 6), st.binary(max_size=4)), max_size=3
    ),
)
def test_a_damaged_file_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    read: Callable[[Path], object],
    form: str,
    cuts: list[tuple[int, int, bytes]],
) -> None:
    raw = FORMS[form].encode()
    for at, length, new in cuts:
        raw = raw[:at] + new + raw[at + length :]
    path = tmp_path_factory.getbasetemp() / "damaged"
    path.write_bytes(raw)
    refusal = ""
    try:
        read(path)
    except InputError as error:
        refusal = str(error)
    assert not refusal or "expected" in refusal


def test_long_texts_and_many_rows_take_little_time(file: Callable[[str | bytes], Path]) -> None:
    start = time.process_time()
    long = "word " * 200_000
    texts = read_texts(file(jsonl({**GOOD, "source": long})))
    assert texts.sources == (long,)
    texts = read_texts(file(f'{HEADER}1,x,"{long}",r\n1,y,{long},r\n'))
    assert texts.outputs == {"x": (long,), "y": (long.strip(),)}
    rows = "".join(f"{n},x,o,r\n" for n in range(30_000))
    assert len(read_texts(file(HEADER + rows))) == 30_000
    assert time.process_time() - start < 20


@pytest.mark.parametrize("form", ["csv", "lines"])
def test_a_file_that_would_make_a_huge_empty_table_is_refused(
    form: str, file: Callable[[str | bytes], Path]
) -> None:
    count = 5_000
    if form == "csv":
        content = HEADER + "".join(f"{n},s{n},o,r\n" for n in range(count))
    else:
        content = jsonl(*({**GOOD, "id": n, "outputs": {f"s{n}": "o"}} for n in range(count)))
    with pytest.raises(InputError, match="only 5,000 rows for 5,000 texts × 5,000 systems"):
        read_texts(file(content))
    ratings = "id,system,coherence\n" + "".join(f"{n},s{n},1\n" for n in range(count))
    with pytest.raises(InputError, match="only 5,000 rows"):
        read_ratings(file(ratings))
    many = jsonl(*({"id": 1, "system": "x", f"d{n}": 1} for n in range(count)))
    with pytest.raises(InputError, match="only 5,000 rows for 5,000 ratings × 5,000 dimensions"):
        read_ratings(file(many))


# Ratings

RATINGS = """id,system,annotator,coherence,fluency
1,x,ann,2,4
1,x,bob,3,NA
1,y,ann,5,1
2,x,bob,1,
"""


def rated(path: Path, texts: Texts | None = None) -> Mapping[str, Any]:
    ratings = read_ratings(path, texts)
    return {
        (system, text): ratings.scores.values[s, t].tolist()
        for s, system in enumerate(ratings.scores.runs)
        for t, text in enumerate(ratings.scores.queries)
    }


@pytest.mark.parametrize("form", ["csv", "lines"])
def test_ratings_are_means_over_annotators(form: str, file: Callable[[str | bytes], Path]) -> None:
    content = RATINGS
    if form == "lines":
        rows = list(csv.DictReader(io.StringIO(RATINGS)))
        content = jsonl(
            *(
                {
                    key: float(value) if value.isdigit() and key != "id" else value or None
                    for key, value in row.items()
                }
                for row in rows
            )
        )
    ratings = read_ratings(file(content))
    assert ratings.dimensions == ("coherence", "fluency")
    assert ratings.annotators == ("ann", "bob")
    assert ratings.scores.runs == ("x", "y")
    assert ratings.scores.queries == ("1", "2")
    nan = np.nan
    np.testing.assert_array_equal(
        ratings.scores.values, [[[2.5, 4], [1, nan]], [[5, 1], [nan, nan]]]
    )
    assert ratings.table().rows == (
        ("coherence", 2.75, 1.0, 5.0, 4, 3),
        ("fluency", 2.5, 1.0, 4.0, 2, 2),
    )


@examples(60)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("123"), st.sampled_from("xyz"), st.sampled_from([None, 1, 2, 3, 4, 5])
        ),
        min_size=1,
        max_size=30,
    ).filter(lambda rows: any(value is not None for *_, value in rows))
)
def test_means_of_ratings_equal_means_by_hand(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str, int | None]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "ratings"
    body = "".join(f"{text},{system},{'' if v is None else v}\n" for text, system, v in rows)
    path.write_text("id,system,quality\n" + body)
    for (system, text), (mean,) in rated(path).items():
        own = [v for t, s, v in rows if (t, s) == (text, system) and v is not None]
        assert mean == pytest.approx(sum(own) / len(own) if own else np.nan, nan_ok=True)


def test_ratings_stand_beside_texts_in_summeval_and_in_csv(
    file: Callable[[str | bytes], Path],
) -> None:
    ratings = read_ratings(file(json.dumps(BY_ID)))
    assert ratings.dimensions == ("coherence", "fluency")
    assert ratings.annotators == ()
    assert ratings.scores.mean()["y"]['given("coherence")'] == 4
    table = "id,system,output,reference,quality\n1,x,o,r,3\n"
    assert read_ratings(file(table)).dimensions == ("quality",)
    assert len(read_texts(file(table))) == 1


def test_ratings_of_other_texts_and_systems_are_counted(
    file: Callable[[str | bytes], Path],
) -> None:
    texts = Texts(None, {"2": "r", "1": "r"}, {"y": {}, "x": {}})
    content = RATINGS + "9,x,ann,1,1\n1,q,ann,1,1\n9,q,ann,1,1\n"
    ratings = read_ratings(file(content), texts)
    assert ratings.scores.runs == ("y", "x")
    assert ratings.scores.queries == ("2", "1")
    assert [str(note) for note in ratings.notes] == [
        "ratings of unknown texts, ignored: 2",
        "ratings of unknown systems, ignored: 1",
    ]
    other = Texts(None, {"7": "r"}, {"x": {}})
    with pytest.raises(InputError, match=r"none is about these texts and systems \(7 ratings of"):
        read_ratings(file(content), other)


WRONG_RATINGS = {
    "no dimension": ("id,system,annotator\n1,x,a\n", "no column with ratings"),
    "no system": (jsonl({"id": 1, "coherence": 2}), "no system .the keys are id, coherence"),
    "a word": (
        "id,system,q\n1,x,2\n1,y,good\n",
        "texts:3: 'good' in the column 'q' is not a rating",
    ),
    "a boolean": (jsonl({"id": 1, "system": "x", "q": True}), "the rating 'q' is True"),
    "a list": (jsonl({"id": 1, "system": "x", "q": [1]}), "the rating 'q' is a list"),
    "infinite": (jsonl({"id": 1, "system": "x", "q": float("inf")}), "a magnitude of at most"),
    "huge": ("id,system,q\n1,x,1e999\n", "a magnitude of at most"),
    "huge whole": ('{"id": 1, "system": "x", "q": 1' + "0" * 400 + "}", "a magnitude of at most"),
    "nothing rated": ("id,system,q\n1,x,NA\n1,y,\n", "no ratings in 2 rows"),
    "header alone": ("id,system,q\n", "no ratings, expected CSV"),
    "twice": (
        "id,system,annotator,q\n1,x,a,1\n1,x,b,1\n1,x,a,1\n",
        r"texts:4: a second rating of 'x' for the text '1' by 'a' \(first on line 2\)",
    ),
    "long name": (f"id,system,{'q' * 300}\n1,x,1\n", "is not a valid dimension name"),
    "key twice": ('{"id": 1, "system": "x", "q": 1, "q": 2}', "the key 'q' twice"),
    "scores a list": (
        json.dumps({"1": {"sys_summs": {"x": {"scores": [1]}}}}),
        "text '1': the scores of 'x' are not an object",
    ),
    "no scores": (
        json.dumps({"1": {"sys_summs": {"x": {"sys_summ": "o"}}}}),
        "no ratings, expected",
    ),
}


@pytest.mark.parametrize("name", WRONG_RATINGS)
def test_wrong_ratings_are_refused_with_the_place_and_the_fault(
    name: str, file: Callable[[str | bytes], Path]
) -> None:
    content, message = WRONG_RATINGS[name]
    with pytest.raises(InputError, match=message):
        read_ratings(file(content))


def test_summeval_and_realsumm_are_read(real_data: Callable[[str], Path]) -> None:
    path = real_data("summeval/summeval.json.gz")
    texts, ratings = read_texts(path), read_ratings(path)
    assert (len(texts), len(texts.systems)) == (100, 16)
    assert {len(references) for references in texts.references} == {11}
    assert all(len(set(references)) > 1 for references in texts.references)
    assert ratings.dimensions == ("coherence", "consistency", "fluency", "relevance")
    assert ratings.scores.values.shape == (16, 100, 4)
    path = real_data("realsumm/realsumm.json.gz")
    texts, ratings = read_texts(path), read_ratings(path)
    assert (len(texts), len(texts.systems)) == (100, 24)
    assert {len(references) for references in texts.references} == {1}
    assert ratings.dimensions == ("litepyramid_recall",)


def test_passages_of_a_source_may_be_a_list(tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    file.write_text('{"id": 1, "source": ["one", "two"], "references": "r", "outputs": {"s": "o"}}')
    assert read_texts(file).sources == ("one\ntwo",)


def test_a_broken_first_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "texts.jsonl"
    good = '{"id": 2, "references": "r", "outputs": {"s": "o"}}'
    file.write_text(f'{{"id": 1, "references": "r" "outputs": {{}}}}\n{good}\n')
    with pytest.raises(InputError, match=r"texts\.jsonl:1: not JSON"):
        read_texts(file)
    file.write_text(json.dumps(json.loads(good), indent=1))  # one object over several lines
    assert read_texts(file).ids == ("2",)
