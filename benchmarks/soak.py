"""Evaluates random inputs in one process for a long time: answers stay right, and nothing is leaked.

    python benchmarks/soak.py [--minutes 30] [--seed 1] [--only NUMBER]

Inputs are small random collections in every form: dicts, objects, data frames, TREC files, plain and
compressed, CSV, JSON and Parquet, with random measures and policies. Each score is compared with its
definition (`tests/oracles`). About one input in four has a fault: then InputError must name the file.
If failures are skipped, the run beside it must still get its scores. Now and then runs are compared or
fused, or their distance (MED) is computed; these are checked too.

Every minute a line says how much memory, how many descriptors and how many threads the process has. The
verdict at the end: every answer right; memory flat after the first fifth of the time; no descriptor,
thread or temporary file left. The exit code is 1 if not. --only does one case again, by its number.
"""

from __future__ import annotations

import argparse
import gc
import itertools
import math
import os
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from soak_inputs import (
    FORMS,
    MEASURES,
    SELDOM,
    Policy,
    by_definition,
    expected_scores,
    made_collection,
    made_fault,
)

import rankgauge as rg

GROWTH = 0.5
"""By how many megabytes a minute memory may grow, by the line through the minutes after warm-up."""
WARM_UP = 0.2
"""The share of the time that is left out of that line."""
SHOWN = 10
"""How many wrong answers are printed."""


class Wrong(Exception):
    """An answer that is not right."""


@dataclass(frozen=True)
class Sample:
    """What the process holds at a time."""

    minutes: float
    megabytes: float
    descriptors: int
    threads: int

    @classmethod
    def now(cls, start: float) -> Sample:
        gc.collect()
        with open("/proc/self/status", encoding="ascii", errors="replace") as stream:
            known = dict(line.split(":", 1) for line in stream)
        return cls(
            (time.monotonic() - start) / 60,
            int(known["VmRSS"].split()[0]) * 1024 / 1e6,
            len(os.listdir("/proc/self/fd")) - 1,
            int(known["Threads"]),
        )


# What is done


def good_input(folder: Path, draw: random.Random) -> None:
    """A collection in a random form has the scores of the definitions."""
    qrels, run = made_collection(draw)
    policy = Policy.drawn(draw)
    measures = draw.sample(MEASURES, draw.randint(1, 5))
    usual = [form for form in FORMS if form not in SELDOM]
    form = draw.choice(SELDOM) if draw.random() < 0.01 else draw.choice(usual)
    judged, ranked = FORMS[form](folder, qrels, run)
    scores = rg.evaluate(judged, ranked, measures, **asdict(policy))
    expected = expected_scores(qrels, run, measures, policy)
    _check(scores.per_query(), expected, f"{form}, {policy}")


def _check(
    given: dict[str, dict[str, dict[str, float]]], expected: dict[str, dict[str, float]], about: str
) -> None:
    (own,) = given.values()
    if list(own) != list(expected) and sorted(own) != sorted(expected):
        raise Wrong(f"{about}: the queries {list(own)}, expected {list(expected)}")
    for query, values in expected.items():
        for measure, value in values.items():
            score = own[query][measure]
            if not math.isclose(score, value, rel_tol=1e-9, abs_tol=1e-12) and not (
                math.isnan(score) and math.isnan(value)
            ):
                raise Wrong(f"{about}: {measure} of {query} is {score}, expected {value}")


def bad_input(folder: Path, draw: random.Random) -> None:
    """A file with a fault is named in an InputError; a good run beside it can still be scored."""
    qrels, run = made_collection(draw)
    fault = made_fault(folder, run, draw)
    if not fault.judgments and draw.random() < 0.3:
        good = folder / "beside.run"
        rg.write_run(run, good)
        scores = rg.evaluate(qrels, [good, fault.path], ["AP"], failures="skip", precision="double")
        if len(scores.failed) != 1 or fault.path.name not in scores.failed[0]:
            raise Wrong(
                f"{fault.kind}: failed is {scores.failed}, expected {fault.path.name} in it"
            )
        policy = Policy("zero", "nonrelevant", "docno", "double")
        _check(scores.per_query(), expected_scores(qrels, run, ["AP"], policy), fault.kind)
        return
    try:
        rg.evaluate(
            fault.path if fault.judgments else qrels, run if fault.judgments else fault.path, "AP"
        )
    except rg.InputError as error:
        if fault.path.name not in str(error):
            raise Wrong(
                f"{fault.kind}: the error does not name {fault.path.name}: {error}"
            ) from error
    else:
        raise Wrong(f"{fault.kind}: no error, expected an InputError that names {fault.path.name}")


