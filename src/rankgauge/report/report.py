"""The report of an evaluation: one HTML file that shows runs, differences, topics and measures."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from rankgauge.checks import checked
from rankgauge.data.errors import RankgaugeError
from rankgauge.data.files import writing
from rankgauge.data.model import Judgments
from rankgauge.evaluation.evaluator import Measures, evaluate
from rankgauge.evaluation.inputs import Qrels, Runs, Source, judgments_of, sources_of
from rankgauge.notes import counted
from rankgauge.policies import LEVEL, LEVELS
from rankgauge.records import Record
from rankgauge.report.content import Left, leaderboard, names, order_of, pairs
from rankgauge.report.how import how
from rankgauge.report.html import (
    TEMPLATES,
    Facts,
    Item,
    Listing,
    Section,
    ShownTable,
    check_pages,
    environment,
)
from rankgauge.scores.model import Scores
from rankgauge.tables import Cell, Table

SCRIPTS = (
    "data.js",
    "charts.js",
    "leaderboard.js",
    "differences.js",
    "topics.js",
    "measures.js",
    "start.js",
)
"""The files of the script, in the order in which they stand in a page."""
STYLES = ("page.css", "report.css")

_SCRIPTS = os.path.join(os.path.dirname(__file__), "scripts")
_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


class Reported(Record):
    """What a report is about.

    Parameters
    ----------
    scores: the scores of the runs.
    judgments: the judgments that the scores were made with, if known.
    sources: the runs that were scored; none if only their scores are known.
    """

    scores: Scores
    judgments: Judgments | None = None
    sources: Sequence[Source] = ()


class Wishes(Record):
    """What a report shows, as `write_report` says it."""

    baseline: str | None = None
    level: float = LEVEL
    title: str | None = None
    command: str = ""
    left: tuple[str, ...] = ()


def write_report(
    qrels: Qrels | None,
    runs: Runs | None,
    measures: Measures | None,
    path: str | os.PathLike[str],
    *,
    baseline: str | None = None,
    scores: Scores | None = None,
    level: float = LEVEL,
    title: str | None = None,
) -> None:
    """Write a report on runs as one HTML file, which needs no network and no other file.

    The same input gives the same bytes. After an error no partial file is left. Raises RankgaugeError
    if Jinja2 is not installed.

    Parameters
    ----------
    qrels: the judgments, as `evaluate` takes them. None with `scores`, if they are not known.
    runs: the runs, as `evaluate` takes them. None with `scores`: a report without rankings.
    measures: the measures, as `evaluate` takes them. None with `scores`: all measures of the scores.
    path: the file to write, such as "report.html".
    baseline: the name of the run that the others are first compared with; a reader can change it.
    scores: scores that were already computed. The report follows their policies, such as how ties are
        ordered. By default the runs are evaluated with the default policies.
    level: the level of the intervals. A difference is significant if its corrected p-value is at most
        1 − level.
    title: the title of the page.

    >>> import tempfile
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    >>> runs = {"good": {"q1": ["a"], "q2": ["c"]}, "poor": {"q1": ["b", "a"], "q2": ["a"]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(qrels, runs, ["nDCG@10", "AP"], f"{folder}/report.html")
    """
    check_pages()
    reported = _reported(qrels, runs, measures, scores)
    texts = [str(measure) for measure in reported.scores.measures]
    call = "rg.write_report(qrels, runs" if reported.sources else "rg.write_report(None, None"
    rest = "" if scores is None else ", scores=scores"
    command = f"{call}, {texts!r}, {os.path.basename(path)!r}{rest})"
    html = report_html(
        reported, Wishes(baseline=baseline, level=level, title=title, command=command)
    )
    with writing(path) as stream:
        stream.write(html.encode())


def _reported(
    qrels: Qrels | None, runs: Runs | None, measures: Measures | None, scores: Scores | None
) -> Reported:
    """The scores, computed if they are not given, with the judgments and the runs."""
    judgments = None if qrels is None else judgments_of(qrels)
    sources = [] if runs is None else sources_of(runs)
    if scores is None:
        if judgments is None or not sources or measures is None:
            raise RankgaugeError(
                "a report needs qrels, runs and measures, or scores; expected all three, or scores="
            )
        scores = evaluate(judgments, sources, measures)
    elif measures is not None:
        scores = scores.select(measures=_texts(measures))
    if judgments is None and sources:
        raise RankgaugeError("runs without qrels, expected qrels= too, or runs=None")
    return Reported(scores, judgments, sources)


def _texts(measures: Measures) -> list[Any]:
    from rankgauge.measures.grammar import parse_all

    return list(parse_all(measures))


def report_html(reported: Reported, wishes: Wishes) -> str:
    """The whole HTML file of a report."""
    if not reported.scores.runs or not reported.scores.queries:
        raise RankgaugeError("no scores to report, expected at least one run and one topic")
    data = report_data(reported, wishes)
    scores = reported.scores
    lead = (
        f"{counted(len(scores.runs), 'run')} on {counted(len(scores.queries), 'topic')} by "
        f"{', '.join(data['measures'])}."
    )
    sections = [
        ("leaderboard", "Leaderboard"),
        ("differences", "Differences"),
        ("topics", "Topics"),
        ("measures", "Measures"),
        ("how", "How it was computed"),
    ]
    added: list[Section] = []
    style, script = _joined(TEMPLATES, STYLES), _joined(_SCRIPTS, SCRIPTS)
    return (
        environment()
        .get_template("report.html")
        .render(
            title=wishes.title or "Evaluation of runs",
            lead=lead,
            sections=sections,
            added=added,
            leaderboard=_leaderboard_table(data),
            how=_how_items(data["how"]),
            data=as_json(data),
            style=style,
            style_digest=_digest(style),
            script=script,
            script_digest=_digest(script),
        )
    )


def report_data(reported: Reported, wishes: Wishes) -> dict[str, Any]:
    """The data that the script of the page reads."""
    checked("level", wishes.level, LEVELS)
    scores, left = reported.scores, Left()
    for sentence in wishes.left:
        left.out(sentence)
    compared, notes = pairs(scores, wishes.level, left)
    data = {
        **names(scores, wishes.baseline),
        **leaderboard(scores, wishes.level),
        "chance": None,
        "bounds": None,
        "settled": [None] * len(scores.measures),
        "pairs": compared,
        "expected": None,
        "types": None,
        "topicTexts": None,
        "rankings": None,
        "agreement": None,
        "power": None,
        "swaps": None,
        "added": [],
    }
    data["how"] = how(
        scores,
        reported.judgments,
        level=wishes.level,
        command=wishes.command,
        notes=notes,
        left=left.sentences,
    )
    return data


def as_json(data: Any) -> str:
    r"""The data as JSON that can stand in a page: nothing in it can end the element it stands in.

    >>> as_json({"run": "</script>"})
    '{"run":"\\u003c/script\\u003e"}'
    """
    import json

    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def _leaderboard_table(data: dict[str, Any]) -> ShownTable:
    """The means with their intervals, the best run first by the first measure."""
    import numpy as np

    columns = ["run"]
    for measure in data["measures"]:
        columns += [measure, "low", "high"]
    if data["judged"] is not None:
        columns.append("judged@10")
    means = np.array(data["means"][0], dtype=np.float64)
    rows: list[tuple[Cell, ...]] = []
    for r in order_of(means, data["directions"][0]):
        row: list[Cell] = [data["runs"][r]]
        for m in range(len(data["measures"])):
            row += [data[name][m][r] for name in ("means", "low", "high")]
        rows.append((*row, *([] if data["judged"] is None else [data["judged"][r]])))
    about = f"The means over topics, each with its {100 * data['level']:.10g}% interval."
    return ShownTable(Table(tuple(columns), tuple(rows)), "Runs, the best first", about, digits=4)


def _how_items(parts: dict[str, Any]) -> list[tuple[str, Item]]:
    """The items of the last section, each with its heading."""
    items: list[tuple[str, Item]] = [
        ("", Facts(tuple((name, value) for name, value in parts["facts"])))
    ]
    headings = {"warnings": "Warnings", "notes": "Notes", "left": "What is left out"}
    items += [(text, Listing(tuple(parts[key]))) for key, text in headings.items() if parts[key]]
    return items


def _joined(folder: str, names: Sequence[str]) -> str:
    """The files of these names that are in the folder, one after the other."""
    texts = []
    for path in (os.path.join(folder, name) for name in names):
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                texts.append(file.read())
    return "".join(texts)


def _digest(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
