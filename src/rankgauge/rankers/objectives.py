"""What training makes best: the words for it, and where it comes from."""

from __future__ import annotations

from rankgauge.core.records import Value

SETTING = "objective"
"""The setting that says what training makes best, in methods that leave a choice."""
PLACE = f"{{{SETTING}}}"
"""What stands for the value of the setting in `Ranker.optimizes`."""
ANY_MEASURE, UNSTATED = "any measure", "not stated by the method"


class TrainingObjective(Value):
    """What training makes best with some settings.

    Parameters
    ----------
    text
        What training makes best, in words.
    origin
        Where that comes from: a setting, a preset, or the method itself.
    measure
        The text of the measure that training makes best itself; None where it is a loss.
    """

    text: str
    origin: str
    measure: str | None = None

    def __str__(self) -> str:
        return f"{self.text} ({self.origin})"


def fixed_origin(source: str) -> str:
    """Where an objective comes from that no setting changes: the method, with a short reference.

    >>> fixed_origin("Breiman 2001, Random forests")
    'fixed by the method (Breiman 2001)'
    """
    reference = source.partition(",")[0].strip()
    return f"fixed by the method ({reference})" if reference else "fixed by the method"
