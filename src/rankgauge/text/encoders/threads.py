"""How the work of an encoder is spread over processors: a text for each, and each with one thread.

The linear algebra library of NumPy has threads of its own. They share the work on each small matrix, and
on a busy machine they mostly wait for each other. So the library gets one thread, and texts are encoded
side by side. The vectors then do not depend on the number of processors.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any


@contextmanager
def limit_blas_threads() -> Iterator[None]:
    """Limit linear algebra to one thread while the context is open.

    Without the package threadpoolctl, the number of threads does not change.
    """
    controller = _controller()
    if controller is None:
        yield
        return
    with controller.limit(limits=1, user_api="blas"):
        yield


@cache
def _controller() -> Any:
    """What knows the loaded libraries of linear algebra; None without threadpoolctl."""
    try:
        from threadpoolctl import ThreadpoolController
    except ImportError:
        return None
    return ThreadpoolController()
