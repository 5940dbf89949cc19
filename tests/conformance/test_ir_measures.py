"""Agreement with ir_measures on real runs, every difference explained by a policy.

ir_measures takes its numbers from several providers with tie rules of their own: trec_eval's (single
precision, then docno descending: ours by default) for most, double precision and the order of the file
for RBP, double precision and docno ascending for Judged.
"""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import ir_measures
import pytest

import rankgauge as rg

TREC_EVAL = {
    "AP": ir_measures.AP,
    "nDCG@10": ir_measures.nDCG @ 10,
    "RR": ir_measures.RR,
    "P@10": ir_measures.P @ 10,
    "Recall@100": ir_measures.R @ 100,
    "bpref": ir_measures.Bpref,
    "Rprec": ir_measures.Rprec,
    "Success@5": ir_measures.Success @ 5,
}
POLICIES = [
    (TREC_EVAL, {"precision": "single", "ties": "docno"}),
    ({"RBP": ir_measures.RBP(rel=1)}, {"precision": "double", "ties": "input"}),
    ({"Judged@10": ir_measures.Judged @ 10}, {"precision": "double", "ties": "docno-ascending"}),
]
COLLECTIONS = [
    ("trec-robust03/qrels.txt.gz", "trec-robust03/runs", 17),
    ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs", 5),
]
CASES = [(q, r, n) for q, r, count in COLLECTIONS for n in range(count)]


@cache
def read(qrels_file: Path) -> tuple[list[ir_measures.Qrel], rg.Judgments]:
    """The judgements of a collection, for ir_measures and for us."""
    with gzip.open(qrels_file, "rt") as text:
        return list(ir_measures.read_trec_qrels(text)), rg.read_qrels(qrels_file)


@pytest.mark.parametrize(("qrels", "runs", "number"), CASES)
def test_every_cell_agrees_under_the_providers_policy(
    real_data: Callable[[str], Path], qrels: str, runs: str, number: int
) -> None:
    qrels_file = real_data(qrels)
    run_file = sorted(real_data(runs).iterdir())[number]
    judged, judgments = read(qrels_file)
    with gzip.open(run_file, "rt") as text:
        retrieved = list(ir_measures.read_trec_run(text))
    run = rg.read_run(run_file)
    every = [measure for measures, _ in POLICIES for measure in measures.values()]
    theirs: dict[str, dict[str, float]] = defaultdict(dict)
    for result in ir_measures.iter_calc(every, judged, retrieved):
        theirs[str(result.measure)][result.query_id] = result.value
    for measures, policy in POLICIES:
        (ours,) = rg.evaluate(judgments, run, list(measures), **policy).per_query().values()  # type: ignore[arg-type]
        for name, measure in measures.items():
            answered = theirs[str(measure)]
            assert set(answered) == set(ours), "both score every judged topic"
            for query, value in answered.items():
                assert ours[query][name] == pytest.approx(value, abs=1e-9), (name, query)
