"""The methods on MQ2008 and OHSUMED: prints the tables of docs/RANKERS.md.

    python docs/scripts/rankers.py

The data is read from the folder RANKGAUGE_DATA, or from beside the project. It takes about three
minutes. All random draws have a fixed seed.
"""

from __future__ import annotations

import os
from pathlib import Path

import rankgauge as rg
from rankgauge.core.tables import Cell, Table
from rankgauge.rankers import AdaRank, CrossValidation, ListNet, RankBoost, cross_validation

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
MEASURE = "nDCG(gain=exp2)@10"
RANKLIB = {
    "LambdaMART": 0.5049,
    "CoordinateAscent": 0.5049,
    "RankBoost": 0.5003,
    "AdaRank": 0.4952,
    "RankNet": 0.4845,
    "ListNet": 0.4827,
}
"""What RankLib's methods get on MQ2008, measured by us."""
FASTRANK = {"CoordinateAscent": (0.5034, 0.4521), "RandomForest": (0.5006, 0.4413)}
"""What fastrank's methods get on MQ2008 and OHSUMED, measured by us."""
PUBLISHED = {
    "MQ2008": {"ListNet": (0.2303, None)},
    "OHSUMED": {
        "RankBoost": (0.4356, 0.4403),
        "ListNet": (0.4489, 0.4496),
        "AdaRank, AP": (0.4385, 0.4419),
        "AdaRank, nDCG": (0.4369, 0.4424),
    },
}
"""NDCG@10 and MAP that LETOR published: LETOR 4.0 for MQ2008, LETOR 2.0 for OHSUMED."""


def data() -> Path:
    """The folder of the data."""
    return Path(os.environ.get("RANKGAUGE_DATA", BESIDE))


def means(found: CrossValidation, column: str) -> dict[str, float]:
    """A column of the table of means, by method, for the first measure."""
    place = found.table().columns.index(column)
    first = found.table().rows[0][0]
    rows = (row for row in found.table().rows if row[0] == first)
    return {str(row[1]): float(str(row[place])) for row in rows if row[place] is not None}


def methods_table() -> Table:
    """All methods on both collections, and what RankLib and fastrank get."""
    mq2008, ohsumed = (
        cross_validation(rg.read_folds(data() / folder), None, MEASURE)
        for folder in ("mq2008", "ohsumed-letor3")
    )
    test, train, validation = (means(mq2008, name) for name in ("test", "train", "validation"))
    other = means(ohsumed, "test")
    rows: list[tuple[Cell, ...]] = []
    for method, value in test.items():
        peers = (RANKLIB.get(method), *FASTRANK.get(method, (None, None)))
        beside = (train.get(method), validation.get(method), peers[0], peers[1])
        rows.append((method, value, *beside, other[method], peers[2]))
    collections = ("MQ2008", "train", "validation", "RankLib", "fastrank")
    return Table(("method", *collections, "OHSUMED", "fastrank "), tuple(rows))


def letor_table() -> Table:
    """Methods by LETOR's own evaluation, and what LETOR published."""
    rankers = {
        "ListNet": ListNet(),
        "RankBoost": RankBoost(),
        "AdaRank, AP": AdaRank(objective="AP", measure="AP"),
        "AdaRank, nDCG": AdaRank(),
    }
    rows: list[tuple[Cell, ...]] = []
    for collection, folder in {"MQ2008": "mq2008", "OHSUMED": "ohsumed/Data"}.items():
        folds = rg.read_folds(data() / folder)
        for name, published in PUBLISHED[collection].items():
            found = cross_validation(
                folds, rankers[name], ["nDCG@10", "AP"], evaluation="letor"
            ).scores.mean()
            ours = next(iter(found.values()))
            rows.append(
                (collection, name, ours["nDCG_LETOR@10"], published[0], ours["AP"], published[1])
            )
    return Table(("collection", "method", "NDCG@10", "published", "MAP", "published "), tuple(rows))


def main() -> None:
    for table in (methods_table(), letor_table()):
        print(table.render("md", digits=4))


if __name__ == "__main__":
    main()
