"""Things by name: ours, those of installed packages, and those that a file of the user registers."""

from __future__ import annotations

import importlib
import itertools
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any, TypeVar

from rankgauge.core.plugins import may_replace, module_of, origin
from rankgauge.core.renamed import renamed_parameters
from rankgauge.errors import RankgaugeError

E = TypeVar("E")


class Registry(Mapping[str, E]):
    """Entries by name, as a mapping: ours first, in the order in which they are listed.

    A module of ours is imported when one of its entries is first asked for.

    >>> colors: Registry[str] = Registry("color", {"red": "#f00", "blue": "#00f"})
    >>> colors.register("#0f0", "green")
    >>> list(colors), colors["Green"]
    (['red', 'blue', 'green'], '#0f0')
    >>> colors.find("bleu")
    Traceback (most recent call last):
    rankgauge.errors.RankgaugeError: there is no color 'bleu'; did you mean blue?

    Parameters
    ----------
    kind
        What messages call an entry.
    entries
        The entries that are there from the start.
    package
        Our package, if `homes` names its modules.
    groups
        The group of entry points, or several; by default one that is called like the package.
    homes
        The names of ours, each with its module in the package, in the order in which they are listed.
    identifiers
        Whether a name must be an identifier, because texts such as "nDCG@10" are made of names.
    reserved
        Names that no entry may have.
    error
        What is raised where a name cannot be used.
    maker
        The class or function that an entry comes from; by default the entry itself, or its class.
    """

    @renamed_parameters(group="groups")
    def __init__(
        self,
        kind: str,
        entries: Mapping[str, E] | None = None,
        *,
        package: str = "",
        groups: str | Collection[str] = (),
        homes: Mapping[str, str] | None = None,
        identifiers: bool = False,
        reserved: Collection[str] = (),
        error: type[RankgaugeError] = RankgaugeError,
        maker: Callable[[E], Any] | None = None,
    ) -> None:
        self.kind, self.package, self.homes = kind, package, homes or {}
        self.entries: dict[str, E] = dict(entries or {})
        self.aliases: dict[str, str] = {}
        self.broken: list[str] = []
        """What installed packages offer and cannot be loaded, and why."""
        named = (groups,) if isinstance(groups, str) else tuple(groups)
        self.groups = named or ((package,) if package else ())
        self.discovered = not self.groups
        self._modules = dict.fromkeys(f"{package}.{home}" for home in self.homes.values())
        self._identifiers, self._reserved = identifiers, reserved
        self._error, self._maker = error, maker
        self._lock = threading.RLock()

    # What a kind of entry may do in its own way

    def name_of(self, entry: E) -> str:
        """The name of an entry that is registered without one."""
        return str(entry.name)  # type: ignore[attr-defined]

    def normalize_name(self, name: str) -> str:
        """A name as it is compared: without regard to case."""
        return name.lower()

    def origin(self, entry: E) -> str:
        """Where an entry comes from. An entry of the same origin may take its name."""
        return origin(self.maker(entry))

    def check(self, entry: E) -> None:
        """Raise an error if an entry that is not ours cannot be registered."""

    def accept_plugin(self, thing: Any) -> None:
        """Take what an entry point of an installed package gives. Loading it may have been enough."""

    def entry_in_module(self, module: ModuleType, name: str) -> E:
        """The entry in a module of ours that does not register it."""
        entry: E = getattr(module, name)
        return entry

    def hint(self, name: str, others: Collection[str] = ()) -> str:
        """What to write in place of a name that is not known, such as one of `others`."""
        near = self.similar_names(name, others)
        every = ", ".join((*self.names(), *others))
        return f"did you mean {' or '.join(near)}?" if near else f"there are {every}"

    # Adding

    def register(self, entry: E, name: str | None = None) -> None:
        """Make an entry known by its name and aliases; an error where another entry has a name."""
        ours = module_of(self.maker(entry)) in self._modules
        if not ours:
            self.check(entry)
        name = self.name_of(entry) if name is None else name
        aliases: tuple[str, ...] = getattr(entry, "aliases", ())
        for spelling in (name, *aliases):
            identifier = spelling.isascii() and spelling.isidentifier()
            if (self._identifiers and not identifier) or spelling in self._reserved:
                raise self._error(
                    f"a {self.kind} cannot be named {spelling!r}, expected another name"
                )
            if not ours and (holder := self.holder(spelling, entry)):
                raise self._error(f"the name {spelling} is taken by {holder}")
        self.add(name, entry, aliases)

    def add(self, name: str, entry: E, aliases: Iterable[str] = ()) -> None:
        """Make an entry known by its name and aliases, whoever has them now."""
        self.entries[name] = entry
        self.aliases.update(dict.fromkeys(aliases, name))

    def maker(self, entry: E) -> Any:
        """The class or function that an entry comes from."""
        if self._maker is not None:
            return self._maker(entry)
        return entry if isinstance(entry, type | FunctionType) else type(entry)

    def holder(self, name: str, entry: E) -> str | None:
        """Who has this name already, so that the entry may not take it; None if it may."""
        known = self.canonical_name(name)
        if known is None:
            return None
        if known not in self.entries:
            return f"{self.package}.{self.homes[known]}"
        holder = self.origin(self.entries[known])
        return None if may_replace(holder, self.origin(entry)) else holder

    # Looking up

    def __getitem__(self, name: str) -> E:
        if name in self.entries:
            return self.entries[name]
        if self.canonical_name(name) is None:
            self.discover()
        known = self.canonical_name(name)
        if known is None:
            raise KeyError(name)
        if known not in self.entries:
            module = importlib.import_module(f"{self.package}.{self.homes[known]}")
            if known not in self.entries:  # not all modules register what they have
                self.entries[known] = self.entry_in_module(module, known)
        return self.entries[known]

    def __iter__(self) -> Iterator[str]:
        self.discover()
        return iter(self.names())

    def __len__(self) -> int:
        self.discover()
        return len(self.names())

    def __contains__(self, name: object) -> bool:
        """Whether an entry that is known now has exactly this name, or this alias."""
        return isinstance(name, str) and (
            name in self.entries or name in self.homes or name in self.aliases
        )

    def find(self, name: str, others: Collection[str] = ()) -> E:
        """Look up an entry by its name.

        Entries of installed packages are found too.

        Parameters
        ----------
        name : str
            The name of the entry. Upper and lower case do not matter.
        others : collection of str, default ()
            Further names that the error message may suggest.

        Returns
        -------
        entry
            What is registered under the name.

        Raises
        ------
        RankgaugeError
            If no entry has this name. The message suggests names. Registries of measures raise the
            subclass MeasureError.

        Examples
        --------
        >>> from rankgauge.rankers import find_method
        >>> find_method("lambdamart").__name__
        'LambdaMART'
        """
        try:
            return self[name]
        except KeyError:
            pass
        message = f"there is no {self.kind} {name!r}"
        raise self._error("; ".join([message, self.hint(name, others), *self.broken]))

    def check_argument(self, argument: str, name: object, *others: str) -> E:
        """Return the entry of exactly this name, which is the value of an argument.

        If there is no such entry, an error lists all names. `others` are values that the argument may
        have beside them.
        """
        if name not in self:
            self.discover()
        if not isinstance(name, str) or name not in self:
            names = self.format_names()
            expected = " or ".join((*others, f"one of {names}"))
            raise self._error(f"{argument}={name!r}, expected {expected}")
        return self[name]

    def names(self) -> list[str]:
        """The names of all entries that are known now: ours first."""
        return list(dict.fromkeys((*self.homes, *self.entries)))

    def format_names(self) -> str:
        """These names, for messages."""
        return ", ".join(self.names())

    def canonical_name(self, name: str) -> str | None:
        """The name of the entry that is spelled like this, or differs as `folded` allows."""
        if name in self:
            return self.aliases.get(name, name)
        known = self._spellings().get(self.normalize_name(str(name)))
        return None if known is None else self.aliases.get(known, known)

    def similar_names(self, name: str, others: Iterable[str] = ()) -> list[str]:
        """The nearest names to one that is not known; `others` are names beside those of entries."""
        import difflib

        known = self._spellings(others)
        close = difflib.get_close_matches(self.normalize_name(name), known, n=3, cutoff=0.5)
        return [known[each] for each in close]

    def _spellings(self, others: Iterable[str] = ()) -> dict[str, str]:
        """All names and aliases, by how they are compared."""
        every = (*others, *self.aliases, *self.entries, *self.homes)
        return {self.normalize_name(each): each for each in every}

    # Modules of ours, and those of others

    def load(self) -> None:
        """Import all modules that have entries of ours."""
        for module in self._modules:
            importlib.import_module(module)

    def discover(self) -> None:
        """Load what installed packages offer as entry points, once."""
        with self._lock:
            if self.discovered:
                return
            self.discovered = True
            import importlib.metadata

            points = [importlib.metadata.entry_points(group=group) for group in self.groups]
            for point in itertools.chain.from_iterable(points):
                try:
                    self.accept_plugin(point.load())
                except Exception as error:
                    message = f"the {self.kind}s of {point.value} cannot be loaded: {error}"
                    self.broken.append(message)
