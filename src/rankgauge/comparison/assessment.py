"""Is a measure any good? Measures held against each other, on the same runs and topics.

By themselves: how often a measure tells two systems apart (discriminative power), how far apart it puts
them (PAD), and whether other topics would have said the same (swap rate, split halves). Against each
other: how alike they rank the systems, and where one finds a significant difference and the other none,
or the opposite. And over sets of topics, or collections: how often two of them disagree on a pair.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankgauge.comparison.consistency import Splits, absolute_difference, split_halves
from rankgauge.comparison.correlation import Concordance, concordance_of
from rankgauge.comparison.design import (
    MOST_SAMPLES,
    Topics,
    check_level,
    checked_drawing,
    checked_number,
    checked_whole,
    pairs_of,
    said_together,
    shared_topics,
)
from rankgauge.comparison.overlap import checked_persistence
from rankgauge.comparison.resampling import Drawing, Progress
from rankgauge.comparison.significance import CORRECTIONS, Pairs, named_test
from rankgauge.comparison.systems import SAMPLES
from rankgauge.data.errors import MeasureError, RankgaugeError
from rankgauge.data.model import Floats, Ints, counted
from rankgauge.measures.base import inner
from rankgauge.report.tables import Cell, Table
from rankgauge.rounding import ROUNDING
from rankgauge.scores import Scores
from rankgauge.workers import outcomes

if TYPE_CHECKING:
    from concurrent.futures import Executor

ALL = "all"
"""What the topics are called that are not a set."""
SPLITS = 1_000


class Conflicts(NamedTuple):
    """How two measures agree on which differences are significant, in tests of pairs of runs.

    `both` counts the tests in which both find the same run better, `opposite` those in which each finds
    another, `first` and `second` those in which only that measure finds any, `neither` the rest.
    """

    both: int
    opposite: int
    first: int
    second: int
    neither: int

    @property
    def conflicts(self) -> int:
        """Significant by one and not by the other."""
        return self.first + self.second


def conflicts_of(first: Ints, second: Ints) -> Conflicts:
    """The conflicts of two measures, given for each test 1 where the first run is significantly better,
    −1 where the second is, and 0 where neither.

    >>> conflicts_of(np.array([1, 1, 0, -1]), np.array([1, 0, 1, 1]))
    Conflicts(both=1, opposite=1, first=1, second=1, neither=0)
    """
    counts = (
        (first != 0) & (first == second),
        (first != 0) & (first == -second),
        (first != 0) & (second == 0),
        (first == 0) & (second != 0),
        (first == 0) & (second == 0),
    )
    return Conflicts(*(int(np.count_nonzero(which)) for which in counts))


@dataclass(frozen=True, eq=False)
class Assessed:
    """A measure, or one at several cut-offs taken together, on some topics.

    `means` has a number a run, and `lower` says whether lower ones are better. `p` has a p-value for
    each test, of a pair of runs at a cut-off, and `better` 1 where the first run is the better one, −1
    where the second is, 0 where neither.
    """

    name: str
    topics: int
    means: Floats
    lower: bool
    p: Floats
    better: Ints
    alpha: float
    splits: Splits | None

    @property
    def merits(self) -> Floats:
        """The means, turned round where lower is better."""
        return -self.means if self.lower else self.means

    @property
    def significant(self) -> Ints:
        """For each test 1 where the first run is significantly better, −1 where the second is."""
        return np.where(self.p <= self.alpha * (1 + 1e-12), self.better, 0)

    @property
    def power(self) -> float:
        """Discriminative power: the share of the tests that find a difference."""
        return float(np.count_nonzero(self.significant) / len(self.p))

    @property
    def asl(self) -> Floats:
        """The achieved significance levels, the largest first: what ASL curves show."""
        return np.sort(self.p)[::-1]

    @property
    def pad(self) -> float:
        """The percentage absolute difference as printed in the UE paper; see `absolute_difference`."""
        return absolute_difference(self.means)

    @property
    def safe_pad(self) -> float:
        """The same with magnitudes below, which stays between 0 and 200."""
        return absolute_difference(self.means, safe=True)


@dataclass(frozen=True, eq=False)
class Assessment:
    """What `assess` found: for each set of topics or collection the measures, by name.

    `parts` is {set: {measure: Assessed}}. `runs` are those that the measures were asked about, `queries`
    has the topics of each set, `options` what `assess` was asked, `definitions` what the columns of each
    table mean.
    """

    runs: tuple[str, ...]
    parts: Mapping[str, Mapping[str, Assessed]]
    queries: Mapping[str, tuple[str, ...]]
    options: Mapping[str, Any]
    definitions: Mapping[str, tuple[str, ...]]
    notes: tuple[str, ...]

    @property
    def test(self) -> str:
        """The test by which differences are significant."""
        return str(self.options["test"])

    @property
    def level(self) -> float:
        """Significant is a p-value of 1 − level or less."""
        return float(self.options["level"])

    @property
    def persistence(self) -> float:
        """That of the overlap of two rankings of the runs."""
        return float(self.options["persistence"])

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of what was assessed."""
        return tuple(next(iter(self.parts.values())))

    @cached_property
    def agreement(self) -> dict[str, dict[tuple[str, str], tuple[Concordance, Conflicts]]]:
        """For each set and pair of measures how alike they rank the runs, and their conflicts."""
        return {
            part: {
                (a.name, b.name): (
                    concordance_of(a.merits, b.merits, self.persistence),
                    conflicts_of(a.significant, b.significant),
                )
                for a, b in itertools.combinations(measures.values(), 2)
            }
            for part, measures in self.parts.items()
        }

    @cached_property
    def swaps(self) -> dict[tuple[str, str], dict[str, Concordance]]:
        """For each pair of sets or collections and each measure how alike they rank the runs: their
        `swap_rate` is the share of pairs of runs that the two put in opposite orders."""
        return {
            (one, other): {
                name: concordance_of(
                    self.parts[one][name].merits, self.parts[other][name].merits, self.persistence
                )
                for name in self.measures
            }
            for one, other in itertools.combinations(self.parts, 2)
        }

    def table(self) -> Table:
        """A row for each set and measure: what it tells apart, and whether half of the topics agree."""
        rows = []
        for part, measures in self.parts.items():
            for each in measures.values():
                found = np.count_nonzero(each.significant)
                rows.append(
                    (
                        part,
                        each.name,
                        each.topics,
                        int(found),
                        len(each.p),
                        each.power,
                        each.pad,
                        each.safe_pad,
                        *_about_splits(each.splits),
                    )
                )
        return Table(COLUMNS, tuple(rows), (*self.definitions["measures"], *self.notes))

    def pair_table(self) -> Table:
        """A row for each set and pair of measures: how alike they rank the runs, and their conflicts."""
        rows: list[tuple[Cell, ...]] = []
        for part, pairs in self.agreement.items():
            for (first, second), (alike, conflicts) in pairs.items():
                correlations = (alike.tau, alike.tau_b, alike.tau_ap, alike.rbo.ext)
                rows.append((part, first, second, *correlations, *conflicts, conflicts.conflicts))
        return Table(PAIR_COLUMNS, tuple(rows), (*self.definitions["pairs"], *self.notes))

    def swap_table(self) -> Table:
        """A row for each pair of sets or collections and each measure: how often they put two runs in
        opposite orders."""
        rows = []
        for (one, other), measures in self.swaps.items():
            for name, alike in measures.items():
                pairs = alike.concordant + alike.discordant + alike.tied
                counts = (alike.discordant, alike.tied, pairs)
                rows.append((one, other, name, *counts, alike.swap_rate, alike.tau))
        return Table(SWAP_COLUMNS, tuple(rows), (*self.definitions["swaps"], *self.notes))

    def to_dict(self) -> dict[str, Any]:
        """Everything, in lists and dicts that JSON can hold."""
        return {
            "options": dict(self.options),
            "runs": list(self.runs),
            "pairs_of_runs": np.stack(np.triu_indices(len(self.runs), 1), axis=1).tolist(),
            "topics": {part: list(queries) for part, queries in self.queries.items()},
            "definitions": {name: list(texts) for name, texts in self.definitions.items()},
            "notes": list(self.notes),
            "measures": _records(self.table()),
            "pairs": _records(self.pair_table()),
            "swaps": _records(self.swap_table()),
            "details": [
                {
                    "set": part,
                    "measure": each.name,
                    "lower_is_better": each.lower,
                    "means": each.means.tolist(),
                    "p": each.p.tolist(),
                    "better": each.better.tolist(),
                    **_split_details(each.splits),
                }
                for part, measures in self.parts.items()
                for each in measures.values()
            ],
        }

    def __repr__(self) -> str:
        head = (
            f"Assessment: {counted(len(self.measures), 'measure')}, "
            f"{counted(len(self.runs), 'run')}, {counted(len(self.parts), 'set')} of topics"
        )
        return f"{head}\n{self.table().render('table')}".rstrip("\n")

    def _repr_html_(self) -> str:
        return self.table().render_html()


