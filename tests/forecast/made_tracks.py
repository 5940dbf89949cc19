"""Small tracks for tests of forecasts: qrels and run files."""

from __future__ import annotations

from pathlib import Path

import numpy as np


def write_track(
    folder: Path, seed: int, runs: int = 5, topics: int = 12, first: int = 1, documents: int = 80
) -> str:
    """QRELS,RUNS of a made track: better runs put relevant documents higher."""
    generator = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    (folder / "runs").mkdir()
    lines: list[str] = []
    rankings: dict[int, list[str]] = {run: [] for run in range(runs)}
    for topic in range(first, first + topics):
        grades = (generator.random(documents) < generator.uniform(0.05, 0.4)).astype(int)
        grades *= generator.integers(1, 3, documents)
        lines += [f"{topic} 0 d{number} {grade}" for number, grade in enumerate(grades.tolist())]
        for run in range(runs):
            scores = grades * (0.3 + 0.2 * run) + generator.standard_normal(documents)
            order = np.argsort(-scores)
            rankings[run] += [
                f"{topic} Q0 d{document} {rank} {scores[document]:.6f} r{run}"
                for rank, document in enumerate(order.tolist(), 1)
            ]
    (folder / "qrels.txt").write_text("\n".join(lines) + "\n")
    for run, text in rankings.items():
        (folder / "runs" / f"r{run}.run").write_text("\n".join(text) + "\n")
    return f"{folder / 'qrels.txt'},{folder / 'runs'}"
