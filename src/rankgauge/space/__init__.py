"""Where in the space of a ranking function's parameters a measure changes.

`line` gives the exact curve of any measure along a straight line: every rank measure is a step function
there, since it changes only where two documents change places. `curve` gives the curve over one
parameter of any scorer.
"""

from __future__ import annotations

from rankgauge.space.curves import Curve, Interval
from rankgauge.space.lines import Segment, line
from rankgauge.space.nonlinear.roots import ParameterCurve, curve

__all__ = ["Curve", "Interval", "ParameterCurve", "Segment", "curve", "line"]
