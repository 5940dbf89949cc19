"""Distances that the literature and our own counterexamples give, number by number."""

from __future__ import annotations

import math
from typing import Any

import pytest

import rankgauge as rg

X1, X2, KNOWN_1 = list("ABCDE"), list("BCFDA"), {"A": 0, "C": 1, "F": 0}
X3, X4, KNOWN_3 = list("ABCDEFGHJK"), list("ADBECGFJLH"), {"A": 1, "E": 0}
INTERMEDIATE = ([0, 2], [1, 0], {1: 0, 2: 1, 51: 1})
OFFLIST = ([1, 2], [2, 0], {0: 1, 1: 0, 2: 0})
GRADED_Q = ([0, 3], [3, 2], {0: 0, 2: 0})

VECTORS: list[tuple[str, tuple[Any, ...], dict[str, Any], float]] = [
    ("P@5", (X1, X2, KNOWN_1), {}, 0.2),
    ("RR", (X1, X2, KNOWN_1), {}, 0.5),
    ("SDCG@10", (X3, X4, KNOWN_3), {}, 0.1282),
    ("nDCG@10", (X3, X4, KNOWN_3), {}, 0.2352),
    ("SSP@10", (X3, X4, KNOWN_3), {}, 0.1611),
    ("AP(norm=k)@10", (X3, X4, KNOWN_3), {}, 0.1611),
    ("AP@10", (X3, X4, KNOWN_3), {}, 0.2833),
    ("AP(norm=min)@10", (X3, X4, KNOWN_3), {}, 0.2833),
    ("nDCG(gain=exp2)@2", INTERMEDIATE, {"grades": (0, 3)}, 0.421236),
    ("nDCG(gain=exp2)@2", INTERMEDIATE, {"grades": (0, 1, 2, 3)}, 0.613147),
    ("nDCG(gain={2:3,3:7})@2", INTERMEDIATE, {"grades": (0, 1, 2, 3)}, 0.613147),
    ("nDCG(gain=exp2)@2", INTERMEDIATE, {"max_grade": 3}, 0.613147),
    ("nDCG(gain=exp2)@2", INTERMEDIATE, {"grades": (0, "max"), "max_grade": 3}, 0.421236),
    ("Rprec", OFFLIST, {"offlist": "none"}, 0.0),
    ("Rprec", OFFLIST, {}, 0.5),
    ("Q(gain={2:3})@2", GRADED_Q, {"grades": (0, 2), "offlist": "none"}, 0.2),
    ("Q(gain={2:3})@2", GRADED_Q, {"grades": (0, 1, 2), "offlist": "none"}, 1 / 3),
    ("INSQ", (["a", "b", "c"], ["d", "e", "f"], {}), {}, 1.0),
]


@pytest.mark.parametrize(("measure", "case", "options", "value"), VECTORS)
def test_distances(
    measure: str, case: tuple[Any, ...], options: dict[str, Any], value: float
) -> None:
    found = rg.med(*case[:2], measure, *case[2:], **options)
    assert found.exact
    assert found.value == pytest.approx(value, abs=1e-6 if value > 0.4 else 5e-5)


def test_the_labels_that_attain_them() -> None:
    """Bold in Table 3, each the only labels that do."""
    attained = {
        name: "".join(sorted(d for d, label in witness(name).items() if label))
        for name in ("SDCG@10", "nDCG@10", "SSP@10", "AP@10")
    }
    assert attained == {"SDCG@10": "BCFHK", "nDCG@10": "DL", "SSP@10": "BCFGHJK", "AP@10": "BCK"}


def witness(measure: str) -> dict[Any, int]:
    labels: dict[Any, int] = rg.med(X3, X4, measure, KNOWN_3).witness().labels
    return labels


TABLE_1 = {
    1: (1.000, [1.000]),
    2: (1.631, [0.613, 0.387]),
    3: (2.131, [0.469, 0.296, 0.235]),
    4: (2.562, [0.390, 0.246, 0.195, 0.168]),
    5: (2.948, [0.339, 0.214, 0.170, 0.146, 0.131]),
    6: (3.305, [0.303, 0.191, 0.151, 0.130, 0.117, 0.108]),
}


