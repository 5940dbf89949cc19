"""What a class says of its score is about that score: a class that changes it starts anew.

The score of a class is that of the first class, in the order in which Python looks names up, that gives
`_score` or `score_each`. It may be a mixin. What stands behind that class in the order was said of
another score.
"""

from __future__ import annotations

SCORES = frozenset({"_score", "score_each"})

DECLARED = frozenset(
    {"swap_monotone", "ideal_is_best", "tail_matters", "monotone", "expectation", "looks_above"}
    | {"off_list", "open_ended", "deeper"}
)
"""What is declared about a score."""

DERIVED = frozenset(
    {"bounding", "bounds_each", "ideal_each", "worst_each", "extreme_each", "_extreme"}
    | {"expected_each", "random_each", "variance_each", "tied_each", "tied_variance_each"}
    | {
        "divisor_each",
        "basis",
        "from_basis",
        "answers",
        "knows_flips",
        "_alike",
        "_silent",
        "_ignored",
    }
)
"""What is derived from a score, by some classes in a way that suits no other score."""


def start_anew(cls: type, root: type) -> None:
    """Take back what `cls` inherits from classes with another score.

    `root` is the class of all measures. What is declared becomes what `root` has. What is derived
    becomes what the nearest class has that gives no score itself, such as Binary, because that suits
    any score.
    """
    order = cls.__mro__[: cls.__mro__.index(root) + 1]
    scored = [place for place, kind in enumerate(order[:-1]) if SCORES & vars(kind).keys()]
    if len(scored) < 2:
        return
    own, others = order[: scored[0] + 1], order[scored[0] + 1 :]
    for names, bases in (
        (DECLARED, [root]),
        (DERIVED, [kind for kind in others if _suits_any_score(kind, root)]),
    ):
        for name in names:
            if not any(name in vars(kind) for kind in own):
                holder = next(kind for kind in bases if name in vars(kind))
                setattr(cls, name, vars(holder)[name])


def _suits_any_score(kind: type, root: type) -> bool:
    """Whether a class of measures gives no score itself."""
    return issubclass(kind, root) and all(
        getattr(kind, score) is getattr(root, score) for score in SCORES
    )


def knows(cls: type, root: type, name: str) -> bool:
    """Whether something of this name is about the score as `cls` has it, not as a base had it."""
    for kind in cls.__mro__[: cls.__mro__.index(root)]:
        if name in vars(kind):
            return vars(kind)[name] is not vars(root).get(name)
        if SCORES & vars(kind).keys():
            return False
    return False
