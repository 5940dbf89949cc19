"""What a UE study asks: the data, the methods, and how what the paper leaves open is read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, field, fields
from typing import Any, Literal, TypeAlias

from rankgauge import InputError, MeasureError, RankgaugeError, __version__, parse
from rankgauge.comparison.significance import find_test
from rankgauge.core.policies import DEFAULT_CHANCE_DIFFERENCE, DEFAULT_INFORMATIVE_BY, DEFAULT_TEST
from rankgauge.extending import (
    LEVEL,
    LEVELS,
    SAMPLE_NUMBERS,
    SEED,
    SEEDS,
    Integer,
    Number,
    Record,
    Value,
    check_value,
    count_phrase,
    one_of,
)
from rankgauge.measures.answers import BESTS, CHANCES
from rankgauge.query_sets import (
    BROAD_LABEL,
    BROAD_SHARE,
    SET_SHARE,
    ChanceDifference,
    InformativeBy,
    SelectionSize,
)
from rankgauge.rankers import Ranker, find_method, with_settings
from rankgauge.rankers.libraries import version_of

ReadingName: TypeAlias = Literal["paper", "right"]
WithoutRelevant: TypeAlias = Literal["leave-out", "zero"]
"""What is done with queries that have no relevant document: they are excluded from sets and means, or
they score 0 like their chance, and can be drawn and be uninformative."""

CUTOFFS = (5, 10, 15, 20, 30)
VERSIONS = ("V1", "V2")
STUDY = "ue"
RESAMPLES = 1_000
GREATEST_CUTOFF = 1_000_000
"""The greatest cutoff."""
REPLICATES = 20
MARGIN = 5.0
"""The loss in percentage points tolerated if a claim says that nothing is lost."""
MOST_WAYS = 100
FEWEST = 2
"""No numbers are computed for sets with fewer queries."""


def slug(name: str) -> str:
    """A name as part of the name of a file."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.")[:60]


class Case(Record):
    """One of the two case studies: a measure, and the sum that V1 and V2 normalize."""

    name: str
    original: str
    inside: str
    sums_precisions: bool

    @property
    def rows(self) -> tuple[str, ...]:
        """The measure and its two normalized versions, as named in the tables."""
        return (self.name, *VERSIONS)

    def measures(self, reading: Reading, cutoffs: Sequence[int]) -> dict[str, list[str]]:
        """The measure and its versions, each at all cutoffs."""
        texts = {self.name: [f"{self.original}@{k}" for k in cutoffs]}
        full = f",iub={reading.iub}" if self.sums_precisions else ""
        for version in VERSIONS:
            texts[version] = [
                f"{version.lower()}({self.inside}@{k},reb={reading.reb}{full})" for k in cutoffs
            ]
        return texts


CASES = (
    Case("nDCG", "nDCG(gain=exp2)", "DCG(gain=exp2)", False),
    Case("MAP", "AP(norm=min)", "SP", True),
)


class Reading(Value):
    """How what the paper leaves open, or has wrong, is read."""

    name: ReadingName
    preset: str = "default"
    test: str = DEFAULT_TEST
    reb: str = "exact"
    iub: str = "achievable"
    by: ChanceDifference = DEFAULT_CHANCE_DIFFERENCE
    informative_by: InformativeBy = DEFAULT_INFORMATIVE_BY
    without_relevant: WithoutRelevant = "leave-out"
    ascent_objective: str = ""
    """The measure that coordinate ascent optimizes; empty: as in the preset."""

    def check(self) -> Reading:
        """The reading, after a check; RankgaugeError for a value that there is not."""
        check_value("name", self.name, one_of(ReadingName))
        find_test(self.test)
        for name, allowed in (("reb", CHANCES), ("iub", BESTS)):
            if getattr(self, name) not in allowed:
                raise RankgaugeError(
                    f"{name}={getattr(self, name)!r}, expected one of {', '.join(allowed)}"
                )
        check_value("by", self.by, one_of(ChanceDifference))
        check_value("informative_by", self.informative_by, one_of(InformativeBy))
        check_value("without_relevant", self.without_relevant, one_of(WithoutRelevant))
        if self.ascent_objective:
            parse(self.ascent_objective)
        return self


