"""The time to start: the command on 50 queries, compared with importing NumPy.

    python benchmarks/startup.py [--repeat 30] [--modules]

`rankgauge evaluate` reads 50 queries of 1,000 documents and prints four means. It is compared with the
import of NumPy alone, the import of rankgauge alone, the library call, and a `trec_eval` program, if one
is on the PATH. The programs take turns, so a slow moment of the machine affects all of them. Times are
the best and the median of the repetitions, in milliseconds. The verdict uses the medians, because the
best depends on one lucky moment. `--modules` lists what the command imports besides NumPy, slowest last.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from evaluate import CLOCK, OURS, SCRIPTS, commands, cost, make

from rankgauge.core.tables import Table

NUMPY = 'python -c "import numpy"'
BUDGET = 1.4
"""How many times as long as the import of NumPy the whole command may take."""


def programs(qrels: Path, run: Path) -> dict[str, list[str]]:
    """The programs that are started, by name."""
    tools = commands(qrels, run)
    python = [sys.executable, "-c"]
    chosen = {NUMPY: [*python, "import numpy"], OURS: tools[OURS]}
    chosen["import rankgauge"] = [*python, "import rankgauge"]
    library = CLOCK + SCRIPTS["rankgauge (library)"]
    chosen["rankgauge (library)"] = [*python, library, str(qrels), str(run)]
    if "trec_eval" in tools:
        chosen["trec_eval"] = tools["trec_eval"]
    return chosen


def modules(command: list[str]) -> None:
    """Print the modules that a command imports besides NumPy, each with its own microseconds."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    traced = [sys.executable, "-X", "importtime", "-m", "rankgauge", *command[1:]]
    done = subprocess.run(traced, capture_output=True, text=True, check=True, env=environment)
    rows = [line.removeprefix("import time:").split("|") for line in done.stderr.splitlines()]
    times = [(int(own), name.strip()) for own, _, name in rows[1:] if own.strip().isdigit()]
    for own, name in sorted(times):
        if not name.startswith("numpy") and own > 300:
            print(f"{own:8d}  {name}")


def main() -> None:
    """Print the table and the ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--modules", action="store_true", help="list what is imported, too")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = programs(*make(Path(folder), 50))
        if asked.modules:
            modules(chosen[OURS])
        times: dict[str, list[float]] = {name: [] for name in chosen}
        for _ in range(asked.repeat):
            for name, command in chosen.items():
                times[name].append(1000 * cost(command, 1, timed=False).process)
    best, middle = min(times[NUMPY]), statistics.median(times[NUMPY])
    rows = [
        (
            name,
            min(each),
            min(each) / best,
            statistics.median(each),
            statistics.median(each) / middle,
        )
        for name, each in times.items()
    ]
    columns = ("program", "best ms", "ratio", "median ms", "ratio of medians")
    print(Table(columns, tuple(rows)).render("table", digits=2))
    ratio = statistics.median(times[OURS]) / middle
    met = "met" if ratio <= BUDGET else "missed"
    print(f"{OURS}: {ratio:.2f} times {NUMPY}, budget {BUDGET}: {met}")


if __name__ == "__main__":
    main()
