"""Runs in parts: several files that are one run together.

The run is what one file would hold that has the parts one after the other, in the order of their names.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

import numpy as np

from rankgauge.core.arrays import offsets_of
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.records import Record, Value
from rankgauge.data.model import Ids, Run, decode
from rankgauge.data.roles import USUAL_NAMES, AnyColumnNames, ColumnNames
from rankgauge.errors import DuplicateError, InputError, NoRows
from rankgauge.io.files import SIZE_LIMIT, Content, display_name
from rankgauge.io.kinds import first_line, is_trec_line, kind_of
from rankgauge.io.trec import (
    COLUMNS,
    DUPLICATE,
    FAULTS,
    RUN_LINE,
    WILDCARDS,
    Path,
    RunFile,
    distinct_names,
    dropped_lines_note,
    files_inside,
    run_files,
    run_name,
    stands_for_several,
)

R = TypeVar("R")

MARKER_PREFIXES = (".", "_")
"""Prefixes of files that writers leave next to the parts, such as _SUCCESS."""
CHECKSUMS = ".crc"

USUAL_START = "part"
"""The names that Spark and Hadoop give to parts; they say nothing about the run."""

LONGEST_LINE = 1 << 20

BETWEEN_LINES = "parts must be cut between lines (`split -n l/64` does)"


class RunParts(Value):
    """A run in parts: the files of a folder, or of a pattern, are one run.

    The parts are taken in the order of their names, as the shell lists them; 10 comes before 2. A query
    may be in several parts. Each part is a file as `read_run` takes it; all are TREC text, or all are
    tables. Empty parts, and files that begin with . or _, such as _SUCCESS, are passed over.

    `evaluate` scores each part where it lies, and joins the queries that are in several parts. This is
    as quick as for one file if the run was sorted by query and then cut. If queries are spread over the
    parts, `evaluate` reads the parts again, some queries at a time: up to 10 million rows in a task. It
    then also holds the scores of each query in each part, so sort a very large run by query first.

    Calling it returns the whole run, in memory. All other functions that take runs read it this way.

    Parameters
    ----------
    path : str or os.PathLike
        A folder, a pattern such as "runs/bm25/part-*", or a file.
    name : str, optional
        The name of the run. By default, the name of the folder, or the start of the pattern.
    lenient : bool, default False
        Drop faulty lines of TREC files and count them.
    size_limit : int, default 8 GiB
        The largest size of a part in bytes, once decompressed.
    columns : dict of str to str, optional
        Names of the tables' columns, where they are not standard, as in `read_run`.

    Raises
    ------
    RankgaugeError
        If `columns` has an unknown key.

    Examples
    --------
    >>> RunParts("runs/bm25/").label, RunParts("runs/bm25-*.gz").label
    ('bm25', 'bm25')
    """

    path: Path
    name: str | None = None
    lenient: bool = False
    size_limit: int = SIZE_LIMIT
    columns: AnyColumnNames | None = None

    def __post_init__(self) -> None:
        vars(self)["columns"] = ColumnNames.of(self.columns)

    @property
    def label(self) -> str:
        """The name of the run."""
        return parts_name(self.path) if self.name is None else self.name

    def paths(self) -> list[str]:
        """The files of the parts, in the order of their names; InputError if there are none."""
        name = os.fspath(self.path)
        if not stands_for_several(name):
            return [name]
        inside = files_inside(name)
        parts = [file for file in inside if _is_part(file)]
        folders = [file for file in parts if os.path.isdir(file)]
        if folders:
            message = (
                f"contains a folder, {os.path.basename(folders[0])!r}, expected files that are the "
                "parts of one run; pass each folder of parts as a separate run"
            )
            raise InputError(name, None, message)
        if not parts:
            empty = sum(os.path.isfile(file) and not _is_marker_file(file) for file in inside)
            there = f"only {count_phrase(empty, 'empty file')}" if empty else "no files"
            raise InputError(name, None, f"{there}, expected files that are the parts of one run")
        return parts

    def files(self) -> list[RunFile]:
        """The parts, in the order of their names; InputError if there are none."""
        names = ColumnNames.of(self.columns)
        return [
            RunFile(path, self.label, self.lenient, self.size_limit, names) for path in self.paths()
        ]

    def __call__(self) -> Run:
        """The whole run."""
        parts, dropped, before = [], [], None
        files = self.files()
        for number, file in enumerate(files):
            run, outline = read_part(file, file.run_from_content)
            if run is None:
                continue
            if before is not None:
                check_neighbors(before, outline)
            before = outline
            parts.append(PartRun(number, file, run))
            dropped += locate_dropped_rows(number, file, run.dropped)
        if not parts:
            raise empty_parts_error(self.path, len(files))
        run, again = join_parts(parts)
        notes = sum_dropped_rows([*dropped, *again])
        return replace(run, source=display_name(self.path), dropped=notes)


StoredRun: TypeAlias = RunFile | RunParts
"""A run that has not been read yet, in one file or several."""


def stored_runs(
    paths: Sequence[Path],
    *,
    parts: bool,
    lenient: bool = False,
    size_limit: int = SIZE_LIMIT,
    columns: ColumnNames = USUAL_NAMES,
) -> list[RunFile] | list[StoredRun]:
    """The runs at these paths: files, folders and patterns.

    With `parts`, a folder or a pattern is one run in parts. Otherwise each of its files is a run.
    """
    if not parts:
        return run_files(paths, lenient=lenient, size_limit=size_limit, columns=columns)
    texts = [os.fspath(path) for path in paths]
    return [
        (RunParts if stands_for_several(path) else RunFile)(
            path, name, lenient, size_limit, columns
        )
        for path, name in zip(texts, distinct_names(texts, parts_name), strict=True)
    ]


def _is_part(file: str) -> bool:
    """Whether a file is a part: not one that a writer leaves beside the parts, nor an empty one.

    A file that cannot be looked at is a part, so that it is said to be unreadable.
    """
    try:
        state = os.stat(file)
    except OSError:
        return not _is_marker_file(file)
    plain = stat.S_ISREG(state.st_mode) and state.st_size > 0
    return (plain or stat.S_ISDIR(state.st_mode)) and not _is_marker_file(file)


def _is_marker_file(file: str) -> bool:
    """Whether this is a file that a writer leaves beside the parts."""
    name = os.path.basename(file)
    return name.startswith(MARKER_PREFIXES) or name.endswith(CHECKSUMS)


def parts_name(path: Path) -> str:
    """The name of a run in parts: the name of its folder, or the start of the pattern.

    If the pattern starts with a wildcard, or with `part`, its folder names the run.

    >>> [parts_name(path) for path in ("bm25.parquet/", "runs/bm25-0*.gz", "runs/bm25/part-*")]
    ['bm25', 'bm25', 'bm25']
    """
    name = os.path.normpath(path)
    if os.path.isdir(name):
        return run_name(os.path.realpath(name))
    if not stands_for_several(name):
        return run_name(name)
    *folders, pattern = name.split(os.sep)
    start = pattern
    for wildcard in WILDCARDS:
        start = start.partition(wildcard)[0]
    start = start.rstrip("-_.0")
    if start and start != USUAL_START:
        return start
    plain = [folder for folder in folders if folder and not set(folder) & set(WILDCARDS)]
    return run_name(plain[-1]) if plain else start or pattern


# Reading one part


class Outline(Record):
    """What is known of a part beside its rows.

    `is_text` says whether it is TREC text; otherwise it is a table. `faulty_start` and `faulty_end` say
    whether its first and its last line are faulty. `open_end` says whether its last line has no newline.
    """

    path: Path
    is_text: bool = True
    faulty_start: bool = False
    faulty_end: bool = False
    open_end: bool = False


def read_part(file: RunFile, read: Callable[[Content], R]) -> tuple[R | None, Outline]:
    """What a function reads from the content of a part, None if the part is empty; and its outline.

    A faulty line is an error, or it was dropped; only then the outline has to say how the part begins
    and ends.
    """
    with file.open() as content:
        is_text = kind_of(content, file.columns) is None
        outline = Outline(file.path, is_text)
        try:
            result = read(content)
        except NoRows:
            return None, outline
        except DuplicateError:
            raise
        except InputError as error:
            raise _explain_cut(error, content) from None
        return result, _examine_ends(outline, content) if is_text and file.lenient else outline


def _explain_cut(error: InputError, content: Content) -> InputError:
    """The error; if its line is the first or the last of a part, it says how parts must be cut."""
    if error.line is None:
        return error
    text = content.whole()
    first = text[: len(text) - len(text.lstrip())].count(b"\n") + 1
    last = text.count(b"\n") + 1
    if error.line != first and (error.line != last or text.endswith(b"\n")):
        return error
    message = f"{error.message}; if a part ends inside this line: {BETWEEN_LINES}"
    return type(error)(error.source, error.line, message)


def _examine_ends(outline: Outline, content: Content) -> Outline:
    tail = np.zeros(min(content.size, LONGEST_LINE), dtype=np.uint8)
    content.read_into(tail, content.size - len(tail))
    start, last = first_line(content), tail.tobytes().rpartition(b"\n")[2]
    return replace(
        outline,
        faulty_start=bool(start) and not _is_run_line(start),
        faulty_end=not _is_run_line(last),
        open_end=bool(last),
    )


def _is_run_line(line: bytes) -> bool:
    return len(line.split(None, 6)) == COLUMNS[RUN_LINE] and is_trec_line(line)


# Parts together


def empty_parts_error(path: Path, count: int) -> InputError:
    """The error for a run whose parts have no rows."""
    what = (
        "its only part is empty"
        if count == 1
        else f"all its {count_phrase(count, 'part')} are empty"
    )
    return InputError(display_name(path), None, f"{what}, expected lines or rows in some part")


def check_neighbors(before: Outline, after: Outline) -> None:
    """InputError unless both are parts of one run: of the same kind, and cut between lines."""
    if before.is_text != after.is_text:
        names = {True: "TREC text", False: "a table"}
        raise InputError(
            display_name(after.path),
            None,
            f"is {names[after.is_text]}, but {display_name(before.path)}, a part of the same run, is "
            f"{names[before.is_text]}; expected parts of one kind",
        )
    if before.open_end and (before.faulty_end or after.faulty_start):
        raise InputError(
            display_name(before.path),
            None,
            f"ends inside a line, which goes on in {display_name(after.path)}; {BETWEEN_LINES}",
        )


class DroppedRows(Record):
    """Rows of a part that lenient reading left out.

    `part` is the number of the part. `line` is the line of the first row, 0 if it is not known. `note`
    says what was left out.
    """

    part: int
    line: int
    note: Note


def locate_dropped_rows(part: int, file: RunFile, notes: Iterable[Note]) -> list[DroppedRows]:
    """What these notes of one part say, with the name of the part."""
    dropped = []
    for note in notes:
        line = int(note.detail.rpartition(" ")[2])
        place = f"first at {display_name(file.path)}:{line}"
        dropped.append(DroppedRows(part, line, replace(note, detail=place)))
    return dropped


def sum_dropped_rows(dropped: Iterable[DroppedRows]) -> tuple[Note, ...]:
    """One note for each kind of fault, with the count of all parts and the first place."""
    kinds: dict[str, Note] = {}
    for rows in sorted(dropped, key=lambda rows: (rows.part, rows.line)):
        first = kinds.get(rows.note.kind)
        count = (first.count or 0) + (rows.note.count or 0) if first else rows.note.count
        kinds[rows.note.kind] = replace(first or rows.note, count=count)
    # In the order of one file: faults by kind, then repeated documents.
    order = [dropped_lines_note(fault, 0, 0).kind for fault in FAULTS.values()]
    return tuple(
        sorted(
            kinds.values(),
            key=lambda note: order.index(note.kind) if note.kind in order else len(order),
        )
    )


class PartRun(Record):
    """The rows of a part, or some of them; `number` is the place of the part among all parts."""

    number: int
    file: RunFile
    run: Run


def join_parts(parts: Sequence[PartRun]) -> tuple[Run, list[DroppedRows]]:
    """One run of the rows of several parts, in their order, and which rows were dropped.

    A document that is in two parts for the same query is a DuplicateError, or it is dropped where it is
    read leniently.
    """
    from rankgauge.data.frames import group_blocks

    runs = [part.run for part in parts]
    sizes = [np.diff(run.bounds) for run in runs]
    bounds = offsets_of(np.concatenate(sizes))
    groups = group_blocks(Ids.joined([run.queries for run in runs]), bounds)
    documents = Ids.joined([run.documents for run in runs])
    scores = np.concatenate([run.scores for run in runs])
    dropped: list[DroppedRows] = []
    bounds, order = groups.bounds, groups.order
    if order is not None:
        documents, scores = documents.take(order), scores[order]
        repeated = documents.repeats(bounds)
        again = np.flatnonzero(repeated >= 0)
        if again.size:
            first = int(again[np.argmin(order[again])])
            topic = groups.queries[int(np.searchsorted(bounds, first, side="right")) - 1]
            ends = np.cumsum([len(run.scores) for run in runs])
            place, earlier = (
                parts[int(np.searchsorted(ends, order[row], side="right"))]
                for row in (first, repeated[first])
            )
            line = place.file.line_of(topic, documents[first])
            if not place.file.lenient:
                raise _duplicate_error(topic, documents[first], place, line, earlier)
            note = dropped_lines_note(DUPLICATE.format("query"), again.size, line or 0)
            dropped = locate_dropped_rows(place.number, place.file, [note])
            kept = repeated < 0
            bounds = offsets_of(kept)[bounds]
            documents, scores = documents.take(np.flatnonzero(kept)), scores[kept]
    run = replace(
        next((run for run in reversed(runs) if len(run.scores)), runs[-1]),  # its tag is the last
        queries=groups.queries,
        bounds=bounds,
        documents=documents,
        scores=scores,
        dropped=(),
    )
    return run, dropped


def _duplicate_error(
    topic: bytes, document: bytes, place: PartRun, line: int | None, earlier: PartRun
) -> DuplicateError:
    """The error for a document that an earlier part has for the same query."""
    first, number = display_name(earlier.file.path), earlier.file.line_of(topic, document)
    first += "" if number is None else f":{number}"
    message = (
        f"document {decode(document)!r} repeated for query {decode(topic)!r} (first at {first}), "
        "expected each document once per query in all parts of a run"
    )
    return DuplicateError(display_name(place.file.path), line, message)
