"""How far apart a measure can put two lists: the algorithms, found by the names that measures give."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

from rankgauge.core.registry import Registry

if TYPE_CHECKING:
    from rankgauge.distance.algorithms.lists import GreatestDifferences, ListPairs

    Algorithm: TypeAlias = Callable[[Any, ListPairs], GreatestDifferences]

ALGORITHMS: Registry[Algorithm] = Registry(
    "distance algorithm",
    package="rankgauge.distance.algorithms",
    homes={
        "fixed_weights": "weighted",
        "ideal_weights": "weighted",
        "recall": "single",
        "success": "single",
        "reciprocal_rank": "single",
        "r_precision": "single",
        "sum_of_precisions": "staircase",
        "expected_reciprocal_rank": "staircase",
        "q_measure": "staircase",
    },
)
"""Each accepts a measure and pairs of lists. `any_measure.py` handles all other measures."""
