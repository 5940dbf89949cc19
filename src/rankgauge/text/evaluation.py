"""From texts to scores, with a table of each system next to a random-text baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from rankgauge.core.arrays import Floats
from rankgauge.core.checks import check_value
from rankgauge.core.notes import Note, count_phrase, note_texts
from rankgauge.core.policies import DEFAULT_MISSING, LEVEL, LEVELS, Missing, Progress
from rankgauge.core.records import Record
from rankgauge.core.results import Result
from rankgauge.core.tables import Cell, Table
from rankgauge.errors import MeasureError, RankgaugeError
from rankgauge.measures.around import innermost
from rankgauge.measures.scored import Composite
from rankgauge.scores.matrices import TEXTS, scores_of
from rankgauge.scores.model import Scores
from rankgauge.text import registry
from rankgauge.text.base import Metric
from rankgauge.text.chance import Null, check_null_for_workers
from rankgauge.text.data.texts import Candidates, Texts
from rankgauge.text.encoders.threads import limit_blas_threads
from rankgauge.text.grammar import parse_metrics
from rankgauge.text.metrics.embedding import AnyEncoder, current_encoder, encoder_context
from rankgauge.text.tokens import word_counts
from rankgauge.workers import AnyExecutor, as_workers, results_of

FORMS = ("expected", "v1", "v2", "linear")
"""The columns next to the score of a metric: the random-text baseline and the normalized forms."""
COLUMNS = ("metric", "system", "score", "low", "high", "chance", *FORMS[1:], "words", "empty")


def evaluate(
    texts: Texts,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    missing: Missing = DEFAULT_MISSING,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score every system on every text with every metric.

    Parameters
    ----------
    texts : Texts
        The texts, with the outputs of at least one system.
    metrics : str, Metric or iterable of them
        The metrics, such as "rouge1", "v2(rouge2)" or "expected(rougeL,null=sentences)".
    missing : {"zero", "skip"}, default "zero"
        How to treat texts for which a system has no output. "zero": score an empty output. "skip":
        exclude the text from the mean of that system.
    executor : Executor, Client or Workers, optional
        Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the name of each metric when it has been computed.

    Returns
    -------
    Scores
        System × text × metric. Texts take the place of queries.

    Raises
    ------
    RankgaugeError
        If there are no systems or no metrics.
    MeasureError
        If a metric cannot be parsed.

    Examples
    --------
    >>> from rankgauge.text import Texts, evaluate
    >>> texts = Texts(["a b c d"], ["a b"], {"lead": ["a b c"]})
    >>> evaluate(texts, "rouge1").mean()["lead"]
    {'rouge1': 0.8}
    """
    if not texts.outputs:
        raise RankgaugeError("no systems, expected the outputs of at least one")
    candidates = texts.candidates()
    return scores_of_candidates(
        candidates, metrics, missing=missing, executor=executor, progress=progress
    )


