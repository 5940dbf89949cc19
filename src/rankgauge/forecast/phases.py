"""Two phases of judging, shallow and deep: what both must have in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankgauge.core.notes import count_phrase
from rankgauge.data.model import Judgments
from rankgauge.errors import RankgaugeError
from rankgauge.scores.model import Scores


def highest_grade(*phases: Judgments) -> int:
    """The highest grade of all phases, at least 1."""
    return max(1, *(int(each.grades.max(initial=0)) for each in phases))


def select_common_runs(shallow: Scores, deep: Scores) -> tuple[Scores, Scores]:
    """The shallow and the deep scores of the runs that both have, without notes.

    `failed` has what is wrong with each other run.
    """
    failed = tuple(dict.fromkeys((*shallow.failed, *deep.failed)))
    common = [run for run in shallow.runs if run in set(deep.runs)]
    first, second = (
        replace(each.select(runs=common), notes=(), failed=failed) for each in (shallow, deep)
    )
    return first, second


def check_shallow_included(shallow: Judgments, deep: Judgments) -> None:
    """RankgaugeError where the deep judgments of a query lack a document of its shallow ones."""
    first = {topic: number for number, topic in enumerate(shallow.queries.texts())}
    lacking: dict[str, int] = {}
    for number, topic in enumerate(deep.queries.texts()):
        if topic in first:
            place = first[topic]
            known = set(deep.documents.take(np.arange(*deep.bounds[number : number + 2])))
            own = shallow.documents.take(np.arange(*shallow.bounds[place : place + 2]))
            missing = sum(document not in known for document in own)
            if missing:
                lacking[topic] = missing
    if lacking:
        documents = count_phrase(sum(lacking.values()), "document")
        raise RankgaugeError(
            f"{deep.source} lacks {documents} that are judged in {shallow.source}, on "
            f"{count_phrase(len(lacking), 'query')} such as {next(iter(lacking))}. The deep "
            "judgments of a query must include its shallow ones: put both into the file"
        )
