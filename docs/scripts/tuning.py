"""Nine pairs of real runs, tuned: prints the numbers and draws the figures of docs/TUNING.md.

    python docs/scripts/tuning.py [--figures]

The data is read from the folder RANKGAUGE_DATA, or from beside the project. With --figures the files in
docs/figures are written; otherwise nothing is written. All random draws have a fixed seed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import rankgauge as rg
from rankgauge.core.tables import Table
from rankgauge.figures.files import save_figure
from rankgauge.fusion.normalizations import NORMALIZATIONS
from rankgauge.fusion.tuned import round_inward

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
DL = ("qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs/{}.run.gz")
COVID = ("qrels/qrels.covid-round1.txt.gz", "trec-covid/round1/runs/{}.gz")
ROBUST = ("trec-robust03/qrels.txt.gz", "trec-robust03/runs/input.{}.gz")
PAIRS = (
    (DL, "p_bm25", "TUW_TAS-B_768"),
    (DL, "p_bm25", "p_tct0"),
    (DL, "p_bm25", "ielab-uniCOIL"),
    (DL, "p_bm25", "ihsm_colbert64"),
    (COVID, "bm25_baseline", "T5R1"),
    (COVID, "smith.bm25", "RUIR-doc2vec"),
    (COVID, "BM25R2", "BioinfoUA-emb"),
    (ROBUST, "SABIR03BASE", "pircRBa1"),
    (ROBUST, "UIUC03Rd1", "fub03IeOLKe3"),
)
MEASURE = "nDCG@10"


def data() -> Path:
    """The folder of the data."""
    return Path(os.environ.get("RANKGAUGE_DATA", BESIDE))


def tuned(where: tuple[str, str], *names: str, **options: str) -> rg.Tuning:
    """The tuning of a pair."""
    qrels, pattern = where
    runs = {name: data() / pattern.format(name) for name in names}
    return rg.tune(data() / qrels, runs, MEASURE, **options)


def grid_loss(tuning: rg.Tuning, step: float) -> float:
    """How far the best weight of a grid is below the best, on the queries of the choice."""
    assert tuning.curve is not None
    grid = np.arange(step, 1 - step / 2, step)
    values = [tuning.curve.mean_at(round(float(weight), 9)) for weight in grid]
    return tuning.value - max(*values, tuning.curve.start, tuning.curve.end)


def rows(tunings: list[rg.Tuning]) -> Iterator[tuple[object, ...]]:
    """One row per pair."""
    for tuning in tunings:
        assert tuning.plateau is not None
        best = max(tuning.runs, key=lambda name: tuning.baselines[name])
        gain, low, high, _ = tuning.against(best)
        yield (
            " + ".join(tuning.runs),
            round(tuning.weights[1], 3),
            " to ".join(round_inward(*tuning.plateau, tuning.weights[1])),
            tuning.value,
            tuning.cross_validated,
            tuning.optimism,
            tuning.baselines[best],
            tuning.baselines["equal weights"],
            tuning.baselines["rrf"],
            f"{gain:+.3f} [{low:+.3f}, {high:+.3f}]",
        )


def main() -> None:
    """Print the tables, and draw the figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--figures", action="store_true", help="write the files in docs/figures, too"
    )
    asked = parser.parse_args()
    tunings = [tuned(*pair) for pair in PAIRS]
    columns = (
        "pair", "weight", "as good", "fitted", "cross-validated", "optimism", "best single", "equal",
        "rrf", "gain over the best single",
    )  # fmt: skip
    table = Table(columns, tuple(rows(tunings)))  # type: ignore[arg-type]
    print(table.render("md", digits=3))
    losses = {step: [grid_loss(tuning, step) for tuning in tunings] for step in (0.1, 0.01)}
    for step, loss in losses.items():
        print(f"at the median, a grid of {step:g} loses {np.median(loss):.4f}")
    print(f"median optimism: {np.median([tuning.optimism for tuning in tunings]):.4f}")
    beaten = sum(tuning.baselines["rrf"] > tuning.cross_validated for tuning in tunings)
    print(f"rrf beats the cross-validated tuned weight on {beaten} of {len(tunings)} pairs\n")
    ways = {name: tuned(*PAIRS[0], normalize=name) for name in NORMALIZATIONS}
    ways["none, absent=zero"] = tuned(*PAIRS[0], normalize="none", absent="zero")
    ways["all"] = tuned(*PAIRS[0], normalize="all")
    found = tuple(
        (name, way.weights[1], way.value, way.cross_validated) for name, way in ways.items()
    )
    print(Table(("normalize", "weight", "fitted", "cross-validated"), found).render("md", digits=3))
    if asked.figures:
        save_figure(tunings[0].figure(), FIGURES / "tuning-weight.svg")


if __name__ == "__main__":
    main()