def scores_of_candidates(
    candidates: Candidates,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    missing: Missing = DEFAULT_MISSING,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> Scores:
    """Score prepared candidates, and reuse the scores from earlier calls.

    Scores and expected scores are cached in the candidates. A second call with the same object
    computes only new ones.

    Parameters
    ----------
    candidates : Candidates
        All outputs of the systems, as `Texts.candidates` returns them.
    metrics : str, Metric or iterable of them
        The metrics, as in `evaluate`.
    missing : {"zero", "skip"}, default "zero"
        How to treat texts for which a system has no output, as in `evaluate`.
    executor : Executor, Client or Workers, optional
        Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the name of each metric when it has been computed.

    Returns
    -------
    Scores
        System × text × metric, as from `evaluate`.

    Raises
    ------
    RankgaugeError
        If there are no metrics, or another process does not know a metric's way of drawing random
        texts.

    Examples
    --------
    >>> from rankgauge.text import Texts, scores_of_candidates
    >>> candidates = Texts(["a b c d"], ["a b"], {"lead": ["a b c"]}).candidates()
    >>> scores_of_candidates(candidates, ["rouge1", "rouge2"]).mean()["lead"]
    {'rouge1': 0.8, 'rouge2': 0.6666666666666666}
    """
    texts = candidates.texts
    asked = parse_metrics(metrics)
    if not asked:
        raise RankgaugeError("no metrics, expected at least one, such as rouge1")
    if as_workers(executor) is not None:
        for metric in asked:
            check_null_for_workers(metric)
    families: dict[object, list[Metric]] = {}
    for metric in dict.fromkeys(asked):
        families.setdefault(innermost(metric).family, []).append(metric)
    encoder = current_encoder() if any(metric.by_encoder for metric in asked) else None
    work = partial(_score_family, candidates, encoder)
    results: dict[Metric, tuple[Floats, list[Note]]] = {}
    each = results_of(work, list(families.values()), executor, _family_label, progress=progress)
    for family, scored in each:
        results.update(zip(family, scored, strict=True))
    shape = len(texts.outputs), len(texts)
    written = [[text is not None for text in outputs] for outputs in texts.outputs.values()]
    metrics = tuple(dict.fromkeys(asked))
    scores = scores_of(
        texts.systems,
        texts.ids,
        metrics,
        np.stack([results[metric][0].reshape(shape) for metric in metrics], axis=2),
        np.array(written, dtype=np.bool_).reshape(shape),
        missing,
        TEXTS,
    )
    notes = dict.fromkeys(note for metric in metrics for note in results[metric][1])
    policies = replace(scores.policies, encoder=None if encoder is None else encoder.digest)
    return replace(scores, policies=policies, notes=(*_notes_on_texts(texts), *notes))


def _score_family(
    candidates: Candidates, encoder: AnyEncoder | None, family: Sequence[Metric]
) -> list[tuple[Floats, list[Note]]]:
    """The scores by each metric of a family, with notes on them; what they share is computed once."""
    inside = [each for each in map(innermost, family) if isinstance(each, Metric)]
    with encoder_context(encoder), nullcontext() if encoder is None else limit_blas_threads():
        type(inside[0]).expect(candidates, list(dict.fromkeys(inside)))
        return [
            (metric.complete().score_each(candidates), metric.remarks(candidates))
            for metric in family
        ]


def _family_label(family: Sequence[Metric]) -> str:
    return str(innermost(family[0]))


def _notes_on_texts(texts: Texts) -> list[Note]:
    """Notes on the texts: what systems lack, and which texts have no source."""
    notes = [
        Note("no output for {texts}", run=system, count=lacking)
        for system, outputs in texts.outputs.items()
        if (lacking := sum(text is None for text in outputs))
    ]
    bare = sum(not source.strip() for source in texts.sources)
    if bare:
        notes.append(Note("no source for {texts}, so chance is unknown", count=bare))
    return notes


def overview(
    texts: Texts,
    metrics: str | Metric | Iterable[str | Metric],
    *,
    null: Null | None = None,
    missing: Missing = DEFAULT_MISSING,
    level: float = LEVEL,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> TextOverview:
    """Compare the scores of each system with the expected score of a random text.

    For each metric, the result has the expected score and the normalized forms v1, v2 and linear.

    Parameters
    ----------
    texts : Texts
        The texts, with the outputs of at least one system.
    metrics : str, Metric or iterable of them
        The metrics, as in `evaluate`. A metric that already involves chance, such as v2(rouge1),
        gets no further forms.
    null : Null, optional
        How random texts are drawn. By default, they are words of the source, as many as the
        reference has.
    missing : {"zero", "skip"}, default "zero"
        How to treat texts for which a system has no output, as in `evaluate`.
    level : float, default 0.95
        Confidence level of the intervals of the means.
    executor : Executor, Client or Workers, optional
        Where the work runs: an executor of `concurrent.futures`, a Dask client, or `Workers`. By
        default, threads.
    progress : callable, optional
        Called with the name of each metric when it has been computed.

    Returns
    -------
    TextOverview
        The scores, with a table of them.

    Examples
    --------
    >>> from rankgauge.text import Texts, overview
    >>> texts = Texts(["a b c d"] * 2, ["a b", "c d"], {"lead": ["a b c", "a b c"]})
    >>> overview(texts, "rouge1").scores.mean()["lead"]["v2(rouge1)"] < 0.5
    True
    """
    chance = null or Null()
    parameters = {key: getattr(chance, key) for key in Null.parameters()}
    asked = tuple(dict.fromkeys(parse_metrics(metrics)))
    forms: dict[tuple[Metric, str], Metric] = {}
    notes: list[Note] = []
    every: list[Metric] = []
    sourced = any(source.strip() for source in texts.sources)
    for metric in asked:
        every.append(metric)
        for name in FORMS if sourced and not isinstance(metric, Composite) else ():
            kind: Any = registry.find(name)
            try:
                form = forms[metric, name] = kind(metric, **parameters)
                every.append(form)
            except MeasureError as error:
                notes.append(Note(str(error), measure=str(metric)))
    scores = evaluate(texts, every, missing=missing, executor=executor, progress=progress)
    return TextOverview(
        texts, asked, forms, scores, check_value("level", level, LEVELS), tuple(notes)
    )


class TextOverview(Result, Record):
    """The scores of each system beside the expected score of a random text: the result of `overview`.

    Attributes
    ----------
    texts : Texts
        The texts.
    metrics : tuple of Metric
        The requested metrics.
    forms : dict
        The normalized forms: `{(metric, name): form}`, with the names expected, v1, v2 and linear.
    scores : Scores
        The scores for all metrics and forms, text by text.
    level : float
        The level of the confidence intervals of the means.
    more : tuple of Note
        Notes on forms that do not exist. `notes` adds the notes on the scores.

    Examples
    --------
    >>> from rankgauge.text import Texts, overview
    >>> result = overview(Texts(["a b c d"], ["a b"], {"lead": ["a b c"]}), "rouge1")
    >>> [str(form) for form in result.forms.values()]
    ['expected(rouge1)', 'v1(rouge1)', 'v2(rouge1)', 'linear(rouge1)']
    >>> result.words.tolist(), result.empty
    ([3.0], [0])
    """

    texts: Texts
    metrics: tuple[Metric, ...]
    forms: Mapping[tuple[Metric, str], Metric]
    scores: Scores
    level: float
    more: tuple[Note, ...]

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """Notes on the scores."""
        return (*self.scores.notes, *self.more)

    @cached_property
    def words(self) -> Floats:
        """The mean number of words of each system's outputs."""
        skip = self.scores.policies.missing == "skip"
        counts = [
            word_counts([text or "" for text in outputs if text is not None or not skip])
            for outputs in self.texts.outputs.values()
        ]
        return np.array([float(each.mean()) if each.size else np.nan for each in counts])

    @cached_property
    def empty(self) -> list[int]:
        """For each system, the number of texts with an empty or missing output."""
        each = self.texts.outputs.values()
        return [sum(not (text or "").strip() for text in outputs) for outputs in each]

    def without_chance(self) -> Scores:
        """The scores without the expected scores of random text, which do not describe systems."""
        left_out = {str(form) for (_, name), form in self.forms.items() if name == "expected"}
        kept = [str(each) for each in self.scores.measures if str(each) not in left_out]
        return self.scores.select(measures=kept)

    def table(self) -> Table:
        """Return a table with one row per metric and system, the best system first.

        Each row has the mean with its confidence interval, the score of random text, the
        normalized forms, the mean number of words, and the number of empty outputs.
        """
        means, intervals = self.scores.mean(), self.scores.interval(level=self.level)
        rows: list[tuple[Cell, ...]] = []
        for metric in self.metrics:
            sign = -1.0 if metric.direction == "lower" else 1.0
            merit = {run: -sign * means[run][str(metric)] for run in self.scores.runs}
            order = sorted(merit, key=lambda run: (np.isnan(merit[run]), merit[run]))
            for run in order:
                place = self.scores.runs.index(run)
                shown = [self.forms.get((metric, name)) for name in FORMS]
                score = means[run][str(metric)], *intervals[run][str(metric)]
                beside = (None if form is None else means[run][str(form)] for form in shown)
                words = float(self.words[place]), self.empty[place]
                rows.append((str(metric), run, *score, *beside, *words))
        about = {"score": f"mean over texts, with its {self.level:.0%} confidence interval"}
        if self.forms:
            about |= {
                "chance": "expected score of a text drawn at random from the source",
                "v1": "score² / (score + chance), if the best score is 1",
                "v2, linear": (
                    "0 for chance, 1 for the best score; below chance, v2 goes down to −1"
                ),
            }
        about["words"] = "mean number of words per output"
        columns = [Note(text, column=column) for column, text in about.items()]
        return Table(COLUMNS, tuple(rows), note_texts((*columns, *self.notes), gather=True))

    def _title(self) -> str:
        systems, texts = (
            count_phrase(len(self.scores.runs), "system"),
            count_phrase(len(self.texts), "text"),
        )
        return f"TextOverview: {systems}, {texts}"
