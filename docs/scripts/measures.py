"""Writes docs/MEASURES.md from the registry: every measure, and the questions that it can answer. Also
writes the names in other tools into docs/GRAMMAR.md.

python docs/scripts/measures.py           rewrites the pages
python docs/scripts/measures.py --check   fails if a page differs from the registry or the table of names
"""

from __future__ import annotations

import sys
from pathlib import Path

from rankgauge.measures import Aggregate, Measure, entries, parse
from rankgauge.measures.names import AMBIGUOUS_NAMES, NAMES, example
from rankgauge.measures.registry import Entry

PAGE = Path(__file__).resolve().parents[1] / "MEASURES.md"
GRAMMAR = Path(__file__).resolve().parents[1] / "GRAMMAR.md"
START, END = "<!-- names: made by docs/scripts/measures.py -->\n", "<!-- end of names -->\n"
HEAD = """\
# The measures, and what they can answer

`docs/scripts/measures.py` makes this page from the registry. `rankgauge measures NAME` explains a
measure with its parameters. The first table says how each measure answers each question:

- `exact`: by a formula or an algorithm, for any number of documents.
- `enumerated`: by trying every order or every labeling, if there are few enough documents. If there are
  more, `expected` and `variance` are estimated from orders drawn at random, `distance` is a lower bound
  from a search, and the other questions are refused.
- `–`: not at all.

The questions:

- `score` is the score of any ranking.
- `ideal`, `worst`, `expected` and `variance` are over all orders of the judged documents.
- `bounds` are over all labels of the unjudged documents.
- `distance` is how far apart two rankings can be, over all labels of the unjudged documents
  ([DISTANCE.md](DISTANCE.md)).
- `flips` is how the score changes when two neighbors of a ranking change places
  ([TUNING.md](TUNING.md)).

With judgments by subtopic, the ideal of the diversity measures is found greedily, and their worst is
not known. The bounds of the normalized diversity measures are not known either. The answers of a wrapper
depend on the measure inside; the table shows them for the first example of the wrapper.
"""


def sample(entry: Entry) -> Measure | Aggregate:
    """The measure itself; for a wrapper, the wrapper with the measure of its first example."""
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
    """The two tables of names: names that are understood, and names that are refused."""
    lines = ["| name | who writes it | means |", "|---|---|---|"]
    for row in NAMES:
        spelling, ours = example(row)
        means = f"`{ours}`; with a cut-off `{row.cut}`" if row.cut else f"`{ours}`"
        lines.append(f"| `{spelling}` | {row.tools} | {means} |")
    lines += ["", "| refused | who writes it | why, and what to write |", "|---|---|---|"]
    for refused in AMBIGUOUS_NAMES:
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
    """docs/GRAMMAR.md, with the tables of names between the two marks."""
    before, _, rest = GRAMMAR.read_text().partition(START)
    return before + START + names() + END + rest.partition(END)[2]


if __name__ == "__main__":
    pages = {PAGE: page(), GRAMMAR: grammar()}
    if "--check" in sys.argv:
        for path, text in pages.items():
            if not path.exists() or path.read_text() != text:
                sys.exit(
                    f"docs/{path.name} is not what the registry says: run docs/scripts/measures.py"
                )
        sys.exit(0)
    for path, text in pages.items():
        path.write_text(text)
