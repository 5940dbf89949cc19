"""BERTScore on SummEval agrees with people as much as MATHS §10 says: 12 systems, layer 5.

The scores of all 1,200 summaries are stored, as the package bert-score has them
(made_by/summeval_bertscore.py). Some of them are computed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import summeval
from rankgauge.scores.matrices import TEXTS, scores_of
from rankgauge.text import Texts, human_correlation, parse_metric, read_ratings, use_encoder

EXPECTED = Path(__file__).parent / "expected" / "summeval_bertscore.npz"
METRIC = parse_metric("bertscore(layer=5,references=first)")
TAU = {"coherence": 0.18, "consistency": 0.24, "fluency": 0.45, "relevance": 0.42}
ONE_SWAP = 0.031
"""By how much a swap of two of 12 systems changes τ: 2/66."""
LIVE = 40


class Stored:
    """The stored scores, system × article, with the names of both."""

    def __init__(self) -> None:
        with np.load(EXPECTED) as stored:
            self.values = stored["values"].astype(np.float64)
            self.systems = tuple(stored["systems"].tolist())
            self.articles = tuple(stored["articles"].tolist())


@pytest.fixture(scope="module")
def stored() -> Stored:
    return Stored()


@pytest.fixture
def real(encoder_folder: Path) -> Iterator[None]:
    use_encoder(encoder_folder)
    yield
    use_encoder(None)


def test_systems_agree_with_ratings(stored: Stored, real_data: Callable[[str], Path]) -> None:
    assert stored.values.shape == (12, 100)
    assert not {"M0", "M1", "M2", "M5"} & set(stored.systems)
    scores = scores_of(
        stored.systems,
        stored.articles,
        (METRIC,),
        stored.values[:, :, None],
        np.ones(stored.values.shape, dtype=np.bool_),
        "zero",
        TEXTS,
    )
    human = human_correlation(scores, read_ratings(real_data(summeval.FILE)), samples=2)
    assert dict(zip(human.dimensions, human.tau_b[0], strict=True)) == pytest.approx(
        TAU, abs=ONE_SWAP
    )


def test_stored_scores_are_ours(
    stored: Stored, real: None, real_data: Callable[[str], Path]
) -> None:
    """40 summaries, drawn at random."""
    texts = summeval.read(real_data(summeval.FILE))
    chosen = np.random.default_rng(24).choice(stored.values.size, LIVE, replace=False)
    pairs = [divmod(int(place), len(stored.articles)) for place in chosen]
    places = [texts.ids.index(stored.articles[article]) for _, article in pairs]
    some = Texts(
        None,
        [texts.references[place][:1] for place in places],
        {
            "some": [
                texts.outputs[stored.systems[system]][place]
                for (system, _), place in zip(pairs, places, strict=True)
            ]
        },
    )
    ours = METRIC.score_each(some.candidates())
    assert ours == pytest.approx([stored.values[pair] for pair in pairs], abs=1e-6)
