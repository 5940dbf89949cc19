"""Random inputs for soak.py: collections in every form, the scores that they must get, and faults."""

from __future__ import annotations

import csv
import gzip
import json
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import rankgauge as rg

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import oracles

Grades = dict[str, dict[str, int]]
Rows = dict[str, dict[str, float]]

MEASURES = (
    *("AP", "AP@3", "nDCG", "nDCG@5", "nDCG(gain=exp2)@3", "RR", "RR@2", "P@1", "P@5", "Recall@4"),
    *("Rprec", "RBP", "RBP(p=0.5)@4", "ERR@5", "bpref", "P(rel=2)@3", "AP(rel=2)", "Q"),
)
LETTERS = "abcxyz0189-_.é✓"


@dataclass(frozen=True)
class Policy:
    """How a collection is evaluated."""

    missing: str
    unjudged: str
    ties: str
    precision: str

    @classmethod
    def drawn(cls, draw: random.Random) -> Policy:
        return cls(
            draw.choice(("zero", "skip")),
            draw.choice(("nonrelevant", "condensed")),
            draw.choice(("docno", "docno-ascending")),
            draw.choice(("single", "double")),
        )


def made_collection(draw: random.Random) -> tuple[Grades, Rows]:
    """Judgments, and a run with ties that lacks some queries and ranks some that are not judged."""
    topics = draw.sample(range(1, 30), draw.randint(1, 7))
    qrels: Grades = {}
    run: Rows = {}
    for number, topic in enumerate(topics):
        ids = list({"".join(draw.choices(LETTERS, k=draw.randint(1, 6))) for _ in range(14)})
        name = f"q{topic}"
        judged = draw.sample(ids, draw.randint(1, len(ids)))
        grades = {each: draw.choice((-1, 0, 0, 1, 1, 2, 3)) for each in judged}
        grades[judged[0]] = draw.choice((0, 1, 2))
        ranked = draw.sample(ids, draw.randint(1, len(ids)))
        scores = {
            each: draw.choice((draw.randint(-3, 5), draw.randint(0, 999) / 16)) for each in ranked
        }
        if number == 0 or draw.random() < 0.9:
            qrels[name] = grades
        if number == 0 or draw.random() < 0.9:
            run[name] = {each: float(score) for each, score in scores.items()}
    return qrels, run


def expected_scores(
    qrels: Grades, run: Rows, measures: list[str], policy: Policy
) -> dict[str, dict[str, float]]:
    """The score of each query by each measure, straight from the definitions."""
    highest = max(max(grades.values()) for grades in qrels.values())
    known: dict[str, dict[str, float]] = {}
    for query, grades in qrels.items():
        if query not in run and policy.missing == "skip":
            continue
        ranked = _ordered(run.get(query, {}), policy)
        labels = [_label(grades, document) for document in ranked]
        if policy.unjudged == "condensed":
            labels = [label for label in labels if label >= 0]
        judged = [grade for grade in grades.values() if grade >= 0]
        known[query] = {text: by_definition(text, labels, judged, highest) for text in measures}
    return known


def by_definition(text: str, labels: list[int], judged: list[int], highest: int) -> float:
    """The score of a list of labels by a measure."""
    measure: Any = rg.parse(text)
    parameters = {key: getattr(measure, key) for key in measure.parameters()}
    return oracles.score(measure.name, labels, judged, highest, measure.cutoff, **parameters)


def _label(grades: dict[str, int], document: str) -> int:
    if document not in grades:
        return -1
    return grades[document] if grades[document] >= 0 else -2


def _ordered(scores: dict[str, float], policy: Policy) -> list[str]:
    single = policy.precision == "single"
    key = oracles.to_single if single else float
    ids = sorted(scores, key=str.encode, reverse=policy.ties == "docno")
    return sorted(ids, key=lambda document: -key(scores[document]))


# Forms


def _columns(rows: Any, number: str) -> dict[str, list[Any]]:
    flat = [(q, d, v) for q, row in rows.items() for d, v in row.items()]
    names = ("query_id", "doc_id", number)
    return dict(zip(names, map(list, zip(*flat, strict=True)), strict=True))


