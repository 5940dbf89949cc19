"""Text metrics such as ROUGE, with a random-text baseline, and human ratings."""

import rankgauge.text.metrics  # noqa: F401 - `rankgauge.text.metrics()` works until the next release
from rankgauge.core.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
