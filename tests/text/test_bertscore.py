"""BERTScore: the laws, the numbers of bert-score, and what a text without tokens gets."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import summeval
from profiles import some
from rankgauge import Scores
from rankgauge.errors import RankgaugeError
from rankgauge.text import Texts, check_metric, evaluate, overview, parse_metric, use_encoder
from rankgauge.text.base import Metric
from rankgauge.text.checking import LAWS
from rankgauge.text.data.texts import Candidates
from stand_in_encoder import StandIn

EXPECTED = Path(__file__).parent / "expected" / "bertscore.npz"
TEXTS = Texts(
    ["The cat sat on the mat, and the dog sat by the door.", "Rates rose in 2021, and fell."],
    [["The cat sat on the mat.", "A cat and a dog sat."], ["Rates rose."]],
    {
        "one": ["The cat sat.", "Rates rose."],
        "two": ["", "It fell."],
        "three": ["The cat sat.", None],
    },
)


@pytest.fixture
def encoder() -> Iterator[StandIn]:
    made = StandIn()
    use_encoder(made)
    yield made
    use_encoder(None)


@pytest.fixture
def real(encoder_folder: Path) -> Iterator[None]:
    use_encoder(encoder_folder)
    yield
    use_encoder(None)


@pytest.mark.parametrize("law", ["text form", "zero texts", "range", "ideal", "each text alone"])
def test_laws_hold_with_a_real_encoder(law: str, real: None) -> None:
    """The others, which draw many texts, are tried with the small encoder."""
    LAWS[law](parse_metric("bertscore"))


@pytest.mark.parametrize(
    "metric",
    ["v2(bertscore,null=similar)", "v2(bertscore,null=dissimilar)", "expected(bertscore,length=9)"],
)
def test_forms_obey_the_laws_whatever_chance_is(metric: str, encoder: StandIn) -> None:
    check_metric(parse_metric(metric))


def test_numbers_are_those_of_bert_score(real: None, real_data: Callable[[str], Path]) -> None:
    """Summaries of ten articles by four systems, or by all 16 if thorough; three layers, with and
    without idf, to 1e-6."""
    whole = summeval.read(real_data(summeval.FILE))
    with np.load(EXPECTED) as stored:
        expected, systems = stored["values"], stored["systems"].tolist()
        names, layers = stored["articles"].tolist(), stored["layers"].tolist()
    chosen = some(range(len(systems)), 4)
    places = [whole.ids.index(name) for name in names]
    texts = Texts(
        None,
        [whole.references[place][:1] for place in places],
        {systems[i]: [whole.outputs[systems[i]][place] for place in places] for i in chosen},
    )
    metrics = [
        parse_metric("bertscore")(layer=layer, idf=idf, part=part)
        for layer in layers
        for idf in (False, True)
        for part in ("precision", "recall", "f")
    ]
    ours = np.moveaxis(np.asarray(evaluate(texts, metrics)), 2, 0)
    every = expected.reshape(len(metrics), len(systems), len(places))
    assert ours == pytest.approx(every[:, chosen], abs=1e-6)


def slow_score(encoder: StandIn, own: str, theirs: str, layer: int, weight) -> tuple[float, float]:
    """Precision and recall, token by token."""
    a, b = (encoder.tokens([text])[0] for text in (own, theirs))
    va, vb = (encoder.vectors(ids, layer).astype(float) for ids in (a, b))

    def cosine(x: np.ndarray, y: np.ndarray) -> float:
        return float(x @ y / np.sqrt((x @ x) * (y @ y)))

    def mean(ids: np.ndarray, mine: np.ndarray, others: np.ndarray) -> float:
        best = [max(cosine(x, y) for y in others) for x in mine[1:-1]]
        weights = [weight(int(token)) for token in ids[1:-1]]
        return sum(w * p for w, p in zip(weights, best, strict=True)) / sum(weights)

    return mean(a, va, vb), mean(b, vb, va)


@pytest.mark.parametrize("references", ["mean", "max", "first"])
@pytest.mark.parametrize("idf", [False, True])
def test_scores_token_by_token(idf: bool, references: str, encoder: StandIn) -> None:
    chosen = [each[:1] if references == "first" else each for each in TEXTS.references]
    sets = [set(encoder.tokens([text])[0].tolist()) for each in chosen for text in each]

    def weight(token: int) -> float:
        often = sum(token in each for each in sets)
        return float(np.log((len(sets) + 1) / (often + 1))) if idf else 1.0

    combine = max if references == "max" else np.mean
    for own, of in (("The cat sat.", 0), ("It fell.", 1), ("dog dog mat", 0)):
        pairs = [slow_score(encoder, own, text, 3, weight) for text in chosen[of]]
        texts = Texts(
            TEXTS.sources, TEXTS.references, {"x": [own if n == of else "" for n in (0, 1)]}
        )
        by_hand = {
            "precision": combine([p for p, _ in pairs]),
            "recall": combine([r for _, r in pairs]),
            "f": combine([2 * p * r / (p + r) for p, r in pairs]),
        }
        for part, right in by_hand.items():
            metric = parse_metric("bertscore(layer=3)")(part=part, idf=idf, references=references)
            assert metric.score_each(texts.candidates())[of] == pytest.approx(right, abs=1e-6)


def test_an_empty_output_gets_0_and_is_counted(encoder: StandIn) -> None:
    scores = evaluate(TEXTS, "bertscore")
    assert np.asarray(scores)[1, 0, 0] == 0
    assert any("outputs without tokens: 2. Such an output scores 0" in str(n) for n in scores.notes)


def test_each_different_text_is_encoded_once(encoder: StandIn) -> None:
    """Three references, two sources, and the outputs but for one that two systems share."""
    metrics = [
        f"bertscore(layer={layer},idf={idf})" for layer in (2, 5) for idf in ("true", "false")
    ]
    asked = [*metrics, *(f"v2({each},length=20)" for each in metrics), "bertscore(part=recall)"]
    evaluate(Texts(TEXTS.sources, TEXTS.references, TEXTS.outputs), asked)
    different = {(0, "The cat sat."), (0, ""), (1, "Rates rose."), (1, "It fell."), (1, "")}
    assert encoder.encoded == 3 + 2 + len(different)


def test_each_text_is_split_into_tokens_once() -> None:
    """Three references, two sources, six outputs, and an empty text for the special tokens."""

    class Counting(StandIn):
        split = 0

        def tokens(self, texts: Sequence[str]) -> list[np.ndarray]:
            self.split += len(texts)
            return super().tokens(texts)

    counting = Counting()
    use_encoder(counting)
    try:
        overview(Texts(TEXTS.sources, TEXTS.references, TEXTS.outputs), "bertscore")
    finally:
        use_encoder(None)
    assert counting.split == 3 + 2 + 6 + 1


def test_a_baseline_rescales(encoder: StandIn) -> None:
    plain, rescaled = (
        parse_metric(text).score_each(TEXTS.candidates())
        for text in ("bertscore", "bertscore(baseline=0.25)")
    )
    assert rescaled == pytest.approx((plain - 0.25) / 0.75)
    assert parse_metric("bertscore(baseline=0.25)").range == pytest.approx((-1 / 3, 1))


def test_scores_below_0_count_as_0_and_are_counted(tmp_path: Path) -> None:
    class Opposite(StandIn):
        """The word "apart" is the opposite of everything else."""

        def vectors(self, ids: np.ndarray, layer: int) -> np.ndarray:
            apart = self.tokens(["apart"])[0][1]
            sign = np.where(ids == apart, 1, -1).astype(np.float32)
            return sign[:, None] * np.ones((1, 4), dtype=np.float32)

    use_encoder(Opposite())
    try:
        texts = Texts(["apart else"], ["apart"], {"x": ["else"]})
        metrics = ["bertscore(part=recall)", "bertscore", "v1(bertscore)", "v2(bertscore)"]
        scores = evaluate(texts, metrics)
        assert np.asarray(scores)[0, 0, :2].tolist() == [0, 0]
        assert np.isfinite(np.asarray(scores)).all()
        assert any("negative scores, counted as 0: 1" in str(n) for n in scores.notes)
        scores.save(tmp_path / "scores.parquet")
    finally:
        use_encoder(None)


def test_signatures_name_the_encoder(encoder: StandIn) -> None:
    metric = parse_metric("bertscore(idf=true)")
    scores = evaluate(TEXTS, [metric, "rouge1", "v2(bertscore)"])
    plain, rouge, form = scores.signatures().values()
    assert plain.startswith("bertscore(layer=5,idf=true,")
    assert f"|encoder={encoder.digest}|" in plain
    assert f"|encoder={encoder.digest}|" in form
    assert "encoder" not in rouge
    pinned = dataclasses.replace(metric, encoder=encoder.digest)
    assert pinned.score_each(TEXTS.candidates()).tolist() == pytest.approx(
        metric.score_each(TEXTS.candidates()).tolist()
    )
    other = dataclasses.replace(pinned, encoder="another")
    with pytest.raises(RankgaugeError, match="expected another; choose that encoder"):
        other.score_each(TEXTS.candidates())


def test_signatures_name_the_encoder_that_computed_the_scores(
    encoder: StandIn, tmp_path: Path
) -> None:
    """Not the one that is chosen later, nor the one of whoever reads the file."""
    scores = evaluate(TEXTS, "bertscore")
    signatures = scores.signatures()
    scores.save(tmp_path / "scores.parquet")
    use_encoder(StandIn(layers=7))
    assert scores.signatures() == signatures
    assert Scores.load(tmp_path / "scores.parquet").signatures() == signatures
    other = evaluate(TEXTS, "bertscore(layer=4)")
    assert other.signatures() != evaluate(TEXTS, "bertscore").signatures() != signatures
    both = scores.joined(other)
    assert {signatures["bertscore"], *other.signatures().values()} <= {str(n) for n in both.notes}
    with_rouge = scores.joined(evaluate(TEXTS, "rouge1"))
    assert with_rouge.signatures()["bertscore"] == signatures["bertscore"]


def test_an_evaluation_keeps_the_encoder_that_it_began_with(encoder: StandIn) -> None:
    class Changes(Metric):
        name = "changes"

        def _score(self, candidates: Candidates) -> np.ndarray:
            use_encoder(StandIn(layers=7))
            return np.ones(len(candidates))

    alone = np.asarray(evaluate(TEXTS, "bertscore"))[:, :, 0]
    with ThreadPoolExecutor(1) as one_thread:
        scores = evaluate(TEXTS, [Changes(), "bertscore"], executor=one_thread)
    assert (np.asarray(scores)[:, :, 1] == alone).all()
    assert encoder.digest in scores.signatures()["bertscore"]


def test_a_layer_that_the_encoder_does_not_have() -> None:
    use_encoder(StandIn(layers=3))
    try:
        with pytest.raises(RankgaugeError, match="has only 3 layers"):
            evaluate(TEXTS, "bertscore")
    finally:
        use_encoder(None)


def test_nulls_of_bertscore_are_not_for_other_metrics(encoder: StandIn) -> None:
    with pytest.raises(RankgaugeError, match="rouge1 does not know null=similar"):
        parse_metric("v2(rouge1,null=similar)")
    from rankgauge.text import Null

    both = overview(TEXTS, ["rouge1", "bertscore"], null=Null(null="similar"))
    assert "v2(bertscore,null=similar)" in both.scores.mean()["one"]
    assert any("does not know null=similar" in str(note) for note in both.notes)


def test_vectors_that_were_dropped_are_encoded_again(
    encoder: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    metrics = ["bertscore", "v2(bertscore,length=20)", "expected(bertscore,length=30)"]
    before = np.asarray(evaluate(TEXTS, metrics))
    fresh = Texts(TEXTS.sources, TEXTS.references, TEXTS.outputs)
    monkeypatch.setattr("rankgauge.text.metrics.embedding.MOST_BYTES", 1)
    assert np.asarray(evaluate(fresh, metrics)).tolist() == before.tolist()
