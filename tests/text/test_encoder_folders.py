"""Folders of encoders that are damaged, or that lie: an error says what is wrong, and no code is run."""

from __future__ import annotations

import json
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import tiny_encoders
from command_line import one_process
from profiles import examples
from rankgauge.errors import InputError
from rankgauge.text.encoders import Encoder
from rankgauge.text.encoders.folder import CONFIG, TOKENIZER, WEIGHTS

pytest.importorskip("tokenizers")

NO_WEIGHTS = r"cannot be read \(.+\), expected a safetensors file; copy the file again"
QUERY = "encoder.layer.1.attention.self.query.weight"


@pytest.fixture(params=["bert", "roberta"])
def folder(request, tmp_path: Path) -> Path:
    return tiny_encoders.write(tmp_path / "encoder", request.param)


def refused(folder: Path, file: str, message: str) -> None:
    """Loading is refused in little memory, with the file, what is wrong, and what to do."""
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=message) as caught:
            Encoder.load(folder)
        assert tracemalloc.get_traced_memory()[1] < 20_000_000
    finally:
        tracemalloc.stop()
    assert caught.value.source == str(folder / file if file else folder)
    assert "expected" in caught.value.message or ";" in caught.value.message
    assert len(str(caught.value)) < 800


class TestFiles:
    def test_a_folder_that_is_not_there(self, tmp_path: Path) -> None:
        refused(tmp_path / "none", "", r"does not exist, expected a folder with config\.json")

    def test_a_folder_that_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("{}")
        refused(tmp_path / "file", "", "is not a folder, expected a folder")

    def test_an_impossible_name(self) -> None:
        with pytest.raises(InputError):
            Encoder.load("a\0b")

    def test_a_name_that_is_too_long(self) -> None:
        with pytest.raises(InputError):
            Encoder.load("a" * 10_000)

    @pytest.mark.parametrize("file", [CONFIG, TOKENIZER, WEIGHTS])
    def test_a_file_that_is_missing_or_a_folder(self, folder: Path, file: str) -> None:
        (folder / file).unlink()
        refused(folder, "", f"the folder has no file {file}, expected a folder with")
        (folder / file).mkdir()
        refused(folder, "", f"the folder has no file {file}, expected a folder with")

    def test_links_out_of_the_folder_are_fine(self, folder: Path) -> None:
        (folder / WEIGHTS).rename(folder.parent / "blob")
        try:
            (folder / WEIGHTS).symlink_to(folder.parent / "blob")
        except OSError:
            pytest.skip("no symbolic links here")
        assert Encoder.load(folder).layers == tiny_encoders.LAYERS

    def test_weights_that_could_run_code_are_not_read(self, folder: Path) -> None:
        (folder / WEIGHTS).rename(folder / "pytorch_model.bin")
        refused(folder, "", r"pytorch_model\.bin may contain code.*save_pretrained")

    @pytest.mark.parametrize("file", ["model.onnx", "onnx/model.onnx"])
    def test_an_onnx_model_in_place_of_weights(self, folder: Path, file: str) -> None:
        (folder / "onnx").mkdir()
        (folder / WEIGHTS).rename(folder / file)
        refused(folder, "", r"ONNX models are not supported, get .* as model\.safetensors")

    def test_weights_in_several_files(self, folder: Path) -> None:
        (folder / WEIGHTS).rename(folder / f"{WEIGHTS}.index.json")
        refused(folder, "", "weights are in several files, save them in one")

    def test_a_tokenizer_of_an_older_form(self, folder: Path) -> None:
        (folder / TOKENIZER).rename(folder / "vocab.txt")
        refused(folder, "", r"create tokenizer\.json where transformers is installed")


