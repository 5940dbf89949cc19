"""What the study of texts asks: the data, the metrics, and each reading of what chance is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from rankgauge import InputError, RankgaugeError
from rankgauge.core.policies import CORRELATION_SAMPLES
from rankgauge.extending import (
    LEVEL,
    LEVELS,
    SAMPLE_NUMBERS,
    SEED,
    SEEDS,
    Integer,
    Record,
    check_value,
    count_phrase,
)
from rankgauge.text import (
    CANDIDATE,
    DISSIMILAR,
    SENTENCES,
    SIMILAR,
    TOKENS,
    Metric,
    Null,
    PairwisePreferences,
    Ratings,
    Texts,
    bertscore,
    expected,
    linear,
    read_preferences,
    read_ratings,
    read_texts,
    rouge1,
    rouge2,
    rougeL,
    v1,
    v2,
)
from rankgauge.text.human import NoRatingsError
from rankgauge.text.metrics.references import FIRST

LAYERS = (5, 4, 6)
"""The layers of BERTScore. The first one is examined most closely."""
ROUGE = (rouge1, rouge2, rougeL)
FORMS: Mapping[str, Any] = {"expected": expected, "v1": v1, "v2": v2, "linear": linear}
SCORE, CHANCE = "score", "expected"
VERSIONS = ("v1", "v2")
"""The forms of the dissertation."""
DOCUMENTS, SHARE, FEWEST_OF_KIND = 20, 5, 5
"""A kind has 20 documents, or a fifth of all if that is fewer, but not fewer than 5."""
FEWEST_DOCUMENTS = 10
"""Intervals over fewer documents are meaningless."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
"""The allowed names of a data set, which become part of file names."""
DRAWS = 10
"""Number of texts drawn for each document, from sentences and from random tokens."""


class ChanceReading(Record):
    """One way to read what chance is. One that is costly is computed for the first layer alone."""

    name: str
    null: Null
    about: str
    costly: bool = False

    @property
    def depends_on_output(self) -> bool:
        """Whether chance depends on the output, so that it can reorder the outputs for a document."""
        return not self.null.constant


CONTEXT = ChanceReading(
    "in context",
    Null(),
    "tokens of the source, each with its vector from there, as many as the reference has; "
    "precision and recall are exact, and their F is close to the expected F (within .01 on "
    "SummEval)",
)
CONTEXT_OUTPUT = ChanceReading(
    "in context, output's length",
    Null(length=CANDIDATE),
    "the same, as many as the output has",
)
MOST_SIMILAR = ChanceReading(
    "most similar",
    Null(null=SIMILAR),
    "Algorithm 1 as described in the text of the dissertation: the tokens that are most "
    "similar to the source, as many as the reference has, encoded again",
)
MOST_SIMILAR_OUTPUT = ChanceReading(
    "most similar, output's length",
    Null(null=SIMILAR, length=CANDIDATE),
    "the same, as many as the output has",
)
LEAST_SIMILAR = ChanceReading(
    "least similar",
    Null(null=DISSIMILAR),
    "Algorithm 1 as printed: the tokens in increasing order of similarity",
)
RANDOM_TOKENS = ChanceReading(
    "random tokens",
    Null(null=TOKENS, draws=DRAWS),
    f"tokens of the source, encoded again: the mean of {DRAWS} draws",
    costly=True,
)
RANDOM_TOKENS_OUTPUT = ChanceReading(
    "random tokens for each output",
    Null(null=TOKENS, draws=1, per=CANDIDATE),
    "one text of random tokens, drawn anew for each output",
    costly=True,
)
TASK = ChanceReading(
    "sentences",
    Null(null=SENTENCES, draws=DRAWS),
    f"sentences of the source, as many words as the reference has: the mean of {DRAWS} draws, the same "
    "texts for all metrics",
    costly=True,
)
WORDS = ChanceReading(
    "words",
    Null(),
    "words of the source, as many as the reference has (Equation 9.1); exact for ROUGE-1 and -2",
)
WORDS_OUTPUT = ChanceReading(
    "words, output's length",
    Null(length=CANDIDATE),
    "the same, as many as the output has",
)
ONE_DRAW = ChanceReading("one draw", Null(draws=1), "one text of words, drawn for each document")
ONE_DRAW_OUTPUT = ChanceReading(
    "one draw for each output",
    Null(draws=1, per=CANDIDATE),
    "one text of words, drawn anew for each output, following section 9.1 literally",
)
ROUGE_READINGS = (WORDS, WORDS_OUTPUT, ONE_DRAW, ONE_DRAW_OUTPUT, TASK)
BERTSCORE_READINGS = (
    MOST_SIMILAR,
    MOST_SIMILAR_OUTPUT,
    LEAST_SIMILAR,
    CONTEXT,
    CONTEXT_OUTPUT,
    RANDOM_TOKENS,
    RANDOM_TOKENS_OUTPUT,
    TASK,
)


