"""The study of Robertson and Zaragoza: what the paper says is computed, and where it fails is shown."""

from __future__ import annotations

import itertools
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from figure_files import saved
from profiles import thorough
from rankgauge import InputError, parse
from rankgauge.space import plane
from rankgauge_studies import optimization as study
from rankgauge_studies.optimization import example, flips, objectives, queries, theorems


def test_the_six_notes_on_the_example_hold():
    table = example.notes_table()
    assert [row[0] for row in table.rows] == [1, 2, 3, 4, 5, 6]
    assert {row[-1] for row in table.rows} == {"yes"}
    computed = [row[2] for row in table.rows]
    assert computed[0] == "AP 1 in a region of 4 sides: abcd abdc bacd badc"
    assert computed[4] == (
        "0.833 dbca (top left), 0.833 dacb (bottom left), 0.750 cabd cbad (top right)"
    )


def test_mrr_allows_the_second_document_to_drop_and_does_not_prefer_it():
    made = example.example_plane(example.SECOND)
    values = dict(
        zip(map(partial(example.ranking, made), range(len(made))), made.values("RR"), strict=True)
    )
    at = {
        places: {values[order] for order in values if example.ranks_of(order, "cd") == places}
        for places in ((1, 3), (1, 4))
    }
    assert at == {(1, 3): {1.0}, (1, 4): {1.0}}


def test_turned_by_a_quarter_the_optima_are_where_the_paper_has_them():
    """What is at (x, y) is then at (−y, x): a document (c, u, v) becomes (c, −v, u)."""
    turned = plane([(c, -v, u) for c, u, v in example.DOCUMENTS], example.SECOND)
    first, second, local = turned.optima("AP")
    assert first.best
    assert second.best
    assert not local.best
    assert {example.region_position(turned, region) for region in (first, second)} == {
        "bottom left",
        "bottom right",
    }
    assert example.region_position(turned, local).startswith("top")


def test_every_table_names_its_section(monkeypatch):
    monkeypatch.setattr(example, "cases_table", partial(example.cases_table, draws=4))
    works = study.make_table_functions(None)
    assert set(study.SECTIONS) == {*works, "optima", "grids"}
    for name in ("notes", "shared-documents", "contact"):
        assert works[name]().notes[0] == f"the paper, section {study.SECTIONS[name]}"
    page = (Path(__file__).parents[2] / "docs" / "SPACE.md").read_text(encoding="utf-8")
    for name, section in study.SECTIONS.items():
        assert f"| `{name}` | {section} |" in page


def made_figures():
    """The figures of the study, with fewer points on their curves."""
    pytest.importorskip("matplotlib")
    with pytest.MonkeyPatch.context() as fewer:
        fewer.setattr(objectives, "POINTS", np.linspace(0, 1, 41))
        return study.figures()


@pytest.fixture(scope="module")
def figures():
    return made_figures()


def test_title_and_legend_of_a_figure_lie_apart(figures):
    for name, figure in figures.items():
        figure.canvas.draw()
        texts = [figure._suptitle] if figure.get_suptitle() else []
        boxes = [each.get_window_extent() for each in [*texts, *figure.legends, *figure.axes]]
        for one, other in itertools.combinations(boxes, 2):
            assert not one.overlaps(other), name


def test_a_note_that_does_not_hold_is_seen(monkeypatch):
    monkeypatch.setattr(example, "DOCUMENTS", ((0, 1, 0), (0, 2, 0), (0, 3, 0), (0, 4, 1)))
    monkeypatch.setattr(example, "_notes", lambda: iter([("said", "seen", False)]))
    assert example.notes_table().rows[0][-1] == "NO"


def test_the_three_cases_of_a_shared_document():
    less, more, between = example.cases_table(draws=40).rows
    for _, optima, inside, neutral, bad in (less, more):
        assert optima == inside == neutral > 0
        assert bad == 0
    _, optima, inside, neutral, bad = between
    assert (inside, neutral) == (0, 0)
    assert bad == optima > 0


def test_boundaries_that_touch_make_an_optimum_of_one_measure_alone():
    values = {row[0]: row[2:] for row in example.contact_table().rows}
    below, between, above = (np.array(values[w]) for w in ("below both", "between", "above both"))
    assert (between < below).all()
    assert above[0] < below[0]
    assert above[1] > below[1]


