"""The encoder and BERTScore against transformers on torch and the package bert-score.

    python benchmarks/bertscore.py [--repeat 5] [--threads 1 --threads 2]

200 summaries of SummEval (in the folder RANKGAUGE_DATA): 25 articles, 8 systems, the first reference,
layer 5 of the encoder. transformers computes the same five layers: one text at a time, in batches of 8
and of 64 texts of similar length (bert-score takes 64). Each side is timed in turn, several times, and
the best time counts. A process of its own is started for each number of threads.

Then the expected BERTScore of tokens drawn at random, for each of the lengths 1 to all tokens of a
source, against the time in which the source is encoded. Where torch, transformers or bert-score are not
installed, only this is timed.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankgauge.core.arrays import Ints
from rankgauge.core.tables import Table
from rankgauge.text import Texts, evaluate, read_texts, use_encoder
from rankgauge.text.encoders import Encoder, find_encoder
from rankgauge.text.encoders.weights import Floats32
from rankgauge.text.metrics.bertscore_chance import expected_pairs
from rankgauge.text.metrics.embedding import EmbeddingStore

DATA = Path(os.environ.get("RANKGAUGE_DATA", "../shared/data"))
ARTICLES, SYSTEMS, SOURCES = 25, 8, 20
LAYER = 5
BATCHES = (1, 8, 64)
PEERS = ("torch", "transformers", "bert_score")
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

Row = tuple[str, float, float, float, float]
Works = Sequence[Callable[[], Any]]


def timed(works: Works, repeat: int) -> list[tuple[float, float]]:
    """The best time by the clock, and the best time of the processors, of each of the works. They take
    turns, so that a busy moment of the machine meets all of them."""
    best = np.full((len(works), 2), np.inf)
    for _ in range(repeat):
        for number, work in enumerate(works):
            started = time.perf_counter(), time.process_time()
            work()
            ended = time.perf_counter(), time.process_time()
            best[number] = np.minimum(best[number], np.subtract(ended, started))
    return [(float(clock), float(processor)) for clock, processor in best]


def compared(label: str, works: Works, repeat: int, count: int) -> Row:
    """The milliseconds for each of so many texts, ours and the peer's, with the ratio by the clock and
    the ratio by the time of the processors."""
    ours, theirs = timed(works, repeat)
    return (
        label,
        1000 * ours[0] / count,
        1000 * theirs[0] / count,
        ours[0] / theirs[0],
        ours[1] / theirs[1],
    )


class Transformers:
    """The first layers of the encoder, by transformers on torch."""

    def __init__(self, folder: Path, threads: int) -> None:
        import torch
        from transformers import AutoModel, logging

        logging.set_verbosity_error()
        logging.disable_progress_bar()
        torch.set_num_threads(threads)
        self.model = AutoModel.from_pretrained(folder).eval()
        self.model.encoder.layer = self.model.encoder.layer[:LAYER]

    def states(self, tokens: Sequence[Ints], batch: int) -> list[Floats32]:
        """The vectors of each text. A batch has texts of similar length, filled up to the longest."""
        import torch

        states: list[Floats32] = [np.empty(0, np.float32)] * len(tokens)
        order = sorted(range(len(tokens)), key=lambda place: len(tokens[place]))
        with torch.inference_mode():
            for start in range(0, len(order), batch):
                places = order[start : start + batch]
                size = max(len(tokens[place]) for place in places)
                ids, mask = np.zeros((2, len(places), size), dtype=np.int64)
                for row, place in enumerate(places):
                    ids[row, : len(tokens[place])] = tokens[place]
                    mask[row, : len(tokens[place])] = 1
                every = self.model(
                    input_ids=torch.from_numpy(ids), attention_mask=torch.from_numpy(mask)
                ).last_hidden_state.numpy()
                for row, place in enumerate(places):
                    states[place] = every[row, : len(tokens[place])]
        return states


def summaries() -> Texts:
    """Some articles of SummEval with the first reference and what some systems wrote."""
    texts = read_texts(DATA / "summeval" / "summeval.json.gz")
    outputs = {system: texts.outputs[system][:ARTICLES] for system in texts.systems[:SYSTEMS]}
    return Texts(None, [each[:1] for each in texts.references[:ARTICLES]], outputs)


def by_us(texts: Texts) -> Floats32:
    """The F of every summary; nothing is known of the texts beforehand."""
    afresh = Texts(None, list(texts.references), {k: list(v) for k, v in texts.outputs.items()})
    return np.asarray(evaluate(afresh, f"bertscore(layer={LAYER})"))[:, :, 0]


def beside_torch(encoder: Encoder, folder: Path, threads: int, repeat: int) -> Iterator[Row]:
    """The encoder beside transformers, and BERTScore beside bert-score. Both give the same numbers."""
    from bert_score import BERTScorer

    texts = summaries()
    candidates = texts.candidates()
    count = len(candidates)
    tokens = encoder.tokens(candidates.outputs)
    peer = Transformers(folder, threads)

    def encoded() -> list[Floats32]:
        return [layers[0] for layers in encoder.encode(tokens, [LAYER])]

    for batch in BATCHES:
        pairs = zip(encoded(), peer.states(tokens, batch), strict=True)
        assert max(float(np.abs(one - other).max()) for one, other in pairs) < 1e-4
        how = "one text at a time" if batch == 1 else f"batches of {batch}"
        works = encoded, lambda size=batch: peer.states(tokens, size)
        yield compared(f"encode, transformers: {how}", works, repeat, count)

    scorer = BERTScorer(model_type=str(folder), num_layers=LAYER)
    references = [texts.references[of][0] for of in candidates.of.tolist()]

    def by_bert_score() -> Floats32:
        precision_recall_f: Any = scorer.score(list(candidates.outputs), references)
        return np.asarray(precision_recall_f[2]).reshape(SYSTEMS, ARTICLES)

    np.testing.assert_allclose(by_us(texts), by_bert_score(), rtol=0, atol=1e-6)
    yield compared("BERTScore, bert-score", (lambda: by_us(texts), by_bert_score), repeat, count)


def all_lengths(encoder: Encoder, repeat: int) -> Row:
    """The expected score for all lengths up to the length of the source, beside encoding the source."""
    texts = read_texts(DATA / "summeval" / "summeval.json.gz")
    chosen = Texts(texts.sources[:SOURCES], [each[:1] for each in texts.references[:SOURCES]], {})
    store = EmbeddingStore(chosen, encoder)
    layers = store.request_layer(LAYER)
    tokens = store.sources
    for text in range(SOURCES):
        store.source(text, layers)
        store.reference(text, 0, layers)
    lengths = [np.arange(1, len(ids) - 1) for ids in tokens]

    def expected() -> None:
        for text, length in enumerate(lengths):
            expected_pairs(store, np.full(len(length), text), length, True, layers)

    works = expected, lambda: encoder.encode(tokens, layers)
    return compared("chance, all lengths; encode the source", works, repeat, SOURCES)


def measured(threads: int, repeat: int) -> None:
    """Print the table for a number of threads, which this process was started with."""
    folder = find_encoder()
    encoder = Encoder.load(folder)
    use_encoder(encoder)
    rows = [all_lengths(encoder, repeat)]
    missing = [name for name in PEERS if importlib.util.find_spec(name) is None]
    if not missing:
        rows = [*beside_torch(encoder, folder, threads, repeat), *rows]
    head = f"{threads} thread{'s'[: threads > 1]}, ms a text"
    columns = (head, "rankgauge", "the other", "ratio", "ratio of processor time")
    without = f"not compared with torch and bert-score: {', '.join(missing)} not installed"
    left_out = (without,) if missing else ()
    print(Table(columns, tuple(rows), left_out).render("table", digits=3), flush=True)


def main() -> None:
    """Start a process for each number of threads."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--threads", type=int, action="append")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    for threads in asked.threads or (1, 2):
        if asked.here:
            measured(threads, asked.repeat)
            continue
        command = [sys.executable, __file__, "--here", "--threads", str(threads)]
        environment = os.environ | dict.fromkeys(THREADS, str(threads))
        subprocess.run(
            [*command, "--repeat", str(asked.repeat)], env=environment, check=True, timeout=1800
        )


if __name__ == "__main__":
    main()
