"""Flips single bits of every kind of file that rankgauge saves, and loads each file again:

    python tests/bit_flips.py [--flips 10000] [--seed 1]

A flip is found if loading ends with an error that names the file, or if the file is made again from its
sources. A flip is harmless if the same content is loaded: it hit white space, or what a format does not
use. Anything else is a silent change. The script counts them by kind, and ends with 1 if there is one.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import rankgauge as rg
from rankgauge.core.sealing import read_sealed, write_sealed
from rankgauge.forecast.forecaster import Forecaster
from rankgauge.forecast.tracks import Rows
from rankgauge.io import cache
from rankgauge.io.own_paths import OwnPath
from rankgauge.rankers import LambdaMART, LogisticRegression, cross_validate, load
from rankgauge.rankers.checks import make_features
from rankgauge.rankers.crossval import SINGLE
from rankgauge.rankers.fold_store import FoldStore
from rankgauge.scores.model import Scores

FEATURES = make_features(20)


class Saved(NamedTuple):
    """Files of one kind, and a function that loads what they hold, as something to compare."""

    files: list[Path]
    loaded: Callable[[], Any]


def scores(folder: Path) -> Saved:
    draw = np.random.default_rng(1)
    values = draw.random((3, 40, 2))
    values[0, 3, 1] = np.nan
    path = folder / "scores.parquet"
    Scores.from_matrix(values, runs=["a", "b", "é"], measure=["AP", "nDCG@10"]).save(path)
    return Saved([path], lambda: _content(Scores.load(path)))


def compressed_scores(folder: Path) -> Saved:
    path = folder / "scores.gz"
    values = np.linspace(0, 1, 60).reshape(2, 30)
    Scores.from_matrix(values, runs=["a", "b"], measure="AP").save(path)
    return Saved([path], lambda: _content(Scores.load(path)))


def _content(loaded: Scores) -> Any:
    arrays = (loaded.values, loaded.present, loaded.judged_at_10, loaded.relevant)
    names = (loaded.runs, loaded.queries, loaded.measures, loaded.policies, loaded.notes)
    return repr(names), [np.nan_to_num(array, nan=-9.0).tobytes() for array in arrays]


def linear_ranker(folder: Path) -> Saved:
    return _ranker(LogisticRegression(normalize="z").fit(FEATURES, FEATURES), folder)


def trees(folder: Path) -> Saved:
    return _ranker(LambdaMART(trees=3).fit(FEATURES, FEATURES), folder)


def _ranker(ranker: Any, folder: Path) -> Saved:
    ranker.save(folder)

    def loaded() -> Any:
        back = load(folder)
        numbers = (back.predict(FEATURES), back.feature_importances_)
        return repr((back, back.settings(), back.history_, back.notes())), [
            array.tobytes() for array in numbers
        ]

    return Saved(sorted(folder.iterdir()), loaded)


def forecaster(folder: Path) -> Saved:
    draw = np.random.default_rng(2)
    features = draw.random((4, 12, 6))
    target = features.mean(axis=2)
    topics = tuple(f"t{number}" for number in range(12))
    rows = Rows("a", "news", tuple("pqrs"), topics, features, target, target, target)
    Forecaster("regression").fit_rows([rows]).save(folder)

    def loaded() -> Any:
        back = Forecaster.load(folder)
        forecast = back.forecast_rows(rows, level=0.5)
        return repr((back, back.errors_, back.tracks_, back.notes_)), forecast.values.tobytes()

    return Saved(sorted(folder.iterdir()), loaded)


def fold_store(folder: Path) -> Saved:
    data, output = folder / "data", folder / "out"
    data.mkdir()
    draw = np.random.default_rng(3)
    for part in range(1, 6):
        lines = [
            f"{draw.integers(0, 3)} qid:{part}{query} 1:{draw.random():.3f} 2:{draw.random():.3f}\n"
            for query in range(4)
            for _ in range(5)
        ]
        (data / f"S{part}.txt").write_text("".join(lines))
    cross_validate(rg.read_folds(data), ["logisticregression"], ["AP"], output=output)
    protocol = read_sealed(output / "protocol.json", "a protocol", "rankgauge", "remove it")
    files = [*output.glob("*.json"), *output.glob("fold-1/*")]

    def loaded() -> Any:
        store = FoldStore(OwnPath(output), protocol)
        store.begin()
        trained = [store.load(1, name) for name in ("LogisticRegression", SINGLE)]
        return [each and (each.train, each.run.scores.tobytes()) for each in trained]

    return Saved(sorted(files), loaded)


def part_of_study(folder: Path) -> Saved:
    path = folder / "part.json"
    write_sealed(path, {"numbers": [0.25, -1.5e-7, 3], "nothing": None, "text": "é", "yes": True})
    return Saved([path], lambda: repr(read_sealed(path, "a part", "rankgauge", "remove it")))


def letor_cache(folder: Path) -> Saved:
    """A damaged file in the cache is made again, so the features are always those of the data."""
    data, kept = folder / "data.txt", folder / "cache"
    data.write_text("".join(f"{n % 3} qid:{n // 4} 1:{n / 7:.4f} # d{n}\n" for n in range(40)))
    os.environ["RANKGAUGE_CACHE"] = str(kept)
    cache.LEAST_BYTES, cache.SETTLING_TIME = 1, 0
    rg.read_letor(data)

    def loaded() -> Any:
        read = rg.read_letor(data)
        return read.values.tobytes(), read.labels.tobytes(), list(read.queries)

    return Saved(sorted(kept.iterdir()), loaded)


KINDS: dict[str, Callable[[Path], Saved]] = {
    "scores": scores,
    "compressed scores": compressed_scores,
    "linear ranker": linear_ranker,
    "ranker of trees": trees,
    "forecaster": forecaster,
    "fold store": fold_store,
    "part of a study": part_of_study,
    "cache of LETOR files": letor_cache,
}
"""How each kind of file is made."""


def flipped(kind: str, flips: int, seed: int, folder: Path) -> Counter[str]:
    """How many flips of single bits in files of this kind are found, harmless, or silent."""
    saved = KINDS[kind](folder)
    whole, draw, counts = saved.loaded(), random.Random(f"{kind} {seed}"), Counter[str]()
    for _ in range(flips):
        path = draw.choice(saved.files)
        raw = bytearray(path.read_bytes())
        place, bit = draw.randrange(len(raw)), draw.randrange(8)
        raw[place] ^= 1 << bit
        kept = {file: file.read_bytes() for file in saved.files}
        path.write_bytes(raw)
        try:
            same = _same(saved.loaded(), whole)
            outcome = "harmless" if same else f"silent: {path.name}, byte {place}, bit {bit}"
        except rg.RankgaugeError as error:
            outcome = "found" if path.parent.name in str(error) else f"not named: {error}"
        counts[outcome] += 1
        for file, content in kept.items():
            file.write_bytes(content)
    return counts


def _same(loaded: Any, whole: Any) -> bool:
    """Whether this is what was saved; None in a list stands for what will be made again."""
    if isinstance(whole, list):
        return all(one is None or one == other for one, other in zip(loaded, whole, strict=True))
    return bool(loaded == whole)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--flips", type=int, default=10_000, help="how many, over all kinds")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    wrong = 0
    for kind in KINDS:
        folder = Path(tempfile.mkdtemp())
        try:
            counts = flipped(kind, arguments.flips // len(KINDS), arguments.seed, folder)
        finally:
            shutil.rmtree(folder)
        found, harmless = counts.pop("found", 0), counts.pop("harmless", 0)
        print(f"{kind}: {found:,} found, {harmless:,} harmless, {counts.total():,} silent")
        for outcome in sorted(counts)[:5]:
            print(f"  {outcome}")
        wrong += counts.total()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
