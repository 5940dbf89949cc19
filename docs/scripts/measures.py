"""Generate docs/MEASURES.md from the registry: every measure, and the questions that it can answer. Also
write the table of names used by other tools into docs/GRAMMAR.md.

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
# Measures and the questions they answer

`docs/scripts/measures.py` generates this page from the registry. `rankgauge measures NAME` describes a
measure and its parameters. The first table shows how each measure answers each question:

- `exact`: with a formula or an algorithm, for any number of documents.
- `enumerated`: by trying every order or every labeling, if there are few enough documents. With more
  documents, `expected` and `variance` are estimated from randomly drawn orders, `distance` becomes a
  lower bound found by a search, and the other questions are refused.
- `–`: not at all.

The questions are:

- `score`: the score of any ranking.
- `ideal`, `worst`, `expected` and `variance`: the best, worst and mean score and the variance over all
  orders of the judged documents.
- `bounds`: the lowest and highest score over all labels of the unjudged documents that the run lists,
  also below the cutoff. An unjudged document that the run does not list stays not relevant.
- `distance`: how far apart two rankings can be, over all labels of the unjudged documents
  ([DISTANCE.md](DISTANCE.md)).
- `flips`: how the score changes when two neighbors in a ranking change places ([TUNING.md](TUNING.md)).

A run with a shorter file therefore has narrower bounds: if a run is cut to its top ten, `lower(nDCG@10)`
can rise, because fewer unjudged documents can raise the ideal. Cut runs of different depth to the same
depth before you compare their bounds. `rankgauge evaluate` has no option for that; if the lines of a run
are in rank order, `awk '++n[$1] <= 100' a.run` prints the first 100 documents of each query.

With judgments by subtopic, the ideal of a diversity measure is found greedily, its worst score is
unknown, and so are the bounds of the normalized diversity measures. The answers of a wrapper depend on
the measure inside it; the table shows them for the first example of each wrapper.
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
        "## Definitions",
        "",
        "| name | description | formula | source |",
        "|---|---|---|---|",
    ]
    for name, entry in by_name:
        cells = (entry.summary, entry.formula, entry.source)
        lines.append(f"| {name} | {' | '.join(map(escaped, cells))} |")
    return "\n".join(lines) + "\n"


def names() -> str:
    """The two tables of names: names that are understood, and names that are refused."""
    lines = ["| name | used by | means |", "|---|---|---|"]
    for row in NAMES:
        spelling, ours = example(row)
        means = f"`{ours}`; with a cutoff, `{row.cut}`" if row.cut else f"`{ours}`"
        lines.append(f"| `{spelling}` | {row.tools} | {means} |")
    lines += ["", "| refused name | used by | reason and replacement |", "|---|---|---|"]
    for refused in AMBIGUOUS_NAMES:
        when = {"always": "", "cut": " with a cutoff", "bare": " without a cutoff"}[refused.when]
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
                    f"docs/{path.name} does not match the registry: run docs/scripts/measures.py"
                )
        sys.exit(0)
    for path, text in pages.items():
        path.write_text(text)
