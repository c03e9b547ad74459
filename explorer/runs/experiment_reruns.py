"""A person's own models that were trained as a run of an experiment was, found by the settings in their folders."""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.runs.experiment_arms import METRICS, ArmRuns
from explorer.runs.metrics import Metrics
from explorer.runs.settings import defaults, value_of
from model.config import DataConfig, ModelConfig, TrainConfig
from model.experiments.recipe import SPARING, Recipe
from model.folder import CheckpointError, read_config
from model.presets import PRESETS

# Settings that change no weight and no score: how often something is written, and the seed, which is given apart.
_UNSEEN = frozenset((*SPARING, "log_every", "snapshot_megabytes", "seed"))


@dataclass(frozen=True)
class Rerun:
    """A model with the settings of one variant: its name, the variant's label, its seed, and what it has logged."""

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
    """Those of the model folders that were trained with the settings of an arm and have been evaluated at least once.

    `read` gives what a folder's run has logged. Further training pairs, an earlier part or weights to start from make
    another run, unless the arm has the same; so do further updates.
    Folders that cannot be read are left out: the Runs page says what is wrong with them.
    """
    found = []
    for folder in folders:
        try:
            config = read_config(folder)
        except CheckpointError:
            continue
        arm = next((one for one in arms if _is_of(config, one.recipe)), None)
        if arm is None:
            continue
        metrics, seed = read(folder), config["training"].get("seed", TrainConfig().seed)
        if metrics.evals and isinstance(seed, int):
            found.append(Rerun(folder.name, arm.label, seed, metrics))
    return found


def _is_of(config: Mapping[str, Any], recipe: Recipe) -> bool:
    given = config.get("set")
    if not isinstance(given, dict) or config.get("first") or config.get("extended"):
        return False
    if ((config.get("init") or ""), _added(config)) != (recipe.base.start, recipe.added):
        return False
    if (config["data"].get("task"), config.get("preset")) != (recipe.base.task, recipe.preset):
        return False
    try:
        own = _changes(given, recipe.preset)
    except ValueError:
        return False  # a value that no setting has
    return own == _changes(recipe.settings, recipe.preset)


def _added(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the files with further pairs that a folder says its model learned from."""
    entries = config.get("added_data") or ()
    return tuple(str(entry.get("file") if isinstance(entry, dict) else entry) for entry in entries)


def _changes(given: Mapping[str, str], preset: str) -> dict[str, Any]:
    """The settings, as values, that are not those of the preset anyway, without those that change nothing."""
    kinds: dict[str, Any] = {}
    usual: dict[str, Any] = {}
    for cls in (ModelConfig, DataConfig, TrainConfig):
        kinds |= typing.get_type_hints(cls)
        usual |= defaults(cls)
    usual |= {**PRESETS[preset].model, **PRESETS[preset].training}
    values = {
        name: value_of(kinds[name], str(text)) for name, text in given.items() if name in kinds and name not in _UNSEEN
    }
    return {name: value for name, value in values.items() if value != usual.get(name)}


def sentences(found: Sequence[Rerun], arms: Sequence[ArmRuns], measure: str) -> list[str]:
    """For each of a person's own runs: where its curve ends, and where that of the stored run with this seed does."""
    unit = METRICS[measure].unit if measure in METRICS else ""
    return [_sentence(run, next(one for one in arms if one.label == run.variant), measure, unit) for run in found]


def _sentence(run: Rerun, arm: ArmRuns, measure: str, unit: str) -> str:
    steps, values = run.curve(measure)
    if not values:
        return f"{run.name} ({run.variant}, seed {run.seed}) has not measured this."
    said = f"{run.name} ({run.variant}, seed {run.seed}): {values[-1]:.4g}{unit} after {steps[-1]:,.0f} updates"
    stored = next((each for each in arm.runs if each.seed == run.seed), None)
    if stored is None:
        return f"{said}; no run with this seed is stored."
    factor = METRICS[measure].factor if measure in METRICS else 1.0
    at = dict(zip(stored.valid["step"], stored.valid[measure], strict=True))
    shared = [(value, factor * at[step]) for step, value in zip(steps, values, strict=True) if step in at]
    if not shared:
        return f"{said}; the stored run with this seed was evaluated at other updates."
    # Stored curves are rounded to four digits.
    if all(abs(own - theirs) <= 1e-3 * max(abs(theirs), 1e-9) for own, theirs in shared):
        return f"{said}, at every evaluation the same as the stored run with this seed."
    return f"{said}; the stored run with this seed had {shared[-1][1]:.4g}{unit} there."
