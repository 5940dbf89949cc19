"""Small test collections of our own, for the comparison of the drop-in with trec_eval.

Each family is a function that makes one collection from random numbers and from the number of the
collection within the family. All random numbers come from `random.Random.random`, whose sequence Python
guarantees, so that every version of Python makes the same bytes.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

Row = list[str]
"""The columns of a line."""


class Draw:
    """Random choices that are the same in every version of Python."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed).random

    def chance(self, probability: float) -> bool:
        return self.random() < probability

    def integer(self, low: int, high: int) -> int:
        return low + int(self.random() * (high - low + 1))

    def one_of(self, values: Sequence[T]) -> T:
        return values[self.integer(0, len(values) - 1)]

    def shuffled(self, values: Sequence[T]) -> list[T]:
        keys = [self.random() for _ in values]
        return [values[i] for i in sorted(range(len(values)), key=keys.__getitem__)]

    def sample(self, values: Sequence[T], count: int) -> list[T]:
        return self.shuffled(values)[:count]


@dataclass
class Collection:
    """The rows of the judgments and of the run, or the text of a file if rows cannot express it.

    If it has `commands`, these are recorded and no others. `differs` says why the drop-in does something
    else than trec_eval, on purpose, in these `versions`.
    """

    qrels: list[Row] = field(default_factory=list)
    run: list[Row] = field(default_factory=list)
    texts: dict[str, bytes] = field(default_factory=dict)
    commands: tuple[str, ...] = ()
    differs: str | None = None
    versions: tuple[str, ...] = ("9.0.7", "9.0.8", "10")

    def files(self) -> dict[str, bytes]:
        """The content of each file, by its name."""
        return {"qrels": text_of(self.qrels), "run": text_of(self.run), **self.texts}


def text_of(rows: Sequence[Row], blank: str = " ", end: str = "\n") -> bytes:
    """The lines of these rows."""
    return "".join(blank.join(row) + end for row in rows).encode("utf-8", "surrogateescape")


def names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{number}" for number in range(1, count + 1)]


def small_collection(
    draw: Draw,
    *,
    queries: Sequence[str] = ("q1", "q2", "q3"),
    documents: Sequence[str] | int = 14,
    grades: Sequence[int] = (0, 0, 1),
    judged: float = 0.6,
    retrieved: tuple[int, int] = (3, 12),
    scores: Sequence[float] | None = None,
    tag: str = "tag",
) -> Collection:
    """A collection that has judgments and documents for every query.

    Each document is judged with a probability of `judged`. Scores fall with the rank, or are drawn
    from `scores`, so that some are tied.
    """
    ids = names("d", documents) if isinstance(documents, int) else list(documents)
    collection = Collection()
    for query in queries:
        chosen = [document for document in ids if draw.chance(judged)] or ids[:1]
        labels = [draw.one_of(grades) for _ in chosen]
        if max(labels) < 0:
            labels[0] = max(0, *grades)
        collection.qrels += [
            [query, "0", document, str(label)]
            for document, label in zip(chosen, labels, strict=True)
        ]
        count = min(draw.integer(*retrieved), len(ids))
        for rank, document in enumerate(draw.sample(ids, count), 1):
            score = draw.one_of(scores) if scores else (count - rank + 1) / 4
            collection.run.append([query, "Q0", document, str(rank), repr(score), tag])
    return collection


# Grades.


def binary(draw: Draw, number: int) -> Collection:
    return small_collection(draw, queries=names("q", 1 + number % 4))


def graded(draw: Draw, number: int) -> Collection:
    return small_collection(draw, grades=(0, 0, 1, 2, 3, 4)[: 4 + number % 3])


def grades_with_gaps(draw: Draw, number: int) -> Collection:
    chosen = ((0, 3, 7), (2, 5), (0, 10, 20), (1, 9, 10))[number % 4]
    return small_collection(draw, grades=chosen, queries=("q1", "q2"))


def large_grades(draw: Draw, number: int) -> Collection:
    chosen = ((0, 1, 50), (0, 127, 128), (0, 255, 2000), (1, 1000))[number % 4]
    return small_collection(draw, grades=chosen, queries=("q1", "q2"))


