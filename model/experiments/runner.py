"""Make the runs of experiments, one after another in this process, by the very command that is stored with them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import shlex
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from model.experiments.recipe import Experiment, Recipe
from model.experiments.stored import SCORES, TRAIN, VALID, ResultError, StoredRun, read_runs, rounded

SAMPLES = 5


class Stopped(RuntimeError):
    """Somebody asked the run at hand to stop."""


@dataclass(frozen=True)
class Job:
    """One run to make."""

    recipe: Recipe
    seed: int


def jobs_of(experiments: Iterable[Experiment], folder: Path, *, again: bool) -> list[Job]:
    """The runs that experiments ask for, each once: those that are not stored yet, or all of them."""
    wanted: dict[Job, None] = {}
    for experiment in experiments:
        for arm in experiment.arms:
            recipe = experiment.recipe(arm)
            stored = () if again else _seeds(recipe, folder)
            wanted |= dict.fromkeys(Job(recipe, seed) for seed in recipe.base.seeds if seed not in stored)
    return list(wanted)


def _seeds(recipe: Recipe, folder: Path) -> set[int]:
    return {run.seed for run in _readable(recipe, folder)}


def _readable(recipe: Recipe, folder: Path) -> tuple[StoredRun, ...]:
    try:
        return read_runs(recipe, folder)
    except ResultError:
        return ()  # made with other settings, or damaged: it is made anew


def expected_seconds(jobs: Sequence[Job], folder: Path, data_dir: Path | None = None) -> dict[Job, float]:
    """How long each run will take: as the same recipe took before; where it was never run, measured by a dry run."""
    known: dict[Recipe, float] = {}
    for job in jobs:
        if job.recipe not in known:
            before = [run.seconds for run in _readable(job.recipe, folder)]
            known[job.recipe] = statistics.median(before) if before else _dry_run(job, data_dir)
    return {job: known[job.recipe] for job in jobs}


def _dry_run(job: Job, data_dir: Path | None) -> float:
    with tempfile.TemporaryDirectory() as folder:
        told = _train(job, Path(folder), data_dir, "--dry-run", "--json")
    return float(json.loads(told)["seconds"])


def _train(job: Job, folder: Path, data_dir: Path | None, *more: str) -> str:
    """Run the training command here and return what it prints."""
    from model import train

    where = ["--checkpoints", str(folder), *(["--data-dir", str(data_dir)] if data_dir else [])]
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        train.main([*job.recipe.command(job.seed)[3:], *where, *more])
    return said.getvalue()


def make(job: Job, data_dir: Path | None = None) -> StoredRun:
    """Train and score one run; a run that cannot be finished is a result, too.

    Raises:
        Stopped: somebody asked it to stop.
        CommandError and this project's other errors: the command cannot be run at all.
    """
    from model.training.failure import TrainingError
    from model.training.runfolder import read_metrics, read_status

    recipe, began, error = job.recipe, time.monotonic(), ""
    with tempfile.TemporaryDirectory() as where:
        folder = Path(where) / f"{recipe.name}-{job.seed}"
        try:
            _train(job, Path(where), data_dir, "--now")
        except TrainingError as failed:
            error = str(failed)
        if not error and read_status(folder).get("state") != "finished":
            raise Stopped
        lines = read_metrics(folder / "metrics.jsonl")
        scored: dict[str, Any] = {} if error else _score(folder, ("test", *recipe.base.splits), data_dir)
        parameters = _parameters(folder)
    train = [line for line in lines if line["kind"] == "train"]
    return StoredRun(
        seed=job.seed,
        command=shlex.join(recipe.command(job.seed)),
        machine=_machine(),
        torch=_torch_version(),
        seconds=round(time.monotonic() - began, 1),
        parameters=parameters,
        tokens_per_s=round(statistics.median([line["tokens_per_s"] for line in train] or [0.0])),
        train=_columns(train, TRAIN),
        valid=_columns([line for line in lines if line["kind"] == "eval"], VALID),
        error=error,
        **scored,
    )


def _columns(lines: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, list[float]]:
    whole = [line for line in lines if all(line.get(name) is not None for name in names)]
    return {name: rounded([line[name] for line in whole]) for name in names}


def _score(folder: Path, splits: Sequence[str], data_dir: Path | None) -> dict[str, Any]:
    """Scores of each split with the weights that the run chose, as `model.evaluate` gives them."""
    from model.checkpoint import load_model
    from model.config import DecodeConfig
    from model.data import get_task
    from model.scoring import score_examples, spread

    loaded = load_model(folder)
    task = get_task(loaded.data_config.task, split_seed=loaded.data_config.split_seed, data_dir=data_dir)
    words = loaded.data_config.tokenizer != "characters"
    scores: dict[str, dict[str, float]] = {}
    groups: dict[str, dict[str, float]] = {}
    samples: tuple[tuple[str, str, str], ...] = ()
    for split in splits:
        examples = task.splits[split]
        found = score_examples(
            loaded.model,
            loaded.source,
            loaded.target,
            examples,
            DecodeConfig(),
            equivalent=task.equivalent,
            group=task.group,
        )
        flat = found.flat(with_bleu=words)
        flat |= {"different": len(set(found.predictions)), "empty": found.predictions.count("")}
        scores[split] = {name: rounded([flat[name]], 6)[0] for name in SCORES if flat.get(name) is not None}
        if len(found.groups) > 1:
            groups[split] = {name: rounded([share])[0] for name, share in found.groups.items()}
        if split == "test":
            chosen = spread(len(examples), SAMPLES)
            samples = tuple((examples[i].source, examples[i].target, found.predictions[i]) for i in chosen)
    return {"scores": scores, "groups": groups, "samples": samples}


def _parameters(folder: Path) -> int:
    from model.folder import summarize

    return int(summarize(folder)["parameters"])


def _machine() -> str:
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, 1 used"


def _torch_version() -> str:
    import torch

    return str(torch.__version__)
