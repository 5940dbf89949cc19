"""Digests of all that the commands print on real runs, for changes that must not change a number.

    python benchmarks/outputs.py [--data ../shared/data] [--keep FOLDER] [--against FOLDER]

It prints one line for each command: the digest of its standard output, its exit code, and the command.
Standard error has a separate digest, in brackets, since notes may be reworded. `--keep` writes the
outputs to a folder. `--against` names such a folder from an earlier version; each output that differs is
marked.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"

COLLECTIONS = {
    "covid": ("trec-covid/round1/qrels/qrels-rnd1.txt", "trec-covid/round1/runs"),
    "dl21": ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs"),
    "robust03": ("trec-robust03/qrels.txt.gz", "trec-robust03/runs"),
    "web2012": ("trec-web2012/qrels.adhoc.txt", "trec-web2012/runs"),
    "trec8": ("qrels/qrels.adhoc.401-450.txt.gz", "trec8-adhoc/runs"),
}
MEASURES = (
    "nDCG@10", "AP", "RR", "P@10", "ERR@20", "RBP(p=0.8)", "bpref",
    "v2(nDCG@10)", "v1(AP@30)", "linear(ERR@20)", "gm(AP)",
)  # fmt: skip
MORE = (
    "z(P@5)",
    "minmax(nDCG@10)",
    "expected(AP@10,null=run)",
    "lower(P@10)",
    "prefix_mean(nDCG@5)",
    "Q@10",
)
SUBTOPICS = ("alpha_nDCG@20", "ERR_IA@20", "strec@10", "nDCG@10")
DROP_IN_RUNS = 20


def measured(*measures: str) -> list[str]:
    """The measures as command-line options."""
    return [text for measure in measures for text in ("-m", measure)]


def commands(data: Path) -> Iterator[tuple[str, list[str]]]:
    """A name for each output, and the command that makes it."""
    files = {
        name: (str(data / qrels), str(data / runs)) for name, (qrels, runs) in COLLECTIONS.items()
    }
    some = {name: _runs(runs, 5) for name, (_, runs) in files.items()}
    for name, (qrels, runs) in files.items():
        every = ["evaluate", qrels, runs, "-q", "--format", "jsonl"]
        yield f"evaluate-{name}", [*every, *measured(*MEASURES)]
        short = ["evaluate", qrels, *some[name], "--signature", *measured(*MEASURES, *MORE)]
        yield f"signature-{name}", [*short, "--format", "tsv"]
        for ties in ("docno-ascending", "pessimistic", "optimistic", "random", "expected"):
            yield f"ties-{ties}-{name}", [*short, "--ties", ties, "--format", "csv", "--seed", "3"]
        yield f"condensed-{name}", [*short, "-J", "--format", "csv"]
        yield (
            f"skip-{name}",
            [*short, "--missing", "skip", "--precision", "double", "--format", "csv"],
        )
        for test in ("paired-t", "randomization", "bootstrap", "tukey-randomized", "wilcoxon"):
            pairs = ["compare", qrels, *some[name], "--test", test, "--samples", "2000"]
            yield (
                f"compare-{test}-{name}",
                [*pairs, *measured("AP", "v2(nDCG@10)"), "--format", "jsonl"],
            )
        yield f"compare-{name}", ["compare", qrels, runs, "--format", "csv"]
        yield f"marks-{name}", ["compare", qrels, *some[name], "--marks", "--format", "latex"]
        for table in ("measures", "pairs", "swaps"):
            sets = "hard,ideal,uninformative,informative,easy" + (
                ",focused" if table == "swaps" else ""
            )
            yield f"assess-{table}-{name}", [
                "assess", qrels, runs, "--show", table, "--splits", "200",
                "--sets", sets, "--format", "csv",
            ]  # fmt: skip
        yield (
            f"queries-{name}",
            ["queries", qrels, runs, "--format", "csv", *measured("nDCG@10", "AP")],
        )
        for measure in ("nDCG@10", "AP@30", "RBP", "Rprec"):
            pair = ["distance", "--qrels", qrels, *some[name][:2], "-q", "--format", "jsonl"]
            yield f"distance-{measure}-{name}", [*pair, *measured(measure)]
        matrix = ["distance", "--qrels", qrels, *some[name], "--format", "csv"]
        yield f"matrix-{name}", [*matrix, *measured("nDCG@10")]
    tail = ["--ties", "expected", "--tail", "tied", "--documents", "1000000", "--format", "jsonl"]
    yield (
        "tail",
        ["evaluate", files["covid"][0], *some["covid"], "-q", *tail, *measured("P@10", "AP", "RR")],
    )
    aspects = ["evaluate", str(data / "trec-web2012/qrels-for-ndeval.txt"), files["web2012"][1]]
    yield "subtopics", [*aspects, "--subtopics", "-q", "--format", "jsonl", *measured(*SUBTOPICS)]
    pooled = ["assess", files["dl21"][0], files["dl21"][1], "--pool-cutoffs", "--splits", "50"]
    yield (
        "pooled",
        [*pooled, "--format", "csv", *measured("nDCG@5", "nDCG@10", "v2(nDCG@5)", "v2(nDCG@10)")],
    )
    tables = [f"--scores=AP={data / 'trec-topic-scores/adhoc8_ap.csv'}"]
    yield "scores-compare", ["compare", *tables, "--test", "tukey", "--format", "csv"]
    yield "scores-assess", ["assess", *tables, "--splits", "100", "--format", "csv"]
    yield "standardized", ["compare", *tables, "--standardize", "z", "--format", "csv"]
    for run in [r for name in ("trec8", "robust03", "covid", "dl21") for r in some[name]][
        :DROP_IN_RUNS
    ]:
        (name,) = (n for n, (_, runs) in files.items() if run.startswith(runs + os.sep))
        yield (
            f"trec_eval-{Path(run).name}",
            ["trec_eval", "-q", "-m", "all_trec", files[name][0], run],
        )
    yield "measures", ["measures", "--format", "csv"]


def _runs(folder: str, count: int) -> list[str]:
    """Some runs of a folder, evenly spread over their names."""
    names = sorted(os.listdir(folder))
    return [
        os.path.join(folder, names[i * len(names) // count]) for i in range(min(count, len(names)))
    ]


def main() -> None:
    """Print the digests."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("RANKGAUGE_DATA", BESIDE)))
    parser.add_argument("--keep", type=Path, help="a folder to write the outputs to")
    parser.add_argument("--against", type=Path, help="a folder of outputs to compare with")
    parser.add_argument("--only", default="", help="only commands whose name has this in it")
    asked = parser.parse_args()
    whole, different = hashlib.sha256(), 0
    with tempfile.TemporaryDirectory() as empty:
        for name, arguments in commands(asked.data.resolve()):
            if asked.only not in name:
                continue
            command = [sys.executable, "-m", "rankgauge", *arguments]
            done = subprocess.run(command, capture_output=True, cwd=empty, check=False)
            whole.update(done.stdout)
            if asked.keep is not None:
                asked.keep.mkdir(parents=True, exist_ok=True)
                (asked.keep / name).write_bytes(done.stdout)
                (asked.keep / f"{name}.stderr").write_bytes(done.stderr)
            changed = ""
            if asked.against is not None and (asked.against / name).read_bytes() != done.stdout:
                changed, different = " DIFFERENT", different + 1
            error = hashlib.sha256(done.stderr).hexdigest()[:6]
            digest = hashlib.sha256(done.stdout).hexdigest()[:16]
            print(f"{digest} [{error}] {done.returncode} {name}{changed}", flush=True)
    print(f"{whole.hexdigest()} all; {different} different")


if __name__ == "__main__":
    main()