COLUMNS = (
    "set", "measure", "topics", "significant", "tests", "power", "pad", "safe_pad",
    "decisions", "swap_rate", "tie_rate", "trusted", "trusted_share",
    "half_tau", "half_low", "half_high",
)  # fmt: skip
PAIR_COLUMNS = (
    "set", "first", "second", "tau", "tau_b", "tau_ap", "rbo",
    "both", "opposite", "only_first", "only_second", "neither", "conflicts",
)  # fmt: skip
SWAP_COLUMNS = ("set", "other", "measure", "discordant", "tied", "pairs", "swap_rate", "tau")


def assess(
    scores: Scores,
    *,
    sets: Mapping[str, Iterable[str]] | None = None,
    others: Mapping[str, Scores] | None = None,
    pool_cutoffs: bool = False,
    test: str = "paired-t",
    correction: str | None = None,
    level: float = 0.95,
    missing: Topics | None = None,
    splits: int = SPLITS,
    fuzziness: float = 0.0,
    persistence: float = 0.9,
    samples: int = SAMPLES,
    seed: int = 0,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Assessment:
    """How good each measure of the scores is at telling the runs apart, and how far measures agree.

    `sets` are sets of queries by name, and `others` the scores of the same runs by the same measures on
    other collections; each is assessed like the whole, and any two are held against each other. With
    pool_cutoffs=True a measure at several cut-offs is one: its tests are counted over all of them, and
    its means are averaged, as the UE paper does; all measures are then at the same cut-offs.

    `test`, `correction`, `level`, `missing`, `samples` and `seed` are as in `compare`; by default
    p-values are not corrected, as is usual for discriminative power. `splits` is how many times the
    topics are halved at random (0 for not at all), `fuzziness` the share of the greater mean that is no
    difference. `persistence` is that of the rank-biased overlap of two rankings of the runs.

    >>> values = [[0.5, 0.7, 0.6, 0.8], [0.3, 0.6, 0.5, 0.6], [0.1, 0.3, 0.2, 0.5]]
    >>> scores = Scores.from_matrix(values, runs=["a", "b", "c"], measure="AP")
    >>> found = assess(scores)
    >>> found.parts["all"]["AP"].power, found.parts["all"]["AP"].splits.swap_rate
    (1.0, 0.0)
    """
    named_test(test)
    if correction is not None and correction not in CORRECTIONS:
        raise RankgaugeError(
            f"correction={correction!r}, expected None or one of {', '.join(CORRECTIONS)}"
        )
    check_level(level)
    checked_number("fuzziness", fuzziness, 0)
    drawing = checked_drawing(samples, seed)
    checked_whole("splits", splits, 0, MOST_SAMPLES)
    halving = checked_drawing(splits, seed) if splits else None
    checked_persistence(persistence, "persistence")
    parts = _parts(scores, sets or {}, others or {})
    first, second, _ = pairs_of(scores.runs, None)
    task = _Task(first, second, test, correction, level, missing, drawing, halving, fuzziness)
    work = [
        (part, name, chosen, columns)
        for part, chosen in parts.items()
        for name, columns in _columns(chosen, pool_cutoffs).items()
    ]
    found: dict[str, dict[str, Assessed]] = {part: {} for part in parts}
    notes: list[str] = []
    measured: dict[str, list[tuple[str, str]]] = {part: [] for part in parts}
    for (part, name, *_), result in outcomes(task, work, executor, itemgetter(1)):
        if isinstance(result, RankgaugeError):
            raise result
        found[part][name], said = result
        measured[part] += ((name, text) for text in dict.fromkeys(said))
        if progress is not None:
            progress(name)
    if any((each.means <= 0).any() for measures in found.values() for each in measures.values()):
        notes.append("pad is of no use where a mean is 0 or below; safe_pad is defined there")
    for part, texts in measured.items():
        notes += (text if part == ALL else f"{part}: {text}" for text in said_together(texts))
    options = {
        "test": test,
        "correction": correction,
        "level": level,
        "missing": missing,
        "pool_cutoffs": pool_cutoffs,
        "splits": splits,
        "fuzziness": fuzziness,
        "persistence": persistence,
        "samples": samples,
        "seed": seed,
    }
    return Assessment(
        runs=scores.runs,
        parts=found,
        queries={part: chosen.queries for part, chosen in parts.items()},
        options=options,
        definitions=_definitions(options),
        notes=tuple(notes),
    )


@dataclass(frozen=True)
class _Task:
    """What is asked about each measure."""

    first: Ints
    second: Ints
    test: str
    correction: str | None
    level: float
    missing: Topics | None
    drawing: Drawing
    halving: Drawing | None
    fuzziness: float

    def __call__(self, item: tuple[str, str, Scores, Sequence[int]]) -> tuple[Assessed, list[str]]:
        part, name, scores, columns = item
        try:
            return self._assessed(name, scores, columns)
        except RankgaugeError as error:
            if part == ALL:
                raise
            raise RankgaugeError(f"{part}: {error}") from None

    def _assessed(
        self, name: str, scores: Scores, columns: Sequence[int]
    ) -> tuple[Assessed, list[str]]:
        if len(columns) > 1:
            scores = _defined(scores, columns)
        lower = inner(scores.measures[columns[0]]).direction == "lower"
        notes: list[str] = []
        p, better, values = [], [], []
        for m in columns:
            found, said = shared_topics(scores, m, self.missing)
            notes += said[1:]  # the first is how many topics there are
            pairs = Pairs(found, self.first, self.second, self.level, self.drawing)
            p.append(self._p(pairs))
            better.append(np.sign(pairs.difference).astype(np.int64) * (-1 if lower else 1))
            values.append(found)
        together = np.mean(values, axis=0)
        halves = None
        if self.halving is not None:
            halves = split_halves(together, self.first, self.second, self.halving, self.fuzziness)
        assessed = Assessed(
            name=name,
            topics=together.shape[1],
            means=together.mean(axis=1),
            lower=lower,
            p=np.concatenate(p),
            better=np.concatenate(better),
            alpha=1 - self.level,
            splits=halves,
        )
        if np.ptp(assessed.means) <= ROUNDING * np.abs(together).max():
            notes.append("the same mean for all runs")
        return assessed, notes

    def _p(self, pairs: Pairs) -> Floats:
        method = named_test(self.test)
        p = method(pairs).p
        return p if method.family or self.correction is None else CORRECTIONS[self.correction](p)


def _defined(scores: Scores, columns: Sequence[int]) -> Scores:
    """The scores on the topics on which all of these measures are defined where a run has them."""
    undefined = np.isnan(scores.values[:, :, columns]).any(axis=2) & scores.present
    kept = ~undefined.any(axis=0)
    return scores if kept.all() else scores.select(np.array(scores.queries)[kept].tolist())


def _parts(
    scores: Scores, sets: Mapping[str, Iterable[str]], others: Mapping[str, Scores]
) -> dict[str, Scores]:
    """The scores by the name of the topics they are on."""
    for what, given in (("sets", sets), ("others", others)):
        if not isinstance(given, Mapping):
            raise RankgaugeError(f"{what}={given!r}, expected a dict by name")
    parts = {ALL: scores}
    for name, queries in sets.items():
        _new(name, parts)
        if isinstance(queries, str | bytes):
            raise RankgaugeError(f"the set {name!r} is a text, expected a list of query ids")
        chosen = list(dict.fromkeys(queries))
        if not chosen:
            raise RankgaugeError(f"the set {name!r} has no topics, expected at least one")
        parts[name] = scores.select(chosen)
    for name, other in others.items():
        _new(name, parts)
        parts[name] = other.select(runs=scores.runs, measures=scores.measures)
    return parts


def _new(name: str, parts: Mapping[str, Scores]) -> None:
    if name in parts:
        raise RankgaugeError(f"two sets are called {name!r}, expected different names")


def _columns(scores: Scores, pool_cutoffs: bool) -> dict[str, list[int]]:
    """The names of what is assessed, and the measures each is made of."""
    families: dict[str, list[int]] = {}
    for m, measure in enumerate(scores.measures):
        if inner(measure).direction == "none":
            raise MeasureError(f"{measure} ranks no systems: it is neither better high nor low")
        text = str(measure)
        families.setdefault(_CUTOFF.sub("@", text) if pool_cutoffs else text, []).append(m)
    texts = [str(measure) for measure in scores.measures]
    named: dict[str, list[int]] = {}
    cutoffs: dict[str, list[float]] = {}
    for members in families.values():
        members.sort(key=lambda m: _cutoff(texts[m]))
        name = _family([texts[m] for m in members])
        named[name], cutoffs[name] = members, [_cutoff(texts[m]) for m in members]
    if len(named) < len(texts):  # tests are counted pair by pair and cut-off by cut-off
        one, *others = cutoffs
        for other in others:
            if cutoffs[other] != cutoffs[one]:
                message = f"{one} and {other} are not at the same cut-offs"
                raise RankgaugeError(f"{message}, expected the same of all measures to pool them")
    return named


_CUTOFF = re.compile(r"@\d+(?:\.\d+)?")


def _cutoff(name: str) -> float:
    """Where a measure is cut off; infinite for nowhere."""
    found = _CUTOFF.findall(name)
    return float(found[-1][1:]) if found else math.inf


def _family(names: Sequence[str]) -> str:
    """nDCG@5 and nDCG@10 together are nDCG@5,10."""
    if len(names) == 1:
        return names[0]
    cutoffs = ",".join(_CUTOFF.findall(name)[-1][1:] for name in names)
    return _CUTOFF.sub(f"@{cutoffs}", names[0])


def _about_splits(splits: Splits | None) -> tuple[float | None, ...]:
    if splits is None:
        return (None,) * 8
    low, high = np.quantile(splits.tau, (0.025, 0.975))
    halves = (float(splits.tau.mean()), float(low), float(high))
    rates = (splits.swap_rate, splits.tie_rate, *splits.trusted())
    return int(splits.decided.sum()), *rates, *halves


def _split_details(splits: Splits | None) -> dict[str, Any]:
    if splits is None:
        return {}
    return {
        "edges": splits.edges.tolist(),
        "tau": splits.tau.tolist(),
        "tied": splits.tied,
        "decided": splits.decided.tolist(),
        "swapped": splits.swapped.tolist(),
    }


def _records(table: Table) -> list[dict[str, Cell]]:
    """The rows as JSON can hold them: None for what is undefined, and text for what is infinite."""
    return [dict(zip(table.columns, map(_plain, row), strict=True)) for row in table.rows]


def _plain(cell: Cell) -> Cell:
    if not isinstance(cell, float) or math.isfinite(cell):
        return cell
    return None if math.isnan(cell) else str(cell)


def _definitions(options: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """For each table what its columns mean."""
    method, correction, seed = named_test(options["test"]), options["correction"], options["seed"]
    drawn = f", {options['samples']:,} samples, seed {seed}" if method.drawn else ""
    corrected = "not corrected" if correction is None else f"corrected by {correction}"
    if method.family:
        corrected = "for all pairs of runs together, so not corrected again"
    significant = f"p ≤ {1 - options['level']:.4g}; {method.summary}, {corrected}{drawn}"
    fuzzy = options["fuzziness"]
    ties = f", ties below {fuzzy:g} of the greater mean" if fuzzy else ""
    halves = (
        "decisions: pairs of runs and splits in which both halves of the topics put one run first; "
        f"swap_rate: the share of them in opposite orders; tie_rate: of all, the share without{ties}; "
        f"{options['splits']:,} splits, seed {seed}",
        "trusted: the difference from which on at most 5% swap; trusted_share: of the decisions",
        "half_tau: τ between the halves' orders, mean; half_low, half_high: 95% of the splits",
    )
    return {
        "measures": (
            f"power: the share of tests with {significant}",
            "pad: mean of |a − b| / max(a, b) over pairs of runs, in percent; safe_pad: with max(|a|, "
            "|b|). Both change with an added constant, so they compare no measures of different origin",
            *(halves if options["splits"] else ()),
        ),
        "pairs": (
            "tau, tau_b, tau_ap, rbo: how alike the runs are ranked; tau_ap: with second as reference",
            "both, opposite: significant by both measures, for the same run or for another; "
            "only_first, only_second: significant by that one alone; conflicts: their sum",
            f"significant: {significant}",
        ),
        "swaps": (
            "discordant: pairs of runs that the two put in opposite orders; tied: that either ties; "
            "swap_rate: the discordant share of all pairs",
        ),
    }
