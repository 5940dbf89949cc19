"""Evaluates one run with rankgauge and with other tools: time ratios and peak memory, all in one go.

    python benchmarks/evaluate.py [--queries 50 1000 5000] [--repeat 5]

It makes runs of 1,000 documents for each query, with realistic ids, and calls each tool as a user would:
`rankgauge evaluate` and `rankgauge trec_eval`; a `trec_eval` program, if one is on the PATH; and small
scripts that use the library, ir_measures, pytrec_eval and ranx, if they are installed (extra `bench`).

Times are the best of the repetitions; a command that takes longer than ten seconds runs once. `process`
is the time of the whole process, `call` the time without starting and importing. Ratios are relative to
rankgauge. The last rows are lower limits: starting Python, starting Python with NumPy, and reading the
file to count its newlines. After each table come the budgets of the design. The last table shows how the
cost grows with the size.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rankgauge.core.tables import Table

DOCUMENTS = 1000
JUDGED = 200
MEASURES = ["nDCG@10", "AP", "RR", "P@10"]
OURS, LIBRARY = "rankgauge evaluate", "rankgauge (library)"

# What each script does is timed from `start()` on; the last line that it prints is that time.
CLOCK = """
import sys, time
def start():
    global started
    started = time.perf_counter()
def stop():
    print(time.perf_counter() - started)
"""
SCRIPTS = {
    LIBRARY: """
from rankgauge import AP, RR, P, evaluate, nDCG
start()
print(evaluate(sys.argv[1], sys.argv[2], [nDCG @ 10, AP, RR, P @ 10]).mean())
stop()
""",
    "ir_measures": """
import ir_measures
from ir_measures import nDCG, AP, RR, P
start()
qrels = ir_measures.read_trec_qrels(sys.argv[1])
run = ir_measures.read_trec_run(sys.argv[2])
print(ir_measures.calc_aggregate([nDCG @ 10, AP, RR, P @ 10], qrels, run))
stop()
""",
    "pytrec_eval": """
import pytrec_eval
start()
with open(sys.argv[1]) as text:
    qrels = pytrec_eval.parse_qrel(text)
with open(sys.argv[2]) as text:
    run = pytrec_eval.parse_run(text)
measures = {"map", "ndcg_cut.10", "recip_rank", "P.10"}
scores = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
print(sum(s["map"] for s in scores.values()) / len(scores))
stop()
""",
    "ranx": """
from ranx import Qrels, Run, evaluate
start()
qrels, run = Qrels.from_file(sys.argv[1], kind="trec"), Run.from_file(sys.argv[2], kind="trec")
print(evaluate(qrels, run, ["ndcg@10", "map", "mrr", "precision@10"], make_comparable=True))
stop()
""",
    "count newlines": """
start()
with open(sys.argv[2], "rb") as stream:
    print(sum(piece.count(b"\\n") for piece in iter(lambda: stream.read(1 << 20), b"")))
stop()
""",
    "start Python and NumPy": """
import numpy
start()
stop()
""",
    "start Python": """
