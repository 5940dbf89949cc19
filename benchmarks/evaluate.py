"""Evaluation of one run, whole process, beside the peers: time ratios and peak memory in one run.

    python benchmarks/evaluate.py [--topics 50 1000] [--repeat 3]

Makes runs of 1,000 documents a topic with realistic ids, and calls each tool as a user would: `rankgauge
evaluate` and `rankgauge trec_eval`, a `trec_eval` program where one is on the PATH, and small scripts
around ir_measures, pytrec_eval and ranx where they are installed. The last rows are the physical limit:
reading the file and counting its newlines. Times are the best of the repetitions; ratios are to
`rankgauge evaluate`. Peak memory has a floor of about 40 MB, that of this program.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from rankgauge.report.tables import Table

DOCUMENTS = 1000
JUDGED = 200
MEASURES = ["nDCG@10", "AP", "RR", "P@10"]

IR_MEASURES = """
import sys, ir_measures
from ir_measures import nDCG, AP, RR, P
qrels = ir_measures.read_trec_qrels(sys.argv[1])
run = ir_measures.read_trec_run(sys.argv[2])
print(ir_measures.calc_aggregate([nDCG @ 10, AP, RR, P @ 10], qrels, run))
"""
PYTREC_EVAL = """
import sys, pytrec_eval
with open(sys.argv[1]) as text:
    qrels = pytrec_eval.parse_qrel(text)
with open(sys.argv[2]) as text:
    run = pytrec_eval.parse_run(text)
measures = {"map", "ndcg_cut.10", "recip_rank", "P.10"}
scores = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
print(sum(s["map"] for s in scores.values()) / len(scores))
"""
RANX = """
import sys
from ranx import Qrels, Run, evaluate
qrels, run = Qrels.from_file(sys.argv[1], kind="trec"), Run.from_file(sys.argv[2], kind="trec")
print(evaluate(qrels, run, ["ndcg@10", "map", "mrr", "precision@10"], make_comparable=True))
"""
COUNT_NEWLINES = """
import sys
with open(sys.argv[2], "rb") as stream:
    print(sum(piece.count(b"\\n") for piece in iter(lambda: stream.read(1 << 20), b"")))
"""
SCRIPTS = {"ir_measures": IR_MEASURES, "pytrec_eval": PYTREC_EVAL, "ranx": RANX}


def make(folder: Path, topics: int, seed: int = 2026) -> tuple[Path, Path]:
    """A qrels file and a run file of so many topics."""
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
            for docno in [docnos[j] for j in judged] + others:
                judgments.write(f"{topic} 0 {docno} {random.choice(4, p=[0.6, 0.2, 0.15, 0.05])}\n")
    return qrels, run


def commands(qrels: Path, run: Path) -> dict[str, list[str]]:
    """How each tool that is here is called."""
    program = str(Path(sys.executable).with_name("rankgauge"))
    asked = [word for measure in MEASURES for word in ("-m", measure)]
    trec = ["-c", "-m", "ndcg_cut.10", "-m", "map", "-m", "recip_rank", "-m", "P.10"]
    files = [str(qrels), str(run)]
    calls = {
        "rankgauge evaluate": [program, "evaluate", *files, *asked],
        "rankgauge trec_eval": [program, "trec_eval", *trec, *files],
    }
    if found := shutil.which("trec_eval"):
        calls["trec_eval"] = [found, *trec, *files]
    for name, script in SCRIPTS.items():
        if find_spec(name):
            calls[name] = [sys.executable, "-c", script, *files]
    calls["count newlines"] = [sys.executable, "-c", COUNT_NEWLINES, *files]
    calls["start Python"] = [sys.executable, "-c", "pass"]
    return calls


def measure(command: list[str], repeat: int) -> tuple[float, float]:
    """The best time in seconds and the peak memory in MB of a whole process."""
    best, peak = float("inf"), 0.0
    for _ in range(repeat):
        started = time.perf_counter()
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        if status:
            return float("nan"), float("nan")
        best = min(best, time.perf_counter() - started)
        peak = max(peak, usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1 << 20))
    return best, peak


def main() -> None:
    """Print one table a size, and one of cost against size."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--topics", type=int, nargs="+", default=[50, 1000])
    parser.add_argument("--repeat", type=int, default=3)
    arguments = parser.parse_args()
    growth = []
    with tempfile.TemporaryDirectory() as folder:
        for topics in arguments.topics:
            qrels, run = make(Path(folder), topics)
            calls = commands(qrels, run)
            found = {name: measure(call, arguments.repeat) for name, call in calls.items()}
            ours = found["rankgauge evaluate"][0]
            rows = [(name, time_, time_ / ours, peak) for name, (time_, peak) in found.items()]
            title = f"{topics} topics × {DOCUMENTS} documents, {run.stat().st_size / 1e6:.0f} MB"
            print(title, end="\n\n")
            table = Table(("whole process", "seconds", "ratio", "peak MB"), tuple(rows))
            print(table.render("table", digits=2))
            growth.append((topics * DOCUMENTS, ours, 1e6 * ours / (topics * DOCUMENTS)))
            run.unlink()
    columns = ("lines", "seconds", "microseconds a line")
    print(Table(columns, tuple(growth)).render("table", digits=2))


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
