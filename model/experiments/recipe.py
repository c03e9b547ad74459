"""The parts of an experiment: a base setting, arms that change it, and the runs that they define."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from model.config import ConfigError, with_former_names

SEEDS = (1, 2, 3)
_MAX_WORDS = 44  # maximum characters of changes in a name, leaving room for base and seed
_TRAIN = ("python", "-m", "model.train")
_REPRODUCE = ("python", "-m", "model.reproduce")
MADE = "made"  # the folder, in commands, of what a chain makes and of the runs that start from it
# Settings that save time and change no weight: a run that is to be watched leaves them out.
SPARING = ("snapshots", "save_every")
# The same runtime for every stored run of a base, so that the same command gives the same weights bit for bit.
DEVICE, THREADS = "cpu", 1


@dataclass(frozen=True)
class Base:
    """A setting that several experiments start from: a task, a preset, and what is changed in it.

    `settings` are arguments of `--set`. `target` is the required score by `metric`: the share of exactly correct test
    sentences (0 to 1), or BLEU (0 to 100). `splits` are scored in addition to `test`. `rests`: where the attention of
    the trained Transformers rests is measured, too. `start`: the runs go on from this model, which is made on the way
    to the shipped model `chain`, see :mod:`model.reproduce`.
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
    precision: Literal["fp32", "bf16"] = "fp32"
    chain: str = ""
    start: str = ""


@dataclass(frozen=True)
class Arm:
    """One condition: `changes` to the base's settings, as arguments of `--set`, another preset, or further pairs.

    The base itself has none of them. `added` names files of pairs that the base's chain makes, see
    :mod:`model.relabel`.
    """

    label: str
    changes: str = ""
    preset: str = ""
    added: tuple[str, ...] = ()


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
        return Recipe(self.base, arm.changes, arm.preset or self.base.preset, arm.added)


@dataclass(frozen=True)
class Recipe:
    """The settings of a run, apart from its seed, and the files of further pairs that it learns from."""

    base: Base
    changes: str
    preset: str
    added: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.added and not self.base.chain:
            raise ConfigError(f"the base '{self.base.name}' names no chain that would make {', '.join(self.added)}")

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
        made = ["more-pairs"] if self.added else []
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
    def from_chain(self) -> tuple[str, ...]:
        """What a run reads of what the base's chain makes: the model that it starts from, and files of pairs."""
        return (self.base.start, *self.added) if self.base.chain else ()

    def command(self, seed: int) -> tuple[str, ...]:
        """The complete training command of the run with this seed; what it starts from must have been made."""
        words = [*_TRAIN, "--task", self.base.task, "--preset", self.preset, "--name", f"{self.name}-{seed}"]
        if self.base.chain:
            words += ["--checkpoints", MADE, "--init", self.base.start]
        if self.added:
            words += ["--add-data", *(f"{MADE}/{name}" for name in self.added)]
        runtime = ("--device", DEVICE, "--precision", self.base.precision, "--threads", str(THREADS))
        changes = (f"{key}={value}" for key, value in self.settings.items())
        return (*words, *runtime, "--set", *changes, f"seed={seed}")

    def commands(self, seed: int) -> tuple[tuple[str, ...], ...]:
        """All commands of the run, in their order: the first of two makes what the run starts from."""
        if not self.base.chain:
            return (self.command(seed),)
        made = (*_REPRODUCE, self.base.chain, "--checkpoints", MADE, "--only", *self.from_chain)
        return made, self.command(seed)

    @property
    def steps(self) -> int:
        """Weight updates of a run."""
        from model.presets import PRESETS

        return int(self.settings.get("max_steps", PRESETS[self.preset].training.get("max_steps", 0)))
