"""A user's script that calls every public function, as type checkers and Python read it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import rankgauge as rg

QRELS = {
    f"q{number}": {"a": 1, "b": number % 2, "c": 2 * (number % 3 == 0), "d": 0}
    for number in range(6)
}
RUNS = {
    "one": {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in QRELS},
    "two": {query: {"d": 3.0, "c": 2.0, "a": 1.0} for query in QRELS},
    "three": {query: {"c": 3.0, "x": 2.0, "b": 1.0} for query in QRELS},
}
LETOR = "".join(f"{n % 2} qid:{1 + n // 4} 1:{n / 8} 2:{n % 3} #docid=d{n}\n" for n in range(8))


def numbers() -> list[float]:
    """What the functions give that return a number, or a result with one."""
    scores: rg.Scores = rg.evaluate(QRELS, RUNS, ["AP", rg.nDCG @ 3], missing="skip")
    order: list[str] = sorted(RUNS)
    agreement: rg.Concordance = rg.concordance(scores, "AP", "nDCG@3", persistence=0.8)
    overlap: rg.RBO = rg.rbo(order, order[::-1], 0.9)
    distance = rg.med(["a", "b"], ["b", "x"], "P@2")
    assert isinstance(distance, rg.Distance)
    measure = rg.parse("nDCG@3")
    distances: rg.Distances = rg.med_matrix(QRELS, RUNS, "AP")
    return [
        *(scores.mean()[run]["AP"] for run in scores.runs),
        agreement.tau,
        overlap.ext,
        distance.value,
        float(distances.matrix()[0, 1]),
        scores.mean()["one"][str(measure)],
        rg.kendall_tau(order, order),
        rg.kendall_tau_b(order, order),
        rg.spearman(order, order),
        rg.tau_ap(order, order, ties="b"),
        rg.detectable_difference(sd=0.1, queries=50),
        rg.queries_needed(difference=0.05, sd=0.1),
    ]


def results() -> list[str]:
    """What the functions say that return a result with a table."""
    scores = rg.Evaluator(QRELS, ["AP", "RR"]).scores(RUNS)
    compared: rg.Comparison = rg.compare(scores, baseline="one", correction="holm")
    assessed: rg.Assessment = rg.assess(QRELS, RUNS, ["AP", "P@1"], splits=5, seed=1)
    found: rg.Detectable = rg.detectable(scores, power=0.8)
    settled: rg.Settled = rg.settled(QRELS, RUNS, "P@2")
    tuned: rg.Tuning = rg.tune(QRELS, [RUNS["one"], RUNS["two"]], "AP", folds=2, repeats=1)
    depths: rg.JudgingDepth = rg.judging_depth(QRELS, RUNS, "P@2", depths=[1, 2], splits=5)
    shallow = scores.select(measures=["AP"])
    phases: rg.TwoPhase = rg.two_phase(shallow, shallow.select(["q0", "q1", "q2"]), level=0.9)
    people = rg.Scores.from_matrix(
        [[n * len(run) for n in range(6)] for run in RUNS],
        runs=list(RUNS), queries=list(QRELS), measure="rating",
    )  # fmt: skip
    human: rg.HumanCorrelation = rg.human_correlation(scores, people, samples=5)
    tables = (compared, assessed, found, settled, tuned, depths, phases, human)
    return [result.table().render("tsv") for result in tables]


def files(folder: Path) -> list[str]:
    """The files that the functions write and read."""
    rg.write_qrels(QRELS, folder / "qrels.txt")
    rg.write_run(RUNS["one"], folder / "one.run")
    judgments: rg.Judgments = rg.read_qrels(folder / "qrels.txt")
    run: rg.Run = rg.read_run(folder / "one.run", name="one", columns={"score": "cosine"})
    pooled: rg.PooledJudgments = rg.pool(judgments, [run], depth=2)
    fused: rg.Run = rg.fuse(RUNS, "rrf", k=60)
    (folder / "qrels.csv").write_text("query,document,grade\nq0,a,1\n", encoding="utf-8")
    (folder / "run.csv").write_text("query,document,score\nq0,a,1.5\n", encoding="utf-8")
    again = rg.read_qrels_table(folder / "qrels.csv"), rg.read_run_table(folder / "run.csv")
    for part in ("train", "vali", "test"):
        (folder / "Fold1").mkdir(exist_ok=True)
        (folder / "Fold1" / f"{part}.txt").write_text(LETOR, encoding="utf-8")
    features: rg.Features = rg.read_letor(folder / "Fold1" / "train.txt")
    folds: rg.Folds = rg.read_folds(folder)
    rg.write_report(judgments, [run, fused], ["AP"], folder / "report.html", title="A report")
    read = (judgments, run, pooled, fused, *again, features, folds)
    return [repr(each) for each in read] + sorted(path.name for path in folder.iterdir())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        print(*numbers(), *results(), *files(Path(name)), sep="\n")