@pytest.mark.parametrize("k", TABLE_1)
def test_table_1_weights_of_sdcg(k: int) -> None:
    """The distance of a list with one free document from an empty one is the weight of its rank."""
    scale, weights = TABLE_1[k]
    ranking = list(range(k))
    for rank, weight in enumerate(weights):
        others = {d: 0 for d in ranking if d != rank}
        found = rg.med(ranking, [], f"SDCG@{k}", others).value
        assert found == pytest.approx(weight, abs=5e-4)
        if rank == 0:
            assert 1 / found == pytest.approx(scale, abs=5e-4)


TABLE_2 = [
    ("", 1, 0.000, 1.000, 0.000),
    ("K", 2, 0.289, 1.631, 0.177),
    ("KB", 3, 0.420, 2.131, 0.197),
    ("KBC", 4, 0.533, 2.562, 0.208),
    ("KBCH", 5, 0.560, 2.948, 0.190),
    ("KBCHF", 6, 0.582, 3.305, 0.176),
    ("L", 2, 0.301, 1.631, 0.185),
    ("LD", 3, 0.501, 2.131, 0.235),
    ("LDG", 4, 0.524, 2.562, 0.205),
    ("LDGJ", 5, 0.539, 2.948, 0.183),
]


@pytest.mark.parametrize(("relevant", "count", "ahead", "ideal", "share"), TABLE_2)
def test_table_2_the_steps_to_ndcg(
    relevant: str, count: int, ahead: float, ideal: float, share: float
) -> None:
    """With the documents of each row relevant, and the rest not, nothing is free."""
    labels = labeled(relevant)
    assert sum(labels.values()) == count
    assert rg.med(X3, X4, "DCG@10", labels).value == pytest.approx(ahead, abs=6e-4)
    assert rg.parse("DCG@10").ideal(list(labels.values())) == pytest.approx(ideal, abs=6e-4)
    assert rg.med(X3, X4, "nDCG@10", labels).value == pytest.approx(share, abs=6e-4)


TABLE_3 = [
    ("BCFHK", 6, (0.128, 0.176, 0.155, 0.259)),
    ("DL", 3, (0.110, 0.235, 0.083, 0.278)),
    ("BCFGHJK", 8, (0.120, 0.138, 0.161, 0.201)),
    ("BCK", 4, (0.117, 0.208, 0.113, 0.283)),
]


@pytest.mark.parametrize(("relevant", "count", "differences"), TABLE_3)
def test_table_3_differences_by_four_measures(
    relevant: str, count: int, differences: tuple[float, ...]
) -> None:
    labels = labeled(relevant)
    assert sum(labels.values()) == count
    names = ("SDCG@10", "nDCG@10", "SSP@10", "AP@10")
    for name, difference in zip(names, differences, strict=True):
        fixed = rg.med(X3, X4, name, labels).value
        assert fixed == pytest.approx(difference, abs=6e-4)
        assert fixed <= rg.med(X3, X4, name, KNOWN_3).value + 1e-12


def labeled(relevant: str) -> dict[str, int]:
    """All documents of the two lists labeled, these relevant."""
    return {d: int(d in relevant) for d in "ABCDEFGHJKL"} | KNOWN_3


def test_r_precision_with_documents_off_the_lists() -> None:
    """A free document and one off the lists relevant, so that R is 2."""
    assert rg.med([0, 1], [0, 2], "Rprec", {0: 0}, offlist="allowed").value == 0.5
    found = rg.med([1, 0, 3], [2], "Rprec", {1: 0, 3: 3}, grades=(0, 1, 2, 3), offlist="allowed")
    assert math.isclose(found.value, 2 / 3)


def test_gains_that_are_far_apart() -> None:
    found = rg.med([1, 2], [2, 0, 1, 3], "nDCG(gain=exp2)@6", {0: 1, 2: 0}, grades=(0, 55))
    assert math.isclose(found.value, 1 / math.log2(3), rel_tol=1e-9)


def test_the_label_of_documents_off_the_lists() -> None:
    found = rg.med([0, 1], [2, 0], "Q(gain={2:5})@2", {0: 0}, grades=(0, 2), offlist="allowed")
    witness = found.witness()
    assert witness.others_label in (0, 2)
