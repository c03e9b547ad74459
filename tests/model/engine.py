"""Small training runs for the tests of the engine: a task of short strings, and a model that learns it quickly."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from model.config import DataConfig, ModelConfig, TrainConfig
from model.data.task import Example, Task
from model.training.device import Runtime
from model.training.distributed import World
from model.training.launch import Launch, Signals, create_folder
from model.training.settings import Settings
from model.training.setup import Setup, prepare

SMALL = ["d_model=16", "d_ff=16", "n_encoder_heads=2", "n_decoder_heads=2", "snapshots=0", "log_every=2"]
"""Settings of a model that is trained in seconds, after `--set`."""
EXACT = ["--device", "cpu", "--precision", "fp32", "--threads", "1"]
"""Arguments with which two runs have equal weights."""
SETTLED = Runtime(precision="fp32", fused=True, threads=1, settled=True)


def string_task(n: int = 48, longest: int = 6) -> Task:
    """Reverse strings of the letters a–f; the splits are disjoint and always the same."""
    rng = random.Random(5)
    strings: dict[str, None] = {}
    while len(strings) < n + 16:
        strings["".join(rng.choices("abcdef", k=rng.randint(1, longest)))] = None
    examples = [Example(text, text[::-1], tuple((i,) for i in reversed(range(len(text))))) for text in strings]
    splits = {"train": tuple(examples[16:]), "valid": tuple(examples[:8]), "test": tuple(examples[8:16])}
    data = DataConfig(task="strings", tokenizer="characters")
    return Task("strings", "Strings", "Reversed strings for tests.", data, "tiny", lambda: splits)


def syllable_task() -> Task:
    """Words of a few syllables, in subwords, to be reversed."""
    rng = random.Random(6)
    lines: dict[str, None] = {}
    while len(lines) < 56:
        words = ("".join(rng.choices(["ba", "do", "ki", "lu"], k=rng.randint(2, 3))) for _ in range(rng.randint(1, 3)))
        lines[" ".join(words)] = None
    examples = [Example(line, " ".join(reversed(line.split()))) for line in lines]
    splits = {"train": tuple(examples[8:]), "valid": tuple(examples[:8])}
    data = DataConfig(task="syllables", src_lang="xx", tgt_lang="xx", tokenizer="subwords", vocab_size=285)
    return Task("syllables", "Syllables", "Words the other way round, for tests.", data, "tiny", lambda: splits)


def string_setup(
    name: str = "run", *, runtime: Runtime = SETTLED, task: Task | None = None, d_model: int = 16, **changes: Any
) -> Setup:
    """A run on the strings, or another task; `changes` are fields of TrainConfig, and some of ModelConfig."""
    task = task or string_task()
    of_model = {name: changes.pop(name) for name in ("dropout", "architecture", "positions") if name in changes}
    training = {"max_steps": 12, "max_tokens": 64, "warmup_steps": 4, "eval_every": 4, "save_every": 3, "log_every": 2}
    model = ModelConfig(
        d_model=d_model,
        d_ff=2 * d_model,
        n_encoder_layers=1,
        n_decoder_layers=1,
        n_encoder_heads=2,
        n_decoder_heads=2,
        max_positions=32,
        **({"dropout": 0.1} | of_model),
    )
    return prepare(name, task, Settings(model, task.data, TrainConfig(**(training | changes))), runtime)


def pairs_file(folder: Path, n: int = 60) -> list[str]:
    """The arguments of a command that trains on a small file of pairs, so that preparation takes no time."""
    rng = random.Random(3)
    rows = {" ".join(rng.choices("abcdef", k=rng.randint(1, 5))): None for _ in range(n)}
    path = folder / "pairs.tsv"
    path.write_text("".join(f"{row}\t{row[::-1]}\n" for row in ["source", *rows]), encoding="utf-8")
    return ["--task", "files", "--data", str(path)]


class StopAfter(Signals):
    """Requests a stop after a number of checks; one precedes each batch and each part of an evaluation."""

    def __init__(self, questions: int) -> None:
        super().__init__()
        self.left = questions

    @property
    def stop(self) -> bool:
        """Whether to stop now."""
        self.left -= 1
        return self.left < 0

    @stop.setter
    def stop(self, value: bool) -> None:
        """Signals have no effect here."""


def run(checkpoints: Path, make: Callable[[], Setup], *, resume: bool = False, signals: Signals | None = None) -> bool:
    """Train in this process; True if the run finished."""
    setup = make()
    if not resume:
        create_folder(setup, checkpoints, overwrite=False)
    return Launch(checkpoints, World(), signals or Signals(), resume=resume).run(setup)
