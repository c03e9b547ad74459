"""Zip files that a person uploads: their contents are checked before anything is unpacked, and counted meanwhile."""

from __future__ import annotations

import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from model.user_error import UserError

MAX_FILES = 200
MAX_BYTES = 2 * 1024**3  # of all files together, unpacked
MAX_TEXT_BYTES = 64 * 1024**2  # of one file that is not weights
MAX_RATIO = 200  # unpacked to packed size; weights hardly compress, text 20 times at most
_BLOCK = 1 << 20
_LITTER = re.compile(r"(.*/)?(__MACOSX/.*|\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)")  # of systems that pack folders
_CONFIG = "config.json"  # of exported models and of Hugging Face's alike, beside the weights
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

Members = dict[str, zipfile.ZipInfo]
"""The files of an archive by their path inside the model's folder."""


class ArchiveError(UserError):
    """A zip file that cannot be imported; the message says why."""


@contextmanager
def readable() -> Iterator[None]:
    """Turn whatever Python's zip readers raise into one sentence."""
    try:
        yield
    except _UNREADABLE as error:
        reason = str(error) or "it ends too early"
        raise ArchiveError(f"This is not a zip file that can be read ({reason}).") from None


def members_of(archive: zipfile.ZipFile) -> tuple[str, Members]:
    """The name of the model's folder in it (or an empty string), and the files by their path in that folder.

    What operating systems put into zip files of their own accord is left out.

    Raises:
        ArchiveError: there are too many files, one of them twice, one beside the folder, or one whose path leads out.
    """
    entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    if len(entries) > MAX_FILES:
        raise ArchiveError(f"The zip file contains {len(entries):,} files; a model has at most {MAX_FILES}.")
    for entry in entries:  # before the folder is looked for: a path beside it would make all others look misplaced
        _check_path(entry, entry.filename)
    entries = [entry for entry in entries if not _LITTER.fullmatch(entry.filename)]
    wanted = _folder([entry.filename for entry in entries])
    members: Members = {}
    for entry in entries:
        if wanted and not entry.filename.startswith(f"{wanted}/"):
            raise ArchiveError(
                f"The zip file contains {entry.filename!a} beside the folder {wanted!a}; pack the folder alone."
            )
        name = entry.filename.removeprefix(f"{wanted}/") if wanted else entry.filename
        if name in members:
            raise ArchiveError(f"The zip file contains {name} twice.")
        members[name] = entry
    return wanted, members


def _folder(names: Sequence[str]) -> str:
    """The folder that holds the only configuration, or everything; an empty string if there is none."""
    places = [name.split("/") for name in names]
    configured = {place[0] for place in places if len(place) == 2 and place[1] == _CONFIG}
    if len(configured) == 1 and _CONFIG not in names:
        return configured.pop()
    tops = {place[0] for place in places}
    return tops.pop() if len(tops) == 1 and all(len(place) > 1 for place in places) else ""


def check_entry(entry: zipfile.ZipInfo, name: str, *, known: bool) -> None:
    """Refuse a file that an exported model does not have, or that is not what it says.

    Raises:
        ArchiveError: the message names the file.
    """
    shown = ascii(entry.filename)
    _check_kind_and_path(entry, name)
    if Path(name).suffix.lower() in (".pt", ".pth", ".bin", ".pkl", ".pickle", ".ckpt"):
        raise ArchiveError(
            f"The zip file contains {shown}, a pickle, which could run code; only .safetensors is allowed."
        )
    if not known:
        raise ArchiveError(f"The zip file contains {shown}, which does not belong to a model folder.")
    check_kind_and_size(entry, name)


def check_kind_and_size(entry: zipfile.ZipInfo, name: str, *, opened: bool = True) -> None:
    """Refuse a file that is a link or a device or leads out of the folder, or, if it is to be `opened`, is too large.

    Raises:
        ArchiveError: the message names the file.
    """
    shown = ascii(entry.filename)
    _check_kind_and_path(entry, name)
    if not opened:
        return
    if entry.file_size > MAX_RATIO * max(entry.compress_size, 1024):
        raise ArchiveError(
            f"The zip file's {shown} becomes more than {MAX_RATIO} times as large when unpacked; it is refused."
        )
    if not name.endswith(".safetensors") and entry.file_size > MAX_TEXT_BYTES:
        raise ArchiveError(f"The zip file's {shown} is larger than {MAX_TEXT_BYTES >> 20} MB.")


def _check_kind_and_path(entry: zipfile.ZipInfo, name: str) -> None:
    shown = ascii(entry.filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise ArchiveError(f"The zip file contains {shown}, which is a link or a device; only plain files are allowed.")
    _check_path(entry, name)


def _check_path(entry: zipfile.ZipInfo, name: str) -> None:
    if name.startswith(("/", "\\")) or ":" in name or "\\" in name or ".." in name.split("/"):
        shown = ascii(entry.filename)
        raise ArchiveError(f"The zip file contains {shown}, a path that leads out of the model's folder.")


def check_total(members: Members) -> None:
    """Refuse files that together unpack to too much."""
    if sum(entry.file_size for entry in members.values()) > MAX_BYTES:
        raise ArchiveError(f"The zip file unpacks to more than {MAX_BYTES >> 30} GB, which is too much.")


def unpack(archive: zipfile.ZipFile, members: Members, folder: Path) -> None:
    """Write files into a folder, counting the bytes that come out.

    Raises:
        ArchiveError: a file is larger than the archive says, or cannot be read.
    """
    remaining = MAX_BYTES
    for name, member in members.items():
        remaining = _unpack(archive, member, folder / name, remaining)


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, remaining: int) -> int:
    """Write one file, counting the bytes that come out; returns how many bytes the remaining files may have."""
    path.parent.mkdir(exist_ok=True)
    limit = min(remaining, member.file_size)
    with readable():
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
        with readable():
            block = file.read(_BLOCK)
        if not block:
            return
        yield block
