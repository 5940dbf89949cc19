"""The page of a report: one file, the same bytes for the same input, and no text in it does harm."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st

import rankgauge as rg
from page_texts import HOSTILE, SVG
from profiles import examples
from rankgauge import Scores, compare, evaluate, write_report
from rankgauge.core.policies import AppliedPolicies, Missing, Negative, Ties, Unjudged
from rankgauge.core.tables import Table, visible_line
from rankgauge.data.model import Judgments, Run
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.report.added import read_section
from rankgauge.report.how import POLICY_NAMES, POLICY_VALUES
from rankgauge.report.report import ReportInput, ReportOptions, as_json, report_html
from rankgauge.report.section_pages import ShownTable
from rankgauge.report.texts import LONGEST
from report_pages import collection, data_of, island

pytest.importorskip("jinja2")

SECTIONS = ["leaderboard", "differences", "queries", "measures", "how"]


class Elements(HTMLParser):
    """The tags of a page with their attributes; `text` has what is between the tags."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data: str) -> None:
        self.text += data


def page(qrels: Any, runs: Any, measures: Any, folder: Path, **wishes: Any) -> str:
    path = folder / "report.html"
    write_report(qrels, runs, measures, path, **wishes)
    return path.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def html(tmp_path_factory: pytest.TempPathFactory) -> str:
    judgments, runs = collection()
    return page(judgments, runs, ["nDCG@10", "AP"], tmp_path_factory.mktemp("report"))


def test_the_page_has_its_sections_in_order_and_in_the_navigation(html: str) -> None:
    tags = Elements(html).tags
    assert [attributes["id"] for tag, attributes in tags if tag == "section"] == SECTIONS
    links = [attributes["href"] for tag, attributes in tags if tag == "a"]
    assert links == ["#text", *(f"#{name}" for name in SECTIONS)]


def test_the_policy_of_the_page_allows_its_own_script_and_style_only(html: str) -> None:
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]*)"', html)
    digests = {}
    for name, pattern in (
        ("style", r"<style>(.*?)</style>"),
        ("script", r'"module">(.*?)</script>'),
    ):
        (text,) = re.findall(pattern, html, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        digests[name] = f"{name}-src 'sha256-{digest}'"
    assert set(policy.split("; ")) == {
        "default-src 'none'",
        digests["style"],
        digests["script"],
        "img-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    }


def test_the_page_asks_for_nothing_and_has_no_handlers(html: str) -> None:
    for tag, attributes in Elements(html).tags:
        assert not any(name.startswith("on") or name == "style" for name in attributes), tag
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), tag


def test_the_table_without_scripts_has_the_means(html: str) -> None:
    data, text = island(html), Elements(html.partition("application/json")[0]).text
    for m in range(2):
        for r, run in enumerate(data["runs"]):
            assert run in text
            assert f"{data['means'][m][r]:.4f}" in text
    for name, value in data["how"]["facts"]:
        assert name in text
        assert value in text


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    script = (
        "import sys; sys.path.insert(0, 'tests')\n"
        "from report_pages import collection\n"
        "from rankgauge import write_report\n"
        "judgments, runs = collection(6, 3)\n"
        "write_report(judgments, runs, ['nDCG@10', 'AP'], sys.argv[1])\n"
    )
    pages = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        folder.mkdir()
        path = folder / "report.html"
        root = Path(__file__).parents[2]
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(map(str, sys.path))}
        subprocess.run(
            [sys.executable, "-c", script, str(path)], check=True, cwd=root, env=environment
        )
        pages.append(path.read_bytes())
    assert pages[0] == pages[1]
    assert str(tmp_path).encode() not in pages[0]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
