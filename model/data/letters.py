"""Copying, reversing and sorting strings of letters: tasks whose correct attention is known exactly."""

from __future__ import annotations

import random
import string
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from model.config import DataConfig
from model.data.task import Alignment, Example, Prompt, Splits, Task

ALPHABET = string.ascii_lowercase
MAX_LENGTH = 16
LONG_LENGTHS = range(17, 33)
SHORT = 2  # up to this length there are few strings, so all are used
HELD_OUT = 5  # one in this many short strings is held out

TRAIN_PER_LENGTH = 1200
VALID_PER_LENGTH = 20
TEST_PER_LENGTH = 100
LONG_PER_LENGTH = 25


def copied(text: str) -> Example:
    """The same letters in the same order."""
    return Example(text, text, tuple((i,) for i in range(len(text))))


def reversed_(text: str) -> Example:
    """The letters from last to first."""
    return Example(text, text[::-1], tuple((i,) for i in reversed(range(len(text)))))


def sorted_(text: str) -> Example:
    """The letters in the order of the alphabet.

    Sorting is stable: of equal letters, the first in the source comes first. Each letter is aligned with its own
    position and with those of all equal letters, because attending to any of them gives the correct letter.
    """
    order = sorted(range(len(text)), key=lambda i: text[i])
    alignment: Alignment = tuple(
        (i, *(j for j, letter in enumerate(text) if letter == text[i] and j != i)) for i in order
    )
    return Example(text, "".join(text[i] for i in order), alignment)


def build(name: str, transform: Callable[[str], Example], split_seed: int) -> Splits:
    """Strings of 1–16 letters in training, validation and test, and of 17–32 in ``long``; no string in two splits.

    Short strings are repeated in training, so that every length is about equally frequent.
    """
    rng = random.Random(f"{name} {split_seed}")
    train: list[str] = []
    valid: list[str] = []
    test: list[str] = []
    for length in range(1, SHORT + 1):
        strings = ["".join(letters) for letters in product(ALPHABET, repeat=length)]
        rng.shuffle(strings)
        held_out = strings[: len(strings) // HELD_OUT]
        test += held_out[:TEST_PER_LENGTH]
        valid += held_out[TEST_PER_LENGTH:]
        others = strings[len(held_out) :]
        train += others * (TRAIN_PER_LENGTH // len(others))
    for length in range(SHORT + 1, MAX_LENGTH + 1):
        strings = _distinct(rng, length, TEST_PER_LENGTH + VALID_PER_LENGTH + TRAIN_PER_LENGTH)
        test += strings[:TEST_PER_LENGTH]
        valid += strings[TEST_PER_LENGTH : TEST_PER_LENGTH + VALID_PER_LENGTH]
        train += strings[TEST_PER_LENGTH + VALID_PER_LENGTH :]
    long = [text for length in LONG_LENGTHS for text in _distinct(rng, length, LONG_PER_LENGTH)]
    splits = {"train": train, "valid": valid, "test": test, "long": long}
    return {split: tuple(map(transform, strings)) for split, strings in splits.items()}


def _distinct(rng: random.Random, length: int, count: int) -> list[str]:
    strings: dict[str, None] = {}
    while len(strings) < count:
        strings["".join(rng.choices(ALPHABET, k=length))] = None
    return list(strings)


def by_length(example: Example) -> str:
    """The number of letters, with two digits so that groups sort numerically."""
    return f"{len(example.source):02d} letters"


@dataclass(frozen=True)
class _Letters:
    title: str
    transform: Callable[[str], Example]
    rule: str
    story: str
    examples: tuple[Prompt, ...]


_TASKS = {
    "copy": _Letters(
        "Copy letters",
        copied,
        "The answer is the input, letter by letter.",
        "Writes a string of letters once more",
        (
            Prompt("headlight", "cross-attention runs down the diagonal", says=("headlight",), pattern="diagonal"),
            Prompt("aaaaaaaa", "equal letters: only positions tell them apart. Does it stop after eight?"),
        ),
    ),
    "reverse": _Letters(
        "Reverse letters",
        reversed_,
        "The answer is the input from its last letter to its first.",
        "Writes a string of letters from its last letter to its first",
        (
            Prompt(
                "headlight",
                "a cross-attention head runs down the other diagonal",
                says=("thgildaeh",),
                pattern="mirror",
            ),
            Prompt(
                "attention",
                "the three t's: each row finds its own, so the head goes by position, not by letter",
                says=("noitnetta",),
                pattern="mirror",
            ),
            Prompt("abcdefghijklmnop", "sixteen letters, the longest it was trained on"),
            Prompt("abcdefghijklmnopqrst", "twenty letters, longer than any in training: does it go wrong, and where?"),
        ),
    ),
    "sort": _Letters(
        "Sort letters",
        sorted_,
        "The answer is the input's letters in the order of the alphabet.",
        "Puts the letters of a string in the order of the alphabet",
        (
            Prompt("headlight", "the two h's share their attention: either is right"),
            Prompt(
                "zyxwvuts",
                "already the other way round: cross-attention is the other diagonal",
                says=("stuvwxyz",),
                pattern="mirror",
            ),
            Prompt("banana", "how does it know that three a's are enough?", says=("aaabnn",)),
        ),
    ),
}
LETTER_TASKS = tuple(_TASKS)


def letters(name: str, split_seed: int) -> Task:
    """One of the letter tasks for one split seed."""
    task = _TASKS[name]
    return Task(
        name=name,
        title=task.title,
        description=(
            f"{task.rule} Training has random strings of 1 to 16 lower-case letters, each letter a token. A fifth of "
            f"all strings of one and two letters, and all longer test strings, are never seen in training. A second "
            f"test, called “long”, has strings of 17 to 32 letters, longer than any in training."
        ),
        story=task.story,
        trained_on=f"strings of 1 to {MAX_LENGTH} small letters",
        longest=MAX_LENGTH,
        confidence=0.98 if name == "reverse" else 0.0,
        data=DataConfig(task=name, tokenizer="characters", src_lang="xx", tgt_lang="xx", split_seed=split_seed),
        default_preset="tiny",
        build=lambda: build(name, task.transform, split_seed),
        examples=task.examples,
        group=by_length,
    )
