"""One run made from several: `fuse` for whatever users give, `fuse_pool` for a pool."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankgauge.core.arrays import Bools, Floats
from rankgauge.core.checks import Number, check_value, one_of
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import DEFAULT_ABSENT, DEFAULT_FUSION, DEFAULT_NORMALIZE, Absent
from rankgauge.core.records import Record
from rankgauge.data.model import Run, decode
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.calls import checked_call, describe
from rankgauge.evaluation.inputs import Runs, label, sources_of
from rankgauge.fusion.methods import METHODS, Entries, FusionMethod, parameter_values
from rankgauge.fusion.normalizations import NORMALIZATIONS, fill_absent, normalize_scores
from rankgauge.fusion.pool import Pool, pool_of
from rankgauge.native import segments
from rankgauge.rankings.single_precision import separate_scores

LARGEST_SCORE = float(np.finfo(np.float32).max) / 2
"""The largest score in a fused run, which leaves room in single precision to separate lower scores."""

_NO_NORMALIZATION = "none"

FORM = 'fuse([bm25, dense], "rrf")'
"""How `fuse` is called."""


@checked_call(FORM)
def fuse(
    runs: Runs,
    method: str = DEFAULT_FUSION,
    *,
    normalize: str = DEFAULT_NORMALIZE,
    weights: Sequence[float] | None = None,
    absent: Absent = DEFAULT_ABSENT,
    name: str | None = None,
    **parameters: float,
) -> Run:
    """Fuse two or more runs into one.

    For each query, the fused run has every document that any of the runs has, in rank order.

    Parameters
    ----------
    runs : runs
        At least two runs, in any form that `evaluate` takes.
    method : str, default "wsum"
        How the runs are fused. By scores: "wsum", "sum", "mnz", "gmnz", "anz", "min", "max", "med" (the
        median, not the distance MED), "wmnz" or "mixed". By ranks: "rrf", "isr", "log_isr", "logn_isr",
        "rbc", "borda" or "condorcet". docs/FUSION.md has the formulas.
    normalize : str, default "min-max"
        How the scores of each list are made comparable: "min-max", "max", "sum", "z", "rank", "borda" or
        "none". Rank-based methods use no scores and accept only the default or "none".
    weights : sequence of float, optional
        A weight for each run, in their order, for "wsum", "rrf", "wmnz", "mixed", "borda" and
        "condorcet". By default, 1 for each.
    absent : {"minimum", "zero", "skip"}, default "minimum"
        The score of a document missing from a list. "minimum": the list's lowest normalized score.
        "zero": 0. "skip": the list is ignored for that document. Rank-based methods and
        normalize="borda" accept only the default.
    name : str, optional
        The name of the fused run. By default, the name of the method.
    **parameters : float
        Parameters of the method: `k` of "rrf" (default 60), `gamma` of "gmnz" (1), `sigma` of "logn_isr"
        (0.01) and `persistence` of "rbc" (0.9).

    Returns
    -------
    Run
        The fused run.

    Raises
    ------
    RankgaugeError
        If there are fewer than two runs, if a run shares no query with another run, or if the method
        does not exist or does not take these settings.
    InputError
        If a run cannot be read, or has a score that is NaN.

    Notes
    -----
    Scores that differ also differ in single precision; where needed, a score is lowered by a relative
    1e-7 or so. Thus trec_eval up to 9.0.7, which compares in single precision, produces the same order.

    Examples
    --------
    >>> bm25 = {"q1": {"d1": 12.5, "d2": 11.0, "d3": 7.5}}
    >>> dense = {"q1": {"d2": 0.9, "d4": 0.7}}
    >>> run = fuse([bm25, dense], weights=(0.5, 0.5))
    >>> run.documents.texts(), run.scores.tolist()
    (['d2', 'd1', 'd4', 'd3'], [0.85, 0.5, 0.0, 0.0])

    Reciprocal rank fusion:

    >>> fuse([bm25, dense], "rrf", k=60).documents.texts()
    ['d2', 'd1', 'd4', 'd3']
    """
    if not isinstance(method, str) or (method not in METHODS and os.path.exists(method)):
        raise RankgaugeError(f"method: {describe(method)} is not a fusion method; write {FORM}")
    fusion = Fusion.of(method, normalize=normalize, weights=weights, absent=absent, **parameters)
    return fusion.fuse_pool(pool_of(read_runs(runs)), name)


class Fusion(Record):
    """A method with its settings, all of them checked. `fuse_pool` applies it to a pool."""

    method: FusionMethod
    normalize: str
    weights: tuple[float, ...] | None
    absent: Absent
    parameters: dict[str, float]

    @classmethod
    def of(
        cls,
        method: str = DEFAULT_FUSION,
        *,
        normalize: str = DEFAULT_NORMALIZE,
        weights: Sequence[float] | None = None,
        absent: Absent = DEFAULT_ABSENT,
        **parameters: Any,
    ) -> Fusion:
        """Return a method by its name, with settings as `fuse` takes them.

        RankgaugeError if the settings do not go together.
        """
        chosen = METHODS.check_argument("method", method)
        NORMALIZATIONS.check_argument("normalize", normalize)
        check_value("absent", absent, one_of(Absent))
        values = parameter_values(chosen, parameters)
        by_rank = chosen.takes == "ranks"
        if by_rank and normalize not in (DEFAULT_NORMALIZE, _NO_NORMALIZATION):
            raise RankgaugeError(
                f"method={method!r} uses only ranks, so normalize={normalize!r} has no "
                "effect; omit normalize"
            )
        if by_rank and absent != DEFAULT_ABSENT:
            raise RankgaugeError(
                f"method={method!r} uses only ranks, so absent={absent!r} has no effect; "
                "omit absent"
            )
        if not by_rank and NORMALIZATIONS[normalize].fills and absent != DEFAULT_ABSENT:
            raise RankgaugeError(
                f"normalize={normalize!r} scores documents missing from a list, so "
                f"absent={absent!r} has no effect; omit absent"
            )
        return cls(chosen, normalize, _weights(chosen, weights), absent, values)

    def scores(self, union: Pool) -> Floats:
        """The fused score of each row of a pool, just as the method makes it."""
        runs = len(union.names)
        if self.weights is not None and len(self.weights) != runs:
            raise RankgaugeError(
                f"{count_phrase(len(self.weights), 'weight')} for "
                f"{count_phrase(runs, 'run')}, expected one weight per run"
            )
        weights = np.ones(runs) if self.weights is None else np.array(self.weights)
        held, values = union.ranks > 0, union.scores
        if self.method.takes == "scores":
            values = normalize_scores(union, self.normalize)
            held = ~np.isnan(values)
            values = fill_absent(values, union.bounds, self.absent)
        entries = Entries(values, held, union.ranks, union.bounds, weights)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = self.method.combine(entries, **self.parameters)
        if (shape := np.shape(scores)) != (len(held),):
            raise RankgaugeError(
                f"method={self.method.name!r} gave shape {shape}, expected one score per document"
            )
        return scores

    def fuse_pool(self, union: Pool, name: str | None = None) -> Run:
        """The fused run of a pool, documents in rank order, scores apart in single precision too."""
        name = self.method.name if name is None else name
        scores = self.scores(union)
        if _is_too_large(scores).any():
            raise self._too_large_error(union, scores)
        order = segments.segment_order(scores, union.bounds)
        apart = separate_scores(scores[order], union.bounds)
        documents = union.documents.take(order)
        return Run(name, union.queries, union.bounds, documents, apart, tag=name)

    def _too_large_error(self, union: Pool, scores: Floats) -> RankgaugeError:
        """The error for the first score that a run file cannot hold, with the setting to change."""
        row = int(np.argmax(_is_too_large(scores)))
        topic = decode(union.queries[int(union.topic[row])])
        remedy = self._remedy(union)
        expected = "a number" if np.isnan(scores[row]) else f"at most {LARGEST_SCORE:.2g}"
        return RankgaugeError(
            f"the fused score of document {decode(union.documents[row])!r} of query {topic!r} is "
            f"{scores[row]:g}, expected {expected}{remedy and f'; {remedy}'}"
        )

    def _remedy(self, union: Pool) -> str:
        """What makes the scores small enough: the first setting that does it alone, else all of them."""
        changes: dict[str, Fusion] = {}
        for each in self.method.parameters:
            value = self.parameters[each.name]
            if value != each.default:
                usual = replace(self, parameters=self.parameters | {each.name: each.default})
                changes[f"give {each.name} a value closer to {each.default:g} than {value:g}"] = (
                    usual
                )
        if self.weights is not None:
            changes["give smaller weights"] = replace(self, weights=None)
        if self.method.takes == "scores" and self.normalize != DEFAULT_NORMALIZE:
            advice = f"normalize the scores (normalize={DEFAULT_NORMALIZE!r})"
            changes[advice] = replace(self, normalize=DEFAULT_NORMALIZE)
        for advice, changed in changes.items():
            with contextlib.suppress(RankgaugeError):
                if not _is_too_large(changed.scores(union)).any():
                    return advice
        return ", and ".join(changes)


def _is_too_large(scores: Floats) -> Bools:
    """Which scores a run file cannot hold."""
    return np.asarray(~(np.abs(scores) <= LARGEST_SCORE))


def read_runs(runs: Runs) -> list[Run]:
    """The runs, at least two, each of which shares a query with another."""
    sources = sources_of(runs)
    if len(sources) < 2:
        alone = f"one run alone ({label(sources[0])})"
        raise RankgaugeError(f"{alone}, expected at least two to fuse")
    read = []
    for source in sources:
        run = source()
        if not isinstance(run, Run):
            kind = type(run).__name__
            raise RankgaugeError(f"{label(source)}: a function gave {kind}, expected a Run")
        read.append(run)
    check_shared_queries(read)
    return read


def check_shared_queries(runs: Sequence[Run]) -> None:
    """RankgaugeError for a run that answers no query, or none that another run answers."""
    answered = []
    for run in runs:
        sizes = np.diff(run.bounds).tolist()
        answered.append([raw for raw, size in zip(run.queries, sizes, strict=True) if size])
        if not answered[-1]:
            raise RankgaugeError(f"run {run.name} answers no query; remove it")
    count = Counter(raw for topics in answered for raw in topics)
    for run, topics in zip(runs, answered, strict=True):
        if max(count[raw] for raw in topics) == 1:
            mine, other = topics[0], min(count.keys() - set(topics))
            raise RankgaugeError(
                f"run {run.name} shares no query with the other runs: it has {decode(mine)!r}, they "
                f"have {decode(other)!r}; use runs of the same queries, with the same ids"
            )


def _weights(method: FusionMethod, weights: Sequence[float] | None) -> tuple[float, ...] | None:
    if weights is None:
        return None
    if not method.weighted:
        takers = ", ".join(each.name for each in METHODS.values() if each.weighted)
        raise RankgaugeError(
            f"method={method.name!r} accepts no weights; omit them, or use one of {takers}"
        )
    try:
        given = list(weights)
    except TypeError:
        raise RankgaugeError(f"weights={weights!r}, expected one number per run") from None
    numbers = tuple(check_value("weights", weight, Number(0)) for weight in given)
    if not any(numbers):
        raise RankgaugeError(f"weights={weights!r}, expected at least one above 0")
    return numbers
