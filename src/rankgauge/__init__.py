"""rankgauge: how good a ranking is, and how far the number can be trusted."""

from rankgauge.core.lazy import attach
from rankgauge.core.moved import find_moved_modules, new_home

find_moved_modules()
__getattr__, __dir__, __all__ = attach(__name__, new_home)
