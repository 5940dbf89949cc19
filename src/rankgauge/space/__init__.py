"""Where in the space of a ranking function's parameters a measure changes.

`line` gives the exact curve of any measure along a straight line: every rank measure is a step function
there, since it changes only where two documents change places. `trajectory` lists these flips along a
path of straight pieces. `grid` shows what a grid of weights misses. `optima` looks for the best weights
of all features by exact line searches. `plane` has all regions of two weights. `WeightSpace` says which
weights of features vary, and answers all of this for them; `rankgauge.fusion.weights.run_space` makes
one of runs. `curve` gives the curve over one parameter of any scorer, `parameter_map` the curves over
two. `objective_curve` has objectives on scores beside the measures.
"""

from __future__ import annotations

from rankgauge.space.arrangements import Arrangement, Line
from rankgauge.space.ascent import Optima, optima
from rankgauge.space.curves import Curve, Interval
from rankgauge.space.grids import Grid, grid
from rankgauge.space.inputs import jittered
from rankgauge.space.lines import Segment, line
from rankgauge.space.nonlinear.maps import PairScorer, ParameterMap, parameter_map
from rankgauge.space.nonlinear.roots import ParameterCurve, curve
from rankgauge.space.objectives import (
    Objective,
    objective_curve,
    pairwise_loss,
    rank_objective,
    swets,
)
from rankgauge.space.path_curves import PathCurves
from rankgauge.space.plane_regions import PlaneRegions
from rankgauge.space.planes import Across, FlipBoundary, Plane, PlaneCell, Region, plane
from rankgauge.space.trajectories import Trajectory, trajectory
from rankgauge.space.weights import WeightSpace

__all__ = [
    "Across",
    "Arrangement",
    "Curve",
    "FlipBoundary",
    "Grid",
    "Interval",
    "Line",
    "Objective",
    "Optima",
    "PairScorer",
    "ParameterCurve",
    "ParameterMap",
    "PathCurves",
    "Plane",
    "PlaneCell",
    "PlaneRegions",
    "Region",
    "Segment",
    "Trajectory",
    "WeightSpace",
    "curve",
    "grid",
    "jittered",
    "line",
    "objective_curve",
    "optima",
    "pairwise_loss",
    "parameter_map",
    "plane",
    "rank_objective",
    "swets",
    "trajectory",
]
