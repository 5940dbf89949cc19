"""The articles, references and summaries of SummEval as Texts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from rankgauge.text import Texts

FILE = "summeval/summeval.json.gz"


def read(path: Path) -> Texts:
    """All 100 articles with 11 references, that of the newspaper first, and 16 systems."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        articles = json.load(file)
    systems = list(next(iter(articles.values()))["sys_summs"])
    return Texts(
        {name: article["src"] for name, article in articles.items()},
        {name: references(article) for name, article in articles.items()},
        {
            system: {
                name: article["sys_summs"][system]["sys_summ"] for name, article in articles.items()
            }
            for system in systems
        },
    )


def references(article: dict) -> list[str]:
    first, rest = article["ref_summ"], list(article["ref_summs"])
    if first in rest:
        rest.remove(first)
    return [first, *rest]
