"""TREC files: runs (`topic Q0 document rank score tag`) and qrels (`topic iteration document grade`).

Diversity qrels have a subtopic in the place of the iteration, which is not used otherwise.
Columns are separated by any run of blanks; CRLF and a UTF-8 byte-order mark are taken as they come.
The rank column is not used: the order is by score. A fault is an InputError that names the line, or,
when reading leniently, the line is dropped and counted.
"""

from __future__ import annotations

import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Floats, Ints, offsets_of
from rankgauge.core.notes import Note, count_phrase, shorten
from rankgauge.core.records import Record, Value
from rankgauge.data.model import Ids, Judgments, Run, decode, encode, repeated_pairs
from rankgauge.data.roles import USUAL_NAMES, AnyColumnNames, ColumnNames
from rankgauge.errors import DuplicateError, InputError, NoRows
from rankgauge.io.compression import detect_compression
from rankgauge.io.files import (
    HEAD,
    MISPLACED_MARK_MESSAGE,
    SIZE_LIMIT,
    STANDARD_INPUT,
    UTF8_MARK,
    UTF16_MARKS,
    Content,
    atomic_write,
    display_name,
    open_content,
    read_error,
    refuse_utf16,
)
from rankgauge.io.kinds import READABLE_KINDS, TableKind, describe_unknown, is_trec_line, kind_of
from rankgauge.io.scanning import Piece, scan_pieces
from rankgauge.native import trec as native
from rankgauge.native.scan import Lookup
from rankgauge.workers import processors

R = TypeVar("R")
Path = str | os.PathLike[str]

RUN_LINE = "topic Q0 document rank score tag"
QRELS_LINE = "topic iteration document grade"
SUBTOPICS_LINE = "topic subtopic document grade"
COMMENT = re.compile(rb"^#[^\n]*", re.MULTILINE)
COMMENT_IN_RUN = re.compile(rb"^[ \t\r\v\f]*#[^\n]*", re.MULTILINE)
"""A line that starts with #, in runs possibly after blanks, as in trec_eval 10. Its newline is
kept to preserve line numbers."""
SUBTOPICS_REMEDY = "; if the second column is a subtopic, read with subtopics=True (--subtopics)"
COLUMNS = {line: len(line.split()) for line in (RUN_LINE, QRELS_LINE, SUBTOPICS_LINE)}

FAULTS = {
    1: "too few columns",
    2: "too many columns",
    3: "not a number",
    4: "a NaN score",
    5: "a grade that is not a whole number",
    6: "a grade beyond 32 bits",
    7: "binary data",
    8: "a score beyond double precision",
    9: "a byte order mark",
}
"""The kinds of fault found by the tokenizer, numbered as in its enum."""

DUPLICATE = "a document repeated for the same {}"
"""The warning of lenient reading about a line that repeats an earlier document."""

WILDCARDS = "*?["
COMPRESSED_ENDINGS = (".gz", ".bz2", ".xz", ".zst")
RUN_ENDINGS = (
    *(".run", ".txt", ".trec", ".res", ".results", ".parquet"),
    *(".csv", ".tsv", ".json", ".jsonl", ".ndjson"),
)


