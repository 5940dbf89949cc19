"""Robertson and Zaragoza, On rank-based effectiveness measures and optimisation: done again.

`example` has the example of the appendix, `theorems` the assertion and the theorems on many instances,
and `queries` what happens on real data as queries are added.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankgauge.studies.optimisation import example, queries, theorems
from rankgauge.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

read = queries.read

REAL_SEED, REAL = 7, 200
"""How many instances of real documents are drawn for the theorems."""


def tables() -> dict[str, Table]:
    """The tables that need no data, by the names of their files without endings."""
    return {
        "notes": example.notes_table(),
        "shared-documents": example.cases_table(),
        "contact": example.contact_table(),
        "assertion-1": theorems.assertion_table(),
        "noticed": theorems.noticed_table(),
        "theorems-dropped": theorems.dropped_table(),
        "theorems-smallest": theorems.smallest_table(),
    }


def data_tables(data: queries.Queries | None) -> dict[str, Table]:
    """The tables with real instances beside random ones; without data, of random ones alone."""
    random = np.random.default_rng(REAL_SEED)
    pairs = [("random, 3 queries", theorems.drawn(random, 3, 4, 300)) for _ in range(REAL)]
    if data is None:
        return {"theorems": theorems.theorems_table(), "map-gmap": theorems.gmap_table(pairs)}
    real = [
        data.instance(random.choice(len(data), count, replace=False), documents)
        for count, documents in ((1, 6), (2, 4))
        for _ in range(REAL)
    ]
    pairs += [("MQ2008, 2 queries", each) for each in real if len(set(each.queries)) == 2]
    return {
        "theorems": theorems.theorems_table(real),
        "map-gmap": theorems.gmap_table(pairs),
        "optima": queries.optima_table(data),
        "grids": queries.grids_table(data),
    }


def figures() -> dict[str, Figure]:
    """Figures 1 to 3 of the paper and one for its notes 3 to 5, by the names of their files."""
    from rankgauge.figures.planes import regions_figure

    one, other = example.example(example.FIRST), example.example(example.SECOND)
    return {
        "figure-1": regions_figure(one, example.NAMES, {}),
        "figure-2": regions_figure(one, example.NAMES, {"MAP, nDCG, P@2": example.best(one, "AP")}),
        "figure-3": regions_figure(one, example.NAMES, {"P@1, MRR": example.best(one, "RR")}),
        "figure-notes": regions_figure(
            other,
            example.NAMES,
            {
                "MAP, nDCG: global": example.best(other, "AP"),
                "MAP, nDCG: local": [each for each in other.optima("AP") if not each.best],
            },
        ),
    }
