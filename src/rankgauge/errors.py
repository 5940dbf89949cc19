"""What can go wrong, as exceptions whose text a user can act on."""

from __future__ import annotations

import sys
import warnings
from types import FrameType


class RankgaugeError(Exception):
    """Anything rankgauge refuses to do; the text says what and what to do instead."""


class RankgaugeWarning(UserWarning):
    """What the user should know, though the result is right; the command line prints it as a note."""


OLD_FORMS_END = "0.3.0"
"""The version that no longer takes the old forms."""


class OldFormWarning(RankgaugeWarning, DeprecationWarning):
    """A name, option or order of arguments that will be removed; the text names the new one."""


_BETWEEN = ("rankgauge", "rankgauge_studies", "dataclasses", "importlib")
"""Packages that a warning of an old form is not about: it points at the line that called them."""


def warn_old_form(old: str, new: str) -> None:
    """Warn of a form that still works, at the line of the user that has it."""
    text = f"{old} is now {new}; the old form works until rankgauge {OLD_FORMS_END}"
    frame = sys._getframe(1)
    while _module_name(frame).partition(".")[0] in _BETWEEN and frame.f_back is not None:
        frame = frame.f_back
    registry = frame.f_globals.setdefault("__warningregistry__", {})
    place = frame.f_code.co_filename, frame.f_lineno, _module_name(frame)
    warnings.warn_explicit(text, OldFormWarning, *place, registry)


def _module_name(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "<unknown>"))


class InputError(RankgaugeError):
    """Data that cannot be used, located as `file:line: what is wrong, what was expected`."""

    def __init__(self, source: str, line: int | None, message: str) -> None:
        self.source = source
        self.line = line
        self.message = message
        where = source if line is None else f"{source}:{line}"
        super().__init__(f"{where}: {message}")

    def __reduce__(self) -> tuple[type[InputError], tuple[str, int | None, str]]:
        return type(self), (self.source, self.line, self.message)


class AbsentFile(InputError):
    """A file that is not there."""


class NoRows(InputError):
    """A file without any row."""


class DuplicateError(InputError):
    """A document that occurs twice for a query."""


class MisplacedFile(InputError):
    """A run in the place of judgments, judgments in the place of a run, or one file in both places."""

    def __str__(self) -> str:
        return self.message


class NoSharedTopics(InputError):
    """A run none of whose queries is judged: its scores would all be 0 and mean nothing."""


def missing_package(package: str, extra: str = "") -> RankgaugeError:
    """The error where a package is not installed that only some functions need.

    >>> print(missing_package("matplotlib", "plot"))
    matplotlib is not installed; run pip install matplotlib (extra: plot)
    """
    where = f" (extra: {extra})" if extra else ""
    return RankgaugeError(f"{package} is not installed; run pip install {package}{where}")


class MeasureError(RankgaugeError):
    """A measure that does not exist, is written wrongly or has a value outside its range."""


class Unsupported(RankgaugeError):
    """A question that this measure cannot answer."""


class MissingFeatures(InputError):
    """Data that has fewer features than a ranker learned from."""


class NotFitted(RankgaugeError):
    """A ranker that has learned nothing yet."""


class NotExportable(RankgaugeError):
    """A ranker that the format of a search engine cannot express."""
