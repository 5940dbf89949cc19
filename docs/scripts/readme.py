"""Puts real output into README.md and pages of docs: runs their commands on the demo.

    python docs/scripts/readme.py           rewrites the pages
    python docs/scripts/readme.py --check   fails if a page differs from what the commands print

A fenced block whose first line starts with `$ ` has commands and their output. A ```python block has
doctest examples. A block that begins with ```jsonl and the name of a file is the content of that file.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rankgauge.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / name
    for name in (
        "README.md",
        "docs/ASSESSMENT.md",
        "docs/CHANCE.md",
        "docs/COMPARISON.md",
        "docs/DISTANCE.md",
        "docs/FORECAST.md",
        "docs/FUSION.md",
        "docs/SPACE.md",
        "docs/TEXT.md",
    )
]
FENCED = re.compile(r"^```(\w*)( \S+)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shell(block: str) -> str:
    """The block with the output of its commands."""
    lines = []
    for line in block.splitlines():
        if not line.startswith("$ "):
            continue
        lines.append(line)
        words = shlex.split(line[2:])
        if words[0] == "cd":
            os.chdir(words[1])
            continue
        if words[1] in (
            *("assess", "compare", "distance", "evaluate", "forecast", "space", "text", "tune"),
        ):
            words += ["--format", "table"]
        lines += printed(words).rstrip("\n").splitlines()
    return "\n".join(line.rstrip() for line in lines) + "\n"


def printed(words: list[str]) -> str:
    """What a command prints. Our own run in this process, which is quicker than starting one."""
    if words[0] != "rankgauge":
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout
    sys.argv = words
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            main()
        except SystemExit as end:
            if end.code:
                sys.exit(f"{shlex.join(words)}: {told.getvalue()}")
    out.flush()
    return out.buffer.getvalue().decode()


def python(block: str, names: dict[str, object]) -> str:
    """The block with the output of its examples."""
    lines = []
    for example in doctest.DocTestParser().get_examples(block):
        first, *rest = example.source.rstrip().splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in rest)]
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(example.source, "README", "single"), names)
        lines += [line.rstrip() for line in printed.getvalue().splitlines()]
    return "\n".join(lines) + "\n\n"


def renewed(text: str, demo: Path) -> str:
    """The page with new output in every block, by commands in a copy of the folder of the demo."""
    names: dict[str, object] = {}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(demo, folder, dirs_exist_ok=True)
        os.chdir(folder)
        try:

            def block(found: re.Match[str]) -> str:
                language, file, body = found.groups()
                if file is not None:
                    Path(file.strip()).write_text(body)
                elif language == "python":
                    body = python(body, names)
                elif body.startswith("$ "):
                    body = shell(body)
                return f"```{language}{file or ''}\n{body}```"

            return FENCED.sub(block, text)
        finally:
            os.chdir(here)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    with tempfile.TemporaryDirectory() as demo:
        subprocess.run(["rankgauge", "demo"], cwd=demo, capture_output=True, check=True)
        for page in PAGES:
            old = page.read_text()
            new = renewed(old, Path(demo))
            if "--check" not in arguments:
                page.write_text(new)
            elif new != old:
                sys.exit(f"{page.name} is not what its commands print")
