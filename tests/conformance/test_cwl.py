"""Agreement with cwl_eval and with the compatibility of ir_measures, every difference explained.

cwl_eval takes documents in double precision and ties in the order of the file. All its users stop at
rank 1000, which is a cut-off here. Its gains are grades over `max_rel`, ours over `max_grade`.
"""

from __future__ import annotations

import gzip
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures.providers.compat_provider import compatibility

import rankgauge as rg

HIGHEST = 3
POLICY: dict[str, Any] = {"ties": "input", "precision": "double", "max_grade": HIGHEST}
SCALE = {"max_rel": HIGHEST}
TRUNCATED = {
    "BPM@10": ir_measures.BPM(**SCALE) @ 10,
    "BPM(T=2.5)@4": ir_measures.BPM(T=2.5, **SCALE) @ 4,
    "NERR8@10": ir_measures.NERR8(**SCALE) @ 10,
    "NERR9@20": ir_measures.NERR9(**SCALE) @ 20,
    "NERR10@1000": ir_measures.NERR10(**SCALE),
    "NERR10(p=0.995)@1000": ir_measures.NERR10(p=0.995, **SCALE),
    "NERR11@1000": ir_measures.NERR11(**SCALE),
    "NERR11(T=3)@1000": ir_measures.NERR11(T=3.0, **SCALE),
    "INST@1000": ir_measures.INST(**SCALE),
    "INST(T=3)@1000": ir_measures.INST(T=3.0, **SCALE),
    "INSQ@1000": ir_measures.INSQ(**SCALE),
    "INSQ(T=0.5)@1000": ir_measures.INSQ(T=0.5, **SCALE),
}
ENDLESS = {
    "INST": ir_measures.INST(**SCALE),
    "INSQ": ir_measures.INSQ(**SCALE),
    "NERR10": ir_measures.NERR10(**SCALE),
    "NERR11": ir_measures.NERR11(**SCALE),
}
REAL = [
    ("trec-robust03/qrels.txt.gz", "trec-robust03/runs", 0),
    ("trec-robust03/qrels.txt.gz", "trec-robust03/runs", 7),
    ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs", 0),
]

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


def collection(seed: int) -> tuple[Qrels, Run]:
    """A few queries of a few documents, unjudged, negative and tied ones among them."""
    draw = random.Random(seed)
    documents = [f"d{i}" for i in range(15)]
    qrels, run = {}, {}
    for query in ("a", "b", "c"):
        judged = draw.sample(documents, draw.randint(1, 12))
        qrels[query] = {d: draw.choice([-1, 0, 0, 1, 2, HIGHEST]) for d in judged}
        retrieved = draw.sample(documents, draw.randint(1, 15))
        run[query] = {d: float(draw.randint(1, 6)) for d in retrieved}
    return qrels, run


def long_collection(seed: int) -> tuple[Qrels, Run]:
    """Two queries with lists that go on beyond rank 1000."""
    draw = random.Random(seed)
    documents = [f"d{i}" for i in range(1500)]
    qrels = {q: {d: draw.randint(0, HIGHEST) for d in draw.sample(documents, 300)} for q in "ab"}
    run = {q: {d: draw.random() for d in draw.sample(documents, 1200)} for q in "ab"}
    return qrels, run


def theirs(measures: Iterable[Any], qrels: Any, run: Any) -> dict[str, dict[str, float]]:
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for result in ir_measures.iter_calc(list(measures), qrels, run):
        values[str(result.measure)][result.query_id] = result.value
    return values


def assert_same(measures: dict[str, Any], qrels: Any, run: Any, known: Any, shown: Any) -> None:
    other = theirs(measures.values(), known, shown)
    (own,) = rg.evaluate(qrels, run, list(measures), **POLICY).per_query().values()
    for name, measure in measures.items():
        assert set(other[str(measure)]) == set(own)
        for query, value in other[str(measure)].items():
            assert own[query][name] == pytest.approx(value, abs=1e-12), (name, query)


@pytest.mark.parametrize("seed", range(40))
def test_user_models_agree_on_small_collections(seed: int) -> None:
    qrels, run = collection(seed)
    assert_same(TRUNCATED, qrels, run, qrels, run)


@pytest.mark.parametrize("seed", range(3))
def test_user_models_agree_on_long_lists(seed: int) -> None:
    qrels, run = long_collection(seed)
    assert_same(TRUNCATED, qrels, run, qrels, run)


@pytest.mark.parametrize(("qrels", "runs", "number"), REAL)
def test_user_models_agree_on_real_runs(
    real_data: Callable[[str], Path], qrels: str, runs: str, number: int
) -> None:
    qrels_file, run_file = real_data(qrels), sorted(real_data(runs).iterdir())[number]
    with gzip.open(qrels_file, "rt") as text:
        known = list(ir_measures.read_trec_qrels(text))
    with gzip.open(run_file, "rt") as text:
        shown = list(ir_measures.read_trec_run(text))
    assert_same(TRUNCATED, rg.read_qrels(qrels_file), rg.read_run(run_file), known, shown)