def test_assertion_1_holds_for_all_measures_but_those_that_say_so():
    rows = {row[0]: row[1:] for row in flips.assertion_table().rows}
    assert {"AP", "nDCG@4", "RR", "bpref", "ERR@4", "Rprec", "SearchLength"} <= set(rows)
    for name, (_, wrong, neutral, holds, declared, example_) in rows.items():
        assert (example_ is None) == (wrong == 0)
        assert (wrong == neutral == 0) == (holds == "yes")
        if declared == "yes":
            assert holds == "yes", name
    assert rows["AP"][0] == pytest.approx(2 / 3)  # labels 1 and 2 are alike to it
    assert rows["P@4"][0] < 1
    assert rows["BPM@4"][3:5] == ("no", "no")
    before, after = ([int(label) for label in side] for side in rows["BPM@4"][5].split(" → "))
    (place,) = [n for n in range(4) if before[n] != after[n] and before[n + 1] != after[n + 1]][:1]
    change = parse("BPM@4").score(after) - parse("BPM@4").score(before)
    assert change * (before[place + 1] - before[place]) < 0


def test_the_measure_that_answers_a_flip_the_wrong_way():
    measure = parse("BPM(T=1)@5")
    assert measure.score([0, 0, 2, 1]) - measure.score([0, 0, 1, 2]) == pytest.approx(
        -0.042, abs=1e-3
    )


THROUGH = 200 if thorough() else 80


@pytest.fixture
def few(monkeypatch):
    """Fewer instances than the study has."""
    monkeypatch.setattr(theorems, "GENERIC", ((1, 4, 12), (2, 4, 4), (3, 4, 4)))
    monkeypatch.setattr(theorems, "MANY", ((1, 4, 30),))
    monkeypatch.setattr(theorems, "DROPPED_INSTANCES", ((1, 4, 1, 60),))
    monkeypatch.setattr(theorems, "POINT_DRAWS", THROUGH)


@pytest.mark.usefixtures("few")
def test_measures_that_see_the_same_flips_share_their_optima():
    rows = theorems.theorems_table().rows
    same = [row for row in rows if row[3] == "yes"]
    assert {row[0] for row in same} == {"random", "more random"}
    for *_, count, edges, trajectories in same:
        assert edges == trajectories == count
    others = {row[2]: row[-3:] for row in rows if row[3] == "no"}
    assert others["nDCG(discount=log_2)"][1] < others["nDCG(discount=log_2)"][0]


@pytest.mark.usefixtures("few")
def test_where_three_lines_meet_paths_through_the_point_tell_them_apart():
    *generic, point = theorems.dropped_assumptions_table().rows
    assert generic[0][1] == "none"
    assert generic[0][3:] == (0, 0)
    assert point[2] > 0.75 * THROUGH
    assert point[3] == 0
    assert point[4] > 0


def test_a_line_that_two_flips_share_makes_different_optima():
    """Two queries with three documents each: an instance of the study, found by its seed."""
    random = np.random.default_rng(theorems.DROPPED_SEED)
    for queries_, documents, size, count in theorems.DROPPED_INSTANCES[:2]:
        for _ in range(count):
            theorems.draw_instance(random, queries_, documents, size)
    for _ in range(1_500):
        made = theorems.draw_instance(random, 2, 3, 1).plane()
        shared = len(made.boundaries) == 6 and theorems.has_coincident_flips(made)
        if shared and not theorems.have_same_optima(made, ("AP", "nDCG")):
            return
    pytest.fail("no such instance")


def test_the_smallest_instances_in_which_measures_disagree():
    line, point, discount = flips.smallest_table().rows
    assert point[1:3] == ("01111 110 10", "10111 101 10")
    assert point[4] < 0 < point[6]
    assert line[1:3] == ("110 01111", "101 10111")
    assert (line[4], line[6]) == (pytest.approx(-0.021, abs=5e-4), pytest.approx(0.032, abs=5e-4))
    assert discount[1:3] == ("01", "10")
    assert (discount[4], discount[6]) == (0.5, 0.0)


