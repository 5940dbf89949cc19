"""A separate process that answers many requests, one after the other."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from rankgauge.separate.inside import receive, send, serve
from rankgauge.separate.launch import Cause, ProcessFailure, can_launch, launch

if TYPE_CHECKING:
    import subprocess

AnswerRequest: TypeAlias = Callable[[bytes], bytes]
"""Gives the answer to a request."""


class ServiceEnded(Exception):
    """The separate process ended before it answered."""

    def __init__(self, ending: ProcessFailure) -> None:
        super().__init__(ending.cause.value)
        self.ending = ending


class Service:
    """Answers requests in a separate process, which starts at the first request.

    The process ends with this object, or with the program. If someone else stops the process, the next
    request starts another one. Threads may share a service. A copy in another process starts a separate
    process of its own. If no Python can be started, this process answers.

    `prepare`, a function of a module, is called with the source and the content, such as the name and
    the bytes of a file. It may take so many seconds, and gives the function that answers requests. Both
    raise an InputError for a file that they refuse. The process may allocate `room` bytes, where the
    system can bound it.
    """

    def __init__(
        self,
        prepare: Callable[[str, bytes], AnswerRequest],
        source: str,
        content: bytes,
        room: int,
        seconds: int,
    ) -> None:
        self._arguments = prepare, source, content, room, seconds
        self._answer: AnswerRequest | None = None
        self._running: _ServiceProcess | None = None
        self._lock = threading.Lock()
        _services.add(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Service, self._arguments

    def ask(self, request: bytes, seconds: int) -> bytes:
        """The answer to a request, which may take so many seconds.

        InputError if the file is refused, ServiceEnded if the process ends before it answered.
        """
        with self._lock:
            if not can_launch():
                if self._answer is None:
                    prepare, source, content, _, _ = self._arguments
                    self._answer = prepare(source, content)
                return self._answer(request)
            try:
                return self._ask_process(request, seconds)
            except ServiceEnded as error:
                if error.ending.cause is not Cause.STOPPED:
                    raise
            return self._ask_process(request, seconds)

    def _ask_process(self, request: bytes, seconds: int) -> bytes:
        try:
            if self._running is None:
                prepare, source, content, room, start_seconds = self._arguments
                self._running = _ServiceProcess(prepare, source, room)
                self._running.ask(content, start_seconds)
            return self._running.ask(request, seconds)
        except BaseException:
            # Whatever it would still answer is no answer to the next request.
            if self._running is not None:
                self._running.end()
                self._running = None
            raise

    def _reset_after_fork(self) -> None:
        """After a fork: the separate process and a lock that is held belong to the other process."""
        self._lock = threading.Lock()
        if self._running is not None:
            self._running.detach()
            self._running = None


class _ServiceProcess:
    """A separate process with its streams."""

    def __init__(
        self, prepare: Callable[[str, bytes], AnswerRequest], source: str, room: int
    ) -> None:
        import subprocess
        import tempfile

        self._source = source
        errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - `_end_process` closes it
        arguments = prepare.__module__, prepare.__name__, source
        try:
            # Without buffers, so that nothing is written twice after a fork.
            self._process = launch(
                serve,
                arguments,
                room,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                bufsize=0,
            )
        except (OSError, ValueError) as error:
            errors.close()
            raise ServiceEnded(ProcessFailure(Cause.START, str(error))) from None
        streams = [self._process.stdin, self._process.stdout, errors]
        self._streams = [stream for stream in streams if stream is not None]
        self._watch = _Watchdog(self._process)
        self.end = weakref.finalize(self, _end_process, self._process, self._streams, self._watch)
        """Ends the process; without a call, this happens with the object or the program."""

    def ask(self, request: bytes, seconds: int) -> bytes:
        """The answer to a request."""
        requests, answers, errors = self._streams
        with self._watch.limit(seconds):
            try:
                send(requests, request, seconds)
                answer = receive(answers)
            except OSError:  # a broken pipe
                answer = None
            if answer is not None:
                return answer[0]
            code = self._process.wait()
        errors.seek(0)
        ending = ProcessFailure.of(code, errors.read().decode(errors="replace"))
        if ending.cause is Cause.REFUSAL:
            raise ending.refusal(self._source)
        raise ServiceEnded(ProcessFailure(Cause.TIME, "") if self._watch.late else ending)

    def detach(self) -> None:
        """Leave the process to the process that started it."""
        self.end.detach()
        self._process.returncode = 0  # it is no child of this process
        for stream in self._streams:
            stream.close()


def _end_process(
    process: subprocess.Popen[bytes], streams: list[IO[bytes]], watch: _Watchdog
) -> None:
    watch.over.set()
    process.kill()
    process.wait()
    for stream in streams:
        stream.close()


class _Watchdog:
    """Kills a process that takes too long for a request.

    One thread watches for as long as the process runs, since starting a thread takes longer than most
    requests. It counts seconds one by one. So if a user suspends both processes, this counts as one
    second.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._clock = 0
        self._deadline: int | None = None
        self.late = False
        """Whether the process was killed in the last block."""
        self.over = threading.Event()
        """Set when the process ended, so that the thread ends too."""
        threading.Thread(target=self._watch, daemon=True).start()

    @contextmanager
    def limit(self, seconds: int) -> Iterator[None]:
        """Kill the process if the block takes longer."""
        self.late = False
        self._deadline = self._clock + seconds
        try:
            yield
        finally:
            self._deadline = None

    def _watch(self) -> None:
        while not self.over.wait(1):
            self._clock += 1
            deadline = self._deadline
            if deadline is not None and self._clock > deadline:
                self.late = True
                self._process.kill()
                return


_services: weakref.WeakSet[Service] = weakref.WeakSet()


def _reset_all_after_fork() -> None:
    for service in list(_services):
        service._reset_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_all_after_fork)
