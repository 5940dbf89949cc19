"""Options, values and commands of the last release still work, with a note that names the new form.

Old names in Python are in `tests/test_public_names.py`, old modules in `tests/core/test_moved.py`, old
saved scores in `tests/scores/test_saved.py`.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from command_calls import CALLS, COMMANDS, write_inputs
from command_line import Call
from rankgauge.cli.groups import HeadedOption
from rankgauge.comparison.power import detectable
from rankgauge.comparison.significance import TESTS, Test
from rankgauge.core.checks import Integer
from rankgauge.core.policies import AppliedPolicies, Policies, current_words
from rankgauge.core.registry import Registry
from rankgauge.data.model import Ids
from rankgauge.data.scaling import Scaling
from rankgauge.errors import OLD_FORMS_END as END, OldFormWarning
from rankgauge.forecast import Forecaster, plan
from rankgauge.fusion.weights import run_space
from rankgauge.text.data.texts import Candidates, Texts

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
    with pytest.warns(OldFormWarning, match="^missing='intersection' is now missing='skip';"):
        old = rg.compare(scores, missing="intersection")  # type: ignore[arg-type]
    assert old.difference.tolist() == rg.compare(scores, missing="skip").difference.tolist()
    with pytest.warns(OldFormWarning, match="^pairs='neighbours' is now"):
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


OLD_MEMBERS = {
    "comparison.assessed.MeasureAssessment": "topics",
    "comparison.consistency.Splits": "topics trusted",
    "comparison.significance.Pairs": "topics",
    "comparison.significance.Test": "least_topics",
    "core.notes.Note": "said",
    "core.policies.AppliedPolicies": "scores said",
    "data.model.Ids": "numbered",
    "data.scaling.Scaling": "centre",
    "forecast.depth_results.JudgingDepth": "topics",
    "forecast.estimates.TwoPhase": "topics deep_topics",
    "forecast.forecast_results.Forecast": "topic_table",
    "forecast.forecaster.Forecaster": "topics_",
    "forecast.left_out.KindErrors": "topics",
    "forecast.plans.Plan": "topics",
    "forecast.tracks.Rows": "topics",
    "fusion.tuned.Tuning": "topics test_topics topic_table",
    "rankers.monitoring.Monitor": "kept stops",
    "rankings.tied_lists.TiedRankings": "over_groups in_order",
    "space.arrangements.Arrangement": "neighbours",
    "space.scorers.LinearScorer": "varying mean_by means_by",
    "space.trajectories.NoticedFlips": "seen wrong",
    "text.data.texts.Candidates": "words described",
    "text.data.texts.DrawnTexts": "described",
}
"""Attributes and methods of the last release, by class."""


@pytest.mark.parametrize(
    ("path", "old"), [(path, old) for path, names in OLD_MEMBERS.items() for old in names.split()]
)
def test_an_old_attribute_is_the_new_one_with_a_warning(
    path: str, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, _, name = path.rpartition(".")
    kind = getattr(importlib.import_module(f"rankgauge.{module}"), name)
    assert set(kind._renamed) == set(OLD_MEMBERS[path].split())
    new = kind._renamed[old]
    assert hasattr(kind, new) or new in kind.__dataclass_fields__
    monkeypatch.setattr(kind, new, "value", raising=False)
    result = object.__new__(kind)
    with pytest.warns(OldFormWarning, match=f"^{name}.{old} is now {name}.{new};"):
        assert getattr(result, old) == "value"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        result.nothing  # noqa: B018


def test_old_names_of_fields_in_constructors() -> None:
    texts = Texts(["a b"], ["a"], {"lead": ["b"]})
    candidates = texts.candidates()
    with pytest.warns(
        OldFormWarning, match=r"^Candidates\(words=...\) is now Candidates\(outputs="
    ):
        old: Any = Candidates(texts, words=("b",), of=candidates.of)  # type: ignore[call-arg]
    assert old.outputs == ("b",)
    with pytest.warns(
        OldFormWarning, match=r"^Scaling\(centre=...\) is now Scaling\(center=...\);"
    ):
        old = Scaling("z", False, centre=(0.0,), scale=(1.0,))  # type: ignore[call-arg]
    assert old == Scaling("z", False, (0.0,), (1.0,))
    saved = {"kind": "z", "per_query": False, "centre": [0.0], "scale": [1.0]}
    assert Scaling.from_dict(saved) == old
    with pytest.warns(OldFormWarning, match=r"^Test\(least_topics=...\)"):
        old = Test(TESTS["sign"].run, "", "", "", least_topics=2)  # type: ignore[call-arg]
    assert old.least_queries == 2
    with pytest.warns(OldFormWarning) as caught:
        old = AppliedPolicies(scores="f32")  # type: ignore[call-arg]
    assert old == AppliedPolicies(precision="single")
    assert [str(each.message).partition(";")[0] for each in caught] == [
        "AppliedPolicies(scores=...) is now AppliedPolicies(precision=...)",
        "precision='f32' is now precision='single'",
    ]
    with pytest.warns(
        OldFormWarning, match=r"^Registry\(group=...\) is now Registry\(groups=...\);"
    ):
        old = Registry("color", group="my.colors")  # type: ignore[call-arg]
    assert old.groups == ("my.colors",)
    with pytest.warns(OldFormWarning, match=r"^Ids\.in_text is now Ids\.from_text;"):
        ids = Ids.in_text(np.frombuffer(b"ab", np.uint8), np.array([1]), np.array([1]))
    assert ids.texts() == ["b"]


def test_old_names_of_fields_are_replaced() -> None:
    shallow = rg.Scores.from_matrix([[0.5, 0.7, 0.6, 0.4, 0.5]], runs=["a"], measure="AP")
    deep = rg.Scores.from_matrix([[0.4, 0.6]], runs=["a"], measure="AP", queries=["1", "2"])
    result: Any = plan(shallow, deep, width=0.1)
    with pytest.warns(OldFormWarning, match=r"^Plan\(topics=...\) is now") as caught:
        assert replace(result, topics=9).queries == 9
    assert caught[0].filename == __file__
    with pytest.warns(OldFormWarning, match=r"^widths\(deep_topics=...\) is now"):
        assert result.widths(deep_topics=3) == result.widths(3)
    with pytest.raises(TypeError, match=r"Plan has the fields .*, not nothing"):
        replace(result, nothing=9)


OLD_CALLS: dict[str, Callable[[rg.Scores], object]] = {
    "compare": lambda scores: rg.compare(scores, missing="intersection"),  # type: ignore[arg-type]
    "assess": lambda scores: rg.assess(scores, missing="intersection"),  # type: ignore[arg-type]
    "detectable": lambda scores: detectable(scores, missing="intersection"),  # type: ignore[arg-type]
    "tune": lambda _: rg.tune(QRELS, list(RUNS.values()), "RR", missing="intersection", folds=2),  # type: ignore[arg-type]
    "Policies": lambda _: Policies(missing="intersection"),  # type: ignore[arg-type]
    "evaluate": lambda _: rg.evaluate(QRELS, RUNS, "RR", missing="intersection"),  # type: ignore[arg-type]
    "run_space": lambda _: run_space(QRELS, list(RUNS.values()), missing="intersection"),  # type: ignore[arg-type]
    "Forecaster": lambda _: Forecaster(method="regression", subset="topics"),  # type: ignore[arg-type]
    "settled": lambda _: rg.settled(QRELS, RUNS, "P@1", pairs="neighbours"),  # type: ignore[arg-type]
    "a name": lambda _: importlib.import_module("rankgauge").topics_needed,
    "a name of a module": lambda _: importlib.import_module("rankgauge.core.checks").Whole,
}
"""Each has an old form in its line, and nowhere else."""


@pytest.mark.parametrize("name", OLD_CALLS)
def test_a_warning_points_at_the_line_of_the_user_and_comes_once(name: str) -> None:
    scores = rg.evaluate(QRELS, RUNS, ["RR", "P@1"])
    call = OLD_CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OldFormWarning)
        call(scores)
    (found,) = caught
    assert (found.filename, found.lineno) == (__file__, call.__code__.co_firstlineno)
    if name not in ("a name", "a name of a module"):
        assert re.match(r"(\w+)='\w+' is now \1='\w+';", str(found.message))


def test_a_script_shows_the_warning_by_default(tmp_path: Path) -> None:
    script = tmp_path / "old.py"
    script.write_text(
        "import rankgauge as rg\n\nrg.Evaluator({'q': {'d': 1}}, 'RR', missing='intersection')\n"
    )
    command = [sys.executable, str(script)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert shown.startswith(f"{script}:3: OldFormWarning: missing='intersection' is now missing=")


def test_an_import_of_an_old_module_is_the_line_of_the_user(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "rankgauge.checks", raising=False)
    with pytest.warns(OldFormWarning) as caught:
        from rankgauge.checks import Whole  # type: ignore[import-not-found]
    assert Whole is Integer
    assert {each.filename for each in caught} == {__file__}
    assert [str(each.message).split()[0] for each in caught] == [
        "rankgauge.checks",
        "rankgauge.core.checks.Whole",
    ]


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("core.checks", "Whole checked"),
        ("core.resampling", "Drawing all_signs"),
        ("distance.advice", "judged"),
        ("fusion.tuned", "inward"),
        ("measures.names", "UNCLEAR"),
        ("query_sets", "By"),
    ],
)
def test_old_names_that_plug_ins_import(module: str, names: str) -> None:
    home = importlib.import_module(f"rankgauge.{module}")
    for name in names.split():
        with pytest.warns(OldFormWarning, match=rf"^rankgauge\.{module}\.{name} is now"):
            getattr(home, name)


@pytest.mark.usefixtures("inputs")
def test_j_beside_another_way_to_treat_unjudged_documents_is_refused(rankgauge: Call) -> None:
    call = CALLS["evaluate"].split()
    refused = rankgauge(*call, "-J", "--unjudged", "nonrelevant")
    assert refused.code == 2
    assert "-J is --unjudged condensed, and there is also --unjudged nonrelevant" in refused.err
    assert rankgauge(*call, "-J", "--unjudged", "condensed").code == 0


def test_signatures_are_in_the_words_of_options() -> None:
    policies = rg.evaluate(QRELS, RUNS, "RR", precision="single").policies
    assert (policies.ties, policies.precision) == ("docno", "single")
    old = {"ties": "docno-desc", "scores": "f32+f64", "missing": "zero"}
    assert current_words(old) == {"ties": "docno", "precision": "single+double", "missing": "zero"}