def _as_trec(folder: Path, qrels: Grades, run: Rows, ending: str = "") -> tuple[Path, Path]:
    paths = folder / f"qrels.txt{ending}", folder / f"a.run{ending}"
    rg.write_qrels(qrels, paths[0])
    rg.write_run(run, paths[1])
    return paths


def _as_csv(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    for path, rows, number in (
        (folder / "q.csv", qrels, "relevance"),
        (folder / "r.csv", run, "score"),
    ):
        with open(path, "w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream)
            writer.writerow(("query_id", "doc_id", number))
            writer.writerows(zip(*_columns(rows, number).values(), strict=True))
    return folder / "q.csv", folder / "r.csv"


def _as_json(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    (folder / "q.json").write_text(json.dumps(qrels), encoding="utf-8")
    (folder / "r.json").write_text(json.dumps(run), encoding="utf-8")
    return folder / "q.json", folder / "r.json"


def _as_parquet(folder: Path, qrels: Grades, run: Rows) -> tuple[Path, Path]:
    import polars as pl

    pl.DataFrame(_columns(qrels, "relevance")).write_parquet(folder / "q.parquet")
    pl.DataFrame(_columns(run, "score")).write_parquet(folder / "r.parquet")
    return folder / "q.parquet", folder / "r.parquet"


def _as_frames(folder: Path, qrels: Grades, run: Rows) -> tuple[Any, Any]:
    import polars as pl

    return pl.DataFrame(_columns(qrels, "relevance")), pl.DataFrame(_columns(run, "score"))


FORMS: dict[str, Callable[[Path, Grades, Rows], tuple[Any, Any]]] = {
    "dicts": lambda folder, qrels, run: (qrels, run),
    "objects": lambda folder, qrels, run: (rg.Judgments.from_dict(qrels), rg.Run.from_dict(run)),
    "TREC": _as_trec,
    "TREC, gzip": lambda folder, qrels, run: _as_trec(folder, qrels, run, ".gz"),
    "CSV": _as_csv,
    "JSON": _as_json,
    "data frames": _as_frames,
    "Parquet": _as_parquet,
}
SELDOM = ("Parquet",)
"""Forms that another process decodes: they take a hundred times as long."""


# Faults


@dataclass(frozen=True)
class Fault:
    """A file that cannot be right, in place of a run or of judgments."""

    kind: str
    path: Path
    judgments: bool = False


def made_fault(folder: Path, run: Rows, draw: random.Random) -> Fault:
    """A file with a fault of a random kind."""
    good = folder / "good.run"
    rg.write_run(run, good)
    text = good.read_bytes()
    lines = text.decode().splitlines()
    kind = draw.choice(FAULTS)
    path = folder / f"bad{draw.randint(0, 999)}.run"
    if kind == "gzip cut short":
        packed = gzip.compress(text)
        content = packed[: draw.randint(11, len(packed) - 1)]
    elif kind == "missing file":
        return Fault(kind, folder / "nowhere" / "a.run")
    elif kind == "empty":
        content = b""
    elif kind == "binary":
        content = b"\x00\xff\xfe" + draw.randbytes(draw.randint(1, 300))
    elif kind == "duplicate":
        content = text + draw.choice(lines).encode() + b"\n"
    elif kind == "JSON cut short":
        content = json.dumps(run).encode()[: -draw.randint(1, 9)]
    elif kind == "CSV without a number":
        content = b"query_id,doc_id,score\nq1,d1,high\n"
    elif kind == "grade":
        wrong = draw.choice(("1.5", "x", "nan", "99999999999999999999", ""))
        content = f"q1 0 d1 1\nq1 0 d2 {wrong}\n".encode()
        path = path.with_suffix(".qrels")
    elif kind == "columns":
        content = "\n".join([*lines, "q1 Q0 d9"]).encode() + b"\n"
    else:
        words = draw.choice(lines).split(" ")
        words[2], words[4] = "new-document", draw.choice(("nan", "NaN", "one", "1..0", "--1"))
        content = text + " ".join(words).encode() + b"\n"
    path.write_bytes(content)
    return Fault(kind, path, kind == "grade")


FAULTS = (
    *("gzip cut short", "missing file", "empty", "binary", "duplicate", "JSON cut short"),
    *("CSV without a number", "grade", "columns", "score"),
)
