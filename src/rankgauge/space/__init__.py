"""Where in the space of a ranking function's parameters a measure changes.

`line` gives the exact curve of any measure along a straight line: every rank measure is a step function
there, since it changes only where two documents change places. `trajectory` lists these flips along a
path of straight pieces. `grid` shows what a grid of weights misses. `optima` looks for the best weights
of all features by exact line searches. `plane` has all regions of two weights. `curve` gives the curve
over one parameter of any scorer. `objective_curve` has objectives on scores beside the measures.
"""

from __future__ import annotations

from rankgauge.space.ascent import Optima, optima
from rankgauge.space.curves import Curve, Interval
from rankgauge.space.documents import jittered
from rankgauge.space.grids import Grid, grid
from rankgauge.space.lines import Segment, line
from rankgauge.space.nonlinear.roots import ParameterCurve, curve
from rankgauge.space.objectives import objective_curve, pairwise_loss, rank_objective, swets
from rankgauge.space.planes import Plane, PlaneCell, Region, plane
from rankgauge.space.trajectories import Trajectory, trajectory

__all__ = [
    "Curve",
    "Grid",
    "Interval",
    "Optima",
    "ParameterCurve",
    "Plane",
    "PlaneCell",
    "Region",
    "Segment",
    "Trajectory",
    "curve",
    "grid",
    "jittered",
    "line",
    "objective_curve",
    "optima",
    "pairwise_loss",
    "plane",
    "rank_objective",
    "swets",
    "trajectory",
]