def test_a_hostile_name_does_no_harm_in_any_place(text: str, tmp_path: Path) -> None:
    judgments = Judgments.from_dict({text: {text: 1, "b": 0}, "q2": {"c": 1}})
    runs = {text: {text: [text, "b"], "q2": ["c"]}, "other": {text: ["b", text], "q2": ["d"]}}
    tables = tmp_path / "table.csv"
    tables.write_text(f'name,value\n"{text.replace(chr(34), chr(34) * 2)}",1\n', "utf-8", "replace")
    html = page(
        judgments,
        runs,
        ["P@1", "AP"],
        tmp_path,
        title=text,
        document_texts={text: text},
        query_texts={text: text},
        baseline=text,
        add=[tables],
    )
    plain = page(
        {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}},
        {"a": {"q1": ["a", "b"], "q2": ["c"]}, "other": {"q1": ["b", "a"], "q2": ["d"]}},
        ["P@1", "AP"],
        tmp_path,
        title="a",
        document_texts={"a": "a"},
        query_texts={"q1": "a"},
        baseline="a",
        add=[tables],
    )
    assert [tag for tag, _ in Elements(html).tags] == [tag for tag, _ in Elements(plain).tags]
    data = island(html)
    shown = visible_line(text)
    assert data["runs"][0] == shown
    assert data["queries"][0] == shown
    assert data["rankings"]["documents"][0] == shown
    assert data["rankings"]["texts"][0] == shown[: len(data["rankings"]["texts"][0])]
    (raw,) = re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)
    assert not set(raw) & set("<>&\u2028\u2029")


@given(st.recursive(st.text() | st.none() | st.integers(), st.lists, max_leaves=8))
@examples(100)
def test_data_in_a_page_is_read_back_and_ends_no_element(data: Any) -> None:
    text = as_json(data)
    assert json.loads(text) == data
    assert not set(text) & set("<>&\u2028\u2029")


def test_numbers_that_json_lacks_never_get_into_a_page() -> None:
    with pytest.raises(ValueError, match="JSON"):
        as_json({"x": float("nan")})


def test_how_it_was_computed_has_signatures_policies_versions_and_the_command(html: str) -> None:
    judgments, runs = collection()
    scores = evaluate(judgments, runs, ["nDCG@10", "AP"])
    facts = dict(island(html)["how"]["facts"])
    for measure, signature in scores.signatures().items():
        assert facts[f"Signature of {measure}"] == signature
    assert facts["Missing queries"] == "scored as empty rankings"
    call = "rg.write_report(qrels, runs, ['nDCG@10', 'AP'], 'report.html')"
    assert facts["Made by"] == call
    assert "rankgauge" in facts["Versions"]


def test_the_command_has_everything_that_was_asked_for(tmp_path: Path) -> None:
    judgments, runs = collection(3, 2)
    wishes: dict[str, Any] = {"baseline": runs[0].name, "depth": 3, "level": 0.9, "title": "T"}
    texts: dict[str, Any] = {"document_texts": {"a": "b"}, "query_texts": {"a": "b"}, "add": []}
    html = page(judgments, runs, "AP", tmp_path, **wishes, **texts)
    call = dict(island(html)["how"]["facts"])["Made by"]
    known = {"rg": rg, "qrels": judgments, "runs": runs, **texts}
    again = tmp_path / "again.html"
    exec(call.replace("'report.html'", repr(str(again))), known)
    made = again.read_text(encoding="utf-8").replace("again.html", "report.html")
    assert made == html


def test_every_policy_has_a_text_for_each_of_its_values() -> None:
    assert set(POLICY_VALUES["ties"]) == set(get_args(Ties))
    assert set(POLICY_VALUES["unjudged"]) == set(get_args(Unjudged))
    assert set(POLICY_VALUES["negative"]) == set(get_args(Negative))
    assert set(POLICY_VALUES["missing"]) == set(get_args(Missing))
    assert {*POLICY_NAMES, "rankgauge"} == set(vars(AppliedPolicies()))


def test_many_p_values_have_six_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    from rankgauge.report import content

    judgments, runs = collection(5, 3)
    scores = evaluate(judgments, runs, "AP")
    monkeypatch.setattr(content, "MOST_EXACT", 2)
    data = data_of(scores)
    assert data["pairs"]["p"] == [[float(f"{p:.6g}") for p in compare(scores).p[0]]]
    assert any("P-values are rounded to six digits" in sentence for sentence in data["how"]["left"])


