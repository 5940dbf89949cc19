"""How well the methods rank, and what training costs beside the libraries called directly.

    python benchmarks/rankers.py folds [--data ../shared/data]
    python benchmarks/rankers.py scale [--rows 100000 400000] [--trees 100]
    python benchmarks/rankers.py rounds [--rows 100000 400000]
    python benchmarks/rankers.py ascents [--data ../shared/data]
    python benchmarks/rankers.py presets [--data ../shared/data]

`folds`: nDCG@10 (gain exp2, queries without relevant documents counted 0) on the test parts of MQ2008
and OHSUMED, in five folds, the validation part for stopping. `scale`: CPU seconds of training on made
data with 136 features and 100 documents a query, and by how many times the matrix memory grew; each in
a process of its own, and the same with the library called directly. `rounds`: on the same data, for the
methods that are our own, CPU seconds before the first round and of each round. `ascents`: coordinate
ascent from five single starts, by exact lines and by trial steps, and by fastrank where it is installed:
CPU seconds a start, and the training nDCG@10 that is reached. `presets`: CPU seconds of training with
the settings of RankLib on the first fold of MQ2008 and on 5,000 lines of MSLR.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

import rankgauge as rg
from rankgauge import Features, rankers
from rankgauge.core.tables import Table
from rankgauge.data.folds import read_folds
from rankgauge.data.model import Ids
from rankgauge.rankers import lambdamart, random_forest

MEASURE = "nDCG(gain=exp2)@10"
FLOORS = {
    ("MQ2008", "AdaRank"): 0.487,
    ("MQ2008", "LambdaMART"): 0.495,
    ("MQ2008", "LogisticRegression"): 0.495,
    ("MQ2008", "RandomForest"): 0.487,
    ("MQ2008", "RankNet"): 0.485,
    ("MQ2008", "ListNet"): 0.495,
    ("MQ2008", "RankBoost"): 0.492,
    ("MQ2008", "CoordinateAscent"): 0.495,
    ("OHSUMED", "AdaRank"): 0.42,
    ("OHSUMED", "LambdaMART"): 0.41,
    ("OHSUMED", "LogisticRegression"): 0.41,
    ("OHSUMED", "RandomForest"): 0.41,
    ("OHSUMED", "RankNet"): 0.40,
    ("OHSUMED", "ListNet"): 0.43,
    ("OHSUMED", "RankBoost"): 0.42,
    ("OHSUMED", "CoordinateAscent"): 0.43,
}
ROUNDS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "RankNet": ("epochs", 11, {"hidden": [10]}),
    "RankNet, linear": ("epochs", 11, {"hidden": []}),
    "ListNet": ("epochs", 11, {}),
    "RankBoost": ("rounds", 101, {}),
}
"""By name of a method: the setting that says how many rounds there are, how many are compared with one,
and other settings."""
COLLECTIONS = {"MQ2008": "mq2008", "OHSUMED": "ohsumed-letor3"}
WIDTH, DEPTH = 136, 100


def ranking(data: Path) -> Table:
    """The five-fold means of all methods."""
    values: dict[tuple[str, str], list[float]] = {}
    for collection, folder in COLLECTIONS.items():
        for fold in read_folds(data / folder):
            evaluator = rg.Evaluator(fold.test.judgments, MEASURE)
            for name, method in rankers.methods().items():
                scores = method().fit(fold.train, fold.validation).predict(fold.test)
                (mean,) = evaluator.score_features(fold.test, scores).mean()["run"].values()
                values.setdefault((collection, name), []).append(mean)
    rows = [
        (collection, name, float(np.mean(each)), FLOORS.get((collection, name)))
        for (collection, name), each in values.items()
    ]
    return Table(("collection", "method", MEASURE, "at least"), tuple(sorted(rows)))


def made(rows: int) -> Features:
    """Documents whose labels follow from a few features, with noise."""
    rng = np.random.default_rng(0)
    values = rng.random((rows, WIDTH), dtype=np.float32)
    merit = values[:, :5].sum(axis=1) + rng.normal(size=rows)
    labels = np.digitize(merit, np.quantile(merit, (0.6, 0.85, 0.95, 0.99))).astype(np.int32)
    queries = Ids.of(str(number) for number in range(rows // DEPTH))
    return Features(queries, np.arange(0, rows + 1, DEPTH), labels, values)


def direct_trees(kind: Any, features: Features, trees: int) -> None:
    """LightGBM with the parameters of a method."""
    import lightgbm

    settings = kind(trees=trees).settings()
    if kind is rankers.LambdaMART:
        labels, worth = lambdamart.gain_labels(features.labels, settings["gain"])
        parameters = lambdamart.lightgbm_parameters(settings, worth)
    else:
        labels = features.labels.astype(np.float64)
        parameters = random_forest.lightgbm_parameters(settings)
    groups = np.diff(features.bounds)
    data = lightgbm.Dataset(features.values, labels, group=groups, params=parameters)
    lightgbm.train(parameters, data, trees)


def direct_regression(features: Features) -> None:
    """scikit-learn's logistic regression, on values in double precision."""
    from sklearn.linear_model import LogisticRegression

    LogisticRegression(solver="liblinear").fit(
        features.values.astype(np.float64), features.labels > 0
    )


def work(name: str, direct: bool, features: Features, trees: int) -> None:
    """Train once."""
    method = rankers.find_method(name)
    if name == "LogisticRegression":
        direct_regression(features) if direct else method().fit(features)
    elif direct:
        direct_trees(method, features, trees)
    else:
        method(trees=trees).fit(features)


