"""Figures as SVG or PNG files."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

from rankgauge.errors import InputError
from rankgauge.figures.drawing import check_plotting, plotting
from rankgauge.io.files import atomic_write

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENDINGS = {".svg": "svg", ".png": "png"}
_DOTS_PER_INCH = 200


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as an SVG or PNG file.

    The file appears only when it is complete. With the same version of matplotlib, the same figure gives
    the same bytes.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    path : str or os.PathLike
        The file, whose name ends with .svg or .png.

    Raises
    ------
    InputError
        If the name has another ending, or the file cannot be written.
    RankgaugeError
        If matplotlib is not installed.

    Examples
    --------
    >>> import os
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> from rankgauge.extending import save_figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_figure(Figure(figsize=(1, 1)), os.path.join(folder, "empty.svg"))
    ...     os.listdir(folder)
    ['empty.svg']
    """
    form = _file_format(path)
    content = io.BytesIO()
    with plotting():
        metadata = {"Date": None} if form == "svg" else None
        figure.savefig(content, format=form, dpi=_DOTS_PER_INCH, metadata=metadata)
    with atomic_write(path) as stream:
        stream.write(content.getvalue())


def check_figure_path(path: str | os.PathLike[str]) -> None:
    """Check, before any work, that a figure can be written to this path.

    Raises InputError for an ending other than .svg and .png, and RankgaugeError without matplotlib.
    """
    _file_format(path)
    check_plotting()


def _file_format(path: str | os.PathLike[str]) -> str:
    ending = os.path.splitext(path)[1]
    if ending.lower() not in ENDINGS:
        problem = f"the ending {ending}" if ending else "no ending"
        raise InputError(os.fspath(path), None, f"{problem}, expected {' or '.join(ENDINGS)}")
    return ENDINGS[ending.lower()]
