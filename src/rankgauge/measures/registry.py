"""Every measure by name: ours, those of installed plug-ins, and those of an explicit file."""

from __future__ import annotations

import importlib
from typing import TypeVar

from rankgauge.core.registry import Registry
from rankgauge.errors import MeasureError
from rankgauge.measures.around import Aggregate, Wrapper
from rankgauge.measures.base import Measure
from rankgauge.measures.families import FAMILIES, HOMES

Entry = Measure | type[Wrapper] | type[Aggregate]
"""A measure with its default parameters, or a class to be called with a measure."""

E = TypeVar("E", bound=Entry)

COLUMNS = ("run", "topic", "topics", "over", "missing")
"""Names that tables of scores have for something else."""

OF_TEXTS = ("rouge", "bertscore")
"""How names begin that people may ask for, but that are metrics of texts."""


def _folded(name: str) -> str:
    from rankgauge.measures.names import folded

    return folded(name)


MEASURES: Registry[Entry] = Registry("rankgauge.measures", HOMES, "measures", folded=_folded)
is_registered = MEASURES.has


def register(entry: E) -> E:
    """Make a measure known by its name and aliases, and return it.

    Raises MeasureError where another measure has the name.
    """
    ours = MEASURES.origin(entry).startswith(f"{MEASURES.package}.")
    if not ours:
        load_families()  # so that no name of ours is taken unnoticed
    if isinstance(entry, type) and not issubclass(entry, Wrapper | Aggregate):
        raise MeasureError(f"register an instance: register({entry.__name__}())")
    for spelling in (entry.name, *entry.aliases):
        if not spelling.isascii() or not spelling.isidentifier() or spelling in COLUMNS:
            raise MeasureError(f"a measure cannot be called {spelling!r}, expected another name")
        if ours:
            continue
        from rankgauge.measures.names import Name, find_name

        if holder := MEASURES.holder(spelling, entry):
            raise MeasureError(f"the name {spelling} is taken by {holder}")
        row = find_name(spelling)
        if MEASURES.spelled(spelling) is None and row is not None and isinstance(row[0], Name):
            raise MeasureError(f"the name {spelling} is taken: it means {row[0].ours}")
    MEASURES.add(entry.name, entry, entry.aliases)
    return entry


def find(name: str) -> Entry:
    """The measure, wrapper or aggregate of this name, exact or without regard to case; MeasureError
    names the nearest ones."""
    entry = MEASURES.find(name)
    if entry is None:
        raise MeasureError(
            "; ".join([f"there is no measure {name!r}", _hint(name), *MEASURES.broken])
        )
    return entry


def _hint(name: str) -> str:
    """The nearest names to one that is not known."""
    if name.lower().startswith(OF_TEXTS):
        return "it scores texts, not rankings: `rankgauge text` takes it"

    from rankgauge.measures.names import DIGITS, NAMES, NUMBER

    others = (row.spelling for row in NAMES if not row.spelling.endswith((NUMBER, DIGITS)))
    near = MEASURES.near(name, others)
    return f"did you mean {' or '.join(near)}?" if near else "`rankgauge measures` lists them"


def entries() -> dict[str, Entry]:
    """Everything that is registered, installed plug-ins included, by canonical name: ours first, in the
    order of their families."""
    load_families()
    return MEASURES.all()


def load_families() -> None:
    """Import all families of measures."""
    for family in FAMILIES:
        importlib.import_module(f"{MEASURES.package}.{family}")
