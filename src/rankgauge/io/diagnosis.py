"""What is wrong with runs and judgments, and the likely reason.

The two files are given in each other's place, or the two share few ids or none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Any

from rankgauge.core.notes import WARNING, Note, count_phrase, plural, shorten
from rankgauge.data.model import Ids, Judgments, Run, decode
from rankgauge.data.roles import USUAL_NAMES, ColumnNames
from rankgauge.errors import InputError, MisplacedFile, NoSharedTopics, RankgaugeError
from rankgauge.io.files import SIZE_LIMIT, open_content
from rankgauge.io.kinds import kind_of
from rankgauge.io.trec import Path, read_qrels, read_qrels_and_run, read_run

MAX_SHOWN = 3
"""Number of ids shown for each side."""

MAX_EXAMINED = 1000
"""Number of ids on each side examined to find the reason."""

LONGEST = 60
"""Maximum number of characters shown of an id."""

MOST_TRIED = 10
"""Number of runs tried as judgments when the file passed as judgments is a run."""


# Files in each other's place


def read_judgments(
    qrels: Path,
    runs: Sequence[Path],
    *,
    subtopics: bool = False,
    lenient: bool = False,
    size_limit: int = SIZE_LIMIT,
    columns: ColumnNames = USUAL_NAMES,
) -> tuple[Judgments, Run | None]:
    """The judgments in a file, and the run in the file if it has both.

    Raises MisplacedFile if the file is also given as a run and has no run, or if a run is given in its
    place.

    Parameters
    ----------
    qrels : the file of judgments.
    runs : the files of the runs that go with it.
    subtopics, lenient, size_limit, columns : as in `read_qrels`.
    """
    try:
        judgments, own = read_qrels_and_run(
            qrels, subtopics=subtopics, lenient=lenient, size_limit=size_limit, columns=columns
        )
    except InputError as error:
        check_order(qrels, runs, columns=columns, size_limit=size_limit, error=error)
        raise
    if own is None and qrels in runs:
        raise _same_file_error(qrels)
    return judgments, own


def check_order(
    qrels: Path,
    runs: Sequence[Path],
    *,
    columns: ColumnNames = USUAL_NAMES,
    size_limit: int = SIZE_LIMIT,
    error: InputError | None = None,
) -> None:
    """Raise MisplacedFile if a run and judgments were given the wrong way round, or one file as both.

    Call it when the files, as they were given, could not be used. `error` is why, if a file could not be
    read.
    """
    if error is not None and qrels in runs:
        raise _same_file_error(qrels, f" ({error})")
    reading: Any = {"columns": columns, "size_limit": size_limit}
    if not can_be_read(read_run, qrels, **reading):
        return
    as_given = can_be_read(read_qrels, qrels, **reading)
    for run in runs[:MOST_TRIED]:
        if not can_be_read(read_qrels, run, **reading):
            continue
        if not (as_given and can_be_read(read_run, run, **reading)):
            raise MisplacedFile(
                os.fspath(qrels),
                None,
                f"the files are swapped: {os.fspath(qrels)} is a run and {os.fspath(run)} "
                "contains judgments; pass the judgments first",
            )


def _same_file_error(file: Path, why: str = "") -> MisplacedFile:
    name = os.fspath(file)
    return MisplacedFile(name, None, f"{name} is given as judgments and as a run{why}")


def may_have_both(file: Path) -> bool:
    """Whether a file may have judgments and a run side by side, as only JSON can."""
    if not os.path.isfile(file):
        return False
    with open_content(file) as content:
        kind = kind_of(content)
    return kind is not None and kind.form == "json"


def can_be_read(read: Callable[..., object], file: Path, **reading: Any) -> bool:
    """Whether a function reads this file without an error; only regular files are tried."""
    if not os.path.isfile(file):
        return False
    try:
        read(file, **reading)
    except RankgaugeError:
        return False
    return True


def has_only_judgments(file: Path, **reading: Any) -> bool:
    """Whether a file can be read as judgments, and not as a run."""
    reading |= {"lenient": False}
    return can_be_read(read_qrels, file, **reading) and not can_be_read(read_run, file, **reading)


def are_judgments_and_runs(first: Path, others: Sequence[Path], **reading: Any) -> bool:
    """Whether the first of these files contains judgments, and the others contain runs.

    A table whose column `rating` could be grades or scores counts as judgments if no other file does.
    """
    if has_only_judgments(first, **reading):
        return True
    reading |= {"lenient": False}
    return (
        can_be_read(read_qrels, first, **reading)
        and not may_have_both(first)
        and not any(can_be_read(read_qrels, other, **reading) for other in others[:MOST_TRIED])
    )


# Ids that do not meet


def no_shared_queries_error(source: str, strangers: Ids, judgments: Judgments) -> NoSharedTopics:
    """The error for a run that ranks these queries, none of which is judged."""
    if not len(judgments.queries):
        return NoSharedTopics(source, None, "cannot be scored: the judgments have no queries")
    if not len(strangers):
        return NoSharedTopics(source, None, "the run is empty, expected queries with documents")
    both = _compare_ids(strangers, judgments.queries, "query")
    return NoSharedTopics(source, None, f"none of its queries are judged. The {both}")


def few_shared_queries_note(
    shared: int, strangers: int, some: Ids, judgments: Judgments
) -> Note | None:
    """A warning, where a run and the judgments share less than half of the queries of either.

    `shared` queries are judged, `strangers` are not; `some` are ids of the latter.
    """
    judged, ranked = len(judgments.queries), shared + strangers
    if 2 * shared >= judged or 2 * shared >= ranked:
        return None
    ours, theirs = first_texts(some), first_texts(judgments.queries)
    detail = (
        f"the run ranks {count_phrase(ranked, 'query')}, the judgments have {judged:,}; not judged: "
        f"{format_ids(ours)}{_hint(ours, theirs, 'query')}"
    )
    kind = "the run and the judgments share only {queries}"
    return Note(kind, count=shared, detail=detail, severity=WARNING)


def nothing_judged_note(documents: Ids, judgments: Judgments) -> Note:
    """The warning that a run retrieved documents, such as these, and none of them is judged."""
    if not len(documents):
        return Note("the run has no documents for any judged query", severity=WARNING)
    detail = f"the {_compare_ids(documents, judgments.documents, 'document')}"
    return Note("no document of the run is judged", detail=detail, severity=WARNING)


def _compare_ids(strangers: Ids, judged: Ids, what: str) -> str:
    ours, theirs = first_texts(strangers), first_texts(judged)
    hint = _hint(ours, theirs, what)
    run = f"run has {plural(what)} such as {format_ids(ours)}"
    return f"{run}; the judgments have {format_ids(theirs)}{hint}"


def first_texts(ids: Ids) -> list[str]:
    """The first ids of a column as text, enough to find the reason in."""
    return [decode(ids[row]) for row in range(min(MAX_EXAMINED, len(ids)))]


def format_ids(ids: Sequence[str]) -> str:
    """The first few ids, long ones cut."""
    return ", ".join(repr(shorten(each, LONGEST)) for each in ids[:MAX_SHOWN])


def _hint(ours: Sequence[str], theirs: Sequence[str], what: str) -> str:
    pair = reason(ours, theirs)
    if pair is None:
        return ""
    here, there = (each[:LONGEST] for each in pair[:2])
    return f"; {what} {here!r} of the run is probably {there!r} of the judgments ({pair[2]})"


def reason(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, str, str] | None:
    """An id of ours, the id of theirs that probably means the same, and how the two differ.

    A way of writing ids is the reason if at least half of our ids, or of theirs, are then ids of the
    other side, and no two ids of one side become the same.

    >>> reason(["01", "02"], ["1", "2"])
    ('01', '1', 'leading zeros')
    """
    for why, plain in _SPELLING_VARIANTS:
        here, there = _index_by_form(ours, plain), _index_by_form(theirs, plain)
        if here is None or there is None:
            continue
        meet = [(mine, there[form]) for form, mine in here.items() if form in there]
        differ = [pair for pair in meet if pair[0] != pair[1]]
        if differ and 2 * len(meet) >= min(len(here), len(there)):
            return *differ[0], why
    return None


def _index_by_form(ids: Sequence[str], plain: Callable[[str], str]) -> dict[str, str] | None:
    """The ids by their plain form; None where two have the same."""
    distinct = dict.fromkeys(ids)
    by_form = {plain(each): each for each in distinct}
    return by_form if len(by_form) == len(distinct) else None


def _strip_zeros(text: str) -> str:
    return re.sub(r"(?<![0-9])0+(?=[0-9])", "", text)


def _last_number(text: str) -> str:
    """The last whole number in a text, or the text."""
    numbers = re.findall(r"[0-9]+", text[-LONGEST:])
    return numbers[-1].lstrip("0") or "0" if numbers else text


_SPELLING_VARIANTS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("blanks", lambda text: "".join(text.split())),
    ("upper and lower case", str.casefold),
    ("leading zeros", _strip_zeros),
    ("written as a decimal number", lambda text: re.sub(r"\.0+$", "", text)),
    ("a file ending", lambda text: re.sub(r"(?<=.)\.[A-Za-z]{1,5}$", "", text)),
    ("a folder before it", lambda text: text.rsplit("/", 1)[-1]),
    ("text before or after the number", _last_number),
)
"""Ways in which two tools write the same id differently, the smallest difference first."""
