"""The part of saved scores that is JSON: names, measures, policies, judgments and notes.

A Parquet file of scores has it in its metadata, without the numbers; a file of version 1 is all JSON.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NoReturn

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.notes import Note
from rankgauge.core.policies import AppliedPolicies, current_words
from rankgauge.core.records import Record
from rankgauge.core.sealing import SEAL, missing_seal_note, read_json
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.elsewhere import GivenScores
from rankgauge.measures.scored import Scored
from rankgauge.scores.model import UNKNOWN, Scores
from rankgauge.scores.parsing import parse_scored
from rankgauge.scores.validation import check, refuse_first, shorten, wrong_policies

FORMAT = "rankgauge-scores"
JSON_VERSION, UNSEALED_VERSION, VERSION = 1, 2, 3
"""The version that is all JSON, the first one in Parquet, and the current one, which has a seal."""
REMEDY = "restore the file from a backup, or compute the scores again"

AXES = ("runs", "queries", "measures")
ENTRIES = (
    "format",
    "version",
    "policies",
    *AXES,
    "relevant",
    "nothing_relevant",
    "notes",
    "failed",
)
ONLY_RELEVANT = "only_relevant"
"""An entry that is present only if it is true."""
NUMBERS = ("values", "present", "judged_at_10")
"""The additional entries in a file of version 1."""

NOTE_FIELDS = tuple(field.name for field in fields(Note))
NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
"""Numbers that JSON cannot represent, as text."""


def document_of(scores: Scores) -> dict[str, Any]:
    """The part of these scores that is JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "policies": scores.policies.nonempty_fields(),
        "runs": scores.runs,
        "queries": scores.queries,
        "measures": [str(measure) for measure in scores.measures],
        "relevant": scores.relevant.tolist(),
        "nothing_relevant": scores.nothing_relevant.tolist(),
        "notes": [_note_entries(note) for note in scores.notes],
        "failed": scores.failed,
        **({ONLY_RELEVANT: True} if scores.only_relevant else {}),
    }


def _note_entries(note: Note) -> dict[str, Any]:
    entries = {"kind": note.kind} | note.nonempty_fields()
    if note.error is not None and not math.isfinite(note.error):
        entries["error"] = str(note.error)
    return entries