def read_qrels(
    path: Path,
    *,
    subtopics: bool = False,
    lenient: bool = False,
    comments: bool = False,
    size_limit: int = SIZE_LIMIT,
    columns: AnyColumnNames | None = None,
) -> Judgments:
    """Read the judgments in a qrels file of TREC, or in a table: CSV, TSV, JSON, JSON Lines or Parquet.

    The format is recognized by the content of the file, not by its name.

    Parameters
    ----------
    path : str or os.PathLike
        The file; "-" is standard input.
    subtopics : bool, default False
        Take the second column as the subtopic that a document was judged for. A document may have
        several.
    lenient : bool, default False
        Drop faulty lines of a TREC file, and list them in `.dropped`, instead of raising InputError.
    comments : bool, default False
        Ignore lines of a TREC file that start with #.
    size_limit : int, default 8 GiB
        The largest size of the file in bytes, once decompressed.
    columns : dict of str to str, optional
        Names of the table's columns, or of the keys in JSON, where they are not standard:
        `{"grade": "stars"}`. The keys are "query", "document", "grade" and "subtopic". docs/INPUTS.md
        lists the standard names.

    Returns
    -------
    Judgments
        The judgments.

    Raises
    ------
    InputError
        If the file cannot be read, is too large, or has a faulty line. Also if a table lacks a column.
    RankgaugeError
        If `columns` has an unknown key.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "qrels.txt")
    ...     with open(path, "w") as file:
    ...         _ = file.write("q1 0 a 1\\nq1 0 b 0\\n")
    ...     judgments = read_qrels(path)
    >>> judgments.documents.texts(), judgments.grades.tolist()
    (['a', 'b'], [1, 0])

    A CSV file whose grades are in a column "stars":

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "ratings.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("user,item,stars\\nanna,42,5\\nanna,7,1\\n")
    ...     judgments = read_qrels(path, columns={"grade": "stars"})
    >>> judgments.documents.texts(), judgments.grades.tolist()
    (['42', '7'], [5, 1])
    """
    names = ColumnNames.of(columns)
    with open_content(path, limit=size_limit) as content:
        return _qrels(content, subtopics, lenient, comments, names)


def read_qrels_and_run(
    path: Path,
    *,
    subtopics: bool = False,
    lenient: bool = False,
    size_limit: int = SIZE_LIMIT,
    columns: ColumnNames = USUAL_NAMES,
) -> tuple[Judgments, Run | None]:
    """The judgments in a file, and its run if it is a JSON file that has both for each query.

    The run is named after the file.

    Parameters
    ----------
    path, subtopics, lenient, size_limit, columns : as in `read_qrels`.
    """
    with open_content(path, limit=size_limit) as content:
        judgments = _qrels(content, subtopics, lenient, False, columns)
        kind = kind_of(content, columns)
        if kind is None or kind.form != "json":
            return judgments, None
        from rankgauge.io.json_files import run_beside_judgments

        return judgments, run_beside_judgments(content, run_name(path), columns)


def _qrels(
    content: Content, subtopics: bool, lenient: bool, comments: bool, columns: ColumnNames
) -> Judgments:
    """The judgments in the content of a file."""
    kind = kind_of(content, columns)
    if kind is not None:
        from rankgauge.io.table_files import qrels_table

        if subtopics and columns.subtopic is None:
            columns = replace(columns, subtopic="subtopic")
        return qrels_table(content, kind, columns)
    expected = SUBTOPICS_LINE if subtopics else QRELS_LINE
    rows = _read_rows(content, expected, lenient, comments)
    grades = rows.values.astype(np.int32)
    ids, more = (rows.queries, rows.bounds, rows.documents), (content.source, rows.dropped)
    if rows.subtopics is not None:
        return Judgments.from_rows(*ids, rows.subtopics, grades, *more)
    return Judgments(*ids, grades, *more)


