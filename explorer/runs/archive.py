"""Export a model folder as a zip file, and import one without trusting anything in it.

Only files that belong to a model folder are unpacked, by name; they are written to a hidden folder beside the models,
loaded once to check that they fit together, and then renamed. A translator of another library, as a zip file or a
folder on this server, is converted to a model folder on the way (:mod:`model.importing`).
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import stat
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from explorer.locale.messages import message, t
from explorer.runs.lifecycle import read_note
from explorer.runs.viewer_mode import refuse
from model.data.files import DATA_FILE
from model.file_formats import Status
from model.folder import (
    CARD,
    CONFIG,
    METRICS,
    NOTE,
    PICKLE_SUFFIXES,
    SNAPSHOTS,
    STATE,
    STATUS,
    TOKENIZER,
    WEIGHTS,
    CheckpointError,
    check_name,
    checked,
    modified,
    read_json,
    replace_file,
    tensor_shapes,
)
from model.user_error import UserError

MAX_FILES = 200
MAX_BYTES = 2 * 1024**3  # of all files together, unpacked
MAX_TEXT_BYTES = 64 * 1024**2  # of one file that is not weights
MAX_RATIO = 200  # unpacked to packed size; weights hardly compress, text 20 times at most
_BLOCK = 1 << 20
_JUNK = re.compile(r"(.*/)?(__MACOSX/.*|\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)")  # added by operating systems
_HOLDER, _LEFTOVER_SECONDS = ".import-", 6 * 3600
_REQUIRED = (CONFIG, TOKENIZER, WEIGHTS)
_KNOWN = (*_REQUIRED, CARD, METRICS, STATUS, NOTE, DATA_FILE)
_SNAPSHOT = re.compile(rf"{SNAPSHOTS}/step-\d{{8,12}}\.safetensors")
_STATE = re.compile(rf"{STATE}/(state\.json|(step|recent)-\d{{8,12}}\.safetensors)")


Members = dict[str, zipfile.ZipInfo]
"""The files of an archive by their path inside the model's folder."""


class ArchiveError(UserError):
    """The zip file cannot be imported; the message says why."""


