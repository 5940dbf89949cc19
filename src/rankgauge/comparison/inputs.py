"""What is compared or assessed: scores, or judgments, runs and measures to compute them from."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from rankgauge.core.renamed import renamed_parameters
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.calls import describe
from rankgauge.evaluation.evaluator import Measures, evaluate
from rankgauge.evaluation.inputs import Qrels, Runs
from rankgauge.scores.model import Scores

if TYPE_CHECKING:
    from rankgauge.workers import AnyExecutor

P = ParamSpec("P")
R = TypeVar("R")


def takes_scores(function: Callable[P, R]) -> Callable[P, R]:
    """A decorator for functions of (qrels, runs, measures, ...): scores may take the place of `qrels`.

    Runs or measures beside scores are refused: they would have no effect.
    """

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        given = dict(zip(("qrels", "runs", "measures"), arguments, strict=False)) | options
        if isinstance(given.get("qrels"), Scores):
            name = function.__name__
            if given.get("runs") is not None:
                raise RankgaugeError(
                    f"got runs together with scores; write {name}(scores) or "
                    f"{name}(qrels, runs, measures)"
                )
            if "measures" in given:
                raise RankgaugeError(
                    "got measures together with scores; write "
                    f"{name}(scores.select(measures=[...]))"
                )
        return function(*arguments, **options)

    return renamed_parameters(scores="qrels")(call)


def scores_of(
    qrels: Qrels | Scores,
    runs: Runs | None,
    measures: Measures,
    executor: AnyExecutor | None,
    form: str,
) -> Scores:
    """The scores that were given in place of judgments, or else the scores of the runs.

    Queries that a run lacks are scored as empty rankings: the comparison itself can leave them out.
    Errors for too few runs show the right call, `form`.
    """
    if isinstance(qrels, Scores):
        return qrels
    if runs is None:
        raise RankgaugeError(f"qrels: {describe(qrels)} without runs; write {form}")
    scores = evaluate(qrels, runs, measures, executor=executor)
    if len(scores.runs) < 2:
        alone = f"{scores.runs[0]!r} alone"
        raise RankgaugeError(f"runs: {alone}, expected at least two; write {form}")
    return scores
