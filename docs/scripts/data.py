"""The real data behind tests, pages and studies: what it is, where to get it, whether a copy is whole.

    python docs/scripts/data.py list                   the data sets
    python docs/scripts/data.py check FOLDER [SET...]  whether FOLDER has them; ends with 1 if not
    python docs/scripts/data.py page [--check]         rewrites docs/data.md, or fails if it differs

data.json has the facts: for each set the SHA-256 of each file, or, if there are many files, of the lines
`SHA-256  name` of all of them, by name. A file that ends in .gz counts by its content, so it does not
matter how it was compressed.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
FACTS: dict[str, Any] = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
PAGE = ROOT / "docs" / "data.md"


def content_hash(path: Path) -> str:
    """The SHA-256 of a file, or of what it unpacks to; empty if it cannot be unpacked."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (gzip.BadGzipFile, EOFError, zlib.error):
        return ""


def listing_hash(folder: Path, names: list[str]) -> str:
    """The SHA-256 of the lines that have the SHA-256 and the name of each file."""
    lines = [f"{content_hash(folder / name)}  {name}\n" for name in sorted(names)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def faults(data: Path, facts: dict[str, Any]) -> Iterator[str]:
    """What is missing of a set, and what differs."""
    folder, files = data / facts["folder"], facts["files"]
    missing = [name for name in files if not (folder / name).is_file()]
    if len(missing) == len(files):
        where = f"github.com/{facts['repository']}, {facts['path']}"
        yield f"missing: {facts['folder']} ({len(files)} files; {where})"
        return
    yield from (f"missing: {facts['folder']}/{name}" for name in missing)
    if isinstance(files, dict):
        for name, expected in files.items():
            if name not in missing and content_hash(folder / name) != expected:
                yield f"different: {facts['folder']}/{name}"
    elif not missing and listing_hash(folder, files) != facts["sha256"]:
        yield f"different: {facts['folder']} (one or more of {len(files)} files)"


def top(facts: dict[str, Any]) -> str:
    """The name of a set: the folder of the data that it is in."""
    return str(facts["folder"]).partition("/")[0]


def check(data: Path, names: list[str], sets: list[dict[str, Any]]) -> int:
    """Print what is wrong in a folder, and give the exit code."""
    known = {top(facts) for facts in sets}
    if unknown := sorted({*names} - known):
        sys.exit(f"unknown: {', '.join(unknown)}; expected some of {', '.join(sorted(known))}")
    asked = [facts for facts in sets if not names or top(facts) in names]
    wrong = [fault for facts in asked for fault in faults(data, facts)]
    expected = {data / facts["folder"] / name for facts in sets for name in facts["files"]}
    folders = {data / top(facts) for facts in asked}
    there = {path for folder in folders for path in folder.rglob("*") if path.is_file()}
    extra = [f"extra: {path.relative_to(data)}" for path in sorted(there - expected)]
    print(*wrong, *extra, sep="\n", end="\n" if wrong or extra else "")
    print(f"{len(asked)} folders, {len(wrong)} faults, {len(extra)} extra files")
    return 1 if wrong else 0


def table(columns: list[str], rows: list[list[str]]) -> str:
    head = f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def described(sets: list[dict[str, Any]]) -> list[list[str]]:
    """A row for each set."""
    return [
        [
            f"`{facts['folder']}`",
            f"{len(facts['files'])}",
            facts["what"],
            f"{facts['repository']} at {facts['commit'][:10]}: {facts['path']}",
            facts["license"],
        ]
        for facts in sets
    ]


def needed() -> list[list[str]]:
    """A row for each script or command that reads data: the pages that name it, and its sets."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("[A-Z]*.md"))]
    texts = {page.stem: page.read_text(encoding="utf-8") for page in pages}
    rows = []
    for source, sets in FACTS["needs"].items():
        naming = [name for name, text in texts.items() if re.search(rf"{source}\b", text)]
        rows.append([f"`{source}`", ", ".join(naming), ", ".join(f"`{name}`" for name in sets)])
    everything = sorted({top(facts) for facts in FACTS["sets"]})
    return [*rows, ["`pytest`", "", ", ".join(f"`{name}`" for name in everything)]]


def tables() -> dict[str, str]:
    """The tables of the page, each by the name in its marks."""
    columns = ["folder", "files", "what", "where", "license"]
    return {
        "sets": table(columns, described(FACTS["sets"])),
        "needs": table(["script or command", "pages", "data"], needed()),
    }


def renewed(text: str) -> str:
    """The page with new tables."""
    for name, rows in tables().items():
        start = f"<!-- {name}: made by docs/scripts/data.py -->\n"
        before, _, rest = text.partition(start)
        end = f"<!-- end of {name} -->\n"
        text = f"{before}{start}{rows}{end}{rest.partition(end)[2]}"
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description="The real data behind tests, pages and studies.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="print the data sets")
    checking = commands.add_parser("check", help="compare a folder with the checksums")
    checking.add_argument("folder", type=Path)
    checking.add_argument("sets", nargs="*", help="some of the sets (default: all)")
    writing = commands.add_parser("page", help="rewrite docs/data.md")
    writing.add_argument("--check", action="store_true", help="fail if it is not up to date")
    options = parser.parse_args()
    if options.command == "list":
        for folder, files, what, where, license in described(FACTS["sets"]):
            print(
                f"{folder.strip('`')}\n    {what}\n    {files} files, {where}\n    license: {license}"
            )
    elif options.command == "check":
        return check(options.folder, options.sets, FACTS["sets"])
    elif not options.check:
        PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    elif (text := PAGE.read_text(encoding="utf-8")) != renewed(text):
        sys.exit("docs/data.md differs from data.json: run python docs/scripts/data.py page")
    return 0


if __name__ == "__main__":
    sys.exit(main())
