"""An encoder in other processes: they load it from its folder, once, and get the same numbers."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import tiny_encoders
from rankgauge.errors import InputError
from rankgauge.text import Texts, evaluate, use_encoder
from rankgauge.text.encoders import Encoder
from rankgauge.text.encoders.folder import WEIGHTS
from rankgauge.text.evaluation import _score_family
from rankgauge.text.grammar import parse_metrics

METRICS = ["bertscore(layer=2)", "v2(bertscore(layer=1,idf=true))", "rouge1"]
TEXTS = Texts(
    ["the cat sat on the mat and the dog sat by the door"],
    ["the cat sat on the mat"],
    {"one": ["the cat sat"], "two": ["a dog sat by the door"]},
)


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """A process that starts afresh: it knows nothing of what was chosen here."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as one:
        yield one


@pytest.fixture(autouse=True)
def default_afterwards() -> Iterator[None]:
    yield
    use_encoder(None)


def values(pool: ProcessPoolExecutor | None) -> np.ndarray:
    return np.asarray(evaluate(TEXTS, METRICS, executor=pool))


@pytest.mark.parametrize("model_type", ["bert", "roberta"])
def test_a_process_gets_the_same_numbers(
    pool: ProcessPoolExecutor, tmp_path: Path, model_type: str
) -> None:
    folder = tiny_encoders.write(tmp_path / "encoder", model_type)
    for encoder in (Encoder.load(folder), folder, str(folder)):
        use_encoder(encoder)
        serial = values(None)
        assert serial[:, :, :2].any()
        assert values(pool).tobytes() == serial.tobytes()


def test_a_process_uses_the_encoder_that_is_chosen_now(
    pool: ProcessPoolExecutor, tmp_path: Path
) -> None:
    """Also when an earlier one is chosen again."""
    folders = [tiny_encoders.write(tmp_path / str(seed), seed=seed) for seed in (1, 2)]
    expected = []
    for folder in folders:
        use_encoder(folder)
        expected.append(values(None))
    assert (expected[0] != expected[1]).any()
    for number in (0, 1, 0):
        use_encoder(folders[number])
        assert (values(pool) == expected[number]).all()


def test_an_encoder_that_changed_meanwhile_is_an_error(
    pool: ProcessPoolExecutor, tmp_path: Path
) -> None:
    folder = tiny_encoders.write(tmp_path / "encoder", seed=3)
    encoder = Encoder.load(folder)
    use_encoder(encoder)
    other = tiny_encoders.safetensors(tiny_encoders.tensors("bert", seed=4))
    (folder / WEIGHTS).write_bytes(other)
    with pytest.raises(InputError, match=f"changed after it was loaded.*expected {encoder.digest}"):
        values(pool)
    (folder / WEIGHTS).unlink()
    with pytest.raises(InputError, match=f"no file {WEIGHTS}"):
        values(pool)


def test_the_weights_are_not_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a process loads them once, however much work it gets."""
    encoder = Encoder.load(tiny_encoders.write(tmp_path / "encoder", seed=5))
    use_encoder(encoder)
    values(None)
    sent = pickle.dumps((TEXTS.candidates(), encoder, parse_metrics(METRICS[:2])))
    assert len(sent) < 5_000 < (encoder.folder / WEIGHTS).stat().st_size
    loads = []
    load = Encoder.load
    monkeypatch.setattr(Encoder, "load", lambda folder: loads.append(folder) or load(folder))
    for _ in range(3):
        _score_family(*pickle.loads(sent))
    assert len(loads) == 1
