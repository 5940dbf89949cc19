"""Planes of two parameters: flip boundaries, the ranking in each cell, and the regions of optima."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.errors import RankgaugeError
from rankgauge.figures.drawing import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    PURPLE,
    VERMILION,
    new_figure,
    plotting,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from rankgauge.space.planes import Plane, Region

_SHADES = ((BLUE, "///"), (ORANGE, "..."), (GREEN, "\\\\\\"), (PURPLE, "xxx"), (VERMILION, "+++"))
"""The color and the hatching of each set of regions; at most five."""
MARGIN = 0.3
"""How much room there is around the vertices, as a share of their extent."""
ARROW = 0.04
"""How long an arrow is, as a share of the figure."""
MOST_LABELS = 60
"""With more cells than that, their rankings are not written."""


@plotting()
def regions_figure(
    plane: Plane,
    names: Sequence[str],
    regions: Mapping[str, Sequence[Region]],
    box: tuple[float, float, float, float] | None = None,
    title: str = "",
) -> Figure:
    """Draw the flip boundaries of one query, the ranking in each cell, and shaded regions.

    Flips of documents with different labels are bold, with an arrow to the side on which the better
    document ranks higher. Neutral flips are thin.

    Parameters
    ----------
    plane : Plane
        A plane of one query.
    names : sequence of str
        The names of the documents.
    regions : mapping of str to sequence of Region
        At most five sets of regions to shade, by name.
    box : (float, float, float, float), optional
        The part to draw: low x, low y, high x, high y. By default the part around all vertices.
    title : str, optional
        The title.

    Returns
    -------
    matplotlib.figure.Figure
        The figure.

    Raises
    ------
    RankgaugeError
        If the plane has several queries, or if there are more than five sets of regions.

    Examples
    --------
    >>> from rankgauge.space import plane
    >>> three = plane([(0, 1, 0), (0, 0, 1), (0, 0, 0)], [1, 0, 0])
    >>> figure = regions_figure(three, ["a", "b", "c"], {"best RR": three.optima("RR")})
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['best RR']
    """
    if len(plane.queries) != 1:
        raise RankgaugeError(f"{len(plane.queries)} queries, expected a plane of one query to draw")
    if len(regions) > len(_SHADES):
        raise RankgaugeError(f"{len(regions)} sets of regions, expected at most {len(_SHADES)}")
    low_x, low_y, high_x, high_y = drawn = box or _box_around_vertices(plane)
    figure = new_figure(7.0, 6.0)
    axes = figure.subplots()
    for (name, shaded), (color, hatch) in zip(regions.items(), _SHADES, strict=False):
        _shade(axes, plane, shaded, drawn, name, color, hatch)
    taken = _corners(plane)
    if len(plane) <= MOST_LABELS:
        taken += _write_rankings(axes, plane, names, drawn)
    _draw_lines(axes, plane, names, drawn, np.array(taken).reshape(-1, 2))
    axes.set(xlim=(low_x, high_x), ylim=(low_y, high_y), xlabel="x", ylabel="y")
    figure.suptitle(wrap_text(title, 60), fontsize=11, parse_math=False)
    if regions:
        figure.legend(loc="outside lower center", ncols=min(3, len(regions)), fontsize=9)
    return figure


def _box_around_vertices(plane: Plane) -> tuple[float, float, float, float]:
    """A box around all vertices, with room beside them."""
    points = np.array(_corners(plane) or [(0.0, 0.0)])
    low, high = points.min(axis=0), points.max(axis=0)
    room = MARGIN * np.maximum(high - low, 1e-9) + (high == low)
    return (*(low - room).tolist(), *(high + room).tolist())


def _shade(
    axes: Axes,
    plane: Plane,
    regions: Sequence[Region],
    box: tuple[float, float, float, float],
    name: str,
    color: str,
    hatch: str,
) -> None:
    from matplotlib.patches import Polygon

    label = wrap_text(name, 30)
    for region in regions:
        for cell in region.cells.tolist():
            corners = plane.polygon(cell, box)
            if len(corners) > 2:
                style: Any = {"facecolor": color, "edgecolor": color, "hatch": hatch}
                style |= {"alpha": 0.22, "linewidth": 0, "label": label}
                axes.add_patch(Polygon(corners, closed=True, **style))
                label = "_nolegend_"


def _draw_lines(
    axes: Axes,
    plane: Plane,
    names: Sequence[str],
    box: tuple[float, float, float, float],
    taken: Floats,
) -> None:
    """Draw the lines, with the documents that change places on them and arrows to the good side.

    The arrows stay away from points that are taken.
    """
    size = np.array([box[2] - box[0], box[3] - box[1]])
    for number, (a, b, c) in enumerate(plane.drawn_lines.tolist()):
        ends = _clip_line((a, b, c), box)
        if ends is None:
            continue
        flips = [flip for flip in plane.boundaries if flip.line == number]
        better = [
            int(np.sign(plane.labels[f.first] - plane.labels[f.second])) * f.sign for f in flips
        ]
        axes.plot(*ends.T, color=INK, linewidth=2.0 if any(better) else 0.7, solid_capstyle="butt")
        normal = np.array([a, b]) * size**2  # at right angles as it is drawn
        normal = ARROW * normal / np.linalg.norm(normal / size)
        for side in sorted(set(better) - {0}):
            feet = ends[0] + np.linspace(0.03, 0.97, 48)[:, None] * (ends[1] - ends[0])
            heads = feet + side * normal
            apart = (heads[:, None] - taken) / size if len(taken) else np.ones((len(heads), 1, 2))
            place = int(np.argmax(np.hypot(*np.moveaxis(apart, -1, 0)).min(axis=1)))
            arrow: Any = {"arrowstyle": "-|>", "color": INK, "lw": 1.2, "shrinkA": 0, "shrinkB": 0}
            axes.annotate("", xy=tuple(heads[place]), xytext=tuple(feet[place]), arrowprops=arrow)
            taken = np.concatenate((taken, heads[place : place + 1]))
        text = ", ".join(f"{names[flip.first]}/{names[flip.second]}" for flip in flips)
        right = ends[:, 0] >= box[2] - 1e-9 * size[0]
        top = ends[:, 1] >= box[3] - 1e-9 * size[1]
        # The other two sides of the box have the numbers of the axes.
        near = int(np.argmax(right | top))
        away = ends[near] - ends[1 - near]
        spot = ends[near] + 0.035 * away / np.linalg.norm(away / size)
        style: Any = {"color": BLUE, "fontsize": 9, "ha": "center", "va": "center"}
        axes.text(float(spot[0]), float(spot[1]), text, clip_on=False, parse_math=False, **style)


def _clip_line(
    line: tuple[float, float, float], box: tuple[float, float, float, float]
) -> Floats | None:
    """The two points where a line leaves a box; None if it does not meet it."""
    a, b, c = line
    points = []
    for place in (0, 2):
        if b:
            y = -(a * box[place] + c) / b
            if box[1] <= y <= box[3]:
                points.append((box[place], y))
        if a:
            x = -(b * box[place + 1] + c) / a
            if box[0] <= x <= box[2]:
                points.append((x, box[place + 1]))
    if len(points) < 2:
        return None
    ordered = sorted(points)
    return np.array([ordered[0], ordered[-1]])


def _corners(plane: Plane) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y, _ in plane.vertices]


def _write_rankings(
    axes: Axes, plane: Plane, names: Sequence[str], box: tuple[float, float, float, float]
) -> list[tuple[float, float]]:
    """The ranking in the middle of each cell, smaller where the cell is small; where they stand."""
    written = []
    size = np.array([box[2] - box[0], box[3] - box[1]])
    for cell in plane.cells:
        corners = plane.polygon(cell.number, box)
        if len(corners) < 3:
            continue
        middle, room = _find_interior_point(corners / size)
        x, y = (middle * size).tolist()
        written.append((x, y))
        text = "".join(names[document] for document in cell.rankings[0])
        fontsize = float(np.clip(300 * room, 4.5, 10))
        axes.text(x, y, text, fontsize=fontsize, ha="center", va="center", parse_math=False)
    return written


def _find_interior_point(corners: Floats) -> tuple[Floats, float]:
    """A point of a convex polygon that is far from its sides, and how far."""
    low, high = corners.min(axis=0), corners.max(axis=0)
    best, room = corners.mean(axis=0), -1.0
    following = np.roll(corners, -1, axis=0)
    along = following - corners
    length = np.hypot(*along.T)
    keep = length > 1e-12
    start, along, length = corners[keep], along[keep], length[keep]
    for _ in range(3):  # ever finer grids around the best point so far
        xs, ys = (np.linspace(low[axis], high[axis], 25) for axis in range(2))
        points = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
        apart = points[:, None] - start
        distance = (along[:, 0] * apart[..., 1] - along[:, 1] * apart[..., 0]) / length
        distance = distance.min(axis=1)
        place = int(distance.argmax())
        if distance[place] > room:
            best, room = points[place], float(distance[place])
        step = (high - low) / 12
        low, high = best - step, best + step
    return best, max(room, 0.0)
