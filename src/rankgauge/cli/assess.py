"""rankgauge assess: which measures tell runs apart, and which agree."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import click

from rankgauge import query_sets
from rankgauge.cli.options import (
    MACHINE_FORMATS,
    check_files,
    chosen_format,
    notify,
    output_options,
    plugin_option,
    print_or_write,
    show_with_notes,
)
from rankgauge.cli.scoring import (
    Wanted,
    fail_if_incomplete,
    file_of_scores,
    named,
    progress,
    scores_options,
    testing_options,
)
from rankgauge.comparison.assessed import ALL, Assessment, AssessmentFigure
from rankgauge.comparison.assessment import assess
from rankgauge.data.errors import InputError, RankgaugeError
from rankgauge.data.files import UTF8_MARK, display_name, read_bytes, writing
from rankgauge.data.model import decode
from rankgauge.measures.elsewhere import Given
from rankgauge.notes import Note, counted
from rankgauge.policies import MOST_SAMPLES, SAMPLES, SPLITS, SharedTopics
from rankgauge.query_sets import QuerySet
from rankgauge.scores.model import Scores
from rankgauge.tables import Table

T = TypeVar("T")

FEWEST_TOPICS = 2
DEFAULT_MEASURES = ("nDCG@10", "v2(nDCG@10)", "AP", "RR")
BY_SCORES = ("ideal", "uninformative", "hard", "easy", "informative")
BY_JUDGMENTS = ("broad", "focused")
TABLES = {
    "measures": Assessment.table,
    "pairs": Assessment.pair_table,
    "swaps": Assessment.swap_table,
}
HEADINGS = {
    "measures": "Measures",
    "halves": "Halves of the topics",
    "pairs": "Pairs of measures",
    "swaps": "Pairs of sets",
}


@click.command("assess")
@click.option(
    "--sets",
    default="",
    metavar="NAME,...",
    help=f"Sets of topics to assess apart, made of QRELS: {', '.join(BY_SCORES)}, by the first measure; "
    f"{', '.join(BY_JUDGMENTS)}. All topics together are always there.",
)
@click.option(
    "--set-share",
    type=click.FloatRange(0, 1),
    help="The share of the topics that are ideal, and that are uninformative (of these, hard and easy "
    "are the halves); by default 0.25.",
)
@click.option("--set-number", type=click.IntRange(0), metavar="N", help="The number in its place.")
@click.option(
    "--set",
    "set_files",
    multiple=True,
    metavar="[NAME=]FILE",
    help="A set of your own: a file with a topic id a line; may be repeated.",
)
@click.option(
    "--other",
    "other_files",
    multiple=True,
    metavar="[NAME=]FILE",
    help="Scores of the same runs by the same measures on another collection, to hold against these: "
    "a file of `rankgauge evaluate --save`, or for a single measure CSV; may be repeated.",
)
@click.option(
    "--pool-cutoffs",
    is_flag=True,
    help="A measure at several cut-offs is one: its tests are counted together, its means averaged.",
)
@testing_options(None)
@click.option(
    "--samples",
    type=click.IntRange(1, MOST_SAMPLES),
    default=SAMPLES,
    show_default=True,
    metavar="N",
    help="How many samples a test draws, where it draws any.",
)
@click.option(
    "--splits",
    type=click.IntRange(0, MOST_SAMPLES),
    default=SPLITS,
    show_default=True,
    metavar="N",
    help="How often the topics are halved at random for swap rates; 0 for not at all.",
)
@click.option(
    "--fuzziness",
    type=click.FloatRange(0),
    default=0.0,
    show_default=True,
    help="The share of the greater mean that counts as no difference in swap rates; 0.05 is usual.",
)
@click.option(
    "--persistence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.9,
    show_default=True,
    help="That of the rank-biased overlap of two rankings of the runs.",
)
@click.option(
    "--show",
    "shown",
    type=click.Choice(list(TABLES)),
    help="One table alone: the measures, the pairs of measures, or the swaps between sets. By default "
    "all of them, and in tsv, csv and jsonl the measures.",
)
@click.option(
    "--json",
    "json_file",
    metavar="FILE",
    help="Write everything as one JSON object, means and p-values too.",
)
@click.option(
    "--asl", "asl_file", metavar="FILE", help="Draw the p-values of each measure: .svg or .png."
)
@click.option(
    "--tau",
    "tau_file",
    metavar="FILE",
    help="Draw how alike the measures rank the runs: .svg or .png.",
)
@click.option(
    "--swaps",
    "swaps_file",
    metavar="FILE",
    help="Draw swap rates by the size of the difference: .svg or .png. All figures are of all topics.",
)
@scores_options(*DEFAULT_MEASURES)
@output_options
@plugin_option
def command(
    sets: str,
    set_share: float | None,
    set_number: int | None,
    set_files: tuple[str, ...],
    other_files: tuple[str, ...],
    correction: str | None,
    shown: str | None,
    json_file: str | None,
    asl_file: str | None,
    tau_file: str | None,
    swaps_file: str | None,
    form: str | None,
    digits: int | None,
    output: str | None,
    pool_cutoffs: bool,
    test: str,
    level: float,
    samples: int,
    missing: SharedTopics | None,
    splits: int,
    fuzziness: float,
    persistence: float,
    seed: int,
    **source: Any,
) -> None:
    """Say which measures tell runs apart, and which agree.

    Printed for each measure: in how many tests of two runs it finds a significant difference, and the
    share of these (its discriminative power); how far apart it puts runs (PAD); how often two halves of
    the topics put runs in opposite orders (the swap rate), from which difference on no more than 5% do,
    and how alike the halves rank the runs (τ). Then for each pair of measures how alike they rank the
    runs, and how often only one of them finds a difference, or each another one. Then, where there are
    several sets of topics or collections, how often two of them put runs in opposite orders.

    QRELS and each RUN are read as by `rankgauge evaluate`; --scores takes scores that are there already,
    also published tables of topics and systems.

    \b
    rankgauge assess qrels.txt runs/ -m nDCG@10 -m 'v2(nDCG@10)' -m AP -m RR
    rankgauge assess qrels.txt runs/ --sets uninformative,ideal --asl asl.svg --tau tau.svg
    rankgauge assess --scores AP=ap.csv --scores RR=rr.csv --show pairs --format csv
    rankgauge assess --scores 2019.json --other 2020.json --test bootstrap

    The exit code is 0 when all is well, 2 when nothing could be assessed, and 3 when some runs could
    not be read: then the others are used, and standard error says which and why.
    """
    figures = {"--asl": asl_file, "--tau": tau_file, "--swaps": swaps_file}
    check_files(figures, {"--json": json_file, "--output": output})
    names = _set_names(sets, source["inputs"])
    if set_share is not None and set_number is not None:
        raise click.UsageError("--set-share and --set-number are given, expected one of them")
    if (set_share, set_number) != (None, None) and not set(names) & set(BY_SCORES[:-1]):
        raise click.UsageError("--set-share and --set-number are for --sets ideal and the like")
    if swaps_file is not None and not splits:
        raise click.UsageError("--swaps with --splits 0, expected splits to draw")
    if other_files and source["standardize"]:
        raise click.UsageError("--other with --standardize, expected one of them")
    if shown == "swaps" and not (names or set_files or other_files):
        raise click.UsageError("--show swaps of one set, expected --sets, --set or --other as well")
    wanted = Wanted(seed=seed, **source)
    scores = wanted.scores(*DEFAULT_MEASURES)
    try:
        size = {"share": 0.25} if set_share is None else {"share": set_share}
        chosen = _made(wanted, names, size if set_number is None else {"number": set_number})
        for text in set_files:
            name, file = _titled(text)
            _add("--set", chosen, name, _read_set(file, scores.queries))
        others: dict[str, Scores] = {}
        for text in other_files:
            name, file = _titled(text)
            _add("--other", others, name, _read_other(file, scores))
        parts = 1 + len(chosen) + len(others)
        with progress(parts * len(scores.measures), "assessing") as advance:
            found = assess(
                scores,
                sets=chosen,
                others=others,
                pool_cutoffs=pool_cutoffs,
                test=test,
                correction=correction,
                level=level,
                missing=missing,
                splits=splits,
                fuzziness=fuzziness,
                persistence=persistence,
                samples=samples,
                seed=seed,
                progress=advance,
            )
        if shown == "pairs" and len(found.measures) < 2:
            raise RankgaugeError(
                f"--show pairs of {found.measures[0]} alone, expected two measures"
            )
    except RankgaugeError as error:
        raise RankgaugeError("\n".join((*scores.failed, str(error)))) from None
    if json_file is not None:
        _write_json(found, json_file)
    _draw(found, asl_file, tau_file, swaps_file)
    _show(found, shown, form, digits, output)
    fail_if_incomplete(scores)


def _set_names(text: str, inputs: Sequence[str]) -> list[str]:
    """The sets to be made, without that of all topics."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in (ALL, *BY_SCORES, *BY_JUDGMENTS):
            known = ", ".join((ALL, *BY_SCORES, *BY_JUDGMENTS))
            raise click.UsageError(f"--sets {name}: no such set, expected some of: {known}")
    made = [name for name in dict.fromkeys(names) if name != ALL]
    if made and not inputs:
        raise click.UsageError(f"--sets {made[0]} with --scores, expected QRELS and runs; or --set")
    return made


