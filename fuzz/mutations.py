"""Realistic lines of each kind of file, and ways to break them. Random bytes seldom make such lines."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

NUMBERS = b"""
0 1 -1 2 +3 -0 007 1.5 -.5 7. . + - 1e3 1e 1e+ 1E-5 e5 --1 0x10 1_0 1,5 nan NaN -nan
inf -INF infinity in infinit
0.1234567890123456789 9007199254740993 9007199254740992.5 18446744073709551616 999999999999999999
1e22 1e23 1e400 -1e400 1e-400 5e-324 2e-324 1e99999999999999999999 0e99999999999999999999
2147483647 2147483648 -2147483647 -2147483648 99999999999999999999999
0.500000000000000166533453693773481063544750213623046875
""".split()
NUMBERS += [b"1" + b"0" * 400, b"0." + b"0" * 330 + b"1", b"1" * 25 + b"e-400", b"0" * 40 + b"1.5"]
IDS = b"q q1 q2 d d1 d2 D 0 Q0 # #a a#b : qid: qid:1 docid = \xff\xfe caf\xe9 \xe6\x96\x87".split()
IDS += [b"d" * 300, b"\xef\xbb\xbf", b"\x1f\x8b", b"BZh91AY&SY", b"\xc2\xa0", b"\x1c", b"\x85"]
BLANKS = [b" ", b"\t", b"  ", b" \t ", b"\r", b"\v", b"\f", b"\n", b"\r\n", b"\n\n", b"\0", b""]
FEATURES = [b"0", b"1", b"2", b"3", b"10", b"136", b"100000", b"100001", b"4294967297", b"1" * 30]


QUERIES = [b"query_id", b"qid", b"Query-ID", b"user_id", b'"qid"']
DOCUMENTS = [b"doc_id", b"docno", b"corpus-id", b"ITEM ID", b"doc"]
VALUES = [b"score", b"rank", b"relevance", b"rating", b"text"]


def an_id(random: Random) -> bytes:
    return random.choice(IDS) if random.random() < 0.3 else b"d%d" % random.randrange(9)


def a_number(random: Random) -> bytes:
    if random.random() < 0.3:
        return random.choice(NUMBERS)
    return repr(random.choice([random.gauss(0, 9), float(random.randrange(5))])).encode()


def a_grade(random: Random) -> bytes:
    return b"%d" % random.randrange(-2, 4) if random.random() < 0.8 else random.choice(NUMBERS)


def run_words(random: Random) -> list[bytes]:
    topic = b"q%d" % random.randrange(3)
    return [topic, b"Q0", an_id(random), b"1", a_number(random), an_id(random)]


def qrels_words(random: Random) -> list[bytes]:
    topic, second = b"q%d" % random.randrange(3), b"%d" % random.randrange(3)
    return [topic, second, an_id(random), a_grade(random)]


def letor_words(random: Random) -> list[bytes]:
    words = [a_grade(random), b"qid:q%d" % random.randrange(3)]
    for feature in range(1, random.randrange(1, 6)):
        number = random.choice(FEATURES) if random.random() < 0.1 else b"%d" % feature
        words.append(number + b":" + a_number(random))
    comments = [
        [],
        [b"#docid", b"=", an_id(random), b"inc", b"=", b"1"],
        [b"#docid=%d" % len(words)],
    ]
    return words + random.choice([*comments, [b"#", an_id(random)]])


def csv_words(random: Random) -> list[bytes]:
    """A row of CSV, or a header."""
    if random.random() < 0.2:
        cells = [random.choice(QUERIES), random.choice(DOCUMENTS), random.choice(VALUES)]
    else:
        cells = [b"q%d" % random.randrange(3), an_id(random), a_number(random)]
    if random.random() < 0.3:
        at = random.randrange(3)
        cells[at] = (
            random.choice([b'"%b"', b'"%b', b'%b"', b'"%b""', b' "%b" ', b'""%b']) % cells[at]
        )
    return [random.choice([b",", b",", b",", b"\t", b";", b"|"]).join(cells)]


def json_words(random: Random) -> list[bytes]:
    """A line of JSON: documents of a query, or of several."""
    documents = [b'"d%d"' % random.randrange(9) for _ in range(random.randrange(4))]
    pairs = [name + b": " + random.choice([b"1", a_number(random)]) for name in documents]
    keyed = random.choice([b'{"id": %b, "score": %d}', b'{"doc_id": %b, "grade": %d}', b"[%b, %d]"])
    objects = [keyed % (name, random.randrange(3)) for name in documents]
    listing = random.choice(
        [
            b"[%b]" % b", ".join(documents),
            b"{%b}" % b", ".join(pairs),
            b"[%b]" % b", ".join(objects),
        ]
    )
    query = random.choice([b'"q-%d"' % random.randrange(3), b"7", b"null", b'"\\u0071"'])
    key = random.choice([b"retrieved", b"relevant", b"results", b"gold"])
    whole = [b'{"query": %b, "%b": %b}' % (query, key, listing), b"{%b: %b}" % (query, listing)]
    return [random.choice(whole)]


def id_words(random: Random) -> list[bytes]:
    return [an_id(random) for _ in range(random.randrange(1, 5))]


SCORES = b"""
{ } [ ] , : "runs": "queries": "measures": "values": "present": "policies": "notes": "failed": ["a"],
null true false "inf" "-inf" "AP" "nDCG@10" "P" "gm(AP)" "given('x')" "DCG@5" {"kind":"x","count":1}
"source":"joined", "standardized":"z(2_runs)", "missing":"skip", "version":2, NaN Infinity [[0.5]] -1
""".replace(b"_runs", b" runs").split()


def score_words(random: Random) -> list[bytes]:
    return [
        a_number(random) if random.random() < 0.3 else random.choice(SCORES)
        for _ in range(random.randrange(1, 4))
    ]


WORDS: dict[str, Callable[[Random], list[bytes]]] = {
    "run": run_words,
    "qrels": qrels_words,
    "subtopics": qrels_words,
    "letor": letor_words,
    "letor_tokens": letor_words,
    "ids": id_words,
    "scores": score_words,
    "csv_cells": csv_words,
    "csv": csv_words,
    "json": json_words,
    "json_lines": json_words,
}


def a_line(target: str, random: Random) -> bytes:
    """A line of the kind that this target reads. Most of these lines are good."""
    words = WORDS.get(target, random.choice([run_words, qrels_words]))(random)
    blank = b" " if random.random() < 0.8 else random.choice(BLANKS)
    return blank.join(words) + random.choice([b"\n", b"\n", b"\n", b"\r\n", b" \n", b""])


def mutate(target: str, data: bytes, random: Random) -> bytes:
    """The text with one change that matters to the code that reads it."""
    lines = data.splitlines(keepends=True) or [b""]
    at = random.randrange(len(lines))
    words = lines[at].split(b" ")
    word = random.randrange(len(words))
    match random.randrange(10):
        case 0 | 1:
            lines.insert(at, a_line(target, random))
        case 2:
            lines[at] = a_line(target, random)
        case 3:
            lines.insert(random.randrange(len(lines) + 1), lines[at])
        case 4:
            del lines[at]
        case 5:
            words[word] = random.choice([random.choice(NUMBERS), an_id(random), b""])
            lines[at] = b" ".join(words)
        case 6:
            words.insert(word, random.choice([a_number(random), an_id(random)]))
            lines[at] = b" ".join(words)
        case 7:
            del words[word]
            lines[at] = b" ".join(words)
        case 8:
            old = random.choice([b" ", b"\n"])
            return data.replace(old, random.choice(BLANKS), random.choice([1, -1]))
        case _:
            return data[: random.randrange(len(data) + 1)]
    return b"".join(lines)
