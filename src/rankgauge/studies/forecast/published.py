"""Tables 1 and 2 of Muwanei et al. 2022, on TREC 2013 and 2014: other data than any that is here."""

from __future__ import annotations

from rankgauge.tables import Cell, Table

DEPTHS = (10, 15, 20, 25, 30)
R2 = {
    "nDCG@1000": {
        "boosting": ((0.56, 0.61, 0.67, 0.71, 0.77), (0.41, 0.47, 0.62, 0.71, 0.75)),
        "regression": ((0.33, 0.41, 0.59, 0.62, 0.70), (0.16, 0.30, 0.53, 0.57, 0.69)),
    },
    "nDCG@100": {
        "boosting": ((0.60, 0.68, 0.81, 0.91, 0.91), (0.48, 0.51, 0.73, 0.88, 0.93)),
        "regression": ((0.53, 0.63, 0.78, 0.88, 0.89), (0.32, 0.47, 0.71, 0.87, 0.88)),
    },
}
"""R² by target and method: on TREC 2013, on TREC 2014, at each depth."""


def published_table() -> Table:
    """The printed values of R²."""
    rows: list[tuple[Cell, ...]] = [
        (target, method, depth, first[place], second[place])
        for target, methods in R2.items()
        for method, (first, second) in methods.items()
        for place, depth in enumerate(DEPTHS)
    ]
    columns = ("target", "method", "depth", "TREC 2013", "TREC 2014")
    return Table(columns, tuple(rows), ("other data: as printed by Muwanei et al. 2022",))
