"""rankgauge report: show runs, differences, queries and measures on one page in the browser."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

import click

from rankgauge.cli.compare import check_baselines
from rankgauge.cli.groups import OptionGroup, option, takes
from rankgauge.cli.options import (
    COLOR,
    CommandWithFiles,
    baseline_option,
    depth_option,
    level_option,
    output_option,
    plugin_option,
)
from rankgauge.cli.output import fail_if_incomplete, print_notes, print_or_write
from rankgauge.cli.output_files import OUTPUT_FILE
from rankgauge.cli.scoring import SourceOptions, check_output, source_measure_option
from rankgauge.cli.workers import drop_worker_options
from rankgauge.core.notes import count_phrase
from rankgauge.evaluation.inputs import Source, sources_of
from rankgauge.io.files import is_stream
from rankgauge.report.added import read_section
from rankgauge.report.rankings import DEPTH
from rankgauge.report.report import ReportInput, ReportOptions, report_html
from rankgauge.report.section_pages import check_pages


class ReportedScores(SourceOptions):
    """The scores to report."""

    default = ("nDCG@10", "AP")
    measures: tuple[str, ...] = source_measure_option(*default)


class PageOptions(OptionGroup, heading="Page"):
    """What the page shows beside scores."""

    title: str | None = option("--title", metavar="TEXT", help="The title of the page.")
    baseline: str | None = baseline_option(
        "The run that the page initially compares the others with, given by name or file. "
        "Readers can select another run in the page.",
        multiple=False,
    )
    depth: int | None = depth_option(
        None,
        "The number of top documents that the page shows for each ranking. By default "
        f"{DEPTH}, or fewer if the page would exceed 3 MB.",
        multiple=False,
    )
    document_texts: str | None = option(
        "--document-texts",
        type=click.Path(),
        metavar="FILE",
        help="The texts of documents, shown next to the rankings. FILE has one line per "
        "document: JSON with an id and a text, or id, tab and text. Texts are truncated to "
        "500 characters.",
    )
    query_texts: str | None = option(
        "--query-texts",
        old="--topic-texts",
        type=click.Path(),
        metavar="FILE",
        help="The texts of queries, in the same format.",
    )
    add: tuple[str, ...] = option(
        "--add",
        multiple=True,
        type=click.Path(),
        metavar="FILE",
        help="Add a section that shows FILE: a table (CSV, TSV or JSON Lines) from another "
        "rankgauge command, or an SVG. The name of the file becomes the title. May be "
        "repeated.",
    )


@click.command("report", cls=CommandWithFiles)
@takes(source=ReportedScores, page=PageOptions)
@level_option("A difference is significant if its corrected p-value is at most 1 - level.")
@output_option(
    "FILE",
    "Write the page to FILE. If an error occurs, no partial file is left behind.",
    type=OUTPUT_FILE,
    default="report.html",
)
@option("--open", "opens", heading="Output", is_flag=True, help="Open the page in the browser.")
@COLOR
@plugin_option
def command(
    source: ReportedScores, page: PageOptions, level: float, output: str, opens: bool
) -> None:
    """Write an HTML page that shows how good the runs are and how they differ.

    The page is a single file that works offline, so you can send it to a colleague. QRELS and each RUN
    are files as in `rankgauge evaluate`. --scores reads scores that were computed earlier; the page then
    has no rankings.

    \b
    rankgauge report qrels.txt runs/ -m nDCG@10 -m AP -o report.html
    rankgauge report qrels.txt a.run b.run --baseline a.run --query-texts topics.tsv
    rankgauge report --scores AP=trec8.csv -o trec8.html
    \f
    The page has these sections:

    \b
    Leaderboard   means with intervals, share of judged documents, random baseline
    Differences   every pair of runs; query by query; both rankings side by side
    Queries       runs and queries as a heat map; ideal and uninformative queries
    Measures      which measures agree, and which discriminate between the runs
    How it was computed

    The exit code is 0 on success and 2 if no page could be made. It is 3 if some runs could not be read;
    the page then shows the others. A message on stderr names each unread run and gives the reason.
    """
    check_pages()
    if opens and output == "-":
        raise click.UsageError(
            "--open needs a file, and the page goes to standard output; leave out -o -"
        )
    texts = (file for file in (page.document_texts, page.query_texts) if file is not None)
    check_output(output, [*source.inputs, *texts, *page.add])
    added = tuple(map(read_section, page.add))
    read = source.read()
    baseline = None if page.baseline is None else source.run(page.baseline)
    check_baselines([] if baseline is None else [baseline], read.scores)
    sources: list[Source] = []
    left = []
    if source.scoring is not None:
        if any(map(is_stream, source.inputs)):
            left.append(
                "The rankings are omitted, because standard input and pipes can be read only once."
            )
        else:
            sources = sources_of(source.scoring.inputs()[1])
    options = ReportOptions(
        baseline=baseline,
        document_texts=page.document_texts,
        query_texts=page.query_texts,
        depth=page.depth,
        added=added,
        level=level,
        title=page.title,
        command=_command(),
        left=tuple(left),
    )
    print_or_write(
        [report_html(ReportInput(read.scores, read.judgments, sources), options)], output
    )
    if output != "-":
        runs = count_phrase(len(read.scores.runs), "run")
        queries = count_phrase(len(read.scores.queries), "query")
        click.echo(f"{output} written ({runs}, {queries})", err=True)
    if opens:
        open_page(output)
    fail_if_incomplete(read.scores)


def open_page(file: str) -> None:
    """Open a page in the browser. If there is none, print a note."""
    import webbrowser

    if not webbrowser.open(Path(file).absolute().as_uri()):
        print_notes([f"there is no browser to open {file} in"])


def _command() -> str:
    """Return the command line of this call, for the page.

    Of absolute paths it has the last part only, so that a page does not tell where its author keeps
    files. `--open` and the options of workers are left out: they do not change the page.
    """
    words = [
        os.path.basename(os.path.normpath(word)) if os.path.isabs(word) else word
        for word in drop_worker_options(sys.argv[1:])
        if word != "--open"
    ]
    return shlex.join(["rankgauge", *words])
