"""The tokenizer of an encoder, from tokenizer.json, by the package tokenizers in a separate process."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.core.notes import count_phrase
from rankgauge.errors import InputError, missing_package
from rankgauge.io.rows import describe_value
from rankgauge.separate.launch import Cause, ProcessFailure
from rankgauge.separate.service import Service, ServiceEnded
from rankgauge.text.encoders.folder import read_json
from rankgauge.text.encoders.token_service import tokenizer_handler, tokenizer_memory

SECONDS = 60
"""Time limit for any request, in addition to the time for its texts. Most take milliseconds."""

CHARACTERS_PER_SECOND = 10_000
"""Number of characters that a tokenizer must process per second. Slow ones manage 200,000."""

BYTES_PER_SECOND = 1_000_000
"""Number of bytes of tokenizer.json that must be read per second. Slow machines read several million."""

BATCH_CHARACTERS = 250_000
"""Number of characters sent to the tokenizer at a time."""

REMEDY = "download tokenizer.json of the model again"


class Tokenization:
    """Gives the ids of the tokens of a text, a special token first and last.

    A separate process computes them, within limits of memory and time, since tokenizer.json may come
    from anywhere.

    Parameters
    ----------
    file
        tokenizer.json.
    vocabulary
        How many ids the network knows.
    leading_space
        Whether a text starts with a space, as bert-score has it for RoBERTa.
    """

    def __init__(self, file: Path, vocabulary: int, leading_space: bool) -> None:
        self.file = file
        self._before = " " if leading_space else ""
        content, entries = read_json(file)
        self._check_dropout(entries)
        _check_library()
        seconds = SECONDS + len(content) // BYTES_PER_SECOND
        room = tokenizer_memory(content)
        self._service = Service(tokenizer_handler, str(file), content, room, seconds)
        largest = json.loads(self._request("largest_id", None, "while reading it", seconds))
        if largest >= vocabulary:
            raise self._input_error(
                f"it has the token id {largest:,}, but config.json has vocab_size "
                f"{vocabulary:,}; use both files from the same model"
            )
        special, word = (ids.tolist() for ids in self.ids(["", "a"]))
        if len(special) != 2:
            raise self._input_error(
                f"it produces {len(special)} tokens for an empty text, expected two: a special "
                "token first and one last, such as [CLS] and [SEP]. Download tokenizer.json "
                "of the model again"
            )
        if len(word) < 3 or [word[0], word[-1]] != special:
            raise self._input_error(
                "the special tokens of an empty text are not the first and last tokens of "
                f"other texts; {REMEDY}"
            )

    def ids(self, texts: Sequence[str]) -> list[Ints]:
        """The ids of the tokens of each text, without the white space around it."""
        every: list[Ints] = []
        for batch in _batches([self._prepare_text(text) for text in texts]):
            characters = sum(map(len, batch))
            what = f"for {count_phrase(len(batch), 'text')} with {count_phrase(characters, 'character')}"
            seconds = SECONDS + characters // CHARACTERS_PER_SECOND
            numbers = np.frombuffer(self._request("ids", batch, what, seconds), dtype=np.int64)
            counts, ids = numbers[: len(batch)], numbers[len(batch) :]
            every.extend(each.copy() for each in np.split(ids, np.cumsum(counts)[:-1]))
        return every

    def token(self, number: int) -> str:
        """The text of a token."""
        answer = self._request("token", int(number), "for the text of a token", SECONDS)
        text: str = json.loads(answer)
        return text

    def _prepare_text(self, text: str) -> str:
        stripped = text.strip()
        words = self._before + stripped if stripped else ""
        # Lone surrogates have no UTF-8; they become question marks.
        return words.encode(errors="replace").decode()

    def _check_dropout(self, entries: dict[str, object]) -> None:
        model = entries.get("model")
        dropout = model.get("dropout") if isinstance(model, dict) else None
        if dropout:
            raise self._input_error(
                f"dropout is {describe_value(dropout)}, which makes the tokens of a text random; "
                "set dropout "
                "to null"
            )

    def _request(self, method: str, argument: object, what: str, seconds: int) -> bytes:
        """The answer of the separate process; InputError if the process ends instead."""
        request = json.dumps([method, argument], ensure_ascii=False).encode()
        try:
            return self._service.ask(request, seconds)
        except ServiceEnded as error:
            raise self._input_error(_describe_failure(error.ending, what, seconds)) from None

    def _input_error(self, fault: str) -> InputError:
        return InputError(str(self.file), None, fault)


def _batches(texts: list[str]) -> Iterator[list[str]]:
    """The texts in order, AT_ONCE characters at a time; a longer text is a batch of its own."""
    batch: list[str] = []
    size = 0
    for text in texts:
        size += len(text) + 1
        if batch and size > BATCH_CHARACTERS:
            yield batch
            batch, size = [], len(text) + 1
        batch.append(text)
    if batch:
        yield batch


def _describe_failure(ending: ProcessFailure, what: str, seconds: int) -> str:
    """What a user is told about a separate process that ended."""
    expected = f"expected the tokenizer.json of an encoder; {REMEDY}"
    match ending.cause:
        case Cause.MEMORY:
            return f"the tokenizer needs too much memory {what}, {expected}"
        case Cause.TIME:
            return f"the tokenizer needs more than {count_phrase(seconds, 'second')} {what}, {expected}"
        case Cause.STOPPED:
            return (
                "the tokenizer process was stopped twice; the system may be short of memory. "
                "Try again with more memory (the file itself may be fine)"
            )
        case Cause.START:
            return (
                f"the tokenizer process could not start ({ending.line}). Check that "
                f"{sys.executable} can import rankgauge and tokenizers (the file itself may be "
                "fine)"
            )
    return f"the tokenizer crashed {what}, {expected}"


def _check_library() -> None:
    from importlib.util import find_spec

    if find_spec("tokenizers") is None:
        raise missing_package("tokenizers", "text")