class Document:
    """The entries of a document, each checked as it is read; InputError says which one is wrong."""

    def __init__(self, entries: Any, versions: Sequence[int], source: str) -> None:
        self.source = source
        if not isinstance(entries, dict) or entries.get("format") != FORMAT:
            message = f"not a file of scores (its format is not {FORMAT})"
            raise InputError(source, None, f"{message}, expected one made by Scores.save")
        self.entries: dict[str, Any] = entries
        version = entries.get("version")
        if type(version) is not int or version not in versions:
            self.refuse("version", shorten(version), f"{versions[-1]} (update rankgauge)")
        self.sealed = version == VERSION
        expected = (*ENTRIES, *((SEAL,) if self.sealed else ()))
        expected += NUMBERS if version == JSON_VERSION else ()
        for name in expected:
            if name not in entries and (name, version) != ("failed", JSON_VERSION):
                self.refuse(name, "not there", "it, as Scores.save writes it")
        for name in entries:
            if name not in (*expected, ONLY_RELEVANT):
                self.refuse(shorten(name), "there", f"only {', '.join(expected)}")

    def refuse(self, entry: str, fault: str, expected: str) -> NoReturn:
        """Raise the error for an entry."""
        message = f"not a file of scores ({entry} is {fault}), expected {expected}"
        raise InputError(self.source, None, message)

    def texts(self, name: str) -> tuple[str, ...]:
        """The texts that an entry holds."""
        values = self.entries.get(name, [])
        self._check_length(name, values, None)
        for i, value in enumerate(values):
            if type(value) is not str:
                self.refuse(f"{name}[{i}]", shorten(value), "text")
        return tuple(values)

    def flat(self, name: str, shape: Sequence[int]) -> list[Any]:
        """What an entry of lists in lists holds, which has exactly this shape."""

        def items(values: Any, place: str, lengths: Sequence[int]) -> list[Any]:
            self._check_length(place, values, lengths[0])
            if len(lengths) == 1:
                return list(values)
            return [
                item
                for i, row in enumerate(values)
                for item in items(row, f"{place}[{i}]", lengths[1:])
            ]

        return items(self.entries[name], name, shape)

    def _check_length(self, place: str, values: Any, length: int | None) -> None:
        if type(values) is not list:
            self.refuse(place, shorten(values), "a list")
        if length is not None and len(values) != length:
            self.refuse(place, f"a list of {len(values)}", str(length))

    def check_items(
        self, name: str, shape: Sequence[int], fits: Callable[[Any], bool], expected: str
    ) -> list[Any]:
        """What an entry of lists in lists holds, where every item fits."""
        values = self.flat(name, shape)
        for i, value in enumerate(values):
            if not fits(value):
                place = "".join(f"[{index}]" for index in np.unravel_index(i, shape))
                self.refuse(f"{name}{place}", shorten(value), expected)
        return values

    def bools(self, name: str, shape: Sequence[int]) -> Bools:
        """An array of true and false."""
        values = self.check_items(name, shape, lambda value: type(value) is bool, "true or false")
        return np.array(values, dtype=np.bool_).reshape(shape)

    def flag(self, name: str) -> bool:
        """Whether an entry that may be left out is true."""
        value = self.entries.get(name, False)
        if type(value) is not bool:
            self.refuse(name, shorten(value), "true or false")
        return value

    def integers(self, name: str, shape: Sequence[int], least: int) -> Ints:
        """An array of whole numbers."""

        def fits(value: Any) -> bool:
            return type(value) is int and least <= value < 2**62

        values = self.check_items(name, shape, fits, f"a whole number from {least}")
        return np.array(values, dtype=np.int64).reshape(shape)

    def floats(self, name: str, shape: Sequence[int]) -> Floats:
        """An array of numbers; null is NaN, and infinity is text."""

        def fits(value: Any) -> bool:
            small = type(value) is int and abs(value) < 2**1023
            return small or type(value) is float or value in (None, "inf", "-inf")

        values = self.check_items(name, shape, fits, "a number, or null for none")
        numbers = [math.nan if value is None else float(value) for value in values]
        return np.array(numbers, dtype=np.float64).reshape(shape)

    def measures(self) -> tuple[Scored | Aggregate, ...]:
        """The measures, which are complete."""
        return tuple(map(self._measure, self.texts("measures")))

    def _measure(self, text: str) -> Scored | Aggregate:
        try:
            measure = parse_scored(text)
            inside = inner(measure)
            if not isinstance(inside, GivenScores):
                inside.complete()
            elif inside.title is None:
                raise RankgaugeError(f"{measure} has no title")
        except RankgaugeError as error:
            message = f"{error} (a measure of your own: load its plug-in first)"
            raise InputError(self.source, None, message) from None
        return measure

    def policies(self) -> AppliedPolicies:
        """The policies, all of them known."""
        policies = self.entries["policies"]
        if not isinstance(policies, dict):
            self.refuse("policies", shorten(policies), "an object")
        policies = current_words(policies)
        refuse_first(wrong_policies(policies), self.source)
        return AppliedPolicies(**policies)

    def notes(self) -> tuple[Note, ...]:
        """The notes; those that are text are of earlier versions."""
        notes = self.entries["notes"]
        self._check_length("notes", notes, None)
        made = tuple(self._note(f"notes[{i}]", note) for i, note in enumerate(notes))
        return made if self.sealed else (*made, missing_seal_note(self.source))

    def _note(self, place: str, entries: Any) -> Note:
        if isinstance(entries, str):
            return Note(entries)
        if not isinstance(entries, dict) or "kind" not in entries:
            self.refuse(place, shorten(entries), "a note with its kind")
        entries = dict(entries)
        if isinstance(entries.get("error"), str):
            entries["error"] = NON_FINITE.get(entries["error"], entries["error"])
        kinds = {"count": int, "error": float}
        for name, value in entries.items():
            if name not in NOTE_FIELDS or type(value) is not kinds.get(name, str):
                self.refuse(f"{place}[{shorten(name)}]", shorten(value), "a field of a note")
        return Note(**entries)


class ScoresDescription(Record):
    """All of some scores but the numbers of runs and queries."""

    runs: tuple[str, ...]
    queries: tuple[str, ...]
    measures: tuple[Scored | Aggregate, ...]
    relevant: Ints
    nothing_relevant: Bools
    policies: AppliedPolicies
    notes: tuple[Note, ...]
    failed: tuple[str, ...]
    only_relevant: bool

    @staticmethod
    def by(document: Document) -> ScoresDescription:
        """What a document describes."""
        queries, measures = document.texts("queries"), document.measures()
        return ScoresDescription(
            runs=document.texts("runs"),
            queries=queries,
            measures=measures,
            relevant=document.integers("relevant", [len(queries)], UNKNOWN),
            nothing_relevant=document.bools("nothing_relevant", [len(measures), len(queries)]),
            policies=document.policies(),
            notes=document.notes(),
            failed=document.texts("failed"),
            only_relevant=document.flag(ONLY_RELEVANT),
        )

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of runs, queries and measures."""
        return len(self.runs), len(self.queries), len(self.measures)

    def scores(self, values: Floats, present: Bools, judged_at_10: Floats, source: str) -> Scores:
        """The scores with these numbers, checked."""
        scores = Scores(values=values, present=present, judged_at_10=judged_at_10, **vars(self))
        check(scores, source)
        return scores


def scores_of_json(text: bytes, source: str) -> Scores:
    """The scores in a file of version 1, which is all JSON."""
    entries = read_json(text, source, "a file of scores", "Scores.save")
    document = Document(entries, [JSON_VERSION], source)
    described = ScoresDescription.by(document)
    shape = described.shape
    return described.scores(
        document.floats("values", shape),
        document.bools("present", shape[:2]),
        document.floats("judged_at_10", shape[:2]),
        source,
    )
