"""Seals: equal content has the same seal however it is written, and any other content another one."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import bit_flips
import rankgauge as rg
from command_line import one_process
from profiles import examples, thorough
from rankgauge.core.sealing import check_seal, content_digest, read_sealed, seal
from rankgauge.io import cache

DOCUMENTS = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_infinity=False)
    | st.text(max_size=4),
    lambda inside: st.lists(inside, max_size=4) | st.dictionaries(st.text(max_size=3), inside),
    max_leaves=12,
)
KINDS = ["<f8", "<f4", "<i8", "<i4", "|b1"]


@given(st.dictionaries(st.text(max_size=3).filter(lambda key: key != "seal"), DOCUMENTS))
@examples(200)
def test_a_sealed_document_is_read_back_and_the_order_of_keys_does_not_matter(
    document: dict[str, Any],
) -> None:
    sealed = json.loads(json.dumps(seal(document)))
    turned = dict(reversed(sealed.items()))
    back = check_seal(turned, "x", "write it again")
    assert json.dumps(back, sort_keys=True) == json.dumps(document, sort_keys=True)


def test_the_way_a_number_is_written_does_not_matter() -> None:
    assert content_digest({"a": 1}) == content_digest({"a": 1.0})
    assert content_digest([1e300]) == content_digest([int(1e300)])
    assert content_digest(["1"]) != content_digest([1])
    assert content_digest([True]) != content_digest([1])
    assert content_digest([0.0]) != content_digest([-0.0])
    assert content_digest([0.1]) != content_digest([math.nextafter(0.1, 1)])


@given(st.sampled_from(KINDS), st.integers(0, 40), st.data())
@examples(200)
def test_every_other_array_has_another_digest(kind: str, size: int, data: st.DataObject) -> None:
    draw = np.random.default_rng(data.draw(st.integers(0, 9)))
    array = draw.integers(0, 2, 2 * size).astype(kind)
    whole = content_digest({}, {"a": array})
    strided = np.stack([array, array], axis=1)[:, 0]
    assert content_digest({}, {"a": strided}) == whole
    assert content_digest({}, {"a": array.astype(array.dtype.newbyteorder(">"))}) == whole
    others: list[dict[str, Any]] = [{"b": array}, {"a": array.reshape(2, size)}, {}]
    if size:
        changed = array.copy()
        place = data.draw(st.integers(0, 2 * size - 1))
        changed[place] = 1 - changed[place]
        others.append({"a": changed})
        if array[::-1].tolist() != array.tolist():
            others.append({"a": array[::-1]})
    for other in others:
        assert content_digest({}, other) != whole


def test_a_nan_is_a_nan_whatever_its_bits() -> None:
    quiet = np.array([0x7FF8 << 48, 0x7FF8 << 48 | 7], dtype=np.uint64).view(np.float64)
    assert content_digest({}, {"a": quiet[:1]}) == content_digest({}, {"a": quiet[1:]})
    many = np.where(np.arange(200_000) % 3, 0.5, np.nan)
    other = many.copy()
    other[199_999] = 0.25
    assert content_digest({}, {"a": many}) != content_digest({}, {"a": other})


@pytest.mark.parametrize("text", ['{"a": 1}', '{"seal": 1}', '{"a": 1, "seal": null}', "[]", ""])
def test_a_file_without_the_right_seal_is_refused_with_the_remedy(
    text: str, tmp_path: Path
) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(rg.InputError, match="write it again") as caught:
        read_sealed(path, "a part", "rankgauge", "write it again")
    assert caught.value.source == str(path)


def test_lists_in_lists_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"seal": "x", "a": ' + "[" * 500 + "]" * 500 + "}")
    with pytest.raises(rg.InputError, match="its seal is broken"):
        read_sealed(path, "a part", "rankgauge", "write it again")


def test_scores_that_another_program_rewrote_are_loaded(tmp_path: Path) -> None:
    """Other pages, other compression, other metadata of the writer: the values are equal."""
    values = np.random.default_rng(0).random((3, 50, 2))
    values[1, 2, 0] = np.nan
    scores = rg.Scores.from_matrix(values, runs=["a", "b", "c"], measure=["AP", "RR"])
    scores.save(tmp_path / "ours")
    kept = pq.ParquetFile(tmp_path / "ours").metadata.metadata
    table = pq.read_table(tmp_path / "ours").replace_schema_metadata(kept)
    pq.write_table(table, tmp_path / "arrow", compression="snappy", row_group_size=7)
    frame = pl.read_parquet(tmp_path / "ours")
    metadata = pl.read_parquet_metadata(tmp_path / "ours")
    frame.write_parquet(tmp_path / "polars", compression="uncompressed", metadata=metadata)
    for name in ("arrow", "polars"):
        assert (tmp_path / name).read_bytes() != (tmp_path / "ours").read_bytes()
        with one_process():
            back = rg.Scores.load(tmp_path / name)
        np.testing.assert_array_equal(back.values, scores.values)
    turned = table.set_column(2, table.field(2), [table.column(2).to_pylist()[::-1]])
    pq.write_table(turned.replace_schema_metadata(kept), tmp_path / "turned")
    with one_process(), pytest.raises(rg.InputError, match="turned: its seal is broken"):
        rg.Scores.load(tmp_path / "turned")


@pytest.mark.parametrize("kind", bit_flips.KINDS)
def test_no_flipped_bit_changes_what_is_loaded_in_silence(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANKGAUGE_CACHE", "off")
    monkeypatch.setattr(cache, "LEAST_BYTES", cache.LEAST_BYTES)
    monkeypatch.setattr(cache, "SETTLING_TIME", cache.SETTLING_TIME)
    counts = bit_flips.flipped(kind, 200 if thorough() else 8, seed=5, folder=tmp_path)
    assert set(counts) <= {"found", "harmless"}
