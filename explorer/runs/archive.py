"""A model folder as one zip file: export, and import that trusts nothing in the file.

Only files that belong to a model folder are unpacked, by name; they are written to a hidden folder beside the models,
loaded once to check that they fit together, and then renamed.
"""

from __future__ import annotations

import json
import lzma
import re
import secrets
import shutil
import stat
import struct
import tempfile
import time
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from explorer.runs.viewer_mode import REASON, viewing
from model.data.files import DATA_FILE
from model.folder import (
    CARD,
    CONFIG,
    METRICS,
    SNAPSHOTS,
    STATE,
    STATUS,
    TOKENIZER,
    WEIGHTS,
    CheckpointError,
    check_name,
    replace_file,
    tensor_shapes,
)

MAX_FILES = 200
MAX_BYTES = 2 * 1024**3  # of all files together, unpacked
MAX_TEXT_BYTES = 64 * 1024**2  # of one file that is not weights
MAX_RATIO = 200  # unpacked to packed size; weights hardly compress, text 20 times at most
_BLOCK = 1 << 20
_HOLDER, _LEFTOVER_SECONDS = ".import-", 6 * 3600
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,  # a compression method or version that Python does not know
    RuntimeError,  # encrypted
    OverflowError,
    struct.error,
    ValueError,  # a name that is not text, an offset before the start of the file
    OSError,  # from bz2
    MemoryError,  # lzma allocates whatever the file asks for
)
_REQUIRED = (CONFIG, TOKENIZER, WEIGHTS)
_KNOWN = (*_REQUIRED, CARD, METRICS, STATUS, DATA_FILE)
_SNAPSHOT = re.compile(rf"{SNAPSHOTS}/step-\d{{8,12}}\.safetensors")
_STATE = re.compile(rf"{STATE}/(state\.json|(step|recent)-\d{{8,12}}\.safetensors)")


class ArchiveError(ValueError):
    """A zip file that cannot be imported; the message says why."""


def export(folder: Path, *, resumable: bool = False) -> Path:
    """Write the folder as a zip file in the system's temporary folder and return its path; the caller deletes it.

    `resumable` adds what a stopped run needs to continue elsewhere, three times the size of the weights.
    """
    files = [folder / name for name in _KNOWN] + sorted((folder / SNAPSHOTS).glob("*"))
    files += sorted((folder / STATE).glob("*")) if resumable else []
    with (
        tempfile.NamedTemporaryFile(prefix="headlight-", suffix=".zip", delete=False) as made,
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
    ):
        for path in files:
            name = path.relative_to(folder).as_posix()
            if path.is_file() and not path.is_symlink() and _is_known(name):
                archive.write(path, f"{folder.name}/{name}")
    return Path(made.name)


def _is_known(name: str) -> bool:
    return name in _KNOWN or bool(_SNAPSHOT.fullmatch(name) or _STATE.fullmatch(name))


def import_zip(file: IO[bytes], checkpoints: Path, name: str = "") -> str:
    """Unpack a zip file as a new model and return its name: `name`, or the name in the zip file.

    Raises:
        ArchiveError: it is not a zip file, contains anything that no model folder has (paths that lead out of it,
            links, pickles, unknown files), is too large or too strongly compressed, there is already a model of this
            name, or this server is for looking only.
        CheckpointError: the name is not allowed, or the files do not form a model.
    """
    if viewing():
        raise ArchiveError(f"Nothing can be imported: {REASON}.")
    with _readable():
        archive = zipfile.ZipFile(file)
    with archive:
        wanted, members = _members(archive)
        target = checkpoints / check_name(name or wanted)
        if target.exists():
            raise ArchiveError(f"There is already a model '{target.name}'; choose another name.")
        checkpoints.mkdir(parents=True, exist_ok=True)
        _delete_leftovers(checkpoints)
        holder = checkpoints / f"{_HOLDER}{secrets.token_hex(8)}"
        building = holder / target.name
        building.mkdir(parents=True)
        try:
            remaining = MAX_BYTES
            for inner, member in members.items():
                remaining = _unpack(archive, member, building / inner, remaining)
            _check(building)
            replace_file(building, target)
        finally:
            shutil.rmtree(holder, ignore_errors=True)
    return target.name


