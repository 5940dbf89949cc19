"""rankgauge measures: list the measures, or explain one."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import click

from rankgauge.cli.groups import HeadedCommand, option, takes
from rankgauge.cli.options import Output, plugin_option
from rankgauge.cli.output import line_width, print_notes, print_or_write
from rankgauge.core.tables import Table
from rankgauge.errors import MeasureError
from rankgauge.measures import Aggregate, Measure, entries, parse
from rankgauge.measures.around import CompositeMeasure
from rankgauge.measures.names import other_names
from rankgauge.measures.registry import MEASURES, Entry, find
from rankgauge.measures.scored import Scored

if TYPE_CHECKING:
    from rankgauge.text.registry import MetricEntry

WIDTH = 88

USUAL = {
    "Graded relevance": {
        "nDCG@10": "gains discounted by rank, 1 for the ideal ranking",
        "ERR@20": "expected 1/rank of where a satisfied user stops",
        "RBP(p=0.8)": "gain of a user who reads on with probability p",
        "Q@10": "average precision for grades",
    },
    "Binary relevance": {
        "RR": "1/rank of the first relevant document (MRR)",
        "Success@5": "1 if a relevant document is in the top k (hit rate)",
        "P@10": "precision: the share of the top k that is relevant",
        "Recall@100": "the share of the relevant documents in the top k",
        "F@10": "the harmonic mean of precision and recall",
        "AP": "precision averaged over the relevant documents (MAP)",
        "Rprec": "precision at R, the number of relevant documents",
    },
    "Incomplete judgments": {
        "Judged@10": "the share of the top k that is judged",
        "lower(nDCG@10)": "the lowest score that missing labels can give",
        "upper(nDCG@10)": "the highest score that missing labels can give",
        "bpref": "how rarely non-relevant documents precede relevant ones",
        "infAP": "AP estimated from a sample of judgments",
    },
    "Compared with chance": {
        "expected(nDCG@10)": "the mean score of a random order",
        "v2(nDCG@10)": "0 for a random order, 1 for the best score",
    },
    "Diversity": {
        "alpha_nDCG@20": "nDCG that rewards subtopics not seen before",
        "ERR_IA@20": "ERR averaged over subtopics",
    },
}
"""The most widely used measures, as `-m` takes them, with a short description."""

OURS = ("rankgauge", "rankgauge_studies")


@click.command("measures", cls=HeadedCommand)
@click.argument("name", required=False)
@option(
    "--all",
    "every",
    heading="Measures",
    is_flag=True,
    help="List all measures. By default, a table on a terminal lists only the most widely used; "
    "other formats list all.",
)
@option(
    "--text",
    heading="Measures",
    is_flag=True,
    help="List the text metrics of `rankgauge text`.",
)
@plugin_option
@takes(output=Output)
def command(name: str | None, every: bool, text: bool, output: Output) -> None:
    """List the measures, or explain one.

    NAME is a measure as in -m, such as nDCG, 'RBP(p=0.9)' or map, or a text metric, such as rouge1 or
    'v2(rouge1)'.
    """
    if name is not None and output.form is not None:
        raise click.UsageError("--format applies to the list of measures; omit --format or NAME")
    if name is not None:
        print_or_write([explanation(name), "\n"], output.file)
    elif output.chosen_form != "table":
        output.show_whole(metrics_table() if text else measures_table())
    else:
        sections = metric_sections() if text else measure_sections() if every else usual_sections()
        lines = [listing(sections, line_width(output.file))]
        if not text and not every:
            lines.append(f"\n`rankgauge measures --all` lists {_counts()}.")
        lines.append("\n`rankgauge measures NAME` explains one.\n")
        print_or_write(lines, output.file)
    print_notes(MEASURES.broken)


def _counts() -> str:
    """How many measures, and how many other entries, are registered."""
    kinds = [kind(entry) for entry in entries().values()]
    measures = kinds.count("measure")
    return f"all {measures} measures and {len(kinds) - measures} wrappers and aggregates"


Sections = dict[str, list[tuple[str, str]]]
"""Names with what they mean, under headings."""


def usual_sections() -> Sections:
    """The measures that most people use, and those of plug-ins."""
    own = [
        (entry.name, entry.summary)
        for entry in entries().values()
        if type_of(entry).__module__.partition(".")[0] not in OURS
    ]
    usual = {heading: [*texts.items()] for heading, texts in USUAL.items()}
    return usual | {"From plug-ins": own}


def measure_sections() -> Sections:
    """All registered measures, by kind, with their other names."""
    sections: Sections = {"Measures": [], "Wrappers of a measure": [], "Aggregates": []}
    headings = dict(zip(("measure", "wrapper", "aggregate"), sections, strict=True))
    for _, entry in sorted(entries().items(), key=lambda item: item[0].lower()):
        aliases = ", ".join(list_aliases(entry, brief=True))
        text = f"{entry.summary} Also called {aliases}." if aliases else entry.summary
        sections[headings[kind(entry)]].append((entry.name, text))
    return sections


def metric_sections() -> Sections:
    """All registered metrics of texts, by kind."""
    sections: Sections = {}
    for name, what, _, summary in metrics_table().rows:
        sections.setdefault(f"{what}s".capitalize(), []).append((str(name), str(summary)))
    return sections


def listing(sections: Sections, width: int | None) -> str:
    """The names under their headings, each with its text beside it."""
    formatter = click.HelpFormatter(width=min(width or WIDTH, WIDTH))
    column = max(len(name) for rows in sections.values() for name, _ in rows)
    for heading, rows in sections.items():
        if rows:
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(column), text) for name, text in rows], column)
    return formatter.getvalue().lstrip("\n")


def measures_table() -> Table:
    """All registered measures, one per row."""
    rows = tuple(
        (
            entry.name,
            kind(entry),
            direction(entry),
            ", ".join(list_aliases(entry, brief=True)),
            entry.summary,
        )
        for _, entry in sorted(entries().items(), key=lambda item: item[0].lower())
    )
    return Table(("name", "kind", "better", "also called", "what it is"), rows)


def metrics_table() -> Table:
    """All registered metrics of texts, one per row."""
    from rankgauge.text.grammar import parse_metric
    from rankgauge.text.registry import METRICS

    rows = tuple(
        (entry.name, kind(entry), parse_metric(entry.examples[0]).direction, entry.summary)
        for entry in METRICS.values()
    )
    return Table(("name", "kind", "better", "what it is"), rows)


def entry_of(name: str) -> Entry | MetricEntry:
    """The measure of a name or text, or else the metric of texts."""
    try:
        return find(name)
    except MeasureError:
        pass
    try:
        return find(parse(name).name)
    except MeasureError as error:
        from rankgauge.text import grammar, registry

        metric = grammar.find_metric(name)
        if metric is not None:
            return registry.find(metric.name)
        raise error


def explanation(name: str) -> str:
    """The explanation of one measure: its formula, parameters and answers."""
    entry = entry_of(name)
    lines = [*textwrap.wrap(f"{entry.name}: {entry.summary}", WIDTH), ""]
    lines += item("formula", entry.formula)
    lines += item("source", entry.source)
    lines += item("also called", ", ".join(list_aliases(entry)))
    if isinstance(entry, Scored):
        low, high = (f"{end:g}".replace("inf", "infinity") for end in entry.range)
        lines += item("range", f"{low} to {high}")
        lines += item("better", direction(entry))
    if isinstance(entry, Measure):
        lines += item("cutoff", entry.cutoffs)
    if entry.parameters():
        lines += ["", "parameters:"]
        for key, field in entry.parameters().items():
            described = field.metadata["kind"]
            default = "none" if field.default is None else described.text(field.default)
            lines += item(f"  {key}", f"{field.metadata['meaning']}")
            lines += item("", f"takes {described.description}; default {default}")
    if entry.examples:
        lines += ["", *item("answers", answers(entry))]
        lines += item("examples", "  ".join(entry.examples))
    return "\n".join(lines)


def answers(entry: Entry | MetricEntry) -> str:
    """List the questions that a measure can answer, and how it answers each.

    For a wrapper, the answers are computed for its first example.
    """
    if entry_kind(entry) is not Measure:
        return ""
    measure = entry if isinstance(entry, Measure) else parse(entry.examples[0])
    if not isinstance(measure, Measure):
        return "one number from the scores of all queries"
    known = (f"{question} ({how})" for question, how in measure.answers().items() if how != "no")
    return ", ".join(known) or "nothing"


def entry_kind(entry: Entry | MetricEntry) -> type[Scored]:
    """Measure, or Scored for a metric of texts."""
    return Measure if issubclass(type_of(entry), CompositeMeasure | Measure) else Scored


def type_of(entry: Entry | MetricEntry) -> type:
    """The class of a measure, or the wrapper or aggregate itself."""
    return entry if isinstance(entry, type) else type(entry)


def list_aliases(entry: Entry | MetricEntry, *, brief: bool = False) -> list[str]:
    """List the other names of a measure, with the tools that use them.

    With `brief`, the names stand alone, without the tools, and names that end in a number are left
    out.
    """
    if entry_kind(entry) is not Measure:
        return list(entry.aliases)
    return [*entry.aliases, *other_names(entry.name, brief=brief)]


def kind(entry: Entry | MetricEntry) -> str:
    """What a name stands for: a measure or metric, an aggregate or a wrapper."""
    if not isinstance(entry, type):
        return "measure" if isinstance(entry, Measure) else "metric"
    return "aggregate" if issubclass(entry, Aggregate) else "wrapper"


def direction(entry: Entry | MetricEntry) -> str:
    """Whether higher or lower is better, in a word."""
    return "as inside" if isinstance(entry, type) else entry.direction


def item(label: str, text: str) -> list[str]:
    """A label and a text beside it, in lines; none where there is no text."""
    if not text:
        return []
    indent = " " * 14
    body = textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent=indent)
    title = f"{label}:" if label and not label.startswith(" ") else label
    body[0] = f"{title:<14}" + body[0][14:]
    return body