def _made(wanted: Wanted, names: Sequence[str], size: dict[str, float]) -> dict[str, Sequence[str]]:
    """The sets by these names, with a note on each."""
    made: dict[str, Sequence[str]] = {}
    if wanted.judged is None:
        return made
    judgments, scores = wanted.judged
    by = scores.select(measures=scores.measures[:1])
    for name in names:
        make: Any = getattr(query_sets, name)
        if name in BY_JUDGMENTS:
            chosen: QuerySet = make(judgments)
        else:
            chosen = make(by, judgments, **({} if name == "informative" else size))
        text = _about(name, chosen) + ("" if name in BY_JUDGMENTS else f"; by {by.measures[0]}")
        if len(chosen) < FEWEST_TOPICS:
            notify([Note(f"{text}; left out, at least {FEWEST_TOPICS} are needed")])
        else:
            notify([Note(text)])
            made[name] = chosen.queries
    return made


def _about(name: str, chosen: QuerySet) -> str:
    left_out = ", ".join(f"{left.queries:,} with {left.reason}" for left in chosen.left_out)
    text = f"set {name}: {counted(len(chosen), 'topic')}"
    return f"{text}; left out: {left_out}" if left_out else text


def _titled(text: str) -> tuple[str, str]:
    """The name and the file in `[NAME=]FILE`, by default the file's."""
    name, file = named(text)
    return name or os.path.basename(file).partition(".")[0] or file, file


