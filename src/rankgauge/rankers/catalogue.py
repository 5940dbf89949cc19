"""What methods there are, and what their settings mean, as tables."""

from __future__ import annotations

from rankgauge.core.tables import Cell, Table
from rankgauge.rankers.registry import METHODS, find_method, methods
from rankgauge.rankers.settings import DEFAULT, RANKLIB


def methods_table() -> Table:
    """A row for each method: what it is, what it optimises, and the paper that describes it."""
    rows = tuple(
        (name, method.summary, method.all_objectives(), method.source)
        for name, method in methods().items()
    )
    notes = ("rankgauge ltr methods NAME lists the settings of a method", *METHODS.broken)
    return Table(("method", "what it is", "optimises", "source"), rows, notes)


def settings_table(name: str) -> Table:
    """A row for each setting of a method: its values in the presets, what it takes, what it means."""
    rows: list[tuple[Cell, ...]] = []
    for setting, declared in find_method(name).parameters().items():
        presets = declared.metadata.get("presets")
        usual = declared.default if presets is None else presets[DEFAULT]
        classical = usual if presets is None else presets.get(RANKLIB, usual)
        if setting == "preset":
            usual, classical = DEFAULT, RANKLIB
        kind, meaning = declared.metadata.get("kind"), str(declared.metadata.get("meaning", ""))
        takes = "" if kind is None else kind.description
        rows.append((setting, str(usual), str(classical), takes, meaning))
    notes = [f"{origin}: optimises {text}" for origin, text in objective_rows(name)]
    return Table(("setting", DEFAULT, RANKLIB, "takes", "what it means"), tuple(rows), tuple(notes))


def objective_rows(name: str) -> list[tuple[str, str]]:
    """What a method makes best in each preset: where it comes from, and the words; one row if the
    method fixes it."""
    method = find_method(name)
    made = (method(preset=preset).training_objective() for preset in (DEFAULT, RANKLIB))
    return list(dict.fromkeys((objective.origin, objective.text) for objective in made))
