"""Figures of plain numbers, names and texts; results call them. They need matplotlib, the extra `plot`.

A figure looks the same whatever the settings of matplotlib are. It is an ordinary
`matplotlib.figure.Figure`, so that it can be changed before `save_figure` writes it; pyplot is not used.
"""

from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
