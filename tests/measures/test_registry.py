"""Measures of one's own: registered in ten lines, found by name everywhere."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import rankgauge as rg
from rankgauge.measures import registry

PLUGIN = """
import rankgauge as rg

class FirstTwo(rg.measures.Binary):
    name = "FirstTwo"
    summary = "Whether both of the first two documents are relevant."
    formula = "FirstTwo = [|relevant in the top 2| = 2]"
    cutoffs = "none"
    examples = ("FirstTwo",)

    def _score(self, lists):
        return (lists.top(2).count(lists.top(2).relevant(self.rel)) == 2).astype(float)

rg.measures.register(FirstTwo())
"""


@pytest.fixture
def clean_registry() -> object:
    registry.MEASURES.load()  # modules register once, so what they register must be kept
    entries, aliases = dict(registry.MEASURES.entries), dict(registry.MEASURES.aliases)
    yield
    registry.MEASURES.entries.clear()
    registry.MEASURES.entries.update(entries)
    registry.MEASURES.aliases.clear()
    registry.MEASURES.aliases.update(aliases)


@pytest.fixture
def plugin(tmp_path: Path, clean_registry: object) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    return path


def test_a_plugin_measure_answers_like_any_other(plugin: Path) -> None:
    rg.measures.load_plugin(plugin)
    measure = rg.parse("FirstTwo(rel=2)")
    assert isinstance(measure, rg.Measure)
    assert measure.score([2, 3, 0]) == 1.0
    assert measure.score([2, 1, 0]) == 0.0
    assert measure.ideal([2, 2]) == 1.0
    assert measure.worst([2, 2, 0]) == 0.0
    assert measure.bounds([-1, 2]) == (0.0, 1.0)
    assert rg.evaluate({"q": {"a": 2}}, {"q": {"a": 1.0}}, measure).mean()["run"][measure] == 0.0


def test_loading_a_plugin_twice_is_no_fault(plugin: Path) -> None:
    rg.measures.load_plugin(plugin)
    rg.measures.load_plugin(plugin)


def test_an_installed_package_offers_measures_as_entry_points(
    plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Point:
        value = "mine"

        def load(self) -> None:
            rg.measures.load_plugin(plugin)

    monkeypatch.setattr(registry.MEASURES, "discovered", False)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point()])
    assert str(rg.parse("FirstTwo")) == "FirstTwo"


def test_a_taken_name_is_refused(clean_registry: object) -> None:
    class Other(rg.Measure):
        name = "AP"

    with pytest.raises(rg.MeasureError, match=r"taken by .*AveragePrecision"):
        rg.measures.register(Other())


def test_names_that_cannot_be_are_refused(clean_registry: object) -> None:
    for bad in ("", "a b", "run", "missing", "é"):

        class Named(rg.Measure):
            name = bad

        with pytest.raises(rg.MeasureError, match="cannot be named"):
            rg.measures.register(Named())
    with pytest.raises(rg.MeasureError, match=r"register\(Named\(\)\)"):
        rg.measures.register(Named)  # type: ignore[type-var]


def test_a_broken_installed_plugin_is_named_where_a_measure_is_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Point:
        value = "theirs"

        def load(self) -> None:
            raise ImportError("no such thing")

    monkeypatch.setattr(registry.MEASURES, "discovered", False)
    monkeypatch.setattr(registry.MEASURES, "broken", [])
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point()])
    for _ in range(2):
        with pytest.raises(rg.MeasureError, match="theirs cannot be loaded: no such thing"):
            rg.parse("Theirs@10")
    assert "AP" in registry.entries()


def test_a_measure_that_fails_is_named(clean_registry: object) -> None:
    class Broken(rg.Measure):
        name = "Broken"

        def _score(self, lists):  # type: ignore[no-untyped-def]
            return [1.0] * 99 if lists.labels.size else 1 / 0

    with pytest.raises(rg.MeasureError, match="one number a list"):
        rg.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, Broken())
    with pytest.raises(rg.MeasureError, match="Broken fails: ZeroDivisionError"):
        rg.evaluate({"q": {"a": 1}}, {"q": {}}, Broken())


@pytest.mark.parametrize("content", ["1/0", "import nothing_of_this_name", "def ("])
def test_a_broken_plugin_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(content)
    with pytest.raises(rg.MeasureError, match=r"broken\.py: the plug-in fails"):
        rg.measures.load_plugin(path)
    with pytest.raises(rg.MeasureError, match="no such plug-in"):
        rg.measures.load_plugin(tmp_path / "missing.py")


def test_a_measure_without_formulas_still_answers_by_enumeration(clean_registry: object) -> None:
    class Odd(rg.Measure):
        name = "Odd"

        def _score(self, lists):  # type: ignore[no-untyped-def]
            return (lists.count(lists.labels == 1) % 2).astype(float)

    odd = Odd()
    assert odd.bounds([1, -1, -1], max_grade=2) == (0.0, 1.0)
    with pytest.raises(rg.Unsupported, match="too many to enumerate"):
        odd.bounds([-1] * 40)
    assert odd.expected([1, 0]) == 1.0
    assert (odd @ 1).expected([1, 0, 0, 0]) == 0.25
    assert odd.expected([1] * 9) == 1.0
    assert (odd @ 1).variance([1, 0, 0, 0]) == 0.1875


def test_where_there_are_too_many_orders_some_are_drawn(clean_registry: object) -> None:
    class First(rg.Measure):
        name = "First"

        def _score(self, lists):  # type: ignore[no-untyped-def]
            return (lists.count((lists.ranks == 1) & (lists.labels >= 1))).astype(float)

    judged = [1] * 10 + [0] * 30
    estimate = First().expected(judged)
    assert (estimate.samples, First().expected([1, 0]).samples) == (1000, 0)
    assert 0 < estimate.error < 0.02
    assert abs(estimate - 0.25) < 5 * estimate.error
    assert estimate == First().expected(judged)
    assert abs(First().variance(judged) - 0.1875) < 0.03
    assert pickle.loads(pickle.dumps(estimate)).error == estimate.error


def test_a_question_is_named_only_if_some_measure_answers_it() -> None:
    every = [entry for entry in registry.entries().values() if isinstance(entry, rg.Measure)]
    for question in every[0].answers():
        assert any(measure.answers()[question] != "no" for measure in every), question


def test_families_are_what_their_modules_register() -> None:
    registry.MEASURES.load()
    ours = {
        name: registry.MEASURES.origin(entry)
        for name, entry in registry.MEASURES.entries.items()
        if registry.MEASURES.origin(entry).startswith("rankgauge.measures.")
    }
    listed = {
        name: f"rankgauge.measures.{family}" for name, family in registry.MEASURES.homes.items()
    }
    assert {name: origin.rpartition(".")[0] for name, origin in ours.items()} == listed
