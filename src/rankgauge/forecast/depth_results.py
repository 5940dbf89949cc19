"""The result of `judging_depth`: what the pool of each depth would have said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar

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
"""Maximum number of runs that a note names."""


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
    """Run × measure: the rank of each run by its mean, 1 for the best.

    Equal means share a rank; means that differ only by rounding are equal.
    """
    from scipy.stats import rankdata

    signs = [1.0 if inner(measure).direction == "lower" else -1.0 for measure in measures]
    exact = round_values(means, np.abs(means).max(axis=0, initial=0.0))
    return np.asarray(rankdata(exact * signs, axis=0))


class JudgingDepth(Result, Record):
    """How well shallower pools agree with all judgments: the result of `judging_depth`.

    Attributes
    ----------
    runs : tuple of str
        The names of the runs.
    measures : tuple of Measure
        The measures.
    pooled : array of bool
        Whether each run contributes to the pools.
    judgments : int
        The number of all judgments.
    relevant : array of int
        The number of relevant documents of each query.
    queries : array of int
        The number of queries of each measure.
    scores : array of shape (runs, queries, measures)
        The scores by all judgments.
    deep : array of shape (runs, measures)
        The means of these scores.
    significant : array of int
        For each measure, the number of pairs of runs with a significant difference by all judgments.
    half_tau : array of float
        A reference for the τ of a pool: the mean τ between the rankings of the runs on two random
        halves of the queries, with all judgments.
    shallow : tuple of ShallowPool
        The results for the pool of each depth.
    left_out : tuple of TeamLoss
        How much the runs of each team lose if the team does not contribute to the pool.
    teams : tuple of str or None
        The team of each run.
    level : float
        A difference is significant if its p-value is at most 1 − level.
    remarks : tuple of Note
        Notes on the runs and the judgments.
    failed : tuple of str
        The runs that were skipped, with the reasons.

    Examples
    --------
    >>> from rankgauge import judging_depth
    >>> qrels = {"q1": {"a": 1, "b": 1, "c": 0}, "q2": {"a": 0, "b": 0, "c": 1}}
    >>> runs = {"one": {"q1": ["a", "b"], "q2": ["c"]}, "two": {"q1": ["c", "b"], "q2": ["a", "c"]}}
    >>> result = judging_depth(qrels, runs, "AP", depths=[1, 2])
    >>> result.depths, result.deep.tolist()
    ((1, 2), [[1.0], [0.375]])
    """

    _renamed: ClassVar[dict[str, str]] = {"topics": "queries"}

    runs: tuple[str, ...]
    measures: tuple[Measure | Aggregate, ...]
    pooled: Bools
    judgments: int
    relevant: Ints
    queries: Ints
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
        """The depths of the pools, in ascending order."""
        return tuple(shallow.depth for shallow in self.shallow)

    def table(self) -> Table:
        """Return a table with one row per measure and depth.

        Returns
        -------
        Table
            The table, with notes on the columns.

        Notes
        -----
        The columns are:

        - judgments: how many documents of the pool are judged.
        - saved: the share of all judgments that are not needed with the pool.
        - relevant: the share of the relevant documents that are in the pool.
        - nothing: the number of queries without a relevant document in the pool.
        - bias: the mean over the runs of the shallow score minus the deep score.
        - error, greatest: the mean and the largest absolute difference.
        - tau: τ between the shallow and the deep ranking of the runs.
        - half_tau: a reference for tau, the mean τ between two random halves of the queries.
        - significant: the pairs of runs with a significant difference by the deep scores.
        - reversed: how many of these pairs swap places.
        - opposed: how many of them differ significantly in the opposite direction.

        If some runs are not in the pool, there are four more columns:

        - inside_bias: the bias over the runs in the pool.
        - outside_bias: the bias over the runs outside the pool. If it is below inside_bias, the runs
          outside look worse than they are.
        - outside_ranks, outside_worst: how many ranks a run outside the pool falls from the deep to the
          shallow ranking, on average and at most.

        If teams are left out in turn, there are four more columns. They compare the pool without a
        run's team to the pool with it:

        - loss, worst_loss: the mean and the largest loss of score.
        - ranks, worst_ranks: how many ranks a run falls, on average and at most.
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
        """Return a table with one row per measure, depth and omitted team: how much its runs lose.

        loss and worst_loss are scores, ranks and worst_ranks are ranks: the mean and the worst
        value over the runs of the team, when the team does not contribute to the pool.
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
        """Notes on the numbers."""
        return tuple(self._notes())

    def _notes(self) -> Iterator[Note]:
        yield from self.remarks
        for m, measure in enumerate(self.measures):
            if self.queries[m] < len(self.relevant):
                text = (
                    "{queries} excluded at all depths, because the measure is undefined there "
                    "for some run"
                )
                left = len(self.relevant) - int(self.queries[m])
                yield Note(text, measure=str(measure), count=left)
        for shallow in self.shallow:
            topics = (shallow.counts.relevant == 0) & (self.relevant > 0)
            if topics.any():
                means = np.nanmean(self.scores[:, topics], axis=(0, 1)).tolist()
                deep = zip(self.measures, means, strict=True)
                shown = ", ".join(f"{measure} {mean:.3f}" for measure, mean in deep)
                yield Note(
                    "{queries} with relevant documents, none of them in the pool",
                    part=f"depth {shallow.depth}",
                    column="nothing",
                    count=int(np.count_nonzero(topics)),
                    detail=f"mean score there with all judgments: {shown}",
                )
        never = self.shallow[-1].counts.total["never_judged"]
        if never:
            text = (
                f"the pool of depth {self.shallow[-1].depth} has "
                f"{count_phrase(never, 'document')} without a judgment. Most measures treat "
                "them as not relevant, at every depth"
            )
            yield Note(text, column="judgments")
        if not self.pooled.all():
            names = [run for run, inside in zip(self.runs, self.pooled, strict=True) if not inside]
            yield Note(
                f"not in the pool: {format_first_names(names, MOST_NAMED)}. Documents that "
                "only these runs retrieved are not judged. If outside_bias is below "
                "inside_bias, these runs are underrated compared with the others",
                column=", ".join(OUTSIDE),
            )
        if self.teams is not None:
            yield from self._team_notes()
        yield Note(
            "how similarly two random halves of the queries rank the runs with all judgments "
            "(mean τ). If tau is higher, the smaller pool changes the ranking less than "
            "switching to the other half of the queries does",
            column="half_tau",
        )
        text = f"paired t-test, p ≤ {1 - self.level:.4g}, not corrected for the number of pairs"
        yield Note(text, column="significant, reversed, opposed")

    def _team_notes(self) -> Iterator[Note]:
        if not self.left_out:
            yield Note("no team was left out: all runs in the pool belong to one team")
            return
        teams = count_phrase(len({one.team for one in self.left_out}), "team")
        yield Note(f"each of {teams} was removed from the pool in turn", column=", ".join(LEFT_OUT))
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
        """Plot τ with the deep ranking and the bias of the scores against the depth.

        There is one line per measure.
        """
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
        return f"JudgingDepth: {runs}, {count_phrase(len(self.relevant), 'query')}"


COLUMNS = (
    "measure", "depth", "judgments", "saved", "relevant", "nothing", "bias", "error", "greatest",
    "tau", "half_tau", "significant", "reversed", "opposed",
)  # fmt: skip
OUTSIDE = ("inside_bias", "outside_bias", "outside_ranks", "outside_worst")
LEFT_OUT = ("loss", "worst_loss", "ranks", "worst_ranks")
"""The columns of the table of `JudgingDepth`."""
