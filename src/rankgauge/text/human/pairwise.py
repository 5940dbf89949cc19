"""Preferences of people: which of two outputs for a text is better, by annotator."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.data.model import freeze
from rankgauge.errors import InputError
from rankgauge.io.files import SIZE_LIMIT
from rankgauge.io.rows import (
    FileRows,
    RowLocation,
    check_distinct_keys,
    format_names,
    identifier,
    read_rows,
)
from rankgauge.io.trec import Path
from rankgauge.scores.validation import shorten
from rankgauge.text.data.files import ID, SUMMARIES, annotator, known_rows
from rankgauge.text.data.texts import Texts

A, B, WINNER, TIE = "a", "b", "winner", "tie"
REQUIRED_KEYS = (ID, A, B, WINNER)
EXPECTED = (
    "expected CSV with the columns id, a, b, winner and, if several people judged, annotator, or JSON "
    'Lines such as {"id": "1", "a": "bart", "b": "t5", "winner": "t5"}; a and b are systems, and winner '
    f"is one of the two, or {TIE}"
)


class PairwisePreferences(Result, Record):
    """Votes on pairs of outputs: which of two systems is better on a text.

    Parameters
    ----------
    systems, texts : tuple of str
        The names of the systems and the ids of the texts.
    a, b, text : ndarray of int
        For each pair, the positions of its two systems in `systems` and of its text in `texts`.
    votes : ndarray of int
        3 × pair: the numbers of votes for the second output, for neither, and for the first.
    annotators : tuple of str, optional
        The names of the annotators, as far as they are known.
    notes : tuple of Note, optional
        Notes on the votes.

    Examples
    --------
    Two of three people prefer bart on the only text:

    >>> import numpy as np
    >>> from rankgauge.text import PairwisePreferences
    >>> first, second, text = np.array([0]), np.array([1]), np.array([0])
    >>> people = PairwisePreferences(
    ...     ("bart", "t5"), ("1",), first, second, text, votes=np.array([[0], [1], [2]])
    ... )
    >>> people.preferred.tolist()
    [1.0]
    """

    systems: tuple[str, ...]
    texts: tuple[str, ...]
    a: Ints
    b: Ints
    text: Ints
    votes: Ints
    annotators: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()

    def __post_init__(self) -> None:
        freeze(self, "a", "b", "text", "votes")

    @property
    def preferred(self) -> Floats:
        """For each pair, 1 if people prefer the first output, −1 for the second, 0 for neither."""
        return majority(self.votes)

    def table(self) -> Table:
        """One row per pair of systems: on how many texts people judged it, and whom they prefer."""
        rows: list[tuple[Cell, ...]] = []
        preferred = self.preferred
        for a, b in dict.fromkeys(zip(self.a.tolist(), self.b.tolist(), strict=True)):
            own = preferred[(self.a == a) & (self.b == b)]
            counts = [int(np.count_nonzero(own == place)) for place in (1, -1, 0)]
            rows.append((self.systems[a], self.systems[b], len(own), *counts))
        columns = (A, B, "texts", "a_preferred", "b_preferred", TIE)
        return Table(columns, tuple(rows), note_texts(self.notes))

    def _title(self) -> str:
        texts = count_phrase(len(self.texts), "text")
        return f"PairwisePreferences: {count_phrase(len(self.text), 'pair')} of outputs, {texts}"


def majority(votes: Ints) -> Floats:
    """Return the answer with the most votes for each column of 3 × pair.

    The rows are the votes for the second, for neither and for the first. The answer is −1, 0 or 1
    in the same order. If no answer has the most votes alone, it is a tie: 0.

    >>> majority(np.array([[0, 1, 1], [0, 0, 1], [2, 1, 0]])).tolist()
    [1.0, 0.0, 0.0]
    """
    alone = (votes == votes.max(axis=0)).sum(axis=0) == 1
    return np.where(alone, np.argmax(votes, axis=0) - 1.0, 0.0)


class _Vote(NamedTuple):
    """One vote, with the two systems in alphabetical order: 1 for the first, −1 for the second."""

    text: str
    a: str
    b: str
    annotator: str | None
    winner: int
    where: RowLocation


def read_preferences(
    path: Path, texts: Texts | None = None, *, size_limit: int = SIZE_LIMIT
) -> PairwisePreferences:
    r"""Read preferences from a CSV or JSON Lines file with one row per vote.

    A row has the `id` of the text, the systems `a` and `b`, and the `winner`: the name of one of
    the two, or "tie". The winner may also be "a" or "b", unless a system has that name. The column
    `annotator` is optional. The votes on a pair are added up, in whichever order the systems are
    given.

    Parameters
    ----------
    path : str or os.PathLike
        The file, which may be compressed; "-" is standard input.
    texts : Texts, optional
        Keep only votes on these texts and systems. A note gives the number of other votes.
    size_limit : int, default 8 GiB
        The largest size of the file in bytes, once decompressed.

    Returns
    -------
    PairwisePreferences
        The votes on each pair.

    Raises
    ------
    InputError
        If the file has another format, if none of its preferences count, or if an annotator
        contradicts themselves. The error names the line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from rankgauge.text import read_preferences
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "votes.csv")
    ...     _ = path.write_text("id,a,b,winner\n1,bart,t5,t5\n2,t5,bart,tie\n")
    ...     people = read_preferences(path)
    >>> people.systems, people.preferred.tolist()
    (('bart', 't5'), [-1.0, 0.0])
    """
    rows = read_rows(path, EXPECTED, REQUIRED_KEYS, size_limit=size_limit, key_by_id=SUMMARIES)
    if rows.by_id:
        raise InputError(
            rows.source, None, (f"the file has texts and ratings, but no preferences, {EXPECTED}")
        )
    kept, left_out = known_rows(_votes(rows), texts, lambda vote: (vote.text, {vote.a, vote.b}))
    if not kept:
        total = sum(left_out.values())
        why = "no preferences" if not total else (
            f"{count_phrase(total, 'preference')}, but none is about these texts and systems "
            f"({left_out['text']:,} about other texts, {left_out['system']:,} about other "
            "systems)"
        )  # fmt: skip
        raise InputError(rows.source, None, f"{why}, {EXPECTED}")
    notes = [
        Note(f"preferences about unknown {thing}s, ignored: {{count}}", count=count)
        for thing, count in left_out.items()
        if count
    ]
    return _count_votes(kept, notes)


def _votes(rows: FileRows) -> Iterator[_Vote]:
    for cells, where in rows.rows:
        if rows.columns is None:
            check_distinct_keys(cells, where)
        for key in REQUIRED_KEYS:
            if key not in cells:
                raise where.error(
                    f"no {key!r} (the keys are {format_names(list(cells))}), {EXPECTED}"
                )
        a, b = (identifier(f"system {key}", cells[key], where) for key in (A, B))
        if a == b:
            raise where.error(f"a and b are both {shorten(a)}, expected two systems")
        for name in (a, b):
            if name.lower() == TIE:
                raise where.error(
                    f"a system is called {shorten(name)}, which stands for no winner; rename "
                    "the system"
                )
        winner = _winner(cells[WINNER], a, b, where)
        first, second = sorted((a, b))
        yield _Vote(
            identifier(ID, cells[ID], where),
            first,
            second,
            annotator(cells, where),
            winner if first == a else -winner,
            where,
        )


def _winner(cell: object, a: str, b: str, where: RowLocation) -> int:
    """1 if a wins, −1 if b does, 0 for a tie."""
    name = identifier(WINNER, cell, where)
    if name in (a, b):
        return 1 if name == a else -1
    signs = {TIE: 0, A: 1, B: -1}
    if (key := name.lower()) not in signs or (key != TIE and {a.lower(), b.lower()} & {A, B}):
        raise where.error(
            f"the winner is {shorten(name)}, expected {shorten(a)}, {shorten(b)} or {TIE}"
        )
    return signs[key]


def _count_votes(kept: list[_Vote], notes: list[Note]) -> PairwisePreferences:
    """The votes of each pair.

    What an annotator says twice counts once; InputError if they say different things.
    """
    seen: dict[tuple[str, str, str, str], _Vote] = {}
    votes: dict[tuple[str, str, str], list[int]] = {}
    again = 0
    for vote in kept:
        if vote.annotator is not None:
            first = seen.setdefault((vote.text, vote.a, vote.b, vote.annotator), vote)
            if first.winner != vote.winner:
                raise vote.where.error(
                    f"{shorten(vote.annotator)} compares {shorten(vote.a)} and "
                    f"{shorten(vote.b)} for the text {shorten(vote.text)} again, with another "
                    f"winner{first.where.first_line_hint()}, expected one vote"
                )
            if first is not vote:
                again += 1
                continue
        votes.setdefault((vote.text, vote.a, vote.b), [0, 0, 0])[vote.winner + 1] += 1
    if again:
        notes.append(
            Note("duplicate preferences of the same person, counted once: {count}", count=again)
        )
    systems = {name: n for n, name in enumerate(dict.fromkeys(s for _, *two in votes for s in two))}
    ids = {name: n for n, name in enumerate(dict.fromkeys(text for text, _, _ in votes))}
    return PairwisePreferences(
        tuple(systems),
        tuple(ids),
        np.array([systems[a] for _, a, _ in votes], dtype=np.int64),
        np.array([systems[b] for _, _, b in votes], dtype=np.int64),
        np.array([ids[text] for text, _, _ in votes], dtype=np.int64),
        np.array(list(votes.values()), dtype=np.int64).T,
        tuple(dict.fromkeys(vote.annotator for vote in kept if vote.annotator is not None)),
        tuple(notes),
    )