def rewritten(folder: Path, file: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what is in a JSON file."""
    content = json.loads((folder / file).read_text())
    change(content)
    (folder / file).write_text(json.dumps(content))


class TestConfig:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"model_type": "gpt2"}, 'model_type is "gpt2", expected one of bert, roberta'),
            ({"model_type": ["bert"]}, "model_type is a JSON list, expected one of"),
            ({"hidden_act": "silu"}, 'hidden_act is "silu", expected one of gelu'),
            ({"hidden_size": "32"}, 'hidden_size is "32", expected a whole number'),
            ({"hidden_size": -32}, "hidden_size is -32, expected a whole number from 1"),
            ({"hidden_size": 10**400}, "hidden_size is 1000"),
            ({"hidden_size": float("nan")}, "hidden_size is NaN, expected a whole number"),
            ({"num_attention_heads": 5}, "the number of heads to divide the width"),
            ({"num_attention_heads": 0}, "num_attention_heads is 0, expected a whole number"),
            ({"num_hidden_layers": True}, "num_hidden_layers is true, expected a whole number"),
            ({"layer_norm_eps": 0}, "layer_norm_eps is 0, expected a number"),
            ({"layer_norm_eps": float("inf")}, "layer_norm_eps is Infinity, expected a number"),
            ({"max_position_embeddings": 2}, "max_position_embeddings is 2, expected"),
            ({"is_decoder": True}, "is_decoder is true; such models are not supported"),
            ({"position_embedding_type": "relative_key"}, 'is "relative_key"; such models'),
            ({"quantization_config": {}}, "quantization_config is a JSON object; such"),
        ],
    )
    def test_values_that_cannot_be(self, folder: Path, change: dict, message: str) -> None:
        rewritten(folder, CONFIG, lambda content: content.update(change))
        refused(folder, CONFIG, message)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"hidden_size": 10**9}, r"shape 60 × 32, but config\.json says 60 × 1000000000"),
            ({"num_hidden_layers": 10**6}, r"no tensor encoder\.layer\.2\.attention\.self\.query"),
            (
                {"intermediate_size": 2**31 - 1},
                r"intermediate\.dense\.weight has the shape 64 × 32",
            ),
            ({"vocab_size": 2**31 - 1}, "word_embeddings.*shape 60 × 32, but"),
            ({"max_position_embeddings": 512}, "position_embeddings.*shape 40 × 32, but"),
            ({"type_vocab_size": 9}, "token_type_embeddings.*shape . × 32, but"),
        ],
    )
    def test_sizes_that_the_weights_have_not(
        self, folder: Path, change: dict, message: str
    ) -> None:
        rewritten(folder, CONFIG, lambda content: content.update(change))
        refused(folder, WEIGHTS, message)

    def test_a_value_that_is_missing(self, folder: Path) -> None:
        rewritten(folder, CONFIG, lambda content: content.pop("hidden_size"))
        refused(folder, CONFIG, "hidden_size is missing, expected a whole number")

    def test_padding_that_leaves_no_positions(self, tmp_path: Path) -> None:
        tiny_encoders.write(tmp_path, "roberta", pad_token_id=39)
        refused(tmp_path, CONFIG, "max_position_embeddings allows texts of 0 tokens")

    @pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b'{"a":1}'])
    @pytest.mark.parametrize("file", [CONFIG, TOKENIZER])
    def test_what_is_no_json_object(self, folder: Path, file: str, content: bytes) -> None:
        (folder / file).write_bytes(content)
        with pytest.raises(InputError) as caught:
            Encoder.load(folder)
        assert caught.value.source == str(folder / file)

    def test_a_file_that_is_too_large(self, folder: Path) -> None:
        (folder / CONFIG).write_bytes(b" " * 1_000_001)
        refused(folder, CONFIG, "more than 1,000,000 bytes")


def described(folder: Path) -> dict[str, Any]:
    content = (folder / WEIGHTS).read_bytes()
    header: dict[str, Any] = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    return header


def with_header(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the header of the weights, and leave the numbers."""
    header = described(folder)
    change(header)
    old = (folder / WEIGHTS).read_bytes()
    numbers = old[8 + int.from_bytes(old[:8], "little") :]
    text = json.dumps(header).encode()
    (folder / WEIGHTS).write_bytes(len(text).to_bytes(8, "little") + text + numbers)


def rewritten_weights(folder: Path, change: Callable[[tiny_encoders.Tensors], object]) -> None:
    """Change the tensors."""
    made = tiny_encoders.tensors("roberta" if "<s>" in (folder / TOKENIZER).read_text() else "bert")
    change(made)
    (folder / WEIGHTS).write_bytes(tiny_encoders.safetensors(made))


class TestWeights:
    @pytest.mark.parametrize("kept", [0, 4, 8, 100, -1, -4000])
    def test_a_file_that_is_cut_off(self, folder: Path, kept: int) -> None:
        content = (folder / WEIGHTS).read_bytes()[:kept]
        (folder / WEIGHTS).write_bytes(content)
        refused(folder, WEIGHTS, NO_WEIGHTS)

    @pytest.mark.parametrize("length", [2**64 - 1, 2**63, 10**12, 10**6])
    def test_a_header_longer_than_the_file(self, folder: Path, length: int) -> None:
        content = (folder / WEIGHTS).read_bytes()
        (folder / WEIGHTS).write_bytes(length.to_bytes(8, "little") + content[8:])
        refused(folder, WEIGHTS, NO_WEIGHTS)

    @pytest.mark.parametrize("text", [b"{" * 50, b"[]", b"\xff\xfe", b"null", b"[" * 100_000])
    def test_a_header_that_is_no_object(self, folder: Path, text: bytes) -> None:
        (folder / WEIGHTS).write_bytes(len(text).to_bytes(8, "little") + text)
        refused(folder, WEIGHTS, NO_WEIGHTS)

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            ({"data_offsets": [0, 10**15]}, NO_WEIGHTS),
            ({"data_offsets": [10**12, 10**12 + 4096]}, NO_WEIGHTS),
            ({"data_offsets": [4, 4100]}, NO_WEIGHTS),
            ({"data_offsets": [-4096, 0]}, NO_WEIGHTS),
            ({"data_offsets": [4096, 0]}, NO_WEIGHTS),
            ({"data_offsets": "0"}, NO_WEIGHTS),
            ({"data_offsets": [0, 4]}, NO_WEIGHTS),
            ({"shape": [32, 33]}, NO_WEIGHTS),
            ({"shape": [1024]}, r"has the shape 1024, but config\.json says 32 × 32"),
            ({"shape": [32, -32]}, NO_WEIGHTS),
            ({"shape": [32, 1.5]}, NO_WEIGHTS),
            ({"shape": [2**47] * 8}, NO_WEIGHTS),
            ({"shape": None}, NO_WEIGHTS),
            ({"dtype": "Q4"}, NO_WEIGHTS),
            ({"dtype": "I32"}, "has numbers of type I32, expected one of F32, F16, BF16"),
            ({"dtype": 4}, NO_WEIGHTS),
        ],
    )
    def test_a_tensor_that_cannot_be(self, folder: Path, entry: dict, message: str) -> None:
        with_header(folder, lambda header: header[QUERY].update(entry))
        refused(folder, WEIGHTS, message)

    def test_without_the_package(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "safetensors", None)
        refused(folder, WEIGHTS, r"safetensors is not installed; run pip install safetensors")

    def test_a_tensor_that_is_missing(self, folder: Path) -> None:
        rewritten_weights(folder, lambda tensors: tensors.pop(QUERY))
        refused(folder, WEIGHTS, f"there is no tensor {QUERY}, which config.json calls for")

    def test_no_vectors_of_words(self, folder: Path) -> None:
        rewritten_weights(folder, lambda tensors: tensors.clear())
        refused(folder, WEIGHTS, "no tensor named embeddings.word_embeddings.weight, expected one")

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_weights_that_are_no_numbers(self, folder: Path, value: float) -> None:
        rewritten_weights(folder, lambda tensors: tensors[QUERY].__setitem__((3, 4), value))
        refused(folder, WEIGHTS, f"{QUERY} has values that are not finite")

    def test_weights_that_overflow(self, tmp_path: Path) -> None:
        tiny_encoders.write(tmp_path)
        made = tiny_encoders.tensors("bert")
        made[QUERY] *= np.float32(1e38)
        made["encoder.layer.1.output.dense.weight"] *= np.float32(1e38)
        (tmp_path / WEIGHTS).write_bytes(tiny_encoders.safetensors(made))
        encoder = Encoder.load(tmp_path)
        tokens = encoder.tokens(["the cat"])
        assert np.isfinite(encoder.encode(tokens, [1])[0][0]).all()
        with pytest.raises(InputError, match="vectors that are not finite"):
            encoder.encode(tokens, [2])