def _add(option: str, parts: dict[str, T], name: str, part: T) -> None:
    if name in (ALL, *parts):
        raise click.UsageError(f"{option} {name}: there is one of that name, expected another name")
    parts[name] = part


def _read_set(file: str, queries: Sequence[str]) -> list[str]:
    """The topics in a file, which have scores, each once."""
    known = set(queries)
    chosen: dict[str, None] = {}
    raw = read_bytes(file).removeprefix(UTF8_MARK)
    for number, line in enumerate(raw.splitlines(), start=1):
        topic = decode(line.strip())
        if topic and topic not in known:
            message = f"no scores on topic {topic[:40]!r}, expected a topic that has some"
            raise InputError(display_name(file), number, message)
        if topic:
            chosen[topic] = None
    if not chosen:
        raise InputError(display_name(file), None, "is empty, expected a topic id a line")
    return list(chosen)


def _read_other(file: str, scores: Scores) -> Scores:
    """The scores of the same runs by the same measures in a file; a table that names none is by the
    only measure there is."""
    other = file_of_scores(None, file)
    if len(scores.measures) == 1 and isinstance(other.measures[0], Given):
        other = replace(other, measures=scores.measures)
    try:
        return other.select(runs=scores.runs, measures=scores.measures)
    except RankgaugeError as error:
        message = f"{error}; expected the same runs and measures"
        raise InputError(display_name(file), None, message) from None


def _write_json(found: Assessment, file: str) -> None:
    import json

    text = json.dumps(found.to_dict(), allow_nan=False)
    with writing(file) as stream:
        stream.write(f"{text}\n".encode("ascii"))


def _draw(found: Assessment, asl: str | None, tau: str | None, swaps: str | None) -> None:
    if asl is tau is swaps is None:
        return
    from rankgauge.figures.files import save_figure

    files: dict[AssessmentFigure, str | None] = {"asl": asl, "tau": tau, "swaps": swaps}
    for kind, file in files.items():
        if file is not None:
            save_figure(found.figure(kind), file)


def _show(
    found: Assessment, shown: str | None, form: str | None, digits: int | None, output: str | None
) -> None:
    """Print one table, or for people several with headings, and the notes once, at the end."""
    form = chosen_format(form, output)
    if form in MACHINE_FORMATS:
        show_with_notes(TABLES[shown or "measures"](found), form, digits, output)
        return
    tables = {name: make(found) for name, make in TABLES.items() if shown in (None, name)}
    tables = {name: table for name, table in tables.items() if table.rows}
    notes = tuple(dict.fromkeys(note for table in tables.values() for note in table.notes))
    pages = _narrower(tables, found)
    texts = []
    for name, table in pages.items():
        said = replace(table, notes=notes if name == list(pages)[-1] else ())
        text = HEADINGS[name]
        heading = {"md": f"### {text}\n\n", "latex": f"% {text}\n"}.get(form, f"{text}\n\n")
        texts.append((heading if len(pages) > 1 else "") + said.render(form, digits=digits))
    print_or_write("\n".join(texts), output)


def _narrower(tables: dict[str, Table], found: Assessment) -> dict[str, Table]:
    """The tables, that of the measures as two, and without the set if there is but one."""
    pages: dict[str, Table] = {}
    for name, table in tables.items():
        columns = table.columns[int(len(found.parts) == 1) :]
        if name == "measures":
            at = columns.index("decisions")
            pages[name] = _columns(table, columns[:at])
            halved = any(each.splits for part in found.parts.values() for each in part.values())
            if halved:
                named = columns[: columns.index("measure") + 1]
                pages["halves"] = _columns(table, (*named, *columns[at:]))
        else:
            pages[name] = _columns(table, columns)
    return pages


def _columns(table: Table, columns: Sequence[str]) -> Table:
    places = [table.columns.index(column) for column in columns]
    rows = tuple(tuple(row[place] for place in places) for row in table.rows)
    return replace(table, columns=tuple(columns), rows=rows)