def cost(name: str, direct: bool, rows: int, trees: int) -> tuple[float, float]:
    """CPU seconds of training, and how many times the matrix memory grew."""
    work(name, direct, made(2_000), 2)  # so that importing does not count
    features = made(rows)
    before, start = _peak(), time.process_time()
    work(name, direct, features, trees)
    return time.process_time() - start, (_peak() - before) / features.values.nbytes


def round_cost(name: str, rows: int, few: int = 1) -> tuple[float, float, float]:
    """CPU seconds of a round and of all else, and how many times the matrix memory grew."""
    rounds, many, settings = ROUNDS[name]
    method = rankers.find_method(name.partition(",")[0])
    method(**{rounds: few}, **settings).fit(made(2_000))
    features, seconds = made(rows), []
    before = _peak()
    for count in (few, many):
        start = time.process_time()
        method(**{rounds: count}, **settings).fit(features)
        seconds.append(time.process_time() - start)
    each = (seconds[1] - seconds[0]) / (many - few)
    return each, seconds[0] - few * each, (_peak() - before) / features.values.nbytes


def round_costs(sizes: list[int]) -> Table:
    """What a round of each method costs."""
    rows = [(name, size, *alone(round_cost, name, size)) for name in ROUNDS for size in sizes]
    return Table(("method", "rows", "CPU s a round", "CPU s besides", "memory"), tuple(rows))


def ascents(data: Path, seeds: int = 5) -> Table:
    """Coordinate ascents from single starts: by exact lines, by trial steps, and by fastrank."""
    sets = {
        "MQ2008": read_folds(data / "mq2008")[0].train,
        "MSLR": rg.read_letor(data / "mslr-5k" / "msn1.fold1.train.5k.txt.gz"),
    }
    rows: list[tuple[Any, ...]] = []
    for collection, features in sets.items():
        evaluator = rg.Evaluator(features.judgments, MEASURE)
        climbers = {search: partial(ascent, features, search) for search in ("exact", "steps")}
        if find_spec("fastrank") is not None:
            climbers["fastrank"] = partial(fastrank_ascent, features)
        for name, climb in climbers.items():
            values, start = [], time.process_time()
            for seed in range(seeds):
                scores = climb(seed)
                (value,) = evaluator.score_features(features, scores).mean()["run"].values()
                values.append(value)
            seconds = (time.process_time() - start) / seeds
            rows.append((collection, name, seconds, float(np.mean(values)), max(values)))
    return Table(("collection", "search", "CPU s a start", "mean", "best"), tuple(rows))


def ascent(features: Features, search: str, seed: int) -> Any:
    """The scores that an ascent from one start ends with."""
    ranker = rankers.CoordinateAscent(search=search, restarts=1, seed=seed, normalize="none")
    return ranker.fit(features).predict(features)


def fastrank_ascent(features: Features, seed: int) -> Any:
    """The same by fastrank, with its own settings."""
    import fastrank

    query = np.repeat(np.arange(len(features.queries)), np.diff(features.bounds))
    data = fastrank.CDataset.from_numpy(
        np.ascontiguousarray(features.values), features.labels.astype(np.float64), query
    )
    request = fastrank.TrainRequest.coordinate_ascent()
    request.measure, request.params.num_restarts = "ndcg@10", 1
    request.params.seed, request.params.quiet = seed + 1, True
    scores = data.predict_scores(data.train_model(request))
    return np.array([scores[row] for row in range(len(scores))])


def _peak() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def scale(sizes: list[int], trees: int) -> Table:
    """The cost of each method, and of its library."""
    rows = []
    for name in ("LambdaMART", "RandomForest", "LogisticRegression"):
        for size in sizes:
            (seconds, memory), (other, other_memory) = (
                alone(cost, name, direct, size, trees) for direct in (False, True)
            )
            ratio = seconds / other
            rows.append((name, size, seconds, other, ratio, memory, other_memory))
    names = ("method", "rows", "CPU s", "direct s", "ratio", "memory", "direct memory")
    return Table(names, tuple(rows))


def presets(data: Path) -> Table:
    """What training costs with the settings of RankLib. The validation part decides when to stop."""
    mq2008 = read_folds(data / "mq2008")[0]
    mslr = [
        rg.read_letor(data / "mslr-5k" / f"msn1.fold1.{part}.5k.txt.gz")
        for part in ("train", "test")
    ]
    collections = [(mq2008.train, mq2008.validation), mslr]
    rows = []
    for name in rankers.methods():
        seconds = []
        for train, validation in collections:
            ranker = rankers.find_method(name)(preset="ranklib")
            start = time.process_time()
            ranker.fit(train, validation)
            seconds.append(time.process_time() - start)
        rows.append((name, *seconds))
    sizes = [
        f"{len(train.queries)} queries, {len(train.labels)} documents" for train, _ in collections
    ]
    return Table(("method", *sizes), tuple(rows))


def alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function gives in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("what", choices=("folds", "scale", "rounds", "ascents", "presets"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 400_000])
    parser.add_argument("--trees", type=int, default=100)
    options = parser.parse_args()
    on_data = {"folds": ranking, "ascents": ascents, "presets": presets}
    if options.what in on_data:
        table = on_data[options.what](options.data)
    elif options.what == "scale":
        table = scale(options.rows, options.trees)
    else:
        table = round_costs(options.rows)
    print(table.render("table", digits=2 if options.what == "scale" else 4))


if __name__ == "__main__":
    main()
