"""Whether the numbers of queries that `study ue` gives for undecided statements are right.

python benchmarks/ue_deciding.py MQ2008 --study out

The study in the folder `out` must have the data set of this name; its trained folds are used again. A
quarter of the queries is drawn several times, and the study says of each undecided statement whether 3
times as many queries would decide it. With all queries, four times as many, the verdict is known.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path

from rankgauge.core.tables import Table
from rankgauge.data.folds import read_folds
from rankgauge.query_sets.samples import draw_queries
from rankgauge_studies.ue.claims import Statement, statements
from rankgauge_studies.ue.experiment import (
    ChosenQueries,
    RankedQueries,
    choose_queries,
    prepare,
    rank,
    study_cases,
)
from rankgauge_studies.ue.protocol import DataSet, Protocol, Reading, slug
from rankgauge_studies.ue.study import PROTOCOL_FILE, RUNS


def stated(
    chosen: ChosenQueries,
    ranked: RankedQueries,
    data: DataSet,
    reading: Reading,
    protocol: Protocol,
) -> dict[tuple[str, ...], Statement]:
    """The statements on some queries."""
    prepared = prepare(ranked, chosen, data, reading, protocol)
    cases = study_cases(prepared, ranked, reading, protocol, 0)
    found = {name: each.drawn for name, each in cases.items()}
    made = statements({data.name: found}, protocol.level)
    return {(e.claim, e.measure, e.version, e.where, e.what): e for e in made}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name", metavar="NAME")
    parser.add_argument("--study", required=True, type=Path, metavar="DIR")
    parser.add_argument("--quarters", type=int, default=5, metavar="N")
    parser.add_argument("--samples", type=int, default=300, metavar="N")
    arguments = parser.parse_args()
    path = arguments.study / PROTOCOL_FILE
    asked = Protocol.from_json(json.loads(path.read_text()), str(path))
    (data,) = (each for each in asked.collections if each.name == arguments.name)
    data = replace(data, queries=None, set_number=None, set_share=0.25)
    asked = replace(
        asked, collections=(data,), samples=arguments.samples, replicates=1, queries=None
    )
    folds = read_folds(data.folds, asked.folds, seed=asked.seed)
    counts: dict[tuple[str, float], list[bool]] = {}
    for reading in asked.readings:
        folder = arguments.study / RUNS / slug(data.name) / reading.name
        ranked = rank(folds, data, reading, asked, folder)
        everything = choose_queries(ranked.judgments, data, reading, asked)
        whole = stated(everything, ranked, data, reading, asked)
        for number in range(arguments.quarters):
            few = draw_queries(everything.queries, len(everything.queries) // 4, number + 1)
            part = stated(replace(everything, queries=few), ranked, data, reading, asked)
            for key, each in part.items():
                if each.growth is not None:
                    decided = whole[key].verdict != "undecided"
                    counts.setdefault((each.claim, each.growth), []).append(decided)
    rows = [
        (claim, "3" if growth == 3 else "more", len(found), sum(found) / len(found))
        for (claim, growth), found in sorted(_pooled(counts).items())
    ]
    columns = ("claim", "times as many, as said", "statements", "decided by four times as many")
    print(Table(columns, tuple(rows)).render("table"))


def _pooled(counts: dict[tuple[str, float], list[bool]]) -> dict[tuple[str, float], list[bool]]:
    """The counts of each claim and of all claims, for 3 times as many and for more."""
    made: dict[tuple[str, float], list[bool]] = {}
    for (claim, growth), found in counts.items():
        for name in (claim, "~ all claims"):
            made.setdefault((name, 3.0 if growth == 3 else 30.0), []).extend(found)
    return made


if __name__ == "__main__":
    main()
