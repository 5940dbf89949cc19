"""What tests of reports share: the data in a page, and a small collection."""

from __future__ import annotations

import json
import re
from typing import Any

from rankgauge.data.model import Judgments, Run
from rankgauge.report.report import ReportInput, ReportOptions, report_data
from rankgauge.scores.model import Scores
from rankgauge.simulation import simulate

ISLAND = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)


def island(html: str) -> dict[str, Any]:
    """The data that the script of a page reads."""
    (text,) = ISLAND.findall(html)
    data: dict[str, Any] = json.loads(text)
    return data


def collection(topics: int = 12, systems: int = 5) -> tuple[Judgments, list[Run]]:
    """A synthetic collection, in which some documents are unjudged and some runs lack queries."""
    made = simulate(queries=topics, systems=systems, seed=7)
    runs = [Run.from_dict(run, name=name) for name, run in made.runs.items()]
    return Judgments.from_dict(made.qrels), runs


def data_of(
    scores: Scores,
    judgments: Judgments | None = None,
    runs: list[Run] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """The data of a report on these scores."""
    sources = [(lambda run=run: run) for run in runs or []]
    return report_data(ReportInput(scores, judgments, sources), ReportOptions(**options))
