"""The score of chance on real queries: prints the numbers and draws the figures of docs/CHANCE.md.

    python docs/scripts/chance.py [--shuffles 2000] [--figures]

The data is read from the folder RANKGAUGE_DATA, or from beside the project. With --figures the files in
docs/figures are written; otherwise nothing is written. All random draws have a fixed seed.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import rankgauge as rg
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import MeasureError, Unsupported
from rankgauge.figures.files import save_figure
from rankgauge.figures.queries import expected_histogram
from rankgauge.io.letor import read_letor
from rankgauge.measures import Measure, answers, entries, parse
from rankgauge.measures.normalization import TOLERANCE, linear
from rankgauge.measures.orders import Mean
from rankgauge.query_sets import query_types
from rankgauge.rankings.alignment import align, judged_labels
from rankgauge.rankings.lists import JudgedLabels, Rankings, offsets_of

Floats = NDArray[np.float64]

BESIDE = Path(__file__).resolve().parents[3] / "shared" / "data"
FIGURES = Path(__file__).resolve().parents[1] / "figures"
EXAMPLES = ("12904", "15229")
"""Two queries of MQ2008 with the same nDCG@10."""
CUTOFF = 10
LIMIT = 4.0
"""How many standard errors the mean of a random ranker may be away from the expected score."""
ROWS = 1_000_000
"""About how many documents are scored at once."""


# The data


@dataclass(frozen=True, eq=False)
class Collection:
    """Queries with every document judged, and a real ranking of each query."""

    name: str
    judgments: rg.Judgments
    run: rg.Run

    @property
    def judged(self) -> JudgedLabels:
        return judged_labels(self.judgments)

    @property
    def rankings(self) -> Rankings:
        """The real rankings, one list for each query."""
        return align(self.judgments, self.run, ties="random").rankings


def data_folder() -> Path:
    return Path(os.environ.get("RANKGAUGE_DATA", BESIDE))


def letor(name: str, files: Iterable[Path], feature: int) -> Collection:
    """The queries of some LETOR files, ranked by one feature. Documents are numbered."""
    parts = [read_letor(file) for file in files]
    queries = [np.repeat(part.queries.texts(), np.diff(part.bounds)) for part in parts]
    labels = np.concatenate([part.labels for part in parts])
    values = np.concatenate([part.values[:, feature - 1] for part in parts])
    ids, documents = np.concatenate(queries), np.arange(len(labels))
    return Collection(
        name,
        rg.Judgments.from_arrays(ids, documents, labels, source=name),
        rg.Run.from_arrays(ids, documents, values, name=f"{name} by BM25"),
    )


def mq2008(folder: Path) -> Collection:
    """LETOR 4.0 MQ2008, its five parts, by feature 25: BM25 of the whole document."""
    return letor("MQ2008", sorted((folder / "mq2008").glob("S?.txt.gz")), 25)


def mslr(folder: Path) -> Collection:
    """Four samples of MSLR-WEB, by feature 110: BM25 of the whole document."""
    return letor("MSLR", sorted(folder.glob("mslr-*/*.txt.gz")), 110)


def with_relevant(judged: JudgedLabels) -> NDArray[np.intp]:
    return np.flatnonzero(judged.relevant(1) > 0)


# A random ranker


def all_measures() -> list[Measure]:
    """Every measure that scores rankings and has a direction: uncut, and with a cut-off."""
    measures: list[Measure] = []
    for _, entry in sorted(entries().items(), key=lambda item: item[0].lower()):
        if not isinstance(entry, Measure) or entry.direction == "none":
            continue
        if entry.answers()["score"] == "no":
            continue
        if entry.cutoffs != "none":
            try:
                measures.append(entry @ CUTOFF)
            except MeasureError:  # the cut-off is a level of recall
                measures.append(entry @ 0.5)
        if entry.cutoffs != "required":
            measures.append(entry)
    return measures


def shuffled(judged: JudgedLabels, shuffles: int, seed: int) -> Iterator[Rankings]:
    """Random orders of every query's documents, in batches: one list for each query and shuffle."""
    generator = np.random.default_rng(seed)
    query = np.repeat(np.arange(len(judged)), judged.sizes)
    size = max(1, ROWS // len(query))
    for start in range(0, shuffles, size):
        count = min(size, shuffles - start)
        order = np.argsort(query + generator.random((count, len(query))), axis=1)
        yield Rankings(
            judged.labels[order].ravel(),
            offsets_of(np.tile(judged.sizes, count)),
            np.tile(np.arange(len(judged)), count),
            judged,
        )


class Agreement(NamedTuple):
    """The mean score of a random ranker over queries, and its expected value."""

    queries: int
    mean: float
    expected: float
    error: float

    @property
    def distance(self) -> float:
        """The difference in standard errors. If every order gets the same score: 0 if the two agree."""
        difference = self.mean - self.expected
        if abs(difference) <= 1e-9 * max(1.0, abs(self.expected)):
            return 0.0
        return difference / self.error if self.error > 0 else np.inf


def agreement(means: Floats, expected: Mean, judged: JudgedLabels) -> Agreement:
    """The agreement, from the mean of each shuffle over the queries that have an expected score.

    The error is that of the mean over shuffles, and of an estimated expectation. One of those is drawn
    with the same orders for all queries of a size, so that of these the errors add up.
    """
    kept = np.isfinite(expected.values)
    shared = np.bincount(judged.sizes[kept], weights=expected.errors[kept])
    drawn = np.sqrt(np.sum(shared**2)) / np.count_nonzero(kept)
    error = np.hypot(np.std(means, ddof=1) / np.sqrt(len(means)), drawn)
    mean = expected.values[kept].mean()
    return Agreement(int(np.count_nonzero(kept)), float(means.mean()), float(mean), float(error))


class Row(NamedTuple):
    """The results for a measure. `linear` is None if the best order is not known."""

    measure: Measure
    drawn: int
    plain: Agreement
    linear: Agreement | None


def random_ranker(
    judged: JudgedLabels, measures: Sequence[Measure], shuffles: int, seed: int = 0
) -> list[Row]:
    """The mean of a random ranker and its expected value, by every measure and by its `linear`.

    A score that is not defined where the expected one is makes the mean undefined, and no agreement.
    """
    normalized = {measure: normal for measure in measures if (normal := _linear(measure, judged))}
    scored = [*measures, *normalized.values()]
    expected = {measure: measure.random_each(judged) for measure in scored}
    means: dict[Measure, list[Floats]] = {measure: [] for measure in scored}
    for lists in shuffled(judged, shuffles, seed):
        for measure in scored:  # the score is kept where `linear`, which comes later, looks for it
            known = answers.cached_scores(lists, measure)
            kept = np.isfinite(expected[measure].values)
            means[measure].append(known.reshape(-1, len(judged))[:, kept].mean(axis=1))
    agreements = {m: agreement(np.concatenate(means[m]), expected[m], judged) for m in scored}
    return [
        Row(
            measure,
            int(np.count_nonzero(expected[measure].samples)),
            agreements[measure],
            agreements[normalized[measure]] if measure in normalized else None,
        )
        for measure in measures
    ]


def _linear(measure: Measure, judged: JudgedLabels) -> Measure | None:
    try:
        measure.ideal_each(judged)
    except Unsupported:
        return None
    return linear(measure)


def furthest(agreements: Iterable[Agreement | None]) -> float:
    """The largest distance, in standard errors; infinite if a distance is not defined."""
    distances = [abs(each.distance) for each in agreements if each is not None]
    return max(distances) if np.isfinite(distances).all() else np.inf


def ranker_table(collection: Collection, rows: Sequence[Row], shuffles: int) -> Table:
    total, judged = len(collection.judgments.queries), collection.judged
    cells: list[tuple[Cell, ...]] = []
    for measure, drawn, plain, normal in rows:
        line: list[Cell] = [str(measure), drawn or None, plain.mean, plain.expected]
        line += [plain.error, plain.distance]
        line += [None, None] if normal is None else [normal.mean, normal.distance]
        cells.append(tuple(line))
    kept = len(with_relevant(judged))
    fewer = sum(row.plain.queries < kept for row in rows)
    largest = furthest(row.plain for row in rows), furthest(row.linear for row in rows)
    without = ", ".join(str(row.measure) for row in rows if row.linear is None)
    within = "all within" if max(largest) <= LIMIT else "NOT all within"
    return Table(
        ("measure", "drawn on", "mean", "expected", "error", "z", "linear", "z of linear"),
        tuple(cells),
        (
            f"{collection.name}: {shuffles:,} shuffles of {kept} queries; {total - kept} with nothing "
            f"relevant left out; measures undefined on some of the others: {fewer}",
            "drawn on: how many queries have an estimated expectation; its error is part of the error",
            f"no linear, as the best order of many documents is not known: {without or 'none'}",
            f"largest |z|: {largest[0]:.2f}, of linear {largest[1]:.2f}; {within} {LIMIT:g}",
        ),
    )


def forms_table(collections: Sequence[Collection], shuffles: int) -> Table:
    """A random ranker's mean by each normalized form."""
    rows: list[tuple[Cell, ...]] = []
    names = ("v1", "v2", "linear", "z", "minmax")
    for collection in collections:
        judged = collection.judged.take(with_relevant(collection.judged))
        for inside in ("nDCG@10", "AP@10", "P@10"):
            measures = [parse(text) for text in (inside, *(f"{n}({inside})" for n in names))]
            sums = np.zeros(len(measures))
            for lists in shuffled(judged, shuffles, seed=1):
                sums += [np.sum(measure.score_each(lists)) for measure in measures]
            rows.append((collection.name, inside, *(sums / (shuffles * len(judged))).tolist()))
    return Table(("queries", "measure", "score", *names), tuple(rows))


# Exact against independent


class Comparison(NamedTuple):
    """Two formulas for the score of chance, on the queries with something relevant."""

    ratio: Floats
    refused: NDArray[np.bool_]
    exact_sign: NDArray[np.int_]
    independent_sign: NDArray[np.int_]
    """The signs of v2, for the queries that are not refused."""

    def changes(self, before: int, after: int) -> int:
        kept = ~self.refused
        return int(np.sum((self.exact_sign[kept] == before) & (self.independent_sign == after)))

    @property
    def changed(self) -> int:
        return int(np.sum(self.exact_sign[~self.refused] != self.independent_sign))


def comparison(collection: Collection, text: str) -> Comparison:
    lists = _taken(collection.rankings, with_relevant(collection.judged))
    exact, independent, best = (
        parse(wrapped).score_each(lists)
        for wrapped in (f"expected({text})", f"expected({text},reb=independent)", f"ideal({text})")
    )
    refused = independent > best + TOLERANCE
    kept = _taken(lists, np.flatnonzero(~refused))
    return Comparison(
        independent / exact,
        refused,
        _sign(parse(f"v2({text})").score_each(lists)),
        _sign(parse(f"v2({text},reb=independent)").score_each(kept)),
    )


def _taken(lists: Rankings, chosen: NDArray[np.intp]) -> Rankings:
    """Some of the lists, with the judged labels of their queries only."""
    rows = np.flatnonzero(np.repeat(np.isin(np.arange(len(lists)), chosen), lists.lengths))
    judged = lists.judged.take(lists.query[chosen])
    alone = JudgedLabels(judged.labels, judged.offsets, judged.pooled, judged.max_grade)
    lengths = offsets_of(lists.lengths[chosen])
    return Rankings(lists.labels[rows], lengths, np.arange(len(chosen)), alone)


def _sign(values: Floats) -> NDArray[np.int_]:
    return np.sign(np.where(np.abs(values) <= 1e-9, 0.0, values)).astype(int)


def independence_table(collections: Sequence[Collection]) -> Table:
    """The distribution of independent/exact, and its effect on the sign of v2.

    "− to +" counts the queries with a V2 below 0 by the exact chance and above 0 by the independent
    one; "changed" has those to or from 0 too. The refused ones, with chance above the best, are apart.
    """
    rows: list[tuple[Cell, ...]] = []
    for collection in collections:
        for pattern in ("SP@{}", "nDCG(gain=exp2)@{}"):
            for cutoff in (5, 10, 20, 30):
                compared = comparison(collection, pattern.format(cutoff))
                line: list[Cell] = [collection.name, pattern.format(cutoff), len(compared.ratio)]
                line += [_assumed(collection.judged, cutoff)]
                line += np.quantile(compared.ratio, (0, 0.25, 0.5, 0.75, 1)).tolist()
                line += [
                    int(compared.refused.sum()),
                    compared.changes(-1, 1),
                    compared.changes(1, -1),
                ]
                line += [compared.changed]
                rows.append(tuple(line))
    quartiles = ("min", "25%", "median", "75%", "max")
    signs = ("− to +", "+ to −", "changed")
    columns = ("queries", "measure", "of them", "R, N > k", *quartiles, "refused", *signs)
    return Table(columns, tuple(rows))


def _assumed(judged: JudgedLabels, cutoff: int) -> int:
    """How many queries have more relevant documents, and more others, than the cut-off."""
    relevant = judged.relevant(1)
    return int(np.sum((relevant > cutoff) & (judged.sizes - relevant > cutoff)))


def paper_table(collections: Sequence[Collection]) -> Table:
    """The real ranking and the best one by V1 and V2, with our bounds and with the papers'."""
    rows: list[tuple[Cell, ...]] = []
    for collection in collections:
        lists = _taken(collection.rankings, with_relevant(collection.judged))
        for reb in ("exact", "independent"):
            for iub in ("achievable", "k"):
                line: list[Cell] = [collection.name, reb, iub]
                for form in ("v1", "v2"):
                    measure = parse(f"{form}(SP@10,reb={reb},iub={iub})")
                    line += _means(measure, lists)
                rows.append(tuple(line))
    names = ("v1", "v1 of the best", "v2", "v2 of the best")
    return Table(("queries", "reb", "iub", *names), tuple(rows))


def _means(measure: Measure, lists: Rankings) -> list[Cell]:
    try:
        scores, best = measure.score_each(lists), measure.ideal_each(lists.judged)
    except MeasureError:  # chance is above the best somewhere
        return [None, None]
    return [float(scores.mean()), float(best.mean())]


# Runs


def kinds_table(collection: Collection, queries: Sequence[str]) -> Table:
    """The scores of some queries by every form, and the means over all queries with something
    relevant."""
    forms = ("expected", "v1", "v2", "linear", "z", "minmax")
    texts = ("nDCG@10", *(f"{form}(nDCG@10)" for form in forms))
    scores = rg.evaluate(collection.judgments, collection.run, texts, ties="random")
    judged = collection.judged
    rows: list[tuple[Cell, ...]] = []
    for query in queries:
        place = scores.queries.index(query)
        counts = (int(judged.sizes[place]), int(judged.relevant(1)[place]))
        rows.append((query, *counts, *scores.values[0, place].tolist()))
    kept = with_relevant(judged)
    means = scores.values[0, kept].mean(axis=0).tolist()
    rows.append((f"mean of {len(kept)}", None, None, *means))
    return Table(("query", "judged", "relevant", "nDCG@10", *forms), tuple(rows))


class TrecRun(NamedTuple):
    name: str
    qrels: str
    run: str
    documents: int
    """The number of documents in the collection."""
    measures: tuple[str, ...]


TREC_RUNS = (
    TrecRun(
        "DL 2021 p_bm25",
        "qrels/qrels.dl21-passage.txt.gz",
        "trec-dl21/runs/p_bm25.run.gz",
        138_364_198,
        ("nDCG@10", "AP"),
    ),
    TrecRun(
        "Web 2012 ql-catb",
        "qrels/qrels.web.151-200.txt.gz",
        "trec-web2012/runs/ql-catb.txt.gz",
        50_220_423,
        ("nDCG@10",),
    ),
)


def nulls_table(folder: Path) -> Table:
    """The means of one run over its queries, by every form and with each `null=`."""
    forms = ("expected", "ideal", "v1", "v2", "linear", "z")
    rows: list[tuple[Cell, ...]] = []
    for name, qrels, run, documents, measures in TREC_RUNS:
        for measure in measures:
            # Uncut, the whole of a collection would have to be laid out.
            cut = ["pool", f"collection,documents={documents}"] if "@" in measure else []
            for null in ("judged", "run", *cut):
                texts = (measure, *(f"{form}({measure},null={null})" for form in forms))
                scores = rg.evaluate(folder / qrels, folder / run, texts)
                means = scores.values[0].mean(axis=0).tolist()
                rows.append((name, measure, null.partition(",")[0], *means))
    return Table(("run", "measure", "null", "score", *forms), tuple(rows))


def order_table(folder: Path) -> Table:
    """How many pairs of runs change places if the mean of a form replaces the mean of the measure."""
    forms = ("v1", "v2", "linear", "z", "minmax")
    rows: list[tuple[Cell, ...]] = []
    for name, qrels, runs in (
        ("DL 2021", "qrels/qrels.dl21-passage.txt.gz", "trec-dl21/runs"),
        ("TREC-COVID 1", "qrels/qrels.covid-round1.txt.gz", "trec-covid/round1/runs"),
    ):
        texts = ("nDCG@10", *(f"{form}(nDCG@10)" for form in forms))
        means = rg.evaluate(folder / qrels, folder / runs, texts).values.mean(axis=1)
        pairs = np.triu_indices(len(means), 1)
        better = [np.sign(np.subtract.outer(column, column)[pairs]) for column in means.T]
        changed = [int(np.sum(better[0] * other < 0)) for other in better[1:]]
        rows.append((name, len(means), len(pairs[0]), *changed))
    return Table(("track", "runs", "pairs", *forms), tuple(rows))


# The figures


def draw(collections: Sequence[Collection]) -> None:
    FIGURES.mkdir(exist_ok=True)
    first, last = collections[0], collections[-1]
    scores = rg.evaluate(first.judgments, first.run, "nDCG@10", ties="random")
    types = query_types(scores, first.judgments)
    save_figure(types.figure(f"nDCG@10, {first.run.name}"), FIGURES / "query-map.svg")
    values, left_out = {}, {}
    for collection in (first, last):
        kept = with_relevant(collection.judged)
        nothing = {"nothing relevant": len(collection.judged) - len(kept)}
        for text in ("nDCG(gain=exp2)@5", "nDCG(gain=exp2)@30", "AP(norm=min)@10"):
            name = f"{collection.name}: {text}"
            values[name] = parse(text).expected_each(collection.judged.take(kept))
            left_out[name] = nothing
    save_figure(expected_histogram(values, left_out), FIGURES / "expected-histogram.svg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shuffles", type=int, default=2000, metavar="N")
    parser.add_argument("--figures", action="store_true", help="write docs/figures")
    arguments = parser.parse_args()
    folder = data_folder()
    collections = [mq2008(folder), mslr(folder)]
    show("Two queries of MQ2008, ranked by BM25", kinds_table(collections[0], EXAMPLES))
    show("One run under each null", nulls_table(folder))
    show("Pairs of runs that change places", order_table(folder))
    show("independent/exact, and the sign of V2", independence_table(collections), digits=3)
    show("The bounds of the papers, SP@10", paper_table(collections))
    show("A random ranker, normalized", forms_table(collections, arguments.shuffles))
    for collection in collections:
        judged = collection.judged.take(with_relevant(collection.judged))
        rows = random_ranker(judged, all_measures(), arguments.shuffles)
        show("A random ranker", ranker_table(collection, rows, arguments.shuffles), digits=5)
    if arguments.figures:
        draw(collections)


def show(title: str, table: Table, digits: int = 4) -> None:
    print(f"{title}\n\n{table.render('table', digits=digits)}", flush=True)


if __name__ == "__main__":
    main()
