"""The tokenizer of an encoder, from tokenizer.json, by the package tokenizers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rankgauge.arrays import Ints
from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.json_text import described
from rankgauge.text.encoders.folder import read_json

T = TypeVar("T")


class Tokenization:
    """Gives the ids of the tokens of a text, a special token first and last.

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
        text, content = read_json(file)
        self._check(content)
        self._tokenizer: Any = self._guarded(lambda: _library().from_str(text.decode()), "read")
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        ids = self._guarded(lambda: self._tokenizer.get_vocab(with_added_tokens=True), "read")
        most = max(ids.values(), default=-1)
        if most >= vocabulary:
            raise self._refusal(
                f"it has the token id {most:,}, but config.json has vocab_size {vocabulary:,}; take "
                "both files from the same model"
            )
        self._special = self.ids("")
        if len(self._special) != 2:
            raise self._refusal(
                f"it gives {len(self._special)} tokens for an empty text, expected two: a special token "
                "first and one last, such as [CLS] and [SEP]. Take tokenizer.json from the model again"
            )
        word = self.ids("a")
        if len(word) < 3 or [word[0], word[-1]] != self._special.tolist():
            raise self._refusal(
                "the special tokens of an empty text are not first and last in other texts; take "
                "tokenizer.json from the model again"
            )

    def ids(self, text: str) -> Ints:
        """The ids of the tokens of a text, without the white space around it."""
        stripped = text.strip()
        words = self._before + stripped if stripped else ""
        # Lone surrogates have no UTF-8; they become question marks.
        words = words.encode(errors="replace").decode()
        encoding = self._guarded(lambda: self._tokenizer.encode(words), "used")
        return np.array(encoding.ids, dtype=np.int64)

    def token(self, number: int) -> str:
        """The text of a token."""
        text: str = self._guarded(
            lambda: self._tokenizer.decode([int(number)], skip_special_tokens=False), "used"
        )
        return text

    def _check(self, content: dict[str, object]) -> None:
        model = content.get("model")
        dropout = model.get("dropout") if isinstance(model, dict) else None
        if dropout:
            raise self._refusal(
                f"dropout is {described(dropout)}, which makes the tokens of a text random; set dropout "
                "to null"
            )

    def _guarded(self, work: Callable[[], T], done: str) -> T:
        try:
            return work()
        except BaseException as error:
            # A panic of the library is no Exception, so that nobody catches it by chance.
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            if isinstance(error, MemoryError | RankgaugeError):
                raise
            reason = " ".join(str(error).split())[:200]
            raise self._refusal(
                f"the tokenizer cannot be {done} ({reason}), expected the tokenizer.json of an encoder"
            ) from None

    def _refusal(self, fault: str) -> InputError:
        return InputError(str(self.file), None, fault)


def _library() -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise RankgaugeError(
            "an encoder needs the package tokenizers, which is not installed; run "
            "pip install 'rankgauge[text]'"
        ) from None
    return Tokenizer
