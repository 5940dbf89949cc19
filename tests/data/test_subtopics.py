"""Diversity judgments: a subtopic in the second column, a document once with all its subtopics."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from rankgauge.core.notes import note_texts

Nested = dict[str, dict[str, dict[str, int]]]

IDS = st.text("abc019", min_size=1, max_size=3)
NESTED = st.dictionaries(
    IDS,
    st.dictionaries(
        IDS, st.dictionaries(IDS, st.integers(-2, 4), min_size=1), min_size=1, max_size=4
    ),
    min_size=1,
    max_size=3,
)


def nested(judgments: rg.Judgments) -> Nested:
    """`{query: {subtopic: {document: grade}}}` again."""
    aspects = judgments.subtopics
    assert aspects is not None
    result: Nested = {}
    names, documents = aspects.names.texts(), judgments.documents.texts()
    for query, name in enumerate(judgments.queries.texts()):
        own = result.setdefault(name, {})
        for row in range(judgments.bounds[query], judgments.bounds[query + 1]):
            for entry in range(aspects.offsets[row], aspects.offsets[row + 1]):
                assert aspects.bounds[query] <= aspects.numbers[entry] < aspects.bounds[query + 1]
                subtopic = names[aspects.numbers[entry]]
                own.setdefault(subtopic, {})[documents[row]] = int(aspects.grades[entry])
    return result


def written(folder: Path, text: str) -> Path:
    file = folder / "qrels.txt"
    file.write_text(text)
    return file


@given(NESTED)
def test_a_document_stands_once_with_its_highest_grade(judged: Nested) -> None:
    judgments = rg.Judgments.from_subtopics(judged)
    assert nested(judgments) == judged
    documents = judgments.documents.texts()
    for query, name in enumerate(judgments.queries.texts()):
        rows = range(judgments.bounds[query], judgments.bounds[query + 1])
        grades = {documents[row]: int(judgments.grades[row]) for row in rows}
        assert len(grades) == len(rows)
        assert grades == {
            d: max(row[d] for row in judged[name].values() if d in row)
            for d in {d for row in judged[name].values() for d in row}
        }


@given(NESTED)
def test_the_order_of_equally_good_documents_is_the_last_id_first(judged: Nested) -> None:
    judgments = rg.Judgments.from_subtopics(judged)
    assert judgments.subtopics is not None
    documents = judgments.documents.texts()
    expected = [
        document
        for subtopics in judged.values()
        for document in sorted(
            {d for row in subtopics.values() for d, grade in row.items() if grade >= 1},
            reverse=True,
        )
    ]
    assert [documents[row] for row in judgments.subtopics.order] == expected


@given(judged=NESTED, data=st.data())
def test_what_is_written_is_read_back_whatever_the_order_of_lines(
    judged: Nested, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("subtopics")
    rg.write_qrels(rg.Judgments.from_subtopics(judged), folder / "qrels.txt")
    lines = (folder / "qrels.txt").read_text().splitlines(keepends=True)
    back = rg.read_qrels(folder / "qrels.txt", subtopics=True)
    assert nested(back) == judged
    shuffled = written(folder, "".join(data.draw(st.permutations(lines))))
    again = rg.read_qrels(shuffled, subtopics=True)
    assert nested(again) == judged
    order = [again.queries.texts().index(query) for query in back.queries.texts()]
    assert back.subtopics is not None
    assert again.subtopics is not None
    names = again.subtopics.names.texts()
    bounds = again.subtopics.bounds
    assert back.subtopics.names.texts() == [
        name for query in order for name in names[bounds[query] : bounds[query + 1]]
    ]


def test_numbered_subtopics_are_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    file = written(tmp_path, "1 10 a 1\n1 2 b 1\n1 1 a 0\n")
    judgments = rg.read_qrels(file, subtopics=True)
    assert judgments.subtopics is not None
    assert judgments.subtopics.names.texts() == ["1", "2", "10"]
    assert repr(judgments) == "Judgments: 1 query, 3 subtopics, 2 judgments"


def test_plain_judgments_have_no_subtopics(tmp_path: Path) -> None:
    file = written(tmp_path, "1 0 a 1\n1 0 b 0\n")
    assert rg.read_qrels(file).subtopics is None
    assert rg.Judgments.from_dict({"1": {"a": 1}}).subtopics is None


def test_reading_plainly_a_repeated_document_points_to_subtopics(tmp_path: Path) -> None:
    file = written(tmp_path, "1 1 a 1\n1 2 a 0\n")
    with pytest.raises(rg.InputError, match=r":2: .*first at line 1.*subtopics=True"):
        rg.read_qrels(file)


def test_a_document_twice_with_the_same_second_column_is_plainly_wrong(tmp_path: Path) -> None:
    file = written(tmp_path, "1 0 a 1\n1 0 a 0\n")
    with pytest.raises(rg.InputError) as refused:
        rg.read_qrels(file)
    assert "subtopics" not in str(refused.value)


def test_a_document_twice_for_one_subtopic_is_refused(tmp_path: Path) -> None:
    file = written(tmp_path, "1 1 a 1\n2 1 a 1\n1 2 a 0\n1 1 a 0\n")
    with pytest.raises(rg.InputError, match=r":4: .*first at line 1.*once per query and subtopic"):
        rg.read_qrels(file, subtopics=True)


def test_a_document_twice_for_one_subtopic_is_dropped_leniently(tmp_path: Path) -> None:
    file = written(tmp_path, "1 1 a 1\n1 2 a 0\n1 1 a 3\nbad\n")
    judgments = rg.read_qrels(file, subtopics=True, lenient=True)
    assert nested(judgments) == {"1": {"1": {"a": 1}, "2": {"a": 0}}}
    assert len(judgments.dropped) == 2
    assert any(
        "same query and subtopic (first at line 3)" in note
        for note in note_texts(judgments.dropped)
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 1 a\n", "3 columns, expected 4: `topic subtopic document grade`"),
        ("1 1 a 1 2\n", "5 columns"),
        ("1 1 a x\n", "not a number"),
        ("1 1 a 0.5\n", "whole number"),
        ("", "no lines"),
    ],
)
def test_bad_lines_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(rg.InputError, match=reason):
        rg.read_qrels(written(tmp_path, text), subtopics=True)


@pytest.mark.parametrize("bad", [{"q": {"a": 1}}, {"q": 3}, {"q": {"1": {"a": 0.5}}}])
def test_dicts_of_another_form_are_refused(bad: dict[str, object]) -> None:
    with pytest.raises(rg.InputError, match="expected"):
        rg.Judgments.from_subtopics(bad)  # type: ignore[arg-type]


def test_nothing_at_all_is_no_judgments() -> None:
    empty = rg.Judgments.from_subtopics({"q": {}})
    assert repr(empty) == "Judgments: 1 query, 0 subtopics, 0 judgments"
    scores = rg.evaluate(empty, {"q": {"a": 1.0}}, ["alpha_nDCG@5", "NRBP", "expected(nNRBP)"])
    assert set(scores.mean()["run"].values()) == {0.0}


def test_a_subtopic_with_a_blank_cannot_be_written(tmp_path: Path) -> None:
    judgments = rg.Judgments.from_subtopics({"q": {"a b": {"d": 1}}})
    with pytest.raises(rg.InputError, match="'a b'"):
        rg.write_qrels(judgments, tmp_path / "qrels.txt")


def rankgauge(*arguments: object) -> subprocess.CompletedProcess[str]:
    """What the command does."""
    command = [sys.executable, "-m", "rankgauge", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_the_command_line_reads_subtopics(tmp_path: Path) -> None:
    qrels = written(tmp_path, "1 1 a 1\n1 2 a 0\n1 2 b 1\n")
    run = tmp_path / "a.run"
    run.write_text("1 Q0 a 1 2.0 t\n1 Q0 x 2 1.0 t\n")
    command = ["evaluate", qrels, run, "-m", "strec@5"]
    result = rankgauge(*command, "--subtopics")
    assert result.returncode == 0
    assert result.stdout.splitlines()[1].endswith("\t0.5")
    refused = rankgauge(*command)
    assert refused.returncode == 2
    assert "--subtopics" in refused.stderr


def test_the_command_line_says_when_there_is_a_single_subtopic(tmp_path: Path) -> None:
    qrels = written(tmp_path, "1 0 a 1\n1 0 b 1\n")
    run = tmp_path / "a.run"
    run.write_text("1 Q0 a 1 2.0 t\n")
    result = rankgauge("evaluate", qrels, run, "-m", "upper(strec@5)")
    assert result.returncode == 0
    assert "read without --subtopics" in result.stderr
