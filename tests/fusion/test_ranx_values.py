"""Fused scores are those of ranx, but for the differences listed here.

`ranx_values.py` made the values. Real runs are there as TREC DL 2021 and Robust 2003 have them.

- ranx has no `absent`: its sum and wsum take 0 for a document that a list lacks, and the others leave
  the list out. So they are compared with absent="zero" and "skip".
- max: ranx divides a list of negative scores by 1e-9. Here it is refused.
- condorcet: ranx's result is defined only where the majority puts all documents into one order, and each
  list has all documents. The runs called agreeing are such ones; on them the scores are the same.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from oracles import fusion as oracle
from rankgauge.fusion.methods import METHODS
from rankgauge.fusion.pool import pool_of
from rankgauge.fusion.runs import Fusion

STORED = json.loads((Path(__file__).parent / "ranx_values.json").read_text(encoding="utf-8"))
CASES = [tuple(case) for case in STORED["cases"]]
METHODS_OF_RANX = sorted({method for _, method, *_ in CASES})
NORMALIZATIONS_OF_RANX = sorted({normalize for _, _, normalize, *_ in CASES if normalize})
TOLERANCE = 1e-12


def settings_of(method: str, normalize: str | None, parameters: dict[str, Any]) -> dict[str, Any]:
    settings = dict(parameters)
    if normalize is not None:
        settings["normalize"] = normalize
    if normalize not in (None, "borda"):
        settings["absent"] = "zero" if method in ("sum", "wsum") else "skip"
    return settings


def scores_of(name: str, method: str, settings: dict[str, Any]) -> dict[str, list[float]]:
    """Our scores in the order of the stored ones: documents of a query sorted by id."""
    union = pool_of([rg.Run.from_dict(run) for run in STORED["runs"][name]])
    scores = Fusion.of(method, **settings).scores(union)
    documents = union.documents.texts()
    found = {}
    for number, topic in enumerate(union.queries.texts()):
        rows = range(*union.bounds[number : number + 2])
        found[topic] = [float(scores[row]) for row in sorted(rows, key=documents.__getitem__)]
    return found


def has_negative_list(name: str) -> bool:
    return any(max(each.values()) <= 0 for run in STORED["runs"][name] for each in run.values())


@pytest.mark.parametrize("method", METHODS_OF_RANX)
def test_scores_are_those_of_ranx(method: str) -> None:
    compared = 0
    for name, _, normalize, parameters, values in (case for case in CASES if case[1] == method):
        settings = settings_of(method, normalize, parameters)
        if normalize == "max" and has_negative_list(name):
            with pytest.raises(rg.RankgaugeError, match="has no score above 0"):
                scores_of(name, method, settings)
            continue
        if method == "condorcet" and name != "agreeing":
            continue
        found = scores_of(name, method, settings)
        assert found.keys() == values.keys()
        for topic, expected in values.items():
            np.testing.assert_allclose(
                found[topic],
                expected,
                rtol=TOLERANCE,
                atol=0,
                err_msg=f"{name} {normalize} {topic}",
            )
            compared += len(expected)
    assert compared > 70


def test_every_method_and_normalization_is_compared_on_random_and_real_runs() -> None:
    cases = Counter((method, normalize) for _, method, normalize, *_ in CASES)
    for method in METHODS_OF_RANX:
        by_score = METHODS[method].takes == "scores"
        for normalize in NORMALIZATIONS_OF_RANX if by_score else [None]:
            assert cases[method, normalize] >= len(STORED["runs"]) == 6
    assert (len(METHODS_OF_RANX), len(NORMALIZATIONS_OF_RANX)) == (17, 7)
    assert {"dl21", "robust03"} < STORED["runs"].keys()


def test_the_random_runs_have_ties_and_absent_documents() -> None:
    lists = [each for run in STORED["runs"]["ties"] for each in run.values()]
    assert any(len(set(each.values())) < len(each) for each in lists)
    assert any(len(set(each.values())) == 1 < len(each) for each in lists)
    runs = STORED["runs"]["plain"]
    assert any(runs[0][topic].keys() != runs[1][topic].keys() for topic in runs[0])


def test_where_condorcet_differs_the_majority_gives_no_one_order() -> None:
    for name, method, _, parameters, values in CASES:
        if method != "condorcet":
            continue
        weights = parameters.get("weights", [1.0] * 3)
        for topic, expected in values.items():
            lists = [run[topic] for run in STORED["runs"][name]]
            score = oracle.fused(lists, method, normalize="none", absent="skip", weights=weights)
            ours = [score[d] for d in sorted(score)]
            one_order = sorted(ours) == list(range(1, len(ours) + 1))
            complete = all(each.keys() == score.keys() for each in lists)
            assert ours == expected or not (one_order and complete)
