"""The rows of forecasts, and fitting: five tracks, depths 10 to 30, two targets, both kinds of features.

python benchmarks/forecast.py prints the seconds of reading, of making rows and of fitting, for tracks of
the folder RANKGAUGE_DATA. --track makes the rows of some of them only.
"""

from __future__ import annotations

import argparse
import os
import time
from pathlib import Path

from rankgauge.forecast import Forecaster, Track
from rankgauge.forecast.tracks import rows_by, rows_of

DATA = Path(os.environ.get("RANKGAUGE_DATA", "../shared/data"))
TRACKS = {
    "robust03": ("newswire", "trec-robust03/qrels.txt.gz", "trec-robust03/runs"),
    "web2012": ("web", "trec-web2012/qrels.adhoc.txt", "trec-web2012/runs"),
    "dl21": ("passages", "qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs"),
    "covid1": ("covid", "qrels/qrels.covid-round1.txt.gz", "trec-covid/round1/runs"),
    "trec8": ("newswire", "qrels/qrels.adhoc.401-450.txt.gz", "trec8-adhoc/runs"),
}
DEPTHS = (10, 15, 20, 25, 30)
TARGETS = ("nDCG@100", "nDCG@1000")
METHODS = ("boosting", "regression", "gupta", "pooled")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--track", choices=TRACKS, action="append")
    chosen = parser.parse_args().track or list(TRACKS)
    print(f"{'track':10} {'rows':>8} {'read s':>8} {'rows s':>8}")
    read = {}
    for name in chosen:
        kind, qrels, runs = TRACKS[name]
        start = time.perf_counter()
        track = read[name] = Track.read(f"{kind}={DATA / qrels},{DATA / runs}")
        middle = time.perf_counter()
        rows_by(track, TARGETS, DEPTHS)
        end = time.perf_counter()
        count = len(track.runs) * len(track.judgments.queries) * len(DEPTHS)
        print(f"{name:10} {count:8,} {middle - start:8.2f} {end - middle:8.2f}", flush=True)
    rows = [rows_of(track, "nDCG@100", 30) for track in read.values()]
    for method in METHODS:
        start = time.perf_counter()
        Forecaster(method, "nDCG@100", 30).fit_rows(rows)
        print(f"fit {method}, with errors on queries left out: {time.perf_counter() - start:.2f} s")


if __name__ == "__main__":
    main()
