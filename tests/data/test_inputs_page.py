"""The page of inputs: its table says what works, and its names are those that the code knows."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankgauge as rg
from rankgauge.cli import main
from rankgauge.data.roles import DOCUMENT, GRADE, QUERY, RANK, RELEVANT, RETRIEVED, SCORE, Role

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "INPUTS.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.partition("| you have |")[2].partition("\n\n")[0].splitlines()[2:]
]

RUN = pl.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "score": [2.5, 1.0]})
QRELS = pl.DataFrame({"qid": ["q1", "q1"], "docno": ["d1", "d2"], "rel": [1, 0]})
BOTH = '{"query": "q1", "retrieved": ["d1", "d2"], "relevant": ["d1"]}\n'
MORE = '{"query": "q2", "retrieved": ["d1", "d2"], "relevant": ["d2"]}\n'
FILES = {
    "qrels.txt": "q1 0 d1 1\nq1 0 d2 0\n",
    "bm25.run": "q1 Q0 d1 1 2.5 t\nq1 Q0 d2 2 1.0 t\n",
    "test.tsv": "query-id\tcorpus-id\tscore\nq1\td1\t1\n",
    "results.json": json.dumps({"q1": {"d1": 2.5, "d2": 1.0}}),
    "ratings.csv": "user_id,item_id,rating\nq1,d1,1\n",
    "top10.csv": "user_id,item_id,score\nq1,d1,2.5\nq1,d2,1\n",
    "bought.csv": "customer,sku,bought\nq1,d1,1\n",
    "offers.csv": "customer,sku,score\nq1,d1,2.5\nq1,d2,1\n",
    "rag.jsonl": BOTH + MORE,
    "rag-rerank.jsonl": BOTH + MORE.replace('["d1", "d2"]', '["d2"]'),
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    RUN.write_parquet("run.parquet")
    QRELS.write_parquet("qrels.parquet")


def test_the_page_opens_with_the_table() -> None:
    assert len(ROWS) >= 9
    assert {row[0].split("**")[1] for row in ROWS if row[0].startswith("**")} == {
        *("search", "recommendation", "RAG")
    }


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0][:40])
def test_what_the_table_says_to_write_works(row: list[str], monkeypatch: Any, capsys: Any) -> None:
    command, call = row[1].strip("`"), row[2].strip("`")
    if command.startswith("rankgauge"):
        monkeypatch.setattr(sys, "argv", shlex.split(command))
        main()  # raises SystemExit where it fails
        assert len(capsys.readouterr().out.splitlines()) >= 2
    scores = eval(call, {"rg": rg, "qrels_frame": QRELS, "run_frame": RUN})
    assert isinstance(scores, rg.Scores)
    assert scores.values[0, 0].tolist() == [1.0]


@pytest.mark.parametrize(
    "role", [QUERY, DOCUMENT, SCORE, RANK, GRADE], ids=lambda role: role.option
)
def test_the_names_of_columns_are_those_of_the_code(role: Role) -> None:
    (row,) = re.findall(rf"^\| {role.option} \| (`.*)\|$", PAGE, re.MULTILINE)
    cells = [re.findall(r"`([a-z_]+)`", cell) for cell in row.split("|")]
    tiers = [tuple(cell) for cell in cells if cell]
    assert tiers == list(role.tiers)


@pytest.mark.parametrize("role", [RETRIEVED, RELEVANT], ids=lambda role: role.option)
def test_the_names_of_keys_are_those_of_the_code(role: Role) -> None:
    (row,) = re.findall(rf"^\| {role.option} documents \| (`.*)\|$", PAGE, re.MULTILINE)
    assert re.findall(r"`([a-z_]+)`", row) == role.names
