"""Notes about numbers. They stay structured, and become text only at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from rankgauge.core.records import Record, Value

MAX_SIMILAR_NOTES = 5
"""Up to so many runs, each has its own line of a note of one kind; of more, only the first."""


WARNING = "warning"
"""The severity of a note that says: these numbers may mean nothing."""


WARNING_PREFIX = f"{WARNING.upper()}: "
"""What the text of a warning begins with."""


def count_phrase(count: int, thing: str, things: str | None = None) -> str:
    """A count with its noun in the singular or plural.

    Parameters
    ----------
    count : int
        The count.
    thing : str
        The noun in the singular.
    things : str, optional
        The plural. By default the noun with an s, or with -ies in place of a final y.

    Returns
    -------
    str
        The phrase, with commas in large numbers.

    Examples
    --------
    >>> from rankgauge.extending import count_phrase
    >>> count_phrase(1, "query"), count_phrase(1200, "query", "queries")
    ('1 query', '1,200 queries')
    """
    return f"{count:,} {thing if count == 1 else things or plural(thing)}"


def plural(thing: str) -> str:
    """The noun with an s, or with -ies in place of a final y."""
    return thing[:-1] + "ies" if thing.endswith("y") else thing + "s"


def shorten(text: str, longest: int = 40) -> str:
    """A text as messages show it: only its beginning if it is long."""
    return text if len(text) <= longest else f"{text[:longest]}…"


def short_repr(value: object, longest: int = 60) -> str:
    """A value of any kind as messages show it."""
    try:
        return shorten(repr(value), longest)
    except ValueError:  # a number of more digits than Python writes
        return f"a very long {type(value).__name__}"


def format_first_names(names: Sequence[str], most: int) -> str:
    """The first names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


class Note(Value):
    """A remark on numbers, which stays structured until it is printed.

    Parameters
    ----------
    kind : str
        The sentence. {queries}, {lines}, {pairs}, {texts}, {outputs} and {count} stand for `count`, and
        {error} for `error`, so that notes of one kind share their sentence.
    run, part, measure : str, optional
        What the note is about. A part is a set of queries.
    column : str, optional
        The columns of a table that the note explains.
    count : int, optional
        The count in the sentence.
    error : float, optional
        The error in the sentence.
    detail : str, optional
        More words, which are added in parentheses.
    severity : str, optional
        "warning" if the numbers probably mean nothing.

    Examples
    --------
    >>> from rankgauge.extending import Note
    >>> print(Note("nothing relevant on {queries}", run="bm25", measure="v2(AP)", count=3))
    bm25: v2(AP): nothing relevant on 3 queries
    """

    _renamed: ClassVar[dict[str, str]] = {"said": "nonempty_fields"}

    kind: str
    run: str | None = None
    part: str | None = None
    measure: str | None = None
    column: str | None = None
    count: int | None = None
    error: float | None = None
    detail: str = ""
    severity: str | None = None

    def __repr__(self) -> str:
        return f"Note({str(self)!r})"

    def nonempty_fields(self) -> dict[str, Any]:
        """The fields that are not empty, by name."""
        return {name: value for name, value in vars(self).items() if value not in (None, "")}

    def sentence(self) -> str:
        """The sentence with its numbers, without the names of run, part, measure and column."""
        text = self.kind
        if self.count is not None:
            text = text.replace("{count}", str(self.count))
            for name, noun in _NOUNS.items():
                text = text.replace(f"{{{name}}}", count_phrase(self.count, noun))
        if self.error is not None:
            text = text.replace("{error}", f"{self.error:.2g}")
        return f"{text} ({self.detail})" if self.detail else text

    def __str__(self) -> str:
        about = (self.run, self.part, self.measure, self.column)
        text = ": ".join([*(each for each in about if each is not None), self.sentence()])
        return f"{self.start}{text}"

    @property
    def start(self) -> str:
        """How its text begins: a warning begins so that nobody overlooks it."""
        return WARNING_PREFIX if self.severity == WARNING else ""


_NOUNS = {
    "queries": "query",
    "lines": "line",
    "pairs": "pair",
    "texts": "text",
    "outputs": "output",
    "topics": "query",
}
"""What a count is of, by its name in braces.

Notes of earlier versions, in saved files, have {topics}.
"""


