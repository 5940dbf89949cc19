"""The report of an evaluation: one HTML file that shows runs, differences, queries and measures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from rankgauge.core.checks import Integer, check_value
from rankgauge.core.notes import count_phrase
from rankgauge.core.policies import LEVEL, LEVELS
from rankgauge.core.records import Record
from rankgauge.core.renamed import renamed_parameters
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.data.model import Judgments
from rankgauge.errors import RankgaugeError
from rankgauge.evaluation.evaluator import Measures, evaluate
from rankgauge.evaluation.inputs import Qrels, Runs, Source, judgments_of, sources_of
from rankgauge.io.files import atomic_write
from rankgauge.measures.grammar import parse_all
from rankgauge.report.added import read_section
from rankgauge.report.agreement import (
    measure_agreement,
    needed_depth,
    power_and_swaps,
    settled_orders,
)
from rankgauge.report.content import (
    OmissionLog,
    alerts,
    chance_scores,
    compare_pairs,
    expected_scores,
    leaderboard,
    mean_scores,
    names,
    order_of,
    types_of,
)
from rankgauge.report.how import describe_provenance
from rankgauge.report.page_data import PageData, PageProvenance, PageRankings, PageResults
from rankgauge.report.rankings import (
    DEPTH,
    ShownLists,
    bounds_of,
    fitting_lists,
    query_rows,
    read_heads,
)
from rankgauge.report.section_pages import (
    TEMPLATES,
    Facts,
    Item,
    Listing,
    Section,
    ShownTable,
    check_pages,
    environment,
    policy_digest,
    read_files,
)
from rankgauge.report.texts import (
    DOCUMENT_KEYS,
    LONGEST,
    QUERY_KEYS,
    TextsById,
    cut_texts,
    read_texts,
)
from rankgauge.scores.model import Scores

SCRIPTS = (
    "data.js",
    "charts.js",
    "leaderboard.js",
    "differences.js",
    "pair.js",
    "queries.js",
    "measures.js",
    "start.js",
)
"""The files of the script, in the order in which they stand in a page."""
STYLES = ("page.css", "report.css")

MOST_BYTES = 2_700_000
"""How large the data of a page may be, texts and rankings included: with its script and style the page
stays below 3 MB. Scores and p-values are never left out."""
OPEN_ROWS = 25
"""A table that is added and has more rows is folded away until a reader opens it."""

_SCRIPTS = os.path.join(os.path.dirname(__file__), "scripts")
_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})


class ReportInput(Record):
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


class ReportOptions(Record):
    """What a report shows, as `write_report` says it."""

    baseline: str | None = None
    document_texts: TextsById | None = None
    query_texts: TextsById | None = None
    depth: int | None = None
    added: tuple[Section, ...] = ()
    level: float = LEVEL
    title: str | None = None
    command: str = ""
    left: tuple[str, ...] = ()


@renamed_parameters(topic_texts="query_texts")
def write_report(
    qrels: Qrels | None,
    runs: Runs | None,
    measures: Measures | None,
    path: str | os.PathLike[str],
    *,
    baseline: str | None = None,
    document_texts: TextsById | None = None,
    query_texts: TextsById | None = None,
    depth: int | None = None,
    scores: Scores | None = None,
    add: Iterable[str | os.PathLike[str] | Result] = (),
    level: float = LEVEL,
    title: str | None = None,
) -> None:
    """Write a report on runs as one self-contained HTML file.

    The same input always produces the same bytes. After an error, no partial file is left.

    Parameters
    ----------
    qrels : judgments or None
        The judgments, in any form that `evaluate` takes. With `scores`, None if they are not
        available.
    runs : runs or None
        The runs, in any form that `evaluate` takes. With `scores`, None for a report without rankings.
    measures : Measure, str, sequence of these, or None
        The measures, in any form that `evaluate` takes. With `scores`, None for all their measures.
    path : str or os.PathLike
        The file to write, such as "report.html".
    baseline : str, optional
        The name of the run with which the others are compared first; readers can choose another
        one. By default, there is none.
    document_texts : dict, str or os.PathLike, optional
        The texts of documents: a dict by id, or a file with one text per line, as JSON with an id
        and a text, or as id, tab and text. Each text is cut to 500 characters.
    query_texts : dict, str or os.PathLike, optional
        The texts of queries, in the same form.
    depth : int, optional
        Number of documents at the top of each ranking to show. The default is ten, or fewer if the
        page would exceed 3 MB.
    scores : Scores, optional
        Scores that were already computed. The report uses their policies, such as tie-breaking. By
        default, the runs are evaluated with the default policies.
    add : iterable of str, os.PathLike or Result, optional
        Tables (CSV, TSV or JSON Lines) and SVG files from other commands, or results. Each becomes
        a section. By default, there are none.
    level : float, default 0.95
        Confidence level of the intervals. A difference is significant if its corrected p-value is at
        most 1 − level.
    title : str, optional
        The title of the page. The default is "Evaluation of runs".

    Raises
    ------
    RankgaugeError
        If Jinja2 is not installed, if neither scores nor qrels, runs and measures are given, or if the
        baseline is unknown.
    MeasureError
        If a measure cannot be parsed.
    InputError
        If a file cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
    >>> runs = {"good": {"q1": ["a"], "q2": ["c"]}, "poor": {"q1": ["b", "a"], "q2": ["a"]}}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(qrels, runs, ["nDCG@10", "AP"], f"{folder}/report.html")
    """
    check_pages()
    sections = tuple(map(read_section, add))
    reported = _collect_input(qrels, runs, measures, scores)
    options = ReportOptions(baseline, document_texts, query_texts, depth, sections, level, title)
    options = replace(options, command=_format_call(reported, options, path, scores is not None))
    html = report_html(reported, options)
    with atomic_write(path) as stream:
        stream.write(html.encode())


def _format_call(
    reported: ReportInput, options: ReportOptions, path: str | os.PathLike[str], scored: bool
) -> str:
    """The call of `write_report` that makes the report again; what has no short text has a name."""
    measures = [str(measure) for measure in reported.scores.measures]
    qrels = "None" if reported.judgments is None else "qrels"
    words = [qrels, "runs" if reported.sources else "None", repr(measures)]
    words.append(repr(os.path.basename(path)))
    usual = ReportOptions()
    for name in ("baseline", "depth", "level", "title"):
        if (value := getattr(options, name)) != getattr(usual, name):
            words.append(f"{name}={value!r}")
    named = {
        "document_texts": options.document_texts is not None,
        "query_texts": options.query_texts is not None,
        "scores": scored,
        "add": bool(options.added),
    }
    words += [f"{name}={name}" for name, is_given in named.items() if is_given]
    return f"rg.write_report({', '.join(words)})"


def _collect_input(
    qrels: Qrels | None, runs: Runs | None, measures: Measures | None, scores: Scores | None
) -> ReportInput:
    """The scores, computed if they are not given, with the judgments and the runs."""
    judgments = None if qrels is None else judgments_of(qrels)
    sources = [] if runs is None else sources_of(runs)
    if scores is None:
        if judgments is None or not sources or measures is None:
            raise RankgaugeError(
                "a report needs qrels, runs and measures, or scores; pass all three, or scores="
            )
        scores = evaluate(judgments, sources, measures)
    elif measures is not None:
        scores = scores.select(measures=list(parse_all(measures)))
    if judgments is None and sources:
        raise RankgaugeError("runs without qrels; pass qrels= too, or runs=None")
    return ReportInput(scores, judgments, sources)


def report_html(reported: ReportInput, options: ReportOptions) -> str:
    """The whole HTML file of a report."""
    if not reported.scores.runs or not reported.scores.queries:
        raise RankgaugeError("no scores to report, expected at least one run and one query")
    data = report_data(reported, options)
    scores = reported.scores
    lead = (
        f"{count_phrase(len(scores.runs), 'run')} on "
        f"{count_phrase(len(scores.queries), 'query')}, evaluated with "
        f"{', '.join(data['measures'])}."
    )
    sections = [
        ("leaderboard", "Leaderboard"),
        ("differences", "Differences"),
        ("queries", "Queries"),
        ("measures", "Measures"),
        *((f"added-{number}", section.title) for number, section in enumerate(options.added, 1)),
        ("how", "How it was computed"),
    ]
    style, script = read_files(TEMPLATES, STYLES), read_files(_SCRIPTS, SCRIPTS)
    return (
        environment()
        .get_template("report.html")
        .render(
            title=options.title or "Evaluation of runs",
            lead=lead,
            alerts=alerts(scores),
            sections=sections,
            added=options.added,
            open_rows=OPEN_ROWS,
            leaderboard=_leaderboard_table(
                data, order_of(mean_scores(scores)[0], data["directions"][0])
            ),
            how=_provenance_items(data["how"]),
            data=as_json(data),
            style=style,
            style_digest=policy_digest(style),
            script=script,
            script_digest=policy_digest(script),
        )
    )


def report_data(reported: ReportInput, options: ReportOptions) -> PageData:
    """The data that the script of the page reads."""
    check_value("level", options.level, LEVELS)
    check_value("depth", options.depth, Integer(1), optional=True)
    scores, left = reported.scores, OmissionLog()
    for sentence in options.left:
        left.add(sentence)
    if options.document_texts is not None and not reported.sources:
        left.add("The document texts are omitted: there are no rankings in which to show them.")
    compared, notes = compare_pairs(scores, options.level, left)
    means = mean_scores(scores)
    data: PageResults = {
        **names(scores, options.baseline),
        **leaderboard(scores, means, options.level),
        "chance": None,
        "bounds": None,
        "settled": [None] * len(scores.measures),
        "pairs": compared,
        "expected": None,
        "types": None,
        "queryTexts": _query_texts(scores, options, left),
        "rankings": None,
        "agreement": measure_agreement(scores, means),
        "power": None,
        "swaps": None,
        "added": [],  # the template has them, also for readers without scripts
    }
    data["power"], data["swaps"] = power_and_swaps(scores, options.level, left)
    if reported.judgments is not None:
        rows = query_rows(scores, reported.judgments)
        random = expected_scores(scores, reported.judgments, rows)
        data["chance"], data["expected"] = chance_scores(scores, random, left)
        data["types"] = types_of(scores, reported.judgments, random)
        if reported.sources:
            size = _size(data)  # rankings take what room the other data leaves
            deepest = max(options.depth or DEPTH, needed_depth(scores))
            heads = read_heads(scores, reported.judgments, reported.sources, deepest, left)
            lists = fitting_lists(scores, heads, rows, options.depth, MOST_BYTES - size, left)
            data["bounds"] = bounds_of(scores, heads, rows)
            data["settled"] = settled_orders(scores, reported.judgments, heads, means, left)
            data["rankings"] = None if lists is None else _add_texts(lists, options, size, left)
    computed = describe_provenance(
        scores,
        reported.judgments,
        level=options.level,
        command=options.command,
        notes=notes,
        left=left.sentences,
    )
    return {**data, "how": computed}


def _add_texts(
    lists: ShownLists, options: ReportOptions, size: int, left: OmissionLog
) -> PageRankings:
    """The rankings of the data, with the texts of documents if there are any."""
    if options.document_texts is None:
        return lists.data(None, 0)
    texts = read_texts(options.document_texts, set(lists.documents), DOCUMENT_KEYS)
    if not texts:
        left.add("The document texts are omitted: the file has none for the documents shown.")
        return lists.data(None, 0)
    order = sorted(range(len(lists.documents)), key=lists.ranks.__getitem__)
    room = MOST_BYTES - size - _size(lists.data(None, 0))
    shown = cut_texts(texts, [lists.documents[number] for number in order], room)
    if shown.without_room:
        left.add(
            f"The texts of {count_phrase(shown.without_room, 'document')} are omitted to keep "
            "the page small; documents at high ranks keep theirs."
        )
    if shown.cut:
        left.add(f"{count_phrase(shown.cut, 'document text')} cut to {LONGEST} characters.")
    return lists.data(shown.texts, shown.cut + shown.without_room)


def _query_texts(
    scores: Scores, options: ReportOptions, left: OmissionLog
) -> list[str | None] | None:
    """The text of each query, None if it has none."""
    if options.query_texts is None:
        return None
    texts = read_texts(options.query_texts, set(scores.queries), QUERY_KEYS)
    if not texts:
        left.add("The query texts are omitted: the file has none for these queries.")
        return None
    shown = cut_texts(texts, scores.queries, MOST_BYTES // 4)
    if shown.without_room:
        left.add(
            f"The texts of {count_phrase(shown.without_room, 'query')} are omitted to keep the "
            "page small."
        )
    if shown.cut:
        left.add(f"{count_phrase(shown.cut, 'query text')} cut to {LONGEST} characters.")
    return [shown.texts.get(query) for query in scores.queries]


def _size(data: Any) -> int:
    """How many bytes the data takes in a page."""
    return len(as_json(data).encode())


def as_json(data: Any) -> str:
    r"""The data as JSON that can stand in a page: nothing in it can end the element it stands in.

    >>> as_json({"run": "</script>"})
    '{"run":"\\u003c/script\\u003e"}'
    """
    import json

    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def _leaderboard_table(data: PageData, runs: Iterable[int]) -> ShownTable:
    """The means of these runs, in this order, with their intervals."""
    columns: list[tuple[str, Sequence[Cell]]] = [("run", data["runs"])]
    for m, measure in enumerate(data["measures"]):
        means = (data["means"][m], data["low"][m], data["high"][m])
        columns += zip((measure, "low", "high"), means, strict=True)
    if data["judged"] is not None:
        columns.append(("judged@10", data["judged"]))
    table = Table(
        tuple(name for name, _ in columns),
        tuple(tuple(cells[r] for _, cells in columns) for r in runs),
    )
    about = f"The means over queries, each with its {100 * data['level']:.10g}% interval."
    return ShownTable(table, "Runs, the best first", about, digits=4)


def _provenance_items(parts: PageProvenance) -> list[tuple[str, Item]]:
    """The items of the last section, each with its heading."""
    lists = {
        "Warnings": parts["warnings"],
        "Notes": parts["notes"],
        "Omitted from this report": parts["left"],
    }
    return [
        ("", Facts(tuple((name, value) for name, value in parts["facts"]))),
        *((heading, Listing(tuple(texts))) for heading, texts in lists.items() if texts),
    ]
