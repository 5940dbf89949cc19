"""How documents with equal scores are treated: they get an order, or stay groups without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankgauge.core.arrays import Ints, Labels
from rankgauge.core.policies import Ties
from rankgauge.core.seeds import digest, query_key
from rankgauge.data.model import LARGEST_GRADE, POOLED, Judgments, Run, decode
from rankgauge.errors import RankgaugeError
from rankgauge.io.scanning import Piece
from rankgauge.rankings.lists import Rankings, offsets_of
from rankgauge.rankings.tied_lists import TiedRankings


def tie_order(
    run: Run | Piece, rows: NDArray[np.intp], labels: Labels, ties: Ties, seed: int
) -> list[int]:
    """An order of rows, each tied with another of them, as places in `rows`.

    Rows that the policy does not order are ordered by id, the greatest first. So no score depends on the
    order of the file, unless `ties` is "input". `labels` has the label of each row of the run.
    """
    docnos = list(run.documents.take(rows))
    places = list(range(len(rows)))
    if ties == "input":
        return places
    places.sort(key=docnos.__getitem__, reverse=ties != "docno-ascending")
    key: Callable[[int], Any] | None = None
    if ties in ("pessimistic", "optimistic"):
        # 0 first, then the unjudged, which are below 0, then 1 and so on.
        key = np.where(labels == 0, -LARGEST_GRADE, labels)[rows].tolist().__getitem__
    elif ties == "random":
        query = np.searchsorted(run.bounds, rows, side="right") - 1
        queries = np.unique(query)
        keys = {
            q: query_key(seed, raw)
            for q, raw in zip(queries.tolist(), run.queries.take(queries), strict=True)
        }
        drawn = [
            digest(docno, size=16, key=keys[q])
            for docno, q in zip(docnos, query.tolist(), strict=True)
        ]
        key = drawn.__getitem__
    if key is not None:
        places.sort(key=key, reverse=ties == "optimistic")
    return places


def tied_lists(
    rankings: Rankings, tied: NDArray[np.bool_], seeds: NDArray[np.uint64]
) -> TiedRankings:
    """The lists as groups of tied documents.

    `tied` says of each row whether it is tied with the row above.
    """
    starts = np.flatnonzero(~tied)
    return TiedRankings(
        rankings,
        np.append(starts, len(tied)).astype(np.int64),
        np.searchsorted(starts, rankings.offsets).astype(np.int64),
        np.zeros(len(starts), dtype=np.int64),
        seeds,
    )


def append_tail(
    lists: TiedRankings,
    queries: Ints,
    judgments: Judgments,
    retrieved: Labels | Ints,
    documents: int,
) -> TiedRankings:
    """The same lists, each followed by one more tie: the documents that were not retrieved.

    These are the other documents of the collection. Judged and pooled documents have rows, the others
    are only counted (Cooper 1968, Expected search length; McSherry and Najork 2008, Computing
    information retrieval performance measures efficiently in the presence of tied scores).
    RankgaugeError where the collection is too small to hold them.

    `queries` has for each list the number of its query in the judgments, and `retrieved` the rows in
    the judgments of all documents in the lists. The collection has so many `documents`.
    """
    rankings = lists.rankings
    place = np.full(len(judgments.queries), -1, dtype=np.int64)
    place[queries] = np.arange(len(queries))
    query = np.repeat(place, np.diff(judgments.bounds))
    lacking = query >= 0
    lacking[retrieved] = False
    rest = np.flatnonzero(lacking)
    docnos = list(judgments.documents.take(rest))
    rest = rest[sorted(range(len(rest)), key=docnos.__getitem__)]
    rest = rest[np.argsort(query[rest], kind="stable")]
    left = np.bincount(query[rest], minlength=len(rankings))
    unlisted = documents - rankings.lengths - left
    if (unlisted < 0).any():
        short = int(np.argmin(unlisted))
        topic = decode(judgments.queries[queries[short]])
        raise RankgaugeError(
            f"documents={documents} is too small: query {topic!r} has "
            f"{documents - unlisted[short]} retrieved or judged documents; specify the size "
            "of the collection"
        )
    owner = np.concatenate((rankings.each_row(np.arange(len(rankings))), query[rest]))
    order = np.argsort(owner, kind="stable")
    labels = np.where(judgments.grades[rest] < 0, POOLED, judgments.grades[rest])
    rows = None
    if rankings.rows is not None:
        rows = np.concatenate((rankings.rows, np.where(labels < 0, -1, rest)))[order]
    whole = replace(
        rankings,
        labels=np.concatenate((rankings.labels, labels.astype(np.int32)))[order],
        offsets=offsets_of(rankings.lengths + left),
        rows=rows,
    )

    def last(of_groups: Ints, of_tails: Ints) -> Ints:
        return np.insert(of_groups, lists.offsets[1:], of_tails)

    return replace(
        lists,
        rankings=whole,
        bounds=offsets_of(last(np.diff(lists.bounds), left)),
        offsets=lists.offsets + np.arange(len(lists.offsets)),
        unlisted=last(lists.unlisted, unlisted),
    )