def read_run(
    path: Path,
    *,
    name: str | None = None,
    lenient: bool = False,
    comments: bool = False,
    more_columns: bool = False,
    size_limit: int = SIZE_LIMIT,
    columns: AnyColumnNames | None = None,
) -> Run:
    """Read the run in a TREC run file, or in a table: CSV, TSV, JSON, JSON Lines or Parquet.

    The format is recognized by the content of the file, not by its name. Documents are ordered by
    score; the rank column of a TREC file is ignored. A table without scores is ordered by its ranks.

    Parameters
    ----------
    path : str or os.PathLike
        The file; "-" is standard input.
    name : str, optional
        The name of the run. By default, the name of the file without its ending.
    lenient : bool, default False
        Drop faulty lines of a TREC file, and list them in `.dropped`, instead of raising InputError.
    comments : bool, default False
        Ignore lines of a TREC file that start with #.
    more_columns : bool, default False
        Ignore extra fields after the tag in a TREC file.
    size_limit : int, default 8 GiB
        The largest size of the file in bytes, once decompressed.
    columns : dict of str to str, optional
        Names of the table's columns, or of the keys in JSON, where they are not standard:
        `{"score": "cosine"}`. The keys are "query", "document" and "score". docs/INPUTS.md lists the
        standard names.

    Returns
    -------
    Run
        The run.

    Raises
    ------
    InputError
        If the file cannot be read, is too large, or has a faulty line. Also if a table lacks a column.
    RankgaugeError
        If `columns` has an unknown key.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "bm25.run")
    ...     with open(path, "w") as file:
    ...         _ = file.write("q1 Q0 a 1 2.5 tag\\nq1 Q0 b 2 1.5 tag\\n")
    ...     run = read_run(path)
    >>> run.name, run.documents.texts(), run.scores.tolist()
    ('bm25', ['a', 'b'], [2.5, 1.5])

    A CSV file whose scores are in a column "cosine":

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "dense.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("query_id,doc_id,cosine\\nq1,b,0.9\\nq1,a,0.4\\n")
    ...     run = read_run(path, columns={"score": "cosine"})
    >>> run.name, run.documents.texts(), run.scores.tolist()
    ('dense', ['b', 'a'], [0.9, 0.4])
    """
    file = RunFile(path, name, lenient, size_limit, ColumnNames.of(columns))
    with file.open() as content:
        return file.run_from_content(content, comments=comments, more_columns=more_columns)


class RunFile(Value):
    """A run that is still in its file. Evaluation reads it, many files at once, and keeps no ids."""

    path: Path
    name: str | None = None
    lenient: bool = False
    size_limit: int = SIZE_LIMIT
    columns: ColumnNames = USUAL_NAMES

    @property
    def label(self) -> str:
        """The name of the run."""
        return run_name(self.path) if self.name is None else self.name

    def paths(self) -> list[str]:
        """The file, in a list."""
        return [os.fspath(self.path)]

    def __call__(self) -> Run:
        """The run, as `read_run` gives it."""
        with self.open() as content:
            return self.run_from_content(content)

    def open(self) -> Content:
        """The content of the file."""
        return open_content(self.path, limit=self.size_limit)

    def run_from_content(
        self, content: Content, *, comments: bool = False, more_columns: bool = False
    ) -> Run:
        """The run in the content of the file."""
        kind = kind_of(content, self.columns)
        if kind is not None:
            return self._run_from_table(content, kind)
        return self._run_from_rows(
            _read_rows(content, RUN_LINE, self.lenient, comments, more_columns), content
        )

    def _run_from_table(self, content: Content, kind: TableKind) -> Run:
        from rankgauge.io.table_files import run_table

        return run_table(content, kind, self.label, self.columns)

    def _run_from_rows(self, rows: _Rows, content: Content) -> Run:
        return Run(
            self.label,
            rows.queries,
            rows.bounds,
            rows.documents,
            rows.values,
            rows.tag,
            content.source,
            rows.dropped,
        )

    def scan(
        self, content: Content, each: Callable[[Piece], R], judged: Lookup, threads: int
    ) -> list[R] | Run:
        """The results of `each` for the pieces of a plain file, or the run if the file is not plain.

        `content` is what `opened` gives.
        """
        kind = kind_of(content, self.columns)
        if kind is not None:
            return self._run_from_table(content, kind)
        done = scan_pieces(content, COLUMNS[RUN_LINE], each, judged=judged, threads=threads)
        if done is not None:
            return done
        return self._run_from_rows(_read_with_care(content, RUN_LINE, self.lenient), content)

    def line_of(self, topic: bytes, document: bytes) -> int | None:
        """The first line that has this document for this query; None for a file that is no TREC file."""
        with self.open() as content:
            if kind_of(content, self.columns) is not None:
                return None
            text = text_of(content.whole(), content.source)
        places, _, _ = native.tokenize(text, COLUMNS[RUN_LINE], False, True, False)
        numbers, topics = number_queries(text, places[0], places[1])
        wanted = [number for number, raw in enumerate(topics) if raw == topic]
        rows = np.flatnonzero(np.isin(numbers, wanted))
        starts, lengths = places[4:6, rows]
        for start, raw in zip(starts, Ids.from_text(text, starts, lengths), strict=True):
            if raw == document:
                return line_number(text, start)
        return None


