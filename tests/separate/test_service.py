"""A separate process answers requests: the same answers as here, and no fault of it reaches us."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rankgauge.errors import InputError
from rankgauge.separate import launch, service
from rankgauge.separate.launch import Cause
from rankgauge.separate.service import Service, ServiceEnded
from separate_answers import prepared

ROOM = 1 << 30

posix = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds memory and has /proc")


def made(content: bytes = b"content: ", seconds: int = 60) -> Service:
    return Service(prepared, "a file", content, ROOM, seconds)


def process_of(asked: Service) -> int:
    return int(asked.ask(b"process", 60))


def runs(process: int) -> bool:
    """Whether a process runs. A dead process for which nobody waited yet does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends(process: int) -> bool:
    """Whether a process ends within some seconds."""
    for _ in range(300):
        if not runs(process):
            return True
        time.sleep(0.05)
    return False


def ending(asked: Service, request: bytes, seconds: int = 60) -> Cause:
    with pytest.raises(ServiceEnded) as raised:
        asked.ask(request, seconds)
    return raised.value.ending.cause


class TestAnswers:
    def test_one_process_answers_all_requests(self) -> None:
        asked = made()
        assert asked.ask(b"echo abc", 60) == b"content: abc"
        assert process_of(asked) == process_of(asked) != os.getpid()

    @pytest.mark.parametrize("size", [0, 1, 70_000, 5_000_000])
    def test_messages_of_any_size(self, size: int) -> None:
        content = os.urandom(size)
        rest = os.urandom(size)
        assert made(content).ask(b"echo " + rest, 60) == content + rest

    def test_threads_get_their_own_answers(self) -> None:
        asked = made(b"")
        texts = [f"{number}".encode() * 500 for number in range(200)]
        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(lambda text: asked.ask(b"echo " + text, 60), texts)) == texts

    @pytest.mark.parametrize("copied", [copy.copy, lambda each: pickle.loads(pickle.dumps(each))])
    def test_a_copy_has_a_process_of_its_own(self, copied) -> None:
        asked = made()
        first = process_of(asked)
        other = copied(asked)
        assert other.ask(b"echo abc", 60) == b"content: abc"
        assert process_of(other) != first == process_of(asked)

    @pytest.mark.parametrize("executable", [None, ""])
    def test_without_a_python_to_start_this_process_answers(
        self, executable: str | None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", executable)
        assert process_of(made()) == os.getpid()
        with pytest.raises(InputError, match="this content is refused"):
            made(b"refused").ask(b"echo", 60)

    def test_a_frozen_program_does_not_start_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "frozen", True, raising=False)
        assert process_of(made()) == os.getpid()


