"""Learning from fewer queries: a sample of the training part, drawn by the seed."""

from __future__ import annotations

from typing import Any

from rankgauge.core.notes import count_phrase
from rankgauge.core.records import Value
from rankgauge.data.features import Features
from rankgauge.query_sets.samples import draw_queries


class TrainingQueries(Value):
    """How many training queries rankers learn from, and the seed that draws them.

    The draw depends on the ids of the queries and on the seed, so all methods learn from the same
    queries. With the same seed, a larger draw contains a smaller one.

    >>> from rankgauge.rankers.checks import make_features
    >>> three = TrainingQueries(3, seed=1)
    >>> three.of(make_features(10))
    Features: 3 queries, 28 documents, 5 features
    >>> three.sentence(10)
    'trained on 3 of 10 queries, chosen at random with the seed'
    """

    number: int
    seed: int

    def of(self, training: Features) -> Features:
        """The drawn queries, in the order of the file; all of them if there are not more."""
        if len(training.queries) <= self.number:
            return training
        return training.select(draw_queries(training.queries.texts(), self.number, self.seed))

    def sentence(self, available: int) -> str:
        """How many of the available queries are learned from, in words."""
        if available <= self.number:
            queries = count_phrase(available, "query")
            return f"trained on all {queries}: {self.number:,} were requested, and no more are available"
        return (
            f"trained on {self.number:,} of {available:,} queries, chosen at random with the seed"
        )

    def content(self) -> dict[str, Any]:
        """The number and the seed, for a file that says how rankers were trained."""
        return {"number": self.number, "seed": self.seed}
