"""Builds the compiled loops; everything else is declared in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython import __version__ as cython_version
from Cython.Build import cythonize
from setuptools import Extension, setup

NATIVE = Path("src/rankgauge/native")
# What each module would otherwise carry a copy of, memoryviews above all, is compiled once, in here.
SHARED = "_shared"


def flags() -> list[str]:
    """How to optimize, unless CFLAGS says: a build under a sanitizer keeps its debug symbols."""
    if sys.platform == "win32":
        return ["/O2"]
    return [] if "CFLAGS" in os.environ else ["-O3", "-g0"]


def extension(name: str, source: str) -> Extension:
    return Extension(
        f"rankgauge.native.{name}", [(NATIVE / source).as_posix()], extra_compile_args=flags()
    )


modules = [extension(path.stem, path.name) for path in sorted(NATIVE.glob("*.pyx"))]
setup(
    ext_modules=cythonize(
        [*modules, extension(SHARED, f"{SHARED}.c")],
        # A module and the shared one must come from the same Cython: each has its own generated C.
        build_dir=f"build/cython-{cython_version}",
        language_level=3,
        shared_utility_qualified_name=f"rankgauge.native.{SHARED}",
    ),
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
