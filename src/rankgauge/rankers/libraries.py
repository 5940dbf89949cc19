"""The libraries that methods stand on, imported when a method needs them."""

from __future__ import annotations

import importlib
from importlib import metadata
from typing import Any

from rankgauge.errors import RankgaugeError, missing_package

PACKAGES = {"sklearn": "scikit-learn", "lightgbm": "lightgbm"}


def import_library(module: str) -> Any:
    """A module of a library; RankgaugeError says how to install the library where it is not there."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        raise missing_package(PACKAGES[module.partition(".")[0]], "ltr") from None
    except ImportError as error:
        package = PACKAGES[module.partition(".")[0]]
        raise RankgaugeError(f"{package} cannot be imported ({error}); install it again") from None


def version_of(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
