"""How long planes and trajectories take, beside a plain prototype where it is at hand.

    python benchmarks/space.py [--data DIR] [--prototype FILE]

The prototype is d_flips.py of our reference scripts: the same cells from the wedges at every vertex, in
plain Python. MQ2008 is read from the folder RANKGAUGE_DATA, or from beside the project. Both are left
out, with a message, where they are not there.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.errors import InputError
from rankgauge.space import plane, trajectory
from rankgauge_studies.optimization import queries, theorems

SHARED = Path(__file__).resolve().parents[2] / "shared"
MEASURES = ("AP", "nDCG", "P@5", "RR")


def seconds(work: Callable[[], object], turns: int = 3) -> float:
    """The median time of some turns."""
    taken = []
    for _ in range(turns):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def beside_prototype(path: Path) -> None:
    """Cells and the optima of AP and nDCG, by us and by the prototype, in turns."""
    spec = importlib.util.spec_from_file_location("prototype", path)
    if spec is None or spec.loader is None or not path.exists():
        print(f"{path}: no prototype, left out")
        return
    prototype: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(prototype)
    for number, documents in ((1, 4), (1, 8), (2, 6), (3, 6)):
        each = theorems.draw_instance(np.random.default_rng(1), number, documents, 300)
        own = [
            (
                np.array(
                    [d for d, q in zip(each.documents, each.queries, strict=True) if q == query]
                ),
                [x for x, q in zip(each.labels, each.queries, strict=True) if q == query],
            )
            for query in range(number)
        ]

        def theirs(own: Any = own) -> int:
            made = prototype.Arrangement(own)
            return sum(len(made.optima(made.values(m))) for m in (prototype.AP, prototype.NDCG()))

        def ours(each: theorems.Instance = each) -> int:
            made = each.plane()
            return sum(len(made.optima(measure)) for measure in ("AP", "nDCG"))

        assert theirs() == ours()
        slow, fast = seconds(theirs), seconds(ours)
        print(
            f"{number} × {documents} documents, {len(each.plane())} cells: prototype "
            f"{slow * 1e3:.1f} ms, rankgauge {fast * 1e3:.1f} ms, {slow / fast:.1f} times as fast"
        )


def on_real_queries(folder: Path) -> None:
    """Cells, values and optima as queries are added, and a path through all features."""
    try:
        data = queries.read(folder)
    except InputError as error:
        print(f"{error}: left out")
        return
    random = np.random.default_rng(queries.SEED)
    for number in (1, 4, 8, 16, 24):
        each = data.instance(random.choice(len(data), number, replace=False))
        start = time.perf_counter()
        made = plane(each.documents, each.labels, each.queries, neutral=False)
        cells = time.perf_counter() - start
        for measure in MEASURES:
            made.optima(measure)
        total = time.perf_counter() - start
        print(
            f"{number} queries × 8 documents: {len(made.lines)} lines, {len(made):,} cells in "
            f"{cells:.2f} s; with the optima of {', '.join(MEASURES)} {total:.2f} s"
        )
    features = queries.read_letor(folder / queries.FILES[0])
    width = features.values.shape[1]
    points = np.random.default_rng(2).standard_normal((3, width))
    made_path: list[Any] = []
    taken = seconds(lambda: made_path.append(trajectory(features, points, ["AP", "nDCG@10"])), 1)
    flips = len(made_path[0].position)
    print(
        f"a path of two pieces through {width} weights, MQ2008 part 1: {flips:,} flips in {taken:.2f} s"
    )


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("RANKGAUGE_DATA", SHARED / "data")
    )
    parser.add_argument(
        "--prototype", type=Path, default=SHARED / "reference" / "space" / "d_flips.py"
    )
    asked = parser.parse_args()
    beside_prototype(asked.prototype)
    on_real_queries(Path(asked.data))


if __name__ == "__main__":
    main()
