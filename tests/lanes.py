"""All tests, by as many processes of pytest as there are processors: `python tests/lanes.py FOLDER -rs`.

FOLDER gets the temporary files of the tests; what follows goes to pytest. Every process collects all
tests. A process claims a file before the first test of the file, and passes over the files that another
process claimed. So what a file prepares for its tests is prepared once, and no report has to be sent
from one process to another.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

CLAIMS = "RANKGAUGE_CLAIMS"
"""The variable that names the folder of the claims."""
LANE = "--lane"
"""The first word to a process that runs tests; arguments of pytest follow."""
COUNTED = re.compile(r"(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|warnings?)")

_mine: dict[Path, bool] = {}


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """True, which ends the protocol, for a test of a file that another process claimed."""
    if CLAIMS not in os.environ:
        return None
    if item.path not in _mine:
        _mine[item.path] = _claimed(item.path)
    return None if _mine[item.path] else True


def _claimed(path: Path) -> bool:
    """Whether nobody claimed the file before."""
    name = str(path).encode().hex()[-200:]
    try:
        os.close(os.open(Path(os.environ[CLAIMS], name), os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def main(folder: Path, arguments: Sequence[str], lanes: int) -> int:
    """Run all tests and print what each process printed, then all counts together.

    Gives the exit code: 0 if all tests passed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as claims:
        logs = [folder / f"lane-{lane}.log" for lane in range(lanes)]
        processes = [
            _started(folder / f"lane-{n}", log, claims, arguments) for n, log in enumerate(logs)
        ]
        codes = [process.wait() for process in processes]
    counts: Counter[str] = Counter()
    for log in logs:
        text = log.read_text(encoding="utf-8", errors="replace")
        print(text)
        last = text.rstrip().rpartition("\n")[2]
        counts.update({kind: int(number) for number, kind in COUNTED.findall(last)})
    together = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    print(f"{together} in {time.monotonic() - start:.2f}s by {lanes} processes")
    return 0 if all(code == 0 for code in codes) else 1


def _started(
    temporary: Path, log: Path, claims: str, arguments: Sequence[str]
) -> subprocess.Popen[bytes]:
    # Each processor has a process. Threads of BLAS and OpenMP would wait for each other, busily: what
    # takes 2 seconds with one thread takes 20 with two.
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "MKL", "OMP")}
    command = [sys.executable, __file__, LANE, "-p", "no:cacheprovider"]
    with open(log, "wb") as stream:
        return subprocess.Popen(
            [*command, f"--basetemp={temporary}", *arguments],
            env={**threads, **os.environ, CLAIMS: claims},
            stdout=stream,
            stderr=subprocess.STDOUT,
        )


if __name__ == "__main__":
    if sys.argv[1] == LANE:
        sys.exit(pytest.main(sys.argv[2:], plugins=[sys.modules[__name__]]))
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:], len(os.sched_getaffinity(0))))
