"""Term statistics: how often documents have the terms of queries, and what BM25 asks of a collection."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from rankgauge.core.arrays import Floats, Ints
from rankgauge.core.checks import Integer, Number, check_value
from rankgauge.core.records import Record
from rankgauge.errors import RankgaugeError
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of

LARGEST = 2**31 - 1
"""The largest term count or document length."""


def tokens(text: str) -> list[str]:
    """The words of a text: letters a to z and digits, in lower case.

    >>> tokens("The U.S. economy's 2nd quarter")
    ['the', 'u', 's', 'economy', 's', '2nd', 'quarter']
    """
    return re.findall(r"[a-z0-9]+", text.lower())


class TermStatistics(Record):
    """What BM25 knows of queries and documents: a row for each document of each query.

    The documents of a query are in the order that they have where their scores are equal. `counts` has
    how often a document has each term of its query; where a query has fewer terms than others, the last
    columns are 0.
    """

    counts: Ints
    """rows × terms."""
    lengths: Ints
    """The number of words in each row's document."""
    offsets: Ints
    """The first row of each query, followed by the number of rows."""
    frequency: Ints
    """queries × terms: the number of documents in the collection that contain the term."""
    repeated: Ints
    """queries × terms: the number of times the term occurs in the query."""
    documents: int
    """The number of documents in the collection."""
    mean_length: Fraction
    """The mean document length of the collection, in words."""
    queries: tuple[str, ...]
    docnos: tuple[str, ...]
    """The document of each row."""

    @classmethod
    def of_texts(
        cls,
        queries: Mapping[str, str],
        documents: Mapping[str, str],
        *,
        matching: bool = True,
        tokenizer: Callable[[str], list[str]] = tokens,
    ) -> TermStatistics:
        """The statistics of texts.

        Parameters
        ----------
        queries
            The text of each query, by id.
        documents
            The text of each document of the collection, by id.
        matching
            Whether each query has only documents with at least one of its terms. Otherwise it has all.
        tokenizer
            What makes words of a text.
        """
        names = sorted(  # ties: docno descending
            documents, key=lambda name: name.encode("utf-8", "surrogatepass"), reverse=True
        )
        words = [Counter(tokenizer(documents[name])) for name in names]
        lengths = [sum(each.values()) for each in words]
        frequency = Counter(word for each in words for word in each)
        counts, rows, in_queries = [], [], []
        for text in queries.values():
            asked = Counter(tokenizer(text))
            in_queries.append(asked)
            own = list(range(len(words)))
            if matching:
                own = [number for number in own if not asked.keys().isdisjoint(words[number])]
            rows.append(own)
            counts.append([[words[number][word] for word in asked] for number in own])
        return cls.of_counts(
            counts,
            [[lengths[number] for number in own] for own in rows],
            [[frequency[word] for word in asked] for asked in in_queries],
            documents=len(names),
            mean_length=Fraction(sum(lengths), max(len(names), 1)),
            repeated=[list(asked.values()) for asked in in_queries],
            queries=list(queries),
            docnos=[[names[number] for number in own] for own in rows],
        )

    @classmethod
    def of_counts(
        cls,
        counts: Sequence[ArrayLike],
        lengths: Sequence[ArrayLike],
        frequency: Sequence[ArrayLike],
        *,
        documents: int,
        mean_length: float | Fraction,
        repeated: Sequence[ArrayLike] | None = None,
        queries: Sequence[str] | None = None,
        docnos: Sequence[Sequence[str]] | None = None,
    ) -> TermStatistics:
        """The statistics from counts.

        Parameters
        ----------
        counts
            For each query an array of documents × terms: how often the document has the term. The
            documents of a query are in the order that they have where their scores are equal.
        lengths
            For each query the number of words of each of its documents.
        frequency
            For each query the number of documents of the collection that have each term.
        documents
            The number of documents in the collection.
        mean_length
            The mean document length of the collection, in words.
        repeated
            For each query how often it has each term; once, if this is not given.
        queries, docnos
            The ids of the queries, and for each query those of its documents; by default numbers from 1.
        """
        total = check_value("documents", documents, Integer(0))
        if not isinstance(mean_length, Fraction):
            mean_length = Fraction(check_value("mean_length", mean_length, Number(0)))
        ids = [str(number + 1) for number in range(len(counts))] if queries is None else queries
        for name, column in (("lengths", lengths), ("frequency", frequency), ("queries", ids)):
            _check_same_number(name, len(column), len(counts))
        width = [
            _check_counts(f"frequency of query {ids[i]}", each, 1)
            for i, each in enumerate(frequency)
        ]
        most = max((len(each) for each in width), default=0)
        blocks, longs = [np.zeros((0, most), np.int64)], [np.zeros(0, np.int64)]
        for number, (own, long) in enumerate(zip(counts, lengths, strict=True)):
            about = f"query {ids[number]}"
            sizes = _check_counts(f"lengths of {about}", long, 1)
            shape = (len(sizes), len(width[number]))
            empty = np.zeros(shape, np.int64) if not np.size(own) else own
            block = _check_counts(f"counts of {about}", empty, 2)
            if block.shape != shape:
                raise RankgaugeError(
                    f"counts of {about}: an array of shape {block.shape}, expected {shape}: "
                    "one row per document, one column per term"
                )
            if (width[number] > total).any():
                raise RankgaugeError(
                    f"frequency of {about}: {width[number].max()} documents contain a term, "
                    f"expected at most {total}, the number of documents in the collection"
                )
            if (block.sum(axis=1) > sizes).any():
                row = int(np.argmax(block.sum(axis=1) > sizes))
                raise RankgaugeError(
                    f"lengths of {about}: document {row + 1} has {sizes[row]} words, expected at least "
                    f"{block[row].sum()}, the sum of its counts"
                )
            blocks.append(np.pad(block, ((0, 0), (0, most - block.shape[1]))))
            longs.append(sizes)
        longest = max((int(each.max(initial=0)) for each in longs), default=0)
        if mean_length * total < longest * (1 - Fraction(1, 10**9)):
            raise RankgaugeError(
                f"mean_length={float(mean_length):g} of {total:,} documents, but one contains "
                f"{longest:,} words: expected a larger mean"
            )
        sizes_of_lists = [len(each) for each in longs[1:]]
        if docnos is None:
            docnos = [[str(row + 1) for row in range(size)] for size in sizes_of_lists]
        _check_same_number("docnos", len(docnos), len(counts))
        for own_names, size in zip(docnos, sizes_of_lists, strict=True):
            _check_same_number("docnos of a query", len(own_names), size, "documents")
        asked = [np.ones(len(each), np.int64) for each in width]
        if repeated is not None:
            _check_same_number("repeated", len(repeated), len(counts))
            asked = [_check_counts("repeated", each, 1) for each in repeated]
            for one, other in zip(asked, width, strict=True):
                _check_same_number("repeated", len(one), len(other), "terms")
        return cls(
            np.concatenate(blocks),
            np.concatenate(longs),
            offsets_of(sizes_of_lists),
            _pad_rows(width, most),
            _pad_rows(asked, most),
            total,
            mean_length,
            tuple(ids),
            tuple(name for own_names in docnos for name in own_names),
        )

    def __repr__(self) -> str:
        return (
            f"TermStatistics: {len(self.queries)} queries, {len(self.lengths)} rows, "
            f"{self.documents} documents, mean length {float(self.mean_length):g}"
        )

    def rankings(self, judgments: Mapping[str, Mapping[str, int]]) -> Rankings:
        """The rows as lists of labels, by the grade of each document for each query.

        A document without a grade has the label -1: it is not judged.
        """
        known = [judgments.get(query, {}) for query in self.queries]
        judged = JudgedLabels.of(
            *([grade for grade in own.values() if grade >= 0] for own in known)
        )
        number = np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))
        labels = [
            known[query].get(docno, -1)
            for query, docno in zip(number.tolist(), self.docnos, strict=True)
        ]
        return Rankings(
            np.array(labels, dtype=np.int32), self.offsets, np.arange(len(self.queries)), judged
        )

    def each_row(self, per_query: Floats) -> Floats:
        """The value of each query, repeated for each of its rows."""
        rows: Floats = np.repeat(per_query, np.diff(self.offsets), axis=0)
        return rows


def _check_counts(name: str, values: ArrayLike, dimensions: int) -> Ints:
    """Counts as whole numbers; RankgaugeError if they are none."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise RankgaugeError(f"{name}: not an array of numbers, expected whole numbers") from None
    if not numbers.size:
        numbers = numbers.reshape(
            numbers.shape if numbers.ndim == dimensions else (0,) * dimensions
        )
    if numbers.ndim != dimensions:
        raise RankgaugeError(f"{name}: {numbers.ndim} dimensions, expected {dimensions}")
    if not ((numbers >= 0) & (numbers <= LARGEST) & (numbers == np.floor(numbers))).all():
        raise RankgaugeError(f"{name}: a number is negative or not whole, expected counts")
    return numbers.astype(np.int64)


def _check_same_number(name: str, one: int, other: int, things: str = "queries") -> None:
    if one != other:
        raise RankgaugeError(f"{name}: {one} for {other} {things}, expected the same number")


def _pad_rows(rows: Sequence[Ints], width: int) -> Ints:
    whole = np.zeros((len(rows), width), dtype=np.int64)
    for number, row in enumerate(rows):
        whole[number, : len(row)] = row
    return whole
