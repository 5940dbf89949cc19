"""Tokens are computed in a separate process: the same ids, and a bad tokenizer.json is an InputError."""

from __future__ import annotations

import json
import pickle
import random
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import summeval
import tiny_encoders
from profiles import examples
from rankgauge.errors import InputError, RankgaugeError
from rankgauge.separate import launch
from rankgauge.text.encoders import tokenization
from rankgauge.text.encoders.folder import TOKENIZER
from rankgauge.text.encoders.tokenization import Tokenization

tokenizers = pytest.importorskip("tokenizers")

Content = dict[str, Any]

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds memory")


def tiny(folder: Path, change: Callable[[Content], object] = dict, kind: str = "bert") -> Path:
    """tokenizer.json of a small encoder, with a change."""
    content = tiny_encoders.tokenizer(kind)
    change(content)
    (folder / TOKENIZER).write_text(json.dumps(content))
    return folder / TOKENIZER


def loaded(file: Path) -> Tokenization:
    return Tokenization(file, tiny_encoders.VOCABULARY, False)


def normalized_by(*normalizers: Content) -> Callable[[Content], object]:
    sequence = {"type": "Sequence", "normalizers": list(normalizers)}
    return lambda content: content.update(normalizer=sequence)


def replacing(pattern: str, by: str) -> Content:
    return {"type": "Replace", "pattern": {"Regex": pattern}, "content": by}