def _delete_leftovers(checkpoints: Path) -> None:
    """Delete the hidden folders of imports whose server was killed; no import takes hours."""
    for folder in checkpoints.glob(f"{_HOLDER}*"):
        if time.time() - folder.stat().st_mtime > _LEFTOVER_SECONDS:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _readable() -> Iterator[None]:
    """Turn whatever Python's zip readers raise into one sentence."""
    try:
        yield
    except _UNREADABLE as error:
        reason = str(error) or "it ends too early"
        raise ArchiveError(f"This is not a zip file that can be read ({reason}).") from None


def _members(archive: zipfile.ZipFile) -> tuple[str, dict[str, zipfile.ZipInfo]]:
    """The name of the model, and its files by their path inside the folder; refuses everything unexpected."""
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MAX_FILES:
        raise ArchiveError(f"The zip file contains {len(entries):,} files; a model has at most {MAX_FILES}.")
    top = {entry.filename.split("/")[0] for entry in entries if "/" in entry.filename}
    inside = len(top) == 1 and all("/" in entry.filename for entry in entries)
    wanted = next(iter(top)) if inside else ""
    members: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = entry.filename.removeprefix(f"{wanted}/") if inside else entry.filename
        _refuse(entry, name)
        if name in members:
            raise ArchiveError(f"The zip file contains {name} twice.")
        members[name] = entry
    for needed in _REQUIRED:
        if needed not in members:
            raise ArchiveError(f"The zip file contains no {needed}, so it is not an exported model.")
    if sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise ArchiveError(f"The zip file unpacks to more than {MAX_BYTES >> 30} GB, which is too much.")
    return wanted, members


def _refuse(entry: zipfile.ZipInfo, name: str) -> None:
    shown = ascii(entry.filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise ArchiveError(f"The zip file contains {shown}, which is a link or a device; only plain files are allowed.")
    if name.startswith(("/", "\\")) or ":" in name or "\\" in name or ".." in name.split("/"):
        raise ArchiveError(f"The zip file contains {shown}, a path that leads out of the model's folder.")
    if Path(name).suffix.lower() in (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt"):
        raise ArchiveError(
            f"The zip file contains {shown}, a pickle, which could run code; only .safetensors is allowed."
        )
    if not _is_known(name):
        raise ArchiveError(f"The zip file contains {shown}, which does not belong to a model folder.")
    if entry.file_size > MAX_RATIO * max(entry.compress_size, 1024):
        raise ArchiveError(
            f"The zip file's {shown} becomes more than {MAX_RATIO} times as large when unpacked; it is refused."
        )
    if not name.endswith(".safetensors") and entry.file_size > MAX_TEXT_BYTES:
        raise ArchiveError(f"The zip file's {shown} is larger than {MAX_TEXT_BYTES >> 20} MB.")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, remaining: int) -> int:
    """Write one file, counting the bytes that come out; returns how many bytes the remaining files may have."""
    path.parent.mkdir(exist_ok=True)
    limit = min(remaining, member.file_size)
    with _readable():
        packed = archive.open(member)
    with packed, open(path, "xb") as out:
        for block in _blocks(packed):
            limit -= len(block)
            if limit < 0:
                raise ArchiveError(f"The zip file's {member.filename!a} is larger than it says; it is refused.")
            out.write(block)
    return remaining - path.stat().st_size


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while True:
        with _readable():
            block = file.read(_BLOCK)
        if not block:
            return
        yield block


def _check(folder: Path) -> None:
    """Load the model once, check the shapes of its snapshots, and reduce status.json to what is true here.

    Raises:
        CheckpointError: the files do not form a model.
    """
    from model.checkpoint import load_model

    load_model(folder)
    shapes = tensor_shapes(folder / WEIGHTS)
    for path in sorted((folder / SNAPSHOTS).glob("*")):
        if tensor_shapes(path) != shapes:
            raise CheckpointError(f"{SNAPSHOTS}/{path.name} does not have the model's shapes.")
    for path in sorted((folder / STATE).glob("*.safetensors")):
        tensor_shapes(path)
    _settle_status(folder)


def _settle_status(folder: Path) -> None:
    """No process is training an imported run; without its saved state it is a model that cannot be resumed."""
    path = folder / STATUS
    if not path.is_file():
        return
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        state = values["state"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CheckpointError(f"{STATUS} cannot be understood.") from None
    if state != "finished" and not (folder / STATE / "state.json").is_file():
        path.unlink()
        return
    progress = {key: values[key] for key in ("step", "max_steps", "epoch") if isinstance(values.get(key), int)}
    settled = progress | {"state": "finished" if state == "finished" else "stopped", "pid": None, "error": None}
    path.write_text(json.dumps(settled), encoding="utf-8")
