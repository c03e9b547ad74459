"""Reads a page that stands alone as its browser does, for tests."""

import base64
import re
import zlib
from typing import Any

import numpy as np

from explorer.browser import wire
from model.config import ATTENTION_KINDS


def parts_of(html: str) -> tuple[str, dict[str, Any], dict[str, np.ndarray]]:
    """The program, the header, and a message for each recording."""
    (packed,) = re.findall(r'id="packed">([^<]*)<', html)
    content = zlib.decompress(base64.b64decode(packed))
    length = int.from_bytes(content[:4], "little")
    return content[4 : 4 + length].decode(), *wire.read(content[4 + length :])


def header_of(html: str) -> dict[str, Any]:
    return parts_of(html)[1]


def decoding_of(html: str, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = message_of(html, number)[0]["decoding"]
    return found


def message_of(html: str, number: int = 0) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return wire.read(parts_of(html)[2][f"{number}"].tobytes())


def weights_of(html: str, number: int = 0) -> dict[str, np.ndarray]:
    """The weights [layer, head, query, key] of one recording, by kind."""
    _, arrays = message_of(html, number)
    return {kind: arrays[kind] for kind in ATTENTION_KINDS if kind in arrays}
