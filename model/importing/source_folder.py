"""A folder to import: the files that may be read, those that are refused, and the hashes of those that were read."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from model.file_formats import FormatError, Kind, checked, decode
from model.folder import real_path, tensor_shapes
from model.user_error import UserError

CONFIG, GENERATION, TOKENIZER = "config.json", "generation_config.json", "tokenizer_config.json"
VOCABULARY, MERGES, TOKENIZERS = "vocab.json", "merges.txt", "tokenizer.json"
WEIGHTS, PICKLED, SHARDS = "model.safetensors", "pytorch_model.bin", "model.safetensors.index.json"
CARD = "README.md"
PIECES_OF_FAIRSEQ, PIECES = "sentencepiece.bpe.model", "spiece.model"
SPECIAL_TOKENS = "special_tokens_map.json"

_OF_ALL = {CONFIG, GENERATION, TOKENIZER, WEIGHTS, SHARDS, CARD, VOCABULARY, TOKENIZERS, SPECIAL_TOKENS}
FILES = frozenset({*_OF_ALL, "target_vocab.json", "source.spm", "target.spm", MERGES, PIECES_OF_FAIRSEQ, PIECES})
"""Every file that an import may read, besides shards of the weights."""
SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
"""The name of a file with a part of the weights."""

MAX_WEIGHT_BYTES = 64 * 1024**3  # of one file; whether a model fits into the memory is checked before it is read
_NO_LIMIT = str(int(1e30)).encode()  # how `transformers` writes a model_max_length that is not set
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
            raise ImportFailed(
                "there is no folder {folder}; give the folder with the model's config.json.", folder=folder
            )
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
            raise ImportFailed(
                "{folder} has no {file}, so it is not complete; copy the whole model folder.",
                folder=self.name,
                file=name,
            )
        if path.is_symlink() and not real_path(path).is_relative_to(real_path(self.folder)):
            raise ImportFailed(
                "{folder}/{file} is a link that leads out of the folder; copy the file itself.",
                folder=self.name,
                file=name,
            )
        if path.stat().st_size > limit:
            raise ImportFailed(
                "{folder}/{file} is larger than {limit} MB; it is refused.",
                folder=self.name,
                file=name,
                limit=limit >> 20,
            )
        return path

    def read(self, name: str) -> bytes:
        """Read a small file, and add its hash to :attr:`hashes`."""
        try:
            content = self.path(name).read_bytes()
        except OSError as error:
            raise ImportFailed(
                "{folder}/{file} cannot be read: {reason}.", folder=self.name, file=name, reason=error.strerror or error
            ) from None
        self._hashes[name] = hashlib.sha256(content).hexdigest()
        return content

    def json(self, name: str) -> dict[str, Any]:
        """Read the JSON object in a file.

        Raises:
            ImportFailed: it is missing, too large, or not a JSON object.
        """
        try:
            return checked(decode(self.read(name).replace(_NO_LIMIT, b"null")), dict[str, Any])[0]
        except FormatError as error:
            raise ImportFailed("{folder}/{file} {error}", folder=self.name, file=name, error=error) from None

    def optional_json(self, name: str) -> dict[str, Any]:
        """Read the JSON object in a file; empty if there is no such file."""
        return self.json(name) if self.has(name) else {}

    def weights(self) -> dict[str, Path]:
        """The file of each tensor, from one safetensors file or several (shards), checked to be complete.

        Raises:
            ImportFailed: there are only pickled weights (the message says how to convert them), or none; or the index
                of the shards does not fit them.
            CheckpointError: a file is damaged, or not safetensors.
        """
        if not self.has(WEIGHTS):
            if self.has(SHARDS):
                return self._shards()
            if self.has(PICKLED):
                raise ImportFailed(
                    "{name}/pytorch_model.bin is a pickle, which could run code when opened, so only model.safetensors "
                    "is read; convert it on a machine that has transformers, then import again: {convert}",
                    name=self.name,
                    convert=CONVERT,
                )
        return dict.fromkeys(*self._tensors(WEIGHTS))

    def _shards(self) -> dict[str, Path]:
        """The file of each tensor, as the index says and the files confirm."""
        listed = self.json(SHARDS).get("weight_map")
        if not isinstance(listed, dict) or not all(
            isinstance(file, str) and SHARD.fullmatch(file) for file in listed.values()
        ):
            raise ImportFailed(
                "{name}/model.safetensors.index.json lists no files named like model-00001-of-00002.safetensors.",
                name=self.name,
            )
        files: dict[str, Path] = {}
        for shard in sorted(set(listed.values())):
            names, path = self._tensors(shard)
            wrong = sorted(names ^ {name for name, file in listed.items() if file == shard})
            if wrong:
                raise ImportFailed(
                    "{name}/model.safetensors.index.json and {shard} disagree about the tensor {wrong}; "
                    "copy the whole folder.",
                    name=self.name,
                    shard=shard,
                    wrong=wrong[0],
                )
            files |= dict.fromkeys(names, path)
        return files

    def _tensors(self, file: str) -> tuple[frozenset[str], Path]:
        """The names of the tensors of a safetensors file, which is checked to be complete, and its path."""
        path = self.path(file, MAX_WEIGHT_BYTES)
        names = frozenset(tensor_shapes(path, floats=False))  # old files hold masks as well
        with open(path, "rb") as opened:
            self._hashes[file] = hashlib.file_digest(opened, "sha256").hexdigest()
        return names, path

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
        raise ImportFailed("{file} {error}", file=file, error=error) from None
