"""The parts of an experiment: a base setting, arms that change it, and the runs that they define."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from model.config import ConfigError, with_former_names

SEEDS = (1, 2, 3)
_MAX_WORDS = 44  # maximum characters of changes in a name, leaving room for base and seed
_TRAIN = ("python", "-m", "model.train")
_RELABEL = ("python", "-m", "model.relabel")
# Settings that save time and change no weight: a run that is to be watched leaves them out.
SPARING = ("snapshots", "save_every")
# The same runtime for every stored run, so that the same command gives the same weights bit for bit.
DEVICE, PRECISION, THREADS = "cpu", "fp32", 1


@dataclass(frozen=True)
class Base:
    """A setting that several experiments start from: a task, a preset, and what is changed in it.

    `settings` are arguments of `--set`. `target` is the required score by `metric`: the share of exactly correct test
    sentences (0 to 1), or BLEU (0 to 100). `splits` are scored in addition to `test`. `rests`: where the attention of
    the trained Transformers rests is measured, too. `reverse_task` is the same task in the other direction; diversified
    arms need it.
    """

    name: str
    task: str
    preset: str
    settings: str = ""
    target: float = 0.99
    metric: Literal["exact_match", "bleu"] = "exact_match"
    splits: tuple[str, ...] = ()
    seeds: tuple[int, ...] = SEEDS
    rests: bool = False
    reverse_task: str = ""


@dataclass(frozen=True)
class Arm:
    """One condition: `changes` to the base's settings, as arguments of `--set`, another preset, or diversified data.

    The base itself has none of them. With `diversified`, the model also learns from pairs that two others have made,
    one of each direction: see :mod:`model.relabel`.
    """

    label: str
    changes: str = ""
    preset: str = ""
    diversified: bool = False


@dataclass(frozen=True)
class Experiment:
    """A question with its arms; the first is the baseline.

    `reaches` is the label of the arm that must reach the target (the first one if empty). `reads_corpus`: the task
    reads a corpus from a folder, so it runs only if that folder is given.
    """

    name: str
    title: str
    question: str
    base: Base
    arms: tuple[Arm, ...]
    reaches: str = ""
    reads_corpus: bool = False

    @property
    def reaching(self) -> Arm:
        """The arm that must reach the target."""
        return next((arm for arm in self.arms if arm.label == self.reaches), self.arms[0])

    def recipe(self, arm: Arm) -> Recipe:
        """The recipe of an arm's runs; arms of different experiments with equal settings share it."""
        return Recipe(self.base, arm.changes, arm.preset or self.base.preset, arm.diversified)


@dataclass(frozen=True)
class Recipe:
    """The settings of a run, apart from its seed, and whether it also learns from pairs that other models have made."""

    base: Base
    changes: str
    preset: str
    diversified: bool = False

    def __post_init__(self) -> None:
        if self.diversified and not self.base.reverse_task:
            raise ConfigError(
                f"the base '{self.base.name}' names no task of the other direction, so no run of it can be diversified"
            )

    @property
    def name(self) -> str:
        """A name that is also a file's and a model's: the base's, with the changes, or their hash if they are long."""
        return self._named(self.changes.split())

    @property
    def former_name(self) -> str:
        """The name under which an earlier version stored results, when settings had other names."""
        changes = with_former_names(dict(word.split("=", 1) for word in self.changes.split()))
        return self._named([f"{key}={value}" for key, value in changes.items()])

    def _named(self, changes: Sequence[str]) -> str:
        preset = [] if self.preset == self.base.preset else [self.preset]
        made = ["diversified"] if self.diversified else []
        words = [*preset, *(re.sub(r"[^\w.-]", "-", word) for word in changes), *made]
        if sum(map(len, words)) + len(words) > _MAX_WORDS:
            words = [hashlib.sha256(" ".join(words).encode()).hexdigest()[:8]]
        return ".".join([self.base.name, *words])

    @property
    def settings(self) -> dict[str, str]:
        """All settings that differ from the preset, without the seed."""
        words = f"{self.base.settings} {self.changes}".split()
        return dict(word.split("=", 1) for word in words)

    @property
    def teacher(self) -> Recipe:
        """The recipe of the model that makes pairs in a diversified run's own direction: the same without the pairs."""
        return replace(self, diversified=False)

    def pairs_file(self, seed: int) -> str:
        """The file that the models of both directions write for a diversified run."""
        return f"{self.name}-{seed}.jsonl"

    def command(self, seed: int) -> tuple[str, ...]:
        """The complete training command of the run with this seed; a diversified one needs those before it."""
        added = ("--add-data", self.pairs_file(seed)) if self.diversified else ()
        return self._training(self.base.task, f"{self.name}-{seed}", seed, *added)

    def commands(self, seed: int) -> tuple[tuple[str, ...], ...]:
        """All commands of the run, in their order.

        A diversified run first trains a model of each direction, the first exactly as the plain run with this seed,
        and lets both make pairs.
        """
        if not self.diversified:
            return (self.command(seed),)
        forward, backward = f"{self.teacher.name}-{seed}", f"{self.teacher.name}-{seed}.reverse"
        models = ("--model", forward, "--reverse", backward)
        return (
            self.teacher.command(seed),
            self.teacher._training(self.base.reverse_task, backward, seed),
            (*_RELABEL, "--task", self.base.task, *models, "--out", self.pairs_file(seed)),
            self.command(seed),
        )

    def _training(self, task: str, name: str, seed: int, *added: str) -> tuple[str, ...]:
        words = (*_TRAIN, "--task", task, *added, "--preset", self.preset, "--name", name)
        runtime = ("--device", DEVICE, "--precision", PRECISION, "--threads", str(THREADS))
        changes = (f"{key}={value}" for key, value in self.settings.items())
        return (*words, *runtime, "--set", *changes, f"seed={seed}")

    @property
    def steps(self) -> int:
        """Weight updates of a run."""
        from model.presets import PRESETS

        return int(self.settings.get("max_steps", PRESETS[self.preset].training.get("max_steps", 0)))
