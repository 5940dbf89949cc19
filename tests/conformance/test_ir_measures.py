"""Agreement with ir_measures on real runs, every difference explained by a policy.

ir_measures takes its numbers from several providers with tie rules of their own: trec_eval's (single
precision, then docno descending: ours by default) for most, double precision and the order of the file
for RBP, double precision and docno ascending for Judged, Compat and Accuracy, double precision and docno
descending for ERR. Its Compat stops at the end of the longer list and ours goes on, which nobody sees
with p = 0.8.
"""

from __future__ import annotations

import gzip
import shutil
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import ir_measures
import pytest

import rankgauge as rg
from profiles import some

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
DOCNO, ASCENDING, INPUT = (
    {"precision": "single", "ties": "docno"},
    {"precision": "double", "ties": "docno-ascending"},
    {"precision": "double", "ties": "input"},
)
OBJECTS = [
    (ir_measures.AP(rel=2), DOCNO),
    (ir_measures.AP @ 100, DOCNO),
    (ir_measures.AP(judged_only=True), DOCNO),
    (ir_measures.nDCG, DOCNO),
    (ir_measures.nDCG(judged_only=True) @ 10, DOCNO),
    (ir_measures.nDCG(gains={1: 0, 2: 3}) @ 10, DOCNO),
    (ir_measures.P(rel=2, judged_only=True) @ 5, DOCNO),
    (ir_measures.R(judged_only=True) @ 10, DOCNO),
    (ir_measures.RR(rel=2), DOCNO),
    (ir_measures.RR(judged_only=True), DOCNO),
    (ir_measures.Rprec(judged_only=True), DOCNO),
    (ir_measures.Success(rel=2, judged_only=True) @ 1, DOCNO),
    (ir_measures.IPrec @ 0.1, DOCNO),
    (ir_measures.IPrec(judged_only=True) @ 0.3, DOCNO),
    (ir_measures.Bpref, DOCNO),
    (ir_measures.infAP, DOCNO),
    (ir_measures.NumRel, DOCNO),
    (ir_measures.NumRet, DOCNO),
    (ir_measures.NumRelRet, DOCNO),
    (ir_measures.NumRet(rel=2), DOCNO),
    (ir_measures.SetP(rel=2), DOCNO),
    (ir_measures.SetP(relative=True), DOCNO),
    (ir_measures.SetP(judged_only=True), DOCNO),
    (ir_measures.SetR, DOCNO),
    (ir_measures.SetF, DOCNO),
    (ir_measures.SetF(judged_only=True), DOCNO),
    (ir_measures.SetAP, DOCNO),
    (ir_measures.RBP(rel=2, p=0.9), INPUT),
    (ir_measures.Judged @ 20, ASCENDING),
    (ir_measures.Compat(p=0.8, normalize=False), ASCENDING),
    (ir_measures.Accuracy, ASCENDING),
    (ir_measures.Accuracy(rel=2) @ 90, ASCENDING),
]
"""Its measures as objects, each with the policy of the provider that computes it."""
COLLECTIONS = [
    ("trec-robust03/qrels.txt.gz", "trec-robust03/runs", 17),
    ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs", 5),
]
CASES = [(q, r, n) for q, r, count in COLLECTIONS for n in some(range(count), 5)]


@cache
def read(qrels_file: Path) -> tuple[list[ir_measures.Qrel], rg.Judgments]:
    """The judgments of a collection, for ir_measures and for us."""
    with gzip.open(qrels_file, "rt") as text:
        return list(ir_measures.read_trec_qrels(text)), rg.read_qrels(qrels_file)


@cache
def retrieved_by(path: Path) -> tuple[list[ir_measures.ScoredDoc], rg.Run]:
    """A run, for ir_measures and for us."""
    with gzip.open(path, "rt") as text:
        return list(ir_measures.read_trec_run(text)), rg.read_run(path)


@cache
def evaluator(qrels_file: Path) -> ir_measures.providers.Evaluator:
    """What computes all measures of POLICIES by these judgments, for any run."""
    every = [measure for measures, _ in POLICIES for measure in measures.values()]
    return ir_measures.evaluator(every, read(qrels_file)[0])


@pytest.mark.parametrize(("qrels", "runs", "number"), CASES)
def test_every_cell_agrees_under_the_providers_policy(
    real_data: Callable[[str], Path], qrels: str, runs: str, number: int
) -> None:
    qrels_file = real_data(qrels)
    run_file = sorted(real_data(runs).iterdir())[number]
    _, judgments = read(qrels_file)
    retrieved, run = retrieved_by(run_file)
    theirs: dict[str, dict[str, float]] = defaultdict(dict)
    for result in evaluator(qrels_file).iter_calc(retrieved):
        theirs[str(result.measure)][result.query_id] = result.value
    for measures, policy in POLICIES:
        (ours,) = rg.evaluate(judgments, run, list(measures), **policy).per_query().values()  # type: ignore[arg-type]
        for name, measure in measures.items():
            answered = theirs[str(measure)]
            assert set(answered) == set(ours), "both score every judged topic"
            for query, value in answered.items():
                assert ours[query][name] == pytest.approx(value, abs=1e-9), (name, query)


@pytest.mark.parametrize(("measure", "policy"), OBJECTS, ids=lambda value: str(value)[:40])
@pytest.mark.parametrize(
    ("qrels", "run_file"),
    [
        ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs"),
        ("trec-robust03/qrels.txt.gz", "trec-robust03/runs"),
    ],
)
def test_its_objects_are_taken_as_they_are(
    real_data: Callable[[str], Path],
    qrels: str,
    run_file: str,
    measure: ir_measures.Measure,
    policy: dict[str, str],
) -> None:
    judged, judgments = read(real_data(qrels))
    path = sorted(real_data(run_file).iterdir())[0]
    retrieved, run = retrieved_by(path)
    (ours,) = rg.evaluate(judgments, run, measure, **policy).per_query().values()  # type: ignore[arg-type]
    answered = {r.query_id: r.value for r in ir_measures.iter_calc([measure], judged, retrieved)}
    assert answered
    for query, value in answered.items():
        assert ours[query][str(rg.parse(measure))] == pytest.approx(value, abs=1e-9), query
    for query in set(ours) - set(answered):  # Accuracy leaves out topics without a pair
        assert measure.NAME == "Accuracy"
        assert ours[query][str(rg.parse(measure))] == 0


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval needs perl")
@pytest.mark.parametrize("measure", [ir_measures.ERR @ 20, ir_measures.nDCG(dcg="exp-log2") @ 10])
def test_measures_of_gdeval_have_four_as_the_highest_grade(
    real_data: Callable[[str], Path], measure: ir_measures.Measure
) -> None:
    judged, judgments = read(real_data("qrels/qrels.dl21-passage.txt.gz"))
    retrieved, run = retrieved_by(sorted(real_data("trec-dl21/runs").iterdir())[0])
    (ours,) = (
        rg.evaluate(judgments, run, measure, max_grade=4, precision="double").per_query().values()
    )
    for result in ir_measures.iter_calc([measure], judged, retrieved):
        value = ours[result.query_id][str(rg.parse(measure))]
        assert value == pytest.approx(result.value, abs=1e-5), result.query_id