def comparison(folder: Path, draw: random.Random) -> None:
    """The paired t test of two runs is SciPy's, on the scores of the definitions."""
    from scipy.stats import ttest_rel

    topics = [f"q{number}" for number in range(draw.randint(3, 9))]
    ids = [f"d{number}" for number in range(6)]
    qrels = {topic: {each: draw.randint(0, 2) for each in ids} for topic in topics}
    runs = {
        name: {topic: {each: draw.random() for each in draw.sample(ids, 5)} for topic in topics}
        for name in ("one", "other")
    }
    found = rg.compare(rg.evaluate(qrels, runs, "nDCG@5", precision="double"))
    policy = Policy("zero", "nonrelevant", "docno", "double")
    values = [
        [each["nDCG@5"] for each in expected_scores(qrels, run, ["nDCG@5"], policy).values()]
        for run in runs.values()
    ]
    difference = math.fsum(values[0]) / len(topics) - math.fsum(values[1]) / len(topics)
    if not math.isclose(found.difference[0, 0], difference, rel_tol=1e-9, abs_tol=1e-12):
        raise Wrong(f"a difference of {found.difference[0, 0]}, expected {difference}")
    if np.ptp(np.subtract(*values)) > 1e-9:
        p = ttest_rel(*values).pvalue
        if not math.isclose(found.p[0, 0], p, rel_tol=1e-6):
            raise Wrong(f"p is {found.p[0, 0]}, expected {p}")


def distance(folder: Path, draw: random.Random) -> None:
    """MED of two short lists is the greatest difference over all labels."""
    ids = [f"d{number}" for number in range(6)]
    a, b = draw.sample(ids, 4), draw.sample(ids, 4)
    measure = draw.choice(("AP@4", "P@3", "RR@4"))
    labels = {each: draw.randint(0, 1) for each in draw.sample(ids, draw.randint(0, 3))}
    labels = {each: label for each, label in labels.items() if each in {*a, *b}}
    free = [each for each in dict.fromkeys((*a, *b)) if each not in labels]
    greatest = 0.0
    for chosen in itertools.product((0, 1), repeat=len(free)):
        known = {**labels, **dict(zip(free, chosen, strict=True))}
        one, other = (
            by_definition(measure, [known[each] for each in ranked], list(known.values()), 1)
            for ranked in (a, b)
        )
        greatest = max(greatest, abs(one - other))
    value = rg.med(a, b, measure, labels).value
    if not math.isclose(value, greatest, abs_tol=1e-9):
        raise Wrong(
            f"MED by {measure} of {a} and {b} with {labels} is {value}, expected {greatest}"
        )


def fusion(folder: Path, draw: random.Random) -> None:
    """A fused run has the order and the scores of the definition."""
    from oracles.fusion import fused, ranks

    ids = [f"d{number}" for number in range(8)]
    lists = [
        {each: draw.randint(0, 64) / 4 for each in draw.sample(ids, draw.randint(1, 8))}
        for _ in range(draw.randint(2, 4))
    ]
    method = draw.choice(("rrf", "sum", "mnz", "wsum", "borda", "max"))
    normalize = "none" if method in ("rrf", "borda") else draw.choice(("min-max", "rank", "sum"))
    made = rg.fuse([{"q": each} for each in lists], method, normalize=normalize)
    expected = fused(lists, method, normalize=normalize, absent="minimum")
    own = dict(zip(made.documents.texts(), made.scores.tolist(), strict=True))
    for document, score in expected.items():
        if not math.isclose(own[document], score, rel_tol=1e-5, abs_tol=1e-6):
            raise Wrong(f"{method}, {normalize}: {document} has {own[document]}, expected {score}")
    apart = {document: round(score, 9) for document, score in expected.items()}
    if len(set(apart.values())) == len(apart) and ranks(own) != ranks(apart):
        raise Wrong(f"{method}, {normalize}: the order {list(own)}, expected {list(ranks(apart))}")


