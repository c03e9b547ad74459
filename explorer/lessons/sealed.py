"""Hide right answers from a glance at the source of a page: hashed, or as text that a page can decode.

The browser does the same in js/lesson_checks.js. Whoever reads that script can decode the text.
"""

from __future__ import annotations

import base64

_START, _FACTOR, _MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


def hashed(salt: str, text: str) -> str:
    """Hash a normalised answer, as 16 hexadecimal digits."""
    return format(fnv(f"{salt}\n{text}".encode()), "016x")


def fnv(content: bytes) -> int:
    """The FNV-1a hash of 64 bits."""
    value = _START
    for byte in content:
        value = (value ^ byte) * _FACTOR & _MASK
    return value


def sealed(salt: str, text: str) -> str:
    """Encode a text so that it is not legible; :func:`opened` decodes it."""
    return base64.b64encode(_mixed(salt, text.encode())).decode()


def opened(salt: str, text: str) -> str:
    """Decode a sealed text."""
    return _mixed(salt, base64.b64decode(text)).decode()


def _mixed(salt: str, content: bytes) -> bytes:
    """Combine each byte with one of the hashes of the numbers of the blocks of eight bytes."""
    keys = b"".join(bytes.fromhex(hashed(salt, f"{block}")) for block in range(len(content) // 8 + 1))
    return bytes(byte ^ key for byte, key in zip(content, keys, strict=False))
