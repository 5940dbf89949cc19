"""The scripts of docs, for tests that hold a page against what its script computes."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).resolve().parents[1] / "docs"


def load(name: str) -> ModuleType:
    """docs/scripts/NAME.py as a module."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