def run_files(
    paths: Iterable[Path],
    *,
    lenient: bool = False,
    size_limit: int = SIZE_LIMIT,
    columns: ColumnNames = USUAL_NAMES,
) -> list[RunFile]:
    """The runs of these files, folders (all their files) and patterns (`runs/*`).

    Hidden files, pipes and devices in a folder are passed over. A run is named after its file; if two
    files have the same name, by the whole path. InputError if there is no such file, or if a file is
    given twice.
    """
    files = [file for path in paths for file in _files(path)]
    return [
        RunFile(file, name, lenient, size_limit, columns)
        for file, name in zip(files, distinct_names(files, run_name), strict=True)
    ]


def distinct_names(paths: Sequence[str], name: Callable[[str], str]) -> list[str]:
    """Return the names of the runs at these paths, all of them different.

    A name is by the function, or the whole path if two runs would have the same name. InputError if a
    path is given twice.
    """
    twice, count = Counter(paths).most_common(1)[0] if paths else ("", 0)
    if count > 1:
        raise InputError(display_name(twice), None, "the same file is given twice")
    count_of = Counter(map(name, paths))
    return [name(path) if count_of[name(path)] == 1 else path for path in paths]


def _files(path: Path) -> list[str]:
    """The files that a path, or a pattern, stands for."""
    name = os.fspath(path)
    if not stands_for_several(name):
        return [name]
    files = [file for file in files_inside(name) if _may_be_run(file)]
    fault = "no such files, expected a pattern that matches at least one"
    if os.path.isdir(name):
        files = [file for file in files if not os.path.basename(file).startswith(".")]
        fault = "an empty folder, expected one that contains runs"
    if not files:
        raise InputError(name, None, fault)
    return files


def stands_for_several(path: str) -> bool:
    """Whether this is a folder or a pattern."""
    return os.path.isdir(path) or (not os.path.lexists(path) and bool(set(path) & set(WILDCARDS)))


def files_inside(path: str) -> list[str]:
    """All that a folder has in it, or that matches a pattern, in the order of names."""
    if os.path.isdir(path):
        try:
            return [os.path.join(path, name) for name in sorted(os.listdir(path))]
        except OSError as error:
            raise read_error(path, error) from None
    import glob

    return sorted(glob.glob(path))


def _may_be_run(file: str) -> bool:
    """Test whether a file in a folder is read.

    Pipes, sockets and devices may never end, so they are read only if they are named. A file that cannot
    be looked at is read, so that an error says it is unreadable.
    """
    try:
        return stat.S_ISREG(os.stat(file).st_mode)
    except OSError:
        return True


def run_name(path: Path) -> str:
    """The file's name without folder and without the endings of runs.

    >>> run_name("runs/bm25.run.gz")
    'bm25'
    """
    if os.fspath(path) == STANDARD_INPUT:
        return "stdin"
    name = os.path.basename(os.path.normpath(path))
    for endings in (COMPRESSED_ENDINGS, RUN_ENDINGS):
        stem, dot, ending = name.rpartition(".")
        if stem and dot + ending in endings:
            name = stem
    return name


