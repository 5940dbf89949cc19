"""A method of learning to rank whose process dies on some folds."""

from __future__ import annotations

import os
import signal
from typing import Any

from rankgauge.rankers import LogisticRegression


class DeadlyRanker(LogisticRegression):
    """Dies where query 7 is not among what it learns from."""

    def fit(self, features: Any, validation: Any = None) -> Any:
        if "7" not in features.queries.texts():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(features, validation)
