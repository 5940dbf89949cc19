"""Each option of the command line is declared once, and is the same thing in all commands."""

from __future__ import annotations

import ast
from pathlib import Path

import click
import pytest

import rankgauge.cli
import rankgauge_studies
from command_calls import COMMANDS
from command_line import called
from rankgauge.cli.commands import commands as registry
from rankgauge.cli.numbers import Decimal, WholeNumber

SOURCES = sorted(
    [
        *Path(rankgauge.cli.__file__).parent.glob("*.py"),
        *Path(str(rankgauge_studies.__file__)).parent.rglob("*.py"),
    ]
)


def declared(source: str) -> list[str]:
    """The option strings in all calls of `option`, such as -m and --measure."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    texts = [
        argument.value
        for call in calls
        if ast.unparse(call.func) in ("click.option", "option")
        for argument in call.args
        if isinstance(argument, ast.Constant)
    ]
    return [text for text in texts if text.startswith("-")]


def test_no_option_is_declared_twice() -> None:
    places: dict[str, list[str]] = {}
    for path in SOURCES:
        for option in declared(path.read_text(encoding="utf-8")):
            places.setdefault(option, []).append(path.name)
    assert {"-m", "--measure", "--level", "--seed", "--output", "--sets"} <= set(places)
    assert {option: files for option, files in places.items() if len(files) > 1} == {}


def test_an_option_is_the_same_thing_in_all_commands() -> None:
    uses: dict[str, dict[str, list[str]]] = {}
    names = []
    for name, command in COMMANDS.items():
        names.append(name)
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                meaning = (
                    parameter.name,
                    type(parameter.type),
                    parameter.opts,
                    parameter.is_flag,
                    parameter.multiple,
                    parameter.nargs,
                )
                for option in parameter.opts:
                    uses.setdefault(option, {}).setdefault(str(meaning), []).append(name)
    assert {name.split()[0] for name in names} == set(registry.names())
    assert {len(each) for each in uses["--measure"].values()} == {16}
    several = {option: each for option, each in uses.items() if len(each) > 1}
    # one way to fuse, or several methods to train; one depth to learn from, or several to compare; one
    # run that a page starts with, or several to compare with; one measure to forecast, and one learner,
    # or several to study; the votes on one file of texts, or those on each data set of a study
    assert set(several) == {
        *("--method", "--depth", "--baseline", "--target", "--learner"),
        "--preferences",
    }


def test_the_scan_sees_every_way_an_option_is_declared() -> None:
    """What click knows of the commands is what stands in their source."""
    known = {
        option
        for command in COMMANDS.values()
        for parameter in command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts
    }
    assert known == {option for path in SOURCES for option in declared(path.read_text("utf-8"))}


def test_the_numbers_of_options_have_plain_digits() -> None:
    numeric = [
        (name, parameter)
        for name, command in COMMANDS.items()
        for parameter in command.params
        if isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType)
    ]
    assert len(numeric) > 50
    for name, parameter in numeric:
        assert isinstance(parameter.type, WholeNumber | Decimal), f"{name} {parameter.name}"
        for text in ("٣", "３", "1_000"):
            with pytest.raises(click.BadParameter, match="the digits 0 to 9"):
                parameter.type.convert(text, parameter, None)


@pytest.mark.parametrize(
    "command",
    [
        "fuse a b --method wsum --weight 1_0,2",
        "distance a b --grades 0,٣",
        "space grid a --fix ٥=0.3",
        "space grid a --fix 5=0.3_1",
    ],
)
def test_the_numbers_in_lists_have_plain_digits(command: str) -> None:
    assert called(*command.split()).code == 2
