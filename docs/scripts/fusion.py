"""Puts the tables of methods and normalizations into docs/FUSION.md, from the registries.

python docs/scripts/fusion.py           rewrites the page
python docs/scripts/fusion.py --check   fails where the page is not what the registries say
"""

from __future__ import annotations

import sys
from pathlib import Path

from rankgauge.fusion.methods import METHODS
from rankgauge.fusion.normalizations import NORMALIZATIONS

PAGE = Path(__file__).resolve().parents[1] / "FUSION.md"


def methods() -> list[str]:
    """The rows of the table of methods."""
    rows = ["| method | of | score | what it does | source |", "|---|---|---|---|---|"]
    for method in METHODS.values():
        cells = (f"`{method.name}`", method.takes, method.formula, method.summary, method.source)
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def normalizations() -> list[str]:
    """The rows of the table of normalizations."""
    rows = ["| normalize | score | what it does |", "|---|---|---|"]
    for each in NORMALIZATIONS.values():
        rows.append(f"| `{each.name}` | {each.formula} | {each.summary} |")
    return rows


def renewed(text: str) -> str:
    """The page with its tables made anew."""
    for name, rows in (("methods", methods()), ("normalizations", normalizations())):
        start = f"<!-- {name}: made by docs/scripts/fusion.py -->\n"
        end = f"<!-- end of {name} -->\n"
        before, _, rest = text.partition(start)
        _, _, after = rest.partition(end)
        table = "\n".join(rows)
        text = f"{before}{start}{table}\n{end}{after}"
    return text


if __name__ == "__main__":
    old = PAGE.read_text(encoding="utf-8")
    if "--check" not in sys.argv:
        PAGE.write_text(renewed(old), encoding="utf-8")
    elif renewed(old) != old:
        sys.exit(f"{PAGE.name} is not what the registries say")
