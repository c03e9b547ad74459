"""Find a user's own models that repeat a run of an experiment, by the settings in their folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.runs.experiment_arms import METRICS, ArmRuns
from explorer.runs.metrics import Metrics
from explorer.runs.settings import DEFAULTS, KINDS, value_of
from model.config import TrainConfig
from model.experiments.recipe import SPARING, Recipe
from model.folder import CheckpointError, read_config
from model.presets import PRESETS

# Settings that are not compared: how often something is written, and the seed, which is stored separately.
_NOT_COMPARED = frozenset((*SPARING, "log_every", "snapshot_megabytes", "seed"))


@dataclass(frozen=True)
class Rerun:
    """A model with the settings of one variant: its name, the variant's label, its seed, and its metrics."""

    name: str
    variant: str
    seed: int
    metrics: Metrics

    def curve(self, measure: str) -> tuple[list[float], list[float]]:
        """Updates and values of one measure on validation; exact match in percent."""
        factor = METRICS[measure].factor if measure in METRICS else 1.0
        points = [point for point in self.metrics.evals if measure in point]
        return [point["step"] for point in points], [factor * point[measure] for point in points]


def reruns(arms: Sequence[ArmRuns], folders: Sequence[Path], read: Callable[[Path], Metrics]) -> list[Rerun]:
    """Find the model folders that were trained with the settings of an arm and evaluated at least once.

    `read` loads the metrics of a folder. A run with further training pairs, initial weights, a first part or further
    updates does not match, unless the arm has the same pairs and weights. Unreadable folders are left out: the Runs
    page says what is wrong with them.
    """
    matching = []
    for folder in folders:
        try:
            config = read_config(folder)
        except CheckpointError:
            continue
        arm = next((arm for arm in arms if _is_of(config, arm.recipe)), None)
        seed = config["training"].get("seed", TrainConfig().seed)
        if arm is not None and isinstance(seed, int) and (metrics := read(folder)).evals:
            matching.append(Rerun(folder.name, arm.label, seed, metrics))
    return matching


def _is_of(config: Mapping[str, Any], recipe: Recipe) -> bool:
    given = config.get("set")
    if not isinstance(given, dict) or config.get("first") or config.get("extended"):
        return False
    entries = config.get("added_data") or ()
    added = tuple(str(entry.get("file") if isinstance(entry, dict) else entry) for entry in entries)
    origin = (config["data"].get("task"), config.get("preset"), config.get("init") or "", added)
    if origin != (recipe.base.task, recipe.preset, recipe.base.start, recipe.added):
        return False
    try:
        return _changes(given, recipe.preset) == _changes(recipe.settings, recipe.preset)
    except ValueError:
        return False  # an invalid value


def _changes(given: Mapping[str, str], preset: str) -> dict[str, Any]:
    """The compared settings, as values, that differ from the preset."""
    usual = {**DEFAULTS, **PRESETS[preset].model, **PRESETS[preset].training}
    seen = {name: text for name, text in given.items() if name in KINDS and name not in _NOT_COMPARED}
    values = {name: value_of(KINDS[name], str(text)) for name, text in seen.items()}
    return {name: value for name, value in values.items() if value != usual.get(name)}
