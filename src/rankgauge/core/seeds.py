"""What fixes everything that is drawn: seeds that follow from one seed and the ids of queries."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray


def query_key(seed: int, query: bytes) -> bytes:
    """What fixes everything that is random about a query: the seed and the query's id."""
    return digest(b"%d\0%b" % (seed, query), size=32)


def digest(text: bytes, size: int, key: bytes = b"") -> bytes:
    """A hash of some bytes, such as a seed for everything that is drawn for a query.

    Parameters
    ----------
    text : bytes
        The bytes.
    size : int
        How many bytes the hash has, at most 64.
    key : bytes, default b""
        Different keys give unrelated hashes of the same bytes.

    Returns
    -------
    bytes
        The BLAKE2b hash, the same on every machine.

    Examples
    --------
    >>> from rankgauge.extending import digest
    >>> digest(b"bm25", 4).hex()
    '21b24205'
    """
    import hashlib

    return hashlib.blake2b(text, digest_size=size, key=key).digest()


def list_seeds(seed: int, queries: Iterable[bytes]) -> NDArray[np.uint64]:
    """A seed for each query, from its id, so that no other query changes what is drawn for it."""
    keys = b"".join(query_key(seed, query)[:8] for query in queries)
    return np.frombuffer(keys, dtype="<u8").astype(np.uint64)
