"""The tables and figures of the study of forecasts; those of the paper in its own layout."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, repeat
from string import ascii_uppercase
from typing import TYPE_CHECKING

from rankgauge import parse
from rankgauge.extending import Cell, Floats, Note, Table, note_texts
from rankgauge_studies.forecast.published import (
    NUMBER_IN_PAPER,
    PERCENTAGES,
    PRINTED,
    printed_r2,
)
from rankgauge_studies.forecast.quality import NUMBERS, StudyNumber, combine_numbers, estimate_of
from rankgauge_studies.forecast.study import ForecastProtocol, ForecastStudy, StudyCell, with_gain
from rankgauge_studies.verdicts import IntervalEstimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KEY_COLUMNS = ("target", "depth", "judgments", "split", "method")
COLUMNS = tuple(name for number in NUMBERS for name in (number, f"{number}_low", f"{number}_high"))
PAPER_METHODS = ("boosting", "regression")
"""The methods of the paper."""
OVERVIEW: Mapping[str, tuple[str, str, str]] = {
    "rows": ("pool", "rows", "r2"),
    "topics": ("pool", "topics", "r2"),
    "topics and runs": ("pool", "topics and runs", "r2"),
    "new kind": ("pool", "kind", "r2"),
    "new track": ("pool", "track", "r2"),
    "full": ("full", "topics", "r2"),
    "system τ": ("pool", "topics", "system_tau"),
    "system τ, new track": ("pool", "track", "system_tau"),
}
"""The columns of the overview: the judgments of features, a split and a number."""
OTHER_DATA = "printed: Muwanei et al. 2022 on TREC 2013 (A) and TREC 2014 (B), which are other data"
SYSTEM_CURVES = (
    "at depth", "shallow", "boosting", "boosting, one model", "regression", "pooled", "pooled, rich",
)  # fmt: skip


def slug(target: str) -> str:
    """A measure as part of the name of a file."""
    return re.sub(r"[^A-Za-z0-9]+", "-", target).strip("-")


def paper_target(asked: ForecastProtocol, target: str) -> str | None:
    """The target of the paper that a target of the study is, whatever its gain; None if none is."""
    same = (name for name in NUMBER_IN_PAPER if str(parse(with_gain(name, asked.gain))) == target)
    return next(same, None)


def _file(kind: str, asked: ForecastProtocol, target: str) -> str:
    printed = paper_target(asked, target)
    return f"{kind}-{slug(target) if printed is None else NUMBER_IN_PAPER[printed]}"


def cells_of(estimate: StudyNumber | None) -> tuple[Cell, Cell, Cell]:
    """A number and the ends of its interval; None where there is none."""
    value, low, high = (end if math.isfinite(end) else None for end in estimate_of(estimate))
    return value, low, high


def means_table(study: ForecastStudy) -> Table:
    """A row for each target, depth, kind of features, split and method: the means over tracks."""
    rows: list[tuple[Cell, ...]] = [
        (
            *cell[:5],
            cell.repeats,
            *(end for number in NUMBERS for end in cells_of(cell.mean(number))),
        )
        for cell in study.cells
    ]
    return Table((*KEY_COLUMNS, "repeats", *COLUMNS), tuple(rows), note_texts(study.notes))


def track_table(study: ForecastStudy) -> Table:
    """The same for each track."""
    rows: list[tuple[Cell, ...]] = [
        (*cell[:5], track, *(end for number in NUMBERS for end in cells_of(numbers.number(number))))
        for cell in study.cells
        for track, numbers in cell.tracks.items()
    ]
    return Table((*KEY_COLUMNS, "track", *COLUMNS), tuple(rows), note_texts(study.notes))


def overview(study: ForecastStudy, *, short: bool = False) -> Table:
    """Return a table of the greatest depth, with a row for each target and method.

    The columns are R² in each split, and τ over systems, as means over tracks. With `short`, a
    number and its interval share a cell.
    """
    depth = max(study.asked.depths)
    rows: list[tuple[Cell, ...]] = []
    for target, method in dict.fromkeys((cell.target, cell.method) for cell in study.cells):
        row: list[Cell] = [target, method]
        for judgments, split, number in OVERVIEW.values():
            cell = study.cell(target, depth, judgments, split, method)
            ends = cells_of(None if cell is None else cell.mean(number))
            row += [_plus_minus(*ends)] if short else ends
        rows.append(tuple(row))
    columns = OVERVIEW if short else _add_interval_columns(OVERVIEW)
    notes = [
        Note(
            f"all numbers are means over tracks, judged to depth {depth}; R² (1 − squared "
            "error / spread) except for system τ; 95% intervals, for other queries and splits"
        ),
        Note(
            "how the test rows were chosen: any rows; rows of new queries; rows of new "
            "queries and new runs; all rows of a kind of collection, or of a track, that is "
            "not in the training data",
            column="rows to new track",
        ),
        Note(
            "new queries, with features computed from all judgments, which is not cheap",
            column="full",
        ),
        Note("Kendall's τ of the mean scores of systems, on new queries", column="system τ"),
        Note("trained on other tracks, and evaluated on systems only", column="gupta"),
    ]
    return Table(("target", "method", *columns), tuple(rows), note_texts(notes))


def _track_labels(study: ForecastStudy) -> dict[str, str]:
    """The target tracks by name, with the letters that the paper gives to its test sets."""
    letters = chain(ascii_uppercase, repeat(""))
    return {name: f"{next(letters)}: {name}" for name in study.target_tracks}


def _add_interval_columns(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from (name, f"{name} low", f"{name} high")


def _plus_minus(value: Cell, low: Cell, high: Cell) -> str | None:
    if not isinstance(value, float):
        return None
    shown = f"{value:.2f}".replace("-", "−")
    if not isinstance(low, float) or not isinstance(high, float):
        return shown
    return f"{shown} ±{(high - low) / 2:.2f}"


def paper_tables(study: ForecastStudy) -> dict[str, Table]:
    """Return Tables 1 and 2 of the paper, and a table for every other target.

    Each table has R² of both methods at each depth in the paper's protocol, the test sets side by
    side, with the printed numbers.
    """
    lettered = _track_labels(study)
    made = {}
    for target in study.asked.targets:
        printed = paper_target(study.asked, target)
        tested = [name for name in study.target_tracks if name not in study.left_out[target]]
        rows: list[tuple[Cell, ...]] = []
        for method in PAPER_METHODS:
            for depth in study.asked.depths:
                cell = study.cell(target, depth, "full", "paper", method)
                ours = [end for name in tested for end in cells_of(_number(cell, name, "r2"))]
                printed_values = printed_r2(printed or "", method, depth)
                rows.append((method, depth, *ours, *printed_values))
        columns = [f"R² {lettered[name]}" for name in tested]
        head = ("method", "depth", *_add_interval_columns(columns), *PRINTED)
        notes = (
            f"R² of {target} in the paper's protocol, with features computed from all judgments",
            OTHER_DATA,
        )
        made[_file("table", study.asked, target)] = Table(head, tuple(rows), notes)
    return made


def _number(cell: StudyCell | None, track: str, number: str) -> StudyNumber | None:
    if cell is None or track not in cell.tracks:
        return None
    return cell.tracks[track].number(number)


def percentage_table(study: ForecastStudy) -> Table:
    """Return a table of the percentages in the paper's text.

    A percentage is by how much a method is ahead of another on each target track. Gupta's method is
    compared as the paper does it: τ over its systems with τ over rows.
    """
    names = {paper_target(study.asked, target): target for target in study.asked.targets}
    tested = study.target_tracks
    rows: list[tuple[Cell, ...]] = []
    for each in PERCENTAGES:
        if (target := names.get(each.target)) is None:
            continue
        place = (target, each.depth, "full")
        one = study.cell(*place, "paper", each.one)
        over_systems = each.other == "gupta"
        other = study.cell(*place, "track" if over_systems else "paper", each.other)
        ours: list[Cell] = []
        for name in tested:
            first = _number(one, name, each.number)
            second = _number(other, name, "system_tau" if over_systems else each.number)
            ours += cells_of(_percent_ahead(first, second))
        rows.append((target, each.depth, each.number, each.one, each.other, *ours, *each.printed))
    columns = [f"percent {name}" for name in _track_labels(study).values()]
    head = ("target", "depth", "number", "one", "other", *_add_interval_columns(columns))
    notes = (
        "percent: by how much the number of one exceeds the number of other, in the "
        "paper's protocol with features computed from all judgments",
        "gupta: its τ is over systems, as the paper compares it with its own τ over rows",
        OTHER_DATA,
    )
    return Table((*head, *PRINTED), tuple(rows), notes)


def _percent_ahead(one: StudyNumber | None, other: StudyNumber | None) -> StudyNumber | None:
    if one is None or other is None or not other.value:
        return None

    def percent(first: Floats, second: Floats) -> Floats:
        return 100 * (first - second) / abs(second)

    return combine_numbers(percent, [one, other])


def study_figures(study: ForecastStudy) -> dict[str, Figure]:
    """Draw Figures 1 and 2 of the paper, and a figure of τ over systems on new queries.

    Figures 1 and 2 have a panel for each test set. The figure of systems uses the judgments of the
    pool, and has a panel for each target.
    """
    from rankgauge.figures import depth_curves

    made = {}
    lettered = _track_labels(study)
    for target in study.asked.targets:
        panels = {
            lettered[track]: _paper_curves(study, target, track)
            for track in study.target_tracks
            if track not in study.left_out[target]
        }
        if any(panels.values()):
            title = f"Forecasts of {target} in the paper's protocol"
            made[_file("figure", study.asked, target)] = depth_curves(
                study.asked.depths, panels, title, "Correlation over rows"
            )
    panels = {target: _system_curves(study, target) for target in study.asked.targets}
    panels = {target: curves for target, curves in panels.items() if curves}
    if panels:
        title = "New queries, judgments of the pool"
        made["systems"] = depth_curves(
            study.asked.depths, panels, title, "Kendall's τ over systems"
        )
    return made


EstimateCurve = list[IntervalEstimate]


def _paper_curves(study: ForecastStudy, target: str, track: str) -> dict[str, EstimateCurve]:
    """τ by Equation 2 and ρ of both methods on a test set."""
    names = {"tau_a": "Kendall's τ", "rho": "Spearman's ρ"}
    curves = {}
    for method in PAPER_METHODS:
        cells = [study.cell(target, depth, "full", "paper", method) for depth in study.asked.depths]
        for number, shown in names.items():
            curves[f"{method}, {shown}"] = [
                estimate_of(_number(cell, track, number)) for cell in cells
            ]
    return _curves_with_values(curves)


def _system_curves(study: ForecastStudy, target: str) -> dict[str, EstimateCurve]:
    """τ over systems of each method; Gupta's is learned from other tracks."""
    curves = {}
    places = {name: ("topics", name) for name in SYSTEM_CURVES}
    places["gupta (other tracks)"] = ("track", "gupta")
    for label, place in places.items():
        cells = [study.cell(target, depth, "pool", *place) for depth in study.asked.depths]
        curves[label] = [
            estimate_of(None if cell is None else cell.mean("system_tau")) for cell in cells
        ]
    return _curves_with_values(curves)


def _curves_with_values(curves: Mapping[str, EstimateCurve]) -> dict[str, EstimateCurve]:
    return {
        name: curve for name, curve in curves.items() if any(math.isfinite(a.value) for a in curve)
    }
