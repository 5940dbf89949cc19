"""Writes `__init__.pyi` of packages whose names are imported late, so that type checkers see the names.

python docs/stubs.py           rewrites the stubs
python docs/stubs.py --check   fails if a stub is not what its package says
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import rankgauge

PACKAGES = ("measures", "rankers", "text")
HEAD = "# ruff: noqa\n# fmt: off\n# Made by docs/stubs.py from the names in __init__.py."


def stub(package: str) -> str:
    """The names of a package: a line for each module that has some, and `__all__`."""
    homes: dict[str, str] = importlib.import_module(f"rankgauge.{package}")._HOMES
    names_of: dict[str, list[str]] = {}
    for name, module in sorted(homes.items()):
        names_of.setdefault(module, []).append(name)
    imports = (f"from {module} import {', '.join(names_of[module])}" for module in sorted(names_of))
    public = (f'    "{name}",' for name in sorted(homes))
    return "\n".join([HEAD, "", *imports, "", "__all__ = [", *public, "]", ""])


if __name__ == "__main__":
    for package in PACKAGES:
        path = Path(rankgauge.__file__).parent / package / "__init__.pyi"
        if "--check" not in sys.argv:
            path.write_text(stub(package), encoding="utf-8")
        elif path.read_text(encoding="utf-8") != stub(package):
            sys.exit(f"{path} is not what its package says; run python docs/stubs.py")
