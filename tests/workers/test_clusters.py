"""A Dask cluster on loopback: the same bytes as here, and what is sent how often."""

from __future__ import annotations

import gzip
import importlib
import inspect
import pkgutil
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankgauge as rg
from command_line import called, records
from dask_cluster import LoopbackCluster, loopback_cluster
from dask_tasks import Heavy, by_heavy, hide, show, slow, write_letor
from rankgauge import space, text
from rankgauge.core.tables import Table
from rankgauge.rankers import cross_validate, cross_validation
from rankgauge.workers import dask as dask_workers, outcomes, share
from rankgauge.workers.dask_sharing import digest_of

pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LoopbackCluster]:
    # With a limit of memory, Dask counts the bytes that workers give to each other.
    with loopback_cluster(tmp_path_factory.mktemp("cluster"), memory="4GB") as made:
        yield made


@pytest.fixture(scope="module")
def client(cluster: LoopbackCluster) -> Iterator[Any]:
    made = cluster.client()
    yield made
    made.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments and six runs, as files; one run is faulty."""
    made = tmp_path_factory.mktemp("files")
    generator = np.random.default_rng(3)
    topics, documents = [f"q{n}" for n in range(12)], [f"d{n}" for n in range(30)]
    qrels = [f"{t} 0 {d} {generator.integers(0, 3)}" for t in topics for d in documents[:20]]
    (made / "qrels.txt").write_text("\n".join(qrels) + "\n")
    (made / "runs").mkdir()
    for number in range(6):
        lines = [
            f"{topic} Q0 {document} 0 {score:.3f} r{number}"
            for topic in topics
            for document, score in zip(documents, generator.random(30), strict=True)
        ]
        content = ("\n".join(lines) + "\n").encode()
        (made / "runs" / f"r{number}.run.gz").write_bytes(gzip.compress(content))
    (made / "runs" / "r6.run").write_text("q1 Q0 d1 0 not-a-number r6\n")
    return made


# The same bytes


def scores_of(folder: Path, **more: Any) -> rg.Scores:
    measures = ["nDCG@10", "AP", "v2(P@5)"]
    return rg.evaluate(folder / "qrels.txt", folder / "runs", measures, failures="skip", **more)


def rows(folder: Path) -> tuple[rg.Judgments, list[rg.Run]]:
    judgments = rg.read_qrels(folder / "qrels.txt")
    return judgments, [rg.read_run(folder / "runs" / f"r{n}.run.gz") for n in range(3)]


def evaluated(folder: Path, executor: Any) -> Any:
    files = scores_of(folder, executor=executor)
    judgments, runs = rows(folder)
    given = rg.evaluate(judgments, runs, "AP", ties="random", executor=executor)
    assert len(files.failed) == 1
    return files.values.tobytes(), files.notes, files.failed, given.values.tobytes()


def in_parts(folder: Path, executor: Any) -> Any:
    """Runs that are cut anywhere, and one whose lines are shuffled, so that parts are read twice."""
    if not (folder / "parts").exists():
        for number in range(3):
            lines = gzip.decompress((folder / f"runs/r{number}.run.gz").read_bytes()).splitlines(
                True
            )
            if number == 2:
                np.random.default_rng(number).shuffle(lines)
            parts = folder / "parts" / f"r{number}"
            parts.mkdir(parents=True)
            for part, cut in enumerate(range(0, len(lines), 47)):
                (parts / f"part-{part:02}").write_bytes(b"".join(lines[cut : cut + 47]))
    runs = [rg.RunParts(folder / "parts" / f"r{number}") for number in range(3)]
    scores = rg.evaluate(folder / "qrels.txt", runs, ["nDCG@10", "AP"], executor=executor)
    whole = rg.evaluate(folder / "qrels.txt", folder / "runs/r[0-2]*", ["nDCG@10", "AP"])
    assert scores.values.tobytes() == whole.values.tobytes()
    return scores.values.tobytes(), scores.notes


def compared(folder: Path, executor: Any) -> Any:
    scores = scores_of(folder)
    tests = ("randomization", "tukey-randomized", "bootstrap")
    return [
        rg.compare(scores, test=test, samples=2500, executor=executor).table() for test in tests
    ]


def assessed(folder: Path, executor: Any) -> Any:
    sets = {"odd": [f"q{n}" for n in range(1, 12, 2)]}
    found = rg.assess(scores_of(folder), sets=sets, splits=20, executor=executor)
    return found.table()


def measured(folder: Path, executor: Any) -> Any:
    judgments, runs = rows(folder)
    return rg.med_matrix(judgments, runs, "nDCG@10", executor=executor).table()


def tuned(folder: Path, executor: Any) -> Any:
    judgments, runs = rows(folder)
    return repr(rg.tune(judgments, runs[:2], "AP", folds=3, repeats=3, executor=executor))


def depth(folder: Path, executor: Any) -> Any:
    found = rg.judging_depth(
        folder / "qrels.txt", folder / "runs/r[0-4]*", "AP", [2, 5], teams="runs", executor=executor
    )
    return found.table(), found.team_table()


def pooled(folder: Path, executor: Any) -> Any:
    return repr(rg.pool(folder / "qrels.txt", folder / "runs/r[0-4]*", 3, executor=executor))


def detected(folder: Path, executor: Any) -> Any:
    found = rg.detectable(
        scores_of(folder), test="tukey-randomized", samples=300, executor=executor
    )
    return found.table()


TEXTS = text.Texts(
    ["the cat sat on the mat and the dog sat by the door"],
    ["the cat sat on the mat"],
    {"one": ["the cat sat"], "two": ["a dog sat by the door"]},
)


def texts(folder: Path, executor: Any) -> Any:
    pytest.importorskip("rouge_score_rs")
    metrics = ["rouge1", "v2(rouge2)", "rougeL"]
    return text.evaluate(TEXTS, metrics, executor=executor).values.tobytes()


def candidate_texts(folder: Path, executor: Any) -> Any:
    pytest.importorskip("rouge_score_rs")
    candidates, metrics = TEXTS.candidates(), ["rouge1", "v2(rouge2)"]
    return text.scores_of_candidates(candidates, metrics, executor=executor).values.tobytes()


def letor_folds(folder: Path) -> rg.Folds:
    data = folder / "letor.txt"
    return rg.read_folds(data, 5) if data.exists() else write_letor(data)


def trained(folder: Path, executor: Any) -> Any:
    pytest.importorskip("lightgbm")
    pytest.importorskip("sklearn")
    folds = letor_folds(folder)
    return cross_validate(folds, ["logisticregression"], ["AP"], executor=executor).values.tobytes()


def written(found: Any) -> Any:
    """What was found, with tables as text: numbers that are none do not equal themselves."""
    if isinstance(found, list | tuple):
        return [written(each) for each in found]
    return found.render("csv") if isinstance(found, Table) else found


def distances(folder: Path, executor: Any) -> Any:
    judgments, runs = rows(folder)
    return rg.med(runs[0], runs[1], "AP@10", judgments, executor=executor).table()


def settled_orders(folder: Path, executor: Any) -> Any:
    judgments, runs = rows(folder)
    return rg.settled(judgments, runs, "AP@10", executor=executor).table()


def climbed(folder: Path, executor: Any) -> Any:
    generator = np.random.default_rng(8)
    labels = generator.integers(0, 3, 40)
    documents = generator.random((40, 3)), labels, [0, 20, 40]
    found = space.optima(documents, "nDCG@5", restarts=4, executor=executor)
    return found.values.tobytes(), found.weights.tobytes()


def text_overview(folder: Path, executor: Any) -> Any:
    pytest.importorskip("rouge_score_rs")
    return text.overview(TEXTS, "rouge1", executor=executor).table()


def validated(folder: Path, executor: Any) -> Any:
    pytest.importorskip("lightgbm")
    pytest.importorskip("sklearn")
    found = cross_validation(letor_folds(folder), "logisticregression", "AP", executor=executor)
    return found.table()


FUNCTIONS: dict[Callable[..., Any], Callable[[Path, Any], Any]] = {
    rg.evaluate: evaluated,
    rg.compare: compared,
    rg.assess: assessed,
    rg.med: distances,
    rg.med_matrix: measured,
    rg.settled: settled_orders,
    rg.tune: tuned,
    rg.judging_depth: depth,
    rg.pool: pooled,
    rg.detectable: detected,
    space.optima: climbed,
    text.evaluate: texts,
    text.overview: text_overview,
    text.scores_of_candidates: candidate_texts,
    cross_validate: trained,
    cross_validation: validated,
}
"""For each public function with the parameter `executor`, a call of it."""


def public_modules() -> Iterator[Any]:
    yield rg
    for module in pkgutil.iter_modules(rg.__path__):
        if module.ispkg and module.name not in ("native", "cli", "workers"):
            yield importlib.import_module(f"rankgauge.{module.name}")


def test_every_public_function_with_an_executor_is_tried() -> None:
    there = {
        function
        for module in public_modules()
        for name in dir(module)
        if inspect.isfunction(function := getattr(module, name))
        and "executor" in inspect.signature(function).parameters
    }
    assert there == set(FUNCTIONS)


@pytest.mark.parametrize("function", [*FUNCTIONS.values(), in_parts], ids=lambda f: f.__name__)
def test_a_cluster_gives_the_same_as_threads(
    function: Callable[[Path, Any], Any], folder: Path, client: Any
) -> None:
    assert written(function(folder, client)) == written(function(folder, None))


@pytest.fixture(scope="module")
def two_processes() -> Iterator[rg.Workers]:
    with rg.Workers(2) as workers:
        yield workers


@pytest.mark.parametrize("function", [evaluated, in_parts, assessed], ids=lambda f: f.__name__)
def test_processes_give_the_same_as_threads(
    function: Callable[[Path, Any], Any], folder: Path, two_processes: rg.Workers
) -> None:
    assert written(function(folder, two_processes)) == written(function(folder, None))


@pytest.mark.parametrize(
    "command",
    [
        ["evaluate", "qrels.txt", "runs", "-q"],
        ["compare", "qrels.txt", "runs/r[0-4]*", "--test", "randomization", "--samples", "1500"],
        ["assess", "qrels.txt", "runs/r[0-4]*"],
        ["distance", "runs/r0.run.gz", "runs/r1.run.gz", "--qrels", "qrels.txt"],
        ["tune", "qrels.txt", "runs/r0.run.gz", "runs/r1.run.gz"],
        [
            *("space", "optima", "--qrels", "qrels.txt", "runs/r0.run.gz", "runs/r1.run.gz"),
            *("--restarts", "6"),
        ],
        ["forecast", "depth", "qrels.txt", "runs/r[0-4]*"],
    ],
    ids=lambda command: command[0],
)
def test_commands_print_the_same(
    command: list[str], folder: Path, cluster: LoopbackCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)  # the workers have another folder
    here = called(*command)
    there = called(*command, "--workers", cluster.address)
    assert (there.code, there.out, there.err) == (here.code, here.out, here.err)
    assert here.code == (3 if command[0] == "evaluate" else 0)


# What is sent


def sent_bytes(client: Any) -> int:
    """How many bytes the workers have sent, to each other and to the client, by the metrics of the
    scheduler. A worker tells the scheduler with its next heartbeat."""

    def known(dask_scheduler: Any) -> int:
        metrics = dask_scheduler.cumulative_worker_metrics
        return int(metrics["get-data", "memory-read", "bytes"])

    told = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    start = time.monotonic()
    while client.run_on_scheduler(known) < sum(told.values()):
        assert time.monotonic() - start < 30
        time.sleep(0.05)
    return int(client.run_on_scheduler(known))


def test_judgments_are_sent_to_each_worker_once_whatever_is_asked(client: Any) -> None:
    generator = np.random.default_rng(4)
    documents = [f"document-{number:06}" for number in range(300)]
    judgments = rg.Judgments.from_dict(
        {f"q{q}": dict.fromkeys(generator.choice(documents, 200), 1) for q in range(300)}
    )
    size = digest_of(judgments).size
    runs = {
        f"r{r}": rg.Run.from_dict(
            {f"q{q}": dict(zip(documents[:9], generator.random(9), strict=True)) for q in range(90)}
        )
        for r in range(12)
    }
    sent = []
    for measures in ("AP", "AP", ["nDCG@10", "v2(RR)"]):
        before = sent_bytes(client)
        there = rg.evaluate(judgments, runs, measures, executor=client)
        sent.append(sent_bytes(client) - before)
        assert there.values.tobytes() == rg.evaluate(judgments, runs, measures).values.tobytes()
    # One worker gets them through the scheduler, the two others from a worker; nobody gets them again.
    assert 2 * size <= sent[0] < 2.1 * size
    assert max(sent[1:]) < 0.1 * size


def test_each_worker_is_sent_the_work_once(client: Any, tmp_path: Path) -> None:
    work = Heavy(tmp_path / "log")
    before = sent_bytes(client)
    found = list(outcomes(work, range(60), client))
    assert found == [(n, work.load[n]) for n in range(60)]
    sent = sent_bytes(client) - before
    size = work.load.nbytes
    arrived = work.log.read_text().split()
    assert len(arrived) == len(set(arrived)) <= 3  # once for each process
    # The first worker gets it from here, through the scheduler; the others from a worker.
    assert (len(arrived) - 1) * size <= sent < (len(arrived) - 1) * size + size // 2
    kept = client.run_on_scheduler(
        lambda dask_scheduler: [
            task.nbytes
            for task in dask_scheduler.tasks.values()
            if task.key.startswith("rankgauge-")
        ]
    )
    # Modules of plug-ins that earlier tests imported are sent along.
    assert [nbytes == pytest.approx(size, rel=0.05) for nbytes in kept].count(True) == 1, kept


def test_the_same_content_is_not_sent_again(client: Any, tmp_path: Path) -> None:
    log = tmp_path / "log"
    work = Heavy(log)
    list(outcomes(work, range(12), client))
    before = sent_bytes(client)
    for _ in range(3):
        client.amm.run_once()  # Dask drops the copies that no task waits for
        list(outcomes(work, range(12), client))
    arrived = log.read_text().split()
    assert len(arrived) == len(set(arrived))
    assert sent_bytes(client) - before < work.load.nbytes // 2


def test_what_items_share_is_sent_once_too(client: Any, tmp_path: Path) -> None:
    heavy = share(Heavy(tmp_path / "log"), client)
    items = [(heavy, n) for n in range(30)]
    found = list(outcomes(by_heavy, items, client, str))
    assert [result for _, result in found] == [heavy.value.load[n] for n in range(30)]
    arrived = heavy.value.log.read_text().split()
    assert len(arrived) == len(set(arrived))


def test_large_items_go_straight_to_the_workers(client: Any) -> None:
    items = [np.full(1 << 18, n, dtype=np.float64) for n in range(5)]
    found = [result for _, result in outcomes(np.sum, items, client, lambda _: "an array")]
    assert found == [n * (1 << 18) for n in range(5)]


@pytest.mark.parametrize(("seconds", "together"), [([0.0] * 100, True), ([0.3] * 10, False)])
def test_only_quick_tasks_go_together(
    seconds: list[float], together: bool, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = []
    submitted = dask_workers.ClusterPool._submit

    def counted(pool: dask_workers.ClusterPool, tasks: Any) -> Any:
        sizes.append(len(tasks))
        return submitted(pool, tasks)

    monkeypatch.setattr(dask_workers.ClusterPool, "_submit", counted)
    found = list(outcomes(slow, seconds, client))
    assert [result for _, result in found] == seconds
    assert (max(sizes) > 1) == together
    assert sum(sizes) == len(seconds)


# Plug-ins, files, versions

PLUGIN = """
import numpy as np
import rankgauge as rg

