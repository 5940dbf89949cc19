"""Made-up data of a report, and a bare page around it that has its scripts and its style.

Its type is `PageData`, the contract between Python and the scripts of the page.
"""

from __future__ import annotations

import html
import json
import math
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

import rankgauge.report
from rankgauge.comparison.significance import holm

Data = dict[str, Any]

SCRIPTS = (
    *("data", "charts", "leaderboard", "differences", "pair", "queries", "measures", "start"),
)
"""The scripts of a page, in the order in which they stand in it."""

TYPES = ("ideal", "uninformative hard", "uninformative easy", "other", "nothing relevant")
_FOLDER = Path(rankgauge.report.__file__).parent
_LEVEL = 0.95


def report_data(
    runs: int = 20, queries: int = 50, *, seed: int = 1, names: list[str] | None = None
) -> Data:
    """Scores of runs of growing quality on queries of all kinds; the first two runs are equal."""
    random = np.random.default_rng(seed)
    measures = ["nDCG@10", "AP", "RR"]
    run_names = (names or []) + [f"run-{number:02}" for number in range(runs)]
    hardness = random.beta(2, 2, queries)
    quality = np.linspace(-0.25, 0.25, runs)[random.permutation(runs)]
    noise = random.normal(0, 0.12, (3, runs, queries))
    values = np.clip(hardness + quality[None, :, None] + noise, 0, 1)
    values[:, 1:2] = values[:, :1] if runs > 1 else values[:, 1:2]
    means = values.mean(axis=2)
    half = 1.96 * values.std(axis=2) / math.sqrt(queries)
    tests = [_pairs(each) for each in values]
    expected = np.clip(np.array([hardness * 0.6, hardness * 0.4, hardness * 0.5]), 0, 1)
    types = [[TYPES[int(kind)] for kind in random.integers(0, 5, queries)] for _ in measures]
    bounds = np.stack([means * 0.9, np.minimum(1, means * 1.15)], axis=2)
    return {
        "runs": run_names[:runs],
        "queries": [str(401 + number) for number in range(queries)],
        "measures": measures,
        "directions": [1, 1, 1],
        "baseline": 0,
        "values": np.round(values, 6).tolist(),
        "means": means.tolist(),
        "low": (means - half).tolist(),
        "high": (means + half).tolist(),
        "level": _LEVEL,
        "judged": np.round(random.uniform(0.5, 1, runs), 6).tolist(),
        "chance": [[float(row.mean())] * runs for row in expected],
        "bounds": bounds.tolist(),
        "settled": [(random.random(runs - 1) < 0.5).tolist() for _ in measures],
        "pairs": {
            "test": "paired t-test",
            "correction": "Holm",
            **{key: [test[key] for test in tests] for key in tests[0]},
        },
        "expected": np.round(expected, 6).tolist(),
        "types": types,
        "queryTexts": [f"what is question {number} about" for number in range(queries)],
        "rankings": _rankings(random, runs, queries),
        "agreement": {"measures": measures, "tau": [[1, 0.8, 0.55], [0.8, 1, 0.6], [0.55, 0.6, 1]]},
        "power": [
            {
                "measure": name,
                "significant": 90 - 20 * n,
                "pairs": 190,
                "share": (90 - 20 * n) / 190,
            }
            for n, name in enumerate(measures)
        ],
        "swaps": [
            {"measure": name, "rate": 0.02 * (n + 1), "low": 0.01 * (n + 1), "high": 0.03 * (n + 1)}
            for n, name in enumerate(measures)
        ],
        "added": [],
        "how": {
            "facts": [["measures", ", ".join(measures)]],
            "notes": [],
            "warnings": [],
            "left": [],
        },
    }


def _pairs(values: np.ndarray[Any, Any]) -> dict[str, list[Any]]:
    """The tests of all pairs of runs by one measure, by the normal distribution."""
    first, second = np.triu_indices(len(values), 1)
    differences = values[first] - values[second]
    error = differences.std(axis=1) / math.sqrt(values.shape[1])
    ratio = np.abs(differences.mean(axis=1)) / np.where(error > 0, error, 1)
    p = np.array([math.erfc(each / math.sqrt(2)) for each in ratio])
    return {
        "difference": differences.mean(axis=1).tolist(),
        "p": p.tolist(),
        "corrected": holm(p).tolist(),
        "wins": (differences > 0).sum(axis=1).tolist(),
        "ties": (differences == 0).sum(axis=1).tolist(),
        "losses": (differences < 0).sum(axis=1).tolist(),
    }


def _rankings(random: np.random.Generator, runs: int, queries: int) -> Data:
    """Ten documents by run and query, of fifteen that a query has."""
    documents = [f"doc-{query:03}-{number:02}" for query in range(queries) for number in range(15)]
    lists = [
        [(15 * query + random.permutation(15)[:10]).tolist() for query in range(queries)]
        for _ in range(runs)
    ]
    labels = [
        {str(15 * query + number): int(random.integers(0, 4)) for number in range(0, 15, 2)}
        for query in range(queries)
    ]
    words = (
        "a document about ranking systems and how their quality is measured by judgments of people"
    )
    texts = [None if number % 7 == 3 else f"{words} {number}" for number in range(len(documents))]
    return {
        "depth": 10,
        "documents": documents,
        "texts": texts,
        "lists": lists,
        "labels": labels,
        "left": {"documents": runs * queries * 990, "texts": 12},
    }


def page_text(data: Data) -> str:
    """A page with this data: the skeleton of report.html without what Jinja adds."""
    style = "".join(
        (_FOLDER / "templates" / name).read_text(encoding="utf-8")
        for name in ("page.css", "report.css")
    )
    script = "".join(
        (_FOLDER / "scripts" / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS
    )
    island = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        island = island.replace(letter, f"\\u{ord(letter):04x}")
    rows = "".join(
        f'<tr><th scope="row">{html.escape(run)}</th>'
        + "".join(f'<td class="number">{by_run[at]}</td>' for by_run in data["means"])
        + "</tr>"
        for at, run in enumerate(data["runs"])
    )
    heads = "".join(
        f'<th scope="col" class="number">{html.escape(name)}</th>' for name in data["measures"]
    )
    places = "".join(
        f'<section id="{name}"><h2>{name.capitalize()}</h2><div class="place"></div></section>'
        for name in ("differences", "queries", "measures")
    )
    links = "".join(
        f'<li><a href="#{name}">{name.capitalize()}</a></li>'
        for name in ("leaderboard", "differences", "queries", "measures", "how")
    )
    policy = (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>Report</title><style>{style}</style></head><body>"
        '<a class="skip" href="#text">Skip to the content</a>'
        '<header><h1>Report</h1><p class="lead">Runs on queries.</p></header>'
        f'<nav aria-label="Sections"><ol>{links}</ol></nav><main id="text" tabindex="-1">'
        '<section id="leaderboard"><h2>Leaderboard</h2><div class="place">'
        '<div class="table" role="group" aria-label="Means" tabindex="0"><table><thead><tr>'
        f'<th scope="col">run</th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>'
        "</div></section>"
        f'{places}<section id="how"><h2>How it was computed</h2><p>By hand.</p></section></main>'
        f'<script type="application/json" id="data">{island}</script>'
        f'<script type="module">{script}</script></body></html>'
    )


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
