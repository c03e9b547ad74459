"""The watched sentence of a run: its attention is recorded at each evaluation.

The page writes probe.json ({"source": "…"}) into the run folder; the trainer answers with probe.npz, an attention file.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path

from model.architectures import Model
from model.config import DecodeConfig
from model.data.task import Example, Task
from model.decoding.decode import decode_recorded
from model.folder import PROBE, PROBE_ANSWER, CheckpointError, read_json, replacing, write_json
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
    """Request the attention in this sentence at each evaluation."""
    write_json(folder / PROBE, {"source": text})


def read_probe(folder: Path) -> str | None:
    """The requested sentence, or None if there is no valid request."""
    try:
        text = read_json(folder / PROBE, MAX_PROBE_BYTES).get("source")
    except CheckpointError:  # there is no request, or it is invalid
        return None
    return text if isinstance(text, str) and text.strip() else None


def answer_probe(folder: Path, model: Model, source: Tokenizer, target: Tokenizer) -> bool:
    """Write probe.npz for the requested sentence; False if there is none or it is too long."""
    text = read_probe(folder)
    if text is None:
        return False
    encoding = source.encode(text)
    if not 0 < len(encoding) <= model.config.longest_source:
        return False
    twin = copy.deepcopy(model).cpu().eval()  # recorded in float32 on the CPU, as on the pages
    trace = decode_recorded(twin, encoding, target, DecodeConfig()).trace
    with replacing(folder / PROBE_ANSWER) as temporary:
        trace.save_npz(temporary)
    return True
