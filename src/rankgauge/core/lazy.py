"""Public names that are imported when they are first used, so that nobody waits for the others.

A package or module declares its public names once, in the stub beside it (`__init__.pyi`). Type checkers
read the stub; at run time `attach` reads the same lines:

    # rankgauge/shapes/__init__.pyi
    from rankgauge.shapes.circles import Circle as Circle, radius as radius

    # rankgauge/shapes/__init__.py
    __getattr__, __dir__, __all__ = attach(__name__)
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

from rankgauge.core.moved import new_home
from rankgauge.errors import warn_old_form

REGISTERED = "# Registered under these names, in the order in which they are listed:"
"""The line of a stub below which its names are also the names of a registry."""
SYNTAX_ONLY = 0x400
"""`ast.PyCF_ONLY_AST`, without importing `ast`."""


class Home(NamedTuple):
    """Where a public name is defined: the module, and the name it has there."""

    module: str
    name: str


@cache
def stub_names(package: str) -> tuple[dict[str, Home], dict[str, Home]]:
    """The names in the stub of a package, in order: all of them, and the registered ones."""
    spec = sys.modules[package].__spec__
    if spec is None or spec.origin is None:
        raise ImportError(f"{package} has no file, so it has no stub")
    stub = f"{spec.origin.rpartition('.')[0]}.pyi"
    text = spec.loader.get_data(stub).decode()  # type: ignore[union-attr]  # also from a zip file
    first, _, second = text.partition(REGISTERED)
    registered = _imported_names(second, stub)
    return _imported_names(first, stub) | registered, registered


def _imported_names(text: str, file: str) -> dict[str, Home]:
    syntax: Any = compile(text, file, "exec", SYNTAX_ONLY)
    return {
        alias.asname: Home(line.module, alias.name)
        for line in syntax.body
        if type(line).__name__ == "ImportFrom"
        for alias in line.names
        if alias.asname
    }


def registered_homes(package: str) -> dict[str, str]:
    """The registered names in the stub of a package, each with its module inside the package."""
    names = stub_names(package)[1]
    return {name: home.module.removeprefix(f"{package}.") for name, home in names.items()}


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package or module, as its stub declares them.

    Names that the last release had are found, too, with a warning that names the new form.
    """
    homes = stub_names(package)[0]

    def get(name: str) -> Any:
        home = homes.get(name)
        if home is not None:
            if home.module == package:
                return importlib.import_module(f"{package}.{name}")
            value = getattr(importlib.import_module(home.module), home.name)
            setattr(sys.modules[package], name, value)  # next time, Python finds it itself
            return value
        new = new_home(package, name)
        if new is not None:
            module = importlib.import_module(new[0])
            if new[1] in stub_names(new[0])[0]:
                warn_old_form(f"{package}.{name}", ".".join(new))
                return getattr(module, new[1])
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*homes, *(name for name in vars(sys.modules[package]) if name[:2] == "__")})

    return get, names, list(homes)
