"""One collection in every form that it can come in: the same scores, to the bit."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankgauge as rg

MEASURES = ["nDCG@10", "AP", "RR@5", "v2(nDCG@10)", "RBP(p=0.8)", "bpref", "Judged@10"]

Grades = dict[str, dict[str, int]]
Rows = dict[str, dict[str, float]]
Form = Callable[[Path, Grades, Rows], tuple[Any, Any]]


def delimited(separator: str, qrels_header: list[str], run_header: list[str]) -> Form:
    """Both as tables with a header, in a file each."""

    def write(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
        for name, header, rows in (("q", qrels_header, qrels), ("r", run_header, run)):
            with open(folder / name, "w", newline="") as stream:
                writer = csv.writer(stream, delimiter=separator)
                writer.writerow(header)
                writer.writerows((q, d, v) for q, row in rows.items() for d, v in row.items())  # type: ignore[union-attr]
        return folder / "q", folder / "r"

    return write


def trec(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    rg.write_qrels(qrels, folder / "q.txt")
    rg.write_run(run, folder / "r.run")
    return folder / "q.txt", folder / "r.run"


def plain_json(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    (folder / "q.json").write_text(json.dumps(qrels))
    (folder / "r.json").write_text(json.dumps(run, indent=1))
    return folder / "q.json", folder / "r.json"


def json_rows(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    for name, key, rows in (("q.jsonl", "relevance", qrels), ("r.jsonl", "score", run)):
        lines = [
            json.dumps({"query_id": q, "doc_id": d, key: v})
            for q, row in rows.items()  # type: ignore[union-attr]
            for d, v in row.items()
        ]
        (folder / name).write_text("\n".join(lines))
    return folder / "q.jsonl", folder / "r.jsonl"


def lines(
    folder: Path, qrels: Grades, run: Rows, retrieved: Callable[[dict[str, float]], Any]
) -> Path:
    """One file with a line a query that has both."""
    found = [
        json.dumps({"query": q, "relevant": qrels[q], "retrieved": retrieved(run[q])})
        for q in qrels
    ]
    (folder / "both.jsonl").write_text("\n".join(found))
    return folder / "both.jsonl"


def json_lists(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    file = lines(folder, qrels, run, list)
    return file, file


def json_scored_lists(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    file = lines(folder, qrels, run, lambda row: [{"id": d, "score": s} for d, s in row.items()])
    return file, file


def columns(rows: Any, number: str) -> dict[str, list[Any]]:
    flat = [(q, d, v) for q, row in rows.items() for d, v in row.items()]
    return dict(
        zip(("query_id", "doc_id", number), map(list, zip(*flat, strict=True)), strict=True)
    )


def frames(make: Callable[[Any], Any]) -> Form:
    return lambda _, qrels, run: (make(columns(qrels, "relevance")), make(columns(run, "score")))


def parquet(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    pl.DataFrame(columns(qrels, "relevance")).write_parquet(folder / "q.parquet")
    pl.DataFrame(columns(run, "score")).write_parquet(folder / "r.parquet")
    return folder / "q.parquet", folder / "r.parquet"


class LikeRanx:
    """The shape of ranx's `Qrels` and `Run`."""

    name = "run"

    def __init__(self, **inside: Any) -> None:
        vars(self).update(inside)

    def to_dict(self) -> Any:
        return getattr(self, "run", None) or self.qrels  # type: ignore[attr-defined]


def ranx_like(folder: Path, qrels: Grades, run: Rows) -> tuple[Any, Any]:
    return LikeRanx(qrels=qrels), LikeRanx(run=run)


def real_ranx(folder: Path, qrels: Grades, run: Rows) -> tuple[Any, Any]:
    ranx = pytest.importorskip("ranx")
    return ranx.Qrels(qrels), ranx.Run(run, name="run")


def of_ir_measures(folder: Path, qrels: Grades, run: Rows) -> tuple[Iterator[Any], Iterator[Any]]:
    judged = (ir_measures.Qrel(q, d, g) for q, row in qrels.items() for d, g in row.items())
    scored = (ir_measures.ScoredDoc(q, d, s) for q, row in run.items() for d, s in row.items())
    return judged, scored


def arrays(folder: Path, qrels: Grades, run: Rows) -> tuple[rg.Judgments, rg.Run]:
    judged, scored = columns(qrels, "grade"), columns(run, "score")
    return (
        rg.Judgments.from_arrays(*map(np.array, judged.values())),
        rg.Run.from_arrays(*map(np.array, scored.values())),
    )


