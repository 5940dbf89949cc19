"""Local optima as queries are added, and what grids miss, on the learning-to-rank data MQ2008."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from rankgauge import Features, parse, read_letor
from rankgauge.extending import Cell, Floats, Ints, Record, Table
from rankgauge.measures.around import inner
from rankgauge.rankings import JudgedLabels, Rankings
from rankgauge.rankings.lists import offsets_of
from rankgauge.space import Plane, plane
from rankgauge_studies.optimization.theorems import Instance

FILES = tuple(f"mq2008/S{part}.txt.gz" for part in range(1, 6))
COLUMNS = (39, 23, 40)
"""The features c, u and v, numbered from 1: three with high variance."""
DECIMALS = 6
DOCUMENTS, RELEVANT = 8, (2, 4)
"""The numbers of documents and of relevant documents in the selected queries."""
DRAWS_BY_COUNT = {1: 6, 2: 6, 4: 4, 8: 3, 16: 1, 24: 1}
"""Number of queries per draw, and number of draws."""
SEED = 5
MEASURES = ("AP", "nDCG", "P@5", "RR")
BOX = (-1.0, -1.0, 1.0, 1.0)
"""The square covered by grids."""
STEPS = (0.1, 0.01)


class Queries(Record):
    """The queries of MQ2008 that are taken: coordinates and labels of the documents of each."""

    documents: list[Ints]
    labels: list[Ints]

    def __len__(self) -> int:
        return len(self.documents)

    def instance(
        self, chosen: Ints, documents: int | None = None, highest: int | None = None
    ) -> Instance:
        """Return some of the queries, with all their documents or the first ones.

        Labels above `highest` become `highest`.
        """
        made = Instance([], [], [])
        for query in chosen.tolist():
            labels = np.minimum(self.labels[query][:documents], highest or 99)
            made.add(query, self.documents[query][:documents].tolist(), labels.tolist())
        return made


def read(folder: str | os.PathLike[str]) -> Queries:
    """The queries with eight documents; InputError if a file is missing."""
    parts: list[Features] = [read_letor(Path(folder, file)) for file in FILES]
    documents, labels = [], []
    for part in parts:
        columns = part.values[:, np.array(COLUMNS) - 1]
        values = np.rint(columns.astype(np.float64) * 10**DECIMALS)
        for low, high in zip(part.bounds[:-1].tolist(), part.bounds[1:].tolist(), strict=True):
            own = part.labels[low:high].astype(np.int64)
            relevant = int(np.count_nonzero(own > 0))
            if high - low == DOCUMENTS and RELEVANT[0] <= relevant <= RELEVANT[1]:
                documents.append(values[low:high].astype(np.int64))
                labels.append(own)
    return Queries(documents, labels)


def label_plane(each: Instance) -> Plane:
    """The regions by the flips of documents with different labels."""
    return plane(each.documents, each.labels, each.queries, neutral=False)


def optima_table(data: Queries) -> Table:
    """Return the number and size of local optima as queries are added."""
    random = np.random.default_rng(SEED)
    rows: list[tuple[Cell, ...]] = []
    for queries, draws in DRAWS_BY_COUNT.items():
        seen = []
        for _ in range(draws):
            made = label_plane(data.instance(random.choice(len(data), queries, replace=False)))
            row: list[float] = [len(made.lines), len(made)]
            for measure in MEASURES:
                optima = made.optima(measure)
                row += [len(optima), float(np.median([len(region.cells) for region in optima]))]
            seen.append(row)
        rows.append((queries, draws, *np.mean(seen, axis=0).tolist()))
    columns = [each for name in MEASURES for each in (f"{name} optima", f"{name} cells")]
    return Table(
        ("queries", "draws", "lines", "cells", *columns),
        tuple(rows),
        (
            f"means over draws; cells: the median number of cells in an optimum; {DOCUMENTS} "
            f"documents per query, of which {RELEVANT[0]} to {RELEVANT[1]} are relevant; "
            f"features {COLUMNS} of MQ2008",
        ),
    )


def grids_table(data: Queries, queries: int = 16, draws: int = 3) -> Table:
    """The best point of a grid on a square against the exact optimum there."""
    random = np.random.default_rng(SEED)
    rows: list[tuple[Cell, ...]] = []
    lost: dict[tuple[str, float], list[tuple[float, float]]] = {}
    for _ in range(draws):
        each = data.instance(random.choice(len(data), queries, replace=False))
        made = label_plane(each)
        inside = [cell for cell in range(len(made)) if _area(made.polygon(cell, BOX)) > 0]
        for measure in MEASURES:
            best = float(made.values(measure)[inside].max())
            for step in STEPS:
                found = float(_grid_values(each, measure, step).max())
                lost.setdefault((measure, step), []).append((best, best - found))
    for (measure, step), pairs in lost.items():
        best, loss = np.mean(pairs, axis=0)
        rows.append((measure, step, best, loss, float(np.max(pairs, axis=0)[1])))
    return Table(
        ("measure", "grid", "exact optimum", "lost", "lost at most"),
        tuple(rows),
        (f"{queries} queries, x and y from {BOX[0]:g} to {BOX[2]:g}; means over {draws} draws",),
    )


def _grid_values(each: Instance, measure: str, step: float) -> Floats:
    """The mean of a measure at every point of the grid."""
    ticks = BOX[0] + np.arange(round((BOX[2] - BOX[0]) / step) + 1) * step
    x, y = (axis.ravel() for axis in np.meshgrid(ticks, ticks))
    documents, labels = np.array(each.documents, dtype=np.float64), np.array(each.labels)
    queries = np.array(each.queries)
    parsed = inner(parse(measure)).complete()
    values = []
    for query in dict.fromkeys(each.queries):
        own = queries == query
        c, u, v = documents[own].T
        order = np.argsort(-(c + x[:, None] * u + y[:, None] * v), axis=1, kind="stable")
        ranked = labels[own][order].astype(np.int32)
        judged = JudgedLabels.of(labels[own], max_grade=int(labels.max()))
        offsets = offsets_of(np.full(len(ranked), ranked.shape[1]))
        lists = Rankings(ranked.ravel(), offsets, np.zeros(len(ranked), dtype=np.int64), judged)
        values.append(parsed.score_each(lists))
    return np.asarray(np.mean(values, axis=0))


def _area(polygon: Floats) -> float:
    if len(polygon) < 3:
        return 0.0
    x, y = polygon.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2
