"""How quickly LETOR files are read, and in how much memory, beside scikit-learn.

    python benchmarks/letor.py [--rows 200000] [--features 136] [--gzip]

A file is made in a temporary folder: whole numbers, numbers with six decimals, and numbers with six
significant digits, as MSLR-WEB30K has them. Each reader has a process of its own. Memory is what the
process had at its peak, without what it had before it began to read. When the values come from the
cache, every value is looked at.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from rankgauge.core.tables import Cell, Table

QUERY = 100
"""How many documents a query has."""

READERS = {
    "rankgauge": "features = read_letor(path)",
    "rankgauge, from the cache": "features = read_letor(path); features.values.sum()",
    "scikit-learn": "features = load_svmlight_file(path, query_id=True)",
}
CODE = """
import json, resource, sys, time
path = sys.argv[1]
if "scikit" in sys.argv[2]:
    from sklearn.datasets import load_svmlight_file
else:
    from rankgauge.io.letor import read_letor
unit = 1 if sys.platform == "darwin" else 1024
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
start = time.perf_counter()
{read}
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
print(json.dumps([seconds, peak - before]))
"""


def make(path: Path, rows: int, features: int, compressed: bool) -> None:
    """A file of so many rows."""
    random = np.random.default_rng(0)
    kinds = random.integers(0, 3, features).tolist()
    with gzip.open(path, "wt", 1) if compressed else path.open("w") as file:
        for start in range(0, rows, 2000):
            count = min(2000, rows - start)
            columns = []
            for number, kind in enumerate(kinds, 1):
                made = random.random(count) * 1000
                form = ("%d", "%.6f", "%.6g")[kind]
                columns.append([f"{number}:{form % value}" for value in made.tolist()])
            labels = random.integers(0, 5, count).tolist()
            for place, pairs in enumerate(zip(*columns, strict=True)):
                file.write(
                    f"{labels[place]} qid:{(start + place) // QUERY + 1} {' '.join(pairs)}\n"
                )
    settled = time.time() - 60  # files that were just written are not cached
    os.utime(path, (settled, settled))


def measured(path: Path, name: str, folder: Path) -> tuple[float, int]:
    """Seconds and bytes of one reader in its own process."""
    caches = {"rankgauge": "off", "rankgauge, from the cache": str(folder / "cache")}
    environment = os.environ | {"RANKGAUGE_CACHE": caches.get(name, "off")}
    command = [sys.executable, "-c", CODE.replace("{read}", READERS[name]), str(path), name]
    if "cache" in name:  # the first time fills it
        subprocess.run(command, env=environment, check=True, capture_output=True)
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    seconds, peak = json.loads(done.stdout)
    return seconds, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=136)
    parser.add_argument("--gzip", action="store_true", help="compress the file")
    arguments = parser.parse_args()
    matrix = arguments.rows * arguments.features * 4
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        path = folder / ("made.txt.gz" if arguments.gzip else "made.txt")
        make(path, arguments.rows, arguments.features, arguments.gzip)
        results = {name: measured(path, name, folder) for name in READERS}
        size = path.stat().st_size
    slowest = results["scikit-learn"][0]
    rows: list[tuple[Cell, ...]] = [
        (
            *(name, seconds, round(arguments.rows / seconds)),
            *(slowest / seconds, peak / 1e6, peak / matrix),
        )
        for name, (seconds, peak) in results.items()
    ]
    columns = ("reader", "seconds", "rows a second", "times as fast", "peak MB", "peak / matrix")
    note = (
        f"{arguments.rows:,} rows of {arguments.features} features; the file has {size / 1e6:.0f} MB, "
        f"the matrix in single precision {matrix / 1e6:.0f} MB"
    )
    print(Table(columns, tuple(rows), (note,)).render("table"), end="")


if __name__ == "__main__":
    main()