def export(folder: Path, *, resumable: bool = False) -> Path:
    """Write the folder as a zip file in the system's temporary folder and return its path; the caller deletes it.

    `resumable` adds the state from which a stopped run can continue elsewhere, three times the size of the weights.
    """
    files = [folder / name for name in _KNOWN] + sorted((folder / SNAPSHOTS).glob("*"))
    files += sorted((folder / STATE).glob("*")) if resumable else []
    with (
        tempfile.NamedTemporaryFile(prefix="headlight-", suffix=".zip", delete=False) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for path in files:
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not path.is_symlink() and _is_known(name):
                archive.write(path, f"{folder.name}/{name}")
    return Path(file.name)


def _is_known(name: str) -> bool:
    return name in _KNOWN or bool(_SNAPSHOT.fullmatch(name) or _STATE.fullmatch(name))


def import_zip(file: IO[bytes], checkpoints: Path, name: str = "", languages: tuple[str, str] = ("", "")) -> str:
    """Unpack a zip file as a new model and return its name: `name`, or the name in the zip file.

    The file contains an exported model, or a translator as Hugging Face `transformers` stores it, whose languages may
    be chosen: those of source and target.

    Raises:
        ArchiveError: it is not a zip file, contains anything that no model folder has (paths that lead out of it,
            links, pickles, unknown files), is too large or too strongly compressed, or there is already a model of
            this name. ViewerError: this server is read-only.
        CheckpointError, and the errors of :mod:`model.importing`: the name is not allowed, or the files do not form a
            model.
    """
    refuse(message("Importing is switched off: this server is for looking only."))
    with _readable():
        archive = zipfile.ZipFile(file)
    with archive:
        folder, members = _members_of(archive)
        model_name = folder or name or _name_of(file)
        foreign = bool(_TRANSLATOR_FILES & members.keys())
        chosen = _translator_members(members) if foreign else _model_members(members)
        _check_sizes(chosen)
        with _holder(checkpoints, name or model_name) as building:
            inside = building.parent / "theirs" / model_name if foreign else building
            inside.mkdir(parents=True)
            _unpack(archive, chosen, inside)
            if foreign:
                _rewrite(inside, building, languages)
            else:
                _check(building)
    return building.name


def _name_of(file: IO[bytes]) -> str:
    """The name of a zip file without its suffix, for a model that is not in a folder inside the file.

    Raises:
        ArchiveError: it is not allowed as the name of a model.
    """
    name = Path(str(getattr(file, "name", ""))).stem
    try:
        return check_name(name)
    except CheckpointError:
        raise ArchiveError("The zip file has no folder that would name the model; type a name for it.") from None


def import_translator(folder: Path, checkpoints: Path, name: str = "", languages: tuple[str, str] = ("", "")) -> str:
    """Import a translator from a folder on this server and return its name: `name`, or that of the folder.

    `languages` are those of source and target of a model that has several.

    Raises:
        ArchiveError: there is already a model of this name. ViewerError: this server is read-only.
        ImportFailed: the folder has no translator. The sentence is the same whatever is there, so that visitors learn
            nothing about other folders of the server.
        CheckpointError, and the errors of :mod:`model.importing`: the name is not allowed, or the translator cannot be
            imported.
    """
    refuse(message("Importing is switched off: this server is for looking only."))
    from model.importing.import_folder import holds_translator
    from model.importing.source_folder import ImportFailed

    if not holds_translator(folder):
        raise ImportFailed(
            "There is no translator to import at this path: give its folder, with config.json and weights."
        )
    with _holder(checkpoints, name or folder.name) as building:
        _rewrite(folder, building, languages)
    return building.name


def _rewrite(theirs: Path, ours: Path, languages: tuple[str, str]) -> None:
    from model.importing.import_folder import import_folder  # here, because it imports torch
    from model.importing.languages import Languages

    import_folder(theirs, ours, languages=Languages(*languages))


@contextmanager
def _holder(checkpoints: Path, name: str) -> Iterator[Path]:
    """Yield a path in a hidden folder where a model is assembled; at the end it is renamed to the model's folder.

    Raises:
        ArchiveError: there is already a model of this name. CheckpointError: the name is not allowed.
    """
    target = checkpoints / check_name(name)
    if target.exists():
        raise ArchiveError("There is already a model “{name}”; choose another name.", name=target.name)
    checkpoints.mkdir(parents=True, exist_ok=True)
    _delete_leftovers(checkpoints)
    holder = checkpoints / f"{_HOLDER}{secrets.token_hex(8)}"
    holder.mkdir()
    try:
        yield holder / target.name
        replace_file(holder / target.name, target)
    finally:
        shutil.rmtree(holder, ignore_errors=True)


def _delete_leftovers(checkpoints: Path) -> None:
    """Delete the hidden folders of imports whose server was killed; no import takes hours."""
    for folder in checkpoints.glob(f"{_HOLDER}*"):
        if time.time() - modified(folder) > _LEFTOVER_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


_TRANSLATOR_FILES = {
    "vocab.json", "merges.txt", "source.spm", "spiece.model", "sentencepiece.bpe.model", "tokenizer_config.json"
}  # fmt: skip
"""Vocabulary files of translators of another library, which our folders do not have."""


def _translator_members(members: Members) -> Members:
    """The files of a translator that the import reads; all others are left in the zip file."""
    from model.importing.source_folder import CONVERT, FILES, PICKLED, SHARD, SHARDS

    if not {WEIGHTS, SHARDS} & members.keys() and PICKLED in members:
        raise ArchiveError(
            "The zip file contains {pickled}, a pickle, which could run code; only {weights} is read. Convert it on a "
            "machine that has transformers: {convert}",
            pickled=PICKLED,
            weights=WEIGHTS,
            convert=CONVERT,
        )
    return {name: entry for name, entry in members.items() if name in FILES or SHARD.fullmatch(name)}


def _model_members(members: Members) -> Members:
    """The files of an exported model; refuses everything unexpected."""
    for name, entry in members.items():
        if Path(name).suffix.lower() in PICKLE_SUFFIXES:
            raise ArchiveError(
                "The zip file contains {filename}, a pickle, which could run code; only .safetensors is allowed.",
                filename=ascii(entry.filename),
            )
        if not _is_known(name):
            raise ArchiveError(
                "The zip file contains {filename}, which does not belong to a model folder.",
                filename=ascii(entry.filename),
            )
    for needed in _REQUIRED:
        if needed not in members:
            raise ArchiveError("The zip file contains no {needed}, so it is not an exported model.", needed=needed)
    return members


def _check(folder: Path) -> None:
    """Load the model once, check the shapes of its snapshots, and reset its status.

    Raises:
        CheckpointError: the files do not form a model.
    """
    from model.checkpoint import load_model

    load_model(folder)
    shapes = tensor_shapes(folder / WEIGHTS)
    for path in sorted((folder / SNAPSHOTS).glob("*")):
        if tensor_shapes(path) != shapes:
            raise CheckpointError(
                "{snapshots}/{name} does not have the model's shapes.", snapshots=SNAPSHOTS, name=path.name
            )
    for path in sorted((folder / STATE).glob("*.safetensors")):
        tensor_shapes(path)
    read_note(folder)
    _settle_status(folder)


def _settle_status(folder: Path) -> None:
    """Reduce status.json to what holds for an imported run: no process, and nothing to resume without saved state."""
    path = folder / STATUS
    if not path.is_file():
        return
    values = checked(path, read_json(path), Status)
    state = values.get("state")
    if state != "finished" and not (folder / STATE / "state.json").is_file():
        path.unlink()
        return
    progress = {key: values[key] for key in ("step", "max_steps", "epoch") if isinstance(values.get(key), int)}
    settled = progress | {"state": "finished" if state == "finished" else "stopped", "pid": None, "error": None}
    path.write_text(json.dumps(settled), encoding="utf-8")


@contextmanager
def _readable() -> Iterator[None]:
    """Turn the exceptions of Python's zip readers into one sentence."""
    try:
        yield
    except Exception as error:  # of a dozen types, from zipfile and the decompressors
        if isinstance(error, OSError) and error.errno is not None:
            raise  # a system error, such as a full disk
        reason = str(error) or t("it ends too early")
        raise ArchiveError("This is not a zip file that can be read ({reason}).", reason=reason) from None


def _members_of(archive: zipfile.ZipFile) -> tuple[str, Members]:
    """Find the model's folder in the archive (or an empty string), and list its files by their path in that folder.

    Files that operating systems add to zip files are left out.

    Raises:
        ArchiveError: there are too many files, a file occurs twice, or one is outside the folder, a link or a device,
            or has a path that leads out.
    """
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MAX_FILES:
        raise ArchiveError(
            "The zip file contains {entries:,} files; a model has at most {max_files}.",
            entries=len(entries),
            max_files=MAX_FILES,
        )
    for entry in entries:  # checked first, since a path outside the folder would make all others look misplaced
        name, kind = entry.filename, stat.S_IFMT(entry.external_attr >> 16)
        if {"", ".."} & set(name.split("/")) or ":" in name or "\\" in name:
            raise ArchiveError(
                "The zip file contains {name}, a path that leads out of the model's folder.", name=ascii(name)
            )
        if kind not in (0, stat.S_IFREG):
            raise ArchiveError(
                "The zip file contains {name}, which is a link or a device; only plain files are allowed.",
                name=ascii(name),
            )
    entries = [entry for entry in entries if not _JUNK.fullmatch(entry.filename)]
    folder = _folder([entry.filename for entry in entries])
    members: Members = {}
    for entry in entries:
        if folder and not entry.filename.startswith(f"{folder}/"):
            raise ArchiveError(
                "The zip file contains {filename} beside the folder {folder}; pack the folder alone.",
                filename=ascii(entry.filename),
                folder=ascii(folder),
            )
        name = entry.filename.removeprefix(f"{folder}/") if folder else entry.filename
        if name in members:
            raise ArchiveError("The zip file contains {name} twice.", name=name)
        members[name] = entry
    return folder, members


def _folder(names: Sequence[str]) -> str:
    """The folder that contains the only configuration, or all files; an empty string if there is none."""
    places = [name.split("/") for name in names]
    configured = {place[0] for place in places if len(place) == 2 and place[1] == CONFIG}
    if len(configured) == 1 and CONFIG not in names:
        return configured.pop()
    tops = {place[0] for place in places}
    return tops.pop() if len(tops) == 1 and all(len(place) > 1 for place in places) else ""


def _check_sizes(members: Members) -> None:
    """Refuse files that are too strongly compressed, or too large one by one or together.

    Raises:
        ArchiveError: the message names the file.
    """
    for name, entry in members.items():
        if entry.file_size > MAX_RATIO * max(entry.compress_size, 1024):
            raise ArchiveError(
                "The zip file's {filename} becomes more than {max_ratio} times as large when unpacked; it is refused.",
                filename=ascii(entry.filename),
                max_ratio=MAX_RATIO,
            )
        if not name.endswith(".safetensors") and entry.file_size > MAX_TEXT_BYTES:
            raise ArchiveError(
                "The zip file's {filename} is larger than {max_text_bytes} MB.",
                filename=ascii(entry.filename),
                max_text_bytes=MAX_TEXT_BYTES >> 20,
            )
    if sum(entry.file_size for entry in members.values()) > MAX_BYTES:
        raise ArchiveError(
            "The zip file unpacks to more than {max_bytes} GB, which is too much.", max_bytes=MAX_BYTES >> 30
        )


def _unpack(archive: zipfile.ZipFile, members: Members, folder: Path) -> None:
    """Write files into a folder; zipfile writes no more bytes of each than its entry says.

    Raises:
        ArchiveError: a file cannot be read, or differs from its entry in the archive.
    """
    for name, member in members.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        with _readable(), archive.open(member) as packed, open(path, "xb") as out:
            shutil.copyfileobj(packed, out, _BLOCK)
