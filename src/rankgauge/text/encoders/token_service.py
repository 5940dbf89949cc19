"""What the separate process of a tokenizer does: it reads tokenizer.json and makes tokens of texts.

The package tokenizers computes the tokens. It may crash over a file from outside, or take all memory.
NumPy is not imported, since the process should start quickly.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from rankgauge.core.notes import count_phrase
from rankgauge.errors import InputError
from rankgauge.separate.inside import limit_memory

T = TypeVar("T")

MEMORY = 1 << 29
"""Number of bytes that the process may allocate in addition to space for the tokenizer and the texts."""

MEMORY_PER_BYTE_OF_FILE = 64
"""A vocabulary in memory takes up to 56 bytes for each byte of tokenizer.json."""

MEMORY_PER_BYTE_OF_TEXT = 1024
"""A text with its tokens takes up to 640 bytes for each character."""

MOST_GROWTH, GROWTH_ROOM = 64, 1_000
"""A text of n characters has at most MOST_GROWTH · n + GROWTH_ROOM characters after normalizing, and as
many tokens. In Unicode a character becomes 18 characters or 33 bytes at most (U+FDFA)."""


def tokenizer_memory(content: bytes) -> int:
    """How many bytes the process of this tokenizer.json may allocate, besides room for texts."""
    return MEMORY + MEMORY_PER_BYTE_OF_FILE * len(content)


def tokenizer_handler(source: str, content: bytes) -> Callable[[bytes], bytes]:
    """The function that answers requests to a tokenizer.

    A request is JSON: the name of a method of `LimitedTokenizer`, and its argument.
    """
    tokenizer = LimitedTokenizer(source, content)
    methods: dict[str, Callable[[Any], bytes]] = {
        "largest_id": tokenizer.largest_id,
        "ids": tokenizer.ids,
        "token": tokenizer.token,
    }

    def answer(request: bytes) -> bytes:
        name, argument = json.loads(request)
        return methods[name](argument)

    return answer


class LimitedTokenizer:
    """A tokenizer of the package tokenizers; InputError for whatever it fails on."""

    def __init__(self, source: str, content: bytes) -> None:
        from tokenizers import Tokenizer

        self._source = source
        self._room = tokenizer_memory(content)
        self._tokenizer: Any = self._call_guarded(
            lambda: Tokenizer.from_str(content.decode()), "read"
        )
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._normalizers = self._call_guarded(
            lambda: _normalizers_to_check(self._tokenizer.normalizer), "read"
        )

    def largest_id(self, _: None) -> bytes:
        """The largest id of a token, as JSON; -1 without tokens."""
        ids = self._call_guarded(lambda: self._tokenizer.get_vocab(with_added_tokens=True), "read")
        return json.dumps(max(ids.values(), default=-1)).encode()

    def ids(self, texts: list[str]) -> bytes:
        """How many tokens each text has, then the ids of all tokens, as 64-bit integers."""
        longest = max((len(text.encode()) for text in texts), default=0)
        limit_memory(self._room + MEMORY_PER_BYTE_OF_TEXT * longest)
        counts, ids = array("q"), array("q")
        for text in texts:
            of_text = self._call_guarded(partial(self._ids, text), "used")
            counts.append(len(of_text))
            ids.extend(of_text)
        return counts.tobytes() + ids.tobytes()

    def token(self, number: int) -> bytes:
        """The text of a token, as JSON."""
        work = partial(self._tokenizer.decode, [number], skip_special_tokens=False)
        return json.dumps(self._call_guarded(work, "used")).encode()

    def _ids(self, text: str) -> list[int]:
        normalized = text
        # One by one: normalizers that multiply a text are noticed before the text is too long.
        for normalizer in self._normalizers:
            normalized = normalizer.normalize_str(normalized)
            self._check_growth(text, len(normalized), "characters by normalizing")
        encoding = self._tokenizer.encode(text)
        self._check_growth(text, len(encoding), "tokens")
        ids: list[int] = encoding.ids
        return ids

    def _check_growth(self, text: str, length: int, what: str) -> None:
        most = MOST_GROWTH * len(text) + GROWTH_ROOM
        if length > most:
            raise self._input_error(
                f"the tokenizer produced {length:,} {what} from a text of "
                f"{count_phrase(len(text), 'character')}, expected at most {most:,}; download "
                "tokenizer.json of the model again"
            )

    def _call_guarded(self, work: Callable[[], T], done: str) -> T:
        try:
            return work()
        except BaseException as error:
            # A panic of the library is no Exception, so that nobody catches it by chance.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            if isinstance(error, MemoryError | InputError):
                raise
            reason = " ".join(str(error).split())[:200]
            raise self._input_error(
                f"the tokenizer cannot be {done} ({reason}), expected the tokenizer.json of an encoder"
            ) from None

    def _input_error(self, fault: str) -> InputError:
        return InputError(self._source, None, fault)


def _normalizers_to_check(normalizer: Any) -> list[Any]:
    """The normalizers, in order, whose results are checked.

    BertNormalizer alone is not among them: it adds at most two spaces per character, and computing it
    twice would take a third longer.
    """
    from tokenizers import normalizers

    if normalizer is None or isinstance(normalizer, normalizers.BertNormalizer):
        return []
    # Old versions of tokenizers cannot take a sequence apart. A sequence in a sequence stays together.
    if isinstance(normalizer, normalizers.Sequence) and hasattr(normalizer, "__len__"):
        return [normalizer[place] for place in range(len(normalizer))]
    return [normalizer]
