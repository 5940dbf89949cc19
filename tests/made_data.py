"""Files that look like the real data, for tests of what holds for any data.

They have the names of the real files, as many queries, and smaller lists. A run is as good as its skill:
the score of a document is its quality, of which its grade is one too, and noise.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

TRACKS = {
    # Judgments, runs, their queries, and the grades.
    "robust03": (
        ("trec-robust03/qrels.txt.gz",),
        "trec-robust03/runs/input.{}.gz",
        ("InexpC2", "Sel50", "SABIR03BASE", "pircRBa1"),
        *(range(601, 641), (0, 0, 1, 2)),
    ),
    "dl21": (
        ("qrels/qrels.dl21-passage.txt.gz",),
        "trec-dl21/runs/{}.run.gz",
        ("NLE_P_v1", "TUW_TAS-B_768", "p_bm25"),
        *(range(1001, 1054), (0, 1, 2, 3)),
    ),
    "covid": (
        ("qrels/qrels.covid-round1.txt.gz", "trec-covid/round1/qrels/qrels-rnd1.txt"),
        "trec-covid/round1/runs/{}.gz",
        ("run1", "CSIROmedNIR", "bm25_baseline", "T5R1"),
        *(range(1, 31), (0, 0, 1, 2)),
    ),
    "web2012": (
        ("trec-web2012/qrels.adhoc.txt",),
        "trec-web2012/runs/{}.txt.gz",
        ("ql-cata",),
        *(range(151, 171), (-2, 0, 0, 1, 2, 3)),
    ),
    "test": (
        ("trec_eval/v9.0.8/qrels.test",),
        "trec_eval/v9.0.8/{}.test",
        ("results",),
        *(range(301, 304), (0, 0, 1)),
    ),
}
RUNS = {"robust03": 17, "dl21": 6, "covid": 14, "web2012": 4, "test": 1}
LETOR = {
    **{f"mq2008/S{part}.txt.gz": (157, 46, 6) for part in range(1, 6)},
    "ohsumed/Data/Fold1/testset.txt.gz": (22, 25, 8),
    "ohsumed-letor3/Fold1.test.txt.gz": (22, 45, 6),
    "mslr-5k/msn1.fold1.test.5k.txt.gz": (40, 136, 6),
    "mslr-sample/mslr_fold1_test_sample.txt.gz": (18, 136, 6),
    "clueweb09-letor/Fold1.test.txt.gz": (12, 91, 6),
}
"""Sets of features: their queries, features, and decimals."""
DOCUMENTS, RETRIEVED, JUDGED = 160, 110, 30
"""How many documents a query has, how many of them a run has, and to which rank they are judged in all
runs of Robust 2003 and in every third one of other tracks."""


def make_data(folder: Path) -> None:
    """Write all files."""
    for seed, track in enumerate(TRACKS):
        make_track(folder, track, np.random.default_rng(seed))
    for seed, (name, (queries, width, decimals)) in enumerate(LETOR.items()):
        random = np.random.default_rng(seed)
        sizes = random.integers(5, 30, queries).tolist()
        write(folder / name, letor_lines(random, sizes, width, decimals, 1000 * seed))
    sizes = [1, 13, 5, 8]
    write(folder / "lightgbm-lambdarank/rank.train.gz", sparse_lines(random, sum(sizes)))
    write(folder / "lightgbm-lambdarank/rank.train.query", (f"{size}\n" for size in sizes))


def write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    content = "".join(lines).encode()
    path.write_bytes(gzip.compress(content, 1) if path.suffix == ".gz" else content)


def make_track(folder: Path, track: str, random: np.random.Generator) -> None:
    judged, pattern, first, queries, grades = TRACKS[track]
    names = [*first, *(f"made{number:02}" for number in range(RUNS[track] - len(first)))]
    pooled = names if track == "robust03" else names[::3]
    lines: dict[str, list[str]] = {name: [] for name in ("judged", *names)}
    for query in queries:
        documents = [f"{track}-{number}" for number in random.permutation(2 * DOCUMENTS)]
        labels = random.choice(grades, DOCUMENTS)
        pool: set[int] = set()
        for name, skill in zip(names, np.linspace(0.1, 2.0, len(names)), strict=True):
            scores = np.round(skill * labels + random.normal(size=DOCUMENTS), 3)
            best = np.argsort(-scores, kind="stable")[:RETRIEVED].tolist()
            if name in pooled:
                pool.update(best[:JUDGED])
            lines[name] += [
                f"{query} Q0 {documents[number]} {rank} {scores[number]} {name}\n"
                for rank, number in enumerate(best, 1)
            ]
        lines["judged"] += [f"{query} 0 {documents[n]} {labels[n]}\n" for n in sorted(pool)]
    for path in judged:
        write(folder / path, lines["judged"])
    for name in names:
        write(folder / pattern.format(name), lines[name])


def letor_lines(
    random: np.random.Generator, sizes: Sequence[int], width: int, decimals: int, first: int
) -> Iterator[str]:
    for query, size in enumerate(sizes, first):
        for number, label in enumerate(random.choice((0, 0, 0, 1, 2), size).tolist()):
            values = random.random(width) * (random.random(width) < 0.8) + 0.1 * label
            pairs = " ".join(f"{i}:{value:.{decimals}f}" for i, value in enumerate(values, 1))
            yield f"{label} qid:{query} {pairs} #docid = D{query}-{number} inc = 1 prob = 0.5\n"


def sparse_lines(random: np.random.Generator, count: int) -> Iterator[str]:
    """Lines without queries and without most features, as LightGBM's example has them."""
    for label in random.choice((0, 1, 2, 3), count).tolist():
        some = np.sort(random.choice(np.arange(1, 301), 40, replace=False)).tolist()
        yield f"{label} {' '.join(f'{i}:{random.random():.2f}' for i in some)}\n"
