"""Starts the processes of Dask clusters by fork, since each would else import Dask for itself.

It reads commands as lines of JSON: the module of a command line with its arguments and where to work,
and tells the id of the process; or libraries to import first. At the end of its input it ends them all.
"""

from __future__ import annotations

import importlib
import json
import multiprocessing
import os
import signal
import sys
from contextlib import suppress
from typing import Any

MODULES = ("distributed.cli.dask_scheduler", "distributed.cli.dask_worker")
LIBRARIES = ("numpy", "scipy.special")
"""What workers import anyway; rankgauge itself they import as any worker does."""


def bury(*_: object) -> None:
    """Forget the processes that ended, so that others see that they are no more."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def run(given: dict[str, Any]) -> None:
    """Be the process that is asked for."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()
    os.chdir(given["folder"])
    nothing = os.open(os.devnull, os.O_RDONLY)
    log = os.open("cluster.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    for own, usual in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(own, usual)
    os.environ.clear()
    os.environ.update(given["environment"])
    sys.argv = [given["module"], *given["arguments"]]
    importlib.import_module(given["module"]).main()


def main() -> None:
    """Start what is asked for."""
    for name in (*MODULES, *LIBRARIES):
        importlib.import_module(name)
    # Nannies fork workers, too, from a process that else imports pandas.
    vars(importlib.import_module("distributed.utils"))["_forkserver_preload_set"] = True
    multiprocessing.set_forkserver_preload([*MODULES, *LIBRARIES])
    signal.signal(signal.SIGCHLD, bury)
    started = []
    for line in sys.stdin:
        given = json.loads(line)
        if "libraries" in given:
            print(*map(importlib.import_module, given["libraries"]), flush=True)
            continue
        process = os.fork()
        if not process:
            run(given)
            os._exit(0)
        started.append(process)
        print(process, flush=True)
    for process in started:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)


if __name__ == "__main__":
    main()
