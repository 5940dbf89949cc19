"""Curves between real runs: predicted is what is evaluated anew, and no grid is better."""

from __future__ import annotations

import numpy as np
import pytest

import rankgauge as rg
from profiles import thorough
from rankgauge.fusion.mixing import LabelledPool, Mixture
from rankgauge.fusion.pool import pool_of

PAIRS = {
    "DL 2021": (
        "qrels/qrels.dl21-passage.txt.gz",
        "trec-dl21/runs/p_bm25.run.gz",
        "trec-dl21/runs/TUW_TAS-B_768.run.gz",
    ),
    "TREC-COVID": (
        "qrels/qrels.covid-round1.txt.gz",
        "trec-covid/round1/runs/bm25_baseline.gz",
        "trec-covid/round1/runs/T5R1.gz",
    ),
    "Robust 2003": (
        "trec-robust03/qrels.txt.gz",
        "trec-robust03/runs/input.SABIR03BASE.gz",
        "trec-robust03/runs/input.pircRBa1.gz",
    ),
}
TRIED = {"nDCG@10": 100, "AP": 8, "ERR@20": 30}
"""How many midpoints are tried, of each measure; the thorough profile tries many more."""


@pytest.mark.parametrize("pair", sorted(PAIRS))
@pytest.mark.parametrize("normalize", ["min-max", "z", "rank", "none"])
def test_predicted_is_evaluated_anew_between_real_runs(pair, normalize, real_data):
    qrels, *runs = (real_data(name) for name in PAIRS[pair])
    evaluator = rg.Evaluator(qrels, "AP")
    union = pool_of([rg.read_run(run) for run in runs])
    labelled = LabelledPool.of(union, evaluator.judgments, evaluator.judged)
    segment = Mixture.of(union, labelled, normalize, "minimum").segment(*np.eye(2))
    random = np.random.default_rng(1)
    for text, tried in TRIED.items():
        if text == "AP" and pair == "Robust 2003" and not thorough():
            continue  # 100 topics of 2,000 documents: a second or two, and much memory
        measure = rg.parse(text)
        curve = segment.curve(measure)
        middles = (curve.edges[1:] + curve.edges[:-1]) / 2
        some = random.permutation(len(middles))[: 100 * tried if thorough() else tried]
        for place in some.tolist():
            value = segment.mean_at(float(middles[place]), measure)
            assert value == pytest.approx(curve.values[place], abs=1e-12)
            assert value <= curve.value + 1e-12
