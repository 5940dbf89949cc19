"""How deep must we judge? Prints the tables of docs/FORECAST.md on pools and depth, and draws its
figure.

    python docs/scripts/forecast_depth.py [--figures]

The runs and judgments of TREC-8 (43 runs), Robust 2003 (17 runs) and Web 2012 (8 runs) are read from
the folder RANKGAUGE_DATA, or from beside the project. All random draws have a fixed seed. With --figures
the file in docs/figures is written; otherwise nothing is written.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankgauge as rg
from rankgauge.core.tables import Cell, Table
from rankgauge.figures.files import save_figure

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
DEPTHS = (5, 10, 20, 30, 50)
MEASURES = ("nDCG@100", "nDCG@1000", "AP")
DRAWS = 20
"""How often some of the runs are drawn to make the pool."""


class Track(NamedTuple):
    """Where the judgments and the runs of a track are."""

    qrels: str
    runs: str


TRACKS = {
    "TREC-8": Track("qrels/qrels.adhoc.401-450.txt.gz", "trec8-adhoc/runs"),
    "Robust 2003": Track("trec-robust03/qrels.txt.gz", "trec-robust03/runs"),
    "Web 2012": Track("trec-web2012/qrels.adhoc.txt", "trec-web2012/runs"),
}


def read(name: str) -> tuple[rg.Judgments, list[rg.Run]]:
    """The judgments and the runs of a track, without `input.` before the names of the runs."""
    folder = Path(os.environ.get("RANKGAUGE_DATA", BESIDE))
    track = TRACKS[name]
    runs = []
    for path in sorted((folder / track.runs).iterdir()):
        run = rg.read_run(path)
        runs.append(rg.read_run(path, name=run.name.removeprefix("input.")))
    return rg.read_qrels(folder / track.qrels), runs


def rows(table: Table) -> Iterator[dict[str, Any]]:
    """The rows of a table, by column."""
    return (dict(zip(table.columns, row, strict=True)) for row in table.rows)


def depth_table(found: rg.JudgingDepth) -> Table:
    """A row for each depth, with τ and bias of each measure."""
    names = [str(measure) for measure in found.measures]
    lines: list[tuple[Cell, ...]] = []
    by_depth: dict[int, dict[str, dict[str, Any]]] = {}
    for row in rows(found.table()):
        by_depth.setdefault(row["depth"], {})[row["measure"]] = row
    for depth, each in by_depth.items():
        first = each[names[0]]
        flips = "/".join(str(each[name]["reversed"]) for name in names)
        lines.append(
            (
                str(depth),
                f"{first['judgments']:,}",
                f"{first['saved']:.0%}",
                str(first["nothing"]),
                *(f"{each[name]['tau']:.3f}" for name in names),
                *(f"{each[name]['bias']:+.3f}" for name in names),
                flips,
            )
        )
    halves = dict(zip(names, found.half_tau.tolist(), strict=True))
    lines.append(
        (
            "halves",
            "",
            "",
            "",
            *(f"{halves[name]:.3f}" for name in names),
            *("" for _ in names),
            "/".join(map(str, found.significant.tolist())),
        )
    )
    columns = ("depth", "judgments", "saved", "nothing")
    taus, biases = ([f"{what} {name}" for name in names] for what in ("τ", "bias"))
    return Table((*columns, *taus, *biases, "reversed"), tuple(lines))


def some_pooled(qrels: rg.Judgments, runs: list[rg.Run]) -> Table:
    """A random third of the runs makes the pool: means over draws."""
    random = np.random.default_rng(0)
    names = [run.name for run in runs]
    third = len(names) // 3
    found: dict[int, list[dict[str, Any]]] = {}
    for _ in range(DRAWS):
        pooled = random.choice(names, third, replace=False).tolist()
        drawn = rg.judging_depth(qrels, runs, "nDCG@100", DEPTHS, pooled=pooled, splits=1)
        for row in rows(drawn.table()):
            found.setdefault(row["depth"], []).append(row)
    lines = []
    for depth, drawn_rows in found.items():

        def mean(name: str, of: list[dict[str, Any]] = drawn_rows) -> float:
            return float(np.mean([row[name] for row in of]))

        worst = max(row["outside_worst"] for row in drawn_rows)
        lines.append(
            (
                str(depth),
                f"{mean('judgments'):,.0f}",
                f"{mean('tau'):.3f}",
                f"{mean('inside_bias'):+.3f}",
                f"{mean('outside_bias'):+.3f}",
                f"{mean('outside_ranks'):+.1f}",
                f"{worst:g}",
            )
        )
    columns = ("depth", "judgments", "τ", "bias inside", "bias outside", "ranks", "worst")
    return Table(columns, tuple(lines))


def left_out(qrels: rg.Judgments, runs: list[rg.Run]) -> Table:
    """What the runs of a team lose without the team in the pool."""
    found = rg.judging_depth(qrels, runs, "nDCG@100", DEPTHS, teams="letters", splits=1)
    lines = []
    for row in rows(found.table()):
        teams = [one for one in rows(found.team_table()) if one["depth"] == row["depth"]]
        worst = max(teams, key=lambda one: one["worst_loss"])
        lines.append(
            (
                str(row["depth"]),
                f"{row['loss']:.4f}",
                f"{row['worst_loss']:.3f} ({worst['team']})",
                f"{row['ranks']:.1f}",
                f"{row['worst_ranks']:g}",
            )
        )
    return Table(("depth", "loss", "worst loss", "ranks", "worst"), tuple(lines))


def pages(names: tuple[str, ...] = tuple(TRACKS)) -> Iterator[tuple[str, Table]]:
    """The tables of these tracks, each with what it is about."""
    for name in names:
        qrels, runs = read(name)
        found = rg.judging_depth(qrels, runs, MEASURES, DEPTHS)
        yield name, depth_table(found)
        if name == "TREC-8":
            yield f"{name}, a third of the runs makes the pool", some_pooled(qrels, runs)
            yield f"{name}, each team left out once", left_out(qrels, runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", action="store_true", help="write docs/figures/depth.svg")
    arguments = parser.parse_args()
    for name, table in pages():
        print(f"{name}\n\n{table.render('md')}")
    if arguments.figures:
        found = rg.judging_depth(*read("TREC-8"), MEASURES, DEPTHS)
        save_figure(found.figure(), FIGURES / "depth.svg")


if __name__ == "__main__":
    main()
