"""The watched sentence of a run: its attention is recorded at each evaluation.

The page writes probe.json ({"source": "…"}) into the run folder; the trainer answers with probe.npz, an attention file.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Sequence
from pathlib import Path

from model.architectures import Model
from model.config import DecodeConfig
from model.data.task import Example, Task
from model.decoding.decode import decode_recorded
from model.folder import PROBE, PROBE_ANSWER, replace_file, write_json
from model.text.tokenizer import Tokenizer

MAX_PROBE_BYTES = 10_000
MAX_SUGGESTED = 300  # characters; the maps of longer sentences are unreadable


def suggested_probe(task: Task, valid: Sequence[Example]) -> str:
    """The sentence to watch until another is chosen: the first example of the task, or a typical validation source."""
    if task.examples:
        return task.examples[0].source
    by_length = sorted((example.source for example in valid), key=len)
    return by_length[len(by_length) // 2][:MAX_SUGGESTED]


def ask_probe(folder: Path, text: str) -> None:
    """Ask for the attention in this sentence at each evaluation."""
    write_json(folder / PROBE, {"source": text})


def read_probe(folder: Path) -> str | None:
    """The requested sentence, or None if there is no valid request."""
    path = folder / PROBE
    try:
        if path.stat().st_size > MAX_PROBE_BYTES:
            return None
        asked = json.loads(path.read_text(encoding="utf-8"))
        text = asked.get("source") if isinstance(asked, dict) else None
        sensible = isinstance(text, str) and text.strip() and text.encode()  # encode() raises for lone surrogates
    except (OSError, ValueError, RecursionError):
        return None
    return text if sensible else None


def answer_probe(folder: Path, model: Model, source: Tokenizer, target: Tokenizer) -> bool:
    """Write probe.npz for the requested sentence; False if there is none or it is too long."""
    text = read_probe(folder)
    if text is None:
        return False
    encoding = source.encode(text)
    if not 0 < len(encoding) < model.config.max_positions:
        return False
    twin = copy.deepcopy(model).cpu().eval()  # recorded in float32 on the CPU, as on the pages
    trace = decode_recorded(twin, encoding, target, DecodeConfig()).trace
    temporary = folder / f".{PROBE_ANSWER}.{os.getpid()}.tmp"
    trace.save_npz(temporary)
    replace_file(temporary, folder / PROBE_ANSWER)
    return True
