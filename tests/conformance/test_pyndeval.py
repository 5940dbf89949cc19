"""Agreement with ndeval, the TREC Web track's tool, through pyndeval; every difference explained.

pyndeval orders equal scores by docno ascending, compares scores in double precision, and scores only
the topics that the run holds. At cut-off 1, ndeval leaves alpha-DCG and ERR-IA undivided, which lets
them reach the number of subtopics; ours are divided at every cut-off. Where nothing is relevant its
nNRBP is 0/0, ours 0 as the other measures are. Its cut-offs end at 20. It adds a document's gains in the
order in which subtopics first appear, so rounding can break a tie between equally good documents another
way; unless alpha is 0.5, the judgments go to it sorted by subtopic, which is our order.
"""

from __future__ import annotations

import gzip
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyndeval
import pytest
from hypothesis import assume, given, strategies as st

import rankgauge as rg
from profiles import examples, some
from trec_eval_collections import Draw, text_of

MEASURES = {
    **{
        f"{theirs}@{k}": f"{ours}@{k}"
        for theirs, ours in [
            ("alpha-DCG", "alpha_DCG"),
            ("alpha-nDCG", "alpha_nDCG"),
            ("ERR-IA", "ERR_IA"),
            ("nERR-IA", "nERR_IA"),
            ("strec", "strec"),
            ("P-IA", "P_IA"),
        ]
        for k in (1, 2, 5, 10, 20)
    },
    "NRBP": "NRBP",
    "nNRBP": "nNRBP",
    "MAP-IA": "AP_IA",
}
UNDIVIDED = ("alpha-DCG@1", "ERR-IA@1")
POLICY: dict[str, Any] = {"ties": "docno-ascending", "precision": "double"}

Judgment = tuple[str, str, str, int]
Retrieved = tuple[str, str, float]


def assert_agreement(
    judgments: list[Judgment],
    retrieved: list[Retrieved],
    qrels: rg.Judgments,
    run: rg.Run,
    *,
    alpha: float = 0.5,
    beta: float = 0.5,
    rel: int = 1,
) -> None:
    """Every topic of the run has the same scores by both."""
    evaluator = pyndeval.RelevanceEvaluator(
        judgments, list(MEASURES), relevance_level=rel, alpha=alpha, beta=beta
    )
    theirs = evaluator.evaluate(retrieved)
    parameters = {"alpha": alpha, "beta": beta, "rel": rel}
    measures = {}
    for name, text in MEASURES.items():
        measure = rg.parse(text)
        assert isinstance(measure, rg.Measure)
        measures[name] = measure(**{p: parameters[p] for p in measure.parameters()})
    scores = rg.evaluate(qrels, run, list(measures.values()), **POLICY).per_query()[run.name]
    counted: dict[str, set[str]] = {}
    for topic, subtopic, _, grade in judgments:
        if grade >= rel:
            counted.setdefault(topic, set()).add(subtopic)
    assert set(theirs) == {topic for topic, *_ in retrieved} & {topic for topic, *_ in judgments}
    for topic, values in theirs.items():
        for name, value in values.items():
            if name in UNDIVIDED:
                value /= max(1, len(counted.get(topic, ())))
            if name == "nNRBP" and topic not in counted:
                assert math.isnan(value)
                value = 0.0
            ours = scores[topic][str(measures[name])]
            assert ours == pytest.approx(value, abs=1e-6), (topic, name)


def nested(judgments: list[Judgment]) -> dict[str, dict[str, dict[str, int]]]:
    result: dict[str, dict[str, dict[str, int]]] = {}
    for topic, subtopic, document, grade in judgments:
        result.setdefault(topic, {}).setdefault(subtopic, {})[document] = grade
    return result


@st.composite
def collections(draw: st.DrawFn) -> tuple[list[Judgment], list[Retrieved]]:
    """Judgments of a few documents for a few subtopics, and a run with ties and unjudged ones."""
    documents = st.sampled_from([f"d{i}" for i in range(12)])
    judgments: list[Judgment] = []
    retrieved: list[Retrieved] = []
    for topic in ("1", "2", "3"):
        pairs = st.tuples(st.integers(1, 5).map(str), documents)
        grades = draw(st.dictionaries(pairs, st.integers(0, 3), min_size=1, max_size=30))
        judgments += sorted((topic, *pair, grade) for pair, grade in grades.items())
        scores = draw(st.dictionaries(documents, st.integers(0, 4).map(float), max_size=12))
        retrieved += [(topic, document, score) for document, score in scores.items()]
    # Subtopics in the same order for the whole collection as in each topic.
    return sorted(judgments, key=lambda row: (row[1], row[0])), retrieved


