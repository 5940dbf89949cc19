"""Writes docs/MEASURES.md from the registry: every measure, and what it can answer. Puts the names of
other tools into docs/GRAMMAR.md.

python docs/measures.py           rewrites the pages
python docs/measures.py --check   fails where a page is not what the registry and the table of names say
"""

from __future__ import annotations

import sys
from pathlib import Path

from rankgauge.measures import Aggregate, Measure, entries, parse
from rankgauge.measures.names import NAMES, UNCLEAR, example
from rankgauge.measures.registry import Entry

PAGE = Path(__file__).with_name("MEASURES.md")
GRAMMAR = Path(__file__).with_name("GRAMMAR.md")
START, END = "<!-- names: made by docs/measures.py -->\n", "<!-- end of names -->\n"
HEAD = """\
# The measures, and what they can answer

Made from the registry by `docs/measures.py`. `rankgauge measures NAME` explains a measure with its
parameters.

The first table says what each measure can compute. `score` is the score of any ranking. `ideal`,
`worst`, `expected` and `variance` are over all orders of the judged documents: the best score, the
worst, the mean and the variance. `bounds` are the lowest and the highest score over all labels of the
unjudged documents. `distance` is the greatest difference of two rankings over these labels.

- `exact`: by a formula or an algorithm, at any size.
- `enumerated`: all orders or labels are tried, while these are few enough. Beyond that, `expected` and
  `variance` are estimated from orders drawn at random, and `distance` is searched.
- `–`: not at all.

What a wrapper such as `v2(…)` can compute depends on the measure inside; the table has the first of its
examples. With judgements by subtopic, the best ranking of the diversity measures is built greedily.
Then their worst score cannot be computed, nor the bounds of those that are normalised.
"""


def sample(entry: Entry) -> Measure | Aggregate:
    """A measure to ask: the entry itself, or a wrapper around the measure of its first example."""
    return entry if isinstance(entry, Measure) else parse(entry.examples[0])


def escaped(text: str) -> str:
    return text.replace("|", "\\|")


def page() -> str:
    """The whole page."""
    by_name = sorted(entries().items(), key=lambda item: item[0].lower())
    measures = [(name, entry) for name, entry in by_name if isinstance(sample(entry), Measure)]
    questions = list(sample(measures[0][1]).answers())  # type: ignore[union-attr]
    lines = [HEAD, f"| measure | better | {' | '.join(questions)} |"]
    lines.append("|---|---|" + "---|" * len(questions))
    for name, entry in measures:
        measure = sample(entry)
        assert isinstance(measure, Measure)
        shown = [how.replace("no", "–") for how in measure.answers().values()]
        around = name if isinstance(entry, Measure) else f"{name}(…)"
        lines.append(f"| {around} | {measure.direction} | {' | '.join(shown)} |")
    lines += [
        "",
        "## What they are",
        "",
        "| name | what it is | formula | source |",
        "|---|---|---|---|",
    ]
    for name, entry in by_name:
        cells = (entry.summary, entry.formula, entry.source)
        lines.append(f"| {name} | {' | '.join(map(escaped, cells))} |")
    return "\n".join(lines) + "\n"


def names() -> str:
    """The tables of names: what is understood, and what is refused."""
    lines = ["| name | who writes it | means |", "|---|---|---|"]
    for row in NAMES:
        spelling, ours = example(row)
        means = f"`{ours}`; with a cut-off `{row.cut}`" if row.cut else f"`{ours}`"
        lines.append(f"| `{spelling}` | {row.tools} | {means} |")
    lines += ["", "| refused | who writes it | why, and what to write |", "|---|---|---|"]
    for refused in UNCLEAR:
        when = {"always": "", "cut": " with a cut-off", "bare": " without a cut-off"}[refused.when]
        filled = {"{at}": "@10", "{p}": "0.10", "{root}": "2", "{}": "4"}
        if refused.when == "bare":
            filled["{at}"] = ""
        spelling, why = refused.spelling, refused.why
        for mark, text in filled.items():
            spelling, why = spelling.replace(mark, text), why.replace(mark, text)
        lines.append(f"| `{spelling}`{when} | {refused.tools} | {why} |")
    return "\n".join(lines) + "\n"


def grammar() -> str:
    """docs/GRAMMAR.md with these tables between its two marks."""
    before, _, rest = GRAMMAR.read_text().partition(START)
    return before + START + names() + END + rest.partition(END)[2]


if __name__ == "__main__":
    pages = {PAGE: page(), GRAMMAR: grammar()}
    if "--check" in sys.argv:
        for path, text in pages.items():
            if not path.exists() or path.read_text() != text:
                sys.exit(f"docs/{path.name} is not what the registry says: run docs/measures.py")
        sys.exit(0)
    for path, text in pages.items():
        path.write_text(text)
