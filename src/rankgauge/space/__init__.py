"""Where in the space of a ranking function's parameters a measure changes.

`line` gives the exact curve of any measure along a straight line: every rank measure is a step function
there, since it changes only where two documents change places. `trajectory` lists these flips along a
path of straight pieces. `grid` shows what a grid of weights misses. `optima` looks for the best weights
of all features by exact line searches. `plane` has all regions of two weights. `WeightSpace` says which
weights of features vary, and answers all of this for them; `rankgauge.fusion.weights.run_space` makes
one of runs. `curve` gives the curve over one parameter of any scorer, `parameter_map` the curves over
two. `objective_curve` has objectives on scores beside the measures.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
