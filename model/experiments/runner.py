"""Run experiments one after another in this process, with the same commands that are stored with each run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import shlex
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from model.commands import CommandError
from model.experiments.recipe import MADE, Experiment, Recipe
from model.experiments.stored import BLEU, SCORES, TRAIN, VALID, ResultError, StoredRun, read_runs, rounded
from model.plurals import plural

SAMPLES = 5
SPEED_SECONDS = 1.5


class Stopped(RuntimeError):
    """The current run was asked to stop."""


@dataclass(frozen=True)
class Job:
    """One run to carry out."""

    recipe: Recipe
    seed: int


def jobs_of(experiments: Iterable[Experiment], folder: Path, *, again: bool) -> list[Job]:
    """The runs that experiments need, each once: those not stored yet, or with `again` all of them."""
    jobs: dict[Job, None] = {}
    for experiment in experiments:
        for arm in experiment.arms:
            recipe = experiment.recipe(arm)
            stored = set() if again else {run.seed for run in _stored(recipe, folder)}
            jobs |= dict.fromkeys(Job(recipe, seed) for seed in recipe.seeds if seed not in stored)
    return list(jobs)


def _stored(recipe: Recipe, folder: Path) -> tuple[StoredRun, ...]:
    """The usable stored runs of a recipe."""
    try:
        return read_runs(recipe, folder)
    except ResultError:
        return ()  # damaged, or made with other settings: run it again


def expected_seconds(jobs: Sequence[Job], folder: Path, data_dir: Path | None = None) -> dict[Job, float]:
    """Expected seconds of each run: as stored for its recipe or its base, otherwise measured by a dry run."""
    seconds: dict[Recipe, float] = {}
    for job in jobs:
        recipe = job.recipe
        if recipe not in seconds:
            plain = Recipe(recipe.base, "", recipe.base.preset)
            seconds[recipe] = (
                _stored_seconds(recipe, folder)
                or _stored_seconds(plain, folder) * recipe.steps / plain.steps
                or _dry_run(job, data_dir)
            )
    return {job: seconds[job.recipe] for job in jobs}


def _stored_seconds(recipe: Recipe, folder: Path) -> float:
    """Median seconds of the stored runs of this recipe; 0 if there are none."""
    return statistics.median([run.seconds for run in _stored(recipe, folder)] or [0.0])


def _dry_run(job: Job, data_dir: Path | None) -> float:
    """Expected seconds of a run, by a dry run without the chain's model and pairs, which do not change the updates."""
    recipe = job.recipe
    alone = replace(recipe, base=replace(recipe.base, chain="", start=""), added=())
    with tempfile.TemporaryDirectory() as folder:
        output = _train(alone.command(job.seed), Path(folder), data_dir, "--dry-run", "--json")
    return float(json.loads(output)["seconds"])


def _train(command: Sequence[str], folder: Path, data_dir: Path | None, *more: str) -> str:
    """Carry out a training command in this process, with its model in a folder, and return its output."""
    from model import train

    _, _, _, *options = command
    folders = ["--checkpoints", str(folder), *(["--data-dir", str(data_dir)] if data_dir else [])]
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(io.StringIO()):
        train.main([*options, *folders, *more])
    return output.getvalue()


def _command(job: Job, folder: Path, data_dir: Path | None, made_in: Path | None) -> tuple[str, ...]:
    """The training command of a run in `folder`; missing results of its chain are made and copied there first.

    Raises:
        Stopped: the chain was asked to stop.
        UserError: the chain cannot be carried out.
    """
    from model.reproduce import CHAINS, carry_out, needed

    recipe, command = job.recipe, job.recipe.command(job.seed)
    if not recipe.from_chain:
        return command
    if made_in is None:
        raise CommandError(
            "{name} starts from a model made first; name a folder for it with --made DIR.", name=recipe.name
        )
    steps = needed(CHAINS[recipe.base.chain], recipe.from_chain, made_in)
    if carry_out([step for step in steps if not step.is_done(made_in)], made_in, data_dir) != 0:
        raise Stopped
    shutil.copytree(made_in / recipe.base.start, folder / recipe.base.start)
    files = {f"{MADE}/{name}": str(made_in / name) for name in recipe.added}
    return tuple(files.get(word, word) for word in command)


