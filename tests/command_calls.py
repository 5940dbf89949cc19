"""A call of every command of rankgauge, on small files that `write_inputs` makes: what the tests of
options that many commands share are run on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import click
import numpy as np

from rankgauge.cli.commands import group

RUNS = "good.run fair.run"
JUDGED = f"qrels.txt {RUNS}"
TRACK = "news=qrels.txt,*.run"

CALLS = {
    "evaluate": f"evaluate {JUDGED} -m P@2",
    "report": f"report {JUDGED} -m P@2",
    "trec_eval": "trec_eval -m map qrels.txt good.run",
    "compare": f"compare {JUDGED} -m P@2",
    "assess": f"assess {JUDGED} -m P@2 -m RR --splits 4",
    "queries": f"queries {JUDGED} -m P@2",
    "distance": f"distance {RUNS} --qrels qrels.txt -m P@2",
    "forecast depth": f"forecast depth {JUDGED} -m P@2 --depth 1",
    "forecast two-phase": f"forecast two-phase --shallow qrels.txt --deep qrels.txt {RUNS} -m P@2",
    "forecast train": f"forecast train {TRACK} -o out --target nDCG@9 --depth 3 --method regression",
    "forecast predict": f"forecast predict forecaster {TRACK}",
    "fuse": f"fuse {RUNS}",
    "tune": f"tune {JUDGED} -m P@2 --repeats 2 --samples 20 --folds 3",
    "space curve": f"space curve --qrels {JUDGED} -m P@2",
    "space flips": f"space flips --qrels {JUDGED} -m P@2",
    "space grid": f"space grid --qrels {JUDGED} -m P@2 --points 3",
    "space optima": f"space optima --qrels {JUDGED} -m P@2 --restarts 2",
    "space plane": f"space plane --qrels {JUDGED} poor.run -m P@2 --queries 2",
    "ltr crossval": "ltr crossval letor.txt --method logisticregression --folds 3 -m P@2",
    "ltr methods": "ltr methods listnet",
    "ltr rank": "ltr rank ranker letor.txt",
    "ltr statistics": "ltr statistics letor.txt --folds 3",
    "ltr train": "ltr train logisticregression letor.txt -o out",
    "text": "text texts.jsonl -m rouge1",
    "measures": "measures",
    "demo": "demo --queries 2 --systems 2 -o out",
    "study med": "study med --data . -o out",
    "study optimization": "study optimization --data . -o out",
    "study ue": "study ue A=letor.txt -o out",
    "study forecast": f"study forecast {TRACK} -o out --depth 1",
    "study text": "study text A=summaries.json -o out",
}
"""A call for each command."""


def leaves(command: click.Command = group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """All commands with their names, those of groups instead of the groups."""
    if not isinstance(command, click.Group):
        yield name, command
        return
    context = click.Context(command)
    for each in command.list_commands(context):
        inner = command.get_command(context, each)
        assert inner is not None
        yield from leaves(inner, f"{name} {each}".strip())


COMMANDS = dict(leaves())


def options(command: str) -> dict[str, click.Option]:
    """The options of a command by their long names."""
    return {
        option.opts[-1]: option
        for option in COMMANDS[command].params
        if isinstance(option, click.Option)
    }


def taking(*names: str) -> list[str]:
    """The commands that take all of these options."""
    return [command for command in COMMANDS if set(names) <= set(options(command))]


def write_inputs(folder: Path) -> None:
    """Judgments, three runs, learning-to-rank data and texts.

    Some documents of the runs are tied, some only in single precision, and some are not judged or have
    a negative grade: all that options of scoring are about.
    """
    generator = np.random.default_rng(5)
    topics, documents = range(1, 9), "abcdefgh"
    grades = {topic: generator.choice([-1, 0, 0, 1, 2], 6) for topic in topics}
    judged = [f"{t} 0 {d} {g}\n" for t in topics for d, g in zip("abcdef", grades[t], strict=True)]
    judged += [f"{t} 0 m 2\n{t} 0 n -1\n" for t in topics]
    (folder / "qrels.txt").write_text("".join(judged))
    for number, name in enumerate(("good", "fair", "poor"), 1):
        near, equal, negative = topics[number::4], topics[3 * number :: 5], topics[number - 1 :: 6]
        lines = [f"{t} Q0 x 1 9.00000000001 t\n{t} Q0 m 2 9.00000000002 t\n" for t in near]
        lines += [f"{t} Q0 y 1 8 t\n{t} Q0 e 2 8 t\n" for t in equal]
        lines += [f"{t} Q0 n 1 10 t\n" for t in negative]
        for t in topics:
            scores = generator.permutation(8) * number + 3 * np.resize(grades[t], 8)
            rows = zip(documents, scores.tolist(), strict=True)
            lines += [f"{t} Q0 {d} 3 {s / 10} t\n" for d, s in rows if d != "e" or t not in equal]
        (folder / f"{name}.run").write_text("".join(lines))
    values = generator.random((9, 6, 2)).tolist()
    rows = [
        f"{int(3 * a)} qid:{query} 1:{a:.4f} 2:{b:.4f} # docid = d{query}-{number}\n"
        for query, pairs in enumerate(values)
        for number, (a, b) in enumerate(pairs)
    ]
    (folder / "letor.txt").write_text("".join(rows))
    texts = [
        {
            "id": f"t{number}",
            "source": f"the cat number {number} sat on the mat and saw a dog near the door",
            "references": [f"the cat {number} saw a dog"],
            "outputs": {"lead": "the cat sat on the mat", "good": f"the cat {number} saw the dog"},
        }
        for number in range(4)
    ]
    (folder / "texts.jsonl").write_text("\n".join(map(json.dumps, texts)))
