from rankgauge.space.arrangements import Arrangement as Arrangement
from rankgauge.space.arrangements import Line as Line
from rankgauge.space.ascent import Optima as Optima
from rankgauge.space.ascent import optima as optima
from rankgauge.space.curves import Curve as Curve
from rankgauge.space.curves import Interval as Interval
from rankgauge.space.grids import Grid as Grid
from rankgauge.space.grids import grid as grid
from rankgauge.space.inputs import add_jitter as add_jitter
from rankgauge.space.lines import Segment as Segment
from rankgauge.space.lines import line as line
from rankgauge.space.nonlinear.maps import (
    PairScorer as PairScorer,
)
from rankgauge.space.nonlinear.maps import (
    ParameterMap as ParameterMap,
)
from rankgauge.space.nonlinear.maps import (
    parameter_map as parameter_map,
)
from rankgauge.space.nonlinear.roots import ParameterCurve as ParameterCurve
from rankgauge.space.nonlinear.roots import curve as curve
from rankgauge.space.objectives import (
    Objective as Objective,
)
from rankgauge.space.objectives import (
    objective_curve as objective_curve,
)
from rankgauge.space.objectives import (
    pairwise_loss as pairwise_loss,
)
from rankgauge.space.objectives import (
    rank_objective as rank_objective,
)
from rankgauge.space.objectives import (
    swets as swets,
)
from rankgauge.space.path_curves import PathCurves as PathCurves
from rankgauge.space.plane_regions import PlaneRegions as PlaneRegions
from rankgauge.space.planes import (
    Across as Across,
)
from rankgauge.space.planes import (
    FlipBoundary as FlipBoundary,
)
from rankgauge.space.planes import (
    Plane as Plane,
)
from rankgauge.space.planes import (
    PlaneCell as PlaneCell,
)
from rankgauge.space.planes import (
    Region as Region,
)
from rankgauge.space.planes import (
    plane as plane,
)
from rankgauge.space.trajectories import Trajectory as Trajectory
from rankgauge.space.trajectories import trajectory as trajectory
from rankgauge.space.weights import WeightSpace as WeightSpace
