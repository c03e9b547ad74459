"""Read arrays from untrusted files: sizes are checked before anything is allocated, and nothing is unpickled."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Collection
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from model.user_error import UserError

_MAX_LABEL = 2000  # characters of a token in a file
_MAX_MEMBERS = 1000


class FileError(UserError):
    """The file has no usable arrays; the message says why."""


def read_npz(
    content: bytes, *, texts: Collection[str], numbers: Collection[str], max_numbers: int, max_texts: int
) -> dict[str, NDArray[Any]]:
    """The arrays of an `.npz` file that have one of the given names; no others are opened.

    `max_numbers` limits the total of all numbers, `max_texts` the entries of each list of strings.

    Raises:
        FileError: the file is not an archive of arrays, is damaged or too large, or holds objects or other types.
    """
    arrays: dict[str, NDArray[Any]] = {}
    remaining = max_numbers
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
            if len(names) > _MAX_MEMBERS:
                raise FileError(
                    "it holds {names} files; at most {max_members} are allowed.",
                    names=len(names),
                    max_members=_MAX_MEMBERS,
                )
            for name in (*texts, *numbers):
                if f"{name}.npy" not in names:
                    continue
                with archive.open(f"{name}.npy") as member:
                    if name in texts:
                        arrays[name] = _texts_of(name, _array(member, name, "US", max_texts, 4 * _MAX_LABEL), max_texts)
                    else:
                        arrays[name] = _array(member, name, "buif", remaining, 8)
                        remaining -= arrays[name].size
    except FileError:
        raise
    except Exception as error:  # zipfile, zlib and numpy raise a dozen types for truncated, damaged or foreign files
        [reason, *_] = str(error)[:120].splitlines() or [type(error).__name__]
        raise FileError("it is not a readable .npz file ({reason}).", reason=reason) from None
    return arrays


def _array(member: IO[bytes], name: str, kinds: str, max_entries: int, max_bytes: int) -> NDArray[Any]:
    """One `.npy` file of an archive; at most `max_entries` of at most `max_bytes` each are read."""
    version = np.lib.format.read_magic(member)
    if version not in ((1, 0), (2, 0)):
        raise FileError("{name} has an unknown .npy version.", name=name)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(member)
    if dtype.hasobject or dtype.kind not in kinds or dtype.itemsize > max_bytes:
        sort = str(dtype)[:40]
        if "U" in kinds:
            raise FileError("{name} must hold strings of bounded length, not {dtype}.", name=name, dtype=sort)
        raise FileError("{name} must hold numbers of at most 64 bits, not {dtype}.", name=name, dtype=sort)
    if any(length < 0 for length in shape):
        raise FileError("{name} has an axis of negative length.", name=name)
    count = math.prod(shape)
    if count > max_entries:
        if count >= 10**15:
            raise FileError(
                "{name} declares far too many entries, but only {max_entries:,} fit.",
                name=name,
                max_entries=max_entries,
            )
        raise FileError(
            "{name} declares {declared:,} entries, but only {max_entries:,} fit.",
            name=name,
            declared=count,
            max_entries=max_entries,
        )
    size = count * dtype.itemsize
    raw = member.read(size)
    if len(raw) != size:
        raise FileError("{name} is truncated.", name=name)
    return np.frombuffer(raw, dtype).reshape(shape, order="F" if fortran else "C")


def _texts_of(name: str, array: NDArray[Any], max_entries: int) -> NDArray[Any]:
    if array.ndim != 1:
        raise FileError("{name} must be a plain list of strings, but has {ndim} axes.", name=name, ndim=array.ndim)
    try:
        entries = array.tolist()
    except SystemError:  # raised by Python for a number that is no code point
        raise FileError("{name} holds numbers that are not characters.", name=name) from None
    return _texts(name, [e.decode("utf-8", "replace") if isinstance(e, bytes) else e for e in entries], max_entries)


def _texts(name: str, entries: Any, max_entries: int) -> NDArray[Any]:
    """A list of strings as an array of objects; fixed-width strings would lose trailing zero characters."""
    if not isinstance(entries, list) or not all(isinstance(entry, str) for entry in entries):
        raise FileError("{name} must be a plain list of strings.", name=name)
    if len(entries) > max_entries:
        raise FileError(
            "{name} has {entries:,} tokens; at most {max_entries:,} are shown.",
            name=name,
            entries=len(entries),
            max_entries=max_entries,
        )
    # Lone surrogates are not valid text and could not be sent to the browser.
    clean = [entry[:_MAX_LABEL].encode("utf-8", "replace").decode("utf-8") for entry in entries]
    array = np.empty(len(clean), dtype=object)
    array[:] = clean
    return array


def read_json(
    content: bytes, *, texts: Collection[str], numbers: Collection[str], max_numbers: int, max_texts: int
) -> dict[str, NDArray[Any]]:
    """Read the same arrays from a JSON object of nested lists; the length of the file limits their size.

    Raises:
        FileError: the file is not a JSON object, or a list is not rectangular, is too long, or holds other values.
    """
    try:
        values = json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise FileError("it is neither an .npz file nor JSON text in UTF-8.") from None
    except (ValueError, RecursionError) as error:
        raise FileError("it is neither an .npz file nor JSON ({error}).", error=str(error)[:120]) from None
    if not isinstance(values, dict):
        raise FileError("its JSON is not an object of named arrays.")
    arrays: dict[str, NDArray[Any]] = {}
    remaining = max_numbers
    for name in (*texts, *numbers):
        if name not in values:
            continue
        if name in texts:
            arrays[name] = _texts(name, values[name], max_texts)
            continue
        arrays[name] = _numbers(name, values[name])
        remaining -= arrays[name].size
        if remaining < 0:
            raise FileError("its arrays hold more than {max_numbers:,} numbers.", max_numbers=max_numbers)
    return arrays


def _numbers(name: str, value: Any) -> NDArray[np.float64]:
    if not isinstance(value, list):
        raise FileError("{name} must be nested lists of numbers.", name=name)
    try:
        return np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise FileError("{name} must be nested lists of numbers of equal length.", name=name) from None
