"""Which encoder is used, and what it makes of the references and sources of texts.

An encoder gives each token of a text a vector. Vectors take much memory, so they are kept up to a limit;
what was dropped is encoded again.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError
from rankgauge.text.data.texts import Texts
from rankgauge.text.encoders.weights import Floats32
from rankgauge.text.encoders.windows import truncate_tokens

Vectors: TypeAlias = dict[int, Floats32]
"""The vectors of the tokens of a text, by layer: token × width."""

MOST_BYTES = 400_000_000
"""Memory limit for the vectors of references and sources, above which the oldest are dropped."""
BATCH_TOKENS = 8_192
"""Number of tokens encoded at a time."""


class AnyEncoder(Protocol):
    """Protocol of encoders, which metrics such as bertscore need.

    `rankgauge.text.encoders.Encoder` implements it. To use an object of your own, pass it to
    `use_encoder`.

    Parameters
    ----------
    *args, **kwargs
        Ignored: a protocol cannot be instantiated, so implement its methods in a class of your
        own.

    Examples
    --------
    An encoder of letters; its only layer and layer 0 have the same vectors:

    >>> import numpy as np
    >>> from rankgauge.text import Texts, evaluate, use_encoder
    >>> class Letters:
    ...     digest, layers, longest = "letters", 1, 100
    ...
    ...     def tokens(self, texts):
    ...         return [np.array([0, *(ord(each) % 32 for each in text), 31]) for text in texts]
    ...
    ...     def encode(self, tokens, layers, *, truncate=False):
    ...         return [(np.eye(32, dtype=np.float32)[ids],) * len(layers) for ids in tokens]
    >>> use_encoder(Letters())
    >>> texts = Texts(None, ["abcd"], {"system": ["abxy"]})
    >>> evaluate(texts, "bertscore(layer=1)").mean()["system"]
    {'bertscore(layer=1)': 0.5}
    >>> use_encoder(None)
    """

    @property
    def digest(self) -> str:
        """Identifies the weights."""

    @property
    def layers(self) -> int:
        """The number of layers, not counting the embeddings (layer 0)."""

    @property
    def longest(self) -> int:
        """The maximum number of tokens, including the special ones."""

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        """The ids of the tokens of each text, with a special token first and last."""

    def encode(
        self, tokens: Sequence[Ints], layers: Sequence[int], *, truncate: bool = False
    ) -> list[tuple[Floats32, ...]]:
        """Return the vectors of the tokens of each text, for each of these layers: token × width.

        A text that does not fit is truncated with `truncate`, and otherwise encoded in windows.
        """


# Which encoder

_lock = threading.RLock()
_chosen: str | Path | AnyEncoder | None = None
_loaded: tuple[Path, AnyEncoder] | None = None
_context_encoder: ContextVar[AnyEncoder | None] = ContextVar("_of_this_work", default=None)


def use_encoder(encoder: str | Path | AnyEncoder | None) -> None:
    """Choose the encoder that metrics such as bertscore use.

    Parameters
    ----------
    encoder : str, os.PathLike, AnyEncoder or None
        An encoder, or a folder in the layout of Hugging Face, with config.json, tokenizer.json and
        model.safetensors. None restores the default; see `rankgauge.text.encoders.find_encoder`.

    Notes
    -----
    The encoder is loaded when a metric first needs it.

    Examples
    --------
    >>> from rankgauge.text import use_encoder
    >>> use_encoder("models/all-MiniLM-L6-v2")
    >>> use_encoder(None)
    """
    global _chosen
    with _lock:
        _chosen = encoder


def current_encoder() -> AnyEncoder:
    """The encoder that metrics use: the one set with `use_encoder`, or the default.

    Returns
    -------
    AnyEncoder
        The encoder. It is loaded on first use.

    Raises
    ------
    NoEncoderError
        If no encoder was chosen, and none is installed.
    InputError
        If the files of the encoder cannot be read.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from rankgauge.text import use_encoder
    >>> from rankgauge.text.encoders import current_encoder
    >>> use_encoder(SimpleNamespace(digest="letters", layers=1, longest=100))
    >>> current_encoder().digest
    'letters'
    >>> use_encoder(None)
    """
    global _loaded
    if (encoder := _context_encoder.get()) is not None:
        return encoder
    with _lock:
        if _chosen is not None and not isinstance(_chosen, str | Path):
            return _chosen
        from rankgauge.text.encoders import Encoder, find_encoder

        folder = find_encoder(_chosen)
        if _loaded is None or _loaded[0] != folder:
            _loaded = folder, Encoder.load(folder)
        return _loaded[1]


@contextmanager
def encoder_context(encoder: AnyEncoder | None) -> Iterator[None]:
    """Let this be the current encoder within the block, in this thread alone. None changes nothing.

    Work that is sent to other threads or processes takes its encoder along this way.
    """
    token = _context_encoder.set(_context_encoder.get() if encoder is None else encoder)
    try:
        yield
    finally:
        _context_encoder.reset(token)


# Tokens and vectors


def tokens_of(encoder: AnyEncoder, texts: Iterable[str], *, cut: bool = True) -> list[Ints]:
    """The tokens of texts; those of a text that does not fit are cut, but its last token stays."""
    every = [np.asarray(ids, dtype=np.int64) for ids in encoder.tokens(list(texts))]
    return truncate_tokens(every, encoder.longest) if cut else every


def encode_batches(
    encoder: AnyEncoder, tokens: Sequence[Ints], layers: Sequence[int], *, windows: bool = False
) -> Iterator[Vectors]:
    """The vectors of texts, a few texts at a time."""
    start = 0
    while start < len(tokens):
        stop, size = start + 1, len(tokens[start])
        while stop < len(tokens) and size + len(tokens[stop]) <= BATCH_TOKENS:
            size += len(tokens[stop])
            stop += 1
        for each in encoder.encode(tokens[start:stop], layers, truncate=not windows):
            yield dict(zip(layers, each, strict=True))
        start = stop


def unit_vectors(vectors: Floats32) -> Floats:
    """The vectors with length 1, in double precision; a vector of zeros stays."""
    wide = vectors.astype(np.float64)
    length = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return wide / np.where(length > 0, length, 1.0)[:, None]


class TokenWeights(Record):
    """How much each token counts.

    The special tokens, first and last in a text, are only matched: their weight is 0. The weight of
    any other token is 1, or depends on how few references have the token.
    """

    special: Ints
    known: Ints
    values: Floats
    other: float

    @classmethod
    def of(cls, special: Ints, references: Sequence[Ints]) -> TokenWeights:
        """Return the weights by inverse document frequency, as defined in bert-score.

        A token that occurs in n of N references has the weight log((N + 1)/(n + 1)).
        """
        each = [np.unique(ids) for ids in references]
        known, often = np.unique(np.concatenate([special, *each]), return_counts=True)
        often[np.isin(known, special)] -= 1
        number = len(references) + 1
        return cls(special, known, np.log(number / (often + 1)), float(np.log(number)))

    def both(self, ids: Ints) -> Floats:
        """1 for each token, and its weight by inverse document frequency: 2 × token."""
        place = np.minimum(np.searchsorted(self.known, ids), len(self.known) - 1)
        idf = np.where(self.known[place] == ids, self.values[place], self.other)
        return np.stack([np.ones(len(ids)), idf]) * ~np.isin(ids, self.special)


class EmbeddingStore:
    """What an encoder makes of the references and sources of texts."""

    def __init__(self, texts: Texts, encoder: AnyEncoder) -> None:
        self.texts = texts
        self.encoder = encoder
        self.layers: set[int] = set()
        """The requested layers, which are encoded together."""
        # All in one call: a request to the tokenizer takes longer than a short text.
        tokens = iter(tokens_of(encoder, chain.from_iterable(texts.references)))
        self.references = [list(islice(tokens, len(each))) for each in texts.references]
        self._sources: list[Ints] | None = None
        self._weights: dict[bool, TokenWeights] = {}
        self._kept: OrderedDict[tuple[int, int | None], Vectors] = OrderedDict()
        self._bytes = 0
        self.known: dict[Any, Any] = {}
        """Numbers shared by metrics, by kind."""

    @property
    def sources(self) -> list[Ints]:
        """The tokens of each source, however many."""
        if self._sources is None:
            self._sources = tokens_of(self.encoder, self.texts.sources, cut=False)
        return self._sources

    @cached_property
    def special(self) -> Ints:
        """The special tokens first and last in a text."""
        return np.unique(tokens_of(self.encoder, [""])[0])

    def is_counted(self, ids: Ints) -> Bools:
        """Whether each token counts: all but the special ones."""
        return ~np.isin(ids, self.special)

    def weights(self, first: bool) -> TokenWeights:
        """The weights of tokens, over all references or over the first reference of each text."""
        if first not in self._weights:
            chosen = slice(0, 1) if first else slice(None)
            every = [ids for each in self.references for ids in each[chosen]]
            self._weights[first] = TokenWeights.of(self.special, every)
        return self._weights[first]

    def request_layer(self, layer: int) -> list[int]:
        """The layers to encode, this one among them; RankgaugeError where the encoder has fewer."""
        if layer > self.encoder.layers:
            raise RankgaugeError(
                f"bertscore: layer={layer}, but the encoder {self.encoder.digest} has only "
                f"{count_phrase(self.encoder.layers, 'layer')}; use "
                f"bertscore(layer={self.encoder.layers}), or another encoder"
            )
        self.layers.add(layer)
        return sorted(self.layers)

    def reference(self, text: int, number: int, layers: Sequence[int]) -> Vectors:
        """The vectors of a reference of a text."""
        return self._vectors((text, number), self.references[text][number], layers)

    def source(self, text: int, layers: Sequence[int]) -> Vectors:
        """Return the vectors of the source of a text.

        The sources of the next texts, which are needed soon, are encoded with it.
        """
        if not self._has((text, None), layers):
            ahead, size = [text], len(self.sources[text])
            for other in range(text + 1, len(self.sources)):
                size += len(self.sources[other])
                if size > BATCH_TOKENS or self._has((other, None), layers):
                    break
                ahead.append(other)
            tokens = [self.sources[other] for other in ahead]
            every = list(encode_batches(self.encoder, tokens, layers, windows=True))
            for other, vectors in reversed(list(zip(ahead, every, strict=True))):
                self._keep((other, None), vectors)
        return self._vectors((text, None), self.sources[text], layers)

    def _vectors(self, key: tuple[int, int | None], tokens: Ints, layers: Sequence[int]) -> Vectors:
        if not self._has(key, layers):
            self._keep(
                key, next(encode_batches(self.encoder, [tokens], layers, windows=key[1] is None))
            )
        self._kept.move_to_end(key)
        return self._kept[key]

    def _has(self, key: tuple[int, int | None], layers: Sequence[int]) -> bool:
        return key in self._kept and self._kept[key].keys() >= set(layers)

    def _keep(self, key: tuple[int, int | None], vectors: Vectors) -> None:
        """Keep vectors, and drop the oldest ones if there are too many."""
        self._drop(key)
        self._bytes += _size(vectors)
        self._kept[key] = vectors
        while self._bytes > MOST_BYTES and len(self._kept) > 1:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: tuple[int, int | None]) -> None:
        if (vectors := self._kept.pop(key, None)) is not None:
            self._bytes -= _size(vectors)


def _size(vectors: Vectors) -> int:
    return sum(each.nbytes for each in vectors.values())


class _Stores(dict[str, EmbeddingStore]):
    """What encoders made of texts, by their digests. Other processes encode anew."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _Stores, ()


def _new_stores(texts: Texts) -> _Stores:
    return _Stores()


def embedding_store(texts: Texts, encoder: AnyEncoder) -> EmbeddingStore:
    """What the encoder makes of these texts, made once."""
    stores = texts.once(_new_stores)
    if encoder.digest not in stores:
        stores[encoder.digest] = EmbeddingStore(texts, encoder)
    return stores[encoder.digest]