def write_run(run: Run | Mapping[str, Mapping[str, float]], path: Path) -> None:
    """Write a run as a TREC run file, best first and in full precision.

    The file appears only when it is complete. It is compressed if its name ends with .gz, .bz2, .xz or
    .zst.

    Parameters
    ----------
    run : Run or dict
        The run, or `{query: {document: score}}`.
    path : str or os.PathLike
        The file to write.

    Raises
    ------
    InputError
        If the file cannot hold an id, such as one with blanks, or cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "bm25.run")
    ...     write_run({"q1": {"a": 1.5, "b": 2.5}}, path)
    ...     with open(path) as file:
    ...         print(file.read(), end="")
    q1 Q0 b 1 2.5 run
    q1 Q0 a 2 1.5 run
    """
    run = run if isinstance(run, Run) else Run.from_dict(run)
    lines = run_lines(run, path)
    with atomic_write(path) as stream:
        stream.writelines(lines)


def run_lines(run: Run, path: Path) -> Iterator[bytes]:
    """Return the lines of a TREC run file, best first and in full precision.

    InputError, which names `path`, if such a file cannot hold an id.
    """
    tag = b"_".join(encode(run.tag or run.name).replace(b"\0", b" ").split()) or b"run"
    documents = _check_documents(run, path)

    def lines() -> Iterator[bytes]:
        for query, start, end in _segments(run):
            rows = start + np.argsort(-run.scores[start:end], kind="stable")
            for rank, row in enumerate(rows.tolist(), 1):
                score = repr(float(run.scores[row])).encode()
                yield b"%b Q0 %b %d %b %b\n" % (query, documents[row], rank, score, tag)

    return lines()


def write_qrels(judgments: Judgments | Mapping[str, Mapping[str, int]], path: Path) -> None:
    """Write judgments as a qrels file of TREC.

    Judgments with subtopics have a line for each subtopic of a document. The file appears only when it
    is complete. It is compressed if its name ends with .gz, .bz2, .xz or .zst.

    Parameters
    ----------
    judgments : Judgments or dict
        The judgments, or `{query: {document: grade}}`.
    path : str or os.PathLike
        The file to write.

    Raises
    ------
    InputError
        If the file cannot hold an id, such as one with blanks, or cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "qrels.txt")
    ...     write_qrels({"q1": {"a": 1, "b": 0}}, path)
    ...     with open(path) as file:
    ...         print(file.read(), end="")
    q1 0 a 1
    q1 0 b 0
    """
    if not isinstance(judgments, Judgments):
        judgments = Judgments.from_dict(judgments)
    documents = _check_documents(judgments, path)
    with atomic_write(path) as stream:
        for query, start, end in _segments(judgments):
            for row in range(start, end):
                for second, grade in _grades(judgments, row):
                    stream.write(b"%b %b %b %d\n" % (query, second, documents[row], grade))


def _grades(judgments: Judgments, row: int) -> list[tuple[bytes, int]]:
    """The second column and the grade of each line for a document."""
    aspects = judgments.subtopics
    if aspects is None:
        return [(b"0", int(judgments.grades[row]))]
    entries = slice(aspects.offsets[row], aspects.offsets[row + 1])
    numbers, grades = aspects.numbers[entries].tolist(), aspects.grades[entries].tolist()
    return [(aspects.names[n], grade) for n, grade in zip(numbers, grades, strict=True)]


def _check_documents(data: Run | Judgments, path: Path) -> list[bytes]:
    """The documents, after making sure that the file will be read back as it was meant."""
    documents, queries = list(data.documents), list(data.queries)
    aspects = data.subtopics if isinstance(data, Judgments) else None
    for raw in [*queries, *documents, *(() if aspects is None else aspects.names)]:
        if raw.split() != [raw] or b"\0" in raw:
            message = f"cannot contain the id {decode(raw)!r}, expected one without blanks"
            raise InputError(display_name(path), None, message)
    for raw in queries:
        if raw.startswith(UTF8_MARK):
            message = f"the query {decode(raw)!r} begins with a byte order mark, expected none"
            raise InputError(display_name(path), None, message)
    first = queries[0] if queries else b""
    if first.startswith(UTF16_MARKS) or detect_compression(first + b" "):
        message = (
            f"the first query is {decode(first)!r}; a file that begins with these bytes looks like "
            "another format and could not be read back; expected another query first"
        )
        raise InputError(display_name(path), None, message)
    return documents


