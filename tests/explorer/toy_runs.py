"""Run folders for tests of the app: a toy model, curves, snapshots and a state, all written by hand."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

from model.checkpoint import load_model, snapshot_path, stored_weights, write_weights
from model.folder import CONFIG, METRICS, SNAPSHOTS, STATUS
from tests.explorer.toy_models import save_toy


def train_line(step: int, loss: float, **more: Any) -> dict[str, Any]:
    line = {"kind": "train", "step": step, "epoch": 0, "seconds": step / 10, "loss": loss, "nll": loss, "lr": 1e-3}
    line["grad_norm"] = 1.0
    return line | {"tokens_per_s": 5000.0} | more


def eval_line(step: int, loss: float, exact: float, **more: Any) -> dict[str, Any]:
    sample = {"source": "abc", "target": "cba", "prediction": f"at {step}"}
    line = {"kind": "eval", "step": step, "epoch": 0, "seconds": step / 10, "loss": loss, "sentences": 8}
    return line | {"exact_match": exact, "token_accuracy": exact, "samples": [sample]} | more


LINES = (
    train_line(10, 3.0),
    eval_line(10, 2.9, 0.0),
    train_line(20, 2.0),
    eval_line(20, 1.9, 0.25),
    train_line(30, 1.0),
    eval_line(30, 1.2, 0.5),
)


def write_metrics(folder: Path, lines: Sequence[Mapping[str, Any]] = LINES) -> Path:
    path = folder / METRICS
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def write_status(folder: Path, state: str, **values: Any) -> None:
    """Write status.json, which names this process."""
    me = psutil.Process()
    known = {"state": state, "pid": os.getpid(), "started": me.create_time(), "error": None, "updated": 2e9}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / STATUS).write_text(json.dumps(known | {"step": 30, "max_steps": 60} | values), encoding="utf-8")


def write_snapshots(folder: Path, steps: Sequence[int]) -> None:
    """Snapshots that all differ: the final weights, scaled down more the earlier the snapshot is."""
    weights = stored_weights(load_model(folder).model)
    (folder / SNAPSHOTS).mkdir(exist_ok=True)
    for step in steps:
        scaled = {name: tensor * (0.2 + 0.8 * step / max(1, *steps)) for name, tensor in weights.items()}
        write_weights(snapshot_path(folder, step), scaled, half=True)


def save_run(
    folder: Path, task: str = "reverse", *, state: str = "finished", steps: Sequence[int] = (0, 10, 30)
) -> Path:
    """A run that looks as if it had been trained for 30 steps."""
    save_toy(folder, task)
    config = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    scores = {"exact_match": 0.5, "token_accuracy": 0.5, "loss": 1.2, "sentences": 8}
    config["results"] = {"step": 30, "trained_steps": 30, "split": "test", "valid": scores, "test": scores}
    (folder / CONFIG).write_text(json.dumps(config), encoding="utf-8")
    write_metrics(folder)
    write_status(folder, state)
    write_snapshots(folder, steps)
    return folder
