"""Every measure by name: ours, those of installed plug-ins, and those of an explicit file."""

from __future__ import annotations

import importlib
import threading
from typing import TypeVar

from rankgauge.core.plugins import may_replace, origin
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

PACKAGE = "rankgauge.measures"
ENTRY_POINTS = PACKAGE

_entries: dict[str, Entry] = {}
_aliases: dict[str, str] = {}
_discovered = False
_broken: list[str] = []
_lock = threading.RLock()


def register(entry: E) -> E:
    """Make a measure known by its name and aliases, and return it.

    Raises MeasureError where another measure has the name.
    """
    name = entry.name
    ours = _origin(entry).startswith(f"{PACKAGE}.")
    if not ours:
        load_families()  # so that no name of ours is taken unnoticed
    if isinstance(entry, type) and not issubclass(entry, Wrapper | Aggregate):
        raise MeasureError(f"register an instance: register({entry.__name__}())")
    for spelling in (name, *entry.aliases):
        if not spelling.isascii() or not spelling.isidentifier() or spelling in COLUMNS:
            raise MeasureError(f"a measure cannot be called {spelling!r}, expected another name")
        if ours:
            continue
        from rankgauge.measures.names import Name, find_name

        known = _entries.get(_any_case(spelling) or "")
        if known is not None and not may_replace(_origin(known), _origin(entry)):
            raise MeasureError(f"the name {spelling} is taken by {_origin(known)}")
        row = find_name(spelling)
        if known is None and row is not None and isinstance(row[0], Name):
            raise MeasureError(f"the name {spelling} is taken: it means {row[0].ours}")
    _entries[name] = entry
    _aliases.update(dict.fromkeys(entry.aliases, name))
    return entry


def _origin(entry: Entry) -> str:
    return origin(entry if isinstance(entry, type) else type(entry))


def is_registered(name: str) -> bool:
    """Whether a measure of ours, or one that was registered, has exactly this name."""
    return name in HOMES or name in _entries or name in _aliases


def find(name: str) -> Entry:
    """The measure, wrapper or aggregate of this name, exact or without regard to case; MeasureError
    names the nearest ones."""
    if not is_registered(name) and _any_case(name) is None:
        discover()
    canonical = _any_case(name)
    if canonical is None:
        raise MeasureError(
            "; ".join([f"there is no measure {name!r}", _hint(name), *broken_plugins()])
        )
    if canonical in HOMES:
        importlib.import_module(f"{PACKAGE}.{HOMES[canonical]}")
    return _entries[canonical]


def _any_case(name: str) -> str | None:
    """The name under which a measure is registered that is spelled like this, or differs in case."""
    if is_registered(name):
        return _aliases.get(name, name)
    from rankgauge.measures.names import folded

    spellings = {folded(spelling): spelling for spelling in (*_aliases, *_entries, *HOMES)}
    found = spellings.get(folded(name))
    return None if found is None else _aliases.get(found, found)


def _hint(name: str) -> str:
    """The nearest names to one that is not known."""
    import difflib

    if name.lower().startswith(OF_TEXTS):
        return "it scores texts, not rankings: `rankgauge text` takes it"

    from rankgauge.measures.names import DIGITS, NAMES, NUMBER, folded

    others = (row.spelling for row in NAMES if not row.spelling.endswith((NUMBER, DIGITS)))
    lower = {folded(spelling): spelling for spelling in (*others, *_aliases, *_entries, *HOMES)}
    near = [lower[n] for n in difflib.get_close_matches(folded(name), lower, n=3, cutoff=0.5)]
    return f"did you mean {' or '.join(near)}?" if near else "`rankgauge measures` lists them"


def entries() -> dict[str, Entry]:
    """Everything that is registered, installed plug-ins included, by canonical name: ours first, in the
    order of their families."""
    load_families()
    discover()
    return {name: _entries[name] for name in dict.fromkeys((*HOMES, *_entries))}


def load_families() -> None:
    """Import all families of measures."""
    for family in FAMILIES:
        importlib.import_module(f"{PACKAGE}.{family}")


def discover() -> None:
    """Load the measures that installed packages offer as entry points, once."""
    global _discovered
    with _lock:
        if _discovered:
            return
        _discovered = True
        import importlib.metadata

        for point in importlib.metadata.entry_points(group=ENTRY_POINTS):
            try:
                point.load()
            except Exception as error:
                _broken.append(f"the measures of {point.value} cannot be loaded: {error}")


def broken_plugins() -> list[str]:
    """What installed plug-ins could not be loaded, and why."""
    return list(_broken)