class MetricLabel(NamedTuple):
    """A metric of the study: its name, the reading of chance and the form; a plain score has neither."""

    metric: str
    chance: str
    form: str


class TextProtocol(NamedTuple):
    """How the study is done."""

    layers: tuple[int, ...] = LAYERS
    level: float = LEVEL
    samples: int = CORRELATION_SAMPLES
    seed: int = SEED

    def check(self) -> TextProtocol:
        """The same, after a check."""
        for layer in self.layers:
            check_value("layer", layer, Integer(0, 1000))
        if not self.layers:
            raise RankgaugeError("no layers, expected at least one, such as 5")
        check_value("level", self.level, LEVELS)
        check_value("samples", self.samples, SAMPLE_NUMBERS)
        check_value("seed", self.seed, SEEDS)
        return self._replace(layers=tuple(dict.fromkeys(self.layers)))

    def parts(self, bert: bool = True) -> Iterator[tuple[str, dict[Metric, MetricLabel]]]:
        """Yield the metrics, one part after another, as they are computed.

        For each family, the plain scores come first, then each reading of chance. The first
        reference counts, as in the dissertation. `bert` is whether there is an encoder for
        BERTScore.
        """
        rouge: dict[str, Metric] = {each.name: each(references=FIRST) for each in ROUGE}
        layers: dict[str, Metric] = {
            layer_name(layer): bertscore(layer=layer, references=FIRST) for layer in self.layers
        }
        families = (("rouge", rouge, ROUGE_READINGS), ("bertscore", layers, BERTSCORE_READINGS))
        for family, metrics, readings in families[: 2 if bert else 1]:
            yield family, {each: MetricLabel(name, "", SCORE) for name, each in metrics.items()}
            for reading in readings:
                null = {key: getattr(reading.null, key) for key in Null.parameters()}
                null["seed"] = self.seed
                first_alone = reading.costly and metrics is layers
                yield (
                    f"{family}, {reading.name}",
                    {
                        wrap(metric, **null): MetricLabel(name, reading.name, form)
                        for name, metric in list(metrics.items())[: 1 if first_alone else None]
                        for form, wrap in FORMS.items()
                    },
                )


def layer_name(layer: int) -> str:
    """How BERTScore by a layer is called."""
    return f"bertscore layer {layer}"


# Data

EVERY, ABSTRACTIVE, EXTRACTIVE = "all", "abstractive", "extractive"
CHOSEN, JUDGED = "chosen pairs", "judged pairs"
"""The names for the pairs of systems chosen with `--pair` and for those in a file of preferences."""
_EXTRACTIVE = {
    "summeval": ("M0", "M1", "M2", "M5"),
    "realsumm": (
        "neusumm_out.txt",
        "pnbert_out_lstm_pn_rl.txt",
        "refresh_out.txt",
        "heter_graph_out.txt",
        "pnbert_out_bert_tf_sl.txt",
        "banditsumm_out.txt",
        "pnbert_out_bert_lstm_pn_rl.txt",
        "pnbert_out_bert_tf_pn.txt",
        "matchsumm_out.txt",
        "pnbert_out_bert_lstm_pn.txt",
    ),
}
"""The extractive systems in known data sets; the other systems are abstractive."""
FEWEST_SYSTEMS = 5
"""Correlations over fewer systems are meaningless."""


