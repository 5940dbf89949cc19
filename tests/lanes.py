"""All tests, by as many processes of pytest as there are processors: `python tests/lanes.py FOLDER -rs`.

FOLDER gets the temporary files of the tests; what follows goes to pytest. Every process collects all
tests. A process claims a file before the first test of the file, and passes over the files that another
process claimed. So what a file prepares for its tests is prepared once, and no report has to be sent
from one process to another.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

CLAIMS = "RANKGAUGE_CLAIMS"
"""The variable that names the folder of the claims."""
LANE = "--lane"
"""The first word to a process that runs tests; arguments of pytest follow."""
COLLECTED = "collected"
"""The file among the claims that says how many tests there are."""
RUN = ("passed", "failed", "error", "errors", "skipped", "xfailed", "xpassed")
COUNTED = re.compile(rf"(\d+) ({'|'.join(RUN)}|warnings?)\b")


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """The loop over the tests, without those of files that another process claimed.

    What is left of a file is cleared away by the test that really comes next.
    """
    if CLAIMS not in os.environ or session.testsfailed or session.config.option.collectonly:
        return None
    Path(os.environ[CLAIMS], COLLECTED).write_text(str(len(session.items)))
    mine = _claimed_items(session.items)
    item = next(mine, None)
    while item is not None:
        following = next(mine, None)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        item = following
    return True


def _claimed_items(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """The tests of the files that this process claims; a file is claimed when it is its turn."""
    mine: dict[Path, bool] = {}
    for item in items:
        if item.path not in mine:
            mine[item.path] = _claimed(item.path)
        if mine[item.path]:
            yield item


def _claimed(path: Path) -> bool:
    """Whether nobody claimed the file before."""
    name = hashlib.sha256(str(path).encode()).hexdigest()
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
        told = Path(claims, COLLECTED)
        collected = int(told.read_text()) if told.exists() else 0
    counts: Counter[str] = Counter()
    for log in logs:
        text = log.read_text(encoding="utf-8", errors="replace")
        print(text)
        last = text.rstrip().rpartition("\n")[2]
        counts.update({kind: int(number) for number, kind in COUNTED.findall(last)})
    together = ", ".join(f"{number} {kind}" for kind, number in counts.items())
    print(f"{together} in {time.monotonic() - start:.2f}s by {lanes} processes")
    missing = collected - sum(counts[kind] for kind in RUN)
    if missing > 0:
        print(f"{missing} of {collected} tests were run by no process")
    return 0 if missing <= 0 and all(code == 0 for code in codes) else 1


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
