"""Replication of Robertson and Zaragoza, On rank-based effectiveness measures and optimization.

`example` has the example of the appendix, `flips` what measures make of single flips, `theorems` the
theorems on many instances, `three_parameters` the same with three parameters, `queries` what happens on
real data as queries are added, and `objectives` section 4. `SECTIONS` has the section of each table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.extending import Table
from rankgauge_studies.optimization import example, flips, objectives, queries, theorems
from rankgauge_studies.optimization.three_parameters import three_parameters_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

read = queries.read

FIRST, SECOND = "a and b are relevant", "c and d are relevant"
SECTIONS = {
    "assertion-1": "3.1, Assertion 1",
    "noticed": "3.1",
    "theorems": "3.2, Theorem 1, and A.4, Theorem 2",
    "three-parameters": "A.4, Theorem 2",
    "theorems-dropped": "A.4 and A.5",
    "theorems-smallest": "A.4",
    "shared-documents": "A.5",
    "contact": "A.6",
    "map-gmap": "3.3",
    "optima": "3.3",
    "grids": "3.3",
    "objectives": "4",
    "notes": "A.7",
}
"""The section of the paper that each table covers, in the order of the paper."""
REAL_SEED, REAL_INSTANCES = 7, 200
"""Number of instances drawn from real documents for the theorems."""


def make_table_functions(data: queries.Queries | None) -> dict[str, Callable[[], Table]]:
    """What makes each table, by the name of its file without ending.

    Without data there are no tables of real queries, and all instances are random.
    """
    random = np.random.default_rng(REAL_SEED)
    pairs = [
        ("random, 3 queries", theorems.draw_instance(random, 3, 4, 300))
        for _ in range(REAL_INSTANCES)
    ]
    real = []
    if data is not None:
        for count, documents in ((1, 6), (2, 4)):
            chosen = (random.choice(len(data), count, replace=False) for _ in range(REAL_INSTANCES))
            real += [data.instance(numbers, documents, highest=1) for numbers in chosen]
        pairs += [("MQ2008, 2 queries", each) for each in real[REAL_INSTANCES:]]
    made: dict[str, Callable[[], Table]] = {
        "notes": example.notes_table,
        "shared-documents": example.cases_table,
        "contact": example.contact_table,
        "assertion-1": flips.assertion_table,
        "noticed": flips.response_table,
        "theorems": partial(theorems.theorems_table, real),
        "three-parameters": three_parameters_table,
        "theorems-dropped": theorems.dropped_assumptions_table,
        "theorems-smallest": flips.smallest_table,
        "map-gmap": partial(theorems.gmap_table, pairs),
        "objectives": objectives.objectives_table,
    }
    if data is not None:
        made["optima"] = partial(queries.optima_table, data)
        made["grids"] = partial(queries.grids_table, data)
    return {name: partial(_add_section_note, name, make) for name, make in made.items()}


def _add_section_note(name: str, make: Callable[[], Table]) -> Table:
    """A table whose first note is the section that it is about."""
    table = make()
    return replace(table, notes=(f"the paper, section {SECTIONS[name]}", *table.notes))


def figures() -> dict[str, Figure]:
    """Draw the figures of the study, by file name.

    These are Figures 1 to 3 of the paper, a figure for its notes 3 to 5, and a figure for section
    4.
    """
    from rankgauge.figures import objectives_figure, regions_figure

    one, other = example.example_plane(example.FIRST), example.example_plane(example.SECOND)
    best, local = (
        example.global_optima(other, "AP"),
        [own for own in other.optima("AP") if not own.best],
    )
    curves = objectives.curves()
    return {
        **{
            f"figure-{name}": regions_figure(made, example.NAMES, regions, title=title)
            for name, made, regions, title in (
                ("1", one, {}, FIRST),
                ("2", one, {"MAP, nDCG, P@2": example.global_optima(one, "AP")}, FIRST),
                ("3", one, {"P@1, MRR": example.global_optima(one, "RR")}, FIRST),
                ("notes", other, {"MAP, nDCG: global": best, "MAP, nDCG: local": local}, SECOND),
            )
        },
        "objectives": objectives_figure(
            objectives.POINTS,
            {name: curves[name][objectives.UNCHANGED] for name in objectives.RANK_OBJECTIVES},
            {
                name: {kind: own[kind] for kind in objectives.INCREASING_MAPS}
                for name, own in curves.items()
                if name not in objectives.RANK_OBJECTIVES
            },
            lower_is_better=objectives.LOWER_IS_BETTER,
        ),
    }
