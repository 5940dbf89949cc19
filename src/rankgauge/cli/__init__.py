"""The command line: one module per command, imported only when the command is called."""

from __future__ import annotations

import errno
import gc
import importlib
import io
import os
import sys
import warnings
from typing import Any

from rankgauge.cli.signals import (
    MESSAGE,
    Interrupted,
    catch_signals,
    end_now,
    ignore_signals,
)
from rankgauge.errors import RankgaugeError, RankgaugeWarning

TASKS = {
    "Score": {
        "evaluate": "Score runs against judgments with nDCG, AP and other measures.",
        "report": (
            "Show runs, their differences and queries in the browser, on one page that you "
            "can share."
        ),
        "trec_eval": "Replace trec_eval in your scripts: the same flags, the same output.",
    },
    "Decide": {
        "compare": "Test whether the differences between runs are statistically significant.",
        "assess": "Report which measures discriminate between runs, and which of them agree.",
        "queries": (
            "Find the queries on which your runs beat a random ranking, and those on which "
            "they do not."
        ),
        "distance": "Compute how much further judgments could change the difference between runs.",
    },
    "Judge": {
        "forecast": "Predict from shallow judgments how deep judgments would score your runs.",
    },
    "Combine": {
        "fuse": "Combine several runs, such as BM25 and a dense retriever, into one.",
        "tune": "Find the best weights for fusing runs, and estimate their benefit on new queries.",
        "space": (
            "Compute exactly how a measure changes with the weights, and what a grid search misses."
        ),
    },
    "Train": {
        "ltr": "Train a ranker on documents with features and labels, and rank with it.",
    },
    "Text": {
        "text": "Score summaries or answers, and compare them with a random-text baseline.",
    },
    "Learn": {
        "measures": "List the available measures, or explain one of them.",
        "demo": "Create a small synthetic test collection and evaluate it; no data needed.",
    },
}
"""Our commands, grouped by task. The text says when to use the command. Those of other packages are
registered in `cli/commands.py`."""

COMMANDS = {name: text for commands in TASKS.values() for name, text in commands.items()}


UNFORESEEN = 70
"""The exit code of an error that nobody foresaw: EX_SOFTWARE in sysexits.h."""

DEBUG = "RANKGAUGE_DEBUG"
LACK_OF_MEMORY = (
    *("cannot allocate memory", "failed to map segment", "memory allocation", "out of memory"),
    *("can't start new thread", "bad_alloc"),
)
"""What libraries and the system say when there is not enough memory."""
MOST_SHOWN = 2000


def run() -> None:
    """The program: `main`, in a process that is ours alone.

    Most objects are made by imports and stay to the end. Looking through them for garbage, again and
    again while modules are imported, and taking them apart at the end takes longer than scoring 50
    queries.
    """
    catch_signals()
    gc.set_threshold(100_000, 20, 20)
    _limit_threads()
    if sys.stderr is not None:
        sys.stderr = _open_error_stream()
    if not os.environ.get(DEBUG):
        warnings.simplefilter("ignore")  # those of libraries; ours are notes
    warnings.filterwarnings("default", category=RankgaugeWarning)
    warnings.showwarning = _print_warning
    try:
        main()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        end_now(end.code or 0)
    end_now(0)


LITTLE_MEMORY = 2 << 30
"""With less memory than this, OpenBLAS computes on one thread."""


def _limit_threads() -> None:
    """Keep OpenBLAS from starting threads where the memory of a process is limited (`ulimit -v`).

    It asks for memory for each thread, and if it gets none it asks again for ever, or interrupts us.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most != resource.RLIM_INFINITY and most < LITTLE_MEMORY:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class _ErrorStream(io.FileIO):
    """A stream for standard error that survives failed writes.

    Messages that cannot be written, because the disk is full, are lost; the results and the exit
    code are not.
    """

    def write(self, text: Any) -> int:
        try:
            return super().write(text) or 0
        except OSError:
            return len(text)


def _open_error_stream() -> io.TextIOWrapper:
    raw = _ErrorStream(sys.stderr.fileno(), "w", closefd=False)
    return io.TextIOWrapper(raw, sys.stderr.encoding, "backslashreplace", write_through=True)


def _print_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning as a note."""
    print(f"note: {printable(str(message))}", file=sys.stderr)


