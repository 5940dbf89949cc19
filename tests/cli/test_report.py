"""rankgauge report: the page has the numbers of the other commands, and refusals name the remedy."""

from __future__ import annotations

import io
import os
import sys
import threading
import webbrowser
from pathlib import Path

import pytest

from command_line import Call, assert_refused
from rankgauge import Scores, evaluate, read_qrels
from rankgauge.data.model import Run
from rankgauge.errors import InputError
from rankgauge.io.trec import write_qrels, write_run
from rankgauge.report.report import ReportInput, ReportOptions, report_html
from report_pages import collection, island

pytest.importorskip("jinja2")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    judgments, runs = collection(6, 3)
    write_qrels(judgments, tmp_path / "qrels.txt")
    for run in runs:
        write_run(run, tmp_path / f"{run.name}.run")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def runs_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*.run"))


def test_the_page_has_the_numbers_of_the_scores(folder: Path, rankgauge: Call) -> None:
    outcome = rankgauge(
        *("report", "qrels.txt", *runs_in(folder), "-m", "P@5", "-m", "AP", "-o", "page.html")
    )
    assert (outcome.code, outcome.out) == (0, "")
    data = island((folder / "page.html").read_text(encoding="utf-8"))
    scores = evaluate(read_qrels("qrels.txt"), runs_in(folder), ["P@5", "AP"])
    assert data["runs"] == list(scores.runs)
    assert data["means"] == [[row[m] for row in scores.mean().values()] for m in ("P@5", "AP")]
    assert data["rankings"]["depth"] == 10
    facts = dict(data["how"]["facts"])
    assert facts["Made by"].startswith("rankgauge report qrels.txt")


def test_the_default_file_is_report_html(folder: Path, rankgauge: Call) -> None:
    assert rankgauge("report", "qrels.txt", *runs_in(folder)).code == 0
    data = island((folder / "report.html").read_text(encoding="utf-8"))
    assert data["measures"] == ["nDCG@10", "AP"]


def test_the_same_command_gives_the_same_bytes(folder: Path, rankgauge: Call) -> None:
    pages = []
    for _ in range(2):
        rankgauge("report", "qrels.txt", *runs_in(folder))
        pages.append((folder / "report.html").read_bytes())
    assert pages[0] == pages[1]


