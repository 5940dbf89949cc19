from rankgauge.space.arrangements import Arrangement as Arrangement, Line as Line
from rankgauge.space.ascent import Optima as Optima, optima as optima
from rankgauge.space.curves import Curve as Curve, Interval as Interval
from rankgauge.space.grids import Grid as Grid, grid as grid
from rankgauge.space.inputs import add_jitter as add_jitter
from rankgauge.space.lines import Segment as Segment, line as line
from rankgauge.space.nonlinear.maps import (
    PairScorer as PairScorer,
    ParameterMap as ParameterMap,
    parameter_map as parameter_map,
)
from rankgauge.space.nonlinear.roots import ParameterCurve as ParameterCurve, curve as curve
from rankgauge.space.objectives import (
    Objective as Objective,
    objective_curve as objective_curve,
    pairwise_loss as pairwise_loss,
    rank_objective as rank_objective,
    swets as swets,
)
from rankgauge.space.path_curves import PathCurves as PathCurves
from rankgauge.space.plane_regions import PlaneRegions as PlaneRegions
from rankgauge.space.planes import (
    Across as Across,
    FlipBoundary as FlipBoundary,
    Plane as Plane,
    PlaneCell as PlaneCell,
    Region as Region,
    plane as plane,
)
from rankgauge.space.trajectories import Trajectory as Trajectory, trajectory as trajectory
from rankgauge.space.weights import WeightSpace as WeightSpace
