"""Things by name: ours, those of installed packages, and those that a file of the user registers."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, TypeVar

from rankgauge.core.plugins import may_replace, module_of, origin

E = TypeVar("E")


class Registry(Generic[E]):
    """Entries by name. A module of ours is imported when one of its entries is first asked for.

    Parameters
    ----------
    package
        Our package. It is also the name of the group of entry points.
    homes
        The names of ours, each with its module in the package, in the order in which they are listed.
    plural
        How messages call the entries.
    folded
        A name as it is compared; by default without regard to case.
    origin_of
        Where a class comes from. Another class of the same origin may take its name.
    loaded
        Called with what an entry point gives; by default loading is enough to register it.
    """

    def __init__(
        self,
        package: str,
        homes: Mapping[str, str],
        plural: str,
        *,
        folded: Callable[[str], str] = str.lower,
        origin_of: Callable[[type], str] = origin,
        loaded: Callable[[Any], object] | None = None,
    ) -> None:
        self.package, self.homes, self.plural = package, homes, plural
        self.entries: dict[str, E] = {}
        self.aliases: dict[str, str] = {}
        self.broken: list[str] = []
        """What installed packages offer and cannot be loaded, and why."""
        self.discovered = False
        self._folded, self._origin_of, self._loaded = folded, origin_of, loaded
        self._lock = threading.RLock()

    def origin(self, entry: E) -> str:
        """Where an entry comes from."""
        return self._origin_of(entry if isinstance(entry, type) else type(entry))

    def holder(self, name: str, entry: E) -> str | None:
        """Who has this name already, so that the entry may not take it; None if it may."""
        known = self.spelled(name)
        if known is None:
            return None
        if known not in self.entries:
            home = f"{self.package}.{self.homes[known]}"
            return (
                None
                if module_of(entry if isinstance(entry, type) else type(entry)) == home
                else home
            )
        holder = self.origin(self.entries[known])
        return None if may_replace(holder, self.origin(entry)) else holder

    def add(self, name: str, entry: E, aliases: Iterable[str] = ()) -> None:
        """Make an entry known by its name and aliases."""
        self.entries[name] = entry
        self.aliases.update(dict.fromkeys(aliases, name))

    def has(self, name: str) -> bool:
        """Whether an entry has exactly this name, or this alias."""
        return name in self.homes or name in self.entries or name in self.aliases

    def names(self) -> list[str]:
        """The names of all entries that are known now: ours first."""
        return list(dict.fromkeys((*self.homes, *self.entries)))

    def spelled(self, name: str) -> str | None:
        """The name of the entry that is spelled like this, or differs as `folded` allows."""
        if self.has(name):
            return self.aliases.get(name, name)
        spellings = {
            self._folded(each): each for each in (*self.aliases, *self.entries, *self.homes)
        }
        known = spellings.get(self._folded(str(name)))
        return None if known is None else self.aliases.get(known, known)

    def find(self, name: str) -> E | None:
        """The entry of this name; None if there is none, in installed packages either."""
        if self.spelled(name) is None:
            self.discover()
        known = self.spelled(name)
        if known is None:
            return None
        if known not in self.entries:
            module = importlib.import_module(f"{self.package}.{self.homes[known]}")
            if known not in self.entries:  # not all modules register what they have
                self.entries[known] = getattr(module, known)
        return self.entries[known]

    def near(self, name: str, others: Iterable[str] = ()) -> list[str]:
        """The nearest names to one that is not known; `others` are names beside those of entries."""
        import difflib

        spellings = (*others, *self.aliases, *self.entries, *self.homes)
        known = {self._folded(each): each for each in spellings}
        close = difflib.get_close_matches(self._folded(name), known, n=3, cutoff=0.5)
        return [known[each] for each in close]

    def all(self) -> dict[str, E]:
        """All entries by name: ours first, then those of installed packages and plug-ins."""
        self.discover()
        every = {name: self.find(name) for name in self.names()}
        return {name: entry for name, entry in every.items() if entry is not None}

    def discover(self) -> None:
        """Load what installed packages offer as entry points, once."""
        with self._lock:
            if self.discovered:
                return
            self.discovered = True
            import importlib.metadata

            for point in importlib.metadata.entry_points(group=self.package):
                try:
                    offered = point.load()
                    if self._loaded is not None:
                        self._loaded(offered)
                except Exception as error:
                    message = f"the {self.plural} of {point.value} cannot be loaded: {error}"
                    self.broken.append(message)
