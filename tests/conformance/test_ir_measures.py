"""Agreement with ir_measures, every difference explained by a policy.

Every measure is compared on a collection of our own, which has ties in single and in double precision,
and on real runs. ir_measures takes its numbers from several providers with tie rules of their own:
trec_eval's (single precision, then docno descending: ours by default) for most, double precision and
the order of the file for RBP and Accuracy, double precision and docno ascending for Judged and Compat,
double precision and docno descending for ERR. Its Compat stops at the end of the longer list and ours
goes on, which nobody sees with p = 0.8.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path

import ir_measures
import pytest

import rankgauge as rg
from profiles import some
from rankgauge.io.files import read_bytes
from trec_eval_collections import Draw, small_collection

RealData = Callable[[str], Path]

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
    (ir_measures.Accuracy, INPUT),
    (ir_measures.Accuracy(rel=2) @ 90, INPUT),
]
"""Its measures as objects, each with the policy of the provider that computes it."""
COLLECTIONS = [
    ("trec-robust03/qrels.txt.gz", "trec-robust03/runs", 17),
    ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs", 5),
]
perl = pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval needs perl")
CASES = [(q, r, n) for q, r, count in COLLECTIONS for n in some(range(count), 5)]


GDEVAL = [ir_measures.ERR @ 20, ir_measures.nDCG(dcg="exp-log2") @ 10]


@cache
def read(qrels_file: Path) -> tuple[list[ir_measures.Qrel], rg.Judgments]:
    """The judgments of a collection, for ir_measures and for us."""
    return list(ir_measures.read_trec_qrels(text_of(qrels_file))), rg.read_qrels(qrels_file)


@cache
def retrieved_by(path: Path) -> tuple[list[ir_measures.ScoredDoc], rg.Run]:
    """A run, for ir_measures and for us."""
    return list(ir_measures.read_trec_run(text_of(path))), rg.read_run(path)


def text_of(path: Path) -> str:
    return read_bytes(path).decode()


@cache
def evaluator(qrels_file: Path) -> ir_measures.providers.Evaluator:
    """What computes all measures of POLICIES by these judgments, for any run."""
    every = [measure for measures, _ in POLICIES for measure in measures.values()]
    return ir_measures.evaluator(every, read(qrels_file)[0])


@pytest.fixture(scope="module")
def own_files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The judgments and the run of a collection of our own, with long lists."""
    collection = small_collection(
        Draw("ir_measures"),
        queries=("101", "102", "103", "104"),
        documents=260,
        grades=(0, 0, 0, 1, 2, 4),
        judged=0.4,
        retrieved=(120, 220),
        scores=[step / 4 + near * 1e-9 for step in range(1, 60) for near in range(4)],
    )
    collection.qrels += [["105", "0", "d1", "0"], ["105", "0", "d2", "0"]]
    collection.run += [["105", "Q0", "d1", "1", "2.5", "tag"]]
    folder = tmp_path_factory.mktemp("own")
    for name, content in collection.files().items():
        (folder / name).write_bytes(content)
    return folder / "qrels", folder / "run"


@pytest.fixture(params=COLLECTIONS)
def real_files(request: pytest.FixtureRequest, real_data: RealData) -> tuple[Path, Path]:
    """The judgments of a track, and its first run."""
    qrels, runs, _ = request.param
    return real_data(qrels), sorted(real_data(runs).iterdir())[0]


def assert_every_cell_agrees(qrels_file: Path, run_file: Path) -> None:
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


def assert_agrees(
    measure: ir_measures.Measure, policy: dict[str, str], qrels_file: Path, run_file: Path
) -> None:
    judged, judgments = read(qrels_file)
    retrieved, run = retrieved_by(run_file)
    (ours,) = rg.evaluate(judgments, run, measure, **policy).per_query().values()  # type: ignore[arg-type]
    answered = {r.query_id: r.value for r in ir_measures.iter_calc([measure], judged, retrieved)}
    assert answered
    for query, value in answered.items():
        assert ours[query][str(rg.parse(measure))] == pytest.approx(value, abs=1e-9), query
    for query in set(ours) - set(answered):  # Accuracy leaves out topics without a pair
        assert measure.NAME == "Accuracy"
        assert ours[query][str(rg.parse(measure))] == 0


def assert_agrees_with_gdeval(
    measure: ir_measures.Measure, qrels_file: Path, run_file: Path
) -> None:
    judged, judgments = read(qrels_file)
    retrieved, run = retrieved_by(run_file)
    (ours,) = (
        rg.evaluate(judgments, run, measure, max_grade=4, precision="double").per_query().values()
    )
    answered = list(ir_measures.iter_calc([measure], judged, retrieved))
    assert len(answered) == len(ours)
    for result in answered:
        value = ours[result.query_id][str(rg.parse(measure))]
        assert value == pytest.approx(result.value, abs=1e-5), result.query_id


def test_every_cell_agrees_under_the_providers_policy(own_files: tuple[Path, Path]) -> None:
    assert_every_cell_agrees(*own_files)


@pytest.mark.parametrize(("qrels", "runs", "number"), CASES)
def test_every_cell_of_real_runs_agrees(
    real_data: RealData, qrels: str, runs: str, number: int
) -> None:
    assert_every_cell_agrees(real_data(qrels), sorted(real_data(runs).iterdir())[number])


@pytest.mark.parametrize(("measure", "policy"), OBJECTS, ids=lambda value: str(value)[:40])
def test_its_objects_are_taken_as_they_are(
    own_files: tuple[Path, Path], measure: ir_measures.Measure, policy: dict[str, str]
) -> None:
    assert_agrees(measure, policy, *own_files)


def test_its_objects_agree_on_real_runs(real_files: tuple[Path, Path]) -> None:
    for measure, policy in OBJECTS:
        assert_agrees(measure, policy, *real_files)


@perl
@pytest.mark.parametrize("measure", GDEVAL)
def test_measures_of_gdeval_have_four_as_the_highest_grade(
    own_files: tuple[Path, Path], measure: ir_measures.Measure
) -> None:
    assert_agrees_with_gdeval(measure, *own_files)


@perl
def test_measures_of_gdeval_agree_on_a_real_run(real_data: RealData) -> None:
    run_file = sorted(real_data("trec-dl21/runs").iterdir())[0]
    for measure in GDEVAL:
        assert_agrees_with_gdeval(measure, real_data("qrels/qrels.dl21-passage.txt.gz"), run_file)