class TestTokenizer:
    def test_a_tokenizer_without_special_tokens(self, folder: Path) -> None:
        rewritten(folder, TOKENIZER, lambda content: content.update(post_processor=None))
        refused(folder, TOKENIZER, "produces 0 tokens for an empty text, expected two: a special")

    def test_special_tokens_that_are_both_first(self, folder: Path) -> None:
        def change(content: dict[str, Any]) -> None:
            single = content["post_processor"]["single"]
            single[1], single[2] = single[2], single[1]

        rewritten(folder, TOKENIZER, change)
        refused(folder, TOKENIZER, "are not the first and last tokens of other texts")

    @pytest.mark.parametrize("number", [60, 2**31, 2**32 - 1])
    def test_a_vocabulary_beyond_the_vectors(self, folder: Path, number: int) -> None:
        rewritten(folder, TOKENIZER, lambda content: content["model"]["vocab"].update(zz=number))
        refused(
            folder, TOKENIZER, f"has the token id {number:,}, but config.json has vocab_size 60"
        )

    @pytest.mark.parametrize(
        "model", [None, [], {"type": "Unheard"}, {"type": "WordPiece"}, {"vocab": {"a": -1}}]
    )
    def test_a_model_that_is_none(self, folder: Path, model: object) -> None:
        rewritten(folder, TOKENIZER, lambda content: content.update(model=model))
        refused(folder, TOKENIZER, "the tokenizer cannot be read .*expected the tokenizer.json")

    def test_tokens_must_not_be_random(self, tmp_path: Path) -> None:
        tiny_encoders.write(tmp_path, "roberta")
        rewritten(tmp_path, TOKENIZER, lambda content: content["model"].update(dropout=0.5))
        refused(tmp_path, TOKENIZER, "dropout is 0.5, which makes the tokens of a text random")

    def test_a_panic_of_the_library_is_an_error(self, folder: Path, monkeypatch) -> None:
        class PanicException(BaseException):
            pass

        class Panicking:
            @staticmethod
            def from_str(text: str) -> object:
                raise PanicException("index out of bounds")

        monkeypatch.setattr("tokenizers.Tokenizer", Panicking)
        with one_process():
            refused(folder, TOKENIZER, r"cannot be read \(index out of bounds\)")
            monkeypatch.setattr(Panicking, "from_str", interrupted)
            with pytest.raises(KeyboardInterrupt):
                Encoder.load(folder)


def interrupted(text: str) -> object:
    raise KeyboardInterrupt


@pytest.fixture(scope="module")
def sound(tmp_path_factory) -> Path:
    return tiny_encoders.write(tmp_path_factory.mktemp("encoder"))


@examples(300)
@given(data=st.data())
def test_bytes_changed_anywhere_give_an_encoder_or_an_input_error(sound: Path, data) -> None:
    file = data.draw(st.sampled_from([CONFIG, TOKENIZER, WEIGHTS]))
    whole = (sound / file).read_bytes()
    changed = bytearray(whole)
    most = len(changed) if file != WEIGHTS else 9000
    for place in data.draw(st.lists(st.integers(0, most - 1), min_size=1, max_size=4)):
        changed[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.sampled_from([len(changed), len(changed) // 2]))
    (sound / file).write_bytes(changed[:cut])
    try:
        with suppress(InputError), one_process():
            encoder = Encoder.load(sound)
            encoder.encode(encoder.tokens(["the cat sat [SEP] é"]), [0, 2])
    finally:
        (sound / file).write_bytes(whole)
