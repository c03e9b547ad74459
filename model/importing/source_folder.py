"""A folder to import: the files that may be read, those that are refused, and the hashes of those that were read."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from model.file_formats import FormatError, Kind, checked
from model.folder import CheckpointError, read_json, real_path, tensor_shapes
from model.user_error import UserError

CONFIG, GENERATION, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"
VOCABULARY, MERGES, TOKENIZERS = "vocab.json", "merges.txt", "tokenizer.json"
WEIGHTS, PICKLED, SHARDS = "model.safetensors", "pytorch_model.bin", "model.safetensors.index.json"
CARD = "README.md"

_OF_ALL = {CONFIG, GENERATION, TOKENIZER, WEIGHTS, CARD, VOCABULARY}
FILES = frozenset({*_OF_ALL, "target_vocab.json", "source.spm", "target.spm", MERGES, TOKENIZERS})
"""Every file that an import may read."""

MAX_WEIGHT_BYTES = 2 * 1024**3
MAX_FILE_BYTES = 64 * 1024**2  # of one file that is not weights

CONVERT = (
    'python -c "from transformers import AutoModelForSeq2SeqLM as M; '
    "M.from_pretrained('FOLDER').save_pretrained('FOLDER')\""
)


class ImportFailed(UserError):
    """A folder that cannot be imported; the message says why and what to do."""


class SourceFolder:
    """The files of one folder. Only files of known names are opened, and no links out of the folder."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise ImportFailed(f"there is no folder {folder}; give the folder with the model's {CONFIG}.")
        self.folder = folder
        self._hashes: dict[str, str] = {}

    @property
    def name(self) -> str:
        """The folder's own name."""
        return real_path(self.folder).name

    def has(self, name: str) -> bool:
        """Whether the folder has this file."""
        return (self.folder / name).is_file()

    def path(self, name: str, limit: int = MAX_FILE_BYTES) -> Path:
        """The path of a file.

        Raises:
            ImportFailed: it does not exist, is a link out of the folder, or has more than `limit` bytes.
        """
        path = self.folder / name
        if not path.is_file():
            raise ImportFailed(f"{self.name} has no {name}, so it is not complete; copy the whole model folder.")
        if path.is_symlink() and not real_path(path).is_relative_to(real_path(self.folder)):
            raise ImportFailed(f"{self.name}/{name} is a link that leads out of the folder; copy the file itself.")
        if path.stat().st_size > limit:
            raise ImportFailed(f"{self.name}/{name} is larger than {limit >> 20} MB; it is refused.")
        return path

    def read(self, name: str) -> bytes:
        """Read a small file, and add its hash to :attr:`hashes`."""
        try:
            content = self.path(name).read_bytes()
        except OSError as error:
            raise ImportFailed(f"{self.name}/{name} cannot be read: {error.strerror or error}.") from None
        self._hashes[name] = hashlib.sha256(content).hexdigest()
        return content

    def json(self, name: str) -> dict[str, Any]:
        """Read the JSON object in a file.

        Raises:
            ImportFailed: it is missing, too large, or not a JSON object.
        """
        path = self.path(name)
        try:
            values = read_json(path, MAX_FILE_BYTES)
        except CheckpointError as error:
            raise ImportFailed(str(error)) from None
        self.read(name)
        return values

    def optional_json(self, name: str) -> dict[str, Any]:
        """Read the JSON object in a file; empty if there is no such file."""
        return self.json(name) if self.has(name) else {}

    def weights(self) -> Path:
        """The path of the weights, checked to be one complete safetensors file.

        Raises:
            ImportFailed: there are only pickled weights (the message says how to convert them), or none.
            CheckpointError: the file is damaged, or not safetensors.
        """
        if not self.has(WEIGHTS):
            if self.has(SHARDS):
                raise ImportFailed(f"{self.name} has its weights in several files; save them as one {WEIGHTS}.")
            if self.has(PICKLED):
                raise ImportFailed(
                    f"{self.name}/{PICKLED} is a pickle, which could run code when opened, so only {WEIGHTS} is read; "
                    f"convert it on a machine that has transformers, then import again: {CONVERT}"
                )
        path = self.path(WEIGHTS, MAX_WEIGHT_BYTES)
        tensor_shapes(path)
        with open(path, "rb") as file:
            self._hashes[WEIGHTS] = hashlib.file_digest(file, "sha256").hexdigest()
        return path

    @property
    def hashes(self) -> dict[str, str]:
        """SHA-256 of every file read so far, by name."""
        return dict(sorted(self._hashes.items()))

    def licence(self) -> str:
        """The licence in the front matter of the folder's card, or an empty string."""
        if not self.has(CARD):
            return ""
        head = self.read(CARD)[:10_000].decode("utf-8", "replace")
        front_matter = re.match(r"---\s*\n(.*?)\n---", head, re.DOTALL)
        if front_matter is None:
            return ""
        licence = re.search(r"^license:\s*['\"]?([A-Za-z0-9.+-]{1,40})['\"]?\s*$", front_matter.group(1), re.MULTILINE)
        return licence.group(1) if licence else ""


def settings_of(values: dict[str, Any], kind: type[Kind], file: str) -> Kind:
    """Convert the JSON object of a file to its class.

    Raises:
        ImportFailed: a part of it is missing, has another type, or is out of range; the message names it.
    """
    try:
        return checked(values, kind)[0]
    except FormatError as error:
        raise ImportFailed(f"{file} {error}") from None
