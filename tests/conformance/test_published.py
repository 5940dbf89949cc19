"""Published results of real runs, recomputed as trec_eval up to 9.0.7 did: in single precision."""

from __future__ import annotations

import csv
import gzip
import re
from collections.abc import Callable
from pathlib import Path

import rankgauge as rg
from rankgauge import AP, nDCG

RealData = Callable[[str], Path]


def runs_in(folder: Path, ending: str) -> dict[str, rg.Run]:
    files = sorted(folder.iterdir())
    return {file.name.removesuffix(ending): rg.read_run(file) for file in files}


def test_map_of_all_robust_2003_runs(real_data: RealData) -> None:
    text = (real_data("trec-published") / "trec12-robust-results.md").read_text()
    published = dict(re.findall(r"^#### (\S+).*?^\s*map\s+all\s+([\d.]+)", text, re.M | re.S))
    runs = runs_in(real_data("trec-robust03/runs"), ".gz")
    qrels = rg.read_qrels(real_data("trec-robust03/qrels.txt.gz"))
    means = rg.evaluate(qrels, runs, AP, precision="single").mean()
    assert len(means) == 17
    for name, mean in means.items():
        assert f"{mean[AP]:.4f}" == published[name.removeprefix("input.")], name


def test_map_and_ndcg_of_all_covid_round_1_runs(real_data: RealData) -> None:
    with (real_data("trec-covid/round1") / "leaderboard.csv").open() as text:
        published = {row["run"]: row for row in csv.DictReader(text)}
    runs = runs_in(real_data("trec-covid/round1/runs"), ".gz")
    qrels = rg.read_qrels(real_data("trec-covid/round1/qrels/qrels-rnd1.txt"))
    means = rg.evaluate(qrels, runs, [AP, nDCG @ 10], precision="single").mean()
    assert len(means) == 143
    for name, mean in means.items():
        assert f"{mean[AP]:.4f}" == published[name]["MAP"], name
        assert f"{mean[nDCG @ 10]:.4f}" == published[name]["ndcg@10"], name


def test_ndcg_of_every_topic_of_all_deep_learning_2021_runs(real_data: RealData) -> None:
    with gzip.open(real_data("trec-dl21/dl21.ndcg_cut10.gz"), "rt") as text:
        rows = [row for row in csv.DictReader(text) if row["topic"] != "average"]
    published = {(row["runid"], row["topic"]): row["ndcg_cut_10"] for row in rows}
    runs = runs_in(real_data("trec-dl21/runs"), ".run.gz")
    qrels = rg.read_qrels(real_data("qrels/qrels.dl21-passage.txt.gz"))
    scores = rg.evaluate(qrels, runs, nDCG @ 10, precision="single").per_query()
    cells = {
        (run, topic): f"{score[nDCG @ 10]:.4f}"
        for run, topics in scores.items()
        for topic, score in topics.items()
    }
    assert len(published) == 3339
    assert {cell: cells[cell] for cell in published} == published
