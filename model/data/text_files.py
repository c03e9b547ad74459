"""Read text files in the encodings that people have; errors are sentences that say what is wrong."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path

from model.data.task import DataError
from model.wording import Later, later, message

MAX_BYTES = 100 * 2**20
ENCODINGS = ("windows-1252", "latin-1", "windows-1250", "windows-1251")
"""Encodings of older files, which can only be told apart by looking at the letters."""

_MARKS = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}  # byte order marks, which Windows programs write
_SAMPLE = 24  # characters around the first letter that is not ASCII
_FOREIGN = {
    b"\x1f\x8b": message("{name} is compressed; unpack it first."),
    b"PK\x03\x04": message("{name} is a spreadsheet or an archive; name it .xlsx if it is one, or unpack it."),
}


class EncodingError(DataError):
    """A text file that is not UTF-8; `samples` has a few of its letters as each possible encoding reads them."""

    def __init__(self, message: Later, samples: Mapping[str, str]) -> None:
        super().__init__(message)
        self.samples = samples


def read_bytes(path: Path) -> bytes:
    """Read a file, plain or compressed (.gz).

    Raises:
        DataError: the file is missing, damaged or too large.
    """
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(
            "{name} cannot be read ({error}); fetch the file again.", name=path.name, error=error
        ) from error
    except OSError as error:
        raise DataError(
            "{name} cannot be read ({reason}); check its name and location.",
            name=path.name,
            reason=error.strerror or error,
        ) from error
    if len(data) > MAX_BYTES:
        raise DataError(
            "{name} is larger than {max_bytes:.0f} MB; use a part of it.", name=path.name, max_bytes=MAX_BYTES / 2**20
        )
    return data


def read_text(path: Path, encoding: str | None = None) -> str:
    r"""Read a text file, plain or compressed (.gz), without its byte order mark and with \n for \r\n.

    It is UTF-8, or UTF-16 if it begins with the mark of that; `encoding` is one of `ENCODINGS` for a file that is
    neither.

    Raises:
        DataError: the file cannot be read, or is not text; the message names the line.
        EncodingError: it is in none of these encodings.
    """
    data = read_bytes(path)
    for signature, refusal in _FOREIGN.items():
        if data.startswith(signature):
            raise DataError(Later(refusal, None, {"name": path.name}))
    marked = next((name for mark, name in _MARKS.items() if data.startswith(mark)), "utf-8-sig")
    try:
        text = data.decode(marked)
    except UnicodeDecodeError as error:
        if marked != "utf-8-sig":
            raise DataError(
                "{name} begins as UTF-16 but is cut off or damaged; save it again.", name=path.name
            ) from error
        if encoding is None:
            raise _not_utf8(path.name, data, error.start) from error
        text = data.decode(encoding, errors="replace")
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise DataError("{name} is not a text file: line {line} holds a zero byte.", name=path.name, line=line)
    return text.replace("\r\n", "\n")


def _not_utf8(name: str, data: bytes, at: int) -> EncodingError:
    begin = max(data.rfind(b"\n", 0, at) + 1, at - _SAMPLE)
    part = data[begin : at + _SAMPLE].partition(b"\n")[0]
    samples: dict[str, str] = {}
    for encoding in ENCODINGS:
        sample = " ".join(part.decode(encoding, errors="replace").split())
        if sample.isprintable() and sample not in samples.values():
            samples[encoding] = sample
    line = data.count(b"\n", 0, at) + 1
    return EncodingError(
        later(
            "{name} is not UTF-8: line {line} holds the byte 0x{byte:02X}. Save it as UTF-8, or name its encoding "
            "(--encoding), which reads it as: {readings}.",
            name=name,
            line=line,
            byte=data[at],
            readings="; ".join(f"{encoding} “{sample}”" for encoding, sample in samples.items()),
        ),
        samples,
    )


def read_lines(path: Path, *, exact: bool = False, encoding: str | None = None) -> list[str]:
    """Read the lines of a text file, without empty ones at the end.

    With `exact`, these are kept, and a carriage return alone does not end a line. `splitlines` is not used, since it
    also splits at characters that occur inside sentences.
    """
    text = read_text(path, encoding)
    return text.removesuffix("\n").split("\n") if exact else text.replace("\r", "\n").rstrip("\n").split("\n")


def parallel(
    source: Path, target: Path, *, exact: bool = False, encoding: str | None = None
) -> tuple[list[str], list[str]]:
    """Read the lines of two text files that correspond line by line; `exact`, `encoding` as for :func:`read_lines`.

    Raises:
        DataError: a file cannot be read, or the numbers of lines differ.
    """
    sources, targets = (read_lines(path, exact=exact, encoding=encoding) for path in (source, target))
    if len(sources) != len(targets):
        raise DataError(
            "{source} has {sources} and {target} has {targets}; they must correspond line by line.",
            source=source.name,
            sources=later("{n} line", "{n:,} lines", n=len(sources)),
            target=target.name,
            targets=len(targets),
        )
    return sources, targets
