"""Docstrings of public names are numpydoc: what one gets, each parameter, what returns, an example."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from rankgauge.core.lazy import stub_names
from test_public_names import PACKAGES

SECTIONS = (
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "See Also",
    "Notes",
    "Examples",
)
"""The sections that a docstring may have, in this order, as numpydoc has them."""
HEADING = re.compile(r"^(\S[^\n]*)\n-{3,}$", re.MULTILINE)
OTHER_DIALECT = re.compile(r"^[a-z_]+(, [a-z_]+)*: \S", re.MULTILINE)
"""`name: text`, outside a section."""


def documented() -> Iterator[tuple[str, Any]]:
    """The public functions and classes, each once, under its first name."""
    seen: set[int] = set()
    for package in PACKAGES:
        for name in stub_names_of(package):
            value = getattr(importlib.import_module(package), name)
            if (inspect.isroutine(value) or inspect.isclass(value)) and id(value) not in seen:
                seen.add(id(value))
                yield f"{package}.{name}", value


def stub_names_of(package: str) -> list[str]:
    importlib.import_module(package)
    return [*stub_names(package)[0]]


PUBLIC = dict(documented())


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring by their headings; what comes first is under ""."""
    first, *rest = HEADING.split(text)
    return {"": first} | dict(zip(rest[::2], rest[1::2], strict=True))


def described(section: str) -> dict[str, str]:
    """What a section of parameters says about each: its type and its meaning."""
    entries = re.split(r"^(?=\S)", section.strip("\n"), flags=re.MULTILINE)
    heads = [(entry.partition("\n")[0].partition(" : ")[0], entry) for entry in entries if entry]
    return {name.strip().lstrip("*"): entry for head, entry in heads for name in head.split(",")}


def parameters_of(value: Any) -> dict[str, inspect.Parameter]:
    try:
        signature = inspect.signature(value)
    except ValueError:
        return {}
    return {name: each for name, each in signature.parameters.items() if not name.startswith("_")}


def says_default(entry: str, default: Any) -> bool:
    """Whether what is said about a parameter has its default, or if that is nothing, that it can go."""
    words = ("default", "optional", "None") if default in (None, "", ()) else ("default",)
    return any(word in entry for word in words)


def raises(value: Any) -> bool:
    """Whether a function raises an error in its own body."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(value)))
    return any(isinstance(node, ast.Raise) and node.exc for node in ast.walk(tree))


@pytest.mark.parametrize("name", PUBLIC)
def test_docstrings_of_public_names_are_numpydoc(name: str) -> None:
    value = PUBLIC[name]
    assert value.__doc__, "no docstring"
    text = inspect.cleandoc(value.__doc__)
    summary, _, rest = text.partition("\n")
    assert summary.endswith("."), f"the first line is not one sentence: {summary!r}"
    assert not rest or rest.startswith("\n"), f"no blank line after the summary: {summary!r}"
    parts = sections(text)
    names = [heading for heading in parts if heading]
    assert names == [each for each in SECTIONS if each in parts], f"sections {names}"
    assert not OTHER_DIALECT.search(parts[""]), OTHER_DIALECT.search(parts[""])
    if issubclass(value, BaseException) if inspect.isclass(value) else False:
        return
    expected = parameters_of(value)
    taken = described(parts.get("Parameters", ""))
    listed = taken | described(parts.get("Attributes", ""))
    assert [each for each in expected if each not in listed] == [], "parameters without a word"
    given = {each: expected[each].default for each in taken if each in expected}
    assert [
        each
        for each, default in given.items()
        if default is not inspect.Parameter.empty and not says_default(taken[each], default)
    ] == [], "defaults that are not said"
    if inspect.isroutine(value):
        assert [each for each in listed if each not in expected] == [], "no such parameters"
        annotation = inspect.signature(value).return_annotation
        if annotation not in (None, "None", inspect.Signature.empty):
            assert "Returns" in parts or "Yields" in parts, "what is returned?"
        if raises(value):
            assert "Raises" in parts, "what is raised, and when?"
    assert ">>> " in parts.get("Examples", ""), "no example"
