"""A task: named sentence pairs, split for good, with the words that a page or a card says about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from model.config import DataConfig

Alignment = tuple[tuple[int, ...], ...]


class DataError(ValueError):
    """Data that cannot be had or read; the message says what is wrong, where, and what to do."""


@dataclass(frozen=True)
class Example:
    """One sentence pair.

    `alignment` names, for each target token (no ``<eos>``), the source tokens that it is made from: positions from 0,
    possibly none. It is None where no gold alignment exists.
    """

    source: str
    target: str
    alignment: Alignment | None = None


@dataclass(frozen=True)
class Prompt:
    """A source sentence worth opening, with one line on what to look for."""

    source: str
    note: str


Splits = Mapping[str, tuple[Example, ...]]


def one_group(example: Example) -> str:
    """The group of tasks that report a single figure."""
    return "all"


def same_text(prediction: str, example: Example) -> bool:
    """Exact match, the measure of every task but those with several right answers."""
    return prediction == example.target


@dataclass(frozen=True)
class Task:
    """What a model can be trained on. `splits` is built on first use and then kept.

    Every task has the splits ``train``, ``valid`` and ``test``; some have more (``long``). `group` names the part of
    the report that an example counts towards, such as its length; `equivalent` says whether a prediction is right.
    """

    name: str
    title: str
    description: str
    data: DataConfig
    default_preset: str
    build: Callable[[], Splits] = field(repr=False)
    examples: tuple[Prompt, ...] = ()
    group: Callable[[Example], str] = field(default=one_group, repr=False)
    equivalent: Callable[[str, Example], bool] = field(default=same_text, repr=False)
    licence: str = ""
    from_folder: bool = False  # whether it reads a corpus, from --data-dir or downloaded

    @cached_property
    def splits(self) -> Splits:
        """The examples of each split, by name.

        Raises:
            DataError: the data cannot be had or read.
        """
        return self.build()
