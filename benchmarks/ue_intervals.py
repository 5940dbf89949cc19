"""How the intervals of `study ue` shrink as queries are added: what its numbers of queries rest on.

python benchmarks/ue_intervals.py MQ2008 --study out

The study in the folder `out` must have the data set of this name; its trained folds are used again. The
queries are drawn in three sizes, each half of the next one. If intervals shrink with the square root of
the number of queries, the ratio of widths is 1.41 for a half and 2 for a quarter.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from rankgauge.studies.ue.protocol import Protocol
from rankgauge.studies.ue.study import PROTOCOL_FILE, RUNS, run_study
from rankgauge.tables import Table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--study", required=True, type=Path, metavar="DIR")
    parser.add_argument("--samples", type=int, default=300, metavar="N")
    arguments = parser.parse_args()
    path = arguments.study / PROTOCOL_FILE
    asked = Protocol.from_json(json.loads(path.read_text()), str(path))
    (data,) = (each for each in asked.collections if each.name == arguments.name)
    largest = min(asked.queries_of(data) or 10**9, _available(arguments.study, asked, data.name))
    widths: dict[tuple[str, ...], list[float]] = {}
    for queries in (largest, largest // 2, largest // 4):
        sized = replace(data, queries=queries, set_number=None, set_share=0.25)
        protocol = replace(asked, collections=(sized,), samples=arguments.samples, replicates=1)
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(arguments.study / RUNS, Path(folder, RUNS))
            study = run_study(protocol, Path(folder))
        for reading, made in study.statements.items():
            for each in made:
                if each.queries:
                    key = (each.claim, reading, each.measure, each.version, each.where, each.what)
                    widths.setdefault(key, []).append(each.amount.high - each.amount.low)
    rows = []
    for claim in dict.fromkeys(key[0] for key in widths):
        own = np.array([found for key, found in widths.items() if key[0] == claim])
        own = own[(own > 0).all(axis=1)]
        ratios = [float(np.median(own[:, n] / own[:, 0])) if len(own) else None for n in (1, 2)]
        rows.append((claim, len(own), *ratios))
    columns = ("claim", "statements", "width with half of the queries", "with a quarter")
    print(f"{data.name}: {largest} queries, a half and a quarter of them")
    print(Table(columns, tuple(rows)).render("table"))


def _available(folder: Path, asked: Protocol, name: str) -> int:
    """How many test queries count in every reading."""
    from rankgauge.data.folds import read_folds
    from rankgauge.studies.ue.experiment import choose_queries

    (data,) = (each for each in asked.collections if each.name == name)
    judgments = read_folds(data.folds, asked.folds, seed=asked.seed).test().judgments
    free = replace(asked, queries=None, set_number=None, set_share=0.25)
    plain = replace(data, queries=None, set_number=None, set_share=0.25)
    return min(
        len(choose_queries(judgments, plain, reading, free).queries) for reading in asked.readings
    )


if __name__ == "__main__":
    main()