ASCENT, OBJECTIVE = "coordinateascent", "objective"
"""Coordinate ascent, and the setting that names its objective."""

PAPER = Reading(
    "paper",
    preset="ranklib",
    test="student",
    reb="capped",
    without_relevant="zero",
    ascent_objective="AP",
)
RIGHT = Reading("right")
READINGS = {reading.name: reading for reading in (PAPER, RIGHT)}


def _check_texts(what: str, values: Iterable[Any]) -> None:
    if not all(isinstance(value, str) for value in values):
        raise RankgaugeError(f"{what}: not text, expected a list of strings")


class DataSet(Value):
    """Learning-to-rank data: a name, the folder or file that `read_folds` reads, and sizes.

    A size that is None is that of the protocol.
    """

    name: str
    folds: str
    digest: str = ""
    """Identifies the data."""
    queries: int | None = None
    """Number of test queries drawn."""
    set_number: int | None = None
    set_share: float | None = None
    """The number or share of queries in each of the two sets; exactly one is set."""
    training_queries: int | None = None
    """Number of training queries drawn per fold."""


class Protocol(Record):
    """All that a study depends on. Written to `study.json`, it gives the same study again."""

    collections: tuple[DataSet, ...]
    methods: tuple[str, ...]
    readings: tuple[Reading, ...] = (PAPER, RIGHT)
    settings: Mapping[str, str | float | bool | None] = field(default_factory=dict)
    """Settings of the methods by name, such as lambdamart.trees."""
    folds: int | None = None
    """Number of folds into which a single file is split."""
    queries: int | None = None
    """Number of test queries drawn; None for all."""
    training_queries: int | None = None
    """Number of training queries drawn per fold; None for all."""
    cutoffs: tuple[int, ...] = CUTOFFS
    set_share: float | None = SET_SHARE
    set_number: int | None = None
    broad_share: float = BROAD_SHARE
    broad_label: int = BROAD_LABEL
    ways: int = 2
    """Number of parts into which the documents of a query are split."""
    replicates: int = REPLICATES
    """Number of such splits."""
    samples: int = RESAMPLES
    """Number of bootstrap samples of the queries for intervals."""
    level: float = LEVEL
    margin: float = MARGIN
    """The loss in percentage points tolerated if a claim says that nothing is lost."""
    seed: int = SEED

    def size(self, data: DataSet) -> SelectionSize:
        """How many queries of a data set are uninformative, and how many ideal."""
        if data.set_number is not None or data.set_share is not None:
            return SelectionSize(data.set_number, data.set_share)
        return SelectionSize(self.set_number, self.set_share)

    def queries_of(self, data: DataSet) -> int | None:
        """How many test queries of a data set are drawn; None for all."""
        return self.queries if data.queries is None else data.queries

    def training_of(self, data: DataSet) -> int | None:
        """How many training queries of each fold of a data set are drawn; None for all."""
        return self.training_queries if data.training_queries is None else data.training_queries

    def check(self) -> Protocol:
        """The protocol, after a check; RankgaugeError for what is out of range."""
        if not 1 <= len(self.collections) <= 2:
            raise RankgaugeError(
                f"{len(self.collections)} data sets, expected one, or two to compare"
            )
        for each in self.collections:
            _check_texts(
                "the name and the folder of a data set", (each.name, each.folds, each.digest)
            )
            for name, least in (("queries", FEWEST), ("training_queries", 1)):
                check_value(
                    f"{each.name}: {name}", getattr(each, name), Integer(least), optional=True
                )
            self.size(each)
        _check_texts("the methods", self.methods)
        for reading in self.readings:
            _check_texts("a reading", vars(reading).values())
        if not isinstance(self.settings, Mapping):
            raise RankgaugeError("settings: expected names with values")
        if not self.cutoffs:
            raise RankgaugeError("no cutoffs, expected at least one")
        for cutoff in self.cutoffs:
            check_value("cutoffs", cutoff, Integer(1, GREATEST_CUTOFF))
        names = [collection.name for collection in self.collections]
        if len(set(names)) < len(names):
            raise RankgaugeError(
                f"two data sets are called {names[0]}, expected different names; write NAME=FOLDS"
            )
        files = [slug(name) for name in names]
        if len(set(files)) < len(files) or not all(files):
            raise RankgaugeError(
                f"the names {' and '.join(map(repr, names))} give no different names of files, expected "
                "names that differ in letters or digits; write NAME=FOLDS"
            )
        for name in self.methods:
            find_method(name)
        if len(set(map(str.lower, self.methods))) < 2:
            count = count_phrase(len(self.methods), "method")
            raise RankgaugeError(f"{count}, expected at least 2 different ones to compare")
        if not self.readings:
            raise RankgaugeError("no reading, expected paper, right or both")
        if len({reading.name for reading in self.readings}) < len(self.readings):
            raise RankgaugeError("a reading occurs twice, expected each once")
        for reading in self.readings:
            reading.check()
        SelectionSize(self.set_number, self.set_share)
        check_value("queries", self.queries, Integer(FEWEST), optional=True)
        check_value("training_queries", self.training_queries, Integer(1), optional=True)
        check_value("broad_share", self.broad_share, Number(0, 1))
        check_value("broad_label", self.broad_label, Integer(0))
        check_value("ways", self.ways, Integer(2, MOST_WAYS))
        check_value("replicates", self.replicates, Integer(1, 10_000))
        check_value("samples", self.samples, SAMPLE_NUMBERS)
        check_value("level", self.level, LEVELS)
        check_value("margin", self.margin, Number(0, 100))
        check_value("seed", self.seed, SEEDS)
        for case in CASES:
            for reading in self.readings:
                for texts in case.measures(reading, self.cutoffs).values():
                    for text in texts:
                        parse(text)
        for reading in self.readings:
            for ranker in self.rankers(reading):
                ranker.settings()
        return self

    def rankers(self, reading: Reading) -> list[Ranker]:
        """The methods with their settings."""
        own: dict[str, Any] = {"preset": reading.preset, "seed": self.seed}
        if reading.ascent_objective and ASCENT in map(str.lower, self.methods):
            for name in (OBJECTIVE, "measure"):  # on training, and on validation data
                own[f"{ASCENT}.{name}"] = reading.ascent_objective
        return with_settings(self.methods, {**own, **self.settings})

    def content(self) -> dict[str, Any]:
        """What `study.json` has."""
        return {
            "study": STUDY,
            "rankgauge": __version__,
            "libraries": {name: version_of(name) for name in LIBRARIES},
            **asdict(self),
        }

    @classmethod
    def from_json(cls, content: Any, source: str) -> Protocol:
        """The protocol in a `study.json`; InputError where it is none."""
        if not isinstance(content, dict) or content.get("study") != STUDY:
            raise InputError(source, None, "not a UE study, expected the study.json of one")
        try:
            names = {each.name for each in fields(cls)}
            more = set(content) - names - {"study", "rankgauge", "libraries"}
            for fault, wrong in (
                ("unknown", more),
                ("missing", names - set(content) - OPTIONAL_FIELDS),
            ):
                if wrong:
                    listed = ", ".join(sorted(map(str, wrong)))
                    message = f"{fault}: {listed}; expected a study.json as it was written"
                    raise InputError(source, None, message)
            given = {name: content[name] for name in names if name in content}
            given["collections"] = tuple(DataSet(**each) for each in given["collections"])
            given["readings"] = tuple(Reading(**each) for each in given["readings"])
            for name in ("methods", "cutoffs"):
                given[name] = tuple(given[name])
            return cls(**given).check()
        except (KeyError, TypeError, AttributeError) as error:
            raise InputError(source, None, f"not a complete study.json: {error}") from None
        except (MeasureError, RankgaugeError) as error:
            raise InputError(source, None, str(error)) from None


OPTIONAL_FIELDS = {"training_queries", "margin"}
"""Fields that may be missing from a study.json written by rankgauge 0.1; their absence does not make it
a different study."""
LIBRARIES = ("numpy", "scipy", "scikit-learn", "lightgbm", "matplotlib", "jinja2")
"""Different versions of these may produce different bytes."""