def negative_grades(draw: Draw, number: int) -> Collection:
    return small_collection(draw, grades=((-2, 0, 1, 2), (-1, 0, 1), (-1, -2, 1))[number % 3])


def sampled_pools(draw: Draw, number: int) -> Collection:
    grades = (-1, -1, -1, 0, 0, 1 + number % 2)
    return small_collection(draw, grades=grades, judged=0.9, documents=20, retrieved=(8, 18))


def nothing_relevant(draw: Draw, number: int) -> Collection:
    """In the last query, or in all queries, no document is relevant."""
    collection = small_collection(draw, grades=(0, 1, 2))
    for row in collection.qrels:
        if number % 2 or row[0] == "q3":
            row[3] = "-1" if number % 4 > 1 and row[2] == "d2" else "0"
    return collection


def all_relevant(draw: Draw, number: int) -> Collection:
    return small_collection(draw, grades=(1, 1 + number % 3), judged=(0.3, 0.9)[number % 2])


def signed_grades(draw: Draw, number: int) -> Collection:
    """Grades such as +1, 01 and -0."""
    collection = small_collection(draw)
    forms = {"0": ("-0", "+0", "00", "0"), "1": ("+1", "01", "+001", "1")}
    for row in collection.qrels:
        row[3] = draw.one_of(forms[row[3]])
    return collection


# Scores.


def ties(draw: Draw, number: int) -> Collection:
    scores = ((1.0,), (1.0, 2.0), (0.0, -1.0, 1.0), (0.5, 0.25, 0.125, 0.0))[number % 4]
    return small_collection(draw, scores=scores, documents=16, retrieved=(6, 14), grades=(0, 1, 2))


def ties_in_single_precision(draw: Draw, number: int) -> Collection:
    """Scores that differ in double precision only."""
    base = (16777216.0, 1.0, 1e9, 0.1, -1e30, 1234567.875, 3e-39, 2.5)[number % 8]
    near = [base]
    for _ in range(5):
        near.append(math.nextafter(near[-1], math.inf))
    near += [base * (1 + 1e-9), base * (1 + 2e-8), base * (1 + 3e-7)]
    return small_collection(draw, scores=near, documents=16, retrieved=(8, 14))


def beyond_single_precision(draw: Draw, number: int) -> Collection:
    """Scores that are infinite or 0 in single precision."""
    scores = ((1e39, 1e40, 3e38, -1e39), (1e-46, 1e-50, 0.0, 1e-44), (1e308, -1e308, 5e-324))
    return small_collection(draw, scores=scores[number % 3], retrieved=(6, 12))


def forms_of_scores(draw: Draw, number: int) -> Collection:
    """Scores in scientific notation, infinite, very long, with signs, or with no digit on a side."""
    forms = (
        ("1e3", "1E+3", "1000", "999.9e0", "10e-1"),
        ("inf", "-inf", "INF", "Infinity", "+infinity", "1e308"),
        ("0." + "3" * 200, "0." + "3" * 199 + "4", "0.333", "1" + "0" * 60, "1e60"),
        (".5", "5.", "+.5e1", "-.5", "-5.e-1", "0.50000"),
        ("-0", "0", "+0.0", "0e999", "-0.0e-5", "1e-400"),
        ("12345678901234567890", "12345678901234567891", "1.2345678901234567890e19"),
        ("0.1", "0.10000000000000001", "0.1000000000000000055511151231257827", "1e-1"),
        ("9007199254740993", "9007199254740992", "9007199254740991", "9007199254740994.0"),
    )[number % 8]
    collection = small_collection(draw, retrieved=(6, 12))
    for row in collection.run:
        row[4] = draw.one_of(forms)
    return collection


# Which queries and documents there are.


def queries_without_results(draw: Draw, number: int) -> Collection:
    queries = ("a", "b", "c", "d")
    collection = small_collection(draw, queries=queries, grades=(0, 1, 2), retrieved=(2, 8))
    absent = queries[number % 4 :: 3]
    collection.run = [row for row in collection.run if row[0] not in absent]
    return collection


