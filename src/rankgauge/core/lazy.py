"""Public names that are imported when they are first asked for, so that nobody waits for the others."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a package, given the module that each of its names lives in."""

    def get(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(homes[name]), name)
        setattr(sys.modules[package], name, value)  # asked for once
        return value

    def names() -> list[str]:
        return sorted({*homes, *(name for name in vars(sys.modules[package]) if name[:2] == "__")})

    return get, names
