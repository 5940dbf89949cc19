"""How a report was computed: facts, notes, warnings, and what was left out."""

from __future__ import annotations

from collections.abc import Iterable

from rankgauge.core.notes import WARNING_PREFIX, Note, count_phrase, note_texts
from rankgauge.core.policies import DEFAULT_CORRECTION, DEFAULT_TEST
from rankgauge.core.tables import visible_line
from rankgauge.data.model import Judgments
from rankgauge.report.page_data import PageProvenance
from rankgauge.scores.model import Scores

POLICY_NAMES = {
    "source": "Scores",
    "ties": "Equal scores",
    "seed": "Seed",
    "tail": "Documents not retrieved",
    "judgments": "Judgments",
    "precision": "Precision of scores",
    "unjudged": "Unjudged documents",
    "negative": "Negative grades",
    "missing": "Missing queries",
    "max_grade": "Highest grade",
    "standardized": "Standardized",
    "encoder": "Encoder",
}
"""The policies in words, for readers who do not know signatures."""
POLICY_VALUES = {
    "ties": {
        "docno": "by document id, descending, as trec_eval does",
        "docno-ascending": "by document id, ascending",
        "input": "as in the file",
        "pessimistic": "the worst order",
        "optimistic": "the best order",
        "random": "a random order",
        "expected": "no order: the mean score over all orders",
    },
    "precision": {
        "single": "single, as in trec_eval up to 9.0.7",
        "double": "double",
        "single+double": "single for some runs, double for others",
    },
    "unjudged": {"nonrelevant": "not relevant", "condensed": "removed from the rankings first"},
    "negative": {"unjudged": "not judged", "nonrelevant": "judged, not relevant"},
    "missing": {
        "zero": "scored as empty rankings",
        "skip": "excluded from the means of the run that lacks them",
    },
}
"""What the values of policies mean; any other value is shown as it is."""


def describe_provenance(
    scores: Scores,
    judgments: Judgments | None,
    *,
    level: float,
    command: str,
    notes: Iterable[Note],
    left: Iterable[str],
) -> PageProvenance:
    """What the last section of a report shows.

    Parameters
    ----------
    scores: the scores that are reported.
    judgments: the judgments that they were made with, if known.
    level: the level of intervals and tests.
    command: the command that makes the report again.
    notes: notes beside the notes of the scores.
    left: what was left out, a sentence each.
    """
    about = () if judgments is None else judgments.dropped
    texts = note_texts([*about, *scores.notes, *notes], gather=True)
    loud = [text.removeprefix(WARNING_PREFIX) for text in texts if text.startswith(WARNING_PREFIX)]
    return {
        "facts": [
            [name, visible_line(value)] for name, value in _facts(scores, judgments, level, command)
        ],
        "notes": [visible_line(text) for text in texts if not text.startswith(WARNING_PREFIX)],
        "warnings": [visible_line(text) for text in (*scores.failed, *loud)],
        "left": [visible_line(sentence) for sentence in left],
    }


def _facts(
    scores: Scores, judgments: Judgments | None, level: float, command: str
) -> list[tuple[str, str]]:
    facts = [
        ("Runs", f"{len(scores.runs):,}"),
        ("Queries", f"{len(scores.queries):,}"),
    ]
    if judgments is not None:
        facts.append(("Judgments", count_phrase(len(judgments.documents), "judged document")))
    facts += [(f"Signature of {measure}", text) for measure, text in scores.signatures().items()]
    policies = scores.policies.nonempty_fields()
    known = policies if scores.policies.source is None else ("source", "missing", "standardized")
    for key, name in POLICY_NAMES.items():
        if key in policies and key in known:
            facts.append((name, POLICY_VALUES.get(key, {}).get(policies[key], str(policies[key]))))
    facts += [
        ("Intervals", f"{100 * level:.10g}% intervals of the means, by Student's t"),
        (
            "Significance",
            f"{DEFAULT_TEST}, with {DEFAULT_CORRECTION.capitalize()}'s correction: in the leaderboard "
            "over the runs that are compared with the baseline, in the matrix over all pairs of "
            "runs; a difference is significant if its corrected p-value is at most "
            f"{1 - level:.4g}",
        ),
        ("Versions", _versions()),
        ("Made by", command),
    ]
    return facts


def _versions() -> str:
    import numpy
    import scipy

    from rankgauge.version import __version__

    return f"rankgauge {__version__}, NumPy {numpy.__version__}, SciPy {scipy.__version__}"