def queries_without_judgments(draw: Draw, number: int) -> Collection:
    queries = ("a", "b", "c", "d")
    collection = small_collection(draw, queries=queries, grades=(0, 1, 2), retrieved=(2, 8))
    absent = queries[number % 4 :: 3]
    collection.qrels = [row for row in collection.qrels if row[0] not in absent]
    return collection


def queries_in_one_file_only(draw: Draw, number: int) -> Collection:
    collection = small_collection(draw, queries=("a", "b", "c", "d"), retrieved=(2, 8))
    if number % 2:
        for row in collection.qrels:
            if row[0] == "c":
                row[3] = "0"
    collection.run = [row for row in collection.run if row[0] not in ("a", "c")]
    collection.qrels = [row for row in collection.qrels if row[0] != "d"]
    return collection


def one_document(draw: Draw, number: int) -> Collection:
    grades = (0, 1, 2) if number % 2 else (1,)
    return small_collection(draw, retrieved=(1, 1), documents=(1, 3, 8)[number % 3], grades=grades)


def most_unjudged(draw: Draw, number: int) -> Collection:
    return small_collection(draw, judged=0.15, documents=20, retrieved=(4, 16), grades=(0, 1, 2))


def more_relevant_than_retrieved(draw: Draw, number: int) -> Collection:
    grades = (1, 1, 2, 0)
    return small_collection(draw, documents=30, judged=0.9, retrieved=(1, 5), grades=grades)


def best_and_worst(draw: Draw, number: int) -> Collection:
    """The ideal order, its reverse, or relevant documents that are not retrieved at all."""
    collection = small_collection(draw, grades=(0, 0, 1, 2), judged=1.0, retrieved=(14, 14))
    labels = {(row[0], row[2]): int(row[3]) for row in collection.qrels}
    for row in collection.run:
        label = labels[row[0], row[2]]
        row[4] = str(label if number % 2 else -label)
    if number % 4 > 1:
        collection.run = [row for row in collection.run if labels[row[0], row[2]] < 1]
    return collection


DEPTHS = (*(1, 4, 5, 6, 9, 10, 11, 14, 15, 16, 19, 20, 21, 29, 30, 31), *(99, 100, 101, 199, 200))
DEEP = (201, 499, 500, 501, 999, 1000, 1001)


def around_cutoffs(draw: Draw, number: int) -> Collection:
    """Lists that are as long as a cutoff, or one document shorter or longer."""
    depths = DEPTHS[number % 7 :: 7]
    collection = Collection()
    for depth in depths:
        part = small_collection(
            draw, queries=[f"q{depth}"], documents=depth + 4, judged=0.3, retrieved=(depth, depth)
        )
        collection.qrels += part.qrels
        collection.run += part.run
    return collection


