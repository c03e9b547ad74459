"""The resumable state of a run (weights, optimiser moments, progress), saved so that a kill cannot corrupt it.

state/step-00000200.safetensors holds the tensors; state/state.json names that file and is replaced last, atomically,
so that it always names a complete file.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import safetensors.torch
from safetensors import SafetensorError
from torch import Tensor

from model.checkpoint import write_weights
from model.config import FORMAT_VERSION
from model.file_formats import Count, Line, Seconds
from model.folder import STATE, CheckpointError, label, read_json, tensor_shapes, write_json

STATE_JSON = "state.json"


@dataclass
class Progress:
    """The progress of a run after `step` updates.

    `epoch` and `update` identify the next batches; `evaluated` is the last evaluated step; `best` the best scores so
    far; `waited` the number of evaluations since then; `right` the number of evaluations in a row, up to now, with
    everything right; `latest` the newest scores, kept where weights are averaged;
    `recent` the steps whose weights are averaged; `loss`, `nll` and `target_tokens` the sums of all processes
    since the last log line.
    """

    step: Count = 0
    epoch: Count = 0
    update: Count = 0
    evaluated: Count = 0
    best: dict[str, Any] = field(default_factory=dict)
    waited: Count = 0
    right: Count = 0
    latest: dict[str, Any] = field(default_factory=dict)
    recent: list[Count] = field(default_factory=list)
    seconds: Seconds = 0.0
    tokens: Count = 0
    loss: float = 0.0
    nll: float = 0.0
    target_tokens: Count = 0


@dataclass
class SavedState:
    """The content of state.json: the progress, and the name of the file with the tensors."""

    progress: Progress
    tensors: Line


def save_state(folder: Path, progress: Progress, tensors: Mapping[str, Tensor]) -> None:
    """Save everything that a resumed run needs, then delete the previous state."""
    directory = folder / STATE
    directory.mkdir(exist_ok=True)
    path = directory / f"step-{progress.step:08d}.safetensors"
    write_weights(path, tensors)
    write_json(
        directory / STATE_JSON,
        {"format_version": FORMAT_VERSION, "tensors": path.name, "progress": dataclasses.asdict(progress)},
    )
    for old in directory.glob("step-*.safetensors"):
        if old != path:
            old.unlink()
    for step_file in directory.glob("recent-*.safetensors"):
        if int(step_file.stem.removeprefix("recent-")) not in progress.recent:
            step_file.unlink()


def saved_progress(folder: Path) -> Progress | None:
    """The progress from which a resumed run continues, or None if the run ended before its first save.

    Raises:
        CheckpointError: the state is damaged or from a newer version.
    """
    state = _saved_state(folder)
    return None if state is None else state.progress


def load_state(folder: Path) -> tuple[Progress, dict[str, Tensor]] | None:
    """The saved state, or None if the run ended before its first save.

    Raises:
        CheckpointError: the state is damaged or from a newer version.
    """
    state = _saved_state(folder)
    if state is None:
        return None
    progress, tensors_path = state.progress, folder / STATE / Path(state.tensors).name
    tensor_shapes(tensors_path)  # raises a CheckpointError if the file is damaged
    try:
        return progress, safetensors.torch.load_file(tensors_path)
    except (SafetensorError, OSError) as error:
        raise CheckpointError("{label} cannot be read: {error}.", label=label(tensors_path), error=error) from None


def _saved_state(folder: Path) -> SavedState | None:
    path = folder / STATE / STATE_JSON
    if not path.is_file():
        return None
    saved = read_json(path)
    if saved.get("format_version") != FORMAT_VERSION:
        raise CheckpointError("{label} was written by another version of this program; train again.", label=label(path))
    try:
        return msgspec.convert(saved, SavedState)
    except msgspec.ValidationError:
        raise CheckpointError("{label} is damaged; train again with --overwrite.", label=label(path)) from None


def recent_path(folder: Path, step: int) -> Path:
    """The file with the weights of an evaluated step, for averaging."""
    return folder / STATE / f"recent-{step:08d}.safetensors"