start()
stop()
""",
}

# Starts a command from a small process, whose own memory would else count as the command's.
LAUNCHER = """
import json, os, sys, time
command, output = json.loads(sys.argv[1]), os.open(sys.argv[2], os.O_WRONLY | os.O_TRUNC)
quiet = os.open(os.devnull, os.O_WRONLY)
actions = [(os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, quiet, 2)]
started = time.perf_counter()
environment = dict(os.environ)
environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an editable install would be compiled each time
child = os.posix_spawn(command[0], command, environment, file_actions=actions)
_, status, usage = os.wait4(child, 0)
print(json.dumps([time.perf_counter() - started, status, usage.ru_maxrss]))
"""


@dataclass
class Cost:
    """The cost of a tool: seconds of the whole process and of the call alone, and peak megabytes."""

    process: float = float("inf")
    call: float = float("inf")
    peak: float = 0.0


def make(folder: Path, topics: int, seed: int = 2026) -> tuple[Path, Path]:
    """A qrels file and a run file with this number of queries."""
    random = np.random.default_rng(seed)
    qrels, run = folder / f"{topics}.qrels", folder / f"{topics}.run"
    with qrels.open("w") as judgments, run.open("w") as results:
        for topic in range(1, topics + 1):
            numbers = random.choice(8_841_823, DOCUMENTS, replace=False)
            docnos = [f"msmarco_passage_{n % 70:02d}_{n * 97}" for n in numbers]
            scores = np.sort(random.gamma(4, 4, DOCUMENTS))[::-1]
            for rank, (docno, score) in enumerate(zip(docnos, scores, strict=True), 1):
                results.write(f"{topic} Q0 {docno} {rank} {score:.6f} synthetic\n")
            judged = random.choice(DOCUMENTS, JUDGED // 2, replace=False)
            others = [f"msmarco_passage_99_{n}" for n in range(JUDGED // 2)]
            grades = random.choice(4, p=[0.6, 0.2, 0.15, 0.05], size=JUDGED)
            for docno, grade in zip([docnos[j] for j in judged] + others, grades, strict=True):
                judgments.write(f"{topic} 0 {docno} {grade}\n")
    return qrels, run


def commands(qrels: Path, run: Path) -> dict[str, list[str]]:
    """The command of each tool that is installed."""
    program = str(Path(sys.executable).with_name("rankgauge"))
    asked = [word for measure in MEASURES for word in ("-m", measure)]
    trec = ["-c", "-m", "ndcg_cut.10", "-m", "map", "-m", "recip_rank", "-m", "P.10"]
    files = [str(qrels), str(run)]
    calls = {
        OURS: [program, "evaluate", *files, *asked],
        "rankgauge trec_eval": [program, "trec_eval", *trec, *files],
    }
    if trec_eval := shutil.which("trec_eval"):
        calls["trec_eval"] = [trec_eval, *trec, *files]
    for name, script in SCRIPTS.items():
        if name not in ("ir_measures", "pytrec_eval", "ranx") or find_spec(name):
            calls[name] = [sys.executable, "-c", CLOCK + script, *files]
    return calls


def cost(command: list[str], repeat: int, timed: bool) -> Cost:
    """The best times and the highest peak of a command; a failure shows as NaN."""
    best = Cost()
    with tempfile.NamedTemporaryFile() as output:
        for _ in range(repeat):
            launch = [sys.executable, "-I", "-S", "-c", LAUNCHER, json.dumps(command), output.name]
            seconds, status, peak = json.loads(subprocess.check_output(launch))
            if status:
                return Cost(float("nan"), float("nan"), float("nan"))
            lines = Path(output.name).read_text().split()
            best.process = min(best.process, seconds)
            best.call = min(best.call, float(lines[-1]) if timed else seconds)
            best.peak = max(best.peak, peak / (1 << 20 if sys.platform == "darwin" else 1 << 10))
            if seconds > 10:
                break
    return best


def budgets(topics: int, found: dict[str, Cost]) -> list[tuple[str, float, float]]:
    """The budgets for this size: what is compared, how many times better we are, and the budget."""
    ours, library = found[OURS], found[LIBRARY]
    trec, peer = found.get("trec_eval"), found.get("ir_measures")
    checks: list[tuple[str, float, float]] = []
    if topics == 50:
        checks.append(("a quarter of a second, whole process", 0.25 / ours.process, 1.0))
    if topics == 50 and peer:
        checks.append(("ir_measures, whole process", peer.process / ours.process, 1.0))
    if topics == 1000 and trec:
        checks.append(("trec_eval, whole process", trec.process / ours.process, 4.0))
        checks.append(("trec_eval, library call", trec.process / library.call, 10.0))
    if topics == 1000 and peer:
        checks.append(("ir_measures, whole process", peer.process / ours.process, 7.0))
        checks.append(("ir_measures, library call", peer.call / library.call, 20.0))
    if topics == 5000 and trec:
        checks.append(("trec_eval, whole process", trec.process / ours.process, 12.0))
        checks.append(("trec_eval's memory", trec.peak / ours.peak, 3.0))
    return checks


def show(columns: tuple[str, ...], rows: list[tuple[str | float, ...]]) -> None:
    """Print a table, with a line after it."""
    print(Table(columns, tuple(rows)).render("table", digits=3), flush=True)


def main() -> None:
    """Print two tables for each size, and one table of the cost by size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queries", type=int, nargs="+", default=[50, 1000, 5000])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--skip", nargs="*", default=[], help="tools to leave out")
    arguments = parser.parse_args()
    growth: list[tuple[str | float, ...]] = []
    with tempfile.TemporaryDirectory() as folder:
        for topics in arguments.queries:
            qrels, run = make(Path(folder), topics)
            costs = {
                name: cost(command, arguments.repeat, timed=name in SCRIPTS)
                for name, command in commands(qrels, run).items()
                if name not in arguments.skip
            }
            ours, library = costs[OURS], costs[LIBRARY]
            print(
                f"{topics:,} queries × {DOCUMENTS:,} documents, {run.stat().st_size / 1e6:.0f} MB\n"
            )
            show(
                ("tool", "process s", "ratio", "call s", "ratio", "peak MB"),
                [
                    (
                        name,
                        c.process,
                        c.process / ours.process,
                        c.call if name in SCRIPTS else "",
                        c.call / library.call if name in SCRIPTS else "",
                        c.peak,
                    )
                    for name, c in costs.items()
                ],
            )
            rows = [
                (what, times, asked, "met" if times >= asked else "missed")
                for what, times, asked in budgets(topics, costs)
            ]
            if rows:
                show(("against", "times better", "budget", ""), rows)
            lines = topics * DOCUMENTS
            growth.append(
                (lines, ours.process, library.call, 1e9 * library.call / lines, ours.peak)
            )
            run.unlink()
    show(("lines", "process s", "call s", "call ns a line", "peak MB"), growth)


if __name__ == "__main__":
    main()
