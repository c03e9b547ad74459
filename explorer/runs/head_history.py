"""Follow how heads form: attention in one sentence at each snapshot of a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from model.checkpoint import load_model, snapshot_path
from model.config import DecodeConfig
from model.decoding.decode import decode_recorded
from model.folder import CheckpointError
from model.trace import AttentionTrace


@dataclass(frozen=True, eq=False)
class Moment:
    """A sentence at one snapshot: the attention along a fixed target, and the snapshot's own translation."""

    step: int
    trace: AttentionTrace
    own_text: str


def stamp(folder: Path, step: int) -> str:
    """A text that changes when the snapshot of this step changes, for cache keys.

    Raises:
        CheckpointError: the snapshot no longer exists.
    """
    try:
        status = snapshot_path(folder, step).stat()
    except OSError:
        raise CheckpointError(
            "Step {step:,} of “{name}” is no longer here: the run was deleted or renamed. Choose another one.",
            step=step,
            name=folder.name,
        ) from None
    return f"{step}-{status.st_mtime_ns}-{status.st_size}"


def moment(folder: Path, step: int, text: str, path: Sequence[int]) -> Moment:
    """Record the attention of a snapshot in `text` along the target ids in `path`, and its own greedy translation.

    Raises:
        CheckpointError: the snapshot no longer exists, or is damaged.
    """
    loaded = load_model(folder, snapshot=step)
    source = loaded.source.encode(text)
    forced = decode_recorded(loaded.model, source, loaded.target, DecodeConfig(), prefix=path)
    own = decode_recorded(loaded.model, source, loaded.target, DecodeConfig())
    return Moment(step, forced.trace, loaded.target.decode(own.path))