class _Line(Record):
    """Notes that become one line: they share the run (or `runs`), the part, measures and column."""

    measures: tuple[str, ...]
    notes: tuple[Note, ...]
    runs: int = 1

    @property
    def kinds(self) -> tuple[object, ...]:
        """The same for lines that differ only in the run and the numbers."""
        first = self.notes[0]
        return first.part, self.measures, first.column, tuple(note.kind for note in self.notes)

    @property
    def run(self) -> str | None:
        """The run it is about."""
        return self.notes[0].run

    def __str__(self) -> str:
        first = self.notes[0]
        measures = ", ".join(self.measures) or None
        about = (first.run, first.part, measures, first.column)
        sentences = "; ".join(note.sentence() for note in self.notes)
        text = ": ".join([*(each for each in about if each is not None), sentences])
        return f"{first.start}{text}"


def note_texts(notes: Iterable[Note], *, gather: bool = False) -> tuple[str, ...]:
    """The texts of notes, warnings first; a note that several measures share becomes one line.

    Parameters
    ----------
    notes : iterable of Note
        The notes.
    gather : bool, default False
        Whether a note that several runs share also becomes one line. If more than five runs have the
        same sentence with different numbers, only the line of the first run is kept; it says how
        many more there are.

    Returns
    -------
    tuple of str
        The lines.

    Examples
    --------
    >>> from rankgauge.extending import Note, note_texts
    >>> about = [("AP", "on 2 queries"), ("AP", "the same for all runs"), ("RR", "on 2 queries")]
    >>> note_texts(Note(text, measure=name) for name, text in about)
    ('AP, RR: on 2 queries', 'AP: the same for all runs')
    """
    lines = sorted(_merge_measures(notes), key=lambda line: line.notes[0].severity is None)
    if not gather:
        return tuple(map(str, lines))
    kinds: dict[object, list[_Line]] = {}
    for place, line in enumerate(_merge_runs(lines)):
        kinds.setdefault(place if line.run is None else line.kinds, []).append(line)
    texts: list[str] = []
    for alike in kinds.values():
        shown = alike if len(alike) <= MAX_SIMILAR_NOTES else alike[:1]
        more = sum(line.runs for line in alike) - sum(line.runs for line in shown)
        texts += map(str, shown)
        texts[-1] += (
            f"; {more} more runs have the same note, with different numbers" if more else ""
        )
    return tuple(texts)


def _merge_runs(lines: Iterable[_Line]) -> list[_Line]:
    """The lines; those that say the same about several runs become one, which names the first runs."""
    same: dict[object, list[_Line]] = {}
    for line in lines:
        without_run = tuple(replace(note, run=None) for note in line.notes)
        same.setdefault((line.measures, without_run, line.run is None), []).append(line)
    together = []
    for alike in same.values():
        names = [line.run for line in alike if line.run is not None]
        if len(names) < 2:
            together += alike
            continue
        about = ", ".join(names[:MAX_SIMILAR_NOTES])
        if len(names) > MAX_SIMILAR_NOTES:
            about += f" and {count_phrase(len(names) - MAX_SIMILAR_NOTES, 'more run')}"
        notes = tuple(replace(note, run=about) for note in alike[0].notes)
        together.append(_Line(alike[0].measures, notes, len(names)))
    return together


def _merge_measures(notes: Iterable[Note]) -> list[_Line]:
    """The notes as lines; the same note on several measures becomes one."""
    same: dict[tuple[Note, bool], dict[str, None]] = {}
    for note in notes:
        named = same.setdefault((_without_measure(note), note.measure is None), {})
        if note.measure is not None:
            named[note.measure] = None
    lines: dict[object, _Line] = {}
    for (note, _), named in same.items():
        measures = tuple(named)
        # Only notes on measures share a line; every other note has its own.
        about = (note.run, note.part, measures, note.column, note.severity)
        key: object = about if measures else note
        before = lines[key].notes if key in lines else ()
        lines[key] = _Line(measures, (*before, note))
    return list(lines.values())


def _without_measure(note: Note) -> Note:
    return note if note.measure is None else replace(note, measure=None)