class RatedSummaries(Record):
    """A data set: texts, what people think of them, and groups of its systems, all of them first.

    If people compared outputs, there are `preferences`, and there may be no ratings. `pairs` are the
    pairs of systems whose outputs are compared; without any, all of them.
    """

    name: str
    texts: Texts
    ratings: Ratings | None
    groups: Mapping[str, tuple[str, ...]]
    preferences: PairwisePreferences | None = None
    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def read(
        cls, name: str, texts: str, ratings: str | None = None, preferences: str | None = None
    ) -> RatedSummaries:
        """The texts of a file, the ratings of the same file or of another one, and preferences."""
        if not NAME.fullmatch(name):
            raise RankgaugeError(
                f"a data set is called {name!r}, expected a name of the letters A to Z, digits, and "
                "dots, dashes and underscores"
            )
        read = read_texts(texts)
        votes = None if preferences is None else read_preferences(preferences, read)
        rated = None
        try:
            rated = read_ratings(texts if ratings is None else ratings, read)
        except InputError as error:
            if ratings is not None or (votes is not None and not isinstance(error, NoRatingsError)):
                raise
            if votes is None:
                other = (
                    "if the ratings are in another file, give NAME=TEXTS,RATINGS; if people "
                    "compared outputs, add --preferences NAME=FILE"
                )
                raise InputError(error.source, error.line, f"{error.message}; {other}") from None
        return cls(name, read, rated, _groups(name, read.systems), votes)

    @property
    def is_summeval(self) -> bool:
        """Whether it is called as the data of the dissertation are."""
        return self.name.lower() == "summeval"

    def correlation_groups(self) -> list[str]:
        """The groups of systems over which correlations are computed, the dissertation's first.

        Without ratings there are none.
        """
        if self.ratings is None:
            return []
        own = [name for name in (ABSTRACTIVE, EVERY, EXTRACTIVE) if name in self.groups]
        return [name for name in own if len(self.groups[name]) >= FEWEST_SYSTEMS]

    def preference_groups(self) -> dict[str, tuple[str, ...]]:
        """Return the systems whose outputs people compare, by the name of their group.

        Where there are chosen pairs, or judged ones, these are only the systems of such pairs.
        """
        if self.pairs:
            return {CHOSEN: tuple(dict.fromkeys(name for pair in self.pairs for name in pair))}
        return dict(self.groups) if self.preferences is None else {JUDGED: self.texts.systems}

    def kinds(self) -> int:
        """How many documents each kind has; 0 if there are too few."""
        sourced = sum(bool(source.strip()) for source in self.texts.sources)
        count = min(DOCUMENTS, sourced // SHARE)
        return count if count >= FEWEST_OF_KIND else 0

    def check(self) -> RatedSummaries:
        """The same, after a check that the study can be done with it."""
        if self.preferences is not None:
            self._check_judged(self.preferences)
        elif not self.correlation_groups():
            raise RankgaugeError(
                f"{self.name}: {count_phrase(len(self.texts.systems), 'system')}, expected at "
                f"least {FEWEST_SYSTEMS} to compare with human ratings"
            )
        if len(self.texts) < FEWEST_DOCUMENTS:
            raise RankgaugeError(
                f"{self.name}: {count_phrase(len(self.texts), 'text')}, expected at least "
                f"{FEWEST_DOCUMENTS} for the intervals"
            )
        if not any(source.strip() for source in self.texts.sources):
            raise RankgaugeError(
                f"{self.name}: no text has a source, expected sources, from which random texts "
                "are drawn"
            )
        return self

    def _check_judged(self, votes: PairwisePreferences) -> None:
        """RankgaugeError where people compared no outputs of a chosen pair of systems."""
        both = zip(votes.a.tolist(), votes.b.tolist(), strict=True)
        judged = {frozenset((votes.systems[a], votes.systems[b])) for a, b in both}
        for pair in self.pairs:
            if frozenset(pair) not in judged:
                raise RankgaugeError(
                    f"{self.name}: people did not compare {pair[0]!r} and {pair[1]!r}, "
                    "expected pairs of systems from the file of preferences"
                )


def _groups(name: str, systems: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    groups = {EVERY: systems}
    extracting = _EXTRACTIVE.get(name.lower(), ())
    if 0 < len(set(extracting) & set(systems)) < len(systems):
        groups[ABSTRACTIVE] = tuple(each for each in systems if each not in extracting)
        groups[EXTRACTIVE] = tuple(each for each in systems if each in extracting)
    return groups
