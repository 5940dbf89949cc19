"""Builds the compiled loops; everything else is declared in pyproject.toml."""

import sys

from Cython.Build import cythonize
from setuptools import Extension, setup

MODULES = ["ids", "segments", "trec"]
OPTIMISE = ["/O2"] if sys.platform == "win32" else ["-O3"]

setup(
    ext_modules=cythonize(
        [
            Extension(
                f"rankgauge.native.{name}",
                [f"src/rankgauge/native/{name}.pyx"],
                extra_compile_args=OPTIMISE,
            )
            for name in MODULES
        ],
        build_dir="build/cython",
        language_level=3,
    )
)
