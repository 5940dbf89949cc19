"""Every public name is what it says, also after every submodule has been imported."""

from __future__ import annotations

import importlib
import pkgutil

import rankgauge


def test_importing_every_submodule_shadows_no_public_name() -> None:
    before = {name: getattr(rankgauge, name) for name in rankgauge.__all__}
    for module in pkgutil.walk_packages(rankgauge.__path__, "rankgauge."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    assert {name: getattr(rankgauge, name) for name in rankgauge.__all__} == before


def test_every_registered_measure_is_a_public_name() -> None:
    from rankgauge.measures import entries

    for name, entry in entries().items():
        if type(entry).__module__.startswith("rankgauge."):
            assert getattr(rankgauge, name) is entry
