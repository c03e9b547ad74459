"""The format of all data sent to the browser: a header in JSON, then raw arrays.

A message is, in this order:

- 4 bytes: length of the header in bytes, unsigned, little-endian;
- the header: JSON in ASCII, padded with spaces so that what follows starts at a multiple of 4. Its field `arrays` lists
  the arrays that follow: [name, type, shape, unit];
- the arrays, row-major, each padded to a multiple of 4 bytes. The type is `f4` (float32), `u2` or `u1`, little-endian;
  a number stands for itself divided by `unit`, which is 1 for `f4`.

`js/wire.js` reads it. Reading and writing need only json and numpy.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = Mapping[str, NDArray[Any]]
_TYPES = {"f4": "<f4", "u2": "<u2", "u1": "u1"}


def write(header: Mapping[str, Any], arrays: Arrays, *, digits: int | None = None) -> bytes:
    """Write a header and named arrays as one message. Dataclasses in the header are written field by field.

    Floats become float32, or with `digits`, two-byte numbers with so many decimals, at most 4; bytes stay bytes.

    Raises:
        ValueError: a float is not a number, or not within 0 to 1 where `digits` are asked for.
    """
    listed, blocks = [], []
    for name, array in arrays.items():
        kind, unit, stored = _stored(name, array, digits)
        content = np.ascontiguousarray(stored, dtype=_TYPES[kind]).tobytes()
        listed.append([name, kind, list(array.shape), unit])
        blocks.append(content + b"\0" * (-len(content) % 4))
    header = {**header, "arrays": listed}
    text = json.dumps(header, separators=(",", ":"), allow_nan=False, default=vars).encode("ascii")
    text += b" " * (-len(text) % 4)
    return struct.pack("<I", len(text)) + text + b"".join(blocks)


def read(message: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the header and the arrays of a message; two-byte numbers come back as float32.

    Raises:
        ValueError: the message is cut short or too long.
    """
    (length,) = struct.unpack_from("<I", message)
    header = json.loads(message[4 : 4 + length])
    arrays: dict[str, NDArray[Any]] = {}
    at = 4 + length
    for name, kind, shape, unit in header.pop("arrays"):
        stored = np.frombuffer(message, _TYPES[kind], int(np.prod(shape)), at).reshape(shape)
        arrays[name] = stored if unit == 1 else (stored / unit).astype(np.float32)
        at += stored.nbytes + -stored.nbytes % 4
    if at != len(message):
        raise ValueError(f"This message should have {at} bytes but has {len(message)}.")
    return header, arrays


def _stored(name: str, array: NDArray[Any], digits: int | None) -> tuple[str, int, NDArray[Any]]:
    """The form in which an array is stored: type, unit, numbers."""
    if array.dtype == np.uint8:
        return "u1", 1, array
    if digits is None:
        return "f4", 1, array
    if not (np.isfinite(array).all() and (array >= 0).all() and (array <= 1).all()):
        raise ValueError(f"{name} holds a number outside 0 to 1.")
    return "u2", 10**digits, np.rint(array.astype(np.float64) * 10**digits)
