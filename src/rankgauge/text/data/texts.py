"""Texts to evaluate: sources, references, and what systems wrote."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError

V = TypeVar("V")
ById: TypeAlias = Mapping[str, V] | Sequence[V]
"""A value for each text, by id or in the order of the texts."""


class Texts(Record):
    """Texts to evaluate: for each one its source, its references and the outputs of systems.

    Parameters
    ----------
    sources : sequence or dict of str, or None
        The texts that the systems read, one per text, such as the article of a summary or the
        passages of an answer. Random texts are drawn from it. None if there are no sources.
    references : sequence or dict of str, or of sequences of str
        The texts that people wrote: for each text one string, or several.
    outputs : dict
        The texts that the systems wrote: `{system: outputs}`, with one output per text. A system
        has no output for a text if the value is None or the id is absent.
    ids : iterable of str or int, optional
        The ids of the texts. By default, they are the keys if `references` is a dict, and
        otherwise 1, 2 and so on.

    Raises
    ------
    RankgaugeError
        If the numbers of texts differ, if an id is unknown or not unique, or if a text has no
        reference.

    Examples
    --------
    >>> from rankgauge.text import Texts
    >>> texts = Texts(["a b c d"], ["a b"], {"lead": ["a b c"]})
    >>> texts
    Texts: 1 text, 1 system
    >>> texts.references
    (('a b',),)
    """

    sources: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    outputs: Mapping[str, tuple[str | None, ...]]
    ids: tuple[str, ...] = ()
    _known: dict[Any, Any] = field(default_factory=dict)

    def __init__(
        self,
        sources: ById[str] | None,
        references: ById[str | Sequence[str]],
        outputs: Mapping[str, ById[str | None]],
        ids: Iterable[str | int] | None = None,
    ) -> None:
        if not isinstance(outputs, Mapping):
            raise RankgaugeError(
                f"the outputs are {type(outputs).__name__}, expected a dict: {{system: its texts}}"
            )
        names = _ids(references, ids)
        given = _values_per_text("references", references, names)
        super().__init__(
            ("",) * len(names) if sources is None else _texts("sources", sources, names),
            tuple(_references(each, name) for each, name in zip(given, names, strict=True)),
            {
                str(system): _outputs(f"outputs of {system}", each, names)
                for system, each in outputs.items()
            },
            names,
            {},
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        systems = count_phrase(len(self.outputs), "system")
        return f"Texts: {count_phrase(len(self), 'text')}, {systems}"

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(self.outputs)

    def select(self, systems: Iterable[str]) -> Texts:
        """Return the same texts with the outputs of these systems only."""
        wanted = list(dict.fromkeys(systems))
        for system in wanted:
            if system not in self.outputs:
                known = ", ".join(self.outputs)
                raise RankgaugeError(f"there is no system {system!r}, expected one of {known}")
        outputs = {system: self.outputs[system] for system in wanted}
        return Texts(self.sources, self.references, outputs, self.ids)

    def once(self, make: Callable[..., V], *values: Any) -> V:
        """Return the value of a function of these texts and further values, computed once."""
        key = make, *values
        if key not in self._known:
            self._known[key] = make(self, *values)
        made: V = self._known[key]
        return made

    def candidates(self) -> Candidates:
        """Return all outputs, system by system; missing outputs are empty."""
        words = tuple(text or "" for outputs in self.outputs.values() for text in outputs)
        of = np.tile(np.arange(len(self)), len(self.outputs))
        return Candidates(self, words, of, self.systems)


class Candidates(Record):
    """Texts to score, such as the outputs of systems.

    `outputs` has each of them as it was written, and `of` the number of the text that it was written
    for: its references are `texts.references[number]`. If systems wrote them, the outputs of the first
    system come first, then those of the next.
    """

    _renamed: ClassVar[dict[str, str]] = {"words": "outputs", "described": "describe"}

    texts: Texts
    outputs: tuple[str, ...]
    of: Ints
    systems: tuple[str, ...] = ()
    _known: dict[Any, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.outputs)

    def once(self, key: Any, make: Callable[[], V]) -> V:
        """Return the value of a function, computed once per key."""
        if key not in self._known:
            self._known[key] = make()
        made: V = self._known[key]
        return made

    def describe(self, place: int) -> str:
        """What a candidate is, for messages: whose output, and for which text."""
        if not self.systems:
            return _describe_drawn_text(self.texts, self.of, place)
        of = self.texts.ids[int(self.of[place])]
        return f"the output of {self.systems[place // len(self.texts)]} for text {of!r}"


class DrawnTexts(Record):
    """Texts drawn from sources word by word.

    `places` has the place of each word in its source, one text after another, and `offsets` has
    where each text starts and ends. `of` has the number of the text that each drawn text belongs
    to.
    """

    _renamed: ClassVar[dict[str, str]] = {"described": "describe"}

    texts: Texts
    places: Ints
    offsets: Ints
    of: Ints

    def __len__(self) -> int:
        return len(self.of)

    def candidates(self, source: Callable[[int], Sequence[str]]) -> Candidates:
        """The drawn texts as candidates; `source` gives the words of the source of a text."""
        places, ends = self.places.tolist(), self.offsets.tolist()
        words = []
        for row, of in enumerate(self.of.tolist()):
            known = source(of)
            words.append(" ".join([known[place] for place in places[ends[row] : ends[row + 1]]]))
        return Candidates(self.texts, tuple(words), self.of)

    def describe(self, place: int) -> str:
        """What a drawn text is, for messages."""
        return _describe_drawn_text(self.texts, self.of, place)


class Draws(Record):
    """What is to be drawn from sources.

    Each task has the number of a text, how many units are drawn for a text, such as words, how many
    texts are drawn, and the generator that draws them.
    """

    texts: Texts
    text: Ints
    length: Ints
    count: Ints
    generators: Sequence[np.random.Generator]

    @property
    def of(self) -> Ints:
        """The number of the text to which each random text belongs."""
        return np.repeat(self.text, self.count)

    def tasks(self) -> Iterator[tuple[int, int, int, np.random.Generator]]:
        """The text, the length, the count and the generator of each task."""
        numbers = (each.tolist() for each in (self.text, self.length, self.count))
        return zip(*numbers, self.generators, strict=True)

    def units(self, known: Callable[[int], int]) -> DrawnTexts:
        """Draw texts of units of the source, each unit anew.

        `known` returns how many units there are in the source of a text.
        """
        places = [
            generator.integers(0, known(of), size * number)
            for of, size, number, generator in self.tasks()
        ]
        offsets = np.append(0, np.cumsum(np.repeat(self.length, self.count)))
        return DrawnTexts(self.texts, np.concatenate(places), offsets, self.of)


def _describe_drawn_text(texts: Texts, of: Ints, place: int) -> str:
    return f"a random text for text {texts.ids[int(of[place])]!r}"


def _ids(references: Any, ids: Iterable[str | int] | None) -> tuple[str, ...]:
    if not isinstance(references, Mapping | Sequence) or isinstance(references, str):
        raise RankgaugeError(
            f"the references are {type(references).__name__}, expected a list or a dict"
        )
    if ids is None:
        keys = references if isinstance(references, Mapping) else range(1, len(references) + 1)
        ids = list(keys)
    names = tuple(str(name) for name in ids)
    if len(set(names)) < len(names):
        seen: set[str] = set()
        twice = next(name for name in names if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise RankgaugeError(f"two texts have the id {twice!r}, expected different ids")
    return names


def _values_per_text(what: str, values: ById[V], names: Sequence[str]) -> list[V | None]:
    """What is given for each text, None where nothing is."""
    if isinstance(values, Mapping):
        known = {str(name): value for name, value in values.items()}
        if unknown := known.keys() - set(names):
            raise RankgaugeError(
                f"{what}: there is no text {min(unknown)!r}, expected the ids of the references"
            )
        return [known.get(name) for name in names]
    if isinstance(values, str):
        raise RankgaugeError(f"{what} is one text, expected a list with one for each text")
    if len(values) != len(names):
        raise RankgaugeError(
            f"{what}: {count_phrase(len(values), 'item')} for "
            f"{count_phrase(len(names), 'text')}, expected as "
            "many"
        )
    return list(values)


def _texts(what: str, values: ById[Any], names: Sequence[str]) -> tuple[str, ...]:
    several = _values_per_text(what, values, names)
    return tuple(_text(what, value, name) for value, name in zip(several, names, strict=True))


def _text(what: str, value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise RankgaugeError(f"{what} of text {name!r}: {value!r} is not a text")
    return value


def _references(value: Any, name: str) -> tuple[str, ...]:
    several = [value] if isinstance(value, str) else value
    if not isinstance(several, Sequence) or not several:
        raise RankgaugeError(f"text {name!r} has no reference, expected at least one")
    return tuple(_text("references", each, name) for each in several)


def _outputs(what: str, values: ById[Any], names: Sequence[str]) -> tuple[str | None, ...]:
    return tuple(
        None if value is None else _text(what, value, name)
        for value, name in zip(_values_per_text(what, values, names), names, strict=True)
    )
