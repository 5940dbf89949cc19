"""The result of `judging_depth`: what the pool of each depth would have said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.core.arrays import Bools, Floats, Ints
from rankgauge.core.notes import Note, count_phrase, format_first_names, note_texts
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.rounding import round_values
from rankgauge.core.tables import Cell, Table
from rankgauge.forecast.pools import PoolCounts
from rankgauge.measures.around import Aggregate, inner
from rankgauge.measures.base import Measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_NAMED = 10
"""How many runs a note names."""


class ShallowPool(Record):
    """What the pool of a depth says.

    `means` is run × measure. The others have a number for each measure: `tau` with the deep ranking;
    `reversed`, the pairs of runs with a significant deep difference that change places; `opposed`, those
    of them whose shallow difference is significant too.
    """

    depth: int
    counts: PoolCounts
    means: Floats
    tau: Floats
    reversed: Ints
    opposed: Ints


class TeamLoss(Record):
    """What the runs of a team lose if the pool of this depth is made without the team.

    `runs` has the numbers of its runs. `change` and `ranks` are run × measure: the shallow mean without
    the team in the pool minus the mean with it, and how many ranks the run falls.
    """

    depth: int
    team: str
    runs: Ints
    change: Floats
    ranks: Floats


def ranks_of(means: Floats, measures: Sequence[Measure | Aggregate]) -> Floats:
    """Run × measure: the rank of each run by its mean, 1 for the best. Equal means share a rank; means
    that differ only by rounding are equal."""
    from scipy.stats import rankdata

    signs = [1.0 if inner(measure).direction == "lower" else -1.0 for measure in measures]
    exact = round_values(means, np.abs(means).max(axis=0, initial=0.0))
    return np.asarray(rankdata(exact * signs, axis=0))


class JudgingDepth(Result, Record):
    """The result of `judging_depth`: for each depth, how far its pool agrees with all judgments.

    `scores` has the scores by all judgments, run × topic × measure, and `deep` their means, run ×
    measure. `shallow` has what the pool of each depth says. `pooled` says of each run whether it makes
    the pools. `judgments` counts all judgments, and `relevant` the relevant documents of each topic.
    `topics` counts the topics of each measure. `significant` counts the pairs of runs with a significant
    deep difference. `half_tau` is a yardstick for `tau`: how similarly two halves of the topics rank the
    runs, by all judgments. `left_out` has what the runs of each team lose without the team in the pool.
    """

    runs: tuple[str, ...]
    measures: tuple[Measure | Aggregate, ...]
    pooled: Bools
    judgments: int
    relevant: Ints
    topics: Ints
    scores: Floats
    deep: Floats
    significant: Ints
    half_tau: Floats
    shallow: tuple[ShallowPool, ...]
    left_out: tuple[TeamLoss, ...]
    teams: tuple[str, ...] | None
    level: float
    remarks: tuple[Note, ...] = ()
    failed: tuple[str, ...] = ()

    @property
    def depths(self) -> tuple[int, ...]:
        """The depths of the pools, ascending."""
        return tuple(shallow.depth for shallow in self.shallow)

    def table(self) -> Table:
        """A row for each measure and depth.

        judgments: how many documents the pool has judged. saved: the share of all judgments that it
        does without. relevant: the share of the relevant documents that it has. nothing: on how many
        topics it has none of them. bias: the mean of shallow minus deep score over the runs. error: the
        mean size of that; greatest: the greatest size. tau: between the shallow and the deep ranking of
        the runs. half_tau: the yardstick. significant: pairs of runs with a significant deep difference;
        reversed: those that change places; opposed: those that are significant the other way round.

        If some runs are not in the pool, there are four more columns. inside_bias: the mean of shallow
        minus deep score over the runs in the pool. outside_bias: the same over the runs outside the
        pool. If it is lower, the runs outside look worse than they are. outside_ranks: how many ranks a
        run outside the pool falls on average, from the deep to the shallow ranking. outside_worst: the
        most ranks that one of them falls.

        If teams were left out, there are four more columns. Each run is scored by the pool without its
        team, and by the pool with it. loss: the mean loss of score. worst_loss: the greatest loss.
        ranks: how many ranks a run falls on average. worst_ranks: the most ranks that a run falls.
        """
        columns = [*COLUMNS]
        if not self.pooled.all():
            columns += OUTSIDE
        if self.left_out:
            columns += LEFT_OUT
        rows = tuple(
            self._row(m, shallow, columns)
            for m in range(len(self.measures))
            for shallow in self.shallow
        )
        return Table(tuple(columns), rows, note_texts(self.notes, gather=True))

    def team_table(self) -> Table:
        """A row for each measure, depth and team that was left out: what its runs lose.

        loss and worst_loss are scores, ranks and worst_ranks are ranks: the mean and the worst over the
        runs of the team, with the pool without the team instead of the pool with it.
        """
        rows = []
        for m, measure in enumerate(self.measures):
            for one in self.left_out:
                cells = self._loss_cells(m, [one])
                rows.append((str(measure), one.depth, one.team, len(one.runs), *cells.values()))
        columns = ("measure", "depth", "team", "runs", *LEFT_OUT)
        return Table(columns, tuple(rows), note_texts(self.notes, gather=True))

    def _row(self, m: int, shallow: ShallowPool, columns: Sequence[str]) -> tuple[Cell, ...]:
        total = shallow.counts.total
        off = shallow.means[:, m] - self.deep[:, m]
        relevant = int(self.relevant.sum())
        cells: dict[str, Cell] = {
            "measure": str(self.measures[m]),
            "depth": shallow.depth,
            "judgments": total["judged"],
            "saved": 1 - total["judged"] / self.judgments if self.judgments else None,
            "relevant": total["relevant"] / relevant if relevant else None,
            "nothing": int(np.count_nonzero(shallow.counts.relevant == 0)),
            "bias": float(off.mean()),
            "error": float(np.abs(off).mean()),
            "greatest": float(np.abs(off).max()),
            "tau": float(shallow.tau[m]),
            "half_tau": float(self.half_tau[m]),
            "significant": int(self.significant[m]),
            "reversed": int(shallow.reversed[m]),
            "opposed": int(shallow.opposed[m]),
        }
        if not self.pooled.all():
            outside = ~self.pooled
            deep, now = (ranks_of(means, self.measures) for means in (self.deep, shallow.means))
            fall = (now - deep)[outside, m]
            biases = float(off[self.pooled].mean()), float(off[outside].mean())
            falls = float(fall.mean()), float(fall.max())
            cells |= dict(zip(OUTSIDE, (*biases, *falls), strict=True))
        if self.left_out:
            cells |= self._loss_cells(
                m, [one for one in self.left_out if one.depth == shallow.depth]
            )
        return tuple(cells[name] for name in columns)

    def _loss_cells(self, m: int, teams: Sequence[TeamLoss]) -> dict[str, Cell]:
        """What the runs of these teams lose: the mean and the worst over all runs."""
        loss, ranks = self._losses(m, teams)
        values = (loss.mean(), loss.max(), ranks.mean(), ranks.max())
        return dict(zip(LEFT_OUT, map(float, values), strict=True))

    def _losses(self, m: int, teams: Sequence[TeamLoss]) -> tuple[Floats, Floats]:
        """How much score each run of these teams loses, and how many ranks."""
        sign = -1.0 if inner(self.measures[m]).direction == "lower" else 1.0
        loss = -sign * np.concatenate([one.change[:, m] for one in teams])
        return loss, np.concatenate([one.ranks[:, m] for one in teams])

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What to know about the numbers."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Note]:
        yield from self.remarks
        for m, measure in enumerate(self.measures):
            if self.topics[m] < len(self.relevant):
                text = (
                    "{topics} left out at all depths: the measure is undefined there for some run"
                )
                left = len(self.relevant) - int(self.topics[m])
                yield Note(text, measure=str(measure), count=left)
        for shallow in self.shallow:
            topics = (shallow.counts.relevant == 0) & (self.relevant > 0)
            if topics.any():
                means = np.nanmean(self.scores[:, topics], axis=(0, 1)).tolist()
                deep = zip(self.measures, means, strict=True)
                shown = ", ".join(f"{measure} {mean:.3f}" for measure, mean in deep)
                yield Note(
                    "{topics} with relevant documents, but none of them in the pool",
                    part=f"depth {shallow.depth}",
                    column="nothing",
                    count=int(np.count_nonzero(topics)),
                    detail=f"mean score there by all judgments: {shown}",
                )
        never = self.shallow[-1].counts.total["never_judged"]
        if never:
            text = (
                f"the pool of depth {self.shallow[-1].depth} has "
                f"{count_phrase(never, 'document')} without a "
                "judgment. Most measures take them as not relevant, at all depths"
            )
            yield Note(text, column="judgments")
        if not self.pooled.all():
            names = [run for run, inside in zip(self.runs, self.pooled, strict=True) if not inside]
            yield Note(
                f"not in the pool: {format_first_names(names, MOST_NAMED)}. Documents that only "
                "these runs "
                "found are not judged. If outside_bias is below inside_bias, these runs look worse "
                "beside the others than they are",
                column=", ".join(OUTSIDE),
            )
        if self.teams is not None:
            yield from self._team_notes()
        yield Note(
            "how similarly two random halves of the topics rank the runs by all judgments (mean τ). If "
            "tau is higher, the ranking changes less with the smaller pool than from one half of the "
            "topics to the other",
            column="half_tau",
        )
        text = f"paired t-test, p ≤ {1 - self.level:.4g}, not corrected for the number of pairs"
        yield Note(text, column="significant, reversed, opposed")

    def _team_notes(self) -> Iterator[Note]:
        if not self.left_out:
            yield Note("no team was left out: all runs in the pool are of one team")
            return
        teams = count_phrase(len({one.team for one in self.left_out}), "team")
        yield Note(f"each of {teams} was left out of the pool once", column=", ".join(LEFT_OUT))
        for m, measure in enumerate(self.measures):
            for depth in self.depths:
                some = [one for one in self.left_out if one.depth == depth]
                runs = np.concatenate([one.runs for one in some])
                loss, ranks = self._losses(m, some)
                most, deepest = int(np.argmax(loss)), int(np.argmax(ranks))
                yield Note(
                    f"{self.runs[runs[most]]} loses the most score, {loss[most]:.4f}; "
                    f"{self.runs[runs[deepest]]} falls the most ranks, {ranks[deepest]:g}",
                    part=f"depth {depth}",
                    measure=str(measure),
                )

    def figure(self) -> Figure:
        """τ with the deep ranking and the bias of the scores for each depth, with a line
        for each measure."""
        from rankgauge.figures.depths import depth_curves

        names = {m: str(measure) for m, measure in enumerate(self.measures)}
        apart = [shallow.means - self.deep for shallow in self.shallow]
        return depth_curves(
            self.depths,
            [shallow.counts.total["judged"] for shallow in self.shallow],
            {name: [shallow.tau[m] for shallow in self.shallow] for m, name in names.items()},
            {name: [float(each[:, m].mean()) for each in apart] for m, name in names.items()},
            {name: float(self.half_tau[m]) for m, name in names.items()},
            total=self.judgments,
        )

    def _title(self) -> str:
        runs = count_phrase(len(self.runs), "run")
        return f"JudgingDepth: {runs}, {count_phrase(len(self.relevant), 'topic')}"


COLUMNS = (
    "measure", "depth", "judgments", "saved", "relevant", "nothing", "bias", "error", "greatest",
    "tau", "half_tau", "significant", "reversed", "opposed",
)  # fmt: skip
OUTSIDE = ("inside_bias", "outside_bias", "outside_ranks", "outside_worst")
LEFT_OUT = ("loss", "worst_loss", "ranks", "worst_ranks")
"""The columns of the table of `JudgingDepth`."""
