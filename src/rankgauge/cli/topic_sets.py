"""Sets of queries and other collections, which `rankgauge assess` compares."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click

from rankgauge import query_sets
from rankgauge.cli.output import notify
from rankgauge.cli.scoring import SourceScores, read_scores_file, split_named_file
from rankgauge.comparison.assessed import ALL
from rankgauge.core.notes import Note, count_phrase
from rankgauge.core.policies import SET_SHARE
from rankgauge.data.model import decode
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.io.files import UTF8_MARK, display_name, read_bytes
from rankgauge.measures.elsewhere import GivenScores
from rankgauge.query_sets import QuerySet
from rankgauge.scores.model import Scores

T = TypeVar("T")

FEWEST_QUERIES = 2
BY_SCORES = ("ideal", "uninformative", "hard", "easy", "informative")
BY_JUDGMENTS = ("broad", "focused")


def set_names(text: str, inputs: Sequence[str]) -> list[str]:
    """The sets that --sets asks for, without the set of all queries."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in (ALL, *BY_SCORES, *BY_JUDGMENTS):
            known = ", ".join((ALL, *BY_SCORES, *BY_JUDGMENTS))
            raise click.UsageError(f"--sets {name}: no such set, expected some of: {known}")
    made = [name for name in dict.fromkeys(names) if name != ALL]
    if made and not inputs:
        raise click.UsageError(
            f"--sets {made[0]} needs QRELS and runs; with --scores, use --set FILE"
        )
    return made


def set_size(share: float | None, number: int | None, names: Sequence[str]) -> dict[str, float]:
    """How many queries are ideal, and how many uninformative, as `query_sets` takes it."""
    if share is not None and number is not None:
        raise click.UsageError("--set-share and --set-number cannot be used together; choose one")
    if (share, number) != (None, None) and not set(names) & set(BY_SCORES[:-1]):
        raise click.UsageError(
            "--set-share and --set-number need --sets ideal, uninformative, hard or easy"
        )
    if number is not None:
        return {"number": number}
    return {"share": SET_SHARE if share is None else share}


def collect_query_sets(
    read: SourceScores, names: Sequence[str], size: dict[str, float], files: Sequence[str]
) -> dict[str, Sequence[str]]:
    """The sets of --sets and the sets in the files of --set.

    Parameters
    ----------
    read: the scores that are assessed, and the judgments to choose queries by.
    names: the names of the sets of --sets.
    size: how large ideal and uninformative are, as `set_size` gives it.
    files: the files of --set.
    """
    made = _make_sets(read, names, size)
    queries = read.scores.queries
    return _add_files(made, "--set", files, lambda file: read_set(file, queries, "scores"))


def other_collections(files: Sequence[str], scores: Scores) -> dict[str, Scores]:
    """The scores of the same runs on other collections, in the files of --other."""
    return _add_files({}, "--other", files, lambda file: _read_other(file, scores))


def _make_sets(
    read: SourceScores, names: Sequence[str], size: dict[str, float]
) -> dict[str, Sequence[str]]:
    """The sets of these names; a note on each goes to standard error."""
    made: dict[str, Sequence[str]] = {}
    if read.judgments is None:
        return made
    by = read.before.select(measures=read.before.measures[:1])
    for name in names:
        make: Any = getattr(query_sets, name)
        if name in BY_JUDGMENTS:
            chosen: QuerySet = make(read.judgments)
        else:
            chosen = make(by, read.judgments, **({} if name == "informative" else size))
        text = _describe_set(name, chosen) + (
            "" if name in BY_JUDGMENTS else f"; by {by.measures[0]}"
        )
        if len(chosen) < FEWEST_QUERIES:
            notify(
                [
                    Note(
                        f"{text}; the set is skipped, because it needs at least {FEWEST_QUERIES} "
                        "queries"
                    )
                ]
            )
        else:
            notify([Note(text)])
            made[name] = chosen.queries
    return made


def _describe_set(name: str, chosen: QuerySet) -> str:
    left_out = ", ".join(f"{left.queries:,} with {left.reason}" for left in chosen.left_out)
    text = f"set {name}: {count_phrase(len(chosen), 'query')}"
    return f"{text}; excluded: {left_out}" if left_out else text


def _split_titled_file(text: str) -> tuple[str, str]:
    """The name and the file in `[NAME=]FILE`; the default name is that of the file."""
    name, file = split_named_file(text)
    return name or os.path.basename(file).partition(".")[0] or file, file


def _add_files(
    parts: dict[str, T], option: str, texts: Sequence[str], read: Callable[[str], T]
) -> dict[str, T]:
    """These parts, and the parts in the files that an option names; all names must differ."""
    parts = dict(parts)
    for text in texts:
        name, file = _split_titled_file(text)
        part = read(file)
        if name in (ALL, *parts):
            raise click.UsageError(
                f"{option} {name}: another set already has this name, expected a different one"
            )
        parts[name] = part
    return parts


def read_set(file: str, queries: Iterable[str], have: str) -> list[str]:
    """Read the queries in a file, one id per line, each returned once.

    All must be among `queries`, the queries that have something such as scores. `have` is the word
    for it in the error message.
    """
    known = set(queries)
    chosen: dict[str, None] = {}
    raw = read_bytes(file).removeprefix(UTF8_MARK)
    for number, line in enumerate(raw.splitlines(), start=1):
        topic = decode(line.strip())
        if topic and topic not in known:
            message = f"no {have} for query {topic[:40]!r}, expected a query that has {have}"
            raise InputError(display_name(file), number, message)
        if topic:
            chosen[topic] = None
    if not chosen:
        raise InputError(display_name(file), None, "is empty, expected one query id per line")
    return list(chosen)


def _read_other(file: str, scores: Scores) -> Scores:
    """Read a file of scores, and select the runs and measures of `scores`.

    If the table in the file names no measure, the measure is taken to be the only measure of
    `scores`.
    """
    other = read_scores_file(None, file)
    if len(scores.measures) == 1 and isinstance(other.measures[0], GivenScores):
        other = replace(other, measures=scores.measures)
    try:
        return other.select(runs=scores.runs, measures=scores.measures)
    except RankgaugeError as error:
        message = f"{error}; expected the same runs and measures"
        raise InputError(display_name(file), None, message) from None