def test_a_warning_of_the_scores_is_a_warning_of_the_page(tmp_path: Path) -> None:
    judgments = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {"good": {"q1": ["a"], "q2": ["b"]}, "strange": {"q1": ["x"], "q2": ["y"]}}
    scores = evaluate(judgments, runs, "P@1")
    assert any(note.severity is not None for note in scores.notes)
    warnings = island(page(judgments, runs, "P@1", tmp_path))["how"]["warnings"]
    assert any("strange" in warning for warning in warnings)


def test_scores_that_are_given_are_reported_with_their_policies(tmp_path: Path) -> None:
    judgments, runs = collection(5, 3)
    scores = evaluate(judgments, runs, ["P@5", "AP"], ties="random", seed=4)
    data = island(page(judgments, runs, ["AP"], tmp_path, scores=scores))
    assert data["measures"] == ["AP"]
    assert dict(data["how"]["facts"])["Equal scores"] == "a random order"
    assert data["pairs"]["p"] == compare(scores.select(measures=["AP"])).p.tolist()
    assert data["rankings"] is not None
    alone = island(page(None, None, None, tmp_path, scores=scores))
    assert alone["rankings"] is None
    assert alone["measures"] == ["P@5", "AP"]


def test_incomplete_calls_are_refused(tmp_path: Path) -> None:
    judgments, runs = collection(2, 2)
    with pytest.raises(RankgaugeError, match="needs qrels, runs and measures"):
        write_report(judgments, None, "AP", tmp_path / "r.html")
    scores = evaluate(judgments, runs, "AP")
    with pytest.raises(RankgaugeError, match="runs without qrels"):
        write_report(None, runs, None, tmp_path / "r.html", scores=scores)
    with pytest.raises(RankgaugeError, match="no scores for run 'none'"):
        write_report(judgments, runs, "AP", tmp_path / "r.html", baseline="none")
    with pytest.raises(RankgaugeError, match="level"):
        write_report(judgments, runs, "AP", tmp_path / "r.html", level=2)
    with pytest.raises(RankgaugeError, match="depth"):
        write_report(judgments, runs, "AP", tmp_path / "r.html", depth=0)
    with pytest.raises(RankgaugeError, match="no scores to report"):
        report_html(ReportInput(scores.select([])), ReportOptions())
    assert not list(tmp_path.iterdir())


def test_an_undefined_measure_leaves_the_page_whole(tmp_path: Path) -> None:
    values = [
        [[float("nan"), 0.1], [float("nan"), 0.2]],
        [[float("nan"), 0.3], [float("nan"), 0.1]],
    ]
    scores = Scores.from_matrix(values, runs=["a", "b"], measure=["x", "AP"])
    data = island(page(None, None, None, tmp_path, scores=scores))
    assert data["means"][0] == [None, None]
    assert data["pairs"]["p"][0] == [None]
    assert data["agreement"]["tau"][0] == [None, None]


# Texts


