"""The parts of an experiment: a base setting, arms that change it, and the runs that they define."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from model.config import ConfigError, with_former_names

SEEDS = (1, 2, 3)
_MAX_WORDS = 44  # maximum characters of changes in a name, leaving room for base and seed
_TRAIN = ("python", "-m", "model.train")
_REPRODUCE = ("python", "-m", "model.reproduce")
MADE = "made"  # the folder, in stored commands, of a chain's models and pairs and of the runs that start from them
# The runtime of every stored run, so that the same command gives the same weights, bit for bit.
DEVICE, THREADS = "cpu", 1


@dataclass(frozen=True)
class Base:
    """The setting that several experiments start from: a task, a preset, and changes to the preset.

    `settings` are arguments of `--set`. `target` is the required score by `metric`: the share of exactly correct test
    sentences (0 to 1), or BLEU (0 to 100). `splits` are scored in addition to `test`. `start`: the model from whose
    weights the runs start, which the chain of the shipped model `chain` makes (:mod:`model.reproduce`). `runs`: by
    name, recipes that are run with seeds 1 to this number instead of `seeds`.
    """

    name: str
    task: str
    preset: str
    settings: str = ""
    target: float = 0.99
    metric: Literal["exact_match", "bleu"] = "exact_match"
    splits: tuple[str, ...] = ()
    seeds: tuple[int, ...] = SEEDS
    runs: dict[str, int] = field(default_factory=dict, hash=False)
    precision: Literal["fp32", "bf16"] = "fp32"
    chain: str = ""
    start: str = ""


@dataclass(frozen=True)
class Arm:
    """One condition: `changes` to the base's settings (arguments of `--set`), another preset, or further pairs.

    `added` names files of pairs that the base's chain makes (:mod:`model.relabel`). The first arm has no preset and no
    pairs.
    """

    label: str
    changes: str = ""
    preset: str = ""
    added: tuple[str, ...] = ()


Yes = Literal["", "lower", "higher", "either"]


@dataclass(frozen=True)
class Experiment:
    """A question with its arms; the first is the baseline.

    `yes`: which side of the first arm another one has to score on for the title to be answered by yes; "" if it does
    not ask for yes or no.
    `also`: the split on which the question asks for right answers beside what is compared. `reads_corpus`: the task
    reads a corpus from a folder, so it runs only if that folder is given.
    """

    name: str
    title: str
    question: str
    base: Base
    arms: tuple[Arm, ...]
    also: str = ""
    yes: Yes = ""
    reads_corpus: bool = False

    def recipe(self, arm: Arm) -> Recipe:
        """The recipe of an arm's runs; arms of different experiments with equal settings share it."""
        return Recipe(self.base, arm.changes, arm.preset or self.base.preset, arm.added)


@dataclass(frozen=True)
class Recipe:
    """The settings of a run, apart from its seed, and the files of further training pairs."""

    base: Base
    changes: str
    preset: str
    added: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.added and not self.base.chain:
            raise ConfigError(
                "the base '{name}' has no chain that makes {added}.", name=self.base.name, added=", ".join(self.added)
            )

    @property
    def name(self) -> str:
        """A valid name for files and models: the base's name and the changes, or a hash of long changes."""
        return self._named(self.changes.split())

    @property
    def former_name(self) -> str:
        """The name under which an earlier version, with other names of settings, stored results."""
        changes = with_former_names(dict(word.split("=", 1) for word in self.changes.split()))
        return self._named([f"{key}={value}" for key, value in changes.items()])

    def _named(self, changes: Sequence[str]) -> str:
        preset = [] if self.preset == self.base.preset else [self.preset]
        added = ["more-pairs"] if self.added else []
        words = [*preset, *(re.sub(r"[^\w.-]", "-", word) for word in changes), *added]
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
        """The results of the base's chain that a run reads: the model that it starts from, and files of pairs."""
        return (self.base.start, *self.added) if self.base.chain else ()

    def command(self, seed: int) -> tuple[str, ...]:
        """The complete training command of the run with this seed; the results of the chain must exist."""
        words = [*_TRAIN, "--task", self.base.task, "--preset", self.preset, "--name", f"{self.name}-{seed}"]
        if self.base.chain:
            words += ["--checkpoints", MADE, "--init", self.base.start]
        if self.added:
            words += ["--add-data", *(f"{MADE}/{name}" for name in self.added)]
        runtime = ("--device", DEVICE, "--precision", self.base.precision, "--threads", str(THREADS))
        changes = (f"{key}={value}" for key, value in self.settings.items())
        return (*words, *runtime, "--set", *changes, f"seed={seed}")

    def commands(self, seed: int) -> tuple[tuple[str, ...], ...]:
        """All commands of the run, in order; with a chain, the first one makes the results that the run reads."""
        if not self.base.chain:
            return (self.command(seed),)
        chain = (*_REPRODUCE, self.base.chain, "--checkpoints", MADE, "--only", *self.from_chain)
        return chain, self.command(seed)

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of its runs."""
        return tuple(range(1, n + 1)) if (n := self.base.runs.get(self.name)) else self.base.seeds

    @property
    def steps(self) -> int:
        """Weight updates of a run."""
        return int(self._training("max_steps"))

    @property
    def rate(self) -> float:
        """The highest learning rate of a run."""
        return float(self._training("learning_rate"))

    def _training(self, name: str) -> Any:
        from model.presets import PRESETS

        return self.settings.get(name, PRESETS[self.preset].training.get(name, 0))
