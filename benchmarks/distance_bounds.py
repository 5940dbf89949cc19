"""Is the default distance of two lists a bound? Random cases against all labels.

Each case has a measure with an algorithm of its own, two lists of up to six documents, some of them
judged with grades 0 to 3, and judged documents in neither list. Brute force scores both lists under all
labels 0 to 3 of the unjudged documents, and again with up to three documents of random grades in neither
list. The script counts labels that exceed the default answer of `med` where that says it is exact, and
answers that no labels attain. Both counts should be 0.

    python benchmarks/distance_bounds.py --cases 100000
"""

from __future__ import annotations

import argparse
import itertools
import random
import time
from collections import Counter
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankgauge import parse
from rankgauge.distance.algorithms.lists import Lists
from rankgauge.distance.maximized import distance_of
from rankgauge.measures import Measure
from rankgauge.rankings.lists import JudgedLabels, offsets_of

HIGHEST = 3
FAMILIES = (
    "P@{k}", "P(rel=2)@{k}", "CG@{k}", "DCG@{k}", "DCG(gain=exp2)@{k}", "SDCG@{k}", "RBP@{k}",
    "RBP(gain=scaled)@{k}", "INSQ@{k}", "Recall@{k}", "Recall(rel=3)@{k}", "Success@{k}", "RR@{k}",
    "RR(rel=2)@{k}", "Rprec", "Rprec(rel=2)", "nDCG@{k}", "nDCG", "nDCG(gain=exp2)@{k}",
    "nDCG(gain={{1:1,2:5,3:6}})@{k}", "AP", "AP@{k}", "AP(norm=min)@{k}", "AP(norm=k)@{k}",
    "AP(rel=2)@{k}", "SP@{k}", "SSP@{k}", "ERR@{k}", "ERR", "Q@{k}", "Q(gain={{1:1,2:1,3:1}})@{k}",
)  # fmt: skip
"""All measures that have an algorithm, with parameters that matter to it."""


def drawn_lists(draw: random.Random) -> Lists:
    documents = draw.randint(1, 9)
    both = [draw.sample(range(documents), draw.randint(0, min(6, documents))) for _ in range(2)]
    listed = sorted({*both[0], *both[1]})
    number = {document: place for place, document in enumerate(listed)}
    free = draw.choice((0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6))
    is_free = set(draw.sample(listed, min(free, len(listed))))
    top = draw.choice((1, 2, HIGHEST))
    labels = [-1 if d in is_free else draw.randint(0, top) for d in listed]
    elsewhere = [draw.randint(0, top) for _ in range(draw.choice((0, 0, 1, 3)))]
    return Lists(
        np.array([number[d] for ranking in both for d in ranking], dtype=np.int32),
        offsets_of([len(ranking) for ranking in both]),
        np.array(labels, dtype=np.int32),
        JudgedLabels.of(
            [*(label for label in labels if label >= 0), *elsewhere], max_grade=HIGHEST
        ),
        np.arange(HIGHEST + 1, dtype=np.int32),
        offlist=True,
    )


def greatest(measure: Measure, lists: Lists, others: list[int]) -> float:
    """The greatest difference over all labels, with documents of these labels in neither list."""
    cut = lists.top(measure.depth)
    listed = np.zeros(len(cut.labels), dtype=np.bool_)
    listed[cut.documents] = True
    free = np.flatnonzero(cut.free & listed)
    known = cut.judged.labels.tolist()
    wider = replace(cut, judged=JudgedLabels.of([*known, *others], max_grade=HIGHEST))
    choices = list(itertools.product(range(HIGHEST + 1), repeat=len(free)))
    rows: NDArray[np.int32] = np.repeat(cut.labels[None, :], len(choices), axis=0)
    rows[:, free] = np.array(choices, dtype=np.int32).reshape(len(choices), len(free))
    one, two = (wider.scores(measure.score_each, i, rows) for i in range(2))
    return float(np.abs(one - two).max())


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--cases", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    draw = random.Random(asked.seed)
    seen: Counter[str] = Counter()
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for _ in range(asked.cases):
        text = draw.choice(FAMILIES).format(k=draw.randint(1, 6))
        measure = parse(text)
        assert isinstance(measure, Measure)
        lists = drawn_lists(draw)
        found = distance_of(measure, lists, 0, 1, range(len(lists.labels)))
        others = [draw.randint(0, HIGHEST) for _ in range(draw.randint(1, 3))]
        inside = greatest(measure, lists, [])
        most = max(inside, greatest(measure, lists, others))
        seen[measure.name] += 1
        counts["exact"] += found.exact
        slack = 1e-9 * max(1.0, most)
        counts["above the upper bound"] += most > found.upper + slack
        counts["above an exact answer"] += found.exact and most > found.value + slack
        if found.exact and (measure.monotone or measure.off_list != "counts"):
            counts["must be attained"] += 1
            counts["not attained"] += abs(inside - found.value) > slack
    print(f"{asked.cases:,} cases, {counts['exact']:,} of them exact, seed {asked.seed}")
    print(", ".join(f"{name} {count:,}" for name, count in sorted(seen.items())))
    for kind in (
        "above the upper bound",
        "above an exact answer",
        "must be attained",
        "not attained",
    ):
        print(f"{kind}: {counts[kind]:,}")
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