def deep(draw: Draw, number: int) -> Collection:
    """The same for long lists, whose documents are in the order of their ids, and few are judged."""
    depth = DEEP[number % 7]
    ids = names("d", depth)
    judged = sorted(
        {1, 5, depth // 2, depth - 1, depth, *(draw.integer(1, depth) for _ in "abcdef")}
    )
    qrels = [["q", "0", f"d{place}", str(draw.one_of((0, 1, 1, 2)))] for place in judged]
    run = [["q", "Q0", each, "1", str(depth - i), "tag"] for i, each in enumerate(ids)]
    return Collection(qrels, run)


# How ids and lines are written.


def iterations(draw: Draw, number: int) -> Collection:
    """The second column of the judgments has subtopics, or other words."""
    collection = small_collection(draw)
    words = (("1", "2", "3"), ("0", "Q0", "x"), ("7",), ("-1", "1.5", "*", "#"))[number % 4]
    for row in collection.qrels:
        row[1] = draw.one_of(words)
    for row in collection.run:
        row[1] = draw.one_of((*words, "0"))
    return collection


def _renamed(
    collection: Collection, queries: Sequence[str], documents: Sequence[str], tag: str = "tag"
) -> Collection:
    """The collection with other ids, in the order in which they appear."""
    known: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for row in [*collection.qrels, *collection.run]:
        row[0] = known[0].setdefault(row[0], queries[len(known[0]) % len(queries)])
        row[2] = known[1].setdefault(row[2], documents[len(known[1]) % len(documents)])
    for row in collection.run:
        row[5] = tag
    return collection


def unicode_ids(draw: Draw, number: int) -> Collection:
    words = (
        "é",
        "ß",
        "文書",
        "документ",
        "Ω",
        "ﬁ",
        "e\u0301",
        "😀",
        "\u200b",
        "\xa0x",
        "𝒟",
        "ı",
        "İ",
    )
    documents = [f"{a}{b}" for a in words for b in ("", "1")]
    collection = small_collection(draw, scores=(1.0, 2.0))
    return _renamed(
        collection,
        draw.shuffled(("frage-ü", "問", "q", "é", "e")),
        draw.shuffled(documents),
        "läuf",
    )


def bytes_that_are_not_utf8(draw: Draw, number: int) -> Collection:
    raw = [bytes(draw.integer(128, 255) for _ in range(2)) for _ in range(40)]
    documents = sorted({b"d" + each for each in raw})
    texts = [each.decode("utf-8", "surrogateescape") for each in draw.shuffled(documents)]
    collection = small_collection(draw, scores=(1.0, 2.0))
    tag = b"run-\xff\xfe".decode("utf-8", "surrogateescape")
    return _renamed(collection, ["q\udcff", "q\udc80", "\udcfcq"], texts, tag)


def control_characters(draw: Draw, number: int) -> Collection:
    """Ids with characters that end a line or separate words elsewhere, but not in C."""
    signs = ("\x01", "\x1c", "\x1f", "\x7f", "\x85", "\u2028", "\x1b[1m", "")
    documents = [f"{a}{b}{c}" for a in "dx" for b in signs for c in ("", "1")]
    collection = small_collection(draw, scores=(1.0, 2.0))
    queries = ("q\x1c1", "\x85q", "q\x1f")
    return _renamed(collection, queries, draw.shuffled(documents), "t\x1cag")


def long_ids(draw: Draw, number: int) -> Collection:
    length = (30, 100, 500, 2000)[number % 4]
    documents = [f"{'x' * length}{place:02}{'y' * (place % 3)}" for place in range(30)]
    queries = [letter * (length // 2) for letter in "abc"]
    collection = small_collection(draw, scores=(1.0, 2.0), retrieved=(2, 6), documents=8)
    return _renamed(collection, queries, draw.shuffled(documents), "run" * (length // 4))


def order_of_ids(draw: Draw, number: int) -> Collection:
    """Ids that are prefixes of others, in upper and lower case, and numbers of several lengths."""
    documents = [*"aAbB19!~", *("ab", "aB", "ba", "b-", "b_", "b.", "10", "02", "1.0", "-1", "aa")]
    queries = (("10", "9", "100", "1"), ("q", "Q", "qq", "q-"), ("all", "A", "~", "0"))[number % 3]
    collection = small_collection(draw, queries=("a", "b", "c", "d"), scores=(1.0, 2.0))
    return _renamed(collection, queries, draw.shuffled(documents))


def blanks(draw: Draw, number: int) -> Collection:
    """Tabs, several blanks, line ends of Windows, no line end at the end, and blank lines in runs."""
    collection = small_collection(draw, scores=(1.0, 2.0), retrieved=(2, 8))
    blank = ("\t", "   ", " \t ", "\v", "\f ", "\t\t", " ", "\r")[number]
    end = ("\n", "\r\n", " \n", "\t\r\n", "\n", "\n", " \v\f\n", "\n")[number]
    qrels, run = text_of(collection.qrels, blank, end), text_of(collection.run, blank, end)
    if number % 2:
        run = b"\n \n" + run.replace(b"\n", b"\n\t\n", 3) + b"\n\n"
    else:
        qrels, run = b"  " + qrels.rstrip(), b"\t" + run.rstrip()
    collection.texts = {"qrels": qrels, "run": run}
    return collection


def more_columns(draw: Draw, number: int) -> Collection:
    """Runs with more than six columns, and with several tags."""
    collection = small_collection(draw)
    for row in collection.run:
        row[5] = draw.one_of(("one", "two"))
        row += ["and", "more", "0.5"][: draw.integer(0, 3)]
    return collection


def comments(draw: Draw, number: int) -> Collection:
    """Lines that begin with #: comments in version 10, and data in version 9."""
    collection = small_collection(draw, retrieved=(3, 8))
    lines = (
        ("# a comment\n", "#\n", "# Q0 d1 1 99 tag\n", "#q1 Q0 d1 1 2.5 tag\n"),
        ("# 0 d1 1\n", "# Q0 d1 1 99 tag\n", "# Q0 d2 1 98 tag\n", "#another 0 1 2 3 4 5\n"),
    )[number % 2]
    qrels = text_of(collection.qrels).decode().splitlines(keepends=True)
    run = text_of(collection.run).decode().splitlines(keepends=True)
    if number % 4 != 2:
        qrels.insert(draw.integer(0, len(qrels) - 1), lines[0])
    if number % 4 != 3:
        for line in lines[1:]:
            run.insert(draw.integer(0, len(run)), ("", "  ", "\t")[number % 3] + line)
    collection.texts = {"qrels": "".join(qrels).encode(), "run": "".join(run).encode()}
    return collection


def marks_within_lines(draw: Draw, number: int) -> Collection:
    """The sign # where it begins no line."""
    collection = small_collection(draw)
    queries = ("q#1", "q#", "q##")
    return _renamed(collection, queries, [f"{sign}{i}" for i in range(10) for sign in "#d"], "#tag")


def unsorted(draw: Draw, number: int) -> Collection:
    """Lines in any order, and ranks that contradict the scores or are no numbers."""
    collection = small_collection(draw, scores=(1.0, 2.0, 3.0, 4.0) if number % 2 else None)
    for row in collection.run:
        row[3] = draw.one_of(("0", "1", "-7", "x", "99999999999", "1.5"))
    collection.run = sorted(draw.shuffled(collection.run), key=lambda row: row[0])
    return collection


def mixed_queries(draw: Draw, number: int) -> Collection:
    """The lines of a query are not together, in the run, in the judgments, or in both."""
    collection = small_collection(draw, queries=("10", "9", "q"), scores=(1.0, 2.0, 3.0))
    if number % 3 != 1:
        collection.run = draw.shuffled(collection.run)
    if number % 3 != 2:
        collection.qrels = draw.shuffled(collection.qrels)
    return collection


def z_scores(draw: Draw, number: int) -> Collection:
    """Means and standard deviations for -Z, or a file of them that every version refuses.

    trec_eval reads behind its table for what sorts after the last entry, so there is a last one.
    """
    collection = small_collection(draw, grades=(0, 1, 2))
    measures = ("P_10", "P_5", "Rprec", "bpref", "map", "ndcg", "num_rel", "num_ret", "recip_rank")
    lines = []
    for query in ("q1", "q2", "q3")[: 3 - number % 2]:
        for measure in measures:
            if draw.chance(0.8):
                deviation = draw.one_of(("0", "0.1", ".5", "1e0"))
                lines.append(f"{query} {measure}\t{draw.random():.4f} {deviation} \n")
        lines.append(f"{query} zzz 0 1\n")
    lines.append("zzz zzz 0 1\n")
    text = "".join(draw.shuffled(lines))
    faults = {4: "", 5: text + "\n", 6: text + "q1 map 0.5\n", 7: text.replace("zzz 0", "zzz 0 0")}
    collection.texts["z_scores"] = faults.get(number, text).encode()
    flags = (
        "-q -m map -m P.5,10 -m ndcg",
        "-m bpref -c",
        "-q",
        "-m all_trec -q",
        "-m P.0",
        "-q -c",
    )
    collection.commands = tuple(f"-Z z_scores {each} qrels run" for each in flags)
    return collection


# All at once, and what is refused.


def mixture(draw: Draw, number: int) -> Collection:
    ids = draw.shuffled(names("d", draw.integer(2, 30)))
    queries = names("q", draw.integer(1, 5))
    lowest, highest = draw.one_of((0, 0, -1, -2)), draw.integer(1, 4)
    base, step = draw.one_of((0.0, 1.0, 16777216.0, -1e30)), draw.one_of((0.5, 1e-9, 1e-16))
    collection = small_collection(
        draw,
        queries=queries,
        documents=ids,
        grades=range(lowest, highest + 1),
        judged=draw.random(),
        retrieved=(1, len(ids)),
        scores=[base + step * i for i in range(draw.integer(1, 12))],
    )
    if number % 2:
        collection.run = draw.shuffled(collection.run)
    return collection


def negative_grades_only(draw: Draw, number: int) -> Collection:
    """A query that has negative grades only, as the first one or as a later one."""
    collection = small_collection(draw, queries=("q1", "q2"), grades=(0, 1, 2))
    for row in collection.qrels:
        if row[0] == f"q{1 + number % 2}":
            row[3] = "-1"
    collection.commands = (
        "-q -m all_trec qrels run",
        "-m map -m ndcg qrels run",
        "-c -J qrels run",
    )
    return collection


def faulty(draw: Draw, number: int) -> Collection:
    """Files that every version refuses, or that have no query in common."""
    collection = small_collection(draw, queries=("q1", "q2"), retrieved=(2, 5), documents=6)
    qrels, run = collection.qrels, collection.run
    row = draw.integer(0, 1)
    if number < 4:
        changed = (run, run, qrels, qrels)[number]
        changed[row] = changed[row][: (5, 1, 3, 2)[number]]
    elif number == 4:
        qrels[1].append("5")
    elif number == 5:
        run.append([*run[-1][:4], "0.0625", "tag"])
    elif number < 8:
        qrels.append([*qrels[-1][:1], str(number), *qrels[-1][2:]])
    elif number == 8:
        collection.texts["qrels"] = b""
    elif number == 9:
        collection.texts["run"] = b""
    elif number == 10:
        collection.texts["qrels"] = b"\n"
    elif number == 11:
        collection.texts["qrels"] = text_of(qrels) + (b"\n", b" ")[row]
    elif number == 12:
        collection.texts["qrels"] = text_of(qrels).replace(b"\n", b"\n \t\n", 1)
    elif number == 13:
        for each in run:
            each[0] = f"other-{each[0]}"
    elif number == 14:
        qrels.append(list(qrels[-1]))
        run[row] = run[row][:5]
    else:
        run.append(list(run[-1]))
        qrels[row] = qrels[row][:3]
    if number in (5, 6, 7, 14, 15):
        # Not with -M and not for num_q alone, where trec_eval does not look for a document twice.
        flags = (
            "-q -m all_trec",
            "-m map",
            "-J -c",
            "-m P.0",
            "-Z missing",
            "-m nope",
            "-N 9 -l 2",
        )
        collection.commands = tuple(f"{each} qrels run" for each in flags)
    return collection


# Where the drop-in differs on purpose.

QRELS = b"q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 d 1\n"
RUN = b"q1 Q0 a 1 3 tag\nq1 Q0 x 2 2 tag\nq1 Q0 c 3 1 tag\nq2 Q0 e 1 1 tag\nq2 Q0 d 2 0.5 tag\n"

DIFFERENT_FLAGS = {
    "preferences and judgment groups are refused": (
        *("-R prefs", "-R qrels_prefs", "-R qrels_jg", "-m prefs", "-m all_prefs", "-m qrels_jg"),
        *("-m prefs_pair", "-m map_avgjg"),
    ),
    "-l and -M below 0 are refused": ("-l -1 -m map", "-M -1 -m map"),
    "gains below 0, and gains for levels below 0, are refused": ("-m ndcg.1=-1", "-m Rndcg.-1=1"),
    "parameters such as inf or hex numbers are refused": (
        *("-m set_F.inf", "-m set_F.0x10", "-m set_F.1e999", "-m iprec_at_recall.inf"),
        "-m G.9999999999=1",
    ),
    "gains that are less than 1 apart are sorted": ("-m ndcg.1=0.9,2=0.5", "-m G.1=0.9,2=1.2"),
    "the first of two gains for a level counts": ("-m ndcg.1=5,1=3",),
    "the levels of 11pt_avg may be in any order": ("-m 11pt_avg.0.9,0.1", "-m 11pt_avg.1.5,0"),
    "-D has no effect": ("-D 0.q1 -m map",),
    "the help is our own": ("-h",),
    "trec_eval reads behind its table of grades": ("-l 99999999999 -m bpref",),
}
"""Flags with which no version does what the drop-in does, by the reason."""

DIFFERENT_FILES = {
    "grades that are not whole numbers are refused": tuple(
        ("qrels", b"a 1", b"a " + grade) for grade in (b"1.5", b"1e1", b"x", b"0x1")
    ),
    "scores that are not numbers are refused": tuple(
        ("run", b" 3 tag", b" " + score + b" tag")
        for score in (b"nan", b"x", b"3x", b"0x3p0", b"1e999")
    ),
    "a document twice is refused in every query, at every rank": (
        ("run", b"q2 Q0 e", b"q9 Q0 z 1 1 tag\nq9 Q0 z 2 0 tag\nq2 Q0 e"),
    ),
    "tables and byte order marks are understood": (
        ("qrels", QRELS, b"query_id,doc_id,grade\nq1,a,1\nq2,d,1\n"),
        ("qrels", QRELS, b"\xef\xbb\xbf" + QRELS),
        ("run", RUN, b"\xef\xbb\xbf" + RUN),
    ),
}
"""Files with which no version does what the drop-in does: what is changed, by the reason."""


def different_flags(draw: Draw, number: int) -> Collection:
    reason, flags = list(DIFFERENT_FLAGS.items())[number]
    chosen = tuple(f"{each} qrels run" for each in flags)
    return Collection(texts={"qrels": QRELS, "run": RUN}, commands=chosen, differs=reason)


def different_files(draw: Draw, number: int) -> Collection:
    changes = [(reason, *change) for reason, each in DIFFERENT_FILES.items() for change in each]
    reason, name, old, new = changes[number]
    texts = {"qrels": QRELS, "run": RUN}
    texts[name] = texts[name].replace(old, new)
    commands = ("-q -m all_trec qrels run", "-m P.1 -c qrels run")
    return Collection(texts=texts, commands=commands, differs=reason)


def different_in_version_10(draw: Draw, number: int) -> Collection:
    if number:
        texts = {"qrels": b"# one\n# two\n" + QRELS, "run": RUN}
        reason, commands = "several comment lines in a row are skipped", ("-m map qrels run",)
    else:
        texts = {"qrels": QRELS, "run": RUN}
        reason, commands = "RBP refuses a p that is not a probability", ("-m rbp.p=2 qrels run",)
    return Collection(texts=texts, commands=commands, differs=reason, versions=("10",))


FAMILIES: dict[Callable[[Draw, int], Collection], int] = {
    **dict.fromkeys(
        (
            *(binary, graded, grades_with_gaps, large_grades, negative_grades, sampled_pools),
            *(nothing_relevant, all_relevant, signed_grades, ties, ties_in_single_precision),
            *(beyond_single_precision, forms_of_scores, queries_without_results),
            *(queries_without_judgments, queries_in_one_file_only, one_document, most_unjudged),
            *(more_relevant_than_retrieved, best_and_worst, around_cutoffs, deep, iterations),
            *(unicode_ids, bytes_that_are_not_utf8, control_characters, long_ids, order_of_ids),
            *(blanks, more_columns, comments, marks_within_lines, unsorted, mixed_queries),
            z_scores,
        ),
        8,
    ),
    mixture: 12,
    negative_grades_only: 4,
    faulty: 16,
    different_flags: len(DIFFERENT_FLAGS),
    different_files: sum(map(len, DIFFERENT_FILES.values())),
    different_in_version_10: 2,
}
"""The families, and how many collections each has."""


def all_collections(seed: int = 0) -> dict[str, Collection]:
    """Every collection, by its name, such as `ties-3`."""
    return {
        f"{family.__name__.replace('_', '-')}-{number}": family(
            Draw(f"{family.__name__} {number} {seed}"), number
        )
        for family, count in FAMILIES.items()
        for number in range(count)
    }