def judged(tmp_path: Path, **wishes: Any) -> dict[str, Any]:
    judgments = Judgments.from_dict({"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 1}})
    run = Run.from_dict({"q1": ["d1", "d2"], "q2": ["d3", "d4"]}, name="run")
    return data_of(evaluate(judgments, [run], "P@1"), judgments, [run], **wishes)


def texts_of(data: dict[str, Any]) -> dict[str, str | None]:
    rankings = data["rankings"]
    return dict(zip(rankings["documents"], rankings["texts"], strict=True))


@pytest.mark.parametrize(
    "content",
    [
        'd1\tone "1"\nother\tno\n\nd3\tthree\tand more\r\nd1\tagain\n',
        '\ufeffd1\tone "1"\nd3\tthree\tand more',
        '{"id": "d1", "text": "one \\"1\\""}\n{"docno": "d3", "contents": "three\\tand more"}\n',
        '{"_id": "d1", "title": "", "body": "one \\"1\\""}\n{"id": "d3", "title": "three\\tand more"}',
    ],
)
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_texts_are_read_from_tabs_and_from_json(tmp_path: Path, content: str, ending: str) -> None:
    from rankgauge.io.files import atomic_write

    path = tmp_path / f"texts{ending}"
    with atomic_write(path) as stream:
        stream.write(content.encode())
    data = judged(tmp_path, document_texts=path)
    expected = {"d1": 'one "1"', "d2": None, "d3": "three and more", "d4": None}
    assert texts_of(data) == expected


def test_title_and_text_are_shown_together(tmp_path: Path) -> None:
    path = tmp_path / "texts"
    path.write_text('{"id": "d1", "title": "Rain", "text": "It falls."}\n{"id": 7, "text": "x"}')
    assert texts_of(judged(tmp_path, document_texts=path))["d1"] == "Rain: It falls."


def test_query_texts_are_read(tmp_path: Path) -> None:
    path = tmp_path / "queries"
    path.write_text("q2\twhat is two\n")
    assert judged(tmp_path, query_texts=path)["queryTexts"] == [None, "what is two"]
    path.write_text('{"qid": "q1", "query": "what is one"}\n')
    assert judged(tmp_path, query_texts=path)["queryTexts"] == ["what is one", None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("d1 no tab\n", ":1: no tab, expected the id of a document"),
        ('{"id": "d1", "text": "a"}\n{"id": "d2"\n', ":2: not JSON"),
        ('{"id": "d1", "text": "a"}\n[1]\n', ":2: not an object"),
        ('{"id": "d1"}\n', ":1: no document text"),
        ('{"text": "d1"}\n', ":1: no document id"),
        ('{"id": ["d1"], "text": ""}\n', ":1: no document id"),
        ('{"id": ' + "[" * 100_000 + "\n", ":1: not JSON"),
    ],
)
def test_faulty_files_of_texts_are_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "texts"
    path.write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        judged(tmp_path, document_texts=path)
    assert caught.value.line is not None


def test_a_missing_file_of_texts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        judged(tmp_path, document_texts=tmp_path / "none")
    with pytest.raises(InputError, match="expected a string"):
        judged(tmp_path, document_texts={"d1": 3})


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from rankgauge.report import texts

    monkeypatch.setattr(texts, "LONGEST_LINE", 1000)
    path = tmp_path / "texts"
    path.write_text("d1\t" + "a" * 2000)
    with pytest.raises(InputError, match="more than 1,000 bytes"):
        judged(tmp_path, document_texts=path)


def test_long_texts_are_cut_and_counted(tmp_path: Path) -> None:
    data = judged(tmp_path, document_texts={"d1": "a" * LONGEST, "d2": "b" * (LONGEST + 1)})
    shown = texts_of(data)
    assert shown["d1"] == "a" * LONGEST
    assert shown["d2"] == "b" * LONGEST + "…"
    assert data["rankings"]["left"]["texts"] == 1
    assert any("1 document text cut" in sentence for sentence in data["how"]["left"])


def test_texts_without_room_are_left_out_and_high_ranks_keep_theirs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankgauge.report import report

    whole = len(as_json(judged(tmp_path)))
    monkeypatch.setattr(report, "MOST_BYTES", whole + 100)
    every = dict.fromkeys(["d1", "d2", "d3", "d4"], "<" * 80)
    data = judged(tmp_path, document_texts=every, depth=2)
    shown = texts_of(data)
    assert data["rankings"]["left"]["texts"] == sum(text is None for text in shown.values()) > 0
    if shown["d2"] is not None or shown["d4"] is not None:
        assert shown["d1"] is not None
        assert shown["d3"] is not None


def test_texts_of_other_documents_are_not_shown(tmp_path: Path) -> None:
    data = judged(tmp_path, document_texts={"x": "y"}, query_texts={"x": "y"})
    assert data["rankings"]["texts"] is None
    assert data["queryTexts"] is None
    assert sum("omitted: the file has none" in sentence for sentence in data["how"]["left"]) == 2


def test_a_page_with_many_long_texts_stays_small(tmp_path: Path) -> None:
    judgments, runs = collection(60, 10)
    texts = {d: "<&\u05d0 " * 200 for run in runs for d in run.documents.texts()}
    html = page(judgments, runs, ["nDCG@10", "AP"], tmp_path, document_texts=texts)
    assert 2_000_000 < len(html.encode()) < 3_000_000


# Added sections


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
def test_a_table_that_a_command_wrote_becomes_a_section(tmp_path: Path, form: str) -> None:
    judgments, runs = collection(4, 3)
    result = compare(evaluate(judgments, runs, "AP"))
    path = tmp_path / f"pairs of runs.{form}"
    path.write_text(result.table().render(form), encoding="utf-8")
    html = page(judgments, runs, "AP", tmp_path, add=[path, result])
    sections = [a["id"] for tag, a in Elements(html).tags if tag == "section"]
    assert sections == [*SECTIONS[:4], "added-1", "added-2", "how"]
    first, second = re.findall(r'<section id="added-\d">(.*?)</section>', html, re.DOTALL)
    assert "<h2>pairs of runs</h2>" in first
    assert "<h2>Comparison</h2>" in second
    assert re.findall(r"<tbody>.*</tbody>", first, re.DOTALL) == re.findall(
        r"<tbody>.*</tbody>", second, re.DOTALL
    )
    notes = [re.findall(r"<li>(.*?)</li>", part) for part in (first, second)]
    assert notes[0] == notes[1]
    assert notes[0]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize("text", HOSTILE[:-2], ids=ascii)
def test_a_hostile_cell_is_shown_as_it_was_written(text: str, form: str, tmp_path: Path) -> None:
    cell = f"{text}\\\t,\u2028\u0085x"
    table = Table(("name", "value"), ((cell, 1.5), ("b", None)), ("a note",))
    path = tmp_path / "file"
    path.write_text(table.render(form), encoding="utf-8", newline="")
    (shown,) = read_section(path).items
    assert isinstance(shown, ShownTable)
    assert shown.table == table


def test_ids_that_look_like_numbers_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    path.write_text("query,run,AP\n007,1_0,0.5\n010,2,1e-3\n")
    (shown,) = read_section(path).items
    assert isinstance(shown, ShownTable)
    assert shown.table.rows == (("007", "1_0", 0.5), ("010", "2", 0.001))


def test_an_svg_becomes_a_picture(tmp_path: Path) -> None:
    path = tmp_path / "map.svg"
    path.write_bytes(SVG)
    judgments, runs = collection(2, 2)
    html = page(judgments, runs, "AP", tmp_path, add=[path])
    (picture,) = [attributes for tag, attributes in Elements(html).tags if tag == "img"]
    assert picture["src"] == f"data:image/svg+xml;base64,{base64.b64encode(SVG).decode()}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "an empty file"),
        (b"just words\n", "not a table with several columns"),
        (b"a,b\n1\n", ":2: 1 cell, expected 2"),
        (b'a,b\n"1\n2",3\n4\n', ":4: 1 cell, expected 2"),
        (b'a,b\n"1,2\n', "cannot be read as a table"),
        (b'{"a": 1}\n{"a"\n', ":2: not JSON"),
        (b'{"a": 1}\n3\n', ":2: not an object"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "not a table"),
    ],
)
def test_other_files_are_not_added(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    judgments, runs = collection(2, 2)
    with pytest.raises(InputError, match=message):
        page(judgments, runs, "AP", tmp_path, add=[path])


def test_a_long_table_is_cut_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_text("a,b\n" + "1,2\n" * 2_000)
    judgments, runs = collection(2, 2)
    html = page(judgments, runs, "AP", tmp_path, add=[path])
    assert "the first 500 of 2,000 rows" in html
