"""Makes ranx_values.json: what ranx makes of random and real runs, by every method and normalization.

Run it in an environment with ranx (0.3.21 made the file), the real runs from RANKGAUGE_DATA:

    RANKGAUGE_DATA=... python tests/fusion/ranx_values.py

Nothing of rankgauge is used. ranx ranks documents with equal scores in any order, so it gets every list
in the order that rankgauge has: by score, then by document id, the greatest first. The methods and
normalizations of ranx then run on that order.

The values of a query stand in the order of its document ids, sorted as text.
"""

from __future__ import annotations

import gzip
import json
import os
import random
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FILE = HERE / "ranx_values.json"
DEPTH = 25
"""How many documents of a real list are kept."""
TOPICS = 2

REAL = {
    "dl21": ("trec-dl21/runs", ["NLE_P_v1.run.gz", "TUW_TAS-B_768.run.gz", "WLUPassage.run.gz"]),
    "robust03": (
        "trec-robust03/runs",
        ["input.InexpC2.gz", "input.SABIR03BASE.gz", "input.Sel50.gz"],
    ),
}

NORMALIZATIONS = {
    "min-max": "min-max",
    "max": "max",
    "sum": "sum",
    "z": "zmuv",
    "rank": "rank",
    "borda": "borda",
    "none": None,
}
"""Our names, and those of ranx."""

WEIGHTS = [0.2, 0.5, 0.3]
NO_HALVES = [0.2, 0.5, 0.4]
"""Weights of which none is as much as the other two: votes are never equal."""
SCORE_METHODS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    *[(name, name, {}, {}) for name in ("min", "max", "med", "sum", "anz", "mnz")],
    ("gmnz", "gmnz", {"gamma": 0.5}, {"gamma": 0.5}),
    *[
        (name, name, {"weights": WEIGHTS}, {"weights": WEIGHTS})
        for name in ("wsum", "wmnz", "mixed")
    ],
]
"""Our name, ranx's name, our parameters, ranx's parameters."""
RANK_METHODS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("isr", "isr", {}, {}),
    ("log_isr", "log_isr", {}, {}),
    ("logn_isr", "logn_isr", {"sigma": 0.1}, {"sigma": 0.1}),
    ("rrf", "rrf", {}, {}),
    ("rrf", "rrf", {"k": 10}, {"k": 10}),
    ("rbc", "rbc", {"persistence": 0.8}, {"phi": 0.8}),
    ("borda", "bordafuse", {}, {}),
    ("borda", "w_bordafuse", {"weights": WEIGHTS}, {"weights": WEIGHTS}),
    ("condorcet", "condorcet", {}, {}),
    ("condorcet", "w_condorcet", {"weights": NO_HALVES}, {"weights": NO_HALVES}),
]

Lists = dict[str, dict[str, float]]


def random_runs(generator: random.Random, kind: str) -> list[Lists]:
    """Three runs over a few queries: `ties` has few distinct scores, `negative` some below 0, `agreeing`
    the same documents in nearly the same order, so that a majority puts them into one order."""
    runs: list[Lists] = [{}, {}, {}]
    for topic in range(3):
        documents = [f"d{number:02}" for number in range(12)]
        base = {document: generator.gauss(0, 1) for document in documents}
        for run in runs:
            if kind == "agreeing":
                run[f"t{topic}"] = {d: base[d] + generator.gauss(0, 0.05) for d in documents}
                continue
            size = generator.choice([1, 5, 9])
            held = generator.sample(documents, size)
            scores = {
                "ties": lambda: float(generator.choice([1, 2, 3])),
                "plain": lambda: generator.uniform(0.1, 30),
                "negative": lambda: generator.gauss(0, 5),
            }[kind]
            run[f"t{topic}"] = {document: scores() for document in held}
        if kind == "ties":
            runs[0][f"t{topic}"] = dict.fromkeys(runs[0][f"t{topic}"], 2.0)
    return runs


def real_runs(folder: str, files: list[str]) -> list[Lists]:
    """The first documents of a few queries of real runs, scores as single precision has them."""
    import numpy as np

    data = Path(os.environ["RANKGAUGE_DATA"])
    runs: list[dict[str, dict[str, float]]] = []
    for file in files:
        lists: dict[str, dict[str, float]] = {}
        with gzip.open(data / folder / file, "rt", encoding="utf-8") as lines:
            for line in lines:
                topic, _, document, _, score, _ = line.split()
                lists.setdefault(topic, {})[document] = float(np.float32(score))
        runs.append(lists)
    topics = sorted(set.intersection(*(set(run) for run in runs)))[:TOPICS]
    return [{t: dict(list(ordered(run[t]).items())[:DEPTH]) for t in topics} for run in runs]


def ordered(scores: dict[str, float]) -> dict[str, float]:
    """The documents by score, then by id, the greatest first."""
    documents = sorted(scores, key=str.encode, reverse=True)
    return {d: scores[d] for d in sorted(documents, key=lambda d: -scores[d])}


def ranx_run(lists: Lists) -> Any:
    """A run of ranx with each list in our order, and not sorted again."""
    import ranx
    from numba import types
    from numba.typed import Dict

    run = ranx.Run()
    for topic in sorted(lists):
        run.run[topic] = Dict.empty(key_type=types.unicode_type, value_type=types.float64)
        for document, score in ordered(lists[topic]).items():
            run.run[topic][document] = score
    return run


def fused(
    runs: list[Lists], norm: str | None, method: str, parameters: dict[str, Any]
) -> dict[str, list[float]]:
    """What ranx makes of the runs: for each query the scores of its documents, these sorted by id."""
    import ranx

    result = ranx.fuse([ranx_run(run) for run in runs], norm=norm, method=method, params=parameters)
    return {str(t): [float(s) for _, s in sorted(r.items())] for t, r in result.run.items()}


def main() -> None:
    import ranx

    generator = random.Random(17)
    sets = {
        kind: random_runs(generator, kind) for kind in ("plain", "ties", "negative", "agreeing")
    }
    sets |= {name: real_runs(*where) for name, where in REAL.items()}
    cases = []
    for name, runs in sets.items():
        for ours, theirs in NORMALIZATIONS.items():
            for method, ranx_method, parameters, ranx_parameters in SCORE_METHODS:
                values = fused(runs, theirs, ranx_method, ranx_parameters)
                cases.append([name, method, ours, parameters, values])
        for method, ranx_method, parameters, ranx_parameters in RANK_METHODS:
            values = fused(runs, None, ranx_method, ranx_parameters)
            cases.append([name, method, None, parameters, values])
        print(name, flush=True)
    version = getattr(ranx, "__version__", None) or _version()
    rows = ",\n".join(json.dumps(case) for case in cases)
    inputs = ",\n".join(f"{json.dumps(name)}: {json.dumps(runs)}" for name, runs in sets.items())
    FILE.write_text(
        f'{{"ranx": "{version}",\n"runs": {{\n{inputs}\n}},\n"cases": [\n{rows}\n]}}\n',
        encoding="utf-8",
    )


def _version() -> str:
    import importlib.metadata

    return importlib.metadata.version("ranx")


if __name__ == "__main__":
    main()