@pytest.mark.parametrize("seed", range(10))
def test_without_a_cutoff_a_user_reads_beyond_rank_1000_and_the_rate_is_lower_by_that(
    seed: int,
) -> None:
    qrels, run = collection(seed)
    other = theirs(ENDLESS.values(), qrels, run)
    (own,) = rg.evaluate(qrels, run, list(ENDLESS), **POLICY).per_query().values()
    for name, measure in ENDLESS.items():
        for query, value in other[str(measure)].items():
            assert own[query][name] <= value + 1e-12
            assert own[query][name] == pytest.approx(value, rel=2 / 1000)


def test_ten_tenths_make_a_whole_here_but_not_in_cwl_eval() -> None:
    qrels = {"q": {f"d{i:02}": 1 for i in range(10)} | {"e": 10}}
    run = {"q": {f"d{i:02}": 20.0 - i for i in range(10)} | {"e": 1.0}}
    other = ir_measures.BPM(max_rel=10) @ 20
    assert theirs([other], qrels, run)[str(other)]["q"] == pytest.approx(2 / 11)
    own = rg.evaluate(qrels, run, "BPM@20", max_grade=10).mean()["run"]["BPM@20"]
    assert own == pytest.approx(1 / 10)


def test_a_goal_below_one_half_is_refused_where_cwl_eval_has_chances_above_one() -> None:
    with pytest.raises(rg.MeasureError, match=r"INST: T: .*from 0\.5"):
        rg.parse("INST(T=0.2)")


def test_the_scale_of_grades_of_ir_measures_is_explained() -> None:
    assert rg.parse("NERR8(min_rel=0)@10") == rg.measures.NERR8 @ 10
    with pytest.raises(rg.MeasureError, match="max_grade"):
        rg.parse("NERR8(max_rel=3)@10")
    with pytest.raises(rg.MeasureError, match="expected 0"):
        rg.parse("NERR8(min_rel=1)@10")


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_compatibility_agrees_on_small_collections(seed: int, normalize: bool) -> None:
    """Theirs stops at the end of the longer of ranking and ideal, which is a cut-off here."""
    qrels, run = collection(seed)
    for query, grades in qrels.items():
        assert_compatible(grades, without_ties(run[query]), 0.9, normalize)


@pytest.mark.parametrize("seed", range(3))
def test_compatibility_agrees_on_long_lists(seed: int) -> None:
    assert_compatible_lists(*long_collection(seed))


@pytest.mark.parametrize(("qrels", "runs", "number"), REAL)
def test_compatibility_agrees_on_real_runs(
    real_data: Callable[[str], Path], qrels: str, runs: str, number: int
) -> None:
    qrels_file, run_file = real_data(qrels), sorted(real_data(runs).iterdir())[number]
    with gzip.open(qrels_file, "rt") as text:
        known = ir_measures.util.QrelsConverter(ir_measures.read_trec_qrels(text)).as_dict_of_dict()
    with gzip.open(run_file, "rt") as text:
        shown = ir_measures.util.RunConverter(ir_measures.read_trec_run(text)).as_dict_of_dict()
    assert_compatible_lists(known, shown)


def assert_compatible_lists(known: Qrels, shown: Run) -> None:
    for query in sorted(known.keys() & shown.keys())[:20]:
        ranked = without_ties(shown[query])
        assert_compatible(known[query], ranked, 0.995, True)
        endless = one_score(known[query], ranked, rg.measures.compat)
        # 0.95^500 is beyond double precision, and with it where theirs stops.
        if len(ranked) >= 500:
            assert endless == pytest.approx(compatibility(known[query], ranked, 0.95, True))


def without_ties(scores: dict[str, float]) -> dict[str, float]:
    """The same order with scores that say it, all above 0.

    Theirs puts tied documents of a grade into the order of the qrels, and unretrieved documents above
    retrieved ones with a negative score: its ideal is not the most similar one then.
    """
    order = sorted(scores, key=lambda document: (-scores[document], document))
    return {document: float(len(order) - i) for i, document in enumerate(order)}


def one_score(grades: dict[str, int], ranked: dict[str, float], measure: rg.Measure) -> float:
    result = rg.evaluate({"q": grades}, {"q": ranked}, measure, **POLICY)
    return float(result.values[0, 0, 0])


def assert_compatible(
    grades: dict[str, int], ranked: dict[str, float], p: float, normalize: bool
) -> None:
    depth = max(len(ranked), sum(grade > 0 for grade in grades.values()))
    own = one_score(grades, ranked, rg.measures.compat(p=p, normalize=normalize) @ depth)
    assert own == pytest.approx(compatibility(grades, ranked, p, normalize), abs=1e-12)
