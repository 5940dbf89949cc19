"""`--workers`, `--retries` and `--timeout`: who does the work of a command."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

import click

from rankgauge.cli.numbers import Decimal, WholeNumber
from rankgauge.workers import Workers
from rankgauge.workers.executors import RETRIES

F = TypeVar("F", bound=Callable[..., Any])

META = f"{__name__}."


class _Where(click.ParamType):  # type: ignore[type-arg]
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


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    context.meta[f"{META}{option.name}"] = value


_OPTIONS = (
    click.option(
        "--workers",
        type=_Where(),
        metavar="N|ADDRESS",
        expose_value=False,
        callback=_remember,
        help="Who does the work: N processes of this machine, or the Dask cluster with the scheduler at "
        "ADDRESS, such as tcp://10.0.0.1:8786. By default the threads of this process.",
    ),
    click.option(
        "--retries",
        type=WholeNumber(0),
        metavar="N",
        expose_value=False,
        callback=_remember,
        help="With --workers: how often a task is tried again if its worker died. By default "
        f"{RETRIES}. A Dask cluster itself tries several workers first.",
    ),
    click.option(
        "--timeout",
        type=Decimal(0, min_open=True),
        metavar="SECONDS",
        expose_value=False,
        callback=_remember,
        help="With --workers: how many seconds one task may take, such as scoring one run or training "
        "on one fold. A task that takes longer counts as failed. By default there is no limit.",
    ),
)


def workers_options(command: F) -> F:
    """`--workers`, `--retries` and `--timeout`; `workers()` gives what they ask for.

    If they cannot be had, that is said before the command begins its work.
    """

    @functools.wraps(command)
    def started(*values: Any, **named: Any) -> Any:
        asked = workers()
        if asked is not None:
            asked.start()
        return command(*values, **named)

    for option in reversed(_OPTIONS):
        started = option(started)
    return cast("F", started)


def without_workers(words: Sequence[str]) -> list[str]:
    """The words of a command without these options.

    >>> without_workers(["--workers", "2", "a.run", "--retries=3", "-o", "x"])
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


def workers() -> Workers | None:
    """Who does the work of this command: the `executor` of the functions that it calls.

    The processes, or the connection, end with the command.
    """
    context = click.get_current_context()
    where, retries, timeout = (
        context.meta.get(f"{META}{name}") for name in ("workers", "retries", "timeout")
    )
    if where is None:
        for name, value in (("retries", retries), ("timeout", timeout)):
            if value is not None:
                raise click.UsageError(f"--{name} needs --workers")
        return None
    known: Workers | None = context.meta.get(META)
    if known is None:
        asked = Workers(where, retries=RETRIES if retries is None else retries, timeout=timeout)
        context.meta[META] = known = asked
        context.call_on_close(asked.close)
    return known
