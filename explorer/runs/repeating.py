"""Whether and how a model can be trained again, or longer: what its folder says of the run that made it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path
from typing import Any

from explorer.locale.text import listed
from explorer.runs.status import RunStatus
from model.config import TrainConfig, with_current_names
from model.folder import STATE, STATUS, CheckpointError, read_config, read_json

_SEED = TrainConfig().seed
_DEVICES = {"cpu": "the CPU", "cuda": "a GPU", "mps": "Apple's GPU"}


@dataclass(frozen=True)
class Repeatable:
    """A run that can be trained again.

    `steps` are its updates so far; `can_go_on`: its state was saved, so that it can be trained longer. `computed` says
    on what it was computed; `missing`, what it was trained from that is not here any more, in a sentence.
    """

    seed: int
    steps: int
    schedule: str
    can_go_on: bool
    computed: str
    missing: str = ""

    @property
    def next_seed(self) -> int:
        """Another seed than the run's own."""
        return self.seed + 1

    @property
    def longer_sentence(self) -> str:
        """What happens to the learning rate of a run that is trained longer."""
        if self.schedule == "cosine":
            return (
                "The rate goes back up to where a run of this length would be, and falls again: for a while the loss "
                "may rise."
            )
        return "The rate goes on as in a run that was this long from the start: the weights will be the same."


def repeatable(folder: Path, status: RunStatus | None) -> Repeatable | None:
    """What is needed to train this model again; None for one that does not say how it was trained."""
    try:
        config = read_config(folder)
    except CheckpointError:
        return None
    given, training = config.get("set"), config.get("training")
    if not isinstance(config.get("preset"), str) or not isinstance(given, dict) or not isinstance(training, dict):
        return None
    training = with_current_names(training)
    results = config.get("results")
    made = results.get("trained_steps") if isinstance(results, dict) else None
    steps = status.step if status is not None and status.step else made
    finished = status is not None and status.state == "finished"
    return Repeatable(
        seed=_whole(training.get("seed"), _SEED),
        steps=_whole(steps, 0),
        schedule=str(training.get("schedule", "")),
        can_go_on=finished and (folder / STATE / "state.json").is_file(),
        computed=computed_sentence(config.get("runtime")),
        missing=_missing(folder, config),
    )


def _missing(folder: Path, config: Mapping[str, Any]) -> str:
    """What a run was trained from and that is not here: another model's weights, or files of further pairs."""
    lost = []
    init = config.get("init")
    if isinstance(init, str) and not config.get("first") and not (folder.parent / init).is_dir():
        lost.append(f"the weights of '{init}'")
    added = config.get("added_data")
    names = [str(entry.get("file")) for entry in added if isinstance(entry, dict)] if isinstance(added, list) else []
    if names and not _added_are_here(folder):
        lost.append(f"the pairs in {listed(names)}")
    if not lost:
        return ""
    return f"It was trained from {listed(lost)}, which are not here. Its card names the command that makes everything."


def _added_are_here(folder: Path) -> bool:
    try:
        paths = read_json(folder / STATUS).get("added_data")
    except CheckpointError:
        return False  # a model without a run, or with a damaged one: nobody knows where its files were
    return isinstance(paths, list) and bool(paths) and all(isinstance(path, str) and isfile(path) for path in paths)


def _whole(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53 else otherwise


def computed_sentence(runtime: Any) -> str:
    """Device, precision, threads and PyTorch's version of a run; empty where they are not known."""
    if not isinstance(runtime, dict) or not runtime.get("settled"):
        return ""
    device = _DEVICES.get(str(runtime.get("device", "cpu")).partition(":")[0], "another device")
    threads = _whole(runtime.get("threads"), 1)
    parts = [f"Computed on {device} in {runtime.get('precision')} with {threads} thread{'' if threads == 1 else 's'}"]
    processes = _whole(runtime.get("processes"), 1)
    parts += [f"{processes} processes"] if processes > 1 else []
    parts += ["compiled"] if runtime.get("compile") else []
    return ", ".join([*parts, f"PyTorch {runtime.get('torch_version', '(version not stored)')}"]) + "."
