"""What to know of runs that are fused although they have little in common."""

from __future__ import annotations

import numpy as np

from rankgauge.core.notes import WARNING, Note
from rankgauge.fusion.pool import Pool


def overlap_notes(union: Pool) -> list[Note]:
    """What to know of runs that differ in their queries, or have no document in common."""
    answered = union.lengths > 0
    notes = [
        Note(
            "has no documents for {queries} that other runs answer; only those runs rank them",
            run=name,
            count=count,
        )
        for name, count in zip(
            union.names, np.count_nonzero(~answered, axis=0).tolist(), strict=True
        )
        if count
    ]
    if not (np.count_nonzero(union.ranks, axis=1) > 1).any():
        notes.append(
            Note(
                "no document occurs in two runs",
                detail="do the runs use the same document ids?",
                severity=WARNING,
            )
        )
    return notes