class TestFailures:
    def test_what_the_process_writes_to_standard_error_is_not_shown(
        self, capfd: pytest.CaptureFixture[str]
    ) -> None:
        assert made().ask(b"write_errors abc", 60) == b"content: abc"
        assert capfd.readouterr() == ("", "")

    def test_a_refused_request_is_an_input_error_and_the_next_one_is_answered(self) -> None:
        asked = made()
        for _ in range(2):
            with pytest.raises(InputError, match=r"^a file: this request is refused$"):
                asked.ask(b"refuse", 60)
            assert asked.ask(b"echo abc", 60) == b"content: abc"

    def test_a_refused_content_is_an_input_error(self) -> None:
        with pytest.raises(InputError, match=r"^a file: this content is refused$"):
            made(b"refused").ask(b"echo", 60)

    @posix
    @pytest.mark.parametrize(
        ("request_", "cause"),
        [
            (b"abort", Cause.CRASH),
            (b"crash", Cause.CRASH),
            (b"stop", Cause.STOPPED),
            (b"leave", Cause.START),
            (b"no_such_function", Cause.START),
        ],
    )
    def test_a_process_that_ends_says_why(
        self, request_: bytes, cause: Cause, capfd: pytest.CaptureFixture[str]
    ) -> None:
        asked = made()
        assert ending(asked, request_) is cause
        assert asked.ask(b"echo abc", 60) == b"content: abc"
        assert capfd.readouterr() == ("", "")

    @linux
    def test_memory_is_bounded(self) -> None:
        assert ending(made(), b"allocate") is Cause.MEMORY

    @pytest.mark.parametrize("request_", [b"spin", b"sleep"])
    def test_time_is_bounded(self, request_: bytes) -> None:
        asked = made()
        assert ending(asked, request_, 1) is Cause.TIME
        assert asked.ask(b"echo abc", 60) == b"content: abc"

    def test_the_time_to_start_is_bounded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(launch, "PROGRAM", "import time; time.sleep(600)")
        assert ending(made(seconds=1), b"echo") is Cause.TIME

    @pytest.mark.parametrize("program", ["import no_such_package", "raise SystemExit(9)", "pass"])
    def test_a_process_that_does_not_start(
        self, program: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(launch, "PROGRAM", program)
        assert ending(made(), b"echo") is Cause.START

    def test_an_interpreter_that_does_not_start(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "gone"))
        assert ending(made(), b"echo") is Cause.START

    @posix
    def test_a_process_that_someone_stopped_is_started_again(self) -> None:
        asked = made()
        for number in (signal.SIGKILL, signal.SIGTERM):
            first = process_of(asked)
            os.kill(first, number)
            assert process_of(asked) != first

    @posix
    def test_an_interrupt_is_for_this_process_only(self) -> None:
        asked = made()
        first = process_of(asked)
        os.kill(first, signal.SIGINT)
        assert process_of(asked) == first

    def test_after_an_interrupt_the_next_request_gets_its_own_answer(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked = made(b"")
        assert asked.ask(b"echo abc", 60) == b"abc"

        def interrupted(stream: object) -> None:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(service, "receive", interrupted)
            with pytest.raises(KeyboardInterrupt):
                asked.ask(b"echo def", 60)
        assert asked.ask(b"echo ghi", 60) == b"ghi"


@linux
class TestEnd:
    def test_the_process_ends_with_its_service(self) -> None:
        asked = made()
        process = process_of(asked)
        assert runs(process)
        del asked
        gc.collect()
        assert not Path(f"/proc/{process}").exists()

    @pytest.mark.parametrize(
        "end", ["", "os._exit(0)", "os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 15)"]
    )
    def test_the_process_ends_with_the_program(self, end: str) -> None:
        assert ends(int(output_of(f"print(asked.ask(b'process', 60).decode(), flush=True); {end}")))

    def test_the_process_ends_with_a_program_that_is_killed_while_it_waits(self) -> None:
        """A process that computes does not notice that nobody waits; then the processor time ends it."""
        code = (
            "print(asked.ask(b'process', 60).decode(), flush=True)\n"
            "threading.Timer(0.5, os.kill, (os.getpid(), 9)).start()\n"
            "asked.ask(b'spin', 1)"
        )
        assert ends(int(output_of(code)))

    def test_a_forked_process_starts_another_process(self) -> None:
        code = (
            "first = asked.ask(b'process', 60)\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    other = asked.ask(b'process', 60)\n"
            "    del asked\n"
            "    os._exit(0 if other != first else 1)\n"
            "assert os.waitpid(child, 0)[1] == 0\n"
            "assert asked.ask(b'process', 60) == first\n"
            "print('done')"
        )
        assert output_of(code) == "done\n"


def output_of(code: str) -> str:
    """What a program with a service prints; it may end in any way."""
    start = (
        "import os, threading\nfrom rankgauge.separate.service import Service\n"
        "from separate_answers import prepared\n"
        f"asked = Service(prepared, 'a file', b'', {ROOM}, 60)\n"
    )
    paths = os.pathsep.join(path for path in sys.path if path)
    return subprocess.run(
        [sys.executable, "-c", start + code],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        timeout=100,
    ).stdout
