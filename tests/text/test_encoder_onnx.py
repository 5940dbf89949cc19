"""Encoders as ONNX models: onnxruntime gives the vectors that NumPy gives. A model that is damaged or
hostile is an error that says what is wrong."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tiny_encoders
from profiles import examples
from rankgauge.errors import InputError
from rankgauge.text import Texts, evaluate, use_encoder
from rankgauge.text.encoders import Encoder, onnx
from rankgauge.text.encoders.folder import ONNX

pytest.importorskip("tokenizers")
pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install onnxruntime")
pytest.importorskip("onnx", reason="onnx, which makes models for tests, is not installed")

import onnx as package

import tiny_onnx
from tiny_onnx import Graph, floats, integers

FLOAT, BOOL = package.TensorProto.FLOAT, package.TensorProto.BOOL
EVERY = ["hidden_states.0", "hidden_states.1", "hidden_states.2"]
LONG = "the cat sat on a mat " * 8


@pytest.fixture(autouse=True)
def default_afterwards() -> Iterator[None]:
    yield
    use_encoder(None)


def both(path: Path, names: list[str | None], model_type: str = "bert") -> tuple[Encoder, Encoder]:
    """The same encoder, computed by NumPy and by onnxruntime."""
    model = tiny_onnx.encoder(names, model_type)
    return (
        Encoder.load(tiny_encoders.write(path / "numpy", model_type)),
        Encoder.load(tiny_onnx.write(path / "onnx", model, model_type)),
    )


def same(states: Any, expected: Any, atol: float = 1e-5) -> None:
    for one, other in zip(states, expected, strict=True):
        assert one.dtype == np.float32
        np.testing.assert_allclose(one, other, rtol=0, atol=atol)


class TestVectors:
    @pytest.mark.parametrize("model_type", ["bert", "roberta"])
    @pytest.mark.parametrize(
        "names",
        [EVERY, ["hidden_states_0", "hidden_states_1", "hidden_states_2"]],
        ids=["points", "underscores"],
    )
    def test_each_layer_is_that_of_numpy(
        self, tmp_path: Path, model_type: str, names: list[str | None]
    ) -> None:
        ours, theirs = both(tmp_path, names, model_type)
        tokens = ours.tokens(["the cat sat", "", "a", LONG])
        assert len(tokens[3]) > ours.longest
        for layers in ([0, 1, 2], [2], [1, 0, 1], []):
            for truncate in (False, True):
                pairs = zip(
                    theirs.encode(tokens, layers, truncate=truncate),
                    ours.encode(tokens, layers, truncate=truncate),
                    strict=True,
                )
                for states, expected in pairs:
                    same(states, expected)

    def test_layers_may_come_as_a_list(self, tmp_path: Path) -> None:
        graph = Graph()
        graph.add("SequenceConstruct", *tiny_onnx.bert(graph), name="hidden_states")
        output = package.helper.make_tensor_sequence_value_info("hidden_states", FLOAT, None)
        folder = tiny_onnx.write(tmp_path / "list", graph.model([output]))
        ours = Encoder.load(tiny_encoders.write(tmp_path / "numpy"))
        tokens = ours.tokens(["the cat sat"])
        same(Encoder.load(folder).encode(tokens, [2, 0])[0], ours.encode(tokens, [2, 0])[0])

    def test_a_model_may_give_its_last_layer_alone(self, tmp_path: Path) -> None:
        ours, theirs = both(tmp_path, [None, None, "last_hidden_state"])
        tokens = ours.tokens(["the cat sat"])
        assert theirs.layers == ours.layers == 2
        same(theirs.encode(tokens, [2])[0], ours.encode(tokens, [2])[0])
        message = r"does not give layer 1, expected one of these layers: 2\. .*bertscore\(layer=2\)"
        with pytest.raises(InputError, match=message):
            theirs.encode(tokens, [1, 2])

    def test_numbers_may_have_half_the_size(self, tmp_path: Path) -> None:
        names = [None, None, "last_hidden_state"]
        model = tiny_onnx.encoder(names, kind=package.TensorProto.FLOAT16)
        theirs = Encoder.load(tiny_onnx.write(tmp_path / "half", model))
        ours = Encoder.load(tiny_encoders.write(tmp_path / "numpy"))
        tokens = ours.tokens(["the cat sat"])
        same(theirs.encode(tokens, [2])[0], ours.encode(tokens, [2])[0], 4e-3)

    @pytest.mark.parametrize("kind", [package.TensorProto.INT32, package.TensorProto.INT64])
    def test_a_model_gets_ids_ones_for_the_mask_and_zeros_for_types(
        self, tmp_path: Path, kind: int
    ) -> None:
        """Each vector is 100 × the type + 10 × the mask + the id."""
        graph = Graph()
        total = graph.constant(np.zeros(32, np.float32))
        inputs = []
        for name, times in [("input_ids", 1), ("attention_mask", 10), ("token_type_ids", 100)]:
            inputs.append(integers(name, ["text", "token"], kind))
            column = graph.add("Unsqueeze", name, graph.constant([2]))
            number = graph.add("Cast", column, to=FLOAT)
            part = graph.add("Mul", number, graph.constant(np.float32(times)))
            total = graph.add("Add", total, part)
        graph.add("Identity", total, name="last_hidden_state")
        folder = tiny_onnx.write(tmp_path, graph.model(["last_hidden_state"], inputs))
        encoder = Encoder.load(folder)
        (ids,) = encoder.tokens(["the cat"])
        ((state,),) = encoder.encode([ids], [2])
        assert (state == (ids + 10)[:, None]).all()
        assert state.shape == (len(ids), 32)

    def test_other_texts_change_no_bit(self, tmp_path: Path) -> None:
        theirs = both(tmp_path, EVERY)[1]
        tokens = theirs.tokens(["the cat sat", LONG, "a mat"])
        together = [states[0] for states in theirs.encode(tokens, [2])]
        for ids, state in zip(tokens, together, strict=True):
            assert theirs.encode([ids], [2])[0][0].tobytes() == state.tobytes()

    def test_it_shows_no_attention(self, tmp_path: Path) -> None:
        ours, theirs = both(tmp_path, EVERY)
        assert hasattr(ours, "attention")
        assert not hasattr(theirs, "attention")

    def test_other_processes_load_the_same_model(self, tmp_path: Path) -> None:
        theirs = both(tmp_path, EVERY)[1]
        again = pickle.loads(pickle.dumps(theirs))
        tokens = theirs.tokens(["the cat sat"])
        assert again.digest == theirs.digest
        assert (
            again.encode(tokens, [1])[0][0].tobytes() == theirs.encode(tokens, [1])[0][0].tobytes()
        )

    def test_bertscore_is_that_of_numpy(self, tmp_path: Path) -> None:
        texts = Texts(
            ["the cat sat on the mat and the dog sat by the door"],
            ["the cat sat on the mat"],
            {"one": ["the cat sat"], "two": ["a dog sat by the door"]},
        )
        scores = []
        for encoder in both(tmp_path, EVERY):
            use_encoder(encoder)
            values = evaluate(texts, ["bertscore(layer=2)", "v2(bertscore(layer=1,idf=true))"])
            scores.append(np.asarray(values))
        assert len(np.unique(scores[0])) == scores[0].size
        np.testing.assert_allclose(scores[1], scores[0], rtol=0, atol=1e-5)


class TestFiles:
    def test_the_model_may_be_in_a_folder_of_its_own(self, tmp_path: Path) -> None:
        model = tiny_onnx.encoder(EVERY)
        here = Encoder.load(tiny_onnx.write(tmp_path / "here", model))
        below = Encoder.load(tiny_onnx.write(tmp_path / "below", model, file=f"onnx/{ONNX}"))
        assert here.digest == below.digest

    def test_the_digest_covers_the_model(self, tmp_path: Path) -> None:
        models = [tiny_onnx.encoder(EVERY, seed=seed) for seed in (1, 2)]
        digests = {Encoder.load(tiny_onnx.write(tmp_path, model)).digest for model in models}
        assert len(digests) == 2


def refused(path: Path, model: Any, message: str, **changes: Any) -> None:
    """Loading is refused."""
    folder = tiny_onnx.write(path / "encoder", model, **changes)
    with pytest.raises(InputError, match=message) as caught:
        Encoder.load(folder)
    complete(caught.value, folder)


def complete(error: InputError, folder: Path) -> None:
    """An error names the file, what is wrong, and what to do."""
    assert error.source == str(folder / ONNX)
    assert "expected" in error.message or ";" in error.message
    assert "\n" not in error.message
    assert len(str(error)) < 800


class TestHostile:
    @pytest.mark.parametrize("content", [b"", b"\xff" * 100, b"\0\0\0\0ORTM" + b"\0" * 100, b"{}"])
    def test_what_is_no_model(self, tmp_path: Path, content: bytes) -> None:
        refused(tmp_path, content, r"cannot be read \(.*expected an ONNX model; export")

    @examples(50)
    @given(share=st.floats(0, 1, exclude_max=True))
    def test_a_model_that_is_cut_off(self, tmp_path_factory, share: float) -> None:
        content = tiny_onnx.encoder(EVERY).SerializeToString()
        refused(
            tmp_path_factory.mktemp("cut"), content[: int(share * len(content))], "cannot be read"
        )

    @pytest.mark.parametrize("length", [b"\x08", b"\x88\x00", b"\x88\x80\x80\x00"])
    @pytest.mark.parametrize(
        "place", ["data.bin", "../data.bin", "/etc/passwd", "*/_ORT_MEM_ADDR_/*"]
    )
    def test_weights_in_other_files_are_not_read(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, length: bytes
    ) -> None:
        """Neither beside the model, where onnxruntime would read them, nor in the working folder."""
        graph = Graph()
        tensor = package.numpy_helper.from_array(np.ones((60, 32), np.float32), "words")
        package.external_data_helper.set_external_data(tensor, place, offset=0, length=60 * 32 * 4)
        tensor.ClearField("raw_data")
        graph.constants.append(tensor)
        graph.add("Gather", "words", "input_ids", name="last_hidden_state")
        (tmp_path / "encoder").mkdir()
        for folder in (tmp_path, tmp_path / "encoder"):
            np.ones((60, 32), np.float32).tofile(folder / "data.bin")
        monkeypatch.chdir(tmp_path)
        content = graph.model(["last_hidden_state"], ["input_ids"]).SerializeToString()
        assert content.count(b"\x08location") == 1
        written = content.replace(b"\x08location", length + b"location")
        refused(tmp_path, written, "has weights in another file, which is not read, expected all")

    def test_the_words_of_other_files_may_be_in_names(self, tmp_path: Path) -> None:
        model = tiny_onnx.encoder(EVERY)
        model.graph.node[0].name = "allocation/location"
        Encoder.load(tiny_onnx.write(tmp_path, model))

    def test_a_model_that_is_too_large(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(onnx, "MOST_BYTES", 1_000)
        refused(tmp_path, tiny_onnx.encoder(EVERY), "more than 1,000 bytes; export")

    @pytest.mark.parametrize("domain", ["", "elsewhere"])
    def test_operations_that_onnxruntime_does_not_have(self, tmp_path: Path, domain: str) -> None:
        graph = Graph()
        graph.add("Unheard", "input_ids", name="last_hidden_state", domain=domain)
        model = graph.model(["last_hidden_state"], ["input_ids"])
        refused(tmp_path, model, r"cannot be read \(.*Unheard")

    def test_names_that_are_no_text(self, tmp_path: Path) -> None:
        content = tiny_onnx.encoder(["hidden_states.0", None, "other_name"]).SerializeToString()
        content = content.replace(b"other_name", b"other_\xff\xfe\xfd\xfc")
        refused(tmp_path, content, "cannot be read")

    @pytest.mark.parametrize(
        ("inputs", "message"),
        [
            ([integers("ids")], r"asks for 'ids', expected only input_ids, attention_mask"),
            (
                [integers("input_ids"), integers("position_ids")],
                "asks for 'position_ids', expected",
            ),
            ([integers("attention_mask")], "does not ask for input_ids, expected it"),
            (
                [integers("input_ids", ["text", "token"], FLOAT)],
                r"input_ids of type tensor\(float\)",
            ),
            (
                [integers("input_ids", ["text", 128])],
                r"of the shape \['text', 128\], expected text",
            ),
            ([integers("input_ids", [8, "token"])], r"of the shape \[8, 'token'\], expected text"),
            ([integers("input_ids", ["token"])], r"of the shape \['token'\], .*with dynamic axes"),
        ],
    )
    def test_inputs_that_texts_have_not(
        self, tmp_path: Path, inputs: list[Any], message: str
    ) -> None:
        graph = Graph()
        graph.add("Cast", inputs[0].name, name="last_hidden_state", to=FLOAT)
        refused(tmp_path, graph.model(["last_hidden_state"], inputs), message)

    @pytest.mark.parametrize(
        ("output", "message"),
        [
            (
                floats("logits"),
                "the model gives logits, expected last_hidden_state, or hidden_states.0",
            ),
            (
                floats("hidden_states.12"),
                "gives hidden_states.12, but config.json .* 2 layers; take",
            ),
            (
                floats("hidden_states"),
                r"type tensor\(float\), expected one of seq\(tensor\(float\)\)",
            ),
            (
                floats("last_hidden_state", package.TensorProto.DOUBLE),
                r"last_hidden_state of type tensor\(double\), expected one of tensor\(float\)",
            ),
        ],
    )
    def test_outputs_that_are_no_layers(self, tmp_path: Path, output: Any, message: str) -> None:
        graph = Graph()
        kind = output.type.tensor_type.elem_type
        graph.add("Cast", "input_ids", name=output.name, to=kind)
        refused(tmp_path, graph.model([output], ["input_ids"]), message)

    def test_a_list_with_fewer_layers_than_the_configuration(self, tmp_path: Path) -> None:
        graph = Graph()
        graph.add("SequenceConstruct", *tiny_onnx.bert(graph)[:2], name="hidden_states")
        output = package.helper.make_tensor_sequence_value_info("hidden_states", FLOAT, None)
        refused(tmp_path, graph.model([output]), "hidden_states has 2 items, expected 3: layer 0")

    @pytest.mark.parametrize(
        ("axes", "shape"), [([0], "3, 32"), ([1], "1, 32"), ([2], "1, 3"), ([0, 1, 2], "")]
    )
    def test_vectors_of_another_shape(self, tmp_path: Path, axes: list[int], shape: str) -> None:
        graph = Graph()
        summed = tiny_onnx.bert(graph)[2], graph.constant(axes)
        graph.add("ReduceSum", *summed, name="last_hidden_state", keepdims=0)
        message = rf"has the shape \({shape}\) for 3 tokens, expected \(1, 3, 32\); take"
        refused(tmp_path, graph.model(["last_hidden_state"]), message)

    def test_a_width_that_the_configuration_has_not(self, tmp_path: Path) -> None:
        message = r"shape \(1, 3, 32\) for 3 tokens, expected \(1, 3, 64\); take config.json"
        refused(tmp_path, tiny_onnx.encoder(), message, hidden_size=64)

    def test_a_vocabulary_that_the_model_has_not(self, tmp_path: Path) -> None:
        graph = Graph()
        words = graph.constant(np.ones((2, 32), np.float32))
        graph.add("Gather", words, "input_ids", name="last_hidden_state")
        model = graph.model(["last_hidden_state"], ["input_ids"])
        refused(tmp_path, model, r"cannot be computed \(.*out of data bounds")

    @pytest.mark.parametrize("value", [np.nan, np.inf])
    def test_vectors_that_are_no_numbers(self, tmp_path: Path, value: float) -> None:
        graph = Graph()
        state = tiny_onnx.bert(graph)[2]
        graph.add("Add", state, graph.constant(np.float32(value)), name="last_hidden_state")
        folder = tiny_onnx.write(tmp_path, graph.model(["last_hidden_state"]))
        encoder = Encoder.load(folder)
        with pytest.raises(InputError, match="vectors that are no finite numbers") as caught:
            encoder.encode(encoder.tokens(["the cat"]), [2])
        complete(caught.value, folder)

    def test_vectors_that_are_drawn_at_random(self, tmp_path: Path) -> None:
        graph = Graph()
        state = tiny_onnx.bert(graph)[2]
        noise = graph.add("RandomNormalLike", state, seed=1.0)
        graph.add("Add", state, noise, name="last_hidden_state")
        model = graph.model(["last_hidden_state"])
        refused(tmp_path, model, "gives a text other vectors each time, expected the same")

    def test_an_absurd_number_of_layers(self, tmp_path: Path) -> None:
        graph = Graph()
        graph.add("SequenceConstruct", *tiny_onnx.bert(graph), name="hidden_states")
        output = package.helper.make_tensor_sequence_value_info("hidden_states", FLOAT, None)
        message = "hidden_states has 3 items, expected 1000000001: layer 0"
        refused(tmp_path, graph.model([output]), message, num_hidden_layers=10**9)

    def test_absurd_memory(self, tmp_path: Path) -> None:
        graph = Graph()
        huge = graph.add("ConstantOfShape", graph.constant([10**7, 10**8]))
        total = graph.add("ReduceSum", huge)
        graph.add("Add", tiny_onnx.bert(graph)[2], total, name="last_hidden_state")
        refused(tmp_path, graph.model(["last_hidden_state"]), r"cannot be computed \(")

    def test_a_loop_without_an_end(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(onnx, "SECONDS", 0.2)
        inner = Graph()
        inner.add("Identity", "before", name="after")
        inner.add("Identity", "x", name="y")
        make = package.helper.make_tensor_value_info
        body = package.helper.make_graph(
            inner.nodes,
            "body",
            [
                make("number", package.TensorProto.INT64, []),
                make("before", BOOL, []),
                make("x", FLOAT, None),
            ],
            [make("after", BOOL, []), make("y", FLOAT, None)],
        )
        graph = Graph()
        state = tiny_onnx.bert(graph)[2]
        times, on = graph.constant(2**62), graph.constant(True)
        graph.add("Loop", times, on, state, name="last_hidden_state", body=body)
        message = r"a text of 3 tokens takes more than 0\.2 seconds, expected less; export"
        refused(tmp_path, graph.model(["last_hidden_state"]), message)

    def test_constant_work_is_not_done_while_loading(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """There no time limit holds: a thousand products of large matrices would take minutes."""
        monkeypatch.setattr(onnx, "SECONDS", 0.2)
        graph = Graph()
        x = graph.add("ConstantOfShape", graph.constant([1000, 1000]))
        for _ in range(1_000):
            x = graph.add("MatMul", x, x)
        total = graph.add("ReduceSum", x)
        graph.add("Add", tiny_onnx.bert(graph)[2], total, name="last_hidden_state")
        refused(tmp_path, graph.model(["last_hidden_state"]), "takes more than 0.2 seconds")

    def test_nothing_is_written_and_nothing_is_printed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.chdir(tmp_path)
        folder = tiny_onnx.write(tmp_path / "encoder", tiny_onnx.encoder())
        before = sorted(tmp_path.rglob("*"))
        encoder = Encoder.load(folder)
        encoder.encode(encoder.tokens(["the cat"]), [2])
        graph = Graph()
        words = graph.constant(np.ones((2, 32), np.float32))
        graph.add("Gather", words, "input_ids", name="last_hidden_state")
        failing = graph.model(["last_hidden_state"], ["input_ids"]).SerializeToString()
        for content in (b"\xff", failing):
            (folder / ONNX).write_bytes(content)
            with pytest.raises(InputError):
                Encoder.load(folder)
        assert sorted(tmp_path.rglob("*")) == before
        assert capfd.readouterr() == ("", "")
