"""Downloads: resumed after an interruption, and used only if their SHA-256 is the expected one."""

from __future__ import annotations

import hashlib
import shutil
import urllib.error
import urllib.request
from pathlib import Path

from filelock import FileLock
from tqdm import tqdm

from model.data.task import DataError

TIMEOUT_SECONDS = 20.0


def download(url: str, path: Path, sha256: str) -> None:
    """Download `url` to `path` with a progress bar, unless `path` exists; other processes wait until it does.

    Raises:
        DataError: no connection, no space, or unexpected content; a partial download is kept for the next attempt,
            unless its content is wrong.
    """
    if path.is_file():
        return
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(path.with_name(f".{path.name}.lock")):
            if path.is_file():  # another process has just downloaded it
                return
            _fetch(url, part)
            with part.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
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
        if response.status != 206:  # the server sends the whole file
            have = 0
        length = response.headers.get("Content-Length")
        total = int(length) + have if length else None
        name = url.rsplit("/", 1)[-1]
        with (
            part.open("ab" if have else "wb") as file,
            tqdm.wrapattr(file, "write", desc=name, initial=have, total=total, leave=False) as counted,
        ):
            shutil.copyfileobj(response, counted)
            if total is not None and file.tell() < total:
                raise ConnectionError(f"the connection broke off after {file.tell()} of {total} bytes")