def _segments(data: Run | Judgments) -> list[tuple[bytes, int, int]]:
    bounds = data.bounds.tolist()
    return list(zip(data.queries, bounds, bounds[1:], strict=False))


class _Rows(Record):
    """The rows of a file, those of one query together."""

    queries: Ids
    bounds: Ints
    documents: Ids
    values: Floats
    tag: str
    subtopics: Ids | None = None
    dropped: tuple[Note, ...] = ()


def _read_rows(
    content: Content, expected: str, lenient: bool, comments: bool, more_columns: bool = False
) -> _Rows:
    """The rows of a file: fast where it is plain, else with care."""
    if not comments and expected is not SUBTOPICS_LINE:
        parts = scan_pieces(content, COLUMNS[expected], _copy_rows, threads=processors())
        if parts is not None:
            return _join_rows(parts)
    return _read_with_care(content, expected, lenient, comments, more_columns)


def _copy_rows(piece: Piece) -> _Rows:
    """The rows of a piece, to stay."""
    topics, documents = piece.queries.ids(), piece.documents.ids()
    return _Rows(topics, piece.bounds, documents, piece.scores.copy(), decode(piece.tag))


def _join_rows(parts: Sequence[_Rows]) -> _Rows:
    """The rows of a file from those of its pieces."""
    sizes = np.concatenate([np.diff(part.bounds) for part in parts])
    return _Rows(
        Ids.joined([part.queries for part in parts]),
        offsets_of(sizes),
        Ids.joined([part.documents for part in parts]),
        np.concatenate([part.values for part in parts]),
        parts[-1].tag,
    )


def _read_with_care(
    content: Content,
    expected: str,
    lenient: bool = False,
    comments: bool = False,
    more_columns: bool = False,
) -> _Rows:
    """The rows of any file; a fault is named by its line, or dropped and counted."""
    source, columns = content.source, COLUMNS[expected]
    text = text_of(content.whole(), source)
    if comments:
        comment = COMMENT_IN_RUN if expected is RUN_LINE else COMMENT
        text = np.frombuffer(comment.sub(b"", text.tobytes()), dtype=np.uint8)
    places, values, faults = native.tokenize(text, columns, columns == 4, lenient, more_columns)
    if faults and not lenient:
        kind, (_, position) = min(faults.items(), key=lambda item: item[1][1])
        raise _fault(text, content, kind, position, expected)
    if values.size == 0 and not lenient:
        raise NoRows(source, None, f"no lines, expected `{expected}`")
    numbers, topics = number_queries(text, places[0], places[1])
    dropped = [
        dropped_lines_note(FAULTS[kind], count, line_number(text, position))
        for kind, (count, position) in faults.items()
    ]
    tag = b""
    if values.size:
        tag = text[places[6, -1] : places[6, -1] + places[7, -1]].tobytes()
    if np.any(numbers[1:] < numbers[:-1]):
        order = np.argsort(numbers, kind="stable")
        numbers, values, places = numbers[order], values[order], places[:, order]
    starts = places[4]
    documents = Ids.from_text(text, starts, places[5])
    bounds = offsets_of(np.bincount(numbers, minlength=len(topics)))
    repeated, same = documents.repeats(bounds), "query"
    subtopics = None
    if expected is SUBTOPICS_LINE:
        subtopics = Ids.from_text(text, places[2], places[3])
        repeated, same = repeated_pairs(documents, subtopics, bounds), "query and subtopic"
    again = np.flatnonzero(repeated >= 0)
    if again.size:
        first = again[np.argmin(starts[again])]
        if not lenient:
            line, earlier = line_number(text, starts[first]), repeated[first]
            message = (
                f"document {decode(documents[first])!r} repeated for query "
                f"{decode(topics[numbers[first]])!r} (first at line "
                f"{line_number(text, starts[earlier])}), expected each document once per {same}"
            )
            second = Ids.from_text(text, *places[2:4, [first, earlier]])
            if expected is QRELS_LINE and len(set(second)) == 2:
                message += SUBTOPICS_REMEDY
            raise DuplicateError(source, line, message)
        place = line_number(text, starts[first])
        dropped.append(dropped_lines_note(DUPLICATE.format(same), again.size, place))
        kept = np.flatnonzero(repeated < 0)
        documents, values, numbers = documents.take(kept), values[kept], numbers[kept]
        subtopics = None if subtopics is None else subtopics.take(kept)
        bounds = offsets_of(np.bincount(numbers, minlength=len(topics)))
    return _Rows(topics, bounds, documents, values, decode(tag), subtopics, tuple(dropped))