def refusal(work: Callable[[], object], file: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """What the InputError says after the name of the file; it is one line, and all that a user sees."""
    with pytest.raises(InputError) as raised:
        work()
    assert capfd.readouterr() == ("", "")
    message = str(raised.value)
    assert message.startswith(f"{file}: ")
    assert "\n" not in message
    return message.removeprefix(f"{file}: ")


class Library:
    """What the package tokenizers computes in this process."""

    def __init__(self, file: Path) -> None:
        self._tokenizer = tokenizers.Tokenizer.from_file(str(file))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()

    def ids(self, texts: list[str]) -> list[list[int]]:
        """The ids of the tokens of texts without white space around them."""
        return [self._tokenizer.encode(text).ids for text in texts]

    def token(self, number: int) -> str:
        return self._tokenizer.decode([number], skip_special_tokens=False)


def plain(tokens: list[Any]) -> list[list[int]]:
    assert all(ids.dtype == "int64" and ids.flags.writeable for ids in tokens)
    return [ids.tolist() for ids in tokens]


@pytest.fixture(scope="module")
def file(encoder_folder: Path) -> Path:
    return encoder_folder / TOKENIZER


@pytest.fixture(scope="module")
def real(file: Path) -> Tokenization:
    return Tokenization(file, 30522, False)


@pytest.fixture(scope="module")
def library(file: Path) -> Library:
    return Library(file)


class TestSameTokens:
    @examples(100)
    @given(st.lists(st.text()))
    def test_of_any_texts(self, real: Tokenization, library: Library, texts: list[str]) -> None:
        clean = [text.strip().encode(errors="replace").decode() for text in texts]
        assert plain(real.ids(texts)) == library.ids(clean)

    def test_of_real_texts(
        self, real: Tokenization, library: Library, real_data: Callable[[str], Path]
    ) -> None:
        texts = summeval.read(real_data(summeval.FILE)).candidates().outputs[:400]
        assert plain(real.ids(texts)) == library.ids([text.strip() for text in texts])

    def test_however_many_are_sent_at_a_time(
        self, real: Tokenization, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        chance = random.Random(1)
        texts = ["cat " * chance.choice([0, 1, 2, 30]) + str(number) for number in range(60)]
        for most in (1, 7, 100):
            monkeypatch.setattr(tokenization, "BATCH_CHARACTERS", most)
            assert plain(real.ids(texts)) == library.ids(texts)

    def test_of_a_long_text(self, real: Tokenization, library: Library) -> None:
        texts = ["a,b;" * 100_000, "the cat", "漢字" * 50_000]
        assert plain(real.ids(texts)) == library.ids(texts)

    def test_of_no_texts(self, real: Tokenization) -> None:
        assert real.ids([]) == []

    def test_of_threads(self, real: Tokenization, library: Library) -> None:
        texts = [[f"the cat {number}", "sat" * number] for number in range(40)]
        with ThreadPoolExecutor(8) as threads:
            every = [plain(tokens) for tokens in threads.map(real.ids, texts)]
        assert every == [library.ids(each) for each in texts]

    def test_of_a_copy(self, real: Tokenization, library: Library) -> None:
        copied = pickle.loads(pickle.dumps(real))
        assert plain(copied.ids(["the cat sat"])) == library.ids(["the cat sat"])

    def test_in_this_process(
        self, file: Path, library: Library, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sys, "executable", None)
        made = Tokenization(file, 30522, False)
        assert plain(made.ids(["the cat sat", ""])) == library.ids(["the cat sat", ""])
        assert made.token(7592) == library.token(7592)

    def test_names_of_tokens(self, real: Tokenization, library: Library) -> None:
        for number in (0, 101, 7592, 30521, 30522):
            assert real.token(number) == library.token(number)

    @pytest.mark.parametrize(
        "normalizer",
        [
            {"type": "NFKC"},
            {"type": "Sequence", "normalizers": []},
            {
                "type": "Sequence",
                "normalizers": [{"type": "Sequence", "normalizers": [{"type": "NFKD"}]}],
            },
            {"type": "Sequence", "normalizers": [replacing("[a-z]", "cat"), {"type": "Lowercase"}]},
        ],
    )
    def test_by_any_normalizer(self, tmp_path: Path, normalizer: Content) -> None:
        made = tiny(tmp_path, lambda content: content.update(normalizer=normalizer))
        texts = ["\ufdfa" * 50, "the cat", "[SEP] sat", "é" * 50]
        assert plain(loaded(made).ids(texts)) == Library(made).ids(texts)


class TestLimits:
    @pytest.mark.parametrize("steps", [4, 8, 12])
    def test_normalizers_that_multiply_a_text(
        self, tmp_path: Path, steps: int, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """A small file: eight normalizers make a hundred million characters of one."""
        file = tiny(tmp_path, normalized_by(*[replacing("a", "a" * 10)] * steps))
        message = refusal(lambda: loaded(file), file, capfd)
        assert (
            "produced 10,000 characters by normalizing from a text of 1 character, expected"
            in message
        )

    @linux
    def test_a_sequence_in_a_sequence(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        sequence = {"type": "Sequence", "normalizers": [replacing("z", "z" * 10)] * 8}
        file = tiny(tmp_path, normalized_by(sequence))
        message = refusal(lambda: loaded(file).ids(["zzz"]), file, capfd)
        assert message.startswith(
            "the tokenizer needs too much memory for 1 text with 3 characters"
        )

    @linux
    def test_a_normalizer_that_takes_all_memory_in_one_step(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        file = tiny(tmp_path, normalized_by(replacing("z", "z" * 1_000_000)))
        made = loaded(file)
        message = refusal(lambda: made.ids(["cat", "z" * 10_000]), file, capfd)
        assert message.startswith(
            "the tokenizer needs too much memory for 2 texts with 10,003 char"
        )
        assert len(made.ids(["cat"])[0]) == 3

    @linux
    def test_a_pre_tokenizer_that_multiplies_a_text(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        """Each step makes two characters of each character beyond ASCII."""
        step = {
            "type": "ByteLevel",
            "add_prefix_space": False,
            "trim_offsets": False,
            "use_regex": False,
        }
        sequence = {"type": "Sequence", "pretokenizers": [step] * 40}
        file = tiny(
            tmp_path, lambda content: content.update(normalizer=None, pre_tokenizer=sequence)
        )
        message = refusal(lambda: loaded(file).ids(["é"]), file, capfd)
        assert message.startswith("the tokenizer needs too much memory for 1 text with 1 character")

    def test_more_tokens_than_characters(
        self, tmp_path: Path, capfd: pytest.CaptureFixture[str]
    ) -> None:
        def change(content: Content) -> None:
            first = content["post_processor"]["special_tokens"]["[CLS]"]
            first.update(ids=[2] * 1_500, tokens=["[CLS]"] * 1_500)

        file = tiny(tmp_path, change)
        message = refusal(lambda: loaded(file), file, capfd)
        assert (
            "produced 1,501 tokens from a text of 0 characters, expected at most 1,000" in message
        )

    def test_a_tokenizer_that_takes_too_long(
        self,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        """The pattern is looked for from each place to the end."""
        file = tiny(tmp_path, normalized_by(replacing("z+(?!z|$)", "y")))
        made = loaded(file)
        monkeypatch.setattr(tokenization, "SECONDS", 1)
        monkeypatch.setattr(tokenization, "CHARACTERS_PER_SECOND", 10**9)
        message = refusal(lambda: made.ids(["z" * 100_000]), file, capfd)
        assert message.startswith(
            "the tokenizer needs more than 1 second for 1 text with 100,000 characters, expected the "
            "tokenizer.json of an encoder; download"
        )
        assert len(made.ids(["cat"])[0]) == 3

    def test_large_vocabularies_are_read(self, tmp_path: Path) -> None:
        """300,000 tokens, as the largest encoders have, of the model that takes the most memory."""
        words = [f"w{number}" for number in range(300_000)]

        def change(content: Content) -> None:
            special = [[token, 0.0] for token in tiny_encoders.BERT_SPECIAL]
            vocabulary = special + [[word, -10.123456789] for word in words]
            content["model"] = {"type": "Unigram", "unk_id": 1, "vocab": vocabulary}

        made = Tokenization(tiny(tmp_path, change), 400_000, False)
        assert plain(made.ids(["w7 w299999"])) == [[2, 12, 300_004, 3]]


PANICS = {
    "when read": lambda content: content.update(
        normalizer={"type": "Precompiled", "precompiled_charsmap": "AAAA"}
    ),
    "when used": normalized_by(replacing("(a|aa)+$", "b")),
}
"""Files over which the library panics, in versions up to 0.23 at least."""


class TestFailures:
    @pytest.mark.parametrize("when", PANICS)
    def test_a_panic_is_not_shown(
        self, tmp_path: Path, when: str, capfd: pytest.CaptureFixture[str]
    ) -> None:
        file = tiny(tmp_path, PANICS[when])

        def work() -> None:
            loaded(file).ids(["a" * 60 + "b"])

        message = refusal(work, file, capfd)
        assert message.startswith(f"the tokenizer cannot be {when.removeprefix('when ')} (")
        assert message.endswith("), expected the tokenizer.json of an encoder")
        assert "panicked at" not in message

    @pytest.mark.parametrize(
        ("program", "expected"),
        [
            (
                "import os; os.abort()",
                "the tokenizer crashed while reading it, expected the ",
            ),
            (
                "import os; os.kill(os.getpid(), 9)",
                "the tokenizer process was stopped twice",
            ),
            ("import no_such_package", r"could not start (ModuleNotFoundError: No module named"),
        ],
    )
    def test_a_process_that_ends(
        self,
        tmp_path: Path,
        program: str,
        expected: str,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
    ) -> None:
        monkeypatch.setattr(launch, "PROGRAM", program)
        file = tiny(tmp_path)
        assert expected in refusal(lambda: loaded(file), file, capfd)

    def test_without_the_library(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "tokenizers", None)
        with pytest.raises(RankgaugeError, match="tokenizers is not installed; run pip"):
            loaded(tiny(tmp_path))
