"""Workers that may die: which task goes to whom, how often it is tried, and who is blamed."""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Protocol, TypeVar

from rankgauge.core.records import Record
from rankgauge.workers.sharing import Shared
from rankgauge.workers.tasks import Ended, Task

T = TypeVar("T")
R = TypeVar("R")

PAUSE = 0.5
"""For how many seconds news is awaited at a time."""
MOST_RESENT = 3
"""How often a task that may be blameless is sent again beside others, before it is tried alone."""


BLOCKED = (
    "was not begun, since all workers are at tasks that take too long; restart the workers, or allow "
    "more time"
)


class Lost(Record):
    """A task whose worker is gone. `blameless`: another task, or nobody, may be the cause."""

    fault: str
    blameless: bool = False


class Crew(Protocol):
    """Workers that are given tasks by number, and say how each ended."""

    def room(self) -> int:
        """How many tasks they can have at a time."""

    def begin(self, number: int, task: Task[Any, Any]) -> None:
        """Give them a task."""

    def news(self, seconds: float) -> Iterable[tuple[int, Ended[Any] | Lost]]:
        """The tasks that ended; waits for this time until there is one."""

    def age(self, number: int) -> float:
        """For how many seconds a worker has been at a task."""

    def blocked(self) -> bool:
        """Whether all workers are at tasks that were dropped, and that they cannot be stopped at."""

    def drop(self, numbers: Iterable[int]) -> None:
        """Forget these tasks, and stop them where that is possible."""

    def close(self) -> None:
        """The call is over."""


def by_crew(
    crew: Crew, tasks: Sequence[Task[T, R]], retries: int, timeout: float | None
) -> Generator[tuple[int, Ended[R]], None, None]:
    """The number of each task, and how it ended.

    A task whose worker died is tried again when nothing else is under way. So it cannot be blamed for
    what another task did, and it cannot hurt another task.
    """
    waiting, suspects = deque(range(len(tasks))), deque[int]()
    under_way: set[int] = set()
    tried: Counter[int] = Counter()
    resent: Counter[int] = Counter()
    alone = False
    blocked_at: float | None = None
    try:
        while waiting or suspects or under_way:
            alone = alone and bool(under_way)
            while waiting and not alone and len(under_way) < crew.room():
                under_way.add(number := waiting.popleft())
                crew.begin(number, tasks[number])
            if suspects and not under_way:
                alone = True
                under_way.add(number := suspects.popleft())
                crew.begin(number, tasks[number])
            ended = [(n, how) for n, how in crew.news(PAUSE) if n in under_way]
            under_way.difference_update(number for number, _ in ended)
            # Nobody may wait between the news and this: who ended in time must not look late.
            late = [n for n in under_way if timeout is not None and crew.age(n) > timeout]
            crew.drop(late)
            under_way.difference_update(late)
            for number, how in ended:
                if isinstance(how, Ended):
                    yield number, how
                elif how.blameless and not alone and resent[number] < MOST_RESENT:
                    resent[number] += 1
                    waiting.append(number)
                elif tried[number] < retries:
                    tried[number] += 1
                    suspects.append(number)
                else:
                    yield number, tasks[number].failed(how.fault)
            for number in late:
                yield number, tasks[number].failed(f"took longer than {timeout:g} seconds")
            stopped = crew.blocked() and not any(crew.age(number) for number in under_way)
            blocked_at = (blocked_at or time.monotonic()) if stopped else None
            if blocked_at is not None and time.monotonic() - blocked_at > (timeout or 0.0):
                left = [*under_way, *waiting, *suspects]
                crew.drop(left)
                under_way.clear()
                for number in sorted(left):
                    yield number, tasks[number].failed(BLOCKED)
                return
    finally:
        crew.drop(under_way)
        crew.close()


class Tasks(Sequence[Task[T, R]]):
    """The tasks for these items, each made when it is asked for."""

    def __init__(
        self, work: Shared[Callable[[T], R]], items: Sequence[T], name: Callable[[T], str]
    ) -> None:
        self._work, self._items, self._name = work, items, name

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, number: Any) -> Any:
        return Task(self._work, self._items[number], self._name)
