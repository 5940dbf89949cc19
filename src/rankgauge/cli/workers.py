"""`--workers`, `--retries` and `--timeout`: where the work of a command runs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import click

from rankgauge.cli.groups import OptionGroup, option, takes
from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.workers import Workers
from rankgauge.workers.executors import RETRIES

F = TypeVar("F", bound=Callable[..., Any])

META = f"{__name__}."


class _WorkersType(click.ParamType):  # type: ignore[type-arg]
    """A number of processes, or the address of a scheduler."""

    name = "workers"

    def convert(
        self, value: Any, parameter: click.Parameter | None, context: click.Context | None
    ) -> int | str:
        if isinstance(value, int) or "://" in value:
            return value
        if value.isascii() and value.isdigit() and int(value) > 0:
            return int(value)
        self.fail(
            f"{value!r}, expected a number of processes, or the address of a Dask scheduler such as "
            "tcp://10.0.0.1:8786",
            parameter,
            context,
        )


class WorkerOptions(OptionGroup, heading="Workers", common=False):
    """Where the work runs: `workers()`, in the command, returns these workers."""

    workers: int | str | None = option(
        "--workers",
        type=_WorkersType(),
        metavar="N|ADDRESS",
        help="Where to run the work: in N processes on this machine, or on the Dask cluster "
        "with its scheduler at ADDRESS, such as tcp://10.0.0.1:8786. By default, in "
        "threads of this process.",
    )
    retries: int | None = option(
        "--retries",
        type=WholeNumber(0),
        metavar="N",
        help="With --workers: how often to retry a task whose worker died. By default "
        f"{RETRIES}. A Dask cluster itself first tries several workers.",
    )
    timeout: float | None = option(
        "--timeout",
        type=Decimal(0, min_open=True),
        metavar="SECONDS",
        help="With --workers: the time limit for a single task, such as scoring one run or "
        "training on one fold. A task that takes longer counts as failed. By default, "
        "there is no limit.",
    )

    def prepare(self) -> None:
        """Start the workers, so that a cluster that does not answer is an error before any work.

        The workers end with the command.
        """
        if self.workers is None:
            for name, value in (("retries", self.retries), ("timeout", self.timeout)):
                if value is not None:
                    raise click.UsageError(f"--{name} needs --workers")
            return
        retries = RETRIES if self.retries is None else self.retries
        started = Workers(self.workers, retries=retries, timeout=self.timeout)
        context = click.get_current_context()
        context.meta[META] = started
        context.call_on_close(started.close)
        started.start()


def workers_options(command: F) -> F:
    """Add `--workers`, `--retries` and `--timeout` to a command.

    The command takes no further parameters; `workers` returns what the user asked for. The workers start
    before the command does, so that a cluster which does not answer is reported early.

    Parameters
    ----------
    command : callable
        The function of the command.

    Returns
    -------
    callable
        The function with the options.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import workers, workers_options
    >>> @click.command()
    ... @workers_options
    ... def command():
    ...     click.echo(repr(workers()))
    >>> command([], standalone_mode=False)
    None
    """

    @functools.wraps(command)
    def without(*values: Any, _: WorkerOptions, **named: Any) -> Any:
        return command(*values, **named)

    return takes(_=WorkerOptions)(cast("F", without))


def workers() -> Workers | None:
    """The workers that the user asked for with `--workers`.

    Call it within a command that has the `workers_options`.

    Returns
    -------
    Workers or None
        The `executor` to pass to functions. None without `--workers`; the work is then done by threads.

    Examples
    --------
    >>> import click
    >>> from rankgauge.extending import workers, workers_options
    >>> @click.command()
    ... @workers_options
    ... def command():
    ...     click.echo(repr(workers()))
    >>> command([], standalone_mode=False)
    None
    """
    known: Workers | None = click.get_current_context().meta.get(META)
    return known


def drop_worker_options(words: Sequence[str]) -> list[str]:
    """The words of a command without these options.

    >>> drop_worker_options(["--workers", "2", "a.run", "--retries=3", "-o", "x"])
    ['a.run', '-o', 'x']
    """
    names = ("--workers", "--retries", "--timeout")
    left = []
    rest = iter(words)
    for word in rest:
        if word in names:
            next(rest, None)
        elif not word.startswith(tuple(f"{name}=" for name in names)):
            left.append(word)
    return left
