"""The types of a page's data: the data has them, and the scripts declare the same ones."""

from __future__ import annotations

import re
import shutil
import subprocess
import types
from pathlib import Path
from typing import Any, Union, get_args, get_origin, get_type_hints, is_typeddict

import pytest

import rankgauge.report
from rankgauge import evaluate
from rankgauge.report.page_data import (
    PageAgreement,
    PageData,
    PageOmissions,
    PagePairs,
    PagePower,
    PageProvenance,
    PageRankings,
    PageSwaps,
)
from report_data import report_data
from report_pages import collection, data_of

SCRIPTS = Path(rankgauge.report.__file__).parent / "scripts"
TYPES: list[type] = [
    PageData,
    PagePairs,
    PageRankings,
    PageOmissions,
    PageAgreement,
    PagePower,
    PageSwaps,
    PageProvenance,
]
PLAIN = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def in_script(kind: Any) -> str:
    """A type as JSDoc has it.

    >>> in_script(list[float | None] | None)
    '(number | null)[] | null'
    """
    if kind in PLAIN:
        return PLAIN[kind]
    if is_typeddict(kind):
        return str(kind.__name__)
    parts = [in_script(part) for part in get_args(kind)]
    if get_origin(kind) in (Union, types.UnionType):
        return " | ".join(parts)
    if get_origin(kind) is dict:
        return f"Record<{', '.join(parts)}>"
    assert get_origin(kind) is list, kind
    union = get_origin(get_args(kind)[0]) in (Union, types.UnionType)
    return f"({parts[0]})[]" if union else f"{parts[0]}[]"


def fields(kind: type) -> dict[str, str]:
    """The fields of a type, as JSDoc has them."""
    assert not kind.__optional_keys__  # type: ignore[attr-defined]
    return {name: in_script(each) for name, each in get_type_hints(kind).items()}


def faults(value: Any, kind: Any, place: str = "data") -> list[str]:
    """Where a value is not of this type, all the way down."""
    if is_typeddict(kind):
        hints = get_type_hints(kind)
        if not isinstance(value, dict) or value.keys() != hints.keys():
            return [f"{place} has not the keys {', '.join(hints)}"]
        return [
            fault
            for name, each in hints.items()
            for fault in faults(value[name], each, f"{place}.{name}")
        ]
    if get_origin(kind) in (Union, types.UnionType):
        others = [faults(value, each, place) for each in get_args(kind) if each is not type(None)]
        return [] if value is None and type(None) in get_args(kind) else min(others, key=len)
    if get_origin(kind) is list and isinstance(value, list):
        (each,) = get_args(kind)
        return [
            fault for at, item in enumerate(value) for fault in faults(item, each, f"{place}[{at}]")
        ]
    if get_origin(kind) is dict and isinstance(value, dict):
        key, each = get_args(kind)
        return [
            fault
            for name, item in value.items()
            for fault in [*faults(name, key, place), *faults(item, each, f"{place}[{name}]")]
        ]
    if type(value) is kind or (kind is float and type(value) is int):
        return []
    return [f"{place} is {value!r:.40}, expected {in_script(kind)}"]


def test_the_scripts_declare_the_types_of_the_data() -> None:
    text = (SCRIPTS / "data_types.js").read_text(encoding="utf-8")
    declared = {
        name: {field: kind for kind, field in re.findall(r"@property \{(.*)\} (\w+)", body)}
        for name, body in re.findall(r"@typedef \{object\} (\w+)\n(.*?)\*/", text, re.DOTALL)
    }
    assert declared == {kind.__name__: fields(kind) for kind in TYPES}
    assert "@type {PageData}" in (SCRIPTS / "data.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("systems", [1, 5])
def test_the_data_of_a_page_has_its_type(systems: int) -> None:
    judgments, runs = collection(systems=systems)
    scores = evaluate(judgments, runs, ["nDCG@10", "AP", "gm(AP)", "infAP"])
    texts = {name: f"text of {name}" for name in judgments.documents.texts()[:5]}
    queries = {scores.queries[0]: "a query"}
    whole = data_of(
        scores, judgments, runs, document_texts=texts, query_texts=queries, baseline=runs[0].name
    )
    assert whole["rankings"]["texts"] is not None
    for data in (whole, data_of(scores, judgments), data_of(scores)):
        assert not faults(data, PageData)


def test_data_of_other_types_is_found() -> None:
    judgments, runs = collection()
    data = data_of(evaluate(judgments, runs, "AP"), judgments, runs)
    data["means"][0][1] = "0.5"
    data["pairs"]["wins"][0][2] = 1.5
    data["rankings"]["left"].pop("texts")
    assert faults(data, PageData) == [
        "data.means[0][1] is '0.5', expected number",
        "data.pairs.wins[0][2] is 1.5, expected number",
        "data.rankings.left has not the keys documents, texts",
    ]


def test_made_up_data_has_the_type_of_real_data() -> None:
    assert not faults(report_data(runs=4, queries=6), PageData)


@pytest.mark.skipif(shutil.which("tsc") is None, reason="needs TypeScript's checker, tsc")
def test_the_scripts_use_the_data_as_its_type_says() -> None:
    options = ["--noEmit", "--allowJs", "--checkJs", "--target", "es2022"]
    options += ["--lib", "es2022,dom,dom.iterable"]
    checked = subprocess.run(
        ["tsc", *options, *sorted(map(str, SCRIPTS.glob("*.js")))], capture_output=True, text=True
    )
    assert (checked.returncode, checked.stdout) == (0, "")
