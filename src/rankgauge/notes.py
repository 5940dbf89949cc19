"""What to know about numbers: notes, which stay structured until they become text, once, at the end."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from rankgauge.records import Record, Value

MOST_ALIKE = 5
"""Of how many runs the like is said one by one; of more, of the first alone."""


WARNING = "warning"
"""The severity of a note that puts the numbers themselves in doubt."""


LOUD = f"{WARNING.upper()}: "
"""What the text of a warning begins with."""


def counted(count: int, thing: str, things: str | None = None) -> str:
    """A count with its noun: `1 query`, `1,200 queries`."""
    return f"{count:,} {thing if count == 1 else things or thing + 's'}"


class Note(Value):
    """One thing to know about some numbers.

    `kind` is the sentence; {topics}, {lines}, {pairs}, {count} and {error} in it stand for the numbers
    of this note, so that notes of one kind are alike. `run`, `part` (a set of topics) and `measure` say
    what the note is about, `column` which columns of a table it explains. `detail` comes in brackets at
    the end. `severity` is None, or `WARNING` where the numbers probably mean nothing.

    >>> print(Note("nothing relevant on {topics}", run="bm25", measure="v2(AP)", count=3))
    bm25: v2(AP): nothing relevant on 3 topics
    """

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

    def said(self) -> dict[str, Any]:
        """The fields that say something, by name."""
        return {name: value for name, value in vars(self).items() if value not in (None, "")}

    def sentence(self) -> str:
        """What it says, without what it is about."""
        text = self.kind
        if self.count is not None:
            text = text.replace("{count}", str(self.count))
            for thing in _THINGS:
                text = text.replace(f"{{{thing}}}", counted(self.count, thing[:-1]))
        if self.error is not None:
            text = text.replace("{error}", f"{self.error:.2g}")
        return f"{text} ({self.detail})" if self.detail else text

    def __str__(self) -> str:
        about = (self.run, self.part, self.measure, self.column)
        text = ": ".join([*(each for each in about if each is not None), self.sentence()])
        return f"{self.start}{text}"

    @property
    def start(self) -> str:
        """What its text begins with, so that nobody overlooks a warning."""
        return LOUD if self.severity == WARNING else ""


_THINGS = ("topics", "lines", "pairs")


class _Line(Record):
    """Some notes that are one line: those on the same run (or `runs`), part, measures and column."""

    measures: tuple[str, ...]
    notes: tuple[Note, ...]
    runs: int = 1

    @property
    def kinds(self) -> tuple[object, ...]:
        """What lines that are alike have in common."""
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
        said = "; ".join(note.sentence() for note in self.notes)
        text = ": ".join([*(each for each in about if each is not None), said])
        return f"{first.start}{text}"


def worded(notes: Iterable[Note], *, gather: bool = False) -> tuple[str, ...]:
    """The notes as text, warnings first. What is the same for several measures is said once. With
    `gather`, what is the same for several runs is said once too, and what is alike for many runs, with
    other numbers, is said of the first of them alone.

    >>> about = [("AP", "on 2 topics"), ("AP", "the same for all runs"), ("RR", "on 2 topics")]
    >>> worded(Note(text, measure=name) for name, text in about)
    ('AP, RR: on 2 topics', 'AP: the same for all runs')
    """
    lines = sorted(_lines(notes), key=lambda line: line.notes[0].severity is None)
    if not gather:
        return tuple(map(str, lines))
    kinds: dict[object, list[_Line]] = {}
    for place, line in enumerate(_together(lines)):
        kinds.setdefault(place if line.run is None else line.kinds, []).append(line)
    texts: list[str] = []
    for alike in kinds.values():
        shown = alike if len(alike) <= MOST_ALIKE else alike[:1]
        more = sum(line.runs for line in alike) - sum(line.runs for line in shown)
        texts += map(str, shown)
        texts[-1] += f"; {more} more runs have this note, with numbers of their own" if more else ""
    return tuple(texts)


def _together(lines: Iterable[_Line]) -> list[_Line]:
    """The lines, those that say the same of several runs as one, which names the first of these runs."""
    same: dict[object, list[_Line]] = {}
    for line in lines:
        said = tuple(replace(note, run=None) for note in line.notes)
        same.setdefault((line.measures, said, line.run is None), []).append(line)
    together = []
    for alike in same.values():
        names = [line.run for line in alike if line.run is not None]
        if len(names) < 2:
            together += alike
            continue
        about = ", ".join(names[:MOST_ALIKE])
        if len(names) > MOST_ALIKE:
            about += f" and {counted(len(names) - MOST_ALIKE, 'more run')}"
        notes = tuple(replace(note, run=about) for note in alike[0].notes)
        together.append(_Line(alike[0].measures, notes, len(names)))
    return together


def _lines(notes: Iterable[Note]) -> list[_Line]:
    """The notes, those on one measure put together with the same on others."""
    same: dict[tuple[Note, bool], dict[str, None]] = {}
    for note in notes:
        named = same.setdefault((_without_measure(note), note.measure is None), {})
        if note.measure is not None:
            named[note.measure] = None
    lines: dict[object, _Line] = {}
    for (note, _), named in same.items():
        measures = tuple(named)
        # Only what is said of measures goes into one line; anything else stands alone.
        about = (note.run, note.part, measures, note.column, note.severity)
        key: object = about if measures else note
        before = lines[key].notes if key in lines else ()
        lines[key] = _Line(measures, (*before, note))
    return list(lines.values())


def _without_measure(note: Note) -> Note:
    return note if note.measure is None else replace(note, measure=None)
