"""Reads a run from each kind of file, and compares with polars or json on the same file.

    python benchmarks/inputs.py [--queries 1000] [--repeat 5]

It makes a run of 1,000 documents for each query as CSV, TSV, JSON and JSON Lines, and reads each file in
a separate process. The time is the time of the call without starting and importing, the best of the
repetitions. The memory is the peak of the whole process. rankgauge gives a `Run`: ids and scores by
query, checked for documents that are twice in a query. The other tool only parses: polars gives a frame,
json gives Python objects.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from rankgauge.core.tables import Table

DOCUMENTS = 1000
BUDGET = 2.0
"""How many times as long as the peer alone reading may take."""

OURS = "rg.read_run(path)"
PEERS = {
    "run.csv": "polars.read_csv(path)",
    "run.tsv": "polars.read_csv(path, separator='\\t')",
    "rows.jsonl": "polars.read_ndjson(path)",
    "lists.jsonl": "polars.read_ndjson(path)",
    "objects.jsonl": "polars.read_ndjson(path)",
    "values.jsonl": "[json.loads(line) for line in open(path)]",
    "run.json": "json.load(open(path))",
}
CLOCK = """
import resource, sys, time
import json, numpy, polars
import rankgauge as rg
rg.read_run, rg.Run
path, best = sys.argv[1], float("inf")
for _ in range(int(sys.argv[2])):
    started = time.perf_counter()
    result = {call}
    best = min(best, time.perf_counter() - started)
    del result
print(best, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def topics(count: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Each query with its documents and their scores, best first."""
    drawn = random.Random(7)
    for topic in range(count):
        names = [f"doc{drawn.randrange(10**8)}-{place}" for place in range(DOCUMENTS)]
        scores = sorted((30 * drawn.random() for _ in names), reverse=True)
        yield f"q{topic}", dict(zip(names, scores, strict=True))


def make(folder: Path, count: int) -> None:
    """Write the run in every kind of file."""
    with ExitStack() as stack:
        files = {name: stack.enter_context(open(folder / name, "w")) for name in PEERS}
        files["run.csv"].write("query_id,doc_id,score\n")
        files["run.tsv"].write("query-id\tcorpus-id\tscore\n")
        for topic, row in topics(count):
            for name, score in row.items():
                files["run.csv"].write(f"{topic},{name},{score!r}\n")
                files["run.tsv"].write(f"{topic}\t{name}\t{score!r}\n")
                record = {"query_id": topic, "doc_id": name, "score": score}
                files["rows.jsonl"].write(json.dumps(record) + "\n")
            objects = [{"id": name, "score": score} for name, score in row.items()]
            for name, listing in (("lists", list(row)), ("objects", objects), ("values", row)):
                record = {"query": topic, "retrieved": listing}
                files[f"{name}.jsonl"].write(json.dumps(record) + "\n")
            files["run.json"].write("{" if topic == "q0" else ", ")
            files["run.json"].write(f"{json.dumps(topic)}: {json.dumps(row)}")
        files["run.json"].write("}")


def measured(call: str, path: Path, repeat: int) -> tuple[float, float]:
    """The seconds of a call and the peak megabytes of its process."""
    command = [sys.executable, "-c", CLOCK.replace("{call}", call), str(path), str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory = map(float, done.stdout.split())
    return seconds, memory


def main() -> None:
    """Print one row for each file, and whether the budget is met."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--repeat", type=int, default=5)
    asked = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), asked.queries)
        for name, peer in PEERS.items():
            path = Path(folder, name)
            ours, memory = measured(OURS, path, asked.repeat)
            theirs, their_memory = measured(peer, path, asked.repeat)
            size = path.stat().st_size / 2**20
            tool = peer.partition(".")[0].strip("[")
            rows.append((name, size, ours, memory, tool, theirs, their_memory, ours / theirs))
    columns = ("file", "MB", "rankgauge s", "peak MB", "peer", "alone s", "its peak MB", "ratio")
    print(Table(columns, tuple(rows)).render("table", digits=2))
    worst = max(rows, key=lambda row: row[-1])
    met = "met" if worst[-1] <= BUDGET else "missed"
    print(f"at most {worst[-1]:.2f} times the peer alone ({worst[0]}), budget {BUDGET}: {met}")


if __name__ == "__main__":
    main()