def test_three_lines_through_a_point_part_measures_along_paths_alone():
    """The smallest instance: at the origin one flip of each query, and no sector has all three good."""
    each = theorems.Instance([], [], [])
    bad_and_good = (("01111", "10111"), ("101", "110"), ("01", "10"))
    for query, ((bad, good), side) in enumerate(
        zip(bad_and_good, ((1, 0), (0, 1), (-1, -1)), strict=True)
    ):
        place = next(n for n, pair in enumerate(zip(bad, good, strict=True)) if len(set(pair)) > 1)
        for rank, label in enumerate(good):
            fixed = [10**5 * (place - rank), 0, 0]
            each.documents.append(
                (0, *side) if rank == place else (0, 0, 0) if rank == place + 1 else tuple(fixed)
            )
            each.labels.append(int(label))
            each.queries.append(query)
    made = theorems.origin_plane(each)
    assert made is not None
    assert len(made) == 6
    assert theorems.have_same_optima(made, ("AP", "nDCG"))
    assert not theorems.have_same_optima(made, ("AP", "nDCG"), "trajectories")


def test_the_share_of_flips_that_measures_notice():
    rows = {row[0]: row for row in flips.response_table().rows}
    for name in ("AP", "nDCG", "ERR"):
        assert rows[name][2] == 1
    shares = [rows[name][2] for name in ("P@1", "P@2", "RR", "AP")]
    assert shares == sorted(shares)
    assert {row[3] for row in rows.values()} == {row[5] for row in rows.values()} == {0}


def test_global_optima_of_map_are_local_in_gmap():
    random = np.random.default_rng(1)
    pairs = [("random", theorems.draw_instance(random, 3, 4, 300)) for _ in range(15)]
    ((_, count, map_local, gmap_local, _),) = theorems.gmap_table(pairs).rows
    assert count == map_local == gmap_local == 15


def test_objectives_on_scores_move_with_maps_and_rank_measures_do_not():
    rows = {row[0]: row for row in objectives.objectives_table().rows}
    for name in objectives.RANK_OBJECTIVES:
        assert rows[name][5:7] == ("no", "no")
        assert rows[name][7] > 1
        assert rows[name][8] == "no"
    assert rows["pairwise loss"][5:] == ("yes", "no", 1, "yes")
    assert rows["Swets"][5:7] == ("yes", "yes")


@pytest.fixture(scope="module")
def data(real_data):
    return queries.read(real_data("mq2008").parent)


def test_optima_as_queries_are_added_are_those_measured_before(data, monkeypatch):
    monkeypatch.setattr(queries, "DRAWS_BY_COUNT", {1: 6, 2: 6, 4: 4, 8: 3})
    rows = {row[0]: row[1:] for row in queries.optima_table(data).rows}
    ap, ndcg, p5, rr = ({q: row[3 + 2 * m] for q, row in rows.items()} for m in range(4))
    assert [round(ap[q], 1) for q in rows] == [3.8, 12.3, 35.0, 199.7]
    assert [round(ndcg[q], 1) for q in rows] == [4.0, 15.2, 43.5, 233.0]
    assert [round(p5[q], 1) for q in rows] == [1.2, 2.0, 4.2, 9.3]
    assert [round(rr[q], 1) for q in rows] == [1.2, 1.7, 4.8, 17.0]


def test_a_grid_is_never_above_the_exact_optimum(data):
    table = queries.grids_table(data, queries=4, draws=2)
    lost = {row[:2]: row[3:] for row in table.rows}
    assert all(least >= -1e-12 for pair in lost.values() for least in pair)
    assert all(lost[m, 0.1][0] >= lost[m, 0.01][0] - 1e-12 for m in queries.MEASURES)


def test_without_data_the_rest_is_made():
    works = study.make_table_functions(None)
    assert "optima" not in works
    assert {"notes", "assertion-1", "theorems", "map-gmap"} <= set(works)
    with pytest.raises(InputError, match="mq2008"):
        study.read("nowhere")


def test_the_figures_are_the_same_each_time(tmp_path, figures):
    again = made_figures()
    for name, figure in figures.items():
        first = saved(figure, tmp_path / f"{name}.svg")
        assert saved(again[name], tmp_path / "again.svg") == first
