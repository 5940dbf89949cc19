"""What commands print: tables and files, notes, progress, and which runs failed."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, Protocol

import click

from rankgauge.cli import printable
from rankgauge.core.charts import DRAWN, PLAIN
from rankgauge.core.notes import WARNING_PREFIX, Note, count_phrase, note_texts
from rankgauge.core.tables import Cell, LazyRows, Table, wrap_note
from rankgauge.io.files import atomic_write

if TYPE_CHECKING:
    from rankgauge.data.model import Run

FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""Spreadsheets run a text as a formula if it begins with one of these."""
MACHINE_FORMATS = ("tsv", "csv", "jsonl")
MOST_ROWS = 100_000
"""How many rows a table for people has at most."""
LINES_A_PIECE = 10_000


def choose_format(form: str | None, output: str | None) -> str:
    """The format asked for: by default a table on a terminal, tsv in a pipe or file."""
    if form is not None:
        return form
    on_terminal = output in (None, "-") and sys.stdout.isatty()
    return "table" if on_terminal else "tsv"


def show(table: Table, form: str | None, digits: int | None, output: str | None) -> None:
    """Print a table, or write it to a file.

    Parameters
    ----------
    table : Table
        The table.
    form : str or None
        The format, such as "csv". None is "table" on a terminal, and "tsv" in a pipe or a file.
    digits : int or None
        How many decimals floats have. None is the default of the format.
    output : str or None
        The file to write to. None or "-" is standard output.

    Raises
    ------
    InputError
        If the file cannot be written.

    Examples
    --------
    >>> from rankgauge.extending import Table, show
    >>> show(Table(("run", "AP"), (("bm25", 0.125),)), "csv", 2, None)
    run,AP
    bm25,0.12
    """
    form = choose_format(form, output)
    lines = _limit_rows(table, form).lines(form, digits=digits, width=line_width(output))
    print_or_write(lines, output)


def _limit_rows(table: Table, form: str) -> Table:
    """A table that people read, without the rows that nobody reads; formats for programs have all."""
    if form in MACHINE_FORMATS or len(table.rows) <= MOST_ROWS:
        return table
    note = f"the first {MOST_ROWS:,} of {len(table.rows):,} rows; --format csv has all of them"
    return replace(table, rows=table.rows[:MOST_ROWS], notes=(note, *table.notes))


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Texts put together to pieces that are worth a call of the system."""
    rest = iter(texts)
    while piece := "".join(islice(rest, LINES_A_PIECE)):
        yield piece


def line_width(output: str | None = None) -> int | None:
    """The maximum width of a line of output: the width of the terminal, if the output is one.

    Parameters
    ----------
    output : str, optional
        The file that is written, or "-". By default standard output.

    Returns
    -------
    int or None
        The number of columns; None for a file or a pipe, whose lines may have any width.

    Examples
    --------
    >>> from rankgauge.extending import line_width
    >>> line_width("scores.tsv") is None
    True
    """
    return terminal_width() if output in (None, "-") and sys.stdout.isatty() else None


def terminal_width() -> int:
    """The number of columns of the terminal."""
    import shutil

    return shutil.get_terminal_size().columns


def print_or_write(texts: Iterable[str], output: str | None) -> None:
    """Texts to standard output (also for `-`), or to a file."""
    if output is None or output == "-":
        for piece in _pieces(texts):
            print_bytes(piece)
    else:
        with atomic_write(output) as stream:
            stream.writelines(piece.encode("utf-8") for piece in _pieces(texts))


def print_or_write_run(run: Run, output: str | None) -> None:
    """A run to standard output (also for `-`), or to a file."""
    from rankgauge.data.model import decode
    from rankgauge.io.trec import run_lines, write_run

    if output is None or output == "-":
        print_or_write(map(decode, run_lines(run, "standard output")), None)
    else:
        write_run(run, output)


def escape_formulas(table: Table) -> Table:
    """The table with ' before each text that a spreadsheet would take for a formula."""

    def plain(cell: Cell) -> Cell:
        return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULAS) else cell

    columns = tuple(str(plain(name)) for name in table.columns)
    old = table.rows
    rows = LazyRows(len(old), lambda start, end: (tuple(map(plain, row)) for row in old[start:end]))
    return replace(table, columns=columns, rows=rows)


def print_bytes(text: str) -> None:
    """Write text to standard output.

    In a pipe or a file, ids have the bytes that they had in the input. On a terminal, control characters
    are escaped, so that no id can move the cursor or change colors. A terminal that cannot show the
    lines and bars of tables gets them in ASCII.
    """
    stream = sys.stdout
    if stream.isatty():
        if not can_show(DRAWN, stream.encoding):
            text = text.translate(PLAIN)
        stream.write(
            "".join(c if c in "\t\n" or not _is_control(c) else repr(c)[1:-1] for c in text)
        )
    elif (raw := getattr(stream, "buffer", None)) is None:
        stream.write(text)
    else:
        stream.flush()
        raw.write(text.encode("utf-8", "surrogateescape"))
        raw.flush()


