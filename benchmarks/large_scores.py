"""Time and memory to compare and assess the scores of many runs: 1,000 runs, 10,000 queries, 8 measures.

    python benchmarks/large_scores.py [--runs 1000] [--queries 10000] [--measures 8] [--steps assess ...]

The scores come from a seeded model: an effect of the run, an effect of the query and chance, cut off at
0 and 1. A few runs lack a few queries. The scores are saved once, at full size and with a quarter of the
queries. Each step is a separate process that loads them. `seconds` is for the step alone. `beyond` is
the peak memory of the process, without its memory right after loading; `of the scores` is the same as a
multiple of the scores. The budget is for comparing with one run and assessing, with the default
settings. A name such as `assess bootstrap` is a step with that test; --samples is for the tests that
draw. --commands also runs the two commands; their memory is the peak of the whole process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from evaluate import show

BUDGET = 1.5
"""How many times the memory of the scores the default steps may take beyond the scores."""
BASELINE = "run0000"
DEFAULT = ("compare", "assess")
STEPS = (*DEFAULT, "compare randomization", "compare bootstrap", "assess randomization")
MEASURES = ("nDCG@10", "AP", "RR", "P@10", "ERR@20", "RBP", "Recall@100", "bpref")

MAKE = """
import sys
import numpy as np
import rankgauge as rg
path, runs, queries, *names = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:]
random = np.random.default_rng(2026)
hardness = random.normal(0.4, 0.2, (queries, 1)) + random.normal(0, 0.05, (queries, len(names)))
quality = random.normal(0, 0.03, (runs, 1, 1))
values = np.empty((runs, queries, len(names)))
present = np.ones((runs, queries), dtype=bool)
for r in range(runs):
    values[r] = hardness + quality[r] + random.normal(0, 0.1, (queries, len(names)))
    if r % 100 == 50:
        present[r, random.integers(0, queries, 3)] = False
np.clip(values, 0, 1, out=values)
values[~present] = 0.0
rg.Scores(
    runs=tuple(f"run{r:04}" for r in range(runs)),
    queries=tuple(f"topic{q:05}" for q in range(queries)),
    measures=tuple(map(rg.parse, names)),
    values=values,
    present=present,
    judged_at_10=np.full((runs, queries), np.nan),
    relevant=np.ones(queries, dtype=np.int64),
    nothing_relevant=np.zeros((len(names), queries), dtype=bool),
).save(path)
"""

STEP = """
import json, resource, sys, time
import scipy.special  # so that importing it is no part of the memory of a step
import rankgauge as rg
path, baseline, step, test, samples = sys.argv[1:]
scores = rg.Scores.load(path)

def resident():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))

def reset():
    with open("/proc/self/clear_refs", "w") as stream:
        stream.write("5")

def peak():
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

before = resident()
reset()
at = time.perf_counter()
drawn = {} if samples == "usual" else {"samples": int(samples)}
if step == "compare":
    made = rg.compare(scores, baseline=baseline, test=test, **drawn)
    size = sum(len(line) for line in made.table().lines("csv"))
else:
    made = rg.assess(scores, test=test, **drawn)
    size = len(made.table().render("csv")) + len(made.pair_table().render("csv"))
taken = time.perf_counter() - at
print(json.dumps([taken, before, peak() - before, scores.values.nbytes / 2**20, size]))
"""


def main() -> None:
    """Print a table with a row for each step and size, and the budgets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=1_000)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--measures", type=int, default=len(MEASURES), choices=range(1, 9))
    parser.add_argument("--samples", default="usual", help="how many samples tests draw")
    parser.add_argument("--steps", nargs="+", default=list(STEPS))
    parser.add_argument("--commands", action="store_true", help="also run the two commands")
    arguments = parser.parse_args()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if not Path("/proc/self/clear_refs").exists():
        sys.exit("peaks of memory are read from /proc, which only Linux has")
    rows: list[tuple[str | float, ...]] = []
    beyond: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for topics in (arguments.queries // 4, arguments.queries):
            path = str(Path(folder) / f"{topics}.scores")
            size = (str(arguments.runs), str(topics), *MEASURES[: arguments.measures])
            subprocess.run([sys.executable, "-c", MAKE, path, *size], check=True)
            for step in arguments.steps:
                taken, loaded, more, own = measured(path, step, arguments.samples)
                rows.append((step, topics, taken, own, loaded, more, more / own))
                if topics == arguments.queries:
                    beyond[step] = more / own
                print(f"{step}, {topics} queries: {taken:.1f} s", file=sys.stderr, flush=True)
            if arguments.commands:
                rows += commanded(path, topics)
    columns = ("step", "topics", "seconds", "scores MB", "loaded MB", "beyond MB", "of the scores")
    print(f"{arguments.runs} runs, {arguments.measures} measures\n")
    show(columns, rows)
    budgets: list[tuple[str | float, ...]] = [
        (step, beyond[step], BUDGET, "met" if beyond[step] <= BUDGET else "missed")
        for step in DEFAULT
        if step in beyond
    ]
    if budgets:
        show(("step", "of the scores", "budget", ""), budgets)


def measured(path: str, step: str, samples: str) -> tuple[float, float, float, float]:
    """Of a step: seconds, and the megabytes after loading, beyond that, and of the values alone."""
    name, _, test = step.partition(" ")
    command = [sys.executable, "-c", STEP, path, BASELINE, name, test or "paired-t", samples]
    taken, loaded, more, own, _ = json.loads(subprocess.check_output(command))
    return taken, loaded, more, own


def commanded(path: str, topics: int) -> list[tuple[str | float, ...]]:
    """The same two steps by command: seconds of the whole process, and its whole peak as `beyond`."""
    rows: list[tuple[str | float, ...]] = []
    calls = {
        "rankgauge compare": ["compare", "--scores", path, "--baseline", BASELINE],
        "rankgauge assess": ["assess", "--scores", path],
    }
    for name, words in calls.items():
        program = [sys.executable, "-m", "rankgauge", *words]
        launch = [sys.executable, "-c", LAUNCHER, json.dumps(program)]
        taken, peak, lines = json.loads(subprocess.check_output(launch))
        print(f"{name}, {topics} queries: {lines} lines of output", file=sys.stderr, flush=True)
        rows.append((name, topics, taken, None, None, peak, None))  # type: ignore[arg-type]
    return rows


LAUNCHER = """
import json, os, subprocess, sys, tempfile, time
with tempfile.TemporaryFile() as output:
    at = time.perf_counter()
    process = subprocess.Popen(json.loads(sys.argv[1]), stdout=output)
    _, status, usage = os.wait4(process.pid, 0)
    taken = time.perf_counter() - at
    output.seek(0)
    lines = sum(1 for _ in output)
assert status == 0, status
print(json.dumps([taken, usage.ru_maxrss / 1024, lines]))
"""

if __name__ == "__main__":
    main()
