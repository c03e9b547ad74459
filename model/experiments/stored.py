"""Stored results of experiments: one small JSON file per recipe with all its runs; reading needs no training code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import msgspec
from platformdirs import user_data_path

from model.commands import INSTALLED, typed
from model.config import with_current_names
from model.experiments.recipe import Recipe
from model.folder import CheckpointError, read_json, write_bytes
from model.user_error import UserError

SHIPPED_RESULTS = Path(__file__).parent / "results"
RESULTS = user_data_path("headlight", appauthor=False) / "experiments" if INSTALLED else SHIPPED_RESULTS
"""The folder where results are stored; your own do not belong into an installed package."""

_PYTHON = "python -m "  # the beginning of recorded commands

TRAIN = ("step", "loss")
VALID = ("step", "loss", "exact_match", "token_accuracy")
BLEU = "bleu"
FROM_CHAIN = "from_chain"  # key of the results of a chain that the runs of a file start from
# The last two: the numbers of distinct and of empty predictions.
SCORES = ("exact_match", "token_accuracy", "loss", "bleu", "sentences", "different", "empty")


class ResultError(UserError):
    """Stored results that cannot be used; the message names the file and what is wrong with it."""


@dataclass(frozen=True)
class StoredRun:
    """One run: its command and machine, its curves, and its scores.

    `command` has one line per command; curves and scores belong to the last one.
    `train` and `valid` are columns, named by `TRAIN` and `VALID`: steps, loss in nats per target token, shares from 0
    to 1; `valid` also has `BLEU` (0 to 100) if that is the metric of the task. `scores` and `groups` (exact match by
    group) are by split. `samples` are (source, target, prediction) of a few test sentences. `tokens_per_s` is per
    second of CPU time on one core, 0 if it is not known; `seconds` is the wall-clock time of the run with all scoring.
    `day`: when it ended, as 2026-11-26; of older runs, when it was stored; empty if neither is known.
    `error` says why a run failed; such a run has no scores.
    """

    seed: int
    command: str
    machine: str
    torch: str
    seconds: float
    parameters: int
    tokens_per_s: float
    train: dict[str, list[float]]
    valid: dict[str, list[float]]
    scores: dict[str, dict[str, float]] = field(default_factory=dict)
    groups: dict[str, dict[str, float]] = field(default_factory=dict)
    samples: tuple[tuple[str, str, str], ...] = ()
    error: str = ""
    day: str = ""

    def score(self, name: str, split: str = "test") -> float | None:
        """One score on one split; None if it was not measured."""
        return self.scores.get(split, {}).get(name)


def as_typed(commands: str) -> str:
    """Recorded commands, one a line, as they are typed here."""
    return "\n".join(map(_typed_line, commands.split("\n")))


def _typed_line(command: str) -> str:
    module, space, options = command.removeprefix(_PYTHON).partition(" ")
    return f"{typed(module)}{space}{options}" if command.startswith(_PYTHON) else command


def path_of(recipe: Recipe, folder: Path = RESULTS) -> Path:
    """The file with the runs of a recipe."""
    return folder / f"{recipe.name}.json"


def read_runs(recipe: Recipe, folder: Path = RESULTS) -> tuple[StoredRun, ...]:
    """Read the stored runs of a recipe, sorted by seed; empty if it has not been run.

    Results that are missing in `RESULTS` are read from those that came with Headlight.

    Raises:
        ResultError: the file is damaged, or its runs belong to another recipe than its name says.
    """
    path = _find(recipe, folder)
    if path is None:
        return ()
    try:
        content = read_json(path)
        runs = tuple(_run(values) for values in content["runs"])
        stored_recipe = (
            content["task"],
            content["preset"],
            with_current_names(content["settings"]),
            tuple(content.get(FROM_CHAIN, ())),
        )
    except CheckpointError as error:
        raise ResultError(error) from None
    except (KeyError, TypeError, ValueError, AttributeError, msgspec.ValidationError) as error:
        raise ResultError(
            "{name} does not hold runs of an experiment ({error}); delete it.", name=path.name, error=error
        ) from None
    if stored_recipe != (recipe.base.task, recipe.preset, recipe.settings, recipe.from_chain):
        raise ResultError(
            "{name} was made with other settings than the catalogue has now; run the experiment again.", name=path.name
        )
    return tuple(sorted(runs, key=lambda run: run.seed))


def _find(recipe: Recipe, folder: Path) -> Path | None:
    """The file with the runs of a recipe, under its current or its former name."""
    folders = (folder, SHIPPED_RESULTS) if folder == RESULTS else (folder,)
    paths = (parent / f"{name}.json" for parent in folders for name in (recipe.name, recipe.former_name))
    return next((path for path in paths if path.is_file()), None)


def write_run(recipe: Recipe, run: StoredRun, folder: Path = RESULTS) -> None:
    """Store a run in its recipe's file; it replaces a run with the same seed and all runs with other settings."""
    try:
        others = [stored for stored in read_runs(recipe, folder) if stored.seed != run.seed]
    except ResultError:
        others = []  # unusable results are replaced
    runs = sorted([*others, run], key=lambda stored: stored.seed)
    head = {"task": recipe.base.task, "preset": recipe.preset, "settings": recipe.settings}
    head |= {FROM_CHAIN: recipe.from_chain} if recipe.from_chain else {}
    lines = [json.dumps(asdict(stored), ensure_ascii=False, allow_nan=False) for stored in runs]
    text = json.dumps(head, ensure_ascii=False)[:-1] + ', "runs": [\n' + ",\n".join(lines) + "\n]}\n"
    folder.mkdir(parents=True, exist_ok=True)
    write_bytes(path_of(recipe, folder), text.encode())
    if recipe.former_name != recipe.name:
        (folder / f"{recipe.former_name}.json").unlink(missing_ok=True)


def rounded(values: Sequence[float], digits: int = 4) -> list[float]:
    """The values rounded to `digits` significant digits, which keeps files small."""
    return [float(f"{value:.{digits}g}") for value in values]


def _run(values: dict[str, Any]) -> StoredRun:
    """Read one run from JSON and check it as far as pages rely on it; keys that are not fields are ignored."""
    msgspec.convert(values, StoredRun)  # raises if a field is missing or of another type
    run = StoredRun(**{item.name: values[item.name] for item in fields(StoredRun) if item.name in values})
    for curve, names in ((run.train, TRAIN), (run.valid, (*VALID, BLEU) if BLEU in run.valid else VALID)):
        if len({len(curve[name]) for name in names}) != 1:
            raise ValueError("columns of unequal length")
    samples = tuple((source, target, prediction) for source, target, prediction in run.samples)
    return replace(run, samples=samples)
