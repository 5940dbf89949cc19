"""Hostile command lines and files, drawn from a seed: each ends in time with a known exit code, and
nobody sees a traceback, a fault of ours or a warning of NumPy."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import random
import sys
import time
import tracemalloc
from pathlib import Path

import pytest
import zstandard

from rankgauge.cli import COMMANDS, main

CASES = 300
PARTS = 10
KNOWN = {0, 1, 2, 3, 4, 5, 6}
"""The exit codes that commands have; those from 4 on are of trec_eval."""
SECONDS, MEMORY = 20, 1 << 29

NUMBERS = [
    "0",
    "1",
    "-1",
    "1e308",
    "-1e308",
    "inf",
    "-inf",
    "nan",
    "1e-320",
    "1.5",
    "0x1",
    "x",
    "",
    "9" * 400,
]
IDS = [
    "q",
    "d1",
    "d2",
    "=1+1",
    "\x1b[31m",
    "é",
    "\udcff",
    "a,b",
    '"',
    "x" * 3000,
    "\u202e",
    "NA",
    "#",
]
MEASURES = [
    "AP", "nDCG@10", "RR", "nDCG(self=1)", "P@0", "P@99999999999", "gm(AP)", "gm(gm(AP))", "RBP(p=2)",
    "RBP(p=0.999)", "((((", "AP(rel=-1)", "expected(AP)", "v2(nDCG@10)", "", "\x00", "lambda: 1",
    "__class__", *["AP", "P@5", "nDCG@10", "RR", "Judged@10", "bpref", "expected(RR)", "ERR@10"] * 3,
]  # fmt: skip
METRICS = [
    *["rouge1", "v2(rouge2)", "linear(rougeL,draws=3)"] * 2,
    "rouge9",
    "z(rougeS)",
    "v2(",
    "",
]
OPTIONS = [
    ["-q"], ["--format", "csv"], ["--format", "jsonl"], ["--format", "latex"], ["--digits", "17"],
    ["--ties", "expected"], ["--ties", "random"], ["--lenient"], ["--size-limit", "10"],
    ["--seed", "-1"],
    ["--seed", "9" * 30], ["--interval"], ["--signature"], ["--subtopics"], ["--max-grade", "0"],
    ["--unjudged", "condensed"], ["-o", "none/such"], ["-o", "."], ["--baseline", "x"],
    ["--power", "0.8"],
    ["--test", "tukey"], ["--samples", "50"], ["--level", "2"], ["--judge", "3"], ["--top", "0"], ["-J"],
    ["-l", "-1"], ["--no-such-option"], ["--spreadsheet"], ["--standardize"], ["--witness"],
    ["--method", "rrf"], ["--method", "condorcet"], ["--normalize", "none"], ["--weight", "1,1e308"],
    ["--weight", "nan,1"], ["--weight", ","], ["--k", "-1"], ["--absent", "skip"],
]  # fmt: skip
PACK = [bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.compress]


def lines(generator: random.Random, run: bool) -> str:
    """The lines of a run or of judgments, some of them wrong."""
    made = []
    for number in range(generator.choice([1, 5, 30, 200])):
        topic, document = generator.choice(IDS[:8]), f"{generator.choice(IDS[:9])}{number}"
        value = generator.choice(NUMBERS) if generator.random() < 0.003 else str(number % 4)
        made.append(
            f"{topic} Q0 {document} 1 {value} t" if run else f"{topic} 0 {document} {value}"
        )
    return generator.choice(["\n", "\r\n", "\n\n"]).join(made)


def content(generator: random.Random, run: bool) -> bytes:
    """The bytes of a file: of some format, packed or not, at times damaged."""
    value = generator.choice(NUMBERS)
    text = generator.choice(
        [
            *[lines(generator, run)] * 20,
            f"query,document,{'score' if run else 'grade'}\nq,d1,{value}\nq,{generator.choice(IDS)},1\n",
            f'{{"q": {{"d1": {value or 1}, "d2": 2}}}}',
            '{"query": "q", "retrieved": ["d1", "d1"], "relevant": ["d2"]}\n',
            "[" * generator.choice([3, 5000]),
            "a" * 10_000,
            "PAR1" + "\0" * 50 + "PAR1",
        ]
    )
    raw = generator.choice(PACK)(text.encode("utf-8", "surrogateescape"))
    if raw and generator.random() < 0.1:
        at = generator.randrange(len(raw))
        raw = generator.choice([raw[:at], raw[:at] + b"\xff" + raw[at + 1 :], raw + b"\x01rest"])
    return raw


def written(generator: random.Random) -> str:
    """Lines of texts, with ids and words that are hard to print, a few of them wrong."""
    made = []
    for number in range(generator.choice([0, 1, 5])):
        words = ["a b c", "", "\u202e \x00 é", "<script>", "1 2 3 " * 1000, None, ["p", "q"], 7]
        source, reference, output = generator.choices(words, [9, 1, 1, 1, 1, 0.3, 0.3, 0.3], k=3)
        row = {
            "id": f"{generator.choice(IDS[:6])}{number}",
            "source": source,
            "references": reference,
        }
        made.append(json.dumps(row | {"outputs": {"=1+1": output, "\x1b[31m": "a b"}}))
    return "\n".join(made)


def command_line(generator: random.Random, folder: Path) -> list[str]:
    """A command with files and options, few of which go together."""
    names = []
    for name in ("qrels", "run1", "run2"):
        (folder / name).write_bytes(content(generator, name != "qrels"))
        names.append(str(folder / name))
    command = generator.choice([name for name in COMMANDS if name not in ("demo", "study")])
    options = [
        part
        for option in generator.sample(OPTIONS, generator.choice([0, 0, 1, 2]))
        for part in option
    ]
    measures = [
        part
        for _ in range(generator.choice([0, 1, 2]))
        for part in ("-m", generator.choice(MEASURES))
    ]
    if command == "measures":
        return [command, generator.choice(MEASURES), *options]
    if command == "text":
        (folder / "texts").write_bytes(generator.choice(PACK)(written(generator).encode()))
        metric = generator.choice(METRICS)
        return [command, str(folder / "texts"), "-m", metric, *options]
    if command in ("compare", "assess") and generator.random() < 0.3:
        return [command, "--scores", f"AP={names[0]}", *options]
    files = generator.choice(
        [names, names, names, names[:2], names[1:], names[:1], [str(folder)], []]
    )
    return [command, *files, *measures, *options]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_a_hostile_command_line_ends_well(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ends = set()
    for case in range(CASES // PARTS):
        arguments = command_line(random.Random(f"{part} {case}"), tmp_path)
        monkeypatch.setattr(sys, "argv", ["rankgauge", *arguments])
        tracemalloc.start()
        start, code = time.perf_counter(), 0
        try:
            main()
        except SystemExit as end:
            code = -1 if not isinstance(end.code, int) else end.code
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        told = capsys.readouterr().err
        assert code in KNOWN, (arguments, told)
        assert "Traceback" not in told, arguments
        assert "Warning" not in told, arguments
        assert code == 0 or told, arguments
        assert time.perf_counter() - start < SECONDS, arguments
        assert peak < MEMORY, arguments
        ends.add(code)
    assert 2 in ends
    assert len(ends) > 1
