"""The sentence that somebody watches: its attention is recorded anew at each evaluation.

The page writes probe.json ({"source": "…"}) into the run folder; the trainer answers with probe.npz, an attention file.
"""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path

from model.architectures import Model
from model.config import DecodeConfig
from model.decoding.decode import decode_recorded
from model.folder import PROBE, PROBE_ANSWER, replace_file
from model.text.tokenizer import Tokenizer

MAX_PROBE_BYTES = 10_000


def read_probe(folder: Path) -> str | None:
    """The sentence asked for, or None where there is none (a request that makes no sense is no request)."""
    path = folder / PROBE
    try:
        if path.stat().st_size > MAX_PROBE_BYTES:
            return None
        asked = json.loads(path.read_text(encoding="utf-8"))
        text = asked.get("source") if isinstance(asked, dict) else None
        sensible = isinstance(text, str) and text.strip() and text.encode()  # half a surrogate pair is no text
    except (OSError, ValueError, RecursionError):
        return None
    return text if sensible else None


def answer_probe(folder: Path, model: Model, source: Tokenizer, target: Tokenizer) -> bool:
    """Write probe.npz for the sentence asked for; False where nobody asked or the sentence is too long."""
    text = read_probe(folder)
    if text is None:
        return False
    encoding = source.encode(text)
    if not 0 < len(encoding) < model.config.max_positions:
        return False
    twin = copy.deepcopy(model).cpu().eval()  # recording is done in float32 on the CPU, as on the page
    trace = decode_recorded(twin, encoding, target, DecodeConfig()).trace
    temporary = folder / f".{PROBE_ANSWER}.{os.getpid()}.tmp"
    trace.save_npz(temporary)
    replace_file(temporary, folder / PROBE_ANSWER)
    return True
