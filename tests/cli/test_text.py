"""The command `rankgauge text`, as a user of a shell meets it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankgauge as rg
from command_line import Call, assert_refused, records
from rankgauge import text

pytest.importorskip("rouge_score_rs")


ROWS = [
    {
        "id": f"t{number}",
        "source": f"the cat number {number} sat on the mat and saw a dog near the door",
        "references": [f"the cat {number} saw a dog", "a cat on a mat"],
        "outputs": {
            "lead": f"the cat number {number} sat on the mat",
            "good": f"the cat {number} saw the dog",
            "poor": "something else" if number % 2 else "",
        },
    }
    for number in range(6)
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "texts.jsonl"
    path.write_text("\n".join(map(json.dumps, ROWS)))
    return path


@pytest.fixture
def ratings(tmp_path: Path) -> Path:
    path = tmp_path / "ratings.csv"
    points = {"lead": 3, "good": 5, "poor": 1}
    lines = [
        f"{row['id']},{system},{value + (place == 0)}"
        for place, row in enumerate(ROWS)
        for system, value in points.items()
    ]
    path.write_text("\n".join(["id,system,helpful", *lines]))
    return path


def test_the_table_is_that_of_the_library(rankgauge: Call, file: Path) -> None:
    result = rankgauge("text", file, "-m", "rouge1", "-m", "rougeL")
    assert result.code == 0
    found = text.overview(text.read_texts(file), ["rouge1", "rougeL"]).table()
    rows = records(result.out)
    assert [row["system"] for row in rows] == [row[1] for row in found.rows]
    for shown, row in zip(rows, found.rows, strict=True):
        for column, cell in zip(found.columns, row, strict=True):
            assert shown[column] == str(cell)
    assert "all systems share one chance score per text" in result.err
    assert {row["system"]: row["empty"] for row in rows} == {"good": "0", "lead": "0", "poor": "3"}


def test_metrics_have_defaults(rankgauge: Call, file: Path) -> None:
    rows = records(rankgauge("text", file).out)
    assert {row["metric"] for row in rows} == {"rouge1", "rouge2", "rougeL"}


def test_scores_are_saved_and_compared(rankgauge: Call, file: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    assert rankgauge("text", file, "-m", "rouge1", "--save", saved).code == 0
    scores = rg.Scores.load(saved)
    assert [str(measure) for measure in scores.measures] == [
        "rouge1", "v1(rouge1)", "v2(rouge1)", "linear(rouge1)",
    ]  # fmt: skip
    result = rankgauge("compare", "--scores", saved, "-m", "v2(rouge1)")
    assert result.code == 0
    assert {row["measure"] for row in records(result.out)} == {"v2(rouge1)"}
    assert rankgauge("assess", "--scores", saved, "--splits", 4).code == 0


def test_signatures_say_how_numbers_were_computed(rankgauge: Call, file: Path) -> None:
    shown = rankgauge("text", file, "-m", "rouge1(stem=true)", "--signature").out
    assert "rouge1(part=f,stem=true,references=mean)|source=texts|missing=zero" in shown
    assert "null=words,length=reference" in shown


def test_each_text_has_a_row(rankgauge: Call, file: Path) -> None:
    rows = records(rankgauge("text", file, "-m", "rouge1", "-q").out)
    assert len(rows) == 3 * (len(ROWS) + 1)
    assert {"topic", "rouge1", "linear(rouge1)"} <= rows[0].keys()


def test_systems_are_selected(rankgauge: Call, file: Path) -> None:
    rows = records(rankgauge("text", file, "-m", "rouge1", "--system", "good").out)
    assert [row["system"] for row in rows] == ["good"]
    assert_refused(
        rankgauge("text", file, "--system", "nobody"),
        "there is no system 'nobody', expected one of lead, good, poor",
    )


def test_what_chance_is_can_be_said(rankgauge: Call, file: Path) -> None:
    def chances(*options: object) -> list[str]:
        return [
            row["chance"] for row in records(rankgauge("text", file, "-m", "rouge1", *options).out)
        ]

    words = chances()
    for options in (
        ["--null", "sentences"],
        ["--length", 3],
        ["--draws", 1],
        ["--length", "candidate"],
    ):
        assert chances(*options) != words
    seeds = [chances("--draws", 1, "--seed", seed) for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1] != seeds[2]


def test_agreement_with_people(rankgauge: Call, file: Path, ratings: Path, tmp_path: Path) -> None:
    options = ["-m", "rouge1", "--human", ratings, "--samples", 50]
    result = rankgauge("text", file, *options)
    assert result.code == 0
    rows = records(result.out)
    assert {row["dimension"] for row in rows} == {"helpful"}
    assert rows[0]["metric"] == "rouge1"
    assert float(rows[0]["tau_b"]) == 1
    both = rankgauge("text", file, *options, "--format", "table").out
    assert "chance" in both
    assert "helpful" in both
    plot = tmp_path / "figure.svg"
    assert rankgauge("text", file, *options, "--plot", plot).code == 0
    assert plot.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["-m", "rogue1"], "there is no metric 'rogue1'; did you mean rouge1"),
        (["-m", "nDCG@10"], "there is no metric 'nDCG@10'"),
        (["--null", "letters"], "expected one of words, sentences"),
        (["--length", "long"], "expected reference, candidate, or a number of words"),
        (["--per", "candidate"], "per=candidate needs draws"),
        (
            ["-m", "v2(rouge1)", "--length", "candidate"],
            "give them as parameters, as in v2(rouge1,",
        ),
        (["--length", "²"], "expected reference, candidate, or a number of words"),
        (["--plot", "figure.svg"], "--plot draws the correlations of --human"),
        (["--human", "a.csv", "--preferences", "b.csv"], "cannot be used together; choose one"),
    ],
)
def test_mistakes_are_named(rankgauge: Call, file: Path, options: list[str], fault: str) -> None:
    assert_refused(rankgauge("text", file, *options), fault)


def test_preferences_of_people_are_counted_by_pair(
    rankgauge: Call, file: Path, tmp_path: Path
) -> None:
    """A chain of three systems: each output of `good` is in two pairs, with the one id that it has."""
    votes = tmp_path / "votes.csv"
    lines = [
        f"{row['id']},{a},{b},good,{who}"
        for row in ROWS
        for a, b in (("lead", "good"), ("good", "poor"))
        for who in ("ann", "bob")
    ]
    votes.write_text("\n".join(["id,a,b,winner,annotator", *lines]))
    options = ("-m", "rouge1(references=first)", "--length", "candidate", "--preferences", votes)
    result = rankgauge("text", file, *options)
    assert result.code == 0
    rows = records(result.out)
    assert [row["metric"].partition("(")[0] for row in rows] == ["rouge1", "v1", "v2", "linear"]
    assert [(row["pairs"], row["agree"], row["oppose"]) for row in rows] == [("12", "12", "0")] * 4
    assert [row["disagreements"] for row in rows] == ["", "0", "0", "0"]
    both = rankgauge("text", file, *options, "--format", "table").out
    assert "chance" in both
    assert "agreement" in both
    votes.write_text("id,a,b,winner\nt0,lead,good,poor\n")
    assert_refused(
        rankgauge("text", file, *options),
        "votes.csv:2: the winner is 'poor', expected 'lead', 'good' or tie",
    )


def test_metrics_are_listed_and_explained(rankgauge: Call) -> None:
    listed = records(rankgauge("measures", "--text").out)
    assert "rouge1" in [row["name"] for row in listed]
    explained = rankgauge("measures", "rouge2").out
    assert "stem" in explained
    assert {row["better"] for row in listed} == {"higher"}
    assert "null" in rankgauge("measures", "v2(rouge1)").out


def test_an_encoder_without_a_metric_for_it_is_refused(rankgauge: Call, file: Path) -> None:
    found = rankgauge("text", file, "-m", "rouge1", "--encoder", file.parent)
    assert found.code == 2
    assert "--encoder is for bertscore; add -m bertscore or omit --encoder" in found.err
