"""Where in the parameter space of a ranking function a measure changes.

`line` gives the exact curve of any measure along a straight line: every rank measure is a step
function there, since it changes only where two documents swap places. `trajectory` lists these
flips along a path of straight pieces. `grid` shows what a grid of weights misses. `optima`
searches for the best weights of all features with exact line searches. `plane` finds all regions
of two weights. `WeightSpace` names the feature weights that vary, and offers all of this for them;
`rankgauge.fusion.weights.run_space` creates one from runs. `curve` gives the curve over one
parameter of any scorer, and `parameter_map` the curves over two. `objective_curve` plots
objectives on scores next to the measures.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
