"""What a plug-in registers is known to the options of commands by its name."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import rankgauge as rg
from command_calls import write_inputs
from command_line import Call, assert_refused, records
from rankgauge.comparison.significance import CORRECTIONS, TESTS
from rankgauge.core.plugins import failing_line
from rankgauge.core.registry import Registry
from rankgauge.fusion.methods import METHODS
from rankgauge.fusion.normalizations import NORMALIZATIONS
from rankgauge.text.registry import METRICS

PLUGIN = """
import numpy as np
from rankgauge.comparison.significance import CORRECTIONS, TESTS, Outcome, Pairs, Test
from rankgauge.core.checks import Number
from rankgauge.fusion import methods, normalizations
from rankgauge.fusion.methods import FusionParameter

def certain(pairs):
    zero = np.zeros(len(pairs.first))
    return Outcome(zero + 0.01, zero, zero, zero)

def thrice(p):
    return p * 3

TESTS.register(Test(certain, "always sure", "none", "none"), "certain")
CORRECTIONS.register(thrice, "thrice")

@normalizations.register("halved", "x / 2", "Half of each score.")
def halved(pool):
    return pool.scores / 2

@methods.register(
    "times", "scores", "factor Σ s", "A multiple of the sum.", "this test",
    parameters=(FusionParameter("factor", Number(0), 2.0, "what the sum is multiplied by."),),
)
def times(lists, factor):
    return factor * np.nansum(lists.values, axis=1)
