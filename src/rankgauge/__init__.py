"""rankgauge: measure how good a ranking is, and how far to trust the number."""

from rankgauge.core.lazy import attach
from rankgauge.core.moved import install_module_finder

install_module_finder()
__getattr__, __dir__, __all__ = attach(__name__)