def dropped_lines_note(fault: str, count: int, first: int) -> Note:
    """The note that lenient reading left out lines with this fault, and where the first one is."""
    return Note(f"{{lines}} dropped: {fault}", count=count, detail=f"first at line {first}")


def text_of(raw: bytes, source: str) -> NDArray[np.uint8]:
    """The bytes to tokenize, without a byte-order mark."""
    refuse_utf16(raw, source)
    start = len(UTF8_MARK) if raw.startswith(UTF8_MARK) else 0
    return np.frombuffer(raw, dtype=np.uint8)[start:]


def number_queries(text: NDArray[np.uint8], starts: Ints, lengths: Ints) -> tuple[Ints, Ids]:
    """For each row the number of its query, by first appearance, and the queries."""
    starts, lengths = np.ascontiguousarray(starts), np.ascontiguousarray(lengths)
    changes = native.starts_of_topics(text, starts, lengths)
    blocks = Ids.from_text(text, starts[changes], lengths[changes])
    numbers, firsts = blocks.factorize()
    rows_of_block = np.diff(np.append(changes, len(starts)))
    return np.repeat(numbers, rows_of_block), blocks.take(firsts)


def line_number(text: NDArray[np.uint8], position: int) -> int:
    """Return the number, from 1, of the line that a position in the text is on."""
    return int(np.count_nonzero(text[:position] == ord("\n"))) + 1


def _fault(
    text: NDArray[np.uint8], content: Content, kind: int, position: int, expected: str
) -> InputError:
    """The error for a faulty line, which starts at this position."""
    end = np.flatnonzero(text[position:] == ord("\n"))[:1]
    line = text[position : position + int(end[0]) if end.size else None].tobytes()
    columns = line.split()
    place = 4 if expected is RUN_LINE else 3
    number = shorten(decode(columns[place])) if len(columns) > place else ""
    wanted = len(expected.split())
    looks = {4: "qrels", 6: "run"}.get(len(columns))
    hint = f" (this looks like a {looks} file)" if looks else ""
    message = {
        1: f"{count_phrase(len(columns), 'column')}, expected {wanted}: `{expected}`" + hint,
        2: f"{count_phrase(len(columns), 'column')}, expected {wanted}: `{expected}`" + hint,
        3: f"{number!r} is not a number, expected `{expected}`",
        4: "the score is NaN, expected a number",
        5: f"grade {number!r}, expected a whole number",
        6: f"grade {number!r}, expected a whole number of at most 32 bits",
        7: f"binary data, expected text: `{expected}`",
        8: f"the score {number!r} is beyond double precision, expected a smaller number",
        9: MISPLACED_MARK_MESSAGE,
    }[kind]
    if kind in (1, 2, 7) and _may_be_no_trec_file(text, position):
        other = describe_unknown(content)
        if other and len(columns) == 1:
            message = other
        else:
            message += f"; the file {other}" if other else f"; supported: {READABLE_KINDS}"
    return InputError(content.source, line_number(text, position), message)


def _may_be_no_trec_file(text: NDArray[np.uint8], position: int) -> bool:
    """Whether a fault is in the first line, and the next one is no line of TREC either."""
    if text[:position].tobytes().strip():
        return False
    lines = text[position : position + HEAD].tobytes().split(b"\n", 2)
    return len(lines) < 2 or not is_trec_line(lines[1])
