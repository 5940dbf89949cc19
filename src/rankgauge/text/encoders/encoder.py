"""An encoder: the tokens of texts, and a vector for each token from each layer of a network."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.core.checks import Integer, check_value
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.text.encoders.bert import BertNetwork
from rankgauge.text.encoders.config import Config, read_config
from rankgauge.text.encoders.folder import CONFIG, TOKENIZER, WEIGHTS, digest_of, files_of
from rankgauge.text.encoders.threads import limit_blas_threads
from rankgauge.text.encoders.tokenization import Tokenization
from rankgauge.text.encoders.weights import Floats32, TensorFile
from rankgauge.text.encoders.windows import truncate_tokens, windows
from rankgauge.workers import results_of

MOST_ATTENTION = 20_000
"""Maximum number of tokens in a text for attention, which needs a number for each pair of tokens."""


class Encoder:
    """An encoder such as BERT, RoBERTa or MiniLM; create one with `Encoder.load`.

    A text with more than `longest` tokens is encoded in overlapping windows. Each token gets its
    vector from the window in which it is closest to the middle. With `truncate`, the text is
    truncated instead, as in the package bert-score.

    Parameters
    ----------
    folder : str or os.PathLike
        The folder of the encoder.
    files : dict
        The files of the folder by name.
    config : Config
        The contents of config.json.
    tokenization : Tokenization
        Splits texts into tokens, according to tokenizer.json.
    network : BertNetwork
        Computes the states of the tokens.

    Notes
    -----
    The vectors of a text do not depend on the other texts. Texts are encoded in parallel, each with one
    thread of NumPy's linear algebra library, if the package threadpoolctl is installed. Without it,
    the number of threads may change the vectors by rounding.

    Examples
    --------
    >>> from rankgauge.text.encoders import Encoder
    >>> encoder = Encoder.load("models/all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> [vectors] = encoder.encode(encoder.tokens(["a cat sat"]), layers=[5])  # doctest: +SKIP
    >>> vectors[0].shape  # doctest: +SKIP
    (5, 384)
    """

    def __init__(
        self,
        folder: str | Path,
        files: dict[str, Path],
        config: Config,
        tokenization: Tokenization,
        network: BertNetwork,
    ) -> None:
        self.folder = Path(folder)
        """The folder of the encoder."""
        self.layers = config.layers
        """The number of layers."""
        self.width = config.width
        """The length of a vector."""
        self.longest = config.longest
        """The maximum number of tokens that are encoded at once, including the special ones."""
        self.digest = digest_of(files)
        """A short digest of weights, configuration and tokenizer, independent of the folder."""
        self._vocabulary = config.vocabulary
        self._weights = files[WEIGHTS]
        self._tokenization = tokenization
        self._network = network

    @staticmethod
    def load(folder: str | Path) -> Encoder:
        """Load the encoder in a folder with config.json, tokenizer.json and model.safetensors.

        NumPy computes the vectors.

        Parameters
        ----------
        folder : str or os.PathLike
            The folder.

        Returns
        -------
        Encoder
            The encoder.

        Raises
        ------
        InputError
            If a file is missing, cannot be read, or does not belong to a supported encoder.
        """
        files = files_of(folder)
        config = read_config(files[CONFIG])
        tokenization = Tokenization(files[TOKENIZER], config.vocabulary, config.type.leading_space)
        network = BertNetwork(config, TensorFile(files[WEIGHTS]))
        return Encoder(folder, files, config, tokenization, network)

    def __repr__(self) -> str:
        return f"Encoder({str(self.folder)!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _load_again, (str(self.folder.absolute()), self.digest)

    def tokens(self, texts: Sequence[str]) -> list[Ints]:
        """Return the ids of the tokens of each text, with a special token first and last.

        White space around a text is ignored.
        """
        return self._tokenization.ids(texts)

    def decode(self, token: int) -> str:
        """The text of a token."""
        return self._tokenization.token(token)

    def long(self, tokens: Sequence[Ints]) -> int:
        """Return the number of texts with more tokens than fit at once."""
        return sum(len(ids) > self.longest for ids in tokens)

    def truncated(self, ids: Ints) -> Ints:
        """Truncate the tokens of a text to the number that fits at once, keeping the last one."""
        return truncate_tokens([ids], self.longest)[0]

    def encode(
        self, tokens: Sequence[Ints], layers: Sequence[int], *, truncate: bool = False
    ) -> list[tuple[Floats32, ...]]:
        """Return the unnormalized token vectors of each text, for each of these layers.

        Layer 0 contains the inputs of the first layer.
        """
        asked = tuple(check_value("layer", layer, Integer(0, self.layers)) for layer in layers)
        texts = [self._check_tokens(ids) for ids in tokens]
        if truncate:
            texts = truncate_tokens(texts, self.longest)
        with limit_blas_threads():
            done = results_of(partial(self._states, layers=asked), texts)
            return [states for _, states in done]

    def attention(self, tokens: Ints, *, truncate: bool = False) -> Floats32:
        """Return how much each token of a text attends to each token in the last layer.

        The result is averaged over the heads: token × token, and each row sums to 1. In a text
        with several windows, a token attends only to the tokens of its window.
        """
        ids = self._check_tokens(tokens)
        ids = self.truncated(ids) if truncate else ids
        length = len(ids)
        if length > MOST_ATTENTION:
            raise RankgaugeError(
                f"the text has {length:,} tokens, expected at most {MOST_ATTENTION:,} for "
                "attention; use truncate=True"
            )
        whole = np.zeros((length, length), dtype=np.float32)
        with limit_blas_threads(), np.errstate(all="ignore"):
            for window in windows(length, self.longest):
                part = self._network.attention(ids[window.places])
                whole[np.ix_(window.places[window.kept], window.places)] = part[window.kept]
        self._check_finite(whole)
        return whole

    def _states(self, ids: Ints, layers: tuple[int, ...]) -> tuple[Floats32, ...]:
        parts = []
        # Overflow, which absurd weights lead to, is noticed in the vectors.
        with np.errstate(all="ignore"):
            for window in windows(len(ids), self.longest):
                states = self._network.states(ids[window.places], layers)
                parts.append([state[window.kept] for state in states])
        whole = tuple(map(_join, zip(*parts, strict=True)))
        for state in whole:
            self._check_finite(state)
        return whole

    def _check_tokens(self, tokens: Ints) -> Ints:
        ids = np.asarray(tokens, dtype=np.int64)
        most = self._vocabulary
        if ids.ndim != 1 or len(ids) < 2 or ids.min() < 0 or ids.max() >= most:
            raise RankgaugeError(
                "these are not the tokens of a text, expected at least two ids from 0 to "
                f"{most - 1:,}; get them from Encoder.tokens"
            )
        return ids

    def _check_finite(self, values: Floats32) -> None:
        if not np.isfinite(values).all():
            raise InputError(
                str(self._weights),
                None,
                "these weights lead to vectors that are not finite; choose another encoder",
            )


def _join(parts: tuple[Floats32, ...]) -> Floats32:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


_received_encoders: dict[tuple[str, str], Encoder] = {}
"""The last encoder received from another process, by folder and digest."""


def _load_again(folder: str, digest: str) -> Encoder:
    """The encoder that another process has, from the same folder. It is loaded once."""
    encoder = _received_encoders.get((folder, digest))
    if encoder is None:
        encoder = Encoder.load(folder)
        if encoder.digest != digest:
            raise InputError(
                folder,
                None,
                "the files of this encoder changed after it was loaded: the digest is "
                f"{encoder.digest}, expected {digest}; load the encoder again, and start over",
            )
        _received_encoders.clear()
        _received_encoders[folder, digest] = encoder
    return encoder
