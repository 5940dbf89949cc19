"""Preferences of people as pairs: what files may hold, majorities, and counts by their definition."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from profiles import examples
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.scores.model import Scores
from rankgauge.text.data.texts import Texts
from rankgauge.text.grammar import parse_metric
from rankgauge.text.human.agreement import pair_agreement
from rankgauge.text.human.pairwise import PairwisePreferences, read_preferences
from rankgauge.text.human.preferences import win_lose_tie

HEAD = "id,a,b,winner,annotator"
TEXTS = Texts(
    ["s"] * 3,
    ["r"] * 3,
    {system: ["o"] * 3 for system in ("x", "y", "z")},
    ["1", "2", "3"],
)


def written(folder: Path, *lines: str, head: str = HEAD) -> Path:
    path = folder / "votes.csv"
    path.write_text("\n".join([head, *lines]))
    return path


def preferred(people: PairwisePreferences) -> dict[tuple[str, str, str], int]:
    """By text and the two systems: 1 for the first."""
    return {
        (people.texts[t], people.systems[a], people.systems[b]): int(sign)
        for t, a, b, sign in zip(
            people.text, people.a, people.b, people.preferred.tolist(), strict=True
        )
    }


@pytest.mark.parametrize(
    ("winners", "sign"),
    [
        (["x"], 1),
        (["x", "y"], 0),
        (["x", "x", "y"], 1),
        (["x", "y", "tie"], 0),
        (["x", "tie", "tie"], 0),
        (["y", "y", "tie"], -1),
        (["A", "a", "Tie"], 1),
    ],
)
def test_the_majority_of_the_annotators_decides(
    winners: list[str], sign: int, tmp_path: Path
) -> None:
    lines = [f"1,x,y,{winner},who{number}" for number, winner in enumerate(winners)]
    assert preferred(read_preferences(written(tmp_path, *lines))) == {("1", "x", "y"): sign}


def test_it_does_not_matter_which_output_stands_first(tmp_path: Path) -> None:
    people = read_preferences(written(tmp_path, "1,y,x,x,ann", "1,x,y,x,bob", "1,y,x,b,eve"))
    assert people.votes.T.tolist() == [[0, 0, 3]]
    assert people.annotators == ("ann", "bob", "eve")
    assert people.table().rows == (("x", "y", 1, 1, 0, 0),)


def test_votes_without_names_are_votes_of_different_people(tmp_path: Path) -> None:
    people = read_preferences(written(tmp_path, "1,x,y,x", "1,x,y,y", "1,x,y,x", head=HEAD[:-10]))
    assert people.votes.T.tolist() == [[1, 0, 2]]


def test_json_lines_and_other_separators_hold_the_same(tmp_path: Path) -> None:
    plain = read_preferences(written(tmp_path, "1,x,y,x,ann", "2,y,z,tie,ann"))
    tabs = tmp_path / "votes.tsv"
    tabs.write_text(
        written(tmp_path, "1,x,y,x,ann", "2,y,z,tie,ann").read_text().replace(",", "\t")
    )
    lines = tmp_path / "votes.jsonl"
    rows = [("1", "x", "y", "x", "ann"), (2, "y", "z", "tie", "ann")]
    lines.write_text(
        "\n".join(json.dumps(dict(zip(HEAD.split(","), row, strict=True))) for row in rows)
    )
    for path in (tabs, lines):
        assert preferred(read_preferences(path)) == preferred(plain)


def test_the_same_preference_twice_counts_once(tmp_path: Path) -> None:
    people = read_preferences(written(tmp_path, "1,x,y,x,ann", "1,y,x,x,ann", "1,x,y,y,bob"))
    assert people.votes.T.tolist() == [[1, 0, 1]]
    assert "counted once: 1" in str(people.notes[0])


@pytest.mark.parametrize(
    ("lines", "fault"),
    [
        (
            ["1,x,y,x,ann", "1,y,x,y,ann"],
            r"votes.csv:3: .*again, with another winner \(first on line 2\)",
        ),
        (["1,x,y,z,ann"], "votes.csv:2: the winner is 'z', expected 'x', 'y' or tie"),
        (["1,x,y,,ann"], "votes.csv:2: the winner is empty"),
        (["1,x,x,x,ann"], "votes.csv:2: a and b are both 'x', expected two systems"),
        (["1,tie,x,x,ann"], "votes.csv:2: a system is called 'tie'.*rename the system"),
        (["1,a,c,b,ann"], "votes.csv:2: the winner is 'b', expected 'a', 'c' or tie"),
        ([",x,y,x,ann"], "votes.csv:2: the id is empty"),
        (["1,x,y,x"], "votes.csv:2: "),
        ([], "no preferences, expected CSV"),
    ],
)
def test_a_fault_names_its_line_and_what_was_expected(
    lines: list[str], fault: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=fault):
        read_preferences(written(tmp_path, *lines))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00\x01",
        b"id,a,b,winner\n1,x,\xff\xfe,x\n",
        b"id,a,b\n1,x,y\n",
        b'{"id": 1, "a": "x", "b": "y"}\n{}\n',
        b'{"id": 1, "a": "x", "b": "y", "winner": null}\n{}\n',
        b'{"id": 1, "a": "x", "a": "z", "b": "y", "winner": "y"}\n',
        b'[{"id": 1, "a": [], "b": "y", "winner": "y"}]',
        b'[{"id": true, "a": "x", "b": "y", "winner": "y"}]',
        b'{"1": {"src": "s", "sys_summs": {}}}',
        b'"text"',
        b'id,a,b,winner\n1,"x,y,x\n',
        b"id,a,b,winner\n\x00,\x00,\x01,\x00\x00\n",
    ],
)
def test_hostile_files_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "votes"
    path.write_bytes(content)
    with pytest.raises(InputError, match="votes"):
        read_preferences(path)


@examples(200)
@given(
    st.sampled_from(
        [b"", b"id,a,b,winner,annotator\n", b'{"id": 1, "a": "x", "b": "y", "winner":']
    ),
    st.binary(max_size=80) | st.text('19xyab,"\n\t{}[]:', max_size=80).map(str.encode),
)
def test_any_bytes_are_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, head: bytes, body: bytes
) -> None:
    path = tmp_path_factory.getbasetemp() / "bytes"
    path.write_bytes(head + body)
    with suppress(InputError):
        assert read_preferences(path).votes.sum() > 0


def test_votes_on_other_texts_and_systems_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "1,x,y,x,ann", "9,x,y,x,ann", "1,x,w,x,ann")
    people = read_preferences(path, TEXTS)
    assert len(people.text) == 1
    assert [str(note) for note in people.notes] == [
        "preferences about unknown texts, ignored: 1",
        "preferences about unknown systems, ignored: 1",
    ]
    with pytest.raises(InputError, match="1 preference, but none is about these texts and"):
        read_preferences(written(tmp_path, "9,x,y,x,ann"), TEXTS)


VOTES = st.dictionaries(
    st.tuples(st.sampled_from("123"), st.sampled_from(["xy", "yz", "xz"]), st.sampled_from("ABC")),
    st.sampled_from([-1, 0, 1]),
    min_size=1,
    max_size=27,
)
SCORED = st.lists(st.integers(0, 3).map(float), min_size=9, max_size=9)


@examples(100)
@given(VOTES, SCORED, SCORED)
def test_counts_equal_a_slow_count(
    tmp_path_factory: pytest.TempPathFactory,
    votes: dict[tuple[str, str, str], int],
    metric: list[float],
    form: list[float],
) -> None:
    """Each output of the system y is in two pairs of the chain x, y, z, and has one id."""
    lines = [
        f"{text},{pair[0]},{pair[1]},{ {1: pair[0], -1: pair[1], 0: 'tie'}[sign] },{who}"
        for (text, pair, who), sign in votes.items()
    ]
    people = read_preferences(written(tmp_path_factory.getbasetemp(), *lines))
    x, z = (np.array(each).reshape(3, 3) for each in (metric, form))
    measures = [parse_metric("rouge1"), parse_metric("v2(rouge1,length=candidate)")]
    scores = Scores.from_matrix(
        np.stack([x, z], axis=2), runs=["x", "y", "z"], queries=["1", "2", "3"], measure=measures
    )
    expected: Counter[str] = Counter()
    for text, pair in {(text, pair) for text, pair, _ in votes}:
        tally = Counter(
            sign for (t, p, _), sign in votes.items() if (t, p) == (text, pair)
        ).most_common()
        tied = len(tally) > 1 and tally[0][1] == tally[1][1]
        liked = 0 if tied else tally[0][0]
        t, (a, b) = int(text) - 1, ("xyz".index(name) for name in pair)
        one, other = np.sign(x[a, t] - x[b, t]), np.sign(z[a, t] - z[b, t])
        if liked:
            expected[{1: "agree", -1: "oppose", 0: "tied"}[int(one * liked)]] += 1
        else:
            expected["undecided"] += 1
        if one * other < 0:
            expected[{1: "win", -1: "lose", 0: "tie"}[int(other * liked)]] += 1
    result = pair_agreement(scores, people, samples=5)
    assert result.undecided == expected["undecided"]
    for name in ("agree", "oppose", "tied"):
        assert getattr(result, name)[0] == expected[name]
    (against,) = result.against.values()
    for name in ("win", "lose", "tie"):
        assert getattr(against, name).tolist() == [expected[name]]
    assert against.pairs == len(people.text)
    assert against.dimensions == ("preference",)
    rows = result.table().rows
    assert rows[0][1] == sum(expected[name] for name in ("agree", "oppose", "tied"))


def test_pairs_of_systems_are_chosen(tmp_path: Path) -> None:
    people = read_preferences(written(tmp_path, "1,x,y,x,ann", "1,y,z,z,ann", "2,x,z,z,ann"))
    scores = Scores.from_matrix(
        [[[0.5, 0.1]] * 2, [[0.4, 0.2]] * 2, [[0.3, 0.3]] * 2],
        runs=["x", "y", "z"],
        queries=["1", "2"],
        measure=["metric", "form"],
    )
    names = ('given("metric")', 'given("form")')
    assert win_lose_tie(scores, people, *names).disagreements == 3
    chain = win_lose_tie(scores, people, *names, pairs=[("y", "x"), ("y", "z")])
    assert (chain.disagreements, chain.win.tolist(), chain.lose.tolist()) == (2, [1], [1])
    with pytest.raises(RankgaugeError, match="the system 'w' has no scores"):
        win_lose_tie(scores, people, *names, pairs=[("x", "w")])
    alone = scores.select(["1"], runs=["x", "z"])
    with pytest.raises(RankgaugeError, match="none of the pairs judged by people has scores"):
        win_lose_tie(alone, people, *names)
