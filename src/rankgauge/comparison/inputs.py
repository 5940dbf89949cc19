"""What is compared or assessed: scores, or judgments, runs and measures to compute them from."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from rankgauge.core.renamed_parameters import renamed_parameters
from rankgauge.errors import RankgaugeError
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
    qrels: Qrels | Scores, runs: Runs | None, measures: Measures, executor: AnyExecutor | None
) -> Scores:
    """The scores that were given in place of judgments, or else the scores of the runs.

    Queries that a run lacks are scored as empty rankings: the comparison itself can leave them out.
    """
    if isinstance(qrels, Scores):
        return qrels
    if runs is None:
        raise RankgaugeError("no runs; pass (qrels, runs, measures), or only scores")
    return evaluate(qrels, runs, measures, executor=executor)
