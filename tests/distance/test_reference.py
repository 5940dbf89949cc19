"""Against an older program, on five pairs of TREC-COVID runs, with judgments and without.

What it does, to five places:

- Its "nDCG" is SDCG@20 with gain 2^label − 1 over that of the highest grade, 2, which is also what an
  unjudged document may have. RBP has p = 0.95 down to rank 1,000 and the ranks beyond; any label from 1
  on counts. ERR@30 has a chance to stop of 3/4 at grade 2, and is searched for: only so many documents
  that both lists have are tried as relevant.
- Tied documents are in descending order of their ids.
- By SDCG and RBP, an unjudged document of the list ahead that the other list has further down, at its
  very last rank, is taken as if that list did not have it: the weight of that rank is not subtracted.
  Judged documents are counted as they are, and so is one that both have at the same rank.

By that rule we agree everywhere; without it ours is the smaller one, where there is such a document. By
ERR its search could miss the greatest difference; to five places it never does here.
"""

from __future__ import annotations

import csv
import gzip
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import rankgauge as rg

PRINTED = 5.1e-6
"""Half a unit of the last place that it prints, and a little."""
GRADES = {"grades": (0, 2), "max_grade": 2}
PAIRS = [
    ("BITEM_BL", "BITEM_df"),
    ("CSIROmedNIR", "PL2c1.0"),
    ("OHSU_RUN1", "UIowaS_Run1"),
    ("run1", "CSIROmedNIR"),
    ("run1", "xj4wang_run1"),
]


class Topic(NamedTuple):
    """The numbers of the program for a query, and the lists and labels it had."""

    y: list[str]
    z: list[str]
    labels: dict[str, int]
    sdcg: float
    rbp: float
    err: float


@pytest.fixture(scope="module", params=[False, True], ids=["unjudged", "judged"])
def topics(request: pytest.FixtureRequest, real_data: Callable[[str], Path]) -> list[Topic]:
    """All queries of all pairs."""
    kind = "qrels" if request.param else "noqrels"
    folder = real_data("trec-covid/round1")
    judgments: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels/qrels-rnd1.txt").read_text().splitlines():
        topic, _, document, label = line.split()
        judgments.setdefault(topic, {})[document] = int(label)
    found = []
    for pair in PAIRS:
        y, z = (ranked(folder / f"runs/{name}.gz") for name in pair)
        table = real_data(f"med-reference/covid1.{pair[0]}.{pair[1]}.{kind}.csv")
        for row in csv.DictReader(table.read_text().splitlines()):
            if (topic := row["topic"]) != "amean":
                labels = judgments[topic] if request.param else {}
                values = (float(row[f"MED-{name}"]) for name in ("nDCG@20", "RBP", "ERR"))
                found.append(Topic(y[topic], z[topic], labels, *values))
    assert len(found) == 150
    return found


def ranked(path: Path) -> dict[str, list[str]]:
    """The documents of each query in rank order, ties by descending id."""
    rows: dict[str, list[tuple[float, str]]] = {}
    with gzip.open(path, "rt") as lines:
        for line in lines:
            topic, _, document, _, score, _ = line.split()
            rows.setdefault(topic, []).append((float(score), document))
    return {topic: [d for _, d in sorted(some, reverse=True)] for topic, some in rows.items()}


def weighted(
    ahead: Sequence[str],
    other: Sequence[str],
    gains: dict[str, float],
    weights: Sequence[float],
    last_rank_rule: bool,
) -> float:
    """How far a list can be ahead by Σ weight · gain, where free documents gain up to 1; with its rule
    for the last rank, or without."""
    there = {document: rank for rank, document in enumerate(other)}
    total = 0.0
    for rank, document in enumerate(ahead):
        at = there.pop(document, None)
        gain = gains.get(document)
        if last_rank_rule and gain is None and at == len(other) - 1 > rank:
            at = None
        difference = weights[rank] - (0.0 if at is None else weights[at])
        total += max(0.0, difference) if gain is None else gain * difference
    return total - math.fsum(
        gains.get(document, 0.0) * weights[at] for document, at in there.items()
    )


def greatest(
    topic: Topic,
    gains: Mapping[int, float],
    weights: Sequence[float],
    rule: bool,
    unseen: Callable[[int], float] = lambda length: 0.0,
) -> float:
    """The distance by either list ahead, in lists as long as there are weights."""
    y, z = topic.y[: len(weights)], topic.z[: len(weights)]
    known = {document: gains[label] for document, label in topic.labels.items()}
    return max(weighted(a, b, known, weights, rule) + unseen(len(a)) for a, b in ((y, z), (z, y)))


def test_sdcg_agrees_by_its_rule_for_the_last_rank(topics: list[Topic]) -> None:
    raw = [1 / math.log2(rank + 2) for rank in range(20)]
    weights = [weight / math.fsum(raw) for weight in raw]
    gains = {0: 0.0, 1: 1 / 3, 2: 1.0}
    by_rule = 0
    for topic in topics:
        assert greatest(topic, gains, weights, True) == pytest.approx(topic.sdcg, abs=PRINTED)
        ours = rg.med(*topic[:2], "SDCG(gain=exp2)@20", topic[2], **GRADES).value / 3
        assert ours == pytest.approx(greatest(topic, gains, weights, False), abs=1e-12)
        assert ours <= topic.sdcg + PRINTED
        by_rule += topic.sdcg - ours > PRINTED
    assert by_rule == (6 if topics[0].labels else 45)


def test_rbp_agrees(topics: list[Topic]) -> None:
    """With its rule or without, the last rank of lists so long is not worth a fifth place."""
    gains = {0: 0.0, 1: 1.0, 2: 1.0}
    weights = [0.05 * 0.95**rank for rank in range(1000)]
    for topic in topics:
        ours = rg.med(*topic[:2], "RBP(p=0.95)", topic[2], **GRADES).value
        assert ours == pytest.approx(topic.rbp, abs=PRINTED)
        assert ours == pytest.approx(
            greatest(topic, gains, weights, False, lambda length: 0.95**length), abs=1e-12
        )


def test_err_is_never_smaller(topics: list[Topic]) -> None:
    """Ours is the greatest difference; the search finds that or less, and on these queries that."""
    more = [rg.med(*topic[:2], "ERR@30", topic[2], **GRADES).value - topic.err for topic in topics]
    assert min(more) >= -PRINTED
    larger = sum(difference > PRINTED for difference in more)
    print(f"ERR@30: larger than what the search found on {larger} of 150, by up to {max(more):.5f}")
    assert larger == 0
