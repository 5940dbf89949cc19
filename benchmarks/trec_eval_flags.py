"""Compares the drop-in with programs called trec_eval on random collections and random flags.

    python benchmarks/trec_eval_flags.py 9.0.7=PROGRAM 9.0.8=PROGRAM 10=PROGRAM [--cases 1000] [--seed 1]

Each PROGRAM is a trec_eval of the version before the equals sign, built from its sources. Collections
have ties in double and in single precision, huge scores, negative grades, unjudged documents, topics
that only one file has, and now and then a faulty line. Every program reads every collection twice, with
other bytes in the memory that it is given: where its two answers differ, it reads memory that it never
set.

The script prints how many outputs are equal for each version. It counts the others by their reason in
the list of docs/ARCHITECTURE.md, "Where the drop-in differs from trec_eval". A difference without a
reason is printed with its command, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from rankgauge.cli.trec_eval import run

QRELS, RUN, Z_SCORES = "qrels.txt", "run.txt", "z.txt"
SHOWN = 5
"""How many unexplained differences of a version are printed."""

CUTOFFS = ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success")
PLAIN = (
    *(
        "runid",
        "num_q",
        "num_ret",
        "num_rel",
        "num_rel_ret",
        "num_nonrel_judged_ret",
        "map",
        "gm_map",
    ),
    *(
        "Rprec",
        "bpref",
        "gm_bpref",
        "recip_rank",
        "iprec_at_recall",
        "P",
        "relstring",
        "recall",
        "infAP",
    ),
    *("Rprec_mult", "utility", "11pt_avg", "binG", "G", "ndcg", "ndcg_rel", "Rndcg", "ndcg_cut"),
    *(
        "map_cut",
        "relative_P",
        "success",
        "set_P",
        "set_relative_P",
        "set_recall",
        "set_map",
        "set_F",
    ),
    *("yaap", "official", "set", "all_trec"),
)


class Case:
    """A random collection, and the flags that it is evaluated with."""

    def __init__(self, seed: int) -> None:
        self.draw = random.Random(seed)
        self.documents = [f"d{number}" for number in range(self.draw.randint(2, 40))]
        self.highest = self.draw.choice((1, 1, 2, 3, 4))
        topics = [f"q{number}" for number in range(self.draw.randint(1, 8))]
        self.repeated: str | None = None
        self.unjudged: set[str] = set()
        self.judged = [topic for topic in topics if self.draw.random() < 0.85] or topics[:1]
        self.retrieved = [topic for topic in topics if self.draw.random() < 0.85] or topics[-1:]

    def write(self, folder: Path) -> None:
        """Write the files of the collection."""
        (folder / QRELS).write_text("".join(self._faulty(list(self._judgments()))))
        (folder / RUN).write_text("".join(self._faulty(list(self._ranking()))))
        measures = ("map", "P_5", "ndcg", "recip_rank", "num_ret", "bpref")
        (folder / Z_SCORES).write_text(
            "".join(
                f"{topic} {measure} {self.draw.random():.4f} {self.draw.choice((0.0, 0.1, 0.5))}\n"
                for topic in self.judged
                for measure in measures
                if self.draw.random() < 0.9
            )
        )

    def _judgments(self) -> Iterator[str]:
        lowest = self.draw.choice((0, 0, 0, -1, -2))
        for topic in self.judged:
            grades = [self.draw.randint(lowest, self.highest) for _ in self.documents]
            if self.draw.random() < 0.1:
                grades = [min(grade, 0) for grade in grades]
            grades = grades[: self.draw.randint(1, len(grades))]
            if max(grades) < 0:
                self.unjudged.add(topic)
            documents = self.draw.sample(self.documents, len(grades))
            for document, grade in zip(documents, grades, strict=True):
                yield f"{topic} 0 {document} {grade}\n"

    def _ranking(self) -> Iterator[str]:
        for topic in self.retrieved:
            base = self.draw.choice((0.0, 0.0, 1.0, 16777216.0, 1e9, -1e30))
            step = self.draw.choice((0.5, 1.0, 1e-9, 1e-16, 1e-8))
            count = self.draw.randint(1, len(self.documents))
            for rank, document in enumerate(self.draw.sample(self.documents, count), 1):
                score = base + self.draw.randint(0, 12) * step
                yield f"{topic} Q0 {document} {rank} {score!r} tag\n"

    def _faulty(self, lines: list[str]) -> list[str]:
        """The lines; one time in fifty a line is cut short, written twice, or a comment."""
        if self.draw.random() < 0.02:
            place = self.draw.randrange(len(lines))
            change = self.draw.choice(("short", "twice", "comment"))
            if change == "short":
                lines[place] = lines[place].rsplit(" ", 1)[0] + "\n"
            elif change == "twice":
                lines.insert(place, lines[place])
                self.repeated = lines[place].split()[0]
            else:
                lines.insert(place, "# a comment\n")
        return lines

    def flags(self, version: str) -> list[str]:
        """Random flags that this version understands."""
        draw, flags = self.draw, []
        for flag in ("-q", "-c", "-J"):
            if draw.random() < 0.35:
                flags.append(flag)
        if draw.random() < 0.1:
            flags.append("-n")
        if draw.random() < 0.35:
            flags.append(f"-l{draw.randint(0, self.highest + 1)}")
        if draw.random() < 0.3:
            flags.append(f"-M{draw.choice((0, 1, 3, 7, 100))}")
        if draw.random() < 0.2:
            flags.append(f"-N{draw.randint(0, 2000)}")
        if draw.random() < 0.05:
            flags += ["-Z", Z_SCORES]
        for _ in range(draw.randint(0, 4)):
            flags += ["-m", self._measure(version)]
        return flags

    def _measure(self, version: str) -> str:
        draw = self.draw
        names = [*PLAIN, "rbp", "rbp_resid", "unj"] if version == "10" else PLAIN
        name = draw.choice(names)
        if draw.random() < 0.5:
            return name
        if name in CUTOFFS or name == "unj":
            return (
                f"{name}.{','.join(str(k) for k in draw.sample(range(1, 60), draw.randint(1, 3)))}"
            )
        if name in ("iprec_at_recall", "11pt_avg", "Rprec_mult"):
            levels = sorted(draw.sample(range(21), draw.randint(1, 4)))
            return f"{name}.{','.join(f'{level / 20:.2f}' for level in levels)}"
        if name in ("G", "ndcg", "ndcg_rel", "Rndcg", "rbp", "rbp_resid"):
            gains = [f"{level}={draw.randint(0, 9)}" for level in range(1, self.highest + 1)]
            if name.startswith("rbp") and draw.random() < 0.5:
                gains.append(f"p={draw.choice((0.5, 0.8, 0.95))}")
            return f"{name}.{','.join(gains)}"
        if name == "utility":
            return "utility." + ",".join(str(draw.choice((-1, 0, 0.5, 2))) for _ in range(4))
        if name == "set_F":
            return f"set_F.{draw.choice((0.5, 1, 2, 3))}"
        if name == "relstring":
            return f"relstring.{draw.randint(1, 30)}"
        return name


def ours(arguments: list[str]) -> tuple[int, str]:
    """The exit code of the drop-in, and what it prints."""
    out, err = sys.stdout, sys.stderr
    printed = io.BytesIO()
    wrapper = io.TextIOWrapper(printed, write_through=True)
    sys.stdout, sys.stderr = wrapper, io.StringIO()
    try:
        code = run(arguments)
        wrapper.flush()
    finally:
        sys.stdout, sys.stderr = out, err
    return code, printed.getvalue().decode()


def theirs(program: str, arguments: list[str], fill: int) -> tuple[int, str]:
    """The exit code of a program, and what it prints, with its memory filled with some byte at first."""
    environment = os.environ | {"MALLOC_PERTURB_": str(fill)}
    done = subprocess.run([program, *arguments], capture_output=True, env=environment, timeout=60)
    return done.returncode, done.stdout.decode(errors="replace")


# Where the drop-in differs on purpose: the list of docs/ARCHITECTURE.md.

Printed = tuple[int, str]
"""An exit code, and what was printed."""


def reason(case: Case, flags: list[str], version: str, mine: Printed, other: Printed) -> str | None:
    """The place in the list of differences that a difference has, None where it has none."""
    codes = mine[0], other[0]
    shared = set(case.judged) & set(case.retrieved)
    scored = set(case.judged) if version == "10" and "-c" in flags else shared
    if other[0] in (4, -11) and case.unjudged & scored:
        return "trec_eval ends or crashes at a topic that has negative grades only"
    if other[0] < 0 and "-Z" in flags:
        return "trec_eval crashes with -Z"
    missing = version == "10" and "-c" not in flags and set(case.judged) - set(case.retrieved)
    if codes in ((0, 4), (7, 4)) and missing:
        return "version 10 ends at a judged topic that the run lacks, without -c"
    unseen = case.repeated is not None and (case.repeated not in shared or "-M0" in flags)
    if codes == (4, 0) and unseen:
        return "a document twice where trec_eval does not look for it"
    if codes in ((4, 4), (2, 2)):
        return "both refuse the files, but trec_eval has printed the topics before"
    if mine[0] != other[0]:
        return None
    lines = mine[1].splitlines(), other[1].splitlines()
    if len(lines[0]) != len(lines[1]):
        return None
    reasons = {_line_reason(*pair) for pair in zip(*lines, strict=True) if pair[0] != pair[1]}
    return None if None in reasons else ", ".join(sorted(map(str, reasons)))


def _line_reason(mine: str, other: str) -> str | None:
    names = {line.split()[0] for line in (mine, other)}
    if other.endswith("nan") and len(names) == 1:
        return "trec_eval divides 0 by 0"
    if len(names) == 1 and re.match(r"rbp(_|$)", names.pop()):
        return "version 10's rbp reads limits of its gains that it never set, or takes p for a gain"
    return None


def compare(version: str, program: str, cases: int, seed: int) -> bool:
    """Print how one version differs; whether all differences are in the list."""
    equal, reasons, unexplained = 0, Counter[str](), []
    for number in range(cases):
        case = Case(seed * 1_000_000 + number)
        case.write(Path.cwd())
        arguments = [*case.flags(version), QRELS, RUN]
        one, two = (theirs(program, arguments, fill) for fill in (1, 200))
        mine = ours(["--compat", version, *arguments])
        if mine == one == two:
            equal += 1
        elif one != two:
            reasons["trec_eval reads memory that it never set"] += 1
        else:
            why = reason(case, arguments[:-2], version, mine, one)
            if why is None:
                unexplained.append((number, arguments, mine, one))
            else:
                reasons[why] += 1
    print(f"{version}: {equal} of {cases} equal, {len(unexplained)} unexplained")
    for text, count in reasons.most_common():
        print(f"    {count}: {text}")
    for number, arguments, mine, one in unexplained[:SHOWN]:
        print(f"    case {number}: {' '.join(arguments)}: exit {mine[0]} here, {one[0]} there")
        for a, b in zip(mine[1].splitlines(), one[1].splitlines(), strict=False):
            if a != b:
                print(f"        {a!r} here, {b!r} there")
                break
    return not unexplained


def main() -> int:
    """Compare all programs that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="+", metavar="VERSION=PROGRAM")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    folder = tempfile.mkdtemp()
    programs = [text.partition("=") for text in chosen.programs]
    paths = {version: str(Path(program).resolve()) for version, _, program in programs}
    os.chdir(folder)
    try:
        done = [compare(*each, chosen.cases, chosen.seed) for each in paths.items()]
    finally:
        os.chdir("/")
        shutil.rmtree(folder)
    return 0 if all(done) else 1


if __name__ == "__main__":
    sys.exit(main())
