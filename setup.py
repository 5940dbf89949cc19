"""Builds the compiled loops and the readme of the packages; pyproject.toml declares the rest."""

import os
import re
import runpy
import sys
import tomllib
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


def readme() -> str:
    """README.md with links to the files of this version: a package index shows it without them."""
    version = runpy.run_path("src/rankgauge/version.py")["__version__"]
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if Path(link[1]).suffix in {".png", ".svg"} else "blob"
        return f"]({project['urls']['Source']}/{kind}/v{version}/{link[1]})"

    text = Path("README.md").read_text(encoding="utf-8")
    return re.sub(r"\]\((?!\w+:|#)([^)\s]+)\)", absolute, text)


modules = [extension(path.stem, path.name) for path in sorted(NATIVE.glob("*.pyx"))]
setup(
    long_description=readme(),
    long_description_content_type="text/markdown",
    ext_modules=cythonize(
        [*modules, extension(SHARED, f"{SHARED}.c")],
        # A module and the shared one must come from the same Cython: each has its own generated C.
        build_dir=f"build/cython-{cython_version}",
        language_level=3,
        shared_utility_qualified_name=f"rankgauge.native.{SHARED}",
    ),
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
