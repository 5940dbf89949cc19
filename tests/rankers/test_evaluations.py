"""The evaluation programs of LETOR and MSLR: their rules, and the figures that LETOR published."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from rankgauge import Features
from rankgauge.data.model import Ids
from rankgauge.errors import RankgaugeError
from rankgauge.rankers.crossval import cross_validation
from rankgauge.rankers.evaluations import Evaluation

SINGLE_FEATURES = {
    1: (0.37134, 0.44811, 0.41136),
    2: (0.37982, 0.44811, 0.41497),
    3: (0.40980, 0.48491, 0.42858),
    4: (0.41296, 0.48302, 0.42939),
    5: (0.23324, 0.33585, 0.33266),
    6: (0.23324, 0.33585, 0.33266),
    7: (0.23324, 0.33585, 0.33266),
    8: (0.43593, 0.49717, 0.44037),
    9: (0.38323, 0.44340, 0.42270),
    10: (0.44117, 0.49057, 0.44244),
    11: (0.26422, 0.35660, 0.34190),
    12: (0.31584, 0.39151, 0.35794),
    13: (0.29185, 0.37358, 0.35207),
    14: (0.29376, 0.37642, 0.35254),
    15: (0.23324, 0.33585, 0.33266),
    16: (0.23324, 0.33585, 0.33266),
    17: (0.23324, 0.33585, 0.33266),
    18: (0.30169, 0.37830, 0.35807),
    19: (0.26518, 0.35566, 0.34372),
    20: (0.32012, 0.39434, 0.37215),
    21: (0.39670, 0.47453, 0.42534),
    22: (0.39670, 0.47453, 0.42534),
    23: (0.38854, 0.45000, 0.42436),
    24: (0.39893, 0.46509, 0.42815),
    25: (0.40732, 0.47736, 0.43034),
}
"""NDCG@10, P@10 and MAP of ranking OHSUMED by one feature: LETOR 2.0, SingleFeatures_OHSUMED.xls."""


def means(features: Features, scores: np.ndarray, by: Evaluation, *measures: str) -> list[float]:
    asked = [by.measure(rg.parse(measure)) for measure in measures]
    (own,) = by.evaluator(features, asked).score_features(features, scores).mean().values()
    return list(own.values())


def test_single_features_of_ohsumed_have_the_published_values(
    real_data: Callable[[str], Path],
) -> None:
    folds = rg.read_folds(real_data("ohsumed/Data"))
    features = Features.joined([fold.test for fold in folds])
    assert len(features.queries) == 106
    for number, published in SINGLE_FEATURES.items():
        scores = features.values[:, number - 1].astype(np.float64)
        found = means(features, scores, Evaluation("letor"), "nDCG@10", "P@10", "AP")
        assert found == pytest.approx(published, abs=5.001e-6), number


def features_of(lists: list[list[int]]) -> Features:
    """Documents with labels, and one feature that is not looked at."""
    bounds = np.cumsum([0, *map(len, lists)])
    labels = np.array([label for own in lists for label in own], dtype=np.int32)
    names = [str(number) for number in range(len(lists))]
    return Features(Ids.of(names), bounds, labels, np.zeros((len(labels), 1)))


def letor_program(labels: list[int], scores: list[float], k: int, short_is_zero: bool) -> float:
    """NDCG@k as LETOR's program has it: documents by score, equal ones as in the file."""
    if short_is_zero and len(labels) < k:
        return 0.0

    def dcg(ranked: list[int]) -> float:
        return math.fsum(
            (2**label - 1) / (1 if rank < 3 else math.log2(rank))
            for rank, label in enumerate(ranked[:k], 1)
        )

    order = sorted(range(len(labels)), key=lambda row: (-scores[row], row))
    best = dcg(sorted(labels, reverse=True))
    return dcg([labels[row] for row in order]) / best if best else 0.0


def average_precision(labels: list[int], scores: list[float], lowest: int) -> float:
    order = sorted(range(len(labels)), key=lambda row: (-scores[row], row))
    relevant = [rank for rank, row in enumerate(order, 1) if labels[row] >= lowest]
    return math.fsum(n / rank for n, rank in enumerate(relevant, 1)) / max(len(relevant), 1)


documents = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1, max_size=12)


@given(st.lists(documents, min_size=1, max_size=4), st.integers(1, 12))
def test_the_programs_written_out(queries: list[list[tuple[int, int]]], k: int) -> None:
    lists = [[label for label, _ in own] for own in queries]
    each = [[float(score) for _, score in own] for own in queries]
    features, scores = features_of(lists), np.concatenate([np.array(own) for own in each])
    for name, lowest in (("letor", 1), ("mslr", 2)):
        wanted = [
            np.mean(
                [letor_program(*own, k, name == "letor") for own in zip(lists, each, strict=True)]
            ),
            np.mean([average_precision(*own, lowest) for own in zip(lists, each, strict=True)]),
        ]
        found = means(features, scores, Evaluation(name), f"nDCG@{k}", "AP")
        assert found == pytest.approx(wanted, abs=1e-12)


def test_what_the_programs_lack_is_refused() -> None:
    letor = Evaluation("letor")
    with pytest.raises(RankgaugeError, match=r"needs a cutoff, such as nDCG@10"):
        letor.measure(rg.parse("nDCG"))
    with pytest.raises(
        RankgaugeError, match=r"v2\(nDCG@10\): the letor evaluation has no such measure"
    ):
        letor.measure(rg.parse("v2(nDCG@10)"))


def test_cross_validation_by_the_program_of_letor(tmp_path: Path) -> None:
    """The rankers are the same; only what is made of their rankings differs."""
    pytest.importorskip("sklearn")
    generator = np.random.default_rng(3)
    lines = [
        f"{generator.integers(3)} qid:{query} 1:{generator.integers(4)} 2:{generator.integers(4)}"
        for query in range(30)
        for _ in range(generator.integers(3, 14))
    ]
    path = tmp_path / "data.txt"
    path.write_text("\n".join(lines) + "\n")
    folds = rg.read_folds(path, 3)
    plain, letor = (
        cross_validation(folds, ["logisticregression"], ["nDCG@10", "AP"], evaluation=name)
        for name in ("rankgauge", "letor")
    )
    assert [str(measure) for measure in letor.scores.measures] == ["nDCG_LETOR@10", "AP"]
    test = Features.joined([fold.test for fold in folds])
    short = np.diff(test.bounds) < 10
    assert short.any()
    values = dict(zip(letor.scores.queries, letor.scores.values[0, :, 0], strict=True))
    for name, is_short in zip(test.queries.texts(), short, strict=True):
        assert not (is_short and values[name])
    assert letor.scores.policies.ties == "input" != plain.scores.policies.ties
