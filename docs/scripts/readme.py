"""Puts real output into README.md and pages of docs: runs their commands on the demo.

    python docs/scripts/readme.py                         rewrites the pages
    python docs/scripts/readme.py --check                 fails if a page differs from what they print
    python docs/scripts/readme.py --check --installed     README.md alone, as a new user runs it

A fenced block whose first line starts with `$ ` has commands and their output. A ```python block has
doctest examples. A block that begins with ```jsonl and the name of a file is the content of that file.
`--installed` begins in an empty folder, starts the command `rankgauge` of the PATH for each call, and
also runs the commands of README.md that are shown without their output, except for `pip`.
"""

from __future__ import annotations

import contextlib
import difflib
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

from rankgauge.cli import main as rankgauge

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
README = PAGES[0]
INSTALLED = "--installed" in sys.argv
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
    if INSTALLED or words[0] != "rankgauge":
        done = subprocess.run(words, capture_output=True, encoding="utf-8")
        if done.returncode:
            sys.exit(f"{shlex.join(words)}: {done.stderr}")
        return done.stdout
    sys.argv = words
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as told:
        try:
            rankgauge()
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


def run_commands(block: str) -> None:
    """Runs the commands of a block that has no output, but for those of other programs."""
    for command in re.split(r"\n|&&", block):
        words = shlex.split(command)
        if words[:1] == ["rankgauge"]:
            printed(words)


def renewed(text: str, demo: Path | None) -> str:
    """The page with new output in every block, by commands in a copy of the folder of the demo.

    Without that folder, all commands of the page are run, and one of them must make the demo.
    """
    names: dict[str, object] = {}
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        if demo is not None:
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
                elif demo is None and language in {"", "sh", "bash"}:
                    run_commands(body)
                return f"```{language}{file or ''}\n{body}```"

            return FENCED.sub(block, text)
        finally:
            os.chdir(here)


def check(page: Path, new: str) -> None:
    """Ends the script with the difference if the page is not the new one."""
    old = page.read_text(encoding="utf-8")
    if new != old:
        lines = difflib.unified_diff(
            old.splitlines(), new.splitlines(), "shown", "printed", n=0, lineterm=""
        )
        sys.exit("\n".join([f"{page.name} is not what its commands print", *lines]))


def main() -> None:
    """Rewrites or checks the pages."""
    if INSTALLED:
        check(README, renewed(README.read_text(encoding="utf-8"), None))
        return
    with tempfile.TemporaryDirectory() as demo:
        subprocess.run(["rankgauge", "demo"], cwd=demo, capture_output=True, check=True)
        for page in PAGES:
            new = renewed(page.read_text(encoding="utf-8"), Path(demo))
            if "--check" in sys.argv:
                check(page, new)
            else:
                page.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