def can_show(text: str, encoding: str | None) -> bool:
    """Whether an encoding has all characters of a text; a stream of text has none, and takes all."""
    try:
        text.encode(encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_control(character: str) -> bool:
    return character < " " or "\x7f" <= character < "\xa0"


def notify(notes: Iterable[Note]) -> None:
    """Print notes to standard error, warnings first.

    Notes that several measures or runs share are printed once.

    Parameters
    ----------
    notes : iterable of Note
        The notes.

    Examples
    --------
    >>> from rankgauge.extending import Note, notify
    >>> notify([Note("no judgments for {queries}", run="bm25", count=3)])  # prints to standard error
    """
    print_notes(note_texts(notes, gather=True))


def print_notes(texts: Iterable[str]) -> None:
    """Print the texts of notes to standard error; warnings are red if there is color.

    A terminal gets lines that end between words.
    """
    for text in map(printable, texts):
        warns = text.startswith(WARNING_PREFIX)
        note = text if warns else f"note: {text}"
        if sys.stderr.isatty():
            note = "\n".join(wrap_note(note, terminal_width()))
        click.echo(click.style(note, fg="red", bold=True) if warns else note, err=True)


@contextmanager
def progress(total: int, doing: str = "evaluating") -> Iterator[Callable[[str], None] | None]:
    """Show a progress bar on standard error while a block runs, once it takes half a second.

    Without a terminal, it prints a line at most every 30 seconds.

    Parameters
    ----------
    total : int
        The number of steps.
    doing : str, default "evaluating"
        What is done, as the bar shows it.

    Yields
    ------
    callable or None
        A function to call after each step with any string, such as the name of a run. Pass it as
        `progress` to functions that have this parameter. None if there are fewer than two steps.

    Examples
    --------
    >>> from rankgauge.extending import progress
    >>> with progress(2, "training") as step:
    ...     for fold in ("fold 1", "fold 2"):
    ...         step(fold)
    """
    if total < 2:
        yield None
        return
    if not sys.stderr.isatty():
        yield _LineProgress(total, doing)
        return
    from rich.console import Console
    from rich.progress import Progress

    context = click.get_current_context(silent=True)
    color = None if context is None else context.color  # None: rich looks at NO_COLOR itself
    console = Console(stderr=True, no_color=None if color is None else not color)
    bar = Progress(console=console, transient=True)
    task = bar.add_task(doing, total=total)
    timer = threading.Timer(SECONDS_WITHOUT_BAR, bar.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda _: bar.advance(task)
    finally:
        timer.cancel()
        timer.join()
        if bar.live.is_started:
            bar.stop()


SECONDS_WITHOUT_BAR = 0.5
"""How long work takes before a terminal shows a bar, in seconds."""
SECONDS_A_LINE = 30.0
"""The least time between two lines of progress, in seconds."""


class _LineProgress:
    """Prints a line now and then with how much is done; quick work prints nothing."""

    def __init__(self, total: int, doing: str) -> None:
        self.total, self.doing, self.done = total, doing, 0
        self.start = self.last = time.monotonic()

    def __call__(self, _: str) -> None:
        self.done += 1
        now = time.monotonic()
        if now - self.last >= SECONDS_A_LINE and self.done < self.total:
            self.last = now
            left = (now - self.start) / self.done * (self.total - self.done)
            minutes = f"about {count_phrase(max(1, round(left / 60)), 'minute')} left"
            click.echo(f"{self.doing}: {self.done:,} of {self.total:,} done, {minutes}", err=True)


class Incomplete(click.ClickException):
    """Some runs could not be evaluated."""

    exit_code = 3

    def show(self, file: IO[Any] | None = None) -> None:
        """A line a run, on standard error."""
        click.echo(printable(self.message), file=file, err=file is None)


class PartialResult(Protocol):
    """A result that may lack some runs: those that are there, and why each other run is not."""

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs that are there."""

    @property
    def failed(self) -> tuple[str, ...]:
        """What was wrong with each run that is not there."""


def fail_if_incomplete(scores: PartialResult) -> None:
    """End the command with exit code 3 if some runs could not be evaluated.

    Parameters
    ----------
    scores : Scores or other result
        A result with `runs`, the names of its runs, and `failed`, what was wrong with each missing run.

    Raises
    ------
    Incomplete
        If runs are missing. The message names them.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from rankgauge.extending import Incomplete, fail_if_incomplete
    >>> try:
    ...     fail_if_incomplete(SimpleNamespace(runs=("bm25",), failed=("dense.run: no rows",)))
    ... except Incomplete as error:
    ...     print(error.message)
    dense.run: no rows
    1 run of 2 not evaluated
    """
    if scores.failed:
        of = len(scores.runs) + len(scores.failed)
        count = f"{count_phrase(len(scores.failed), 'run')} of {of} not evaluated"
        raise Incomplete("\n".join((*scores.failed, count)))
