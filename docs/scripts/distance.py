"""How far apart real runs can be: prints the numbers and draws the figures of docs/DISTANCE.md.

    python docs/scripts/distance.py [--figures]

The data is read from the folder RANKGAUGE_DATA, or from beside the project. With --figures the files in
docs/figures are written; otherwise nothing is written.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import rankgauge as rg
from rankgauge.core.tables import Cell, Table
from rankgauge.distance.advice import advise, assign_labels
from rankgauge.distance.maximized import distance_of
from rankgauge.figures.distances import distance_scatter
from rankgauge.figures.files import save_figure

Floats = NDArray[np.float64]
Labels = dict[str, dict[str, int]]

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
RUNS = "trec-covid/round1/runs"
QRELS = "qrels/qrels.covid-round1.txt.gz"
LATER = "qrels/qrels.covid-complete.txt.gz"
GRADES = (0, 1, 2)
MEASURES = ("nDCG@10", "P@10", "AP@100")
NUMBER = 50
"""How many documents are judged."""
PAIRS = (
    ("bm25t5", "sab20.1.meta.docs"),
    ("BITEM_BL", "BITEM_df"),
    ("CSIROmedNIR", "PL2c1.0"),
    ("OHSU_RUN1", "UIowaS_Run1"),
    ("run1", "CSIROmedNIR"),
    ("run1", "xj4wang_run1"),
)


def data_folder() -> Path:
    return Path(os.environ.get("RANKGAUGE_DATA", BESIDE))


# Distances and differences


class Pairs(NamedTuple):
    """All pairs of runs by a measure: their distance with nothing judged, and their real difference."""

    distances: rg.Distances
    differences: Floats

    @property
    def far(self) -> Floats:
        """The mean distance of each pair."""
        return np.asarray(self.distances).mean(axis=1)


def pairs(folder: Path, measure: str, every: int = 1) -> Pairs:
    """All pairs of some runs (one in `every`). Unjudged documents may have any grade of the track."""
    files = sorted((folder / RUNS).iterdir())[::every]
    distances = rg.med_matrix(None, files, measure, grades=GRADES)
    scores = rg.evaluate(folder / QRELS, files, measure)
    mean = scores.select(distances.queries).values[:, :, 0].mean(axis=1)
    place = [scores.runs.index(run) for run in distances.runs]
    first, second = np.triu_indices(len(place), 1)
    return Pairs(distances, np.abs(mean[place][first] - mean[place][second]))


def pairs_table(compared: Sequence[Pairs]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for each in compared:
        far, apart = each.far, each.differences
        below = int(np.count_nonzero(far < apart - 1e-12))
        quantiles = np.quantile(far, (0, 0.05, 0.5, 1)).tolist()
        near = far <= np.quantile(far, 0.05)
        line: list[Cell] = [str(each.distances.measure), len(far), below, *quantiles]
        rows.append((*line, float(apart.mean()), float(apart[near].mean())))
    columns = ("measure", "pairs", "below", "least", "5%", "median", "greatest")
    return Table((*columns, "difference", "of the nearest 5%"), tuple(rows))


def groups_table(compared: Pairs) -> Table:
    """Groups of runs: two runs with a distance of 0.5 or less are in the same group."""
    square = compared.distances.matrix()
    left = set(range(len(square)))
    rows: list[tuple[Cell, ...]] = []
    for start in range(len(square)):
        if start not in left:
            continue
        group, new = {start}, {start}
        while new:
            near = {int(j) for i in new for j in np.flatnonzero(square[i] <= 0.5)}
            new = near - group
            group |= new
        left -= group
        if len(group) > 1:
            names = sorted(compared.distances.runs[i] for i in group)
            rows.append((len(group), ", ".join(names)))
    rows.sort(key=lambda row: (-int(row[0] or 0), str(row[1])))
    return Table(("runs", "names"), tuple(rows))


# Judging


def labels_of(path: Path) -> Labels:
    """The labels of 0 or more in the judgments, by query and document."""
    judgments = rg.read_qrels(path)
    labels: Labels = {}
    for place, topic in enumerate(judgments.queries):
        rows = np.arange(*judgments.bounds[place : place + 2].tolist())
        documents = judgments.documents.take(rows).texts()
        grades = judgments.grades[rows].tolist()
        known = {d: grade for d, grade in zip(documents, grades, strict=True) if grade >= 0}
        labels[topic.decode()] = known
    return labels


Documents = list[tuple[str, str]]
"""Queries and documents."""


def pool(distances: rg.Distances, number: int) -> Documents:
    """The first unjudged documents of the two runs, rank by rank, one query after the other."""

    def by_rank() -> Iterator[tuple[int, int, int, str, str]]:
        for place, topic in enumerate(distances.queries):
            for document, *ranks, known in distances.documents(topic):
                first, side = min((rank, i) for i, rank in enumerate(ranks) if rank is not None)
                if known is None:
                    yield first, side, place, topic, document

    return [(topic, document) for *_, topic, document in sorted(by_rank())[:number]]


def left(distances: rg.Distances, documents: Documents, labels: Labels) -> float:
    """The mean distance with these documents judged. A document without a label is not relevant."""
    values = []
    for topic in distances._topics:
        numbers = {name: number for number, name in enumerate(topic.names)}
        known = labels.get(topic.query, {})
        new = {numbers[d]: known.get(d, 0) for query, d in documents if query == topic.query}
        lists = assign_labels(topic.lists, new)
        values.append(distance_of(distances.measure, lists, 0, 1, topic.names).value)
    return float(np.mean(values))


class Judged(NamedTuple):
    """The mean distance of a pair before and after documents are judged: the advised documents, and as
    many documents of a pool; if no document is relevant, and with real labels."""

    runs: str
    before: float
    advised_none: float
    pool_none: float
    advised: float
    pool: float


def judging(folder: Path, measure: str, before: Path | None, labels: Labels) -> list[Judged]:
    """The distances left for each of `PAIRS`, starting from earlier judgments if there are any."""
    rows = []
    for a, b in PAIRS:
        files = [folder / RUNS / f"{name}.gz" for name in (a, b)]
        distances = rg.med(*files, measure, before, grades=GRADES)
        assert isinstance(distances, rg.Distances)
        advice = advise(distances, NUMBER)
        advised = [(document.topic, document.document) for document in advice.documents]
        pooled = pool(distances, NUMBER)
        rows.append(
            Judged(
                f"{a}, {b}",
                distances.mean(),
                advice.left,
                left(distances, pooled, {}),
                left(distances, advised, labels),
                left(distances, pooled, labels),
            )
        )
    means = np.array([pair[1:] for pair in rows]).mean(axis=0).tolist()
    return [*rows, Judged("mean", *means)]


def judging_table(folder: Path) -> Table:
    """The distance left with real labels, starting with nothing judged and with the judgments of
    round 1."""
    rows: list[tuple[Cell, ...]] = []
    notes = []
    first, later = labels_of(folder / QRELS), labels_of(folder / LATER)
    for measure in (MEASURES[0], MEASURES[2]):
        settings = {
            "from nothing": judging(folder, measure, None, first),
            "after round 1": judging(folder, measure, folder / QRELS, later),
        }
        for one, other in zip(*settings.values(), strict=True):
            line: list[Cell] = [measure, one.runs, one.before, one.advised, one.pool]
            rows.append((*line, other.before, other.advised, other.pool))
        for name, found in settings.items():
            *single, mean = found
            better = sum(pair.advised < pair.pool for pair in single)
            worst = sum(pair.advised_none < pair.pool_none for pair in single)
            notes.append(
                f"{measure} {name}: advised nearer for {better} of {len(single)}; if none is relevant "
                f"for {worst}, {mean.advised_none:.4f} against {mean.pool_none:.4f}"
            )
    columns = ("before", "advised", "pool")
    return Table(
        ("measure", "runs", *columns, *(f"{c} (1)" for c in columns)), tuple(rows), tuple(notes)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--figures", action="store_true", help="write docs/figures")
    arguments = parser.parse_args()
    folder = data_folder()
    compared = [pairs(folder, measure) for measure in MEASURES[:2]]
    show("All pairs of runs, nothing judged", pairs_table(compared))
    show("Runs with a distance of at most 0.5 by nDCG@10", groups_table(compared[0]))
    title = f"{NUMBER} documents judged: the distance left, from nothing and (1) after round 1"
    show(title, judging_table(folder))
    if arguments.figures:
        FIGURES.mkdir(exist_ok=True)
        save_figure(compared[0].distances.figure(), FIGURES / "distance-map.svg")
        panels = {str(each.distances.measure): (each.far, each.differences) for each in compared}
        save_figure(distance_scatter(panels), FIGURES / "distance-scatter.svg")


def show(title: str, table: Table, digits: int = 4) -> None:
    print(f"{title}\n\n{table.render('table', digits=digits)}", flush=True)


if __name__ == "__main__":
    main()