class OnWorkers(rg.measures.Binary):
    name = "OnWorkers"
    summary = "Whether anything relevant was found."

    def _score(self, lists):
        return (lists.count(lists.relevant(self.rel)) > 0).astype(np.float64)

rg.measures.register(OnWorkers())
"""


def test_a_plugin_comes_along_though_workers_do_not_see_its_file(
    client: Any, folder: Path, tmp_path: Path
) -> None:
    file = tmp_path / "on_workers.py"
    file.write_text(PLUGIN)
    rg.measures.load_plugin(file)
    file.unlink()
    found, here = (
        rg.evaluate(folder / "qrels.txt", folder / "runs/r[0-4]*", "OnWorkers", executor=executor)
        for executor in (client, None)
    )
    assert found.values.tobytes() == here.values.tobytes()


CONSTANT = """
import numpy as np
import rankgauge as rg

class Constant(rg.Measure):
    name = "Constant"
    summary = "The same for every list."
    range = (0.0, 9.0)

    def _score(self, lists):
        return np.full(len(lists), {})

rg.measures.register(Constant())
"""


def with_plugin(file: Path, folder: Path, cluster: LoopbackCluster) -> list[str]:
    """The command that evaluates the runs by the measure of a plug-in, on the cluster."""
    given = f"evaluate {folder}/qrels.txt {folder}/runs -m Constant --plugin {file}"
    return [sys.executable, "-m", "rankgauge", *given.split(), "--workers", cluster.address]


def test_two_users_may_have_plugins_of_the_same_name(
    cluster: LoopbackCluster, folder: Path, tmp_path: Path
) -> None:
    """At the same time and one after the other; and another file may have the same measure."""
    commands = {}
    for name, value in (("a/mine", 1.0), ("b/mine", 2.0), ("c/other", 3.0)):
        file = tmp_path / f"{name}.py"
        file.parent.mkdir()
        file.write_text(CONSTANT.format(value))
        commands[value] = with_plugin(file, folder, cluster)
    for together in ((1.0, 2.0, 3.0), (1.0,), (2.0,)):
        started = {
            value: subprocess.Popen(
                commands[value], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for value in together
        }
        for value, process in started.items():
            out, told = process.communicate(timeout=120)
            assert process.returncode == 3, told  # one run is faulty
            assert {float(row["Constant"]) for row in records(out)} == {value}


def test_a_plugin_is_run_anew_for_each_command(
    cluster: LoopbackCluster, folder: Path, tmp_path: Path
) -> None:
    """It may read a file beside it, which changes from day to day."""
    file, beside = tmp_path / "mine.py", tmp_path / "value.txt"
    file.write_text(f"VALUE = float(open({str(beside)!r}).read())\n{CONSTANT.format('VALUE')}")
    for value in ("1.0", "2.0"):
        beside.write_text(value)
        done = subprocess.run(with_plugin(file, folder, cluster), capture_output=True, text=True)
        assert {row["Constant"] for row in records(done.stdout)} == {value}, done.stderr


def test_a_file_that_only_this_machine_sees_is_said_to_be_so(
    client: Any, folder: Path, tmp_path: Path
) -> None:
    only_here = tmp_path / "only-here.run"
    shutil.copy(folder / "runs/r1.run.gz", only_here)
    hidden = client.run(hide, str(tmp_path))
    assert set(hidden.values()) == {True}
    try:
        found = rg.evaluate(
            folder / "qrels.txt",
            [only_here, folder / "runs/r0.run.gz"],
            "AP",
            failures="skip",
            executor=client,
        )
    finally:
        client.run(show)
    assert found.runs == ("r0",)
    assert f"{only_here}: this machine can access the file, but a worker cannot" in found.failed[0]
    assert "put it where all workers can find it" in found.failed[0]


def test_another_version_on_a_worker_is_refused(client: Any, folder: Path) -> None:
    def other(version: str) -> str:
        from rankgauge.workers import dask_sharing

        old, dask_sharing.__version__ = dask_sharing.__version__, version
        return old

    old = next(iter(client.run(other, "0.0.0").values()))
    try:
        with pytest.raises(rg.RankgaugeError, match=r"has rankgauge 0\.0\.0, expected"):
            scores_of(folder, executor=client)
    finally:
        client.run(other, old)


def test_a_closed_client_is_said_to_be_closed(cluster: LoopbackCluster, folder: Path) -> None:
    closed = cluster.client()
    closed.close()
    with pytest.raises(rg.RankgaugeError, match="client is closed, expected"):
        scores_of(folder, executor=closed)


def test_what_cannot_be_used_is_said(folder: Path) -> None:
    with pytest.raises(rg.RankgaugeError, match="expected a Dask client, Workers, or an executor"):
        scores_of(folder, executor=3)


@pytest.mark.parametrize("where", [1.5, None, 0, -1, True, "2", "localhost:8786"])
def test_what_cannot_be_workers_is_said(where: Any) -> None:
    with pytest.raises(rg.RankgaugeError, match="expected a whole number"):
        rg.Workers(where)


@pytest.mark.parametrize("address", ["tls://127.0.0.1:9", "foo://127.0.0.1:9", "http://x"])
def test_an_address_that_dask_cannot_use_is_said(address: str) -> None:
    with pytest.raises(rg.RankgaugeError, match="Dask cannot use the address"):
        rg.Workers(address).start()


@pytest.mark.parametrize("where", ["processes", "cluster"])
def test_standard_input_is_read_here(
    where: str, cluster: LoopbackCluster, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = gzip.decompress((folder / "runs/r0.run.gz").read_bytes())
    workers = {"processes": "2", "cluster": cluster.address}[where]
    for given, code in ((run, 0), (b"q1 Q0 d1 0 x r\n", 2)):
        words = ["evaluate", str(folder / "qrels.txt"), "-", "-m", "AP"]
        here, there = (
            subprocess.run(
                [sys.executable, "-m", "rankgauge", *words, *more], input=given, capture_output=True
            )
            for more in ((), ("--workers", workers))
        )
        assert here.returncode == code
        assert (there.returncode, there.stdout, there.stderr) == (code, here.stdout, here.stderr)


def test_a_null_that_only_this_process_knows_is_refused(client: Any) -> None:
    pytest.importorskip("rouge_score_rs")
    text.register_null("first", lambda source, words, generator: source)
    with pytest.raises(rg.RankgaugeError, match="null=first is registered only in this process"):
        text.evaluate(TEXTS, ["v2(rouge1,null=first)"], executor=client)
    assert len(text.evaluate(TEXTS, ["v2(rouge1,null=first)"]).runs) == 2


def test_the_executor_of_a_client_is_its_cluster(client: Any, folder: Path) -> None:
    with client.get_executor() as executor:
        assert written(evaluated(folder, executor)) == written(evaluated(folder, None))