@given(
    collection=collections(),
    alpha=st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.9, 1.0]),
    beta=st.sampled_from([0.2, 0.5, 0.8]),
    rel=st.integers(1, 3),
)
@examples(200)
def test_random_collections_agree(
    collection: tuple[list[Judgment], list[Retrieved]], alpha: float, beta: float, rel: int
) -> None:
    judgments, retrieved = collection
    run: dict[str, dict[str, float]] = {}
    for topic, document, score in retrieved:
        run.setdefault(topic, {})[document] = score
    assume(run.keys() & {topic for topic, *_ in judgments})  # else the run fails
    qrels = rg.Judgments.from_subtopics(nested(judgments))
    assert_agreement(
        judgments, retrieved, qrels, rg.Run.from_dict(run), alpha=alpha, beta=beta, rel=rel
    )


@pytest.mark.parametrize("number", range(6))
def test_files_agree(number: int, tmp_path: Path) -> None:
    """Also with negative grades, which ndeval itself refuses and pyndeval takes as not relevant."""
    draw = Draw(f"pyndeval {number}")
    documents = [f"d{i}" for i in range(60)]
    judged = [
        [topic, subtopic, document, str(draw.one_of((-2, 0, 0, 1, 2)))]
        for subtopic in "12345"
        for topic in ("201", "202", "203")
        for document in draw.sample(documents, draw.integer(5, 40))
    ]
    ranked = [
        [topic, "Q0", document, "1", str(draw.integer(1, 30)), "tag"]
        for topic in ("201", "202", "204", "203")
        for document in draw.sample(documents, draw.integer(1, 50))
    ]
    (tmp_path / "qrels").write_bytes(text_of(judged))
    (tmp_path / "run").write_bytes(text_of(ranked))
    assert_files_agree(tmp_path / "qrels", tmp_path / "run", rel=1 + number % 2)


def assert_files_agree(qrels_file: Path, run_file: Path, rel: int) -> None:
    judgments = [(t, s, d, int(grade)) for t, s, d, grade in lines(qrels_file)]
    retrieved = [(row[0], row[2], float(row[4])) for row in lines(run_file)]
    qrels = rg.read_qrels(qrels_file, subtopics=True)
    assert_agreement(judgments, retrieved, qrels, rg.read_run(run_file), rel=rel)


def lines(path: Path) -> Iterator[list[str]]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as text:
        for line in text:
            yield line.split()


@pytest.mark.parametrize("qrels", ["qrels.diversity.txt", "qrels-for-ndeval.txt"])
@pytest.mark.parametrize("number", some(range(8), 4))
def test_every_topic_of_the_web_track_agrees(
    real_data: Callable[[str], Path], qrels: str, number: int
) -> None:
    run_file = sorted(real_data("trec-web2012/runs").iterdir())[number]
    assert_files_agree(real_data(f"trec-web2012/{qrels}"), run_file, rel=1 + number % 2)


@pytest.mark.parametrize("years", ["201-250", "251-300"])
def test_the_greedy_ideal_agrees_on_later_tracks(
    real_data: Callable[[str], Path], years: str
) -> None:
    """The judged documents by docno are a ranking of their own."""
    qrels_file = real_data(f"qrels/qrels.web.{years}.ndeval.txt.gz")
    judgments = sorted(
        ((t, s, d, int(grade)) for t, s, d, grade in lines(qrels_file)),
        key=lambda row: (len(row[1]), row[1]),
    )
    documents = sorted({(topic, document) for topic, _, document, _ in judgments})
    retrieved = [(topic, document, 1.0) for topic, document in documents]
    run: dict[str, dict[str, float]] = {}
    for topic, document, score in retrieved:
        run.setdefault(topic, {})[document] = score
    qrels = rg.read_qrels(qrels_file, subtopics=True)
    assert_agreement(judgments, retrieved, qrels, rg.Run.from_dict(run), alpha=0.3)
