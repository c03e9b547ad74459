"""A model folder as one zip file: out to give it to somebody, and in again without trusting a byte of it.

Only files that a model folder has are taken in, by name; they are written to a hidden folder beside the models, opened
once to see that they fit together, and then renamed.
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
MAX_RATIO = 200  # unpacked to packed; weights hardly shrink, text by 20 at most
_BLOCK = 1 << 20
_HOLDER, _LEFT_SECONDS = ".import-", 6 * 3600
_UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,  # a packing method or version that Python does not know
    RuntimeError,  # a password
    OverflowError,
    struct.error,
    ValueError,  # a name that is no text, a place before the file's beginning
    OSError,  # of bz2
    MemoryError,  # lzma reserves whatever the file asks for
)
_REQUIRED = (CONFIG, TOKENIZER, WEIGHTS)
_KNOWN = (*_REQUIRED, CARD, METRICS, STATUS, DATA_FILE)
_SNAPSHOT = re.compile(rf"{SNAPSHOTS}/step-\d{{8,12}}\.safetensors")
_STATE = re.compile(rf"{STATE}/(state\.json|(step|recent)-\d{{8,12}}\.safetensors)")


class ArchiveError(ValueError):
    """A zip file that cannot be taken in; the message says why."""


def export(folder: Path, *, resumable: bool = False) -> Path:
    """Write the folder as a zip file in the system's temporary folder and return its path; the caller deletes it.

    `resumable` adds what a stopped run needs to go on elsewhere, which is three times the size of the weights.
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


def take_in(file: IO[bytes], checkpoints: Path, name: str = "") -> str:
    """Unpack a zip file as a new model and return its name: `name`, or what the zip file calls it.

    Raises:
        ArchiveError: it is no zip file, holds what no model folder has (paths that lead out of it, links, pickles,
            unknown files), is too large or swells too much, there is a model of this name, or this server is for
            looking only.
        CheckpointError: the name is impossible, or the files do not make a model.
    """
    if viewing():
        raise ArchiveError(f"Nothing can be imported: {REASON}.")
    with _readable():
        archive = zipfile.ZipFile(file)
    with archive:
        wanted, members = _members(archive)
        target = checkpoints / check_name(name or wanted)
        if target.exists():
            raise ArchiveError(f"There is a model '{target.name}' already; give the new one another name.")
        checkpoints.mkdir(parents=True, exist_ok=True)
        _sweep(checkpoints)
        holder = checkpoints / f"{_HOLDER}{secrets.token_hex(8)}"
        building = holder / target.name
        building.mkdir(parents=True)
        try:
            left = MAX_BYTES
            for inner, member in members.items():
                left = _unpack(archive, member, building / inner, left)
            _check(building)
            replace_file(building, target)
        finally:
            shutil.rmtree(holder, ignore_errors=True)
    return target.name


def _sweep(checkpoints: Path) -> None:
    """Remove what imports left behind whose server was killed; no import takes hours."""
    for left in checkpoints.glob(f"{_HOLDER}*"):
        if time.time() - left.stat().st_mtime > _LEFT_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


@contextmanager
def _readable() -> Iterator[None]:
    """Around each look into a zip file: whatever Python's readers stumble over becomes a sentence."""
    try:
        yield
    except _UNREADABLE as error:
        said = str(error) or "it ends too early"
        raise ArchiveError(f"This is not a zip file that can be read ({said}).") from None


def _members(archive: zipfile.ZipFile) -> tuple[str, dict[str, zipfile.ZipInfo]]:
    """The name of the model, and the files by their place inside of its folder; refuses everything unexpected."""
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MAX_FILES:
        raise ArchiveError(f"The zip file holds {len(entries)} files; a model has at most {MAX_FILES}.")
    top = {entry.filename.split("/")[0] for entry in entries if "/" in entry.filename}
    inside = len(top) == 1 and all("/" in entry.filename for entry in entries)
    wanted = next(iter(top)) if inside else ""
    members: dict[str, zipfile.ZipInfo] = {}
    for entry in entries:
        name = entry.filename.removeprefix(f"{wanted}/") if inside else entry.filename
        _refuse(entry, name)
        if name in members:
            raise ArchiveError(f"The zip file holds {name} twice.")
        members[name] = entry
    for needed in _REQUIRED:
        if needed not in members:
            raise ArchiveError(f"The zip file holds no {needed}, so it is no model that was exported here.")
    if sum(entry.file_size for entry in entries) > MAX_BYTES:
        raise ArchiveError(f"The zip file unpacks to more than {MAX_BYTES >> 30} GB, which is too much.")
    return wanted, members


def _refuse(entry: zipfile.ZipInfo, name: str) -> None:
    said = ascii(entry.filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise ArchiveError(f"The zip file holds {said}, which is a link or a device; only plain files are taken in.")
    if name.startswith(("/", "\\")) or ":" in name or "\\" in name or ".." in name.split("/"):
        raise ArchiveError(f"The zip file holds {said}, a path that leads out of the model's folder.")
    if Path(name).suffix.lower() in (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt"):
        raise ArchiveError(f"The zip file holds {said}, a pickle, which could run code; only .safetensors is taken in.")
    if not _is_known(name):
        raise ArchiveError(f"The zip file holds {said}, which no model folder has.")
    if entry.file_size > MAX_RATIO * max(entry.compress_size, 1024):
        raise ArchiveError(f"The zip file's {said} swells more than {MAX_RATIO} times when unpacked; it is refused.")
    if not name.endswith(".safetensors") and entry.file_size > MAX_TEXT_BYTES:
        raise ArchiveError(f"The zip file's {said} is larger than {MAX_TEXT_BYTES >> 20} MB.")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, left: int) -> int:
    """Write one file, counting what really comes out; returns how many bytes the others may still have."""
    path.parent.mkdir(exist_ok=True)
    limit = min(left, member.file_size)
    with _readable():
        packed = archive.open(member)
    with packed, open(path, "xb") as out:
        for block in _blocks(packed):
            limit -= len(block)
            if limit < 0:
                raise ArchiveError(f"The zip file's {member.filename!a} is larger than it says; it is refused.")
            out.write(block)
    return left - path.stat().st_size


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while True:
        with _readable():
            block = file.read(_BLOCK)
        if not block:
            return
        yield block


def _check(folder: Path) -> None:
    """Open the model once; see that snapshots are of its shapes; keep of status.json what is true here.

    Raises:
        CheckpointError: the files do not make a model.
    """
    from model.checkpoint import load_model

    load_model(folder)
    shapes = tensor_shapes(folder / WEIGHTS)
    for path in sorted((folder / SNAPSHOTS).glob("*")):
        if tensor_shapes(path) != shapes:
            raise CheckpointError(f"{SNAPSHOTS}/{path.name} is not of the model's shapes.")
    for path in sorted((folder / STATE).glob("*.safetensors")):
        tensor_shapes(path)
    _settle_status(folder)


def _settle_status(folder: Path) -> None:
    """No process is at work on an imported run; without its state it is a model, and cannot go on."""
    path = folder / STATUS
    if not path.is_file():
        return
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        state = values["state"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CheckpointError(f"{STATUS} makes no sense.") from None
    if state != "finished" and not (folder / STATE / "state.json").is_file():
        path.unlink()
        return
    kept = {key: values[key] for key in ("step", "max_steps", "epoch") if isinstance(values.get(key), int)}
    settled = kept | {"state": "finished" if state == "finished" else "stopped", "pid": None, "error": None}
    path.write_text(json.dumps(settled), encoding="utf-8")
