"""Reads a page that stands alone as its browser does, for tests."""

from __future__ import annotations

import base64
import json
import re
import struct
import zlib
from typing import Any

import numpy as np

from model.config import ATTENTION_KINDS


def parts_of(html: str) -> tuple[str, dict[str, Any], bytes]:
    """The program, the header and what follows it."""
    (packed,) = re.findall(r'id="packed">([^<]*)<', html)
    content = zlib.decompress(base64.b64decode(packed))
    (length,) = struct.unpack_from("<I", content)
    program, data = content[4 : 4 + length].decode(), content[4 + length :]
    (length,) = struct.unpack_from("<I", data)
    return program, json.loads(data[4 : 4 + length]), data[4 + length :]


def header_of(html: str) -> dict[str, Any]:
    return parts_of(html)[1]


def weights_of(html: str, number: int = 0) -> dict[str, np.ndarray]:
    """The weights [layer, head, query, key] of one recording, by kind."""
    _, header, body = parts_of(html)
    sizes = [[one["maps"][kind] for kind in ATTENTION_KINDS] for one in header["recordings"]]
    at, masks = 0, []
    for maps in sizes:
        masks.append([])
        for m in maps:
            area = m["queries"] * m["keys"]
            masks[-1].append(np.frombuffer(body, np.uint8, area, at).reshape(m["queries"], m["keys"]))
            at += area
    width = header["width"]
    words = np.ascontiguousarray(np.frombuffer(body, np.uint8, -1, at).reshape(width, -1).T).view(f"<u{width}").ravel()
    stored, at = [], 0
    for maps, seen in zip(sizes, masks, strict=True):
        stored.append([])
        for m, mask in zip(maps, seen, strict=True):
            count = (mask.size if m["whole"] else int((mask == 0).sum())) * m["layers"] * m["heads"]
            stored[-1].append(words[at : at + count].copy())
            at += count
    assert at == len(words)
    found = {}
    for i, kind in enumerate(ATTENTION_KINDS):
        numbers, base, m, mask = stored[number][i], stored[0][i], sizes[number][i], masks[number][i]
        if number:
            shared = min(len(numbers), len(base))
            numbers[:shared] ^= base[:shared]
        chosen = np.ones_like(mask, bool) if m["whole"] else mask == 0
        values = numbers.view("<f4") if header["digits"] is None else numbers / 10 ** header["digits"]
        weights = np.zeros((m["layers"], m["heads"], m["queries"], m["keys"]), np.float32)
        weights[..., chosen] = values.reshape(int(chosen.sum()), m["layers"], m["heads"]).transpose(1, 2, 0)
        found[kind] = weights
    return found
