"""Where in the space of a ranking function's parameters a measure changes.

`line` gives the exact curve of any measure along a straight line: every rank measure is a step function
there, since it changes only where two documents change places.
"""

from __future__ import annotations

from rankgauge.space.curves import Curve, Interval
from rankgauge.space.lines import Segment, line
from rankgauge.space.planes import Cell, Plane, Region, plane

__all__ = ["Cell", "Curve", "Interval", "Plane", "Region", "Segment", "line", "plane"]