def test_the_page_is_opened_on_request_and_is_the_same(
    folder: Path, rankgauge: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(
        webbrowser, "open", lambda address: opened.append(address) or len(opened) < 2
    )
    command = ("report", "qrels.txt", *runs_in(folder))
    written = "report.html written (3 runs, 6 queries)\n"
    assert rankgauge(*command) == (0, "", written)
    page = (folder / "report.html").read_bytes()
    assert opened == []
    assert rankgauge(*command, "--open").err == written
    assert opened == [(folder / "report.html").as_uri()]
    assert (folder / "report.html").read_bytes() == page
    no_browser = "note: there is no browser to open report.html in\n"
    assert rankgauge(*command, "--open").err == written + no_browser
    assert_refused(rankgauge(*command, "--open", "-o", "-"), "--open needs a file")


def test_absolute_paths_do_not_get_into_the_page(folder: Path, rankgauge: Call) -> None:
    runs = [folder / name for name in runs_in(folder)]
    outcome = rankgauge("report", folder / "qrels.txt", *runs, "-o", folder / "page.html")
    assert outcome.code == 0
    assert str(folder) not in (folder / "page.html").read_text(encoding="utf-8")


def test_baseline_depth_texts_and_added_sections(folder: Path, rankgauge: Call) -> None:
    first, *_ = runs_in(folder)
    judged = read_qrels("qrels.txt")
    topic = judged.queries.texts()[0]
    Path("topics.tsv").write_text(f"{topic}\tabout rain\n", encoding="utf-8")
    documents = "".join(f"{each}\ttext of {each}\n" for each in judged.documents.texts())
    Path("documents.tsv").write_text(documents, encoding="utf-8")
    Path("pairs.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    outcome = rankgauge(
        *("report", "qrels.txt", *runs_in(folder), "--baseline", first, "--depth", 3),
        *("--query-texts", "topics.tsv", "--document-texts", "documents.tsv"),
        *("--add", "pairs.csv", "--title", "Rain", "-o", "page.html"),
    )
    assert outcome.code == 0, outcome.err
    html = Path("page.html").read_text(encoding="utf-8")
    data = island(html)
    assert data["runs"][data["baseline"]] == Path(first).stem
    assert data["rankings"]["depth"] == 3
    assert data["queryTexts"][data["queries"].index(topic)] == "about rain"
    for document, text in zip(
        data["rankings"]["documents"], data["rankings"]["texts"], strict=True
    ):
        assert text in (None, f"text of {document}")
    assert any(data["rankings"]["texts"])
    assert "<h2>pairs</h2>" in html
    assert "<h1>Rain</h1>" in html


def test_saved_scores_give_a_page_without_rankings(folder: Path, rankgauge: Call) -> None:
    evaluate(read_qrels("qrels.txt"), runs_in(folder), "AP").save("scores.parquet")
    assert rankgauge("report", "--scores", "scores.parquet").code == 0
    data = island(Path("report.html").read_text(encoding="utf-8"))
    saved = Scores.load("scores.parquet")
    assert data["means"][0] == [row["AP"] for row in saved.mean().values()]
    assert data["rankings"] is None


def test_standard_input_gives_a_page_without_rankings(
    folder: Path, rankgauge: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, *_ = runs_in(folder)
    raw = io.BytesIO(Path(first).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
    assert rankgauge("report", "qrels.txt", "-", second).code == 0
    data = island(Path("report.html").read_text(encoding="utf-8"))
    assert data["rankings"] is None
    assert any("standard input" in sentence for sentence in data["how"]["left"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
@pytest.mark.parametrize("which", ["qrels.txt", "run"])
def test_a_pipe_gives_a_page_without_rankings(which: str, folder: Path, rankgauge: Call) -> None:
    runs = runs_in(folder)
    path = folder / (which if which == "qrels.txt" else runs[0])
    content = path.read_bytes()
    path.unlink()
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(content,))
    writer.start()
    outcome = rankgauge("report", "qrels.txt", *runs, "-m", "P@5")
    writer.join()
    assert outcome.code == 0, outcome.err
    data = island((folder / "report.html").read_text(encoding="utf-8"))
    assert data["rankings"] is None
    assert any(
        "standard input and pipes can be read only once" in text for text in data["how"]["left"]
    )


def test_why_a_run_fails_at_its_second_reading_is_said() -> None:
    judgments, runs = collection(4, 2)
    scores = evaluate(judgments, runs, "P@5")

    def gone() -> Run:
        raise InputError("b.run", None, "cannot be read: No such file or directory")

    gone.label = runs[1].name  # type: ignore[attr-defined]
    with pytest.raises(InputError, match=r"b\.run: cannot be read"):
        report_html(ReportInput(scores, judgments, [lambda: runs[0], gone]), ReportOptions())


def test_a_run_that_cannot_be_read_is_named_and_the_others_are_shown(
    folder: Path, rankgauge: Call
) -> None:
    Path("bad.run").write_text("not a run\n")
    outcome = rankgauge("report", "qrels.txt", *runs_in(folder))
    assert outcome.code == 3
    data = island(Path("report.html").read_text(encoding="utf-8"))
    assert len(data["runs"]) == 3
    assert any("bad.run" in warning for warning in data["how"]["warnings"])


def test_hostile_names_in_files_do_no_harm(folder: Path, rankgauge: Call) -> None:
    name = "<img src=x onerror=alert(1)>"
    write_run(Run.from_dict({"301": {"</script>": 1.0}}, name="x"), f"{name}.run")
    outcome = rankgauge("report", "qrels.txt", *runs_in(folder))
    assert outcome.code == 0
    html = Path("report.html").read_text(encoding="utf-8")
    assert "<img" not in html
    assert name in island(html)["runs"]
    assert "</script>" in island(html)["rankings"]["documents"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--baseline", "none"], "--baseline none: no such run, expected one of"),
        (["--add", "none.csv"], "none.csv: cannot be read"),
        (["--document-texts", "none.tsv"], "none.tsv: cannot be read"),
        (["-o", "qrels.txt"], "expected another file"),
        (["--scores", "x"], "cannot be used together"),
    ],
)
def test_refusals(folder: Path, rankgauge: Call, arguments: list[str], message: str) -> None:
    before = Path("qrels.txt").read_bytes()
    assert_refused(rankgauge("report", "qrels.txt", *runs_in(folder), *arguments), message)
    assert not Path("report.html").exists()
    assert Path("qrels.txt").read_bytes() == before
