"""Downloads: resumed after an interruption, and used only if their SHA-256 is the expected one."""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import IO

from tqdm import tqdm

from model.data.task import DataError

TIMEOUT_SECONDS = 20.0
ABANDONED_SECONDS = 60.0  # a partial file untouched for this long was left behind by a process that died
_BLOCK = 1 << 16


def download(url: str, path: Path, sha256: str) -> None:
    """Download `url` to `path` with a progress bar, unless `path` exists; several processes may do so at once.

    Raises:
        DataError: no connection, no space, or unexpected content; a partial download is kept for the next attempt,
            unless its content is wrong.
    """
    if path.is_file():
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = _claim_part(path)
        try:
            _fetch(url, part)
            digest = hashlib.sha256(part.read_bytes()).hexdigest()
        except BaseException:
            with contextlib.suppress(
                OSError
            ):  # the partial file serves the next attempt; the first error is the one to report
                part.replace(_free_part(path))
            raise
        if digest != sha256:
            part.unlink()
            raise DataError(
                f"{url} is not the expected file (SHA-256 {digest[:12]}…, expected {sha256[:12]}…); "
                f"try again, or put the files into a folder yourself and name it with --data-dir."
            )
        part.replace(path)
    except urllib.error.HTTPError as error:
        raise DataError(f"{url} is not available (HTTP {error.code} {error.reason}); try again later.") from error
    except OSError as error:  # URLError and time-outs are OSErrors too
        reason = getattr(error, "reason", None) or error.strerror or error
        raise DataError(
            f"{path.name} could not be downloaded from {url} ({reason}); check the connection and the disk and start "
            f"again, or fetch the files elsewhere and name their folder with --data-dir."
        ) from error


def _fetch(url: str, part: Path) -> None:
    """Append the missing rest of `url` to `part`."""
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        response = urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing is missing: the last attempt broke off after its last byte
            return
        raise
    with response:
        resumed = response.status == 206
        length = response.headers.get("Content-Length")
        total = int(length) + (have if resumed else 0) if length else None
        with part.open("ab" if resumed else "wb") as file:
            _copy(response, file, name=url.rsplit("/", 1)[-1], have=have if resumed else 0, total=total)
            if total is not None and file.tell() < total:
                raise ConnectionError(f"the connection broke off after {file.tell()} of {total} bytes")


def _copy(response: IO[bytes], file: IO[bytes], *, name: str, have: int, total: int | None) -> None:
    with tqdm(desc=name, initial=have, total=total, unit="B", unit_scale=True, leave=False) as bar:
        while block := response.read(_BLOCK):
            file.write(block)
            bar.update(len(block))


def _free_part(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _claim_part(path: Path) -> Path:
    """The path of this process's own partial file, which takes over what an earlier attempt left."""
    mine = path.with_name(f"{path.name}.{os.getpid()}.part")
    for left in (_free_part(path), *path.parent.glob(f"{path.name}.*.part")):
        with contextlib.suppress(FileNotFoundError):  # another process was quicker to claim it
            if left == _free_part(path) or time.time() - left.stat().st_mtime > ABANDONED_SECONDS:
                return left.replace(mine)
    return mine
