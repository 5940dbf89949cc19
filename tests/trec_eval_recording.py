"""What three versions of trec_eval print for our small collections: the recording, and how it is made.

    python tests/trec_eval_recording.py

prints how much the recording has. With programs called trec_eval, each built by the Makefile of its
sources, it makes the recording anew, or compares them with the drop-in on other random collections:

    python tests/trec_eval_recording.py 9.0.7=PROGRAM 9.0.8=PROGRAM 10=PROGRAM [--compare SEED]
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path

from rankgauge.cli.trec_eval import run
from trec_eval_collections import Collection, Draw, all_collections

RECORDING = Path(__file__).parent / "conformance" / "trec_eval.jsonl.xz"
VERSIONS = {"9.0.7": "9.0.7", "9.0.8": "9.0.8", "10": "10.0-rc3"}
"""The versions that the drop-in follows, and what -v prints if the Makefile of the sources is used."""

FILES = "qrels run"
ALWAYS = "-q -m all_trec"
FLAGS = """
-q
-c
-n
-q -n
-q -c
-J
-J -q
-M 1
-M3 -q
-M 5 -c
-l 2
-l2 -q
-l 2 -c
-l 3 -J -q
-l0 -m num_rel -m map -m P.1,5 -m ndcg -m bpref -m set
-o -m map -m num_q
-q -c -J -M 4 -l 2 -N 100
-m all_trec
-m all_trec -c
-m all_trec -c -q -n
-m all_trec -J
-m all_trec -l 2
-m all_trec -l 2 -q
-m all_trec -M 4
-m all_trec -q -J -M 3
-m all_trec -q -c -l 2
-m all_trec -N 1000
-m official
-m official -m ndcg -m ndcg_cut.10
-m official.5 -m P.1
-m set
-m set -q
-m set -N 500 -c
-m set -J -q
-m runid -m num_q
-m num_q -m num_ret -m num_rel -m num_rel_ret -q -c
-m num_rel -m num_nonrel_judged_ret -q -l 2
-m num_rel -c -l 3
-m map
-m map -q
-m map -c
-m map -q -n -c
-m map -J
-m map -m map
-m map.5,6 -m num_q
-m gm_map -m gm_bpref -q
-m gm_map -m gm_bpref -c
-m Rprec -q
-m Rprec_mult
-m Rprec_mult.0.3,1,2.5 -q
-m Rprec_mult.1,0.5 -l 2
-m Rprec_mult.0,-1
-m Rprec_mult.1e30
-m bpref -q
-m bpref -J -q
-m bpref -l 2 -c
-m infAP -q
-m infAP -q -M 6
-m binG -q
-m yaap -q
-m recip_rank -q
-m recip_rank -M 2
-m iprec_at_recall -q
-m iprec_at_recall.0.1,.25,1,0.75 -q
-m iprec_at_recall.1.5,1.04
-m iprec_at_recall.0.333333,0.005
-m 11pt_avg -q
-m 11pt_avg.0.2,0.5,0.8 -q
-m 11pt_avg.1
-m 11pt_avg.0,0
-m iprec_at_recall.-0.0,abc1
-m P
-m P.1,2,3,7 -q
-m P.5 -m P.10
-m P.10,5,200
-m P.99999999999
-m P.3x,5.7,+1
-m "P. 4,6 "
-m recall.1,4 -q
-m recall -c
-m success -q
-m success.1,2,3
-m map_cut -q
-m map_cut.2,6 -l 2
-m relative_P -q
-m relative_P.1,3
-m ndcg -q
-m ndcg -q -l 2
-m ndcg -J
-m ndcg.1=3,2=9,3=1 -q
-m ndcg.0=1,1=3 -q
-m ndcg.0=0
-m ndcg_cut.1,2,3,50 -q
-m ndcg_cut.10,5 -M 4
-m ndcg_cut -l 2 -c
-m ndcg_rel -q
-m ndcg_rel.1=5,2=1 -q
-m Rndcg -q
-m Rndcg.1=2,2=4 -l 2
-m G -q
-m G.1=1,2=3 -q
-m relstring -q
-m relstring.3 -q -n
-m relstring.20 -q -c
-m relstring.0 -q
-m relstring.-5 -q
-m relstring.2.9 -q
-m relstring
-m utility -q
-m utility.1,-1,0,0 -c
-m utility.2,-0.5,-1,.25 -q -N 50
-m utility.1,1,1,1 -N -5
-m utility.0,0,0,1 -N 5000000000
-m utility.1,2,3,4 -N abc
-m set_F -q
-m set_F.0.5 -q
-m set_F.4,9
-m set_F.abc -m utility.1,a,.5e1,
-m set_F.1e-1 -q
-m set_F.-1
-m set_F.0
-m set_P -m set_recall -m set_map -m set_relative_P -q
-m unj -q
-m unj.1,3 -c
-m rbp -q
-m rbp_resid -q -c
-m rbp.p=0.5 -m rbp_resid.p=0.5
-m rbp.1=1,2=2,3=4 -q
-l 1.5 -m num_rel -m map
-l abc -m num_rel -m map
-l +2x -m map
-l 99999999999 -m num_rel
-M 1e2 -m map
-M 2x -m map -m num_ret
-l "" -M "" -m num_rel -m num_ret
-l 99999999999999999999 -M 99999999999999999999 -m map
-M 0 -m num_ret -m map -m P.5 -m ndcg
--query_eval_wanted --measure map --level_for_rel 2 --nosummary
--complete_rel_info_wanted --Max_retrieved_per_topic=3 --Judged_docs_only
--Number_docs_in_coll 100 --measure set --measure=P.2
--query --meas=map --comp
--c --m ndcg
--Output_old_results_format 1 -m map
--Rel_info_format qrels --Results_format trec_results -m map
-qcJ -mmap -mP.2
-qqcc -m map
-R qrels -T trec_results -q -m bpref
"""
TAKES = {
    "cutoffs": ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success", "unj"),
    "levels": ("iprec_at_recall", "11pt_avg", "Rprec_mult"),
    "gains": ("G", "ndcg", "ndcg_rel", "Rndcg", "rbp_resid"),
    "weights": ("utility",),
    "a number": ("set_F", "relstring"),
}
"""What the measures take that have parameters. RBP is not among them: beside other measures, what
version 10 prints for it depends on what these left in memory."""
CALLS = """
qrels run -q -m map
-m map qrels -q run
-m map -- qrels run
-m nope qrels run
-m map -m nope.5 qrels run
-m P. qrels run
-m P.0 qrels run
-m P.-5 qrels run
-m P.abc qrels run
-m P.5,5 qrels run
-m P.5,05 qrels run
-m P.5,,7 qrels run
-m P.5,7, qrels run
-m iprec_at_recall.0.5,.5 qrels run
-m Rprec_mult.1,1.0 qrels run
-m utility.1 qrels run
-Z missing qrels run
-Z missing -m P.0 qrels run
-m utility.1,2,3,4,5 -q qrels run
-m ndcg.3 qrels run
-m ndcg.1==3 qrels run
-m ndcg.1=3,,2=4 qrels run
-m G.1=3, qrels run
-m Rndcg.x qrels run
-m rbp.x qrels run
-m success.0,1 qrels run
-m "" qrels run
-m qrels run
-x qrels run
--nope qrels run
--measure qrels run
-R nope qrels run
-T nope qrels run
-v qrels run
qrels
qrels run run
qrels missing
missing run
qrels .
run qrels
"""
EACH = 5
"""How many sets of flags each collection has, besides ALWAYS, two random ones and one of CALLS."""

ABSENT = "version 10 ends at a judged query that the run lacks, without -c"
NEGATIVE = "trec_eval ends at a query that has negative grades only"
PARTIAL = "trec_eval has printed queries before it refuses the files"
NAN = "trec_eval divides 0 by 0"


@dataclass(frozen=True)
class Case:
    """What these versions of trec_eval did with a command: their exit code and standard output.

    `differs` is the reason why the drop-in does something else, in the words of docs/ARCHITECTURE.md.
    """

    command: str
    versions: tuple[str, ...]
    code: int
    out: str
    differs: str | None = None


@dataclass(frozen=True)
class Recorded:
    """A collection, and the cases recorded with it."""

    name: str
    files: dict[str, str]
    cases: tuple[Case, ...]

    @property
    def family(self) -> str:
        """The name of the family that the collection belongs to."""
        return self.name.rpartition("-")[0]

    def write(self, folder: Path) -> None:
        """Write the files of the collection."""
        for name, text in self.files.items():
            (folder / name).write_bytes(encode(text))


def encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def decode(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def load() -> list[Recorded]:
    """The collections of the recording, with their cases."""
    lines = lzma.decompress(RECORDING.read_bytes()).decode().splitlines()
    return [
        Recorded(line["name"], line["files"], tuple(Case(**case) for case in line["cases"]))
        for line in map(json.loads, lines)
    ]


def save(recording: Sequence[Recorded]) -> None:
    """Write the recording."""
    lines = [json.dumps(asdict(each), separators=(",", ":")) + "\n" for each in recording]
    packed = lzma.compress("".join(lines).encode(), preset=9 | lzma.PRESET_EXTREME)
    RECORDING.write_bytes(packed)


# How it is made.


def commands(collections: Mapping[str, Collection], seed: int = 0) -> dict[str, list[str]]:
    """The commands of each collection. Sets of flags take turns, so each is used as often as others."""
    draw = Draw(f"commands {seed}")
    flags = turns(draw, ["", *FLAGS.split("\n")[1:-1]])
    calls = turns(draw, CALLS.split("\n")[1:-1])
    chosen = {}
    for name, collection in collections.items():
        sets = [ALWAYS, *(next(flags) for _ in range(EACH)), *(random_flags(draw) for _ in "ab")]
        usual = [*(f"{each} {FILES}".strip() for each in sets), next(calls)]
        chosen[name] = list(dict.fromkeys(collection.commands or usual))
    return chosen


def random_flags(draw: Draw) -> str:
    """Random flags, with measures and parameters of measures."""
    flags = [flag for flag in ("-q", "-c", "-J") if draw.chance(0.4)]
    if draw.chance(0.35):
        flags.append(f"-l{draw.integer(0, 4)}")
    if draw.chance(0.35):
        flags.append(f"-M{draw.one_of((1, 2, 3, 7, 100))}")
    if draw.chance(0.2):
        flags.append(f"-N{draw.integer(0, 2000)}")
    return " ".join([*flags, *(f"-m {random_measure(draw)}" for _ in range(draw.integer(1, 4)))])


def random_measure(draw: Draw) -> str:
    """A measure with random parameters."""
    name, kind = draw.one_of([(name, kind) for kind, names in TAKES.items() for name in names])
    count = draw.integer(1, 3)
    if kind == "cutoffs":
        values = draw.sample(range(1, 40), count)
    elif kind == "levels":
        values = [f"{level / 20:.2f}" for level in sorted(draw.sample(range(1, 24), count))]
    elif kind == "gains":
        values = [f"{level}={draw.integer(0, 9)}" for level in range(draw.integer(0, 1), count + 1)]
    elif kind == "weights":
        values = [draw.one_of((-1, 0, 0.5, 2)) for _ in range(4)]
    else:
        values = [draw.one_of((0.5, 1, 2, 15))]
    return f"{name}.{','.join(map(str, values))}"


def turns(draw: Draw, texts: Sequence[str]) -> Iterator[str]:
    """All texts in a random order, then all in another order, and so on."""
    while True:
        yield from draw.shuffled(texts)


def record(programs: Mapping[str, str], seed: int = 0) -> list[Recorded]:
    """Run the programs, one for each version, on all collections."""
    collections = all_collections(seed)
    with tempfile.TemporaryDirectory() as folder:
        return [
            record_collection(programs, name, collection, chosen, Path(folder) / name)
            for (name, collection), chosen in zip(
                collections.items(), commands(collections, seed).values(), strict=True
            )
        ]


def record_collection(
    programs: Mapping[str, str],
    name: str,
    collection: Collection,
    chosen: Sequence[str],
    folder: Path,
) -> Recorded:
    """Run the programs with the chosen commands on a collection."""
    folder.mkdir()
    files = {file: decode(content) for file, content in collection.files().items()}
    Recorded(name, files, ()).write(folder)
    cases = []
    for command in chosen:
        versions_of: dict[tuple[int, str, str | None], list[str]] = {}
        for version, program in programs.items():
            code, out, messages = printed(program, command, folder)
            differs = reason_of(code, out, messages)
            if collection.differs and version in collection.versions:
                differs = collection.differs
            versions_of.setdefault((code, out, differs), []).append(version)
        cases += [
            Case(command, tuple(versions), *result) for result, versions in versions_of.items()
        ]
    return Recorded(name, files, tuple(cases))


def printed(program: str, command: str, folder: Path) -> tuple[int, str, str]:
    """The exit code of trec_eval, what it prints, and its messages.

    It runs twice, with its memory filled with one byte at first and then with another one: what it
    prints must not depend on memory that it never set.
    """
    results = [
        subprocess.run(
            [program, *shlex.split(command)],
            cwd=folder,
            env={"MALLOC_PERTURB_": fill},
            capture_output=True,
            timeout=60,
        )
        for fill in ("1", "200")
    ]
    if len({(each.returncode, each.stdout) for each in results}) > 1:
        raise SystemExit(f"{folder.name}: {command}: depends on memory that trec_eval never set")
    return results[0].returncode, decode(results[0].stdout), decode(results[0].stderr)


def reason_of(code: int, out: str, messages: str) -> str | None:
    """Why the drop-in differs from what trec_eval did, None where it should not."""
    if "not found in qrels" in messages:
        return ABSENT
    if code < 0 or (code == 4 and not re.search("duplicate|number of coefficients", messages)):
        return NEGATIVE
    if code and out:
        return PARTIAL
    if re.search("nan$", out, re.MULTILINE):
        return NAN
    return None


def checked_programs(arguments: Sequence[str]) -> dict[str, str]:
    """The path of the program for each version. Every program must print the version that it is."""
    programs = dict(argument.split("=", 1) for argument in arguments)
    if set(programs) != set(VERSIONS):
        raise SystemExit(f"expected a program for each of {', '.join(VERSIONS)}")
    paths = {version: os.path.abspath(programs[version]) for version in VERSIONS}
    for version, path in paths.items():
        printed = subprocess.run([path, "-v"], capture_output=True, text=True).stderr.split()
        if printed[-1:] != [VERSIONS[version]]:
            raise SystemExit(f"{path}: prints {' '.join(printed)!r}, expected {VERSIONS[version]}")
    return paths


# What it has.


class Counts:
    """How many collections, sets of flags and outputs a recording has."""

    def __init__(self, recording: Sequence[Recorded]) -> None:
        cases = [case for each in recording for case in each.cases]
        outputs = [(case, version) for case in cases for version in case.versions]
        self.collections = len(recording)
        self.flags = len({case.command for case in cases})
        self.equal = Counter(version for case, version in outputs if case.differs is None)
        self.differing = Counter(case.differs for case, _ in outputs if case.differs is not None)
        self.codes = {case.code for case in cases if case.differs is None}

    def sentence(self) -> str:
        """The counts, as the documentation has them."""
        versions = ", ".join(f"{count:,} of {version}" for version, count in self.equal.items())
        return (
            f"{self.collections} collections and {self.flags} sets of flags: {self.equal.total():,} "
            f"outputs ({versions}) that are equal to the byte, and {self.differing.total()} that differ"
        )


# The drop-in beside it.


def drop_in(version: str, command: str) -> tuple[int, bytes]:
    """The exit code of the drop-in in the current folder, and what it prints."""
    out, messages = sys.stdout, sys.stderr
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
    sys.stdout, sys.stderr = stream, io.StringIO()
    try:
        code = run(["--compat", version, *shlex.split(command)])
        stream.flush()
    finally:
        sys.stdout, sys.stderr = out, messages
    return code, raw.getvalue()


def mistakes(recorded: Recorded, folder: Path) -> list[str]:
    """The outputs on a collection that should be equal and are not, or the other way round.

    Its files are written to the folder, which is the current one.
    """
    recorded.write(folder)
    found = []
    for case in recorded.cases:
        for version in case.versions:
            code, raw = drop_in(version, case.command)
            same = (code, raw) == (case.code, encode(case.out))
            if same and case.differs is not None:
                found.append(
                    f"{recorded.name} {version} {case.command}: equal, though {case.differs}"
                )
            if not same and case.differs is None:
                lines = zip_longest(
                    decode(raw).split("\n"), case.out.split("\n"), fillvalue="nothing"
                )
                ours, theirs = next((pair for pair in lines if pair[0] != pair[1]), ("", ""))
                found.append(
                    f"{recorded.name} {version} {case.command}: "
                    f"exit {code}, {ours!r}; trec_eval: exit {case.code}, {theirs!r}"
                )
    return found


def compare(programs: Mapping[str, str], seed: int) -> None:
    """Compare the drop-in with the programs on random collections of another seed."""
    recording = record(programs, seed)
    print(Counts(recording).sentence())
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            found = [text for each in recording for text in mistakes(each, Path(folder))]
        finally:
            os.chdir(home)
    print("\n".join([*found, f"{len(found)} mistakes"]))
    if found:
        raise SystemExit(1)


def main() -> None:
    """Make the recording or compare, if programs are named; else count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", metavar="VERSION=PROGRAM")
    parser.add_argument("--compare", type=int, metavar="SEED")
    arguments = parser.parse_args()
    if arguments.compare is not None:
        compare(checked_programs(arguments.programs), arguments.compare)
        return
    if arguments.programs:
        save(record(checked_programs(arguments.programs)))
    counts = Counts(load())
    print(counts.sentence())
    for reason, count in counts.differing.most_common():
        print(f"{count:6} differ: {reason}")


if __name__ == "__main__":
    main()
