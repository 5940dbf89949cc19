"""Figures of plain numbers, names and texts; results call them. They need matplotlib, the extra `plot`.

A figure looks the same whatever the settings of matplotlib are. It is an ordinary
`matplotlib.figure.Figure`, so that it can be changed before `save_figure` writes it; pyplot is not used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankgauge.core.lazy import lazy_names

if TYPE_CHECKING:
    from rankgauge.figures.planes import regions_figure
    from rankgauge.figures.queries import expected_histogram, query_map
    from rankgauge.figures.space import objectives_figure
    from rankgauge.figures.studies import (
        attention_lines,
        depth_curves,
        ideal_lines,
        order_sensitivity,
        power_curves,
        relevant_lines,
        token_matches,
    )

__all__ = [
    "attention_lines",
    "depth_curves",
    "expected_histogram",
    "ideal_lines",
    "objectives_figure",
    "order_sensitivity",
    "power_curves",
    "query_map",
    "regions_figure",
    "relevant_lines",
    "token_matches",
]

_HOMES = {
    "attention_lines": "rankgauge.figures.studies",
    "depth_curves": "rankgauge.figures.studies",
    "expected_histogram": "rankgauge.figures.queries",
    "ideal_lines": "rankgauge.figures.studies",
    "objectives_figure": "rankgauge.figures.space",
    "order_sensitivity": "rankgauge.figures.studies",
    "power_curves": "rankgauge.figures.studies",
    "query_map": "rankgauge.figures.queries",
    "regions_figure": "rankgauge.figures.planes",
    "relevant_lines": "rankgauge.figures.studies",
    "token_matches": "rankgauge.figures.studies",
}
if not TYPE_CHECKING:  # which would take any name for one of these
    __getattr__, __dir__ = lazy_names(__name__, _HOMES)
