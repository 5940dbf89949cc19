"""Plug-ins: Python files of a user's own. They run here, and on the workers that get tasks.

A worker of a cluster may have the plug-ins of many users, and two of them may have the same name. So
each time that a plug-in is loaded, it is a module with a name of its own. A class that is sent to a
worker is then found in the very plug-in that it came from, whatever other plug-ins the worker has.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterable
from types import FunctionType

from rankgauge.errors import MeasureError

PREFIX = "rankgauge_plugin_"

_loaded: dict[str, bytes] = {}
"""The content of the plug-ins that were loaded here, by the names of their modules."""
_running = threading.local()
"""Whether the thread runs a plug-in that came to a worker."""


def load_plugin(path: str | os.PathLike[str]) -> None:
    """Run a Python file that registers measures, rankers, significance tests or fusion methods.

    The workers of an executor get the plug-in too, even if they do not see the file.

    Parameters
    ----------
    path : str or path-like
        The Python file.

    Raises
    ------
    MeasureError
        If there is no such Python file, or if running it raises an error.

    Examples
    --------
    >>> load_plugin("my_measures.py")  # doctest: +SKIP

    A file that does not exist is an error:

    >>> load_plugin("nowhere.py")
    Traceback (most recent call last):
        ...
    rankgauge.errors.MeasureError: nowhere.py: no such plug-in, expected a Python file
    """
    import importlib.util
    from pathlib import Path

    from rankgauge.workers import prepare  # here: `rankgauge --help` needs a registry, but no NumPy

    file = Path(path).resolve()
    if importlib.util.spec_from_file_location(file.stem, file) is None or not file.is_file():
        raise MeasureError(f"{path}: no such plug-in, expected a Python file")
    content, module = file.read_bytes(), f"{PREFIX}{file.stem}_{os.urandom(8).hex()}"
    _run(str(file), content, module, os.fspath(path))
    _loaded[module] = content
    prepare(_run_on_worker, str(file), content, module)  # a worker may not see the file


def digests_of(kinds: Iterable[type]) -> dict[str, str]:
    """A digest of each plug-in that any of these classes comes from, by the name of its file."""
    import hashlib

    return {
        module_of(kind).removeprefix(PREFIX): hashlib.sha256(_loaded[kind.__module__]).hexdigest()
        for kind in kinds
        if kind.__module__ in _loaded
    }


def _run_on_worker(file: str, content: bytes, module: str) -> None:
    _running.on_worker = True
    try:
        _run(file, content, module, file)
    finally:
        _running.on_worker = False


def _run(file: str, content: bytes, name: str, path: str) -> None:
    """Run the content of a plug-in, as a module of this name; messages call it `path`."""
    import types

    module = types.ModuleType(name)
    module.__file__ = file
    sys.modules[module.__name__] = module
    try:
        exec(compile(content, file, "exec"), module.__dict__)
    except (Exception, SystemExit) as error:
        message = f"{path}: the plug-in fails: {type(error).__name__}: {error}"
        raise MeasureError(message) from error


def failing_line(error: BaseException) -> str | None:
    """The last line of a plug-in that ran before an error, as `file:line`; None if none ran.

    Plug-ins are files that `load_plugin` ran, and packages that offer things as entry points.
    """
    import traceback

    offering = _offering_packages()
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        module = str(frame.f_globals.get("__name__", ""))
        if module.startswith(PREFIX) or module.partition(".")[0] in offering:
            return f"{frame.f_code.co_filename}:{line}"
    return None


def _offering_packages() -> set[str]:
    """The packages, other than ours, that have an entry point for something of rankgauge."""
    from importlib.metadata import distributions

    offering = {
        point.module.partition(".")[0]
        for distribution in distributions()
        for point in distribution.entry_points
        if point.group.startswith("rankgauge.")
    }
    return offering - {"rankgauge", "rankgauge_studies"}


def module_of(kind: type | FunctionType) -> str:
    """The module that a class or function comes from. How often a plug-in was loaded does not matter."""
    module = kind.__module__
    return module.rpartition("_")[0] if module.startswith(PREFIX) else module


def origin(kind: type | FunctionType) -> str:
    """Where a class or function comes from: its module and name."""
    return f"{module_of(kind)}.{kind.__qualname__}"


def may_replace(known: str, new: str) -> bool:
    """Test whether a class may take the name of another class, given the origins of both.

    It may if it is the same class anew, or if both are from plug-ins that came to a worker, perhaps from
    two users.
    """
    both = known.startswith(PREFIX) and new.startswith(PREFIX)
    return known == new or (both and getattr(_running, "on_worker", False))
