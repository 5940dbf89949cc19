"""Bad days of the command line: signals, faults of ours, systems that refuse threads."""

from __future__ import annotations

import errno
import os
import random
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import pytest

import profiles
from command_line import Call, Outcome, assert_refused
from rankgauge import cli
from rankgauge.cli import evaluate as module
from rankgauge.cli.signals import NAMES

PROGRAM = [sys.executable, "-m", "rankgauge"]
MOMENTS = 20 if profiles.thorough() else 1
SIGNALS = [getattr(signal, name) for name in NAMES if hasattr(signal, name)]


@pytest.fixture(scope="module")
def collection(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with judgments and runs, enough for a moment of work."""
    folder = tmp_path_factory.mktemp("collection")
    topics, documents = range(40), range(60)
    lines = [f"{t} 0 d{d} {(d * t) % 3}" for t in topics for d in documents if d % 3]
    (folder / "qrels").write_text("\n".join(lines))
    (folder / "runs").mkdir()
    for run in range(8):
        rows = (f"{t} Q0 d{d} 1 {(d * (run + 7) + t) % 101} r" for t in topics for d in documents)
        (folder / "runs" / f"r{run}").write_text("\n".join(rows))
    return folder


COMMANDS = {
    "evaluate": ["qrels", "runs", "-m", "AP", "--interval", "bootstrap", "--save", "out/scores"],
    "compare": ["qrels", "runs", "-m", "AP", "--test", "randomization"],
    "assess": ["qrels", "runs", "-m", "AP", "-m", "RR", "--json", "out/json"],
    "distance": ["runs/r1", "runs/r2", "runs/r3", "-m", "AP@10"],
    "fuse": ["runs", "--method", "rrf"],
    "tune": ["qrels", "runs/r1", "runs/r2", "-m", "AP", "--repeats", "40"],
}
INTERRUPTED = list(COMMANDS) if profiles.thorough() else ["evaluate", "assess", "fuse"]
"""Of those that write a table only, one shows what all show."""


def arguments(command: str, folder: Path) -> list[str]:
    """The command with its files; all output goes to the folder `out`."""
    (folder / "out").mkdir(exist_ok=True)
    for file in (folder / "out").iterdir():
        file.unlink()
    return [*PROGRAM, command, *COMMANDS[command], "-o", "out/table"]


def written(folder: Path) -> dict[str, bytes]:
    """All that is in the folder `out`."""
    return {file.name: file.read_bytes() for file in (folder / "out").iterdir()}


@cache
def whole_output(command: str, folder: Path) -> tuple[dict[str, bytes], float]:
    """All that the command writes if nothing happens, and how many seconds it takes."""
    start = time.perf_counter()
    subprocess.run(arguments(command, folder), cwd=folder, check=True, capture_output=True)
    return written(folder), time.perf_counter() - start


def wait_for_program(process: subprocess.Popen[bytes]) -> None:
    """Wait until the program catches signals: before, Python starts, and ends as it always does."""
    status, bit = Path(f"/proc/{process.pid}/status"), 1 << (signal.SIGTERM - 1)
    if not status.exists():
        time.sleep(1)
        return
    while process.poll() is None:
        caught = (line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
        if int(next(caught).split()[1], 16) & bit:
            return
        time.sleep(0.001)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("command", INTERRUPTED)
def test_a_signal_at_any_moment_leaves_nothing_half_written(command: str, collection: Path) -> None:
    generator = random.Random(MOMENTS)
    whole, takes = whole_output(command, collection)
    assert "table" in whole
    for number in (*SIGNALS[:2], signal.SIGKILL):
        for _ in range(MOMENTS):
            process = subprocess.Popen(
                arguments(command, collection), cwd=collection, stderr=subprocess.PIPE
            )
            wait_for_program(process)
            time.sleep(takes * generator.random())
            process.send_signal(number)
            _, told = process.communicate(timeout=60)
            left = written(collection)
            assert {name: left[name] for name in left if name in whole} == {
                name: whole[name] for name in left if name in whole
            }
            if number == signal.SIGKILL:
                assert process.returncode in (-number, 0)
                continue
            assert process.returncode in (128 + number, 0), told
            assert set(left) <= set(whole)
            if process.returncode:
                assert told.endswith(b"interrupted\n")
                assert b"Traceback" not in told


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_modules_are_imported_ends_the_program_in_one_line(number: int) -> None:
    code = (
        "import builtins, os, sys\n"
        "from rankgauge.cli import run\n"
        "usual = builtins.__import__\n"
        "def slow(name, *more):\n"
        f"    if name == 'click': os.kill(os.getpid(), {int(number)})\n"
        "    return usual(name, *more)\n"
        "builtins.__import__ = slow\n"
        "run()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, b"", b"interrupted\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_signal_that_python_loses_is_raised_again() -> None:
    code = (
        "import os, signal, time\n"
        "from rankgauge.cli import signals\n"
        "signals.catch_signals()\n"
        "signals.clean_up_on_signals()\n"
        "class Lost:\n"
        "    def __del__(self): os.kill(os.getpid(), signal.SIGTERM); time.sleep(0.1)\n"
        "one = Lost()\n"
        "del one\n"
        "try:\n    time.sleep(20)\n"
        "except signals.Interrupted as error:\n    print(error.number)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=15)
    assert (done.stdout, done.stderr) == (b"%d\n" % signal.SIGTERM, b"")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no nohup")
def test_a_signal_that_is_ignored_stays_ignored() -> None:
    code = (
        "import os, signal\n"
        "signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
        "from rankgauge.cli import signals\n"
        "signals.catch_signals()\n"
        "os.kill(os.getpid(), signal.SIGHUP)\n"
        "print('there')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=15)
    assert done.stdout == b"there\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no nohup")
@pytest.mark.parametrize("number", SIGNALS)
def test_the_program_goes_on_where_its_parent_ignores_a_signal(
    number: int, collection: Path
) -> None:
    whole, _ = whole_output("evaluate", collection)
    usual = signal.signal(number, signal.SIG_IGN)
    try:
        process = subprocess.Popen(
            arguments("evaluate", collection), cwd=collection, stderr=subprocess.PIPE
        )
    finally:
        signal.signal(number, usual)
    while process.poll() is None:
        process.send_signal(number)
        time.sleep(0.05)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, b"interrupted" in told) == (0, False)
    assert written(collection) == whole


# Streams that are closed


@pytest.mark.skipif(os.name == "nt", reason="for a POSIX shell")
@pytest.mark.parametrize(
    "command",
    ["--version", "--help", "measures", "trec_eval qrels runs/r1", "evaluate qrels runs/r1"],
)
def test_output_is_not_lost_in_silence(command: str, collection: Path) -> None:
    def ends(redirected: str) -> tuple[int, bytes, bytes]:
        line = f"exec {shlex.join(PROGRAM)} {command} {redirected}"
        done = subprocess.run(["sh", "-c", line], cwd=collection, capture_output=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    usual = ends("")
    assert usual[0] == 0
    lost = b"standard output: cannot be written: Bad file descriptor\n"
    code, _, told = ends(">&-")
    assert (code, told[-len(lost) :]) == (2, lost)
    assert ends(">&- 2>&-") == (2, b"", b"")
    assert ends("2>&-") == (0, usual[1], b"")
    assert ends("<&-") == usual


@pytest.mark.skipif(os.name == "nt", reason="for a POSIX shell")
def test_a_file_is_written_where_standard_output_is_closed(collection: Path) -> None:
    line = f"exec {shlex.join(arguments('evaluate', collection))} >&- <&-"
    done = subprocess.run(["sh", "-c", line], cwd=collection, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "table" in written(collection)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
@pytest.mark.parametrize(
    ("words", "code"),
    [("qrels runs/r1", 0), ("qrels runs/r1 absent", 3), ("absent runs/r1", 2)],
)
def test_messages_on_a_full_disk_are_lost_but_no_result(
    words: str, code: int, collection: Path
) -> None:
    command = [*PROGRAM, "evaluate", *words.split()]
    usual = subprocess.run(command, cwd=collection, capture_output=True, timeout=60)
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            command, cwd=collection, stdout=subprocess.PIPE, stderr=full, timeout=60
        )
    assert (done.returncode, done.stdout) == (code, usual.stdout)


# Too little memory


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such limit")
@pytest.mark.parametrize(
    ("memory", "threads"), [(300 << 20, "1"), (8 << 30, None), (None, None)], ids=str
)
def test_openblas_has_one_thread_where_memory_is_limited(
    memory: int | None, threads: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It asks for memory for each thread; if it gets none it asks for ever, and no signal ends it."""
    import resource

    limit = resource.RLIM_INFINITY if memory is None else memory
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, resource.RLIM_INFINITY))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "unset")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    cli._limit_threads()
    assert os.environ.get("OPENBLAS_NUM_THREADS") == threads


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libscipy_openblas.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_lack_of_memory_is_no_fault_of_ours(
    error: Exception, rankgauge: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lacking(*_: object) -> None:
        raise error

    monkeypatch.setattr(module.Scoring, "scores", lacking)
    assert rankgauge("evaluate", "qrels", "run") == Outcome(2, "", "not enough memory\n")


# Faults of ours


def test_a_fault_of_ours_is_one_line_and_exit_code_70(
    rankgauge: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(*_: object) -> None:
        raise ZeroDivisionError("a\x1b[31m\nb")

    monkeypatch.setattr(module.Scoring, "scores", fault)
    outcome = rankgauge("evaluate", "qrels", "run")
    assert outcome == Outcome(
        70,
        "",
        "internal error in rankgauge: ZeroDivisionError: a\\x1b[31m. Please report it: run the command "
        "again with RANKGAUGE_DEBUG=1, and include the command and its output\n",
    )
    monkeypatch.setenv("RANKGAUGE_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        rankgauge("evaluate", "qrels", "run")


@pytest.mark.parametrize("measure", ["nDCG(self=1)", "P(self=1)@5", "gm(AP(self=1))"])
def test_self_is_no_parameter(measure: str, rankgauge: Call) -> None:
    code, out, err = rankgauge("evaluate", "qrels", "run", "-m", measure)
    assert (code, out) == (2, "")
    assert "self" in err
    assert "fault" not in err


@pytest.mark.parametrize("option", ["--queries", "--systems"])
def test_a_demonstration_is_of_bounded_size(option: str, rankgauge: Call) -> None:
    assert_refused(rankgauge("demo", option, 10**30), "not in the range 1<=x<=10000")


def test_where_no_thread_can_be_started_the_work_is_done_without(
    collection: Path, rankgauge: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ("evaluate", collection / "qrels", collection / "runs", "-m", "AP")
    expected = rankgauge(*asked)
    assert expected.code == 0

    def no_thread(_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", no_thread)
    monkeypatch.setattr("rankgauge.workers.processors", lambda: 4)
    assert rankgauge(*asked) == expected


# Hostile files


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_pipes_and_devices_in_a_folder_are_passed_over(
    rankgauge: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, folder = tmp_path / "qrels", tmp_path / "runs"
    folder.mkdir()
    qrels.write_text("q 0 a 1\n")
    (folder / "run").write_text("q Q0 a 1 1 t\n")
    expected = rankgauge("evaluate", qrels, folder)
    os.mkfifo(folder / "pipe")
    (folder / "zero").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        monkeypatch.chdir(folder)
        listener.bind("socket")
        assert rankgauge("evaluate", qrels, folder) == expected
        assert rankgauge("evaluate", qrels, f"{folder}/*") == expected
    (folder / "gone").symlink_to("nowhere")
    code, _, err = rankgauge("evaluate", qrels, folder)
    assert code == 3
    assert "gone: cannot be read: No such file or directory" in err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_that_is_named_is_read(rankgauge: Call, tmp_path: Path) -> None:
    qrels, pipe = tmp_path / "qrels", tmp_path / "pipe"
    qrels.write_text("q 0 a 1\n")
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("q Q0 a 1 1 t\n",))
    writer.start()
    code, out, _ = rankgauge("evaluate", qrels, pipe, "-m", "AP")
    writer.join()
    assert code == 0
    assert "1.0" in out


def test_many_columns_of_scores_take_little_time(rankgauge: Call, tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    names = ",".join(f"s{number}" for number in range(40_000))
    file.write_text(f"query,{names},s7\n1{',0.5' * 40_001}\n")
    start = time.perf_counter()
    code, _, err = rankgauge("compare", "--scores", f"AP={file}")
    assert (code, err) == (
        2,
        f"{file}:1: the system 's7' has two columns, expected one\n",
    )
    assert time.perf_counter() - start < 5


def test_an_endless_id_is_cut_in_messages(rankgauge: Call, tmp_path: Path) -> None:
    qrels = tmp_path / "qrels"
    for content, measure in (("q 0 a x" + "y" * 10**6, "AP"), ("q 0 a 1\n", "x" * 10**5)):
        qrels.write_text(content)
        code, _, err = rankgauge("evaluate", qrels, qrels, "-m", measure)
        assert code == 2
        assert max(map(len, err.splitlines())) < 2100