def make(job: Job, data_dir: Path | None = None, made_in: Path | None = None) -> StoredRun:
    """Train and score one run; a failed run is a result, too.

    `made_in` is the folder of the models and pairs that runs start from; missing ones are made there.

    Raises:
        Stopped: it was asked to stop.
        UserError: the command cannot be run.
    """
    import torch

    from model.folder import summarize
    from model.training.failure import TrainingError
    from model.training.runfolder import read_metrics, read_status

    recipe, error = job.recipe, ""
    with tempfile.TemporaryDirectory() as temporary:
        checkpoints = Path(temporary)
        folder = checkpoints / f"{recipe.name}-{job.seed}"
        command = _command(job, checkpoints, data_dir, made_in)
        began = time.monotonic()
        try:
            _train(command, checkpoints, data_dir, "--now")
        except TrainingError as failure:
            error = str(failure)
        if not error and read_status(folder).get("state") != "finished":
            raise Stopped
        lines = read_metrics(folder / "metrics.jsonl")
        scores: dict[str, Any] = {} if error else _score(folder, recipe, data_dir)
        parameters = int(summarize(folder)["parameters"])
    train = [line for line in lines if line["kind"] == "train"]
    evals = [line for line in lines if line["kind"] == "eval"]
    return StoredRun(
        seed=job.seed,
        command="\n".join(map(shlex.join, recipe.commands(job.seed))),
        machine=f"{platform.system()} {platform.machine()}, {plural(os.cpu_count() or 1, 'core')}, 1 used",
        torch=str(torch.__version__),
        seconds=round(time.monotonic() - began, 1),
        parameters=parameters,
        tokens_per_s=round(core_speed(job, data_dir)) if not error else 0,
        train=_columns(train, TRAIN),
        valid=_columns(evals, (*VALID, BLEU) if recipe.base.metric == BLEU else VALID),
        error=error,
        day=datetime.now(UTC).date().isoformat(),
        **scores,
    )


def core_speed(job: Job, data_dir: Path | None = None) -> float:
    """Source and target tokens per second of CPU time on one core, measured over a few updates.

    CPU time, unlike wall-clock time, does not depend on other programs on the machine.
    """
    import torch

    from model.data import get_task
    from model.presets import get_preset
    from model.training.device import Runtime, choose_runtime
    from model.training.distributed import World
    from model.training.settings import make_settings, parse_assignments
    from model.training.setup import prepare
    from model.training.trainer import Trainer

    recipe = job.recipe
    task = get_task(recipe.base.task, data_dir=data_dir, fetch=True)
    words = [*(f"{key}={value}" for key, value in recipe.settings.items()), f"seed={job.seed}", "log_every=1000000"]
    settings = make_settings(task.data, get_preset(recipe.preset), parse_assignments(words))
    settings = replace(settings, training=replace(settings.training, max_steps=10**9))
    setup = prepare(recipe.name, task, settings, Runtime(precision=recipe.base.precision, threads=1))
    runtime = choose_runtime(setup.model, setup.corpus, setup.runtime, settings.training)
    torch.set_num_threads(1)
    trainer = Trainer(replace(setup, runtime=runtime), World(), None)
    trainer.update()  # the first update allocates memory
    began, tokens = time.process_time(), trainer.progress.tokens
    while time.process_time() - began < SPEED_SECONDS:
        trainer.update()
    return (trainer.progress.tokens - tokens) / (time.process_time() - began)


def _columns(lines: Sequence[dict[str, Any]], names: Sequence[str]) -> dict[str, list[float]]:
    complete = [line for line in lines if all(line.get(name) is not None for name in names)]
    return {name: rounded([line[name] for line in complete]) for name in names}


def _score(folder: Path, recipe: Recipe, data_dir: Path | None) -> dict[str, Any]:
    """Scores of each split with the selected weights, as `model.evaluate` prints them."""
    from model.checkpoint import load_model
    from model.config import DecodeConfig
    from model.data import get_task
    from model.scoring import evenly_spaced, score_examples

    loaded = load_model(folder)
    task = get_task(loaded.data_config.task, split_seed=loaded.data_config.split_seed, data_dir=data_dir, fetch=True)
    has_words = loaded.data_config.tokenizer != "characters"
    scores: dict[str, dict[str, float]] = {}
    groups: dict[str, dict[str, float]] = {}
    samples: tuple[tuple[str, str, str], ...] = ()
    for split in ("test", *recipe.base.splits):
        examples = task.splits[split]
        split_scores = score_examples(
            loaded.model,
            loaded.source,
            loaded.target,
            examples,
            DecodeConfig(),
            equivalent=task.equivalent,
            group=task.group,
        )
        flat = split_scores.flat(with_bleu=has_words)
        flat |= {"different": len(set(split_scores.predictions)), "empty": split_scores.predictions.count("")}
        scores[split] = {name: rounded([flat[name]], 6)[0] for name in SCORES if flat.get(name) is not None}
        if len(split_scores.groups) > 1:
            groups[split] = {name: rounded([share])[0] for name, share in split_scores.groups.items()}
        if split == "test":
            chosen = evenly_spaced(len(examples), SAMPLES)
            samples = tuple((examples[i].source, examples[i].target, split_scores.predictions[i]) for i in chosen)
    return {"scores": scores, "groups": groups, "samples": samples}
