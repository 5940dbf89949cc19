"""What tests of figures share: figures as files, and texts that must do no harm in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.figures.files import save_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HOSTILE = "<script>alert(1)</script> -->]]> &amp; $\\frac{$ \x00\x1b[31m\udcff\ufffe"
PNG = b"\x89PNG\r\n\x1a\n"
SVG = "{http://www.w3.org/2000/svg}"


def saved(figure: Figure, path: Path) -> bytes:
    """The file of a figure."""
    save_figure(figure, path)
    return path.read_bytes()
