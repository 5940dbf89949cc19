"""Distances: the time of one call and of a pair among many, with the budgets; growth; memory; greedy.

    python benchmarks/distance.py [--data ../shared/data] [--sample 300] [--repeat 5]

`call` is `rankgauge.med` from Python on two lists of ids, with the measure as text and with all
checks. `pair` is the time of a pair of lists in a matrix of runs, where the lists are laid out once.
Two lists share six in ten of their documents, in random order. Nothing is judged, which means the most
work. Times are the best of the repetitions; a call that takes longer than a second is made once.
Memory is the peak of what Python and NumPy hold.

If there are runs of TREC-COVID round 1 (`--data` names the folder that has `trec-covid`), the time of
all pairs of runs on all queries is printed too. The last table is about the greedy heuristic for AP: in
how many pairs of lists it misses the distance, and by how much. The lists come from these runs (any
two runs, or two runs that are near each other) and from shuffled lists with some documents judged. The
heuristic misses so rarely that the table starts with a counterexample, to show that a miss would be
seen.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
from evaluate import show

import rankgauge as rg
from rankgauge.distance.algorithms.lists import Lists
from rankgauge.rankings.lists import JudgedLabels, offsets_of

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from oracles.distance import greedy

BUDGETS = {"AP@100": 2e-3, "AP@1000": 3.0, "nDCG@20": 20e-6}
GROWTH = (10, 20, 50, 100, 200, 500, 1000)
SLOW = {"Q": 200}
"""Measures that walk once for each number of relevant documents, and how far they are taken here."""


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(__file__).parents[2] / "shared" / "data")
    parser.add_argument("--sample", type=int, default=300, help="pairs to hold greedy against")
    parser.add_argument("--repeat", type=int, default=5)
    arguments = parser.parse_args()
    budgets(arguments.repeat)
    growth(arguments.repeat)
    memory()
    folder = arguments.data / "trec-covid" / "round1"
    if folder.exists():
        matrix(folder)
    else:
        print(
            f"no runs of TREC-COVID in {folder}: no matrix of runs, greedy on shuffled lists only"
        )
    gaps(folder, arguments.sample)


def best_of(repeat: int, call: Callable[[], object]) -> float:
    """The best time of a call, in seconds."""
    best = np.inf
    for _ in range(repeat):
        started = time.perf_counter()
        call()
        took = time.perf_counter() - started
        best = min(best, took)
        if took > 1:
            break
    return float(best)


def lists_of(k: int, count: int = 2, seed: int = 1) -> list[list[int]]:
    """Lists of k documents. Any two of them share about six in ten documents."""
    drawn = random.Random(seed)
    shared = list(range(k))
    lists = []
    for i in range(count):
        kept = [d if drawn.random() < 0.775 else (i + 1) * k + d for d in shared]
        drawn.shuffle(kept)
        lists.append(kept)
    return lists


def per_pair(measure: str, lists: list[list[int]], repeat: int) -> float:
    """The time of a pair if the distances of all pairs of these lists are computed at once."""
    documents = sorted({d for one in lists for d in one})
    number = {d: i for i, d in enumerate(documents)}
    laid = Lists(
        np.array([number[d] for one in lists for d in one], dtype=np.int32),
        offsets_of([len(one) for one in lists]),
        np.full(len(documents), -1, dtype=np.int32),
        JudgedLabels.of([], max_grade=1),
        np.array([0, 1], dtype=np.int32),
    )
    first, second = (x.astype(np.int64) for x in np.triu_indices(len(lists), 1))
    asked = rg.parse(measure).complete()
    return best_of(repeat, lambda: asked.distance_each(laid, first, second)) / len(first)


def budgets(repeat: int) -> None:
    """The budgets of the design, for one call and for a pair among many."""
    rows = []
    for measure, budget in BUDGETS.items():
        k = int(measure.partition("@")[2])
        a, b = lists_of(k)
        call = best_of(
            repeat * 20 if k < 50 else repeat, lambda m=measure, a=a, b=b: rg.med(a, b, m)
        )
        pair = per_pair(measure, lists_of(k, 2 if k > 200 else 30), repeat)
        verdicts = ["met" if took <= budget else "missed" for took in (call, pair)]
        rows.append((measure, 1e3 * budget, 1e3 * call, verdicts[0], 1e3 * pair, verdicts[1]))
    print("One pair of lists\n")
    show(("measure", "budget ms", "call ms", "", "pair ms", ""), rows)


def growth(repeat: int) -> None:
    """How the time of one call grows with the cut-off."""
    rows = []
    for name, k in itertools.product(("nDCG", "AP", "ERR", "Q"), GROWTH):
        if k > SLOW.get(name, k):
            continue
        a, b = lists_of(k)
        took = best_of(repeat, lambda m=f"{name}@{k}", a=a, b=b: rg.med(a, b, m))
        rows.append((name, k, 1e3 * took, 1e9 * took / k**3))
    print("Growth with k, one call\n")
    show(("measure", "k", "call ms", "ns / k³"), rows)


def memory() -> None:
    """Peak memory of AP@1000."""
    a, b = lists_of(1000)
    rows = []
    for name, call in (
        ("distance", lambda: rg.med(a, b, "AP@1000")),
        ("and witness", lambda: rg.med(a, b, "AP@1000").witness()),
    ):
        tracemalloc.start()
        call()
        rows.append((name, tracemalloc.get_traced_memory()[1] / 1e6))
        tracemalloc.stop()
    print("Peak memory of AP@1000\n")
    show(("what", "peak MB"), rows)


def matrix(folder: Path) -> None:
    """All pairs of runs on all queries; AP on a sample of the runs."""
    files = sorted((folder / "runs").glob("*.gz"))
    rows = []
    for measure, some in (("nDCG@10", files), ("AP@10", files[::6]), ("AP@100", files[::24])):
        started = time.perf_counter()
        distances = rg.med_matrix(None, some, measure)
        took = time.perf_counter() - started
        again = distances._topics
        started = time.perf_counter()
        for topic in again:
            first, second = (x.astype(np.int64) for x in np.triu_indices(len(some), 1))
            distances.measure.distance_each(topic.lists, first, second)
        alone = time.perf_counter() - started
        pairs = distances.values.size
        rows.append(
            (
                measure,
                len(some),
                len(distances.pairs),
                len(distances.queries),
                took,
                1e6 * alone / pairs,
            )
        )
    print("Matrices of runs without judgments: reading and all, on all processors; a pair on one\n")
    show(("measure", "runs", "pairs", "topics", "seconds", "µs / pair and query"), rows)


Pair = tuple[list[int], list[int], dict[int, int]]
COUNTEREXAMPLE: Pair = (
    [20, 10, 5, 22, 7, 16, 0],
    [20, 10, 22, 21, 16, 7, 13],
    {22: 0, 0: 0, 16: 0, 5: 1, 21: 1, 13: 1, **{-1 - i: 1 for i in range(7)}},
)


def gaps(folder: Path, sample: int) -> None:
    """How far the greedy heuristic stays below the distance by AP."""
    drawn = random.Random(13)
    rows = []
    for k in (7, 10, 20, 50):
        sources = {"shuffled lists": [shuffled(drawn, k) for _ in range(sample)]}
        if k == 7:
            sources = {"a counterexample": [COUNTEREXAMPLE]}
        elif folder.exists():
            for judged in (False, True):
                names = [f"{kind} runs{', judged' * judged}" for kind in ("any", "near")]
                sources.update(zip(names, from_runs(drawn, folder, k, sample, judged), strict=True))
        for name, pairs in sources.items():
            short = np.array(
                [rg.med(*p[:2], f"AP@{k}", *p[2:]).value - greedy(*p, k) for p in pairs]
            )
            missed = short[short > 1e-9]
            of_missed = np.quantile(missed, (0.5, 0.9, 1)) if len(missed) else np.zeros(3)
            rows.append((f"AP@{k}", name, len(pairs), len(missed), *(1e3 * of_missed).tolist()))
    print("Greedy (Eq. 13) short of the distance, in thousandths, of the pairs that it misses\n")
    show(("measure", "pairs of", "number", "missed", "median", "90 %", "most"), rows)


def shuffled(drawn: random.Random, k: int) -> Pair:
    """Two orders of nearly the same documents, some of them judged. A few relevant documents are in
    neither."""
    a = list(range(k))
    b = sorted(a, key=lambda d: d + drawn.uniform(-3, 3))
    b = [d if drawn.random() < 0.8 else k + d for d in b]
    known = {d: drawn.randint(0, 1) for d in range(2 * k) if drawn.random() < 0.4}
    return a, b, known | {-1 - i: 1 for i in range(drawn.randint(0, k))}


def from_runs(
    drawn: random.Random, folder: Path, k: int, sample: int, judged: bool
) -> tuple[list[Pair], list[Pair]]:
    """Lists of two runs on a query: of any two runs, and of runs that share most of their documents
    but in another order."""
    files = sorted((folder / "runs").glob("*.gz"))
    qrels = folder / "qrels" / "qrels-rnd1.txt" if judged else None
    overlap = rg.med_matrix(None, files, f"P@{k}")
    order = rg.med_matrix(None, files, f"SDCG@{k}")
    topics = rg.med_matrix(qrels, files, f"P@{k}")
    near = np.argwhere((overlap.values < 0.35) & (order.values > 0.01))

    def pair(p: int, query: str) -> Pair:
        lists = topics._topics[topics.queries.index(query)].lists
        a, b = (lists.list(i).tolist() for i in topics.pairs[p])
        known = {d: label for d, label in enumerate(lists.labels.tolist()) if label >= 0}
        relevant = sum(label > 0 for label in known.values())
        off = int(np.count_nonzero(lists.judged.labels > 0)) - relevant
        return a, b, known | {-1 - i: 1 for i in range(off)}

    any_two = [
        pair(drawn.randrange(len(topics.pairs)), drawn.choice(topics.queries))
        for _ in range(sample)
    ]
    chosen = drawn.sample(near.tolist(), min(sample, len(near)))
    return any_two, [pair(p, overlap.queries[q]) for p, q in chosen]


if __name__ == "__main__":
    main()
