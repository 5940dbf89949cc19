"""Texts with more tokens than an encoder has positions: cut off, or in overlapping windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.core.records import Record

OVERLAP = 128
"""Minimum overlap of neighboring windows in tokens, if the encoder has enough positions."""


def truncate_tokens(tokens: Iterable[Ints], longest: int) -> list[Ints]:
    """The tokens of texts, of which those that do not fit are left out; the last one stays."""
    return [
        ids if len(ids) <= longest else np.append(ids[: longest - 1], ids[-1]) for ids in tokens
    ]


class Window(Record):
    """A part of a text that is encoded on its own, between the two special tokens of the text.

    `places` are the places of its tokens in the text. The tokens that are closer to the middle of this
    window than to that of any other are `kept`, a range within the window: they get their vectors here.
    """

    places: Ints
    kept: slice


def windows(length: int, longest: int) -> Iterator[Window]:
    """Yield the windows of a text of `length` tokens, each with at most `longest` tokens.

    Both numbers include the special tokens, which are first and last. The kept tokens of all
    windows, one after another, are the text.

    >>> [(w.places.tolist(), w.places[w.kept].tolist()) for w in windows(7, 5)]
    [([0, 1, 2, 3, 6], [0, 1, 2]), ([0, 3, 4, 5, 6], [3, 4, 5, 6])]
    """
    if length <= longest:
        yield Window(np.arange(length), slice(0, length))
        return
    inside, room = length - 2, longest - 2
    overlap = min(OVERLAP, room // 2)
    count = -((overlap - inside) // (room - overlap))
    starts = (inside - room) * np.arange(count) // (count - 1) + 1
    # Halfway between the start of a window and the end of the one before.
    cuts = [0, *((starts[1:] + starts[:-1] + room) // 2).tolist(), length]
    for start, first, after in zip(starts.tolist(), cuts[:-1], cuts[1:], strict=True):
        places = np.concatenate([[0], np.arange(start, start + room), [length - 1]])
        begin = first - start + 1 if first else 0
        end = after - start + 1 if after < length else longest
        yield Window(places, slice(begin, end))