KINDS: dict[Callable[[Path, random.Random], None], int] = {
    good_input: 66,
    bad_input: 25,
    comparison: 3,
    distance: 3,
    fusion: 3,
}
"""What is done, and how often of a hundred."""


# The loop


def case(number: int, seed: int, folder: Path) -> str:
    """Do the case of this number, and give the name of its kind; Wrong if its answer is not right."""
    draw = random.Random(f"{seed} {number}")
    work = draw.choices(list(KINDS), list(KINDS.values()))[0]
    own = folder / str(number)
    own.mkdir()
    try:
        work(own, draw)
    except Wrong:
        raise
    except Exception as error:
        raise Wrong(f"{work.__name__} raises {traceback.format_exc()}") from error
    finally:
        shutil.rmtree(own)
    return work.__name__


@contextmanager
def own_temporary_files() -> Iterator[tuple[Path, Path]]:
    """A folder for inputs, and the folder that temporary files of this process go to."""
    with tempfile.TemporaryDirectory() as folder:
        inputs, temporary = Path(folder, "inputs"), Path(folder, "temporary")
        inputs.mkdir()
        temporary.mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
        yield inputs, temporary


def verdicts(samples: list[Sample], wrong: int, left: list[str]) -> dict[str, bool]:
    """What must be so at the end."""
    last = samples[-1]
    warm = [each for each in samples if each.minutes >= WARM_UP * last.minutes]
    growth = 0.0
    if len(warm) > 1:
        slope = np.polyfit([each.minutes for each in warm], [each.megabytes for each in warm], 1)
        growth = float(slope[0])
    return {
        f"every answer is right ({wrong} are not)": wrong == 0,
        f"memory grows by {growth:+.3f} MB a minute, at most {GROWTH}": growth <= GROWTH,
        f"descriptors: {warm[0].descriptors} after warm-up, {last.descriptors} at the end": (
            last.descriptors <= warm[0].descriptors
        ),
        f"threads: {warm[0].threads} after warm-up, {last.threads} at the end": (
            last.threads <= warm[0].threads
        ),
        f"temporary files left: {', '.join(left) or 'none'}": not left,
    }


def main() -> int:
    """Do cases until the time is over; 0 if all is well."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="do only the case of this number")
    arguments = parser.parse_args()
    os.environ["RANKGAUGE_CACHE"] = "off"
    counts: Counter[str] = Counter()
    start = time.monotonic()
    with own_temporary_files() as (inputs, temporary):
        if arguments.only is not None:
            print(case(arguments.only, arguments.seed, inputs))
            return 0
        samples: list[Sample] = []
        wrong = 0
        every = min(60.0, arguments.minutes * 60 / 20)
        for number in itertools.count():
            if time.monotonic() - start >= every * (len(samples) + 1):
                samples.append(Sample.now(start))
                show(samples[-1], counts, wrong)
            if time.monotonic() - start >= arguments.minutes * 60 and samples:
                break
            try:
                counts[case(number, arguments.seed, inputs)] += 1
            except Wrong as error:
                wrong += 1
                if wrong <= SHOWN:
                    print(f"WRONG, case {number}: {error}", flush=True)
        left = os.listdir(temporary)
    result = verdicts(samples, wrong, left)
    for text, well in result.items():
        print(f"{'well' if well else 'BAD '}  {text}")
    return 0 if all(result.values()) else 1


def show(sample: Sample, counts: Counter[str], wrong: int) -> None:
    """Print a line about the minute."""
    done = ", ".join(f"{kind.replace('_', ' ')} {counts[kind]:,}" for kind in sorted(counts))
    print(
        f"{sample.minutes:6.2f} min  {sample.megabytes:7.1f} MB  {sample.descriptors} descriptors  "
        f"{sample.threads} threads  {counts.total():,} cases ({done}), {wrong} wrong",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