FORMS: dict[str, Form] = {
    "TREC": trec,
    "CSV": delimited(",", ["query_id", "doc_id", "relevance"], ["query_id", "doc_id", "score"]),
    "TSV, as BEIR has it": delimited(
        "\t", ["query-id", "corpus-id", "score"], ["query-id", "corpus-id", "score"]
    ),
    "semicolons": delimited(";", ["user_id", "item_id", "rating"], ["user_id", "item_id", "score"]),
    "JSON": plain_json,
    "JSON Lines, a line a row": json_rows,
    "JSON Lines, lists of ids": json_lists,
    "JSON Lines, lists with scores": json_scored_lists,
    "Parquet": parquet,
    "dicts": lambda _, qrels, run: (qrels, run),
    "lists": lambda _, qrels, run: (qrels, {q: list(row) for q, row in run.items()}),
    "tuples": lambda _, qrels, run: (qrels, {q: tuple(row) for q, row in run.items()}),
    "polars": frames(pl.DataFrame),
    "pandas": frames(pd.DataFrame),
    "arrays": arrays,
    "an object like ranx's": ranx_like,
    "ranx": real_ranx,
    "ir_measures": of_ir_measures,
}


def scores(qrels: Any, run: Any) -> rg.Scores:
    return rg.evaluate(qrels, run, MEASURES, precision="double")


def assert_same(found: rg.Scores, expected: rg.Scores) -> None:
    assert found.queries == expected.queries
    for what in ("values", "present", "judged_at_10", "relevant", "nothing_relevant"):
        assert getattr(found, what).tobytes() == getattr(expected, what).tobytes(), what
    assert found.signatures() == expected.signatures()


@pytest.fixture(scope="module")
def collection(any_data: Callable[[str], Path]) -> tuple[Grades, Rows]:
    """Judgments of TREC Deep Learning 2021, and a run whose documents stand in rank order."""
    judgments = rg.read_qrels(any_data("qrels/qrels.dl21-passage.txt.gz"))
    first = sorted(any_data("trec-dl21/runs").iterdir())[0]
    run = rg.read_run(first)
    rows: Any = []
    for data, values in ((judgments, judgments.grades), (run, run.scores)):
        documents, bounds = data.documents.texts(), data.bounds.tolist()
        rows.append(
            {
                q: dict(zip(documents[a:b], values[a:b].tolist(), strict=True))
                for q, a, b in zip(data.queries.texts(), bounds, bounds[1:], strict=False)
            }
        )
    qrels, scored = rows
    ranked = {
        # The order of trec_eval: by score, then by id, both descending.
        q: dict(sorted(scored[q].items(), key=lambda item: (item[1], item[0]), reverse=True))
        for q in qrels
    }
    return qrels, ranked


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_every_form_of_a_collection_scores_the_same(
    tmp_path: Path, collection: tuple[Grades, Rows], form: Form
) -> None:
    assert_same(scores(*form(tmp_path, *collection)), scores(*collection))


def test_gold_sets_are_judgments_of_grade_1(
    collection: tuple[Grades, Rows], tmp_path: Path
) -> None:
    qrels, run = collection
    gold = {q: {d: 1 for d, grade in row.items() if grade >= 1} for q, row in qrels.items()}
    expected = scores(gold, run)
    assert_same(scores({q: set(row) for q, row in gold.items()}, run), expected)
    assert_same(scores({q: list(row) for q, row in gold.items()}, run), expected)
    lists = [json.dumps({"query": q, "relevant": list(row)}) for q, row in gold.items()]
    (tmp_path / "gold.jsonl").write_text("\n".join(lists))
    assert_same(scores(tmp_path / "gold.jsonl", run), expected)


def test_whole_numbers_are_ids(collection: tuple[Grades, Rows]) -> None:
    qrels, run = collection
    numbers = {
        d: i for i, d in enumerate({d for row in (*qrels.values(), *run.values()) for d in row})
    }

    def numbered(rows: Any, text: Callable[[int], Any]) -> Any:
        return {
            text(int(q)): {text(numbers[d]): v for d, v in row.items()} for q, row in rows.items()
        }

    assert_same(
        scores(numbered(qrels, int), numbered(run, np.int64)),
        scores(numbered(qrels, str), numbered(run, str)),
    )
