"""Compares measures on TREC's runs: prints the numbers and draws the figures of docs/ASSESSMENT.md.

    python docs/scripts/assessment.py [--samples 1999] [--halves 100] [--figures]

The runs are the 143 of the first round of TREC-COVID; TREC-8 and the Web track of 2013 are matrices of
scores. The data is read from the folder RANKGAUGE_DATA, or from beside the project. With --figures
the files in docs/figures are written; otherwise nothing is written. All random draws have a fixed seed.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import rankgauge as rg
from rankgauge.comparison.assessed import Assessment
from rankgauge.comparison.assessment import assess
from rankgauge.comparison.consistency import absolute_difference
from rankgauge.comparison.correlation import kendall_tau
from rankgauge.comparison.significance import TESTS, Pairs
from rankgauge.core.resampling import SamplingOptions
from rankgauge.core.tables import Cell, Table
from rankgauge.figures.files import save_figure
from rankgauge.query_sets import ideal, uninformative

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
MEASURES = (
    "nDCG@10", "nDCG@20", "AP", "AP@100", "P@5", "P@10", "RR", "Recall@100", "ERR@20", "RBP",
)  # fmt: skip
FORMS = ("v1", "v2")
PAIRED, UNPAIRED = "paired-t", "student"
BY_TEST = (PAIRED, "randomization", "bootstrap", "welch", UNPAIRED, "tukey-randomized")
SHARE = 1 / 3
"""The share of the queries in each of the sets: ten of thirty."""
RESAMPLED = 1_000
"""How many times teams are drawn."""
MATRICES = {
    "TREC-8": {"AP": "adhoc8_ap", "P@10": "adhoc8_p10", "RR": "adhoc8_rr"},
    "Web 2013": {"nDCG@20": "web2013_ndcg20", "ERR@20": "web2013_err20"},
}
HALVES = (
    "measure", "significant", "power", "swap_rate", "trusted", "trusted_share",
    "half_tau", "half_low", "half_high",
)  # fmt: skip
SHOWN = ("v1(nDCG@10)", "v2(nDCG@10)")
"""The forms that the figure of p-values shows, beside eight of the measures."""


def data_folder() -> Path:
    return Path(os.environ.get("RANKGAUGE_DATA", BESIDE))


# The scores


def normalized(measure: str) -> tuple[str, ...]:
    """The measure and its forms: nDCG@10, v1(nDCG@10), v2(nDCG@10)."""
    return (measure, *(f"{form}({measure})" for form in FORMS))


@dataclass(frozen=True, eq=False)
class Collection:
    """Runs, all their scores that the page needs, and the team of each run."""

    qrels: Path
    everything: rg.Scores
    teams: tuple[str, ...]

    @property
    def scores(self) -> rg.Scores:
        """The scores by the thirty measures."""
        return self.everything.select(
            measures=[name for measure in MEASURES for name in normalized(measure)]
        )

    def of(self, measure: str) -> Floats:
        """Run × query."""
        return matrix(self.everything, measure)


def covid(folder: Path) -> Collection:
    round1 = folder / "trec-covid" / "round1"
    qrels = round1 / "qrels" / "qrels-rnd1.txt"
    measures = [
        name
        for measure in MEASURES
        for name in (*normalized(measure), f"linear({measure})", f"expected({measure})")
    ]
    scores = rg.evaluate(qrels, sorted((round1 / "runs").iterdir()), measures)
    with (round1 / "leaderboard.csv").open() as text:
        team = {row["run"]: row["team"] for row in csv.DictReader(text)}
    return Collection(qrels, scores, tuple(team[run] for run in scores.runs))


def from_files(folder: Path, files: dict[str, str]) -> rg.Scores:
    """Scores from matrices, with one file for each measure."""
    first, *others = (
        rg.Scores.from_csv(folder / "trec-topic-scores" / f"{file}.csv", measure)
        for measure, file in files.items()
    )
    return first.joined(*others)


def matrix(scores: rg.Scores, measure: str) -> Floats:
    """Run × query."""
    return np.asarray(scores.values[:, :, list(map(str, scores.measures)).index(measure)])


# Which measures tell systems apart


def by_test(scores: rg.Scores, samples: int, executor: Executor) -> dict[str, Assessment]:
    """The assessment by each test; the first also has the halves of the queries."""
    return {
        test: assess(scores, test=test, samples=samples, executor=executor)
        if test == PAIRED
        else assess(scores, test=test, samples=samples, splits=0, executor=executor)
        for test in BY_TEST
    }


def power(assessment: Assessment, measure: str, part: str = "all") -> float:
    return assessment.parts[part][measure].power


def halves_table(assessment: Assessment) -> Table:
    """One row for each measure: its power, and the results on halves of the queries."""
    whole = assessment.table()
    columns = [whole.columns.index(name) for name in HALVES]
    rows = tuple(tuple(row[column] for column in columns) for row in whole.rows)
    tests = len(next(iter(assessment.parts["all"].values())).p)
    return Table(tuple(whole.columns[column] for column in columns), rows, (f"{tests:,} tests",))


def power_table(assessments: dict[str, Assessment], measures: Sequence[str]) -> Table:
    """One row for each measure, one column for each test. The notes say how alike the tests order
    them."""
    rows: list[tuple[Cell, ...]] = [
        (measure, *(_short(power(each, measure)) for each in assessments.values()))
        for measure in measures
    ]
    everything = assessments[PAIRED].measures
    order = {test: [power(each, name) for name in everything] for test, each in assessments.items()}
    notes = [
        f"{test}: τ {kendall_tau(order[PAIRED], powers):.3f} with {PAIRED}, {len(everything)} measures"
        for test, powers in order.items()
        if test != PAIRED
    ]
    return Table(("measure", *assessments), tuple(rows), tuple(notes))


# Is a difference of power more than chance?


@dataclass(frozen=True, eq=False)
class Resampled:
    """Powers on resampled data, sample × measure: on halves of the queries, and with other teams."""

    measures: tuple[str, ...]
    queries: Floats
    teams: Floats

    def of(self, measure: str, base: str | None = None) -> tuple[Floats, Floats]:
        """The powers of a measure, or their differences from the powers of another measure."""
        place = self.measures.index(measure)
        topics, teams = self.queries[:, place], self.teams[:, place]
        if base is not None:
            other = self.measures.index(base)
            topics, teams = topics - self.queries[:, other], teams - self.teams[:, other]
        return topics, teams


def resampled(
    scores: rg.Scores, teams: Sequence[str], test: str, halves: int, executor: Executor
) -> Resampled:
    """Powers by random halves of the queries, two of each split, and by teams drawn with replacement.

    The spread over halves estimates the standard error for all queries (a jackknife that leaves out
    half), if the spread shrinks with the square root of the number of queries. If a team is drawn
    twice, its runs count twice, but no run is tested against itself.
    """
    random = np.random.default_rng(8)
    count = scores.values.shape[1]
    orders = [random.permutation(count) for _ in range(halves // 2)]
    sets = [half for order in orders for half in (order[: count // 2], order[count // 2 :])]
    decided = executor.map(partial(significant, scores.values, test), sets)
    topics = np.array([each.mean(axis=1) for each in decided])
    whole = significant(scores.values, test, np.arange(count))
    first, second = np.triu_indices(len(scores.runs), 1)
    names, team = np.unique(teams, return_inverse=True)
    powers = []
    for _ in range(RESAMPLED):
        drawn = np.bincount(random.integers(len(names), size=len(names)), minlength=len(names))
        weights = drawn[team][first] * drawn[team][second]
        powers.append(whole @ weights / weights.sum())
    return Resampled(tuple(map(str, scores.measures)), topics, np.array(powers))


def significant(values: Floats, test: str, topics: NDArray[np.int_]) -> Bools:
    """Measure × pair: whether there is a significant difference on these queries."""
    first, second = np.triu_indices(len(values), 1)
    return np.array(
        [
            TESTS[test](Pairs(values[:, topics, m], first, second, 0.95, SamplingOptions(1))).p
            <= 0.05
            for m in range(values.shape[2])
        ]
    )


def gain_table(assessments: dict[str, Assessment], samples: dict[str, Resampled]) -> Table:
    """The power that each form gains or loses, by test. ± are standard errors (queries, teams)."""
    rows: list[tuple[Cell, ...]] = []
    for form in FORMS:
        for base in MEASURES:
            name = f"{form}({base})"
            row: list[Cell] = [name]
            for test, each in assessments.items():
                row.append(f"{power(each, name) - power(each, base):+.3f}")
                if test in samples:
                    row += [_short(each.std(ddof=1)) for each in samples[test].of(name, base)]
            rows.append(tuple(row))
    columns = [
        column
        for test in assessments
        for column in ((test, "± queries", "± teams") if test in samples else (test,))
    ]
    return Table(("form", *columns), tuple(rows))


def order_table(assessment: Assessment, samples: Resampled) -> Table:
    """The measures in the order of their power, each with its errors and its lead over the next."""
    order = sorted(MEASURES, key=lambda measure: -power(assessment, measure))
    rows: list[tuple[Cell, ...]] = []
    for place, measure in enumerate(order):
        row: list[Cell] = [measure, _short(power(assessment, measure))]
        row += [_short(each.std(ddof=1)) for each in samples.of(measure)]
        if place + 1 < len(order):
            after = order[place + 1]
            topics, teams = samples.of(measure, after)
            row.append(f"{power(assessment, measure) - power(assessment, after):+.3f}")
            row += [_short(topics.std(ddof=1)), _short(teams.std(ddof=1))]
        rows.append((*row, *[""] * (7 - len(row))))
    columns = ("power", "± queries", "± teams", "over the next", "± queries", "± teams")
    return Table(("measure", *columns), tuple(rows))


def spread_table(collection: Collection, assessments: dict[str, Assessment]) -> Table:
    """For each measure: the share of the spread that is between queries, the chance of the median
    query, the share of scores below chance, and the power of the measure, of linear and of v2."""
    linear = [f"linear({measure})" for measure in MEASURES]
    straight = assess(collection.everything.select(measures=linear), splits=0)
    rows: list[tuple[Cell, ...]] = []
    for measure in MEASURES:
        shares = [_topics_share(collection.of(name)) for name in normalized(measure)]
        chance = collection.of(f"expected({measure})")
        below = np.mean(collection.of(measure) < chance - 1e-12)
        powers = (
            power(assessments[PAIRED], measure),
            power(straight, f"linear({measure})"),
            power(assessments[PAIRED], f"v2({measure})"),
        )
        numbers: tuple[float, ...] = (*shares, float(np.median(chance)), float(below), *powers)
        rows.append((measure, *map(_short, numbers)))
    columns = ("topics", "of v1", "of v2", "chance", "below it", "power", "of linear", "of v2")
    return Table(("measure", *columns), tuple(rows))


def _topics_share(values: Floats) -> float:
    """The share of the spread between queries, in all spread that is not between runs."""
    centered = values - values.mean(axis=1, keepdims=True)
    return float(len(values) * np.sum(centered.mean(axis=0) ** 2) / np.sum(centered**2))


# Which measures agree


def forms_table(assessments: dict[str, Assessment]) -> Table:
    """A measure and its v2: how alike they rank the runs, and where only one finds a difference."""
    rows: list[tuple[Cell, ...]] = []
    for measure in MEASURES:
        pair = (measure, f"v2({measure})")
        row: list[Cell] = [measure, _short(assessments[PAIRED].agreement["all"][pair][0].tau)]
        for test in (PAIRED, UNPAIRED):
            conflicts = assessments[test].agreement["all"][pair][1]
            row += [conflicts.first, conflicts.second, conflicts.opposite]
        rows.append(tuple(row))
    columns = [
        f"{name}{suffix}"
        for suffix in ("", f", {UNPAIRED}")
        for name in ("only it", "only v2", "opposite")
    ]
    return Table(("measure", "τ with v2", *columns), tuple(rows))


def agreement_table(assessment: Assessment, reference: str = "nDCG@10") -> Table:
    """All other measures compared with one. The notes have the extremes over all pairs of the ten."""
    rows: list[tuple[Cell, ...]] = []
    pairs = {
        pair: both
        for pair, both in assessment.agreement["all"].items()
        if pair[0] in MEASURES and pair[1] in MEASURES
    }
    for (first, second), (alike, conflicts) in pairs.items():
        if first == reference:
            numbers = (alike.tau, alike.tau_ap, alike.rbo.ext)
            rows.append((second, *map(_short, numbers), *conflicts[:4]))
    tau = {pair: alike.tau for pair, (alike, _) in pairs.items()}
    opposite = {pair: conflicts.opposite for pair, (_, conflicts) in pairs.items()}
    by_tau = sorted(tau, key=tau.__getitem__)
    some = sum(count > 0 for count in opposite.values())
    notes = (
        f"most alike: {_listed(tau, by_tau[:-4:-1])}",
        f"least alike: {_listed(tau, by_tau[:3])}",
        f"most opposite: {_listed(opposite, sorted(opposite, key=opposite.__getitem__)[:-4:-1])}; "
        f"pairs of measures with any: {some} of {len(pairs)}",
    )
    columns = ("τ", "τ_AP", "RBO", "both", "opposite", f"only {reference}", "only it")
    return Table(("measure", *columns), tuple(rows), notes)


# Sets of queries


def sets_tables(collection: Collection) -> tuple[Table, Table]:
    """The power of each measure and its forms on the queries that are uninformative and ideal by that
    measure, and the share of pairs of runs that the two sets put in opposite orders."""
    powers: list[tuple[Cell, ...]] = []
    swaps: list[tuple[Cell, ...]] = []
    for measure in MEASURES:
        own = collection.everything.select(measures=[measure])
        sets = {
            "uninformative": uninformative(own, collection.qrels, share=SHARE),
            "ideal": ideal(own, collection.qrels, share=SHARE),
        }
        scores = collection.everything.select(measures=normalized(measure))
        assessments = {
            test: assess(scores, sets=sets, test=test, splits=0) for test in (PAIRED, UNPAIRED)
        }
        for part in sets:
            row = [
                _short(power(each, name, part))
                for each in assessments.values()
                for name in normalized(measure)
            ]
            powers.append((measure, part, *row))
        alike = assessments[PAIRED].swaps["uninformative", "ideal"]
        taus = [
            assessments[PAIRED].agreement[part][measure, f"v2({measure})"][0].tau
            for part in ("all", *sets)
        ]
        rates = [alike[name].swap_rate for name in normalized(measure)]
        swaps.append((measure, *map(_short, (*rates, *taus))))
    columns = (PAIRED, "v1", "v2", UNPAIRED, "v1", "v2")
    first = Table(("measure", "set", *columns), tuple(powers))
    rates_and_taus = ("swap rate", "of v1", "of v2", "τ with v2: all", "uninformative", "ideal")
    return first, Table(("measure", *rates_and_taus), tuple(swaps))


# Percentage absolute difference


def pad_table(collection: Collection) -> Table:
    """The same scores with a constant added: PAD changes, and no test does."""
    first, second = np.triu_indices(len(collection.teams), 1)
    rows: list[tuple[Cell, ...]] = []
    for name, constant in (
        ("nDCG@10", 0.0), ("nDCG@10", 0.1), ("nDCG@10", 1.0), ("v2(nDCG@10)", 0.0),
        ("v2(nDCG@10)", 0.1), ("v2(nDCG@10)", 1.0), ("AP", 0.0), ("v2(AP)", 0.0), ("v2(AP)", 1.0),
    ):  # fmt: skip
        values = collection.of(name) + constant
        means = values.mean(axis=1)
        p = TESTS[PAIRED](Pairs(values, first, second, 0.95, SamplingOptions(1))).p
        row = (absolute_difference(means), absolute_difference(means, safe=True))
        label = f"{name} + {constant:g}" if constant else name
        share = float(np.mean(p <= 0.05))
        lowest, highest = f"{means.min():.3f}", f"{means.max():.3f}"
        rows.append((label, lowest, highest, *(f"{pad:.1f}" for pad in row), _short(share)))
    columns = ("lowest mean", "highest", "PAD", "safe PAD", "power")
    return Table(("scores", *columns), tuple(rows))


# Matrices without runs


def matrix_tables(folder: Path, samples: int, executor: Executor) -> tuple[Table, Table, Table]:
    """The results for TREC-8 and Web 2013: halves, power by test, pairs of measures."""
    halves: list[tuple[Cell, ...]] = []
    powers: list[tuple[Cell, ...]] = []
    pairs: list[tuple[Cell, ...]] = []
    for name, files in MATRICES.items():
        scores = from_files(folder, files)
        assessments = by_test(scores, samples, executor)
        table = halves_table(assessments[PAIRED])
        halves += [(name, *row) for row in table.rows]
        powers += [
            (name, *row, _short(_topics_share(matrix(scores, str(row[0])))))
            for row in power_table(assessments, list(files)).rows
        ]
        for (first, second), (alike, conflicts) in assessments[PAIRED].agreement["all"].items():
            numbers = (alike.tau, alike.tau_ap, alike.rbo.ext)
            pairs.append((name, first, second, *map(_short, numbers), *conflicts[:4]))
    columns = ("τ", "τ_AP", "RBO", "both", "opposite", "only first", "only second")
    return (
        Table(("scores", *table.columns), tuple(halves)),
        Table(("scores", "measure", *BY_TEST, "topics"), tuple(powers)),
        Table(("scores", "first", "second", *columns), tuple(pairs)),
    )


def _short(number: float) -> str:
    return f"{number:.3f}"


def _listed(values: Mapping[tuple[str, str], float], pairs: Iterable[tuple[str, str]]) -> str:
    return ", ".join(f"{a} and {b} {values[a, b]:.3g}" for a, b in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--samples", type=int, default=1_999, help="number of samples for tests that draw them"
    )
    parser.add_argument(
        "--halves", type=int, default=100, help="number of halves of the queries, for the errors"
    )
    parser.add_argument("--figures", action="store_true", help="write docs/figures")
    arguments = parser.parse_args()
    collection = covid(data_folder())
    scores = collection.scores
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        assessments = by_test(scores, arguments.samples, executor)
        show(
            "TREC-COVID: the power of each measure, and halves",
            halves_table(assessments[PAIRED]),
        )
        show("Power by test", power_table(assessments, MEASURES))
        samples = {
            test: resampled(scores, collection.teams, test, arguments.halves, executor)
            for test in (PAIRED, UNPAIRED)
        }
        show(
            f"Measures by power, {PAIRED}, with errors",
            order_table(assessments[PAIRED], samples[PAIRED]),
        )
        show("Power gained by v1 and v2", gain_table(assessments, samples))
        show("Spread between queries, and the kink", spread_table(collection, assessments))
        title = "A measure and its v2: conflicts of significance"
        show(title, forms_table({test: assessments[test] for test in (PAIRED, UNPAIRED)}))
        show(f"Agreement with nDCG@10, {PAIRED}", agreement_table(assessments[PAIRED]))
        powers, swaps = sets_tables(collection)
        show(f"Power on sets of queries, by {PAIRED} and {UNPAIRED}", powers)
        show("Between the uninformative and the ideal queries", swaps)
        show("PAD with a constant added", pad_table(collection))
        titles = ("halves", "power by test", "pairs of measures")
        for title, table in zip(
            titles, matrix_tables(data_folder(), arguments.samples, executor), strict=True
        ):
            show(f"From matrices: {title}", table)
    if arguments.figures:
        FIGURES.mkdir(exist_ok=True)
        curves = [measure for measure in MEASURES if measure not in ("AP@100", "RBP")]
        paired = assessments[PAIRED]
        save_figure(paired.figure("asl", [*curves, *SHOWN]), FIGURES / "assessment-asl.svg")
        save_figure(paired.figure("swaps", MEASURES), FIGURES / "assessment-swaps.svg")
        save_figure(paired.figure("tau"), FIGURES / "assessment-tau.svg")


def show(title: str, table: Table) -> None:
    print(f"{title}\n\n{table.render('table')}", flush=True)


if __name__ == "__main__":
    main()