def main() -> None:
    """Run the command line; every refusal is one line on standard error and exit code 2.

    A signal ends it with 128 and the number of the signal, an error that nobody foresaw with 70. Called
    under the name trec_eval, through a link, it is that program.
    """
    import click

    from rankgauge.cli.commands import group

    open_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        program, _ = os.path.splitext(os.path.basename(sys.argv[0]))
        arguments = [program, *sys.argv[1:]] if program == "trec_eval" else sys.argv[1:]
        if arguments and arguments[0] in COMMANDS:
            # Not where click asks for it: Python 3.11 imports NumPy far slower that deep in calls.
            importlib.import_module(f"rankgauge.cli.{arguments[0]}")
        color = False if os.environ.get("NO_COLOR") else None
        group(arguments, standalone_mode=False, color=color)
        sys.stdout.flush()
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        click.echo(printable(text.getvalue()), nl=False, err=True)
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt) as error:
        ignore_signals()
        raised = error if isinstance(error, KeyboardInterrupt) else error.__cause__
        click.echo(MESSAGE, err=True)
        sys.exit(128 + (raised.number if isinstance(raised, Interrupted) else 2))
    except RankgaugeError as error:
        click.echo(printable(str(error)), err=True)
        sys.exit(2)
    except BrokenPipeError:
        abandon_output()
        sys.exit(1)
    except SystemExit:
        raise
    except BaseException as error:  # polars panics with one that is no Exception
        sys.exit(_report_error(error))


def _report_error(error: BaseException) -> int:
    """Say in one line what ended the program, unless it is to be raised; the exit code."""
    import click

    from rankgauge.core.plugins import failing_line

    if _lacks_memory(error):
        click.echo("not enough memory", err=True)
        return 2
    if isinstance(error, OSError):
        abandon_output()
        what = "standard output: cannot be written"
        if error.filename is not None:
            what = f"{os.fsdecode(error.filename)}: cannot be used"
        click.echo(printable(f"{what}: {error.strerror}"), err=True)
        return 2
    if os.environ.get(DEBUG):
        raise error
    what = f"{type(error).__name__}: {error}".strip().partition("\n")[0][:200]
    if line := failing_line(error):
        more = f"Set {DEBUG}=1 to see the full traceback"
        click.echo(printable(f"{line}: the plug-in fails: {what}. {more}"), err=True)
        return 2
    click.echo(
        f"internal error in rankgauge: {printable(what)}. Please report it: run the command "
        f"again with {DEBUG}=1, and include the command and its output",
        err=True,
    )
    return UNFORESEEN


def _lacks_memory(error: BaseException) -> bool:
    """Test whether an error is caused by lack of memory.

    Libraries that cannot be loaded and threads that cannot be started raise errors of other types.
    """
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, OSError) and error.errno == errno.ENOMEM)
        or any(words in str(error).lower() for words in LACK_OF_MEMORY)
    )


def open_closed_streams() -> None:
    """Put something in the place of each standard stream that was closed before the program began.

    Otherwise a file that we open would get its number. Writing to standard output is then an error,
    because the result would be lost. Messages on standard error are lost.
    """
    if sys.stdin is None:
        os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_RDONLY), "w")
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


def abandon_output() -> None:
    """Give Python nothing to flush at exit, when the reader of our output went away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def printable(text: str) -> str:
    """Text that is safe to show: control characters and broken bytes escaped, endless lines cut.

    >>> printable("a\\x1b[31mb")
    'a\\\\x1b[31mb'
    """
    shown = "".join(
        c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in _shorten_lines(text)
    )
    return _shorten_lines(shown)


def _shorten_lines(text: str) -> str:
    """The text with lines that people can read: an id may have millions of characters."""
    return "\n".join(
        line
        if len(line) <= MOST_SHOWN
        else f"{line[: MOST_SHOWN // 2]} ... {line[-MOST_SHOWN // 2 :]}"
        for line in text.split("\n")
    )
