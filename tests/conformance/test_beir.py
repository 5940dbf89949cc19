"""BEIR's own evaluation code, with `rankgauge.pytrec_eval` in place of pytrec_eval: the same numbers."""

from __future__ import annotations

import gzip
import importlib
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import pytrec_eval as theirs

import rankgauge.pytrec_eval as ours

CUTOFFS = [1, 3, 5, 10, 100, 1000]


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        return list(file)


def evaluation(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    """BEIR's code, imported afresh with this module as its pytrec_eval."""
    monkeypatch.setitem(sys.modules, "pytrec_eval", module)
    monkeypatch.delitem(sys.modules, "beir.retrieval.evaluation", raising=False)
    made = importlib.import_module("beir.retrieval.evaluation")
    assert made.pytrec_eval is module
    return made.EvaluateRetrieval


@pytest.mark.parametrize(
    ("qrels", "folder"),
    [
        ("trec-covid/round1/qrels/qrels-rnd1.txt", "trec-covid/round1/runs"),
        ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs"),
    ],
)
def test_beir_gives_the_same_numbers(
    real_data: Any, monkeypatch: pytest.MonkeyPatch, qrels: str, folder: str
) -> None:
    pytest.importorskip("beir.retrieval.evaluation")
    judged = theirs.parse_qrel(lines(real_data(qrels)))
    for file in sorted(real_data(folder).iterdir())[:3]:
        run = {q: row for q, row in theirs.parse_run(lines(file)).items() if q in judged}
        numbers = []
        for module in (theirs, ours):
            beir = evaluation(module, monkeypatch)
            numbers.append(
                [
                    beir.evaluate(judged, run, CUTOFFS),
                    *(
                        beir.evaluate_custom(judged, run, CUTOFFS, m)
                        for m in ("mrr", "hole", "acc")
                    ),
                ]
            )
        assert numbers[0] == numbers[1]
        assert 0 < numbers[1][0][0]["NDCG@10"] <= 1
