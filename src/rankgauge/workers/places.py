"""Where files lie for a task that another machine, or another process, has given."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_given = threading.local()


@contextmanager
def working_for(folder: str) -> Iterator[None]:
    """Meanwhile, names of files in this thread start from this folder, that of who gave the task."""
    before = getattr(_given, "folder", None)
    _given.folder = folder
    try:
        yield
    finally:
        _given.folder = before


def place(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The path at which to open a file."""
    folder = getattr(_given, "folder", None)
    return path if folder is None else os.path.join(folder, path)
