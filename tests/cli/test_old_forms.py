"""Options, values and commands of the last release still work, with a note that names the new form.

Old names in Python are in `tests/test_public_names.py`, old modules in `tests/core/test_moved.py`, old
saved scores in `tests/scores/test_saved.py`.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import rankgauge as rg
from command_calls import CALLS, COMMANDS, write_inputs
from command_line import Call
from rankgauge.cli.groups import HeadedOption
from rankgauge.core.policies import current_words
from rankgauge.core.results import Result
from rankgauge.errors import OLD_FORMS_END as END, OldFormWarning
from rankgauge.forecast import JudgingDepth, Plan, TwoPhase
from rankgauge.forecast.forecast_results import Forecast
from rankgauge.fusion.tuned import Tuning

QRELS = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {"d": 1}}
RUNS = {
    "one": {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 1}},
    "two": {"q1": {"b": 2.0, "a": 1.0}, "q2": {"x": 1.0}},
}

OLD_OPTIONS = sorted(
    (name, option.old, option.new, option.is_flag)
    for name, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, HeadedOption) and option.old
)


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_inputs(tmp_path)
    monkeypatch.chdir(tmp_path)


def test_old_forms_end_with_the_next_minor_version() -> None:
    major, minor, _ = rg.__version__.split(".")
    assert f"{major}.{int(minor) + 1}.0" == END


def test_there_are_old_options() -> None:
    assert {old for _, old, _, _ in OLD_OPTIONS} == {
        *("--condensed", "--per-topic", "--topics", "--test-topics", "--deep-topics"),
        "--topic-texts",
    }


@pytest.mark.parametrize(("name", "old", "new", "is_flag"), OLD_OPTIONS)
@pytest.mark.usefixtures("inputs")
def test_an_old_option_is_the_new_one_with_a_note(
    name: str, old: str, new: str, is_flag: bool, rankgauge: Call
) -> None:
    # With --no-such, nothing is done but reading the options.
    value = [] if is_flag or "=" in new else ["3"]
    shown = new.replace("=", " ")
    with pytest.warns(
        OldFormWarning, match=f"^{old} is now {shown}; the old form works until rankgauge {END}$"
    ):
        outcome = rankgauge(*CALLS[name].split(), old, *value, "--no-such")
    assert "--no-such" in outcome.err
    assert outcome.code == 2


@pytest.mark.usefixtures("inputs")
def test_condensed_gives_the_numbers_of_unjudged_condensed(rankgauge: Call) -> None:
    call = [*CALLS["evaluate"].split(), "--signature", "--format", "csv"]
    new = rankgauge(*call, "--unjudged", "condensed")
    with pytest.warns(OldFormWarning, match="--unjudged condensed"):
        old = rankgauge(*call, "--condensed")
    assert new.code == 0
    assert old.out == rankgauge(*call, "-J").out == new.out != rankgauge(*call).out
    assert "|unjudged=condensed|" in new.out


@pytest.mark.usefixtures("inputs")
@pytest.mark.parametrize("name", ["compare", "assess", "tune", "space curve"])
def test_missing_intersection_is_missing_skip(name: str, rankgauge: Call) -> None:
    new = rankgauge(*CALLS[name].split(), "--missing", "skip")
    with pytest.warns(OldFormWarning, match="^--missing intersection is now --missing skip;"):
        old = rankgauge(*CALLS[name].split(), "--missing", "intersection")
    assert (old.code, old.out) == (new.code, new.out)


@pytest.mark.usefixtures("inputs")
def test_an_old_name_of_a_study_finds_it(rankgauge: Call) -> None:
    with pytest.warns(OldFormWarning, match="^study optimisation is now study optimization;"):
        assert rankgauge("study", "optimisation", "--help").code == 0


def test_notes_on_old_forms_are_printed(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q 0 a 1\n")
    (tmp_path / "a.run").write_text("q Q0 a 1 1 t\n")
    command = [sys.executable, "-m", "rankgauge", "evaluate", "qrels.txt", "a.run", "--condensed"]
    result = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert result.stderr.startswith("note: --condensed is now --unjudged condensed; the old form")


def test_old_values_in_python() -> None:
    scores = rg.evaluate(QRELS, RUNS, "RR")
    with pytest.warns(OldFormWarning, match="'intersection' is now 'skip'"):
        old = rg.compare(scores, missing="intersection")  # type: ignore[arg-type]
    assert old.difference.tolist() == rg.compare(scores, missing="skip").difference.tolist()
    with pytest.warns(OldFormWarning, match="'neighbours' is now 'neighbors'"):
        rg.settled(QRELS, RUNS, "P@1", pairs="neighbours")  # type: ignore[arg-type]


def test_old_parameters_in_python() -> None:
    with pytest.warns(OldFormWarning, match=r"detectable_difference\(topics=...\) is now"):
        old = rg.detectable_difference(sd=0.1, topics=50)  # type: ignore[call-arg]
    assert old == rg.detectable_difference(sd=0.1, queries=50)
    with pytest.warns(OldFormWarning, match=r"rbo\(p=...\) is now rbo\(persistence=...\)"):
        overlap = rg.rbo(["a", "b"], ["b", "a"], p=0.5)  # type: ignore[call-arg]
    assert overlap == rg.rbo(["a", "b"], ["b", "a"], 0.5)
    with pytest.raises(TypeError, match="got 'queries' twice"):
        rg.detectable_difference(sd=0.1, topics=50, queries=50)  # type: ignore[call-arg]


@pytest.mark.parametrize("kind", [Tuning, TwoPhase, Plan, JudgingDepth, Forecast])
def test_old_attributes_of_results(kind: type[Result]) -> None:
    assert kind._renamed
    for old, new in kind._renamed.items():
        result: Any = object.__new__(kind)
        if not callable(getattr(kind, new, None)):
            vars(result)[new] = "value"
        with pytest.warns(
            OldFormWarning, match=f"^{kind.__name__}.{old} is now {kind.__name__}.{new};"
        ):
            assert getattr(result, old) == getattr(result, new)
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            result.nothing  # noqa: B018


def test_signatures_are_in_the_words_of_options() -> None:
    policies = rg.evaluate(QRELS, RUNS, "RR", precision="single").policies
    assert (policies.ties, policies.precision) == ("docno", "single")
    old = {"ties": "docno-desc", "scores": "f32+f64", "missing": "zero"}
    assert current_words(old) == {"ties": "docno", "precision": "single+double", "missing": "zero"}
