"""What a class says about its score is about that score: a class with another score says it itself."""

from __future__ import annotations

import dataclasses

from rankgauge.core.parameters import Parametric
from rankgauge.errors import MeasureError

SCORES = frozenset({"_score", "score_each"})


def check_declarations(cls: type, root: type) -> None:
    """MeasureError if `cls` inherits something that a base says about another score.

    The first class that defines `_score` or `score_each`, in the order in which Python looks names up,
    gives `cls` its score. It may be a mixin. The classes behind it may have another score. What they
    declare or compute about that score may be wrong for `cls`, so whatever they override of `root`, the
    class of all measures, has to be defined again. Classes without a score, such as Binary, suit any
    score, but for those that set `_of_some_scores`.
    """
    order = cls.__mro__[: cls.__mro__.index(root)]
    scored = [place for place, kind in enumerate(order) if SCORES & vars(kind).keys()]
    if len(scored) < 2:
        return
    own, others = order[: scored[0] + 1], order[scored[0] + 1 :]
    stated = SCORES.union(*map(vars, own))
    missing = {
        name
        for kind in others
        if not _suits_any_score(kind, root)
        for name in vars(kind)
        if _is_about_scores(name, root) and name not in stated
    }
    if missing:
        free = next(kind for kind in (*others, root) if _suits_any_score(kind, root))
        base = order[scored[1]].__name__
        raise MeasureError(
            f"{cls.__name__} changes the score of {base}, so what {base} says about its score may be "
            f"wrong for it. Define in {cls.__name__}: {', '.join(sorted(missing))}. "
            f"Or derive {cls.__name__} from {free.__name__} and call the other measure's score_each"
        )


def _suits_any_score(kind: type, root: type) -> bool:
    """Whether a class of measures has no score yet, and declares nothing about the scores to come."""
    if not issubclass(kind, root) or vars(kind).get("_of_some_scores"):
        return False
    return all(getattr(kind, score) is getattr(root, score) for score in SCORES)


def _is_about_scores(name: str, root: type) -> bool:
    """Whether all measures have something of this name, and it is neither text nor a parameter."""
    parameters = {field.name for field in dataclasses.fields(root)} | {"_of_some_scores"}
    return hasattr(root, name) and not hasattr(Parametric, name) and name not in parameters