"""
REGISTRIES: list[Registry[object]] = [
    TESTS, CORRECTIONS, METHODS, NORMALIZATIONS, METRICS,
]  # type: ignore[list-item]  # fmt: skip
OWN = ("--plugin", "own.py")
JUDGED = ("qrels.txt", "good.run", "fair.run", "-m", "P@2")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a plug-in and small files. What is registered is forgotten after the test."""
    for registry in REGISTRIES:
        monkeypatch.setattr(registry, "entries", dict(registry.entries))
        monkeypatch.setattr(registry, "broken", [])
    write_inputs(tmp_path)
    (tmp_path / "own.py").write_text(PLUGIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_compare_takes_a_test_and_a_correction_of_a_plugin(rankgauge: Call) -> None:
    asked = ("--test", "certain", "--correction", "thrice")
    done = rankgauge("compare", *JUDGED, *asked, *OWN)
    (row,) = records(done.out)
    assert (row["p"], row["p_corrected"]) == ("0.01", "0.03")
    assert "always sure, two-sided" in done.err
    assert "the correction thrice over 1 comparison" in done.err


def test_assess_takes_a_test_and_a_correction_of_a_plugin(rankgauge: Call) -> None:
    asked = ("--test", "certain", "--correction", "thrice", "--splits", 4, "--json", "all.json")
    done = rankgauge("assess", *JUDGED, "-m", "RR", *asked, *OWN)
    assert done.code == 0, done.err
    assert [row["power"] for row in records(done.out)] == ["1.0", "1.0"]
    written = json.loads(Path("all.json").read_text())
    assert {written["options"]["test"], written["options"]["correction"]} == {"certain", "thrice"}


def test_fuse_takes_a_method_its_parameter_and_a_normalization_of_a_plugin(rankgauge: Call) -> None:
    asked = (
        "--method",
        "times",
        "--setting",
        "factor=10",
        "--normalize",
        "halved",
        "--absent",
        "zero",
    )
    fused = rankgauge("fuse", "good.run", "fair.run", *asked, *OWN)
    assert (fused.code, fused.err) == (0, "")
    plain = rankgauge("fuse", "good.run", "fair.run", "--normalize", "none", "--absent", "zero")
    scores, expected = (
        {tuple(line.split()[0:3:2]): float(line.split()[4]) for line in out.splitlines()}
        for out in (fused.out, plain.out)
    )
    assert scores == pytest.approx({key: 5 * value for key, value in expected.items()}, rel=1e-6)
    assert_refused(
        rankgauge("fuse", "good.run", "fair.run", *asked[:3], "factor=-1", *OWN),
        "factor=-1, expected a number from 0",
    )


WRONG = {
    "a method without a parameter": (
        "fuse",
        "k = FusionParameter('k', Number(), 1, '')\n"
        "@methods.register('bad', 'ranks', 'x', 'y', 'z', parameters=(k,))\n"
        "def bad(lists): return lists.ranks[:, 0]",
        "the function of method 'bad' must accept lists, k: got an unexpected keyword argument 'k'",
    ),
    "a method that takes something else": (
        "fuse",
        "@methods.register('bad', 'rank', 'x', 'y', 'z')\ndef bad(lists): return lists.ranks[:, 0]",
        "takes='rank', expected one of scores, ranks",
    ),
    "a method of two columns": (
        "fuse",
        "@methods.register('bad', 'ranks', 'x', 'y', 'z')\ndef bad(lists): return lists.ranks",
        "method='bad' gave shape (",
    ),
    "a method without a number": (
        "fuse",
        "@methods.register('bad', 'ranks', 'x', 'y', 'z')\n"
        "def bad(lists): return lists.ranks[:, 0] + np.nan",
        "is nan, expected a number\n",
    ),
    "a normalization of one column": (
        "normalize",
        "@normalizations.register('bad', 'x', 'y')\ndef bad(pool): return pool.scores[:, 0]",
        "a score for each document and run",
    ),
    "a function in place of a test": (
        "test",
        "def bad(pairs): return pairs\nTESTS.register(bad, 'bad')",
        "bad is not a significance test, expected a Test, as in Test(bad, ...)",
    ),
    "a test without an outcome": (
        "test",
        "def bad(pairs): return 0.5\nTESTS.register(Test(bad, '', '', ''), 'bad')",
        "bad gave float, expected an Outcome",
    ),
    "a test of one number": (
        "test",
        "def bad(pairs): return Outcome(0.5, 0, 0, 0)\nTESTS.register(Test(bad, '', '', ''), 'bad')",
        "bad: p has shape (), expected one number per pair",
    ),
    "a correction of one number": (
        "correction",
        "def bad(p): return 0.5\nCORRECTIONS.register(bad, 'bad')",
        "correction='bad' gave shape (), expected (1,): one for each p-value",
    ),
}
CALLS = {
    "fuse": ("fuse", "good.run", "fair.run", "--method", "bad"),
    "normalize": ("fuse", "good.run", "fair.run", "--normalize", "bad"),
    "test": ("compare", *JUDGED, "--test", "bad"),
    "correction": ("compare", *JUDGED, "--correction", "bad"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_a_plugin_does_wrong_is_said(what: str, rankgauge: Call) -> None:
    call, code, message = WRONG[what]
    Path("bad.py").write_text(PLUGIN.partition("def ")[0] + code)
    assert_refused(rankgauge(*CALLS[call], "--plugin", "bad.py"), message)


def test_an_error_in_a_plugin_is_no_fault_of_ours(
    rankgauge: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = "def bad(pairs):\n    return pairs.value\nTESTS.register(Test(bad, '', '', ''), 'bad')\n"
    path = Path("bad.py").resolve()
    path.write_text(f"from rankgauge.comparison.significance import TESTS, Test\n{bad}")
    asked = (*CALLS["test"], "--plugin", "bad.py")
    fails = (
        f"{path}:3: the plug-in fails: AttributeError: 'Pairs' object has no attribute 'value'. "
    )
    assert_refused(rankgauge(*asked), fails)
    monkeypatch.setenv("RANKGAUGE_DEBUG", "1")
    with pytest.raises(AttributeError):
        rankgauge(*asked)


def test_an_error_in_an_installed_package_is_no_fault_of_ours(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(folder)
    (folder / "offers_bad.py").write_text("def bad():\n    raise KeyError(1)\n")
    information = folder / "offers-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: offers\nVersion: 1.0\n")
    with pytest.raises(KeyError) as raised:
        importlib.import_module("offers_bad").bad()
    assert failing_line(raised.value) is None
    (information / "entry_points.txt").write_text("[rankgauge.commands]\nx = offers_bad\n")
    assert failing_line(raised.value) == f"{folder / 'offers_bad.py'}:2"


def test_tune_and_space_take_a_normalization_of_a_plugin(rankgauge: Call) -> None:
    few = ("--repeats", 2, "--samples", 20, "--folds", 3)
    done = rankgauge("tune", *JUDGED, *few, "--normalize", "halved", *OWN)
    assert "scores are normalized by halved" in done.err
    every = rankgauge("tune", *JUDGED, *few, "--normalize", "all")  # it is registered by now
    assert "halved 0." in every.err
    done = rankgauge("space", "curve", "--qrels", *JUDGED, "--normalize", "halved", *OWN)
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("compare", *JUDGED, "--test", "certan"), "test 'certan'; did you mean certain"),
        (("compare", *JUDGED, "--correction", "trice"), "no correction 'trice'; did you mean thrice?"),
        (("compare", *JUDGED, "--correction", "nine"), "no correction 'nine'; did you mean none?"),
        (("fuse", "good.run", "fair.run", "--method", "timed"), "'timed'; did you mean times"),
        (("tune", *JUDGED, "--normalize", "halve"), "no normalization 'halve'; did you mean halved"),
    ],
)  # fmt: skip
def test_a_wrong_name_gets_the_nearest_names_those_of_plugins_too(
    words: tuple[str, ...], message: str, rankgauge: Call
) -> None:
    assert_refused(rankgauge(*words, *OWN), message)


def test_names_are_taken_without_regard_to_case(rankgauge: Call) -> None:
    usual = rankgauge("compare", *JUDGED, "--test", "tukey", "--correction", "bh")
    assert rankgauge("compare", *JUDGED, "--test", "Tukey", "--correction", "BH") == usual


@pytest.mark.parametrize("words", [("correction", "none"), ("normalization", "all")])
def test_a_plugin_cannot_take_a_word_of_an_option(words: tuple[str, str]) -> None:
    kind, name = words
    registry: Registry[object] = {"correction": CORRECTIONS, "normalization": NORMALIZATIONS}[kind]  # type: ignore[assignment]
    with pytest.raises(rg.RankgaugeError, match=f"a {kind} cannot be named '{name}'"):
        registry.register(next(iter(registry.entries.values())), name)


GROUPS = {
    "rankgauge.tests": TESTS,
    "rankgauge.corrections": CORRECTIONS,
    "rankgauge.fusion": METHODS,
    "rankgauge.normalizations": NORMALIZATIONS,
    "rankgauge.metrics": METRICS,
    "rankgauge.text": METRICS,
}


@pytest.mark.parametrize("offering", GROUPS)
def test_an_installed_package_offers_them_in_a_group_of_entry_points(
    offering: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Point:
        value = "mine"

        def load(self) -> None:
            raise ImportError(f"{offering} was loaded")

    registry: Registry[object] = GROUPS[offering]  # type: ignore[assignment]
    monkeypatch.setattr(registry, "discovered", False)
    points = {offering: [Point()]}
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: points.get(group, []))
    with pytest.raises(rg.RankgaugeError, match=f"mine cannot be loaded: {offering} was loaded"):
        registry.find("no-such-name")
    assert len(registry.broken) == 1


def test_python_finds_what_an_installed_package_offers(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        value = "own"

        def load(self) -> None:
            rg.measures.load_plugin("own.py")

    for registry in (TESTS, METHODS):
        monkeypatch.setattr(registry, "discovered", False)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda group: [Point()])
    scores = rg.Scores.from_matrix([[0.1, 0.2], [0.3, 0.5]], runs=["a", "b"], measure="AP")
    assert rg.compare(scores, test="certain").p.tolist() == [[0.01]]
    fused = rg.fuse([{"q": {"a": 3.0}}, {"q": {"a": 5.0}}], "times", normalize="halved", factor=1)
    assert fused.scores.tolist() == [4.0]
